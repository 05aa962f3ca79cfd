"""Comparison: what differs between two accounts, folders of accounts, or revisions of one.

Each side is read into an `AccountState`, in which a thing is known by what it is called and never
by its id; then they are compared thing by thing and field by field, and contacts column by column.
A field differs where a plan would write it, so nothing differs after a plan was applied.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args, overload

import numpy as np
import pandas as pd

from chatkit.account.fleet_plan import FleetPlan, in_threads
from chatkit.account.folder import Folder, state_of
from chatkit.account.planning import Named, numbers_of, plan_state
from chatkit.account.reading import (
    EMPTY,
    NAME_PARTS,
    ROOMS,
    AccountState,
    differing_people,
    name_text,
    same_field,
)
from chatkit.api.secret import MASK, SECRET
from chatkit.bulk.comparison import FrameDifferences
from chatkit.bulk.rendering import fleet_table
from chatkit.client import Client
from chatkit.errors import ChatkitError, InputError, first_line
from chatkit.frames.frame import none, records
from chatkit.frames.snapshot import remember
from chatkit.report import (
    ARROW,
    FEW,
    LABEL,
    MANY,
    WIDTH,
    Report,
    frame_of_objects,
    html_heading,
    html_list,
    html_side,
    html_tables,
    marked,
    sides,
    wrapped,
)
from chatkit.util.display import (
    MISSING,
    Shown,
    changed_words,
    columns,
    cut,
    differences,
    many,
    pair,
    shown,
    small,
    squeezed,
    visible,
    words,
)

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan
    from chatkit.sandbox import Sandbox

#: What can be compared: see `compare`.
Comparable: TypeAlias = "Client | Folder | Sandbox | AccountState | str | PathLike[str]"
Side = Literal["left", "right"]
_Spot: TypeAlias = tuple[str, str, str]  #: the resource, the thing and the field that differ
What = Literal["changed", "only left", "only right"]

COLUMNS = ("resource", "key", "field", "left", "right", "what")
_SIGNS = {"changed": "~", "only left": "-", "only right": "+"}
_CLASSES = {"changed": "update", "only left": "delete", "only right": "create"}
_DEPTH = 6  #: places that are shown of one nested value
_LONG = 2000  #: characters of a text in which changed words are looked for


@dataclass(frozen=True, slots=True)
class AccountDifference:
    """One thing that only one side has, or one field that is not the same on both."""

    resource: str  #: flow, content, webhook or contact
    key: str  #: what the thing is called: a name, code/language, an address, a number
    field: str  #: which field differs; empty for a thing that only one side has
    left: Any  #: the value there, or all fields of the thing; None if it is not there
    right: Any
    what: What


@overload
def compare(
    left: Comparable,
    right: Comparable,
    *,
    contacts: bool = False,
    codes: Iterable[str] | None = None,
) -> Comparison: ...


@overload
def compare(
    left: Mapping[str, Any], *, contacts: bool = False, codes: Iterable[str] | None = None
) -> FleetComparison: ...


def compare(
    left: Comparable | Mapping[str, Any],
    right: Comparable | None = None,
    *,
    contacts: bool = False,
    codes: Iterable[str] | None = None,
) -> Comparison | FleetComparison:
    """Compare two accounts, or what was kept of them, by what each thing is called.

    Each side is a client, a sandbox, a `Folder` or its path, or a git revision of one, like
    "shop/@HEAD~3". Flows are found again by their name, contents by template code and language,
    webhooks by their address, contacts by their number.

    A fleet alone is compared with its first account: which of the others differ, and in what.

    Args:
        left: One side; or a fleet, or any mapping of names to sides.
        right: The other one.
        contacts: Compare contacts too.
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
    given = None if codes is None else tuple(codes)
    if isinstance(left, Mapping):
        if right is not None:
            raise InputError("A fleet is compared with its first account: pass the fleet alone.")
        return _compare_fleet(left, contacts, given)
    if right is None:
        raise InputError("compare takes two sides, or one fleet.")
    first, second = _states([left, right], contacts, given)
    for state in (first, second):
        if isinstance(state, Exception):
            raise state
    assert isinstance(first, AccountState) and isinstance(second, AccountState)  # noqa: S101
    return Comparison(first, second, (left, right))


