"""The journal of a run: what is committed stays, whatever ends the process."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import struct
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from bulk.journalling import (  # noqa: F401
    KILLED,
    WHOLE,
    change,
    child,
    create,
    created,
    events,
    folder,
    header,
    journals,
    killed,
    opened,
    path_of,
    read,
    siblings,
    summary,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.bulk import journal as written
from chatkit.bulk import stores
from chatkit.bulk.changes import Change
from chatkit.bulk.journal import FolderStore, make_run_id
from chatkit.bulk.stores import (
    delete_journals,
    find_run,
    get_journal_folder,
    list_runs,
    list_stores,
)
from chatkit.errors import AccountBusy, InputError, JournalError
from chatkit.util.files import get_temporary_folder, get_user_name, hold_account_lock

# --- what is written is read --------------------------------------------------------------

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
LABELS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | FLOATS | st.text(),
    lambda label: st.lists(label, min_size=1, max_size=3).map(tuple),
    max_leaves=4,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | st.text(),
    lambda value: st.lists(value, max_size=3) | st.dictionaries(st.text(), value, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(st.tuples(LABELS, st.text(), st.dictionaries(st.text(), VALUES, max_size=3))))
def test_changes_and_header_come_back_as_they_were(tmp_path_factory, rows):
    changes = [
        Change(row, "create", None, label, {}, after, code=label, loss=label)
        for row, label, after in rows
    ]
    about = header(make_run_id(), len(rows), account="x", names=("id", None), undoes="20261120-1")
    folder = tmp_path_factory.getbasetemp() / "round"
    with create(folder, about, changes) as journal:
        assert (journal.header, [*journal.changes()]) == (about, changes)
    with opened(path_of(journal)) as journal:
        assert (journal.header, [*journal.changes()]) == (about, changes)
    assert summary(path_of(journal))[2:] == (about, None)


@settings(max_examples=volume(15))
@given(
    st.lists(
        st.lists(st.tuples(st.none() | st.integers(0, 9), st.dictionaries(st.text(), VALUES))),
        max_size=4,
    )
)
def test_events_come_back_in_order(tmp_path_factory, groups):
    folder = tmp_path_factory.getbasetemp() / "events"
    written = []
    with created(folder, run=make_run_id()) as journal:
        for group in groups:
            for n, live in group:
                journal.write(n, "intent", attempt=1, live=live)
                written.append((n, "intent", {"attempt": 1, "live": live}))
            journal.commit()
        assert events(journal) == written
    with opened(path_of(journal)) as journal:
        assert events(journal) == written
        journal.write(None, "finished")
        journal.commit()
        assert events(journal) == [*written, (None, "finished", {})]


def test_what_json_cannot_hold_is_refused_and_nothing_is_left_on_disk(folder):
    with pytest.raises(InputError, match="JSON cannot hold some of the rows, so nothing was sent"):
        created(folder, [change(), change("half \ud800")])
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("fields", [{"run": "../x"}, {"run": ""}, {"account": "\ud800"}])
def test_a_header_that_would_not_come_back_is_refused(folder, fields):
    with pytest.raises(InputError):
        created(folder, **fields)
    assert not folder.parent.exists()


# --- where, and for whom ------------------------------------------------------------------


def test_a_journal_is_for_its_owner_alone(folder):
    before = os.umask(0)
    try:
        journal = created(folder)
        journal.write(1, "intent")
        journal.commit()
        with hold_account_lock(folder, "account"):
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
        journal.close()
    finally:
        os.umask(before)
    assert len(modes) == 6  # the journal, its log, index and count; the lock and its holder
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_others_may_read_keeps_its_rights_and_a_journal_in_it_is_private(folder):
    folder.mkdir(parents=True, mode=0o755)
    created(folder).close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert [stat.S_IMODE(path.stat().st_mode) for path in journals(folder)] == [0o600]


def test_a_closed_journal_is_one_file(folder):
    with created(folder, [change()]) as journal:
        for _ in range(3):
            journal.write(0, "intent")
            journal.commit()
        assert len(list(folder.iterdir())) == 4
    assert [path.name for path in folder.iterdir()] == ["20261120-101502-7f3a.db"]
    read(path_of(journal)).close()
    assert summary(path_of(journal)).header is not None
    assert [path.name for path in folder.iterdir()] == ["20261120-101502-7f3a.db"]


def test_a_run_has_one_journal(folder):
    with created(folder, [change()]) as journal:
        with pytest.raises(JournalError, match=r"20261120-101502-7f3a.db is there already"):
            created(folder)
        assert [*journal.changes()] == [change()]
    assert len(list(folder.iterdir())) == 1


def test_changes_come_from_an_iterator_and_are_read_in_parts(folder, monkeypatch):
    monkeypatch.setattr(written, "_READ", 4)
    changes = [change(row=n) for n in range(23)]
    with create(folder, header(changes=23), iter(changes)) as journal:
        assert [*journal.changes()] == changes


def test_changes_that_fail_half_way_leave_nothing(folder):
    def failing():
        yield change()
        yield change(seen="\ud800")

    with pytest.raises(InputError, match="half a character"):
        create(folder, header(changes=2), failing())
    assert list(folder.iterdir()) == []


def test_names_of_runs_sort_by_time():
    names = []
    for _ in range(20):
        names.append(make_run_id())
        time.sleep(0.0005)
    assert names == sorted(set(names))
    assert all(re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{6}", name) for name in names)


def test_the_name_of_a_run_at_the_very_end_of_a_second_is_as_long_as_any(monkeypatch):
    end = datetime(2026, 1, 5, 8, 0, 59, 999_999, tzinfo=UTC)
    monkeypatch.setattr(written, "datetime", SimpleNamespace(now=lambda zone: end))
    assert re.fullmatch(r"20260105-080059-fff[0-9a-f]{3}", make_run_id())


def test_journals_live_in_the_data_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert get_journal_folder(passing=False).name == "runs"
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "mine"))
    assert get_journal_folder(passing=False) == tmp_path / "mine" / "runs"
    monkeypatch.setenv("CHATKIT_DATA", "~/mine")
    assert get_journal_folder(passing=False) == Path.home() / "mine" / "runs"


def test_journals_of_an_account_in_memory_lie_in_the_temporary_folder_of_the_process():
    assert (
        get_journal_folder(passing=True)
        == get_temporary_folder() / "runs"
        != get_journal_folder(passing=False)
    )
    assert [s.folder for s in list_stores()] == [
        get_journal_folder(passing=True),
        get_journal_folder(passing=False),
    ]


def test_listing_journals_makes_no_folder(tmp_path):
    code = """
