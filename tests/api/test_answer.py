"""Answers: each becomes an envelope or exactly one error, with a text that helps."""

from __future__ import annotations

import json
import math
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatkit.api.answer import Answer, Envelope
from chatkit.api.call import Call
from chatkit.errors import (
    BadAnswer,
    CallError,
    Conflict,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    RateLimited,
    Refused,
    ServerFault,
    UnknownOutcome,
)
from chatkit.profile import ServiceProfile

PROFILE = ServiceProfile()
GET = Call("GET", ("contacts", 17))
POST = Call("POST", ("contacts",), body={"name": "Mary Lee"})


def answer(body: bytes | Any = b"", status: int = 200, call: Call = GET, **headers: str) -> Answer:
    fields = {"content-type": "application/json"} | {
        k.replace("_", "-"): v for k, v in headers.items()
    }
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(call, status, fields, content)


def failure(reply: Answer, profile: ServiceProfile = PROFILE) -> CallError:
    with pytest.raises(CallError) as caught:
        reply.unwrap(profile)
    assert str(caught.value).startswith(f"{reply.call}: "), "the text names the call"
    assert caught.value.status == reply.status
    assert caught.value.call is reply.call
    return caught.value


# --- successes ------------------------------------------------------------------------


def test_a_success_is_unwrapped() -> None:
    envelope = answer(
        {
            "success": True,
            "statusCode": 200,
            "message": "ok",
            "data": [{"id": 1}],
            "pagination": {"page": 1, "pageSize": 10, "totalCount": 1, "totalPages": 1},
        }
    ).unwrap(PROFILE)
    assert (envelope.success, envelope.message) == (True, "ok")
    assert msgspec.json.decode(envelope.data) == [{"id": 1}]
    assert envelope.pagination is not None
    assert envelope.pagination.total_pages == 1


def test_a_success_needs_only_what_is_documented_of_all() -> None:
    assert answer({"success": True}).unwrap(PROFILE) == Envelope(success=True)
    more = answer({"success": True, "data": None, "more": 1}).unwrap(PROFILE)
    assert bytes(more.data) == b"null"
    assert Answer(GET, 204, {}, b"").unwrap(PROFILE).success
    kind = "Application/JSON; charset=UTF-8"  # in any case
    assert answer({"success": True}, content_type=kind).unwrap(PROFILE).success


# --- answers of no use ----------------------------------------------------------------

