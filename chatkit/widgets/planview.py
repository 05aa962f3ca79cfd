"""View of a plan: read, apply, watch, stop and undo it without code."""

from __future__ import annotations

import contextvars
import json
import logging
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_origin

from chatkit.account.fleet_plan import (
    FleetPlan,
    describe_fleet_plan,
    undo_fleet_plan,
)
from chatkit.account.reading import DECLARED
from chatkit.api.connection import describe_account, is_live
from chatkit.bulk import rendering
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.changes import Change
from chatkit.bulk.outcomes import read_rows
from chatkit.bulk.plan import (
    MAX_DELETES,
    get_journal_location,
    get_refused_cells,
    get_setting,
    get_target,
    read_journal,
    set_journal_location,
)
from chatkit.bulk.stores import list_runs
from chatkit.bulk.undo import find_undone_rows, make_undo_plan
from chatkit.errors import ChatkitError, InputError, JournalError, PlanRefused, safe_repr
from chatkit.report import (
    FEW,
    format_row_label,
    html_list,
    html_value,
    marked,
)
from chatkit.util.display import LONG, escaped, many, visible
from chatkit.widgets.controls import Exported
from chatkit.widgets.fields import FormButton, FormGroup, FormModel, Html, PanelPage, Text
from chatkit.widgets.table import (
    Item,
    PagedRows,
    draw_changed_words,
    draw_finding_list,
    draw_row_button,
    draw_saved_rows,
    draw_saved_view,
    draw_text,
    fold_lines,
)

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.changes import RefusedCell
    from chatkit.bulk.journal import At, KeptRun
    from chatkit.bulk.plan import Plan


_OUTDATED = "Out of date: something was edited since this review."
#: What the button says while it runs: before it was asked, after that, and when asked twice.
_STOP = ("Stop", "Do not wait for answers either", "Stopping …")
_REDRAW_SECONDS = 0.25  #: seconds between two pictures of the progress


