"""Trial: one run of the facts against an account; what it creates, it removes.

Evidence asks, a `Caller` sends and remembers what it creates, a `TrialReply` says what a fact may
expect of what came back, and at the end of the trial every record that was made is removed.
"""

from __future__ import annotations

import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import cached_property
from types import TracebackType
from typing import Any, Self, TypeVar

from chatkit.call import Call
from chatkit.client import Client
from chatkit.conformance.fact import NotTold, expect, not_told, shape
from chatkit.errors import InputError
from chatkit.probe import Prober, Reply
from chatkit.profile import ServiceProfile
from chatkit.secret import Secret
from chatkit.transport import Transport

E = TypeVar("E")

#: What makes an access token that has exactly these permissions.
MakeToken = Callable[[Iterable[str]], str]
#: What makes the service send one event of a kind.
SendEvent = Callable[[str], None]
#: What every name begins with that a trial gives.
MARK = "chatkit conformance"
#: A token that may not do this, or too many calls: they tell nothing about the operation.
_UNTOLD = (401, 403, 429)
#: How often a delete that got no trustworthy answer is sent.
_TRIES = 3
#: How many pages of a list are looked through for a record whose create got no answer.
_MOST_PAGES = 1000


class Trial:
    """One run of the facts against one account; a context manager that cleans up.

    Args:
        client: The account.
        allow_writes: Whether marked records may be created. Without it nothing is written.
        make_token: Makes an access token with exactly these permissions.
        send_event: Makes the service send an event of a kind.
    """

    def __init__(
        self,
        client: Client,
        *,
        allow_writes: bool = False,
        make_token: MakeToken | None = None,
        send_event: SendEvent | None = None,
    ) -> None:
        self.client = client
        self.profile = client.profile
        self.allow_writes = allow_writes
        self.send_event = send_event
        self.word = f"t{secrets.token_hex(4)}"
        self.replies: list[TrialReply] = []
        self.made: list[Made] = []
        self.left: dict[Made, str] = {}
        self.contacts: set[str | int] = set()
        self.notes: list[str] = []
        self._make_token = make_token
        self._callers: dict[frozenset[str], Caller] = {}
        self._others: list[Caller] = []
        self._evidence: dict[Any, Any] = {}
        self.caller = Caller(self, client.transport)

    @property
    def marker(self) -> str:
        """Beginning of the names that this trial gives; three words, others for each trial."""
        return f"{MARK} {self.word}"

    def reach(self) -> None:
        """Call the service once. Raises `CallError` when there is none."""
        self.client.transport.answer(Call("GET", ("contacts",)))

    def evidence(self, kind: Callable[[Trial], E]) -> E:
        """The evidence of a kind, which is gathered once."""
        if kind not in self._evidence:
            self._evidence[kind] = kind(self)
        found: E = self._evidence[kind]
        return found

    def caller_with(self, permissions: Iterable[str]) -> Caller:
        """A caller whose token has exactly these permissions."""
        if self._make_token is None:
            not_told("needs access tokens with other permissions")
        wanted = frozenset(permissions)
        if wanted not in self._callers:
            self._callers[wanted] = self.caller_of(self._make_token(sorted(wanted)))
        return self._callers[wanted]

    def caller_of(self, token: str) -> Caller:
        """A caller with another access token."""
        caller = Caller(self, self.client.transport.with_token(Secret(token)))
        self._others.append(caller)
        return caller

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if self.contacts:
            self.notes.append(
                f"{len(self.contacts)} contacts that were created stay stored, inactive: the API "
                "has no way to remove a contact."
            )
        try:
            remove_all(self.made, self.caller, self.left, self.notes)
        finally:
            for caller in self._others:
                caller.close()
            for line in self.left.values() if error else ():
                error.add_note(f"Left behind: {line}")  # type: ignore[union-attr]


