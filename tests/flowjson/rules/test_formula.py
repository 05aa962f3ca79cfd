from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from screens import alone, field

from chatkit.flowjson.nodes import read_nodes
from chatkit.flowjson.rules.expression import ExpressionError, infer_expression_types, infer_types
from chatkit.flowjson.rules.expression import parse_expression as parse

TYPES = {"text": "string", "count": "number", "flag": "boolean", "list": "array"}


def kind(text: str) -> tuple[str, list[str]]:
    """Return the type of an expression, and its doubtful parts."""
    result, unknowns = infer_types(
        parse(text), lambda each: frozenset({TYPES[each.path[0]]} if each.path[0] in TYPES else ())
    )
    return "/".join(sorted(result)), [each for each, _ in unknowns]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${data.count} + 1", "number"),
        ("1 + 2 * 3 - -4", "number"),
        ("${data.count} >= 18", "boolean"),
        ("${data.text} == 'a'", "boolean"),
        ("(${data.count} > 18) && ${data.flag}", "boolean"),
        ("!${data.flag} || false", "boolean"),
        ("'Hello ' ${data.text}", "string"),
        ("'You are ' ${data.count} ' years old'", "string"),
        ("'A third: ' ${data.count} / 3", "string"),
        ("'sum ' (${data.count} + 1)", "string"),
        ("('sum ' ${data.count}) '!'", "string"),
        ("${data.unknown}", ""),
        ("${data.unknown} == 1", "boolean"),
        ("1 == ${data.unknown}", "boolean"),
        (r"'it\'s'", "string"),
        ("'Ana`s'", "string"),
        ('"it" == ${data.text}', "boolean"),
    ],
)
def test_an_expression_has_a_type(text: str, expected: str) -> None:
    assert kind(text) == (expected, [])


@pytest.mark.parametrize(
    ("text", "comes_to"),
    [
        ("${data.text} > 3", "boolean"),
        ("${data.text} == 3", "boolean"),
        ("${data.count} && true", "boolean"),
        ("true || ${data.count}", "boolean"),
        ("!${data.text}", "boolean"),
        ("-${data.text}", "number"),
        ("${data.text} * 2", "number"),
        ("${data.list} == 'a'", "boolean"),
        ("'a' - 'b'", "number"),
        ("${data.flag} + 1", "number"),
        ("${data.count} + ${data.list}", "number"),
    ],
)
def test_an_operator_does_not_take_another_type(text: str, comes_to: str) -> None:
    assert kind(text) == (comes_to, ["error"])


def test_texts_joined_by_plus_are_a_doubt() -> None:
    assert kind("'a' + ${data.text} + 'b'")[1] == ["warning", "warning"]
    assert kind("'a' + ${data.count}") == kind("${data.count} + 'a'") == ("", ["warning"])


def test_a_remainder_of_something_else_than_numbers_is_a_doubt() -> None:
    assert kind("${data.text} % 2") == kind("2 % ${data.flag}") == ("number", ["warning"])


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "()", "(1", "1)", "1 +", "+", "== 1", "&& true", "1 + * 2", "!", "((1)"),
        *("'open", "${data.x", "${nope}", "${data.x y}", "name", "null", "1 = 2", "1 ? 2 : 3"),
        *("a.b", "1 & 2", "[1]", "1.", "12abc", "{}", "`1`", "a()", '"open'),
    ],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)


def test_the_place_of_a_fault_is_told() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("${data.x} == foo")
    assert caught.value.at == 13


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("()", "the brackets are empty"),
        ("(* 2)", "* has nothing before it"),
        (")", ") has nothing before it"),
        ("(1 + )", ") has nothing before it"),
        ("1 + 2)", "a closing bracket has no opening one"),
        ("((1)", "an opening bracket has no closing one"),
        ("!", "! has nothing after it"),
        ("- ", "- has nothing after it"),
        ("1 = 2", "= compares nothing: write =="),
        (" name", "name is not known: put text in single quotes"),
        ("${nope}", "${nope} is not a reference"),
        ("1 'open", "a text has no closing quote"),
    ],
)
def test_what_is_wrong_is_told(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert str(caught.value) == message


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
    assert kind("!" * 10_001 + "${data.flag}") == ("boolean", [])


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
