"""Delivery: takes events from the outbox to their receivers, retries what fails, tells what came.

Each webhook has a lane of its own, a thread that lives while something waits for it: its
deliveries are attempted one at a time, in the order they are due. So a receiver that is
slow holds up nobody else, and the attempt recorded last is the latest one. A delivery that
waits for its next attempt does not hold up those behind it.
"""

import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Literal, NamedTuple

from chatkit.errors import StoreError
from chatkit.profile import ServiceProfile
from chatkit.sandbox.event_publisher import Waiting
from chatkit.sandbox.receivers import Receivers
from chatkit.sandbox.webhooks import ActiveWebhook
from chatkit.signature import sign
from chatkit.webhook_sender import BadReceiver, ConnectionLost, WebhookSender

if TYPE_CHECKING:
    from chatkit.sandbox.middleware import Middleware
    from chatkit.sandbox.service import Service

LOG_LENGTH = 10_000
#: Seconds until it is tried again to write down what came of an attempt.
_PAUSE = 1.0
_LONGEST_WAIT = 60.0  # the machine's clock may be set meanwhile

logger = logging.getLogger("chatkit.sandbox")

Status = Literal["delivered", "failed", "refused", "waiting"]


class DeliveryOutcome(NamedTuple):
    """What came of one attempt.

    refused: nothing was connected to, no receiver allows it. waiting: it was not made yet.
    """

    webhook_id: int
    status: Status
    http_status: int | None
    error: str | None


class Attempt(NamedTuple):
    """One attempt to deliver, for the log; `again_in` is None when it was the last.

    Two with one number are one attempt of the schedule, sent again at once because the
    receiver had closed the connection that was kept since the delivery before it.
    """

    webhook_id: int
    message_id: str
    kind: str
    attempt: int
    status: Status
    http_status: int | None
    error: str | None
    again_in: float | None


def attempt(
    webhook: ActiveWebhook,
    message_id: str,
    body: bytes,
    receivers: Receivers,
    profile: ServiceProfile,
    sender: WebhookSender,
) -> DeliveryOutcome:
    """Post one body to one webhook, signed with its secret; whatever happens is told.

    Raises:
        ConnectionLost: The receiver ended a kept connection instead of answering. It may
            have read the delivery: attempt it once more.
    """
    signed = sign(profile.signature_scheme, webhook.secret, message_id, int(time.time()), body)
    headers = {"Content-Type": "application/json", "User-Agent": "chatkit-sandbox", **signed}
    seconds = profile.delivery_timeout
    try:
        address, context = receivers.route(webhook.url)
        status, _, error = sender.post(address, headers.items(), body, seconds=seconds, tls=context)
    except BadReceiver as refusal:
        return DeliveryOutcome(webhook.id, "refused", None, str(refusal))
    if error is None and status is not None:
        if 200 <= status < 300:
            return DeliveryOutcome(webhook.id, "delivered", status, None)
        moved = "; redirects are not followed" if 300 <= status < 400 else ""
        error = f"the receiver answered {status}{moved}"
    return DeliveryOutcome(webhook.id, "failed", status, error)


