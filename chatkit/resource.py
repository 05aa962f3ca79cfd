"""Resource: what all four rooms share; one account's records of one kind."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from chatkit.answer import Envelope
from chatkit.bulk.findings import vet
from chatkit.call import Call
from chatkit.endpoints import Endpoints, Key, R
from chatkit.errors import (
    BadAnswer,
    CallError,
    Fault,
    InputError,
    ListMoved,
    NotFound,
    NotPermitted,
    steady,
)
from chatkit.listing import Listing
from chatkit.progress import Progress
from chatkit.record import described
from chatkit.snapshot import Snapshot, Snapshots
from chatkit.transport import Transport

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.bulk.planner import Existing
    from chatkit.frame import Columns

_FULL_CHUNK = 200


class Resource(Endpoints[R]):
    """One account's records of one kind: read, created, changed and deleted, one or many."""

    def __init_subclass__(cls) -> None:
        """Give each room's create and update the signature and help of its body."""
        super().__init_subclass__()
        for method in (cls.create, cls.update):
            setattr(cls, method.__name__, described(method, cls.body, cls.record))

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport.profile)
        self.transport = transport
        self.snapshots = Snapshots(transport.connection.account, self.noun)

    @steady
    def __repr__(self) -> str:
        return f"<{'/'.join(self.path)} of the account: .frame() shows them>"

    # --- one record -----------------------------------------------------------------

    def get(self, key: Key) -> R:
        """Read one record in full.

        Raises:
            NotFound: There is none with that key.
        """
        call = self.get_call(key)
        return self.read(call, self.transport.send(call), key)

    def create(self, *, broken: bool = False, **fields: Any) -> R:
        """Create a record and return it as the service now has it (read back).

        What is checked before it is sent, and has errors, is sent with `broken=True` only.

        Raises:
            InputError: A field is missing, unknown or wrong, or has errors; nothing was sent.
            Conflict: One with that key exists.
            InDoubt: The answer was lost; the record may exist.
        """
        vet(self, fields, broken=broken, creates=True)
        body = self.body.whole(fields, f"This {self.noun}", self.required())
        call = self.create_call(body)
        envelope = self.transport.send(call)
        return self._read_back(self.key_of(call, envelope, body), call, envelope, body)

    def update(self, key: Key, *, broken: bool = False, **fields: Any) -> R:
        """Change the fields that you pass, and return the record read back.

        What is checked before it is sent, and has errors, is sent with `broken=True` only.

        Raises:
            InputError: A field is unknown, wrong, has errors or cannot be changed; nothing was
                sent.
            NotFound: There is none with that key.
            InDoubt: The answer was lost; the change may have landed.
        """
        live = self._live(key) if self.compared(fields) and self._valid(fields) else None
        vet(self, fields, broken=broken, live=None if live is None else self.shown(live))
        body = self.body.part(fields, f"This {self.noun}")
        carried = self.carried(live or self.get(key)) if self.repeats else {}
        call = self.update_call(key, carried | body)
        envelope = self.transport.send(call)
        return self._read_back(key, call, envelope, body)

    def delete(self, key: Key) -> None:
        """Delete one record.

        Raises:
            NotFound: There is none with that key.
            InDoubt: The answer was lost; it may be gone.
        """
        self.transport.send(self.delete_call(key))

    # --- many records ---------------------------------------------------------------

    def _frame(
        self, filters: Mapping[str, str] = MappingProxyType({}), *, full: bool = False
    ) -> pd.DataFrame:
        """Read the whole list into a DataFrame, indexed by key; `full` reads each record too."""
        from chatkit import accessor
        from chatkit import frame as frames

        accessor.register()
        columns = frames.Columns(frames.kinds(self.record, self.record.listed))
        listing = Listing(
            self.transport,
            lambda page: self.list_call(page, filters),
            columns.add,
            first=self.profile.page_base,
            refuses=self.profile.page_past_end == "refuse",
        )
        try:
            with Progress(f"{self.noun}s") as progress:
                for rows in listing.read():
                    progress.total = listing.total
                    progress.add(rows)
            frame = columns.frame(self.key)
            self._warn_if_moved(listing, frames.repeated(frame))
            frame = frames.without_repeats(frame)
            if full:
                keys = list(frame.index)
                columns = self._full(keys)
                frame = columns.frame(self.key)
                if gone := len(keys) - len(frame):
                    self._warn_moved([f"{gone} of {len(keys)} were gone when each was read"])
            frame = self._uniform(frame)
            self._warn_if_missing([n for n in columns.missing if frame[n].isna().all()])
        except frames.WrongRows as error:
            reason = f"the list is not as documented: {error}"
            raise BadAnswer(self.list_call(filters=filters), reason) from None
        nested = self.body.updatable()
        return self.snapshots.keep(self._finished(frame), whole=not filters, nested=nested)

    def _full(self, keys: list[Key]) -> Columns:
        """Read each of these records in full, several at once, in the order of the keys."""
        from chatkit import frame as frames

        columns = frames.Columns(frames.kinds(self.record, self._shown()))
        try:
            with Progress(f"{self.noun}s", len(keys)) as progress:
                for page in _pages(self._read_all(keys)):
                    progress.add(columns.add(page))
        except frames.WrongRows as error:
            reason = f"the {self.noun} is not as documented: {error}"
            raise BadAnswer(self.get_call(keys[0]), reason) from None
        return columns

    def _read_all(self, keys: list[Key]) -> Iterator[msgspec.Raw]:
        """Yield the data of each record in the order of its key; one that is gone is left out.

        Raises:
            BadAnswer: An answer is about another record than the one that was asked for.
        """
        key_of = msgspec.json.Decoder(msgspec.defstruct("Keyed", [(self.key, Any)]))
        place = {self.get_call(key).target: n for n, key in enumerate(keys)}
        waiting: dict[int, msgspec.Raw | None] = {}
        due = 0
        for outcome in self.transport.send_all(map(self.get_call, keys)):
            if isinstance(outcome, Fault):
                if not isinstance(outcome.error, NotFound):
                    raise outcome.error
                waiting[place[outcome.call.target]] = None
            else:
                waiting[place[outcome[0].target]] = outcome[1].data
            while due in waiting:
                data = waiting.pop(due)
                due += 1
                if data is not None:
                    self._check_key(key_of, data, keys[due - 1])
                    yield data

    def _check_key(self, key_of: msgspec.json.Decoder[Any], data: msgspec.Raw, key: Key) -> None:
        with suppress(msgspec.DecodeError, UnicodeDecodeError):  # the columns refuse what it is
            found = getattr(key_of.decode(data), self.key)
            if str(found) != str(key):
                self.same_key(self.get_call(key), found, key)

    def _shown(self) -> list[str]:
        """Name the fields that `get` shows: the columns of a full frame."""
        return list(self.record.model_fields)

    def _uniform(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Bring what services show in several forms into one. Most show one only."""
        return frame

    def _finished(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add the columns a room derives. Most derive none."""
        return frame

    # --- plans ----------------------------------------------------------------------

    def plan(
        self,
        frame: pd.DataFrame | None = None,
        delete: Iterable[Any] | None = None,
        *,
        existing: Existing = "fill",
        skip_invalid: bool = False,
        other_account: bool = False,
        duplicates: bool = False,
        broken: bool = False,
    ) -> Plan:
        """Show what an edited frame would change. Nothing is sent before `plan.apply()`.

        A row with a key is an edit of that record. A row without one becomes a create, unless
        a record exists that it names (by number, name or address): `existing` says what
        becomes of that. Only edited cells that can be written count. An empty cell (NA) and an
        absent column are left alone, `""` clears a field. A row that is missing from the frame
        is not deleted: name it in `delete`, or set a column `delete`.

        Args:
            frame: What `frame()` gave, edited; or a frame of your own.
            delete: Keys of records to delete, or a frame that holds them.
            existing: What becomes of an existing record that a row without a key names:
                "fill" writes only fields that are empty there and shows the others as
                skipped, with both values; "update" writes what the row says; "skip" writes
                nothing; "refuse" refuses the rows that differ. A number with another country
                code is a conflict in any case.
            skip_invalid: Plan the good rows although others cannot be planned.
            other_account: Take a frame of another account: its ids, and what the service
                sets, are ignored.
            duplicates: Make new records although there are some of the same name, where the
                service takes them.
            broken: Plan what has errors, too.

        Raises:
            InputError: The frame as a whole cannot be planned. Single cells that cannot are
                in `plan.refused`.
        """
        from chatkit.bulk.planner import make_plan

        return make_plan(
            self,
            self,
            frame,
            delete,
            existing=existing,
            skip_invalid=skip_invalid,
            other_account=other_account,
            duplicates=duplicates,
            broken=broken,
        )

    def of(self, code: str | None) -> Self:
        """Return the room of a template code: itself, for it has one at most."""
        return self

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return what a frame was when it was read, or else what is there now."""
        known = None if frame is None or now else self.snapshots.of(frame)
        return known or Snapshot(self._frame(), whole=True, now=True)

    def full(self, keys: Sequence[Key]) -> pd.DataFrame:
        """Read these records in full into a frame indexed by key; those that are gone are not.

        What no record shows is no column: a plan could not tell it from nothing.
        """
        columns = self._full(list(keys))
        frame = columns.frame(self.key)
        return self._uniform(frame.drop(columns=columns.missing))

    # --- helpers --------------------------------------------------------------------

    def _valid(self, fields: Mapping[str, Any]) -> bool:
        """Whether each of these fields may be sent: what may not is told before anything is."""
        try:
            self.body.part(fields, "")
        except InputError:
            return False
        return True

    def _live(self, key: Key) -> R | None:
        """Read a record that an update is checked with; None if this token may not read it."""
        try:
            return self.get(key)
        except NotPermitted:
            return None

    def _warn_if_missing(self, fields: Sequence[str]) -> None:
        if fields:
            warnings.warn(
                f"The service sent no {', '.join(fields)} for its {self.noun}s: "
                "the columns are empty.",
                stacklevel=4,
            )

    def _warn_if_moved(self, listing: Listing, doubles: int) -> None:
        odd = listing.moved
        if doubles:
            odd.append(f"{doubles} rows came twice")
        if listing.total not in (None, different := listing.rows - doubles):
            odd.append(f"{different} different rows came of {listing.total}")
        if odd:
            self._warn_moved(odd)

    def _warn_moved(self, odd: Sequence[str]) -> None:
        warnings.warn(
            f"The list of {self.noun}s moved while it was read: {'; '.join(odd)}. "
            "Read it again when it is quiet.",
            ListMoved,
            stacklevel=5,
        )

    def _read_back(self, key: Key, call: Call, envelope: Envelope, body: Mapping[str, Any]) -> R:
        """Read what the service made of a write: its answer may hold an id and nothing more.

        A write that landed is never reported as failed because reading it back was.
        """
        try:
            return self.get(key)
        except CallError as error:
            warnings.warn(
                f"{call} is done, but cannot be read back ({error.reason}): fields that the "
                "answer did not hold are empty.",
                stacklevel=4,
            )
            return self._answered(key, call, envelope)

    def _answered(self, key: Key, call: Call, envelope: Envelope) -> R:
        """Take from the answer to a write what it tells of its record: its key at least."""
        bare = {self.key: key}
        try:
            answered = msgspec.json.decode(envelope.data)
            known = answered if isinstance(answered, dict) else {}
            return self.one(call, msgspec.Raw(msgspec.json.encode(known | bare)))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, BadAnswer):
            return self.one(call, msgspec.Raw(msgspec.json.encode(bare)))


def _pages(rows: Iterable[msgspec.Raw]) -> Iterator[bytes]:
    """Join single records to JSON arrays of a good size."""
    chunk: list[bytes] = []
    for row in rows:
        chunk.append(bytes(row))
        if len(chunk) == _FULL_CHUNK:
            yield b"[" + b",".join(chunk) + b"]"
            chunk = []
    if chunk:
        yield b"[" + b",".join(chunk) + b"]"
