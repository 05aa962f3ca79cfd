"""Plot: a figure that reads well in light and dark, beside the numbers it was drawn from.

The only import of matplotlib. A figure is drawn as SVG into the output itself: it needs no
script and no network, is there in an exported notebook, and takes the colour of the page.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from chatkit.errors import steady

#: Stands for the colour of the page's text until the SVG is written.
INK = "#012345"
#: Colours that are told apart on light and dark, also by who does not see red and green.
COLOURS = ("#3b82c4", "#d97a1f", "#8f6bb8")
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
