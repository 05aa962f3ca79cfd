"""Records to DataFrames: the only import of pandas and pyarrow.

A page of JSON becomes columns without a dict a row. msgspec decodes it into structs of
exactly the fields expected; Arrow takes 2,000 rows at a time, column by column, and
refuses values of another type. Nested values stay JSON text until the end.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, repeat
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET, Raw
from msgspec.json import decode, encode
from msgspec.structs import astuple
from pydantic import BaseModel

from chatkit.api.record import Document, Time, parse_document, parse_time
from chatkit.api.secret import SECRET, mask_secrets
from chatkit.frames.snapshot import write_origin

#: What a column holds; a moment is a time, and a document is JSON, in forms that are not shown.
Kind = Literal["number", "text", "flag", "time", "moment", "json", "document"]

#: Rows that become one chunk of the columns: enough to be quick, and still in the cache.
_CHUNK_ROWS = 2000
#: A list with more different fields than this is broken, and would fill the memory.
_MAX_FIELDS = 1000
#: For thousands of small chunks the system's allocator is steadier than Arrow's own.
_MEMORY = pa.system_memory_pool()
_TIMESTAMP = pa.timestamp("us", "UTC")
#: Names that msgspec cannot look for in JSON: a page that has one is read the slow way.
_SPECIAL_NAME = re.compile(r'[\x00-\x1f"\\]')

#: What Arrow holds of many rows, for who imports neither.
Table: TypeAlias = "pa.Table"

#: Kinds that stay JSON text until the end, and are Python objects then.
_JSON_KINDS: tuple[Kind, ...] = ("json", "document")
#: What msgspec says of a text that is no JSON, and of one that is nested too deep.
_BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
#: What Arrow and Python say of a value that is of another type.
_REFUSED = (TypeError, ValueError, OverflowError)


class WrongRows(ValueError):
    """Rows that are not as documented: the row (from 0), the field and its value."""

    def __init__(self, message: str, row: int | None = None) -> None:
        self.row = row  #: the first that may be meant; None: any
        super().__init__(message)


def _make_value_error(
    row: int, field: str, kind: Kind, value: object, whose: str = ""
) -> WrongRows:
    """Return the error for a value of the wrong type, with its row and field."""
    message = f"row {row}, field {field}: expected {_TYPES[kind].name}, got {value!r:.60}"
    return WrongRows(f"{message} ({whose})" if whose else message, row)


# --- kinds of columns -------------------------------------------------------------------


def choose_column_kinds(record: type[BaseModel], names: Iterable[str]) -> dict[str, Kind]:
    """Return the kinds of columns for fields of a record, by their annotations."""
    return {name: _choose_column_kind(record.model_fields[name].annotation) for name in names}


_KIND_OF_TYPE: dict[Any, Kind] = {
    int: "number", str: "text", bool: "flag", datetime: "time",
    Time: "moment", Document: "document",
}  # fmt: skip


def _choose_column_kind(annotation: Any) -> Kind:
    """Return the kind of column for the annotation of a field."""
    if get_origin(annotation) in (Union, UnionType):
        members = [a for a in get_args(annotation) if a is not NoneType]
        annotation = members[0] if len(members) == 1 else None
    if annotation not in _KIND_OF_TYPE and get_origin(annotation) is Annotated:  # an id, or None
        annotation = get_args(annotation)[0]
    return _KIND_OF_TYPE.get(annotation, "json")


def _make_number_array(values: Sequence[Any]) -> Any:
    """Make an Arrow array of whole numbers."""
    if not {int, NoneType}.issuperset(map(type, values)):
        values = [_parse_int(value) for value in values]
    return pa.array(values, pa.int64(), memory_pool=_MEMORY)


def _parse_int(value: Any) -> int | None:
    """Parse a whole number: services print ids as text, and 007 is not 7."""
    if value is None or type(value) is int:
        return value
    if re.fullmatch("0|-?[1-9][0-9]{0,18}", value):
        return int(value)
    raise ValueError(value)


def _make_text_array(values: Sequence[Any]) -> Any:
    """Make an Arrow array of texts."""
    return pa.array(values, pa.large_string(), memory_pool=_MEMORY)


def _make_flag_array(values: Sequence[Any]) -> Any:
    """Make an Arrow array of true and false."""
    return pa.array(values, pa.bool_(), memory_pool=_MEMORY)


def _make_time_array(values: Sequence[Any]) -> Any:
    """Make an Arrow array of ISO 8601 times, in UTC."""
    texts = _make_text_array(values)
    try:
        return pc.cast(texts, _TIMESTAMP, memory_pool=_MEMORY)
    except pa.ArrowInvalid:  # finer than microseconds, without an offset, or no time at all
        return pa.array(map(_parse_iso_time, values), _TIMESTAMP)


def _make_parsed_time_array(values: Sequence[Any]) -> Any:
    """Make an Arrow array of times in any form that `parse_time` reads."""
    return pa.array(map(parse_time, values), _TIMESTAMP)


def _parse_iso_time(text: str | None) -> datetime | None:
    """Parse an ISO 8601 time; one without an offset is UTC."""
    if text is None:
        return None
    time = datetime.fromisoformat(text)
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def _mask_secrets(name: str, values: Sequence[Raw]) -> Sequence[Raw]:
    """Mask secrets in the JSON texts of a field that is not documented."""
    if not SECRET.search(name) and not any(
        SECRET.search(bytes(value).decode("utf-8", "replace")) for value in values
    ):
        return values
    try:
        return [Raw(encode(mask_secrets(name, decode(value)))) for value in values]
    except _BROKEN as error:
        raise WrongRows(f"field {name}: {error}") from None


def _join_json(values: Sequence[Raw]) -> bytes:
    """Join JSON texts into one JSON array."""
    return b"[" + b",".join(values) + b"]"


class _ColumnType(NamedTuple):
    """The name of a kind of column in messages, and how Arrow and pandas hold it."""

    name: str
    array: Callable[[Sequence[Any]], Any]
    arrow: Any
    dtype: Any


_STR = pd.StringDtype("pyarrow", na_value=np.nan)  # what pandas calls `str`
_TIME_DTYPE = pd.DatetimeTZDtype("us", "UTC")
_TYPES: dict[Kind, _ColumnType] = {
    "number": _ColumnType("a whole number", _make_number_array, pa.int64(), pd.Int64Dtype()),
    "text": _ColumnType("text", _make_text_array, pa.large_string(), _STR),
    "flag": _ColumnType("true or false", _make_flag_array, pa.bool_(), pd.BooleanDtype()),
    "time": _ColumnType("an ISO 8601 time", _make_time_array, _TIMESTAMP, _TIME_DTYPE),
    "moment": _ColumnType("a time", _make_parsed_time_array, _TIMESTAMP, _TIME_DTYPE),
    "json": _ColumnType("JSON", _join_json, None, None),
    "document": _ColumnType("JSON", _join_json, None, None),
}


@contextmanager
def pause_collector() -> Iterator[None]:
    """Disable garbage collection during the block, which makes many allocations faster.

    None of them can be garbage yet. It saves half the time of a million rows.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


