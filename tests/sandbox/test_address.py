"""Addresses: one spelling, one meaning, this machine; the table of tricks that are refused."""

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from listening import answering, listening

from chatkit.profile import ServiceProfile
from chatkit.sandbox.delivery import Receivers, attempt_delivery
from chatkit.sandbox.webhooks import ActiveWebhook
from chatkit.util.webhook_sender import BadReceiver, is_loopback, parse_address, resolve_address

# Each leads a careless sender to 127.0.0.1, or away from it, in another disguise.
TRICKS = {
    "decimal IPv4": "http://2130706433:{port}/in",
    "octal IPv4": "http://0177.0.0.1:{port}/in",
    "octal with many zeros": "http://0000177.0.0.1:{port}/in",
    "hex IPv4": "http://0x7f000001:{port}/in",
    "hex IPv4 by parts": "http://0x7f.0x0.0x0.0x1:{port}/in",
    "mixed parts": "http://0x7f.0.1:{port}/in",
    "two parts": "http://127.1:{port}/in",
    "three parts": "http://127.0.1:{port}/in",
    "overflowing part": "http://127.0.0.257:{port}/in",
    "five parts": "http://127.0.0.1.1:{port}/in",
    "one zero": "http://0:{port}/in",
    "a zero that is long": "http://127.0.0.01:{port}/in",
    "unspecified": "http://0.0.0.0:{port}/in",
    "another loopback": "http://127.0.0.2:{port}/in",
    "unspecified IPv6": "http://[::]:{port}/in",
    "IPv6 mapped": "http://[::ffff:127.0.0.1]:{port}/in",
    "IPv6 mapped in hex": "http://[::ffff:7f00:1]:{port}/in",
    "IPv6 compatible": "http://[::127.0.0.1]:{port}/in",
    "NAT64": "http://[64:ff9b::7f00:1]:{port}/in",
    "6to4": "http://[2002:7f00:1::]:{port}/in",
    "zone id": "http://[::1%251]:{port}/in",
    "zone id, bare": "http://[::1%lo]:{port}/in",
    "link local with a zone": "http://[fe80::1%25eth0]:{port}/in",
    "IPv6 without brackets": "http://::1:{port}/in",
    "brackets around IPv4": "http://[127.0.0.1]:{port}/in",
    "IPv6 unfinished": "http://[::1/in",
    "metadata service": "http://169.254.169.254/in",
    "private 10": "http://10.0.0.1:{port}/in",
    "private 172": "http://172.16.0.1:{port}/in",
    "private 192": "http://192.168.0.1:{port}/in",
    "carrier grade NAT": "http://100.64.0.1:{port}/in",
    "multicast": "http://224.0.0.1:{port}/in",
    "broadcast": "http://255.255.255.255:{port}/in",
    "another name of the place": "http://localhost:{port}/in",
    "trailing dot": "http://127.0.0.1.:{port}/in",
    "name with a trailing dot": "http://localhost.:{port}/in",
    "leading dot": "http://.localhost:{port}/in",
    "two dots": "http://local..host:{port}/in",
    "user": "http://user@127.0.0.1:{port}/in",
    "user and password": "http://user:word@127.0.0.1:{port}/in",
    "host as user": "http://127.0.0.1:{port}@example.com/in",
    "user in escapes": "http://a%40127.0.0.1:{port}/in",
    "backslash before @": "http://127.0.0.1:{port}\\@example.com/in",
    "backslash for slash": "http:\\\\127.0.0.1:{port}\\in",
    "fragment": "http://127.0.0.1:{port}/in#x",
    "fragment before @": "http://example.com#@127.0.0.1:{port}/in",
    "fullwidth digits": "http://１２７.0.0.1:{port}/in",
    "fullwidth dots": "http://127。0。0。1:{port}/in",
    "circled digits": "http://①②⑦.0.0.1:{port}/in",
    "IDNA name": "http://lоcalhost:{port}/in",  # a Cyrillic o
    "IDNA sharp s": "http://faß.example:{port}/in",
    "punycode name": "http://xn--lcalhost-c1i:{port}/in",
    "soft hyphen": "http://local\u00adhost:{port}/in",
    "zero width joiner": "http://local\u200dhost:{port}/in",
    "escaped host": "http://%31%32%37.0.0.1:{port}/in",
    "escaped dot": "http://127%2e0.0.1:{port}/in",
    "escaped slash in the host": "http://127.0.0.1%2f@example.com:{port}/in",
    "NUL in the host": "http://127.0.0.1\0.example.com:{port}/in",
    "underscore": "http://local_host:{port}/in",
    "host that begins with a hyphen": "http://-localhost:{port}/in",
    "label of 64": "http://" + "a" * 64 + ":{port}/in",
    "name of 254": "http://" + ".".join(["a" * 60] * 5) + ":{port}/in",
    "no host": "http:///in",
    "no host but a port": "http://:{port}/in",
    "another port": "http://127.0.0.1:{other}/in",
    "no port": "http://127.0.0.1/in",
    "empty port": "http://127.0.0.1:/in",
    "port 0": "http://127.0.0.1:0/in",
    "port with a zero before": "http://127.0.0.1:0{port}/in",
    "port with a sign": "http://127.0.0.1:+{port}/in",
    "port with a space": "http://127.0.0.1: {port}/in",
    "port in Arabic digits": "http://127.0.0.1:١٢٣/in",
    "port too large": "http://127.0.0.1:99999/in",
    "port that wraps around": "http://127.0.0.1:{wrapped}/in",
    "two ports": "http://127.0.0.1:80:{port}/in",
    "another scheme": "https://127.0.0.1:{port}/in",
    "ftp": "ftp://127.0.0.1:{port}/in",
    "file": "file:///etc/passwd",
    "gopher": "gopher://127.0.0.1:{port}/in",
    "data": "data:text/plain,x",
    "no scheme": "//127.0.0.1:{port}/in",
    "scheme with one slash": "http:/127.0.0.1:{port}/in",
    "three slashes": "http:///127.0.0.1:{port}/in",
    "a tab in the scheme": "ht\ttp://127.0.0.1:{port}/in",
    "a line break in the host": "http://127.0.0.1\n:{port}/in",
    "a space before": " http://127.0.0.1:{port}/in",
    "a header in the path": "http://127.0.0.1:{port}/in\r\nX: y",
    "a space in the path": "http://127.0.0.1:{port}/in x",
    "the path above": "http://127.0.0.1:{port}/",
    "a longer word": "http://127.0.0.1:{port}/inside",
    "dot segments": "http://127.0.0.1:{port}/in/../out",
    "escaped dot segments": "http://127.0.0.1:{port}/in/%2e%2e/out",
    "escaped slash": "http://127.0.0.1:{port}/in/..%2fout",
    "escaped backslash": "http://127.0.0.1:{port}/in/..%5cout",
    "one dot": "http://127.0.0.1:{port}/./in",
    "double slash": "http://127.0.0.1:{port}//in",
    "another case of the path": "http://127.0.0.1:{port}/IN",
    "too long": "http://127.0.0.1:{port}/in/" + "x" * 3000,
    "empty": "",
}


