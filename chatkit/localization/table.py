"""The pandas door of the localization: findings, lengths and states as DataFrames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from chatkit.display import visible

_HALVES = re.compile("[\ud800-\udfff]")
_KINDS = {"position": "Int64", "characters": "int64", "utf16": "int64", "limit": "int64"}


def frame_of(rows: Iterable[Any], columns: Sequence[str]) -> pd.DataFrame:
    """Make a DataFrame, one row for each, of these attributes; all but numbers are text."""
    rows = list(rows)
    frame = pd.DataFrame(
        {
            name: pd.Series([_stored(getattr(row, name)) for row in rows], dtype=object)
            for name in columns
        }
    )
    kinds = {"refused": "bool", "share": "float64", **_KINDS}
    return frame.astype({name: kinds.get(name, "str") for name in columns})


def states_of(
    states: Mapping[tuple[str, str], str], codes: Sequence[str], languages: Sequence[str]
) -> pd.DataFrame:
    """Make a DataFrame with a row for each template, a column for each language."""
    return pd.DataFrame(
        [[states[code, lang] for lang in languages] for code in codes],
        index=pd.Index(list(map(_stored, codes)), name="template_code", dtype="str"),
        columns=pd.Index(list(map(_stored, languages)), name="lang_code", dtype="str"),
        dtype="str",
    )


def _stored(value: Any) -> Any:
    """Spell out halves of characters, which no column of texts can hold."""
    return visible(value) if isinstance(value, str) and _HALVES.search(value) else value
