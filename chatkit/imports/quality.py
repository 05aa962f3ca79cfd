"""Quality: contacts checked before they are sent, the findings, and the safe part of them fixed.

`check_contacts` looks at every row of a frame before it becomes a plan: at the characters of
names, at numbers with their country codes, at numbers that are there twice. `Quality` shows the
findings, and `fix` takes the suggestions that are surely right. `doubts` looks at contacts that
are being planned.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import pandas as pd

from chatkit.bulk.matching import number_keys
from chatkit.errors import InputError
from chatkit.frames.frame import collector_paused, column_or_level, listed
from chatkit.frames.snapshot import Snapshot, memory, remember
from chatkit.imports.characters import NAME, TextFinding, mended, of_name
from chatkit.imports.number_checks import (
    AccountContacts,
    CheckedRows,
    NumberCheck,
    Pair,
    check_numbers,
    duplicates_inside,
    pair_of,
)
from chatkit.numbers import Country, Plus, country_of, known_country
from chatkit.report import (
    FEW,
    LABEL,
    MANY,
    SEVERITIES,
    STYLE,
    WIDTH,
    Finding,
    Report,
    Severity,
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
_NAME_FIXES = (
    *("garbled", "control characters", "direction marks", "invisible", "look-alike"),
    *("styled letters", "decomposed", "spaces", "HTML entities"),
)
#: What can be mended without a look at each cell.
FIXABLE = (*_NAME_FIXES, "not split", "country code twice")
_PAIR = ("country_code", "number")
#: What a name is mended by before it is compared with another.
_COMPARED = {*_NAME_FIXES} - {"look-alike", "styled letters"}


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
        checking.findings.sort(key=lambda finding: (order[finding.severity], finding.place))
        return Quality(frame, checking.findings, checking.notes)


class _FrameCheck:
    """Collects the findings in a frame."""

    def __init__(self, resource: AskedContacts, frame: pd.DataFrame) -> None:
        self.findings: list[CellFinding] = []
        self.notes: list[str] = []
        self._resource, self._frame = resource, frame
        self._labels = frame.index.tolist()
        self._ids = self._own_ids()
        self._names = self._cells("name")
        self._of_names: dict[str, list[TextFinding]] = {}
        self._checks: list[NumberCheck] = []

    def _own_ids(self) -> list[int | None]:
        """Return the ids of the rows that are contacts of this account."""
        cells = column_or_level(self._frame, self._resource.key)
        account = self._resource.transport.connection.account
        if cells is None or memory(self._frame).get("account") not in (None, account):
            return [None] * len(self._frame)
        ids, is_known = number_keys(cells)
        return [id_ if own else None for id_, own in zip(ids.tolist(), is_known, strict=True)]

    def _cells(self, column: str) -> list[Any]:
        if column not in self._frame.columns:
            return [None] * len(self._frame)
        return listed(self._frame[column])

    def _add(self, place: int, column: str, value: Any, finding: TextFinding) -> None:
        where = {"row": self._labels[place], "place": place, "value": value}
        pointer, hint = f"/{column}", finding.hint
        self.findings.append(CellFinding(**finding._asdict(), pointer=pointer, hint=hint, **where))

    # --- names ---

    def names(self) -> None:
        """Look at the characters of each name; the same name is looked at once."""
        not_text = TextFinding("not text", "error", "a name is text: nothing else can be sent")
        for place, name in enumerate(self._names):
            if isinstance(name, str) and name not in self._of_names:
                self._of_names[name] = of_name(name)
            if name is not None:
                for finding in self._of_names[name] if isinstance(name, str) else [not_text]:
                    self._add(place, "name", name, finding)

    def parts(self) -> None:
        """Find names that would be split in another way, if they were sent again."""
        if not {"name", *PARTS} <= {*self._frame.columns}:
            return
        known: dict[tuple[Any, ...], tuple[str, ...] | None] = {}
        for place, parts in enumerate(zip(*map(self._cells, PARTS), strict=True)):
            name = self._names[place]
            if name != " ".join(filter(None, parts)):  # edited: it is split anew anyhow
                continue
            if parts not in known:
                known[parts] = self._resource.resplit(dict(zip(PARTS, parts, strict=True)))
            if split := known[parts]:
                now, then = (" | ".join(part or "–" for part in each) for each in (parts, split))
                reason = f"its parts are {now}; if it is sent again they become {then}"
                self._add(place, "name", name, TextFinding("parts", "note", reason))

    # --- numbers ---

    def numbers(self, region: str | None, plus: Plus | None) -> None:
        """Check each number, together with its country code."""
        codes, cells = self._cells("country_code"), self._cells("number")
        self._checks = check_numbers(codes, cells, self._countries(region), plus)
        for place, check in enumerate(self._checks):
            code, number, is_own = codes[place], cells[place], self._ids[place] is not None
            alone = code is None and isinstance(number, str) and number.isdigit()
            if is_own and (number is None or alone):  # the row does not edit the number
                self._checks[place] = NumberCheck()
                continue
            value = number if check.column == "number" else code
            for column, cell, finding in (
                (check.column, value, check.problem),
                ("number", number, check.note),
            ):
                if finding and is_own and finding.severity == "warning":  # the account has it
                    finding = finding._replace(severity="note")
                if finding:
                    self._add(place, column, cell, finding)
        self._advise(region, plus)

    def _countries(self, region: str | None) -> list[Country | None]:
        """Return the country that the number of each row is dialled in."""
        if region is None or region not in self._frame.columns:
            return [known_country(region)] * len(self._frame)
        cells = [None if cell is None else str(cell) for cell in self._cells(region)]
        countries = [country_of(cell) if cell else None for cell in cells]
        unread = {repr(cell) for cell, c in zip(cells, countries, strict=True) if cell and not c}
        if unread:
            self.notes.append(
                f"The column {region!r} has {', '.join(sorted(unread)[:FEW])}, which names no "
                "country: numbers in these rows need a country code."
            )
        return [country and country._replace(named=True, of_row=False) for country in countries]

    def _advise(self, region: str | None, plus: Plus | None) -> None:
        """Name the argument that decides for a whole column."""
        lacking = sum(finding.code == "no country code" for finding in self.findings)
        lost_plus = sum(check.lost_plus for check in self._checks)
        unread = sum(check.pair is None or check.lost_plus for check in self._checks)
        if plus is None and lost_plus * 2 > unread:
            self.notes.append(
                f"{many(lost_plus, 'number')} without + would be mobile numbers of other countries "
                'with one: check(frame, plus="lost") reads all numbers of the column so.'
            )
        if not lacking:
            return
        call, reading = "region='IN'", "in India"
        if column := None if region else self._country_column():
            call, reading = f"region={column!r}", "in the country of their row"
        self.notes.append(
            f"{many(lacking, 'row')} without a country code: check(frame, {call}) reads "
            f"such numbers as they are dialled {reading}."
        )

    def _country_column(self) -> str | None:
        """Find another column that names a country in most of its rows."""
        for name in self._frame.columns:
            if name in (*_PAIR, "name", *PARTS) or not isinstance(name, str):
                continue
            cells = [c for c in self._cells(name) if isinstance(c, str) and len(c) < 40]
            known = {text for text in {*cells} if len({*cells}) < 300 and country_of(text)}
            if sum(cell in known for cell in cells) * 2 > len(self._frame):
                return name
        return None

    # --- duplicates ---

    def duplicates(self) -> None:
        """Look for numbers that are there twice, in the frame or in the account."""
        numbers = self._cells("number")
        pairs = [check.pair for check in self._checks]
        names = [
            mended(name, NAME, _COMPARED)
            if isinstance(name, str) and self._of_names[name]
            else name
            for name in self._names
        ]
        rows = CheckedRows(self._labels, self._ids, names, pairs)
        by = self._resource.named_by()
        inside = dict(duplicates_inside(rows, by))
        outside: Iterable[tuple[int, TextFinding]] = ()
        if any(pairs):
            snapshot = self._resource.base(self._frame)
            base = snapshot.frame if snapshot.whole else self._resource.base(None).frame
            account = AccountContacts(contacts_of(base), {pair for pair in pairs if pair}, by)
            outside = account.outside(rows, inside, self._inactive(account, rows))
        for place, finding in [*inside.items(), *outside]:
            self._add(place, "number", numbers[place], finding)

    def _inactive(self, account: AccountContacts, rows: CheckedRows) -> set[Any]:
        """Return the ids of contacts that are deleted, as far as the service shows that."""
        profile = self._resource.profile
        held = [holder.id for place, holder in account.matches(rows) if rows.ids[place] is None]
        new = sum(
            pair is not None and id_ is None for pair, id_ in zip(rows.pairs, rows.ids, strict=True)
        )
        if profile.inactive_in_lists and not (held and profile.inactive_readable):
            return {*held} - {*self._resource.full(sorted({*held})).index} if held else set()
        if profile.inactive_in_lists:
            self.notes.append(
                "Deleted contacts are listed like all others: a row with the number of one is a "
                "conflict when it is applied, and client.contacts.create restores it."
            )
        elif new > len(held):  # else all of them are listed, so they are active
            self.notes.append(
                "Deleted contacts are not listed, so they cannot be told here: creating the "
                "number of one restores it, with its old id."
            )
        return set()


# --- contacts that are planned ----------------------------------------------------------


def doubts(names: Mapping[int, Any], numbers: Mapping[int, Pair]) -> dict[int, list[Finding]]:
    """Find what is unusual about names and numbers that are sent; mere notes are left out.

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
        for finding in (check.problem, check.note):
            if finding and finding.severity != "note":
                findings[place].append(_finding(finding, "number"))
    known: dict[str, list[TextFinding]] = {}
    for place, name in names.items():
        if isinstance(name, str):
            known[name] = known[name] if name in known else of_name(name)
            for finding in known[name]:
                if finding.severity != "note":
                    warning = finding._replace(severity="warning")
                    findings[place].append(_finding(warning, "name"))
    return dict(findings)


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
        if finding := account.similar(number, ids.get(place)):
            yield place, _finding(finding, "number")
    for n, finding in duplicates_inside(rows, by):
        if finding.code == "same contact":
            yield places[n], _finding(finding, "number")


