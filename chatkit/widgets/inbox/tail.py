"""Tail: deliveries in the notebook as they come."""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import anywidget
import traitlets

from chatkit.display import many, visible
from chatkit.errors import ChatkitError, InputError, steady
from chatkit.inbox.delivery import Delivery
from chatkit.inbox.events import Event, events
from chatkit.inbox.inbox import Inbox
from chatkit.webhooks.resource import event_kinds
from chatkit.widgets.assets import joined_text
from chatkit.widgets.controls import Exported
from chatkit.widgets.inbox.delivery_view import (
    any_of_contact,
    contact_of,
    delivery_line,
    delivery_view,
    lines_html,
)

_OFTEN = 0.2  #: seconds between two looks: what came in between is one message to the page
_BACK = 2000  #: deliveries that are looked through at once, however many there are
_FEW = 10  #: rows of the static form


class Tail(Exported, anywidget.AnyWidget):
    """A live tail of deliveries: the last ones, and each new one as it comes.

    Shown, it follows the inbox in a thread of its own, until `stop()`, the end of the inbox,
    or until its output is cleared.

    Everything that came is in it, repeats and what is not verified too. Choose a row to see
    the delivery as a tree, why its signature was right or wrong, and to copy it as a test.

    Args:
        inbox: Where the deliveries lie.
        kind: Only events of this kind; "" takes all.
        contact: Only of this contact, a number in E.164 form; "" takes all.
        limit: How many rows are kept in the page.

    >>> chatkit.Tail(inbox)
    Tail of the inbox: 0 rows.
    """

    _esm = joined_text(["keys.js", "side.js", "inbox/tail.js"])
    _css = joined_text(["inbox/tail.css"])
    _thread: threading.Thread | None = None  # here, as what is not whole is closed too

    kind = traitlets.Unicode().tag(sync=True)
    contact = traitlets.Unicode().tag(sync=True)
    #: Whether new rows wait; they are there when it goes on.
    paused = traitlets.Bool(False).tag(sync=True)
    #: Whether it was stopped.
    stopped = traitlets.Bool(False).tag(sync=True)
    kinds: traitlets.List[Any] = traitlets.List().tag(sync=True)
    limit = traitlets.Int(300).tag(sync=True)
    #: The rows that were there when it was made, newest first.
    first: traitlets.List[Any] = traitlets.List().tag(sync=True)

    def __init__(self, inbox: Inbox, *, kind: str = "", contact: str = "", limit: int = 300):
        self._ending = threading.Event()
        if not 1 <= limit <= 2000:
            raise InputError("A page keeps from 1 to 2,000 rows: limit=300.")
        self._inbox = inbox
        self._looking = threading.RLock()
        self._views: set[str] = set()
        self._rows: deque[dict[str, Any]] = deque(maxlen=limit)
        self._at = 0  #: the id of the last delivery that was looked at
        self._told = ""
        self._judged = inbox.judged
        self._chosen = (kind, contact.strip())
        self._fill()
        kinds = {*event_kinds(inbox.profile), *(row["kind"] for row in self._rows)}
        super().__init__(
            kind=kind,
            contact=contact.strip(),
            limit=limit,
            kinds=sorted(kinds - {"", "*"}),
            first=self.rows,
        )
        self.on_msg(self._heard)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows that it holds, newest first."""
        with self._looking:
            return [*reversed(self._rows)]

    @property
    def running(self) -> bool:
        """Whether it follows the inbox now."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Follow the inbox; showing the widget does it too."""
        with self._looking:
            self.stopped = False
            if self.running:
                return
            self._ending = ending = threading.Event()
            context = contextvars.copy_context()
            self._thread = threading.Thread(
                target=context.run, args=(self._follow, ending), name="chatkit-tail", daemon=True
            )
            self._thread.start()
            self._inbox.read_by(self)

    def stop(self) -> None:
        """Follow no more; when this returns the thread has ended. A second call does nothing."""
        self.stopped = True
        self._end()

    def close(self) -> None:
        """Stop, and take the widget out of the page."""
        self._end()
        super().close()

    def look(self) -> int:
        """Look for new deliveries now, and return how many there were."""
        with self._looking:
            chosen = (self.kind, self.contact.strip())
            judged = self._inbox.judged  # rows that are shown may have been verified since
            if chosen != self._chosen or (judged != self._judged and not self.paused):
                self._chosen, self._judged = chosen, judged
                self._fill()
                self._show(None)
                return len(self._rows)
            if self.paused:
                return 0
            fresh, seen, passed = self._newer()
            self._rows.extend(fresh)
            if seen or passed:
                self.send({"rows": fresh[::-1], "seen": seen, "passed": passed})
            return seen

    # --- reading --------------------------------------------------------------------

    def _fill(self) -> None:
        """Begin anew with the last deliveries."""
        self._rows.clear()
        self._at = max(self._inbox.last - _BACK, 0)
        self._rows.extend(self._newer()[0])

    def _newer(self) -> tuple[list[dict[str, Any]], int, int]:
        """Rows that are newer, oldest first; how many there were, and how many were passed over."""
        top = self._inbox.last
        begin = max(self._at, top - _BACK)
        kind, contact = self._chosen[0] or None, contact_of(self._chosen[1]) or None
        newest: deque[Delivery] = deque(maxlen=self._rows.maxlen)
        seen = 0
        for delivery in self._inbox.deliveries(
            since=begin, until=top, kinds=kind, contact=contact, verified=None, repeats=True
        ):
            if any_of_contact(self._events(delivery), contact):
                newest.append(delivery)
                seen += 1
        rows = [delivery_line(one, self._events(one), contact) for one in newest]
        passed, self._at = begin - self._at, top
        return rows, seen, passed

    def _events(self, delivery: Delivery) -> Iterator[Event]:
        return events(delivery, self._inbox.profile)

    def _follow(self, ending: threading.Event) -> None:
        while not ending.wait(_OFTEN):
            try:
                self.look()
                self._say("")
            except ChatkitError as error:  # the database may come back
                self._say(str(error))

    def _end(self) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._ending.set()
        if thread is not threading.current_thread():
            thread.join()

    # --- the page -------------------------------------------------------------------

    def _say(self, problem: str) -> None:
        if problem != self._told:
            self._told = problem
            self.send({"problem": visible(problem)})

    def _show(self, view: str | None) -> None:
        """Give a page all rows; None: every page."""
        self.send({"all": self.rows, "view": view})

    def _heard(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"open": int(delivery), "view": view}:
                self.send({"opened": self._opened(delivery), "view": view})
            case {"here": str(view)}:
                self._views.add(view)
                self._show(view)
                if not self.stopped:
                    self.start()
            case {"gone": str(view)}:
                self._views.discard(view)
                if not self._views:  # nobody looks: the thread ends until somebody does
                    self._end()

    def _opened(self, delivery: int) -> dict[str, Any]:
        try:
            return delivery_view(self._inbox.delivery(delivery), self._inbox.profile)
        except ChatkitError as error:
            return {"id": delivery, "problem": str(error)}

    @steady
    def __repr__(self) -> str:
        rows = self.rows
        doubtful = sum(not row["verified"] for row in rows)
        said = f", {doubtful:,} not verified" if doubtful else ""
        chosen = "".join(f", {visible(one)}" for one in self._chosen if one)
        return f"Tail of the inbox{chosen}: {many(len(rows), 'row')}{said}."

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Follow the inbox as soon as it is shown."""
        if not self.stopped:
            self.start()
        return super()._repr_mimebundle_(**options)

    def _page(self) -> str:
        return lines_html(self.rows[:_FEW], repr(self))
