"""Signatures of deliveries: sign a body, verify a body, on its raw bytes.

The API document says that a webhook has a signing secret and nothing of what is done
with it (section Events). So a scheme is data, and `ServiceProfile.signature_scheme`
names the one in use. A verifier uses exactly that one: trying others until one fits
would let a forger choose the weakest.

Parsed and re-printed JSON is another text and has another signature: always hand over
the bytes as they came.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


class BadSignature(ValueError):
    """A delivery is not what it says: its signature is missing, wrong, too old or too new."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """How one kind of signature is made; no code of its own, so that another is a value.

    With an `id_header` and a `timestamp_header` the signed text is `id.timestamp.body`
    and the timestamp may differ from now by `tolerance` seconds either way. Without
    them it is the body alone, and nothing protects from a replay.
    """

    signature_header: str
    prefix: str
    encoding: Literal["base64", "hex"]
    key: Literal["ascii", "hex", "base64"]
    id_header: str | None = None
    timestamp_header: str | None = None
    tolerance: int = 300


SCHEMES: Mapping[str, Scheme] = {
    "standard_webhooks": Scheme(
        signature_header="webhook-signature",
        prefix="v1,",
        encoding="base64",
        key="ascii",
        id_header="webhook-id",
        timestamp_header="webhook-timestamp",
    ),
    "sha256_hex": Scheme(
        signature_header="X-Hub-Signature-256",
        prefix="sha256=",
        encoding="hex",
        key="ascii",
    ),
}


def sign(
    scheme: str | Scheme, secret: str, message_id: str, timestamp: int, body: bytes
) -> dict[str, str]:
    """Sign a body: the headers to send with it.

    Args:
        scheme: A name of `SCHEMES`, or a scheme.
        secret: The signing secret as the service gave it.
        message_id: Names the message, the same at every attempt; without a dot or space.
        timestamp: Seconds since 1970 of this attempt.
        body: The exact bytes that will be sent.

    Raises:
        BadSignature: The scheme is unknown, or the secret or the id cannot be used.
    """
    scheme = _scheme(scheme)
    moment = str(timestamp)
    headers = {scheme.signature_header: _signature(scheme, secret, message_id, moment, body)}
    if scheme.id_header and scheme.timestamp_header:
        headers |= {scheme.id_header: message_id, scheme.timestamp_header: moment}
    return headers


def verify(
    scheme: str | Scheme,
    secret: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: int,
    tolerance: int | None = None,
) -> None:
    """Check that a delivery was signed with this secret, and lately; silent when it was.

    Args:
        scheme: A name of `SCHEMES`, or a scheme.
        secret: The signing secret as the service gave it.
        headers: The headers of the delivery, in any case. Several signatures, parted by
            spaces, stand in one header while a secret is changed; one must fit.
        body: The exact bytes that came.
        now: Seconds since 1970.
        tolerance: Seconds the timestamp may be from now; None takes the scheme's.

    Raises:
        BadSignature: Anything is wrong, whatever it is. No other error leaves here.
    """
    scheme = _scheme(scheme)
    lower = {str(name).lower(): str(value) for name, value in headers.items()}
    given = _header(lower, scheme.signature_header)
    message_id = moment = ""
    if scheme.id_header and scheme.timestamp_header:
        message_id = _header(lower, scheme.id_header)
        moment = _header(lower, scheme.timestamp_header)
    expected = _signature(scheme, secret, message_id, moment, body).encode()
    # Every candidate is compared, so that the time taken tells nothing of which one fits.
    fits = [hmac.compare_digest(expected, one.encode("utf-8", "replace")) for one in given.split()]
    if not any(fits):
        raise BadSignature(f"no signature in {scheme.signature_header} fits this body and secret")
    if moment:
        age, limit = now - int(moment), scheme.tolerance if tolerance is None else tolerance
        if abs(age) > limit:
            when = f"{abs(age)} s {'old' if age > 0 else 'ahead'}"
            raise BadSignature(f"the delivery is signed rightly, but {when}; {limit} s are allowed")


def _scheme(scheme: str | Scheme) -> Scheme:
    if isinstance(scheme, Scheme):
        return scheme
    if scheme not in SCHEMES:
        raise BadSignature(f"no such signature scheme; there are: {', '.join(SCHEMES)}")
    return SCHEMES[scheme]


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name.lower(), "")
    if not value:
        raise BadSignature(f"the header {name} is missing")
    return value


def _signature(scheme: Scheme, secret: str, message_id: str, moment: str, body: bytes) -> str:
    signed = body
    if scheme.id_header and scheme.timestamp_header:
        # A dot in the id, or a timestamp that is not plain digits, would let one signed
        # text be cut into id, timestamp and body in two ways.
        plain = message_id.isascii() and message_id.isprintable()
        if not message_id or not plain or {".", " "} & {*message_id}:
            raise BadSignature("the message id must be plain text without a dot or space")
        if not (moment.isascii() and moment.isdigit() and len(moment) <= 12):
            raise BadSignature("the timestamp must be seconds since 1970")
        signed = b"%s.%s.%s" % (message_id.encode(), moment.encode(), signed)
    digest = hmac.digest(_key(scheme, secret), signed, hashlib.sha256)
    text = digest.hex() if scheme.encoding == "hex" else base64.b64encode(digest).decode()
    return scheme.prefix + text


def _key(scheme: Scheme, secret: str) -> bytes:
    """The bytes of a secret; said by the scheme, never guessed: all three readings are possible."""
    try:
        if scheme.key == "hex":
            key = bytes.fromhex(secret)
        elif scheme.key == "base64":
            key = base64.b64decode(secret, validate=True)
        else:
            key = secret.encode("ascii")
    except (ValueError, binascii.Error):
        key = b""
    if not key:  # an empty key would accept what anyone signs with it
        raise BadSignature(f"the signing secret is empty or not {scheme.key} text")
    return key