HTML = b"<!doctype html><title>Sign in</title><script>steal()</script><p>Please <b>sign in</b>"
UNUSABLE = {
    "html": (answer(HTML, content_type="text/html"), "text/html, not JSON: Sign in Please sign in"),
    "empty": (answer(b""), "not the documented envelope"),
    "empty of no type": (Answer(GET, 200, {}, b""), r"of no known type, not JSON: \(empty\)"),
    "list": (answer([]), "Expected `object`"),
    "null": (answer(None), "Expected `object`"),
    "no success": (answer({"data": []}), "missing required field `success`"),
    "success is text": (answer({"success": "true"}), r"Expected `bool`.*\$\.success"),
    "pagination is a list": (answer({"success": True, "pagination": []}), r"\$\.pagination"),
    "total is text": (
        answer({"success": True, "pagination": {"page": 1, "pageSize": 1, "totalCount": "1"}}),
        r"\$\.pagination",
    ),
    "truncated": (answer(b'{"success":true,"data":[{"id":1'), "truncated"),
    "two": (answer(b'{"success":true}{"success":true}'), "trailing characters"),
    "NaN": (answer(b'{"success":true,"data":NaN}'), "malformed"),
    "not UTF-8": (answer('{"success":true,"message":"é"}'.encode("latin-1")), "envelope"),
    "UTF-16": (answer('{"success":true}'.encode("utf-16")), "malformed"),
    "half a character": (answer(b'{"success":true,"message":"\\ud800"}'), "envelope"),
    "deep": (answer(b'{"success":true,"data":' + b"[" * 100_000), "envelope"),
    "deep and whole": (
        answer(b'{"success":true,"data":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        "envelope",
    ),
    "redirect": (Answer(GET, 302, {"location": "https://x.example/"}, b""), "never followed"),
}


@pytest.mark.parametrize(("reply", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_an_answer_of_no_use_says_why(reply: Answer, reason: str) -> None:
    error = failure(reply)
    assert type(error) is BadAnswer
    with pytest.raises(BadAnswer, match=reason):
        raise error
    assert "steal" not in str(error)


def test_after_a_write_it_is_said_that_the_change_may_have_taken_effect() -> None:
    assert "may or may not have taken effect" in str(failure(answer(HTML, call=POST)))
    assert "taken effect" not in str(failure(answer(HTML)))
    view = repr(answer({"name": "Mary Lee"}))
    assert "GET contacts/17" in view and "Mary" not in view


def test_every_json_file_is_an_envelope_or_a_bad_answer(shared: Path) -> None:
    for path in sorted((shared / "corpora/jsontestsuite").glob("*.json")):
        text = path.read_bytes()
        for body in (text, b'{"success":true,"data":' + text + b"}"):
            try:
                answer(body).unwrap(PROFILE)
            except BadAnswer:
                continue
            assert not path.name.startswith("n_") or body is not text


@given(st.binary(), st.integers(100, 999), st.text(), st.text())
def test_whatever_comes_is_an_envelope_or_one_error(
    body: bytes, status: int, kind: str, wait: str
) -> None:
    for content in (body, json.dumps({"message": kind, "errors": {wait: kind}}).encode()):
        reply = Answer(GET, status, {"content-type": "json" + kind, "retry-after": wait}, content)
        try:
            reply.unwrap(PROFILE)
        except CallError as error:
            assert str(error).isprintable() or "\n" in str(error)


# --- refusals -------------------------------------------------------------------------

KINDS: dict[int, type[CallError]] = {
    **dict.fromkeys((400, 405, 413, 415, 422), Refused),
    **dict.fromkeys((408, 500, 502, 503, 504, 599), ServerFault),
    **dict.fromkeys((404, 410), NotFound),
    **{401: NotAuthenticated, 403: NotPermitted, 409: Conflict, 429: RateLimited},
}


@pytest.mark.parametrize(("status", "kind"), KINDS.items())
def test_the_status_decides_the_class(status: int, kind: type[CallError]) -> None:
    error = failure(answer({"success": True, "message": "why"}, status, POST))
    assert type(error) is kind
    assert f"{status} why" in str(error)
    assert isinstance(error, Refused) is not isinstance(error, UnknownOutcome)


def test_the_profile_says_which_status_means_what() -> None:
    blunt = ServiceProfile(unauthenticated_status=403, not_found_status=400, validation_status=400)
    assert type(failure(answer(status=403), blunt)) is NotAuthenticated
    assert type(failure(answer(status=400), blunt)) is NotFound
    assert type(failure(answer(status=400, call=POST), blunt)) is Refused, "it may be the body"
    assert type(failure(answer(status=401), blunt)) is NotAuthenticated, "HTTP says so, too"
    hidden = ServiceProfile(forbidden_status=404, not_found_status=410)
    assert type(failure(answer(status=404), hidden)) is NotPermitted


def test_success_false_with_200_is_a_refusal_and_a_long_text_is_cut() -> None:
    error = failure(answer({"success": False, "message": "Number is not valid"}))
    assert type(error) is Refused
    assert "says success: false. Number is not valid" in str(error)
    assert len(str(failure(answer({"message": "x" * 10_000}, 400)))) < 400


TEXTS = {
    "message": ({"message": "why"}, "why"),
    "list of messages": ({"message": ["a is long", "b is short"]}, "a is long; b is short"),
    "error": ({"error": "why"}, "why"),
    "error object": ({"error": {"code": 12, "message": "why"}}, "why"),
    "code only": ({"error": {"code": "E_WHY"}}, "E_WHY"),
    "detail": ({"detail": "why"}, "why"),
    "title": ({"type": "about:blank", "title": "why"}, "why"),
    "text": ("why", "why"),
    "markup": ({"message": "<b>why</b> <script>alert(1)</script>&amp; how"}, "why & how"),
    "steering": ({"message": "\x1b[31mwhy\x07\u202e"}, "[31mwhy"),
    "unknown": ({"odd": ["why"]}, '{"odd": ["why"]}'),
    "nothing": ({}, "{}"),
}


@pytest.mark.parametrize(("body", "output"), TEXTS.values(), ids=TEXTS)
def test_the_text_is_found_in_a_body_of_any_shape(body: Any, output: str) -> None:
    assert failure(answer(body, 422)).reason == f"422 {output}"


@pytest.mark.parametrize(
    ("body", "output"),
    [
        (b"plain why", "plain why"),
        (b"<h1>502</h1><script>x", "502"),
        (b"<" * 20_000, "Bad Gateway"),
        (b"<script " * 20_000, "Bad Gateway"),
        (b"", "Bad Gateway"),
        (b"\xff\xfe", "��"),
        (b"[" * 100_000, "[" * 299 + "…"),
    ],
    ids=["text", "html", "open", "open scripts", "empty", "bytes", "deep"],
)
def test_the_text_is_found_in_what_is_not_json(body: bytes, output: str) -> None:
    assert failure(answer(body, 502)).reason == f"502 {output}"


@pytest.mark.parametrize(
    "errors",
    [
        [{"field": "name", "message": "is too long"}, {"field": "n", "message": "is odd"}],
        {"name": "is too long", "n": ["is odd"]},
        [{"field": "name", "message": "is too long"}, 5, {}, {"field": "n", "message": "is odd"}],
    ],
)
def test_the_fields_that_are_named_are_kept(errors: Any) -> None:
    error = failure(answer({"message": "Not valid", "errors": errors}, 422, POST))
    assert isinstance(error, Refused)
    assert error.fields == (("name", "is too long"), ("n", "is odd"))
    assert "422 Not valid; name: is too long; n: is odd" in str(error)


# --- when to come back ----------------------------------------------------------------

NOON = time.mktime((2026, 1, 1, 12, 0, 0, 0, 0, 0))
DATE = formatdate(NOON, usegmt=True)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *(("3", 3.0), (" 3 ", 3.0), ("0.5", 0.5), ("0", 0.0), ("-5", 0.0)),
        *(("86400", 86400.0), ("999999999", 999999999.0)),
        (formatdate(NOON + 30, usegmt=True), 30.0),
        (formatdate(NOON - 30, usegmt=True), 0.0),
        (f"{NOON + 30:.0f}", 30.0),
        (f"{(NOON + 30) * 1000:.0f}", 30.0),
        *((unusual, None) for unusual in ("", "soon", "1e3", "inf", "nan", "9" * 40, "٣")),
        ("Thu, 99 Foo 2026 12:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_in_every_form(value: str, seconds: float | None) -> None:
    assert answer(status=429, retry_after=value, date=DATE).parse_retry_after() == seconds
    assert answer(status=429, x_ratelimit_reset=value, date=DATE).parse_retry_after() == seconds


def test_a_moment_needs_the_clock_of_the_service_and_a_wait_is_in_the_error() -> None:
    assert answer(status=429, retry_after=DATE).parse_retry_after() is None
    error = failure(answer(status=429, retry_after="7"))
    assert isinstance(error, RateLimited)
    assert error.retry_after == 7.0


@given(st.text(), st.text())
@example("Sat, 01 Jan 0000 00:00:00 GMT", DATE)
@example("Fri, 31 Dec 9999 23:59:59 -2359", DATE)
@example("1", "garbage")
def test_garbage_in_retry_after_is_no_answer(value: str, date: str) -> None:
    seconds = answer(status=429, retry_after=value, date=date).parse_retry_after()
    assert seconds is None or (math.isfinite(seconds) and seconds >= 0)
