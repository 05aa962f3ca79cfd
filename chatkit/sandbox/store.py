"""The store: all records of a sandbox in one SQLite database, in memory or in a file.

The tables of all resources have one shape: a record is kept as the JSON text that it is
answered with. A page is its ids, cut from an array in memory, and their texts, joined: nothing
is parsed or serialized again, and a page of a million records costs what a page of ten
thousand does.
"""

from __future__ import annotations

# ruff: noqa: S608  (what is put into statements is names of our own, values never are)
import json
import os
import random
import sqlite3
import time
import weakref
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from chatkit.errors import StoreError

# Marks a file as ours: the letters "chat".
_APPLICATION = 0x63686174
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
_WAIT = 5.0  # seconds for another sandbox that has the file: a kernel that ends just now
_COLUMNS = "id, scope, key, active, item, more, hidden"


# --- the database ---------------------------------------------------------------------


class Aside(Protocol):
    """A table of the store that holds no records."""

    name: str

    def forget(self) -> None:
        """Drop what is kept in memory."""


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
        self._spoilt = False
        self._tables: list[ResourceTable] = []
        self._asides: list[Aside] = []
        if path is not None:
            # Created before SQLite does it, so that others can never read it.
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._open(path)
        weakref.finalize(self, self._connection.close)

    def _open(self, path: Path | None) -> None:
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
                if not getattr(error, "sqlite_errorname", "").startswith(_BUSY):
                    raise StoreError(f"{path} cannot be used by this sandbox: {error}") from error
                if time.monotonic() >= deadline:
                    raise StoreError(
                        f"Another sandbox has the file {path} open, and had it for all of "
                        f"{_WAIT:g} seconds: close that sandbox, or take another file."
                    ) from None
            _pause()

    def _prepare(self) -> None:
        # What is in memory would be wrong if another process wrote.
        self.run("PRAGMA locking_mode = EXCLUSIVE")
        self.run("PRAGMA journal_mode = WAL").fetchone()
        self.run("PRAGMA synchronous = NORMAL")
        self.run("PRAGMA cache_size = -65536")  # 64 MB: the last pages of a large table
        if self.run("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            if self.run("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                raise sqlite3.DatabaseError("it is the database of another program")
            self.run(f"PRAGMA application_id = {_APPLICATION}")
        self.run("CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)")

    def table(
        self, name: str, *, first_id: int, extra: Sequence[str] = (), lists_deleted: bool = False
    ) -> ResourceTable:
        """The table of a resource, made when it is new."""
        table = ResourceTable(
            self, name, first_id=first_id, extra=extra, lists_deleted=lists_deleted
        )
        self._tables.append(table)
        return table

    def adopt(self, aside: Aside) -> None:
        """Clear a table that is no resource's when the store is cleared, and roll it back too."""
        self._asides.append(aside)

    def agree(self, facts: Mapping[str, object]) -> None:
        """Make sure that the file was written under the same facts as these.

        Raises:
            StoreError: It was not; the text says which differ. The store is closed.
        """
        stored = dict(self.run("SELECT name, value FROM facts").fetchall())
        wanted = {name: json.dumps(value) for name, value in facts.items()}
        differ = [name for name in wanted if stored.get(name, wanted[name]) != wanted[name]]
        if differ:
            self._connection.close()
            raise StoreError(
                "the sandbox file was made with another profile or other quirks: "
                + ", ".join(f"{name}={stored[name]}" for name in differ)
            )
        for fact in wanted.items():
            self.write("INSERT OR REPLACE INTO facts VALUES (?, ?)", fact)
        self.commit()

    def write(self, statement: str, values: Sequence[object] = ()) -> None:
        """Run one writing statement inside the open transaction, or a new one."""
        if not self.dirty:
            self.run("BEGIN IMMEDIATE")
            self.dirty = True
        self.run(statement, values)

    def spoil(self) -> None:
        """Say that the writes since the last commit must not be committed: one failed."""
        self.dirty = self._spoilt = True

    def commit(self) -> None:
        """Make all writes since the last commit durable.

        Raises:
            StoreError: They are lost, all of them; the store is as at the last commit.
        """
        try:
            if self._spoilt:
                raise sqlite3.OperationalError("a write failed")
            if self.dirty:
                self.run("COMMIT")
        except sqlite3.Error as error:
            self.rollback()
            raise StoreError(f"the writes since the last commit are lost: {error}") from error
        self.dirty = False

    def rollback(self) -> None:
        """Undo all writes since the last commit."""
        self.dirty = self._spoilt = False
        for table in (*self._tables, *self._asides):
            table.forget()
        # A full disk may have ended the transaction already.
        if self._connection.in_transaction:
            self.run("ROLLBACK")

    @property
    def is_empty(self) -> bool:
        """Whether no resource has a record."""
        return all(
            self.run(f"SELECT 1 FROM {table.name} LIMIT 1").fetchone() is None
            for table in self._tables
        )

    def clear(self) -> None:
        """Delete the records of all resources; access tokens stay."""
        for table in (*self._tables, *self._asides):
            self.write(f"DELETE FROM {table.name}")
            table.forget()

    def image(self) -> sqlite3.Connection:
        """Return a copy, in memory, of all that is stored and committed."""
        image = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.backup(image)
        return image

    def become(self, image: sqlite3.Connection) -> None:
        """Hold what an image holds, and nothing else any more."""
        image.backup(self._connection)
        for table in (*self._tables, *self._asides):
            table.forget()

    def close(self) -> None:
        """Commit and close; the store cannot be used after that."""
        try:
            self.commit()
        finally:
            self._connection.close()


def _pause() -> None:
    time.sleep(random.uniform(0.01, 0.05))  # noqa: S311  (no secret)


# --- the records of one resource ------------------------------------------------------


class StoredRecord(NamedTuple):
    """One record: whose it is, its natural key, and its fields as JSON texts.

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
    def shown(self) -> str:
        """The JSON text of a get: what lists show and the rest."""
        return self.item if self.more == "{}" else f"{self.item[:-1]},{self.more[1:]}"


class ResourceTable:
    """The records of one resource.

    A scope is the list a record stands in: an account, or a template of an account; its
    ids and keys are in memory. `extra` names text columns that the resource searches by.
    With `lists_deleted` the lists show deleted records too.
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
        self._store, self.name, self._first_id = store, name, first_id
        self._lists_deleted = lists_deleted
        self._run = store.run
        self.version = 0  # another number after each write
        # The short columns first: SQLite reads a record from its beginning.
        extras = "".join(f" {column} TEXT NOT NULL," for column in extra)
        self._run(
            f"CREATE TABLE IF NOT EXISTS {name} (id INTEGER PRIMARY KEY, scope TEXT NOT NULL,"
            f" key TEXT NOT NULL, active INTEGER,{extras} item TEXT NOT NULL,"
            f" more TEXT NOT NULL, hidden TEXT NOT NULL)"
        )
        marks, sets = "?, " * len(extra), "".join(f"{column} = ?, " for column in extra)
        self._insert = f"INSERT INTO {name} VALUES (?, ?, ?, 1, {marks}?, ?, ?)"
        self._rewrite = (
            f"UPDATE {name} SET key = ?, active = 1, {sets}item = ?, more = ?, hidden = ?"
            f" WHERE id = ?"
        )
        self._get = f"SELECT {_COLUMNS} FROM {name} WHERE id = ?"
        some = "id IN (SELECT value FROM json_each(?))"
        joined = "SELECT CAST(group_concat(item, ',') AS BLOB) FROM"
        # A range of ids is read along the table, and so in order.
        self._range = f"{joined} {name} WHERE id BETWEEN ? AND ?"
        self._several = f"{joined} (SELECT item FROM {name} WHERE {some} ORDER BY id)"
        self._rows = f"SELECT {_COLUMNS} FROM {name} WHERE {some} ORDER BY id"
        self.forget()

    def forget(self) -> None:
        """Drop what is kept in memory; it is read again when next needed."""
        self._scopes: dict[str, Scope] | None = None
        self._last_id = 0
        self.version += 1

    def _loaded(self) -> dict[str, Scope]:
        """All scopes by name."""
        if self._scopes is None:
            scopes: dict[str, Scope] = {}
            self._last_id = self._first_id - 1
            for record_id, scope_name, key, active in self._run(
                f"SELECT id, scope, key, active FROM {self.name} ORDER BY id"
            ):
                scope = scopes.get(scope_name) or scopes.setdefault(scope_name, Scope())
                if active:
                    scope.add(record_id, key)
                else:
                    scope.add_deleted(record_id, key, listed=self._lists_deleted)
                self._last_id = record_id
            self._scopes = scopes
        return self._scopes

    def next_id(self) -> int:
        """The id of the next new record."""
        self._loaded()
        return self._last_id + 1

    def insert(
        self, record_id: int, scope: str, key: str, item: str, more: str, hidden: str, *extra: str
    ) -> None:
        """Store a new record under the id that `next_id` gave."""
        scopes = self._loaded()
        self._store.write(self._insert, (record_id, scope, key, *extra, item, more, hidden))
        self._last_id = record_id
        self.version += 1
        (scopes.get(scope) or scopes.setdefault(scope, Scope())).add(record_id, key)

    def rewrite(
        self, row: StoredRecord, key: str, item: str, more: str, hidden: str, *extra: str
    ) -> None:
        """Store a record anew, active from now on."""
        scope = self._loaded()[row.scope]
        self._store.write(self._rewrite, (key, *extra, item, more, hidden, row.id))
        self.version += 1
        if row.active is None:
            scope.restore(row.id, row.key, listed=self._lists_deleted)
        scope.rekey(row.id, row.key, key)

    def retire(self, row: StoredRecord) -> None:
        """Make a record inactive; it stays stored."""
        scope = self._loaded()[row.scope]
        self._store.write(f"UPDATE {self.name} SET active = NULL WHERE id = ?", (row.id,))
        self.version += 1
        scope.retire(row.id, row.key, listed=self._lists_deleted)

    def get(self, record_id: int, scope: str | None = None) -> StoredRecord | None:
        """The record of that id, in that scope or in any; active or not."""
        found = self._run(self._get, (record_id,)).fetchone()
        return StoredRecord(*found) if found is not None and scope in (None, found[1]) else None

    def find(self, scope: str, key: str) -> StoredRecord | None:
        """The active record of that natural key, else the inactive one that is newest."""
        known = self._loaded().get(scope)
        record_id = known.find(key) if known else None
        return None if record_id is None else self.get(record_id)

    def knows(self, scope: str) -> bool:
        """Whether the scope has or ever had a record."""
        return scope in self._loaded()

    def scopes(self) -> list[str]:
        """The scopes whose lists show a record."""
        return [name for name, scope in self._loaded().items() if scope.ids]

    def listed(self, scope: str) -> Sequence[int]:
        """The ids that lists of the scope show, ascending."""
        known = self._loaded().get(scope)
        return known.ids if known else ()

    def ids(self, scope: str, where: str, values: Sequence[str]) -> list[int]:
        """The listed ids of the scope that a condition holds for, ascending."""
        conditions = ["scope = ?", where]
        if not self._lists_deleted:
            conditions.append("active = 1")
        found = self._run(
            f"SELECT id FROM {self.name} WHERE {' AND '.join(conditions)} ORDER BY id",
            (scope, *values),
        )
        return [record_id for (record_id,) in found]

    def items(self, ids: Sequence[int]) -> bytes:
        """The list items of ascending ids: their JSON texts, joined by commas."""
        if not ids:
            return b""
        if ids[-1] - ids[0] != len(ids) - 1:
            return bytes(self._run(self._several, (json.dumps(list(ids)),)).fetchone()[0])
        return bytes(self._run(self._range, (ids[0], ids[-1])).fetchone()[0])

    def rows(self, scope: str) -> list[StoredRecord]:
        """The records that lists of the scope show, ascending by id."""
        ids = list(self.listed(scope))
        return [StoredRecord(*row) for row in self._run(self._rows, (json.dumps(ids),))]


# --- the keys of one list, in memory --------------------------------------------------


class Scope:
    """The list of one account, or of one template of an account.

    `ids` are those that lists show, ascending. Keys are looked up here and not in an
    index of the database: keys come in no order, so every create would change another
    page of such an index, and a create among a million would cost twice what one among
    ten thousand does.
    """

    __slots__ = ("_active", "_deleted", "ids")

    def __init__(self) -> None:
        self.ids: array[int] = array("q")
        self._active: dict[str, int] = {}
        self._deleted: dict[str, list[int]] = {}

    def add(self, record_id: int, key: str) -> None:
        """Take in a record that is newer than all others."""
        self.ids.append(record_id)
        self._active[key] = record_id

    def add_deleted(self, record_id: int, key: str, *, listed: bool) -> None:
        """Take in a record that is newer than all others and was deleted."""
        if listed:
            self.ids.append(record_id)
        self._deleted.setdefault(key, []).append(record_id)

    def rekey(self, record_id: int, before: str, after: str) -> None:
        """Give an active record another key."""
        if before != after:
            self._release(record_id, before)
            self._active[after] = record_id

    def retire(self, record_id: int, key: str, *, listed: bool) -> None:
        """Make a record inactive; it stays in the list if deleted ones are listed."""
        if not listed:
            del self.ids[bisect_left(self.ids, record_id)]
        self._release(record_id, key)
        self._deleted.setdefault(key, []).append(record_id)

    def restore(self, record_id: int, key: str, *, listed: bool) -> None:
        """Make an inactive record active again."""
        if not listed:
            self.ids.insert(bisect_left(self.ids, record_id), record_id)
        self._deleted[key].remove(record_id)
        if not self._deleted[key]:
            del self._deleted[key]
        self._active[key] = record_id

    def find(self, key: str) -> int | None:
        """The active record of a key, else the newest of the deleted ones."""
        active = self._active.get(key)
        if active is not None:
            return active
        return max(self._deleted.get(key, ()), default=None)

    def _release(self, record_id: int, key: str) -> None:
        # Where keys may be shared, the newest record has it and an older one does not.
        if self._active.get(key) == record_id:
            del self._active[key]
