"""Comparison of two accounts, account folders or folder revisions.

Each side is read into an `AccountState`, in which a thing is known by what it is called and never
by its id; then they are compared thing by thing and field by field, and contacts column by column.
A field differs where a plan would write it, so nothing differs after a plan was applied.

A rehearsal applies a plan to a copy of its account, and shows what differs there afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import pandas as pd

from chatkit.account.fleet_plan import FleetPlan, run_in_threads
from chatkit.account.folder import Folder, read_state
from chatkit.account.planning import Named, plan_state
from chatkit.account.reading import (
    CONTACT,
    DECLARED,
    EMPTY,
    NOT_CARRIED,
    AccountState,
    Fields,
    find_changed_fields,
    format_name,
    read_account,
)
from chatkit.api.connection import describe_account
from chatkit.bulk.changes import Change
from chatkit.bulk.plan import (
    copy_plan_to,
    estimate_remaining,
    get_setting,
    get_target,
    note_rehearsal,
)
from chatkit.bulk.rendering import Line, join_account_tables, make_change_lines
from chatkit.bulk.stores import open_store
from chatkit.client import RESOURCES, Client, get_plan_target, list_open_clients
from chatkit.errors import ChatkitError, InputError, PlanRefused, get_first_line
from chatkit.frames.snapshot import write_origin
from chatkit.imports import accessor
from chatkit.report import (
    FEW,
    LABEL,
    MANY,
    WIDTH,
    Report,
    ReportPart,
    both_values,
    bullets,
    folded,
    headline,
    html_tables,
    html_value,
    join_blocks,
    make_object_frame,
    marked,
    paragraph,
    table,
)
from chatkit.util.display import (
    MISSING,
    RenderedValue,
    cut,
    cut_middle,
    format_duration,
    many,
    render_change,
    render_value,
    visible,
    words,
)

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan
    from chatkit.sandbox import Sandbox

#: What can be compared: see `compare`.
Comparable: TypeAlias = "Client | Folder | Sandbox | AccountState | str | PathLike[str]"
Position = Literal["left", "right"]
DifferenceKind = Literal["changed", "only left", "only right"]

COLUMNS = ("resource", "key", "field", "left", "right", "what")
_SIGNS = {"changed": "~", "only left": "-", "only right": "+"}
_CLASSES = {"changed": "update", "only left": "delete", "only right": "create"}
#: What is never compared, in the one line under a comparison.
_SET_ELSEWHERE = "ids, secrets and what the service sets itself"
_DEPTH = 6  #: places that are shown of one flow document


@dataclass(frozen=True, slots=True)
class AccountDifference:
    """A record that only one side has, or a field that differs."""

    resource: str  #: flow, content, webhook or contact
    key: str  #: what the thing is called: a name, code/language, an address, a number
    field: str  #: which field differs; empty for a thing that only one side has
    left: Any  #: the value there, or all fields of the thing; None if it is not there
    right: Any
    what: DifferenceKind


def compare(
    left: Comparable | Mapping[str, Any],
    right: Comparable | None = None,
    *,
    contacts: bool | None = None,
    codes: Iterable[str] | None = None,
) -> Comparison | FleetComparison:
    """Compare two accounts, or saved folders of them, matching records by name.

    Each side is a client, a sandbox, a `Folder` or its path, or a git revision of one, like
    "shop/@HEAD~3". Flows are found again by their name, contents by template code and language,
    webhooks by their address, contacts by their number.

    A fleet alone is compared with its first account: which of the others differ, and in what.

    Args:
        left: One side; or a fleet, or any mapping of names to sides.
        right: The other one.
        contacts: Compare contacts too; without it if a folder has them.
        codes: The template codes to compare. Without it those that a folder or a sandbox holds,
            and those that a client remembers (`client.templates.remember`): of an account they
            cannot be listed.

    Returns:
        A report that shows itself; `frame()` is a table of it, and `plan("right")` makes the
        right side as the left one is. Of a fleet a `FleetComparison`.

    Raises:
        InputError: A side is none of these, or its files cannot be read.

    >>> same = chatkit.compare(client, client)
    >>> len(same)
    0
    """
    names = None if codes is None else tuple(codes)
    if not isinstance(left, Mapping):
        if right is None:
            raise InputError("compare takes two sides, or one fleet.")
        both = _read_states({"left": left, "right": right}, names, contacts=contacts)
        return Comparison(_get_state(both["left"]), _get_state(both["right"]), (left, right))
    if right is not None:
        raise InputError("A fleet is compared with its first account: pass the fleet alone.")
    if len(left) < 2:
        raise InputError("A fleet is compared with its first account: it has no other.")
    states = _read_states(left, names, contacts=contacts)
    first, *others = left
    base = replace(_get_state(states[first]), origin=first)
    compared: dict[str, Comparison] = {}
    stops: dict[str, str] = {}
    for label in others:
        state = states[label]
        if isinstance(state, ChatkitError) and not isinstance(state, InputError):
            stops[label] = get_first_line(state)
        else:
            other = replace(_get_state(state), origin=label)
            compared[label] = Comparison(base, other, (left[first], left[label]))
    return FleetComparison(first, compared, stops)


def _read_states(
    sources: Mapping[str, Comparable], codes: tuple[str, ...] | None, *, contacts: bool | None
) -> dict[str, AccountState | Exception]:
    """Read the state of each side at once; folders first, because they supply the template codes.

    Returns:
        The state of each side, or the error of one that cannot be read.
    """
    states: dict[str, AccountState | Exception] = {}
    known = list(codes or ())
    for label, source in sources.items():
        if isinstance(source, Client):
            named = source.templates.codes
        else:
            states[label] = state = read_state(source, contacts=contacts, codes=codes)
            named = state.codes
        known += named if codes is None else ()
    names = tuple(dict.fromkeys(known)) or codes
    if contacts is None:
        read_here = [state for state in states.values() if isinstance(state, AccountState)]
        contacts = any(CONTACT in state.records for state in read_here)

    def read_source(label: str, _: object) -> AccountState:
        """Read the state of one side, with the template codes of all sides."""
        return read_state(sources[label], contacts=contacts, codes=names)

    return states | run_in_threads([label for label in sources if label not in states], read_source)


def _get_state(state: AccountState | Exception) -> AccountState:
    """Return the state of a side; raise the error of a side that could not be read."""
    if isinstance(state, Exception):
        raise state
    return state


class Comparison(Report, list[AccountDifference]):
    """The differences between two sides; false when there are none.

    Args:
        left: What one side holds.
        right: What the other one holds.
        sources: What both were read from, for `plan`.
    """

    def __init__(
        self,
        left: AccountState,
        right: AccountState,
        sources: tuple[Comparable, Comparable] | None = None,
    ) -> None:
        self.left, self.right = left, right
        self._sources: tuple[Any, Any] = sources or (left, right)
        for noun in DECLARED:
            if noun in left.records and noun in right.records:
                self.extend(_compare_records(noun, left.get(noun), right.get(noun)))
        self._by_resource: dict[str, dict[str, list[AccountDifference]]] = {}
        for each in self:
            self._by_resource.setdefault(each.resource, {}).setdefault(each.key, []).append(each)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The number of things that were changed, or are only on one side, for each resource."""
        counted = {
            noun: Counter(first.what for first, *_ in records.values())
            for noun, records in self._by_resource.items()
        }
        return {
            noun: {what: count[what] for what in get_args(DifferenceKind) if count[what]}
            for noun, count in counted.items()
        }

    def frame(self) -> pd.DataFrame:
        """Return a row for each difference: `resource`, `key`, `field`, `left`, `right`, `what`.

        `what` is one of changed, only left and only right; a thing that only one side has is one
        row without a field. Some of its rows can be planned alone: `plan("right", rows=some)`.
        """
        texts = ("resource", "key", "field", "what")
        frame = make_object_frame(self, COLUMNS, texts=texts)
        write_origin(frame)
        return frame

    def plan(
        self,
        target: Position,
        rows: pd.DataFrame | None = None,
        *,
        delete: pd.DataFrame | Iterable[Named] = (),
        broken: bool = False,
        skip_invalid: bool = False,
    ) -> Plan:
        """Plan the changes that make one side equal to the other. Nothing is sent before `apply()`.

        Args:
            target: The side that is changed, "left" or "right". It must be a client.
            rows: Only these: some rows of `frame()`, like `frame[frame.resource == "flow"]`. The
                name of a contact goes as a whole.
            delete: What only the target has and is to be deleted, as some rows of `frame()`, or
                by name: `[("flow", "Order survey")]`. What is not named stays.
            broken: Plan what the platform would refuse, too.
            skip_invalid: Plan the rest although something cannot be planned.

        Raises:
            InputError: The target is not a client, or rows are not of this comparison.

        >>> compared = chatkit.compare(client, client)
        >>> len(compared.plan("right"))
        0
        """
        if target not in get_args(Position):
            raise InputError(f"The side to change is 'left' or 'right', not {target!r:.60}.")
        client = self._sources[target == "right"]
        if not isinstance(client, Client):
            origin = (self.left, self.right)[target == "right"].origin
            raise InputError(
                f"A plan changes an account, and the {target} side is {origin}: compare with a "
                "client, like chatkit.connect(sandbox)."
            )
        chosen: dict[tuple[str, str], list[str]] = {}
        for noun, key, field in self._read_chosen(rows, "rows") if rows is not None else ():
            chosen.setdefault((noun, key), []).append(field)
        if isinstance(delete, pd.DataFrame):
            delete = [(noun, key) for noun, key, _ in self._read_chosen(delete, "delete")]
        source = (self.right, self.left)[target == "right"]
        only = None if rows is None else chosen
        return plan_state(
            source, client, only=only, delete=delete, broken=broken, skip_invalid=skip_invalid
        )

    def _read_chosen(self, rows: pd.DataFrame, name: str) -> list[tuple[str, str, str]]:
        """Return resource, record and field of the differences that a person has chosen.

        Raises:
            InputError: It is no frame of differences, or not of this comparison.
        """
        names = list(COLUMNS[:3])
        if not isinstance(rows, pd.DataFrame) or not {*names} <= {*rows.columns}:
            raise InputError(
                f"{name}= takes some rows of the frame() of this comparison, like "
                f"{name}=frame[frame.resource == 'flow']."
            )
        chosen = sorted(set(rows[names].fillna("").itertuples(index=False, name=None)))
        known = {(each.resource, each.key, each.field) for each in self}
        for each in chosen:
            if each not in known:
                place = " ".join(map(cut, each)).rstrip()
                raise InputError(
                    f"{name}= holds what does not differ in this comparison: {place}. Take rows "
                    "of its frame()."
                )
        return chosen

    # --- as a report ----------------------------------------------------------------

    def text(self) -> str:
        """Return all differences as text."""
        notes = bullets("", self._list_notes())
        return join_blocks([self._make_headline().lines, *self._format_changes(None), notes.lines])

    def _parts(self, *, notes: bool = True) -> Iterator[ReportPart]:
        """Yield the headline, the first changes as text, all of them as HTML, and the notes."""
        yield self._make_headline()
        yield from (ReportPart(lines) for lines in self._format_changes(FEW))
        yield ReportPart(html=self._render_html_table)
        if notes:
            yield bullets("", self._list_notes())

    def _render_html_table(self) -> str:
        """Render the changed records as an HTML table, the first of each resource unfolded."""
        first: list[str] = []
        more: list[str] = []
        for records in self._by_resource.values():
            most = MANY // len(self._by_resource)
            for n, (key, changes) in enumerate(islice(records.items(), most)):
                (first if n < FEW else more).append(_render_record_changes(key, changes))
        names = [marked(cut(state.origin, LABEL)) for state in (self.left, self.right)]
        widths = {"difference": 17, "which": 20, "field": 15, names[0]: 24, f"{names[1]} ": 24}
        return html_tables(widths, first, more, self._count_records(), ".frame()")

    def _format_changes(self, most: int | None) -> Iterator[list[str]]:
        """Yield the text lines of each resource: its counts and its first `most` records."""
        for noun, count in self.counts.items():
            counted = ", ".join(f"{number:,} {what}" for what, number in count.items())
            lines = [f"{noun.capitalize()}s: {counted}"]
            for key, changes in islice(self._by_resource[noun].items(), most):
                lines += _format_record_changes(key, changes)
            if most is not None and (more := len(self._by_resource[noun]) - most) > 0:
                lines.append(f"  … and {more:,} more: .frame() has them all")
            yield lines

    def _count_records(self) -> int:
        return sum(map(len, self._by_resource.values()))

    def _make_headline(self) -> ReportPart:
        """Make the headline, which counts the records that differ."""
        left, right = visible(self.left.origin), visible(self.right.origin)
        if not len(self):
            return headline(f"No difference between {left} and {right}.")
        differ = "differs" if self._count_records() == 1 else "differ"
        things = many(self._count_records(), "thing")
        return headline(f"{things} {differ}, from {left} (-) to {right} (+).")

    def _list_notes(self) -> list[str]:
        """Return notes on what is not compared."""
        notes = [*self.left.not_carried, *self.right.not_carried]
        notes = [visible(note) for note in dict.fromkeys(notes) if note != NOT_CARRIED]
        unread = self._describe_unread_resources().values()
        return [*notes, f"Not compared: {', '.join(unread)}{', ' * bool(unread)}{_SET_ELSEWHERE}."]

    def _describe_unread_resources(self) -> dict[str, str]:
        """Return the resources that a side does not hold, by noun, in words."""
        unread = {}
        for noun, declared in DECLARED.items():
            states = (self.left, self.right)
            without = [state.origin for state in states if noun not in state.records]
            if without:
                holds_none = f" ({visible(without[0])} has none)" if len(without) == 1 else ""
                unread[noun] = f"{noun}s{holds_none}"
            elif "template_code" in declared.account_key and not (
                self.left.codes or self.right.codes
            ):
                unread[noun] = f"{noun}s (codes=…)"
        return unread


