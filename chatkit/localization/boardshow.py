"""How a board is shown: as text and as HTML, in words and signs, never by colour alone."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from chatkit.bulk.rendering import LABEL, WIDTH, escaped, wrapped
from chatkit.display import columns, cut, many, squeezed, visible
from chatkit.localization import language

if TYPE_CHECKING:
    from chatkit.localization.board import Board, Cell, State

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
_STYLE = """
.chatkit-board.chatkit-board { max-width: 100%; overflow-x: auto; }
.chatkit-board.chatkit-board p { margin: 0.6em 0; }
.chatkit-board.chatkit-board table { border-collapse: separate; border-spacing: 2px; margin: 0; }
.chatkit-board.chatkit-board tr:nth-child(n) { background: none; }
.chatkit-board.chatkit-board :is(td, th) { border: none; font-weight: normal; max-width: 24em;
  overflow-wrap: anywhere; padding: 0.25em 0.6em; text-align: start; vertical-align: top;
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


def heading(board: Board) -> str:
    """Count the board in words."""
    rows, across = many(len(board.codes), "template"), many(len(board.languages), "language")
    said = ", ".join(f"{count:,} {state}" for state, count in board.counts().items() if count)
    return f"{rows} × {across}: {said or 'nothing'}."


def _notes(board: Board) -> list[str]:
    """Say what the states do not tell."""
    if not board.audit.unseen:
        return []
    names = ", ".join(board.audit.unseen)
    return [f"Not given everywhere, so not judged there: {names}. full=True reads them."]


# --- as text ------------------------------------------------------------------------------


def text(board: Board) -> str:
    """Show a board in a terminal: signs below the languages, as many tables as are needed."""
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
    blocks.append([line for note in _notes(board) for line in wrapped("", note)])
    return "\n\n".join("\n".join(block) for block in blocks if any(block))


def _padded(text: str, like: str) -> str:
    return text + " " * (max(columns(like) - columns(text), 0) + 2)


# --- as HTML ------------------------------------------------------------------------------


def html(board: Board) -> str:
    """Show a board in JupyterLab, light and dark; it can be read without its style too."""
    title = escaped(heading(board))
    heads = "".join(
        f'<th scope="col" dir="ltr">{escaped(cut(lang, LABEL))}'
        f"<small>{escaped(visible(language.name(lang)))}</small></th>"
        for lang in board.languages
    )
    head = f'<thead><tr><th scope="col">template</th>{heads}</tr></thead>'
    most = max(_CELLS // max(len(board.languages), 1), _FIRST)
    rows = [_row(board, code) for code in board.codes[:most]]
    body = f'<tbody dir="ltr">{"".join(rows[:_FIRST])}'
    table = f"<table><caption hidden>{title}</caption>{head}{body}"
    parts = [f"<style>{_STYLE}</style><p><strong>{title}</strong></p>{table}</tbody></table>"]
    if len(rows) > _FIRST:
        unseen = len(board.codes) - len(rows)
        rest = f"<p>… and {unseen:,} more: <code>board.frame()</code> has them all.</p>"
        parts.append(
            f"<details><summary>{len(board.codes) - _FIRST:,} more</summary><table>{head}"
            '<tbody dir="ltr">'
            f"{''.join(rows[_FIRST:])}</tbody></table>{rest if unseen else ''}</details>"
        )
    parts.append(_reasons(board))
    parts += [f"<p>{escaped(note)}</p>" for note in _notes(board)]
    # the class names keep JupyterLab from reading $…$ in a code as mathematics
    return f'<div class="chatkit-board tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def _reasons(board: Board) -> str:
    """Say why contents are broken or out of date: a tooltip is not for everyone."""
    cells = [cell for cell in board if cell.state in ("broken", "out of date")]
    if not cells:
        return ""
    rows = "".join(
        f'<tr><th scope="row" dir="auto">{_name(cell.template_code)}</th>'
        f'<td dir="auto">{escaped(cut(cell.lang_code, LABEL))}</td>{_html_cell(cell)}'
        f'<td class="why" dir="auto">{escaped(cut(cell.reason, 2 * _WHY))}</td></tr>'
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
    return escaped(squeezed(code, LABEL)) or "(one template)"


def _row(board: Board, code: str) -> str:
    cells = "".join(_html_cell(board[code, lang]) for lang in board.languages)
    return f'<tr><th scope="row" dir="auto">{_name(code)}</th>{cells}</tr>'


def _html_cell(cell: Cell) -> str:
    name = "late" if cell.state == "out of date" else cell.state
    why = f' title="{escape(cut(cell.reason, _WHY))}"' if cell.reason else ""
    return f'<td class="{name}"{why}><b>{SIGNS[cell.state]}</b> {cell.state}</td>'
