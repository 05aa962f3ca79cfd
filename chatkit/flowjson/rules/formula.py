"""The language of expressions: what stands in backticks, and what an If asks.

`parse` turns a text into steps in the order in which they are computed (operands first), so
that neither reading nor computing recurses, however deep a stranger nests the brackets.
`typed` computes with types; `evaluation` computes with values, `expression` tells what is wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from chatkit.flowjson.rules.target import Reference, whole

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

StepKind = Literal["value", "reference", "unary", "binary"]


class ExpressionError(ValueError):
    """An expression that cannot be read; `at` is the position of the fault in its text."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class Step(NamedTuple):
    """One step: push a value or what a reference holds, or compute with the last ones."""

    kind: StepKind
    value: Any  # the value, the Reference, or the name of the operator
    at: int


@lru_cache(maxsize=1024)
def parse(text: str) -> tuple[Step, ...]:
    """Read an expression, without its backticks. What was read lately is remembered.

    Raises:
        ExpressionError: It cannot be read.
    """
    steps: list[Step] = []
    waiting: list[tuple[str, int]] = []  # operators and brackets not yet applied
    complete = False  # an operand stands before
    place, end = 0, len(text.rstrip())

    def apply(rank: int) -> None:
        while waiting and waiting[-1][0] != "(" and _RANK[waiting[-1][0]] >= rank:
            name, at = waiting.pop()
            steps.append(Step("unary" if name in _UNARY.values() else "binary", name, at))

    while place < end:
        found = _TOKEN.match(text, place)
        if found is None:
            raise _unreadable(text, place)
        kind, part = str(found.lastgroup), found[str(found.lastgroup)]
        at, place = found.start(kind), found.end()
        operator = kind == "operator"
        if complete and operator and part not in ("(", "!"):
            if part == ")":
                apply(0)
                if not waiting:
                    raise ExpressionError("a closing bracket has no opening one", at)
                waiting.pop()
                continue
            apply(_RANK[part])
            waiting.append((part, at))
            complete = False
            continue
        if complete:
            apply(_RANK[JOIN])
            waiting.append((JOIN, at))
            complete = False
        if not operator:
            steps.append(_operand(kind, part, at))
            complete = True
        elif part == "(" or part in _UNARY:
            waiting.append((_UNARY.get(part, part), at))
        elif part == ")" and waiting and waiting[-1][0] == "(":
            raise ExpressionError("the brackets are empty", at)
        else:
            raise ExpressionError(f"{part} has nothing before it", at)
    if not complete:
        what = f"{_shown(waiting[-1][0])} has nothing after it" if waiting else "it is empty"
        raise ExpressionError(what, end)
    apply(0)
    if waiting:
        raise ExpressionError("an opening bracket has no closing one", waiting[-1][1])
    return tuple(steps)


def _shown(operator: str) -> str:
    return next((sign for sign, name in _UNARY.items() if name == operator), operator)


def _operand(kind: str, token: str, at: int) -> Step:
    if kind == "text":
        return Step("value", re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL), at)
    if kind == "number":
        return Step("value", float(token) if "." in token else _integer(token), at)
    if kind == "word":
        if token not in _WORDS:
            raise ExpressionError(f"{token} is not known: put text in single quotes", at)
        return Step("value", _WORDS[token], at)
    reference = whole(token)
    if reference is None:
        raise ExpressionError(f"{token} is no reference", at)
    return Step("reference", reference, at)


def _integer(token: str) -> int | float:
    return int(token) if len(token) < 300 else math.inf  # Python refuses to read longer ones


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


def typed(steps: Iterable[Step], types: Typed) -> tuple[frozenset[str], list[Doubt]]:
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
    return (_BOOLEAN if operator in COMPARISONS else _NUMBER), (
        "wrong",
        f"{operator} takes numbers",
    )
