"""Rehearsal: a plan applied to a copy of its account, under faults, before it is applied there.

The account is read, and nothing but read. A sandbox begins as a copy of it, with the same ids and
the same profile; there the plan is applied while calls are refused, fail and are lost, and
customers write and are written to before and after it. What came of that is the rehearsal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit.answer import Answer
from chatkit.asgi_server import Server, listen
from chatkit.bulk.changes import Change
from chatkit.bulk.plan import Plan, desk_of, note_rehearsal, plan_of_copy, setting_of
from chatkit.bulk.stores import journal_folder
from chatkit.client import Client, open_clients, open_copy, source_of
from chatkit.connection import account_words
from chatkit.display import duration, many, visible
from chatkit.errors import CallError, InputError, PlanRefused
from chatkit.report import FEW, Report, html_heading, html_list, marked, wrapped
from chatkit.throttle import AdaptiveThrottle
from chatkit.transport import Transport

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.localization.board import Board
    from chatkit.sandbox import Sandbox
    from chatkit.templates.codes import Codes

#: What goes wrong with the calls of a rehearsal, unless it is told otherwise: shares of them.
FAULTS: Mapping[str, Any] = {"rate_limited": 0.1, "server_errors": 0.05, "dropped": 0.05}
_FAULT_WORDS = {
    "rate_limited": "were refused with 429",
    "server_errors": "failed with a server error",
    "dropped": "got no answer",
    "truncated": "got a part of the answer",
}
_FAULTS_KNOWN = (*_FAULT_WORDS, "latency", "retry_after", "seed")
#: Customers that a campaign and a flow are sent to, and how many of each are played.
_PEOPLE, _PLAYED = 5, 20
_STRANGER = "+12125550142"
_SCRIPT = ("> Hello, are you open today?", "< Yes, until six.", "> +👍", "> Thank you!")
#: Seconds to wait for anything in a copy, whose faults are over at once.
_WAIT = 0.01
#: What moves in a record without anybody having changed it.
_MOVING = ("last_delivery_", "updated_", "created_")
_NOUNS = ("flow", "content", "webhook", "contact")
_WENT_WELL = ("applied", "unchanged", "skipped")


def rehearse(
    plan: Plan,
    *,
    codes: Codes | None = None,
    contacts: bool | None = None,
    faults: Mapping[str, Any] | None = None,
    concurrency: int = 8,
    rate: float | None = None,
    seed: int = 0,
) -> Rehearsal:
    """Apply a plan to a copy of its account, under faults, and tell what came of it.

    The account itself is read and nothing else. Once the rehearsal of a plan has gone well,
    `plan.apply(rehearsed=True)` goes, for this very plan alone.

    Args:
        plan: The plan, of one resource or of the account.
        codes: Template codes to copy beside those of the plan and those remembered.
        contacts: Whether to read and copy the contacts; without it only if the plan changes some.
        faults: What goes wrong with calls, as `Sandbox.faults` takes it; `{}` for nothing.
        concurrency: Calls under way at once, as you will apply it.
        rate: Calls a second at most, as you will apply it.
        seed: The same seed and calls meet the same faults.

    Raises:
        InputError: `plan` is not a plan, or `faults` has an unknown name.
        PlanRefused: Some of its rows cannot be planned.
        CallError: The account cannot be read.

    >>> plan = client.contacts.plan([{"id": 50002, "name": "Ana Cruz"}])
    >>> chatkit.rehearse(plan).ok
    True
    """
    from chatkit import accessor
    from chatkit.templates.codes import template_codes

    if not hasattr(plan, "objections"):
        raise InputError(
            "rehearse takes a plan, like client.contacts.plan(frame) or folder.plan(client), not "
            f"{type(plan).__name__}."
        )
    faults = FAULTS if faults is None else dict(faults)
    if unknown := [name for name in faults if name not in _FAULTS_KNOWN]:
        known = ", ".join(_FAULTS_KNOWN)
        raise InputError(f"faults= does not know {unknown[0]!r:.60}: it takes {known}.")
    accessor.register()
    if refused := plan.objections(many=True, irreversible=True):
        raise PlanRefused("\n- ".join(["This plan cannot be rehearsed:", *refused]))
    transport = desk_of(plan).transport
    live = next((each for each in open_clients() if each.transport is transport), None)
    live = live or Client._made(transport.connection, transport)
    of_plan = [change.code for change in plan.changes if change.code]
    more = [] if codes is None else template_codes(codes)
    named = list(dict.fromkeys([*live.templates.codes, *of_plan, *more]))
    if contacts is None:
        contacts = any(_noun(plan, change) == "contact" for change in plan.changes)
    records = live._seed_records(named, contacts=contacts)
    # The copy takes calls as fast as they come: how long a live account takes is reckoned.
    records["profile"] = live.profile.model_copy(update={"rate_limit": None})
    rate = rate or live.profile.rate_limit
    with ExitStack() as stack:
        sandbox, copy = open_copy(records, _Impatient)
        stack.enter_context(sandbox)
        stack.enter_context(copy)
        stack.callback(copy.templates.ledger.path.unlink, missing_ok=True)
        copy.templates.ledger.add(live.templates.ledger.read())
        stage = _Stage(sandbox, copy, named, plan, seed)
        stack.enter_context(stage.receiver())
        failing = stage.failing()
        before = stage.look()
        sandbox.faults(**{**({"seed": seed} if faults else {}), **faults})
        result = stage.apply(concurrency)
        sandbox.faults()
        after = stage.look()
    found = Rehearsal(
        plan,
        result,
        before,
        after,
        account=account_words(transport.connection.account, transport.connection.name),
        faults=dict(faults),
        seconds=plan.seconds(concurrency, rate),
        concurrency=concurrency,
        failing=failing,
    )
    if found.ok:
        note_rehearsal(plan)
    return found


class Moment(NamedTuple):
    """What the copy was like at one moment, and what customers brought about in it."""

    records: Mapping[tuple[str, Any], str]  #: by noun and key, as the service shows them
    findings: Mapping[tuple[str, str, str, str], str]  #: record, code, pointer, severity: message
    board: Board | None
    health: pd.DataFrame  #: of the webhooks
    heard: Mapping[str, int]  #: kind of event: how many webhooks ask for it
    delivered: Mapping[int, int]  #: webhook: how many events it was told of
    events: int


@dataclass(frozen=True, repr=False, eq=False)
class Rehearsal(Report):
    """What came of a plan in a copy of its account.

    Attributes:
        plan: The plan; it is not applied.
        result: A row for each of its rows, as `plan.apply()` would have returned it.
        before: What the copy was like before.
        after: What it was like after.
        account: The account that was copied, for people.
        faults: What went wrong with the calls on purpose.
        seconds: How long the plan takes at the pace of the account, about.
        concurrency: How many calls at once that is for.
        failing: The webhooks that fail in the account itself, and why.
    """

    plan: Plan
    result: pd.DataFrame
    before: Moment
    after: Moment
    account: str
    faults: Mapping[str, Any]
    seconds: float
    concurrency: int
    failing: Sequence[str] = ()

    @property
    def hash(self) -> str:
        """The hash of the plan: what `plan.apply(rehearsed=True)` goes by."""
        return self.plan.hash

    @property
    def ok(self) -> bool:
        """Whether all rows went as planned, and nothing else was changed."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """Why the plan cannot be applied with `rehearsed=True`; empty when it can."""
        said = []
        states = self.result["state"]
        for label, state, reason in zip(
            self.result["label"], states, self.result["reason"], strict=True
        ):
            if state not in _WENT_WELL:
                said.append(f"{label}: {state}{f', {reason}' if reason else ''}")
        return said + [
            f"{noun} {key}: {what}, which the plan does not say"
            for noun, key, what, planned in self._touched()
            if not planned
        ]

    @property
    def warnings(self) -> list[str]:
        """What else to look at before the plan is applied."""
        said = [
            f"{record}: {code}, {message}"
            for (record, code, _, severity), message in self.after.findings.items()
            if severity == "error" and not self._was_found(record, code, message)
        ]
        said += [
            f"no webhook asks for {kind} any more"
            for kind, hooks in self.before.heard.items()
            if hooks and not self.after.heard.get(kind)
        ]
        return [*said, *self.failing, *self.plan.objections()]

    def _was_found(self, record: str, code: str, message: str) -> bool:
        return any(
            (each[0], each[1], said) == (record, code, message)
            for each, said in self.before.findings.items()
        )

    @property
    def changed(self) -> pd.DataFrame:
        """The records that differ afterwards: `resource`, `key`, `what`, `planned`."""
        from chatkit.frame import table

        return table(self._touched(), ("resource", "key", "what", "planned"))

    @property
    def findings(self) -> pd.DataFrame:
        """What the platform finds, before or after: `record`, `code`, `severity`, `message`, `is`.

        The last is new, gone or still there.
        """
        from chatkit.frame import table

        rows = []
        for found in sorted({*self.before.findings, *self.after.findings}):
            record, code, _, severity = found
            there, was = found in self.after.findings, found in self.before.findings
            message = (self.after if there else self.before).findings[found]
            state = "still there" if there and was else "new" if there else "gone"
            rows.append((record, code, severity, message, state))
        return table(rows, ("record", "code", "severity", "message", "is"))

    @property
    def board(self) -> pd.DataFrame:
        """How many contents are in each state: `before` and `after`, indexed by state."""
        from chatkit.frame import table

        boards = [moment.board.counts() if moment.board else {} for moment in self._moments]
        rows = [(state, *(each.get(state, 0) for each in boards)) for state in _states(boards)]
        return table(rows, ("state", "before", "after")).set_index("state")

    @property
    def webhooks(self) -> pd.DataFrame:
        """Health and heard events of each webhook, before and after, indexed by id."""
        from chatkit.frame import table

        rows = []
        ids = dict.fromkeys([*self.before.health.index, *self.after.health.index])
        for key in sorted(ids):
            told: list[Any] = []
            url = ""
            for moment in self._moments:
                there = key in moment.health.index
                told.append(str(moment.health["health"][key]) if there else "not there")
                url = str(moment.health["url"][key]) if there else url
            heard = [moment.delivered.get(key, 0) for moment in self._moments]
            rows.append((key, url, *told, *heard))
        names = ("id", "url", "before", "after", "events_before", "events_after")
        return table(rows, names).set_index("id")

    def frame(self) -> pd.DataFrame:
        """Return what came of each row of the plan in the copy, with the index of the plan."""
        return self.result

    @property
    def _moments(self) -> tuple[Moment, Moment]:
        return self.before, self.after

    def _touched(self) -> list[tuple[str, Any, str, bool]]:
        """Name the records that differ, what became of each, and whether the plan says so."""
        before, after = self.before.records, self.after.records
        meant: dict[str, set[tuple[str, Any]]] = {"create": set(), "update": set(), "delete": set()}
        for change, key in zip(self.plan.changes, self.result["key"], strict=True):
            noun = _noun(self.plan, change)
            if change.kind in meant:
                found = (change.code, str(key)) if noun == "content" else str(key)
                meant[change.kind].add((noun, found))
        touched = []
        for place in sorted({*before, *after}, key=str):
            if _is_same(before.get(place), after.get(place)):
                continue
            kind = "update" if place in before else "create"
            kind = kind if place in after else "delete"
            key = " / ".join(place[1]) if isinstance(place[1], tuple) else place[1]
            restored = kind == "create" and place in meant["update"]
            touched.append((place[0], key, f"{kind}d", place in meant[kind] or restored))
        return touched

    # --- what is shown ----------------------------------------------------------------

    def _heading(self) -> str:
        rows = len(self.result)
        well = sum(state in _WENT_WELL for state in self.result["state"])
        said = "all went as planned" if well == rows else f"{well:,} went as planned"
        if rows == 1:
            said = "it went as planned" if well else "it did not go as planned"
        return f"Rehearsal of {many(rows, 'change')}: {said}."

    def _setup(self) -> list[str]:
        copied = Counter(noun for noun, _ in self.before.records)
        held = ", ".join(many(copied[noun], noun) for noun in _NOUNS if copied[noun]) or "empty"
        wrong = [
            f"{sum(share.values()) if isinstance(share, Mapping) else share:.0%} {words}"
            for name, words in _FAULT_WORDS.items()
            if (share := self.faults.get(name))
        ]
        listed = " and ".join([", ".join(wrong[:-1]), *wrong[-1:]] if len(wrong) > 1 else wrong)
        under = f" Of its calls {listed}." if wrong else ""
        played = f"Customers brought about {many(self.before.events, 'event')} before the plan"
        return [
            f"It was applied to a copy of {self.account} ({held}); the account itself was only "
            f"read.{under}",
            f"{played}, and {self.after.events:,} after it.",
        ]

    def _figures(self) -> list[tuple[str, int, int]]:
        """Count what is to be compared, before and after."""
        errors = [
            sum(severity == "error" for *_, severity in moment.findings) for moment in self._moments
        ]
        found = [("errors that the platform finds", errors[0], errors[1])]
        found += [
            (f"contents {state}", int(row["before"]), int(row["after"]))
            for state, row in self.board.iterrows()
        ]
        healths = [Counter(map(str, moment.health["health"])) for moment in self._moments]
        found += [(f"webhooks {h}", healths[0][h], healths[1][h]) for h in _states(healths)]
        heard = [sum(moment.delivered.values()) for moment in self._moments]
        return [*found, ("events that webhooks heard", heard[0], heard[1])]

    def _next(self) -> str:
        calls = many(self.plan.calls(), "call")
        at_once = f"{self.concurrency} at once"
        pace = f"At the pace of the account it takes {duration(self.seconds)}: {calls}, {at_once}."
        if not self.ok:
            return f"{pace} plan.apply(rehearsed=True) is blocked."
        return f"{pace} plan.apply(rehearsed=True) goes now."

    def _lists(self) -> list[tuple[str, list[str]]]:
        """What did not go well, and what is to be looked at, a few lines of each."""
        found = []
        titles = ("Did not go as planned", self.problems), ("To look at", self.warnings)
        for title, lines in titles:
            if more := len(lines) - FEW:
                lines = lines[:FEW] + ([f"… and {more:,} more"] if more > 0 else [])
            if lines:
                found.append((title, [visible(line) for line in lines]))
        return found

    def _text(self) -> list[list[str]]:
        width = max(len(name) for name, _, _ in self._figures())
        rows = [f"{'':{width}}  before  after"]
        rows += [f"{n:{width}}  {b:>6,}  {a:>5,}" for n, b, a in self._figures()]
        blocks = [[self._heading()], [line for s in self._setup() for line in wrapped("", s)], rows]
        for title, lines in self._lists():
            blocks.append([f"{title}:", *(part for line in lines for part in wrapped("  ", line))])
        return [*blocks, wrapped("", self._next())]

    def _html(self) -> list[str]:
        parts = [html_heading(self._heading()), f"<p>{marked(' '.join(self._setup()))}</p>"]
        rows = "".join(
            f'<tr><th scope="row">{marked(name)}</th><td>{was:,}</td><td>{now:,}</td></tr>'
            for name, was, now in self._figures()
        )
        head = "".join(f'<th scope="col">{name}</th>' for name in ("what", "before", "after"))
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
        parts += [html_list("objections", f"{title}:", lines) for title, lines in self._lists()]
        return [*parts, f"<p>{marked(self._next())}</p>"]


# --- the copy -------------------------------------------------------------------------------


class _Impatient(Transport):
    """Sends calls to a copy: retries are those of a live account, waits are short.

    The faults of a copy are over with the call that met them, so nothing is gained by waiting.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._throttle = AdaptiveThrottle(_WAIT)

    def _retry_wait(
        self, outcome: Answer | CallError, tries: count[int], sent: float
    ) -> float | None:
        wait = super()._retry_wait(outcome, tries, sent)
        return None if wait is None else min(wait, _WAIT)


