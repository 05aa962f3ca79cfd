"""A change as a value: it survives the way to a file and back."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.bulk.changes import Change, label_from_json, label_to_json

LABELS = st.recursive(
    st.none()
    | st.booleans()
    | st.text()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda parts: st.lists(parts, max_size=3).map(tuple),
    max_leaves=4,
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.text()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
    max_leaves=6,
)
FIELDS = st.dictionaries(st.text(), VALUES, max_size=3)
CHANGES = st.builds(
    Change,
    row=LABELS,
    kind=st.sampled_from(["create", "update", "delete"]),
    key=st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    label=st.text(),
    before=FIELDS,
    after=FIELDS,
    code=st.none() | st.text(),
    undo=st.sampled_from(["exactly", "not exactly", "never"]),
    loss=st.text(),
    seen=st.none() | st.text(),
)


@given(CHANGES)
def test_a_change_comes_back_from_json_as_it_was(change):
    assert Change.from_json(json.loads(json.dumps(change.as_json()))) == change


@pytest.mark.parametrize(
    ("row", "written"),
    [
        (np.int64(7), 7),
        (np.float64(1.5), 1.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        ((np.int64(7), ("a", None)), [7, ["a", None]]),
        (pd.Timestamp("2026-01-05", tz="UTC"), "2026-01-05 00:00:00+00:00"),
        (pd.NA, "<NA>"),
    ],
)
def test_labels_of_pandas_and_numpy_are_written_plainly(row, written):
    assert label_to_json(row) == written
    json.dumps(label_to_json(row), allow_nan=False)


def test_labels_of_several_levels_come_back_as_tuples():
    assert label_from_json(label_to_json(("order_ready", ("en", 1)))) == ("order_ready", ("en", 1))
