from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.evaluation import evaluate, holds

from chatkit.flowjson.rules.expression import ExpressionError

SCOPE = {
    "data": {"name": "Ana", "count": 3, "flag": True, "person": {"age": 40}, "empty": ""},
    "form": {"age": "21", "accept": False},
    "screen": {"ASK": {"form": {"colour": "red"}}},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("${data.count}", 3),
        ("${data.person.age}", 40),
        ("${screen.ASK.form.colour}", "red"),
        ("${data.nope}", None),
        ("${screen.NO.form.x}", None),
        ("${data.name.more}", None),
        ("Hello ${data.name}, ${form.age}!", "Hello Ana, 21!"),
        ("Is it ${data.flag}?", "Is it true?"),
        ("`'Hello ' ${data.name}`", "Hello Ana"),
        ("`${data.name} ' is ' ${data.person.age}`", "Ana is 40"),
        ("`'A third: ' ${data.count} / 2`", "A third: 1.5"),
        ("`(${data.count} + 1) * 2`", 8),
        ("`10 / 3`", 3.33),
        ("`7 % 4`", 3),
        ("`-7 % 4`", -3),
        ("`1 / 0`", 0),
        ("`1 % ${data.nope}`", 0),
        ("`${form.age} + 1`", 22),
        ("`${data.nope} + 1`", 1),
        ("`1 - -1`", 2),
        ("`+${data.count}`", 3),
        ("`${form.age} > 18`", True),
        ("`${data.nope} > 18`", False),
        ("`${data.name} > 'A'`", False),
        ("`${form.age} == 21`", True),
        ("`${data.name} == 'Ana'`", True),
        ("`${data.name} != 'Ana'`", False),
        ("`${data.nope} == ''`", True),
        ("`${data.empty} == 'a'`", False),
        ("`!${data.flag}`", False),
        ("`${data.flag} && ${form.accept}`", False),
        ("`${data.flag} || ${form.accept}`", True),
        ("`true && (1 < 2)`", True),
        (r"`'it\'s'`", "it's"),
    ],
)
def test_a_property_comes_to_what_it_shows(text: str, expected: Any) -> None:
    assert evaluate(text, SCOPE) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (True, True),
        (False, False),
        ("${data.flag}", True),
        ("${form.accept}", False),
        ("${data.name} == 'Ana'", True),
        ("`${data.count} >= 4`", False),
        ("(${data.count} > 1) && !${form.accept}", True),
        ("${data.nope}", False),
    ],
)
def test_a_condition_holds_or_not(condition: object, expected: bool) -> None:
    assert holds(condition, SCOPE) is expected


def test_what_cannot_be_read_is_said() -> None:
    with pytest.raises(ExpressionError, match="nothing after it"):
        evaluate("`1 +`", SCOPE)


def test_a_scope_of_another_shape_gives_nothing() -> None:
    assert evaluate("${data.x}", {}) is None
    assert evaluate("${screen.A.data.x}", {"screen": 5}) is None


VALUE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@given(
    VALUE,
    VALUE,
    st.sampled_from(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]),
)
def test_every_operator_takes_any_values(left: Any, right: Any, operator: str) -> None:
    scope = {"data": {"a": left, "b": right}}
    result = evaluate(f"`${{data.a}} {operator} ${{data.b}}`", scope)
    assert isinstance(result, bool) is (operator not in "+-*/%")
    assert isinstance(evaluate("`${data.a} ${data.b}`", scope), str)
