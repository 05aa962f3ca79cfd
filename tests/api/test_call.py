"""Calls: what is refused, and that the target says exactly what was passed."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.api.call import METHODS, Call
from chatkit.errors import InputError

HARMLESS = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%/?&=!$'()*,:;@"
)

WOULD_LEAD_ELSEWHERE = [
    *("", ".", "..", "...", "\r\n", "a\r\nX: y", "a\x00b", "\u202eabc", "a\u200bb", "..;"),
    *(".;x/", ";a", " ", "\u3000 ", "order_ready ", " en", "\ud800", "a\udfffb", "\ufeff"),
    *("\x7f", "\x85", "\ue000", "x" * 513),
]

QUOTED = {
    "%2e%2e": "%252e%252e",
    "..%2f": "..%252f",
    "\\..": "%5C..",
    "//": "%2F%2F",
    "/": "%2F",
    "../contacts": "..%2Fcontacts",
    "?x=1": "%3Fx=1",
    "#x": "%23x",
    "a;b": "a;b",
    "%00": "%2500",
    "a b": "a%20b",
    "．．": "%EF%BC%8E%EF%BC%8E",
    "a+b@c:d,e": "a%2Bb@c:d,e",
    "注文": "%E6%B3%A8%E6%96%87",
}


@pytest.mark.parametrize("segment", WOULD_LEAD_ELSEWHERE, ids=ascii)
def test_a_segment_that_leads_elsewhere_or_hides_is_refused(segment: str) -> None:
    with pytest.raises(InputError, match="cannot be part of an address") as caught:
        Call("GET", ("templates", segment, "contents"))
    assert str(caught.value).isprintable() or "\n" in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(("segment", "quoted"), QUOTED.items())
def test_what_would_end_a_segment_is_quoted(segment: str, quoted: str) -> None:
    assert Call("GET", ("templates", segment, "contents")).target == f"templates/{quoted}/contents"


def test_only_text_and_whole_numbers_are_keys_those_of_a_frame_too() -> None:
    from numpy import bool_, int64

    assert Call("GET", ("contacts", int64(17))).target == "contacts/17"
    unusual: list[Any] = [None, True, False, 1.0, float("nan"), b"x", ("a",), 10**5000, bool_(True)]
    for segment in unusual:
        with pytest.raises(InputError):
            Call("GET", ("contacts", segment))


@given(st.text())
def test_a_segment_is_refused_or_comes_back_equal(segment: str) -> None:
    try:
        target = Call("GET", ("templates", segment)).target
    except InputError:
        return
    source, quoted = target.split("/")
    assert (source, unquote(quoted, errors="strict")) == ("templates", segment)
    assert HARMLESS.issuperset(target)
    assert quoted not in (".", "..")


@given(st.dictionaries(st.text(min_size=1), st.text() | st.integers(), min_size=1))
def test_a_query_is_refused_or_comes_back_equal(query: dict[str, str | int]) -> None:
    try:
        target = Call("GET", ("contacts",), query).target
    except InputError:
        assert "\\ud" in ascii(query)
        return
    assert HARMLESS.issuperset(target)
    came = parse_qsl(target.partition("?")[2], keep_blank_values=True, strict_parsing=True)
    assert came == [(k, str(v)) for k, v in query.items()]


@pytest.mark.parametrize("value", [True, None, 1.5, "\ud800"])
def test_an_odd_value_of_a_query_is_refused_by_its_name(value: Any) -> None:
    with pytest.raises(InputError, match="search = "):
        Call("GET", ("contacts",), {"search": value})


def test_naughty_strings_are_refused_or_come_back_equal(shared: Path) -> None:
    naughty = json.loads((shared / "corpora/blns/blns.json").read_text())
    sent = 0
    for text in naughty:
        came = parse_qsl(Call("GET", ("x",), {"q": text}).target[2:], keep_blank_values=True)
        assert came == [("q", text)]
        try:
            target = Call("GET", (text,)).target
        except InputError:
            continue
        sent += 1
        assert unquote(target) == text
        assert "/" not in target
    assert sent > 400


def test_other_methods_are_refused_and_all_but_get_write() -> None:
    for method in ("get", "HEAD", "GET\r\nX: y", "", "POST "):
        with pytest.raises(InputError, match="method"):
            Call(method, ("contacts",))
    assert {m for m in METHODS if not Call(m, ("x",)).writes} == {"GET"}


def test_the_body_is_json_in_utf_8() -> None:
    assert Call("GET", ("x",)).serialize_body() is None
    call = Call("POST", ("contacts",), body={"name": "Zoë 😀", "n": 12345678901234567890})
    assert call.serialize_body() == '{"name":"Zoë 😀","n":12345678901234567890}'.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {1, 2}, b""], ids=ascii)
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="POST contacts: the body cannot be written as JSON"):
        Call("POST", ("contacts",), body={"a": value}).serialize_body()


def test_a_body_too_deep_or_endless_to_write_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["me"] = endless
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for body in (endless, deep):
        with pytest.raises(InputError, match="cannot be written"):
            Call("POST", ("flows",), body=body).serialize_body()
    while deep:  # taken apart by hand: freeing it at once would be as deep
        deep = deep["a"]


def test_it_shows_what_it_does_and_not_whom_it_is_about() -> None:
    call = Call("POST", ("contacts",), body={"name": "Mary Lee", "number": "919876543210"})
    assert repr(call) == str(call) == "POST contacts"
    assert pickle.loads(pickle.dumps(call)) == call
    with pytest.raises(AttributeError):
        call.method = "DELETE"
