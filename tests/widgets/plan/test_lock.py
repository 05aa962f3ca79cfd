"""A plan locks its form while it is applied, and calls it when that has ended."""

from __future__ import annotations

import pytest

import chatkit
from chatkit.errors import PlanRefused
from chatkit.widgets.planview import PlanView


@pytest.fixture
def report():
    return []


@pytest.fixture
def saving(report):
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        frame = client.templates("order_ready").frame()
        frame.loc["de", "text"] = "Hallo {{1}}, dein {{2}} ist am {{3}} fertig."
        plan = client.templates("order_ready").plan(frame)
        yield PlanView(plan, lambda view: report.extend(view.states), lock=report.append)


def test_the_form_is_locked_first_and_unlocked_before_it_goes_on(saving, report):
    saving.apply()
    assert report == [True, False, "applied"]


def test_a_plan_that_cannot_begin_leaves_the_form_unlocked(saving, report, monkeypatch):
    monkeypatch.setattr(PlanView, "_block_reasons", lambda _: ["another kernel is at work"])
    with pytest.raises(PlanRefused):
        saving.apply()
    assert report == []
