"""A plan: it counts itself, blocks itself, is a frame, and is applied once."""

from __future__ import annotations

import pandas as pd
import pytest
from bulk.applying import kept_at, stop_by
from bulk.planning import (  # noqa: F401
    DOCUMENT,
    account,
    active,
    client,
    contacts,
    content,
    flow,
    log,
    number,
    sandbox,
    states,
    untouched,
    webhook,
    writes,
)
from internals import identity_of

import chatkit
from chatkit.api.throttle import AdaptiveThrottle
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.plan import get_setting


def renamed(client, count, name="Zoë"):
    """A frame of all contacts in which so many have another name."""
    frame = client.contacts.frame()
    frame.iloc[:count, frame.columns.get_loc("name")] = name
    return frame


# --- guards ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "edited", "refused"),
    [(9, 9, False), (10, 3, False), (10, 4, True), (20, 6, False), (20, 7, True)],
)
def test_changing_more_than_30_percent_asks_from_10_records_on(
    sandbox, client, total, edited, refused
):
    contacts(sandbox, total)
    plan = client.contacts.plan(renamed(client, edited))
    objections = plan.objections()
    message = f"needs apply(many=True): it changes {edited} of {total} contacts, more than 30%"
    assert objections == ([message] if refused else [])
    if refused:
        with (
            untouched(sandbox),
            pytest.raises(chatkit.errors.PlanRefused, match=r"apply\(many=True\)"),
        ):
            plan.apply()
        assert len(chatkit.runs(client)) == 0
    assert states(plan.apply(many=True)) == ["applied"] * edited


def test_the_share_is_of_all_records_though_the_frame_shows_some(sandbox, client):
    contacts(sandbox, 20)
    frame = client.contacts.frame(search=number(1)).assign(name="Zoë")
    plan = client.contacts.plan(frame)
    assert (len(plan), get_setting(plan).parts["contact"].total, plan.objections()) == (1, 20, [])


def test_more_than_100_deletes_ask_whatever_their_share(sandbox, client):
    ids = contacts(sandbox, 340)
    assert client.contacts.plan(delete=ids[:100]).objections() == []
    plan = client.contacts.plan(delete=ids[:101])
    assert plan.objections() == ["needs apply(many=True): it deletes 101 contacts"]
    with (
        untouched(sandbox),
        pytest.raises(chatkit.errors.PlanRefused, match=r"deletes 101 contacts"),
    ):
        plan.apply()
    assert set(states(plan.apply(many=True))) == {"applied"}
    assert len(active(sandbox, "contacts")) == 239


def test_what_can_never_be_undone_asks(sandbox, client):
    flow_id, hook = flow(sandbox), webhook(sandbox)
    for plan in (client.flows.plan(delete=[flow_id]), client.webhooks.plan(delete=[hook])):
        [message] = plan.objections()
        assert "can never be undone" in message and message.startswith(
            "needs apply(irreversible=True): "
        )
        with (
            untouched(sandbox),
            pytest.raises(chatkit.errors.PlanRefused, match="irreversible=True"),
        ):
            plan.apply(many=True)
        assert states(plan.apply(irreversible=True)) == ["applied"]
    assert active(sandbox, "flows") == active(sandbox, "webhooks") == {}


def test_all_objections_are_told_at_once(sandbox, client):
    ids = [flow(sandbox, f"Flow {n}") for n in range(12)]
    frame = client.flows.frame()
    frame.iloc[0, frame.columns.get_loc("name")] = "New"
    with pytest.raises(chatkit.errors.PlanRefused) as caught:
        client.flows.plan(frame, delete=ids[4:9]).apply()
    assert [name in str(caught.value) for name in ("skip_invalid", "many", "irreversible")] == [
        True
    ] * 3
    assert "nothing was sent" in str(caught.value)


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"rate": 0}, {"rate": -1.0}])
def test_a_pace_that_makes_no_sense_sends_nothing(sandbox, client, wrong):
    contacts(sandbox, 3)
    plan = client.contacts.plan(renamed(client, 1))
    with untouched(sandbox), pytest.raises(ValueError, match=r"at a time|above 0|1 or more"):
        plan.apply(**wrong)


# --- the account it is for ------------------------------------------------------------------


def test_a_frame_of_another_account_is_refused_unless_you_say_so(sandbox, client):
    contacts(sandbox, 2)
    frame = client.contacts.frame().assign(name="Zoë")
    with account() as (others, other):
        [contact] = contacts(others, 1)
        with pytest.raises(chatkit.errors.InputError, match="other_account=True") as caught:
            other.contacts.plan(frame)
        assert all(identity_of(each) in str(caught.value) for each in (sandbox, others))
        for passed in (frame.reset_index().set_index("number"), frame):
            plan = other.contacts.plan(passed, other_account=True, existing="update")
            kinds = [(c.kind, c.key) for c in plan.changes]
            assert kinds == [("update", contact), ("create", None)]
        assert states(plan.apply()) == ["applied"] * 2
        assert {c["number"]: c["first_name"] for c in active(others, "contacts").values()} == {
            number(0): "Zoë",
            number(1): "Zoë",
        }


