"""The table of the flow document: every component, every property, every version of them.

It is the single source of lint, builder, editor and documentation. `COMPONENTS` holds the
components by name, in the order in which they are usually shown; `DOCUMENT`, `SCREEN` and
`LAYOUT` are the shapes around them, `ACTIONS` what may happen.
"""

from __future__ import annotations

from chatkit.flowjson.components.action import ACTIONS, NEXT
from chatkit.flowjson.components.choice import CHOICES
from chatkit.flowjson.components.container import CONTAINERS
from chatkit.flowjson.components.day import CALENDARS
from chatkit.flowjson.components.entry import ENTRIES
from chatkit.flowjson.components.frame import DOCUMENT, LAYOUT, SCREEN
from chatkit.flowjson.components.media import MEDIA
from chatkit.flowjson.components.property import Component, Kind, Property, Shape
from chatkit.flowjson.components.tap import TAPS
from chatkit.flowjson.components.text import TEXTS

COMPONENTS: dict[str, Component] = {
    each.name: each
    for group in (TEXTS, ENTRIES, CHOICES, CALENDARS, TAPS, MEDIA, CONTAINERS)
    for each in group
}

__all__ = [
    "ACTIONS",
    "COMPONENTS",
    "DOCUMENT",
    "LAYOUT",
    "NEXT",
    "SCREEN",
    "Component",
    "Kind",
    "Property",
    "Shape",
]