# --- columns ----------------------------------------------------------------------------


class Columns:
    """Collector of pages of records, as JSON text, into the columns of one DataFrame.

    Fields that are not expected become columns of Python objects: nothing is dropped. In place
    of what is a secret by its name they have a mask.

    Args:
        expected: The documented fields and their kinds, in the order of the columns.
    """

    def __init__(self, expected: Mapping[str, Kind]) -> None:
        self.rows = 0
        self._kinds = dict(expected)
        self._known = frozenset(expected)
        self._unseen = list(expected)
        self._optional: set[str] = set()
        self._waiting: list[msgspec.Struct] = []
        self._chunks: list[tuple[int, dict[str, Any]]] = []
        self._set_decoder()

    def add(self, page: Raw | bytes) -> int:
        """Add one page, a JSON array of objects; return its number of rows.

        Raises:
            WrongRows: It is no such array, or a value is of the wrong type. Values are
                looked at 2,000 rows at a time, so it may be one of an earlier page.
        """
        try:
            rows = self._read_page(page)
        except _BROKEN as error:
            raise WrongRows(
                f"the page that begins with row {self.rows}: {error}", self.rows
            ) from None
        self._waiting += rows
        self.rows += len(rows)
        if len(self._waiting) >= _CHUNK_ROWS:
            self._flush()
        return len(rows)

    def frame(self, key: str) -> pd.DataFrame:
        """Return a DataFrame of all rows in their order, indexed by `key`; works once.

        Raises:
            WrongRows: A value is of the wrong type, or a row has no `key`.
        """
        self._flush()
        columns = {name: self._join_chunks(name, kind) for name, kind in self._kinds.items()}
        keys = columns.pop(key)
        if (absent := keys.isna()).any():
            raise _make_value_error(int(absent.argmax()), key, self._kinds[key], None)
        frame = pd.DataFrame(columns, index=keys.index, copy=False)
        keys = keys.astype("int64") if self._kinds[key] == "number" else keys
        frame.index = pd.Index(keys, name=key)
        write_origin(frame)
        return frame

    def take_table(self, key: str) -> pa.Table:
        """Remove the collected rows, and return them as an Arrow table with `key` first.

        An array of a documented field is a list of texts: items that are no texts are written as
        JSON. A field that is not documented is JSON text. Each documented field is a column in any
        case.

        Raises:
            WrongRows: A value is of the wrong type, or a row has no `key`.
        """
        self._flush()
        chunks, self._chunks = self._chunks, []
        first = self.rows - sum(rows for rows, _ in chunks)
        columns = {key: self._kinds[key], **self._kinds}
        types = [self._arrow_type(name) for name in columns]
        cells = [
            pa.chunked_array([self._table_chunk(name, kind, *chunk) for chunk in chunks], each)
            for each, (name, kind) in zip(types, columns.items(), strict=True)
        ]
        if cells[0].null_count:
            row = first + int(pc.index(pc.is_null(cells[0]), True).as_py())
            raise _make_value_error(row, key, self._kinds[key], None)
        return pa.table(cells, names=list(columns))

    def _arrow_type(self, name: str) -> Any:
        """Return the Arrow type of a column in a table."""
        if self._kinds[name] not in _JSON_KINDS:
            return _TYPES[self._kinds[name]].arrow
        return pa.list_(pa.large_string()) if name in self._known else pa.large_string()

    def _table_chunk(self, name: str, kind: Kind, rows: int, chunk: dict[str, Any]) -> Any:
        """Return one chunk of one column for a table."""
        cells = chunk.get(name)
        if cells is None:
            return pa.nulls(rows, self._arrow_type(name))
        if kind not in _JSON_KINDS:
            return cells
        try:
            values = decode(cells)
            if name in self._known:
                lists = [v if isinstance(v, list | None) else [v] for v in values]
                values = [v and [*map(_format_text_or_json, v)] for v in lists]
            else:
                values = [None if v is None else encode(v).decode() for v in values]
            return pa.array(values, self._arrow_type(name))
        except (*_BROKEN, *_REFUSED) as error:
            raise WrongRows(f"field {name}: {error}") from None

    @property
    def missing(self) -> list[str]:
        """Expected fields that no row had; [] without rows."""
        return self._unseen if self.rows else []

    # --- pages to rows ---

    def _set_decoder(self) -> None:
        """Set the decoder of pages to the fields known by now; it refuses others."""
        fields: list[Any] = []
        names = {}
        for number, (name, kind) in enumerate(self._kinds.items()):
            slot = f"__{number}__"
            names[slot] = slot if _SPECIAL_NAME.search(name) else name
            default = [UNSET] if name in self._optional else []
            fields.append((slot, Raw if kind in _JSON_KINDS else Any, *default))
        self._row = msgspec.defstruct(
            "Row", fields, rename=names, gc=False, forbid_unknown_fields=True, kw_only=True
        )
        self._decode: Callable[[Any], list[msgspec.Struct]]
        self._decode = msgspec.json.Decoder(list[self._row]).decode  # type: ignore[name-defined]

    def _read_page(self, page: Raw | bytes) -> list[msgspec.Struct]:
        """Decode a page of rows, whatever fields they have."""
        try:
            return self._decode(page)
        except msgspec.ValidationError:
            return self._read_other_shape(page)

    def _read_other_shape(self, page: Raw | bytes) -> list[msgspec.Struct]:
        """Read a page whose rows have more or fewer fields, and make a decoder for such rows."""
        rows = []
        for number, row in enumerate(decode(page, type=list[Raw]), self.rows):
            try:
                rows.append(decode(row, type=dict[str, Raw]))
            except msgspec.ValidationError:
                value = decode(row)
                raise WrongRows(
                    f"row {number}: expected an object, got {value!r:.60}", number
                ) from None
        self._flush()
        for name in (name for row in rows for name in row):
            self._kinds.setdefault(name, "json")
        if len(self._kinds) > _MAX_FIELDS:
            raise WrongRows(f"the rows have more than {_MAX_FIELDS} different fields")
        self._optional |= {name for name in self._kinds if any(name not in row for row in rows)}
        self._set_decoder()
        slots = dict(zip(self._kinds, self._row.__struct_fields__, strict=True))
        cells = [
            {slots[n]: v if self._kinds[n] in _JSON_KINDS else decode(v) for n, v in row.items()}
            for row in rows
        ]
        return [self._row(**each) for each in cells]

    # --- rows to columns ---

    def _flush(self) -> None:
        """Turn the waiting rows into one chunk of each column."""
        rows, self._waiting = self._waiting, []
        if not rows:
            return
        columns = list(zip(*map(astuple, rows), strict=True))
        chunk: dict[str, Any] = {}
        for (name, kind), values in zip(self._kinds.items(), columns, strict=True):
            if name in self._optional:
                if all(value is UNSET for value in values):
                    continue
                blank = Raw(b"null") if kind in _JSON_KINDS else None
                values = tuple(blank if value is UNSET else value for value in values)
            if name not in self._known:
                values = tuple(_mask_secrets(name, values))
            chunk[name] = self._make_chunk(name, kind, values, columns[0])
        self._unseen = [name for name in self._unseen if name not in chunk]
        self._chunks.append((len(rows), chunk))

    def _make_chunk(self, name: str, kind: Kind, values: Sequence[Any], keys: Sequence[Any]) -> Any:
        """Make one chunk of one column, or raise an error that names the value and its row."""
        make = _TYPES[kind].array
        try:
            return make(values)
        except _REFUSED:
            first = self.rows - len(values)
            for row, (value, key) in enumerate(zip(values, keys, strict=True), first):
                try:
                    make([value])
                except _REFUSED:
                    column = next(iter(self._kinds))  # of the keys, mostly
                    known = type(key) in (int, str) and column != name
                    whose = f"{column} {key!r:.60}" if known else ""
                    raise _make_value_error(row, name, kind, value, whose) from None
            raise

    def _join_chunks(self, name: str, kind: Kind) -> pd.Series[Any]:
        """Join the chunks of one column, and free them."""
        _, _, arrow, dtype = _TYPES[kind]
        chunks = [(rows, chunk.pop(name, None)) for rows, chunk in self._chunks]
        if kind in _JSON_KINDS:
            objects = self._decode_objects(name, chunks)
            if kind == "document":
                objects = np.fromiter(map(parse_document, objects), object, self.rows)
            return pd.Series(objects, dtype=object, copy=False)
        arrays = [pa.nulls(rows, arrow) if array is None else array for rows, array in chunks]
        return pd.Series(dtype.__from_arrow__(pa.chunked_array(arrays, arrow)), copy=False)

    def _decode_objects(self, name: str, chunks: Iterable[tuple[int, bytes | None]]) -> Any:
        """Decode the JSON texts of one column into one object a row."""

        def decoded() -> Iterator[Iterable[Any]]:
            end = 0
            for rows, text in chunks:
                start, end = end, end + rows
                try:
                    yield repeat(None, rows) if text is None else decode(text)
                except _BROKEN as error:
                    where = f"rows {start} to {end - 1}, field {name}"
                    raise WrongRows(f"{where}: {error}", start) from None

        return np.fromiter(chain.from_iterable(decoded()), object, self.rows)


