"""Quality: what was found in a frame of contacts, shown, and the frame with the safe part fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import pandas as pd

from chatkit.checks.characters import NAME, Oddity, mended
from chatkit.checks.numbers import parts
from chatkit.display import LONG, columns, cut, many, pair, values, visible
from chatkit.errors import InputError
from chatkit.finding import SEVERITIES, Finding, Severity
from chatkit.frame import collector_paused
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

#: What can be mended without a look at each cell.
FIXABLE = (
    *("garbled", "control characters", "direction marks", "invisible", "look-alike"),
    *("styled letters", "decomposed", "spaces", "not split", "country code twice"),
)
_PAIR = ("country_code", "number")


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
    return f"write it as {odd.suggestion}" if odd.suggestion else ""


_COLOURS = """
.chatkit-plan :is(.error, .warning, .note) { border-left: 4px solid; padding-left: 0.6em; }
.chatkit-plan .error { border-color: var(--jp-error-color1, #d32f2f); }
.chatkit-plan .warning { border-color: var(--jp-warn-color1, #f57c00); }
.chatkit-plan .note { border-color: var(--jp-info-color1, #0288d1); }
"""


class Fixed(Report):
    """A frame in which the safe suggestions were taken, and the list of what was done.

    Args:
        frame: The new frame.
        done: A row for each changed cell: `row`, `column`, `code`, `before` and `after`.
    """

    _style = STYLE + _COLOURS

    def __init__(self, frame: pd.DataFrame, done: pd.DataFrame) -> None:
        self.frame = frame
        self.done = done

    def _text(self) -> list[list[str]]:
        return _fixed_text(self)

    def _html(self) -> list[str]:
        return _fixed_html(self)


class Quality(Report):
    """What is wrong, or odd, in a frame of contacts: errors first, then warnings and notes.

    Args:
        frame: What was checked.
        findings: What was found, in the order in which it is told.
        notes: What else is to be known.
    """

    _style = STYLE + _COLOURS

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
        texts = {name: _texts(cells[name]) for name in columns[1:-1]}
        row = pd.Series(pd.Index(cells["row"], tupleize_cols=False))
        return pd.DataFrame({"row": row, **texts, "safe": pd.Series(cells["safe"], dtype=bool)})

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
            table[name] = _texts(
                [str(c) if (c := change[n]) is not None else None for change in done]
            )
        return Fixed(frame, pd.DataFrame(table))

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
        pairs = {found.place: parts(found.suggestion or "") for found in safe}
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
                place: pair[n] for place, pair in pairs.items() if not _equal(held[place], pair[n])
            }
            _put(frame, column, after)
            for place, text in after.items():
                before = held[place] if isinstance(held[place], str) else None
                done.append((place, column, codes[place], before, text))


def _equal(cell: Any, text: str) -> bool:
    return isinstance(cell, str) and cell == text


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


def _texts(cells: Sequence[str | None]) -> pd.Series[Any]:
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


def _title(found: Sequence[CellFinding]) -> str:
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
            blocks.append([*wrapped("", _title(found)), *_lines(found)])
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
            parts.append(f'<p class="{severity}"><strong>{marked(_title(found))}</strong></p>')
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
