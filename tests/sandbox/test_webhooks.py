"""Webhooks: at most ten, their secrets told once."""

import re
import threading

import pytest
from caller import Caller
from internals import service_of
from profiles import Service

from chatkit.sandbox import Sandbox

RENDERED = [
    "id", "url", "is_active", "events", "has_signing_secret", "last_delivery_at",
    "last_delivery_status", "last_delivery_http_status", "last_delivery_error", "created_at",
    "updated_at",
]  # fmt: skip


@pytest.fixture
def call():
    with Sandbox(seed="empty") as sandbox:
        yield Caller(sandbox)


def under(**points):
    return Caller(Service.of(**points).sandbox())


def test_the_secret_is_told_when_a_webhook_is_created_and_never_again(call):
    reply = call.webhook()
    assert (reply.status, list(reply.data)) == (201, [*RENDERED, "webhook_secret"])
    assert re.fullmatch("[0-9a-f]{64}", reply.data["webhook_secret"])
    assert (reply.data["is_active"], reply.data["has_signing_secret"]) == (True, True)
    (item,) = call("GET", "/webhooks").data
    assert list(item) == RENDERED
    patched = call("PATCH", f"/webhooks/{item['id']}", {"is_active": False})
    assert list(patched.data) == RENDERED


def test_an_update_tells_the_secret_of_a_service_with_that_quirk():
    call = under(secret_in_update=True)
    made = call.webhook().data
    patched = call("PATCH", f"/webhooks/{made['id']}", {"is_active": False}).data
    assert patched["webhook_secret"] == made["webhook_secret"]


def test_an_update_changes_what_is_sent_and_nothing_else(call):
    made = call.webhook(events=["chat.message.status"]).data
    reply = call("PATCH", f"/webhooks/{made['id']}", {"is_active": False})
    assert reply.status == 200
    assert reply.data["updated_at"] > made.pop("updated_at")
    made.pop("webhook_secret")
    assert reply.data | made | {"is_active": False} == reply.data
    assert call("PATCH", f"/webhooks/{made['id']}", {}).data["is_active"] is False


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example", "https://hooks.example:8443/a/b?c=d", "HTTPS://Hooks.Example/",
        "https://127.0.0.1/", "https://[::1]:1/x", "https://xn--e1afmkfd.example/%20", "https://a",
    ],
)  # fmt: skip
def test_https_urls_are_taken(call, url):
    assert call.webhook(url).data["url"] == url


@pytest.mark.parametrize(
    "url",
    [
        "", "http://hooks.example/", "ftp://hooks.example/", "hooks.example", "//hooks.example/",
        "https://", "https:///x", "https://?x", "https:hooks.example", "https://a b/", "https://-a/",
        "https://user@hooks.example/", "https://hooks.example/\n", "https://hooks.example/\0",
        "https://höoks.example/", " https://hooks.example/", "https://hooks.example:/",
        "https://hooks.example:123456/", "javascript:alert(1)", "https://hooks.example/#é",
        None, 7, [],
    ],
)  # fmt: skip
def test_other_urls_are_refused(call, url):
    assert call.webhook(url).status == 422
    made = call.webhook().data["id"]
    assert call("PATCH", f"/webhooks/{made}", {"url": url}).status == 422


@pytest.mark.parametrize(
    "change",
    [{"events": None}, {"events": "*"}, {"events": [1]}, {"is_active": 1}, {"is_active": None}],
)
def test_a_body_that_breaks_a_rule_is_invalid(call, change):
    assert (
        call("POST", "/webhooks", {"url": "https://a.example", "events": ["*"]} | change).status
        == 422
    )


def test_url_and_events_are_required(call):
    reply = call("POST", "/webhooks", {})
    assert [error["field"] for error in reply.json["errors"]] == ["url", "events"]


def test_the_eleventh_is_refused_until_another_is_deleted(call):
    for at in range(10):
        assert call.webhook(f"https://hooks.example/{at}", is_active=False).status == 201
    assert call.webhook("https://hooks.example/10").status == 422
    first = call("GET", "/webhooks").data[0]["id"]
    assert call("DELETE", f"/webhooks/{first}").data is None
    assert call.webhook("https://hooks.example/10").status == 201
    assert call.webhook("https://hooks.example/11").status == 422


