"""The tail has each delivery once, in batches, and ends when it is told to."""

import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import pandas as pd
import pytest
from inbox.bodies import ANA, BEN, message, status
from inbox.senders import SECRET, post, signed
from internals import inbox_store
from widgets.inbox.stored import EVIL, inbox, moved, put, written
from widgets.screen import page_of, send, static

from chatkit.errors import InputError, StoreError
from chatkit.inbox import Inbox
from chatkit.widgets.tail import Tail

__all__ = ["inbox"]

DAY = timedelta(days=1)


class Page:
    """Return the messages of a tail to its page."""

    def __init__(self, tail: Tail) -> None:
        self.heard: list[dict] = []
        tail.send = lambda message, buffers=None: self.heard.append(message)


def ids(rows: list[dict]) -> list[int]:
    return [row["id"] for row in rows]


def threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "chatkit-tail"]


def until(true, seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    assert not threads()


def test_it_goes_on_over_what_was_deleted(inbox: Inbox) -> None:
    put(inbox, *(written(message(n, who=BEN if n % 3 else ANA)) for n in range(9)))
    tail = Tail(inbox, limit=5)
    inbox_store(inbox).delete_deliveries([2, 3, 5, 8, 9])
    tail.look()
    assert ids(Tail(inbox, limit=3).rows) == [7, 6, 4]
    inbox_store(inbox).delete_deliveries([1, 4, 6, 7])
    assert Tail(inbox).rows == []
    put(inbox, written(message(20)))
    tail.look()
    assert ids(tail.rows)[0] == 10 and ids(Tail(inbox).rows) == [10]


def test_it_begins_with_what_is_there_newest_first(inbox: Inbox) -> None:
    put(inbox, *(written(message(n)) for n in range(5)))
    tail = Tail(inbox, limit=3)
    assert ids(tail.first) == ids(tail.rows) == [5, 4, 3]
    assert repr(tail) == "Tail of the inbox: 3 rows."


def test_a_look_sends_what_is_new_in_one_message(inbox: Inbox) -> None:
    tail = Tail(inbox)
    page = Page(tail)
    put(inbox, written(message(1)), moved(status("m1", "read")))
    assert (tail.look(), tail.look()) == (2, 0)
    (heard,) = page.heard
    assert ids(heard["rows"]) == [2, 1] and (heard["seen"], heard["passed"]) == (2, 0)


def test_repeats_and_what_is_not_verified_are_there(inbox: Inbox) -> None:
    put(inbox, written(message(1)), verified=False, reason="no header", identity="same")
    put(inbox, written(message(1)), verified=False, reason="no header", identity="same")
    tail = Tail(inbox)
    assert [row["reason"] for row in tail.rows] == ["no header"] * 2
    assert repr(tail) == "Tail of the inbox: 2 rows, 2 not verified."


def test_a_filter_is_by_kind_and_by_contact_and_begins_anew(inbox: Inbox) -> None:
    put(inbox, written(message(1)), written(message(2, who=BEN)), kind="a")
    put(inbox, written(message(3)), kind="b")
    tail = Tail(inbox, kind="a")
    page = Page(tail)
    assert ids(tail.rows) == [2, 1] and {"a", "b"} & {*tail.kinds} == {"a"}
    tail.kind, tail.contact = "", f"+{ANA}"
    assert tail.look() == 2
    assert ids(page.heard[-1]["all"]) == [3, 1]
    tail.contact = ANA  # a number without its sign is meant too
    tail.look()
    assert ids(tail.rows) == [3, 1]
    tail.contact = "+1999"
    assert tail.look() == 0 and tail.rows == []


def test_a_contact_is_not_one_whose_number_merely_is_in_the_body(inbox: Inbox) -> None:
    put(inbox, written(message(1, text={"body": f"call {BEN}"})))
    assert Tail(inbox, contact=f"+{BEN}").rows == []


def test_failed_ones_have_their_reason_and_are_counted(inbox: Inbox) -> None:
    why = [{"code": 131026, "title": "Message undeliverable"}]
    put(inbox, moved(status("m1", "sent")), moved(status("m1", "failed", errors=why)))
    tail = Tail(inbox)
    assert [row["failed"] for row in tail.rows] == ["131026: Message undeliverable", ""]
    assert repr(tail) == "Tail of the inbox: 2 rows, 1 failed."


def test_contacts_have_their_names_also_those_that_are_told_later(inbox: Inbox) -> None:
    nobody = moved(status("m1", "read")).replace(b"contacts", b"nobodies")
    put(inbox, nobody)
    tail = Tail(inbox)
    page = Page(tail)
    assert [row["name"] for row in tail.rows] == [""]
    put(inbox, written(message(2)))
    assert tail.look() == 1
    assert [row["name"] for row in tail.rows] == ["Ana", "Ana"]
    assert [row["name"] for row in page.heard[0]["rows"]] == ["Ana"]
    contacts = pd.DataFrame(
        {"country_code": ["+1", None], "number": [ANA[1:], "5"], "name": ["Ana Cruz", "x"]}
    )
    assert [row["name"] for row in Tail(inbox, contacts=contacts).rows] == ["Ana Cruz"] * 2
    with pytest.raises(InputError, match="no column 'country_code'"):
        Tail(inbox, contacts=pd.DataFrame())


def test_words_are_searched_in_all_that_came_also_far_back(inbox: Inbox) -> None:
    put(inbox, written(message(1, text={"body": "Where is my BIKE?"})))
    put(inbox, *(moved(status(f"m{n}", "sent")) for n in range(2100)))
    tail = Tail(inbox)
    page = Page(tail)
    assert 1 not in ids(tail.rows)
    tail.search = " my bike "
    assert tail.look() == 1 and ids(page.heard[-1]["all"]) == [1]
    put(inbox, written(message(2)), written(message(3, text={"body": "my bike!"})))
    assert tail.look() == 1 and ids(page.heard[-1]["rows"]) == [2103]


def test_what_came_during_a_pause_is_there_after_it(inbox: Inbox) -> None:
    tail = Tail(inbox)
    page = Page(tail)
    tail.paused = True
    put(inbox, *(written(message(n)) for n in range(3)))
    assert tail.look() == 0 and not page.heard
    tail.paused = False
    assert tail.look() == 3 and ids(page.heard[-1]["rows"]) == [3, 2, 1]


def test_a_flood_is_bounded_and_what_was_passed_over_is_counted(inbox: Inbox) -> None:
    tail = Tail(inbox, limit=10)
    page = Page(tail)
    put(inbox, *(moved(status(f"m{n}", "sent")) for n in range(2500)))
    assert tail.look() == 2000
    assert len(page.heard[-1]["rows"]) == len(tail.rows) == 10
    assert page.heard[-1]["passed"] == 500


def test_shown_it_follows_and_stopped_it_has_ended(inbox: Inbox) -> None:
    tail = Tail(inbox)
    page = Page(tail)
    bundle = static(tail)
    assert bundle["text/plain"] == "Tail of the inbox: 0 rows." and tail.running
    tail.start()
    assert len(threads()) == 1
    put(inbox, written(message(1)))
    until(lambda: page.heard)
    tail.stop()
    tail.stop()
    assert not tail.running and tail.stopped
    put(inbox, written(message(2)))
    assert tail.look() == 1  # by hand it still looks
    tail.start()
    assert tail.running and not tail.stopped
    tail.close()
    assert not tail.running


def test_it_ends_with_its_last_view_and_goes_on_with_the_next(inbox: Inbox) -> None:
    tail = Tail(inbox)
    page = Page(tail)
    for view in ("a", "b"):
        send(tail, {"here": view})
        assert page.heard[-1] == {"all": [], "view": view}
    send(tail, {"gone": "a"})
    assert tail.running
    send(tail, {"gone": "b"})
    assert not tail.running and not tail.stopped
    send(tail, {"here": "c"})
    assert tail.running
    tail.stop()
    send(tail, {"here": "d"})
    assert not tail.running  # who stopped it does not want it started by a look


def test_one_delivery_is_opened_for_the_page_that_asks(inbox: Inbox) -> None:
    put(inbox, written(message(1)))
    tail = Tail(inbox)
    page = Page(tail)
    send(tail, {"open": 1, "view": "a"})
    assert page.heard[-1]["view"] == "a" and page.heard[-1]["opened"]["verified"]
    send(tail, {"open": 9, "view": "a"})
    assert page.heard[-1]["opened"]["problem"].startswith("The inbox has no delivery 9")
    for unusual in ({"open": "1", "view": "a"}, {"open": 1}, "open", None):
        send(tail, unusual)
    assert len(page.heard) == 2


def test_a_database_that_fails_is_told_and_looked_at_again(inbox: Inbox, monkeypatch) -> None:
    tail = Tail(inbox)
    page = Page(tail)
    look = tail.look
    fails = [True]

    def failing() -> int:
        if fails[0]:
            raise StoreError("The inbox cannot be read: it is locked")
        return look()

    monkeypatch.setattr(tail, "look", failing)
    tail.start()
    until(lambda: page.heard == [{"problem": "The inbox cannot be read: it is locked"}])
    fails[0] = False
    put(inbox, written(message(1)))
    until(lambda: len(page.heard) == 3)
    tail.stop()
    assert ids(page.heard[1]["rows"]) == [1] and page.heard[2] == {"problem": ""}


def test_the_static_form_has_no_markup_of_strangers_and_no_script(inbox: Inbox) -> None:
    put(inbox, written(message(1, text={"body": EVIL})), kind=EVIL)
    tail = Tail(inbox)
    page = page_of(tail)
    tail.stop()
    assert "<img" not in page and "<script" not in page


@pytest.mark.parametrize("limit", [0, 2001])
def test_a_page_keeps_a_bounded_number_of_rows(inbox: Inbox, limit: int) -> None:
    with pytest.raises(InputError, match="limit=300"):
        Tail(inbox, limit=limit)


def test_what_comes_during_a_look_is_there_once(inbox: Inbox, monkeypatch) -> None:
    tail = Tail(inbox)
    read = inbox._select

    def late(**choice: object):
        put(inbox, written(message(2)))
        return read(**choice)

    put(inbox, written(message(1)))
    monkeypatch.setattr(inbox, "_select", late)
    assert tail.look() == 1
    monkeypatch.undo()
    assert tail.look() == 1 and ids(tail.rows) == [2, 1]


def test_it_ends_with_its_inbox(inbox: Inbox) -> None:
    tail = Tail(inbox)
    tail.start()
    inbox.close()
    assert not tail.running


def test_rows_that_are_verified_later_are_shown_so(inbox: Inbox) -> None:
    receiver = inbox.serve()
    body = written(message(1))
    post(receiver.url, body, signed(body))
    tail = Tail(inbox)
    page = Page(tail)
    assert repr(tail) == "Tail of the inbox: 1 row, 1 not verified."
    receiver.accept(SECRET)
    tail.look()
    assert [row["verified"] for row in page.heard[-1]["all"]] == [True]
    assert repr(tail) == "Tail of the inbox: 1 row."
    tail.look()
    assert len(page.heard) == 1
