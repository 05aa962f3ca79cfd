"""Plan input: an edited frame is checked, and the records that it is compared with are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, Protocol, TypedDict, get_args

import numpy as np
import pandas as pd

from chatkit.bulk.apply import PlanTarget
from chatkit.bulk.changes import RefusedCell
from chatkit.bulk.comparison import Rows
from chatkit.bulk.endpoints import Endpoints, Existing
from chatkit.bulk.matching import (
    DELETE,
    Edits,
    Mask,
    explain_bad_id,
    explain_bad_text_key,
    find_keys,
)
from chatkit.errors import InputError
from chatkit.frames.frame import get_column_or_level
from chatkit.frames.snapshot import Snapshot, read_origin
from chatkit.util.display import values


class PlanSource(PlanTarget, Protocol):
    """A plan target whose records can also be read as frames."""

    @property
    def place(self) -> str:
        """The code by which a person reaches these records."""

    def snapshot(self, frame: pd.DataFrame) -> Snapshot | None:
        """Return a frame as it was when it was read; None if it holds no snapshot."""

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return the snapshot that a frame holds; else read the records as they are now."""

    def full(self, keys: Sequence[Any]) -> pd.DataFrame:
        """Read records in full, into a frame indexed by key."""


def make_input_frame(source: Any, file_call: str) -> pd.DataFrame:
    """Make a frame of what a plan takes: a frame, or a list of dicts, one for each record.

    The rows of a list are counted from 1.

    Args:
        source: What was passed.
        file_call: The call that reads such a frame from a file, for messages; {} is its name.

    Raises:
        InputError: It is neither; the text says how to make one of it.
    """
    if isinstance(source, pd.DataFrame):
        return source
    if isinstance(source, pd.Series):
        raise InputError(
            "plan takes a frame, and this is one column or one row of it: pass "
            "frame[['name']] or frame.loc[[key]], with two brackets."
        )
    if isinstance(source, str | bytes | PathLike):
        name = source.decode("utf-8", "replace") if isinstance(source, bytes) else str(source)
        raise InputError(
            f"plan takes a frame, not the name of a file. Read the file first: "
            f"plan({file_call.format(repr(name[:60]))})."
        )
    if isinstance(source, Mapping):
        raise InputError("plan takes a list of dicts, one for each record: plan([{…}, {…}]).")
    rows = list(source) if isinstance(source, Iterable) else None
    if rows is None or not all(isinstance(row, Mapping) for row in rows):
        wrong = next((row for row in rows or () if not isinstance(row, Mapping)), source)
        kind = f"{type(source).__name__}{'' if wrong is source else f' of {type(wrong).__name__}'}"
        raise InputError(
            f"plan takes a frame or a list of dicts, one for each record, not {kind}: "
            "plan([{…}, {…}])."
        )
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = {name: [row.get(name) for row in rows] for name in names}
    return pd.DataFrame(cells, index=pd.RangeIndex(1, len(rows) + 1), dtype=object)


def unwrap_frame(passed: Any, method: str, endpoints: Endpoints[Any]) -> Any:
    """Return the frame of what `check(…).fix()` returned; return all else as it is.

    Raises:
        InputError: It is a result of `check`, or a frame of another library.
    """
    call = f"{endpoints.place}.{method}"
    if callable(getattr(passed, "fix", None)):
        raise InputError(
            f"This is the result of check, with suggestions that were not taken yet: call .fix(), "
            f"as {call}(checked.fix())."
        )
    if not isinstance(passed, pd.DataFrame) and isinstance(
        frame := getattr(passed, "frame", None), pd.DataFrame
    ):
        return frame
    for made in ("to_pandas", "collect"):  # polars, pyarrow, Dask and others; a lazy frame
        if hasattr(passed, made) and hasattr(passed, "columns"):
            way = "to_pandas()" if made == "to_pandas" else "collect().to_pandas()"
            raise InputError(
                f"{method} takes a frame of pandas, and this one is of "
                f"{type(passed).__module__.partition('.')[0]}: {call}(frame.{way})."
            )
    return passed


def refuse_misspelt_columns(frame: pd.DataFrame, endpoints: Endpoints[Any]) -> None:
    """Refuse columns that are named like a field but for capitals and spaces.

    Raises:
        InputError: There are some; the text has the line that renames them.
    """
    known = {*endpoints.body.model_fields, endpoints.key, DELETE}
    names = {*frame.columns, *frame.index.names}
    wrong = {
        name: right
        for name in frame.columns
        if isinstance(name, str)
        and name not in known
        and (right := re.sub(r"[\s-]+", "_", name.strip().lower())) in known - names
    }
    if wrong:
        columns = ", ".join(f"{name!r}" for name in wrong)
        raise InputError(
            f"The columns {columns} are not called as the fields are. Rename them: "
            f"frame = frame.rename(columns={wrong!r})"
        )