class FleetComparison(Report, dict[str, Comparison]):
    """The differences of the accounts of a fleet from the first one.

    `found["fr"]` is the comparison of one account: the first is its left side.

    Args:
        first: The name of the first account.
        compared: The comparisons of the others, by name.
        stops: The accounts that could not be read, each with the reason.
    """

    def __init__(
        self, first: str, compared: Mapping[str, Comparison], stops: Mapping[str, str]
    ) -> None:
        super().__init__(compared)
        self.first, self.stops = first, dict(stops)

    @property
    def differ(self) -> list[str]:
        """The accounts that differ from the first one."""
        return [label for label, comparison in self.items() if len(comparison)]

    def frame(self) -> pd.DataFrame:
        """Return a row for each difference: `account`, and the columns of `Comparison.frame`.

        `left` is the first account, `right` the one that is named.
        """
        return join_account_tables(
            {label: comparison.frame() for label, comparison in self.items()}
        )

    def plan(
        self,
        rows: pd.DataFrame | None = None,
        *,
        broken: bool = False,
        skip_invalid: bool = False,
    ) -> FleetPlan:
        """Plan the changes that make the accounts equal to the first. `apply()` sends them.

        Args:
            rows: Only these: some rows of `frame()`, like `frame[frame.resource == "content"]`.
            broken: Plan what the platform would refuse, too.
            skip_invalid: Plan the rest although something cannot be planned.

        Raises:
            InputError: Rows are not of this comparison, or an account is not a client.
        """
        chosen = {} if rows is None else dict(list(rows.groupby("account", sort=False)))
        plans = {
            label: comparison.plan(
                "right", chosen.get(label), broken=broken, skip_invalid=skip_invalid
            )
            for label, comparison in self.items()
            if label in (self.differ if rows is None else chosen)
        }
        return FleetPlan(plans, failed=self.stops, skip_invalid=skip_invalid)

    def _parts(self) -> Iterator[ReportPart]:
        """Yield the headline, a table of counts, and the comparisons that have differences."""
        total, differ = many(len(self), "account"), len(self.differ)
        yield headline(
            f"{differ:,} of {total} {'differs' if differ == 1 else 'differ'} from {self.first}."
            if differ
            else f"No difference between {visible(self.first)} and {total}."
        )
        rows = [
            (visible(label), *(_describe_difference_count(compared, noun) for noun in DECLARED))
            for label, compared in self.items()
        ]
        widths = {"account": 28, **{f"{noun}s": 18 for noun in DECLARED}}
        yield table(widths, rows, headings="columns")
        for n, label in enumerate(self.differ):
            parts = list(self[label]._parts(notes=False))  # its notes stand at the end, once
            yield from (ReportPart(part.lines) for part in (parts if n < FEW else ()))
            yield ReportPart(html=partial(folded, visible(label), parts))
        if (hidden := differ - FEW) > 0:
            yield ReportPart([f"… and {many(hidden, 'more account')}: [name] shows each."])
        stops = [
            f"{visible(label)} could not be read: {visible(reason)}"
            for label, reason in self.stops.items()
        ]
        notes = dict.fromkeys(note for compared in self.values() for note in compared._list_notes())
        yield bullets("", [*stops, *notes])


