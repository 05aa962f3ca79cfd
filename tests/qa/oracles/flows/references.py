"""References (`${data.x}`, `${form.x}`, `${screen.ID.data.x}`) and the conditions of an If."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

_SLOT = re.compile(r"\$\{([^{}]*)\}")
_PATH = re.compile(r"(?:screen\.([^.]+)\.)?(data|form)\.([\w-]+(?:\.[\w-]+)*)")
_SCOPED = ("data.", "form.", "screen.")
_TOKEN = re.compile(
    r"\s*(?:(?P<reference>\$\{[^{}]*\})|(?P<string>'(?:[^'\\]|\\.)*')"
    r"|(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?)(?![\w.])|(?P<boolean>true|false)\b"
    r"|(?P<operator>&&|\|\||==|!=|<=|>=|<|>)|(?P<not>!)|(?P<open>\()|(?P<close>\)))",
    re.DOTALL,
)
_OPERATORS = ("&&", "||", "==", "!=", "<", "<=", ">", ">=")
_LITERALS = ("string", "number", "boolean")


class Reference(NamedTuple):
    """One `${…}` of a text, taken apart."""

    text: str
    screen: str | None  # None: the screen it stands on
    scope: str  # data or form; "" when it is none of the known shapes
    path: tuple[str, ...]


def references(text: str) -> Iterator[Reference]:
    """Every `${…}` that means to be a reference; other `${…}` are plain text."""
    for slot in _SLOT.finditer(text):
        if result := _PATH.fullmatch(slot[1]):
            yield Reference(slot[0], result[1], result[2], tuple(result[3].split(".")))
        elif slot[1].strip().startswith(_SCOPED):
            yield Reference(slot[0], None, "", ())


def whole(text: str) -> Reference | None:
    """The reference that makes up the whole text, if one does."""
    if _SLOT.fullmatch(text):
        return next(references(text), None)
    return None


def is_expression(text: str, version: str) -> bool:
    """Return whether a text is an expression: in backticks, known since 6.0."""
    return version >= "6.0" and len(text) > 1 and text[0] == text[-1] == "`"


def json_type(value: Any) -> str:
    """The JSON Schema name of a value's type; whole numbers count as number."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((str, "string"), (int | float, "number"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "object"


def declared_type(schema: Any) -> str | None:
    """The type a data model field declares, in the words of `json_type`; None: it tells none."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    return "number" if kind == "integer" else kind if isinstance(kind, str) else None


def condition_problem(text: str, type_of: Callable[[str], str | None]) -> str | None:
    """Return the fault of the condition of an If, or None.

    `type_of` tells the type of a reference, None when it is not known.
    """
    kinds: list[str] = []
    operands: list[tuple[str, str | None]] = []  # (kind, type), for each operand in order
    depth, position, waiting = 0, 0, True  # waiting for an operand
    text = text.rstrip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            return f"unexpected character at column {position + 1}"
        kind, word = str(token.lastgroup), token[str(token.lastgroup)]
        if (kind in ("reference", "not", "open") or kind in _LITERALS) is not waiting:
            return f"{word} cannot stand at column {position + 1}"
        if kind == "reference" or kind in _LITERALS:
            operands.append((kind, type_of(word) if kind == "reference" else kind))
            waiting = False
            if kinds and kinds[-1] in _OPERATORS and kinds[-2] != "close":
                (left, left_type), (right, right_type) = operands[-2:]
                if left in _LITERALS and right in _LITERALS:
                    return f"both sides of {kinds[-1]} are literals"
                known = left_type is not None and right_type is not None
                if known and left_type != right_type and kinds[-1] in ("==", "!="):
                    return f"{kinds[-1]} compares {left_type} with {right_type}"
        elif kind == "operator":
            waiting = True
        depth += (kind == "open") - (kind == "close")
        if depth < 0:
            return "a closing parenthesis has no opening one"
        kinds.append(word if kind == "operator" else kind)
        position = token.end()
    if waiting:
        return "an operand is missing"
    if depth:
        return "a closing parenthesis is missing"
    if all(kind != "reference" for kind, _ in operands):
        return "at least one operand must be a reference"
    if len(operands) == 1 and operands[0][1] not in (None, "boolean"):
        return "a single operand must be a boolean"
    return None
