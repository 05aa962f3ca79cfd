"""Deliveries gather while a commit is under way; who is told so has it on disk."""

import threading
from concurrent.futures import wait
from pathlib import Path

import pytest
from inbox.bodies import entry

from chatkit.errors import StoreError
from chatkit.inbox.delivery import ReceivedDelivery, Which
from chatkit.inbox.receiver import DeliveryWriter
from chatkit.inbox.store import InboxStore


class Slow:
    """A store whose first commit waits until it is let go."""

    def __init__(self) -> None:
        self.groups: list[int] = []
        self.let_go, self.at_work = threading.Event(), threading.Event()

    def write(self, entries: list[ReceivedDelivery]) -> None:
        self.at_work.set()
        self.let_go.wait(10)
        self.groups.append(len(entries))


def test_what_comes_during_a_commit_is_stored_in_one() -> None:
    slow = Slow()
    writer = DeliveryWriter(slow)  # type: ignore[arg-type]
    first = writer.put(entry(0))
    slow.at_work.wait(10)
    rest = [writer.put(entry(n)) for n in range(1, 101)]
    assert not first.done() and not any(one.done() for one in rest)
    slow.let_go.set()
    wait([first, *rest])
    assert slow.groups == [1, 100]
    writer.close()


def test_it_is_stored_when_the_future_is_done(url: str) -> None:
    store = InboxStore(url)
    writer = DeliveryWriter(store)
    for number in range(20):
        writer.put(entry(number)).result(10)
        assert store.last() == number + 1
    writer.close()
    store.close()


def test_one_that_no_database_takes_does_not_refuse_the_others(url: str) -> None:
    store = InboxStore(url)
    writer = DeliveryWriter(store)
    held = [entry(n, path=None if n == 5 else "/") for n in range(10)]
    with writer._changed:  # so that all ten are one group
        done = [writer.put(one) for one in held]
    failed = [number for number, one in enumerate(done) if one.exception(10)]
    assert failed == [5]
    assert store.count(Which()) == 9
    writer.close()
    store.close()


def test_a_store_that_fails_fails_each_and_works_again_later(tmp_path: Path) -> None:
    class Broken:
        broken = True

        def write(self, entries: list[ReceivedDelivery]) -> None:
            if self.broken:
                raise StoreError("no space")

    store = Broken()
    writer = DeliveryWriter(store)  # type: ignore[arg-type]
    for number in range(3):
        with pytest.raises(StoreError, match="no space"):
            writer.put(entry(number)).result(10)
    store.broken = False
    writer.put(entry()).result(10)
    writer.close()


def test_too_much_that_waits_is_refused_at_once() -> None:
    slow = Slow()
    writer = DeliveryWriter(slow, most_bytes=1000)  # type: ignore[arg-type]
    first = writer.put(entry(body=b"x" * 900))
    slow.at_work.wait(10)
    second = writer.put(entry(body=b"x" * 900))
    with pytest.raises(StoreError, match="too many"):
        writer.put(entry(body=b"x" * 200))
    slow.let_go.set()
    wait([first, second])
    writer.put(entry(body=b"x" * 900)).result(10)
    writer.close()


def test_who_gave_up_waiting_does_not_disturb_the_others() -> None:
    slow = Slow()
    writer = DeliveryWriter(slow)  # type: ignore[arg-type]
    first = writer.put(entry())
    slow.at_work.wait(10)
    gone, stays = writer.put(entry()), writer.put(entry())
    gone.cancel()
    slow.let_go.set()
    wait([first, stays])
    assert stays.exception() is None
    writer.close()


def test_closing_stores_what_waits_and_takes_no_more(tmp_path: Path) -> None:
    store = InboxStore(tmp_path / "inbox.sqlite")
    writer = DeliveryWriter(store)
    done = [writer.put(entry(n)) for n in range(50)]
    writer.close()
    assert all(one.done() and one.exception() is None for one in done)
    assert store.count(Which()) == 50
    with pytest.raises(StoreError, match="being closed"):
        writer.put(entry())
    writer.close()
    store.close()
