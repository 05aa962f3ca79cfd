"""Cluster: the runs of a fleet, gone on with by the workers of a Dask cluster.

Dask is used as it is: each account's run is one task, which does on its worker what
`chatkit.resume(run)` does here. A task carries names only: of the run, of its connection, of its
account, and of where the journals lie. What a worker needs beside them and must stay secret is
the access token, and the address of the journals where that has a password:

- by name: the worker finds the connection in its own configuration file, with the token in its
  own keyring, environment or token file (a secret that is mounted there);
- else sealed: the worker makes a key pair when it is first asked, in its memory alone, and
  tells the public half. Token and address are encrypted to that key (X25519, HKDF-SHA256,
  ChaCha20-Poly1305) and sent to this worker beside the tasks. Neither the scheduler, nor a log,
  nor a file that a worker spills has more than that.

So a task finds what it needs on each worker that was there when the run began, or has come while
this process lived. The signing secrets of new webhooks come back in the same way.

A task is a thread, which nothing ends but itself and the death of its process: neither a
cancelled task nor the end of scheduler or notebook stops it. The lock of the account is what keeps
two workers apart (`chatkit.bulk.stores`); one that finds its own run at work elsewhere waits for
it. A worker that dies is replaced by Dask: its task begins again on another one, and reads from
the journal what is left to do.

The stop button is told to all workers again and again, as one may come late: a worker forgets
what it was told, and begins no task any more; what no worker has begun is taken back. An
exception in this process does the same. Its death does not: the tasks go on then.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import os
import platform
import secrets
import signal
import threading
import time
from asyncio import CancelledError
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import cache
from importlib import metadata
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from chatkit import settings, temporary
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.plan import Plan, desk_of, plan_of_run, store_of
from chatkit.bulk.stores import FolderStore, JournalStore, most_accounts, store_at
from chatkit.client import Client, open_clients, source_of
from chatkit.connection import Connection
from chatkit.errors import (
    AccountBusy,
    ChatkitError,
    InputError,
    JournalError,
    SettingsError,
    first_line,
)
from chatkit.fleet_plan import ApplyOptions, GoesOn, apply_one
from chatkit.progress import say
from chatkit.secret import Secret
from chatkit.snapshot import memory
from chatkit.transport import Transport

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    from distributed import Client as DaskClient
    from distributed import Future

T = TypeVar("T")

#: Seconds between the tries of a worker that cannot reach the journals.
_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
#: Seconds until a worker that does not come up is given up. On a loaded machine one takes long.
_PATIENCE = 60
#: How often a task is begun again after an error of a worker that nobody has foreseen.
_RETRIES = 2
#: How often a worker is told what it has not kept: it was started again each time.
_TELLINGS = 10
#: Seconds between two looks at the tasks, and at who has joined the cluster.
_LOOK, _MEET = 0.1, 2.0
#: Seconds until workers are told again to stop: one may have come since.
_STOP = 0.5
#: Seconds between two reports of a worker on how far it is.
_REPORT = 0.5
#: How many accounts one process of a local cluster works for: its own time is the limit then.
_ACCOUNTS = 100

_YOU_STOPPED = "you stopped it"
_VERSION = metadata.version("chatkit")
_OPEN = (
    "{} is reached over a network without encryption: whoever sees that network could read and "
    "change what is sent. Give the cluster certificates (dask.distributed.Security; its addresses "
    "begin with tls:// then)."
)


# --- sealing ---------------------------------------------------------------------------


def seal(text: bytes, to: bytes, about: str) -> bytes:
    """Encrypt a text so that only the holder of a key can read it.

    Args:
        text: What is to be kept from all others.
        to: The public half of the key.
        about: What it is for: it opens only where the same is said.
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    once = X25519PrivateKey.generate()
    own = once.public_key().public_bytes_raw()
    key = _agreed(once.exchange(X25519PublicKey.from_public_bytes(to)), own + to)
    # Each text has a key of its own, so that the nonce need not differ.
    return own + ChaCha20Poly1305(key).encrypt(bytes(12), text, about.encode())


