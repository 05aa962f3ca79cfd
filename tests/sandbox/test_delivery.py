"""Deliveries: to nobody who was not named, to nothing but loopback, and the truth about each."""

import json
import shlex
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chatkit.inbox.signature import verify
from chatkit.profile import ServiceProfile
from chatkit.sandbox.delivery import BadReceiver, Delivery, Receivers, deliver, event_body
from chatkit.sandbox.webhooks import ActiveWebhook

SECRET = "0123456789abcdef" * 4
PROFILE = ServiceProfile(delivery_timeout=1)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Listener:
    """A raw receiver: keeps the bytes of each request, answers what it is told."""

    def __init__(self, reply: bytes | Callable[[socket.socket], None]) -> None:
        self.requests: list[bytes] = []
        self._reply = reply
        self._sock = socket.create_server(("127.0.0.1", 0))
        self.port = self._sock.getsockname()[1]
        self._context: ssl.SSLContext | None = None
        self._thread = threading.Thread(target=self._listen)

    def _listen(self) -> None:
        while True:
            try:
                sock, _ = self._sock.accept()
            except OSError:
                return
            with sock:
                try:
                    self._serve(sock)
                except OSError:
                    continue

    def _serve(self, plain: socket.socket) -> None:
        sock = self._context.wrap_socket(plain, server_side=True) if self._context else plain
        with sock:
            data = b""
            while b"\r\n\r\n" not in data:
                data += sock.recv(65536)
            head, _, body = data.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            while len(body) < length:
                body += sock.recv(65536)
            self.requests.append(head + b"\r\n\r\n" + body)
            if callable(self._reply):
                self._reply(sock)
            else:
                sock.sendall(self._reply)


@contextmanager
def listening(
    reply: bytes | Callable[[socket.socket], None] = OK, context: ssl.SSLContext | None = None
) -> Iterator[Listener]:
    listener = Listener(reply)
    listener._context = context
    listener._thread.start()
    try:
        yield listener
    finally:
        listener._sock.shutdown(socket.SHUT_RDWR)
        listener._sock.close()
        listener._thread.join(10)


def send(
    url: str,
    receivers: Receivers,
    *,
    profile: ServiceProfile = PROFILE,
    context: ssl.SSLContext | None = None,
    body: bytes = b"{}",
) -> Delivery:
    webhook = ActiveWebhook(7, url, SECRET)
    (delivery,) = deliver([webhook], "msg_1", body, receivers, profile, context)
    return delivery


def allowing(url: str, to: str | None = None) -> Receivers:
    receivers = Receivers()
    receivers.add(url, to)
    return receivers


@pytest.mark.parametrize("scheme", ["standard_webhooks", "sha256_hex"])
def test_an_event_arrives_signed_over_its_very_bytes(scheme: str) -> None:
    profile = ServiceProfile(signature_scheme=scheme, event_kind_field="type")
    body = event_body(profile, "chat.message.status", {"name": "Zoë"}, "msg_1")
    with listening() as listener:
        url = f"http://127.0.0.1:{listener.port}/in"
        came = send(url + "?a=b", allowing(url), profile=profile, body=body)
    assert came == Delivery(7, "delivered", 200, None)
    head, _, got = listener.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /in?a=b HTTP/1.1"
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
    assert headers["host"] == f"127.0.0.1:{listener.port}"
    verify(scheme, SECRET, headers, got, now=int(time.time()))
    sent = json.loads(got)
    assert (sent["type"], sent["data"], sent["id"]) == (
        "chat.message.status",
        {"name": "Zoë"},
        "msg_1",
    )
    assert SECRET not in listener.requests[0].decode()


