"""Findings, differences and changes as a DataFrame."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd

from chatkit.display import MISSING


def frame(
    rows: Sequence[object], columns: Sequence[str], texts: Collection[str] = ()
) -> pd.DataFrame:
    """Make a frame of objects with these attributes; what is not there is None or NA.

    Args:
        rows: The objects, a row each.
        columns: Their attributes.
        texts: The columns that hold only texts; the others hold values of any kind.
    """
    found: dict[str, Any] = {}
    for name in columns:
        values = [_value(getattr(row, name)) for row in rows]
        column = pd.Series(values, dtype=object)
        found[name] = column.astype("str") if name in texts and not _odd(values) else column
    return pd.DataFrame(found, columns=list(columns))


def is_empty(value: object) -> bool:
    """Whether a cell holds what pandas takes for nothing."""
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))  # type: ignore[call-overload]


def _value(value: Any) -> Any:
    return None if value is MISSING else value


def _odd(values: Sequence[Any]) -> bool:
    """Whether half a character is among texts, which JSON can hold and Arrow cannot."""
    return any(isinstance(v, str) and not v.isascii() and _half(v) for v in values)


def _half(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in text)