class PlanView(Exported, FormModel):
    """A plan to be read, applied, watched, stopped and taken back.

    Where the plan is blocked for being large or final, applying asks for a few words to be
    typed. It is applied in a thread of its own, so that the Stop button is heard. Each row keeps
    its name and both sides of its change, with its state and the reason beside them; what failed
    comes first at the end, and each row can be taken back alone.

    In a program: `apply()` does what the button does, waits, and raises what goes wrong.

    A plan for several accounts is reviewed account by account: what each would do stands above
    the rows, which are shown of one or of all.

    Args:
        plan: What `client.contacts.plan(frame)`, `fleet.contacts.plan(frame)` or
            `chatkit.undo(result)` made.
        applied: Called with the view when it was applied or stopped, and with the view of the
            plan that takes it back when that was.
        lock: Called with True when it begins to be applied, and with False when that has ended.
        result: Its result so far, where another kernel has applied it.
        live: The name of the live account that it writes to; else that of the plan.

    >>> plan = client.contacts.plan([{"id": 50001, "name": "Ana Cruz"}])
    >>> chatkit.widgets.PlanView(plan)
    <plan view: Plan for 250 contacts: 1 update.>
    """

    def __init__(
        self,
        plan: Plan | FleetPlan,
        applied: Callable[[PlanView], object] | None = None,
        *,
        lock: Callable[[bool], object] = bool,
        result: pd.DataFrame | None = None,
        live: str = "",
    ) -> None:
        if not hasattr(plan, "objections"):
            raise InputError(
                "PlanView takes a plan, like client.contacts.plan(frame), not "
                f"{type(plan).__name__}."
            )
        self.plan = plan
        self._parts = list_plans(plan)
        self.result = result  #: what truly happened, once it was applied
        self.back: PlanView | None = None  #: the plan that takes it back, once asked for
        self._applied, self._lock = applied, lock
        self._is_current: Callable[[], bool] = lambda: True
        self._review: Callable[[], object] = self.recheck
        self._outdated = False  #: as it is shown
        self._live = live or ("" if result is not None else _name_live_accounts(plan))
        self._summary = ""  #: what was said of its end
        self._undone_rows: set[int] = set()  #: the numbers of the rows that were taken back
        self._interrupt = Interrupt()
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None
        self._starting, self._painting = threading.Lock(), threading.RLock()
        self.running = False  #: whether it is being applied now
        self._drawn = self._began = 0.0
        self._allowed = _find_required_overrides(plan)
        self._allowed_here = False  #: whether somebody has typed here what allows it
        self._rows = PagedRows(*make_plan_items(plan), act=self._handle_action)
        self._heading, self._notes, self._meter = Html(), Html(), Html()
        self._confirm = Text(f"Type {self.phrase} to allow it")
        self._confirm.css, self._confirm.entered = "chatkit-confirm", self._update_controls
        self._apply = FormButton("", lambda: self.attempt(self.start, self._confirm.value))
        self._again = FormButton("Review again", lambda: self.attempt(self._review), "primary")
        self._stop = FormButton("Stop", self.stop)
        self._undo = FormButton("Take it back …", lambda: self.attempt(self.undo))
        # Where Apply stood is no button then: a double click does not stop what it began.
        controls = [self._confirm, self._apply, self._again, self._meter, self._stop, self._undo]
        actions = FormGroup(controls, css="chatkit-bar chatkit-sticky", row=True)
        self._below = FormGroup()
        parts = [self._heading, self.status, actions, self._notes, self._rows]
        super().__init__(FormGroup([*parts, self._below]))
        self._head = format_heading(plan, run=result is not None)
        if result is None:
            warned = [f"It writes to {self._live}: live data."] if self._live else []
            self._notes.value = _draw_notes(plan, *warned) + html_list(
                "objections", "Blocked:", [_without_override(one) for one in plan.objections()]
            )
        else:
            self._show_result()
        self._update_controls()

    @safe_repr
    def __repr__(self) -> str:
        if self.result is None:
            return f"<plan view: {format_heading(self.plan)}>"
        return f"<plan view: {self.result.chatkit.summary()}>"

    def _make_saved_page(self) -> str:
        if self.result is None:
            outdated = f"<p><strong>{_OUTDATED}</strong></p>" if self.outdated else ""
            rows = draw_saved_rows(*make_plan_items(self.plan), "plan.frame()")
            return draw_saved_view(self._head, outdated, self._notes.value, rows)
        columns, items = make_result_items(self.plan, self.result, self._undone_rows, acts=False)
        return draw_saved_view(
            format_heading(self.plan, run=True),
            f"<p>{escaped(self.result.chatkit.summary())}</p>",
            draw_saved_rows(columns, items, "view.result"),
            "" if self.back is None else self.back._make_saved_page(),
        )

    # --- what it was made of --------------------------------------------------------

    def bind(self, is_current: Callable[[], bool], review: Callable[[], object]) -> None:
        """Bind the review to its source: once that is edited, it is out of date.

        Args:
            is_current: Returns whether the source is unchanged.
            review: Makes another review in place of this one.
        """
        self._is_current, self._review = is_current, review
        self.recheck()

    def recheck(self) -> None:
        """Show whether its source was edited since."""
        if self.outdated != self._outdated:
            if self.result is None:
                self.status.write("")
            self._update_controls()

    @property
    def outdated(self) -> bool:
        """True if its source was edited since: then it is not applied any more.

        A run with rows of unknown outcome can still be gone on with, which looks what landed.
        """
        states = self.states
        open_still = self.result is None or ("not sent" in states and "unknown" not in states)
        return open_still and not self.running and not self._is_current()

    @property
    def states(self) -> set[str]:
        """The states of the rows of the result; empty while it has not been applied."""
        return set() if self.result is None else set(self.result["state"])

    # --- what it does ---------------------------------------------------------------

    @property
    def phrase(self) -> str:
        """The words that must be typed before it is applied; empty if none must."""
        if not self._allowed:
            return ""
        deletes, changes = self.plan.counts["delete"], sum(self.plan.counts.values())
        final = deletes and (deletes == changes or deletes > MAX_DELETES)
        return f"DELETE {deletes}" if final else f"CHANGE {changes}"

    def apply(
        self, confirm: str = "", *, many: bool = False, irreversible: bool = False
    ) -> pd.DataFrame:
        """Apply the plan, wait until it is done or stopped, and return what truly happened.

        Args:
            confirm: What the plan asks to be typed, see `phrase`.
            many: As for `plan.apply`, like `irreversible`: allows the same in place of `confirm`.
            irreversible: Allow what can never be undone.

        Raises:
            PlanRefused: It is not what the plan asks for, the plan cannot be applied, or what it
                was made of was edited since.
            AccountBusy: Another kernel is changing this account.
            JournalError: The journal cannot be kept, so nothing is sent.
        """
        allowed = {"many": many, "irreversible": irreversible}
        if self._allowed and all(allowed[name] for name in self._allowed):
            confirm = self.phrase
        self.start(confirm)
        return self.wait()

    def start(self, confirm: str = "") -> None:
        """Begin to apply the plan, and return at once."""
        with self._starting:
            if self.running:
                raise PlanRefused("It is being applied already.")
            if self.outdated:
                raise PlanRefused(f"{_OUTDATED} Review it again.")
            if self.phrase and confirm.strip() != self.phrase:
                raise PlanRefused(f"To allow it, confirm with {self.phrase!r}.")
            if self._find_block_reasons():
                raise PlanRefused(
                    "\n- ".join(["It cannot be applied:", *self._find_block_reasons()])
                )
            self._interrupt, self._error = Interrupt(), None
            self._allowed_here = True
            context = contextvars.copy_context()  # what it draws belongs to the same cell
            self._thread = threading.Thread(
                target=context.run, args=(self._apply_in_thread,), name="chatkit apply", daemon=True
            )
            self._began = time.monotonic()
            self._draw_meter(0, len(self.plan))
            self.status.write("")
            self.running = True
            self._lock(True)
            self._update_controls()
            self._thread.start()

    def wait(self) -> pd.DataFrame:
        """Wait until it is done or stopped, and return what truly happened."""
        while self._thread is not None and self._thread.is_alive():
            try:
                self._thread.join()
            except KeyboardInterrupt:
                self.stop()
        if self._error is not None:
            raise self._error
        if self.result is None:
            raise PlanRefused("It has not been applied.")
        return self.result

    def stop(self) -> None:
        """Stop the run: first it waits for calls in progress, a second time it does not."""
        if self.running:
            self._interrupt.ask()
            self._update_controls()

    def undo(self, rows: Collection[int] | None = None) -> PlanView:
        """Show the plan that takes it back, below. Nothing happens until that is applied.

        Args:
            rows: The places of the rows in the result, the first is 0; without them all that
                were not taken back before.

        Raises:
            PlanRefused: It has not been applied, or is being taken back.
        """
        self.wait()
        if self.back is not None and self.back.at_work:
            raise PlanRefused("It is being taken back already: wait until that is done.")
        only = rows if rows is not None or not self._undone_rows else self._find_undoable_rows()
        result = self.result
        self.back = PlanView(self._make_undo_plan(only), self._on_undo_applied)
        self.back.bind(lambda: self.result is result, lambda: self.undo(rows))
        self.show_in(self._below, self.back)
        where = "The plan that takes it back is below. Nothing is sent before you click there."
        self.status.write(f"{self._summary} {where}")
        self._update_controls()
        self.back.reveal()
        return self.back

    def _make_undo_plan(self, only: Collection[int] | None) -> Plan | FleetPlan:
        """Make the plan that takes back some rows, or all."""
        rows_by_account: dict[str, Collection[int] | None] = {}
        for label, _, places in list_row_ranges(self._parts):
            if places and only is None:
                rows_by_account[label] = None
            elif own := {n - places.start for n in only or () if n in places}:
                rows_by_account[label] = own
        if isinstance(self.plan, FleetPlan):
            return undo_fleet_plan(self.plan, rows_by_account)
        with read_journal(self.plan) as kept:
            plan = make_undo_plan(kept, get_target(self.plan), include_adopted=False, only=only)
        return set_journal_location(plan, get_journal_location(self.plan))

    @property
    def at_work(self) -> bool:
        """True while it, or a plan below it that takes it back, is being applied."""
        return self.running or (self.back is not None and self.back.at_work)

    def reveal(self) -> None:
        """Bring it into view once it is drawn, and the focus to its heading."""
        self.focus_on(self._heading)

    def show(self, kind: str) -> None:
        """Show the rows of one kind, if there are any.

        Args:
            kind: A state, or "not applied".
        """
        self._rows.choose(kind)
        self.draw()

    def _find_undoable_rows(self) -> set[int]:
        """Return the rows that took effect, can be taken back, and were not."""
        if self.result is None:
            return set()
        states = list(self.result["state"])
        return {
            n
            for _, part, places in list_row_ranges(self._parts)
            for n, change in zip(places, part.changes, strict=True)
            if _can_take_back(change, states[n])
        } - self._undone_rows

    def _on_undo_applied(self, back: PlanView) -> None:
        """Show which rows are taken back, as the journals have it."""
        self._show_result(stay=True)
        self._update_controls()
        if self._applied is not None:
            self._applied(back)

    def _handle_action(self, act: str, row: str) -> None:
        """Do the action of the button of a row."""
        if act == "back" and row.isdecimal() and int(row) in self._find_undoable_rows():
            self.attempt(self.undo, {int(row)})

    def _find_block_reasons(self) -> list[str]:
        """Return the reasons why it cannot be applied, whatever is typed."""
        blocked = self.plan.objections(**dict.fromkeys(self._allowed, True))
        return blocked or ([] if any(self.plan.counts.values()) else ["there is nothing to do"])

    # --- at work --------------------------------------------------------------------

    def _apply_in_thread(self) -> None:
        """Apply the plan, as the target of its thread, and show the result."""
        try:
            allowed: dict[str, Any] = dict.fromkeys(self._allowed, True)
            self.plan._stop_by = self._interrupt
            self.result = self.plan.apply(watch=self._show_progress, **allowed)
        except Exception as error:
            if not isinstance(error, ChatkitError):
                logging.getLogger(__name__).exception("a plan was not applied")
            self._error = error
        self.running = False
        self._on_finished()

    def _on_finished(self) -> None:
        """Show the result or the error, and call `applied`."""
        if self.result is not None:
            self._show_result()
        if self._error is not None:
            self.status.write(f"{type(self._error).__name__}: {self._error}", wrong=True)
        self._update_controls()
        self._lock(False)
        if self._applied is not None and self.result is not None:
            self._applied(self)

    def _show_result(self, *, stay: bool = False) -> None:
        """Show the result, failed rows first."""
        assert self.result is not None  # noqa: S101  # whoever calls it has looked
        runs: dict[At | None, list[KeptRun]] = {}
        for _, part, places in list_row_ranges(self._parts):
            if not places:
                continue
            # Where the journal was pruned meanwhile, what was taken back stays as it is known.
            at = get_journal_location(part)
            with suppress(JournalError), read_journal(part) as kept:
                if at not in runs:
                    runs[at] = list(list_runs(at))
                back = find_undone_rows(part.id, read_rows(kept), runs[at])
                self._undone_rows = self._undone_rows.difference(places) | {places[n] for n in back}
        self._rows.fill(*make_result_items(self.plan, self.result, self._undone_rows), stay=stay)
        summary = self.result.chatkit.summary()
        if self._undone_rows:
            summary += f" Taken back since: {many(len(self._undone_rows), 'row')}."
        if self.plan.secrets:
            summary += " Keep the signing secrets now: plan.secrets alone holds them."
        not_applied = self.states.difference(TOOK_EFFECT, ["skipped"])
        self._summary = summary
        self.status.write(summary, wrong=bool(not_applied))

    def _show_progress(self, done: int, total: int | None) -> None:
        """Show the progress, not more often than a person can see."""
        if time.monotonic() - self._drawn >= _REDRAW_SECONDS or done == total:
            self._draw_meter(done, total or len(self.plan))
            self.draw()

    def _draw_meter(self, done: int, total: int) -> None:
        self._drawn = time.monotonic()
        passed = self._drawn - self._began
        seconds_left = passed / done * (total - done) if done else 0.0
        estimate = (
            f", about {many(round(seconds_left), 'second')} left" if seconds_left >= 2 else ""
        )
        share = 100 * done / max(total, 1)
        self._meter.value = (
            f'<div class="meter" role="progressbar" aria-label="Rows done" aria-valuemin="0"'
            f' aria-valuemax="{total}" aria-valuenow="{done}"><i style="width: {share:.1f}%"></i>'
            f"</div><span>{done:,} of {total:,}{estimate}</span>"
        )

    # --- what is shown --------------------------------------------------------------

    def _update_controls(self) -> None:
        """Show and enable the controls that can be used now."""
        with self._painting:
            plan, result, idle = self.plan, self.result, not self.running
            fresh = result is None
            states = [] if result is None else list(result["state"])
            remaining = sum(state in OPEN for state in states)  # the run can go on with these
            outdated = self._outdated = self.outdated
            can_apply = (
                idle
                and not outdated
                and not self._find_block_reasons()
                and (fresh or remaining > 0)
            )
            below = self.back is not None and (self.back.at_work or self.back.result is None)
            undoes = any(get_setting(part).undoes for part in self._parts.values())
            changes = many(sum(plan.counts.values()), "change")
            label = f"{'Take back' if undoes else 'Apply'} {changes}" if fresh else ""
            self._apply.label = label or f"Resume {remaining:,}"
            self._apply.label += f" in {self._live}" if self._live else ""
            self._apply.css = "danger" if fresh and self._allowed else "primary"
            self._apply.disabled = bool(self.phrase) and self._confirm.value.strip() != self.phrase
            stops = self._interrupt.asked
            self._stop.label = _STOP[min(stops, 2)]
            self._stop.disabled = stops > 1
            if self.running and stops:
                self.status.write("Stopping: waiting for the calls in progress.")
            asks = bool(self.phrase) and (fresh or not self._allowed_here)
            mark = f'<span class="chatkit-badge">{_OUTDATED}</span> ' if outdated else ""
            heading = f"{mark}<strong>{escaped(self._head)}</strong>"
            self._heading.value = f'<p tabindex="-1">{heading}</p>'
            self.root.css = f"chatkit-planview{' chatkit-outdated' if outdated else ''}"
            if self.back is not None:
                self.back.recheck()
            # what came of it is the headline then
            self._heading.hidden = not (fresh or outdated or self.running or self._thread is None)
            self._notes.hidden = not (fresh and idle)
            self._confirm.hidden = not (asks and can_apply)
            self._apply.hidden, self._again.hidden = not can_apply, not outdated
            self._stop.hidden = self._meter.hidden = idle
            self._undo.hidden = not idle or below or not self._find_undoable_rows()
            self.draw()