def test_contents_of_another_account_are_compared_with_those_of_this_one(sandbox, client):
    content(sandbox)
    content(sandbox, lang_code="de", text="Hallo")
    one, many = client.templates("order_ready").frame(), client.templates.frame(["order_ready"])
    with account() as (others, other):
        content(others, text="Their own")
        for plan in (
            other.templates("order_ready").plan(one, other_account=True),
            other.templates.plan(many, other_account=True),
        ):
            assert [(c.kind, c.code, c.key, c.before) for c in plan.changes] == [
                ("update", "order_ready", "en", {"text": "Their own"}),
                ("create", "order_ready", "de", {}),
            ]
        with pytest.raises(chatkit.errors.InputError, match="other_account=True"):
            other.templates.plan(many)


def test_a_frame_that_is_no_frame_of_templates_is_refused_with_the_way(sandbox, client):
    content(sandbox)
    with pytest.raises(chatkit.errors.InputError, match="template_code"):
        client.templates.plan(client.templates("order_ready").frame())


# --- counts, frames, estimates --------------------------------------------------------------


def test_it_counts_itself_and_is_a_frame_with_the_index_of_its_rows(sandbox, client):
    ids = contacts(sandbox, 12)
    frame = renamed(client, 1)
    frame.loc[ids[3], "delete"] = True
    frame = pd.concat([frame.reset_index(), pd.DataFrame({"number": ["2025550177"]})])
    frame = frame.assign(country_code="+1").set_index(["id", "number"], drop=False)
    frame.index.names = ["row", "line"]
    plan = client.contacts.plan(frame)
    assert plan.counts == {"create": 1, "update": 1, "delete": 1} and len(plan) == 3
    output = plan.frame()
    assert output.index.names == ["row", "line"] and isinstance(output.index, pd.MultiIndex)
    assert output.columns.tolist() == [
        "change",
        "key",
        "label",
        "before",
        "after",
        "undo",
        "undo_note",
    ]
    assert output["change"].tolist() == ["update", "delete", "create"]
    assert output["key"].tolist()[:2] == [ids[0], ids[3]] and output["key"].isna().tolist()[2]
    assert output["before"].iloc[0] == {"name": "Ana Cruz"}
    assert output["after"].iloc[2] == {"number": "2025550177", "country_code": "+1"}
    assert {str(output[c].dtype) for c in ("change", "label", "undo", "undo_note")} == {"str"}
    assert str(output["key"].dtype) == "Int64"


@pytest.mark.parametrize("edited", [0, 2])
def test_the_frame_and_the_refused_cells_have_the_same_columns_when_empty(sandbox, client, edited):
    contacts(sandbox, 12)
    frame = renamed(client, edited)
    frame.iloc[11:, frame.columns.get_loc("number")] = "?" if edited else number(11)
    plan = client.contacts.plan(frame)
    assert plan.frame().columns.tolist()[0] == "change" and plan.frame().index.name == "id"
    refused = plan.refused
    assert refused.columns.tolist() == ["row", "column", "value", "reason", "next_step"]
    texts = ("column", "value", "reason", "next_step")
    assert {str(refused[name].dtype) for name in texts} == {"str"}
    assert refused["next_step"].ne("").all()


def test_a_run_says_beforehand_how_long_it_takes(sandbox, client, monkeypatch, capsys):
    contacts(sandbox, 12)
    plan, long = (client.contacts.plan(renamed(client, 2)) for _ in range(2))
    monkeypatch.setattr(AdaptiveThrottle, "rate", property(lambda self: 0.05))
    long.apply()
    assert capsys.readouterr().out == (
        "2 changes, 6 calls: about 2 minutes at 0.05 calls a second. The stop button stops the "
        f"run, and chatkit.resume('{long.id}') goes on.\n"
    )
    long.apply()  # nothing is left
    plan.apply(watch=lambda done, total: None)  # who watches shows it otherwise
    assert capsys.readouterr().out == "This plan was already applied: nothing is sent again.\n"


def test_a_plan_of_very_many_changes_says_how_much_memory_it_needs(
    sandbox, client, monkeypatch, capsys
):
    contacts(sandbox, 12)
    plan = client.contacts.plan(renamed(client, 2))
    monkeypatch.setattr(AdaptiveThrottle, "rate", property(lambda self: 0.05))
    monkeypatch.setattr("chatkit.bulk.changes.MANY", 1)
    monkeypatch.setattr("chatkit.bulk.changes.BYTES", 10**9)
    assert "It takes about 2 minutes at 0.05 calls a second, and some 2.0 GB of memory." in repr(
        plan
    )
    plan.apply()
    message = "2 changes (some 2.0 GB of memory), 6 calls: about 2 minutes at 0.05 calls a second."
    assert capsys.readouterr().out.startswith(message)


