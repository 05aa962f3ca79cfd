"""View of a plan: read, apply, watch, stop and undo it without code."""

from __future__ import annotations

import contextvars
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from chatkit.account.fleet_plan import FleetPlan, fleet_heading, progress_of, undo_fleet_plan
from chatkit.api.connection import account_words, is_live
from chatkit.bulk import rendering
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.changes import Change
from chatkit.bulk.outcomes import Row, rows_of_journal
from chatkit.bulk.plan import (
    home_of,
    keep_at,
    refused_cells,
    rows_at_work,
    setting_of,
    target_of,
)
from chatkit.bulk.safety import MAX_DELETES
from chatkit.bulk.stores import kept_runs, read_run
from chatkit.bulk.undo import taken_back, undo_plan
from chatkit.errors import (
    ChatkitError,
    InputError,
    JournalError,
    PlanRefused,
    first_line,
    needed_by,
    steady,
)
from chatkit.frames.snapshot import remember_parts
from chatkit.report import (
    FEW,
    MANY,
    STYLE,
    html_heading,
    html_list,
    html_tables,
    html_value,
    marked,
    row_label,
)
from chatkit.util.display import LONG, escaped, many, visible
from chatkit.widgets.controls import ActionButton, Code, Panel, boxed, call_code, style_sheet
from chatkit.widgets.table import (
    PAGE,
    Item,
    PagedRows,
    finding_list,
    marked_words,
    text_html,
)

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.journal import At, KeptRun
    from chatkit.bulk.plan import Plan, RefusedCell


_OUTDATED = "Out of date: something was edited since this review."
#: What the button says while it runs: before it was asked, after that, and when asked twice.
_STOP = ("Stop", "Do not wait for answers either", "Stopping …")
_OFTEN = 0.1  #: seconds between two pictures of the progress
_ROWS_OFTEN = 0.4  #: seconds between two pictures of the rows


