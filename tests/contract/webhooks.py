"""Facts about webhook registrations."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

from contract.account import Account, Caller, Reply, ResourceCalls
from contract.fact import (
    ANYTHING,
    FLAG,
    TEXT,
    TIME,
    TIMESTAMP,
    WHOLE,
    Facts,
    ValueKind,
    array_of,
    expect,
    pattern,
    unknown,
)

LIMIT = 10
KIND = "chat.message.status"
DELIVERY_SECONDS = 10.0  # seconds for a delivery to be attempted


class WebhookCalls(ResourceCalls):
    """Webhooks are created inactive, for a host that does not exist: .example is reserved.

    Only the default of is_active needs one that is active, until it is patched.
    """

    path, method = ("webhooks",), "PATCH"

    def __init__(self, account: Account) -> None:
        super().__init__(account)
        self._count = 0

    def new(self, caller: Caller | None = None, scheme: str = "https", **fields: Any) -> Reply:
        """Register a webhook; a field that is None is left out."""
        sent = {"url": self.url(scheme), "events": [KIND], "is_active": False, **fields}
        body = {k: v for k, v in sent.items() if v is not None}
        reply = (caller or self.caller).create(self.path, body)
        if reply.refused and len(self.rows) >= LIMIT:
            unknown(f"the account has {LIMIT} webhooks already")
        return reply

    def create_as(self, caller: Caller) -> Reply:
        """Register one more webhook with the token of a caller."""
        return self.new(caller)

    def url(self, scheme: str = "https") -> str:
        """Return an address that no webhook has."""
        self._count += 1
        return f"{scheme}://contract.example/{self.account.word}/{self._count}"

    @cached_property
    def created(self) -> Reply:
        """An inactive webhook for one kind of event."""
        return self.new()

    @cached_property
    def active_webhook(self) -> Reply:
        """A webhook for all events, created without is_active."""
        return self.new(is_active=None, events=["*"])

    @property
    def changes(self) -> dict[str, Any]:
        """The body of the update: inactive, and nothing else."""
        return {"is_active": False}

    @property
    def edited(self) -> Any:
        """The id of the second webhook."""
        return self.key(self.active_webhook)

    @cached_property
    def changed(self) -> dict[str, Any]:
        """The second webhook after its update."""
        self.updated.require_done()
        return self.row(self.active_webhook)

    @cached_property
    def removable(self) -> Reply:
        """A webhook that is deleted."""
        return self.new()

    @cached_property
    def over_limit(self) -> tuple[Reply, int]:
        """The last of creates that go on until one is refused, and how many there were then.

        No more are made than one too many, and all are deleted at once: other facts, and
        users of the account, need free places.
        """
        self.created.require_done()
        replies: list[Reply] = []
        while len(replies) <= LIMIT and (not replies or replies[-1].ok):
            body = {"url": self.url(), "events": [KIND], "is_active": False}
            replies.append(self.caller.create(self.path, body))
        count = len(self.rows)
        for reply in replies:
            if reply.has_object:
                self.caller.delete(*self.path, self.key(reply))
        return replies[-1], count

    @cached_property
    def delivered(self) -> list[dict[str, Any]]:
        """An active and an inactive webhook, after an event was sent to those that ask for it."""
        send_event = self.account.send_event or unknown("needs a way to make the service send")
        made = [self.new(is_active=True), self.new(is_active=False)]
        send_event(KIND)
        end = time.monotonic() + DELIVERY_SECONDS
        while not self.row(made[0]).get("last_delivery_at") and time.monotonic() < end:
            time.sleep(0.1)
        rows = [self.row(reply) for reply in made]
        for reply in made:
            self.caller.delete(*self.path, self.key(reply))
        return rows

    def patch(self, reply: Reply, **fields: Any) -> Reply:
        """Update a webhook that was created."""
        return self.caller.update("PATCH", (*self.path, self.key(reply)), fields)

    def row(self, reply: Reply) -> dict[str, Any]:
        """A webhook that was created, as the list shows it now; empty when it does not."""
        return next((row for row in self.rows if row.get("id") == self.key(reply)), {})

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The list as it is now."""
        return self.caller.get(*self.path).rows()


facts = Facts(WebhookCalls)
_WHERE = "list create update"
PRESENT = ValueKind("shown, as null or otherwise", ANYTHING.accepts)

facts.fields("Webhook registration", "webhook", [
    (84, "id", WHOLE, _WHERE),
    (85, "url", pattern("https://.+", "an HTTPS address"), _WHERE),
    (86, "is_active", FLAG, _WHERE),
    (87, "events", array_of(TEXT, "an array of text"), _WHERE),
    (88, "has_signing_secret", FLAG, _WHERE),
    (89, "last_delivery_at", TIMESTAMP.or_null(), _WHERE),
    (90, "last_delivery_status last_delivery_http_status last_delivery_error", PRESENT, _WHERE),
    (91, "created_at updated_at", TIME, _WHERE),
])  # fmt: skip


