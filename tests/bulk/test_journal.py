"""The journal of a run, in a folder and in PostgreSQL: what is committed stays as it was."""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from bulk.journalling import (  # noqa: F401
    ACCOUNT,
    RUN,
    at_work,
    change,
    child,
    created,
    events,
    folder,
    header,
    opened,
    run_sql,
    store,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.bulk import journal as module
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
from chatkit.util.files import get_temporary_folder, get_user_name

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
GROUPS = st.lists(
    st.lists(st.tuples(st.none() | st.integers(0, 9), st.dictionaries(st.text(), VALUES))),
    max_size=4,
)


@settings(deadline=None, max_examples=volume(20))
@given(
    st.lists(st.tuples(LABELS, st.text(), st.dictionaries(st.text(), VALUES, max_size=3))), GROUPS
)
def test_header_changes_and_events_come_back_as_they_were(tmp_path_factory, rows, groups):
    changes = [
        Change(row, "create", None, label, {}, after, code=label, loss=label)
        for row, label, after in rows
    ]
    fields = {"run": make_run_id(), "account": "x", "names": ("id", None), "undoes": "20261120-1"}
    place, noted = tmp_path_factory.getbasetemp() / "round", []
    with created(place, changes, **fields) as journal:
        about = journal.header
        for group in groups:
            for n, live in group:
                journal.write(n, "intent", attempt=1, live=live)
                noted.append((n, "intent", {"attempt": 1, "live": live}))
            journal.commit()
    with opened(place, about.run) as journal:
        assert (journal.header, [*journal.changes()], events(journal)) == (about, changes, noted)
        journal.write(None, "finished")
    [*_, summary] = FolderStore(place).summaries()
    assert (summary.header, summary.last.what) == (about, "finished")


def test_what_is_written_is_read_in_another_session_while_the_run_is_at_work(store, monkeypatch):
    monkeypatch.setattr(module, "_READ", 4)
    assert (store.runs(), store.summaries(), store.has(RUN)) == ([], [], False)
    changes = [change(row=("Ana 🎈\0", n), loss="a\tb\\N\n") for n in range(23)]
    with created(store, changes, started="2026-11-20T10:15:02.000+00:00") as journal:
        journal.write(None, "started")
        journal.write(1, "intent", text="\ud800 \0 \\", n=2**70)
        journal.commit()
        journal.write(2, "intent")
        with store.read(RUN) as seen:
            assert seen.header == header(changes=23, started="2026-11-20T10:15:02.000+00:00")
            assert [*seen.changes()] == changes
            assert events(seen)[1:] == [(1, "intent", {"text": "\ud800 \0 \\", "n": 2**70})]
            journal.commit()
            assert len(events(seen)) == 2  # it is read as it was when it was opened
            with pytest.raises(JournalError, match="opened to be read"):
                seen.write(1, "intent")
    with opened(store) as journal:
        journal.write(None, "resumed")
        for n in range(23):
            journal.write(n, "intent")
    with store.read(RUN) as seen:
        assert [what for _, what, _ in events(seen)][2:4] == ["intent", "resumed"]
    [summary] = store.summaries()
    assert (summary.run, summary.header.account, summary.last.what) == (RUN, ACCOUNT, "resumed")
    assert store.runs() == [RUN] and store.has(RUN)


def test_of_a_journal_that_could_not_be_made_nothing_stays(store):
    for bad in ("half \ud800", object()):
        with pytest.raises(InputError, match=r"cannot hold|half a character"):
            created(store, [change(), change(seen=bad)])
    for fields in ({"run": "../x"}, {"run": ""}, {"account": "\ud800"}):
        with pytest.raises(InputError):
            created(store, **fields)

    def failing():
        yield change()
        raise OSError("the disk is gone")

    with pytest.raises(JournalError, match=r"the disk is gone\. Nothing was sent"):
        at_work(store, RUN, lambda held: held.create(header(), failing()))
    assert store.runs() == []
    with created(store, [change()]) as journal:
        with pytest.raises(JournalError, match=r"(UNIQUE|duplicate).*\. Nothing was sent"):
            created(store, [change(), change()])  # its name is taken
        assert [*journal.changes()] == [change()]
    assert run_sql(store, "SELECT count(*) FROM chatkit_change") == [(1,)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("broken")])
