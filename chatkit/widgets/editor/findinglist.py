"""FindingList: what the lint found, one line each; a click leads to its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from chatkit.display import visible
from chatkit.flowjson.finding import Findings
from chatkit.widgets import packed

_MOST = 100  #: findings that are listed


class FindingList(anywidget.AnyWidget):
    """Findings to be clicked.

    Args:
        go: What a click on the nth one calls.
    """

    _esm = packed.joined(["editor/findings.js"])
    _css = packed.joined(["editor/findings.css"])

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
        more = len(findings) - _MOST
        self.summary = findings.summary() + (f", the first {_MOST} here" if more > 0 else "")
        self.found = [
            {
                "severity": each.severity,
                "where": f"line {each.line}" if each.line else "",
                "said": visible(f"{each.message} {each.hint}".strip()),
                "code": each.code,
            }
            for each in findings[:_MOST]
        ]

    def _heard(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"go": int(n)} if 0 <= n < len(self.found):
                self._go(n)
