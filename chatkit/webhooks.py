"""Webhooks: HTTPS addresses that receive what happens (API document, Webhook registration).

`client.webhooks` is `Webhooks`. Besides what every resource can do, it judges each registration by
its last delivery (`assess_health`), and looks after signing secrets. The service makes a signing
secret when it makes a webhook, shows it once, and never makes another. So a `Rotation` creates a
new webhook beside the old one, the receiver learns the new secret and takes both, and the old
webhook is deleted once a delivery has reached the new one. Whoever asks for it has a secret kept
in the keyring of the operating system, under the account and the id of the webhook; it is never
in a file of ours.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from difflib import get_close_matches
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from pydantic import AfterValidator, BeforeValidator, Field

from chatkit.api.answer import Envelope
from chatkit.api.call import Call
from chatkit.api.record import Body, Id, Record, Time
from chatkit.api.secret import SECRET, Secret
from chatkit.bulk.changes import Change
from chatkit.bulk.endpoints import Endpoints, Key, ReadFull, Undo
from chatkit.errors import CallError, InputError, NotFound, Refused, SettingsError
from chatkit.profile import ServiceProfile
from chatkit.report import Finding, Report, ReportPart, Severity, bullets, headline
from chatkit.resource import Resource
from chatkit.settings import use_keyring
from chatkit.signature import find_excess
from chatkit.util.display import many, shorten, values, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan

#: How many an account may have (API document, Limits).
MAX_WEBHOOKS = 10
#: What a registration can ask for beside the kinds that the profile names, and what it means.
_ALL, _STATUS = "*", "chat.message.status"
_KIND_NAMES = re.compile(r"[\w.*-]+")


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
    last_delivery_at: Time | None = None
    last_delivery_status: Any = None
    last_delivery_http_status: Any = None
    last_delivery_error: Any = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


def _validate_url(url: str) -> str:
    """Refuse an address that is not https, or has no usable port."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:  # a port beyond 65535, half an IPv6 address
        raise ValueError(f"is not a web address: {error}") from None
    if parts.scheme != "https" or not parts.hostname:
        raise ValueError("must be an https:// address (API document, Limits)")
    if port == 0:
        raise ValueError("has port 0, where nothing can listen: leave the port out for 443")
    return url


def _refuse_single_text(events: Any) -> Any:
    """Refuse a text in place of a list, with the list to pass."""
    if isinstance(events, str):
        kinds = _KIND_NAMES.findall(events)
        raise ValueError(f"must be a list, not text: events={kinds or ['*']!r}")
    return events


def _validate_kinds(events: list[str]) -> list[str]:
    """Refuse an empty list of event kinds, and names that are empty or repeated."""
    if not events:
        raise ValueError("must name at least one kind of event; '*' stands for all events")
    if not all(map(str.strip, events)):
        raise ValueError("must not hold an empty name")
    for kind in events:
        if kind.strip("[]\"' ") != kind:
            names = _KIND_NAMES.findall(kind)
            raise ValueError(f"holds brackets, quotes or spaces: write events={names!r}")
    if len(set(events)) < len(events):
        raise ValueError("must name each kind of event once")
    return events


class WebhookBody(Body):
    """The fields that may be sent of a registration."""

    url: Annotated[str, AfterValidator(_validate_url)] = Field(
        description="The https:// address that receives the events."
    )
    events: Annotated[
        list[str], BeforeValidator(_refuse_single_text), AfterValidator(_validate_kinds)
    ] = Field(description="Which kinds of events are delivered; '*' stands for all of them.")
    is_active: bool = Field(True, description="Whether events are delivered.")


def _has_secret(url: str) -> bool:
    """Return whether an address seems to contain a password or a token."""
    try:
        parts = urlsplit(url)
    except ValueError:  # half an IPv6 address
        return False
    return "@" in parts.netloc or any(SECRET.search(name) for name, _ in parse_qsl(parts.query))


def list_event_kinds(profile: ServiceProfile) -> dict[str, str]:
    """Name the kinds of events that can be asked for, and what each means."""
    status = "status updates of outbound messages: sent, delivered, read, failed"
    return {_ALL: "all events", _STATUS: status} | profile.event_kinds()


