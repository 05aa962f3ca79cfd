"""Board: every template in every language, and the state of each content.

"Live" is what `is_draft` says: not a draft. Whether the platform has approved it, the API does
not show. "Out of date" is what can be seen of a source language that moved on: it was written
later than the translation, where the service shows `updated_at` (the API document does not name
that field), or placeholders, header or buttons are others than those of the source. So a source
whose words alone were changed is not seen without the times; with them, every write counts as a
change, the smallest one too, and a translation that was written later counts as up to date
whatever was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from chatkit.display import columns, cut, many, squeezed, visible
from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.audit import Audit, check_contents, notes_of, source_of
from chatkit.localization.content import Contents, Entry, entries, grouped
from chatkit.localization.rules import STRUCTURE, ContentFinding
from chatkit.report import LABEL, WIDTH, Report, html_heading, marked, wrapped

if TYPE_CHECKING:
    import pandas as pd


State = Literal["missing", "draft", "live", "broken", "out of date"]
STATES: tuple[State, ...] = ("live", "draft", "out of date", "broken", "missing")
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
.chatkit-board .late { background: rgba(245, 150, 0, 0.24); }
.chatkit-board .broken { background: rgba(229, 57, 53, 0.24); }
.chatkit-board .missing { outline: 1px dashed var(--jp-border-color2, #8888); }
.chatkit-board b { display: inline-block; font-weight: 600; width: 1.1em; }
.chatkit-board.chatkit-board td.why { white-space: pre-wrap; }
.chatkit-board summary { cursor: pointer; }
"""


