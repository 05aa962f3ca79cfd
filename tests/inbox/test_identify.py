"""A person with one captured delivery finds out how it was signed."""

import dataclasses
import re
from itertools import product

import pytest

from chatkit.inbox.identify import identify_scheme
from chatkit.signature import SCHEMES, BadSignature, Scheme, sign, verify

SECRET = "0123456789abcdef" * 4
NOW = 1_750_000_000
BODY = '{"event":"chat.message.status","data":{"name":"Zoë"}}'.encode()
NOISE = {
    "host": "hooks.example",
    "content-type": "application/json",
    "content-length": "60",
    "x-request-id": "f" * 64,
    "date": "Fri, 20 Nov 2026 12:00:00 GMT",
}
OTHERS = {
    "a timestamp in the header of the signature": Scheme(
        "Signed", "v1=", "hex", "ascii", signed="{timestamp}.{body}", separator=",",
        timestamp_prefix="t=",
    ),
    "a version in the signed text": Scheme(
        "X-Signature", "v0=", "hex", "ascii", timestamp_header="X-Timestamp",
        signed="v0:{timestamp}:{body}",
    ),
    "no prefix, SHA-512": Scheme("X-Hmac", "", "base64", "hex", algorithm="sha512"),
    "SHA-1": Scheme("X-Hub-Signature", "sha1=", "hex", "ascii", algorithm="sha1"),
    "an id and no timestamp": Scheme(
        "X-Sign", "", "hex", "ascii", id_header="X-Event-Id", signed="{id}.{body}"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEMES)
def test_a_scheme_of_the_profile_is_found_by_its_name(name: str) -> None:
    headers = NOISE | sign(name, SECRET, "msg_1", NOW, BODY)
    found = identify_scheme({k.title(): v for k, v in headers.items()}, BODY, SECRET)
    assert (found.name, found.scheme) == (name, SCHEMES[name])
    assert f"ServiceProfile(signature_scheme={name!r})" in str(found)


@pytest.mark.parametrize(
    ("name", "key"), [*product(SCHEMES, ["hex", "base64"])], ids=lambda value: value
)
def test_another_reading_of_the_secret_is_found(name: str, key: str) -> None:
    scheme = dataclasses.replace(SCHEMES[name], key=key)
    headers = NOISE | sign(scheme, SECRET, "msg_1", NOW, BODY)
    found = identify_scheme(headers, BODY, SECRET)
    assert (found.name, found.scheme) == (None, scheme)
    assert f"the secret read as {key}; no known name" in str(found)


@pytest.mark.parametrize("what", OTHERS)
def test_a_scheme_of_other_services_is_found_and_verifies(what: str) -> None:
    headers = NOISE | sign(OTHERS[what], SECRET, "msg_1", NOW, BODY)
    found = identify_scheme(headers, BODY, SECRET)
    assert found.scheme == OTHERS[what]
    verify(found.scheme, SECRET, headers, BODY, now=NOW)
    assert ("guards against replays" in str(found)) == ("{timestamp}" in found.scheme.signed)


def test_the_second_of_two_signatures_is_found() -> None:
    headers = sign("standard_webhooks", SECRET, "msg_1", NOW, BODY)
    old = sign("standard_webhooks", "f" * 64, "msg_1", NOW, BODY)["webhook-signature"]
    headers["webhook-signature"] = f"{old} {headers['webhook-signature']}"
    assert identify_scheme(headers, BODY, SECRET).name == "standard_webhooks"


@pytest.mark.parametrize(("secret", "body"), [("f" * 64, BODY), (SECRET, BODY + b"\n"), ("", BODY)])
def test_a_wrong_secret_or_body_identifies_nothing_and_is_not_shown(
    secret: str, body: bytes
) -> None:
    headers = NOISE | sign("standard_webhooks", SECRET, "msg_1", NOW, BODY)
    with pytest.raises(BadSignature, match="webhook-signature, x-request-id") as caught:
        identify_scheme(headers, body, secret)
    assert not secret or secret not in str(caught.value)


def test_a_delivery_without_a_signature_is_told_so() -> None:
    with pytest.raises(BadSignature, match="no header looks like a signature"):
        identify_scheme({"content-type": "application/json"}, BODY, SECRET)


def test_the_answer_never_holds_the_secret() -> None:
    found = identify_scheme(sign("sha256_hex", SECRET, "m", NOW, BODY), BODY, SECRET)
    assert not re.search(SECRET[:16], f"{found!r} {found}")
