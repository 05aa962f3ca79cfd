"""FleetPlan: what would happen to many accounts, in one review, one run and one undo.

A run of a fleet is a run of each of its accounts. It has two steps: first the journals of all
accounts are written, durably; only then is anything sent, by a thread for each account. So
whatever kills the process in the middle, `chatkit.resume` of the fleet's run finds all of it.

In place of threads, the workers of a Dask cluster can send: the run of each account is one task,
which does on its worker what `chatkit.resume(run)` does here. A task carries names only: of the
run, of its connection, and of where the journals are. A worker opens the connection by its name
from its own configuration, with the token from its own keyring, environment or mounted secret; no
token is ever sent. A password of the database of the journals comes from CHATKIT_RUNS or
PGPASSFILE of the worker. What came of a run is in its journal, so nothing is lost with a worker,
the scheduler or the notebook: a task whose worker died begins again on another one and reads from
the journal what is left to do. The lock of the account keeps two workers apart.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from chatkit import settings
from chatkit.api.retry import TASK, WORKER
from chatkit.api.secret import Secret
from chatkit.api.throttle import Throttle
from chatkit.bulk import rendering
from chatkit.bulk.apply import STOPPING, Interrupt, PlanTarget
from chatkit.bulk.changes import LeftOutRow, RefusedCell
from chatkit.bulk.journal import make_run_id
from chatkit.bulk.outcomes import Row, read_rows
from chatkit.bulk.plan import (
    Plan,
    create_journals,
    get_store,
    get_target,
    load_plans,
    make_fleet_part,
    make_resume_hint,
    raise_if_unsafe,
    read_journal,
    refuse_moved_journals,
    restore_plan,
    save_plans,
    set_journal_location,
)
from chatkit.bulk.stores import open_store
from chatkit.bulk.undo import make_undo_plan
from chatkit.client import Client, get_plan_target, open_client
from chatkit.errors import (
    AccountBusy,
    ChatkitError,
    InputError,
    JournalError,
    SettingsError,
    get_first_line,
)
from chatkit.frames.snapshot import read_origin
from chatkit.report import FEW, Report, ReportPart, bullets, folded, headline, join_blocks, table
from chatkit.util.display import many as many_of
from chatkit.util.display import visible
from chatkit.util.progress import AccountBars, Watch, prefix_lines, print_line

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

T = TypeVar("T")

#: So many accounts are worked on at once: under their limits one core feeds about as many.
THREADS = 128

#: The index of a frame of no account: one level, without a name.
_NO_NAMES = (None,)


class FleetPlan(Report):
    """The changes of the accounts of a fleet: a plan for each of them.

    `plans` holds them by what the accounts are called, `failed` says of accounts for which there
    could be no plan why. Showing it changes nothing; `apply()` does what it shows, once.

    Args:
        plans: The plans, each of another account.
        failed: Accounts that could not be planned, and why.
        skip_invalid: Apply the plans of the others although some accounts could not be planned.
        run: The name of its run, if that has begun: then the plans are those of this run.

    >>> fleet = chatkit.connect_all({n: chatkit.Sandbox(seed="demo") for n in ("de", "fr")})
    Opened 2 accounts, of the sandbox: de, fr.
    >>> rows = [{"number": "2025550143", "country_code": "+1"}]
    >>> plan = fleet.contacts.plan(dict.fromkeys(fleet, rows))
    >>> plan.counts
    {'create': 2, 'update': 0, 'delete': 0}
    >>> plan.apply().index.tolist()
    [('de', 1), ('fr', 1)]
    >>> fleet.close()
    """

    def __init__(
        self,
        plans: Mapping[str, Plan],
        *,
        failed: Mapping[str, str] | None = None,
        skip_invalid: bool = False,
        run: str = "",
    ) -> None:
        self.id = run or make_run_id()
        self.failed = dict(failed or {})
        self._skip_invalid = skip_invalid
        self._began = bool(run)
        self._stop_by: Interrupt | None = None  # what is to stop its run, from another thread
        self.plans: Mapping[str, Plan] = dict(plans)
        if not run:
            changing = [label for label, plan in plans.items() if len(plan)]
            self.plans = {
                label: make_fleet_part(plan, self.id, label, changing) if len(plan) else plan
                for label, plan in plans.items()
            }

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows that the plan creates, updates and deletes, in all accounts."""
        count = Counter({"create": 0, "update": 0, "delete": 0})
        for plan in self.plans.values():
            count.update(plan.counts)
        return dict(count)

    @property
    def refused(self) -> pd.DataFrame:
        """The cells that cannot be planned: `account`, and the columns of `Plan.refused`."""
        tables = {name: plan.refused for name, plan in self.plans.items()}
        return rendering.join_account_tables(tables, rendering.make_tuple_frame(RefusedCell, ()))

    @property
    def left_out(self) -> pd.DataFrame:
        """The rows of runs that changed nothing: `account`, and the columns of `Plan.left_out`."""
        tables = {name: plan.left_out for name, plan in self.plans.items()}
        return rendering.join_account_tables(tables, rendering.make_tuple_frame(LeftOutRow, ()))

    @property
    def secrets(self) -> dict[str, dict[Any, Secret]]:
        """The signing secrets of webhooks that the plan has created, by account and id."""
        return {name: plan.secrets for name, plan in self.plans.items() if plan.secrets}

    def __len__(self) -> int:
        return sum(map(len, self.plans.values()))

    def __getitem__(self, label: str) -> Plan:
        """Return the plan of one account.

        Raises:
            InputError: There is none.
        """
        if label not in self.plans:
            known = ", ".join(self.plans) or "none"
            raise InputError(f"There is no plan for {label!r:.60}; there are plans for: {known}.")
        return self.plans[label]

    def frame(self) -> pd.DataFrame:
        """Return the rows of all plans as a DataFrame: those of `Plan.frame`, by account first."""
        frames = {name: plan.frame() for name, plan in self.plans.items()}
        return rendering.join_account_frames(frames, rendering.make_changes_frame((), _NO_NAMES))

    def objections(self, *, many: bool = False, irreversible: bool = False) -> list[str]:
        """Return the reasons that block the plan, each with the argument that allows it."""
        reasons = []
        if self.failed and not self._skip_invalid:
            reasons.append(
                f"{many_of(len(self.failed), 'account')} could not be planned "
                f"({', '.join(self.failed)}): correct that, or plan the others alone with "
                "plan(…, skip_invalid=True)"
            )
        for label, plan in self.plans.items():
            own = plan.objections(many=many, irreversible=irreversible)
            reasons += [f"{label}: {each}" for each in own]
        return reasons

    def save(self, path: str | Path) -> Path:
        """Write the plan to a file that only you can read, with its hash and those of its plans.

        `fleet.load_plan(path)` reads it again, for a colleague's review or a later day. It is
        applied to the same accounts then, whatever they are called there. Of when it may be
        applied after that, what `Plan.save` says holds.
        """
        metadata = {
            "id": self.id,
            "accounts": list(self.plans),
            "failed": self.failed,
            "skip_invalid": self._skip_invalid,
        }
        return save_plans(path, self.plans.values(), metadata)

    # --- as a report ----------------------------------------------------------------

    def _parts(self) -> Iterator[ReportPart]:
        """Yield the headline, a table of the accounts, their first plans, and what blocks them."""
        yield headline(self._heading())
        rows = [(visible(n), rendering.make_plan_heading(plan)) for n, plan in self.plans.items()]
        rows += [
            (visible(label), f"Could not be planned: {visible(reason)}")
            for label, reason in self.failed.items()
        ]
        yield table({"account": 25, "plan": 0}, rows, headings="rows")
        busy = [label for label, plan in self.plans.items() if plan.changes or len(plan.refused)]
        for n, label in enumerate(busy):
            plan, lines = self.plans[label], ""
            if n < FEW:
                parts = rendering.make_plan_parts(plan)[:-1]  # the end is said once, for all
                lines = f"{visible(label)}: {join_blocks(part.lines for part in parts)}"
            yield ReportPart(lines.split("\n") if lines else (), partial(_fold_plan, label, plan))
        if (more := len(busy) - FEW) > 0:
            yield ReportPart([f"… and {many_of(more, 'more account')}: plan[name] shows each."])
        if objections := self.objections():
            yield bullets("Blocked:", map(visible, objections), "objections", "  - ")
        elif any(self.counts.values()):
            does = "<p><code>plan.apply()</code> does it.</p>"
            yield ReportPart(["plan.apply() does it."], does)

    def _heading(self, *, run: bool = False) -> str:
        """Return the headline: counts of changes, accounts, refused rows and failed accounts."""
        counts = [many_of(number, kind) for kind, number in self.counts.items() if number]
        rows = sum(len({repr(cell.row) for cell in p._cells}) for p in self.plans.values())
        refused = f"; {many_of(rows, 'row')} refused" if rows else ""
        failure = "cannot be read" if run else "could not be planned"
        failed = f"; {many_of(len(self.failed), 'account')} {failure}" if self.failed else ""
        accounts = many_of(len(self.plans), "account")
        is_undo = any(plan._setting.undoes for plan in self.plans.values())
        title = "Plan that takes back a run of" if is_undo else "Plan for"
        if run:
            title = "Run that takes back another, of" if is_undo else "Run of"
        return f"{title} {accounts}: {', '.join(counts) or '0 changes'}{refused}{failed}."

    # --- applied --------------------------------------------------------------------

    def apply(
        self,
        *,
        concurrency: int = 8,
        rate: float | None = None,
        many: bool = False,
        irreversible: bool = False,
        watch: Watch | None = None,
        on: Any = None,
    ) -> pd.DataFrame:
        """Apply the plans of all accounts at once; return a row for each of their rows.

        The journals of all accounts are written before anything is sent: after an interrupt or a
        crash `chatkit.resume(plan.id)` goes on with all of them, `chatkit.undo(result)` takes
        all of them back. What stops one account (a token that is refused, another kernel at
        work there) does not stop the others, and is told in the rows of that account.

        Args:
            concurrency: Calls under way at once, of each account.
            rate: Calls a second at most, of each account.
            many: As for `Plan.apply`, like `irreversible`.
            irreversible: Allow what can never be undone.
            watch: Called with how many rows are done, and of how many, in place of bars.
            on: A Dask client (`distributed.Client`): each account is applied by one of its
                workers, which goes on when this process ends. Workers open the connection of the
                account by its name, with a token of their own. Journals must be where all workers
                reach them: in PostgreSQL, unless the cluster is on this machine. Without it,
                threads of this process do it.

        Returns:
            The rows of all plans, account first, as `Plan.apply` returns them, whatever has stopped
            their accounts. `attrs["stops"]` says by account why those that have stopped did, and
            why others have a journal that cannot be read, or no plan: what could not be planned
            has no rows here, as in the result of one account.

        Raises:
            PlanRefused: It would do more than you allow; the text says which argument does. Or
                its run has begun, and its journals lie elsewhere; the text says where.
            InputError: An argument, a label or value of a row, or a cluster cannot be used.
            JournalError: The journals cannot be kept, so nothing is sent.
        """
        refuse_moved_journals(self.plans.values())
        Throttle(concurrency, rate)  # refuses what cannot be
        raise_if_unsafe(self.objections(many=many, irreversible=irreversible))
        changing = {label: plan for label, plan in self.plans.items() if len(plan)}
        apply = partial(
            Plan.apply, concurrency=concurrency, rate=rate, many=True, irreversible=True
        )
        tasks, stops = ({}, {}) if on is None else make_tasks(on, changing)
        interrupt, self._stop_by = self._stop_by or Interrupt(), None
        with interrupt:
            if not self._began:
                first, *others = changing.values() or [None]
                # the first at last: it is the sign that all are there
                create_journals([*others, *([first] if first else [])], self.id)
                self._began = True
            outcomes: dict[str, pd.DataFrame | Exception]
            totals = {label: len(plan) for label, plan in changing.items()}
            if on is None:
                outcomes = _apply_in_threads(changing, totals, apply, interrupt, watch)
            else:
                for plan in changing.values():
                    if plan._written:
                        plan._target.keep(plan._written, plan.id)
                bars = AccountBars("changes", list(tasks), totals, watch)
                stops |= apply_on_workers(on, tasks, bars, apply, interrupt)
                outcomes = {
                    label: ChatkitError(reason) for label, reason in stops.items() if reason
                }
        return self._join_results(changing, outcomes, watch)

    def _join_results(
        self,
        plans: Mapping[str, Plan],
        outcomes: Mapping[str, pd.DataFrame | Exception],
        watch: Watch | None,
    ) -> pd.DataFrame:
        """Join the results of all accounts; those that have none are read from their journals."""
        frames, stops, resumable = {}, {}, False
        for label, plan in self.plans.items():
            outcome, can_resume = outcomes.get(label), True
            if label not in plans:
                frames[label] = rendering.make_result_frame((), plan.id, plan._setting.names, "")
            elif outcome is None or isinstance(outcome, Exception):
                reason = _format_stop_reason(outcome) if outcome else ""
                frames[label], can_resume = _read_result_from_journal(plan, reason)
            else:
                frames[label] = outcome
            if stop := rendering.get_stop_reason(frames[label]):
                stops[label] = stop
                resumable |= can_resume
        stops |= self.failed
        empty = rendering.make_result_frame((), self.id, _NO_NAMES, "")
        result = rendering.join_account_frames(frames, empty)
        location = _find_journal_location(plans)
        rendering.write_fleet_origin(result, self.id, stops, location)
        if stops and watch is None:
            hint = f" {make_resume_hint(self.id, location)}" if resumable else ""
            print_line(f"{rendering.summarize_result(result)}{hint}")
        return result