def _describe_difference_count(compared: Comparison, noun: str) -> str:
    """Return the cell of a resource: how many records differ, "same" or "not compared"."""
    if counts := compared.counts.get(noun):
        return f"{sum(counts.values()):,}"
    return "not compared" if noun in compared._describe_unread_resources() else "same"


# --- records ------------------------------------------------------------------------------


def _compare_records(
    noun: str, left: Mapping[Any, Fields], right: Mapping[Any, Fields]
) -> Iterator[AccountDifference]:
    """Compare the records of one resource, sorted by name."""
    for key in sorted({*left, *right}):
        name = format_name(key, DECLARED[noun].separator)
        left_fields, right_fields = left.get(key), right.get(key)
        if left_fields is None or right_fields is None:
            kind: DifferenceKind = "only right" if left_fields is None else "only left"
            one, two = (fields and dict(fields) for fields in (left_fields, right_fields))
            yield AccountDifference(noun, name, "", one, two, kind)
            continue
        for field in find_changed_fields(noun, left_fields, right_fields):
            values = left_fields.get(field), right_fields.get(field)
            yield AccountDifference(noun, name, field, *values, "changed")


# --- one difference, line by line -----------------------------------------------------------


def _format_change(difference: AccountDifference) -> list[Line]:
    """Return the display lines of a difference; documents and lists are split into their parts."""
    field, left, right = difference.field, difference.left, difference.right
    if field == "flow_json" and isinstance(left, dict) and isinstance(right, dict):
        return _format_flow_difference(left, right)
    change = Change(
        row=0, kind="update", key=None, label="", before={field: left}, after={field: right}
    )
    return make_change_lines(change)


