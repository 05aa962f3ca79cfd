"""One plan for several resources: one review, one journal, one run, one undo."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from bulk.applying import kept_at, settled, stop_by
from bulk.journalling import change, created, folder, spoil_run  # noqa: F401
from bulk.planning import (  # noqa: F401
    DOCUMENT,
    active,
    call,
    client,
    contacts,
    content,
    flow,
    number,
    sandbox,
    states,
    stored,
    through,
    untouched,
    webhook,
    writes,
)
from displayed import html_of

import chatkit
from chatkit.bulk import journal
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.outcomes import read_rows
from chatkit.bulk.plan import Plan, join_plans
from chatkit.bulk.stores import find_run, get_journal_folder, read_changes_since
from chatkit.client import get_plan_target
from chatkit.errors import PlanRefused

SOURCES = ("flows", "contents", "webhooks", "contacts")


def prepared(sandbox):
    """An account with two records of each resource."""
    ids = {"flow": [flow(sandbox, "Order"), flow(sandbox, "Return")]}
    content(sandbox, "ready", lang_code="en")
    content(sandbox, "ready", lang_code="de")
    ids["webhook"] = [webhook(sandbox, 0), webhook(sandbox, 1)]
    ids["contact"] = contacts(sandbox, 2)
    return ids


def joined(client, *, webhook_at=7, extra=()) -> Plan:
    """A plan that creates, changes and deletes in all four resources of `prepared`."""
    frames = {
        "flow": [
            {"name": "Order", "flow_json": DOCUMENT | {"version": "7.2"}},
            {"name": "Survey", "template_name": "default", "flow_json": DOCUMENT},
        ],
        "webhook": [
            {"url": "https://shop.example/hook/0", "is_active": False},
            {"url": f"https://shop.example/hook/{webhook_at}", "events": ["*"]},
        ],
        "contact": [
            {"number": number(0), "country_code": "+1", "name": "Bo Diaz"},
            {"number": number(8), "country_code": "+1", "name": "Eun Fay"},
        ],
    }
    contents = [
        {"template_code": "ready", "lang_code": "en", "text": "Hi {{1}}!"},
        {"template_code": "ready", "lang_code": "de", "delete": True},
        {"template_code": "ready", "lang_code": "fr", "text": "Salut", "is_draft": True},
    ]
    plans = [
        client.flows.plan(frames["flow"], existing="update", broken=True),
        client.templates.plan(contents, broken=True),
        client.webhooks.plan(frames["webhook"], existing="update"),
        client.contacts.plan(frames["contact"], existing="update"),
    ]
    plan = join_plans(get_plan_target(client, "account"), plans)
    plan.notes[:0] = extra
    return plan


def folder_of(client):
    """Return the journal folder of an account of a sandbox in this process."""
    folder = get_journal_folder(passing=client.connection.passing)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def shape(sandbox):
    """Return the records of the account without their ids."""
    outcome = {}
    for source in SOURCES:
        rows = [
            {n: v for n, v in row.items() if n not in ("id", "wa_flow_id", "created_at")}
            for row in active(sandbox, source).values()
        ]
        outcome[source] = sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)
    return outcome


# --- review -----------------------------------------------------------------------------------


def test_a_plan_for_the_account_shows_each_resource_with_its_counts(sandbox, client):
    prepared(sandbox)
    plan = joined(client, extra=["The signing secrets are new."])
    text = repr(plan)
    assert text.splitlines()[0] == (
        "Plan for the account: 2 flows, 3 contents, 2 webhooks, 2 contacts."
    )
    heads = [line for line in text.splitlines() if re.match("(Flows|Contents|Webhooks|Con)", line)]
    assert heads == [
        "Flows: 1 create, 1 update; 1 row matches an existing flow",
        "Contents: 1 create, 1 update, 1 delete",
        "Webhooks: 1 create, 1 update; 1 row matches an existing webhook",
        "Contacts: 1 create, 1 update; 1 row matches an existing contact",
    ]
    assert "The signing secrets are new." in text
    html = html_of(plan)
    places = [html.index(f">{head.partition(':')[0]}: ") for head in heads]
    assert places == sorted(places)
    frame = plan.frame()
    assert frame.index.names == ["resource", "record"]
    assert list(dict.fromkeys(frame.index.get_level_values(0))) == [
        *("flow", "content", "webhook", "contact")
    ]
    assert frame.loc["contact"].change.tolist() == ["update", "create"]
    assert [c.kind for c in plan.changes if c.noun == "webhook"] == ["update", "create"]


def test_a_plan_for_the_account_with_nothing_to_do_says_so(sandbox, client):
    plan_target = get_plan_target(client, "account")
    plan = join_plans(plan_target, [client.contacts.plan([]), client.flows.plan([])])
    assert repr(plan).startswith("Nothing to do: the account already matches what is planned.")
    assert len(plan.apply()) == 0
    assert writes(sandbox) == []


def test_too_much_is_counted_in_each_resource_on_its_own(sandbox, client):
    contacts(sandbox, 40)
    ids = [flow(sandbox, f"F{n}") for n in range(12)]
    flows = client.flows.plan([], delete=ids[:4])
    few = client.contacts.plan([{"number": number(0), "country_code": "+1", "name": "Bo"}])
    plan = join_plans(get_plan_target(client, "account"), [flows, few])
    assert len(plan) == 4 + len(few)  # 5 of 52 records, but 4 of 12 flows
    many, never = plan.objections()
    assert "it changes 4 of 12 flows, more than 30%" in many
    assert "4 of its rows can never be undone" in never
    with pytest.raises(PlanRefused, match="4 of 12 flows"), untouched(sandbox):
        plan.apply(irreversible=True)
    assert plan.objections(many=True, irreversible=True) == []


def test_deletes_of_several_resources_together_ask_too(sandbox, client):
    codes = [f"code_{n}" for n in range(60)]
    for code in codes:
        content(sandbox, code, lang_code="en")
    ids = contacts(sandbox, 300)
    gone = [{"template_code": code, "lang_code": "en", "delete": True} for code in codes]
    plans = [client.templates.plan(gone), client.contacts.plan([], delete=ids[:60])]
    plan = join_plans(get_plan_target(client, "account"), plans)
    [output] = plan.objections()
    assert "it deletes 120 records of several resources and changes 60 of 60 contents" in output


def test_cells_that_cannot_be_planned_say_their_resource(sandbox, client):
    flows = client.flows.plan([{"name": "X", "template_name": "default", "flow_json": 3}])
    plan = join_plans(get_plan_target(client, "account"), [flows, client.contacts.plan([])])
    assert plan.refused["row"].tolist() == [("flow", 1)]
    assert "flow / 1" in repr(plan)
    with pytest.raises(PlanRefused, match="1 row cannot be planned"):
        plan.apply()


# --- run --------------------------------------------------------------------------------------


def test_one_run_changes_all_resources_in_the_order_of_its_rows(sandbox, client, capsys):
    prepared(sandbox)
    plan = joined(client)
    result = plan.apply(concurrency=4, many=True, irreversible=True)
    assert states(result) == ["applied"] * 9
    assert result.index.equals(plan.frame().index)
    sent = [path.split("/")[0] for _, path in writes(sandbox)[-9:]]
    assert list(dict.fromkeys(sent)) == ["flows", "templates", "webhooks", "contacts"]
    names = {row["name"] for row in active(sandbox, "flows").values()}
    assert names == {"Order", "Return", "Survey"}
    contents = {row["lang_code"]: row["text"] for row in active(sandbox, "contents").values()}
    assert contents == {"en": "Hi {{1}}!", "fr": "Salut"}
    first_names = {r["number"]: r["first_name"] for r in active(sandbox, "contacts").values()}
    assert first_names == {number(0): "Bo", number(1): "Ana", number(8): "Eun"}
    made = result.loc[("webhook", slice(None)), :].query("change == 'create'").key.item()
    assert list(plan.secrets) == [made]
    report = capsys.readouterr()
    assert f"https://shop.example/hook/7 ({made})" in report.out + report.err
    assert plan.secrets[made].reveal() not in report.out + report.err + repr(plan)
    with untouched(sandbox):
        again = plan.apply(many=True, irreversible=True)
    assert states(again) == ["applied"] * 9


def test_a_new_flow_may_have_the_id_of_a_webhook_that_was_there(sandbox, client):
    """Ids are apart for each resource: a number that is taken in one says nothing of another."""
    present = webhook(sandbox, 0)
    lost = []

    def lose_creates(method, target, headers, body):
        status, kind, answer = sandbox.answer(method, target, headers, body)
        if method == "POST" and not lost:
            lost.append(target)
            return 502, {"content-type": "text/html"}, b"<html>"
        return status, kind, answer

    unusual = through(sandbox, lose_creates)
    flows = unusual.flows.plan([{"name": "A", "template_name": "default", "flow_json": DOCUMENT}])
    hooks = unusual.webhooks.plan([{"id": present, "is_active": False}])
    plan = join_plans(get_plan_target(unusual, "account"), [flows, hooks])
    result = settled(plan.apply, settle=0, many=True)
    assert states(result) == ["applied", "applied"]
    (made,) = active(sandbox, "flows")
    assert result.key.tolist() == [made, present]
    assert result.evidence.tolist()[0] == "adopted"


# --- journal, save and load, resume, undo -----------------------------------------------------


def test_the_undo_of_a_run_takes_back_all_resources_the_last_first(sandbox, client):
    prepared(sandbox)
    before = shape(sandbox)
    plan = joined(client)
    result = plan.apply(many=True, irreversible=True)
    back = chatkit.undo(result, client)
    assert repr(back).startswith("Plan that takes back a run of the account: ")
    assert [c.noun for c in back.changes] == [c.noun for c in reversed(plan.changes)]
    at = len(writes(sandbox))
    done = back.apply()
    assert states(done) == ["applied"] * 9
    sent = [path.split("/")[0] for _, path in writes(sandbox)[at:]]
    assert list(dict.fromkeys(sent)) == ["contacts", "webhooks", "templates", "flows"]
    assert shape(sandbox) == before
    runs = chatkit.runs(client)
    assert runs.noun.tolist() == ["account", "account"]
    assert runs.loc[result.attrs["chatkit"]["run"], "state"] == "taken back"


def test_some_rows_of_a_run_are_taken_back_by_their_labels(sandbox, client):
    prepared(sandbox)
    result = joined(client).apply(many=True, irreversible=True)
    back = chatkit.undo(result, client, rows=[("flow", 2), ("content", 1)])
    assert [(c.noun, c.kind) for c in back.changes] == [("content", "update"), ("flow", "delete")]
    assert states(back.apply()) == ["applied"] * 2


def test_a_run_that_was_stopped_goes_on_with_the_resources_that_are_left(sandbox, client, tmp_path):
    prepared(sandbox)
    plan = joined(client)
    interrupt = Interrupt()

    def channel(method, target, headers, body):
        answer = sandbox.answer(method, target, headers, body)
        if method == "DELETE":
            interrupt.ask()
        return answer

    cut = through(sandbox, channel)
    half = cut.load_plan(plan.save(tmp_path / "half.json"))
    result = stop_by(half, interrupt).apply(many=True, irreversible=True, concurrency=1)
    assert "not sent" in states(result) and states(result)[:2] == ["applied"] * 2
    with find_run(plan.id).read() as kept:
        header = kept.header
        assert len(read_rows(kept)) == 9
    assert header.noun == "account"
    assert set(header.parts) == {"flow", "content", "webhook", "contact"}
    assert set(header.parts["flow"].known) == {
        key for key, row in stored(sandbox, "flows").items() if row["name"] != "Survey"
    }
    kept = {}
    done = chatkit.resume(plan.id, client, secrets=kept)
    assert states(done) == ["applied"] * 9
    assert (
        list(kept)
        == done.key[(done.change == "create") & (done.label.str.startswith("http"))].tolist()
    )
    assert sum(m == "POST" and p == "flows" for m, p in writes(sandbox)) == 3


def test_what_a_run_for_the_account_wrote_is_found_for_one_resource(sandbox, client):
    prepared(sandbox)
    start = datetime.now(UTC) - timedelta(hours=1)
    joined(client).apply(many=True, irreversible=True)
    outcome, runs = read_changes_since(client.connection.account, "content", start)
    assert len(runs) == 1
    assert {(each.change.key, each.change.kind) for each in outcome} == {
        *(("en", "update"), ("de", "delete"), ("fr", "create"))
    }
    assert len(read_changes_since(client.connection.account, "contact", start)[0]) == 2


def test_what_was_run_before_a_variable_named_another_home_is_found(sandbox, tmp_path, monkeypatch):
    with sandbox.serve() as url, chatkit.Client(url, sandbox.account_id, sandbox.token) as client:
        monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))
        start = datetime.now(UTC) - timedelta(hours=1)
        plans = [
            client.contacts.plan([{"number": number(n), "country_code": "+1"}]) for n in range(3)
        ]
        plans[0].apply()
        monkeypatch.setenv("CHATKIT_RUNS", str(tmp_path / "shared"))
        plans[1].apply()
        kept_at(plans[2], tmp_path / "elsewhere").apply()
        outcome, _ = read_changes_since(client.connection.account, "contact", start)
        assert [each.run for each in outcome] == [plans[0].id, plans[1].id]
        monkeypatch.setenv("CHATKIT_RUNS", str(tmp_path / "data" / "runs"))  # said twice
        assert len(read_changes_since(client.connection.account, "contact", start)[0]) == 1


def test_what_took_effect_is_found_from_that_moment_on(folder, tmp_path, monkeypatch):
    """Also where its process was killed: the run has no end, its rows came after its start."""
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("CHATKIT_RUNS", raising=False)
    now = ["2026-11-20T09:00:00.000+00:00"]
    monkeypatch.setattr(journal, "_format_now", lambda: now[0])

    def run(name, *events, **fields):
        with created(folder, [change(n) for n in range(3)], run=name, **fields) as kept:
            for at, n, what in events:
                now[0] = f"2026-11-20T{at}+00:00"
                kept.write(n, what, **({"attempt": 1} if what == "intent" else {}))
            kept.commit()

    ended = [
        *[("09:00:00.000", 0, what) for what in ("intent", "answered", "verified")],
        *[("10:00:00.000", 1, what) for what in ("intent", "answered", "differs")],
        *[("10:00:00.000", 2, "conflict"), ("10:00:00.000", None, "finished")],
    ]
    killed = [("09:10:00.000", None, "started")]
    killed += [("10:00:00.000", 0, what) for what in ("intent", "answered", "verified")]
    run("20261120-090000-aaaa", *ended)
    run("20261120-091000-bbbb", *killed)
    run("20261120-091000-cccc", *killed, account="https://api.example.com 1002")
    run("20261120-091000-dddd", *killed, noun="flow")
    run("20261120-091000-eeee")
    spoil_run("20261120-091000-eeee")
    run("20261120-091000-ffff", *[(at, n, "intent") for at, n, _ in ended])

    def outcome(since):
        since = datetime.fromisoformat(f"2026-11-20T{since}+00:00")
        effective, _ = read_changes_since("https://api.example.com 1001", "contact", since)
        return [(each.run[-4:], each.at[11:19], each.change.row) for each in effective]

    second = [("aaaa", "10:00:00", 1), ("bbbb", "10:00:00", 0)]
    assert outcome("09:00:00.000") == [("aaaa", "09:00:00", 0), *second]
    assert outcome("09:00:00.001") == second == outcome("10:00:00.000")
    assert outcome("10:00:00.001") == []
