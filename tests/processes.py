"""Interpreters that tests start: each a fork of one that has loaded chatkit and the libraries.

Some two hundred tests start a process of Python, and most of its work would be to import pandas,
pyarrow, httpx and the models of chatkit once more. `Popen` and `run` are those of `subprocess`:
what they start is a child of this process, with streams, environment, folder, signals and an end
of its own. With `anew=True` it imports chatkit itself. Whatever is not `python` with a program,
and every system that is not Linux, goes the usual way. A test of what is imported, or of memory,
needs `subprocess`.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import inspect
import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from subprocess import PIPE, CompletedProcess
from typing import Any

LOADED = (
    *("asyncio", "ssl", "aiohttp", "httpx", "uvicorn", "h11"),
    *("msgspec", "pydantic", "sqlite3", "sqlalchemy", "sqlalchemy.dialects.sqlite"),
    *("pandas", "pyarrow.compute", "pyarrow.parquet", "phonenumbers", "openpyxl", "tqdm"),
    *("filelock", "platformdirs", "truststore", "trustme", "hypothesis"),
    *("chatkit.client", "chatkit.sandbox", "chatkit.sandbox.middleware", "chatkit.frames.frame"),
    *("chatkit.bulk.plan", "chatkit.bulk.planner", "chatkit.bulk.apply", "chatkit.bulk.undo"),
    *("chatkit.account.history", "chatkit.cli", "chatkit.account.doctor", "chatkit.account.folder"),
    *("chatkit.inbox", "chatkit.imports"),
)
_LARGEST = 150_000  # bytes of one order on a socket
_SUBREAPER = 36  # prctl: orphans among those below are given to this process
_lock = threading.Lock()
_line: socket.socket | None = None


class Popen(subprocess.Popen):  # type: ignore[type-arg]
    """`subprocess.Popen`, whose interpreters are forks of one that has loaded the libraries."""

    def __init__(self, *args: Any, anew: bool = False, **options: Any) -> None:
        self._anew = anew
        super().__init__(*args, **options)

    def _execute_child(self, *args: Any) -> None:
        real = super()._execute_child  # type: ignore[misc]
        asked = inspect.signature(real).bind(*args).arguments
        order = _order(asked, self._anew)
        if order is None:
            real(*args)
            return
        streams = [asked[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        fds = [stream if stream != -1 else n for n, stream in enumerate(streams)]
        try:
            self.pid = _forked(order, fds)
            self._child_created = True
        finally:
            pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
            self._close_pipe_fds(*(asked[name] for name in pipes))  # type: ignore[attr-defined]


def run(
    command: list[str],
    *,
    input: Any = None,
    timeout: float | None = None,
    check: bool = False,
    capture_output: bool = False,
    **options: Any,
) -> CompletedProcess[Any]:
    """`subprocess.run`, with the `Popen` above."""
    if input is not None:
        options["stdin"] = PIPE
    if capture_output:
        options |= {"stdout": PIPE, "stderr": PIPE}
    with Popen(command, **options) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = CompletedProcess(command, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def _order(asked: Mapping[str, Any], anew: bool) -> bytes | None:
    """Return the data that a fork needs, or None where only a new interpreter will do."""
    command = asked["args"]
    if (
        sys.platform != "linux"
        or not isinstance(command, list)
        or command[:1] != [sys.executable]
        or not (command[1:2] in (["-c"], ["-m"]) or str(*command[1:2]).endswith(".py"))
        or asked["executable"] not in (None, sys.executable)
        or asked["shell"]
        or asked["preexec_fn"]
        or asked["pass_fds"]
        or asked["process_group"] not in (None, -1)
        or any(asked[name] not in (None, -1) for name in ("gid", "gids", "uid", "umask"))
    ):
        return None
    env = dict(os.environ if asked["env"] is None else asked["env"])
    if _of_the_interpreter(env) != _of_the_interpreter(os.environ):
        return None
    order = {
        "command": [os.fspath(part) for part in command[1:]],
        "env": env,
        "cwd": os.path.join(os.getcwd(), os.fspath(asked["cwd"] or "")),
        "session": bool(asked["start_new_session"]),
        "anew": anew,
    }
    sent = json.dumps(order).encode()
    return sent if len(sent) < _LARGEST else None


def _of_the_interpreter(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that an interpreter reads only at its start."""
    later = ("PYTHONPATH", "PYTHON_KEYRING_BACKEND", "PYTHONUNBUFFERED")
    return {
        name: value
        for name, value in env.items()
        if (name.startswith("PYTHON") and name not in later) or name == "TODAY"
    }