class WebhookEndpoints(Endpoints[Webhook]):
    """The endpoints of webhooks: the API reads the list alone, and shows secrets once."""

    path = ("webhooks",)
    noun, attribute = "webhook", "webhooks"
    record = Webhook
    body = WebhookBody
    paged = False
    update_method = "PATCH"
    natural_key = account_key = ("url",)
    file = "webhooks/*.json"
    always = frozenset({"events", "is_active"})
    unordered = frozenset({"events"})
    file_defaults: ClassVar[Mapping[str, Any]] = {"is_active": True}
    refuses = "Nothing can be delivered to such an address."
    most = MAX_WEBHOOKS
    lost = "its signing secret was in that answer: delete it and create it again"
    defaults: ClassVar[Mapping[str, Any]] = {"events": [_ALL]}
    labels: ClassVar[Mapping[str, str]] = {
        "url": "Address",
        "webhook_secret": "Signing secret",
        "has_signing_secret": "Has signing secret",
    }

    def make_account_notes(self, frame: pd.DataFrame) -> list[str]:
        """Note the hosts of addresses that seem to contain a password or a token."""
        hosts = [urlsplit(url).hostname or "" for url in frame["url"].dropna() if _has_secret(url)]
        return [
            f"{many(len(hosts), 'webhook')} with what looks like a password in the address, which "
            f"is written as it is: {', '.join(hosts)}."
        ] * bool(hosts)

    @classmethod
    def make_created_note(cls, count: int) -> str:
        """Return a note on where the new signing secrets are."""
        return (
            f"{many(count, 'webhook')} created, with a new signing secret: plan.secrets holds "
            "it once the plan is applied, and the service never shows it again."
        )

    @property
    def single(self) -> bool:
        """Return whether the service refuses a second webhook for one address."""
        return self.profile.duplicate_webhook_url == "refuse"

    def get_call(self, key: Key) -> Call:
        """Make the call for the list: the API has none for a single registration."""
        self.validate_key(key)
        return self.list_call()

    def read(self, call: Call, envelope: Envelope, key: Key) -> Webhook:
        """Return one registration of the list in the answer."""
        key = self.validate_key(key)
        webhooks = self.parse_records(call, envelope.data)
        matches = [webhook for webhook in webhooks if webhook.id == key]
        if not matches:
            raise NotFound(call, f"no webhook has the id {key}: client.webhooks.frame() lists them")
        return matches[0]

    def _finish_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Drop secrets, should a service show them in a list."""
        return frame.drop(columns="webhook_secret", errors="ignore")

    def next_step(self, error: Refused, key: Key | None, body: Mapping[str, Any]) -> str:
        """Name the webhook that has the address."""
        if error.status in (409, self.profile.clash_status) and "url" in body:
            call = self.list_call()
            with suppress(CallError):
                for record in self.parse_records(call, self.transport.send(call).data):
                    if record.url == body["url"]:
                        key = record.id
                        return f"Webhook {key} has it: change that one with update({key}, …)."
        return super().next_step(error, key, body)

    def undo(self, kind: str, known: Mapping[str, Any], after: Mapping[str, Any]) -> Undo:
        """Return how well a change can be undone: a deleted registration loses its secret."""
        if kind == "delete":
            return "never", "if created again, it has another id and another signing secret"
        return super().undo(kind, known, after)

    def choices(self) -> Mapping[str, Mapping[str, str]]:
        """Return the kinds of events, each with what it means."""
        return {"events": list_event_kinds(self.profile)}

    def check_record(
        self, fields: Mapping[str, Any], live: Mapping[str, Any] | None
    ) -> list[Finding]:
        """Check that the service can reach the address, and knows the kinds of events."""
        return [
            *self._find_unreachable(fields.get("url")),
            *self._find_unknown_kinds(fields.get("events")),
        ]

    def check_changes(
        self, changes: Sequence[Change], base: pd.DataFrame, full: ReadFull
    ) -> Mapping[int, Sequence[Finding]]:
        """Check each registration that is sent."""
        sent = {n: c.after for n, c in enumerate(changes) if c.kind != "delete"}
        checked = {n: self.check_record(after, None) for n, after in sent.items()}
        return {n: findings for n, findings in checked.items() if findings}

    def _find_unreachable(self, url: Any) -> list[Finding]:
        """Find an address of this machine, or of a private network."""
        host = urlsplit(url).hostname if isinstance(url, str) else None
        if host is None or self.transport.connection.loopback:
            return []  # such a service runs here, and reaches what runs here
        try:
            address = ipaddress.ip_address(host)
            here, inside = address.is_loopback or address.is_unspecified, address.is_private
        except ValueError:
            name = host.rstrip(".")
            here = name == "localhost" or name.endswith(".localhost")
            inside = "." not in name or name.endswith((".local", ".internal", ".lan"))
        if not (here or inside):
            return []
        severity: Severity = "error" if here else "warning"
        message = (
            f"{host} is the machine that calls: for the service that is its own"
            if here
            else f"{host} is known in a network of its own only: the service may not reach it"
        )
        hint = "take an address of the internet"
        return [Finding("address", severity, "/url", message, hint)]

    def _find_unknown_kinds(self, events: Any) -> list[Finding]:
        """Warn of kinds of events that the profile does not name; the service may know them."""
        known = list_event_kinds(self.profile)
        findings = []
        for n, kind in enumerate(events if isinstance(events, list) else ()):
            if kind not in known:
                like = get_close_matches(kind, known, 1) or [k for k in known if kind in k]
                hint = f"; did you mean {like[0]}?" if len(like) == 1 else ""
                message = f"{values(kind)} is not one of client.webhooks.event_kinds(){hint}"
                findings.append(Finding("event kind", "warning", f"/events/{n}", message))
        return findings


class Webhooks(Resource[Webhook], endpoints=WebhookEndpoints):
    """The webhook registrations of the account, ten at most.

    The signing secret is in the answer to `create` and nowhere else: keep it then.

    >>> client.webhooks.health().index.tolist()
    [42, 43, 41]
    """

    def frame(self) -> pd.DataFrame:
        """Read the registrations into a DataFrame, one row each, indexed by id.

        Raises:
            BadAnswer: The list is not as documented.
        """
        return self._frame(full=False)

    def event_kinds(self) -> dict[str, str]:
        """Name the kinds of events that can be asked for, and what each means.

        The API document names the first two; the others are as the profile says.
        """
        return list_event_kinds(self._endpoints.profile)

    def activate(self, key: Key) -> Webhook:
        """Activate a webhook.

        Raises:
            NotFound: There is none with that id.
            UnknownOutcome: The answer was lost; the change may have landed.
        """
        return self.update(key, is_active=True)

    def deactivate(self, key: Key) -> Webhook:
        """Have no more events delivered to a webhook; it keeps its signing secret.

        Raises:
            NotFound: There is none with that id.
            UnknownOutcome: The answer was lost; the change may have landed.
        """
        return self.update(key, is_active=False)

    def health(self, *, quiet: float = 24, now: datetime | None = None) -> pd.DataFrame:
        """Return the health of each webhook by its last delivery, the most urgent first.

        `health` is one of failing, silent (no delivery for longer than `quiet`), never,
        inactive and healthy; `reason` says why.

        Args:
            quiet: Hours without a delivery that are normal for you.
            now: When to judge. Without it the present, by the clock of the service (its Date
                header), for what it stamps is not comparable with the clock of this machine.

        Raises:
            InputError: One of them cannot be used.
        """
        from chatkit.frames.frame import records

        if isinstance(quiet, bool) or not isinstance(quiet, int | float) or not 0 < quiet < 1e6:
            raise InputError(f"quiet= takes a number of hours above 0, like 24, not {quiet!r:.40}.")
        if now is not None and now.tzinfo is None:
            raise InputError("now= needs a time zone: datetime.now(UTC).")
        frame = self._frame(full=False)
        at = now or self._endpoints.transport.get_service_time()
        rows = range(len(frame))
        longest = timedelta(hours=quiet)
        verdicts = [assess_health(fields, at, longest) for fields in records(frame, list(rows))]
        states = [health for health, _ in verdicts]
        frame = frame.assign(health=states, reason=[reason for _, reason in verdicts])
        return frame.iloc[sorted(rows, key=lambda row: HEALTH_ORDER.index(states[row]))]

    def rotate(self, key: Key, *, url: str | None = None) -> Rotation:
        """Plan to give a webhook a new signing secret: a new one beside it, then the old one goes.

        Nothing is sent before `rotation.apply()`.

        Args:
            key: The id of the webhook.
            url: The address of the new one. Without it the same with `rotated=1` in its
                query: one address twice could not be told apart, and is refused by many.

        Raises:
            NotFound: There is none with that id.
            InputError: The address cannot be one, or the account has ten webhooks already.
        """
        old = self.get(key)
        live = self._frame(full=False)
        if url is None:
            url = make_unused_address(str(old.url), {str(one) for one in live["url"]})
        row = live.loc[[old.id], ["url", "events", "is_active"]]
        plan = self.plan(row.reset_index(drop=True).assign(url=[url]))
        if plan.counts["create"] == 1:
            return Rotation(self, old, plan)
        reason = "; ".join(plan.refused["reason"]) or "another webhook has this address"
        raise InputError(f"Webhook {old.id} cannot be rotated to {url}: {reason}.")

    def keep_secret(self, key: Key, secret: Secret) -> None:
        """Keep a signing secret in the keyring of this machine, such as one of `plan.secrets`.

        Raises:
            SettingsError: The keyring is missing or fails.
        """
        if excess := find_excess(secret):
            raise SettingsError(f"The signing secret has {excess}: pass the secret alone.")
        self._ask_keyring("set_password", key, secret)
        if self._ask_keyring("get_password", key) != secret:
            raise SettingsError(f"The keyring did not keep what it was given. {_WITHOUT_KEYRING}")

    def secret(self, key: Key) -> Secret:
        """Return the signing secret that is kept in the keyring of this machine.

        Raises:
            SettingsError: It is not kept there, or the keyring is missing or fails.
        """
        if secret := self._ask_keyring("get_password", key):
            return secret
        raise SettingsError(
            f"No signing secret of webhook {key} is kept on this machine, and the service "
            f"shows it once only: client.webhooks.rotate({key}) gives it a new one."
        )

    def forget_secret(self, key: Key) -> None:
        """Remove a signing secret from the keyring of this machine.

        Raises:
            SettingsError: The keyring is missing or fails.
        """
        if self._ask_keyring("get_password", key):
            self._ask_keyring("delete_password", key)

    def _ask_keyring(self, method: str, key: Key, *secret: Secret) -> Secret | None:
        """Call a method of the keyring; explain its failure in terms of signing secrets."""
        account = self._endpoints.transport.connection.account
        name = f"{account} webhook {self._endpoints.validate_key(key)}"

        def ask(keyring: Any) -> Secret | None:
            texts = (each.reveal() for each in secret)
            text = getattr(keyring, method)("chatkit webhooks", name, *texts)
            return Secret(text) if text else None

        try:
            return use_keyring(ask)
        except SettingsError as error:
            first = str(error).partition(".")[0]
        raise SettingsError(f"{first}. {_WITHOUT_KEYRING}")

    def _read_back(
        self, key: Key, call: Call, envelope: Envelope, body: Mapping[str, Any]
    ) -> Webhook:
        """Return the record in the answer of a create, which alone holds the signing secret."""
        if call.method == "POST":
            return self._endpoints.parse_record(call, envelope.data)
        return super()._read_back(key, call, envelope, body)


Health = Literal["healthy", "failing", "silent", "never", "inactive"]
#: From the one that needs a person most to the one that needs none.
HEALTH_ORDER: tuple[Health, ...] = ("failing", "silent", "never", "inactive", "healthy")

_SUCCESS_WORDS = re.compile(r"deliver|success|succeed|sent|ok|done|true|2[0-9]{2}", re.IGNORECASE)
_FAILURE_WORDS = re.compile(
    r"un|not|fail|err|refus|reject|time|retry|pend|wait|false|drop", re.IGNORECASE
)


def assess_health(
    webhook: Mapping[str, Any], now: datetime, quiet: timedelta
) -> tuple[Health, str]:
    """Return the health of a registration by its last delivery, and the reason.

    The API document names four fields and shows no value of them, so they are read kindly: an
    error or an HTTP status outside 2xx is a failure whatever the status is called, and a status
    in words counts only where nothing else speaks.

    Args:
        webhook: Its fields, as a list shows them.
        now: When it is judged.
        quiet: How long it may be without a delivery.
    """
    at = webhook.get("last_delivery_at")
    why = _explain_delivery_failure(webhook)
    if webhook.get("is_active") is False:
        last = f"; its last delivery failed: {why}" if why and at else ""
        return "inactive", f"it is switched off: activate(id) switches it on{last}"
    if why:
        return "failing", why
    if not isinstance(at, datetime):
        made = webhook.get("created_at")
        since = f"{made:%Y-%m-%d %H:%M} UTC" if isinstance(made, datetime) else "it was made"
        return "never", f"nothing was ever delivered to it since {since}"
    age = now - at
    if age > quiet:
        return "silent", f"nothing was delivered for {_format_age(age)}"
    return "healthy", f"delivered {_format_age(age)} ago"


def _explain_delivery_failure(webhook: Mapping[str, Any]) -> str:
    """Return why the last delivery failed; empty if it did not."""
    error, status = webhook.get("last_delivery_error"), webhook.get("last_delivery_status")
    code = str(webhook.get("last_delivery_http_status")).removesuffix(".0")  # some print it as text
    hint = ": often another signing secret" if code == "401" else ""
    if error not in (None, "", False):
        return shorten(" ".join(str(error).split()), 120) + hint
    if re.fullmatch(r"[1-9][0-9]{2}", code, re.ASCII):
        return "" if code.startswith("2") else f"the receiver answered {code}{hint}"
    text = "" if status is None else " ".join(str(status).split())
    good = not text or (_SUCCESS_WORDS.search(text) and not _FAILURE_WORDS.search(text))
    return "" if good else f"its status is {shorten(text, 120)}"


def _format_age(age: timedelta) -> str:
    """Return a duration in words, in the largest unit that fits."""
    seconds = int(age.total_seconds())
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return many(seconds // size, unit)
    return "less than a minute"  # HTTP tells whole seconds: finer would be a guess


_WITHOUT_KEYRING = (
    "The signing secret is in webhook.webhook_secret, or in plan.secrets, once: hand it to your "
    "receiver from there."
)
_ROTATED_QUERY = re.compile(r"(?:^|&)rotated=([0-9]{1,6})$")
_ROTATION_NOTES = (
    "Only the answer to this create holds the new signing secret. If that answer is lost, so is "
    "the secret: the old webhook goes on, so delete the new one and rotate again.",
    "From then on every event is delivered to both. Add the new secret to your receiver and "
    "keep the old one, then delete the old webhook with rotation.finish().",
)
_FINISH_NOTE = (
    "An answer of 200 does not prove that the receiver has the new secret: look first if all that "
    "came last is verified (inbox.raw().verified), else receiver.accept(old, new)."
)


class Rotation(Report):
    """A webhook that is being replaced by one with a new signing secret.

    `apply()` creates the new one, `finish()` returns the plan that deletes the old one.
    `plan` is what `apply()` does; `new_id` and `secret` are there once it has.
    """

    def __init__(self, webhooks: Webhooks, old: Webhook, plan: Plan) -> None:
        self.old_id = old.id
        self.plan = plan
        self.new_id: int | None = None
        self.secret: Secret | None = None
        self._webhooks = webhooks
        plan.notes += _ROTATION_NOTES

    def apply(self, **how: Any) -> pd.DataFrame:
        """Create the new webhook; return the result of the plan.

        Args:
            how: What `Plan.apply` takes.
        """
        result = self.plan.apply(**how)
        for new_id, secret in self.plan.secrets.items():
            self.new_id, self.secret = int(new_id), secret
        return result

    def finish(self, *, unverified: bool = False) -> Plan:
        """Plan to delete the old webhook, once a delivery has reached the new one.

        The plan can never be undone, so it is applied with `apply(irreversible=True)`.

        Args:
            unverified: Go on although nothing has been delivered to the new one yet.

        Raises:
            InputError: The new webhook is not there, its secret is not, or nothing has
                reached it; the text says what to do.
        """
        verdicts = self._webhooks.health()
        if self.new_id is None or self.new_id not in verdicts.index:
            raise InputError(
                "The new webhook is not there, or its signing secret was lost: look at "
                "rotation.apply() and client.webhooks.frame(). The old one must stay."
            )
        health, reason = verdicts.loc[self.new_id, ["health", "reason"]]
        if health not in ("healthy", "silent") and not unverified:  # a delivery has reached it
            raise InputError(
                f"The new webhook {self.new_id} is not in use yet ({reason}): the old one must "
                "stay until a delivery has reached the new one, or finish(unverified=True)."
            )
        plan = self._webhooks.plan(delete=[self.old_id])
        plan.notes.append(_FINISH_NOTE)
        return plan

    def _parts(self) -> Iterator[ReportPart]:
        made = f"created as {self.new_id}" if self.new_id else "rotation.apply() creates it"
        yield headline(f"Rotation of webhook {self.old_id}")
        steps = (
            f"1. A new webhook to {visible(str(self.plan.changes[0].after['url']))}: {made}.",
            "2. Add the new signing secret to your receiver, and accept both for a while.",
            f"3. rotation.finish() plans to delete webhook {self.old_id}.",
        )
        yield bullets("", steps)
        yield bullets("", _ROTATION_NOTES)


def make_unused_address(url: str, taken: set[str]) -> str:
    """Return an address of the same receiver that no webhook has yet.

    Its query ends in `rotated=1`, or in the next number that is free.
    """
    parts = urlsplit(url)
    rest = _ROTATED_QUERY.sub("", parts.query)
    query = f"{rest}&rotated=" if rest else "rotated="
    begins = parts._replace(path=parts.path or "/", query=query)
    numbered = (f"{urlunsplit(begins)}{number}" for number in count(1))
    return next(address for address in numbered if address not in taken)