class ReviewedEdits(ABC):
    """A widget whose edits become a plan, which is reviewed and applied below it."""

    _page: PanelPage  #: where the plan is shown
    plan_view: PlanView | None = None  #: the plan that was shown last
    _planned: object = None  #: the edits that it was made of

    @abstractmethod
    def _edits(self) -> object:
        """Return a copy of all edits: a review of others is out of date."""

    def _check_idle(self) -> None:
        """Check that no plan is being applied. Raises `PlanRefused` otherwise."""
        if self.plan_view is not None and self.plan_view.running:
            raise PlanRefused("The changes below are being applied: wait, or stop them there.")

    def _show_plan(
        self,
        plan: Plan,
        again: Callable[[], object],
        applied: Callable[[PlanView], object] | None = None,
        lock: Callable[[bool], object] = bool,
    ) -> PlanView:
        """Show a plan of the edits; `again` makes another one, the rest is that of `PlanView`."""
        view = self.plan_view = PlanView(plan, applied, lock=lock)
        self._planned = self._edits()
        view.bind(self._is_planned, again)
        self._page.show_in(self._page.below, view)
        view.reveal()
        return view

    def _is_planned(self) -> bool:
        return self._planned == self._edits()

    def _recheck_plan(self) -> None:
        if self.plan_view is not None:
            self.plan_view.recheck()


