"""Example: a field of a screen's data model, told by an example of its value."""

from __future__ import annotations

from typing import Any

from chatkit.errors import InputError, Problem


def example(value: Any) -> dict[str, Any]:
    """Declare a field of a screen's data by an example: its type follows from it.

    >>> example("Ann")
    {'type': 'string', '__example__': 'Ann'}
    >>> example([{"id": "1", "title": "9:00"}])["items"]
    {'type': 'object', 'properties': {'id': {'type': 'string'}, 'title': {'type': 'string'}}}

    Raises:
        InputError: It has no type in JSON, or is an empty list, which does not tell of what.
    """
    return {**schema(value), "__example__": value}


def schema(value: Any) -> dict[str, Any]:
    """Describe a value as a data model does.

    Raises:
        InputError: It has no type in JSON.
    """
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, str):
        return {"type": "string"}
    if isinstance(value, int | float):
        return {"type": "number"}
    if isinstance(value, dict):
        return {"type": "object", "properties": {key: schema(item) for key, item in value.items()}}
    if isinstance(value, list) and value:
        return {"type": "array", "items": _items(value)}
    reason = "an empty list does not tell what it holds" if value == [] else "JSON has no such type"
    raise InputError("This is no example of a field:", [Problem("value", repr(value), reason)])


def _items(values: list[Any]) -> dict[str, Any]:
    """Describe what all items have in common: an option may lack a description."""
    found = [schema(value) for value in values]
    if all(each["type"] == "object" for each in found):
        properties: dict[str, Any] = {}
        for each in found:
            properties |= each["properties"]
        return {"type": "object", "properties": properties}
    return found[0]