def test_the_tenth_url_wins_once(call):
    for at in range(9):
        call.webhook(f"https://hooks.example/{at}")
    statuses = []
    barrier = threading.Barrier(8)

    def create(at):
        barrier.wait()
        statuses.append(call.webhook(f"https://hooks.example/many/{at}").status)

    threads = [threading.Thread(target=create, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201] + [422] * 7
    assert len(call("GET", "/webhooks").data) == 10


def test_a_url_registered_twice_is_as_the_profile_says(call):
    made = call.webhook("https://hooks.example/a").data["id"]
    other = call.webhook("https://hooks.example/b").data["id"]
    assert call.webhook("https://hooks.example/a").status == 409
    assert call("PATCH", f"/webhooks/{other}", {"url": "https://hooks.example/a"}).status == 409
    assert call("PATCH", f"/webhooks/{made}", {"url": "https://hooks.example/a"}).status == 200
    call("DELETE", f"/webhooks/{made}")
    assert call("PATCH", f"/webhooks/{other}", {"url": "https://hooks.example/a"}).status == 200
    allowing = under(duplicate_webhook_url="allow")
    assert [allowing.webhook().status for _ in range(2)] == [201, 201]


def test_any_event_kind_is_taken(call):
    assert call.webhook(events=["any.kind", ""]).status == 201


def test_a_single_webhook_cannot_be_read(call):
    assert call("GET", f"/webhooks/{call.webhook().data['id']}").status == 405


def test_active_webhooks_are_those_that_ask_for_the_kind(call):
    ask = {"a": ["*"], "b": ["chat.message.status"], "c": ["other"], "d": []}
    made = {name: call.webhook(f"https://hooks.example/{name}", events=events).data
            for name, events in ask.items()}  # fmt: skip
    webhooks = service_of(call.sandbox).webhooks
    result = webhooks.find_subscribed("1001", "chat.message.status")
    assert [webhook.url[-1] for webhook in result] == ["a", "b"]
    assert [webhook.secret for webhook in result] == [made[n]["webhook_secret"] for n in "ab"]
    assert made["a"]["webhook_secret"] not in repr(result)
    call("PATCH", f"/webhooks/{made['a']['id']}", {"is_active": False})
    assert [webhook.url[-1] for webhook in webhooks.find_subscribed("1001", "other")] == ["c"]


def test_the_latest_delivery_is_shown(call):
    made = call.webhook().data
    service_of(call.sandbox).webhooks.record_delivery(
        "1001", made["id"], "failed", 500, "the receiver answered 500"
    )
    (item,) = call("GET", "/webhooks").data
    assert (item["last_delivery_status"], item["last_delivery_http_status"]) == ("failed", 500)
    assert item["last_delivery_error"] == "the receiver answered 500"
    assert item["last_delivery_at"] > made["created_at"]
    assert item["updated_at"] == made["updated_at"]
    call("DELETE", f"/webhooks/{made['id']}")
    service_of(call.sandbox).webhooks.record_delivery("1001", made["id"], "delivered", 200, None)
    assert call("GET", "/webhooks").data == []


def test_a_delivery_needs_a_webhook_that_is_active(call):
    made = call.webhook().data
    webhooks = service_of(call.sandbox).webhooks
    result = webhooks.find_active_webhook("1001", made["id"])
    assert (result.url, result.secret) == (made["url"], made["webhook_secret"])
    assert webhooks.find_active_webhook("2002", made["id"]) is None
    call("PATCH", f"/webhooks/{made['id']}", {"is_active": False})
    assert webhooks.find_active_webhook("1001", made["id"]) is None
    call("PATCH", f"/webhooks/{made['id']}", {"is_active": True})
    call("DELETE", f"/webhooks/{made['id']}")
    assert webhooks.find_active_webhook("1001", made["id"]) is None
