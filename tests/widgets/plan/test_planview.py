"""A plan view shows a plan, applies it once and only when allowed, and tells what happened."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from bulk.wayward import DOCUMENT, answers, wayward
from caller import client_through
from internals import middleware_of
from widgets.gridding import client, sandbox  # noqa: F401
from widgets.screen import (
    buttons,
    click_row,
    find,
    html,
    is_seen,
    page_of,
    part,
    parts,
    press,
    send,
    static,
    type_into,
)

import chatkit
from chatkit.api.secret import Secret
from chatkit.bulk.plan import Plan, join_plans
from chatkit.client import Client, get_plan_target
from chatkit.errors import AccountBusy, PlanRefused
from chatkit.widgets.fields import Text
from chatkit.widgets.planview import PlanView
from chatkit.widgets.table import PagedRows, RowsTable


def small(client: Client) -> Plan:
    """A plan that nobody needs to confirm."""
    frame = client.contacts.frame()
    frame.loc[50001:50020, "name"] = "Ana Cruz"
    return client.contacts.plan(frame)


def large(client: Client) -> Plan:
    frame = client.contacts.frame()
    frame["name"] = frame.name.str.upper()
    return client.contacts.plan(frame)


def writes(sandbox: chatkit.Sandbox) -> int:
    return sum(entry.method != "GET" for entry in middleware_of(sandbox).log)


def seen(view: PlanView) -> list[str]:
    """The labels of its own buttons that a person sees, without those that turn pages."""
    return buttons(view, but=(PagedRows, PlanView))


def allow(view: PlanView, text: str) -> None:
    """Type the words that allow it."""
    type_into(view, f"Type {view.phrase} to allow it", text)


def rows(view: PlanView) -> PagedRows:
    return next(one for one in parts(view) if isinstance(one, PagedRows))


def table(view: PlanView) -> RowsTable:
    return next(one for one in parts(view) if isinstance(one, RowsTable))


def until(view: PlanView, done: int) -> None:
    """Wait until so many rows are done."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if int(html(view).partition('aria-valuenow="')[2].partition('"')[0]) >= done:
            return
        time.sleep(0.01)
    raise AssertionError(html(view))


# --- applied ----------------------------------------------------------------------------------


def test_a_small_plan_is_applied_by_one_click_even_if_it_arrives_twice(
    client: Client, sandbox: chatkit.Sandbox
) -> None:
    view = PlanView(small(client))
    count = len(view.plan)
    assert view.phrase == "" and seen(view) == [f"Apply {count} changes"]
    button = find(view, f"Apply {count} changes")
    click = {"id": button.id, "entered": button.token}
    send(view, click)
    send(view, click)
    result = view.wait()
    assert (result.state == "applied").all() and writes(sandbox) == count
    assert view.message == f"All {count} changes applied."
    assert client.contacts.get(50001).name == "Ana Cruz"
    assert seen(view) == ["Take it back …"]


def test_showing_it_sends_nothing(client: Client, sandbox: chatkit.Sandbox) -> None:
    plan = small(client)
    before = len(middleware_of(sandbox).log)
    view = PlanView(plan)
    static(view)
    type_into(view, "that hold", "ana")
    assert len(middleware_of(sandbox).log) == before


def test_it_cannot_be_started_twice_at_the_same_time(
    client: Client, sandbox: chatkit.Sandbox
) -> None:
    view = PlanView(small(client))
    sandbox.faults(latency=0.02)
    view.start()
    with pytest.raises(PlanRefused, match="being applied already"):
        view.start()
    assert (view.wait().state == "applied").all()


# --- allowed ----------------------------------------------------------------------------------


def test_a_large_plan_asks_for_words_and_takes_no_others(
    client: Client, sandbox: chatkit.Sandbox
) -> None:
    view = PlanView(large(client))
    count = len(view.plan)
    assert view.phrase == f"CHANGE {count}"
    assert is_seen(find(view, f"Type CHANGE {count} to allow it"))
    for typed in ("", "change", f"CHANGE {count}0", f"DELETE {count}"):
        allow(view, typed)
        assert find(view, f"Apply {count} changes").disabled
        find(view, f"Apply {count} changes").click()
        with pytest.raises(PlanRefused, match=f"confirm with 'CHANGE {count}'"):
            view.apply(typed)
    assert writes(sandbox) == 0
    allow(view, f" CHANGE {count} ")
    press(view, f"Apply {count} changes")
    assert (view.wait().state == "applied").all()
    assert "needs apply" not in html(view)  # here it is allowed by typing