def unseal(sealed: bytes, key: X25519PrivateKey, about: str) -> bytes:
    """Decrypt what `seal` has made.

    Raises:
        SettingsError: It was made for another key, or for another purpose, or was changed.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    own, text = sealed[:32], sealed[32:]
    with suppress(InvalidTag, ValueError):
        shared = key.exchange(X25519PublicKey.from_public_bytes(own))
        agreed = _agreed(shared, own + key.public_key().public_bytes_raw())
        return ChaCha20Poly1305(agreed).decrypt(bytes(12), text, about.encode())
    raise SettingsError("A sealed text cannot be opened: it is for another worker, or was changed.")


def _agreed(shared: bytes, parties: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = b"chatkit sealed text 1" + parties
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(shared)


@cache
def _key() -> X25519PrivateKey:
    """The key of this process; it is in its memory alone."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.generate()


# --- on a worker -----------------------------------------------------------------------


class Task(NamedTuple):
    """What a task carries: names, and how fast. No secret."""

    number: str  #: of this apply: workers know by it what they were told, and what to stop
    run: str
    connection: str | None  #: the name of the connection, if it has one
    account: str
    home: str  #: where the journals lie; empty if the address has a password: it is sealed then
    reply_to: bytes  #: seals what must come back in secret
    options: ApplyOptions
    all_at_once: bool  #: whether the home of the journals lets in so many accounts


class TaskEnd(NamedTuple):
    """What came of a task. What came of the rows is in the journal."""

    why: str = ""  #: why the run is not finished; empty if it is
    lacking: bool = False  #: the worker was told no token, or no address
    sealed: bytes = b""  #: signing secrets of new webhooks, by id


class Known(NamedTuple):
    """What a worker tells of itself."""

    version: str
    process: tuple[str, int]
    key: bytes
    lacking: list[str]  #: the accounts that it cannot open by itself


class _Delivered(NamedTuple):
    """What a worker was told in secret for one apply."""

    home: Secret | None
    connections: dict[str, Connection]  #: by account


_delivered: dict[str, _Delivered] = {}
_stopped: set[str] = set()
_begun: defaultdict[str, set[str]] = defaultdict(set)  #: runs of one apply, ended ones too
_at_work: defaultdict[str, set[Interrupt]] = defaultdict(set)
_lock = threading.Lock()


