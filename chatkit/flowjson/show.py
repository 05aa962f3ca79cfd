"""Display parts of a flow document in few words, as JSON or by what they are."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any

from chatkit.display import AROUND, LONG, MISSING, cut, many


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


def _named(value: dict[str, Any] | list[Any]) -> str:
    """Name a long value by what it is."""
    if isinstance(value, list):
        return many(len(value), "item")
    names = [value[key] for key in ("type", "id", "name") if isinstance(value.get(key), str)]
    texts = [value[key] for key in ("title", "label", "text") if isinstance(value.get(key), str)]
    said = [*(cut(name, 30) for name in names), *(f'"{cut(text, 30)}"' for text in texts[:1])]
    return " ".join(said) or cut(json.dumps(value, ensure_ascii=False))
