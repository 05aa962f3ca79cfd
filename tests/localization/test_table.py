from __future__ import annotations

import pandas as pd
import pytest
from localization.contents import content, frame

from chatkit.localization.checks import Length
from chatkit.localization.table import (
    apply_edits,
    make_attribute_frame,
    make_frame,
    make_states_frame,
)


def test_numbers_are_numbers_and_all_else_is_text():
    rows = [Length("01", 5, 1024)]
    table = make_attribute_frame(rows, ("field", "characters", "share"))
    assert list(table.columns) == ["field", "characters", "share"]
    assert table.field.dtype == "str"
    assert table.characters.dtype == "int64"
    assert table.share.iloc[0] == 5 / 1024
    assert make_frame([], ("template_code", "limit")).limit.dtype == "int64"


def test_states_have_a_row_for_each_template_and_a_column_for_each_language():
    states = {("a", "en"): "live", ("a", "de"): "missing"}
    table = make_states_frame(states, ["a"], ["en", "de"])
    assert table.loc["a"].to_dict() == {"en": "live", "de": "missing"}
    assert (table.index.name, table.columns.name) == ("template_code", "lang_code")
    assert make_states_frame({}, [], []).empty


@pytest.mark.parametrize("keys", [["template_code", "lang_code"], ["lang_code"], ["row"], []])
def test_a_frame_whose_cells_change_keeps_its_index_as_it_is(keys):
    values = frame(content(), content(lang_code="de")).reset_index().assign(row=["first", "second"])
    values = values.set_index(keys) if keys else values
    changed = apply_edits(values, {1: {"text": "Hallo"}}, [])
    assert changed.text.tolist() == [values.text.iloc[0], "Hallo"]
    pd.testing.assert_index_equal(changed.index, values.index, exact=True)
