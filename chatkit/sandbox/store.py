"""The store: all records of a sandbox in one SQLite database, in memory or in a file."""

# ruff: noqa: S608  (what is put into statements is names of our own, values never are)

import json
import os
import random
import sqlite3
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from chatkit.errors import StoreError
from chatkit.sandbox.table import Table

# Marks a file as ours: the letters "chat".
_APPLICATION = 0x63686174
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
_WAIT = 5.0  # seconds for another sandbox that has the file: a kernel that ends just now


class Aside(Protocol):
    """A table of the store that holds no records."""

    name: str

    def forget(self) -> None:
        """Drop what is kept in memory."""


class Store:
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
        self._tables: list[Table] = []
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
    ) -> Table:
        """The table of a room, made when it is new."""
        table = Table(self, name, first_id=first_id, extra=extra, lists_deleted=lists_deleted)
        self._tables.append(table)
        return table

    def adopt(self, aside: Aside) -> None:
        """Clear a table that is no room's when the store is cleared, and roll it back too."""
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
                "the sandbox file was made with another profile: "
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
        """Whether no room has a record."""
        return all(
            self.run(f"SELECT 1 FROM {table.name} LIMIT 1").fetchone() is None
            for table in self._tables
        )

    def clear(self) -> None:
        """Delete the records of all rooms; access tokens stay."""
        for table in (*self._tables, *self._asides):
            self.write(f"DELETE FROM {table.name}")
            table.forget()

    def close(self) -> None:
        """Commit and close; the store cannot be used after that."""
        try:
            self.commit()
        finally:
            self._connection.close()


def _pause() -> None:
    time.sleep(random.uniform(0.01, 0.05))  # noqa: S311  (no secret)
