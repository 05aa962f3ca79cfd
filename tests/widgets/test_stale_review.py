"""A review is bound to the state it shows: after an edit it applies nothing, and offers another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from internals import middleware_of
from widgets.screen import controls, html, is_seen, label, page_of, parts, press, type_into

import chatkit
from chatkit.errors import PlanRefused
from chatkit.widgets.planview import PlanView


@pytest.fixture
def sandbox() -> Iterator[chatkit.Sandbox]:
    with chatkit.Sandbox(seed="demo") as sandbox:
        yield sandbox


@pytest.fixture
def client(sandbox: chatkit.Sandbox) -> Iterator[Any]:
    with chatkit.connect(sandbox) as client:
        yield client


@dataclass
class Reviewed:
    """A widget with a review, and how it is edited on."""

    widget: Any
    review: Callable[[], object]
    edit: Callable[[], object]
    undo: Callable[[], object] | None = None

    @property
    def view(self) -> PlanView:
        return next(one for one in parts(self.widget) if isinstance(one, PlanView))


def grid_cell(client: Any) -> Reviewed:
    grid = chatkit.Grid(client.contacts)
    grid.set(50001, "name", "Ana")
    edit = lambda: grid.set(50001, "name", "Ana Cruz")  # noqa: E731
    return Reviewed(grid, grid.review, edit, grid.undo)


def grid_delete(client: Any) -> Reviewed:
    grid = chatkit.Grid(client.contacts)
    grid.set(50001, "name", "Ana")
    return Reviewed(grid, grid.review, lambda: grid.delete(50002), grid.undo)


def grid_added(client: Any) -> Reviewed:
    grid = chatkit.Grid(client.contacts)
    grid.set(50001, "name", "Ana")

    def edit() -> None:
        new = grid.add()
        grid.set(new, "number", "2025550143")
        grid.set(new, "country_code", "+1")

    return Reviewed(grid, grid.review, edit)


def grid_undone(client: Any) -> Reviewed:
    grid = chatkit.Grid(client.contacts)
    grid.set(50001, "name", "Ana")
    grid.set(50002, "name", "Bo")
    return Reviewed(grid, grid.review, grid.undo, grid.redo)


def grid_replaced(client: Any) -> Reviewed:
    grid = chatkit.Grid(client.contacts)
    grid.set(50001, "name", "Ana")
    return Reviewed(grid, grid.review, lambda: grid.replace("Ana", "Anna"), grid.undo)


def editor_set(client: Any) -> Reviewed:
    editor = chatkit.Editor(resource=client.flows, flow=301)
    editor.set("/screens/0/title", "One")
    edit = lambda: editor.set("/screens/0/title", "Two")  # noqa: E731
    return Reviewed(editor, editor.plan, edit)


def editor_text(client: Any) -> Reviewed:
    editor = chatkit.Editor(resource=client.flows, flow=301)
    editor.set("/screens/0/title", "One")
    editor.select("/screens/0")
    return Reviewed(editor, editor.plan, lambda: editor._source.set_trait("text", "{"), editor.undo)


def editor_name(client: Any) -> Reviewed:
    editor = chatkit.Editor(resource=client.flows)
    named = partial(type_into, editor, "Name of the new flow")
    named("First")
    return Reviewed(editor, editor.plan, partial(named, "Second"), partial(named, "First"))


def content_form(client: Any) -> Reviewed:
    form = chatkit.widgets.ContentForm(client.templates("order_ready"), "de")
    form.set("footer", "STOP beendet das")
    edit = lambda: form.set("footer", "STOP beendet es")  # noqa: E731
    return Reviewed(form, form.review, edit, lambda: form.set("footer", "STOP beendet das"))


def board(client: Any) -> Reviewed:
    board = chatkit.widgets.BoardGrid(client.templates, ["order_ready"])
    form = board.edit("order_ready", "de")
    form.set("footer", "STOP beendet das")
    edit = lambda: form.set("footer", "STOP beendet es")  # noqa: E731
    return Reviewed(board, form.review, edit, lambda: form.set("footer", "STOP beendet das"))


def queue(client: Any) -> Reviewed:
    view = chatkit.widgets.QueueView(client.templates.queue(["de"], ["order_ready"]))
    view.queue.edit(0, "Dein Rad wartet")

    def edit() -> None:
        view.show(0)
        type_into(view, "Translation", "Dein Rad ist da")
        press(view, "Take this")

    return Reviewed(view, view.plan, edit)


CASES = [
    *(grid_cell, grid_delete, grid_added, grid_undone, grid_replaced),
    *(editor_set, editor_text, editor_name, content_form, board, queue),
]


@pytest.mark.parametrize("make", CASES)
def test_a_later_edit_makes_a_review_out_of_date(
    make: Callable[[Any], Reviewed], client: Any, sandbox: chatkit.Sandbox
) -> None:
    case = make(client)
    case.review()
    view = case.view
    apply = next(one for one in parts(view) if label(one).startswith("Apply "))
    assert is_seen(apply) and "Out of date" not in html(view)

    case.edit()
    assert view.outdated and "Out of date" in html(view) and "Out of date" in page_of(view)
    assert not is_seen(apply)
    assert [is_seen(one) for one in controls(view, "Review again")] == [True]
    writes = len([entry for entry in middleware_of(sandbox).log if entry.method != "GET"])
    with pytest.raises(PlanRefused, match="Out of date"):
        view.apply(view.phrase)
    apply.click()  # one that was on its way
    assert len([entry for entry in middleware_of(sandbox).log if entry.method != "GET"]) == writes

    if case.undo is not None:
        case.undo()
        assert not view.outdated and is_seen(apply) and "Out of date" not in html(view)
        case.edit()
    if make is editor_text:
        return  # nothing can be planned of a text that cannot be read
    press(view, "Review again")
    assert case.view is not view and not case.view.outdated
    case.view.apply(case.view.phrase)
    assert case.view.result is not None
    assert set(case.view.result["state"]) == {"applied"}
    assert not case.view.outdated


def test_a_stopped_run_is_not_gone_on_with_after_an_edit(
    client: Any, sandbox: chatkit.Sandbox
) -> None:
    grid = chatkit.Grid(client.contacts)
    for key in range(50001, 50012):
        grid.set(key, "name", f"Name {key}")
    view = grid.review()
    sandbox.faults(latency=0.1)
    view.start()
    view.stop()
    left = view.wait()
    sandbox.faults()
    assert "not sent" in set(left["state"]) and not view.outdated
    grid.set(50011, "name", "Another")
    assert view.outdated
    press(view, "Review again")
    assert grid.plan_view is not None and grid.plan_view is not view
    grid.plan_view.apply(grid.plan_view.phrase)
    assert client.contacts.get(50011).name == "Another"
    assert repr(grid) == "Grid of 250 contacts."


def test_a_plan_that_takes_back_is_of_the_result_it_was_made_of(
    client: Any, sandbox: chatkit.Sandbox
) -> None:
    frame = client.contacts.frame().head(12)
    frame["name"] = frame["name"] + "x"
    view = PlanView(client.contacts.plan(frame))
    sandbox.faults(latency=0.1)
    view.start(view.phrase)
    view.stop()
    view.wait()
    sandbox.faults()
    back = view.undo()
    view.apply(view.phrase)
    assert back.outdated
    press(back, "Review again")
    assert view.back is not None and view.back is not back and len(view.back.plan) == len(view.plan)
