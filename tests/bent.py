"""A sandbox whose answers are wrong on purpose, to prove that they are noticed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import chatkit

ALL_TOKEN = "the token with all permissions"


class Exchange:
    """One call and its answer, both open to change."""

    def __init__(self, method: str, target: str, headers: dict[str, str], body: bytes) -> None:
        path, _, query = target.partition("?")
        self.method, self.headers = method, headers
        self.prefix, self.segments = path.split("/")[:8], path.split("/")[8:]
        self.query: dict[str, Any] = dict(parse_qsl(query))
        self.sent: dict[str, Any] = json.loads(body) if body else {}
        self.status, self.body = 0, b""
        self.envelope: dict[str, Any] = {}

    @property
    def resource(self) -> str:
        return self.segments[0]

    @property
    def verb(self) -> str:
        if self.method != "GET":
            return {"POST": "create", "DELETE": "delete"}.get(self.method, "update")
        if self.segments[-1] == "languages":
            return "languages"
        return "list" if len(self.segments) in (1, 3) else "get"

    def of(self, resource: str, verbs: str) -> bool:
        return resource in (self.resource, "any") and self.verb in verbs.split()

    def asked(self) -> tuple[str, bytes]:
        """Return the target and the body, as they are now."""
        target = "/".join([*self.prefix, *self.segments])
        target += "?" + urlencode(self.query) if self.query else ""
        return target, json.dumps(self.sent).encode() if self.sent else b""

    @property
    def records(self) -> list[dict[str, Any]]:
        """Return the records of the answer."""
        data = self.envelope.get("data")
        return data if isinstance(data, list) else [data] if isinstance(data, dict) else []


Bend = Callable[[Exchange], None]


class Bent:
    """A sandbox whose calls or answers are changed: before a call, after it, or both."""

    def __init__(
        self, sandbox: chatkit.Sandbox, before: Bend | None = None, after: Bend | None = None
    ) -> None:
        self.account_id, self.token, self.profile = (
            sandbox.account_id,
            sandbox.token,
            sandbox.profile,
        )
        self._identity, self._in_memory = sandbox._identity, sandbox._in_memory
        self._sandbox = sandbox
        self._before, self._after = before, after
        self.calls = 0

    def answer(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        self.calls += 1
        exchange = Exchange(method, target, dict(headers), body)
        if self._before:
            self._before(exchange)
        if exchange.headers.get("authorization") == ALL_TOKEN:
            exchange.headers["authorization"] = f"Bearer {self.token}"
        asked, sent = exchange.asked()
        exchange.status, fields, exchange.body = self._sandbox.answer(
            exchange.method, asked, exchange.headers, sent
        )
        if 200 <= exchange.status < 300 and exchange.body:
            exchange.envelope = json.loads(exchange.body)
        if self._after:
            self._after(exchange)
            if exchange.envelope:
                exchange.body = json.dumps(exchange.envelope).encode()
        return exchange.status, fields, exchange.body


def status(resource: str, verb: str, number: int) -> Bend:
    """Answer a successful operation with another status."""

    def bend(x: Exchange) -> None:
        if x.of(resource, verb) and x.envelope:
            x.status = number

    return bend


def record(resource: str, verbs: str, change: Callable[[dict[str, Any]], object]) -> Bend:
    """Change every record in the answers of some operations."""

    def bend(x: Exchange) -> None:
        if x.of(resource, verbs):
            for item in x.records:
                change(item)

    return bend


def drop(resource: str, verbs: str, field: str) -> Bend:
    """Leave a field out of every record in the answers of some operations."""
    return record(resource, verbs, lambda item: item.pop(field, None))


def put(resource: str, verbs: str, **fields: Any) -> Bend:
    """Set fields of every record in the answers of some operations."""
    return record(resource, verbs, lambda item: item.update(fields))


def envelope(resource: str, verbs: str, **fields: Any) -> Bend:
    """Set fields of the envelope."""

    def bend(x: Exchange) -> None:
        if x.of(resource, verbs) and x.envelope:
            x.envelope.update(fields)

    return bend


def bare(resource: str, verbs: str, field: str) -> Bend:
    """Leave a field out of the envelope."""

    def bend(x: Exchange) -> None:
        if x.of(resource, verbs):
            x.envelope.pop(field, None)

    return bend


def sent(resource: str, verb: str, change: Callable[[dict[str, Any]], object]) -> Bend:
    """Change the body of an operation before the service reads it."""

    def bend(x: Exchange) -> None:
        if x.of(resource, verb):
            change(x.sent)

    return bend


def unlocked(resource: str, verbs: str) -> Bend:
    """Skip the permissions of some operations."""

    def bend(x: Exchange) -> None:
        if x.of(resource, verbs):
            x.headers["authorization"] = ALL_TOKEN

    return bend
