"""Editing: the steps of an editor, as a program takes them: each is one edit, and is shown."""

from __future__ import annotations

from typing import Any

from chatkit.flowjson.finding import Findings
from chatkit.widgets.editor.additions import added
from chatkit.widgets.editor.branches import Branch, branches, owner
from chatkit.widgets.editor.draft import Draft


class Editing:
    """A document that is edited, and one place of it that is selected.

    Args:
        draft: The document.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._selected, self._rows = "/screens/0", list[Branch]()
        self._read()

    @property
    def document(self) -> Any:
        """The flow document as it is now; while its source is no JSON, as it was before."""
        return self.draft.value

    @property
    def selected(self) -> str:
        """The pointer of what is selected."""
        return self._selected

    def lint(self) -> Findings:
        """Return what the platform would say of it, with lines of the source."""
        return self.draft.findings

    def select(self, pointer: str) -> None:
        """Select what stands at a place, or what is around it."""
        self._selected = owner(pointer, self._pointers())
        self.draft.settle()
        self._refresh()

    def set(self, pointer: str, value: Any) -> None:
        """Set what stands at a place, like `editor.set("/screens/0/title", "Hello")`."""
        self.draft.set(pointer, value)
        self._refresh()

    def unset(self, pointer: str) -> None:
        """Take a property away, or an item out of its list.

        Raises:
            InputError: Nothing stands there.
        """
        self.draft.unset(pointer)
        self._refresh()

    def insert(self, pointer: str, index: int, value: Any) -> None:
        """Put an item into the list at a place, and select it.

        Raises:
            InputError: What stands there is no list.
        """
        self._selected = self.draft.insert(pointer, index, value)
        self._refresh()

    def add(self, what: str) -> None:
        """Add something at what is selected: a component by its type, "Screen", "Option" ….

        Raises:
            InputError: It cannot stand there.
        """
        row = self._branch()
        pointer, index, value = added(self.document, row, self._rows, what)
        if index is None:
            self.draft.set(pointer, value)
            self._selected = pointer
        else:
            self._selected = self.draft.insert(pointer, index, value)
        self._refresh()

    def move(self, pointer: str, by: int) -> None:
        """Move a screen, component or option within its list, and select it.

        Raises:
            InputError: Nothing stands there.
        """
        self._selected = self.draft.move(pointer, by)
        self._refresh()

    def duplicate(self, pointer: str) -> None:
        """Put a copy after a screen, component or option, and select it.

        Raises:
            InputError: Nothing stands there.
        """
        self._selected = self.draft.duplicate(pointer)
        self._refresh()

    def remove(self, pointer: str) -> None:
        """Take out a screen, component or option, and select what is beside it.

        Raises:
            InputError: Nothing stands there.
        """
        place = [row.pointer for row in self._rows].index(owner(pointer, self._pointers()))
        self.draft.unset(pointer)
        self._read()
        there = self._pointers()
        self._selected = pointer if pointer in there else self._rows[max(place - 1, 0)].pointer
        self._refresh()

    def rename(self, pointer: str, name: str) -> None:
        """Give a screen, an input or a case another name, wherever the document names it.

        Raises:
            InputError: Nothing stands there, or the name is taken.
        """
        self._selected = self.draft.rename(pointer, name)
        self._refresh()

    def undo(self) -> None:
        """Take the last edit back."""
        self.draft.undo()
        self._refresh()

    def redo(self) -> None:
        """Do again what was taken back."""
        self.draft.redo()
        self._refresh()

    # --- helpers --------------------------------------------------------------------

    def _refresh(self) -> None:
        """Show the document as it is now."""
        self._read()

    def _read(self, typed_at: str = "") -> None:
        """Read the rows anew. What was selected stays so, or else what somebody types at."""
        found = self.draft.findings
        self._rows = branches(self.document, () if self.draft.broken else tuple(found))
        there = self._pointers()
        gone = typed_at and self._selected not in there
        self._selected = owner(typed_at if gone else self._selected, there)

    def _pointers(self) -> dict[str, Branch]:
        return {row.pointer: row for row in self._rows}

    def _branch(self) -> Branch:
        return self._pointers()[self._selected]
