"""The plan of a grid below it: what is applied or taken back there, the grid then shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest
from widgets.gridding import client, sandbox  # noqa: F401
from widgets.screen import find, html, part, press, send

import chatkit
from chatkit.client import Client
from chatkit.contacts import ContactEndpoints
from chatkit.errors import PlanRefused
from chatkit.widgets import Grid
from chatkit.widgets.grid import GridTable


@pytest.fixture
def grid(client: Client) -> Grid:
    return Grid(client.contacts)


def applied(grid: Grid) -> pd.DataFrame:
    view = grid.review()
    return view.apply(view.phrase)


def test_what_was_applied_is_no_edit_any_more(grid: Grid, client: Client) -> None:
    grid.set(50001, "name", "Ana Cruz")
    new = grid.add()
    for name, value in {"name": "Bo", "number": "2025550143", "country_code": "+1"}.items():
        grid.set(new, name, value)
    grid.delete(50003)
    assert applied(grid).state.tolist() == ["applied"] * 3
    assert repr(grid) == "Grid of 250 contacts."
    frame = grid.frame()
    assert frame.equals(client.contacts.frame())
    assert frame.first_name[50001] == "Ana"  # as the service has split it
    assert frame.name.iloc[-1] == "Bo"
    assert 50003 not in frame.index
    assert not grid.undo()
    assert not grid.plan().changes


def test_what_was_taken_back_is_shown_as_it_was(grid: Grid, client: Client) -> None:
    before = grid.frame().name
    grid.set(50001, "name", "Ana Cruz")
    new = grid.add()
    for name, value in {"name": "Bo", "number": "2025550143", "country_code": "+1"}.items():
        grid.set(new, name, value)
    applied(grid)
    assert grid.plan_view is not None
    back = grid.plan_view.undo()
    back.apply(back.phrase)
    assert grid.frame().name[50001] == before[50001]
    assert repr(grid) == f"Grid of {len(client.contacts.frame())} contacts."


def test_what_others_did_meanwhile_is_shown_too(grid: Grid, client: Client) -> None:
    client.contacts.update(50009, name="From Elsewhere")
    made = client.contacts.create(number="2025550187", country_code="+1")
    grid.set(50001, "name", "Ana Cruz")
    applied(grid)
    assert grid.frame().name[50009] == "From Elsewhere"
    assert made.id in grid.frame().index


def test_what_was_not_applied_stays_an_edit(grid: Grid, client: Client) -> None:
    grid.set(50001, "name", "Ana Cruz")
    grid.set(50003, "number", "2025550199")
    for row in (50001, 50004):
        grid.paste(row, "number", "x")
    view = grid.review()
    code = str(grid.frame().country_code[50003])
    client.contacts.create(number="2025550199", country_code=code)  # somebody was quicker
    states = view.apply(view.phrase).state
    assert states[50001] == "applied"
    assert states[50003] != "applied"
    assert repr(grid) == "Grid of 251 contacts: 1 cell changed, 2 cells refused."
    assert grid.frame().number[50003] == "2025550199"
    assert sorted(grid.refused.row) == [50001, 50004]


def test_what_is_edited_while_a_plan_is_applied_stays_an_edit(
    grid: Grid, client: Client, sandbox: chatkit.Sandbox
) -> None:
    grid.set(50001, "name", "Ana Cruz")
    grid.set(50002, "name", "Bo")
    view = grid.review()
    sandbox.faults(latency=0.3)
    view.start(view.phrase)
    grid.set(50001, "name", "Ana Cruz Diaz")
    grid.set(50003, "name", "Cy")
    new = grid.add()
    grid.set(new, "name", "Di")
    sandbox.faults()
    view.wait()
    assert client.contacts.get(50001).name == "Ana Cruz"
    assert repr(grid) == "Grid of 250 contacts: 2 cells changed, 1 row added."
    assert grid.frame().name[50001] == "Ana Cruz Diaz"
    assert grid.frame().name.iloc[-1] == "Di"


def test_a_part_of_the_account_stays_that_part_and_keeps_its_own_columns(client: Client) -> None:
    some = client.contacts.frame().iloc[5:8].assign(note=["a", "b", "c"])
    keys = some.index.tolist()
    grid = Grid(client.contacts, some)
    grid.set(keys[0], "name", "Ana Cruz")
    new = grid.add()
    for name, value in {"name": "Bo", "number": "2025550143", "country_code": "+1"}.items():
        grid.set(new, name, value)
    grid.filter("o")
    grid.sort("name")
    grid.columns("id", "name", "note")
    result = applied(grid)
    frame = grid.frame()
    assert frame.index.tolist() == [*keys, result["key"].iloc[-1]]
    assert frame.note.tolist()[:3] == ["a", "b", "c"]
    assert frame.name.iloc[0] == "Ana Cruz"
    assert part(grid, GridTable).state["filter"]["text"] == "o"
    assert part(grid, GridTable).state["sort"] == ["name", False]
    assert grid.columns("id", "name", "note") == ["id", "name", "note"]


def test_a_frame_of_ones_own_becomes_its_records(client: Client) -> None:
    known = client.contacts.get(50001)
    own = pd.DataFrame(
        {
            "number": ["2025550143", known.number, "12 34"],
            "country_code": ["+1", known.country_code, "+1"],
            "name": ["Bo", known.name, "Cy"],
            "row": [7, 8, 9],
        }
    )
    grid = Grid(client.contacts, own)
    view = grid.review()
    assert find(grid, "Leave out 1 row that cannot be planned")
    press(grid, "Leave out 1 row that cannot be planned")
    assert grid.plan_view is not view
    assert grid.plan_view is not None
    grid.plan_view.apply()
    frame = grid.frame()
    assert frame.name.tolist() == ["Bo", known.name, "Cy"]
    assert frame["id"].tolist()[1] == 50001
    assert client.contacts.get(int(frame["id"].iloc[0])).name == "Bo"
    assert frame["row"].tolist()[:2] == [7, 8]
    assert repr(grid) == "Grid of 2 contacts: 1 row added, 1 cell refused."
    assert grid.refused.value[0] == '"12 34"'


def test_records_that_a_frame_of_ones_own_would_leave_as_they_are_can_be_updated(
    client: Client,
) -> None:
    known = client.contacts.get(50001)
    cells = {"number": known.number, "country_code": known.country_code, "name": "Ana Cruz"}
    grid = Grid(client.contacts, pd.DataFrame([cells]))
    assert not any(grid.review().plan.counts.values())
    press(grid, "Update 1 contact that would be kept")
    assert grid.plan_view is not None
    grid.plan_view.apply()
    assert client.contacts.get(50001).name == "Ana Cruz"
    assert grid.frame().name.tolist() == ["Ana Cruz"]


def test_contents_and_webhooks_are_reviewed_too(client: Client) -> None:
    webhook = client.webhooks.create(url="https://example.com/a", events=["*"])
    hooks = Grid(client.webhooks)
    hooks.set(webhook.id, "is_active", "false")
    applied(hooks)
    assert repr(hooks) == "Grid of 4 webhooks."
    contents = client.templates("hello")
    contents.create(lang_code="en", text="Hi")
    words = Grid(contents)
    words.set("en", "text", "Hello")
    applied(words)
    assert repr(words).startswith("Grid of 1 ")
    assert words.frame().text["en"] == "Hello"


def test_while_one_plan_is_applied_no_other_is_reviewed(
    grid: Grid, sandbox: chatkit.Sandbox
) -> None:
    grid.set(50001, "name", "Ana")
    view = grid.review()
    sandbox.faults(latency=0.2)
    view.start()
    with pytest.raises(PlanRefused, match="are being applied"):
        grid.review()
    sandbox.faults()
    view.wait()
    assert repr(grid) == "Grid of 250 contacts."


def test_an_account_that_cannot_be_read_again_is_told_and_nothing_is_lost(
    client: Client, sandbox: chatkit.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = Grid(client.contacts)
    grid.set(50001, "name", "Ana")
    view = grid.review()

    def gone(**_: object) -> pd.DataFrame:
        raise chatkit.ChatkitError("Nobody answers.")

    monkeypatch.setattr(grid._endpoints, "frame", gone)
    view.apply()
    assert "could not be read again" in html(grid)
    assert grid.frame().name[50001] == "Ana"
    assert client.contacts.get(50001).name == "Ana"


# --- the same in Python -----------------------------------------------------------------------


# --- what somebody else has changed meanwhile ---------------------------------------------------


def in_conflict(grid: Grid, client: Client) -> None:
    grid.set(50001, "name", "Mine")
    grid.set(50003, "name", "Third")
    grid.delete(50005)
    view = grid.review()
    client.contacts.update(50001, name="Theirs")
    client.contacts.update(50005, name="Changed")
    view.apply(view.phrase)


def test_a_conflict_is_marked_in_its_cell_and_reviewing_again_overwrites_nothing(
    grid: Grid, client: Client
) -> None:
    in_conflict(grid, client)
    assert repr(grid) == "Grid of 250 contacts: 1 cell in conflict."
    (cell,) = grid.refused.itertuples()
    assert (cell.row, cell.column) == (50001, "name") and '"Theirs"' in cell.reason
    assert 'grid.resolve("mine")' in cell.next_step
    assert "Not deleted" in grid.message and 50005 in grid.frame().index
    again = grid.review()
    assert not any(again.plan.counts.values())
    assert "keep theirs or keep mine" in html(again)
    assert client.contacts.get(50001).name == "Theirs"


@pytest.mark.parametrize(("keep", "name"), [("mine", "Mine"), ("theirs", "Theirs")])
def test_a_conflict_is_decided_cell_by_cell_and_the_decision_can_be_undone(
    keep: str, name: str, grid: Grid, client: Client
) -> None:
    in_conflict(grid, client)
    table = part(grid, GridTable)
    send(table, {"do": "page", "page": 0, "shows": table.state["shows"]})
    state = {name: table.state[name] for name in ("renewed", "arranged")}
    send(table, {"do": "decide", "row": 0, "column": "name", "keep": keep, **state})
    assert grid.frame().name[50001] == name and grid.refused.empty
    grid.undo()
    assert repr(grid) == "Grid of 250 contacts: 1 cell in conflict."
    assert grid.resolve(keep, 50001) == 1 and grid.resolve(keep) == 0
    plan = grid.plan()
    assert plan.counts["update"] == (keep == "mine")
    if keep == "mine":
        plan.apply()
    assert client.contacts.get(50001).name == name


# --- what the plan would refuse -----------------------------------------------------------------

TAKEN = "has it"


@pytest.mark.parametrize(
    ("resource", "row", "column", "value", "reason"),
    [
        ("contacts", 50001, "number", "3023125222", TAKEN),
        ("contacts", 50001, "number", "1", "not a telephone number"),
        ("contacts", 50001, "number", "00447700900000", "dialled"),
        ("contacts", 50001, "country_code", "+999", "country"),
        ("contacts", 50003, "number", "2065550148", TAKEN),
        ("webhooks", 41, "url", "https://till.larkspur-cycles.example/messages/status", TAKEN),
        ("templates", "de", "text", "Hallo {{1}}", "stands last"),
        ("templates", "de", "text", "", "text"),
        ("contacts", 50001, "name", "Ana Cruz", ""),
        ("contacts", 50001, "name", "Žofie 王 O'Neil", ""),
        ("contacts", 50001, "country_code", "+49", None),
        ("templates", "de", "text", "Hallo {{1}} da", ""),
        ("webhooks", 41, "url", "https://example.com/new", ""),
    ],
)
def test_a_cell_that_the_plan_would_refuse_is_refused_at_once(
    resource: str, row: object, column: str, value: str, reason: str | None, client: Client
) -> None:
    of = client.templates("order_ready") if resource == "templates" else getattr(client, resource)
    grid = Grid(of)
    frame = grid.frame()
    frame.loc[row, column] = value
    refused_by_plan = len(of.plan(frame).refused) > 0
    grid.set(row, column, value)
    assert (not grid.refused.empty) == refused_by_plan
    assert not grid.plan().refused.size
    if reason is not None:
        assert reason in "".join(grid.refused.reason)
        assert bool(reason) == (not grid.refused.empty)


def test_what_waits_for_another_cell_is_taken_once_that_is_edited(client: Client) -> None:
    grid = Grid(client.contacts)
    grid.set(50001, "country_code", "+999")
    grid.set(50001, "country_code", "+1")
    grid.set(50001, "number", "2065550148")
    assert grid.refused.row.tolist() == [50001]
    owner = int(grid.refused.reason[0].split()[1])
    grid.set(owner, "number", "2125550177")
    assert grid.refused.empty and grid.frame().number[50001] == "2065550148"
    assert grid.plan().counts == {"create": 0, "update": 2, "delete": 0}


def test_a_pasted_column_of_numbers_is_compared_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row was compared with each edited one: 240 numbers took six seconds."""
    natural, calls = ContactEndpoints.make_natural_name, 0

    def counted(self: ContactEndpoints, fields: Mapping[str, Any]) -> str | None:
        nonlocal calls
        calls += 1
        return natural(self, fields)

    monkeypatch.setattr(ContactEndpoints, "make_natural_name", counted)
    grid = Grid(client.contacts)
    numbers = [f"20255{n:05d}" for n in range(240)]
    grid.paste(50001, "number", "\n".join([*numbers[:-1], numbers[0]]))
    assert [TAKEN in reason for reason in grid.refused.reason] == [True]
    assert calls < 10 * len(numbers)