def _format_text_or_json(value: Any) -> str | None:
    """Return a text as it is, any other value as JSON."""
    return value if isinstance(value, str | None) else encode(value).decode()


def replace_texts(table: pa.Table, name: str, texts: Sequence[str | None]) -> pa.Table:
    """Return a table with other texts in one column."""
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(place), _make_text_array(texts))


def join_text_columns(table: pa.Table | pd.DataFrame, columns: Sequence[str]) -> Any:
    """Join text columns with single spaces, without empty texts; null where all are empty."""
    parts = [
        pa.array(table[c], pa.large_string()) if isinstance(table, pd.DataFrame) else table[c]
        for c in columns
    ]
    name, *rest = [pc.if_else(pc.equal(part, ""), None, part) for part in parts]
    space = pa.scalar(" ", pa.large_string())
    for part in rest:  # pyarrow's own "skip" of nulls loses the rows in which all are null
        name = pc.coalesce(pc.binary_join_element_wise(name, part, space), name, part)
    return name


# --- frames -----------------------------------------------------------------------------


def join_name_columns(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series[Any]:
    """Join text columns with single spaces, without empty texts; NA where all are empty."""
    name = pd.array(join_text_columns(frame, columns), dtype=_STR)
    return pd.Series(name, index=frame.index, name="name")


def count_repeated_keys(frame: pd.DataFrame) -> int:
    """Count the rows that have a key of an earlier row."""
    return 0 if frame.index.is_unique else int(frame.index.duplicated().sum())


def drop_repeated_keys(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the last of the rows that share a key, and all rows without a key."""
    if frame.index.is_unique:
        return frame
    keyless = frame.index.get_level_values(-1).isna()
    return frame[~frame.index.duplicated(keep="last") | keyless]


def add_index_level(frame: pd.DataFrame, name: str, values: Sequence[str]) -> pd.DataFrame:
    """Add a first level to the index, with a text for each row."""
    first = pd.Index(pd.array(values, dtype="str"))
    names = [name, frame.index.name]
    return frame.set_axis(pd.MultiIndex.from_arrays([first, frame.index], names=names))


def sort_by_key(frame: pd.DataFrame, order: Callable[[list[str]], list[str]]) -> pd.DataFrame:
    """Sort the rows by their keys, as languages within each template code, the first level.

    Args:
        frame: Indexed by its keys, which may have one level before them.
        order: Puts keys, each of them once, in order.
    """
    keys = [str(key) for key in frame.index.get_level_values(-1)]
    ranks = {key: rank for rank, key in enumerate(order([*dict.fromkeys(keys)]))}
    groups = np.zeros(len(frame), int)
    if frame.index.nlevels > 1:
        groups = pd.factorize(frame.index.get_level_values(0))[0]
    places = list(zip(groups.tolist(), map(ranks.__getitem__, keys), strict=True))
    ranked = sorted(range(len(keys)), key=places.__getitem__)
    return frame if ranked == list(range(len(keys))) else frame.iloc[ranked]


def make_json_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Make a frame of JSON objects, a row each from 1 on, with nullable types."""
    frame = pd.DataFrame(list(rows), index=range(1, len(rows) + 1), dtype=object)
    return frame.convert_dtypes()


def get_column_or_level(frame: pd.DataFrame, name: str) -> pd.Series[Any] | None:
    """Return a column, or a level of the index, by position; None without one."""
    if name in frame.columns:
        return frame[name].reset_index(drop=True)
    if name in frame.index.names:
        return frame.index.get_level_values(name).to_series().reset_index(drop=True)
    return None


# --- cells as Python values ------------------------------------------------------------

#: What JSON can hold, and most cells are.
_PYTHON_TYPES = frozenset({bool, int, float, str, list, dict, type(None)})


def to_python(value: Any) -> Any:
    """Convert a value of numpy to Python; Parquet files bring arrays for lists."""
    if type(value) in _PYTHON_TYPES:
        return value
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def to_python_list(cells: pd.Series[Any] | pd.Index[Any]) -> list[Any]:
    """Return cells as Python values, NA as None."""
    if isinstance(cells.dtype, pd.StringDtype):
        texts: list[Any] = cells.array.to_numpy(object, na_value=None).tolist()
        return texts
    values = zip(cells.astype(object).tolist(), cells.isna().tolist(), strict=True)
    return [None if absent else to_python(value) for value, absent in values]


def cell_to_python(value: Any) -> Any:
    """Convert a cell to a Python value, NA to None."""
    if isinstance(value, list | dict):
        return value
    return None if value is None or pd.isna(value) else to_python(value)


def records(frame: pd.DataFrame, places: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield some rows of a frame as dicts of Python values."""
    if not len(places):  # to take none of many takes as long as to take some
        return
    part, names = frame.iloc[list(places)], [str(name) for name in frame.columns]
    columns = [to_python_list(part.iloc[:, n]) for n in range(len(names))]
    for row in zip(*columns, strict=True) if columns else repeat((), len(part)):
        yield dict(zip(names, row, strict=True))
