"""Bench of the throttle: a true limit, stray 429s, and how soon the pace is back after them.

The server is `servers/limited.py`. Every figure is of the transport, through which plans and
reads send. Each is taken with 429s that say nothing, that tell seconds, and that tell a date.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from typing import NamedTuple, TypeVar
from urllib.request import urlopen

import aiohttp
from measure import HERE, SMOKE, TESTS, at_least, at_most, run, server, show, sized

sys.path.append(TESTS)
from faultserver import connection

from chatkit.api.call import Call
from chatkit.api.transport import Transport

LIMITED = HERE / "servers" / "limited.py"
LIMIT, STRAY, CONNECTIONS = 20, 0.03, 8
HELD, CREATES = sized(40, 1), sized(500, 20)
#: Seconds after the last stray 429 until the pace must be back, and as many more as calls last.
SETTLED, LASTING = sized((5, 3.0), (0, 0.1))
FORMS = {
    "nothing": "nothing",
    "seconds": "`Retry-After` in seconds",
    "date": "`Retry-After`, a date",
}
T = TypeVar("T")
NO_RETRY_AFTER = 0.5  # seconds that the other client waits where a 429 names none


class Line(NamedTuple):
    """The effect of stray 429s on a run."""

    before: float  # calls a second without them
    counted: int  # 429s, and the seconds it takes if each is a constant wait
    constant: float
    refused: int  # 429s, and the seconds it takes
    ours: float
    after: float  # calls a second, some seconds after the last


def main() -> None:
    """Print three tables."""
    limited()
    stray()


def each_form(work: Callable[[str], T]) -> dict[str, T]:
    """Do something with each form, side by side: most of it is waiting."""
    with ThreadPoolExecutor(1 if SMOKE else len(FORMS)) as pool:
        return dict(zip(FORMS.values(), pool.map(work, FORMS), strict=True))


def limited() -> None:
    """A true limit, from the first call on."""
    rows = []
    for name, (seconds, refused, late) in each_form(held).items():
        at_least(f"share of a true limit, its 429s say {name}", HELD / seconds, 0.93)
        at_most(f"calls sent within one wait, its 429s say {name}", late, 2)
        rows.append([name, HELD * LIMIT, seconds, HELD / seconds, refused, late])
    show(
        f"A service that takes {LIMIT} calls in any second, {CONNECTIONS} at once",
        ["its 429s say", "calls", "s", "share of the limit", "429s", "calls within one wait"],
        rows,
    )


def held(form: str) -> tuple[float, int, int]:
    """Seconds of one run against a true limit, its 429s, and the most calls within one wait."""
    with server(sys.executable, LIMITED, LIMIT, form) as up:
        transport = Transport(connection(up.line), deadline=60)
        began = time.perf_counter()
        assert len(sent(transport, HELD * LIMIT)) == HELD * LIMIT
        seconds = time.perf_counter() - began
        transport.close()
        return seconds, *control(up.line)


def stray() -> None:
    """No limit, but calls that are refused by chance; and what comes after."""
    result = each_form(measured)
    for name, one in result.items():
        at_most(
            f"time with stray 429s that say {name}, constant wait = 1", one.ours / one.constant, 1.6
        )
    show(
        f"{CREATES:,} creates, {STRAY:.0%} of them refused by chance",
        ["the 429s say", "429s", "s, waiting as told at each", "429s", "s", "constant wait = 1"],
        [[name, *one[1:5], one.ours / one.constant] for name, one in result.items()],
    )
    for name, one in result.items():
        at_least(f"pace after stray 429s that said {name}", one.after / one.before, 0.9)
    show(
        f"{SETTLED} seconds after the last stray 429, in the same transport",
        ["the 429s said", "calls a second before", "calls a second", "share"],
        [[name, one.before, one.after, one.after / one.before] for name, one in result.items()],
    )


def measured(form: str) -> Line:
    """One run without stray 429s, one with them, one after them; all in one transport."""
    with server(sys.executable, LIMITED, 0, form) as up:
        transport = Transport(connection(up.line), deadline=60)
        sent(transport, 5 * CONNECTIONS)  # warm
        began = time.perf_counter()
        before = len(sent(transport, CREATES)) / (time.perf_counter() - began)
        control(up.line, f"stray/{STRAY}")
        began = time.perf_counter()
        asyncio.run(constant_wait(up.line, CREATES))
        constant = time.perf_counter() - began
        counted, _ = control(up.line)
        control(up.line, f"stray/{STRAY}")
        began = time.perf_counter()
        sent(transport, CREATES)
        ours = time.perf_counter() - began
        refused = control(up.line)[0] - counted
        control(up.line, "stray/0")
        end = time.perf_counter()
        enough = int((SETTLED + LASTING) * before)  # it may be slower at first
        moments = [at - end for at in sent(transport, enough)]
        transport.close()
    after = sum(SETTLED <= at < SETTLED + 1 for at in moments)
    return Line(before, counted, constant, refused, ours, float(after))


def control(base_url: str, what: str = "counts") -> tuple[int, int]:
    """Send a command to the server, or read its 429s and the most calls within one wait."""
    with urlopen(f"{base_url}/{what}") as answer:
        message = json.load(answer)
    return tuple(message) if message else (0, 0)


def creates(count: int) -> Iterator[Call]:
    """Make creates."""
    return (Call("POST", ("contacts",), body={"number": str(n)}) for n in range(count))


def sent(transport: Transport, count: int) -> list[float]:
    """Send creates; when each was answered well."""
    moments = []
    for outcome in transport.send_all(creates(count), concurrency=CONNECTIONS):
        assert isinstance(outcome, tuple), outcome
        moments.append(time.perf_counter())
    return moments


async def constant_wait(base_url: str, count: int) -> None:
    """Send creates as the simplest client does that heeds a 429: all wait, then all go on."""
    source, until = iter(range(count)), 0.0

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal until
        for number in source:
            status = 429
            while status == 429:
                while (pause := until - time.monotonic()) > 0:
                    await asyncio.sleep(pause)
                began = time.monotonic()
                async with session.post(f"{base_url}/contacts", json={"number": number}) as answer:
                    status = answer.status
                    await answer.read()
                if status == 429 and began >= until:
                    until = time.monotonic() + wait_of(answer.headers)

    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(work(session) for _ in range(CONNECTIONS)))


def wait_of(headers: Mapping[str, str]) -> float:
    """Seconds that a 429 tells; a date is held against the service's own."""
    value = headers.get("retry-after")
    if value is None:
        return NO_RETRY_AFTER
    if value.isdigit():
        return float(value)
    then, now = (parsedate_to_datetime(text) for text in (value, headers["date"]))
    return (then - now).total_seconds()


if __name__ == "__main__":
    run(main)
