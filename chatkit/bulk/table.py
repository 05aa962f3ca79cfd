"""Table: plans, results and journals as DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from chatkit.bulk import show
from chatkit.bulk.change import Change
from chatkit.bulk.row import Row
from chatkit.bulk.same import plain
from chatkit.snapshot import memory, remember

if TYPE_CHECKING:
    from chatkit.bulk.plan import Left, Refused

Names = Sequence[str | None]


def changes(rows: Sequence[Change], names: Names) -> pd.DataFrame:
    """Make the frame of a plan."""
    columns = ("kind", "key", "label", "before", "after", "undo", "loss")
    frame = _frame(
        {name: [getattr(row, name) for row in rows] for name in columns},
        [row.row for row in rows],
        names,
        texts=("kind", "label", "undo", "loss"),
    )
    return frame.rename(columns={"kind": "change"})


def joined(rows: pd.DataFrame) -> pd.Series[Any]:
    """Join the columns of a frame to one text a row; NA where a part is missing or no text."""
    parts = []
    for name in rows.columns:
        part = rows[name]
        if not isinstance(part.dtype, pd.StringDtype):
            part = pd.Series([v if isinstance(v, str) else None for v in part], part.index, "str")
        parts.append(part.where(part != ""))
    first, *rest = parts
    for part in rest:
        first = first.str.cat(part, sep=" ")
    return first


def none(value: Any) -> Any:
    """Take what pandas holds for nothing as None, and of numpy what Python has."""
    if isinstance(value, list | dict):
        return value
    return None if value is None or pd.isna(value) else plain(value)


def records(frame: pd.DataFrame, places: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Return some rows of a frame as dicts of Python values."""
    for record in frame.iloc[list(places)].astype(object).to_dict("records"):
        yield {str(name): none(value) for name, value in record.items()}


def refused(cells: Iterable[Refused], names: Names) -> pd.DataFrame:
    """Make the table of cells that cannot be planned."""
    rows = [cell._asdict() for cell in cells]
    columns = ("row", "column", "value", "reason", "next_step")
    frame = pd.DataFrame({name: [row[name] for row in rows] for name in columns})
    return frame.astype(dict.fromkeys(columns[1:], "str"))


def left(rows: Iterable[Left]) -> pd.DataFrame:
    """Make the table of rows of a run that an undo has nothing to take back of."""
    columns = ("row", "change", "label", "state", "reason")
    listed = list(rows)
    frame = pd.DataFrame(
        {name: pd.Series([getattr(row, name) for row in listed], dtype=object) for name in columns}
    )
    return frame.astype(dict.fromkeys(columns[1:], "str"))


def result(rows: Sequence[Row], run: str, names: Names, stopped: str) -> pd.DataFrame:
    """Make the frame that says what truly happened, a row for each row of the plan."""
    frame = _frame(
        {
            "change": [row.change.kind for row in rows],
            "key": [row.key for row in rows],
            "label": [row.change.label for row in rows],
            "state": [row.state for row in rows],
            "reason": [row.reason for row in rows],
            "evidence": [row.evidence for row in rows],
            "sent": [row.attempts for row in rows],
        },
        [row.change.row for row in rows],
        names,
        texts=("change", "label", "state", "reason", "evidence"),
    )
    remember(frame, run=run, stopped=stopped)
    return frame


def summary(result: pd.DataFrame) -> str:
    """Say the counts of a result in words, and why its run stopped if it did."""
    said = show.counted(result["state"])
    stopped = memory(result).get("stopped")
    return f"{said} It stopped: {stopped.rstrip('.')}." if stopped else said


def run_of(frame: pd.DataFrame) -> str | None:
    """Name the run that a result came from, None for any other frame."""
    return memory(frame).get("run")


def journal(events: Iterable[Any], rows: Sequence[Row]) -> pd.DataFrame:
    """Make the frame of all that a run has noted, in its order."""
    kept = list(events)
    of = [None if event.n is None else rows[event.n].change for event in kept]
    details = [event.detail for event in kept]
    frame = pd.DataFrame(
        {
            "at": _moments([event.at for event in kept]),
            "row": pd.Series([None if c is None else c.row for c in of], dtype=object),
            "change": pd.Series([None if c is None else c.kind for c in of], dtype="str"),
            "label": pd.Series([None if c is None else c.label for c in of], dtype="str"),
            "event": pd.Series([event.what for event in kept], dtype="str"),
            "reason": pd.Series([d.get("reason", "") for d in details], dtype="str"),
            "detail": pd.Series(
                [{k: v for k, v in d.items() if k != "reason"} for d in details], dtype=object
            ),
        }
    )
    return frame


def runs(found: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Make the frame of runs, indexed by run, the latest first."""
    columns = (
        *("run", "started", "ended", "connection", "account", "noun", "changes", "applied"),
        *("unknown", "not_sent", "state", "undoes", "taken_back"),
    )
    times = ("started", "ended", "taken_back")
    frame = pd.DataFrame(
        {name: [run.get(name, None if name in times else 0) for run in found] for name in columns}
    )
    for name in times:
        frame[name] = _moments(frame[name])
    texts = ("run", "connection", "account", "noun", "state", "undoes")
    return frame.astype(dict.fromkeys(texts, "str")).set_index("run")


def _moments(texts: Iterable[Any]) -> pd.Series[Any]:
    moments = pd.Series(pd.to_datetime(list(texts), utc=True, format="ISO8601"))
    return moments.astype("datetime64[us, UTC]")


def _frame(
    columns: Mapping[str, list[Any]], labels: list[Any], names: Names, texts: Iterable[str]
) -> pd.DataFrame:
    if len(names) > 1:
        index: pd.Index[Any] = pd.MultiIndex.from_tuples(labels, names=list(names))
    else:
        index = pd.Index(labels, name=names[0], tupleize_cols=False)
    frame = pd.DataFrame(
        {name: pd.Series(values, dtype=object) for name, values in columns.items()}
    ).set_axis(index)
    frame = frame.astype(dict.fromkeys(texts, "str"))
    if "key" in frame and all(isinstance(key, int | None) for key in columns["key"]):
        frame["key"] = frame["key"].astype("Int64")
    return frame
