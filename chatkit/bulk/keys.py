"""Keys: how the records of a room are told apart, and the keys in the cells of a frame."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chatkit.bulk.same import INEXACT, plain, whole
from chatkit.call import why_no_segment

if TYPE_CHECKING:
    import pandas as pd

Cells: TypeAlias = "pd.Series[Any] | pd.Index[Any]"
Rows = NDArray[np.int64]  #: numbers of rows; the first row of a frame is 0
Mask = NDArray[np.bool_]  #: one for each row

#: Digits that surely are an id: 007 would not be the same text as 7.
_DIGITS = re.compile("0|[1-9][0-9]{0,17}")


class Natural(NamedTuple):
    """What tells records apart that have no key yet, like the number of a contact.

    `of` takes a frame of these `columns`, in which any cell may be NA, and returns a text for
    each of its rows. Rows with the same text are the same record; NA says nothing.
    """

    columns: tuple[str, ...]  #: the first of them names it in messages
    of: Callable[[pd.DataFrame], pd.Series[Any]]
    #: Replaces cells of a person's frame that cannot be sent by NA: "call him" names nobody.
    valid: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    #: Columns that must agree as well where a row is found by its natural key. A number with
    #: another country code is another person's.
    agree: tuple[str, ...] = ()
    #: Columns by which both sides of a conflict are named.
    told: tuple[str, ...] = ()
    single: bool = False  #: whether the service refuses a second record of one natural key
    #: Whether creating the natural key of a deleted record brings that record back.
    restores: bool = False


class Identity(NamedTuple):
    """How the records of one room are told apart."""

    noun: str  #: one record, for messages: "contact"
    key: tuple[str, ...]  #: the names of the levels of the base's index
    natural: Natural | None = None
    #: Whether who creates a record chooses its key, as a language code: one that is not in
    #: the base is new then. A key that the service gives must be there.
    chosen: bool = False

    @property
    def named(self) -> str:
        """The key in words: "id", or "template_code and lang_code"."""
        return " and ".join(self.key)


def texts(cells: Cells) -> list[str | None]:
    """Read keys that are texts and can stand in an address; None where there is none."""
    return [
        value if isinstance(value, str) and not why_no_segment(value) else None
        for value in cells.astype(object)
    ]


def why_no_text(value: Any) -> str:
    """Say why this is no key; nothing of a text, of which the empty one says there is none."""
    if not isinstance(value, str):
        return "is no text"
    return why_no_segment(value) if value else ""


def numbers(cells: Cells) -> tuple[Rows, Mask]:
    """Read ids, whatever pandas made of them, and tell in which rows there is one."""
    if cells.dtype.kind == "i":
        given = ~np.asarray(cells.isna())
        if given.all():
            return cells.to_numpy("int64"), given
        return cells.to_numpy("int64", na_value=0), given
    if cells.dtype.kind == "f":  # what a merge makes of ids: NaN where a row is new
        floats = cells.to_numpy("float64", na_value=np.nan)
        given = (np.abs(floats) < INEXACT) & (floats == np.floor(floats))
        return np.where(given, floats, 0).astype(np.int64), given
    found = [_number(value) for value in cells.astype(object)]
    given = np.fromiter((number is not None for number in found), bool, len(found))
    return np.fromiter((number or 0 for number in found), np.int64, len(found)), given


def _number(value: Any) -> int | None:
    value = plain(value)
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value) else None
    if isinstance(value, float):
        return int(value) if whole(value) else None
    number = isinstance(value, int) and not isinstance(value, bool)
    return value if number and -(2**63) <= value < 2**63 else None


def why_no_number(value: Any) -> str:
    """Say why this is no id; nothing of an empty text, which says that there is none."""
    if isinstance(value, float) and abs(value) >= INEXACT:
        return "has lost digits: a float cannot hold so long a number"
    return "" if isinstance(value, str) and not value else "is no whole number"


def ascending(rows: Rows) -> bool:
    """Tell whether each is greater than the one before."""
    return bool((rows[1:] > rows[:-1]).all())


def positions(index: pd.Index[Any], ids: Any) -> Rows:
    """Find where an index of ids has these, -1 for those that it has not.

    Most people keep the order of the rows: then nothing needs to be hashed.
    """
    known = index.to_numpy()
    if np.array_equal(known, ids):
        return np.arange(len(ids))
    if len(known) and index.is_monotonic_increasing and ascending(ids):
        near: Rows = np.searchsorted(known, ids)
        near[near == len(known)] = -1  # greater than all: it is compared with the last
        near[known[near] != ids] = -1
        return near
    found: Rows = index.get_indexer(ids)
    return found
