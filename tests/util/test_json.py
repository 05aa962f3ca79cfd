from __future__ import annotations

from typing import Any

import pytest
from flowjson.strangers import anything, booking, places
from hypothesis import given
from hypothesis import strategies as st

from chatkit.util.json import escape_key, get_value, split_pointer


def test_a_key_is_escaped_as_a_step_of_a_pointer() -> None:
    assert escape_key("a/b~c") == "a~1b~0c"


@given(anything)
def test_each_place_is_found_again_by_its_pointer(value: Any) -> None:
    for way in places(value):
        pointer = "".join(f"/{escape_key(step)}" for step in way)
        inner = value
        for step in way:
            inner = inner[step]
        assert get_value(value, pointer) is inner or get_value(value, pointer) == inner
        assert split_pointer(pointer) == list(map(str, way))


@given(st.sampled_from(["/a", "/screens/9", "/screens/x", "/version/0"]))
def test_a_pointer_to_nothing_is_a_lookup_error(pointer: str) -> None:
    with pytest.raises(LookupError):
        get_value(booking(), pointer)
