"""Deliveries gather while a commit is under way; who is told so has it on disk."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from pathlib import Path

import pytest
from inbox.bodies import entry

from chatkit.errors import StoreError
from chatkit.inbox import receiver as module
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


def in_a_loop(test: Callable[..., Coroutine[None, None, None]]) -> Callable[..., None]:
    """Run a test in an event loop, as a receiver runs."""

    @wraps(test)
    def run(**fixtures: object) -> None:
        asyncio.run(test(**fixtures))

    return run


async def all_of(futures: Sequence[asyncio.Future[None]]) -> list[BaseException | None]:
    """Wait until all are finished with: what they failed with, or None."""
    async with asyncio.timeout(10):
        return [*await asyncio.gather(*futures, return_exceptions=True)]


@in_a_loop
async def test_what_comes_during_a_commit_is_stored_in_one() -> None:
    slow = Slow()
    writer = DeliveryWriter(slow)  # type: ignore[arg-type]
    first = writer.put(entry(0))
    await asyncio.to_thread(slow.at_work.wait, 10)
    rest = [writer.put(entry(n)) for n in range(1, 101)]
    await asyncio.sleep(0)
    assert not first.done() and not any(one.done() for one in rest)
    slow.let_go.set()
    assert await all_of([first, *rest]) == [None] * 101
    assert slow.groups == [1, 100]
    writer.close()


@in_a_loop
async def test_the_event_loop_is_woken_once_for_all_of_a_commit(monkeypatch) -> None:
    loop, woken = asyncio.get_running_loop(), []
    wake = type(loop).call_soon_threadsafe
    monkeypatch.setattr(
        type(loop), "call_soon_threadsafe", lambda *said: woken.append(said) or wake(*said)
    )
    slow = Slow()
    writer = DeliveryWriter(slow)  # type: ignore[arg-type]
    first = writer.put(entry(0))
    await asyncio.to_thread(slow.at_work.wait, 10)
    woken.clear()  # the thread above has woken the loop as well
    rest = [writer.put(entry(n)) for n in range(1, 101)]
    slow.let_go.set()
    await all_of([first, *rest])
    assert len(woken) == len(slow.groups) == 2
    writer.close()


@in_a_loop
async def test_it_is_stored_when_the_future_is_done(url: str) -> None:
    store = InboxStore(url)
    writer = DeliveryWriter(store)
    for number in range(20):
        await writer.put(entry(number))
        assert store.last() == number + 1
    writer.close()
    store.close()


@in_a_loop
async def test_one_that_no_database_takes_does_not_refuse_the_others(url: str) -> None:
    store = InboxStore(url)
    writer = DeliveryWriter(store)
    held = [entry(n, path=None if n == 5 else "/") for n in range(10)]
    done = [writer.put(one) for one in held]  # in one turn of the loop: one group
    failed = {number: error for number, error in enumerate(await all_of(done)) if error}
    assert [(number, type(error)) for number, error in failed.items()] == [(5, StoreError)]
    assert store.count(Which()) == 9
    writer.close()
    store.close()


@in_a_loop
async def test_a_store_that_fails_fails_each_and_works_again_later(tmp_path: Path) -> None:
    class Broken:
        broken = True
        asked = 0

        def write(self, entries: list[ReceivedDelivery]) -> None:
            self.asked += 1
            if self.broken:
                raise StoreError("no space")

    store = Broken()
    writer = DeliveryWriter(store)  # type: ignore[arg-type]
    for number in range(3):
        with pytest.raises(StoreError, match="no space"):
            await writer.put(entry(number))
    both = [writer.put(entry(number)) for number in range(2)]  # one group
    assert [str(error) for error in await all_of(both)] == ["no space"] * 2
    assert store.asked == 4, "what no delivery is to blame for is not tried with each of them"
    store.broken = False
    await writer.put(entry())
    writer.close()


@in_a_loop
async def test_too_much_that_waits_is_refused_at_once() -> None:
    slow = Slow()
    writer = DeliveryWriter(slow, most_bytes=1000)  # type: ignore[arg-type]
    first = writer.put(entry(body=b"x" * 900))
    await asyncio.to_thread(slow.at_work.wait, 10)
    second = writer.put(entry(body=b"x" * 900))
    with pytest.raises(StoreError, match="too many"):
        writer.put(entry(body=b"x" * 200))
    slow.let_go.set()
    await all_of([first, second])
    await writer.put(entry(body=b"x" * 900))
    writer.close()


@in_a_loop
async def test_as_much_as_may_wait_is_taken_again_and_again_and_a_byte_more_never(
    tmp_path: Path,
) -> None:
    store = InboxStore(tmp_path / "inbox.sqlite")
    writer = DeliveryWriter(store, most_bytes=1000)
    for number in range(3):
        await writer.put(entry(number, body=b"x" * 1000))
        with pytest.raises(StoreError, match="too many"):
            writer.put(entry(number, body=b"x" * 1001))
        assert len(writer._deadlines) == 1, "what was stored waits for nothing any more"
    writer.close()
    store.close()


@in_a_loop
async def test_a_commit_has_so_many_deliveries_and_so_many_bytes(monkeypatch) -> None:
    monkeypatch.setattr(module, "_GROUP", 4)
    monkeypatch.setattr(module, "_GROUP_BYTES", 1000)
    slow = Slow()
    writer = DeliveryWriter(slow)  # type: ignore[arg-type]
    first = writer.put(entry(0))
    await asyncio.to_thread(slow.at_work.wait, 10)
    small = [writer.put(entry(n)) for n in range(6)]
    large = [writer.put(entry(n, body=b"x" * 500)) for n in range(6)]
    slow.let_go.set()
    await all_of([first, *small, *large])
    assert slow.groups == [1, 4, 4, 2, 2]
    writer.close()


@in_a_loop
async def test_who_gave_up_waiting_does_not_disturb_the_others() -> None:
    slow = Slow()
    writer = DeliveryWriter(slow)  # type: ignore[arg-type]
    first = writer.put(entry())
    await asyncio.to_thread(slow.at_work.wait, 10)
    gone, stays = writer.put(entry()), writer.put(entry())
    gone.cancel()
    slow.let_go.set()
    assert await all_of([first, stays]) == [None, None]
    writer.close()


@in_a_loop
async def test_each_that_waits_too_long_fails_and_what_comes_later_has_its_own_time(
    monkeypatch,
) -> None:
    slow = Slow()
    writer = DeliveryWriter(slow)  # type: ignore[arg-type]
    monkeypatch.setattr(module, "STORE_SECONDS", 0.05)
    first = writer.put(entry(0))
    await asyncio.to_thread(slow.at_work.wait, 10)
    second = writer.put(entry(1))
    failed = await all_of([first, second])
    assert [type(error) for error in failed] == [TimeoutError, TimeoutError]
    third = writer.put(entry(2))
    assert [type(error) for error in await all_of([third])] == [TimeoutError]
    monkeypatch.setattr(module, "STORE_SECONDS", 60.0)
    fourth = writer.put(entry(3))
    slow.let_go.set()
    assert await all_of([fourth]) == [None]
    writer.close()


@in_a_loop
async def test_closing_stores_what_waits_and_takes_no_more(tmp_path: Path) -> None:
    store = InboxStore(tmp_path / "inbox.sqlite")
    writer = DeliveryWriter(store)
    done = [writer.put(entry(n)) for n in range(50)]
    writer.close()
    assert await all_of(done) == [None] * 50
    assert store.count(Which()) == 50
    with pytest.raises(StoreError, match="being closed"):
        writer.put(entry())
    writer.close()
    store.close()


def test_what_waits_is_stored_when_the_event_loop_has_ended(tmp_path: Path) -> None:
    store = InboxStore(tmp_path / "inbox.sqlite")
    slow = Slow()
    write, slow.write = slow.write, lambda entries: (write(entries), store.write(entries))  # type: ignore[method-assign]
    writer = DeliveryWriter(slow)  # type: ignore[arg-type]

    async def put() -> None:
        for number in range(5):
            writer.put(entry(number))

    asyncio.run(put())
    slow.let_go.set()
    writer.close()
    assert store.last() == 5
    store.close()
