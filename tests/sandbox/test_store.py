"""The store: files, commits and rollbacks; tables: pages, keys and the texts of records."""

import sqlite3
import stat
from contextlib import ExitStack
from select import select

import pytest
from bulk.journalling import child
from caller import Caller
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import store_of

from chatkit import ServiceProfile
from chatkit.errors import StoreError
from chatkit.sandbox import Sandbox
from chatkit.sandbox.store import ResourceTable, SandboxStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "sandbox.db"


def fill(call):
    return call.contact(name="Ana"), call.flow(), call.webhook().data["id"], call.content()


def test_a_file_keeps_everything(path):
    with Sandbox(path) as sandbox:
        call = Caller(sandbox)
        fill(call)
        gone = call.contact("2025550199")
        call("DELETE", f"/contacts/{gone}")
        paths = ["/contacts", "/flows", "/webhooks", "/templates/greeting/contents"]
        before = [call("GET", path).json for path in paths]
    with Sandbox(path) as sandbox:
        call = Caller(sandbox)
        assert [call("GET", path).json for path in paths] == before
        assert call("GET", "/contacts?search=ana").total == 1
        assert (
            call("POST", "/contacts", {"number": "2025550143", "country_code": "+1"}).status == 409
        )
        assert call.contact("2025550199") == gone
        assert call.contact("2025550155") == gone + 1


def test_a_file_is_for_its_owner_alone_and_has_one_sandbox_at_a_time(path, monkeypatch):
    monkeypatch.setattr("chatkit.sandbox.store._WAIT", 0)
    with Sandbox(path), pytest.raises(StoreError) as caught:
        for each in path.parent.iterdir():
            assert stat.S_IMODE(each.stat().st_mode) == 0o600
        Sandbox(path)
    assert str(caught.value) == (
        f"Another sandbox has the file {path} open, and had it for all of 0 seconds: "
        "close that sandbox, or take another file."
    )
    Sandbox(path).close()
    with pytest.raises(StoreError, match="other quirks"):
        Sandbox(path, quirks={"text_ids"})
    Sandbox(path, profile=ServiceProfile(search_param="q")).close()


def test_a_file_is_waited_for_while_another_sandbox_ends(path, monkeypatch):
    first, waited = Sandbox(path), []

    def pause():
        waited.append(1)
        if len(waited) == 3:
            first.close()

    monkeypatch.setattr("chatkit.sandbox.store.sleep_briefly", pause)
    with Sandbox(path) as second:
        assert len(waited) == 3 and Caller(second)("GET", "/contacts").total == 0


OPENER = """
import sys
import chatkit.sandbox.store
from chatkit.sandbox import Sandbox
print("ready", flush=True)
chatkit.sandbox.store._WAIT = 100.0
for line in sys.stdin:
    try:
        sandbox = Sandbox(line.strip())
    except BaseException as error:
        print(type(error).__name__, error, flush=True)
        break
    print("has it", flush=True)
    sys.stdin.readline()
    sandbox.close()
"""


def test_processes_that_start_together_on_a_new_file_have_it_one_after_the_other(tmp_path):
    """Each holds what the other needs for a moment: they must not both give up, or both have it."""
    with ExitStack() as stack:
        both = [stack.enter_context(child(OPENER)) for _ in range(2)]
        assert [process.stdout.readline() for process in both] == ["ready\n"] * 2
        for number in range(25):
            for process in both:
                process.stdin.write(f"{tmp_path / str(number)}\n")
                process.stdin.flush()
            (first, *both_at_once), _, _ = select([process.stdout for process in both], [], [])
            assert not both_at_once, f"round {number}"
            order = both if first is both[0].stdout else both[::-1]
            for process in order:
                assert process.stdout.readline() == "has it\n", f"round {number}"
                process.stdin.write("close\n")
                process.stdin.flush()


def test_a_file_of_another_program_is_refused_and_left_alone(tmp_path):
    text = tmp_path / "text"
    text.write_text("not a database, and long enough to be looked at " * 100)
    before = text.read_bytes()
    with pytest.raises(StoreError):
        Sandbox(text)
    assert text.read_bytes() == before
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        Sandbox(other)


def test_a_commit_that_fails_undoes_every_write_since_the_last(monkeypatch, caplog):
    with Sandbox(seed="empty") as sandbox:
        call, store = Caller(sandbox), store_of(sandbox)
        kept = call.contact(name="Ana")
        assert call("GET", "/contacts?search=ana").total == 1
        run = store.run

        def full(statement, values=()):
            if statement == "COMMIT":
                raise sqlite3.OperationalError("database or disk is full")
            return run(statement, values)

        monkeypatch.setattr(store, "run", full)
        reply = call("POST", "/contacts", {"number": "2025550144", "country_code": "+1"})
        assert reply.status == 503
        assert call("PUT", f"/contacts/{kept}", {"name": "Bo"}).status == 503
        assert call("DELETE", f"/contacts/{kept}").status == 503
        assert not store.dirty
        monkeypatch.undo()
        assert [contact["first_name"] for contact in call("GET", "/contacts").data] == ["Ana"]
        assert call("GET", "/contacts?search=bo").total == 0
        assert call.contact("2025550144") == kept + 1
    assert "database or disk is full" in caplog.text
    assert "2025550144" not in caplog.text


