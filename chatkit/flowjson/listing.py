"""A listing: source lines with the findings under them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chatkit.flowjson.finding import Finding
from chatkit.flowjson.show import html, visible
from chatkit.flowjson.source import Place, Source

#: Characters of a line that are shown: a document may be one line, or hold a picture.
WIDE = 100
_COLORS = {"error": "#c62828", "warning": "#b26a00", "note": "#1565c0"}


class Listing:
    """Shows itself as text and in a notebook."""

    def __init__(self, text: str, found: Iterable[Finding], around: int = 2) -> None:
        self._lines = re.split(r"\r\n|\n|\r", text)
        source = Source(text=text)
        self._found: dict[int, list[tuple[Place, Finding]]] = {}
        for each in found:
            known = each.line is not None  # it has its place in the user's own text
            place = Place(each.line or 1, each.column or 1) if known else source.find(each.pointer)
            line = min(max(place.line, 1), len(self._lines))
            self._found.setdefault(line, []).append((place, each))
        self._shown = sorted(
            {
                number
                for line in self._found
                for number in range(line - around, line + around + 1)
                if 1 <= number <= len(self._lines)
            }
        )

    def _rows(self) -> Iterator[tuple[str, str, Finding | None]]:
        """Yield margin, text, and the finding when the row tells one."""
        last = 0
        width = len(str(self._shown[-1])) if self._shown else 1
        for number in self._shown:
            if number > last + 1:
                yield " " * width, "…", None
            last = number
            found = self._found.get(number, ())
            start = _start(min((place.column for place, _ in found), default=1))
            line = self._lines[number - 1]
            yield str(number).rjust(width), _cut(line, start), None
            for place, each in found:
                column = place.column - start + (1 if start > 1 else 0)
                mark = " " * min(max(column, 0), WIDE) + "^"
                said = f"{mark} {each.severity} {each.code}: {each.message}"
                yield " " * width, f"{said}{' ' + each.hint if each.hint else ''}", each

    def __repr__(self) -> str:
        rows = [f"{margin} | {visible(text)}".rstrip() for margin, text, _ in self._rows()]
        return "\n".join(rows) or "No findings"

    def _repr_html_(self) -> str:
        rows = [
            f"{margin} | {html(text)}" if each is None
            else f"{margin} | <b style='color:{_COLORS[each.severity]}'>{html(text)}</b>"
            for margin, text, each in self._rows()
        ]  # fmt: skip
        return f"<pre>{chr(10).join(rows) or 'No findings'}</pre>"


def _start(column: int) -> int:
    """Tell from which column a line is shown so that one column is in sight."""
    return 1 if column <= WIDE * 3 // 4 else column - WIDE // 4


def _cut(line: str, start: int) -> str:
    """Cut a line to what is shown of it."""
    before = "…" if start > 1 else ""
    after = "…" if len(line) >= start + WIDE else ""
    return f"{before}{line[start - 1 : start - 1 + WIDE]}{after}".replace("\t", " ")
