"""Kernels that begin at once: each is forked from one process that has imported the libraries.

Otherwise each of the fifty kernels of the browser tests would import ipykernel, pandas and
chatkit for itself, which takes longer than most of what is then looked at. How a kernel starts
on its own is seen where the notebooks are run (`pytest --nbval`).

Lab starts what the kernel's specification names: a small process that asks for a fork, passes
signals on to it, and ends when it ends.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

#: What the notebooks of the tests import; none of it may start a thread.
LIBRARIES = (
    *("ipykernel.kernelapp", "ipywidgets", "anywidget", "pandas", "pyarrow.compute", "tqdm.auto"),
    *(
        "chatkit",
        "chatkit.client",
        "chatkit.sandbox",
        "chatkit.account.history",
        "chatkit.inbox",
    ),
    *("chatkit.flowjson.graph", "chatkit.flowjson.diff", "chatkit.flowjson.lint"),
)

#: The process that Lab starts in place of the kernel.
STAND_IN = """
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
server.sendall(json.dumps([sys.argv[2], os.getcwd(), dict(os.environ)]).encode() + b"\\n")
reply = server.makefile()
kernel = int(reply.readline())
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: os.kill(kernel, number))
reply.read()  # until the kernel has ended
"""


@contextmanager
def forked(home: Path) -> Iterator[Path]:
    """Register a kernel specification whose kernels are forked."""
    folder = home / "data/kernels/python3"
    folder.mkdir(parents=True)
    # the path of a socket has at most 108 characters
    with TemporaryDirectory() as short, _serve_forks(Path(short) / "kernels.sock", folder):
        yield folder


@contextmanager
def _serve_forks(address: Path, folder: Path) -> Iterator[None]:
    argv = [sys.executable, "-ISc", STAND_IN, str(address), "{connection_file}"]
    spec = {"argv": argv, "display_name": "Python 3", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps({**spec, "metadata": {"debugger": False}}))
    with subprocess.Popen(
        [sys.executable, str(Path(__file__)), str(address)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n", "no kernels: see above"
            yield
        finally:
            process.terminate()


def main(address: str) -> None:
    """Import the libraries, then fork a kernel for each connection to a socket."""
    import threading
    from importlib import import_module, util

    for name in LIBRARIES:
        import_module(name)
    from chatkit import widgets

    for name in widgets.__all__:
        getattr(widgets, name)
    assert threading.active_count() == 1, threading.enumerate()
    kernels: set[int] = set()

    def end(*_: object) -> None:
        for kernel in kernels:
            with suppress(ProcessLookupError):
                os.kill(kernel, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, 0):  # what they have left can be removed only then
                pass
        os._exit(0)

    def bury(*_: object) -> None:
        with suppress(ChildProcessError):
            while ended := os.waitpid(-1, os.WNOHANG)[0]:
                kernels.discard(ended)

    assert util.find_spec("ipykernel_launcher")
    with socket.socket(socket.AF_UNIX) as asked:
        asked.bind(address)
        asked.listen()
        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGCHLD, bury)
        print("ready", flush=True)
        while True:
            asking, _ = asked.accept()
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
            if not (kernel := os.fork()):
                asked.close()
                begin(asking)
            kernels.add(kernel)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD, signal.SIGTERM})
            asking.sendall(b"%d\n" % kernel)
            asking.close()


def begin(asking: socket.socket) -> None:
    """Go on as a kernel; the socket is closed when it ends, however it ends."""
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD, signal.SIGTERM})
    os.setsid()  # a group of its own, as Lab would have given it
    connection, folder, environment = json.loads(asking.makefile().readline())
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["ipykernel_launcher", "-f", connection]
    sys.path[0] = ""  # in place of the folder of this module
    from ipykernel.kernelapp import IPKernelApp

    code = 0
    try:
        IPKernelApp.launch_instance()
    except SystemExit as ended:
        code = int(ended.code or 0)
    sys.exit(code)


if __name__ == "__main__":
    main(sys.argv[1])
