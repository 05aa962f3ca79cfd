"""Code: a line of Python beside a button, which says what the button does, and can be copied."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

_STATIC = Path(__file__).parent / "static"
_WIDTH = 88  #: columns from which on each argument has a line of its own


class Code(anywidget.AnyWidget):
    """Shows some Python, and copies it."""

    _esm = _STATIC / "code.js"
    _css = _STATIC / "code.css"

    text = traitlets.Unicode().tag(sync=True)

    def __init__(self, text: str = "") -> None:
        super().__init__(text=text)

    def __repr__(self) -> str:
        return self.text


def called(function: str, *arguments: Any, **fields: Any) -> str:
    """Write a call as a person would: on one line if it is short."""
    parts = [*map(literal, arguments), *(f"{name}={literal(v)}" for name, v in fields.items())]
    line = f"{function}({', '.join(parts)})"
    if len(line) <= _WIDTH or not parts:
        return line
    return "\n".join([f"{function}(", *(f"    {part}," for part in parts), ")"])


def literal(value: Any) -> str:
    """Write a value as Python, its texts between double quotes; invisible characters escaped."""
    if isinstance(value, str):
        # with an apostrophe in it, and no double quote, repr chooses double quotes
        return repr(value) if '"' in value else '"' + repr("'" + value)[2:]
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)
