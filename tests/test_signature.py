"""Signatures: as an independent library makes them, and BadSignature for every other."""

import base64
import dataclasses
import gzip
import hashlib
import hmac
import json
import random
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook
from volume import volume

import chatkit
from chatkit.signature import SCHEMES, BadSignature, Scheme, sign, verify

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
    others = {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": library.sign(message_id, now, text),
    }
    assert others == ours
    verify(text.encode(), others, SECRET, now=seconds)


def test_the_secret_read_as_base64_is_another_key() -> None:
    wrong = Webhook(SECRET)
    signature = wrong.sign("msg_1", datetime.fromtimestamp(NOW, UTC), BODY.decode())
    with pytest.raises(BadSignature):
        verify(BODY, headers() | {"webhook-signature": signature}, SECRET, now=NOW)


@given(st.binary(max_size=300))
def test_sha256_hex_is_the_hmac_of_the_body_alone(body: bytes) -> None:
    made = sign("sha256_hex", SECRET, "msg_1", NOW, body)
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert made == {"X-Hub-Signature-256": f"sha256={digest}"}
    verify(body, made, SECRET, scheme="sha256_hex", now=0)


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
        verify(body, hostile, secret, scheme=scheme, now=NOW)


def test_the_tolerance_is_exact_at_both_bounds_and_can_be_told() -> None:
    for age in (300, -300):
        verify(BODY, headers(at=NOW - age), SECRET, now=NOW)
    for age in (301, -301):
        with pytest.raises(BadSignature, match="301 s"):
            verify(BODY, headers(at=NOW - age), SECRET, now=NOW)
    with pytest.raises(BadSignature):
        verify(BODY, headers(), SECRET, now=NOW + 6, tolerance=5)
    verify(BODY, headers(), SECRET, now=NOW + 6, tolerance=6)


def test_one_of_several_signatures_is_enough_under_names_in_any_case() -> None:
    old = sign("standard_webhooks", OTHER, "msg_1", NOW, BODY)["webhook-signature"]
    both = {name.upper(): value for name, value in headers().items()}
    both["WEBHOOK-SIGNATURE"] = f"v1a,xyz {old} {both['WEBHOOK-SIGNATURE']}"
    for secret in (SECRET, OTHER):
        verify(BODY, both, secret, now=NOW)
    many = headers() | {"webhook-signature": "v1,AAAA " * 21}
    with pytest.raises(BadSignature, match="more than 20"):  # before it costs time
        verify(BODY, many, SECRET, now=NOW)


def test_the_signed_text_cannot_be_cut_in_another_place() -> None:
    signed = sign("standard_webhooks", SECRET, "a", NOW, b"12.rest")
    moved = signed | {"webhook-id": f"a.{NOW}", "webhook-timestamp": "12"}
    with pytest.raises(BadSignature, match="message id"):
        verify(b"rest", moved, SECRET, now=12)


