"""Scenarios: conversations, campaigns and flows, so that there is something to receive.

A scenario is a name and options, as `Sandbox.play` takes them:

- `conversation`: one customer and the account, line by line: a script, see below.
- `campaign`: one template to many contacts, of whom some never get it, read it or answer.
- `flow`: a flow is sent to contacts, who fill it in.

The script of a conversation has one line for each message:

> Is my bike ready?             the customer writes
< Yes, since noon.              the account answers; it is sent, delivered and read
> [image] The scratch           a file: image, video, audio, voice, document, sticker
> +👍                            the customer reacts to the account's last message
> -                             and takes the reaction back

A seed is what a sandbox begins with. The demo is Larkspur Cycles, a small workshop that repairs
and rents bicycles. All of it is invented. Its flows, templates and names are in the folder `demo`;
some of them are broken on purpose, so that there is something to find. A copy is made of plain
data, so the sandbox needs to know nothing of who has read it.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import random
import re
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, TypedDict

from pydantic import ConfigDict, Field, ValidationError, validate_call

from chatkit.profile import ServiceProfile
from chatkit.sandbox import events
from chatkit.sandbox.contacts import OWNER
from chatkit.sandbox.delivery import DeliveryOutcome, PublishedEvent
from chatkit.sandbox.events import ERRORS, MEDIA, STATUSES, FamilyKinds, Json, Person
from chatkit.sandbox.resource import AllowedCall, Grant
from chatkit.sandbox.service import PERMISSIONS, Service
from chatkit.sandbox.store import Clock
from chatkit.sandbox.templates import CONTENT_DEFAULTS

if TYPE_CHECKING:
    from chatkit.sandbox.middleware import Middleware

_BATCH = 200
_MOST_CUSTOMERS = 5000
_UNKNOWN_NUMBER = Person("12125550142", "Ada Park")
_FLOW_TOKENS = 10**9
# Seconds that a message takes to be sent, delivered and read.
_STEP_SECONDS = {"sent": (1, 2), "delivered": (1, 8), "read": (5, 240), "failed": (1, 5)}


class BadScenario(ValueError):
    """A scenario that cannot be played; the text says what can."""


@dataclass(frozen=True)
class ScenarioResult:
    """The result of a scenario: its events, and the outcomes of their first attempts."""

    scenario: str
    events: Sequence[PublishedEvent]
    deliveries: Sequence[DeliveryOutcome]

    @property
    def counts(self) -> dict[str, int]:
        """The number of deliveries of each status."""
        return dict(Counter(delivery.status for delivery in self.deliveries))

    def __repr__(self) -> str:
        hooks = len({delivery.webhook_id for delivery in self.deliveries})
        statuses = ", ".join(f"{count} {status}" for status, count in self.counts.items())
        outcome = (
            f"to {hooks} webhook{'s' * (hooks != 1)}: {statuses}"
            if hooks
            else "nobody asked for it"
        )
        count = len(self.events)
        failures = Counter((d.webhook_id, d.status, d.error) for d in self.deliveries if d.error)
        reasons = "".join(
            f"\n  webhook {webhook_id}, {times} {status}: {error}"
            for (webhook_id, status, error), times in failures.items()
        )
        return f"<{self.scenario} of {count} event{'s' * (count != 1)}, {outcome}{reasons}>"


def play_scenario(
    middleware: Middleware,
    scenario: str,
    options: Mapping[str, Any],
    *,
    seed: int = 0,
    wait: float = 60.0,
) -> ScenarioResult:
    """Play a scenario: deliver its events, and wait for their first attempts.

    Args:
        middleware: Where.
        scenario: One of `SCENARIOS`.
        options: Those of the scenario.
        seed: The same seed makes the same things happen.
        wait: Seconds to wait in all; what was not attempted by then is `waiting`.

    Raises:
        BadScenario: There is no such scenario, or an option is wrong; nothing was delivered.
        QueueFull: Receivers are so slow that too many deliveries wait.
    """
    add_events = SCENARIOS.get(scenario)
    if add_events is None:
        raise BadScenario(f"there is no {scenario!r}; there are: {', '.join(SCENARIOS)}")
    for name, value in options.items():
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError):
            raise BadScenario(f"{name} cannot be written as JSON") from None
    with middleware.transaction() as service:
        timeline = Timeline(service.profile, service.clock, seed)
        try:
            add_events(service, timeline, **options)
        except ValidationError as error:
            names = ", ".join(list(inspect.signature(add_events).parameters)[2:])
            first = error.errors(include_url=False)[0]
            option, fault = first["loc"][0], first["msg"]
            raise BadScenario(f"{scenario}, {option}: {fault}; its options: {names}") from None
        timeline_events = timeline.make_events()
    deliveries: list[DeliveryOutcome] = []
    end = time.monotonic() + wait
    for start in range(0, len(timeline_events), _BATCH):
        remaining = max(0.0, end - time.monotonic())
        deliveries += middleware.deliver(timeline_events[start : start + _BATCH], remaining)
    return ScenarioResult(scenario, timeline_events, deliveries)


# --- the timeline: what happens when --------------------------------------------------


class Timeline:
    """Events at seconds of a timeline, the same for the same seed.

    Ids of messages are the sandbox's own, so that a timeline told twice has other messages.
    """

    def __init__(self, profile: ServiceProfile, clock: Clock, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  repeatable, not secret
        self.kinds, self._clock = FamilyKinds.from_profile(profile), clock
        self._salt, self._count = clock.make_message_id(), 0
        self._planned: list[tuple[int, str, Callable[[int], Json]]] = []

    def add_inbound(
        self, person: Person, at: int, kind: str, content: Json, reply_to: str | None = None
    ) -> None:
        """Add a message of a customer at a second."""
        name = self.make_id("wamid.")
        media = self.kinds.media if kind in MEDIA else self.kinds.inbound
        family = self.kinds.reaction if kind == "reaction" else media
        type_ = "audio" if kind == "voice" else kind

        def inbound(second: int) -> Json:
            """Make the payload of the message at its time."""
            message = events.make_message(type_, name, second, content, reply_to)
            return events.make_inbound(person, message)

        self.add_event(at, family, inbound)

    def add_outbound(
        self,
        person: Person,
        at: int,
        kind: str,
        content: Json,
        *,
        until: str = "read",
        error: int | None = None,
        category: str = "service",
    ) -> tuple[str, int]:
        """Add a message of the account; return its id and the second of its last status."""
        name = self.make_id("wamid.")

        def outbound(second: int) -> Json:
            """Make the payload of the message at its time."""
            return events.make_outbound(person, events.make_message(kind, name, second, content))

        self.add_event(at, self.kinds.outbound, outbound)
        passed = ["failed"] if error else STATUSES[: STATUSES.index(until) + 1]
        for status in passed:
            at += self.random.randint(*_STEP_SECONDS[status])
            self.add_event(
                at,
                self.kinds.status,
                lambda second, status=status: events.make_status_change(  # type: ignore[misc]
                    person, name, status, second, error, category
                ),
            )
        return name, at

    def add_event(self, at: int, kind: str, make: Callable[[int], Json]) -> None:
        """Add an event at a second; `make` makes its payload from the time."""
        self._planned.append((at, kind, make))

    def make_id(self, prefix: str = "") -> str:
        """Make an id that no other timeline has."""
        self._count += 1
        digest = hashlib.sha256(f"{self._salt} {self._count}".encode()).digest()
        return prefix + base64.urlsafe_b64encode(digest[:24]).decode()

    def make_events(self) -> list[PublishedEvent]:
        """Make the events in order; the last one is now by the clock of the sandbox."""
        ordered = sorted(self._planned, key=lambda planned: planned[0])
        begin = self._clock.begin_timeline(ordered[-1][0] if ordered else 0)
        return [
            PublishedEvent(kind, make(begin + at), _format_time(begin + at))
            for at, kind, make in ordered
        ]


def _format_time(second: int) -> str:
    """Format seconds since 1970 as an ISO 8601 time."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# --- the scenarios --------------------------------------------------------------------


