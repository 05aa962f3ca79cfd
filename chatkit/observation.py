"""Observation: what the open points of a service look like to someone who only reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from chatkit.answer import Answer, Envelope, Pagination
from chatkit.call import Call
from chatkit.errors import CallError, Refused
from chatkit.record import document
from chatkit.transport import Transport

#: An id, a template code and a text that no account has.
_NO_ID = 2147483646
_NO_CODE = "chatkit_doctor_none"
_NO_TEXT = "chatkit doctor finds nothing"
_SEARCH_NAMES = ("search", "q", "query", "keyword", "filter")
_STATUS_NAMES = ("status", "wa_status", "state", "filter")


@dataclass(frozen=True, slots=True)
class Observation:
    """One open point: the field of the profile, what was seen, and how it was seen.

    `told` is False when reading could not tell; `how` then says why.
    """

    field: str
    how: str
    value: object = None
    told: bool = True


@dataclass(frozen=True)
class Seen:
    """What a read brought: an answer and its envelope, or the error it means."""

    answer: Answer | None = None
    envelope: Envelope | None = None
    error: CallError | None = None

    @property
    def refused(self) -> bool:
        """Whether the service understood and said no."""
        return isinstance(self.error, Refused)

    @property
    def outcome(self) -> str:
        """The status or the kind of failure; never a text of the service: it may be an echo."""
        if self.answer is not None:
            return str(self.answer.status)
        return type(self.error).__name__

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The records of a list, or the one record, as far as they are objects."""
        data = msgspec.json.decode(self.envelope.data) if self.envelope else []
        return [row for row in (data if isinstance(data, list) else [data]) if type(row) is dict]

    @property
    def pagination(self) -> Pagination | None:
        """Where the page stands in its list, if it was told."""
        return None if self.envelope is None else self.envelope.pagination


