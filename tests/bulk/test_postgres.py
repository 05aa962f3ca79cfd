"""Journals in PostgreSQL: what is committed stays, a dead session sends nothing more."""

from __future__ import annotations

import subprocess
import sys
import traceback
from contextlib import contextmanager
from itertools import count

import psycopg
import pytest
from account.fleet.test_fleet_plan import accounts, by_account, every, planned  # noqa: F401
from bulk.applying import kept_at, settled
from bulk.journalling import change, header
from bulk.planning import active, client, sandbox, states, through  # noqa: F401
from bulk.test_stores import newcomers
from postgres import PASSWORD

import chatkit
from chatkit.api.secret import Secret
from chatkit.bulk.journal import DatabaseStore
from chatkit.bulk.stores import open_store
from chatkit.errors import AccountBusy, InputError, JournalError

ACCOUNT = "https://api.example.com 1001"
RUN = "20261120-101502-7f3a"


@pytest.fixture
def address(postgres):
    return postgres.new()


@pytest.fixture
def store(address):
    return open_store(address)


def run_sql(address, statement):
    with psycopg.connect(address, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def begun(store, changes=(), run=RUN, **fields):
    """A new run, at work."""
    with (
        store.hold([ACCOUNT], run) as held,
        held.create(header(run, len(changes), **fields), changes) as journal,
    ):
        yield journal


# --- what is written is read --------------------------------------------------------------


def test_what_is_written_is_read_in_another_session(store):
    changes = [change(row=("Ana 🎈\0", n), loss="a\tb\\N\n") for n in range(3)]
    with begun(store, changes) as journal:
        journal.write(None, "started")
        journal.write(1, "intent", text="\ud800 \0 \\", n=2**70)
        journal.commit()
        with store.read(RUN) as seen:  # while it is at work
            assert [event.what for event in seen.events()] == ["started", "intent"]
        journal.write(None, "finished", counts={"applied": 3})
    with store.read(RUN) as seen:
        assert [*seen.changes()] == changes
        assert seen.header == header(RUN, 3, started=seen.header.started)
        assert [*seen.events()][1].detail == {"text": "\ud800 \0 \\", "n": 2**70}
        with pytest.raises(JournalError, match="opened to be read"):
            seen.write(0, "intent")
    with store.hold([ACCOUNT]) as held, held.open(RUN) as journal:
        journal.write(None, "resumed")
    with store.read(RUN) as seen:
        assert [event.what for event in seen.events()][-2:] == ["finished", "resumed"]
    assert store.runs() == [RUN]
    (outcome,) = store.summaries()
    assert (outcome.header.run, outcome.last.what) == (RUN, "resumed")
    assert store.summary(RUN) == outcome
    assert store.summary("none") == ("none", store, None, None)


def test_a_journal_of_more_than_a_page_is_whole(store, monkeypatch):
    monkeypatch.setattr("chatkit.bulk.journal._READ", 7)
    with begun(store, [change(row=n) for n in range(21)]) as journal:
        for n in range(21):
            journal.write(n, "intent")
    with store.read(RUN) as seen:
        assert [each.row for each in seen.changes()] == [*range(21)]
        assert [event.n for event in seen.events()] == [*range(21)]


def test_nothing_is_left_of_a_journal_that_could_not_be_made(store, address):
    bad = [change(), change(seen=object())]
    with store.hold([ACCOUNT]) as held, pytest.raises(InputError, match="JSON cannot hold"):
        held.create(header(RUN, 2), bad)
    assert store.runs() == []
    with begun(store, [change()]):
        pass
    with store.hold([ACCOUNT]) as held, pytest.raises(JournalError, match="Nothing was sent"):
        held.create(header(RUN, 1), [change()])  # its name is taken
    assert run_sql(address, "SELECT count(*) FROM chatkit_change") == [(1,)]


def test_a_journal_is_deleted_with_all_that_belongs_to_it(store, address):
    for run in (RUN, f"{RUN}-1"):
        with begun(store, [change()], run) as journal:
            journal.write(0, "intent")
    store.delete(RUN)
    assert store.runs() == [f"{RUN}-1"]
    for table in ("chatkit_run", "chatkit_change", "chatkit_event"):
        assert run_sql(address, f"SELECT run FROM {table}") == [(f"{RUN}-1",)]


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE chatkit_change SET body = replace(body, 'Ana', 'Eva')", "its changes are not"),
        ("DELETE FROM chatkit_change", "its changes are not"),
        ("UPDATE chatkit_event SET what = 'answered' WHERE seq = 2", "event 2 is not as it was"),
        ("DELETE FROM chatkit_event WHERE seq = 1", "event 1 is not as it was"),
        ("UPDATE chatkit_run SET header = '{'", "its header cannot be read"),
    ],
)
def test_a_journal_that_was_edited_is_damaged(store, address, statement, finding):
    with begun(store, [change()]) as journal:
        for what in ("intent", "unknown", "intent"):
            journal.write(0, what)
    run_sql(address, statement)
    with pytest.raises(JournalError, match=f"is damaged: {finding}"):
        store.read(RUN)
    assert chatkit.runs(at=address).state.tolist() == ["damaged"]