def _format_flow_difference(left: dict[str, Any], right: dict[str, Any]) -> list[Line]:
    """Compare two flow documents by meaning, line by line."""
    from chatkit.flowjson.diff import find_differences as meanings

    lines = []
    for each in meanings(left, right):
        raw = [None if value is MISSING else value for value in (each.before, each.after)]
        if each.kind.endswith(" moved"):
            both: Sequence[RenderedValue | None] = [words(str(value)) for value in raw]
        else:
            both = raw if raw == [None, None] else render_change(*raw)
        lines.append(Line(f"{each.kind}: {each.where}", *both))
    if (hidden := len(lines) - _DEPTH) > 0:
        lines[_DEPTH:] = [Line(f"… and {many(hidden, 'more place')}", None, None)]
    return lines or [Line("flow_json, written in another way", None, None)]


def _summarize_unmatched_record(difference: AccountDifference) -> str:
    """Describe a record that only one side has by its document, text, events or name."""
    fields = difference.left if difference.left is not None else difference.right
    values = (fields.get(name) for name in ("flow_json", "text", "events", "name"))
    return next((str(render_value(value)) for value in values if value not in EMPTY), "")


def _format_record_changes(key: str, changes: Sequence[AccountDifference]) -> list[str]:
    """Format the differences of one record as text lines, with its name first."""
    first = changes[0]
    head = f"  {_SIGNS[first.what]} {cut_middle(key, LABEL)}"
    if first.what != "changed":
        return [f"{head}  {_summarize_unmatched_record(first)}".rstrip()]
    lines = [head]
    for line in chain.from_iterable(map(_format_change, changes)):
        name = cut(line.field, 2 * LABEL)
        if line.before is None or line.after is None or len(name) > LABEL:
            lines.append(f"      {name}")
            name = "    "
        else:
            name += ": "
        if line.before is not None and line.after is not None:
            both = both_values(name, line.before, line.after, WIDTH - 6)
            lines += [f"      {each}" for each in both]
    return lines


