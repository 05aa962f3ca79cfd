"""View of a plan: read, apply, watch, stop and undo it without code."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from chatkit.bulk import rendering
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.plan import DELETES, setting_of
from chatkit.display import escaped, many
from chatkit.errors import ChatkitError, PlanRefused, steady
from chatkit.widgets import assets
from chatkit.widgets.controls import Button, Code, Message, called
from chatkit.widgets.plan.rows import LANDED, OPEN, PagedRows, happened, planned

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan


_STYLE = assets.joined_text(["planview.css"])
_OFTEN = 0.1  #: seconds between two pictures of the progress


class PlanView(w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A plan to be read, applied, watched, stopped and taken back.

    Where the plan is blocked for being large or final, applying asks for a few words to be
    typed. It is applied in a thread of its own, so that the Stop button is heard.

    In a program: `apply()` does what the button does, waits, and raises what goes wrong.

    Args:
        plan: What `client.contacts.plan(frame)` or `chatkit.undo(result)` made.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.result: pd.DataFrame | None = None  #: what truly happened, once it was applied
        self.back: PlanView | None = None  #: the plan that takes it back, once asked for
        self._interrupt = Interrupt()
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None
        self._starting, self._painting = threading.Lock(), threading.RLock()
        self.running = False  #: whether it is being applied now
        self._drawn = self._began = 0.0
        self._allowed = _overrides(plan)
        self._rows = PagedRows(*planned(plan))
        style = w.HTML(f"<style>{rendering.STYLE}{_STYLE}</style>")
        self._heading, self._notes = w.HTML(), w.HTML()
        self._meter, self._message = w.HTML(), Message()
        self._confirm = w.Text(description=f"Type {self.phrase} to allow it")
        self._confirm.add_class("chatkit-confirm")
        self._confirm.observe(lambda _: self._paint(), names="value")
        self._apply = Button("", self._start_clicked, "danger" if self._allowed else "primary")
        self._stop = Button("Stop", self.stop)
        self._undo = Button("Take it back …", self._undo_clicked)
        self._code = Code(called("plan.apply", **dict.fromkeys(self._allowed, True)))
        actions = w.HBox([self._apply, self._stop, self._meter, self._undo, self._code])
        actions.add_class("chatkit-bar")
        self._below = w.VBox()
        self._heading.value = f"<p><strong>{escaped(rendering.heading(plan))}</strong></p>"
        self._notes.value = rendering.html_list(
            "told", "", rendering.notes_of(plan)
        ) + rendering.html_list("objections", "Blocked:", [_said(one) for one in plan.objections()])
        parts = [style, self._heading, self._rows, self._notes, self._confirm, self._message]
        super().__init__([*parts, actions, self._below])
        self.add_class("chatkit-planview")
        self._paint()

    @steady
    def __repr__(self) -> str:
        if self.result is None:
            return f"<plan view: {rendering.heading(self.plan)}>"
        return f"<plan view: {self.result.chatkit.summary()}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        told = "" if self.result is None else f"<p>{escaped(self.result.chatkit.summary())}</p>"
        return {
            **bundle,
            "text/plain": repr(self),
            "text/html": rendering.plan_html(self.plan) + told,
        }

    # --- what it does ---------------------------------------------------------------

    @property
    def message(self) -> str:
        """What it says of how it went."""
        return self._message.text

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

        self.back = PlanView(undo(self.wait()))
        self._below.children = [self.back]
        self._paint()
        return self.back

    def _blocked(self) -> list[str]:
        """Say why it cannot be applied at all, whatever is typed."""
        blocked = self.plan.objections(**dict.fromkeys(self._allowed, True))
        return blocked or ([] if any(self.plan.counts.values()) else ["there is nothing to do"])

    # --- at work --------------------------------------------------------------------

    def _start_clicked(self) -> None:
        try:
            self.start(self._confirm.value)
        except ChatkitError as error:
            self._message.say(str(error), wrong=True)

    def _undo_clicked(self) -> None:
        try:
            self.undo()
        except ChatkitError as error:
            self._message.say(str(error), wrong=True)

    def _work(self) -> None:
        """Apply the plan in a thread of its own, and show what came of it."""
        try:
            self.result = self.plan.apply(
                interrupt=self._interrupt, watch=self._watch, **dict.fromkeys(self._allowed, True)
            )
        except ChatkitError as error:
            self._error = error
        except Exception as error:
            logging.getLogger(__name__).exception("a plan was not applied")
            self._error = error
        self.running = False
        self._finished()

    def _finished(self) -> None:
        if self.result is not None:
            self._rows.fill(*happened(self.plan, self.result), "not applied")
        if self._error is not None:
            self._message.say(f"{type(self._error).__name__}: {self._error}", wrong=True)
        elif self.result is not None:
            said = self.result.chatkit.summary()
            if self.plan.secrets:
                said += " Keep the signing secrets now: they are in plan.secrets, nowhere else."
            odd = set(self.result["state"]).difference(LANDED, ["skipped"])
            self._message.say(said, wrong=bool(odd))
        self._paint()

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
    return objection.partition(": apply(")[0] if objection.endswith("allows that") else objection


class Saving(PlanView):
    """A plan that saves what a form or an editor holds, and tells it what came of that.

    Args:
        plan: What saves it.
        then: What is called, with this view, once it was applied or could not be.
        lock: What lets nobody type while it is applied, or lets them again.
    """

    def __init__(
        self,
        plan: Plan,
        then: Callable[[PlanView], object],
        lock: Callable[[bool], object] = bool,
    ) -> None:
        self._then, self._lock = then, lock
        super().__init__(plan)

    def start(self, confirm: str = "") -> None:
        """Begin to apply the plan, and return at once."""
        self._lock(True)
        try:
            super().start(confirm)
        except BaseException:
            self._lock(self.running)
            raise

    def _finished(self) -> None:
        super()._finished()
        self._lock(False)
        self._then(self)
