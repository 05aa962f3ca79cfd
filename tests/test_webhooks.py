"""The room of webhook registrations, under every profile."""

import re

import pytest
from rooms import client, sandbox  # noqa: F401

import chatkit

HOOK = {"url": "https://shop.example/hook", "events": ["*"]}


def test_the_secret_is_in_the_answer_to_create_and_never_shown(client):
    webhook = client.webhooks.create(**HOOK)
    secret = webhook.webhook_secret.reveal()
    assert re.fullmatch("[0-9a-f]{64}", secret)
    for text in (repr(webhook), str(webhook), webhook.model_dump_json(), str(webhook.model_dump())):
        assert secret not in text
    assert client.webhooks.get(webhook.id).webhook_secret is None
    assert "webhook_secret" not in client.webhooks.frame().columns


def test_a_new_webhook_is_active_unless_told_otherwise(client):
    assert client.webhooks.create(**HOOK).is_active is True
    quiet = client.webhooks.create(url="https://shop.example/2", events=["*"], is_active=False)
    assert quiet.is_active is False


def test_the_frame_lists_all_with_their_events(client):
    webhook = client.webhooks.create(**HOOK)
    frame = client.webhooks.frame()
    assert frame.loc[webhook.id, "url"] == HOOK["url"]
    assert frame.loc[webhook.id, "events"] == ["*"]
    assert bool(frame.loc[webhook.id, "has_signing_secret"]) is True
    assert frame.last_delivery_at.isna().all()


def test_an_update_changes_what_is_passed_and_nothing_else(client):
    webhook = client.webhooks.create(**HOOK)
    after = client.webhooks.update(webhook.id, is_active=False)
    assert (after.is_active, after.url, after.events) == (False, HOOK["url"], ["*"])
    after = client.webhooks.update(webhook.id, events=["chat.message.status"])
    assert (after.is_active, after.events) == (False, ["chat.message.status"])


def test_a_deleted_webhook_is_gone(client):
    webhook = client.webhooks.create(**HOOK)
    client.webhooks.delete(webhook.id)
    assert client.webhooks.frame().empty
    with pytest.raises(chatkit.NotFound):
        client.webhooks.get(webhook.id)


def test_the_eleventh_is_refused(client):
    for n in range(10):
        client.webhooks.create(url=f"https://shop.example/{n}", events=["*"])
    with pytest.raises(chatkit.Refused):
        client.webhooks.create(url="https://shop.example/10", events=["*"])
    assert len(client.webhooks.frame()) == 10


@pytest.mark.parametrize("url", ["http://shop.example/", "ftp://x", "shop.example", "https://"])
def test_only_https_is_sent(client, url):
    with pytest.raises(chatkit.InputError, match="https"):
        client.webhooks.create(url=url, events=["*"])
