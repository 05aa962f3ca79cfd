"""Tests of the inspection of deliveries before storage: any bytes are accepted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inbox.senders import OTHER, SECRET

from chatkit.api.secret import MASK, Secret
from chatkit.inbox.delivery import DeliveryInspector
from chatkit.profile import ServiceProfile
from chatkit.signature import SCHEMES, BadSignature, Scheme, sign

NOW = 1_750_000_000
BODY = b'{"event":"chat.message.status","data":{}}'
KEYED = Scheme("X-Sign", "", "hex", "ascii", id_header="X-Id", signed="{id}.{body}")


def taken(body: bytes = BODY, message_id: str = "msg_1", secret: str = SECRET, age: int = 0):
    headers = sign("standard_webhooks", secret, message_id, NOW - age, body)
    inspector = DeliveryInspector(ServiceProfile(), [Secret(SECRET)])
    return inspector.inspect("/", [*headers.items()], body, NOW + 0.5)


def test_a_delivery_that_is_signed_is_verified_and_known_by_its_id() -> None:
    entry = taken()
    assert (entry.verified, entry.reason, entry.identity) == (True, "", "id:msg_1")
    assert (entry.kind, entry.is_json) == ("chat.message.status", True)
    assert (entry.received, entry.body, entry.path) == (NOW * 1_000_000 + 500_000, BODY, "/")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"secret": OTHER}, "no signature in webhook-signature fits this body and secret"),
        ({"age": 301}, "the delivery is signed rightly, but 301 s old; 300 s are allowed"),
    ],
)
def test_another_signature_is_kept_with_the_reason(changed: dict, reason: str) -> None:
    entry = taken(**changed)
    assert (entry.verified, entry.reason) == (False, reason)


def test_ids_that_differ_by_case_are_two_deliveries() -> None:
    """Services draw ids from letters of both cases: one would swallow the other."""
    assert taken(message_id="msg_aB").identity != taken(message_id="msg_Ab").identity


def test_nobody_takes_the_place_of_a_real_delivery() -> None:
    """Else a forger who knows an id could hide the delivery that comes later under it."""
    forged = taken(body=b'{"event":"other"}', secret=OTHER)
    assert forged.identity != taken().identity
    stale = taken(age=301)
    assert stale.identity != taken().identity
    assert stale.identity == taken(secret=OTHER).identity, "a repeat of the same forgery is one"


def test_without_an_id_in_the_signature_the_body_tells_repeats_apart() -> None:
    profile = ServiceProfile(signature_scheme="sha256_hex")
    inspector = DeliveryInspector(profile, [Secret(SECRET)])
    identities = set()
    for body in (BODY, BODY, BODY + b" "):
        headers = [*sign("sha256_hex", SECRET, "-", NOW, body).items(), ("webhook-id", "same")]
        identities.add(inspector.inspect("/", headers, body, NOW).identity)
    assert len(identities) == 2
    assert all(identity.startswith("sha256:") for identity in identities)


def test_a_scheme_that_has_no_name_is_taken_as_a_value() -> None:
    inspector = DeliveryInspector(ServiceProfile(), [Secret(SECRET)], KEYED)
    entry = inspector.inspect("/", [*sign(KEYED, SECRET, "a", NOW, BODY).items()], BODY, NOW)
    assert (entry.verified, entry.identity) == (True, "id:a")


def test_without_a_secret_nothing_is_verified() -> None:
    headers = [*sign("standard_webhooks", SECRET, "m", NOW, BODY).items()]
    entry = DeliveryInspector(ServiceProfile()).inspect("/", headers, BODY, NOW)
    assert (entry.verified, entry.reason) == (
        False,
        "no signing secret was given to the receiver",
    )


def test_while_a_secret_is_changed_both_are_accepted_and_then_the_new_one_alone() -> None:
    inspector = DeliveryInspector(ServiceProfile(), [Secret(SECRET), Secret(OTHER)])

    def verified(secret: str) -> bool:
        headers = [*sign("standard_webhooks", secret, "m", NOW, BODY).items()]
        return inspector.inspect("/", headers, BODY, NOW).verified

    assert verified(SECRET) and verified(OTHER)
    inspector.set_secrets([Secret(OTHER)])
    assert (verified(SECRET), verified(OTHER)) == (False, True)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_secret_that_cannot_be_used_is_refused_at_once_and_not_shown(scheme: str) -> None:
    with pytest.raises(BadSignature) as caught:
        DeliveryInspector(ServiceProfile(signature_scheme=scheme), [Secret("Ünusable")])
    assert "nusable" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "kind", "is_json", "reason"),
    [
        (b"", None, False, "not JSON"),
        (b"<html>", None, False, "not JSON"),
        (b'{"event":"a"', None, False, "not JSON"),
        (b'{"event":"\xff"}', None, False, "not JSON"),
        (b"[" * 100_000, None, False, "too deeply"),
        (b'["a"]', None, True, ""),
        (b'{"event":7}', None, True, ""),
        (b'{"event":"a\\u0000b"}', "a\ufffdb", True, ""),
        (b'{"event":"%s"}' % (b"k" * 300), "k" * 200, True, ""),
    ],
)
def test_a_body_of_any_shape_is_kept_and_described(
    body: bytes, kind: str | None, is_json: bool, reason: str
) -> None:
    entry = taken(body=body)
    assert (entry.kind, entry.is_json, entry.verified) == (kind, is_json, True)
    assert reason in entry.reason and entry.body == body


def test_the_kind_stands_where_the_profile_says() -> None:
    inspector = DeliveryInspector(ServiceProfile(event_kind_field="type"))
    assert inspector.inspect("/", [], b'{"type":"a","event":"b"}', NOW).kind == "a"


def test_passwords_of_proxies_are_not_kept() -> None:
    secret = ["Authorization", "Proxy-Authorization", "PROXY-AUTHORIZATION", "cookie"]
    headers = [*((name, "Basic hidden") for name in secret), ("X-A", "1"), ("x-a", "2")]
    kept = json.loads(DeliveryInspector(ServiceProfile()).inspect("/", headers, BODY, NOW).headers)
    assert kept == [*([name, MASK] for name in secret), ["X-A", "1"], ["x-a", "2"]]


@given(
    st.binary(max_size=200),
    st.lists(st.tuples(st.sampled_from(["webhook-id", "webhook-signature", "x"]), st.text())),
    st.text(),
)
def test_anything_can_be_taken(body: bytes, headers: list[tuple[str, str]], path: str) -> None:
    entry = DeliveryInspector(ServiceProfile(), [Secret(SECRET)]).inspect(path, headers, body, NOW)
    assert entry.body == body and not entry.verified
    for text in (entry.path, entry.reason, entry.identity, entry.headers):
        assert b"\x00" not in text.encode()
