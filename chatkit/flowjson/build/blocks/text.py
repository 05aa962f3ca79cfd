"""Components that only say something.

Written by `python -m chatkit.flowjson.build.classes` from the table.
"""

from dataclasses import KW_ONLY
from typing import Literal

from chatkit.flowjson.build.block import Block
from chatkit.flowjson.build.kinds import Flag, Reference
from chatkit.flowjson.build.piece import piece
from chatkit.flowjson.components import COMPONENTS

FontWeight = Literal["bold", "italic", "bold_italic", "normal"]


@piece(COMPONENTS["TextHeading"])
class TextHeading(Block):
    """A large heading."""

    text: str
    _: KW_ONLY
    visible: Flag | None = None


@piece(COMPONENTS["TextSubheading"])
class TextSubheading(Block):
    """A smaller heading."""

    text: str
    _: KW_ONLY
    visible: Flag | None = None


@piece(COMPONENTS["TextBody"])
class TextBody(Block):
    """A paragraph."""

    text: str | list[str]
    _: KW_ONLY
    font_weight: FontWeight | Reference | None = None
    strikethrough: Flag | None = None
    markdown: Flag | None = None
    visible: Flag | None = None


@piece(COMPONENTS["TextCaption"])
class TextCaption(Block):
    """Small print."""

    text: str | list[str]
    _: KW_ONLY
    font_weight: FontWeight | Reference | None = None
    strikethrough: Flag | None = None
    markdown: Flag | None = None
    visible: Flag | None = None


@piece(COMPONENTS["RichText"])
class RichText(Block):
    """A long text with headings, lists, tables and pictures, in Markdown."""

    text: str | list[str]
    _: KW_ONLY
    visible: Flag | None = None
