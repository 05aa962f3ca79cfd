"""Rehearsal: a plan applied to a copy of its account, before it is applied to the account.

The account is only read. The plan is applied to `client.copy()`, and what differs there
afterwards is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chatkit.account.comparison import Comparison
from chatkit.account.reading import read_account
from chatkit.api.connection import account_words
from chatkit.bulk.plan import Plan, note_rehearsal, plan_of_copy, remaining, setting_of, target_of
from chatkit.bulk.stores import journal_folder
from chatkit.client import RESOURCES, Client, open_clients, source_of
from chatkit.errors import InputError, PlanRefused
from chatkit.imports import accessor
from chatkit.report import FEW, Report, ReportPart, bullets, headline, paragraph
from chatkit.util.display import cut, duration, many, visible

if TYPE_CHECKING:
    import pandas as pd

_AT_ONCE = 8  #: calls under way at once, as `plan.apply()` does it
_WENT_WELL = ("applied", "unchanged", "skipped")


def rehearse(plan: Plan) -> Rehearsal:
    """Apply a plan to a copy of its account, and show what differs there afterwards.

    The account itself is only read; its contacts are copied if the plan changes some. Once the
    rehearsal of a plan has gone well, `plan.apply(rehearsed=True)` goes, for this very plan alone.

    Args:
        plan: The plan, of one resource or of the account.

    Raises:
        InputError: `plan` is not a plan.
        PlanRefused: Some of its rows cannot be planned.
        CallError: The account cannot be read.

    >>> plan = client.contacts.plan([{"id": 50002, "name": "Ana Cruz"}])
    >>> chatkit.rehearse(plan).ok
    True
    """
    if not hasattr(plan, "objections"):
        raise InputError(
            "rehearse takes a plan, like client.contacts.plan(frame) or folder.plan(client), not "
            f"{type(plan).__name__}."
        )
    accessor.register()
    if refused := plan.objections(many=True, irreversible=True):
        raise PlanRefused("\n- ".join(["This plan cannot be rehearsed:", *refused]))
    transport, noun = target_of(plan).transport, setting_of(plan).noun
    client = next((each for each in open_clients() if each.transport is transport), None)
    client = client or Client._made(transport.connection, transport)
    of_plan = [change.code for change in plan.changes if change.code]
    codes = list(dict.fromkeys([*client.templates.codes, *of_plan]))
    nouns = {change.noun or noun for change in plan.changes}
    contacts = any(RESOURCES[each]._declaration.personal for each in nouns)
    with client.copy(codes, contacts=contacts) as copy:
        before = read_account(copy, codes, contacts=contacts)
        attempt = plan_of_copy(plan, source_of(copy, noun))
        try:
            result = attempt.apply(concurrency=_AT_ONCE, many=True, irreversible=True, watch=_quiet)
        finally:
            for file in journal_folder(True).glob(f"{attempt.id}.db*"):
                file.unlink(missing_ok=True)
        after = read_account(copy, codes, contacts=contacts)
    rehearsal = Rehearsal(
        plan,
        result,
        Comparison(replace(before, origin="before"), replace(after, origin="after")),
        account=account_words(transport.connection.account, transport.connection.name),
        seconds=remaining(plan, _AT_ONCE, client.profile.rate_limit).seconds,
    )
    if rehearsal.ok:
        note_rehearsal(plan)
    return rehearsal


def _quiet(done: int, total: int | None) -> None:
    """Show no progress: a copy takes calls as fast as they come."""


@dataclass(frozen=True, repr=False, eq=False)
class Rehearsal(Report):
    """The outcome of a plan in a copy of its account.

    Attributes:
        plan: The plan; it is not applied.
        result: A row for each of its rows, as `plan.apply()` would have returned it.
        differences: What differs between the copy before and after.
        account: The account that was copied, for people.
        seconds: How long the plan takes at the pace of the account, about.
    """

    plan: Plan
    result: pd.DataFrame
    differences: Comparison
    account: str
    seconds: float

    @property
    def hash(self) -> str:
        """The hash of the plan: what `plan.apply(rehearsed=True)` goes by."""
        return self.plan.hash

    @property
    def ok(self) -> bool:
        """True if all rows went as planned."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """The reasons not to apply the plan with `rehearsed=True`; empty when there are none."""
        rows = self.result[~self.result["state"].isin(_WENT_WELL)]
        return [
            f"{label}: {state}{f', {reason}' if reason else ''}"
            for label, state, reason in zip(
                rows["label"], rows["state"], rows["reason"], strict=True
            )
        ]

    @property
    def warnings(self) -> list[str]:
        """The objections to look at before the plan is applied."""
        return list(self.plan.objections())

    def lines(self) -> list[str]:
        """Return in lines whether all went as planned: for a comment on a pull request."""
        if problems := self.problems:
            return [f"! rehearsal: {cut(each, 200)}" for each in problems]
        well = f"{many(len(self.result), 'row')} as planned, in a copy of the account"
        return [f"# rehearsal: {cut(each, 200)}" for each in (well, *self.warnings)]

    def frame(self) -> pd.DataFrame:
        """Return what came of each row of the plan in the copy, with the index of the plan."""
        return self.result

    def _parts(self) -> Iterator[ReportPart]:
        rows, wrong = len(self.result), len(self.problems)
        went = f"{rows - wrong:,} went as planned" if wrong else "all went as planned"
        changes = many(rows, "change")
        yield headline(f"Rehearsal of {changes} on a copy of {self.account}: {went}.")
        yield from self.differences._parts(notes=False)
        for title, lines in (
            ("Did not go as planned:", self.problems),
            ("To look at:", self.warnings),
        ):
            more = [f"… and {len(lines) - FEW:,} more"] if lines[FEW:] else []
            yield bullets(title, map(visible, [*lines[:FEW], *more]), "objections")
        yield paragraph(
            f"At the pace of the account it takes {duration(self.seconds)}: "
            f"{many(self.plan.calls(), 'call')}, {_AT_ONCE} at once. "
            f"plan.apply(rehearsed=True) {'goes now' if self.ok else 'is blocked'}."
        )
