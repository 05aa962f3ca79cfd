"""Fixtures of all tests: the ../shared corpora, and the rule that no skip is silent.

A test that cannot run because something is missing calls `pytest.skip(reason)`, and a person
sees the reason at the end of the run. In CI (CI=true) such a skip is a failure. Two kinds of
skip are honest everywhere: a `skipif` mark, which states a platform, and the ../shared corpora,
which do not come with a clone; the run says in its last lines how many tests those were.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from profiles import Service
from volume import FULL, volume

from chatkit.util.files import find_temporary_folder

if TYPE_CHECKING:
    from postgres import Server

#: Each test of a resource meets one of so many of the unusual profiles otherwise.
SHARE = 8

# Speed is measured by benches: a clock in a test fails on a busy machine, and says nothing.
settings.register_profile("chatkit", deadline=None, max_examples=volume(30, 500))
settings.load_profile("chatkit")

SHARED = Path(__file__).resolve().parents[2] / "shared"
NO_SHARED = "../shared is not beside this clone"
IN_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of corpora and samples beside the clone; without it the test is skipped."""
    if not SHARED.is_dir():
        pytest.skip(NO_SHARED)
    return SHARED


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server of PostgreSQL, for all tests that need one."""
    from postgres import postgresql

    with postgresql(durable=False) as server:
        yield server


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to each test its share of the service profiles; every profile is in some share.

    Of a test with the mark `one_of(n)`, one in n cases is kept: `make full` runs all of them. A
    test with the mark `every_profile` meets all of them always.
    """
    if FULL:
        return
    kept, left = [], []
    for item in items:
        number = profile_number(item)
        among = item.get_closest_marker("one_of")
        if among and zlib.crc32(item.name.encode()) % among.args[0]:
            left.append(item)
            continue
        share = zlib.crc32(getattr(item, "originalname", item.name).encode()) % SHARE
        whole = item.get_closest_marker("every_profile")
        apart = number > 0 and number % SHARE != share and not whole
        (left if apart else kept).append(item)
    if left:
        items[:] = kept
        config.hook.pytest_deselected(items=left)


def pytest_collection() -> None:
    """Search for no garbage while tests are collected: there is next to none."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep what was collected out of each search for garbage: there is much of it, and it stays."""
    gc.collect()
    gc.freeze()
    gc.enable()


def profile_number(item: pytest.Item) -> int:
    """The number of the service profile that a test runs under, 0 for the usual one."""
    callspec = getattr(item, "callspec", None)
    for name, value in callspec.params.items() if callspec else ():
        if isinstance(value, Service) or (name == "sandbox" and isinstance(value, int)):
            return int(callspec.indices[name])
    return 0


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """In CI, turn a skip because of something missing into a failure."""
    xfailed = hasattr(report, "wasxfail")
    if IN_CI and report.skipped and not xfailed and NO_SHARED not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"Skipped, which CI does not allow: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not item.get_closest_marker("skipif"):
        refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)  # so that the line is the last of the summary
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> Generator[None, None, None]:
    yield
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(NO_SHARED in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(f"Tests not run because {NO_SHARED}: {count}", yellow=True)


class ShortDraws:
    """Stands for `random` in the transport: a backoff is one that could be drawn, a short one."""

    @staticmethod
    def uniform(low: float, high: float) -> float:
        return low + (random.uniform(low, high) - low) / 50


@pytest.fixture(scope="session", autouse=True)
def _short_backoff() -> Iterator[None]:
    """Shorten the backoff; tests/api/test_transport.py checks how long it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chatkit.api.retry.random", ShortDraws)
        yield


@pytest.fixture(scope="module", autouse=True)
def _runs_go_with_their_file() -> Iterator[None]:
    """Remove the runs that the tests of a file have left: who lists runs reads all there are."""
    yield
    folders = [find_temporary_folder(), Path(os.environ["XDG_DATA_HOME"], "chatkit")]
    for folder in filter(None, folders):
        shutil.rmtree(folder / "runs", ignore_errors=True)
