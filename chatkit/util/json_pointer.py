"""Places of values in a JSON document (RFC 6901), and edits there (RFC 6902), which copy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from chatkit.errors import InputError
from chatkit.util.display import MISSING

_PLACE = re.compile("0|[1-9][0-9]{0,8}")


def escape(key: str | int) -> str:
    """Write one key as a step of a JSON pointer."""
    return str(key).replace("~", "~0").replace("/", "~1")


def unescape(step: str) -> str:
    """Read the key that one step of a JSON pointer stands for."""
    return step.replace("~1", "/").replace("~0", "~")


def child(pointer: str, key: str | int) -> str:
    """Write the pointer of a key or an item."""
    return f"{pointer}/{escape(key)}"


def steps(pointer: str) -> list[str]:
    """Take a JSON pointer apart."""
    return [unescape(step) for step in pointer.split("/")[1:]]


def value_at(document: object, pointer: str) -> Any:
    """Follow a JSON pointer (RFC 6901); MISSING where it leads to nothing."""
    value: Any = document
    key: Any
    for key in steps(pointer):
        if isinstance(value, list):
            key = int(key) if _PLACE.fullmatch(key) else -1
            value = value[key] if 0 <= key < len(value) else MISSING
        else:
            value = value.get(key, MISSING) if isinstance(value, Mapping) else MISSING
    return value


def at(value: Any, pointer: str) -> Any:
    """Return what a JSON pointer points at. Raises `LookupError` if there is nothing."""
    inner = value_at(value, pointer)
    if inner is MISSING:
        raise LookupError(pointer)
    return inner


# --- edits: each returns a changed copy ------------------------------------------------------


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
    return with_value_at(value, way[0], inner)


def item(parent: Any, key: str, missing: Any) -> Any:
    """Return what stands under a key. Raises `InputError` where no key leads to anything."""
    if isinstance(parent, dict):
        return parent.get(key, missing)
    if isinstance(parent, list) and _PLACE.fullmatch(key) and int(key) < len(parent):
        return parent[int(key)]
    raise nothing_at(key)


def with_value_at(parent: Any, key: str, value: Any) -> Any:
    """Return an object or a list with another value at one place; without one the value."""
    if isinstance(parent, dict):
        return {**parent, key: value}
    if isinstance(parent, list) and _PLACE.fullmatch(key) and int(key) < len(parent):
        return [*parent[: int(key)], value, *parent[int(key) + 1 :]]
    if parent is None and not key:
        return value
    raise nothing_at(key)


def nothing_at(pointer: str) -> InputError:
    """Return the error that nothing stands at a place."""
    return InputError(f"Nothing stands at {pointer or 'the top'}.")


def without(parent: Any, key: str) -> Any:
    """Return an object without a key, or a list without an item."""
    if isinstance(parent, dict):
        return {name: value for name, value in parent.items() if name != key}
    item(parent, key, None)
    return [*parent[: int(key)], *parent[int(key) + 1 :]]


class PatchOperation(NamedTuple):
    """One operation of a JSON Patch (RFC 6902); `add` to a key that is there replaces it."""

    op: Literal["add", "remove"]
    path: str
    value: Any = None


def removing(pointer: str) -> tuple[PatchOperation, ...]:
    """Return the patch that takes out what stands at a place."""
    return (PatchOperation("remove", pointer),)


def patched(document: Any, patch: Iterable[PatchOperation]) -> Any:
    """Return a document after the operations of a JSON Patch; objects on the way are made.

    Raises:
        InputError: Nothing stands where one of them should be done.
    """
    for operation in patch:
        *way, last = steps(operation.path)

        def put(parent: Any, key: str, value: Any = operation.value) -> Any:
            if not isinstance(parent, list):
                return with_value_at(parent, key, value)
            place = len(parent) if key == "-" else int(key)
            return [*parent[:place], value, *parent[place:]]

        document = changed(document, way, last, without if operation.op == "remove" else put)
    return document
