"""The resource of webhook registrations, under every profile."""

import contextlib
import re
import warnings
from datetime import timedelta

import pytest
from caller import client_through
from displayed import html_of
from listening import answering, listening
from profiled import client, sandbox, scripted  # noqa: F401

import chatkit

#: Tests with `client` run under every profile, those with `account` under the default one.
HOOK = {"url": "https://shop.example/hook", "events": ["*"]}


@pytest.fixture
def account():
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        yield client


def test_a_webhook_is_created_listed_updated_switched_and_deleted(client):
    webhook = client.webhooks.create(**HOOK)
    assert webhook.is_active is True
    secret = webhook.webhook_secret.reveal()
    assert re.fullmatch("[0-9a-f]{64}", secret)
    assert str(webhook).startswith("Webhook:\n  id  ")
    for text in (repr(webhook), str(webhook), webhook.model_dump_json(), str(webhook.model_dump())):
        assert secret not in text
    assert client.webhooks.get(webhook.id).webhook_secret is None
    frame = client.webhooks.frame()
    assert "webhook_secret" not in frame.columns and frame.last_delivery_at.isna().all()
    listed = frame.loc[webhook.id, ["url", "events", "has_signing_secret"]]
    assert listed.tolist() == [HOOK["url"], ["*"], True]
    after = client.webhooks.update(webhook.id, is_active=False)
    assert (after.is_active, after.url, after.events) == (False, HOOK["url"], ["*"])
    after = client.webhooks.update(webhook.id, events=["chat.message.status"])
    assert (after.is_active, after.events) == (False, ["chat.message.status"])
    assert client.webhooks.activate(webhook.id).is_active is True
    assert client.webhooks.deactivate(webhook.id).is_active is False
    with pytest.raises(chatkit.errors.Refused):  # NotFound, where the status tells it apart
        client.webhooks.activate(webhook.id + 1)
    client.webhooks.delete(webhook.id)
    assert client.webhooks.frame().empty
    with pytest.raises(chatkit.errors.NotFound):
        client.webhooks.get(webhook.id)
    assert client.webhooks.create(**HOOK, is_active=False).is_active is False


def test_a_plan_tells_that_the_account_gets_full_and_refuses_what_is_too_much(account):
    for n in range(9):
        account.webhooks.create(url=f"https://shop.example/{n}", events=["*"])
    live = account.webhooks.frame()
    new = live.iloc[:3].reset_index(drop=True)
    new["url"] = [f"https://shop.example/new/{n}" for n in range(3)]
    one = account.webhooks.plan(new.iloc[:1])
    assert one.counts["create"] == 1
    assert any("then has 10 of 10 webhooks" in note for note in one.notes)
    all_three = account.webhooks.plan(new)
    assert all_three.counts["create"] == 1
    assert list(all_three.refused.reason.str.contains("at most 10 webhooks")) == [True, True]
    assert not any("of 10" in note for note in account.webhooks.plan(live).notes)


def test_only_https_and_kinds_of_events_each_once_are_sent_before_anything_is_read():
    asked = []
    webhooks = scripted(lambda *call: asked.append(call) or (200, [])).webhooks
    for field, value in (
        *(("url", url) for url in ("http://shop.example/", "ftp://x", "shop.example", "https://")),
        *(("events", events) for events in ([], ["*", "*"], [""], "*", ["*", 1])),
    ):
        with pytest.raises(chatkit.errors.InputError, match=field):
            webhooks.create(**{**HOOK, field: value})
    with pytest.raises(chatkit.errors.InputError):
        webhooks.create(url=HOOK["url"])
    assert not asked


def test_the_kinds_that_can_be_asked_for_are_named_with_what_they_mean(client):
    kinds = client.webhooks.event_kinds()
    assert list(kinds)[:2] == ["*", "chat.message.status"]
    assert len(kinds) == 8
    assert all(kinds.values())
    webhook = client.webhooks.create(url=HOOK["url"], events=list(kinds)[1:])
    assert webhook.events == list(kinds)[1:]


def test_who_may_not_read_the_list_can_still_create():
    with chatkit.Sandbox(seed="empty") as sandbox:
        client = client_through(
            sandbox.answer,
            account_id=sandbox.account_id,
            token=sandbox.make_token("Chat Detail, Edit"),
        )
        assert client.webhooks.create(**HOOK).webhook_secret is not None


# --- health -------------------------------------------------------------------------


def test_health_tells_who_needs_a_person_first_and_why(client, sandbox):
    places = ("healthy", "failing", "never", "inactive", "silent")
    # under some profiles every active address gets messages and statuses, whatever it asks for
    for_all = {"*", "chat.message.status", client.profile.event_kind_inbound}
    kinds = [kind for kind in client.webhooks.event_kinds() if kind not in for_all]
    asked = dict(zip(places, kinds, strict=True))
    made = {
        name: client.webhooks.create(url=f"https://shop.example/{name}", events=[kind])
        for name, kind in asked.items()
    }
    with listening() as good, listening(answering(404)) as bad:
        for name, listener in {"healthy": good, "silent": good, "failing": bad}.items():
            sandbox.allow(f"https://shop.example/{name}", to=listener.url)
            sandbox.deliver(asked[name], {})
        client.webhooks.deactivate(made["inactive"].id)
        frame = client.webhooks.frame()
        last = frame.loc[made["healthy"].id, "last_delivery_at"].to_pydatetime()
        health = client.webhooks.health(quiet=1, now=last + timedelta(minutes=30))
        later = client.webhooks.health(quiet=1, now=last + timedelta(hours=5))
    assert list(health.health) == ["failing", "never", "inactive", "healthy", "healthy"]
    report = dict(zip(health.index, health.health, strict=True))
    for name in ("failing", "never", "inactive", "healthy"):
        assert report[made[name].id] == name
    assert "404" in health.loc[made["failing"].id, "reason"]
    assert later.loc[made["silent"].id, "health"] == "silent"
    assert set(frame.columns) | {"health", "reason"} == set(health.columns)


@pytest.mark.parametrize("served", [False, True], ids=["in process", "over HTTP"])
def test_health_uses_the_clock_that_stamps_the_deliveries(served):
    """The clock of a seeded sandbox stands in January, whatever the date of this machine."""
    with contextlib.ExitStack() as stack:
        sandbox = stack.enter_context(chatkit.Sandbox(seed="empty"))
        listener = stack.enter_context(listening())
        if served:
            base_url = stack.enter_context(sandbox.serve())
            client = chatkit.Client(base_url, sandbox.account_id, sandbox.token)
        else:
            client = chatkit.connect(sandbox)
        stack.enter_context(client)
        client.webhooks.create(**HOOK)
        sandbox.allow(HOOK["url"], to=listener.url)
        sandbox.deliver("chat.message.status", {})
        [health] = client.webhooks.health().itertuples()
    assert (health.health, health.reason) == ("healthy", "delivered less than a minute ago")


def test_the_secret_is_in_no_health_no_plan_and_no_warning(account):
    webhook = account.webhooks.create(**HOOK)
    secret = webhook.webhook_secret.reveal()
    frame = account.webhooks.frame()
    frame["is_active"] = False
    with warnings.catch_warnings(record=True) as report:
        plan = account.webhooks.plan(frame)
        text = repr(plan) + html_of(plan) + account.webhooks.health().to_string()
    assert secret not in text + " ".join(str(one.message) for one in report)
