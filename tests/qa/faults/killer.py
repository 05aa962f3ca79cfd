"""The killer: runs a load in children that are ended by SIGKILL, until the work is done.

Each child is a fork of this process, which has imported everything and has no threads: it
begins within milliseconds. It is killed from outside at a random time or when the service
has met so many of its requests, or ends itself at a named point of the code.
"""

from __future__ import annotations

import os
import random
import select
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from faults import child
from faults.child import BROKEN, DONE, NO_PLAN, Job
from faults.oracle import Verdict, evaluate, evaluate_undo

#: A child that is not done by then hangs, which is a finding.
LONGEST = 180.0
#: Seconds until a child whose sessions were ended is killed: it had none yet, and goes on.
NOTICED = 0.3
#: A state after which a run is taken up again.
OPEN = ("unknown", "not sent")


class Broken(AssertionError):
    """The engine raised, hung or never ended; the text says where."""


@dataclass
class Run:
    """The outcome of one load: the number of kills, and the findings of the oracle."""

    verdict: Verdict = field(default_factory=Verdict)
    kills: Counter[str] = field(default_factory=Counter)
    children: int = 0
    events: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    back: Run | None = None  #: what became of its undo

    def __add__(self, other: Run) -> Run:
        return Run(
            self.verdict + other.verdict,
            self.kills + other.kills,
            self.children + other.children,
            self.events + other.events,
            self.faults + other.faults,
            self.seconds + other.seconds,
            self.back + other.back if self.back and other.back else self.back or other.back,
        )


