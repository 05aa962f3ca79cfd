"""Helpers for comparing, upgrading and drawing: any JSON, and one flow to edit."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

EVIL = "<img src=x onerror=alert(1)>\u202e"

_WORDS = """
    id type name title text label screens layout children then else cases routing_model data
    version next payload on-click-action data-source list-items init-values __example__
"""
_KEYS = st.sampled_from(_WORDS.split())
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False)
    | st.text(max_size=6)
    | st.sampled_from(["Form", "If", "Switch", "TextBody", "navigate", "${data.a}", "`'a' ${b}`"])
)
#: Any JSON, with the keys of flow documents at the wrong places.
anything = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(_KEYS | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=40,
)
#: Documents that look like flows from afar.
crooked = st.fixed_dictionaries(
    {"version": st.sampled_from(["2.1", "4.0", "6.0", "7.3"]) | _LEAVES},
    optional={"screens": st.lists(anything, max_size=3), "routing_model": anything},
) | st.builds(
    lambda children, data: {
        "version": "4.0",
        "screens": [{"id": "A", "data": data, "layout": {"children": children}}],
    },
    st.lists(anything, max_size=4),
    anything,
)


def documents(shared: Path, kind: str = "*") -> dict[str, Any]:
    """Read the flow documents that others wrote, by file name."""
    paths = sorted((shared / "samples/flows").glob(f"{kind}/*.json"))
    assert paths
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield all places of a value."""
    yield way
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(child, (*way, key))


def holder(value: Any, way: tuple[Any, ...]) -> Any:
    """Return what holds the last step of a way."""
    for step in way[:-1]:
        value = value[step]
    return value


def booking(**more: Any) -> dict[str, Any]:
    """Make a flow of three screens with a Form, an If, a Switch and options."""
    go = {"name": "navigate", "next": {"type": "screen", "name": "PAY"}, "payload": {}}
    form = [
        {"type": "TextInput", "name": "email", "label": "Your email", "input-type": "email"},
        {
            "type": "Dropdown",
            "name": "city",
            "label": "City",
            "data-source": [
                {"id": "b", "title": "Berlin"},
                {"id": "l", "title": "Lima"},
                {"id": "p", "title": "Porto"},
            ],
        },
        {"type": "OptIn", "name": "news", "label": "News, please"},
        {"type": "Footer", "label": "Go on", "on-click-action": go},
    ]
    start = [
        {"type": "TextHeading", "text": "Book a table"},
        {"type": "TextBody", "text": "We are open from noon to midnight."},
        {"type": "Form", "name": "booking", "children": form},
    ]
    pay = [
        {
            "type": "If",
            "condition": "${data.late}",
            "then": [{"type": "TextBody", "text": "You are late, ${screen.START.form.email}"}],
            "else": [{"type": "TextBody", "text": "You are in time"}],
        },
        {
            "type": "Switch",
            "value": "${data.kind}",
            "cases": {
                "card": [{"type": "TextInput", "name": "card", "label": "Card number"}],
                "cash": [{"type": "TextCaption", "text": "Bring coins"}],
            },
        },
        {"type": "Footer", "label": "Done", "on-click-action": {"name": "complete", "payload": {}}},
    ]
    model = {
        "late": {"type": "boolean", "__example__": False},
        "kind": {"type": "string", "__example__": "card"},
    }
    screens = [
        screen("START", "Welcome", start),
        screen("PAY", "Payment", pay, data=model, terminal=True),
        screen("HELP", "Help", [{"type": "TextBody", "text": "Call us"}], terminal=True),
    ]
    routes = {"START": ["PAY", "HELP"], "PAY": [], "HELP": []}
    made = {"version": "7.0", "data_api_version": "3.0", "routing_model": routes}
    return copy.deepcopy(made | {"screens": screens} | more)


def screen(name: str, title: str, children: list[Any], **more: Any) -> dict[str, Any]:
    """Make a screen of these components."""
    layout = {"type": "SingleColumnLayout", "children": children}
    return {"id": name, "title": title, "layout": layout} | more
