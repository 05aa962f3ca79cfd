"""Components in which a person picks days."""

from datetime import date

from chatkit.flowjson import CalendarPicker, DatePicker, Range


def test_a_day_between_two_others() -> None:
    picker = DatePicker(
        "day",
        "Day",
        min_date=date(2026, 1, 1),
        max_date="${data.last}",
        unavailable_dates=[date(2026, 1, 6), "2026-01-07"],
    )
    assert picker.to_json() == {
        "type": "DatePicker",
        "name": "day",
        "label": "Day",
        "min-date": "2026-01-01",
        "max-date": "${data.last}",
        "unavailable-dates": ["2026-01-06", "2026-01-07"],
    }


def test_a_stay_of_some_days() -> None:
    picker = CalendarPicker(
        "stay",
        Range("From", "To"),
        mode="range",
        title="Your stay",
        include_days=["Mon", "Sun"],
        min_days=2,
        init_value=Range("2026-01-01", "2026-01-05"),
    )
    assert picker.to_json() == {
        "type": "CalendarPicker",
        "name": "stay",
        "mode": "range",
        "title": "Your stay",
        "label": {"start-date": "From", "end-date": "To"},
        "include-days": ["Mon", "Sun"],
        "min-days": 2,
        "init-value": {"start-date": "2026-01-01", "end-date": "2026-01-05"},
    }