@pytest.mark.parametrize("secret", ["", "Ünicode"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_secret_that_cannot_be_used_is_refused_without_being_shown(
    scheme: str, secret: str
) -> None:
    with pytest.raises(BadSignature) as caught:
        sign(scheme, secret, "msg_1", NOW, BODY)
    assert not secret or secret not in str(caught.value)
    with pytest.raises(BadSignature, match="standard_webhooks, sha256_hex"):
        sign("rot13", SECRET, "msg_1", NOW, BODY)
    with pytest.raises(BadSignature):
        verify(BODY, headers(scheme=scheme), secret, scheme=scheme, now=NOW)


def test_a_scheme_says_how_the_secret_becomes_a_key() -> None:
    for key, raw in (
        ("ascii", SECRET.encode()),
        ("hex", bytes.fromhex(SECRET)),
        ("base64", base64.b64decode(SECRET)),
    ):
        scheme = dataclasses.replace(SCHEMES["sha256_hex"], key=key)
        made = sign(scheme, SECRET, "msg_1", NOW, BODY)
        digest = hmac.new(raw, BODY, hashlib.sha256).hexdigest()
        assert made["X-Hub-Signature-256"] == f"sha256={digest}"
        verify(BODY, made, SECRET, scheme=scheme, now=NOW)


# Forms that other services use: a scheme is a value, so that each is a line of data.
IN_ONE_HEADER = Scheme(
    signature_header="Signed",
    prefix="v1=",
    encoding="hex",
    key="ascii",
    signed="{timestamp}.{body}",
    separator=",",
    timestamp_prefix="t=",
)
VERSIONED = Scheme(
    signature_header="X-Signature",
    prefix="v0=",
    encoding="hex",
    key="ascii",
    timestamp_header="X-Timestamp",
    signed="v0:{timestamp}:{body}",
    algorithm="sha512",
)


def test_a_scheme_may_keep_its_timestamp_in_the_signature_header() -> None:
    made = sign(IN_ONE_HEADER, SECRET, "msg_1", NOW, BODY)
    digest = hmac.new(SECRET.encode(), f"{NOW}.".encode() + BODY, hashlib.sha256).hexdigest()
    assert made == {"Signed": f"t={NOW},v1={digest}"}
    verify(BODY, made, SECRET, scheme=IN_ONE_HEADER, now=NOW + 300)
    with pytest.raises(BadSignature, match="301 s old"):
        verify(BODY, made, SECRET, scheme=IN_ONE_HEADER, now=NOW + 301)
    for hostile in (f"v1={digest}", f"t={NOW},t={NOW},v1={digest}", f"t=,v1={digest}"):
        with pytest.raises(BadSignature, match="timestamp"):
            verify(BODY, {"Signed": hostile}, SECRET, scheme=IN_ONE_HEADER, now=NOW)


def test_a_scheme_says_the_text_and_the_algorithm() -> None:
    made = sign(VERSIONED, SECRET, "msg_1", NOW, BODY)
    text = f"v0:{NOW}:".encode() + BODY
    digest = hmac.new(SECRET.encode(), text, hashlib.sha512).hexdigest()
    assert made == {"X-Signature": f"v0={digest}", "X-Timestamp": str(NOW)}
    verify(BODY, made, SECRET, scheme=VERSIONED, now=NOW)


def test_the_key_of_a_whsec_secret_is_what_the_library_takes() -> None:
    raw = bytes(range(32))
    secret = "whsec_" + base64.b64encode(raw).decode()
    scheme = dataclasses.replace(SCHEMES["standard_webhooks"], key="whsec")
    now = datetime.now(UTC)
    made = sign(scheme, secret, "msg_1", int(now.timestamp()), BODY)
    assert made["webhook-signature"] == Webhook(secret).sign("msg_1", now, BODY.decode())
    with pytest.raises(BadSignature, match="whsec"):
        sign(scheme, secret.removeprefix("whsec_"), "msg_1", NOW, BODY)


def test_while_a_secret_is_changed_the_old_one_and_the_new_one_fit_and_no_third() -> None:
    for secret in (SECRET, OTHER):
        made = sign("standard_webhooks", secret, "msg_1", NOW, BODY)
        verify(BODY, made, [OTHER, SECRET], now=NOW)
    third = sign("standard_webhooks", "e" * 64, "msg_1", NOW, BODY)
    with pytest.raises(BadSignature, match="no signature"):
        verify(BODY, third, [OTHER, SECRET], now=NOW)
    with pytest.raises(BadSignature, match="no signing secret"):
        verify(BODY, made, [], now=NOW)


@pytest.mark.parametrize("scheme", [*SCHEMES.values(), IN_ONE_HEADER, VERSIONED])
def test_thousands_of_mutations_of_each_scheme_are_refused(scheme: Scheme) -> None:
    rng = random.Random(7)
    whole = sign(scheme, SECRET, "msg_1", NOW, BODY)
    taken = 0
    while taken < volume(2_500):
        sent, body = dict(whole), bytearray(BODY)
        if rng.random() < 0.5:
            body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
        else:
            name = rng.choice([*sent])
            text, position = sent[name], rng.randrange(len(sent[name]))
            letter = chr(rng.randrange(33, 127))
            mutation = rng.choice(
                [letter + text[position:], letter + text[position + 1 :], text[position + 1 :]]
            )
            sent[name] = text[:position] + mutation
            # Between two entries, or before the first, another entry may stand and do no harm.
            if set(whole[name].split(scheme.separator)) <= set(sent[name].split(scheme.separator)):
                continue
        try:
            verify(bytes(body), sent, SECRET, scheme=scheme, now=NOW)
        except BadSignature:
            taken += 1
        else:
            raise AssertionError(f"accepted: {sent}, {bytes(body)!r}")


LONG = "9f" * 32
BLANKS = "\n\r\t \u00a0\u200b\ufeff\u2028\u2060\u202a\x00"
EXCESS = [
    *[f"{LONG}{blank}" for blank in (*BLANKS, "\r\n")], *[f"{blank}{LONG}" for blank in BLANKS],
    *[f"{pair[0]}{LONG}{pair[-1]}" for pair in ('"', "'", "`", "“”", "‘’", "„“", "«»", "「」")],
    f"＂{LONG}", f"<{LONG}>", f'"{LONG}', f"{LONG}'", f'"{LONG}"\n', f"{LONG},", f"{LONG};",
    f"{LONG}\\n",
    f"{LONG[:32]}\n{LONG[32:]}", f"{LONG[:32]} {LONG[32:]}", f"{LONG[:9]}\u200b{LONG[9:]}",
    f"{LONG[:9]}\u00ad{LONG[9:]}", f"Secret: {LONG}", f'webhook_secret="{LONG}"',
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", '"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"',
    "a secret ", " a secret", "a\tsecret", "a\u00a0secret", '"a secret"', "a secret\n",
]  # fmt: skip
FIT = [LONG, LONG.upper(), "a secret", "it's mine", "p@ss <word>!", "-_+/=.~", "whsec_AAAA", "x,"]


@pytest.mark.parametrize("secret", EXCESS)
def test_a_secret_that_was_copied_with_something_else_is_refused_by_its_name(secret: str) -> None:
    for use in (
        lambda: sign("standard_webhooks", secret, "msg_1", NOW, BODY),
        lambda: verify(BODY, headers(), [SECRET, secret], now=NOW),
    ):
        with pytest.raises(BadSignature, match=r"has a .* (at its|in it).* alone") as caught:
            use()
        assert LONG[:9] not in str(caught.value)
    for fit in FIT:  # a secret of ordinary letters and signs is taken
        verify(BODY, sign("standard_webhooks", fit, "msg_1", NOW, BODY), fit, now=NOW)


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_a_packed_body_fits_by_either_of_its_forms(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(BODY)
    for signed in (BODY, packed):
        verify(packed, sign("standard_webhooks", SECRET, "msg_1", NOW, signed), SECRET, now=NOW)
    for other in (pack(b"{}"), packed[:-4], pack(b" " * 20_000_000), b"x" + BODY):
        with pytest.raises(BadSignature, match="no signature"):
            verify(other, headers(), SECRET, now=NOW)


@pytest.mark.parametrize("scheme", ["standard_webhooks", IN_ONE_HEADER, VERSIONED])
def test_a_timestamp_in_milliseconds_is_as_old_as_one_in_seconds(scheme: str | Scheme) -> None:
    made = sign(scheme, SECRET, "msg_1", NOW * 1000 + 999, BODY)
    verify(BODY, made, SECRET, scheme=scheme, now=NOW + 300)
    with pytest.raises(BadSignature, match="301 s old"):
        verify(BODY, made, SECRET, scheme=scheme, now=NOW + 301)
    with pytest.raises(BadSignature, match="seconds or milliseconds"):
        sign(scheme, SECRET, "msg_1", NOW * 1_000_000, BODY)


def test_what_a_framework_hands_over_is_taken_and_what_it_parsed_is_explained() -> None:
    now = int(time.time())
    made = sign("standard_webhooks", SECRET, "msg_1", now, BODY)
    for body in (BODY, bytearray(BODY), memoryview(BODY), BODY.decode()):
        chatkit.verify(body, [*made.items()], SECRET)  # type: ignore[arg-type]
    for body, secret, reason in (
        (json.loads(BODY), SECRET, "bytes that came, not dict"),
        (BODY, SECRET.encode(), "is text, not bytes"),
        (BODY, None, "is text, not NoneType"),
    ):
        with pytest.raises(chatkit.errors.BadSignature, match=reason):
            chatkit.verify(body, made, secret)  # type: ignore[arg-type]
