"""A flow document is checked before it is sent, whichever way it is sent."""

import copy
import inspect
from typing import Any

import pandas as pd
import pytest
from displayed import html_of
from documents import DOCUMENT, document
from profiled import client, sandbox

import chatkit
from chatkit import flowjson
from chatkit.client import Client

__all__ = ["client", "sandbox"]

ORDER = {"name": "Order", "template_name": "default"}
#: Two errors, at /screens/0/id and at /screens/0/title.
BROKEN: dict[str, Any] = copy.deepcopy(DOCUMENT)
BROKEN["screens"][0] |= {"id": "BIKE 1"}
del BROKEN["screens"][0]["title"]
#: Taken, but its button is longer than is documented.
LONG = copy.deepcopy(DOCUMENT)
LONG["screens"][0]["layout"]["children"][0]["label"] = "Done " * 8 + "at last"


@pytest.fixture
def empty():
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as client:
        yield client


@pytest.fixture
def demo():
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        yield client


# --- one flow ---------------------------------------------------------------------------


def test_a_document_with_errors_is_not_created_and_all_of_them_are_told(client: Client) -> None:
    with pytest.raises(chatkit.errors.InputError, match="broken=True") as caught:
        client.flows.create(**ORDER, flow_json=BROKEN)
    report = [(problem.field, problem.reason) for problem in caught.value.problems]
    assert [field for field, _ in report] == ["flow_json", "flow_json"]
    assert [reason.partition(": ")[0] for _, reason in report] == [
        "PATTERN_MISMATCH at /screens/0/id",
        "MISSING_REQUIRED_PROPERTY at /screens/0/title",
    ]
    assert caught.value.problems[0].value == '"BIKE 1"'
    assert client.flows.frame().empty


def test_what_else_is_wrong_is_told_at_the_same_time(empty: Client) -> None:
    with pytest.raises(chatkit.errors.InputError) as caught:
        empty.flows.create(name=None, flow_json=BROKEN, colour="red")
    fields = [problem.field for problem in caught.value.problems]
    assert fields == ["template_name", "name", "colour", "flow_json", "flow_json"]


def test_a_document_with_findings_is_sent_when_you_say_so_and_you_are_told(empty: Client) -> None:
    with pytest.warns(UserWarning, match="Order has 2 errors, first PATTERN_MISMATCH") as caught:
        flow = empty.flows.create(**ORDER, flow_json=BROKEN, broken=True)
    assert flow.flow_json == BROKEN
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="This flow has 2 errors"):
        empty.flows.update(flow.id, flow_json=BROKEN, broken=True)
    with pytest.warns(UserWarning, match="Other has 1 warning: .* at /screens/0/layout"):
        flow = empty.flows.create(**ORDER | {"name": "Other"}, flow_json=LONG)
    assert flow.flow_json == LONG, "a warning stops nothing"
    for method in (empty.flows.create, empty.flows.update):
        name, word = list(inspect.signature(method).parameters.items())[-1]
        assert (name, word.default) == ("broken", False)


def test_an_update_to_a_document_with_errors_changes_nothing(client: Client) -> None:
    flow = client.flows.create(**ORDER, flow_json=DOCUMENT)
    with pytest.raises(
        chatkit.errors.InputError, match=r"cannot be updated.*broken=True"
    ) as caught:
        client.flows.update(flow.id, flow_json=BROKEN, name="Other")
    assert [problem.field for problem in caught.value.problems] == ["name", *["flow_json"] * 2]
    if client.profile.flow_json_in_get:
        assert client.flows.get(flow.id).flow_json == DOCUMENT


@pytest.mark.parametrize("wrong", ["{}", {"screens": []}, None, 5])
def test_what_is_no_document_is_said_as_before(empty: Client, wrong: object) -> None:
    with pytest.raises(chatkit.errors.InputError) as caught:
        empty.flows.create(**ORDER, flow_json=wrong)
    [problem] = caught.value.problems
    assert problem.field == "flow_json" and " at /" not in problem.reason


def test_a_document_that_was_built_is_sent_as_the_dict_that_it_is(empty: Client) -> None:
    done = flowjson.Footer("Done", flowjson.Complete())
    built = flowjson.Flow([flowjson.Screen("BYE", "Good-bye", [done], terminal=True)])
    assert empty.flows.create(**ORDER, flow_json=built).flow_json == built.to_json()
    plan = empty.flows.plan(new(A=built))
    assert plan.changes[0].after["flow_json"] == built.to_json()
    with pytest.raises(chatkit.errors.InputError, match="PATTERN_MISMATCH at /screens/0/id"):
        built["BYE"].id = "BYE 2"
        empty.flows.create(name="Other", template_name="default", flow_json=built)


# --- plans ------------------------------------------------------------------------------


def new(**documents: dict[str, Any]) -> pd.DataFrame:
    rows = [{**ORDER, "name": name, "flow_json": outcome} for name, outcome in documents.items()]
    return pd.DataFrame(rows, index=[*documents])


