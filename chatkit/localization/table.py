"""Tables: findings, lengths and states as DataFrames; the only import of pandas here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from chatkit.frames.snapshot import write_origin
from chatkit.util.display import has_half_character, visible

_COUNT_COLUMNS = ("characters", "utf16", "limit", "templates", "texts", "words")
_DTYPES = {"position": "Int64", "refused": "bool", "share": "float64"}


def make_attribute_frame(objects: Iterable[Any], columns: Sequence[str]) -> pd.DataFrame:
    """Make a DataFrame of these attributes of objects, a row for each."""
    return make_frame(([getattr(each, name) for name in columns] for each in objects), columns)


def make_frame(rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Make a DataFrame of rows, with the dtype of each column by its name; most are text."""
    stored = [list(map(_escape_half_characters, row)) for row in rows]
    frame = pd.DataFrame(stored, columns=list(columns), dtype=object)
    write_origin(frame)
    kinds = _DTYPES | dict.fromkeys(_COUNT_COLUMNS, "int64")
    return frame.astype({name: kinds.get(name, "str") for name in columns})


def make_states_frame(
    states: Mapping[tuple[str, str], str], codes: Sequence[str], languages: Sequence[str]
) -> pd.DataFrame:
    """Make a DataFrame of states: a row for each template, a column for each language."""
    rows = [(code, *(states[code, lang] for lang in languages)) for code in codes]
    names = ("template_code", *map(_escape_half_characters, languages))
    frame = make_frame(rows, names).set_index("template_code")
    frame.columns = pd.Index(frame.columns, name="lang_code", dtype="str")
    return frame


def _escape_half_characters(value: Any) -> Any:
    """Escape half characters in a text, which no column of texts can hold."""
    return visible(value) if isinstance(value, str) and has_half_character(value) else value


def apply_edits(
    frame: pd.DataFrame,
    edits: Mapping[int, Mapping[str, Any]],
    new: Sequence[Mapping[str, Any]],
) -> pd.DataFrame:
    """Return a copy of a frame with some cells changed and some rows added.

    Args:
        frame: Contents by template code and language.
        edits: The fields that change, by the position of their row.
        new: The fields of rows to add.
    """
    touched = {name for fields in edits.values() for name in fields}
    columns = {}
    for name in frame.columns:
        column = frame[name]
        if new or name in touched:
            values = column.astype(object).tolist()
            for row, fields in edits.items():
                values[row] = fields.get(name, values[row])
            values += [fields.get(name) for fields in new]
            column = pd.Series(values, dtype=column.dtype)
        columns[name] = column.reset_index(drop=True)
    result, index = pd.DataFrame(columns), frame.index
    if new:
        labels = [tuple(fields[str(name)] for name in index.names) for fields in new]
        index = index.append(pd.MultiIndex.from_tuples(labels, names=index.names))
    result.index, result.columns = index, frame.columns
    result.attrs = dict(frame.attrs)
    return result
