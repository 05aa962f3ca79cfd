"""Which tests answer for which modules, the quickest of them first."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import NamedTuple

#: The share of mutants that tests must notice.
GOAL = 0.92


class Room(NamedTuple):
    """Modules, as patterns of paths below `chatkit/`, and the tests that answer for them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


_BULK = (
    "tests/bulk",
    "tests/test_history.py",
    "tests/faults/test_undo.py",
    "tests/test_contacts.py",
    "tests/flows/test_room.py",
)
ROOMS: dict[str, list[Room]] = {
    "transport": [
        Room(("throttle.py",), ("tests/test_throttle.py",)),
        Room(("answer.py",), ("tests/test_answer.py", "tests/test_transport.py")),
        Room(("transport.py",), ("tests/test_transport.py", "tests/test_client.py")),
        Room(("wire.py", "background.py"), ("tests/test_wire.py", "tests/test_background.py")),
    ],
    "listing": [Room(("listing.py",), ("tests/test_listing.py", "tests/test_contacts.py"))],
    "endpoints": [
        Room(
            ("endpoints.py", "record.py"),
            (
                "tests/test_endpoints.py",
                "tests/test_record.py",
                "tests/test_resource.py",
                "tests/test_contacts.py",
                "tests/flows/test_room.py",
                "tests/templates/test_room.py",
            ),
        ),
    ],
    "bulk": [Room(("bulk/*.py", "bulk/*/*.py"), _BULK)],
    "rooms": [
        Room(
            ("contacts.py", "resource.py"),
            (
                "tests/test_contacts.py",
                "tests/test_resource.py",
                "tests/test_contacts_check.py",
                "tests/bulk/test_undo.py",
                "tests/bulk/test_plan_applied.py",
            ),
        ),
        Room(("flows/*.py",), ("tests/flows", "tests/test_flow_checks.py")),
        Room(("templates/*.py",), ("tests/templates",)),
        Room(("webhooks/*.py",), ("tests/webhooks",)),
    ],
    "inbox": [Room(("inbox/*.py",), ("tests/inbox",))],
    "localization": [
        Room(
            ("localization/*.py", "localization/*/*.py"), ("tests/localization", "tests/templates")
        ),
    ],
    "flow rules": [
        Room(("flowjson/rules/*.py",), ("tests/flowjson/rules", "tests/flowjson/test_lint.py")),
    ],
}


def room_of(path: str) -> tuple[str, Room] | None:
    """Return the group and the room of a module, whose path begins below `chatkit/`."""
    for group, rooms in ROOMS.items():
        for room in rooms:
            if any(fnmatch(path, pattern) for pattern in room.modules):
                return group, room
    return None
