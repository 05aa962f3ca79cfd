"""Message: what a widget says of how it went."""

from __future__ import annotations

import ipywidgets as w

from chatkit.display import escaped


class Message(w.HTML):  # type: ignore[misc]  # ipywidgets has no types
    """Some words, said aloud by screen readers too; nothing in them is ever markup."""

    text = ""  #: what it says

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Say something; an empty text is nothing.

        Args:
            text: One line or several.
            wrong: Whether somebody should do something about it.
        """
        self.text = text
        role, kind = ("alert", "wrong") if wrong else ("status", "done")
        lines = "<br>".join(escaped(line) for line in text.split("\n"))
        box = f'<div class="chatkit-message {kind}" role="{role}" dir="auto">{lines}</div>'
        self.value = box if text else ""
