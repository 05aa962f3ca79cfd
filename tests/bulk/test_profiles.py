"""The whole story of a plan under every profile: edit, apply, compare with the truth, undo.

The truth is what the service has stored, which it does not show to a client. A row that a
profile makes impossible must say so: never applied without effect, never failed with one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import pytest
from bulk.planning import DOCUMENT, ENGLISH, STAMPS, contact, content, flow, stored, webhook
from documents import document
from internals import middleware_of, quirks_of
from profiles import SERVICES

import chatkit
from chatkit.bulk.changes import Change
from chatkit.client import Client

EFFECTIVE = ("applied", "differs", "unchanged")
PARTS = ("first_name", "middle_name", "last_name")
OTHER = document("Andere", "7.2")

Records = Mapping[Any, Mapping[str, Any]]


@pytest.fixture(params=SERVICES, ids=[f"profile{n}" for n in range(len(SERVICES))], scope="module")
def sandbox(request: pytest.FixtureRequest) -> Iterator[chatkit.Sandbox]:
    with request.param.sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def client(sandbox: chatkit.Sandbox) -> Iterator[Client]:
    with chatkit.connect(sandbox) as client:
        yield client


def records(sandbox: chatkit.Sandbox, source: str) -> dict[Any, dict[str, Any]]:
    """Return what is stored of a resource by key; of a language created twice the newer."""
    outcome = stored(sandbox, source)
    if source == "contents":
        return {record["lang_code"]: record for record in outcome.values()}
    if source == "contacts" and sandbox.profile.number_form == "international":
        for record in outcome.values():  # as a person sees and writes it
            record["number"] = record["number"].removeprefix(record["country_code"][1:])
    return outcome


def named(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with its whole name, if it is kept in parts."""
    if "first_name" not in record:
        return dict(record)
    return {**record, "name": " ".join(filter(None, (record[part] for part in PARTS)))}


