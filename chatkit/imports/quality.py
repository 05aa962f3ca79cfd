"""Quality: contacts checked before they are sent, what was found, and the safe part of it fixed.

`check_contacts` looks at every row of a frame before it becomes a plan: at the characters of
names, at numbers with their country codes, at numbers that are there twice. `Quality` shows what
was found, and `fix` takes the suggestions that are surely right. `doubts` looks at contacts
that are being planned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import pandas as pd

from chatkit.bulk.matching import number_keys
from chatkit.errors import InputError
from chatkit.finding import SEVERITIES, Finding, Severity
from chatkit.frames.frame import collector_paused, column_or_level, listed
from chatkit.frames.snapshot import Snapshot, memory, remember
from chatkit.imports.characters import NAME, Oddity, mended, of_name
from chatkit.imports.number_checks import (
    AccountContacts,
    CheckedRows,
    NumberCheck,
    Pair,
    check_numbers,
    duplicates_inside,
    pair_of,
)
from chatkit.imports.numbers import Country, Plus, country_of, known_country
from chatkit.report import (
    FEW,
    LABEL,
    MANY,
    STYLE,
    WIDTH,
    Report,
    html_heading,
    html_list,
    html_side,
    html_tables,
    marked,
    row_label,
    sides,
    wrapped,
)
from chatkit.util.display import LONG, columns, cut, many, pair, values, visible

if TYPE_CHECKING:
    from chatkit.api.transport import Transport
    from chatkit.profile import ServiceProfile

#: The parts of a name, as the service keeps it.
PARTS = ("first_name", "middle_name", "last_name")
#: What can be mended without a look at each cell.
FIXABLE = (
    *("garbled", "control characters", "direction marks", "invisible", "look-alike"),
    *("styled letters", "decomposed", "spaces", "HTML entities"),
    *("not split", "country code twice"),
)
_PAIR = ("country_code", "number")
#: What a name is mended by before it is compared with another.
_ALWAYS = (
    "garbled",
    "HTML entities",
    "control characters",
    "direction marks",
    "invisible",
    "decomposed",
    "spaces",
)


class AskedContacts(Protocol):
    """The contacts of an account, as far as they are asked."""

    key: ClassVar[str]
    profile: ServiceProfile
    transport: Transport

    def named_by(self) -> Sequence[str]:
        """Name the fields that tell one contact from another."""

    def base(self, frame: pd.DataFrame | None) -> Snapshot:
        """Return what a frame was when it was read, or else what is there now."""

    def full(self, keys: Sequence[Any]) -> pd.DataFrame:
        """Read these contacts in full, as far as they are there."""

    def resplit(self, parts: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return the parts that a name would have if it was sent again; None for the same."""


