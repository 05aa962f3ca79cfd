"""Starter: new components, screens and options, filled in so far that the lint is content."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chatkit.flowjson.components import COMPONENTS
from chatkit.flowjson.property import Property, Shape
from chatkit.flowjson.version import RECOMMENDED, Version
from chatkit.widgets.editor.renaming import unused

#: A picture of one pixel, which stands where the real one will.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkqPnfDwAD9QHcHx0Q2wAAAABJRU5E"
    "rkJggg=="
)
_WORDS = {
    "TextHeading": "A heading",
    "TextSubheading": "A smaller heading",
    "TextBody": "Some text.",
    "TextCaption": "Small print.",
    "RichText": "# A title\n\nSome text.",
    "EmbeddedLink": "Read more",
    "TextInput": "Your answer",
    "TextArea": "Tell us more",
    "OptIn": "I agree",
    "Footer": "Continue",
}


def component(
    kind: str,
    taken: Iterable[str] = (),
    version: Version = RECOMMENDED,
    *,
    field: str = "",
    target: str = "",
) -> dict[str, Any]:
    """Make a component with what it must have.

    Args:
        kind: Its type.
        taken: Names that it may not have.
        version: By whose rules.
        field: A reference for an If or a Switch to ask, like `${form.name}`.
        target: The screen to which it leads, if it leads to one.
    """
    shape = COMPONENTS[kind]
    made: dict[str, Any] = {"type": kind}
    for prop in shape.properties:
        if prop.name == "type" or not prop.needed(version):
            continue
        if prop.name == "name":
            made["name"] = unused(_snake(kind), set(taken))
        else:
            made[prop.name] = _first(shape, prop, version, field or "${data.name}", target)
    if kind == "NavigationList":
        made["on-click-action"] = action("navigate", _to(target))
    return made


def item(shape: Shape, taken: Iterable[str] = (), version: Version = RECOMMENDED) -> dict[str, Any]:
    """Make an option, a target or a picture with what it must have."""
    known, made = set(taken), dict[str, Any]()
    for prop in shape.properties:
        if prop.needed(version):
            made[prop.name] = (
                unused(shape.name.replace(" ", "_"), known)
                if prop.name == "id"
                else _first(shape, prop, version)
            )
    return made


def screen(taken: Iterable[str] = ()) -> dict[str, Any]:
    """Make a screen that ends the flow."""
    foot = {"type": "Footer", "label": "Done", "on-click-action": action("complete")}
    return {
        "id": unused("SCREEN", set(taken), letters=True),
        "title": "New screen",
        "terminal": True,
        "success": True,
        "layout": {"type": "SingleColumnLayout", "children": [foot]},
    }


def flow() -> dict[str, Any]:
    """Make a flow to begin with: one screen that says a word and ends."""
    first = screen() | {"id": "WELCOME", "title": "Welcome"}
    first["layout"]["children"].insert(0, component("TextHeading"))
    return {"version": str(RECOMMENDED), "screens": [first]}


def action(name: str, before: object = None) -> dict[str, Any]:
    """Make an action of this name; of the one before it keep what both have."""
    kept = before if isinstance(before, dict) else {}
    made: dict[str, Any] = {"name": name}
    if name == "navigate":
        made["next"] = kept.get("next", _to("")["next"])
    if name == "open_url":
        return made | {"url": kept.get("url", "https://example.com")}
    return made | {"payload": kept.get("payload", {})}


def _to(screen: str) -> dict[str, Any]:
    return {"next": {"type": "screen", "name": screen}}


def _first(
    shape: Shape, prop: Property, version: Version, field: str = "", target: str = ""
) -> Any:
    """Choose what a property holds at first."""
    match prop.kind:
        case "items" if prop.item is not None:
            most = 2 if shape.name == "ChipsSelector" else prop.least or 1
            made: list[dict[str, Any]] = []
            for number in range(1, most + 1):
                made.append(item(prop.item, [one.get("id", "") for one in made], version))
                if "title" in made[-1]:
                    made[-1]["title"] = f"Option {number}"
            return made
        case "object" if prop.item is not None:
            return item(prop.item, (), version)
        case "action":
            name = "complete" if shape.name == "Footer" else prop.allowed_actions(version)[-1]
            return action(name, _to(target))
        case "components":
            return [component("TextBody")] if prop.name == "then" else []
        case "cases":
            return {"yes": [component("TextBody")]}
        case "condition":
            return f"{field} != ''"
        case "reference":
            return field
        case "base64":
            return PIXEL
        case _:
            return _WORDS.get(shape.name, "Choose" if shape.name in COMPONENTS else "New")


def _snake(kind: str) -> str:
    """Write TextInput as text_input."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).strip("_")