def test_a_commit_that_was_broken_off_stops_the_journal(store, monkeypatch, error):
    def broken(*_):
        raise error

    journal = created(store)
    journal.write(1, "intent")
    journal.commit()
    journal.write(2, "intent")
    with monkeypatch.context() as context:
        context.setattr(type(store), "write_count", broken)
        with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else JournalError):
            journal.commit()
    for step in (lambda: journal.write(3, "intent"), journal.commit):
        with pytest.raises(JournalError, match="Nothing more is recorded or sent"):
            step()
    journal.close()
    with opened(store) as journal:
        assert [n for n, *_ in events(journal)] in ([1], [1, 2])
    for step in (lambda: journal.write(1, "intent"), journal.commit):
        with pytest.raises(JournalError, match="it is closed"):
            step()


def test_a_second_writer_cannot_mix_its_events_in(store):
    with created(store) as first, opened(store) as second:
        first.write(1, "intent")
        first.commit()
        second.write(1, "intent")
        with pytest.raises(JournalError, match=r"UNIQUE|duplicate key"):
            second.commit()
        first.write(2, "intent")
        first.commit()
        assert [n for n, *_ in events(first)] == [1, 2]


# --- damage -------------------------------------------------------------------------------

DAMAGE = {
    "DELETE FROM chatkit_event WHERE seq = 5 AND run = '1'": "event 5 is not",
    "UPDATE chatkit_event SET detail = '{\"group\":1}' WHERE seq = 5 AND run = '1'": "event 5 is",
    "UPDATE chatkit_event SET n = NULL WHERE seq = 5 AND run = '1'": "event 5 is not",
    "UPDATE chatkit_event SET chain = chain + 1 WHERE seq = 5 AND run = '1'": "event 5 is not",
    "UPDATE chatkit_event SET run = '1' WHERE run = '2'; DELETE": "",
    "UPDATE chatkit_change SET body = replace(body, 'Ana', 'Eva') WHERE run = '1'": "its changes",
    "DELETE FROM chatkit_change WHERE run = '1'": "its changes are not those",
    "UPDATE chatkit_run SET header = '{' WHERE run = '1'": "its header cannot be read",
    "UPDATE chatkit_run SET header = replace(header, '1001', '1002') WHERE run = '1'": "its ch",
    "UPDATE chatkit_run SET digest = 'x' WHERE run = '1'": "its changes are not those",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_rows_that_were_changed_by_other_means_are_refused_and_other_runs_are_not(store, damage):
    for run in ("1", "2"):
        with created(store, [change()], run=run) as journal:
            for n in range(9):
                journal.write(n, "intent", group=0)
    if damage.endswith("; DELETE"):  # the events of another run, with the same changes
        run_sql(store, "DELETE FROM chatkit_event WHERE run = '1'", damage[: -len("; DELETE")])
    else:
        run_sql(store, damage)
    for use in (store.read, lambda run: opened(store, run)):
        with pytest.raises(JournalError, match=rf"is damaged: {DAMAGE[damage]}.*Plan again from a"):
            use("1")
    assert [kept.run for kept in store.summaries()] == ["1", "2"]
    assert store.summaries()[1].header.run == "2"
    if "'2'" not in damage:
        store.read("2").close()
    store.delete("1")
    assert store.runs() == ["2"]


@pytest.mark.parametrize("other", [0, 4, 6])
def test_a_database_of_another_version_is_refused_in_one_sentence(store, other):
    created(store).close()
    run_sql(store, f"UPDATE chatkit_journals SET version = {other}")
    for use in (store.read, store.delete, lambda run: opened(store, run), lambda run: store.runs()):
        with pytest.raises(JournalError, match=rf"has version {other} .* version 5: use the chat"):
            use(RUN)


# --- pruning ------------------------------------------------------------------------------


@pytest.fixture
def shelf(store):
    for name, *whats in (
        ("1-finished", "started", "finished"),
        ("2-stopped", "started", "stopped"),
        ("3-open", "started"),
        ("4-new",),
        ("5-resumed", "started", "finished", "resumed"),
        ("6-damaged", "started", "finished"),
    ):
        with created(store, [change()], run=name, account="here") as journal:
            for what in whats:
                journal.write(None, what)
    run_sql(store, "UPDATE chatkit_run SET header = '{' WHERE run = '6-damaged'")
    return store


def test_only_what_is_finished_and_old_is_pruned_and_what_is_named(shelf):
    everything = shelf.runs()
    assert delete_journals(shelf) == []
    assert shelf.runs() == everything
    assert delete_journals(shelf, days=-1) == ["1-finished"]
    with shelf.hold(["here"]), pytest.raises(AccountBusy):
        delete_journals(shelf, runs=["3-open"])
    assert shelf.runs() == everything[1:]
    named = ["3-open", "6-damaged"]
    assert delete_journals(shelf, runs=[*named, "7-unknown"]) == named
    left = ["2-stopped", "4-new", "5-resumed"]
    assert shelf.runs() == left
    for table in ("chatkit_run", "chatkit_change"):
        assert [run for (run,) in run_sql(shelf, f"SELECT run FROM {table} ORDER BY 1")] == left
    assert {run for (run,) in run_sql(shelf, "SELECT run FROM chatkit_event")} <= {*left}


# --- names and places ---------------------------------------------------------------------


def test_names_of_runs_sort_by_time(monkeypatch):
    names = []
    for _ in range(20):
        names.append(make_run_id())
        time.sleep(0.0005)
    assert names == sorted(set(names))
    assert all(re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{6}", name) for name in names)
    end = datetime(2026, 1, 5, 8, 0, 59, 999_999, tzinfo=UTC)
    monkeypatch.setattr(module, "datetime", SimpleNamespace(now=lambda zone: end))
    assert re.fullmatch(r"20260105-080059-fff[0-9a-f]{3}", make_run_id())


def test_journals_live_in_the_data_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert get_journal_folder(passing=False).name == "runs"
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "mine"))
    assert get_journal_folder(passing=False) == tmp_path / "mine" / "runs"
    monkeypatch.setenv("CHATKIT_DATA", "~/mine")
    assert get_journal_folder(passing=False) == Path.home() / "mine" / "runs"
    passing = get_journal_folder(passing=True)
    assert passing == get_temporary_folder() / "runs" != get_journal_folder(passing=False)
    assert [s.folder for s in list_stores()] == [passing, get_journal_folder(passing=False)]


