"""Components that a person taps to get on: links, lists of targets, the button at the foot."""

from __future__ import annotations

from dataclasses import replace

from chatkit.flowjson.components.common import (
    ENABLED,
    EXCHANGE,
    OPENING,
    TYPE,
    V6_2,
    VISIBLE,
    description,
    label,
    name,
    on_click,
)
from chatkit.flowjson.components.property import Component, Property, Shape
from chatkit.flowjson.version import FIRST

_NAVIGATION = (*EXCHANGE, ("navigate", FIRST))
_FOOT = (*_NAVIGATION, ("complete", FIRST))

MAIN = Shape(
    "main content",
    "What an item says.",
    (
        Property("title", "text", "What it says.", required=FIRST, length=30),
        description(20),
        Property("metadata", "text", "More words below.", length=80),
    ),
)
START = Shape(
    "start",
    "The picture before an item.",
    (
        Property(
            "image", "base64", "The picture, in base64.", required=FIRST, kilobytes=((V6_2, 100),)
        ),
        Property("alt-text", "text", "The picture in words."),
    ),
)
END = Shape(
    "end",
    "What stands at the end of an item: one or two of these.",
    tuple(
        Property(key, "text", "A few characters at the side.", length=10)
        for key in ("title", "description", "metadata")
    ),
)
TARGET = Shape(
    "list item",
    "One target of the list.",
    (
        Property("id", "text", "Its id.", required=FIRST),
        Property("main-content", "object", "What it says.", required=FIRST, item=MAIN),
        Property("start", "object", "The picture before it.", item=START),
        Property("end", "object", "What stands at its end.", item=END),
        Property("badge", "text", "A word that stands out; one item of a list.", length=15),
        Property("tags", "strings", "One to three words below.", length=15, least=1, most=3),
        Property("enabled", "boolean", "Whether it may be tapped.", default=True),
        on_click(_NAVIGATION),
    ),
)


def _caption(side: str) -> Property:
    """Make a caption of the footer."""
    return Property(f"{side}-caption", "text", "A few words beside the button.", length=15)


TAPS = (
    Component(
        "EmbeddedLink",
        "A link in the text.",
        (
            TYPE,
            Property(
                "text", "text", "What it says.", required=FIRST, length=25, not_blank=FIRST
            ),
            on_click(OPENING, required=FIRST),
            VISIBLE,
        ),
        group="action",
        per_screen=2,
    ),
    Component(
        "NavigationList",
        "A list of targets with pictures.",
        (
            TYPE,
            name("Its name."),
            Property(
                "list-items", "items", "The targets.", required=FIRST, item=TARGET, least=1,
                advised=20,
            ),
            label(80, required=None),
            description(),
            Property(
                "media-size", "choice", "How large the pictures are.", enum=("regular", "large")
            ),
            on_click(_NAVIGATION),
            replace(VISIBLE, doubtful=True),
        ),
        group="action",
        since=V6_2,
        per_screen=2,
        rules=(
            "It stands alone on its screen, or with its like, and not on a terminal screen.",
            "The action stands on the list or on every item, never on both.",
            "One badge a list; no end beside media-size large.",
        ),
    ),
    Component(
        "Footer",
        "The button at the foot of a screen.",
        (
            TYPE,
            label(35),
            _caption("left"),
            _caption("center"),
            _caption("right"),
            on_click(_FOOT, required=FIRST),
            ENABLED,
        ),
        group="action",
        per_screen=1,
        rules=(
            "left-caption and right-caption come together; center-caption stands alone.",
        ),
    ),
)  # fmt: skip
