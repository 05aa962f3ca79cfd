"""Safety policy: what a plan does not do unless it is allowed to by name.

It is read from top to bottom. What is refused for single rows, such as a number that two rows
share, is decided by the planner; here a plan is refused as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatkit.bulk.changes import count_kinds, group_by_resource
from chatkit.errors import PlanRefused

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan

#: A plan that touches a larger share of so many records or more needs `many=True`. The share is
#: the one that octodns has found sensible for zones.
MAX_SHARE, MIN_RECORDS = 0.3, 10
#: So does one that deletes more records than this.
MAX_DELETES = 100


def raise_if_unsafe(plan: Plan, *, many: bool, irreversible: bool, rehearsed: bool) -> None:
    """Refuse a plan that does more than it is allowed to.

    Args:
        plan: What is going to be applied.
        many: Allow many deletes, and changes to a large share of the records.
        irreversible: Allow what can never be undone.
        rehearsed: Refuse it unless a rehearsal of it went well.

    Raises:
        PlanRefused: It does more; the text says which argument allows it.
    """
    if reasons := objections(plan, many=many, irreversible=irreversible):
        raise PlanRefused("\n- ".join(["This plan is blocked, nothing was sent:", *reasons]))
    if rehearsed and plan._rehearsed != plan.hash:
        raise PlanRefused(
            "This plan is blocked, nothing was sent: it was not rehearsed without errors. "
            "chatkit.rehearse(plan) applies it to a copy of the account."
        )


def objections(plan: Plan, *, many: bool, irreversible: bool) -> list[str]:
    """Return the reasons why a plan is refused, each with what would allow it."""
    reasons = []
    if plan._cells and not plan._skip_invalid:
        rows = len({repr(cell.row) for cell in plan._cells})
        others = ", or plan the others alone with plan(…, skip_invalid=True)"
        reasons.append(
            f"{rows} of its rows cannot be planned: correct them (plan.refused shows where)"
            f"{others if plan.changes else ''}"
        )
    if plan._setting.undoes:  # it can touch nothing but what its run has made
        return reasons
    if not many and (sizes := _excess_counts(plan)):
        reasons.append(f"needs apply(many=True): it {' and '.join(sizes)}")
    never = [change for change in plan.changes if change.undo == "never"]
    if never and not irreversible:
        reasons.append(
            f"needs apply(irreversible=True): {len(never):,} of its rows can never be undone "
            f"({never[0].label}: {never[0].loss})"
        )
    return reasons


def _excess_counts(plan: Plan) -> list[str]:
    """Return in words, by resource, what exceeds the deletes or changes allowed by default."""
    sizes, deleted, single_excess = [], 0, False
    changes_of = group_by_resource(plan.changes, plan._setting.noun)
    for noun, part in plan._setting.parts.items():
        counts = count_kinds(changes_of.get(noun, ()))
        touched = counts["update"] + counts["delete"]
        deleted += counts["delete"]
        if counts["delete"] > MAX_DELETES:
            single_excess = True
            sizes.append(f"deletes {counts['delete']:,} {noun}s")
        elif part.total >= MIN_RECORDS and touched > MAX_SHARE * part.total:
            whole = f"{part.total:,} {noun}s"
            sizes.append(f"changes {touched:,} of {whole}, more than {MAX_SHARE:.0%}")
    if deleted > MAX_DELETES and not single_excess:
        sizes.insert(0, f"deletes {deleted:,} records of several resources")
    return sizes
