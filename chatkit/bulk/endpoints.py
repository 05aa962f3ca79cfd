"""Endpoints: the calls of one resource, what their answers mean, and its records as frames.

What plans, runs, forms and grids work with; `chatkit.resource` is what people use of it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    cast,
)

import msgspec
from pydantic import ValidationError

from chatkit.api.answer import Envelope
from chatkit.api.call import Call
from chatkit.api.connection import describe_account
from chatkit.api.listing import ListReader, Sender, join_into_pages, send_in_order
from chatkit.api.record import Body, Record, is_whole_float
from chatkit.api.secret import has_mask
from chatkit.api.transport import Transport
from chatkit.bulk.changes import Change
from chatkit.errors import BadAnswer, InputError, ListMoved, NotFound, Problem, Refused
from chatkit.frames.snapshot import Snapshot, get_snapshot, keep_snapshot
from chatkit.util.display import format_label, many
from chatkit.util.progress import Forecast, Progress

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.frames.frame import Columns
    from chatkit.report import Finding

R = TypeVar("R", bound=Record)
Key = int | str
#: What becomes of a record that a row without a key has met; `Resource.plan` explains them.
Existing = Literal["fill", "update", "skip", "refuse"]
#: Reads records in full, by their keys, into a frame indexed like the one that they are of.
ReadFull: TypeAlias = "Callable[[Sequence[Any]], pd.DataFrame]"
#: The noun of a plan and of a run whose changes belong to several resources of an account.
ACCOUNT = "account"
#: How well a change can be undone, and why not exactly.
Undo = tuple[Literal["exactly", "not exactly", "never"], str]


class Declaration:
    """A resource as data: the attributes that its module sets."""

    path: tuple[str, ...]
    noun: ClassVar[str]  #: one record, for messages: "contact"
    attribute: ClassVar[str]  #: what a client calls the resource: "contacts"
    record: ClassVar[type[Record]]
    body: ClassVar[type[Body]]
    key: ClassVar[str] = "id"
    paged: ClassVar[bool] = True
    update_method: ClassVar[str] = "PUT"
    unique: ClassVar[bool] = False  #: whether the service refuses a second record of one name
    restores: ClassVar[bool] = False  #: whether creating a deleted record brings it back
    natural_key: ClassVar[tuple[str, ...]]  #: the fields that name a record for people
    instead: ClassVar[Mapping[str, str]] = {}  #: what to edit in place of what cannot be written
    lost: ClassVar[str] = ""  #: what is lost with the answer to a create
    #: What a form for a new record begins with in fields that a create requires.
    defaults: ClassVar[Mapping[str, Any]] = {}
    most: ClassVar[int | None] = None  #: how many an account may have
    #: What people call fields whose names do not say it.
    labels: ClassVar[Mapping[str, str]] = {}
    #: How a column of numbers becomes texts.
    as_text_advice: ClassVar[str] = "read it as text, like pd.read_csv(path, dtype=str)"
    file_call: ClassVar[str] = "pd.read_excel({}, dtype=str)"  #: reads a frame from a file
    documents: ClassVar[frozenset[str]] = frozenset()  #: fields that `findings` looks into
    #: Why errors stop a plan or a call, unless `broken=True` lets them pass.
    refuses: ClassVar[str] = ""
    chosen: ClassVar[bool] = False  #: whether who creates a record chooses its key
    #: What becomes of a record that a row without a key names, unless a plan says it.
    existing: ClassVar[Existing] = "fill"
    when_long: ClassVar[str] = ""  #: what to do about a list that takes long to read
    code: str | None = None  #: the template code, for contents
    #: The field that has another value after each change of a record; "" if there is none.
    version: ClassVar[str] = "updated_at"
    #: Fields that tell how well a change can be undone.
    lossy_fields: ClassVar[tuple[str, ...]] = ()
    #: The columns that name a record in every account, and what joins them to one text.
    account_key: ClassVar[tuple[str, ...]]
    separator: ClassVar[str] = "/"
    #: Where a folder keeps the records: a file for each, or one file for all of them.
    file: ClassVar[str]
    file_defaults: ClassVar[Mapping[str, Any]] = {}  #: what a file need not contain
    repeated: ClassVar[frozenset[str]] = frozenset()  #: fields that only repeat others
    #: Fields that an account's state has although they are as the service would set them.
    always: ClassVar[frozenset[str]] = frozenset()
    hidden: ClassVar[frozenset[str]] = frozenset()  #: fields that a service may not show
    unordered: ClassVar[frozenset[str]] = frozenset()  #: lists whose order has no meaning
    #: Whether the records are persons: read only where that is asked for, and kept as a table.
    personal: ClassVar[bool] = False
    detailed: bool = False  #: whether `get` shows more of what can be sent than a list
    lists_deleted: bool = False  #: whether a list shows deleted records too
    reads_deleted: bool = False  #: whether `get` does

    @property
    def place(self) -> str:
        """The code by which a person reaches these records."""
        return f"client.{self.noun}s"

    @classmethod
    @lru_cache(4096)  # a plan has the same fields in each of its rows
    def format_label(cls, place: str) -> str:
        """Return what people call a field, or a place in one: "Draft", "Button 2, label"."""
        name, *steps = re.split("[./]", place)
        label = cls.labels.get(name) or format_label(name)
        if name in cls.documents and steps:
            return f"{label} /{'/'.join(steps)}"
        if name == "variables" and steps:  # what follows is the name of a placeholder
            return "{{" + place[len("variables/") :] + "}}"
        if steps and steps[0].isdecimal() and label.endswith("s"):
            one = re.sub("ies$", "y", label).removesuffix("s")
            label = f"{one} {int(steps.pop(0)) + 1}"
        inner = [cls.labels.get(step) or format_label(step) for step in steps]
        # "label", but "URL"
        inner = [one[0].lower() + one[1:] if one[1:2].islower() else one for one in inner]
        return ", ".join([label, *inner])


class Endpoints(Declaration, Generic[R]):
    """A resource for the engine: its declaration with calls, answers, frames and checks.

    One method makes the `Call` of each operation: for single calls, for frames that send many at
    once, and for runs with a journal.

    Args:
        transport: Sends the calls.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.profile = transport.profile

    # --- calls ---

    def list_call(
        self, page: int | None = None, filters: Mapping[str, str] = MappingProxyType({})
    ) -> Call:
        """Make the call for one page of the list."""
        query: dict[str, str | int] = dict(filters)
        if self.paged:
            query |= {
                "page": self.profile.page_base if page is None else page,
                "pageSize": self.profile.max_page_size,
            }
        return Call("GET", self.path, query)

    def list_reader(
        self,
        add: Callable[[msgspec.Raw], int],
        filters: Mapping[str, str] = MappingProxyType({}),
        *,
        sender: Sender | None = None,
    ) -> ListReader:
        """Make the reader of all pages of the list.

        Args:
            add: Takes each page and returns its row count.
            filters: The parameters of the list.
            sender: Sends the calls, in place of the transport.
        """
        return ListReader(
            sender or self.transport,
            lambda page: self.list_call(page, filters),
            add,
            first=self.profile.page_base,
            refuses=self.profile.page_past_end == "refuse",
        )

    def get_call(self, key: Key) -> Call:
        """Make the call that reads one record."""
        return Call("GET", (*self.path, self.validate_key(key)))

    def create_call(self, body: Mapping[str, Any]) -> Call:
        """Make the call that creates a record."""
        return Call("POST", self.path, body=self._format_body(body))

    def update_call(self, key: Key, body: Mapping[str, Any]) -> Call:
        """Make the call that updates a record."""
        return Call(
            self.update_method, (*self.path, self.validate_key(key)), body=self._format_body(body)
        )

    def _format_body(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Convert the fields of a record to the form of this service. Most need no conversion."""
        return body

    def delete_call(self, key: Key) -> Call:
        """Make the call that deletes a record."""
        return Call("DELETE", (*self.path, self.validate_key(key)))

    def make_existence_call(self, key: Key, live: Mapping[str, Any]) -> Call:
        """Make the call that checks whether a record, which was read before, is still there."""
        return self.get_call(key)

    def validate_key(self, key: Key | float) -> Key:
        """Return a key as it can be part of a path: an id is a whole number, 0 or more.

        Digits as text are taken (some services print ids so), and whole floats below 2**53,
        which is what pandas makes of ids beside NA. What could be another record's id once
        it is read as a number is refused: `'01'`, `' 1'`, `True`, `1.5`.

        Raises:
            InputError: It can be no id; nothing was sent.
        """
        if self.key != "id":
            return cast(Key, key)
        number = parse_id(key)
        if number is not None and number >= 0:
            return number
        reason = f": {self.place}.frame() lists the ids"
        if number is not None:
            reason = ": it is negative, and ids are 0 or more"
        elif isinstance(key, str) and re.fullmatch("0[0-9]+", key):
            reason = f": write {int(key)}, without the leading zero, if that is meant"
        elif isinstance(key, str) and key.strip() != key:
            reason = ": remove the space at its beginning or end"
        raise InputError(f"The id of a {self.noun} is a whole number, not {key!r:.60}{reason}.")

    def search(self, text: str | None) -> dict[str, str]:
        """Return the filter of a search, if this service's lists can search."""
        return self.filter("search", text, "searched")

    def filter(self, field: str, value: str | None, verb: str) -> dict[str, str]:
        """Return the filter of a list by a parameter that the profile names.

        Args:
            field: The parameter in the profile, without `_param`: "search".
            value: The value to filter for; None for all records.
            verb: The action that needs the parameter, for the message: "searched".

        Raises:
            InputError: The profile does not name the parameter.
        """
        if value is None:
            return {}
        parameter = f"{field}_param"
        name: str | None = getattr(self.profile, parameter)
        if name is not None:
            return {name: value}
        reason = (
            "the API document does not name the parameter: "
            f"set {parameter} in the ServiceProfile of the client"
        )
        raise InputError(f"This list cannot be {verb}:", [Problem(field, repr(value), reason)])

    # --- records in answers ---

    def read(self, call: Call, envelope: Envelope, key: Key) -> R:
        """Return the record in the answer to a `get_call`.

        Raises:
            NotFound: It is not there.
            BadAnswer: The answer is not as documented, or is about another record.
        """
        record = self.parse_record(call, envelope.data)
        self.check_same_key(call, getattr(record, self.key), key)
        return record

    def check_same_key(self, call: Call, answered: object, key: Key) -> None:
        """Refuse an answer that is about another record than the one that was asked for."""
        if answered != self.validate_key(key):
            raise BadAnswer(
                call, f"the answer is about the {self.noun} {answered!r:.60}, not about {key!r:.60}"
            )

    def record_exists(self, call: Call, envelope: Envelope, key: Key) -> bool | None:
        """Return whether an answer proves that a record exists; None: unclear.

        The answer is one to the call of `make_existence_call`.
        """
        self.read(call, envelope, key)
        return True

    def parse_record(self, call: Call, data: msgspec.Raw) -> R:
        """Read the data of an answer as one record."""
        return self.parse_records(call, msgspec.Raw(b"[" + bytes(data) + b"]"))[0]

    def parse_records(self, call: Call, data: msgspec.Raw) -> list[R]:
        """Read the data of an answer as a list of records.

        Raises:
            BadAnswer: It is not as documented.
        """
        try:
            return self._convert_from_service(cast("list[R]", self.record.parse_list(bytes(data))))
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False)
            row_keys = _format_row_keys(self.key, data)
            reasons = "; ".join(
                f"{'.'.join(map(str, e['loc'][1:])) or 'data'}: {e['msg']}"
                f"{row_keys.get(e['loc'][0], '') if e['loc'] else ''}"
                for e in problems
            )
            raise BadAnswer(call, f"the {self.noun} is not as documented: {reasons}") from None

    def _convert_from_service(self, records: list[R]) -> list[R]:
        """Convert records from the form of this service. Most need no conversion."""
        return records

    def key_of(self, call: Call, envelope: Envelope, body: Mapping[str, Any]) -> Key:
        """Return the key of a created record, from its body or the answer."""
        if self.key in body:
            return cast(Key, body[self.key])
        return cast(Key, getattr(self.parse_record(call, envelope.data), self.key))

    # --- frames ---

    def frame(
        self, filters: Mapping[str, str] = MappingProxyType({}), *, full: bool = False
    ) -> pd.DataFrame:
        """Read the whole list into a DataFrame, indexed by key; `full` reads each record too."""
        from chatkit.frames import frame as frames

        columns = frames.Columns(frames.choose_column_kinds(self.record, self.record.listed))
        listing = self.list_reader(columns.add, filters)
        try:
            with Progress(f"{self.noun}s") as progress:
                forecast = Forecast(self.when_long)
                for rows in listing.read():
                    progress.total = listing.total
                    progress.add(rows)
                    self.print_time(forecast, listing.total or listing.rows, *listing.calls)
            frame = columns.frame(self.key)
            self.warn_of_list_changes(
                self.find_list_change_signs(listing, frames.count_repeated_keys(frame))
            )
            frame = frames.drop_repeated_keys(frame)
            if full:
                keys = list(frame.index)
                columns, frame, _ = self.read_records_in_full([(self, key) for key in keys])
                if gone := len(keys) - len(frame):
                    self.warn_of_list_changes(
                        [f"{gone} of {len(keys)} were gone when each was read"]
                    )
            frame = self._normalize(frame)
            self.warn_if_missing([n for n in columns.missing if frame[n].isna().all()])
        except frames.WrongRows as error:
            reason = f"the list is not as documented: {error}"
            raise BadAnswer(self.list_call(filters=filters), reason) from None
        return self.with_snapshot(self._finish_frame(frame), whole=not filters)

    def print_time(self, forecast: Forecast, records: int, done: int, left: int) -> None:
        """Print how long it takes to read so many records, where that is long."""
        connection = self.transport.connection
        where = describe_account(connection.account, connection.name)
        what = f"Reading {many(records, self.noun)} of {where}"
        forecast.report(what, done, left, self.transport.pace().rate)

    def read_records_in_full(
        self, reads: Sequence[tuple[Endpoints[R], Key]]
    ) -> tuple[Columns, pd.DataFrame, list[tuple[Endpoints[R], Key]]]:
        """Read records in full, several at once, in this order, without deleted ones.

        Args:
            reads: The endpoints and the key of each record: contents have endpoints by template.

        Returns:
            The columns, the frame of them by key, and the reads of its rows.

        Raises:
            BadAnswer: An answer is not as documented, or about another record.
        """
        from chatkit.frames import frame as frames

        columns = frames.Columns(frames.choose_column_kinds(self.record, self._full_fields()))
        calls = [endpoints.get_call(key) for endpoints, key in reads]
        answers = send_in_order(self.transport, calls, kept=(NotFound,))
        present: list[tuple[Endpoints[R], Key]] = []

        def iter_rows() -> Iterator[msgspec.Raw]:
            for read, answer in zip(reads, answers, strict=True):
                if isinstance(answer, Envelope):
                    present.append(read)
                    yield answer.data

        try:
            with Progress(f"{self.noun}s", len(reads)) as progress:
                forecast = Forecast()
                self.print_time(forecast, len(reads), 0, len(reads))
                for page in join_into_pages(iter_rows()):
                    progress.add(columns.add(page))
                    self.print_time(forecast, len(reads), columns.rows, len(reads) - columns.rows)
            frame = columns.frame(self.key)
        except frames.WrongRows as error:
            endpoints, key = present[-1 if error.row is None else min(error.row, len(present) - 1)]
            reason = f"the {self.noun} is not as documented: {error}"
            raise BadAnswer(endpoints.get_call(key), reason) from None
        for (endpoints, key), answered in zip(present, frame.index, strict=True):
            if str(answered) != str(key):
                endpoints.check_same_key(endpoints.get_call(key), answered, key)
        return columns, frame, present

    def full(self, keys: Sequence[Key]) -> pd.DataFrame:
        """Read records in full into a frame indexed by key, without those that are gone.

        A field that no record shows is no column: a plan would take it for empty.
        """
        columns, frame, _ = self.read_records_in_full([(self, key) for key in keys])
        return self._normalize(frame.drop(columns=columns.missing))

    def _full_fields(self) -> list[str]:
        """Return the fields that `get` shows: the columns of a full frame."""
        return list(self.record.model_fields)

    def _normalize(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Convert columns that services show in several forms. Most show one only."""
        return frame

    def _finish_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add the columns that are derived. Most resources derive none."""
        return frame

    def format_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Convert and derive columns of a part of the list, as `frame` does for the whole."""
        return self._finish_frame(self._normalize(frame))

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return the snapshot that a frame holds; else read the records as they are now."""
        known = None if frame is None or now else self.snapshot(frame)
        return known or Snapshot(self.frame(), whole=True, now=True)

    def snapshot(self, frame: pd.DataFrame) -> Snapshot | None:
        """Return the cells as they were when a frame was read; None if it does not hold them."""
        return get_snapshot(frame, self.origin)

    def with_snapshot(self, frame: pd.DataFrame, *, whole: bool) -> pd.DataFrame:
        """Return a frame that keeps its present cells as a snapshot, for the plan of its edits."""
        nested = self.body.list_updatable_fields()
        return keep_snapshot(frame, self.origin, whole=whole, nested=nested)

    @property
    def origin(self) -> dict[str, str]:
        """The origin that frames of these records keep: account, noun and template code."""
        code = {"code": self.code} if self.code else {}
        return {"account": self.transport.connection.account, "noun": self.noun} | code

    def warn_if_missing(self, fields: Sequence[str]) -> None:
        """Warn of documented fields that no row of a list had."""
        if fields:
            warnings.warn(
                f"The service sent no {', '.join(fields)} for its {self.noun}s: "
                "the columns are empty.",
                stacklevel=5,
            )

    def find_list_change_signs(self, listing: ListReader, doubles: int) -> list[str]:
        """Return the signs that a list changed while it was read; `doubles` rows came twice."""
        signs = listing.moved
        if doubles:
            signs.append(f"{doubles} rows came twice")
        if listing.total not in (None, different := listing.rows - doubles):
            signs.append(f"{different} different rows came of {listing.total}")
        return signs

    def warn_of_list_changes(self, signs: Sequence[str]) -> None:
        """Warn that a list changed while it was read; nothing if there is no sign of that."""
        if signs:
            warnings.warn(
                f"The list of {self.noun}s changed while it was read: {'; '.join(signs)}. "
                "Rows may be missing; read it again when nobody is changing it.",
                ListMoved,
                stacklevel=5,
            )

    # --- the state and the folder of an account ---

    def read_with_notes(self, codes: Iterable[str]) -> tuple[pd.DataFrame, list[str]]:
        """Read all records with all sendable fields; return them with notes.

        Args:
            codes: The template codes to read contents of.
        """
        frame = self.frame(full=self.detailed)
        return frame, self.make_account_notes(frame)

    def make_account_notes(self, frame: pd.DataFrame) -> list[str]:
        """Return notes for people who keep or copy these records."""
        return []

    @classmethod
    def find_file_fault(cls, fields: Mapping[str, Any]) -> tuple[str, str] | None:
        """Return pointer and reason of a fault in a record file; None if it is valid."""
        return None

    @classmethod
    def make_created_note(cls, count: int) -> str:
        """Return a note for people who create so many records; empty if there is none."""
        return ""

    def explain_immutable(
        self, fields: Mapping[str, Any], live: Mapping[str, Any] | None
    ) -> tuple[str, str] | None:
        """Return why an update cannot set these fields, and the record's name; None if it can.

        Args:
            fields: The record in a state.
            live: The record in the account; None if its fields are sent.
        """
        return None

    # --- fields to send ---

    def required(self) -> list[str]:
        """Return the fields that a create requires."""
        return self.body.required()

    def sendable(self, live: R) -> dict[str, Any]:
        """Return the fields of a live record that could be sent back, for an undo or a replace."""
        sendable = set(self.body.list_updatable_fields())
        if self.profile.unknown_fields == "ignore" and live.model_extra:
            unknown = {n: v for n, v in live.model_extra.items() if not has_mask(n, v)}
            sendable |= unknown.keys() - self.body.model_fields.keys()
        fields = live.model_dump(mode="json", exclude_unset=True)
        return {n: v for n, v in fields.items() if n in sendable}

    def dump_visible_fields(self, live: R) -> dict[str, Any]:
        """Return all fields that a live record shows, in the form in which they are sent."""
        return live.model_dump(mode="json", exclude_unset=True) | self.sendable(live)

    @property
    def puts_whole(self) -> bool:
        """Return whether a PUT of this service needs more than the fields that change."""
        profile = self.profile
        return self.update_method == "PUT" and (
            profile.put == "replace" or profile.put_requires == "create_fields"
        )

    @cached_property
    def repeats(self) -> bool:
        """Return whether an update must repeat fields, and so needs the live record."""
        return self.puts_whole

    def select_fields_to_repeat(self, live: R) -> dict[str, Any]:
        """Return the fields that an update must send although nobody changed them.

        None where a PUT merges; where it replaces, all that can be sent and every field that
        the API document does not know, so that nothing is cleared.
        """
        if not self.repeats:
            return {}
        fields = self.sendable(live)
        if self.profile.put == "replace":
            return fields
        return {n: v for n, v in fields.items() if n in self.required()}

    def choices(self) -> Mapping[str, Mapping[str, str]]:
        """Return the fields with a fixed set of values, each value with its meaning."""
        return {}

    def redirect_text(self, name: str, text: str) -> Mapping[str, Any]:
        """Split a pasted text into the fields it belongs to; empty if it fits one field."""
        return {}

    # --- checks of fields before they are sent ---

    def findings(self, name: str, value: Any) -> Sequence[Finding]:
        """Check the document in a field as the platform will."""
        return ()

    def check_record(
        self, fields: Mapping[str, Any], live: Mapping[str, Any] | None
    ) -> list[Finding]:
        """Check one record as it would be once these fields are sent.

        Errors stop the call; warnings are printed. Pointers lead into the record.

        Args:
            fields: The fields to send, each of the right type.
            live: The live record; empty for a new one, None if it is unknown.
        """
        return []

    def needs_live_record(self, fields: Mapping[str, Any]) -> bool:
        """Return whether `check_record` needs the live record, for an update of these fields."""
        return False

    def check_changes(
        self, changes: Sequence[Change], base: pd.DataFrame, full: ReadFull
    ) -> Mapping[int, Sequence[Finding]]:
        """Check all records of a plan at once, as `check_record` does for one.

        Args:
            changes: Creates, updates and deletes.
            base: The live records, as far as they were read.
            full: Reads some of them in full, where a list does not show enough.

        Returns:
            The findings, by the position of the change.
        """
        return {}

    # --- names of a record, other than its key ---

    @property
    def single(self) -> bool:
        """Return whether the service refuses a second record with the same `list_name_fields`."""
        return self.unique

    def list_name_fields(self) -> tuple[str, ...]:
        """Return the fields that identify a record, beside its key."""
        return self.natural_key

    def make_natural_name(self, fields: Mapping[str, Any]) -> str | None:
        """Join the fields of the natural key: a number, an address, a name; None without one."""
        return _join_fields(fields, self.list_name_fields())

    def label(self, fields: Mapping[str, Any]) -> str | None:
        """Return the label of a record for people; None if a part is missing."""
        return _join_fields(fields, self.natural_key)

    # --- plans and runs ---

    def of(self, code: str | None, noun: str | None = None) -> Endpoints[R]:
        """Return the endpoints of a template code: these, as there is one list.

        Args:
            code: The template code of a content.
            noun: Which resource, where a plan is for several; one resource needs no noun.
        """
        return self

    def each(self, codes: Iterable[str]) -> Mapping[str | None, Endpoints[R]]:
        """Return the endpoints of template codes: these alone, as there is one list."""
        return {None: self}

    def next_step(self, error: Refused, key: Key | None, body: Mapping[str, Any]) -> str:
        """Return advice on a refusal, where more is known than the service sent.

        Args:
            error: How the service refused the call.
            key: The record that was asked for, None for a create.
            body: What was sent.
        """
        if isinstance(error, NotFound) and key is not None:
            return f"{self.place}.frame() lists the {self.key} of each {self.noun}."
        return ""

    def make_texts_to_keep(
        self, changes: Sequence[Change], base: pd.DataFrame, full: ReadFull
    ) -> Sequence[Sequence[str]]:
        """Return texts to keep locally of these changes when their plan is applied.

        Args:
            changes: Creates, updates and deletes.
            base: The records as they were read.
            full: Reads some of them in full.
        """
        return ()

    def keep(self, written: Sequence[Sequence[str]], run: str) -> None:
        """Keep the result of `make_texts_to_keep` locally, as the run begins."""

    def undo(self, kind: str, known: Mapping[str, Any], after: Mapping[str, Any]) -> Undo:
        """Return how well a planned change can be undone, and what would be lost.

        Args:
            kind: create, update or delete.
            known: The record as the plan knows it; empty for a create.
            after: The fields to send.
        """
        hidden = [name for name in after if name not in known] if kind == "update" else []
        if hidden:
            return "never", f"the service does not show what {' and '.join(hidden)} held"
        return "exactly", ""


#: Digits that surely are an id: 007 would not be the same text as 7.
_DIGITS = re.compile("0|[1-9][0-9]{0,18}")


def parse_id(value: Any) -> int | None:
    """Parse an id, whatever pandas or a file made of it; None for what is no whole number."""
    match value:
        case str() if _DIGITS.fullmatch(value):
            value = int(value)
        case float() if is_whole_float(value):
            value = int(value)
    whole = hasattr(value, "__index__") and not isinstance(value, bool)
    return int(value) if whole and -(2**63) <= int(value) < 2**63 else None


def _format_row_keys(name: str, data: msgspec.Raw) -> dict[int | str, str]:
    """Return the key of each record of a list, for messages; empty for a single record."""
    try:
        rows = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    if not isinstance(rows, list) or len(rows) < 2:
        return {}
    return {
        place: f" ({name} {row[name]!r:.60})"
        for place, row in enumerate(rows)
        if isinstance(row, dict) and isinstance(row.get(name), int | str)
    }


def _join_fields(fields: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """Join the values of fields with spaces; None if one is missing."""
    parts = [fields.get(name) for name in names]
    return " ".join(map(str, parts)) if all(parts) else None
