"""Same: whether a cell still says what it said, whatever pandas made of its type."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

#: What JSON can hold, and most cells are.
_PLAIN = frozenset({bool, int, float, str, list, dict, type(None)})
_ROWS = (list, tuple)
_NESTED = (*_ROWS, dict)
#: From here on floats are not exact: 2**53 + 1 has become 2**53.
INEXACT = 2**53


def plain(value: Any) -> Any:
    """Take the Python value of what numpy holds: Parquet files bring arrays for lists."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else value


def listed(cells: pd.Series[Any]) -> list[Any]:
    """Make Python values of cells, None of NA."""
    values = zip(cells.astype(object).tolist(), cells.isna().tolist(), strict=True)
    return [None if absent else plain(value) for value, absent in values]


def whole(value: Any) -> bool:
    """Tell whether a value is a float that surely was a whole number."""
    return isinstance(value, float) and value.is_integer() and abs(value) < INEXACT


def same(before: Any, edited: Any) -> bool:
    """Tell whether a cell that holds `edited` says what `before` says.

    A number that has become a float, a time in another zone or as text, and the text that
    pandas or a CSV file makes of a value are the same; a text that has become a number is
    not, for it may have lost zeros or a plus. An empty text is the same as nothing. In the
    items of a list, such as headers and buttons, an absent key is the same as null; a
    document (an object, such as `flow_json`) is compared as it is written.

    Args:
        before: The value of the base; None for NA.
        edited: The value of the edited frame, which is not NA.
    """
    before, edited = plain(before), plain(edited)
    if isinstance(edited, _NESTED):
        return _equal(before, edited)
    if isinstance(edited, str):
        return not edited if before is None else _said(before, edited)
    if isinstance(before, datetime):
        return isinstance(edited, datetime) and _moment(before) == _moment(edited)
    if isinstance(before, bool):
        return isinstance(edited, (int, float)) and before == edited
    if isinstance(before, int) and isinstance(edited, float) and abs(edited) >= INEXACT:
        return abs(before) < 2**64 and float(before) == edited
    return _equal(before, edited)


def _said(before: Any, text: str) -> bool:
    """Tell whether a text is what a value looks like as text."""
    if isinstance(before, str):
        return before == text
    if isinstance(before, datetime):
        try:
            return _moment(datetime.fromisoformat(text)) == _moment(before)
        except ValueError:
            return False
    if isinstance(before, _NESTED):  # files hold them as JSON, pandas writes them as Python does
        with suppress(ValueError, RecursionError):
            return _equal(before, json.loads(text))
    return str(before) == text


def _moment(time: datetime) -> datetime:
    """Take the moment: a time without an offset is UTC, as in all that the service sends."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _equal(before: Any, edited: Any) -> bool:
    """Compare what JSON can hold, to any depth. True and 1 are not the same there."""
    items = isinstance(before, _ROWS)  # of a list: services show null for what was not sent
    pairs = [(before, edited)]
    while pairs:
        one, two = pairs.pop()
        if one is two:
            continue
        one, two = plain(one), plain(two)
        if isinstance(one, dict):
            if not isinstance(two, dict) or (not items and one.keys() != two.keys()):
                return False
            pairs += ((one.get(name), two.get(name)) for name in {**one, **two})
        elif isinstance(one, _ROWS):
            if not isinstance(two, _ROWS) or len(one) != len(two):
                return False
            pairs += zip(one, two, strict=True)
        elif _nothing(one) or _nothing(two):
            if not (_nothing(one) and _nothing(two)):
                return False
        elif isinstance(one, bool) != isinstance(two, bool) or (one == two) is not True:
            return False
    return True


def _nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)
