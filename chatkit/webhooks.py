"""Webhooks: HTTPS addresses that receive what happens (API document, Webhook registration)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from chatkit.answer import Envelope
from chatkit.call import Call
from chatkit.endpoints import Key, Undo
from chatkit.errors import NotFound
from chatkit.record import Body, Id, Record
from chatkit.resource import Resource
from chatkit.secret import Secret

if TYPE_CHECKING:
    import pandas as pd


class Webhook(Record):
    """A registration. `webhook_secret` is there once, on create: `webhook_secret.reveal()`."""

    listed: ClassVar[tuple[str, ...]] = (
        "id", "url", "is_active", "events", "has_signing_secret", "last_delivery_at",
        "last_delivery_status", "last_delivery_http_status", "last_delivery_error",
        "created_at", "updated_at",
    )  # fmt: skip

    id: Id
    url: str | None = None
    is_active: bool | None = None
    events: list[str] | None = None
    has_signing_secret: bool | None = None
    webhook_secret: Secret | None = None
    last_delivery_at: datetime | None = None
    last_delivery_status: Any = None
    last_delivery_http_status: Any = None
    last_delivery_error: Any = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


def _https(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise ValueError("must be an https:// address (API document, Limits)")
    return url


class WebhookBody(Body):
    """What may be sent of a registration."""

    url: Annotated[str, AfterValidator(_https)] = Field(
        description="The https:// address that receives the events."
    )
    events: list[str] = Field(description="Event kinds, or ['*'] for all.")
    is_active: bool = Field(True, description="Whether events are delivered.")


class Webhooks(Resource[Webhook]):
    """The webhook registrations of the account, ten at most.

    The signing secret is in the answer to `create` and nowhere else: keep it then.
    """

    path = ("webhooks",)
    noun = "webhook"
    record = Webhook
    body = WebhookBody
    paged = False
    update_method = "PATCH"
    natural_key = ("url",)
    most = 10
    lost = "its signing secret was in that answer: delete it and create it again"

    def frame(self) -> pd.DataFrame:
        """Read the registrations into a DataFrame, one row each, indexed by id.

        Raises:
            BadAnswer: The list is not as documented.
        """
        return self._frame()

    def get_call(self, key: Key) -> Call:
        """Make the call for the list: the API has none for a single registration."""
        return self.list_call()

    def read(self, call: Call, envelope: Envelope, key: Key) -> Webhook:
        """Find one registration in the list."""
        key = self.checked(key)
        for webhook in self.many(call, envelope.data):
            if webhook.id == key:
                return webhook
        raise NotFound(call, f"no webhook has the id {key}")

    def _read_back(
        self, key: Key, call: Call, envelope: Envelope, body: Mapping[str, Any]
    ) -> Webhook:
        """Take the answer of a create as it is: no other answer holds the signing secret."""
        if call.method == "POST":
            return self.one(call, envelope.data)
        return super()._read_back(key, call, envelope, body)

    def _finished(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Keep the secret out of frames, should a service show it in a list."""
        return frame.drop(columns="webhook_secret", errors="ignore")

    def undo(self, kind: str, known: Mapping[str, Any], after: Mapping[str, Any]) -> Undo:
        """Tell that a deleted registration never comes back with its signing secret."""
        if kind == "delete":
            return "never", "made again it has another id and another signing secret"
        return super().undo(kind, known, after)
