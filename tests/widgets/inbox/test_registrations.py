"""The list says who needs a person first, and switches on and off what it names."""

import re

from profiled import client, sandbox
from widgets.inbox.stored import account
from widgets.screen import click_row, html, page_of, press, static

from chatkit.client import Client
from chatkit.widgets.form import Registrations

__all__ = ["account", "client", "sandbox"]

HOOK = {"url": "https://shop.example/<b>", "events": ["*"]}


def switch(registrations: Registrations) -> str:
    """Click the first switch; return its name."""
    (name, *_) = re.findall(r'aria-label="(\w*ctivate \d+)"', html(registrations))
    click_row(registrations, "switch", name.split()[1])
    return name


def test_each_webhook_has_its_health_its_events_and_a_switch(client: Client) -> None:
    webhook = client.webhooks.create(**HOOK)
    registrations = Registrations(client.webhooks)
    assert repr(registrations) == f"1 webhook of 10: {webhook.id} never"
    page = page_of(registrations)
    assert "https://shop.example/&lt;b&gt;" in page and "<b>" not in page
    assert "<td>*</td>" in page and "nothing was ever delivered to it" in page
    assert switch(registrations) == f"Deactivate {webhook.id}"
    assert client.webhooks.get(webhook.id).is_active is False
    assert registrations.rows[0]["health"] == "inactive"
    assert registrations.message == f"Webhook {webhook.id} is inactive."
    assert switch(registrations) == f"Activate {webhook.id}"
    assert client.webhooks.get(webhook.id).is_active is True


def test_a_webhook_that_is_gone_is_told(account: Client) -> None:
    webhook = account.webhooks.create(**HOOK)
    registrations = Registrations(account.webhooks)
    account.webhooks.delete(webhook.id)
    click_row(registrations, "switch", str(webhook.id))
    assert registrations.message
    press(registrations, "Refresh")
    assert repr(registrations) == "0 webhooks of 10."


def test_what_the_form_creates_is_in_the_list(account: Client) -> None:
    registrations = Registrations(account.webhooks)
    registrations.form.set("url", "https://shop.example/hook")
    registrations.form.set("events", ["*"])
    webhook = registrations.form.submit()
    assert [row["id"] for row in registrations.rows] == [webhook.id]
    assert "1 webhook of 10" in html(registrations)
    secret = registrations.form.secret_once.secret.reveal()
    assert secret not in f"{registrations!r}{static(registrations)}"


def test_a_webhook_is_edited_in_the_same_form(account: Client) -> None:
    webhook = account.webhooks.create(**HOOK)
    registrations = Registrations(account.webhooks)
    click_row(registrations, "edit", str(webhook.id))
    registrations.form.set("events", ["chat.message.status"])
    press(registrations, "Save webhook")
    assert registrations.rows[0]["events"] == ["chat.message.status"]
    assert "<td>chat.message.status</td>" in html(registrations)
    registrations.form.set("is_active", False)
    click_row(registrations, "edit", str(webhook.id))
    assert "holds what was not saved (Active)" in registrations.message


def test_a_full_account_is_told(account: Client) -> None:
    for n in range(10):
        account.webhooks.create(url=f"https://shop.example/{n}", events=["*"])
    registrations = Registrations(account.webhooks)
    assert "10 webhooks of 10: delete one" in html(registrations)
    registrations.form.set("url", "https://shop.example/more")
    press(registrations, "Create webhook")
    assert "at most 10 webhooks" in registrations.form.message
