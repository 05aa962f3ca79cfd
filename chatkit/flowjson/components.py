"""The table of the flow document: every version, component and property.

`components.toml` is the single source of lint, builder, editor and documentation; here it is
read. `COMPONENTS` holds the components by name, in the order in which they are usually shown;
`SHAPES` the objects around and in them, `ACTIONS` what may happen. A new component is an entry in
that file.

A version compares like a number with a point: `Version(6, 3) < Version(7, 0)`. Facts as of March
2026; a version released later is one more in that file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

_VERSION_TEXT = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\Z")


class Version(NamedTuple):
    """A version of the flow document, `major.minor`."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: object) -> Version | None:
        """Read "7.3"; None when it is anything else."""
        match = _VERSION_TEXT.match(text) if isinstance(text, str) else None
        return cls(int(match[1]), int(match[2])) if match else None

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


#: The first version whose rules are known.
FIRST = Version(2, 1)
#: The first version that refuses blank strings everywhere.
STRICT = Version(6, 0)
#: The version that the platform recommends for new flows.
RECOMMENDED = Version(7, 3)


def data_api_versions(version: Version) -> tuple[str, ...]:
    """Return the values of `data_api_version` that a document of that version may name."""
    return ("3.0", "4.0") if version >= (7, 3) else ("3.0",)


#: The kind of value that a property takes when it is written out.
Kind = Literal[
    "text",  # a string for people; may hold ${…}
    "name",  # a string that stands as it is: never a binding
    "boolean",
    "integer",
    "number",
    "date",  # "YYYY-MM-DD"; before 5.0 milliseconds as text
    "dates",  # an array of dates
    "base64",  # an image, JPEG or PNG
    "url",
    "regex",
    "color",  # "#RRGGBB"
    "choice",  # one of `enum`
    "choices",  # an array of values of `enum`
    "strings",  # an array of strings
    "items",  # an array of objects of the shape `item`
    "object",  # one object of the shape `item`
    "map",  # an object with keys of the author's own
    "range",  # {"start-date": …, "end-date": …} of `part`
    "action",  # an action: `actions` tells which
    "components",  # an array of components
    "cases",  # an object: value of a Switch -> array of components
    "condition",  # of an If
    "reference",  # one ${…} and nothing else
]

#: The JSON type in which each kind is written.
JSON_TYPES: dict[Kind, str] = {
    "boolean": "boolean",
    "integer": "number",
    "number": "number",
    "dates": "array",
    "choices": "array",
    "strings": "array",
    "items": "array",
    "components": "array",
    "object": "object",
    "map": "object",
    "range": "object",
    "action": "object",
    "cases": "object",
}

#: The place in which a property may stand; "range mode": only beside "mode": "range".
Place = Literal["anywhere", "outside Form", "range mode"]


@dataclass(frozen=True, slots=True)
class Property:
    """One key of a shape: the values it takes, its versions, and its purpose."""

    name: str
    kind: Kind
    about: str
    required: Version | None = None  # from which version it must be there
    since: Version = FIRST
    until: Version | None = None  # the first version that no longer knows it
    other_kinds: tuple[tuple[Kind, Version], ...] = ()  # other kinds it takes, and since when
    binding: bool = True  # ${…} or an expression may stand for the whole value
    enum: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    least: int | None = None  # items of an array: fewer are refused
    advised_least: int | None = None  # items of an array: fewer are only advised against
    most: int | None = None  # items of an array: more are refused
    advised: int | None = None  # items of an array: more are only advised against
    length: int | None = None  # characters that are documented; more are cut or not shown
    not_blank: Version | None = STRICT  # from which version a blank string is refused
    kilobytes: tuple[tuple[Version, int], ...] = ()  # size of an image, from a version on
    place: Place = "anywhere"
    actions: tuple[tuple[str, Version], ...] = ()  # of an action: names, and since when
    item: Shape | None = None
    part: Kind = "text"  # of a range: what its two dates hold
    default: object = None
    doubtful: bool = False  # the sources disagree whether it exists: a warning, no error

    def is_known(self, version: Version) -> bool:
        """Return whether a version knows this property."""
        return self.since <= version and (self.until is None or version < self.until)

    def is_required(self, version: Version) -> bool:
        """Return whether a version demands this property."""
        return self.required is not None and self.required <= version and self.is_known(version)

    def kinds(self, version: Version) -> tuple[Kind, ...]:
        """Return the kinds of value it takes in a version, the usual one first."""
        return (self.kind, *(kind for kind, since in self.other_kinds if since <= version))

    def json_types(self, version: Version) -> tuple[str, ...]:
        """Return the JSON types of its values; a binding must resolve to one of them."""
        types = [JSON_TYPES.get(kind, "string") for kind in self.kinds(version)]
        return tuple(dict.fromkeys(types))

    def allowed_actions(self, version: Version) -> tuple[str, ...]:
        """Return the names of the actions that it takes in a version."""
        return tuple(name for name, since in self.actions if since <= version)


