"""Helpers for tests of journals: small journals, and one that a killed process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import processes
import pytest

from chatkit.bulk.changes import Change
from chatkit.bulk.journal import FolderStore, PlanPart, RunHeader
from chatkit.bulk.stores import find_run, open_store

ROOT = Path(__file__).parents[2]
RUN = "20261120-101502-7f3a"
ACCOUNT = "https://api.example.com 1001"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data" / "runs"


@pytest.fixture(params=["folder", "postgresql"])
def store(request, folder):
    """An empty home of journals of each kind."""
    if request.param == "folder":
        return FolderStore(folder)
    return open_store(request.getfixturevalue("postgres").new())


def header(run=RUN, changes=0, **fields):
    return RunHeader(
        **{
            "run": run,
            "hash": "0" * 64,
            "account": ACCOUNT,
            "connection": "staging",
            "noun": "contact",
            "names": ("id",),
            "parts": {"contact": PlanPart(2, (3, 4))},
            "changes": changes,
        }
        | fields
    )


def at_work(store, run, begin, accounts=()):
    """Begin with a journal in a session of its own, which ends when the journal is closed."""
    with ExitStack() as opened:
        journal = begin(opened.enter_context(store.hold(accounts, run)))
        session, close = opened.pop_all(), journal.close

    def close_both():
        with session:
            close()

    journal.close = close_both
    return journal


def created(store, changes=(), **fields):
    """A new journal, in a store or a folder."""
    store = FolderStore(store) if isinstance(store, Path) else store
    about = header(changes=len(changes), **fields)
    return at_work(store, about.run, lambda held: held.create(about, changes))


def opened(store, run=RUN):
    """A journal to go on with."""
    store = FolderStore(store) if isinstance(store, Path) else store
    return at_work(store, run, lambda held: held.open(run))


def run_sql(store, *statements):
    """Change rows behind the back of a store; return those that the last statement selects."""
    with store._engine.connect() as connection:
        for statement in statements:
            cursor = connection.exec_driver_sql(statement)
        return cursor.all() if cursor.returns_rows else []


def spoil_run(run, column="header", value="'{'"):
    """Damage the journal of a run, which may be named by the beginning of its name."""
    kept = find_run(run)
    run_sql(kept.store, f"UPDATE chatkit_run SET {column} = {value} WHERE run = '{kept.run}'")
    return kept


def change(row=7, **fields):
    return Change(row, "update", 7, "+1 2025550123", {"name": "Ana"}, {"name": "Zoë"}, **fields)


def events(journal):
    return [(event.n, event.what, event.detail) for event in journal.events()]


def child(code, *arguments, env=os.environ, **options):
    return processes.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=env | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


KILLED = """
import sys
from pathlib import Path
from bulk.journalling import created
journal = created(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    for n in range(10):
        journal.write(n, "intent", group=number)
    journal.commit()
journal.write(99, "intent")
print("ready", flush=True)
sys.stdin.readline()
"""
WHOLE = [(n, "intent", {"group": number}) for number in range(4) for n in range(10)]


@pytest.fixture
def killed(folder):
    """The journals that a killed process left: 4 groups are committed, one event is not."""
    with child(KILLED, folder, 4) as process:
        assert process.stdout.readline() == "ready\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    return FolderStore(folder)


def files(store):
    """Read the files of a store by their ends, and those of counts."""
    return {
        path.name.removeprefix("chatkit-journal"): path.read_bytes()
        for path in store.folder.iterdir()
        if path.suffix not in (".lock", ".holder") and not path.name.endswith("-shm")
    }