def _render_record_changes(key: str, changes: Sequence[AccountDifference]) -> str:
    """Render the differences of one record as rows of an HTML table."""
    first = changes[0]
    if first.what == "changed":
        lines = [_render_line(line) for line in chain.from_iterable(map(_format_change, changes))]
    else:
        cells = ["<td></td>", "<td></td>", "<td></td>"]
        summary = marked(_summarize_unmatched_record(first))
        cells[1 if first.what == "only left" else 2] = f'<td dir="auto">{summary}</td>'
        lines = ["".join(cells)]
    span = f' rowspan="{len(lines)}"'
    sign = f'<b class="{_CLASSES[first.what]}">{_SIGNS[first.what]}</b> {first.what}'
    name = f"{first.resource} {marked(cut_middle(key, LABEL))}"
    head = f'<td{span}>{sign}</td><th{span} scope="rowgroup" dir="auto">{name}</th>'
    return f"<tbody><tr>{head}{'</tr><tr>'.join(lines)}</tr></tbody>"


def _render_line(line: Line) -> str:
    """Render the field of a changed line and both values as HTML cells."""
    name = f'<td dir="auto">{marked(cut(line.field, 2 * LABEL))}</td>'
    return f"{name}{html_value(line.before, 'del')}{html_value(line.after, 'ins')}"


