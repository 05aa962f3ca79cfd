"""Trial: one run of the facts against an account; what it creates, it removes."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from chatkit.call import Call
from chatkit.client import Client
from chatkit.conformance.fact import not_told
from chatkit.conformance.marked import Made, remove_all
from chatkit.conformance.reply import Reply
from chatkit.errors import CallError, InputError
from chatkit.secret import Secret
from chatkit.transport import Transport

E = TypeVar("E")

#: What makes an access token that has exactly these permissions.
MakeToken = Callable[[Iterable[str]], str]
#: What makes the service send one event of a kind.
SendEvent = Callable[[str], None]
#: What every name begins with that a trial gives.
MARK = "chatkit conformance"


class Caller:
    """Sends the calls of one access token, and remembers what they create."""

    def __init__(self, trial: Trial, transport: Transport) -> None:
        self.profile = trial.profile
        self._trial = trial
        self._transport = transport

    def get(self, *segments: str | int, **query: str | int) -> Reply:
        """Read."""
        return self._send(_call("GET", segments, query))

    def create(self, path: tuple[str, ...], body: Mapping[str, Any]) -> Reply:
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

    def change(self, method: str, path: tuple[str | int, ...], body: Mapping[str, Any]) -> Reply:
        """Change a record that the trial created."""
        self._may_write()
        return self._send(_call(method, path, body=body))

    def delete(self, *path: str | int) -> Reply:
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

    def _send(self, call: Call) -> Reply:
        try:
            answer = self._transport.answer(call)
        except CallError as error:
            return Reply(call, None, failure=type(error).__name__)
        reply = Reply(call, answer.status, answer.body)
        self._trial.replies.append(reply)
        return reply


def _call(method: str, segments: tuple[str | int, ...], *args: Any, **more: Any) -> Call:
    try:
        return Call(method, segments, *args, **more)
    except InputError:  # an id that the service told, and that no address can hold
        not_told("the id of a record cannot be part of an address")


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
        self.replies: list[Reply] = []
        self.made: list[Made] = []
        self.left: dict[Made, str] = {}
        self.contacts: set[str | int] = set()
        self.notes: list[str] = []
        self._make_token = make_token
        self._users: dict[frozenset[str], Caller] = {}
        self._strangers: list[Caller] = []
        self._evidence: dict[Any, Any] = {}
        self.caller = Caller(self, client.transport)

    @property
    def marker(self) -> str:
        """What the names of this trial begin with; three words, another for each trial."""
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

    def user(self, permissions: Iterable[str]) -> Caller:
        """A caller whose token has exactly these permissions."""
        if self._make_token is None:
            not_told("needs access tokens with other permissions")
        wanted = frozenset(permissions)
        if wanted not in self._users:
            self._users[wanted] = self.stranger(self._make_token(sorted(wanted)))
        return self._users[wanted]

    def stranger(self, token: str) -> Caller:
        """A caller with another access token."""
        caller = Caller(self, self.client.transport.with_token(Secret(token)))
        self._strangers.append(caller)
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
            for caller in self._strangers:
                caller.close()
            for line in self.left.values() if error else ():
                error.add_note(f"Left behind: {line}")  # type: ignore[union-attr]
