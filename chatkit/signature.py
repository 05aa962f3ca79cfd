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
import re
import time
import unicodedata
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from chatkit.errors import BadSignature

#: More signatures than this in one header are no rotation but an attack on our time.
_MAX_SIGNATURES = 20
#: The first bytes of a body that is packed as gzip or deflate: no JSON begins so.
PACKED = (b"\x1f\x8b", b"x")
_MAX_DECOMPRESSED = 4 * 1024 * 1024
_PLACEHOLDERS = re.compile(r"(\{id\}|\{timestamp\}|\{body\})")


class RevealableSecret(Protocol):
    """A secret that never shows itself, such as `chatkit.api.secret.Secret`."""

    def reveal(self) -> str:
        """Return the text itself."""


class _RedactedSecret:
    """A secret whose repr hides its text in tracebacks."""

    __slots__ = ("_text",)

    def __init__(self, secret: str | RevealableSecret) -> None:
        self._text = secret if isinstance(secret, str) else secret.reveal()

    def reveal(self) -> str:
        return self._text


@dataclass(frozen=True, slots=True)
class Scheme:
    """A signature scheme, as data.

    `signed` is the text that is signed: `{id}`, `{timestamp}` and `{body}` stand for the
    two headers and the bytes of the body. With a `{timestamp}`, it may differ from now by
    `tolerance` seconds either way; without one nothing protects from a replay. Several
    signatures in the header are parted by `separator`, and only those with `prefix` count.
    With a `timestamp_prefix` the timestamp is one of those parts too (`t=1750000000`).
    """

    signature_header: str
    prefix: str
    encoding: Literal["base64", "hex"]
    key: Literal["ascii", "hex", "base64", "whsec"]
    id_header: str | None = None
    timestamp_header: str | None = None
    tolerance: int = 300
    algorithm: Literal["sha256", "sha1", "sha384", "sha512"] = "sha256"
    signed: str = "{body}"
    separator: str = " "
    timestamp_prefix: str = ""


SCHEMES: Mapping[str, Scheme] = {
    "standard_webhooks": Scheme(
        signature_header="webhook-signature",
        prefix="v1,",
        encoding="base64",
        key="ascii",
        id_header="webhook-id",
        timestamp_header="webhook-timestamp",
        signed="{id}.{timestamp}.{body}",
    ),
    "sha256_hex": Scheme(
        signature_header="X-Hub-Signature-256", prefix="sha256=", encoding="hex", key="ascii"
    ),
}


def sign(
    scheme: str | Scheme,
    secret: str | RevealableSecret,
    message_id: str,
    timestamp: int,
    body: bytes,
) -> dict[str, str]:
    """Sign a body; return the headers to send with it.

    Args:
        scheme: A name of `SCHEMES`, or a scheme.
        secret: The signing secret as the service gave it.
        message_id: Names the message, the same at every attempt; without a dot or space.
        timestamp: Seconds since 1970 of this attempt.
        body: The exact bytes that will be sent.

    Raises:
        BadSignature: The scheme is unknown, or the secret or the id cannot be used.
    """
    secret = _RedactedSecret(secret)  # a traceback that prints variables must not find its text
    scheme = get_scheme(scheme)
    signed = _signed_text(scheme, message_id, str(timestamp), body)
    header = scheme.prefix + _digest(scheme, decode_secret(scheme, secret), signed)
    if scheme.timestamp_prefix:
        header = f"{scheme.timestamp_prefix}{timestamp}{scheme.separator}{header}"
    headers = {scheme.signature_header: header}
    if scheme.id_header and "{id}" in scheme.signed:
        headers[scheme.id_header] = message_id
    if scheme.timestamp_header and "{timestamp}" in scheme.signed and not scheme.timestamp_prefix:
        headers[scheme.timestamp_header] = str(timestamp)
    return headers


