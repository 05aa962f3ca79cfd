"""The data model of a screen: which fields it declares, of which type, with which example.

Each field is a JSON Schema with a `type` and an `__example__` beside it. `mismatches` holds a
value against such a schema; the payloads of actions use it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chatkit.flowjson.nodes import DEPTH, FlowNode, ScreenNode, named, types_of, whole
from chatkit.flowjson.visitor import rule
from chatkit.report import Finding
from chatkit.util.json import escape

EXAMPLE = "__example__"
TYPES = frozenset(("string", "number", "integer", "boolean", "object", "array", "null"))


def json_types(value: object) -> frozenset[str]:
    """Return the JSON types of a value, as a schema may name them: an integer is a number too."""
    match value:
        case None:
            return frozenset(("null",))
        case bool():
            return frozenset(("boolean",))
        case int():
            return frozenset(("integer", "number"))
        case float():
            return frozenset(("integer", "number") if value.is_integer() else ("number",))
        case str():
            return frozenset(("string",))
        case list() | tuple():
            return frozenset(("array",))
        case dict():
            return frozenset(("object",))
    return frozenset()


def mismatches(
    value: object, schema: object, *, bindings: bool = False
) -> Iterator[tuple[str, str]]:
    """Compare a value with a schema: yield where below the value it differs, and how.

    Args:
        value: The value.
        schema: What is declared of it.
        bindings: Let a text that is one reference, or an expression, stand for any value.
    """
    waiting: list[tuple[str, object, object]] = [("", value, schema)]
    enums: dict[int, frozenset[object]] = {}  # of each schema, as many items may share it
    while waiting:
        pointer, actual, declared = waiting.pop()
        if not isinstance(declared, dict) or pointer.count("/") > DEPTH:
            continue
        if bindings and isinstance(actual, str) and (whole(actual) or actual[:1] == "`"):
            continue
        stated = declared.get("type")
        names = stated if isinstance(stated, list) else [stated]
        expected = frozenset(each for each in names if isinstance(each, str))
        types = json_types(actual)
        if expected & TYPES and types.isdisjoint(expected):
            kind = "an integer" if "integer" in types else named(types)
            yield pointer, f"expected {named(expected)}, found {kind}"
        else:
            if (missing := _missing(actual, declared)) is not None:
                yield pointer, f"{missing} is missing"
            waiting += reversed(list(_parts(pointer, actual, declared)))
        allowed = declared.get("enum")
        if isinstance(allowed, list) and isinstance(actual, _SCALAR):
            if id(declared) not in enums:
                enums[id(declared)] = frozenset(e for e in allowed if isinstance(e, _SCALAR))
            if actual not in enums[id(declared)]:
                yield pointer, "it is not one of the values in enum"


_SCALAR = (str, int, float, type(None))


def _missing(value: object, schema: dict[str, Any]) -> str | None:
    """Return the first required key that an object lacks."""
    required = schema.get("required")
    if not isinstance(value, dict) or not isinstance(required, list):
        return None
    return next((key for key in required if isinstance(key, str) and key not in value), None)


def _parts(
    pointer: str, value: object, schema: dict[str, Any]
) -> Iterator[tuple[str, object, object]]:
    """Yield pointer, value and schema of everything that is declared in a value."""
    if isinstance(value, dict):
        properties: Any = schema.get("properties")
        for key, inner in value.items() if isinstance(properties, dict) else ():
            if isinstance(key, str) and key in properties:
                yield f"{pointer}/{escape(key)}", inner, properties[key]
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield f"{pointer}/{index}", inner, schema.get("items")


@rule("screen")
def check_data(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Check what a screen declares as its data."""
    for name, schema in screen.data.items():
        pointer = f"{screen.pointer}/data/{escape(name)}"
        if not isinstance(schema, dict):
            message = f"The data field {name} must be an object with type and {EXAMPLE}."
            hint = f'Write {{"type": "string", "{EXAMPLE}": "…"}}.'
            yield Finding("INVALID_PROPERTY_TYPE", "error", pointer, message, hint)
            continue
        yield from _declaration(name, pointer, schema)
        yield from _below(name, pointer, schema)
        if EXAMPLE not in schema:
            code = "MISSING_REQUIRED_PROPERTY"
            message = f"The data field {name} has no {EXAMPLE}."
            hint = "Give a value of its type: the preview shows it."
            yield Finding(code, "error", f"{pointer}/{EXAMPLE}", message, hint)
        else:
            yield from _example(name, pointer, schema)