class PlanOptions(TypedDict, total=False):
    """The arguments of `Resource.plan` beside the rows."""

    base: pd.DataFrame | None
    existing: Existing | None
    skip_invalid: bool
    other_account: bool
    duplicates: bool
    broken: bool


class PlanInput(NamedTuple):
    """The input of a plan: an edited frame, and the records that it is compared with."""

    frame: pd.DataFrame
    base: pd.DataFrame  #: what was read, or what is there now
    dated: Mask  #: for which of its rows each difference is known to be an edit
    unknown_account: bool  #: whether nobody knows in which account its keys were read
    deletes: Rows  #: the rows of `base` that `delete=` names
    refused: list[RefusedCell]  #: the keys of `delete=` that cannot be deleted
    other_account: bool  #: whether the frame is of another account
    no_snapshot: bool  #: whether `base` is what is there now
    deleted: int  #: records that the list shows, and that are deleted
    named: bool  #: whether a person has named the frame it was made from


def read_plan_input(
    source: PlanSource,
    endpoints: Endpoints[Any],
    passed: Any,
    delete: Iterable[Any] | None,
    options: PlanOptions,
) -> PlanInput:
    """Check the arguments of a plan, and read the records that its frame is compared with."""
    existing, origin = options.get("existing"), options.get("base")
    if existing not in (None, *get_args(Existing)):
        choice = ", ".join(map(repr, get_args(Existing)))
        raise InputError(f"existing= is one of {choice}, not {existing!r:.60}.")
    if passed is None and delete is None:
        raise InputError(
            "plan takes a frame, or keys in delete=, and got None. (With inplace=True pandas "
            "edits a frame and returns None: pass the frame itself.)"
        )
    unwrapped = unwrap_frame(passed, "plan", endpoints)
    frame = None if unwrapped is None else make_input_frame(unwrapped, endpoints.file_call)
    # who writes rows of what can be sent says what is to be; other rows may be an older copy
    states = endpoints.chosen and existing is not None
    if frame is not None:
        service_fields = endpoints.record.model_fields.keys() - endpoints.body.model_fields.keys()
        own = {*frame.columns} - {endpoints.key, *endpoints.instead}
        states |= frame is not unwrapped and service_fields.isdisjoint(own)
        refuse_misspelt_columns(frame, endpoints)
    account = source.transport.connection.account
    delete = unwrap_frame(delete, "plan", endpoints)
    if isinstance(delete, Iterable) and not isinstance(
        delete, pd.DataFrame | str | bytes | Mapping
    ):
        delete = list(delete)
        if any(isinstance(row, Mapping) for row in delete):
            delete = make_input_frame(delete, endpoints.file_call)
    for each in (frame, delete):
        if isinstance(each, pd.DataFrame):
            _refuse_fleet(each)
    owner = None if frame is None else read_origin(frame).get("account")
    is_other = owner not in (None, account)
    if is_other and not options.get("other_account"):
        raise InputError(
            f"This frame is of {owner}, and the plan would be for {account}. "
            "plan(frame, other_account=True) plans it anyway; records are then matched by "
            f"{' and '.join(endpoints.list_name_fields())}, not by their ids."
        )
    snapshot = (
        source.base(frame, now=is_other) if origin is None else _require_snapshot(source, origin)
    )
    base, states = snapshot.frame, states or is_other
    known = len(base) if states or not snapshot.now else 0
    if not snapshot.whole:  # of a search: the others count too, for names and for shares
        whole = source.base(None).frame
        base = pd.concat([base, whole[~whole.index.isin(base.index)]])
    if frame is None:
        frame = base.iloc[:0]
    elif is_other and not endpoints.chosen:
        frame = frame.reset_index(drop=endpoints.key in frame.index.names).drop(
            columns=endpoints.key, errors="ignore"
        )
    keys = read_delete_keys(delete, endpoints)
    dated = np.arange(len(base)) < (len(base) if states else known)
    rows = delete if isinstance(delete, pd.DataFrame) else None
    if rows is not None and "account" in read_origin(rows):
        rows = None
    deleted: set[Any] = set()
    if endpoints.lists_deleted and not endpoints.reads_deleted:
        several = options.get("duplicates", False)
        deleted = _find_deleted_keys(source, Edits(frame, base, endpoints, duplicates=several))
        left = ~base.index.isin(deleted)
        base, dated = base[left], dated[left]
    places, refused = _find_deletes(keys, base, endpoints, rows)
    return PlanInput(
        frame,
        base,
        dated,
        unknown_account=owner is None and origin is None and not endpoints.chosen,
        deletes=places,
        refused=refused,
        other_account=is_other,
        no_snapshot=snapshot.now,
        deleted=len(deleted),
        named=origin is not None,
    )


