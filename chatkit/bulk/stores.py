"""Stores: find the journal stores named by `at=` or the environment, and their runs.

Journals are in a folder of this machine, unless `at=` or CHATKIT_RUNS names another home: a folder,
or a PostgreSQL database that a run can outlive its machine in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from chatkit.api.secret import Secret
from chatkit.bulk.changes import Change
from chatkit.bulk.endpoints import ACCOUNT
from chatkit.bulk.journal import (
    At,
    DatabaseStore,
    FolderStore,
    JournalStore,
    KeptRun,
    RunHeader,
    is_finished,
)
from chatkit.bulk.outcomes import read_rows
from chatkit.errors import InputError, JournalError
from chatkit.util.display import many
from chatkit.util.files import find_temporary_folder, get_temporary_folder, make_folder
from chatkit.util.progress import print_line


def get_journal_folder(*, passing: bool) -> Path:
    """Name the folder of the journals: CHATKIT_DATA, or the user's own data folder.

    Args:
        passing: For an account that ends with this process, like a sandbox in memory: a
            folder that goes with it.
    """
    if passing:
        folder = get_temporary_folder() / "runs"
        make_folder(folder)
        return folder
    from platformdirs import user_data_path

    data = os.environ.get("CHATKIT_DATA")
    return (
        Path(data).expanduser() if data else user_data_path("chatkit", appauthor=False)
    ) / "runs"


# --- which home, and what lies there -----------------------------------------------------


def hide_password(at: At | None) -> Path | Secret | JournalStore | None:
    """Return the store location with its password hidden, also from tracebacks."""
    return Secret(at) if isinstance(at, str) else at


@contextmanager
def hold_accounts(
    store: JournalStore, accounts: Collection[str], run: str, *, passing: bool = False
) -> Iterator[JournalStore]:
    """Lock accounts in their journal store and on this machine.

    So a run whose journal lies elsewhere and one whose journal lies here never work at once.

    Args:
        store: Where the journals lie.
        accounts: In the words of a journal's header.
        run: The run that is going to work.
        passing: Whether the accounts end with this process: then so do their locks here.

    Raises:
        AccountBusy: Another apply holds one.
        JournalError: Nothing can be locked where the journals lie.
    """
    with ExitStack() as locks:
        here = FolderStore(get_journal_folder(passing=passing))
        if store.location != here.location:
            with suppress(JournalError):  # a machine without a disk of its own: one lock is left
                locks.enter_context(here.lock(accounts, run))
        yield locks.enter_context(store.hold(accounts, run))


def open_store(at: At | None = None, *, passing: bool = False) -> JournalStore:
    """Return the home of the journals that `at=` names; else CHATKIT_RUNS, else the folder.

    Args:
        at: What the user passed.
        passing: Whether the account ends with this process, like a sandbox in memory: then its
            journals do so too, unless `at` says otherwise.

    Raises:
        InputError: It names no home.
    """
    place = hide_password(at)
    del at
    if place is None:
        if passing:
            return FolderStore(get_journal_folder(passing=True))
        place = hide_password(os.environ.get("CHATKIT_RUNS") or get_journal_folder(passing=False))
    if isinstance(place, Secret):
        if "://" in place.reveal():
            return DatabaseStore(place)
        place = Path(place.reveal())
    if isinstance(place, Path):
        return FolderStore(place.expanduser().absolute())
    if not isinstance(place, JournalStore):
        raise InputError(
            "at= takes the address of a PostgreSQL database, like 'postgresql://user@host/name', "
            f"or the path of a folder, not {type(place).__name__}."
        )
    return place


def list_stores(at: At | None = None) -> list[JournalStore]:
    """List the homes where journals of this user may lie, as this process sees them."""
    if at is not None or (made := find_temporary_folder()) is None:
        return [open_store(at)]
    return [FolderStore(made / "runs"), open_store()]


def list_known_stores() -> list[JournalStore]:
    """List the homes that are known without being named: CHATKIT_RUNS, and the folders."""
    stores = [*list_stores(), FolderStore(get_journal_folder(passing=False))]
    return list({store.location: store for store in stores}.values())


def list_runs(
    at: At | None = None, lost: Callable[[JournalError], object] | None = None
) -> Iterator[KeptRun]:
    """List all runs, oldest first in each store.

    Args:
        at: What the user passed.
        lost: Takes why a home cannot be reached, where there is another that can.

    Raises:
        JournalError: A home cannot be reached, and `lost` does not take that; or none can be.
    """
    stores = list_stores(at)
    failed = 0
    for store in stores:
        try:
            runs = store.summaries()
        except JournalError as error:
            failed += 1
            if lost is None or failed == len(stores):
                raise
            lost(error)
            continue
        yield from runs


def find_run(run: str, at: At | None = None) -> KeptRun:
    """Find a run by its name or a unique prefix.

    Raises:
        JournalError: There is none, or there are several; or a home cannot be reached, and the
            whole name is in no other.
    """
    listed = "chatkit.runs()" if at is None else "chatkit.runs(at=…)"
    lost: list[JournalError] = []
    kept_runs = {kept.run: kept for kept in list_runs(at, lost.append)}
    if run not in kept_runs and lost:
        raise lost[0]
    matches = [run] if run in kept_runs else [n for n in kept_runs if run and n.startswith(run)]
    if len(matches) == 1:
        return kept_runs[matches[0]]
    if matches:
        names = ", ".join(matches[-5:])
        latest = f"the latest {5} are {names}" if len(matches) > 5 else names
        raise JournalError(
            f"{len(matches)} runs begin with {run!r} ({latest}): write more of the name. "
            f"{listed} lists all."
        )
    raise JournalError(f"No run is called {run!r}. {listed} lists them.")


class WrittenChange(NamedTuple):
    """A change that took effect, with its run and the time of the answer that says so."""

    run: str
    at: str  #: ISO 8601, UTC
    by: str  #: who began the run; empty where the journal does not tell
    change: Change


def read_changes_since(
    account: str, noun: str, since: datetime, folder: str | None = None
) -> tuple[list[WrittenChange], set[str]]:
    """List the changes since a time from the journals, oldest first.

    Journals are read in the data folder of this user and where CHATKIT_RUNS says. Runs that
    were kept elsewhere are not seen, nor what others, or the service itself, changed.
    A journal that is damaged tells nothing here; `chatkit.runs()` lists it.

    Args:
        account: Which account, in the words of a journal's header.
        noun: What its records are; `ACCOUNT` for all that plans for the account have written.
        since: With an offset.
        folder: Only runs of plans that were made of this account folder.

    Returns:
        The changes, and the names of all runs that the journals tell of, of those before, too.
    """
    changes, runs = [], set()
    for run in chain.from_iterable(map(list_runs, list_known_stores())):
        header, last = run.header, run.last
        if header is None or header.account != account or header.noun not in (noun, ACCOUNT):
            continue
        if folder not in (None, header.folder):
            continue
        ended = last is not None and last.what in ("finished", "stopped") and last.at
        if ended and datetime.fromisoformat(ended) < since:
            runs.add(header.run)
            continue  # none of its rows came later: it need not be read
        try:
            with run.read() as kept:
                times, answered = dict[int | None, str](), set[int | None]()
                for event in kept.events():
                    if event.n not in answered:
                        times[event.n] = event.at
                    if event.what in ("answered", "adopted"):
                        answered.add(event.n)
                rows = read_rows(kept)
        except JournalError:
            continue
        runs.add(header.run)
        changes += [
            WrittenChange(header.run, times[row.n], header.by, row.change)
            for row in rows
            if noun in (row.change.noun, header.noun)
            and row.state in ("applied", "differs")
            and datetime.fromisoformat(times[row.n]) >= since
        ]
    return sorted(changes, key=lambda each: (each.at, each.run)), runs


def list_unfinished_runs(accounts: Collection[str]) -> list[RunHeader]:
    """List the runs of some accounts that have not come to their end, the oldest first.

    Those of an account where a run is at work at this moment are left out, and journals that end
    with this process.

    Raises:
        JournalError: The journals cannot be reached.
        InputError: CHATKIT_RUNS names no home of journals.
    """
    store = open_store()
    headers = [
        kept.header
        for kept in store.summaries(unfinished=True)
        if kept.header is not None and kept.header.account in accounts
    ]
    at_work = {account for account in {run.account for run in headers} if store.busy(account)}
    return [run for run in headers if run.account not in at_work]


def describe_interrupted_run(account: str) -> str:
    """Return in one line which run of an account was interrupted; empty if none was.

    What `list_unfinished_runs` finds is meant.
    """
    try:
        headers = list_unfinished_runs([account])
    except (JournalError, InputError) as error:  # an account can be read without journals
        return str(error)
    if not headers:
        return ""
    latest, before = headers[-1], len(headers) - 1
    were = "were" if before > 1 else "was"
    more = f", as {were} {before} before it (chatkit.runs() shows which)" if before else ""
    return (
        f"A run of {many(latest.changes, 'change')}, begun on {latest.started:.10}, was interrupted"
        f"{more}: chatkit.resume({latest.run!r}) goes on with it."
    )


def delete_journals(
    store: JournalStore, *, days: float = 90, runs: Collection[str] = ()
) -> list[str]:
    """Delete whole journals: of runs that finished long ago, and of runs that are named.

    What is not finished, and what cannot be read, goes only by name.

    Args:
        store: Where they are.
        days: How long a finished one is kept.
        runs: The whole names of others to delete.

    Returns:
        The names of the runs whose journals are gone.

    Raises:
        AccountBusy: A run that is named may be at work.
    """
    before = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds")
    gone = []
    for run, _, header, last in store.summaries():
        over = last is not None and is_finished(last) and last.at < before
        if over or run in runs:
            with nullcontext() if over or header is None else store.hold([header.account]):
                store.delete(run)
            gone.append(run)
    if gone and not store.erase_deleted():
        print_line(
            "Another process is reading journals: the names and numbers of those that are deleted "
            "stay in the log of the database until you prune again."
        )
    return gone
