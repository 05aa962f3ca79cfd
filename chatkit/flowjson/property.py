"""The words in which the table of components is written.

A `Shape` is an object whose keys are known: a component, a screen, an item of a list. A
`Property` is one of its keys with all that is known about it. Both are plain values: lint,
builder, editor and documentation read the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from chatkit.flowjson.version import FIRST, STRICT, Version

#: What kind of value a property takes when it is written out.
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
    "condition",  # what an If asks
    "reference",  # one ${…} and nothing else
]

#: Which JSON type each kind is written in.
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

#: Where among others a property may stand. "range": only with "mode": "range".
Place = Literal["anywhere", "outside Form", "range mode"]


@dataclass(frozen=True, slots=True)
class Property:
    """One key of a shape: what it takes, from which version, and what it is for."""

    name: str
    kind: Kind
    about: str
    required: Version | None = None  # from which version it must be there
    since: Version = FIRST
    until: Version | None = None  # the first version that no longer knows it
    also: tuple[tuple[Kind, Version], ...] = ()  # other kinds it takes, and since when
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

    def known(self, version: Version) -> bool:
        """Return whether a version knows this property."""
        return self.since <= version and (self.until is None or version < self.until)

    def needed(self, version: Version) -> bool:
        """Return whether a version demands this property."""
        return self.required is not None and self.required <= version and self.known(version)

    def kinds(self, version: Version) -> tuple[Kind, ...]:
        """List the kinds of value it takes in a version, the usual one first."""
        return (self.kind, *(kind for kind, since in self.also if since <= version))

    def json_types(self, version: Version) -> tuple[str, ...]:
        """List the JSON types a written value may have: what a binding must resolve to."""
        found = [JSON_TYPES.get(kind, "string") for kind in self.kinds(version)]
        return tuple(dict.fromkeys(found))

    def allowed_actions(self, version: Version) -> tuple[str, ...]:
        """List the actions that may stand here in a version."""
        return tuple(name for name, since in self.actions if since <= version)


@dataclass(frozen=True, eq=False)
class Shape:
    """An object whose keys are known. Two are the same when they are one."""

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
    """A component: its keys, and what holds for it among the others of its screen."""

    group: Group
    since: Version = FIRST
    announced: Version | None = None  # documented only from this version, though checked earlier
    value: str = ""  # JSON type of what a person enters, when it is an input
    per_screen: int | None = None
    per_screen_since: Version = FIRST
    per_flow: int | None = None
    #: What may stand in it: name of a component -> since which version. Empty: no container.
    children: dict[str, Version] = field(default_factory=dict)
    rules: tuple[str, ...] = ()  # said in words, for documentation and forms

    @property
    def is_input(self) -> bool:
        """Return whether a person enters something, so that ${form.name} exists."""
        return bool(self.value)

    def known(self, version: Version) -> bool:
        """Return whether a version knows this component."""
        return self.since <= version
