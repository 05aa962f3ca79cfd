"""Webhooks: facts about registrations, and the calls that tell them."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

from chatkit.conformance.fact import (
    ANYTHING,
    FLAG,
    MOMENT,
    TEXT,
    TIME,
    WHOLE,
    Facts,
    ValueKind,
    add_fields,
    array_of,
    expect,
    not_told,
    pattern,
)
from chatkit.conformance.trial import Caller, ResourceEvidence, Trial, TrialReply

MOST = 10
KIND = "chat.message.status"
PATIENCE = 10.0  # seconds for a delivery to be attempted


class WebhookEvidence(ResourceEvidence):
    """Evidence about webhooks: each call is made once.

    They are inactive, and their host is reserved: no name below .example ever leads
    anywhere. Only the default of is_active needs one that is active, until it is patched.
    """

    path, method = ("webhooks",), "PATCH"

    def __init__(self, trial: Trial) -> None:
        super().__init__(trial)
        self._count = 0

    def new(self, by: Caller | None = None, scheme: str = "https", **fields: Any) -> TrialReply:
        """Register a webhook; a field that is None is left out."""
        sent = {"url": self.url(scheme), "events": [KIND], "is_active": False, **fields}
        body = {k: v for k, v in sent.items() if v is not None}
        reply = (by or self._call).create(self.path, body)
        if reply.refused and len(self.rows) >= MOST:
            not_told(f"the account has {MOST} webhooks already")
        return reply

    def another(self, by: Caller) -> TrialReply:
        """Register one more webhook, as some caller."""
        return self.new(by)

    def url(self, scheme: str = "https") -> str:
        """An address that no webhook has."""
        self._count += 1
        return f"{scheme}://conformance.example/{self.trial.word}/{self._count}"

    @cached_property
    def created(self) -> TrialReply:
        """An inactive webhook for one kind of event."""
        return self.new()

    @cached_property
    def default(self) -> TrialReply:
        """A webhook for all events, created without is_active."""
        return self.new(is_active=None, events=["*"])

    @property
    def changes(self) -> dict[str, Any]:
        """The body of the update: inactive, and nothing else."""
        return {"is_active": False}

    @property
    def edited(self) -> Any:
        """The id of the second webhook."""
        return self.key(self.default)

    @cached_property
    def changed(self) -> dict[str, Any]:
        """The second webhook after its update."""
        self.updated.expect_done()
        return self.row(self.default)

    @cached_property
    def doomed(self) -> TrialReply:
        """A webhook that is deleted."""
        return self.new()

    @cached_property
    def full(self) -> tuple[TrialReply, int]:
        """The last of creates that go on until one is refused, and how many there were then.

        No more are made than one too many, and all are deleted at once: other facts, and
        the people of the account, need free places.
        """
        self.created.expect_done()
        replies: list[TrialReply] = []
        while len(replies) <= MOST and (not replies or replies[-1].ok):
            body = {"url": self.url(), "events": [KIND], "is_active": False}
            replies.append(self._call.create(self.path, body))
        count = len(self.rows)
        for reply in replies:
            if reply.has_object:
                self._call.delete(*self.path, self.key(reply))
        return replies[-1], count

    @cached_property
    def delivered(self) -> list[dict[str, Any]]:
        """An active and an inactive webhook, after an event was sent to those that ask for it."""
        send_event = self.trial.send_event or not_told("needs a way to make the service send")
        made = [self.new(is_active=True), self.new(is_active=False)]
        send_event(KIND)
        end = time.monotonic() + PATIENCE
        while not self.row(made[0]).get("last_delivery_at") and time.monotonic() < end:
            time.sleep(0.1)
        rows = [self.row(reply) for reply in made]
        for reply in made:
            self._call.delete(*self.path, self.key(reply))
        return rows

    def patch(self, reply: TrialReply, **fields: Any) -> TrialReply:
        """Update a webhook that was created."""
        return self._call.change("PATCH", (*self.path, self.key(reply)), fields)

    def row(self, reply: TrialReply) -> dict[str, Any]:
        """A webhook that was created, as the list shows it now; empty when it does not."""
        return next((row for row in self.rows if row.get("id") == self.key(reply)), {})

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The list as it is now."""
        return self._call.get(*self.path).rows()


facts = Facts(WebhookEvidence)
_WHERE = "list create update"
SHOWN = ValueKind("shown, as null or otherwise", ANYTHING.fits)

add_fields(facts, "Webhook registration", "webhook", [
    (84, "id", WHOLE, _WHERE),
    (85, "url", pattern("https://.+", "an HTTPS address"), _WHERE),
    (86, "is_active", FLAG, _WHERE),
    (87, "events", array_of(TEXT, "an array of text"), _WHERE),
    (88, "has_signing_secret", FLAG, _WHERE),
    (89, "last_delivery_at", MOMENT.or_null(), _WHERE),
    (90, "last_delivery_status last_delivery_http_status last_delivery_error", SHOWN, _WHERE),
    (91, "created_at updated_at", TIME, _WHERE),
])  # fmt: skip


