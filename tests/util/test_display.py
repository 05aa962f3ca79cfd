import json
import tomllib
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chatkit.util.display import (
    LONG,
    MISSING,
    columns,
    cut,
    cut_middle,
    escaped,
    find_differences,
    is_right_to_left,
    many,
    render_change,
    values,
    visible,
)
from chatkit.util.display import find_invisible_characters as hidden

JOINERS = "\u200c\u200d"


def invisible_positions(text: str) -> set[str]:
    """The characters of a text that a screen would obey or not show."""
    return {
        c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    } - {*JOINERS}


# --- characters -----------------------------------------------------------------------


CASES = tomllib.loads((Path(__file__).parent / "cases/display.toml").read_text("utf-8"))


def test_what_would_not_be_seen_is_spelled_out_and_nothing_else() -> None:
    output = {**dict(CASES["visible"]), "half \ud83d": "half ⟨U+D83D⟩"}
    assert {text: visible(text) for text in output} == output
    assert [visible(text) for text in CASES["ordinary"]] == CASES["ordinary"]


@given(st.text() | st.text("a\u200b\u200d\u094d\ufe0f❤\x00 \u3164\u00a0"))
def test_what_is_not_seen_is_found_where_it_is_spelled_out(text: str) -> None:
    places = hidden(text)
    spelled = [sum(map(message.count, ("⟨U+", "↵"))) for message in (text, visible(text))]
    assert len(places) == spelled[1] - spelled[0] + sum(text[n] in "↵⟨" for n in places)
    assert all(visible(c) == c for n, c in enumerate(text) if n not in places and c.isalnum())


@given(st.text())
def test_nothing_visible_steers_a_terminal(text: str) -> None:
    assert not invisible_positions(visible(text))
    visible(text).encode()


@given(st.text(), st.integers(2, 80))
def test_a_cut_text_has_no_half_of_what_is_spelled_out(text: str, source: int) -> None:
    short = cut(text, source)
    assert not invisible_positions(short)
    assert len(short) <= max(source, 11)  # one character at least, however long it is spelled
    assert short.count("⟨U+") - text.count("⟨U+") <= short.count("⟩")
    if len(visible(text)) <= source:
        assert short == visible(text)


def test_a_name_is_cut_in_its_middle_since_addresses_differ_at_their_end() -> None:
    first, second = (f"https://shop.example/{'a' * 60}/{end}" for end in ("orders", "status"))
    assert cut_middle(first, 40) != cut_middle(second, 40)
    assert cut_middle(first, 40).endswith("/orders")
    assert len(cut_middle(first, 40)) <= 40
    assert cut_middle("short", 40) == "short"


def test_text_is_measured_escaped_and_counted_as_it_is_shown() -> None:
    assert [columns(text) for text in ("Ana", "山田", "A\u030asa")] == [3, 4, 3]
    texts = ("order 7 ليلى", "שלום", "ሰላም, Žofie 高橋")
    assert [is_right_to_left(text) for text in texts] == [True, True, False]
    markup = "<img src=x onerror=alert(1)>\u202e"
    assert escaped(markup) == "&lt;img src=x onerror=alert(1)&gt;⟨U+202E⟩"
    assert [many(n, "way") for n in (0, 1, 2000)] == ["0 ways", "1 way", "2,000 ways"]


# --- one value ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("Ana Lima", '"Ana Lima"'),
        (" Ana  Lima ", '"␣Ana  Lima␣"'),
        ('the "best"', "'the \"best\"'"),
        ("""'a' → "b" """, '''"'a' → \\"b\\"␣"'''),
        ("", "(empty)"),
        (None, "(none)"),
        (MISSING, "(absent)"),
        ("(none)", '"(none)"'),
        (True, "True"),
        (3, "3"),
        (0.5, "0.5"),
        ([], "[]"),
        ({}, "{}"),
        (["*"], '["*"]'),
        ({"1": "Zoë"}, '{"1": "Zoë"}'),
        ({"version": "7.3", "screens": [{}, {}, {}]}, "3 screens, version 7.3"),
        ({"version": "7.3", "screens": [{}]}, "1 screen, version 7.3"),
        ({"screens": []}, "0 screens, version (none)"),
        ([{"type": "custom", "label": "Yes, on Monday"}] * 3, "3 items"),
        (["x" * 100], "1 item"),
        ({("odd", "key"): 1}, "{('odd', 'key'): 1}"),
    ],
)
def test_values_are_said_shortly(value: Any, message: str) -> None:
    assert values(value) == message