def _find_required_overrides(plan: Plan | FleetPlan) -> list[str]:
    """Return the arguments of `apply` without which the plan is blocked."""
    before = len(plan.objections())
    names = ("many", "irreversible")
    return [name for name in names if len(plan.objections(**{name: True})) < before]


def _name_live_accounts(plan: Plan | FleetPlan) -> str:
    """Return the names of the live accounts that a plan writes to; empty if there are none."""
    named = []
    for label, part in list_plans(plan).items():
        connection = get_target(part).transport.connection
        if len(part) and is_live(connection.account):
            named.append(label or describe_account(connection.account, connection.name))
    return many(len(named), "account") if len(named) > FEW else ", ".join(named)


def _without_override(objection: str) -> str:
    """Remove the `apply` argument from an objection, as the widget asks for a phrase instead."""
    return re.sub(r"^((?:(?!needs ).)*: )?needs apply\([a-z]+=True\): ", r"\1", objection)


# --- the plans of several accounts ---------------------------------------------------------


def list_plans(plan: Plan | FleetPlan) -> Mapping[str, Plan]:
    """Return the plans by account; the plan of a single account is under ""."""
    return plan.plans if isinstance(plan, FleetPlan) else {"": plan}


def list_row_ranges(parts: Mapping[str, Plan]) -> Iterator[tuple[str, Plan, range]]:
    """Yield each account with its plan and the range of its rows in the result."""
    first = 0
    for label, part in parts.items():
        yield label, part, range(first, first + len(part))
        first += len(part)


