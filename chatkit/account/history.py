"""History: what was applied to your accounts: look at it, go on with it, take it back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from chatkit.account.fleet_plan import FleetPlan
from chatkit.api.connection import Connection, is_same_local_server, split_account
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
from chatkit.bulk.stores import find_run, find_run_stores, hide_password, list_runs, open_store
from chatkit.bulk.undo import make_undo_plan
from chatkit.client import Client, connect, get_plan_target, list_open_clients
from chatkit.errors import InputError, JournalError, SettingsError, get_first_line
from chatkit.imports import accessor
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

    store: JournalStore
    name: str  #: the whole name of the run
    home: JournalStore | None  #: the store, if it is not the default one of this user
    fleet: Mapping[str, KeptRun]  #: the runs of its accounts, if it is the run of a fleet


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
    place = hide_password(at)
    del at  # a traceback that prints variables must not find a password
    home = None if place is None else open_store(place)
    clients: list[Any] = []
    if client is not None:
        clients = [*client.values()] if isinstance(client, Mapping) else [client]
    if unsupported := [type(each).__name__ for each in clients if not hasattr(each, "connection")]:
        raise InputError(
            f"runs takes a client, as chatkit.connect() returns it, not {unsupported[0]}: "
            "without it the runs of all accounts are listed."
        )
    accounts = {each.connection.account for each in clients}
    kept = list_runs(
        home, lost=lambda error: print_line(f"{get_first_line(error)} Its runs are not shown.")
    )
    latest = sorted(kept, key=lambda kept: kept.run, reverse=True)
    listed = [run for run in map(_summarize_run, latest) if run is not None]
    _mark_undone(listed)
    if client is not None:
        listed = [r for r in listed if r["account"] in accounts or r["state"] == "damaged"]
    frame = rendering.make_runs_frame(listed)
    return rendering.ClickableFrame.of(frame, partial(_make_runs_widget, client, home))


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
    located = _find_run(run, home)
    plan = _make_resume_plan(located, client)
    with located.store.read(located.name) as kept:
        header, rows = kept.header, read_rows(kept)
    last = located.store.summary(located.name).last
    stopped = last.detail.get("reason", "") if last is not None and last.what == "stopped" else ""
    return plan, rendering.make_result_frame(rows, header.run, header.names, stopped)


def _make_resume_plan(
    located: _LocatedRun, client: _Clients, *, moved: bool = False
) -> Plan | FleetPlan:
    """Make the plan that a run began with: applied again, the run goes on.

    Raises:
        JournalError: No journal of it can be read.
    """
    store, name, home, fleet = located
    accounts = _account_names(fleet)

    def read(label: str, kept: Journal) -> Plan:
        target: Any = _LazyTarget(partial(_find_target, kept.header, client, accounts, moved=moved))
        return restore_plan(kept, target, fleet[label].store if fleet else store, home)

    if not fleet:
        with store.read(name) as kept:
            return read("", kept)
    plans, failed = _read_journals(fleet, read)
    return FleetPlan(plans, failed=failed, skip_invalid=True, run=_fleet_id(fleet))


class _LazyTarget:
    """The target of a run, whose account is only looked for when it is needed."""

    def __init__(self, find: Callable[[], PlanTarget]) -> None:
        self._find = find

    @cached_property
    def _target(self) -> PlanTarget:
        return self._find()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


def _mark_undone(latest: Sequence[dict[str, Any]]) -> None:
    """Mark the runs that others have taken back; the latest come first.

    A run that was taken back itself does not count.
    """
    undone: dict[str, list[dict[str, Any]]] = {}
    for run in latest:
        by = undone.get(run["run"], [])
        back = run["back"] = sum(one["applied"] - one["back"] for one in by)
        if back and run["state"] in ("finished", "open"):
            run["taken_back"] = max(one["ended"] or one["started"] for one in by)
            if run["state"] == "finished":
                whole = back >= run["applied"]
                run["state"] = "taken back" if whole else "partly taken back"
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
    place = hide_password(at)
    del at  # a traceback that prints variables must not find a password
    store, name, _, fleet = _find_run(run, place)
    if fleet:
        frames, failed = _read_journals(
            fleet, lambda _, kept: rendering.make_journal_frame(kept.events(), read_rows(kept))
        )
        for label, why in failed.items():
            print_line(f"{visible(label)}: {why}")
        return rendering.join_account_tables(frames)
    with store.read(name) as kept:
        return rendering.make_journal_frame(kept.events(), read_rows(kept))


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
        moved: Say that the client's account is the one of the run, although its service has
            another address now. A service on this machine that has only taken another port
            needs no more than its client.
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
    place = hide_password(at)
    del at  # a traceback that prints variables must not find a password
    located = _find_run(run, place)
    if located.fleet:
        _check_begun(located.fleet)
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
        **({"on": on} if located.fleet else {}),
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
    place = hide_password(at)
    del at  # a traceback that prints variables must not find a password
    store, name, home, fleet = _find_run(run, place)
    all_rows = 0 if isinstance(run, str) else rendering.get_result_row_count(run)
    if rows is None and len(run) < all_rows:
        raise InputError(
            f"This is {len(run):,} of {many(all_rows, 'row')} of the result: "
            "undo(result, rows=part.index) takes only these back, and undo(result) all of them."
        )
    if fleet:
        return _make_fleet_undo(
            fleet, client, rows, home, moved=moved, include_adopted=include_adopted
        )
    with store.read(name) as kept:
        header = kept.header
        label = header.fleet[1] if isinstance(client, Mapping) and header.fleet else None
        if label is not None and rows is not None:
            rows = _group_by_account(rows, [label]).get(label, [])
        only = None if rows is None else _find_row_numbers(kept, rows)
        target = _find_target(header, client, moved=moved)
        later = [*list_runs(home, lost=lambda _: None)]
        plan = set_journal_location(
            make_undo_plan(kept, target, include_adopted=include_adopted, only=only, later=later),
            home,
        )
    return plan if label is None else FleetPlan({label: plan})


# --- a run of a fleet -----------------------------------------------------------------


def _find_fleet_runs(name: str, at: At | None) -> dict[str, KeptRun]:
    """Find the runs that belong to the run of a fleet; return them by the name of the account.

    Args:
        name: The name of the run, or the beginning of it.
        at: Where the journals are.

    Returns:
        Those that can be read, in the order of the accounts; none if the name is that of one
        run, of none, or the beginning of others too.
    """
    homes, lost = find_run_stores(at)
    begins = {each for each in homes if name and each.startswith(name)}
    if name in begins or not begins:
        return {}
    parts: dict[tuple[str, str], KeptRun] = {}  # by the name of the run, and of the account
    kept_ones = list_runs(at, lost=lambda _: None)
    for kept in sorted(kept_ones, key=lambda kept: (len(kept.run), kept.run)):
        header = kept.header  # None of a damaged one: runs() lists it
        if kept.run in begins and header and header.fleet and header.fleet[0].startswith(name):
            parts[header.fleet] = kept
    fleets = {fleet for fleet, _ in parts}
    whole = len(fleets) == 1 and all(each.startswith(f"{min(fleets)}-") for each in begins)
    if not whole or (lost and fleets != {name}):
        return {}  # of several runs, `find_run` asks for more of the name
    return {label: kept for (_, label), kept in parts.items()}


def _fleet_id(parts: Mapping[str, KeptRun]) -> str:
    return parse_fleet_id(next(iter(parts.values())).run)


def _missing_journals(parts: Mapping[str, KeptRun]) -> dict[str, str]:
    """Return why the journals of accounts in the run of a fleet are gone or cannot be read.

    Returns:
        The reasons by account; by the name of its run where no journal names that.
    """
    fleet = _fleet_id(parts)
    stores = {kept.store.location: kept.store for kept in parts.values()}
    listed = {
        name for store in stores.values() for name in store.runs() if parse_fleet_id(name) == fleet
    }
    labels = next((kept.header.fleet_of for kept in parts.values() if kept.header), ())
    last = max(int(name.rpartition("-")[2]) for name in listed)
    names = [make_fleet_part_id(fleet, n + 1) for n in range(len(labels) or last)]
    read = {kept.run for kept in parts.values()}
    return {
        label: f"The journal of its run {name} {'cannot be read' if name in listed else 'is gone'}."
        for label, name in zip(labels or names, names, strict=True)
        if name not in read
    }


def _check_begun(parts: Mapping[str, KeptRun]) -> None:
    """Refuse to go on with a fleet whose journals were not all written: nothing was sent then.

    The first of them is written at last.

    Raises:
        JournalError: It is not there, and no account has begun.
    """
    fleet, kept = _fleet_id(parts), [*parts.values()]
    if not kept[0].store.has(make_fleet_part_id(fleet, 1)) and all(
        each.last is None for each in kept
    ):
        raise JournalError(
            f"The run {fleet} ended before its journals were complete, so nothing was sent, unless "
            "the journal of its first account was deleted since. Plan again from a fresh frame."
        )


def _read_journals(
    parts: Mapping[str, KeptRun],
    read: Callable[[str, Journal], T],
    labels: Collection[str] | None = None,
) -> tuple[dict[str, T], dict[str, str]]:
    """Read the journals of a fleet; return the results, and the reasons of failures, by account.

    Args:
        parts: The runs of a fleet.
        read: Reads one journal.
        labels: The accounts to read; None for all.

    Raises:
        JournalError: None can be read.
    """
    results, failed = dict[str, T](), _missing_journals(parts)
    if labels is not None:
        parts = {label: part for label, part in parts.items() if label in labels}
        failed = {label: why for label, why in failed.items() if label in labels}
    for n, (label, part) in enumerate(parts.items(), 1):
        try:
            with part.read() as kept:
                results[label] = read(label, kept)
        except SettingsError as error:
            failed[label] = get_first_line(error)
        except JournalError as error:
            if n == len(parts) and not results:
                raise
            failed[label] = get_first_line(error)
    return results, failed


def _account_names(parts: Mapping[str, KeptRun]) -> set[str]:
    return {each.header.account for each in parts.values() if each.header is not None}


def _make_fleet_undo(
    parts: Mapping[str, KeptRun],
    client: _Clients,
    rows: Iterable[Any] | None,
    home: JournalStore | None,
    *,
    moved: bool,
    include_adopted: bool,
) -> FleetPlan:
    """Make the plan that takes back the run of a fleet, in each account that can be found."""
    labels = dict.fromkeys([*parts, *_missing_journals(parts)])
    rows_of = labels if rows is None else _group_by_account(rows, labels)

    def read(label: str, kept: Journal) -> Plan:
        only = None if rows is None else _find_row_numbers(kept, rows_of[label] or ())
        target = _find_target(kept.header, client, _account_names(parts), moved=moved)
        return set_journal_location(
            make_undo_plan(kept, target, include_adopted=include_adopted, only=only), home
        )

    plans, failed = _read_journals(parts, read, rows_of)
    return FleetPlan(plans, failed=failed, skip_invalid=True)


def _group_by_account(rows: Iterable[Any], labels: Collection[str]) -> dict[str, list[Any]]:
    """Group labels of the result of a fleet by account.

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


