"""Saving what a form or an editor holds: at once, or as a plan that is shown first.

Sent at once, an answer may be lost: then the next click looks what came of it before anything
is sent again. As a plan, what somebody else has changed meanwhile is a conflict, and is not
written over.
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
        resource: Where its record would be.
        key: The record of an update; None for a create.
        sent: What was sent.
        taken: The keys that were there before.
        error: How the answer was lost.
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
        settle = endpoints.transport.retry.settle_window(
            create=key is None, unique=endpoints.unique
        )
        self._until = time.monotonic() + settle

    def look(self) -> Record | None:
        """Look whether it took effect: the record if it did, None if it never will.

        Raises:
            UnknownOutcome: Nobody can tell yet.
            Conflict: Somebody else has made such a record meanwhile.
            CallError: It cannot be looked for now.
        """
        began = time.monotonic()
        record = self._created() if self._key is None else self._updated(self._key)
        if record is None and began < self._until:
            seconds = self._until - began
            raise self._unclear(f"it is not there; it may still take effect for {seconds:.0f} s")
        return record

    def _updated(self, key: Key) -> Record | None:
        record: Record = self._resource.get(key)
        fields = self._endpoints.visible_fields(record)
        took_effect = all(
            agrees(fields[name], value) for name, value in self.sent.items() if name in fields
        )
        return record if took_effect and fields.keys() & self.sent.keys() else None

    def _created(self) -> Record | None:
        endpoints = self._endpoints
        key = self.sent[endpoints.key] if endpoints.chosen else None
        row = Row(0, Change(0, "create", key, "", {}, self.sent, endpoints.code))
        search = Search(
            ThrottledReader(endpoints.transport, Throttle(8, None), lambda: False), endpoints
        )
        verdict = search.look([row], self._taken, thorough=not endpoints.unique)[0]
        if verdict.what == "conflict":
            raise Conflict(self.error.call, verdict.reason)
        if verdict.what == "unknown":
            raise self._unclear(verdict.reason)
        if verdict.record is None:
            return None
        record: Record = self._resource.get(getattr(verdict.record, endpoints.key))
        return record

    def _unclear(self, reason: str) -> UnknownOutcome:
        return UnknownOutcome(self.error.call, reason)


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
        frame = self._endpoints.kept(self._frame.copy(), whole=False)
        for name, value in fields.items():
            frame[name] = ["" if value is None else value]
        return self._resource.plan(frame, **options)


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
        then: Callable[[Saving], object],
        lock: Callable[[bool], object] = bool,
    ) -> None:
        self._then, self._lock = then, lock
        super().__init__(plan)

    @property
    def took_effect(self) -> bool:
        """True if the service holds now what was planned."""
        states = set[str]() if self.result is None else set(self.result["state"])
        return bool(states) and states.issubset(TOOK_EFFECT)

    @property
    def conflict(self) -> bool:
        """True if somebody else has changed it meanwhile, so that nothing was written."""
        return self.result is not None and "conflict" in set(self.result["state"])

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
