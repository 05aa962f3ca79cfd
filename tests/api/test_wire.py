"""The wire: every fault of a real connection is one outcome of the right class.

One request is sent; what is sent again, and when, is the business of test_transport.py.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import pickle
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from faultserver import (
    OK,
    PREFIX,
    TOKEN,
    Asked,
    FaultServer,
    Line,
    Script,
    answers,
    connection,
    drop,
    half_of_the_head,
    http,
    ok,
    reset,
    reset_in_the_middle,
    sends,
    silence,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from ports import reserved

from chatkit.api import wire as wire_module
from chatkit.api.answer import Answer
from chatkit.api.call import Call
from chatkit.api.connection import Connection
from chatkit.api.secret import LEAST, MASK, Secret
from chatkit.api.transport import Transport
from chatkit.api.wire import MAX_ANSWER, Wire, proxy_for
from chatkit.errors import (
    BadAnswer,
    CallError,
    ChatkitError,
    DeadlinePassed,
    InputError,
    SettingsError,
    UnknownOutcome,
    Unreachable,
)
from chatkit.util import background

GET = Call("GET", ("contacts", 17))
POST = Call("POST", ("contacts",), body={"number": "919876543210"})
DELETE = Call("DELETE", ("contacts", 17))


def ask(wire: Wire, call: Call = GET, left: float = 5.0) -> Answer | CallError:
    """Send once, without any retry."""
    work = wire.send_once(call, call.serialize_body(), left)
    return asyncio.run_coroutine_threadsafe(work, background.get_loop()).result(20)


def outcome(server: FaultServer, call: Call = GET) -> Answer | CallError:
    wire = Wire(connection(server.base_url))
    try:
        return ask(wire, call)
    finally:
        wire.close()


def body_of(came: Answer | CallError) -> bytes:
    assert isinstance(came, Answer), came
    return came.body


# --- what is sent ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def echo() -> Iterator[tuple[FaultServer, Wire]]:
    with FaultServer(ok) as server:
        wire = Wire(connection(server.base_url))
        yield server, wire
        wire.close()


def test_a_request_has_these_fields_and_no_others(echo: tuple[FaultServer, Wire]) -> None:
    server, wire = echo
    for call in (GET, POST, DELETE):
        ask(wire, call)
    get, post, delete = server.asked[-3:]
    fields = {
        "host": f"127.0.0.1:{server.port}",
        "authorization": f"Bearer {TOKEN}",
        "accept": "application/json",
        "accept-encoding": "gzip",
        "user-agent": "chatkit",
    }
    assert dict(get.fields) == fields
    assert dict(delete.fields) in (fields, fields | {"content-length": "0"})
    assert dict(post.fields) == fields | {
        "content-type": "application/json",
        "content-length": str(len(post.body)),
    }
    assert post.body == b'{"number":"919876543210"}'
    assert [a.method for a in (get, post, delete)] == ["GET", "POST", "DELETE"]


@pytest.mark.parametrize("content", [None, b'{"number":"919876543210"}'])
def test_a_request_is_what_httpx_itself_would_have_made_of_it(content: bytes | None) -> None:
    """An error made without httpx's own constructor keeps the attributes that httpx sets."""
    url, fields = httpx.URL("http://127.0.0.1:9/contacts"), httpx.Headers({"Accept": "text/plain"})
    others = httpx.Request("POST", url, headers=fields, content=content, extensions={"timeout": {}})
    ours = wire_module._Request("POST", url, fields, content, 8.0)
    assert set(vars(ours)) == set(vars(others)) - {"_content"}
    assert (ours.method, ours.url, ours.read()) == (others.method, others.url, others.read())
    assert set(vars(ours)) == set(vars(others))
    assert ours.extensions == {"timeout": {"pool": 8.0}}
    # aiohttp writes those of one request alone.
    assert set(others.headers) - set(ours.headers) <= {"host", "content-length"}


