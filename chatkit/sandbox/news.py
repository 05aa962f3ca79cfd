"""News: events put into the outbox, those of scenarios and those of what the account does.

A flow or a template content that is written through the API exists upstream too, and
upstream tells what becomes of it (sections States and Events). Contacts and webhooks cause
no events: the document names none.
"""

import logging
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from chatkit.profile import ServiceProfile
from chatkit.sandbox import changes
from chatkit.sandbox.delivery import event_body
from chatkit.sandbox.operations import Verb
from chatkit.sandbox.outbox import Outbox, OutboxFull
from chatkit.sandbox.receivers import Receivers
from chatkit.sandbox.source import Source
from chatkit.sandbox.upstream import check_content
from chatkit.sandbox.webhooks import Webhooks

logger = logging.getLogger("chatkit.sandbox")


class Event(NamedTuple):
    """What happened: its kind, what is told of it, and when; without a time it is now."""

    kind: str
    payload: object
    stamp: str | None = None


class Posted(NamedTuple):
    """An event in the outbox: its id, and the deliveries that wait, with their webhooks."""

    message_id: str
    deliveries: list[int]
    webhook_ids: list[int]


class News:
    """Puts events into the outbox of whoever asked for them; to be committed."""

    def __init__(
        self,
        profile: ServiceProfile,
        source: Source,
        webhooks: Webhooks,
        outbox: Outbox,
        receivers: Receivers,
    ) -> None:
        self._profile, self._source = profile, source
        self._webhooks, self._outbox, self._receivers = webhooks, outbox, receivers

    def post(self, account: str, kind: str, payload: object, stamp: str | None = None) -> Posted:
        """Let an event wait for every active webhook of the account that asks for its kind.

        Raises:
            OutboxFull: Too many deliveries wait already.
        """
        message_id = self._source.message_id()
        webhook_ids = [webhook.id for webhook in self._webhooks.active(account, kind)]
        if not webhook_ids:
            return Posted(message_id, [], [])
        body = event_body(self._profile, kind, payload, message_id, stamp or self._source.stamp())
        waiting = self._outbox.add(account, webhook_ids, message_id, kind, body, time.time())
        return Posted(message_id, waiting, webhook_ids)

    # --- what the account does --------------------------------------------------------

    def flow(self, account: str, record: dict[str, Any], old: str | None) -> None:
        """Tell that a flow was made (no old state) or came into another state."""
        new = record["wa_status"]
        kind = self._profile.event_kind_raw
        if old != new and self._is_heard(account, kind):
            name, stamp = record["name"], self._source.stamp()
            body = changes.flow_status(record["wa_flow_id"], name, old, new, seconds(stamp))
            self._post_quietly(account, kind, body, stamp)

    def content(self, account: str, code: str, content: dict[str, Any], verb: Verb) -> None:
        """Tell what upstream makes of a content that was written; drafts never get there."""
        kind = self._profile.event_kind_template
        if content["is_draft"] or not self._is_heard(account, kind):
            return
        stamp = self._source.stamp()
        at, place = seconds(stamp), (int(content["id"]), code, content["lang_code"])
        if verb == "update":
            self._post_quietly(
                account, kind, changes.template_components(*place, content, at), stamp
            )
        event, reason = "APPROVED", "NONE"
        if verb == "delete":
            event = "DELETED"
        elif any(finding.severity == "error" for finding in check_content(content)):
            event, reason = "REJECTED", "INVALID_FORMAT"
        body = changes.template_status(*place, event, reason, at)
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
