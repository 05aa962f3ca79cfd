"""The file of the journals of a folder: it is what was written, or it is refused."""

from __future__ import annotations

import os
import random
import re
import sqlite3
import stat
from collections import Counter
from contextlib import closing
from itertools import count

import pytest
from bulk.journalling import (  # noqa: F401
    RUN,
    WHOLE,
    change,
    child,
    created,
    events,
    files,
    folder,
    header,
    killed,
    opened,
    run_sql,
)
from volume import volume

from chatkit.bulk import journal as module
from chatkit.bulk.journal import FolderStore
from chatkit.errors import JournalError
from chatkit.util.files import hold_account_lock

# --- whose it is, and what it holds -------------------------------------------------------


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_journals_are_for_their_owner_alone(folder, mode):
    before = os.umask(0)
    try:
        if mode != 0o700:
            folder.mkdir(parents=True, mode=mode)  # a folder that is there keeps its rights
        with created(folder) as journal, hold_account_lock(folder, "account"):
            journal.write(1, "intent")
            journal.commit()
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    finally:
        os.umask(before)
    assert len(modes) == 6  # the file, its log, index and a count; a lock and its holder
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == mode


def test_when_nobody_is_at_work_all_is_in_one_file_and_what_is_deleted_is_gone(folder):
    store, size = FolderStore(folder), 0
    for run in ("1", "2", "3"):
        with created(folder, [change(row=f"Amara {run}-{n}") for n in range(400)], run=run) as one:
            one.write(1, "intent", live={"name": f"Bo {run}-1"})
        assert [*files(store)] == [".db"]
        size = size or store.path.stat().st_size
    assert b"Amara 2-7" in files(store)[".db"] and b"Bo 2-1" in files(store)[".db"]
    with created(folder, run="4") as at_work:
        at_work.write(1, "intent")
        at_work.commit()
        store.delete("2")
        assert store.erase_deleted()
        content = b"".join(files(store).values())
        assert b"Amara 2-" not in content and b"Bo 2-" not in content
    assert b"Amara 3-7" in files(store)[".db"]
    store.delete("1")
    assert store.path.stat().st_size < 1.5 * size, "the file shrinks"
    store.delete("3"), store.delete("4"), store.delete("none")
    assert [*files(store)] == [".db"] and store.runs() == []


# --- the end of a process -----------------------------------------------------------------


def test_what_was_committed_survives_a_kill_and_the_rest_is_gone(killed):
    assert {*files(killed)} == {".db", ".db-wal", f"{RUN}.count"}
    with created(killed, run="another") as journal:  # is what folds the log in
        journal.write(1, "intent")
    with killed.read(RUN) as journal:
        assert events(journal) == WHOLE
    with opened(killed) as journal:
        assert events(journal) == WHOLE
        journal.write(None, "resumed")
        journal.commit()
        assert events(journal) == [*WHOLE, (None, "resumed", {})]
    assert [*files(killed)] == [".db"]


def test_a_log_that_was_left_is_in_the_database_before_anything_is_appended(killed, tmp_path):
    """After a failed sync the log may be in memory alone, though it can be read."""
    assert files(killed)[".db-wal"]
    with opened(killed):
        assert files(killed)[".db-wal"] == b""
        copy = FolderStore(tmp_path / "copy")
        copy.folder.mkdir()
        copy.path.write_bytes(files(killed)[".db"])
    with copy.read(RUN) as journal:
        assert events(journal) == WHOLE


# --- damage -------------------------------------------------------------------------------


def put(store, content):
    """Make the files of a store these."""
    store.folder.mkdir(exist_ok=True)
    for path in store.folder.iterdir():
        path.unlink()
    for end, data in content.items():
        name = end if end.endswith(".count") else f"chatkit-journal{end}"
        (store.folder / name).write_bytes(data)


def same_or_refused(store, expected):
    """Read damaged journals: they are refused, or nothing is other than it was."""
    try:
        with store.read(RUN) as journal:
            assert (journal.header, [*journal.changes()], events(journal)) == expected
        [kept, *_] = [kept for kept in store.summaries() if kept.run == RUN]
        assert kept.header in (expected[0], None)
        with opened(store):
            return "same"
    except JournalError:
        return "refused"


def flips(content, rng, number):
    for at in {*range(100), *(rng.randrange(len(content)) for _ in range(number))}:
        if at < len(content):
            flipped = bytearray(content)
            flipped[at] ^= rng.choice([1, 0x80, 0xFF])
            yield bytes(flipped)


@pytest.mark.parametrize("place", [".db", ".db-wal"])
def test_damage_is_refused_or_harmless(killed, tmp_path, place):
    """Bytes are flipped, each in a copy of its own: never is a run silently another.

    SQLite takes the beginning of a damaged log for the whole of it.
    """
    copy, seen = FolderStore(tmp_path / "copy"), Counter()
    content = files(killed)
    with killed.read(RUN) as journal:  # which folds the log in
        expected = journal.header, [*journal.changes()], events(journal)
    if place == ".db":
        created(killed, [change(n) for n in range(30)], run="another").close()
        content = files(killed)
    for flipped in flips(content[place], random.Random(0), volume(250)):
        put(copy, content | {place: flipped})
        seen[same_or_refused(copy, expected)] += 1
    for size in range(512, len(content[place]), 4096):
        put(copy, content | {place: content[place][:size]})
        seen[same_or_refused(copy, expected)] += 1
    assert seen["refused"] > 40, seen


