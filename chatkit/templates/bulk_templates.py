"""Bulk templates: where plans for many templates read and write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from chatkit.errors import InputError
from chatkit.snapshot import Snapshot, Snapshots
from chatkit.templates.codes import given
from chatkit.templates.contents import ContentBody, ContentEndpoints
from chatkit.transport import Transport

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.bulk.planner import Existing
    from chatkit.templates.frames import Reading


class BulkTemplates:
    """The endpoints of all templates of an account, as one source of a plan.

    Args:
        transport: Sends the calls.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._opened: dict[str, ContentEndpoints] = {}
        self._snapshots = Snapshots(transport.connection.account, ContentEndpoints.noun)

    def of(self, code: str | None) -> ContentEndpoints:
        """Return the endpoints of a template code.

        Raises:
            InputError: It can be no code, like `' '` or `'..'`; nothing was sent.
        """
        if code is None:
            raise ValueError("a content belongs to a template code")
        if code not in self._opened:
            given([code])
        return self._opened.setdefault(code, ContentEndpoints(self.transport, code))

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return what a frame was when it was read, or else what is there now."""
        from chatkit.frame import column_or_level

        kept = None if frame is None or now else self._snapshots.of(frame)
        if kept is not None:
            return kept
        named = None if frame is None else column_or_level(frame, "template_code")
        if named is None or not named.notna().any():
            raise InputError(
                "A plan for several templates needs their codes, in a column or a level of the "
                'index called template_code; templates("code").plan(frame) is for one of them.'
            )
        codes = [code for code in dict.fromkeys(named) if isinstance(code, str) and code]
        return Snapshot(self.reading(codes).frame(), whole=True, now=True)

    def full(self, keys: Sequence[tuple[str, str]]) -> pd.DataFrame:
        """Read these contents in full."""
        from chatkit.templates.frames import Reading

        reading = Reading(self.transport, [])
        columns, frame = reading.contents([(self.of(code), lang) for code, lang in keys])
        return frame.drop(columns=columns.missing)

    def reading(self, codes: Iterable[str]) -> Reading:
        """Begin to read the contents of these templates."""
        from chatkit import accessor
        from chatkit.templates.frames import Reading

        accessor.register()
        return Reading(self.transport, [self.of(code) for code in codes])

    def kept(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Remember a frame as it was read, and return it."""
        return self._snapshots.keep(frame, whole=True, nested=ContentBody.updatable())

    def planned(
        self,
        frame: pd.DataFrame,
        *,
        notes: Callable[[], list[str]] = list,
        source: str = "en",
        wanted: Collection[str] = (),
        existing: Existing = "update",
        skip_invalid: bool = False,
        other_account: bool = False,
        broken: bool = False,
    ) -> Plan:
        """Plan an edited frame, and say what the rules say of it.

        Args:
            frame: The edited frame.
            notes: What else is to be said, before that.
            source: The language that the others are translated from.
            wanted: Codes of findings that are no news.
            existing: As for a plan.
            skip_invalid: As for a plan, like the others.
            other_account: As for a plan.
            broken: As for a plan.
        """
        from chatkit.bulk.planner import make_plan

        any_of_them = ContentEndpoints(self.transport, "any")
        any_of_them.source, any_of_them.wanted = source, wanted
        plan = make_plan(
            self,
            any_of_them,
            frame,
            existing=existing,
            skip_invalid=skip_invalid,
            other_account=other_account,
            broken=broken,
        )
        plan.notes[:0] = notes()
        return plan
