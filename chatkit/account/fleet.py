"""Fleet: several accounts as one: read, checked, planned, applied and taken back together.

Each account keeps its own client, limits and journals, and is worked on by a thread of its own.
What stops one of them never stops the others: it is said, and stands in `attrs["stops"]` of what
was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from chatkit import settings
from chatkit.account.fleet_plan import FleetPlan, in_threads, load_fleet_plan
from chatkit.account.history import runs, undo
from chatkit.api.connection import account_words
from chatkit.bulk import rendering
from chatkit.bulk.stores import open_runs
from chatkit.client import Client, open_client, source_of
from chatkit.errors import (
    CallError,
    ChatkitError,
    InputError,
    JournalError,
    NotAuthenticated,
    SettingsError,
    command,
    first_line,
)
from chatkit.frames.snapshot import origins_of_parts, remember_parts
from chatkit.imports import accessor
from chatkit.report import FEW, Report, html_heading, html_tables, marked
from chatkit.util.display import many, visible
from chatkit.util.progress import say

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

    from chatkit.bulk.planner import PlanOptions
    from chatkit.endpoints import Existing
    from chatkit.imports.numbers import Plus
    from chatkit.sandbox import Sandbox
    from chatkit.templates.codes import Codes
    from chatkit.templates.resource import Templates

T = TypeVar("T")

#: The level of an index, and the column, that names accounts.
ACCOUNT = "account"


def connect_all(accounts: str | Iterable[str] | Mapping[str, str | Client | Sandbox]) -> Fleet:
    """Open several accounts as one fleet. Says in one line which, and whether they are live.

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
    Connected to 2 accounts, of the sandbox: de, fr.
    >>> list(fleet)
    ['de', 'fr']
    >>> fleet.close()
    """
    named: Mapping[str, str | Client | Sandbox]
    if isinstance(accounts, Mapping):
        named = accounts
    else:
        several = isinstance(accounts, Iterable) and not isinstance(accounts, str)
        wanted: list[Any] = list(accounts) if several else [accounts]
        for each in wanted:
            if not isinstance(each, str):
                raise TypeError(
                    "connect_all takes names of connections ('agency-*', or ['de', 'fr']), or "
                    "accounts by what they are to be called ({'de': client, 'fr': 'agency-fr'}), "
                    f"not {type(each).__name__}"
                )
        named = {name: name for each in wanted for name in _names_like(each)}
    if not named:
        raise SettingsError("No account is named: connect_all takes names of connections.")
    opened: dict[str, Client] = {}
    failed: dict[str, str] = {}
    own: list[Client] = []
    try:
        for label, to in named.items():
            try:
                opened[label] = (
                    to if isinstance(to, Client) else open_client(to, one_of_several=len(named) > 1)
                )
            except SettingsError as error:
                failed[label] = " ".join(str(error).split())
                continue
            if not isinstance(to, Client):
                own.append(opened[label])
        if not opened:
            told = "\n".join(f"  {label}: {reason}" for label, reason in failed.items())
            raise SettingsError(f"None of the accounts can be opened:\n{told}")
        _refuse_twice(opened)
        _tell(opened, failed)
    except BaseException:
        for client in own:
            client.close()
        raise
    return Fleet(opened, failed, own)


def _names_like(wanted: str) -> list[str]:
    """Find the connections that a name with * and ? stands for; one without is itself.

    Raises:
        SettingsError: There is none like it.
    """
    if not {"*", "?", "["} & {*wanted}:
        return [wanted]
    if found := [name for name in settings.names() if fnmatchcase(name, wanted)]:
        return found
    there = ", ".join(settings.names()) or "none"
    raise SettingsError(f"No connection is called like {wanted!r}. Those kept are: {there}.")


def _refuse_twice(opened: Mapping[str, Client]) -> None:
    """Refuse two names for one account: each of its records would be there twice.

    Raises:
        SettingsError: There are some.
    """
    known: dict[str, str] = {}
    for label, client in opened.items():
        account = client.connection.account
        if account in known:
            raise SettingsError(
                f"{known[account]!r} and {label!r} are the same account ({account}): name it once."
            )
        known[account] = label


def _tell(opened: Mapping[str, Client], failed: Mapping[str, str]) -> None:
    """Say what was opened, what was not, and whether a run was interrupted there."""
    kinds = {
        "of the sandbox" if client.connection.sandbox is not None
        else "on this machine" if client.connection.loopback
        else "live data"
        for client in opened.values()
    }  # fmt: skip
    kind = " and ".join(sorted(kinds))
    named = ", ".join(map(visible, list(opened)[:FEW]))
    more = f" and {len(opened) - FEW:,} more" if len(opened) > FEW else ""
    say(f"Connected to {many(len(opened), 'account')}, {kind}: {named}{more}.")
    for label, reason in failed.items():
        say(f"Not connected to {visible(label)}: {reason}")
    lasting = {
        client.connection.account for client in opened.values() if not client.connection.passing
    }
    try:
        interrupted = len(open_runs(lasting)) if lasting else 0
    except (JournalError, InputError) as error:  # accounts can be read without journals
        say(str(error))
        return
    if interrupted:
        say(
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
        own: The clients that are closed with the fleet.

    >>> fleet = chatkit.connect_all({n: chatkit.Sandbox(seed="demo") for n in ("de", "fr")})
    Connected to 2 accounts, of the sandbox: de, fr.
    >>> fleet.contacts.frame().index.names
    FrozenList(['account', 'id'])
    >>> fleet.close()
    """

    def __init__(
        self,
        clients: Mapping[str, Client],
        failed: Mapping[str, str] | None = None,
        own: Iterable[Client] = (),
    ) -> None:
        self.failed = dict(failed or {})
        self.contacts = FleetContacts(self)
        self.flows = FleetFlows(self)
        self.templates = FleetTemplates(self)
        self.webhooks = FleetWebhooks(self)
        self._clients = dict(clients)
        self._own = tuple(own)

    def __getitem__(self, label: str) -> Client:
        """Return the client of one account.

        Raises:
            SettingsError: It is not in the fleet, or could not be opened.
        """
        if label in self._clients:
            return self._clients[label]
        if label in self.failed:
            raise SettingsError(f"{label} could not be opened: {self.failed[label]}")
        raise SettingsError(f"No account is called {label!r}: there are {', '.join(self)}.")

    def __contains__(self, label: object) -> bool:
        return label in self._clients

    def __iter__(self) -> Iterator[str]:
        return iter(self._clients)

    def __len__(self) -> int:
        return len(self._clients)

    # --- all accounts at once -------------------------------------------------------

    def runs(self, *, at: str | Path | None = None) -> pd.DataFrame:
        """List the runs of its accounts, the latest first, as `chatkit.runs` does.

        The run of a fleet is a run for each account: their names begin alike, and this beginning
        is what `undo` and `chatkit.resume` take.

        Args:
            at: Where the journals lie, as for `chatkit.runs`.
        """
        return runs(self, at=at)

    def undo(
        self,
        run: str | pd.DataFrame,
        *,
        rows: Iterable[Any] | None = None,
        include_adopted: bool = False,
        at: str | Path | None = None,
    ) -> FleetPlan:
        """Make the plan that takes a run of the fleet back. Nothing happens until you apply it.

        Args:
            run: Its name, or its result.
            rows: Labels of the rows to take back, as in the index of the result: account first.
            include_adopted: As for `chatkit.undo`.
            at: Where the journals lie, as for `chatkit.undo`.

        Raises:
            JournalError: There is no such run, or its journal is damaged.
        """
        return undo(run, self, rows=rows, include_adopted=include_adopted, at=at)

    def load_plan(self, path: str | PathLike[str]) -> FleetPlan:
        """Read a plan for several accounts that its `save(path)` has written.

        Each part of it belongs to the account that it was made for, whatever this fleet calls
        that.

        Raises:
            PlanRefused: The file is no such plan, was edited, or is for an account that is not in
                this fleet.
        """
        accessor.register()
        labels = {client.connection.account: label for label, client in self.items()}
        return load_fleet_plan(Path(path), labels, lambda label, noun: source_of(self[label], noun))

    def doctor(self) -> pd.DataFrame:
        """Check address, token and open points of each account, as `chatkit.doctor` does.

        Returns:
            The tables of all accounts as one, its first column the account, like those of `check`
            and `board`. `attrs["stops"]` says of which accounts there is none, and why.
        """
        from chatkit.account.doctor import doctor

        return _tables(*self._each(lambda _, client: doctor(client)))

    def close(self) -> None:
        """Close the connections that were opened for the fleet."""
        for client in self._own:
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.close()

    def _each(
        self,
        work: Callable[[str, Client], T],
        noun: str = "",
        labels: Iterable[str] | None = None,
    ) -> tuple[dict[str, T], dict[str, str]]:
        """Do something with each account at once.

        Args:
            work: Does it with one.
            noun: What is counted, for bars; without it there are none.
            labels: Of which accounts; without it of all.

        Returns:
            What came of each account, and of the others why nothing did.

        Raises:
            InputError: No account can be asked for it.
            ChatkitError: No account could do it.
        """
        wanted = list(self if labels is None else labels)
        came = in_threads(wanted, lambda label, _: work(label, self[label]), noun=noun)
        done: dict[str, T] = {}
        stops = dict(self.failed) if labels is None else {}
        for label, value in came.items():
            if not isinstance(value, Exception):
                done[label] = value
            elif not isinstance(value, ChatkitError):
                raise _noted(value, label)
            else:
                stops[label] = _why(value)
        if wanted and not done:
            raise _noted(cast("Exception", came[wanted[0]]), wanted[0])
        return done, stops

    # --- as text and HTML -----------------------------------------------------------

    def _rows(self) -> list[tuple[str, str, str]]:
        opened = [
            (visible(label), account_words(client.connection.account), _state(client))
            for label, client in self.items()
        ]
        return [*opened, *((visible(n), "", f"not open: {why}") for n, why in self.failed.items())]

    def _text(self) -> list[list[str]]:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            f"  {label:<{widths[0]}}  {account:<{widths[1]}}  {state}".rstrip()
            for label, account, state in rows
        ]
        return [[f"Fleet of {many(len(self), 'account')}."], lines]

    def _html(self) -> list[str]:
        rows = [
            f'<tbody><tr><td dir="auto">{"</td><td>".join(map(marked, row))}</td></tr></tbody>'
            for row in self._rows()
        ]
        table = html_tables({"account": 25, "of": 45, "state": 30}, rows, [], len(rows), "list")
        return [html_heading(f"Fleet of {many(len(self), 'account')}."), table]


