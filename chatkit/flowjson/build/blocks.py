"""The classes of actions, and those of components, which are made from their table.

Editors and type checkers read `classes.pyi`, which `python tests/flowjson/build/classes.py` writes
from the same table.
"""

import re
from dataclasses import KW_ONLY
from types import new_class
from typing import Any, ClassVar, Literal, Union

from chatkit.flowjson.build.piece import (
    Action,
    Base64,
    Block,
    Date,
    Flag,
    Integer,
    Items,
    Map,
    Nest,
    Number,
    One,
    Payload,
    Piece,
    Reference,
    Target,
    attribute,
    piece_of,
)
from chatkit.flowjson.components import ACTIONS, COMPONENTS, ComponentShape, Kind, Property, Shape


@piece_of(ACTIONS["navigate"])
class Navigate(Action):
    """Shows another screen, which is named by its id or by itself.

    >>> Navigate("DONE").to_json()
    {'name': 'navigate', 'next': {'type': 'screen', 'name': 'DONE'}}
    """

    nests: ClassVar = {"next": Nest("next", "name", {"type": "screen"})}

    next: Target
    payload: Payload | None = None


@piece_of(ACTIONS["complete"])
class Complete(Action):
    """Ends the flow and sends what was entered."""

    payload: Payload | None = None


@piece_of(ACTIONS["data_exchange"])
class DataExchange(Action):
    """Asks your endpoint what comes next."""

    payload: Payload | None = None


@piece_of(ACTIONS["update_data"])
class UpdateData(Action):
    """Changes the data of the screen that is shown."""

    payload: Payload


@piece_of(ACTIONS["open_url"])
class OpenUrl(Action):
    """Opens a web page."""

    url: str


RANGE = Shape(
    "range",
    "One value for the first day and one for the last.",
    (
        Property("start-date", "text", "For the first day."),
        Property("end-date", "text", "For the last day."),
    ),
)


@piece_of(RANGE)
class Range(Piece):
    """One value for the first day of a stay and one for the last.

    >>> Range("Arrival", "Departure").to_json()
    {'start-date': 'Arrival', 'end-date': 'Departure'}
    """

    start_date: str | Flag
    end_date: str | Flag


_TEXTS: tuple[Kind, ...] = ("text", "name", "url", "regex", "color", "condition")
_TYPES: dict[Kind, Any] = {
    **dict.fromkeys(_TEXTS, str),
    "base64": Base64,
    "date": Date,
    "reference": Reference,
    "boolean": Flag,
    "integer": Integer,
    "number": Number,
    "dates": list[Date],
    "strings": list[str],
    "map": Map,
    "range": One[Range],
    "action": One[Action],
    "components": Items[Block],
    "cases": dict[str, Items[Block]],
}
#: Kinds whose type holds a reference already, or never one.
_COMPLETE = {*_TEXTS, "base64", "date", "boolean", "integer", "number", "reference", "action"}


def _component_classes() -> dict[str, Any]:
    """Make the classes of all components and of the objects in them, by their names."""
    classes: dict[Shape, type[Piece]] = {}

    def hint(about: Property, *, optional: bool) -> Any:
        kinds = (about.kind, *(kind for kind, _ in about.other_kinds))
        hints = [item_type(about, kind) for kind in kinds]
        if about.binding and _COMPLETE.isdisjoint(kinds):
            hints.append(Reference)
        return Union[tuple([*hints, None] if optional else hints)]  # noqa: UP007  (of a list)

    def item_type(about: Property, kind: Kind) -> Any:
        if kind in ("choice", "choices"):
            choice: Any = Literal[about.enum]
            return choice if kind == "choice" else list[choice]
        if about.item is None:
            return _TYPES[kind]
        return (Items if kind == "items" else One)[make(about.item)]

    def make(shape: Shape) -> type[Piece]:
        if shape in classes:
            return classes[shape]
        base = Block if isinstance(shape, ComponentShape) else Piece
        annotations: dict[str, Any] = {}
        body: dict[str, Any] = {"__doc__": shape.about, "__module__": "chatkit.flowjson"}
        own = [each for each in shape.properties if base is Piece or each.name != "type"]
        for each in sorted(own, key=lambda each: each.required is None):
            if each.required is None:
                annotations["_"] = KW_ONLY
                body[attribute(each.name)] = None
            # what only later versions demand may be absent in earlier ones
            optional = each.required is None or each.required > each.since
            annotations[attribute(each.name)] = hint(each, optional=optional)
        name = "".join(word[0].upper() + word[1:] for word in re.split("[- ]", shape.name))
        body["__annotations__"] = annotations
        classes[shape] = piece_of(shape)(
            new_class(name, (base,), exec_body=lambda ns: ns.update(body))
        )
        return classes[shape]

    for shape in COMPONENTS.values():
        make(shape)
    return {each.__name__: each for each in classes.values()}


#: The classes by their names; `chatkit.flowjson` shows them.
CLASSES = _component_classes()
