"""Expressions in backticks and the conditions of If: their language, their types, their faults.

`parse` turns a text into steps in the order in which they are computed (operands first), so
that neither reading nor computing recurses, however deep a stranger nests the brackets.
`typed` computes with types, and `check` tells what is wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from chatkit.flowjson.nodes import (
    Binding,
    ComponentNode,
    FlowNode,
    Reference,
    ScreenNode,
    is_expression,
    named,
    resolve,
    whole,
)
from chatkit.flowjson.rules import rule
from chatkit.flowjson.rules.reference import too_early
from chatkit.report import Finding, Severity

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<reference>\$\{[^{}]*\})
      | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<number>\d+(?:\.\d+)?(?![\w.]))
      | (?P<word>[A-Za-z_]\w*)
      | (?P<operator>==|!=|<=|>=|&&|\|\||[-+*/%<>!()])
    )""",
    re.VERBOSE | re.DOTALL,
)
JOIN = "join"  # two operands side by side
_RANK = {
    JOIN: 0,
    **dict.fromkeys(["||"], 1),
    **dict.fromkeys(["&&"], 2),
    **dict.fromkeys(["==", "!="], 3),
    **dict.fromkeys(["<", "<=", ">", ">="], 4),
    **dict.fromkeys(["+", "-"], 5),
    **dict.fromkeys(["*", "/", "%"], 6),
    **dict.fromkeys(["not", "minus", "plus"], 7),
}
_UNARY = {"!": "not", "-": "minus", "+": "plus"}
_WORDS = {"true": True, "false": False}
COMPARISONS = frozenset(("<", "<=", ">", ">="))
EQUALITIES = frozenset(("==", "!="))
LOGIC = frozenset(("&&", "||"))
MATHS = frozenset(("+", "-", "*", "/", "%"))

ExpressionStepKind = Literal["value", "reference", "unary", "binary"]


class ExpressionError(ValueError):
    """An expression that cannot be read; `at` is the position of the fault in its text."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class ExpressionStep(NamedTuple):
    """One step: push a value or what a reference holds, or compute with the last ones."""

    kind: ExpressionStepKind
    value: Any  # the value, the Reference, or the name of the operator
    at: int


@lru_cache(maxsize=1024)
def parse(text: str) -> tuple[ExpressionStep, ...]:
    """Read an expression, without its backticks. What was read lately is remembered.

    Raises:
        ExpressionError: It cannot be read.
    """
    steps: list[ExpressionStep] = []
    waiting: list[tuple[str, int]] = []  # operators and brackets not yet applied
    complete = False  # an operand stands before

    def apply(rank: int) -> None:
        while waiting and waiting[-1][0] != "(" and _RANK[waiting[-1][0]] >= rank:
            name, at = waiting.pop()
            steps.append(ExpressionStep("unary" if name in _UNARY.values() else "binary", name, at))

    for kind, part, at in _tokens(text):
        is_operator = kind == "operator"
        if complete and (not is_operator or part in ("(", "!")):
            apply(_RANK[JOIN])
            waiting.append((JOIN, at))
            complete = False
        if not is_operator:
            steps.append(_operand(kind, part, at))
            complete = True
        elif complete and part == ")":
            apply(0)
            if not waiting:
                raise ExpressionError("a closing bracket has no opening one", at)
            waiting.pop()
        elif complete:
            apply(_RANK[part])
            waiting.append((part, at))
            complete = False
        elif part == "(" or part in _UNARY:
            waiting.append((_UNARY.get(part, part), at))
        else:
            empty = part == ")" and waiting and waiting[-1][0] == "("
            problem = "the brackets are empty" if empty else f"{part} has nothing before it"
            raise ExpressionError(problem, at)
    if not complete:
        what = f"{_shown(waiting[-1][0])} has nothing after it" if waiting else "it is empty"
        raise ExpressionError(what, len(text.rstrip()))
    apply(0)
    if waiting:
        raise ExpressionError("an opening bracket has no closing one", waiting[-1][1])
    return tuple(steps)


def _shown(operator: str) -> str:
    return next((sign for sign, name in _UNARY.items() if name == operator), operator)


def _operand(kind: str, token: str, at: int) -> ExpressionStep:
    if kind == "text":
        return ExpressionStep("value", re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL), at)
    if kind == "number":
        if "." in token:
            return ExpressionStep("value", float(token), at)
        # Python refuses to read longer ones
        return ExpressionStep("value", int(token) if len(token) < 300 else math.inf, at)
    if kind == "word":
        if token not in _WORDS:
            raise ExpressionError(f"{token} is not known: put text in single quotes", at)
        return ExpressionStep("value", _WORDS[token], at)
    reference = whole(token)
    if reference is None:
        raise ExpressionError(f"{token} is not a reference", at)
    return ExpressionStep("reference", reference, at)


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield kind, text and position of each part of an expression."""
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            raise _unreadable(text, place)
        kind = str(match.lastgroup)
        yield kind, match[kind], match.start(kind)
        place = match.end()