def format_heading(plan: Plan | FleetPlan, *, run: bool = False) -> str:
    """Return the headline of a plan, or of its run."""
    if isinstance(plan, FleetPlan):
        return describe_fleet_plan(plan, run=run)
    return rendering.make_run_heading(plan) if run else rendering.make_plan_heading(plan)


def _draw_notes(plan: Plan | FleetPlan, *more: str) -> str:
    """Make the list of the notes of a plan, each once for all accounts that have it."""
    if not isinstance(plan, FleetPlan):
        return rendering.make_notes_html(plan, *more, rows=False)
    accounts_by_note: dict[str, list[str]] = {}
    for label, part in plan.plans.items():
        of_rows = rendering.list_row_notes(part)
        for note in (one for one in rendering.list_plan_notes(part) if one not in of_rows):
            accounts_by_note.setdefault(note, []).append(visible(label))
    named = [
        f"{', '.join(of) if len(of) <= FEW else many(len(of), 'account')}: {note}"
        for note, of in accounts_by_note.items()
    ]
    plans = [
        *(f"{label}: {rendering.make_plan_heading(part)}" for label, part in plan.plans.items()),
        *(f"{label}: could not be planned: {why}" for label, why in plan.failed.items()),
    ]
    return html_list("notes", "", [*map(visible, plans), *named, *more])


