"""The store: all records of a sandbox in one SQLite database, and the clock that stamps them.

The tables of all resources have one shape: a record is kept as the JSON text that it is
answered with. A page is its ids, cut from an array in memory, and their texts, joined: nothing
is parsed or serialized again, and a page of a hundred thousand records costs what a page of ten
thousand does, where OFFSET and count(*) would grow with the number of records.
"""

from __future__ import annotations

import base64
import hashlib

# ruff: noqa: S608  (what is put into statements is names of our own, values never are)
import json
import os
import secrets
import sqlite3
import time
import weakref
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from chatkit.errors import StoreError
from chatkit.util.files import is_busy, sleep_briefly

# Marks a file as ours: the letters "chat".
_APPLICATION = 0x63686174
_WAIT = 5.0  # seconds for another sandbox that has the file: a kernel that ends just now
_COLUMNS = "id, scope, key, active, item, more, hidden"


# --- the database ---------------------------------------------------------------------


class SandboxStore:
    """All records of a sandbox, in memory or in a file that survives the process.

    Writes collect in one transaction until `commit`: `dirty` tells that there are some.
    When a commit fails, all writes since the last one are undone. A file belongs to one
    process at a time.

    Raises:
        StoreError: The file is no sandbox file, or another process has it open.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.dirty = False
        self.tables: list[Any] = []  # those with a name that are cleared with it
        if path is not None:
            # Created before SQLite does it, so that others can never read it.
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._open(path)
        weakref.finalize(self, self._connection.close)

    def _open(self, path: Path | None) -> None:
        """Open the database, waiting some seconds for another sandbox that has the file."""
        deadline = time.monotonic() + _WAIT
        while True:
            self._connection = sqlite3.connect(
                path or ":memory:", isolation_level=None, check_same_thread=False, timeout=0
            )
            # One cursor for all: read a result to its end before the next statement.
            self.run = self._connection.cursor().execute
            try:
                return self._prepare()
            except sqlite3.Error as error:
                # Of two that open one file together each may have what the other waits for:
                # both let go of all of it, and come back at different times.
                self._connection.close()
                if not is_busy(error):
                    raise StoreError(f"{path} cannot be used by this sandbox: {error}") from error
                if time.monotonic() >= deadline:
                    raise StoreError(
                        f"Another sandbox has the file {path} open, and had it for all of "
                        f"{_WAIT:g} seconds: close that sandbox, or take another file."
                    ) from None
            sleep_briefly()

    def _prepare(self) -> None:
        """Configure the connection, and mark a new file as a sandbox."""
        # what is in memory would be wrong if another process wrote
        self.run("PRAGMA locking_mode = EXCLUSIVE")
        self.run("PRAGMA journal_mode = WAL").fetchone()
        self.run("PRAGMA synchronous = NORMAL")
        self.run("PRAGMA cache_size = -65536")  # 64 MB: the last pages of a large table
        if self.run("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            if self.run("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                raise sqlite3.DatabaseError("it is the database of another program")
            self.run(f"PRAGMA application_id = {_APPLICATION}")
        self.run("CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)")

    def check_facts(self, facts: Mapping[str, object]) -> None:
        """Check the settings stored in the file, and store them in a new one.

        Raises:
            StoreError: It was not; the text says which differ. The store is closed.
        """
        stored = dict(self.run("SELECT name, value FROM facts").fetchall())
        texts = {name: json.dumps(value) for name, value in facts.items()}
        differ = [name for name in texts if stored.get(name, texts[name]) != texts[name]]
        if differ:
            self._connection.close()
            raise StoreError(
                "the sandbox file was made with another profile or other quirks: "
                + ", ".join(f"{name}={stored[name]}" for name in differ)
            )
        for fact in texts.items():
            self.write("INSERT OR REPLACE INTO facts VALUES (?, ?)", fact)
        self.commit()

    def write(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Execute a writing statement in the open transaction, or in a new one."""
        if not self.dirty:
            self.run("BEGIN IMMEDIATE")
            self.dirty = True
        return self.run(statement, values)

    def commit(self) -> None:
        """Make all writes since the last commit durable.

        Raises:
            StoreError: They are lost, all of them; the store is as at the last commit.
        """
        try:
            if self.dirty:
                self.run("COMMIT")
        except sqlite3.Error as error:
            self.rollback()
            raise StoreError(f"the writes since the last commit are lost: {error}") from error
        self.dirty = False

    def rollback(self) -> None:
        """Undo all writes since the last commit."""
        self.dirty = False
        for table in self.tables:
            table.drop_cache()
        # A full disk may have ended the transaction already.
        if self._connection.in_transaction:
            self.run("ROLLBACK")

    @property
    def is_empty(self) -> bool:
        """True if no resource has a record."""
        return all(
            self.run(f"SELECT 1 FROM {table.name} LIMIT 1").fetchone() is None
            for table in self.tables
        )

    def clear(self) -> None:
        """Delete the records of all resources; access tokens stay."""
        for table in self.tables:
            self.write(f"DELETE FROM {table.name}")
            table.drop_cache()

    def close(self) -> None:
        """Commit and close; the store cannot be used after that."""
        try:
            self.commit()
        finally:
            self._connection.close()