def test_a_program_allows_a_large_plan_as_it_does_without_a_widget(client: Client) -> None:
    view = PlanView(large(client))
    with pytest.raises(PlanRefused, match="confirm with"):
        view.apply(irreversible=True)
    assert view.apply(many=True).state.eq("applied").all()


def test_many_deletes_are_confirmed_with_their_number(client: Client) -> None:
    keys = client.contacts.frame().index[:101]
    assert PlanView(client.contacts.plan(delete=keys)).phrase == "DELETE 101"
    frame = client.contacts.frame()
    frame.loc[50200, "name"] = "Ana Cruz"
    assert PlanView(client.contacts.plan(frame, delete=keys)).phrase == "DELETE 101"
    assert PlanView(client.contacts.plan(frame, delete=keys[:99])).phrase == "CHANGE 100"


def test_what_can_never_be_undone_is_confirmed_too(client: Client) -> None:
    key = client.flows.frame().index[1]  # a draft: published ones cannot be deleted
    view = PlanView(client.flows.plan(delete=[key]))
    assert view.phrase == "DELETE 1"
    assert "can never be undone" in html(view)
    result = view.apply("DELETE 1")
    assert list(result.state) == ["applied"]


def test_a_plan_with_refused_cells_cannot_be_applied_whatever_is_typed(client: Client) -> None:
    frame = client.contacts.frame()
    frame.loc[50001, "number"] = "12 34"
    frame.loc[50002, "name"] = "Ana"
    view = PlanView(client.contacts.plan(frame))
    assert seen(view) == [] and not is_seen(part(view, Text, "chatkit-confirm"))
    assert "cannot be planned" in html(view)
    with pytest.raises(PlanRefused, match="cannot be planned"):
        view.apply()


def test_an_empty_plan_says_that_there_is_nothing_to_do(client: Client) -> None:
    view = PlanView(client.contacts.plan(client.contacts.frame()))
    assert "Nothing to do" in repr(view) and seen(view) == []
    with pytest.raises(PlanRefused, match="nothing to do"):
        view.apply()


# --- stopped, gone on with, taken back --------------------------------------------------------


def test_it_is_stopped_gone_on_with_and_taken_back(
    client: Client, sandbox: chatkit.Sandbox
) -> None:
    before = client.contacts.frame().name
    view = PlanView(large(client))
    count = len(view.plan)
    sandbox.faults(latency=0.05)
    allow(view, view.phrase)
    press(view, f"Apply {count} changes")
    until(view, 10)
    assert view.running and seen(view) == ["Stop"]
    press(view, "Stop")
    result = view.wait()
    assert set(result.state) == {"applied", "not sent"}
    assert "you stopped it" in view.message and 'role="alert"' in html(view)
    left = int((result.state == "not sent").sum())
    states = [item.kinds[-1] for item in rows(view).matching()]
    assert states == ["not sent"] * left + ["applied"] * (count - left)
    assert seen(view) == [f"Resume {left}", "Take it back …"]

    sandbox.faults()
    press(view, f"Resume {left}")
    assert (view.wait().state == "applied").all()
    assert writes(sandbox) == count

    press(view, "Take it back …")
    back = view.back
    assert back is not None and back in parts(view)
    assert seen(back) == [f"Take back {count} changes"] and seen(view) == []
    press(back, f"Take back {count} changes")
    back.wait()
    assert list(client.contacts.frame().name) == list(before)


def test_a_second_stop_does_not_wait_for_answers(client: Client, sandbox: chatkit.Sandbox) -> None:
    view = PlanView(large(client))
    sandbox.faults(latency=1.0)
    view.start(view.phrase)
    time.sleep(0.2)
    press(view, "Stop")
    press(view, "Do not wait for answers either")
    assert "applied" not in set(view.wait().state), "an answer was waited for"
    time.sleep(1.0)  # what was let go still arrives


