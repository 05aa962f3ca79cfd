"""Components that a person taps to get on: links, lists of targets, the button at the foot.

Written by `python -m chatkit.flowjson.build.classes` from the table.
"""

from dataclasses import KW_ONLY
from typing import Literal

from chatkit.flowjson.build.actions import Action
from chatkit.flowjson.build.block import Block
from chatkit.flowjson.build.kinds import Base64, Flag, Items, One, Reference
from chatkit.flowjson.build.piece import Piece, piece
from chatkit.flowjson.components import COMPONENTS, END, MAIN, START, TARGET

MediaSize = Literal["regular", "large"]


@piece(COMPONENTS["EmbeddedLink"])
class EmbeddedLink(Block):
    """A link in the text."""

    text: str
    on_click_action: One[Action]
    _: KW_ONLY
    visible: Flag | None = None


@piece(MAIN)
class MainContent(Piece):
    """What an item says."""

    title: str
    _: KW_ONLY
    description: str | None = None
    metadata: str | None = None


@piece(START)
class Start(Piece):
    """The picture before an item."""

    image: Base64
    _: KW_ONLY
    alt_text: str | None = None


@piece(END)
class End(Piece):
    """What stands at the end of an item: one or two of these."""

    _: KW_ONLY
    title: str | None = None
    description: str | None = None
    metadata: str | None = None


@piece(TARGET)
class ListItem(Piece):
    """One target of the list."""

    id: str
    main_content: One[MainContent] | Reference
    _: KW_ONLY
    start: One[Start] | Reference | None = None
    end: One[End] | Reference | None = None
    badge: str | None = None
    tags: list[str] | Reference | None = None
    enabled: Flag | None = None
    on_click_action: One[Action] | None = None


@piece(COMPONENTS["NavigationList"])
class NavigationList(Block):
    """A list of targets with pictures."""

    name: str
    list_items: Items[ListItem] | Reference
    _: KW_ONLY
    label: str | None = None
    description: str | None = None
    media_size: MediaSize | Reference | None = None
    on_click_action: One[Action] | None = None
    visible: Flag | None = None


@piece(COMPONENTS["Footer"])
class Footer(Block):
    """The button at the foot of a screen."""

    label: str
    on_click_action: One[Action]
    _: KW_ONLY
    left_caption: str | None = None
    center_caption: str | None = None
    right_caption: str | None = None
    enabled: Flag | None = None