# --- the rows of a plan, and of its result -------------------------------------------------

TOOK_EFFECT = ("applied", "differs", "unchanged")  #: states of rows with which nothing is wrong
OPEN = ("not sent", "unknown")  #: states of rows with which a run can go on
_STATE_ORDER = {
    kind: n for n, kind in enumerate(("failed", "conflict", *OPEN, "refused", "differs"))
}
_LOOKS = {
    **dict.fromkeys((*TOOK_EFFECT, "skipped"), "fine"),
    **dict.fromkeys(OPEN, "open"),
    "taken back": "back",
}

#: What a person looks for among the changes that cannot be undone exactly.
_UNDO = {"exactly": (), "never": ("never undone",)}
_NOT_EXACTLY = ("not restored exactly",)


class Outcome(NamedTuple):
    """The outcome of a row of a plan."""

    state: str
    reason: str = ""
    number: str = ""  #: its place in the result, where it can be taken back

    @property
    def looks(self) -> str:
        """The class of its look."""
        return _LOOKS.get(self.state, "bad")


Rows: TypeAlias = tuple[Mapping[str, int], Sequence[Item]]


def make_plan_items(plan: Plan | FleetPlan) -> Rows:
    """Make the columns and the rows of a plan, and of what it refuses."""
    items: list[Item] = []
    for label, part in list_plans(plan).items():
        losses = rendering.number_undo_losses(part)
        for n in rendering.order_by_kind(part):
            change = part.changes[n]
            kinds = (
                change.kind,
                *_UNDO.get(change.undo, _NOT_EXACTLY),
                *_name_resource_filter(change),
            )
            drawn = partial(_draw_change_row, part, change, losses, None)
            items.append(Item(kinds, _make_search_text(part, change), drawn, label))
        items += _make_refused_items(part, label, outcome=False)
    return _choose_columns(plan, outcome=False), items