@dataclass
class Killer:
    """Applies jobs and kills what applies them.

    Args:
        kills: How many kills at most.
        begin: Named points that are reached before the first request: each for a child of
            its own, before all others.
        points: Named points, each for a child of its own, in this order; what a child did
            not reach is tried again later, and stays here if there is no later.
        share: How many of the children that are to be killed are so at a named point.
        patience: How much longer than others these may take to reach it.
        ends: Named points that are reached once in a run: waited for in every child.
    """

    rng: random.Random
    kills: int = 0
    begin: list[str] = field(default_factory=list)
    points: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    share: float = 0.5
    patience: float = 3.0
    attempts: int = 4  #: undisturbed runs at most
    undoes: bool = False  #: whether each run is taken back
    sessions: float = 0.3  #: in PostgreSQL: how many of the kills from outside end its sessions
    ended: bool = False  #: whether this round has ended them

    def apply(self, job: Job) -> Run:
        """Apply a job to its end and evaluate it.

        Raises:
            Broken: The engine raised, or a child hung.
        """
        begun, run = time.monotonic(), Run()
        job.account.command("forget")
        before = job.account.truth()["state"]
        left = self.kills
        undisturbed = 0
        while True:
            ended = self._round(job, run, left)
            if ended == -signal.SIGKILL or self.ended:
                left -= 1
                continue
            if ended not in (DONE, NO_PLAN):
                trace = job.folder / "broken"
                raise Broken(trace.read_text() if trace.exists() else f"a child ended with {ended}")
            undisturbed += 1
            if ended == DONE and not any(row["state"] in OPEN for row in job.read("result")):
                break
            if undisturbed > self.attempts:
                break
        self.kills = left
        self._again(job, run)
        truth = job.account.truth()
        run.faults.update(truth["faults"])
        run.events.update(job.read("events") or {})
        run.verdict = evaluate(
            job.load, job.read("changes"), job.read("result"), before, truth, alone=not job.writer
        )
        run.verdict.lost += [f"the state wants it still: {one}" for one in job.read("lacks") or ()]
        run.seconds = time.monotonic() - begun
        if self.undoes:
            self.undo(job, run, before, run.kills.total() // 4)
        return run

    def undo(self, job: Job, run: Run, before: dict[str, list[Any]], kills: int) -> None:
        """Take the run back to its end under the same faults, and evaluate what it leaves."""
        # The numbers of its children go on: a kill that is still armed is for an earlier one.
        begun, back = time.monotonic(), Run(children=run.children)
        job.undoing = True
        calm = 0
        while calm <= self.attempts:
            ended = self._round(job, back, kills)
            if ended == -signal.SIGKILL or self.ended:
                kills -= 1
                continue
            if ended != DONE:
                trace = job.folder / "broken"
                raise Broken(trace.read_text() if trace.exists() else f"a child ended with {ended}")
            calm += 1
            if not any(row["state"] in OPEN for row in job.read("undone")):
                break
        truth = job.account.truth()
        back.faults.update(truth["faults"])
        back.faults.subtract(run.faults)
        back.events.update(job.read("undo events") or {})
        planned = job.read("accounted")
        back.verdict = evaluate_undo(job.load, planned, job.read("undone"), before, truth)
        back.seconds = time.monotonic() - begun
        back.children -= run.children
        run.back = back

    def _again(self, job: Job, run: Run) -> None:
        """Do it once more: a plan that is applied must send nothing."""
        result, writes = job.read("result"), self._writes(job)
        if any(row["state"] in OPEN for row in result):
            return
        ended = self._round(job, run, 0)
        again = job.read("result")
        if ended == BROKEN:
            raise Broken((job.folder / "broken").read_text())
        if self._writes(job) != writes:
            raise Broken("the same plan was applied again and sent something")
        report = [[row["label"], row["state"]] for row in result]
        if report != [[row["label"], row["state"]] for row in again]:
            raise Broken("the same plan was applied again and reports something else")

    def _writes(self, job: Job) -> int:
        writes: int = job.account.command("writes")
        return writes

    def _round(self, job: Job, run: Run, kills: int) -> int:
        """Have one child work, and kill it if kills are left; its exit code."""
        run.children += 1
        self.ended = False
        points: list[str] = []
        how, timer = "request", None
        if kills:
            left = max(1, len(job.load.rows) - self._writes(job))
            requests = 1 + left / kills  # so that the last kill comes before the end
            points = self.ends[:1]
            if self.begin:
                points.insert(0, self.begin.pop(0))
            elif self.points and self.rng.random() < self.share:
                points.insert(0, self.points.pop(0))
                requests *= self.patience  # it may be one that is not reached
            elif self.rng.random() < 0.3:
                how, timer = "time", self.rng.expovariate(400 / requests)
            if how == "request":
                after = int(self.rng.expovariate(1 / requests))
                stage = self.rng.choice(("arrived", "done", "answered"))
                job.account.command("arm", number=run.children, after=after, stage=stage)
        code, message = self._child(job, points, timer, run.children)
        reached = [point for point in points if point in message]
        for point in reached:
            run.kills[point] += 1
            if point in self.ends:
                self.ends.remove(point)
        if points and points[0] not in (*reached, *self.ends):
            self.points.append(points[0])  # it is tried again later
        if code == -signal.SIGKILL and not reached:
            run.kills[how] += 1
        if self.ended:
            run.kills["sessions"] += 1
            if code == BROKEN:  # as a cell that raises: a person goes on with the run
                (job.folder / "broken").unlink()
        return code

    def _child(
        self, job: Job, points: list[str], timer: float | None, number: int
    ) -> tuple[int, set[str]]:
        """Fork a child and wait for its end; its exit code and its messages."""
        ours, other_records = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = BROKEN
            try:
                os.close(ours)
                code = child.run(
                    job, points, lambda line: os.write(other_records, f"{line}\n".encode())
                )
            finally:
                os._exit(code)
        os.close(other_records)
        try:
            message = self._watch(job, pid, ours, timer, number)
        finally:
            os.close(ours)
            _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status), message

    def _watch(self, job: Job, pid: int, pipe: int, timer: float | None, number: int) -> set[str]:
        """Wait until the child ends, or kill it at its time; the clock runs once it applies."""
        assert job.account.process.stdout is not None
        service = job.account.process.stdout.fileno()
        latest = time.monotonic() + LONGEST
        early = timer is not None and self.rng.random() < 0.1  # while it still plans
        when = time.monotonic() + timer if timer is not None and early else latest
        message = b""
        while True:
            ready, _, _ = select.select([pipe, service], [], [], max(0, when - time.monotonic()))
            if pipe in ready:
                more = os.read(pipe, 4096)
                if not more:  # it has ended
                    return set(message.decode().split("\n"))
                message += more
                if timer is not None:
                    when = time.monotonic() + timer
            elif not ready or f"kill {number}" in os.read(service, 4096).decode().split("\n"):
                hangs = when == latest and not ready
                if job.at and not (hangs or self.ended) and self.rng.random() < self.sessions:
                    end_sessions(job.at)
                    self.ended, timer = True, None
                    when = time.monotonic() + NOTICED
                    continue
                os.kill(pid, signal.SIGKILL)
                if hangs:
                    raise Broken(f"a child was not done after {LONGEST:g} s")
                when = latest = time.monotonic() + LONGEST


def end_sessions(address: str) -> None:
    """End all sessions of the database, as its administrator or a restart would."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
