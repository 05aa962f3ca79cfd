"""Folder view: the files of an account, and beside each what differs from another account."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache, partial
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING

from chatkit.account import layout
from chatkit.account.folder import Folder, read_state
from chatkit.account.reading import CONTACT
from chatkit.errors import safe_repr
from chatkit.report import LABEL, marked
from chatkit.util.display import cut, escaped, many, visible
from chatkit.widgets.controls import Exported
from chatkit.widgets.fields import FormButton, FormGroup, FormModel, Html
from chatkit.widgets.table import (
    Item,
    PagedRows,
    draw_changed_words,
    draw_saved_rows,
    draw_saved_view,
    fold_lines,
)

if TYPE_CHECKING:
    from chatkit.account.comparison import Comparable
    from chatkit.account.reading import AccountState

#: What a file can be, with the words that are said of it: those that differ come first.
STATES = ("different", "only left", "only right", "the same")
_CONTEXT_LINES = 2  #: lines that are shown before and after what differs
_SAVED_LINES = 20  #: lines of a file in a saved page
_MOST_LINES = 2000  #: of a file that is compared line by line


class FolderView(Exported, FormModel):
    """The files of a folder, with what differs from an account beside them; nothing is written.

    Both sides are written as files, in one way: a file that you have only formatted otherwise
    does not differ. Files that differ come first, each with the lines that do.

    In a program: `read_again()` reads both sides anew, `files()` says which files differ.

    Args:
        left: A folder, or whatever `chatkit.compare` takes.
        right: The account to hold it against, or another folder; without it nothing differs.
        contacts: Show contacts.csv too; without it if a folder has that.

    Raises:
        InputError: A side is none of these, or its files cannot be read.
        CallError: The account cannot be read.

    >>> chatkit.widgets.FolderView(client)
    <folder view: account 1001 of the sandbox: 8 files.>
    """

    def __init__(
        self, left: Comparable, right: Comparable | None = None, *, contacts: bool | None = None
    ) -> None:
        self._sources, self._contacts = (left, right), contacts
        self._heading, self._rows = Html(), PagedRows({}, [], label="Files")
        again = FormButton("Refresh", lambda: self.attempt(self.read_again))
        bar = FormGroup([self._heading, again], css="chatkit-bar chatkit-sticky", row=True)
        super().__init__(FormGroup([bar, self.status, self._rows], css="chatkit-planview"))
        self.read_again()

    def read_again(self) -> None:
        """Read both sides again.

        Raises:
            InputError: The files cannot be read: `problems` has all that is wrong.
            CallError: The account cannot be read.
        """
        self._names, self._files = _read_both(*self._sources, contacts=self._contacts)
        self._heading.value = f"<strong>{escape(self._summarize())}</strong>"
        self._rows.fill(self._columns, self._items(), stay=True)
        self.report("")

    def files(self) -> dict[str, str]:
        """Return the files by path, and of each whether it is the same on both sides."""
        paths = sorted(self._files, key=lambda path: (path.count("/") > 0, path))
        return {path: _compare_file(*self._files[path]) for path in paths}

    @property
    def _columns(self) -> dict[str, int]:
        """The columns with their widths; a folder alone has one column of texts."""
        left, right = (visible(cut(name, LABEL)) for name in self._names)
        if self._sources[1] is None:
            return {"file": 25, left: 75}
        return {"file": 18, "state": 10, f"left, new: {left}": 36, f"right, old: {right}": 36}

    def _items(self, *, fold: bool = True) -> list[Item]:
        alone = self._sources[1] is None
        items = []
        for path, state in sorted(self.files().items(), key=lambda file: STATES.index(file[1])):
            label, texts = "" if alone else state, self._files[path]
            drawn = partial(_draw_file, path, label, texts, fold=fold)
            items.append(Item(() if alone else (state,), path, drawn))
        return items

    def _summarize(self) -> str:
        count = many(len(self._files), "file")
        left, right = (visible(name) for name in self._names)
        if self._sources[1] is None:
            return f"{left}: {count}."
        differ = sum(state != "the same" for state in self.files().values())
        of = f"{differ:,} of {count} {'differs' if differ == 1 else 'differ'}"
        return f"{left} beside {right}: {of if differ else f'{count}, all the same'}."

    @safe_repr
    def __repr__(self) -> str:
        return f"<folder view: {self._summarize()}>"

    def _make_saved_page(self) -> str:
        items = [item for item in self._items(fold=False) if "the same" not in item.kinds]
        rows = draw_saved_rows(self._columns, items, "view.files()") if items else ""
        return draw_saved_view(self._summarize(), rows)


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


def _compare_file(left: str | None, right: str | None) -> str:
    if left is None or right is None:
        return "only left" if right is None else "only right"
    return "the same" if left == right else "different"


# --- two texts beside each other ------------------------------------------------------------


def _draw_file(path: str, state: str, texts: _Texts, *, fold: bool) -> tuple[str, list[str]]:
    """Draw a file: its path and state, and the lines that differ; of a file alone all lines."""
    lines = [_draw_cells(left) for left in (texts[0] or "").splitlines()]
    if state:
        lines = [] if state == "the same" else _draw_differences(*texts)
    most = _MOST_LINES if fold else _SAVED_LINES
    if len(lines) > most:
        lines = [*lines[:most], _draw_cells(f"… and {len(lines) - most:,} more lines", "…")]
    lines = lines or ["<td></td><td></td>"]
    lines, button = fold_lines(lines, path) if fold else (lines, "")
    head = f'<th scope="rowgroup" dir="auto">{marked(visible(path))}{button}</th>'
    head += f'<td class="dot">{escaped(state)}</td>' if state else ""
    rest = ["<td></td>" * (2 if state else 1) + line for line in lines[1:]]
    return "fine" if state == "the same" else "open", [f"{head}{lines[0]}", *rest]


@lru_cache(64)  # rows are drawn anew at each letter that is looked for
def _draw_differences(left: str | None, right: str | None) -> list[str]:
    """Draw the lines that differ with those around them; the words that differ are marked."""
    new, old = ((text or "").splitlines() for text in (left, right))
    if max(len(new), len(old)) > _MOST_LINES:
        return [_draw_cells(f"{len(new):,} lines are too many to be shown.", f"{len(old):,} lines")]
    rows: list[str] = []
    matcher = SequenceMatcher(None, new, old, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT_LINES):
        rows += [_draw_cells("…", "…")] if rows else []
        for kind, i, j, k, m in group:
            for out, put in zip_longest(old[k:m], new[i:j], fillvalue=""):
                if kind == "equal":
                    rows.append(_draw_cells(put, out))
                else:
                    cells = reversed(draw_changed_words(out, put))
                    rows.append("".join(f'<td class="code">{cell}</td>' for cell in cells))
    return rows


def _draw_cells(*texts: str) -> str:
    return "".join(f'<td class="code">{marked(visible(text))}</td>' for text in texts)