def _require_snapshot(source: PlanSource, origin: Any) -> Snapshot:
    """Return the snapshot that the frame passed as `base` holds.

    Raises:
        InputError: It holds none.
    """
    snapshot = source.snapshot(origin) if isinstance(origin, pd.DataFrame) else None
    if snapshot is None:
        raise InputError(
            f"base= takes a frame that was read here and still holds what it was, like contacts = "
            f"{source.place}.frame(): not one of a file, a merge or another account."
        )
    return snapshot


def _find_deleted_keys(source: PlanSource, edits: Edits) -> set[Any]:
    """Find deleted records of the list that rows without a key match; return their keys.

    Most services list none. Where they do, and nothing in a list tells them from others, each
    record that such a row meets is read on its own: what cannot be read is deleted.
    """
    matched = np.flatnonzero((edits.positions >= 0) & ~edits.has_key)
    keys = [edits.key(row) for row in matched.tolist()]
    return set(keys) - set(source.full(keys).index) if keys else set()


def _refuse_fleet(frame: pd.DataFrame) -> None:
    """Refuse the frame of a fleet, whose ids are those of several accounts.

    Raises:
        InputError: It is one, and names the account of its rows.
    """
    accounts = get_column_or_level(frame, "account") if "fleet" in read_origin(frame) else None
    if accounts is not None:
        names = ", ".join(repr(name) for name in dict.fromkeys(accounts))
        raise InputError(
            f"This frame is of several accounts ({names:.200}): give it to the plan of their "
            f"fleet, or this one its own rows alone, as frame.loc[{next(iter(accounts), '')!r}]."
        )


def read_delete_keys(delete: Iterable[Any] | None, endpoints: Endpoints[Any]) -> list[Any]:
    """Read the keys in `delete=`: of a frame, or of a list."""
    if delete is None:
        return []
    if isinstance(delete, pd.DataFrame):
        owner, account = read_origin(delete).get("account"), endpoints.transport.connection.account
        if owner not in (None, account) and not endpoints.chosen:
            raise InputError(
                f"The frame in delete= is of {owner}, and the plan would be for {account}: its "
                "ids mean other records here. plan(frame.assign(delete=True), other_account=True) "
                f"finds them by {' and '.join(endpoints.list_name_fields())}."
            )
        named = get_column_or_level(delete, endpoints.key)
        if named is None:
            raise InputError(
                f"The frame in delete= has no {endpoints.key}, in a column or the index: pass rows "
                f"of {endpoints.place}.frame(), or a list of keys."
            )
        return named.tolist()
    if isinstance(delete, str | bytes | Mapping) or not isinstance(delete, Iterable):
        raise InputError(f"delete= takes a list of keys, like delete=[{delete!r}].")
    try:
        keys = list(dict.fromkeys(delete))
    except TypeError:
        raise InputError(
            f"delete= takes keys, rows of {endpoints.place}.frame(), or dicts that hold "
            f"{endpoints.key}: pass one of these."
        ) from None
    if keys and all(isinstance(key, bool | np.bool_) for key in keys):
        raise InputError("delete= takes rows or keys, not a mask: pass delete=frame[mask].")
    return keys


def _find_deletes(
    keys: Sequence[Any], base: pd.DataFrame, endpoints: Endpoints[Any], rows: pd.DataFrame | None
) -> tuple[Rows, list[RefusedCell]]:
    """Find the records that `delete=` names.

    Args:
        keys: The keys in `delete=`.
        base: The records that were read.
        endpoints: Those of the records.
        rows: The rows that held the keys, if the account of these is unknown.

    Returns:
        The rows of `base`, and the keys that cannot be deleted.
    """
    if not keys:
        return np.zeros(0, np.int64), []
    named = pd.Series(keys, dtype=object)
    _, has_key, places = find_keys(base, [named])
    explain = explain_bad_id if base.index.dtype.kind == "i" else explain_bad_text_key
    missing = f"no {endpoints.noun} of the account has it"
    step = f"delete= takes the {endpoints.key} of each, as the frame that was read shows it"
    refused: dict[int, tuple[str, str]] = {}
    if rows is not None and not endpoints.chosen:
        marked: dict[str, Any] = {endpoints.key: named, DELETE: True}
        named_by = rows.columns.intersection(list(endpoints.natural_key))  # the rest is not sent
        rows = rows[named_by].reset_index(drop=True).assign(**marked)
        cells = Edits(rows, base, endpoints, unknown_account=True).refusals.cells
        refused = {cell.row: (cell.reason, cell.next_step) for cell in cells}
    for n in np.flatnonzero(places < 0).tolist():
        refused[n] = (missing if has_key[n] else explain(keys[n]) or missing), step
    places[list(refused)] = -1
    cells = [RefusedCell(keys[n], DELETE, values(keys[n]), *refused[n]) for n in sorted(refused)]
    return pd.unique(places[places >= 0]), cells
