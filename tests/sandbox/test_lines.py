"""Lines: a conversation is written as it is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.sandbox.lines import BadScenario, Line, read_lines


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("> Is it ready?", Line(False, "text", "Is it ready?")),
        (">no space", Line(False, "text", "no space")),
        ("> 1 + 1 = 2", Line(False, "text", "1 + 1 = 2")),
        ("> +12125550142", Line(False, "text", "+12125550142")),
        ("> - no", Line(False, "text", "- no")),
        ("> 5 < 6", Line(False, "text", "5 < 6")),
        ("> [image] The scratch", Line(False, "image", "The scratch")),
        ("> [voice]", Line(False, "voice", "")),
        ("> [button] Yes, please", Line(False, "button", "Yes, please")),
        ("> +👍", Line(False, "reaction", "👍")),
        ("> -", Line(False, "reaction", "")),
        ("< Yes.", Line(True, "text", "Yes.")),
        ("< Wow!", Line(True, "text", "Wow!")),
        ("< Hello ~sent", Line(True, "text", "Hello", "sent")),
        ("< Hello !131026", Line(True, "text", "Hello", "failed", 131026)),
        ("< Call 5550142", Line(True, "text", "Call 5550142")),
        ("wait 2h", Line(True, "wait", "", seconds=7200)),
        ("wait 5 min", Line(True, "wait", "", seconds=300)),
        ("wait 30s", Line(True, "wait", "", seconds=30)),
        ("wait 1d", Line(True, "wait", "", seconds=86_400)),
    ],
)
def test_a_line_is_read(line: str, read: Line) -> None:
    assert read_lines([line]) == [read]


def test_a_text_of_many_lines_is_read_line_by_line() -> None:
    assert [line.text for line in read_lines("\n  > One\n\n  < Two\n")] == ["One", "Two"]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("Hello", "begin with >"),
        (">", "nothing is said"),
        ("> [gif] x", "image, video"),
        ("> [button]", "label"),
        ("< Hello ~red", "sent, delivered, read"),
        ("< Hello !9999", "131026"),
        ("wait 2 weeks", "wait 5min"),
        ("", "a line at least"),
        ([7], "line 1 is no text"),
        ([], "a line at least"),
    ],
)
def test_what_cannot_be_read_is_told_with_the_line_and_what_can(lines: object, says: str) -> None:
    with pytest.raises(BadScenario, match=says):
        read_lines(lines)  # type: ignore[arg-type]


def test_the_number_of_a_wrong_line_is_told() -> None:
    with pytest.raises(BadScenario, match="line 3"):
        read_lines("> a\n< b\nc")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert read_lines(text)
    except BadScenario as error:
        assert str(error)
