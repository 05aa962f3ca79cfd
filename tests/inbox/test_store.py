"""Tests of the store: bodies stay as they came, on SQLite and PostgreSQL alike."""

import json
import sqlite3
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from bulk.journalling import child
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inbox.bodies import MARCH, entry
from postgres import PASSWORD, Server

from chatkit.errors import InputError, StoreError
from chatkit.inbox.delivery import Delivery, Selection
from chatkit.inbox.store import InboxStore


def ids(store: InboxStore, **choice: object) -> list[int]:
    return [delivery.id for delivery in store.select(Selection(**choice))]


@pytest.fixture
def store(url: str):
    store = InboxStore(url)
    yield store
    store.close()


def test_a_delivery_comes_back_byte_by_byte(store: InboxStore) -> None:
    headers = [["x-a", "1"], ["x-a", "2\x00"], ["x-b", "Zoë"]]
    store.write_deliveries([entry(body=bytes(range(256)), headers=json.dumps(headers), path="/ä")])
    assert [*store.select(Selection())] == [
        Delivery(
            1, MARCH, "id:0", "chat.message.status", True, "", True, "/ä",
            tuple(map(tuple, headers)), bytes(range(256)),
        )
    ]  # fmt: skip


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_bytes_are_a_body(store: InboxStore, body: bytes) -> None:
    store.write_deliveries([entry(body=body)])
    assert store.read_delivery(store.read_last_id()).body == body


def test_repeats_are_left_out_and_every_one_is_kept(store: InboxStore) -> None:
    store.write_deliveries([entry(1), entry(2), entry(1), entry(3)])
    store.write_deliveries([entry(2), entry(4), entry(4)])
    assert ids(store) == [1, 2, 4, 6]
    assert ids(store, repeats=True) == [1, 2, 3, 4, 5, 6, 7]
    assert (
        len([*store.select(Selection())]),
        len([*store.select(Selection(repeats=True))]),
    ) == (4, 7)
    assert ids(store, since=2) == [4, 6], "a repeat after the mark is still a repeat"


def test_a_filter_chooses_in_the_database(store: InboxStore) -> None:
    store.write_deliveries(
        [entry(n, kind="a" if n % 2 else None, verified=n < 4) for n in range(6)]
    )
    assert ids(store, since=2, until=5) == [3, 4, 5]
    assert ids(store, since=MARCH + timedelta(seconds=4)) == [5, 6]
    assert ids(store, until=MARCH.replace(tzinfo=None) + timedelta(seconds=1)) == [1]
    assert ids(store, kinds=["a", "b"]) == [2, 4, 6]
    assert ids(store, verified=False) == [5, 6]
    assert len([*store.select(Selection(kinds=["a"], verified=True))]) == 2


def test_pages_follow_each_other_without_a_gap(store: InboxStore) -> None:
    store.write_deliveries(
        [entry(n, kind="rare" if n % 700 == 5 else "often") for n in range(2000)]
    )
    assert ids(store) == [*range(1, 2001)]
    assert ids(store, kinds=["rare"]) == [6, 706, 1406]
    assert ids(store, since=1990, kinds=["often"]) == [*range(1991, 2001)]
    assert ids(store, since=MARCH + timedelta(seconds=1995)) == [*range(1996, 2001)]
    assert ids(store, since=MARCH + timedelta(days=9)) == ids(store, since=2**40) == []
    assert ids(store, since=-5, until=3) == [1, 2, 3]
    store.write_deliveries([entry(n, kind="late") for n in range(2000, 2600)])
    assert ids(store, kinds=["late"]) == [*range(2001, 2601)], "many at once, after none for long"


def test_a_reader_ends_though_a_writer_goes_on(store: InboxStore) -> None:
    store.write_deliveries([entry(n) for n in range(3)])
    seen = []
    for delivery in store.select(Selection()):
        seen.append(delivery.id)
        store.write_deliveries([entry(100 + delivery.id)])
    assert seen == [1, 2, 3]


def test_a_group_is_stored_as_a_whole_or_not_at_all(store: InboxStore) -> None:
    with pytest.raises(StoreError, match="could not be stored"):
        store.write_deliveries([entry(1), entry(2, path=None)])
    assert store.read_last_id() == 0


@pytest.mark.parametrize(
    "name", [name for name in entry()._fields if name not in ("kind", "contact")]
)
def test_only_the_kind_and_the_contact_of_a_delivery_may_be_unknown(
    tmp_path: Path, name: str
) -> None:
    store = InboxStore(tmp_path / "inbox.sqlite")
    with pytest.raises(StoreError) as caught:
        store.write_deliveries([entry(1, **{name: None})])
    store.close()
    assert caught.value.of_one, "it is this one's fault: others of its group are stored"


