"""Rules of expressions in backticks and of the conditions of If.

`parse_expression` turns a text into steps in the order in which they are computed (operands
first), so that neither parsing nor computing recurses, however deep the brackets are nested.
`infer_types` computes with types.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from chatkit.flowjson.nodes import (
    Binding,
    ComponentNode,
    FlowNode,
    Reference,
    ScreenNode,
    Types,
    correct_references,
    find_possible_values,
    find_reference_faults,
    is_expression,
    join_type_names,
    parse_reference,
    resolve_reference,
    suggest_id,
)
from chatkit.flowjson.rules import rule, warning
from chatkit.report import Finding, Severity
from chatkit.util.display import cut
from chatkit.util.json import PatchOperation

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
_PRECEDENCE = {
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
_CONSTANTS = {"true": True, "false": False}
COMPARISONS = frozenset(("<", "<=", ">", ">="))
EQUALITIES = frozenset(("==", "!="))
LOGIC = frozenset(("&&", "||"))
MATHS = frozenset(("+", "-", "*", "/", "%"))

ExpressionStepKind = Literal["value", "reference", "unary", "binary"]


class ExpressionError(ValueError):
    """An expression that cannot be parsed; `at` is the position of the fault in its text."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class ExpressionStep(NamedTuple):
    """One step: push a value or that of a reference, or apply an operator to the last ones."""

    kind: ExpressionStepKind
    value: Any  # the value, the Reference, or the name of the operator
    at: int


@lru_cache(maxsize=1024)
def parse_expression(text: str) -> tuple[ExpressionStep, ...]:
    """Parse an expression, without its backticks, into the steps that compute it.

    Raises:
        ExpressionError: It cannot be parsed.
    """
    steps: list[ExpressionStep] = []
    waiting: list[tuple[str, int]] = []  # operators and brackets not yet applied
    complete = False  # an operand stands before

    def apply(rank: int) -> None:
        while waiting and waiting[-1][0] != "(" and _PRECEDENCE[waiting[-1][0]] >= rank:
            name, at = waiting.pop()
            steps.append(ExpressionStep("unary" if name in _UNARY.values() else "binary", name, at))

    for kind, part, at in _tokenize(text):
        is_operator = kind == "operator"
        if complete and (not is_operator or part in ("(", "!")):
            apply(_PRECEDENCE[JOIN])
            waiting.append((JOIN, at))
            complete = False
        if not is_operator:
            steps.append(_parse_operand(kind, part, at))
            complete = True
        elif complete and part == ")":
            apply(0)
            if not waiting:
                raise ExpressionError("a closing bracket has no opening one", at)
            waiting.pop()
        elif complete:
            apply(_PRECEDENCE[part])
            waiting.append((part, at))
            complete = False
        elif part == "(" or part in _UNARY:
            waiting.append((_UNARY.get(part, part), at))
        else:
            empty = part == ")" and waiting and waiting[-1][0] == "("
            problem = "the brackets are empty" if empty else f"{part} has nothing before it"
            raise ExpressionError(problem, at)
    if not complete:
        what = (
            f"{_get_operator_sign(waiting[-1][0])} has nothing after it"
            if waiting
            else "it is empty"
        )
        raise ExpressionError(what, len(text.rstrip()))
    apply(0)
    if waiting:
        raise ExpressionError("an opening bracket has no closing one", waiting[-1][1])
    return tuple(steps)


def _get_operator_sign(operator: str) -> str:
    return next((sign for sign, name in _UNARY.items() if name == operator), operator)


def _parse_operand(kind: str, token: str, at: int) -> ExpressionStep:
    if kind == "text":
        return ExpressionStep("value", re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL), at)
    if kind == "number":
        if "." in token:
            return ExpressionStep("value", float(token), at)
        # Python refuses to read longer ones
        return ExpressionStep("value", int(token) if len(token) < 300 else math.inf, at)
    if kind == "word":
        if token not in _CONSTANTS:
            raise ExpressionError(f"{token} is not known: put text in single quotes", at)
        return ExpressionStep("value", _CONSTANTS[token], at)
    reference = parse_reference(token)
    if reference is None:
        raise ExpressionError(f"{token} is not a reference", at)
    return ExpressionStep("reference", reference, at)


