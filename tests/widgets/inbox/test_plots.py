"""The funnel counts each message at each step that it has reached; latency is in right units."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inbox.bodies import message, status
from widgets.inbox.stored import inbox, moved, put, written

from chatkit.errors import InputError
from chatkit.inbox import frames
from chatkit.inbox.inbox import Inbox
from chatkit.widgets.plots import funnel, latency

__all__ = ["inbox"]


def test_a_funnel_never_widens_on_its_way_down(inbox: Inbox) -> None:
    put(inbox, moved(status("a", "sent"), status("b", "read"), status("c", "delivered")))
    put(inbox, moved(status("d", "failed"), status("d", "sent"), status("e", "played")))
    assert repr(funnel(inbox.statuses())).splitlines() == [
        "Where 5 messages got to",
        "status     messages   share",
        "sent              5  100.0%",
        "delivered         3   60.0%",
        "read              2   40.0%",
        "failed            1   20.0%",
    ]


def test_latency_says_the_middle_the_slow_and_the_longest(inbox: Inbox) -> None:
    for n in range(1, 101):
        put(inbox, moved(status(f"m{n}", "sent"), status(f"m{n}", "delivered", n)))
    put(inbox, moved(status("m1", "read", 90_000), status("m2", "read", 7200)))
    put(inbox, moved(status("m3", "read", 1800)))
    assert repr(latency(inbox.statuses())).splitlines()[1:] == [
        "status     messages  half within  95 % within  longest",
        "delivered       100         50 s         95 s    100 s",
        "read              3        2.0 h       25.0 h   25.0 h",
    ]


def test_nothing_is_a_plot_too(inbox: Inbox) -> None:
    put(inbox, written(message(1)))
    statuses = inbox.statuses()
    assert "sent              0      –" in repr(funnel(statuses))
    assert repr(latency(statuses)).splitlines()[2].split() == ["delivered", "0", "–", "–", "–"]
    for plot in (funnel(statuses), latency(statuses)):
        assert plot.svg().startswith("<svg")


@settings(max_examples=15)
@given(st.lists(st.integers(-5, 10**7), min_size=1, max_size=30))
def test_a_curve_goes_up_to_all(seconds: list[int]) -> None:
    frame = frames.statuses({})
    rows = pd.DataFrame({name: pd.Series(index=range(len(seconds)), dtype=dtype)
                         for name, dtype in frame.dtypes.items()})  # fmt: skip
    rows["to_delivered"] = pd.to_timedelta(seconds, unit="s")
    plot = latency(rows)
    (line,) = plot.figure.axes[0].lines
    heights = [*line.get_ydata()]
    assert heights == sorted(heights) and (heights[0], heights[-1]) == (0, 1)
    assert plot.svg().startswith("<svg")


def test_another_frame_is_refused(inbox: Inbox) -> None:
    for draw in (funnel, latency):
        with pytest.raises(InputError, match=r"pass the frame of inbox.statuses\(\)"):
            draw(inbox.messages())
