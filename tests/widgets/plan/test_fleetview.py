"""A plan for several accounts in a plan view: reviewed account by account, applied as one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from bulk.planning import contacts, limited
from widgets.screen import buttons, click_row, find, html, page_of, parts, press, type_into

import chatkit
from chatkit.account.fleet_plan import FleetPlan
from chatkit.account.history import _open_run
from chatkit.errors import PlanRefused
from chatkit.widgets.planview import PlanView
from chatkit.widgets.runsview import RunsView
from chatkit.widgets.table import PagedRows

LABELS = ("de", "fr", "it")


@pytest.fixture
def fleet() -> Iterator[chatkit.account.Fleet]:
    """Three accounts of six contacts; one may not change them."""
    with ExitStack() as stack:
        clients: dict[str, Any] = {}
        for label in LABELS:
            sandbox = stack.enter_context(chatkit.Sandbox(seed="empty"))
            contacts(sandbox, 6)
            weak = label == "it"
            clients[label] = limited(sandbox, "Chat Contacts, View") if weak else sandbox
        yield stack.enter_context(chatkit.connect_all(clients))


def planned(fleet: chatkit.account.Fleet, *labels: str, rows: int = 2) -> FleetPlan:
    frame = fleet.contacts.frame().groupby(level=0).head(rows).assign(name="Sina Berg")
    return fleet.contacts.plan(frame.loc[list(labels)])


def rows_of(view: PlanView) -> PagedRows:
    return next(one for one in parts(view) if isinstance(one, PagedRows))


def seen(view: PlanView) -> list[str]:
    return buttons(view, but=(PagedRows, PlanView))


def test_a_plan_for_several_accounts_is_reviewed_account_by_account(
    fleet: chatkit.account.Fleet,
) -> None:
    view = PlanView(planned(fleet, "de", "fr"))
    assert repr(view) == "<plan view: Plan for 2 accounts: 4 updates.>"
    rows = rows_of(view)
    assert html(view).count("Plan for 6 contacts: 2 updates.") == 2
    assert find(view, "Show").options == ["all 4", "update 4", "de 2", "fr 2"]
    assert len(rows.matching()) == 4
    type_into(view, "Show", "fr 2")
    assert len(rows.matching()) == 2
    assert html(rows).count('<td dir="auto">fr</td>') == 2
    assert html(rows).count('data-account="fr"') == 2
    assert seen(view) == ["Apply 4 changes"]


def test_it_is_applied_and_taken_back_as_one_also_row_by_row(fleet: chatkit.account.Fleet) -> None:
    view = PlanView(planned(fleet, "de", "fr"))
    press(view, "Apply 4 changes")
    assert view.wait().index.get_level_values(0).tolist() == ["de", "de", "fr", "fr"]
    rows = rows_of(view)
    assert len([item for item in rows.items if "applied" in item.kinds]) == 4
    click_row(view, "back", "3")
    assert view.back is not None and isinstance(view.back.plan, FleetPlan)
    assert list(view.back.plan.plans) == ["fr"] and len(view.back.plan) == 1
    view.back.apply()
    assert [item.account for item in rows.items if item.kinds[0] == "taken back"] == ["fr"]
    rest = view.undo()
    assert {n: len(p) for n, p in rest.plan.plans.items()} == {"de": 2, "fr": 1}  # type: ignore[union-attr]
    assert rest.apply().state.eq("applied").all()
    assert not fleet.contacts.frame().name.eq("Sina Berg").any()
    assert seen(view) == []


def test_an_account_that_stops_is_told(
    fleet: chatkit.account.Fleet,
) -> None:
    view = PlanView(planned(fleet, *LABELS))
    result = view.apply()
    rows = rows_of(view)
    assert result.state.tolist() == ["applied"] * 4 + ["not sent"] * 2
    assert "it: 403" in view.message
    assert [item.account for item in rows.items[:2]] == ["it", "it"]  # what is left comes first
    assert seen(view) == ["Resume 2", "Take it back …"]


def test_what_blocks_one_account_is_named_and_allowed_by_typing(
    fleet: chatkit.account.Fleet,
) -> None:
    with chatkit.Sandbox(seed="demo") as large, chatkit.connect(large) as client:
        both = chatkit.account.Fleet({"de": fleet["de"], "big": client})
        everybody = both.contacts.frame()
        view = PlanView(both.contacts.plan(everybody.assign(name=everybody.name.str.upper())))
        report = html(view)
        assert "big: it changes" in report and "apply(many=True)" not in report
        count = view.plan.counts["update"]
        assert view.phrase == f"CHANGE {count}"
        with pytest.raises(PlanRefused, match="confirm with"):
            view.apply()
        assert view.apply(view.phrase).state.eq("applied").all()


def test_accounts_that_could_not_be_planned_are_told(fleet: chatkit.account.Fleet) -> None:
    plans = planned(fleet, "de").plans
    view = PlanView(FleetPlan(plans, failed={"<b>pt": "no token"}))
    assert "&lt;b&gt;pt" in html(view) and "<b>pt" not in page_of(view)
    assert seen(view) == []  # blocked


def test_a_run_of_a_fleet_has_a_row_for_each_account(fleet: chatkit.account.Fleet) -> None:
    plan = planned(fleet, *LABELS)
    plan.apply()
    runs = chatkit.runs(fleet)
    view = RunsView(runs, partial(chatkit.runs, fleet), partial(_open_run, fleet, None))
    assert "3 runs, the latest first: 1 can be gone on with." in html(view)
    click_row(view, "resume", f"{plan.id}-003")
    opened = next(one for one in parts(view) if isinstance(one, PlanView))
    assert len(opened.plan) == 2 and not isinstance(opened.plan, FleetPlan)
