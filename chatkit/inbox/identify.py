"""Which scheme signed this? A tool for a person with one captured delivery.

The API document does not say how deliveries are signed (section Events). With one real
delivery and its secret the answer can be found: there are few ways in use, and a
signature fits one of them by chance never. What is found goes into the profile. A
receiver never searches: it would accept the weakest scheme that a forger can think of.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from chatkit.secret import Secret
from chatkit.signature import SCHEMES, BadSignature, Scheme, key_of

_ALGORITHMS: dict[int, Any] = {32: "sha256", 20: "sha1", 48: "sha384", 64: "sha512"}
_KEYS: tuple[Any, ...] = ("ascii", "hex", "base64", "whsec")
#: What may be signed; where the body stands between a timestamp and an id.
_TEXTS = (
    *("{body}", "{timestamp}.{body}", "{id}.{timestamp}.{body}", "{timestamp}{body}"),
    *("{timestamp}:{body}", "v0:{timestamp}:{body}", "{timestamp}.{id}.{body}", "{id}.{body}"),
    *("{id}{timestamp}{body}", "{timestamp}{id}{body}", "{body}{timestamp}", "{body}.{timestamp}"),
)
_DIGITS = re.compile("[0-9]{9,12}")
_TIME_PART = re.compile("(?P<prefix>[a-z_]{1,20}=)(?P<digits>[0-9]{9,12})")
_ENTRY = re.compile("(?P<prefix>[A-Za-z0-9_-]{1,20}[=,:])?(?P<digest>[A-Za-z0-9+/]{26,128}={0,2})")
_MOST_HEADERS = 100


@dataclass(frozen=True, slots=True)
class Identified:
    """A scheme that fits one delivery: its name among `SCHEMES` if it has one, and its time."""

    scheme: Scheme
    name: str | None
    timestamp: int | None

    def __str__(self) -> str:
        s = self.scheme
        known = f"ServiceProfile(signature_scheme={self.name!r})" if self.name else "no known name"
        replay = (
            "no timestamp is signed: a captured delivery can be sent again"
            if self.timestamp is None
            else f"a signed timestamp, here {self.timestamp}, guards against replays"
        )
        return (
            f"{s.signature_header}: {s.prefix}<{s.encoding} of HMAC-{s.algorithm.upper()}> over "
            f"{s.signed}, the secret read as {s.key}; {known}; {replay}"
        )


class _Claim(NamedTuple):
    """One entry of one header that can be a signature."""

    header: str
    prefix: str
    separator: str
    encoding: Any
    digest: bytes


def identify_scheme(headers: Mapping[str, str], body: bytes, secret: str | Secret) -> Identified:
    """Find out how one captured delivery was signed.

    Args:
        headers: All its headers.
        body: Its body, the exact bytes.
        secret: The signing secret of the registration it came for.

    Raises:
        BadSignature: Nothing that is in use fits: another secret, a changed body, a header
            that got lost in a proxy, or a scheme nobody has seen yet.
    """
    secret = Secret(secret)  # a traceback that prints variables must not find its text
    pairs = [(str(name), str(value)) for name, value in headers.items()][:_MOST_HEADERS]
    claims = [claim for name, value in pairs for claim in _claims(name, value)]
    if not claims:
        raise BadSignature("no header looks like a signature: were all headers captured?")
    # The known ones first: what two of them would explain is the one with a name.
    for name, scheme in SCHEMES.items():
        for claim in claims:
            if claim.header.lower() == scheme.signature_header.lower():
                found = _fit(scheme, claim, secret, body, pairs)
                if found is not None and found.scheme == scheme:
                    return Identified(scheme, name, found.timestamp)
    for claim, text, key in product(claims, _TEXTS, _KEYS):
        guess = Scheme(
            signature_header=claim.header,
            prefix=claim.prefix,
            encoding=claim.encoding,
            key=key,
            algorithm=_ALGORITHMS[len(claim.digest)],
            signed=text,
            separator=claim.separator,
        )
        found = _fit(guess, claim, secret, body, pairs)
        if found is not None:
            return found
    tried = ", ".join(sorted({claim.header for claim in claims}))
    raise BadSignature(
        f"no scheme in use fits the signature in {tried}: check that the body is the exact bytes, "
        "and that the secret is that of this registration"
    )


def _claims(header: str, value: str) -> Iterator[_Claim]:
    """Every way to read a header as signatures. Only a digest of a known length is one."""
    for separator in (" ", ","):
        for part in value.split(None if separator == " " else separator)[:20]:
            match = _ENTRY.fullmatch(part.strip())
            if match is None:
                continue
            prefix, text = match["prefix"] or "", match["digest"]
            for encoding, digest in (("hex", _unhex(text)), ("base64", _unbase64(text))):
                if len(digest) in _ALGORITHMS:
                    yield _Claim(header, prefix, separator, encoding, digest)


def _unhex(text: str) -> bytes:
    try:
        return bytes.fromhex(text) if text == text.lower() else b""
    except ValueError:
        return b""


def _unbase64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return b""


def _fit(
    scheme: Scheme, claim: _Claim, secret: Secret, body: bytes, pairs: list[tuple[str, str]]
) -> Identified | None:
    """Complete a scheme with the headers that make the signature right, if any do."""
    try:
        key = key_of(scheme, secret)
    except BadSignature:
        return None
    algorithm = getattr(hashlib, scheme.algorithm)
    times = _times(claim, pairs) if "{timestamp}" in scheme.signed else [(None, "", "")]
    ids = _ids(claim, pairs) if "{id}" in scheme.signed else [(None, "")]
    for (time_header, time_prefix, moment), (id_header, message_id) in product(times, ids):
        text = scheme.signed.replace("{timestamp}", moment).replace("{id}", message_id)
        before, _, after = text.partition("{body}")
        signed = before.encode() + body + after.encode()
        if hmac.compare_digest(hmac.digest(key, signed, algorithm), claim.digest):
            whole = Scheme(
                **{name: getattr(scheme, name) for name in Scheme.__dataclass_fields__}
                | {
                    "id_header": id_header,
                    "timestamp_header": time_header,
                    "timestamp_prefix": time_prefix,
                }
            )
            for known in SCHEMES.values():  # header names have no case
                if _same(known, whole):
                    whole = known
            return Identified(whole, None, int(moment) if moment else None)
    return None


def _same(known: Scheme, found: Scheme) -> bool:
    def plain(scheme: Scheme) -> list[Any]:
        values = [getattr(scheme, name) for name in Scheme.__dataclass_fields__]
        headers = [scheme.signature_header, scheme.id_header, scheme.timestamp_header]
        return [v.lower() if isinstance(v, str) and v in headers else v for v in values]

    return plain(known) == plain(found)


def _times(claim: _Claim, pairs: list[tuple[str, str]]) -> list[tuple[str | None, str, str]]:
    """Headers, and parts of the signature header, that can be the signed timestamp."""
    times: list[tuple[str | None, str, str]] = [
        (name, "", value) for name, value in pairs if _DIGITS.fullmatch(value)
    ]
    for name, value in pairs:
        if name == claim.header:
            for part in value.split(None if claim.separator == " " else claim.separator):
                match = _TIME_PART.fullmatch(part.strip())
                if match is not None:
                    times.append((None, match["prefix"], match["digits"]))
    return times


def _ids(claim: _Claim, pairs: list[tuple[str, str]]) -> list[tuple[str | None, str]]:
    """Headers that can be the id of the message: short plain texts without a dot or space."""
    return [
        (name, value)
        for name, value in pairs
        if name != claim.header
        and "id" in name.lower()
        and 0 < len(value) <= 200
        and value.isascii()
        and value.isprintable()
        and not {".", " "} & {*value}
    ]
