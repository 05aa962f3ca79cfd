"""The named crash points: places of the code after which the world must still be explicable.

A point that no longer exists fails the run that installs it, so that it moves with the code.
"""

from __future__ import annotations

from typing import Literal

#: Where journals lie.
Home = Literal["folder", "postgresql"]


def _both(*names: str) -> tuple[str, ...]:
    return tuple(f"chatkit.{name}:{when}" for name in names for when in ("before", "after"))


#: Met once, before anything is sent: the plan's file, the lock, the new journal.
BEGINNINGS = _both(
    "bulk.plan:Plan.save",
    "util.files:_make_lock",
    "bulk.journal:JournalStore.create",
    "bulk.journal:_write_changes",
    "bulk.journal:sync_folder",
)

#: Met again and again: events, commits, sends, answers, what they mean; then doubts. A row is
#: reopened where the child before was killed while writes were under way.
POINTS = _both(
    "bulk.journal:JournalStore.open",
    "bulk.journal:Journal.write",
    "bulk.journal:Journal.commit",
    "bulk.apply:Run._dispatch",
    "bulk.outcomes:RunRow.write_event",
    "api.transport:Flight.start",
    "api.wire:Wire.send_once",
    "api.transport:Flight.completed",
    "bulk.apply:Run._advance_progress",
    "bulk.outcomes:RunRow.evaluate_outcome",
    "bulk.outcomes:RunRow._compare_three_ways",
    "bulk.outcomes:RunRow._record_success",
    "bulk.outcomes:Row.mark_reopened",
    "bulk.outcomes:RunRow._verify_fields",
    "bulk.outcomes:RunRow._record_unknown",
    "bulk.apply:Run._resolve_unknown",
    "bulk.reconcile:Search.find_verdicts",
    "bulk.outcomes:RunRow.mark_absent",
    "bulk.outcomes:RunRow.adopt",
)

#: Met once, when all is done: the last mark, the closed journal, the lock, the result.
ENDS = _both(
    "bulk.apply:Run._note_duplicates",
    "bulk.journal:Journal.close",
    "bulk.rendering:make_result_frame",
)

#: What stands in PostgreSQL in the place of points of a folder; none where it has no such step.
_IN_POSTGRES = {
    "util.files:_make_lock": "bulk.journal:DatabaseStore._lock",
    "bulk.journal:sync_folder": "",
}


def points_in(home: Home, points: tuple[str, ...]) -> tuple[str, ...]:
    """Name points where the journals lie in this home."""
    if home == "folder":
        return points
    outcome = []
    for point in points:
        place, _, when = point.rpartition(":")
        present = _IN_POSTGRES.get(place.removeprefix("chatkit."), place)
        outcome += [f"chatkit.{present.removeprefix('chatkit.')}:{when}"] if present else []
    return tuple(outcome)