@facts(92, "Webhooks")
def list_webhooks(calls: WebhookCalls) -> None:
    """GET webhooks answers 200 with an array of webhooks."""
    calls.listed.expect_success(200)
    calls.listed.expect_list()


@facts(93, "Events, rule 3")
def secret_is_not_listed(calls: WebhookCalls) -> None:
    """The list never shows webhook_secret, only has_signing_secret."""
    rows = calls.listed.rows() or unknown("there are no webhooks")
    expect(not any("webhook_secret" in row for row in rows), "it shows webhook_secret")
    if calls.account.writes:
        made = calls.row(calls.created)
        expect(made.get("has_signing_secret", True) is True, "has_signing_secret is not true")


@facts(94, "Webhooks")
def create_webhook(calls: WebhookCalls) -> None:
    """POST webhooks answers 201 with a message and the webhook."""
    calls.created.expect_success(201)
    calls.created.expect_message()
    calls.created.expect_object()


@facts(95, "Events, rule 3")
def secret_in_create(calls: WebhookCalls) -> None:
    """A create answers with its own webhook_secret: 64 lower-case hexadecimal digits."""
    first, second = (
        r.record().get("webhook_secret") for r in (calls.created, calls.active_webhook)
    )
    expect(type(first) is str and first, "there is no webhook_secret")
    fits = pattern("[0-9a-f]{64}", "").accepts
    expect(fits(first) and fits(second), "webhook_secret has a different form")
    expect(first != second, "two webhooks have the same")


@facts(96, "Webhooks")
def active_by_default(calls: WebhookCalls) -> None:
    """A webhook that is created without is_active is active."""
    expect(calls.active_webhook.record().get("is_active") is True, "it is not")


@facts(97, "Webhooks")
def inactive_when_asked(calls: WebhookCalls) -> None:
    """A webhook can be created inactive."""
    expect(calls.created.record().get("is_active") is False, "it is not")


@facts(98, "Events")
def events_are_kept(calls: WebhookCalls) -> None:
    """The field events takes * for all, or names of event kinds such as chat.message.status."""
    for reply, events in ((calls.active_webhook, ["*"]), (calls.created, [KIND])):
        reply.expect_success()
        expect(reply.record().get("events") == events, f"{events[0]} came back otherwise")


@facts(99, "Webhooks")
def update_webhook(calls: WebhookCalls) -> None:
    """PATCH webhooks/:webhookId answers with the webhook."""
    calls.updated.expect_updated()


@facts(100, "States")
def update_sets_is_active(calls: WebhookCalls) -> None:
    """After an update is_active is what was sent."""
    expect(calls.changed.get("is_active") is False, "it was updated to false")


@facts(101, "Webhooks")
def update_is_partial(calls: WebhookCalls) -> None:
    """An update leaves alone the fields that were not sent."""
    for field in ("url", "events"):
        kept = calls.changed.get(field) == calls.active_webhook.record().get(field)
        expect(kept, f"{field} is changed by an update of is_active")


@facts(102, "Webhooks")
def delete_webhook(calls: WebhookCalls) -> None:
    """DELETE webhooks/:webhookId answers with success, a message and data null."""
    calls.deleted.expect_deleted()


@facts(103, "Webhooks")
def deleted_webhook_is_gone(calls: WebhookCalls) -> None:
    """A webhook that was deleted is no longer there."""
    calls.deleted.require_done()
    expect(not calls.row(calls.removable), "the list shows it")


@facts(104, "Limits")
def https_only(calls: WebhookCalls) -> None:
    """The URL of a webhook is HTTPS; http is refused."""
    calls.created.require_done()
    calls.new(scheme="http").expect_refusal("a create with http")
    calls.patch(calls.created, url=calls.url("http")).expect_refusal("an update with http")


@facts(105, "Limits")
def ten_at_most(calls: WebhookCalls) -> None:
    """An account has at most ten webhooks."""
    last, count = calls.over_limit
    expect(last.refused, f"one more than ten: {last.outcome}")
    expect(count == LIMIT, f"one was refused when there were {count}")


@facts(106, "Events, rule 1")
def deliveries_to_active(calls: WebhookCalls) -> None:
    """An event is sent to the active webhooks and not to the inactive ones."""
    # Both ask for its kind: whether `events` limits what is sent is not stated.
    active, inactive = calls.delivered
    expect(active.get("last_delivery_at"), "nothing was sent to an active one")
    expect(not inactive.get("last_delivery_at"), "something was sent to an inactive one")


@facts(107, "Events, rule 4")
def last_delivery_is_reported(calls: WebhookCalls) -> None:
    """The last_delivery_ fields report the latest attempt."""
    active = calls.delivered[0]
    expect(TIMESTAMP.accepts(active.get("last_delivery_at")), "last_delivery_at is not a time")
    values = [active.get(f"last_delivery_{name}") for name in ("status", "http_status", "error")]
    expect(any(value is not None for value in values), "nothing describes the attempt")
