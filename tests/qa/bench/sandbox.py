"""Bench of the sandbox over HTTP: contacts created, and pages of 100 read, beside Prism.

Every server is one process, is begun anew for each run, and is asked by `wrk -t1 -c32`, first
until its calls cost it no less CPU. Nothing is installed that was not asked for: BENCH_INSTALL=1
fetches wrk with the system's package manager (as root), and Prism with npm.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.request import Request, urlopen

from measure import (
    CACHE,
    SMOKE,
    Server,
    at_least,
    left_out,
    medians,
    rounds,
    server,
    show,
    sized,
)
from measure import run as run_bench

ROUNDS, SECONDS = sized((2, 2), (1, 0))
#: Seconds of each look, how much less CPU a call must cost for the server to be still warming up,
#: and looks at most: what is compiled while it runs takes half a minute.
WARM, WARMER, WARM_TIMES = sized((3, 1.05, 12), (0, 1, 1))
SIZE, ROWS = 100, sized(10_000, 200)
INSTALL = os.environ.get("BENCH_INSTALL", "") not in ("", "0")
#: Node's servers are much slower in any other mode.
NODE = ("env", "NODE_ENV=production", "node")
CONTACTS = "/api/business/public/channels/chat/accounts/1001/contacts"
NAME = "Anna Maria Lopez"
MODULES = CACHE / "node_modules"
PRISM = "@stoplight/prism-cli@5"

WORK = """
local at = %(first)d
request = function()
  at = at + 1
  %(request)s
end
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"calls": %%d, "seconds": %%f, "failed": %%d, "p99": %%f}',
    summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(99) / 1e3))
