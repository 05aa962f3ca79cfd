"""Components in which a person picks days.

Written by `python -m chatkit.flowjson.build.classes` from the table.
"""

from dataclasses import KW_ONLY
from typing import Literal

from chatkit.flowjson.build.actions import Action
from chatkit.flowjson.build.block import Block
from chatkit.flowjson.build.kinds import Date, Flag, Integer, One, Reference
from chatkit.flowjson.build.piece import piece
from chatkit.flowjson.build.range import Range
from chatkit.flowjson.components import COMPONENTS

IncludeDays = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
Mode = Literal["single", "range"]


@piece(COMPONENTS["DatePicker"])
class DatePicker(Block):
    """A day."""

    name: str
    label: str
    _: KW_ONLY
    helper_text: str | None = None
    required: Flag | None = None
    min_date: Date | None = None
    max_date: Date | None = None
    unavailable_dates: list[Date] | Reference | None = None
    on_select_action: One[Action] | None = None
    init_value: Date | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None


@piece(COMPONENTS["CalendarPicker"])
class CalendarPicker(Block):
    """A day, or the first and the last day of a stay, in a calendar."""

    name: str
    label: str | One[Range]
    _: KW_ONLY
    mode: Mode | Reference | None = None
    title: str | None = None
    description: str | None = None
    helper_text: str | One[Range] | None = None
    required: Flag | One[Range] | None = None
    min_date: Date | None = None
    max_date: Date | None = None
    unavailable_dates: list[Date] | Reference | None = None
    include_days: list[IncludeDays] | Reference | None = None
    min_days: Integer | None = None
    max_days: Integer | None = None
    on_select_action: One[Action] | None = None
    init_value: Date | One[Range] | None = None
    error_message: str | One[Range] | None = None
    enabled: Flag | None = None
    visible: Flag | None = None
