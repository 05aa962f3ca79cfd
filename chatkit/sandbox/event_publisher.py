"""Event publisher: puts events into the outbox of the webhooks that ask for them.

A flow or a template content that is written through the API exists upstream too, and
upstream tells what becomes of it (sections States and Events). Contacts and webhooks cause
no events: the document names none.

An event is written in the transaction of the change that it tells of, and struck off in
the one that records how its delivery went. So neither a crash nor a full disk loses a
delivery; one whose answer was not recorded is made again: at least once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from chatkit.localization.checks import check_content
from chatkit.profile import ServiceProfile
from chatkit.sandbox import events
from chatkit.sandbox.clock import Clock
from chatkit.sandbox.events import FamilyKinds, event_body
from chatkit.sandbox.receivers import Receivers
from chatkit.sandbox.request import Verb
from chatkit.sandbox.store import SandboxStore
from chatkit.sandbox.webhooks import WebhooksHandler

logger = logging.getLogger("chatkit.sandbox")
MOST_WAITING = 20_000


# --- events ---------------------------------------------------------------------------


class PublishedEvent(NamedTuple):
    """What happened: its kind, what is told of it, and when; without a time it is now."""

    kind: str
    payload: object
    stamp: str | None = None


class Posted(NamedTuple):
    """An event in the outbox: its id, and the deliveries that wait, with their webhooks."""

    message_id: str
    deliveries: list[int]
    webhook_ids: list[int]


class EventPublisher:
    """Puts events into the outbox of whoever asked for them; to be committed."""

    def __init__(
        self,
        profile: ServiceProfile,
        clock: Clock,
        webhooks: WebhooksHandler,
        outbox: Outbox,
        receivers: Receivers,
    ) -> None:
        self._profile, self._clock, self._kinds = profile, clock, FamilyKinds.of(profile)
        self._webhooks, self._outbox, self._receivers = webhooks, outbox, receivers

    def post(self, account: str, kind: str, payload: object, stamp: str | None = None) -> Posted:
        """Let an event wait for every active webhook of the account that asks for its kind.

        Raises:
            OutboxFull: Too many deliveries wait already.
        """
        message_id = self._clock.message_id()
        webhook_ids = [webhook.id for webhook in self._webhooks.active(account, kind)]
        if not webhook_ids:
            return Posted(message_id, [], [])
        body = event_body(self._profile, kind, payload, message_id, stamp or self._clock.stamp())
        waiting = self._outbox.add(account, webhook_ids, message_id, kind, body, time.time())
        return Posted(message_id, waiting, webhook_ids)

    # --- what the account does --------------------------------------------------------

    def flow(self, account: str, record: dict[str, Any], old: str | None) -> None:
        """Tell that a flow was made (no old state) or came into another state."""
        new = record["wa_status"]
        kind = self._kinds.raw
        if old != new and self._is_heard(account, kind):
            name, stamp = record["name"], self._clock.stamp()
            body = events.flow_status(record["wa_flow_id"], name, old, new, seconds(stamp))
            self._post_quietly(account, kind, body, stamp)

    def content(self, account: str, code: str, content: dict[str, Any], verb: Verb) -> None:
        """Tell what upstream makes of a content that was written; drafts never get there."""
        kind = self._kinds.template
        if content["is_draft"] or not self._is_heard(account, kind):
            return
        stamp = self._clock.stamp()
        at, place = seconds(stamp), (int(content["id"]), code, content["lang_code"])
        if verb == "update":
            self._post_quietly(
                account, kind, events.template_components(*place, content, at), stamp
            )
        event, reason = "APPROVED", "NONE"
        if verb == "delete":
            event = "DELETED"
        elif any(finding.refused for finding in check_content(content)):
            event, reason = "REJECTED", "INVALID_FORMAT"
        body = events.template_status(*place, event, reason, at)
        self._post_quietly(account, kind, body, stamp)

    def _is_heard(self, account: str, kind: str) -> bool:
        """Whether somebody asked for it and may be delivered to.

        Without a receiver nothing is attempted, and registrations stay as they are: in a
        sandbox where nobody has named one, no write has a side effect.
        """
        if self._profile.account_events == "silent":
            return False
        heard: Sequence[bool] = [
            self._receivers.allows(webhook.url) for webhook in self._webhooks.active(account, kind)
        ]
        return any(heard)

    def _post_quietly(self, account: str, kind: str, body: object, stamp: str) -> None:
        """A write never fails because nobody takes its event."""
        try:
            self.post(account, kind, body, stamp)
        except OutboxFull as error:
            logger.warning("an event was not sent: %s", error)


def seconds(stamp: str) -> int:
    """A time as seconds since 1970, as upstream gives times."""
    return int(datetime.fromisoformat(stamp).timestamp())


# --- the outbox -----------------------------------------------------------------------


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

    def __init__(self, store: SandboxStore) -> None:
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
