"""PropertyLine: one property in a form: its input, its help, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import ipywidgets as w

from chatkit.display import escaped
from chatkit.finding import Finding
from chatkit.flowjson.property import Property
from chatkit.flowjson.version import Version
from chatkit.widgets.form.inputs import Input


class PropertyLine:
    """One property of what is edited.

    Args:
        prop: What the table says of it.
        version: The version of the document.
        made: What it is typed into.
    """

    def __init__(self, prop: Property, version: Version, made: Input) -> None:
        self.input = made
        self.help = helped(prop)
        self._wrong = ""
        self._found: tuple[Finding, ...] = ()
        self._said = w.HTML()
        self._paint()
        help_ = w.HTML(f"<small>{escape(self.help)}</small>")
        self.widget = w.VBox([made.widget, help_, self._said])
        self.widget.add_class("chatkit-field")
        if prop.needed(version):
            self.widget.add_class("chatkit-required")

    @property
    def problem(self) -> str:
        """What is said to be wrong with it; empty if nothing is."""
        return " ".join([self._wrong, *(each.message for each in self._found)]).strip()

    def say(self, findings: Sequence[Finding]) -> None:
        """Say what the lint finds at it."""
        if tuple(findings) != self._found:
            self._found = tuple(findings)
            self._paint()

    def wrong(self, why: str) -> None:
        """Say that what is typed is no value; an empty text takes that back."""
        if why != self._wrong:
            self._wrong = why
            self._paint()

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""
        self.input.lock(locked)

    def focus(self) -> None:
        """Put the cursor into it."""
        first: Any = self.input.widget
        while getattr(first, "children", ()):
            first = first.children[0]
        first.focus()

    def _paint(self) -> None:
        said = [("error", self._wrong)] if self._wrong else []
        said += [(each.severity, f"{each.message} {each.hint}") for each in self._found]
        self._said.value = "".join(
            f'<span class="chatkit-problem {severity}" role="alert" dir="auto">'
            f"{escaped(text.strip())}</span>"
            for severity, text in said
        )
        self._said.layout.display = None if said else "none"


def helped(prop: Property) -> str:
    """Say what a property is for, and what it takes."""
    parts = [prop.about]
    if prop.length:
        parts.append(f"At most {prop.length:,} characters.")
    if prop.kind == "choices":
        parts.append(f"Of {', '.join(prop.enum[:8])}{' …' if len(prop.enum) > 8 else '.'}")
    if prop.kind in ("date", "dates"):
        parts.append("YYYY-MM-DD.")
    if prop.low is not None and prop.high is not None:
        parts.append(f"{prop.low:g} to {prop.high:g}.")
    elif prop.low is not None:
        parts.append(f"At least {prop.low:g}.")
    if prop.kilobytes:
        parts.append(f"At most {prop.kilobytes[-1][1]} KB.")
    if prop.default is not None and prop.kind not in ("boolean", "choice"):
        parts.append(f"Not set, it is {prop.default}.")
    return " ".join(filter(None, parts))
