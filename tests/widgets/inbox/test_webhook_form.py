"""The form sends what is checked, once, says what is wrong, and has the secret ready."""

from typing import Any

import pytest
from bulk.wayward import dropped, lost, wayward
from rooms import client, sandbox
from widgets.inbox.stored import account
from widgets.screen import Clock, find, html, label, part, parts, press, type_into

from chatkit.client import Client
from chatkit.errors import InDoubt, InputError
from chatkit.widgets.controls import Code
from chatkit.widgets.form import saving
from chatkit.widgets.inbox.registrations import WebhookForm

__all__ = ["account", "client", "sandbox"]

CREATE, LOOK = "Create webhook", "Look what came of it"  #: what the button says
URL = "https://shop.example/hook"


def filled(client: Client, *kinds: str) -> WebhookForm:
    form = WebhookForm(client.webhooks)
    form.set("url", URL)
    form.set("events", list(kinds))
    return form


def box(form: WebhookForm, kind: str) -> Any:
    (found,) = [one for one in parts(form) if label(one).startswith(f"{kind}: ")]
    return found


def test_what_is_checked_is_registered_and_the_secret_waits(client: Client) -> None:
    form = filled(client, "chat.message.status")
    assert form.line == (f'client.webhooks.create(url="{URL}", events=["chat.message.status"])')
    press(form, CREATE)
    (webhook,) = client.webhooks.frame().reset_index().to_dict("records")
    assert (webhook["url"], webhook["events"]) == (URL, ["chat.message.status"])
    assert form.message == f"Created webhook {webhook['id']}."
    assert form.secret_once.webhook == webhook["id"]
    secret = form.secret_once.secret.reveal()
    assert secret and secret not in f"{form!r}{form.get_state()}{html(form)}"
    assert form.values == {}
    assert find(form, "url").value == "" and find(form, CREATE).disabled


def test_all_events_stand_for_every_kind(account: Client) -> None:
    form = filled(account, "chat.message.status", "*")
    assert form.values["events"] == ["*"]
    assert box(form, "chat.message.status").disabled and not box(form, "*").disabled
    form.set("events", ["chat.message.status"])
    assert not box(form, "chat.message.status").disabled
    with pytest.raises(InputError, match="'odd' is not one of"):
        form.set("events", ["odd"])


def test_it_may_start_switched_off(account: Client) -> None:
    form = filled(account, "*")
    type_into(form, "is_active", False)
    assert "is_active=False" in form.line
    assert form.submit().is_active is False


def test_a_wrong_address_is_told_and_nothing_is_sent(account: Client) -> None:
    form = filled(account, "*")
    type_into(form, "url", "http://shop.example")
    with pytest.raises(InputError):
        form.submit()
    assert form.problems["url"].startswith("must be an https://")
    assert form.message == "Nothing was sent: see above."
    assert account.webhooks.frame().empty and form.secret_once.secret is None


def test_a_full_account_is_told_before_anything_is_typed(account: Client) -> None:
    form = filled(account, "*")
    form.used(9)
    assert not find(form, CREATE).disabled
    form.used(10)
    assert find(form, CREATE).disabled and part(form, Code).text == ""
    assert "10 of 10 webhooks. Delete one" in html(form)
    assert repr(form) == "<form: new webhook, 10 of 10 there>"


def test_after_a_lost_answer_the_next_click_only_looks_and_tells_of_the_lost_secret() -> None:
    with wayward() as service, service.client() as client:
        form = filled(client, "*")
        service.on("POST", "webhooks", lost)
        press(form, CREATE)
        assert "may or may not have landed" in form.message
        assert find(form, "url").disabled
        press(form, LOOK)
        assert "delete it and create it again" in form.message and form.secret_once.secret is None
        assert find(form, CREATE) and not find(form, "url").disabled
        assert len(service.writes()) == len(service.all("webhooks")) == 1


def test_what_has_not_landed_is_sent_again_once_it_cannot_land_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    monkeypatch.setattr(saving, "time", clock)
    with wayward() as service, service.client() as client:
        form = filled(client, "*")
        service.on("POST", "webhooks", dropped)
        press(form, CREATE)
        press(form, LOOK)
        assert "it may still land for" in form.message
        clock.now += 3600
        press(form, LOOK)
        assert "you can send it again" in form.message and len(service.writes()) == 1
        press(form, CREATE)
        assert form.message.startswith("Created webhook") and form.secret_once.secret is not None
        assert len(service.all("webhooks")) == 1


def test_a_program_that_submits_again_makes_one_webhook() -> None:
    with wayward() as service, service.client() as client:
        form = filled(client, "*")
        service.on("POST", "webhooks", lost)
        with pytest.raises(InDoubt):
            form.submit()
        webhook = form.submit()
        assert [one["id"] for one in service.all("webhooks")] == [webhook.id]