from chatkit.bulk.stores import list_runs
print([*list_runs()])
"""
    places = {"TMPDIR": str(tmp_path), "CHATKIT_DATA": str(tmp_path / "data")}
    with child(code, env=os.environ | places) as process:
        assert process.stdout.read() == "[]\n"
    assert not any(tmp_path.iterdir())


def test_a_run_is_found_by_as_much_of_its_name_as_is_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "kept"))
    monkeypatch.setattr(stores, "get_temporary_folder", lambda: tmp_path)
    monkeypatch.setattr(stores, "find_temporary_folder", lambda: tmp_path)
    runs = ["19991120-1", "19991120-12", "19991121-1"]
    for run in runs:
        created(get_journal_folder(passing=False), run=run).close()
    created(get_journal_folder(passing=True), run="19991122-1").close()
    assert [kept.run for kept in list_runs()] == ["19991122-1", *runs]
    assert find_run("19991121")[1] == "19991121-1"
    assert find_run("19991120-1")[1] == "19991120-1"  # all of it, though another begins so
    assert find_run("19991122")[0].folder == get_journal_folder(passing=True)
    with pytest.raises(JournalError, match=r"2 runs begin with '19991120' \(19991120-1, 1999"):
        find_run("19991120")
    for unknown in ("2027", "", "../19991121-1", "*"):
        with pytest.raises(JournalError, match=r"No run is called .*chatkit\.runs\(\) lists"):
            find_run(unknown)
    assert FolderStore(tmp_path / "nowhere").runs() == []


# --- groups -------------------------------------------------------------------------------


def commits(path):
    """Count the commits in SQLite's log, as its file format describes it."""
    log = path.with_name(path.name + "-wal").read_bytes()
    (page,) = struct.unpack_from(">I", log, 8)
    frames = [struct.unpack_from(">II", log, at) for at in range(32, len(log), 24 + page)]
    return sum(size > 0 for _, size in frames)