def _fold_plan(label: str, plan: Plan) -> str:
    """Render the plan of an account as HTML that is folded under its name."""
    return folded(visible(label), rendering.make_plan_parts(plan)[:-1])


def load_fleet_plan(path: str | PathLike[str], clients: Mapping[str, Client]) -> FleetPlan:
    """Read a saved plan for several accounts from a file.

    Args:
        path: The file.
        clients: The accounts that are open, by what they are called.

    Raises:
        FileNotFoundError: The file does not exist.
        PlanRefused: The file is no such plan, was edited, or is for an account that is not open.
    """
    labels = {client.connection.account: label for label, client in clients.items()}

    def find_target(account: str, noun: str) -> PlanTarget | None:
        """Return the resource of the open client of an account; None without one."""
        return get_plan_target(clients[labels[account]], noun) if account in labels else None

    plans, metadata = load_plans(Path(path), find_target)
    by_label = {labels[plan._setting.account]: plan for plan in plans}
    changing = tuple(label for label, plan in by_label.items() if len(plan))
    for label in changing:
        by_label[label]._fleet, by_label[label]._fleet_of = ((metadata["id"], label), changing)
    options = {name: metadata[name] for name in ("failed", "skip_invalid")}
    plan = FleetPlan(by_label, **options, run=metadata["id"])
    plan._began = False
    return plan


