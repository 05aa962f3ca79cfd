"""The file of a journal: it is what was written, or it is refused."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from bulk.journalling import (  # noqa: F401
    WHOLE,
    change,
    created,
    delete_files,
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

from chatkit.bulk import journal as module
from chatkit.bulk.journal import FolderStore
from chatkit.errors import JournalError


def same_or_refused(path, expected):
    """Open a damaged journal: it is refused, or nothing is other than it was."""
    try:
        with opened(path) as journal:
            assert (journal.header, [*journal.changes()], events(journal)) == expected
    except JournalError:
        return "refused"
    return "same"


def flips(content, rng, count):
    for at in {*range(100), *(rng.randrange(len(content)) for _ in range(count))}:
        if at < len(content):
            yield (
                content[:at]
                + bytes([content[at] ^ rng.choice([1, 0x80, 0xFF])])
                + content[at + 1 :]
            )


def test_damage_is_refused_or_harmless(folder):
    """Bytes of the file are flipped, each in a copy of its own: never is it silently another."""
    changes = [change(n) for n in range(30)]
    with created(folder, changes) as journal:
        for n in range(60):
            journal.write(n % 30, "intent", live={"name": "Ana"})
            journal.commit()
        expected = journal.header, [*journal.changes()], events(journal)
    content, path, seen = path_of(journal).read_bytes(), folder / "flipped.db", Counter()
    for flipped in flips(content, random.Random(0), 400):
        delete_files(path)
        path.write_bytes(flipped)
        seen[same_or_refused(path, expected)] += 1
    assert seen["refused"] > 100, seen
    for size in range(0, len(content), 512):
        delete_files(path)
        path.write_bytes(content[:size])
        assert same_or_refused(path, expected) == "refused"


def test_damage_in_the_log_is_refused_or_harmless(killed):
    """SQLite takes the beginning of a damaged log for the whole of it."""
    log = killed.with_name(killed.name + "-wal")
    whole, content, count = killed.read_bytes(), log.read_bytes(), siblings(killed)
    count = count[f"{killed.name}-count"]
    expected = header(), [], WHOLE
    path, seen = killed.with_name("flipped.db"), Counter()
    for flipped in flips(content, random.Random(0), 200):
        delete_files(path)
        for end, part in (("", whole), ("-wal", flipped), ("-count", count)):
            path.with_name(path.name + end).write_bytes(part)
        seen[same_or_refused(path, expected)] += 1
        if path.with_name("flipped.db-wal").exists():  # refused: left as it was
            assert path.with_name("flipped.db-wal").read_bytes() == flipped
    assert seen["refused"] > 100, seen


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM chatkit_event WHERE seq = 5",
        "UPDATE chatkit_event SET detail = '{\"group\":1}' WHERE seq = 5",
        "UPDATE chatkit_event SET n = NULL WHERE seq = 5",
        "UPDATE chatkit_event SET n = 5 WHERE seq = 5",
        "UPDATE chatkit_event SET chain = chain + 1 WHERE seq = 5",
        "DELETE FROM chatkit_event WHERE seq > 1; UPDATE chatkit_event SET what = 'finished'",
        "UPDATE chatkit_event SET detail = CAST(X'FF41' AS TEXT) WHERE seq = 5",
        "UPDATE chatkit_change SET body = replace(body, 'Ana', 'Eva')",
        "DELETE FROM chatkit_change",
        "UPDATE chatkit_run SET header = replace(header, '1001', '1002')",
        "DELETE FROM chatkit_run",
        "DROP TABLE chatkit_event",
        "DROP TABLE chatkit_run",
    ],
)
def test_what_was_changed_by_other_means_is_refused_with_a_next_step(folder, damage):
    with created(folder, [change()]) as journal:
        for n in range(9):
            journal.write(n, "intent", group=0)
    with closing(sqlite3.connect(path_of(journal))) as connection:
        connection.executescript(damage)
    with pytest.raises(JournalError, match=r"is damaged: .*Plan again from a fresh frame"):
        opened(path_of(journal))


def test_a_file_that_is_no_journal_is_refused_and_left_alone(folder, tmp_path):
    files = {"text": b"a letter to the reader " * 200, "empty": b""}
    for name, content in files.items():
        (tmp_path / f"{name}.db").write_bytes(content)
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE t (a)")
    for name in ("text", "empty", "other", "missing"):
        path = tmp_path / f"{name}.db"
        before = path.read_bytes() if path.exists() else None
        for look in (opened, read):
            with pytest.raises(JournalError, match=name):
                look(path)
        assert summary(path)[2:] == (None, None)
        assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.parametrize("other", [0, 3, 5])
def test_a_journal_of_another_version_is_refused_in_one_sentence(folder, other):
    created(folder).close()
    (path,) = journals(folder)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE chatkit_journals SET version = ?", (other,))
        connection.commit()
    content = path.read_bytes()
    for look in (opened, read):
        with pytest.raises(
            JournalError, match=rf"has version {other} .* reads version 4: use the chatkit"
        ):
            look(path)
    assert summary(path).header is None
    assert path.read_bytes() == content


def test_a_log_that_was_left_is_in_the_database_before_anything_is_appended(killed):
    """After a failed sync the log may be in memory alone, though it can be read."""
    log, copy = killed.with_name(killed.name + "-wal"), killed.parent / "copy" / killed.name
    assert log.stat().st_size > 0
    with opened(killed):
        assert log.stat().st_size == 0
        copy.parent.mkdir()
        copy.write_bytes(killed.read_bytes())
    with opened(copy) as journal:
        assert events(journal) == WHOLE


@pytest.fixture
def impatient(monkeypatch):
    """Shorten the wait for a locked file."""
    monkeypatch.setattr(module, "_WAIT", 0.05)


def test_a_journal_that_another_program_has_locked_is_not_called_damaged(folder, impatient):
    created(folder).close()
    (path,) = journals(folder)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match="cannot be used: another process is using it"):
            opened(path)
        assert summary(path).header is None
    opened(path).close()


def test_damage_that_would_hurt_later_is_refused_though_all_can_be_read(folder):
    with created(folder) as journal:
        journal.write(1, "intent")
    content = bytearray(path_of(journal).read_bytes())
    at = content.rindex(b"\x0d\x00\x00\x00\x01")  # the page of the event: a leaf with one cell
    content[at + 7] += 9  # the number of free bytes in fragments
    path_of(journal).write_bytes(content)
    with pytest.raises(JournalError, match=r"is damaged: .*[Ff]ragmentation"):
        opened(path_of(journal))


def test_a_list_of_runs_reads_no_journal_wholly(folder):
    """Damage far from header and last event is reported when the journal is read."""
    with created(folder, [change(row="a" * 40_000)]) as journal:
        journal.write(None, "finished")
    path = path_of(journal)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"a" * 2_000, b"b" * 2_000))
    assert summary(path).last.what == "finished"
    with pytest.raises(JournalError, match="not those that were written"):
        read(path)


def test_a_journal_that_is_being_read_is_not_continued(killed, impatient):
    with closing(sqlite3.connect(killed)) as reader:
        rows = reader.execute("SELECT seq FROM chatkit_event")
        assert next(rows) == (1,)
        with pytest.raises(JournalError, match=r"another process is (reading|using) it"):
            opened(killed)
        rows.close()
    with opened(killed) as journal:
        assert events(journal) == WHOLE


def test_a_journal_that_is_deleted_while_it_is_opened_is_no_fault_of_the_disk(folder, monkeypatch):
    """SQLite has the file, and does not find its name when it opens the log: an I/O error."""
    created(folder, [change()]).close()
    (path,) = journals(folder)
    connect = sqlite3.connect

    def deleted_then(*arguments, **options):
        connection = connect(*arguments, **options)
        delete_files(path)
        return connection

    monkeypatch.setattr(sqlite3, "connect", deleted_then)
    with pytest.raises(JournalError, match="it has been deleted in the meantime"):
        read(path)
    assert list(folder.iterdir()) == []


def test_a_count_that_a_power_cut_spoilt_is_not_believed(killed):
    for content in (b"", b"\0" * 20, b"\xff" * 20, b"00000000000000000007"):
        killed.with_name(f"{killed.name}-count").write_bytes(content)
        with read(killed) as journal:
            assert events(journal) == WHOLE


@pytest.mark.parametrize("lost", [0, 1])
def test_a_journal_that_lost_its_last_committed_event_is_refused(folder, tmp_path, lost):
    """The rest is a valid chain: only the count beside the file shows the loss."""
    with created(folder, [change()]) as journal:
        for _ in range(3):
            journal.write(0, "intent", attempt=1)
        journal.commit()
        copy = tmp_path / path_of(journal).name
        for name, content in {path_of(journal).name: path_of(journal).read_bytes()}.items():
            (tmp_path / name).write_bytes(content)
        for name, content in siblings(path_of(journal)).items():
            (tmp_path / name).write_bytes(content)
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("DELETE FROM chatkit_event WHERE seq > ?", (3 - lost,))
            connection.commit()
        (tmp_path / f"{copy.name}-count").write_bytes(b"%020d" % 3)
        if lost:
            with pytest.raises(JournalError, match="it holds 2 events, and 3 were committed"):
                opened(copy)
        else:
            with opened(copy) as whole:
                assert len(events(whole)) == 3


@pytest.mark.parametrize("place", ["_write_changes", "sync_folder"])
def test_of_a_journal_that_could_not_be_made_nothing_stays(folder, monkeypatch, place):
    def broken(*_):
        raise OSError("the disk is gone")

    monkeypatch.setattr(module, place, broken)
    with pytest.raises(JournalError, match=r"the disk is gone\. Nothing was sent"):
        created(folder, [change()])
    assert not [path for path in folder.iterdir() if path.suffix != ".db"]
    assert FolderStore(folder).runs() == []
