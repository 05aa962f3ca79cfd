"""Where journals lie: one interface for every home, and the folder of this user as the first.

Journals lie in a folder of this machine, unless `at=` or CHATKIT_RUNS names another home. A
PostgreSQL database (`chatkit.bulk.postgres`) is one that a run can outlive its machine in.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol

from chatkit import temporary
from chatkit.bulk.changes import Change
from chatkit.bulk.journal import (
    FileJournal,
    Glance,
    Journal,
    JournalEvent,
    RunHeader,
    delete_files,
    glance,
    is_finished,
    sweep,
)
from chatkit.errors import InputError, JournalError
from chatkit.lock import busy, lock, make_folder
from chatkit.secret import Secret

#: So many journals, the latest, are looked at for a run that was interrupted.
_GLANCES = 50
#: File systems of other machines. Locks and syncs of files there do not hold what SQLite needs.
#: A program behind FUSE is taken for one of them, as new ones come (Google Drive, S3), unless it
#: only encrypts, joins or reads folders and disks of this machine; `fuseblk` is a disk of it.
_NETWORK = re.compile(
    "nfs[34]?|cifs|smb(fs|[23])|ncpfs|afs|ceph|lustre|gpfs|beegfs|glusterfs|davfs|wekafs|"
    r"fuse(\.(?!(encfs|gocryptfs|cryfs|securefs|bindfs|mergerfs|unionfs|unionfs-fuse|"
    r"fuse-overlayfs|ntfs|ntfs-3g|exfat|exfat-fuse|fuse2fs|zfs-fuse|lxcfs|portal)$).*)?"
)
#: Folders of the host of a virtual machine, like C: of Windows as /mnt/c in WSL. Its programs and
#: those of this machine do not see each other's locks.
_HOST = re.compile("9p|drvfs|virtiofs|vboxsf|vmhgfs|prl_fs|fakeowner")


class KeptRun(NamedTuple):
    """A run of which a journal is kept, as far as a glance tells."""

    run: str
    store: JournalStore
    header: RunHeader | None  #: None: its journal cannot be read
    last: JournalEvent | None  #: the last event of the run as a whole

    def read(self) -> Journal:
        """Open its journal to be read.

        Raises:
            JournalError: It is gone, or damaged.
        """
        return self.store.read(self.run)


class HeldStore(Protocol):
    """Journals of accounts whose locks are held: the only place to begin or continue a run."""

    def has(self, run: str) -> bool:
        """Whether the run has a journal."""

    def open(self, run: str) -> Journal:
        """Open the journal of a run to continue it."""

    def create(self, header: RunHeader, changes: Iterable[Change]) -> Journal:
        """Write header and changes to a new journal. It is durable when this returns."""


class JournalStore(Protocol):
    """One home of journals, and of the locks of the accounts that they are about."""

    @property
    def shown(self) -> str:
        """Where it is, without a password."""

    def runs(self) -> list[str]:
        """List the names of the runs, the oldest first."""

    def has(self, run: str) -> bool:
        """Whether the run has a journal."""

    def glances(self, newest: int | None = None, account: str | None = None) -> Iterator[Glance]:
        """Look at the runs, the oldest first, without reading their journals.

        Args:
            newest: How many at most, the newest ones; without it all.
            account: Only the runs of this one, in the words of a journal's header.
        """

    def glance(self, run: str) -> Glance:
        """Look at one run without reading its journal."""

    def read(self, run: str) -> Journal:
        """Open the journal of a run to be read. Its run may be at work.

        Raises:
            JournalError: It is not there, cannot be read, or is not what was written.
        """

    def hold(self, accounts: Collection[str], run: str = "") -> AbstractContextManager[HeldStore]:
        """Hold the locks of accounts: at most one apply each.

        Args:
            accounts: In the words of a journal's header.
            run: The run that is going to work, to name it to whoever is refused.

        Raises:
            AccountBusy: Another apply holds one; the text says which. It is not waited for.
            JournalError: Nothing can be locked there.
        """

    def most(self) -> int:
        """How many accounts can be held at once."""

    def busy(self, account: str) -> bool:
        """Tell whether an apply is at work on an account."""

    def delete(self, run: str) -> None:
        """Delete the journal of a run."""

    def sweep(self) -> None:
        """Delete what killed processes left."""


#: What `at=` takes: an address of PostgreSQL, the path of a folder, or a store.
At = str | Path | Secret | JournalStore


# --- a folder of this machine ------------------------------------------------------------


class FolderStore:
    """A folder of this machine: each journal is a SQLite file in it, each lock a file beside.

    Args:
        folder: It is made when the first run begins.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return f"<journals in {self.folder}>"

    @property
    def shown(self) -> str:
        """Where it is."""
        return str(self.folder)

    def path(self, run: str) -> Path:
        """Name the file of a run's journal."""
        return self.folder / f"{run}.db"

    def runs(self) -> list[str]:
        """List the names of the runs, the oldest first."""
        return sorted(path.stem for path in self.folder.glob("*.db"))

    def has(self, run: str) -> bool:
        """Whether the run has a journal."""
        return self.path(run).exists()

    def glances(self, newest: int | None = None, account: str | None = None) -> Iterator[Glance]:
        """Look at the runs, the oldest first: at the newest, and of those at what is asked for."""
        names = self.runs()
        for run in names if newest is None else names[-newest:]:
            seen = self.glance(run)
            if seen.header is None and not self.has(run):
                continue  # another process has deleted it in the meantime
            if account is None or (seen.header is not None and seen.header.account == account):
                yield seen

    def glance(self, run: str) -> Glance:
        """Look at one run without reading its journal."""
        try:
            return Glance(run, *glance(self.path(run)))
        except JournalError:
            return Glance(run, None, None)

    def read(self, run: str) -> Journal:
        """Open the journal of a run to be read."""
        return FileJournal.open(self.path(run), reading=True)

    def open(self, run: str) -> Journal:
        """Open the journal of a run to continue it, while its account is locked."""
        return FileJournal.open(self.path(run))

    def create(self, header: RunHeader, changes: Iterable[Change]) -> Journal:
        """Write header and changes to a new journal, while its account is locked."""
        return FileJournal.create(self.folder, header, changes)

    @contextmanager
    def hold(self, accounts: Collection[str], run: str = "") -> Iterator[HeldStore]:
        """Hold the locks of accounts: the kernel frees them when this process dies."""
        if kind := network_file_system(self.folder):
            raise JournalError(
                f"{self.folder} lies on a file system that other machines, or the host of this "
                f"one, write, too ({kind}): neither a lock nor what was written to SQLite can be "
                "relied on there. Set CHATKIT_DATA to a folder on a disk of this machine, in WSL "
                "one that is not below /mnt, or keep the journals in PostgreSQL with "
                "at='postgresql://user@host/name' or CHATKIT_RUNS. Nothing was sent."
            )
        with ExitStack() as locks:
            for account in sorted(accounts):
                locks.enter_context(lock(self.folder, account, run))
            yield self

    def most(self) -> int:
        """How many accounts can be held at once: as many as files can be open."""
        return sys.maxsize

    def busy(self, account: str) -> bool:
        """Tell whether an apply is at work on an account."""
        return busy(self.folder, account)

    def delete(self, run: str) -> None:
        """Delete the journal of a run."""
        delete_files(self.path(run))

    def sweep(self) -> None:
        """Delete what killed processes left."""
        sweep(self.folder)