@pytest.mark.parametrize("content", [b"a letter to the reader " * 200, b"SQLite format 3\0" * 99])
def test_a_file_that_is_no_database_is_refused_with_its_name_and_left_alone(folder, content):
    folder.mkdir(parents=True)
    store = FolderStore(folder)
    store.path.write_bytes(content)
    for use in (store.runs, store.summaries, lambda: store.read(RUN), lambda: created(store)):
        refused = pytest.raises(JournalError, match=r"chatkit-journal\.db is damaged \(file is not")
        with refused as caught:
            use()
        assert "Move it away" in str(caught.value)
    assert store.path.read_bytes() == content
    store.path.unlink()
    created(store).close()
    with pytest.raises(JournalError, match="has no header, or has been deleted"):
        store.read("another")


def test_a_page_that_is_damaged_leaves_the_other_runs_usable(folder):
    store = FolderStore(folder)
    for run in ("1", "2", "3"):
        with created(store, [change(row=f"{run * 9}{n}") for n in range(99)], run=run) as journal:
            for n in range(99):
                journal.write(n, "intent", live=f"live of {run}")
            journal.write(None, "finished")
    [(page,)] = run_sql(store, "PRAGMA page_size")
    content = store.path.read_bytes()
    for at in range(page, len(content), page):
        if {*re.findall(rb"live of (\d)", content[at : at + page])} == {b"3"}:
            content = content[:at] + b"\xff" * 99 + content[at + 99 :]
    store.path.write_bytes(content)
    assert store.runs() == ["1", "2", "3"]
    assert [kept.header is None for kept in store.summaries()] == [False, False, True]
    for use in (store.read, lambda run: opened(store, run)):
        with pytest.raises(JournalError, match=r"The journal 3 is damaged: .*malformed"):
            use("3")
    for run in ("1", "2"):
        with opened(store, run) as journal:
            journal.write(None, "resumed")


# --- a log that was lost, and the number of events ----------------------------------------


def test_a_count_that_a_power_cut_spoilt_is_not_believed(killed):
    for content in (b"", b"\0" * 20, b"\xff" * 20, b"00000000000000000007"):
        (killed.folder / f"{RUN}.count").write_bytes(content)
        with killed.read(RUN) as journal:
            assert events(journal) == WHOLE


def test_a_log_that_was_lost_is_not_taken_for_a_short_run(killed):
    created(killed, run="another").close()
    put(killed, files(killed) | {f"{RUN}.count": b"%020d" % 41})
    for use in (killed.read, lambda run: opened(killed, run)):
        with pytest.raises(JournalError, match="it holds 40 events, and 41 were committed"):
            use(RUN)
    killed.read("another").close()
    killed.delete(RUN)
    assert [*files(killed)] == [".db"]


# --- several processes and threads --------------------------------------------------------


def test_a_file_that_another_program_has_locked_is_not_called_damaged(folder, monkeypatch):
    monkeypatch.setattr(module, "_WAIT", 0.05)
    created(folder).close()
    store = FolderStore(folder)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store.read(RUN).close()  # who reads does not wait for who writes
        with pytest.raises(JournalError, match=r"cannot be .*another process is using"):
            opened(store)
        other.execute("COMMIT")
        with created(store, run="another") as journal:
            journal.write(1, "intent")
            journal.commit()
            other.execute("BEGIN")
            other.execute("SELECT header FROM chatkit_run").fetchall()
            journal.write(2, "intent")  # nor who writes for who reads
            journal.commit()
            with pytest.raises(JournalError, match="another process is using"):
                opened(store)
            other.execute("COMMIT")
    opened(store).close()


WRITER = """
import sys, threading
from pathlib import Path
from bulk.journalling import change, created, opened
from chatkit.bulk.journal import FolderStore
store, name, failed = FolderStore(Path(sys.argv[1])), sys.argv[2], []
def write(thread):
    try:
        run = f"20261120-{name}-{thread}"
        with created(store, [change(n) for n in range(50)], run=run) as journal:
            for n in range(50):
                journal.write(n, "intent")
                journal.write(n, "answered")
                journal.commit()
        with opened(store, run) as journal:
            journal.write(None, "finished")
        created(store, [change()], run=f"{run}-gone").close()
        store.delete(f"{run}-gone")
    except BaseException as error:
        failed.append(repr(error))
threads = [threading.Thread(target=write, args=[n]) for n in range(4)]
for step in (threading.Thread.start, threading.Thread.join):
    for thread in threads:
        step(thread)
print(*failed, sep="\\n", flush=True)
"""


def test_processes_and_threads_write_read_and_delete_journals_in_one_file_at_once(folder):
    """A reader whose journal is deleted gets a clear error."""
    store, read = FolderStore(folder), 0
    with child(WRITER, folder, "a") as first, child(WRITER, folder, "b") as second:
        for _ in count():
            ended = first.poll() is not None and second.poll() is not None
            for kept in store.summaries():
                try:
                    with kept.read() as journal:
                        read += len(events(journal))
                except JournalError as error:
                    assert "has been deleted" in str(error) and kept.run.endswith("-gone")
            if ended:
                break
        assert first.stdout.read().strip() == second.stdout.read().strip() == ""
    assert read
    summaries = store.summaries()
    assert [kept.run for kept in summaries] == [f"20261120-{n}-{m}" for n in "ab" for m in range(4)]
    assert {kept.last.what for kept in summaries} == {"finished"}
    for kept in summaries:
        with kept.read() as journal:
            assert len(events(journal)) == 101 and journal.header.run == header(kept.run).run
