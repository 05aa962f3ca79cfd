"""Deliveries gather while a commit is under way; who is told so has it on disk."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps

import pytest
from inbox.bodies import entry

from chatkit.errors import StoreError
from chatkit.inbox import receiver as module
from chatkit.inbox.delivery import Selection
from chatkit.inbox.receiver import Answer, Batches, ReceivedRequest
from chatkit.inbox.store import InboxStore

STORED, NOT_STORED = (200, "stored"), (503, "not stored: send it again")


def arrival(number: int = 0, body: bytes | None = None) -> ReceivedRequest:
    return ReceivedRequest("/", [], b"%d" % number if body is None else body, 0.0)


class Slow:
    """A writer whose first batch waits until it is let go."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.let_go, self.at_work = threading.Event(), threading.Event()

    def __call__(self, arrivals: Sequence[ReceivedRequest]) -> list[Answer]:
        self.at_work.set()
        self.let_go.wait(10)
        self.batches.append(len(arrivals))
        return [STORED] * len(arrivals)


def in_a_loop(test: Callable[..., Coroutine[None, None, None]]) -> Callable[..., None]:
    """Run a test in an event loop, as a receiver runs."""

    @wraps(test)
    def run(**fixtures: object) -> None:
        asyncio.run(test(**fixtures))

    return run


async def put(batches: Batches, *arrivals: ReceivedRequest) -> list[asyncio.Task[Answer]]:
    """Put deliveries that come together, and let them begin to wait."""
    tasks = [asyncio.create_task(batches.store(one)) for one in arrivals]
    await asyncio.sleep(0)
    return tasks


async def at_work(
    slow: Slow, batches: Batches, first: ReceivedRequest
) -> list[asyncio.Task[Answer]]:
    """Put the delivery that the writer is busy with from now on."""
    tasks = await put(batches, first)
    await asyncio.to_thread(slow.at_work.wait, 10)
    return tasks


@in_a_loop
async def test_what_comes_during_a_commit_is_stored_in_one() -> None:
    slow = Slow()
    batches = Batches(slow)
    first = await at_work(slow, batches, arrival(0))
    rest = await put(batches, *(arrival(n) for n in range(1, 101)))
    assert not any(one.done() for one in first + rest)
    slow.let_go.set()
    assert await asyncio.gather(*first, *rest) == [STORED] * 101
    assert slow.batches == [1, 100]


@in_a_loop
async def test_one_that_no_database_takes_does_not_refuse_the_others(url: str) -> None:
    store = InboxStore(url)

    def write(arrivals: Sequence[ReceivedRequest]) -> list[Answer]:
        numbers = [int(one.body) for one in arrivals]
        store.write_deliveries([entry(n, path=None if n == 5 else "/") for n in numbers])
        return [STORED] * len(arrivals)

    answers = await asyncio.gather(*await put(Batches(write), *map(arrival, range(10))))
    assert [n for n, answer in enumerate(answers) if answer == NOT_STORED] == [5]
    assert len([*store.select(Selection())]) == 9
    store.close()


@in_a_loop
async def test_a_store_that_fails_fails_each_and_works_again_later() -> None:
    asked, broken = [], [True]

    def write(arrivals: Sequence[ReceivedRequest]) -> list[Answer]:
        asked.append(len(arrivals))
        if broken:
            raise StoreError("no space")
        return [STORED] * len(arrivals)

    batches = Batches(write)
    assert await asyncio.gather(*await put(batches, *map(arrival, range(3)))) == [NOT_STORED] * 3
    assert asked == [3], "what no delivery is to blame for is not tried with each of them"
    broken.clear()
    assert await batches.store(arrival()) == STORED


@in_a_loop
async def test_one_that_cannot_be_read_does_not_refuse_the_others() -> None:
    def write(arrivals: Sequence[ReceivedRequest]) -> list[Answer]:
        if b"3" in [one.body for one in arrivals]:
            raise LookupError
        return [STORED] * len(arrivals)

    answers = await asyncio.gather(*await put(Batches(write), *map(arrival, range(5))))
    assert answers == [STORED] * 3 + [NOT_STORED, STORED]


@in_a_loop
async def test_too_much_that_waits_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_WAITING_BYTES", 1000)
    slow = Slow()
    batches = Batches(slow)
    first = await at_work(slow, batches, arrival(body=b"x" * 900))
    second = await put(batches, arrival(body=b"x" * 900))
    assert await batches.store(arrival(body=b"x" * 200)) == NOT_STORED
    slow.let_go.set()
    assert await asyncio.gather(*first, *second) == [STORED] * 2
    for _ in range(3):
        assert await batches.store(arrival(body=b"x" * 1000)) == STORED
        assert await batches.store(arrival(body=b"x" * 1001)) == NOT_STORED


@in_a_loop
async def test_a_commit_has_so_many_deliveries_and_so_many_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_BATCH_SIZE", 4)
    monkeypatch.setattr(module, "_BATCH_BYTES", 1000)
    slow = Slow()
    batches = Batches(slow)
    first = await at_work(slow, batches, arrival(0))
    small = await put(batches, *(arrival(n) for n in range(6)))
    large = await put(batches, *(arrival(body=b"x" * 500) for n in range(6)))
    slow.let_go.set()
    await asyncio.gather(*first, *small, *large)
    assert slow.batches == [1, 4, 4, 2, 2]


@in_a_loop
async def test_who_gave_up_waiting_does_not_disturb_the_others() -> None:
    slow = Slow()
    batches = Batches(slow)
    first = await at_work(slow, batches, arrival())
    gone, stays = await put(batches, arrival(), arrival())
    gone.cancel()
    slow.let_go.set()
    assert await asyncio.gather(*first, stays) == [STORED] * 2


@in_a_loop
async def test_each_that_waits_too_long_is_answered_and_what_comes_later_has_its_own_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = Slow()
    batches = Batches(slow)
    monkeypatch.setattr(module, "STORE_SECONDS", 0.05)
    first = await at_work(slow, batches, arrival(0))
    second = await put(batches, arrival(1))
    assert await asyncio.gather(*first, *second) == [NOT_STORED] * 2
    monkeypatch.setattr(module, "STORE_SECONDS", 60.0)
    third = await put(batches, arrival(2))
    slow.let_go.set()
    assert await asyncio.gather(*third) == [STORED]
