"""Addresses: one spelling, one meaning, this machine; the table of tricks that are refused."""

import ipaddress
import socket
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from listening import listening

from chatkit.profile import ServiceProfile
from chatkit.sandbox.delivery import Receivers, attempt_delivery
from chatkit.sandbox.webhooks import ActiveWebhook
from chatkit.util.webhook_sender import BadReceiver, is_loopback, parse_address, resolve_address

CASES = tomllib.loads(Path(__file__).with_name("addresses.toml").read_text("utf-8"))
TRICKS, ELSEWHERE = CASES["tricks"], CASES["elsewhere"]["urls"]
TRICKS["visible ASCII"].append("http://127.0.0.1:8000/in/" + "x" * 3000)


@pytest.mark.parametrize(
    ("reason", "url"), [(reason, url) for reason, urls in TRICKS.items() for url in urls]
)
def test_an_odd_spelling_is_no_address(reason: str, url: str) -> None:
    with pytest.raises(BadReceiver, match=reason):
        parse_address(url)
    receivers = Receivers()
    with pytest.raises(BadReceiver, match=reason):
        receivers.add(url)
    with pytest.raises(BadReceiver):
        receivers.add("http://localhost/", to=url or "x")
    assert receivers.list_entries() == []


def test_nothing_is_sent_to_an_address_that_is_not_named() -> None:
    receivers = Receivers()
    with listening() as listener:
        receivers.add(f"http://127.0.0.1:{listener.port}/in")
        for url in [*ELSEWHERE, *(url for urls in TRICKS.values() for url in urls)]:
            hook = ActiveWebhook(7, url.replace("8000", str(listener.port)), "0" * 64)
            outcome = attempt_delivery(hook, "msg_1", b"{}", receivers, ServiceProfile(), 1)
            assert (outcome.status, outcome.http_status) == ("refused", None), url
            assert url not in ELSEWHERE or "not in allow=: Sandbox(allow=[" in str(outcome.error)
        assert (listener.requests, listener.connections) == ([], 0)


# Named as a receiver, in a plain spelling, and still not this machine.
@pytest.mark.parametrize(
    "host",
    [
        *("0.0.0.0", "10.0.0.1", "169.254.169.254", "93.184.216.34", "128.0.0.1", "[::]"),
        *("[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"),
    ],
)
def test_a_named_address_that_is_not_this_machine_is_refused(host: str) -> None:
    with pytest.raises(BadReceiver, match="not this machine"):
        resolve_address(parse_address(f"http://{host}:8000/"))


@pytest.mark.parametrize(
    "answers",
    [
        *(["93.184.216.34"], ["127.0.0.1", "93.184.216.34"], ["::1", "fd00::1"]),
        *(["::ffff:127.0.0.1"], ["fe80::1%lo"], ["::1%lo"], ["not an address"]),
    ],
    ids=str,
)
def test_a_name_that_leads_elsewhere_is_refused(
    answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def addresses(host: str, port: int, **_: object) -> Iterator[tuple[object, ...]]:
        for answer in answers:
            family = socket.AF_INET6 if ":" in answer else socket.AF_INET
            yield family, socket.SOCK_STREAM, 6, "", (answer, port)

    monkeypatch.setattr(socket, "getaddrinfo", addresses)
    url, receivers = "http://hooks.example/", Receivers()
    receivers.add(url)
    hook = ActiveWebhook(7, url, "0" * 64)
    outcome = attempt_delivery(hook, "msg_1", b"{}", receivers, ServiceProfile(), 1)
    assert (outcome.status, outcome.http_status) == ("refused", None)
    assert "not this machine" in str(outcome.error)


def test_a_name_that_is_not_known_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(BadReceiver, match="not known"):
        resolve_address(parse_address("https://hooks.example/"))


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://hooks.example", ("https", "hooks.example", 443, "/", "")),
        ("HTTP://Hooks.Example:80/A?b=c?d", ("http", "hooks.example", 80, "/A", "b=c?d")),
        ("http://127.0.0.1:8000/in/", ("http", "127.0.0.1", 8000, "/in/", "")),
        ("http://[::1]:8000?x", ("http", "::1", 8000, "/", "x")),
        ("http://[0:0::1]/", ("http", "::1", 80, "/", "")),
        ("https://xn--e1afmkfd.example/%20", ("https", "xn--e1afmkfd.example", 443, "/%20", "")),
        ("https://h.example/a@b", ("https", "h.example", 443, "/a@b", "")),
    ],
)
def test_a_plain_address_is_parsed_into_its_parts(url: str, read: tuple[object, ...]) -> None:
    assert tuple(parse_address(url)) == read


@given(st.ip_addresses())
def test_only_addresses_of_the_loopback_are_this_machine(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    own = address in ipaddress.ip_network("127.0.0.0/8" if address.version == 4 else "::1/128")
    assert is_loopback(str(address)) == own
    assert not is_loopback(f"{address}%lo") or address.version == 4


@given(st.text(max_size=40) | st.from_regex(r"https?://[\x21-\x7e]{1,30}", fullmatch=True))
def test_any_text_is_an_address_or_refused_with_a_reason(text: str) -> None:
    try:
        read = parse_address(text)
    except BadReceiver as error:
        assert str(error)
    else:
        assert read.host
        assert 0 < read.port < 65536
        assert read.path.startswith("/")
