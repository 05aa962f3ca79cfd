"""Probes: read-only questions to an account, and the replies to them, errors included.

Two parts of chatkit ask an account about itself. The doctor (`checkup`) asks what the token may
do and what the service does where the API document is silent; it writes nothing. Conformance
asks whether the service does what the document states; its `Caller` is a `Prober` that may also
write marked records. Who asks what:

| probe | the doctor tells from it | conformance tells from it |
|---|---|---|
| a list without a query | View permissions, pagination, ids, times | envelope, fields, pagination |
| a page by number and size | default and largest size, no such page | that pages follow |
| one record by its key | the form of flow documents | fields, that it is the one asked for |
| the language lookup | the permission for templates | codes and labels |
| a list through a filter | the names of the parameters | that search and status filter work |
| an id, a code that nobody has | status and shape of refusals | |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec

from chatkit.answer import Answer, Pagination
from chatkit.call import Call
from chatkit.errors import CallError, Refused
from chatkit.transport import Transport

#: An id and a template code that no account has.
_NO_ID = 2147483646
_NO_CODE = "chatkit_doctor_none"


@dataclass(frozen=True)
class Reply:
    """Reply to one call: an answer, and the error if there is none that can be used."""

    call: Call
    answer: Answer | None = None
    error: CallError | None = None

    @property
    def status(self) -> int | None:
        """The HTTP status; None when there was no answer."""
        return None if self.answer is None else self.answer.status

    @property
    def granted(self) -> bool:
        """Whether the service did it, and answered as the document describes."""
        return self.error is None

    @property
    def refused(self) -> bool:
        """Whether the service understood and said no."""
        return isinstance(self.error, Refused) and self.status != 429

    @property
    def said(self) -> str:
        """The status or the kind of failure; never a text of the service: it may be an echo."""
        return str(self.status) if self.status is not None else type(self.error).__name__

    @cached_property
    def json(self) -> Any:
        """The decoded body; `msgspec.UNSET` when it is not JSON."""
        try:
            return msgspec.json.decode(self.answer.body if self.answer else b"")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return msgspec.UNSET

    @property
    def envelope(self) -> dict[str, Any]:
        """The fields of the envelope; none when it is no object."""
        return self.json if type(self.json) is dict else {}

    @property
    def data(self) -> Any:
        """The `data` of the envelope; `msgspec.UNSET` when there is none."""
        return self.envelope.get("data", msgspec.UNSET)

    @property
    def found(self) -> list[dict[str, Any]]:
        """The records of a list, or the one record, as far as they are objects."""
        data = self.data if self.granted else []
        return [row for row in (data if isinstance(data, list) else [data]) if type(row) is dict]

    @property
    def pagination(self) -> Pagination | None:
        """Pagination of the page, if it was told."""
        told = self.envelope.get("pagination") if self.granted else None
        return None if told is None else msgspec.convert(told, Pagination)


AnyReply = TypeVar("AnyReply", bound=Reply)


class Prober(Generic[AnyReply]):
    """Asks an account read-only questions: it makes no other calls than GET.

    Args:
        transport: The way to the account.
        reply: What is made of what comes back.
    """

    def __init__(self, transport: Transport, reply: type[AnyReply]) -> None:
        self.profile = transport.profile
        self._transport = transport
        self._reply = reply

    def get(self, *segments: str | int, **query: str | int) -> AnyReply:
        """Read, and bring back whatever came of it."""
        return self._send(Call("GET", segments, query))

    def page(self, resource: str, number: int, size: int | None = None) -> AnyReply:
        """Read a page of a list by its number, of a size if one is given."""
        sized = {} if size is None else {"pageSize": size}
        return self.get(resource, page=number, **sized)

    def filtered(self, *path: str, by: str, text: str) -> AnyReply:
        """Read a list through one of its parameters."""
        return self.get(*path, **{by: text})

    def languages(self, template_code: str) -> AnyReply:
        """Read the languages that contents of a template may have."""
        return self.get("templates", template_code, "contents", "lookups", "languages")

    def unknown_record(self, resource: str) -> AnyReply:
        """Read a record that nobody has."""
        return self.get(resource, _NO_ID)

    def unknown_template(self) -> AnyReply:
        """Read the contents of a template that nobody has."""
        return self.get("templates", _NO_CODE, "contents")

    def _send(self, call: Call) -> AnyReply:
        answer = None
        try:
            answer = self._transport.answer(call)
            answer.unwrap(self.profile)
        except CallError as error:
            return self._reply(call, answer, error)
        return self._reply(call, answer)
