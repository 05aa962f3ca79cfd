"""The form sends what is checked, once, says what is wrong, and has the secret ready."""

import pytest
from bulk.wayward import dropped, lost, wayward
from rooms import client, sandbox
from widgets.inbox.stored import account

from chatkit.client import Client
from chatkit.errors import InDoubt, InputError
from chatkit.widgets.inbox.webhook_form import WebhookForm

__all__ = ["account", "client", "sandbox"]

URL = "https://shop.example/hook"


def filled(client: Client, *kinds: str) -> WebhookForm:
    form = WebhookForm(client.webhooks)
    form.url.value = URL
    form.choose(*kinds)
    return form


def test_what_is_checked_is_registered_and_the_secret_waits(client: Client) -> None:
    form = filled(client, "chat.message.status")
    assert form.line == (f'client.webhooks.create(url="{URL}", events=["chat.message.status"])')
    form._button.click()
    (webhook,) = client.webhooks.frame().reset_index().to_dict("records")
    assert (webhook["url"], webhook["events"]) == (URL, ["chat.message.status"])
    assert form.message == f"Created webhook {webhook['id']}."
    assert form.handover.webhook == webhook["id"]
    secret = form.handover.secret.reveal()
    assert secret and secret not in f"{form!r}{form.get_state()}{form._message.value}"
    assert (form.url.value, form.events) == ("", []) and form._button.disabled


def test_all_events_stand_for_every_kind(account: Client) -> None:
    form = filled(account, "chat.message.status", "*")
    assert form.events == ["*"]
    assert form._boxes["chat.message.status"].disabled and not form._boxes["*"].disabled
    form.choose("chat.message.status")
    assert not form._boxes["chat.message.status"].disabled
    with pytest.raises(InputError, match="'odd' is none of"):
        form.choose("odd")


def test_it_may_start_switched_off(account: Client) -> None:
    form = filled(account, "*")
    form.active.value = False
    assert "is_active=False" in form.line
    assert form.submit().is_active is False


def test_a_wrong_address_is_told_and_nothing_is_sent(account: Client) -> None:
    form = filled(account, "*")
    form.url.value = "http://shop.example"
    with pytest.raises(InputError):
        form.submit()
    assert form.message.startswith("Nothing was sent:\nurl: must be an https://")
    assert account.webhooks.frame().empty and form.handover.secret is None


def test_a_full_account_is_told_before_anything_is_typed(account: Client) -> None:
    form = filled(account, "*")
    form.used(9)
    assert not form._button.disabled
    form.used(10)
    assert form._button.disabled and form._code.text == ""
    assert "10 of 10 webhooks. Delete one" in form._room_left.value
    assert repr(form) == "<form: new webhook, 10 of 10 there>"


def test_after_a_lost_answer_the_next_click_only_looks_and_tells_of_the_lost_secret() -> None:
    with wayward() as service, service.client() as client:
        form = filled(client, "*")
        service.on("POST", "webhooks", lost)
        form._button.click()
        assert "may or may not have landed" in form.message
        assert form._button.label == "Look what came of it" and form.url.disabled
        form._button.click()
        assert "delete it and create it again" in form.message and form.handover.secret is None
        assert form._button.label == "Create webhook" and not form.url.disabled
        assert len(service.writes()) == len(service.all("webhooks")) == 1


def test_what_has_not_landed_is_sent_again_once_it_cannot_land_any_more() -> None:
    with wayward() as service, service.client() as client:
        form = filled(client, "*")
        service.on("POST", "webhooks", dropped)
        form._button.click()
        form._button.click()
        assert "it may still land for" in form.message and form._unknown is not None
        form._unknown._until = 0  # the time has passed
        form._button.click()
        assert "you can send it again" in form.message and len(service.writes()) == 1
        form._button.click()
        assert form.message.startswith("Created webhook") and form.handover.secret is not None
        assert len(service.all("webhooks")) == 1


def test_a_program_that_submits_again_makes_one_webhook() -> None:
    with wayward() as service, service.client() as client:
        form = filled(client, "*")
        service.on("POST", "webhooks", lost)
        with pytest.raises(InDoubt):
            form.submit()
        webhook = form.submit()
        assert [one["id"] for one in service.all("webhooks")] == [webhook.id]