def _choose_customers(service: Service, chosen: int | Sequence[str]) -> list[Person]:
    """Return the first contacts of the account, or the contacts with these numbers.

    Raises:
        BadScenario: There are not so many, or one is no number.
    """
    contacts = {}
    for row in service.contacts.table.select_records(service.account_id):
        record = json.loads(row.item)
        parts = (record[part] for part in ("first_name", "middle_name", "last_name"))
        number = record["country_code"].removeprefix("+") + record["number"]
        if row.active:
            contacts[number] = Person(number, " ".join(filter(None, parts)) or f"+{number}")
    most = min(len(contacts), _MOST_CUSTOMERS)
    if isinstance(chosen, int):
        if not 0 < chosen <= most:
            raise BadScenario(
                f"contacts must be from 1 to {most}, as many as the account has, or a list of "
                "numbers"
            )
        return list(contacts.values())[:chosen]
    if not 0 < len(chosen) <= _MOST_CUSTOMERS:
        raise BadScenario("contacts must be a count, or a list of numbers with country codes")
    customers = []
    for number in chosen:
        digits = number.removeprefix("+").replace(" ", "")
        if not (digits.isascii() and digits.isdigit()):
            raise BadScenario(f"{number[:40]!r} is not a number: write +12125550142")
        customers.append(contacts.get(digits) or Person(digits, f"+{digits}"))
    return customers


