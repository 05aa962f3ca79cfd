"""JSON text: what was planned is refused if it would change, what happened never is."""

from __future__ import annotations

import pytest
from bulk.journalling import created, folder  # noqa: F401
from msgspec.structs import replace

from chatkit.api.call import Call
from chatkit.api.secret import Secret
from chatkit.bulk.changes import Change, serialize_changes
from chatkit.errors import InputError


def test_changes_are_written_as_a_call_writes_its_body():
    after = {"name": "Zoë 😀", "big": 2**70, "flow_json": {"x": [1.5, None, True]}}
    ((_, text),) = serialize_changes([Change(1, "create", None, "x", {}, after)])
    call = Call("POST", ("contacts",), body=after)
    assert call.serialize_body().decode() in text


def test_what_happened_is_noted_even_if_json_cannot_hold_it(folder):
    live = {"name": "half \ud800", "odd": object, "deep": [{"x": "\udfff"}]}
    with created(folder) as journal:
        journal.write(0, "intent", attempt=1, live=live)
        journal.commit()
        [event] = journal.events()
    assert event.detail == {"attempt": 1, "live": live | {"odd": "<class 'object'>"}}


def test_a_secret_is_masked_if_somebody_passes_one(folder):
    with created(folder) as journal:
        journal.write(0, "intent", odd=Secret("tok_5f3a"))
        journal.commit()
        [event] = journal.events()
    assert "tok_5f3a" not in event.detail["odd"]


@pytest.mark.parametrize(
    ("fields", "row", "message"),
    [
        ({"after": {"name": "half \ud800"}}, 7, r"row 7, name = 'half \\ud800': holds half a char"),
        ({"before": {"name": {"x": ["\udfff"]}}}, "a", r"row 'a', name = .*: holds half a char"),
        ({"label": "\udfff"}, ("a", 1), r"row \('a', 1\), label = .*: holds half a char"),
        ({"after": {"flow_json": {"x": float("nan")}}}, 7, "row 7, flow_json = .*nan"),
        ({"after": {"tags": {"vip"}}}, 7, "row 7, tags = {'vip'}: Object of type set"),
        ({"before": {"name": "\ud800"}, "after": {"name": "x"}}, 1, r"row 1, name = '\\ud800'"),
        ({}, "half \ud800", r"row 'half \\ud800', its label = .*: holds half a char"),
    ],
)
def test_what_json_cannot_hold_is_named(fields, row, message):
    good = Change(1, "create", None, "x", {}, {"name": "Ana"})
    bad = replace(good, row=row, **fields)
    with pytest.raises(InputError, match=message) as caught:
        list(serialize_changes([good, bad, good]))
    assert len(caught.value.problems) == 1


def test_of_very_many_odd_rows_the_first_are_shown_and_all_are_counted():
    bad = [Change(n, "create", None, "x", {}, {"name": "\ud800"}) for n in range(500)]
    with pytest.raises(InputError, match="the first 20 of 500") as caught:
        list(serialize_changes(bad))
    assert [problem.field for problem in caught.value.problems] == [
        f"row {n}, name" for n in range(20)
    ]
