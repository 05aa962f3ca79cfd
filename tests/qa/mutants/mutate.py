"""Mutations of a module that some test should notice: one small fault each.

Faults are of the kinds that people make: a comparison turned round or off by one, `and` for
`or`, a condition negated, a guard that is gone, a statement that is gone, a number that is one
more, `True` for `False`, another operator. The text of the rest stays as it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
#: What says nothing about what a program does: annotations, decorators, parts of f-strings.
_SKIPPED = ("annotation", "returns", "decorator_list", "type_params")


class Mutant(NamedTuple):
    """One fault in one module."""

    path: Path
    line: int
    span: tuple[int, int]  # in the text of the module, as bytes
    kind: str
    before: str
    after: str
    within: str  # the line that it begins on

    def __str__(self) -> str:
        """Show where it is, and the change on one line."""
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.path}:{self.line}  {self.kind}: {before[:90]}  →  {after[:90]}"

    def applied(self, text: str) -> str:
        """Return the text of the module with the fault in it."""
        source, (start, end) = text.encode(), self.span
        return (source[:start] + self.after.encode() + source[end:]).decode()


def mutants(path: Path, text: str) -> Iterator[Mutant]:
    """Yield every fault that this module can have."""
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def fault(node: ast.expr | ast.stmt, kind: str, after: str) -> Mutant:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        span = (
            starts[node.lineno - 1] + node.col_offset,
            starts[node.end_lineno - 1] + node.end_col_offset,
        )
        before = text.encode()[slice(*span)].decode()
        within = text.splitlines()[node.lineno - 1].strip()
        return Mutant(path, node.lineno, span, kind, before, after, within)

    for node in _visit(ast.parse(text)):
        if isinstance(node, ast.expr):
            for kind, new in _expressions(node):
                yield fault(node, kind, f"({ast.unparse(new)})")
        elif isinstance(node, ast.If | ast.While):
            yield fault(node.test, "condition negated", f"(not ({ast.unparse(node.test)}))")
            if isinstance(node, ast.If) and not node.orelse and _leaves(node.body):
                yield fault(node.test, "guard removed", "False")
        elif _can_go(node):
            yield fault(node, "statement removed", "pass")
        elif isinstance(node, ast.Break | ast.Continue):
            other = "continue" if isinstance(node, ast.Break) else "break"
            yield fault(node, "other way out of a loop", other)


def _visit(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name in _SKIPPED:
            continue
        if name == "keywords" and ast.unparse(node).startswith("zip("):
            continue  # strict=True asserts that both are as long, and they are
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _of_no_effect(child):
                yield from _visit(child)


def _of_no_effect(node: ast.AST) -> bool:
    """Return the nodes without a place in Python 3.11, and those that only type checkers read."""
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.keyword):  # where a warning points
        return node.arg == "stacklevel"
    if isinstance(node, ast.BinOp):  # a union of types
        return isinstance(node.op, ast.BitOr) and ast.unparse(node.right)[:1].isupper()
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(b) for b in node.bases)


def _expressions(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Compare):
        for at, op in enumerate(node.ops):
            new = copy.deepcopy(node)
            new.ops[at] = COMPARISONS[type(op)]()
            yield "comparison", new
    elif isinstance(node, ast.BoolOp):
        new_bool = copy.deepcopy(node)
        new_bool.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and / or", new_bool
        for at in range(len(node.values)):
            rest = [value for n, value in enumerate(node.values) if n != at]
            yield "term removed", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        if not any(
            isinstance(edge, ast.Constant | ast.JoinedStr) and not _number(edge)
            for edge in (node.left, node.right)
        ):
            new_op = copy.deepcopy(node)
            new_op.op = OPERATORS[type(node.op)]()
            yield "operator", new_op
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not removed", node.operand
    elif isinstance(node, ast.IfExp):
        yield "condition negated", ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield "constant", ast.Constant(not node.value)
        elif _number(node):
            yield "constant", ast.Constant(node.value + 1)


def _number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _leaves(body: list[ast.stmt]) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Return | ast.Raise | ast.Continue | ast.Break)


def _can_go(node: ast.AST) -> bool:
    """Return whether a statement can be left out without a missing name."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Await)
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    return isinstance(node, ast.AugAssign | ast.Delete)
