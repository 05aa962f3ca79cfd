"""Bench of imports: what `import chatkit` costs, what is loaded when, the first frame in a kernel.

The first frame is to be on the screen within a second on a quiet machine of two cores, where
`import pandas` and one request take 0.28 s: that makes the bar of 3.6, which holds on any machine.

`python imports.py kernel CODE …` runs cells in a fresh Jupyter kernel and prints the seconds of
each, until its output was there, as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from measure import HERE, SMOKE, at_most, child, rounds, run, server, show, sized

RUNS, KERNELS = sized(50, 1), sized(3, 1)
#: What a first frame may take, `import pandas` and one request by hand = 1.
FIRST_FRAME = 3.6
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
CONNECT, FRAME = "import chatkit\nclient = chatkit.connect()", "client.contacts.frame()"
BY_HAND = """import json, urllib.request
import pandas
answer = json.load(urllib.request.urlopen(%r))
pandas.DataFrame(answer["data"] or [{"first_name": "Ana"}])"""
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
    """Print three tables."""
    with TemporaryDirectory() as folder:
        Path(folder, "empty.py").touch()
        os.chdir(folder)
        cost()
        os.chdir(HERE)
    steps()
    first_frame()


def cost() -> None:
    """Compare the cost of an import with that of an empty one."""
    codes = ("pass", "import empty", "import chatkit")
    for code in codes:
        start(code)  # what is on disk only comes into memory
    result = rounds({code: partial(start, code) for code in codes}, RUNS)
    rows = []
    for at, kind in enumerate(("CPU", "elapsed")):
        bare, empty, ours = (median(run[at] for run in result[code]) * 1000 for code in codes)
        at_most(f"{kind} of `import chatkit`, a bare interpreter = 1", ours / bare, 1.15, " ×")
        ratios = f"{empty / bare:.2f} ×", f"{ours / bare:.2f} ×"
        rows.append([kind, bare, empty, ours, *ratios])
    show(
        f"`import chatkit` in a new interpreter, {RUNS} runs",
        ["ms", *(f"`{code}`" for code in codes), "empty / pass", "chatkit / pass"],
        rows,
    )


def steps() -> None:
    """List the modules that are loaded, and when."""
    program = PROGRAM % (dict(list(STEPS.items())[: 1 if SMOKE else None]), HEAVY)
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


def first_frame() -> None:
    """Measure the time to the first frame in a fresh kernel."""
    with server(sys.executable, HERE / "servers" / "fast.py") as fast:
        url = f"{fast.line}/api/business/public/channels/chat/accounts/1001/contacts"
        cells = {
            "by hand: `import pandas` and one request": [BY_HAND % url],
            "`connect()`, then `contacts.frame()`": [CONNECT, FRAME],
        }
        if SMOKE:  # one kernel for all: each takes a second of CPU to begin
            one = child("imports.py", "kernel", CONNECT, FRAME)
            result = {name: [one] for name in cells}
        else:
            runs: dict[str, Any] = {
                name: partial(child, "imports.py", "kernel", *codes)
                for name, codes in cells.items()
            }
            result = rounds(runs, KERNELS)
    totals = {name: median(sum(each) for each in result[name]) for name in cells}
    bare, ours = totals.values()
    what = "first frame in a fresh kernel, `import pandas` + one request = 1"
    at_most(what, ours / bare, FIRST_FRAME)
    rows = []
    for name, total in totals.items():
        first, last = (median(each[at] for each in result[name]) for at in (0, -1))
        rows.append([name, first, last if len(cells[name]) > 1 else "—", total, total / bare])
    show(
        f"The first frame in a fresh kernel, seconds, {KERNELS} kernels each",
        ["cells", "first cell", "last cell", "all", "by hand = 1"],
        rows,
    )


def kernel(codes: list[str]) -> list[float]:
    """Run cells in a fresh kernel; the seconds of each until its output was there."""
    from jupyter_client.manager import KernelManager

    seconds: list[float] = []
    messages: list[str] = []
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(extra_arguments=["--HistoryManager.enabled=False"])
    try:
        client = manager.blocking_client()
        client.start_channels()
        client.wait_for_ready(timeout=60)
        for code in codes:
            began = time.perf_counter()
            reply = client.execute_interactive(
                code, timeout=120, output_hook=lambda message: messages.append(message["msg_type"])
            )
            seconds.append(time.perf_counter() - began)
            assert reply["content"]["status"] == "ok", reply["content"]
        assert "execute_result" in messages, messages  # the frame, as it is shown
        client.stop_channels()
    finally:
        manager.shutdown_kernel(now=True)
    return seconds


def start(code: str) -> tuple[float, float]:
    """Seconds of CPU and elapsed seconds of one new interpreter."""
    began = time.perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", code], os.environ)
    _, status, used = os.wait4(child, 0)
    elapsed = time.perf_counter() - began
    assert status == 0
    return used.ru_utime + used.ru_stime, elapsed


if __name__ == "__main__":
    if sys.argv[1:2] == ["kernel"]:
        print(json.dumps(kernel(sys.argv[2:])))
    else:
        run(main)