def network_file_system(folder: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    r"""Name the file system of another machine that a folder lies on; empty if it is of this one.

    So is a folder of the host of a virtual machine, unless it is the root of this one: then
    nobody else writes there. Linux tells what is mounted where; elsewhere only a path like
    \\server\share shows it.

    Args:
        folder: It need not be there yet.
        mounts: What Linux tells.
    """
    place = folder.expanduser().resolve()
    if str(place).startswith("\\\\"):
        return "a share of another machine"
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    found, longest = "", -1
    for line in lines:
        before, _, after = line.partition(" - ")
        parts = before.split(" ")
        if len(parts) < 5 or not after:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), parts[4])
        if place.is_relative_to(point) and len(Path(point).parts) >= longest:
            found, longest = after.split(" ")[0], len(Path(point).parts)  # the last is on top
    lent = longest > 1 and _HOST.fullmatch(found)
    return found if lent or _NETWORK.fullmatch(found) else ""


def journal_folder(passing: bool) -> Path:
    """Name the folder of the journals: CHATKIT_DATA, or the user's own data folder.

    Args:
        passing: For an account that ends with this process, like a sandbox in memory: a
            folder that goes with it.
    """
    if passing:
        folder = temporary.folder() / "runs"
        make_folder(folder)
        return folder
    from platformdirs import user_data_path

    data = os.environ.get("CHATKIT_DATA")
    return (
        Path(data).expanduser() if data else user_data_path("chatkit", appauthor=False)
    ) / "runs"