def _tokenize(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the kind, text and position of each token."""
    offset, end = 0, len(text.rstrip())
    while offset < end:
        match = _TOKEN.match(text, offset)
        if match is None:
            raise _describe_syntax_error(text, offset)
        kind = str(match.lastgroup)
        yield kind, match[kind], match.start(kind)
        offset = match.end()


def _describe_syntax_error(text: str, offset: int) -> ExpressionError:
    at = offset + len(text[offset:]) - len(text[offset:].lstrip())
    if text[at] in "'\"":
        return ExpressionError("a text has no closing quote", at)
    if text.startswith("${", at):
        return ExpressionError("a reference has no closing bracket }", at)
    if text[at] == "=":
        return ExpressionError("= compares nothing: write ==", at)
    return ExpressionError(f"{text[at]} is not known here", at)


TypeLookup = Callable[[Reference], Types]
Mistake = tuple[Severity, str]  # and its message
_BOOLEAN, _NUMBER, _TEXT = (frozenset((each,)) for each in ("boolean", "number", "string"))


def infer_types(steps: Iterable[ExpressionStep], types: TypeLookup) -> tuple[Types, list[Mistake]]:
    """Compute the types of an expression, and the mistakes in the operands of its operators.

    Args:
        steps: The steps of the expression.
        types: Returns the JSON types of a reference.
    """
    stack: list[Types] = []
    mistakes: list[Mistake] = []
    for step in steps:
        if step.kind == "reference":
            stack.append(types(step.value))
        elif step.kind == "value":
            value = step.value
            text = isinstance(value, str)
            stack.append(_TEXT if text else _BOOLEAN if isinstance(value, bool) else _NUMBER)
        elif step.kind == "unary":
            expected = _BOOLEAN if step.value == "not" else _NUMBER
            if _is_mismatch(stack.pop(), expected):
                mistakes.append(
                    ("error", f"{_get_operator_sign(step.value)} takes a {min(expected)}")
                )
            stack.append(expected)
        else:
            right, left = stack.pop(), stack.pop()
            result, mistake = _infer_binary(step.value, left, right)
            stack.append(result)
            mistakes += [mistake] if mistake else []
    return stack[-1], mistakes


def _is_mismatch(types: Types, expected: Types) -> bool:
    return bool(types) and types.isdisjoint(expected)


def _infer_binary(operator: str, left: Types, right: Types) -> tuple[Types, Mistake | None]:
    if operator == JOIN:
        return _TEXT, None
    if operator in EQUALITIES:
        if _is_mismatch(left, right) and right:
            types = f"{'/'.join(sorted(left))} and {'/'.join(sorted(right))}"
            return _BOOLEAN, ("error", f"{operator} compares values of one type, not {types}")
        return _BOOLEAN, None
    if operator in LOGIC:
        if _is_mismatch(left, _BOOLEAN) or _is_mismatch(right, _BOOLEAN):
            return _BOOLEAN, ("error", f"{operator} joins what is true or false")
        return _BOOLEAN, None
    result = _BOOLEAN if operator in COMPARISONS else _NUMBER
    if not _is_mismatch(left, _NUMBER) and not _is_mismatch(right, _NUMBER):
        return result, None
    if operator == "+" and (left == _TEXT or right == _TEXT):
        # Widely written; the platform adds numbers only, and asks for a space instead.
        return frozenset(), ("warning", "+ adds numbers: to join texts leave a space between")
    if operator == "%":
        return _NUMBER, ("warning", "% takes numbers")
    return result, ("error", f"{operator} takes numbers")


EXPRESSIONS_SINCE = (6, 0)
_UNCHECKED = ("init-value", "init-values", "error-message", "error-messages")
_OPERATOR = re.compile(r"'(?:[^'\\]|\\.)*'|\$\{[^{}]*\}|(==|!=|<=|>=|&&|\|\||[<>!()])", re.DOTALL)
_LEADING = re.compile(r"0[0-9]")
_SYNTAX = "Texts stand in single quotes; && || ! == != < <= > >= + - * / % and brackets are known."


def infer_expression_types(flow: FlowNode, screen: ScreenNode, text: str) -> Types:
    """Return the JSON types of the result of an expression; empty if unknown."""
    try:
        steps = parse_expression(text[1:-1])
    except ExpressionError:
        return frozenset()
    return infer_types(steps, lambda each: resolve_reference(flow, screen, each).types)[0]


_QUOTE_HINT = "Close the single quote before a reference, and open it again after it."


class _Problem(NamedTuple):
    """A problem of an expression."""

    severity: Severity
    message: str
    hint: str = ""
    is_corrected: bool = False  # by the patch that corrects the references


def _analyze_expression(
    flow: FlowNode, screen: ScreenNode, text: str
) -> tuple[tuple[ExpressionStep, ...], Types, list[_Problem]]:
    """Return the steps, the types and the problems of an expression."""
    faults = find_reference_faults(flow, screen, text)
    try:
        steps = parse_expression(text)
    except ExpressionError as exception:
        message = f"The expression cannot be read: {exception}, "
        message += f"at character {exception.at + 1} of it"
        hint = next((fault.hint for fault in faults if fault.correction), "")
        return (), frozenset(), [_Problem("error", message, hint, bool(hint))]
    problems = []
    read = {step.value.text for step in steps if step.kind == "reference"}  # others are in quotes
    for fault in faults:
        hint, is_read = fault.hint if fault.correction else "", fault.text in read
        severity: Severity = "error" if is_read else "warning"
        message, mends = fault.message.rstrip("."), bool(hint) and is_read
        problems.append(_Problem(severity, message, hint if is_read else _QUOTE_HINT, mends))
    types, mistakes = infer_types(steps, lambda each: resolve_reference(flow, screen, each).types)
    problems += [_Problem(*mistake) for mistake in mistakes]
    return steps, types, [*problems, *_find_impossible_values(flow, screen, steps)]


def _find_impossible_values(
    flow: FlowNode, screen: ScreenNode, steps: Iterable[ExpressionStep]
) -> Iterator[_Problem]:
    """Find comparisons of an answer with a value that it can never have."""
    for operator, operands in pair_operands(steps):
        by_kind = {each.kind: each.value for each in operands if each is not None}
        if operator.value not in EQUALITIES or by_kind.keys() != {"reference", "value"}:
            continue
        reference, value = by_kind["reference"], by_kind["value"]
        values = find_possible_values(flow, screen, reference)
        if values and isinstance(value, str) and value and value not in values:
            never = "never" if operator.value == "==" else "always"
            message = f"{reference.text} is never {cut(value, 40)!r}: this is {never} true"
            yield _Problem("warning", message, suggest_id(value, values))


def _make_findings(
    flow: FlowNode, screen: ScreenNode, pointer: str, text: str, problems: Iterable[_Problem]
) -> Iterator[Finding]:
    """Convert problems to findings, with the patch that corrects the references."""
    better = correct_references(text, find_reference_faults(flow, screen, text))
    patch = (PatchOperation("replace", pointer, better),)
    for severity, message, hint, is_corrected in dict.fromkeys(problems):
        message, mend = f"{message[:1].upper()}{message[1:]}.", patch if is_corrected else ()
        yield Finding("INVALID_PROPERTY_VALUE", severity, pointer, message, hint, patch=mend)


@rule("binding")
def check_expression(flow: FlowNode, binding: Binding) -> Iterator[Finding]:
    """Find expressions that cannot be parsed, or are of a wrong type for their property."""
    is_condition = (binding.owner.type, binding.property) == ("If", "condition")
    if is_condition or not binding.is_expression or binding.is_fixed:
        return
    owner, action, pointer = binding.owner, binding.action, binding.pointer
    if flow.version < EXPRESSIONS_SINCE:
        message = "Expressions in backticks are known from version 6.0: this is shown as it stands."
        hint = "Raise the version of the flow."
        yield warning("INVALID_PROPERTY_VALUE", pointer, message, hint)
        return
    _, types, problems = _analyze_expression(flow, owner.screen, binding.text[1:-1])
    code = "INVALID_PROPERTY_VALUE"
    # the platform looks at whole properties only
    severe = binding.is_direct and binding.property not in _UNCHECKED
    if action is not None and pointer.startswith(f"{action.pointer}/payload/"):
        code = "INVALID_ACTION_PAYLOAD_PROPERTY"
        since = EXPRESSIONS_SINCE if action.name in ("navigate", "update_data") else (7, 2)
        severe = flow.version >= since
    worst: Severity = "error" if severe else "warning"
    for each in _make_findings(flow, owner.screen, pointer, binding.text, problems):
        severity: Severity = worst if each.severity == "error" else "warning"
        yield replace(each, code=code, severity=severity, hint=each.hint or _SYNTAX)
    prop = binding.about
    if problems or prop is None or not binding.is_direct or not types:
        return
    expected = frozenset(prop.json_types(flow.version))
    is_text = "string" in expected
    if prop.kind != "reference" and types.isdisjoint(expected):
        message = f"The expression comes to a {join_type_names(types)}, "
        message += f"{binding.property} takes {join_type_names(expected)}."
        hint = "Put a text beside it to make it one." if is_text else "Compare something."
        severity = "warning" if is_text else worst
        yield Finding("INVALID_PROPERTY_VALUE", severity, pointer, message, hint)


_CONDITION_HINT = "Compare a reference with something, for example ${data.kind} == 'gold'."


@rule("If", "early If")
def check_condition(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check the condition of an If, with or without backticks."""
    text = component.value.get("condition")
    if not isinstance(text, str):
        return
    pointer, screen = f"{component.pointer}/condition", component.screen
    has_backticks = is_expression(text) and flow.version >= EXPRESSIONS_SINCE
    expression = text[1:-1] if has_backticks else text
    steps, types, problems = _analyze_expression(flow, screen, expression)
    if steps and not any(problem.severity == "error" for problem in problems):
        messages = [] if has_backticks else list(_find_condition_faults(steps, expression))
        if not any(step.kind == "reference" for step in steps):
            messages = ["It compares nothing: it has no ${…}"]
        elif types and "boolean" not in types:
            messages.append(f"It comes to a {join_type_names(types)}, not to true or false")
        mixed = [] if has_backticks else list(_find_missing_brackets(expression))
        problems = [
            *(_Problem("error", message) for message in messages),
            *problems,
            *(_Problem("warning", message) for message in mixed),
        ]
    for each in _make_findings(flow, screen, pointer, text, problems):
        yield replace(each, hint=each.hint or _CONDITION_HINT)


def pair_operands(
    steps: Iterable[ExpressionStep],
) -> Iterator[tuple[ExpressionStep, list[ExpressionStep | None]]]:
    """Yield each operator with its operands; None for an operand that is computed."""
    stack: list[ExpressionStep | None] = []
    for step in steps:
        if step.kind in ("value", "reference"):
            stack.append(step)
            continue
        count = 1 if step.kind == "unary" else 2
        yield step, stack[-count:]
        stack[-count:] = [None]


def _find_condition_faults(steps: tuple[ExpressionStep, ...], text: str) -> Iterator[str]:
    """Yield the faults of a condition without backticks, where less is allowed."""
    operands = dict(pair_operands(steps))
    for step in steps:
        is_fixed = [each is not None and each.kind == "value" for each in operands.get(step, ())]
        if step.kind == "value" and text[step.at] == '"':
            yield f"a text stands in single quotes, at character {step.at + 1}"
        elif step.kind == "value" and _LEADING.match(text, step.at):
            yield f"a number has leading zeros, at character {step.at + 1}"
        elif step.value == "plus" or (step.value == "minus" and not any(is_fixed)):
            yield f"- and + do not stand in a condition, at character {step.at + 1}"
        elif step.kind != "binary":
            continue
        elif step.value == JOIN:
            yield f"an operator is missing before character {step.at + 1}"
        elif step.value in MATHS:
            yield f"{step.value} does not stand in a condition without backticks"
        elif all(is_fixed):
            yield f"{step.value} has a fixed value on both sides"


def _find_missing_brackets(text: str) -> Iterator[str]:
    """Yield a message for the first comparison that lacks brackets."""
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
