"""Components as Python writes them, and their JSON."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from chatkit.flowjson import (
    CalendarPicker,
    Chip,
    ChipsSelector,
    Complete,
    DatePicker,
    Dropdown,
    End,
    Footer,
    Form,
    If,
    Image,
    ImageCarousel,
    ListItem,
    MainContent,
    Navigate,
    NavigationList,
    OpenUrl,
    OptIn,
    Option,
    Picture,
    RadioButtonsGroup,
    Range,
    Start,
    Switch,
    TextBody,
    TextInput,
    UpdateData,
)

HI = {"type": "TextBody", "text": "Hi"}
CASES: list[tuple[Any, dict[str, Any]]] = [
    (TextBody(["One", "Two"], markdown=True), {"text": ["One", "Two"], "markdown": True}),
    (
        TextInput("pin", "PIN", input_type="passcode", helper_text="4 digits", max_chars=4),
        {
            **{"name": "pin", "label": "PIN", "input-type": "passcode"},
            **{"helper-text": "4 digits", "max-chars": 4},
        },
    ),
    (
        OptIn("terms", "I agree", on_click_action=OpenUrl("https://x.example"), init_value=False),
        {
            **{"name": "terms", "label": "I agree"},
            "on-click-action": {"name": "open_url", "url": "https://x.example"},
            "init-value": False,
        },
    ),
    (
        RadioButtonsGroup(
            "a", None, [Option("x", "X", on_select_action=UpdateData({"shown": True}))]
        ),
        {
            "name": "a",
            "data-source": [
                {
                    **{"id": "x", "title": "X"},
                    "on-select-action": {"name": "update_data", "payload": {"shown": True}},
                }
            ],
        },
    ),
    (
        Dropdown("a", "A", "${data.all}"),
        {"name": "a", "label": "A", "data-source": "${data.all}"},
    ),
    (
        ChipsSelector("a", "A", [Chip("y", "Y", enabled=True)]),
        {"name": "a", "label": "A", "data-source": [{"id": "y", "title": "Y", "enabled": True}]},
    ),
    (
        DatePicker("d", "Day", min_date=date(2026, 1, 1), unavailable_dates=[date(2026, 1, 6)]),
        {
            **{"name": "d", "label": "Day", "min-date": "2026-01-01"},
            "unavailable-dates": ["2026-01-06"],
        },
    ),
    (
        CalendarPicker("stay", Range("From", "To"), mode="range", include_days=["Mon"]),
        {
            **{"name": "stay", "mode": "range", "include-days": ["Mon"]},
            "label": {"start-date": "From", "end-date": "To"},
        },
    ),
    (
        Image(b"123", scale_type="cover", aspect_ratio=1.5),
        {"src": "MTIz", "scale-type": "cover", "aspect-ratio": 1.5},
    ),
    (
        ImageCarousel([Picture(b"123", "A"), Picture("MTIz", "B")]),
        {"images": [{"src": "MTIz", "alt-text": "A"}, {"src": "MTIz", "alt-text": "B"}]},
    ),
    (
        Footer("Pay", Complete(), left_caption="Total", right_caption="9 €"),
        {
            **{"label": "Pay", "left-caption": "Total", "right-caption": "9 €"},
            "on-click-action": {"name": "complete"},
        },
    ),
    (
        NavigationList(
            "all",
            [
                ListItem(
                    *("a", MainContent("Bikes", description="12 of them")),
                    start=Start("iVBOR"),
                    end=End(title="9 €"),
                    tags=["red"],
                    on_click_action=Navigate("BIKES"),
                )
            ],
        ),
        {
            "name": "all",
            "list-items": [
                {
                    "id": "a",
                    "main-content": {"title": "Bikes", "description": "12 of them"},
                    "start": {"image": "iVBOR"},
                    "end": {"title": "9 €"},
                    "tags": ["red"],
                    "on-click-action": Navigate("BIKES").to_json(),
                }
            ],
        },
    ),
    (
        Form("f", [TextBody("Hi")], init_values={"n": "Ann"}, error_messages="${data.all}"),
        {
            **{"name": "f", "children": [HI], "init-values": {"n": "Ann"}},
            "error-messages": "${data.all}",
        },
    ),
    (
        If("${data.x}", [TextBody("Hi")], else_=[]),
        {"condition": "${data.x}", "then": [HI], "else": []},
    ),
    (
        Switch("${data.x}", {"a": [TextBody("Hi")], "default": []}),
        {"value": "${data.x}", "cases": {"a": [HI], "default": []}},
    ),
]


@pytest.mark.parametrize(("piece", "expected"), CASES, ids=lambda case: type(case).__name__)
def test_a_component_is_written_with_what_was_passed(piece: Any, expected: dict[str, Any]) -> None:
    assert piece.to_json() == {"type": type(piece).__name__, **expected}


def test_a_picture_out_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"123")
    assert Image(path).to_json() == Image(b"123").to_json()


def test_options_are_read_as_options_with_what_nobody_knows() -> None:
    raw = {"type": "Dropdown", "data-source": [{"title": "A", "id": "a", "icon": 1}]}
    dropdown = Dropdown.read(raw)
    assert isinstance(dropdown, Dropdown) and isinstance(dropdown.data_source[0], Option)
    assert dropdown.data_source[0].more == {"icon": 1}
    assert str(dropdown.to_json()) == str(raw)
