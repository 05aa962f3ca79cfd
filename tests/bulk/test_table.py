"""Plans, results and journals as DataFrames: columns, dtypes and index are always the same."""

from __future__ import annotations

import pandas as pd
import pytest
from bulk.planning import account, call, client, contacts, content, number, sandbox  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st

from chatkit.bulk import rendering
from chatkit.bulk.changes import Change
from chatkit.bulk.journal import JournalEvent
from chatkit.bulk.matching import join_columns
from chatkit.bulk.outcomes import Row

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


@pytest.mark.parametrize("changes", [[], [created(0)], [created(0, 7), created(1)]])
def test_ids_are_whole_numbers_though_some_are_not_there_yet(changes):
    frame = result(*changes)
    assert str(frame["key"].dtype) == "Int64"
    texts = ("change", "label", "state", "reason", "evidence")
    assert {str(frame[name].dtype) for name in texts} == {"str"}


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
