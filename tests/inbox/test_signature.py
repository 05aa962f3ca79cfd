"""Signatures: an independent library as witness, and nothing but BadSignature for a forger."""

import base64
import dataclasses
import hashlib
import hmac
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from chatkit.inbox.signature import SCHEMES, BadSignature, sign, verify

SECRET = "0123456789abcdef" * 4
OTHER = "f" * 64
NOW = 1_750_000_000
BODY = '{"event":"chat.message.status","data":{"name":"Zoë"}}'.encode()

ids = st.text("abcdefghijklmnopqrstuvwxyz0123456789_-", min_size=1, max_size=40)


def headers(body: bytes = BODY, scheme: str = "standard_webhooks", at: int = NOW) -> dict[str, str]:
    return sign(scheme, SECRET, "msg_1", at, body)


@given(ids, st.text(max_size=200))
def test_the_library_accepts_what_we_sign_and_we_what_it_signs(message_id: str, text: str) -> None:
    # The library reads a str as base64, so the ASCII bytes of the secret go in as base64.
    library = Webhook(base64.b64encode(SECRET.encode()).decode())
    now = datetime.now(UTC)
    seconds = int(now.timestamp())
    ours = sign("standard_webhooks", SECRET, message_id, seconds, text.encode())
    library.verify(text.encode(), ours, json_parse=False)
    theirs = {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": library.sign(message_id, now, text),
    }
    assert theirs == ours
    verify("standard_webhooks", SECRET, theirs, text.encode(), now=seconds)


def test_the_secret_read_as_base64_is_another_key() -> None:
    wrong = Webhook(SECRET)
    signature = wrong.sign("msg_1", datetime.fromtimestamp(NOW, UTC), BODY.decode())
    with pytest.raises(BadSignature):
        verify(
            "standard_webhooks", SECRET, headers() | {"webhook-signature": signature}, BODY, now=NOW
        )


@given(st.binary(max_size=300))
def test_sha256_hex_is_the_hmac_of_the_body_alone(body: bytes) -> None:
    made = sign("sha256_hex", SECRET, "msg_1", NOW, body)
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert made == {"X-Hub-Signature-256": f"sha256={digest}"}
    verify("sha256_hex", SECRET, made, body, now=0)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(st.data())
def test_every_mutation_of_a_delivery_is_refused(scheme: str, data: st.DataObject) -> None:
    given_headers = headers(scheme=scheme)
    part = data.draw(st.sampled_from(["body", "secret", *given_headers]))
    body, secret = BODY, SECRET
    if part == "body":
        spot = data.draw(st.integers(0, len(BODY) * 8 - 1))
        flipped = bytearray(BODY)
        flipped[spot // 8] ^= 1 << spot % 8
        body = bytes(flipped)
    else:
        text = SECRET if part == "secret" else given_headers[part]
        spot = data.draw(st.integers(0, len(text) - 1))
        char = data.draw(st.characters().filter(lambda c: c != text[spot]))
        text = text[:spot] + char + text[spot + 1 :]
        if part == "secret":
            secret = text
        elif text.split() == given_headers[part].split():
            return
        else:
            given_headers[part] = text
    with pytest.raises(BadSignature):
        verify(scheme, secret, given_headers, body, now=NOW)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(
    st.dictionaries(
        st.sampled_from(
            ["webhook-id", "Webhook-Timestamp", "webhook-signature", "x-hub-signature-256"]
        ),
        st.one_of(
            st.text(),
            st.text(st.characters(categories=["Cs", "Cc", "Nd"])),
            st.sampled_from(
                ["v1", "v1,", "v1,a,b", "v1,====", "9" * 5000, "١٢٣", "1_0", "+1", "nan"]
            ),
        ),
    ),
    st.binary(),
    st.text(max_size=80),
)
def test_hostile_input_raises_bad_signature_and_nothing_else(
    scheme: str, hostile: dict[str, str], body: bytes, secret: str
) -> None:
    with pytest.raises(BadSignature):
        verify(scheme, secret, hostile, body, now=NOW)


@pytest.mark.parametrize(("age", "good"), [(300, True), (301, False), (-300, True), (-301, False)])
def test_the_tolerance_is_exact_at_both_bounds(age: int, good: bool) -> None:
    signed = headers(at=NOW - age)
    if good:
        verify("standard_webhooks", SECRET, signed, BODY, now=NOW)
    else:
        with pytest.raises(BadSignature, match="301 s"):
            verify("standard_webhooks", SECRET, signed, BODY, now=NOW)


def test_the_tolerance_can_be_told() -> None:
    with pytest.raises(BadSignature):
        verify("standard_webhooks", SECRET, headers(), BODY, now=NOW + 6, tolerance=5)
    verify("standard_webhooks", SECRET, headers(), BODY, now=NOW + 6, tolerance=6)


def test_one_of_several_signatures_is_enough_while_a_secret_is_changed() -> None:
    old = sign("standard_webhooks", OTHER, "msg_1", NOW, BODY)["webhook-signature"]
    both = headers()
    both["webhook-signature"] = f"v1a,xyz {old} {both['webhook-signature']}"
    verify("standard_webhooks", SECRET, both, BODY, now=NOW)
    verify("standard_webhooks", OTHER, both, BODY, now=NOW)


def test_header_names_are_compared_without_case() -> None:
    upper = {name.upper(): value for name, value in headers().items()}
    verify("standard_webhooks", SECRET, upper, BODY, now=NOW)


def test_the_signed_text_cannot_be_cut_in_another_place() -> None:
    signed = sign("standard_webhooks", SECRET, "a", NOW, b"12.rest")
    moved = signed | {"webhook-id": f"a.{NOW}", "webhook-timestamp": "12"}
    with pytest.raises(BadSignature, match="message id"):
        verify("standard_webhooks", SECRET, moved, b"rest", now=12)


@pytest.mark.parametrize("secret", ["", "Ünicode"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_secret_that_cannot_be_used_is_refused_without_being_shown(
    scheme: str, secret: str
) -> None:
    with pytest.raises(BadSignature) as caught:
        sign(scheme, secret, "msg_1", NOW, BODY)
    assert not secret or secret not in str(caught.value)
    with pytest.raises(BadSignature):
        verify(scheme, secret, headers(scheme=scheme), BODY, now=NOW)


def test_an_unknown_scheme_is_refused_and_the_right_ones_are_named() -> None:
    with pytest.raises(BadSignature, match="standard_webhooks, sha256_hex"):
        sign("rot13", SECRET, "msg_1", NOW, BODY)


@pytest.mark.parametrize("key", ["ascii", "hex", "base64"])
def test_a_scheme_says_how_the_secret_becomes_a_key(key: str) -> None:
    scheme = dataclasses.replace(SCHEMES["sha256_hex"], key=key)
    raw = {
        "ascii": SECRET.encode(),
        "hex": bytes.fromhex(SECRET),
        "base64": base64.b64decode(SECRET),
    }[key]
    made = sign(scheme, SECRET, "msg_1", NOW, BODY)
    digest = hmac.new(raw, BODY, hashlib.sha256).hexdigest()
    assert made["X-Hub-Signature-256"] == f"sha256={digest}"
    verify(scheme, SECRET, made, BODY, now=NOW)
