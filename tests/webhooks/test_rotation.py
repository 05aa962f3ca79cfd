"""Rotation: a new secret, and no moment in which a delivery cannot be verified."""

import json
import socket
from collections.abc import Iterator

import pytest
from bulk.applying import settled
from displayed import html_of
from hypothesis import given
from hypothesis import strategies as st
from internals import middleware_of
from listening import listening

import chatkit
from chatkit import ServiceProfile
from chatkit.client import Client
from chatkit.sandbox import Sandbox
from chatkit.sandbox.admin import Dropped
from chatkit.sandbox.interface import Request, ServiceAnswer
from chatkit.signature import verify
from chatkit.webhooks import make_unused_address

HOOK = "https://shop.example/hook"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(seed="empty") as sandbox:
        middleware_of(sandbox).delivery_worker.retries = ()
        yield sandbox


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[Client]:
    with chatkit.connect(sandbox) as client:
        yield client


def ids(client: Client) -> list[int]:
    return list(client.webhooks.frame().index)


def test_all_the_way(client: Client, sandbox: Sandbox) -> None:
    old = client.webhooks.create(url=HOOK, events=["chat.message.status"])
    rotation = client.webhooks.rotate(old.id)
    assert ids(client) == [old.id]  # nothing was sent
    assert rotation.plan.counts == {"create": 1, "update": 0, "delete": 0}
    result = rotation.apply()
    assert list(result.state) == ["applied"]
    new = client.webhooks.get(rotation.new_id)
    assert (new.url, new.events, new.is_active) == (f"{HOOK}?rotated=1", old.events, True)
    assert rotation.secret != old.webhook_secret
    with listening() as listener:
        sandbox.allow(HOOK, to=listener.url)
        sandbox.deliver("chat.message.status", {"n": 1})
    fits = 0
    for request in listener.requests:  # each is signed with its own secret
        head, _, body = request.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
        for secret in (old.webhook_secret, rotation.secret):
            try:
                now = int(headers["webhook-timestamp"])
                verify(body, headers, secret.reveal(), now=now)
                fits += 1
            except ValueError:
                continue
    assert (len(listener.requests), fits) == (2, 2)
    plan = rotation.finish()
    assert "does not prove that the receiver has the new secret" in plan.notes[-1]
    assert ids(client) == [old.id, new.id]  # nothing was sent
    with pytest.raises(chatkit.errors.PlanRefused, match="irreversible"):
        plan.apply()
    assert list(plan.apply(irreversible=True).state) == ["applied"]
    assert ids(client) == [new.id]


def test_the_old_one_stays_until_a_delivery_has_reached_the_new_one(
    client: Client, sandbox: Sandbox
) -> None:
    old = client.webhooks.create(url=HOOK, events=["*"])
    rotation = client.webhooks.rotate(old.id)
    with pytest.raises(chatkit.errors.InputError, match="is not there"):
        rotation.finish()
    rotation.apply()
    with pytest.raises(chatkit.errors.InputError, match="not in use yet"):
        rotation.finish()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        closed = taken.getsockname()[1]
    sandbox.allow(HOOK, to=f"http://127.0.0.1:{closed}/")
    sandbox.deliver("any", {})
    with pytest.raises(chatkit.errors.InputError, match="not in use yet"):
        rotation.finish()
    assert rotation.finish(unverified=True).counts["delete"] == 1
    client.webhooks.delete(rotation.new_id)
    for unverified in (False, True):
        with pytest.raises(chatkit.errors.InputError, match="is not there"):
            rotation.finish(unverified=unverified)
    assert ids(client) == [old.id]


