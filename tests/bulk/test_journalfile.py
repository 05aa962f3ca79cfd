"""The file of a journal: it is what was written, or it is refused."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from bulk.journalling import (  # noqa: F401
    WHOLE,
    beside,
    change,
    created,
    folder,
    header,
    journals,
    killed,
    told,
)

from chatkit.bulk import journal as file_of
from chatkit.bulk.journal import FileJournal, glance
from chatkit.errors import JournalError


def same_or_refused(path, expected):
    """Open a damaged journal: it is refused, or nothing is other than it was."""
    try:
        with FileJournal.open(path) as journal:
            assert (journal.header, [*journal.changes()], told(journal)) == expected
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
        expected = journal.header, [*journal.changes()], told(journal)
    content, path, seen = journal.path.read_bytes(), folder / "flipped.db", Counter()
    for flipped in flips(content, random.Random(0), 400):
        file_of.delete_files(path)
        path.write_bytes(flipped)
        seen[same_or_refused(path, expected)] += 1
    assert seen["refused"] > 100, seen
    for size in range(0, len(content), 512):
        file_of.delete_files(path)
        path.write_bytes(content[:size])
        assert same_or_refused(path, expected) == "refused"


def test_damage_in_the_log_is_refused_or_harmless(killed):
    """SQLite takes the beginning of a damaged log for the whole of it."""
    log = killed.with_name(killed.name + "-wal")
    whole, content, count = killed.read_bytes(), log.read_bytes(), beside(killed)
    count = count[f"{killed.name}-count"]
    expected = header(), [], WHOLE
    path, seen = killed.with_name("flipped.db"), Counter()
    for flipped in flips(content, random.Random(0), 200):
        file_of.delete_files(path)
        for end, part in (("", whole), ("-wal", flipped), ("-count", count)):
            path.with_name(path.name + end).write_bytes(part)
        seen[same_or_refused(path, expected)] += 1
        if path.with_name("flipped.db-wal").exists():  # refused: left as it was
            assert path.with_name("flipped.db-wal").read_bytes() == flipped
    assert seen["refused"] > 100, seen


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM event WHERE seq = 5",
        "UPDATE event SET detail = '{\"group\":1}' WHERE seq = 5",
        "UPDATE event SET n = NULL WHERE seq = 5",
        "UPDATE event SET n = 5 WHERE seq = 5",
        "UPDATE event SET chain = chain + 1 WHERE seq = 5",
        "DELETE FROM event; INSERT INTO event VALUES (1, 1, 'finished', '', '{}', 0)",
        "UPDATE event SET detail = CAST(X'FF41' AS TEXT) WHERE seq = 5",
        "UPDATE change SET body = replace(body, 'Ana', 'Eva')",
        "DELETE FROM change",
        "UPDATE run SET header = replace(header, '1001', '1002')",
        "DELETE FROM run",
        "DROP TABLE event",
        "DROP TABLE run",
    ],
)
def test_what_was_changed_by_other_means_is_refused_with_a_next_step(folder, damage):
    with created(folder, [change()]) as journal:
        for n in range(9):
            journal.write(n, "intent", group=0)
    with closing(sqlite3.connect(journal.path)) as connection:
        connection.executescript(damage)
    with pytest.raises(JournalError, match=r"is damaged: .*Plan again from a fresh frame"):
        FileJournal.open(journal.path)


def test_a_file_that_is_no_journal_is_refused_and_left_alone(folder, tmp_path):
    files = {"text": b"a letter to the reader " * 200, "empty": b""}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with closing(sqlite3.connect(tmp_path / "other")) as connection:
        connection.execute("CREATE TABLE t (a)")
    for name in ("text", "empty", "other", "missing"):
        path = tmp_path / name
        before = path.read_bytes() if path.exists() else None
        for look in (FileJournal.open, glance):
            with pytest.raises(JournalError, match=name):
                look(path)
        assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.parametrize("other", [0, 1, 3])
def test_a_journal_of_another_schema_is_refused_in_one_sentence(folder, other):
    created(folder).close()
    (path,) = journals(folder)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {other}")
    content = path.read_bytes()
    for look in (FileJournal.open, glance):
        with pytest.raises(
            JournalError, match=rf"has schema {other}, .* reads schema 2: use the version"
        ):
            look(path)
    assert path.read_bytes() == content


def test_a_log_that_was_left_is_in_the_database_before_anything_is_appended(killed):
    """After a failed sync the log may be in memory alone, though it can be read."""
    log, copy = killed.with_name(killed.name + "-wal"), killed.with_name("copy.db")
    assert log.stat().st_size > 0
    with FileJournal.open(killed):
        assert log.stat().st_size == 0
        copy.write_bytes(killed.read_bytes())
    with FileJournal.open(copy) as journal:
        assert told(journal) == WHOLE


@pytest.fixture
def impatient(monkeypatch):
    """Let nobody wait long for what another has locked."""
    connected = file_of.connected

    def quick(path, mode):
        connection = connected(path, mode)
        connection.execute("PRAGMA busy_timeout = 50")
        return connection

    monkeypatch.setattr(file_of, "connected", quick)


def test_a_journal_that_another_program_has_locked_is_not_called_damaged(folder, impatient):
    created(folder).close()
    (path,) = journals(folder)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match="cannot be used: another process is using it"):
            FileJournal.open(path)
        with pytest.raises(JournalError, match="cannot be read: another process is using it"):
            glance(path)
    FileJournal.open(path).close()


def test_damage_that_would_hurt_later_is_refused_though_all_can_be_read(folder):
    with created(folder) as journal:
        journal.write(1, "intent")
    content = bytearray(journal.path.read_bytes())
    at = content.rindex(b"\x0d\x00\x00\x00\x01")  # the page of the event: a leaf with one cell
    content[at + 7] += 9  # how much of its room is in splinters
    journal.path.write_bytes(content)
    with pytest.raises(JournalError, match=r"is damaged: .*[Ff]ragmentation"):
        FileJournal.open(journal.path)


def test_a_journal_that_is_being_read_is_not_continued(killed, impatient):
    with closing(file_of.connected(killed, "ro")) as reader:
        rows = reader.execute("SELECT seq FROM event")
        assert next(rows) == (1,)
        with pytest.raises(JournalError, match="another process is reading it; try again"):
            FileJournal.open(killed)
        rows.close()
    with FileJournal.open(killed) as journal:
        assert told(journal) == WHOLE


def test_a_count_that_a_power_cut_spoilt_is_not_believed(tmp_path):
    for content in (b"", b"\0" * 20, b"\xff" * 20, b"00000000000000000007"):
        (tmp_path / "x.db-count").write_bytes(content)
        assert file_of.counted_events(tmp_path / "x.db") == (7 if content.endswith(b"7") else 0)
    assert file_of.counted_events(tmp_path / "y.db") == 0


@pytest.mark.parametrize("lost", [0, 1])
def test_a_journal_that_lost_its_last_committed_event_is_refused(folder, tmp_path, lost):
    """What is left is a sound chain: only the count beside it tells."""
    with created(folder, [change()]) as journal:
        for _ in range(3):
            journal.write(0, "intent", attempt=1)
        journal.commit()
        copy = tmp_path / journal.path.name
        for name, content in {journal.path.name: journal.path.read_bytes()}.items():
            (tmp_path / name).write_bytes(content)
        for name, content in beside(journal.path).items():
            (tmp_path / name).write_bytes(content)
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("DELETE FROM event WHERE seq > ?", (3 - lost,))
            connection.commit()
        (tmp_path / f"{copy.name}-count").write_bytes(b"%020d" % 3)
        if lost:
            with pytest.raises(JournalError, match="it holds 2 events, and 3 were committed"):
                FileJournal.open(copy)
        else:
            with FileJournal.open(copy) as whole:
                assert len(told(whole)) == 3


@pytest.mark.parametrize("place", ["_write_tables", "sync_folder"])
def test_of_a_journal_that_could_not_be_made_nothing_stays(tmp_path, monkeypatch, place):
    def broken(*_):
        raise OSError("the disk is gone")

    monkeypatch.setattr(file_of, place, broken)
    with pytest.raises(OSError, match="the disk is gone"):
        file_of.write_file(tmp_path / "x.db", "{}", ["{}"])
    assert list(tmp_path.iterdir()) == []