end
"""
CREATE = f"""return wrk.format("POST", nil, nil,
    '{{"number":"' .. at .. '","country_code":"+1","name":"{NAME}"}}')"""
PAGE = f'return wrk.format("GET", "{CONTACTS}?pageSize={SIZE}&page=" .. at %% %d + 1)'


class Running(NamedTuple):
    """A server that takes calls."""

    process: Server
    base_url: str
    token: str = "bench-token"


class Peer(NamedTuple):
    """A server to be measured, in a folder of its own and with so many contacts."""

    name: str
    start: Callable[[Path, int], Iterator[Running]]
    rows: int = ROWS


def main() -> None:
    """Print two tables."""
    if not (SMOKE or find_wrk()):
        left_out("the sandbox over HTTP", "wrk is not here: install it, or set BENCH_INSTALL=1")
        return
    have_prism = bring_prism()
    if not have_prism:
        left_out("Prism", "not installed: BENCH_INSTALL=1 has npm bring it")
    with TemporaryDirectory() as folder:
        filled = Path(folder) / "filled.db"
        fill(filled)
        ours = Peer("chatkit sandbox --db FILE", partial(chatkit, filled))
        prism = Peer("Prism 5, fixed examples", partial(prism_mock, filled))
        peers = [ours, prism] if have_prism else [ours]
        creates = {peer.name: partial(run, peer._replace(rows=0), "create") for peer in peers}
        pages = {peer.name: partial(run, peer, "page") for peer in peers}
        goals = {prism.name: 1.0}
        table("Contacts created a second", creates, ours.name, goals)
        table(f"Pages of {SIZE} a second", pages, ours.name, goals)


def table(
    title: str,
    runs: dict[str, Callable[[], dict[str, float]]],
    ours: str,
    goals: dict[str, float],
) -> None:
    """Measure, and print what came out."""
    result = {name: medians(results) for name, results in rounds(runs, ROUNDS).items()}
    rows: list[list[object]] = []
    for name, one in sorted(result.items(), key=lambda item: -item[1]["rate"]):
        if not one["rate"]:
            rows.append([name, f"none within {SECONDS} s", *["—"] * 6])
            continue
        ratio = result[ours]["rate"] / one["rate"]
        if name in goals:
            at_least(f"{title.lower()}, {name} = 1", ratio, goals[name], " ×")
        failed, times = f"{one['failed'] / one['calls']:.1%}", f"{ratio:.2f} ×"
        warm = f"{one['warm']:.0f}"
        rows.append([name, one["rate"], times, one["us"], one["p99"], one["mb"], failed, warm])
    header = ["server", "a second", "chatkit does", "CPU µs a call", "p99 ms", "MB", "failed"]
    header.append("s until warm")
    show(f"{title}, wrk -t1 -c32", header, rows)


def run(peer: Peer, work: str) -> dict[str, float]:
    """Begin a server, warm it up, and measure it."""
    with TemporaryDirectory() as folder, contextmanager(peer.start)(Path(folder), peer.rows) as up:
        request = CREATE if work == "create" else PAGE % max(1, peer.rows // SIZE)
        url = up.base_url + CONTACTS
        if SMOKE:
            return asked_once(up, url, work)
        warm = warmed(folder, up, url, request)
        used = up.process.cpu()
        done = wrk(folder, url, up.token, request, 9 * 10**9, SECONDS)
        used = up.process.cpu() - used
        return done | {
            "warm": warm,
            "rate": (done["calls"] - done["failed"]) / done["seconds"],
            "us": used / max(1, done["calls"]) * 1e6,
            "mb": up.process.memory(),
        }


def warmed(folder: str, up: Running, url: str, request: str) -> float:
    """Ask a server until its calls cost it no less CPU, twice in succession; the seconds."""
    best, without = float("inf"), 0
    for times in range(1, WARM_TIMES + 1):
        used = up.process.cpu()
        done = wrk(folder, url, up.token, request, times * 10**8 + 10**9, WARM)
        cost = (up.process.cpu() - used) / max(1, done["calls"])
        without = 0 if cost * WARMER < best else without + 1
        best = min(best, cost)
        if without == 2:
            return times * WARM
    return WARM_TIMES * WARM


def asked_once(up: Running, url: str, work: str) -> dict[str, float]:
    """Ask once, without wrk: it answers, which is all that a smoke test wants to know."""
    body = {"number": "2025550143", "country_code": "+1", "name": NAME}
    headers = {"Authorization": f"Bearer {up.token}", "Content-Type": "application/json"}
    asked = Request(url, json.dumps(body).encode(), headers)
    if work == "page":
        asked = Request(f"{url}?pageSize={SIZE}&page=1", headers=headers)
    with urlopen(asked, timeout=30) as answer:
        message = json.load(answer)
    assert message["success"] and message["data"], message
    figures = {"us": up.process.cpu() * 1e6, "mb": up.process.memory(), "p99": 0.0}
    return figures | {"calls": 1.0, "failed": 0.0, "seconds": 1.0, "rate": 1.0, "warm": 0.0}


def wrk(
    folder: str, url: str, token: str, request: str, first: int, seconds: int
) -> dict[str, float]:
    """Ask a server for so long; what wrk counted."""
    script = Path(folder) / "work.lua"
    script.write_text(WORK % {"first": first, "request": request})
    headers = (f"Authorization: Bearer {token}", "Content-Type: application/json")
    command = ["wrk", "-t1", "-c32", f"-d{seconds}s", "--timeout=20s", "-s", str(script)]
    for header in headers:
        command += ["-H", header]
    done = subprocess.run(
        [*command, url], check=True, capture_output=True, text=True, timeout=seconds + 30
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


# --- servers ------------------------------------------------------------------------


def fill(path: Path) -> None:
    """A sandbox file with contacts, made by the sandbox."""
    from chatkit.sandbox import Sandbox
    from chatkit.sandbox.interface import Request as Asked

    with Sandbox(path) as sandbox, sandbox._middleware.transaction() as service:
        headers = {
            "authorization": f"Bearer {sandbox.token}",
            "content-type": "application/json",
        }
        for number in range(ROWS):
            body = json.dumps({"number": f"{number:010}", "country_code": "+1", "name": NAME})
            asked = Asked("POST", CONTACTS, "", headers, body.encode())
            assert service.answer(asked).status == 201


def chatkit(filled: Path, folder: Path, rows: int) -> Iterator[Running]:
    """`chatkit sandbox` on a file."""
    path = folder / "contacts.db"
    if rows:
        shutil.copy(filled, path)
    command = ("-m", "chatkit", "sandbox", "--json", "--db", path)
    with server(sys.executable, *command) as up:
        first = json.loads(up.line)
        yield Running(up, first["base_url"], first["token"])


def prism_mock(filled: Path, folder: Path, rows: int) -> Iterator[Running]:
    """Prism, which answers as our OpenAPI document says it should, and keeps nothing."""
    document = filled.with_name("openapi.json")
    if not document.exists():
        from chatkit.sandbox import Sandbox

        with Sandbox() as sandbox:
            document.write_bytes(sandbox.answer("GET", "/openapi.json", {}, b"")[2])
    port, program = free_port(), MODULES / "@stoplight" / "prism-cli" / "dist" / "index.js"
    command = [*NODE, program, "mock", "-h", "127.0.0.1", "-p", port, "-v", "error", document]
    yield from listening(port, CONTACTS, *command)


def listening(port: int, path: str, *command: object) -> Iterator[Running]:
    """A server that does not tell when it is ready: asked until it answers."""
    url = f"http://127.0.0.1:{port}"
    with server(*command, reads_line=False) as up:
        for _ in range(1200):
            asked = Request(url + path, headers={"Authorization": "Bearer bench-token"})
            try:
                urlopen(asked, timeout=5).close()
                break
            except ConnectionError:
                pass
            except OSError as error:
                if not isinstance(getattr(error, "reason", None), ConnectionError):
                    raise
            time.sleep(0.1)
        else:
            sys.exit(f"{' '.join(map(str, command))} took no calls in two minutes")
        yield Running(up, url)


def free_port() -> int:
    """A port nobody uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


# --- what must be installed ---------------------------------------------------------


def find_wrk() -> bool:
    """Return whether wrk is available, or can be installed as requested."""
    if INSTALL and not shutil.which("wrk") and shutil.which("apt-get") and os.geteuid() == 0:
        command = ["apt-get", "install", "--yes", "--no-install-recommends", "wrk"]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, timeout=300)
    return shutil.which("wrk") is not None


def bring_prism() -> bool:
    """Return whether Prism is available, or can be installed as requested."""
    if not shutil.which("node"):
        return False
    prism = MODULES / ".bin" / "prism"
    if INSTALL and not prism.exists() and shutil.which("npm"):
        CACHE.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(CACHE), PRISM]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, timeout=600)
    return prism.exists()


if __name__ == "__main__":
    run_bench(main)
