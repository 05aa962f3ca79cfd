"""History: what was applied to your accounts: look at it, go on with it, take it back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

from chatkit.account.fleet_plan import FleetPlan
from chatkit.api.connection import split_account
from chatkit.bulk import rendering
from chatkit.bulk.apply import PlanTarget
from chatkit.bulk.journal import At, Journal, JournalStore, KeptRun, RunHeader, is_finished
from chatkit.bulk.outcomes import count_states, read_rows
from chatkit.bulk.plan import (
    Plan,
    make_fleet_part_id,
    parse_fleet_id,
    restore_plan,
    set_journal_location,
)
from chatkit.bulk.stores import delete_journals as prune_journals
from chatkit.bulk.stores import find_run, hide_password, list_runs, open_store
from chatkit.bulk.undo import make_undo_plan
from chatkit.client import Client, connect, get_plan_target, list_open_clients
from chatkit.errors import InputError, JournalError, SettingsError, get_first_line
from chatkit.imports import accessor
from chatkit.localization.content import shorten_list
from chatkit.util.display import many, visible
from chatkit.util.progress import print_line

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.widgets.runsview import RunsView

T = TypeVar("T")
#: The client of a run, or of a fleet those by which its accounts are looked for.
_Clients: TypeAlias = "Client | Mapping[str, Client] | None"


class _LocatedRun(NamedTuple):
    """The journal of a run, or those of the run of a fleet."""

    name: str  #: the whole name of the run
    home: JournalStore | None  #: the store, if it is not the default one of this user
    parts: Mapping[str, KeptRun]  #: the runs of a fleet by account; else one without a name

    @property
    def is_fleet(self) -> bool:
        """Return whether it is the run of a fleet."""
        return "" not in self.parts

    def explain_missing_journals(self) -> dict[str, str]:
        """Return the accounts of a fleet's run without a readable journal, each with the reason."""
        if not self.is_fleet:
            return {}
        stores = {kept.store.location: kept.store for kept in self.parts.values()}
        names = [name for store in stores.values() for name in store.runs()]
        listed = {name for name in names if parse_fleet_id(name) == self.name}
        labels = next(kept.header.fleet_of for kept in self.parts.values() if kept.header)
        runs = [make_fleet_part_id(self.name, n + 1) for n in range(len(labels))]
        read = {kept.run for kept in self.parts.values()}
        states = {run: "cannot be read" if run in listed else "is gone" for run in runs}
        return {
            label: f"The journal of its run {run} {states[run]}."
            for label, run in zip(labels, runs, strict=True)
            if run not in read
        }

    def read_journals(
        self, read: Callable[[str, Journal], T], labels: Collection[str] | None = None
    ) -> tuple[dict[str, T], dict[str, str]]:
        """Read the journals; return the results, and the reasons of failures, by account.

        Args:
            read: Reads the journal of one account.
            labels: The accounts to read; None for all.

        Raises:
            JournalError: None can be read.
            SettingsError: It is the run of one account, which cannot be opened.
        """
        results, failed = dict[str, T](), self.explain_missing_journals()
        parts = {n: part for n, part in self.parts.items() if labels is None or n in labels}
        failed = {n: why for n, why in failed.items() if labels is None or n in labels}
        for n, (label, part) in enumerate(parts.items(), 1):
            try:
                with part.read() as opened:
                    results[label] = read(label, opened)
            except (JournalError, SettingsError) as error:
                unopened = self.is_fleet and isinstance(error, SettingsError)
                if n == len(parts) and not results and not unopened:
                    raise
                failed[label] = get_first_line(error)
        return results, failed