# --- the records of one resource ------------------------------------------------------


class StoredRecord(NamedTuple):
    """A stored record: its scope, its natural key, and its fields as JSON texts.

    `item` holds what lists show, `more` what only a get adds, `hidden` what the API
    never shows. `active` is 1, or None once deleted: a deleted record stays stored.
    """

    id: int
    scope: str
    key: str
    active: int | None
    item: str
    more: str
    hidden: str

    @property
    def full_text(self) -> str:
        """The JSON text of the record as get shows it."""
        return self.item if self.more == "{}" else f"{self.item[:-1]},{self.more[1:]}"


class ResourceTable:
    """The records of one resource.

    A scope is the list a record stands in: an account, or a template of an account.
    `extra` names text columns that the resource searches by. With `lists_deleted` the lists
    show deleted records too.
    """

    def __init__(
        self,
        store: SandboxStore,
        name: str,
        *,
        first_id: int,
        extra: Sequence[str] = (),
        lists_deleted: bool = False,
    ) -> None:
        self._store, self.name, self._first_id, self.extra = store, name, first_id, extra
        self._listed = "scope = ?" if lists_deleted else "scope = ? AND active = 1"
        self._run = store.run
        # The short columns first: SQLite reads a record from its beginning.
        extras = "".join(f" {column} TEXT NOT NULL," for column in extra)
        self._run(
            f"CREATE TABLE IF NOT EXISTS {name} (id INTEGER PRIMARY KEY, scope TEXT NOT NULL,"
            f" key TEXT NOT NULL, active INTEGER,{extras} item TEXT NOT NULL,"
            f" more TEXT NOT NULL, hidden TEXT NOT NULL)"
        )
        self._run(f"CREATE INDEX IF NOT EXISTS {name}_keys ON {name} (scope, key, active)")
        marks, sets = "?, " * len(extra), "".join(f"{column} = ?, " for column in extra)
        self._insert = f"INSERT INTO {name} VALUES (?, ?, ?, 1, {marks}?, ?, ?)"
        self._rewrite = (
            f"UPDATE {name} SET key = ?, active = 1, {sets}item = ?, more = ?, hidden = ?"
            f" WHERE id = ?"
        )
        self._select = f"SELECT {_COLUMNS} FROM {name} WHERE"
        joined = "SELECT CAST(group_concat(item, ',') AS BLOB) FROM"
        # A range of ids is read along the table, and so in order.
        self._range = f"{joined} {name} WHERE id BETWEEN ? AND ?"
        some = "id IN (SELECT value FROM json_each(?))"
        self._several = f"{joined} (SELECT item FROM {name} WHERE {some} ORDER BY id)"
        self.drop_cache()
        store.tables.append(self)

    def drop_cache(self) -> None:
        """Drop the ids that are kept in memory; they are read again when next needed."""
        self._ids: dict[str, array[int]] = {}

    def next_id(self) -> int:
        """Return the id of the next new record."""
        last: int | None = self._run(f"SELECT max(id) FROM {self.name}").fetchone()[0]
        return self._first_id if last is None else last + 1

    def insert(
        self, record_id: int, scope: str, key: str, item: str, more: str, hidden: str, *extra: str
    ) -> None:
        """Store a new record under the id of `next_id`, or a higher one."""
        self._store.write(self._insert, (record_id, scope, key, *extra, item, more, hidden))
        if scope in self._ids:
            self._ids[scope].append(record_id)

    def rewrite(
        self, row: StoredRecord, key: str, item: str, more: str, hidden: str, *extra: str
    ) -> None:
        """Replace a stored record, and make it active."""
        self._store.write(self._rewrite, (key, *extra, item, more, hidden, row.id))
        if row.active is None:
            self._ids.pop(row.scope, None)

    def deactivate(self, row: StoredRecord) -> None:
        """Make a record inactive; it stays stored."""
        self._store.write(f"UPDATE {self.name} SET active = NULL WHERE id = ?", (row.id,))
        self._ids.pop(row.scope, None)

    def find_record(self, record_id: int, scope: str | None = None) -> StoredRecord | None:
        """Return the record of an id, active or not, in one scope or in any."""
        row = self._run(f"{self._select} id = ?", (record_id,)).fetchone()
        return StoredRecord(*row) if row is not None and scope in (None, row[1]) else None

    def find_active(self, record_id: int, scope: str) -> StoredRecord | None:
        """Return the active record of an id in a scope."""
        row = self.find_record(record_id, scope)
        return row if row is not None and row.active else None

    def find_by_key(self, scope: str, key: str) -> StoredRecord | None:
        """Return the active record of a natural key, else the newest inactive one."""
        newest = f"{self._select} scope = ? AND key = ? ORDER BY active DESC, id DESC LIMIT 1"
        row = self._run(newest, (scope, key)).fetchone()
        return None if row is None else StoredRecord(*row)

    def has_scope(self, scope: str) -> bool:
        """Check if the scope has or ever had a record."""
        query = f"SELECT 1 FROM {self.name} WHERE scope = ? LIMIT 1"
        return self._run(query, (scope,)).fetchone() is not None

    def list_active_scopes(self) -> list[str]:
        """Return the scopes that have an active record."""
        query = f"SELECT DISTINCT scope FROM {self.name} WHERE active = 1"
        return [scope for (scope,) in self._run(query)]

    def list_ids(self, scope: str) -> Sequence[int]:
        """Return the ids in the list of a scope, ascending."""
        if scope not in self._ids:
            self._ids[scope] = array("q", self.select_ids(scope, "true"))
        return self._ids[scope]

    def select_ids(self, scope: str, condition: str, values: Sequence[str] = ()) -> list[int]:
        """Return the ids in the list of a scope that fulfil a condition, ascending."""
        query = f"SELECT id FROM {self.name} WHERE {self._listed} AND {condition} ORDER BY id"
        return [record_id for (record_id,) in self._run(query, (scope, *values))]

    def join_items(self, ids: Sequence[int]) -> bytes:
        """Return the list items of ascending ids as JSON texts, joined by commas."""
        if not ids:
            return b""
        if ids[-1] - ids[0] != len(ids) - 1:
            return bytes(self._run(self._several, (json.dumps(list(ids)),)).fetchone()[0])
        return bytes(self._run(self._range, (ids[0], ids[-1])).fetchone()[0])

    def select_records(self, scope: str) -> list[StoredRecord]:
        """Return the records in the list of a scope, ascending by id."""
        rows = self._run(f"{self._select} {self._listed} ORDER BY id", (scope,))
        return [StoredRecord(*row) for row in rows]


