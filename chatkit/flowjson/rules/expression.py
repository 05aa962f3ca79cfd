"""Expressions in backticks and the conditions of If: whether they can be read, and fit.

The language itself is in `formula`, what an expression comes to in `evaluation`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatkit.flowjson.components import COMPONENTS
from chatkit.flowjson.finding import Finding, Severity
from chatkit.flowjson.outline import Action, Binding, Component, Outline, Screen
from chatkit.flowjson.rules.evaluation import evaluate, holds
from chatkit.flowjson.rules.formula import (
    COMPARISONS,
    EQUALITIES,
    JOIN,
    MATHS,
    ExpressionError,
    Step,
    parse,
    typed,
)
from chatkit.flowjson.rules.reference import too_early
from chatkit.flowjson.rules.target import Reference, is_expression, named, resolve

__all__ = ["ExpressionError", "check", "evaluate", "holds", "parse", "result"]

SINCE = (6, 0)
_LATER = ("init-value", "init-values", "error-message", "error-messages")
_OPERATOR = re.compile(r"'(?:[^'\\]|\\.)*'|\$\{[^{}]*\}|(==|!=|<=|>=|&&|\|\||[<>!()])", re.DOTALL)
_LEADING = re.compile(r"0[0-9]")
_HINT = "Texts stand in single quotes; && || ! == != < <= > >= + - * / % and brackets are known."


def check(outline: Outline) -> Iterator[Finding]:
    """Find expressions and conditions that cannot be read, or do not fit their place."""
    for component in outline.components:
        if component.type == "If":
            yield from _condition(outline, component)
    for binding in outline.bindings:
        owner = binding.owner
        asked = (owner.type, binding.property) == ("If", "condition")
        if asked or binding.property in ("type", "name") or not is_expression(binding.text):
            continue
        if outline.version < SINCE:
            yield Finding(
                "INVALID_PROPERTY_VALUE",
                "warning",
                binding.pointer,
                "Expressions in backticks are known from version 6.0: this is shown as it stands.",
                "Raise the version of the flow.",
            )
            continue
        yield from _expression(outline, binding)


def result(outline: Outline, screen: Screen, text: str) -> frozenset[str]:
    """Tell the JSON type an expression comes to; empty when it is not known or not readable."""
    try:
        steps = parse(text[1:-1])
    except ExpressionError:
        return frozenset()
    return typed(steps, lambda each: resolve(outline, screen, each).types)[0]


def _read(
    outline: Outline, screen: Screen, text: str, pointer: str
) -> tuple[tuple[Step, ...], frozenset[str], list[tuple[Severity, str]]]:
    """Read an expression: its steps, its type, and what is wrong with it."""
    wrong: list[tuple[Severity, str]] = []

    def types(reference: Reference) -> frozenset[str]:
        if reference.screen is not None and outline.version < (4, 0):
            wrong.append(("error", too_early(reference, pointer, "error").message.rstrip(".")))
            return frozenset()
        target = resolve(outline, screen, reference)
        if target.problem:
            wrong.append(("error", f"{reference.text} leads nowhere: {target.problem}"))
        return target.types

    try:
        steps = parse(text)
    except ExpressionError as error:
        where = f", at character {error.at + 1} of it"
        return (), frozenset(), [("error", f"The expression cannot be read: {error}{where}")]
    found, doubts = typed(steps, types)
    wrong += [("error" if kind == "wrong" else "warning", said) for kind, said, _ in doubts]
    return steps, found, wrong


def _expression(outline: Outline, binding: Binding) -> Iterator[Finding]:
    owner, action = binding.owner, binding.action
    _, found, wrong = _read(outline, owner.screen, binding.text[1:-1], binding.pointer)
    code, worst = "INVALID_PROPERTY_VALUE", _weight(outline, binding)
    if action is not None and binding.pointer.startswith(f"{action.pointer}/payload/"):
        code, worst = "INVALID_ACTION_PAYLOAD_PROPERTY", _payload_weight(outline, action)
    for severity, said in dict.fromkeys(wrong):
        weight: Severity = "warning" if severity == "warning" else worst
        yield Finding(code, weight, binding.pointer, f"{_started(said)}.", _HINT)
    declared = COMPONENTS.get(owner.type or "")
    prop = declared.property(binding.property) if declared is not None else None
    if wrong or prop is None or not binding.direct or not found:
        return
    wanted = frozenset(prop.json_types(outline.version))
    if prop.kind != "reference" and found.isdisjoint(wanted):
        yield Finding(
            "INVALID_PROPERTY_VALUE",
            "warning" if "string" in wanted else worst,
            binding.pointer,
            f"The expression comes to a {named(found)}, {binding.property} takes {named(wanted)}.",
            "Put a text beside it to make it one." if "string" in wanted else "Compare something.",
        )


def _weight(outline: Outline, binding: Binding) -> Severity:
    """Say what a wrong expression costs: the platform looks at whole properties only."""
    return "error" if binding.direct and binding.property not in _LATER else "warning"


def _payload_weight(outline: Outline, action: Action) -> Severity:
    since = SINCE if action.name in ("navigate", "update_data") else (7, 2)
    return "error" if outline.version >= since else "warning"


def _started(said: str) -> str:
    return said[:1].upper() + said[1:]


def _condition(outline: Outline, component: Component) -> Iterator[Finding]:
    """Check what an If asks, in backticks or without."""
    text = component.value.get("condition")
    if not isinstance(text, str):
        return
    pointer = f"{component.pointer}/condition"
    backticks = is_expression(text) and outline.version >= SINCE
    asked = text[1:-1] if backticks else text
    steps, found, wrong = _read(outline, component.screen, asked, pointer)
    said = [each for severity, each in wrong if severity == "error"]
    doubts = [each for severity, each in wrong if severity == "warning"]
    if steps and not said:
        said = [] if backticks else list(_plain(steps, asked))
        if not any(step.kind == "reference" for step in steps):
            said = ["It asks nothing: no ${…} stands in it"]
        elif found and "boolean" not in found:
            said.append(f"It comes to a {named(found)}, not to true or false")
        doubts += [] if backticks else list(_mixed(asked))
    for each in said:
        yield _asked("error", pointer, each)
    for each in doubts:
        yield _asked("warning", pointer, each)


def _asked(severity: Severity, pointer: str, said: str) -> Finding:
    hint = "Compare a reference with something, for example ${data.kind} == 'gold'."
    return Finding("INVALID_PROPERTY_VALUE", severity, pointer, f"{_started(said)}.", hint)


def _plain(steps: tuple[Step, ...], text: str) -> Iterator[str]:
    """Find what a condition without backticks may not hold."""
    literal: list[bool] = []
    for step in steps:
        if step.kind == "value" and text[step.at] == '"':
            yield f"a text stands in single quotes, at character {step.at + 1}"
        if step.kind == "value" and _LEADING.match(text, step.at):
            yield f"a number has leading zeros, at character {step.at + 1}"
        if step.kind == "unary":
            if step.value == "plus" or (step.value == "minus" and not literal[-1]):
                yield f"- and + do not stand in a condition, at character {step.at + 1}"
        elif step.kind == "binary":
            right, left = literal.pop(), literal.pop()
            if step.value == JOIN:
                yield f"an operator is missing before character {step.at + 1}"
            elif step.value in MATHS:
                yield f"{step.value} does not stand in a condition without backticks"
            elif left and right:
                yield f"{step.value} has a fixed value on both sides"
            literal.append(False)
        else:
            literal.append(step.kind == "value")


def _mixed(text: str) -> Iterator[str]:
    """Find comparisons beside another operator without brackets, which the platform dislikes."""
    before = "("
    for match in _OPERATOR.finditer(text):
        operator = match[1]
        if operator is None:
            continue
        compared = EQUALITIES | COMPARISONS
        brackets = ("(", ")")
        if before not in brackets and operator not in brackets and {before, operator} & compared:
            yield f"put brackets around each comparison: {before} stands beside {operator}"
            return
        before = operator