def verify(
    body: bytes,
    headers: Mapping[str, str],
    secret: str | RevealableSecret | Iterable[str | RevealableSecret],
    *,
    scheme: str | Scheme = "standard_webhooks",
    now: float | None = None,
    tolerance: int | None = None,
) -> None:
    """Check that a delivery was signed with this secret, and not too long ago; else raise.

    >>> headers = sign("standard_webhooks", "a secret", "msg_1", 1767225600, b"{}")
    >>> verify(b"{}", headers, "a secret", now=1767225600)

    Args:
        body: The exact bytes that came: parsed and printed again they are another text. What
            came as gzip may be packed or unpacked.
        headers: The headers of the delivery, in any case. Several signatures may stand in
            one header while a secret is changed; one must fit.
        secret: The signing secret as the service gave it; while it is changed, the old
            one and the new one: either will do.
        scheme: `"standard_webhooks"`: `v1,` and the Base64 of the HMAC-SHA256 of
            `{id}.{timestamp}.{body}`, with the secret as ASCII for a key; or `"sha256_hex"`:
            `sha256=` and the hex digits of that of the body alone; or a `Scheme`.
        now: Seconds since 1970; None takes the clock of this machine.
        tolerance: Seconds the timestamp may be from now; None takes the scheme's.

    Raises:
        BadSignature: Anything is wrong; the text is the reason. No other error leaves here.
    """
    several = isinstance(secret, Iterable) and not isinstance(secret, str | bytes)
    entries: list[Any] = [*secret] if several else [secret]  # type: ignore[misc]
    wrong = [type(e).__name__ for e in entries if not (isinstance(e, str) or hasattr(e, "reveal"))]
    secrets = [] if wrong else [_RedactedSecret(each) for each in entries]
    del secret, entries  # a traceback that prints variables must not find their texts
    if wrong:
        raise BadSignature(f"a signing secret is text, not {wrong[0]}")
    scheme = get_scheme(scheme)
    if not secrets:
        raise BadSignature("no signing secret was given")
    for each in secrets:
        decode_secret(scheme, each)
    if isinstance(body, str):
        body = body.encode("utf-8", "surrogatepass")
    if not isinstance(body, bytes | bytearray | memoryview):
        raise BadSignature(
            f"the body must be the bytes that came, not {type(body).__name__}: JSON that was "
            "parsed and written again has another signature"
        )
    lower = {str(name).lower(): str(value) for name, value in dict(headers).items()}
    parts = _split_header(scheme, _require_header(lower, scheme.signature_header))
    message_id = _require_header(lower, scheme.id_header) if scheme.id_header else ""
    timestamp = _find_timestamp(scheme, lower, parts)
    expected = [
        (scheme.prefix + _digest(scheme, decode_secret(scheme, each), signed)).encode()
        for content in dict.fromkeys((bytes(body), decompress_body(bytes(body))))
        for signed in [_signed_text(scheme, message_id, timestamp, content)]
        for each in secrets
    ]
    # Every candidate is compared with every secret: the time shows nothing of which fits.
    fits = [hmac.compare_digest(digest, part) for digest in expected for part in parts]
    if not any(fits):
        raise BadSignature(f"no signature in {scheme.signature_header} fits this body and secret")
    if timestamp:
        signed_at = int(timestamp) // _timestamp_unit(timestamp)
        age = int(time.time() if now is None else now) - signed_at
        limit = scheme.tolerance if tolerance is None else tolerance
        if abs(age) > limit:
            when = f"{abs(age)} s {'old' if age > 0 else 'ahead'}"
            raise BadSignature(f"the delivery is signed rightly, but {when}; {limit} s are allowed")


def decompress_body(body: bytes) -> bytes:
    """Decompress a body that came as gzip or deflate; return any other as it is.

    One that is damaged, or holds more than 4 MiB, is not unpacked.
    """
    if not body.startswith(PACKED):
        return body
    packed = zlib.decompressobj(wbits=47)
    try:
        content = packed.decompress(body, _MAX_DECOMPRESSED)
    except zlib.error:
        return body
    return content if packed.eof and not packed.unused_data else body


def get_scheme(scheme: str | Scheme) -> Scheme:
    """Return the scheme of a name.

    Raises:
        BadSignature: There is none.
    """
    if isinstance(scheme, Scheme):
        return scheme
    if scheme not in SCHEMES:
        raise BadSignature(f"no such signature scheme; there are: {', '.join(SCHEMES)}")
    return SCHEMES[scheme]


def decode_secret(scheme: Scheme, secret: str | RevealableSecret) -> bytes:
    """Decode a secret into a key, as the scheme says.

    Raises:
        BadSignature: The secret is empty, cannot be read so, or was copied with more than itself.
    """
    redacted = _RedactedSecret(secret)
    del secret  # a traceback that prints variables must not find its text
    if excess := find_excess(redacted):
        raise BadSignature(
            f"the signing secret has {excess}, as happens when it is pasted or read from a file: "
            "pass the secret alone"
        )
    key = _decode_key(scheme, redacted.reveal())
    if not key:  # an empty key would accept what anyone signs with it
        raise BadSignature(f"the signing secret is empty or not {scheme.key} text")
    return key


_QUOTES = "\"'`\u00b4\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a"
_QUOTES += "\u300c\u300d\u300e\u300f\uff02\uff07\u2032\u2033"
_BRACKETS = "<>()[]{},;:\\"
_SIGN_NAMES = {"\n": "a line break", "\r": "a line break", "\t": "a tab", " ": "a space"}
_SIGN_NAMES |= dict.fromkeys(_QUOTES, "a quotation mark")
_BLANK = ("Cc", "Cf", "Zl", "Zp", "Zs")
_PLAIN_SECRET = re.compile(r"[A-Za-z0-9+/=_.-]*")
_GENERATED = re.compile(r"[0-9A-Fa-f]{32}|whsec_")


