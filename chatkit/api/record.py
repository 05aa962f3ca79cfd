"""Record and Body: the records of a resource, and the fields that may be sent."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import cache, wraps
from types import UnionType
from typing import Annotated, Any, ClassVar, Self, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from chatkit.api.secret import MASK, SECRET, mask_secrets
from chatkit.errors import HelpPage, InputError, Problem, safe_repr
from chatkit.util.display import cut, shorten, visible


def _reject_bool(value: Any) -> Any:
    """Refuse true and false in place of an id."""
    if isinstance(value, bool):
        raise ValueError("must be an id, not true or false")
    return value


def parse_time(value: Any) -> datetime | None:
    """Read a time in ISO 8601 or as a number since 1970; None for 0 and "".

    A number counts seconds, milliseconds, microseconds or nanoseconds: its size tells which
    for every year from 1973 to 5138. 0 and an empty text say that there is no time.

    Raises:
        ValueError: It is neither.
    """
    if value is None or value == "" or (value == 0 and not isinstance(value, bool)):
        return None
    if isinstance(value, str) and re.fullmatch(r"[0-9]{9,19}([.][0-9]{1,9})?", value):
        value = float(value) if "." in value else int(value)
    if isinstance(value, str):
        time = datetime.fromisoformat(value)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    units = (unit for unit in (1, 10**3, 10**6, 10**9) if number and 0 < value < 1e11 * unit)
    if (unit := next(units, None)) is None:
        raise ValueError("is neither an ISO 8601 time nor a number of seconds since 1970")
    microseconds = round(value * (10**6 // unit)) if unit <= 10**6 else int(value // 1000)
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


def parse_document(value: Any) -> Any:
    """Parse a document that is JSON text; return anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    with suppress(ValueError, RecursionError):
        return json.loads(value)
    return value


#: From here on floats are not exact: 2**53 + 1 has become 2**53.
INEXACT = 2**53


def is_whole_float(value: Any) -> bool:
    """Check if a value is a float that is exactly a whole number."""
    return isinstance(value, float) and value.is_integer() and abs(value) < INEXACT


#: An id, which some services print as text.
Id = Annotated[int, BeforeValidator(_reject_bool)]
#: A time in a form that the API document does not show.
Time = Annotated[datetime | None, BeforeValidator(parse_time)]
#: A JSON object, which some services show as its text.
Document = Annotated[dict[str, Any], BeforeValidator(parse_document)]


#: A metaclass for a page of help without pydantic, made here because that of models is private.
_RecordPage: Any = type("_RecordPage", (type(BaseModel),), {"__dir__": HelpPage.__dir__})


class Record(BaseModel, metaclass=_RecordPage):  # type: ignore[metaclass]
    """One record as the service sent it.

    Fields the API document does not know are kept as attributes. Values of named kinds
    (a status, an event kind) are plain text, so a new one is never refused. What such a
    field holds under a name that secrets have is not taken in.
    """

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)

    #: What a list shows of a record; `get` may show more.
    listed: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """List the fields in the docstring of the class."""
        cls.__doc__ = (
            f"{inspect.cleandoc(cls.__doc__ or '')}\n\nFields: {', '.join(cls.model_fields)}."
        )

    @classmethod
    def parse_list(cls, data: bytes) -> list[Self]:
        """Parse records from a JSON list.

        Raises:
            ValidationError: It is not as documented.
        """
        return _make_record_adapter(cls).validate_json(data)

    @model_validator(mode="before")
    @classmethod
    def _mask_unknown_secrets(cls, fields: Any) -> Any:
        """Put a mask in place of secrets in fields that the API document does not know."""
        if not isinstance(fields, dict) or fields.keys() <= cls.model_fields.keys():
            return fields
        known = cls.model_fields
        return {n: v if n in known else mask_secrets(n, v) for n, v in fields.items()}

    @safe_repr
    def __repr__(self) -> str:
        """Show a field a line, without those that are empty."""
        fields = {str(n): v for n, v in self.__repr_args__() if v not in (None, "", [], {})}
        width = max(map(len, fields), default=0)
        rows = [f"  {cut(name):<{width}}  {cut(str(value), 80)}" for name, value in fields.items()]
        return "\n".join([f"{type(self).__name__}:", *rows])

    __str__ = __repr__


@cache
def _make_record_adapter(record: type[Record]) -> TypeAdapter[list[Any]]:
    """Return an adapter that parses a list of records, which is quicker than one by one."""
    return TypeAdapter(list[record])  # type: ignore[valid-type]


