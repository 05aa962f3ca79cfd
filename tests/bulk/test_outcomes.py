"""Outcomes: the state of a row after each answer, or none; never failed where it is unknown.

A table of scenarios: what is planned, what its calls meet, and what is then reported and there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pytest
from bulk.applying import settled
from bulk.planning import DOCUMENT
from bulk.wayward import (
    JSON,
    Answer,
    Fault,
    Service,
    answers,
    contact,
    content,
    deletion,
    dropped,
    first,
    flow,
    hiding,
    html,
    lost,
    number_of,
    patch_key,
    plan_of,
    right,
    wayward,
    webhook,
)
from msgspec.structs import replace

import chatkit
from chatkit.account import history
from chatkit.api import retry
from chatkit.bulk.changes import Change
from chatkit.frames.snapshot import read_origin

NEWER = DOCUMENT | {"version": "7.2"}
OLDER = DOCUMENT | {"version": "7.1"}
READABLE, LISTED = {"inactive_readable": True}, {"inactive_in_lists": True}


@dataclass(frozen=True)
class Scenario:
    """What is planned on an account, what its calls meet, and what must be reported and there."""

    resource: str
    begin: Callable[[Service], Sequence[Change]]  #: makes what it needs, and plans it
    rules: Sequence[tuple[Any, ...]]  #: method, part of the path, faults in turn
    states: str | Sequence[str]  #: of all rows, or of each
    points: Mapping[str, Any] = field(default_factory=dict)  #: of the profile
    forever: Fault = right  #: what calls meet after the faults
    known: bool = False  #: whether the plan lists the flows that were there before
    one_by_one: bool = False
    deadline: float = 5.0
    sent: int | None = None  #: how often the first row was sent
    writes: int | None = None  #: how many writes the service got
    evidence: str | None = None
    reason: str = ""  #: a part of the first row's reason
    stopped: str = ""  #: a part of the reason why the run stopped
    resumed: str = ""  #: the states once the faults are over and the run is resumed
    undone: Sequence[str] | None = None  #: the states of its undo
    names: Sequence[str] | None = None  #: what the service holds then


def one(*changes: Change) -> Callable[[Service], Sequence[Change]]:
    return lambda service: changes


def existing(
    make: Callable[[Service, int], Change | None], name: str = "Ana Cruz"
) -> Callable[[Service], Sequence[Change]]:
    """A contact that is there, and a change of it; without one it is made after all."""

    def begin(service: Service) -> Sequence[Change]:
        key = service.caller.contact(number_of(1), name=name)
        change = make(service, key)
        return [change] if change else [contact(2)]

    return begin


updated = existing(lambda service, key: patch_key(1, key))
deleted = existing(lambda service, key: deletion(1, key))


def gone(service: Service, key: int) -> Change:
    service.caller("DELETE", f"/contacts/{key}")
    return deletion(1, key)


def hidden_flow(
    act: Callable[[Service, int], object] = lambda service, key: None, **more: Any
) -> Callable[[Service], Sequence[Change]]:
    """An update of a document that the plan has not seen."""

    def begin(service: Service) -> Sequence[Change]:
        key = service.caller.flow("Order", flow_json=DOCUMENT)
        with service.client() as client:
            seen = client.flows.get(key).updated_at.isoformat()
        act(service, key)
        after = {"flow_json": NEWER} | more
        return [Change(1, "update", key, "Order", {}, after, undo="never", seen=seen)]

    return begin


def with_others(*others: str) -> Callable[[Service], Sequence[Change]]:
    """A flow, where others of these names are there."""

    def begin(service: Service) -> Sequence[Change]:
        for name in others:
            service.caller.flow(name)
        return [flow(1, "Order")]

    return begin


def with_contacts(*numbers: str, changes: Sequence[Change]) -> Any:
    def begin(service: Service) -> Sequence[Change]:
        for number in numbers:
            service.caller.contact(number)
        return changes

    return begin


def moving(times: int) -> Callable[[Service], Sequence[Change]]:
    """A list whose first record is deleted whenever its last page is read, so many times."""

    def begin(service: Service) -> Sequence[Change]:
        left = iter([service.caller.flow(f"Old {n}") for n in range(15)][:times])

        def arrive(sent: Any) -> None:
            if "page=3" in sent.path and (key := next(left, None)):
                service.caller("DELETE", f"/flows/{key}")

        service.arrival = arrive
        return [flow(1)]

    return begin


def short(do: Callable[[], Answer]) -> Answer:
    """Leave out the last record of a list."""
    status, fields, body = do()
    answer = json.loads(body)
    answer["data"] = answer["data"][:-1]
    return status, fields, json.dumps(answer).encode()


def nameless(n: int) -> Change:
    made = contact(n)
    return replace(made, after={k: v for k, v in made.after.items() if k != "name"})


def number_change(number: str) -> Change:
    fields = {"number": number, "country_code": "+1", "name": "Ana Cruz"}
    return Change(int(number), "create", None, f"+1 {number}", {}, fields)


def shouting(method: str) -> Callable[[Service], Sequence[Change]]:
    """A service that writes names in capitals: after an update, or in its answer to a create."""

    def begin(service: Service) -> Sequence[Change]:
        key = service.caller.contact(number_of(1), name="Ana Cruz") if method == "PUT" else 0

        def capitals(do: Callable[[], Answer]) -> Answer:
            made = key or json.loads(do()[2])["data"]["id"]
            reply = service.caller("PUT", f"/contacts/{made}", {"name": "ZOË LI"})
            body = reply.body if key else service.caller("GET", f"/contacts/{made}").body
            return (200 if key else 201), JSON, body

        service.on(method, "contacts", capitals)
        return [patch_key(1, key)] if key else [contact(1)]

    return begin


def somebody_made(name: str, then: Fault, *before: Fault) -> Callable[[Service], Sequence[Change]]:
    """Somebody else makes the same contact as the create arrives."""

    def begin(service: Service) -> Sequence[Change]:
        other = first(lambda: service.caller.contact(number_of(1), name=name), then)
        service.on("POST", "contacts", *before, other)
        return [contact(1)] if name == "Bo" else [nameless(1)]

    return begin


def mixed_up(name: str) -> Callable[[Service], Sequence[Change]]:
    """The answer to an update is about another record; somebody may have changed the right one."""

    def begin(service: Service) -> Sequence[Change]:
        key, other = (service.caller.contact(number_of(n), name="Ana Cruz") for n in (1, 2))

        def answer(do: Callable[[], Answer]) -> Answer:
            do()
            if name:
                service.caller("PUT", f"/contacts/{key}", {"name": name})
            return 200, JSON, service.caller("GET", f"/contacts/{other}").body

        service.on("PUT", f"contacts/{key}", answer)
        return [patch_key(1, key)]

    return begin


def reading_another(times: int | None) -> Callable[[Service], Sequence[Change]]:
    """Reads show the record of another, which is just as this row wants it."""

    def begin(service: Service) -> Sequence[Change]:
        key = service.caller.contact(number_of(1), name="Ana Cruz")
        other = service.caller.contact(number_of(2), name="Zoë Li")

        def wrong(do: Callable[[], Answer]) -> Answer:
            return 200, JSON, service.caller("GET", f"/contacts/{other}").body

        faults = {"forever": wrong} if times is None else {}
        service.on("GET", f"contacts/{key}", *[wrong] * (times or 0), **faults)
        return [patch_key(1, key)]

    return begin


REFUSAL = json.dumps({"success": False, "message": "It exists"}).encode()
NOTHING_FOUND = (
    b'{"success":true,"data":[],'
    b'"pagination":{"page":1,"pageSize":100,"totalCount":0,"totalPages":0}}'
)
WAIT = answers(429, b"{}", retry_after="0.15")
UNREADABLE = (answers(422, b"{}"), answers(200, b'{"success":false}'))
TWO = one(flow(1, "Order"), flow(2, "Order"))

SCENARIOS = {
    # whose record it is
    "a flow that was there before is never adopted": Scenario(
        "flows", with_others("Order"), [("POST", "flows", dropped)], "applied",
        known=True, sent=2, names=["Order", "Order"],
    ),
    **{
        f"each of two flows of one name finds its own: {name}": Scenario(
            "flows", TWO, [("POST", "flows", *faults)], "applied",
            one_by_one=faults[0] is right, names=["Order", "Order"],
        )
        for name, faults in {
            "the second is dropped": (right, dropped), "one of them is": (lost, dropped),
            "both answers are lost": (lost, lost),
        }.items()
    },
    "what the service names by itself is ours after a doubt": Scenario(
        "contacts", somebody_made("From the phone", right, dropped), [], "applied",
        sent=2, reason="the answer was lost, it is there",
    ),
    "what somebody named meanwhile is not ours": Scenario(
        "contacts", somebody_made("Zoë Li", right), [], "conflict", reason="Zoë",
        undone=[], names=[number_of(1)],
    ),
    "a refusal because somebody else's is there stays one": Scenario(
        "contacts", somebody_made("Bo", answers(409, REFUSAL)), [], "conflict", reason="Bo",
        writes=1,
    ),
    **{
        f"a refusal with {status} as if it were there": Scenario(
            "webhooks", one(webhook(1)), [("POST", "webhooks", answers(status, REFUSAL))], state,
            points={"clash_status": status}, reason="It exists", writes=1,
        )
        for status, state in ((409, "conflict"), (422, "failed"))
    },
    "an adopted webhook tells that its secret is lost": Scenario(
        "webhooks", one(webhook(1)), [("POST", "webhooks", lost)], "applied", reason="secret",
    ),
    # what may have taken effect is never called failed
    **{
        f"a {kind} in doubt that cannot be read stays unknown, {n}": Scenario(
            "contacts", begin,
            [(method, "contacts", lost), ("GET", "contacts/5", right, *[answer] * 9)],
            "unknown", resumed="applied",
        )
        for (kind, method, begin), (n, answer) in product(
            (("update", "PUT", updated), ("delete", "DELETE", deleted)), enumerate(UNREADABLE)
        )
    },
    **{
        f"a delete in doubt where the deleted can be read, {n}": Scenario(
            "contacts", deleted, [("DELETE", "contacts", *faults)], "applied",
            points=READABLE, names=[],
        )
        for n, faults in enumerate(((lost,), (dropped, lost), (lost, lost)))
    },
    **{
        f"all deletes are lost, where the deleted can be read, listed {listed}": Scenario(
            "contacts", deleted, [("DELETE", "contacts")], "unknown" if listed else "applied",
            points=READABLE | (LISTED if listed else {}), forever=lost, resumed="applied",
        )
        for listed in (False, True)
    },
    "what was gone before is unchanged": Scenario(
        "contacts", existing(gone), [], "unchanged", points=READABLE, writes=0,
    ),
    **{
        f"a lost create is found among the deleted, readable {readable}": Scenario(
            "contacts", one(contact(1)), [("POST", "contacts", lost)], "applied",
            points=LISTED | {"inactive_readable": readable}, names=[number_of(1)],
        )
        for readable in (False, True)
    },
    "a lost create among the deleted that can be read is never failed": Scenario(
        "contacts", one(contact(1)), [("POST", "contacts")], "unknown", forever=lost,
        points=LISTED | READABLE, sent=5, reason="does not show whether it took effect",
        resumed="applied",
    ),
    **{
        f"our own write moved updated_at, raw {raw}": Scenario(
            "flows", hidden_flow(**({"flow_json_raw": "{}"} if raw else {})),
            [("PUT", "flows", lost)], "applied" , points={"flow_json_in_get": raw},
        )
        for raw in (False, True)
    },
    "what is not shown is not read back": Scenario(
        "flows", hidden_flow(), [], "applied", points={"flow_json_in_get": False},
        evidence="answered",
    ),
    "somebody else's change to what is hidden": Scenario(
        "flows", hidden_flow(lambda s, key: s.caller("PUT", f"/flows/{key}", {"flow_json": OLDER})),
        [], "conflict", points={"flow_json_in_get": False}, writes=0,
    ),
    # attempts
    "only what was sent counts as an attempt": Scenario(
        "contacts", one(contact(1)), [("POST", "contacts", *[WAIT] * 5, dropped)], "applied",
        deadline=0.1, names=[number_of(1)],
    ),
    "what never takes effect has failed after five times": Scenario(
        "contacts", one(contact(1)), [("POST", "contacts")], "failed", forever=dropped,
        sent=5, writes=5, reason="sent 5 times, and it never took effect", names=[],
    ),
    "what is refused after a doubt has the words of the service": Scenario(
        "contacts", one(contact(1)), [("POST", "contacts", dropped)], "failed",
        forever=answers(422, REFUSAL), reason="It exists",
    ),
    # what proves an update, or a create
    "an answer about another record proves nothing": Scenario(
        "contacts", mixed_up(""), [], "applied", evidence="adopted",
    ),
    "an answer about another record, and a change of somebody": Scenario(
        "contacts", mixed_up("Somebody Else"), [], "conflict", evidence="",
        reason="Somebody Else",
    ),
    "a bad answer to what reads back is asked for again": Scenario(
        "contacts", updated, [("GET", "contacts/5", html, right, html, html)], "applied",
        evidence="read back",
    ),
    "no row is compared with the record of another": Scenario(
        "contacts", reading_another(3), [], "applied", writes=1,
    ),
    "nor while all reads are of another": Scenario(
        "contacts", reading_another(None), [], "not sent", reason="about the contact", writes=0,
    ),
    "an update that reads back otherwise is taken back": Scenario(
        "contacts", shouting("PUT"), [], "differs", undone=["applied"], names=[number_of(1)],
    ),
    "a create that is answered with something else is taken back": Scenario(
        "contacts", shouting("POST"), [], "differs", undone=["applied"], names=[],
        reason="it was saved with other values: name is 'ZOË LI', not 'Ana Cruz'",
    ),
    # how it is looked for
    "a number that many others contain": Scenario(
        "contacts",
        with_contacts(*(f"20255501{n:02d}" for n in range(20)),
                      changes=[number_change("20255"), number_change("202555")]),
        [("POST", "contacts", dropped, lost)], "applied", points={"max_page_size": 7},
        one_by_one=True,
    ),
    "a service that cannot search is read from end to end": Scenario(
        "contacts",
        with_contacts(*map(number_of, range(100, 130)), changes=[contact(1), contact(2)]),
        [("POST", "contacts", lost, dropped)], "applied",
        points={"search_param": None, "max_page_size": 7}, one_by_one=True, sent=1,
    ),
    "a search that finds nothing ends in reading the whole list": Scenario(
        "contacts", one(contact(1)), [
            ("POST", "contacts", lost),
            ("GET", "search=", *[answers(200, NOTHING_FOUND)] * 20),
        ], "applied", evidence="adopted", names=[number_of(1)],
    ),
    **{
        f"a list that moves {times} times is read again": Scenario(
            "flows", moving(times), [("POST", "flows", lost)], "applied",
            points={"max_page_size": 5}, known=True, evidence="adopted",
        )
        for times in (1, 2)
    },
    "a list that never keeps still proves nothing": Scenario(
        "flows", moving(15), [("POST", "flows", dropped)], "unknown",
        points={"max_page_size": 5}, known=True, sent=1, writes=1,
        reason="the list kept changing while it was read", resumed="applied",
    ),
    "a list that is shorter than its own total proves nothing": Scenario(
        "flows", with_others("Old"), [("POST", "flows", lost), ("GET", "flows?", *[short] * 30)],
        "unknown", writes=1,
    ),
    "what cannot be looked for is found by a resume": Scenario(
        "flows", one(flow(1)), [
            ("POST", "flows", lost), ("GET", "flows?", *[answers(500)] * 4),
        ], "unknown", reason="cannot be looked for: 500", resumed="applied", names=["Flow 1"],
    ),
    "whether a flow is there twice cannot be read": Scenario(
        "flows", one(flow(1)), [("GET", "flows")], "applied", forever=answers(403),
        stopped="there twice could not be read", resumed="applied",
    ),
    "one of many searches that is never answered decides its row alone": Scenario(
        "contacts", one(*map(contact, range(10))), [
            ("POST", "contacts", *[lost] * 10), ("GET", f"search={number_of(3)}", *[html] * 30),
            ("GET", "contacts?page=", *[html] * 30), ("GET", f"search={number_of(4)}", html, html),
        ], [*["applied"] * 3, "unknown", *["applied"] * 6], writes=10, resumed="applied",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_reports_what_is_true(name: str) -> None:
    scenario = SCENARIOS[name]
    with (
        wayward(**scenario.points) as service,
        service.client(deadline=scenario.deadline) as client,
    ):
        changes = scenario.begin(service)
        known = [each["id"] for each in service.all("flows")] if scenario.known else []
        for rule in scenario.rules:
            service.on(*rule, forever=scenario.forever)
        source = getattr(client, scenario.resource)
        at_once = 1 if scenario.one_by_one else 8
        plan = plan_of(source, changes, known=known)
        begun = len(service.writes())
        result = settled(plan.apply, settle=0, irreversible=True, concurrency=at_once)
        assert_states(result, scenario.states)
        row = result.iloc[0]
        assert scenario.sent in (None, row.sent)
        assert scenario.evidence in (None, row.evidence)
        assert scenario.reason in row.reason
        assert scenario.writes in (None, len(service.writes()) - begun)
        assert scenario.stopped in read_origin(result)["stopped"]
        assert chatkit.runs(client).state.item() in ("finished", "open")
        if scenario.resumed:
            service.arrival = lambda sent: None
            for method, part, *_ in scenario.rules:
                service.on(method, part)
            result = settled(history.resume, result, client, settle=0)
            assert_states(result, scenario.resumed)
            assert chatkit.runs(client).state.item() == "finished"
        made = result[(result.change == "create") & (result.state == "applied")].key
        assert made.nunique() == len(made) and not {*made} & {*known}
        undo = chatkit.undo(result, client)
        assert accounts_for(undo, result)
        if scenario.undone is not None:
            assert undo.apply().state.tolist() == list(scenario.undone)
        if scenario.names is not None:
            names = service.names() if scenario.resource == "flows" else service.numbers()
            assert sorted(names) == list(scenario.names)


def assert_states(result: Any, states: str | Sequence[str]) -> None:
    expected = [states] * len(result) if isinstance(states, str) else list(states)
    assert list(result.state) == expected, result[["state", "reason"]].to_string()


def accounts_for(undo: chatkit.Plan, result: Any) -> bool:
    """Return whether each row of a run is taken back, or listed with a reason."""
    rows = {change.row for change in undo.changes}
    listed = [*undo.refused["row"], *undo.left_out["row"]]
    reasons = [*undo.refused["reason"], *undo.left_out["state"]]
    return sorted([*rows, *listed]) == sorted(result.index) and all(reasons)


# --- what no table holds ----------------------------------------------------------------------


def test_what_lands_after_the_last_attempt_was_given_up_is_not_reported_as_failed(
    monkeypatch,
) -> None:
    """A unique key lets it be sent again at once; that it had no effect is known later."""
    monkeypatch.setattr(retry, "SETTLE_DUPLICABLE", 0.5)
    with wayward() as service, service.client(deadline=0.5) as client:
        service.on("POST", "contacts", *[dropped] * 4, service.late(0.4))
        result = plan_of(client.contacts, [contact(1)]).apply()
        assert (result.state[1], result.sent[1]) == ("applied", 5), result.reason[1]
        service.quiet()
        assert service.numbers() == [number_of(1)]


def test_what_is_hidden_does_not_hide_that_the_rest_is_somebody_elses() -> None:
    """Their edit has moved updated_at too; our flow_json, which is shown, is not there."""
    with wayward() as service, service.client() as client:
        key = service.caller.flow("Order", flow_json=DOCUMENT)
        seen = client.flows.get(key).updated_at.isoformat()
        after = {"flow_json": NEWER, "flow_json_raw": "{}"}
        change = Change(1, "update", key, "Order", {"flow_json": DOCUMENT}, after, seen=seen)
        meanwhile = first(lambda: service.caller("PUT", f"/flows/{key}", {"flow_json": OLDER}))
        service.on("PUT", "flows", meanwhile)
        service.on("GET", f"flows/{key}", forever=hiding("flow_json_raw"))
        result = settled(plan_of(client.flows, [change]).apply, settle=0)
        assert service.caller("GET", f"/flows/{key}").data["flow_json"] == OLDER
        assert result.state[1] == "conflict", result.reason[1]


def create_of(source: str) -> Change:
    makers = {"contacts": contact, "flows": flow, "webhooks": webhook, "contents": content}
    return makers[source](1)


@pytest.mark.parametrize(
    ("source", "known", "whole"),
    [
        ("contacts", False, True), ("flows", True, False), ("flows", False, True),
        ("webhooks", False, False), ("contents", True, True),
    ],
)  # fmt: skip
def test_a_record_that_answered_a_create_of_another_is_never_deleted(
    source: str, known: bool, whole: bool
) -> None:
    path = "/templates/greeting/contents" if source == "contents" else f"/{source}"
    with wayward() as service, service.client() as client:
        {
            "contacts": lambda: service.caller.contact(number_of(9), name="Old One"),
            "flows": lambda: service.caller.flow("Old"),
            "webhooks": lambda: service.caller.webhook("https://hooks.example/old"),
            "contents": lambda: service.caller.content("de", "greeting", text="Alt"),
        }[source]()
        [record] = before = service.caller("GET", path).data
        answer = record if whole else {n: record[n] for n in ("id", "lang_code") if n in record}
        body = json.dumps({"success": True, "data": answer}).encode()
        service.on("POST", source, lambda do: do() and (201, JSON, body))
        target = client.templates if source == "contents" else getattr(client, source)
        ids = [record["id"]] if known else []
        result = settled(plan_of(target, [create_of(source)], known=ids).apply, settle=0)
        for adopted in (False, True):
            back = chatkit.undo(result, client, include_adopted=adopted)
            assert accounts_for(back, result)
            settled(back.apply, settle=0)
        left = [r for r in service.caller("GET", path).data if r["id"] == record["id"]]
        assert left == before
