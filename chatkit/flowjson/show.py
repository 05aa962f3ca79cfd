"""Show: values and names from strangers in few words, as text and as HTML."""

from __future__ import annotations

import json
import unicodedata
from html import escape
from itertools import takewhile
from typing import Any

LONG, AROUND = 60, 20  #: characters of a value, and of what is kept before a difference

#: Stands for what one side does not have.
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "(absent)"})()


def visible(text: str) -> str:
    """Spell out the characters that would not be seen, or change how the rest is read."""
    if text.isascii() and text.isprintable():
        return text
    return "".join([c if _seen(c) else _spelled(c) for c in text])


def cut(text: str, room: int = LONG) -> str:
    """Shorten a text to about so many characters, all visible."""
    return visible(text) if len(text) <= room else visible(text[: room - 1]) + "…"


def short(value: Any) -> str:
    """Show one value in so few words that many can be read one below the other."""
    if value is MISSING:
        return "(absent)"
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict | list) and len(text) > LONG:
        return _named(value)
    return cut(text)


def pair(before: Any, after: Any) -> list[str]:
    """Show both sides of a change so that where two long texts differ is seen."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return [short(before), short(after)]
    n = sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(before, after, strict=False)))
    long = max(len(before), len(after)) > LONG - 2
    start = max(n - AROUND, 0) if long else 0
    return [f"{'…' if start else ''}{short(side[start:])}" for side in (before, after)]


def html(text: str) -> str:
    """Escape a text for HTML, all of its characters visible."""
    return escape(visible(text))


def many(count: int, noun: str) -> str:
    """Say how many there are."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _named(value: dict[str, Any] | list[Any]) -> str:
    """Name a long value by what it is."""
    if isinstance(value, list):
        return many(len(value), "item")
    names = [value[key] for key in ("type", "id", "name") if isinstance(value.get(key), str)]
    texts = [value[key] for key in ("title", "label", "text") if isinstance(value.get(key), str)]
    said = [*(cut(name, 30) for name in names), *(f'"{cut(text, 30)}"' for text in texts[:1])]
    return " ".join(said) or cut(json.dumps(value, ensure_ascii=False))


def _seen(c: str) -> bool:
    return c.isprintable() or c in "\u200c\u200d" or unicodedata.category(c) == "Zs"


def _spelled(c: str) -> str:
    return "↵" if c == "\n" else f"⟨U+{ord(c):04X}⟩"
