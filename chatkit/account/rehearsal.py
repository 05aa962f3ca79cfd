"""Rehearsal: a plan applied to a copy of its account, before it is applied to the account.

The account is only read. A sandbox begins with its records, the same ids and the same profile;
there the plan is applied, and what differs afterwards is shown.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chatkit.account.comparison import Comparison
from chatkit.account.reading import read_account
from chatkit.api.connection import account_words
from chatkit.bulk.plan import Plan, desk_of, note_rehearsal, plan_of_copy, setting_of
from chatkit.bulk.stores import journal_folder
from chatkit.client import Client, open_clients, open_copy, source_of
from chatkit.errors import InputError, PlanRefused
from chatkit.report import FEW, Report, html_heading, html_list, marked, wrapped
from chatkit.util.display import duration, many, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.templates.codes import Codes

_WENT_WELL = ("applied", "unchanged", "skipped")


def rehearse(
    plan: Plan,
    *,
    codes: Codes | None = None,
    contacts: bool | None = None,
    concurrency: int = 8,
    rate: float | None = None,
) -> Rehearsal:
    """Apply a plan to a copy of its account, and show what differs there afterwards.

    The account itself is only read. Once the rehearsal of a plan has gone well,
    `plan.apply(rehearsed=True)` goes, for this very plan alone.

    Args:
        plan: The plan, of one resource or of the account.
        codes: Template codes to copy beside those of the plan and those remembered.
        contacts: Whether to read and copy the contacts; without it only if the plan changes some.
        concurrency: Calls under way at once, as you will apply it.
        rate: Calls a second at most, as you will apply it.

    Raises:
        InputError: `plan` is not a plan.
        PlanRefused: Some of its rows cannot be planned.
        CallError: The account cannot be read.

    >>> plan = client.contacts.plan([{"id": 50002, "name": "Ana Cruz"}])
    >>> chatkit.rehearse(plan).ok
    True
    """
    from chatkit.imports import accessor
    from chatkit.templates.codes import template_codes

    if not hasattr(plan, "objections"):
        raise InputError(
            "rehearse takes a plan, like client.contacts.plan(frame) or folder.plan(client), not "
            f"{type(plan).__name__}."
        )
    accessor.register()
    if refused := plan.objections(many=True, irreversible=True):
        raise PlanRefused("\n- ".join(["This plan cannot be rehearsed:", *refused]))
    transport, noun = desk_of(plan).transport, setting_of(plan).noun
    live = next((each for each in open_clients() if each.transport is transport), None)
    live = live or Client._made(transport.connection, transport)
    of_plan = [change.code for change in plan.changes if change.code]
    more = [] if codes is None else template_codes(codes)
    named = list(dict.fromkeys([*live.templates.codes, *of_plan, *more]))
    if contacts is None:
        contacts = any((change.noun or noun) == "contact" for change in plan.changes)
    records = live._seed_records(named, contacts=contacts)
    # The copy takes calls as fast as they come: how long a live account takes is reckoned.
    records["profile"] = live.profile.model_copy(update={"rate_limit": None})
    with ExitStack() as stack:
        sandbox, copy = open_copy(records)
        stack.enter_context(sandbox)
        stack.enter_context(copy)
        stack.callback(copy.templates.ledger.path.unlink, missing_ok=True)
        before = read_account(copy, named, contacts=contacts)
        tried = plan_of_copy(plan, source_of(copy, noun))
        try:
            result = tried.apply(
                concurrency=concurrency, many=True, irreversible=True, settle=0.0,
                watch=lambda done, total: None,
            )  # fmt: skip
        finally:
            for file in journal_folder(True).glob(f"{tried.id}.db*"):
                file.unlink(missing_ok=True)
        after = read_account(copy, named, contacts=contacts)
    found = Rehearsal(
        plan,
        result,
        Comparison(replace(before, origin="before"), replace(after, origin="after")),
        account=account_words(transport.connection.account, transport.connection.name),
        seconds=plan.seconds(concurrency, rate or live.profile.rate_limit),
        concurrency=concurrency,
    )
    if found.ok:
        note_rehearsal(plan)
    return found


@dataclass(frozen=True, repr=False, eq=False)
class Rehearsal(Report):
    """What came of a plan in a copy of its account.

    Attributes:
        plan: The plan; it is not applied.
        result: A row for each of its rows, as `plan.apply()` would have returned it.
        differences: What differs between the copy before and after.
        account: The account that was copied, for people.
        seconds: How long the plan takes at the pace of the account, about.
        concurrency: How many calls at once that is for.
    """

    plan: Plan
    result: pd.DataFrame
    differences: Comparison
    account: str
    seconds: float
    concurrency: int

    @property
    def hash(self) -> str:
        """The hash of the plan: what `plan.apply(rehearsed=True)` goes by."""
        return self.plan.hash

    @property
    def ok(self) -> bool:
        """Whether all rows went as planned."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """Why the plan cannot be applied with `rehearsed=True`; empty when it can."""
        rows = self.result[~self.result["state"].isin(_WENT_WELL)]
        return [
            f"{label}: {state}{f', {reason}' if reason else ''}"
            for label, state, reason in zip(
                rows["label"], rows["state"], rows["reason"], strict=True
            )
        ]

    @property
    def warnings(self) -> list[str]:
        """What else to look at before the plan is applied."""
        return list(self.plan.objections())

    def frame(self) -> pd.DataFrame:
        """Return what came of each row of the plan in the copy, with the index of the plan."""
        return self.result

    def _heading(self) -> str:
        rows, wrong = len(self.result), len(self.problems)
        went = f"{rows - wrong:,} went as planned" if wrong else "all went as planned"
        return f"Rehearsal of {many(rows, 'change')} on a copy of {self.account}: {went}."

    def _next(self) -> str:
        goes = "goes now" if self.ok else "is blocked"
        return (
            f"At the pace of the account it takes {duration(self.seconds)}: "
            f"{many(self.plan.calls(), 'call')}, {self.concurrency} at once. "
            f"plan.apply(rehearsed=True) {goes}."
        )

    def _lists(self) -> list[tuple[str, list[str]]]:
        """Return what did not go well, and what is to be looked at, a few lines of each."""
        found: list[tuple[str, list[str]]] = []
        for title, lines in (
            ("Did not go as planned", self.problems),
            ("To look at", self.warnings),
        ):
            more = [f"… and {len(lines) - FEW:,} more"] if lines[FEW:] else []
            if lines:
                found.append((f"{title}:", [visible(line) for line in [*lines[:FEW], *more]]))
        return found

    def _text(self) -> list[list[str]]:
        blocks = [wrapped("", self._heading()), *self.differences._text()[:-1]]
        for title, lines in self._lists():
            blocks.append([title, *(part for line in lines for part in wrapped("  ", line))])
        return [*blocks, wrapped("", self._next())]

    def _html(self) -> list[str]:
        lists = [html_list("objections", title, lines) for title, lines in self._lists()]
        parts = [html_heading(self._heading()), *self.differences._html()[:-1], *lists]
        return [*parts, f"<p>{marked(self._next())}</p>"]
