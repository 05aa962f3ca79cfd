"""FormEdits: what typing in a form does to a flow document that is edited."""

from __future__ import annotations

from typing import Any, Protocol

from chatkit.widgets.editor import starter
from chatkit.widgets.editor.draft import Draft


class Refresh(Protocol):
    """Shows the document as it is now."""

    def __call__(self, *, typed: bool = False, focus: str = "") -> None:
        """Show it; `typed`: the form holds it already; `focus`: where somebody types."""


class FormEdits:
    """Takes what is typed into a draft. The form stays as it is, unless it has other fields now.

    Args:
        draft: The document.
        refresh: What shows it after each edit.
    """

    def __init__(self, draft: Draft, refresh: Refresh) -> None:
        self._draft, self._refresh = draft, refresh

    def set(self, pointer: str, value: Any) -> None:
        """Set what stands at a place."""
        self._draft.set(pointer, value)
        self._shown(pointer)

    def unset(self, pointer: str) -> None:
        """Take out what stands at a place, if anything does."""
        if self._there(pointer):
            self._draft.unset(pointer)
            self._shown(pointer)

    def rename(self, pointer: str, name: str) -> None:
        """Give a screen, an input or a case another name, wherever the document names it."""
        place = self._draft.rename(pointer, name)
        moved = place != pointer  # a case is found by its name
        self._refresh(typed=not moved, focus=place if moved else "")

    def act(self, pointer: str, name: str) -> None:
        """Put an action of this name at a place; it keeps what the one before had too."""
        before = self._draft.find(pointer) if self._there(pointer) else None
        self._draft.set(pointer, starter.action(name, before))
        self._refresh(focus=pointer)

    def _shown(self, pointer: str) -> None:
        """Show the edit: with another mode or version, or without an action, fields come and go."""
        again = pointer == "/version" or pointer.endswith(("/mode", "-action"))
        self._refresh(typed=not again, focus=pointer if again else "")

    def _there(self, pointer: str) -> bool:
        try:
            self._draft.find(pointer)
        except LookupError:
            return False
        return True