def undo_fleet_plan(plan: FleetPlan, rows: Mapping[str, Collection[int] | None]) -> FleetPlan:
    """Make the plan that takes back the rows that a plan for several accounts has applied.

    Args:
        plan: It was applied.
        rows: The numbers of the rows to take back, by account; None stands for all of them.
    """
    plans, failed = {}, {}
    for label, numbers in rows.items():
        part = plan.plans[label]
        try:
            with read_journal(part) as journal:
                undo = make_undo_plan(journal, part._target, include_adopted=False, only=numbers)
            plans[label] = set_journal_location(undo, part._at)
        except JournalError as error:
            failed[label] = get_first_line(error)
    return FleetPlan(plans, failed=failed, skip_invalid=True)


def describe_fleet_plan(plan: FleetPlan, *, run: bool = False) -> str:
    """Return the headline of a plan, or of its run."""
    return plan._heading(run=run)


def _format_stop_reason(error: BaseException) -> str:
    """Return the reason that stopped an account in one line."""
    line = get_first_line(error)
    return line if isinstance(error, ChatkitError) else f"{type(error).__name__}: {line}"


def _find_journal_location(plans: Mapping[str, Plan]) -> str:
    """Return where the journals of plans are kept; empty for the default store."""
    locations = (open_store(plan._at).location for plan in plans.values() if plan._at is not None)
    return next(locations, "")


