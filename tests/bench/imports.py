"""Bench of imports: what `import chatkit` costs, and what is loaded when."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from measure import HERE, QUICK, at_most, rounds, show

RUNS = 40 if QUICK else 150
HEAVY = ("aiohttp", "msgspec", "pandas", "pyarrow", "pydantic", "sqlite3", "tqdm", "uvicorn")
STEPS = {
    "`import chatkit`": "import chatkit",
    "`chatkit.Client(…)`": "client = chatkit.Client('http://127.0.0.1:9', '1001', 'token')",
    "`chatkit.connect()` (the sandbox)": "client = chatkit.connect()",
    "`client.contacts.get(…)`": "contact = client.contacts.get(50001)",
    "`client.contacts.frame()`": "frame = client.contacts.frame()",
    "`client.flows.frame()`": "frame = client.flows.frame()",
    "`repr(frame)`": "text = repr(frame)",
}
PROGRAM = """
import sys, time
for name, step in %r.items():
    loaded, began = set(sys.modules), time.process_time()
    exec(step)
    spent, new = time.process_time() - began, set(sys.modules) - loaded
    heavy = sorted(new & set(%r))
    print(name, round(spent * 1000, 1), len(new), ", ".join(heavy), sep="\\t", file=sys.stderr)
"""


def main() -> None:
    """Print two tables."""
    with TemporaryDirectory() as folder:
        Path(folder, "empty.py").touch()
        os.chdir(folder)
        cost()
        os.chdir(HERE)
    steps()


def cost() -> None:
    """What an import costs beside one of nothing."""
    codes = ("pass", "import empty", "import chatkit")
    for code in codes:
        start(code)  # what is on disk only comes into memory
    found = rounds({code: partial(start, code) for code in codes}, RUNS)
    rows = []
    for at, kind in enumerate(("CPU", "elapsed")):
        bare, empty, ours = (median(run[at] for run in found[code]) * 1000 for code in codes)
        ratio = at_most(ours / bare, 1.15, " ×")
        rows.append([kind, bare, empty, ours, f"{empty / bare:.2f} ×", ratio])
    show(
        f"`import chatkit` in a new interpreter, {RUNS} runs",
        ["ms", *(f"`{code}`" for code in codes), "empty / pass", "chatkit / pass"],
        rows,
    )


def steps() -> None:
    """What is loaded when."""
    program = PROGRAM % (STEPS, HEAVY)
    alone = {name: value for name, value in os.environ.items() if not name.startswith("CHATKIT_")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, env=alone, check=True, capture_output=True, text=True, timeout=120
    )
    lines = [line.split("\t") for line in done.stderr.splitlines() if line.count("\t") == 3]
    show(
        "What is loaded when it is first used, one step after the other",
        ["step", "CPU ms", "new modules", "of the heavy ones"],
        lines,
    )


def start(code: str) -> tuple[float, float]:
    """Seconds of CPU and elapsed seconds of one new interpreter."""
    began = time.perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", code], os.environ)
    _, status, used = os.wait4(child, 0)
    elapsed = time.perf_counter() - began
    assert status == 0
    return used.ru_utime + used.ru_stime, elapsed


if __name__ == "__main__":
    main()