def holds(record: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    whole = named(record)
    return record["active"] and all((whole[n] or None) == (v or None) for n, v in fields.items())


def wrong(plan: chatkit.Plan, result: pd.DataFrame, before: Records, after: Records) -> list[str]:
    """Find the rows of a result that do not say what is true."""
    assert result.index.tolist() == [change.row for change in plan.changes]
    outcome = []
    for change, state, key in zip(plan.changes, result.state, result.key, strict=True):
        line = f"{change.kind} of {change.label} says {state}"
        if change.kind == "create":
            present = not pd.isna(key) and key in after and holds(after[key], change.after)
            before_too = not pd.isna(key) and before.get(key, {}).get("active")
            is_so = present and (state == "unchanged" or not before_too)
        elif change.kind == "delete":
            is_so = not after[key]["active"]
        else:
            is_so = holds(after[key], change.after)
        if state not in (*EFFECTIVE, "failed", "conflict") or state == "differs":
            outcome.append(f"{line}, which nothing here asks for")
        elif is_so != (state in EFFECTIVE):
            outcome.append(f"{line}, and it is {'there' if is_so else 'not there'}")
    return outcome


def strays(
    sandbox: chatkit.Sandbox,
    plan: chatkit.Plan,
    result: pd.DataFrame,
    before: Records,
    after: Records,
) -> list[str]:
    """Find what changed although no row that took effect asked for it."""
    rows = zip(result.key, plan.changes, result.state, strict=True)
    effective = {key: change for key, change, state in rows if state in EFFECTIVE}
    outcome = [f"{key} is new" for key in after.keys() - before.keys() if key not in effective]
    for key, record in before.items():
        free = _may_move(effective[key], sandbox) if key in effective else set()
        moved = {name for name in record if record[name] != after[key].get(name)} - free
        outcome += [f"{name} of {key} changed" for name in sorted(moved)]
    return outcome


def _may_move(change: Change, sandbox: chatkit.Sandbox) -> set[str]:
    """Name the fields that a change may move: what it sends, and what it said it loses."""
    free = {*change.after, *STAMPS} | ({"active"} if change.kind == "delete" else set())
    if "name" in change.after or change.undo == "not exactly":
        free |= {*PARTS}
    if "flow_json" in change.after or "flow_json_raw" in change.after:
        free |= {"flow_json_raw"} if "raw_flow_json" in quirks_of(sandbox) else set()
        free |= {"wa_status"} if change.undo != "exactly" else set()
        free |= (
            {"flow_json_raw"}
            if change.undo == "never" and sandbox.profile.put == "replace"
            else set()
        )
    return free


def unrestored(
    plan: chatkit.Plan, result: pd.DataFrame, before: Records, between: Records, after: Records
) -> list[str]:
    """Find what an undo did not bring back although the plan promised it."""
    outcome = []
    for change, state, key in zip(plan.changes, result.state, result.key, strict=True):
        if state not in ("applied", "differs"):
            continue
        line = f"{change.kind} of {change.label}, undone {change.undo}"
        if change.undo == "never" and change.kind != "create":
            if after[key] != between[key]:
                outcome.append(f"{line}: it changed all the same")
        elif change.kind == "create":
            if after[key]["active"]:
                outcome.append(f"{line}: it is still there")
        elif not after[key]["active"]:
            outcome.append(f"{line}: it is still gone")
        else:
            free = {*STAMPS, "id"} if change.key == key and isinstance(key, str) else STAMPS
            lost = {n for n, v in before[key].items() if after[key].get(n) != v} - free
            if change.undo == "not exactly":
                if (named(after[key]).get("name")) != named(before[key]).get("name"):
                    outcome.append(f"{line}: not even its whole name came back")
                lost -= {*PARTS, "tags", "ai_mode", "meta_name", "created_at", "created_by",
                         "wa_status", "flow_json_raw"}  # fmt: skip
            outcome += [f"{line}: {name} is another" for name in sorted(lost)]
    return outcome


def story(sandbox: chatkit.Sandbox, plan: chatkit.Plan, source: str) -> pd.DataFrame:
    """Apply a plan and undo it; at each step hold what is said against what is stored."""
    before = records(sandbox, source)
    result = plan.apply(many=True, irreversible=True)
    between = records(sandbox, source)
    assert wrong(plan, result, before, between) == []
    assert strays(sandbox, plan, result, before, between) == []
    back = chatkit.undo(result)
    undone = back.apply()
    after = records(sandbox, source)
    assert wrong(back, undone, between, after) == []
    assert unrestored(plan, result, before, between, after) == []
    return result


def test_contacts(sandbox: chatkit.Sandbox, client: Client) -> None:
    names = ["Ana María de la Cruz", "Bo", None, "Zoë Smith", "Ed  Poe ", "Old Name", "Kim Lee"]
    ids = [contact(sandbox, n, name) for n, name in enumerate(names)]
    for key in ids:
        with middleware_of(sandbox).transaction() as service:
            service.contacts.set_readonly_fields(
                key, sandbox.account_id, tags=["vip"], meta_name="M"
            )
    frame = client.contacts.frame()
    frame.loc[ids[0], "name"] = "Ana Cruz"
    frame.loc[ids[1], ["number", "country_code"]] = ["2025550191", "+44"]
    frame.loc[ids[2], "name"] = "Now Named"
    frame.loc[ids[3], "name"] = ""
    frame.loc[ids[4], "number"] = "2025550194"
    new = pd.DataFrame({"number": ["2025550181", "2025550182"], "country_code": "+1"})
    new["name"] = ["New One", None]
    frame = pd.concat([frame.reset_index(), new], ignore_index=True)
    plan = client.contacts.plan(frame, delete=[ids[5]])
    assert plan.counts == {"create": 2, "update": 5, "delete": 1}
    result = story(sandbox, plan, "contacts")
    assert set(result.state) == {"applied"}


def test_flows(sandbox: chatkit.Sandbox, client: Client) -> None:
    ids = [flow(sandbox, f"Flow {n}", flow_json_raw=f"raw {n}") for n in range(5)]
    with middleware_of(sandbox).transaction() as service:
        for published in (ids[1], ids[3]):
            service.flows.set_status(published, sandbox.account_id, "PUBLISHED")
    frame = client.flows.frame().reset_index()
    frame["flow_json"] = pd.Series([None] * 5, dtype=object)
    frame.at[0, "flow_json"] = OTHER
    frame.at[1, "flow_json"] = OTHER
    single = sandbox.profile.duplicate_flow_name == "refuse"
    names = ["New", "Twin", "Other" if single else "Twin"]
    new = {"name": names, "template_name": "default", "flow_json": [DOCUMENT] * 3}
    frame = pd.concat([frame, pd.DataFrame(new)], ignore_index=True)
    plan = client.flows.plan(frame, delete=ids[2:4], duplicates=True)
    assert plan.counts == {"create": 3, "update": 2, "delete": 2}
    result = story(sandbox, plan, "flows")
    assert result.state[result.key == ids[3]].item() != "applied"
    pairs = result.state[result.label == "Twin"].tolist()
    assert pairs.count("applied") == (1 if single else 2)


def test_contents(sandbox: chatkit.Sandbox, client: Client) -> None:
    for code in ("en", "de", "fr", "es"):
        content(sandbox, lang_code=code, text=f"Hello in {code}")
    contents = client.templates("order_ready")
    frame = contents.frame()
    frame.loc["en", "text"] = "Hello {{1}}!"
    frame["footer"] = pd.Series({"de": "Danke"}, dtype="str").reindex(frame.index)
    frame.loc["pt_BR", ["text", "is_draft"]] = ["Olá", True]
    frame.loc["xx_no_such", ["text", "is_draft"]] = ["?", True]
    plan = contents.plan(frame, delete=["fr"], broken=True)
    assert plan.counts == {"create": 2, "update": 2, "delete": 1}
    result = story(sandbox, plan, "contents")
    assert result.state.drop("xx_no_such").unique().tolist() == ["applied"]
    known = sandbox.profile.unknown_language == "accept"
    assert result.state["xx_no_such"] == ("applied" if known else "failed")


def test_webhooks(sandbox: chatkit.Sandbox, client: Client) -> None:
    ids = [webhook(sandbox, n) for n in range(4)]
    frame = client.webhooks.frame().reset_index()
    frame.loc[0, "is_active"] = False
    frame.loc[1, "url"] = "https://shop.example/moved"
    frame.at[2, "events"] = ["chat.message.status", "chat.something.new"]
    new = {"url": ["https://shop.example/new"], "events": [["*"]], "is_active": [False]}
    plan = client.webhooks.plan(
        pd.concat([frame, pd.DataFrame(new)], ignore_index=True), delete=[ids[3]]
    )
    assert plan.counts == {"create": 1, "update": 3, "delete": 1}
    result = story(sandbox, plan, "webhooks")
    assert result.state.unique().tolist() == ["applied"]
    assert len(plan.secrets) == 1


def test_a_content_as_it_was_sent_is_whole(sandbox: chatkit.Sandbox, client: Client) -> None:
    """All fields of a content, from a frame of one's own, under each profile."""
    header = dict.fromkeys(("text_variable", "parameter", "link", "file_name"))
    header |= {"type": "text", "text": "Ready"}
    fields = {**ENGLISH, "lang_code": "en", "headers": [header]}
    frame = pd.DataFrame([{**fields, "template_code": "own"}])
    if "unknown_template_404" in quirks_of(sandbox):
        content(sandbox, "own", lang_code="de")
    plan = client.templates.plan(frame)
    assert plan.apply().state.tolist() == ["applied"]
    made = next(r for r in stored(sandbox, "contents").values() if r["scope"] == "own"
                and r["lang_code"] == "en")  # fmt: skip
    assert {name: made[name] for name in fields} == fields