def check_contacts(
    resource: AskedContacts, frame: pd.DataFrame, region: str | None, plus: Plus | None = None
) -> Quality:
    """Check a frame, as `Contacts.check` says.

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
    with collector_paused():
        checking = _FrameCheck(resource, frame)
        checking.names()
        checking.parts()
        if "number" in frame.columns:
            checking.numbers(region, plus)
            checking.duplicates()
        order = {severity: n for n, severity in enumerate(SEVERITIES)}
        checking.findings.sort(key=lambda found: (order[found.severity], found.place))
        return Quality(frame, checking.findings, checking.notes)


class _FrameCheck:
    """Collects what is found."""

    def __init__(self, resource: AskedContacts, frame: pd.DataFrame) -> None:
        self.findings: list[CellFinding] = []
        self.notes: list[str] = []
        self._resource, self._frame = resource, frame
        self._labels = frame.index.tolist()
        self._ids = self._keys()
        self._names = self._cells("name")
        self._odd: dict[str, list[Oddity]] = {}
        self._checks: list[NumberCheck] = []

    def _keys(self) -> list[int | None]:
        """Return the ids of the rows that are contacts of this account."""
        cells = column_or_level(self._frame, self._resource.key)
        theirs = memory(self._frame).get("account")
        foreign = theirs not in (None, self._resource.transport.connection.account)
        if cells is None or foreign:
            return [None] * len(self._frame)
        ids, given = number_keys(cells)
        return [id_ if there else None for id_, there in zip(ids.tolist(), given, strict=True)]

    def _cells(self, column: str) -> list[Any]:
        if column not in self._frame.columns:
            return [None] * len(self._frame)
        return listed(self._frame[column])

    def _add(self, place: int, column: str, value: Any, odd: Oddity) -> None:
        self.findings.append(CellFinding.of(odd, self._labels[place], column, value, place))

    # --- names ---

    def names(self) -> None:
        """Look at the characters of each name; the same name is looked at once."""
        known = self._odd
        for place, name in enumerate(self._names):
            if isinstance(name, str):
                if name not in known:
                    known[name] = of_name(name)
                for odd in known[name]:
                    self._add(place, "name", name, odd)
            elif name is not None:
                odd = Oddity("not text", "error", "a name is text: nothing else can be sent")
                self._add(place, "name", name, odd)

    def parts(self) -> None:
        """Find names that would be split in another way, if they were sent again."""
        if not {"name", *PARTS} <= {*self._frame.columns}:
            return
        columns = [self._cells(part) for part in PARTS]
        known: dict[tuple[Any, ...], tuple[str, ...] | None] = {}
        for place, parts in enumerate(zip(*columns, strict=True)):
            name = self._names[place]
            if name != " ".join(filter(None, parts)):  # edited: it is split anew anyhow
                continue
            if parts not in known:
                known[parts] = self._resource.resplit(dict(zip(PARTS, parts, strict=True)))
            if split := known[parts]:
                now, then = _joined(parts), _joined(split)
                reason = f"its parts are {now}; if it is sent again they become {then}"
                self._add(place, "name", name, Oddity("parts", "note", reason))

    # --- numbers ---

    def numbers(self, region: str | None, plus: Plus | None) -> None:
        """Check each number, together with its country code."""
        codes, cells = self._cells("country_code"), self._cells("number")
        self._checks = check_numbers(codes, cells, self._countries(region), plus)
        for place, check in enumerate(self._checks):
            if self._ids[place] is not None and _untouched(codes[place], cells[place]):
                self._checks[place] = NumberCheck()
                continue
            if check.problem:
                value = cells[place] if check.column == "number" else codes[place]
                self._add(place, check.column, value, self._of_account(place, check.problem))
            if check.remark:
                self._add(place, "number", cells[place], self._of_account(place, check.remark))
        self._advise(region, plus)

    def _countries(self, region: str | None) -> list[Country | None]:
        """Return the country that the number of each row is dialled in."""
        if region is None or region not in self._frame.columns:
            return [known_country(region)] * len(self._frame)
        cells = [None if cell is None else str(cell) for cell in self._cells(region)]
        countries = [country_of(cell) if cell else None for cell in cells]
        if unread := sorted(
            {repr(cell) for cell, c in zip(cells, countries, strict=True) if cell and not c}
        ):
            self.notes.append(
                f"The column {region!r} has {', '.join(unread[:FEW])}, which names no country: "
                "numbers in these rows need a country code."
            )
        return [country and country._replace(named=True, of_row=False) for country in countries]

    def _advise(self, region: str | None, plus: Plus | None) -> None:
        """Name the argument that decides for a whole column."""
        lacking = sum(found.code == "no country code" for found in self.findings)
        foreign = sum(check.lost_plus for check in self._checks)
        if plus is None and foreign * 2 > sum(
            check.pair is None or check.lost_plus for check in self._checks
        ):
            self.notes.append(
                f"{many(foreign, 'number')} without + would be mobile numbers of other countries "
                'with one: check(frame, plus="lost") reads all numbers of the column so.'
            )
        if not lacking:
            return
        column = None if region else self._country_column()
        call, reading = (
            (f"region={column!r}", "in the country of their row")
            if column
            else ("region='IN'", "in India")
        )
        self.notes.append(
            f"{many(lacking, 'row')} without a country code: check(frame, {call}) reads "
            f"such numbers as they are dialled {reading}."
        )

    def _country_column(self) -> str | None:
        """Find another column that names a country in most of its rows."""
        for name in self._frame.columns:
            if name in (*_PAIR, "name", *PARTS) or not isinstance(name, str):
                continue
            cells = [cell for cell in self._cells(name) if cell is not None]
            texts = {cell for cell in cells if isinstance(cell, str) and len(cell) < 40}
            known = {text for text in texts if len(texts) < 300 and country_of(text)}
            if sum(isinstance(cell, str) and cell in known for cell in cells) * 2 > len(
                self._frame
            ):
                return name
        return None

    def _of_account(self, place: int, odd: Oddity) -> Oddity:
        """Take what is unusual about a number that the account has already for a note."""
        known = self._ids[place] is not None and odd.severity == "warning"
        return odd._replace(severity="note") if known else odd

    # --- duplicates ---

    def duplicates(self) -> None:
        """Look for numbers that are there twice, in the frame or in the account."""
        cells = list(zip(self._cells("country_code"), self._cells("number"), strict=True))
        pairs = [check.pair for check in self._checks]
        names = [
            mended(name, NAME, _ALWAYS) if isinstance(name, str) and self._odd[name] else name
            for name in self._names
        ]
        rows = CheckedRows(self._labels, self._ids, names, pairs)
        by = self._resource.named_by()
        found = dict(duplicates_inside(rows, by))
        self._tell(found.items(), cells)
        if not any(pairs):
            return
        account = self._account(by, {pair for pair in pairs if pair})
        inactive = self._inactive(account, rows)
        self._tell(account.outside(rows, found, inactive), cells)

    def _tell(self, found: Iterable[tuple[int, Oddity]], cells: Sequence[tuple[Any, Any]]) -> None:
        for place, odd in found:
            self._add(place, "number", cells[place][1], odd)

    def _account(self, by: Sequence[str], pairs: set[Pair]) -> AccountContacts:
        snapshot = self._resource.base(self._frame)
        base = snapshot.frame if snapshot.whole else self._resource.base(None).frame
        return AccountContacts(contacts_of(base), pairs, by)

    def _inactive(self, account: AccountContacts, rows: CheckedRows) -> set[Any]:
        """Tell which contacts of the account are deleted, as far as the service shows that."""
        profile = self._resource.profile
        held = {
            place: holder.id for place, holder in account.matches(rows) if rows.ids[place] is None
        }
        new = sum(
            pair is not None and id_ is None for pair, id_ in zip(rows.pairs, rows.ids, strict=True)
        )
        if new == len(held) and not profile.inactive_in_lists:
            return set()  # all of them are listed, so they are active
        if not profile.inactive_in_lists:
            self.notes.append(
                "Deleted contacts are not listed, so they cannot be told here: creating the "
                "number of one restores it, with its old id."
            )
            return set()
        if held and profile.inactive_readable:
            self.notes.append(
                "Deleted contacts are listed like all others: a row with the number of one is a "
                "conflict when it is applied, and client.contacts.create restores it."
            )
            return set()
        ids = {*held.values()}
        return ids - {*self._resource.full(sorted(ids)).index} if ids else set()


def _untouched(code: Any, number: Any) -> bool:
    """Whether a row of the account says nothing of its number, or only the digits of it."""
    return number is None or (code is None and isinstance(number, str) and number.isdigit())


def _joined(parts: Sequence[str | None]) -> str:
    return " | ".join(part or "–" for part in parts)


# --- contacts that are planned ----------------------------------------------------------


def doubts(names: Mapping[int, Any], numbers: Mapping[int, Pair]) -> dict[int, list[Finding]]:
    """Find what is odd about names and numbers that are sent; mere notes are left out.

    Errors are numbers that no country can have.

    Args:
        names: Names by the places of their contacts.
        numbers: Country codes and numbers by the places of their contacts.

    Returns:
        What was found by place. Pointers lead into the contact.
    """
    found: dict[int, list[Finding]] = {}
    codes, digits = ([number[n] for number in numbers.values()] for n in range(2))
    for place, check in zip(numbers, check_numbers(codes, digits), strict=True):
        both = [odd for odd in (check.problem, check.remark) if odd and odd.severity != "note"]
        if both:
            found[place] = [_finding(odd, "number") for odd in both]
    known: dict[str, Sequence[Finding]] = {}
    for place, name in names.items():
        if not isinstance(name, str):
            continue
        if (told := known.get(name)) is None:
            oddities = [each for each in of_name(name) if each.severity != "note"]
            told = [_finding(each._replace(severity="warning"), "name") for each in oddities]
            known[name] = told
        if told:
            found.setdefault(place, []).extend(told)
    return found


def spellings(
    numbers: Mapping[int, Pair], ids: Mapping[int, Any], base: pd.DataFrame, by: Sequence[str]
) -> Iterator[tuple[int, Finding]]:
    """Find numbers to be sent that may be of a contact, or another row, that has them otherwise.

    Args:
        numbers: Country codes and numbers by the places of their contacts.
        ids: The ids of those that are contacts already.
        base: The contacts of the account.
        by: What tells contacts apart.
    """
    if not numbers:  # of most plans: do not go through the account
        return
    account = AccountContacts(contacts_of(base), {*numbers.values()}, by)
    places = list(numbers)
    rows = CheckedRows(places, [None] * len(places), [None] * len(places), list(numbers.values()))
    for place, number in numbers.items():
        if odd := account.similar(number, ids.get(place)):
            yield place, _finding(odd, "number")
    for n, odd in duplicates_inside(rows, by):
        if odd.code == "same contact":
            yield places[n], _finding(odd, "number")


def contacts_of(base: pd.DataFrame) -> Iterator[tuple[Any, Any, Any, Any]]:
    """List id, name, country code and number of each contact of the account."""
    columns = (listed(base[name]) for name in ("name", *_PAIR))
    return zip(base.index.tolist(), *columns, strict=True)


def _finding(odd: Oddity, field: str) -> Finding:
    return Finding(odd.code, odd.severity, f"/{field}", odd.message, hint_of(odd))


# --- what was found, and fixed ----------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFinding(Finding):
    """One thing that is wrong, or odd, with one cell of a frame."""

    row: Any  #: what the frame calls the row
    place: int  #: which row it is; the first is 0
    value: Any = None  #: what is in the cell, None for nothing
    suggestion: str | None = None  #: the text as it may be meant
    safe: bool = False  #: whether the suggestion surely is what was meant

    @classmethod
    def of(cls, odd: Oddity, row: Any, field: str, value: Any, place: int) -> CellFinding:
        """Say where an oddity is."""
        return cls(
            code=odd.code,
            severity=odd.severity,
            pointer=f"/{field}",
            message=odd.message,
            hint=hint_of(odd),
            row=row,
            place=place,
            value=value,
            suggestion=odd.suggestion,
            safe=odd.safe,
        )

    @property
    def field(self) -> str:
        """The column of the cell."""
        return self.pointer.removeprefix("/")


def hint_of(odd: Oddity) -> str:
    """Say what to do about an oddity, if that is known."""
    return f"Write it as {odd.suggestion}" if odd.suggestion else ""


_COLOURS = """
.chatkit-plan.chatkit-quality.chatkit-quality table { table-layout: auto; }
.chatkit-plan.chatkit-quality.chatkit-quality :is(td, th) { max-width: 26em;
  overflow-wrap: break-word; }
