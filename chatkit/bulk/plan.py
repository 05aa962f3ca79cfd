"""Plan: changes of an account, to be reviewed before they are applied."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
from msgspec import structs

from chatkit.api.secret import Secret
from chatkit.api.throttle import Throttle
from chatkit.bulk import rendering
from chatkit.bulk.apply import Interrupt, PlanTarget, Run
from chatkit.bulk.changes import (
    Change,
    LeftOutRow,
    RefusedCell,
    count_kinds,
    describe_memory,
    group_by_resource,
    label_from_json,
    label_to_json,
)
from chatkit.bulk.endpoints import ACCOUNT
from chatkit.bulk.journal import (
    At,
    Journal,
    JournalStore,
    PlanPart,
    RunHeader,
    make_run_id,
)
from chatkit.bulk.outcomes import Row
from chatkit.bulk.reconcile import PAGES_FROM
from chatkit.bulk.stores import hold_accounts, list_known_stores, open_store
from chatkit.errors import ChatkitError, PlanRefused, SettingsError, read_file_bytes
from chatkit.report import Report, ReportPart
from chatkit.util.display import format_duration
from chatkit.util.display import many as many_of
from chatkit.util.files import get_user_name, replace_file
from chatkit.util.progress import LONG, Pace, Watch, print_line

if TYPE_CHECKING:
    import pandas as pd


#: A plan that touches a larger share of so many records or more needs `many=True`. The share is
#: the one that octodns has found sensible for zones.
MAX_SHARE, MIN_RECORDS = 0.3, 10
#: So does one that deletes more records than this.
MAX_DELETES = 100


def raise_if_unsafe(objections: Sequence[str]) -> None:
    """Refuse a plan that does more than it is allowed to.

    Args:
        objections: Those of the plan.

    Raises:
        PlanRefused: There are some; the text says which argument allows it.
    """
    if objections:
        raise PlanRefused("\n- ".join(["This plan is blocked, nothing was sent:", *objections]))


APPLIED_BEFORE = "This plan was already applied: nothing is sent again."
UNDONE = (
    "This plan was already applied, and an undo of it was begun: nothing is sent. Plan again from "
    "a fresh frame."
)


@dataclass(frozen=True)
class Setting:
    """The subject of a plan, beside its changes."""

    account: str  #: which account of which service
    noun: str  #: what its records are: contact, flow, content, webhook; or `ACCOUNT`
    #: Of the levels of the frame's index.
    names: Annotated[tuple[str | None, ...], msgspec.Meta(min_length=1)]
    parts: dict[str, PlanPart]  #: by noun, one for each resource
    undoes: str | None = None  #: the run that it takes back
    rate: float | None = None  #: calls a second at most, as that run; None: any number
    folder: str = ""  #: the account folder that it was made of, if it was

    @property
    def several(self) -> bool:
        """True for a plan of the account, whose changes name their resources."""
        return self.noun == ACCOUNT


class Remaining(NamedTuple):
    """The work that is left of a run, and its pace."""

    changes: int
    calls: int
    pace: Pace

    @property
    def seconds(self) -> float:
        """The estimated seconds."""
        return self.pace.seconds(self.calls)


class Plan(Report):
    """The changes that would be made: creates, updates and deletes, with before and after.

    Showing it changes nothing; `apply()` does what it shows, once. `changes` are its rows,
    `refused` a table of the cells that cannot be planned, `left_out` of the rows of a run that
    an undo has nothing to take back of, `notes` what else is to be known, `secrets` the signing
    secrets of webhooks by id, once it has created them.

    A plan for the account has changes of several resources: one review, one run, one undo. The
    first level of its index is `resource`.

    >>> plan = client.contacts.plan([{"id": 50002, "name": "Ana Cruz"}])
    >>> plan
    Plan for 250 contacts: 1 update.
    ...
    >>> plan.apply().state.tolist()
    ['applied']
    """

    def __init__(
        self,
        target: PlanTarget,
        setting: Setting,
        changes: Sequence[Change],
        cells: Sequence[RefusedCell] = (),
        *,
        notes: Sequence[str] = (),
        skip_invalid: bool = False,
        plan_id: str = "",
        left: Sequence[LeftOutRow] = (),
        written: Sequence[Sequence[str]] = (),
    ) -> None:
        self.changes: Sequence[Change] = tuple(changes)
        self.notes = list(notes)
        #: Notes that are drawn in HTML, with the picture of each: HTML, escaped.
        self._drawn: dict[str, str] = {}
        self._setting = setting
        self._cells = tuple(cells)
        self._left = tuple(left)
        self._written = [list(each) for each in written]
        self.secrets: dict[Any, Secret] = {}
        self.id = plan_id or make_run_id()
        self._target = target
        self._skip_invalid = skip_invalid
        self._stop_by: Interrupt | None = None  # what is to stop its run, from another thread
        self._at: At | None = None  # where its journal lies; None: where those of this user do
        self._store: JournalStore | None = None  # where the journal of its run was begun
        self._loaded = False  # read from a file: its run may have begun in another process
        self._rehearsed = ""  # the hash of the plan that went well in a rehearsal
        self._fleet: tuple[str, str] | None = None  # the run of a fleet, and its account there
        self._fleet_of: tuple[str, ...] = ()  # what all accounts of that run are called

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows it would create, update and delete."""
        return count_kinds(self.changes)

    @property
    def refused(self) -> pd.DataFrame:
        """The cells that cannot be planned: `row`, `column`, `value`, `reason`, `next_step`."""
        return rendering.make_tuple_frame(RefusedCell, self._cells)

    @property
    def left_out(self) -> pd.DataFrame:
        """The rows of a run that changed nothing: `row`, `change`, `label`, `state`, `reason`.

        Only the plan of an undo has some: these, its changes and `refused` are all of the run.
        """
        return rendering.make_tuple_frame(LeftOutRow, self._left)

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the changes, which detects an edited plan."""
        changes = [change.as_json() for change in self.changes]
        return _compute_hash([self.id, self._setting.account, self._setting.noun, changes])

    def __len__(self) -> int:
        return len(self.changes)

    def _parts(self) -> list[ReportPart]:
        return rendering.make_plan_parts(self)

    def frame(self) -> pd.DataFrame:
        """Return its rows as a DataFrame with the index of the frame that was planned.

        The columns are `change` (create, update, delete or skip), `key`, `label`, `before`,
        `after` (dicts of the fields at stake), `undo` (exactly, not exactly, never) and
        `undo_note` (why). A skip changes nothing: the record keeps `before`, the frame says
        `after`.
        """
        return rendering.make_changes_frame(self.changes, self._setting.names)

    def calls(self) -> int:
        """Estimate the number of calls that applying needs."""
        return self._count_calls(self.changes, self._setting.parts)

    def _count_calls(self, changes: Iterable[Change], parts: Mapping[str, PlanPart]) -> int:
        """Estimate the number of calls that some of its changes need."""
        calls = 0
        for noun, part in group_by_resource(changes, self._setting.noun).items():
            counts, total = count_kinds(part), parts[noun].total
            read_back = counts["update"]
            if total and read_back >= PAGES_FROM:
                page = self._target.transport.profile.max_page_size
                read_back = min(read_back, -(-total // page))
            calls += sum(counts.values()) + counts["update"] + counts["delete"] + read_back
        return calls

    @property
    def seconds(self) -> float:
        """The estimated seconds to apply it, at the speed of the service so far."""
        return estimate_remaining(self).seconds

    def objections(self, *, many: bool = False, irreversible: bool = False) -> list[str]:
        """Return the reasons why it cannot be applied, each with what would allow it."""
        reasons = []
        if self._cells and not self._skip_invalid:
            rows = len({repr(cell.row) for cell in self._cells})
            others = ", or plan the others alone with plan(…, skip_invalid=True)"
            reasons.append(
                f"{many_of(rows, 'row')} cannot be planned: correct them (plan.refused shows where)"
                f"{others if self.changes else ''}"
            )
        if self._setting.undoes:  # it can touch nothing but what its run has made
            return reasons
        if not many and (sizes := self._excess_counts()):
            reasons.append(f"needs apply(many=True): it {' and '.join(sizes)}")
        never = [change for change in self.changes if change.undo == "never"]
        if never and not irreversible:
            reasons.append(
                f"needs apply(irreversible=True): {len(never):,} of its rows can never be undone "
                f"({never[0].label}: {never[0].loss})"
            )
        return reasons

    def _excess_counts(self) -> list[str]:
        """Return in words, by resource, what exceeds the deletes or changes allowed by default."""
        sizes, deleted, single_excess = [], 0, False
        changes_of = group_by_resource(self.changes, self._setting.noun)
        for noun, part in self._setting.parts.items():
            counts = count_kinds(changes_of.get(noun, ()))
            touched = counts["update"] + counts["delete"]
            deleted += counts["delete"]
            if counts["delete"] > MAX_DELETES:
                single_excess = True
                sizes.append(f"deletes {counts['delete']:,} {noun}s")
            elif part.total >= MIN_RECORDS and touched > MAX_SHARE * part.total:
                whole = f"{part.total:,} {noun}s"
                sizes.append(f"changes {touched:,} of {whole}, more than {MAX_SHARE:.0%}")
        if deleted > MAX_DELETES and not single_excess:
            sizes.insert(0, f"deletes {deleted:,} records of several resources")
        return sizes

    def apply(
        self,
        *,
        concurrency: int = 8,
        rate: float | None = None,
        many: bool = False,
        irreversible: bool = False,
        rehearsed: bool = False,
        watch: Watch | None = None,
    ) -> pd.DataFrame:
        """Apply the plan; return the result, one row for each row of the plan.

        Everything is journalled: `chatkit.resume(run)` goes on after an interrupt or a crash,
        `chatkit.undo(result)` takes it back. Applied again, it goes on where it stopped; when
        nothing is left to do it sends nothing. The stop button returns what is true by then.

        The journal is in your own data folder, or where CHATKIT_RUNS says: a folder of this
        machine, or 'postgresql://user@host/name', so that any machine can go on with the run.

        Args:
            concurrency: Calls under way at once.
            rate: Calls a second at most; a run that goes on keeps it, and so does its undo.
            many: Allow more than 100 deletes, and changes to more than 30 % of the records.
            irreversible: Allow what can never be undone.
            rehearsed: Send nothing unless `chatkit.rehearse` of this very plan went well.
            watch: Called with how many rows are done, and of how many, in place of a bar.

        Returns:
            The rows of the plan, in its order, with its index. `state` is one of applied,
            differs (it landed, but reads back otherwise), unchanged, skipped (it exists and
            is kept, as planned), conflict (it was changed meanwhile), failed (refused),
            unknown (nobody can tell yet) and not sent; `reason` says why. `checked_ago` is how
            long before its write a record was last looked at; missing where nothing was sent, or
            where there was nothing to look at.

        Raises:
            PlanRefused: It would do more than you allow; the text says which argument does. Or
                its run has begun, and its journal lies elsewhere; the text says where.
            AccountBusy: Another kernel is changing this account.
            JournalError: The journal cannot be kept, so nothing is sent.
        """
        refuse_moved_journals([self])
        Throttle(concurrency, rate)  # refuses what cannot be
        raise_if_unsafe(self.objections(many=many, irreversible=irreversible))
        if rehearsed and self._rehearsed != self.hash:
            raise PlanRefused(
                "This plan is blocked, nothing was sent: it was not rehearsed without errors. "
                "chatkit.rehearse(plan) applies it to a copy of the account."
            )
        connection = self._target.transport.connection
        store = get_store(self)
        accounts = {self._setting.account, connection.account}  # two, for a run that has moved
        interrupt, self._stop_by = self._stop_by or Interrupt(), None
        with interrupt, hold_accounts(store, accounts, self.id, passing=connection.passing) as kept:
            where = "" if self._at is None else store.location
            begun = kept.has(self.id)
            if not begun and watch is None:
                self._print_time(estimate_remaining(self, concurrency, rate), where)
            with (
                kept.open(self.id) if begun else kept.create(self._header(), self.changes)
            ) as journal:
                self._store, self._loaded = store, False
                if journal.header.hash != self.hash:
                    raise PlanRefused("It is not the plan that this run began with.")
                run = Run(
                    journal,
                    self._target,
                    interrupt,
                    concurrency=concurrency,
                    rate=rate,
                    watch=watch,
                )
                if self._written:
                    self._target.keep(self._written, self.id)
                if run.finished and watch is None:
                    headers = (kept.header for kept in store.summaries())
                    undone = any(header and header.undoes == self.id for header in headers)
                    print_line(UNDONE if undone else APPLIED_BEFORE)
                elif begun and watch is None:
                    left = estimate_remaining(self, concurrency, rate, (journal, run.rows))
                    self._print_time(left, where)
                with self._target.transport.limit_rate(run.rate):
                    run.execute()
            self.secrets |= run.state.secrets
            if run.state.secrets and self._setting.several:  # among many rows nobody looks for them
                print_line(_make_secrets_note(run.state.secrets, run.rows))
            result = rendering.make_result_frame(
                run.rows, self.id, self._setting.names, run.state.stopped, where
            )
            if watch is None and run.state.stopped:  # a watcher sees the result
                print_line(
                    f"{rendering.summarize_result(result)} {make_resume_hint(self.id, where)}"
                )
        return result

    def _print_time(self, left: Remaining, home: str) -> None:
        """Print how long it takes to apply, if that is long, and that it can be stopped.

        Args:
            left: What is left to do.
            home: As for `make_resume_hint`.
        """
        if left.seconds >= LONG:
            print_line(
                f"{describe_changes_left(left.changes, len(self))}, {many_of(left.calls, 'call')}: "
                f"{format_duration(left.seconds)} at {left.pace}. The stop button stops the run, "
                f"and {make_resume_hint(self.id, home)}"
            )

    def save(self, path: str | Path) -> Path:
        """Write the plan to a file that only you can read, with its hash.

        `client.load_plan(path)` reads it again, for a colleague's review or a later day.

        Apply it once: what tells that its run has begun is its journal. One that was applied from
        another file, or in another process, is found in this home of journals, in those of this
        machine and where the file says that it began; not in one that CHATKIT_RUNS named only
        after it was saved. Keep the journals in one place then, with CHATKIT_RUNS.
        """
        return save_plans(path, [self])

    def _content(self) -> dict[str, Any]:
        """Return the content of its file."""
        return {
            "id": self.id,
            "changes": [change.as_json() for change in self.changes],
            "setting": asdict(self._setting),
            "refused": [[label_to_json(cell.row), *cell[1:]] for cell in self._cells],
            "notes": self.notes,
            "skip_invalid": self._skip_invalid,
            "left": [[label_to_json(row.row), *row[1:]] for row in self._left],
            "written": self._written,
            "rehearsed": self._rehearsed,
            "began": self._store.location if self._store else "",
        }

    def _header(self) -> RunHeader:
        """Make the header of the run of this plan."""
        setting = self._setting
        return RunHeader(
            run=self.id,
            hash=self.hash,
            account=setting.account,
            connection=self._target.transport.connection.name,
            noun=setting.noun,
            names=setting.names,
            parts={noun: part._replace(matched=0) for noun, part in setting.parts.items()},
            undoes=setting.undoes,
            rate=setting.rate,
            folder=setting.folder,
            changes=len(self.changes),
            fleet=self._fleet,
            fleet_of=self._fleet_of,
            by=get_user_name(),
        )


def estimate_remaining(
    plan: Plan,
    concurrency: int = 8,
    rate: float | None = None,
    run: tuple[Journal, Sequence[Row]] | None = None,
) -> Remaining:
    """Estimate what is left to do of a plan.

    Args:
        plan: The plan.
        concurrency: Calls under way at once.
        rate: Calls a second at most; None: as many as the run was applied with before.
        run: The journal of its run, and its rows; None if nothing has been done.
    """
    left, parts, last_rate = plan.changes, plan._setting.parts, plan._setting.rate
    if run is not None:
        journal, rows = run
        left, parts = [row.change for row in rows if not row.done], journal.header.parts
        last_rate = journal.read_last_rate()
    rate = last_rate if rate is None else rate
    pace = plan._target.transport.pace(concurrency, rate)
    return Remaining(sum(count_kinds(left).values()), plan._count_calls(left, parts), pace)


def describe_changes_left(left: int, of: int) -> str:
    """Describe how many changes are left, and how much memory they need if they are very many."""
    text = many_of(of, "change") if left == of else f"{left:,} of {many_of(of, 'change')}"
    memory = describe_memory(of)
    return f"{text} ({memory})" if memory else text


def make_resume_hint(run: str, home: str) -> str:
    """Return the call that goes on with a run.

    Args:
        run: Its name.
        home: Where its journal lies, without a password; empty: where those of this user do.
    """
    place = f", at={home!r}" if home else ""
    return f"chatkit.resume({run!r}{place}) goes on."


def join_plans(
    target: PlanTarget,
    plans: Iterable[Plan],
    *,
    cells: Sequence[RefusedCell] = (),
    skip_invalid: bool = False,
    folder: str = "",
) -> Plan:
    """Make one plan for the account of plans for its resources.

    It is read, applied, journalled and taken back as one. Its rows are those of the plans, one
    plan after the other, which is the order in which they are sent; `resource` is the first
    level of their index.

    Args:
        target: Where the records of all of them are.
        plans: Plans for different resources of one account, none of them applied.
        cells: What else cannot be planned; the rows begin with a resource.
        skip_invalid: Plan the good rows although others cannot be planned.
        folder: The account folder that they were made of, if they were.
    """
    plans = list(plans)
    notes, changes, refused = list[str](), [], list(cells)
    for plan in plans:
        noun = plan._setting.noun
        notes += [note for note in plan.notes if note not in notes]
        changes += [
            structs.replace(change, noun=noun, row=_prefix_label(noun, change.row))
            for change in plan.changes
        ]
        refused += [cell._replace(row=_prefix_label(noun, cell.row)) for cell in plan._cells]
    setting = Setting(
        account=target.transport.connection.account,
        noun=ACCOUNT,
        names=("resource", "record"),
        parts={noun: part for plan in plans for noun, part in plan._setting.parts.items()},
        folder=folder,
    )
    return Plan(
        target,
        setting,
        changes,
        refused,
        notes=notes,
        skip_invalid=skip_invalid,
        written=[text for plan in plans for text in plan._written],
    )


def _prefix_label(noun: str, label: Any) -> tuple[str, Any]:
    """Return the label of a row in a plan for the account: its resource, and one label."""
    parts = label if isinstance(label, tuple) else (label,)
    return noun, "/".join(map(str, parts)) if len(parts) > 1 else parts[0]


def _make_secrets_note(kept: Mapping[Any, Secret], rows: Iterable[Row]) -> str:
    """Return the line that lists the new signing secrets, and where they are."""
    made = {row.key: row.change.label for row in rows if row.key in kept and row.done}
    named = ", ".join(f"{made[key]} ({key})" if key in made else str(key) for key in kept)
    return (
        f"{many_of(len(kept), 'new webhook')} got a signing secret, which the service never shows "
        f"again: {named}. plan.secrets holds them by id, or the dict that resume(…, secrets=) was "
        "given; client.webhooks.keep_secret(id, secret) keeps one in the keyring."
    )


def restore_plan(
    journal: Journal, target: PlanTarget, store: JournalStore, at: At | None = None
) -> Plan:
    """Make the plan that a run began with: applied again, the run goes on.

    Args:
        journal: The journal of the run.
        target: Where the records are; it is not asked for anything before the plan is applied.
        store: The store of the journal.
        at: The same, if the user has named it.
    """
    header = journal.header
    setting = Setting(
        account=header.account,
        noun=header.noun,
        names=header.names,
        # Without totals: it was allowed when the run began.
        parts={noun: part._replace(total=0) for noun, part in header.parts.items()},
        undoes=header.undoes,
        rate=header.rate,
    )
    plan = set_journal_location(Plan(target, setting, [*journal.changes()], plan_id=header.run), at)
    plan._fleet, plan._fleet_of = header.fleet, header.fleet_of
    plan._store = store
    return plan


def make_fleet_part(plan: Plan, fleet: str, label: str, labels: Sequence[str]) -> Plan:
    """Copy the plan of an account as a part of the plan of a fleet, with a run of its own.

    Args:
        plan: The plan of one account.
        fleet: The name of the run of the fleet.
        label: The name of the account there.
        labels: The names of all accounts that have a run there: the run of this one is named by
            its position among them, from 1.
    """
    part = copy(plan)
    vars(part).pop("hash", None)
    part.id = make_fleet_part_id(fleet, labels.index(label) + 1)
    part._fleet, part._fleet_of = (fleet, label), tuple(labels)
    part._store = None
    return part


def make_fleet_part_id(fleet: str, position: int) -> str:
    """Return the run id of an account in the run of a fleet; positions count from 1."""
    return f"{fleet}-{position:03d}"


def parse_fleet_id(run: str) -> str:
    """Return the run id of the fleet that a run is a part of; empty for any other run."""
    named = re.fullmatch(r"(\d{8}-\d{6}-[0-9a-f]{6})-\d{3,}", run)
    return named[1] if named else ""


def create_journals(plans: Sequence[Plan], run: str) -> None:
    """Create the journals of several plans, so that all can be resumed before anything is sent.

    They are written in the order of the plans; each is durable before the next one begins. No
    account is locked: one that is busy gets its journal too.

    Args:
        plans: Plans of different accounts.
        run: The run of the fleet.

    Raises:
        InputError: JSON cannot hold one of the labels or values. No journal is left.
        JournalError: A journal cannot be kept. None is left of the others.
    """
    made: list[tuple[JournalStore, str]] = []
    with ExitStack() as locks:
        homes: dict[str, JournalStore] = {}
        try:
            for plan in plans:
                store = get_store(plan)
                if store.location not in homes:
                    whole = locks.enter_context(store.hold([f"fleet {run}"], run))
                    homes[store.location] = whole
                if not homes[store.location].has(plan.id):
                    homes[store.location].create(plan._header(), plan.changes).close()
                    made.append((store, plan.id))
                plan._store = store
        except BaseException:
            for plan in plans:
                plan._store = None
            for store, name in made:
                store.delete(name)
            raise
    for plan in plans:
        plan._loaded = False


def load_plan(path: str | Path, target_of: Callable[[str], PlanTarget]) -> Plan:
    """Read a plan that was saved.

    Args:
        path: The file.
        target_of: Returns the target of a noun.

    Raises:
        FileNotFoundError: There is no such file.
        PlanRefused: The file is no plan, was edited, or belongs to another account.
    """

    def find_target(account: str, noun: str) -> PlanTarget:
        target = target_of(noun)
        if account != target.transport.connection.account:
            raise PlanRefused(
                f"{path} is a plan for another account ({account}): plan again with this client."
            )
        return target

    [plan], _ = load_plans(path, find_target, fleet=False)
    return plan


class _PlanContent(msgspec.Struct):
    """The content of a plan file."""

    changes: list[dict[str, Any]]
    id: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-z-]+\Z")]  # it names a journal
    setting: Setting
    refused: list[RefusedCell]
    notes: list[str]
    skip_invalid: bool
    left: list[LeftOutRow]
    written: list[list[str]]
    rehearsed: str
    began: str


def _plan_from_content(content: _PlanContent, target: PlanTarget) -> Plan:
    """Make a plan of the content of its file.

    Raises:
        ValueError, LookupError: It is one for resources that there are not.
    """
    changes = [Change.from_json(fields) for fields in content.changes]
    setting, nouns = content.setting, {*content.setting.parts}
    known = nouns if setting.several else {None, setting.noun}
    named = setting.several or nouns == {setting.noun}
    if not named or {change.noun for change in changes} - known:
        raise ValueError("it is of resources that it does not name")
    for noun in nouns if setting.several else ():
        target.of("any", noun)
    plan = Plan(
        target,
        setting,
        changes,
        [cell._replace(row=label_from_json(cell.row)) for cell in content.refused],
        notes=content.notes,
        skip_invalid=content.skip_invalid,
        plan_id=content.id,
        left=[row._replace(row=label_from_json(row.row)) for row in content.left],
        written=content.written,
    )
    plan._rehearsed = content.rehearsed
    plan._loaded = True
    if content.began:
        plan._store = open_store(content.began)
    return plan


def save_plans(
    path: str | Path, plans: Iterable[Plan], fleet: Mapping[str, Any] | None = None
) -> Path:
    """Write plans to one file that only this user can read.

    Args:
        path: The file.
        plans: The plan of one account, or those of a fleet.
        fleet: What else to save of the plan of a fleet, as JSON.
    """
    path = Path(path)
    content = {"fleet": fleet, "plans": [plan._content() for plan in plans]}
    data = _canonical(content).encode()
    whole = b'{"hash":"%s",%s' % (hashlib.sha256(data).hexdigest().encode(), data[1:])
    with replace_file(path) as file:
        file.write(msgspec.json.format(whole, indent=1) + b"\n")
    return path


def load_plans(
    path: str | Path, target_of: Callable[[str, str], PlanTarget | None], *, fleet: bool = True
) -> tuple[list[Plan], Any]:
    """Read the plans that `save_plans` has written.

    Args:
        path: The file.
        target_of: Returns the target of an account and a noun; None: there is none.
        fleet: Whether it is to be the plan of a fleet, or of one account.

    Returns:
        The plans, in their order, and what else was saved.

    Raises:
        FileNotFoundError: There is no such file.
        PlanRefused: The file is no such plan, was edited, or is for an account that is not there.
    """
    data, plans, missing = read_file_bytes(path), [], []
    try:
        content = json.loads(data)
        digest, metadata = content.pop("hash"), content["fleet"]
        if _compute_hash(content) != digest:
            raise PlanRefused(f"{path} was edited since it was saved: make a new plan instead.")
        if metadata is None:
            [_] = content["plans"]
        if fleet and metadata is None:
            raise PlanRefused(f"{path} is a plan for one account: client.load_plan(path) reads it.")
        if metadata is not None and not fleet:
            raise PlanRefused(
                f"{path} is a plan for several accounts: fleet.load_plan(path) reads it."
            )
        for each in content["plans"]:
            read = msgspec.convert(each, _PlanContent)
            if (target := target_of(read.setting.account, read.setting.noun)) is None:
                missing.append(read.setting.account)
            else:
                plans.append(_plan_from_content(read, target))
    except ChatkitError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise PlanRefused(f"{path} is not a saved plan: plan.save(path) writes one.") from error
    if missing:
        raise PlanRefused(
            f"{path} is also a plan for {', '.join(missing)}, and this fleet has no such account: "
            "open them together with the others, with chatkit.connect_all."
        )
    return plans, metadata


def copy_plan_to(plan: Plan, target: PlanTarget) -> Plan:
    """Make the same plan for a copy of its account, to be rehearsed there in a run of its own.

    Args:
        plan: The plan.
        target: The records of the copy.
    """
    setting = replace(plan._setting, account=target.transport.connection.account)
    return Plan(
        target,
        setting,
        plan.changes,
        plan._cells,
        skip_invalid=plan._skip_invalid,
        written=plan._written,
    )


def note_rehearsal(plan: Plan) -> None:
    """Note that this very plan was rehearsed: `apply(rehearsed=True)` then takes it."""
    plan._rehearsed = plan.hash


def get_setting(plan: Plan) -> Setting:
    """Return the setting of a plan: its account, its noun, and how many records there are."""
    return plan._setting


def get_target(plan: Plan) -> PlanTarget:
    """Return the target of a plan: its records, and the transport that reaches them."""
    return plan._target


def get_journal_location(plan: Plan) -> At | None:
    """Return where the journal of a plan is kept; None if in the default store."""
    return plan._at


def get_store(plan: Plan) -> JournalStore:
    """Return the store that keeps the journal of a plan."""
    return open_store(plan._at, passing=plan._target.transport.connection.passing)


def read_journal(plan: Plan) -> Journal:
    """Open the journal of a plan whose run has begun to be read.

    Raises:
        JournalError: It is gone, or damaged.
    """
    return (plan._store or get_store(plan)).read(plan.id)


def set_journal_location(plan: Plan, at: At | None) -> Plan:
    """Set where the journal of a plan is kept, in place of CHATKIT_RUNS; return the plan."""
    plan._at = at
    return plan


def refuse_moved_journals(plans: Collection[Plan]) -> None:
    """Refuse plans whose run has begun with a journal in another store.

    Args:
        plans: The plans to apply.

    Raises:
        PlanRefused: The run of one has begun elsewhere: it would be sent twice.
    """
    listed: dict[str, set[str]] = {}

    def has(store: JournalStore, run: str) -> bool:
        if store.location not in listed:  # asked once: a database takes a connection for it
            listed[store.location] = set(store.runs())
        return run in listed[store.location]

    for plan in plans:
        try:
            new = get_store(plan)
        except SettingsError:
            continue  # its account cannot be found: whoever applies it says so, of it alone
        if not (plan._store or plan._loaded) or has(new, plan.id):
            continue
        began = plan._store or next(
            (each for each in list_known_stores() if has(each, plan.id)), None
        )
        if began is None or (began.location == new.location and not plan._loaded):
            continue
        blocked = "This plan is blocked, nothing was sent: its run has begun, and the journal of it"
        if began.location == new.location:
            raise PlanRefused(
                f"{blocked} is not in {new.location} any more, or that is the folder of another "
                "machine. Plan again from a fresh frame: a plan is compared with what is live."
            )
        raise PlanRefused(
            f"{blocked} is in {began.location}, not in {new.location}. "
            f"chatkit.resume({plan.id!r}, at={began.location!r}) goes on."
        )


def get_refused_cells(plan: Plan) -> tuple[RefusedCell, ...]:
    """Return the cells that cannot be planned: `plan.refused` is the table of them."""
    return plan._cells


#: The one form of a value that is hashed.
_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def _compute_hash(content: object) -> str:
    """Hash JSON values in their canonical form."""
    return hashlib.sha256(_canonical(content).encode()).hexdigest()
