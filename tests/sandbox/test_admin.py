"""The admin API, over HTTP and in process: tokens, events, faults, reset, log."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from chatkit import Sandbox
from chatkit.sandbox.service import OPERATIONS, PERMISSIONS
from chatkit.signature import verify

ROOT = "/api/business/public/channels/chat/accounts/1001"
KIND = "chat.message.status"
Ask = Callable[..., tuple[int, Any]]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(seed="empty") as sandbox:
        yield sandbox


def asking(sandbox: Sandbox, token: str) -> Ask:
    """Calls in process with one token."""

    def ask(method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        sent = {"authorization": f"Bearer {token}", "content-type": "application/json", **headers}
        text = b"" if body is None else json.dumps(body).encode()
        status, _, answer = sandbox.answer(method, path, sent, text)
        return status, json.loads(answer)

    return ask


@pytest.fixture
def admin(sandbox: Sandbox) -> Ask:
    return asking(sandbox, sandbox.admin_token)


@pytest.fixture
def api(sandbox: Sandbox) -> Ask:
    return asking(sandbox, sandbox.token)


# --- who may ask, and how -------------------------------------------------------------

CALLS = [
    ("POST", "tokens"),
    ("POST", "events"),
    ("GET", "receivers"),
    ("POST", "receivers"),
    ("GET", "faults"),
    ("POST", "faults"),
    ("POST", "reset"),
    ("GET", "requests"),
]


@pytest.mark.parametrize(("method", "path"), CALLS)
@pytest.mark.parametrize("token", ["", "x", "access", "Ünicode", "\udcff"])
def test_only_the_admin_token_is_accepted_by_the_admin_api(
    sandbox: Sandbox, method: str, path: str, token: str
) -> None:
    ask = asking(sandbox, sandbox.token if token == "access" else token)
    status, answer = ask(method, f"/_sandbox/{path}", {} if method == "POST" else None)
    assert (status, set(answer)) == (401, {"error"})


def test_the_admin_token_does_not_open_the_api(admin: Ask) -> None:
    assert admin("GET", f"{ROOT}/contacts")[0] == 401


@pytest.mark.parametrize("header", ["", "Bearer", "Basic {token}", "{token}", "Bearer  {token}"])
def test_a_malformed_authorization_is_refused(sandbox: Sandbox, header: str) -> None:
    headers = {"authorization": header.format(token=sandbox.admin_token)}
    assert sandbox.answer("GET", "/_sandbox/requests", headers, b"")[0] == 401


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_other_methods_are_refused_and_the_right_ones_are_named(
    sandbox: Sandbox, method: str, path: str
) -> None:
    headers = {"authorization": f"Bearer {sandbox.admin_token}"}
    status, answered, _ = sandbox.answer("DELETE", f"/_sandbox/{path}", headers, b"")
    assert status == 405
    assert method in answered["allow"].split(", ")


@pytest.mark.parametrize(
    "path",
    ["", "nothing", "tokens/", "tokens/1", "flows"],
)
def test_an_unknown_path_is_not_found(admin: Ask, path: str) -> None:
    assert admin("GET", f"/_sandbox/{path}")[0] == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"a": NaN}', 400),
        (b'{"kind": "\\ud800"}', 400),
        (b"[" * 100_000, 400),
        (b"{" + b" " * (11 * 1024 * 1024) + b"}", 413),
    ],
)
@pytest.mark.parametrize("path", ["tokens", "events", "faults", "receivers", "reset"])
def test_a_body_is_read_as_strictly_as_one_of_the_api(
    sandbox: Sandbox, path: str, body: bytes, status: int
) -> None:
    headers = {
        "authorization": f"Bearer {sandbox.admin_token}",
        "content-type": "application/json",
    }
    assert sandbox.answer("POST", f"/_sandbox/{path}", headers, body)[0] == status
    headers["content-type"] = "text/plain"
    assert sandbox.answer("POST", f"/_sandbox/{path}", headers, b"{}")[0] == 415


# --- tokens ---------------------------------------------------------------------------


def test_a_token_has_the_permissions_it_was_made_with_and_no_others(
    sandbox: Sandbox, admin: Ask
) -> None:
    expected = ["Chat Contacts, View", "Chat Detail, View"]
    status, answer = admin("POST", "/_sandbox/tokens", {"permissions": expected})
    assert (status, set(answer)) == (200, {"token"})
    ask = asking(sandbox, answer["token"])
    for operation in OPERATIONS:
        path = operation.path.replace(":templateCode", "a").replace(":langCode", "en")
        path = path.replace(":id", "1").replace(":contactId", "1").replace(":webhookId", "1")
        allowed = ask(operation.method, ROOT + path, {})[0] != 403
        assert allowed == (operation.permission in expected), operation


def test_a_token_can_be_of_another_account_and_actor(sandbox: Sandbox, admin: Ask) -> None:
    made = {"permissions": list(PERMISSIONS), "account_id": "2002", "actor": "Ada"}
    ask = asking(sandbox, admin("POST", "/_sandbox/tokens", made)[1]["token"])
    assert ask("GET", f"{ROOT}/contacts")[0] == 403
    root = ROOT.replace("1001", "2002")
    body = {"number": "5550100", "country_code": "+1"}
    contact = ask("POST", f"{root}/contacts", body)[1]["data"]["id"]
    assert ask("GET", f"{root}/contacts/{contact}")[1]["data"]["created_by"] == "Ada"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"permissions": "Chat Contacts, View"},
        {"permissions": None},
        {"permissions": ["chat contacts, view"]},
        {"permissions": ["Chat Contacts, View", 1]},
        {"permissions": [["Chat Contacts, View"]]},
        {"permissions": [], "account": "1001"},
        {"permissions": [], "account_id": 1001},
        {"permissions": [], "actor": {}},
    ],
)
def test_a_token_that_cannot_be_made_is_refused_with_a_reason(admin: Ask, body: object) -> None:
    status, answer = admin("POST", "/_sandbox/tokens", body)
    assert status == 422
    assert answer["error"]


def test_unknown_permissions_are_answered_with_the_right_ones(admin: Ask) -> None:
    _, answer = admin("POST", "/_sandbox/tokens", {"permissions": ["Chat Everything"]})
    assert "Chat Everything" in answer["error"]
    assert answer["permissions"] == list(PERMISSIONS)


# --- events ---------------------------------------------------------------------------


class Heard(HTTPServer):
    """A receiver that keeps what it was sent."""

    def __init__(self, status: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = status
        self.deliveries: list[tuple[dict[str, str], bytes]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Heard

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.deliveries.append((dict(self.headers), body))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def hearing(status: int = 200) -> Iterator[tuple[Heard, str]]:
    with Heard(status) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server, f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join(10)


def register(api: Ask, url: str, events: list[str], *, is_active: bool = True) -> dict[str, Any]:
    body = {"url": url, "events": events, "is_active": is_active}
    status, answer = api("POST", f"{ROOT}/webhooks", body)
    assert status == 201
    return answer["data"]


def test_an_event_goes_to_the_active_webhooks_that_ask_for_it(admin: Ask, api: Ask) -> None:
    everything = register(api, "https://hooks.example/all", ["*"])
    named = register(api, "https://hooks.example/named", ["other", KIND])
    other = register(api, "https://hooks.example/other", ["other"])
    asleep = register(api, "https://hooks.example/asleep", ["*"], is_active=False)
    with hearing() as (server, url):
        body = {"url": "https://hooks.example/", "to": url}
        assert admin("POST", "/_sandbox/receivers", body) == (200, {"receivers": [body]})
        assert admin("GET", "/_sandbox/receivers") == (200, {"receivers": [body]})
        event = {"kind": KIND, "payload": {"id": 1, "name": "Zoë"}}
        status, answer = admin("POST", "/_sandbox/events", event)
    assert status == 200
    assert answer == {
        "deliveries": [
            {"webhook_id": hook["id"], "status": "delivered", "http_status": 200, "error": None}
            for hook in (everything, named)
        ]
    }
    secrets = {everything["webhook_secret"], named["webhook_secret"]}
    for headers, sent in server.deliveries:
        report = json.loads(sent)
        assert (report["event"], report["data"]) == (KIND, event["payload"])
        now, fits = int(headers["webhook-timestamp"]), 0
        for secret in secrets:
            try:
                verify(sent, headers, secret, now=now)
                fits += 1
            except ValueError:
                continue
        assert fits == 1
    records = {record["id"]: record for record in api("GET", f"{ROOT}/webhooks")[1]["data"]}
    for hook in (everything, named):
        record = records[hook["id"]]
        assert record["last_delivery_at"]
        assert record["last_delivery_status"] == "delivered"
        assert record["last_delivery_http_status"] == 200
        assert record["last_delivery_error"] is None
    for hook in (other, asleep):
        assert records[hook["id"]]["last_delivery_at"] is None


def test_a_failed_and_a_refused_delivery_are_recorded_with_the_reason(admin: Ask, api: Ask) -> None:
    failed = register(api, "https://hooks.example/failed", ["*"])
    refused = register(api, "https://hooks.example/refused", ["*"])
    with hearing(500) as (_, url):
        admin("POST", "/_sandbox/receivers", {"url": "https://hooks.example/failed", "to": url})
        _, answer = admin("POST", "/_sandbox/events", {"kind": "any", "payload": None})
    output = [(d["webhook_id"], d["status"], d["http_status"]) for d in answer["deliveries"]]
    assert output == [(failed["id"], "failed", 500), (refused["id"], "refused", None)]
    records = {record["id"]: record for record in api("GET", f"{ROOT}/webhooks")[1]["data"]}
    for delivery in answer["deliveries"]:
        record = records[delivery["webhook_id"]]
        assert record["last_delivery_status"] == delivery["status"]
        assert record["last_delivery_http_status"] == delivery["http_status"]
        assert record["last_delivery_error"] == delivery["error"] != ""


def test_a_slow_receiver_does_not_hold_up_the_api(fresh: Any) -> None:
    fresh.sandbox.allow("https://hooks.example/")
    entered, release = threading.Event(), threading.Event()

    class Slow(_Handler):
        def do_POST(self) -> None:
            entered.set()
            release.wait(20)
            super().do_POST()

    with hearing() as (server, url):
        server.RequestHandlerClass = Slow
        fresh.sandbox.allow("https://hooks.example/", url)
        hook = {"url": "https://hooks.example/", "events": ["*"]}
        assert fresh.call("POST", f"{ROOT}/webhooks", hook)[0] == 201
        token = {"Authorization": f"Bearer {fresh.sandbox.admin_token}"}
        answers: list[tuple[int, Any]] = []
        event = {"kind": KIND, "payload": {}}
        thread = threading.Thread(
            target=lambda: answers.append(fresh.call("POST", "/_sandbox/events", event, **token))
        )
        thread.start()
        assert entered.wait(20)
        assert fresh.alive()
        assert fresh.sandbox.answer("GET", "/openapi.json", {}, b"")[0] == 200
        assert answers == []
        release.set()
        thread.join(20)
    assert answers[0][1]["deliveries"][0]["status"] == "delivered"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"kind": KIND},
        {"payload": {}},
        {"kind": "", "payload": {}},
        {"kind": "x" * 201, "payload": {}},
        {"kind": ["*"], "payload": {}},
        {"kind": KIND, "payload": {}, "to": "https://evil.example"},
    ],
)
def test_an_event_without_kind_or_payload_is_refused(admin: Ask, body: object) -> None:
    assert admin("POST", "/_sandbox/events", body)[0] == 422


@pytest.mark.parametrize(
    "body", [{}, {"url": 1}, {"url": "x"}, {"url": "https://h/", "to": "x"}, {"to": "http://h/"}]
)
def test_what_is_not_an_address_is_not_a_receiver(admin: Ask, body: object) -> None:
    assert admin("POST", "/_sandbox/receivers", body)[0] == 422
    assert admin("GET", "/_sandbox/receivers")[1] == {"receivers": []}


def test_an_event_that_exceeds_the_queue_is_refused(
    admin: Ask, api: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatkit.sandbox.delivery.MOST_WAITING", 0)
    register(api, "https://hooks.example/all", ["*"])
    status, answer = admin("POST", "/_sandbox/events", {"kind": KIND, "payload": {}})
    assert status == 503
    assert "deliveries wait" in answer["error"]


# --- faults, reset, log ---------------------------------------------------------------


def test_faults_are_set_shown_and_ended(admin: Ask, api: Ask) -> None:
    assert admin("GET", "/_sandbox/faults") == (200, {})
    assert admin("POST", "/_sandbox/faults", {"429": 1}) == (200, {"429": 1})
    assert admin("GET", "/_sandbox/faults") == (200, {"429": 1})
    assert api("GET", f"{ROOT}/contacts")[0] == 429
    assert admin("POST", "/_sandbox/faults", {"429": 2})[0] == 422
    assert api("GET", f"{ROOT}/contacts")[0] == 429
    assert admin("POST", "/_sandbox/faults", {}) == (200, {})
    assert api("GET", f"{ROOT}/contacts")[0] == 200


@pytest.mark.parametrize("seed", ["empty", "demo"])
def test_a_reset_goes_back_to_the_seed_and_keeps_the_tokens(seed: Any) -> None:
    with Sandbox(seed=seed) as sandbox:
        admin = asking(sandbox, sandbox.admin_token)
        api = asking(sandbox, sandbox.token)
        resources = ["contacts", "flows", "webhooks"]
        before = [api("GET", f"{ROOT}/{resource}")[1] for resource in resources]
        other = admin("POST", "/_sandbox/tokens", {"permissions": ["Chat Contacts, View"]})[1]
        body = {"number": "5550100", "country_code": "+1", "name": "Ada"}
        created = api("POST", f"{ROOT}/contacts", body)[1]
        admin("POST", "/_sandbox/faults", {"truncated": 1})
        admin("POST", "/_sandbox/receivers", {"url": "https://hooks.example/"})
        assert admin("POST", "/_sandbox/reset") == (200, {})
        assert admin("GET", "/_sandbox/requests")[1] == {"requests": []}
        assert admin("GET", "/_sandbox/receivers")[1] == {"receivers": []}
        assert [api("GET", f"{ROOT}/{resource}")[1] for resource in resources] == before
        assert asking(sandbox, other["token"])("GET", f"{ROOT}/contacts")[0] == 200
        assert api("POST", f"{ROOT}/contacts", body)[1] == created


def test_the_log_tells_calls_without_query_header_or_body(admin: Ask, api: Ask) -> None:
    api("GET", f"{ROOT}/contacts?search=Ada")
    api("POST", f"{ROOT}/contacts", {"number": "5550100"})
    first, second = admin("GET", "/_sandbox/requests")[1]["requests"]
    assert set(first) == {"method", "path", "status", "ms", "time"}
    assert (first["method"], first["path"], first["status"]) == ("GET", f"{ROOT}/contacts", 200)
    assert (second["method"], second["status"]) == ("POST", 422)
    assert first["time"].endswith("+00:00")
    assert "Ada" not in json.dumps([first, second])


def test_the_admin_api_is_the_same_over_http(fresh: Any) -> None:
    token = {"Authorization": f"Bearer {fresh.sandbox.admin_token}"}
    body = {"permissions": ["Chat Contacts, View"]}
    status, answer = fresh.call("POST", "/_sandbox/tokens", body, **token)
    assert status == 200
    bearer = {"Authorization": f"Bearer {answer['token']}"}
    assert fresh.call("GET", f"{ROOT}/contacts", **bearer)[0] == 200
    assert fresh.call("GET", f"{ROOT}/flows", **bearer)[0] == 403
    assert fresh.call("POST", "/_sandbox/reset", **token) == (200, {})
    assert fresh.call("POST", "/_sandbox/events", {"kind": "x", "payload": 1}, **token) == (
        200,
        {"deliveries": []},
    )
    assert fresh.call("GET", "/_sandbox/requests", **token)[1] == {"requests": []}
    sent = {**token, "Content_Type": "text/plain"}
    assert fresh.call("POST", "/_sandbox/tokens", body, **sent)[0] == 415
    assert fresh.call("POST", "/_sandbox/tokens", body)[0] == 401
