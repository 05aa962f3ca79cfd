"""Delivery: publishes events, queues them, and delivers them to webhooks.

A flow or a template content that is written through the API exists upstream too, and upstream
tells what becomes of it (sections States and Events). Contacts and webhooks cause no events: the
document names none.

An event is put into the queue in the transaction of the change that it tells of, and removed
in the one that records how its delivery went. So neither a crash nor a full disk loses a
delivery; one whose answer was not recorded is made again: at least once. It goes to addresses of
this machine alone, and only to those on the list of receivers, which is empty at first.

Each webhook has a queue of its own, and a thread that lives while something waits for it: its
deliveries are attempted one at a time, in the order they are due. So a receiver that is slow
holds up nobody else, and the attempt recorded last is the latest one. A delivery that waits for
its next attempt does not hold up those behind it.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from chatkit.errors import StoreError
from chatkit.localization.audit import check_content
from chatkit.profile import ServiceProfile
from chatkit.sandbox import events
from chatkit.sandbox.events import FamilyKinds, encode_event
from chatkit.sandbox.interface import Verb
from chatkit.sandbox.store import Clock, SandboxStore
from chatkit.sandbox.webhooks import ActiveWebhook, WebhooksHandler
from chatkit.signature import sign
from chatkit.util.webhook_sender import Address, BadReceiver, parse_address, post_body

if TYPE_CHECKING:
    from chatkit.sandbox.middleware import Middleware

MOST_WAITING = 20_000  #: deliveries in the queue
LOG_LENGTH = 10_000  #: attempts
TIMEOUT = 10.0  #: seconds that a receiver may take to answer
#: Seconds to wait before each further attempt: the schedule that Standard Webhooks 1.0 proposes.
RETRIES: Sequence[float] = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
#: Seconds until it is tried again to write down the result of an attempt.
_PAUSE = 1.0
_LONGEST_WAIT = 60.0  #: the machine's clock may be set meanwhile

logger = logging.getLogger("chatkit.sandbox")


class PublishedEvent(NamedTuple):
    """An event: its kind, its payload, and when it happened; without a time it is now."""

    kind: str
    payload: object
    stamp: str | None = None


class EventPublisher:
    """Publisher of events: queues them for the webhooks that subscribe, uncommitted."""

    def __init__(
        self, profile: ServiceProfile, clock: Clock, queue: DeliveryQueue, receivers: Receivers
    ) -> None:
        self._profile, self._clock, self._kinds = profile, clock, FamilyKinds.from_profile(profile)
        self._queue, self._receivers = queue, receivers
        self.webhooks: WebhooksHandler  #: set once it is made: it works with this one

    def publish(
        self, account: str, kind: str, payload: object, stamp: str | None = None
    ) -> dict[int, int]:
        """Queue an event for every active webhook that subscribes to its kind.

        Returns the ids of the webhooks by those of the deliveries.

        Raises:
            QueueFull: Too many deliveries wait already.
        """
        message_id = self._clock.make_message_id()
        webhook_ids = [webhook.id for webhook in self.webhooks.find_subscribed(account, kind)]
        if not webhook_ids:
            return {}
        body = encode_event(self._profile, kind, payload, message_id, stamp or self._clock.stamp())
        return self._queue.add(account, webhook_ids, message_id, kind, body, time.time())

    def publish_flow(self, account: str, record: dict[str, Any], old: str | None) -> None:
        """Publish that a flow was created (`old` is None), or changed its state."""
        new = record["wa_status"]
        kind = self._kinds.raw
        if old != new and self._has_receiver(account, kind):
            name, stamp = record["name"], self._clock.stamp()
            body = events.make_flow_status(record["wa_flow_id"], name, old, new, _to_seconds(stamp))
            self._publish_or_log(account, kind, body, stamp)

    def publish_content(self, account: str, code: str, content: dict[str, Any], verb: Verb) -> None:
        """Publish the decision of the upstream platform on a content that is no draft."""
        kind = self._kinds.template
        if content["is_draft"] or not self._has_receiver(account, kind):
            return
        stamp = self._clock.stamp()
        timestamp = _to_seconds(stamp)
        content_key = (int(content["id"]), code, content["lang_code"])
        if verb == "update":
            components = events.make_template_edit(*content_key, content, timestamp)
            self._publish_or_log(account, kind, components, stamp)
        event, reason = "APPROVED", "NONE"
        if verb == "delete":
            event = "DELETED"
        elif any(finding.refused for finding in check_content(content)):
            event, reason = "REJECTED", "INVALID_FORMAT"
        body = events.make_template_status(*content_key, event, reason, timestamp)
        self._publish_or_log(account, kind, body, stamp)

    def _has_receiver(self, account: str, kind: str) -> bool:
        """Return whether some webhook subscribes to a kind, and its address is allowed.

        Without a receiver nothing is attempted, and registrations stay as they are: in a
        sandbox where nobody has named one, no write has a side effect.
        """
        webhooks = self.webhooks.find_subscribed(account, kind)
        return any(self._receivers.allows(webhook.url) for webhook in webhooks)

    def _publish_or_log(self, account: str, kind: str, body: object, stamp: str) -> None:
        """Publish an event; only log that the queue is full, so that no write fails."""
        try:
            self.publish(account, kind, body, stamp)
        except QueueFull as error:
            logger.warning("an event was not sent: %s", error)


def _to_seconds(stamp: str) -> int:
    """Convert an ISO 8601 time to seconds since 1970, as upstream has them."""
    return int(datetime.fromisoformat(stamp).timestamp())


class QueueFull(RuntimeError):
    """Too many deliveries wait: receivers are slow, or fail, and events go on."""


class QueuedDelivery(NamedTuple):
    """A delivery in the queue, after so many attempts, and when the next one is due."""

    id: int
    account: str
    webhook_id: int
    message_id: str
    kind: str
    body: bytes
    attempts: int
    due: float


class DeliveryQueue:
    """The queue of deliveries, in the order they are due; not for several threads at once."""

    name = "outbox"

    def __init__(self, store: SandboxStore) -> None:
        self._store = store
        # Ids are never given twice, so that a late answer cannot remove another delivery.
        store.run(
            "CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY AUTOINCREMENT,"
            " account TEXT NOT NULL, webhook_id INTEGER NOT NULL, message_id TEXT NOT NULL,"
            " kind TEXT NOT NULL, body BLOB NOT NULL, attempts INTEGER NOT NULL, due REAL NOT NULL)"
        )
        store.run("CREATE INDEX IF NOT EXISTS outbox_due ON outbox (account, webhook_id, due, id)")
        store.tables.append(self)
        # The webhooks that something new waits for. What was left by an earlier process waits
        # until its receiver is named again: the list of receivers is not kept.
        self.fresh: set[tuple[str, int]] = set()

    def drop_cache(self) -> None:
        """Drop what is kept in memory, after the store was cleared or rolled back."""
        self.fresh.clear()

    def count(self) -> int:
        """Return the number of deliveries in the queue."""
        return int(self._store.run("SELECT count(*) FROM outbox").fetchone()[0])

    def add(
        self,
        account: str,
        webhook_ids: Iterable[int],
        message_id: str,
        kind: str,
        body: bytes,
        due: float,
    ) -> dict[int, int]:
        """Queue one event for several webhooks; return their ids by the ids of the deliveries.

        Raises:
            QueueFull: Too many wait already; nothing was added.
        """
        if self.count() >= MOST_WAITING:
            raise QueueFull(f"{MOST_WAITING} deliveries wait: their receivers do not take them")
        waiting = {}
        for webhook_id in webhook_ids:
            inserted = self._store.write(
                "INSERT INTO outbox (account, webhook_id, message_id, kind, body, attempts, due)"
                " VALUES (?, ?, ?, ?, ?, 0, ?) RETURNING id",
                (account, webhook_id, message_id, kind, body, due),
            )
            waiting[int(inserted.fetchone()[0])] = webhook_id
            self.fresh.add((account, webhook_id))
        return waiting

    def list_webhooks(self) -> list[tuple[str, int]]:
        """Return the webhooks that have deliveries in the queue, as account and id."""
        return list(self._store.run("SELECT DISTINCT account, webhook_id FROM outbox"))

    def find_next_due(self, account: str, webhook_id: int) -> QueuedDelivery | None:
        """Return the delivery of a webhook that is due first; None without one."""
        row = self._store.run(
            "SELECT id, account, webhook_id, message_id, kind, body, attempts, due FROM outbox"
            " WHERE account = ? AND webhook_id = ? ORDER BY due, id LIMIT 1",
            (account, webhook_id),
        ).fetchone()
        return None if row is None else QueuedDelivery(*row)

    def contains(self, delivery: QueuedDelivery) -> bool:
        """Return whether a delivery is still in the queue: a reset removes all."""
        query = "SELECT 1 FROM outbox WHERE id = ?"
        return self._store.run(query, (delivery.id,)).fetchone() is not None

    def schedule_retry(self, delivery: QueuedDelivery, due: float) -> None:
        """Count a failed attempt, and set the time of the next one."""
        self._store.write(
            "UPDATE outbox SET attempts = attempts + 1, due = ? WHERE id = ?", (due, delivery.id)
        )

    def remove(self, delivery: QueuedDelivery) -> None:
        """Remove a delivery that arrived or is given up."""
        self._store.write("DELETE FROM outbox WHERE id = ?", (delivery.id,))

    def remove_webhook(self, account: str, webhook_id: int) -> list[int]:
        """Remove the deliveries of a deleted webhook; return their ids."""
        deleted = self._store.write(
            "DELETE FROM outbox WHERE account = ? AND webhook_id = ? RETURNING id",
            (account, webhook_id),
        )
        return [delivery for (delivery,) in deleted]


class Receivers:
    """The allow-list of a sandbox.

    An entry is an address (scheme, host, port, path) and allows itself and all paths
    below it. With `to`, what is addressed there is sent to that local address instead:
    a webhook of `https://hooks.example/chat` can be heard by `http://127.0.0.1:8000/`.
    """

    def __init__(self) -> None:
        # Replaced as a whole, never changed: deliveries read it from other threads.
        self._entries: dict[Address, tuple[dict[str, str | None], Address]] = {}

    def add(self, url: str, to: str | None = None) -> None:
        """Add an address to the list, or change where its deliveries go.

        Args:
            url: The address that a webhook has, or what it begins with.
            to: Where to send instead.

        Raises:
            BadReceiver: One of them is not a plain http or https address.
        """
        prefix, target = parse_address(url), parse_address(to or url)
        if prefix.query or target.query:
            raise BadReceiver("a receiver is an address without a query")
        self._entries = {**self._entries, prefix: ({"url": url, "to": to}, target)}

    def list_entries(self) -> list[dict[str, str | None]]:
        """Return the entries, as they were added."""
        return [entry for entry, _ in self._entries.values()]

    def clear(self) -> None:
        """Forget all entries."""
        self._entries = {}

    def allows(self, url: str) -> bool:
        """Check if an address may be delivered to."""
        try:
            return bool(self._entries and self.find_target(url))
        except BadReceiver:
            return False

    def find_target(self, url: str) -> Address:
        """Return the address to which the deliveries of a webhook's address go.

        Raises:
            BadReceiver: No entry allows it.
        """
        address, entries = parse_address(url), self._entries
        allowing = [prefix for prefix in entries if prefix.contains(address)]
        if not allowing:
            raise BadReceiver(
                "the address is not in allow=: Sandbox(allow=[…]), or sandbox.allow(address, to=…)"
            )
        prefix = max(allowing, key=lambda entry: len(entry.path))
        target = entries[prefix][1]
        rest = address.path[len(prefix.path.rstrip("/")) :]
        path = target.path.rstrip("/") + rest if rest else target.path
        return target._replace(path=path or "/", query=address.query)


Status = Literal["delivered", "failed", "refused", "waiting"]


class DeliveryOutcome(NamedTuple):
    """The outcome of one attempt.

    refused: nothing was connected to, no receiver allows it. waiting: it was not made yet.
    """

    webhook_id: int
    status: Status
    http_status: int | None
    error: str | None


class Attempt(NamedTuple):
    """One attempt to deliver, for the log; `again_in` is None when it was the last."""

    webhook_id: int
    message_id: str
    kind: str
    attempt: int
    status: Status
    http_status: int | None
    error: str | None
    again_in: float | None


def attempt_delivery(
    webhook: ActiveWebhook,
    message_id: str,
    body: bytes,
    receivers: Receivers,
    profile: ServiceProfile,
    seconds: float = TIMEOUT,
) -> DeliveryOutcome:
    """Post a signed body to a webhook, and return the outcome."""
    signed = sign(profile.signature_scheme, webhook.secret, message_id, int(time.time()), body)
    headers = {"Content-Type": "application/json", "User-Agent": "chatkit-sandbox", **signed}
    try:
        address = receivers.find_target(webhook.url)
        status, _, error = post_body(address, headers.items(), body, seconds=seconds)
    except BadReceiver as refusal:
        return DeliveryOutcome(webhook.id, "refused", None, str(refusal))
    if error is None and status is not None:
        if 200 <= status < 300:
            return DeliveryOutcome(webhook.id, "delivered", status, None)
        redirect_note = "; redirects are not followed" if 300 <= status < 400 else ""
        error = f"the receiver answered {status}{redirect_note}"
    return DeliveryOutcome(webhook.id, "failed", status, error)


class DeliveryWorker:
    """Sender of the queued deliveries of a sandbox, with a thread for each webhook."""

    def __init__(self, middleware: Middleware) -> None:
        self._middleware = middleware
        self.timeout, self.retries = TIMEOUT, RETRIES
        self.log: deque[Attempt] = deque(maxlen=LOG_LENGTH)
        # Whoever holds it never waits for the middleware's lock, which may be held by who wants it.
        self._changed = threading.Condition()
        self._threads: dict[tuple[str, int], threading.Thread] = {}  # by account and webhook
        self._awaited: dict[int, DeliveryOutcome | None] = {}
        self._closed = False

    def start_threads(self) -> None:
        """Start threads for new deliveries; called with the middleware's lock, after a commit.

        Begins again, too, with what an earlier process left, once its receiver is named.
        """
        service = self._middleware.service
        new_queues, service.queue.fresh = service.queue.fresh, set()
        with self._changed:
            for queue in service.queue.list_webhooks():
                if self._closed or queue in self._threads:
                    continue
                webhook = service.webhooks.find_active_webhook(*queue)
                if queue in new_queues or (webhook and service.receivers.allows(webhook.url)):
                    self._threads[queue] = threading.Thread(
                        target=self._deliver_all,
                        args=queue,
                        name=f"chatkit-delivery-{queue[1]}",
                        daemon=True,
                    )
                    self._threads[queue].start()
            self._changed.notify_all()

    def expect(self, deliveries: Iterable[int]) -> None:
        """Keep the outcomes of the first attempts of these deliveries for `collect`."""
        with self._changed:
            self._awaited |= dict.fromkeys(deliveries)

    def collect(self, deliveries: Mapping[int, int], seconds: float) -> list[DeliveryOutcome]:
        """Wait for the first attempts of these deliveries; return the outcomes."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or all(map(self._awaited.get, deliveries)), seconds
            )
            return [
                self._awaited.pop(delivery)
                or DeliveryOutcome(webhook_id, "waiting", None, "the receiver is busy")
                for delivery, webhook_id in deliveries.items()
            ]

    def wait_until_empty(self, seconds: float) -> bool:
        """Wait until the queue is empty; return False after `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._threads, seconds)

    def close(self, seconds: float) -> None:
        """Start no attempt any more, and wait `seconds` for those under way."""
        with self._changed:
            self._closed = True
            threads = list(self._threads.values())
            self._changed.notify_all()
        end = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _deliver_all(self, account: str, webhook_id: int) -> None:
        """Deliver to one webhook until its queue is empty."""
        while True:
            try:
                next_delivery = self._fetch(account, webhook_id)
                if next_delivery is None:
                    return
                delivery, webhook = next_delivery
                if (wait := delivery.due - time.time()) > 0:
                    self._pause(wait)
                else:
                    self._record_outcome(delivery, self._try_delivery(delivery, webhook))
            except (StoreError, sqlite3.Error) as error:
                # The result of the attempt is not written down, so it will be made again.
                logger.error("a delivery was not recorded: %s", error)
                self._pause(_PAUSE)

    def _try_delivery(self, delivery: QueuedDelivery, webhook: ActiveWebhook) -> DeliveryOutcome:
        """Attempt a delivery; log a bug as a failed attempt."""
        service = self._middleware.service
        content = delivery.message_id, delivery.body, service.receivers, service.profile
        try:
            return attempt_delivery(webhook, *content, self.timeout)
        except Exception as error:  # noqa: BLE001  one webhook must not stop the others
            self._middleware.log_bug(error)
            return DeliveryOutcome(webhook.id, "failed", None, "The sandbox has a bug")

    def _fetch(self, account: str, webhook_id: int) -> tuple[QueuedDelivery, ActiveWebhook] | None:
        """Return the next delivery of a webhook; None ends its thread."""
        with self._middleware.lock:
            if not self._closed:
                with self._middleware.transaction() as service:
                    delivery = service.queue.find_next_due(account, webhook_id)
                    webhook = service.webhooks.find_active_webhook(account, webhook_id)
                    if delivery and webhook:
                        return delivery, webhook
                    dropped = [] if webhook else service.queue.remove_webhook(account, webhook_id)
                outcome = DeliveryOutcome(
                    webhook_id, "refused", None, "the webhook is inactive or deleted"
                )
                with self._changed:
                    self._awaited |= {one: outcome for one in dropped if one in self._awaited}
            # Under the middleware's lock: nothing can be added for it meanwhile.
            with self._changed:
                del self._threads[account, webhook_id]
                self._changed.notify_all()
        return None

    def _record_outcome(self, delivery: QueuedDelivery, outcome: DeliveryOutcome) -> None:
        """Save the outcome of an attempt, and when the next one is due."""
        with self._middleware.transaction() as service:
            if not service.queue.contains(delivery):
                return  # forgotten by a reset while it was under way
            # A receiver that answers 410 gets no other attempt. Standard Webhooks 1.0 would turn
            # its registration inactive, but section States knows no way to that but an update.
            wait = None
            retried = outcome.status == "failed" and outcome.http_status != 410
            if retried and delivery.attempts < len(self.retries):
                wait = self.retries[delivery.attempts]
                service.queue.schedule_retry(delivery, time.time() + wait)
            else:
                service.queue.remove(delivery)
            service.webhooks.record_delivery(delivery.account, *outcome)
        identity = delivery.message_id, delivery.kind, delivery.attempts + 1
        self.log.append(Attempt(outcome.webhook_id, *identity, *outcome[1:], wait))
        with self._changed:
            if delivery.id in self._awaited:
                self._awaited[delivery.id] = outcome
                self._changed.notify_all()

    def _pause(self, seconds: float) -> None:
        """Wait until the time is over or the worker is closed or notified."""
        with self._changed:
            if not self._closed:
                self._changed.wait(min(seconds, _LONGEST_WAIT))
