"""Tail: deliveries in the notebook as they come.

Each is a line among many, and is opened with its headers and its body as a tree. A funnel counts
how far the messages of an inbox come.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import traitlets

from chatkit.errors import ChatkitError, InputError, safe_repr
from chatkit.inbox import Inbox
from chatkit.inbox.delivery import Delivery
from chatkit.inbox.events import Event, parse_contact, parse_events
from chatkit.profile import ServiceProfile
from chatkit.report import Report, ReportPart
from chatkit.util.display import cut, many, visible
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
    red, with the reason. Choose a row to see the delivery as a tree, why its signature was
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
        self._contact_names = read_names(contacts)  # by number
        self._names: dict[str, str] = {}
        self._rows: deque[dict[str, Any]] = deque(maxlen=limit)
        self._last_read = 0  #: the id of the last delivery that was looked at
        self._verified_later = inbox._store.verified_later
        self._chosen = _Filters(*map(str.strip, (kind, contact, search)))
        super().__init__(inbox)

    def _initial_state(self) -> dict[str, Any]:
        self._load_last()
        kinds = {*list_event_kinds(self._inbox._profile), *(row["kind"] for row in self._rows)}
        return {
            **self._chosen._asdict(),
            "limit": self._rows.maxlen,
            "kinds": sorted(kinds - {"", "*"}),
            "first": self.rows,
        }

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
                self._send_all(None)
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
            if not has_words(delivery.body, chosen.search):
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

    def _send_all(self, view: str | None) -> None:
        self.send({"all": self.rows, "view": view})

    def _handle_message(self, message: Any) -> None:
        match message:
            case {"open": int(delivery), "view": view}:
                self.send({"opened": self._delivery_details(delivery), "view": view})

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
    if not words:
        return True
    text, searched = body.decode("utf-8", "replace").casefold(), words.casefold()
    if searched in text:
        return True
    if "\\" not in text:
        return False
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False).casefold()
    except (ValueError, RecursionError):
        return False
    return json.dumps(words, ensure_ascii=False)[1:-1].casefold() in text


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


_MAX_NODES = 3000  #: values of a tree that are shown; a body may have a million
_MAX_DEPTH = 60  #: levels of it
_OPEN_DEPTH = 12  #: levels that are unfolded at first; a message lies ten deep
_SHORT = 500  #: characters of a name, a header or a reason
_MAX_TEXT = 4000  #: characters of a text in it
_MAX_BODY = 100_000  #: characters of a body that is no JSON


class _Digits(str):
    """A number as it is written in JSON: a page would round a long one."""


class _Pairs(list[tuple[str, Any]]):
    """An object as it is written in JSON, with repeated names."""


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
        "tree": draw_body(delivery.body),
    }


def draw_body(body: bytes) -> str:
    """Return a body as an HTML tree; one that is no JSON as a single text."""
    try:
        value = json.loads(
            body,
            object_pairs_hook=_Pairs,
            parse_int=_Digits,
            parse_float=_Digits,
            parse_constant=_Digits,
        )
    except (ValueError, RecursionError):
        return _draw_leaf("", "text", f'"{cut(body.decode("utf-8", "replace"), _MAX_BODY)}"')
    return _draw_node("", value, [_MAX_NODES], 0)


def _draw_node(name: str, value: Any, remaining: list[int], depth: int) -> str:
    """Return a value and what is in it as HTML, until no more values are `remaining`."""
    remaining[0] -= 1
    if isinstance(value, _Digits):
        return _draw_leaf(name, "value", value[:_MAX_TEXT])
    if isinstance(value, str):
        return _draw_leaf(name, "text", f'"{cut(value, _MAX_TEXT)}"')
    if not isinstance(value, list):
        return _draw_leaf(name, "value", json.dumps(value))
    parts: list[str] = []
    for n, item in enumerate(value):
        if depth == _MAX_DEPTH or remaining[0] <= 0:
            more = f"{many(len(value) - n, 'more value')}, not shown"
            more = "too deep to be shown" if depth == _MAX_DEPTH else more
            parts.append(_draw_leaf("", "rest", more))
            break
        key, inner = item if isinstance(value, _Pairs) else (str(n), item)
        parts.append(_draw_node(cut(key, _SHORT), inner, remaining, depth + 1))
    count = f"{{{len(value)}}}" if isinstance(value, _Pairs) else f"[{len(value)}]"
    unfolded = " open" if depth < _OPEN_DEPTH and len(parts) <= 20 else ""
    return (
        f"<details{unfolded}><summary>{_draw_name(name)}"
        f'<span class="tl-size">{count}</span></summary>'
        f'<div class="tl-inside">{"".join(parts)}</div></details>'
    )


def _draw_leaf(name: str, kind: str, text: str) -> str:
    return (
        f'<div class="tl-leaf">{_draw_name(name)}<bdi class="tl-{kind}">{escape(text)}</bdi></div>'
    )


def _draw_name(name: str) -> str:
    return f'<span class="tl-name" dir="auto">{escape(name)}: </span>' if name else ""


# --- how far messages come ------------------------------------------------------------------

#: A step, and the statuses and times that prove that a message has reached it.
_FUNNEL_STEPS = {
    "sent": ("sent", "delivered", "read", "played", "failed"),
    "delivered": ("delivered", "read", "played"),
    "read": ("read", "played"),
}
#: Colours of bars where the page has none of its own.
_BARS = {"brand": "#3b82c4", "error": "#d97a1f"}


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


def _format_share(count: int, total: int) -> str:
    return f"{count / total:.1%}" if total else "–"


class Funnel(Report):
    """A table with a bar for each count; a text in a terminal.

    Args:
        title: What it shows.
        counts: How many messages have reached each status; the first is all of them.
    """

    _name, _style = "chatkit-funnel", ""

    def __init__(self, title: str, counts: Mapping[str, int]) -> None:
        self.title = title
        self._counts = counts
        self._total = next(iter(counts.values()))

    def _parts(self) -> Iterable[ReportPart]:
        lines = [self.title, "status     messages   share"]
        for status, count in self._counts.items():
            lines.append(f"{status:<9}  {count:>8,}  {_format_share(count, self._total):>6}")
        return [ReportPart(lines, self._html)]

    def _html(self) -> str:
        rows = []
        for status, count in self._counts.items():
            width = 100 * count / max(self._total, 1)
            colour = "error" if status == "failed" else "brand"
            rows.append(
                f'<tr><th scope="row" style="text-align: left">{escape(status)}</th>'
                '<td style="width: 24em"><div style="height: 1.1em; '
                f'width: {width:.1f}%; background: var(--jp-{colour}-color1, {_BARS[colour]})">'
                f"</div></td><td>{count:,}</td><td>{_format_share(count, self._total)}</td></tr>"
            )
        return (
            '<table><caption style="text-align: left">'
            f"{escape(self.title)}</caption><thead><tr><th>status</th><td></td><th>messages</th>"
            f"<th>share</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )
