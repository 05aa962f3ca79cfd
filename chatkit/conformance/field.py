"""Fields: facts about the fields of a record, one line of a table each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from chatkit.conformance.fact import Facts, NotTold, expect, not_told
from chatkit.record import moment

_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)", re.ASCII)
_NAMES: dict[type, str] = {
    type(None): "null",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "an array",
    dict: "an object",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """What values of a field are: in words, and as a test."""

    words: str
    fits: Callable[[Any], bool]

    def or_null(self) -> Kind:
        """The same, or null."""
        return Kind(f"{self.words} or null", lambda value: value is None or self.fits(value))


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


def pattern(expression: str, words: str) -> Kind:
    """Text of which all is as a regular expression says."""
    compiled = re.compile(expression, re.ASCII)
    return Kind(words, lambda value: type(value) is str and bool(compiled.fullmatch(value)))


def array_of(kind: Kind, words: str) -> Kind:
    """An array with items of one kind."""
    return Kind(words, lambda value: type(value) is list and all(map(kind.fits, value)))


def object_of(fields: Mapping[str, Kind]) -> Kind:
    """An object that has these fields; it may have others."""
    return Kind(
        f"an object with {listing(fields)}",
        lambda value: (
            type(value) is dict
            and all(name in value and kind.fits(value[name]) for name, kind in fields.items())
        ),
    )


ANYTHING = Kind("anything", lambda value: True)
WHOLE = Kind("a whole number", lambda value: type(value) is int)
TEXT = Kind("text", lambda value: type(value) is str)
FLAG = Kind("true or false", lambda value: type(value) is bool)
TIME = Kind("an ISO 8601 time in UTC", _is_time)
MOMENT = Kind("a timestamp", _is_moment)
ARRAY = Kind("an array", lambda value: type(value) is list)


class Shown(Protocol):
    """Evidence of a room whose records are shown in several places."""

    def records(self, place: str) -> list[dict[str, Any]]:
        """The records seen in a place: list, get, create or update. Raises NotTold without one."""


S = TypeVar("S", bound=Shown)
#: Number, names, kind, and the places that show the fields.
Row = tuple[int, str, Kind, str]


def add_fields(facts: Facts[S], section: str, noun: str, rows: Iterable[Row]) -> None:
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


def _check(fields: list[str], kind: Kind, places: list[str]) -> Callable[[Shown], None]:
    def check(evidence: Shown) -> None:
        seen = [(place, record) for place in places for record in _records(evidence, place)]
        if not seen:
            not_told("no record was seen")
        for place, record in seen:
            for field in fields:
                expect(field in record, f"{field} is missing in {place}")
                saw = f"{field} is {shape(record[field])} in {place}, not {kind.words}"
                expect(kind.fits(record[field]), saw)

    return check


def _records(evidence: Shown, place: str) -> list[dict[str, Any]]:
    try:
        return evidence.records(place)
    except NotTold:
        return []  # the other places tell


def shape(value: Any) -> str:
    """What a value is, without showing it: it may be a customer's, or a secret."""
    return _NAMES.get(type(value), "nothing JSON knows")


def listing(names: Iterable[str]) -> str:
    """Join names as a sentence does. Names that come from a service are shown if plain."""
    plain = [n if re.fullmatch(r"\w{1,40}", n, re.ASCII) else "(an odd name)" for n in names]
    return " and ".join([", ".join(plain[:-1]), plain[-1]]) if len(plain) > 1 else "".join(plain)
