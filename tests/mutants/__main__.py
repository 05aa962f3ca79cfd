"""Mutants: plant small faults in the core modules, one at a time, and see which go unnoticed.

`make mutants MODULES="listing bulk/undo" COUNT=40 SEED=1` takes a sample of COUNT faults for each
group of `rooms.py` (or each module named), plants each in a copy of the checkout, and runs the
tests that answer for its module there. What survives is printed with its line. Mutants that
nothing can notice are listed in `equivalent.txt`, by hand. The checkout itself is never touched.

It ends with an error if a group is below the goal.
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from mutants.mutate import Mutant, mutants
from mutants.rooms import GOAL, ROOMS, room_of

ROOT = Path(__file__).resolve().parents[2]
CHATKIT = Path("chatkit")
#: What tests need beside the package.
COPIED = ("chatkit", "tests", "notebooks", "conftest.py", "pyproject.toml", "README.md", "Makefile")
FACTOR, SPARE = 3, 30  # a mutant may take so many times the time of its tests, and so much more


class Verdict(NamedTuple):
    """What became of a mutant."""

    group: str
    mutant: Mutant
    what: str  # killed, timeout, survived


def main() -> int:
    """Sample, run, print."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", help="groups, or modules below chatkit/")
    parser.add_argument("--count", type=int, default=40, help="mutants of each group")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--list", action="store_true", help="show the sample and run nothing")
    asked = parser.parse_args()
    sample = sampled(asked.modules or list(ROOMS), asked.count, asked.seed)
    if asked.list:
        print(*(mutant for group in sample.values() for mutant in group), sep="\n")
        return 0
    with TemporaryDirectory(prefix="chatkit-mutants-") as folder:
        copies = [copied(Path(folder) / str(n)) for n in range(asked.processes)]
        verdicts = run(sample, copies)
    return report(verdicts)


def sampled(named: Sequence[str], count: int, seed: int) -> dict[str, list[Mutant]]:
    """Choose mutants: so many of each group or module, the same for the same seed and source."""
    equivalents = known_equivalents()
    found: dict[str, list[Mutant]] = {}
    for name in named:
        paths = [path for path in modules() if belongs(path, name)]
        if not paths:
            sys.exit(f"{name!r} is no group ({', '.join(ROOMS)}) and no module of one.")
        every = [
            mutant
            for path in paths
            for mutant in mutants(CHATKIT / path, (ROOT / CHATKIT / path).read_text("utf-8"))
            if key(mutant) not in equivalents
        ]
        chance = random.Random(f"{seed} {name}")
        found[name] = sorted(chance.sample(every, min(count, len(every))), key=place)
    return found


def modules() -> list[str]:
    """Return the modules of all groups, as paths below `chatkit/`."""
    paths = (
        path.relative_to(ROOT / CHATKIT).as_posix() for path in sorted(ROOT.glob("chatkit/**/*.py"))
    )
    return [path for path in paths if room_of(path)]


def belongs(path: str, name: str) -> bool:
    """Tell whether a module is meant by the name of a group, a module or a folder."""
    found = room_of(path)
    name = name.removeprefix("chatkit/").removesuffix(".py")
    return (found is not None and found[0] == name) or f"{path.removesuffix('.py')}/".startswith(
        f"{name}/"
    )


def place(mutant: Mutant) -> tuple[str, int, str]:
    """Order mutants by where they are."""
    return str(mutant.path), mutant.line, mutant.after


def key(mutant: Mutant) -> tuple[str, ...]:
    """What `equivalent.txt` names a mutant by; lines move, texts stay."""
    before, after = (" ".join(text.split()) for text in (mutant.before, mutant.after))
    return mutant.path.as_posix(), mutant.within, before, after


def known_equivalents() -> set[tuple[str, ...]]:
    """Read the list that was written by hand."""
    lines = Path(__file__).with_name("equivalent.txt").read_text("utf-8").splitlines()
    split = [line.split(" || ") for line in lines if line and not line.startswith("#")]
    return {tuple(parts[:4]) for parts in split}


# --- running ------------------------------------------------------------------------------


def copied(to: Path) -> Path:
    """Make a copy of the checkout, in which faults may be planted."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name)
        else:
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    return to


def run(sample: dict[str, list[Mutant]], copies: list[Path]) -> list[Verdict]:
    """Run the tests of each mutant, in as many processes as there are copies."""
    free: queue.Queue[Path] = queue.Queue()
    for copy in copies:
        free.put(copy)
    jobs = [(group, mutant) for group, chosen in sample.items() for mutant in chosen]
    rooms = {tests_of(mutant) for _, mutant in jobs}

    def time_of(tests: tuple[str, ...]) -> float:
        copy, began = free.get(), time.monotonic()
        try:
            if what := tested(copy, tests, 1800):
                sys.exit(f"The tests are not green without a mutant ({what}): {' '.join(tests)}")
            return time.monotonic() - began
        finally:
            free.put(copy)

    def judged(job: tuple[str, Mutant]) -> Verdict:
        group, mutant = job
        copy = free.get()
        module = copy / mutant.path
        text = module.read_text("utf-8")
        try:
            module.write_text(mutant.applied(text), "utf-8")
            tests = tests_of(mutant)
            what = tested(copy, tests, FACTOR * times[tests] + SPARE) or "survived"
        finally:
            module.write_text(text, "utf-8")
            free.put(copy)
        print({"survived": "S", "timeout": "t"}.get(what, "."), end="", flush=True)
        return Verdict(group, mutant, what)

    with ThreadPoolExecutor(len(copies)) as pool:
        times = dict(zip(rooms, pool.map(time_of, rooms), strict=True))
        return list(pool.map(judged, jobs))


def tests_of(mutant: Mutant) -> tuple[str, ...]:
    """Return the tests that answer for the module of a mutant."""
    found = room_of(mutant.path.relative_to(CHATKIT).as_posix())
    assert found is not None
    return found[1].tests


def tested(copy: Path, tests: Sequence[str], seconds: float) -> str:
    """Run tests in a copy: empty if all are green, else `killed` or `timeout`."""
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    with (copy / "output").open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=copy,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:  # what the tests have started, too
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code not in (0, 1, 2):  # 3 to 5: pytest itself, or no tests
        text = (copy / "output").read_text("utf-8", "replace")
        sys.exit(f"pytest ended with {code}:\n{text[-2000:]}")
    return "killed" if code else ""


def report(verdicts: list[Verdict]) -> int:
    """Print the score of each group and module, and what survived."""
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        groups[verdict.group].append(verdict)
    print("\n\n| modules | mutants | noticed | by time | survived | score |")
    print("|---|---:|---:|---:|---:|---:|")
    low = False
    for group, some in groups.items():
        rows = {f"**{group}**": some}
        for verdict in some:
            rows.setdefault(f"`{verdict.mutant.path.as_posix()}`", []).append(verdict)
        for name, those in rows.items():
            late = sum(verdict.what == "timeout" for verdict in those)
            left = sum(verdict.what == "survived" for verdict in those)
            score = 1 - left / len(those)
            low |= those is some and score < GOAL
            print(
                f"| {name} | {len(those)} | {len(those) - left} | {late} | {left} | {score:.0%} |"
            )
    left = [verdict for verdict in verdicts if verdict.what == "survived"]
    share = 1 - len(left) / len(verdicts)
    print(f"\n{len(verdicts)} mutants, {share:.1%} noticed (goal ≥ {GOAL:.0%} in each group).")
    if left:
        print("\nWhat survived:\n")
        print(*(verdict.mutant for verdict in left), sep="\n")
    return int(low)


if __name__ == "__main__":
    sys.exit(main())