class BoardCell(NamedTuple):
    """One template in one language: its state, and why it is no better."""

    template_code: str
    lang_code: str  #: as the content has it; as the column says where there is none
    state: State
    reasons: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Why, in one line."""
        return "; ".join(self.reasons)


class Board(Report):
    """The states of all templates in all languages, by template code and language."""

    _name, _style = "chatkit-board", _STYLE

    def __init__(
        self,
        cells: Mapping[tuple[str, str], BoardCell],
        codes: Sequence[str],
        languages: Sequence[str],
        source: str,
        audit: Audit,
    ) -> None:
        self._cells = dict(cells)
        self.codes = tuple(codes)
        #: The languages: the source first, then by code.
        self.languages = tuple(languages)
        self.source = source
        #: All that was found in the contents.
        self.audit = audit

    def __getitem__(self, place: tuple[str, str]) -> BoardCell:
        template_code, lang_code = place
        found = self._cells.get((template_code, lang_code))
        return found or self._cells[template_code, language.normal(lang_code)]

    def __iter__(self) -> Iterator[BoardCell]:
        return (self._cells[code, lang] for code in self.codes for lang in self.languages)

    def __len__(self) -> int:
        return len(self._cells)

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

    def _text(self) -> list[list[str]]:
        return _as_text(self)

    def _html(self) -> list[str]:
        return _as_html(self)


def board(
    contents: Contents,
    source: str = "en",
    *,
    codes: Iterable[str] = (),
    languages: Iterable[str] = (),
    audit: Audit | None = None,
) -> Board:
    """Put contents on a board: template × language, with the state of each.

    Args:
        contents: A frame of contents, read with `full=True` to see all that is broken; or
            several contents.
        source: The language that the others are translated from.
        codes: Templates to show although they have no content at all.
        languages: Languages to show although no template has them.
        audit: What `check` found in these contents, if it was asked already.

    Raises:
        InputError: They are no contents, or a frame does not tell their languages.
    """
    if isinstance(codes, str) or isinstance(languages, str):
        raise InputError("Pass codes and languages as lists: codes=['order_ready'].")
    found = entries(contents)
    audit = check_contents(found, source) if audit is None else audit
    broken: dict[tuple[str, str], list[ContentFinding]] = {}
    drifted: dict[tuple[str, str], list[ContentFinding]] = {}
    for each in audit:
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
            late = [each.message for each in drifted.get(place, ())]
            if original is not None and entry is not original and _older(entry, original):
                late.insert(0, f"{original.lang_code} was written later")
            wrong = [f"{each.code}: {each.message}" for each in broken.get(place, ())]
            cell = _cell(entry, wrong, late)
            # of two that mean the same language the first counts; the audit tells of both
            cells.setdefault((template, language.normal(entry.lang_code)), cell)
    wanted = dict.fromkeys(language.normal(lang) for lang in languages)
    columns = _in_order({*wanted, *(lang for _, lang in cells)}, source)
    rows = list(dict.fromkeys((*members, *codes)))
    for code in rows:
        for lang in columns:
            cells.setdefault((code, lang), BoardCell(code, lang, "missing"))
    return Board(cells, rows, columns, source, audit)


def _cell(entry: Entry, wrong: list[str], late: list[str]) -> BoardCell:
    draft = entry.flag("is_draft") is True
    state: State = "draft" if draft else "live"
    reasons = ["it is a draft"] if draft else []
    if late:
        state, reasons = "out of date", [*late, *reasons]
    if wrong:
        state, reasons = "broken", [*wrong, *reasons]
    return BoardCell(entry.template_code, entry.lang_code, state, tuple(reasons))


def _in_order(languages: Iterable[str], source: str) -> list[str]:
    """Put the source language first, then its relatives, then all others by their code."""
    own, base = language.normal(source), language.base(source)
    return sorted(languages, key=lambda lang: (lang != own, language.base(lang) != base, lang))


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
    "out of date": "↻",
    "broken": "✗",
    "missing": "·",
}
_ROWS = 20  #: templates of the text
_FIRST, _CELLS = 25, 3000  #: templates that are shown at once, and contents at all
_REASONS = 200  #: contents whose reasons are written out
_WHY = 120  #: characters of a reason


def heading(board: Board) -> str:
    """Count the board in words."""
    rows, across = many(len(board.codes), "template"), many(len(board.languages), "language")
    said = ", ".join(f"{count:,} {state}" for state, count in board.counts().items() if count)
    return f"{rows} × {across}: {said or 'nothing'}."


# --- as text ------------------------------------------------------------------------------


def _as_text(board: Board) -> list[list[str]]:
    """Render signs below the languages, in as many tables as are needed."""
    blocks = [wrapped("", heading(board))]
    codes = board.codes[:_ROWS]
    names = {code: squeezed(code, LABEL) or "(one template)" for code in codes}
    first = max(map(columns, names.values()), default=0) + 2
    heads = {lang: cut(lang, 12) for lang in board.languages}
    left = list(board.languages) if codes else []
    while left:
        part: list[str] = []
        room = WIDTH - first
        while left and (not part or room >= columns(heads[left[0]]) + 2):
            part.append(left.pop(0))
            room -= columns(heads[part[-1]]) + 2
        lines = [" " * first + "".join(_padded(heads[lang], heads[lang]) for lang in part)]
        for code in codes:
            signs = [_padded(SIGNS[board[code, lang].state], heads[lang]) for lang in part]
            lines.append(_padded(names[code], " " * (first - 2)) + "".join(signs))
        blocks.append([line.rstrip() for line in lines])
    if (more := len(board.codes) - _ROWS) > 0:
        blocks.append([f"… and {many(more, 'more template')}: board.frame() has them all."])
    shown = [state for state, count in board.counts().items() if count]
    blocks.append(["  ".join(f"{SIGNS[state]} {state}" for state in shown)])
    blocks.append([line for note in notes_of(board.audit) for line in wrapped("", note)])
    return [block for block in blocks if any(block)]


def _padded(text: str, like: str) -> str:
    return text + " " * (max(columns(like) - columns(text), 0) + 2)


# --- as HTML ------------------------------------------------------------------------------


def _as_html(board: Board) -> list[str]:
    title = heading(board)
    heads = "".join(
        f'<th scope="col" dir="ltr">{marked(cut(lang, LABEL))}'
        f"<small>{marked(visible(language.name(lang)))}</small></th>"
        for lang in board.languages
    )
    head = f'<thead><tr><th scope="col">template</th>{heads}</tr></thead>'
    most = max(_CELLS // max(len(board.languages), 1), _FIRST)
    rows = [_row(board, code) for code in board.codes[:most]]
    body = f'<tbody dir="ltr">{"".join(rows[:_FIRST])}'
    table = f"<table><caption hidden>{marked(title)}</caption>{head}{body}"
    parts = [html_heading(title), f"{table}</tbody></table>"]
    if len(rows) > _FIRST:
        unseen = len(board.codes) - len(rows)
        rest = f"<p>… and {unseen:,} more: <code>board.frame()</code> has them all.</p>"
        parts.append(
            f"<details><summary>{len(board.codes) - _FIRST:,} more</summary><table>{head}"
            '<tbody dir="ltr">'
            f"{''.join(rows[_FIRST:])}</tbody></table>{rest if unseen else ''}</details>"
        )
    parts.append(_reasons(board))
    return [*parts, *(f"<p>{marked(note)}</p>" for note in notes_of(board.audit))]


def _reasons(board: Board) -> str:
    """Say why contents are broken or out of date: a tooltip is not for everyone."""
    cells = [cell for cell in board if cell.state in ("broken", "out of date")]
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


def _name(code: str) -> str:
    """Name a template; a frame of one template does not tell its code."""
    return marked(squeezed(code, LABEL)) or "(one template)"


def _row(board: Board, code: str) -> str:
    cells = "".join(_html_cell(board[code, lang]) for lang in board.languages)
    return f'<tr><th scope="row" dir="auto">{_name(code)}</th>{cells}</tr>'


def _html_cell(cell: BoardCell) -> str:
    name = "late" if cell.state == "out of date" else cell.state
    why = f' title="{escape(cut(cell.reason, _WHY))}"' if cell.reason else ""
    return f'<td class="{name}"{why}><b>{SIGNS[cell.state]}</b> {cell.state}</td>'
