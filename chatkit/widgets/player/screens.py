"""Screens: a flow document as plain HTML to be read where no player is live."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from chatkit.display import cut, many

_MOST_SCREENS = 20
_MOST_LINES = 60  #: of one screen
_LONG = 300  #: characters of a text
_DEEPEST = 20
_HEADINGS = {"TextHeading": "strong", "TextSubheading": "strong", "TextCaption": "small"}


def screens(document: Any) -> list[Mapping[str, Any]]:
    """Return the screens of a document of any shape."""
    return _objects(document.get("screens")) if isinstance(document, Mapping) else []


def html(document: Any) -> str:
    """Write the screens of a document one below the other: what is said, asked and sent."""
    found = screens(document)
    parts = [_screen(screen) for screen in found[:_MOST_SCREENS]]
    if (more := len(found) - _MOST_SCREENS) > 0:
        parts.append(f"<p>… and {many(more, 'more screen')}.</p>")
    return "".join(parts)


def _screen(screen: Mapping[str, Any]) -> str:
    layout = screen.get("layout")
    lines = list(_lines(layout.get("children") if isinstance(layout, Mapping) else None, 0))
    if (more := len(lines) - _MOST_LINES) > 0:
        lines = [*lines[:_MOST_LINES], f"… and {more} more"]
    last = " · last screen" if screen.get("terminal") is True else ""
    title, name = shown(screen.get("title")), shown(screen.get("id"))
    body = "".join(f'<li dir="auto">{line}</li>' for line in lines)
    return f"<p><strong>{title}</strong> <small>{name}{last}</small></p><ul>{body}</ul>"


def _lines(children: Any, deep: int) -> Iterator[str]:
    """Write each component on a line; the branches of If and Switch with their condition."""
    for node in _objects(children) if deep < _DEEPEST else ():
        kind = node.get("type")
        if kind == "Form":
            yield from _lines(node.get("children"), deep + 1)
        elif kind == "If":
            for branch, when in (("then", "if"), ("else", "unless")):
                for line in _lines(node.get(branch), deep + 1):
                    yield f"<em>{when} {shown(node.get('condition'))}</em> {line}"
        elif kind == "Switch" and isinstance(node.get("cases"), Mapping):
            for case, some in node["cases"].items():
                for line in _lines(some, deep + 1):
                    yield f"<em>if {shown(node.get('value'))} is {shown(case)}</em> {line}"
        else:
            yield _line(node)


def _line(node: Mapping[str, Any]) -> str:
    kind = node.get("type")
    if "text" in node:
        tag = _HEADINGS.get(kind) if isinstance(kind, str) else None
        text = shown(node["text"])
        return f"<{tag}>{text}</{tag}>" if tag else text
    if kind == "Footer":
        return f"<strong>[ {shown(node.get('label'))} ]</strong>"
    needed = ", required" if node.get("required") is True else ""
    items = _objects(node.get("data-source")) or _objects(node.get("list-items"))
    titles = [item.get("title", _title(item.get("main-content"))) for item in items]
    listed = f": {', '.join(map(shown, titles))}" if titles else ""
    return f"{shown(node.get('label'))} <small>({shown(kind)}{needed})</small>{listed}"


def _title(content: Any) -> Any:
    return content.get("title") if isinstance(content, Mapping) else None


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def shown(value: Any) -> str:
    """Write a text of a stranger; of a long one only how it begins."""
    if isinstance(value, list):
        value = " ".join(one for one in value if isinstance(one, str))
    elif isinstance(value, Mapping):
        value = " – ".join(one for one in value.values() if isinstance(one, str))
    return "" if value is None else escape(cut(str(value), _LONG))