def runs(
    client: Client | Mapping[str, Client] | None = None, *, at: str | Path | None = None
) -> pd.DataFrame:
    """List the runs of this machine, or of another home of journals, indexed by run.

    The latest come first.

    The columns are `started` and `ended` (UTC; an open run has not ended), `connection` (its
    name, if it has one; of a fleet what that calls the account), `account`, `noun` (contact,
    flow, content, webhook, or account for a run over several of them), `changes` (how many rows),
    `applied`, `unknown` and `not_sent` (how many of them), `state`, `undoes` (the run that it took
    back), `taken_back` (when it was taken back itself, UTC) and `reason` (why its journal cannot be
    read). The state is one of "finished", "open" (`resume` goes on with it), "taken back", "partly
    taken back" and "damaged".

    In a notebook the frame shows itself as a table to click: to open a run with all of its rows,
    to go on with it, to take it or some rows of it back, to see what is in doubt; the runs of the
    accounts of a fleet are one run there. Whatever you make of the frame is a frame as any other.

    Args:
        client: Only the runs of its account, or of the accounts of a fleet, and those whose
            account a damaged journal does not name.
        at: Where the journals lie, as for `plan.apply`: the address of a PostgreSQL database, or
            a folder; without it CHATKIT_RUNS, else your own data folder.

    Raises:
        InputError: `client` is not a client.
        JournalError: They cannot be listed. Where only one of several homes cannot be reached, that
            is said, and the runs of the others are listed.

    >>> result = client.contacts.plan([{"id": 50002, "name": "Ana Cruz"}]).apply()
    >>> chatkit.runs(client).state.tolist()
    ['finished']
    """
    location = hide_password(at)
    del at  # a traceback that prints variables must not find a password
    store = None if location is None else open_store(location)
    clients: list[Any] = []
    if client is not None:
        clients = [*client.values()] if isinstance(client, Mapping) else [client]
    if unsupported := [type(each).__name__ for each in clients if not hasattr(each, "connection")]:
        raise InputError(
            f"runs takes a client, as chatkit.connect() returns it, not {unsupported[0]}: "
            "without it the runs of all accounts are listed."
        )
    accounts = {each.connection.account for each in clients}
    all_runs = list_runs(
        store, lost=lambda error: print_line(f"{get_first_line(error)} Its runs are not shown.")
    )
    latest = sorted(all_runs, key=lambda kept_run: kept_run.run, reverse=True)
    listed = [run for run in map(_summarize_run, latest) if run is not None]
    _mark_undone_runs(listed)
    if client is not None:
        listed = [r for r in listed if r["account"] in accounts or r["state"] == "damaged"]
    frame = rendering.make_runs_frame(listed)
    return rendering.ClickableFrame.of(frame, partial(_make_runs_widget, client, store))


def _make_runs_widget(
    client: _Clients, home: JournalStore | None, frame: pd.DataFrame
) -> RunsView | None:
    """Make the widget of a frame of runs; None where widgets are not installed."""
    try:
        from chatkit.widgets.runsview import RunsView
    except ImportError:
        return None
    accessor.register()
    reread = partial(runs, client, at=home)  # type: ignore[arg-type]  # a store is taken too
    return RunsView(frame, reread, partial(_open_run, client, home))


def _open_run(
    client: _Clients, home: JournalStore | None, run: str
) -> tuple[Plan | FleetPlan, pd.DataFrame]:
    """Read the plan of a run and its result so far from its journal.

    Its account is looked for only when something is sent or taken back.
    """
    located = _locate_run(run, home)
    plan = _make_resume_plan(located, client)
    part = next(iter(located.parts.values()))
    with part.read() as opened:
        header, rows = opened.header, read_rows(opened)
    last = part.last
    stopped = last.detail.get("reason", "") if last is not None and last.what == "stopped" else ""
    return plan, rendering.make_result_frame(rows, header.run, header.names, stopped)


def _make_resume_plan(
    located: _LocatedRun, client: _Clients, *, moved: bool = False
) -> Plan | FleetPlan:
    """Make the plan of a run from its journal; applied again, it resumes the run.

    Raises:
        JournalError: No journal of it can be read.
    """

    def make_plan(label: str, opened: Journal) -> Plan:
        """Make the plan of one account from its journal."""
        find = partial(_find_run_target, opened.header, client, moved=moved)
        target = cast("PlanTarget", _LazyPlanTarget(find))
        return restore_plan(opened, target, located.parts[label].store, located.home)

    plans, failed = located.read_journals(make_plan)
    if not located.is_fleet:
        return plans[""]
    return FleetPlan(plans, failed=failed, skip_invalid=True, run=located.name)


