"""Bodies: plain JSON objects and nothing else."""

import json

import pytest
from caller import Caller
from hypothesis import given, settings
from hypothesis import strategies as st

from chatkit.sandbox import Sandbox
from chatkit.sandbox.interface import MAX_DEPTH, RefusedRequest, dumps, read_object

JSON_HEADERS = {"content-type": "application/json"}


def read(body: bytes, **headers: str):
    return read_object(JSON_HEADERS | headers, body)


def nested(levels: int) -> bytes:
    return b'{"a":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


@pytest.mark.parametrize(
    "body",
    [
        b"", b" ", b"null", b"[]", b'"x"', b"1", b"true", b"{", b"}", b"{}{}", b"{} x", b"{}\0",
        b'{"a":1,}', b"{'a':1}", b"{a:1}", b'{"a":1 "b":2}', b'{"a":01}', b'{"a":+1}', b'{"a":.5}',
        b'{"a":NaN}', b'{"a":Infinity}', b'{"a":-Infinity}', b'{"a":1e999}', b'{"a":-1e999}',
        b'{"a":1,"a":1}', b'{"a":{"b":1,"b":2}}', b'{"a":1,"\\u0061":1}',
        b'{"a":"\\ud800"}', b'{"a":"\\udc00\\ud800"}', b'{"\\ud800":1}', b'{"a":"\\uD83D"}',
        b'{"a":' + b"9" * 4301 + b"}",
        b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}', b'{"a":"\xc0\xaf"}',
        b'\xef\xbb\xbf{"a":1}', '{"a":1}'.encode("utf-16"), '{"a":1}'.encode("utf-32"),
        b'{"a":"\n"}', b'{"a":"\0"}', b'{"a":"\\x"}', b'{"a":"\\u12"}', b"\xa0{}", b"\x0c{}",
        nested(MAX_DEPTH + 1), nested(900), nested(100_000), b'{"a":' * 100_000, b"[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_plain_json_object_is_malformed(body):
    with pytest.raises(RefusedRequest) as caught:
        read(body)
    assert caught.value.reason == "malformed"


def test_the_deepest_body_allowed_is_read():
    assert read(nested(MAX_DEPTH)) == json.loads(nested(MAX_DEPTH))
    wide = b'{"a":[' + b",".join([b"[[]]"] * 1000) + b"]}"
    assert len(read(wide)["a"]) == 1000


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False).filter(
                lambda x: abs(x) != float("inf")
            ) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=12,
        ),
        max_size=4,
    ),
    st.booleans(),
)  # fmt: skip
def test_every_other_object_is_read_and_printed_equal(value, ascii_only):
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert read(body) == value
    assert json.loads(dumps(read(body))) == value


def test_the_json_test_suite_is_answered_without_a_server_error(shared):
    bodies = sorted((shared / "corpora/jsontestsuite").glob("*.json"))
    assert len(bodies) > 300
    with Sandbox() as sandbox:
        call = Caller(sandbox)
        for file in bodies:
            raw = file.read_bytes()
            alone = call("POST", "/contacts", raw)
            inside = call("POST", "/contacts", b'{"number":' + raw + b"}")
            assert (alone.status, inside.status) in {(a, b) for a in (400, 422) for b in (400, 422)}
            if file.name.startswith("n_"):
                assert alone.status == 400, file.name


@pytest.mark.parametrize(
    "content_type",
    ["application/json; charset=utf-8", "application/JSON;charset=UTF-8",
     'application/json; charset="utf-8"', "application/json;"],
)  # fmt: skip
def test_json_may_say_that_it_is_utf_8(content_type):
    assert read(b"{}", **{"content-type": content_type}) == {}


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "text/json", "application/jsonp", "application/json; charset=latin-1",
     "application/x-www-form-urlencoded", "multipart/form-data", "application/json, text/plain",
     "application/problem+json", "application/json; boundary=x"],
)  # fmt: skip
def test_other_content_types_are_refused(content_type):
    with Sandbox() as sandbox:
        reply = Caller(sandbox)("POST", "/contacts", b"{}", content_type=content_type)
        assert reply.status == 415


def test_a_compressed_body_is_refused():
    with pytest.raises(RefusedRequest) as caught:
        read(b"{}", **{"content-encoding": "gzip"})
    assert caught.value.reason == "media_type"


def test_a_body_over_the_cap_is_too_large(monkeypatch):
    monkeypatch.setattr("chatkit.sandbox.interface.MAX_BODY", 100)
    with Sandbox() as sandbox:
        call = Caller(sandbox)
        at_the_cap = b'{"a":"' + b"x" * 92 + b'"}'
        assert (len(at_the_cap), call("POST", "/contacts", at_the_cap).status) == (100, 422)
        assert call("POST", "/contacts", at_the_cap + b" ").status == 413


def test_reads_and_deletes_do_not_look_at_a_body():
    with Sandbox() as sandbox:
        call = Caller(sandbox)
        contact = call.contact()
        assert call("GET", "/contacts", b"\xff", content_type=None).status == 200
        assert call("DELETE", f"/contacts/{contact}", b"[", content_type="text/plain").status == 200