def test_a_group_is_one_transaction(folder):
    with created(folder) as journal:
        for number in range(5):
            for n in range(200):
                journal.write(n, "intent", group=number)
            assert len(events(journal)) == 200 * number
            journal.commit()
        journal.commit()  # nothing is pending: nothing is written
        assert len(events(journal)) == 1000
        assert commits(path_of(journal)) == 5


def test_a_closed_journal_records_nothing_more(folder):
    journal = created(folder)
    journal.close()
    journal.close()
    for step in (lambda: journal.write(1, "intent"), journal.commit):
        with pytest.raises(JournalError, match="it is closed"):
            step()


@pytest.mark.parametrize("error", [KeyboardInterrupt, sqlite3.OperationalError("broken")])
def test_a_commit_that_was_broken_off_stops_the_journal(folder, monkeypatch, error):
    journal = created(folder)
    journal.write(1, "intent")
    journal.commit()
    journal.write(2, "intent")

    def broken(*_):
        raise error

    monkeypatch.setattr(FolderStore, "committed", broken)
    with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else JournalError):
        journal.commit()
    for step in (lambda: journal.write(3, "intent"), journal.commit):
        with pytest.raises(JournalError, match="Nothing more is recorded or sent"):
            step()
    journal.close()
    with opened(path_of(journal)) as journal:
        assert [n for n, *_ in events(journal)] in ([1], [1, 2])


def test_a_second_writer_cannot_mix_its_events_in(folder):
    with created(folder) as first, opened(path_of(first)) as second:
        first.write(1, "intent")
        first.commit()
        second.write(1, "intent")
        with pytest.raises(JournalError, match="UNIQUE"):
            second.commit()
        first.write(2, "intent")
        first.commit()
        assert [n for n, *_ in events(first)] == [1, 2]


# --- the end of a process -----------------------------------------------------------------


def test_what_was_committed_survives_a_kill_and_the_rest_is_gone(killed):
    assert len(siblings(killed)) == 3
    with opened(killed) as journal:
        assert events(journal) == WHOLE
        journal.write(None, "resumed")
        journal.commit()
        assert events(journal) == [*WHOLE, (None, "resumed", {})]
    assert siblings(killed) == {}


def test_reading_leaves_the_journal_of_a_killed_process_as_it_is(killed):
    before = killed.read_bytes(), siblings(killed)[f"{killed.name}-wal"]
    with read(killed) as journal:
        assert events(journal) == WHOLE
        with pytest.raises(JournalError, match="opened to be read"):
            journal.write(1, "intent")
    assert summary(killed).last is None
    assert (killed.read_bytes(), siblings(killed)[f"{killed.name}-wal"]) == before


def test_a_journal_can_be_read_while_its_run_is_at_work(folder):
    code = KILLED.replace("print(", "journal.commit(); print(")
    with child(code, folder, 3) as process:
        assert process.stdout.readline() == "ready\n"
        (path,) = journals(folder)
        with read(path) as journal:
            assert len(events(journal)) == 31
        process.communicate("\n")
    assert process.returncode == 0
    with opened(path) as journal:
        assert len(events(journal)) == 31


# --- pruning ------------------------------------------------------------------------------


def run(folder, name, *events, account="here"):
    with created(folder, run=name, account=account) as journal:
        for what in events:
            journal.write(None, what)


@pytest.fixture
def shelf(folder):
    run(folder, "1-finished", "started", "finished")
    run(folder, "2-stopped", "started", "stopped")
    run(folder, "3-open", "started")
    run(folder, "4-new")
    run(folder, "5-resumed", "started", "finished", "resumed")
    run(folder, "6-damaged", "started", "finished")
    path = folder / "6-damaged.db"
    content = bytearray(path.read_bytes())
    content[16:18] = b"\0\0"
    path.write_bytes(content)
    return folder


def names(folder):
    return [path.stem for path in journals(folder)]


