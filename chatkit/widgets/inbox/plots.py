"""Plots: how far messages come, and how long that takes; of `inbox.statuses()`."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from chatkit.display import many
from chatkit.errors import InputError
from chatkit.widgets.inbox.plot import COLOURS, INK, Plot, canvas

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
        raise InputError(f"This is no frame of inbox.statuses(): it has no column {missing[0]!r}.")


def _share(count: int, total: int) -> str:
    return f"{count / total:.1%}" if total else "–"


def _time(seconds: float) -> str:
    """Say how long something took, in a unit that fits."""
    for name, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.0f} s"
