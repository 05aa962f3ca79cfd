"""A sandbox in this process on which anything may happen at any call, as it was drawn."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
from caller import ROOT, Caller
from faults.model import Known, Model, Write, held

import chatkit
from chatkit import transport
from chatkit.bulk import apply, judge
from chatkit.bulk.apply import Run
from chatkit.bulk.interrupt import Interrupt
from chatkit.bulk.journal import Journal
from chatkit.bulk.judge import Judge
from chatkit.bulk.reconcile import Search
from chatkit.client import Client
from chatkit.connection import Connection
from chatkit.sandbox.operations import PERMISSIONS
from chatkit.secret import Secret
from chatkit.transport import Flight, Transport

Answer = tuple[int, Mapping[str, str], bytes]
JSON = {"content-type": "application/json"}
HTML = (200, {"content-type": "text/html"}, b"<html>Please sign in</html>")
NULL = (200, JSON, b'{"success":true,"data":null}')
_SLOW_DOWN = (429, {**JSON, "retry-after": "0.01"}, b"{}")

#: What may happen to a write: whether it takes effect, and what is answered (None: nothing).
WRITES: dict[str, tuple[bool, Answer | None]] = {
    "dropped": (False, None),
    "lost": (True, None),
    "500 before": (False, (500, JSON, b"{}")),
    "502 after": (True, (502, {}, b"")),
    "HTML before": (False, HTML),
    "HTML after": (True, HTML),
    "empty": (True, (200, JSON, b"")),
    "null": (True, NULL),
    "429": (False, _SLOW_DOWN),
}
READS: dict[str, tuple[bool, Answer | None]] = {
    "dropped": (False, None),
    "500": (False, (500, JSON, b"{}")),
    "HTML": (False, HTML),
    "429": (False, _SLOW_DOWN),
}
#: What may happen to both.
BOTH = ("cut short", "unreachable", "stop", *(f"theirs {n}" for n in range(4)))
#: Where a process may end.
POINTS: dict[str, tuple[type, str]] = {
    f"{owner.__name__}.{name}": (owner, name)
    for owner, names in {
        Journal: ("write", "commit"),
        Flight: ("start", "landed"),
        Judge: ("landed", "note", "adopt", "absent"),
        Run: ("_settled", "_close"),
        Search: ("look",),
    }.items()
    for name in names
}


class Crash(BaseException):
    """The process ends here, as far as the engine can tell."""


@dataclass(frozen=True)
class Sky:
    """What happens while a run is at work: to its writes and reads in turn, and to itself."""

    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    crash: tuple[str, int, bool] | None = None  #: a point, which call of it, before or after
    concurrency: int = 1

    @property
    def calm(self) -> bool:
        return not (self.writes or self.reads or self.crash)


CALM = Sky()


class WildService:
    """A sandbox, its model, and a door between it and the client."""

    def __init__(self, profile: chatkit.ServiceProfile, fill: Callable[[Caller], object]) -> None:
        self.sandbox = chatkit.Sandbox(seed="empty", profile=profile)
        self.caller = Caller(self.sandbox)
        fill(self.caller)
        self.model = Model(held(self.sandbox), replaces=profile.put == "replace")
        self.requests = 0
        self._token = self.sandbox.make_token(*PERMISSIONS, actor="Somebody else")
        self._lock = threading.RLock()
        self._thread = ThreadPoolExecutor(1)  # calls are answered in their order
        self._calls: list[Future[Any]] = []
        self._run: Known | None = None
        self._interrupt: Interrupt | None = None
        self._sky: dict[bool, Iterator[str]] = {}

    def client(self) -> Client:
        connection = Connection(
            base_url="http://localhost",
            account_id=self.sandbox.account_id,
            token=Secret(self.sandbox.token),
            profile=self.sandbox.profile,
            sandbox=self.sandbox.identity,
        )
        return Client._made(connection, Transport(connection, door=self._door, deadline=5.0))

    def other(self, method: str, path: str, **body: Any) -> int:
        """Have somebody else do something; the status."""
        with self._lock:
            reply = self.caller(method, f"/{path}", body or None, token=self._token)
            self.model.theirs(held(self.sandbox))
            if self._run:
                self._run.look(self.model.records)
            return reply.status

    @contextmanager
    def at_work(self, run: Known, sky: Sky) -> Iterator[None]:
        """Have a run at work while a block lasts, in this weather; it may end in a `Crash`."""
        self.quiet()
        self._run, self.model.seen = run, {}
        self._sky = {True: iter(sky.writes), False: iter(sky.reads)}
        self.model.sure = sky.concurrency == 1
        run.begin(self.model.records)
        enter = Interrupt.__enter__

        def entering(interrupt: Interrupt) -> Interrupt:
            self._interrupt = interrupt
            return enter(interrupt)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Interrupt, "__enter__", entering)
            if sky.crash:
                _crashing(patch, *sky.crash)
            try:
                yield
            finally:
                self.quiet()
                self._run, self._sky = None, {}

    def quiet(self) -> None:
        """Wait until no call is under way: one that was given up may still land."""
        wait(self._calls)
        self._calls.clear()

    def in_thread(self, function: Callable[..., Any], *args: Any) -> Awaitable[Any]:
        """Do as asyncio does, but know what is under way."""
        self._calls.append(self._thread.submit(function, *args))
        return asyncio.wrap_future(self._calls[-1])

    def close(self) -> None:
        self.quiet()
        self._thread.shutdown()
        self.sandbox.close()

    # --- the door -------------------------------------------------------------------

    def _door(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        with self._lock:
            self.requests += 1
            path = target.removeprefix(f"{ROOT}{self.sandbox.account_id}/")
            what = next(self._sky.get(method != "GET", iter(())), "right")
            return self._weathered(
                what, method, path, lambda: self._do(method, target, path, headers, body)
            )

    def _weathered(self, what: str, method: str, path: str, do: Callable[[], Answer]) -> Answer:
        if what == "unreachable":
            raise aiohttp.ConnectionTimeoutError
        if what == "stop" and self._interrupt:
            self._interrupt.ask()
        if what.startswith("theirs"):
            self._meddle(int(what[-1]), method, path)
        if what == "cut short":
            status, fields, body = do()
            self.model.seen.pop(_place(path), None)
            return status, fields, body[:-3]
        kinds = READS if method == "GET" else WRITES
        if what not in kinds:
            return do()
        effect, answer = kinds[what]
        done = do() if effect else None
        if answer is None:
            raise ConnectionResetError
        return done if done and what == "null" and done[0] >= 300 else answer

    def _do(
        self, method: str, target: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Answer:
        """Have the sandbox do it, and the model take it."""
        status, fields, answer = self.sandbox.answer(method, target, headers, body)
        place = _place(path)
        if method == "GET":
            if status == 200 and place in self.model.records:
                self.model.seen[place] = self.model.records[place]
            elif place[1] is None and place[0] == "webhooks":  # it has no other way to be read
                self.model.seen |= {
                    p: r for p, r in self.model.records.items() if p[0] == "webhooks"
                }
        elif 200 <= status < 300:
            assert self._run, f"{method} {path}: no run is at work"
            self.model.ours(self._run, Write.of(method, path, body), held(self.sandbox))
            self._run.look(self.model.records)
        return status, fields, answer

    def _meddle(self, how: int, method: str, path: str) -> None:
        """Have somebody else touch the very record that a call is about, just before it."""
        assert self._run
        change = next((c for c in self._run.changes if self._run.place(c) == _place(path)), None)
        if change is None:
            creates = [c for c in self._run.changes if c.kind == "create"]
            change = (creates or list(self._run.changes))[0]
        meddle(self.other, self._run.room, change, how)


def _place(path: str) -> tuple[str, Any]:
    """The place that a path is about; None: the whole room."""
    room, *rest = path.partition("?")[0].split("/")
    if room == "templates":
        return "contents", (rest[0], rest[2] if len(rest) > 2 else None)
    return room, int(rest[0]) if rest else None


def meddle(other: Callable[..., int], room: str, change: Any, how: int) -> None:
    """Change what a row is about: its field (0), another (1), delete it (2), do the same (3)."""
    path = f"templates/{change.code}/contents" if change.code else room
    theirs: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "contacts": ({"name": "Their Name"}, {"country_code": "+7"}),
        "flows": ({"flow_json": {"version": "1.0", "screens": []}}, {"flow_json_raw": "theirs"}),
        "contents": ({"text": "Theirs"}, {"footer": "Theirs"}),
        "webhooks": ({"events": ["theirs"]}, {"is_active": False}),
    }
    update = "PATCH" if room == "webhooks" else "PUT"
    if change.kind == "create":
        other("POST", path, **{**change.after, **(theirs[room][0] if how == 0 else {})})
    elif how == 2 or (how == 3 and change.kind == "delete"):
        other("DELETE", f"{path}/{change.key}")
    elif how == 3:
        other(update, f"{path}/{change.key}", **change.after)
    else:
        other(update, f"{path}/{change.key}", **theirs[room][how])


def _crashing(patch: pytest.MonkeyPatch, point: str, call: int, after: bool) -> None:
    """Have the process end at the so-manieth call of a method; nothing is written from then on."""
    left, dead = [call], [False]

    def wrapped(method: Callable[..., Any], *, counts: bool) -> Callable[..., Any]:
        @functools.wraps(method)
        def crash(*args: Any, **kwargs: Any) -> Any:
            if dead[0]:
                raise Crash
            left[0] -= counts
            if counts and not left[0]:
                if after:
                    method(*args, **kwargs)
                dead[0] = True
                raise Crash
            return method(*args, **kwargs)

        return crash

    owner, name = POINTS[point]
    patch.setattr(owner, name, wrapped(getattr(owner, name), counts=True))
    if point != "Journal.commit":
        patch.setattr(Journal, "commit", wrapped(Journal.commit, counts=False))


class _Quick:
    """Chance that never waits."""

    @staticmethod
    def uniform(low: float, high: float) -> float:
        return 0.0


def hurried(patch: pytest.MonkeyPatch, *, tight: bool) -> None:
    """Let nothing wait for real; if tight, have limits that small plans meet."""
    patch.setattr(transport, "random", _Quick)
    patch.setattr(transport, "TRIES", 2)
    patch.setattr("chatkit.bulk.pace.Pace.hold", lambda pace, seconds: None)
    if tight:
        patch.setattr(apply, "CANARY_FROM", 3)
        patch.setattr(apply, "CANARY", 1)
        patch.setattr(apply, "ATTEMPTS", 3)
        patch.setattr(judge, "ATTEMPTS", 3)
        patch.setattr(judge, "DOUBTS", 2)
        patch.setattr(judge, "REFUSALS", 2)
