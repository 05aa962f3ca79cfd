"""SourceView: the JSON of a flow to be read and written, each finding at its line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import anywidget
import traitlets

from chatkit.display import visible
from chatkit.finding import Finding
from chatkit.widgets import packed

_MOST = 200  #: findings that are marked
_LONG = 300  #: characters that are said of one


class SourceView(anywidget.AnyWidget):
    """A text with numbered lines; what is found stands at the end of its line.

    Args:
        typed: What is called with the text when somebody has typed.
    """

    _esm = packed.module(["editor/source.js"])
    _css = packed.joined(["editor/source.css"])

    text = traitlets.Unicode().tag(sync=True)
    #: What is found: line, column, severity and what is said.
    marks: traitlets.List[Any] = traitlets.List().tag(sync=True)

    def __init__(self, typed: Callable[[str], object]) -> None:
        self._typed = typed
        self._showing = False
        super().__init__()
        self.observe(self._changed, names="text")

    def __repr__(self) -> str:
        return f"<source: {len(self.text.splitlines())} lines, {len(self.marks)} findings>"

    def show(self, text: str, findings: Iterable[Finding]) -> None:
        """Show a text, and mark what was found in it."""
        marks = [
            {
                "line": each.line or 1,
                "column": each.column or 1,
                "severity": each.severity,
                "said": visible(f"{each.message} {each.hint}".strip()[:_LONG]),
            }
            for each, _ in zip(findings, range(_MOST), strict=False)
        ]
        self._showing = True
        with self.hold_sync():
            self.text, self.marks = text.encode("utf-8", "replace").decode(), marks
        self._showing = False

    def go(self, line: int, column: int = 1, *, focus: bool = True) -> None:
        """Bring a line into view, and put the cursor there unless it is wanted elsewhere."""
        self.send({"line": line, "column": column, "focus": focus})

    def _changed(self, change: Any) -> None:
        if not self._showing:
            self._typed(change["new"])
