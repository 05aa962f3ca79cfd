"""A fact that the API document states, and the check that shows whether a service keeps it.

A fact has a number, a sentence and a check. The check is a function that makes calls, or a row in
a table of fields. It returns if the fact holds; otherwise it raises `Differs` with what the
service did, or `Unknown` with the reason why that cannot be known on this account. Values of
records are never part of these texts: they may be a customer's, or a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NoReturn

import msgspec

from chatkit.api.record import parse_time


class Differs(Exception):
    """The service does something else than the document states."""


class Unknown(Exception):
    """Raised where a fact can be neither confirmed nor refuted."""


def expect(holds: object, otherwise: str) -> None:
    """Raise `Differs` with a text unless something holds."""
    if not holds:
        raise Differs(otherwise)


def unknown(reason: str) -> NoReturn:
    raise Unknown(reason)


@dataclass(frozen=True)
class Fact:
    number: int
    name: str
    section: str
    sentence: str
    check: Callable[[Any], object]

    def outcome(self, account: Any) -> tuple[str, str]:
        """Check the fact: "holds", "differs" or "unknown", and the reason."""
        try:
            self.check(account)
        except Differs as reason:
            return "differs", str(reason)
        except Unknown as reason:
            return "unknown", str(reason)
        return "holds", ""


class Facts:
    """The facts that the calls of one class can show.

    `calls` is such a class. It is made once for each account, and makes each call once, when
    the first fact needs it. A function below `@facts(number, section)` is a check: its docstring
    is the sentence.
    """

    def __init__(self, calls: Callable[[Any], Any]) -> None:
        self.calls = calls
        self.all: list[Fact] = []

    def __call__(self, number: int, section: str) -> Callable[[Any], Any]:
        def register(check: Callable[[Any], None]) -> Callable[[Any], None]:
            sentence = " ".join((check.__doc__ or "").split())
            self.add(number, check.__name__, section, sentence, check)
            return check

        return register

    def add(
        self, number: int, name: str, section: str, sentence: str, check: Callable[[Any], None]
    ) -> None:
        self.all.append(
            Fact(number, name, section, sentence, lambda account: check(account.calls(self.calls)))
        )

    def fields(
        self, section: str, noun: str, rows: Iterable[tuple[int, str, ValueKind, str]]
    ) -> None:
        """Add a fact for each row: a number, fields, their kind, and the answers with them."""
        for number, names, kind, places in rows:
            fields = names.split()
            self.add(
                number,
                f"{noun}_{fields[0]}".replace(" ", "_"),
                section,
                f"{listing(fields)} of a {noun} {'is' if len(fields) == 1 else 'are'} {kind.name}.",
                partial(check_fields, fields, kind, places.split()),
            )


def check_fields(fields: list[str], kind: ValueKind, places: list[str], calls: Any) -> None:
    records = []
    for place in places:
        try:
            records += [(place, record) for record in calls.records(place)]
        except Unknown:
            continue  # the other places show it
    for place, record in records or unknown("there is no record"):
        for field in fields:
            expect(field in record, f"{field} is missing in {place}")
            value = record[field]
            expect(kind.accepts(value), f"{field} is {shape(value)} in {place}, not {kind.name}")


@dataclass(frozen=True)
class ValueKind:
    """Kind of the values of a field: its name, and the test."""

    name: str
    accepts: Callable[[Any], bool]

    def or_null(self) -> ValueKind:
        return ValueKind(f"{self.name} or null", lambda value: value is None or self.accepts(value))


_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)", re.ASCII)


def _is_time(value: Any) -> bool:
    if type(value) is not str or not _UTC.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value[:19])
    except ValueError:
        return False
    return True


def _is_timestamp(value: Any) -> bool:
    """Return whether a value is a time in some form: ISO 8601, or a number since 1970."""
    try:
        return parse_time(value) is not None
    except (TypeError, ValueError, OverflowError):
        return False


def pattern(expression: str, name: str) -> ValueKind:
    """Text that matches a regular expression as a whole."""
    compiled = re.compile(expression, re.ASCII)
    return ValueKind(name, lambda value: type(value) is str and bool(compiled.fullmatch(value)))


def array_of(kind: ValueKind, name: str) -> ValueKind:
    return ValueKind(name, lambda value: type(value) is list and all(map(kind.accepts, value)))


def object_of(fields: Mapping[str, ValueKind]) -> ValueKind:
    """An object that has these fields; it may have others."""
    return ValueKind(
        f"an object with {listing(fields)}",
        lambda value: (
            type(value) is dict
            and all(name in value and kind.accepts(value[name]) for name, kind in fields.items())
        ),
    )


ANYTHING = ValueKind("anything", lambda value: True)
WHOLE = ValueKind("a whole number", lambda value: type(value) is int)
TEXT = ValueKind("text", lambda value: type(value) is str)
FLAG = ValueKind("true or false", lambda value: type(value) is bool)
TIME = ValueKind("an ISO 8601 time in UTC", _is_time)
TIMESTAMP = ValueKind("a timestamp", _is_timestamp)
ARRAY = ValueKind("an array", lambda value: type(value) is list)

_SHAPES: dict[type, str] = {
    msgspec.UnsetType: "missing",
    type(None): "null",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "an array",
    dict: "an object",
}


def shape(value: Any) -> str:
    """Name the kind of a JSON value without showing the value."""
    return _SHAPES[type(value)]


def listing(names: Iterable[str]) -> str:
    """Join names as a sentence does; a name that is not plain is not repeated."""
    plain = [n if re.fullmatch(r"\w{1,40}", n, re.ASCII) else "(an odd name)" for n in names]
    return " and ".join([", ".join(plain[:-1]), plain[-1]]) if len(plain) > 1 else "".join(plain)
