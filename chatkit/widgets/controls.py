"""Small controls that all widgets share: a button, a line of Python, a message."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import anywidget
import ipywidgets as w
import traitlets

from chatkit.display import escaped

_STATIC = Path(__file__).parent / "static"


class Button(anywidget.AnyWidget):
    """A button that acts once, even when its click arrives twice.

    Each click carries the token that was in the page when it was made. The first one uses the
    token up before anything else happens; when the action has ended there is a new one. So a
    click that was waiting behind the first does nothing, and the button keeps the focus.

    Args:
        label: What it does, in words.
        act: What a click calls. It says itself what came of it.
        kind: How it looks: `primary` does what the widget is for, `danger` cannot be taken back.
    """

    _esm = _STATIC / "button.js"
    _css = _STATIC / "button.css"

    label = traitlets.Unicode().tag(sync=True)
    kind = traitlets.Enum(["primary", "danger", "plain"], "plain").tag(sync=True)
    disabled = traitlets.Bool(False).tag(sync=True)
    token = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        label: str,
        act: Callable[[], object],
        kind: Literal["primary", "danger", "plain"] = "plain",
        *,
        disabled: bool = False,
    ) -> None:
        self._act = act
        self._lock = Lock()
        super().__init__(label=label, kind=kind, disabled=disabled, token=secrets.token_hex(4))
        self.on_msg(self._heard)

    def __repr__(self) -> str:
        return f"<button {self.label!r}>"

    def click(self) -> None:
        """Do what a click does now; what the action raises is raised here."""
        self._heard(self, {"token": self.token}, [])

    def _heard(self, _: object, content: dict[str, Any], buffers: list[memoryview]) -> None:
        with self._lock:
            if self.disabled or not self.token or content.get("token") != self.token:
                return
            self.token = ""
        try:
            self._act()
        finally:
            self.token = secrets.token_hex(4)


_WIDTH = 88  #: columns from which on each argument has a line of its own


class Code(anywidget.AnyWidget):
    """Shows some Python, and copies it."""

    _esm = _STATIC / "code.js"
    _css = _STATIC / "code.css"

    text = traitlets.Unicode().tag(sync=True)

    def __init__(self, text: str = "") -> None:
        super().__init__(text=text)

    def __repr__(self) -> str:
        return self.text


def called(function: str, *arguments: Any, **fields: Any) -> str:
    """Write a call as a person would: on one line if it is short."""
    parts = [*map(literal, arguments), *(f"{name}={literal(v)}" for name, v in fields.items())]
    line = f"{function}({', '.join(parts)})"
    if len(line) <= _WIDTH or not parts:
        return line
    return "\n".join([f"{function}(", *(f"    {part}," for part in parts), ")"])


def literal(value: Any) -> str:
    """Write a value as Python, its texts between double quotes; invisible characters escaped."""
    if isinstance(value, str):
        # with an apostrophe in it, and no double quote, repr chooses double quotes
        return repr(value) if '"' in value else '"' + repr("'" + value)[2:]
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)


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
