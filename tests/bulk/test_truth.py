"""A run says what is true, and its undo takes all of it back or says what it does not.

Each service here does what the sandbox never does: it gets a write twice, shows what the API
document does not know, lists the deleted, answers with a page of HTML, or about somebody else.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from bulk.applying import settled
from bulk.operations import OPERATIONS, Operation
from bulk.planning import DOCUMENT
from bulk.wayward import (
    JSON,
    Answer,
    Fault,
    Service,
    after,
    answers,
    deletion,
    dropped,
    first,
    html,
    lost,
    number_of,
    patch_key,
    plan_of,
    wayward,
)
from internals import middleware_of, store_of

import chatkit
from chatkit.account import history
from chatkit.bulk.changes import Change
from chatkit.resource import get_endpoints


def twice(do: Callable[[], Answer]) -> Answer:
    """The network delivers it twice; the answer to the second comes back."""
    do()
    return do()


def report(result: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(result.state, result.evidence, strict=True))


def accounted(plan: chatkit.Plan, result: pd.DataFrame) -> bool:
    """Return whether each row of a run is undone or listed once with a reason."""
    rows = [*{change.row for change in plan.changes}]
    rows += [*plan.refused["row"], *plan.left_out["row"]]
    reasons = [*plan.refused["reason"], *plan.left_out["state"]]
    return sorted(rows) == sorted(result.index) and all(reasons)


# --- what the network delivers twice ----------------------------------------------------------


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_a_write_that_is_delivered_twice_is_ours(operation: Operation) -> None:
    with wayward() as service, service.client() as client:
        change = operation.begin(service)
        service.on(operation.method, operation.resource, twice)
        result = plan_of(operation.endpoints(client), [change]).apply(irreversible=True)
        state = "unchanged" if operation.verb == "delete" else "applied"  # for 404 is no proof
        assert list(result.state) == [state], result.reason.item()
        assert list(result.sent) == [1]
        assert accounted(chatkit.undo(result, client), result)


def test_a_create_that_another_run_has_made_is_not_counted_twice() -> None:
    rows = [{"number": "7700900999", "country_code": "+44", "name": "Ana"}]
    with chatkit.Sandbox() as sandbox, chatkit.connect(sandbox) as client:
        plan, same = client.contacts.plan(rows), client.contacts.plan(rows)
        assert report(same.apply()) == [("applied", "answered")]
        result = plan.apply()
        assert report(result) == [("unchanged", "")]
        assert same.id in result.reason.item()
        undo = chatkit.undo(result, client)
        assert accounted(undo, result) and len(undo) == 0


def test_what_was_taken_back_is_not_taken_back_again(capsys: pytest.CaptureFixture[str]) -> None:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        plan = client.contacts.plan([{"id": 50001, "name": "Ana"}, {"id": 50002, "name": "Ben"}])
        result = plan.apply()
        chatkit.undo(result, client, rows=[1]).apply()
        undo = chatkit.undo(result, client)
        assert [change.row for change in undo.changes] == [2]
        assert undo.left_out.state.tolist() == ["taken back"]
        capsys.readouterr()
        assert plan.apply().state.tolist() == ["applied"] * 2
        assert "already applied" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["contact", "content"])
def test_a_delete_that_meets_a_404_is_listed_and_not_taken_back(kind: str) -> None:
    """Nothing shows whose it was: it is brought back only if a person says so."""
    with wayward() as service, service.client() as client:
        change, plan_target = _deletion(service, client, kind)
        before = _records(service, kind)
        service.on("DELETE", "", twice)  # for the service two requests, whoever sends them
        result = plan_of(plan_target, [change]).apply()
        assert report(result) == [("unchanged", "gone")]
        assert "gone already" in result.reason.item()
        back = chatkit.undo(result, client)
        assert accounted(back, result) and len(back) == 0
        assert back.refused["next_step"].tolist() == ["undo(…, include_adopted=True)"]
        back = chatkit.undo(result, client, include_adopted=True)
        assert list(back.apply().state) == ["applied"]
        assert _records(service, kind) == before


def _deletion(service: Service, client: chatkit.Client, kind: str) -> tuple[Change, Any]:
    if kind == "contact":
        key = service.caller.contact(number_of(1), name="Ana Cruz")
        return deletion(1, key), client.contacts
    service.caller.content("en", "greeting", text="Hello", footer="Bye")
    return Change(1, "delete", "en", "greeting/en", {"text": "Hello"}, {}, "greeting"), (
        client.templates
    )


def _records(service: Service, kind: str) -> list[dict[str, Any]]:
    moves = {"updated_at", "updated_by", "id"} if kind == "content" else {"updated_at"}
    path = "/contacts" if kind == "contact" else "/templates/greeting/contents/en"
    data = service.caller("GET", path).data
    records = data if isinstance(data, list) else [data]
    return [{n: v for n, v in record.items() if n not in moves} for record in records]


# --- every row of a run -----------------------------------------------------------------------


def test_an_undo_accounts_for_every_row_of_its_run(tmp_path: Any) -> None:
    with wayward() as service, service.client() as client:
        keys = {n: service.caller.contact(number_of(n), name="Ana Cruz") for n in range(1, 7)}
        service.on("PUT", f"contacts/{keys[2]}", answers(422))
        service.on("GET", f"contacts/{keys[6]}", forever=html)
        service.caller("PUT", f"/contacts/{keys[3]}", {"name": "Bo"})
        service.caller("PUT", f"/contacts/{keys[4]}", {"name": "Zo\u00eb Li"})
        hidden = first(lambda: service.caller("PUT", f"/contacts/{keys[5]}", {"name": "Cy"}), lost)
        service.on("PUT", f"contacts/{keys[5]}", slow_down(service, keys[5], hidden))
        changes = [patch_key(n, key) for n, key in keys.items()]
        result = settled(plan_of(client.contacts, changes).apply, settle=0)
        assert list(result.state) == [
            "applied", "failed", "conflict", "unchanged", "conflict", "not sent",
        ]  # fmt: skip
        back = chatkit.undo(result, client)
        assert accounted(back, result)
        assert [change.row for change in back.changes] == [1]
        assert (
            list(back.refused["row"]) == [5]
            and "may have taken effect" in back.refused["reason"][0]
        )
        assert dict(zip(back.left_out["row"], back.left_out["state"], strict=True)) == {
            2: "failed", 3: "conflict", 4: "unchanged", 6: "not sent",
        }  # fmt: skip
        assert any("4 rows of the run left nothing" in note for note in back.notes)
        again = client.load_plan(back.save(tmp_path / "undo.json"))
        assert accounted(again, result) and again.left_out.equals(back.left_out)


def slow_down(service: Service, key: int, fault: Fault) -> Fault:
    """Land, be changed by somebody else, and lose the answer."""

    def effective(do: Callable[[], Answer]) -> Answer:
        do()
        service.caller("PUT", f"/contacts/{key}", {"name": "Cy"})
        raise ConnectionResetError

    return effective


def test_what_somebody_changed_before_a_resume_is_not_taken_back() -> None:
    """Some rows were answered and not read back yet when the run stopped."""
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        contacts = client.contacts.frame().head(20)
        first = int(contacts.index[0])
        edited = contacts.assign(name=[f"K {n}" for n in range(20)])
        calls = iter(range(1000))

        def stop_soon(*_: object) -> None:
            if next(calls) == 4:
                os.kill(os.getpid(), signal.SIGINT)

        client.contacts.plan(edited).apply(watch=stop_soon, many=True)
        client.contacts.update(first, name="Colleague")
        result = chatkit.resume(chatkit.runs().index[0], client)
        assert result.state[first] == "differs"
        assert result.reason[first].startswith("somebody changed it since, or it was saved")
        back = chatkit.undo(result, client).apply(many=True)
        assert back.state.value_counts().to_dict() == {"applied": 19, "conflict": 1}
        assert client.contacts.get(first).first_name == "Colleague"


def test_a_deleted_record_that_comes_back_under_another_id_is_told_with_both() -> None:
    with wayward() as service, service.client() as client:
        key = service.caller.contact(number_of(1), name="Ana Cruz")
        result = plan_of(client.contacts, [deletion(1, key)]).apply()

        def another(do: Callable[[], Answer]) -> Answer:
            status, fields, body = do()
            answer = json.loads(body)
            answer["data"]["id"] += 1000
            return status, fields, json.dumps(answer).encode()

        service.on("POST", "contacts", another)
        back = chatkit.undo(result, client).apply()
        assert list(back.state) == ["differs"] and list(back.key) == [key + 1000]
        assert back.reason[1] == f"it came back as {key + 1000}, not as {key}"


# --- what the API document does not know ------------------------------------------------------


def test_what_the_service_shows_beyond_the_document_is_no_change_of_somebody() -> None:
    """The count holds, and an undo whose answer is lost still finds its content."""
    with wayward() as service, service.client() as client:
        made = []

        def counting(do: Callable[[], Answer]) -> Answer:
            status, fields, body = do()
            answer = json.loads(body)
            if isinstance(answer.get("data"), dict):
                answer["data"]["revision"] = len(made)
                for button in answer["data"].get("buttons") or ():
                    button["id"] = len(made)
            return status, fields, json.dumps(answer).encode()

        def losing(do: Callable[[], Answer]) -> Answer:
            made.append(1)
            return lost(do)

        button = {"type": "custom", "label": "Yes"}
        service.caller.content("en", "greeting", text="Hello", buttons=[button])
        service.on("GET", "contents/en", forever=counting)
        change = Change(1, "delete", "en", "greeting/en", {"text": "Hello"}, {}, "greeting")
        result = plan_of(client.templates, [change]).apply()
        assert list(result.state) == ["applied"]
        service.on("POST", "contents", losing)
        back = settled(chatkit.undo(result, client).apply, settle=0)
        assert report(back) == [("applied", "adopted")], back.reason.item()
        again = settled(chatkit.undo(back, client, include_adopted=True).apply, settle=0)
        assert list(again.state) == ["applied"], again.reason.item()


@pytest.mark.parametrize("readable", [False, True])
def test_where_deleted_contacts_are_listed_an_undo_brings_them_back(readable: bool) -> None:
    points = {"inactive_in_lists": True, "inactive_readable": readable}
    with wayward(**points) as service, service.client() as client:
        key = service.caller.contact(number_of(1), name="Ana Cruz")
        result = plan_of(client.contacts, [deletion(1, key)]).apply()
        assert list(result.state) == ["applied"]
        service.on("POST", "contacts", dropped)
        back = settled(chatkit.undo(result, client).apply, settle=0)
        assert list(back.state) == ["applied"]
        assert len(service.writes("POST")) == 2
        assert _active(service) == [number_of(1)]


def test_where_deleted_contacts_are_listed_a_plan_makes_them_again() -> None:
    with wayward(inactive_in_lists=True) as service, service.client() as client:
        keys = [service.caller.contact(number_of(n), name="Ana Cruz") for n in (1, 2)]
        service.caller("DELETE", f"/contacts/{keys[0]}")
        fields = {"country_code": "+1", "name": "Zo\u00eb Li"}
        rows = [{"number": number_of(n), **fields} for n in (1, 2, 3)]
        plan = client.contacts.plan(pd.DataFrame(rows), existing="update")
        assert [change.kind for change in plan.changes] == ["create", "update", "create"]
        assert any("1 contact that the list shows is deleted" in note for note in plan.notes)
        result = plan.apply(many=True)
        assert list(result.state) == ["applied"] * 3 and list(result.key[:2]) == keys
        assert _active(service) == [number_of(n) for n in (1, 2, 3)]


def _active(service: Service) -> list[str]:
    rows = store_of(service.sandbox).run("SELECT item FROM contacts WHERE active").fetchall()
    return [json.loads(item)["number"] for (item,) in rows]


# --- answers to reads -------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["contacts", "flows", "contents"])
def test_an_answer_about_another_record_is_a_bad_one(source: str) -> None:
    with wayward() as service, service.client() as client:
        if source == "contacts":
            plan_target, keys = (
                client.contacts,
                [service.caller.contact(number_of(n)) for n in (1, 2)],
            )
        elif source == "flows":
            plan_target, keys = client.flows, [service.caller.flow(f"Flow {n}") for n in (1, 2)]
        else:
            plan_target, keys = client.templates("greeting"), ["en", "de"]
            for lang in keys:
                service.caller.content(lang, "greeting", text="Hello")
        path = get_endpoints(plan_target).get_call(keys[0]).target
        other = get_endpoints(plan_target).get_call(keys[1]).target
        service.on("GET", path, forever=lambda do: _answer(service, other))
        with pytest.raises(chatkit.errors.BadAnswer, match="is about the"):
            plan_target.get(keys[0])
        with pytest.raises(chatkit.errors.BadAnswer, match="is about the"):
            plan_target.frame(full=True)
        with pytest.raises(chatkit.errors.BadAnswer, match="is about the"):
            get_endpoints(plan_target).full(keys)


def _answer(service: Service, path: str) -> Answer:
    outcome = service.caller("GET", f"/{path}")
    return outcome.status, JSON, json.dumps(outcome.json).encode()


def test_a_flow_that_was_there_just_like_it_is_not_deleted_for_the_new_one() -> None:
    """Only the plan's list of ids tells them apart: the answer to the create is about the old."""
    with wayward() as service, service.client() as client:
        old = service.caller.flow("Order")
        body = json.dumps({"success": True, "data": {"id": old}}).encode()
        service.on("POST", "flows", after(201, body))
        fields = {"name": "Order", "template_name": "default", "flow_json": DOCUMENT}
        plan = client.flows.plan(pd.DataFrame([fields, fields]), duplicates=True)
        result = settled(plan.apply, settle=0)
        assert set(result.state) == {"applied"} and old not in set(result.key)
        settled(chatkit.undo(result, client, include_adopted=True).apply, settle=0)
        assert [f["id"] for f in service.all("flows")] == [old]