Text = Annotated[str, Field(min_length=1)]
Share = Annotated[float, Field(ge=0, le=1)]
_checked = validate_call(config=ConfigDict(strict=True, arbitrary_types_allowed=True))


@_checked
def conversation(
    service: Service,
    timeline: Timeline,
    lines: str | Sequence[str],
    contact: Text | None = None,
    name: Text | None = None,
) -> None:
    """Add the messages of one customer and the account, line by line."""
    script = parse_script(lines)
    person = _choose_customers(service, [contact])[0] if contact else _UNKNOWN_NUMBER
    person = person._replace(name=name) if name else person
    at, sent = 0, ""
    for line in script:
        at += timeline.random.randint(3, 40)
        if line.ours:
            sent, at = timeline.add_outbound(person, at, "text", events.make_text(line.text))
        elif line.kind == "reaction":
            if not sent:
                raise BadScenario("there is no message of the account yet to react to")
            timeline.add_inbound(person, at, "reaction", events.make_reaction(sent, line.text))
        elif line.kind in MEDIA:
            content = events.make_media(line.kind, timeline.make_id(), line.text)
            timeline.add_inbound(person, at, line.kind, content)
        else:
            timeline.add_inbound(person, at, "text", events.make_text(line.text))


@_checked
def campaign(
    service: Service,
    timeline: Timeline,
    template: Text,
    lang_code: Text = "en",
    contacts: int | Sequence[str] = 20,
    failures: Share = 0.0,
    unread: Share = 0.3,
    replies: Sequence[Text] = (),
) -> None:
    """Add one template for many contacts; shares of them fail, or stay unread.

    Each of the `replies` is written by one of those who read it, in turn.
    """
    customers = _choose_customers(service, contacts)
    content = {"name": template, "language": {"code": lang_code}}
    failing = round(failures * len(customers))
    unread_count = round(unread * (len(customers) - failing))
    ends = ["failed"] * failing + ["delivered"] * unread_count
    ends += ["read"] * (len(customers) - len(ends))
    timeline.random.shuffle(ends)
    answers = list(replies)
    for at, (person, until) in enumerate(zip(customers, ends, strict=True)):
        error = timeline.random.choice(list(ERRORS)) if until == "failed" else None
        sent, finished_at = timeline.add_outbound(
            person, at, "template", content, until=until, error=error, category="marketing"
        )
        if until == "read" and answers:
            reply = events.make_text(answers.pop(0))
            finished_at += timeline.random.randint(5, 600)
            timeline.add_inbound(person, finished_at, "text", reply, sent)


