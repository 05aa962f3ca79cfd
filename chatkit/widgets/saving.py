"""Saving the fields of a form or an editor: at once, or as a plan that is shown first.

Sent at once, an answer may be lost: then the next click reads the outcome before anything is sent
again. As a plan, a record that somebody else has changed is a conflict, and is not overwritten.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from chatkit.api.record import Record
from chatkit.api.throttle import Throttle
from chatkit.bulk.changes import Change
from chatkit.bulk.endpoints import Key
from chatkit.bulk.outcomes import Row, agrees
from chatkit.bulk.reconcile import Search, ThrottledReader
from chatkit.errors import Conflict, UnknownOutcome
from chatkit.resource import Resource, endpoints_of
from chatkit.widgets.planview import TOOK_EFFECT, PlanView

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan


class UnconfirmedWrite:
    """One create or update that may have taken effect.

    Args:
        resource: The resource of its record.
        key: The key of the updated record; None for a create.
        sent: The fields that were sent.
        taken: The keys that existed before.
        error: The error that lost the answer.
    """

    def __init__(
        self,
        resource: Resource[Any],
        key: Key | None,
        sent: Mapping[str, Any],
        taken: Collection[object],
        error: UnknownOutcome,
    ) -> None:
        self.sent, self.error = sent, error
        self._resource, self._key, self._taken = resource, key, taken
        endpoints = self._endpoints = endpoints_of(resource)
        retry = endpoints.transport.retry
        settle = retry.settle_window(unique=endpoints.unique if key is None else None)
        self._until = time.monotonic() + settle

    def confirm(self) -> Record | None:
        """Read whether it took effect: return the record if it did, None if it never will.

        Raises:
            UnknownOutcome: Nobody can tell yet.
            Conflict: Somebody else has made such a record meanwhile.
            CallError: It cannot be looked for now.
        """
        began = time.monotonic()
        record = self._find_created() if self._key is None else self._find_updated(self._key)
        if record is None and began < self._until:
            seconds = self._until - began
            reason = f"it is not there; it may still take effect for {seconds:.0f} s"
            raise UnknownOutcome(self.error.call, reason)
        return record

    def _find_updated(self, key: Key) -> Record | None:
        record: Record = self._resource.get(key)
        fields = self._endpoints.visible_fields(record)
        took_effect = all(
            agrees(fields[name], value) for name, value in self.sent.items() if name in fields
        )
        return record if took_effect and fields.keys() & self.sent.keys() else None

    def _find_created(self) -> Record | None:
        endpoints = self._endpoints
        key = self.sent[endpoints.key] if endpoints.chosen else None
        row = Row(0, Change(0, "create", key, "", {}, self.sent, endpoints.code))
        reader = ThrottledReader(endpoints.transport, Throttle(8, None), lambda: False)
        search = Search(reader, endpoints)
        verdict = search.find_verdicts([row], self._taken, thorough=not endpoints.unique)[0]
        if verdict.what == "conflict":
            raise Conflict(self.error.call, verdict.reason)
        if verdict.what == "unknown":
            raise UnknownOutcome(self.error.call, verdict.reason)
        if verdict.record is None:
            return None
        record: Record = self._resource.get(getattr(verdict.record, endpoints.key))
        return record


# --- as a plan -----------------------------------------------------------------------------


class OpenedRecord:
    """A record as it was when it was opened, to be saved as a plan; or one that a plan makes.

    Args:
        resource: Where it is, like `client.flows`.
        key: Its key; None while there is no such record.
        hidden: Fields that a service may not show: they count as empty then.
    """

    def __init__(
        self, resource: Resource[Any], key: Key | None, hidden: Iterable[str] = ()
    ) -> None:
        self._resource, self._endpoints = resource, endpoints_of(resource)
        self._key = key
        self._frame = self._endpoints.full([] if key is None else [key])
        for name in hidden:
            if name not in self._frame:
                self._frame[name] = None

    def plan(self, fields: Mapping[str, Any], **options: Any) -> Plan:
        """Plan to write these fields. Nothing is sent before `apply()`.

        Args:
            fields: The fields; None and "" clear one.
            options: What else `plan` of the resource takes.
        """
        if self._key is None:
            return self._resource.plan([fields], **options)
        frame = self._endpoints.with_snapshot(self._frame.copy(), whole=False)
        for name, value in fields.items():
            frame[name] = ["" if value is None else value]
        return self._resource.plan(frame, **options)


class Saving(PlanView):
    """A plan that saves the fields of a form or an editor, and reports back to it.

    Args:
        plan: The plan that saves them.
        then: Called with this view once the plan was applied or could not be.
        lock: Called with True to lock the fields while it is applied, and with False after.
    """

    def __init__(
        self,
        plan: Plan,
        then: Callable[[Saving], object],
        lock: Callable[[bool], object] = bool,
    ) -> None:
        self._then, self._lock = then, lock
        super().__init__(plan)

    @property
    def took_effect(self) -> bool:
        """True if the service now holds the planned values."""
        states = set[str]() if self.result is None else set(self.result["state"])
        return bool(states) and states.issubset(TOOK_EFFECT)

    @property
    def conflict(self) -> bool:
        """True if somebody else has changed the record, so that nothing was written."""
        return self.result is not None and "conflict" in set(self.result["state"])

    def start(self, confirm: str = "") -> None:
        """Begin to apply the plan, and return at once."""
        self._lock(True)
        try:
            super().start(confirm)
        except BaseException:
            self._lock(self.running)
            raise

    def _on_finished(self) -> None:
        super()._on_finished()
        self._lock(False)
        self._then(self)