def test_a_stop_when_nothing_is_under_way_stops_nothing_later(client: Client) -> None:
    view = PlanView(small(client))
    view.stop()
    assert (view.apply().state == "applied").all()


def test_whoever_asked_hears_when_it_was_applied_and_when_it_was_taken_back(client: Client) -> None:
    heard: list[PlanView] = []
    view = PlanView(small(client), heard.append)
    view.apply()
    assert heard == [view]
    back = view.undo()
    back.apply()
    assert heard == [view, back]


def test_before_it_was_applied_there_is_nothing_to_wait_for_or_to_take_back(client: Client) -> None:
    view = PlanView(small(client))
    for ask in (view.wait, view.undo):
        with pytest.raises(PlanRefused, match="has not been applied"):
            ask()


def test_one_row_is_taken_back_alone_and_the_rest_later(
    client: Client, sandbox: chatkit.Sandbox
) -> None:
    before = client.contacts.frame().name
    view = PlanView(small(client))
    count = len(view.apply())
    place = list(view.result.index).index(50002)
    click_row(view, "back", str(place))
    back = view.back
    assert back is not None and [change.row for change in back.plan.changes] == [50002]
    assert seen(back) == ["Take back 1 change"] and seen(view) == []
    sent = writes(sandbox)
    press(back, "Take back 1 change")
    back.wait()
    assert writes(sandbox) == sent + 1
    assert client.contacts.get(50002).name == before[50002]
    assert client.contacts.get(50003).name == "Ana Cruz"
    assert "Taken back since: 1 row." in view.message
    assert {*find(view, "Show").options} == {
        *(f"all {count}", f"applied {count - 1}", "taken back 1")
    }
    assert chatkit.runs(client).state.tolist() == ["finished", "partly taken back"]
    click_row(view, "back", str(place))  # its button is gone
    assert view.back is back
    press(view, "Take it back …")
    assert len(view.back.plan) == count - 1
    view.back.apply()
    assert list(client.contacts.frame().name) == list(before)
    assert [item.kinds for item in rows(view).matching()] == [("taken back",)] * count
    assert seen(view) == []


def test_a_live_account_is_named_before_anything_is_written_to_it(
    sandbox: chatkit.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))  # such a run outlasts the process
    production = client_through(
        sandbox.answer,
        name="production",
        base_url="https://api.example.com",
        account_id=sandbox.account_id,
        token=Secret(sandbox.token),
        profile=sandbox.profile,
    )
    with production as client:
        view = PlanView(client.contacts.plan(client.contacts.frame().head(2).assign(name="Bo")))
        assert "It writes to production: live data." in html(view)
        assert seen(view) == ["Apply 2 changes in production"]
        view.apply()
        press(view, "Take it back …")
        assert view.back is not None and seen(view.back) == ["Take back 2 changes in production"]
        assert view.message.startswith("All 2 changes applied. The plan that takes it back is")


def test_a_plan_for_the_account_is_shown_by_resource_applied_and_taken_back() -> None:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        hooks = client.webhooks.frame()
        hooks["is_active"] = [False] * len(hooks)
        content = client.templates.frame(["order_ready"]).loc[[("order_ready", "de")]]
        plans = [
            client.templates.plan(content.assign(footer="Neu")),
            client.webhooks.plan(hooks),
            client.contacts.plan(renamed(client)),
        ]
        view = PlanView(join_plans(get_plan_target(client, "account"), plans))
        assert "contacts 2" in str(find(view, "Show").options)
        view.show("contacts")
        assert [item.kinds for item in rows(view).matching()] == [("update", "contacts")] * 2
        assert "update contact" in table(view).value
        result = view.apply()
        assert set(result.state) == {"applied"}
        assert result.index.names == ["resource", "record"]
        view.show("contents")
        assert [item.kinds for item in rows(view).matching()] == [("applied", "contents")]
        back = view.undo()
        assert {change.noun for change in back.plan.changes} == {"content", "webhook", "contact"}
        assert set(back.apply().state) == {"applied"}
        assert client.webhooks.frame().is_active.tolist() != hooks.is_active.tolist()