SEGMENTS = [
    *("%2e%2e", "..%2f", "\\..", "//", "/", "?x", "#x", ";", "..;/", "%00", "%0d%0a", "．．"),
    *("a b", "a+b", "注文", "%", "%zz", "&=", "@:", "[x]", "|", '"', "<>", "~", "é", "x" * 512),
]


@given(st.sampled_from(SEGMENTS) | st.text(), st.text() | st.integers())
@settings(max_examples=150)
def test_the_path_arrives_byte_for_byte(
    echo: tuple[FaultServer, Wire], segment: str, search: str | int
) -> None:
    server, wire = echo
    try:
        call = Call("GET", ("templates", segment, "contents"), {"search": search, "page": 1})
    except InputError:
        return
    body_of(ask(wire, call))
    assert server.asked[-1].path == PREFIX + call.target


def test_naughty_strings_arrive_byte_for_byte(echo: tuple[FaultServer, Wire], shared: Path) -> None:
    server, wire = echo
    for text in json.loads((shared / "corpora/blns/blns.json").read_text()):
        for parts in ((text,), {"q": text}), (("x",), {"q": text}):
            try:
                call = Call("GET", *parts)
            except InputError:
                continue
            body_of(ask(wire, call))
            assert server.asked[-1].path == PREFIX + call.target


def test_a_base_address_may_have_a_path() -> None:
    with FaultServer(ok) as server:
        wire = Wire(connection(f"{server.base_url}/gate/v2"))
        body_of(ask(wire))
        wire.close()
        assert server.asked[0].path == f"/gate/v2{PREFIX}contacts/17"


# --- what comes back ------------------------------------------------------------------


def packed(body: bytes, coding: str = "gzip") -> Script:
    return answers(200, body, f"content-encoding: {coding}")