def test_only_what_is_finished_and_old_is_pruned(shelf):
    everything = names(shelf)
    assert delete_journals(FolderStore(shelf)) == []
    assert names(shelf) == everything
    assert delete_journals(FolderStore(shelf), days=-1) == ["1-finished"]
    assert names(shelf) == everything[1:]


def test_what_is_named_is_pruned_in_any_state(shelf):
    assert delete_journals(FolderStore(shelf), runs=["3-open", "6-damaged", "7-unknown"]) == [
        "3-open",
        "6-damaged",
    ]
    assert names(shelf) == ["1-finished", "2-stopped", "4-new", "5-resumed"]


def test_a_run_at_work_is_not_pruned(shelf):
    with hold_account_lock(shelf, "here"), pytest.raises(AccountBusy):
        delete_journals(FolderStore(shelf), runs=["3-open"])
    assert "3-open" in names(shelf)


def test_pruning_takes_all_that_belongs_to_a_journal(killed):
    assert len(siblings(killed)) == 3
    assert delete_journals(FolderStore(killed.parent), runs=[killed.stem]) == [killed.stem]
    assert [path.suffix for path in killed.parent.iterdir()] == [".lock"]


def test_pruning_sweeps_what_killed_processes_left_a_day_ago(killed):
    folder = killed.parent
    kept = {path.name for path in folder.iterdir()}
    for name in ("a.new", "a.new-wal"):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (0, 0))
    for path in siblings(killed):
        os.utime(folder / path, (0, 0))  # old, and of a journal that is there
    (folder / "c.new").write_bytes(b"")  # somebody may be making it
    delete_journals(FolderStore(folder))
    assert {path.name for path in folder.iterdir()} == kept | {"c.new"}


# --- several processes on one folder ------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from bulk.journalling import change, created, opened
from chatkit.bulk.journal import FolderStore
from chatkit.bulk.stores import delete_journals
from chatkit.errors import AccountBusy
folder, name = Path(sys.argv[1]), sys.argv[2]
for number in range(40):
    run = f"20261120-{name}-{number}"
    with created(folder, [change()], run=run, account=name) as journal:
        journal.write(0, "intent")
        journal.commit()
    with opened(folder / f"{run}.db") as journal:
        journal.write(None, "finished")
    if number % 3 == 0:
        assert delete_journals(FolderStore(folder), runs=[run]) == [run]
"""
READER = """
import sys
from pathlib import Path
from bulk.journalling import journals, read as read_journal, summary
from chatkit.errors import JournalError
folder, read = Path(sys.argv[1]), 0
print("ready", flush=True)
while not (folder.parent / "stop").exists():
    for path in journals(folder)[-6:]:
        try:
            summary(path)
            with read_journal(path) as journal:
                read += len([*journal.events()])
        except JournalError as error:
            if "it has been deleted in the meantime" not in str(error):
                raise
print(read > 0, flush=True)
"""


def test_processes_write_read_and_delete_journals_in_one_folder_at_once(folder):
    """A reader whose journal is deleted gets a clear error."""
    with child(READER, folder) as reader:
        assert reader.stdout.readline() == "ready\n"
        with child(WRITER, folder, "a") as first, child(WRITER, folder, "b") as second:
            assert first.stdout.read() == second.stdout.read() == ""
        (folder.parent / "stop").touch()
        assert reader.stdout.read() == "True\n"
    assert [process.returncode for process in (first, second, reader)] == [0, 0, 0]
    assert len(journals(folder)) == 2 * 26


# --- who ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("  Amara  Obi\n", "Amara Obi"),
        ("amara@shop.example", "amara"),
        ("@", ""),
        ("t" * 41, ""),  # as long as a token
    ],
)
def test_a_person_is_a_short_name_and_no_address(monkeypatch, message, name):
    monkeypatch.setenv("CHATKIT_USER", message)
    assert get_user_name() == name


def test_without_the_variable_a_person_is_the_user_of_the_system_or_nobody(monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "amara")
    assert get_user_name() == "amara"
    monkeypatch.setenv("CHATKIT_USER", " ")
    assert get_user_name() == "amara"

    def nobody():
        raise KeyError("uid not found: 1000")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert get_user_name() == ""