class DeliveryWorker:
    """Delivers what waits in the outbox of one sandbox, until it is closed."""

    def __init__(self, middleware: "Middleware") -> None:
        self._middleware = middleware
        self.log: deque[Attempt] = deque(maxlen=LOG_LENGTH)
        # Whoever holds it never waits for the middleware's lock, which may be held by who wants it.
        self._changed = threading.Condition()
        self._lanes: dict[tuple[str, int], threading.Thread] = {}
        self._awaited: dict[int, DeliveryOutcome | None] = {}
        self._closed = False

    def wake(self) -> None:
        """Begin with what is new in the outbox; called with the middleware's lock, after a commit.

        Begins again, too, with what an earlier process left, once its receiver is named.
        """
        service = self._middleware.service
        fresh, service.outbox.fresh = service.outbox.fresh, set()
        with self._changed:
            for lane in service.outbox.receivers():
                if self._closed or lane in self._lanes:
                    continue
                webhook = service.webhooks.receiver(*lane)
                if lane in fresh or (webhook and service.receivers.allows(webhook.url)):
                    thread = threading.Thread(
                        target=self._run, args=lane, name=f"chatkit-delivery-{lane[1]}", daemon=True
                    )
                    self._lanes[lane] = thread
                    thread.start()
            self._changed.notify_all()

    def expect(self, deliveries: Iterable[int]) -> None:
        """Keep what comes of the first attempts of these; called before they can be made."""
        with self._changed:
            self._awaited |= dict.fromkeys(deliveries)

    def collect(
        self, deliveries: Sequence[int], webhook_ids: Sequence[int], seconds: float
    ) -> list[DeliveryOutcome]:
        """Wait for the first attempts of these, and tell what came of each."""
        wanted = set(deliveries)
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or all(self._awaited[one] for one in wanted), seconds
            )
            found = [self._awaited.pop(one) for one in deliveries]
        return [
            came or DeliveryOutcome(webhook_id, "waiting", None, "the receiver is busy")
            for came, webhook_id in zip(found, webhook_ids, strict=True)
        ]

    def settle(self, seconds: float) -> bool:
        """Wait until nothing waits any more, neither for a receiver nor for another attempt."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._lanes, seconds)

    def close(self, seconds: float) -> None:
        """Begin no further attempt, and wait so long for those under way."""
        with self._changed:
            self._closed = True
            lanes = list(self._lanes.values())
            self._changed.notify_all()
        end = time.monotonic() + seconds
        for lane in lanes:
            lane.join(max(0.0, end - time.monotonic()))

    # --- a lane -----------------------------------------------------------------------

    def _run(self, account: str, webhook_id: int) -> None:
        """Deliver to one webhook until nothing waits for it."""
        with closing(WebhookSender()) as sender:
            while True:
                try:
                    taken = self._take(account, webhook_id)
                    if taken is None:
                        return
                    delivery, webhook = taken
                    if webhook is None:
                        sender.close()  # an idle connection would hold a receiver that ends
                        self._pause(delivery.due - time.time())
                        continue
                    self._record(delivery, self._attempt(delivery, webhook, sender))
                except (StoreError, sqlite3.Error) as error:
                    # What came of the attempt is not written down, so it will be made again.
                    logger.error("a delivery was not recorded: %s", error)
                    self._pause(_PAUSE)

    def _attempt(
        self, delivery: Waiting, webhook: ActiveWebhook, sender: WebhookSender
    ) -> DeliveryOutcome:
        """Attempt a delivery; again at once when a kept connection broke under it.

        The receiver closes a connection when it likes, also while a delivery is on its way. So
        what did not go through then is no failure of the schedule, but it is in the log: the
        receiver may have read it.
        """
        service = self._middleware.service
        told = (delivery.message_id, delivery.body, service.receivers, service.profile)
        try:
            while True:
                try:
                    return attempt(webhook, *told, sender)
                except ConnectionLost as lost:
                    reason = f"the kept connection was closed: {lost}"
                    self._log(delivery, DeliveryOutcome(webhook.id, "failed", None, reason), 0.0)
        except Exception as error:  # noqa: BLE001  one webhook must not stop the others
            self._middleware.report(error)
            return DeliveryOutcome(webhook.id, "failed", None, "The sandbox has a bug")

    def _take(self, account: str, webhook_id: int) -> tuple[Waiting, ActiveWebhook | None] | None:
        """What to do next: a delivery that is due and its webhook, or one to wait for, or none."""
        with self._middleware.lock:
            if self._closed:
                self._end(account, webhook_id)
                return None
            with self._middleware.alone() as service:
                delivery = service.outbox.next(account, webhook_id)
                webhook = service.webhooks.receiver(account, webhook_id) if delivery else None
                if delivery and webhook is None:
                    self._drop(service, account, webhook_id)
                    delivery = None
            if delivery is None:
                self._end(account, webhook_id)
                return None
        return delivery, webhook if delivery.due <= time.time() else None

    def _drop(self, service: "Service", account: str, webhook_id: int) -> None:
        """Forget what waits for a webhook that was deleted or turned inactive."""
        gone = DeliveryOutcome(webhook_id, "refused", None, "the webhook is inactive or deleted")
        dropped = service.outbox.drop(account, webhook_id)
        with self._changed:
            self._awaited |= {one: gone for one in dropped if one in self._awaited}

    def _end(self, account: str, webhook_id: int) -> None:
        """End the lane, under the middleware's lock: nothing can be added for it meanwhile."""
        with self._changed:
            self._lanes.pop((account, webhook_id), None)
            self._changed.notify_all()

    def _record(self, delivery: Waiting, came: DeliveryOutcome) -> None:
        """Write down what came of an attempt, and when the next one is due."""
        with self._middleware.alone() as service:
            if not service.outbox.holds(delivery):
                return  # forgotten by a reset while it was under way
            wait = _again_in(service, delivery, came)
            if wait is None:
                service.outbox.done(delivery)
            else:
                service.outbox.again(delivery, time.time() + wait)
            service.webhooks.record_delivery(delivery.account, *came)
            if came.http_status == 410 and service.profile.delivery_gone == "deactivate":
                service.webhooks.deactivate(delivery.account, delivery.webhook_id)
        self._log(delivery, came, wait)
        with self._changed:
            if delivery.id in self._awaited:
                self._awaited[delivery.id] = came
                self._changed.notify_all()

    def _log(self, delivery: Waiting, came: DeliveryOutcome, again_in: float | None) -> None:
        told = (delivery.message_id, delivery.kind, delivery.attempts + 1)
        self.log.append(Attempt(came.webhook_id, *told, *came[1:], again_in))

    def _pause(self, seconds: float) -> None:
        with self._changed:
            if not self._closed:
                self._changed.wait(min(max(seconds, 0.001), _LONGEST_WAIT))


def _again_in(service: "Service", delivery: Waiting, came: DeliveryOutcome) -> float | None:
    """Seconds until the next attempt; None: there is none."""
    profile = service.profile
    gone = came.http_status == 410 and profile.delivery_gone != "retry"
    if came.status != "failed" or gone or delivery.attempts >= len(profile.delivery_retries):
        return None
    return profile.delivery_retries[delivery.attempts]
