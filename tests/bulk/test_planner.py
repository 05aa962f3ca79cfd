"""Tests of edited frames, row by row: matches, creates and deletes."""

from __future__ import annotations

import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    DOCUMENT,
    account,
    active,
    cells,
    client,
    contacts,
    content,
    edits,
    flow,
    number,
    sandbox,
    states,
    untouched,
    webhook,
)
from internals import middleware_of

import chatkit


@pytest.fixture
def sources(sandbox, client):
    """Some records in each resource: its frame, in list and in full, and its plan."""
    contacts(sandbox, 12)
    for n in range(3):
        flow(sandbox, f"Flow {n}")
        webhook(sandbox, n)
    for code in ("en", "de"):
        content(sandbox, lang_code=code)
        content(sandbox, "welcome", lang_code=code)
    contents, codes = client.templates("order_ready"), ["order_ready", "welcome"]
    return {
        "contacts": (client.contacts.frame, client.contacts.plan),
        "contacts in full": (lambda: client.contacts.frame(full=True), client.contacts.plan),
        "flows": (client.flows.frame, client.flows.plan),
        "flows in full": (lambda: client.flows.frame(full=True), client.flows.plan),
        "contents": (contents.frame, contents.plan),
        "contents in full": (lambda: contents.frame(full=True), contents.plan),
        "templates": (lambda: client.templates.frame(codes), client.templates.plan),
        "templates in full": (
            lambda: client.templates.frame(codes, full=True),
            client.templates.plan,
        ),
        "webhooks": (client.webhooks.frame, client.webhooks.plan),
    }


@pytest.mark.parametrize(
    ("passed", "message"),
    [
        (["Ana"], "not list of str"),
        ([{"name": "Ana"}, None], "not list of NoneType"),
        (5, "not int"),
        ({"name": ["Ana"]}, r"takes a list of dicts, one for each record: plan\(\[\{…\}, "),
        (pd.Series(["Ana"]), "with two brackets"),
        ("people.xlsx", r"plan\(chatkit.read_contacts\('people.xlsx'\)\)"),
        (b"people.csv", r"plan\(chatkit.read_contacts\('people.csv'\)\)"),
    ],
)
def test_what_is_neither_a_frame_nor_rows_is_refused_with_the_way(client, passed, message):
    with pytest.raises(chatkit.errors.InputError, match=message):
        client.contacts.plan(passed)


def test_rows_may_be_dicts_that_do_not_all_say_the_same(client):
    rows = [{"number": number(1), "country_code": "+1"}, {"name": "Bo"}]
    for passed in (rows, iter(rows)):
        plan = client.contacts.plan(passed)
        assert plan.refused["row"].tolist() == [2, 2]
        assert [(change.row, change.after) for change in plan.changes] == [(1, rows[0])]


def test_planning_sends_nothing_that_could_change_something(sandbox, sources):
    for read, plan in sources.values():
        frame = read()
        with untouched(sandbox):
            plan(frame.iloc[1:].assign(delete=True)).frame()


# --- which record ---------------------------------------------------------------------------


def test_rows_without_an_id_are_found_by_their_natural_key(sandbox, client):
    ids, flow_id, hook = contacts(sandbox, 2), flow(sandbox), webhook(sandbox)
    own = pd.DataFrame({"number": [number(1)], "country_code": "+1", "name": "Zoë"})
    assert edits(client.contacts.plan(own, existing="update")) == {ids[1]: {"name": "Zoë"}}
    other = {**DOCUMENT, "version": "7.2"}
    own = pd.DataFrame({"name": ["Order"], "flow_json": [other]})
    plan = client.flows.plan(own, existing="update")
    assert edits(plan) == {flow_id: {"flow_json": other}}
    own = pd.DataFrame({"url": ["https://shop.example/hook/0"], "is_active": [False]})
    assert edits(client.webhooks.plan(own, existing="update")) == {hook: {"is_active": False}}


def test_the_natural_key_of_a_contact_is_what_the_profile_says():
    own = pd.DataFrame({"number": [number(0)], "country_code": "+49", "name": "Zoë"})
    with account(contact_key="number") as (sandbox, client):
        contacts(sandbox, 1)
        [(_, column, reason)] = cells(client.contacts.plan(own, existing="update"))
        assert column == "country_code" and "conflict" in reason
    with account(contact_key="country_code_and_number") as (sandbox, client):
        contacts(sandbox, 1)
        assert client.contacts.plan(own).counts == {"create": 1, "update": 0, "delete": 0}


def test_contents_are_found_by_code_and_language(sandbox, client):
    content(sandbox)
    own = pd.DataFrame({"lang_code": ["en", "de"], "text": ["Hi", "Hallo"]})
    contents = client.templates("order_ready")
    plan = contents.plan(own, base=contents.frame())
    assert [(c.kind, c.key, dict(c.after)) for c in plan.changes] == [
        ("update", "en", {"text": "Hi"}),
        ("create", "de", {"lang_code": "de", "text": "Hallo"}),
    ]
    own["template_code"] = ["order_ready", "welcome"]
    plan = client.templates.plan(own, existing="update")
    assert [(c.kind, c.code, c.key) for c in plan.changes] == [
        ("update", "order_ready", "en"),
        ("create", "welcome", "de"),
    ]
    assert states(plan.apply()) == ["applied", "applied"]
    assert {(c["scope"], c["lang_code"]): c["text"] for c in active(sandbox, "contents").values()} \
        == {("order_ready", "en"): "Hi", ("welcome", "de"): "Hallo"}  # fmt: skip


