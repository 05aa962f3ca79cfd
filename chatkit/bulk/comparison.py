"""Comparison: what a person changed in a frame, found by comparing it with what was read.

The cells of a column that is not as it was read are compared by what they mean.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from math import isclose
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from chatkit.api.record import INEXACT
from chatkit.frames.frame import to_python

Rows = NDArray[np.int64]  #: numbers of rows; the first row of a frame is 0
_ROWS = (list, tuple)
_SCALARS = frozenset({str, int, float, bool, pd.Timestamp})
_NESTED = (*_ROWS, dict)
#: What pandas and spreadsheets write for nothing.
_EMPTY_WORDS = frozenset({"nan", "none", "nat", "<na>", "null", "#n/a", "[]", "{}"})
_ROUNDING = 5e-6  #: the share by which a spreadsheet rounds what it shows of a long number


# --- columns --------------------------------------------------------------------------


def find_differing_rows(before: Sequence[Any], edited: Sequence[Any]) -> Rows:
    """Return where two columns of Python values differ. None in the second changes nothing."""
    rows = [
        row
        for row, (one, two) in enumerate(zip(before, edited, strict=True))
        if two is not None
        and two is not one
        and not (type(two) is type(one) and type(two) in _SCALARS and two == one)
        and not is_same_value(one, two)
    ]
    return np.array(rows, np.int64)


# --- single cells ---------------------------------------------------------------------


def is_same_value(before: Any, edited: Any) -> bool:
    """Return whether a cell that holds `edited` means the same as `before`.

    A number that has become a float, a time in another zone or as text, and the text that
    pandas or a CSV file makes of a value are the same; a text that has become a number is
    not, for it may have lost zeros or a plus. An empty text is the same as nothing. In the
    items of a list, such as headers and buttons, an absent key is the same as null; a
    document (an object, such as `flow_json`) is compared as it is written.

    Args:
        before: The Python value of the base; None for NA.
        edited: The Python value of the edited frame, which is not NA.
    """
    if isinstance(edited, _NESTED):
        return _is_equal(before, edited)
    if isinstance(edited, str):
        return not edited if before is None else _is_text_of(before, edited)
    if isinstance(before, datetime):
        return isinstance(edited, datetime) and _as_utc(before) == _as_utc(edited)
    if isinstance(before, bool):
        return isinstance(edited, (int, float)) and before == edited
    if isinstance(before, int) and isinstance(edited, float) and abs(edited) >= INEXACT:
        return abs(before) < 2**64 and float(before) == edited
    return _is_equal(before, edited)


def _is_text_of(before: Any, text: str) -> bool:
    """Return whether a text is the value, as files or pandas write it."""
    if isinstance(before, str):
        return before == text
    if isinstance(before, bool):  # spreadsheets write TRUE
        return str(before).casefold() == text.casefold()
    if isinstance(before, datetime):
        try:
            return _as_utc(datetime.fromisoformat(text)) == _as_utc(before)
        except ValueError:
            return False
    if isinstance(before, _NESTED):  # files hold them as JSON, pandas writes them as Python does
        with suppress(ValueError, RecursionError):
            return _is_equal(before, json.loads(text))
    return str(before) == text


def looks_unedited(before: Any, edited: Any) -> bool:
    """Return whether a cell of a read-only column differs from its value in form alone.

    It is for frames that went through a file: what spreadsheets make of a value is no edit. Times
    are never taken for edits, as they are written in any form; a long number may be rounded as it
    was shown (`1.04396E+14`); spaces, an empty cell, and the ######## of a narrow column are none.
    """
    if edited is None or isinstance(before, datetime) or is_same_value(before, edited):
        return True
    one, two = (
        " ".join(str(int(value) if isinstance(value, bool) else value).split()).casefold()
        for value in (before, edited)
    )
    two = two.removeprefix("'")
    if one == two or not two.strip("#") or (before is None and two in _EMPTY_WORDS):
        return True
    if isinstance(before, bool):
        return two == str(before).casefold()
    with suppress(ValueError):
        return isclose(float(one), float(two.replace(",", ".")), rel_tol=_ROUNDING)
    return False


def _as_utc(time: datetime) -> datetime:
    """Return a time with an offset: one without is UTC, as all that the service sends."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _is_equal(before: Any, edited: Any) -> bool:
    """Return whether two JSON values are equal, to any depth. True and 1 are not."""
    items = isinstance(before, _ROWS)  # of a list: services show null for what was not sent
    pairs = [(before, edited)]
    while pairs:
        one, two = pairs.pop()
        if one is two:
            continue
        one, two = to_python(one), to_python(two)
        if isinstance(one, dict):
            if not isinstance(two, dict) or (not items and one.keys() != two.keys()):
                return False
            pairs += ((one.get(name), two.get(name)) for name in {**one, **two})
        elif isinstance(one, _ROWS):
            if not isinstance(two, _ROWS) or len(one) != len(two):
                return False
            pairs += zip(one, two, strict=True)
        elif _is_na(one) or _is_na(two):
            if not (_is_na(one) and _is_na(two)):
                return False
        elif isinstance(one, bool) != isinstance(two, bool) or (one == two) is not True:
            return False
    return True


def _is_na(value: Any) -> bool:
    """Return whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and value != value)