class _LazyPlanTarget:
    """The target of a run, whose account is found at the first access to an attribute."""

    def __init__(self, find: Callable[[], PlanTarget]) -> None:
        self._find = find

    @cached_property
    def _target(self) -> PlanTarget:
        """The target, found at the first access."""
        return self._find()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


def _mark_undone_runs(latest: Sequence[dict[str, Any]]) -> None:
    """Mark the runs that later runs have taken back, in a list with the latest first.

    A run that was taken back itself does not count.
    """
    undone: dict[str, list[dict[str, Any]]] = {}
    for run in latest:
        undo_runs = undone.get(run["run"], [])
        undone_rows = run["back"] = sum(each["applied"] - each["back"] for each in undo_runs)
        if undone_rows and run["state"] in ("finished", "open"):
            run["taken_back"] = max(each["ended"] or each["started"] for each in undo_runs)
            if run["state"] == "finished":
                complete = undone_rows >= run["applied"]
                run["state"] = "taken back" if complete else "partly taken back"
        if run["undoes"] and run["state"] not in ("taken back", "damaged"):
            undone.setdefault(run["undoes"], []).append(run)


def journal(run: str | pd.DataFrame, *, at: str | Path | None = None) -> pd.DataFrame:
    """Return the events of a run, in order: intents, answers, unknown outcomes and the rest.

    The columns are `at` (UTC), `row` (its label in the plan), `change`, `label`, `event`,
    `reason` and `detail`. Events of the run itself have no row.

    Args:
        run: Its name, as `runs()` shows it (the beginning is enough), or a result.
        at: Where its journal lies, as for `runs`. A result knows that.

    Raises:
        JournalError: There is no such run, or its journal is damaged.

    >>> result = client.contacts.plan([{"id": 50003, "name": "Ana Cruz"}]).apply()
    >>> chatkit.account.journal(result).event.tolist()
    ['started', 'intent', 'answered', 'verified', 'finished']
    """
    location = hide_password(at)
    del at  # a traceback that prints variables must not find a password
    located = _locate_run(run, location)
    frames, failed = located.read_journals(
        lambda _, opened: rendering.make_journal_frame(opened.events(), read_rows(opened))
    )
    for label, reason in failed.items():
        print_line(f"{visible(label)}: {reason}")
    return rendering.join_account_tables(frames) if located.is_fleet else frames[""]


def resume(
    run: str | pd.DataFrame,
    client: Client | Mapping[str, Client] | None = None,
    *,
    concurrency: int = 8,
    rate: float | None = None,
    moved: bool = False,
    secrets: dict[Any, Any] | None = None,
    on: Any = None,
    at: str | Path | None = None,
) -> pd.DataFrame:
    """Go on with a run that was interrupted, and return what is true of all its rows.

    What was in doubt is looked at first; what was not sent is sent. Neither frame nor plan
    need be in memory: a fresh kernel will do. A finished run sends nothing. What takes more
    than a minute is told beforehand, as `plan.apply` does.

    A run of a fleet goes on in all of its accounts at once, as it was applied: `run` is what the
    names of their runs begin with.

    Args:
        run: Its name, as `runs()` shows it (the beginning is enough), or a result.
        client: Its account; needed if the run's connection has no name and is not open here. Of
            a fleet: the fleet, or clients by what it calls its accounts. Each run finds its own
            account among them, also under another name; the result keeps the names of the run.
        concurrency: Calls under way at once.
        rate: Calls a second at most; without it as many as it was applied with. `math.inf` lifts
            that.
        moved: Say that the account of the one client that is passed is that of the run, although
            its service has another address now.
        secrets: Takes the signing secrets of the webhooks that it creates, by id (of a fleet by
            account and id): the service never shows them again.
        on: Of a fleet: the workers that go on with it, as for the `apply` of its plan.
        at: Where its journal lies, as for `runs`. A result knows that.

    Raises:
        InputError: `on` is given for the run of one account, or cannot be used.
        JournalError: There is no such run, or its journal is damaged.
        AccountBusy: Another kernel is changing this account.
        SettingsError: The account cannot be found: pass its client.

    >>> result = client.contacts.plan([{"id": 50004, "name": "Ana Cruz"}]).apply()
    >>> chatkit.resume(result).state.tolist()
    This plan was already applied: nothing is sent again.
    ['applied']
    """
    accessor.register()
    location = hide_password(at)
    del at  # a traceback that prints variables must not find a password
    located = _locate_run(run, location)
    if located.is_fleet:
        _check_fleet_started(located)
    elif on is not None:
        raise InputError(
            f"on= goes on with the run of a fleet, and {located.name} is the run of one account, "
            "which needs no more than this process: leave on= out."
        )
    plan = _make_resume_plan(located, client, moved=moved)
    result = plan.apply(
        concurrency=concurrency,
        rate=rate,
        many=True,
        irreversible=True,
        **({"on": on} if located.is_fleet else {}),
    )
    if secrets is not None:
        secrets.update(plan.secrets)
    return result


