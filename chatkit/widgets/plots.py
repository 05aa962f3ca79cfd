"""A plot of `inbox.statuses()`: how far messages come."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from chatkit.errors import InputError, steady
from chatkit.util.display import many

if TYPE_CHECKING:
    import pandas as pd


#: A step, and the statuses and times that prove that a message has reached it.
_STEPS = {
    "sent": ("sent", "delivered", "read", "played", "failed"),
    "delivered": ("delivered", "read", "played"),
    "read": ("read", "played"),
}
#: Colours of bars where the page has none of its own.
_BARS = {"brand": "#3b82c4", "error": "#d97a1f"}


def funnel(statuses: pd.DataFrame) -> Funnel:
    """Draw how many messages were sent, came to a phone, were read, and failed.

    A message that was read has been delivered too, also where only the last status came.

    Raises:
        InputError: It is no frame of statuses.

    >>> chatkit.funnel(inbox.statuses())
    Where 0 messages got to
    ...
    """
    needed = {"status", *(f"{step}_at" for step in _STEPS["sent"])}
    if missing := sorted(needed - {*statuses.columns}):
        raise InputError(f"This has no column {missing[0]!r}: pass the frame of inbox.statuses().")
    counts = {
        step: int(
            (
                statuses["status"].isin(proofs)
                | statuses[[f"{proof}_at" for proof in proofs]].notna().any(axis=1)
            ).sum()
        )
        for step, proofs in _STEPS.items()
    }
    counts["failed"] = int((statuses["status"] == "failed").sum())
    total = counts["sent"]
    return Funnel(f"Where {many(total, 'message')} got to", counts)


def _share(count: int, total: int) -> str:
    return f"{count / total:.1%}" if total else "–"


class Funnel:
    """A table with a bar for each count; as text the same numbers.

    Args:
        title: What it shows.
        counts: How many messages have reached each status; the first is all of them.
    """

    def __init__(self, title: str, counts: Mapping[str, int]) -> None:
        self.title = title
        self._counts = counts
        self._total = next(iter(counts.values()))

    @steady
    def __repr__(self) -> str:
        lines = [self.title, "status     messages   share"]
        for status, count in self._counts.items():
            lines.append(f"{status:<9}  {count:>8,}  {_share(count, self._total):>6}")
        return "\n".join(lines)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return the table with its bars; in a terminal the numbers."""
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        rows = []
        for status, count in self._counts.items():
            width = 100 * count / max(self._total, 1)
            colour = "error" if status == "failed" else "brand"
            rows.append(
                f'<tr><th scope="row" style="text-align: left">{escape(status)}</th>'
                '<td style="width: 24em"><div style="height: 1.1em; '
                f'width: {width:.1f}%; background: var(--jp-{colour}-color1, {_BARS[colour]})">'
                f"</div></td><td>{count:,}</td><td>{_share(count, self._total)}</td></tr>"
            )
        return (
            '<table class="tex2jax_ignore mathjax_ignore"><caption style="text-align: left">'
            f"{escape(self.title)}</caption><thead><tr><th>status</th><td></td><th>messages</th>"
            f"<th>share</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )
