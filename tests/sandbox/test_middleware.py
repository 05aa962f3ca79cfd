"""The middleware: commits, faults in process and over HTTP, the log, and our own bugs."""

import http.client
import json
import logging
import select
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from internals import middleware_of

from chatkit import Sandbox
from chatkit.sandbox.interface import Request, ServiceAnswer


def contact(number: int) -> dict[str, str]:
    return {"number": f"555{number:05}", "country_code": "+1", "name": "Ada"}


def total(channel: Any) -> int:
    return channel.call("GET", f"{channel.root}/contacts")[1]["pagination"]["totalCount"]


def create(channel: Any, number: int) -> int:
    return channel.call("POST", f"{channel.root}/contacts", contact(number))[0]


def call_in_process(
    channel: Any, method: str, number: int = 0
) -> tuple[int, dict[str, str], bytes]:
    """Create a contact, or list the contacts, in process."""
    body = b"" if method == "GET" else json.dumps(contact(number)).encode()
    bearer = {"authorization": f"Bearer {channel.sandbox.token}"}
    headers = {"content-type": "application/json", **bearer}
    return channel.sandbox.answer(method, f"{channel.root}/contacts", headers, body)


# --- commits --------------------------------------------------------------------------


def test_an_answer_is_sent_after_its_commit(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store, waited = middleware_of(fresh.sandbox).store, []
    commit = store.commit
    with fresh.connect() as sock:

        def watched() -> None:
            if store.dirty:
                readable, _, _ = select.select([sock], [], [], 0.05)
                waited.append(not readable)
            commit()

        monkeypatch.setattr(store, "commit", watched)
        sock.sendall(fresh.create_bytes(1))
        assert fresh.status(fresh.read_to_end(sock)) == 201
    assert waited == [True]


def test_a_full_disk_is_answered_with_503_and_loses_nothing_that_was_answered(
    tmp_path: Path, fresh: Any
) -> None:
    with Sandbox(tmp_path / "sandbox.db") as sandbox, sandbox.serve() as base_url:
        store = middleware_of(sandbox).store
        with middleware_of(sandbox).lock:
            pages = store.run("PRAGMA page_count").fetchone()[0]
            store.run(f"PRAGMA max_page_count = {pages + 10}").fetchone()
        channel = fresh._replace(sandbox=sandbox, port=int(base_url.rpartition(":")[2]))
        statuses = [create(channel, number) for number in range(600)]
        assert set(statuses) == {201, 503}
        assert total(channel) == statuses.count(201)
        with middleware_of(sandbox).lock:
            store.run("PRAGMA max_page_count = 1000000").fetchone()
        assert create(channel, 1000) == 201
        assert total(channel) == statuses.count(201) + 1


# --- bugs and the log -----------------------------------------------------------------


def test_an_unexpected_error_is_answered_with_500_logged_without_secrets_and_undone(
    fresh: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    service, token = middleware_of(fresh.sandbox).service, fresh.sandbox.token

    def broken(asked: Request) -> ServiceAnswer:
        service.store.write("DELETE FROM contacts")
        raise LookupError(f"{asked.headers} {asked.body!r}")

    assert create(fresh, 1) == 201
    with monkeypatch.context() as patched, caplog.at_level(logging.ERROR):
        patched.setattr(service, "answer", broken)
        status, answer = fresh.call("POST", f"{fresh.root}/contacts", contact(2))
    assert (status, answer["success"]) == (500, False)
    assert "LookupError" in caplog.text
    assert token not in caplog.text
    assert "Ada" not in caplog.text
    assert "Traceback" not in json.dumps(answer)
    assert total(fresh) == 1


def test_the_log_keeps_the_last_thousand_calls_and_nothing_secret(fresh: Any) -> None:
    middleware = middleware_of(fresh.sandbox)
    create(fresh, 1)
    fresh.call("GET", f"{fresh.root}/contacts?search=Ada")
    fresh.raw(fresh.head(Host="evil.example"))
    fresh.call("GET", "/openapi.json")
    assert [(entry.method, entry.status) for entry in middleware.log] == [
        ("POST", 201),
        ("GET", 200),
        ("GET", 421),
    ]
    assert "Ada" not in str(middleware.log)
    assert fresh.sandbox.token not in str(middleware.log)
    for _ in range(1010):
        call_in_process(fresh, "GET")
    assert len(middleware.log) == 1000


def test_the_openapi_document_is_served_in_process_and_over_http(fresh: Any) -> None:
    status, document = fresh.call("GET", "/openapi.json")
    assert (status, document["openapi"]) == (200, "3.1.0")
    _, headers, body = fresh.sandbox.answer("GET", "/openapi.json", {}, b"")
    assert headers["content-type"] == "application/json"
    assert json.loads(body) == document
    assert fresh.call("GET", "/elsewhere")[0] == 404
    assert fresh.call("GET", "/")[0] == 404


# --- faults ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("faults", "statuses", "effects"),
    [
        ({"rate_limited": 1}, {429}, 0),
        ({"server_errors": {"before": 1}}, {500, 502, 503, 504}, 0),
        ({"server_errors": {"after": 1}}, {500, 502, 503, 504}, 2),
        ({"dropped": {"before": 1}}, {None}, 0),
        ({"dropped": {"after": 1}}, {None}, 2),
    ],
)
def test_a_fault_comes_before_or_after_the_effect(
    fresh: Any, faults: dict[str, Any], statuses: set[int | None], effects: int
) -> None:
    fresh.sandbox.faults(**faults)
    dropped = statuses == {None}
    with pytest.raises(ConnectionError) if dropped else nullcontext():
        assert create(fresh, 1) in statuses
    with pytest.raises(ConnectionError) if dropped else nullcontext():
        assert call_in_process(fresh, "POST", 2)[0] in statuses
    log = middleware_of(fresh.sandbox).log
    assert len(log) == 2 and {entry.status for entry in log} <= statuses
    fresh.sandbox.faults()
    assert total(fresh) == effects


def test_a_truncated_answer_ends_early_and_the_effect_stays(fresh: Any) -> None:
    fresh.sandbox.faults(truncated=1)
    with closing(http.client.HTTPConnection("127.0.0.1", fresh.port, timeout=20)) as connection:
        body = json.dumps(contact(1))
        headers = fresh.headers(Content_Type="application/json")
        connection.request("POST", f"{fresh.root}/contacts", body, headers)
        answer = connection.getresponse()
        assert answer.status == 201
        with pytest.raises(http.client.IncompleteRead) as caught:
            answer.read()
    assert caught.value.partial.startswith(b'{"success":true')
    with pytest.raises(ConnectionError):
        call_in_process(fresh, "POST", 2)
    fresh.sandbox.faults()
    assert total(fresh) == 2


def test_an_answer_without_a_body_cannot_end_early_and_is_dropped(fresh: Any) -> None:
    with Sandbox(quirks={"no_body"}) as sandbox, sandbox.serve() as base_url:
        channel = fresh._replace(sandbox=sandbox, port=int(base_url.rpartition(":")[2]))
        status, answer = channel.call("POST", f"{channel.root}/contacts", contact(1))
        assert status == 201
        sandbox.faults(truncated=1)
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            channel.call("DELETE", f"{channel.root}/contacts/{answer['data']['id']}")


def test_latency_delays_every_call(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    fresh.sandbox.faults(dropped=1, latency=30)  # leaves the admin API and the document alone
    assert fresh.call("GET", "/openapi.json")[0] == 200
    admin = {"Authorization": f"Bearer {fresh.sandbox.admin_token}"}
    assert fresh.call("POST", "/_sandbox/faults", {}, **admin)[0] == 200
    assert fresh.alive()
    fresh.sandbox.faults(latency=0.25)
    monkeypatch.setattr("chatkit.sandbox.middleware.time.sleep", slept.append)
    assert call_in_process(fresh, "GET")[0] == 200
    assert slept == [0.25]
    fresh.call("GET", f"{fresh.root}/contacts")
    assert middleware_of(fresh.sandbox).log[-1].ms >= 240