def undo(
    run: str | pd.DataFrame,
    client: Client | Mapping[str, Client] | None = None,
    *,
    rows: Iterable[Any] | None = None,
    include_adopted: bool = False,
    moved: bool = False,
    at: str | Path | None = None,
) -> Plan | FleetPlan:
    """Make the plan that takes a run back. Nothing happens until you apply it.

    Its last rows come first. A row that somebody has changed since is a conflict when the
    plan is applied, and stays as it is. What cannot be taken back is in `plan.refused`.

    Args:
        run: Its name, as `runs()` shows it (the beginning is enough), or a result.
        client: Its account; needed if the run's connection has no name and is not open here.
        rows: The labels of the rows to take back, as in the index of the result; without it all
            of them. `result.index[result.change == "delete"]` are those that it deleted.
        include_adopted: Delete also what was found after a lost answer to a create: it looks
            like ours, but somebody else may have made it at the same time.
        moved: As for `resume`.
        at: Where its journal lies, as for `runs`; that of the undo is kept there too. A result
            knows it.

    Raises:
        InputError: The run has no row of such a label, or `run` is a part of a result.
        JournalError: There is no such run, or its journal is damaged.
        SettingsError: The account cannot be found: pass its client.

    >>> result = client.contacts.plan([{"id": 50005, "name": "Ana Cruz"}]).apply()
    >>> chatkit.undo(result).apply().state.tolist()
    ['applied']
    """
    accessor.register()
    location = hide_password(at)
    del at  # a traceback that prints variables must not find a password
    located = _locate_run(run, location)
    all_rows = 0 if isinstance(run, str) else rendering.get_result_row_count(run)
    if rows is None and len(run) < all_rows:
        raise InputError(
            f"This is {len(run):,} of {many(all_rows, 'row')} of the result: "
            "undo(result, rows=part.index) takes only these back, and undo(result) all of them."
        )
    rows_of: dict[str, Any] = dict.fromkeys([*located.parts, *located.explain_missing_journals()])
    if rows is not None:
        rows_of = _group_by_account(rows, rows_of) if located.is_fleet else {"": rows}
    later = [*list_runs(located.home, lost=lambda _: None)]

    def make_plan(label: str, opened: Journal) -> Plan:
        """Make the undo plan of one account from its journal."""
        only = None if rows is None else _find_row_numbers(opened, rows_of[label])
        target = _find_run_target(opened.header, client, moved=moved)
        plan = make_undo_plan(
            opened, target, include_adopted=include_adopted, only=only, later=later
        )
        return set_journal_location(plan, located.home)

    plans, failed = located.read_journals(make_plan, rows_of)
    if not located.is_fleet:
        return plans[""]
    return FleetPlan(plans, failed=failed, skip_invalid=True)


# --- a run of a fleet -----------------------------------------------------------------


