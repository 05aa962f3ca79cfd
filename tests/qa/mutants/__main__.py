"""Mutants: plant small faults in the core modules, one at a time, and see which go unnoticed.

`make mutants MODULES="listing bulk/undo" COUNT=40 SEED=1` takes a sample of COUNT faults for each
group of `groups.py` (or each module named), plants each in a copy of the checkout, and runs the
tests that answer for its module there, those named after it first and then those that import it,
until one fails that is green without the fault. What survives is printed with its line. Mutants
that nothing can notice are listed in `equivalent.txt`, by hand. The checkout itself is never
touched.

The sampler is ours. mutmut, a kept tool, needs `fork` (as this does), mutates functions alone and
keeps its results; it was not tried here. Required are a seeded sample of named modules, tests that
are named for them, and no state beside the checkout.

It ends with an error if a group is below the goal.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import NamedTuple

from mutants.groups import GOAL, GROUPS, files_of, group_of, in_order
from mutants.mutate import Mutant, mutants
from mutants.warm import Run, warm

ROOT = Path(__file__).resolve().parents[3]
CHATKIT, SHARED = Path("chatkit"), ROOT.parent / "shared"
#: What tests need beside the package.
COPIED = ("chatkit", "tests", "notebooks", "conftest.py", "pyproject.toml", "README.md", "Makefile")
EACH, WHOLE = 60, 600  # seconds that a test may take with a mutant, and all of them
#: Yields runs, is sent how each ended, returns what became of the mutant.
Evaluation = Generator[Run, str, str]


class Verdict(NamedTuple):
    """The outcome of a mutant."""

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
    sample = sampled(asked.modules or list(GROUPS), asked.count, asked.seed)
    if asked.list:
        print(*(mutant for group in sample.values() for mutant in group), sep="\n")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    warm()
    with TemporaryDirectory(prefix="ck-mutants-") as folder:  # conftest.py fails runs for chatkit-*
        os.chmod(folder, 0o711)  # a database server of the tests runs as another user
        if SHARED.is_dir():  # corpora and samples that some tests look for beside the checkout
            (Path(folder) / SHARED.name).symlink_to(SHARED)
        copies = [copied(Path(folder) / str(n)) for n in range(asked.processes)]
        verdicts = run(sample, copies)
    return report(verdicts)


def sampled(named: Sequence[str], count: int, seed: int) -> dict[str, list[Mutant]]:
    """Choose mutants: so many of each group or module, the same for the same seed and source."""
    equivalents = known_equivalents()
    result: dict[str, list[Mutant]] = {}
    for name in named:
        paths = [path for path in modules() if belongs(path, name)]
        if not paths:
            sys.exit(f"{name!r} is no group ({', '.join(GROUPS)}) and no module of one.")
        every = [
            mutant
            for path in paths
            for mutant in mutants(CHATKIT / path, (ROOT / CHATKIT / path).read_text("utf-8"))
            if key(mutant) not in equivalents
        ]
        chance = random.Random(f"{seed} {name}")
        result[name] = sorted(chance.sample(every, min(count, len(every))), key=place)
    return result


def modules() -> list[str]:
    """Return the modules of all groups, as paths below `chatkit/`."""
    paths = (
        path.relative_to(ROOT / CHATKIT).as_posix() for path in sorted(ROOT.glob("chatkit/**/*.py"))
    )
    return [path for path in paths if group_of(path)]


def belongs(path: str, name: str) -> bool:
    """Return whether a module belongs to a group, a folder or a module of that name."""
    name = name.removeprefix("chatkit/").removesuffix(".py")
    return group_of(path) == name or f"{path.removesuffix('.py')}/".startswith(f"{name}/")


def place(mutant: Mutant) -> tuple[str, int, str]:
    """Order mutants by where they are."""
    return str(mutant.path), mutant.line, mutant.after


def key(mutant: Mutant) -> tuple[str, ...]:
    """Return the name of a mutant in `equivalent.txt`: its texts, as line numbers change."""
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
    jobs = [(group, mutant) for group, chosen in sample.items() for mutant in chosen]
    verdicts: dict[int, Verdict] = {}
    running: dict[int, tuple[Evaluation, Run]] = {}
    waiting, free, green, red = list(range(len(jobs))), list(copies), set[str](), set[str]()
    try:
        while waiting or running:
            while waiting and free:
                at = waiting.pop(0)
                evaluating = evaluate(jobs[at][1], free.pop(), green, red)
                running[at] = evaluating, next(evaluating)
            for at, (evaluating, started) in list(running.items()):
                if (what := started.ended()) is None:
                    continue
                try:
                    running[at] = evaluating, evaluating.send(what)
                except StopIteration as end:
                    del running[at]
                    free.append(started.copy)
                    verdicts[at] = Verdict(*jobs[at], end.value)
                    mark = {"survived": "S", "timeout": "t"}.get(end.value, ".")
                    print(mark, end="", flush=True)
                    if end.value == "survived":
                        print(f"\n{jobs[at][1]}", flush=True)
            sleep(0.02)
    finally:  # interrupted: nothing that was started goes on
        for _, started in running.values():
            started.end()
    for test in sorted(red):
        print(f"\nleft out, as it fails without a mutant, too: {test}", end="")
    return [verdicts[at] for at in range(len(jobs))]


def evaluate(mutant: Mutant, copy: Path, green: set[str], red: set[str]) -> Evaluation:
    """Plant a mutant and run its tests; what fails must be green without it.

    Yields each run, is sent how it ended, and returns `killed`, `timeout` or `survived`.
    """
    path = mutant.path.relative_to(CHATKIT).as_posix()
    group = group_of(path)
    assert group is not None
    files = files_of(group, copy / "tests")
    near, far = (
        [f"tests/{file}" for file in part] for part in in_order(path, files, copy / "tests")
    )
    for tests in filter(None, (near, far)):
        while True:
            left_out = [f"--deselect={test}" for test in sorted(red)]
            undo = planted(mutant, copy)
            limits = [f"-otimeout={EACH}", "-otimeout_method=thread"]
            started = Run(copy, ["-x", *limits, *left_out, *tests], WHOLE)
            what = yield started
            undo()
            if what != "killed":
                break
            alone = set(started.failed()) - green
            for test in alone:
                (red if (yield Run(copy, [test], WHOLE)) else green).add(test)
            if not alone & red:
                return what
        if what:
            return what
    return "survived"


def planted(mutant: Mutant, copy: Path) -> Callable[[], None]:
    """Plant a fault in a copy, and return what takes it away again."""
    module = copy / mutant.path
    text, stat = module.read_bytes(), module.stat()
    module.write_text(mutant.applied(text.decode("utf-8")), "utf-8")

    def undo() -> None:
        module.write_bytes(text)
        os.utime(module, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        for compiled in module.parent.glob(f"__pycache__/{module.stem}.*.pyc"):
            compiled.unlink(missing_ok=True)  # another mutant may be as long, in the same second

    return undo


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