# --- which home, and what lies there -----------------------------------------------------


def hidden_at(at: At | None) -> Path | Secret | JournalStore | None:
    """Return what `at=` names as what shows no password, in a traceback with variables either."""
    return Secret(at) if isinstance(at, str) else at


@contextmanager
def held(
    store: JournalStore, accounts: Collection[str], run: str, *, passing: bool = False
) -> Iterator[HeldStore]:
    """Hold the locks of accounts where their journals lie, and on this machine.

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
        here = FolderStore(journal_folder(passing))
        if store.shown != here.shown:
            with suppress(JournalError):  # a machine without a disk of its own: one lock is left
                locks.enter_context(here.hold(accounts, run))
        yield locks.enter_context(store.hold(accounts, run))


def store_at(at: At | None = None, *, passing: bool = False) -> JournalStore:
    """Return the home of the journals that `at=` names; else CHATKIT_RUNS, else the folder.

    Args:
        at: What the user passed.
        passing: Whether the account ends with this process, like a sandbox in memory: then its
            journals do so too, unless `at` says otherwise.

    Raises:
        InputError: It names no home.
    """
    place = hidden_at(at)
    del at
    if place is None:
        if passing:
            return FolderStore(journal_folder(True))
        place = hidden_at(os.environ.get("CHATKIT_RUNS") or journal_folder(False))
    if isinstance(place, Secret):
        if "://" in place.reveal():
            try:
                from chatkit.bulk.postgres import PostgresStore
            except ImportError:
                raise InputError(
                    "PostgreSQL needs its driver: pip install 'chatkit[postgresql]'"
                ) from None
            return PostgresStore(place)
        place = Path(place.reveal())
    if isinstance(place, Path):
        return FolderStore(place.expanduser().absolute())
    if place is None or not hasattr(place, "hold"):
        raise InputError(
            "at= takes the address of a PostgreSQL database, like 'postgresql://user@host/name', "
            f"or the path of a folder, not {type(place).__name__}."
        )
    return place


def most_accounts(stores: Iterable[JournalStore]) -> int:
    """Tell how many accounts can be held at once in each of some homes, which may be the same.

    A database is asked over a connection of its own, so each home is asked once.
    """
    return min((s.most() for s in {s.shown: s for s in stores}.values()), default=0)


def stores_at(at: At | None = None) -> list[JournalStore]:
    """List the homes where journals of this user may lie, as this process sees them."""
    if at is not None or (made := temporary.existing()) is None:
        return [store_at(at)]
    return [FolderStore(made / "runs"), store_at()]


def known_stores() -> list[JournalStore]:
    """List the homes that are known without being named: CHATKIT_RUNS, and the folders."""
    stores = [*stores_at(), FolderStore(journal_folder(False))]
    return list({store.shown: store for store in stores}.values())


def kept_runs(
    at: At | None = None, lost: Callable[[JournalError], object] | None = None
) -> Iterator[KeptRun]:
    """Look at all runs there are, of each home the oldest first.

    Args:
        at: What the user passed.
        lost: Takes why a home cannot be reached, where there is another that can.

    Raises:
        JournalError: A home cannot be reached, and `lost` does not take that; or none can be.
    """
    stores = stores_at(at)
    failed = 0
    for store in stores:
        try:
            found = [KeptRun(each.run, store, *each[1:]) for each in store.glances()]
        except JournalError as error:
            failed += 1
            if lost is None or failed == len(stores):
                raise
            lost(error)
            continue
        yield from found


def named_runs(at: At | None = None) -> tuple[dict[str, JournalStore], JournalError | None]:
    """List the names of all runs that can be reached, each with its home.

    Returns:
        They, and why a home cannot be reached, if one cannot: then others may be there.
    """
    homes: dict[str, JournalStore] = {}
    lost = None
    for store in stores_at(at):
        try:
            homes |= dict.fromkeys(store.runs(), store)
        except JournalError as error:
            lost = error
    return homes, lost


def find_run(run: str, at: At | None = None) -> tuple[JournalStore, str]:
    """Find the home of a run, by its name or by as much of it as no other run has.

    Returns:
        The home, and the whole name.

    Raises:
        JournalError: There is none, or there are several; or a home cannot be reached, and the
            whole name is in no other.
    """
    listed = "chatkit.runs()" if at is None else "chatkit.runs(at=…)"
    homes, lost = named_runs(at)
    if run in homes:
        return homes[run], run
    if lost is not None:
        raise lost
    found = [name for name in homes if run and name.startswith(run)]
    if len(found) == 1:
        return homes[found[0]], found[0]
    if found:
        names = ", ".join(found[-5:])
        latest = f"the latest {5} are {names}" if len(found) > 5 else names
        raise JournalError(
            f"{len(found)} runs begin with {run!r} ({latest}): write more of the name. "
            f"{listed} lists all."
        )
    raise JournalError(f"No run is called {run!r}. {listed} lists them.")


def read_run(run: str, at: At | None = None) -> Journal:
    """Open the journal of a run to be read; a part of its name is enough.

    Raises:
        JournalError: There is none, there are several, or it is damaged.
    """
    store, name = find_run(run, at)
    return store.read(name)


def open_runs(accounts: Collection[str]) -> list[RunHeader]:
    """List the latest runs of some accounts that have not come to their end, the oldest first.

    Those of an account where a run is at work at this moment are left out. Only the latest
    journals that outlast this process are looked at, so that it takes some milliseconds.

    Raises:
        JournalError: The journals cannot be reached.
        InputError: CHATKIT_RUNS names no home of journals.
    """
    store = store_at()
    only = next(iter(accounts)) if len(accounts) == 1 else None
    found = [
        kept.header
        for kept in store.glances(max(_GLANCES, 2 * len(accounts)), only)
        if kept.header is not None
        and kept.header.account in accounts
        and not is_finished(kept.last)
    ]
    at_work = {account for account in {run.account for run in found} if store.busy(account)}
    return [run for run in found if run.account not in at_work]


def interrupted(account: str) -> str:
    """Say in one line that a run of an account has not come to its end; empty if none has.

    What `open_runs` finds is meant.
    """
    try:
        found = open_runs([account])
    except (JournalError, InputError) as error:  # an account can be read without journals
        return str(error)
    if not found:
        return ""
    latest, before = found[-1], len(found) - 1
    were = "were" if before > 1 else "was"
    more = f", as {were} {before} before it (chatkit.runs() shows which)" if before else ""
    return (
        f"A run of {latest.changes:,} changes, begun on {latest.started:.10}, was interrupted"
        f"{more}: chatkit.resume({latest.run!r}) goes on with it."
    )


def prune(store: JournalStore, *, days: float = 90, runs: Collection[str] = ()) -> list[str]:
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
    for run, header, last in store.glances():
        over = last is not None and is_finished(last) and last.at < before
        if over or run in runs:
            with nullcontext() if over or header is None else store.hold([header.account]):
                store.delete(run)
            gone.append(run)
    store.sweep()
    return gone
