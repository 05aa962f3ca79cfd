"""A sandbox whose answers go wrong on chosen calls, and what the tests of the engine share."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from caller import ROOT, Caller, client_through
from documents import DOCUMENT
from internals import identity_of

import chatkit
from chatkit.api.retry import DEFAULT, RetryPolicy
from chatkit.api.secret import Secret
from chatkit.bulk.changes import Change
from chatkit.bulk.journal import PlanPart
from chatkit.bulk.plan import Plan, Setting
from chatkit.client import Client
from chatkit.profile import ServiceProfile
from chatkit.templates import Templates

Answer = tuple[int, Mapping[str, str], bytes]
#: Answers a call as it likes, and makes it by calling its argument.
Fault = Callable[[Callable[[], Answer]], Answer]
JSON = {"content-type": "application/json"}

# --- what goes wrong --------------------------------------------------------------------------


def dropped(do: Callable[[], Answer]) -> Answer:
    """Close the connection; nothing was done."""
    raise ConnectionResetError


def lost(do: Callable[[], Answer]) -> Answer:
    """Do it, and close the connection."""
    do()
    raise ConnectionResetError


def right(do: Callable[[], Answer]) -> Answer:
    return do()


def html(do: Callable[[], Answer]) -> Answer:
    """Answer with a page in place of doing the call."""
    return 200, {"content-type": "text/html"}, b"<html><h1>Please sign in</h1></html>"


def unreachable(do: Callable[[], Answer]) -> Answer:
    """Have the call fail before it has left."""
    raise aiohttp.ConnectionTimeoutError


def answers(status: int, body: bytes = b"", **fields: str) -> Fault:
    """Answer this without doing the call."""
    return lambda do: (status, JSON | {k.replace("_", "-"): v for k, v in fields.items()}, body)


def after(status: int, body: bytes = b"", **fields: str) -> Fault:
    """Do the call, and answer this."""

    def fault(do: Callable[[], Answer]) -> Answer:
        do()
        return answers(status, body, **fields)(do)

    return fault


def slow(seconds: float, then: Fault = right) -> Fault:
    def fault(do: Callable[[], Answer]) -> Answer:
        time.sleep(seconds)
        return then(do)

    return fault


class Held:
    """No answer before the end of its `with` block; what comes after that is in time."""

    def __init__(self, then: Fault = dropped) -> None:
        self._then, self._release = then, threading.Event()
        self.answered_before_release = 0  #: calls that waited in vain: their caller hangs

    def __call__(self, do: Callable[[], Answer]) -> Answer:
        if not self._release.wait(60):
            self.answered_before_release += 1
        return self._then(do)

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *_: object) -> None:
        self._release.set()


def first(action: Callable[[], object], then: Fault = dropped) -> Fault:
    """Have somebody else do something first."""

    def fault(do: Callable[[], Answer]) -> Answer:
        action()
        return then(do)

    return fault


def interrupting(then: Fault = right, times: int = 1) -> Fault:
    """Press the stop button, and go on."""

    def fault(do: Callable[[], Answer]) -> Answer:
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
        return then(do)

    return fault


# --- the service ------------------------------------------------------------------------------


@dataclass
class Sent:
    """One call as it arrived."""

    method: str
    path: str
    body: Any
    at: float = field(default_factory=time.monotonic)

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"


class Service:
    """A sandbox with faults before its answers, and a log of its calls."""

    def __init__(self, profile: ServiceProfile | None = None) -> None:
        self.sandbox = chatkit.Sandbox(seed="empty", profile=profile)
        self.caller = Caller(self.sandbox)
        self.sent: list[Sent] = []
        self.arrival: Callable[[Sent], object] = lambda sent: None  #: runs first at each call
        self._rules: list[tuple[str, str, Iterator[Fault]]] = []
        self._timers: list[threading.Timer] = []
        self._lock = threading.Lock()

    def on(self, method: str, part: str, *faults: Fault, forever: Fault = right) -> None:
        """Have calls of a method, whose path or body holds a text, meet these faults in turn."""

        def each() -> Iterator[Fault]:
            yield from faults
            while True:
                yield forever

        with self._lock:
            self._rules.insert(0, (method, part, each()))

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        path = target.removeprefix(f"{ROOT}1001/")
        sent = Sent(method, path, json.loads(body) if body else None)
        with self._lock:
            self.sent.append(sent)
            text = f"{path} {body.decode()}"
            faults = (f for m, part, f in self._rules if m == method and part in text)
            fault = next(next(faults, iter([right])), right)
        self.arrival(sent)
        return fault(lambda: self.sandbox.answer(method, target, headers, body))

    def late(self, seconds: float, then: Fault = dropped) -> Fault:
        """Do it some time after the connection was closed."""

        def fault(do: Callable[[], Answer]) -> Answer:
            timer = threading.Timer(seconds, do)
            self._timers.append(timer)
            timer.start()
            return then(do)

        return fault

    def quiet(self) -> None:
        """Wait until all late calls have taken effect."""
        for timer in self._timers:
            timer.join()

    def client(
        self, *, deadline: float = 5.0, base_url: str = "", retry: RetryPolicy | None = DEFAULT
    ) -> Client:
        """Return a client of this account, in this process or at the address that serves it."""
        return client_through(
            None if base_url else self.answer,
            deadline=deadline,
            retry=retry,
            base_url=base_url or "http://localhost",
            account_id=self.sandbox.account_id,
            token=Secret(self.sandbox.token),
            profile=self.sandbox.profile,
            sandbox=identity_of(self.sandbox),
            passing=True,
        )

    # --- the true state ---

    def writes(self, method: str = "") -> list[Sent]:
        return [s for s in self.sent if s.method != "GET" and method in ("", s.method)]

    def all(self, resource: str) -> list[dict[str, Any]]:
        """Return every record of a resource, read past all faults."""
        result: list[dict[str, Any]] = []
        profile = self.sandbox.profile
        page = profile.page_base
        while True:
            reply = self.caller("GET", f"/{resource}?page={page}&pageSize={profile.max_page_size}")
            result += reply.data
            if "pagination" not in reply.json or len(result) >= reply.total:
                return result
            page += 1

    def numbers(self) -> list[str]:
        return [contact["number"] for contact in self.all("contacts")]

    def names(self) -> list[str]:
        return [flow["name"] for flow in self.all("flows")]


@contextmanager
def wayward(**points: Any) -> Iterator[Service]:
    """A service with an empty account; the arguments are points of its profile."""
    service = Service(ServiceProfile(**points))
    try:
        yield service
    finally:
        service.quiet()
        service.sandbox.close()


def hiding(name: str) -> Fault:
    """Answer without a field."""

    def fault(do: Callable[[], Answer]) -> Answer:
        status, fields, body = do()
        report = json.loads(body)
        report["data"].pop(name, None)
        return status, fields, json.dumps(report).encode()

    return fault


# --- plans ------------------------------------------------------------------------------------


def contact(n: int, name: str = "Ana Cruz") -> Change:
    """Plan to create the contact number n."""
    number = number_of(n)
    return Change(n, "create", None, f"+1 {number}", {}, _contact(number, name))


def number_of(n: int) -> str:
    return f"2025{n:06d}"


def _contact(number: str, name: str) -> dict[str, Any]:
    return {"number": number, "country_code": "+1", "name": name}


def flow(n: int, name: str = "", **fields: Any) -> Change:
    name = name or f"Flow {n}"
    after = {"name": name, "template_name": "default", "flow_json": DOCUMENT} | fields
    return Change(n, "create", None, name, {}, after)


def webhook(n: int) -> Change:
    url = f"https://hooks.example/{n}"
    return Change(n, "create", None, url, {}, {"url": url, "events": ["*"]})


def content(n: int, lang: str = "en", code: str = "greeting", text: str = "Hello") -> Change:
    after = {"lang_code": lang, "text": text}
    return Change(n, "create", lang, f"{code}/{lang}", {}, after, code)


def patch_key(n: int, key: int, name: str = "Zoë Li", was: str = "Ana Cruz") -> Change:
    return Change(n, "update", key, number_of(n), {"name": was}, {"name": name})


def deletion(n: int, key: int, name: str = "Ana Cruz") -> Change:
    return Change(n, "delete", key, number_of(n), _contact(number_of(n), name))


def plan_of(resource: Any, changes: Sequence[Change], *, known: Sequence[int] = ()) -> Plan:
    """A plan of these changes, in an account that has plenty of records."""
    many = isinstance(resource, Templates)
    source: Any = resource._target
    account = source.transport.connection.account
    noun = "content" if many else source.noun
    parts = {noun: PlanPart(10**6, tuple(known))}
    return Plan(source, Setting(account, noun, ("row",), parts), changes)