class ResourceEvidence(ABC):
    """Evidence about one resource: the calls of a trial to its records, each made once.

    Args:
        trial: The trial.
    """

    path: tuple[str, ...]
    method = "PUT"  #: of an update

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self._call = trial.caller

    @property
    @abstractmethod
    def created(self) -> TrialReply:
        """The create of the record that is looked at."""

    @property
    @abstractmethod
    def doomed(self) -> TrialReply:
        """The create of the record that is deleted."""

    @property
    @abstractmethod
    def changes(self) -> dict[str, Any]:
        """The body of the update."""

    @abstractmethod
    def another(self, by: Caller) -> TrialReply:
        """Create one more record, as some caller."""

    def key(self, created: TrialReply) -> Any:
        """The key of a record that was created."""
        return created.record().get("id", "0")

    @property
    def first(self) -> Any:
        """The key of the first record; without writes, of the first that is listed."""
        if self.trial.allow_writes:
            return self.key(self.created)
        rows = self.listed.rows() or not_told(f"there are no {self.path[0]}")
        return rows[0].get("id", "0")

    @property
    def edited(self) -> Any:
        """The key of the record that is updated."""
        return self.first

    @cached_property
    def listed(self) -> TrialReply:
        """The list, or its first page."""
        with suppress(NotTold):
            _ = self.created  # so that there is one
        return self._call.get(*self.path)

    @cached_property
    def read(self) -> TrialReply:
        """The first record."""
        return self._call.get(*self.path, self.first)

    @cached_property
    def updated(self) -> TrialReply:
        """The update."""
        return self._call.change(self.method, (*self.path, self.edited), self.changes)

    @cached_property
    def changed(self) -> dict[str, Any]:
        """The updated record after its update."""
        self.updated.expect_done()
        return self._call.get(*self.path, self.edited).record()

    @cached_property
    def deleted(self) -> TrialReply:
        """The delete."""
        return self._call.delete(*self.path, self.key(self.doomed))

    @cached_property
    def gone(self) -> TrialReply:
        """A get of the deleted record."""
        self.deleted.expect_done()
        return self._call.get(*self.path, self.key(self.doomed))

    def filtered(self, parameter: str, text: str) -> list[dict[str, Any]]:
        """The first page of the list through a parameter that the profile names."""
        name = getattr(self.trial.profile, parameter) or not_told(f"the profile has no {parameter}")
        reply = self._call.filtered(*self.path, by=name, text=text)
        reply.expect_success()
        return reply.rows()

    def records(self, place: str) -> list[dict[str, Any]]:
        """The records seen in the list, in a get, in the answers to a create and an update."""
        if place == "list":
            return self.listed.rows()
        replies = {"get": "read", "create": "created", "update": "updated"}
        reply: TrialReply = getattr(self, replies[place])
        return [reply.record()]