def test_listing_journals_makes_no_folder(tmp_path):
    code = "from chatkit.bulk.stores import list_runs; print([*list_runs()])"
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
    assert find_run("19991121").run == "19991121-1"
    assert find_run("19991120-1").run == "19991120-1"  # all of it, though another begins so
    assert find_run("19991122").store.folder == get_journal_folder(passing=True)
    with pytest.raises(JournalError, match=r"2 runs begin with '19991120' \(19991120-1, 1999"):
        find_run("19991120")
    for unknown in ("2027", "", "../19991121-1", "*"):
        with pytest.raises(JournalError, match=r"No run is called .*chatkit\.runs\(\) lists"):
            find_run(unknown)


@pytest.mark.parametrize(
    ("variable", "system", "name"),
    [
        ("  Amara  Obi\n", "bo", "Amara Obi"),
        ("amara@shop.example", "bo", "amara"),
        ("@", "bo", ""),
        ("t" * 41, "bo", ""),  # as long as a token
        (" ", "amara", "amara"),
        ("", KeyError("uid not found: 1000"), ""),
    ],
)
def test_a_person_is_a_short_name_and_no_address(monkeypatch, variable, system, name):
    def user():
        if isinstance(system, Exception):
            raise system
        return system

    monkeypatch.setenv("CHATKIT_USER", variable)
    monkeypatch.setattr("getpass.getuser", user)
    assert get_user_name() == name