class PlanView(Panel):
    """A plan to be read, applied, watched, stopped and taken back.

    Where the plan is blocked for being large or final, applying asks for a few words to be
    typed. It is applied in a thread of its own, so that the Stop button is heard. Each row keeps
    its name and both sides of its change, with its state and the reason beside them; what failed
    comes first at the end, can be downloaded as XLSX, and each row can be taken back alone.

    In a program: `apply()` does what the button does, waits, and raises what goes wrong.

    A plan for several accounts is reviewed account by account: a table of them says what each
    would do, how far it is and why it stopped, and shows the rows of one or of all.

    Args:
        plan: What `client.contacts.plan(frame)`, `fleet.contacts.plan(frame)` or
            `chatkit.undo(result)` made.
        applied: What is called with the view when it was applied or stopped, and with the view
            of the plan that takes it back when that was.
        result: What came of it so far, where another kernel has applied it.
        live: The live account that it writes to; without it the account of the plan says so.

    >>> plan = client.contacts.plan([{"id": 50001, "name": "Ana Cruz"}])
    >>> chatkit.widgets.PlanView(plan)
    <plan view: Plan for 250 contacts: 1 update.>
    """

    _style = STYLE + style_sheet("planview.css")
    _css_classes = ("chatkit-planview",)

    def __init__(
        self,
        plan: Plan | FleetPlan,
        applied: Callable[[PlanView], object] | None = None,
        *,
        result: pd.DataFrame | None = None,
        live: str = "",
    ) -> None:
        if not hasattr(plan, "objections"):
            raise InputError(
                "PlanView takes a plan, like client.contacts.plan(frame), not "
                f"{type(plan).__name__}."
            )
        self.plan = plan
        self._parts = parts_of(plan)
        self.result = result  #: what truly happened, once it was applied
        self.back: PlanView | None = None  #: the plan that takes it back, once asked for
        self._applied = applied
        self._is_current: Callable[[], bool] = lambda: True
        self._review: Callable[[], object] = self.recheck
        self._outdated = False  #: as it is shown
        self._live = live or ("" if result is not None else _live(plan))
        self._summary = ""  #: what was said of its end
        self._taken: set[int] = set()  #: the numbers of the rows that were taken back
        self._interrupt = Interrupt()
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None
        self._starting, self._painting = threading.Lock(), threading.RLock()
        self.running = False  #: whether it is being applied now
        self._drawn = self._redrawn = self._began = 0.0
        self._allowed = _overrides(plan)
        self._allowed_here = False  #: whether somebody has typed here what allows it
        self._accounts = PagedRows(
            _ACCOUNTS, [], act=self._act, label="Accounts", filters_from=PAGE + 1
        )
        self._rows = PagedRows(*plan_items(plan), act=self._act)
        self._heading, self._notes = w.HTML(), w.HTML()
        self._meter = w.HTML()
        self._confirm = w.Text(description=f"Type {self.phrase} to allow it")
        self._confirm.add_class("chatkit-confirm")
        self._confirm.observe(lambda _: self._paint(), names="value")
        self._apply = ActionButton(
            "",
            lambda: self._attempt(self.start, self._confirm.value),
            "danger" if self._allowed else "primary",
        )
        self._again = ActionButton(
            "Review again", lambda: self._attempt(lambda: self._review()), "primary"
        )
        self._stop = ActionButton("Stop", self.stop)
        self._undo = ActionButton("Take it back …", lambda: self._attempt(self.undo))
        self._save = ActionButton("Download the rest as XLSX", lambda: self._attempt(self.download))
        self._code = Code(call_code("plan.apply", **dict.fromkeys(self._allowed, True)))
        # Where Apply stood is no button then: a double click does not stop what it began.
        controls = [self._apply, self._again, self._meter, self._stop, self._undo, self._save]
        actions = boxed(w.HBox, "chatkit-bar chatkit-sticky", [self._confirm, *controls])
        self._below = w.VBox()
        self._head = heading_of(plan, run=result is not None)
        heading = rendering.heading if result is None else rendering.run_heading
        self._headings = {label: heading(part) for label, part in self._parts.items()}
        self._lost = "could not be planned" if result is None else "cannot be read"
        self._fill_accounts()
        if result is None:
            warned = [f"It writes to {self._live}: live data."] if self._live else []
            self._notes.value = _notes_html(plan, *warned) + html_list(
                "objections", "Blocked:", [_without_override(one) for one in plan.objections()]
            )
        else:
            self._show_result()
        accounts = [self._accounts] if isinstance(plan, FleetPlan) else []
        parts = [self._heading, self._message, actions, *accounts, self._rows, self._notes]
        super().__init__([*parts, self._code, self._below])
        self._paint()

    @steady
    def __repr__(self) -> str:
        if self.result is None:
            return f"<plan view: {heading_of(self.plan)}>"
        return f"<plan view: {self.result.chatkit.summary()}>"

    def _page(self) -> str:
        if self.result is None:
            outdated = f"<p><strong>{_OUTDATED}</strong></p>" if self.outdated else ""
            return f"{outdated}{self.plan._repr_html_()}"
        columns, items = result_items(self.plan, self.result, self._taken, acts=False)
        rows = [item.html() for item in items[:MANY]]
        parts = [
            html_heading(heading_of(self.plan, run=True)),
            f"<p>{escaped(self.result.chatkit.summary())}</p>",
            html_tables(columns, rows[:PAGE], rows[PAGE:], len(items), "view.result"),
            "" if self.back is None else self.back._page(),
        ]
        look = f"<style>{self._style}</style>"
        return f'{look}<div class="chatkit-plan chatkit-planview">{"".join(parts)}</div>'

    # --- what it was made of --------------------------------------------------------

    def bind(self, is_current: Callable[[], bool], review: Callable[[], object]) -> None:
        """Bind the review to what it was made of: once that is edited, it is out of date.

        The page goes to it, as somebody has asked for it.

        Args:
            is_current: Whether what it was made of is as it was then.
            review: Makes another review, which takes the place of this one.
        """
        self._is_current, self._review = is_current, review
        self._rows.reveal()
        self.recheck()

    def recheck(self) -> None:
        """Show whether what it was made of was edited since."""
        if self.outdated != self._outdated:
            if self.result is None:
                self._message.show("")
            self._paint()

    @property
    def outdated(self) -> bool:
        """True if what it was made of was edited since: then it is not applied any more.

        A run with rows of unknown outcome can still be gone on with, which looks what landed.
        """
        states = set() if self.result is None else set(self.result["state"])
        open_still = self.result is None or ("not sent" in states and "unknown" not in states)
        return open_still and not self.running and not self._is_current()

    # --- what it does ---------------------------------------------------------------

    @property
    def phrase(self) -> str:
        """The words that must be typed before it is applied; empty if none must."""
        if not self._allowed:
            return ""
        deletes, changes = self.plan.counts["delete"], sum(self.plan.counts.values())
        final = deletes and (deletes == changes or deletes > MAX_DELETES)
        return f"DELETE {deletes}" if final else f"CHANGE {changes}"

    def apply(self, confirm: str = "") -> pd.DataFrame:
        """Apply the plan, wait until it is done or stopped, and return what truly happened.

        Args:
            confirm: What the plan asks to be typed, see `phrase`.

        Raises:
            PlanRefused: It is not what the plan asks for, the plan cannot be applied, or what it
                was made of was edited since.
            AccountBusy: Another kernel is changing this account.
            JournalError: The journal cannot be kept, so nothing is sent.
        """
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
            if self._blocked():
                raise PlanRefused("\n- ".join(["It cannot be applied:", *self._blocked()]))
            self._interrupt, self._error = Interrupt(), None
            self._allowed_here = True
            context = contextvars.copy_context()  # what it draws belongs to the same cell
            self._thread = threading.Thread(
                target=context.run, args=(self._work,), name="chatkit apply", daemon=True
            )
            self._began = time.monotonic()
            self._draw(0, len(self.plan))
            self._message.show("")
            self.running = True
            self._rows.fill(*self._items_at_work(), stay=True)
            self._fill_accounts()
            self._paint()
            self._thread.start()

    def wait(self, timeout: float | None = None) -> pd.DataFrame:
        """Wait until it is done or stopped, and return what truly happened.

        Raises:
            TimeoutError: It is still at work.
        """
        thread = self._thread
        while thread is not None and thread.is_alive():
            try:
                thread.join(timeout)
            except KeyboardInterrupt:
                self.stop()
                continue
            if timeout is not None and thread.is_alive():
                raise TimeoutError("It is still being applied.")
        if self._error is not None:
            raise self._error
        if self.result is None:
            raise PlanRefused("It has not been applied.")
        return self.result

    def stop(self) -> None:
        """Ask it to stop: first no more rows are taken, then answers are not waited for either."""
        if self.running:
            self._interrupt.ask()
            self._paint()

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
        only = rows if rows is not None or not self._taken else self._left_to_take_back()
        result = self.result
        self.back = PlanView(self._back_plan(only), self._was_taken_back)
        self.back.bind(lambda: self.result is result, lambda: self.undo(rows))
        self._below.children = [self.back]
        where = "The plan that takes it back is below. Nothing is sent before you click there."
        self._message.show(f"{self._summary} {where}")
        self._paint()
        return self.back

    def _back_plan(self, only: Collection[int] | None) -> Plan | FleetPlan:
        """Make the plan that takes some rows back, or all of them."""
        rows_by_account: dict[str, Collection[int] | None] = {}
        for label, part, first in placed(self._parts):
            if only is None:
                rows_by_account[label] = None
            elif own := {n - first for n in only if first <= n < first + len(part)}:
                rows_by_account[label] = own
        if isinstance(self.plan, FleetPlan):
            return undo_fleet_plan(self.plan, rows_by_account)
        with read_run(self.plan.id, home_of(self.plan)) as kept:
            plan = undo_plan(kept, target_of(self.plan), include_adopted=False, only=only)
        return keep_at(plan, home_of(self.plan))

    @property
    def at_work(self) -> bool:
        """True while it, or a plan below it that takes it back, is being applied."""
        return self.running or (self.back is not None and self.back.at_work)

    def reveal(self) -> None:
        """Bring it into view once it is drawn, and the focus to its heading."""
        self._rows.reveal()

    def show(self, kind: str) -> None:
        """Show the rows of one kind, if there are any of it.

        Args:
            kind: A state, or "not applied".
        """
        self._rows.choose(kind)

    def rest(self) -> pd.DataFrame:
        """Return what was not applied as a frame that can be planned again, with the reasons.

        Its rows are those that failed, met a conflict or were not sent; the columns are the key,
        the fields to send, `delete`, `state` and `reason`; of several accounts `account` is the
        first.

        Raises:
            PlanRefused: It has not been applied.
        """
        parts = {
            label: rendering.rest_frame(part, own)
            for label, part, own in self._results(self.wait())
            if len(part) or not isinstance(self.plan, FleetPlan)
        }
        frame = _of_accounts(parts)
        if frame is not parts.get(""):
            remember_parts(frame, parts)
        return frame

    def _results(self, result: pd.DataFrame) -> Iterator[tuple[str, Plan, pd.DataFrame]]:
        """Yield the plan of each account with its part of the result."""
        for label, part, first in placed(self._parts, empty=True):
            yield label, part, result.iloc[first : first + len(part)]

    def download(self) -> None:
        """Send what was not applied to the browser as a workbook, to be saved."""
        by_title: dict[str, dict[str, pd.DataFrame]] = {}
        only_to_read = {}
        for label, part, own in self._results(self.wait()):
            parts, only_to_read[label] = rendering.rest_sheets(part, own)
            for title, sheet in parts.items():
                by_title.setdefault(title, {})[label] = sheet
        again = {title: _of_accounts(parts) for title, parts in by_title.items()}
        read = _of_accounts(only_to_read)
        sheets = again | ({"Only to read": read} if len(read) else {})
        count = sum(map(len, again.values()))
        with needed_by("A file to download"):
            from chatkit.imports.tables.workbook import xlsx_bytes
        data = xlsx_bytes(sheets, wide=("reason",))
        self._rows.download(f"not_applied_{self.plan.id}.xlsx", data)
        counts = [f"Downloaded {many(count, 'row')} that can be planned again"]
        counts += [f"{many(len(read), 'row')} only to read"] if len(read) else []
        how = " In Python, view.rest() gives them as a frame to plan." if count else ""
        self._message.show(f"{', '.join(counts)}.{how}")

    def _left_to_take_back(self) -> set[int]:
        """Find the rows that landed, can be taken back, and were not."""
        if self.result is None:
            return set()
        states = list(self.result["state"])
        return {
            first + n
            for _, part, first in placed(self._parts)
            for n, change in enumerate(part.changes)
            if states[first + n] in ("applied", "differs") and change.undo != "never"
        } - self._taken

    def _was_taken_back(self, back: PlanView) -> None:
        """Show which rows are taken back now: the journals know."""
        self._show_result(stay=True)
        self._paint()
        if self._applied is not None:
            self._applied(back)

    def _act(self, act: str, row: str) -> None:
        """Do what a button of a row asks for."""
        if act == "account" and any(row == item.account for item in self._rows.items):
            self._rows.account.value = row
        if act == "back" and row.isdecimal() and int(row) in self._left_to_take_back():
            self._attempt(self.undo, {int(row)})

    def _blocked(self) -> list[str]:
        """List why it cannot be applied at all, whatever is typed."""
        blocked = self.plan.objections(**dict.fromkeys(self._allowed, True))
        return blocked or ([] if any(self.plan.counts.values()) else ["there is nothing to do"])

    # --- at work --------------------------------------------------------------------

    def _work(self) -> None:
        """Apply the plan in a thread of its own, and show what came of it."""
        try:
            allowed: dict[str, Any] = dict.fromkeys(self._allowed, True)
            self.plan._stop_by = self._interrupt
            self.result = self.plan.apply(watch=self._watch, **allowed)
        except Exception as error:
            if not isinstance(error, ChatkitError):
                logging.getLogger(__name__).exception("a plan was not applied")
            self._error = error
        self.running = False
        self._finished()

    def _finished(self) -> None:
        if self.result is not None:
            self._show_result()
        self._fill_accounts()
        if self._error is not None:
            self._rows.fill(*self._items(), stay=True)
            self._message.show(f"{type(self._error).__name__}: {self._error}", wrong=True)
        self._paint()
        if self._applied is not None and self.result is not None:
            self._applied(self)

    def _show_result(self, *, stay: bool = False) -> None:
        """Show what came of it, what failed first."""
        assert self.result is not None  # noqa: S101  # whoever calls it has looked
        runs: dict[At | None, list[KeptRun]] = {}
        for _, part, first in placed(self._parts):
            # Where the journal was pruned meanwhile, what was taken back stays as it is known.
            at = home_of(part)
            with suppress(JournalError), read_run(part.id, at) as kept:
                if at not in runs:
                    runs[at] = list(kept_runs(at))
                back = taken_back(part.id, rows_of_journal(kept), runs[at])
                own = range(first, first + len(part))
                self._taken = self._taken.difference(own) | {first + n for n in back}
        self._rows.fill(*self._items(), stay=stay)
        summary = self.result.chatkit.summary()
        if self._taken:
            summary += f" Taken back since: {many(len(self._taken), 'row')}."
        if self.plan.secrets:
            summary += " Keep the signing secrets now: plan.secrets alone holds them."
        not_applied = set(self.result["state"]).difference(TOOK_EFFECT, ["skipped"])
        self._summary = summary
        self._message.show(summary, wrong=bool(not_applied))

    def _items(self) -> tuple[Mapping[str, int], Sequence[Item]]:
        if self.result is None:
            return plan_items(self.plan)
        return result_items(self.plan, self.result, self._taken)

    def _items_at_work(self) -> tuple[Mapping[str, int], Sequence[Item]]:
        """Make rows that tell how far each is whenever they are drawn."""
        items: list[Item] = []
        for label, part in self._parts.items():
            drawn = [
                item._replace(html=partial(self._draw_at_work, label, n))
                for n, item in zip(rendering.order_by_kind(part), _items_of(part), strict=False)
            ]
            items += of_account(label, [*drawn, *_refused_items(part, outcome=True)])
        return result_columns(self.plan), items

    def _draw_at_work(self, label: str, n: int) -> str:
        change = self._parts[label].changes[n]
        rows = rows_at_work(self._parts[label])
        ended = progress_of(self.plan).ended if isinstance(self.plan, FleetPlan) else {}
        if not isinstance(came := ended.get(label), Exception | None):
            state, reason = came["state"].iloc[n], came["reason"].iloc[n]
            return draw_change(change, state=state, looks=_look(state), reason=reason)
        looks, state, reason = ("open", "waiting", "") if not rows else _at_work(rows[n])
        return draw_change(change, state=state, looks=looks, reason=reason)

    def _fill_accounts(self) -> None:
        """Show what each account would do, how far it is, or what came of it."""
        self._accounts.fill(_ACCOUNTS, self._account_items(), stay=True)

    def _account_items(self) -> Sequence[Item]:
        """Make a row for each account: what it would do, how far it is, or what came of it."""
        plan, result, running = self.plan, self.result, self.running
        if not isinstance(plan, FleetPlan):
            return []
        stops = {} if result is None or running else result.attrs["stops"]
        progress = progress_of(plan)
        items = []
        for label, part, first in placed(plan.plans, empty=True):
            kind, looks, state = "planned", "back", "planned"
            came = progress.ended.get(label)
            if not len(part):
                kind = state = "without changes"
            elif running and isinstance(came, Exception):
                kind, looks, state = "stopped", "bad", f"Stopped: {first_line(came)}"
            elif running and came is None:
                kind, looks = "at work", "open"
                done = progress.done.get(label)
                state = "waiting" if done is None else f"{done:,} of {len(part):,}"
            elif running or result is not None:
                whole = result if result is not None and not running else came
                assert not isinstance(whole, Exception | None)  # noqa: S101  # as was asked above
                states = whole["state"]
                if not running:
                    states = states.iloc[first : first + len(part)]
                state = rendering.state_counts(states)
                kind, looks = "done", "fine"
                if not states.isin((*TOOK_EFFECT, "skipped")).all():
                    kind, looks = "not all applied", "bad"
                if label in stops:
                    kind, looks, state = "stopped", "bad", f"{state} It stopped: {stops[label]}"
            elif part.objections():
                kind, looks, state = "blocked", "bad", "blocked"
            heading = self._headings[label]
            drawn = partial(_draw_account, label, heading, state, looks, bool(len(part)))
            items.append(Item((kind,), f"{label} {heading} {state}", drawn))
        for label, why in plan.failed.items():
            drawn = partial(_draw_account, label, self._lost.capitalize(), why, "bad", False)
            items.append(Item((self._lost,), f"{label} {why}", drawn))
        return items

    def _watch(self, done: int, total: int | None) -> None:
        """Show how far it is, not more often than a person can see."""
        now = time.monotonic()
        if now - self._drawn >= _OFTEN or done == total:
            self._drawn = now
            self._draw(done, total or len(self.plan))
        if now - self._redrawn >= _ROWS_OFTEN or done == total:
            self._redrawn = now
            self._rows.redraw()
            self._accounts.update(
                self._account_items()
            )  # filters stay as they are: one may be open

    def _draw(self, done: int, total: int) -> None:
        passed = time.monotonic() - self._began
        left = passed / done * (total - done) if done else 0.0
        rest = f", about {many(round(left), 'second')} left" if left >= 2 else ""
        share = 100 * done / max(total, 1)
        self._meter.value = (
            f'<div class="meter" role="progressbar" aria-label="Rows done" aria-valuemin="0"'
            f' aria-valuemax="{total}" aria-valuenow="{done}"><i style="width: {share:.1f}%"></i>'
            f"</div><span>{done:,} of {total:,}{rest}</span>"
        )

    # --- what is shown --------------------------------------------------------------

    def _paint(self) -> None:
        """Show what can be done now."""
        with self._painting:
            plan, result, idle = self.plan, self.result, not self.running
            fresh = result is None
            states = [] if result is None else list(result["state"])
            left = sum(state in OPEN for state in states)  # the run can go on with these
            outdated = self._outdated = self.outdated
            can_apply = idle and not outdated and not self._blocked() and (fresh or left > 0)
            rest = any(state in REST for state in states)
            rest = rest or (not fresh and any(map(refused_cells, self._parts.values())))
            below = self.back is not None and (self.back.at_work or self.back.result is None)
            undoes = any(setting_of(part).undoes for part in self._parts.values())
            changes = many(sum(plan.counts.values()), "change")
            label = f"{'Take back' if undoes else 'Apply'} {changes}" if fresh else ""
            self._apply.label = label or f"Go on with {left:,}"
            self._apply.label += f" in {self._live}" if self._live else ""
            self._apply.kind = self._apply.kind if fresh else "primary"
            self._apply.disabled = bool(self.phrase) and self._confirm.value.strip() != self.phrase
            stops = self._interrupt.asked
            self._stop.label = _STOP[min(stops, 2)]
            self._stop.disabled = stops > 1
            if self.running and stops:
                self._message.show("Stopping: waiting for what is under way.")
            asks = bool(self.phrase) and (fresh or not self._allowed_here)
            mark = f'<span class="chatkit-badge">{_OUTDATED}</span> ' if outdated else ""
            self._heading.value = f"<p>{mark}<strong>{escaped(self._head)}</strong></p>"
            (self.add_class if outdated else self.remove_class)("chatkit-outdated")
            if self.back is not None:
                self.back.recheck()
            controls = (  # what came of it is the headline then
                (self._heading, fresh or outdated or self.running or self._thread is None),
                (self._notes, fresh and idle),
                (self._confirm, asks and can_apply),
                (self._apply, can_apply),
                (self._again, outdated),
                (self._code, fresh and can_apply),
                (self._stop, self.running),
                (self._meter, self.running),
                (self._undo, idle and not below and bool(self._left_to_take_back())),
                (self._save, idle and rest),
            )
            # What is shown comes first: it takes the focus of what is hidden.
            for widget, seen in sorted(controls, key=lambda control: not control[1]):
                widget.layout.display = None if seen else "none"


