"""Place: values of a document changed at one place, while what they were stays as it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from chatkit.errors import InputError
from chatkit.flowjson.document import DEEPEST
from chatkit.flowjson.pointer import escape

_PLACE = re.compile("0|[1-9][0-9]{0,8}")


def child(pointer: str, key: str | int) -> str:
    """Write the pointer of a key or an item."""
    return f"{pointer}/{escape(key)}"


def changed(value: Any, way: list[str], key: str, change: Callable[[Any, str], Any]) -> Any:
    """Change what is at the end of a way, copying only what lies on it.

    Args:
        value: The document.
        way: The keys that lead to what is around the place.
        key: The last key.
        change: Returns what is around the place as it shall be.

    Raises:
        InputError: There is no such way.
    """
    if not way:
        return change(value, key)
    inner = changed(item(value, way[0], {}), way[1:], key, change)
    return placed(value, way[0], inner)


def item(parent: Any, key: str, missing: Any) -> Any:
    """Return what stands under a key. Raises `InputError` where no key leads to anything."""
    if isinstance(parent, dict):
        return parent.get(key, missing)
    if isinstance(parent, list) and _PLACE.fullmatch(key) and int(key) < len(parent):
        return parent[int(key)]
    raise none(key)


def placed(parent: Any, key: str, value: Any) -> Any:
    """Return an object or a list with another value at one place; without one the value."""
    if isinstance(parent, dict):
        return {**parent, key: value}
    if isinstance(parent, list) and _PLACE.fullmatch(key) and int(key) < len(parent):
        return [*parent[: int(key)], value, *parent[int(key) + 1 :]]
    if parent is None and not key:
        return value
    raise none(key)


def none(pointer: str) -> InputError:
    """Say that nothing stands at a place."""
    return InputError(f"Nothing stands at {pointer or 'the top'}.")


def deep(value: Any) -> bool:
    """Tell whether a value is nested more deeply than any flow."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return any(isinstance(one, dict | list) for one in level)


def same(a: Any, b: Any) -> bool:
    """Tell whether two values are written alike: 1 is not True, and the order of keys counts."""
    return a is b or repr(a) == repr(b)