# --- records of one name ----------------------------------------------------------------------


@pytest.mark.parametrize("resumed", [False, True])
def test_of_flows_of_one_name_each_row_finds_its_own(resumed: bool) -> None:
    """One was there before, two are planned, and the answer to one of them is lost."""
    with wayward() as service, service.client() as client:
        old = service.caller.flow("Order")
        fields = {"name": "Order", "template_name": "default", "flow_json": DOCUMENT}
        plan = client.flows.plan(pd.DataFrame([fields] * 3), duplicates=True)
        assert len(plan) > 1
        service.on("POST", "flows", lambda do: do(), lost)
        if resumed:
            service.on("GET", "flows", forever=answers(403))
        result = settled(plan.apply, settle=0, concurrency=1)
        if resumed:
            assert "unknown" in set(result.state)
            service.on("GET", "flows")
            result = settled(history.resume, result, client, settle=0)
        assert set(result.state) == {"applied"}, result.reason.tolist()
        assert result.key.nunique() == len(plan) and old not in set(result.key)
        assert len(service.writes()) == len(plan) == len(service.all("flows")) - 1


def test_a_create_that_is_refused_and_not_there_was_refused_for_good():
    """A wrong value may have the status of one that is there already: it is looked for once."""
    profile = chatkit.ServiceProfile(duplicate_content="invalid", unknown_language="refuse")
    with chatkit.Sandbox(seed="empty", profile=profile) as sandbox, chatkit.connect(sandbox) as to:
        frame = pd.DataFrame({"lang_code": ["xx_no_such"], "text": ["?"], "is_draft": [True]})
        result = to.templates("order_ready").plan(frame, broken=True).apply()
        assert result.state.tolist() == ["failed"]
        assert [call.method for call in middleware_of(sandbox).log].count("POST") == 1
