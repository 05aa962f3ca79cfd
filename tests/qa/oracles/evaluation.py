"""Evaluation of expressions: the platform's arithmetic, written once more to test the player.

An empty value counts as nothing, a division by nothing is nothing, and results have two digits.
The player computes in the browser (`chatkit/widgets/static/player/expression.js`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from chatkit.flowjson.nodes import Reference, find_references, is_expression, parse_reference
from chatkit.flowjson.rules.expression import (
    COMPARISONS,
    EQUALITIES,
    JOIN,
    LOGIC,
    ExpressionStep,
    parse_expression,
)

Scope = Mapping[str, Any]


def evaluate(text: str, scope: Scope) -> Any:
    """Compute what a property shows: an expression, a reference, or a text with references.

    Args:
        text: The value of the property.
        scope: What the references read: `data`, `form` and, by id, `screen`.

    Raises:
        ExpressionError: The expression cannot be read.
    """
    if is_expression(text):
        return compute(parse_expression(text[1:-1]), scope)
    alone = parse_reference(text)
    if alone is not None:
        return look_up(alone, scope)
    parts, done = [], 0
    for reference in find_references(text):
        parts += [text[done : reference.start], written(look_up(reference, scope))]
        done = reference.end
    return "".join([*parts, text[done:]])


def holds(condition: object, scope: Scope) -> bool:
    """Return whether the condition of an If, or of `visible`, is true.

    Raises:
        ExpressionError: The condition cannot be read.
    """
    if not isinstance(condition, str):
        return bool(condition)
    text = condition[1:-1] if is_expression(condition) else condition
    return bool(compute(parse_expression(text), scope))


def look_up(reference: Reference, scope: Scope) -> Any:
    """Read what a reference leads to; None when there is nothing."""
    value: Any = scope
    if reference.screen is not None:
        screens = scope.get("screen")
        value = screens.get(reference.screen) if isinstance(screens, Mapping) else None
    for step in (reference.store, *reference.path):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def written(value: Any) -> str:
    """Write a value as it stands in a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, float) and math.isnan(value):
        return "NaN"  # as a phone writes it
    return "" if value is None else str(value)


def compute(steps: Iterable[ExpressionStep], scope: Scope) -> Any:
    """Compute the value of what `parse_expression` gave."""
    stack: list[Any] = []
    for step in steps:
        if step.kind == "value":
            stack.append(step.value)
        elif step.kind == "reference":
            stack.append(look_up(step.value, scope))
        elif step.kind == "unary":
            value = stack.pop()
            if step.value == "not":
                stack.append(not value)
            else:
                stack.append(-_number(value) if step.value == "minus" else value)
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(_computed(step.value, left, right))
    return stack[-1]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: object) -> float:
    if isinstance(value, int | float):
        return value
    try:
        return float(value) if isinstance(value, str) and value.strip() else 0
    except ValueError:
        return math.nan


def _computed(operator: str, left: Any, right: Any) -> Any:
    if operator == JOIN:
        return written(left) + written(right)
    if operator in LOGIC:
        return bool(left) and bool(right) if operator == "&&" else bool(left) or bool(right)
    nothing = left in (None, "") or right in (None, "")
    numbers = _is_number(left) or _is_number(right)
    if operator in EQUALITIES:
        if nothing:
            same = left in (None, "") and right in (None, "")
        else:
            same = _number(left) == _number(right) if numbers else left == right
        return same is (operator == "==")
    a, b = _number(left), _number(right)
    if operator in COMPARISONS:
        order = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
        return numbers and not nothing and order[operator]
    return _rounded(_sum(operator, a, b))


def _sum(operator: str, a: float, b: float) -> float:
    try:
        match operator:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                return a / b if b else 0
        return math.fmod(a, b) if b else 0
    except (OverflowError, ValueError):
        return math.nan


def _rounded(value: float) -> float:
    """Round to two digits, as the platform does; a whole number has none."""
    if isinstance(value, int) or not math.isfinite(value):
        return value
    value = math.floor(value * 100 + 0.5) / 100
    return int(value) if value.is_integer() else value
