"""Replies: the envelope, and every form an error can have."""

import json

import pytest
from caller import Caller

from chatkit import ServiceProfile
from chatkit.sandbox import Sandbox


def under(**points):
    return Caller(Sandbox(seed="empty", profile=ServiceProfile(**points)))


def test_a_success_has_its_status_in_the_body_unless_the_profile_says_no():
    assert under()("GET", "/contacts").json["statusCode"] == 200
    reply = under(status_code_in_body=False)("GET", "/contacts")
    assert reply.json.keys() == {"success", "data", "pagination"}


@pytest.mark.parametrize("status", [200, 201, 204])
def test_an_update_has_the_profiles_status(status):
    call = under(update_status=status)
    call.content()
    replies = [
        call("PUT", f"/contacts/{call.contact()}", {"name": "B"}),
        call("PUT", f"/flows/{call.flow()}", {}),
        call("PATCH", f"/webhooks/{call.webhook().data['id']}", {}),
        call("PUT", "/templates/greeting/contents/en", {}),
    ]
    for reply in replies:
        assert reply.status == status
        assert (reply.body == b"") == (status == 204)
        assert ("content-type" in reply.headers) == (status != 204)
    assert call("GET", "/contacts").data[0]["first_name"] == "B"


@pytest.mark.parametrize("status", [200, 204])
def test_a_deletion_has_the_profiles_status(status):
    call = under(delete_status=status)
    reply = call("DELETE", f"/contacts/{call.contact()}")
    assert reply.status == status
    if status == 200:
        assert (reply.json["success"], reply.json["data"]) == (True, None)
        assert isinstance(reply.json["message"], str)
    else:
        assert reply.body == b""


FORMS = {
    "envelope": "application/json",
    "message": "application/json",
    "error_object": "application/json",
    "text": "text/plain; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "empty": None,
}


@pytest.mark.parametrize(("form", "content_type"), FORMS.items())
def test_errors_have_the_profiles_form_and_status(form, content_type):
    call = under(error_body=form, validation_status=400, not_found_status=410)
    invalid, unknown = call("POST", "/contacts", {}), call("GET", "/contacts/1")
    assert (invalid.status, unknown.status) == (400, 410)
    assert invalid.headers.get("content-type") == content_type
    match form:
        case "envelope":
            assert invalid.json["success"] is False
            assert invalid.json["statusCode"] == 400
            assert invalid.json["errors"][0] == {"field": "number", "message": "is required"}
            assert "errors" not in unknown.json
        case "message":
            assert unknown.json == {"message": "Contact not found"}
        case "error_object":
            assert unknown.json == {"error": {"code": "not_found", "message": "Contact not found"}}
            assert invalid.json["error"]["details"][1]["field"] == "country_code"
        case "text":
            assert unknown.body == b"Contact not found"
        case "html":
            assert b"<p>Contact not found</p>" in unknown.body
        case "empty":
            assert unknown.body == b""


def test_an_error_page_escapes_what_it_quotes():
    call = under(error_body="html", unknown_fields="refuse")
    body = {"number": "2025550143", "country_code": "+1", "<script>": 1}
    reply = call("POST", "/contacts", body)
    assert b"<script>" not in reply.body
    assert b"&lt;script&gt;" in reply.body


@pytest.mark.parametrize("form", FORMS)
def test_any_field_name_can_be_told_in_any_form(form):
    call = under(error_body=form, unknown_fields="refuse")
    for name in ("\0", "é\u2028", "\U0001f600", '"\\', "x" * 10_000):
        reply = call("POST", "/contacts", json.dumps({name: 1}).encode())
        assert reply.status == 422
