"""Replies: the envelope of successes and errors, and the quirks of services without it."""

import json

import pytest
from caller import Caller
from profiles import Service


def under(**points):
    return Caller(Service.of(**points).sandbox())


def test_a_success_has_its_status_in_the_body():
    reply = under()("GET", "/contacts")
    assert reply.json.keys() == {"success", "statusCode", "data", "pagination"}
    assert reply.json["statusCode"] == 200


def test_a_list_has_no_pagination_in_a_service_with_that_quirk():
    assert "pagination" not in under(no_pagination=True)("GET", "/contacts").json


@pytest.mark.parametrize("no_body", [False, True])
def test_updates_and_deletes_have_a_body_or_none(no_body):
    call = under(no_body=no_body)
    call.content()
    contact = call.contact()
    replies = [
        call("PUT", f"/contacts/{contact}", {"name": "B"}),
        call("PUT", f"/flows/{call.flow()}", {}),
        call("PATCH", f"/webhooks/{call.webhook().data['id']}", {}),
        call("PUT", "/templates/greeting/contents/en", {}),
    ]
    assert call("GET", "/contacts").data[0]["first_name"] == "B"
    deleted = call("DELETE", f"/contacts/{contact}")
    for reply in (*replies, deleted):
        assert reply.status == (204 if no_body else 200)
        assert (reply.body == b"") == ("content-type" not in reply.headers) == no_body
    if not no_body:
        assert (deleted.json["success"], deleted.json["data"]) == (True, None)
        assert isinstance(deleted.json["message"], str)


def test_errors_have_the_statuses_of_the_profile_and_an_envelope():
    call = under(validation_status=400, not_found_status=410)
    invalid, unknown = call("POST", "/contacts", {}), call("GET", "/contacts/1")
    assert (invalid.status, unknown.status) == (400, 410)
    assert invalid.headers["content-type"] == "application/json"
    assert invalid.json["success"] is False
    assert invalid.json["statusCode"] == 400
    assert invalid.json["errors"][0] == {"field": "number", "message": "is required"}
    assert "errors" not in unknown.json


def test_an_error_page_escapes_what_it_quotes():
    call = under(html_errors=True, unknown_fields="refuse")
    body = {"number": "2025550143", "country_code": "+1", "<script>": 1}
    reply = call("POST", "/contacts", body)
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert b"<script>" not in reply.body
    assert b"&lt;script&gt;" in reply.body


@pytest.mark.parametrize("html", [False, True])
def test_any_field_name_can_be_named_in_an_error(html):
    call = under(html_errors=html, unknown_fields="refuse")
    for name in ("\0", "é\u2028", "\U0001f600", '"\\', "x" * 10_000):
        reply = call("POST", "/contacts", json.dumps({name: 1}).encode())
        assert reply.status == 422
