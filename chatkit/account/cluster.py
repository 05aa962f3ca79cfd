"""Cluster: the runs of a fleet, applied by the workers of a Dask cluster.

Dask is used as it is: the run of each account is one task, which does on its worker what
`chatkit.resume(run)` does here. A task carries names only: of the run, of its connection, and of
where the journals are. A worker opens the connection by its name from its own configuration, with
the token from its own keyring, environment or mounted secret; no token is ever sent. A password
of the database of the journals comes from CHATKIT_RUNS or PGPASSFILE of the worker.

What came of a run is in its journal, so nothing is lost with a worker, the scheduler or the
notebook: a task whose worker died begins again on another one and reads from the journal what is
left to do. The lock of the account keeps two workers apart.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from importlib import metadata
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit import settings
from chatkit.api.connection import Connection
from chatkit.api.retry import TASK, WORKER
from chatkit.api.transport import Transport
from chatkit.bulk.apply import Gap, Interrupt
from chatkit.bulk.plan import Plan, plan_of_run, store_of, target_of
from chatkit.bulk.stores import store_at
from chatkit.client import Client, source_of
from chatkit.errors import AccountBusy, ChatkitError, InputError, JournalError, SettingsError
from chatkit.frames.snapshot import memory
from chatkit.util.progress import AccountBars, Watch, say

if TYPE_CHECKING:
    import pandas as pd

#: Seconds between two looks at the tasks, and between two reports of a worker on its progress.
_LOOK, _REPORT = 0.1, 0.5

STOPPING = "Stopping: waiting for what is under way. Interrupt again to not wait."
_STOPPED = "you stopped it"
_VERSION = metadata.version("chatkit")


class ApplyOptions(NamedTuple):
    """Arguments of `Plan.apply` for each account of a fleet."""

    concurrency: int = 8
    rate: float | None = None
    gap: Gap = "row"


class Task(NamedTuple):
    """One run for a worker: names, and how to apply it. No secret."""

    apply: str  #: the topic of its progress, and the name of its stop signal
    label: str  #: of the account, in the fleet
    run: str
    connection: str
    home: str  #: where the journals are, without a password
    options: ApplyOptions


def apply_one(
    plan: Plan,
    options: ApplyOptions,
    *,
    interrupt: Interrupt | None = None,
    watch: Watch | None = None,
) -> pd.DataFrame:
    """Go on with the run of one account of a fleet, whose plan was allowed as a part of it.

    Args:
        plan: Its plan; its journal is there.
        options: How it is applied.
        interrupt: Stops it.
        watch: Called with how many rows are done, and of how many.
    """
    plan._stop_by = interrupt
    return plan.apply(**options._asdict(), many=True, irreversible=True, watch=watch)


# --- on a worker -----------------------------------------------------------------------


def check_worker(accounts: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return the version of chatkit on a worker, and why it cannot open some connections.

    Args:
        accounts: The account of each connection, by its name.
    """
    faults = []
    for name, account in accounts.items():
        try:
            if _connection(name).account != account:
                faults.append(f"the connection {name!r} is another account there")
        except SettingsError as error:
            faults.append(str(error))
    return _VERSION, faults


