"""The outbox: deliveries that wait, stored beside the records until they are done with.

An event is written in the transaction of the change that it tells of, and struck off in
the one that records how its delivery went. So neither a crash nor a full disk loses a
delivery; one whose answer was not recorded is made again: at least once.
"""

from collections.abc import Iterable
from typing import NamedTuple

from chatkit.sandbox.store import Store

MOST_WAITING = 20_000


class OutboxFull(RuntimeError):
    """Too many deliveries wait: receivers are slow, or fail, and events go on."""


class Waiting(NamedTuple):
    """A delivery that is to be attempted, for the `attempts + 1`st time, when it is due."""

    id: int
    account: str
    webhook_id: int
    message_id: str
    kind: str
    body: bytes
    attempts: int
    due: float


class Outbox:
    """The deliveries that wait, in the order they are due. Not for several threads at once."""

    name = "outbox"

    def __init__(self, store: Store) -> None:
        self._store = store
        # Ids are never given twice, so that a late answer cannot strike off another delivery.
        store.run(
            "CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY AUTOINCREMENT,"
            " account TEXT NOT NULL, webhook_id INTEGER NOT NULL, message_id TEXT NOT NULL,"
            " kind TEXT NOT NULL, body BLOB NOT NULL, attempts INTEGER NOT NULL, due REAL NOT NULL)"
        )
        store.run("CREATE INDEX IF NOT EXISTS outbox_due ON outbox (account, webhook_id, due, id)")
        store.adopt(self)
        # The webhooks that something new waits for. What was left by an earlier process waits
        # until its receiver is named again: the list of receivers is not kept.
        self.fresh: set[tuple[str, int]] = set()
        self._count: int | None = None

    def forget(self) -> None:
        """Drop what is kept in memory: the store was cleared or rolled back."""
        self._count = None
        self.fresh.clear()

    def count(self) -> int:
        """How many deliveries wait."""
        found: int = self._store.run("SELECT count(*) FROM outbox").fetchone()[0]
        return found

    def add(
        self,
        account: str,
        webhook_ids: Iterable[int],
        message_id: str,
        kind: str,
        body: bytes,
        due: float,
    ) -> list[int]:
        """Let one event wait for these webhooks; the ids of the deliveries.

        Raises:
            OutboxFull: Too many wait already; nothing was added.
        """
        if self._count is None:
            self._count = self.count()
        if self._count >= MOST_WAITING:
            raise OutboxFull(f"{MOST_WAITING} deliveries wait: their receivers do not take them")
        ids = []
        for webhook_id in webhook_ids:
            self._store.write(
                "INSERT INTO outbox (account, webhook_id, message_id, kind, body, attempts, due)"
                " VALUES (?, ?, ?, ?, ?, 0, ?)",
                (account, webhook_id, message_id, kind, body, due),
            )
            self.fresh.add((account, webhook_id))
            ids.append(int(self._store.run("SELECT last_insert_rowid()").fetchone()[0]))
        self._count += len(ids)
        return ids

    def receivers(self) -> list[tuple[str, int]]:
        """The webhooks that something waits for, as account and id."""
        return list(self._store.run("SELECT DISTINCT account, webhook_id FROM outbox"))

    def next(self, account: str, webhook_id: int) -> Waiting | None:
        """What is due first for a webhook; None: nothing waits for it."""
        found = self._store.run(
            "SELECT id, account, webhook_id, message_id, kind, body, attempts, due FROM outbox"
            " WHERE account = ? AND webhook_id = ? ORDER BY due, id LIMIT 1",
            (account, webhook_id),
        ).fetchone()
        return None if found is None else Waiting(*found)

    def holds(self, delivery: Waiting) -> bool:
        """Whether a delivery still waits: a reset forgets them all."""
        found = self._store.run("SELECT 1 FROM outbox WHERE id = ?", (delivery.id,)).fetchone()
        return found is not None

    def again(self, delivery: Waiting, due: float) -> None:
        """Let a delivery that failed wait for its next attempt."""
        self._store.write(
            "UPDATE outbox SET attempts = attempts + 1, due = ? WHERE id = ?", (due, delivery.id)
        )

    def done(self, delivery: Waiting) -> None:
        """Strike off a delivery that arrived, or is given up."""
        self._store.write("DELETE FROM outbox WHERE id = ?", (delivery.id,))
        self._count = None if self._count is None else self._count - 1

    def drop(self, account: str, webhook_id: int) -> list[int]:
        """Strike off all that waits for a webhook that is no more; their ids."""
        ids = [
            int(row[0])
            for row in self._store.run(
                "SELECT id FROM outbox WHERE account = ? AND webhook_id = ?", (account, webhook_id)
            )
        ]
        self._store.write(
            "DELETE FROM outbox WHERE account = ? AND webhook_id = ?", (account, webhook_id)
        )
        self._count = None
        return ids
