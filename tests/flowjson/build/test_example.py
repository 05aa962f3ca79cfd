"""A field of a data model told by an example."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.errors import InputError
from chatkit.flowjson import Flow, Screen, example
from chatkit.flowjson.build.piece import data_schema
from chatkit.flowjson.lint import lint

values = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.builds(lambda value, n: [value] * n, inner, st.integers(1, 3))
        | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("value", "kind"),
    [("a", "string"), (1, "number"), (1.5, "number"), (True, "boolean"), ({}, "object")],
)
def test_the_type_follows_from_the_example(value: object, kind: str) -> None:
    field = example(value)
    assert field["type"] == kind and field["__example__"] is value


def test_options_may_lack_what_others_have() -> None:
    options = [{"id": "1", "title": "One"}, {"id": "2", "title": "Two", "enabled": False}]
    assert example(options)["items"]["properties"] == {
        "id": {"type": "string"},
        "title": {"type": "string"},
        "enabled": {"type": "boolean"},
    }


@pytest.mark.parametrize("value", [None, [], {"a": None}, [[]], object()])
def test_what_tells_no_type_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="cannot be an example of a field"):
        example(value)


@given(values)
def test_each_part_is_described(value: object) -> None:
    field = example(value)
    assert field == {**data_schema(value), "__example__": value}


def test_the_platform_takes_what_an_example_declares() -> None:
    data = {"who": example("Ann"), "many": example([{"id": "1", "title": "One"}])}
    flow = Flow([Screen("A", "A", [], data=data)])
    assert not [
        result for result in lint(flow).errors if result.pointer.startswith("/screens/0/data")
    ]
