"""Components in which a person picks days."""

from __future__ import annotations

from chatkit.flowjson.components.common import (
    ENABLED,
    EXCHANGE,
    REQUIRED,
    TYPE,
    V6_1,
    VISIBLE,
    description,
    error_message,
    helper,
    init_value,
    label,
    name,
    on_select,
)
from chatkit.flowjson.components.property import Component, Kind, Property
from chatkit.flowjson.version import Version

_DATES = (
    Property("min-date", "date", "The first day that may be picked."),
    Property("max-date", "date", "The last day that may be picked."),
    Property("unavailable-dates", "dates", "Days between that may not be picked."),
)
_RANGE: tuple[tuple[Kind, Version], ...] = (("range", V6_1),)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

CALENDARS = (
    Component(
        "DatePicker",
        "A day.",
        (
            TYPE,
            name(),
            label(40),
            helper(),
            REQUIRED,
            *_DATES,
            on_select(EXCHANGE),
            init_value("date"),
            error_message(80),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
        rules=("Days lie between min-date and max-date.",),
    ),
    Component(
        "CalendarPicker",
        "A day, or the first and the last day of a stay, in a calendar.",
        (
            TYPE,
            name(),
            Property(
                "mode", "choice", "One day, or a first and a last.", enum=("single", "range"),
                default="single",
            ),
            Property("title", "text", "A heading above both.", length=80, place="range mode"),
            description(place="range mode"),
            label(40, also=_RANGE),
            helper(also=_RANGE),
            Property(
                "required", "boolean", "Whether it must be filled in.", default=False, also=_RANGE,
                part="boolean",
            ),
            *_DATES,
            Property(
                "include-days", "choices", "Days of the week that may be picked.", enum=DAYS,
                least=1,
            ),
            Property("min-days", "integer", "The fewest days of a stay.", place="range mode"),
            Property("max-days", "integer", "The most days of a stay.", place="range mode"),
            on_select(EXCHANGE),
            init_value("date", "range", part="date"),
            error_message(80, also=_RANGE),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
        since=V6_1,
        rules=(
            "Days lie between min-date and max-date.",
            "In range mode label, helper-text, required, init-value and error-message may be"
            " objects with start-date and end-date.",
        ),
    ),
)  # fmt: skip
