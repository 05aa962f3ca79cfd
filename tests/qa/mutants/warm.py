"""Run tests in a fork of this process, which has imported already what chatkit imports.

Starting Python, pandas and pytest takes longer than most tests. This process imports them once
and nothing of chatkit; each run is a child that begins there, in a copy of the checkout. Only a
process with one thread may fork so.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parents[3]
#: What takes longest to import: third parties alone.
HEAVY = (
    *("pandas", "pyarrow.compute", "pyarrow.parquet", "msgspec", "pydantic", "httpx", "aiohttp"),
    *("phonenumbers", "phonenumbers.data", "uvicorn"),
    *("hypothesis", "ipywidgets", "tqdm.auto", "platformdirs", "keyring"),
)
#: Parts of pytest that the tests of mutants do not need.
WITHOUT = ("nbval", "schemathesis", "anyio", "asyncio", "time_machine", "cacheprovider")


class Failures:
    """A part of pytest: writes down what failed, and looks for no smaller example of it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def pytest_sessionstart(self) -> None:
        """End properties at their first failure: shrinking can take minutes."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings.default, phases=phases)
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a test that failed."""
        if report.failed:
            with self._file.open("a", encoding="utf-8") as file:
                print(json.dumps(report.nodeid), file=file)


class Run:
    """One run of tests in a copy of the checkout, in a child of this process."""

    def __init__(self, copy: Path, arguments: Sequence[str], seconds: float) -> None:
        self.copy = copy
        self._until = time.monotonic() + seconds
        self._folder = copy / "t"
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        assert threading.active_count() == 1, threading.enumerate()
        self._process = os.fork()
        if not self._process:
            _tested(copy, self._folder, arguments)

    def ended(self) -> str | None:
        """Return how it ended, as soon as it has: empty if all was green, `killed`, `timeout`."""
        process, status = os.waitpid(self._process, os.WNOHANG)
        late = not process and time.monotonic() > self._until
        if not process and not late:
            return None
        self.end()
        if late:
            os.waitpid(self._process, 0)
            return "timeout"
        code = os.waitstatus_to_exitcode(status)
        if code in (3, 4, 5):  # pytest itself, a wrong argument, or no tests
            sys.exit(f"pytest ended with {code}:\n{self.output()[-2000:]}")
        if code and not self.failed() and "+ Timeout +" in self.output():
            return "timeout"  # of a single test, which ends the process
        return "killed" if code else ""

    def end(self) -> None:
        """End it, and what its tests have started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process, signal.SIGKILL)

    def output(self) -> str:
        """Return what pytest printed."""
        return (self.copy / "output").read_text("utf-8", "replace")

    def failed(self) -> list[str]:
        """Return the tests that failed; none if they could not even be collected."""
        file = self._folder / "failed"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        return list(dict.fromkeys(map(json.loads, lines)))


def warm() -> None:
    """Import what all runs need. What is missing here, the runs import themselves."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # its threads would not live on in a child
    for name in HEAVY:
        with suppress(ImportError):
            importlib.import_module(name)
    assert not any(name.split(".")[0] == "chatkit" for name in sys.modules)
    gc.freeze()  # what is here stays: no run looks through it again


def _tested(copy: Path, folder: Path, arguments: Sequence[str]) -> None:
    """Be the child: run the tests, and end."""
    code = 70
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        output = os.open(copy / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for here, present in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(here, present)
        os.chdir(copy)
        away = {str(ROOT), str(ROOT / "tests"), str(ROOT / "tests/qa")}
        sys.path[:] = [str(copy), *(path for path in sys.path if path not in away)]
        for name in [name for name in sys.modules if name.split(".")[0] == "mutants"]:
            del sys.modules[name]
        os.environ["PYTHONPATH"] = str(copy)
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        parts = [f"-pno:{name}" for name in WITHOUT]
        options = ["-q", "-Wignore:Module already imported", *parts]
        failures = Failures(folder / "failed")
        code = int(pytest.main([*options, *arguments], plugins=[failures]))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