def dask_setup(worker: object) -> None:
    """Leave the stop button of a notebook to the notebook: it tells its workers itself.

    The interrupt of a kernel reaches the processes that it has started too, and would end them
    in the midst of a change. Dask calls this in each worker of a cluster that was made for
    one apply.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def introduce(wanted: Sequence[tuple[str | None, str]]) -> Known:
    """Tell what a worker is, and which accounts it cannot open by itself.

    Args:
        wanted: Connection and account of each run.
    """
    lacking = [account for name, account in wanted if _by_name(name, account) is None]
    process = platform.node(), os.getpid()
    return Known(_VERSION, process, _key().public_key().public_bytes_raw(), lacking)


def take(number: str, sealed: bytes) -> None:
    """Keep in memory what was sealed for this worker, for one apply."""
    text = unseal(sealed, _key(), number)
    try:
        told = json.loads(text)
        home = None if told["home"] is None else Secret(told["home"])
        connections = {
            account: Connection.model_validate(each)
            for account, each in told["connections"].items()
        }
    finally:
        del text
        told = None  # a traceback that prints variables must not find a token
    with _lock:
        if number not in _stopped:
            _delivered[number] = _Delivered(home, connections)


def stop(number: str) -> set[str]:
    """Stop the tasks of one apply, as the stop button does, and forget what was told for it.

    Tasks that begin later end at once: they need no token.

    Returns:
        The runs that this process has begun. What came of them is on its way, or will be.
    """
    with _lock:
        _stopped.add(number)
        _delivered.pop(number, None)
        for interrupt in _at_work.get(number, ()):
            if not interrupt.asked:  # this is said again and again; a second one waits for nothing
                interrupt.ask()
        return set(_begun.get(number, ()))


def forget(number: str) -> None:
    """Forget what was told for one apply, all of whose tasks have ended."""
    with _lock:
        _delivered.pop(number, None)
        _begun.pop(number, None)
        _stopped.discard(number)


def go_on(task: Task) -> TaskEnd:
    """Go on with a run, as `chatkit.resume` does; this is the task.

    It waits where the run is at work elsewhere, and tries again where the journals cannot be
    reached for a while: nobody else might be there to do so.
    """
    from distributed import get_worker, secede

    worker = get_worker()
    if task.all_at_once:  # a task mostly waits for the service: it takes no place of another one
        secede()
    interrupt = Interrupt()
    with _lock:
        if task.number in _stopped:
            return TaskEnd(_YOU_STOPPED)
        _at_work[task.number].add(interrupt)
        _begun[task.number].add(task.run)
    last = 0.0

    def watch(done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _REPORT or done == total:
            last = now
            worker.log_event(_topic(task.number), (task.run, done, total))

    pauses = iter(_PAUSES)
    try:
        while True:
            pause: float | None = None
            try:
                ended, lost = _applied(task, interrupt, watch)
                if ended.lacking and interrupt.asked:  # it was forgotten a moment ago
                    return TaskEnd(_YOU_STOPPED)
                if not lost:
                    return ended
                pause = next(pauses, None)
            except AccountBusy as error:
                ended = TaskEnd(str(error))
                pause = 1.0 if task.run in str(error) else None
            except JournalError as error:
                ended, pause = TaskEnd(str(error)), next(pauses, None)
            except ChatkitError as error:
                ended = TaskEnd(str(error))
            if pause is None or interrupt.asked:
                return ended
            interrupt.sleep(pause)
    finally:
        with _lock:
            _at_work[task.number].discard(interrupt)
            if not _at_work[task.number]:
                del _at_work[task.number]


def _applied(
    task: Task, interrupt: Interrupt, watch: Callable[[int, int | None], None]
) -> tuple[TaskEnd, bool]:
    """Apply what is left of a run.

    Returns:
        What came of it, and whether the journal was lost on the way.
    """
    told = _delivered.get(task.number)
    home = task.home or (told.home if told else None)
    connection = _by_name(task.connection, task.account)
    if connection is None and told is not None:
        connection = told.connections.get(task.account)
    with ExitStack() as opened:
        if task.account.startswith("sandbox "):  # this process has it, see `Workers.check`
            client = next(c for c in open_clients() if c.connection.account == task.account)
        elif connection is None or home is None:
            return TaskEnd(f"The worker was told no token of {task.account}.", lacking=True), False
        else:
            client = opened.enter_context(Client._made(connection, Transport(connection)))
        store = store_at(home)
        with store.read(task.run) as kept:
            plan = plan_of_run(kept, source_of(client, kept.header.noun), store, store)
        result = apply_one(plan, task.options, interrupt=interrupt, watch=watch)
    made = [(id_, secret.reveal()) for id_, secret in plan.secrets.items()]
    text = json.dumps(made).encode() if made else b""
    sealed = seal(text, task.reply_to, task.number) if made else b""
    del made, text  # a traceback that prints variables must not find a secret
    why = str(memory(result).get("stopped") or "")
    return TaskEnd(why, sealed=sealed), bool(why) and _is_open(store, task.run)


def _is_open(store: JournalStore, run: str) -> bool:
    """Whether the journal of a run that has stopped does not tell so: then it was lost."""
    last = store.glance(run).last
    return last is None or last.what not in ("finished", "stopped")


def _by_name(name: str | None, account: str) -> Connection | None:
    """Find an account in what this process has itself: a named connection, or the environment."""
    if name is None:
        return None
    try:
        named = name != "environment"  # of a token in the environment nobody knows whose it is
        found = settings.resolve(name if named else None, one_of_several=named)
    except SettingsError:
        return None
    return found if found is not None and found.account == account else None


def _topic(number: str) -> str:
    return f"chatkit-{number}"


# --- on the machine of who applies -----------------------------------------------------


class ClusterRun(NamedTuple):
    """The run of one account, whose journal is written or about to be."""

    run: str
    connection: Connection
    store: JournalStore


@contextmanager
def on_cluster(on: object, plans: Mapping[str, Plan]) -> Iterator[GoesOn]:
    """Open a cluster for the plans of a fleet, by account.

    Raises:
        InputError: The cluster cannot be used, or not for these accounts.
    """
    runs, lost = {}, {}
    for label, plan in plans.items():
        try:
            connection = desk_of(plan).transport.connection
        except SettingsError as error:  # of this account alone
            lost[label] = error
        else:
            runs[label] = ClusterRun(plan.id, connection, store_of(plan))
    if lost and not runs:
        raise next(iter(lost.values()))
    labels = {run.run: label for label, run in runs.items()}
    ends_of_lost = {label: first_line(error) for label, error in lost.items()}

    with Workers(on, len(runs)) as workers:
        workers.check(list(runs.values()))

        def go_on_with(
            options: ApplyOptions,
            interrupt: Interrupt,
            *,
            watch: Callable[[str, int, int | None], object],
            meanwhile: Callable[[], object],
        ) -> Mapping[str, str]:
            ends = workers.go_on(
                list(runs.values()),
                options=options,
                interrupt=interrupt,
                watch=lambda run, done, total: watch(labels[run], done, total),
                made=lambda run, made: plans[labels[run]].secrets.update(made),
                meanwhile=meanwhile,
            )
            return ends_of_lost | {labels[run]: why for run, why in ends.items()}

        yield go_on_with


class Workers(AbstractContextManager["Workers"]):
    """The workers of a Dask cluster, for one apply of a fleet.

    Args:
        on: A client of Dask, or "local": processes of this machine, gone when it is closed.
        runs: How many accounts there are.

    Raises:
        InputError: It is neither, Dask is not installed, or the cluster cannot be used: it has no
            worker, workers without this version of chatkit, or connections that others can read.
    """

    def __init__(self, on: object, runs: int = 1) -> None:
        self._stack = ExitStack()
        self._number = secrets.token_hex(8)
        self._known: dict[str, Known | None] = {}  # by address; None: cannot be used
        try:
            self._client = self._opened(on, runs)
            self._check_cluster()
        except BaseException:
            self._stack.close()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _opened(self, on: object, runs: int) -> DaskClient:
        try:
            import cryptography  # noqa: F401
            from dask import config as dask_config
            from distributed import Client as DaskClient
            from distributed import LocalCluster
        except ImportError:
            raise InputError("on= needs Dask: pip install 'chatkit[fleet]'") from None
        if isinstance(on, DaskClient):
            if on.asynchronous:
                raise InputError("on= takes a client of Dask that is not asynchronous.")
            if on.status != "running":
                raise InputError(f"The client of Dask is {on.status}: connect it again.")
            return on
        if on != "local":
            kind = "another text" if isinstance(on, str) else f"a {type(on).__name__}"
            raise InputError(
                f'on= takes a client of Dask (dask.distributed) or "local", not {kind}.'
            )
        processes = max(1, min(os.cpu_count() or 1, -(-runs // _ACCOUNTS)))
        # Pages on what a cluster does would show others of this machine the names of accounts.
        kinds = ("scheduler", "worker", "nanny")
        pages: dict[str, object] = {f"distributed.{kind}.http.routes": [] for kind in kinds}
        with dask_config.set(pages):
            cluster = LocalCluster(
                n_workers=max(processes, min(2, runs)),  # the other goes on when one dies
                threads_per_worker=8,
                security=True,  # others of this machine could give it work to do
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.ERROR,
                local_directory=str(temporary.folder() / "dask"),
                death_timeout=_PATIENCE,
                preload=[__name__],
            )
        self._stack.enter_context(cluster)
        return self._stack.enter_context(closing(DaskClient(cluster, set_as_default=False)))

    def _check_cluster(self) -> None:
        """Refuse a cluster that cannot be used, before anything is written or sent."""
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise InputError(f"The Dask cluster has had no worker for {_PATIENCE} s.") from None
        places = {_place_of(each) for each in (self._client.scheduler.address, *self._addresses())}
        if "open" in places:
            raise InputError(_OPEN.format(f"The Dask cluster at {self._client.scheduler.address}"))
        self._local = places == {"here"}

    def check(self, runs: Sequence[ClusterRun]) -> None:
        """Refuse what the workers of this cluster cannot do, before anything is written or sent.

        Raises:
            InputError: Journals would lie on this machine alone, an account is a sandbox in this
                process, or a worker has no chatkit of this version.
        """
        for run in runs:
            if isinstance(run.store, FolderStore) and not self._local:
                raise InputError(
                    f"The journals would lie in {run.store.shown}, on this machine alone, where "
                    "workers on others can neither write them nor lock the accounts. Keep them in "
                    "PostgreSQL: at='postgresql://user@host/name', or CHATKIT_RUNS."
                )
        if faults := self._meet(runs):
            raise InputError(faults[0])
        here = platform.node(), os.getpid()
        if any(known and known.process != here for known in self._known.values()):
            for run in runs:
                if run.connection.sandbox is not None:
                    raise InputError(
                        "A sandbox in this process cannot be reached by a worker of Dask: serve "
                        "it with sandbox.serve() and connect to the address that it tells."
                    )

    def go_on(
        self,
        runs: Sequence[ClusterRun],
        *,
        options: ApplyOptions,
        interrupt: Interrupt,
        watch: Callable[[str, int, int | None], object] | None = None,
        made: Callable[[str, dict[Any, Secret]], object] | None = None,
        meanwhile: Callable[[], object] | None = None,
    ) -> dict[str, str]:
        """Go on with runs whose journals are written, until each has come to an end.

        Args:
            runs: The runs, each of an account of its own.
            options: How each is applied.
            interrupt: Its `ask()` stops all runs, as the stop button does; what is under way
                ends. Asked twice, nothing is waited for: the workers stop by themselves.
            watch: Called with the name of a run, how many rows are done, and of how many.
            made: Called with the name of a run and the signing secrets of its new webhooks.
            meanwhile: Called again and again until all have ended, in the thread of the caller.

        Returns:
            By the name of the run why it is not finished; empty if it is. What is true of the
            rows is in the journals.
        """
        from distributed import fire_and_forget

        if interrupt.asked:
            self._tell(forget)
            return {run.run: _YOU_STOPPED for run in runs}

        def submitted(run: ClusterRun) -> Future:
            connection = run.connection
            home, secret = _home_of(run.store)
            task = Task(
                self._number, run.run, connection.name, connection.account,
                "" if secret else home.reveal(), _key().public_key().public_bytes_raw(),
                options, len(runs) <= most,
            )  # fmt: skip
            key = f"chatkit-{run.run}-{secrets.token_hex(4)}"
            future = client.submit(go_on, task, key=key, retries=_RETRIES)
            fire_and_forget(future)  # it goes on without this process, should that die
            return future

        client, ends, asked, met = self._client, dict[str, str](), 0, time.monotonic()
        most = most_accounts(run.store for run in runs)
        lacked: Counter[str] = Counter()
        waiting: dict[str, tuple[ClusterRun, Future]] = {}
        whole = False
        try:
            self._meet_late(runs)
            if watch is not None:
                client.subscribe_topic(_topic(self._number), lambda event: watch(*event[1]))
            for run in runs:
                waiting[run.run] = run, submitted(run)
            while waiting and interrupt.asked < 2:
                for name, (run, future) in list(waiting.items()):
                    if future.status == "pending":
                        continue
                    ended = _ended(future)
                    if ended.lacking and lacked[name] < _TELLINGS and not interrupt.asked:
                        lacked[name] += 1
                        self._known.clear()  # one may be another at the address of one that died
                        self._meet_late(runs)
                        waiting[name] = run, submitted(run)
                        continue
                    if ended.sealed and made is not None:
                        made(name, _signing_secrets(ended.sealed, self._number))
                    ends[name] = _YOU_STOPPED if ended.lacking and asked else ended.why
                    del waiting[name]
                if meanwhile is not None:
                    meanwhile()
                since = time.monotonic() - met
                if interrupt.asked and waiting and (not asked or since > _STOP):
                    if not asked and not interrupt.quiet:
                        say("Stopping: waiting for what is under way. Interrupt again to not wait.")
                    asked, met = interrupt.asked, time.monotonic()
                    for name in self._stop({name: each for name, (_, each) in waiting.items()}):
                        ends[name] = _YOU_STOPPED
                        del waiting[name]
                elif not interrupt.asked and since > _MEET:
                    self._meet_late(runs)
                    met = time.monotonic()
                if waiting and interrupt.asked < 2:
                    time.sleep(_LOOK)
            whole = not waiting
        finally:  # whatever is raised here: nobody would wait for the tasks, or stop them
            if whole:
                self._tell(forget)
            else:
                for name in self._stop({name: each for name, (_, each) in waiting.items()}):
                    ends[name] = _YOU_STOPPED
                    del waiting[name]
            if watch is not None and client.status == "running":
                client.unsubscribe_topic(_topic(self._number))
        return ends | dict.fromkeys(waiting, "you stopped it; its worker ends what is under way")

    def _addresses(self) -> list[str]:
        return list(self._client.scheduler_info(n_workers=-1)["workers"])

    def _meet(self, runs: Sequence[ClusterRun]) -> list[str]:
        """Tell workers that have come what they need in secret.

        Returns:
            Why some of them cannot be used.
        """
        new = [address for address in self._addresses() if address not in self._known]
        if not new:
            return []
        wanted = [(run.connection.name, run.connection.account) for run in runs]
        found = self._client.run(introduce, wanted, workers=new, on_error="return")
        faults = []
        for address, known in found.items():
            self._known[address] = known if isinstance(known, Known) else None
            if _place_of(address) == "open":
                faults.append(_OPEN.format(f"The Dask worker {address}"))
            elif isinstance(known, OSError):
                del self._known[address]  # it is gone again
            elif not isinstance(known, Known):
                faults.append(
                    f"The Dask worker {address} has not chatkit {_VERSION} with its "
                    f"extra ({type(known).__name__}: {known}): install there what is installed "
                    f"here, pip install 'chatkit[fleet]=={_VERSION}'."
                )
            elif known.version != _VERSION:
                faults.append(
                    f"The Dask worker {address} has chatkit {known.version}, and this is "
                    f"{_VERSION}: install the same version there."
                )
            else:
                self._deliver(address, known, runs)
        return faults

    def _meet_late(self, runs: Sequence[ClusterRun]) -> None:
        """Tell workers that have come since the runs began what they need, if they can be used."""
        if self._client.status == "running":
            with suppress(OSError, TimeoutError):  # it is gone: the tasks tell
                for fault in self._meet(runs):
                    say(fault)

    def _deliver(self, address: str, known: Known, runs: Sequence[ClusterRun]) -> None:
        lacking = set(known.lacking)
        few = [run for run in runs if run.connection.account in lacking]
        few = [run for run in few if run.connection.sandbox is None]
        homes = [_home_of(run.store) for run in runs]
        private = next((home for home, secret in homes if secret), None)
        if few or private is not None:
            sealed = _sealed(known.key, self._number, few, private)
            self._client.run(take, self._number, sealed, workers=[address], on_error="return")

    def _stop(self, tasks: Mapping[str, Future]) -> list[str]:
        """Have all workers stop, and take back the tasks that none of them has begun.

        A worker that joins later, or takes the place of one that died, would begin with them.

        Args:
            tasks: Those that have not come to an end, by the name of the run.

        Returns:
            The names of those taken back.
        """
        begun = {name for names in self._tell(stop) for name in names}
        left = [name for name, each in tasks.items() if each.status == "pending"]
        left = [name for name in left if name not in begun]
        if left and self._client.status == "running":
            with suppress(OSError, TimeoutError):
                self._client.cancel([tasks[name] for name in left], force=True)
        return left

    def _tell(self, what: Callable[[str], T]) -> list[T]:
        """Have all workers do something for this apply, as far as they can be reached."""
        if self._client.status == "running":
            with suppress(OSError, TimeoutError):
                return list(self._client.run(what, self._number, on_error="ignore").values())
        return []


def _place_of(address: str) -> str:
    """Tell where an address of Dask is: here, or beyond this machine, encrypted or open."""
    parts = urlsplit(address)
    if parts.scheme == "inproc":
        return "here"
    host = parts.hostname or ""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if loopback:
        return "here"
    return "encrypted" if parts.scheme in ("tls", "wss") else "open"


def _home_of(store: JournalStore) -> tuple[Secret, bool]:
    """Tell where journals lie, and whether that is a secret: an address with a password is."""
    if isinstance(store, FolderStore):
        return Secret(str(store.folder)), False
    from chatkit.bulk.postgres import PostgresStore

    if not isinstance(store, PostgresStore):
        raise InputError(f"at= of a fleet on a cluster takes an address, not {store!r:.60}.")
    return store.address, store.address != Secret(store.shown)


def _sealed(to: bytes, number: str, runs: Sequence[ClusterRun], home: Secret | None) -> bytes:
    """Seal the tokens of some accounts, and the address of their journals, for one worker."""
    connections = {
        run.connection.account: run.connection.model_dump(mode="json")
        | {"token": run.connection.token.reveal()}
        for run in runs
    }
    told = {"home": None if home is None else home.reveal(), "connections": connections}
    text = json.dumps(told).encode()
    try:
        return seal(text, to, number)
    finally:
        del connections, told, text  # a traceback that prints variables must not find a token


def _signing_secrets(sealed: bytes, number: str) -> dict[Any, Secret]:
    """Open what a worker has sealed for this process."""
    return {id_: Secret(text) for id_, text in json.loads(unseal(sealed, _key(), number))}


def _ended(future: Future) -> TaskEnd:
    """Tell what came of a task that is not pending any more."""
    with suppress(OSError, CancelledError, FutureCancelled):  # gone before it was brought here
        if future.status == "finished":
            ended: TaskEnd = future.result()
            return ended
        if future.status == "error":
            error = future.exception()
            return TaskEnd(f"the worker failed ({type(error).__name__}: {error})")
    return TaskEnd(
        "the Dask cluster is gone, or has lost the task; a worker that still lives may be at it"
    )