def find_excess(secret: RevealableSecret) -> str:
    """Return the name and place of a sign that was copied along with a secret, or "".

    Nothing invisible belongs into a secret, nor a space or a quotation mark at its ends. In one
    that a service made, of hexadecimal digits or base64, they are out of place anywhere.
    """
    signs = secret.reveal()
    if _PLAIN_SECRET.fullmatch(signs):  # as nearly all are
        return ""
    blank = {sign for sign in signs if sign.isspace() or unicodedata.category(sign) in _BLANK}
    generated = _GENERATED.search("".join(s for s in signs if s not in blank | {*_QUOTES}))
    inside = blank | {*_QUOTES, *_BRACKETS} if generated else blank - {" "}
    for place, sign in enumerate(signs):
        first, last = place == 0, place == len(signs) - 1
        if sign in (inside | blank | {*_QUOTES} if first or last else inside):
            name = _SIGN_NAMES.get(sign) or unicodedata.name(sign, "CONTROL CHARACTER").lower()
            where = "at its beginning" if first else "at its end" if last else "in it"
            return f"{name if sign in _SIGN_NAMES else f'a character ({name})'} {where}"
    return ""


def _decode_key(scheme: Scheme, secret: str) -> bytes:
    """Decode a secret into a key; b"" if the scheme cannot read it."""
    try:
        if scheme.key == "hex":
            return bytes.fromhex(secret)
        if scheme.key == "ascii":
            return secret.encode("ascii")
        if scheme.key == "base64" or secret.startswith("whsec_"):
            return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (ValueError, binascii.Error):
        return b""
    return b""


def _split_header(scheme: Scheme, header: str) -> list[bytes]:
    """Split the signature header into its entries."""
    parts = header.split(None if scheme.separator == " " else scheme.separator)
    if len(parts) > _MAX_SIGNATURES:
        raise BadSignature(f"{scheme.signature_header} holds more than {_MAX_SIGNATURES} entries")
    return [part.strip().encode("utf-8", "replace") for part in parts]


def _find_timestamp(scheme: Scheme, headers: Mapping[str, str], parts: list[bytes]) -> str:
    """Return the signed timestamp as it was written; "" in a scheme without one."""
    if scheme.timestamp_prefix:
        prefix = scheme.timestamp_prefix.encode()
        timestamps = [part.removeprefix(prefix) for part in parts if part.startswith(prefix)]
        if len(timestamps) != 1:
            raise BadSignature(f"{scheme.signature_header} must hold one timestamp")
        return timestamps[0].decode("utf-8", "replace")
    return _require_header(headers, scheme.timestamp_header) if scheme.timestamp_header else ""


def _require_header(headers: Mapping[str, str], name: str) -> str:
    """Return the value of a header; raise an error if it is missing."""
    value = headers.get(name.lower(), "")
    if not value:
        raise BadSignature(f"the header {name} is missing")
    return value


def _signed_text(scheme: Scheme, message_id: str, timestamp: str, body: bytes) -> bytes:
    """Return the bytes that are signed."""
    values = {"{body}": body}
    if "{id}" in scheme.signed:
        # A dot in the id, or a timestamp that is not plain digits, would let one signed
        # text be cut into id, timestamp and body in two ways.
        plain = message_id.isascii() and message_id.isprintable()
        if not message_id or not plain or {".", " "} & {*message_id}:
            raise BadSignature("the message id must be plain text without a dot or space")
        values["{id}"] = message_id.encode()
    if "{timestamp}" in scheme.signed:
        if not (timestamp.isascii() and timestamp.isdigit() and _timestamp_unit(timestamp)):
            raise BadSignature("the timestamp must be seconds or milliseconds since 1970")
        values["{timestamp}"] = timestamp.encode()
    pieces = _PLACEHOLDERS.split(scheme.signed)
    return b"".join([values.get(piece, piece.encode()) for piece in pieces])


def _timestamp_unit(timestamp: str) -> int:
    """Return 1 for a timestamp in seconds, 1000 for milliseconds, else 0."""
    return 1 if len(timestamp) <= 12 else 1000 if len(timestamp) == 13 else 0


def _digest(scheme: Scheme, key: bytes, signed: bytes) -> str:
    """Compute the signature of a text, encoded as the scheme says."""
    digest = hmac.digest(key, signed, getattr(hashlib, scheme.algorithm))
    return digest.hex() if scheme.encoding == "hex" else base64.b64encode(digest).decode()