def test_several_receivers_write_at_once_and_a_follower_misses_none(url: str) -> None:
    """Were an id visible before a smaller one, a follower would step over the smaller one."""
    stores = [InboxStore(url) for _ in range(4)]
    done = threading.Event()
    followed: list[int] = []

    def write(choice: int) -> None:
        for group in range(15):
            stores[choice].write_deliveries(
                [entry(choice * 1000 + group * 10 + n) for n in range(3)]
            )

    def follow() -> None:
        follower = InboxStore(url)
        while True:
            ended = done.is_set()
            since = followed[-1] if followed else 0
            followed.extend(result.id for result in follower.select(Selection(since=since)))
            if ended:
                follower.close()
                return

    reader = threading.Thread(target=follow)
    reader.start()
    with ThreadPoolExecutor(4) as pool:
        [*pool.map(write, range(4))]
    done.set()
    reader.join()
    everything = ids(stores[0])
    assert len(everything) == 4 * 15 * 3
    assert followed == everything
    for store in stores:
        store.close()


OPENER = """
import sys
from chatkit.inbox.store import InboxStore
print("ready", flush=True)
for number, url in enumerate(sys.stdin):
    try:
        store = InboxStore(url.strip())
        store.read_last_id()
        store.close()
        print("opened", flush=True)
    except BaseException as error:
        print(type(error).__name__, error, flush=True)
"""


def test_processes_that_start_together_make_one_inbox(tmp_path: Path) -> None:
    """Each round is a new file, and all open it at the same moment."""
    with ExitStack() as stack:
        processes = [stack.enter_context(child(OPENER)) for _ in range(4)]
        assert {process.stdout.readline() for process in processes} == {"ready\n"}
        for number in range(25):
            for process in processes:
                process.stdin.write(f"sqlite:///{tmp_path}/{number}.sqlite\n")
                process.stdin.flush()
            output = [process.stdout.readline() for process in processes]
            assert output == ["opened\n"] * 4, f"round {number}"