def _pick_client(
    client: _Clients,
    header: RunHeader,
    accounts: Collection[str],
    *,
    moved: bool,
) -> Client | None:
    """Pick the client of a run from those that were passed for a fleet.

    It is the one of its account, under any name. Where there is none, it is the one under the
    name that the account had: the address may have changed.

    Raises:
        SettingsError: Several were passed, and the run is not of a fleet. Or the one of that name
            is another account, and others show that the account of the run has not moved there.
    """
    if client is None or isinstance(client, Client):
        return client
    for each in client.values():
        if each.connection.account == header.account:
            return each
    if header.fleet is None:
        raise SettingsError("This is the run of one account: pass the client of that account.")
    label = header.fleet[1]
    if label not in client:
        return None
    to = client[label].connection.account
    was, _ = split_account(header.account)
    left = [n for n, c in client.items() if split_account(c.connection.account)[0] == was]
    if to in accounts or (left and not moved):
        why = "another run belongs to it" if to in accounts else f"{left[0]} is where that was"
        raise SettingsError(
            f"The run of {label} belongs to {header.account}, and the {label} that was passed is "
            f"{to}, which is another account: {why}. Pass the client of the first as {label!r}."
        )
    return client[label]


def _find_row_numbers(kept: Journal, labels: Iterable[Any]) -> set[int]:
    """Find the numbers of the rows of a run with these labels.

    Raises:
        InputError: There are no labels, or it has no such row.
    """
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise InputError(f"rows= takes a list of labels, like rows=[{labels!r:.60}].")
    asked = dict.fromkeys(labels)
    places: dict[Any, list[int]] = {}
    for n, change in enumerate(kept.changes()):
        places.setdefault(change.row, []).append(n)
    if unknown := [label for label in asked if label not in places]:
        some = ", ".join(f"{label!r:.60}" for label in unknown[:5])
        rest = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        raise InputError(
            f"The run has no row {some}{rest}: rows= takes labels of the index of its result."
        )
    return {n for label in asked for n in places[label]}


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
    place = hide_password(at)
    del at  # a traceback that prints variables must not find a password
    if not days >= 0:
        raise InputError(f"days= must be 0 or more, not {days!r:.40}.")
    store, named = open_store(place), set(runs)
    parts = {each for each in store.runs() if named and parse_fleet_id(each) in named}
    return prune_journals(store, days=days, runs=named | parts)


