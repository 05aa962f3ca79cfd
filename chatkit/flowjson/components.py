"""The table of the flow document: every component, every property, every version of them.

`components.toml` is the single source of lint, builder, editor and documentation; here it is
read. `COMPONENTS` holds the components by name, in the order in which they are usually shown;
`SHAPES` the objects around and in them, `ACTIONS` what may happen. A new component is an entry in
that file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatkit.flowjson.property import ComponentShape, Property, Shape
from chatkit.flowjson.version import FIRST, Version

#: Fields of the table that hold a version.
_VERSIONS = {"required", "since", "until", "not_blank", "announced", "per_screen_since"}
#: Components on one screen: the documentation names the first, the platform counts to the second.
ADVISED_COMPONENTS, MOST_COMPONENTS = 50, 100
#: If in If in If.
MOST_NESTED = 3


@dataclass(frozen=True, eq=False)
class ActionShape(Shape):
    """An action: its keys, and since which version it is known."""

    since: Version = FIRST


def _version(text: str) -> Version:
    version = Version.parse(text)
    assert version is not None, text  # noqa: S101  (a fault of the table)
    return version


def _fields(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a table as `Property` and the shapes take them."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
    }
    for name in fields.keys() & _VERSIONS:
        fields[name] = _version(fields[name]) if fields[name] else None
    for name in fields.keys() & {"also", "actions"}:
        fields[name] = tuple((each, _version(since)) for each, since in fields[name].items())
    if "kilobytes" in fields:
        fields["kilobytes"] = tuple((_version(v), kb) for v, kb in fields["kilobytes"].items())
    if "children" in fields:
        fields["children"] = {name: _version(v) for name, v in fields["children"].items()}
    return fields


_TABLE = tomllib.loads(Path(__file__).with_name("components.toml").read_text("utf-8"))

#: Objects that are no component and no action, by name: document, screen, option …
SHAPES: dict[str, Shape] = {}


def _property(entry: str | Mapping[str, Any]) -> Property:
    """Return a property: one of the shared ones, such a one with changes, or one of its own."""
    own = {"name": entry} if isinstance(entry, str) else entry
    fields = _fields(own if "kind" in own else _TABLE["shared"][own["name"]] | own)
    if "item" in fields:
        fields["item"] = SHAPES[fields["item"]]
    return Property(**fields)


def _shape(kind: type[Shape], name: str, table: Mapping[str, Any]) -> Any:
    fields = _fields(table)
    fields["properties"] = tuple(map(_property, table["properties"]))
    return kind(name=name, **fields)


for _name, _entry in _TABLE["shapes"].items():  # one stands below those that are items of it
    SHAPES[_name] = _shape(Shape, _name, _entry)
DOCUMENT, SCREEN, LAYOUT = SHAPES["document"], SHAPES["screen"], SHAPES["layout"]
NEXT = SHAPES["next"]
ACTIONS: dict[str, ActionShape] = {
    name: _shape(ActionShape, name, entry) for name, entry in _TABLE["actions"].items()
}
COMPONENTS: dict[str, ComponentShape] = {
    name: _shape(ComponentShape, name, entry) for name, entry in _TABLE["components"].items()
}
