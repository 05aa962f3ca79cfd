"""Events as DataFrames: one row each, with right dtypes, whatever strangers have written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from chatkit.frames.frame import Columns, Kind
from chatkit.inbox.delivery import Delivery
from chatkit.inbox.events import Event, answers, text

if TYPE_CHECKING:
    import pandas as pd


Row = dict[str, Any]

_BATCH = 2000
#: More different answers than this are no columns any more; `answers` has them all.
_MOST_ANSWERS = 200
_LONG = 2**63

_CAME: dict[str, Kind] = {"delivery": "number", "received_at": "time", "verified": "flag"}
_WHO: dict[str, Kind] = {"message_id": "text", "contact": "text", "name": "text", "at": "time"}


class EventTable(NamedTuple):
    """One kind of frame: its columns, the one it is indexed by, and how its rows are found."""

    columns: Mapping[str, Kind]
    key: str
    rows: Callable[[Iterable[Event]], Iterable[Row]]


def frame(rows: Iterable[Row], columns: Mapping[str, Kind], key: str) -> pd.DataFrame:
    """Put rows into a frame, some thousand at a time."""
    gathered = Columns(columns)
    left = iter(rows)
    while batch := [*islice(left, _BATCH)]:
        gathered.add(msgspec.json.encode(batch))
    return gathered.frame(key)


def _label(event: Event) -> str:
    """Name an event: its delivery, and its place in it. With a dot it would look like 1.0."""
    return f"{event.delivery}-{event.place}"


def _came(event: Event) -> Row:
    return {name: getattr(event, name) for name in _CAME}


def _who(event: Event) -> Row:
    return {"message_id": event.id, "contact": event.contact, "name": event.name, "at": event.at}


def _messages_in(events: Iterable[Event]) -> Iterator[Event]:
    """Messages of both sides, each once: one message may come in several deliveries.

    Two with one id and other words are both there: nothing is left out by mistake.
    """
    seen = set()
    for event in events:
        if event.family in ("message", "echo") and event.id:
            message = hash(msgspec.json.encode(event.content))
            if message not in seen:
                seen.add(message)
                yield event


def _everything(events: Iterable[Event]) -> Iterator[Row]:
    for event in events:
        yield {
            "event": _label(event),
            **_came(event),
            "kind": event.kind,
            "family": event.family,
            "field": event.field,
            "type": event.type,
            **_who(event),
            "number_id": event.number_id,
            "text": event.text,
            "content": event.content,
            "context": event.context,
        }


def _messages(events: Iterable[Event]) -> Iterator[Row]:
    for event in _messages_in(events):
        if event.type == "reaction":
            continue
        context = event.fields.get("context")
        changed = event.fields.get(event.type or "")
        yield {
            **_who(event),
            "outbound": event.outbound,
            "type": event.type,
            "text": event.text,
            "reply_to": text(context.get("id")) if isinstance(context, dict) else None,
            "changes": text(changed.get("original_message_id"))
            if isinstance(changed, dict)
            else None,
            "number_id": event.number_id,
            **_came(event),
            "content": event.content,
        }


def _reactions(events: Iterable[Event]) -> Iterator[Row]:
    """Return the last reaction of each contact to each message; without an emoji it is gone."""
    last: dict[tuple[str, str | None], tuple[tuple[float, int, int], Row]] = {}
    for event in _messages_in(events):
        reaction = event.fields.get("reaction")
        to = text(reaction.get("message_id")) if isinstance(reaction, dict) else None
        if event.type != "reaction" or not isinstance(reaction, dict) or not to:
            continue
        order = (event.at.timestamp() if event.at else 0.0, event.delivery, event.place)
        emoji = text(reaction.get("emoji")) or None
        row = {**_who(event), "message_id": to, "emoji": emoji, "removed": emoji is None}
        who = (to, event.contact)
        if who not in last or last[who][0] < order:
            last[who] = order, row | {"outbound": event.outbound} | _came(event)
    return (row for _, row in last.values())


def _media(events: Iterable[Event]) -> Iterator[Row]:
    for event in _messages_in(events):
        if event.media is None:
            continue
        kind, file = event.media
        yield {
            **_who(event),
            "outbound": event.outbound,
            "type": kind,
            "media_id": text(file.get("id")),
            **{name: text(file.get(name)) for name in _FILE},
            **_came(event),
        }


_FILE = ("mime_type", "sha256", "caption", "filename")
_OUT: dict[str, Kind] = {"outbound": "flag"}

TABLES: Mapping[str, EventTable] = {
    "frame": EventTable(
        {
            "event": "text", **_CAME, "kind": "text", "family": "text", "field": "text",
            "type": "text", **_WHO, "number_id": "text", "text": "text", "content": "json",
            "context": "json",
        },
        "event", _everything,
    ),
    "messages": EventTable(
        {
            **_WHO, **_OUT, "type": "text", "text": "text", "reply_to": "text",
            "changes": "text", "number_id": "text", **_CAME, "content": "json",
        },
        "message_id", _messages,
    ),
    "reactions": EventTable(
        {**_WHO, "emoji": "text", "removed": "flag", **_OUT, **_CAME}, "message_id", _reactions
    ),
    "media": EventTable(
        {
            **_WHO, **_OUT, "type": "text", "media_id": "text",
            **dict.fromkeys(_FILE, "text"), **_CAME,
        },
        "message_id", _media,
    ),
}  # fmt: skip


def flow_answers(events: Iterable[Event]) -> pd.DataFrame:
    """Answers to flows, each in a column `answer.…`; what cannot be read is in `unread`."""
    rows: list[Row] = []
    for event in _messages_in(events):
        answered, unread = answers(event.fields)
        if answered is not None:
            rows.append({**_who(event), "unread": unread, "answers": answered, **_came(event)})
    names = list(dict.fromkeys(name for row in rows for name in row["answers"]))[:_MOST_ANSWERS]
    chosen = {*names}
    columns: dict[str, Kind] = {**_WHO, "unread": "text"}
    for name in names:
        values = [row["answers"][name] for row in rows if name in row["answers"]]
        columns[f"answer.{name}"] = _kind_of(values)
    for row in rows:
        row.update({f"answer.{n}": v for n, v in row["answers"].items() if n in chosen})
        row.update({name: None for name in columns if name not in row})
    return frame(rows, columns | {"answers": "json"} | _CAME, "message_id")


def _kind_of(values: list[Any]) -> Kind:
    """Return the kind of column that these values fit into; objects when they are of several."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {str}:
        return "text"
    if kinds == {bool}:
        return "flag"
    if kinds == {int} and all(value is None or -_LONG <= value < _LONG for value in values):
        return "number"
    return "json"