def contacts_of(base: pd.DataFrame) -> Iterator[tuple[Any, Any, Any, Any]]:
    """List id, name, country code and number of each contact of the account."""
    columns = (listed(base[name]) for name in ("name", *_PAIR))
    return zip(base.index.tolist(), *columns, strict=True)


def _finding(finding: TextFinding, field: str) -> Finding:
    return Finding(finding.code, finding.severity, f"/{field}", finding.message, finding.hint)


# --- findings, shown and fixed -----------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFinding(Finding):
    """One thing that is wrong, or unusual, with one cell of a frame."""

    row: Any  #: what the frame calls the row
    place: int  #: which row it is; the first is 0
    value: Any = None  #: what is in the cell, None for nothing
    suggestion: str | None = None  #: the text as it may be meant
    safe: bool = False  #: whether the suggestion surely is what was meant

    @property
    def field(self) -> str:
        """The column of the cell."""
        return self.pointer.removeprefix("/")

    def texts(self) -> tuple[str, str, str, str, str]:
        """Return what a report shows: row, column, value, message and suggestion."""
        value = "" if self.value is None else cut(values(self.value), 2 * LONG)
        meant = self.suggestion or ""
        if self.field == "name" and isinstance(self.value, str) and self.suggestion:
            value, meant = map(str, pair(self.value, self.suggestion))
        return row_label(self.row), cut(self.field, LABEL), value, visible(self.message), meant

    @property
    def mark(self) -> str:
        """The sign after a suggestion: * where `fix` takes it, ? where a person decides."""
        return "*" if self.safe else "?"


