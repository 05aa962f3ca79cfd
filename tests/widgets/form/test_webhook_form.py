"""A form of webhooks sends what is ticked, once, and has the signing secret ready."""

import json
import logging
from pathlib import Path
from typing import Any

import ipywidgets as w
import pytest
from profiled import client, sandbox
from widgets.inbox.stored import account
from widgets.screen import enter, html, label, parts, press, static, type_into

from chatkit.client import Client
from chatkit.errors import InputError
from chatkit.widgets.form import Form

__all__ = ["account", "client", "sandbox"]

CREATE, LOOK = "Create webhook", "Look what came of it"  #: what the button says
URL = "https://shop.example/hook"


def filled(client: Client, *kinds: str) -> Form:
    form = Form(client.webhooks)
    form.set("url", URL)
    form.set("events", list(kinds))
    return form


def box(form: Form, kind: str) -> Any:
    (result,) = [one for one in parts(form) if label(one).endswith(f"({kind})")]
    return result


def test_what_is_ticked_is_registered_and_the_secret_waits(client: Client) -> None:
    form = filled(client, "chat.message.status")
    assert form.line == (f'client.webhooks.create(url="{URL}", events=["chat.message.status"])')
    press(form, CREATE)
    (webhook,) = client.webhooks.frame().reset_index().to_dict("records")
    assert (webhook["url"], webhook["events"]) == (URL, ["chat.message.status"])
    assert form.message == f"Created webhook {webhook['id']}."
    assert form.secret_once.webhook == webhook["id"] and form.secret_once.waits
    secret = form.secret_once.secret.reveal()
    assert secret and secret not in f"{form!r}{form.get_state()}{html(form)}{static(form)}"
    assert "shown this once" in static(form)["text/html"]


def test_no_state_message_log_or_file_has_the_secret(
    account: Client, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """Only what the page asks for by a button has it, and that is no state."""
    caplog.set_level(logging.DEBUG)
    form = filled(account, "*")
    sent: list[str] = []
    form.comm.send = lambda *passed, **named: sent.append(repr((passed, named)))
    press(form, CREATE)
    secret = form.secret_once.secret.reveal()
    type_into(form, "Active", False)
    press(form, "Save webhook")
    report = [repr(form), repr(form.record), form.line, form.message, json.dumps(static(form))]
    report += [json.dumps(w.Widget.get_manager_state(), default=repr), caplog.text, *sent]
    assert not [one for one in report if secret in one]
    sent.clear()
    enter(form, form.secret_once, "show")
    assert [one for one in sent if secret in one and "custom" in one]
    enter(form, form.secret_once, "forget")
    assert form.record.webhook_secret is None  # type: ignore[union-attr]
    assert not any(secret in repr(vars(one)) for one in parts(form))


def test_all_events_are_ticked_at_first_and_stand_for_every_kind(account: Client) -> None:
    assert Form(account.webhooks).values == {"events": ["*"]}
    form = filled(account, "chat.message.status", "*")
    assert form.values["events"] == ["*"]
    assert label(box(form, "*")) == "all events (*)"
    assert box(form, "chat.message.status").disabled and not box(form, "*").disabled
    form.set("events", ["chat.message.status"])
    assert not box(form, "chat.message.status").disabled
    for kind in ("*", "chat.message.status"):
        enter(form, box(form, kind), False)
    assert "at least one kind of event" in form.problems["events"]
    with pytest.raises(InputError, match="is required"):
        form.submit()


def test_a_kind_that_nobody_has_named_keeps_its_box(account: Client) -> None:
    with pytest.warns(UserWarning, match="odd.kind"):
        key = account.webhooks.create(url=URL, events=["chat.message.status", "odd.kind"]).id
    form = Form(account.webhooks, key)
    assert form.values == {} and box(form, "odd.kind").value
    enter(form, box(form, "chat.message.status"), False)
    with pytest.warns(UserWarning, match="odd.kind"):
        assert form.submit().events == ["odd.kind"]