def _unreadable(text: str, place: int) -> ExpressionError:
    at = place + len(text[place:]) - len(text[place:].lstrip())
    if text[at] in "'\"":
        return ExpressionError("a text has no closing quote", at)
    if text.startswith("${", at):
        return ExpressionError("a reference has no closing bracket }", at)
    if text[at] == "=":
        return ExpressionError("= compares nothing: write ==", at)
    return ExpressionError(f"{text[at]} is not known here", at)


Typed = Callable[[Reference], frozenset[str]]
Doubt = tuple[Literal["wrong", "doubtful"], str, int]
_BOOLEAN, _NUMBER, _TEXT = (frozenset((each,)) for each in ("boolean", "number", "string"))


def typed(steps: Iterable[ExpressionStep], types: Typed) -> tuple[frozenset[str], list[Doubt]]:
    """Compute the type of an expression, and what its operators cannot take.

    Args:
        steps: What `parse` gave.
        types: Tells the JSON types of a reference; an empty set: not known.
    """
    stack: list[frozenset[str]] = []
    doubts: list[Doubt] = []
    for step in steps:
        if step.kind == "reference":
            stack.append(types(step.value))
        elif step.kind == "value":
            value = step.value
            text = isinstance(value, str)
            stack.append(_TEXT if text else _BOOLEAN if isinstance(value, bool) else _NUMBER)
        elif step.kind == "unary":
            wanted = _BOOLEAN if step.value == "not" else _NUMBER
            if _not(stack.pop(), wanted):
                doubts.append(("wrong", f"{_shown(step.value)} takes a {min(wanted)}", step.at))
            stack.append(wanted)
        else:
            right, left = stack.pop(), stack.pop()
            result, doubt = _binary(step.value, left, right)
            stack.append(result)
            if doubt is not None:
                doubts.append((doubt[0], doubt[1], step.at))
    return stack[-1], doubts


def _not(found: frozenset[str], wanted: frozenset[str]) -> bool:
    return bool(found) and found.isdisjoint(wanted)


def _binary(
    operator: str, left: frozenset[str], right: frozenset[str]
) -> tuple[frozenset[str], tuple[Literal["wrong", "doubtful"], str] | None]:
    if operator == JOIN:
        return _TEXT, None
    if operator in EQUALITIES:
        if _not(left, right) and right:
            sides = f"{'/'.join(sorted(left))} and {'/'.join(sorted(right))}"
            return _BOOLEAN, ("wrong", f"{operator} compares values of one type, not {sides}")
        return _BOOLEAN, None
    if operator in LOGIC:
        if _not(left, _BOOLEAN) or _not(right, _BOOLEAN):
            return _BOOLEAN, ("wrong", f"{operator} joins what is true or false")
        return _BOOLEAN, None
    result = _BOOLEAN if operator in COMPARISONS else _NUMBER
    if not _not(left, _NUMBER) and not _not(right, _NUMBER):
        return result, None
    if operator == "+" and (left == _TEXT or right == _TEXT):
        # Widely written; the platform adds numbers only, and asks for a space instead.
        return frozenset(), ("doubtful", "+ adds numbers: to join texts leave a space between")
    if operator == "%":
        return _NUMBER, ("doubtful", "% takes numbers")
    return result, ("wrong", f"{operator} takes numbers")


SINCE = (6, 0)
_LATER = ("init-value", "init-values", "error-message", "error-messages")
_OPERATOR = re.compile(r"'(?:[^'\\]|\\.)*'|\$\{[^{}]*\}|(==|!=|<=|>=|&&|\|\||[<>!()])", re.DOTALL)
_LEADING = re.compile(r"0[0-9]")
_HINT = "Texts stand in single quotes; && || ! == != < <= > >= + - * / % and brackets are known."


@rule("binding")
def check_expression(flow: FlowNode, binding: Binding) -> Iterator[Finding]:
    """Find expressions that cannot be read, or do not fit their place."""
    asked = (binding.owner.type, binding.property) == ("If", "condition")
    if asked or not binding.is_expression or binding.is_fixed:
        return
    if flow.version < SINCE:
        yield Finding(
            "INVALID_PROPERTY_VALUE",
            "warning",
            binding.pointer,
            "Expressions in backticks are known from version 6.0: this is shown as it stands.",
            "Raise the version of the flow.",
        )
        return
    yield from _expression(flow, binding)