# --- a rehearsal --------------------------------------------------------------------------

_CONCURRENCY = 8  #: calls under way at once, as `plan.apply()` does it
_SUCCESS_STATES = ("applied", "unchanged", "skipped")


def rehearse(plan: Plan) -> Rehearsal:
    """Apply a plan to a copy of its account, and show what differs there afterwards.

    The account itself is only read; its contacts are copied if the plan changes some. Once the
    rehearsal of a plan has gone well, `plan.apply(rehearsed=True)` goes, for this very plan alone.

    Args:
        plan: The plan, of one resource or of the account.

    Raises:
        InputError: `plan` is not a plan.
        PlanRefused: Some of its rows cannot be planned.
        CallError: The account cannot be read.

    >>> plan = client.contacts.plan([{"id": 50002, "name": "Ana Cruz"}])
    >>> chatkit.rehearse(plan).ok
    True
    """
    if not hasattr(plan, "objections") or isinstance(plan, FleetPlan):
        raise InputError(
            "rehearse takes the plan of one account, like client.contacts.plan(frame), "
            f'folder.plan(client) or plan["account"] of a fleet\'s, not {type(plan).__name__}.'
        )
    accessor.register()
    if refused := plan.objections(many=True, irreversible=True):
        raise PlanRefused("\n- ".join(["This plan cannot be rehearsed:", *refused]))
    transport, noun = get_target(plan).transport, get_setting(plan).noun
    client = next((each for each in list_open_clients() if each.transport is transport), None)
    client = client or Client._from_transport(transport.connection, transport)
    planned_codes = [change.code for change in plan.changes if change.code]
    codes = list(dict.fromkeys([*client.templates.codes, *planned_codes]))
    nouns = {change.noun or noun for change in plan.changes}
    contacts = any(RESOURCES[each]._declaration.personal for each in nouns)
    with client.copy(codes, contacts=contacts) as copy:
        state_before = read_account(copy, codes, contacts=contacts)
        attempt = copy_plan_to(plan, get_plan_target(copy, noun))
        try:
            result = attempt.apply(
                concurrency=_CONCURRENCY, many=True, irreversible=True, watch=lambda *_: None
            )
        finally:
            open_store(passing=True).delete(attempt.id)
        state_after = read_account(copy, codes, contacts=contacts)
    rehearsal = Rehearsal(
        plan,
        result,
        Comparison(replace(state_before, origin="before"), replace(state_after, origin="after")),
        account=describe_account(transport.connection.account, transport.connection.name),
        seconds=estimate_remaining(plan, _CONCURRENCY, client.profile.rate_limit).seconds,
    )
    if rehearsal.ok:
        note_rehearsal(plan)
    return rehearsal


