"""Helpers for tests of journals: small journals, and one that a killed process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import processes
import pytest

from chatkit.bulk.changes import Change
from chatkit.bulk.journal import FolderStore, PlanPart, RunHeader
from chatkit.bulk.stores import find_run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data" / "runs"


def header(run="20261120-101502-7f3a", changes=0, **fields):
    return RunHeader(
        **{
            "run": run,
            "hash": "0" * 64,
            "account": "https://api.example.com 1001",
            "connection": "staging",
            "noun": "contact",
            "names": ("id",),
            "parts": {"contact": PlanPart(2, (3, 4))},
            "changes": changes,
        }
        | fields
    )


def create(folder, about, changes):
    return FolderStore(folder).create(about, changes)


def opened(path):
    """Open a journal to continue it, by its file."""
    return FolderStore(path.parent).open(path.stem)


def read(path):
    return FolderStore(path.parent).read(path.stem)


def summary(path):
    return FolderStore(path.parent).summary(path.stem)


def path_of(journal):
    return journal._store.path(journal.header.run)


def delete_files(path):
    for end in ("", "-wal", "-shm", "-count"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def created(folder, changes=(), **fields):
    return create(folder, header(changes=len(changes), **fields), changes)


def journals(folder):
    """The journals in a folder, the newest last."""
    store = FolderStore(folder)
    return [store.path(run) for run in store.runs()]


def journal_path(run):
    """The file of a run's journal, by as much of its name as no other has."""
    store, name = find_run(run)
    return store.path(name)


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
import os, sys
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
    """The journal that a killed process left: 4 groups are committed, one event is not."""
    with child(KILLED, folder, 4) as process:
        assert process.stdout.readline() == "ready\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    return folder / "20261120-101502-7f3a.db"


def siblings(path):
    """Read the other files in the folder of a journal."""
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if file != path}
