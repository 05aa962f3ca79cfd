"""JSON documents: strict reading, pointers (RFC 6901) and patches (RFC 6902).

Edits copy what they change.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, NoReturn

from chatkit.errors import InputError
from chatkit.util.display import MISSING

_PLACE = re.compile("0|[1-9][0-9]{0,8}")


def escape_key(key: str | int) -> str:
    """Escape a key for a JSON pointer."""
    return str(key).replace("~", "~0").replace("/", "~1")


def unescape_key(step: str) -> str:
    """Return the key of a step of a JSON pointer."""
    return step.replace("~1", "/").replace("~0", "~")


def append_to_pointer(pointer: str, key: str | int) -> str:
    """Return the pointer of a key or an item below a pointer."""
    return f"{pointer}/{escape_key(key)}"


def split_pointer(pointer: str) -> list[str]:
    """Split a JSON pointer into keys."""
    return [unescape_key(step) for step in pointer.split("/")[1:]]


def find_value(document: object, pointer: str) -> Any:
    """Return the value at a JSON pointer (RFC 6901), or MISSING."""
    value: Any = document
    key: Any
    for key in split_pointer(pointer):
        if isinstance(value, list):
            key = int(key) if _PLACE.fullmatch(key) else -1
            value = value[key] if 0 <= key < len(value) else MISSING
        else:
            value = value.get(key, MISSING) if isinstance(value, Mapping) else MISSING
    return value


def get_value(value: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer. Raises `LookupError` if there is none."""
    inner = find_value(value, pointer)
    if inner is MISSING:
        raise LookupError(pointer)
    return inner


# --- edits: each returns a changed copy ------------------------------------------------------


def change_at_path(value: Any, way: list[str], key: str, change: Callable[[Any, str], Any]) -> Any:
    """Return a document with a change at one place; only what is above it is copied.

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
    inner = change_at_path(get_item(value, way[0], {}), way[1:], key, change)
    return set_item(value, way[0], inner)


def get_item(parent: Any, key: str, missing: Any) -> Any:
    """Return the value of a key or an item. Raises `InputError` if there is no such item."""
    return (
        parent.get(key, missing) if isinstance(parent, dict) else parent[_parse_index(parent, key)]
    )


def set_item(parent: Any, key: str, value: Any) -> Any:
    """Return a copy of an object or a list with another value for a key."""
    if isinstance(parent, dict):
        return {**parent, key: value}
    if parent is None and not key:
        return value
    place = _parse_index(parent, key)
    return [*parent[:place], value, *parent[place + 1 :]]


def _parse_index(parent: Any, key: str) -> int:
    """Return a key as an index of a list."""
    if isinstance(parent, list) and _PLACE.fullmatch(key) and int(key) < len(parent):
        return int(key)
    raise make_missing_error(key)


def make_missing_error(pointer: str) -> InputError:
    """Return the error for a pointer that leads to nothing."""
    return InputError(f"There is nothing at {pointer or 'the top'}.")


def remove_item(parent: Any, key: str) -> Any:
    """Return a copy of an object without a key, or of a list without an item."""
    if isinstance(parent, dict):
        return {name: value for name, value in parent.items() if name != key}
    place = _parse_index(parent, key)
    return [*parent[:place], *parent[place + 1 :]]


class PatchOperation(NamedTuple):
    """One operation of a JSON Patch (RFC 6902); `add` to a key that is there replaces it.

    `move` gives a key another name in its place; its value is the pointer before.
    """

    op: Literal["add", "remove", "replace", "move"]
    path: str
    value: Any = None


def make_removal_patch(pointer: str) -> tuple[PatchOperation, ...]:
    """Return the patch that removes the value at a pointer."""
    return (PatchOperation("remove", pointer),)


def apply_patch(document: Any, patch: Iterable[PatchOperation]) -> Any:
    """Apply the operations of a JSON Patch to a copy of a document; missing objects are made.

    Raises:
        InputError: Nothing stands where one of them should be done.
    """
    for op, path, value in patch:
        *way, last = split_pointer(path)

        def put(parent: Any, key: str, op: str = op, value: Any = value) -> Any:
            if op == "move":
                before = split_pointer(value)[-1]
                return {key if name == before else name: each for name, each in parent.items()}
            if op == "replace" or not isinstance(parent, list):
                return set_item(parent, key, value)
            place = len(parent) if key == "-" else int(key)
            return [*parent[:place], value, *parent[place:]]

        document = change_at_path(document, way, last, remove_item if op == "remove" else put)
    return document


FaultKind = Literal["syntax", "encoding", "duplicate", "number", "surrogate", "depth"]
_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN|-?[0-9][0-9.eE+-]*)', re.DOTALL)


class JsonFault(ValueError):
    """A fault of JSON text: its reason, its kind and its place."""

    def __init__(
        self, reason: str, kind: FaultKind, text: str = "", offset: int | None = None
    ) -> None:
        super().__init__(reason)
        self.kind, self.text, self.offset = kind, text, offset

    @property
    def where(self) -> str:
        """The place in words, to follow the reason; "" if it is not known."""
        if self.offset is None:
            return ""
        before = self.text[: self.offset].split("\n")
        return f" at line {len(before)}, column {len(before[-1]) + 1}"


def read_json(
    text: str | bytes,
    *,
    on_duplicate: Callable[[str], None] | None = None,
    deepest: int | None = None,
    surrogates: bool = False,
) -> Any:
    """Read one JSON value.

    Args:
        text: The text, or its bytes in UTF-8.
        on_duplicate: Hears of each key that stands in its object again, and the last one
            counts; without it such a text is refused.
        deepest: The most levels of objects and arrays.
        surrogates: Take halves of characters, which cannot be encoded.

    Raises:
        JsonFault: It cannot be read, or not without a doubt.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            raise JsonFault("it is not UTF-8 text", "encoding") from error
    decoder = _STRICT if on_duplicate is None else _make_decoder(on_duplicate)
    try:
        if text.startswith("\ufeff"):
            raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
        value = decoder.decode(text)
        if not surrogates:
            (json.dumps(value, ensure_ascii=False) if "\\u" in text else text).encode()
    except json.JSONDecodeError as error:
        reason, offset = _explain_error(error)
        raise JsonFault(reason, "syntax", text, offset) from None
    except UnicodeEncodeError:
        raise JsonFault("it holds half a character", "surrogate") from None
    except RecursionError:
        raise JsonFault("it is nested too deeply", "depth") from None
    except JsonFault as fault:
        if fault.kind == "number":
            places = (each.start() for each in _NUMBER.finditer(text) if each[1] == fault.text)
            fault.text, fault.offset = text, next(places, None)
        raise
    except ValueError:  # Python reads no more than 4,300 digits
        raise JsonFault("a number has too many digits", "number") from None
    brackets = text.count("{") + text.count("[")
    if deepest is not None and brackets > deepest and is_deeper(value, deepest):
        raise JsonFault(f"it is more than {deepest} levels deep", "depth")
    return value


