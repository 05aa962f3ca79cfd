"""Tests of access: tokens, and calls a second. The contract suite tests the permissions."""

import pytest
from caller import Caller

from chatkit import ServiceProfile
from chatkit.sandbox import Sandbox
from chatkit.sandbox.interface import RefusedRequest
from chatkit.sandbox.service import OPERATIONS, PERMISSIONS, AccessTokens
from chatkit.sandbox.store import Clock, SandboxStore


def test_a_token_of_another_account_is_forbidden():
    with Sandbox(seed="empty") as sandbox:
        call, token = Caller(sandbox), sandbox.make_token(*PERMISSIONS, account_id="1002")
        for operation in OPERATIONS:
            path = operation.path.replace(":", "")
            assert call(operation.method, path, {}, token=token).status == 403, operation
            assert call(operation.method, path, {}, account="1002").status == 403, operation


@pytest.mark.parametrize(
    "header",
    [
        *(None, "", "Bearer", "Bearer ", "{token}", "Bearer{token}", "Bearer  {token}"),
        *(" Bearer {token}", "Bearer\t{token}", "Bearer {token} ", "Basic {token}"),
        *(
            "Bearer {token}, Bearer {token}",
            "Bearer \udcff",
            "Bearer \0",
            f"Bearer {'x' * 100_000}",
        ),
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


@pytest.mark.parametrize("status", [403, 401, 404])
def test_a_missing_permission_has_the_profiles_status(status):
    with Sandbox(profile=ServiceProfile(forbidden_status=status)) as sandbox:
        call = Caller(sandbox)
        assert call("GET", "/flows", token=sandbox.make_token()).status == status
        assert call("GET", "/flows", authorization=f"bearer {sandbox.token}").status == 200
        with pytest.raises(ValueError, match="Chat Everything"):
            sandbox.make_token("Chat Everything")


def test_a_file_keeps_tokens_by_their_hash_only(tmp_path):
    path = tmp_path / "sandbox.db"
    with Sandbox(path) as sandbox:
        token = sandbox.make_token("Chat Contacts, View")
    assert token.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    with Sandbox(path) as sandbox:
        assert Caller(sandbox)("GET", "/contacts", token=token).status == 200
        assert Caller(sandbox)("GET", "/flows", token=token).status == 403


def test_each_token_has_its_own_limit_of_calls_a_second():
    now = [100.0]
    profile = ServiceProfile(rate_limit=3)
    access = AccessTokens(SandboxStore(), profile, Clock(), now=lambda: now[0])
    one, another = (
        access.find_grant(f"Bearer {access.issue_token([], '1001', name)}")
        for name in ("one", "another")
    )
    for _ in range(3):
        access.count_call(one)
        access.count_call(another)
        now[0] += 0.25
    with pytest.raises(RefusedRequest) as caught:
        access.count_call(one)
    assert caught.value.headers == {"retry-after": "1"}
    now[0] += 0.25  # the first call is a second old
    access.count_call(one)
    with pytest.raises(RefusedRequest):
        access.count_call(one)


def test_too_many_calls_are_answered_with_429():
    with Sandbox(profile=ServiceProfile(rate_limit=1)) as sandbox:
        statuses = {Caller(sandbox)("GET", "/contacts").status for _ in range(50)}
    assert statuses == {200, 429}
