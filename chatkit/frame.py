"""Records to DataFrames: the only import of pandas and pyarrow.

JSON pages go straight into Arrow columns: msgspec checks and decodes one page at a time
into structs whose fields are those of the pydantic record, each page becomes a chunk of
columns, and no dict is ever made. Nested values stay JSON text until the end.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel

Kind = Literal["number", "text", "flag", "time", "json"]

#: How each kind of column is decoded, kept in Arrow, and shown in pandas.
_DECODED: dict[Kind, Any] = {
    "number": int | str | None,  # some services print ids as text
    "text": str | None,
    "flag": bool | None,
    "time": str | None,
    "json": msgspec.Raw,
}
_ARROW: dict[Kind, pa.DataType] = {
    "number": pa.int64(),
    "text": pa.large_string(),
    "flag": pa.bool_(),
    "time": pa.large_string(),
    "json": pa.large_binary(),
}
_PANDAS = {
    pa.int64(): pd.Int64Dtype(),
    pa.large_string(): pd.StringDtype("pyarrow", na_value=np.nan),
    pa.bool_(): pd.BooleanDtype(),
}
#: Rows that become one chunk: enough to amortise a chunk, few enough to stay in the cache.
_CHUNK = 1000

_decode_rows = msgspec.json.Decoder(list[dict[str, msgspec.Raw]]).decode


class WrongRows(ValueError):
    """Rows that are not what the record says: which row, which field, what was found."""


def kinds(record: type[BaseModel], names: Iterable[str]) -> dict[str, Kind]:
    """Tell the kind of column for each named field of a record, from its annotation."""
    return {name: _kind(record.model_fields[name].annotation) for name in names}


def _kind(annotation: Any) -> Kind:
    if get_origin(annotation) in (Union, UnionType):
        members = [a for a in get_args(annotation) if a is not NoneType]
        annotation = members[0] if len(members) == 1 else None
    simple: dict[Any, Kind] = {int: "number", str: "text", bool: "flag", datetime: "time"}
    return simple.get(annotation, "json")


class Columns:
    """Collects pages of records, as JSON text, into the columns of one DataFrame.

    Args:
        expected: The documented fields and their kinds, in the order of the columns.
        noun: What a row is, for messages.
    """

    def __init__(self, expected: Mapping[str, Kind], noun: str) -> None:
        self.rows = 0
        self._expected = dict(expected)
        self._kinds = dict(expected)
        self._noun = noun
        self._chunks: list[pa.Table] = []
        self._waiting: list[Any] = []
        self._seen: set[str] = set()
        self._learn(self._kinds, optional=frozenset())

    def add(self, page: msgspec.Raw | bytes) -> int:
        """Add one page, a JSON array of objects. Returns its number of rows.

        Raises:
            WrongRows: It is no such array, or a field is of the wrong type.
        """
        try:
            rows = self._decode(page)
        except (msgspec.ValidationError, RecursionError):
            rows = self._decode_other_shape(page)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise WrongRows(str(error)) from None
        self._waiting += rows
        self.rows += len(rows)
        if len(self._waiting) >= _CHUNK:
            self._flush()
        return len(rows)

    def frame(self, key: str) -> pd.DataFrame:
        """Make the DataFrame, indexed by `key`, rows in the order they were added."""
        self._flush()
        missing = [name for name in self._expected if self.rows and name not in self._seen]
        if missing:
            warnings.warn(
                f"The service sent no {', '.join(missing)} for its {self._noun}; "
                "the columns are empty.",
                stacklevel=5,
            )
        table = pa.concat_tables([self._empty(), *self._chunks], promote_options="default").select(
            list(self._kinds)
        )
        self._chunks.clear()
        nested = {n: table[n] for n, kind in self._kinds.items() if kind == "json"}
        for name in (n for n, kind in self._kinds.items() if kind == "time"):
            table = table.set_column(table.column_names.index(name), name, _times(table[name]))
        frame = table.drop_columns(list(nested)).to_pandas(types_mapper=_PANDAS.get)
        for name, column in nested.items():
            frame.insert(list(self._kinds).index(name), name, _objects(column))
        index = frame.pop(key)
        frame.index = pd.Index(index.astype("int64") if self._kinds[key] == "number" else index)
        return frame

    def _learn(self, kinds: Mapping[str, Kind], optional: frozenset[str]) -> None:
        """Make the decoder for rows of just these fields: anything else is another shape."""
        self._kinds = dict(kinds)
        slots = {f"c{i}": name for i, name in enumerate(kinds)}
        fields: list[Any] = [
            (slot, _DECODED[kinds[name]], msgspec.UNSET)
            if name in optional
            else (slot, _DECODED[kinds[name]])
            for slot, name in slots.items()
        ]
        struct = msgspec.defstruct(
            "Row", fields, rename=slots, gc=False, forbid_unknown_fields=True, kw_only=True
        )
        self._decode: Callable[[Any], list[Any]] = msgspec.json.Decoder(list[struct]).decode  # type: ignore[valid-type]
        self._getters = {name: attrgetter(slot) for slot, name in slots.items()}
        self._optional = optional

    def _decode_other_shape(self, page: msgspec.Raw | bytes) -> list[Any]:
        """Decode a page whose rows have more or fewer fields, and remember that shape.

        Fields the document does not know become columns of their own: nothing is dropped.
        """
        self._flush()
        try:
            rows = _decode_rows(page)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise WrongRows(str(error)) from None
        named = dict.fromkeys(name for row in rows for name in row)
        kinds = self._kinds | {name: "json" for name in named if name not in self._kinds}
        absent = {name for name in kinds if any(name not in row for row in rows)}
        self._learn(kinds, self._optional | absent)
        try:
            return self._decode(page)
        except (msgspec.ValidationError, RecursionError) as error:
            raise WrongRows(str(error)) from None

    def _flush(self) -> None:
        """Turn the rows that wait into one chunk of columns."""
        rows, self._waiting = self._waiting, []
        if not rows:
            return
        chunk: dict[str, pa.Array] = {}
        for name, get in self._getters.items():
            values = list(map(get, rows))
            if name in self._optional:
                if all(v is msgspec.UNSET for v in values):
                    continue
                values = [None if v is msgspec.UNSET else v for v in values]
            chunk[name] = _array(name, self._kinds[name], values)
        self._seen.update(chunk)
        self._chunks.append(pa.table(chunk))

    def _empty(self) -> pa.Table:
        return pa.schema([(n, _ARROW[kind]) for n, kind in self._kinds.items()]).empty_table()


def _array(name: str, kind: Kind, values: list[Any]) -> pa.Array:
    if kind == "json":
        values = [None if v is None else bytes(v) for v in values]
    try:
        return pa.array(values, _ARROW[kind])
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        try:
            return pa.array([None if v is None else int(v) for v in values], _ARROW[kind])
        except (ValueError, TypeError, OverflowError, pa.ArrowInvalid):
            raise WrongRows(f"{name} holds something that is no number") from None


def _times(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Read ISO 8601 text as UTC times in microseconds."""
    utc = pa.timestamp("us", tz="UTC")
    try:
        return pc.cast(column, utc)
    except pa.ArrowInvalid:  # finer than microseconds, or without an offset
        try:
            times = pd.to_datetime(column.to_pandas(), format="ISO8601", utc=True)
        except (ValueError, OverflowError) as error:
            raise WrongRows(f"a time cannot be read: {error}") from None
        return pa.chunked_array([pa.array(times.dt.as_unit("us"), utc)])


def _objects(column: pa.ChunkedArray) -> pd.Series[Any]:
    """Decode JSON texts to Python objects, each row its own."""
    decode = msgspec.json.decode
    return pd.Series(
        [None if text is None else decode(text) for text in column.to_pylist()], dtype=object
    )


def join_words(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series[Any]:
    """Join text columns with single spaces, leaving out what is empty; all empty: NA."""
    parts = [pa.array(frame[c], pa.large_string()) for c in columns]
    parts = [pc.if_else(pc.equal(p, ""), None, p) for p in parts]
    joined = pc.binary_join_element_wise(
        *parts, pa.scalar(" ", pa.large_string()), null_handling="skip"
    )
    joined = pc.if_else(pc.equal(joined, ""), None, joined)
    return pd.Series(
        pd.array(joined, dtype=_PANDAS[pa.large_string()]), index=frame.index, name="name"
    )


def repeated(frame: pd.DataFrame) -> int:
    """How many rows have a key that an earlier row has."""
    return 0 if frame.index.is_unique else int(frame.index.duplicated().sum())


def without_repeats(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the last of the rows that share a key: it was read last."""
    return frame if frame.index.is_unique else frame[~frame.index.duplicated(keep="last")]
