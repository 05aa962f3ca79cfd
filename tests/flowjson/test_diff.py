from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from displayed import html_of
from flowjson.strangers import EVIL, anything, booking, crooked
from hypothesis import given, settings
from volume import volume

from chatkit.errors import InputError
from chatkit.flowjson.diff import Diff, diff
from chatkit.report import MANY


def edited() -> dict[str, Any]:
    after = booking()
    after["screens"][0]["title"] = "Good evening"
    after["screens"][0]["layout"]["children"].insert(0, {"type": "TextBody", "text": "New"})
    after["routing_model"]["START"].remove("HELP")
    return after


def test_a_diff_reads_as_a_list_of_what_was_done() -> None:
    assert repr(diff(booking(), edited())) == (
        "3 differences: 1 route removed, 1 text changed, 1 component added\n"
        "  - route removed: routing_model › START › HELP\n"
        '      "HELP"\n'
        "  ~ text changed: screen START › title\n"
        '      "Welcome" → "Good evening"\n'
        '  + component added: screen START › TextBody "New"\n'
        '      {"type": "TextBody", "text": "New"}'
    )


def test_a_diff_is_a_sequence_and_false_without_differences(tmp_path: Path) -> None:
    file = tmp_path / "booking.json"
    file.write_text(json.dumps(booking(), indent=4, sort_keys=True))
    nothing = diff(file, json.dumps(booking()))
    assert not nothing and list(nothing) == [] and isinstance(nothing, Diff)
    assert repr(nothing) == "No difference: both documents mean the same."
    result = diff(booking(), edited())
    assert [one.kind for one in result[1:]] == ["text changed", "component added"]
    assert result[-1].pointer_a is None and result[-1].pointer_b == "/screens/0/layout/children/0"


def test_the_frame_has_a_row_for_each_difference() -> None:
    frame = diff(booking(), edited()).frame()
    assert list(frame.columns) == ["kind", "where", "pointer_a", "pointer_b", "before", "after"]
    assert frame.kind.tolist() == ["route removed", "text changed", "component added"]
    assert frame.pointer_b.isna().tolist() == [True, False, False]
    assert frame.before.tolist() == ["HELP", "Welcome", None]
    assert len(diff(booking(), booking()).frame()) == 0


def test_names_from_strangers_are_no_markup() -> None:
    after = booking()
    after["screens"][0]["id"] = after["screens"][0]["title"] = EVIL
    after[EVIL] = {EVIL: EVIL}
    html = html_of(diff(booking(), after))
    assert "<img" not in html and "\u202e" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert "\u202e" not in repr(diff(booking(), after))


def test_very_many_differences_are_cut_and_the_frame_has_all() -> None:
    after = booking()
    after["screens"][1]["data"] |= {f"field_{n}": {} for n in range(MANY + 5)}
    result = diff(booking(), after)
    assert len(result) == len(result.frame()) == MANY + 5
    assert "… and 5 more" in repr(result) and "… and 5 more" in html_of(result)


@settings(max_examples=volume(16, 400))
@given(crooked | anything, crooked)
def test_whatever_is_json_is_compared_and_shown_or_refused(a: Any, b: Any) -> None:
    try:
        result = diff(a, b)
    except InputError:
        assert not isinstance(a, dict)
        return
    assert repr(result) == repr(diff(a, b))
    html = html_of(result)  # of many differences there are two tables
    assert html.count("<tr>") - html.count("<thead>") == len(result)
    assert len(result.frame()) == len(result)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(InputError, match="not valid JSON"):
        diff(booking(), '{"version": ')
