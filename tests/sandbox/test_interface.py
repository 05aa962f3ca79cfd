"""The interface: paths, bodies, envelopes and refusals that all operations have in common."""

import json
import re

import pytest
from caller import Caller
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import Service

from chatkit import ServiceProfile
from chatkit.sandbox import Sandbox
from chatkit.sandbox.interface import (
    MAX_BODY,
    MAX_DEPTH,
    REFUSALS,
    FieldProblem,
    RefusedRequest,
    ResponseBuilder,
    ServiceAnswer,
    find_operation,
    make_invalid_refusal,
    read_object,
)
from chatkit.sandbox.service import OPERATIONS, PATHS, PERMISSIONS

# --- the operations -------------------------------------------------------------------


def test_the_operations_are_those_of_the_document(shared):
    document = (shared / "api.md").read_text()
    rows = re.findall(r"^\| (GET|POST|PUT|PATCH|DELETE) \| `<P>(\S+)` \|", document, re.MULTILINE)
    assert len(rows) == 20
    assert sorted((o.method, o.path) for o in OPERATIONS) == sorted(rows)
    permissions = re.findall(r"^\| .* \| (Chat [A-Z]\w+, [A-Z]\w+) \|$", document, re.MULTILINE)
    assert sorted(set(permissions)) == sorted(PERMISSIONS)


def test_other_methods_are_refused_with_the_allowed_ones():
    methods = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "get", "BREW"}
    with Sandbox() as sandbox:
        for path in {operation.path for operation in OPERATIONS}:
            allowed = sorted(each.method for each in OPERATIONS if each.path == path)
            for method in methods.difference(allowed):
                reply = Caller(sandbox)(method, path.replace(":", ""))
                assert (reply.status, reply.headers["allow"]) == (405, ", ".join(allowed))


@settings(deadline=None)
@given(st.text())
def test_any_text_as_a_path_is_routed_or_refused(text):
    for path in (text, "/api/business/public/channels/chat/accounts/1001/" + text):
        try:
            assert find_operation(PATHS, "GET", path)[1]
        except RefusedRequest as refusal:
            assert refusal.reason in ("no_path", "malformed", "wrong_method")


# --- bodies ---------------------------------------------------------------------------


def nested(levels: int) -> bytes:
    return b'{"a":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"null", b"[]", b'"x"', b"1", b"true", b"{", b"{} x", b'{"a":1,"\\u0061":1}'),
        *(b'{"a":NaN}', b'{"a":1e999}', b'{"a":"\\ud800"}', b'{"a":"\xff"}'),
        *(b'\xef\xbb\xbf{"a":1}', '{"a":1}'.encode("utf-16"), b"\xa0{}"),
        *(nested(MAX_DEPTH + 1), nested(100_000)),
    ],
)
def test_a_body_that_is_no_plain_json_object_is_malformed(body):
    with pytest.raises(RefusedRequest) as caught:
        read_object({"content-type": "application/json"}, body)
    assert caught.value.reason == "malformed"


def test_a_body_of_the_greatest_depth_and_size_is_read():
    json_type = {"content-type": "application/json"}
    for body in (nested(MAX_DEPTH), b'{"a":[' + b",".join([b"[[]]"] * 1000) + b"]}"):
        assert read_object(json_type, body) == json.loads(body)
    assert read_object(json_type, b"{}" + b" " * (MAX_BODY - 2)) == {}
    with pytest.raises(RefusedRequest) as caught:
        read_object(json_type, b"{}" + b" " * (MAX_BODY - 1))
    assert caught.value.reason == "too_large"


def test_the_body_of_a_read_or_a_delete_is_ignored():
    with Sandbox() as sandbox:
        call = Caller(sandbox)
        contact = call.contact()
        assert call("GET", "/contacts", b"\xff", content_type=None).status == 200
        assert call("DELETE", f"/contacts/{contact}", b"[", content_type="text/plain").status == 200


# --- answers --------------------------------------------------------------------------


def test_a_page_has_the_envelope_and_the_pagination():
    with Sandbox(seed="demo") as sandbox, Sandbox(quirks={"no_pagination"}) as other:
        reply = Caller(sandbox)("GET", f"/contacts?page=2&pageSize={'9' * 400}")
        assert "pagination" not in Caller(other)("GET", "/contacts").json
    envelope = {**reply.json, "data": len(reply.data)}
    pagination = {"page": 2, "pageSize": 100, "totalCount": 250, "totalPages": 3}
    assert envelope == {
        "success": True, "statusCode": 200, "data": 100, "pagination": pagination,
    }  # fmt: skip


@pytest.mark.parametrize("no_body", [False, True])
def test_updates_and_deletes_have_a_body_or_none(no_body):
    with Service.of(no_body=no_body).sandbox() as sandbox:
        call = Caller(sandbox)
        call.content()
        contact = call.contact()
        replies = [
            call("PUT", f"/contacts/{contact}", {"name": "B"}),
            call("PUT", f"/flows/{call.flow()}", {}),
            call("PATCH", f"/webhooks/{call.webhook().data['id']}", {}),
            call("PUT", "/templates/greeting/contents/en", {}),
        ]
        assert call("GET", "/contacts").data[0]["first_name"] == "B"
        replies.append(call("DELETE", f"/contacts/{contact}"))
    for reply in replies:
        assert reply.status == (204 if no_body else 200)
        assert (reply.body == b"") == ("content-type" not in reply.headers) == no_body


def test_a_refusal_has_an_envelope_with_each_problem():
    with Sandbox() as sandbox:
        unknown = Caller(sandbox)("GET", "/contacts/1")
        refused = Caller(sandbox)("POST", "/contacts", {})
    assert unknown.json == {"success": False, "statusCode": 404, "message": "Contact not found"}
    assert refused.headers["content-type"] == "application/json"
    assert refused.json["errors"][0] == {"field": "number", "message": "is required"}


@pytest.mark.parametrize("html", [False, True])
def test_an_error_can_name_any_field_and_a_page_escapes_it(html):
    with Service.of(html_errors=html, unknown_fields="refuse").sandbox() as sandbox:
        for name in ("\0", "é\u2028", "\U0001f600", '"\\', "x" * 10_000, "<script>"):
            reply = Caller(sandbox)("POST", "/contacts", {name: 1})
            assert reply.status == 422
    if html:
        assert reply.headers["content-type"] == "text/html; charset=utf-8"
        assert b"<script>" not in reply.body and b"&lt;script&gt;" in reply.body


def test_each_reason_has_an_error_status_and_the_headers_of_the_refusal():
    replies = ResponseBuilder(ServiceProfile())
    for reason in REFUSALS:
        answer = replies.build_refusal(RefusedRequest(reason, "why", headers={"retry-after": "1"}))
        assert 400 <= answer.status < 600
        assert answer.headers["retry-after"] == "1"


def test_a_message_names_three_problems_and_the_list_all():
    refusal = make_invalid_refusal(*(FieldProblem(f"f{n}", "is required") for n in range(9)))
    assert refusal.message == "f0: is required; f1: is required; f2: is required"
    assert len(refusal.problems) == 9


def test_no_two_answers_share_their_headers():
    one, other = ServiceAnswer(200, b""), ServiceAnswer(200, b"")
    one.headers["x"] = "1"
    assert other.headers == {}