def test_a_new_file_that_another_process_has_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite answers the switch to WAL with "locked" at once, whatever its timeout."""
    file = tmp_path / "inbox.sqlite"
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waited = []

    def pause() -> None:
        waited.append(1)
        if len(waited) == 3:
            other.execute("COMMIT")

    monkeypatch.setattr("chatkit.util.files.sleep_briefly", pause)
    store = InboxStore(file)
    store.write_deliveries([entry()])
    assert len(waited) == 3 and ids(store) == [1]
    store.close()
    other.close()


def test_a_new_file_that_stays_locked_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatkit.inbox.store._WAIT", 0.05)
    file = tmp_path / "inbox.sqlite"
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError) as caught:
        InboxStore(file)
    assert str(caught.value) == (
        f"The inbox sqlite:///{file} cannot be opened: another process has locked it for more "
        "than 0.05 seconds; end that process, or try again when it has finished"
    )
    other.close()


def test_an_inbox_is_there_again_after_it_was_closed(url: str) -> None:
    first = InboxStore(url)
    first.write_deliveries([entry()])
    first.close()
    second = InboxStore(url)
    assert ids(second) == [1]
    second.close()


def test_what_people_wrote_is_in_no_error(store: InboxStore) -> None:
    words = "my doctor says"
    with store.engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE delivery RENAME TO elsewhere"))
    with pytest.raises(StoreError) as caught:
        store.write_deliveries([entry(1, body=words.encode())])
    assert words not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(sa.exc.DBAPIError) as beneath, store.engine.connect() as connection:
        connection.execute(sa.text("SELECT * FROM delivery WHERE kind = :kind"), {"kind": words})
    assert words not in str(beneath.value)


def test_a_delivery_that_is_not_there_is_said_so(store: InboxStore) -> None:
    with pytest.raises(InputError, match="no delivery 7"):
        store.read_delivery(7)


# --- large inboxes ---


def plans(store: InboxStore, choice: Selection) -> list[str]:
    """Return the query plan of each query of a read."""
    asked: list[tuple[str, object]] = []
    sa.event.listen(
        store.reading,
        "before_cursor_execute",
        lambda c, cu, text, values, *_: asked.append((text, values)),
    )
    [*store.select(choice)]
    queries = tuple(asked)
    explain = "EXPLAIN QUERY PLAN " if store.reading.dialect.name == "sqlite" else "EXPLAIN "
    with store.reading.connect() as connection:
        if explain == "EXPLAIN ":  # no planner uses an index for a thousand rows
            connection.exec_driver_sql("SET enable_seqscan = off")
        return [
            "\n".join(map(str, connection.exec_driver_sql(explain + text, values)))
            for text, values in queries
        ]


def test_a_time_is_found_by_its_index(store: InboxStore) -> None:
    store.write_deliveries([entry(n) for n in range(1000)])
    result = plans(store, Selection(since=MARCH + timedelta(seconds=900)))
    assert len([plan for plan in result if "delivery_received" in plan]) == 1, result


def test_a_contact_is_found_by_its_index(store: InboxStore) -> None:
    """Of the others only those of nobody, or of several, have their bodies searched."""
    everyone = [f"+{10_000 + n % 300}" if n % 10 else "" for n in range(3000)]
    store.write_deliveries([entry(n, contact=one) for n, one in enumerate(everyone)])
    pages = [
        plan for plan in plans(store, Selection(contact="+10007")) if "delivery_contact" in plan
    ]
    assert pages and all(plan.count("delivery_contact") == 2 for plan in pages[1:]), pages
    assert ids(store, contact="+10007") == [8 + 300 * n for n in range(10)]


def test_a_bound_by_id_stands_once_in_a_query(store: InboxStore) -> None:
    """Bounded twice, SQLite takes one end to seek and reads on to the other: quadratic."""
    store.write_deliveries([entry(n) for n in range(3)])
    asked: list[str] = []
    sa.event.listen(
        store.reading, "before_cursor_execute", lambda c, cu, text, *_: asked.append(text)
    )
    assert ids(store, since=1, until=2) == [2]
    (page,) = [text for text in asked if "body" in text]
    assert page.count("delivery_once.id <= ") == page.count("delivery_once.id > ") == 1, page


def test_a_reader_has_a_limit_of_its_own_and_cannot_write(store: InboxStore, url: str) -> None:
    store.write_deliveries([entry()])
    with pytest.raises(sa.exc.DBAPIError), store.reading.begin() as connection:
        connection.exec_driver_sql("DELETE FROM delivery")
    assert ids(store) == [1]
    if url.startswith("postgresql"):
        limits = []
        for engine in (store.engine, store.reading):
            with engine.connect() as connection:
                limits.append(connection.exec_driver_sql("SHOW statement_timeout").scalar())
        assert limits == ["5s", "1min"]


def test_a_read_under_way_makes_no_receiver_wait(store: InboxStore) -> None:
    store.write_deliveries([entry(n) for n in range(3)])
    with store.reading.connect() as connection:
        rows = connection.execution_options(stream_results=True).exec_driver_sql(
            "SELECT a.id FROM delivery AS a, delivery AS b"
        )
        rows.fetchone()  # and its transaction stays open
        store.write_deliveries([entry(3)])
        rows.close()
    assert len(ids(store)) == 4


# --- SQLite ---


def test_without_an_address_it_lies_in_the_folder_of_its_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "new" / "data"))
    store = InboxStore()
    store.write_deliveries([entry()])
    file = tmp_path / "new" / "data" / "inbox.sqlite"
    for name in ("", "-wal", "-shm"):
        mode = file.with_name(file.name + name).stat().st_mode
        assert mode & 0o777 == 0o600, "customers' messages are for their owner alone"
    assert file.parent.stat().st_mode & 0o777 == 0o700
    store.close()


def test_every_commit_reaches_the_disk(tmp_path: Path) -> None:
    store = InboxStore(tmp_path / "inbox.sqlite")
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
    store.close()


def test_a_locked_file_is_an_error_of_ours_and_nothing_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatkit.inbox.store._WAIT", 0.1)
    store, other = InboxStore(tmp_path / "inbox.sqlite"), InboxStore(tmp_path / "inbox.sqlite")
    with other.engine.begin() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            store.write_deliveries([entry()])
    store.write_deliveries([entry()])
    assert ids(store) == [1]
    store.close()
    other.close()


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"\x00" * 4096])
def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "inbox.sqlite"
    file.write_bytes(content)
    with pytest.raises(StoreError, match="cannot be opened"):
        InboxStore(file)
    assert file.read_bytes() == content


def test_the_inbox_of_another_version_is_refused(tmp_path: Path) -> None:
    store = InboxStore(tmp_path / "inbox.sqlite")
    with store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE inbox SET version = 99")
    store.close()
    with pytest.raises(StoreError, match="schema 99"):
        InboxStore(tmp_path / "inbox.sqlite")


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_an_inbox_in_memory_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="would forget"):
        InboxStore(url)


@pytest.mark.parametrize("url", ["mysql://a:hidden@h/d", "://hidden", "postgres@://hidden"])
def test_another_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InputError, match="An inbox is") as caught:
        InboxStore(url)
    assert "hidden" not in str(caught.value)


# --- PostgreSQL ---


def test_the_password_is_shown_nowhere(postgres: Server) -> None:
    store = InboxStore(postgres.url())
    assert PASSWORD not in store.address and "***" in store.address
    store.close()
    wrong = PASSWORD + "-but-wrong"
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        InboxStore(postgres.url(password=wrong))
    assert PASSWORD not in str(caught.value)


def test_nobody_listening_is_an_error_of_ours() -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        InboxStore("postgresql://chatkit:x@127.0.0.1:9/none")


def test_a_connection_that_the_server_closed_is_made_again(postgres: Server) -> None:
    store = InboxStore(postgres.new())
    store.write_deliveries([entry(1)])
    postgres.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    store.write_deliveries([entry(2)])
    assert len(ids(store)) == 2
    store.close()


def test_a_database_whose_owner_switched_durability_off_is_durable_for_us(
    postgres: Server,
) -> None:
    url = postgres.new()
    postgres.run(f"ALTER DATABASE {url.rsplit('/', 1)[1]} SET synchronous_commit = off")
    store = InboxStore(url)
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
    store.close()