def _overrides(plan: Plan | FleetPlan) -> list[str]:
    """Name the arguments without which the plan is blocked."""
    before = len(plan.objections())
    names = ("many", "irreversible")
    return [name for name in names if len(plan.objections(**{name: True})) < before]


def _live(plan: Plan | FleetPlan) -> str:
    """Name the accounts that a plan writes to, where that is live data."""
    named = []
    for label, part, _ in placed(parts_of(plan)):
        connection = target_of(part).transport.connection
        if is_live(connection.account):
            named.append(label or account_words(connection.account, connection.name))
    return many(len(named), "account") if len(named) > FEW else ", ".join(named)


def _without_override(objection: str) -> str:
    """Leave out which argument of `apply` allows it: here it is allowed by typing."""
    return re.sub(r"^((?:(?!needs ).)*: )?needs apply\([a-z]+=True\): ", r"\1", objection)


# --- the plans of several accounts ---------------------------------------------------------

_ACCOUNTS = {"account": 18, "plan": 38, "state": 34, "rows": 10}


def parts_of(plan: Plan | FleetPlan) -> Mapping[str, Plan]:
    """Return the plan of each account by what that is called; of a single one it is nothing."""
    return plan.plans if isinstance(plan, FleetPlan) else {"": plan}


def placed(parts: Mapping[str, Plan], *, empty: bool = False) -> Iterator[tuple[str, Plan, int]]:
    """Yield the plans that have rows, each with the place of its first one in the result.

    Args:
        parts: The plans, by account.
        empty: Those without rows too.
    """
    first = 0
    for label, part in parts.items():
        if len(part) or empty:
            yield label, part, first
        first += len(part)