@dataclass(frozen=True, repr=False, eq=False)
class Rehearsal(Report):
    """The result of applying a plan to a copy of its account.

    Attributes:
        plan: The plan; it is not applied.
        result: A row for each of its rows, as `plan.apply()` would have returned it.
        differences: What differs between the copy before and after.
        account: The account that was copied, for people.
        seconds: How long the plan takes at the pace of the account, about.
    """

    plan: Plan
    result: pd.DataFrame
    differences: Comparison
    account: str
    seconds: float

    @property
    def ok(self) -> bool:
        """True if all rows went as planned."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """The reasons not to apply the plan with `rehearsed=True`; empty when there are none."""
        rows = self.result[~self.result["state"].isin(_SUCCESS_STATES)]
        return [
            f"{label}: {state}{f', {reason}' if reason else ''}"
            for label, state, reason in zip(
                rows["label"], rows["state"], rows["reason"], strict=True
            )
        ]

    def frame(self) -> pd.DataFrame:
        """Return the result of each plan row in the copy, indexed as the plan."""
        return self.result

    def _parts(self) -> Iterator[ReportPart]:
        """Yield the headline, the differences in the copy, the problems and the duration."""
        rows, wrong = len(self.result), len(self.problems)
        went = f"{rows - wrong:,} went as planned" if wrong else "all went as planned"
        changes = many(rows, "change")
        yield headline(f"Rehearsal of {changes} on a copy of {self.account}: {went}.")
        yield from self.differences._parts(notes=False)
        for title, lines in (
            ("Did not go as planned:", self.problems),
            ("To look at:", self.plan.objections()),
        ):
            more = [f"… and {len(lines) - FEW:,} more"] if lines[FEW:] else []
            yield bullets(title, map(visible, [*lines[:FEW], *more]), "objections")
        yield paragraph(
            f"At the pace of the account it takes {format_duration(self.seconds)}: "
            f"{many(self.plan.calls(), 'call')}, {_CONCURRENCY} at once. "
            f"plan.apply(rehearsed=True) {'goes now' if self.ok else 'is blocked'}."
        )
