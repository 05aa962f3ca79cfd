"""A frame with other cells and more rows keeps its dtypes, its memory and everything else."""

import pandas as pd
from localization.contents import DEMO, demo  # noqa: F401

from chatkit.localization.table import apply_edits


def test_nothing_to_do_is_the_same_frame(demo):
    result = apply_edits(demo, {}, [])
    pd.testing.assert_frame_equal(result, demo)
    assert result.attrs == demo.attrs != {}


def test_a_cell_changes_and_the_frame_that_was_given_does_not(demo):
    before = demo.text.iloc[1]
    result = apply_edits(demo, {1: {"text": "Neu", "buttons": [{"label": "x"}]}}, [])
    assert result.text.iloc[1] == "Neu"
    assert result.buttons.iloc[1] == [{"label": "x"}]
    assert demo.text.iloc[1] == before
    assert result.dtypes.equals(demo.dtypes)
    rest = [n for n in range(len(demo)) if n != 1]
    pd.testing.assert_frame_equal(result.iloc[rest], demo.iloc[rest])


def test_new_rows_come_last_with_their_labels_and_nothing_where_they_say_nothing(demo):
    new = {"template_code": "order_ready", "lang_code": "it", "text": "Ciao", "is_draft": True}
    result = apply_edits(demo, {}, [new])
    assert result.index.tolist() == [*demo.index.tolist(), ("order_ready", "it")]
    assert result.index.names == demo.index.names
    row = result.iloc[-1]
    assert (row.text, row.is_draft) == ("Ciao", True)
    assert pd.isna(row.id) and pd.isna(row.validity_period_seconds) and row.buttons is None
    assert result.dtypes.equals(demo.dtypes)
    pd.testing.assert_frame_equal(result.iloc[:-1], demo)
