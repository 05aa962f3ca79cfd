"""Plots of `inbox.statuses()`: how far messages come, and how long that takes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from math import ceil
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
_MOST = 400  #: points of a curve: more cannot be told apart
_TICKS = {1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h", 36_000: "10 h"}
_LONGER = {86_400: "1 day", 864_000: "10 days"}


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


def latency(statuses: pd.DataFrame) -> Plot:
    """Draw how long messages take until they are delivered and read, from when they were sent.

    The height of a curve is the share of these messages that took no longer. Times that run
    backwards, because two clocks differ, count as none.

    Raises:
        InputError: It is no frame of statuses.

    >>> chatkit.latency(inbox.statuses())
    How long it takes until a message is …
    ...
    """
    _check(statuses)
    title = "How long it takes until a message is …"
    rows: list[list[str]] = []
    longest = 60.0
    with canvas(title, 3.4) as (figure, axes):
        for step, colour, line in zip(("delivered", "read"), COLOURS, ("-", "--"), strict=False):
            found = statuses[f"to_{step}"].dropna().dt.total_seconds().clip(lower=0)
            values = found.sort_values().tolist()
            if not values:
                rows.append([step, "0", "–", "–", "–"])
                continue
            longest = max(longest, values[-1])
            _curve(axes, values, color=colour, ls=line, label=step)
            marks = (_time(_quantile(values, share)) for share in (0.5, 0.95, 1))
            rows.append([step, f"{len(values):,}", *marks])
        _scale(axes, longest)
        if axes.lines:
            axes.legend(frameon=False, loc="lower right")
    return Plot(
        figure, title, ["status", "messages", "half within", "95 % within", "longest"], rows
    )


def _curve(axes: Any, values: list[float], **style: Any) -> None:
    """Draw which share of sorted values is no greater; from the first to the last."""
    count = len(values)
    places = sorted({round(k * (count - 1) / _MOST) for k in range(_MOST + 1)})
    # below a second there is nothing to see: times of the platform are whole seconds
    x = [max(values[k], 1.0) for k in places]
    y = [(k + 1) / count for k in places]
    axes.step([x[0], *x], [0, *y], where="post", lw=2, **style)


def _quantile(values: list[float], share: float) -> float:
    """The smallest of sorted values that so many are not above."""
    return values[max(ceil(share * len(values)) - 1, 0)]


def _scale(axes: Any, longest: float) -> None:
    """Label the axes in units that people use."""
    axes.set_xscale("log")
    axes.set_xlim(0.9, longest * 1.2)
    ticks = {at: name for at, name in (_TICKS | _LONGER).items() if at <= longest * 1.2}
    axes.set_xticks(list(ticks), list(ticks.values()), minor=False)
    axes.minorticks_off()
    axes.set_ylim(0, 1.03)
    shares = (0, 0.25, 0.5, 0.75, 1)
    axes.set_yticks(shares, [f"{share:.0%}" for share in shares])
    axes.grid(True, color=INK, alpha=0.15, lw=0.8)


def _reached(statuses: pd.DataFrame, proofs: tuple[str, ...]) -> pd.Series[bool]:
    found = statuses["status"].isin(proofs)
    for proof in proofs:
        found |= statuses[f"{proof}_at"].notna()
    return found


def _check(statuses: pd.DataFrame) -> None:
    needed = {"status", "to_delivered", "to_read", *(f"{step}_at" for step in _STEPS["sent"])}
    if missing := sorted(needed - {*statuses.columns}):
        raise InputError(f"This has no column {missing[0]!r}: pass the frame of inbox.statuses().")


def _share(count: int, total: int) -> str:
    return f"{count / total:.1%}" if total else "–"


def _time(seconds: float) -> str:
    """Say how long something took, in a unit that fits."""
    for name, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.0f} s"


# --- drawing: the one door to matplotlib ---------------------------------------------------

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
