"""Board: every template in every language, and the state of each content.

"Live" is what `is_draft` says: not a draft. Whether the platform has approved it, the API does
not show. "Stale" is a translation whose source moved on: the ledger knows from which text it was
made, and that is not the text that the source has now; or its placeholders, header or buttons
are others than those of the source. "Unknown" is one that is live, and of which the ledger knows
nothing: it was written elsewhere, or before there was a ledger. Of these alone the times count,
where the service shows `updated_at` (the API document does not name that field): a source that was
written later makes them stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.audit import (
    Audit,
    check_contents,
    decisive,
    fields_missing,
    not_given_note,
    notes_of,
)
from chatkit.localization.content import Contents, Entry, entries, grouped, source_of
from chatkit.localization.ledger import Judged, Ledger, SourceChange
from chatkit.localization.rules import AGREED, STRUCTURE, ContentFinding
from chatkit.report import FEW, LABEL, WIDTH, Report, html_heading, html_list, marked, wrapped
from chatkit.util.display import changed_words, columns, cut, many, squeezed, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.localization.glossary import Glossary

State = Literal["live", "draft", "stale", "unknown", "broken", "missing"]
STATES: tuple[State, ...] = get_args(State)
_COLUMNS = ("template_code", "lang_code", "state", "reason")


_STYLE = """
.chatkit-board.chatkit-board { max-width: 100%; overflow-x: auto; }
.chatkit-board.chatkit-board p { margin: 0.6em 0; }
.chatkit-board.chatkit-board table { border-collapse: separate; border-spacing: 2px; margin: 0; }
.chatkit-board.chatkit-board tr:nth-child(n) { background: none; }
.chatkit-board.chatkit-board :is(td, th) { border: none; font-weight: normal; max-width: 24em;
  overflow-wrap: break-word; padding: 0.25em 0.6em; text-align: start; vertical-align: top;
  white-space: nowrap; }
