"""Delivery: inspection, stored form and selection.

Nothing of a delivery is ever thrown away. Of its body only what the profile says is assumed:
which scheme signs it, and which field tells its kind. A body that is no JSON, or has no kind,
is stored all the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

import msgspec

from chatkit.api.secret import MASK, Secret
from chatkit.errors import BadSignature
from chatkit.inbox.events import contact_in
from chatkit.profile import ServiceProfile
from chatkit.signature import Scheme, decode_secret, decompress_body, get_scheme, verify


class ReceivedDelivery(NamedTuple):
    """A delivery to be stored: what came, and what was found in it."""

    received: int
    identity: str
    kind: str | None
    verified: bool
    reason: str
    is_json: bool
    path: str
    headers: str
    body: bytes
    contact: str  # of whom it is; "": of nobody or of several


class Delivery(NamedTuple):
    """A stored delivery: what came and when, and whether its signature was right."""

    id: int
    received_at: datetime
    identity: str
    kind: str | None
    verified: bool
    reason: str
    is_json: bool
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    verified_at: datetime | None = None  # when it was verified, if later than it came

    @property
    def content(self) -> bytes:
        """The body, unpacked if it came as gzip."""
        return decompress_body(self.body)

    def __repr__(self) -> str:
        verdict = "verified" if self.verified else f"not verified: {self.reason}"
        when = self.received_at.isoformat(sep=" ", timespec="seconds")
        size = f"{len(self.body):,} bytes"
        return f"<delivery {self.id}, {when}, {self.kind or 'no kind'}, {size}, {verdict}>"


class Selection(NamedTuple):
    """The filter of a query for deliveries.

    `since` and `until` are ids of deliveries (after it, up to it) or times (from it on,
    before it). `contact` takes what may be about a contact in E.164 form: all of it, and more.
    """

    since: int | datetime | None = None
    until: int | datetime | None = None
    kinds: Sequence[str] | None = None
    verified: bool | None = None
    contact: str | None = None
    repeats: bool = False


# --- what is found of a delivery before it is stored ------------------------------------------

#: Headers that may hold a password: a proxy adds some. They are not needed again.
_MASKED = {"authorization", "proxy-authorization", "cookie"}
_LONGEST_KIND = 200


class DeliveryInspector:
    """Inspector of new deliveries: verifies the signature, finds kind, contact and identity.

    Args:
        profile: Its `signature_scheme` and `event_kind_field` count.
        secrets: The signing secrets that are accepted: several while one is changed, or
            for several registrations. None: nothing can be verified.
        scheme: A scheme that the profile has no name for.

    Raises:
        BadSignature: A secret cannot be used with the scheme.
    """

    def __init__(
        self, profile: ServiceProfile, secrets: Sequence[Secret] = (), scheme: Scheme | None = None
    ) -> None:
        self.scheme = scheme or get_scheme(profile.signature_scheme)
        self._kind_field = profile.event_kind_field
        self.set_secrets(secrets)

    def set_secrets(self, secrets: Sequence[Secret]) -> None:
        """Replace the accepted secrets.

        Raises:
            BadSignature: One of them cannot be used with the scheme.
        """
        for secret in secrets:
            decode_secret(self.scheme, secret)
        self._secrets = tuple(secrets)

    @property
    def secrets(self) -> int:
        """The number of secrets that are accepted."""
        return len(self._secrets)

    def inspect(
        self, path: str, headers: Sequence[tuple[str, str]], body: bytes, now: float | None = None
    ) -> ReceivedDelivery:
        """Verify and read a delivery that has just come."""
        now = time.time() if now is None else now
        together: dict[str, str] = {}
        kept: list[tuple[str, str]] = []
        for name, value in headers:
            lower = name.lower()
            together[lower] = f"{together[lower]},{value}" if lower in together else value
            kept.append((name, MASK if lower in _MASKED else value))
        reason = self._verification_error(together, body, int(now))
        kind, contact, broken = self._read_body(body, together.get("content-encoding", ""))
        return ReceivedDelivery(
            received=int(now * 1_000_000),
            identity=self._identity(together, body, verified=not reason),
            kind=kind,
            verified=not reason,
            reason="; ".join(filter(None, (reason, broken))),
            is_json=not broken,
            path=_storable(path)[:2000],
            headers=msgspec.json.encode(kept).decode(),
            body=body,
            contact=contact,
        )

    def verify_again(
        self, deliveries: Iterable[Delivery]
    ) -> Iterator[tuple[int, ReceivedDelivery]]:
        """Verify unverified deliveries again; yield the ids and entries of those now verified.

        The age of a timestamp is that at the arrival of the delivery.
        """
        for one in deliveries:
            entry = self.inspect(one.path, one.headers, one.body, one.received_at.timestamp())
            if entry.verified:
                yield one.id, entry

    def _verification_error(self, headers: dict[str, str], body: bytes, now: int) -> str:
        """Return why a delivery cannot be verified; "" if it is verified."""
        if not self._secrets:
            return "no signing secret was given to the receiver"
        try:
            verify(body, headers, self._secrets, scheme=self.scheme, now=now)
        except BadSignature as error:
            return str(error)
        return ""

    def _read_body(self, body: bytes, encoding: str) -> tuple[str | None, str, str]:
        """Return the kind and the contact of a body, and why it is no JSON."""
        content = decompress_body(body)
        try:
            value = msgspec.json.decode(content)
        except RecursionError:
            return None, "", "the body is nested too deeply"
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            reason = f"the body is not JSON: {_storable(str(error))[:200]}"
            if encoding and content == body:
                reason += f" (it came packed as {_storable(encoding)[:40]!r}, and was not unpacked)"
            return None, "", reason
        kind = value.get(self._kind_field) if isinstance(value, dict) else None
        kind = _storable(kind)[:_LONGEST_KIND] if isinstance(kind, str) else None
        return kind, contact_in(value), ""

    def _identity(self, headers: dict[str, str], body: bytes, *, verified: bool) -> str:
        """Return the identity of a delivery, which its repeats share.

        The id of a message is believed only when it is signed: else anyone could send a
        delivery that takes the place of a real one.
        """
        message_id = headers.get((self.scheme.id_header or "").lower(), "")
        if verified and "{id}" in self.scheme.signed and len(message_id) <= 200:
            return f"id:{message_id}"
        digest = sha256(body).hexdigest()
        return f"sha256:{digest}" if verified else f"unverified:{digest}"


def contact_of_body(body: bytes) -> str:
    """Return the contact of a stored body, as `contact_in` does."""
    try:
        return contact_in(msgspec.json.decode(decompress_body(body)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def _storable(text: str) -> str:
    """Replace null and half characters, which databases refuse."""
    if text.isascii() and text.isprintable():  # as nearly all are
        return text
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
