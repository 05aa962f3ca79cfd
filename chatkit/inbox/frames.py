"""Frames: makes DataFrames of events and deliveries, a row for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from chatkit.frames.frame import Columns, Kind
from chatkit.inbox.events import Event, convert_to_text, read_flow_answers
from chatkit.util.json import find_value

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
#: The columns of a frame: what each holds, and how it is taken from an event or a delivery.
Fields: TypeAlias = Mapping[str, tuple[Kind, Callable[[Any], Any]]]

_BATCH_ROWS = 2000
#: More different answers than this are no columns any more; `answers` has them all.
_MAX_ANSWERS = 200
_INT64_LIMIT = 2**63


def _make_columns(**kinds: Kind) -> Fields:
    """Make columns that hold the attributes of the same names."""
    return {name: (kind, attrgetter(name)) for name, kind in kinds.items()}


def _make_file_column(name: str) -> tuple[Kind, Callable[[Event], str | None]]:
    """Make a column that holds a field of the file in a message."""
    return "text", lambda event: convert_to_text(event.media[1].get(name)) if event.media else None


_CAME = _make_columns(delivery="number", received_at="time", verified="flag")
_WHO: Fields = {
    "message_id": ("text", attrgetter("id")),
    **_make_columns(contact="text", name="text", at="time"),
}
_OUT = _make_columns(outbound="flag")
_EVERYTHING: Fields = {
    # With a dot between the delivery and the place in it, it would look like 1.0.
    "event": ("text", lambda event: f"{event.delivery}-{event.place}"),
    **_CAME,
    **_make_columns(kind="text", family="text", field="text", type="text"),
    **_WHO,
    **_make_columns(number_id="text", text="text", content="json", context="json"),
}
_MESSAGES: Fields = {
    **_WHO,
    **_OUT,
    **_make_columns(type="text", text="text", reply_to="text", changes="text", number_id="text"),
    **_CAME,
    **_make_columns(content="json"),
}
_REACTIONS: Fields = {
    **_WHO,
    "message_id": ("text", lambda event: event.reaction[0]),
    "emoji": ("text", lambda event: event.reaction[1]),
    "removed": ("flag", lambda event: event.reaction[1] is None),
    **_OUT,
    **_CAME,
}
_MEDIA: Fields = {
    **_WHO,
    **_OUT,
    "type": ("text", lambda event: event.media[0]),
    "media_id": _make_file_column("id"),
    **{name: _make_file_column(name) for name in ("mime_type", "sha256", "caption", "filename")},
    **_CAME,
}
_RAW: Fields = {
    "delivery": ("number", attrgetter("id")),
    **_make_columns(received_at="time", kind="text", verified="flag", reason="text"),
    **_make_columns(is_json="flag", path="text", identity="text"),
    "size": ("number", lambda delivery: len(delivery.body)),
    "headers": ("json", attrgetter("headers")),
    "body": ("text", lambda delivery: delivery.content.decode("utf-8", "replace")),
}
_DELETIONS = {
    **_make_columns(delivery="number", received_at="time", kind="text", contact="text"),
    **_make_columns(verified="flag", size="number", mixed="flag"),
}


def _make_frame(rows: Iterable[Row], columns: Mapping[str, Kind], key: str) -> pd.DataFrame:
    """Make a frame of rows, which are read in batches."""
    columns_read = Columns(columns)
    remaining = iter(rows)
    while batch := [*islice(remaining, _BATCH_ROWS)]:
        columns_read.add(msgspec.json.encode(batch))
    return columns_read.frame(key)


def _deduplicate_messages(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the messages of both sides, each once though several deliveries hold it.

    Two with one id and other words are both there: nothing is left out by mistake.
    """
    seen = set()
    for event in events:
        if event.family in ("message", "echo") and event.id:
            message = hash(msgspec.json.encode(event.content))
            if message not in seen:
                seen.add(message)
                yield event


def _select_last_reactions(events: Iterable[Event]) -> Iterator[Event]:
    """Return the last reaction of each contact to each message."""
    last: dict[tuple[str, str | None], tuple[tuple[float, int, int], Event]] = {}
    for event in _deduplicate_messages(events):
        if event.reaction is not None:
            order = (event.at.timestamp() if event.at else 0.0, event.delivery, event.place)
            who = (event.reaction[0], event.contact)
            if who not in last or last[who][0] < order:
                last[who] = order, event
    return (event for _, event in last.values())


class Table(NamedTuple):
    """One kind of frame: its columns, the one it is indexed by, and the items in it."""

    fields: Fields
    key: str
    choose: Callable[[Iterable[Any]], Iterable[Any]] = iter

    def make_frame(self, items: Iterable[Any]) -> pd.DataFrame:
        """Make the frame of these events, deliveries or summaries: one row for each."""
        kinds = {name: kind for name, (kind, _) in self.fields.items()}
        return _make_frame(self.make_rows(items), kinds, self.key)

    def make_rows(self, items: Iterable[Any]) -> Iterator[Row]:
        """Yield the rows of that frame as dicts."""
        for item in self.choose(items):
            yield {name: get(item) for name, (_, get) in self.fields.items()}


