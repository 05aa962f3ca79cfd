"""The funnel counts each message at each step that it has reached."""

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
    lines = [line.split() for line in repr(funnel(inbox.statuses())).splitlines()]
    assert lines[0] == ["Where", "5", "messages", "got", "to"] and lines[3:] == [
        ["sent", "5", "100.0%", "█" * 24],
        ["delivered", "3", "60.0%", "█" * 14],
        ["read", "2", "40.0%", "█" * 10],
        ["failed", "1", "20.0%", "█" * 5],
    ]
    assert "60.0%" in page_of(funnel(inbox.statuses()))


def test_no_message_is_a_funnel_too_and_another_frame_is_refused(inbox: Inbox) -> None:
    put(inbox, written(message(1)))
    assert "sent       0" in repr(funnel(inbox.statuses()))
    with pytest.raises(InputError, match=r"pass the frame of inbox.statuses\(\)"):
        funnel(inbox.messages())
