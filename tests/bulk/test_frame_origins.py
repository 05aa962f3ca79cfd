"""Tests of frame snapshots: where one is lost, no stale value is written."""

from __future__ import annotations

import copy
import io
import json
import pickle
from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    account,
    call,
    client,
    contact,
    contacts,
    content,
    edits,
    flow,
    sandbox,
    states,
    webhook,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from volume import FULL, volume

import chatkit
from chatkit.bulk.plan import get_refused_cells


class Case(NamedTuple):
    """Two records of a resource, and what a colleague and I write into them."""

    resource: Any
    frame: pd.DataFrame
    mine: Any
    other: Any
    field: str
    was: Any
    old: Any  #: what my frame has of the other record
    edited: Any


def contact_case(sandbox, client):
    mine, other = contacts(sandbox, 2)
    frame = client.contacts.frame()
    call(sandbox, "PUT", f"contacts/{other}", name="Theirs")
    return Case(client.contacts, frame, mine, other, "name", "Ana Cruz", "Ana Cruz", "Mine")


def flow_case(sandbox, client):
    mine, other = flow(sandbox), flow(sandbox, "Booking")
    frame = client.flows.frame(full=True)
    document = frame.flow_json[mine]
    call(sandbox, "PUT", f"flows/{other}", flow_json={**document, "version": "6.0"})
    edited = {**document, "version": "7.1"}
    return Case(client.flows, frame, mine, other, "flow_json", document, document, edited)


def webhook_case(sandbox, client):
    mine, other = webhook(sandbox), webhook(sandbox, 1)
    frame = client.webhooks.frame()
    call(sandbox, "PATCH", f"webhooks/{other}", events=["chat.message.status"])
    edited = ["chat.message.status"]
    return Case(client.webhooks, frame, mine, other, "events", ["*"], ["*"], edited)


def contents_case(sandbox, client):
    content(sandbox), content(sandbox, lang_code="de")
    contents = client.templates("order_ready")
    frame = contents.frame(full=True)
    call(sandbox, "PUT", "templates/order_ready/contents/de", footer="Danke")
    was = "Thank you"
    return Case(contents, frame, "en", "de", "footer", was, was, "Thanks")


def templates_case(sandbox, client):
    content(sandbox), content(sandbox, "welcome")
    frame = client.templates.frame(["order_ready", "welcome"], full=True)
    call(sandbox, "PUT", "templates/welcome/contents/en", footer="Theirs")
    mine, other = ("order_ready", "en"), ("welcome", "en")
    was = "Thank you"
    return Case(client.templates, frame, mine, other, "footer", was, was, "Thanks")


CASES = [contact_case, flow_case, webhook_case, contents_case, templates_case]


@pytest.fixture
def case(request, sandbox, client):
    return request.param(sandbox, client)


def with_cases(values: Iterable[str], name: str = "operation", share: int = 2) -> Any:
    """Each value with some of the resources, in turn; in `make full` with all of them."""
    pairs = [
        (CASES[(number + 2 * k) % len(CASES)], value)
        for number, value in enumerate(values)
        for k in range(len(CASES) if FULL else share)
    ]
    ids = [f"{case.__name__} {value}" for case, value in pairs]
    return pytest.mark.parametrize(("case", name), pairs, indirect=["case"], ids=ids)


def edited(case: Case) -> pd.DataFrame:
    """My edit of one record, in a frame that holds what it was."""
    frame = case.frame.copy()
    frame.at[case.mine, case.field] = case.edited
    return frame


def as_json(frame: pd.DataFrame) -> pd.DataFrame:
    """Nested values as JSON, which files hold."""
    nested = [name for name in frame if frame[name].dtype == object]

    def one(value: Any) -> Any:
        return json.dumps(value) if isinstance(value, list | dict) else value

    return frame.assign(**{name: frame[name].map(one) for name in nested})


def from_json(frame: pd.DataFrame) -> pd.DataFrame:
    names = [name for name in ("events", "flow_json") if name in frame]
    return frame.assign(**{n: frame[n].map(json.loads, na_action="ignore") for n in names})


def through_csv(frame: pd.DataFrame) -> pd.DataFrame:
    text = as_json(frame).to_csv()
    again = pd.read_csv(io.StringIO(text), dtype={"number": str, "country_code": str})
    return from_json(again)


def through_parquet(frame: pd.DataFrame) -> pd.DataFrame:
    buffer = io.BytesIO()
    as_json(frame).to_parquet(buffer)
    return from_json(pd.read_parquet(buffer))


def through_json(frame: pd.DataFrame) -> pd.DataFrame:
    text = frame.reset_index().to_json(orient="records", date_format="iso", date_unit="us")
    return pd.read_json(io.StringIO(text), dtype=False)


