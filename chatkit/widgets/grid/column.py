"""Column: what a column of a sheet holds, whether it can be written, and how it is typed."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any, NamedTuple, get_origin

import pandas as pd

from chatkit.bulk.cells import why_fixed
from chatkit.bulk.same import plain
from chatkit.endpoints import Endpoints
from chatkit.frame import Kind, kinds

#: What people and spreadsheets write for True and False.
_FLAGS = {"true": True, "yes": True, "false": False, "no": False}
#: What pandas calls the types of columns that are no field of a record.
_KINDS: dict[str, Kind] = {**dict.fromkeys("iuf", "number"), "b": "flag", "M": "time"}


class Column(NamedTuple):
    """A column: what it holds, and why it cannot be written; nothing where it can.

    `fixed` is why it cannot be written in a row that exists, `closed` in a new one.
    """

    name: str
    kind: Kind
    fixed: str
    closed: str


def declared(room: Endpoints[Any], name: str, dtype: str, *, head: bool) -> Column:
    """Tell what a room says of a column.

    Args:
        room: Whose records these are.
        name: The name of the column.
        dtype: The kind of its values in the frame, as pandas calls it.
        head: Whether it is the index.
    """
    body, record = room.body.model_fields, room.record.model_fields
    if name in body:
        kind = kinds(room.body, [name])[name]
        nested = get_origin(body[name].annotation) in (list, dict)
        if kind == "json" and not nested and room.body.takes_text(name):
            kind = "text"
        fixed = why_fixed(room, name)[0] if name in room.body.create_only else ""
        if name == room.key:
            fixed = "tells which row this is: add a row for another"
        return Column(name, kind, fixed, "")
    why, step = why_fixed(room, name)
    if name in room.instead:
        why = f"{why}: {step}"
    elif head and not name:
        why = "only numbers the rows"
    kind = kinds(room.record, [name])[name] if name in record else _KINDS.get(dtype, "text")
    return Column(name, kind, why, why)


def read(typed: Any, kind: Kind) -> Any:
    """Read what a person types as what a column holds; what cannot be read stays as it is."""
    if not isinstance(typed, str):
        return None if pd.api.types.is_scalar(typed) and pd.isna(typed) else plain(typed)
    if kind == "flag":
        return _FLAGS.get(typed.strip().casefold(), typed)
    if kind == "number" and re.fullmatch("-?[0-9]{1,18}", typed.strip()):
        return int(typed)
    if kind == "json" and typed.strip():
        with suppress(ValueError, RecursionError):
            return json.loads(typed)
    return typed


def replaced(cells: pd.Series[Any], values: dict[int, Any]) -> Any:
    """Copy a column with other values; of another type where it cannot hold them."""
    rows, kinds = list(values), set(map(type, values.values()))
    holds: dict[str, set[type]] = {
        "string": {str},
        "boolean": {bool},
        "bool": {bool},
        "Int64": {int},
    }
    name = "string" if isinstance(cells.dtype, pd.StringDtype) else str(cells.dtype)
    if kinds <= holds.get(name, set()):
        array = cells.array.copy()
        array[rows] = list(values.values())
        return array
    objects = cells.astype(object).to_numpy(copy=True)
    for row, value in values.items():
        objects[row] = value
    return objects
