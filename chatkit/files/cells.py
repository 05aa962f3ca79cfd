"""Cells: any value as text, and which texts cannot be a number any more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

import pandas as pd

from chatkit.files.table import Odd

_NESTED = (list, tuple, dict)

# A number that went through a spreadsheet or a DataFrame as a decimal: 9.19877E+11, 919876.0,
# 919,876,543.00. A telephone number written with dots, 06.12.34.56.78, is none of these.
_DECIMAL = re.compile(
    r"\s*[+-]?(?:"
    r"\d+(?:[.,]\d*)?[eE][+-]?\d+"
    r"|\d+[.,]\d{0,2}"
    r"|\d{1,3}(?:(?:,\d{3})+[.]|(?:[.]\d{3})+,|(?:[ '’\u00a0\u202f]\d{3})+[.,])\d{1,2}"
    r")\s*"
)
_NOTHING = re.compile(r"\s*(?:nan|none|null|nil|n/?a|nat|inf|<na>|#.*)\s*", re.IGNORECASE)


def as_text(value: Any) -> str | None:
    """Return any value as text: times as ISO 8601, nested ones as JSON, None for none."""
    if isinstance(value, str):
        return value
    if isinstance(value, _NESTED):
        return json.dumps(value, ensure_ascii=False, default=_plain)
    if hasattr(value, "tolist"):  # of numpy: Parquet files bring arrays for lists
        return as_text(value.tolist())
    if value is None or pd.isna(value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))  # what pandas makes of whole numbers beside an empty cell
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else as_text(value)


def texts(cells: pd.Series[Any]) -> list[str | None]:
    """Return a column as texts."""
    if isinstance(cells.dtype, pd.StringDtype):
        return cells.astype(object).where(cells.notna(), None).tolist()
    return [as_text(value) for value in cells.astype(object)]


Reader = Callable[[Any], tuple[str | None, str]]


def kept(value: Any) -> tuple[str | None, str]:
    """Read a cell of a column that means nothing to us: whatever it says is kept."""
    return (value.text if isinstance(value, Odd) else as_text(value)), ""


def word(value: Any) -> tuple[str | None, str]:
    """Read a cell that holds a name: its text, or why it is none. NA and None are names."""
    if isinstance(value, Odd):
        return None, value.reason
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return as_text(value), ""
    return None, f"is {_kind(value)}, not text: a spreadsheet may have changed what was typed"


def digits(value: Any) -> tuple[str | None, str]:
    """Read a cell that holds a number: as it is written, unless it has lost digits."""
    if isinstance(value, str) and value.removeprefix("+").isdigit():  # most are
        return value, ""
    text, reason = word(value)
    if reason or text is None:
        return text, reason
    if _DECIMAL.fullmatch(text):
        return None, "is a decimal: digits, zeros or a + may be lost, so write it again as text"
    if _NOTHING.fullmatch(text):
        return None, "is no number: write one, or leave the cell empty"
    return text, ""


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    kinds = {float: "a decimal", date: "a date", time: "a time"}
    return next((said for kind, said in kinds.items() if isinstance(value, kind)), "a list")