#: The frames of events; each message is in them once, though several deliveries hold it.
TABLES: Mapping[str, Table] = {
    "frame": Table(_EVERYTHING, "event"),
    "messages": Table(
        _MESSAGES,
        "message_id",
        lambda events: (e for e in _deduplicate_messages(events) if e.type != "reaction"),
    ),
    "reactions": Table(_REACTIONS, "message_id", _select_last_reactions),
    "media": Table(
        _MEDIA, "message_id", lambda events: (e for e in _deduplicate_messages(events) if e.media)
    ),
}
#: The frames of deliveries, and of summaries of those to be deleted.
RAW, DELETIONS = Table(_RAW, "delivery"), Table(_DELETIONS, "delivery")


def make_flow_answers_frame(events: Iterable[Event]) -> pd.DataFrame:
    """Make the frame of answers to flows, in columns `answer.…`; `unread` has broken ones."""
    rows: list[Row] = []
    for event in _deduplicate_messages(events):
        answered, unread = read_flow_answers(event.fields)
        if answered is not None:
            row = {name: get(event) for name, (_, get) in {**_WHO, **_CAME}.items()}
            rows.append({**row, "unread": unread, "answers": answered})
    names = list(dict.fromkeys(name for row in rows for name in row["answers"]))[:_MAX_ANSWERS]
    chosen = {*names}
    columns: dict[str, Kind] = {name: kind for name, (kind, _) in _WHO.items()}
    columns["unread"] = "text"
    for name in names:
        values = [row["answers"][name] for row in rows if name in row["answers"]]
        columns[f"answer.{name}"] = _choose_column_kind(values)
    for row in rows:
        row.update({f"answer.{n}": v for n, v in row["answers"].items() if n in chosen})
        row.update({name: None for name in columns if name not in row})
    came: dict[str, Kind] = {name: kind for name, (kind, _) in _CAME.items()}
    return _make_frame(rows, columns | {"answers": "json"} | came, "message_id")


def _choose_column_kind(values: list[Any]) -> Kind:
    """Choose the kind of column that can hold all these values."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {str}:
        return "text"
    if kinds == {bool}:
        return "flag"
    if kinds == {int} and all(v is None or -_INT64_LIMIT <= v < _INT64_LIMIT for v in values):
        return "number"
    return "json"


def make_statuses_frame(events: Iterable[Event]) -> pd.DataFrame:
    """Make the frame of the statuses of messages, and the time that each step took."""
    made = _make_frame(make_status_rows(events), STATUS_COLUMNS, "message_id")
    after = list(made.columns).index("failed_at") + 1
    made.insert(after, "to_delivered", made["delivered_at"] - made["sent_at"])
    made.insert(after + 1, "to_read", made["read_at"] - made["sent_at"])
    return made


_RANKS = {"sent": 1, "delivered": 2, "read": 3, "played": 4, "failed": 5}

STATUS_COLUMNS: dict[str, Kind] = {
    "message_id": "text",
    "contact": "text",
    "name": "text",
    "status": "text",
    **{f"{step}_at": "time" for step in _RANKS},
    "error_code": "text",
    "error": "text",
    "category": "text",
    "number_id": "text",
    "delivery": "number",
}


def make_status_rows(events: Iterable[Event]) -> Iterable[Row]:
    """Make a row for the status of each message, without keeping the events in memory.

    Deliveries come in any order and more than once. So a status only moves up, from sent over
    delivered and read to played; failed is the end whenever it comes; of times, the earliest
    counts, and of texts that differ, the smallest. The rows are the same for every order.
    """
    rows: dict[str, Row] = {}
    last_steps: dict[str, tuple[int, float, str]] = {}
    for event in events:
        # Calls have statuses of another kind under the same name.
        if event.family != "status" or not event.id or event.fields.get("type") == "call":
            continue
        row = rows.setdefault(event.id, {**dict.fromkeys(STATUS_COLUMNS), "message_id": event.id})
        name, at = event.type or "", event.at
        if at is not None and name in _RANKS:
            row[f"{name}_at"] = min(at, row[f"{name}_at"] or at)
        status = (_RANKS.get(name, 0), at.timestamp() if at else 0.0, name)
        last_steps[event.id] = max(status, last_steps.get(event.id, status))
        row["status"] = last_steps[event.id][2]
        row["delivery"] = max(event.delivery, row["delivery"] or 0)
        texts = {name: getattr(event, name) for name in ("contact", "name", "number_id")}
        texts["category"] = convert_to_text(find_value(event.fields, "/pricing/category"))
        for field, value in texts.items():
            row[field] = min(filter(None, (row[field], value)), default=None)
        errors = [(row["error_code"], row["error"]), event.error or (None, None)]
        row["error_code"], row["error"] = min(
            filter(any, errors),
            key=lambda error: (error[0] or "", error[1] or ""),
            default=(None, None),
        )
    return rows.values()
