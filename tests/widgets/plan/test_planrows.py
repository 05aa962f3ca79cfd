from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from widgets.screen import html as html_of

import chatkit
from chatkit.bulk.plan import Plan
from chatkit.client import Client
from chatkit.widgets.planview import PlanView, make_plan_items, make_result_items

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture
def client() -> Iterator[Client]:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        yield client


def edited(client: Client) -> Plan:
    frame = client.contacts.frame()
    frame.loc[50001, "name"] = HOSTILE
    frame.loc[50003, "number"] = "<b>12 34"
    return client.contacts.plan(frame, delete=[50250], skip_invalid=True)


def test_each_change_and_each_refused_cell_is_a_row_that_is_found_and_is_no_markup(
    client: Client,
) -> None:
    before = client.contacts.get(50001)
    columns, items = make_plan_items(edited(client))
    assert [item.kinds[0] for item in items] == ["update", "delete", "refused"]
    assert sum(columns.values()) == 100
    for text in (before.name, "onerror", before.number, "50001", before.country_code):
        assert text in items[0].text
    html = items[0].html()
    assert f"<del>{before.name}</del>" in html and 'title="name">Name</td>' in html
    assert "&lt;img src=x onerror=alert(1)&gt;<mark>⟨U+202E⟩</mark>" in html
    assert "<img" not in html
    refused = items[-1].html()
    assert "&lt;b&gt;12 34" in refused and "digits" in refused and "<b>" not in refused
    assert 'title="number">Phone number</td>' in refused
    assert "Name" in items[0].text and "Phone number" in items[-1].text


def test_a_refused_cell_is_called_as_its_field_is_or_else_as_its_column(
    client: Client, tmp_path: Path
) -> None:
    folder = chatkit.Folder(tmp_path / "shop")
    folder.pull(client, contacts=True)
    place = folder.path / "contacts.csv"
    place.write_text(f"{place.read_text('utf-8')}44,7911123456,Ana\n", "utf-8")
    wrong = [{"lang_code": "de", "headers": [{"type": "text", "text": 5}]}]
    contents = client.templates("order_ready")
    for plan, name in (
        (folder.plan(client), 'title="country_code">Country code<'),
        (client.contacts.plan(delete=[1], skip_invalid=True), 'title="delete">delete<'),
        (contents.plan(wrong, existing="update"), 'title="headers.0.text">Header 1, text<'),
    ):
        _, (item,) = make_plan_items(plan)
        assert name in item.html()


def test_what_cannot_be_undone_exactly_is_a_kind_too(client: Client) -> None:
    frame = pd.DataFrame({"number": ["2025550142"], "country_code": ["+1"], "name": ["Ana"]})
    _, items = make_plan_items(client.contacts.plan(frame))
    assert [item.kinds for item in items] == [("create", "not restored exactly")]
    _, items = make_plan_items(client.flows.plan(delete=client.flows.frame().index[:1]))
    assert [item.kinds for item in items] == [("delete", "never undone")]


def test_what_was_not_applied_is_a_kind_of_its_own(client: Client) -> None:
    plan = edited(client)
    client.contacts.update(50001, name="Somebody Else")
    columns, items = make_result_items(plan, plan.apply())
    assert sum(columns.values()) == 100
    assert [item.kinds for item in items] == [
        *(("not applied", "conflict"), ("refused",), ("applied",))
    ]
    html = items[0].html()
    assert 'class="bad"' in html and "Somebody Else" in html
    assert 'class="bad"' in items[1].html() and "&lt;b&gt;12 34" in items[1].html()
    assert 'class="fine"' in items[2].html()


def test_a_row_keeps_its_name_and_both_sides_beside_what_came_of_it(client: Client) -> None:
    frame = client.contacts.frame()
    frame.loc[[50001, 50002], "name"] = ["Ana Cruz", "Bo Cruz"]
    before = client.contacts.get(50002)
    plan = client.contacts.plan(frame)
    client.contacts.update(50002, name="Somebody Else")
    _, items = make_result_items(plan, plan.apply())
    conflict, applied = (item.html() for item in items)
    assert f"<del>{before.name}</del>" in conflict and "<ins>Bo Cruz</ins>" in conflict
    assert before.number in conflict and "conflict" in conflict and "data-act" not in conflict
    assert "<ins>Ana Cruz</ins>" in applied and 'data-act="back" data-row="0"' in applied
    assert all(
        "<button" not in item.html()
        for item in make_result_items(plan, plan.apply(), acts=False)[1]
    )


