"""The source view passes on what was typed, and marks what was found."""

from __future__ import annotations

from typing import Any

from chatkit.flowjson import Finding
from chatkit.widgets.editor import SourceView


def test_only_what_somebody_types_is_passed_on() -> None:
    typed: list[str] = []
    view = SourceView(typed.append)
    view.show("{}", [])
    assert typed == []
    view.text = "{ }"  # as it comes from the page
    assert typed == ["{ }"]
    view.show("{ }", [])
    assert typed == ["{ }"]


def test_findings_are_marked_at_their_lines_and_made_visible() -> None:
    view = SourceView(lambda _: None)
    view.show("{}", [Finding("A", "error", "/x", "wrong\u202e", "Mend it.", 3, 7)] * 300)
    assert view.marks[0] == {
        "line": 3,
        "column": 7,
        "severity": "error",
        "message": "wrong⟨U+202E⟩ Mend it.",
    }
    assert len(view.marks) == 200


def test_half_a_character_can_be_sent_to_the_page() -> None:
    view = SourceView(lambda _: None)
    view.show('"\ud800"', [])
    assert view.text.encode()


def test_a_line_is_shown_with_or_without_the_cursor() -> None:
    sent: list[Any] = []
    view = SourceView(lambda _: None)
    view.send = sent.append  # type: ignore[method-assign,assignment]
    view.go(3, 4)
    view.go(5, focus=False)
    assert sent == [
        {"line": 3, "column": 4, "focus": True},
        {"line": 5, "column": 1, "focus": False},
    ]