@_checked
def flow(
    service: Service,
    timeline: Timeline,
    flow: int,
    answers: Annotated[Sequence[Mapping[str, Any]], Field(min_length=1)],
    contacts: int | Sequence[str] | None = None,
    text: Text = "Please fill this in.",
) -> None:
    """Add a flow for each contact, and an answer for each of the first."""
    row = service.flows.table.find_active(flow, service.account_id)
    if row is None:
        raise BadScenario(f"the account has no flow {flow!r}")
    customers = _choose_customers(service, len(answers) if contacts is None else contacts)
    if len(customers) < len(answers):
        raise BadScenario(f"{len(answers)} answers need {len(answers)} contacts")
    record = json.loads(row.item)
    for at, (person, answer) in enumerate(zip(customers, answers, strict=False)):
        token = f"flow-{timeline.random.randrange(_FLOW_TOKENS):09d}"
        action = {
            "name": "flow",
            "parameters": {"flow_id": record["wa_flow_id"], "flow_token": token},
        }
        sent: Json = {"type": "flow", "body": {"text": text}, "action": action}
        name, finished_at = timeline.add_outbound(person, at, "interactive", sent)
        reply = events.make_flow_answer(answer, token)
        finished_at += timeline.random.randint(20, 300)
        timeline.add_inbound(person, finished_at, "interactive", reply, name)


SCENARIOS: Mapping[str, Callable[..., None]] = {
    each.__name__: each for each in (conversation, campaign, flow)
}


# --- the script of a conversation -----------------------------------------------------

_MARKED = re.compile(r"\[([a-z]+)\]\s*(.*)", re.DOTALL)


class ScriptLine(NamedTuple):
    """One parsed line: who writes, its kind (text, reaction or a kind of file), and its text."""

    ours: bool
    kind: str
    text: str


def parse_script(text: str | Sequence[str]) -> list[ScriptLine]:
    """Parse a conversation; empty lines are left out.

    Raises:
        BadScenario: The first line that cannot be read, and how it may be written.
    """
    lines = text.splitlines() if isinstance(text, str) else text
    script = []
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise BadScenario(f"line {number} must be text")
        if line.strip():
            try:
                script.append(_parse_line(line.strip()))
            except BadScenario as error:
                raise BadScenario(f"line {number} ({line.strip()[:40]}): {error}") from None
    if not script:
        raise BadScenario("a conversation has a line at least: > what the customer writes")
    return script


def _parse_line(line: str) -> ScriptLine:
    """Parse one line of a conversation."""
    ours, text = line[0] == "<", line[1:].strip()
    if line[0] not in "<>":
        raise BadScenario("it must begin with > (the customer) or < (the account)")
    if not text:
        raise BadScenario("nothing is said")
    if ours:
        return ScriptLine(True, "text", text)
    if text == "-" or (text[0] == "+" and len(text) > 1 and not text[1].isalnum()):
        return ScriptLine(False, "reaction", text[1:].strip())
    marked = _MARKED.fullmatch(text)
    if marked is None:
        return ScriptLine(False, "text", text)
    if marked[1] not in MEDIA:
        raise BadScenario(f"there is no [{marked[1]}]; there are {', '.join(MEDIA)}")
    return ScriptLine(False, marked[1], marked[2])


# --- seeds: what a sandbox begins with ------------------------------------------------

_DEMO = Path(__file__).with_name("demo")
_SHOP = "Front desk"


class AccountRecords(TypedDict, total=False):
    """The records of an account as plain data, with the fields that the service shows.

    A record without an id gets the next one; a field that is missing has its usual value.
    """

    account_id: str
    profile: ServiceProfile
    now: float  #: the clock of the service, in seconds since 1970
    flows: Iterable[Mapping[str, Any]]
    contents: Mapping[str, Iterable[Mapping[str, Any]]]  #: by template code
    contacts: Iterable[Mapping[str, Any]]
    webhooks: Iterable[Mapping[str, Any]]


