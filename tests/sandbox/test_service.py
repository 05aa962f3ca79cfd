"""The service as one function: whatever is asked, it answers, and never with a bug."""

import json
import sqlite3

import pytest
from caller import ROOT, Caller
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import service_of, store_of
from profiles import SERVICES
from volume import volume

from chatkit.sandbox import Sandbox
from chatkit.sandbox.interface import Request
from chatkit.sandbox.service import OPERATIONS

PATHS = sorted({operation.path for operation in OPERATIONS})
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
UNUSUAL = st.sampled_from(
    ["1", "301", "41", "50001", "en", "%00", "%2F", "x" * 300, "-1"]
) | st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["+1", "7"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
NAMES = ["name", "number", "country_code", "flow_json", "flow_json_raw", "template_name", "url",
         "events", "is_active", "lang_code", "text", "headers", "buttons", "variables"]  # fmt: skip
BODIES = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), VALUES, max_size=6)
QUERIES = st.sampled_from(["", "page=2", "pageSize=0", "search=a", "q=%00", "status=%F0%9F%98%80"])


@pytest.fixture(scope="module")
def calls():
    sandboxes = [service.sandbox("demo") for service in SERVICES]
    yield [Caller(sandbox) for sandbox in sandboxes]
    for sandbox in sandboxes:
        sandbox.close()


@settings(deadline=None, max_examples=volume(150))
@given(data=st.data(), at=st.integers(0, len(SERVICES) - 1), method=st.sampled_from(METHODS),
       path=st.sampled_from(PATHS), query=QUERIES, body=BODIES)  # fmt: skip
def test_any_request_under_any_profile_is_answered(calls, data, at, method, path, query, body):
    segments = [data.draw(UNUSUAL) if part.startswith(":") else part for part in path.split("/")]
    reply = calls[at](method, f"{'/'.join(segments)}?{query}", json.dumps(body).encode())
    assert 200 <= reply.status < 500, reply


def test_a_store_that_fails_is_answered_with_503_and_nothing_is_kept(monkeypatch):
    with Sandbox(seed="empty") as sandbox:
        call = Caller(sandbox)
        call.contact("2025550143")

        def fail(*_):
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(service_of(sandbox).contacts.table, "insert", fail)
        reply = call("POST", "/contacts", {"number": "2025550144", "country_code": "+1"})
        assert reply.status == 503
        monkeypatch.undo()
        assert call("GET", "/contacts").total == 1
        assert call.contact("2025550144")


def test_only_writes_wait_for_a_commit_and_many_for_one():
    with Sandbox(seed="empty") as sandbox:
        service, store = service_of(sandbox), store_of(sandbox)
        headers = {"authorization": f"Bearer {sandbox.token}", "content-type": "application/json"}
        path = f"{ROOT}1001/contacts"
        assert service.answer(Request("GET", path, "", headers, b"")).status == 200
        assert not store.dirty
        for at in range(20):
            body = b'{"number":"20255501%02d","country_code":"+1"}' % at
            assert service.answer(Request("POST", path, "", headers, body)).status == 201
            assert store.dirty
        store.rollback()
        assert not store.dirty
        assert Caller(sandbox)("GET", "/contacts").data == []


def test_an_unknown_path_is_refused_before_a_missing_token():
    with Sandbox() as sandbox:
        assert Caller(sandbox)("GET", "/nothing", authorization=None).status == 404
        assert Caller(sandbox)("GET", "/contacts", authorization=None).status == 401
