"""Expressions are read by rank and from the left; what each comes to is in `cases/lines`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from screens import alone, field

from chatkit.flowjson.nodes import read_nodes
from chatkit.flowjson.rules.expression import ExpressionError, infer_expression_types, infer_types
from chatkit.flowjson.rules.expression import parse_expression as parse


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_no_expression(text: str) -> None:
    with pytest.raises(ExpressionError, match="empty"):
        parse(text)


def test_a_text_is_read_without_its_quotes_and_escapes() -> None:
    assert [parse(text)[0].value for text in (r"'it\'s'", '"it"', "''")] == ["it's", "it", ""]


LEVELS = [("",), ("||",), ("&&",), ("==", "!="), ("<", ">="), ("+", "-"), ("*", "/", "%")]


def steps(text: str) -> list[tuple[object, object]]:
    return [(step.kind, step.value) for step in parse(text)]


@pytest.mark.parametrize("weaker", range(len(LEVELS) - 1))
def test_operators_bind_as_usual(weaker: int) -> None:
    for low, high in zip(LEVELS[weaker] * 3, LEVELS[weaker + 1] * 3, strict=False):
        assert steps(f"1 {low} 2 {high} 3") == steps(f"1 {low} (2 {high} 3)")
        assert steps(f"1 {high} 2 {low} 3") == steps(f"(1 {high} 2) {low} 3")


@pytest.mark.parametrize("operators", LEVELS)
def test_operators_of_one_rank_are_computed_from_the_left(operators: tuple[str, ...]) -> None:
    for one, other in zip(operators, reversed(operators), strict=True):
        assert steps(f"1 {one} 2 {other} 3") == steps(f"(1 {one} 2) {other} 3")


def test_a_sign_binds_closest() -> None:
    assert steps("-1 * !2 == +3") == steps("((-1) * (!2)) == (+3)")


def test_a_fixed_value_is_read() -> None:
    values = [parse(text)[0].value for text in ("true", "false", "12", "1.5", "9" * 5000)]
    assert [repr(each) for each in values] == ["True", "False", "12", "1.5", "inf"]


def test_ten_thousand_brackets_are_read() -> None:
    assert len(parse("(" * 10_000 + "1" + ")" * 10_000)) == 1
    types, _ = infer_types(parse("!" * 10_001 + "true"), lambda _: frozenset())
    assert types == {"boolean"}


@given(st.text(alphabet="${}data.form'`\\ ()!&|=<>+-*/%0123abtrue", max_size=30) | st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        steps = parse(text)
    except ExpressionError as error:
        assert 0 <= error.at <= len(text)
    else:
        infer_types(steps, lambda _: frozenset())
        assert steps


def test_the_result_of_an_expression_has_a_type() -> None:
    flow = read_nodes(alone(data={"count": field("number", 3)}))
    assert infer_expression_types(flow, flow.screens[0], "`${data.count} > 1`") == {"boolean"}
    assert infer_expression_types(flow, flow.screens[0], "`${data.count} >`") == frozenset()