def test_new_rows_of_one_number_are_refused_unless_you_say_duplicates(sandbox, client):
    new = pd.DataFrame({"name": ["Order", "Order"], "template_name": "default"})
    new["flow_json"] = [DOCUMENT, DOCUMENT]
    plan = client.flows.plan(new)
    assert plan.counts["create"] == 1 and not cells(plan)
    assert "duplicates=True" in plan.notes[-1]
    plan = client.flows.plan(new, duplicates=True)
    assert states(plan.apply()) == ["applied", "applied"]
    assert len(active(sandbox, "flows")) == 2


def test_a_filtered_frame_makes_no_second_record_of_a_name_it_does_not_show(sandbox, client):
    published, draft = flow(sandbox, "Order"), flow(sandbox, "Other")
    with middleware_of(sandbox).transaction() as service:
        service.flows.set_status(published, sandbox.account_id, "PUBLISHED")
    frame = client.flows.frame(status="DRAFT").reset_index()
    assert frame["id"].tolist() == [draft]
    frame.loc[1, ["name", "template_name"]] = ["Order", "default"]
    frame["flow_json"] = [None, DOCUMENT]
    assert client.flows.plan(frame).counts["create"] == 0


# --- new rows -------------------------------------------------------------------------------


def test_new_rows_are_made_with_what_they_say(sandbox, client):
    contacts(sandbox, 1)
    frame = client.contacts.frame().reset_index()
    frame.loc[1, ["number", "country_code", "name", "meta_name"]] = [number(1), "+1", "Zoë", "Z"]
    plan = client.contacts.plan(frame)
    [change] = plan.changes
    assert (change.kind, change.key) == ("create", None)
    assert dict(change.after) == {"number": number(1), "country_code": "+1", "name": "Zoë"}
    assert plan.notes == ["New rows are sent without meta_name: the service sets them."]


def test_new_rows_may_have_an_empty_id_in_the_index(sandbox, client):
    contacts(sandbox, 1)
    new = pd.DataFrame({"number": [number(1), number(2)], "country_code": "+1"})
    frame = pd.concat([client.contacts.frame().reset_index(), new]).set_index("id")
    plan = client.contacts.plan(frame)
    assert plan.counts == {"create": 2, "update": 0, "delete": 0}
    result = plan.apply()
    assert states(result) == ["applied", "applied"]
    assert result.index.isna().all() and result.index.name == "id"
    assert states(chatkit.resume(result)) == ["applied", "applied"]
    assert len(active(sandbox, "contacts")) == 3


def test_new_rows_that_lack_what_is_required_are_refused_each_with_its_field(client):
    new = pd.DataFrame({"number": ["2025550100", None], "country_code": [None, "+1"]})
    refused = client.contacts.plan(new).refused
    assert list(zip(refused.row, refused.column, refused.reason, strict=True)) == [
        (0, "country_code", "is required"),
        (1, "number", "is required"),
    ]


def test_a_content_needs_what_the_profile_says():
    with account(content_requires=("lang_code", "text", "is_draft")) as (_, client):
        own = pd.DataFrame({"lang_code": ["en"], "text": ["Hi"]})
        assert [c[:2] for c in cells(client.templates("a").plan(own))] == [(0, "is_draft")]


def test_a_new_content_without_its_template_code_is_refused_for_that(sandbox, client):
    content(sandbox)
    own = pd.DataFrame(
        {
            "template_code": ["order_ready", None],
            "lang_code": ["de", "fr"],
            "text": ["Hallo", "Oui"],
        }
    )
    plan = client.templates.plan(own)
    assert [(row, column) for row, column, _ in cells(plan)] == [(1, "template_code")]


@pytest.mark.parametrize("unknown", [False, True])
def test_the_first_content_of_a_template_can_be_planned(unknown):
    with account(unknown_template_404=unknown) as (sandbox, client):
        own = pd.DataFrame({"lang_code": ["en"], "text": ["Hi"]})
        assert states(client.templates("one").plan(own).apply()) == ["applied"]
        assert states(client.templates.plan(own.assign(template_code="two")).apply()) == ["applied"]
        assert {c["scope"] for c in active(sandbox, "contents").values()} == {"one", "two"}


@pytest.mark.parametrize("held", [0, 7, 10])
def test_an_account_has_ten_webhooks_at_most(sandbox, client, held):
    ids = [webhook(sandbox, n) for n in range(held)]
    new = pd.DataFrame({"url": [f"https://new.example/{n}" for n in range(11)]})
    new["events"] = [["*"]] * 11
    plan = client.webhooks.plan(new)
    assert plan.counts["create"] == 10 - held
    assert len(plan.refused) == held + 1
    assert set(plan.refused.reason) == {f"an account has at most 10 webhooks, and has {held}"}
    plan = client.webhooks.plan(new, delete=ids[:2], skip_invalid=True)
    assert plan.counts["create"] == 10 - held + len(ids[:2])
    result = plan.apply(many=True, irreversible=True)
    assert set(states(result)) <= {"applied"}
    assert len(active(sandbox, "webhooks")) == 10
