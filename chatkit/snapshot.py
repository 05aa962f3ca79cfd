"""Snapshot: what a frame was when it was read; a plan holds the edited frame against it."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

#: So many frames of a resource are remembered, the latest ones.
_KEPT = 4
#: Under this a frame remembers in `attrs` where it came from.
_MEMORY = "chatkit"


class Snapshot(NamedTuple):
    """A frame as it was read: whether that was the whole list, and whether only now."""

    frame: pd.DataFrame
    whole: bool
    now: bool = False


class Snapshots:
    """The frames that a resource has given out, as they were.

    Args:
        account: Which account of which service.
        noun: One record of the resource: "contact".
    """

    def __init__(self, account: str, noun: str) -> None:
        self._account, self._noun = account, noun
        self._kept: dict[str, Snapshot] = {}

    def keep(self, frame: pd.DataFrame, *, whole: bool, nested: Iterable[str] = ()) -> pd.DataFrame:
        """Remember a frame and return it.

        The copy costs nothing until one of the two is edited: pandas copies on write. Only
        the objects in the `nested` columns are copied at once: a list can be edited in place.
        """
        name = token_hex(8)
        kept = frame.copy(deep=False)
        for column in nested:
            if column in kept and kept[column].dtype == object:
                kept[column] = kept[column].map(deepcopy)
        self._kept[name] = Snapshot(kept, whole)
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        remember(frame, account=self._account, noun=self._noun, snapshot=name)
        return frame

    def of(self, frame: pd.DataFrame) -> Snapshot | None:
        """Return what a frame was when it was read; None if that is not known any more."""
        return self._kept.get(memory(frame).get("snapshot", ""))


def remember(frame: pd.DataFrame, **said: str) -> None:
    """Write into a frame where it comes from: plain texts, pandas copies them with it."""
    frame.attrs[_MEMORY] = said


def is_remembered(frame: pd.DataFrame) -> bool:
    """Whether chatkit made a frame, or what it was selected from."""
    return _MEMORY in frame.attrs


def memory(frame: pd.DataFrame) -> dict[str, str]:
    """Return what a frame remembers of where it came from; pandas may have dropped it."""
    kept = frame.attrs.get(_MEMORY)
    return kept if isinstance(kept, dict) else {}