.chatkit-quality :is(.error, .warning, .note) { border-left: 4px solid; padding-left: 0.6em; }
.chatkit-quality .error { border-color: var(--jp-error-color1, #d32f2f); }
.chatkit-quality .warning { border-color: var(--jp-warn-color1, #f57c00); }
.chatkit-quality .note { border-color: var(--jp-info-color1, #0288d1); }
"""


class Fixed(Report):
    """A frame in which the safe suggestions were taken, and the list of what was done.

    Args:
        frame: The new frame.
        done: A row for each changed cell: `row`, `column`, `code`, `before` and `after`.
    """

    _name, _style = "chatkit-plan chatkit-quality", STYLE + _COLOURS

    def __init__(self, frame: pd.DataFrame, done: pd.DataFrame) -> None:
        self.frame = frame
        self.done = done

    def _text(self) -> list[list[str]]:
        return _fixed_text(self)

    def _html(self) -> list[str]:
        return _fixed_html(self)


class Quality(Report):
    """Findings in a frame of contacts: errors first, then warnings and notes.

    Args:
        frame: What was checked.
        findings: What was found, in the order in which it is told.
        notes: What else is to be known.
    """

    _name, _style = "chatkit-plan chatkit-quality", STYLE + _COLOURS

    def __init__(
        self, frame: pd.DataFrame, findings: Sequence[CellFinding], notes: Sequence[str]
    ) -> None:
        self.findings = tuple(findings)
        self.notes = tuple(notes)
        self.rows = len(frame)
        self._frame = frame.copy(deep=False)  # what is edited later is not what was checked

    def __len__(self) -> int:
        return len(self.findings)

    def _text(self) -> list[list[str]]:
        return _as_text(self)

    def _html(self) -> list[str]:
        return _as_html(self)

    @collector_paused()
    def frame(self) -> pd.DataFrame:
        """Make a table of all findings.

        The columns are `row` (what your frame calls it), `column`, `severity` (error, warning
        or note), `code`, `reason`, `value`, `suggestion` and `safe`: whether `fix()` takes the
        suggestion. That of a number is its country code, a space, and its digits.
        """
        columns = ("row", "column", "severity", "code", "reason", "value", "suggestion", "safe")
        attribute = {"column": "field", "reason": "message"}
        cells: dict[str, list[Any]] = {
            name: [getattr(found, attribute.get(name, name)) for found in self.findings]
            for name in columns
        }
        cells["value"] = [
            value if value is None or isinstance(value, str) else values(value)
            for value in cells["value"]
        ]
        texts = {name: _text_column(cells[name]) for name in columns[1:-1]}
        row = pd.Series(pd.Index(cells["row"], tupleize_cols=False))
        frame = pd.DataFrame({"row": row, **texts, "safe": pd.Series(cells["safe"], dtype=bool)})
        remember(frame)
        return frame

    def fix(self, codes: str | Iterable[str] | None = None) -> Fixed:
        """Take the safe suggestions in a new frame; the one that was checked stays as it is.

        No row is dropped, not even a duplicate. `client.contacts.plan(quality.fix().frame)`
        goes on from there.

        Args:
            codes: Only those of these codes, like "spaces".

        Raises:
            InputError: A code cannot be fixed so.
        """
        chosen = _chosen(codes)
        safe = [found for found in self.findings if found.safe and found.code in chosen]
        done: list[tuple[int, str, str, Any, Any]] = []
        frame = self._frame.copy(deep=False)
        self._fix_names(frame, [found for found in safe if found.field == "name"], chosen, done)
        self._fix_numbers(frame, [found for found in safe if found.field in _PAIR], done)
        done.sort(key=lambda change: change[0])
        labels = frame.index.take([place for place, *_ in done]).tolist()
        table = {"row": pd.Series(pd.Index(labels, tupleize_cols=False))}
        for n, name in enumerate(("column", "code", "before", "after"), 1):
            table[name] = _text_column(
                [str(c) if (c := change[n]) is not None else None for change in done]
            )
        changes = pd.DataFrame(table)
        remember(changes)
        return Fixed(frame, changes)

    def _fix_names(
        self, frame: pd.DataFrame, safe: list[CellFinding], chosen: set[str], done: list[Any]
    ) -> None:
        codes: dict[int, list[str]] = {}
        before: dict[int, str] = {}
        for found in safe:
            codes.setdefault(found.place, []).append(found.code)
            before[found.place] = found.value
        after = {place: mended(name, NAME, chosen) for place, name in before.items()}
        _put(frame, "name", after)
        for place, name in after.items():
            done.append((place, "name", ", ".join(codes[place]), before[place], name))

    def _fix_numbers(self, frame: pd.DataFrame, safe: list[CellFinding], done: list[Any]) -> None:
        pairs = {found.place: pair_of(found.suggestion or "") for found in safe}
        codes = {found.place: found.code for found in safe}
        for n, column in enumerate(_PAIR):
            held = dict.fromkeys(pairs)
            if column in frame.columns:
                cells = frame[column].astype(object).take(list(pairs)).tolist()
                held = dict(zip(pairs, cells, strict=True))
            elif pairs:
                frame.insert(
                    frame.columns.tolist().index("number"),
                    column,
                    pd.Series(None, frame.index, dtype="str"),
                )
            after = {
                place: pair[n]
                for place, pair in pairs.items()
                if not isinstance(held[place], str) or held[place] != pair[n]
            }
            _put(frame, column, after)
            for place, text in after.items():
                before = held[place] if isinstance(held[place], str) else None
                done.append((place, column, codes[place], before, text))


def _chosen(codes: str | Iterable[str] | None) -> set[str]:
    if codes is None:
        return {*FIXABLE}
    chosen = {codes} if isinstance(codes, str) else {*codes}
    if wrong := sorted(map(repr, chosen - {*FIXABLE})):
        can = ", ".join(FIXABLE)
        raise InputError(f"{', '.join(wrong)} cannot be fixed by itself. What can be: {can}.")
    return chosen


def _put(frame: pd.DataFrame, column: str, values: dict[int, str]) -> None:
    """Put texts into some rows of a column, of which nobody else has a part."""
    if not values:
        return
    cells = frame[column]
    dtype: Any = cells.dtype if isinstance(cells.dtype, pd.StringDtype) else object
    objects = cells.astype(object).tolist()
    for place, text in values.items():
        objects[place] = text
    frame[column] = pd.Series(objects, frame.index, dtype=dtype)


def _text_column(cells: Sequence[str | None]) -> pd.Series[Any]:
    """Make a column of texts; half a character would not fit into one."""
    whole = [None if c is None else c.encode("utf-8", "replace").decode() for c in cells]
    return pd.Series(whole, dtype="str")


_FOUND = {"row": 8, "column": 13, "value": 24, "reason": 31, "suggestion": 24}
_DONE = {"row": 10, "column": 14, "why": 22, "before": 27, "after": 27}


# --- what is told -------------------------------------------------------------------------


def _heading(quality: Quality) -> str:
    """Count what was found."""
    rows = many(quality.rows, "row")
    count = Counter(found.severity for found in quality.findings)
    found = [many(count[severity], severity) for severity in SEVERITIES if count[severity]]
    return f"Checked {rows}: {', '.join(found) or 'nothing found'}."


def _of(quality: Quality, severity: Severity) -> list[CellFinding]:
    """Put those first that are shown at once: some of each code, those of one code together."""
    codes: dict[str, list[CellFinding]] = {}
    for found in quality.findings:
        if found.severity == severity:
            codes.setdefault(found.code, []).append(found)
    groups = sorted(codes.values(), key=len, reverse=True)
    rounds = [
        one for each in zip_longest(*(group[:FEW] for group in groups)) for one in each if one
    ]
    few = {id(one) for one in rounds[:FEW]}
    first = [one for group in groups for one in group[:FEW] if id(one) in few]
    return first + [
        one for one in quality.findings if one.severity == severity and id(one) not in few
    ]


def _count_by_code(found: Sequence[CellFinding]) -> str:
    """Count findings of one severity by their codes, the most frequent first."""
    codes = Counter(one.code for one in found)
    said = ", ".join(f"{count:,} {visible(code)}" for code, count in codes.most_common())
    return f"{found[0].severity.capitalize()}s: {said}"


def _end(quality: Quality) -> str:
    safe = sum(found.safe for found in quality.findings)
    open_ = sum(found.suggestion is not None for found in quality.findings) - safe
    taken = [f"fix() takes the {many(safe, 'suggestion')} with *."] if safe else []
    left = [f"{many(open_, 'suggestion')} with ? {'is' if open_ == 1 else 'are'} yours to judge."]
    return " ".join(taken + left * (open_ > 0))


def _fixed_heading(fixed: Fixed) -> str:
    done = fixed.done
    if done.empty:
        return "Nothing to fix: the frame is as it was."
    rows = len({repr(row) for row in done["row"].tolist()})
    codes = Counter(code for codes in done["code"].tolist() for code in codes.split(", "))
    said = ", ".join(f"{count:,} {code}" for code, count in codes.most_common())
    return f"Fixed {many(len(done), 'cell')} in {many(rows, 'row')}: {said}."


# --- as text ------------------------------------------------------------------------------


def _as_text(quality: Quality) -> list[list[str]]:
    blocks = [[_heading(quality)]]
    for severity in SEVERITIES:
        if found := _of(quality, severity):
            blocks.append([*wrapped("", _count_by_code(found)), *_lines(found)])
    blocks.append([line for note in quality.notes for line in wrapped("", visible(note))])
    return [*blocks, [_end(quality)] if _end(quality) else []]


def _lines(found: Sequence[CellFinding]) -> list[str]:
    said = []
    for one in found[:FEW]:
        place = f"row {row_label(one.row)}, {cut(one.field, LABEL)}"
        value = "" if one.value is None else f" = {_value(one)}"
        said += wrapped("  ", f"{place}{value}: {visible(one.message)}")
        if one.suggestion is not None:
            mark = " *" if one.safe else " ?"
            said += wrapped("    -> ", _suggested(one) + mark)
    if (more := len(found) - FEW) > 0:
        said.append(f"  … and {more:,} more: .frame() has them all")
    return said


def _value(one: CellFinding) -> str:
    """Show what is in the cell, as far as it can be told apart from the suggestion."""
    if one.field == "name" and isinstance(one.value, str) and one.suggestion:
        return str(pair(one.value, one.suggestion)[0])
    return cut(values(one.value), 2 * LONG)


def _suggested(one: CellFinding) -> str:
    if one.field == "name" and isinstance(one.value, str):
        return str(pair(one.value, one.suggestion)[1])
    return str(one.suggestion)


def _fixed_text(fixed: Fixed) -> list[list[str]]:
    said = []
    for row, column, _, before, after in _rows(fixed)[:FEW]:
        old, new = pair(before, after)
        lead = f"  row {row_label(row)}, {cut(column, LABEL)}: "
        first, *others = sides("", old, new, WIDTH - columns(lead))
        said += [lead + first, *(" " * columns(lead) + line for line in others)]
    if (more := len(fixed.done) - FEW) > 0:
        said.append(f"  … and {more:,} more: .done has them all")
    end = [".frame is the new frame; the one that was checked is as it was."]
    return [wrapped("", _fixed_heading(fixed)), said, end if said else []]


def _rows(fixed: Fixed) -> list[tuple[Any, ...]]:
    done = fixed.done.iloc[:MANY].astype(object)
    return list(done.where(done.notna(), None).itertuples(index=False, name=None))


# --- as HTML ------------------------------------------------------------------------------


def _as_html(quality: Quality) -> list[str]:
    parts = [html_heading(_heading(quality))]
    for severity in SEVERITIES:
        if found := _of(quality, severity):
            rows = [_html_finding(one) for one in found[:MANY]]
            parts.append(
                f'<p class="{severity}"><strong>{marked(_count_by_code(found))}</strong></p>'
            )
            parts.append(html_tables(_FOUND, rows[:FEW], rows[FEW:], len(found), ".frame()"))
    told = [*map(visible, quality.notes), _end(quality)]
    return [*parts, html_list("told", "", [line for line in told if line])]


def _html_finding(one: CellFinding) -> str:
    value = "" if one.value is None else _value(one)
    meant = ""
    if one.suggestion is not None:  # the mark stays at the end of a name from right to left
        meant = f"<bdi>{marked(_suggested(one))}</bdi> {'*' if one.safe else '?'}"
    texts = [row_label(one.row), cut(one.field, LABEL), value, visible(one.message)]
    return f"<tbody><tr>{''.join(map(_cell, texts))}<td>{meant}</td></tr></tbody>"


def _cell(text: str) -> str:
    return f'<td dir="auto">{marked(text)}</td>'


def _fixed_html(fixed: Fixed) -> list[str]:
    rows = []
    for row, column, code, before, after in _rows(fixed):
        old, new = pair(before, after)
        head = "".join(map(_cell, (row_label(row), cut(column, LABEL), visible(code))))
        both = html_side(old, "del") + html_side(new, "ins")
        rows.append(f"<tbody><tr>{head}{both}</tr></tbody>")
    return [
        html_heading(_fixed_heading(fixed)),
        html_tables(_DONE, rows[:FEW], rows[FEW:], len(fixed.done), ".done"),
        "<p><code>.frame</code> is the new frame; the one that was checked is as it was.</p>"
        if rows
        else "",
    ]