class _Stage:
    """The copy of an account, where a plan is rehearsed."""

    def __init__(
        self, sandbox: Sandbox, client: Client, codes: Collection[str], plan: Plan, seed: int
    ) -> None:
        self._sandbox, self._client, self._seed = sandbox, client, seed
        self._codes, self._plan = list(codes), plan

    def apply(self, concurrency: int) -> pd.DataFrame:
        """Apply the plan here; its journal is not kept."""
        desk = source_of(self._client, setting_of(self._plan).noun)
        plan = plan_of_copy(self._plan, desk)
        try:
            return plan.apply(
                concurrency=concurrency,
                many=True,
                irreversible=True,
                settle=0.0,
                watch=lambda done, total: None,
            )
        finally:
            for file in journal_folder(True).glob(f"{plan.id}.db*"):
                file.unlink(missing_ok=True)

    @contextmanager
    def receiver(self) -> Iterator[None]:
        """Have a receiver on this machine hear what the webhooks are told, new ones too."""
        socket = listen("127.0.0.1", 0, loopback=True)
        server = Server(_heard, socket, name="chatkit-rehearsal", grace=1)
        urls = [*self._client.webhooks.frame()["url"]]
        urls += [c.after["url"] for c in self._plan.changes if c.after.get("url")]
        try:
            for url in dict.fromkeys(urls):
                with suppress(ValueError):  # an address that nothing can be posted to
                    self._sandbox.allow(url, f"http://127.0.0.1:{server.port}/")
            yield
        finally:
            server.stop()

    def look(self) -> Moment:
        """Tell what the account is like once customers have written and were written to."""
        self._sandbox.settle()
        heard: dict[str, int] = {}
        delivered: Counter[int] = Counter()
        events = 0
        board = self._board()
        for name, options in self._scenarios(board):
            played = self._sandbox.play(name, seed=self._seed, **options)
            events += len(played.events)
            delivered.update(
                each.webhook_id for each in played.deliveries if each.status == "delivered"
            )
            with self._sandbox.middleware.alone() as service:
                for kind in sorted({event.kind for event in played.events}):
                    heard[kind] = len(service.webhooks.active(service.account_id, kind))
        records, findings = self._stored()
        health = self._client.webhooks.health()
        return Moment(records, findings, board, health, heard, delivered, events)

    def failing(self) -> list[str]:
        """Name the webhooks that fail in the account itself: in the copy each receiver answers."""
        health = self._client.webhooks.health()
        rows = zip(health.index, health["url"], health["health"], health["reason"], strict=True)
        return [
            f"webhook {key} ({url}) fails in the account: {reason}"
            for key, url, verdict, reason in rows
            if verdict == "failing"
        ]

    def _scenarios(self, board: Board | None) -> Iterator[tuple[str, dict[str, Any]]]:
        """What customers do: they write, and are sent what the plan is about, as far as it is."""
        with self._sandbox.middleware.alone() as service:
            account = service.account_id
            people = min(len(service.contacts.table.listed(account)), _PEOPLE)
            flows = {row.id for row in service.flows.table.rows(account) if row.active}
        to = people or [_STRANGER]
        yield "conversation", {"lines": list(_SCRIPT)}
        at_stake = [(_noun(self._plan, change), change) for change in self._plan.changes]
        contents = [
            (each.code, str(each.key or each.after.get("lang_code", "")))
            for noun, each in at_stake
            if noun == "content"
        ]
        live = {(c.template_code, c.lang_code) for c in board or () if c.state != "missing"}
        for code, lang in [each for each in dict.fromkeys(contents) if each in live][:_PLAYED]:
            yield "campaign", {"template": code, "lang_code": lang, "contacts": to}
        named = [each.key for noun, each in at_stake if noun == "flow" and each.key in flows]
        for key in named[:_PLAYED]:
            yield "flow", {"flow": key, "answers": [{}], "contacts": to}

    def _board(self) -> Board | None:
        """The board, with what the ledger of the account has recorded."""
        return self._client.templates.board(self._codes) if self._codes else None

    def _stored(
        self,
    ) -> tuple[dict[tuple[str, Any], str], dict[tuple[str, str, str, str], str]]:
        """Take the records as they are stored, and what the platform finds in them."""
        found: dict[tuple[str, Any], str] = {}
        findings: dict[tuple[str, str, str, str], str] = {}
        with self._sandbox.middleware.alone() as service:
            account = service.account_id
            tables = [
                ("flow", service.flows.table, None), ("webhook", service.webhooks.table, None),
                ("contact", service.contacts.table, None),
                *(("content", service.templates.table, code) for code in self._codes),
            ]  # fmt: skip
            for noun, table, code in tables:
                for row in table.rows(account if code is None else f"{account}/{code}"):
                    if not row.active:
                        continue
                    key = str(row.id) if code is None else (code, row.key)
                    found[noun, key] = row.shown
                    name = f"{code} {row.key}" if code else f"flow {row.key}"
                    hidden = {} if row.hidden == "{}" else json.loads(row.hidden)
                    for each in hidden.get("findings", ()):
                        place = name, each["code"], each["pointer"], each["severity"]
                        findings[place] = each["message"]
        return found, findings


async def _heard(scope: Any, receive: Any, send: Any) -> None:
    """Take whatever is delivered: an ASGI application that answers 200."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def _is_same(before: str | None, after: str | None) -> bool:
    """Whether a record is as it was, but for what moves by itself."""
    if before is None or after is None or before == after:
        return before == after
    one, two = (
        {name: value for name, value in json.loads(text).items() if not name.startswith(_MOVING)}
        for text in (before, after)
    )
    return one == two


def _noun(plan: Plan, change: Change) -> str:
    """Say what a change is of: in a plan for the account each change says it."""
    return change.noun or setting_of(plan).noun


def _states(counts: Sequence[Mapping[Any, int]]) -> list[Any]:
    """Name the states of which something is there."""
    named = dict.fromkeys(state for each in counts for state in each)
    return [state for state in named if any(each.get(state) for each in counts)]