# --- the clock ------------------------------------------------------------------------

# The first tick of a seeded sandbox: a Monday morning.
_SEEDED_START = int(datetime(2026, 1, 5, 8, 0, tzinfo=UTC).timestamp())


class Clock:
    """Source of times, secrets, tokens and ids, by the clock of the machine."""

    def __init__(self) -> None:
        self._ahead = 0.0  # seconds of the machine's clock

    def now(self) -> float:
        """Return the time of the service, in seconds since 1970."""
        return time.time() + self._ahead

    def set_time(self, now: float) -> None:
        """Set the clock of the service to another time."""
        self._ahead = now - time.time()

    def stamp(self) -> str:
        """Return the time of a write as ISO 8601 in UTC."""
        now = datetime.fromtimestamp(self.now(), UTC)
        return f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"

    def begin_timeline(self, seconds: int) -> int:
        """Return the first second of a timeline that ends now, since 1970."""
        return int(self.now()) - seconds

    def restart(self) -> None:
        """Return to the time of the machine."""
        self._ahead = 0.0

    def make_secret(self) -> str:
        """Make a signing secret: 64 lower-case hexadecimal digits."""
        return self._generate_bytes("secret").hex()

    def make_token(self) -> str:
        """Make the text of an access token: 43 URL-safe characters."""
        return base64.urlsafe_b64encode(self._generate_bytes("token")).rstrip(b"=").decode()

    def make_message_id(self) -> str:
        """Make the id of an event, which all attempts to deliver it share."""
        return f"msg_{self._generate_bytes('message')[:12].hex()}"

    def _generate_bytes(self, purpose: str) -> bytes:
        """Generate 32 random bytes for a purpose."""
        return secrets.token_bytes(32)


class SeededClock(Clock):
    """Clock with the same times and secrets at every run; it ticks a second at each write.

    For examples and tests on this machine only: whoever knows the seed knows the tokens.
    """

    def __init__(self, seed: str) -> None:
        super().__init__()
        self._seed, self._ticks = seed, 0
        self._made: Counter[str] = Counter()

    def now(self) -> float:
        """Return the latest tick."""
        return float(_SEEDED_START + self._ticks)

    def set_time(self, now: float) -> None:
        """Set the clock of the service; it ticks on from there."""
        self._ticks = int(now) - _SEEDED_START

    def stamp(self) -> str:
        """Tick, and return the time as ISO 8601 in UTC."""
        self._ticks += 1
        return super().stamp()

    def begin_timeline(self, seconds: int) -> int:
        """Advance the clock by the length of a timeline, and return its first second."""
        self._ticks += 1 + seconds
        return super().begin_timeline(seconds)

    def restart(self) -> None:
        """Return to the first time and signing secret; tokens go on, for old ones stay valid."""
        self._ticks, self._made = 0, Counter(token=self._made["token"])

    def _generate_bytes(self, purpose: str) -> bytes:
        """Generate the next 32 bytes for a purpose from the seed."""
        self._made[purpose] += 1
        text = f"chatkit sandbox {self._seed} {purpose} {self._made[purpose]}"
        return hashlib.sha256(text.encode()).digest()
