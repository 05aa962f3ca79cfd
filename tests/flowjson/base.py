"""A small valid flow document of any version, and changes of it."""

from __future__ import annotations

import copy
import json
from typing import Any

from chatkit.flowjson.lint import Findings, lint

PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
#: Where the components of the first screen stand in `flow`.
CHILDREN = "/screens/0/layout/children"
DONE = {"name": "complete", "payload": {}}
#: Codes of what nothing uses: documents of tests are too small to use all they have.
UNUSED = ("UNUSED_INPUT", "UNUSED_DATA")
GO = {"name": "navigate", "next": {"type": "screen", "name": "LAST"}, "payload": {}}
OPTIONS = [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}]


def footer(action: dict[str, Any] = DONE, **more: Any) -> dict[str, Any]:
    """Make a Footer."""
    return {"type": "Footer", "label": "Go on", "on-click-action": action} | more


def screen(name: str, *components: Any, **more: Any) -> dict[str, Any]:
    """Make a screen."""
    layout = {"type": "SingleColumnLayout", "children": list(components)}
    return {"id": name, "title": "A title", "layout": layout} | more


def flow(
    *components: Any, version: str = "7.3", endpoint: bool = False, foot: bool = True, **more: Any
) -> dict[str, Any]:
    """Make a flow of two screens: the components stand on the first, a Footer closes each."""
    first = screen("FIRST", *components, *([footer(GO)] if foot else []), **more)
    last = screen("LAST", {"type": "TextBody", "text": "Bye"}, footer(), terminal=True)
    document = {"version": version, "screens": [first, last]}
    if endpoint:
        document |= {"data_api_version": "3.0", "routing_model": {"FIRST": ["LAST"], "LAST": []}}
    if version < "4.0":  # inputs stand in a Form, and a Footer that sends them too
        first["layout"]["children"] = [
            {"type": "Form", "name": "form", "children": first["layout"]["children"]}
        ]
    return copy.deepcopy(document)


def put(document: Any, pointer: str, value: Any) -> Any:
    """Return a copy with a value at a pointer; `-` as the last step adds to an array."""
    document = copy.deepcopy(document)
    *way, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    inner = document
    for step in way:
        inner = inner[int(step)] if isinstance(inner, list) else inner[step]
    if isinstance(inner, list):
        if last == "-":
            inner.append(value)
        else:
            inner[int(last)] = value
    else:
        inner[last] = value
    return document


def drop(document: Any, pointer: str) -> Any:
    """Return a copy without what stands at a pointer."""
    document = copy.deepcopy(document)
    *way, last = pointer.split("/")[1:]
    inner = document
    for step in way:
        inner = inner[int(step)] if isinstance(inner, list) else inner[step]
    del inner[int(last) if isinstance(inner, list) else last]
    return document


def errors(document: Any) -> list[tuple[str, str]]:
    """Lint a document; code and pointer of its errors."""
    return [(each.code, each.pointer) for each in lint(document).errors]


def summary(findings: Findings) -> list[tuple[str, str, str]]:
    """Return severity, code and pointer of all findings but unused inputs and data."""
    return [(one.severity, one.code, one.pointer) for one in findings if one.code not in UNUSED]


def text(document: Any) -> str:
    """Write a document as a person would."""
    return json.dumps(document, indent=2, ensure_ascii=False)