def _find_run(run: str | pd.DataFrame, at: At | None) -> _LocatedRun:
    """Find the journal of a run by its name or its result, or those of the run of a fleet."""
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
    home = None if at is None else open_store(at)
    if fleet := _find_fleet_runs(name, home):
        first = next(iter(fleet.values()))
        return _LocatedRun(first.store, first.run, home, fleet)
    return _LocatedRun(*find_run(name, home), home, {})


def _find_target(
    header: RunHeader,
    client: _Clients,
    accounts: Collection[str] = (),
    *,
    moved: bool,
) -> PlanTarget:
    """Find the account of a run: the client that was passed, one that is open, or a new one.

    Args:
        header: The header of the run.
        client: The client that was passed.
        moved: Whether the caller confirms that the account has another address now.
        accounts: The accounts of all runs of its fleet.
    """
    client = _pick_client(client, header, accounts, moved=moved)
    passed = client is not None
    opened = next((c for c in list_open_clients() if c.connection.account == header.account), None)
    client = client or opened
    if client is None and header.connection is not None:
        with suppress(SettingsError):  # said below, with what to do
            client = connect(None if header.connection == "environment" else header.connection)
    if client is None:
        raise SettingsError(f"This run belongs to {header.account}: pass its client.")
    if client.connection.account != header.account:
        confirmed = passed and (moved or None)
        _check_moved_account(header, client.connection, opened, confirmed=confirmed)
    try:
        return get_plan_target(client, header.noun)
    except KeyError:
        raise JournalError(
            f"The journal of run {header.run} is of {header.noun!r:.40}, which this version of "
            "chatkit does not know: use the version that wrote it."
        ) from None


