"""Unknown outcome of a call of a form: its answer was lost, so look before it is sent again."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any

from chatkit.bulk.apply import SETTLE, SETTLE_DUPLICABLE
from chatkit.bulk.journal import Change
from chatkit.bulk.outcomes import Row, agrees
from chatkit.bulk.reconcile import Search, ThrottledReader
from chatkit.endpoints import Key
from chatkit.errors import Conflict, InDoubt
from chatkit.record import Record
from chatkit.resource import Resource, endpoints_of
from chatkit.throttle import Throttle


class UnknownOutcome:
    """One create or update that may have landed.

    Args:
        room: Where its record would be.
        key: The record of an update; None for a create.
        sent: What was sent.
        taken: The keys that were there before.
        error: How the answer was lost.
    """

    def __init__(
        self,
        room: Resource[Any],
        key: Key | None,
        sent: Mapping[str, Any],
        taken: Collection[object],
        error: InDoubt,
    ) -> None:
        self.sent, self.error = sent, error
        self._room, self._key, self._taken = room, key, taken
        endpoints = self._endpoints = endpoints_of(room)
        if key is not None:
            settle = SETTLE
        elif endpoints.unique:  # sent again, the later of the two is refused
            settle = 0.0
        else:  # nothing keeps a second one out: it must be certain that the first is not there
            settle = endpoints.transport.deadline + SETTLE_DUPLICABLE
        self._until = time.monotonic() + settle

    def look(self) -> Record | None:
        """Look whether it has landed: the record if it has, None if it never will.

        Raises:
            InDoubt: Nobody can tell yet.
            Conflict: Somebody else has made such a record meanwhile.
            CallError: It cannot be looked for now.
        """
        began = time.monotonic()
        record = self._created() if self._key is None else self._updated(self._key)
        if record is None and began < self._until:
            seconds = self._until - began
            raise self._unclear(f"it is not there; it may still land for {seconds:.0f} s")
        return record

    def _updated(self, key: Key) -> Record | None:
        record: Record = self._room.get(key)
        there = self._endpoints.shown(record)
        landed = all(
            agrees(there[name], value) for name, value in self.sent.items() if name in there
        )
        return record if landed and there.keys() & self.sent.keys() else None

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
        found: Record = self._room.get(getattr(verdict.record, endpoints.key))
        return found

    def _unclear(self, reason: str) -> InDoubt:
        return InDoubt(self.error.call, reason)
