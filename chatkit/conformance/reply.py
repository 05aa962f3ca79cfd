"""Replies to the calls of a trial, and the kinds of values that facts expect in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

import msgspec

from chatkit.conformance.fact import Facts, NotTold, expect, not_told
from chatkit.probe import Reply
from chatkit.profile import ServiceProfile
from chatkit.record import moment

#: A token that may not do this, or too many calls: they tell nothing about the operation.
_UNTOLD = (401, 403, 429)


class TrialReply(Reply):
    """Reply to a call of a trial, with what a fact may expect of it."""

    @property
    def ok(self) -> bool:
        """Whether the service did it, as far as the status says."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        """Whether the status says that the service understood and said no."""
        return self.status is not None and 400 <= self.status < 500 and self.status != 429

    @property
    def outcome(self) -> str:
        """Outcome in words, without a text of the service: it may be an echo."""
        got = f"no answer ({self.said})" if self.status is None else self.said
        return f"{self.call.method} {self.call.segments[0]} was answered with {got}"

    @property
    def has_object(self) -> bool:
        """Whether the call succeeded and brought an object."""
        return self.ok and type(self.data) is dict

    def expect_done(self) -> None:
        """Raise `NotTold` unless the call succeeded: the fact is about something else."""
        if not self.ok:
            not_told(self.outcome)

    def expect_success(self, *statuses: int) -> None:
        """Raise `Differs` unless the call succeeded, with one of these statuses if given."""
        if self.status is None or self.status in _UNTOLD:
            not_told(self.outcome)
        expect(self.status in statuses if statuses else self.ok, self.outcome)

    def expect_refusal(self, what: str) -> None:
        """Raise `Differs` unless the service said no to something."""
        if self.status is None or self.status in _UNTOLD:
            not_told(self.outcome)
        expect(self.refused, f"{what}: {self.outcome}")

    def record(self) -> dict[str, Any]:
        """The object in `data`; `NotTold` when the call brought none."""
        if not self.has_object:
            not_told(f"{self.outcome} without an object" if self.ok else self.outcome)
        record: dict[str, Any] = self.data
        return record

    def rows(self) -> list[dict[str, Any]]:
        """The objects in `data`, an array; `NotTold` when the call brought none."""
        if not self.ok or type(self.data) is not list:
            not_told(f"{self.outcome} without an array" if self.ok else self.outcome)
        return [row for row in self.data if type(row) is dict]

    def expect_list(self) -> None:
        """Raise `Differs` unless the call succeeded and `data` is an array."""
        self.expect_success()
        expect(type(self.data) is list, f"data is {shape(self.data)}, not an array")

    def expect_pagination(self, profile: ServiceProfile) -> None:
        """Raise `Differs` unless the envelope tells of the page."""
        if "pagination" not in self.envelope and profile.pagination == "never":
            not_told("there is no pagination, as the profile expects")
        expect("pagination" in self.envelope, "there is no pagination")

    def expect_message(self) -> None:
        """Raise `Differs` unless the envelope has a message."""
        expect(type(self.envelope.get("message")) is str, "there is no message")

    def expect_object(self, fields: str = "") -> dict[str, Any]:
        """The object in `data` with these fields; `Differs` when it is something else."""
        expect(type(self.data) is dict, f"data is {shape(self.data)}, not an object")
        record: dict[str, Any] = self.data
        missing = [name for name in fields.split() if name not in record]
        expect(not missing, f"data has no {', '.join(missing)}")
        return record

    def expect_updated(self, fields: str, profile: ServiceProfile) -> None:
        """Raise `Differs` unless an update answers with an object that has these fields."""
        self.expect_success()
        self._expect_body(profile.update_status)
        self.expect_object(fields)

    def expect_deleted(self, profile: ServiceProfile) -> None:
        """Raise `Differs` unless this is how a delete answers: success, a message, data null."""
        self.expect_success()
        self._expect_body(profile.delete_status)
        expect(self.envelope.get("success") is True, "success is not true")
        self.expect_message()
        expect(self.data is None, f"data is {shape(self.data)}, not null")

    def _expect_body(self, expected: int) -> None:
        if self.status == expected == 204:
            not_told("204, as the profile expects, carries no body")


# --- kinds of values --------------------------------------------------------------------


_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)", re.ASCII)
_NAMES: dict[type, str] = {
    msgspec.UnsetType: "missing",
    type(None): "null",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "an array",
    dict: "an object",
}


@dataclass(frozen=True, slots=True)
class ValueKind:
    """Kind of the values of a field: in words, and as a test."""

    words: str
    fits: Callable[[Any], bool]

    def or_null(self) -> ValueKind:
        """Return the kind that takes null as well."""
        return ValueKind(f"{self.words} or null", lambda value: value is None or self.fits(value))


def _is_time(value: Any) -> bool:
    """Whether a value is a moment that exists, written as the document says."""
    if type(value) is not str or not _UTC.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value[:19])
    except ValueError:
        return False
    return True


def _is_moment(value: Any) -> bool:
    """Whether a value is a moment in some form: ISO 8601, or a number since 1970."""
    try:
        return moment(value) is not None
    except (TypeError, ValueError, OverflowError):
        return False


def pattern(expression: str, words: str) -> ValueKind:
    """Text of which all is as a regular expression says."""
    compiled = re.compile(expression, re.ASCII)
    return ValueKind(words, lambda value: type(value) is str and bool(compiled.fullmatch(value)))


def array_of(kind: ValueKind, words: str) -> ValueKind:
    """An array with items of one kind."""
    return ValueKind(words, lambda value: type(value) is list and all(map(kind.fits, value)))


def object_of(fields: Mapping[str, ValueKind]) -> ValueKind:
    """An object that has these fields; it may have others."""
    return ValueKind(
        f"an object with {listing(fields)}",
        lambda value: (
            type(value) is dict
            and all(name in value and kind.fits(value[name]) for name, kind in fields.items())
        ),
    )


ANYTHING = ValueKind("anything", lambda value: True)
WHOLE = ValueKind("a whole number", lambda value: type(value) is int)
TEXT = ValueKind("text", lambda value: type(value) is str)
FLAG = ValueKind("true or false", lambda value: type(value) is bool)
TIME = ValueKind("an ISO 8601 time in UTC", _is_time)
MOMENT = ValueKind("a timestamp", _is_moment)
ARRAY = ValueKind("an array", lambda value: type(value) is list)


class Recorded(Protocol):
    """Evidence of a resource whose records are shown in several places."""

    def records(self, place: str) -> list[dict[str, Any]]:
        """The records seen in a place: list, get, create or update. Raises NotTold without one."""


S = TypeVar("S", bound=Recorded)
#: Number, names, kind, and the places that show the fields.
FieldRow = tuple[int, str, ValueKind, str]


def add_fields(facts: Facts[S], section: str, noun: str, rows: Iterable[FieldRow]) -> None:
    """Add a fact for each row: its fields are of its kind wherever they are shown."""
    for number, names, kind, places in rows:
        fields = names.split()
        facts.add(
            number,
            f"{noun}_{fields[0]}".replace(" ", "_"),
            section,
            f"{listing(fields)} of a {noun} {'is' if len(fields) == 1 else 'are'} {kind.words}.",
            _check(fields, kind, places.split()),
        )


def _check(fields: list[str], kind: ValueKind, places: list[str]) -> Callable[[Recorded], None]:
    def check(evidence: Recorded) -> None:
        seen = [(place, record) for place in places for record in _records(evidence, place)]
        if not seen:
            not_told("no record was seen")
        for place, record in seen:
            for field in fields:
                expect(field in record, f"{field} is missing in {place}")
                saw = f"{field} is {shape(record[field])} in {place}, not {kind.words}"
                expect(kind.fits(record[field]), saw)

    return check


def _records(evidence: Recorded, place: str) -> list[dict[str, Any]]:
    try:
        return evidence.records(place)
    except NotTold:
        return []  # the other places tell


def shape(value: Any) -> str:
    """Name the kind of a value without showing it: it may be a customer's, or a secret."""
    return _NAMES.get(type(value), "nothing JSON knows")


def listing(names: Iterable[str]) -> str:
    """Join names as a sentence does. Names that come from a service are shown if plain."""
    plain = [n if re.fullmatch(r"\w{1,40}", n, re.ASCII) else "(an odd name)" for n in names]
    return " and ".join([", ".join(plain[:-1]), plain[-1]]) if len(plain) > 1 else "".join(plain)
