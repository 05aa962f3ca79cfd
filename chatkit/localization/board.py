"""Board: every template in every language, and the state of each content.

"Live" means not a draft; the API does not show whether the platform has approved it. "Stale" is a
translation whose source moved on: the ledger has another text that it was made from than the
source has now; or its placeholders, header or buttons are not those of the source. "Unknown" is
one that is live and not in the ledger: it was written elsewhere, or before there was a ledger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, date, datetime
from functools import cached_property, partial
from html import escape
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.audit import (
    Audit,
    check_contents,
    find_missing_fields,
    make_missing_fields_note,
    review_contents,
)
from chatkit.localization.checks import AGREED, STRUCTURE, ContentFinding
from chatkit.localization.content import Contents, Entry, read_entries, shorten_list
from chatkit.localization.ledger import (
    Ledger,
    Provenance,
    SourceChange,
    draw_changes,
    format_changes,
)
from chatkit.localization.table import make_attribute_frame, make_frame, make_states_frame
from chatkit.report import (
    FEW,
    LABEL,
    WIDTH,
    Report,
    ReportPart,
    ReportRow,
    folded,
    html_heading,
    html_tables,
    marked,
    paragraph,
    rows_table,
    wrapped,
)
from chatkit.util.display import columns, cut, cut_middle, many, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.localization.glossary import Glossary

State = Literal["live", "draft", "stale", "unknown", "broken", "missing"]
STATES: tuple[State, ...] = get_args(State)
_COLUMNS = ("template_code", "lang_code", "state", "reason")

_STYLE = Path(__file__).with_suffix(".css").read_text("utf-8")


class BoardCell(NamedTuple):
    """One template in one language: its state, and the reasons for it."""

    template_code: str
    lang_code: str  #: that of the content; that of the column where there is no content
    state: State
    reasons: tuple[str, ...] = ()
    changes: tuple[SourceChange, ...] = ()  #: the texts whose source has changed

    @property
    def reason(self) -> str:
        """The reason for its state, in one line."""
        return "; ".join(self.reasons)


class ContentChange(NamedTuple):
    """A change of one content, with its author and its run."""

    template_code: str
    lang_code: str
    at: str  #: ISO 8601, UTC
    by: str  #: who it was; empty where nobody recorded it
    run: str  #: empty for what was written without a plan
    change: str  #: create, update or delete; write where the ledger alone tells of it
    fields: str  #: those that were sent


@dataclass(eq=False, repr=False)
class Board(Report):
    """The states of all templates in all languages, by template code and language."""

    _name, _style = "chatkit-board", _STYLE

    _cells: Mapping[tuple[str, str], BoardCell]
    codes: Sequence[str]
    languages: Sequence[str]  #: the source first, then by code
    source: str
    _: KW_ONLY
    _make_audit: Callable[[], Audit] = lambda: check_contents(())
    _unseen: Sequence[str] = ()  #: fields that were not read of some contents
    #: The time since when something was changed in each template that is in it.
    since: datetime | None = None
    _changed: Sequence[ContentChange] = ()

    def __getitem__(self, place: tuple[str, str]) -> BoardCell:
        code, lang = place
        return self._cells.get(place) or self._cells[code, language.normalize(lang)]

    def __iter__(self) -> Iterator[BoardCell]:
        return (self._cells[code, lang] for code in self.codes for lang in self.languages)

    def __len__(self) -> int:
        return len(self._cells)

    @cached_property
    def audit(self) -> Audit:
        """The findings in all contents, which are checked when this is first read."""
        return self._make_audit()

    def counts(self) -> dict[State, int]:
        """Count the contents of each state."""
        count = Counter(cell.state for cell in self)
        return {state: count[state] for state in STATES}

    def frame(self) -> pd.DataFrame:
        """Return the states as a DataFrame: a row for each template, a column for each language."""
        states = {place: cell.state for place, cell in self._cells.items()}
        return make_states_frame(states, self.codes, self.languages)

    def cells(self, *states: State) -> pd.DataFrame:
        """Return a DataFrame with a row for each content: its state and the reason for it.

        Args:
            *states: Only those in these states.
        """
        cells = [cell for cell in self if not states or cell.state in states]
        return make_attribute_frame(cells, _COLUMNS)

    def changes(self) -> pd.DataFrame:
        """Return a DataFrame of the changes since the time that was passed to `board`.

        It has a row for each content of each run, the earliest first, and names the author.
        `chatkit.account.journal(run)` shows all of a run, and `chatkit.undo(run)` takes it back,
        if it was begun here. An edit by a single call without a plan, and the records of a merged
        ledger of colleagues, have rows too: of translations alone, as a ledger has no others.

        Raises:
            InputError: No time was passed.
        """
        if self.since is None:
            raise InputError(
                "This board was made without since=, so it has no changes: "
                'board(since="2026-11-01") has.'
            )
        return make_frame(self._changed, ContentChange._fields)

    def sources(self) -> pd.DataFrame:
        """Return a DataFrame of the texts whose source changed: the source before and after.

        It has a row for each text of each stale content: `before` is the source that it was
        made from, `after` the source of today, empty if it was taken out.
        """
        rows = [
            (cell.template_code, cell.lang_code, each.field, each.before, each.after)
            for cell in self
            for each in cell.changes
        ]
        return make_frame(rows, ("template_code", "lang_code", "field", "before", "after"))

    def _parts(self) -> list[ReportPart]:
        """Return the board as text: tables with a sign for each content, as wide as lines are."""
        blocks = [wrapped("", format_heading(self))]
        codes = self.codes[:_MAX_TEXT_ROWS]
        names = {code: cut_middle(code, LABEL) for code in codes}
        first = max(map(columns, names.values()), default=0)
        heads = {lang: cut(lang, 12) for lang in self.languages}
        tables, width = list[list[str]](), WIDTH
        for lang, head in heads.items() if codes else ():
            width += columns(head) + 2
            if width > WIDTH:
                tables.append([])
                width = first + 2 + columns(head) + 2
            tables[-1].append(lang)
        for table in tables:
            lines = ["".join([_pad("", first), *(_pad(heads[lang]) for lang in table)])]
            for code in codes:
                signs = [
                    _pad(SIGNS[self[code, lang].state], columns(heads[lang])) for lang in table
                ]
                lines.append("".join([_pad(names[code], first), *signs]))
            blocks.append([line.rstrip() for line in lines])
        if (more := len(self.codes) - _MAX_TEXT_ROWS) > 0:
            blocks.append([f"… and {many(more, 'more template')}: board.frame() has them all."])
        used = [state for state, count in self.counts().items() if count]
        blocks.append(["  ".join(f"{SIGNS[state]} {state}" for state in used)])
        return [
            *(ReportPart(block) for block in blocks if any(block)),
            ReportPart(html=self._html),
            _make_changes_part(self),
            *map(paragraph, make_missing_fields_note(self._unseen)),
        ]

    def _html(self) -> str:
        names = {"template": 0}
        for lang in self.languages:
            name = (
                f"{marked(cut(lang, LABEL))}<small>{marked(visible(language.name(lang)))}</small>"
            )
            names[name] = 0
        most = max(_MAX_CELLS // max(len(self.languages), 1), _FIRST_ROWS)
        rows = [_draw_row(self, code) for code in self.codes[:most]]
        first, more = rows[:_FIRST_ROWS], rows[_FIRST_ROWS:]
        table = html_tables(names, first, more, len(self.codes), "board.frame()")
        return "".join([html_heading(format_heading(self)), table, _draw_reasons(self)])


def board(
    contents: Contents,
    source: str = "en",
    *,
    codes: Iterable[str] = (),
    languages: Iterable[str] = (),
    ledger: Ledger | None = None,
    glossary: Glossary | None = None,
    since: datetime | None = None,
    changed: Sequence[ContentChange] = (),
) -> Board:
    """Make a board of contents: template × language, with the state of each.

    Args:
        contents: A frame of contents, read with `full=True` to see all that is broken; or
            several contents.
        source: The language that the others are translated from.
        codes: Templates to show although they have no content at all.
        languages: Languages to show although no template has them.
        ledger: The record of their sources, and of silenced findings; without it nothing is
            unknown.
        glossary: The words of translations, for the audit of the board.
        since: Show only templates in which something was changed since then.
        changed: The changes since then.

    Raises:
        InputError: They are no contents, or a frame has no languages.
    """
    if isinstance(codes, str) or isinstance(languages, str):
        raise InputError("Pass codes and languages as lists: codes=['order_ready'].")
    members = read_entries(contents)
    cells: dict[tuple[str, str], BoardCell] = {}
    for entry, original, findings in review_contents(members, source, ("content", "state")):
        place = entry.template_code, language.normalize(entry.lang_code)
        # of two that mean the same language the first counts; the audit has both
        if place not in cells:
            cells[place] = _make_cell(entry, original, findings, ledger)
    rows = list(dict.fromkeys((*(code for code, _ in cells), *codes)))
    used = {*map(language.normalize, languages), *(lang for _, lang in cells)}
    if since is not None:
        changed = [each for each in changed if each.template_code in rows]
        touched = {each.template_code for each in changed}
        rows = [code for code in rows if code in touched]
    columns = language.sort_codes(used, source)
    places = product(rows, columns)
    return Board(
        {place: cells.get(place) or BoardCell(*place, "missing") for place in places},
        *(tuple(rows), tuple(columns), source),
        _make_audit=partial(check_contents, members, source, glossary=glossary, ledger=ledger),
        _unseen=find_missing_fields(members),
        since=since,
        _changed=changed,
    )


def list_recorded_changes(
    ledger: Ledger, since: datetime, exclude: Collection[str]
) -> list[ContentChange]:
    """List the contents whose translations were written since a time, by the ledger.

    Args:
        ledger: The records of this account, and those merged from colleagues.
        since: With an offset.
        exclude: Runs to leave out, whose journals have the changes and their outcome.
    """
    start = since.astimezone(UTC).isoformat(timespec="microseconds")
    fields: dict[tuple[str, str, str, str, str], dict[str, None]] = {}
    for key, origin in sorted(ledger.origins.items()):
        if origin.at >= start and origin.how in ("apply", "import") and origin.run not in exclude:
            place = key.template_code, key.lang_code, origin.at, origin.by, origin.run
            fields.setdefault(place, {})[key.field.partition(".")[0]] = None
    return [ContentChange(*place, "write", ", ".join(names)) for place, names in fields.items()]


def parse_time(since: object) -> datetime:
    """Parse a date or a time that a person wrote, in UTC if it has no offset.

    Raises:
        InputError: It is neither.
    """
    if isinstance(since, date) and not isinstance(since, datetime):
        since = since.isoformat()
    try:
        time = datetime.fromisoformat(since) if isinstance(since, str) else since
    except ValueError:
        time = None
    if not isinstance(time, datetime):
        raise InputError(f'since= takes a date like "2026-11-01", or a time, not {since!r:.40}.')
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _make_cell(
    entry: Entry,
    original: Entry | None,
    findings: Sequence[ContentFinding],
    ledger: Ledger | None,
) -> BoardCell:
    """Make the cell of one content: its state with all reasons, the gravest first."""
    refused = [f"{each.code}: {each.message}" for each in findings if each.refused]
    differs = [each for each in findings if each.code in STRUCTURE]
    record = Provenance()
    reasons = ["it is a draft"] if entry.is_draft else []
    if original is not None and ledger is not None:
        record = ledger.provenance(entry, original)
        if differs and ledger.is_structure_accepted(entry, original):
            differs = [each for each in differs if each.code not in AGREED]
    structure = [each.message for each in differs]
    state: State = "draft" if entry.is_draft else "unknown" if record.unknown else "live"
    if record.changes or structure:
        lang, state = original.lang_code if original else "", "stale"
        changed = [
            f"{each.what} has changed in {lang} since"
            if each.after
            else f"{each.what} was taken out in {lang}"
            for each in record.changes
        ]
        reasons = [*changed, *structure, *reasons]
    elif original and record.unknown and not refused:
        lang = original.lang_code
        reasons.append(f"it is not recorded from which text in {lang} it was made")
    if refused:
        state, reasons = "broken", [*refused, *reasons]
    return BoardCell(entry.template_code, entry.lang_code, state, tuple(reasons), record.changes)


# --- the words of a board ------------------------------------------------------------------------

SIGNS: dict[State, str] = {
    "live": "✓",
    "draft": "○",
    "stale": "↻",
    "unknown": "?",
    "broken": "✗",
    "missing": "·",
}
#: The meaning of each state.
MEANINGS: dict[State, str] = {
    "live": "not a draft, and made from the source as it is",
    "draft": "not live yet",
    "stale": "its source has changed since it was made",
    "unknown": "live, and nobody has recorded from which source: accept() does",
    "broken": "the platform would refuse it",
    "missing": "the template has no content in this language",
}
_MAX_TEXT_ROWS = 20  #: templates of the text
_FIRST_ROWS, _MAX_CELLS = 25, 3000  #: templates that are shown at once, and contents in all
_MAX_REASONS = 200  #: contents whose reasons are written out
_REASON_LENGTH = 120  #: characters of a reason
_SOURCE_LENGTH = 400  #: characters of a source text


def format_heading(board: Board) -> str:
    """Return the heading of a board: its size and the count of each state."""
    rows, across = many(len(board.codes), "template"), many(len(board.languages), "language")
    counts = ", ".join(f"{count:,} {state}" for state, count in board.counts().items() if count)
    title = f"{rows} × {across}: {counts or 'nothing'}."
    return title if board.since is None else f"{_format_changes_heading(board)} {title}"


def _format_changes_heading(board: Board) -> str:
    """Return the sentence that counts the changed contents, and the runs that changed them."""
    runs = len({each.run for each in board._changed if each.run})
    single = sum(not each.run for each in board._changed)
    contents = len({each[:2] for each in board._changed})
    when = f"{board.since:%Y-%m-%d}"
    counted = [many(runs, "run")] * bool(runs) + [many(single, "single edit")] * bool(single)
    if not counted:
        return f"Nothing that is recorded on this computer has changed a content since {when}."
    return f"{' and '.join(counted)} changed {many(contents, 'content')} since {when}."


def _pad(text: str, width: int = 0) -> str:
    return text + " " * (max(width - columns(text), 0) + 2)


def _make_changes_part(board: Board) -> ReportPart:
    """Show each changed source once, with all languages made from the earlier one.

    As text with [-what was taken out-] and {+what was put in+}, as HTML next to each other.
    """
    alike: dict[tuple[str, SourceChange], list[str]] = {}
    for cell in board:
        for each in cell.changes:
            alike.setdefault((cell.template_code, each), []).append(cell.lang_code)
    rows = []
    for (code, change), codes in list(alike.items())[:_MAX_REASONS]:
        langs = shorten_list([cut(lang, 20) for lang in codes], FEW)
        label = f"{cut_middle(code, LABEL)} {change.field} ({langs})"
        sources = change.before[:_SOURCE_LENGTH], change.after[:_SOURCE_LENGTH]
        lines = [f"The source of {label} has changed:", *wrapped("    ", format_changes(*sources))]
        html = f'<th scope="row" dir="auto">{marked(label)}</th>'
        for kind in ("out", "in"):
            html += f'<td class="side" dir="auto">{draw_changes(*sources, ("same", kind))}</td>'
        rows.append(ReportRow(lines, html=html))
    widths = dict.fromkeys(("text", "source before", "now"), 0)
    part = rows_table(widths, rows, len(alike), "board.sources()")
    summary = f"What changed in {many(len(alike), 'source text')}"
    return part._replace(html=folded(summary, [part]) if rows else "")


def _draw_reasons(board: Board) -> str:
    """List the reasons of broken and stale contents as HTML: a tooltip is not for everyone."""
    cells = [cell for cell in board if cell.state in ("broken", "stale")]
    rows = [
        ReportRow(
            (),
            html=f'<th scope="row" dir="auto">{marked(cut_middle(cell.template_code, LABEL))}</th>'
            f'<td dir="auto">{marked(cut(cell.lang_code, LABEL))}</td>{_draw_cell(cell)}'
            f'<td class="why" dir="auto">{marked(cut(cell.reason, 2 * _REASON_LENGTH))}</td>',
        )
        for cell in cells[:_MAX_REASONS]
    ]
    need = "content needs" if len(cells) == 1 else "contents need"
    widths = dict.fromkeys(("template", "language", "state", "why"), 0)
    part = rows_table(widths, rows, len(cells), "board.cells()")
    return folded(f"Why {len(cells):,} {need} work", [part]) if rows else ""


def _draw_row(board: Board, code: str) -> str:
    cells = "".join(_draw_cell(board[code, lang]) for lang in board.languages)
    head = marked(cut_middle(code, LABEL))
    return f'<tr><th scope="row" dir="auto">{head}</th>{cells}</tr>'


def _draw_cell(cell: BoardCell) -> str:
    title = f' title="{escape(cut(cell.reason, _REASON_LENGTH))}"' if cell.reason else ""
    return f'<td class="{cell.state}"{title}><b>{SIGNS[cell.state]}</b> {cell.state}</td>'
