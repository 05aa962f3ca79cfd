from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chatkit.widgets.controls import Code, call_code, python_literal

texts = st.text(st.characters())
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=10,
)


@given(values)
def test_what_is_written_is_python_for_the_same_value(value: Any) -> None:
    assert eval(python_literal(value)) == value


@given(texts)
def test_nothing_invisible_is_written(text: str) -> None:
    assert python_literal(text).isprintable()


@given(st.lists(values, max_size=2), st.dictionaries(st.sampled_from(["a", "b", "c"]), values))
def test_a_call_that_is_run_passes_what_was_written(
    arguments: list[Any], fields: dict[str, Any]
) -> None:
    passed = eval(call_code("heard", *arguments, **fields), {"heard": lambda *a, **f: (list(a), f)})
    assert passed == (arguments, fields)


def test_texts_stand_between_double_quotes_as_people_write_them() -> None:
    assert python_literal("Ana's") == '"Ana\'s"'
    assert python_literal('6"') == "'6\"'"
    assert python_literal({"1": ["a", None]}) == '{"1": ["a", None]}'


def test_a_long_call_has_an_argument_on_each_line() -> None:
    line = call_code("client.contacts.create", number="2025550142", name="x" * 60)
    assert line.splitlines() == [
        "client.contacts.create(",
        '    number="2025550142",',
        f'    name="{"x" * 60}",',
        ")",
    ]
    assert call_code("f", a=1) == "f(a=1)"


def test_its_text_form_is_the_code() -> None:
    assert repr(Code("f()")) == "f()"