class Observer:
    """Asks an account read-only questions. It makes no other calls than GET."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._profile = transport.profile

    def ask(self, *segments: str | int, **query: str | int) -> Seen:
        """Read, and bring back whatever came of it."""
        answer = None
        try:
            answer = self._transport.answer(Call("GET", segments, query))
            return Seen(answer, answer.unwrap(self._profile))
        except CallError as error:
            return Seen(answer, error=error)

    def points(self, contacts: Seen, flows: Seen, webhooks: Seen) -> Iterator[Observation]:
        """Look at one open point after the other. Takes the first pages, read without a query."""
        room, first = ("contacts", contacts) if contacts.envelope else ("flows", flows)
        if first.envelope is None:
            return
        yield from self._pages(room, first)
        yield from self._records(contacts, flows)
        yield from self._unknown_keys(room)
        yield self._parameter("search_param", "contacts", contacts, _SEARCH_NAMES)
        yield self._parameter("status_param", "flows", flows, _STATUS_NAMES)
        yield _delivery_time(webhooks)

    def _pages(self, room: str, first: Seen) -> Iterator[Observation]:
        pagination = first.pagination
        said = first.envelope is not None and first.envelope.status_code is not None
        yield Observation("status_code_in_body", "in a list", said)
        yield Observation("pagination", "in a list", "always" if pagination else "never")
        if pagination is None:
            yield _untold("page_base", "the list came without pagination")
            return
        yield Observation("page_base", "the number of the page when none is asked for",
                          pagination.page)  # fmt: skip
        yield Observation("default_page_size", "when none is asked for", pagination.page_size)
        yield from self._page_sizes(room)
        beyond = self.ask(room, page=pagination.page + pagination.total_pages + 3)
        yield _either("page_past_end", beyond, "empty", "a page after the last")
        yield _either("bad_page", self.ask(room, page=-1), "clamp", "page -1")

    def _page_sizes(self, room: str) -> Iterator[Observation]:
        assumed = self._profile.max_page_size
        largest = self.ask(room, pageSize=assumed)
        if largest.pagination is None:
            yield _untold("max_page_size", f"{assumed} was answered with {largest.outcome}")
            return
        over = self.ask(room, pageSize=assumed + 1)
        sizes = [seen.pagination.page_size for seen in (largest, over) if seen.pagination]
        used = max(sizes)
        yield Observation("max_page_size", f"the most used when {assumed + 1} were asked for", used)
        if used > assumed:
            yield _untold("over_max_page_size", f"{used} is not over the cap")
        else:
            yield _either("over_max_page_size", over, "clamp", f"a page of {assumed + 1}")

    def _records(self, contacts: Seen, flows: Seen) -> Iterator[Observation]:
        row = next(iter(contacts.rows + flows.rows), {})
        yield _from_record("id_type", "in a list", _name(row.get("id"), integer=int, string=str))
        digits = re.search(r":\d\d(?:\.(\d+))?(?:Z|\+)", str(row.get("updated_at")))
        resolution = {0: "second", 3: "millisecond", 6: "microsecond"}
        yield _from_record("timestamps", "digits of a second in updated_at",
                           resolution.get(len(digits[1] or "")) if digits else None)  # fmt: skip
        yield _number_form(contacts)
        tagged = next((row["tags"] for row in contacts.rows if row.get("tags")), None)
        tag = tagged[0] if isinstance(tagged, list) else None
        yield _from_record("tags", "of a contact", _name(tag, strings=str, objects=dict))
        yield from self._flow_document(flows)

    def _flow_document(self, flows: Seen) -> Iterator[Observation]:
        key = str(flows.rows[0].get("id")) if flows.rows else ""
        flow = self.ask("flows", key) if key.isascii() and key.isdigit() else Seen()
        if not flow.rows:
            yield _untold("flow_json_in_get", "no flow could be read")
            yield _untold("flow_json_form", "no flow could be read")
            return
        form = _document_form(flow.rows[0])
        shown = form is not None or "flow_json" in flow.rows[0]
        yield Observation("flow_json_in_get", "reading one flow", shown)
        yield _from_record("flow_json_form", "reading one flow", form)

    def _unknown_keys(self, room: str) -> Iterator[Observation]:
        missing = self.ask(room, _NO_ID)
        if missing.answer is None or not missing.refused:
            yield _untold("not_found_status", f"an unknown id was answered with {missing.outcome}")
        else:
            yield Observation("not_found_status", "reading an unknown id", missing.answer.status)
            yield Observation("error_body", "reading an unknown id", _shape(missing.answer))
        template = self.ask("templates", _NO_CODE, "contents")
        if template.refused and template.outcome != str(self._profile.not_found_status):
            yield _untold("unknown_template", f"it was answered with {template.outcome}")
        else:
            yield _either("unknown_template", template, "empty", "an unknown code", "not_found")

    def _parameter(self, field: str, room: str, whole: Seen, usual: tuple[str, ...]) -> Observation:
        """Find the parameter that filters: with it, a text that nothing holds finds nothing."""
        if not whole.rows:
            return _untold(field, f"there are no {room} to look among")
        assumed = getattr(self._profile, field)
        names = dict.fromkeys([assumed, *usual] if assumed else usual)
        for name in names:
            found = self.ask(room, **{name: _NO_TEXT})
            if found.envelope is not None and not found.rows:
                return Observation(field, f"it filters the {room}", name)
        return Observation(field, f"none of {', '.join(names)} filters the {room}", None)


def _document_form(flow: Mapping[str, Any]) -> str | None:
    """Name the form in which a flow shows its document; None when it shows none."""
    shown = flow.get("flow_json")
    if shown:
        return "text" if isinstance(shown, str) else "object"
    return "raw" if isinstance(document(flow.get("flow_json_raw")), dict) else None


def _number_form(contacts: Seen) -> Observation:
    """Tell whether the numbers of contacts begin with the digits of their country codes."""
    pairs = [(row.get("number"), row.get("country_code")) for row in contacts.rows]
    whole = [
        number.startswith(code.removeprefix("+"))
        for number, code in pairs
        if isinstance(number, str) and isinstance(code, str) and code.removeprefix("+")
    ]
    form = ("international" if all(whole) else "national") if whole else None
    how = f"{sum(whole)} of {len(whole)} numbers begin with their country code"
    return _from_record("number_form", how, form)


def _delivery_time(webhooks: Seen) -> Observation:
    """Tell the form of the time of a webhook's last delivery."""
    times = [row["last_delivery_at"] for row in webhooks.rows if row.get("last_delivery_at")]
    value: Any = next(iter(times), None)
    form = _name(value, text=str)
    if type(value) in (int, float):
        form = "seconds" if value < 1e11 else "milliseconds"
    return _from_record("last_delivery_at", "of a webhook", form)


def _name(value: object, **types: type) -> str | None:
    return next((name for name, kind in types.items() if type(value) is kind), None)


def _untold(field: str, why: str) -> Observation:
    return Observation(field, why, told=False)


def _from_record(field: str, how: str, value: object) -> Observation:
    if value is None:
        return _untold(field, "no record shows it")
    return Observation(field, how, value)


def _either(field: str, seen: Seen, granted: str, what: str, denied: str = "refuse") -> Observation:
    if seen.envelope is None and (not seen.refused or seen.outcome == "429"):
        return _untold(field, f"{what} was answered with {seen.outcome}")
    if granted == "empty" and seen.rows:
        return _untold(field, f"{what} has records")
    return Observation(field, what, denied if seen.envelope is None else granted)


def _shape(answer: Answer) -> str:
    """Name the shape of an error body as the profile does."""
    if not answer.body.strip():
        return "empty"
    try:
        told = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "html" if "html" in answer.headers.get("content-type", "") else "text"
    if not isinstance(told, dict):
        return "text"
    if "success" in told:
        return "envelope"
    return "error_object" if isinstance(told.get("error"), dict) else "message"
