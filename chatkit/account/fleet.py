"""Fleet: read, check, plan, apply and undo several accounts together.

Each account keeps its own client, limits and journals, and is worked on by a thread of its own.
What stops one of them never stops the others: it is said, and stands in `attrs["stops"]` of what
was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from chatkit import errors, settings
from chatkit.account.fleet_plan import FleetPlan, load_fleet_plan, run_in_threads
from chatkit.api.connection import describe_account
from chatkit.bulk import rendering
from chatkit.bulk.stores import list_unfinished_runs
from chatkit.client import Client, get_resource, open_client
from chatkit.frames.snapshot import read_origins_of_parts, write_part_origins
from chatkit.imports import accessor
from chatkit.localization.content import shorten_list
from chatkit.report import FEW, Report, ReportPart, headline, table
from chatkit.util.display import many, visible
from chatkit.util.progress import print_line

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

    from chatkit.sandbox import Sandbox

T = TypeVar("T")

#: The level of an index, and the column, that names accounts.
ACCOUNT = "account"


def connect_all(accounts: str | Iterable[str] | Mapping[str, str | Client | Sandbox]) -> Fleet:
    """Open several accounts as one fleet, and print their names and whether they are live.

    An account that cannot be opened is named with the reason, and the others open. Nothing is
    sent yet: a token that was revoked is refused with the first call, of that account alone. The
    fleet shows it from then on, and `fleet.doctor()` asks all accounts at once.

    Args:
        accounts: Names of connections kept by `chatkit login NAME`, in which * and ? stand for
            any letters ("agency-*"); or what each account is to be called, with the name of its
            connection, a `Client` or a `Sandbox`. Each has its own token: CHATKIT_TOKEN is used
            for one alone.

    Raises:
        SettingsError: None of them can be opened, or two are the same account.
        TypeError: It is neither names nor accounts by what they are called.

    >>> fleet = chatkit.connect_all({n: chatkit.Sandbox(seed="demo") for n in ("de", "fr")})
    Opened 2 accounts, of the sandbox: de, fr.
    >>> list(fleet)
    ['de', 'fr']
    >>> fleet.close()
    """
    named: Mapping[str, Any]
    if isinstance(accounts, Mapping):
        named = accounts
    else:
        several = isinstance(accounts, Iterable) and not isinstance(accounts, str)
        patterns: Iterable[Any] = accounts if several else [accounts]
        named = {name: name for pattern in patterns for name in _match_connection_names(pattern)}
    if not named:
        raise errors.SettingsError("No account is named: connect_all takes names of connections.")
    opened: dict[str, Client] = {}
    failed: dict[str, str] = {}
    with ExitStack() as closes:
        for label, target in named.items():
            try:
                client = (
                    target
                    if isinstance(target, Client)
                    else open_client(target, one_of_several=len(named) > 1)
                )
            except errors.SettingsError as error:
                failed[label] = " ".join(str(error).split())
                continue
            opened[label] = client
            if client is not target:
                closes.enter_context(client)
        if not opened:
            reasons = "\n".join(f"  {label}: {reason}" for label, reason in failed.items())
            raise errors.SettingsError(f"None of the accounts can be opened:\n{reasons}")
        labels: dict[str, str] = {}
        for label, client in opened.items():
            account = client.connection.account
            if (first_label := labels.setdefault(account, label)) != label:
                raise errors.SettingsError(
                    f"{first_label!r} and {label!r} are the same account ({account}): name it once."
                )
        _print_opened_accounts(opened, failed)
        return Fleet(opened, failed, closes.pop_all())


def _match_connection_names(pattern: Any) -> list[str]:
    """Return the names of connections that match a pattern; a plain name matches itself.

    Raises:
        SettingsError: No connection has such a name.
        TypeError: It is no text.
    """
    if not isinstance(pattern, str):
        raise TypeError(
            "connect_all takes names of connections ('agency-*', or ['de', 'fr']), or accounts "
            "by what they are to be called ({'de': client, 'fr': 'agency-fr'}), not "
            f"{type(pattern).__name__}"
        )
    if not {"*", "?", "["} & {*pattern}:
        return [pattern]
    names = settings.names()
    if matches := [name for name in names if fnmatchcase(name, pattern)]:
        return matches
    raise errors.SettingsError(
        f"No connection is called like {pattern!r}. Those kept are: {', '.join(names) or 'none'}."
    )


def _print_opened_accounts(opened: Mapping[str, Client], failed: Mapping[str, str]) -> None:
    """Print which accounts were opened, which not, and whether runs were interrupted there."""
    kinds = {
        "of the sandbox" if client.connection.sandbox is not None
        else "on this machine" if client.connection.loopback
        else "live data"
        for client in opened.values()
    }  # fmt: skip
    kind = " and ".join(sorted(kinds))
    named = shorten_list([*map(visible, opened)], FEW)
    print_line(f"Opened {many(len(opened), 'account')}, {kind}: {named}.")
    for label, reason in failed.items():
        print_line(f"Not opened: {visible(label)}: {reason}")
    kept_accounts = {
        client.connection.account for client in opened.values() if not client.connection.passing
    }
    try:
        interrupted = len(list_unfinished_runs(kept_accounts)) if kept_accounts else 0
    except (errors.JournalError, errors.InputError) as error:  # accounts are read without journals
        print_line(str(error))
        return
    if interrupted:
        print_line(
            f"{many(interrupted, 'run')} of these accounts did not come to an end: chatkit.runs() "
            "shows them, chatkit.resume(run) goes on."
        )


# --- the fleet ------------------------------------------------------------------------


class Fleet(Report, Mapping[str, Client]):
    """Several accounts: `contacts`, `flows`, `templates` and `webhooks` of all of them at once.

    `fleet["de"]` is the client of one account. What is read is indexed by account first; an
    edited frame becomes one plan, with a run and an undo of all accounts.

    Args:
        clients: The accounts, by what they are called.
        failed: Accounts that could not be opened, and why.
        closes: Closed with the fleet; without it nothing is.

    >>> fleet = chatkit.connect_all({n: chatkit.Sandbox(seed="demo") for n in ("de", "fr")})
    Opened 2 accounts, of the sandbox: de, fr.
    >>> fleet.contacts.frame().index.names
    FrozenList(['account', 'id'])
    >>> fleet.close()
    """

    def __init__(
        self,
        clients: Mapping[str, Client],
        failed: Mapping[str, str] | None = None,
        closes: ExitStack | None = None,
    ) -> None:
        self.failed = dict(failed or {})
        self.contacts = FleetResource(self, "contact")
        self.flows = FleetResource(self, "flow")
        self.templates = FleetResource(self, "content")
        self.webhooks = FleetResource(self, "webhook")
        self._clients = dict(clients)
        self._closes = closes or ExitStack()

    def __getitem__(self, label: str) -> Client:
        """Return the client of one account.

        Raises:
            SettingsError: It is not in the fleet, or could not be opened.
        """
        if label in self._clients:
            return self._clients[label]
        if label in self.failed:
            raise errors.SettingsError(f"{label} could not be opened: {self.failed[label]}")
        raise errors.SettingsError(f"No account is called {label!r}: there are {', '.join(self)}.")

    def __contains__(self, label: object) -> bool:
        return label in self._clients

    def __iter__(self) -> Iterator[str]:
        return iter(self._clients)

    def __len__(self) -> int:
        return len(self._clients)

    # --- all accounts at once -------------------------------------------------------

    def load_plan(self, path: str | PathLike[str]) -> FleetPlan:
        """Read a plan for several accounts that its `save(path)` has written.

        Each part of it belongs to the account that it was made for, whatever this fleet calls
        that.

        Raises:
            PlanRefused: The file is no such plan, was edited, or is for an account that is not in
                this fleet.
        """
        accessor.register()
        return load_fleet_plan(path, self)

    def doctor(self) -> pd.DataFrame:
        """Check address, token and open points of each account, as `chatkit.doctor` does.

        Returns:
            The tables of all accounts as one, its first column the account. `attrs["stops"]` says
            of which accounts there is none, and why.
        """
        from chatkit.account.doctor import doctor

        reports, stops = self._run_each(lambda _, client: doctor(client))
        tables = {label: report.frame().reset_index() for label, report in reports.items()}
        return _report_failed_accounts(rendering.join_account_tables(tables), stops)

    def close(self) -> None:
        """Close the connections that were opened for the fleet."""
        self._closes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _run_each(
        self,
        work: Callable[[str, Client], T],
        noun: str = "",
        labels: Iterable[str] | None = None,
    ) -> tuple[dict[str, T], dict[str, str]]:
        """Run a function for each account at once.

        Args:
            work: The function; it takes the name and the client of an account.
            noun: The noun that bars count; without it there are none.
            labels: The accounts; None for all.

        Returns:
            The results by account, and the reasons why others have none.

        Raises:
            InputError: No account takes the arguments.
            ChatkitError: It failed for all accounts.
        """
        chosen = list(self if labels is None else labels)
        outcomes = run_in_threads(chosen, lambda label, _: work(label, self[label]), noun=noun)
        done: dict[str, T] = {}
        stops = dict(self.failed) if labels is None else {}
        for label, outcome in outcomes.items():
            if not isinstance(outcome, Exception):
                done[label] = outcome
            elif isinstance(outcome, errors.ChatkitError):
                advice = outcome.advice if isinstance(outcome, errors.CallError) else ""
                reason = " ".join(str(outcome).split())
                stops[label] = f"{reason.rstrip('.')}. {advice}" if advice else reason
            else:
                raise _add_account_note(outcome, label)
        if chosen and not done:
            raise _add_account_note(cast("Exception", outcomes[chosen[0]]), chosen[0])
        return done, stops

    def _parts(self) -> Iterator[ReportPart]:
        """Yield the headline and a table of the accounts with their states."""
        yield headline(f"Fleet of {many(len(self), 'account')}.")
        rows = [
            (
                visible(label),
                describe_account(client.connection.account),
                f"its token was refused. {errors.NotAuthenticated.advice}"
                if client.transport.state == "token refused"
                else client.transport.state,
            )
            for label, client in self.items()
        ]
        rows += [(visible(name), "", f"not open: {reason}") for name, reason in self.failed.items()]
        yield table({"account": 25, "of": 45, "state": 30}, rows)


def _add_account_note(error: Exception, label: str) -> Exception:
    """Add a note to an error that names its account; return it."""
    error.add_note(f"This error is of the account {label}; its client is fleet[{label!r}].")
    return error


# --- its resources --------------------------------------------------------------------


class FleetResource:
    """One resource of all accounts of a fleet, by its noun."""

    def __init__(self, fleet: Fleet, noun: str) -> None:
        self._fleet, self._noun = fleet, noun

    def __repr__(self) -> str:
        count = many(len(self._fleet), "account")
        return f"<{self._noun}s of {count}: .frame() shows them>"

    def frame(self, *codes: Any, **options: Any) -> pd.DataFrame:
        """Read the list of each account into one DataFrame, indexed by account first.

        Accounts that cannot be read are named, also in `attrs["stops"]`.

        Args:
            codes: As for one account: the template codes, where they are not remembered.
            options: As for one account, like `search=`, `status=` or `full=True`.
        """
        accessor.register()
        frames, stops = self._fleet._run_each(
            lambda _, client: cast("Any", get_resource(client, self._noun)).frame(
                *codes, **options
            ),
            f"{self._noun}s",
        )
        frame = rendering.join_account_frames(frames)
        write_part_origins(frame, frames)
        return _report_failed_accounts(frame, stops)

    def plan(
        self,
        frame: pd.DataFrame | Mapping[str, Any] | None = None,
        delete: pd.DataFrame | Mapping[str, Any] | None = None,
        *,
        skip_invalid: bool = False,
        **options: Any,
    ) -> FleetPlan:
        """Show what an edited frame would change, in each account. Nothing is sent before `apply`.

        Args:
            frame: What `frame()` gave, edited; a frame of your own that names the account of each
                row, as the first level of its index or in a column `account`; or what each
                account is to take: `dict.fromkeys(fleet, rows)` plans the same rows in all.
            delete: Records to delete, as such a frame, or by account: `{"de": [50002]}`. Contents
                have a column `delete` for it.
            skip_invalid: Plan the good rows although others cannot be planned, and the other
                accounts although one cannot be.
            options: As for one account: `existing`, `other_account`, `duplicates`, `broken`.

        Raises:
            InputError: No frame can be planned as a whole, or one names no account of the fleet.
        """
        parts = {} if frame is None and delete is not None else self._split_by_account(frame)
        deletes = {} if delete is None else self._split_by_account(delete)
        fleet = self._fleet
        known = [*fleet, *fleet.failed]
        if unknown := [label for label in {**parts, **deletes} if label not in known]:
            named = ", ".join(f"{label!r:.60}" for label in unknown[:5])
            raise errors.InputError(
                f"No account of the fleet is called {named}: there are {', '.join(fleet)}."
            )

        def work(label: str, client: Client) -> Any:
            """Plan the rows of one account."""
            resource = cast("Any", get_resource(client, self._noun))
            own = {"delete": deletes[label]} if label in deletes else {}
            return resource.plan(parts.get(label), skip_invalid=skip_invalid, **options, **own)

        labels = [label for label in known if label in {**parts, **deletes}]
        plans, stops = fleet._run_each(work, labels=[label for label in labels if label in fleet])
        stops |= {label: reason for label, reason in fleet.failed.items() if label in labels}
        return FleetPlan(plans, failed=stops, skip_invalid=skip_invalid)

    def _split_by_account(self, frame: Any) -> Mapping[str, Any]:
        """Split what is to be planned by account.

        Raises:
            InputError: It names no accounts.
        """
        if isinstance(frame, Mapping):
            return frame
        if not hasattr(frame, "columns"):
            raise errors.InputError(
                "A plan for a fleet takes a frame that names the account of each row, or what "
                "each account is to take: dict.fromkeys(fleet, rows) plans rows in all of them. "
                f"This is {'None' if frame is None else f'of type {type(frame).__name__}'}."
            )
        return _split_frame_by_account(frame)


def _split_frame_by_account(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Split a frame by the account of each row; each part keeps its own origin.

    Raises:
        InputError: It does not name them.
    """
    in_index = frame.index.nlevels > 1 and frame.index.names[0] == ACCOUNT
    if not in_index and ACCOUNT not in frame.columns:
        raise errors.InputError(
            "The frame does not name the account of each row: let the first level of its index, "
            "or a column, be called 'account'."
        )
    by: Any = {"level": 0} if in_index else {"by": ACCOUNT}
    origins, parts = read_origins_of_parts(frame), {}
    for label, part in frame.groupby(**by, sort=False, dropna=False):
        part = part.droplevel(0) if in_index else part.drop(columns=ACCOUNT)
        part = part.dropna(axis="columns", how="all")  # columns that other accounts have
        part.attrs = {"chatkit": origins[label]} if label in origins else {}
        parts[label] = part
    return parts


def _report_failed_accounts(frame: pd.DataFrame, stops: Mapping[str, str]) -> pd.DataFrame:
    """Print the accounts that could not be read; store them in `attrs["stops"]` of the frame."""
    for label, reason in stops.items():
        print_line(f"{visible(label)} could not be read: {reason}")
    frame.attrs["stops"] = dict(stops)
    return frame
