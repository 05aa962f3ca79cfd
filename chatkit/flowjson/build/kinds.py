"""The types of the properties of a piece, as the table of components names them.

A reference is `${data.x}`, `${form.x}`, `${screen.ID.form.x}` or an expression in backticks:
the platform puts its value in when it shows the screen.
"""

from __future__ import annotations

import base64
from datetime import date, datetime
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Protocol,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from pydantic import AfterValidator, GetCoreSchemaHandler, PlainValidator
from pydantic_core import CoreSchema, core_schema

from chatkit.errors import InputError, Problem

if TYPE_CHECKING:
    from chatkit.flowjson.build.piece import Piece


_FEW = 8  # values of an enumeration that a signature shows


class _Read:
    """Takes a piece, or reads it out of the dict that is its JSON."""

    def __get_pydantic_core_schema__(
        self, source: type[Piece], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def take(value: object) -> object:
            if isinstance(value, source):
                return value
            if isinstance(value, dict):
                return source.read(_json(value))
            raise ValueError(f"must be {source.called()}, or its JSON as a dict")

        return core_schema.no_info_plain_validator_function(take)


T = TypeVar("T")
One: TypeAlias = Annotated[T, _Read()]
Items: TypeAlias = list[Annotated[T, _Read()]]


def _reference(value: str) -> str:
    if "${" not in value and not value.startswith("`"):
        raise ValueError("must be a reference like ${data.x}")
    return value


def _json(value: Any) -> Any:
    """Refuse what JSON does not know."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"must have text as keys, not {key!r}")
            _json(item)
    elif isinstance(value, list):
        for item in value:
            _json(item)
    elif not (value is None or isinstance(value, str | int | float)):
        raise ValueError(f"must be JSON, which has no {type(value).__name__}")
    return value


def _payload(value: dict[str, Any]) -> dict[str, Any]:
    """Take JSON, and inputs, each for what a person enters in it."""
    _json({key: item for key, item in value.items() if not getattr(item, "entered", "")})
    return value


def _picture(value: object) -> str:
    if isinstance(value, PathLike):
        try:
            value = Path(value).read_bytes()
        except OSError as error:
            raise ValueError(f"cannot be read: {error.strerror}") from None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if not isinstance(value, str):
        raise ValueError("must be base64 as text, bytes, or the Path of a file")
    return value


def _date(value: object) -> str:
    if isinstance(value, date):
        return (value.date() if isinstance(value, datetime) else value).isoformat()
    if not isinstance(value, str):
        raise ValueError("must be a date, or text like 2026-12-31")
    return value


class ScreenLike(Protocol):
    """An object with an id: a screen."""

    id: str


def _target(value: object) -> str:
    found = getattr(value, "id", value)
    if not isinstance(found, str):
        raise ValueError("must be a screen or its id")
    return found


#: A text that refers to a value.
Reference: TypeAlias = Annotated[str, AfterValidator(_reference)]
Flag: TypeAlias = bool | Reference
Integer: TypeAlias = int | Reference
Number: TypeAlias = int | float | Reference
#: A picture: base64, or what is turned into it.
Base64: TypeAlias = Annotated[str | bytes | PathLike[str], PlainValidator(_picture)]
Date: TypeAlias = Annotated[str | date, PlainValidator(_date)]
#: An object with keys of the author's own.
Map: TypeAlias = Annotated[dict[str, Any], AfterValidator(_json)]
#: What an action carries: JSON, and inputs of the flow.
Payload: TypeAlias = Annotated[dict[str, Any], AfterValidator(_payload)]
#: A screen, or its id.
Target: TypeAlias = Annotated[str | ScreenLike, PlainValidator(_target)]


class Words(str):
    """A text that prints without quotes, as an annotation in a signature."""

    def __repr__(self) -> str:
        return str(self)


def shown(hint: Any) -> str:
    """Write a type for the reader of a signature."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Reference:
        return "reference"
    if origin is Annotated:
        return shown(arguments[0])
    if origin is Literal:
        few = [repr(each) for each in arguments[:_FEW]]
        return " | ".join([*few, *(["…"] if len(arguments) > _FEW else [])])
    if origin in (Union, UnionType):
        parts = dict.fromkeys(shown(each) for each in arguments if each is not NoneType)
        return " | ".join(parts)
    if origin in (list, dict) and arguments[-1] is not Any:
        return f"{origin.__name__}[{', '.join(shown(each) for each in arguments)}]"
    return getattr(origin or hint, "__name__", str(hint))


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
    raise InputError(
        "This cannot be an example of a field:", [Problem("value", repr(value), reason)]
    )


def _items(values: list[Any]) -> dict[str, Any]:
    """Describe what all items have in common: an option may lack a description."""
    found = [schema(value) for value in values]
    if all(each["type"] == "object" for each in found):
        properties: dict[str, Any] = {}
        for each in found:
            properties |= each["properties"]
        return {"type": "object", "properties": properties}
    return found[0]
