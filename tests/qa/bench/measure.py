"""Helpers of all benches: shuffled rounds, processes with CPU time, tables and goals."""

from __future__ import annotations

import json
import os
import random
import resource
import runpy
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

import psutil

#: `tests/qa/bench/smoke.py`: everything runs once and as small as can be; no figure means anything.
SMOKE = os.environ.get("BENCH") == "smoke"
HERE = Path(__file__).parent
TESTS = str(HERE.parents[1])
#: Where peers that are no Python packages are installed.
CACHE = HERE.parents[2] / ".cache" / "bench"
#: The exit code of a bench that ran, and missed a goal without an explanation.
MISSED = 3

T = TypeVar("T")


def sized(full: T, smoke: T) -> T:
    """Choose how much is measured."""
    return smoke if SMOKE else full


def rounds(runs: Mapping[str, Callable[[], T]], count: int) -> dict[str, list[T]]:
    """Run each of them `count` times, in another order each round; their results by name."""
    results: dict[str, list[T]] = {name: [] for name in runs}
    order = list(runs)
    for _ in range(count):
        random.shuffle(order)
        for name in order:
            results[name].append(runs[name]())
    return results


def medians(results: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The median of each figure over some results that have the same figures."""
    results = list(results)
    return {name: median(result[name] for result in results) for name in results[0]}


def cpu() -> float:
    """Seconds of CPU, user and system, that this process has used, all its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory() -> float:
    """MB of memory that this process holds now."""
    held: int = psutil.Process().memory_info().rss
    return held / 2**20


def installed(peer: str, package: str) -> bool:
    """Return whether a package is installed; otherwise print that a peer is left out."""
    outcome = find_spec(package) is not None
    if not outcome:
        left_out(peer, f"{package} is not installed")
    return outcome


def left_out(what: str, reason: str) -> None:
    """Print what is missing from the next table."""
    print(f"\n**LEFT OUT: {what}**: {reason}.")


def find_postgres(stack: ExitStack) -> Any:
    """The server that the tests start; None, and a line that says so, without one."""
    if SMOKE:
        return None
    try:
        if TESTS not in sys.path:
            sys.path.append(TESTS)
        from postgres import postgresql

        return stack.enter_context(postgresql())
    except (ImportError, AssertionError, OSError, ValueError, subprocess.SubprocessError) as error:
        left_out("PostgreSQL", f"{type(error).__name__}: {error}")
        return None


# --- processes --------------------------------------------------------------------------


def child(script: str, *arguments: object, timeout: float = 300) -> Any:
    """Run a script of this folder in a process of its own; the JSON it prints."""
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        code = _started(command, out.fileno(), errors.fileno()).wait(timeout)
        if code:  # progress bars are of interest to nobody, errors are
            errors.seek(0)
            sys.exit(errors.read() or f"{' '.join(command)}: exit code {code}")
        out.seek(0)
        return json.loads(out.read())


def _started(command: list[str], out: int, errors: int) -> subprocess.Popen[bytes] | Forked:
    if SMOKE and command[0] == sys.executable:
        return Forked(command[1:], out, errors)
    return subprocess.Popen(command, stdout=out, stderr=errors)


class Forked:
    """A Python program in a fork of this process: what is imported here need not be again.

    A smoke test starts some fifty programs; each would import pandas and chatkit anew.

    Args:
        arguments: What would stand behind `python`: a script or `-m` and a module, and its own.
        out: The file descriptor of its standard output.
        errors: That of its standard error.
    """

    def __init__(self, arguments: list[str], out: int, errors: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.dup2(out, 1)
            os.dup2(errors, 2)
            os._exit(_run(arguments))  # what the parent does at its end is not done here

    def wait(self, timeout: float) -> int:
        """Wait for its end; its exit code."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.005)
        raise subprocess.TimeoutExpired("a fork", timeout)

    def terminate(self) -> None:
        """Ask it to end."""
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        os.kill(self.pid, signal.SIGKILL)


def _run(arguments: list[str]) -> int:
    """Run a program here, in its own name; the exit code it would have."""
    code: object = 0
    try:
        if arguments[0] == "-m":
            sys.argv = arguments[1:]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments
            if (folder := str(Path(arguments[0]).parent)) not in sys.path:
                sys.path.insert(0, folder)
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001  (as an interpreter does at its end)
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


class Server:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes] | Forked) -> None:
        self._process = process
        self.line = ""  # the first that it printed

    def cpu(self) -> float:
        """Seconds of CPU that it and its children have used."""
        root = psutil.Process(self._process.pid)
        times = [each.cpu_times() for each in (root, *root.children(recursive=True))]
        return sum(each.user + each.system for each in times)

    def memory(self) -> float:
        """MB of memory that it and its children hold now."""
        root = psutil.Process(self._process.pid)
        held = [each.memory_info().rss for each in (root, *root.children(recursive=True))]
        return sum(held) / 2**20


@contextmanager
def server(*command: object, reads_line: bool = True) -> Iterator[Server]:
    """Run a server while a block lasts; it prints one line when it takes calls."""
    read, write = os.pipe()
    with open(os.devnull, "w") as nothing, os.fdopen(read) as lines:
        out = write if reads_line else nothing.fileno()
        process = _started([str(part) for part in command], out, nothing.fileno())
        os.close(write)
        running = Server(process)
        try:
            if reads_line:
                running.line = lines.readline().strip()
                if not running.line:
                    sys.exit(f"{' '.join(map(str, command))} ended before it took calls")
            yield running
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


# --- goals ------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """A figure that has a goal."""

    what: str
    goal: str
    figure: str
    met: bool
    explained: str


#: Those of the next table, and all until now.
_waiting: list[Verdict] = []
_all: list[Verdict] = []


def at_most(what: str, value: float, goal: float, unit: str = "", explained: str = "") -> str:
    """Hold a figure against a goal that it must not exceed; return it for a cell of the table.

    Args:
        what: What the figure is, understood without the table.
        value: The figure.
        goal: The goal.
        unit: Stands behind both.
        explained: Why it may be missed, in one line: then the bench does not fail for it.
    """
    return _held(what, value, f"≤ {goal:g}{unit}", value <= goal, unit, explained)


def at_least(what: str, value: float, goal: float, unit: str = "", explained: str = "") -> str:
    """Hold a figure against a goal that it must reach; see `at_most`."""
    return _held(what, value, f"≥ {goal:g}{unit}", value >= goal, unit, explained)


def _held(what: str, value: float, goal: str, met: bool, unit: str, explained: str) -> str:
    view = f"{figure(value)}{unit}"
    _waiting.append(Verdict(what, goal, view, met, "" if met else explained))
    return view


def run(main: Callable[[], None]) -> None:
    """Run a bench, say how long it took, and fail where it missed a goal without an explanation."""
    began = time.monotonic()
    main()
    name = Path(sys.argv[0]).stem
    print(f"\n`{name}` took {time.monotonic() - began:.0f} s.", flush=True)
    missed = [each for each in _all if not each.met and not each.explained]
    if missed and not SMOKE:
        print(f"\n**MISSED, not explained**: {'; '.join(each.what for each in missed)}.")
        sys.exit(MISSED)


# --- tables -----------------------------------------------------------------------------


def figure(value: float) -> str:
    """A figure with about three digits."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def show(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table in Markdown, floats with about three digits, and the goals it was held to."""
    _show(title, header, rows)
    if _waiting:
        goals = [
            (
                *(each.what, each.goal, each.figure),
                "not judged" if SMOKE else "met" if each.met else "**MISSED**",
                each.explained,
            )
            for each in _waiting
        ]
        _show("", ["held against its goal", "goal", "figure", "verdict", "explanation"], goals)
        _all.extend(_waiting)
        _waiting.clear()
    sys.stdout.flush()


def _show(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    print(f"\n### {title}\n" if title else "")
    print(f"| {' | '.join(header)} |")
    print("|---" + "|---:" * (len(header) - 1) + "|")
    for row in rows:
        cells = [figure(cell) if isinstance(cell, float) else str(cell) for cell in row]
        print(f"| {' | '.join(cells)} |")
