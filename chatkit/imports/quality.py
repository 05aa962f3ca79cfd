"""Quality: checks contacts before they are sent, and fixes what is safe to fix.

`check_contacts` looks at every row of a frame before it becomes a plan: at the characters of
names, at numbers with their country codes, at numbers that are there twice. `Quality` shows the
findings, and `fix` takes the suggestions that are surely right. `find_unusual_contacts` and
`find_similar_numbers` look at contacts that are being planned.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from chatkit import numbers as telephone
from chatkit import report
from chatkit.bulk.matching import parse_ids
from chatkit.errors import InputError
from chatkit.frames.frame import get_column_or_level, pause_collector, to_python_list
from chatkit.frames.snapshot import read_origin, write_origin
from chatkit.imports.characters import NAME_CHECKS, CellFinding, apply_suggestions, check_name
from chatkit.numbers import CERTAIN, Country, Number, Plus, make_person_key, read_number
from chatkit.report import FEW, LABEL, MANY, SEVERITIES, Finding, ReportPart, ReportRow, Severity
from chatkit.util.display import LONG, cut, many, render_change, values, visible

if TYPE_CHECKING:
    from chatkit.bulk.endpoints import Endpoints

#: A country code and a number, as they are sent.
Pair = tuple[str, str]

_NAME_FIXES = (
    *("garbled", "control characters", "direction marks", "invisible", "look-alike"),
    *("styled letters", "decomposed", "spaces", "HTML entities"),
)
#: What can be mended without a look at each cell.
FIXABLE = (*_NAME_FIXES, "not split", "country code twice")
_PAIR_FIELDS = ("country_code", "number")
#: What a name is mended by before it is compared with another.
_COMPARED = {*_NAME_FIXES} - {"look-alike", "styled letters"}
_CODE = re.compile(r"\+[1-9][0-9]{0,2}")
_DIGITS = re.compile("[0-9]+")
#: These can be reached, but seldom have a chat.
_UNUSUAL = ("premium rate", "toll free", "shared cost", "pager", "voicemail", "company")
#: How many digits a number has with its country code: at least in any country, at most by E.164.
_MIN_DIGITS, _MAX_DIGITS = 5, 15
#: From so many rows, numbers that count up are taken for ids.
_MIN_IDS = 3


# --- the country code and the number of each row ------------------------------------------


class NumberCheck(NamedTuple):
    """The country code and number in the cells of a row, or what is wrong with them."""

    pair: Pair | None = None  #: the country code and the number, if they can be read
    problem: CellFinding | None = None  #: why the cells cannot be sent as they are
    note: CellFinding | None = None  #: what is unusual about a number that can be read
    lost_plus: bool = False  #: whether it is a mobile number of another country if it lost its +
    number: Number | None = None  #: what was read for certain, and is to be split


def check_numbers(
    codes: Sequence[Any],
    numbers: Sequence[Any],
    countries: Sequence[Country | None] | None = None,
    plus: Plus | None = None,
) -> list[NumberCheck]:
    """Check the country codes and numbers of all rows.

    Args:
        codes: The cells with country codes, None for nothing.
        numbers: The cells with numbers.
        countries: Where the number of each row is dialled if it has no country code.
        plus: What is known of all numbers without a +.
    """
    whole = [int(c) if isinstance(c, float) and c.is_integer() else c for c in codes]  # 44.0
    local = countries or [None] * len(numbers)
    keys = [*zip(map(_read_cell_text, whole), map(_read_cell_text, numbers), local, strict=True)]
    known = {key: _check_number(*key, plus) for key in dict.fromkeys(keys)}
    abroad = {
        check.pair[0] for (code, text, _), check in known.items()
        if check.pair and not code and text.startswith(("+", "00"))
    }  # fmt: skip
    for key, check in known.items():
        code, text, country = key
        if country and check.number and not code and not text.startswith(("+", "00")):
            finding = _find_mobile_elsewhere(text, check.number, abroad)
            known[key] = NumberCheck(None, finding) if finding else check
    checks = []
    for key, number in zip(keys, numbers, strict=True):
        check = known[key]
        if not isinstance(number, str | None) and check.pair is not None:
            reason = "it is not text, so zeros at its beginning or a + may be lost"
            check = NumberCheck(None, _report("not text", "error", reason, " ".join(check.pair)))
        checks.append(check)
    return _mark_ids_unsafe(codes, numbers, checks)


def _find_mobile_elsewhere(text: str, number: Number, codes: Iterable[str]) -> CellFinding | None:
    """Return a finding for a number that is a mobile number only in another country."""
    if number.mobile:
        return None
    countries = [_find_country(code) for code in sorted(codes) if code != number.country_code]
    others = [
        (each.code, read_number(text, each, "unused")) for each in countries if each and each.region
    ]
    abroad = [each for code, each in others if each.country_code == code and each.mobile]
    if not abroad:
        return None
    both = ", or ".join(f"{each.country_code} {each.number}" for each in (number, *abroad))
    reason = f"it may be {both}, as others in this column: write it with + and its country code"
    return _report("ambiguous", "error", reason)


def _find_country(text: str) -> Country | None:
    """Return the country that a cell names, as the country in which numbers are dialled."""
    country = telephone.parse_country(text)
    return country and country._replace(named=True, of_row=False)


def _read_cell_text(cell: Any) -> str:
    """Return a cell as text; empty for blanks."""
    text = cell if isinstance(cell, str) else telephone.get_cell_text(cell) or ""
    return text if text.strip() else ""


def _report(
    code: str,
    severity: Severity,
    message: str,
    suggestion: str | None = None,
    *,
    safe: bool = False,
    column: str = "number",
) -> CellFinding:
    """Make a finding about a cell of `column`."""
    return CellFinding(code, severity, f"/{column}", message, suggestion=suggestion, safe=safe)


def _check_number(code: str, text: str, local: Country | None, plus: Plus | None) -> NumberCheck:
    """Check one number with its country code, or with the country it is dialled in."""
    country = telephone.parse_country(code) if code else local
    if code and not country:
        kind = "unknown country code" if _CODE.fullmatch(code) else "country code"
        reason = "it is the code of no country: write it like +91"
        return NumberCheck(None, _report(kind, "error", reason, column="country_code"))
    if not text:
        return NumberCheck(None, _report("empty", "error", "there is no number"))
    number = read_number(text, country, plus)
    # of cells that can be sent as they are, only what no country can have is an error
    plain = _CODE.fullmatch(code) and _DIGITS.fullmatch(text)
    sendable = plain and _MIN_DIGITS <= len(code) - 1 + len(text) <= _MAX_DIGITS
    severity: Severity = "warning" if sendable else "error"
    sure = number.verdict in CERTAIN
    if not (number.country_code and number.number and (sure or number.verdict == "impossible")):
        suggestion = " ".join(number.suggested) if number.suggested else None
        problem = _report(number.verdict, severity, visible(number.reason or ""), suggestion)
        return NumberCheck((code, text) if plain else None, problem, None, number.lost_plus)
    pair, note = (number.country_code, number.number), _find_unusual_number(number)
    if (code, text) == pair:
        return NumberCheck(pair, None, note)
    if number.verdict == "impossible":
        reason = f"{number.reason}: {' '.join(pair)}"
        return NumberCheck(pair, _report("impossible", severity, reason))
    kind, column = "not split", "number"
    reason = "a number is digits only, without its country code"
    if number.verdict == "country code twice":
        kind, reason = number.verdict, number.reason or ""
    elif text == pair[1]:
        column, missing = "country_code", f"it is missing: {pair[0]} is meant"
        reason = f"a country code is written {pair[0]}" if code else missing
    elif not code:
        reason = "the country code has a column of its own, and a number is digits only"
    elif text.isascii() and text.isdigit():
        reason = f"from elsewhere it is dialled {' '.join(pair)}"
    problem = _report(kind, severity, reason, " ".join(pair), safe=sure, column=column)
    return NumberCheck(pair, problem, note, number=number)


def _find_unusual_number(number: Number) -> CellFinding | None:
    """Return a finding for a reserved or unusual number; None for others."""
    if number.verdict in ("impossible", "reserved"):
        severity: Severity = "warning" if number.verdict == "impossible" else "note"
        return _report(number.verdict, severity, number.reason or "")
    reason = f"it is a {number.type} number, which seldom has a chat"
    return _report("unusual number", "note", reason) if number.type in _UNUSUAL else None


def _mark_ids_unsafe(
    codes: Sequence[Any], numbers: Sequence[Any], checks: list[NumberCheck]
) -> list[NumberCheck]:
    """Mark suggestions as unsafe in a column of consecutive numbers, which may be ids."""
    texts = [_read_cell_text(cell) for code, cell in zip(codes, numbers, strict=True) if not code]
    plain = [int(text) for text in texts if re.fullmatch("[1-9][0-9]{0,8}", text)]
    counting = sum(b - a == 1 for a, b in pairwise(plain))
    if counting + 1 < max(_MIN_IDS, 0.6 * len([*filter(None, texts)])):
        return checks
    reason = "the numbers of this column count up one by one, as ids do"
    return [
        NumberCheck(None, replace(check.problem, safe=False, message=reason))
        if check.problem and check.problem.safe
        else check
        for check in checks
    ]


# --- numbers that are there twice ---------------------------------------------------------


class CheckedContact(NamedTuple):
    """A row of the frame that is checked, or a contact of the account."""

    label: Any  #: what the frame calls the row
    id: Any  #: None for a row that is not in the account yet
    name: Any
    pair: Pair | None

    def __str__(self) -> str:
        return f"contact {self.id}" + (f", {values(self.name)}," if self.name else "")


def make_natural_key(pair: Pair, by: Sequence[str]) -> str:
    """Make the natural key of a contact: its number, after the country code if `by` has it."""
    return " ".join(pair) if "country_code" in by else pair[1]


def find_duplicate_rows(
    rows: Sequence[CheckedContact], by: Sequence[str]
) -> Iterator[tuple[int, CellFinding]]:
    """Find rows with the number of an earlier row, or with another spelling of it."""
    first: dict[str, CheckedContact] = {}
    spellings: dict[str, CheckedContact] = {}
    for position, row in enumerate(rows):
        if row.pair is None:
            continue
        key = make_natural_key(row.pair, by)
        earlier = first.setdefault(key, row)
        similar = spellings.setdefault(make_person_key(*row.pair), row)
        if earlier is not row:
            yield position, _report_duplicate(earlier, row)
            first[key] = earlier._replace(name=earlier.name or row.name)
        elif similar is not row:
            label, other = (
                report.format_row_label(similar.label),
                " ".join(similar.pair or row.pair),
            )
            reason = f"it may be the same contact as row {label}, which has {other}"
            yield position, _report("same contact", "warning", reason)


def _report_duplicate(earlier: CheckedContact, row: CheckedContact) -> CellFinding:
    """Make the finding for a row with the number of an earlier row."""
    label = f"row {report.format_row_label(earlier.label)}"
    names = [one.name or None for one in (earlier, row)]
    if earlier.pair and row.pair and earlier.pair[0] != row.pair[0]:
        same = f"{label} has the same number of {earlier.pair[0]}"
        return _report("duplicate", "error", f"{same}, and the service compares numbers alone")
    if earlier.id is None and row.id is None and (names[0] == names[1] or None in names):
        return _report("duplicate", "note", f"it equals {label}: it is sent once")
    both = f": {values(names[0])} there, {values(names[1])} here" if names[0] != names[1] else ""
    return _report("duplicate", "error", f"{label} has the same number{both}")


class AccountContacts:
    """Index of the contacts of an account by their numbers, for some numbers.

    Args:
        base: The contacts of the account.
        pairs: The numbers that matter.
        by: What tells contacts apart.
    """

    def __init__(self, base: pd.DataFrame, pairs: Iterable[Pair], by: Sequence[str]) -> None:
        self._by = by
        self._exact: dict[str, CheckedContact] = {}
        self._similar: dict[str, CheckedContact] = {}
        ends = {number.lstrip("0")[-7:] for _, number in pairs}
        cells = (to_python_list(base[name]) for name in ("name", *_PAIR_FIELDS))
        for id_, name, code, number in zip(base.index.tolist(), *cells, strict=True):
            texts = isinstance(code, str) and isinstance(number, str)
            if texts and number.lstrip("0")[-7:] in ends:
                holder = CheckedContact(None, id_, name, (code, number))
                self._exact[make_natural_key((code, number), by)] = holder
                self._similar.setdefault(make_person_key(code, number), holder)

    def find_holder(self, row: CheckedContact) -> CheckedContact | None:
        """Return another contact of the account that has the number of a row."""
        holder = self._exact.get(make_natural_key(row.pair, self._by)) if row.pair else None
        return holder if holder and holder.id != row.id else None

    def find_same_contact(self, row: CheckedContact) -> CellFinding | None:
        """Return a finding if the account has the number in another spelling only."""
        if not row.pair or make_natural_key(row.pair, self._by) in self._exact:
            return None
        holder = self._similar.get(make_person_key(*row.pair))
        if holder is None or holder.id == row.id or holder.pair is None:
            return None
        reason = f"it may be the same contact as {holder} which has "
        reason += f"{values(' '.join(holder.pair))}: this would be a second"
        return _report("same contact", "warning", reason)

    def find_in_account(
        self, rows: Sequence[CheckedContact], skipped: Collection[int], inactive: Collection[Any]
    ) -> Iterator[tuple[int, CellFinding]]:
        """Find rows with the number of a contact that is not in the frame.

        Args:
            rows: The rows that are checked.
            skipped: The places of those that need no check.
            inactive: The ids of contacts that are known to be deleted.
        """
        ids = {row.id for row in rows if row.id is not None}
        for place, row in enumerate(rows):
            if place in skipped:
                continue
            if (holder := self.find_holder(row)) and holder.id not in ids:
                yield place, _report_taken(holder, row, inactive=holder.id in inactive)
            elif finding := self.find_same_contact(row):
                yield place, finding


def _report_taken(holder: CheckedContact, row: CheckedContact, *, inactive: bool) -> CellFinding:
    """Make the finding for a row with the number of a contact in the account."""
    if row.id is not None:
        return _report("number taken", "error", f"{holder} has this number")
    if inactive:
        reason = f"{holder} was deleted: client.contacts.create restores it, no plan does"
        return _report("restores", "warning", reason)
    if isinstance(row.name, str) and row.name != (holder.name or ""):
        reason = f"{holder} has this number: this row would rename it"
        return _report("in account", "warning", reason)
    return _report("in account", "note", f"{holder} has this number already")


# --- a frame ------------------------------------------------------------------------------


def check_contacts(
    resource: Endpoints[Any], frame: pd.DataFrame, region: str | None, plus: Plus | None = None
) -> Quality:
    """Check a frame of contacts, as `Contacts.check` does.

    Raises:
        InputError: It is no frame of contacts, or there is no such region.
    """
    if plus not in (None, "lost", "unused"):
        raise InputError(f'plus is "lost" or "unused", and not {plus!r:.40}.')
    if not isinstance(frame, pd.DataFrame):
        raise InputError("check takes a frame: of read_contacts(…), or client.contacts.frame().")
    if not frame.columns.is_unique:
        raise InputError("Each column of the frame needs one name of its own.")
    if not {"number", "name"} & {*frame.columns}:
        raise InputError(
            "check needs a column called number or name. "
            f"The columns are: {', '.join(map(str, frame.columns)):.200}."
        )
    with pause_collector():
        checking = _FrameCheck(resource, frame)
        checking.check_names()
        if "number" in frame.columns:
            checking.check_number_cells(region, plus)
            checking.check_duplicates()
        order = {severity: n for n, severity in enumerate(SEVERITIES)}
        checking.findings.sort(key=lambda finding: (order[finding.severity], finding.place))
        return Quality(frame, checking.findings, checking.notes)


_NO_COUNTRY_IN_ROW = (
    "it has no country code, and {} names no country in this row: fill that in, or write the "
    "number with + and its country code"
)


class _FrameCheck:
    """Collector of the findings in a frame of contacts."""

    def __init__(self, resource: Endpoints[Any], frame: pd.DataFrame) -> None:
        self.findings: list[CellFinding] = []
        self.notes: list[str] = []
        self._resource, self._frame = resource, frame
        self._labels = frame.index.tolist()
        self._ids = self._read_own_ids()
        self._names = self._read_column("name")
        self._checks: list[NumberCheck] = []

    def _read_own_ids(self) -> list[int | None]:
        """Return the id of each row that is a contact of this account, else None."""
        cells = get_column_or_level(self._frame, self._resource.key)
        account = self._resource.transport.connection.account
        if cells is None or read_origin(self._frame).get("account") not in (None, account):
            return [None] * len(self._frame)
        ids, is_known = parse_ids(cells)
        return [id_ if own else None for id_, own in zip(ids.tolist(), is_known, strict=True)]

    def _read_column(self, column: str) -> list[Any]:
        """Return the cells of a column; None for each row if the column is missing."""
        if column not in self._frame.columns:
            return [None] * len(self._frame)
        return to_python_list(self._frame[column])

    def _add_finding(self, place: int, value: Any, finding: CellFinding) -> None:
        """Add a finding with the row, its position and the value of its cell."""
        row = self._labels[place]
        self.findings.append(replace(finding, row=row, place=place, value=value))

    # --- names ---

    def check_names(self) -> None:
        """Check the characters of each name."""
        reason = "a name is text: nothing else can be sent"
        not_text = CellFinding("not text", "error", "/name", reason)
        for place, name in enumerate(self._names):
            if name is not None:
                for finding in check_name(name) if isinstance(name, str) else [not_text]:
                    self._add_finding(place, name, finding)

    # --- numbers ---

    def check_number_cells(self, region: str | None, plus: Plus | None) -> None:
        """Check each number, together with its country code."""
        codes, cells = self._read_column("country_code"), self._read_column("number")
        self._checks = check_numbers(codes, cells, self._find_countries(region), plus)
        for place, check in enumerate(self._checks):
            code, number, is_own = codes[place], cells[place], self._ids[place] is not None
            alone = code is None and isinstance(number, str) and number.isdigit()
            if is_own and (number is None or alone):  # the row does not edit the number
                self._checks[place] = NumberCheck()
                continue
            for finding in filter(None, (check.problem, check.note)):
                if region in self._frame.columns and finding.code == "no country code":
                    finding = replace(
                        finding, message=_NO_COUNTRY_IN_ROW.format(visible(str(region)))
                    )
                if is_own and finding.severity == "warning":  # the account has it
                    finding = replace(finding, severity="note")
                self._add_finding(place, number if finding.field == "number" else code, finding)
        self._note_arguments(region, plus)

    def _find_countries(self, region: str | None) -> list[Country | None]:
        """Return the country in which the number of each row is dialled."""
        if region is None or region not in self._frame.columns:
            return [telephone.find_region(region)] * len(self._frame)
        cells = [None if cell is None else str(cell) for cell in self._read_column(region)]
        countries = [_find_country(cell) if cell else None for cell in cells]
        unread = {repr(cell) for cell, c in zip(cells, countries, strict=True) if cell and not c}
        if unread:
            self.notes.append(
                f"The column {region!r} has {', '.join(sorted(unread)[:FEW])}, which names no "
                "country: numbers in these rows need a country code."
            )
        return countries

    def _note_arguments(self, region: str | None, plus: Plus | None) -> None:
        """Note the arguments of `check` that would make more numbers readable."""
        lacking = sum(finding.code == "no country code" for finding in self.findings)
        lost_plus = sum(check.lost_plus for check in self._checks)
        unread = sum(check.pair is None or check.lost_plus for check in self._checks)
        if plus is None and lost_plus * 2 > unread:
            self.notes.append(
                f"{many(lost_plus, 'number')} without + would be mobile numbers of other countries "
                'with one: check(frame, plus="lost") reads all numbers of the column so.'
            )
        if lacking and region not in self._frame.columns:
            self.notes.append(
                f"{many(lacking, 'row')} without a country code: check(frame, "
                f"region={self._suggest_region()!r}) reads such numbers as they are dialled there. "
                "region= takes a country, or the name of a column of countries."
            )

    def _suggest_region(self) -> str:
        """Return a column of countries; else the country code that most rows have, or 'IN'."""
        for column in self._frame.columns.difference(["name", *_PAIR_FIELDS], sort=False):
            texts = [str(cell) for cell in self._read_column(column) if cell is not None]
            if (
                texts
                and not any(map(str.isdigit, texts))
                and all(map(telephone.parse_country, texts))
            ):
                return str(column)
        codes = Counter(check.pair[0] for check in self._checks if check.pair)
        return codes.most_common(1)[0][0] if codes else "IN"

    # --- duplicates ---

    def check_duplicates(self) -> None:
        """Find numbers that are twice in the frame, or in the account too."""
        names = [
            apply_suggestions(name, NAME_CHECKS, _COMPARED)
            if isinstance(name, str) and check_name(name)
            else name
            for name in self._names
        ]
        pairs = [check.pair for check in self._checks]
        contacts = zip(self._labels, self._ids, names, pairs, strict=True)
        rows = [CheckedContact(*contact) for contact in contacts]
        by = self._resource.list_name_fields()
        inside = dict(find_duplicate_rows(rows, by))
        outside: Iterable[tuple[int, CellFinding]] = ()
        if any(pairs):
            snapshot = self._resource.base(self._frame)
            base = snapshot.frame if snapshot.whole else self._resource.base(None).frame
            account = AccountContacts(base, filter(None, pairs), by)
            outside = account.find_in_account(rows, inside, self._find_deleted(account, rows))
        numbers = self._read_column("number")
        for place, finding in [*inside.items(), *outside]:
            self._add_finding(place, numbers[place], finding)

    def _find_deleted(self, account: AccountContacts, rows: Sequence[CheckedContact]) -> set[Any]:
        """Return the ids of deleted contacts, as far as the service shows them."""
        profile = self._resource.profile
        new = [row for row in rows if row.pair and row.id is None]
        held = [holder.id for row in new if (holder := account.find_holder(row))]
        if profile.inactive_in_lists and not (held and profile.inactive_readable):
            return {*held} - {*self._resource.full(sorted({*held})).index} if held else set()
        if profile.inactive_in_lists:
            self.notes.append(
                "Deleted contacts are listed like all others: a row with the number of one is a "
                "conflict when it is applied, and client.contacts.create restores it."
            )
        elif len(new) > len(held):  # else all of them are listed, so they are active
            self.notes.append(
                "Deleted contacts are not listed, so they cannot be told here: creating the "
                "number of one restores it, with its old id."
            )
        return set()


# --- contacts that are planned ----------------------------------------------------------


def find_unusual_contacts(
    names: Mapping[int, Any], numbers: Mapping[int, Pair]
) -> dict[int, list[Finding]]:
    """Find errors and warnings in the names and numbers that a plan sends.

    Errors are numbers that no country can have.

    Args:
        names: Names by the places of their contacts.
        numbers: Country codes and numbers by the places of their contacts.

    Returns:
        The findings by place. Pointers lead into the contact.
    """
    findings = defaultdict[int, list[Finding]](list)
    codes, digits = ([number[n] for number in numbers.values()] for n in range(2))
    for place, check in zip(numbers, check_numbers(codes, digits), strict=True):
        both = filter(None, (check.problem, check.note))
        findings[place] += [each for each in both if each.severity != "note"]
    for place, name in names.items():
        if isinstance(name, str):
            unusual = (each for each in check_name(name) if each.severity != "note")
            findings[place] += [replace(each, severity="warning") for each in unusual]
    return {place: each for place, each in findings.items() if each}


def find_similar_numbers(
    numbers: Mapping[int, Pair], ids: Mapping[int, Any], base: pd.DataFrame, by: Sequence[str]
) -> Iterator[tuple[int, Finding]]:
    """Find numbers that the account, or another row, has in another spelling.

    Args:
        numbers: Country codes and numbers by the places of their contacts.
        ids: The ids of those that are contacts already.
        base: The contacts of the account.
        by: What tells contacts apart.
    """
    if not numbers:  # of most plans: do not go through the account
        return
    account = AccountContacts(base, numbers.values(), by)
    rows = [CheckedContact(place, None, None, number) for place, number in numbers.items()]
    for row in rows:
        if finding := account.find_same_contact(row._replace(id=ids.get(row.label))):
            yield row.label, finding
    for place, finding in find_duplicate_rows(rows, by):
        if finding.code == "same contact":
            yield rows[place].label, finding


# --- findings, shown and fixed -----------------------------------------------------------


_STYLE = report.STYLE + Path(__file__).with_suffix(".css").read_text("utf-8")
#: Widths of the columns of both reports, in per cent.
_FINDINGS = {"row": 8, "column": 13, "value": 24, "reason": 31, "suggestion": 24}
_DONE = {"row": 10, "column": 14, "why": 22, "before": 27, "after": 27}


class Fixed(report.Report):
    """A fixed frame, and the list of the cells that were changed.

    Args:
        frame: The new frame.
        done: A row for each changed cell: `row`, `column`, `code`, `before` and `after`.
    """

    _name, _style = "chatkit-plan chatkit-quality", _STYLE

    def __init__(self, frame: pd.DataFrame, done: pd.DataFrame) -> None:
        self.frame = frame
        self.done = done

    def _parts(self) -> Iterator[ReportPart]:
        """Yield the headline with its counts, the first fixed cells, and where the new frame is."""
        if self.done.empty:
            yield report.headline("Nothing to fix: the frame is as it was.")
            return
        rows = len({repr(row) for row in self.done["row"].tolist()})
        codes = Counter(", ".join(self.done["code"]).split(", ")).most_common()
        counts = ", ".join(f"{count:,} {code}" for code, count in codes)
        fixed = f"Fixed {many(len(self.done), 'cell')} in {many(rows, 'row')}"
        yield report.headline(f"{fixed}: {counts}.")
        done = self.done.iloc[:MANY].astype(object)
        cells = done.where(done.notna(), None).itertuples(index=False)
        yield report.rows_table(_DONE, starmap(self._make_row, cells), len(self.done), ".done")
        footer = ".frame is the new frame; the one that was checked is as it was."
        yield report.paragraph(footer)

    def _make_row(self, row: Any, column: str, code: str, old: str | None, new: str) -> ReportRow:
        """Render one corrected cell as lines of text and as a row of the HTML table."""
        label, name = report.format_row_label(row), cut(column, LABEL)
        before, after = render_change(old, new)
        lines = report.both_values(f"  row {label}, {name}: ", before, after, report.WIDTH)
        html = report.html_value(before, "del") + report.html_value(after, "ins")
        return ReportRow(lines, (label, name, visible(code)), html)


class Quality(report.Report):
    """Findings in a frame of contacts: errors first, then warnings and notes.

    Args:
        frame: What was checked.
        findings: The findings, in the order in which they are shown.
        notes: What else is to be known.
    """

    _name, _style = "chatkit-plan chatkit-quality", _STYLE

    def __init__(
        self, frame: pd.DataFrame, findings: Sequence[CellFinding], notes: Sequence[str]
    ) -> None:
        self.findings = tuple(findings)
        self.notes = tuple(notes)
        self.rows = len(frame)
        self._frame = frame.copy(deep=False)  # what is edited later is not what was checked

    def __len__(self) -> int:
        return len(self.findings)

    @pause_collector()
    def frame(self) -> pd.DataFrame:
        """Make a table of all findings.

        The columns are `row` (what your frame calls it), `column`, `severity` (error, warning
        or note), `code`, `reason`, `value`, `suggestion` and `safe`: whether `fix()` takes the
        suggestion. That of a number is its country code, a space, and its digits.
        """
        attributes = {"column": "field", "severity": "severity", "code": "code"}
        attributes |= {"reason": "message", "value": "value", "suggestion": "suggestion"}
        texts = {n: [getattr(each, of) for each in self.findings] for n, of in attributes.items()}
        frame = _make_frame([each.row for each in self.findings], texts)
        frame["safe"] = pd.Series([each.safe for each in self.findings], dtype=bool)
        return frame

    def fix(self, codes: str | Iterable[str] | None = None) -> Fixed:
        """Apply the safe suggestions to a copy of the frame.

        No row is dropped, not even a duplicate. `client.contacts.plan(quality.fix().frame)`
        goes on from there.

        Args:
            codes: Only those of these codes, like "spaces".

        Raises:
            InputError: A code cannot be fixed so.
        """
        chosen = {codes} if isinstance(codes, str) else {*FIXABLE} if codes is None else {*codes}
        if wrong := sorted(map(repr, chosen - {*FIXABLE})):
            can = ", ".join(FIXABLE)
            raise InputError(f"{', '.join(wrong)} cannot be fixed by itself. What can be: {can}.")
        taken = [each for each in self.findings if each.safe and each.code in chosen]
        frame = self._frame.copy(deep=False)
        if "country_code" not in frame.columns and any(each.field != "name" for each in taken):
            empty = pd.Series(None, frame.index, dtype="str")
            frame.insert(frame.columns.tolist().index("number"), "country_code", empty)
        cells = {n: to_python_list(frame[n]) for n in ("name", *_PAIR_FIELDS) if n in frame}
        # by place and column: the codes, the text that was there, and the new one
        changes: dict[tuple[int, str], tuple[list[str], str | None, str]] = {}
        for each in sorted(taken, key=lambda each: (each.place, each.field != "name")):
            if each.field == "name":
                new = {"name": apply_suggestions(each.value, NAME_CHECKS, chosen)}
            else:
                new = dict(zip(_PAIR_FIELDS, (each.suggestion or "").split(), strict=True))
            for column, text in new.items():
                key, cell = (each.place, column), cells[column][each.place]
                if key in changes or cell != text:
                    old = cell if isinstance(cell, str) else None
                    changes.setdefault(key, ([], old, text))[0].append(each.code)
                    cells[column][each.place] = text
        for column in {column for _, column in changes}:
            dtype: Any = frame[column].dtype
            dtype = dtype if isinstance(dtype, pd.StringDtype) else object
            frame[column] = pd.Series(cells[column], frame.index, dtype=dtype)
        texts: dict[str, Sequence[str | None]] = {
            "column": [column for _, column in changes],
            "code": [", ".join(codes) for codes, _, _ in changes.values()],
            "before": [old for _, old, _ in changes.values()],
            "after": [text for _, _, text in changes.values()],
        }
        labels = frame.index.take([place for place, _ in changes]).tolist()
        return Fixed(frame, _make_frame(labels, texts))

    def _parts(self) -> Iterator[ReportPart]:
        """Yield the headline with its counts, the findings by group, the notes and the footer."""
        groups: dict[str, list[CellFinding]] = {"need": [], "safe": [], "note": []}
        for each in self.findings:
            kind = "safe" if each.safe else "note" if each.severity == "note" else "need"
            groups[kind].append(each)
        need, safe, notes = ({(f.place, f.field) for f in group} for group in groups.values())
        only_safe, only_notes = len(safe - need), len(notes - need - safe)
        counts = [
            f"{only_safe:,} written differently" * bool(only_safe),
            f"{len(need):,} need{'s' * (len(need) == 1)} you" * bool(need),
            many(only_notes, "note") * bool(only_notes),
        ]
        listed = ", ".join(filter(None, counts)) or "nothing found"
        yield report.headline(f"Checked {many(self.rows, 'row')}: {listed}.")
        for kind, findings in groups.items():
            if findings:
                yield _render_group(*_GROUPS[kind], findings)
        yield report.bullets("", map(visible, self.notes))
        taken = sum(finding.safe for finding in self.findings)
        unsafe = sum(finding.suggestion is not None for finding in self.findings) - taken
        verb = "is" if unsafe == 1 else "are"
        footer = [
            f"fix() takes the {many(taken, 'suggestion')} with *." * bool(taken),
            f"{many(unsafe, 'suggestion')} with ? {verb} yours to judge." * bool(unsafe),
        ]
        if any(footer):
            yield report.paragraph(" ".join(filter(None, footer)))


#: What a group of findings is called, and the class of its heading in HTML.
_GROUPS = {
    "need": ("Need you", "error"),
    "safe": ("Written differently", "warning"),
    "note": ("Notes", "note"),
}


def _render_group(title: str, style: str, findings: Sequence[CellFinding]) -> ReportPart:
    """Render a group of findings with their counts by code, the most frequent first.

    Those that are shown at once are some of each code, those of one code together.
    """
    codes = defaultdict[str, list[CellFinding]](list)
    for finding in findings:
        codes[finding.code].append(finding)
    groups = sorted(codes.values(), key=len, reverse=True)
    # the first of each code, then the second of each: so many of these are shown
    shares = sorted((n, code) for code, group in enumerate(groups) for n in range(len(group[:FEW])))
    sizes = Counter(code for _, code in shares[:FEW])
    ordered = [finding for n, group in enumerate(groups) for finding in group[: sizes[n]]]
    first_ids = {*map(id, ordered)}
    ordered += [finding for finding in findings if id(finding) not in first_ids]
    counts = ", ".join(f"{len(group):,} {visible(group[0].code)}" for group in groups)
    heading = f"{title}: {counts}"
    cells = map(_render_finding, ordered[:MANY])
    part = report.rows_table(_FINDINGS, cells, len(findings), ".frame()", heading)
    html = f'<p class="{style}"><strong>{report.marked(heading)}</strong></p>{part}'
    return part._replace(html=html)


def _render_finding(finding: CellFinding) -> ReportRow:
    """Render a finding as lines of text and as a row of the HTML table."""
    value = "" if finding.value is None else cut(values(finding.value), 2 * LONG)
    suggestion = finding.suggestion or ""
    if finding.field == "name" and isinstance(finding.value, str) and suggestion:
        value, suggestion = map(str, render_change(finding.value, suggestion))
    row, column = report.format_row_label(finding.row), cut(finding.field, LABEL)
    message, mark = visible(finding.message), "*" if finding.safe else "?"
    cell = f"row {row}, {column} = {value}" if value else f"row {row}, {column}"
    lines = report.wrapped("  ", f"{cell}: {message}")
    lines += report.wrapped("    -> ", f"{suggestion} {mark}") if suggestion else []
    # the mark stays at the end of a name in Hebrew
    suggestion_html = f"<bdi>{report.marked(suggestion)}</bdi> {mark}" if suggestion else ""
    return ReportRow(lines, (row, column, value, message), f"<td>{suggestion_html}</td>")


def _make_frame(rows: Sequence[Any], columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Make a frame of labels of rows and columns of texts; half characters become ?."""
    frame = pd.DataFrame({"row": pd.Series(pd.Index(rows, tupleize_cols=False))})
    for name, cells in columns.items():
        texts = [cell if cell is None or isinstance(cell, str) else values(cell) for cell in cells]
        whole = [None if text is None else text.encode("utf-8", "replace") for text in texts]
        frame[name] = pd.Series([text and text.decode() for text in whole], dtype="str")
    write_origin(frame)
    return frame