def test_a_large_value_shows_how_it_begins_and_one_without_an_end_is_cut() -> None:
    message = values(
        {"type": "Dropdown", "name": "bike", "label": "Kind of bike", "required": True}
    )
    assert message.startswith('{"type": "Dropdown", "name": "bike", "label"')
    assert message.endswith("…")
    endless: list[Any] = []
    endless.append(endless)
    deep: dict[str, Any] = {}
    for _ in range(20_000):
        deep = {"a": deep}
    assert values(endless) == "1 item"
    assert values(deep).startswith('{"a": {"a"')


def json_values() -> st.SearchStrategy[Any]:
    leaves = st.none() | st.booleans() | st.integers() | st.text()
    return st.recursive(
        leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
    )


@given(json_values())
def test_values_are_short_and_safe(value: Any) -> None:
    message = values(value)
    assert not invisible_positions(message)
    assert len(message) <= 2 * LONG  # twice, where every character is a quote
    assert message


# --- two sides ------------------------------------------------------------------------


def marked(before: Any, after: Any) -> tuple[str, str]:
    """Both sides, with [what differs] in brackets."""
    left, right = render_change(before, after)
    return f"{left.head}[{left.text}]{left.tail}", f"{right.head}[{right.text}]{right.tail}"


@pytest.mark.parametrize(
    ("before", "after", "left", "right"),
    [
        *CASES["pairs"],
        *[
            (5, "5", "[5]", '["5"]'),
            (None, "(none)", "[(none)]", '["(none)"]'),
            (True, False, "[True]", "[False]"),
        ],
    ],
)
def test_what_differs_is_told_from_what_is_shared(
    before: Any, after: Any, left: str, right: str
) -> None:
    assert marked(before, after) == (left, right)


def test_a_long_text_is_shown_where_it_differs() -> None:
    text = "Hello {{1}}, your {{2}} is ready. " * 8 + "Please collect it by {{3}}."
    left, right = marked(text, text.replace("by {{3}}", "before {{3}}"))
    assert left == "…Please collect it [by] {{3}}."
    assert right == "…Please collect it [before] {{3}}."


@given(st.text(), st.text(), st.text(), st.text())
@example("x" * 100, "a", "b", "y" * 100)
@example("", "\u0301" * 90 + "a", "\u0301" * 90 + "b", "")
@example("e", "\u0301", "\u0301\u0301", "")
@example("", "ﬁ", "fi", "")
@example("", "\u200b" * 20 + "a", "\u200b" * 20 + "b", "")
def test_two_texts_that_differ_never_look_alike(head: str, a: str, b: str, tail: str) -> None:
    assume(a != b)
    left, right = map(str, render_change(head + a + tail, head + b + tail))
    eyes = [unicodedata.normalize("NFKC", edge) for edge in (left, right)]
    assert eyes[0] != eyes[1]
    assert not invisible_positions(left + right)
    assert max(len(left), len(right)) <= 12 * LONG


def test_naughty_strings_are_told_apart_and_tamed(shared: Path) -> None:
    strings = json.loads((shared / "corpora/blns/blns.json").read_text())
    assert len(strings) > 500
    for before, after in pairwise(strings):
        left, right = map(str, render_change(before, after))
        assert (left == right) is (before == after)
        assert not invisible_positions(left + right)


def result(before: Any, after: Any) -> dict[str, tuple[Any, Any]]:
    return {place: (a, b) for place, a, b in find_differences("doc", before, after)}


@pytest.mark.parametrize(
    ("before", "after", "differences"),
    [
        (
            {"version": "7.3", "screens": [{"id": "A", "title": "Book"}, {"id": "B"}]},
            {"version": "7.3", "screens": [{"id": "A", "title": "Rent"}, {"id": "B", "data": {}}]},
            {"doc/screens/0/title": ("Book", "Rent"), "doc/screens/1/data": (MISSING, {})},
        ),
        # An item put in or taken out does not move the others.
        ([1, 2, 3], [1, 9, 2, 3], {"doc/1": (MISSING, 9)}),
        ([1, 2, 3], [2, 3], {"doc/0": (1, MISSING)}),
        ([1, 2, 3], [1, 5, 6, 3], {"doc/1": (2, 5), "doc/2": (MISSING, 6)}),
        # A number that became true is a difference, and another order is none.
        ({"a": [1, {"b": 1}]}, {"a": [1, {"b": True}]}, {"doc/a/1/b": (1, True)}),
        ({"a": {"x": 1, "y": 2}, "b": 3}, {"b": 3, "a": {"y": 2, "x": 1}}, {}),
    ],
)
def test_differences_are_named_by_their_place(before: Any, after: Any, differences: Any) -> None:
    assert result(before, after) == differences


@given(json_values(), json_values())
def test_every_place_that_is_named_differs_and_there_is_one_if_anything_does(
    before: Any, after: Any
) -> None:
    assume(before != after)
    places = result(before, after)
    assert places
    assert all(a is MISSING or b is MISSING or a != b for a, b in places.values())