def heading_of(plan: Plan | FleetPlan, *, run: bool = False) -> str:
    """Count a plan in words, or what its run means to do."""
    if isinstance(plan, FleetPlan):
        return fleet_heading(plan, run=run)
    return rendering.run_heading(plan) if run else rendering.heading(plan)


def _notes_html(plan: Plan | FleetPlan, *more: str) -> str:
    """Write the notes of a plan, each once for all accounts that have it."""
    if not isinstance(plan, FleetPlan):
        return rendering.notes_html(plan, *more, rows=False)
    accounts_by_note: dict[str, list[str]] = {}
    for label, part in plan.plans.items():
        of_rows = rendering.row_notes(part)
        for note in (one for one in rendering.notes_of(part) if one not in of_rows):
            accounts_by_note.setdefault(note, []).append(visible(label))
    named = [
        f"{', '.join(of) if len(of) <= FEW else many(len(of), 'account')}: {note}"
        for note, of in accounts_by_note.items()
    ]
    return html_list("told", "", [*named, *map(visible, plan.notes), *more])


def _draw_account(label: str, what: str, state: str, looks: str, shows: bool) -> str:
    name = escaped(label)
    button = (
        f'<button type="button" class="chatkit-button small" data-act="account" '
        f'data-row="{escape(label)}" aria-label="Show the rows of {name}">Show</button>'
    )
    cells = (
        f'<th scope="rowgroup" dir="auto">{name}</th><td dir="auto">{escaped(what)}</td>',
        f'<td class="dot" dir="auto">{escaped(state)}</td><td>{button if shows else ""}</td>',
    )
    return f'<tbody class="{looks}"><tr>{"".join(cells)}</tr></tbody>'


