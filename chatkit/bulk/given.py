"""Given: the frame that a person gives, as a whole: may it be read, and what does it delete?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chatkit.bulk.keys import Identity, Mask
from chatkit.bulk.match import Refusal
from chatkit.bulk.same import listed
from chatkit.errors import InputError, Problem

if TYPE_CHECKING:
    import pandas as pd

DELETE = "delete"  #: the column that says of a row that its record is to be deleted

#: What a file makes of True, False and nothing.
_FLAGS = {"True": True, "False": False, "": False}


def checked(frame: pd.DataFrame) -> pd.DataFrame:
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
        *(Problem("column", repr(name), "is no text") for name in _no_texts(frame.columns)),
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


def with_levels(frame: pd.DataFrame, base: pd.DataFrame, who: Identity) -> pd.DataFrame:
    """Read levels of the index that are columns of the base as columns: set_index moved them."""
    columns = {*base.columns} - {*frame.columns, *who.key}
    names = [name for name in frame.index.names if isinstance(name, str) and name in columns]
    return frame.assign(**{name: frame.index.get_level_values(name) for name in names})


def flags(cells: pd.Series[Any]) -> tuple[Mask, list[Refusal]]:
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
