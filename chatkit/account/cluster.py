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
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from importlib import metadata
from typing import Any, NamedTuple, TypeAlias

from chatkit import settings
from chatkit.api.retry import TASK, WORKER
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.plan import Plan, plan_of_run, store_of, target_of
from chatkit.bulk.stores import store_at
from chatkit.client import open_client, source_of
from chatkit.errors import AccountBusy, ChatkitError, InputError, JournalError, SettingsError
from chatkit.frames.snapshot import memory
from chatkit.util.progress import AccountBars, print_line

#: Seconds between two looks at the tasks, and between two reports of a worker on its progress.
_LOOK, _REPORT = 0.1, 0.5

STOPPING = "Stopping: waiting for what is under way. Interrupt again to not wait."
_STOPPED = "you stopped it"
_VERSION = metadata.version("chatkit")


#: Applies a plan with the options of its fleet; what a worker is sent of it is a name.
Apply: TypeAlias = Callable[..., Any]


class Task(NamedTuple):
    """One run for a worker: a saved plan, and the connection that it is applied to. No secret."""

    run: str
    connection: str
    account: str
    home: str  #: where the journals are, which hold the plan; without a password


# --- on a worker -----------------------------------------------------------------------


def check_worker(tasks: Iterable[Task]) -> tuple[str, list[str]]:
    """Return the version of chatkit on a worker, and why it cannot open some connections."""
    faults = []
    for _, name, account, _ in tasks:
        try:
            if settings.kept_connection(name, one_of_several=True).account != account:
                faults.append(f"the connection {name!r} is another account there")
        except SettingsError as error:
            faults.append(str(error))
    return _VERSION, faults


def go_on(name: str, apply: Apply, label: str, task: Task) -> str:
    """Apply what is left of a run, and return why it is not finished; empty if it is.

    Args:
        name: The topic of its progress, and the name of its stop signal.
        apply: Applies its plan.
        label: What the fleet calls the account.
        task: The run.
    """
    from distributed import Event, get_client, get_worker, secede

    worker, interrupt, last = get_worker(), Interrupt(), 0.0
    stop = Event(name, client=get_client())
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
            worker.log_event(name, (label, done, total))

    if stop.is_set():
        return _STOPPED
    threading.Thread(target=stop_when_asked, daemon=True).start()
    tried = 0
    while True:
        try:
            own = store_at()  # CHATKIT_RUNS of the worker, which may hold the password
            store = own if own.location == task.home else store_at(task.home)
            with open_client(task.connection, one_of_several=True) as client:
                with store.read(task.run) as kept:
                    plan = plan_of_run(kept, source_of(client, kept.header.noun), store, store)
                plan._stop_by = interrupt
                result = apply(plan, watch=watch)
            return str(memory(result).get("stopped") or "")
        except (AccountBusy, JournalError) as error:
            reason = str(error)
        except ChatkitError as error:
            return str(error)
        # nobody else might be there to go on with it
        tried += 1
        if interrupt.asked or (pause := WORKER.pause(tried)) is None:
            return reason
        interrupt.sleep(pause)


# --- in the process that applies -------------------------------------------------------


def tasks_for(client: Any, plans: Mapping[str, Plan]) -> tuple[dict[str, Task], dict[str, str]]:
    """Check that the workers of a cluster can apply plans, before anything is written.

    Args:
        client: A client of Dask.
        plans: The plans by account.

    Returns:
        A task for each account, and of the others why there is none.

    Raises:
        InputError: The cluster has no worker, or its workers cannot apply these plans.
    """
    try:
        from distributed import Client as DaskClient
    except ImportError:
        raise InputError("on= needs Dask: pip install 'dask[distributed]'") from None
    if not isinstance(client, DaskClient) or client.asynchronous or client.status != "running":
        raise InputError(f"on= takes a connected client of Dask, not {client!r:.60}.")
    tasks, stops = dict[str, Task](), dict[str, str]()
    for label, plan in plans.items():
        target = target_of(plan)
        try:
            opened = target.transport.connection
        except SettingsError as error:  # of this account alone
            stops[label] = str(error)
            continue
        if opened.sandbox is not None or opened.name in (None, "environment"):
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
        tasks[label] = Task(plan.id, str(opened.name), opened.account, store_of(plan).location)
    answers = client.run(check_worker, [*tasks.values()], on_error="return")
    if not answers:
        raise InputError("The Dask cluster has no worker: start one, and apply again.")
    for address, answer in answers.items():
        version, faults = answer if isinstance(answer, tuple) else (str(answer), [])
        if version != _VERSION:
            faults = [f"it has not chatkit {_VERSION} with its extra fleet ({version})"]
        if faults:
            raise InputError(f"The Dask worker {address} cannot be used: {'; '.join(faults)}.")
    return tasks, stops


def apply_on_workers(
    client: Any, tasks: Mapping[str, Task], bars: AccountBars, apply: Apply, interrupt: Interrupt
) -> dict[str, str]:
    """Go on with runs, whose journals are written, until each has come to an end.

    Args:
        client: A client of Dask.
        tasks: The runs by account.
        bars: Show how many changes are done.
        apply: Applies a plan.
        interrupt: Stops it.

    Returns:
        By account why a run is not finished; empty if it is.
    """
    from distributed import Event, fire_and_forget

    name = f"chatkit-{secrets.token_hex(8)}"
    stop, ends = Event(name, client=client), dict[str, str]()
    done: dict[str, tuple[int, int | None]] = {}

    client.subscribe_topic(name, lambda event: done.update({event[1][0]: event[1][1:]}))
    try:
        with bars:
            submit = partial(client.submit, go_on, name, apply, pure=False, retries=TASK.tries - 1)
            futures = {label: submit(label, task) for label, task in tasks.items()}
            fire_and_forget(futures)  # they go on should this process die
            while len(ends) < len(tasks) and interrupt.asked < 2:
                bars.show(done)
                if interrupt.asked and not stop.is_set():
                    stop.set()
                    if not interrupt.quiet:
                        print_line(STOPPING)
                for label, future in futures.items():
                    if label not in ends and future.status != "pending":
                        ends[label] = _end_of(future)
                time.sleep(_LOOK)
            bars.show(done, list(tasks))
    finally:  # whatever is raised here: nobody would wait for the tasks, or stop them
        if client.status == "running":
            client.unsubscribe_topic(name)
            if len(ends) < len(tasks):
                stop.set()
    return dict.fromkeys(tasks, f"{_STOPPED}; its worker ends what is under way") | ends


def _end_of(future: Any) -> str:
    """Return what a task returned, or why it returned nothing."""
    with suppress(OSError, CancelledError):  # gone before it was brought here
        if future.status == "finished":
            return str(future.result())
        if future.status == "error":
            error = future.exception()
            return f"the worker failed ({type(error).__name__}: {error})"
    return "the Dask cluster is gone, or has lost the task; a worker that still lives may be at it"