def test_a_lost_create_loses_its_secret_and_the_old_one_stays(
    client: Client, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = client.webhooks.create(url=HOOK, events=["*"])
    rotation = client.webhooks.rotate(old.id)
    assert any("If that answer is lost, so is the secret" in note for note in rotation.plan.notes)
    answer, lost = middleware_of(sandbox).answer, [True]

    def losing(request: Request, started: float) -> ServiceAnswer:
        answered = answer(request, started)
        if request.method == "POST" and lost:
            lost.clear()
            raise Dropped
        return answered

    monkeypatch.setattr(middleware_of(sandbox), "answer", losing)
    result = settled(rotation.apply, settle=0.01)
    assert not lost
    assert len(ids(client)) == 2  # it was created, and nobody has its secret
    assert "signing secret was in that answer" in " ".join(map(str, result.reason))
    assert (rotation.new_id, rotation.secret) == (None, None)
    for unverified in (False, True):
        with pytest.raises(chatkit.errors.InputError, match="old one must stay"):
            rotation.finish(unverified=unverified)


@pytest.mark.parametrize("duplicates", ["refuse", "allow"])
def test_each_rotation_has_an_address_that_no_webhook_has(duplicates: str) -> None:
    profile = ServiceProfile(duplicate_webhook_url=duplicates)
    with Sandbox(seed="empty", profile=profile) as sandbox, chatkit.connect(sandbox) as client:
        key = client.webhooks.create(url=HOOK, events=["*"]).id
        for number in (1, 2):
            rotation = client.webhooks.rotate(key)
            assert rotation.plan.changes[0].after["url"] == f"{HOOK}?rotated={number}"
            rotation.apply()
            key = rotation.new_id
        assert len(client.webhooks.frame()) == 3


def test_an_address_of_ones_own_is_taken_and_one_that_exists_is_not(client: Client) -> None:
    old = client.webhooks.create(url=HOOK, events=["*"], is_active=False)
    made = [client.webhooks.create(url=f"{HOOK}/{n}", events=["*"]) for n in range(8)]
    assert client.webhooks.rotate(old.id, url=f"{HOOK}/new").plan.counts["create"] == 1
    for url, reason in ((made[0].url, "another webhook has this address"), ("http://x", "https")):
        with pytest.raises(chatkit.errors.InputError, match=reason):
            client.webhooks.rotate(old.id, url=url)
    rotation = client.webhooks.rotate(old.id)
    rotation.apply()
    assert client.webhooks.get(rotation.new_id).is_active is False
    with pytest.raises(chatkit.errors.InputError, match="at most 10 webhooks"):
        client.webhooks.rotate(made[0].id)


def test_it_shows_its_steps_and_warnings_and_never_the_secret(client: Client) -> None:
    old = client.webhooks.create(url=f"{HOOK}?<b>", events=["*"])
    rotation = client.webhooks.rotate(old.id)
    before = repr(rotation) + html_of(rotation)
    assert "rotation.apply() creates it" in before
    rotation.apply()
    after = repr(rotation) + html_of(rotation) + repr(rotation.plan)
    assert f"created as {rotation.new_id}" in after
    assert "<b>>" not in after
    assert "?&lt;b&gt;" in html_of(rotation)
    assert "If that answer is lost, so is the secret" in after
    assert rotation.secret.reveal() not in after + json.dumps(str(vars(rotation)))


@given(numbers=st.sets(st.integers(1, 5)))
@pytest.mark.parametrize(
    ("address", "taken", "outcome"),
    [
        ("", [], "/?rotated=1"),
        ("/x", [], "/x?rotated=1"),
        ("/x?b=c", [], "/x?b=c&rotated=1"),
        ("/?rotated=1", ["/?rotated=1"], "/?rotated=2"),
        ("/?b=c&rotated=7", [], "/?b=c&rotated=1"),
    ],
)
def test_the_unused_address_is_free_and_of_the_same_place(
    address: str, taken: list[str], outcome: str, numbers: set[int]
) -> None:
    others = {f"https://a.example/?rotated={number}" for number in numbers}
    assert make_unused_address("https://a.example/", others) not in others
    used = {f"https://a.example{each}" for each in taken}
    assert make_unused_address(f"https://a.example{address}", used) == f"https://a.example{outcome}"
