"""Other programs that show notebooks: each serves one on a free port, and may not complain."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browser.lab import Window
from playwright.sync_api import ConsoleMessage, Page

#: How a line of the console begins among what a page complains of.
CONSOLE = "console: "


@contextmanager
def served(
    window: Window, command: list[str], log: Path, **environment: str
) -> Iterator[tuple[Page, list[str]]]:
    """Start a module of Python with `--port`, and open its page; collect of what that complains."""
    with socket.socket() as one:  # they do not write which port they have chosen themselves
        one.bind(("127.0.0.1", 0))
        free = one.getsockname()[1]
    errors: list[str] = []
    page = window.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: line.type == "error" and errors.append(_describe(line)))
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *command, f"--port={free}"],
            env=os.environ | environment,
            stdout=output,
            stderr=output,
        )
    try:
        _wait(free, process, log)
        page.goto(f"http://127.0.0.1:{free}/", wait_until="commit")
        yield page, errors
        page.close()
    finally:
        process.terminate()
        process.wait()
    window.take_left_loopback()


def _describe(line: ConsoleMessage) -> str:
    return f"{CONSOLE}{line.text} {line.location.get('url', '')}"


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server listens on a port."""
    for _ in range(1200):
        assert process.poll() is None, log.read_text()
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(log.read_text())
