"""The delivery queue: it survives a crash, removes each delivery once, and has a bound."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatkit.sandbox import delivery as module
from chatkit.sandbox.delivery import DeliveryQueue, QueueFull
from chatkit.sandbox.store import SandboxStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SandboxStore]:
    store = SandboxStore(tmp_path / "a.db")
    yield store
    store.close()


def test_an_event_waits_for_each_webhook_in_the_order_it_is_due(store: SandboxStore) -> None:
    queue = DeliveryQueue(store)
    first = queue.add("1001", [41, 42], "msg_1", "any", b"1", due=5.0)
    second = queue.add("1001", [41], "msg_2", "any", b"2", due=3.0)
    assert queue.count() == 3
    assert sorted(queue.list_webhooks()) == [("1001", 41), ("1001", 42)]
    assert queue.fresh == {("1001", 41), ("1001", 42)}
    due = queue.find_next_due("1001", 41)
    assert due is not None
    assert (due.id, due.message_id, due.body, due.attempts) == (*second, "msg_2", b"2", 0)
    queue.schedule_retry(due, 9.0)
    later = queue.find_next_due("1001", 41)
    assert later is not None
    assert first == {later.id: 41, later.id + 1: 42}
    queue.remove(later)
    last = queue.find_next_due("1001", 41)
    assert last is not None
    assert (last.id, last.attempts, last.due) == (*second, 1, 9.0)
    assert not queue.contains(later)
    assert queue.find_next_due("2002", 41) is None


def test_what_waits_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    store = SandboxStore(path)
    DeliveryQueue(store).add("1001", [41], "msg_1", "any", "Zoë".encode(), due=5.0)
    store.close()
    again = SandboxStore(path)
    queue = DeliveryQueue(again)
    result = queue.find_next_due("1001", 41)
    assert result is not None
    assert result.body.decode() == "Zoë"
    assert queue.fresh == set()
    again.close()


def test_what_is_rolled_back_waits_for_nobody(store: SandboxStore) -> None:
    queue = DeliveryQueue(store)
    queue.add("1001", [41], "msg_1", "any", b"1", due=5.0)
    store.rollback()
    assert (queue.count(), queue.fresh) == (0, set())


def test_an_id_is_never_given_twice_even_after_a_reset(store: SandboxStore) -> None:
    queue = DeliveryQueue(store)
    (before,) = queue.add("1001", [41], "msg_1", "any", b"1", due=5.0)
    old = queue.find_next_due("1001", 41)
    assert old is not None
    store.commit()
    store.clear()
    store.commit()
    assert queue.count() == 0
    (after,) = queue.add("1001", [41], "msg_1", "any", b"1", due=5.0)
    assert after > before
    queue.remove(old)
    assert queue.count() == 1


def test_all_that_waits_for_a_webhook_can_be_dropped(store: SandboxStore) -> None:
    queue = DeliveryQueue(store)
    ids = [*queue.add("1001", [41, 41, 41], "msg_1", "any", b"1", due=5.0)]
    queue.add("1001", [42], "msg_9", "any", b"1", due=5.0)
    assert queue.remove_webhook("1001", 41) == ids
    assert queue.list_webhooks() == [("1001", 42)]


def test_a_full_queue_refuses_until_it_is_below_its_bound(
    store: SandboxStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 3)
    queue = DeliveryQueue(store)
    queue.add("1001", [41, 42], "msg_1", "any", b"1", due=5.0)
    queue.add("1001", [41, 42], "msg_2", "any", b"1", due=5.0)
    with pytest.raises(QueueFull, match="3 deliveries wait"):
        queue.add("1001", [41], "msg_3", "any", b"1", due=5.0)
    assert queue.count() == 4
    for _ in range(2):
        due = queue.find_next_due("1001", 41)
        assert due is not None
        queue.remove(due)
    assert len(queue.add("1001", [41], "msg_3", "any", b"1", due=5.0)) == 1
