"""Webhooks: callback URLs that receive events."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from chatkit.sandbox.events import ALL
from chatkit.sandbox.interface import Operation, RefusedRequest, ServiceAnswer, dumps
from chatkit.sandbox.resource import AllowedCall, Fields, Grant, ResourceHandler, Time
from chatkit.sandbox.store import StoredRecord

if TYPE_CHECKING:
    from chatkit.sandbox.service import Service

MOST = 10
# Visible ASCII only: a name in another script is written in its ASCII form.
_URL = (
    r"^[Hh][Tt][Tt][Pp][Ss]://([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"
    r"(:[0-9]{1,5})?([/?][!-~]*)?$"
)


class ActiveWebhook(NamedTuple):
    """The fields of a webhook that a delivery needs."""

    id: int
    url: str
    secret: str

    def __repr__(self) -> str:
        return f"<webhook {self.id} to {self.url}>"


class WebhookFields(Fields):
    """The fields that a webhook is registered with."""

    url: str = Field("", pattern=_URL, description="must be an HTTPS URL")
    events: list[str] = Field([], description="`*` for all, or names of event kinds.")
    is_active: bool = True


class WebhookItem(Fields):
    """A webhook without its signing secret."""

    id: int
    url: str
    is_active: bool
    events: list[str]
    has_signing_secret: bool = True
    last_delivery_at: Time | None = None
    last_delivery_status: str | None = None
    last_delivery_http_status: int | None = None
    last_delivery_error: str | None = None
    created_at: Time
    updated_at: Time


class NewWebhook(WebhookItem):
    """A webhook with its signing secret."""

    webhook_secret: str = Field(pattern="^[0-9a-f]{64}$")


class WebhooksHandler(ResourceHandler):
    """The webhooks of an account, at most ten."""

    name = "webhooks"
    noun = "Webhook"
    operations = (
        Operation("list", "GET", "/webhooks", "Chat Detail, View"),
        Operation("create", "POST", "/webhooks", "Chat Detail, Edit"),
        Operation("update", "PATCH", "/webhooks/:webhookId", "Chat Detail, Edit"),
        Operation("delete", "DELETE", "/webhooks/:webhookId", "Chat Detail, Delete"),
    )
    natural_key = "url"
    first_id = 41
    fields, required, required_in_update = WebhookFields, ("url", "events"), ()
    item = record = WebhookItem
    created = stored = NewWebhook
    secrets = ("webhook_secret",)
    clashes = ("create", "update")
    paged = False

    def __init__(self, service: "Service") -> None:
        super().__init__(service)
        self.updated = NewWebhook if "secret_in_update" in self.quirks else WebhookItem

    def list(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with all webhooks; never with their secrets."""
        ids = self.table.list_ids(call.grant.account)
        return self.replies.build_success(b"[%b]" % self.table.join_items(ids))

    def create(self, call: AllowedCall) -> ServiceAnswer:
        """Register a webhook; only this answer shows its signing secret."""
        fields = self.create_body.validate(call.body)
        self._check_url(call.grant, fields["url"], None)
        if len(self.table.list_ids(call.grant.account)) >= MOST:
            raise RefusedRequest("invalid", f"An account has at most {MOST} webhooks")
        webhook_id = self.table.next_id()
        record = self._new_record(webhook_id, fields)
        self._insert(call.grant.account, webhook_id, record)
        return self.replies.build_success(dumps(record).encode(), 201, "Webhook created")

    def update(self, call: AllowedCall) -> ServiceAnswer:
        """Change the fields that were sent, and no others."""
        row = self.find_active_record(call)
        fields = self.update_body.validate(call.body)
        self._check_url(call.grant, fields.get("url", row.key), row)
        record = self._load_record(row) | fields
        self._set_update_time(record)
        self._rewrite(row, record)
        if "secret_in_update" not in self.quirks:
            del record["webhook_secret"]
        return self.replies.build_confirmation("Webhook updated", dumps(record).encode())

    def insert_copy(self, account: str, record: Mapping[str, Any]) -> None:
        """Store a webhook of another account under its id, with a signing secret of its own."""
        webhook_id = self._choose_copied_id(record)
        own = ("id", "webhook_secret")
        copied = {name: value for name, value in record.items() if name not in own}
        self._insert(account, webhook_id, self._new_record(webhook_id, record) | copied)

    def _new_record(self, webhook_id: int, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Make a new webhook with all fields and a signing secret."""
        return self._make_record(
            webhook_id,
            url=fields["url"],
            is_active=fields.get("is_active", True),
            events=fields["events"],
            **dict.fromkeys(("created_at", "updated_at"), self.clock.stamp()),
            webhook_secret=self.clock.make_secret(),
        )

    def find_subscribed(self, account: str, kind: str) -> Sequence[ActiveWebhook]:
        """Return the active webhooks that subscribe to a kind of events."""
        records = map(self._load_record, self.table.select_records(account))
        return [
            _make_active_webhook(record)
            for record in records
            if record["is_active"] and not {ALL, kind}.isdisjoint(record["events"])
        ]

    def find_active_webhook(self, account: str, webhook_id: int) -> ActiveWebhook | None:
        """Return an active webhook; None if it is inactive or deleted."""
        row = self.table.find_active(webhook_id, account)
        record = self._load_record(row) if row else {"is_active": False}
        return _make_active_webhook(record) if record["is_active"] else None

    def record_delivery(
        self, account: str, webhook_id: int, status: str, http_status: int | None, error: str | None
    ) -> None:
        """Store the outcome of the latest delivery attempt, unless the webhook was deleted."""
        if row := self.table.find_active(webhook_id, account):
            attempt = {
                "last_delivery_at": self.clock.stamp(),
                "last_delivery_status": status,
                "last_delivery_http_status": http_status,
                "last_delivery_error": error,
            }
            self._rewrite(row, self._load_record(row) | attempt)

    def _check_url(self, grant: Grant, url: str, own: StoredRecord | None) -> None:
        """Refuse an address that another webhook has, if the profile says so."""
        if self.profile.duplicate_webhook_url == "refuse":
            self._check_free(grant.account, url, "A webhook has this URL", own)


def _make_active_webhook(record: dict[str, Any]) -> ActiveWebhook:
    """Make the fields of a webhook that a delivery needs."""
    return ActiveWebhook(int(record["id"]), record["url"], record["webhook_secret"])
