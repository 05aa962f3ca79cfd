"""A widget that follows an inbox: while it is shown, a thread looks for what has come."""

from __future__ import annotations

import contextvars
import threading
from abc import abstractmethod
from typing import Any

import anywidget
import traitlets

from chatkit.errors import ChatkitError
from chatkit.inbox import Inbox
from chatkit.util.display import visible
from chatkit.widgets.controls import Exported

_OFTEN = 0.2  #: seconds between two looks: what came in between is one message to the page


class Follower(Exported, anywidget.AnyWidget):
    """Follows an inbox in a thread of its own.

    It ends with `stop()`, with the inbox, or when its output is cleared.

    Args:
        inbox: Where the deliveries lie.
    """

    _thread: threading.Thread | None = None  # here, as what is not whole is closed too

    #: Whether it was stopped.
    stopped = traitlets.Bool(False).tag(sync=True)

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._looking = threading.RLock()
        self._ending = threading.Event()
        self._views: set[str] = set()
        self._problem = ""
        super().__init__(**self._begin())
        self.on_msg(self._receive)

    @abstractmethod
    def _begin(self) -> dict[str, Any]:
        """Read what is there, and return what the page begins with."""

    @abstractmethod
    def look(self) -> int:
        """Look for new deliveries now, and return how many there were."""

    @abstractmethod
    def _show(self, view: str | None) -> None:
        """Give a page all that is shown; None: every page."""

    def _handle(self, message: Any) -> None:
        """Do what a page asks for."""

    @property
    def running(self) -> bool:
        """True while it follows the inbox."""
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
            self._inbox._readers.add(self)

    def stop(self) -> None:
        """Follow no more; when this returns the thread has ended. A second call does nothing."""
        self.stopped = True
        self._end()

    def close(self) -> None:
        """Stop, and take the widget out of the page."""
        self._end()
        super().close()

    def _follow(self, ending: threading.Event) -> None:
        while not ending.wait(_OFTEN):
            try:
                self.look()
                self._report("")
            except ChatkitError as error:  # the database may come back
                self._report(str(error))

    def _end(self) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._ending.set()
        if thread is not threading.current_thread():
            thread.join()

    def _report(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self.send({"problem": visible(problem)})

    def _receive(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"here": str(view)}:
                self._views.add(view)
                self._show(view)
                if not self.stopped:
                    self.start()
            case {"gone": str(view)}:
                self._views.discard(view)
                if not self._views:  # nobody looks: the thread ends until somebody does
                    self._end()
            case _:
                self._handle(message)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Follow the inbox as soon as it is shown."""
        if not self.stopped:
            self.start()
        return super()._repr_mimebundle_(**options)