def go_on(task: Task) -> str:
    """Apply what is left of a run, and return why it is not finished; empty if it is."""
    from distributed import Event, get_client, get_worker, secede

    worker, interrupt, last = get_worker(), Interrupt(), 0.0
    stop = Event(task.apply, client=get_client())
    secede()  # a task mostly waits for the service: it takes the slot of no other one

    def stop_when_asked() -> None:
        with suppress(Exception):  # the scheduler is gone: nobody can ask any more
            stop.wait()
            interrupt.ask()

    def watch(done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _REPORT or done == total:
            last = now
            worker.log_event(task.apply, (task.label, done, total))

    if stop.is_set():
        return _STOPPED
    threading.Thread(target=stop_when_asked, daemon=True).start()
    for tried in count(1):
        try:
            connection = _connection(task.connection)
            own = store_at()  # CHATKIT_RUNS of the worker, which may hold the password
            store = own if own.location == task.home else store_at(task.home)
            with Client._made(connection, Transport(connection)) as client:
                with store.read(task.run) as kept:
                    plan = plan_of_run(kept, source_of(client, kept.header.noun), store, store)
                result = apply_one(plan, task.options, interrupt=interrupt, watch=watch)
            return str(memory(result).get("stopped") or "")
        except (AccountBusy, JournalError) as error:
            reason = str(error)
        except ChatkitError as error:
            return str(error)
        # nobody else might be there to go on with it
        if interrupt.asked or (pause := WORKER.pause(tried)) is None:
            break
        interrupt.sleep(pause)
    return reason


def _connection(name: str) -> Connection:
    connection = settings.resolve(name, one_of_several=True)
    assert connection is not None  # noqa: S101  (only without a name it is the sandbox)
    return connection


# --- in the process that applies -------------------------------------------------------


class ClusterRun:
    """The runs of a fleet on the workers of a cluster, which is checked before anything is written.

    Args:
        client: A client of Dask.
        plans: The plans by account, each with its journal written when they are applied.

    Raises:
        InputError: The cluster has no worker, or its workers cannot apply these plans.
    """

    def __init__(self, client: Any, plans: Mapping[str, Plan]) -> None:
        try:
            from distributed import Client as DaskClient
        except ImportError:
            raise InputError("on= needs Dask: pip install 'chatkit[fleet]'") from None
        if not isinstance(client, DaskClient) or client.asynchronous or client.status != "running":
            raise InputError(f"on= takes a connected client of Dask, not {client!r:.60}.")
        self._client, self._plans = client, plans
        self._name = f"chatkit-{secrets.token_hex(8)}"
        self._ends: dict[str, str] = {}
        self._tasks: dict[str, Task] = {}
        accounts: dict[str, str] = {}
        for label, plan in plans.items():
            target = target_of(plan)
            try:
                connection = target.transport.connection
            except SettingsError as error:  # of this account alone
                self._ends[label] = str(error)
                continue
            if connection.sandbox is not None or connection.name in (None, "environment"):
                raise InputError(
                    f"The account {label} has no named connection, by which a worker could open "
                    "it: keep it with chatkit login NAME, here and where the workers run."
                )
            creates = (change for change in plan.changes if change.kind == "create")
            if any(target.of(change.code, change.noun).lost for change in creates):
                raise InputError(
                    f"The plan of {label} creates webhooks. Their signing secrets are shown once, "
                    "and would be shown to a worker: apply that plan without on=."
                )
            name, home = str(connection.name), store_of(plan).location
            accounts[name] = connection.account
            self._tasks[label] = Task(self._name, label, plan.id, name, home, ApplyOptions())
        answers = client.run(check_worker, accounts, on_error="return")
        if not answers:
            raise InputError("The Dask cluster has no worker: start one, and apply again.")
        for address, answer in answers.items():
            version, faults = answer if isinstance(answer, tuple) else (str(answer), [])
            if version != _VERSION:
                faults = [f"it has not chatkit {_VERSION} with its extra fleet ({version})"]
            if faults:
                raise InputError(f"The Dask worker {address} cannot be used: {'; '.join(faults)}.")

    def go_on(
        self, options: ApplyOptions, interrupt: Interrupt, watch: Watch | None
    ) -> Mapping[str, str]:
        """Go on with the runs until each has come to an end.

        Returns:
            By account why a run is not finished; empty if it is.
        """
        from distributed import Event, fire_and_forget

        client, ends = self._client, self._ends
        futures, stop = {}, Event(self._name, client=client)
        done: dict[str, tuple[int, int | None]] = {}
        totals = {label: len(plan) for label, plan in self._plans.items()}

        def note(event: Any) -> None:
            label, count, total = event[1]
            done[label] = count, total

        client.subscribe_topic(self._name, note)
        try:
            with AccountBars("changes", list(self._plans), totals, watch) as bars:
                for label, task in self._tasks.items():
                    task = task._replace(options=options)
                    futures[label] = client.submit(go_on, task, pure=False, retries=TASK.tries - 1)
                    fire_and_forget(futures[label])  # it goes on should this process die
                while len(ends) < len(self._plans) and interrupt.asked < 2:
                    bars.show(done)
                    if interrupt.asked and not stop.is_set():
                        stop.set()
                        if not interrupt.quiet:
                            say(STOPPING)
                    for label, future in futures.items():
                        if label not in ends and future.status != "pending":
                            ends[label] = _end_of(future)
                    time.sleep(_LOOK)
                bars.show(done, list(self._plans))
        finally:  # whatever is raised here: nobody would wait for the tasks, or stop them
            if client.status == "running":
                client.unsubscribe_topic(self._name)
                if len(ends) < len(self._plans):
                    stop.set()
        return dict.fromkeys(self._plans, f"{_STOPPED}; its worker ends what is under way") | ends


def _end_of(future: Any) -> str:
    """Return what a task returned, or why it returned nothing."""
    with suppress(OSError, CancelledError):  # gone before it was brought here
        if future.status == "finished":
            return str(future.result())
        if future.status == "error":
            error = future.exception()
            return f"the worker failed ({type(error).__name__}: {error})"
    return "the Dask cluster is gone, or has lost the task; a worker that still lives may be at it"
