"""Components from whose options a person chooses.

Written by `python -m chatkit.flowjson.build.classes` from the table.
"""

from dataclasses import KW_ONLY
from typing import Literal

from chatkit.flowjson.build.actions import Action
from chatkit.flowjson.build.block import Block
from chatkit.flowjson.build.kinds import Base64, Flag, Integer, Items, One, Reference
from chatkit.flowjson.build.piece import Piece, piece
from chatkit.flowjson.components import CHIP, COMPONENTS, OPTION

MediaSize = Literal["regular", "large"]


@piece(OPTION)
class Option(Piece):
    """One option of a list."""

    id: str
    title: str
    _: KW_ONLY
    description: str | None = None
    metadata: str | None = None
    enabled: Flag | None = None
    image: Base64 | None = None
    alt_text: str | None = None
    color: str | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None


@piece(COMPONENTS["CheckboxGroup"])
class CheckboxGroup(Block):
    """Options of which a person ticks several."""

    name: str
    label: str | None
    data_source: Items[Option] | Reference
    _: KW_ONLY
    description: str | None = None
    required: Flag | None = None
    min_selected_items: Integer | None = None
    max_selected_items: Integer | None = None
    media_size: MediaSize | Reference | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None
    init_value: list[str] | Reference | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None


@piece(COMPONENTS["RadioButtonsGroup"])
class RadioButtonsGroup(Block):
    """Options of which a person picks one."""

    name: str
    label: str | None
    data_source: Items[Option] | Reference
    _: KW_ONLY
    description: str | None = None
    required: Flag | None = None
    media_size: MediaSize | Reference | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None
    init_value: str | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None


@piece(COMPONENTS["Dropdown"])
class Dropdown(Block):
    """Many options of which a person picks one."""

    name: str
    label: str
    data_source: Items[Option] | Reference
    _: KW_ONLY
    required: Flag | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None
    init_value: str | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None


@piece(CHIP)
class Chip(Piece):
    """One chip to choose."""

    id: str
    title: str
    _: KW_ONLY
    enabled: Flag | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None


@piece(COMPONENTS["ChipsSelector"])
class ChipsSelector(Block):
    """Chips of which a person taps several."""

    name: str
    label: str
    data_source: Items[Chip] | Reference
    _: KW_ONLY
    description: str | None = None
    required: Flag | None = None
    min_selected_items: Integer | None = None
    max_selected_items: Integer | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None
    init_value: list[str] | Reference | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None
