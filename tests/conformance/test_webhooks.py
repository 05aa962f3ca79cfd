"""Facts about webhooks: a service that breaks one is found out, and no other fact differs."""

import pytest
from bent import Exchange, bare, broken, differing, drop, envelope, put, record, report_of, status
from displayed import html_of

ALL = "list create update"
SECRET = "5ec7e7" * 10 + "abcd"


def http_taken(x: Exchange) -> None:
    if x.sent.get("url", "").startswith("http:"):
        x.sent["url"] = x.sent["url"].replace("http:", "https:")


def inactive_by_default(x: Exchange) -> None:
    if x.of("webhooks", "create"):
        x.sent.setdefault("is_active", False)


def always_active(x: Exchange) -> None:
    if x.of("webhooks", "create"):
        x.sent["is_active"] = True


def one_event(x: Exchange) -> None:
    if x.of("webhooks", "create") and x.sent.get("events") == ["*"]:
        x.sent["events"] = ["chat.message.status"]


def whole_update(x: Exchange) -> None:
    if x.of("webhooks", "update"):
        x.sent.setdefault("events", [])


def lost_update(x: Exchange) -> None:
    if x.of("webhooks", "update"):
        x.sent["is_active"] = True


class Limit:
    """Refuse a webhook when there are a few, or take any number of them."""

    def __init__(self, most: int) -> None:
        self.most, self.there = most, 0

    def before(self, x: Exchange) -> None:
        if x.of("webhooks", "create") and self.there >= self.most:
            x.segments = ["webhooks", "full"]

    def after(self, x: Exchange) -> None:
        if x.of("webhooks", "list") and x.envelope:
            self.there = len(x.records)
        elif x.of("webhooks", "create") and x.envelope:
            self.there += 1
        elif x.of("webhooks", "create") and self.most > 10 and x.status == 422 and not http(x):
            x.status, x.envelope = 201, {"success": True, "message": "", "data": {"id": 9}}


def http(x: Exchange) -> bool:
    return x.sent.get("url", "").startswith("http:")


def limited(how: str, most: int):
    limit = Limit(most)
    return broken(how, "ten_at_most", before=limit.before, after=limit.after)


class Ghosts:
    """List webhooks that were deleted."""

    def __init__(self):
        self.made, self.deleted = {}, []

    def __call__(self, x: Exchange) -> None:
        if x.of("webhooks", "create") and x.records:
            shown = {k: v for k, v in x.records[0].items() if k != "webhook_secret"}
            self.made[str(shown["id"])] = shown
        if x.of("webhooks", "delete") and x.envelope and not self.deleted:
            self.deleted.append(self.made[x.segments[-1]])
        if x.of("webhooks", "list") and x.envelope:
            x.envelope["data"] += self.deleted


def undelivered(x: Exchange) -> None:
    if x.of("webhooks", "list"):
        for hook in x.records:
            hook["last_delivery_at"] = None


def told_of_all(x: Exchange) -> None:
    if x.of("webhooks", "list") and any(hook["last_delivery_at"] for hook in x.records):
        for hook in x.records:
            hook["last_delivery_at"] = "2026-01-05T08:00:00Z"


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    ("facts", "before", "after"),
    [
        broken("ids are text in lists", "webhook_id", after=record(
            "webhooks", "update", lambda h: h.update(id=str(h["id"])))),
        broken("urls are http", "webhook_url", after=put("webhooks", "update", url="http://x/")),
        broken("is_active is a number", "webhook_is_active",
               after=put("webhooks", "update", is_active=1)),
        broken("events are text", "webhook_events", after=put("webhooks", "update", events="*")),
        broken("has_signing_secret is left out", "webhook_has_signing_secret",
               after=drop("webhooks", "update", "has_signing_secret")),
        broken("last_delivery_at is empty", "webhook_last_delivery_at",
               after=put("webhooks", "update", last_delivery_at="")),
        broken("last_delivery_error is left out", "webhook_last_delivery_status",
               after=drop("webhooks", "list", "last_delivery_error")),
        broken("created_at is null", "webhook_created_at",
               after=put("webhooks", ALL, created_at=None)),
        broken("lists answer 202", "list_webhooks", after=status("webhooks", "list", 202)),
        broken("lists leak the secret", "secret_is_not_listed",
               after=put("webhooks", "list", webhook_secret=SECRET)),
        broken("lists deny the secret", "secret_is_not_listed",
               after=put("webhooks", "list", has_signing_secret=False)),
        broken("create answers 200", "create_webhook", after=status("webhooks", "create", 200)),
        broken("create says nothing", "create_webhook",
               after=bare("webhooks", "create", "message")),
        broken("create hides the secret", "secret_in_create",
               after=drop("webhooks", "create", "webhook_secret")),
        broken("secrets are in capitals", "secret_in_create", after=record(
            "webhooks", "create", lambda h: h.update(webhook_secret=h["webhook_secret"].upper()))),
        broken("all have one secret", "secret_in_create",
               after=put("webhooks", "create", webhook_secret=SECRET)),
        broken("webhooks are born inactive", "active_by_default", before=inactive_by_default),
        broken("webhooks are born active", "inactive_when_asked deliveries_to_active",
               before=always_active),
        broken("all is not known as an event", "events_are_kept", before=one_event),
        broken("update answers with null", "update_webhook",
               after=envelope("webhooks", "update", data=None)),
        broken("update keeps is_active", "update_sets_is_active", before=lost_update),
        broken("update clears events", "update_is_partial", before=whole_update),
        broken("delete says nothing", "delete_webhook",
               after=bare("webhooks", "delete", "message")),
        broken("deleted webhooks are listed", "deleted_webhook_is_gone ten_at_most",
               after=Ghosts()),
        broken("http is taken", "https_only", before=http_taken),
        limited("eight are too many", 8),
        limited("any number is taken", 99),
        broken("nothing is delivered", "deliveries_to_active last_delivery_is_told",
               after=undelivered),
        broken("the inactive are told", "deliveries_to_active", after=told_of_all),
        broken("nothing is said of deliveries", "last_delivery_is_told", after=put(
            "webhooks", "list", last_delivery_status=None, last_delivery_http_status=None,
            last_delivery_error=None)),
    ],
)  # fmt: skip
def test_a_broken_fact_is_found(facts, before, after, monkeypatch):
    monkeypatch.setattr("chatkit.conformance.webhooks.PATIENCE", 0.2)
    assert differing(before, after) == facts


def test_a_leaked_secret_is_not_leaked_again():
    report = report_of(after=put("webhooks", "list", webhook_secret=SECRET, **{SECRET: SECRET}))
    assert report.status == 1
    for text in (repr(report), html_of(report), report.frame().to_string()):
        assert SECRET not in text
