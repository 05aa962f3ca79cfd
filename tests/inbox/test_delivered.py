"""From the sandbox to the inbox: what is played is delivered over HTTPS, verified and kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import chatkit

URL = "https://hooks.shop.example/chat"


class Shop:
    """A sandbox, an account and an inbox that hears it."""

    def __init__(self, file: Path) -> None:
        self.sandbox = chatkit.Sandbox(seed="empty")
        self.client = chatkit.connect(self.sandbox)
        self.inbox = chatkit.Inbox(file)
        self.receiver = self.inbox.serve()
        self.sandbox.allow(URL, to=self.receiver.url)
        self.webhook = self.client.webhooks.create(url=URL, events=["*"])

    def talk(self) -> None:
        played = self.sandbox.play("conversation", lines=["> Hello", "< Hi!", "> +👍"])
        assert played.counts == {"delivered": 6}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(tmp_path / "inbox.sqlite")
    yield shop
    shop.inbox.close()
    shop.client.close()
    shop.sandbox.close()


def test_what_is_played_is_verified_and_kept(shop: Shop) -> None:
    assert shop.webhook.webhook_secret is not None
    shop.receiver.accept(shop.webhook.webhook_secret)
    shop.talk()
    assert shop.inbox.messages()["text"].tolist() == ["Hello", "Hi!"]
    assert shop.inbox.statuses()["status"].tolist() == ["read"]
    assert shop.inbox.frame()["verified"].all()
    assert shop.client.webhooks.frame()["last_delivery_status"].tolist() == ["delivered"]


def test_what_came_between_create_and_accept_is_verified_when_the_secret_is_told(
    shop: Shop,
) -> None:
    """A registration is delivered to as soon as it is made, and its secret is told after that."""
    shop.talk()
    with pytest.warns(UserWarning, match="not verified is left out"):
        assert len(shop.inbox.statuses()) == len(shop.inbox.messages()) == 0
    assert shop.webhook.webhook_secret is not None
    shop.receiver.accept(shop.webhook.webhook_secret)
    assert shop.inbox.messages()["text"].tolist() == ["Hello", "Hi!"]
    assert shop.inbox.frame()["verified"].all() and len(shop.inbox.raw()) == 6
    assert shop.inbox.raw()["reason"].tolist() == [""] * 6
    assert shop.inbox.statuses()["status"].tolist() == ["read"]
    assert "not verified" not in repr(shop.inbox)


def test_during_a_rotation_both_secrets_are_good(shop: Shop) -> None:
    assert shop.webhook.webhook_secret is not None
    shop.receiver.accept(shop.webhook.webhook_secret)
    rotation = shop.client.webhooks.rotate(shop.webhook.id)
    made = rotation.apply()
    assert len(made)
    secret = rotation.secret
    assert secret is not None
    shop.receiver.accept(shop.webhook.webhook_secret, secret)
    played = shop.sandbox.play("conversation", lines=["> Hello"])
    assert played.counts == {"delivered": 2}
    assert shop.inbox.frame(repeats=True)["verified"].all()
    assert shop.inbox.messages()["text"].tolist() == ["Hello"]
    assert len(rotation.finish()) == 1
