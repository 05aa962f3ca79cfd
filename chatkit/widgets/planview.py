"""View of a plan: read, apply, watch, stop and undo it without code."""

from __future__ import annotations

import contextvars
import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import ipywidgets as w

from chatkit.bulk import rendering
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.journal import Change
from chatkit.bulk.plan import DELETES, refused_cells, setting_of
from chatkit.display import escaped, many, visible
from chatkit.errors import ChatkitError, InputError, PlanRefused, steady
from chatkit.report import MANY, STYLE, html_list
from chatkit.widgets import assets
from chatkit.widgets.controls import ActionButton, Code, Panel, boxed, call_code

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan, RefusedCell


_OFTEN = 0.1  #: seconds between two pictures of the progress


class PlanView(Panel):
    """A plan to be read, applied, watched, stopped and taken back.

    Where the plan is blocked for being large or final, applying asks for a few words to be
    typed. It is applied in a thread of its own, so that the Stop button is heard.

    In a program: `apply()` does what the button does, waits, and raises what goes wrong.

    Args:
        plan: What `client.contacts.plan(frame)` or `chatkit.undo(result)` made.
        applied: What is called with the view when it was applied or stopped, and with the view
            of the plan that takes it back when that was.

    >>> plan = client.contacts.plan([{"id": 50001, "name": "Ana Cruz"}])
    >>> chatkit.PlanView(plan)
    <plan view: Plan for 250 contacts: 1 update.>
    """

    _style = STYLE + assets.joined_text(["planview.css"])
    _css_classes = ("chatkit-planview",)

    def __init__(self, plan: Plan, applied: Callable[[PlanView], object] | None = None) -> None:
        if not hasattr(plan, "objections"):
            raise InputError(
                "PlanView takes a plan, like client.contacts.plan(frame), not "
                f"{type(plan).__name__}."
            )
        self.plan = plan
        self.result: pd.DataFrame | None = None  #: what truly happened, once it was applied
        self.back: PlanView | None = None  #: the plan that takes it back, once asked for
        self._applied = applied
        self._interrupt = Interrupt()
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None
        self._starting, self._painting = threading.Lock(), threading.RLock()
        self.running = False  #: whether it is being applied now
        self._drawn = self._began = 0.0
        self._allowed = _overrides(plan)
        self._rows = PagedRows(*plan_items(plan))
        self._heading, self._notes = w.HTML(), w.HTML()
        self._meter = w.HTML()
        self._confirm = w.Text(description=f"Type {self.phrase} to allow it")
        self._confirm.add_class("chatkit-confirm")
        self._confirm.observe(lambda _: self._paint(), names="value")
        self._apply = ActionButton("", self._clicked, "danger" if self._allowed else "primary")
        self._stop = ActionButton("Stop", self.stop)
        self._undo = ActionButton("Take it back …", lambda: self._attempt(self.undo))
        self._code = Code(call_code("plan.apply", **dict.fromkeys(self._allowed, True)))
        controls = [self._apply, self._stop, self._meter, self._undo, self._code]
        actions = boxed(w.HBox, "chatkit-bar", controls)
        self._below = w.VBox()
        self._heading.value = f"<p><strong>{escaped(rendering.heading(plan))}</strong></p>"
        self._notes.value = html_list("told", "", rendering.notes_of(plan)) + html_list(
            "objections", "Blocked:", [_said(one) for one in plan.objections()]
        )
        parts = [self._heading, self._rows, self._notes, self._confirm, self._message]
        super().__init__([*parts, actions, self._below])
        self._paint()

    @steady
    def __repr__(self) -> str:
        if self.result is None:
            return f"<plan view: {rendering.heading(self.plan)}>"
        return f"<plan view: {self.result.chatkit.summary()}>"

    def _page(self) -> str:
        told = "" if self.result is None else f"<p>{escaped(self.result.chatkit.summary())}</p>"
        return self.plan._repr_html_() + told

    # --- what it does ---------------------------------------------------------------

    @property
    def phrase(self) -> str:
        """What must be typed before it is applied; empty if nothing must."""
        if not self._allowed:
            return ""
        deletes, changes = self.plan.counts["delete"], sum(self.plan.counts.values())
        final = deletes and (deletes == changes or deletes > DELETES)
        return f"DELETE {deletes}" if final else f"CHANGE {changes}"

    def apply(self, confirm: str = "") -> pd.DataFrame:
        """Apply the plan, wait until it is done or stopped, and return what truly happened.

        Args:
            confirm: What the plan asks to be typed, see `phrase`.

        Raises:
            PlanRefused: It is not what the plan asks for, or the plan cannot be applied.
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
            if self.phrase and confirm.strip() != self.phrase:
                raise PlanRefused(f"To allow it, confirm with {self.phrase!r}.")
            if self._blocked():
                raise PlanRefused("\n- ".join(["It cannot be applied:", *self._blocked()]))
            self._interrupt, self._error = Interrupt(), None
            context = contextvars.copy_context()  # what it draws belongs to the same cell
            self._thread = threading.Thread(
                target=context.run, args=(self._work,), name="chatkit apply", daemon=True
            )
            self._began = time.monotonic()
            self._draw(0, len(self.plan))
            self._message.say("")
            self.running = True
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

    def undo(self) -> PlanView:
        """Show the plan that takes it back, below. Nothing happens until that is applied.

        Raises:
            PlanRefused: It has not been applied.
        """
        from chatkit.history import undo

        self.back = PlanView(undo(self.wait()), self._applied)
        self._below.children = [self.back]
        self._paint()
        return self.back

    def _blocked(self) -> list[str]:
        """Say why it cannot be applied at all, whatever is typed."""
        blocked = self.plan.objections(**dict.fromkeys(self._allowed, True))
        return blocked or ([] if any(self.plan.counts.values()) else ["there is nothing to do"])

    # --- at work --------------------------------------------------------------------

    def _clicked(self) -> None:
        self._attempt(self.start, self._confirm.value)

    def _work(self) -> None:
        """Apply the plan in a thread of its own, and show what came of it."""
        try:
            allowed: dict[str, Any] = dict.fromkeys(self._allowed, True)
            self.result = self.plan.apply(interrupt=self._interrupt, watch=self._watch, **allowed)
        except Exception as error:
            if not isinstance(error, ChatkitError):
                logging.getLogger(__name__).exception("a plan was not applied")
            self._error = error
        self.running = False
        self._finished()

    def _finished(self) -> None:
        if self.result is not None:
            self._rows.fill(*result_items(self.plan, self.result), "not applied")
        if self._error is not None:
            self._message.say(f"{type(self._error).__name__}: {self._error}", wrong=True)
        elif self.result is not None:
            said = self.result.chatkit.summary()
            if self.plan.secrets:
                said += " Keep the signing secrets now: plan.secrets alone holds them."
            odd = set(self.result["state"]).difference(LANDED, ["skipped"])
            self._message.say(said, wrong=bool(odd))
        self._paint()
        if self._applied is not None and self.result is not None:
            self._applied(self)

    def _watch(self, done: int, total: int | None) -> None:
        """Show how far it is, not more often than a person can see."""
        now = time.monotonic()
        if now - self._drawn >= _OFTEN or done == total:
            self._drawn = now
            self._draw(done, total or len(self.plan))

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
            self._painted()

    def _painted(self) -> None:
        running, plan, result = self.running, self.plan, self.result
        undone, ready = self._undone(), not self._blocked()
        verb = "Take back" if setting_of(plan).undoes else "Apply"
        self._apply.label = f"{verb} {many(sum(plan.counts.values()), 'change')}"
        if result is not None:
            self._apply.label = f"Go on with {undone:,}"
            self._apply.kind = "primary"
        typed = not self.phrase or self._confirm.value.strip() == self.phrase
        self._apply.disabled = not typed
        asked = self._interrupt.asked
        self._stop.label = ("Stop", "Do not wait for answers either", "Stopping …")[min(asked, 2)]
        self._stop.disabled = asked > 1
        if running and asked:
            self._message.say("Stopping: waiting for what is under way.")
        landed = result is not None and bool(result["state"].isin(("applied", "differs")).any())
        for widget, seen in (
            (self._notes, result is None),
            (self._confirm, ready and result is None and not running and bool(self.phrase)),
            (self._apply, ready and not running and (result is None or undone > 0)),
            (self._code, ready and not running and result is None),
            (self._stop, running),
            (self._meter, running),
            (self._undo, landed and not running and self.back is None),
        ):
            widget.layout.display = None if seen else "none"

    def _undone(self) -> int:
        """Count the rows with which the run could go on."""
        return 0 if self.result is None else int(self.result["state"].isin(OPEN).sum())


def _overrides(plan: Plan) -> list[str]:
    """Name the arguments without which the plan is blocked."""
    before = len(plan.objections())
    names = ("many", "irreversible")
    return [name for name in names if len(plan.objections(**{name: True})) < before]


def _said(objection: str) -> str:
    """Leave out which argument of `apply` allows it: here it is allowed by typing."""
    return objection.partition(": ")[2] if objection.startswith("needs ") else objection


# --- rows in pages, with filters -----------------------------------------------------------

PAGE = 10  #: rows that are shown at once


class Item(NamedTuple):
    """One row: of which kinds it is, what is searched, and how it is drawn."""

    kinds: tuple[str, ...]
    text: str
    html: Callable[[], str]


class PagedRows(w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A table of many rows, of which a person sees those of one kind that hold a text.

    Args:
        columns: Their names, each with its width in percent.
        items: The rows; each draws itself as escaped HTML, a table body of its own.
    """

    def __init__(self, columns: Mapping[str, int], items: Sequence[Item]) -> None:
        self.items: list[Item] = []
        self._texts: list[str] = []
        self._head = ""
        self._page = 0
        self.kind = w.Dropdown(description="Show")
        self.search = w.Text(description="that hold", placeholder="any text")
        self._table, self._place = w.HTML(), w.HTML()
        self._back = ActionButton("Previous", lambda: self._turn(-1))
        self._on = ActionButton("Next", lambda: self._turn(1))
        for control in (self.kind, self.search):
            control.observe(lambda _: self._turn(0), names="value")
        self._filters = boxed(w.HBox, "chatkit-bar", [self.kind, self.search])
        self._pager = boxed(w.HBox, "chatkit-bar", [self._back, self._on, self._place])
        super().__init__([self._filters, self._table, self._pager])
        self.add_class("chatkit-plan")
        self.fill(columns, items)

    def fill(self, columns: Mapping[str, int], items: Sequence[Item], kind: str = "") -> None:
        """Show other rows, at first those of a kind if there are any of it."""
        self.items = list(items)
        self._texts = [item.text.casefold() for item in self.items]
        self._head = "".join(
            f'<th scope="col" style="width: {width}%">{escape(name)}</th>'
            for name, width in columns.items()
        )
        count = Counter(kind for item in self.items for kind in item.kinds)
        options = [(f"all {len(self.items):,}", "")]
        options += [(f"{kind} {number:,}", kind) for kind, number in count.items()]
        self.kind.options = options
        self.kind.value = kind if kind in count else ""
        self.search.value = ""
        self._filters.layout.display = None if len(self.items) > 1 else "none"
        self._turn(0)

    def __repr__(self) -> str:
        return f"<{len(self.found()):,} of {len(self.items):,} rows>"

    def found(self) -> list[Item]:
        """Return the rows of the chosen kind that hold the text, on all pages."""
        wanted, kind = self.search.value.casefold().strip(), self.kind.value
        return [
            item
            for item, text in zip(self.items, self._texts, strict=True)
            if wanted in text and (not kind or kind in item.kinds)
        ]

    def _turn(self, pages: int) -> None:
        """Turn so many pages; a new filter begins with the first."""
        found = self.found()
        last = max(len(found) - 1, 0) // PAGE
        self._page = min(max(self._page + pages, 0), last) if pages else 0
        first = self._page * PAGE
        part = found[first : first + PAGE]
        body = "".join(item.html() for item in part)
        head = f"<thead><tr>{self._head}</tr></thead>"
        nothing = "<p>No row is like that.</p>" if self.items else ""
        self._table.value = (
            # the class names keep JupyterLab from reading $…$ in a name as mathematics
            f'<table class="tex2jax_ignore mathjax_ignore">{head}{body}</table>'
            if part
            else nothing
        )
        self._back.disabled, self._on.disabled = self._page == 0, self._page == last
        place = f"{first + 1:,} to {first + len(part):,} of {len(found):,}"
        self._place.value = f'<span role="status">{place}</span>' if part else ""
        self._pager.layout.display = None if last else "none"


