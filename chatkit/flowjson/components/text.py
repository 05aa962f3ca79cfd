"""Components that only say something."""

from __future__ import annotations

from chatkit.flowjson.components.common import TYPE, V5_1, VISIBLE
from chatkit.flowjson.components.property import Component, Property
from chatkit.flowjson.version import FIRST

_WEIGHT = Property(
    "font-weight", "choice", "Bold, italic, both or neither.",
    enum=("bold", "italic", "bold_italic", "normal"),
)  # fmt: skip
_STRIKE = Property("strikethrough", "boolean", "Whether it is struck through.")
_MARKDOWN = Property(
    "markdown", "boolean", "Whether **bold**, _italic_, links and lists are shown.", since=V5_1
)


def _text(length: int | None, lines: bool = False) -> Property:
    """Make the text of a component; some take an array of lines."""
    return Property(
        "text", "text", "What it says.", required=FIRST, length=length, not_blank=FIRST,
        also=(("strings", V5_1),) if lines else (),
    )  # fmt: skip


TEXTS = (
    Component("TextHeading", "A large heading.", (TYPE, _text(80), VISIBLE), group="text"),
    Component("TextSubheading", "A smaller heading.", (TYPE, _text(80), VISIBLE), group="text"),
    Component(
        "TextBody",
        "A paragraph.",
        (TYPE, _text(4096, lines=True), _WEIGHT, _STRIKE, _MARKDOWN, VISIBLE),
        group="text",
    ),
    Component(
        "TextCaption",
        "Small print.",
        (TYPE, _text(409, lines=True), _WEIGHT, _STRIKE, _MARKDOWN, VISIBLE),
        group="text",
    ),
    Component(
        "RichText",
        "A long text with headings, lists, tables and pictures, in Markdown.",
        (TYPE, _text(None, lines=True), VISIBLE),
        group="text",
        since=V5_1,
        rules=("It stands alone on its screen; from 6.3 a Footer may stand beside it.",),
    ),
)
