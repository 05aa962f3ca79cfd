"""Button: a button that acts once, even when its click arrives twice."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import anywidget
import traitlets

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