def _check_moved_account(
    header: RunHeader, to: Connection, opened: Client | None, *, confirmed: bool | None
) -> None:
    """Refuse to go on at another address unless the person says that it is the same account.

    Two services may have accounts of one id, and then a run would land among the data of
    strangers. So passing the client is enough only where the port of a service on this machine
    has changed, and no client of the old address is open; else `moved=True` must say it.

    Args:
        header: The header of the run.
        to: The account of the client.
        opened: The client of the old address that is open: then both services are there.
        confirmed: True with `moved=True`, None without it, False if no client was passed.

    Raises:
        SettingsError: It is another account, or nobody has said that it is the same.
    """
    (was, account_id), (where, _) = split_account(header.account), split_account(to.account)
    if account_id != to.account_id or to.passing:
        raise SettingsError(
            f"This run belongs to {header.account}, not {to.account}: pass its client."
        )
    if confirmed is False:
        raise SettingsError(
            f"This run belongs to {header.account}, and {to.name} is {to.account} now: if that "
            "is the same account, pass its client and moved=True."
        )
    if not confirmed and (opened is not None or not is_same_local_server(was, where)):
        raise SettingsError(
            f"This run belongs to {header.account}, and this client is of {to.account}: the "
            "same account id at another address. If it is the same account of the same "
            "service, pass moved=True; if it is another service, pass the client of the first."
        )
    print_line(f"This run was applied at {was}. It is continued at {where}, account {account_id}.")


def _summarize_run(kept: KeptRun) -> dict[str, Any] | None:
    """Sum up a run as a row of `runs()`, a damaged one too.

    None for one that another process has deleted since they were listed.
    """
    header, last = kept.header, kept.last
    counts = {} if last is None else last.detail.get("counts", {})
    reason = ""
    if header is None or not counts:  # it is damaged, or did not come to its end
        try:
            with kept.read() as whole:
                counts = count_states(read_rows(whole))
        except JournalError as error:
            if not kept.store.has(kept.run):
                return None
            header, reason = None, get_first_line(error)
    summary = dict.fromkeys(("connection", "account", "noun", "undoes"), "") | {
        "run": kept.run, "started": None, "ended": None, "changes": 0, "applied": 0,
        "state": "damaged", "reason": reason,
    }  # fmt: skip
    if header is not None:
        done = is_finished(last)
        summary |= {
            "started": header.started,
            "ended": last.at if last is not None and done else None,
            "connection": header.fleet[1] if header.fleet else header.connection or "",
            "account": header.account,
            "noun": header.noun,
            "changes": header.changes,
            "applied": counts.get("applied", 0) + counts.get("differs", 0),
            "unknown": counts.get("unknown", 0),
            "not_sent": counts.get("not sent", 0),
            "state": "finished" if done else "open",
            "undoes": header.undoes or "",
        }
    return summary
