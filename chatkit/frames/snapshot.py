"""Snapshot: a frame as it was read, with which a plan compares the edited frame."""

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
    """A frame as it was read; whether it is the whole list, and was read only now."""

    frame: pd.DataFrame
    whole: bool
    now: bool = False


class FrameOrigin(dict[str, str]):
    """The origin of a frame, as texts, and its snapshot.

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
    """Keep a snapshot of a frame in its `attrs`, and return the frame.

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


def get_snapshot(frame: pd.DataFrame, origin: Mapping[str, str]) -> Snapshot | None:
    """Return the snapshot of a frame; None if it has none, or is of another origin."""
    held = read_origin(frame)
    return held.snapshot if isinstance(held, FrameOrigin) and dict(held) == origin else None


def inherit_origin(frame: pd.DataFrame, source: pd.DataFrame) -> None:
    """Give a frame the origin and the snapshot of another one."""
    frame.attrs[_ORIGIN] = source.attrs[_ORIGIN]


def write_origin(frame: pd.DataFrame, **texts: str) -> None:
    """Keep the origin of a frame in its `attrs`."""
    frame.attrs[_ORIGIN] = texts


def write_part_origins(frame: pd.DataFrame, parts: Mapping[str, pd.DataFrame]) -> None:
    """Keep in a frame of several accounts the origins of its parts."""
    origins = {label: read_origin(part) for label, part in parts.items()}
    held = frame.attrs[_ORIGIN] = FrameOrigin(fleet=json.dumps(origins))
    held.parts = origins


def read_origins_of_parts(frame: pd.DataFrame) -> Mapping[str, dict[str, str]]:
    """Return the origins of the parts of a frame of several accounts, by account."""
    held = read_origin(frame)
    parts = held.parts if isinstance(held, FrameOrigin) else None
    texts: dict[str, dict[str, str]] = json.loads(held.get("fleet", "{}"))
    return texts if parts is None else parts


def has_origin(frame: pd.DataFrame) -> bool:
    """Return whether chatkit made a frame, or the frame that it was selected from."""
    return _ORIGIN in frame.attrs


def read_origin(frame: pd.DataFrame) -> dict[str, str]:
    """Return the origin of a frame; {} if pandas has dropped it."""
    kept = frame.attrs.get(_ORIGIN)
    return kept if isinstance(kept, dict) else {}
