"""Scenarios: what customers and the upstream platform do, so that there is something to receive.

A scenario is a name and options, the same at the admin door and in `Sandbox.play`:

- `conversation`: one customer and the account, line by line (see `lines`).
- `campaign`: one template to many contacts, of whom some never get it, read it or answer.
- `flow`: a flow is sent to contacts, who fill it in.
- `template`: upstream's decision about a template content.
- `change`: any other change that upstream tells.
"""

import inspect
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chatkit.sandbox import changes
from chatkit.sandbox.changes import ERRORS, MEDIA, Person
from chatkit.sandbox.delivery import Delivery
from chatkit.sandbox.lines import BadScenario, read_lines
from chatkit.sandbox.news import Event
from chatkit.sandbox.service import Service
from chatkit.sandbox.story import Story

if TYPE_CHECKING:
    from chatkit.sandbox.front import Front

_BATCH = 200
_MOST_PEOPLE = 5000
_STRANGER = Person("12125550142", "Ada Park")
_FLOW_TOKENS = 10**9


@dataclass(frozen=True)
class Played:
    """What a scenario did: its events, and what came of the first attempt to deliver each."""

    scenario: str
    events: Sequence[Event]
    deliveries: Sequence[Delivery]

    @property
    def counts(self) -> dict[str, int]:
        """How many deliveries there were of each status."""
        return dict(Counter(delivery.status for delivery in self.deliveries))

    def __repr__(self) -> str:
        hooks = len({delivery.webhook_id for delivery in self.deliveries})
        done = ", ".join(f"{count} {status}" for status, count in self.counts.items())
        told = f"to {hooks} webhook{'s' * (hooks != 1)}: {done}" if hooks else "nobody asked for it"
        count = len(self.events)
        return f"<{self.scenario} of {count} event{'s' * (count != 1)}, {told}>"


class Stage:
    """What a scenario is played on: the records of an account, and the story that is made."""

    def __init__(self, service: Service, seed: int) -> None:
        self.service, self.profile = service, service.profile
        self.story = Story(service.profile, service.source, seed)

    def people(self, wanted: object) -> list[Person]:
        """The customers meant: so many of the account's contacts, or those of these numbers.

        Raises:
            BadScenario: There are not so many, or one is no number.
        """
        if isinstance(wanted, str):
            wanted = [wanted]
        if isinstance(wanted, int) and not isinstance(wanted, bool):
            known = self._contacts()
            if not 0 < wanted <= min(len(known), _MOST_PEOPLE):
                raise BadScenario(
                    f"contacts must be from 1 to {min(len(known), _MOST_PEOPLE)}, as many as the "
                    "account has, or a list of numbers"
                )
            return list(known.values())[:wanted]
        if not isinstance(wanted, Sequence) or not 0 < len(wanted) <= _MOST_PEOPLE:
            raise BadScenario("contacts must be a count, or a list of numbers with country codes")
        known = self._contacts()
        found = []
        for number in wanted:
            digits = number.removeprefix("+").replace(" ", "") if isinstance(number, str) else ""
            if not (digits.isascii() and digits.isdigit()):
                raise BadScenario(f"{str(number)[:40]!r} is no number: write +12125550142")
            found.append(known.get(digits) or Person(digits, f"+{digits}"))
        return found

    def _contacts(self) -> dict[str, Person]:
        found = {}
        for row in self.service.contacts.table.rows(self.service.account_id):
            record = json.loads(row.item)
            parts = (record[part] for part in ("first_name", "middle_name", "last_name"))
            number = record["country_code"].removeprefix("+") + record["number"]
            name = " ".join(part for part in parts if part)
            if row.active:
                found[number] = Person(number, name or f"+{number}")
        return found


def play(
    front: "Front", scenario: str, options: Mapping[str, Any], *, seed: int = 0, wait: float = 60.0
) -> Played:
    """Play a scenario: deliver its events, and wait for the first attempt of each.

    Args:
        front: Where.
        scenario: One of `SCENARIOS`.
        options: Those of the scenario.
        seed: The same seed makes the same things happen.
        wait: Seconds to wait in all; what was not attempted by then is `waiting`.

    Raises:
        BadScenario: There is no such scenario, or an option is wrong; nothing was delivered.
        OutboxFull: Receivers are so slow that too many deliveries wait.
    """
    act = SCENARIOS.get(scenario)
    if act is None:
        raise BadScenario(f"there is no {scenario!r}; there are: {', '.join(SCENARIOS)}")
    known = list(inspect.signature(act).parameters.values())[1:]
    names = [parameter.name for parameter in known]
    for name in options:
        if name not in names:
            raise BadScenario(f"{scenario} has no option {name}; it has: {', '.join(names)}")
    for parameter in known:
        if parameter.default is parameter.empty and parameter.name not in options:
            raise BadScenario(f"{scenario} needs the option {parameter.name}")
    _check_json(options)
    with front.alone() as service:
        stage = Stage(service, seed)
        act(stage, **options)
        events = stage.story.events()
    deliveries: list[Delivery] = []
    end = time.monotonic() + wait
    for at in range(0, len(events), _BATCH):
        left = max(0.0, end - time.monotonic())
        deliveries += front.tell(events[at : at + _BATCH], left)
    return Played(scenario, events, deliveries)


# --- the scenarios --------------------------------------------------------------------