_COLOURS = """
.chatkit-plan.chatkit-quality.chatkit-quality table { table-layout: auto; }
.chatkit-plan.chatkit-quality.chatkit-quality :is(td, th) { max-width: 26em;
  overflow-wrap: break-word; }
.chatkit-quality :is(.error, .warning, .note) { border-left: 4px solid; padding-left: 0.6em; }
.chatkit-quality .error { border-color: var(--jp-error-color1, #d32f2f); }
.chatkit-quality .warning { border-color: var(--jp-warn-color1, #f57c00); }
.chatkit-quality .note { border-color: var(--jp-info-color1, #0288d1); }
"""
#: Widths of the columns of both reports, in per cent.
_FINDINGS = {"row": 8, "column": 13, "value": 24, "reason": 31, "suggestion": 24}
_DONE = {"row": 10, "column": 14, "why": 22, "before": 27, "after": 27}


def _html_row(texts: Iterable[str], last: str) -> str:
    cells = "".join(f'<td dir="auto">{marked(text)}</td>' for text in texts)
    return f"<tbody><tr>{cells}{last}</tr></tbody>"


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

    def _heading(self) -> str:
        if self.done.empty:
            return "Nothing to fix: the frame is as it was."
        rows = len({repr(row) for row in self.done["row"].tolist()})
        codes = Counter(", ".join(self.done["code"]).split(", ")).most_common()
        counts = ", ".join(f"{count:,} {code}" for code, count in codes)
        return f"Fixed {many(len(self.done), 'cell')} in {many(rows, 'row')}: {counts}."

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        done = self.done.iloc[:MANY].astype(object)
        for row, column, code, before, after in done.where(done.notna(), None).itertuples(
            index=False
        ):
            yield row_label(row), cut(column, LABEL), visible(code), *pair(before, after)

    def _text(self) -> list[list[str]]:
        lines = []
        for row, column, _, before, after in [*self._rows()][:FEW]:
            lead = f"  row {row}, {column}: "
            first, *others = sides("", before, after, WIDTH - columns(lead))
            lines += [lead + first, *(" " * columns(lead) + line for line in others)]
        if (more := len(self.done) - FEW) > 0:
            lines.append(f"  … and {more:,} more: .done has them all")
        end = [".frame is the new frame; the one that was checked is as it was."]
        return [wrapped("", self._heading()), lines, end if lines else []]

    def _html(self) -> list[str]:
        rows = [
            _html_row(texts, html_side(before, "del") + html_side(after, "ins"))
            for *texts, before, after in self._rows()
        ]
        end = "<code>.frame</code> is the new frame; the one that was checked is as it was."
        return [
            html_heading(self._heading()),
            html_tables(_DONE, rows[:FEW], rows[FEW:], len(self.done), ".done"),
            f"<p>{end}</p>" if rows else "",
        ]


