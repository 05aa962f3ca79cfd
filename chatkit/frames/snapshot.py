"""Snapshot: what a frame was when it was read; a plan compares the edited frame with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

#: Under this a frame holds in `attrs` where it comes from.
_ORIGIN = "chatkit"


class Snapshot(NamedTuple):
    """A frame as it was read: whether that was the whole list, and whether only now."""

    frame: pd.DataFrame
    whole: bool
    now: bool = False


class FrameOrigin(dict[str, str]):
    """The origin of a frame, as texts, with the snapshot that is compared with it.

    It lives in `attrs`, so as long as the frame and all that pandas makes of it. pandas copies
    `attrs` deeply, and a concatenation keeps those that are equal: so a copy is the same object,
    and nothing else equals it. JSON, Parquet and pickle files hold the texts alone.
    """

    snapshot: Snapshot | None = None
    parts: Mapping[str, dict[str, str]] | None = None  #: the origins of a fleet, by account

    def __copy__(self) -> FrameOrigin:
        return self

    def __deepcopy__(self, _: Any) -> FrameOrigin:
        return self

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__  # type: ignore[assignment]


def keep_snapshot(
    frame: pd.DataFrame, origin: Mapping[str, str], *, whole: bool, nested: Iterable[str] = ()
) -> pd.DataFrame:
    """Keep in a frame what it is now, and return it.

    The copy costs nothing until one of the two is edited: pandas copies on write. Only
    the objects in the `nested` columns are copied at once: a list can be edited in place.

    Args:
        frame: It was just read.
        origin: The account, the noun of its records, and the template code if it has one.
        whole: Whether it is the whole list.
        nested: Columns that may hold lists and dicts.
    """
    copy = frame.copy(deep=False)
    copy.attrs = {}
    for column in nested:
        if column in copy and copy[column].dtype == object:
            copy[column] = copy[column].map(deepcopy)
    held = frame.attrs[_ORIGIN] = FrameOrigin(origin)
    held.snapshot = Snapshot(copy, whole)
    return frame


def snapshot_of(frame: pd.DataFrame, origin: Mapping[str, str]) -> Snapshot | None:
    """Return what a frame was when it was read; None if it does not hold it, or is of another."""
    held = memory(frame)
    return held.snapshot if isinstance(held, FrameOrigin) and dict(held) == origin else None


def inherit_origin(frame: pd.DataFrame, source: pd.DataFrame) -> None:
    """Take a frame for an edit of another one."""
    frame.attrs[_ORIGIN] = source.attrs[_ORIGIN]


def remember(frame: pd.DataFrame, **texts: str) -> None:
    """Write into a frame where it comes from."""
    frame.attrs[_ORIGIN] = texts


def remember_parts(frame: pd.DataFrame, parts: Mapping[str, pd.DataFrame]) -> None:
    """Write into the frame of several accounts where each of its parts comes from."""
    origins = {label: memory(part) for label, part in parts.items()}
    held = frame.attrs[_ORIGIN] = FrameOrigin(fleet=json.dumps(origins))
    held.parts = origins


def origins_of_parts(frame: pd.DataFrame) -> Mapping[str, dict[str, str]]:
    """Return where the parts of a frame of several accounts come from, by account."""
    held = memory(frame)
    parts = held.parts if isinstance(held, FrameOrigin) else None
    texts: dict[str, dict[str, str]] = json.loads(held.get("fleet", "{}"))
    return texts if parts is None else parts


def is_remembered(frame: pd.DataFrame) -> bool:
    """Return whether chatkit made a frame, or the one that it was selected from."""
    return _ORIGIN in frame.attrs


def memory(frame: pd.DataFrame) -> dict[str, str]:
    """Return what a frame remembers of where it came from; pandas may have dropped it."""
    kept = frame.attrs.get(_ORIGIN)
    return kept if isinstance(kept, dict) else {}
