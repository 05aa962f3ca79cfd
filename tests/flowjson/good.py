"""Good values for every property of every component: what must never be refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flowjson.base import GO, OPTIONS, PICTURE, flow

from chatkit.flowjson.components import (
    COMPONENTS,
    RELEASED,
    STRICT,
    ComponentShape,
    Property,
    Version,
)

LATER = Version(4, 0)
TEXT = {"type": "TextBody", "text": "Hello"}
UPDATE = {"name": "update_data", "payload": {}}
ASK = {"name": "data_exchange", "payload": {}}
OPEN = {"name": "open_url", "url": "https://example.com"}
ITEM = {"id": "1", "main-content": {"title": "One"}}
#: Keys that come only with others.
TOGETHER: dict[str, dict[str, Any]] = {
    "left-caption": {"right-caption": "r"},
    "right-caption": {"left-caption": "l"},
    "pattern": {"helper-text": "Only a"},
}
VALUES: dict[str, Any] = {
    "condition": "${data.flag}",
    "value": "${data.string}",
    "children": [],
    "then": [TEXT],
    "else": [TEXT],
    "cases": {"x": [TEXT]},
    "data-source": OPTIONS,
    "list-items": [ITEM],
    "images": [{"src": PICTURE, "alt-text": "A dot"}],
    "init-values": {},
    "error-messages": {},
    "pattern": "^a+$",
    "src": PICTURE,
    "name": "it",
}


def literal(component: ComponentShape, prop: Property, version: Version) -> Any:
    """Make a good value that is written out."""
    if prop.kind == "action":
        names = prop.allowed_actions(version)
        chosen = next(name for name in ("navigate", "data_exchange", *names) if name in names)
        return {"navigate": GO, "data_exchange": ASK, "update_data": UPDATE, "open_url": OPEN}[
            chosen
        ]
    if prop.name == "min-date":
        return "2026-01-01" if version >= (5, 0) else "1767225600000"
    if prop.kind == "date":
        return "2026-06-01" if version >= (5, 0) else "1780272000000"
    if prop.kind == "dates":
        return ["2026-05-01"] if version >= (5, 0) else ["1777593600000"]
    if prop.name in VALUES:
        return VALUES[prop.name]
    if prop.enum:
        return [prop.enum[0]] if prop.kind == "choices" else prop.enum[-1]
    good = {"text": "Hello", "boolean": True, "integer": 3, "number": 3, "strings": ["a"]}
    return good[prop.kind]


def bound(prop: Property, version: Version) -> str | None:
    """Make a reference to a field of the right type; None where none may stand."""
    if not prop.binding or prop.kind in ("action", "components", "cases", "condition", "map"):
        return None
    if prop.kind == "items":
        return "${data.options}" if prop.name == "data-source" else None
    types = prop.json_types(version)
    return {"array": "${data.array}"}.get(types[0], f"${{data.{types[0]}}}")


def data(version: Version) -> dict[str, Any]:
    """Declare a field of each type."""
    text = {"type": "string"}
    option = {"type": "object", "properties": {"id": text, "title": text}}
    return {
        "string": {"type": "string", "__example__": "x"},
        "number": {"type": "number", "__example__": 3},
        "boolean": {"type": "boolean", "__example__": True},
        "flag": {"type": "boolean", "__example__": True},
        "array": {"type": "array", "items": text, "__example__": ["a"]},
        "options": {"type": "array", "items": option, "__example__": OPTIONS},
    }


def placed(component: dict[str, Any], version: Version) -> dict[str, Any]:
    """Put a component on a screen that has space for it."""
    alone = component["type"] == "NavigationList"
    foot = component["type"] not in ("Footer", "NavigationList")
    if component["type"] == "RichText" and version < (6, 3):
        foot = False
    document = flow(component, version=str(version), endpoint=True, foot=foot, data=data(version))
    if version < LATER and (alone or component["type"] == "Form"):
        children = document["screens"][0]["layout"]
        children["children"] = children["children"][0]["children"]
    return document


def good() -> Iterator[tuple[str, dict[str, Any]]]:
    """List a good document for every property in every version, written and bound."""
    for version in RELEASED:
        for name, component in COMPONENTS.items():
            if not component.is_known(version):
                continue
            own = {
                prop.name: literal(component, prop, version)
                for prop in component.properties
                if prop.is_required(version) and prop.name != "type"
            }
            if name == "NavigationList":
                own["on-click-action"] = GO
            for prop in component.properties:
                if not prop.is_known(version) or prop.name == "type" or prop.doubtful:
                    continue
                if prop.place == "outside Form" and version < LATER:
                    continue
                more: dict[str, Any] = dict(TOGETHER.get(prop.name, {}))
                if prop.place == "range mode":
                    more |= {"mode": "range", "label": {"start-date": "a", "end-date": "b"}}
                values = [literal(component, prop, version), bound(prop, version)]
                if version >= STRICT and prop.binding and prop.kind == "boolean":
                    values.append("`${data.number} > 1`")
                for value in values:
                    if value is not None:
                        whole = {"type": name} | own | more | {prop.name: value}
                        message = f"{version} {name} {prop.name} = {str(value)[:30]}"
                        yield message, placed(whole, version)
