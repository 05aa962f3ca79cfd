"""Reply: what came back for one call of a trial, whatever it was."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from chatkit.call import Call
from chatkit.conformance.fact import expect, not_told
from chatkit.conformance.field import shape
from chatkit.profile import ServiceProfile

#: A token that may not do this, or too many calls: they tell nothing about the operation.
_UNTOLD = (401, 403, 429)


@dataclass(frozen=True)
class Reply:
    """The answer to a call: its status and its decoded body; status None: there was none."""

    call: Call
    status: int | None
    body: bytes = b""
    failure: str = ""

    @property
    def ok(self) -> bool:
        """Whether the service did it."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        """Whether the service understood and said no."""
        return self.status is not None and 400 <= self.status < 500 and self.status != 429

    @property
    def outcome(self) -> str:
        """What came back, in words and without a text of the service: it may be an echo."""
        got = f"no answer ({self.failure})" if self.status is None else f"{self.status}"
        return f"{self.call.method} {self.call.segments[0]} was answered with {got}"

    @cached_property
    def json(self) -> Any:
        """The decoded body; `msgspec.UNSET` when it is not JSON."""
        try:
            return msgspec.json.decode(self.body)
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
        expect(type(self.data) is list, f"data is {_shape(self.data)}, not an array")

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
        expect(type(self.data) is dict, f"data is {_shape(self.data)}, not an object")
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
        expect(self.data is None, f"data is {_shape(self.data)}, not null")

    def _expect_body(self, expected: int) -> None:
        if self.status == expected == 204:
            not_told("204, as the profile expects, carries no body")


def _shape(value: Any) -> str:
    return "missing" if value is msgspec.UNSET else shape(value)
