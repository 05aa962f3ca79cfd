"""Bench of an account as a folder: a pull, beside reading the same frames; and its memory.

`python account.py ROAD BASE_URL ACCOUNT TOKEN FOLDER` measures one road and prints its seconds, its
CPU and the memory it took at its highest, as JSON. The service is the sandbox, over HTTP, in a
process of its own.
"""

from __future__ import annotations

import io
import json
import resource
import shutil
import sys
import time
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import at_most, child, cpu, medians, memory, rounds, run, server, show, sized
from templates import BUTTONS, TEXT

from chatkit.resource import get_endpoints

CODES, LANGUAGES = sized(60, 4), sized(10, 2)
CONTACTS, COUNT = sized(100_000, 200), sized(1, 1)
#: The time of a pull, and its memory at its highest, those of reading the frames = 1.
GOAL, MEMORY_GOAL = 1.5, 3.0
ROADS = {
    "frames": "`contacts.frame()`, `templates.frame(codes, full=True)`, flows, webhooks",
    "first": "`Folder.pull(client, contacts=True)` into no folder yet",
    "again": "the same again: nothing is different",
}


def codes() -> list[str]:
    """The template codes."""
    return [f"template_{n:03}" for n in range(CODES)]


def measure_road(road: str, base_url: str, account: str, token: str, place: str) -> None:
    """Measure one road."""
    import chatkit

    with redirect_stdout(io.StringIO()), chatkit.Client(base_url, account, token) as client:
        with TemporaryDirectory() as warm:  # what is imported late is none of the bench
            chatkit.Folder(warm).pull(client, codes=codes()[:2])
        folder = chatkit.Folder(Path(place) / road)
        if road == "first":
            shutil.rmtree(folder.path, ignore_errors=True)
        if road == "again" and not folder.path.exists():
            folder.pull(client, contacts=True, codes=codes())
        held, began, used = memory(), time.perf_counter(), cpu()
        if road == "frames":
            kept: Any = [
                client.contacts.frame(),
                client.templates.frame(codes(), full=True),
                client.flows.frame(full=True),
                client.webhooks.frame(),
            ]
            assert len(kept[0]) == CONTACTS and len(kept[1]) == CODES * LANGUAGES
        else:
            kept = folder.pull(client, contacts=True, codes=codes())
            assert bool(kept.changes) == (road == "first")
        took = {"s": time.perf_counter() - began, "cpu": cpu() - used}
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(took | {"mb": highest - held}))


def fill(base_url: str, account: str, token: str) -> None:
    """Make all contents, which is none of the bench."""
    from chatkit import Client
    from chatkit.errors import CallError
    from chatkit.localization.language import SUPPORTED

    content = {"text": TEXT * 3, "variables": {"1": "Ana", "2": "A-17"}, "footer": "Larkspur"}
    content |= {"headers": [{"type": "text", "text": "Ready"}], "buttons": BUTTONS}
    with redirect_stdout(io.StringIO()), Client(base_url, account, token) as client:
        calls = (
            get_endpoints(client.templates(code)).create_call({"lang_code": lang, **content})
            for code in codes()
            for lang in list(SUPPORTED)[:LANGUAGES]
        )
        for outcome in client.transport.send_all(calls):
            assert not isinstance(outcome, CallError), outcome


def main() -> None:
    """Print one table."""
    with TemporaryDirectory() as place:
        file = Path(place) / "account.db"
        child("whole.py", "fill", file, CONTACTS, timeout=1200)
        with server(sys.executable, "-m", "chatkit", "sandbox", "--json", "--db", file) as up:
            report = json.loads(up.line)
            where = report["base_url"], report["account_id"], report["token"]
            fill(*where)
            runs: dict[str, Any] = {
                road: partial(child, "account.py", road, *where, place, timeout=1200)
                for road in ROADS
            }
            result = {road: medians(each) for road, each in rounds(runs, COUNT).items()}
    bare, message = result["frames"], f"{CODES * LANGUAGES:,} contents and {CONTACTS:,} contacts"
    for road, what in (("first", "a pull"), ("again", "a second pull")):
        one = result[road]
        at_most(f"time of {what}, {message}, its frames = 1", one["s"] / bare["s"], GOAL)
        more = one["mb"] / bare["mb"]
        at_most(f"highest memory of {what}, its frames = 1", more, MEMORY_GOAL)
    show(
        f"An account of {message} as a folder",
        ["by", "seconds", "CPU seconds", "MB more at its highest", "seconds, frames = 1"],
        [
            [ROADS[road], one["s"], one["cpu"], one["mb"], one["s"] / bare["s"]]
            for road, one in result.items()
        ],
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure_road(*sys.argv[1:6])
    else:
        run(main)