def test_nobody_is_delivered_to_who_was_not_named() -> None:
    with listening() as listener:
        came = send(f"http://127.0.0.1:{listener.port}/", Receivers())
    assert (came.status, came.http_status, listener.requests) == ("refused", None, [])
    assert came.error is not None
    assert "list of receivers" in came.error


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1:{port}/in",  # another scheme
        "http://127.0.0.1:{other}/in",
        "http://localhost:{port}/in",  # another name of the same place
        "http://127.1:{port}/in",
        "http://2130706433:{port}/in",
        "http://127。0。0。1:{port}/in",
        "http://127.0.0.1:{port}/",
        "http://127.0.0.1:{port}/inside",
        "http://127.0.0.1:{port}/in/../out",
        "http://127.0.0.1:{port}/in/%2e%2e/out",
        "http://127.0.0.1:{port}/in/..%2fout",
        "http://127.0.0.1:{port}/in/..%5cout",
        "http://127.0.0.1:{port}\\@example.com/in",
        "http://user@127.0.0.1:{port}/in",
        "http://127.0.0.1:{port}@example.com/in",
        "http://127.0.0.1:{port}/in#x",
        "http://127.0.0.1:{port}/in\r\nX: y",
        "http://127.0.0.1:{port}/in x",
        "http://127.0.0.1:99999/in",
        "http://[::1/in",
        "ftp://127.0.0.1/in",
        "file:///etc/passwd",
        "//127.0.0.1/in",
        "",
    ],
)
def test_what_is_not_below_the_named_address_is_refused_unconnected(url: str) -> None:
    with listening() as listener:
        receivers = allowing(f"http://127.0.0.1:{listener.port}/in")
        came = send(url.format(port=listener.port, other=listener.port - 1), receivers)
    assert came.status == "refused"
    assert came.error
    assert listener.requests == []


def test_paths_below_the_named_address_and_any_case_of_its_host_are_allowed() -> None:
    with listening() as listener:
        receivers = allowing(f"http://LOCALHOST:{listener.port}/in/")
        assert send(f"http://localhost:{listener.port}/in/a/b", receivers).status == "delivered"
    assert listener.requests[0].startswith(b"POST /in/a/b HTTP/1.1\r\n")


def test_a_delivery_can_be_heard_at_another_local_address() -> None:
    with listening() as listener:
        receivers = allowing(
            "https://hooks.example/chat", to=f"http://127.0.0.1:{listener.port}/inbox"
        )
        assert send("https://hooks.example/chat/a?b=c", receivers).status == "delivered"
        assert send("https://hooks.example/chat", receivers).status == "delivered"
        assert send("https://hooks.example/chatter", receivers).status == "refused"
    assert [request.split(b" ")[1] for request in listener.requests] == [
        b"/inbox/a?b=c",
        b"/inbox",
    ]
    assert f"Host: 127.0.0.1:{listener.port}".encode() in listener.requests[0]
    assert receivers.shown()[0]["url"] == "https://hooks.example/chat"


@pytest.mark.parametrize(
    "answers",
    [
        ["93.184.216.34"],
        ["127.0.0.1", "93.184.216.34"],
        ["10.0.0.1"],
        ["100.64.0.1"],
        ["169.254.169.254"],
        ["0.0.0.0"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["fe80::1"],
    ],
)
def test_a_name_that_is_not_only_this_machine_is_refused(
    answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        families = [socket.AF_INET6 if ":" in answer else socket.AF_INET for answer in answers]
        return [
            (family, socket.SOCK_STREAM, 6, "", (answer, port))
            for family, answer in zip(families, answers, strict=True)
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    came = send("http://hooks.example/", allowing("http://hooks.example/"))
    assert came.status == "refused"
    assert came.error is not None
    assert "this machine only" in came.error


def test_the_address_that_was_checked_is_the_one_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def rebinding(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        asked.append(host)
        answer = "127.0.0.1" if len(asked) == 1 else "93.184.216.34"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answer, port))]

    with listening() as listener:
        url = f"http://hooks.example:{listener.port}/"
        monkeypatch.setattr(socket, "getaddrinfo", rebinding)
        assert send(url, allowing(url)).status == "delivered"
    assert asked == ["hooks.example"]
    assert f"Host: hooks.example:{listener.port}".encode() in listener.requests[0]


def test_the_second_address_of_a_name_is_tried() -> None:
    with listening() as listener:  # localhost is often ::1 first, where nobody listens
        url = f"http://localhost:{listener.port}/"
        assert send(url, allowing(url)).status == "delivered"


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 404, 410, 429, 500, 503])
def test_every_status_but_2xx_is_a_failure_and_redirects_are_not_followed(status: int) -> None:
    with listening() as elsewhere:
        location = f"http://127.0.0.1:{elsewhere.port}/"
        reply = f"HTTP/1.1 {status} X\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
        with listening(reply.encode()) as listener:
            url = f"http://127.0.0.1:{listener.port}/"
            receivers = allowing(url)
            receivers.add(location)
            came = send(url, receivers)
    assert (came.status, came.http_status) == ("failed", status)
    assert came.error is not None
    assert str(status) in came.error
    assert elsewhere.requests == []