@dataclass(frozen=True, eq=False)
class Shape:
    """An object whose keys are known; equal only to itself."""

    name: str
    about: str
    properties: tuple[Property, ...]

    @cached_property
    def by_name(self) -> dict[str, Property]:
        """The properties by their keys."""
        return {each.name: each for each in self.properties}

    def property(self, name: str) -> Property | None:
        """Find a property by its key."""
        return self.by_name.get(name)


Group = Literal["text", "input", "action", "media", "media input", "container"]


@dataclass(frozen=True, eq=False)
class ComponentShape(Shape):
    """A component: its keys, its limits on a screen, and the components that may stand in it."""

    group: Group
    since: Version = FIRST
    announced: Version | None = None  # documented only from this version, though checked earlier
    value: str = ""  # JSON type of what a person enters, when it is an input
    per_screen: int | None = None
    per_screen_since: Version = FIRST
    per_flow: int | None = None
    #: The components that may stand in it, each with its first version. Empty: no container.
    children: dict[str, Version] = field(default_factory=dict)
    rules: tuple[str, ...] = ()  # in words, for documentation and forms

    @property
    def is_input(self) -> bool:
        """Return whether a person enters something, so that ${form.name} exists."""
        return bool(self.value)

    def is_known(self, version: Version) -> bool:
        """Return whether a version knows this component."""
        return self.since <= version


#: Fields of the table that hold a version.
_VERSION_FIELDS = {"required", "since", "until", "not_blank", "announced", "per_screen_since"}
#: Components on one screen: the documentation names the first, the platform counts to the second.
ADVISED_COMPONENTS, MOST_COMPONENTS = 50, 100
#: If in If in If.
MOST_NESTED = 3


@dataclass(frozen=True, eq=False)
class ActionShape(Shape):
    """An action: its keys, and the version that introduced it."""

    since: Version = FIRST


def _parse_version(text: str) -> Version:
    version = Version.parse(text)
    assert version is not None, text  # noqa: S101  (a fault of the table)
    return version


def _parse_fields(table: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the fields of a TOML table to the arguments of `Property` and the shapes."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
    }
    for name in fields.keys() & _VERSION_FIELDS:
        fields[name] = _parse_version(fields[name]) if fields[name] else None
    for name in fields.keys() & {"other_kinds", "actions"}:
        fields[name] = tuple((each, _parse_version(since)) for each, since in fields[name].items())
    if "kilobytes" in fields:
        fields["kilobytes"] = tuple((_parse_version(v), n) for v, n in fields["kilobytes"].items())
    if "children" in fields:
        fields["children"] = {name: _parse_version(v) for name, v in fields["children"].items()}
    return fields


_TABLE = tomllib.loads(Path(__file__).with_name("components.toml").read_text("utf-8"))
#: The public versions; those no longer supported; one that no account outside may use; those that
#: the platform's own checker knows and no announcement does.
RELEASED, RETIRED, INTERNAL, UNANNOUNCED = (
    tuple(map(_parse_version, _TABLE["versions"][name]))
    for name in ("released", "retired", "internal", "unannounced")
)
#: Still sent, no longer published: since that day.
FROZEN: dict[Version, date] = {
    _parse_version(text): day for text, day in _TABLE["versions"]["frozen"].items()
}

#: Objects that are no component and no action, by name: document, screen, option …
SHAPES: dict[str, Shape] = {}


def _make_property(entry: str | Mapping[str, Any]) -> Property:
    """Make a property from its entry: the name of a shared one, changes to it, or a whole one."""
    own = {"name": entry} if isinstance(entry, str) else entry
    fields = _parse_fields(own if "kind" in own else _TABLE["shared"][own["name"]] | own)
    if "item" in fields:
        fields["item"] = SHAPES[fields["item"]]
    return Property(**fields)


def _make_shape(kind: type[Shape], name: str, table: Mapping[str, Any]) -> Any:
    fields = _parse_fields(table)
    fields["properties"] = tuple(map(_make_property, table["properties"]))
    return kind(name=name, **fields)


for _name, _entry in _TABLE["shapes"].items():  # one stands below those that are items of it
    SHAPES[_name] = _make_shape(Shape, _name, _entry)
DOCUMENT, SCREEN, LAYOUT = SHAPES["document"], SHAPES["screen"], SHAPES["layout"]
NEXT = SHAPES["next"]
ACTIONS: dict[str, ActionShape] = {
    name: _make_shape(ActionShape, name, entry) for name, entry in _TABLE["actions"].items()
}
COMPONENTS: dict[str, ComponentShape] = {
    name: _make_shape(ComponentShape, name, entry) for name, entry in _TABLE["components"].items()
}
