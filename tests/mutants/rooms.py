"""Which tests answer for which modules: by folders and patterns, so that modules may be renamed."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

#: The share of mutants that tests must notice.
GOAL = 0.92


class Room(NamedTuple):
    """Modules, as patterns of paths below `chatkit/`, and the tests that answer for them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]  # patterns of paths below `tests/`


_BULK = (
    "bulk/**/test_*.py",
    "test_history.py",
    "faults/test_undo.py",
    "test_contacts.py",
    "flows/test_resource.py",
)
_LOCALIZATION = ("localization/**/test_*.py",)
_CONTENT = ("widgets/content/test_*.py",)
ROOMS: dict[str, list[Room]] = {
    "transport": [
        Room(("throttle.py",), ("test_throttle.py",)),
        Room(("answer.py",), ("test_answer.py", "test_transport.py")),
        Room(("transport.py",), ("test_transport.py", "test_client.py")),
        Room(
            ("wire.py", "http.py", "background.py"),
            ("test_wire.py", "test_http.py", "test_background.py", "test_transport.py"),
        ),
    ],
    "listing": [Room(("listing.py",), ("test_listing.py", "test_contacts.py"))],
    "endpoints": [
        Room(
            ("endpoint*.py", "record.py"),
            (
                "test_endpoint*.py",
                "test_record.py",
                "test_resource.py",
                "test_contacts.py",
                "test_progress.py",
                "account/test_copy.py",
                "bulk/test_truth.py",
                "bulk/test_plan_applied.py",
                "*/test_room*.py",
                "flows/test_resource.py",
            ),
        ),
    ],
    "bulk": [
        Room(("lock.py",), ("test_lock.py", "bulk/test_plan_stopped.py")),
        Room(("fleet_plan.py",), ("fleet/test_fleet*.py",)),
        Room(
            ("finding.py",),
            (
                *("test_findings.py", "checks/test_sent.py", "test_flow_checks.py"),
                *("flows/test_resource.py", "templates/test_notes.py", "templates/test_room.py"),
            ),
        ),
        Room(("bulk/rendering.py",), (*_BULK, "widgets/plan/test_*.py")),
        Room(("bulk/plan.py",), (*_BULK, "test_tracebacks.py", "fleet/test_fleet*.py")),
        Room(("bulk/*",), _BULK),
    ],
    "resources": [
        Room(
            ("contacts.py", "resource.py"),
            (
                "test_contacts*.py",
                "checks/test_sent.py",
                "test_flow_checks.py",
                "test_endpoint*.py",
                "test_resource.py",
                "bulk/test_undo.py",
                "bulk/test_plan_applied.py",
            ),
        ),
        Room(("flows.py",), ("flows/test_*.py", "test_flow_checks.py", "test_endpoint*.py")),
        Room(
            ("templates/*",),
            ("templates/test_*.py", "test_endpoint*.py", "localization/test_ledger.py"),
        ),
        Room(("webhooks.py",), ("webhooks/test_*.py", "test_endpoint*.py")),
    ],
    "inbox": [Room(("inbox/*",), ("inbox/test_*.py",))],
    "localization": [
        Room(("localization/bubble.py",), _CONTENT),
        Room(
            ("localization/queue.py",),
            ("templates/test_queue.py", "localization/test_memory.py", *_CONTENT),
        ),
        Room(
            ("localization/ledger.py", "localization/board.py"),
            (*_LOCALIZATION, "templates/test_queue.py", *_CONTENT),
        ),
        Room(("localization/translation/*",), (*_LOCALIZATION, "templates/test_translations.py")),
        Room(("localization/*",), (*_LOCALIZATION, "templates/test_edits.py")),
    ],
    "flow rules": [
        Room(("flowjson/rules/*",), ("flowjson/rules/**/test_*.py", "flowjson/test_lint*.py")),
    ],
}


def room_of(path: str) -> tuple[str, Room] | None:
    """Return the group and the room of a module, whose path begins below `chatkit/`."""
    for group, rooms in ROOMS.items():
        for room in rooms:
            if any(fnmatch(path, pattern) for pattern in room.modules):
                return group, room
    return None


def files_of(room: Room, tests: Path) -> list[str]:
    """Return the files of tests that answer for a room, as paths below `tests`."""
    found = {file for pattern in room.tests for file in tests.glob(pattern)}
    return sorted(file.relative_to(tests).as_posix() for file in found)


def own_tests(path: str, files: list[str]) -> list[str]:
    """Choose the tests named after a module: of chatkit/a/b.py, those of tests/a/test_b*.py."""
    module = Path(path)
    pattern = (module.parent / f"test_{module.stem}*.py").as_posix()
    return [file for file in files if fnmatch(file, pattern)]


def in_order(path: str, room: Room, tests: Path) -> tuple[list[str], list[str]]:
    """Part the tests of a module's room: its own and those that import it, and all others.

    Of both the small ones come first, which most often are the quicker.
    """
    files = files_of(room, tests)
    files.sort(key=lambda file: (tests / file).stat().st_size)
    name = "chatkit." + path.removesuffix(".py").replace("/", ".")
    own = own_tests(path, files)
    near = [*own, *(file for file in files if name in (tests / file).read_text("utf-8"))]
    return list(dict.fromkeys(near)), [file for file in files if file not in near]