def drip(sock: socket.socket) -> None:
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(300):
        sock.sendall(b".")
        time.sleep(0.05)


def silence(sock: socket.socket) -> None:
    while sock.recv(1024):
        continue


def endless(sock: socket.socket) -> None:
    sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        sock.sendall(b"x" * 65536)


@pytest.mark.parametrize(
    ("reply", "status", "http_status"),
    [
        (silence, "failed", None),
        (drip, "failed", 200),
        (endless, "delivered", 200),
        (b"", "failed", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "delivered", 200),
        (b"SSH-2.0-OpenSSH\r\n", "failed", None),
        (b"HTTP/1.1 99999999999999 X\r\n\r\n", "failed", None),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n", "failed", None),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "delivered", 204),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "failed", 200),
    ],
)
def test_whatever_a_receiver_does_the_attempt_ends_and_tells(
    reply: bytes | Callable[[socket.socket], None], status: str, http_status: int | None
) -> None:
    with listening(reply) as listener:
        url = f"http://127.0.0.1:{listener.port}/"
        came = send(url, allowing(url))
    assert (came.status, came.http_status) == (status, http_status)
    assert (came.error is None) == (status == "delivered")


def test_a_closed_port_is_a_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    came = send(f"http://127.0.0.1:{port}/", allowing(f"http://127.0.0.1:{port}/"))
    assert (came.status, came.http_status) == ("failed", None)


def test_a_slow_receiver_does_not_hold_up_the_others() -> None:
    with listening(silence) as slow, listening() as quick:
        receivers = Receivers()
        hooks = []
        for number, listener in enumerate([slow, quick]):
            url = f"http://127.0.0.1:{listener.port}/"
            receivers.add(url)
            hooks.append(ActiveWebhook(number, url, SECRET))
        came = deliver(hooks, "msg_1", b"{}", receivers, PROFILE)
    assert [delivery.status for delivery in came] == ["failed", "delivered"]
    assert [delivery.webhook_id for delivery in came] == [0, 1]


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as proxy, listening() as listener:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        url = f"http://127.0.0.1:{listener.port}/"
        assert send(url, allowing(url)).status == "delivered"
    assert proxy.requests == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.fail("openssl is needed to make a certificate for this test")
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        shlex.split(
            f"{openssl} req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
            " -subj /CN=localhost -addext subjectAltName=DNS:localhost"
            f" -keyout '{key}' -out '{cert}'"
        ),
        check=True,
        capture_output=True,
        timeout=60,
    )
    return cert, key


def test_https_is_verified_for_the_name_of_the_webhook(certificate: tuple[Path, Path]) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*certificate)
    trusting = ssl.create_default_context(cafile=str(certificate[0]))
    with listening(context=server) as listener:
        named = f"https://localhost:{listener.port}/"
        numbered = f"https://127.0.0.1:{listener.port}/"
        assert send(named, allowing(named), context=trusting).status == "delivered"
        untrusted = send(named, allowing(named))
        other_name = send(numbered, allowing(numbered), context=trusting)
    assert len(listener.requests) == 1
    for came in (untrusted, other_name):
        assert (came.status, came.http_status) == ("failed", None)
        assert came.error is not None
        assert "certificate" in came.error.lower()


@pytest.mark.parametrize(
    "url", ["", "localhost", "http://", "http://h/?a=b", "http://h/#a", "x" * 3000]
)
def test_what_is_not_an_address_is_not_taken_as_a_receiver(url: str) -> None:
    receivers = Receivers()
    with pytest.raises(BadReceiver):
        receivers.add(url)
    with pytest.raises(BadReceiver):
        receivers.add("http://localhost/", to=url or "x")
    assert receivers.shown() == []