def _of_accounts(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the frames of several accounts as one, or the frame of the only one."""
    return parts[""] if list(parts) == [""] else rendering.fleet_table(parts)


def of_account(label: str, items: Sequence[Item]) -> Sequence[Item]:
    """Add the account to rows, where there are several."""
    if not label:
        return items
    return [
        item._replace(
            text=f"{label} {item.text}",
            html=partial(_with_account, label, item.html),
            account=label,
        )
        for item in items
    ]


def _with_account(label: str, html: Callable[[], str]) -> str:
    body = html()
    cell = f'<td dir="auto">{escaped(label)}</td>'
    return body.replace("<tr>", "<tr><td></td>").replace("<tr><td></td>", f"<tr>{cell}", 1)


def _and_account(plan: Plan | FleetPlan, columns: Mapping[str, int]) -> Mapping[str, int]:
    """Put the column of the accounts before others, where there are several accounts."""
    if not isinstance(plan, FleetPlan):
        return columns
    return {"account": 12} | {name: round(width * 0.88) for name, width in columns.items()}


# --- the rows of a plan, and of its result -------------------------------------------------

TOOK_EFFECT = ("applied", "differs", "unchanged")  #: states of rows with which nothing is wrong
OPEN = ("not sent", "unknown")  #: states of rows with which a run can go on
REST = ("failed", "conflict", *OPEN)  #: states of rows that were not applied, or nobody knows
_FIRST = {state: n for n, state in enumerate((*REST, "differs"))}

#: What a person looks for among the changes that cannot be undone exactly.
_UNDO = {"exactly": "", "never": "never undone"}
_NOT_EXACTLY = "not restored exactly"


def plan_items(plan: Plan | FleetPlan) -> tuple[Mapping[str, int], Sequence[Item]]:
    """Make the rows of a plan, and of what it refuses."""
    items: list[Item] = []
    for label, part in parts_of(plan).items():
        items += of_account(label, _items_of(part))
    columns = {"change": 9, _record_noun(plan): 19, "field": 12, "before": 30, "after": 30}
    return _and_account(plan, columns), items


def _record_noun(plan: Plan | FleetPlan) -> str:
    return next((rendering.record_noun(part) for part in parts_of(plan).values()), "record")


def _items_of(plan: Plan) -> Sequence[Item]:
    """Make the rows of the plan of one account, and of what it refuses."""
    losses = rendering.losses_of(plan)
    items = [
        Item(
            (change.kind, *filter(None, [_UNDO.get(change.undo, _NOT_EXACTLY), _part(change)])),
            _searched(change),
            partial(draw_change, change, losses),
        )
        for kind in rendering.by_kind(plan)
        for change in kind
    ]
    items += _refused_items(plan)
    return items


def _part(change: Change) -> str:
    """Name the resource of a change of a plan for the account, as a filter of its rows."""
    return f"{change.noun}s" if change.noun else ""


def _searched(change: Change) -> str:
    values = json.dumps([dict(change.before), dict(change.after)], ensure_ascii=False, default=str)
    return f"{change.row} {change.key} {change.code or ''} {change.label} {values}"


_FIELDS = 8  #: fields of a change that are shown before somebody asks for all


def draw_change(
    change: Change,
    losses: rendering.Losses = MappingProxyType({}),
    *,
    state: str = "",
    looks: str = "",
    reason: str = "",
    action: str = "",
) -> str:
    """Draw a row of a plan or of its result: each field in full, and below what is to be known.

    Args:
        change: What is changed.
        losses: Why changes cannot be undone exactly.
        state: How far it is, in a column of its own, if its plan is or was applied.
        looks: The class of the row.
        reason: Why it is so far, in words.
        action: A button, in a column of its own beside the state.
    """
    lines = [_draw_line(change, line) for line in rendering.change_lines(change, whole=True)]
    lines = lines or ["<td></td>" * 3]
    lines[_FIELDS:] = [line.replace("<td", '<td class="ck-far"', 1) for line in lines[_FIELDS:]]
    label, note = rendering.change_label(change), rendering.footnote(change, losses)
    name = f"{marked(label)}<sup>{note}</sup>" if note else marked(label)
    if any("ck-far" in line for line in lines):
        words = f'data-more aria-label="Show all of {escape(label)}" aria-expanded="false"'
        name += f'<button type="button" class="chatkit-button small" {words}>Show all</button>'
    kind = f'<td class="short">{rendering.html_kind(change)}</td>'
    head = f'{kind}<th scope="rowgroup" dir="auto">{name}</th>'
    blank, end = "<td></td>" * (3 if state else 2), ""
    if state:
        head = f'<td class="dot short">{escaped(state)}</td>{head}'
        end = f"<td>{action}</td>"
    rows = [head + lines[0] + end, *(blank + line + "<td></td>" * bool(end) for line in lines[1:])]
    below = f'<p dir="auto">{escaped(reason)}</p>' if reason else ""
    if below := below + finding_list(change.findings):
        rows.append(f'<td></td><td class="below" colspan="{6 if state else 4}">{below}</td>')
    return f'<tbody class="{looks}"><tr>{"</tr><tr>".join(rows)}</tr></tbody>'


def _draw_line(change: Change, line: rendering.Line) -> str:
    """Draw the cells of a field: its name, and both sides, those of long texts in full."""
    name = f'<td dir="auto">{marked(visible(line.field))}</td>'
    old, new = ("span", "span") if change.kind == "skip" else ("del", "ins")
    texts = [one.whole if one else "" for one in (line.before, line.after)]
    if max(map(len, texts)) <= LONG:
        return f"{name}{html_value(line.before, old)}{html_value(line.after, new)}"
    both = all(texts) and change.kind != "skip"
    cells = marked_words(*texts) if both else map(text_html, texts)
    return name + "".join(f'<td dir="auto">{cell}</td>' for cell in cells)


def _refused_items(plan: Plan, *, outcome: bool = False) -> list[Item]:
    """Make the rows of what cannot be planned, below the columns of changes or of outcomes."""
    return [
        Item(("refused",), " ".join(map(str, cell)), partial(_refused, cell, outcome))
        for cell in refused_cells(plan)
    ]


def _refused(cell: RefusedCell, outcome: bool) -> str:
    row, column, value = map(escaped, [row_label(cell.row), *map(str, cell[1:3])])
    reasons = map(str, cell[3:])
    kind, end = ("<td></td>", "<td></td>") if outcome else ("", "")
    where = (
        f'<td class="dot short">refused</td>{kind}<th scope="rowgroup" dir="auto">row {row}</th>'
    )
    what = f'<td dir="auto">{column}</td><td></td><td dir="auto">{value}</td>{end}'
    why = finding_list([("error", ": ".join(reasons))])
    below = f'<td></td><td class="below" colspan="{6 if outcome else 4}">{why}</td>'
    return f'<tbody class="bad"><tr>{where}{what}</tr><tr>{below}</tr></tbody>'


def result_columns(plan: Plan | FleetPlan) -> Mapping[str, int]:
    """Name the columns of a plan that is or was applied, each with its width in percent."""
    noun = _record_noun(plan)
    columns = {"state": 10, "change": 9, noun: 17, "field": 12, "before": 21, "after": 21}
    columns["action"] = 10
    return _and_account(plan, columns)


def result_items(
    plan: Plan | FleetPlan, result: pd.DataFrame, taken: Collection[int] = (), *, acts: bool = True
) -> tuple[Mapping[str, int], Sequence[Item]]:
    """Make the rows of a result: what was not applied, what was refused, then the others.

    Args:
        plan: What was applied.
        result: What came of it.
        taken: The numbers of the rows that were taken back since.
        acts: Whether a row has a button that takes it back.
    """
    items: list[Item] = []
    for label, part, first in placed(parts_of(plan), empty=True):
        own = result.iloc[first : first + len(part)]
        items += of_account(label, _result_items_of(part, own, taken, first, acts=acts))
    if isinstance(plan, FleetPlan):  # what was not applied comes first, of all accounts
        items.sort(key=lambda item: not {"not applied", "refused"}.intersection(item.kinds))
    return result_columns(plan), items


def _result_items_of(
    plan: Plan, result: pd.DataFrame, taken: Collection[int], first: int, *, acts: bool
) -> Sequence[Item]:
    """Make the rows of the result of one account, whose rows begin at some place of the whole."""
    rows = list(zip(plan.changes, result["state"], result["reason"], strict=True))
    order = sorted(range(len(rows)), key=lambda n: _FIRST.get(rows[n][1], len(_FIRST)))
    items = []
    for n in order:
        change, state, reason = rows[n]
        looks = _look(state)
        kinds: tuple[str, ...] = (state,) if looks == "fine" else ("not applied", state)
        if first + n in taken:
            kinds, looks = ("taken back",), "back"
        can = acts and state in ("applied", "differs") and change.undo != "never"
        number = str(first + n) if can and first + n not in taken else ""
        text = f"{kinds[-1]} {reason} {_searched(change)}"
        drawn = partial(_draw_outcome, change, looks, kinds[-1], str(reason), number)
        items.append(Item((*kinds, *filter(None, [_part(change)])), text, drawn))
    left = sum(state in REST for _, state, _ in rows)
    items[left:left] = _refused_items(plan, outcome=True)
    return items


def _look(state: str) -> str:
    """Return the look of the state of a row."""
    return "fine" if state in (*TOOK_EFFECT, "skipped") else "open" if state in OPEN else "bad"


def _draw_outcome(change: Change, looks: str, state: str, reason: str, number: str) -> str:
    """Draw a row of a result, with a button that takes it back if it has a number."""
    button = ""
    if number:
        name = escaped(f"Take back {rendering.change_label(change)}")
        button = f'class="chatkit-button small" data-act="back" data-row="{number}"'
        button = f'<button type="button" {button} aria-label="{name}">Take back</button>'
    return draw_change(change, state=state, looks=looks, reason=reason, action=button)


def _at_work(row: Row) -> tuple[str, str, str]:
    """Return how far a row of a running plan is: its look, a word for it, and the reason."""
    if row.state == "not sent":
        return "open", "waiting", row.reason
    if row.state == "unknown" and not row.was_unknown:
        return "open", "being sent", ""
    return _look(row.state), row.state, row.reason