def make_result_items(
    plan: Plan | FleetPlan, result: pd.DataFrame, taken: Collection[int] = (), *, acts: bool = True
) -> Rows:
    """Make the columns and the rows of a result, those not applied first.

    Args:
        plan: The plan.
        result: Its result.
        taken: The numbers of the rows that were taken back since.
        acts: Whether a row has a button that takes it back.
    """
    items: list[Item] = []
    states = list(zip(map(str, result["state"]), map(str, result["reason"]), strict=True))
    for label, part, places in list_row_ranges(list_plans(plan)):
        for n, change in zip(places, part.changes, strict=True):
            state, reason = ("taken back", states[n][1]) if n in taken else states[n]
            number = str(n) if acts and _can_take_back(change, state) else ""
            outcome = Outcome(state, reason, number)
            first = ("not applied",) if outcome.looks in ("open", "bad") else ()
            drawn = partial(_draw_change_row, part, change, {}, outcome)
            text = f"{state} {reason} {_make_search_text(part, change)}"
            items.append(Item((*first, state, *_name_resource_filter(change)), text, drawn, label))
        items += _make_refused_items(part, label, outcome=True)
    last = len(_STATE_ORDER)
    items.sort(key=lambda item: min(_STATE_ORDER.get(kind, last) for kind in item.kinds))
    return _choose_columns(plan, outcome=True), items


def _choose_columns(plan: Plan | FleetPlan, *, outcome: bool) -> Mapping[str, int]:
    """Return the columns of the rows, with their widths; with outcomes there are more."""
    noun = next((rendering.get_record_noun(part) for part in list_plans(plan).values()), "record")
    if not outcome:
        return {"change": 9, noun: 19, "field": 12, "before": 30, "after": 30}
    columns = {"state": 10, "change": 9, noun: 17, "field": 12, "before": 21, "after": 21}
    return columns | {"action": 10}


def _name_resource_filter(change: Change) -> tuple[str, ...]:
    """Return the filter of a change by its resource, in a plan for the account."""
    return (f"{change.noun}s",) if change.noun else ()


def _can_take_back(change: Change, state: str) -> bool:
    return state in ("applied", "differs") and change.undo != "never"


def _make_search_text(plan: Plan, change: Change) -> str:
    declared = DECLARED[change.noun or get_setting(plan).noun]
    labels = " ".join(map(declared.format_label, {**change.before, **change.after}))
    values = json.dumps([dict(change.before), dict(change.after)], ensure_ascii=False, default=str)
    return f"{change.row} {change.key} {change.code or ''} {change.label} {labels} {values}"


def _draw_change_row(
    plan: Plan, change: Change, losses: rendering.UndoLosses, outcome: Outcome | None
) -> tuple[str, list[str]]:
    """Draw a row of a plan or of its result: each field in full, with the findings below.

    Args:
        plan: The plan.
        change: The change.
        losses: Why changes cannot be undone exactly.
        outcome: Its outcome, if its plan was applied.
    """
    declared = DECLARED[change.noun or get_setting(plan).noun]
    lines = [
        _draw_field_cells(change, line, declared.format_label(line.field))
        for line in rendering.make_change_lines(change, whole=True)
    ]
    label, note = rendering.make_change_label(change), rendering.make_footnote(change, losses)
    lines, button = fold_lines(lines or ["<td></td>" * 3], label)
    name = (f"{marked(label)}<sup>{note}</sup>" if note else marked(label)) + button
    kind = f'<td class="short">{rendering.make_kind_html(change)}</td>'
    findings = draw_finding_list(change.findings)
    return _draw_row(kind, name, lines, findings, outcome, f"Take back {label}")


