"""Components that hold others.

Written by `python -m chatkit.flowjson.build.classes` from the table.
"""

from dataclasses import KW_ONLY

from chatkit.flowjson.build.block import Block
from chatkit.flowjson.build.kinds import Items, Map, Reference
from chatkit.flowjson.build.piece import piece
from chatkit.flowjson.components import COMPONENTS


@piece(COMPONENTS["Form"])
class Form(Block):
    """Inputs that belong together."""

    name: str
    children: Items[Block]
    _: KW_ONLY
    init_values: Map | Reference | None = None
    error_messages: Map | Reference | None = None


@piece(COMPONENTS["If"])
class If(Block):
    """What stands here only when something holds."""

    condition: str
    then: Items[Block]
    _: KW_ONLY
    else_: Items[Block] | None = None


@piece(COMPONENTS["Switch"])
class Switch(Block):
    """What stands here depends on a value."""

    value: Reference
    cases: dict[str, Items[Block]]
