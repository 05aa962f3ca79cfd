"""Following: the base of widgets that follow an inbox in a thread."""

from __future__ import annotations

import contextvars
import threading
from abc import abstractmethod
from typing import Any

import traitlets

from chatkit.errors import ChatkitError
from chatkit.inbox import Inbox
from chatkit.util.display import visible
from chatkit.widgets.controls import Exported, Model

_POLL_SECONDS = 0.2  #: seconds between two looks: what came in between is one message to the page


class Follower(Exported, Model):
    """Base of widgets that follow an inbox in a thread.

    It ends with `stop()`, with the inbox, or when its output is cleared.

    Args:
        inbox: Where the deliveries lie.
    """

    _thread: threading.Thread | None = None  # here, as what is not whole is closed too

    #: Whether it was stopped.
    stopped = traitlets.Bool(False).tag(sync=True)

    def __init__(self, inbox: Inbox, *arguments: Any, **traits: Any) -> None:
        self._inbox = inbox
        self._looking = threading.RLock()
        self._ending = threading.Event()
        self._views: set[str] = set()
        self._problem = ""
        super().__init__(*arguments, **traits)

    @abstractmethod
    def look(self) -> int:
        """Read new deliveries now, and return their number."""

    @abstractmethod
    def _show_problem(self, problem: str) -> None:
        """Show why the inbox cannot be read; "" if it can."""

    @property
    def running(self) -> bool:
        """True while it follows the inbox."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start to follow the inbox, as showing the widget does."""
        with self._looking:
            self.stopped = False
            if self.running:
                return
            self._ending = ending = threading.Event()
            context = contextvars.copy_context()
            self._thread = threading.Thread(
                target=context.run, args=(self._poll, ending), name="chatkit-tail", daemon=True
            )
            self._thread.start()
            self._inbox._readers.add(self)

    def stop(self) -> None:
        """Stop following, and wait until the thread has ended."""
        self.stopped = True
        self._stop_thread()

    def close(self) -> None:
        """Stop, and remove the widget from the page."""
        self._stop_thread()
        super().close()

    def _poll(self, ending: threading.Event) -> None:
        while not ending.wait(_POLL_SECONDS):
            try:
                self.look()
                self._report_problem("")
            except ChatkitError as error:  # the database may come back
                self._report_problem(str(error))

    def _stop_thread(self) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._ending.set()
        if thread is not threading.current_thread():
            thread.join()

    def _report_problem(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self._show_problem(visible(problem))

    def _receive(self, message: Any) -> None:
        match message:
            case {"here": str(view)}:
                self._views.add(view)
                if not self.stopped:
                    self.start()
            case {"gone": str(view)}:
                self._views.discard(view)
                if not self._views:  # nobody looks: the thread ends until somebody does
                    self._stop_thread()
            case _:
                super()._receive(message)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Start to follow the inbox when the widget is shown."""
        if not self.stopped:
            self.start()
        return super()._repr_mimebundle_(**options)