.chatkit-board.chatkit-board tbody th { font-weight: 600; max-width: none; }
.chatkit-board thead small { color: var(--jp-ui-font-color2, #767676); display: block;
  font-size: 85%; max-width: 9em; white-space: normal; }
.chatkit-board td { border-radius: 3px; }
.chatkit-board .live { background: rgba(67, 160, 71, 0.20); }
.chatkit-board .draft { background: rgba(3, 136, 209, 0.18); }
.chatkit-board .stale { background: rgba(245, 150, 0, 0.24); }
.chatkit-board .unknown { background: rgba(128, 128, 128, 0.20); }
.chatkit-board .broken { background: rgba(229, 57, 53, 0.24); }
.chatkit-board .missing { outline: 1px dashed var(--jp-border-color2, #8888); }
.chatkit-board b { display: inline-block; font-weight: 600; width: 1.1em; }
.chatkit-board.chatkit-board td.why { white-space: pre-wrap; }
.chatkit-board.chatkit-board td.side { min-width: 18em; white-space: pre-wrap; }
.chatkit-board del { background: rgba(229, 57, 53, 0.18); }
.chatkit-board ins { background: rgba(67, 160, 71, 0.22); }
.chatkit-board summary { cursor: pointer; }
"""


class BoardCell(NamedTuple):
    """One template in one language: its state, and why it is no better."""

    template_code: str
    lang_code: str  #: as the content has it; as the column says where there is none
    state: State
    reasons: tuple[str, ...] = ()
    changes: tuple[SourceChange, ...] = ()  #: the texts whose source is not as it was

    @property
    def reason(self) -> str:
        """Why, in one line."""
        return "; ".join(self.reasons)


class ContentChange(NamedTuple):
    """What was changed in one content, by whom, and by which run."""

    template_code: str
    lang_code: str
    at: str  #: ISO 8601, UTC
    by: str  #: who it was; empty where nobody recorded it
    run: str  #: empty for what was written without a plan
    change: str  #: create, update or delete; write where the ledger alone tells of it
    fields: str  #: those that were sent


class _SourceRow(NamedTuple):
    template_code: str
    lang_code: str
    field: str
    before: str
    after: str


class Board(Report):
    """The states of all templates in all languages, by template code and language."""

    _name, _style = "chatkit-board", _STYLE

    def __init__(
        self,
        cells: Mapping[tuple[str, str], BoardCell],
        codes: Sequence[str],
        languages: Sequence[str],
        source: str,
        audit: Audit | None,
        since: datetime | None = None,
        changed: Sequence[ContentChange] = (),
        contents: Sequence[Entry] = (),
        ledger: Ledger | None = None,
        glossary: Glossary | None = None,
    ) -> None:
        self._cells = dict(cells)
        self.codes = tuple(codes)
        #: The languages: the source first, then by code.
        self.languages = tuple(languages)
        self.source = source
        self._audit, self._contents = audit, contents
        self._ledger, self._glossary = ledger, glossary
        self.since = since  #: the time since when something was changed in each template shown
        self._changed = tuple(changed)

    def __getitem__(self, place: tuple[str, str]) -> BoardCell:
        template_code, lang_code = place
        found = self._cells.get((template_code, lang_code))
        return found or self._cells[template_code, language.normal(lang_code)]

    def __iter__(self) -> Iterator[BoardCell]:
        return (self._cells[code, lang] for code in self.codes for lang in self.languages)

    def __len__(self) -> int:
        return len(self._cells)

    @property
    def audit(self) -> Audit:
        """All that is found in the contents: it is looked for when this is first asked for."""
        if self._audit is None:
            words, known = self._glossary, self._ledger
            self._audit = check_contents(self._contents, self.source, glossary=words, ledger=known)
        return self._audit

    def _notes(self) -> list[str]:
        """Say what could not be checked, and what is silenced, without looking for the rest."""
        if self._audit is None:
            return not_given_note(fields_missing(self._contents))
        return notes_of(self._audit)

    def counts(self) -> dict[State, int]:
        """Count the contents of each state."""
        count = Counter(cell.state for cell in self)
        return {state: count[state] for state in STATES}

    def frame(self) -> pd.DataFrame:
        """Return the states as a DataFrame: a row for each template, a column for each language."""
        from chatkit.localization.table import states_of

        states = {place: cell.state for place, cell in self._cells.items()}
        return states_of(states, self.codes, self.languages)

    def cells(self, *states: State) -> pd.DataFrame:
        """Return a DataFrame with a row for each content: its state, and why it is no better.

        Args:
            *states: Only those in these states.
        """
        from chatkit.localization.table import frame_of

        return frame_of([c for c in self if not states or c.state in states], _COLUMNS)

    def changes(self) -> pd.DataFrame:
        """Return a DataFrame of what was changed since the time that the board was asked for.

        It has a row for each content of each run, the earliest first, and says who it was.
        `chatkit.journal(run)` shows all of a run, and `chatkit.undo(run)` takes it back, if it
        was begun here. What one call wrote without a plan, and what a ledger of colleagues
        that was merged tells, is a row too: of translations alone, as a ledger has no others.

        Raises:
            InputError: It was not asked for one.
        """
        from chatkit.localization.table import frame_of

        if self.since is None:
            raise InputError('This board tells no changes: board(since="2026-11-01") does.')
        return frame_of(self._changed, ContentChange._fields)

    def sources(self) -> pd.DataFrame:
        """Return a DataFrame of the texts whose source changed: as it was, and as it is.

        It has a row for each text of each stale content: `before` is the source that it was
        made from, `after` the source of today, empty if it was taken out.
        """
        from chatkit.localization.table import frame_of

        rows = [
            _SourceRow(cell.template_code, cell.lang_code, each.field, each.before, each.after)
            for cell in self
            for each in cell.changes
        ]
        return frame_of(rows, _SourceRow._fields)

    def _text(self) -> list[list[str]]:
        """Render signs below the languages, in as many tables as are needed."""
        blocks = [wrapped("", heading(self))]
        codes = self.codes[:_ROWS]
        names = {code: squeezed(code, LABEL) or "(one template)" for code in codes}
        first = max(map(columns, names.values()), default=0) + 2
        heads = {lang: cut(lang, 12) for lang in self.languages}
        left = list(self.languages) if codes else []
        while left:
            part: list[str] = []
            room = WIDTH - first
            while left and (not part or room >= columns(heads[left[0]]) + 2):
                part.append(left.pop(0))
                room -= columns(heads[part[-1]]) + 2
            lines = [" " * first + "".join(_padded(heads[lang], heads[lang]) for lang in part)]
            for code in codes:
                signs = [_padded(SIGNS[self[code, lang].state], heads[lang]) for lang in part]
                lines.append(_padded(names[code], " " * (first - 2)) + "".join(signs))
            blocks.append([line.rstrip() for line in lines])
        if (more := len(self.codes) - _ROWS) > 0:
            blocks.append([f"… and {many(more, 'more template')}: board.frame() has them all."])
        shown = [state for state, count in self.counts().items() if count]
        blocks.append(["  ".join(f"{SIGNS[state]} {state}" for state in shown)])
        blocks.append(_changed_text(self))
        blocks.append([line for said in _who(self) for line in wrapped("", said)])
        blocks.append([line for note in self._notes() for line in wrapped("", note)])
        return [block for block in blocks if any(block)]

    def _html(self) -> list[str]:
        title = heading(self)
        heads = "".join(
            f'<th scope="col" dir="ltr">{marked(cut(lang, LABEL))}'
            f"<small>{marked(visible(language.name(lang)))}</small></th>"
            for lang in self.languages
        )
        head = f'<thead><tr><th scope="col">template</th>{heads}</tr></thead>'
        most = max(_CELLS // max(len(self.languages), 1), _FIRST)
        rows = [_row(self, code) for code in self.codes[:most]]
        body = f'<tbody dir="ltr">{"".join(rows[:_FIRST])}'
        table = f"<table><caption hidden>{marked(title)}</caption>{head}{body}"
        parts = [html_heading(title), f"{table}</tbody></table>"]
        if len(rows) > _FIRST:
            unseen = len(self.codes) - len(rows)
            rest = f"<p>… and {unseen:,} more: <code>board.frame()</code> has them all.</p>"
            parts.append(
                f"<details><summary>{len(self.codes) - _FIRST:,} more</summary><table>{head}"
                '<tbody dir="ltr">'
                f"{''.join(rows[_FIRST:])}</tbody></table>{rest if unseen else ''}</details>"
            )
        parts += [_reasons(self), _changed_html(self), html_list("who", "", _who(self))]
        return [*parts, *(f"<p>{marked(note)}</p>" for note in self._notes())]


def board(
    contents: Contents,
    source: str = "en",
    *,
    codes: Iterable[str] = (),
    languages: Iterable[str] = (),
    audit: Audit | None = None,
    ledger: Ledger | None = None,
    glossary: Glossary | None = None,
    since: datetime | None = None,
    changed: Sequence[ContentChange] = (),
) -> Board:
    """Put contents on a board: template × language, with the state of each.

    Args:
        contents: A frame of contents, read with `full=True` to see all that is broken; or
            several contents.
        source: The language that the others are translated from.
        codes: Templates to show although they have no content at all.
        languages: Languages to show although no template has them.
        audit: What `check` found in these contents, if it was asked already.
        ledger: What was recorded of their sources, and what is silenced; without it nothing is
            unknown.
        glossary: What translations say and never say, for the audit of the board.
        since: Show only templates in which something was changed since then.
        changed: What was changed since then.

    Raises:
        InputError: They are no contents, or a frame does not tell their languages.
    """
    if isinstance(codes, str) or isinstance(languages, str):
        raise InputError("Pass codes and languages as lists: codes=['order_ready'].")
    found = entries(contents)
    broken: dict[tuple[str, str], list[ContentFinding]] = {}
    drifted: dict[tuple[str, str], list[ContentFinding]] = {}
    for each in decisive(found, source) if audit is None else audit:
        if each.refused:
            broken.setdefault((each.template_code, each.lang_code), []).append(each)
        elif each.code in STRUCTURE:
            drifted.setdefault((each.template_code, each.lang_code), []).append(each)
    cells: dict[tuple[str, str], BoardCell] = {}
    members = grouped(found)
    for template, group in members.items():
        original = source_of(group, source)
        for entry in group:
            place = template, entry.lang_code
            agreed = bool(ledger and original and ledger.agrees(entry, original))
            structure = [
                each.message
                for each in drifted.get(place, ())
                if not (agreed and each.code in AGREED)
            ]
            wrong = [f"{each.code}: {each.message}" for each in broken.get(place, ())]
            if original is None or entry is original:
                cell = _cell(entry, wrong, structure, Judged(), "")
            else:
                judged = None if ledger is None else ledger.judge(entry, original)
                if (judged is None or judged.unknown) and _older(entry, original):
                    structure.insert(0, f"{original.lang_code} was written later")
                cell = _cell(entry, wrong, structure, judged or Judged(), original.lang_code)
            # of two that mean the same language the first counts; the audit tells of both
            cells.setdefault((template, language.normal(entry.lang_code)), cell)
    wanted = dict.fromkeys(language.normal(lang) for lang in languages)
    columns = language.in_order({*wanted, *(lang for _, lang in cells)}, source)
    rows = list(dict.fromkeys((*members, *codes)))
    if since is not None:
        touched = {each.template_code for each in changed}
        rows = [code for code in rows if code in touched]
        cells = {place: cell for place, cell in cells.items() if place[0] in touched}
        changed = [each for each in changed if each.template_code in {*rows}]
    for code in rows:
        for lang in columns:
            cells.setdefault((code, lang), BoardCell(code, lang, "missing"))
    told = (audit, since, changed, found, ledger, glossary)
    return Board(cells, rows, columns, source, *told)


def recorded_changes(
    ledger: Ledger, since: datetime, besides: Collection[str]
) -> list[ContentChange]:
    """Name the contents whose translation was written since a time, as the ledger tells.

    Args:
        ledger: What was recorded here, and merged from colleagues.
        since: With an offset.
        besides: Runs whose journals tell it: also which of their rows never landed.
    """
    start = since.astimezone(UTC).isoformat(timespec="microseconds")
    found: dict[tuple[str, str, str, str, str], list[str]] = {}
    for spot, origin in sorted(ledger.origins.items()):
        if origin.at >= start and origin.how in ("apply", "import") and origin.run not in besides:
            place = spot.template_code, spot.lang_code, origin.at, origin.by, origin.run
            found.setdefault(place, []).append(spot.field.partition(".")[0])
    return [
        ContentChange(*place, "write", ", ".join(dict.fromkeys(fields)))
        for place, fields in found.items()
    ]


def moment_of(since: object) -> datetime:
    """Read a time that a person wrote: a date, or a time; UTC if it tells no offset.

    Raises:
        InputError: It is none.
    """
    if isinstance(since, date) and not isinstance(since, datetime):
        since = since.isoformat()
    if (found := _moment(since)) is None:
        raise InputError(f'since= takes a date like "2026-11-01", or a time, not {since!r:.40}.')
    return found


def _cell(
    entry: Entry, wrong: list[str], structure: list[str], judged: Judged, source: str
) -> BoardCell:
    """Judge one content; what is graver goes before the rest, and all of it is said."""
    draft = entry.is_draft
    state: State = "draft" if draft else "live"
    reasons = ["it is a draft"] if draft else []
    if judged.unknown:
        state = "draft" if draft else "unknown"
    if judged.unknown and not (structure or wrong or judged.changes):
        reasons.append(_unknown(judged, source))
    if judged.changes or structure:
        state = "stale"
        changed = [
            f"{each.what} has changed in {source} since"
            if each.after
            else f"{each.what} was taken out in {source}"
            for each in judged.changes
        ]
        reasons = [*changed, *structure, *reasons]
    if wrong:
        state, reasons = "broken", [*wrong, *reasons]
    return BoardCell(entry.template_code, entry.lang_code, state, tuple(reasons), judged.changes)


def _unknown(judged: Judged, source: str) -> str:
    """Say of which texts nothing is recorded, where something is of others."""
    first, *more = judged.unknown
    texts = f"{first} and {many(len(more), 'other text')}" if more else first
    who = f"{texts} {'were' if more else 'was'}" if judged.known else "it was"
    return f"it is not recorded from which text in {source} {who} made"


def _older(entry: Entry, source: Entry) -> bool:
    """Whether a content was written before the source, as far as both tell."""
    mine, other = _moment(entry.given.get("updated_at")), _moment(source.given.get("updated_at"))
    return mine is not None and other is not None and mine < other


def _moment(value: Any) -> datetime | None:
    """Read a time; one without an offset is UTC, as the API writes all times."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


# --- what is shown ------------------------------------------------------------------------

SIGNS: dict[State, str] = {
    "live": "✓",
    "draft": "○",
    "stale": "↻",
    "unknown": "?",
    "broken": "✗",
    "missing": "·",
}
#: What each state means, for who points at it.
MEANINGS: dict[State, str] = {
    "live": "not a draft, and made from the source as it is",
    "draft": "not live yet",
    "stale": "its source has changed since it was made",
    "unknown": "live, and nobody has recorded from which source: accept() does",
    "broken": "the platform would refuse it",
    "missing": "the template has no content in this language",
}
_ROWS = 20  #: templates of the text
_FIRST, _CELLS = 25, 3000  #: templates that are shown at once, and contents at all
_REASONS = 200  #: contents whose reasons are written out
_WHY = 120  #: characters of a reason
_CHANGED = 4  #: source texts that changed, of the text
_LONG = 400  #: characters of a source text


def heading(board: Board) -> str:
    """Count the board in words."""
    rows, across = many(len(board.codes), "template"), many(len(board.languages), "language")
    said = ", ".join(f"{count:,} {state}" for state, count in board.counts().items() if count)
    title = f"{rows} × {across}: {said or 'nothing'}."
    return title if board.since is None else f"{_since(board)} {title}"


def _since(board: Board) -> str:
    """Say how many contents were changed, and by how many runs."""
    runs = len({each.run for each in board._changed if each.run})
    single = sum(not each.run for each in board._changed)
    contents = len({each[:2] for each in board._changed})
    when = f"{board.since:%Y-%m-%d}"
    counted = [many(runs, "run")] * bool(runs) + [many(single, "single edit")] * bool(single)
    if not counted:
        return f"Nothing that is recorded on this computer has changed a content since {when}."
    return f"{' and '.join(counted)} changed {many(contents, 'content')} since {when}."


def _who(board: Board) -> list[str]:
    """Say who changed how many contents by which run, the earliest first."""
    found: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for each in board._changed:
        found.setdefault((each.by, each.run), set()).add(each[:2])
    lines = [
        f"{cut(by, LABEL) if by else 'somebody'} changed {many(len(contents), 'content')} "
        + (f"by run {cut(run, LABEL)}" if run else "without a plan")
        for (by, run), contents in found.items()
    ]
    if (more := len(lines) - FEW) > 0:
        lines[FEW:] = [f"… and {more:,} more: board.changes() has them all."]
    return lines


# --- as text ------------------------------------------------------------------------------


class _Changed(NamedTuple):
    """A source text that changed, and the languages that were made from the one before."""

    template_code: str
    change: SourceChange
    languages: list[str]

    @property
    def who(self) -> str:
        """Name the text, and the languages, a few of them."""
        shown = ", ".join(cut(lang, 20) for lang in self.languages[:FEW])
        more = len(self.languages) - FEW
        langs = f"{shown} and {more:,} more" if more > 0 else shown
        return f"{squeezed(self.template_code, LABEL)} {self.change.field}".strip() + f" ({langs})"


def _changed(board: Board) -> list[_Changed]:
    """Put together the languages that were made from the same text."""
    alike: dict[tuple[str, SourceChange], _Changed] = {}
    for cell in board:
        for each in cell.changes:
            key = cell.template_code, each
            alike.setdefault(key, _Changed(*key, [])).languages.append(cell.lang_code)
    return list(alike.values())


def _changed_text(board: Board) -> list[str]:
    """Show what changed in the source: [-what was taken out-] and {+what was put in+}."""
    found = _changed(board)
    lines = []
    for one in found[:_CHANGED]:
        before, after = one.change.before[:_LONG], one.change.after[:_LONG]
        marks = {"same": "{}", "out": "[-{}-]", "in": "{{+{}+}}"}
        said = "".join(
            marks[kind].format(visible(text)) for kind, text in changed_words(before, after)
        )
        lines += [f"The source of {one.who} has changed:", *wrapped("    ", said)]
    if (more := len(found) - _CHANGED) > 0:
        lines.append(f"… and {many(more, 'more text')}: board.sources() has them all.")
    return lines


def _padded(text: str, like: str) -> str:
    return text + " " * (max(columns(like) - columns(text), 0) + 2)


# --- as HTML ------------------------------------------------------------------------------


def _reasons(board: Board) -> str:
    """Say why contents are broken or stale: a tooltip is not for everyone."""
    cells = [cell for cell in board if cell.state in ("broken", "stale")]
    if not cells:
        return ""
    rows = "".join(
        f'<tr><th scope="row" dir="auto">{_name(cell.template_code)}</th>'
        f'<td dir="auto">{marked(cut(cell.lang_code, LABEL))}</td>{_html_cell(cell)}'
        f'<td class="why" dir="auto">{marked(cut(cell.reason, 2 * _WHY))}</td></tr>'
        for cell in cells[:_REASONS]
    )
    unseen = len(cells) - _REASONS
    rest = f"<p>… and {unseen:,} more: <code>board.cells()</code> has them all.</p>"
    need = "content needs" if len(cells) == 1 else "contents need"
    summary = f"<summary>Why {len(cells):,} {need} work</summary>"
    table = f'<table dir="ltr">{rows}</table>'
    return f"<details>{summary}{table}{rest if unseen > 0 else ''}</details>"


def _changed_html(board: Board) -> str:
    """Show the sources that changed, as they were beside as they are, changed words marked."""
    found = _changed(board)
    if not found:
        return ""
    rows = "".join(
        f'<tr><th scope="row" dir="auto">{marked(one.who)}</th>'
        f"{_side(one.change, 'out', 'del')}{_side(one.change, 'in', 'ins')}</tr>"
        for one in found[:_REASONS]
    )
    unseen = len(found) - _REASONS
    rest = f"<p>… and {unseen:,} more: <code>board.sources()</code> has them all.</p>"
    head = "".join(f'<th scope="col">{name}</th>' for name in ("text", "source before", "now"))
    summary = f"<summary>What changed in {many(len(found), 'source text')}</summary>"
    table = f'<table dir="ltr"><thead><tr>{head}</tr></thead>{rows}</table>'
    return f"<details>{summary}{table}{rest if unseen > 0 else ''}</details>"


def _side(change: SourceChange, kind: str, tag: str) -> str:
    """Make the cell of one side; what the other one does not have stands in the tag."""
    parts = [
        f"<{tag}>{marked(visible(text))}</{tag}>" if each == kind else marked(visible(text))
        for each, text in changed_words(change.before[:_LONG], change.after[:_LONG])
        if each in ("same", kind)
    ]
    return f'<td class="side" dir="auto">{"".join(parts)}</td>'


def _name(code: str) -> str:
    """Name a template; a frame of one template does not tell its code."""
    return marked(squeezed(code, LABEL)) or "(one template)"


def _row(board: Board, code: str) -> str:
    cells = "".join(_html_cell(board[code, lang]) for lang in board.languages)
    return f'<tr><th scope="row" dir="auto">{_name(code)}</th>{cells}</tr>'


def _html_cell(cell: BoardCell) -> str:
    why = f' title="{escape(cut(cell.reason, _WHY))}"' if cell.reason else ""
    return f'<td class="{cell.state}"{why}><b>{SIGNS[cell.state]}</b> {cell.state}</td>'
