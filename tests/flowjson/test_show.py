from __future__ import annotations

import json
from typing import Any

from flowjson.strangers import anything
from hypothesis import given

from chatkit.util.display import LONG, MISSING
from chatkit.util.display import format_json_pair as render_change
from chatkit.util.display import format_short_json as short


@given(anything)
def test_any_value_is_short(value: Any) -> None:
    assert len(short(value)) < 12 * LONG
    assert "\n" not in short(value)


def test_a_text_is_told_from_a_number_and_from_nothing() -> None:
    assert short("5") != short(5)
    assert short("") == '""'
    assert short(MISSING) == "(absent)" != short(None)


def test_long_values_are_named_by_what_they_are() -> None:
    form = {"type": "Form", "name": "booking", "label": "x" * 80}
    assert short(form).startswith('Form booking "xxx')
    assert short([form, form]) == "2 items"
    assert len(short({"a": "x" * 500})) <= LONG


def test_where_two_long_texts_differ_is_seen() -> None:
    before, after = ("a" * 200 + end for end in ("noon", "midnight"))
    output = render_change(before, after)
    assert all(edge.startswith("…") and "aaaa" in edge for edge in output)
    assert "noon" in output[0] and "midnight" in output[1]
    assert render_change("noon", "midnight") == [json.dumps("noon"), json.dumps("midnight")]
    assert render_change(MISSING, 1) == ["(absent)", "1"]
