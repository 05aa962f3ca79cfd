"""References in texts, and the conditions of an If."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.flows.references import (
    Reference,
    condition_problem,
    is_expression,
    references,
    whole,
)

TYPES = {"${data.n}": "number", "${data.s}": "string", "${data.b}": "boolean"}


def test_references_are_taken_apart() -> None:
    assert list(references("a ${data.x.y} b ${screen.ASK.form.z}")) == [
        Reference("${data.x.y}", None, "data", ("x", "y")),
        Reference("${screen.ASK.form.z}", "ASK", "form", ("z",)),
    ]


def test_what_means_to_be_a_reference_and_is_none_has_no_scope() -> None:
    assert [one.scope for one in references("${data.a + 1} ${form.} ${price}")] == ["", ""]


def test_a_reference_can_be_the_whole_value() -> None:
    assert whole("${data.x}") == Reference("${data.x}", None, "data", ("x",))
    assert whole("${data.x} ") is None
    assert whole("${x}") is None


def test_expressions_stand_in_backticks_since_6() -> None:
    assert is_expression("`${data.x} + 1`", "6.0")
    assert not is_expression("`${data.x} + 1`", "5.1")
    assert not is_expression("`", "7.3")


@pytest.mark.parametrize(
    "condition",
    [
        "${data.b}",
        "!${data.b}",
        "((${data.b}))",
        "${data.n} > 5 && (${data.s} == 'it\\'s' || !${data.b})",
        "${data.n} >= -1.5",
        "${data.unknown} != true",
        "(${data.n} > 1) == true",
    ],
)
def test_conditions_that_hold(condition: str) -> None:
    assert condition_problem(condition, TYPES.get) is None


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("", "an operand is missing"),
        ("()", ") cannot stand at column 2"),
        ("573 == 376", "both sides of == are literals"),
        ("${data.b} && true || false == true", "both sides of || are literals"),
        ("true", "at least one operand must be a reference"),
        ("${data.s}", "a single operand must be a boolean"),
        ("${data.n} == 'x'", "== compares number with string"),
        ("${data.n} >", "an operand is missing"),
        ("(${data.b}", "a closing parenthesis is missing"),
        ("${data.b})", "a closing parenthesis has no opening one"),
        ("${data.b} ${data.b}", "${data.b} cannot stand at column 10"),
        ("${data.n} > 007", "unexpected character at column 12"),
        ("${data.s} == 'open", "unexpected character at column 13"),
        ("${data.n} = 1", "unexpected character at column 10"),
    ],
)
def test_conditions_that_do_not(condition: str, problem: str) -> None:
    assert condition_problem(condition, TYPES.get) == problem


@given(st.text(alphabet="${}data.x'()!&|=<> 01true\\`", max_size=40))
def test_any_condition_is_judged(condition: str) -> None:
    condition_problem(condition, TYPES.get)
