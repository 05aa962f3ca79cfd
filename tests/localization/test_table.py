"""Tables: the frames that are made here, and frames of contents with other cells and rows."""

from __future__ import annotations

import pandas as pd
import pytest
from localization.contents import content, demo, frame  # noqa: F401

from chatkit.localization.checks import Length
from chatkit.localization.table import (
    apply_edits,
    make_attribute_frame,
    make_frame,
    make_states_frame,
)


def test_numbers_are_numbers_and_all_else_is_text():
    table = make_attribute_frame([Length("01", 5, 1024)], ("field", "characters", "share"))
    assert [str(dtype) for dtype in table.dtypes] == ["str", "int64", "float64"]
    assert table.to_dict("list") == {"field": ["01"], "characters": [5], "share": [5 / 1024]}
    assert make_frame([], ("template_code", "limit")).limit.dtype == "int64"
    assert make_frame([["\ud800"]], ("text",)).text[0] == "⟨U+D800⟩"


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


def test_only_edited_cells_and_new_rows_differ(demo):
    same = apply_edits(demo, {}, [])
    pd.testing.assert_frame_equal(same, demo)
    assert same.attrs == demo.attrs != {}
    before = demo.copy(deep=True)
    new = {"template_code": "order_ready", "lang_code": "it", "text": "Ciao", "is_draft": True}
    result = apply_edits(demo, {1: {"text": "Neu", "buttons": [{"label": "x"}]}}, [new])
    pd.testing.assert_frame_equal(demo, before)
    assert result.index.tolist() == [*demo.index.tolist(), ("order_ready", "it")]
    assert result.index.names == demo.index.names
    assert (result.text.iloc[1], result.buttons.iloc[1]) == ("Neu", [{"label": "x"}])
    row = result.iloc[-1]
    assert (row.text, row.is_draft) == ("Ciao", True)
    assert pd.isna(row.id) and pd.isna(row.validity_period_seconds) and row.buttons is None
    assert result.dtypes.equals(demo.dtypes)
    rest = [n for n in range(len(demo)) if n != 1]
    pd.testing.assert_frame_equal(result.iloc[rest], demo.iloc[rest])
