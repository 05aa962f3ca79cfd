"""Components from whose options a person chooses."""

from __future__ import annotations

from chatkit.flowjson.components.common import (
    ENABLED,
    REQUIRED,
    TYPE,
    UPDATE,
    V4,
    V5,
    V6,
    V6_2,
    V6_3,
    V7_1,
    VISIBLE,
    data_source,
    description,
    error_message,
    init_value,
    label,
    name,
    on_select,
    on_unselect,
)
from chatkit.flowjson.components.property import Component, Property, Shape
from chatkit.flowjson.version import FIRST

_ID = Property("id", "text", "What is sent when it is chosen.", required=FIRST)
_TITLE = Property("title", "text", "What it says.", required=FIRST, length=30)
_ITEM_ON_SELECT = on_select(UPDATE, since=V6)

OPTION = Shape(
    "option",
    "One option of a list.",
    (
        _ID,
        _TITLE,
        description(),
        Property("metadata", "text", "A few words at the side.", length=20),
        Property("enabled", "boolean", "Whether it may be chosen.", default=True),
        Property(
            "image", "base64", "A picture beside it.", since=V5, kilobytes=((V5, 300), (V6, 100))
        ),
        Property("alt-text", "text", "The picture in words.", since=V5),
        Property("color", "color", "A colour beside it, #RRGGBB.", since=V5),
        _ITEM_ON_SELECT,
        on_unselect(),
    ),
)
CHIP = Shape(
    "chip",
    "One chip to choose.",
    (
        _ID,
        _TITLE,
        Property("enabled", "boolean", "Whether it may be chosen.", default=True),
        _ITEM_ON_SELECT,
        on_unselect(),
    ),
)

_MEDIA_SIZE = Property(
    "media-size", "choice", "How large the pictures are.", since=V5, enum=("regular", "large")
)


def _selected(low: int) -> tuple[Property, Property]:
    """Make the bounds of how many may be chosen."""
    return (
        Property("min-selected-items", "integer", "The fewest that must be chosen.", low=0),
        Property("max-selected-items", "integer", "The most that may be chosen.", low=low),
    )


CHOICES = (
    Component(
        "CheckboxGroup",
        "Options of which a person ticks several.",
        (
            TYPE,
            name(),
            label(30, required=V4),
            description(since=V4),
            data_source(OPTION, 1, 20),
            REQUIRED,
            *_selected(2),
            _MEDIA_SIZE,
            on_select(),
            on_unselect(),
            init_value("strings"),
            error_message(),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="array",
    ),
    Component(
        "RadioButtonsGroup",
        "Options of which a person picks one.",
        (
            TYPE,
            name(),
            label(30, required=V4),
            description(since=V4),
            data_source(OPTION, 1, 20),
            REQUIRED,
            _MEDIA_SIZE,
            on_select(),
            on_unselect(),
            init_value("text"),
            error_message(),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
    ),
    Component(
        "Dropdown",
        "Many options of which a person picks one.",
        (
            TYPE,
            name(),
            label(20),
            data_source(OPTION, 1, 200),
            REQUIRED,
            on_select(),
            on_unselect(),
            init_value("text"),
            error_message(),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
        rules=("At most 200 options, 100 when they have pictures.",),
    ),
    Component(
        "ChipsSelector",
        "Chips of which a person taps several.",
        (
            TYPE,
            name(),
            label(80),
            description(),
            data_source(CHIP, 2, 20),
            REQUIRED,
            *_selected(1),
            on_select(since=V7_1),
            on_unselect(since=V7_1),
            init_value("strings"),
            error_message(),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="array",
        since=V6_2,
        announced=V6_3,
    ),
)
