"""Power cuts and failing disks under a whole apply: one child's disk fails, another goes on.

`python -m faults.cuts --cuts 500` cuts the power so often and prints one row of the table of
`make faults`; it ends with 1 if a row was lost, doubled or falsely reported. `--json` prints
what the tests ask for.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Any, NamedTuple

from faults import child, disk
from faults.__main__ import line, summary, whole
from faults.account import Account, account
from faults.campaign import Part, preload
from faults.child import BROKEN, DONE, Job
from faults.killer import Broken, Killer, Run
from faults.kinds import rates
from faults.load import load
from faults.oracle import evaluate

from chatkit.bulk.journal import Journal
from chatkit.errors import JournalError

#: Small loads: most of their commits can be met. Flows have nothing that keeps them single.
PARTS: Sequence[Part] = (("contacts", 14, 10, 6), ("flows", 18, 4, 2), ("templates", 10, 8, 4))
SPEED: dict[str, Any] = {"deadline": 2.0, "settle": 0.3, "concurrency": 4}
#: A child that is not done by then hangs.
_LONGEST = 60

Fail = Callable[[], object]


def forked(job: Job, fail: Fail) -> int:
    """Have a fork of this process do its part of a job on a disk that fails; its exit code."""
    pid = os.fork()
    if pid == 0:
        code = BROKEN
        try:
            signal.alarm(_LONGEST)
            fail()
            code = child.run(job, [], lambda line: None)
            sys.stdout.flush()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


# --- power cuts -----------------------------------------------------------------------------


class Cutter(Killer):
    """Cuts the power while a child commits, again and again, until the work is done."""

    lazy = 0  #: how many commits a cut loses; 0: none that had returned, as it should be

    def _round(self, job: Job, run: Run, kills: int) -> int:
        run.children += 1
        commit, seed = self.rng.randint(1, 9), self.rng.randrange(2**32)
        cut: Fail = partial(disk.cut_power_at, commit, seed)
        if self.lazy:
            cut = partial(lose_commits_at, commit, self.lazy)
        code = forked(job, cut if kills else int)
        run.kills["power cut"] += code == -signal.SIGKILL
        return code


def lose_commits_at(commit: int, lost: int) -> None:
    """Cut the power at a commit on a disk that lies: the last commits are gone, though synced."""
    real, commits = Journal.commit, count(1)
    states: list[disk.Files] = []

    def dying(self: Journal) -> None:
        place = disk.store_of(self).folder, self.header.run
        states.append(disk.taken(*place))
        real(self)
        if next(commits) == commit:
            disk.put(states[max(0, commit - lost)], *place)
            os.kill(os.getpid(), signal.SIGKILL)

    Journal.commit = dying  # type: ignore[method-assign]


def cuts(total: int, seed: int = 0, *, faults: float = 0.07, lazy: int = 0) -> list[Run]:
    """Apply loads until the power was cut so often, and return the outcome of each.

    Args:
        total: How many cuts.
        seed: Of the loads, the faults and the cuts.
        faults: How many of the writes meet a fault.
        lazy: How many commits each cut loses: proves that losing some would be noticed.
    """
    rng, left, runs = random.Random(seed), total, []
    with account() as served, tempfile.TemporaryDirectory() as folder:
        for n, (resource, *counts) in enumerate(cycle(PARTS)):
            if left <= 0:
                break
            job = _job(served, Path(folder, str(n)), resource, seed + n, counts)
            served.faults(rates(faults), seed=seed + n, reads=faults / 7, late=0.15)
            cutter = Cutter(rng, left)
            cutter.lazy = lazy
            run = cutter.apply(job)
            left -= run.kills["power cut"]
            runs.append(run)
    return runs


def _job(served: Account, place: Path, resource: str, seed: int, counts: Sequence[int]) -> Job:
    place.mkdir()
    served.faults({})
    return Job(served, load(served, resource, seed, *counts), place, **SPEED)


# --- disks that fail for good ---------------------------------------------------------------

FAILURES: dict[str, Callable[[Journal], object]] = {
    "fsync": lambda journal: disk.fail_fsync(),
    "full": lambda journal: disk.refuse_writes(),
    "no growth": lambda journal: disk.fill_disk(_log(journal) or 4096),
}


def _log(journal: Journal) -> int:
    log = disk.log_of(journal)
    return log.stat().st_size if log.exists() else 0


class Case(NamedTuple):
    """A disk that fails under a load: how, and from which commit on.

    Where the service loses answers, or takes ages for them, some rows are in doubt then. A
    silent journal keeps quiet about the failure, as none may.
    """

    resource: str
    failure: str
    commit: int
    lossy: bool = False
    silent: bool = False


_LAST = 99  #: a commit after all others: the last one of the run
CASES = (
    *(Case("contacts", how, 1) for how in FAILURES),
    *(Case("flows", how, 5, lossy=True) for how in FAILURES),
    *(Case("templates", how, _LAST) for how in FAILURES),
    Case("flows", "fsync", 2, silent=True),
)


def failed(served: Account, place: Path, case: Case) -> dict[str, Any]:
    """Apply a load on a failing disk, resume it on a working one; return reports and truth."""
    counts = {resource: counts for resource, *counts in PARTS}[case.resource]
    job = _job(served, place, case.resource, CASES.index(case), counts)
    served.faults({"dropped after": 0.3, "drip": 0.2} if case.lossy else {})
    served.command("forget")
    before = served.truth()["state"]
    with _pipe() as (reader, writer):
        _must(job, forked(job, lambda: fail_at(job, case, writer)))
        outcome = case._asdict() | json.loads(os.read(reader, 4096))
    truth = served.truth()
    verdict = evaluate(job.load, job.read("changes"), job.read("result"), before, truth)
    outcome |= {
        "later": sum(truth["requests"].values()) - outcome["requests"],
        "states": verdict.states,
        "wrong": verdict.wrong,
        "output": (job.folder / "output").read_text(),
    }
    if case.silent:
        return outcome
    served.faults({})
    (job.folder / "result").unlink()
    _must(job, forked(job, int))
    truth = served.truth()
    verdict = evaluate(job.load, job.read("changes"), job.read("result"), before, truth)
    return outcome | {"resumed": verdict.states, "wrong": outcome["wrong"] + verdict.wrong}


def _must(job: Job, code: int) -> None:
    """Make sure that a child has come to a result; on a broken disk no journal need be read."""
    if code != DONE and job.read("result") is None:
        raise Broken((job.folder / "broken").read_text())


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    try:
        yield reader, writer
    finally:
        os.close(reader)
        os.close(writer)


def fail_at(job: Job, case: Case, pipe: int) -> None:
    """Have the disk fail at a commit; write the number of requests so far to a pipe."""
    real, commits, broken = Journal.commit, count(1), False

    def failing(self: Journal) -> None:
        nonlocal broken
        if not self._pending:  # nothing is asked of the disk
            real(self)
            return
        last = any(event["what"] in ("finished", "stopped") for event in self._pending)
        if not broken and (next(commits) == case.commit or (last and case.commit == _LAST)):
            broken = True
            time.sleep(0.1)  # what has left has arrived by now
            requests = sum(job.account.command("truth")["requests"].values())
            os.write(pipe, json.dumps({"requests": requests}).encode())
            FAILURES[case.failure](self)
        try:
            real(self)
        except JournalError:
            if not case.silent:
                raise
            self._stopped = ""
            self._pending.clear()

    Journal.commit = failing  # type: ignore[method-assign]


def disks() -> list[dict[str, Any]]:
    """Return the outcome of each case."""
    with account() as served, tempfile.TemporaryDirectory() as folder:
        return [failed(served, Path(folder, str(n)), case) for n, case in enumerate(CASES)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lazy", type=int, default=0, help="commits that each cut loses")
    parser.add_argument("--json", choices=("cuts", "disks"), help="print JSON, of what")
    passed = parser.parse_args()
    preload()
    if passed.json == "disks":
        print(json.dumps(disks()))
        return 0
    runs = cuts(passed.cuts, passed.seed, lazy=passed.lazy)
    if passed.json:
        print(json.dumps(whole(runs)))
        return 0
    run = sum(runs, Run())
    print(line(f"power cut {passed.cuts} times", *summary(run).values()))
    for wrong in run.verdict.wrong[:20]:
        print(f"    {wrong}", file=sys.stderr)
    return 1 if run.verdict.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
