"""Printer: Python expressions, laid out as a formatter would lay them out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

WIDTH = 88  # what formatters take if nobody says otherwise


class Group(NamedTuple):
    """Something in brackets: on one line if there is room, or else one item a line."""

    head: str
    items: list[tuple[str, Node]]
    tail: str


Node = str | Group


def call(name: str, arguments: Iterable[Node], named: Iterable[tuple[str, Node]] = ()) -> Group:
    """Make a call."""
    items = [*(("", each) for each in arguments), *((f"{key}=", each) for key, each in named)]
    return Group(f"{name}(", items, ")")


def listing(items: Iterable[Node]) -> Group:
    """Make a list."""
    return Group("[", [("", each) for each in items], "]")


def mapping(items: Iterable[tuple[str, Node]]) -> Group:
    """Make a dict."""
    return Group("{", [(f"{quoted(key)}: ", each) for key, each in items], "}")


def constant(value: Any) -> Node:
    """Write a JSON value."""
    if isinstance(value, dict):
        return mapping((key, constant(item)) for key, item in value.items())
    if isinstance(value, list):
        return listing(map(constant, value))
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def quoted(text: str) -> str:
    """Write a text, in double quotes unless that needs more backslashes."""
    if '"' in text and text.count('"') > text.count("'"):
        return "'" + repr('"' + text)[2:-1] + "'" if "'" in text else repr(text)
    inner = repr("'" + text)  # with a single quote in it, repr decides for double quotes
    return '"' + inner[2:-1] + '"' if inner[0] == '"' else '"' + _double(text) + '"'


def _double(text: str) -> str:
    """Write the inside of a text that has both kinds of quotes, for double quotes."""
    return repr(text)[1:-1].replace("\\'", "'").replace('"', '\\"')


def laid_out(node: Node, before: int = 0, indent: int = 0, after: int = 0) -> str:
    """Write a node, with so many characters before it and after it on its line."""
    if isinstance(node, str) or not node.items:
        return flat(node)
    line = flat(node)
    if before + len(line) + after <= WIDTH:
        return line
    inner = indent + 4
    lines = [
        f"{' ' * inner}{key}{laid_out(item, inner + len(key), inner, 1)},\n"
        for key, item in node.items
    ]
    return f"{node.head}\n{''.join(lines)}{' ' * indent}{node.tail}"


def flat(node: Node) -> str:
    """Write a node on one line."""
    if isinstance(node, str):
        return node
    return node.head + ", ".join(key + flat(item) for key, item in node.items) + node.tail