def _states(
    sides: Sequence[Comparable], contacts: bool, codes: tuple[str, ...] | None
) -> list[AccountState | Exception]:
    """Read sides, accounts at last: which template codes they have is known from the others.

    Returns:
        What each holds, or why it cannot be read.
    """
    read: dict[str, AccountState | Exception] = {}
    named = list(codes or ())
    for n, one in enumerate(sides):
        if isinstance(one, Client):
            named += one.templates.codes if codes is None else ()
            continue
        state = state_of(one, contacts=contacts, codes=codes)
        read[str(n)] = state
        named += state.codes if codes is None else ()
    known = tuple(dict.fromkeys(named))
    waiting = [str(n) for n in range(len(sides)) if str(n) not in read]

    def read_one(n: str, _: object) -> AccountState:
        return state_of(sides[int(n)], contacts=contacts, codes=known or codes)

    read |= in_threads(waiting, read_one)
    return [read[str(n)] for n in range(len(sides))]


def _compare_fleet(
    sides: Mapping[str, Comparable], contacts: bool, codes: tuple[str, ...] | None
) -> FleetComparison:
    """Compare the accounts of a fleet with its first one.

    Raises:
        InputError: There are fewer than two.
    """
    if len(sides) < 2:
        raise InputError("A fleet is compared with its first account: it has no other.")
    found = dict(zip(sides, _states(list(sides.values()), contacts, codes), strict=True))
    first, *others = sides
    base = found[first]
    if isinstance(base, Exception):
        raise base
    base = replace(base, origin=first)
    compared: dict[str, Comparison] = {}
    stops: dict[str, str] = {}
    for label in others:
        state = found[label]
        if isinstance(state, AccountState):
            sources = (sides[first], sides[label])
            compared[label] = Comparison(base, replace(state, origin=label), sources)
        elif isinstance(state, ChatkitError) and not isinstance(state, InputError):
            stops[label] = first_line(state)
        else:
            raise state
    return FleetComparison(first, compared, stops)


