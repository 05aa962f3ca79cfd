"""The account that the facts are checked against: its calls, and removing what they created.

Every record that a check creates is noted before the call is sent, and removed when the account
is closed, also after an error or an interrupt. Records of others are read and never changed.
"""

from __future__ import annotations

import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import cached_property
from typing import Any, Self

import msgspec
from contract.fact import Unknown, expect, shape, unknown

from chatkit.account import doctor as checkup
from chatkit.api.call import Call
from chatkit.api.secret import Secret
from chatkit.api.transport import Transport
from chatkit.client import Client
from chatkit.errors import CallError, InputError

#: Every name that is given here begins with it.
MARK = "chatkit contract"
#: A token that may not do this, or too many calls: the operation itself was not tried.
_NOT_TRIED = (401, 403, 429)
#: How often a delete without a usable answer is sent.
_DELETES = 3
#: How many pages of a list are searched for a record whose create got no answer.
_MAX_PAGES = 1000


class Account:
    """One account, a context manager that removes what was created.

    Args:
        client: The way to the account.
        writes: Whether records may be created. Without it nothing is written.
        make_token: Makes an access token with exactly these permissions. Without it the facts
            about permissions are unknown.
        send_event: Makes the service send one event of a kind to the active webhooks. Without
            it the facts about deliveries are unknown.
    """

    def __init__(
        self,
        client: Client,
        *,
        writes: bool = False,
        make_token: Callable[[Iterable[str]], str] | None = None,
        send_event: Callable[[str], None] | None = None,
    ) -> None:
        self.client = client
        self.profile = client.profile
        self.writes = writes
        self.make_token = make_token
        self.send_event = send_event
        self.word = f"t{secrets.token_hex(4)}"
        self.marker = f"{MARK} {self.word}"  #: three words, others in each run
        self.replies: list[Reply] = []
        self.created: list[Created] = []
        self.contacts: set[str | int] = set()  #: ids that were created: they stay, inactive
        self.notes: list[str] = []
        self.remaining: dict[Created, str] = {}  #: what could not be removed, and why
        self.caller = Caller(self, client.transport)
        self._callers: dict[Any, Caller] = {}
        self._calls: dict[Any, Any] = {}

    def calls(self, kind: Callable[[Account], Any]) -> Any:
        """Return the calls of a class, made for this account once."""
        if kind not in self._calls:
            self._calls[kind] = kind(self)
        return self._calls[kind]

    def caller_with(self, permissions: Iterable[str]) -> Caller:
        """Return a caller whose token has exactly these permissions."""
        if self.make_token is None:
            unknown("needs access tokens with other permissions")
        key = frozenset(permissions)
        if key not in self._callers:
            self._callers[key] = self.caller_of(self.make_token(sorted(key)))
        return self._callers[key]

    def caller_of(self, token: str) -> Caller:
        """Return a caller with another access token."""
        caller = Caller(self, self.client.transport.with_token(Secret(token)))
        return self._callers.setdefault(token, caller)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Remove every record, the latest first; a removal that fails stops no other."""
        if self.contacts:
            self.notes.append(
                f"{len(self.contacts)} contacts that were created stay stored, inactive: the API "
                "has no way to remove a contact."
            )
        self.remaining = {each: f"{each}: its removal was interrupted" for each in self.created}
        with ExitStack() as stack:
            for caller in self._callers.values():
                stack.callback(caller.transport.close)
            for each in self.created:
                stack.callback(self._remove, each)

    def _remove(self, created: Created) -> None:
        if created.key is None:
            # A contact is only looked for by the number under which no contact was before.
            if created.value is None or (
                created.path == ("contacts",) and not self.profile.search_param
            ):
                self.remaining[created] = f"{created}: its create got no answer; look for it"
                return
            created.key = self._find(created)
        if created.key is None:
            del self.remaining[created]
            self.notes.append(f"{created}: a create got no answer, and no list shows its record.")
            return
        for _ in range(_DELETES):
            reply = self.caller.delete(*created.path, created.key)
            if reply.ok or reply.status in (404, 410, self.profile.not_found_status):
                del self.remaining[created]
                return
            self.remaining[created] = f"{created}: {reply.outcome}"
            if reply.refused:
                return

    def _find(self, created: Created) -> str | int | None:
        """Return the id of a record whose create got no answer."""
        for row in self._rows(created):
            key = row.get("id")
            if row.get(created.field) == created.value and isinstance(key, int | str):
                return key
        return None

    def _rows(self, created: Created) -> Iterator[dict[str, Any]]:
        [resource] = created.path
        if resource == "webhooks":
            yield from self.caller.get(resource).rows_or_none()
        elif resource == "contacts":
            search = {str(self.profile.search_param): created.value}
            yield from self.caller.get(resource, **search).rows_or_none()
        else:
            size = self.profile.max_page_size
            for page in range(self.profile.page_base, self.profile.page_base + _MAX_PAGES):
                rows = self.caller.get(resource, page=page, pageSize=size).rows_or_none()
                yield from rows
                if not rows:
                    return


class Created:
    """A create that was sent: the path, and the key of its record as far as it is known."""

    def __init__(self, path: tuple[str, ...], body: Mapping[str, Any]) -> None:
        self.path = path
        self.key: str | int | None = body["lang_code"] if path[0] == "templates" else None
        #: The field and the value by which no other record has them.
        self.field = {"flows": "name", "contacts": "number", "webhooks": "url"}.get(path[0], "")
        self.value = body.get(self.field)
        if self.field == "number" and self.value:
            self.value = re.sub(r"\D", "", self.value)

    def __str__(self) -> str:
        return "/".join(map(str, (*self.path, "?" if self.key is None else self.key)))


class Reply(checkup.Reply):
    """Reply to a call, with what a fact may expect of it.

    The texts hold a method, a resource and a status, never a text of the service.
    """

    @property
    def data(self) -> Any:
        """The `data` of the envelope; `msgspec.UNSET` when there is none."""
        try:
            body = msgspec.json.decode(self.answer.body if self.answer else b"")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return msgspec.UNSET
        return body.get("data", msgspec.UNSET) if type(body) is dict else msgspec.UNSET

    @property
    def ok(self) -> bool:
        """Return whether the status is a success."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        """Return whether the status is a refusal of this call."""
        return self.status is not None and 400 <= self.status < 500 and self.status != 429

    @property
    def outcome(self) -> str:
        answer = self.status or f"no answer ({type(self.error).__name__})"
        return f"{self.call.method} {self.call.segments[0]} was answered with {answer}"

    @property
    def has_object(self) -> bool:
        return self.ok and type(self.data) is dict

    def require_done(self) -> None:
        """Raise `Unknown` unless the call succeeded: the fact is about something else."""
        if not self.ok:
            unknown(self.outcome)

    def require_tried(self) -> None:
        """Raise `Unknown` if nothing is known of the operation itself."""
        if self.status is None or self.status in _NOT_TRIED:
            unknown(self.outcome)

    def expect_success(self, *statuses: int) -> None:
        self.require_tried()
        expect(self.status in statuses if statuses else self.ok, self.outcome)

    def expect_refusal(self, what: str) -> None:
        self.require_tried()
        expect(self.refused, f"{what}: {self.outcome}")

    def record(self) -> dict[str, Any]:
        """Return the object in `data`; raise `Unknown` without one."""
        if not self.has_object:
            unknown(f"{self.outcome} without an object" if self.ok else self.outcome)
        record: dict[str, Any] = self.data
        return record

    def rows(self) -> list[dict[str, Any]]:
        """Return the objects in `data`, an array; raise `Unknown` without one."""
        if not self.ok or type(self.data) is not list:
            unknown(f"{self.outcome} without an array" if self.ok else self.outcome)
        return [row for row in self.data if type(row) is dict]

    def rows_or_none(self) -> list[dict[str, Any]]:
        return self.rows() if self.ok and type(self.data) is list else []

    def expect_list(self) -> None:
        self.expect_success()
        expect(type(self.data) is list, f"data is {shape(self.data)}, not an array")

    def expect_pagination(self) -> None:
        expect("pagination" in self.envelope, "there is no pagination")

    def expect_message(self) -> None:
        expect(type(self.envelope.get("message")) is str, "there is no message")

    def expect_object(self, field: str | None = None) -> dict[str, Any]:
        """Return the object in `data`, which has this field."""
        expect(type(self.data) is dict, f"data is {shape(self.data)}, not an object")
        record: dict[str, Any] = self.data
        expect(field is None or field in record, f"data has no {field}")
        return record

    def expect_updated(self, field: str | None = None) -> None:
        """Expect the answer to an update: an object that has this field."""
        self.expect_success()
        self.expect_object(field)

    def expect_deleted(self) -> None:
        """Expect the answer to a delete: success, a message, data null."""
        self.expect_success()
        expect(self.envelope.get("success") is True, "success is not true")
        self.expect_message()
        expect(self.data is None, f"data is {shape(self.data)}, not null")


class Caller:
    """Sends the calls of one access token."""

    def __init__(self, account: Account, transport: Transport) -> None:
        self.account = account
        self.transport = transport

    def get(self, *segments: str | int, **query: str | int) -> Reply:
        return self._send("GET", segments, query=query)

    def languages(self, template_code: str) -> Reply:
        return self.get("templates", template_code, "contents", "lookups", "languages")

    def create(self, path: tuple[str, ...], body: Mapping[str, Any]) -> Reply:
        """Create a record; it is removed when the account is closed."""
        self._require_writes()
        created = Created(path, body)
        self.account.created.append(created)  # before it is sent: an interrupt may come between
        reply = self._send("POST", path, body=body)
        if reply.refused:
            self.account.created.remove(created)
            return reply
        key = reply.data.get("id") if type(reply.data) is dict else None
        if created.key is None and re.fullmatch(r"\d+", str(key)):
            created.key = key
            if path == ("contacts",):
                self.account.contacts.add(key)
        return reply

    def update(self, method: str, path: tuple[str | int, ...], body: Mapping[str, Any]) -> Reply:
        """Update a record that was created here."""
        self._require_writes()
        return self._send(method, path, body=body)

    def delete(self, *path: str | int) -> Reply:
        """Delete a record that was created here."""
        self._require_writes()
        reply = self._send("DELETE", path)
        if reply.ok:
            created = self.account.created
            created[:] = [each for each in created if (*each.path, each.key) != path]
        return reply

    def _require_writes(self) -> None:
        if not self.account.writes:
            unknown("needs WRITES=1")

    def _send(self, method: str, segments: tuple[str | int, ...], **parts: Any) -> Reply:
        try:
            call = Call(method, segments, **parts)
        except InputError:  # an id of the service that no address can hold
            unknown("the id of a record cannot be part of an address")
        try:
            reply = Reply(call, self.transport.send_raw(call))
        except CallError as error:
            return Reply(call, error=error)
        self.account.replies.append(reply)
        return reply


class ResourceCalls(ABC):
    """The calls to the records of one resource, each made once, when a fact first needs it."""

    path: tuple[str, ...]
    method = "PUT"  #: of an update

    def __init__(self, account: Account) -> None:
        self.account = account
        self.caller = account.caller

    @property
    @abstractmethod
    def created(self) -> Reply:
        """The create of the record that is read."""

    @property
    @abstractmethod
    def removable(self) -> Reply:
        """The create of the record that is deleted."""

    @property
    @abstractmethod
    def changes(self) -> dict[str, Any]:
        """The body of the update."""

    @abstractmethod
    def create_as(self, caller: Caller) -> Reply:
        """Create one more record with the token of a caller."""

    def key(self, created: Reply) -> Any:
        """Return the key of a record that was created."""
        return created.record().get("id", "0")

    @property
    def first(self) -> Any:
        """The key of the first record; without writes, of the first that is listed."""
        if self.account.writes:
            return self.key(self.created)
        rows = self.listed.rows() or unknown(f"there are no {self.path[0]}")
        return rows[0].get("id", "0")

    @property
    def edited(self) -> Any:
        """The key of the record that is updated."""
        return self.first

    @cached_property
    def listed(self) -> Reply:
        """The list, or its first page."""
        with suppress(Unknown):
            _ = self.created  # so that it is not empty
        return self.caller.get(*self.path)

    @cached_property
    def read(self) -> Reply:
        """A get of the first record."""
        return self.caller.get(*self.path, self.first)

    @cached_property
    def updated(self) -> Reply:
        return self.caller.update(self.method, (*self.path, self.edited), self.changes)

    @cached_property
    def changed(self) -> dict[str, Any]:
        """The updated record after its update."""
        self.updated.require_done()
        return self.caller.get(*self.path, self.edited).record()

    @cached_property
    def deleted(self) -> Reply:
        return self.caller.delete(*self.path, self.key(self.removable))

    @cached_property
    def gone(self) -> Reply:
        """A get of the deleted record."""
        self.deleted.require_done()
        return self.caller.get(*self.path, self.key(self.removable))

    def filtered(self, parameter: str, text: str) -> list[dict[str, Any]]:
        """Return the first page of the list through a parameter that the profile names."""
        name = getattr(self.account.profile, parameter) or unknown(
            f"the profile has no {parameter}"
        )
        reply = self.caller.get(*self.path, **{name: text})
        reply.expect_success()
        return reply.rows()

    def records(self, place: str) -> list[dict[str, Any]]:
        """Return the records in the list, or in the answer to a get, a create or an update."""
        if place == "list":
            return self.listed.rows()
        replies = {"get": "read", "create": "created", "update": "updated"}
        reply: Reply = getattr(self, replies[place])
        return [reply.record()]