def raw(deliveries: Iterable[Delivery]) -> pd.DataFrame:
    """Every delivery as it came. `body` is its text; `Inbox.delivery` has the exact bytes."""
    columns: dict[str, Kind] = {
        "delivery": "number", "received_at": "time", "kind": "text", "verified": "flag",
        "reason": "text", "is_json": "flag", "path": "text", "identity": "text",
        "size": "number", "headers": "json", "body": "text",
    }  # fmt: skip
    rows = (
        {name: getattr(one, name, None) for name in columns}
        | {
            "delivery": one.id,
            "size": len(one.body),
            "body": one.content.decode("utf-8", "replace"),
        }
        for one in deliveries
    )
    return frame(rows, columns, "delivery")


def deletions(rows: Iterable[Row]) -> pd.DataFrame:
    """Return deliveries that are to be deleted, without their bodies."""
    columns: dict[str, Kind] = {
        "delivery": "number", "received_at": "time", "kind": "text", "contact": "text",
        "verified": "flag", "size": "number", "mixed": "flag",
    }  # fmt: skip
    return frame(rows, columns, "delivery")


def statuses(events: Iterable[Event]) -> pd.DataFrame:
    """Return the status of each message, with the time that each step took, NA if not reached."""
    made = frame(status_rows(events), STATUS_COLUMNS, "message_id")
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


def status_rows(events: Iterable[Event]) -> Iterable[Row]:
    """Return a row for each message; in memory are the messages, not the events.

    Deliveries come in any order and more than once. So a status only moves up, from sent over
    delivered and read to played; failed is the end whenever it comes; of times, the earliest
    counts, and of texts that differ, the smallest. The rows are the same for every order.
    """
    rows: dict[str, Row] = {}
    reached: dict[str, tuple[int, float, str]] = {}
    for event in events:
        # Calls have statuses of another kind under the same name.
        if event.family != "status" or not event.id or event.fields.get("type") == "call":
            continue
        row = rows.setdefault(event.id, {**dict.fromkeys(STATUS_COLUMNS), "message_id": event.id})
        name, at = event.type or "", event.at
        if at is not None and name in _RANKS:
            row[f"{name}_at"] = min(at, row[f"{name}_at"] or at)
        status = (_RANKS.get(name, 0), at.timestamp() if at else 0.0, name)
        reached[event.id] = max(status, reached.get(event.id, status))
        row["status"] = reached[event.id][2]
        row["delivery"] = max(event.delivery, row["delivery"] or 0)
        pricing = event.fields.get("pricing")
        category = text(pricing.get("category")) if isinstance(pricing, dict) else None
        for field, value in (
            ("contact", event.contact),
            ("name", event.name),
            ("number_id", event.number_id),
            ("category", category),
        ):
            row[field] = min(filter(None, (row[field], value)), default=None)
        errors = [
            one for one in ((row["error_code"], row["error"]), event.error) if one and any(one)
        ]
        if errors:
            row["error_code"], row["error"] = min(
                errors, key=lambda one: (one[0] or "", one[1] or "")
            )
    return rows.values()