def _draw_row(
    kind: str,
    name: str,
    lines: Sequence[str],
    details: str,
    outcome: Outcome | None,
    button_name: str = "",
) -> tuple[str, list[str]]:
    """Draw a row in the columns of a plan, or with an outcome in those of a result."""
    head, looks, before, after = f'{kind}<th scope="rowgroup" dir="auto">{name}</th>', "", 2, 0
    end = ""
    if outcome is not None:
        head = f'<td class="dot short">{escaped(outcome.state)}</td>{head}'
        number = outcome.number
        button = draw_row_button("back", number, "Take back", button_name) if number else ""
        looks, before, after, end = outcome.looks, 3, 1, f"<td>{button}</td>"
        details = (
            f'<p dir="auto">{escaped(outcome.reason)}</p>{details}' if outcome.reason else details
        )
    rows = [f"{head}{lines[0]}{end}"]
    rows += ["<td></td>" * before + line + "<td></td>" * after for line in lines[1:]]
    if details:
        span = before + 2 + after
        rows.append(f'<td></td><td class="below" colspan="{span}">{details}</td>')
    return looks, rows


def _draw_field_cells(change: Change, line: rendering.Line, label: str) -> str:
    """Draw the cells of a field: its label and both values, long texts in full."""
    title = escape(visible(line.field))
    name = f'<td dir="auto" title="{title}">{marked(visible(label))}</td>'
    old, new = ("span", "span") if change.kind == "skip" else ("del", "ins")
    texts = [one.whole if one else "" for one in (line.before, line.after)]
    if max(map(len, texts)) <= LONG:
        return f"{name}{html_value(line.before, old)}{html_value(line.after, new)}"
    both = all(texts) and change.kind != "skip"
    cells = draw_changed_words(*texts) if both else map(draw_text, texts)
    return name + "".join(f'<td dir="auto">{cell}</td>' for cell in cells)


def _make_refused_items(plan: Plan, label: str, *, outcome: bool) -> list[Item]:
    """Make the rows of refused cells, in the columns of a plan or of a result."""
    items = []
    for cell in get_refused_cells(plan):
        name = _label_refused_cell(plan, cell)
        drawn = partial(_draw_refused_row, cell, name, outcome=outcome)
        items.append(Item(("refused",), f"{name} {' '.join(map(str, cell))}", drawn, label))
    return items


def _label_refused_cell(plan: Plan, cell: RefusedCell) -> str:
    """Return what people call the column of a refused cell; its own name if it is no field."""
    setting, (field, *steps) = get_setting(plan), re.split("[./]", cell.column)
    in_account = setting.several and isinstance(cell.row, tuple)
    if (declared := DECLARED.get(cell.row[0] if in_account else setting.noun)) is None:
        return cell.column
    body, record = declared.body.model_fields, declared.record.model_fields
    if steps:  # a place in a field, unless the column of a frame is called so
        known = field in body and get_origin(body[field].annotation) in (list, dict)
    else:
        known = field in body or field in record
    return declared.format_label(cell.column) if known else cell.column


def _draw_refused_row(cell: RefusedCell, label: str, *, outcome: bool) -> tuple[str, list[str]]:
    row, name, column, value = map(
        escaped, [format_row_label(cell.row), label, cell.column, cell.value]
    )
    lines = [f'<td dir="auto" title="{column}">{name}</td><td></td><td dir="auto">{value}</td>']
    why = draw_finding_list([("error", f"{cell.reason}: {cell.next_step}")])
    kind, refused = '<td class="dot short">refused</td>', None
    if outcome:
        kind, refused = "<td></td>", Outcome("refused")
    return "bad", _draw_row(kind, f"row {row}", lines, why, refused)[1]
