"""Components into which a person writes, or which a person ticks.

Written by `python -m chatkit.flowjson.build.classes` from the table.
"""

from dataclasses import KW_ONLY
from typing import Literal

from chatkit.flowjson.build.actions import Action
from chatkit.flowjson.build.block import Block
from chatkit.flowjson.build.kinds import Flag, Integer, Number, One, Reference
from chatkit.flowjson.build.piece import piece
from chatkit.flowjson.components import COMPONENTS

InputType = Literal["text", "number", "email", "password", "passcode", "phone"]
LabelVariant = Literal["large"]


@piece(COMPONENTS["TextInput"])
class TextInput(Block):
    """One line that a person writes."""

    name: str
    label: str
    _: KW_ONLY
    input_type: InputType | Reference | None = None
    pattern: str | None = None
    helper_text: str | None = None
    required: Flag | None = None
    min_chars: Number | None = None
    max_chars: Number | None = None
    label_variant: LabelVariant | Reference | None = None
    init_value: str | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None


@piece(COMPONENTS["TextArea"])
class TextArea(Block):
    """Several lines that a person writes."""

    name: str
    label: str
    _: KW_ONLY
    helper_text: str | None = None
    required: Flag | None = None
    max_length: Integer | None = None
    label_variant: LabelVariant | Reference | None = None
    init_value: str | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None


@piece(COMPONENTS["OptIn"])
class OptIn(Block):
    """A box to tick, with a link to what is agreed to."""

    name: str
    label: str
    _: KW_ONLY
    required: Flag | None = None
    on_click_action: One[Action] | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None
    init_value: Flag | None = None
    visible: Flag | None = None
