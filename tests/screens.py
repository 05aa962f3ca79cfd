"""Flow documents in a few words, for tests of the rules: a good one, and what breaks it."""

from __future__ import annotations

from typing import Any

import chatkit.flowjson.lint  # noqa: F401  (its rules)
from chatkit.flowjson.nodes import read_nodes
from chatkit.flowjson.rules import RULES, run_rules
from chatkit.report import Finding

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


def findings(module: str, document: object) -> list[Finding]:
    """List what the rules of a module find."""
    rules = {
        kind: [rule for rule in rules if rule.__module__.endswith(f".{module}")]
        for kind, rules in RULES.items()
    }
    return [each for each in run_rules(read_nodes(document), rules) if each.code != "UNUSED_DATA"]


def found(module: str, document: object) -> list[tuple[str, str, str]]:
    """List what they find: severity, code and pointer."""
    return [(each.severity, each.code, each.pointer) for each in findings(module, document)]


def errors(module: str, document: object) -> list[tuple[str, str]]:
    """List the errors they find: code and pointer."""
    return [
        (code, pointer)
        for severity, code, pointer in found(module, document)
        if severity == "error"
    ]


def doubts(module: str, document: object) -> list[tuple[str, str]]:
    """List what they only doubt: code and pointer."""
    return [
        (code, pointer)
        for severity, code, pointer in found(module, document)
        if severity != "error"
    ]