def conversation(
    stage: Stage,
    lines: str | Sequence[str],
    contact: str | None = None,
    name: str | None = None,
) -> None:
    """One customer and the account, line by line."""
    read, story = read_lines(lines), stage.story
    person = stage.people([contact])[0] if contact else _STRANGER
    person = person._replace(name=_text("name", name)) if name else person
    at, last = 0, {True: "", False: ""}
    for line in read:
        at += line.seconds or story.random.randint(3, 40)
        if line.kind == "wait":
            continue
        if line.ours:
            content = changes.text(line.text)
            last[True], at = story.send(
                person, at, "text", content, until=line.until, error=line.error
            )
        elif line.kind == "reaction":
            if not last[True]:
                raise BadScenario("there is no message of the account yet to react to")
            story.write(person, at, "reaction", changes.reaction(last[True], line.text))
        elif line.kind in MEDIA:
            content = changes.media(line.kind, story.new_id(), line.text)
            story.write(person, at, line.kind, content)
        elif line.kind == "button":
            content = changes.button(line.text)
            story.write(person, at, "button", content, last[True] or None)
        else:
            story.write(person, at, "text", changes.text(line.text))


def campaign(
    stage: Stage,
    template: str,
    lang_code: str = "en",
    contacts: int | Sequence[str] = 20,
    failures: float = 0.0,
    unread: float = 0.3,
    replies: Sequence[str] = (),
) -> None:
    """One template to many contacts: the share `failures` fails, of the others `unread` stay so.

    Each of the `replies` is written by one of those who read it, in turn.
    """
    story, people = stage.story, stage.people(contacts)
    language = {"code": _text("lang_code", lang_code)}
    content = {"name": _text("template", template), "language": language}
    if isinstance(replies, str) or not isinstance(replies, Sequence):
        raise BadScenario("replies must be a list of texts")
    failing = round(_share("failures", failures) * len(people))
    silent = round(_share("unread", unread) * (len(people) - failing))
    fates = [*["failed"] * failing, *["delivered"] * silent]
    fates += ["read"] * (len(people) - len(fates))
    story.random.shuffle(fates)
    answers = list(replies)
    for at, (person, fate) in enumerate(zip(people, fates, strict=True)):
        error = story.random.choice(list(ERRORS)) if fate == "failed" else None
        sent, done = story.send(
            person, at, "template", content, until=fate, error=error, category="marketing"
        )
        if fate == "read" and answers:
            said = changes.text(_text("replies", answers.pop(0)))
            story.write(person, done + story.random.randint(5, 600), "text", said, sent)


def flow(
    stage: Stage,
    flow: int,
    answers: Sequence[Mapping[str, Any]],
    contacts: int | Sequence[str] | None = None,
    text: str = "Please fill this in.",
) -> None:
    """A flow is sent, and each of the `answers` comes from a contact of its own."""
    row = None
    if isinstance(flow, int):
        row = stage.service.flows.table.get(flow, stage.service.account_id)
    if row is None or not row.active:
        raise BadScenario(f"the account has no flow {flow!r}")
    if isinstance(answers, Mapping | str) or not all(isinstance(one, Mapping) for one in answers):
        raise BadScenario("answers must be a list of objects: what each person filled in")
    if not answers:
        raise BadScenario("answers must hold one at least")
    people = stage.people(len(answers) if contacts is None else contacts)
    if len(people) < len(answers):
        raise BadScenario(f"{len(answers)} answers need {len(answers)} contacts")
    story, record = stage.story, json.loads(row.item)
    for at, (person, answer) in enumerate(zip(people, answers, strict=False)):
        token = f"flow-{story.random.randrange(_FLOW_TOKENS):09d}"
        action = {
            "name": "flow",
            "parameters": {"flow_id": record["wa_flow_id"], "flow_token": token},
        }
        sent: dict[str, Any] = {
            "type": "flow",
            "body": {"text": _text("text", text)},
            "action": action,
        }
        name, done = story.send(person, at, "interactive", sent)
        reply = changes.flow_answer(answer, token)
        story.write(person, done + story.random.randint(20, 300), "interactive", reply, name)


def template(
    stage: Stage, template: str, lang_code: str, event: str = "APPROVED", reason: str = "NONE"
) -> None:
    """What upstream decided about a content: APPROVED, REJECTED, PAUSED, DISABLED, FLAGGED."""
    scope = f"{stage.service.account_id}/{_text('template', template)}"
    row = stage.service.templates.table.find(scope, _text("lang_code", lang_code))
    if row is None or not row.active:
        raise BadScenario(f"the account has no content of {template!r} in {lang_code!r}")
    told = _text("event", event), _text("reason", reason)
    stage.story.add(
        0,
        stage.profile.event_kind_template,
        lambda at: changes.template_status(row.id, template, lang_code, *told, at),
    )


def change(stage: Stage, field: str, value: Mapping[str, Any]) -> None:
    """Any other change of the upstream platform, as it tells it."""
    if not isinstance(value, Mapping):
        raise BadScenario("value must be an object")
    name, held = _text("field", field), dict(value)
    stage.story.add(0, stage.profile.event_kind_raw, lambda at: changes.change(name, held, at))


SCENARIOS: Mapping[str, Callable[..., None]] = {
    "conversation": conversation,
    "campaign": campaign,
    "flow": flow,
    "template": template,
    "change": change,
}


def _check_json(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError):
            raise BadScenario(f"{name} cannot be written as JSON") from None


def _text(option: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise BadScenario(f"{option} must be a text")
    return value


def _share(option: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadScenario(f"{option} must be a share from 0 to 1")
    return value
