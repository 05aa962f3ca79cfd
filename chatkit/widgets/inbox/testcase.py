"""Testcase: a delivery as a test that can be pasted into a file and run as it is."""

from __future__ import annotations

from itertools import islice

from chatkit.display import many
from chatkit.inbox.delivery import Delivery
from chatkit.inbox.events import events
from chatkit.profile import ServiceProfile

_LARGEST = 50_000  #: bytes of a body that are readable in a test
_MOST = 20  #: events that are compared
_WIDTH = 76
_NAMES = ("event_kind_field", "event_data_field")


def testcase(delivery: Delivery, profile: ServiceProfile) -> str:
    """Write a test that reads the body of a delivery as it was read here; empty if too large.

    It holds what a customer wrote: take out what does not belong into a repository.
    """
    if len(delivery.body) > _LARGEST:
        return ""
    found = [*islice(events(delivery, profile), _MOST)]
    expected = "".join(
        f"        {(event.family, event.type, event.contact, event.text)!a},\n" for event in found
    )
    plain = ServiceProfile()
    changed = ", ".join(
        f"{name}={getattr(profile, name)!a}"
        for name in _NAMES
        if getattr(profile, name) != getattr(plain, name)
    )
    verdict = "verified" if delivery.verified else "not verified"
    return (
        "from datetime import UTC, datetime\n\n"
        "from chatkit import ServiceProfile\n"
        "from chatkit.inbox.delivery import Delivery\n"
        "from chatkit.inbox.events import events\n\n"
        f"BODY = (\n{_lines(delivery.body)})\n\n\n"
        f"def test_delivery_{delivery.id}() -> None:\n"
        f"    # {many(len(delivery.body), 'byte')}, {verdict} when it came\n"
        "    delivery = Delivery(\n"
        f"        {delivery.id}, datetime({_when(delivery)}, tzinfo=UTC), {delivery.identity!a},\n"
        f"        {delivery.kind!a}, {delivery.verified}, {delivery.reason!a},\n"
        f"        {delivery.is_json}, {delivery.path!a}, (), BODY,\n"
        "    )\n"
        f"    found = [*events(delivery, ServiceProfile({changed}))]\n"
        f"    told = [(e.family, e.type, e.contact, e.text) for e in found[:{_MOST}]]\n"
        f"    assert told == [\n{expected}    ]\n"
    )


def _lines(body: bytes) -> str:
    """A body as several literals, one below the other."""
    pieces = [body[n : n + _WIDTH] for n in range(0, len(body), _WIDTH)] or [b""]
    return "".join(f"    {piece!r}\n" for piece in pieces)


def _when(delivery: Delivery) -> str:
    at = delivery.received_at
    return f"{at.year}, {at.month}, {at.day}, {at.hour}, {at.minute}, {at.second}"
