"""Refusal: what pydantic finds wrong with a piece of a flow, in the words of the house."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from chatkit.errors import InputError, Problem

_LONG = 60
_REASONS = {
    "bool_type": "must be True or False",
    "dict_type": "must be a dict",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "missing": "is required",
    "missing_argument": "is required",
    "missing_positional_only_argument": "is required",
    "string_type": "must be text",
    "unexpected_positional_argument": "is one argument too many: name the others",
}


def refused(name: str, names: Sequence[str], error: ValidationError) -> InputError:
    """Say what is wrong with each argument of a piece, all at once.

    Args:
        name: What the piece is called.
        names: Its arguments, in their order.
        error: What pydantic found.
    """
    found: dict[str, Problem] = {}
    for detail in error.errors(include_url=False):
        field = _field(detail["loc"], names)
        reason = _reason(detail, field, name, names)
        if field in found and found[field].reason != reason:  # neither this nor that
            reason = f"{found[field].reason} or {reason.removeprefix('must be ')}"
        found[field] = Problem(field, _value(detail), reason)
    return InputError(f"This {name} cannot be built:", list(found.values()))


def meant(name: str, names: Iterable[str]) -> str:
    """Ask whether another name was meant, if one is like it."""
    like = get_close_matches(name, names, 1)
    return f"; did you mean {like[0]}?" if like else ""


def _field(loc: tuple[int | str, ...], names: Sequence[str]) -> str:
    """Name the argument, and the item of it; what follows are steps of pydantic's own."""
    first, *rest = loc
    if isinstance(first, int):
        first = names[first] if first < len(names) else f"argument {first + 1}"
    item = next((step for step in rest if isinstance(step, int)), None)
    return first if item is None else f"{first}[{item}]"


def _reason(detail: ErrorDetails, field: str, name: str, names: Sequence[str]) -> str:
    if detail["type"] == "unexpected_keyword_argument":
        return f"is no property of {name}{meant(field, names)}"
    if detail["type"] == "literal_error":
        return f"must be {detail['ctx']['expected']}"
    return _REASONS.get(detail["type"], detail["msg"].removeprefix("Value error, "))


def _value(detail: ErrorDetails) -> str:
    """Show what was passed, if anything was."""
    if detail["type"].startswith("missing"):
        return ""
    value: Any = detail["input"]
    text = repr(value)
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
