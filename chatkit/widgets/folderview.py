"""Folder view: the files of an account, and beside each what differs from another account."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import TYPE_CHECKING, Any

import traitlets

from chatkit.account import layout
from chatkit.account.folder import Folder, read_state
from chatkit.account.reading import CONTACT
from chatkit.errors import ChatkitError, InputError, safe_repr
from chatkit.report import LABEL, html_heading, marked
from chatkit.util.display import cut, many, visible
from chatkit.widgets.controls import (
    Exported,
    Model,
    draw_saved_table,
    join_module,
    join_styles,
)
from chatkit.widgets.table import draw_changed_words

if TYPE_CHECKING:
    from chatkit.account.comparison import Comparable
    from chatkit.account.reading import AccountState

#: What a file can be, with the words that are said of it.
STATES = ("the same", "different", "only left", "only right")
_SAME, _DIFFERENT, _LEFT, _RIGHT = range(4)
_CONTEXT_LINES = 3  #: lines that are shown before and after what differs
_MOST_LINES = 5000  #: of a file that is compared line by line


class FolderView(Exported, Model):
    """The files of a folder, with what differs from an account beside them; nothing is written.

    Both sides are written as files, in one way: a file that you have only formatted otherwise
    does not differ. Choose a file by a click or with the arrow keys.

    In a program: `choose(path)` shows a file, `read_again()` reads both sides anew, `files()` says
    which files differ.

    Args:
        left: A folder, or whatever `chatkit.compare` takes.
        right: The account to hold it against, or another folder; without it nothing differs.
        contacts: Show contacts.csv too; without it if a folder has that.
        height: How high the list and the file may become, in pixels.

    Raises:
        InputError: A side is none of these, or its files cannot be read.
        CallError: The account cannot be read.

    >>> chatkit.widgets.FolderView(client)
    <folder view: account 1001 of the sandbox: 8 files.>
    """

    _esm = join_module(["keys.js", "elements.js", "folderview.js"])
    _css = join_styles("folderview.css")

    heading = traitlets.Unicode().tag(sync=True)
    states: traitlets.List[str] = traitlets.List(list(STATES)).tag(sync=True)
    #: The path of each file, and the number of its state.
    listed: traitlets.List[Any] = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(-1).tag(sync=True)
    difference = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(480).tag(sync=True)

    def __init__(
        self,
        left: Comparable,
        right: Comparable | None = None,
        *,
        contacts: bool | None = None,
        height: int = 480,
    ) -> None:
        self._sources, self._contacts = (left, right), contacts
        super().__init__(height=height)
        self.read_again()

    def read_again(self) -> None:
        """Read both sides again, and keep the file that is shown, if it is still there.

        Raises:
            InputError: The files cannot be read: `problems` has all that is wrong.
            CallError: The account cannot be read.
        """
        before: str = self._paths[self.chosen] if self.chosen >= 0 else ""
        self._names, self._files = _read_both(*self._sources, contacts=self._contacts)
        self._paths: list[str] = sorted(self._files, key=lambda path: (path.count("/") > 0, path))
        with self.hold_sync():
            self.heading = self._summarize()
            states = [_compare_file(*self._files[path]) for path in self._paths]
            self.listed = [[cut(path, 200), n] for path, n in zip(self._paths, states, strict=True)]
            differing = [n for n, state in enumerate(states) if state != _SAME]
            same = [self._paths.index(before)] if before in self._files else []
            self._show_file([*same, *differing, *range(len(self._paths)), -1][0])

    def choose(self, path: str) -> None:
        """Show a file.

        Raises:
            InputError: There is no such file.
        """
        if path not in self._files:
            raise InputError(f"There is no file {path!r:.80}: files() lists them.")
        self._show_file(self._paths.index(path))

    def files(self) -> dict[str, str]:
        """Return the files by path, and of each whether it is the same on both sides."""
        return {path: STATES[_compare_file(*self._files[path])] for path in self._paths}

    def _show_file(self, n: int) -> None:
        with self.hold_sync():
            self.chosen, self.difference = n, ""
            if n >= 0:
                path = self._paths[n]
                texts = self._files[path]
                state = "" if self._sources[1] is None else STATES[_compare_file(*texts)]
                title = f"{marked(visible(path))} <span>{state}</span>"
                title = f'<div class="fv-title" dir="auto">{title}</div>'
                self.difference = f"{title}{self._draw_table(path)}"

    def _draw_table(self, path: str) -> str:
        columns = list(zip(self._names, self._files[path], strict=True))
        return _draw_diff_table(columns[:1] if self._sources[1] is None else columns)

    def _receive(self, message: Any) -> None:
        match message:
            case {"open": int(n)} if 0 <= n < len(self._paths):
                self._show_file(n)
            case {"again": True}:
                try:
                    self.read_again()
                except ChatkitError as error:
                    self.heading = f"It cannot be read again: {error}"

    def _summarize(self) -> str:
        count = many(len(self._files), "file")
        left, right = (visible(name) for name in self._names)
        if self._sources[1] is None:
            return f"{left}: {count}."
        differ = sum(_compare_file(*texts) != _SAME for texts in self._files.values())
        of = f"{differ:,} of {count} {'differs' if differ == 1 else 'differ'}"
        return f"{left} beside {right}: {of if differ else f'{count}, all the same'}."

    @safe_repr
    def __repr__(self) -> str:
        return f"<folder view: {self._summarize()}>"

    def _make_saved_page(self) -> str:
        alone = self._sources[1] is None
        rows = [
            [marked(visible(path)), "" if alone else state]
            for path, state in self.files().items()
            if alone or state != STATES[_SAME]
        ]
        table = draw_saved_table(["file", ""], rows) if rows else ""
        look = f"<style>{self._css}</style>"
        return (
            f'<div class="fv-page">{look}{html_heading(self.heading)}{table}{self.difference}</div>'
        )


# --- both sides as files --------------------------------------------------------------------

#: The text of a file on both sides; None for no file.
_Texts = tuple[str | None, str | None]


def _read_both(
    left: Comparable, right: Comparable | None, *, contacts: bool | None
) -> tuple[tuple[str, str], dict[str, _Texts]]:
    """Read both sides; return their names, and the texts of their files by path."""
    first = read_state(left, contacts=contacts)
    if right is None:
        second = first
    else:
        codes = tuple(dict.fromkeys([*first.codes, *getattr(right, "codes", ())]))
        contacts = CONTACT in first.records if contacts is None else contacts
        second = read_state(right, contacts=contacts, codes=codes or None)
    paths: layout.Paths = {}
    if isinstance(left, Folder):
        paths |= layout.FolderReader(left._read_files(contacts=False)).read().paths
    names = layout.PathNames(paths, paths.values())
    texts = [_write_files(state, paths, names) for state in (first, second)]
    files = {path: (texts[0].get(path), texts[1].get(path)) for path in {**texts[0], **texts[1]}}
    return (first.origin, second.origin), files


def _write_files(
    state: AccountState, paths: layout.Paths, names: layout.PathNames
) -> dict[str, str]:
    """Return the texts of the files of an account, by path."""
    texts: dict[str, bytes] = {}
    for noun in layout.RECORD_FILES:
        for name, fields in state.get(noun).items():
            if (noun, name) not in paths:
                paths[noun, name] = names.make_path(noun, name)
            path = paths[noun, name]
            texts[path] = layout.format_record(noun, name, fields, path)
    if CONTACT in state.records:
        texts[layout.CONTACTS] = layout.format_contacts(state.get(CONTACT), layout.EDITABLE)
    return {path: text.decode() for path, text in texts.items()}


def _compare_file(left: str | None, right: str | None) -> int:
    if left is None or right is None:
        return _LEFT if right is None else _RIGHT
    return _SAME if left == right else _DIFFERENT


# --- two texts beside each other ------------------------------------------------------------


#: The number and the HTML of a line on both sides, None for no line; whether they differ.
_LinePair = tuple[tuple[int, str] | None, tuple[int, str] | None, bool]


def _draw_diff_table(columns: Sequence[tuple[str, str | None]]) -> str:
    """Draw texts in columns: differences are marked, long equal parts are folded.

    Args:
        columns: The heading and the text of each side, None for no file; one if only one is
            shown.
    """
    texts = [[] if text is None else text.splitlines() for _, text in columns]
    if max(map(len, texts)) > _MOST_LINES:
        counts = " and ".join(f"{len(lines):,}" for lines in texts)
        return f"<p>{counts} lines are too many to be shown here.</p>"
    heads = ""
    prefixes = ("left, new: ", "right, old: ") if len(columns) > 1 else ("",)
    for (name, text), prefix in zip(columns, prefixes, strict=True):
        heading = prefix + marked(cut(name, LABEL)) + (": not there" if text is None else "")
        heads += f'<th scope="col" colspan="2">{heading}</th>'
    widths = '<col class="fv-n"><col>' * len(columns)
    bodies = "".join(_draw_bodies(list(_pair_lines(texts[0], texts[-1])), len(columns)))
    return (
        f'<table class="fv-diff" dir="ltr"><colgroup>{widths}</colgroup>'
        f"<thead><tr>{heads}</tr></thead>{bodies}</table>"
    )


def _pair_lines(one: list[str], two: list[str]) -> Iterator[_LinePair]:
    """Pair the lines of both texts, with the differing words marked."""
    opcodes = SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
    for kind, i, j, k, m in opcodes:
        for n in range(max(j - i, m - k)):
            left = one[i + n] if i + n < j else None
            right = two[k + n] if k + n < m else None
            if left is None or right is None or kind == "equal":
                out, put = marked(visible(right or "")), marked(visible(left or ""))
            else:
                out, put = draw_changed_words(right, left)
            yield (
                None if left is None else (i + n + 1, put),
                None if right is None else (k + n + 1, out),
                kind != "equal",
            )


def _draw_bodies(lines: Sequence[_LinePair], width: int) -> Iterator[str]:
    """Draw pairs of lines as table bodies; long equal parts are folded, if anything differs."""
    differing = [n for n, (_, _, differs) in enumerate(lines) if differs]
    context = {
        line for n in differing for line in range(n - _CONTEXT_LINES, n + _CONTEXT_LINES + 1)
    }
    numbered = enumerate(lines)
    for far, part in groupby(numbered, key=lambda line: bool(differing) and line[0] not in context):
        rows = [_draw_row(line, width) for _, line in part]
        if far and len(rows) > 1:
            summary = f"… {many(len(rows), 'line')} the same"
            yield f'<tbody class="fv-gap"><tr><td colspan="{2 * width}">{summary}</td></tr></tbody>'
            yield f'<tbody class="fv-far">{"".join(rows)}</tbody>'
        else:
            yield f"<tbody>{''.join(rows)}</tbody>"


def _draw_row(line: _LinePair, width: int) -> str:
    cells = []
    left, right, differs = line
    for cell, name in ((left, "fv-in"), (right, "fv-out"))[:width]:
        number, text = ("", "") if cell is None else cell
        look = f' class="{name}"' if differs and cell is not None else ""
        cells.append(f'<td class="fv-n">{number}</td><td{look} dir="auto">{text}</td>')
    return f"<tr>{''.join(cells)}</tr>"
