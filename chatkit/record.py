"""Record and Body: what comes back of a resource, and what may be sent of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from chatkit.errors import InputError, Problem


class Record(BaseModel):
    """One record as the service sent it.

    Fields the API document does not know are kept as attributes. Values of named kinds
    (a status, an event kind) are plain text, so a new one is never refused.
    """

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)

    #: What a list shows of a record; `get` may show more.
    listed: ClassVar[tuple[str, ...]] = ()


class Body(BaseModel):
    """What may be sent of a record, checked before it is sent.

    Fields without a default are required on create. `create_only` cannot be updated.
    """

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    create_only: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def whole(cls, fields: Mapping[str, Any], what: str) -> dict[str, Any]:
        """Check the fields of a create. Raises `InputError` with every problem at once."""
        try:
            return cls.model_validate(dict(fields)).model_dump(exclude_unset=True)
        except ValidationError as error:
            raise InputError(f"{what} cannot be created:", _problems(error, fields)) from None

    @classmethod
    def part(cls, fields: Mapping[str, Any], what: str) -> dict[str, Any]:
        """Check the fields of an update, each for itself; what is absent stays untouched."""
        body = cls.model_construct()
        problems = [
            Problem(name, _short(fields[name]), "can only be set when it is created")
            for name in fields
            if name in cls.create_only
        ]
        for name in fields.keys() - cls.create_only:
            try:
                cls.__pydantic_validator__.validate_assignment(body, name, fields[name])
            except ValidationError as error:
                problems += _problems(error, fields)
        if not fields:
            problems.append(Problem("(nothing)", "", f"pass one of {', '.join(cls.updatable())}"))
        if problems:
            raise InputError(f"{what} cannot be updated:", problems)
        return body.model_dump(exclude_unset=True)

    @classmethod
    def updatable(cls) -> list[str]:
        """Name the fields an update may send."""
        return [name for name in cls.model_fields if name not in cls.create_only]


def _problems(error: ValidationError, fields: Mapping[str, Any]) -> list[Problem]:
    problems = []
    for detail in error.errors(include_url=False, include_input=False):
        where = ".".join(map(str, detail["loc"]))
        value = _short(fields[where]) if where in fields else ""
        reason = {
            "missing": "is required",
            "extra_forbidden": "is no field that can be sent",
            "string_type": "must be text, so that no digit, zero or + is lost",
        }.get(detail["type"], detail["msg"].removeprefix("Value error, "))
        problems.append(Problem(where, value, reason))
    return problems


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