def is_deeper(value: object, levels: int) -> bool:
    """Check if objects and arrays are nested on more levels than this."""
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return bool(level)


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise JsonFault(f"{name} is not a JSON number", "number", name)


def _parse_float(digits: str) -> float:
    """Parse a decimal number; refuse one that is too large for a float."""
    value = float(digits)
    if math.isinf(value):
        raise JsonFault(f"the number {digits[:40]} is too large", "number", digits)
    return value


def _refuse_duplicate(key: str) -> NoReturn:
    """Refuse a key that is twice in one object."""
    raise JsonFault(f"it has {key!r} twice in one object", "duplicate")


def _make_decoder(on_duplicate: Callable[[str], None]) -> json.JSONDecoder:
    """Make a strict decoder that reports keys that are twice in one object."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            on_duplicate(next(key for n, (key, _) in enumerate(pairs) if key in dict(pairs[:n])))
        return made

    return json.JSONDecoder(
        object_pairs_hook=members, parse_constant=_refuse_constant, parse_float=_parse_float
    )


# Made once: the sandbox reads thousands of bodies a second.
_STRICT = _make_decoder(_refuse_duplicate)


#: How messages of the decoder begin, and what is wrong then.
_EXPLANATIONS = {
    "Illegal trailing comma": "a comma too many",  # of Python 3.13
    "Expecting ',' delimiter": "a comma is missing",
    "Expecting property name": "a key must stand in double quotes",
    "Expecting value": "a value is missing or not written as JSON",
}


def _explain_error(error: json.JSONDecodeError) -> tuple[str, int]:
    """Return the reason of a syntax error in plain words, and its offset."""
    before = error.doc[: error.pos].rstrip()
    after = error.doc[error.pos : error.pos + 1]
    if not error.doc.strip():
        return "it is empty", 0
    if before.endswith(",") and after in ("}", "]", ","):
        return "a comma too many", len(before) - 1
    for beginning, reason in _EXPLANATIONS.items():
        if error.msg.startswith(beginning):
            ended = beginning.startswith("Expecting") and not after
            return "it ends too early" if ended else reason, error.pos
    return error.msg[:1].lower() + error.msg[1:], error.pos