LONG = OK + b" " * (11 * 2**20)
WHOLE: dict[str, tuple[Script, bytes]] = {
    "plain": (ok, OK),
    "gzip": (packed(gzip.compress(OK)), OK),
    "gzip, empty": (answers(204, b"", "content-encoding: gzip", kind=None), b""),
    "an empty coding": (packed(OK, ""), OK),
    "11 MB": (answers(200, LONG), LONG),
    "11 MB of gzip": (packed(gzip.compress(LONG)), LONG),
    "204": (sends(b"HTTP/1.1 204 No Content\r\n\r\n"), b""),
    "chunked": (
        sends(b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        b"{}",
    ),
    "no length": (sends(b"HTTP/1.1 200 X\r\n\r\n{}", end=True), b"{}"),
    "HTTP/1.0": (sends(b"HTTP/1.0 200 X\r\n\r\n{}", end=True), b"{}"),
    "after a 100": (sends(b"HTTP/1.1 100 Continue\r\n\r\n" + http(200, OK)), OK),
    "after a 103": (sends(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + http(200, OK)), OK),
    "fields twice": (answers(200, OK, "x-a: 1", "x-a: 2", "date: x", "date: y"), OK),
    "a status of no standard": (answers(299, OK), OK),
    "bytes in a field": (answers(200, OK, "x-name: \u00e9\u2028"), OK),
}


def test_a_whole_answer_is_read() -> None:
    for name, (script, body) in WHOLE.items():
        with FaultServer(script) as server:
            assert body_of(outcome(server)) == body, name


def test_header_fields_are_read_by_their_names_in_lower_case() -> None:
    with FaultServer(answers(429, b"", "Retry-After: 3", "X-Thing: a")) as server:
        came = outcome(server)
        assert isinstance(came, Answer)
        assert (came.status, came.headers["x-thing"], came.parse_retry_after()) == (429, "a", 3.0)


CHUNK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"


def endless(line: Line, asked: Asked, gzipped: bytes = b"") -> None:
    coding = b"content-encoding: gzip\r\n" if gzipped else b""
    line.send(b"HTTP/1.1 200 X\r\n" + coding + b"transfer-encoding: chunked\r\n\r\n")
    if gzipped:
        line.send(b"%x\r\n%s\r\n" % (len(gzipped), gzipped))
    while not line.over.is_set():
        line.send(CHUNK)


NO_USE: dict[str, tuple[Script, str]] = {
    "brotli": (packed(OK, "br"), "encoded as 'br'"),
    "two codings": (packed(OK, "gzip, gzip"), "'gzip, gzip'"),
    "not gzip": (packed(OK), "broken gzip"),
    "deflate called gzip": (packed(zlib.compress(OK)), "broken gzip"),
    "half of gzip": (packed(gzip.compress(OK)[:-9]), "ends too early"),
    "beginning of gzip": (packed(gzip.compress(OK)[:5]), "ends too early"),
    "17 MB": (answers(200, b" " * (17 * 2**20)), "larger than 16 MB"),
    "endless": (endless, "larger than 16 MB"),
    "endless behind gzip": (
        partial(endless, gzipped=gzip.compress(OK)),
        "goes on after its end|larger",
    ),
    "not HTTP": (sends(b"<html>hello</html>\r\n\r\n", end=True), "is not HTTP"),
    "SSH": (sends(b"SSH-2.0-OpenSSH_9.2\r\n", end=True), "is not HTTP"),
    "two lengths": (
        sends(b"HTTP/1.1 200 X\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}"),
        "HTTP",
    ),
    "length is text": (sends(b"HTTP/1.1 200 X\r\ncontent-length: two\r\n\r\n{}"), "is not HTTP"),
    "huge head": (sends(b"HTTP/1.1 200 X\r\nx: " + b"y" * 100_000 + b"\r\n\r\n"), "is not HTTP"),
    "many fields": (sends(b"HTTP/1.1 200 X\r\n" + b"x: y\r\n" * 10_000 + b"\r\n"), "is not HTTP"),
}


@pytest.mark.parametrize(("script", "reason"), NO_USE.values(), ids=NO_USE)
def test_an_answer_of_no_use_is_a_bad_answer(script: Script, reason: str) -> None:
    with FaultServer(script) as server:
        came = outcome(server)
        assert type(came) is BadAnswer, came
        with pytest.raises(BadAnswer, match=reason):
            raise came
        assert str(came).startswith("GET contacts/17: ")


LOST: dict[str, Script] = {
    "closed": drop,
    "reset": reset,
    "reset in the middle": reset_in_the_middle,
    "shorter than its length": sends(http(200, OK)[:-10], end=True),
    "half of the head": sends(b"HTTP/1.1 200 OK\r\ncontent-le", end=True),
    "half of a chunk": sends(
        b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n10\r\n{}", end=True
    ),
    "odd chunk": sends(b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}", end=True),
    "only a 100": sends(b"HTTP/1.1 100 Continue\r\n\r\n", end=True),
}


CALLS = [GET, POST, DELETE, Call("PUT", ("x",), body={})]


@pytest.mark.parametrize("script", LOST.values(), ids=LOST)
def test_a_lost_answer_is_in_doubt_and_asked_for_once(script: Script) -> None:
    with FaultServer(script) as server:
        for count, call in enumerate(CALLS, 1):
            came = outcome(server, call)
            assert type(came) in (UnknownOutcome, BadAnswer), came
            assert str(came).startswith(f"{call}: ")
            assert ("may or may not have taken effect" in str(came)) is call.writes
            assert len(server.asked) == count


def test_a_connection_closed_before_it_is_read_is_in_doubt() -> None:
    """The bytes were sent: whether anybody read them cannot be known."""
    with FaultServer(ok, greet=Line.close) as server:
        assert {type(outcome(server, call)) for call in CALLS} == {UnknownOutcome}


def test_an_answer_that_is_longer_than_its_length_does_not_reach_the_next_call() -> None:
    with FaultServer(sends(http(200, OK) + b"HTTP/1.1 200 X\r\n\r\nevil"), ok) as server:
        wire = Wire(connection(server.base_url))
        for _ in range(3):
            came = ask(wire)
            assert isinstance(came, CallError) or came.body == OK
        wire.close()


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_a_connection_that_the_server_closed_while_idle_carries_a_write_at_most_once(
    call: Call,
) -> None:
    """aiohttp alone would send PUT and DELETE a second time."""

    def close_when_asked_again(line: Line, asked: Asked) -> None:
        ok(line, asked)
        line.ask()
        line.reset()

    with FaultServer(close_when_asked_again, ok) as server:
        wire = Wire(connection(server.base_url))
        body_of(ask(wire))
        came = ask(wire, call)
        wire.close()
        assert type(came) is UnknownOutcome
        assert len(server.asked) == 1, "the one that was read and answered"
        assert server.connections == 1


def test_a_connection_known_to_be_closed_is_not_used_again() -> None:
    with FaultServer(sends(http(200, OK), end=True)) as server:
        wire = Wire(connection(server.base_url))
        for _ in range(10):
            body_of(ask(wire, POST))
            time.sleep(0.05)  # the news arrives
        wire.close()
        assert server.connections == len(server.asked) == 10


# --- calls that never left ------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def tls_for(authority: trustme.CA, host: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(context)
    return context


@pytest.fixture
def trusted(
    authority: trustme.CA, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[trustme.CA]:
    """An authority that this machine trusts."""
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    yield authority
    monkeypatch.delenv("SSL_CERT_FILE")


@contextmanager
def nobody() -> Iterator[str]:
    with reserved() as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def full() -> Iterator[str]:
    """A listener whose queue is full lets nobody in, as a firewall does."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        waiting = [socket.socket() for _ in range(4)]
        try:
            for sock in waiting:
                sock.setblocking(False)
                sock.connect_ex(listener.getsockname())
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            for sock in waiting:
                sock.close()


@contextmanager
def serving(tls: ssl.SSLContext | None = None, greet: Any = None) -> Iterator[str]:
    """A server to which no request ever comes."""
    with FaultServer(ok, tls=tls, greet=greet) as server:
        yield server.base_url.replace("http:", "https:")
        assert server.asked == []


@contextmanager
def behind(proxy: AbstractContextManager[Any]) -> Iterator[str]:
    """A host that is reached through a proxy of the environment."""
    with proxy as place, pytest.MonkeyPatch.context() as patch:
        address = place if isinstance(place, str) else place.base_url
        patch.setenv("HTTPS_PROXY", address.replace("//", "//user:hidden@"))
        yield "https://api.example.test"


#: Where a call never leaves for, and what is shown then.
NEVER_LEFT: dict[str, tuple[Callable[[trustme.CA], AbstractContextManager[str]], str]] = {
    "nobody listens": (lambda _: nobody(), r"cannot be reached(?s:.*)chatkit\.doctor\(client\)"),
    "a host without an address": (
        lambda _: nullcontext("https://chatkit.invalid"),
        "the host chatkit.invalid cannot be resolved",
    ),
    "no connection is made": (lambda _: full(), "no connection could be made in time"),
    "an unknown authority": (
        lambda authority: serving(tls_for(authority, "127.0.0.1")),
        r"certificate of 127.0.0.1 is not trusted \(unable to get local issuer",
    ),
    "no TLS, closed": (lambda _: serving(greet=Line.close), ""),
    "no TLS, reset": (lambda _: serving(greet=Line.reset), ""),
    "no TLS, text": (lambda _: serving(greet=lambda line: line.send(b"hello\r\n" * 9)), ""),
    "the proxy refuses": (
        lambda _: behind(FaultServer(answers(407, b""))),
        r"the proxy refuses to connect \(407\)",
    ),
    "the proxy redirects": (
        lambda _: behind(FaultServer(answers(302, b"", "location: http://127.0.0.1/"))),
        r"the proxy refuses to connect \(302\)",
    ),
    "the proxy is away": (lambda _: behind(nobody()), "the proxy 127.0.0.1:"),
}


@pytest.mark.parametrize(("place", "message"), NEVER_LEFT.values(), ids=NEVER_LEFT)
def test_a_call_that_never_left_is_unreachable(
    place: Callable[[trustme.CA], AbstractContextManager[str]],
    message: str,
    authority: trustme.CA,
    without_proxy: None,
) -> None:
    with place(authority) as base_url:
        for call in (GET, POST):
            wire = Wire(connection(base_url))
            came = ask(wire, call, left=0.3 if "in time" in message else 5.0)
            wire.close()
            assert type(came) is Unreachable
            assert re.search(message, str(came)) and "hidden" not in str(came)


def test_a_trusted_certificate_is_one_of_the_very_host(trusted: trustme.CA) -> None:
    with FaultServer(ok, tls=tls_for(trusted, "127.0.0.1")) as server:
        assert body_of(outcome(server, POST)) == OK
    with serving(tls_for(trusted, "other.example")) as base_url:
        wire = Wire(connection(base_url))
        assert "is not trusted" in str(ask(wire, POST))
        wire.close()


@pytest.mark.parametrize(
    "script", [drop, reset, reset_in_the_middle, sends(http(200, OK)[:-5], end=True)]
)
def test_an_answer_lost_over_tls_is_in_doubt(trusted: trustme.CA, script: Script) -> None:
    with FaultServer(script, tls=tls_for(trusted, "127.0.0.1")) as server:
        assert type(outcome(server, POST)) is UnknownOutcome
        assert len(server.asked) == 1


# --- the token stays here -------------------------------------------------------------


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_redirects_are_not_followed_and_cookies_not_kept(status: int) -> None:
    with FaultServer(ok) as other, FaultServer(ok) as server:
        for call in (GET, POST):
            for place in (f"{other.base_url}/x", f"//127.0.0.1:{other.port}/", "/elsewhere"):
                fields = f"location: {place}", "set-cookie: a=b; path=/"
                server.scripts = [answers(status, b"", *fields)]
                came = outcome(server, call)
                assert isinstance(came, Answer)
                assert came.status == status
        assert other.connections == 0
        assert len(server.asked) == 6
        assert not any(name == "cookie" for asked in server.asked for name, _ in asked.fields)


PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


@pytest.fixture
def without_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


def test_loopback_is_never_asked_through_a_proxy_and_netrc_is_not_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, without_proxy: None
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login eve password xyz\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with FaultServer(ok) as proxy, FaultServer(ok) as server:
        for name in PROXIES:
            monkeypatch.setenv(name, proxy.base_url)
        for host in ("127.0.0.1", "localhost"):
            wire = Wire(connection(f"http://{host}:{server.port}"))
            body_of(ask(wire))
            wire.close()
        assert proxy.connections == 0
        assert {dict(a.fields)["authorization"] for a in server.asked} == {f"Bearer {TOKEN}"}


def test_another_host_is_asked_through_the_proxy_which_never_sees_the_token(
    trusted: trustme.CA, monkeypatch: pytest.MonkeyPatch, without_proxy: None
) -> None:
    heard: list[bytes] = []

    def tunnel(line: Line) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += line.sock.recv(65536)
        heard.append(head)
        with socket.create_connection(("127.0.0.1", server.port)) as present:
            line.send(b"HTTP/1.1 200 Connected\r\n\r\n")
            back = threading.Thread(target=pump, args=(present, line.sock), daemon=True)
            back.start()
            pump(line.sock, present)
            back.join(5)

    def pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                heard.append(data)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            return

    with (
        FaultServer(ok, tls=tls_for(trusted, "api.example.test")) as server,
        FaultServer(ok, greet=tunnel) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:pass@127.0.0.1:{proxy.port}")
        wire = Wire(connection("https://api.example.test"))
        came = ask(wire, POST)
        wire.close()
        assert body_of(came) == OK
        assert dict(server.asked[0].fields)["authorization"] == f"Bearer {TOKEN}"
    assert heard[0].startswith(b"CONNECT api.example.test:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic dXNlcjpwYXNz" in heard[0]
    assert TOKEN.encode() not in b"".join(heard)


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ({"https_proxy": "p:1"}, "http://p:1"),
        ({"ALL_PROXY": "http://p:1"}, "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api.example.test"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".example.test"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other.test"}, "http://p:1"),
    ],
)
def test_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
    without_proxy: None,
    environment: dict[str, str],
    proxy: str | None,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_for("https://api.example.test") == proxy


@pytest.mark.parametrize("proxy", ["socks5://u:hidden@p:1", "http://", "http://[hidden", "ftp://p"])
def test_a_proxy_that_cannot_be_used_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch, proxy: str, without_proxy: None
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(SettingsError, match="proxy of the environment") as caught:
        Transport(connection("https://api.example.test"))
    assert "hidden" not in str(caught.value)


FAILING: dict[str, Script] = {
    **LOST,
    **{name: script for name, (script, _) in NO_USE.items() if "endless" not in name},
    "silence": silence,
    "half of the head, then silence": half_of_the_head,
    "refused": answers(403, b'{"message":"no"}'),
    "html": answers(200, b"<p>hello", kind="text/html"),
    "the token itself": answers(401, f"What is {TOKEN}?".encode(), kind="text/plain"),
    "the token in a status line": sends(f"HTTP/1.1 {TOKEN}\r\n\r\n".encode(), end=True),
}


@pytest.mark.parametrize("script", FAILING.values(), ids=FAILING)
def test_no_failure_shows_the_token(script: Script, caplog: pytest.LogCaptureFixture) -> None:
    """Neither texts, nor logs, nor tracebacks that print the variables of each frame."""
    caplog.set_level(logging.DEBUG)
    with FaultServer(script) as server:
        transport = server.transport(deadline=0.4)
        for call in (Call("POST", ("contacts",), body={"a": 1}), GET):
            try:
                transport.send(call)
            except CallError as error:
                output = "".join(
                    traceback.TracebackException.from_exception(
                        error, capture_locals=True, compact=False
                    ).format(chain=True)
                )
                output += repr(error) + str(vars(error)) + "".join(error._render_traceback_())
            else:
                pytest.fail("it should have failed")
            assert TOKEN not in output
        output = repr(transport) + str(transport) + repr(vars(transport)) + repr(transport._wire)
        assert TOKEN not in output + repr(vars(transport._wire))
    assert TOKEN not in caplog.text


def test_no_pickle_holds_the_token() -> None:
    with FaultServer(ok) as server:
        transport = server.transport()
        transport.send_raw(GET)
        for thing in (transport, connection(server.base_url)):
            with pytest.raises(TypeError):
                pickle.dumps(thing)


# --- memory ---------------------------------------------------------------------------

HUNGRY = """
import re, sys
sys.path.insert(0, sys.argv[2])
from faultserver import connection
from chatkit.api.transport import Transport
from chatkit.api.call import Call
from chatkit.errors import BadAnswer

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024

transport = Transport(connection(sys.argv[1]))
transport.send_raw(Call("GET", ("small",)))
before = peak()
try:
    transport.send_raw(Call("GET", ("bomb",)))
except BadAnswer as error:
    print(peak() - before, str(error).splitlines()[0])
"""


def bomb(line: Line, asked: Asked) -> None:
    """300 MB of blanks in 300 kB of gzip: each piece after the first is packed alike."""
    packer = zlib.compressobj(9, wbits=31)
    first, piece = (
        packer.compress(b" " * 2**20) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2)
    )
    line.send(http(200, first + 299 * piece, "content-encoding: gzip"))


def large(line: Line, asked: Asked) -> None:
    line.send(http(200, b" " * (100 * 2**20)))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="/proc tells of memory")
@pytest.mark.parametrize("script", [bomb, endless, large])
def test_memory_stays_within_the_cap(script: Script) -> None:
    with FaultServer(ok, script) as server:
        done = subprocess.run(
            [sys.executable, "-c", HUNGRY, server.base_url, str(Path(__file__).parents[1])],
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.stderr == ""
    grown, _, text = done.stdout.partition(" ")
    assert text == "GET bomb: the answer is larger than 16 MB\n"
    assert int(grown) <= 3 * MAX_ANSWER // 2**20


def in_process(
    handler: Callable[[], Any] = lambda: None,
    *,
    status: int = 200,
    body: bytes = b'{"success":true}',
    token: str = TOKEN,
    deadline: float | None = None,
    **headers: str,
) -> Transport:
    """A transport to a service in this process that always answers the same."""

    def answer(*_: object) -> tuple[int, dict[str, str], bytes]:
        handler()
        return status, {"content-type": "application/json", **headers}, body

    connection = Connection(base_url="http://localhost", account_id="1", token=Secret(token))
    return Transport(connection, handler=answer, deadline=deadline)


def test_a_slow_service_in_this_process_holds_up_nobody_else() -> None:
    answered = threading.Event()
    slow = partial(in_process, lambda: answered.wait(60))
    waiting = threading.Thread(target=lambda: list(slow().send_all([GET])))
    waiting.start()
    assert in_process().send(GET).success
    with pytest.raises(DeadlinePassed):
        slow(deadline=0.1).send(GET)
    answered.set()
    waiting.join()


@pytest.mark.parametrize("status", [200, 201, 302, 404, 500])
@pytest.mark.parametrize("kind", ["text/html", "application/json", "text/plain"])
def test_a_token_that_comes_back_in_an_answer_is_masked(status: int, kind: str) -> None:
    body = b'{"success":false,"message":"%s"}' % TOKEN.encode()
    with pytest.raises(ChatkitError) as caught:
        in_process(status=status, body=body, **{"content-type": kind}).send(POST)
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("left", [0.5, 3.0, 600.0])
def test_connecting_has_an_end_before_the_deadline_and_never_takes_long(left: float) -> None:
    """After it "it never left" is certain, and there is still time to send the call again."""
    seen: list[float] = []

    class Recorder(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            seen.append(request.extensions["timeout"]["pool"])
            return httpx.Response(200, content=OK)

    wire = Wire(connection("http://localhost"))
    wire._carrier = Recorder()
    asyncio.run(wire.send_once(POST, POST.serialize_body(), left))
    [connecting] = seen
    assert 0 < connecting < left
    assert connecting <= wire_module.MAX_CONNECT


@pytest.mark.parametrize("token", ["test", "4915112345678", "a", "x" * (LEAST - 1)])
def test_a_short_token_is_left_where_it_stands_in_other_words(token: str) -> None:
    """The name "Contest" was shown as "Con(not shown)", and would have been written back so."""
    body = json.dumps({"success": True, "data": {"first_name": f"Con{token}"}}).encode()
    assert in_process(token=token, body=body).send_raw(GET).body == body


@pytest.mark.parametrize("token", [TOKEN, 'a/b\\c"d' * 3, "y" * LEAST])
def test_a_token_is_masked_however_json_spells_it_and_in_header_fields(token: str) -> None:
    spelled = json.dumps({"success": True, "data": token})
    for body in (spelled, spelled.replace("/", "\\/"), token):
        fields = {"server": f"for {token.upper()}", "date": "today"}
        answer = in_process(token=token, body=body.encode(), **fields).send_raw(GET)
        assert MASK.encode() in answer.body
        for text in (token, json.dumps(token)[1:-1], json.dumps(token)[1:-1].replace("/", "\\/")):
            assert text.encode() not in answer.body
        assert (answer.headers["server"], answer.headers["date"]) == (MASK, "today")