class Comparison(Report, Sequence[AccountDifference]):
    """What differs between two sides; false when nothing does.

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
        held = ("flow",) if left.flows_only or right.flows_only else ("flow", "content", "webhook")
        self._things = [
            each for noun in held for each in _compared(noun, left.of(noun), right.of(noun))
        ]
        self._people = _People.of(left.contacts, right.contacts)

    def __len__(self) -> int:
        return len(self._things) + (len(self._people) if self._people else 0)

    def __getitem__(self, index: Any) -> Any:
        return self._all[index]

    def __iter__(self) -> Iterator[AccountDifference]:
        return iter(self._all)

    @cached_property
    def _all(self) -> list[AccountDifference]:
        return [*self._things, *(self._people.differences() if self._people else ())]

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many things were changed, or are only on one side, for each resource."""
        found: dict[str, dict[str, int]] = {}
        for noun in ROOMS:
            keys = {(one.key, one.what) for one in self._things if one.resource == noun}
            count: Counter[What] = Counter(what for _, what in keys)
            if noun == "contact" and self._people:
                count = self._people.counts()
            if count.total():
                found[noun] = {what: count[what] for what in get_args(What) if count[what]}
        return found

    def frame(self) -> pd.DataFrame:
        """Return a row for each difference: `resource`, `key`, `field`, `left`, `right`, `what`.

        `what` is one of changed, only left and only right; a thing that only one side has is one
        row without a field. Some of its rows can be planned alone: `plan("right", rows=some)`.
        """
        found = frame_of_objects(self._things, COLUMNS, texts=("resource", "key", "field", "what"))
        if self._people and len(self._people):
            people = self._people.frame()
            found = pd.concat([found, people], ignore_index=True) if len(found) else people
        remember(found)
        return found

    def json(self) -> str:
        """Write the rows of the frame as a JSON array."""
        names = ("resource", "key", "field", "what", "left", "right")
        rows = [{name: getattr(one, name) for name in names} for one in self]
        return json.dumps(rows, ensure_ascii=True, indent=1, default=str)

    def plan(
        self,
        target: Side,
        rows: pd.DataFrame | None = None,
        *,
        delete: pd.DataFrame | Iterable[Named] = (),
        broken: bool = False,
        skip_invalid: bool = False,
    ) -> Plan:
        """Plan to make one side as the other one is. Nothing is sent before `apply()`.

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
        if target not in get_args(Side):
            raise InputError(f"The side to change is 'left' or 'right', not {target!r:.60}.")
        client = self._sources[target == "right"]
        if not isinstance(client, Client):
            origin = (self.left, self.right)[target == "right"].origin
            raise InputError(
                f"A plan changes an account, and the {target} side is {origin}: compare with a "
                "client, like chatkit.connect(sandbox)."
            )
        chosen = None if rows is None else self._chosen(rows, "rows")
        if isinstance(delete, pd.DataFrame):
            delete = [(noun, key) for noun, key, _ in sorted(self._chosen(delete, "delete"))]
        wanted = (self.right, self.left)[target == "right"]
        if chosen is not None:
            wanted = _part(wanted, client, chosen)
        return plan_state(wanted, client, delete=delete, broken=broken, skip_invalid=skip_invalid)

    def _chosen(self, rows: pd.DataFrame, name: str) -> set[_Spot]:
        """Read which differences a person has chosen.

        Raises:
            InputError: It is no frame of differences, or of other ones.
        """
        names = list(COLUMNS[:3])
        if not isinstance(rows, pd.DataFrame) or not {*names} <= {*rows.columns}:
            raise InputError(
                f"{name}= takes some rows of the frame() of this comparison, like "
                f"{name}=frame[frame.resource == 'flow']."
            )
        chosen = set(rows[names].fillna("").itertuples(index=False, name=None))
        known = set(self.frame()[names].itertuples(index=False, name=None))
        if strange := sorted(chosen - known):
            resource, key, field = strange[0]
            rest = f" and {len(strange) - 1:,} more" if len(strange) > 1 else ""
            raise InputError(
                f"{name}= holds what does not differ in this comparison: {resource} {cut(key)} "
                f"{cut(field)}{rest}. Take rows of its frame()."
            )
        return chosen

    # --- as text --------------------------------------------------------------------

    def text(self, most: int | None = None) -> str:
        """Write the differences as text.

        Args:
            most: How many things of each resource; without it all of them.
        """
        return "\n\n".join("\n".join(block) for block in self._blocks(most) if block)

    def _text(self) -> list[list[str]]:
        return list(self._blocks(FEW))

    def _blocks(self, most: int | None) -> Iterator[list[str]]:
        yield wrapped("", self._heading())
        for noun, count in self.counts.items():
            counted = ", ".join(f"{number:,} {what}" for what, number in count.items())
            lines = [f"{noun.capitalize()}s: {counted}"]
            for key, found in islice(self._of(noun), most):
                lines += _thing_lines(key, found)
            if most is not None and (more := sum(count.values()) - most) > 0:
                lines.append(f"  … and {more:,} more: .frame() has them all")
            yield lines
        yield [line for said in self._notes() for line in wrapped("", said)]

    def _heading(self) -> str:
        between = f"{visible(self.left.origin)} and {visible(self.right.origin)}"
        if not len(self):
            return f"No difference between {between}."
        things = sum(sum(count.values()) for count in self.counts.values())
        differ = "differs" if things == 1 else "differ"
        return f"{many(things, 'thing')} {differ} between {between} (left - and right +)."

    def _notes(self) -> list[str]:
        """Say once what is not compared."""
        notes = [visible(said) for said in (*self.left.not_carried, *self.right.not_carried)]
        without = [one.origin for one in (self.left, self.right) if one.contacts is None]
        if len(without) == 1:
            notes.append(f"{visible(without[0])} holds no contacts: they are not compared.")
        return list(dict.fromkeys(notes))

    def _of(self, noun: str) -> Iterator[tuple[str, list[AccountDifference]]]:
        """Yield the differences of one resource, those of one thing together."""
        if noun == "contact":
            yield from self._people.by_person() if self._people else ()
            return
        found: dict[str, list[AccountDifference]] = {}
        for one in self._things:
            if one.resource == noun:
                found.setdefault(one.key, []).append(one)
        yield from found.items()

    # --- as HTML --------------------------------------------------------------------

    def _html(self) -> list[str]:
        first: list[str] = []
        more: list[str] = []
        kinds = self.counts
        total = sum(sum(count.values()) for count in kinds.values())
        for noun in kinds:
            for n, thing in enumerate(islice(self._of(noun), MANY // len(kinds))):
                (first if n < FEW else more).append(_html_thing(*thing))
        names = [marked(cut(side.origin, LABEL)) for side in (self.left, self.right)]
        widths = {"difference": 17, "which": 20, "field": 15, names[0]: 24, f"{names[1]} ": 24}
        return [
            html_heading(self._heading()),
            html_tables(widths, first, more, total, ".frame()"),
            html_list("told", "", self._notes()),
        ]


class FleetComparison(Report, Mapping[str, Comparison]):
    """Which accounts of a fleet differ from the first one, and in what.

    `found["fr"]` is the comparison of one account: the first is its left side.

    Args:
        first: What the first account is called.
        compared: The comparisons of the others.
        stops: Accounts that could not be read, and why.
    """

    def __init__(
        self, first: str, compared: Mapping[str, Comparison], stops: Mapping[str, str]
    ) -> None:
        self.first, self.stops = first, dict(stops)
        self._compared = dict(compared)

    def __getitem__(self, label: str) -> Comparison:
        return self._compared[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._compared)

    def __len__(self) -> int:
        return len(self._compared)

    @property
    def differ(self) -> list[str]:
        """The accounts that differ from the first one."""
        return [label for label, found in self.items() if len(found)]

    def frame(self) -> pd.DataFrame:
        """Return a row for each difference: `account`, and the columns of `Comparison.frame`.

        `left` is the first account, `right` the one that is named.
        """
        return fleet_table({label: found.frame() for label, found in self.items()})

    def plan(
        self,
        rows: pd.DataFrame | None = None,
        *,
        delete: pd.DataFrame | None = None,
        broken: bool = False,
        skip_invalid: bool = False,
    ) -> FleetPlan:
        """Plan to make the accounts as the first one is. Nothing is sent before `apply()`.

        Args:
            rows: Only these: some rows of `frame()`, like `frame[frame.resource == "content"]`.
            delete: What the first account does not have and is to be deleted in the others, as
                some rows of `frame()`.
            broken: Plan what the platform would refuse, too.
            skip_invalid: Plan the rest although something cannot be planned.

        Raises:
            InputError: Rows are not of this comparison, or an account is not a client.
        """
        some, gone = (
            None if given is None else dict(list(given.groupby("account", sort=False)))
            for given in (rows, delete)
        )
        plans = {
            label: found.plan(
                "right",
                None if some is None else some.get(label, rows.iloc[:0]),  # type: ignore[union-attr]
                delete=() if gone is None or label not in gone else gone[label],
                broken=broken,
                skip_invalid=skip_invalid,
            )
            for label, found in self.items()
            if len(found) and (rows is None or label in {**(some or {}), **(gone or {})})
        }
        return FleetPlan(plans, failed=self.stops, skip_invalid=skip_invalid)

    def _heading(self) -> str:
        differ = len(self.differ)
        if not differ:
            return f"No difference between {visible(self.first)} and {many(len(self), 'account')}."
        of = many(len(self), "account")
        return f"{differ:,} of {of} {'differs' if differ == 1 else 'differ'} from {self.first}."

    def _table(self) -> list[tuple[str, ...]]:
        """Count for each account the things of each resource that differ."""
        return [
            (visible(label), *(_counted_or_same(found, noun) for noun in ROOMS))
            for label, found in self.items()
        ]

    def _stopped(self) -> list[str]:
        told = [f"{visible(n)} could not be read: {visible(why)}" for n, why in self.stops.items()]
        notes = [note for found in self.values() for note in found._notes()]
        return [*told, *dict.fromkeys(notes)]

    def _text(self) -> list[list[str]]:
        rows = [("", *(f"{noun}s" for noun in ROOMS)), *self._table()]
        widths = [max(map(columns, cells)) for cells in zip(*rows, strict=True)]
        table = [
            "  " + "  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        blocks = [[self._heading()], table]
        for label in self.differ[:FEW]:
            blocks += list(self[label]._blocks(FEW))[:-1]  # its notes stand at the end, once
        if (more := len(self.differ) - FEW) > 0:
            blocks.append([f"… and {many(more, 'more account')}: [name] shows each."])
        return [*blocks, [line for said in self._stopped() for line in wrapped("", said)]]

    def _html(self) -> list[str]:
        rows = [
            f'<tbody><tr><td dir="auto">{"</td><td>".join(map(marked, row))}</td></tr></tbody>'
            for row in self._table()
        ]
        widths = {"account": 28, **{f"{noun}s": 18 for noun in ROOMS}}
        each = [
            f"<details><summary>{marked(visible(label))}</summary>"
            f"{''.join(self[label]._html()[:-1])}</details>"  # its notes stand at the end, once
            for label in self.differ
        ]
        return [
            html_heading(self._heading()),
            html_tables(widths, rows[:MANY], rows[MANY:], len(rows), ".frame()"),
            *each,
            html_list("told", "", self._stopped()),
        ]


def _counted_or_same(found: Comparison, noun: str) -> str:
    """Count the things of a resource that differ, or say that none does, or was compared."""
    if counts := found.counts.get(noun):
        return f"{sum(counts.values()):,}"
    sides = (found.left, found.right)
    unread = {
        "contact": any(side.contacts is None for side in sides),
        "content": not any(side.codes for side in sides),
    }
    return "not compared" if unread.get(noun) else "same"


# --- flows, contents and webhooks -----------------------------------------------------------


def _compared(
    noun: str, left: Mapping[Any, Mapping[str, Any]], right: Mapping[Any, Mapping[str, Any]]
) -> Iterator[AccountDifference]:
    """Compare the things of one resource, in the order of what they are called."""
    for key in sorted({*left, *right}):
        name = name_text(key)
        one, two = left.get(key), right.get(key)
        if one is None or two is None:
            what: What = "only right" if one is None else "only left"
            yield AccountDifference(noun, name, "", one and dict(one), two and dict(two), what)
            continue
        for field in dict.fromkeys([*one, *two]):
            before, after = one.get(field), two.get(field)
            if not same_field(noun, field, before, after):
                yield AccountDifference(noun, name, field, before, after, "changed")


def _part(wanted: AccountState, client: Client, chosen: set[_Spot]) -> AccountState:
    """Return a state as if it differed from the account, as that is now, in what was chosen alone.

    The account is read again: what has changed in it since the comparison is not taken back.
    """
    nouns = {noun for noun, _, _ in chosen}
    live = state_of(client, contacts="contact" in nouns, codes=wanted.codes or None)
    kept: dict[str, dict[Any, dict[str, Any]]] = {}
    for noun in ("flow", "content", "webhook"):
        source, there = wanted.of(noun), live.of(noun)
        found: dict[Any, dict[str, Any]] = {}
        kept[noun] = found
        if noun not in nouns:
            continue
        found |= {key: dict(there[key]) for key in source if key in there}
        for key in source:
            name = name_text(key)
            if key not in there:
                if (noun, name, "") in chosen:
                    found[key] = dict(source[key])
                continue
            for field in {*source[key], *there[key]}:
                if (noun, name, field) in chosen:
                    found[key].pop(field, None)
                    found[key] |= {n: v for n, v in source[key].items() if n == field}
    people = _People.of(wanted.contacts, live.contacts)
    return replace(
        wanted,
        flows=kept["flow"],
        contents=kept["content"],
        webhooks=kept["webhook"],
        contacts=people.wanted(chosen) if people else None,
    )


# --- contacts -------------------------------------------------------------------------------


class _People(NamedTuple):
    """The contacts of both sides, and the numbers of the rows that differ."""

    left: pd.DataFrame
    right: pd.DataFrame
    found: FrameDifferences

    @classmethod
    def of(cls, left: pd.DataFrame | None, right: pd.DataFrame | None) -> _People | None:
        """Compare contacts, where both sides have them."""
        if left is None or right is None:
            return None
        both = [name for name in left.columns if name in right.columns]
        left, right = left[both], right[both]
        found = differing_people(left, right)
        if "name" in found.changed:  # then its parts differ as well, and are not said again
            said = found.changed["name"][1]
            parts = {name: pairs for name, pairs in found.changed.items() if name in NAME_PARTS}
            for name, (places, rows) in parts.items():
                new = ~np.isin(rows, said)
                found.changed[name] = places[new], rows[new]
                if not new.any():
                    del found.changed[name]
        return cls(left, right, found)

    def __len__(self) -> int:
        changed = sum(len(rows) for rows, _ in self.found.changed.values())
        return len(self.found.left) + len(self.found.right) + changed

    def __bool__(self) -> bool:
        return True

    def counts(self) -> Counter[What]:
        """Count the contacts that differ."""
        changed = len(self._changed_rows())
        one, two = len(self.found.left), len(self.found.right)
        return Counter({"changed": changed, "only left": one, "only right": two})

    def frame(self) -> pd.DataFrame:
        """Make the rows of the differences, a column at a time."""
        parts = []
        for field, (places, rows) in self.found.changed.items():
            cells = [
                side[field].iloc[at].astype(object).where(side[field].iloc[at].notna(), None)
                if field in side
                else pd.Series(None, index=range(len(at)), dtype=object)
                for side, at in ((self.left, places), (self.right, rows))
            ]
            keys = _numbers_of(self.right, rows)
            parts.append(_rows(keys, field, cells[0].to_numpy(), cells[1].to_numpy(), "changed"))
        for side, at, what in self._alone():
            whole = pd.Series(list(records(side, at)), dtype=object).to_numpy()
            one, two = (whole, None) if what == "only left" else (None, whole)
            parts.append(_rows(_numbers_of(side, at), "", one, two, what))
        return pd.concat([part for part in parts if len(part)], ignore_index=True)

    def _changed_rows(self) -> Any:
        """Number the right contacts that differ, each once."""
        differs = np.zeros(len(self.right), bool)
        for _, rows in self.found.changed.values():
            differs[rows] = True
        return np.flatnonzero(differs)

    def _alone(self) -> list[tuple[pd.DataFrame, Any, What]]:
        return [
            (self.left, self.found.left, "only left"),
            (self.right, self.found.right, "only right"),
        ]

    def wanted(self, chosen: set[_Spot]) -> pd.DataFrame:
        """Return the right contacts as if no more of the left ones differed than was chosen."""
        keys = {key for resource, key, _ in chosen if resource == "contact"}
        pairs = self.found.changed.values()
        taken = np.unique(np.concatenate([self.found.left, *(places for places, _ in pairs)]))
        left = np.unique(np.concatenate([self.found.right[:0], *(rows for _, rows in pairs)]))
        taken = taken[_numbers_of(self.left, taken).isin(keys).to_numpy(bool)]
        left = left[_numbers_of(self.right, left).isin(keys).to_numpy(bool)]
        stays = np.ones(len(self.right), bool)
        stays[left] = stays[self.found.right] = False
        return pd.concat([self.right[stays], self.left.iloc[taken]])

    def differences(self) -> Iterator[AccountDifference]:
        """Yield the differences one by one."""
        if len(self):
            for row in self.frame().itertuples(index=False):
                yield AccountDifference(*row)

    def by_person(self) -> Iterator[tuple[str, list[AccountDifference]]]:
        """Yield the differences of one contact together: those that are changed come first."""
        for row in self._changed_rows():
            key, found = _numbers_of(self.right, [row]).iloc[0], []
            for field, (places, rows) in self.found.changed.items():
                n = int(np.searchsorted(rows, row))  # they ascend
                if n < len(rows) and rows[n] == row:
                    cells = _cell(self.left, field, places[n]), _cell(self.right, field, row)
                    found.append(AccountDifference("contact", key, field, *cells, "changed"))
            yield key, found
        for side, at, what in self._alone():
            for row in at:
                key, [whole] = _numbers_of(side, [row]).iloc[0], records(side, [row])
                two: tuple[Any, Any] = (whole, None) if what == "only left" else (None, whole)
                yield key, [AccountDifference("contact", key, "", *two, what)]


def _numbers_of(frame: pd.DataFrame, rows: Any) -> pd.Series[Any]:
    """Write the numbers of contacts as one text each."""
    return pd.Series(numbers_of(frame, rows))


def _cell(frame: pd.DataFrame, field: str, row: Any) -> Any:
    if field not in frame:
        return None
    return none(frame[field].iat[row])


def _rows(keys: pd.Series[Any], field: str, left: Any, right: Any, what: What) -> pd.DataFrame:
    cells = {"resource": "contact", "key": keys.to_numpy(), "field": field}
    found = pd.DataFrame(cells | {"left": left, "right": right, "what": what})
    return found.astype(dict.fromkeys(("resource", "key", "field", "what"), "str")).astype(
        {"left": object, "right": object}
    )


# --- one difference, place by place ---------------------------------------------------------


class _Place(NamedTuple):
    """One place of a difference; a side that is not there is None."""

    name: str
    left: Any
    right: Any
    words: bool = False  #: whether both sides are words of ours, and no values


def _places(one: AccountDifference) -> list[_Place]:
    """Part a difference into what a person reads: a document by meaning, a list item by item."""
    if one.what != "changed":
        return []
    if SECRET.search(one.field):
        return [_Place(one.field, MASK, MASK, words=True)]
    documents = isinstance(one.left, Mapping) and isinstance(one.right, Mapping)
    if one.field == "flow_json" and documents:
        found = _meanings(one.left, one.right)
    elif one.left in EMPTY or one.right in EMPTY or (small(one.left) and small(one.right)):
        found = [_Place(one.field, one.left, one.right)]
    else:
        found = [_Place(*place) for place in differences(one.field, one.left, one.right)]
    if (more := len(found) - _DEPTH) > 0:
        found = [*found[:_DEPTH], _Place(f"… and {many(more, 'more place')}", None, None)]
    return found


def _meanings(left: Any, right: Any) -> list[_Place]:
    """Compare two flow documents by what they mean."""
    from chatkit.flowjson.diff import compare as meanings

    found = [
        _Place(
            f"{each.kind}: {each.where}",
            None if each.before is MISSING else each.before,
            None if each.after is MISSING else each.after,
            words=each.kind.endswith(" moved"),
        )
        for each in meanings(dict(left), dict(right))
    ]
    return found or [_Place("flow_json, written in another way", None, None)]


def _about(one: AccountDifference) -> str:
    """Say what a thing is that only one side has."""
    fields = one.left if one.left is not None else one.right
    for name in ("flow_json", "text", "events", "name"):
        if (value := fields.get(name)) not in EMPTY:
            return str(shown(value))
    return ""


def _pair(place: _Place) -> tuple[Shown | None, Shown | None]:
    if place.words:
        return words(str(place.left)), words(str(place.right))
    if place.left is None and place.right is None:
        return None, None
    return pair(place.left, place.right)


# --- as text --------------------------------------------------------------------------------


def _thing_lines(key: str, found: Sequence[AccountDifference]) -> list[str]:
    first = found[0]
    lines = [f"  {_SIGNS[first.what]} {squeezed(key, LABEL)}"]
    if first.what != "changed":
        about = _about(first)
        return [f"{lines[0]}  {about}" if about else lines[0]]
    for place in chain.from_iterable(map(_places, found)):
        name = cut(place.name, 2 * LABEL)
        left, right = _pair(place)
        if left is None or right is None:
            lines.append(f"      {name}")
        elif len(name) > LABEL:
            lines.append(f"      {name}")
            lines += [f"          {line}" for line in sides("", left, right, WIDTH - 10, ARROW)]
        else:
            lines += [f"      {line}" for line in sides(f"{name}: ", left, right, WIDTH - 6, ARROW)]
    return lines


# --- as HTML --------------------------------------------------------------------------------


def _html_thing(key: str, found: Sequence[AccountDifference]) -> str:
    first = found[0]
    lines = [_html_place(place) for place in chain.from_iterable(map(_places, found))]
    if first.what != "changed":
        about = f'<td dir="auto">{marked(_about(first))}</td>'
        lines = [f"<td></td>{about}<td></td>" if first.what == "only left" else
                 f"<td></td><td></td>{about}"]  # fmt: skip
    span = f' rowspan="{len(lines)}"'
    sign = f'<b class="{_CLASSES[first.what]}">{_SIGNS[first.what]}</b> {first.what}'
    which = f"{first.resource} {marked(squeezed(key, LABEL))}"
    head = f'<td{span}>{sign}</td><th{span} scope="rowgroup" dir="auto">{which}</th>'
    return f"<tbody><tr>{head}{'</tr><tr>'.join(lines)}</tr></tbody>"


def _html_place(place: _Place) -> str:
    name = f'<td dir="auto">{marked(cut(place.name, 2 * LABEL))}</td>'
    texts = isinstance(place.left, str) and isinstance(place.right, str) and not place.words
    if texts and max(len(place.left), len(place.right)) <= _LONG:
        return name + _html_words(place.left, place.right)
    left, right = _pair(place)
    return f"{name}{html_side(left, 'del')}{html_side(right, 'ins')}"


def _html_words(left: str, right: str) -> str:
    """Make the cells of two texts: the words that the other one does not have are marked."""
    parts = changed_words(left, right)
    cells = []
    for kind, tag in (("out", "del"), ("in", "ins")):
        said = [
            f"<{tag}>{marked(visible(text))}</{tag}>" if each == kind else marked(visible(text))
            for each, text in parts
            if each in ("same", kind)
        ]
        cells.append(f'<td dir="auto">{"".join(said)}</td>')
    return "".join(cells)