class Seed(Protocol):
    """An account that can be copied into a sandbox."""

    def _seed_records(self) -> AccountRecords: ...


def load_seed(service: Service, records: AccountRecords) -> None:
    """Fill an empty sandbox with the records of an account, under their ids.

    Signing secrets are new ones: no service shows those that exist. Nothing is delivered.

    Raises:
        ValueError: A record has no key, or two have one id; the text says which.
    """
    contents = [
        {**record, "template_code": code}
        for code, several in records.get("contents", {}).items()
        for record in several
    ]
    copies: Mapping[str, Any] = {**records, "templates": contents}
    for name, resource in service.resources.items():
        # Those without an id get the next ones, after all others.
        originals = copies.get(name, ())
        for record in sorted(originals, key=lambda each: int(each.get("id") or sys.maxsize)):
            try:
                resource.insert_copy(service.account_id, record)
            except KeyError as error:
                reason = f"has no {error.args[0]}"
            except sqlite3.IntegrityError:
                reason = "has the id of another one"
            else:
                continue
            raise ValueError(f"The {resource.noun.lower()} {record.get('id')!r:.40} {reason}.")
    if (now := records.get("now")) is not None:
        service.clock.set_time(now)


def fill_demo(service: Service) -> None:
    """Fill an empty sandbox with a small business, the same at every run.

    5 flows (one published, one broken), 6 templates in up to 8 languages, 256 contacts
    of which 6 are inactive, 3 webhooks.
    """
    owner = Grant(service.account_id, OWNER, PERMISSIONS)
    shop = Grant(service.account_id, _SHOP, PERMISSIONS)
    _fill_flows(service, owner)
    _fill_templates(service, owner)
    _fill_contacts(service, owner, shop)
    first = service.webhooks.table.next_id()
    for webhook in json.loads((_DEMO / "webhooks.json").read_bytes()):
        service.webhooks.create(AllowedCall(owner, (), "", webhook))
    service.webhooks.record_delivery(service.account_id, first, "delivered", 200, None)


def _fill_flows(service: Service, owner: Grant) -> None:
    """Create the demo flows."""
    for file in sorted(_DEMO.glob("flows/*.json")):
        flow = json.loads(file.read_bytes())
        published, flow_id = flow.pop("published", False), service.flows.table.next_id()
        service.flows.create(AllowedCall(owner, (), "", {"template_name": "default", **flow}))
        if published:
            service.flows.set_status(flow_id, owner.account, "PUBLISHED")


def _fill_templates(service: Service, owner: Grant) -> None:
    """Create the contents of the demo templates."""
    templates = json.loads((_DEMO / "templates.json").read_bytes())
    for code, template in templates.items():
        same = CONTENT_DEFAULTS | template["same"]
        for lang_code, content in template["contents"].items():
            body = {"lang_code": lang_code, **same, **content}
            header, labels = body.pop("header", None), body.pop("labels", [])
            if header is not None:
                sample = body["variables"]["1"] if "{{1}}" in header else None
                body["headers"] = [{"type": "text", "text": header, "text_variable": sample}]
            body["buttons"] = [
                {**button, "label": label}
                for button, label in zip(body["buttons"], labels, strict=False)
            ]
            service.templates.create(AllowedCall(owner, (code,), "", body))


def _fill_contacts(service: Service, owner: Grant, shop: Grant) -> None:
    """Create the demo contacts, with numbers that regulators keep free for fiction."""
    inactive = []
    for contact in json.loads((_DEMO / "contacts.json").read_bytes()):
        tags, is_inactive = contact.pop("tags", None), contact.pop("inactive", False)
        grant = shop if contact.pop("actor", None) == shop.actor else owner
        contact_id = service.contacts.table.next_id()
        service.contacts.create(AllowedCall(grant, (), "", contact))
        if tags:
            service.contacts.set_readonly_fields(contact_id, owner.account, tags=tags)
        inactive += [contact_id] if is_inactive else []
    for contact_id in inactive:
        service.contacts.delete(AllowedCall(owner, (str(contact_id),), "", {}))
