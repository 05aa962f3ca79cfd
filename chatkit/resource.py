"""Resource: what all four rooms share; one account's records of one kind."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

import msgspec
from pydantic import TypeAdapter, ValidationError

from chatkit.answer import Envelope
from chatkit.call import Call
from chatkit.errors import (
    BadAnswer,
    CallError,
    Fault,
    InputError,
    ListMoved,
    NotFound,
    Problem,
)
from chatkit.listing import Listing
from chatkit.progress import Progress
from chatkit.record import Body, Record, described
from chatkit.transport import Transport

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.frame import Columns

R = TypeVar("R", bound=Record)
Key = int | str

_FULL_CHUNK = 200


class Resource(Generic[R]):
    """One account's records of one kind. A room declares the class variables, little more.

    Every operation is made as a `Call` by one method; whoever sends it (one by one here,
    many at once for a frame) uses that same method.
    """

    path: tuple[str, ...]
    noun: ClassVar[str]  #: one record, for messages: "contact"
    record: ClassVar[type[Record]]
    body: ClassVar[type[Body]]
    key: ClassVar[str] = "id"
    paged: ClassVar[bool] = True
    update_method: ClassVar[str] = "PUT"
    _many: ClassVar[TypeAdapter[Any]]

    def __init_subclass__(cls) -> None:
        """Give each room's create and update the signature and help of its body."""
        for method in (cls.create, cls.update):
            setattr(cls, method.__name__, described(method, cls.body, cls.record))
        cls._many = TypeAdapter(list[cls.record])  # type: ignore[name-defined]

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._profile = transport.profile

    def __repr__(self) -> str:
        return f"<{'/'.join(self.path)} of the account: .frame() shows them>"

    # --- calls ----------------------------------------------------------------------

    def list_call(
        self, page: int | None = None, filters: Mapping[str, str] = MappingProxyType({})
    ) -> Call:
        """Make the call for one page of the list."""
        query: dict[str, str | int] = dict(filters)
        if self.paged:
            query |= {
                "page": self._profile.page_base if page is None else page,
                "pageSize": self._profile.max_page_size,
            }
        return Call("GET", self.path, query)

    def get_call(self, key: Key) -> Call:
        """Make the call that reads one record."""
        return Call("GET", (*self.path, self._checked(key)))

    def create_call(self, body: Mapping[str, Any]) -> Call:
        """Make the call that creates a record."""
        return Call("POST", self.path, body=body)

    def update_call(self, key: Key, body: Mapping[str, Any]) -> Call:
        """Make the call that updates a record."""
        return Call(self.update_method, (*self.path, self._checked(key)), body=body)

    def delete_call(self, key: Key) -> Call:
        """Make the call that deletes a record."""
        return Call("DELETE", (*self.path, self._checked(key)))

    # --- one record -----------------------------------------------------------------

    def get(self, key: Key) -> R:
        """Read one record in full.

        Raises:
            NotFound: There is none with that key.
        """
        call = self.get_call(key)
        return self._record(call, self._transport.send(call).data)

    def create(self, **fields: Any) -> R:
        """Create a record and return it as the service now has it (read back).

        Raises:
            InputError: A field is missing, unknown or wrong; nothing was sent.
            Conflict: One with that key exists.
            InDoubt: The answer was lost; the record may exist.
        """
        body = self.body.whole(fields, f"This {self.noun}", self._required())
        call = self.create_call(body)
        envelope = self._transport.send(call)
        return self._read_back(self._key_of(call, envelope, body), call, envelope, body)

    def update(self, key: Key, **fields: Any) -> R:
        """Change the fields that you pass, and return the record read back.

        Raises:
            InputError: A field is unknown, wrong or cannot be changed; nothing was sent.
            NotFound: There is none with that key.
            InDoubt: The answer was lost; the change may have landed.
        """
        body = self.body.part(fields, f"This {self.noun}")
        call = self.update_call(key, self._carried(key) | body)
        envelope = self._transport.send(call)
        return self._read_back(key, call, envelope, body)

    def delete(self, key: Key) -> None:
        """Delete one record.

        Raises:
            NotFound: There is none with that key.
            InDoubt: The answer was lost; it may be gone.
        """
        self._transport.send(self.delete_call(key))

    # --- many records ---------------------------------------------------------------

    def _frame(
        self, filters: Mapping[str, str] = MappingProxyType({}), *, full: bool = False
    ) -> pd.DataFrame:
        """Read the whole list into a DataFrame, indexed by key; `full` reads each record too."""
        from chatkit import frame as frames

        columns = frames.Columns(frames.kinds(self.record, self.record.listed))
        listing = Listing(
            self._transport,
            lambda page: self.list_call(page, filters),
            columns.add,
            first=self._profile.page_base,
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
            self._warn_if_missing(columns.missing)
        except frames.WrongRows as error:
            reason = f"the list is not as documented: {error}"
            raise BadAnswer(self.list_call(filters=filters), reason) from None
        return self._finished(frame)

    def _full(self, keys: list[Key]) -> Columns:
        """Read each of these records in full, several at once, in the order of the keys."""
        from chatkit import frame as frames

        columns = frames.Columns(frames.kinds(self.record, self._shown()))
        with Progress(f"{self.noun}s", len(keys)) as progress:
            for page in _pages(self._read_all(keys)):
                progress.add(columns.add(page))
        return columns

    def _read_all(self, keys: list[Key]) -> Iterator[msgspec.Raw]:
        """Yield the data of each record in the order of its key; one that is gone is left out."""
        place = {self.get_call(key).target: n for n, key in enumerate(keys)}
        waiting: dict[int, msgspec.Raw | None] = {}
        due = 0
        for outcome in self._transport.send_all(map(self.get_call, keys)):
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
                    yield data

    def _shown(self) -> list[str]:
        """Name the fields that `get` shows: the columns of a full frame."""
        return list(self.record.model_fields)

    def _finished(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add the columns a room derives. Most derive none."""
        return frame

    # --- helpers --------------------------------------------------------------------

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

    def _checked(self, key: Key) -> Key:
        """Check a key before it becomes part of a path: an id is a whole number."""
        if self.key != "id":
            return key
        if isinstance(key, str) and key.isascii() and key.isdigit():
            return int(key)
        if isinstance(key, bool) or not hasattr(key, "__index__"):
            raise InputError(f"The id of a {self.noun} is a whole number, not {key!r}.")
        return int(key)

    def _search(self, text: str | None) -> dict[str, str]:
        """Make the filter of a search, if this service's lists can search."""
        if text is None:
            return {}
        if self._profile.search_param is None:
            problem = Problem("search", repr(text), "the profile has no search_param")
            raise InputError("This list cannot be searched:", [problem])
        return {self._profile.search_param: text}

    def _record(self, call: Call, data: msgspec.Raw) -> R:
        return self._records(call, msgspec.Raw(b"[" + bytes(data) + b"]"))[0]

    def _records(self, call: Call, data: msgspec.Raw) -> list[R]:
        try:
            return cast(list[R], self._many.validate_json(bytes(data)))
        except ValidationError as error:
            odd = "; ".join(
                f"{'.'.join(map(str, e['loc'][1:])) or 'data'}: {e['msg']}"
                for e in error.errors(include_url=False, include_input=False)
            )
            raise BadAnswer(call, f"the {self.noun} is not as documented: {odd}") from None

    def _key_of(self, call: Call, envelope: Envelope, body: Mapping[str, Any]) -> Key:
        """Find the key of what was just created."""
        if self.key in body:
            return cast(Key, body[self.key])
        return cast(Key, getattr(self._record(call, envelope.data), self.key))

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
            answered = msgspec.json.decode(envelope.data)
            known = answered if isinstance(answered, dict) else {}
            return self._record(call, msgspec.Raw(msgspec.json.encode(known | {self.key: key})))

    def _carried(self, key: Key) -> dict[str, Any]:
        """Collect the fields an update must send although nobody changed them.

        None where a PUT merges. Where it replaces, everything that can be sent and every
        field the document does not know, so that nothing is cleared.
        """
        replaces = self._profile.put == "replace"
        if self.update_method != "PUT" or not (
            replaces or self._profile.put_requires == "create_fields"
        ):
            return {}
        live = self._sendable(self.get(key))
        if replaces:
            return live
        return {n: v for n, v in live.items() if n in self._required()}

    def _required(self) -> list[str]:
        """Name the fields that a create requires."""
        return self.body.required()

    def _sendable(self, live: R) -> dict[str, Any]:
        """Pick from a live record what a replacing update must repeat."""
        sendable = set(self.body.updatable())
        if self._profile.unknown_fields == "ignore":
            sendable |= set(live.model_extra or ()) - set(self.body.model_fields)
        fields = live.model_dump(mode="json", exclude_unset=True)
        return {n: v for n, v in fields.items() if n in sendable}


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
