"""Letters that look like those of another script, checked against the table of Unicode."""

from pathlib import Path

import pytest
from imports.checks.ordinary import NAMES

from chatkit.imports.characters import _TO_LATIN, alike, both_directions, script, styled


@pytest.mark.parametrize(
    ("text", "plain", "sure"),
    [
        ("Ivаn", "Ivan", True),
        ("Аna Cruz", "Ana Cruz", True),
        ("Pаypаl", "Paypal", True),
        ("Μaria", "Maria", True),  # Greek
        ("Мoсква", "Москва", True),  # a Latin o
        ("Сaрa", "Сара", False),  # it could be either
        ("Zoё Zoе", "Zoë Zoe", True),
    ],
)
def test_a_word_of_two_scripts_has_a_plain_form(text: str, plain: str, sure: bool) -> None:
    odd = alike(text)
    assert odd is not None
    assert (odd.code, odd.suggestion, odd.safe) == ("look-alike", plain, sure)


def test_letters_that_look_like_no_others_are_only_told() -> None:
    odd = alike("Жana")
    assert odd is not None
    assert (odd.code, odd.severity, odd.suggestion) == ("mixed scripts", "note", None)


@pytest.mark.parametrize("name", [*NAMES, "Сара", "Анна Smith", "Coca-Cola Россия", "李Jenny"])
def test_words_of_one_script_each_are_ordinary(name: str) -> None:
    assert (alike(name), styled(name), both_directions(name)) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "plain"),
    [("𝓐𝓷𝓪", "Ana"), ("Ⓐⓝⓐ", "Ana"), ("Ａｎａ", "Ana"), ("🄰🅱🅲", "ABC"), ("ℬob", "Bob")],
)
def test_signs_that_look_like_letters_become_letters(text: str, plain: str) -> None:
    odd = styled(text)
    assert odd is not None
    assert (odd.suggestion, odd.safe) == (plain, True)
    assert styled(plain) is None


@pytest.mark.parametrize("text", ["½", "①", "№ 5", "Ana™", "ﷺ", "ﬁ"])
def test_other_signs_stay(text: str) -> None:
    assert styled(text) is None


def test_names_of_both_directions_are_noted() -> None:
    odd = both_directions("Ahmed أحمد")
    assert odd is not None
    assert (odd.severity, odd.suggestion) == ("note", None)
    assert both_directions("أحمد 123") is None


def test_the_table_is_that_of_unicode(shared: Path) -> None:
    """Only I is another: Unicode takes it for a small l, because it looks like one too."""
    known = {}
    lines = (shared / "corpora/homoglyph/confusables.txt").read_text("utf-8-sig").splitlines()
    for line in lines:
        source, _, rest = line.partition(" ;\t")
        if rest:
            codes = [int(code, 16) for code in rest.partition(" ;")[0].split()]
            known[chr(int(source, 16))] = "".join(map(chr, codes))
    pairs = [(own, latin) for table in _TO_LATIN.values() for own, latin in table.items()]
    assert len(pairs) > 60
    for own, latin in pairs:
        assert known[own] == ("l" if latin == "I" else latin)
        assert own.isupper() == latin.isupper()
    for name, table in _TO_LATIN.items():
        assert {script(own) for own in table} == {name}