def _state(client: Client) -> str:
    """Say whether the account took its token the last time that it answered."""
    if not client.transport.token_refused:
        return "open"
    name = client.connection.name
    kept = f" Keep it with {command(f'login {name}')}, and open the fleet anew." if name else ""
    return f"its token was refused. {NotAuthenticated.advice}{kept}"


def _why(error: ChatkitError) -> str:
    """Say in a line why an account stopped, and what to do."""
    advice = error.advice if isinstance(error, CallError) else ""
    return f"{first_line(error).rstrip('.')}. {advice}" if advice else first_line(error)


def _noted(error: Exception, label: str) -> Exception:
    """Note in an error which account it is of."""
    error.add_note(f"That was said of the account {label}: its client is fleet[{label!r}].")
    return error


# --- its resources --------------------------------------------------------------------


class _FleetResource:
    """One resource of all accounts of a fleet."""

    _name: str
    _noun: str

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def __repr__(self) -> str:
        return f"<{self._name} of {many(len(self._fleet), 'account')}: .frame() shows them>"

    def _of(self, client: Client) -> Any:
        return getattr(client, self._name)

    def _frame(self, read: Callable[[Any], pd.DataFrame]) -> pd.DataFrame:
        """Read the list of each account, and put them together."""
        accessor.register()
        done, stops = self._fleet._each(lambda _, client: read(self._of(client)), self._noun)
        frame = rendering.fleet_frame(done)
        remember_parts(frame, done)
        return _with_stops(frame, stops)

    def plan(
        self,
        frame: pd.DataFrame | Mapping[str, Any] | None = None,
        delete: pd.DataFrame | Iterable[Any] | None = None,
        *,
        base: pd.DataFrame | Mapping[str, Any] | None = None,
        existing: Existing | None = None,
        skip_invalid: bool = False,
        other_account: bool = False,
        duplicates: bool = False,
        broken: bool = False,
    ) -> FleetPlan:
        """Show what an edited frame would change, in each account. Nothing is sent before `apply`.

        Args:
            frame: What `frame()` gave, edited; a frame of your own that names the account of each
                row, as the first level of its index or in a column `account`; or what each
                account is to take: `dict.fromkeys(fleet, rows)` plans the same rows in all.
            delete: Keys of records to delete, account first: `[("de", 50002)]`; or a frame that
                holds them.
            base: The frame of the fleet that this one was made from, as for one account.
            existing: As for one account, like `other_account`, `duplicates` and `broken`.
            skip_invalid: Plan the good rows although others cannot be planned, and the other
                accounts although one cannot be.
            other_account: Take frames of another account.
            duplicates: Make new records although there are some of the same name.
            broken: Plan what has errors, too.

        Raises:
            InputError: No frame can be planned as a whole, or one names no account of the fleet.
        """
        options: PlanOptions = {
            "existing": existing,
            "skip_invalid": skip_invalid,
            "other_account": other_account,
            "duplicates": duplicates,
            "broken": broken,
        }
        parts = {} if frame is None and delete is not None else self._parts(frame)
        gone = _keys_by_account(delete)
        self._refuse_strangers([*parts, *gone])
        return self._planned(parts, gone, options, {} if base is None else self._parts(base))

    def _planned(
        self,
        parts: Mapping[str, Any],
        gone: Mapping[str, Any],
        options: Mapping[str, Any],
        bases: Mapping[str, Any],
    ) -> FleetPlan:
        """Plan the rows of each account, and what is to be deleted there."""
        fleet = self._fleet
        labels = [label for label in [*fleet, *fleet.failed] if label in {**parts, **gone}]
        opened = [label for label in labels if label in fleet]

        def plan(label: str, client: Client) -> Any:
            own = {"delete": gone[label]} if label in gone else {}
            if bases:
                own["base"] = bases.get(label)
            return self._of(client).plan(parts.get(label), **own, **options)

        done, stops = fleet._each(plan, labels=opened)
        stops |= {label: why for label, why in fleet.failed.items() if label in labels}
        return FleetPlan(done, failed=stops, skip_invalid=options["skip_invalid"])

    def _parts(self, given: Any) -> Mapping[str, Any]:
        """Part what is to be planned by account.

        Raises:
            InputError: It names no accounts.
        """
        if isinstance(given, Mapping):
            return given
        if not hasattr(given, "columns"):
            raise InputError(
                "A plan for a fleet takes a frame that names the account of each row, or what "
                "each account is to take: dict.fromkeys(fleet, rows) plans rows in all of them. "
                f"This is {'None' if given is None else f'of type {type(given).__name__}'}."
            )
        frame: pd.DataFrame = given
        return _remembered(_rows_by_account(frame), frame)

    def _refuse_strangers(self, labels: Iterable[str]) -> None:
        """Refuse rows of accounts that are not in the fleet.

        Raises:
            InputError: There are some.
        """
        there = {*self._fleet, *self._fleet.failed}
        if strange := [label for label in labels if label not in there]:
            named = ", ".join(f"{label!r:.60}" for label in strange[:5])
            raise InputError(
                f"No account of the fleet is called {named}: there are {', '.join(self._fleet)}."
            )


