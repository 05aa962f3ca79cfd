"""What all benches share: shuffled rounds, processes with their CPU time, Markdown tables."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import psutil

#: `make bench QUICK=1`: fewer rounds, shorter ones, smaller tables.
QUICK = os.environ.get("QUICK", "") not in ("", "0")
HERE = Path(__file__).parent
#: Where peers that are no Python packages are installed.
CACHE = HERE.parent.parent / ".cache" / "bench"

T = TypeVar("T")


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


def child(script: str, *arguments: object, timeout: float = 300) -> Any:
    """Run a script of this folder in a process of its own; the JSON it prints."""
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=timeout, text=True)
    if done.returncode:  # progress bars are of interest to nobody, errors are
        sys.exit(done.stderr)
    return json.loads(done.stdout)


class Server:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
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
    out = subprocess.PIPE if reads_line else subprocess.DEVNULL
    process = subprocess.Popen(
        [str(part) for part in command], stdout=out, stderr=subprocess.DEVNULL, text=True
    )
    running = Server(process)
    try:
        if process.stdout:
            running.line = process.stdout.readline().strip()
        yield running
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()


def at_most(value: float, goal: float, unit: str = "") -> str:
    """A figure beside its goal, and whether it is met."""
    met = "met" if value <= goal else "**MISSED**"
    return f"{figure(value)}{unit} (goal ≤ {goal:g}{unit}: {met})"


def at_least(value: float, goal: float, unit: str = "") -> str:
    """A figure beside its goal, and whether it is met."""
    met = "met" if value >= goal else "**MISSED**"
    return f"{figure(value)}{unit} (goal ≥ {goal:g}{unit}: {met})"


def figure(value: float) -> str:
    """A figure with about three digits."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def show(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print one table in Markdown; floats with about three digits."""
    print(f"\n### {title}\n")
    print(f"| {' | '.join(header)} |")
    print("|---" + "|---:" * (len(header) - 1) + "|")
    for row in rows:
        cells = [figure(cell) if isinstance(cell, float) else str(cell) for cell in row]
        print(f"| {' | '.join(cells)} |")
    sys.stdout.flush()
