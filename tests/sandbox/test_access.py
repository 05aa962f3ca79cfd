"""Tests of access: tokens, the permission of each operation, calls a second."""

import pytest
from caller import FLOW, Caller

from chatkit import ServiceProfile
from chatkit.sandbox import Sandbox
from chatkit.sandbox.interface import RefusedRequest
from chatkit.sandbox.service import AccessTokens
from chatkit.sandbox.store import Clock, SandboxStore

VIEW, ADD, EDIT, DELETE = "View", "Add", "Edit", "Delete"
# The table of section Authentication, by hand: method, path, body, permission.
MATRIX = [
    ("GET", "/flows", None, "Chat Flows, View"),
    ("GET", "/flows/{flow}", None, "Chat Flows, View"),
    ("POST", "/flows", {"name": "x", "template_name": "default", **FLOW}, "Chat Flows, Add"),
    ("PUT", "/flows/{flow}", FLOW, "Chat Flows, Edit"),
    ("DELETE", "/flows/{flow}", None, "Chat Flows, Delete"),
    ("GET", "/templates/t/contents/lookups/languages", None, "Chat Templates, View"),
    ("GET", "/templates/t/contents", None, "Chat Templates, View"),
    ("GET", "/templates/t/contents/en", None, "Chat Templates, View"),
    ("POST", "/templates/t/contents", {"lang_code": "de", "text": "x"}, "Chat Templates, Add"),
    ("PUT", "/templates/t/contents/en", {"text": "x"}, "Chat Templates, Edit"),
    ("DELETE", "/templates/t/contents/en", None, "Chat Templates, Delete"),
    ("GET", "/contacts", None, "Chat Contacts, View"),
    ("GET", "/contacts/{contact}", None, "Chat Contacts, View"),
    ("POST", "/contacts", {"number": "2025550199", "country_code": "+1"}, "Chat Contacts, Add"),
    ("PUT", "/contacts/{contact}", {"name": "x"}, "Chat Contacts, Edit"),
    ("DELETE", "/contacts/{contact}", None, "Chat Contacts, Delete"),
    ("GET", "/webhooks", None, "Chat Detail, View"),
    ("POST", "/webhooks", {"url": "https://hooks.example/b", "events": []}, "Chat Detail, Edit"),
    ("PATCH", "/webhooks/{webhook}", {"is_active": False}, "Chat Detail, Edit"),
    ("DELETE", "/webhooks/{webhook}", None, "Chat Detail, Delete"),
]
ALL = sorted({permission for *_, permission in MATRIX})


@pytest.fixture(params=MATRIX, ids=[f"{method} {path}" for method, path, *_ in MATRIX])
def operation(request):
    with Sandbox(seed="empty") as sandbox:
        call = Caller(sandbox)
        ids = {"flow": call.flow(), "contact": call.contact()}
        ids["webhook"] = call.webhook().data["id"]
        call.content(code="t")
        method, path, body, permission = request.param
        yield call, method, path.format(**ids), body, permission


def test_each_operation_is_allowed_by_its_own_permission_alone(operation):
    call, method, path, body, permission = operation
    token = call.sandbox.make_token(permission)
    assert call(method, path, body, token=token).status in (200, 201)


def test_each_operation_is_refused_without_its_permission(operation):
    call, method, path, body, permission = operation
    for other in ALL:
        if other != permission:
            token = call.sandbox.make_token(other)
            assert call(method, path, body, token=token).status == 403, other
    everything_else = call.sandbox.make_token(*(p for p in ALL if p != permission))
    assert call(method, path, body, token=everything_else).status == 403
    assert call(method, path, body, token=call.sandbox.make_token()).status == 403
    # None of them did anything.
    assert call(method, path, body).status in (200, 201)


def test_a_token_of_another_account_opens_nothing(operation):
    call, method, path, body, _ = operation
    other_account = call.sandbox.make_token(*ALL, account_id="1002")
    assert call(method, path, body, token=other_account).status == 403
    assert call(method, path, body, account="1002").status == 403


def test_the_records_of_one_account_are_unknown_in_another(operation):
    call, method, path, body, _ = operation
    other_account = call.sandbox.make_token(*ALL, account_id="1002")
    reply = call(method, path, body, token=other_account, account="1002")
    if "{" in path or path[-1].isdigit() or path.endswith("/en"):
        assert reply.status == 404
    elif method == "GET" and "lookups" not in path:
        assert reply.data == []


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Bearer {token}x",
        "Bearer {token} ",
        "Bearer  {token}",
        " Bearer {token}",
        "Bearer\t{token}",
        "Basic {token}",
        "{token}",
        "Token {token}",
        "Bearer {token}, Bearer {token}",
        "Bearer \udcff",
        "Bearer \0",
        "Bearer " + "x" * 100_000,
    ],
)
@pytest.mark.parametrize("status", [401, 403])
def test_missing_wrong_and_malformed_tokens_are_refused(header, status):
    with Sandbox(profile=ServiceProfile(unauthenticated_status=status)) as sandbox:
        if header:
            header = header.replace("{token}", sandbox.token)
        reply = Caller(sandbox)("GET", "/contacts", authorization=header)
        assert reply.status == status
        assert reply.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)


def test_the_scheme_is_read_without_regard_to_case():
    with Sandbox() as sandbox:
        reply = Caller(sandbox)("GET", "/contacts", authorization=f"bearer {sandbox.token}")
        assert reply.status == 200


@pytest.mark.parametrize("status", [403, 401, 404])
def test_a_missing_permission_has_the_profiles_status(status):
    with Sandbox(profile=ServiceProfile(forbidden_status=status)) as sandbox:
        assert Caller(sandbox)("GET", "/flows", token=sandbox.make_token()).status == status


def test_a_permission_the_api_does_not_name_is_an_error():
    with Sandbox() as sandbox, pytest.raises(ValueError, match="Chat Everything"):
        sandbox.make_token("Chat Everything")


def test_a_file_keeps_tokens_by_their_hash_only(tmp_path):
    path = tmp_path / "sandbox.db"
    with Sandbox(path) as sandbox:
        token = sandbox.make_token("Chat Contacts, View")
    assert token.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    with Sandbox(path) as sandbox:
        assert Caller(sandbox)("GET", "/contacts", token=token).status == 200
        assert Caller(sandbox)("GET", "/flows", token=token).status == 403


def limited(limit=3):
    now = [100.0]
    profile = ServiceProfile(rate_limit=limit)
    access = AccessTokens(SandboxStore(), profile, Clock(), now=lambda: now[0])
    grants = [
        access.find_grant(f"Bearer {access.issue_token([], '1001', name)}")
        for name in ("one", "another")
    ]
    return access, grants, now


def test_a_token_makes_so_many_calls_in_any_second_and_another_as_many():
    access, (one, another), now = limited()
    for _ in range(3):
        access.count_call(one)
        access.count_call(another)
        now[0] += 0.25
    with pytest.raises(RefusedRequest):
        access.count_call(one)
    now[0] += 0.25  # the first call is a second old
    access.count_call(one)
    with pytest.raises(RefusedRequest):
        access.count_call(one)


def test_a_429_has_the_seconds_to_wait():
    access, (grant, _), _ = limited(limit=1)
    access.count_call(grant)
    with pytest.raises(RefusedRequest) as caught:
        access.count_call(grant)
    assert caught.value.headers == {"retry-after": "1"}


def test_too_many_calls_are_answered_with_429():
    with Sandbox(profile=ServiceProfile(rate_limit=1)) as sandbox:
        statuses = {Caller(sandbox)("GET", "/contacts").status for _ in range(50)}
    assert statuses == {200, 429}