def renamed(client: Client) -> pd.DataFrame:
    frame = client.contacts.frame().head(2)
    return frame.assign(name=["Ana", "=1+1"])


# --- what went wrong --------------------------------------------------------------------------


def test_rows_that_failed_come_first_with_their_reasons() -> None:
    with wayward() as service, service.client() as client:
        for n in range(20):
            client.contacts.create(number=f"20255501{n:02d}", country_code="+1", name="Ana Cruz")
        frame = client.contacts.frame()
        frame.iloc[:3, frame.columns.get_loc("name")] = ["Bo Cruz", "Cy Cruz", "Di Cruz"]
        service.on("PUT", "Cy", answers(422, b'{"message": "no <b>Cy</b>"}'))
        view = PlanView(client.contacts.plan(frame))
        result = view.apply()
    assert list(result.state) == ["applied", "failed", "applied"]
    states = [item.kinds[-1] for item in rows(view).matching()]
    assert states == ["failed", "applied", "applied"]
    assert "no" in html(rows(view)) and "<b>" not in html(rows(view))
    assert "1 failed" in view.message
    assert seen(view) == ["Take it back …"]


def test_an_error_is_shown_in_words_and_raised_for_programs(client: Client) -> None:
    view, other = PlanView(small(client)), PlanView(small(client))
    held = threading.Event()
    entered = threading.Event()

    def watch(done: int, total: int | None) -> None:
        entered.set()
        held.wait(10)

    apply = other.plan.apply
    other.plan.apply = lambda **options: apply(**options | {"watch": watch})
    other.start()
    assert entered.wait(10)
    with pytest.raises(AccountBusy):
        view.apply()
    assert view.message.startswith("AccountBusy: ") and 'role="alert"' in html(view)
    assert seen(view) == [f"Apply {len(view.plan)} changes"]
    held.set()
    other.wait()
    view.apply()


def test_signing_secrets_are_pointed_at_and_never_shown() -> None:
    with wayward() as service, service.client() as client:
        frame = pd.DataFrame({"url": ["https://a.example/hook"], "events": [["*"]]})
        view = PlanView(client.webhooks.plan(frame))
        view.apply()
        [secret] = view.plan.secrets.values()
        assert "plan.secrets" in view.message
        assert secret.reveal() not in repr(static(view)) + html(view)


def test_flows_are_shown_by_what_differs_in_their_documents() -> None:
    with wayward() as service, service.client() as client:
        key = client.flows.create(
            name="survey", template_name="default", flow_json=DOCUMENT | {"version": "7.2"}
        ).id
        frame = client.flows.frame(full=True)
        frame.at[key, "flow_json"] = DOCUMENT
        view = PlanView(client.flows.plan(frame))
        assert 'title="flow_json/version">Flow document /<wbr>version<' in html(rows(view))


# --- as text ----------------------------------------------------------------------------------


def test_its_text_form_is_one_stable_line_and_its_page_needs_no_widget(client: Client) -> None:
    view = PlanView(small(client))
    count = len(view.plan)
    assert repr(view) == f"<plan view: Plan for 250 contacts: {count} updates.>"
    bundle = static(view)
    assert bundle["text/plain"] == repr(view)
    assert "<table>" in bundle["text/html"]
    view.apply()
    assert repr(view) == f"<plan view: All {count} changes applied.>"
    assert f"All {count} changes applied." in page_of(view)


def test_a_form_is_locked_only_while_its_plan_is_applied(client: Client) -> None:
    heard: list[object] = []
    plan = client.contacts.plan([{"id": 50001, "name": "Ana Cruz"}])
    view = PlanView(plan, lambda view: heard.extend(view.states), lock=heard.append)
    current: list[bool] = []
    view.bind(lambda: bool(current), lambda: None)
    with pytest.raises(PlanRefused, match="Out of date"):
        view.apply()
    assert heard == []
    current.append(True)
    view.apply()
    assert heard == [True, False, "applied"]