def marks(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame of a person's own, to be merged with it."""
    return pd.DataFrame({"score": range(len(frame))}, index=frame.index)


KEPT = {
    "copy": lambda f: f.copy(),
    "shallow copy": lambda f: f.copy(deep=False),
    "deepcopy": copy.deepcopy,
    "copy.copy": copy.copy,
    "filter": lambda f: f[[True] * len(f)],
    "loc": lambda f: f.loc[f.index],
    "iloc": lambda f: f.iloc[::-1],
    "assign": lambda f: f.assign(note="x"),
    "columns": lambda f: f[[n for n in f if n not in ("created_at", "updated_at", "id")]],
    "reset_index": lambda f: f.reset_index(),
    "set_index": lambda f: f.reset_index().set_index(f.index.names),
    "drop": lambda f: f.drop(columns=f.columns[:1].difference(["name", "url"])),
    "rename": lambda f: f.rename(columns={f.columns[0]: "x"}).rename(columns={"x": f.columns[0]}),
    "sort": lambda f: f.sort_values(f.columns[0], key=lambda c: c.astype("str")),
    "sort_index": lambda f: f.sort_index(ascending=False),
    "astype": lambda f: f.astype(object),
    "query": lambda f: f.reset_index().query("index >= 0"),
    "head": lambda f: f.head(9),
    "concat": lambda f: pd.concat([f.head(1), f.tail(1)]),
    "where": lambda f: f.where(f.notna()),
    "pipe": lambda f: f.pipe(lambda g: g),
    "drop_duplicates": lambda f: f.reset_index().drop_duplicates(f.index.names),
    "merge of one origin": lambda f: f.drop(columns=f.columns[0]).merge(
        f[[f.columns[0]]], left_index=True, right_index=True
    ),
}
LOST = {
    "merge": lambda f: f.reset_index().merge(
        marks(f).reset_index(), on=list(f.index.names), how="left"
    ),
    "join": lambda f: f.join(marks(f)),
    "pickle": lambda f: pickle.loads(pickle.dumps(f)),
    "csv": through_csv,
    "parquet": through_parquet,
    "json": through_json,
    "records": lambda f: f.reset_index().to_dict("records"),
    "a frame anew": lambda f: pd.DataFrame(f.reset_index().to_dict("list")),
    "concat with new rows": lambda f: pd.concat([f.reset_index(), pd.DataFrame({"note": []})]),
}


def mine_only(case: Case) -> dict[Any, dict[str, Any]]:
    key = case.mine[1] if isinstance(case.mine, tuple) else case.mine
    return {key: {case.field: case.edited}}


@with_cases(KEPT)
def test_my_edit_alone_is_planned_whatever_pandas_does_to_the_frame(client, case, operation):
    frame = KEPT[operation](edited(case))
    for _ in range(6):  # what is read since does not count
        client.contacts.frame(), client.flows.frame(), client.webhooks.frame()
    plan = case.resource.plan(frame)
    assert edits(plan) == mine_only(case) and plan.refused.empty
    assert not any("when it was read" in note for note in plan.notes)
    assert states(plan.apply(many=True)) == ["applied"]


@with_cases(LOST)
def test_where_it_is_lost_only_what_has_not_changed_since_is_planned(case, operation):
    rows = LOST[operation](edited(case))
    plan = case.resource.plan(rows)
    known = "updated_at" in case.frame  # a record of this version has not changed
    assert edits(plan) == (mine_only(case) if known else {})
    refused = get_refused_cells(plan)
    keys = [case.other] if known else [case.mine, case.other]
    assert [cell.column for cell in refused] == [case.field] * len(keys)
    assert all("older than somebody else's" in cell.reason for cell in refused)
    assert "plan(frame, base=" in refused[0].next_step and plan.objections()
    assert any("base=" in note for note in plan.notes)
    assert not any("updated_at" in cell.column for cell in refused)
    plan = case.resource.plan(rows, base=case.frame)  # which tells my edit
    assert edits(plan) == mine_only(case) and plan.refused.empty


@with_cases(["merge", "csv", "pickle"])
def test_a_frame_that_is_read_now_takes_all_that_differs_for_my_edit(client, case, operation):
    rows = LOST[operation](edited(case))
    codes = [["order_ready", "welcome"]] if case.resource is client.templates else []
    plan = case.resource.plan(rows, base=case.resource.frame(*codes))
    assert len(plan) == 2 and plan.refused.empty


@with_cases([*KEPT, *LOST], share=1)
def test_a_frame_that_nobody_edited_is_nothing_to_do(case, operation, client):
    codes = [["order_ready", "welcome"]] if case.resource is client.templates else []
    full = {} if case.field in ("name", "events") else {"full": True}
    frame = case.resource.frame(*codes, **full)
    plan = case.resource.plan({**KEPT, **LOST}[operation](frame))
    assert len(plan) == 0 and plan.refused.empty


@with_cases(["csv", "xlsx"], "kind", len(CASES))
def test_a_file_of_ours_that_nobody_edited_is_nothing_to_do(case, kind, tmp_path):
    frame = case.frame
    path = tmp_path / f"frame.{kind}"
    write = frame.chatkit.to_csv if kind == "csv" else frame.chatkit.to_xlsx
    write(path)
    read = pd.read_csv if kind == "csv" else pd.read_excel
    own = {} if kind == "xlsx" else {"encoding": "utf-8-sig"}
    again = read(path, dtype=str, keep_default_na=False, **own)
    again = again.map(lambda text: text.removeprefix("'"))
    plan = case.resource.plan(again, base=case.frame)
    assert len(plan) == 0 and plan.refused.empty


# --- what base= takes -----------------------------------------------------------------------


def test_base_takes_a_frame_that_holds_what_it_was(sandbox, client):
    case = contact_case(sandbox, client)
    for bad in (through_csv(case.frame), client.flows.frame(), case.frame.to_dict(), "contacts"):
        with pytest.raises(
            chatkit.errors.InputError, match=r"base= takes a frame.*client\.contacts"
        ):
            client.contacts.plan(through_csv(case.frame), base=bad)


def test_a_frame_of_many_templates_is_known_to_each_of_them(sandbox, client):
    case = templates_case(sandbox, client)
    part = edited(case).xs("order_ready")
    assert edits(client.templates("order_ready").plan(part)) == {"en": {"footer": "Thanks"}}
    with pytest.raises(chatkit.errors.InputError):
        client.templates("other").plan(part, base=client.templates("order_ready").frame())


def test_new_rows_need_no_snapshot(sandbox, client):
    contacts(sandbox, 2)
    frame = through_csv(client.contacts.frame())
    new = pd.DataFrame({"number": ["2025550199"], "country_code": ["+1"], "name": ["New"]})
    plan = client.contacts.plan(pd.concat([frame, new]))
    assert [c.kind for c in plan.changes] == ["create"] and plan.refused.empty


def test_a_file_that_lost_a_part_of_the_version_is_no_proof(sandbox, client):
    mine, _ = contacts(sandbox, 2)
    frame = through_csv(client.contacts.frame())
    frame.loc[frame.id == mine, "name"] = "Mine"
    frame["updated_at"] = frame.updated_at.str.slice(0, 16)
    plan = client.contacts.plan(frame)
    assert len(plan) == 0 and [cell.column for cell in get_refused_cells(plan)] == ["name"]


def test_what_is_written_as_a_dict_is_what_is_to_be(sandbox, client):
    mine, _ = contacts(sandbox, 2)
    assert edits(client.contacts.plan([{"id": mine, "name": "Mine"}])) == {mine: {"name": "Mine"}}
    plan = client.contacts.plan(pd.DataFrame({"id": [mine], "name": ["Mine"]}))
    assert len(plan) == 0 and len(plan.refused) == 1
    [cell] = get_refused_cells(client.contacts.plan([{"id": mine, "first_name": "Mine"}]))
    assert cell.next_step.startswith("edit name")


# --- any edits of mine and of others --------------------------------------------------------

ROWS = 4
ONE_CELL = st.tuples(st.integers(0, ROWS - 1), st.sampled_from(["text", "footer"]), st.text("ab"))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("mine"), ONE_CELL),
        st.tuples(st.just("other"), ONE_CELL),
        st.tuples(st.sampled_from([*KEPT, "merge", "pickle", "records"]), st.none()),
    ),
    max_size=8,
)