def _find_fleet_runs(name: str, at: At | None) -> dict[str, KeptRun]:
    """Find the runs of the accounts in a fleet's run; return them by account.

    Args:
        name: The name of the run, or the beginning of it.
        at: Where the journals are.

    Returns:
        Those that can be read, in the order of the accounts; none if the name is that of one
        run, of none, or the beginning of others too.
    """
    lost: list[JournalError] = []
    homes = {kept.run: kept for kept in list_runs(at, lost.append)}
    fleets = {parse_fleet_id(each) for each in homes if name and each.startswith(name)}
    fleet = next(iter(fleets), "")
    if name in homes or len(fleets) != 1 or not fleet.startswith(name) or (lost and fleet != name):
        return {}  # of one run, or of several: `find_run` asks for more of the name then
    parts = [kept for run, kept in homes.items() if run.startswith(f"{fleet}-")]
    parts.sort(key=lambda kept: (len(kept.run), kept.run))
    # a damaged journal has no header: runs() lists it
    return {kept.header.fleet[1]: kept for kept in parts if kept.header and kept.header.fleet}


def _check_fleet_started(located: _LocatedRun) -> None:
    """Refuse to resume the run of a fleet that ended before all its journals were written.

    The first of them is written at last.

    Raises:
        JournalError: It is not there, and no account has begun.
    """
    known = [*located.parts.values()]
    if not known[0].store.has(make_fleet_part_id(located.name, 1)) and all(
        each.last is None for each in known
    ):
        raise JournalError(
            f"The run {located.name} ended before its journals were complete, so nothing was sent, "
            "unless the journal of its first account was deleted since. Plan again from a fresh "
            "frame."
        )


def _group_by_account(rows: Iterable[Any], labels: Collection[str]) -> dict[str, list[Any]]:
    """Group row labels of a fleet's result by account.

    Raises:
        InputError: They are no such labels.
    """
    parts: dict[str, list[Any]] = {}
    for row in [rows] if isinstance(rows, str | bytes) else rows:
        if not isinstance(row, tuple) or len(row) < 2 or row[0] not in labels:
            raise InputError(
                f"The run has no row {row!r:.60}: rows= takes labels of the index of its result, "
                f"which begin with an account, like ({next(iter(labels))!r}, 1)."
            )
        parts.setdefault(row[0], []).append(row[1] if len(row) == 2 else row[1:])
    return parts


def _find_row_numbers(opened: Journal, labels: Iterable[Any]) -> set[int]:
    """Return the numbers of the rows of a run that have these labels.

    Raises:
        InputError: There are no labels, or it has no such row.
    """
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise InputError(f"rows= takes a list of labels, like rows=[{labels!r:.60}].")
    asked = dict.fromkeys(labels)
    numbers: dict[Any, list[int]] = {}
    for n, change in enumerate(opened.changes()):
        numbers.setdefault(change.row, []).append(n)
    if unknown := [label for label in asked if label not in numbers]:
        listed = shorten_list([f"{label!r:.60}" for label in unknown], 5)
        raise InputError(
            f"The run has no row {listed}: rows= takes labels of the index of its result."
        )
    return {n for label in asked for n in numbers[label]}


def prune(
    days: float = 90, *, runs: Collection[str] = (), at: str | Path | None = None
) -> list[str]:
    """Delete the journals of finished runs that are older than so many days.

    A journal goes as a whole or not at all. One that is still open stays, unless you name it:
    without it nobody can find out what landed.

    Args:
        days: How old a finished run must be.
        runs: Names of runs to delete in any case; that of a fleet's run stands for those of all
            its accounts.
        at: Where the journals lie, as for `runs`.

    Returns:
        The names of the runs that are gone: they can no longer be resumed or undone.

    Raises:
        InputError: It is below 0.

    >>> chatkit.account.prune(days=36_500)
    []
    """
    location = hide_password(at)
    del at  # a traceback that prints variables must not find a password
    if not days >= 0:
        raise InputError(f"days= must be 0 or more, not {days!r:.40}.")
    store, named = open_store(location), set(runs)
    parts = {each for each in store.runs() if named and parse_fleet_id(each) in named}
    return prune_journals(store, days=days, runs=named | parts)