def test_a_newer_schema_is_refused(store, address):
    with begun(store):
        pass
    run_sql(address, "UPDATE chatkit_journals SET version = 99")
    with pytest.raises(JournalError, match="has version 99 of the journal"), store.hold([ACCOUNT]):
        pass


# --- the lock and the session -----------------------------------------------------------


def test_one_apply_at_a_time_and_its_death_frees_the_lock(store, address):
    with store.hold([ACCOUNT], RUN):
        assert store.busy(ACCOUNT)
        assert not store.busy("another")
        with store.hold(["another"]):  # other accounts are free
            pass
        with (
            pytest.raises(AccountBusy, match=f"at work on this account: {RUN} on "),
            store.hold([ACCOUNT]),
        ):
            pass
    assert not store.busy(ACCOUNT)
    code = """
import sys
from chatkit.bulk.stores import open_store
with open_store(sys.argv[1]).hold([sys.argv[2]]):
    print("held", flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", code, address, ACCOUNT]
    with subprocess.Popen(command, stdin=-1, stdout=-1) as process:
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(AccountBusy), store.hold([ACCOUNT]):
            pass
        process.kill()
        process.wait()
        with store.hold([ACCOUNT]):
            pass


def test_a_session_that_was_ended_writes_nothing_more(store, address):
    with store.hold([ACCOUNT], RUN) as held:
        journal = held.create(header(RUN, 1), [change()])
        run_sql(address, END)
        with store.hold([ACCOUNT]) as other, other.open(RUN) as second:  # its lock is free
            second.write(0, "intent")
            second.commit()
            journal.write(0, "intent")
            for _ in range(2):  # it stays stopped
                with pytest.raises(JournalError, match="Nothing more is recorded or sent"):
                    journal.commit()
    with store.read(RUN) as seen:
        assert len([*seen.events()]) == 1


def test_a_second_writer_of_a_journal_is_refused(store):
    with begun(store, [change()]) as journal:
        with store.hold(["another"]) as held, held.open(RUN) as second:
            second.write(0, "intent")
            second.commit()
        journal.write(0, "intent")
        with pytest.raises(JournalError, match="duplicate key"):
            journal.commit()


END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"


def test_a_run_whose_sessions_were_ended_stops_and_goes_on(client, sandbox, address):
    plan = client.contacts.plan(newcomers(30))

    def end(done, total):
        if done == 7:
            run_sql(address, END)

    result = kept_at(plan, address).apply(watch=end, concurrency=1)
    assert "Nothing more is recorded or sent" in result.attrs["chatkit"]["stopped"]
    assert {"applied", "not sent"} <= {*states(result)}
    resumed = settled(chatkit.resume, plan.id, client, at=address, settle=0)
    assert states(resumed) == ["applied"] * 30
    assert len(client.contacts.frame()) == 30
    back = chatkit.undo(resumed, client, include_adopted=True)  # whose answer was not noted
    assert states(back.apply()) == ["applied"] * 30
    assert client.contacts.frame().empty


def test_a_fleet_whose_sessions_were_ended_goes_on_and_back(accounts, address):
    sandbox, _ = accounts["de"]
    writes = count(1)

    def answer(method, target, headers, body):
        if method != "GET" and next(writes) == 7:
            run_sql(address, END)
        return sandbox.answer(method, target, headers, body)

    accounts["de"] = sandbox, through(sandbox, answer)
    plan = planned(accounts, 20)
    result = kept_at(plan, address).apply(concurrency=1)
    assert "Nothing more is recorded or sent" in result.attrs["stops"]["de"]
    resumed = settled(chatkit.resume, plan.id, at=address, settle=0)
    assert by_account(resumed) == every("applied", 20)
    back = chatkit.undo(resumed, include_adopted=True).apply()
    assert by_account(back) == every("applied", 20)
    assert not any(active(sandbox, "contacts") for sandbox, _ in accounts.values())


def test_who_connects_hears_of_an_interrupted_run_or_that_nobody_knows(
    sandbox,
    address,
    capsys,
    monkeypatch,
):
    monkeypatch.setenv("CHATKIT_RUNS", address)
    with sandbox.serve() as base_url:
        for name, value in (
            ("BASE_URL", base_url),
            ("ACCOUNT_ID", sandbox.account_id),
            ("TOKEN", sandbox.token),
        ):
            monkeypatch.setenv(f"CHATKIT_{name}", str(value))
        with chatkit.connect() as client:
            plan = client.contacts.plan(newcomers(3))
            whose = client.connection.account
        with begun(open_store(address), [change()], "20261120-1-1", account=whose):
            pass
        for n in range(60):  # of other accounts
            with begun(open_store(address), [], f"20261120-2-{n}"):
                pass
        capsys.readouterr()
        with chatkit.connect():
            assert "chatkit.resume('20261120-1-1') goes on with it" in capsys.readouterr().out
        monkeypatch.setenv("CHATKIT_RUNS", "postgresql://anybody@127.0.0.1:1/name")
        with chatkit.connect() as client:
            assert "cannot be reached" in capsys.readouterr().out
            assert len(client.contacts.frame()) == 0
            with pytest.raises(JournalError, match="cannot be reached"):
                plan.apply()


# --- proxies ----------------------------------------------------------------------------


def test_a_proxy_that_shares_its_connections_is_refused(store, monkeypatch):
    """Its statements are answered by another process than the one that it connected to."""
    monkeypatch.setattr(psycopg.ConnectionInfo, "backend_pid", property(lambda self: 1))
    refused = pytest.raises(
        JournalError, match=r"a proxy that shares its connections.*Nothing was sent"
    )
    with refused, store.hold([ACCOUNT]):
        pass


# --- the address --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://u:p@{PASSWORD}@127.0.0.1/x",
        f"postgresql://u:{PASSWORD}/@127.0.0.1/x",
        f"postgresql://u:5432/{PASSWORD}@127.0.0.1/x",
        f"postgresql://u:%zz{PASSWORD}@127.0.0.1/x",
        f"postgresql://u:{PASSWORD}@127.0.0.1:port/x",
        f"postgresql://u:{PASSWORD}@127.0.0.1/x?unknown=1",
        f"postgresql://u:{PASSWORD}@127.0.0.1:1/x",  # nobody listens
        f"mysql://u:{PASSWORD}@127.0.0.1/x",
    ],
)
def test_a_password_is_shown_nowhere(address):
    uses = [
        lambda: chatkit.runs(at=address),
        lambda: chatkit.resume("2026", at=address),
        lambda: chatkit.undo("2026", at=address),
        lambda: chatkit.account.journal("2026", at=address),
        lambda: chatkit.account.prune(at=address),
    ]
    for use in uses:
        with pytest.raises(chatkit.ChatkitError) as caught:
            use()
        output = traceback.TracebackException.from_exception(
            caught.value, capture_locals=True, compact=True
        )
        output.stack = traceback.StackSummary.from_list(
            [frame for frame in output.stack if frame.filename != __file__]
        )
        assert PASSWORD not in "".join(output.format()) + repr(vars(caught.value))


def test_an_address_is_shown_without_its_password_and_finds_it_again(postgres, monkeypatch):
    address = postgres.new()
    store = open_store(address)
    assert PASSWORD not in f"{store!r} {store.location} {vars(store)}"
    assert store.location == address.replace(f":{PASSWORD}@", "@")
    assert open_store(store.location).runs() == []  # this process has had the password
    monkeypatch.setattr(DatabaseStore, "_passwords", {})
    with pytest.raises(JournalError, match="password"):
        open_store(store.location).runs()


@pytest.mark.parametrize("means", ["PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE"])
def test_what_libpq_reads_will_do(postgres, monkeypatch, tmp_path, means):
    monkeypatch.setattr(DatabaseStore, "_passwords", {})
    address = postgres.new()
    name = address.rpartition("/")[2]
    bare = address.replace(f":{PASSWORD}@", "@")
    file = tmp_path / "file"
    file.touch(0o600)
    if means == "PGPASSWORD":
        monkeypatch.setenv(means, PASSWORD)
    elif means == "PGPASSFILE":
        file.write_text(f"127.0.0.1:*:*:*:{PASSWORD}\n")
        monkeypatch.setenv(means, str(file))
    else:
        file.write_text(
            f"[runs]\nhost=127.0.0.1\nport={postgres.port}\nuser=chatkit\n"
            f"dbname={name}\npassword={PASSWORD}\n"
        )
        monkeypatch.setenv(means, str(file))
        bare = "postgresql://?service=runs"
    with begun(DatabaseStore(Secret(bare)), [change()]):
        pass
    assert chatkit.runs(at=bare).index.tolist() == [RUN]
    assert run_sql(address, "SELECT run FROM chatkit_run") == [(RUN,)]


def test_a_driver_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match=r"pip install 'psycopg\[binary\]'"):
        open_store("postgresql://127.0.0.1/x")
