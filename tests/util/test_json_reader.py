"""JSON is read as it was meant, or refused with what is wrong and where."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.util.json import JsonFault, is_deeper, read_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=20,
)  # fmt: skip


@given(JSON, st.booleans())
def test_what_json_can_say_is_read_as_the_library_reads_it(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert read_json(text) == read_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", "syntax", "it is empty at line 1, column 1"),
        ('{"a": 1,\n}', "syntax", "a comma too many at line 1, column 8"),
        ('{"a": 1,\n "b" 2}', "syntax", "column 6"),
        ("{a: 1}", "syntax", "a key must stand in double quotes"),
        ('{"a": 1', "syntax", "it ends too early"),
        ("[1] 2", "syntax", "extra data at line 1, column 5"),
        (b'{"a": "\xff"}', "encoding", "it is not UTF-8 text"),
        ('{"a": 1, "b": 2, "a": 3}', "duplicate", "it has 'a' twice in one object"),
        ('[{"a": 1, "\\u0061": 1}]', "duplicate", "'a' twice"),
        ('["NaN",\n NaN]', "number", "NaN is not a JSON number at line 2, column 2"),
        ("[-Infinity]", "number", "-Infinity is not a JSON number at line 1, column 2"),
        ('["1e999", 1e999]', "number", "the number 1e999 is too large at line 1, column 11"),
        ("9" * 4301, "number", "a number has too many digits"),
        ('"\\ud83d"', "surrogate", "it holds half a character"),
        ('"\ud83d"', "surrogate", "it holds half a character"),
        ("[" * 100_000, "depth", "it is nested too deeply"),
        ("[[[[]]]]", "depth", "it is more than 3 levels deep"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str | bytes, kind: str, message: str) -> None:
    with pytest.raises(JsonFault) as caught:
        read_json(text, deepest=3)
    fault = caught.value
    assert fault.kind == kind and message in f"{fault}{fault.where}"


def test_a_caller_may_hear_of_keys_that_stand_twice_and_take_half_characters() -> None:
    heard: list[str] = []
    value = read_json('{"a": 1, "a": {"b": 1, "b": "\\ud83d"}}', on_duplicate=heard.append,
                      surrogates=True)  # fmt: skip
    assert value == {"a": {"b": "\ud83d"}} and heard == ["b", "a"]


@given(JSON)
def test_a_value_is_deeper_than_every_level_above_its_last(value: Any) -> None:
    def depth(value: Any) -> int:
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth, inner), default=0) if isinstance(value, dict | list) else 0

    assert [is_deeper(value, n) for n in range(depth(value) + 1)] == [True] * depth(value) + [False]
