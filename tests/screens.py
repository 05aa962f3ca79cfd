"""Short builders of flow documents for tests of the rules."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def field(kind: str = "string", example: Any = "Ana", **more: Any) -> Json:
    """Declare one field of a data model."""
    return {"type": kind, "__example__": example, **more}


def entry(name: str = "first_name", **more: Any) -> Json:
    """Make an input."""
    return {"type": "TextInput", "name": name, "label": "Name", **more}


def body(text: Any = "Hello", **more: Any) -> Json:
    """Make a text."""
    return {"type": "TextBody", "text": text, **more}


def foot(action: str = "complete", **more: Any) -> Json:
    """Make a Footer with its action."""
    return {"type": "Footer", "label": "Go on", "on-click-action": {"name": action, **more}}


def to(target: str, **payload: Any) -> Json:
    """Make a Footer that navigates."""
    return foot("navigate", next={"type": "screen", "name": target}, payload=payload)


def screen(name: str, *children: Any, data: Any = None, **more: Any) -> Json:
    """Make a screen."""
    layout = {"type": "SingleColumnLayout", "children": list(children)}
    return {"id": name, "title": name.title(), "data": data or {}, "layout": layout, **more}


def last(*children: Any, name: str = "DONE", data: Any = None) -> Json:
    """Make a terminal screen that ends with a Footer."""
    return screen(name, *children, foot(payload={}), data=data, terminal=True)


def flow(*screens: Json, version: str = "7.3", **more: Any) -> Json:
    """Make a document."""
    return {"version": version, **more, "screens": list(screens)}


def alone(*children: Any, data: Any = None, version: str = "7.3", **more: Any) -> Json:
    """Make a document of one terminal screen."""
    return flow(last(*children, data=data), version=version, **more)


def good(version: str = "7.3", **more: Any) -> Json:
    """Make a good document of two screens."""
    first = screen("ASK", entry(), to("DONE", who="${form.first_name}"))
    return flow(first, last(body("${data.who}"), data={"who": field()}), version=version, **more)
