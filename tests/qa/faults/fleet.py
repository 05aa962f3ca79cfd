"""A fleet on a Dask cluster with its journals in PostgreSQL, and whatever of that is killed.

`python -m faults.fleet --rows 40` prints one Markdown table: in each line a run over eight
accounts in which one thing is killed by signal 9, a third of the way. It ends with 1 if a row was
lost, doubled or falsely reported after `chatkit.resume`, or if a token or a password was found in
the memory of the scheduler, in a log or in a file of a worker.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import psutil
from bulk.applying import settled
from documents import DOCUMENT
from postgres import PASSWORD, Server, postgresql

import chatkit
from chatkit.client import Client

KILLED = ("worker", "worker with its nanny", "scheduler", "notebook", "sessions of PostgreSQL")
#: Seconds until something that must come is given up.
_PATIENCE = 120
_END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"

NOTEBOOK = """
import json, os, sys
import chatkit
from distributed import Client
job = json.load(sys.stdin)
os.environ["CHATKIT_RUNS"] = job["at"]
fleet = chatkit.connect_all(job["accounts"])
plan = getattr(fleet, job["resource"]).plan({label: job["rows"] for label in fleet})
print("run", plan.id, flush=True)
with Client(job["scheduler"], set_as_default=False) as dask:
    result = plan.apply(on=dask, concurrency=2, rate=job["rate"], watch=lambda *_: None)
print("states", json.dumps(result.state.value_counts().to_dict()), flush=True)
"""


@dataclass
class Verdict:
    """The outcome of one run; all but the first three must be 0."""

    killed: str
    rows: int = 0
    resumed: int = 0  #: how many rows were left to a resume
    lost: int = 0
    doubled: int = 0
    false: int = 0
    leaks: list[str] = field(default_factory=list)  #: where a token or a password was

    @property
    def wrong(self) -> int:
        return self.lost + self.doubled + self.false + len(self.leaks)


@dataclass
class Cluster:
    """A scheduler and two nannies with a worker each, as processes of their own."""

    address: str
    scheduler: subprocess.Popen[bytes]
    nannies: list[subprocess.Popen[bytes]]
    folder: Path

    def worker(self) -> int:
        """The number of a worker's process."""
        below = psutil.Process(self.nannies[0].pid).children(recursive=True)
        return next(each.pid for each in below if "spawn_main" in " ".join(each.cmdline()))


@contextmanager
def dask(folder: Path, runs: str) -> Iterator[Cluster]:
    """Start a cluster on loopback whose workers keep journals in a database; nothing is left."""
    with ExitStack() as stack:

        def start(part: str, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
            number = len(list(folder.glob("*.log")))
            log = stack.enter_context((folder / f"{part}-{number}.log").open("wb"))
            host = ("--host", "127.0.0.1", "--no-dashboard")
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{part}", *host, *arguments],
                stdout=log, stderr=log, cwd=folder, start_new_session=True,
                env=os.environ | {"DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]"} | more,
            )  # fmt: skip
            stack.callback(process.wait, 20)
            stack.callback(kill_session, process)
            return process

        place = folder / "scheduler.json"
        scheduler = start("scheduler", "--port", "0", "--scheduler-file", str(place))
        until(place.exists)
        until(lambda: place.read_text().endswith("}"))
        options = ("--nworkers", "1", "--nthreads", "4", "--death-timeout", "60")
        spilled = ("--local-directory", str(folder / "spilled"))
        report = ("--scheduler-file", str(place))
        nannies = [
            start("worker", *report, *options, *spilled, CHATKIT_RUNS=runs) for _ in range(2)
        ]
        yield Cluster(json.loads(place.read_text())["address"], scheduler, nannies, folder)


