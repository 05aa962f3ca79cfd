"""What a lint has found: one fault or doubt at one place of a flow document, or all of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

from chatkit.flowjson.show import html, many, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.flowjson.listing import Listing

Severity = Literal["error", "warning", "note"]
_COLUMNS = ("severity", "code", "pointer", "line", "column", "message", "hint")
_PLACES = ("line", "column")
_WEIGHT: dict[Severity, int] = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend, or to know, at one place."""

    code: str
    severity: Severity
    pointer: str
    message: str
    hint: str = ""
    line: int | None = None
    column: int | None = None

    @property
    def where(self) -> str:
        """The place in words: line and column when there is a text, and the pointer."""
        pointer = self.pointer or "(document)"
        return f"{self.line}:{self.column} {pointer}" if self.line else pointer

    def __str__(self) -> str:
        hint = f" {self.hint}" if self.hint else ""
        return visible(f"{self.severity} {self.code} at {self.where}: {self.message}{hint}")


class Findings(Sequence[Finding]):
    """All that a lint found, in the order of the document. Empty is good.

    `ok` tells whether the platform would take it: there is no error.
    """

    def __init__(self, found: Iterable[Finding] = (), document: Any = None, text: str = "") -> None:
        self._found = tuple(sorted(found, key=_order))
        self._document = document
        self._text = text

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Findings: ...
    def __getitem__(self, index: int | slice) -> Finding | Findings:
        if isinstance(index, slice):
            return Findings(self._found[index], self._document, self._text)
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Findings) and self._found == other._found

    def __hash__(self) -> int:
        return hash(self._found)

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not any(each.severity == "error" for each in self._found)

    @property
    def errors(self) -> Findings:
        """What the platform refuses when the flow is published."""
        return self._only("error")

    @property
    def warnings(self) -> Findings:
        """What is documented otherwise, and may be cut, not shown, or refused one day."""
        return self._only("warning")

    @property
    def notes(self) -> Findings:
        """What is good to know."""
        return self._only("note")

    def _only(self, severity: Severity) -> Findings:
        chosen = [each for each in self._found if each.severity == severity]
        return Findings(chosen, self._document, self._text)

    def frame(self) -> pd.DataFrame:
        """Return them as a DataFrame, one row each."""
        from chatkit.flowjson.rows import frame

        found = frame(self._found, _COLUMNS, texts={*_COLUMNS} - {*_PLACES})
        return found.astype(dict.fromkeys(_PLACES, "Int64"))

    def annotated(self, around: int = 2) -> Listing:
        """Show the source with each finding under its line.

        Args:
            around: How many lines before and after are shown as well.
        """
        from chatkit.flowjson.listing import Listing

        text = self._text or json.dumps(
            self._document, indent=2, ensure_ascii=False, default=repr, skipkeys=True
        )
        return Listing(text, self._found, around)

    def summary(self) -> str:
        """Count them in words."""
        counts = [(len(self._only(severity)), severity) for severity in _WEIGHT]
        said = ", ".join(many(count, noun) for count, noun in counts if count)
        return said or "No findings"

    def __repr__(self) -> str:
        lines = [self.summary()]
        for each in self._found:
            lines.append(f"  {each.severity} {each.code} at {each.where}")
            lines.append(f"    {each.message}{' ' + each.hint if each.hint else ''}")
        return "\n".join(visible(line) for line in lines)

    def _repr_html_(self) -> str:
        head = f"<p>{html(self.summary())}</p>"
        if not self._found:
            return head
        rows = "".join(
            f"<tr><td>{each.severity}</td><td><code>{html(each.code)}</code></td>"
            f"<td><code>{html(each.where)}</code></td>"
            f"<td style='text-align:left'>{html(each.message)} {html(each.hint)}</td></tr>"
            for each in self._found
        )
        columns = "".join(f"<th>{name}</th>" for name in ("severity", "code", "at", "finding"))
        return f"{head}<table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>"


def _order(finding: Finding) -> tuple[Any, ...]:
    """Order by line and column, or by pointer when there is no text; then by weight."""
    steps = [
        (0, int(step), "") if step.isdecimal() and step.isascii() and len(step) < 10
        else (1, 0, step)
        for step in finding.pointer.split("/")[1:]
    ]  # fmt: skip
    line, column = finding.line or 0, finding.column or 0
    return line, column, steps, _WEIGHT[finding.severity], finding.code, finding.message
