"""Diff: two flow documents compared by what they mean, not line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from chatkit.flowjson.compare import Difference, compare
from chatkit.flowjson.document import read
from chatkit.flowjson.show import MISSING, html, many, pair

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Diff", "Difference", "diff"]

SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": "↕", "renamed": "→"}
SHOWN = 200  #: differences that are written out; `.frame()` has them all

STYLE = """
.chatkit-diff { max-width: 72em; }
.chatkit-diff.chatkit-diff table { border-collapse: collapse; margin: 0.4em 0; width: 100%; }
.chatkit-diff.chatkit-diff tr:nth-child(n) { background: none; }
.chatkit-diff.chatkit-diff :is(td, th) { border: none; max-width: 26em; overflow-wrap: anywhere;
  padding: 0.25em 1em 0.25em 0; text-align: left; vertical-align: top; white-space: pre-wrap; }
.chatkit-diff.chatkit-diff tbody tr { border-top: 1px solid var(--jp-border-color2, #8886); }
.chatkit-diff.chatkit-diff td:first-child { white-space: nowrap; }
.chatkit-diff thead th, .chatkit-diff i { color: var(--jp-ui-font-color2, #767676);
  font-weight: normal; }
.chatkit-diff b { display: inline-block; width: 1.2em; }
.chatkit-diff :is(del, ins) { border-radius: 2px; padding: 0 2px; text-decoration: none; }
.chatkit-diff del { background: rgba(229, 57, 53, 0.18); }
.chatkit-diff ins { background: rgba(67, 160, 71, 0.22); }
.chatkit-diff .added { color: var(--jp-success-color1, #388e3c); }
.chatkit-diff .removed { color: var(--jp-error-color1, #d32f2f); }
.chatkit-diff :is(.changed, .moved, .renamed) { color: var(--jp-info-color1, #0288d1); }
"""


class Diff(Sequence[Difference]):
    """The differences of two flow documents; false when there are none."""

    def __init__(self, differences: Sequence[Difference]) -> None:
        self._differences = tuple(differences)

    def __len__(self) -> int:
        return len(self._differences)

    @overload
    def __getitem__(self, index: int) -> Difference: ...

    @overload
    def __getitem__(self, index: slice) -> Diff: ...

    def __getitem__(self, index: int | slice) -> Difference | Diff:
        if isinstance(index, slice):
            return Diff(self._differences[index])
        return self._differences[index]

    def frame(self) -> pd.DataFrame:
        """Return a row for each difference; a value that is not there is None."""
        from chatkit.flowjson.rows import frame

        columns = ("kind", "where", "pointer_a", "pointer_b", "before", "after")
        return frame(self, columns, texts=columns[:4])

    def __repr__(self) -> str:
        lines = [_heading(self)]
        for one in self[:SHOWN]:
            lines.append(f"  {_sign(one)} {one.kind}: {one.where}")
            if said := " → ".join(filter(None, _sides(one))):
                lines.append(f"      {said}")
        if (more := len(self) - SHOWN) > 0:
            lines.append(f"  … and {more:,} more: .frame() has them all")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<style>{STYLE}</style><p><strong>{html(_heading(self))}</strong></p>"]
        if self:
            names = "".join(
                f'<th scope="col">{name}</th>'
                for name in ("difference", "where", "before", "after")
            )
            rows = "".join(map(_row, self[:SHOWN]))
            parts.append(f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>")
        if (more := len(self) - SHOWN) > 0:
            parts.append(f"<p>… and {more:,} more: <code>.frame()</code> has them all.</p>")
        # the class names keep JupyterLab from reading $…$ in a text as mathematics
        return f'<div class="chatkit-diff tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def diff(a: object, b: object) -> Diff:
    """Compare two flow documents by what they mean.

    The order of keys and the layout of the text are no difference. A component is found again
    by its name, or else by what it says and where it stands, so that one that was inserted
    does not change those after it.

    Args:
        a: The first document: a dict, JSON text, a file, or a built Flow.
        b: The second one.

    Returns:
        The differences, those of the document first and then screen by screen.

    Raises:
        InputError: One of them is no JSON.
    """
    return Diff(list(compare(read(a), read(b))))


def _heading(found: Diff) -> str:
    if not found:
        return "No difference: both documents mean the same."
    count = Counter(one.kind for one in found)
    return f"{many(len(found), 'difference')}: " + ", ".join(
        f"{number:,} {kind}" for kind, number in count.items()
    )


def _sign(one: Difference) -> str:
    return SIGNS[one.kind.rpartition(" ")[2]]


def _sides(one: Difference) -> list[str]:
    """Write what was there and what is; nothing for a side that is not."""
    if one.kind.endswith(" moved"):
        return [one.before, one.after]  # words of ours, and no texts
    sides = zip((one.before, one.after), pair(one.before, one.after), strict=True)
    return ["" if value is MISSING else said for value, said in sides]


def _row(one: Difference) -> str:
    how = one.kind.rpartition(" ")[2]
    sides = "".join(
        f'<td dir="auto"><{tag}>{html(said)}</{tag}></td>' if said else "<td></td>"
        for said, tag in zip(_sides(one), ("del", "ins"), strict=True)
    )
    head = f'<td><b class="{how}">{_sign(one)}</b>{html(one.kind)}</td>'
    return f'<tr>{head}<td dir="auto">{html(one.where)}</td>{sides}</tr>'