def _forked(order: bytes, fds: list[int]) -> int:
    """Have a fork made, a child of this process; its number."""
    global _line
    with _lock:
        if _line is None:
            _line = _started()
        prctl = ctypes.CDLL(None).prctl
        prctl(_SUBREAPER, 1, 0, 0, 0)  # who makes the fork ends before it tells the number
        try:
            socket.send_fds(_line, [order], fds)
            text = _line.recv(100)
        finally:
            prctl(_SUBREAPER, 0, 0, 0, 0)
    assert text, "the process that forks has ended"
    return int(text)


def _started() -> socket.socket:
    """Start the process that forks; it ends with its line."""
    ours, others = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = subprocess.Popen(
        [sys.executable, __file__, str(others.fileno())],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # a process with threads is not forked
        pass_fds=[others.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for pytest
    )
    others.close()

    def end() -> None:
        ours.close()
        server.wait(10)

    atexit.register(end)
    return ours


# --- in the process that forks --------------------------------------------------------------


def _serve(line: socket.socket) -> dict[str, Any]:
    """Make a fork for each order; returns in the fork, with its order.

    One of tests/qa/faults starts processes itself: it has such a process of its own.
    """
    global _line
    while True:
        sent, fds, _, _ = socket.recv_fds(line, 2 * _LARGEST, 3)
        if not sent:
            os._exit(0)
        report, notify = os.pipe()
        between = os.fork()
        if between == 0:
            number = os.fork()
            if number == 0:
                line.close()
                os.close(report)
                os.close(notify)
                order = json.loads(sent)
                if not " ".join(order["command"]).startswith("-m faults"):
                    return _become(order, fds)
                _line, line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                if os.fork():
                    line.close()
                    return _become(order, fds)
                _line.close()
                for fd in fds:
                    os.close(fd)
                continue
            os.write(notify, str(number).encode())
            os._exit(0)
        os.close(notify)
        os.waitpid(between, 0)  # now the fork belongs to who asked for it
        line.send(os.read(report, 100))
        for fd in (report, *fds):
            os.close(fd)


def _become(order: dict[str, Any], fds: list[int]) -> dict[str, Any]:
    """Make this fork what a new interpreter would be."""
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
    for fd in fds:
        if fd > 2:
            os.close(fd)
    if order["session"]:
        os.setsid()
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    if order["anew"]:
        for name in [name for name in sys.modules if name.partition(".")[0] == "chatkit"]:
            del sys.modules[name]
    how = order["command"][0]
    first = {"-c": "", "-m": order["cwd"]}.get(how, os.path.dirname(os.path.abspath(how)))
    expected = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [first, *expected, *(path for path in sys.path[1:] if path not in inherited)]
    tempfile.tempdir = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(
        io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8"
    )
    for name, fd, errors in (("stdout", 1, "strict"), ("stderr", 2, "backslashreplace")):
        raw = io.FileIO(fd, "w", closefd=False)
        lines = fd == 2 or os.isatty(fd)
        stream = io.TextIOWrapper(
            raw if at_once else io.BufferedWriter(raw),  # type: ignore[arg-type]
            "utf-8", errors, line_buffering=lines, write_through=at_once,
        )  # fmt: skip
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.modules["processes"] = sys.modules["__main__"]
    return order


def _run(command: list[str]) -> int:
    """Run a program as the main one; the status that an interpreter would end with."""
    sys.argv = command if command[0] not in ("-c", "-m") else [command[0], *command[2:]]
    try:
        if command[0] == "-c":
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(command[1], "<string>", "exec"), main.__dict__)
        elif command[0] == "-m":
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(command[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # noqa: BLE001  (as an interpreter does)
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _end(code: int) -> None:
    """End as an interpreter does, but leave the memory to the system: most of it is shared."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads that are no daemons
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    for name in LOADED:
        import_module(name)
    gc.collect()
    gc.freeze()  # otherwise each fork copies most of it, at its first collection
    _end(_run(_serve(socket.socket(fileno=int(sys.argv[1])))["command"]))
