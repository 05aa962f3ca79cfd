"""The funnel counts each message at each step that it has reached."""

import re

import pytest
from inbox.bodies import message, status
from widgets.inbox.stored import inbox, moved, put, written
from widgets.screen import page_of

from chatkit.errors import InputError
from chatkit.inbox import Inbox
from chatkit.widgets.tail import funnel

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
    widths = re.findall(r"width: ([0-9.]+)%", page_of(funnel(inbox.statuses())))
    assert widths == ["100.0", "60.0", "40.0", "20.0"]


def test_nothing_is_a_plot_too(inbox: Inbox) -> None:
    put(inbox, written(message(1)))
    statuses = inbox.statuses()
    assert "sent              0       –" in repr(funnel(statuses))
    assert page_of(funnel(statuses)).count("width: 0.0%") == 4


def test_another_frame_is_refused(inbox: Inbox) -> None:
    with pytest.raises(InputError, match=r"pass the frame of inbox.statuses\(\)"):
        funnel(inbox.messages())
