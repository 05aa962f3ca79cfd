"""Content source: what the source language has, beside its translation and to begin one."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from chatkit.display import cut, escaped
from chatkit.localization import language
from chatkit.localization.content import Entry
from chatkit.widgets.content import bubble

#: What a new translation takes over from its source: all but what is translated.
_SAME = ("parameter_format", "is_catalog", "catalog_format", "connected_catalog_id")
_SETTINGS = (
    *_SAME,
    *("is_catalog_connected", "is_custom_validity_period", "validity_period_seconds"),
    *("auth_delivery_method", "auth_add_security_recommendation", "auth_add_code_expiration"),
    *("auth_code_expiration_seconds", "auth_apps"),
)


def head(code: str) -> str:
    """Name a language, with its code."""
    name = language.name(code)
    said = f" <small>{escaped(code)}</small>" if name != code else ""
    return f"<p><strong>{escaped(name)}</strong>{said}</p>"


def page(content: Mapping[str, Any]) -> str:
    """Draw a content under the name of its language, where no widget is live."""
    entry = Entry(content, "", str(content["lang_code"]))
    return head(entry.lang_code) + bubble.html(bubble.bubble(entry, {}))


def beside(name: str, origin: Mapping[str, Any]) -> str:
    """Write what the source language has in a field, to be read beside its translation."""
    code = str(origin["lang_code"])
    entry = Entry(origin, "", code)
    if name == "variables":
        lines = [f"{{{{{cut(key, 20)}}}}} {text}" for key, text in entry.variables.items()]
    elif name in ("headers", "buttons"):
        lines = [_brief(item) for item in items(origin, name)]
    else:
        lines = [entry.text if name == "text" else entry.footer]
    shown = "".join(
        f'<div dir="auto">{"<br>".join(escaped(part) for part in line.splitlines())}</div>'
        for line in lines
    )
    attributes = f'dir="{language.direction(code)}" lang="{escape(code.replace("_", "-"))}"'
    empty = '<span class="ck-none">nothing</span>'
    label = f'<span class="chatkit-label">{name}</span>'
    body = f"<div {attributes}>{shown if any(lines) else empty}</div>"
    return f'<div class="ck-source tex2jax_ignore mathjax_ignore">{label}{body}</div>'


def _brief(item: Mapping[str, Any]) -> str:
    kind = str(item.get("type"))
    text = item.get("label") or item.get("text") or item.get("file_name") or item.get("link")
    value = item.get("value")
    return f"{text or ''} ({kind}{f': {value}' if value else ''})".strip()


def items(origin: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the headers or buttons of a content."""
    found = origin.get(name)
    listed = found if isinstance(found, list) else []
    return [item if isinstance(item, Mapping) else {} for item in listed]


def begun(origin: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a new language takes over from its source: all but the words."""
    if not origin:
        return {}
    begun = {name: origin.get(name) for name in _SETTINGS}
    begun["headers"] = [
        _without(item, "text", "text_variable") for item in items(origin, "headers")
    ]
    begun["buttons"] = [_without(item, "label") for item in items(origin, "buttons")]
    return {**begun, "is_draft": True}


def _without(item: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Leave out the words, and the keys that the service shows as null: they say nothing."""
    left = {name: value for name, value in item.items() if name not in names}
    return {name: value for name, value in left.items() if value is not None}
