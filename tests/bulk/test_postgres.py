"""Journals in PostgreSQL: what is committed stays, a dead session sends nothing more."""

from __future__ import annotations

import subprocess
import sys
import traceback
from itertools import count

import psycopg
import pytest
from account.fleet.test_fleet_plan import accounts, by_account, every, planned  # noqa: F401
from bulk.applying import kept_at, settled
from bulk.journalling import ACCOUNT, RUN, change, created, header, opened, run_sql
from bulk.planning import active, client, sandbox, states, through  # noqa: F401
from bulk.test_stores import newcomers
from postgres import PASSWORD

import chatkit
from chatkit.api.secret import Secret
from chatkit.bulk.journal import DatabaseStore
from chatkit.bulk.stores import open_store
from chatkit.errors import AccountBusy, InputError, JournalError


@pytest.fixture
def address(postgres):
    return postgres.new()


@pytest.fixture
def store(address):
    return open_store(address)


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
        run_sql(open_store(address), END)
        with store.hold([ACCOUNT]), opened(store) as second:  # its lock is free
            second.write(0, "intent")
            second.commit()
            journal.write(0, "intent")
            for _ in range(2):  # it stays stopped
                with pytest.raises(JournalError, match="Nothing more is recorded or sent"):
                    journal.commit()
    with store.read(RUN) as seen:
        assert len([*seen.events()]) == 1


END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"


def test_a_fleet_whose_sessions_were_ended_goes_on_and_back(accounts, address):
    sandbox, _ = accounts["de"]
    writes = count(1)

    def answer(method, target, headers, body):
        if method != "GET" and next(writes) == 7:
            run_sql(open_store(address), END)
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


def test_an_account_can_be_read_although_its_journals_cannot_be_reached(
    sandbox, capsys, monkeypatch
):
    monkeypatch.setenv("CHATKIT_RUNS", "postgresql://anybody@127.0.0.1:1/name")
    with sandbox.serve() as url:
        for name, value in (
            ("BASE_URL", url), ("ACCOUNT_ID", sandbox.account_id), ("TOKEN", sandbox.token)
        ):  # fmt: skip
            monkeypatch.setenv(f"CHATKIT_{name}", str(value))
        with chatkit.connect() as client:
            assert "cannot be reached" in capsys.readouterr().out
            assert len(client.contacts.frame()) == 0
            with pytest.raises(JournalError, match=r"cannot be reached.*Nothing was sent"):
                client.contacts.plan(newcomers(3)).apply()


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
    created(DatabaseStore(Secret(bare)), [change()]).close()
    assert chatkit.runs(at=bare).index.tolist() == [RUN]
    assert open_store(address).runs() == [RUN]


def test_a_driver_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match=r"pip install 'psycopg\[binary\]'"):
        open_store("postgresql://127.0.0.1/x")
