"""A plot of `inbox.statuses()`: how far messages come."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from chatkit.display import many
from chatkit.errors import InputError, steady

if TYPE_CHECKING:
    import pandas as pd


#: A step, and the statuses and times that prove that a message has reached it.
_STEPS = {
    "sent": ("sent", "delivered", "read", "played", "failed"),
    "delivered": ("delivered", "read", "played"),
    "read": ("read", "played"),
}


def funnel(statuses: pd.DataFrame) -> Plot:
    """Draw how many messages were sent, came to a phone, were read, and failed.

    A message that was read has been delivered too, also where only the last status came.

    Raises:
        InputError: It is no frame of statuses.

    >>> chatkit.funnel(inbox.statuses())
    Where 0 messages got to
    ...
    """
    _check(statuses)
    counts = {step: int(_reached(statuses, proofs).sum()) for step, proofs in _STEPS.items()}
    counts["failed"] = int((statuses["status"] == "failed").sum())
    total = counts["sent"]
    title = f"Where {many(total, 'message')} got to"
    names = list(counts)
    colours = [COLOURS[0]] * 3 + [COLOURS[1]]
    with canvas(title, 2.6) as (figure, axes):
        axes.barh(names, list(counts.values()), color=colours, height=0.68)
        axes.invert_yaxis()
        axes.set_xlim(0, max(total, 1) * 1.22)
        axes.xaxis.set_visible(False)
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(left=False)
        for place, count in enumerate(counts.values()):
            label = f"{count:,} ({_share(count, total)})"
            axes.annotate(label, (count, place), (5, 0), textcoords="offset points", va="center")
    rows = [[name, f"{count:,}", _share(count, total)] for name, count in counts.items()]
    return Plot(figure, title, ["status", "messages", "share"], rows)


def _reached(statuses: pd.DataFrame, proofs: tuple[str, ...]) -> pd.Series[bool]:
    found = statuses["status"].isin(proofs)
    for proof in proofs:
        found |= statuses[f"{proof}_at"].notna()
    return found


def _check(statuses: pd.DataFrame) -> None:
    needed = {"status", *(f"{step}_at" for step in _STEPS["sent"])}
    if missing := sorted(needed - {*statuses.columns}):
        raise InputError(f"This has no column {missing[0]!r}: pass the frame of inbox.statuses().")


def _share(count: int, total: int) -> str:
    return f"{count / total:.1%}" if total else "–"


# --- drawing: the one door to matplotlib ---------------------------------------------------

#: Stands for the colour of the page's text until the SVG is written.
INK = "#012345"
#: Colours that are told apart on light and dark, also by who does not see red and green.
COLOURS = ("#3b82c4", "#d97a1f")
_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: it is found, read aloud, and small
    "svg.hashsalt": "chatkit",  # the same figure is the same text
    "font.size": 10.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,  # a dollar in a text is a dollar
}


class Plot:
    """A figure of matplotlib, with the same numbers as text.

    Args:
        figure: The figure, `plot.figure`: change it, or save it with `savefig`.
        title: What it shows.
        heads: The names of the numbers.
        rows: The numbers as texts.
    """

    def __init__(
        self, figure: Figure, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]
    ) -> None:
        self.figure = figure
        self.title = title
        self._heads, self._rows = heads, rows

    @steady
    def __repr__(self) -> str:
        lines = [self._heads, *self._rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join(
                text.ljust(width) if n == 0 else text.rjust(width)
                for n, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.title, *table])

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Give the figure with its numbers; in a terminal the numbers."""
        return {"text/plain": repr(self), "text/html": self._html()}

    def svg(self) -> str:
        """Return the figure as SVG that takes the colour of the text around it."""
        file = io.StringIO()
        with mpl.rc_context(_STYLE):
            self.figure.savefig(
                file, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
            )
        whole = file.getvalue()
        return whole[whole.index("<svg") :].replace(INK, "currentColor")

    def _html(self) -> str:
        heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in self._heads)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>"
            for row in self._rows
        )
        told = escape(repr(self).replace("\n", "; "), quote=True)
        svg = self.svg().replace("<svg ", f'<svg role="img" aria-label="{told}" ', 1)
        return (
            '<figure class="tex2jax_ignore mathjax_ignore" style="margin: 0; max-width: 46em; '
            f'color: var(--jp-ui-font-color1, #222)">{svg}'
            f"<details><summary>The numbers</summary><table><thead><tr>{heads}</tr></thead>"
            f"<tbody>{rows}</tbody></table></details></figure>"
        )


@contextmanager
def canvas(title: str, height: float) -> Iterator[tuple[Figure, Any]]:
    """Give a figure and its axes to draw in; the user's settings of matplotlib stay."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.6, height), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(title, loc="left", color=INK, fontweight="bold")
        yield figure, axes
