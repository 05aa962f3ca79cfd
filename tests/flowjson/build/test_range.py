"""Both values of a range."""

from __future__ import annotations

import pytest

from chatkit.errors import InputError
from chatkit.flowjson import CalendarPicker, Range


def test_a_calendar_says_two_things_of_a_range() -> None:
    picker = CalendarPicker(
        "stay", Range("Arrival", "Departure"), mode="range", required=Range(True, False)
    )
    document = picker.to_json()
    assert document["label"] == {"start-date": "Arrival", "end-date": "Departure"}
    assert document["required"] == {"start-date": True, "end-date": False}


def test_a_range_is_read_out_of_its_json() -> None:
    raw = {"type": "CalendarPicker", "name": "s", "label": {"end-date": "To", "x": 1}}
    picker = CalendarPicker.read(raw)
    assert isinstance(picker, CalendarPicker) and isinstance(picker.label, Range)
    assert picker.label.end_date == "To" and picker.label.start_date is None
    assert picker.to_json() == raw


def test_both_are_required() -> None:
    with pytest.raises(InputError, match="end_date: is required"):
        Range("Arrival")  # type: ignore[call-arg]
