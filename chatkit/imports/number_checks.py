"""Numbers: what is wrong with the country code and the number of each row, and who has them.

A row of a file may have the country code in the number, or none, or punctuation; a row of the
account has both as they are sent. `check` and `plan` ask the same of both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from chatkit.imports.characters import TextFinding
from chatkit.numbers import (
    CERTAIN,
    Country,
    Number,
    Plus,
    country_of,
    person_key,
    read,
    text_of,
)
from chatkit.report import Severity, row_label
from chatkit.util.display import values, visible

#: A country code and a number, as they are sent.
Pair = tuple[str, str]

_CODE = re.compile(r"\+[1-9][0-9]{0,2}")
_DIGITS = re.compile("[0-9]+")
#: These can be reached, but seldom have a chat.
_UNUSUAL = ("premium rate", "toll free", "shared cost", "pager", "voicemail", "company")
#: How many digits a number has with its country code: at least in any country, at most by E.164.
_FEWEST, _MOST = 5, 15
#: From so many rows, numbers that count up are taken for ids.
_IDS = 3


class NumberCheck(NamedTuple):
    """Country code and number that the two cells of a row hold, or what is wrong with them."""

    pair: Pair | None = None  #: the country code and the number, if they can be read
    problem: TextFinding | None = None  #: why the cells cannot be sent as they are
    column: str = "number"  #: where the problem is
    note: TextFinding | None = None  #: what is unusual about a number that can be read
    lost_plus: bool = False  #: whether it is a mobile number of another country if it lost its +


def pair_text(pair: Pair) -> str:
    """Write a country code and a number as one text, from which `pair_of` gets them back."""
    return " ".join(pair)


def pair_of(text: str) -> Pair:
    """Get the country code and the number from a suggestion."""
    code, _, number = text.partition(" ")
    return code, number


def check_numbers(
    codes: Sequence[Any],
    numbers: Sequence[Any],
    countries: Sequence[Country | None] | None = None,
    plus: Plus | None = None,
) -> list[NumberCheck]:
    """Check the cells of all rows; the same cells are read once.

    Args:
        codes: The cells with country codes, None for nothing.
        numbers: The cells with numbers.
        countries: Where the number of each row is dialled if it has no country code.
        plus: What is known of all numbers without a +.
    """
    known: dict[Any, NumberCheck] = {}
    checks = []
    homes = countries or [None] * len(numbers)
    for code, number, country in zip(codes, numbers, homes, strict=True):
        if isinstance(code, float) and code.is_integer():  # no zero can be lost of 44.0
            code = int(code)
        key = _text(code), _text(number), country
        if key not in known:
            known[key] = _check(*key, plus)
        one = known[key]
        if not isinstance(number, str | None) and one.pair is not None:
            reason = "it is not text, so zeros at its beginning or a + may be lost"
            one = NumberCheck(None, TextFinding("not text", "error", reason, pair_text(one.pair)))
        checks.append(one)
    return _without_ids(codes, numbers, checks)


def _text(cell: Any) -> str:
    text = cell if isinstance(cell, str) else text_of(cell) or ""
    return text if text.strip() else ""


def _check(code: str, text: str, home: Country | None, plus: Plus | None) -> NumberCheck:
    country = country_of(code) if code else home
    if code and not country:
        kind = "unknown country code" if _CODE.fullmatch(code) else "country code"
        reason = "it is the code of no country: write it like +91"
        return NumberCheck(None, TextFinding(kind, "error", reason), "country_code")
    if not text:
        return NumberCheck(problem=TextFinding("empty", "error", "there is no number"))
    number = read(text, country, plus)
    # of cells that can be sent as they are, only what no country can have is an error
    whole = _CODE.fullmatch(code) and _DIGITS.fullmatch(text)
    sendable = whole and _FEWEST <= len(code) - 1 + len(text) <= _MOST
    severity: Severity = "warning" if sendable else "error"
    sure = number.verdict in CERTAIN
    if number.country_code and number.number and (sure or number.verdict == "impossible"):
        pair, note = (number.country_code, number.number), _note(number)
        if (code, text) == pair:
            return NumberCheck(pair, note)
        kind, reason = "not split", "a number is digits only, without its country code"
        if number.verdict == "country code twice":
            kind, reason = number.verdict, number.reason or ""
        elif text == pair[1]:
            reason = f"a country code is written {pair[0]}"
        elif not code:
            reason = "the country code has a column of its own, and a number is digits only"
        elif text.isascii() and text.isdigit():
            reason = f"from elsewhere it is dialled {pair_text(pair)}"
        problem = TextFinding(kind, severity, reason, pair_text(pair), sure)
        return NumberCheck(pair, problem, "country_code" if text == pair[1] else "number", note)
    meant = pair_text(number.suggested) if number.suggested else None
    problem = TextFinding(number.verdict, severity, visible(number.reason or ""), meant)
    return NumberCheck((code, text) if whole else None, problem, lost_plus=number.lost_plus)


def _note(number: Number) -> TextFinding | None:
    """Return what is unusual about a number that can be read."""
    if number.verdict in ("impossible", "reserved"):
        severity: Severity = "warning" if number.verdict == "impossible" else "note"
        return TextFinding(number.verdict, severity, number.reason or "")
    reason = f"it is a {number.type} number, which seldom has a chat"
    return TextFinding("unusual number", "note", reason) if number.type in _UNUSUAL else None


def _without_ids(
    codes: Sequence[Any], numbers: Sequence[Any], checks: list[NumberCheck]
) -> list[NumberCheck]:
    """Take nothing for safe in a column of short numbers that count up, as ids do."""
    texts = [_text(cell) for code, cell in zip(codes, numbers, strict=True) if not code]
    plain = [int(text) for text in texts if re.fullmatch("[1-9][0-9]{0,8}", text)]
    counting = sum(b - a == 1 for a, b in pairwise(plain))
    if counting + 1 < max(_IDS, 0.6 * len([*filter(None, texts)])):
        return checks
    reason = "the numbers of this column count up one by one, as ids do"
    return [
        NumberCheck(problem=one.problem._replace(safe=False, message=reason))
        if one.problem and one.problem.safe
        else one
        for one in checks
    ]


# --- numbers that are there twice -------------------------------------------------------


class Holder(NamedTuple):
    """A contact of the account."""

    id: Any
    name: str | None
    pair: Pair

    def __str__(self) -> str:
        return f"contact {self.id}" + (f", {values(self.name)}," if self.name else "")


class CheckedRows(NamedTuple):
    """The rows of the frame that is checked."""

    labels: Sequence[Any]
    ids: Sequence[Any]  #: None for a row that is not in the account yet
    names: Sequence[Any]
    pairs: Sequence[Pair | None]


def natural_key(pair: Pair, by: Sequence[str]) -> str:
    """Return what tells contacts apart: the number, or both; `by` names it."""
    return " ".join(pair) if "country_code" in by else pair[1]


def duplicates_inside(rows: CheckedRows, by: Sequence[str]) -> Iterator[tuple[int, TextFinding]]:
    """Find rows with the number of an earlier row, or with another spelling of it."""
    first: dict[str, int] = {}
    spellings: dict[str, int] = {}
    names = [*rows.names]
    for place, pair in enumerate(rows.pairs):
        if pair is None:
            continue
        earlier = first.setdefault(natural_key(pair, by), place)
        similar = spellings.setdefault(person_key(*pair), place)
        label = f"row {row_label(rows.labels[similar if earlier == place else earlier])}"
        if earlier != place:
            yield place, _duplicate(label, rows._replace(names=names), earlier, place)
            names[earlier] = names[earlier] or names[place]
        elif similar != place:
            other = pair_text(rows.pairs[similar] or pair)
            reason = f"it may be the same contact as {label}, which has {other}"
            yield place, TextFinding("same contact", "warning", reason)


def _duplicate(label: str, rows: CheckedRows, earlier: int, place: int) -> TextFinding:
    names = [name or None for name in (rows.names[earlier], rows.names[place])]
    other, pair = rows.pairs[earlier], rows.pairs[place]
    if other and pair and other[0] != pair[0]:
        reason = (
            f"{label} has the same number of {other[0]}, and the service compares numbers alone"
        )
        return TextFinding("duplicate", "error", reason)
    new = rows.ids[earlier] is None and rows.ids[place] is None
    if new and (names[0] == names[1] or None in names):
        return TextFinding("duplicate", "note", f"it says the same as {label}: it is sent once")
    both = f": {values(names[0])} there, {values(names[1])} here" if names[0] != names[1] else ""
    return TextFinding("duplicate", "error", f"{label} has the same number{both}")


class AccountContacts:
    """The contacts of the account that have some numbers, or other spellings of them.

    Args:
        contacts: Id, name, country code and number of each; None for nothing.
        pairs: The numbers that matter.
        by: What tells contacts apart.
    """

    def __init__(
        self,
        contacts: Iterable[tuple[Any, Any, Any, Any]],
        pairs: Collection[Pair],
        by: Sequence[str],
    ) -> None:
        self._by = by
        self._exact: dict[str, Holder] = {}
        self._similar: dict[str, Holder] = {}
        ends = {number.lstrip("0")[-7:] for _, number in pairs}
        for id_, name, code, number in contacts:
            if (
                isinstance(code, str)
                and isinstance(number, str)
                and number.lstrip("0")[-7:] in ends
            ):
                holder = Holder(id_, name, (code, number))
                self._exact[natural_key(holder.pair, by)] = holder
                self._similar.setdefault(person_key(*holder.pair), holder)

    def holder(self, pair: Pair) -> Holder | None:
        """Find who has this number."""
        return self._exact.get(natural_key(pair, self._by))

    def similar(self, pair: Pair, id_: Any = None) -> TextFinding | None:
        """Find who has another spelling of this number, and nobody this one."""
        holder = self._similar.get(person_key(*pair))
        if holder is None or holder.id == id_ or self.holder(pair):
            return None
        kept = values(pair_text(holder.pair))
        reason = f"it may be the same contact as {holder} which has {kept}: this would be a second"
        return TextFinding("same contact", "warning", reason)

    def outside(
        self, rows: CheckedRows, skipped: Collection[int], inactive: Collection[Any]
    ) -> Iterator[tuple[int, TextFinding]]:
        """Find rows whose number a contact has that is not in the frame.

        Args:
            rows: The rows that are checked.
            skipped: The places of those that need no check.
            inactive: The ids of contacts that are known to be deleted.
        """
        ids = {id_ for id_ in rows.ids if id_ is not None}
        for place, holder in self.matches(rows):
            if place not in skipped and holder.id not in ids:
                yield place, _held(holder, rows, place, holder.id in inactive)
        for place, pair in enumerate(rows.pairs):
            if pair and place not in skipped and (finding := self.similar(pair, rows.ids[place])):
                yield place, finding

    def matches(self, rows: CheckedRows) -> Iterator[tuple[int, Holder]]:
        """Find who else has the number of each row."""
        for place, pair in enumerate(rows.pairs):
            holder = self.holder(pair) if pair else None
            if holder and holder.id != rows.ids[place]:
                yield place, holder


def _held(holder: Holder, rows: CheckedRows, place: int, inactive: bool) -> TextFinding:
    name = rows.names[place]
    if rows.ids[place] is not None:
        return TextFinding("number taken", "error", f"{holder} has this number")
    if inactive:
        reason = f"{holder} was deleted: client.contacts.create restores it, no plan does"
        return TextFinding("restores", "warning", reason)
    if isinstance(name, str) and name != (holder.name or ""):
        reason = f"{holder} has this number: this row would rename it"
        return TextFinding("in account", "warning", reason)
    return TextFinding("in account", "note", f"{holder} has this number already")