@settings(max_examples=volume(12), suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_a_plan_never_holds_a_cell_that_the_person_did_not_edit(steps):
    with account() as (sandbox, client):
        codes = [f"code_{n}" for n in range(ROWS)]
        for code in codes:
            content(sandbox, code)
        frame = client.templates.frame(codes, full=True)
        origin = frame.copy()
        mine: dict[str, dict[str, str]] = {}
        for step, cell in steps:
            if step == "mine":
                row, field, text = cell
                mask = frame.index.get_level_values(0) == codes[row]
                if mask.any() and field in frame:
                    frame.loc[mask, field] = text
                    mine.setdefault(codes[row], {})[field] = text
            elif step == "other":
                row, field, text = cell
                call(sandbox, "PUT", f"templates/{codes[row]}/contents/en", **{field: f"z{text}"})
            else:
                rows = {**KEPT, **LOST}[step](
                    frame.drop(columns=["note", "score"], errors="ignore")
                )
                frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
                if "template_code" in frame:
                    frame = frame.set_index(["template_code", "lang_code"])
        for base in (None, origin):
            plan = client.templates.plan(frame, base=base, broken=True)
            for change in plan.changes:
                assert change.kind == "update"
                assert dict(change.after).items() <= mine.get(change.code, {}).items()