# --- the rows of a plan, and of its result -------------------------------------------------

LANDED = ("applied", "differs", "unchanged")  #: states of rows with which nothing is wrong
OPEN = ("not sent", "unknown")  #: states of rows with which a run can go on

#: What a person looks for among the changes that cannot be undone exactly.
_UNDO = {"exactly": "", "never": "never undone"}
_NOT_EXACTLY = "not restored exactly"


def plan_items(plan: Plan) -> tuple[Mapping[str, int], Sequence[Item]]:
    """Make the rows of a plan, and of what it refuses."""
    losses = rendering.losses_of(plan)
    noun = setting_of(plan).noun

    def drawn(change: Change) -> str:
        return rendering.html_changes([change], losses, MANY)[0]

    items = [
        Item(
            (change.kind, *filter(None, [_UNDO.get(change.undo, _NOT_EXACTLY)])),
            _searched(change),
            partial(drawn, change),
        )
        for kind in rendering.by_kind(plan)
        for change in kind
    ]
    items += [
        Item(("refused",), " ".join(map(str, cell)), partial(_refused, cell))
        for cell in refused_cells(plan)
    ]
    return {"change": 10, noun: 22, "field": 16, "before": 26, "after": 26}, items


def _searched(change: Change) -> str:
    values = json.dumps([dict(change.before), dict(change.after)], ensure_ascii=False, default=str)
    return f"{change.row} {change.key} {change.code or ''} {change.label} {values}"