@facts(92, "Webhooks")
def list_webhooks(seen: WebhookEvidence) -> None:
    """GET webhooks answers 200 with an array of webhooks."""
    seen.listed.expect_success(200)
    seen.listed.expect_list()


@facts(93, "Events, rule 3")
def secret_is_not_listed(seen: WebhookEvidence) -> None:
    """The list never shows webhook_secret, only has_signing_secret."""
    rows = seen.listed.rows() or not_told("there are no webhooks")
    expect(not any("webhook_secret" in row for row in rows), "it shows webhook_secret")
    if seen.trial.allow_writes:
        made = seen.row(seen.created)
        expect(made.get("has_signing_secret", True) is True, "has_signing_secret is not true")


@facts(94, "Webhooks")
def create_webhook(seen: WebhookEvidence) -> None:
    """POST webhooks answers 201 with a message and the webhook."""
    seen.created.expect_success(201)
    seen.created.expect_message()
    seen.created.expect_object()


@facts(95, "Events, rule 3")
def secret_in_create(seen: WebhookEvidence) -> None:
    """A create answers with a webhook_secret of 64 lower-case hexadecimal digits, another each."""
    first, second = (r.record().get("webhook_secret") for r in (seen.created, seen.default))
    expect(type(first) is str and first, "there is no webhook_secret")
    fits = pattern("[0-9a-f]{64}", "").fits
    expect(fits(first) and fits(second), "webhook_secret has another form")
    expect(first != second, "two webhooks have the same")


@facts(96, "Webhooks")
def active_by_default(seen: WebhookEvidence) -> None:
    """A webhook that is created without is_active is active."""
    expect(seen.default.record().get("is_active") is True, "it is not")


@facts(97, "Webhooks")
def inactive_when_asked(seen: WebhookEvidence) -> None:
    """A webhook can be created inactive."""
    expect(seen.created.record().get("is_active") is False, "it is not")


@facts(98, "Events")
def events_are_kept(seen: WebhookEvidence) -> None:
    """The field events takes * for all, or names of event kinds such as chat.message.status."""
    for reply, events in ((seen.default, ["*"]), (seen.created, [KIND])):
        reply.expect_success()
        expect(reply.record().get("events") == events, f"{events[0]} came back otherwise")


@facts(99, "Webhooks")
def update_webhook(seen: WebhookEvidence) -> None:
    """PATCH webhooks/:webhookId answers with the webhook."""
    seen.updated.expect_updated("", seen.trial.profile)


@facts(100, "States")
def update_sets_is_active(seen: WebhookEvidence) -> None:
    """After an update is_active is what was sent."""
    expect(seen.changed.get("is_active") is False, "it was updated to false")


@facts(101, "Webhooks")
def update_is_partial(seen: WebhookEvidence) -> None:
    """An update leaves alone the fields that were not sent."""
    for field in ("url", "events"):
        kept = seen.changed.get(field) == seen.default.record().get(field)
        expect(kept, f"{field} is another after an update of is_active")


@facts(102, "Webhooks")
def delete_webhook(seen: WebhookEvidence) -> None:
    """DELETE webhooks/:webhookId answers with success, a message and data null."""
    seen.deleted.expect_deleted(seen.trial.profile)


@facts(103, "Webhooks")
def deleted_webhook_is_gone(seen: WebhookEvidence) -> None:
    """A webhook that was deleted is no longer there."""
    seen.deleted.expect_done()
    expect(not seen.row(seen.doomed), "the list shows it")


@facts(104, "Limits")
def https_only(seen: WebhookEvidence) -> None:
    """The URL of a webhook is HTTPS; http is refused."""
    seen.created.expect_done()
    seen.new(scheme="http").expect_refusal("a create with http")
    seen.patch(seen.created, url=seen.url("http")).expect_refusal("an update with http")


@facts(105, "Limits")
def ten_at_most(seen: WebhookEvidence) -> None:
    """An account has at most ten webhooks."""
    last, count = seen.full
    expect(last.refused, f"one more than ten: {last.outcome}")
    expect(count == MOST, f"one was refused when there were {count}")


@facts(106, "Events, rule 1")
def deliveries_to_active(seen: WebhookEvidence) -> None:
    """An event is sent to the active webhooks and not to the inactive ones."""
    # Both ask for its kind: whether `events` limits what is sent is the point `unasked_events`.
    active, inactive = seen.delivered
    expect(active.get("last_delivery_at"), "nothing was sent to an active one")
    expect(not inactive.get("last_delivery_at"), "something was sent to an inactive one")


@facts(107, "Events, rule 4")
def last_delivery_is_told(seen: WebhookEvidence) -> None:
    """The last_delivery_ fields report the latest attempt."""
    active = seen.delivered[0]
    expect(MOMENT.fits(active.get("last_delivery_at")), "last_delivery_at is not a time")
    told = [active.get(f"last_delivery_{name}") for name in ("status", "http_status", "error")]
    expect(any(value is not None for value in told), "nothing is said of the attempt")
