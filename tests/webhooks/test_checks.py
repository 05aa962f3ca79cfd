"""Tests of the findings of a webhook before it is registered."""

import pandas as pd
import pytest
from bulk.planning import client, sandbox  # noqa: F401

import chatkit
from chatkit.bulk.plan import get_refused_cells
from chatkit.resource import get_endpoints

URL = "https://shop.example/hook"
THIS_MACHINE = [
    f"https://{host}/"
    for host in (
        "localhost", "localhost.", "app.localhost", "127.0.0.1:8443", "[::1]", "0.0.0.0", "[::]",
    )
]  # fmt: skip
NAMED_WITHIN = [f"https://box.{name}/" for name in ("local", "internal", "lan", "lan.")]
REMOTE = {"account_id": "1001", "token": "0123456789abcdef"}


def severities(webhooks, **fields):
    return [
        (result.severity, result.pointer)
        for result in get_endpoints(webhooks).check_record(fields, None)
    ]


def test_a_misspelt_kind_of_event_is_told_with_the_one_that_was_meant(client):
    with pytest.warns(UserWarning, match="did you mean chat.message.status"):
        made = client.webhooks.create(url=URL, events=["chat.mesage.status"])
    assert made.events == ["chat.mesage.status"]  # the service may know it all the same
    frame = pd.DataFrame({"url": ["https://shop.example/2"], "events": [["chat.mesage.status"]]})
    plan = client.webhooks.plan(frame)
    assert len(plan) == 1
    assert any("did you mean chat.message.status" in note for note in plan.notes)
    for kind in ("chat.status", "status"):
        [message] = [
            each.message
            for each in get_endpoints(client.webhooks).check_record({"events": [kind]}, None)
        ]
        assert message.endswith("did you mean chat.message.status?")
    assert not severities(client.webhooks, events=list(client.webhooks.event_kinds()))


@pytest.mark.parametrize("events", ["['*']", "*", ["['*']"], ['["*"]']])
def test_a_list_written_as_text_is_refused_with_the_list(client, events):
    with pytest.raises(chatkit.errors.InputError, match=r"events=\['\*'\]"):
        client.webhooks.create(url=URL, events=events)
    frame = pd.DataFrame({"url": [URL], "events": pd.Series([events], dtype=object)})
    assert {
        cell.column.partition(".")[0] for cell in get_refused_cells(client.webhooks.plan(frame))
    } == {"events"}


def test_this_machine_is_no_address_for_a_service_elsewhere(client):
    for port in (0, 70000):  # where nothing can listen
        with pytest.raises(chatkit.errors.InputError, match="url"):
            client.webhooks.create(url=f"https://shop.example:{port}/", events=["*"])
    assert not severities(client.webhooks, url="https://localhost/")  # the sandbox runs here
    with chatkit.Client("https://api.example.com", **REMOTE) as remote:
        for url in THIS_MACHINE:
            assert severities(remote.webhooks, url=url) == [("error", "/url")]
            with pytest.raises(chatkit.errors.InputError, match="broken=True"):
                remote.webhooks.update(7, url=url)
        for url in ("https://10.0.0.7/", "https://intranet/", *NAMED_WITHIN):
            assert severities(remote.webhooks, url=url) == [("warning", "/url")]
        for url in (URL, "https://8.8.8.8/", "https://localhost.example/", "https://a.locals/"):
            assert not severities(remote.webhooks, url=url)
        assert not severities(remote.webhooks, events=["*"])
    with chatkit.Client("http://127.0.0.1:9", **REMOTE) as here:
        assert not severities(here.webhooks, url="https://localhost/")
