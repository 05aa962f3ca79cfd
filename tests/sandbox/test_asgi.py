"""Tests of the HTTP boundary on raw sockets: hosts, origins, content types, methods."""

import logging
from typing import Any

import pytest

ROOT = "/api/business/public/channels/chat/accounts/1001"


GOOD_HOSTS = ["127.0.0.1:{port}", "localhost:{port}", "LocalHost:{port}", "[::1]:{port}"]
# Only the very host and port are ours; a host that cannot be one is refused by the parser.
BAD_HOSTS = [
    *("", "localhost", "127.0.0.1:1", "127.0.0.1:{port}0", "127.0.0.1:0{port}", ":{port}", "null"),
    *("127.0.0.1:{port},127.0.0.1:{port}", "127.0.0.1:{port}@evil.example", "localhost.:{port}"),
    *("127.0.0.1:{port}.evil.example", "evil.example:{port}", "evil.example", "0.0.0.0:{port}"),
    *("user@127.0.0.1:{port}", "[::1%25lo]:{port}", "[::1", "localhost:{port}\x00", "a" * 5000),
    *("ⓛocalhost:{port}", "http://localhost:{port}"),
]
GOOD_ORIGINS = [None, "http://127.0.0.1:{port}", "http://localhost:{port}"]
BAD_ORIGINS = [
    *("", "null", "https://127.0.0.1:{port}", "http://127.0.0.1", "http://localhost:8888"),
    *("http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:{port}/", "file://"),
    *(
        "http://evil.example/?http://127.0.0.1:{port}",
        "http://127.0.0.1:{port} http://evil.example",
    ),
]


@pytest.mark.parametrize("host", GOOD_HOSTS)
@pytest.mark.parametrize("origin", GOOD_ORIGINS)
def test_our_own_hosts_and_origins_are_answered(
    channel: Any, host: str, origin: str | None
) -> None:
    for site in (None, "none", "same-origin"):
        sent = {"Host": host, "Origin": origin, "Sec_Fetch_Site": site}
        headers = {n: text.format(port=channel.port) for n, text in sent.items() if text}
        answer = channel.raw(channel.head(**headers))
        assert channel.status(answer) == 200
        assert b"access-control" not in answer.lower()
        assert b"\r\nserver:" not in answer.lower()


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_every_other_host_is_refused(channel: Any, host: str) -> None:
    for method in ("GET", "OPTIONS"):
        answer = channel.raw(channel.head(method, Host=host.replace("{port}", str(channel.port))))
        # 400: the parser itself found the request malformed.
        assert channel.status(answer) in (400, 421)
        assert b"access-control" not in answer.lower()


def test_a_request_without_a_host_or_with_two_is_refused(channel: Any) -> None:
    line = f"GET {ROOT}/contacts HTTP/1.1\r\nConnection: close\r\n".encode()
    host = f"Host: localhost:{channel.port}\r\n".encode()
    assert channel.status(channel.raw(line + b"\r\n")) in (400, 421)
    assert channel.status(channel.raw(line + host + b"Host: evil.example\r\n\r\n")) == 400
    assert channel.status(channel.raw(line + host + host + b"\r\n")) == 400


@pytest.mark.parametrize(
    "headers",
    [
        *({"Origin": origin} for origin in BAD_ORIGINS),
        *({"Sec_Fetch_Site": site} for site in ("cross-site", "same-site", "", "Cross-Site")),
    ],
    ids=str,
)
def test_pages_of_another_origin_or_site_are_refused(channel: Any, headers: dict[str, str]) -> None:
    sent = {name: value.format(port=channel.port) for name, value in headers.items()}
    for method in ("GET", "POST", "OPTIONS"):
        answer = channel.raw(channel.head(method, **sent))
        assert channel.status(answer) == 403
        assert b"access-control" not in answer.lower()


def test_hosts_and_origins_are_checked_on_every_path(channel: Any) -> None:
    for path in (f"{ROOT}/contacts", "/_sandbox/reset", "/openapi.json", "/"):
        for status, sent in ((421, {"Host": "evil.example"}), (403, {"Origin": "http://evil.e"})):
            assert channel.status(channel.raw(channel.head(path=path, **sent))) == status


JSON_TYPES = [
    *("application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"),
    *('application/json; charset="utf-8"', "application/json;"),
]
OTHER_TYPES = [
    *(None, "", "text/plain", "text/plain; application/json", "application/json, text/plain"),
    *("application/jsonx", "application/problem+json", "application/x-www-form-urlencoded"),
    *("application/json; charset=utf-16", "application/json; boundary=x"),
]


@pytest.mark.parametrize(
    ("content_type", "status"),
    [*((each, 422) for each in JSON_TYPES), *((each, 415) for each in OTHER_TYPES)],
)
def test_a_body_is_json_by_its_content_type_or_refused(
    channel: Any, content_type: str | None, status: int
) -> None:
    headers = {} if content_type is None else {"Content_Type": content_type}
    head = channel.head("POST", f"{ROOT}/contacts", Content_Length="2", **headers)
    assert channel.status(channel.raw(head + b"{}")) == status


@pytest.mark.parametrize("path", [f"{ROOT}/contacts", f"{ROOT}/webhooks/1", "/openapi.json"])
def test_odd_methods_and_compressed_bodies_are_refused(channel: Any, path: str) -> None:
    for method in ("OPTIONS", "TRACE", "CONNECT", "FOO", "get", "G ET"):
        answer = channel.raw(channel.head(method, path))
        assert channel.status(answer) in (400, 404, 405)
        if channel.status(answer) == 405:
            assert b"\r\nallow: " in answer.lower()
        if method == "OPTIONS":
            assert channel.status(answer) == 405
    sent = {"Content_Type": "application/json", "Content_Encoding": "gzip", "Content_Length": "2"}
    assert channel.status(channel.raw(channel.head("POST", **sent) + b"{}")) == 415


TARGETS = [
    *("http://127.0.0.1:{port}{root}/contacts", "http://evil.example/", "evil.example:443", "*"),
    *("", "?page=1", "contacts", "\\\\evil.example\\", "{root}/contacts\x00"),
    *("{root}/cont\xffacts", "{root}/con tacts", "{root}/contacts HTTP/1.1\r\nX: y"),
]


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_that_is_no_path_is_refused(channel: Any, target: str) -> None:
    target = target.replace("{port}", str(channel.port)).replace("{root}", ROOT)
    for method in ("GET", "POST", "CONNECT", "OPTIONS"):
        status = channel.status(channel.raw(channel.head(method, target)))
        assert 400 <= status < 500 or "HTTP/1.1" in target
    assert channel.alive()


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\r\n\r\n",
        b"\x00\x01\x02\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: " + b"0" * 5000 + b"1\r\n\r\nx",
        b"POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nxx",
    ],
)
def test_a_request_that_is_not_http_is_refused(
    channel: Any, request_bytes: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    answer = channel.raw(request_bytes, end=True)
    assert channel.status(answer) == 0 or 400 <= channel.status(answer) < 500
    assert channel.alive()
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]  # no bug


def test_an_offer_to_upgrade_is_ignored(channel: Any) -> None:
    # Java's client offers HTTP/2 with every first call.
    offer = {"Upgrade": "h2c", "HTTP2_Settings": "AA"}
    head = channel.head(Connection="close, Upgrade, HTTP2-Settings", **offer)
    assert channel.status(channel.raw(head)) == 200
    head = channel.head(Connection="close, Upgrade", Upgrade="websocket", Sec_WebSocket_Key="AAAA")
    assert channel.status(channel.raw(head)) == 200
