"""Plans, results and journals as DataFrames: columns, dtypes and index are always the same."""

from __future__ import annotations

import pandas as pd
import pytest
from bulk.planning import account, call, client, contacts, content, number, sandbox  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st

import chatkit
from chatkit.bulk import rendering
from chatkit.bulk.changes import Change
from chatkit.bulk.journal import JournalEvent
from chatkit.bulk.outcomes import Row
from chatkit.bulk.plan import RefusedCell, get_setting
from chatkit.bulk.plan_input import join_columns

COLUMNS = ["state", "label", "change", "key", "evidence", "sent", "checked_ago", "reason"]


def rows(*changes):
    return [Row(n, change) for n, change in enumerate(changes)]


def result(*changes, names=("id",), stopped=""):
    return rendering.make_result_frame(rows(*changes), "20261120-101502-7f3a", names, stopped)


def created(row, key=None, label="Ana"):
    return Change(row, "create", key, label)


# --- results --------------------------------------------------------------------------------


@given(st.lists(st.integers() | st.text(), max_size=8))
def test_the_index_of_a_result_is_that_of_the_rows_in_their_order(labels):
    frame = result(*map(created, labels))
    assert frame.index.tolist() == labels and frame.index.name == "id"
    assert frame.columns.tolist() == COLUMNS


def test_a_result_prints_states_and_reasons_however_wide_it_is():
    frame = result(created(0))
    frame["reason"] = "somebody else changed it: name was 'Ana Cruz' and is 'Zoë'"
    text = str(frame)
    assert "not sent" in text and "somebody else changed it" in text


@given(st.lists(st.tuples(st.text(), st.integers() | st.none()), max_size=8))
def test_an_index_of_several_levels_stays_one(labels):
    frame = result(*map(created, labels), names=("template_code", None))
    assert isinstance(frame.index, pd.MultiIndex) and len(frame) == len(labels)
    assert list(frame.index.names) == ["template_code", None]


def test_labels_that_are_themselves_tuples_stay_in_one_level():
    frame = result(created(("a", 1)), created(("b", 2)), names=("place",))
    assert frame.index.nlevels == 1 and frame.index.tolist() == [("a", 1), ("b", 2)]


@pytest.mark.parametrize("changes", [[], [created(0)], [created(0, 7), created(1)]])
def test_ids_are_whole_numbers_though_some_are_not_there_yet(changes):
    frame = result(*changes)
    assert str(frame["key"].dtype) == "Int64"
    texts = ("change", "label", "state", "reason", "evidence")
    assert {str(frame[name].dtype) for name in texts} == {"str"}


def test_language_codes_are_texts():
    frame = result(created("en", "en"), created("de", "de"), names=("lang_code",))
    assert frame["key"].tolist() == ["en", "de"]


def test_a_result_remembers_its_run_and_why_it_stopped():
    frame = result(created(0), stopped="the token may not")
    assert rendering.get_result_run(frame) == "20261120-101502-7f3a"
    assert rendering.get_result_run(frame.copy()) == "20261120-101502-7f3a"
    assert rendering.get_result_run(frame[frame["state"] == "failed"]) == "20261120-101502-7f3a"
    assert rendering.summarize_result(frame).startswith(
        "1 change: 1 not sent. It stopped: the token may not."
    )
    assert rendering.get_result_run(pd.DataFrame()) is None


# --- plans, refused cells, journals, runs ---------------------------------------------------


def test_the_frame_of_a_plan_shows_before_and_after_as_they_are():
    change = Change(7, "update", 7, "Ana", {"tags": [1]}, {"tags": []}, undo="never", loss="why")
    frame = rendering.make_changes_frame([change], ("id",))
    assert frame.loc[7].to_dict() == {
        "change": "update", "key": 7, "label": "Ana", "before": {"tags": [1]},
        "after": {"tags": []}, "undo": "never", "undo_note": "why",
    }  # fmt: skip


@pytest.mark.parametrize("names", [("id",), (None,), ("template_code", "lang_code")])
def test_refused_cells_are_a_table_even_when_there_are_none(names):
    for cells in ([], [RefusedCell("a" if len(names) == 1 else ("a", "b"), "c", "v", "r", "n")]):
        frame = rendering.make_refused_frame(cells)
        assert frame.columns.tolist() == ["row", "column", "value", "reason", "next_step"]
        assert {str(frame[name].dtype) for name in frame.columns[1:]} == {"str"}
        assert frame["row"].tolist() == [cell.row for cell in cells]


def test_a_journal_is_a_table_of_its_events():
    events = [
        JournalEvent(None, "started", "2026-11-20T10:00:00.000+00:00", {}),
        JournalEvent(0, "intent", "2026-11-20T10:00:00.001+00:00", {"attempt": 1, "reason": "why"}),
    ]
    frame = rendering.make_journal_frame(events, rows(created(("a", 1))))
    assert frame["row"].tolist() == [None, ("a", 1)]
    assert frame["reason"].tolist() == ["", "why"]
    assert frame["detail"].tolist() == [{}, {"attempt": 1}]
    assert frame["at"].iloc[1] == pd.Timestamp("2026-11-20T10:00:00.001Z")
    assert rendering.make_journal_frame([], []).columns.tolist() == frame.columns.tolist()
    assert (
        rendering.make_journal_frame([], []).dtypes.astype(str) == frame.dtypes.astype(str)
    ).all()


@given(
    st.lists(
        st.tuples(*[st.none() | st.just("") | st.just(7) | st.text(min_size=1)] * 2), max_size=6
    )
)
def test_joined_texts_are_missing_where_a_part_is(parts):
    frame = pd.DataFrame(parts, columns=["a", "b"], dtype=object)
    expected = [
        f"{a} {b}" if isinstance(a, str) and isinstance(b, str) and a and b else None
        for a, b in parts
    ]
    outcome = join_columns(frame)
    assert [None if pd.isna(text) else text for text in outcome] == expected


# --- as people see them ---------------------------------------------------------------------


def test_a_result_can_be_joined_to_the_frame_it_came_from(sandbox, client):
    ids = contacts(sandbox, 12)
    frame = client.contacts.frame()
    frame.loc[ids[:3], "name"] = "Zoë"
    applied = client.contacts.plan(frame).apply()
    sibling = frame.join(applied[["state"]])
    assert sibling["state"].dropna().index.tolist() == ids[:3]
    assert (sibling.loc[ids[:3], "name"] == "Zoë").all()


def test_a_result_goes_through_a_file_and_is_still_a_table(sandbox, client, tmp_path):
    content(sandbox)
    frame = client.templates.frame(["order_ready"]).assign(text="Hi")
    applied = client.templates.plan(frame).apply()
    applied.to_parquet(tmp_path / "result.parquet")
    again = pd.read_parquet(tmp_path / "result.parquet")
    pd.testing.assert_frame_equal(again, applied, check_dtype=False)
    assert get_setting(chatkit.undo(again)).undoes == rendering.get_result_run(applied)


def test_a_result_of_a_conflict_says_it_in_words(sandbox, client):
    contacts(sandbox, 1)
    plan = client.contacts.plan(client.contacts.frame().assign(name="Zoë"))
    [change] = plan.changes
    call(sandbox, "PUT", f"contacts/{change.key}", name="Theirs")
    assert plan.apply().chatkit.summary() == "1 change: 1 conflict."
