"""Strict JSON reader: text that would be read otherwise than it was meant is refused.

`json.loads` keeps the last of two equal keys, takes NaN, turns 1e999 into infinity and half a
character into what cannot be sent, and ends in a RecursionError where brackets never end. What
is wrong is said in the words of one who wrote the text, with the place where that is known.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, Literal, NoReturn

FaultKind = Literal["syntax", "encoding", "duplicate", "number", "surrogate", "depth"]
_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN|-?[0-9][0-9.eE+-]*)', re.DOTALL)


class JsonFault(ValueError):
    """Fault of a text that should be JSON: a clause, its kind, and where it is."""

    def __init__(
        self, reason: str, kind: FaultKind, text: str = "", offset: int | None = None
    ) -> None:
        super().__init__(reason)
        self.kind, self.offset = kind, offset
        self._text = text

    @property
    def where(self) -> str:
        """The place in words, to be put after the reason; empty where it is not known."""
        if self.offset is None:
            return ""
        before = self._text[: self.offset].split("\n")
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
    decoder = _STRICT if on_duplicate is None else _decoder(on_duplicate)
    try:
        if text.startswith("\ufeff"):
            raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
        value = decoder.decode(text)
        if not surrogates:
            (json.dumps(value, ensure_ascii=False) if "\\u" in text else text).encode()
    except json.JSONDecodeError as error:
        reason, offset = _mistake(error)
        raise JsonFault(reason, "syntax", text, offset) from None
    except UnicodeEncodeError:
        raise JsonFault("it holds half a character", "surrogate") from None
    except RecursionError:
        raise JsonFault("it is nested too deeply", "depth") from None
    except _BadNumber as bad:
        places = (each.start() for each in _NUMBER.finditer(text) if each[1] == bad.digits)
        raise JsonFault(str(bad), "number", text, next(places, None)) from None
    except JsonFault:
        raise
    except ValueError:  # Python reads no more than 4,300 digits
        raise JsonFault("a number has too many digits", "number") from None
    brackets = text.count("{") + text.count("[")
    if deepest is not None and brackets > deepest and is_deeper(value, deepest):
        raise JsonFault(f"it is more than {deepest} levels deep", "depth")
    return value


def is_deeper(value: object, levels: int) -> bool:
    """Check if objects and arrays stand in each other on more than so many levels."""
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


class _BadNumber(Exception):
    """A number that JSON has not, or that is too large."""

    def __init__(self, reason: str, digits: str) -> None:
        super().__init__(reason)
        self.digits = digits


def _constant(name: str) -> NoReturn:
    raise _BadNumber(f"{name} is not a JSON number", name)


def _number(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _BadNumber(f"the number {digits[:40]} is too large", digits)
    return value


def _refuse(key: str) -> NoReturn:
    raise JsonFault(f"it has {key!r} twice in one object", "duplicate")


def _decoder(on_duplicate: Callable[[str], None]) -> json.JSONDecoder:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            on_duplicate(next(key for n, (key, _) in enumerate(pairs) if key in dict(pairs[:n])))
        return made

    return json.JSONDecoder(
        object_pairs_hook=members, parse_constant=_constant, parse_float=_number
    )


_STRICT = _decoder(_refuse)  # made once: the sandbox reads thousands of bodies a second


#: How messages of the decoder begin, and what is wrong then.
_MISTAKES = {
    "Illegal trailing comma": "a comma too many",  # of Python 3.13
    "Expecting ',' delimiter": "a comma is missing",
    "Expecting property name": "a key must stand in double quotes",
    "Expecting value": "a value is missing or not written as JSON",
}


def _mistake(error: json.JSONDecodeError) -> tuple[str, int]:
    """Return what is wrong in the words of one who wrote it, and at which offset."""
    before = error.doc[: error.pos].rstrip()
    after = error.doc[error.pos : error.pos + 1]
    if not error.doc.strip():
        return "it is empty", 0
    if before.endswith(",") and after in ("}", "]", ","):
        return "a comma too many", len(before) - 1
    for beginning, reason in _MISTAKES.items():
        if error.msg.startswith(beginning):
            ended = beginning.startswith("Expecting") and not after
            return "it ends too early" if ended else reason, error.pos
    return error.msg[:1].lower() + error.msg[1:], error.pos