def _refused(cell: RefusedCell) -> str:
    """Draw a cell that cannot be planned below the columns of a change."""
    row, column, value, *said = (visible(str(part)) for part in cell)
    where = f'<td>refused</td><th scope="rowgroup" dir="auto">row {escape(row)}</th>'
    what = f'<td dir="auto">{escape(column)}</td><td dir="auto">{escape(value)}</td>'
    return f'<tbody><tr>{where}{what}<td dir="auto">{escape(": ".join(said))}</td></tr></tbody>'


def result_items(plan: Plan, result: pd.DataFrame) -> tuple[Mapping[str, int], Sequence[Item]]:
    """Make the rows of a result."""
    columns = {"state": 12, "change": 10, setting_of(plan).noun: 32, "reason": 46}
    items = []
    fields = zip(result["state"], result["change"], result["label"], result["reason"], strict=True)
    for state, change, label, reason in fields:
        kinds = (state,) if state in (*LANDED, "skipped") else ("not applied", state)
        parts = [visible(str(part)) for part in (state, change, label, reason)]
        fine = state in (*LANDED, "skipped")
        kind = "fine" if fine else "open" if state in OPEN else "bad"
        cells = "".join(f'<td dir="auto">{escape(part)}</td>' for part in parts)
        body = f'<tbody class="{kind}"><tr>{cells}</tr></tbody>'
        items.append(Item(kinds, " ".join(parts), partial(str, body)))
    return columns, items