def kill_session(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, and what it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    end = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < end, "it has not come"
        time.sleep(0.05)


def rows(resource: str, count: int) -> list[dict[str, Any]]:
    """Return the rows for each account."""
    if resource == "flows":  # of which a second one of the same name would be there twice
        some = {"template_name": "default", "flow_json": DOCUMENT}
        return [{"name": f"Flow {n}"} | some for n in range(count)]
    return [{"number": f"2025550{n:03}", "country_code": "+1"} for n in range(count)]


def work(
    server: Server, killed: str, resource: str = "flows", count: int = 40, accounts: int = 8
) -> Verdict:
    """Begin a run over some accounts, kill something, resume, and compare the result with truth."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-")))
        report, clients = {}, dict[str, Client]()
        for n in range(accounts):
            sandbox = stack.enter_context(chatkit.Sandbox(seed="empty"))
            base_url = stack.enter_context(sandbox.serve())
            report[f"a{n}"] = [base_url, str(sandbox.account_id), sandbox.token]
            clients[f"a{n}"] = stack.enter_context(chatkit.Client(*report[f"a{n}"]))
        at = server.new()
        secret = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="connections-")))
        os.environ["CHATKIT_CONFIG"] = write_connections(secret, report)
        cluster = stack.enter_context(dask(folder, at))
        names = [row.get("name") or row["number"] for row in rows(resource, count)]

        def made() -> dict[str, Counter[str]]:
            column = "name" if resource == "flows" else "number"
            return {
                label: Counter(getattr(client, resource).frame()[column])
                for label, client in clients.items()
            }

        def total() -> int:
            return sum(sum(each.values()) for each in made().values())

        notebook = subprocess.Popen(
            [sys.executable, "-c", NOTEBOOK],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        stack.enter_context(notebook)
        stack.callback(kill_session, notebook)  # type: ignore[arg-type]
        assert notebook.stdin is not None and notebook.stdout is not None
        job = {"accounts": list(report), "resource": resource, "rows": rows(resource, count)}
        json.dump(job | {"rate": 12, "scheduler": cluster.address, "at": at}, notebook.stdin)
        notebook.stdin.close()
        run = next(line.split()[1] for line in notebook.stdout if line.startswith("run "))
        until(lambda: total() >= accounts * count // 3)

        expected = {each[2] for each in report.values()} | {PASSWORD}
        verdict = Verdict(killed, rows=accounts * count)
        memory = memory_of(cluster.scheduler.pid, {*expected, run})
        assert run in memory, "the memory of the scheduler was not read"
        verdict.leaks += [f"scheduler: {each[:6]}…" for each in memory - {run}]
        kill(killed, cluster, notebook, server)
        if killed == "notebook":
            until(lambda: total() >= accounts * count)  # the workers need nobody for that
        elif killed not in ("scheduler", "sessions of PostgreSQL"):  # whose runs stop
            message = [line for line in notebook.stdout if line.startswith("states ")]
            verdict.false += message != [f'states {{"applied": {accounts * count}}}\n']
        verdict.resumed = accounts * count - total()

        end = time.monotonic() + _PATIENCE
        while True:  # a worker whose scheduler is gone may be at it yet
            result = settled(chatkit.resume, run, clients, at=at, settle=0.5)
            if result.state.eq("applied").all() or time.monotonic() > end:
                break
            time.sleep(0.5)
        created = made().values()
        verdict.lost = sum((Counter(names) - each).total() for each in created)
        verdict.doubled = sum((each - Counter(names)).total() for each in created)
        verdict.false += int(len(result) != verdict.rows) + int((result.state != "applied").sum())
        verdict.leaks += files_containing(folder, expected)
        return verdict


def write_connections(folder: Path, accounts: dict[str, list[str]]) -> str:
    """Write a configuration file with a token file for each account, and return its path."""
    lines = []
    for name, (base_url, account_id, token) in accounts.items():
        path = folder / f"{name}.token"
        path.write_text(token)
        path.chmod(0o600)
        lines += [f"[{name}]", f'base_url = "{base_url}"', f'account_id = "{account_id}"']
        lines += [f'token_file = "{path}"', ""]
    config = folder / "connections.toml"
    config.write_text("\n".join(lines))
    return str(config)


def kill(what: str, cluster: Cluster, notebook: subprocess.Popen[str], server: Server) -> None:
    """Kill one thing, as no program can notice beforehand."""
    if what == "worker":
        os.kill(cluster.worker(), signal.SIGKILL)
    elif what == "worker with its nanny":
        kill_session(cluster.nannies[0])
    elif what == "scheduler":
        cluster.scheduler.kill()
    elif what == "notebook":
        notebook.kill()
    else:
        server.run(_END)


def memory_of(pid: int, texts: Iterable[str]) -> set[str]:
    """Return the texts in the memory of a process. Linux shows it to its owner."""
    expected, matches = {text: text.encode() for text in texts}, set[str]()
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            span, rights, *_ = line.split()
            if not rights.startswith("rw"):
                continue
            first, last = (int(each, 16) for each in span.split("-"))
            try:
                memory.seek(first)
                part = memory.read(last - first)
            except (OSError, OverflowError):
                continue  # not backed by memory
            matches |= {text for text, each in expected.items() if each in part}
    return matches


def files_containing(folder: Path, texts: Iterable[str]) -> list[str]:
    """Return the files of the cluster that hold a text: logs, and spilled data of workers."""
    expected = [text.encode() for text in texts]
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".log" and path.stat().st_size for path in files)
    return [path.name for path in files if any(each in path.read_bytes() for each in expected)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=40, help="of each of eight accounts")
    parser.add_argument("--kills", nargs="*", default=list(KILLED), choices=KILLED)
    passed = parser.parse_args()
    names = [each.name for each in fields(Verdict)]
    print(f"| {' | '.join(names)} |\n|---|{'---:|' * (len(names) - 1)}")
    wrong = 0
    with tempfile.TemporaryDirectory() as data, postgresql(durable=False) as server:
        os.environ["CHATKIT_DATA"] = data
        for resource in ("flows", "contacts"):
            for killed in passed.kills:
                verdict = work(server, killed, resource, passed.rows)
                cells = [getattr(verdict, name) for name in names]
                cells[-1] = ", ".join(verdict.leaks) or 0
                cells[0] = f"{killed}, {resource}"
                print(f"| {' | '.join(map(str, cells))} |", flush=True)
                wrong += verdict.wrong
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