@pytest.mark.parametrize("trick", TRICKS, ids=str)
def test_a_trick_with_the_address_is_refused_and_nothing_is_connected_to(trick: str) -> None:
    receivers = Receivers()
    with listening() as listener:
        receivers.add(f"http://127.0.0.1:{listener.port}/in")
        places = {"port": listener.port, "other": listener.port - 1}
        url = TRICKS[trick].format(**places, wrapped=listener.port + 65536)
        hook = ActiveWebhook(7, url, "0" * 64)
        came = attempt_delivery(hook, "msg_1", b"{}", receivers, ServiceProfile(), 1)
        assert came.status == "refused", came
        assert came.error
        assert listener.requests == []


# What even a person who names a receiver cannot have: no spelling of these is taken.
NEVER = [
    name
    for name in TRICKS
    if name
    not in (
        # These are plain addresses: only that nobody named them speaks against them, or what
        # they are found to be when they are looked up.
        *("another loopback", "another name of the place", "another port", "no port"),
        *("unspecified", "unspecified IPv6", "IPv6 mapped", "IPv6 mapped in hex", "NAT64"),
        *("IPv6 compatible", "6to4", "metadata service", "private 10", "private 172"),
        *("private 192", "carrier grade NAT", "multicast", "broadcast", "punycode name"),
        *("another scheme", "the path above", "a longer word", "double slash"),
        "another case of the path",
    )
]


@pytest.mark.parametrize("trick", NEVER, ids=str)
def test_an_odd_spelling_is_no_receiver_either(trick: str) -> None:
    url = TRICKS[trick].format(port=8000, other=7999, wrapped=8000 + 65536)
    with pytest.raises(BadReceiver):
        parse_address(url)
    receivers = Receivers()
    with pytest.raises(BadReceiver):
        receivers.add("http://localhost/", to=url or "x")
    assert receivers.entries() == []


# Named as a receiver, in a plain spelling, and still not this machine.
@pytest.mark.parametrize(
    "host",
    [
        *("0.0.0.0", "10.0.0.1", "100.64.0.1", "169.254.169.254", "172.16.0.1", "192.168.0.1"),
        *("93.184.216.34", "224.0.0.1", "255.255.255.255", "126.255.255.255", "128.0.0.1"),
        *("[::]", "[::2]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]"),
        *("[2002:7f00:1::]", "[fe80::1]", "[fc00::1]", "[ff02::1]", "[2001:db8::1]"),
    ],
)
def test_a_named_address_that_is_not_this_machine_is_refused(host: str) -> None:
    with pytest.raises(BadReceiver, match="not this machine"):
        resolve_address(parse_address(f"http://{host}:8000/"))


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
        ["fe80::1%lo"],
        ["::1%lo"],
        ["::1", "fd00::1"],
        ["not an address"],
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(
    answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def result(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        families = [socket.AF_INET6 if ":" in answer else socket.AF_INET for answer in answers]
        return [
            (family, socket.SOCK_STREAM, 6, "", (answer, port))
            for family, answer in zip(families, answers, strict=True)
        ]

    monkeypatch.setattr(socket, "getaddrinfo", result)
    with pytest.raises(BadReceiver, match="not this machine"):
        resolve_address(parse_address("https://hooks.example/"))


def test_a_name_that_is_not_known_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(BadReceiver, match="not known"):
        resolve_address(parse_address("https://hooks.example/"))


def test_a_redirect_to_this_machine_is_not_followed_either() -> None:
    with listening() as elsewhere, listening(answering(307, f"Location: {elsewhere.url}")) as first:
        receivers = Receivers()
        receivers.add(first.url)
        receivers.add(elsewhere.url)
        hook = ActiveWebhook(7, first.url, "0" * 64)
        came = attempt_delivery(hook, "msg_1", b"{}", receivers, ServiceProfile())
    assert (came.status, came.http_status, elsewhere.requests) == ("failed", 307, [])


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
def test_a_plain_address_is_taken_apart(url: str, read: tuple[object, ...]) -> None:
    assert tuple(parse_address(url)) == read


@given(st.ip_addresses())
def test_of_all_addresses_only_those_of_the_loopback_are_this_machine(
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