def result(flow: FlowNode, screen: ScreenNode, text: str) -> frozenset[str]:
    """Return the JSON types an expression comes to; empty when they are not known."""
    try:
        steps = parse(text[1:-1])
    except ExpressionError:
        return frozenset()
    return typed(steps, lambda each: resolve(flow, screen, each).types)[0]


def _read(
    flow: FlowNode, screen: ScreenNode, text: str, pointer: str
) -> tuple[tuple[ExpressionStep, ...], frozenset[str], list[tuple[Severity, str]]]:
    """Read an expression: its steps, its type, and what is wrong with it."""
    wrong: list[tuple[Severity, str]] = []

    def types(reference: Reference) -> frozenset[str]:
        if reference.screen is not None and flow.version < (4, 0):
            wrong.append(("error", too_early(reference, pointer, "error").message.rstrip(".")))
            return frozenset()
        target = resolve(flow, screen, reference)
        if target.problem:
            wrong.append(("error", f"{reference.text} does not exist: {target.problem}"))
        return target.types

    try:
        steps = parse(text)
    except ExpressionError as error:
        where = f", at character {error.at + 1} of it"
        return (), frozenset(), [("error", f"The expression cannot be read: {error}{where}")]
    found, doubts = typed(steps, types)
    wrong += [("error" if kind == "wrong" else "warning", message) for kind, message, _ in doubts]
    return steps, found, wrong


def _expression(flow: FlowNode, binding: Binding) -> Iterator[Finding]:
    owner, action = binding.owner, binding.action
    _, found, wrong = _read(flow, owner.screen, binding.text[1:-1], binding.pointer)
    # the platform looks at whole properties only
    severe, code = binding.is_direct and binding.property not in _LATER, "INVALID_PROPERTY_VALUE"
    if action is not None and binding.pointer.startswith(f"{action.pointer}/payload/"):
        code = "INVALID_ACTION_PAYLOAD_PROPERTY"
        since = SINCE if action.name in ("navigate", "update_data") else (7, 2)
        severe = flow.version >= since
    worst: Severity = "error" if severe else "warning"
    for severity, message in dict.fromkeys(wrong):
        weight: Severity = "warning" if severity == "warning" else worst
        yield Finding(code, weight, binding.pointer, f"{_started(message)}.", _HINT)
    prop = binding.about
    if wrong or prop is None or not binding.is_direct or not found:
        return
    wanted = frozenset(prop.json_types(flow.version))
    if prop.kind != "reference" and found.isdisjoint(wanted):
        yield Finding(
            "INVALID_PROPERTY_VALUE",
            "warning" if "string" in wanted else worst,
            binding.pointer,
            f"The expression comes to a {named(found)}, {binding.property} takes {named(wanted)}.",
            "Put a text beside it to make it one." if "string" in wanted else "Compare something.",
        )


def _started(message: str) -> str:
    return message[:1].upper() + message[1:]


@rule("If", "early If")
def check_condition(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check what an If asks, in backticks or without."""
    text = component.value.get("condition")
    if not isinstance(text, str):
        return
    pointer = f"{component.pointer}/condition"
    backticks = is_expression(text) and flow.version >= SINCE
    asked = text[1:-1] if backticks else text
    steps, found, wrong = _read(flow, component.screen, asked, pointer)
    message = [each for severity, each in wrong if severity == "error"]
    doubts = [each for severity, each in wrong if severity == "warning"]
    if steps and not message:
        message = [] if backticks else list(_plain(steps, asked))
        if not any(step.kind == "reference" for step in steps):
            message = ["It asks nothing: no ${…} stands in it"]
        elif found and "boolean" not in found:
            message.append(f"It comes to a {named(found)}, not to true or false")
        doubts += [] if backticks else list(_mixed(asked))
    for each in message:
        yield _asked("error", pointer, each)
    for each in doubts:
        yield _asked("warning", pointer, each)


def _asked(severity: Severity, pointer: str, message: str) -> Finding:
    hint = "Compare a reference with something, for example ${data.kind} == 'gold'."
    return Finding("INVALID_PROPERTY_VALUE", severity, pointer, f"{_started(message)}.", hint)


def _plain(steps: tuple[ExpressionStep, ...], text: str) -> Iterator[str]:
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