def test_every_table_is_cleared_and_rolled_back_with_the_records(path):
    class Facts:
        name = "facts"
        forgotten = 0

        def drop_cache(self):
            self.forgotten += 1

    store, facts = SandboxStore(path), Facts()
    assert store.is_empty and not store.dirty
    store.tables.append(facts)
    store.write("INSERT INTO facts VALUES ('a', '1')")
    store.rollback()
    assert facts.forgotten == 1
    store.write("INSERT INTO facts VALUES ('b', '1')")
    store.clear()
    store.commit()
    assert store.run("SELECT count(*) FROM facts").fetchone()[0] == 0
    assert facts.forgotten == 2
    store.close()


# --- tables ---------------------------------------------------------------------------

STEPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.sampled_from("abc")))


@pytest.fixture
def memory():
    store = SandboxStore()
    yield store
    store.close()


@pytest.fixture
def table(memory):
    table = ResourceTable(memory, "things", first_id=11)
    for at in range(20):
        record_id = table.next_id()
        table.insert(record_id, "ab"[at % 2], f"k{at}", f'{{"id":{record_id}}}', "{}", "{}")
    return table


def test_items_are_the_texts_of_ids_in_order_and_a_record_is_known_in_its_own_scope(table):
    assert list(table.list_ids("a")) == list(range(11, 31, 2))
    assert table.next_id() == 31
    for ids in ([], [11], [11, 12, 13], [11, 13, 29], [30]):
        assert table.join_items(ids) == ",".join(f'{{"id":{at}}}' for at in ids).encode()
    row = table.find_record(11, "a")
    assert row == table.find_record(11) and row.key == "k0"
    assert table.find_record(11, "b") is None
    assert table.find_by_key("b", "k0") is None
    assert row.full_text == '{"id":11}'
    assert row._replace(more='{"x":1}').full_text == '{"id":11,"x":1}'


@pytest.mark.parametrize("listed", [False, True])
@settings(deadline=None)
@given(steps=STEPS)
def test_ids_and_keys_are_those_of_a_list_after_any_steps(listed, steps):
    store = SandboxStore()
    table = ResourceTable(store, "things", first_id=0, lists_deleted=listed)
    records: list[list] = []  # key, active; the id is the place
    for step, at, key in steps:
        taken = [key, True] in records
        record = records[at] if at < len(records) else None
        if step == 0 and not taken:
            assert table.next_id() == len(records)
            table.insert(len(records), "s", key, "{}", "{}", "{}")
            records.append([key, True])
        elif step == 1 and record and record[1]:
            table.deactivate(table.find_record(at))
            record[1] = False
        elif step == 2 and record and not record[1] and [record[0], True] not in records:
            table.rewrite(table.find_record(at), record[0], "{}", "{}", "{}")
            record[1] = True
        elif step == 3 and record and record[1] and not taken:
            table.rewrite(table.find_record(at), key, "{}", "{}", "{}")
            record[0] = key
        elif step == 4:
            output = [at for at, (_, active) in enumerate(records) if active or listed]
            assert (
                list(table.list_ids("s")) == output == [row.id for row in table.select_records("s")]
            )
    for key in "abc":
        by_activity = [(active, at) for at, (k, active) in enumerate(records) if k == key]
        result = table.find_by_key("s", key)
        assert (result and result.id) == max(by_activity, default=(None, None))[1]
    assert table.has_scope("s") == bool(records)
    assert table.list_active_scopes() == (["s"] if any(active for _, active in records) else [])
    store.close()


def test_a_key_that_is_shared_stays_with_the_newest(memory):
    table = ResourceTable(memory, "things", first_id=1)
    for record_id in (1, 2):
        table.insert(record_id, "s", "a", "{}", "{}", "{}")
    assert table.find_by_key("s", "a").id == 2
    table.deactivate(table.find_record(1))
    assert table.find_by_key("s", "a").id == 2


def test_a_page_shows_later_writes_and_a_rollback(table, memory):
    ids = [11, 12]
    assert table.join_items(ids) == b'{"id":11},{"id":12}'
    memory.commit()
    table.rewrite(table.find_record(12), "k1", '{"id":"new"}', "{}", "{}")
    assert table.join_items(ids) == b'{"id":11},{"id":"new"}'
    memory.rollback()
    assert table.join_items(ids) == b'{"id":11},{"id":12}'