class Quality(Report):
    """Findings in a frame of contacts: errors first, then warnings and notes.

    Args:
        frame: What was checked.
        findings: The findings, in the order in which they are shown.
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

    @collector_paused()
    def frame(self) -> pd.DataFrame:
        """Make a table of all findings.

        The columns are `row` (what your frame calls it), `column`, `severity` (error, warning
        or note), `code`, `reason`, `value`, `suggestion` and `safe`: whether `fix()` takes the
        suggestion. That of a number is its country code, a space, and its digits.
        """
        attributes = {"column": "field", "severity": "severity", "code": "code"}
        attributes |= {"reason": "message", "value": "value", "suggestion": "suggestion"}
        texts = {
            name: _text_column([getattr(finding, of) for finding in self.findings])
            for name, of in attributes.items()
        }
        row = pd.Series(pd.Index([each.row for each in self.findings], tupleize_cols=False))
        safe = pd.Series([finding.safe for finding in self.findings], dtype=bool)
        frame = pd.DataFrame({"row": row, **texts, "safe": safe})
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
        chosen = {codes} if isinstance(codes, str) else {*FIXABLE} if codes is None else {*codes}
        if wrong := sorted(map(repr, chosen - {*FIXABLE})):
            can = ", ".join(FIXABLE)
            raise InputError(f"{', '.join(wrong)} cannot be fixed by itself. What can be: {can}.")
        safe = [finding for finding in self.findings if finding.safe and finding.code in chosen]
        frame = self._frame.copy(deep=False)
        names = defaultdict[int, list[CellFinding]](list)
        for finding in safe:
            if finding.field == "name":
                names[finding.place].append(finding)
        changes: list[tuple[int, str, str, str | None, str]] = [
            (
                place,
                "name",
                ", ".join(finding.code for finding in findings),
                findings[0].value,
                mended(findings[0].value, NAME, chosen),
            )
            for place, findings in names.items()
        ]
        of_numbers = [finding for finding in safe if finding.field in _PAIR]
        if of_numbers and "country_code" not in frame.columns:
            empty = pd.Series(None, frame.index, dtype="str")
            frame.insert(frame.columns.tolist().index("number"), "country_code", empty)
        for n, column in enumerate(_PAIR if of_numbers else ()):
            cells = [cell if isinstance(cell, str) else None for cell in listed(frame[column])]
            for finding in of_numbers:
                after = pair_of(finding.suggestion or "")[n]
                if (before := cells[finding.place]) != after:
                    changes.append((finding.place, column, finding.code, before, after))
        for column in dict.fromkeys(change[1] for change in changes):
            _put(frame, column, {c[0]: c[4] for c in changes if c[1] == column})
        changes.sort(key=lambda change: change[0])
        labels = frame.index.take([place for place, *_ in changes]).tolist()
        done = pd.DataFrame({"row": pd.Series(pd.Index(labels, tupleize_cols=False))})
        for n, name in enumerate(("column", "code", "before", "after"), 1):
            done[name] = _text_column([change[n] for change in changes])
        remember(done)
        return Fixed(frame, done)

    def _groups(self) -> Iterator[tuple[Severity, str, list[CellFinding]]]:
        """Yield the findings of each severity and their counts by code, the most frequent first.

        Those that are shown at once are the first: some of each code, those of one code together.
        """
        for severity in SEVERITIES:
            codes = defaultdict[str, list[CellFinding]](list)
            for finding in self.findings:
                if finding.severity == severity:
                    codes[finding.code].append(finding)
            groups = sorted(codes.values(), key=len, reverse=True)
            rounds = zip_longest(*(group[:FEW] for group in groups))
            few = {id(each) for each in [one for each in rounds for one in each if one][:FEW]}
            ordered = [one for group in groups for one in group if id(one) in few]
            ordered += [
                one for one in self.findings if one.severity == severity and id(one) not in few
            ]
            counts = ", ".join(f"{len(group):,} {visible(group[0].code)}" for group in groups)
            if groups:
                yield severity, f"{severity.capitalize()}s: {counts}", ordered

    def _heading(self) -> str:
        count = Counter(finding.severity for finding in self.findings)
        counts = [many(count[severity], severity) for severity in SEVERITIES if count[severity]]
        return f"Checked {many(self.rows, 'row')}: {', '.join(counts) or 'nothing found'}."

    def _end(self) -> str:
        safe = sum(finding.safe for finding in self.findings)
        left = sum(finding.suggestion is not None for finding in self.findings) - safe
        taken = f"fix() takes the {many(safe, 'suggestion')} with *." if safe else ""
        verb = "is" if left == 1 else "are"
        yours = f"{many(left, 'suggestion')} with ? {verb} yours to judge." if left else ""
        return " ".join(filter(None, (taken, yours)))

    def _text(self) -> list[list[str]]:
        blocks = [[self._heading()]]
        for _, counts, findings in self._groups():
            lines = wrapped("", counts)
            for finding in findings[:FEW]:
                row, column, value, message, meant = finding.texts()
                value = f" = {value}" if value else ""
                lines += wrapped("  ", f"row {row}, {column}{value}: {message}")
                if finding.suggestion is not None:
                    lines += wrapped("    -> ", f"{meant} {finding.mark}")
            if (more := len(findings) - FEW) > 0:
                lines.append(f"  … and {more:,} more: .frame() has them all")
            blocks.append(lines)
        notes = [line for note in self.notes for line in wrapped("", visible(note))]
        return [*blocks, notes, [self._end()] if self._end() else []]

    def _html(self) -> list[str]:
        parts = [html_heading(self._heading())]
        for severity, counts, findings in self._groups():
            parts.append(f'<p class="{severity}"><strong>{marked(counts)}</strong></p>')
            rows = []
            for finding in findings[:MANY]:
                *texts, meant = finding.texts()
                if finding.suggestion is not None:  # the mark stays at the end of a name in Hebrew
                    meant = f"<bdi>{marked(meant)}</bdi> {finding.mark}"
                rows.append(_html_row(texts, f"<td>{meant}</td>"))
            parts.append(html_tables(_FINDINGS, rows[:FEW], rows[FEW:], len(findings), ".frame()"))
        notes = [*map(visible, self.notes), self._end()]
        return [*parts, html_list("told", "", [line for line in notes if line])]


def _put(frame: pd.DataFrame, column: str, texts: Mapping[int, str]) -> None:
    """Put texts into some rows of a column, of which nobody else has a part."""
    dtype = frame[column].dtype
    cells = frame[column].astype(object).tolist()
    for place, text in texts.items():
        cells[place] = text
    kept: Any = dtype if isinstance(dtype, pd.StringDtype) else object
    frame[column] = pd.Series(cells, frame.index, dtype=kept)


def _text_column(cells: Sequence[Any]) -> pd.Series[Any]:
    """Make a column of texts; half a character would not fit into one."""
    texts = [cell if cell is None or isinstance(cell, str) else values(cell) for cell in cells]
    whole = [None if text is None else text.encode("utf-8", "replace").decode() for text in texts]
    return pd.Series(whole, dtype="str")
