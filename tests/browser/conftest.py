"""Notebooks in real JupyterLab, in a real browser that cannot leave this machine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser import chromium
from browser.lab import Lab, OpenNotebook, Place, Window, serve
from playwright.sync_api import Browser, expect, sync_playwright

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
Opener = Callable[..., OpenNotebook]

#: What is waited for comes in an instant, or after many other things where a machine is busy.
expect.set_options(timeout=20_000)

ARGUMENTS = [
    "--no-sandbox",  # Chromium refuses to start as root otherwise, which CI often is
    "--disable-dev-shm-usage",  # containers have little of it
    "--disable-gpu",
    "--no-first-run",
    # what Chromium itself would send home; the resolver rule stops whatever is left
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser that finds no address but loopback."""
    path = chromium.find()
    if not path:
        pytest.skip("no browser: run `python tests/browser/chromium.py`, or name one in CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab over a copy of notebooks/, so that its autosave never touches the kept outputs."""
    root = tmp_path_factory.mktemp("root") / "notebooks"
    shutil.copytree(NOTEBOOKS, root, ignore=shutil.ignore_patterns(".*"))
    with serve(root, tmp_path_factory.mktemp("lab")) as lab:
        yield lab


@pytest.fixture(scope="session")
def window(lab: Lab, browser: Browser) -> Iterator[Window]:
    """The window in which the notebooks of all tests are opened, one after the other."""
    window = Window(lab, browser)
    yield window
    window.close()


@contextmanager
def watched(lab: Lab, window: Window) -> Iterator[Opener]:
    """Open notebooks of notebooks/ by their file names, in Lab or in Notebook.

    At the end nothing may have left loopback, neither from the page nor from a kernel, JavaScript
    may not have complained, and what is shown then has its style sheets and all of its buttons.
    """
    opened: list[OpenNotebook] = []
    lab.take_kernel_log()
    window.take_left_loopback()

    def open_(name: str, place: Place = "lab") -> OpenNotebook:
        opened.append(OpenNotebook(window, name, place))
        return opened[-1]

    yield open_
    for notebook in opened:
        notebook.close()
    left = window.take_left_loopback() + lab.take_kernel_log()
    errors = [error for notebook in opened for error in notebook.script_errors]
    assert not left, f"left loopback: {left}"
    wrong = [fault for notebook in opened for fault in notebook.looks_wrong]
    assert not errors, f"JavaScript complained: {errors}"
    assert not wrong, f"The page looks wrong: {wrong}"


@pytest.fixture
def open_notebook(lab: Lab, window: Window) -> Iterator[Opener]:
    """Open a notebook for one test."""
    with watched(lab, window) as open_:
        yield open_


@pytest.fixture(scope="module")
def open_once(lab: Lab, window: Window) -> Iterator[Opener]:
    """Open a notebook for all tests of a file: its kernel and its page are theirs."""
    with watched(lab, window) as open_:
        yield open_