def _read_result_from_journal(plan: Plan, reason: str) -> tuple[pd.DataFrame, bool]:
    """Read the result of an account from its journal; if it cannot be read, all is unknown.

    Args:
        plan: The plan of the account.
        reason: Why the run stopped.

    Returns:
        The result, and whether the run can go on: not if its journal is damaged, or gone.
    """
    try:
        with read_journal(plan) as journal:
            rows = read_rows(journal)
    except JournalError as error:
        reason = _format_stop_reason(error)
        rows = [Row(n, change) for n, change in enumerate(plan.changes)]
        for row in rows:
            if not row.done:
                row.state, row.reason = "unknown", reason
        unreachable = False  # whether the journals cannot be reached now; else this one is damaged
        try:
            get_store(plan).has(plan.id)
        except ChatkitError:
            unreachable = True
        return rendering.make_result_frame(rows, plan.id, plan._setting.names, reason), unreachable
    if all(row.done for row in rows):
        reason = ""  # a cluster is lost after the run has ended
    for row in rows:
        if row.state == "not sent" and reason:
            row.reason = reason
    return rendering.make_result_frame(rows, plan.id, plan._setting.names, reason), True


# --- one thread for each account ------------------------------------------------------


def _apply_in_threads(
    plans: Mapping[str, Plan],
    totals: Mapping[str, int],
    apply: Apply,
    interrupt: Interrupt,
    watch: Watch | None,
) -> dict[str, pd.DataFrame | Exception]:
    """Apply prepared plans, each in a thread of this process."""
    quiet = interrupt.quiet or interrupt.asked > 0  # before it begins, nothing is under way

    def print_stop() -> None:
        """Print once that the run is being stopped."""
        nonlocal quiet
        if interrupt.asked and not quiet:
            print_line(STOPPING)
            quiet = True

    def apply_plan(label: str, report: Watch) -> pd.DataFrame:
        plans[label]._stop_by = Interrupt(quiet=True, within=interrupt)
        result: pd.DataFrame = apply(plans[label], watch=report)
        return result

    return run_in_threads(
        plans, apply_plan, noun="changes", totals=totals, watch=watch, meanwhile=print_stop
    )


