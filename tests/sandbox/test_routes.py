"""Paths: what is there, what is not, and what cannot be read."""

import pytest
from caller import Caller
from hypothesis import given, settings
from hypothesis import strategies as st

from chatkit import ServiceProfile
from chatkit.sandbox import Sandbox
from chatkit.sandbox.interface import RefusedRequest, find_operation
from chatkit.sandbox.service import PATHS


@pytest.fixture(scope="module")
def call():
    with Sandbox(seed="empty") as sandbox:
        yield Caller(sandbox)


INVALID_IDS = [
    "0", "-1", "+1", "1.0", "1e3", "0x1", "00050001", " 50001", "50001%20", "%2050001", "50001%00",
    "9" * 18, "9" * 19, "9" * 400, "9" * 5000, "18446744073709551616", "-9223372036854775808",
    "%D9%A5%D9%A0", "%E2%91%A0", "%EF%BC%95", "null", "NaN", "%2e%2e", "%2e", "%2F", "5%2F0",
    "%00", "'", "1%20OR%201=1", "%F0%9F%98%80", "*", "{}",
]  # fmt: skip


@pytest.mark.parametrize("unusual", INVALID_IDS)
@pytest.mark.parametrize("status", [404, 400, 410])
def test_odd_ids_are_unknown(unusual, status):
    with Sandbox(profile=ServiceProfile(not_found_status=status)) as sandbox:
        call = Caller(sandbox)
        expected = (404,) if unusual in ("%2e%2e", "%2e") else (status,)
        assert call("GET", f"/contacts/{unusual}").status in expected
        assert call("PUT", f"/flows/{unusual}", {}).status in expected
        assert call("PATCH", f"/webhooks/{unusual}", {}).status in expected
        assert call("DELETE", f"/contacts/{unusual}").status in expected


@pytest.mark.parametrize(
    "path",
    [
        "", "/", "/contact", "/contacts/", "/contacts/1/", "/contacts//1", "/contacts/1/2",
        "/Contacts", "/templates", "/templates/t", "/templates/t/content", "/templates//contents",
        "/templates/./contents", "/templates/../contents", "/templates/%2e%2e/contents",
        "/templates/t/contents/", "/templates/t/contents/..",
        "/templates/t/contents/lookups/language",
        "/templates/t/contents/en/x", "/messages", "/contacts%2F1", "/contacts;x", "/contacts%00",
    ],
)  # fmt: skip
def test_other_paths_are_not_there(call, path):
    assert call("GET", path).status == 404
    assert call("POST", path, {}).status == 404


@pytest.mark.parametrize(
    "path", ["/contacts/%", "/contacts/%2", "/contacts/%zz", "/contacts/%ff", "/contacts/%C0%AF",
             "/contacts/é", "/contacts/%ED%A0%80", "/templates/%ff/contents"]
)  # fmt: skip
def test_paths_that_are_no_text_cannot_be_read(call, path):
    assert call("GET", path).status == 400


def test_escapes_of_plain_characters_change_nothing(call):
    assert call("GET", "/%63ontacts").status == 200
    call.content(code="a b/ü")
    assert call("GET", "/templates/a%20b%2F%C3%BC/contents").data[0]["lang_code"] == "en"


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/flows", "GET, POST"),
        ("/flows/1", "DELETE, GET, PUT"),
        ("/templates/t/contents", "GET, POST"),
        ("/templates/t/contents/en", "DELETE, GET, PUT"),
        ("/templates/t/contents/lookups/languages", "GET"),
        ("/contacts", "GET, POST"),
        ("/contacts/1", "DELETE, GET, PUT"),
        ("/webhooks", "GET, POST"),
        ("/webhooks/1", "DELETE, PATCH"),
    ],
)
def test_other_methods_are_refused_and_the_allowed_ones_told(call, path, allowed):
    methods = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "get", "BREW"}
    for method in methods - set(allowed.split(", ")):
        reply = call(method, path)
        assert (reply.status, reply.headers["allow"]) == (405, allowed)


@settings(deadline=None)
@given(st.text())
def test_any_text_as_a_path_is_routed_or_refused(text):
    for path in (text, "/api/business/public/channels/chat/accounts/1001/" + text):
        try:
            assert find_operation(PATHS, "GET", path)[1]
        except RefusedRequest as refusal:
            assert refusal.reason in ("no_path", "malformed", "wrong_method")