def _rows_by_account(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Part a frame by the account of each row, in the order in which they come.

    Raises:
        InputError: It does not name them.
    """
    if frame.index.nlevels > 1 and frame.index.names[0] == ACCOUNT:
        for label, part in frame.groupby(level=0, sort=False, dropna=False):
            yield cast("str", label), part.droplevel(0)
    elif ACCOUNT in frame.columns:
        for name, part in frame.groupby(ACCOUNT, sort=False, dropna=False):
            yield cast("str", name), part.drop(columns=ACCOUNT)
    else:
        raise InputError(
            "The frame does not name the account of each row: let the first level of its index, "
            "or a column, be called 'account'."
        )


def _remembered(
    parts: Iterable[tuple[str, pd.DataFrame]], frame: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Let each part of a frame remember of which account it is, as far as the frame does."""
    kept = origins_of_parts(frame)
    found = {}
    for label, part in parts:
        whole = part.dropna(axis="columns", how="all")  # columns that other accounts have
        whole.attrs = {"chatkit": kept[label]} if label in kept else {}
        found[label] = whole
    return found


def _keys_by_account(given: pd.DataFrame | Iterable[Any] | None) -> dict[str, Any]:
    """Part the keys of what is to be deleted, or the frame that holds them, by account.

    Raises:
        InputError: They do not begin with an account.
    """
    if given is None:
        return {}
    if hasattr(given, "columns"):
        frame = cast("pd.DataFrame", given)
        return _remembered(_rows_by_account(frame), frame)
    found: dict[str, list[Any]] = {}
    keys: Iterable[Any] = [given] if isinstance(given, str | bytes) else given
    for key in keys:
        if not isinstance(key, tuple) or len(key) < 2:
            raise InputError(
                f"delete= takes keys that begin with their account, like ('de', 50002), not "
                f"{key!r:.60}."
            )
        found.setdefault(key[0], []).append(key[1] if len(key) == 2 else key[1:])
    return found


def _tables(reports: Mapping[str, Any], stops: Mapping[str, str]) -> pd.DataFrame:
    """Put the tables of reports together, their first column the account."""
    tables = {}
    for label, report in reports.items():
        table = report.frame()
        named = any(name is not None for name in table.index.names)
        tables[label] = table.reset_index() if named else table
    return _with_stops(rendering.fleet_table(tables), stops)


def _with_stops(frame: pd.DataFrame, stops: Mapping[str, str]) -> pd.DataFrame:
    """Say of which accounts nothing could be read, and note it in what was."""
    for label, why in stops.items():
        say(f"{visible(label)} could not be read: {why}")
    frame.attrs["stops"] = dict(stops)
    return frame


class FleetContacts(_FleetResource):
    """The contacts of all accounts of a fleet."""

    _name, _noun = "contacts", "contacts"

    def frame(self, *, search: str | None = None, full: bool = False) -> pd.DataFrame:
        """Read the contacts of all accounts into a DataFrame, indexed by account and id.

        Accounts that cannot be read are named, also in `attrs["stops"]`.

        Args:
            search: Only those whose name or number holds this text.
            full: Read each contact on its own as well, for `ref_id`.
        """
        return self._frame(lambda contacts: contacts.frame(search=search, full=full))

    def check(
        self,
        frame: pd.DataFrame | Mapping[str, Any],
        *,
        region: str | None = None,
        plus: Plus | None = None,
    ) -> pd.DataFrame:
        """Return what is wrong in contacts, as `client.contacts.check` finds it in each account.

        Args:
            frame: What `frame()` gave, edited or not, or a frame for each account.
            region: Where numbers without a country code are dialled: 'IN', '+91', or a column.
            plus: "lost" or "unused", of all numbers without a +, as in `client.contacts.check`.

        Raises:
            InputError: It names no account of the fleet, or there is no such region.
        """
        parts = self._parts(frame)
        self._refuse_strangers(parts)
        found = self._fleet._each(
            lambda label, client: client.contacts.check(parts[label], region=region, plus=plus),
            labels=[label for label in parts if label in self._fleet],
        )
        return _tables(*found)


class FleetFlows(_FleetResource):
    """The flows of all accounts of a fleet."""

    _name, _noun = "flows", "flows"

    def frame(self, *, status: str | None = None, full: bool = False) -> pd.DataFrame:
        """Read the flows of all accounts into a DataFrame, indexed by account and id.

        Args:
            status: Only those in this state, like 'DRAFT'.
            full: Read each flow on its own as well, for `flow_json`.
        """
        return self._frame(lambda flows: flows.frame(status=status, full=full))

    def check(self) -> pd.DataFrame:
        """Check the document of each flow of each account, as `client.flows.check_all` does."""
        return self._frame(lambda flows: flows.check_all())


class FleetWebhooks(_FleetResource):
    """The webhook registrations of all accounts of a fleet."""

    _name, _noun = "webhooks", "webhooks"

    def frame(self) -> pd.DataFrame:
        """Read the registrations of all accounts into a DataFrame, indexed by account and id."""
        return self._frame(lambda webhooks: webhooks.frame())

    def check(self, *, quiet: float = 24) -> pd.DataFrame:
        """Tell how each webhook is by its last delivery, as `client.webhooks.health` does.

        Args:
            quiet: Hours without a delivery that are normal for you.
        """
        return self._frame(lambda webhooks: webhooks.health(quiet=quiet))


class FleetTemplates(_FleetResource):
    """The message templates of all accounts of a fleet."""

    _name, _noun = "templates", "contents"

    def frame(self, codes: Codes | None = None, *, full: bool = False) -> pd.DataFrame:
        """Read contents, indexed by account, `template_code` and `lang_code`.

        Args:
            codes: The template codes, or a file of them; without them those that each account
                has had remembered.
            full: Read each content on its own as well, for all its fields.
        """
        return self._frame(lambda templates: templates.frame(_codes(templates, codes), full=full))

    def board(
        self, codes: Codes | None = None, source: str = "en", *, languages: Iterable[str] = ()
    ) -> pd.DataFrame:
        """Return every template of each account in every language, as the board of one account.

        Args:
            codes: The template codes, or a file of them; without them those remembered.
            source: The language that the others are translated from.
            languages: Languages to show although no template has them.
        """
        shown = list(languages)
        boards = self._fleet._each(
            lambda _, client: client.templates.board(
                _codes(client.templates, codes), source, languages=shown
            )
        )
        return _tables(*boards)

    def check(self, codes: Codes | None = None, source: str = "en") -> pd.DataFrame:
        """Return what is wrong in contents, as `client.templates.check` finds it in each account.

        Args:
            codes: The template codes, or a file of them; without them those remembered.
            source: The language that the others are translated from.
        """
        found = self._fleet._each(
            lambda _, client: client.templates.check(_codes(client.templates, codes), source)
        )
        return _tables(*found)

    def plan(  # type: ignore[override]  # contents are deleted by a column
        self,
        frame: pd.DataFrame | Mapping[str, Any],
        *,
        base: pd.DataFrame | Mapping[str, Any] | None = None,
        existing: Existing | None = None,
        skip_invalid: bool = False,
        other_account: bool = False,
        broken: bool = False,
    ) -> FleetPlan:
        """Show what an edited frame of contents would change, in each account.

        Args:
            frame: As for contacts: the account of each row stands first.
            base: The frame of the fleet that this one was made from, as for one account.
            existing: As for one account, like `other_account` and `broken`.
            skip_invalid: Plan the good rows although others cannot be planned, and the other
                accounts although one cannot be.
            other_account: Take frames of another account.
            broken: Plan what has errors, too.

        Raises:
            InputError: No frame can be planned as a whole, or one names no account of the fleet.
        """
        parts = self._parts(frame)
        self._refuse_strangers(parts)
        options: dict[str, Any] = {
            "existing": existing,
            "skip_invalid": skip_invalid,
            "other_account": other_account,
            "broken": broken,
        }
        return self._planned(parts, {}, options, {} if base is None else self._parts(base))


def _codes(templates: Templates, codes: Codes | None) -> Codes:
    """Return the codes that were passed, or else those that an account has had remembered.

    Raises:
        InputError: There are none.
    """
    if codes is None and not templates.codes:
        raise InputError(
            "no template codes are remembered, and the API has no list of them: pass codes, for "
            "all accounts, or keep those of one with fleet['NAME'].templates.remember(codes)"
        )
    return templates.codes if codes is None else codes
