"""Letters that look like those of another script, checked against the table of Unicode."""

from pathlib import Path

import pytest

from chatkit.imports.characters import _TO_LATIN, find_script, find_styled


@pytest.mark.parametrize("text", ["½", "①", "№ 5", "Ana™", "ﷺ", "ﬁ"])
def test_other_signs_stay(text: str) -> None:
    assert find_styled(text) is None


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
        assert {find_script(own) for own in table} == {name}