def test_rows_with_errors_are_refused_cell_by_cell_and_the_others_are_planned(
    client: Client,
) -> None:
    plan = client.flows.plan(new(A=BROKEN, B=DOCUMENT, C=BROKEN), skip_invalid=True)
    assert [change.label for change in plan.changes] == ["B"]
    refused = plan.refused
    assert list(refused["row"]) == ["A", "A", "C", "C"]
    assert set(refused["column"]) == {"flow_json"}
    assert refused["reason"][0].startswith("PATTERN_MISMATCH at /screens/0/id: ")
    assert refused["value"][0] == '"BIKE 1"'
    assert all(refused["next_step"].str.len() > 5)
    assert any("broken=True" in note for note in plan.notes)


def test_a_plan_with_errors_refuses_itself_and_they_are_notes_when_you_say_so(
    empty: Client,
) -> None:
    with pytest.raises(chatkit.errors.PlanRefused, match="skip_invalid"):
        empty.flows.plan(new(A=BROKEN, B=DOCUMENT)).apply()
    assert empty.flows.frame().empty
    plan = empty.flows.plan(new(A=BROKEN, B=DOCUMENT), broken=True)
    assert plan.counts["create"] == 2 and plan.refused.empty
    assert len(plan.notes) == 1 and plan.notes[0].startswith("A has 2 errors, first PATTERN_")
    assert "A has 2 errors" in repr(plan)
    assert set(plan.apply()["state"]) == {"applied"}
    assert empty.flows.frame(full=True)["flow_json"].iloc[0] == BROKEN


def test_warnings_are_notes_of_the_plan_and_many_are_counted(empty: Client) -> None:
    plan = empty.flows.plan(new(**{"<b>A": LONG, "B": DOCUMENT}))
    assert [note.partition(":")[0] for note in plan.notes] == ["<b>A has 1 warning"]
    assert "broken" not in repr(plan)
    assert "<b>A" not in html_of(plan) and "&lt;b&gt;A" in html_of(plan)
    plan = empty.flows.plan(new(**{f"F{n}": LONG for n in range(30)}))
    assert len(plan.notes) == 1
    assert plan.notes[0].startswith("F0, F1, F2 and 27 more flows have each 1 warning: ")


def test_only_documents_that_are_sent_are_checked(demo: Client) -> None:
    """The demo account has a broken flow, which stays as it is."""
    frame = demo.flows.frame(full=True)
    assert demo.flows.plan(frame).notes == []
    frame.at[301, "flow_json"] = document()
    plan = demo.flows.plan(frame)
    assert plan.counts["update"] == 1 and plan.refused.empty
    frame.at[305, "flow_json"] = frame.at[305, "flow_json"] | {"version": "7.2"}
    assert set(demo.flows.plan(frame).refused["row"]) == {305}


def test_undo_and_saved_plans_need_no_second_word(empty: Client, tmp_path: Any) -> None:
    """The undo restores the record, and the reviewed values are sent despite findings."""
    result = empty.flows.plan(new(A=BROKEN), broken=True).apply()
    key = int(result["key"].iloc[0])
    frame = empty.flows.frame(full=True)
    frame.at[key, "flow_json"] = DOCUMENT
    changed = empty.flows.plan(frame).apply()
    saved = chatkit.undo(changed).save(tmp_path / "plan.json")
    assert set(empty.load_plan(saved).apply()["state"]) == {"applied"}
    assert empty.flows.get(key).flow_json == BROKEN


# --- the whole account ------------------------------------------------------------------


def test_each_flow_of_an_account_is_checked(demo: Client) -> None:
    frame = demo.flows.check_all()
    assert list(frame.columns) == [
        "name", "wa_status", "readable", "errors", "warnings", "finding",
    ]  # fmt: skip
    assert list(frame.index) == [301, 302, 303, 304, 305] and frame.index.name == "id"
    assert frame["readable"].all()
    assert list(frame["errors"][:-1]) == [0, 0, 0, 0] and frame.loc[305, "errors"] > 5
    assert frame["finding"].isna().tolist() == [True, True, True, True, False]
    assert frame.loc[305, "finding"].startswith("PATTERN_MISMATCH at /screens/0/id: ")


def test_documents_that_are_not_shown_are_said_to_be_unreadable() -> None:
    profile = chatkit.ServiceProfile(flow_json_in_get=False)
    with chatkit.connect(chatkit.Sandbox(seed="demo", profile=profile)) as client:
        frame = client.flows.check_all()
    assert not frame["readable"].any()
    assert frame["errors"].isna().all()
    assert set(frame["finding"]) == {"the service does not show its document"}


def test_an_account_without_flows_is_an_empty_frame(client: Client) -> None:
    frame = client.flows.check_all()
    assert frame.empty and "readable" in frame.columns