def _declaration(name: str, pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Check the type, and the items of an array, of arrays in it too."""
    declared: object = schema
    depth = 0
    while isinstance(declared, dict) and depth < DEPTH:
        depth += 1
        stated = declared.get("type")
        if "type" not in declared:
            yield _wrong(pointer, f"The data field {name} has no type.", _ONE_OF)
            return
        if not isinstance(stated, str):
            yield _wrong(f"{pointer}/type", f"The type of {name} must be a text.", _ONE_OF)
            return
        if stated not in TYPES:
            yield _wrong(f"{pointer}/type", f"{name}: there is no type {stated}.", _ONE_OF)
            return
        if stated != "array":
            return
        if declared.get("items") is None:
            message = f"The array {name} does not say what its items are."
            yield _wrong(pointer, message, 'Add items, for example {"type": "string"}.')
            return
        declared = declared["items"]
        pointer = f"{pointer}/items"
        if not isinstance(declared, dict | bool):
            yield _wrong(
                pointer, f"items of {name} must be an object.", 'For example {"type": "string"}.'
            )
            return


_ONE_OF = "Use string, number, integer, boolean, object or array."


def _wrong(pointer: str, message: str, hint: str) -> Finding:
    return Finding("INVALID_SCREEN_DATA", "error", pointer, message, hint)


def _below(name: str, pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Find what is wrong deeper in a field: an example, a type that does not exist."""
    waiting: list[tuple[str, object, bool]] = [
        (f"{pointer}/{escape(str(key))}", inner, key == "properties")
        for key, inner in schema.items()
        if key != EXAMPLE and isinstance(inner, dict | list)
    ]
    waiting.reverse()
    while waiting:
        place, inner, names = waiting.pop()  # names: its keys are names of properties
        if place.count("/") > DEPTH:
            continue
        if isinstance(inner, dict):
            if EXAMPLE in inner:
                message = f"An {EXAMPLE} inside {name}: it stands only at the top of a field."
                hint = "Move its value into the example of the field."
                yield _wrong(f"{place}/{EXAMPLE}", message, hint)
            told = place[len(pointer) :].replace("/items", "") == ""  # by `_declaration`
            if not (names or told or _is_type(inner.get("type", "null"))):
                message = f"{name}: there is no type {str(inner['type'])[:40]}."
                yield _wrong(f"{place}/type", message, _ONE_OF)
            waiting += [
                (f"{place}/{escape(str(key))}", inner[key], not names and key == "properties")
                for key in reversed(inner)
                if names or key not in ("enum", "const", "default", "examples")
            ]
        elif isinstance(inner, list):
            waiting += [(f"{place}/{index}", inner[index], False) for index in range(len(inner))]


def _is_type(stated: object) -> bool:
    """Return whether a value is the name of a type, or a list of names."""
    names = stated if isinstance(stated, list) and stated else [stated]
    return all(isinstance(each, str) and each in TYPES for each in names)


def _example(name: str, pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    for below, problem in mismatches(schema[EXAMPLE], schema):
        if types_of(schema) - TYPES:
            return  # the type itself is wrong, which has its own finding
        where = f" at {below}" if below else ""
        message = f"The {EXAMPLE} of {name} does not fit{where}: {problem}."
        hint = "Correct the example, or the type."
        yield _wrong(f"{pointer}/{EXAMPLE}{below}" if below else pointer, message, hint)