class Body(BaseModel):
    """The fields that may be sent of a record, checked before they are sent.

    Fields without a default are required on create. `create_only` cannot be updated.
    """

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    create_only: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def validate_create(
        cls, fields: Mapping[str, Any], what: str, required: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """Check the fields of a create. Raises `InputError` with every problem at once."""
        needed = set(cls.required() if required is None else required)
        means = {name: field.description or "" for name, field in cls.model_fields.items()}
        missing = [name for name in cls.model_fields if name in needed and name not in fields]
        problems = [Problem(name, "", "is required", means.get(name, "")) for name in missing]
        return cls._validate(fields, problems, f"{what} cannot be created:")

    @classmethod
    def validate_update(cls, fields: Mapping[str, Any], what: str) -> dict[str, Any]:
        """Check the fields of an update, each for itself; what is absent stays untouched.

        Raises `InputError` with every problem at once.
        """
        problems = []
        if not fields:
            problems = [
                Problem("(no field)", "", f"pass one of {', '.join(cls.list_updatable_fields())}")
            ]
        return cls._validate(fields, problems, f"{what} cannot be updated:", fixed=cls.create_only)

    @classmethod
    def accepts_text(cls, name: str) -> bool:
        """Return whether a field may hold text."""
        annotation = cls.model_fields[name].annotation
        either = get_origin(annotation) in (Union, UnionType)
        return annotation is str or (either and str in get_args(annotation))

    @classmethod
    def column(
        cls, name: str, values: Sequence[Any]
    ) -> tuple[dict[int, Any], dict[int, tuple[Problem, ...]]]:
        """Check many values of one field at once, which is faster than one by one.

        Returns:
            The values as they may be sent, and what is wrong with the others, by their places.
        """
        many = _make_list_adapter(cls, name)
        wrong: dict[int, tuple[Problem, ...]] = {}
        places = range(len(values))
        try:
            return dict(zip(places, _validate_values(many, values), strict=True)), wrong
        except (ValidationError, ValueError):
            for place in places:
                try:
                    _validate_values(many, [values[place]])
                except ValidationError:
                    wrong[place] = cls._find_value_problems(name, values[place])
                except ValueError as error:
                    text = _format_masked(values[place], name)
                    wrong[place] = (Problem(name, text, _explain_json_error(error)),)
        right = [n for n in places if n not in wrong]
        sent = _validate_values(many, [values[n] for n in right])
        return dict(zip(right, sent, strict=True)), wrong

    @classmethod
    def _find_value_problems(cls, name: str, value: Any) -> tuple[Problem, ...]:
        """Return the problems of one value of a field."""
        try:
            cls._validate({name: value}, [], "")
        except InputError as error:
            return error.problems
        return ()

    @classmethod
    def _validate(
        cls,
        fields: Mapping[str, Any],
        problems: list[Problem],
        heading: str,
        fixed: frozenset[str] = frozenset(),
    ) -> dict[str, Any]:
        """Return the fields that may be sent; raise one error with all problems.

        Args:
            fields: The values by name.
            problems: What is wrong already; what is wrong with these fields is added.
            heading: The first line of the error.
            fixed: Fields that can only be set when a record is created.
        """
        body = cls.model_construct()
        for name, value in fields.items():
            if name in fixed:
                reason = "can only be set when it is created"
                problems.append(Problem(name, _format_masked(value), reason, "leave it out"))
                continue
            try:
                cls.__pydantic_validator__.validate_assignment(body, name, value)
            except ValidationError as error:
                problems += cls._problems(error, fields)
            except UnicodeEncodeError:  # pydantic encodes the names of fields
                problems.append(Problem(visible(name), _format_masked(value), "cannot be sent"))
        if problems:
            raise InputError(heading, problems)
        return body.model_dump(exclude_unset=True)

    @classmethod
    def required(cls) -> list[str]:
        """Return the names of the fields that a create must send."""
        return [name for name, field in cls.model_fields.items() if field.is_required()]

    @classmethod
    @cache
    def list_updatable_fields(cls) -> tuple[str, ...]:
        """Return the names of the fields that an update may send."""
        return tuple(name for name in cls.model_fields if name not in cls.create_only)

    @classmethod
    def _problems(cls, error: ValidationError, fields: Mapping[str, Any]) -> list[Problem]:
        """Convert the errors of pydantic into one problem for each place."""
        problems: dict[str, Problem] = {}
        for detail in error.errors(include_url=False, include_input=False):
            field, value = _locate_value(detail["loc"], fields)
            reason = _explain_problem(detail, value)
            like = get_close_matches(field, cls.model_fields)
            if like and detail["type"] in _UNKNOWN and len(detail["loc"]) == 1:
                reason += f"; did you mean {like[0]}?"
            if field in problems:  # a field that may be this or that is neither
                reason = f"{problems[field].reason} or {reason.removeprefix('must be ')}"
            text = "" if detail["type"] == "missing" else _format_masked(value, field)
            problems[field] = Problem(field, text, reason)
        return list(problems.values())


@cache
def _make_list_adapter(body: type[Body], name: str) -> TypeAdapter[list[Any]]:
    """Return an adapter that validates a list of values of one field as strictly as the body."""
    field = body.model_fields[name]
    one = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    # Its errors are not shown: `Body._value_problems` describes them.
    return TypeAdapter(list[one], config=ConfigDict(strict=True))  # type: ignore[valid-type]


def _validate_values(many: TypeAdapter[list[Any]], values: Sequence[Any]) -> list[Any]:
    """Validate values, and return them as JSON values; raise what JSON cannot hold."""
    sent: list[Any] = many.dump_python(many.validate_python(values), exclude_unset=True)
    json.dumps(sent, ensure_ascii=False, allow_nan=False).encode()
    return sent


def _explain_json_error(error: ValueError) -> str:
    """Return the reason why JSON cannot hold a value."""
    half = isinstance(error, UnicodeEncodeError)
    return "holds half a character" if half else f"cannot be written as JSON ({error})"


#: What pydantic calls a field that there is not: on create, and on update.
_UNKNOWN = ("extra_forbidden", "no_such_attribute")
#: What is said of a number where text is needed.
KEEP_DIGITS = ", so that no digit, zero or + is lost"
_REASONS = {
    "missing": "is required",
    **dict.fromkeys(_UNKNOWN, "cannot be sent"),
    "bool_type": "must be True or False",
    "dict_type": "must be a dict",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "model_type": "must be a dict",
    "string_too_short": "must not be empty",
    "string_type": "must be text",
}


def _explain_problem(detail: ErrorDetails, value: object) -> str:
    """Return the reason of a validation error in plain words."""
    if detail["type"] == "literal_error":
        return f"must be {detail['ctx']['expected']}"
    reason = _REASONS.get(detail["type"], detail["msg"].removeprefix("Value error, "))
    if detail["type"] == "string_type" and type(value) in (int, float):
        reason += KEEP_DIGITS
    return reason


def _locate_value(loc: tuple[int | str, ...], fields: Mapping[str, Any]) -> tuple[str, object]:
    """Return the dotted name of a location that pydantic gives, and the value that was passed.

    Steps that lead nowhere are pydantic's own: a missing field, or one side of a union.
    """
    value: Any = fields
    names: list[int | str] = []
    for step in loc:
        try:
            value = value[step]
        except (LookupError, TypeError):
            if step == "[key]":
                value = names[-1]
            elif isinstance(value, Mapping):
                names.append(step)
            break
        names.append(step)
    return ".".join(map(str, names)), value


def add_body_signature(method: Any, body: type[Body], record: type[Record]) -> Any:
    """Return a copy of a method that has the fields of a body in its signature and help."""

    @wraps(method)
    def copy(self: Any, *args: Any, **fields: Any) -> Any:
        return method(self, *args, **fields)

    creating = method.__name__ == "create"
    fields = {n: f for n, f in body.model_fields.items() if creating or n not in body.create_only}
    own = inspect.signature(method)
    copy.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[
            *(p for p in own.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD),
            *(
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    annotation=field.annotation,
                    default=inspect.Parameter.empty if creating and field.is_required() else ...,
                )
                for name, field in fields.items()
            ),
            *(p for p in own.parameters.values() if p.kind is p.KEYWORD_ONLY),
        ],
        return_annotation=record,
    )
    listed = "\n".join(f"    {name}: {field.description}" for name, field in fields.items())
    copy.__doc__ = f"{inspect.cleandoc(method.__doc__ or '')}\n\nFields:\n{listed}\n"
    return copy


def _format_masked(value: object, field: str = "") -> str:
    """Return a value as a short text; a secret is masked."""
    return MASK if SECRET.search(field) else shorten(repr(value))
