"""Tail: deliveries in the notebook as they come.

Each is a line among many, and is opened with its headers and its body. A funnel counts
how far the messages of an inbox come.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple

import traitlets

from chatkit.errors import ChatkitError, InputError, safe_repr
from chatkit.inbox import Inbox
from chatkit.inbox.delivery import Delivery
from chatkit.inbox.events import Event, parse_contact, parse_events
from chatkit.profile import ServiceProfile
from chatkit.report import Report, ReportPart, headline, table
from chatkit.util.display import cut, many, visible
from chatkit.util.json import JsonFault, read_json
from chatkit.webhooks import list_event_kinds
from chatkit.widgets.controls import draw_saved_table, join_module, join_styles
from chatkit.widgets.following import Follower

if TYPE_CHECKING:
    import pandas as pd


_SCAN_STEP = 2000  #: deliveries that are looked through at once, however many there are
_SCAN_LIMIT = 50_000  #: deliveries that are looked through for what was asked for
_STATIC_ROWS = 10  #: rows of the static form


class _Filters(NamedTuple):
    """The filters of deliveries, as they are written."""

    kind: str = ""
    contact: str = ""
    search: str = ""


class Tail(Follower):
    """A live tail of deliveries: the last ones, and each new one as it comes.

    Shown, it follows the inbox in a thread of its own, until `stop()`, the end of the inbox,
    or until its output is cleared.

    Everything that came is in it, repeats and what is not verified too; what has failed is
    red, with the reason. Choose a row to see the delivery, why its signature was
    right or wrong.

    Args:
        inbox: Where the deliveries lie.
        kind: Only events of this kind; "" takes all.
        contact: Only of this contact, a number in E.164 form; "" takes all.
        search: Only deliveries that have these words in their body, in any case.
        limit: How many rows are kept in the page.
        contacts: A frame of contacts, whose names are shown. Without it a contact has the
            name that the deliveries tell.

    Raises:
        InputError: One of them cannot be used.

    >>> chatkit.widgets.Tail(inbox)
    Tail of the inbox: 0 rows.
    """

    _esm = join_module(["keys.js", "side.js", "elements.js", "inbox/tail.js"])
    _css = join_styles("inbox/tail.css")

    kind = traitlets.Unicode().tag(sync=True)
    contact = traitlets.Unicode().tag(sync=True)
    search = traitlets.Unicode().tag(sync=True)
    #: Whether new rows wait; they are there when it goes on.
    paused = traitlets.Bool(False).tag(sync=True)
    kinds: traitlets.List[Any] = traitlets.List().tag(sync=True)
    limit = traitlets.Int(300).tag(sync=True)
    #: The rows that were there when it was made, newest first.
    first: traitlets.List[Any] = traitlets.List().tag(sync=True)

    def __init__(
        self,
        inbox: Inbox,
        *,
        kind: str = "",
        contact: str = "",
        search: str = "",
        limit: int = 300,
        contacts: pd.DataFrame | None = None,
    ) -> None:
        if not 1 <= limit <= 2000:
            raise InputError("limit= is from 1 to 2,000 rows, like limit=300.")
        self._inbox = inbox
        self._contact_names = read_names(contacts)  # by number
        self._names: dict[str, str] = {}
        self._rows: deque[dict[str, Any]] = deque(maxlen=limit)
        self._last_read = 0  #: the id of the last delivery that was looked at
        self._verified_later = inbox._store.verified_later
        self._chosen = _Filters(*map(str.strip, (kind, contact, search)))
        self._load_last()
        kinds = {*list_event_kinds(inbox._profile), *(row["kind"] for row in self._rows)}
        super().__init__(
            inbox,
            **self._chosen._asdict(),
            limit=limit,
            kinds=sorted(kinds - {"", "*"}),
            first=self._named(reversed(self._rows)),
        )

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows that it holds, newest first."""
        with self._looking:
            return self._named(reversed(self._rows))

    def look(self) -> int:
        """Read new deliveries now, and return their number.

        Raises:
            StoreError: The inbox cannot be read.
        """
        with self._looking:
            chosen = _Filters(*(getattr(self, name).strip() for name in _Filters._fields))
            verified_later = self._inbox._store.verified_later
            verified = verified_later != self._verified_later  # of rows that are shown
            if chosen != self._chosen or (verified and not self.paused):
                before, self._chosen = self._chosen, chosen
                try:
                    self._load_last()
                except ChatkitError:
                    self._chosen = before  # until it can be read
                    raise
                self._verified_later = verified_later
                self.send({"all": self.rows, "view": None})
                return len(self._rows)
            if self.paused:
                return 0
            top = self._inbox.last
            begin = max(self._last_read, top - _SCAN_STEP)
            fresh, seen = self._read_between(begin, top)
            passed, self._last_read = begin - self._last_read, top
            self._rows.extend(fresh)
            if seen or passed:
                sent = self._named(reversed(fresh))
                self.send({"rows": sent, "seen": seen, "passed": passed})
            return seen

    # --- reading --------------------------------------------------------------------

    def _load_last(self) -> None:
        """Replace all rows by the last deliveries that match."""
        top = high = self._inbox.last
        low = max(top - (_SCAN_LIMIT if any(self._chosen) else _SCAN_STEP), 0)
        rows: list[dict[str, Any]] = []
        limit = self._rows.maxlen or 0
        while high > low and len(rows) < limit:
            begin = max(low, high - _SCAN_STEP)
            rows = [*self._read_between(begin, high)[0], *rows][-limit:]
            high = begin
        self._rows.clear()
        self._rows.extend(rows)
        self._last_read = top

    def _read_between(self, begin: int, top: int) -> tuple[list[dict[str, Any]], int]:
        """Read rows that match between two ids, oldest first, and the number of all that match."""
        chosen = self._chosen
        contact = parse_contact(chosen.contact) or None
        newest: deque[Delivery] = deque(maxlen=self._rows.maxlen)
        seen = 0
        choice = {"kinds": chosen.kind or None, "contact": contact}
        for delivery in self._inbox._select(
            since=begin, until=top, verified=None, repeats=True, **choice
        ):
            if chosen.search and not has_words(delivery.body, chosen.search):
                continue
            events = parse_events(delivery, self._inbox._profile)
            if contact is None or contact in {event.contact for event in events}:
                newest.append(delivery)
                seen += 1
        return [self._make_row(one, contact) for one in newest], seen

    def _make_row(self, delivery: Delivery, contact: str | None) -> dict[str, Any]:
        """Make the row of a delivery, and remember the name of its contact."""
        row = describe_delivery(delivery, parse_events(delivery, self._inbox._profile), contact)
        if row["name"]:
            self._names[row["contact"]] = row["name"]
        return row

    def _named(self, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return rows with the names of their contacts as far as they are known by now."""
        names = self._names | self._contact_names
        return [row | {"name": cut(names.get(row["contact"], ""), 60)} for row in rows]

    # --- the page -------------------------------------------------------------------

    def _show_problem(self, problem: str) -> None:
        self.send({"problem": problem})

    def _receive(self, message: Any) -> None:
        match message:
            case {"here": str(view)}:
                self.send({"all": self.rows, "view": view})
            case {"open": int(delivery), "view": view}:
                self.send({"opened": self._delivery_details(delivery), "view": view})
        super()._receive(message)

    def _delivery_details(self, delivery: int) -> dict[str, Any]:
        try:
            return describe_delivery_details(self._inbox.delivery(delivery), self._inbox._profile)
        except ChatkitError as error:
            return {"id": delivery, "problem": str(error)}

    @safe_repr
    def __repr__(self) -> str:
        rows = self.rows
        counts = {
            "not verified": sum(not row["verified"] for row in rows),
            "failed": sum(bool(row["failed"]) for row in rows),
        }
        parts = "".join(f", {count:,} {what}" for what, count in counts.items() if count)
        chosen = "".join(f", {visible(one)}" for one in self._chosen if one)
        return f"Tail of the inbox{chosen}: {many(len(rows), 'row')}{parts}."

    def _make_saved_page(self) -> str:
        return draw_deliveries(self.rows[:_STATIC_ROWS], repr(self))


def read_names(contacts: pd.DataFrame | None) -> dict[str, str]:
    """Return the names of a frame of contacts, by number in E.164 form.

    Raises:
        InputError: It is not a frame of contacts.
    """
    if contacts is None:
        return {}
    needed = ("country_code", "number", "name")
    if missing := [name for name in needed if name not in getattr(contacts, "columns", ())]:
        raise InputError(
            f"This has no column {missing[0]!r}: pass contacts=client.contacts.frame()."
        )
    known = contacts[list(needed)].dropna().astype(str)
    known = known[known["name"] != ""]
    return dict(zip(known["country_code"] + known["number"], known["name"], strict=True))


_MAX_EVENTS = 1000  #: events of one delivery that are counted
_MAX_ROW_TEXT = 140  #: characters of a text
_RED = 'style="color: var(--jp-error-color1, #c62828)"'


def describe_delivery(
    delivery: Delivery, events: Iterable[Event], contact: str | None = None
) -> dict[str, Any]:
    """Return the data of one row for a delivery.

    Args:
        delivery: What came.
        events: What is in it; the line is about the first that is of the contact, or about
            the first of these that has failed.
        contact: A number in E.164 form; None takes the first event of all.
    """
    counted = list(islice(events, _MAX_EVENTS))
    about = [event for event in counted if contact in (None, event.contact)]
    failed = next((event for event in about if _is_failed(event)), None)
    first = failed or next(iter(about), None)
    sort = " ".join(filter(None, (first.family, first.type or first.field))) if first else ""
    return {
        "id": delivery.id,
        "at": delivery.received_at.strftime("%H:%M:%S.") + f"{delivery.received_at:%f}"[:3],
        "when": delivery.received_at.isoformat(sep=" ", timespec="milliseconds"),
        "kind": _shorten(delivery.kind),
        "what": _shorten(sort),
        "more": max(len(counted) - 1, 0),
        "contact": _shorten(first and first.contact),
        "name": _shorten(first and first.name),
        "text": _shorten(first and first.text),
        "failed": _shorten(failed and _describe_failure(failed)),
        "verified": delivery.verified,
        "reason": _shorten(delivery.reason),
    }


def _is_failed(event: Event) -> bool:
    """Return whether an event is the status of a failed message."""
    return event.family == "status" and event.type == "failed"


def _describe_failure(event: Event) -> str:
    """Return the error of a failed message as a text."""
    return ": ".join(filter(None, event.error or ())) or "the platform gives no reason"


def has_words(body: bytes, words: str) -> bool:
    """Return whether a body has these words, in any case, also if JSON has escaped them."""
    text = body.decode("utf-8", "replace")
    texts = [text, format_body(body)] if "\\" in text else [text]
    forms = {words.casefold(), json.dumps(words, ensure_ascii=False)[1:-1].casefold()}
    return any(form in each.casefold() for form in forms for each in texts)


def describe_signature(row: dict[str, Any]) -> str:
    """Return the verdict on a signature as a text."""
    words = "verified" if row["verified"] else "not verified"
    return f"{words}: {row['reason']}" if row["reason"] else words


def draw_deliveries(rows: Sequence[dict[str, Any]], about: str) -> str:
    """Return rows as an HTML table, without times, which differ at each run."""
    heads = ("Delivery", "Kind", "What", "Contact", "Says", "Signature")
    table = draw_saved_table(heads, map(_draw_cells, rows)) if rows else ""
    return f'<div class="tex2jax_ignore mathjax_ignore"><p>{escape(about)}</p>{table}</div>'


def _draw_cells(row: dict[str, Any]) -> list[str]:
    more = f" (+ {many(row['more'], 'more event')})" if row["more"] else ""
    texts = (
        row["id"],
        row["kind"],
        row["what"] + more,
        f"{row['name']} {row['contact']}".strip(),
        row["failed"] or row["text"],
        describe_signature(row),
    )
    cells = [escape(str(text)) for text in texts]
    return [f"<span {_RED}>{cell}</span>" for cell in cells] if row["failed"] else cells


def _shorten(value: str | None) -> str:
    """Return a text cut and made visible for a row; "" for None."""
    return cut(value or "", _MAX_ROW_TEXT)


_SHORT = 500  #: characters of a name, a header or a reason
_MAX_BODY = 100_000  #: characters of a body that is no JSON


def describe_delivery_details(delivery: Delivery, profile: ServiceProfile) -> dict[str, Any]:
    """Return the details of a delivery for the page."""
    failed = next(filter(_is_failed, islice(parse_events(delivery, profile), _MAX_EVENTS)), None)
    kind = delivery.kind or "no kind"
    about = {"verified": delivery.verified, "reason": cut(delivery.reason, _SHORT)}
    return {
        "id": delivery.id,
        "title": f"Delivery {delivery.id} · {cut(kind, _SHORT)}",
        "about": f"{delivery.received_at.isoformat(sep=' ', timespec='milliseconds')}, "
        f"{many(len(delivery.body), 'byte')}, at {cut(delivery.path, _SHORT)}",
        "failed": cut(_describe_failure(failed), _SHORT) if failed else "",
        "verified": delivery.verified,
        "verdict": describe_signature(about),
        "headers": [[cut(name, _SHORT), cut(value, _SHORT)] for name, value in delivery.headers],
        "body": _show_lines(format_body(delivery.body)[:_MAX_BODY]),
    }


def _show_lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


def format_body(body: bytes) -> str:
    """Return a body as indented JSON, its numbers as they came; what is unclear as it is."""
    text = body.decode("utf-8", "replace")
    mark = token_hex(8)  # no text in the body has it
    try:
        read_json(text)
        kept = json.loads(text, parse_float=mark.__add__, parse_int=mark.__add__)
        indented = json.dumps(kept, ensure_ascii=False, indent=2)
        return re.sub(f'"{mark}([^"]*)"', r"\1", indented)
    except (JsonFault, RecursionError):
        return text


# --- how far messages come ------------------------------------------------------------------

#: A step, and the statuses and times that prove that a message has reached it.
_FUNNEL_STEPS = {
    "sent": ("sent", "delivered", "read", "played", "failed"),
    "delivered": ("delivered", "read", "played"),
    "read": ("read", "played"),
}
_BAR = 24  #: columns of the longest bar


def funnel(statuses: pd.DataFrame) -> Funnel:
    """Chart how many messages were sent, delivered, read, and failed.

    A message that was read has been delivered too, also where only the last status came.

    Raises:
        InputError: It is no frame of statuses.

    >>> chatkit.widgets.funnel(inbox.statuses())
    Where 0 messages got to
    ...
    """
    needed = {"status", *(f"{step}_at" for step in _FUNNEL_STEPS["sent"])}
    if missing := sorted(needed - {*statuses.columns}):
        raise InputError(f"This has no column {missing[0]!r}: pass the frame of inbox.statuses().")
    counts = {
        step: int(
            (
                statuses["status"].isin(proofs)
                | statuses[[f"{proof}_at" for proof in proofs]].notna().any(axis=1)
            ).sum()
        )
        for step, proofs in _FUNNEL_STEPS.items()
    }
    counts["failed"] = int((statuses["status"] == "failed").sum())
    total = counts["sent"]
    return Funnel(f"Where {many(total, 'message')} got to", counts)


class Funnel(Report):
    """A table with a bar for each count.

    Args:
        title: What it shows.
        counts: How many messages have reached each status; the first is all of them.
    """

    def __init__(self, title: str, counts: Mapping[str, int]) -> None:
        self.title, self._counts = title, counts

    def _parts(self) -> Iterable[ReportPart]:
        total = next(iter(self._counts.values()))
        shares = {status: count / max(total, 1) for status, count in self._counts.items()}
        rows = [
            (status, f"{count:,}", f"{shares[status]:.1%}", "█" * round(_BAR * shares[status]))
            for status, count in self._counts.items()
        ]
        widths = {"status": 16, "messages": 14, "share": 14, "chart": 0}
        return [headline(self.title), table(widths, rows, headings="columns")]