def test_a_row_that_was_taken_back_says_so_and_one_that_never_can_be_has_no_button(
    client: Client,
) -> None:
    plan = edited(client)
    _, items = make_result_items(plan, plan.apply(), {1})
    assert [item.kinds for item in items] == [("refused",), ("applied",), ("taken back",)]
    assert ["data-act" in item.html() for item in items] == [False, True, False]
    flows = client.flows.plan(delete=client.flows.frame().index[1:2])
    _, items = make_result_items(flows, flows.apply(irreversible=True))
    assert items[0].kinds == ("applied",) and "data-act" not in items[0].html()


def test_what_a_service_says_is_never_markup_and_always_seen(client: Client) -> None:
    plan = edited(client)
    _, items = make_result_items(plan, plan.apply().assign(reason=HOSTILE, state=HOSTILE))
    for item in items[1:]:  # after what the plan refused
        html = item.html()
        assert html.count("&lt;img src=x onerror=alert(1)&gt;⟨U+202E⟩") == 2
        assert "<img" not in html and "\u202e" not in html


LONG = "Hello {{1}}, your {{2}} is repaired and ready for you. Please collect it before Friday"


def test_long_texts_stand_in_full_with_the_words_that_differ_marked(client: Client) -> None:
    contents = client.templates("order_ready")
    contents.update("de", text=f"{LONG}.")
    plan = contents.plan([{"lang_code": "de", "text": f"{LONG}, or call us."}], existing="update")
    _, (item,) = make_plan_items(plan)
    html = item.html()
    assert html.count(f"{LONG}") == 2
    assert "<ins>, or call us</ins>" in html


def test_what_is_too_long_is_folded_and_still_there(client: Client) -> None:
    words = " ".join(f"word{n}" for n in range(100))
    contents = client.templates("order_ready")
    contents.update("de", text=f"First {words} end.")
    plan = contents.plan([{"lang_code": "de", "text": f"Last {words} end."}], existing="update")
    _, (item,) = make_plan_items(plan)
    html = item.html()
    assert "<del>First</del>" in html and "<ins>Last</ins>" in html
    assert "word50 " in html and '<span class="ck-far">' in html
    assert "<details><summary" in html and ">Show all</summary></details>" in html


def test_each_finding_stands_at_its_row_with_how_severe_it_is(client: Client) -> None:
    contents = client.templates("order_ready")
    texts = {"de": "Hallo  {{1}} , und  {{2}} da. ", "en": "Hello {{1}} there."}
    rows = [{"lang_code": code, "text": text} for code, text in texts.items()]
    plan = contents.plan(rows, existing="update")
    _, items = make_plan_items(plan)
    of_rows = [item.html().count('<li class="warning">') for item in items]
    assert of_rows[0] > 1 and of_rows[1] > 0
    assert "doubled spaces" in items[0].html() and "doubled spaces" not in items[1].html()
    assert "warnings, first" in repr(plan)
    assert "warnings, first" not in html_of(PlanView(plan))


def test_all_fields_and_places_of_a_change_are_there(client: Client) -> None:
    document = dict(client.flows.get(301).flow_json or {})
    document["screens"] = [
        {**one, "title": f"Title {n}"} for n, one in enumerate(document["screens"])
    ]
    document |= {f"R{n}": n for n in range(12)}
    plan = client.flows.plan([{"id": 301, "flow_json": document}], broken=True)
    _, (item,) = make_plan_items(plan)
    assert all(f"Title {n}" in item.html() for n in range(len(document["screens"])))
    assert all(f"R{n}<" in item.html() for n in range(12)) and "Show all" in item.html()