def test_a_run_that_goes_on_says_how_long_the_rest_takes(client, monkeypatch, capsys, tmp_path):
    new = pd.DataFrame({"number": [number(n) for n in range(5)], "country_code": "+1"})
    plan, interrupt = client.contacts.plan(new), Interrupt()

    def stop_after_one(done, total):
        if done:
            interrupt.ask()

    kept_at(stop_by(plan, interrupt), tmp_path).apply(concurrency=1, watch=stop_after_one)
    capsys.readouterr()
    monkeypatch.setattr(AdaptiveThrottle, "rate", property(lambda self: 0.05))
    result = chatkit.resume(plan.id, client, at=tmp_path)
    assert states(result) == ["applied"] * 5
    assert capsys.readouterr().out == (
        "4 of 5 changes, 4 calls: about 80 seconds at 0.05 calls a second. The stop button stops "
        f"the run, and chatkit.resume('{plan.id}', at='{tmp_path}') goes on.\n"
    )
    chatkit.resume(result, client)  # nothing is left
    assert capsys.readouterr().out == "This plan was already applied: nothing is sent again.\n"


def test_a_run_that_goes_on_keeps_its_rate_and_its_bar_ends_at_what_is_done(sandbox, client):
    contacts(sandbox, 30)
    plan, interrupt, seen = client.contacts.plan(renamed(client, 12)), Interrupt(), []

    def watch(done, total):
        seen.append((done, total))
        if done == 4:
            interrupt.ask()

    half = stop_by(plan, interrupt).apply(rate=20, concurrency=1, many=True, watch=watch)
    done = half.state.isin(["applied", "differs"]).sum()
    assert 4 <= done < 12 and seen[-1] == (done, 12)
    whole = plan.apply(many=True, watch=watch)
    assert states(whole) == ["applied"] * 12 and seen[-1] == (12, 12)
    events = chatkit.account.journal(whole).set_index("event").detail
    assert events["started"] == events["resumed"] == {"rate": 20}
    back = chatkit.account.journal(chatkit.undo(whole).apply(watch=watch)).set_index("event")
    assert back.detail["started"] == {"rate": 20}


# --- once -----------------------------------------------------------------------------------


@pytest.mark.parametrize("loaded_first", [True, False])
def test_a_plan_and_its_file_are_one_plan(sandbox, client, tmp_path, loaded_first):
    contacts(sandbox, 12)
    new = pd.DataFrame({"number": ["2025550177"], "country_code": "+1", "name": "Bo"})
    plan = client.contacts.plan(new)
    other = client.load_plan(plan.save(tmp_path / "plan.json"))
    one, two = (other, plan) if loaded_first else (plan, other)
    first = one.apply()
    with untouched(sandbox):
        again = two.apply()
        third = client.load_plan(tmp_path / "plan.json").apply()
    pd.testing.assert_frame_equal(first, again)
    pd.testing.assert_frame_equal(first, third)
    assert len(active(sandbox, "contacts")) == 13


def test_an_empty_plan_is_applied_to_no_rows(sandbox, client):
    contacts(sandbox, 2)
    with untouched(sandbox):
        result = client.contacts.plan(client.contacts.frame()).apply()
    assert result.empty and result.index.name == "id" and "state" in result
    assert result.chatkit.summary() == "0 changes."


def test_the_label_of_a_row_that_is_deleted_by_key_is_in_the_result(sandbox, client):
    """Keys in `delete` that are in no row of the frame get a label of the same levels."""
    ids = contacts(sandbox, 12)
    frame = client.contacts.frame().set_index("number", append=True).iloc[:2]
    plan = client.contacts.plan(frame, delete=[ids[5]])
    result = plan.apply()
    assert result.index.names == ["id", "number"] and states(result) == ["applied"]
    pd.testing.assert_index_equal(plan.frame().index, result.index)


# --- over HTTP ------------------------------------------------------------------------------


def test_the_whole_way_over_http(sandbox):
    ids = contacts(sandbox, 12)
    with (
        sandbox.serve() as base_url,
        chatkit.Client(base_url, sandbox.account_id, sandbox.token) as client,
    ):
        frame = renamed(client, 3)
        frame = pd.concat([frame.reset_index(), pd.DataFrame({"number": ["2025550177"]})])
        plan = client.contacts.plan(frame.assign(country_code="+1"), delete=ids[-1:])
        with pytest.raises(chatkit.errors.PlanRefused, match="many=True"):
            plan.apply()
        result = plan.apply(many=True)
        assert states(result) == ["applied"] * 5
        sent = len(writes(sandbox))
        assert states(plan.apply(many=True)) == ["applied"] * 5
        assert len(writes(sandbox)) == sent == 12 + 5
        undone = chatkit.undo(result).apply()
        assert states(undone) == ["applied"] * 5
        assert [c["first_name"] for c in active(sandbox, "contacts").values()] == ["Ana"] * 12
        assert chatkit.runs(client)["undoes"].tolist() == [plan.id, ""]
