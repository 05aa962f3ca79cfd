"""The source of a flow and the findings in it, as two widgets that point at lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import anywidget
import traitlets

from chatkit.display import visible
from chatkit.finding import Finding
from chatkit.flowjson.finding import Findings
from chatkit.widgets import assets

_MOST = 200  #: findings that are marked
_LONG = 300  #: characters that are said of one


class SourceView(anywidget.AnyWidget):
    """A text with numbered lines; what is found stands at the end of its line.

    Args:
        typed: What is called with the text when somebody has typed.
    """

    _esm = assets.packed_module(["editor/source.js"])
    _css = assets.joined_text(["editor/source.css"])

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


_MOST_LISTED = 100  #: findings that are listed


class FindingList(anywidget.AnyWidget):
    """Findings to be clicked.

    Args:
        go: What a click on the nth one calls.
    """

    _esm = assets.joined_text(["editor/findings.js"])
    _css = assets.joined_text(["editor/findings.css"])

    summary = traitlets.Unicode().tag(sync=True)
    found: traitlets.List[Any] = traitlets.List().tag(sync=True)

    def __init__(self, go: Callable[[int], object]) -> None:
        self._go = go
        super().__init__()
        self.on_msg(self._heard)

    def __repr__(self) -> str:
        return f"<findings: {self.summary}>"

    def show(self, findings: Findings) -> None:
        """List these."""
        more = len(findings) - _MOST_LISTED
        self.summary = findings.summary() + (f", the first {_MOST_LISTED} here" if more > 0 else "")
        self.found = [
            {
                "severity": each.severity,
                "where": f"line {each.line}" if each.line else "",
                "said": visible(f"{each.message} {each.hint}".strip()),
                "code": each.code,
            }
            for each in findings[:_MOST_LISTED]
        ]

    def _heard(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"go": int(n)} if 0 <= n < len(self.found):
                self._go(n)
