"""Findings and reports: what a check finds at one place, and what shows many rows.

Checks of flow documents, contents and contacts return findings, and a plan accepts findings of any
kind. Plans, audits and boards derive from `Report`, which renders text for a terminal, HTML for
JupyterLab, and a frame; it folds long tables, and marks and escapes what strangers wrote.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from textwrap import wrap
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    Self,
    TypeAlias,
    TypeVar,
    overload,
)

from chatkit.errors import Problem, safe_repr
from chatkit.util.display import (
    MISSING,
    RenderedValue,
    columns,
    cut,
    has_half_character,
    is_right_to_left,
    many,
    values,
    visible,
)
from chatkit.util.json import PatchOperation, find_value

if TYPE_CHECKING:
    import pandas as pd


Severity: TypeAlias = Literal["error", "warning", "note"]
#: The gravest first.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to fix, or to know, at one place."""

    code: str  #: what it is, in a word or two to choose by
    severity: Severity
    pointer: str  #: JSON pointer to the place in what was checked
    message: str  #: what is wrong
    hint: str = ""  #: what to do
    line: int | None = None  #: in the text of a document, where there is one; the first is 1
    column: int | None = None
    #: What fixes it, where that is certain; empty where a person has to decide.
    patch: tuple[PatchOperation, ...] = field(default=(), compare=False, repr=False)

    @property
    def where(self) -> str:
        """The place in words: line and column when there is a text, and the pointer."""
        pointer = self.pointer or "(document)"
        return f"{self.line}:{self.column} {pointer}" if self.line else pointer

    def __str__(self) -> str:
        hint = f" {self.hint}" if self.hint else ""
        return visible(f"{self.severity} {self.code} at {self.where}: {self.message}{hint}")


AnyFinding = TypeVar("AnyFinding", bound=Finding)


