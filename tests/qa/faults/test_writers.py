"""Somebody else writes at the same time: nothing of theirs is overwritten unseen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bulk.applying import settled
from documents import document
from faults.account import Account, account
from faults.small import QUICK, work
from volume import volume

import chatkit

DOCUMENTS = [document(title) for title in "abc"]


@pytest.fixture(scope="module", params=["merge", "replace"])
def served(request: pytest.FixtureRequest) -> Iterator[Account]:
    with account({"put": request.param}) as served:
        yield served


@pytest.fixture
def client(
    served: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[chatkit.Client]:
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path))
    about = served.about
    profile = chatkit.ServiceProfile(**about["profile"])
    with chatkit.Client(
        about["base_url"], about["account_id"], about["token"], profile=profile, deadline=1.2
    ) as client:
        yield client
    served.faults({})
    for resource in ("contacts", "flows", "webhooks"):
        present = served.call("GET", f"{resource}?pageSize=100")
        served.calls([("DELETE", f"{resource}/{record['id']}", None) for record in present])


def persons(served: Account, count: int) -> list[int]:
    calls = [
        ("POST", "contacts", {"number": f"777{n}", "country_code": "+1", "name": f"Person {n}"})
        for n in range(count)
    ]
    return [data["id"] for data in served.calls(calls)]


def moved_to(served: Account, key: int, code: str) -> dict[str, str]:
    """Return a full body as PUT needs it, with another country code."""
    record = served.call("GET", f"contacts/{key}")
    name = f"{record['first_name']} {record['last_name']}"
    return {"name": name, "number": record["number"], "country_code": code}


def test_what_somebody_changed_since_the_plan_is_a_conflict_and_stays(
    served: Account, client: chatkit.Client
) -> None:
    ids = persons(served, 10)
    frame = client.contacts.frame()
    frame["name"] = "Ours"
    plan = client.contacts.plan(frame)
    others, sibling = ids[:3], ids[3:5]
    served.calls([("PUT", f"contacts/{n}", {"name": "Theirs"}) for n in others], other=True)
    moved = [("PUT", f"contacts/{n}", moved_to(served, n, "+44")) for n in sibling]
    served.calls(moved, other=True)
    result = plan.apply(many=True)
    assert list(result["state"]) == ["conflict"] * 3 + ["applied"] * 7
    for reason in result["reason"][:3]:
        assert "'Theirs'" in reason
        assert "'Ours'" in reason
        assert "'Person " in reason
    now = client.contacts.frame()
    assert list(now["name"]) == ["Theirs"] * 3 + ["Ours"] * 7
    assert set(now.loc[sibling, "country_code"]) == {"+44"}


def test_what_somebody_did_as_we_want_it_is_unchanged(
    served: Account, client: chatkit.Client
) -> None:
    [key] = persons(served, 1)
    frame = client.contacts.frame()
    frame["name"] = "The Same"
    plan = client.contacts.plan(frame)
    served.call("PUT", f"contacts/{key}", {"name": "The Same"}, other=True)
    assert list(plan.apply(many=True)["state"]) == ["unchanged"]


def test_what_somebody_changed_is_not_deleted(served: Account, client: chatkit.Client) -> None:
    first, second, third = persons(served, 3)
    plan = client.contacts.plan(delete=[first, second, third])
    served.call("PUT", f"contacts/{first}", {"name": "Theirs"}, other=True)
    served.call("DELETE", f"contacts/{second}", other=True)
    result = plan.apply(many=True)
    assert list(result["state"]) == ["conflict", "unchanged", "applied"]
    assert client.contacts.get(first).name == "Theirs"


def test_what_somebody_deleted_is_not_made_again(served: Account, client: chatkit.Client) -> None:
    [key] = persons(served, 1)
    frame = client.contacts.frame()
    frame["name"] = "Ours"
    plan = client.contacts.plan(frame)
    served.call("DELETE", f"contacts/{key}", other=True)
    assert list(plan.apply(many=True)["state"]) == ["conflict"]
    assert client.contacts.frame().empty


@pytest.mark.parametrize("lost", [False, True])
def test_what_somebody_made_meanwhile_is_not_taken_for_ours(
    served: Account, client: chatkit.Client, lost: bool
) -> None:
    """Also when our own create got lost on its way, and theirs is all that is found."""
    body = {"number": "7771", "country_code": "+1"}
    plan = client.contacts.plan(pd.DataFrame([body | {"name": "Ours"}]))
    served.call("POST", "contacts", body | {"name": "Theirs"}, other=True)
    if lost:
        served.faults({"dropped before": 1.0}, seconds=0.5)
    result = settled(plan.apply, settle=0.6)
    assert list(result["state"]) == ["conflict"]
    assert list(client.contacts.frame()["name"]) == ["Theirs"]


def test_a_flow_of_the_same_name_that_somebody_made_is_not_taken_for_ours(
    served: Account, client: chatkit.Client
) -> None:
    flow = {"name": "Order", "template_name": "default"}
    plan = client.flows.plan(pd.DataFrame([flow | {"flow_json": DOCUMENTS[0]}]))
    served.call("POST", "flows", flow | {"flow_json": DOCUMENTS[1]}, other=True)
    served.faults({"dropped before": 1.0}, seconds=0.5)
    result = settled(plan.apply, settle=0.6)
    assert list(result["state"]) == ["conflict"]
    assert client.flows.frame(full=True)["flow_json"].tolist() == [DOCUMENTS[1]]


@pytest.mark.parametrize("field", ["flow_json", "flow_json_raw"])
def test_flows_are_compared_field_by_field(
    served: Account, client: chatkit.Client, field: str
) -> None:
    flow = {"name": "Order", "template_name": "default", "flow_json": DOCUMENTS[0]}
    key = served.call("POST", "flows", flow)["id"]
    frame = client.flows.frame(full=True)
    frame.at[key, "flow_json"] = DOCUMENTS[1]
    plan = client.flows.plan(frame)
    others: dict[str, Any] = {"flow_json": DOCUMENTS[2], "flow_json_raw": "raw"}
    served.call(
        "PUT", f"flows/{key}", {"flow_json": DOCUMENTS[0]} | {field: others[field]}, other=True
    )
    state = "conflict" if field == "flow_json" else "applied"
    assert list(plan.apply(many=True)["state"]) == [state]
    [record] = [r for r in served.truth()["state"]["flows"] if r["id"] == key]
    assert record[field] == others[field]


@pytest.mark.parametrize("put", ["merge", "replace"])
def test_random_edits_of_somebody_else_are_never_overwritten_unseen(put: str) -> None:
    """One request in four is preceded by an edit; kills and lost answers come on top."""
    rows = volume(12, 300)
    parts = [["contacts", 5, rows, 5], ["flows", 5, rows, 5], ["templates", 5, rows, 5]]
    how = {"options": QUICK | {"writer": 0.25}, "profile": {"put": put}}
    report = work(parts, kills=volume(4, 80), **how)
    assert report["wrong"] == []
    assert set(report["states"]) <= {"applied", "differs", "conflict"}
    assert {"differs", "conflict"} & report["states"].keys()
