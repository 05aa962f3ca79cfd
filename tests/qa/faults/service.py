"""A service that goes wrong on purpose and knows the truth: a sandbox behind faulty HTTP.

`python -m faults.service` prints its address as JSON and serves until its standard input ends.
All of it runs in one thread, so the order of its log is the order in which things happened.
Under `/_control/` it takes commands and returns the truth; see `Account` in account.py.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from faults.kinds import KINDS, http, set_to_reset

from chatkit.profile import ServiceProfile
from chatkit.sandbox import Sandbox
from chatkit.sandbox.service import PERMISSIONS

RESOURCES = ("contacts", "flows", "contents", "webhooks")
_BYTE_EVERY = 0.05


class Request(NamedTuple):
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Line(asyncio.Protocol):
    """One connection: reads requests, and answers rightly or wrongly."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.buffer = b""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            first, *rest = self.buffer[:end].decode("latin-1").split("\r\n")
            fields = {k.lower(): v.strip() for k, _, v in (r.partition(":") for r in rest)}
            stop = end + 4 + int(fields.get("content-length", 0))
            if len(self.buffer) < stop:
                return
            body, self.buffer = self.buffer[end + 4 : stop], self.buffer[stop:]
            method, target, _ = first.split(" ")
            self.service.arrived(self, Request(method, target, fields, body))

    def send(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(data)

    def close(self) -> None:
        self.transport.close()

    def reset(self) -> None:
        """Deliver the request, then break off the connection."""

        def now() -> None:
            if not self.transport.is_closing():
                set_to_reset(self.transport.get_extra_info("socket"))
                self.transport.abort()

        self.service.loop.call_later(0.005, now)

    def drip(self, data: bytes) -> None:
        """Send a byte now and then: no time-out between two bytes ever fires."""
        if data and not self.transport.is_closing():
            self.send(data[:1])
            self.service.loop.call_later(_BYTE_EVERY, self.drip, data[1:])


class Service:
    """The sandbox, its faults, its second writer, and the log of what truly happened."""

    def __init__(self, profile: ServiceProfile) -> None:
        self.loop = asyncio.get_running_loop()
        self.sandbox = Sandbox(seed="empty", profile=profile)
        self.writer_token = self.sandbox.make_token(*PERMISSIONS, actor="Somebody else")
        self.effects: list[dict[str, Any]] = []
        self.reads: list[tuple[int, list[Any]]] = []
        self.requests: Counter[str] = Counter()
        self.met: Counter[str] = Counter()
        self.seen: Counter[tuple[str, str, bytes]] = Counter()
        self.sequence = self.pending = 0
        self.marks: dict[str, int] = {}
        self.armed: tuple[int, int, str] | None = None
        self.faults(rates={})
        self.writer([], 0.0)

    # --- commands -------------------------------------------------------------------

    def faults(
        self,
        rates: Mapping[str, float],
        *,
        reads: float = 0.0,
        verbs: tuple[str, ...] | list[str] = ("POST", "PUT", "PATCH", "DELETE"),
        seed: int = 0,
        late: float = 0.25,
        latency: float = 0.0,
        seconds: float = 1e9,
        html: float = 0.0,
        extras: bool = False,
    ) -> None:
        """Set the faults: how often a write meets each kind, how often a read meets any.

        Args:
            rates: For each kind, how many of the writes meet it.
            reads: How many of the reads meet one of these kinds.
            verbs: The methods that are writes.
            seed: The same calls meet the same faults again.
            late: Seconds until a late call takes effect.
            latency: Seconds before anything is done with a call.
            seconds: After so many seconds the faults are over.
            html: How many of the reads are answered with a page of HTML, beside those of `reads`.
            extras: Whether records show fields that the API document does not know.
        """
        self.html, self.extras = html, extras
        assert not (unknown := set(rates) - set(KINDS)), unknown
        self.over = self.loop.time() + seconds
        self.rates, self.read_rate, self.verbs = dict(rates), reads, tuple(verbs)
        self.seed, self.late, self.latency = seed, late, latency

    def writer(self, edits: list[list[Any]], rate: float, limit: int = 10**9) -> None:
        """Set the second writer: one of these edits before so many of the client's requests."""
        self.edits, self.edit_rate, self.edit_limit = edits, rate, limit
        self.writing = random.Random(self.seed)

    def call(self, calls: list[list[Any]], token: str | None = None) -> list[Any]:
        """Make calls past all faults; their status and data."""
        who = "writer" if token == self.writer_token else None
        return [self._call(*call, token=token or self.sandbox.token, who=who) for call in calls]

    def arm(self, number: int, after: int, stage: str) -> None:
        """Print `kill NUMBER` at a stage of the nth request from now."""
        self.armed = (number, after, stage)

    def mark(self, name: str) -> int:
        """Note that something begins, once; the place in the log."""
        return self.marks.setdefault(name, self._next())

    def writes(self) -> int:
        """Return the number of writes that have arrived."""
        return sum(count for method, count in self.requests.items() if method != "GET")

    def truth(self) -> dict[str, Any]:
        """Return everything that happened, and the records of the account."""
        return {
            "effects": self.effects,
            "reads": self.reads,
            "marks": self.marks,
            "requests": self.requests,
            "faults": self.met,
            "state": {resource: self._records(resource) for resource in RESOURCES},
        }

    def forget(self) -> None:
        """Begin a new log; the account stays as it is."""
        self.effects, self.reads, self.marks = [], [], {}
        self.requests.clear()
        self.met.clear()
        self.seen.clear()

    # --- calls ----------------------------------------------------------------------

    def arrived(self, line: Line, request: Request) -> None:
        if request.target.startswith("/_control/"):
            self._control(line, request)
        elif self.latency:
            self.loop.call_later(self.latency, self._take, line, request)
        else:
            self._take(line, request)

    def _take(self, line: Line, request: Request) -> None:
        self.requests[request.method] += 1
        sent = self._next()
        stage = self._stage()
        if stage == "arrived":
            self._kill()
        if self.edits and self.edit_limit and self.writing.random() < self.edit_rate:
            self._edit()
        name, rng = self._draw(request)
        if name is None:
            whole = self._do(request, sent, seen=True)
            if stage == "done":  # the answer never gets there
                self._kill()
                self.loop.call_later(0.5, line.send, whole)
                return
            line.send(whole)
        else:
            self.met[name] += 1
            kind = KINDS[name]
            if kind.effect == "later":
                self.pending += 1
                self.loop.call_later(rng.uniform(0.02, self.late), self._land, request, sent)
            if kind.effect == "twice":
                self._do(request, sent)
            whole = (
                self._do(request, sent, echo=kind.effect == "twice")
                if (kind.effect in ("now", "twice"))
                else b""
            )
            kind.spoil(line, whole, rng)
        if stage == "answered":
            self._kill()

    def _draw(self, request: Request) -> tuple[str | None, random.Random]:
        """Choose the fault of a call: by the seed, the call, and how often it came before."""
        same = (request.method, request.target, request.body)
        rng = random.Random(f"{self.seed} {same} {self.seen[same]}")
        self.seen[same] += 1
        chance = rng.random()
        if self.loop.time() > self.over:
            return None, rng
        if request.method == "GET":
            if "planned" not in self.marks:  # whoever cannot read cannot plan, and no harm is done
                return None, rng
            if chance > 1 - self.html:
                return "HTML", rng
            kinds = [name for name, kind in KINDS.items() if kind.read and name in self.rates]
            weights = [self.rates[name] for name in kinds]
            if chance < self.read_rate and any(weights):
                return rng.choices(kinds, weights)[0], rng
        elif request.method in self.verbs:
            for name, rate in self.rates.items():
                if chance < rate:
                    return name, rng
                chance -= rate
        return None, rng

    def _land(self, request: Request, sent: int) -> None:
        self.pending -= 1
        self._do(request, sent)

    def _do(self, request: Request, sent: int, *, seen: bool = False, echo: bool = False) -> bytes:
        """Have the sandbox do it, note the effect, and write the whole answer."""
        status, fields, body = self.sandbox.answer(*request)
        if request.method != "GET":
            self._note("client", request, sent, status, body, echo=echo)
        elif seen and status == 200 and self.edits:
            self.reads.append((self._next(), _ids(json.loads(body)["data"])))
        if self.extras and 200 <= status < 300 and body:
            body = self._with_more(json.loads(body))
        return http(status, body, fields.get("content-type", "application/json"))

    def _with_more(self, answer: dict[str, Any]) -> bytes:
        """Show a counter that nobody can set, in each record and in what it holds."""
        data, made = answer.get("data"), len(self.effects)
        for record in data if isinstance(data, list) else [data]:
            if isinstance(record, dict) and "id" in record:
                parts = [*(record.get("buttons") or ()), *(record.get("headers") or ())]
                for view in (record, *parts):
                    view |= {"revision": made, "x_origin": {"shard": made % 7}}
        return json.dumps(answer).encode()

    def _note(
        self, who: str, request: Request, sent: int, status: int, body: bytes, *, echo: bool = False
    ) -> None:
        data = json.loads(body)["data"] if 200 <= status < 300 and body else None
        self.effects.append(
            {
                "n": self._next(),
                "sent": sent,
                "time": self.loop.time(),
                "who": who,
                "method": request.method,
                "path": request.target.partition("/accounts/1001/")[2],
                "body": json.loads(request.body) if request.body else None,
                "status": status,
                "id": data.get("id") if isinstance(data, dict) else None,
                "echo": echo,  # the network delivered it once more
            }
        )

    def _edit(self) -> None:
        """Make one edit of the second writer; `{n}` in its body counts them."""
        self.edit_limit -= 1
        method, path, body = self.writing.choice(self.edits)
        body = json.loads(json.dumps(body).replace("{n}", str(self.sequence)))
        self._call(method, path, body, token=self.writer_token, who="writer")

    def _call(
        self, method: str, path: str, body: Any = None, *, token: str, who: str | None = None
    ) -> dict[str, Any]:
        target = f"/api/business/public/channels/chat/accounts/1001/{path}"
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        content = b"" if body is None else json.dumps(body).encode()
        request = Request(method, target, headers, content)
        status, _, answer = self.sandbox.answer(*request)
        if who:
            self._note(who, request, self.sequence, status, answer)
        data = json.loads(answer).get("data") if answer else None
        return {"status": status, "data": data}

    # --- helpers --------------------------------------------------------------------

    def _control(self, line: Line, request: Request) -> None:
        name = request.target.removeprefix("/_control/")
        if name == "truth" and self.pending:  # what lands late belongs to it
            self.loop.call_later(0.02, self._control, line, request)
            return
        result = getattr(self, name)(**json.loads(request.body or b"{}"))
        line.send(http(200, json.dumps(result).encode()))

    def _stage(self) -> str | None:
        """The stage at which this request is the end of the client, if it is."""
        if self.armed is None:
            return None
        number, after, stage = self.armed
        self.armed = (number, after - 1, stage)
        return stage if after == 0 else None

    def _kill(self) -> None:
        assert self.armed is not None
        number, _, _ = self.armed
        self.armed = None
        sys.stdout.write(f"kill {number}\n")
        sys.stdout.flush()

    def _next(self) -> int:
        self.sequence += 1
        return self.sequence

    def _records(self, resource: str) -> list[dict[str, Any]]:
        rows = self.sandbox._store.run(
            f"SELECT scope, active, item, more FROM {resource} ORDER BY id"
        ).fetchall()
        return [
            {"scope": scope, "active": bool(active), **json.loads(item), **json.loads(more)}
            for scope, active, item, more in rows
        ]


def _ids(data: Any) -> list[Any]:
    records = data if isinstance(data, list) else [data]
    return [record.get("id") for record in records if isinstance(record, dict)]


async def main() -> None:
    profile = ServiceProfile(**json.loads(sys.argv[1]) if sys.argv[1:] else {})
    service = Service(profile)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Line(service), "127.0.0.1", 0, backlog=256)
    about = {
        "base_url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}",
        "account_id": service.sandbox.account_id,
        "token": service.sandbox.token,
        "writer_token": service.writer_token,
        "profile": profile.changed(),
    }
    sys.stdout.write(json.dumps(about) + "\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
