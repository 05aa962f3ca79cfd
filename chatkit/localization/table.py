"""Tables: findings, lengths and states as DataFrames; the only import of pandas here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from chatkit.frames.snapshot import write_origin
from chatkit.util.display import has_half_character, visible

_COUNTS = ("characters", "utf16", "limit", "templates", "texts", "words")
_KINDS = {"position": "Int64", "refused": "bool", "share": "float64"}


def attribute_frame(objects: Iterable[Any], columns: Sequence[str]) -> pd.DataFrame:
    """Make a DataFrame of these attributes, one row for each object."""
    return frame_of(([getattr(each, name) for name in columns] for each in objects), columns)


def frame_of(rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Make a DataFrame of these columns; all but numbers are text."""
    stored = [list(map(_stored, row)) for row in rows]
    frame = pd.DataFrame(stored, columns=list(columns), dtype=object)
    write_origin(frame)
    kinds = _KINDS | dict.fromkeys(_COUNTS, "int64")
    return frame.astype({name: kinds.get(name, "str") for name in columns})


def text_frame(rows: Sequence[Sequence[str | None]], columns: Sequence[str]) -> pd.DataFrame:
    """Make a DataFrame of rows of texts."""
    return pd.DataFrame(rows, columns=list(columns), dtype="str")


def states_of(
    states: Mapping[tuple[str, str], str], codes: Sequence[str], languages: Sequence[str]
) -> pd.DataFrame:
    """Make a DataFrame with a row for each template, a column for each language."""
    frame = pd.DataFrame(
        [[states[code, lang] for lang in languages] for code in codes],
        index=pd.Index(list(map(_stored, codes)), name="template_code", dtype="str"),
        columns=pd.Index(list(map(_stored, languages)), name="lang_code", dtype="str"),
        dtype="str",
    )
    write_origin(frame)
    return frame


def _stored(value: Any) -> Any:
    """Spell out halves of characters, which no column of texts can hold."""
    return visible(value) if isinstance(value, str) and has_half_character(value) else value


#: Columns of these kinds cannot hold nothing, which a new row may have.
_NULLABLE = {"int64": "Int64", "bool": "boolean"}


def assembled(
    frame: pd.DataFrame,
    edits: Mapping[int, Mapping[str, Any]],
    new: Sequence[Mapping[str, Any]],
) -> pd.DataFrame:
    """Return a frame with some cells changed and some rows added; the one given stays as it is.

    Args:
        frame: Contents.
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
            column = _column(values, column.dtype)
        columns[name] = column.reset_index(drop=True)
    result = pd.DataFrame(columns)
    result.index = _index(frame.index, new)
    result.columns = frame.columns
    result.attrs = dict(frame.attrs)
    return result


def _column(values: list[Any], dtype: Any) -> pd.Series[Any]:
    try:
        return pd.Series(pd.array(values, dtype=_NULLABLE.get(str(dtype), dtype)))
    except (TypeError, ValueError):  # a column of nothing at all, which has a text now
        return pd.Series(values, dtype=object)


def _index(index: pd.Index[Any], new: Sequence[Mapping[str, Any]]) -> pd.Index[Any]:
    """Add the labels of new rows: the codes they have, or the next numbers."""
    if not new:
        return index
    if "lang_code" not in index.names:
        return index.append(pd.RangeIndex(len(index), len(index) + len(new)))
    labels = [tuple(fields.get(str(name)) for name in index.names) for fields in new]
    if index.nlevels == 1:
        return index.append(pd.Index([label[0] for label in labels], name=index.name))
    return index.append(pd.MultiIndex.from_tuples(labels, names=index.names))
