"""Saving: a plan whose form waits while it is applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from chatkit.errors import InputError
from chatkit.widgets.plan.planview import PlanView

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan


class Moved(InputError):
    """Somebody else has changed a record since its form was opened."""

    def __init__(self) -> None:
        super().__init__(
            "Somebody has changed it meanwhile, and nothing was written over. The form has what "
            "is there now, and your edits: review it again to save those."
        )


class Saving(PlanView):
    """A plan whose form is locked while it is applied, and goes on with what came of it.

    Args:
        plan: What saves the form.
        lock: What lets nobody type, or lets them again.
        then: What is called, with this view, once it was applied or could not be.
    """

    def __init__(
        self, plan: Plan, lock: Callable[[bool], None], then: Callable[[PlanView], None]
    ) -> None:
        self._lock, self._then = lock, then
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
