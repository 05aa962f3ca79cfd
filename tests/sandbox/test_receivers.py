"""Receivers: the list of who may be delivered to, by whole path segments."""

import pytest

from chatkit.sandbox.delivery import Receivers
from chatkit.util.webhook_sender import BadReceiver


def named(*urls: str) -> Receivers:
    receivers = Receivers()
    for url in urls:
        receivers.add(url)
    return receivers


def test_nobody_is_on_the_list_at_first() -> None:
    receivers = Receivers()
    assert not receivers.allows("http://127.0.0.1:8000/")
    with pytest.raises(BadReceiver, match="not in allow="):
        receivers.find_target("http://127.0.0.1:8000/")


def test_an_address_allows_itself_and_what_is_below_it() -> None:
    receivers = named("http://LOCALHOST:8000/in/")
    assert receivers.find_target("http://localhost:8000/in/a/b").path == "/in/a/b"
    for url in ("/in", "/inside", "/", "/out"):
        assert not receivers.allows(f"http://localhost:8000{url}"), url
    assert named("http://h.example/in").allows("http://h.example/in")
    assert not named("http://h.example/in").allows("not an address")


def test_a_delivery_is_sent_where_the_entry_says() -> None:
    receivers = Receivers()
    receivers.add("https://hooks.example/chat", to="http://127.0.0.1:8000/inbox")
    receivers.add("https://hooks.example/chat/quiet", to="http://127.0.0.1:9000/")
    route = receivers.find_target("https://hooks.example/chat/a?b=c")
    assert (route.port, route.path, route.query) == (8000, "/inbox/a", "b=c")
    assert receivers.find_target("https://hooks.example/chat").path == "/inbox"
    assert receivers.find_target("https://hooks.example/chat/quiet/1")[2:4] == (9000, "/1")
    assert not receivers.allows("https://hooks.example/chatter")


def test_naming_an_address_again_changes_where_it_is_heard() -> None:
    receivers = named("https://hooks.example/")
    receivers.add("https://hooks.example/", to="http://127.0.0.1:8000/")
    output = [{"url": "https://hooks.example/", "to": "http://127.0.0.1:8000/"}]
    assert receivers.list_entries() == output
    receivers.clear()
    assert receivers.list_entries() == []


@pytest.mark.parametrize(
    "url", ["", "localhost", "http://", "http://h/?a=b", "http://h/#a", "x" * 3000]
)
def test_what_is_not_an_address_is_not_taken(url: str) -> None:
    receivers = Receivers()
    with pytest.raises(BadReceiver):
        receivers.add(url)
    with pytest.raises(BadReceiver):
        receivers.add("http://localhost/", to=url or "x")
    assert receivers.list_entries() == []
