"""The admin API, over HTTP and in process: tokens, events, faults, reset, log."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from listening import HeldAnswer, answering, listening

from chatkit import Sandbox
from chatkit.sandbox.admin import Faults
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


# --- access and refusals --------------------------------------------------------------

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
def test_a_call_needs_the_admin_token_and_the_right_method(
    sandbox: Sandbox, method: str, path: str
) -> None:
    for token in ("", "x", sandbox.token, "Ünicode", "\udcff"):
        ask = asking(sandbox, token)
        status, answer = ask(method, f"/_sandbox/{path}", {} if method == "POST" else None)
        assert (status, set(answer)) == (401, {"error"})
    headers = {"authorization": f"Bearer {sandbox.admin_token}"}
    status, answered, _ = sandbox.answer("DELETE", f"/_sandbox/{path}", headers, b"")
    assert status == 405
    assert method in answered["allow"].split(", ")


@pytest.mark.parametrize("header", ["", "Bearer", "Basic {token}", "{token}", "Bearer  {token}"])
def test_a_malformed_authorization_is_refused(sandbox: Sandbox, admin: Ask, header: str) -> None:
    headers = {"authorization": header.format(token=sandbox.admin_token)}
    assert sandbox.answer("GET", "/_sandbox/requests", headers, b"")[0] == 401
    assert admin("GET", f"{ROOT}/contacts")[0] == 401, "it does not open the API"


@pytest.mark.parametrize("path", ["tokens", "events", "faults", "receivers", "reset"])
def test_a_body_is_read_as_strictly_as_one_of_the_api(sandbox: Sandbox, path: str) -> None:
    headers = {
        "authorization": f"Bearer {sandbox.admin_token}",
        "content-type": "application/json",
    }
    for body in (b"{", b"[]", b'{"a": NaN}', b'{"kind": "\\ud800"}', b"[" * 100_000):
        assert sandbox.answer("POST", f"/_sandbox/{path}", headers, body)[0] == 400
    headers["content-type"] = "text/plain"
    assert sandbox.answer("POST", f"/_sandbox/{path}", headers, b"{}")[0] == 415


# --- tokens ---------------------------------------------------------------------------


def test_a_token_has_the_permissions_it_was_made_with_and_no_others(
    sandbox: Sandbox, admin: Ask
) -> None:
    _, answer = admin("POST", "/_sandbox/tokens", {"permissions": ["Chat Everything"]})
    assert "Chat Everything" in answer["error"]
    assert answer["permissions"] == list(PERMISSIONS)
    expected = ["Chat Contacts, View", "Chat Detail, View"]
    status, answer = admin("POST", "/_sandbox/tokens", {"permissions": expected})
    assert (status, set(answer)) == (200, {"token"})
    ask = asking(sandbox, answer["token"])
    for operation in OPERATIONS:
        allowed = ask(operation.method, ROOT + operation.path.replace(":", ""), {})[0] != 403
        assert allowed == (operation.permission in expected), operation


def test_a_token_can_be_of_another_account_and_actor(sandbox: Sandbox, admin: Ask) -> None:
    made = {"permissions": list(PERMISSIONS), "account_id": "2002", "actor": "Ada"}
    ask = asking(sandbox, admin("POST", "/_sandbox/tokens", made)[1]["token"])
    assert ask("GET", f"{ROOT}/contacts")[0] == 403
    root = ROOT.replace("1001", "2002")
    body = {"number": "5550100", "country_code": "+1"}
    contact = ask("POST", f"{root}/contacts", body)[1]["data"]["id"]
    assert ask("GET", f"{root}/contacts/{contact}")[1]["data"]["created_by"] == "Ada"


# --- events ---------------------------------------------------------------------------


def register(api: Ask, url: str, events: list[str], *, is_active: bool = True) -> dict[str, Any]:
    body = {"url": url, "events": events, "is_active": is_active}
    status, answer = api("POST", f"{ROOT}/webhooks", body)
    assert status == 201
    return dict(answer["data"])


def test_an_event_is_delivered_to_the_active_webhooks_of_its_kind(admin: Ask, api: Ask) -> None:
    everything = register(api, "https://hooks.example/all", ["*"])
    named = register(api, "https://hooks.example/named", ["other", KIND])
    other = register(api, "https://hooks.example/other", ["other"])
    inactive = register(api, "https://hooks.example/inactive", ["*"], is_active=False)
    with listening() as listener:
        body = {"url": "https://hooks.example/", "to": listener.url}
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
    for headers, sent in listener.messages:
        report = json.loads(sent)
        assert (report["event"], report["data"]) == (KIND, event["payload"])
        assert sum(is_signed(sent, headers, secret) for secret in secrets) == 1
    records = {record["id"]: record for record in api("GET", f"{ROOT}/webhooks")[1]["data"]}
    for hook in (everything, named):
        record = records[hook["id"]]
        assert record["last_delivery_at"] > hook["created_at"] == record["updated_at"]
        assert record["last_delivery_status"] == "delivered"
        assert record["last_delivery_http_status"] == 200
        assert record["last_delivery_error"] is None
    for hook in (other, inactive):
        assert records[hook["id"]]["last_delivery_at"] is None


def is_signed(body: bytes, headers: dict[str, str], secret: str) -> bool:
    """Return whether a delivery is signed with a secret."""
    try:
        verify(body, headers, secret, now=int(headers["webhook-timestamp"]))
    except ValueError:
        return False
    return True


def test_a_failed_and_a_refused_delivery_are_recorded_with_the_reason(
    admin: Ask, api: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = register(api, "https://hooks.example/failed", ["*"])
    refused = register(api, "https://hooks.example/refused", ["*"])
    with listening(answering(500)) as listener:
        receiver = {"url": "https://hooks.example/failed", "to": listener.url}
        admin("POST", "/_sandbox/receivers", receiver)
        _, answer = admin("POST", "/_sandbox/events", {"kind": "any", "payload": None})
    output = [(d["webhook_id"], d["status"], d["http_status"]) for d in answer["deliveries"]]
    assert output == [(failed["id"], "failed", 500), (refused["id"], "refused", None)]
    records = {record["id"]: record for record in api("GET", f"{ROOT}/webhooks")[1]["data"]}
    for delivery in answer["deliveries"]:
        record = records[delivery["webhook_id"]]
        assert record["last_delivery_status"] == delivery["status"]
        assert record["last_delivery_http_status"] == delivery["http_status"]
        assert record["last_delivery_error"] == delivery["error"] != ""
    monkeypatch.setattr("chatkit.sandbox.delivery.MOST_WAITING", 0)
    status, answer = admin("POST", "/_sandbox/events", {"kind": KIND, "payload": {}})
    assert status == 503
    assert "deliveries wait" in answer["error"]


def test_a_slow_receiver_does_not_block_the_server(fresh: Any) -> None:
    held = HeldAnswer()
    token = {"Authorization": f"Bearer {fresh.sandbox.admin_token}"}
    event = {"kind": KIND, "payload": {}}
    with listening(held) as listener, ThreadPoolExecutor(1) as pool:
        fresh.sandbox.allow("https://hooks.example/", listener.url)
        hook = {"url": "https://hooks.example/", "events": ["*"]}
        assert fresh.call("POST", f"{ROOT}/webhooks", hook)[0] == 201
        answer = pool.submit(fresh.call, "POST", "/_sandbox/events", event, **token)
        assert held.requested.wait(20)
        assert fresh.alive()
        assert fresh.sandbox.answer("GET", "/openapi.json", {}, b"")[0] == 200
        assert not answer.done()
        held.released.set()
        assert answer.result()[1]["deliveries"][0]["status"] == "delivered"


# --- faults ---------------------------------------------------------------------------


def drawn(settings: dict[str, object], calls: int = 10_000) -> Counter[tuple[Any, ...] | None]:
    faults = Faults()
    faults.apply(settings)
    draws = (faults.draw_fault() for _ in range(calls))
    return Counter(None if fault is None else (fault.kind, fault.after) for fault in draws)


def test_the_rates_hold_and_one_number_is_halved_between_before_and_after() -> None:
    counts = drawn(
        {"429": 0.1, "5xx": {"before": 0.05, "after": 0.15}, "dropped": 0.2, "truncated": 0.1}
    )
    expected = {
        ("429", False): 1000,
        ("5xx", False): 500,
        ("5xx", True): 1500,
        ("dropped", False): 1000,
        ("dropped", True): 1000,
        ("truncated", True): 1000,
        None: 4000,
    }
    assert set(counts) == set(expected)
    for fault, count in expected.items():
        assert abs(counts[fault] - count) < 200, fault
    assert drawn({}) == {None: 10_000}
    assert drawn({"truncated": 1}, 100) == {("truncated", True): 100}


def test_the_same_seed_meets_the_same_faults_and_an_empty_setting_ends_them() -> None:
    all_draws = []
    for seed in (7, 7, 8):
        faults = Faults()
        faults.apply({"5xx": 0.5, "seed": seed, "latency": 2, "retry_after": 30})
        assert (faults.latency, faults.retry_after) == (2, 30)
        all_draws.append([faults.draw_fault() for _ in range(200)])
        faults.apply({})
        assert (faults.latency, faults.retry_after, faults.draw_fault()) == (0, 1, None)
    one, two, other = all_draws
    assert one == two != other
    assert {fault.status for fault in one if fault} == {500, 502, 503, 504}


# --- reset, log -----------------------------------------------------------------------


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


def test_the_log_shows_calls_without_query_header_and_body(admin: Ask, api: Ask) -> None:
    api("GET", f"{ROOT}/contacts?search=Ada")
    api("POST", f"{ROOT}/contacts", {"number": "5550100"})
    first, second = admin("GET", "/_sandbox/requests")[1]["requests"]
    assert set(first) == {"method", "path", "status", "ms", "time"}
    assert (first["method"], first["path"], first["status"]) == ("GET", f"{ROOT}/contacts", 200)
    assert (second["method"], second["status"]) == ("POST", 422)
    assert first["time"].endswith("+00:00")
    assert "Ada" not in json.dumps([first, second])


def test_the_admin_api_is_served_over_http(fresh: Any) -> None:
    token = {"Authorization": f"Bearer {fresh.sandbox.admin_token}"}
    body = {"permissions": ["Chat Contacts, View"]}
    status, answer = fresh.call("POST", "/_sandbox/tokens", body, **token)
    assert status == 200
    bearer = {"Authorization": f"Bearer {answer['token']}"}
    assert fresh.call("GET", f"{ROOT}/contacts", **bearer)[0] == 200
    assert fresh.call("GET", f"{ROOT}/flows", **bearer)[0] == 403
    assert fresh.call("POST", "/_sandbox/tokens", body)[0] == 401