def _locate_run(run: str | pd.DataFrame, at: At | None) -> _LocatedRun:
    """Find the journal of a run, or the journals of a fleet's run, by its name or result."""
    name = run if isinstance(run, str) else None
    if not isinstance(run, str):
        name = rendering.get_result_run(run) if hasattr(run, "attrs") else None
        at = rendering.get_result_store(run) if name and at is None else at
    if name is None:
        raise InputError(
            "This takes the name of a run or the result of plan.apply(), not "
            f"{'another ' if hasattr(run, 'attrs') else ''}{type(run).__name__}. "
            "chatkit.runs() lists the runs."
        )
    chosen = None if at is None else open_store(at)
    if fleet := _find_fleet_runs(name, chosen):
        return _LocatedRun(parse_fleet_id(next(iter(fleet.values())).run), chosen, fleet)
    kept = find_run(name, chosen)
    return _LocatedRun(kept.run, chosen, {"": kept})


def _find_run_target(header: RunHeader, client: _Clients, *, moved: bool) -> PlanTarget:
    """Find the account of a run: by a passed client, an open one, or its named connection.

    Two services may have accounts of one id, and then a run would land among the data of
    strangers: at another address it goes on only with its client and `moved=True`.

    Args:
        header: The header of the run.
        client: The client that was passed, or those of a fleet.
        moved: Whether the caller confirms that the account has another address now.

    Raises:
        SettingsError: It is another account, or nobody has said that it is the same.
        JournalError: This version of chatkit does not know its records.
    """
    if isinstance(client, Client):
        chosen: Client | None = client
    else:
        known = [*(client.values() if client else ()), *list_open_clients()]
        matches = (each for each in known if each.connection.account == header.account)
        chosen = next(matches, None)
    if chosen is None and header.connection is not None:
        with suppress(SettingsError):  # said below, with what to do
            chosen = connect(None if header.connection == "environment" else header.connection)
    if chosen is None:
        raise SettingsError(f"This run belongs to {header.account}: pass its client.")
    old, account_id = split_account(header.account)
    connection = chosen.connection
    if connection.account != header.account:
        if account_id != connection.account_id or connection.passing:
            raise SettingsError(
                f"This run belongs to {header.account}, not {connection.account}: pass its client."
            )
        if chosen is not client or not moved:
            raise SettingsError(
                f"This run belongs to {header.account}, and this client is of "
                f"{connection.account}: the same account id at another address. If it is the same "
                "account of the same service, pass its client and moved=True; if it is another "
                "service, pass the client of the first."
            )
        new, _ = split_account(connection.account)
        print_line(
            f"This run was applied at {old}. It is continued at {new}, account {account_id}."
        )
    try:
        return get_plan_target(chosen, header.noun)
    except KeyError:
        raise JournalError(
            f"The journal of run {header.run} is of {header.noun!r:.40}, which this version of "
            "chatkit does not know: use the version that wrote it."
        ) from None


def _summarize_run(kept_run: KeptRun) -> dict[str, Any] | None:
    """Summarize a run as a row of `runs()`, also a damaged one.

    None for one that another process has deleted since they were listed.
    """
    header, last = kept_run.header, kept_run.last
    counts = {} if last is None else last.detail.get("counts", {})
    reason = ""
    if header is None or not counts:  # it is damaged, or did not come to its end
        try:
            with kept_run.read() as opened:
                counts = count_states(read_rows(opened))
        except JournalError as error:
            if not kept_run.store.has(kept_run.run):
                return None
            header, reason = None, get_first_line(error)
    summary = dict.fromkeys(("connection", "account", "noun", "undoes"), "") | {
        "run": kept_run.run, "started": None, "ended": None, "changes": 0, "applied": 0,
        "state": "damaged", "reason": reason,
    }  # fmt: skip
    if header is not None:
        finished = is_finished(last)
        summary |= {
            "started": header.started,
            "ended": last.at if last is not None and finished else None,
            "connection": header.fleet[1] if header.fleet else header.connection or "",
            "account": header.account,
            "noun": header.noun,
            "changes": header.changes,
            "applied": counts.get("applied", 0) + counts.get("differs", 0),
            "unknown": counts.get("unknown", 0),
            "not_sent": counts.get("not sent", 0),
            "state": "finished" if finished else "open",
            "undoes": header.undoes or "",
        }
    return summary
