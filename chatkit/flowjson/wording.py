"""Wording: what a customer reads in a flow document, and where it stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chatkit.flowjson.components import COMPONENTS
from chatkit.flowjson.outline import outline
from chatkit.flowjson.pointer import escape
from chatkit.flowjson.property import Shape

#: Properties of a component, of an option, or of a part of one, that are read (or heard).
WORDING = frozenset(
    {
        *("text", "label", "title", "description", "helper-text", "metadata"),
        *("left-caption", "center-caption", "right-caption"),
        *("error-message", "error-messages", "alt-text", "badge", "tags"),
    }
)
#: Properties that hold a list of options, items or images.
OPTIONS = frozenset({"data-source", "list-items", "images"})
_PARTS = frozenset({"main-content", "start", "end"})  # what a list item is made of

_REFERENCE = re.compile(r"\$\{[^{}]*\}")
_PART = re.compile(r"\$\{[^{}]*\}|\w+|[^\w\s]")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'")


@dataclass(frozen=True, slots=True)
class Text:
    """One text that a customer reads, and how long it should be at most."""

    pointer: str
    screen: str | None
    component: str  #: its type and name; empty for the title of a screen
    property: str
    text: str
    limit: int | None


def wording(document: Any) -> Iterator[Text]:
    """Walk through everything a customer reads, in the order of the document.

    A text that comes whole from the data of the screen is none of the document's; one that
    holds references among its words is.
    """
    for screen in outline(document).screens:
        title = screen.value.get("title")
        if isinstance(title, str) and _has_words(title):
            yield Text(f"{screen.pointer}/title", screen.id, "", "title", title, None)
        for component in screen.components:
            shape = COMPONENTS.get(component.type or "")
            name = " ".join(part for part in (component.type, component.name) if part)
            for place, way, text, limit in _of_shape("", "", component.value, shape):
                yield Text(component.pointer + place, screen.id, name, way, text, limit)


def references(text: str) -> Counter[str]:
    """Count the references `${…}` in a text."""
    return Counter(_REFERENCE.findall(text))


def code(expression: str) -> Counter[str]:
    """Count the parts of an expression in backticks that are no text between single quotes."""
    return Counter(_PART.findall(_QUOTED.sub(" ", expression)))


def is_expression(text: str) -> bool:
    """Whether a text stands between backticks."""
    text = text.strip()
    return len(text) > 1 and text[0] == text[-1] == "`"


def _has_words(text: str) -> bool:
    """Whether any of a text is written in the document."""
    if is_expression(text):
        return any(quoted[1:-1].strip() for quoted in _QUOTED.findall(text))
    return bool(_REFERENCE.sub("", text).strip())


def _of_shape(
    place: str, way: str, value: dict[str, Any], shape: Shape | None
) -> Iterator[tuple[str, str, str, int | None]]:
    """Find the texts of one component, option or part; `way` is the path in words."""
    for key, inner in value.items():
        known = shape.property(key) if shape else None
        here, name = f"{place}/{escape(key)}", f"{way}.{key}" if way else key
        item = known.item if known else None
        if key in WORDING:
            yield from _strings(here, name, inner, known.length if known else None)
        elif key in _PARTS and isinstance(inner, dict):
            yield from _of_shape(here, name, inner, item)
        elif key in OPTIONS and isinstance(inner, list):
            for n, option in enumerate(inner):
                if isinstance(option, dict):
                    yield from _of_shape(f"{here}/{n}", f"{name}[{n}]", option, item)


def _strings(
    place: str, way: str, value: Any, limit: int | None
) -> Iterator[tuple[str, str, str, int | None]]:
    """Find the texts of one property: a text, lines of one, or texts by a name."""
    if isinstance(value, str):
        if _has_words(value):
            yield place, way, value, limit
    elif isinstance(value, list):
        for n, line in enumerate(value):
            if isinstance(line, str):
                yield from _strings(f"{place}/{n}", f"{way}[{n}]", line, limit)
    elif isinstance(value, dict):
        for key, text in value.items():
            if isinstance(text, str):
                yield from _strings(f"{place}/{escape(key)}", f"{way}.{key}", text, limit)