class TrialReply(Reply):
    """Reply to a call of a trial, with what a fact may expect of it."""

    @property
    def ok(self) -> bool:
        """Whether the service did it, as far as the status says."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        """Whether the status says that the service understood and said no."""
        return self.status is not None and 400 <= self.status < 500 and self.status != 429

    @property
    def outcome(self) -> str:
        """Outcome in words, without a text of the service: it may be an echo."""
        got = f"no answer ({self.said})" if self.status is None else self.said
        return f"{self.call.method} {self.call.segments[0]} was answered with {got}"

    @property
    def has_object(self) -> bool:
        """Whether the call succeeded and brought an object."""
        return self.ok and type(self.data) is dict

    def expect_done(self) -> None:
        """Raise `NotTold` unless the call succeeded: the fact is about something else."""
        if not self.ok:
            not_told(self.outcome)

    def expect_success(self, *statuses: int) -> None:
        """Raise `Differs` unless the call succeeded, with one of these statuses if given."""
        if self.status is None or self.status in _UNTOLD:
            not_told(self.outcome)
        expect(self.status in statuses if statuses else self.ok, self.outcome)

    def expect_refusal(self, what: str) -> None:
        """Raise `Differs` unless the service said no to something."""
        if self.status is None or self.status in _UNTOLD:
            not_told(self.outcome)
        expect(self.refused, f"{what}: {self.outcome}")

    def record(self) -> dict[str, Any]:
        """The object in `data`; `NotTold` when the call brought none."""
        if not self.has_object:
            not_told(f"{self.outcome} without an object" if self.ok else self.outcome)
        record: dict[str, Any] = self.data
        return record

    def rows(self) -> list[dict[str, Any]]:
        """The objects in `data`, an array; `NotTold` when the call brought none."""
        if not self.ok or type(self.data) is not list:
            not_told(f"{self.outcome} without an array" if self.ok else self.outcome)
        return [row for row in self.data if type(row) is dict]

    def expect_list(self) -> None:
        """Raise `Differs` unless the call succeeded and `data` is an array."""
        self.expect_success()
        expect(type(self.data) is list, f"data is {shape(self.data)}, not an array")

    def expect_pagination(self, profile: ServiceProfile) -> None:
        """Raise `Differs` unless the envelope tells of the page."""
        if "pagination" not in self.envelope and profile.pagination == "never":
            not_told("there is no pagination, as the profile expects")
        expect("pagination" in self.envelope, "there is no pagination")

    def expect_message(self) -> None:
        """Raise `Differs` unless the envelope has a message."""
        expect(type(self.envelope.get("message")) is str, "there is no message")

    def expect_object(self, fields: str = "") -> dict[str, Any]:
        """The object in `data` with these fields; `Differs` when it is something else."""
        expect(type(self.data) is dict, f"data is {shape(self.data)}, not an object")
        record: dict[str, Any] = self.data
        missing = [name for name in fields.split() if name not in record]
        expect(not missing, f"data has no {', '.join(missing)}")
        return record

    def expect_updated(self, fields: str, profile: ServiceProfile) -> None:
        """Raise `Differs` unless an update answers with an object that has these fields."""
        self.expect_success()
        self._expect_body(profile.update_status)
        self.expect_object(fields)

    def expect_deleted(self, profile: ServiceProfile) -> None:
        """Raise `Differs` unless this is how a delete answers: success, a message, data null."""
        self.expect_success()
        self._expect_body(profile.delete_status)
        expect(self.envelope.get("success") is True, "success is not true")
        self.expect_message()
        expect(self.data is None, f"data is {shape(self.data)}, not null")

    def _expect_body(self, expected: int) -> None:
        if self.status == expected == 204:
            not_told("204, as the profile expects, carries no body")


class Caller(Prober[TrialReply]):
    """Sends the calls of one access token, and remembers what they create."""

    def __init__(self, trial: Trial, transport: Transport) -> None:
        super().__init__(transport, TrialReply)
        self._trial = trial

    def get(self, *segments: str | int, **query: str | int) -> TrialReply:
        """Read, and bring back whatever came of it."""
        return self._send(_call("GET", segments, query))

    def create(self, path: tuple[str, ...], body: Mapping[str, Any]) -> TrialReply:
        """Create a marked record; it is removed when the trial ends."""
        self._may_write()
        made = Made(path, body)
        self._trial.made.append(made)  # before it is sent: an interrupt may come in between
        reply = self._send(_call("POST", path, body=body))
        if reply.refused:
            self._trial.made.remove(made)
        else:
            made.landed(reply)
            if path == ("contacts",) and made.key is not None:
                self._trial.contacts.add(made.key)
        return reply

    def change(
        self, method: str, path: tuple[str | int, ...], body: Mapping[str, Any]
    ) -> TrialReply:
        """Change a record that the trial created."""
        self._may_write()
        return self._send(_call(method, path, body=body))

    def delete(self, *path: str | int) -> TrialReply:
        """Delete a record that the trial created."""
        self._may_write()
        reply = self._send(_call("DELETE", path))
        if reply.ok:
            self._trial.made[:] = [made for made in self._trial.made if made.place != path]
        return reply

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _may_write(self) -> None:
        if not self._trial.allow_writes:
            not_told("needs writes, which were not allowed")

    def _send(self, call: Call) -> TrialReply:
        reply = super()._send(call)
        if reply.answer is not None:
            self._trial.replies.append(reply)
        return reply


def _call(method: str, segments: tuple[str | int, ...], *args: Any, **more: Any) -> Call:
    try:
        return Call(method, segments, *args, **more)
    except InputError:  # an id that the service told, and that no address can hold
        not_told("the id of a record cannot be part of an address")


class Made:
    """One create that was sent: where its record is, as far as the answer told."""

    def __init__(self, path: tuple[str, ...], body: Mapping[str, Any]) -> None:
        self.path = path
        self.body = body
        self.key: str | int | None = None
        if path[0] == "templates":
            self.key = str(body["lang_code"])  # known before the answer

    def landed(self, reply: TrialReply) -> None:
        """Take the key from the answer to the create, if it told one."""
        key = reply.data.get("id") if type(reply.data) is dict else None
        if self.key is None and type(key) in (int, str) and re.fullmatch(r"\d+", str(key)):
            self.key = key

    @property
    def mark(self) -> tuple[str, Any]:
        """The field and the value by which the record is told from all others."""
        field = {"flows": "name", "contacts": "number", "webhooks": "url"}[self.path[0]]
        value = self.body.get(field)
        return field, re.sub(r"\D", "", value) if field == "number" and value else value

    @property
    def place(self) -> tuple[str | int, ...]:
        """The path of the record."""
        return (*self.path, "?" if self.key is None else self.key)

    def __str__(self) -> str:
        return "/".join(map(str, self.place))


def remove_all(made: list[Made], caller: Caller, left: dict[Made, str], notes: list[str]) -> None:
    """Remove every record, the latest first; `left` then says which could not be, and why.

    A record whose removal fails, or is interrupted, does not stop that of the others. One
    whose create got no answer, and that cannot be found, is only noted.
    """
    left.update((record, f"{record}: its removal was stopped") for record in made)
    with ExitStack() as stack:
        for record in made:
            stack.callback(_remove, record, caller, left, notes)


def _remove(record: Made, caller: Caller, left: dict[Made, str], notes: list[str]) -> None:
    if record.key is None:
        if not _can_be_found(record, caller):
            left[record] = f"{record}: its create got no answer, and it cannot be looked for"
            return
        record.key = _find(record, caller)
    if record.key is None:
        del left[record]
        notes.append(f"{record}: a create got no answer, and nothing of it is listed.")
        return
    for _ in range(_TRIES):
        reply = caller.delete(*record.place)
        if reply.ok or reply.status in (404, 410, caller.profile.not_found_status):
            del left[record]
            return
        if reply.refused:
            break
    left[record] = f"{record}: {reply.outcome}"


def _can_be_found(record: Made, caller: Caller) -> bool:
    """Whether a record whose create got no answer is told from all others by what was sent.

    A contact is, if the trial had searched for its number before: what is found now is its
    own. Without a search it may be somebody's.
    """
    known = record.mark[1] is not None
    return known and (record.path[0] != "contacts" or caller.profile.search_param is not None)


def _find(record: Made, caller: Caller) -> str | int | None:
    field, value = record.mark
    for row in _rows(record.path[0], value, caller):
        if row.get(field) == value and type(row.get("id")) in (int, str):
            key: str | int = row["id"]
            return key
    return None


def _rows(resource: str, number: str, caller: Caller) -> Iterator[dict[str, Any]]:
    profile = caller.profile
    if resource == "webhooks":
        yield from _told(caller.get(resource))
    elif resource == "contacts":
        yield from _told(caller.filtered(resource, by=str(profile.search_param), text=number))
    else:
        for page in range(profile.page_base, profile.page_base + _MOST_PAGES):
            rows = _told(caller.page(resource, page, profile.max_page_size))
            yield from rows
            if not rows:
                return


def _told(reply: TrialReply) -> list[dict[str, Any]]:
    return reply.rows() if reply.ok and type(reply.data) is list else []