class FindingSequence(Sequence[AnyFinding], Generic[AnyFinding]):
    """The findings of a check, in the order of what was checked. Empty is good."""

    def __init__(self, findings: Iterable[AnyFinding]) -> None:
        self._findings = tuple(findings)

    @abstractmethod
    def _with(self, findings: Iterable[AnyFinding]) -> Self:
        """Return a copy with only these findings."""

    @overload
    def __getitem__(self, index: int) -> AnyFinding: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> AnyFinding | Self:
        return (
            self._with(self._findings[index]) if isinstance(index, slice) else self._findings[index]
        )

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[AnyFinding]:
        return iter(self._findings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._findings == other._findings

    def __hash__(self) -> int:
        return hash(self._findings)

    @property
    def ok(self) -> bool:
        """True where there is no error."""
        return not any(each.severity == "error" for each in self._findings)

    @property
    def errors(self) -> Self:
        """The findings that must be fixed."""
        return self._only("error")

    @property
    def warnings(self) -> Self:
        """The findings that are likely mistakes."""
        return self._only("warning")

    @property
    def notes(self) -> Self:
        """The findings that are good to know."""
        return self._only("note")

    def counts(self) -> dict[str, int]:
        """Count the findings by code, the most frequent first."""
        return dict(Counter(each.code for each in self._findings).most_common())

    def _only(self, severity: Severity) -> Self:
        return self._with(each for each in self._findings if each.severity == severity)


def select_errors(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that the platform refuses."""
    return [finding for finding in findings if finding.severity == "error"]


def select_errors_and_warnings(findings: Iterable[Finding]) -> list[Finding]:
    """Return all findings but mere notes."""
    return [finding for finding in findings if finding.severity != "note"]


def format_finding(finding: Finding) -> str:
    """Write a finding in a line: its code, its place and its message."""
    place = f" at {finding.pointer}" if finding.pointer else ""
    if not place and finding.message.startswith(finding.code):
        return finding.message  # "too short for +44" needs no "too short" before it
    return f"{finding.code}{place}: {finding.message}"


def format_finding_with_hint(finding: Finding) -> str:
    """Write a finding in a line, with its hint."""
    line = format_finding(finding)
    return f"{line}{'' if line.endswith('.') else '.'} {finding.hint}".rstrip()


def make_document_problem(field: str, document: object, finding: Finding) -> Problem:
    """Convert a finding in a document to a problem of its field, with the value at its place."""
    value = values(find_value(document, finding.pointer))
    return Problem(field, value, format_finding(finding), finding.hint)


def make_cell_problem(fields: Mapping[str, Any], finding: Finding) -> Problem:
    """Convert a finding, whose pointer leads into a record, to a problem of a field."""
    name, slash, rest = finding.pointer.removeprefix("/").partition("/")
    inner = replace(finding, pointer=slash + rest)
    if name in fields:
        return make_document_problem(name, fields[name], inner)
    return Problem(name, "", format_finding(inner), finding.hint)


def summary(findings: Sequence[Finding]) -> str:
    """Return the counts of errors and warnings, and the first of the worst."""
    if not findings:
        return ""
    wrong = select_errors(findings)
    counts = [many(len(wrong), "error")] if wrong else []
    if rest := len(findings) - len(wrong):
        counts.append(many(rest, "warning"))
    first = (wrong or findings)[0]
    place = ", first " if len(findings) > 1 else ": "
    text = format_finding_with_hint(first) if first.hint else format_finding(first)
    return f"{' and '.join(counts)}{place}{text}"


FEW = 8  #: findings, changes of each kind, and refused cells that are shown at once
_MAX_NAMED = 3  #: records that are named where the same is to be said of many


class FindingNote(str):
    """A note on findings in records, which are also shown with each record."""


class FindingCounts:
    """Counts the findings of records that are sent, and sums up equal ones in one note.

    Args:
        noun: The noun of the records: "contact".
    """

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._counts: dict[str, tuple[int, list[str]]] = {}  # of each text, and the first labels
        self._uncounted = 0  # records with other texts than the first few

    def add(self, label: str, findings: Sequence[Finding]) -> None:
        """Count the findings in one record.

        Args:
            label: The label of the record.
            findings: Its findings.
        """
        text = summary(findings)
        if text not in self._counts and len(self._counts) >= FEW:
            self._uncounted += 1
            return
        count, labels = self._counts.get(text, (0, []))
        self._counts[text] = count + 1, [*labels, label][: _MAX_NAMED + 1]

    def notes(self) -> list[str]:
        """Return a line for each kind of finding: the labels of the records come first."""
        lines = [f"{_name_records(self._noun, *who)} {text}" for text, who in self._counts.items()]
        if self._uncounted:
            more = many(self._uncounted, f"more {self._noun}")
            lines.append(f"… and {more} with errors or warnings.")
        return [*map(FindingNote, lines)]


def _name_records(noun: str, count: int, labels: Sequence[str]) -> str:
    """Return the labels of records, of many the first, and the verb that follows."""
    if count == 1:
        return f"{labels[0]} has"
    if count <= _MAX_NAMED + 1:
        return f"{', '.join(labels[:-1])} and {labels[-1]} have each"
    rest = many(count - _MAX_NAMED, f"more {noun}")
    return f"{', '.join(labels[:_MAX_NAMED])} and {rest} have each"


MANY = 200  #: lines of an HTML table, at most
WIDTH = 100  #: columns of the text
LABEL = 48  #: characters of the name of a record, a field or a row
ARROW = "→"  #: stands between the two sides of a change
_SPELLED_OUT = re.compile("(⟨U\\+[0-9A-F]{4,6}⟩|[␣↵])")

STYLE = """
.chatkit-plan.chatkit-plan { max-width: 72em; }
.chatkit-plan.chatkit-plan p { margin: 0.6em 0; }
.chatkit-plan.chatkit-plan table { border-collapse: collapse; margin: 0.6em 0; table-layout: fixed;
  width: 100%; }
.chatkit-plan.chatkit-plan tbody { border-top: 1px solid var(--jp-border-color2, #8886); }
.chatkit-plan.chatkit-plan tr:nth-child(n) { background: none; }
.chatkit-plan.chatkit-plan :is(td, th) { border: none; max-width: none; overflow: hidden;
  overflow-wrap: anywhere; padding: 0.3em 1em 0.3em 0; text-align: left; vertical-align: top;
  white-space: pre-wrap; }
.chatkit-plan.chatkit-plan tbody th { font-weight: 600; }
.chatkit-plan thead th, .chatkit-plan :is(i, sup) { color: var(--jp-ui-font-color2, #767676);
  font-weight: normal; }
.chatkit-plan :is(del, ins) { border-radius: 2px; margin: 0 -2px; padding: 0 2px; }
.chatkit-plan del { background: rgba(229, 57, 53, 0.18); }
.chatkit-plan ins { background: rgba(67, 160, 71, 0.22); }
.chatkit-plan mark { background: none; color: inherit; display: inline-block; font-size: 85%; }
.chatkit-plan sup { font-size: 85%; vertical-align: baseline; }
.chatkit-plan b { display: inline-block; width: 1em; }
.chatkit-plan .create { color: var(--jp-success-color1, #388e3c); }
.chatkit-plan .update { color: var(--jp-info-color1, #0288d1); }
.chatkit-plan .delete { color: var(--jp-error-color1, #d32f2f); }
.chatkit-plan summary { cursor: pointer; }
.chatkit-plan.chatkit-plan ul { list-style: none; margin: 0.6em 0; padding: 0; }
.chatkit-plan .objections { border-left: 3px solid var(--jp-warn-color1, #f57c00);
  padding-left: 1em; }
"""


class ReportPart(NamedTuple):
    """A part of a report in both forms: lines of text, and HTML with everything escaped.

    HTML that takes a while is a function, called when it is shown.
    """

    lines: Sequence[str] = ()
    html: str | Callable[[], str] = ""

    def __str__(self) -> str:
        """Return the HTML."""
        return self.html() if callable(self.html) else self.html


class Report(ABC):
    """A report that renders itself as text, HTML and Markdown; a subclass returns its parts.

    What is shown may be a part; all of it is a DataFrame, as `frame()`. The same object gives the
    same text, so that outputs can be compared. The HTML fits a light and a dark JupyterLab, and
    can be read without its style too.
    """

    _name: ClassVar[str] = "chatkit-plan"  #: class of the HTML element, which the style is for
    _style: ClassVar[str] = STYLE  #: empty for what looks as JupyterLab shows any table

    @abstractmethod
    def _parts(self) -> Iterable[ReportPart]:
        """Return the parts of the report, the headline first."""

    @safe_repr
    def __repr__(self) -> str:
        return join_blocks(part.lines for part in self._parts())

    def markdown(self) -> str:
        """Return its text as Markdown: the headline, and all else in a block of code."""
        heading, _, text = repr(self).partition("\n")
        return markdown(heading, text.strip("\n"))

    def _repr_html_(self) -> str:
        style = f"<style>{self._style}</style>" if self._style else ""
        parts = "".join([style, *map(str, self._parts())])
        # the class names keep JupyterLab from reading $…$ in a name as mathematics
        return f'<div class="{self._name} tex2jax_ignore mathjax_ignore">{parts}</div>'


def join_blocks(blocks: Iterable[Sequence[str]]) -> str:
    """Join blocks of lines, with an empty line between them."""
    return "\n\n".join("\n".join(block) for block in blocks if block)


# --- parts --------------------------------------------------------------------------------


def headline(text: str) -> ReportPart:
    """Return the first line of a report."""
    return ReportPart(wrapped("", text), html_heading(text))


def paragraph(text: str) -> ReportPart:
    """Return a sentence or more."""
    return ReportPart(wrapped("", text), f"<p>{marked(text)}</p>")


def bullets(title: str, items: Iterable[str], name: str = "notes", lead: str = "  ") -> ReportPart:
    """Return a list of visible texts under a title; nothing without any.

    Args:
        title: The title; empty for none, and then the lines of text are not indented.
        items: The texts.
        name: The class of the list in HTML.
        lead: The prefix of each item in the text form.
    """
    texts = list(items)
    lines = [line for text in texts for line in wrapped(lead if title else "", text)]
    return ReportPart([title, *lines] if title and lines else lines, html_list(name, title, texts))


def table(
    widths: Mapping[str, int],
    rows: Sequence[Sequence[str]],
    *,
    headings: Literal["columns", "rows"] | None = None,
    severities: Sequence[str] = (),
) -> ReportPart:
    """Return a table of visible texts.

    Args:
        widths: The columns, and the share of the width that each takes in HTML; 0 for the rest.
        rows: The rows. The first cell may be a name that strangers wrote.
        headings: "columns" begins the text form with a line of them, without the first; "rows"
            makes the first cell of each row its heading.
        severities: A class for each row, which colours its second cell; "" for none.
    """
    text_rows = [("", *list(widths)[1:]), *rows] if headings == "columns" else rows
    lengths = [max(map(columns, cells)) for cells in zip(*text_rows, strict=True)]
    lines = [
        "  "
        + "  ".join(
            cell + " " * (length - columns(cell)) for cell, length in zip(row, lengths, strict=True)
        ).rstrip()
        for row in text_rows
    ]
    first, other = 'td dir="auto"', "td"
    if headings == "rows":
        first, other = 'th scope="row" dir="auto"', first
    parts = []
    for n, row in enumerate(rows):
        name, *cells = map(marked, row)
        if severities and severities[n]:
            cells[0] = f'<span class="{severities[n]}">{cells[0]}</span>'
        rest = "".join(f"<{other}>{cell}</td>" for cell in cells)
        parts.append(f"<tbody><tr><{first}>{name}</{first[:2]}>{rest}</tr></tbody>")
    html = html_tables(widths, parts[:MANY], parts[MANY:], len(parts), ".frame()")
    return ReportPart(lines, html)


class ReportRow(NamedTuple):
    """A row of a table in both forms: lines of text, and cells."""

    lines: Sequence[str]
    texts: Sequence[str] = ()  #: the cells that hold visible texts
    html: str = ""  #: the other cells, with everything escaped


def rows_table(
    widths: Mapping[str, int], rows: Iterable[ReportRow], total: int, where: str, title: str = ""
) -> ReportPart:
    """Return a table whose first rows are shown at once; more are folded in HTML.

    Args:
        widths: The columns, and the share of the width that each takes in HTML; 0 for the rest.
        rows: The rows, at most `MANY`.
        total: The number of rows that there are.
        where: The code that has all of them.
        title: A line above the text form.
    """
    lines, cells = wrapped("", title), []
    for n, row in enumerate(rows):
        lines += row.lines if n < FEW else []
        texts = "".join(f'<td dir="auto">{marked(text)}</td>' for text in row.texts)
        cells.append(f"<tbody><tr>{texts}{row.html}</tr></tbody>")
    if (more := total - FEW) > 0:
        lines.append(f"  … and {more:,} more: {where} has them all")
    return ReportPart(lines, html_tables(widths, cells[:FEW], cells[FEW:], total, where))


def folded(summary: str, parts: Iterable[ReportPart]) -> str:
    """Return the HTML of parts that a click on their summary shows."""
    html = "".join(map(str, parts))
    return f"<details><summary>{marked(summary)}</summary>{html}</details>"


def markdown(heading: str, text: str, kind: str = "") -> str:
    """Return a heading, and a text in a fenced block that none of its lines can end.

    All that strangers wrote stands in the block, where nobody is mentioned, no picture is loaded
    and nothing is a link.

    Args:
        heading: One line; no character of it is read as Markdown or HTML.
        text: The lines; without any there is only the heading.
        kind: The language of the block, like "diff".
    """
    plain = re.sub(r"([^\w .,:/-])", lambda match: f"&#{ord(match[1])};", visible(heading))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"### {plain}\n\n{fence}{kind}\n{text}\n{fence}" if text else f"### {plain}"


# --- as a frame ---------------------------------------------------------------------------


def make_object_frame(
    rows: Sequence[object], columns: Sequence[str], texts: Collection[str] = ()
) -> pd.DataFrame:
    """Make a frame of the attributes of objects; missing values are None or NA.

    Args:
        rows: The objects, a row each.
        columns: Their attributes.
        texts: The columns that hold only texts; the others hold values of any kind.
    """
    import pandas as pd

    cells_of: dict[str, Any] = {}
    for name in columns:
        cells = [getattr(row, name) for row in rows]
        values = [None if cell is MISSING else cell for cell in cells]
        column = pd.Series(values, dtype=object)
        is_text = name in texts and not any(  # JSON can hold half a character, and Arrow cannot
            isinstance(value, str) and has_half_character(value) for value in values
        )
        cells_of[name] = column.astype("str") if is_text else column
    return pd.DataFrame(cells_of, columns=list(columns))


# --- as text ------------------------------------------------------------------------------


def format_row_label(row: Any) -> str:
    """Return the label of a row in a frame as text."""
    return cut(" / ".join(map(str, row)) if isinstance(row, tuple) else str(row), LABEL)


def wrapped(lead: str, text: str) -> list[str]:
    """Wrap a sentence into lines, indented below the lead of the first."""
    width = WIDTH - len(lead)
    parts = wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return [(lead if n == 0 else " " * len(lead)) + part for n, part in enumerate(parts)]


def both_values(
    name: str, before: RenderedValue, after: RenderedValue, width: int, arrow: str = ARROW
) -> list[str]:
    """Write both values in a line; in two if they are long, or are read from right to left."""
    whole = f"{name}{before} {arrow} {after}"
    if columns(whole) <= width and not is_right_to_left(f"{before}{after}"):
        return [whole]
    return [f"{name}{before}", f"{f'{arrow} ':>{columns(name)}}{after}"]


# --- as HTML ------------------------------------------------------------------------------


def marked(text: str) -> str:
    """Escape a visible text; mark characters that are spelled out, and let paths break."""
    return _SPELLED_OUT.sub(r"<mark>\1</mark>", escape(text).replace("/", "/<wbr>"))


def html_heading(text: str) -> str:
    """Make the first line of a report."""
    return f"<p><strong>{marked(text)}</strong></p>"


def html_tables(
    widths: Mapping[str, int], first: list[str], more: list[str], total: int, where: str
) -> str:
    """Make a table of the first rows, and a folded one of more with the same columns."""
    styles = {name: f' style="width: {width}%"' if width else "" for name, width in widths.items()}
    names = "".join(f'<th scope="col"{style}>{name}</th>' for name, style in styles.items())
    head = f"<table><thead><tr>{names}</tr></thead>"
    table = f"{head}{''.join(first)}</table>" if first else ""
    if not more:
        return table
    unseen = total - len(first) - len(more)
    summary = f"{total - len(first):,} more" + (f", {len(more):,} of them here" if unseen else "")
    rest = f"<p>… and {unseen:,} more: <code>{where}</code> has them all.</p>" if unseen else ""
    folded = f"<summary>{summary}</summary>{head}{''.join(more)}</table>{rest}"
    return f"{table}<details>{folded}</details>"


def html_value(value: RenderedValue | None, tag: str) -> str:
    """Make the cell of a value; the part that differs is wrapped in the tag."""
    if value is None:
        return "<td></td>"
    if value.kind == "words":
        return f"<td><i>{marked(value.text)}</i></td>"
    text = f"<{tag}>{marked(value.text)}</{tag}>" if value.text else ""
    return f'<td dir="auto">{marked(value.head)}{text}{marked(value.tail)}</td>'


def html_list(name: str, heading: str, lines: list[str]) -> str:
    """Make a list of lines; nothing without any."""
    items = "".join([f"<li>{marked(line)}</li>" for line in lines])
    title = f"<strong>{heading}</strong>" if heading else ""
    return f'<div class="{name}">{title}<ul>{items}</ul></div>' if items else ""