def run_in_threads(
    labels: Iterable[str],
    work: Callable[[str, Watch], T],
    *,
    noun: str = "",
    totals: Mapping[str, int] | None = None,
    watch: Watch | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> dict[str, T | Exception]:
    """Call a function for several accounts at once, in up to `THREADS` threads.

    Args:
        labels: The names of the accounts.
        work: Does the work of one; it is passed a function to call with the count and the total,
            which raises when the others have been interrupted.
        noun: The noun that bars count, like "contacts"; without it there are no bars.
        totals: The total of each account, where it is known.
        watch: Called with the count in all accounts and the total, in place of bars.
        meanwhile: Called again and again until all is done, in the thread of the caller.

    Returns:
        The result or the exception of each account, in their order.
    """
    labels = list(labels)
    done: dict[str, tuple[int, int | None]] = {}
    stopped = threading.Event()

    def run_account(label: str) -> T:
        """Run the work of one account in its thread."""

        def report(count: int, total: int | None) -> None:
            """Record the count of one account; raise if the others were interrupted."""
            if stopped.is_set():
                raise InterruptedError("the work on all accounts was interrupted")
            done[label] = count, total

        with prefix_lines(label, report):
            return work(label, report)

    pool = ThreadPoolExecutor(min(THREADS, len(labels)) or 1, thread_name_prefix="chatkit")
    futures: dict[str, Future[T]] = {}
    try:
        futures = {label: pool.submit(run_account, label) for label in labels}
        with AccountBars(noun, labels, totals, watch) as bars:
            pending = set(futures.values())
            while pending:
                _, pending = wait(pending, 0.1, FIRST_COMPLETED)
                if meanwhile is not None:
                    meanwhile()
                if noun:
                    bars.show(done, [n for n, each in futures.items() if each.done()])
    except BaseException:
        stopped.set()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return {
        label: error if isinstance(error := future.exception(), Exception) else future.result()
        for label, future in futures.items()
    }


# --- on the workers of a cluster ----------------------------------------------------------

#: Seconds between two looks at the tasks, and between two reports of a worker on its progress.
_POLL_SECONDS, _REPORT_SECONDS = 0.1, 0.5

_STOPPED = "you stopped it"
_VERSION = metadata.version("chatkit")


#: Applies a plan with the options of its fleet; what a worker is sent of it is a name.
Apply: TypeAlias = Callable[..., Any]


class Task(NamedTuple):
    """A run for a worker: a saved plan and the connection to apply it to, without secrets."""

    run: str
    connection: str
    account: str
    home: str  #: where the journals are, which hold the plan; without a password


def check_worker(tasks: Iterable[Task]) -> tuple[str, list[str]]:
    """Return the version of chatkit on a worker, and its errors in opening connections."""
    faults = []
    for _, name, account, _ in tasks:
        try:
            if settings.kept_connection(name, one_of_several=True).account != account:
                faults.append(f"the connection {name!r} is another account there")
        except SettingsError as error:
            faults.append(str(error))
    return _VERSION, faults


def run_task(name: str, apply: Apply, label: str, task: Task) -> str:
    """Apply what is left of a run on a worker; return why it is not finished, or empty.

    Args:
        name: The topic of its progress, and the name of its stop signal.
        apply: Applies its plan.
        label: The name of the account in the fleet.
        task: The run.
    """
    from distributed import Event, get_client, get_worker, secede

    worker, interrupt, reported_at = get_worker(), Interrupt(), 0.0
    stop = Event(name, client=get_client())
    secede()  # a task mostly waits for the service: it takes the slot of no other one

    def stop_when_asked() -> None:
        """Interrupt the run when the notebook asks for it."""
        with suppress(Exception):  # the scheduler is gone: nobody can ask any more
            stop.wait()
            interrupt.ask()

    def report_progress(done: int, total: int | None) -> None:
        """Send the progress of the run to the notebook, not more often than it looks."""
        nonlocal reported_at
        now = time.monotonic()
        if now - reported_at >= _REPORT_SECONDS or done == total:
            reported_at = now
            worker.log_event(name, (label, done, total))

    if stop.is_set():
        return _STOPPED
    threading.Thread(target=stop_when_asked, daemon=True).start()
    attempts = 0
    while True:
        try:
            default = open_store()  # CHATKIT_RUNS of the worker, which may hold the password
            store = default if default.location == task.home else open_store(task.home)
            with open_client(task.connection, one_of_several=True) as client:
                with store.read(task.run) as journal:
                    plan = restore_plan(
                        journal, get_plan_target(client, journal.header.noun), store, store
                    )
                plan._stop_by = interrupt
                result = apply(plan, watch=report_progress)
            return str(read_origin(result).get("stopped") or "")
        except (AccountBusy, JournalError) as error:
            reason = str(error)
        except ChatkitError as error:
            return str(error)
        # nobody else might be there to go on with it
        attempts += 1
        if interrupt.asked or (pause := WORKER.pause(attempts)) is None:
            return reason
        interrupt.sleep(pause)


def make_tasks(client: Any, plans: Mapping[str, Plan]) -> tuple[dict[str, Task], dict[str, str]]:
    """Make a task for each plan, once the workers of the cluster were checked.

    Args:
        client: A client of Dask.
        plans: The plans by account.

    Returns:
        The tasks by account, and the reasons why others have none.

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
        target = get_target(plan)
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
        tasks[label] = Task(plan.id, str(opened.name), opened.account, get_store(plan).location)
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
    """Apply runs, whose journals are written, by the workers of a cluster until all have ended.

    Args:
        client: A client of Dask.
        tasks: The runs by account.
        bars: Show how many changes are done.
        apply: Applies a plan.
        interrupt: Stops it.

    Returns:
        Why the run of each account is not finished; empty if it is.
    """
    from distributed import Event, fire_and_forget

    topic = f"chatkit-{secrets.token_hex(8)}"
    stop, outcomes = Event(topic, client=client), dict[str, str]()
    done: dict[str, tuple[int, int | None]] = {}

    client.subscribe_topic(topic, lambda event: done.update({event[1][0]: event[1][1:]}))
    try:
        with bars:
            options = {"pure": False, "retries": TASK.tries - 1}
            submit = partial(client.submit, run_task, topic, apply, **options)
            futures = {label: submit(label, task) for label, task in tasks.items()}
            fire_and_forget(futures)  # they go on should this process die
            while len(outcomes) < len(tasks) and interrupt.asked < 2:
                bars.show(done)
                if interrupt.asked and not stop.is_set():
                    stop.set()
                    if not interrupt.quiet:
                        print_line(STOPPING)
                for label, future in futures.items():
                    if label not in outcomes and future.status != "pending":
                        outcomes[label] = _read_task_outcome(future)
                time.sleep(_POLL_SECONDS)
            bars.show(done, list(tasks))
    finally:  # whatever is raised here: nobody would wait for the tasks, or stop them
        if client.status == "running":
            client.unsubscribe_topic(topic)
            if len(outcomes) < len(tasks):
                stop.set()
    return dict.fromkeys(tasks, f"{_STOPPED}; its worker ends the calls in progress") | outcomes


def _read_task_outcome(future: Any) -> str:
    """Return the result of a task, or why it has none."""
    with suppress(OSError, CancelledError):  # gone before it was brought here
        if future.status == "finished":
            return str(future.result())
        if future.status == "error":
            error = future.exception()
            return f"the worker failed ({type(error).__name__}: {error})"
    return "the Dask cluster or the task was lost; a worker may still be running it"
