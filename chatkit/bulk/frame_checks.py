"""Frame checks: whether an edited frame can be read as a whole, and which rows it deletes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatkit.errors import InputError, Problem
from chatkit.frame import listed

if TYPE_CHECKING:
    import pandas as pd

Mask = NDArray[np.bool_]  #: one for each row

DELETE = "delete"  #: the column that says of a row that its record is to be deleted

#: What a file makes of True, False and nothing.
_FLAGS = {"True": True, "False": False, "": False}


class Refusal(NamedTuple):
    """Why a row cannot be taken: its number, which cell, and what to do about it."""

    row: int
    column: str
    value: Any
    reason: str
    next_step: str


def check_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame, if each of its columns has one name of its own.

    Raises:
        InputError: Some have none, or share it.
    """
    if frame.columns.nlevels > 1:
        raise InputError(
            "The columns of this frame have several levels: give each one name, "
            "like frame.columns = ['_'.join(map(str, names)) for names in frame.columns]."
        )
    levels = [name for name in frame.index.names if name is not None]
    problems = [
        *(Problem("column", repr(name), "must be text") for name in _no_texts(frame.columns)),
        *(Problem("column", repr(name), "is there twice") for name in _twice(frame.columns)),
        *(Problem("level of the index", repr(name), "is there twice") for name in _twice(levels)),
    ]
    if problems:
        raise InputError("The columns of this frame need other names:", problems)
    return frame


def _no_texts(names: Any) -> list[Any]:
    return [name for name in names if not isinstance(name, str)]


def _twice(names: Any) -> list[Any]:
    seen = list(names)
    return list(dict.fromkeys(name for name in seen if seen.count(name) > 1))


def levels_as_columns(frame: pd.DataFrame, base: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """Read levels of the index that are columns of the base as columns: set_index moved them."""
    columns = {*base.columns} - {*frame.columns, *key}
    names = [name for name in frame.index.names if isinstance(name, str) and name in columns]
    return frame.assign(**{name: frame.index.get_level_values(name) for name in names})


def delete_marks(cells: pd.Series[Any]) -> tuple[Mask, list[Refusal]]:
    """Read which rows are to be deleted, and refuse what says neither yes nor no. NA is no."""
    if cells.dtype.kind == "b":
        return cells.fillna(False).to_numpy(bool), []
    found, odd = np.zeros(len(cells), bool), []
    for row, value in enumerate(listed(cells)):
        if isinstance(value, bool):
            found[row] = value
        elif isinstance(value, str) and value in _FLAGS:
            found[row] = _FLAGS[value]
        elif value is not None:
            step = "write True or False, or leave it empty"
            odd.append(Refusal(row, DELETE, value, "is neither True nor False", step))
    return found, odd
