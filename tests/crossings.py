"""Print how often a call leaves one module of the package for another.

A crossing is a call between two modules of chatkit, whatever stands between them; calls of the
sandbox, which plays the service, are not counted. The figures show what goes back and forth.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from documents import DOCUMENT

import chatkit

PACKAGE = f"{Path(chatkit.__file__).parent}{os.sep}"
SANDBOX = f"{PACKAGE}sandbox{os.sep}"


def _module(frame: FrameType | None) -> str:
    """Return the file of the nearest frame of the package; empty for the sandbox and outside."""
    while frame is not None and not frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return "" if frame is None else frame.f_code.co_filename


def crossings(work: Callable[[], object]) -> Counter[tuple[str, str]]:
    """Count the calls between two modules while some work is done, in all its threads."""
    count: Counter[tuple[str, str]] = Counter()

    def seen(frame: FrameType, event: str, argument: Any) -> None:
        callee = frame.f_code.co_filename
        if event != "call" or not callee.startswith(PACKAGE) or callee.startswith(SANDBOX):
            return
        caller = _module(frame.f_back)
        if caller not in ("", callee) and not caller.startswith(SANDBOX):
            count[caller.removeprefix(PACKAGE), callee.removeprefix(PACKAGE)] += 1

    threading.setprofile(seen)
    sys.setprofile(seen)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return count


@contextlib.contextmanager
def _account() -> Iterator[chatkit.Client]:
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        chatkit.Sandbox(seed="demo") as sandbox,
        chatkit.connect(sandbox) as client,
    ):
        yield client


def figures() -> dict[str, Counter[tuple[str, str]]]:
    """Count the crossings of each task that is named in the design."""
    from chatkit.flowjson import lint

    result: dict[str, Counter[tuple[str, str]]] = {}
    for rows in (8, 48):
        with _account() as client:
            frame = client.contacts.frame()
            name = frame.columns.get_loc("name")
            frame.iloc[:rows, name] = [f"Ana Nr{n}" for n in range(rows)]
            result[f"plan of {rows} edits"] = crossings(partial(client.contacts.plan, frame))
            plan = client.contacts.plan(frame)
            result[f"apply of {rows} edits"] = crossings(partial(plan.apply, many=True))
    with _account() as client, tempfile.TemporaryDirectory() as path:
        folder = chatkit.Folder(path)
        with contextlib.redirect_stdout(io.StringIO()):
            folder.pull(client)
            file = Path(path) / "webhooks/hooks-larkspur-cycles-example-chat.json"
            file.write_text(file.read_text().replace("true", "false", 1))
        result["plan of a folder"] = crossings(partial(folder.plan, client))
        result["lint of a flow"] = crossings(partial(lint, DOCUMENT))
        result["board"] = crossings(partial(client.templates.board, ["order_ready"]))
    return result


def report() -> Iterator[str]:
    """Yield the figures, one a line."""
    result = figures()
    few, many = result["apply of 8 edits"].total(), result["apply of 48 edits"].total()
    yield f"plan of 8 edits: {result['plan of 8 edits'].total()}"
    yield f"apply: {(many - few) / 40:.1f} a row, {few / 8:.0f} with what is done once for 8 rows"
    for name in ("plan of a folder", "lint of a flow", "board"):
        yield f"{name}: {result[name].total()}"


if __name__ == "__main__":
    if "--pairs" in sys.argv:
        for name, pairs in figures().items():
            print(f"{name}: {pairs.total()}")
            for (caller, callee), times in pairs.most_common(25):
                print(f"{times:7,}  {caller} -> {callee}")
    else:
        print("Calls between modules:", "; ".join(report()))
