"""Lines: a conversation is written as it is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.sandbox.scenario import BadScenario, ScriptLine, parse_script


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("> Is it ready?", ScriptLine(False, "text", "Is it ready?")),
        (">no space", ScriptLine(False, "text", "no space")),
        ("> 1 + 1 = 2", ScriptLine(False, "text", "1 + 1 = 2")),
        ("> +12125550142", ScriptLine(False, "text", "+12125550142")),
        ("> - no", ScriptLine(False, "text", "- no")),
        ("> 5 < 6", ScriptLine(False, "text", "5 < 6")),
        ("> [image] The scratch", ScriptLine(False, "image", "The scratch")),
        ("> [voice]", ScriptLine(False, "voice", "")),
        ("> +👍", ScriptLine(False, "reaction", "👍")),
        ("> -", ScriptLine(False, "reaction", "")),
        ("< Yes.", ScriptLine(True, "text", "Yes.")),
        ("< Wow!", ScriptLine(True, "text", "Wow!")),
        ("< Call 5550142", ScriptLine(True, "text", "Call 5550142")),
    ],
)
def test_a_line_is_read(line: str, read: ScriptLine) -> None:
    assert parse_script([line]) == [read]


def test_a_text_of_many_lines_is_read_line_by_line() -> None:
    assert [line.text for line in parse_script("\n  > One\n\n  < Two\n")] == ["One", "Two"]


@pytest.mark.parametrize(
    ("lines", "reports"),
    [
        ("Hello", "begin with >"),
        (">", "nothing is said"),
        ("> [gif] x", "image, video"),
        ("", "a line at least"),
        ([7], "line 1 must be text"),
        ([], "a line at least"),
    ],
)
def test_what_cannot_be_read_is_told_with_the_line_and_what_can(
    lines: object, reports: str
) -> None:
    with pytest.raises(BadScenario, match=reports):
        parse_script(lines)  # type: ignore[arg-type]


def test_the_number_of_a_wrong_line_is_told() -> None:
    with pytest.raises(BadScenario, match="line 3"):
        parse_script("> a\n< b\nc")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert parse_script(text)
    except BadScenario as error:
        assert str(error)
