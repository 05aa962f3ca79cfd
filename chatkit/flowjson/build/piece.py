"""Base classes of the builder: `Piece`, `Action` and `Block`.

They validate their properties, are read from JSON and written as JSON, or as the Python that
builds them.
"""

import base64
import inspect
import keyword
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, field, fields
from datetime import date, datetime
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    cast,
    dataclass_transform,
    get_origin,
)

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainValidator,
    ValidationError,
)
from pydantic.dataclasses import dataclass
from pydantic_core import CoreSchema, ErrorDetails, core_schema

from chatkit.errors import HelpPage, InputError, Problem
from chatkit.flowjson.components import SCREEN, ComponentShape, Shape
from chatkit.flowjson.nodes import find_closest_name
from chatkit.util.display import shorten

_FEW = 8  # values of an enumeration that the help shows


class _PieceValidator:
    """Validates a piece, or reads it from a dict that is its JSON."""

    def __get_pydantic_core_schema__(
        self, source: "type[Piece]", handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def validate(value: object) -> object:
            if isinstance(value, source):
                return value
            if isinstance(value, dict):
                return source.read(_validate_json(value))
            raise ValueError(f"must be {source.article_name()}, or its JSON as a dict")

        return core_schema.no_info_plain_validator_function(validate)


T = TypeVar("T")
One: TypeAlias = Annotated[T, _PieceValidator()]
Items: TypeAlias = list[Annotated[T, _PieceValidator()]]


def _validate_reference(value: str) -> str:
    if "${" not in value and not value.startswith("`"):
        raise ValueError("must be a reference like ${data.x}")
    return value


def _validate_json(value: Any) -> Any:
    """Refuse values that JSON does not have."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"must have text as keys, not {key!r}")
            _validate_json(item)
    elif isinstance(value, list):
        for item in value:
            _validate_json(item)
    elif not (value is None or isinstance(value, str | int | float)):
        raise ValueError(f"must be JSON, which has no {type(value).__name__}")
    return value


def _validate_payload(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse values that are neither JSON nor an input."""
    _validate_json({key: item for key, item in value.items() if not getattr(item, "entered", "")})
    return value


def _encode_picture(value: object) -> str:
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


def _format_date(value: object) -> str:
    if isinstance(value, date):
        return (value.date() if isinstance(value, datetime) else value).isoformat()
    if not isinstance(value, str):
        raise ValueError("must be a date, or text like 2026-12-31")
    return value


class ScreenLike(Protocol):
    """An object with an id: a screen."""

    id: str


def _screen_id(value: object) -> str:
    id = getattr(value, "id", value)
    if not isinstance(id, str):
        raise ValueError("must be a screen or its id")
    return id


#: A text that refers to a value.
Reference: TypeAlias = Annotated[str, AfterValidator(_validate_reference)]
Flag: TypeAlias = bool | Reference
Integer: TypeAlias = int | Reference
Number: TypeAlias = int | float | Reference
#: A picture: base64, or what is turned into it.
Base64: TypeAlias = Annotated[str | bytes | PathLike[str], PlainValidator(_encode_picture)]
Date: TypeAlias = Annotated[str | date, PlainValidator(_format_date)]
#: An object with keys of the author's own.
Map: TypeAlias = Annotated[dict[str, Any], AfterValidator(_validate_json)]
#: The payload of an action: JSON, and inputs of the flow.
Payload: TypeAlias = Annotated[dict[str, Any], AfterValidator(_validate_payload)]
#: A screen, or its id.
Target: TypeAlias = Annotated[str | ScreenLike, PlainValidator(_screen_id)]


def example(value: Any) -> dict[str, Any]:
    """Declare a field of a screen's data by an example: its type follows from it.

    >>> example("Ann")
    {'type': 'string', '__example__': 'Ann'}
    >>> example([{"id": "1", "title": "9:00"}])["items"]
    {'type': 'object', 'properties': {'id': {'type': 'string'}, 'title': {'type': 'string'}}}

    Raises:
        InputError: It has no type in JSON, or is an empty list, which does not tell of what.
    """
    return {**data_schema(value), "__example__": value}


def data_schema(value: Any) -> dict[str, Any]:
    """Return the JSON Schema of a value, as in a data model.

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
        return {"type": "object", "properties": {k: data_schema(v) for k, v in value.items()}}
    if isinstance(value, list) and value:
        return {"type": "array", "items": _items_schema(value)}
    reason = "an empty list does not tell what it holds" if value == [] else "JSON has no such type"
    raise InputError(
        "This cannot be an example of a field:", [Problem("value", repr(value), reason)]
    )


def _items_schema(values: list[Any]) -> dict[str, Any]:
    """Return one schema for all items; objects may differ in their properties."""
    schemas = [data_schema(value) for value in values]
    if all(each["type"] == "object" for each in schemas):
        properties: dict[str, Any] = {}
        for each in schemas:
            properties |= each["properties"]
        return {"type": "object", "properties": properties}
    return schemas[0]


_CONFIG = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)
#: Attributes for writing and reading pieces, which completion does not show.
_INNER = {
    *("article_name", "empty", "keys", "kinds", "nests", "noun", "order"),
    *("read", "constants", "shape", "kind_key", "write_json", "write_property"),
}


class Nest(NamedTuple):
    """A property nested one object deeper in JSON: its keys, and the constants beside it."""

    outer: str
    inner: str
    constants: Mapping[str, str]


class Memory(NamedTuple):
    """The original layout of a parsed piece: its key order and enclosing objects."""

    keys: tuple[str, ...]
    shells: Mapping[str, Mapping[str, Any]]


class WriteContext(NamedTuple):
    """The context in which a piece is written: its screen, and that of each component."""

    screen: str = ""
    homes: Mapping[int, str] = MappingProxyType({})  # by the identity of the component


@dataclass(config=_CONFIG, repr=False)
class Piece(metaclass=HelpPage):
    """One object of a flow document.

    A property that is None is not in the document. What the class does not know, or what is of
    a wrong type in a document that was read, is kept in `more` under its JSON name, unchecked.
    """

    shape: ClassVar[Shape]
    #: Keys and values that each piece of the class has in JSON.
    constants: ClassVar[Mapping[str, str]] = {}
    #: Attribute -> JSON key, in the order of the document.
    keys: ClassVar[dict[str, str]] = {}
    #: The order in the document, where it is not that of the table.
    order: ClassVar[tuple[str, ...]] = ()
    nests: ClassVar[Mapping[str, Nest]] = {}
    #: Attribute -> the type of its empty value, where a document lacks a list or an object.
    empty: ClassVar[Mapping[str, Callable[[], object]]] = {}
    #: Of a class that stands for several, Action or Block: its noun, the JSON key that
    #: distinguishes its classes, and the classes by the value of that key.
    noun: ClassVar[str] = ""
    kind_key: ClassVar[str] = ""
    kinds: ClassVar[dict[str, Any]] = {}
    _memory = None  # type: Memory | None

    _: KW_ONLY
    more: Map = field(default_factory=dict)

    @classmethod
    def article_name(cls) -> str:
        """Return the name of the class with its article."""
        article = "an" if cls.__name__[0] in "AEIOU" else "a"
        return str(vars(cls).get("noun") or f"{article} {cls.__name__}")

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Self | dict[str, Any]:
        """Read the JSON of a piece. It never fails: what does not fit is kept in `more`.

        Of an unknown kind of action or component the dict stays what it is.
        """
        if "kind_key" in vars(cls):
            kind = raw.get(cls.kind_key)
            kind_class = cls.kinds.get(kind) if isinstance(kind, str) else None
            return kind_class.read(raw) if kind_class else raw
        names = {key: name for name, key in cls.keys.items()}
        piece = object.__new__(cls)
        more: dict[str, Any] = {}
        shells: dict[str, Mapping[str, Any]] = {}
        vars(piece).update(dict.fromkeys(cls.keys), more=more)
        vars(piece).update({name: empty() for name, empty in cls.empty.items()})
        for key, value in raw.items():
            name = names.get(key, "")
            nest = cls.nests.get(name)
            if key in cls.constants and cls.constants[key] == value:
                continue
            if nest and isinstance(value, dict) and nest.inner in value:
                shells[name] = value
                fits = piece._try_set(name, value[nest.inner]) is None
            else:
                fits = not nest and name != "" and value is not None
                fits = fits and piece._try_set(name, value) is None
            if not fits:
                more[key] = value
        vars(piece).update(more=more, _memory=Memory(tuple(raw), shells))
        return piece

    def to_json(self) -> dict[str, Any]:
        """Write it as the dict that JSON needs."""
        return self.write_json(WriteContext())

    def write_json(self, context: WriteContext) -> dict[str, Any]:
        """Write it as JSON: in the order in which it was read, or else in the usual one."""
        written: dict[str, Any] = dict(self.constants)
        for name, key in self.keys.items():
            value = self.write_property(name, getattr(self, name), context)
            memory = self._memory  # an empty list that the document did not have stays out
            absent = memory is not None and (key not in memory.keys or key in self.more)
            if value is None or (not value and name in self.empty and absent):
                continue
            written[key] = self._wrap_nested(name, value) if name in self.nests else value
        properties = write_value(self.more, context) | written
        before = [key for key in self._memory.keys if key in properties] if self._memory else []
        return {key: properties[key] for key in dict.fromkeys([*before, *written, *properties])}

    def _validate(self) -> None:
        """Refuse a wrong combination of properties."""

    def write_property(self, name: str, value: Any, context: WriteContext) -> Any:
        """Write the value of one property; None is left out."""
        return write_value(value, context)

    def _wrap_nested(self, name: str, value: Any) -> dict[str, Any]:
        """Wrap a nested value in its object."""
        nest = self.nests[name]
        shell = self._memory.shells.get(name) if self._memory else None
        return {**(shell or nest.constants), nest.inner: value}

    def __setattr__(self, name: str, value: Any) -> None:
        cls = type(self)
        if name not in (*cls.keys, "more"):
            better = suggest_name(name, cls.keys)
            raise AttributeError(f"{cls.__name__} has no property {name!r}{better}")
        if error := self._try_set(name, value):
            raise construction_error(cls.__name__, [name], error)

    def _try_set(self, name: str, value: Any) -> ValidationError | None:
        """Set a property, or return the error of its value."""
        memory = self._memory
        try:
            type(self).__pydantic_validator__.validate_assignment(self, name, value)  # type: ignore[attr-defined]
        except ValidationError as error:
            return error
        vars(self)["_memory"] = memory  # pydantic keeps the properties alone
        return None

    def __dir__(self) -> list[str]:
        """Return the names that completion shows: without those for writing and reading."""
        return [name for name in super().__dir__() if name not in _INNER]

    def __repr__(self) -> str:
        return format_node(CodeWriter(cut=True).piece_node(self))


def write_value(value: Any, context: WriteContext) -> Any:
    """Write any value as JSON, as a copy."""
    if isinstance(value, Piece):
        return value.write_json(context)
    if isinstance(value, dict):
        return {key: write_value(item, context) for key, item in value.items()}
    if isinstance(value, list):
        return [write_value(item, context) for item in value]
    return value


P = TypeVar("P", bound=Piece)


@dataclass_transform(field_specifiers=(field, Field))
def piece_of(shape: Shape) -> Callable[[type[P]], type[P]]:
    """Make a class a piece of a shape, with the names, order and descriptions of the table."""

    def make(cls: type[P]) -> type[P]:
        own = {
            name: hint
            for name, hint in cls.__annotations__.items()
            if hint not in (KW_ONLY, ClassVar)
        }
        outer = {nest.outer: name for name, nest in cls.nests.items()}
        listed = {outer.get(p.name) or attribute_name(p.name): p for p in shape.properties}
        cls.shape = shape
        if cls.kind_key:
            cls.constants = {cls.kind_key: shape.name}
        order = cls.order or [name for name in listed if name in own]
        cls.keys = {name: listed[name].name for name in order}
        # what holds others is never None: it is empty where the document does not have it
        cls.empty = {
            name: get_origin(hint)
            for name, hint in own.items()
            if get_origin(hint) in (list, dict) and not hasattr(cls, name)
        }
        for name, hint in own.items():
            described = Field(description=listed[name].about)
            cls.__annotations__[name] = Annotated[hint, described]
        made = cast("type[P]", dataclass(cls, config=_CONFIG, repr=False))
        if cls.kind_key:
            cls.kinds[shape.name] = made
        made.__init__ = _make_init(made)  # type: ignore[method-assign]
        made.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\nArgs:\n{_arguments_help(made)}"
        return made

    return make


def attribute_name(key: str) -> str:
    """Convert the key of a property to a Python name: on-click-action to on_click_action."""
    name = key.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def _make_init(cls: type[P]) -> Callable[..., None]:
    """Wrap the initializer of a class so that refused arguments raise InputError."""
    init = cls.__init__
    names = [f.name for f in fields(cls) if not f.kw_only]
    names += [f.name for f in fields(cls) if f.kw_only and f.name != "more"] + ["more"]

    def __init__(self: P, *args: Any, **keywords: Any) -> None:
        try:
            init(self, *args, **keywords)
        except ValidationError as error:
            raise construction_error(cls.__name__, names, error) from None
        self._validate()

    cls.__signature__ = _make_signature(cls, names)  # type: ignore[attr-defined]
    return __init__


def _make_signature(cls: type[Piece], names: list[str]) -> inspect.Signature:
    """Return the signature of a class as a reader needs it: its types are in the help."""
    parameters, empty = inspect.signature(cls).parameters, inspect.Parameter.empty
    arguments = [parameters[name].replace(annotation=empty) for name in names[:-1]]
    more = parameters["more"].replace(annotation=empty, default=None)  # the last of the names
    return inspect.Signature([*arguments, more])


def _arguments_help(cls: type[Piece]) -> str:
    """Write the arguments of a class for its docstring."""
    parts = []
    for name in (f.name for f in fields(cls) if f.name != "more"):
        about = cls.shape.by_name[cls.keys[name]]
        since = f" Since {about.since}." if about.since > (2, 1) else ""
        length = f" At most {about.length:,} characters." if about.length else ""
        values = f" One of {', '.join(about.enum)}." if 0 < len(about.enum) <= _FEW else ""
        parts.append(f"    {name}: {about.about}{values}{length}{since}")
    return "\n".join([*parts, "    more: Other properties by their JSON names, unchecked."])


_REASONS = {
    "bool_type": "must be True or False",
    "dict_type": "must be a dict",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "missing": "is required",
    "missing_argument": "is required",
    "missing_positional_only_argument": "is required",
    "string_type": "must be text",
    "unexpected_positional_argument": "is one argument too many: name the others",
}


def construction_error(name: str, names: Sequence[str], error: ValidationError) -> InputError:
    """Convert an error of pydantic to one that lists the problems of the arguments of a piece.

    Args:
        name: The name of the class.
        names: Its arguments, in their order.
        error: The error of pydantic.
    """
    problems: dict[str, Problem] = {}
    for detail in error.errors(include_url=False):
        field = _argument_name(detail["loc"], names)
        reason = _problem_reason(detail, field, name, names)
        if field in problems and problems[field].reason != reason:  # neither this nor that
            reason = f"{problems[field].reason} or {reason.removeprefix('must be ')}"
        problems[field] = Problem(field, _passed_value(detail), reason)
    return InputError(f"This {name} cannot be built:", list(problems.values()))


def suggest_name(name: object, names: Iterable[str]) -> str:
    """Return a question for a similar name, to end a message; empty without one."""
    like = find_closest_name(str(name), names)
    return f"; did you mean {like}?" if like else ""


def _argument_name(loc: tuple[int | str, ...], names: Sequence[str]) -> str:
    """Return the name of the argument, and of its item, that a location of pydantic points at."""
    first, *rest = loc
    if isinstance(first, int):
        first = names[first] if first < len(names) else f"argument {first + 1}"
    item = next((step for step in rest if isinstance(step, int)), None)
    return first if item is None else f"{first}[{item}]"


def _problem_reason(detail: ErrorDetails, field: str, name: str, names: Sequence[str]) -> str:
    if detail["type"] == "unexpected_keyword_argument":
        return f"is not a property of {name}{suggest_name(field, names)}"
    if detail["type"] == "literal_error":
        return f"must be {detail['ctx']['expected']}"
    return _REASONS.get(detail["type"], detail["msg"].removeprefix("Value error, "))


def _passed_value(detail: ErrorDetails) -> str:
    """Return the passed value as text; empty if an argument is missing."""
    return "" if detail["type"].startswith("missing") else shorten(repr(detail["input"]))


class Action(Piece):
    """An action: the effect of a tap or a choice.

    A payload may hold inputs of the flow: `Complete({"email": email})` sends what a person
    enters in the TextInput `email`, on whichever screen it stands.
    """

    kinds: ClassVar[dict[str, type["Action"]]] = {}
    noun, kind_key = "an action", "name"

    def write_property(self, name: str, value: Any, context: WriteContext) -> Any:
        """Write the value of one property; an input in a payload is written as a reference."""
        if name != "payload" or not isinstance(value, dict):
            return write_value(value, context)
        return {key: _write_payload_value(item, context) for key, item in value.items()}


def _write_payload_value(item: Any, context: WriteContext) -> Any:
    entered = getattr(item, "entered", None)
    if entered is None:
        return write_value(item, context)
    screen_id = context.homes.get(id(item), context.screen)
    prefix = "" if screen_id == context.screen else f"screen.{screen_id}."
    return f"${{{prefix}form.{entered}}}"


class Block(Piece):
    """A component of a screen: a text, an input, a picture, a button, or a container."""

    shape: ClassVar[ComponentShape]
    kinds: ClassVar[dict[str, type["Block"]]] = {}
    noun, kind_key = "a component", "type"

    @property
    def entered(self) -> str | None:
        """The name under which a person's entry is known, if it is an input."""
        return getattr(self, "name", None) if self.shape.is_input else None

    def __str__(self) -> str:
        """Return the reference to what a person enters in it, if it is an input."""
        return f"${{form.{self.entered}}}" if self.entered else repr(self)

    def __format__(self, spec: str) -> str:
        """Return the reference, for texts like f"Hello {name}"; raise where there is none."""
        if self.entered is None:
            name = type(self).article_name()
            raise InputError(
                f"{name[:1].upper()}{name[1:]} is not an input: nobody enters a value in it, so no "
                "text can hold one."
            )
        return format(str(self), spec)

    def branches(self) -> Iterator[tuple[str, object]]:
        """Yield the lists of components in it, each with its name: then, else, or a case."""
        for name, key in self.keys.items():
            about = self.shape.property(key)
            value = getattr(self, name)
            if about is None or not value:
                continue
            if about.kind == "components":
                yield "" if key == "children" else key, value
            elif about.kind == "cases":
                yield from value.items()

    def actions(self) -> Iterator[tuple[str, Action]]:
        """Yield its actions and those of its options, each with the key it stands under."""
        yield from _find_actions(self)


def _find_actions(owner: Piece) -> Iterator[tuple[str, Action]]:
    for name, key in owner.keys.items():
        value = getattr(owner, name)
        if isinstance(value, Action):
            yield key, value
        for item in value if isinstance(value, list) else ():
            if isinstance(item, Piece) and not isinstance(item, Block):
                yield from _find_actions(item)


def all_blocks(blocks: object) -> Iterator[Block]:
    """Yield all components of a list, each before those in it."""
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, Block):
            yield block
            for _, inside in block.branches():
                yield from all_blocks(inside)


WIDTH = 88  # what formatters take if nobody says otherwise


class Group(NamedTuple):
    """Items in brackets: on one line if there is room, or else one item a line."""

    head: str
    items: "list[tuple[str, Node]]"
    tail: str


Node = str | Group
NamedNodes = Iterable[tuple[str, Node]]


def call_node(name: str, arguments: Iterable[Node], named: NamedNodes = ()) -> Group:
    """Make the node of a call."""
    items = [*(("", each) for each in arguments), *((f"{key}=", each) for key, each in named)]
    return Group(f"{name}(", items, ")")


def list_node(items: Iterable[Node]) -> Group:
    """Make the node of a list."""
    return Group("[", [("", each) for each in items], "]")


def dict_node(items: NamedNodes) -> Group:
    """Make the node of a dict."""
    return Group("{", [(f"{quote_text(key)}: ", each) for key, each in items], "}")


def quote_text(text: str) -> str:
    """Write a text, in double quotes unless that needs more backslashes."""
    written = repr(text)
    if written[0] == '"':
        return written
    inner = written[1:-1].replace("\\'", "'").replace('"', '\\"')
    return min(f'"{inner}"', written, key=len)


def format_node(node: Node, before: int = 0, indent: int = 0, after: int = 0) -> str:
    """Write a node as code; `before` and `after` count the other characters on its line."""
    if isinstance(node, str) or not node.items:
        return format_flat(node)
    line = format_flat(node)
    if before + len(line) + after <= WIDTH:
        return line
    inner = indent + 4
    lines = [
        f"{' ' * inner}{key}{format_node(item, inner + len(key), inner, 1)},\n"
        for key, item in node.items
    ]
    return f"{node.head}\n{''.join(lines)}{' ' * indent}{node.tail}"


def format_flat(node: Node) -> str:
    """Write a node on one line."""
    if isinstance(node, str):
        return node
    return node.head + ", ".join(key + format_flat(item) for key, item in node.items) + node.tail


_LONG_TEXT = 200  # characters of a text without a blank: a picture, which gets a name of its own


class CodeWriter:
    """Writes the Python that builds pieces, and notes the names to import."""

    def __init__(self, *, cut: bool = False) -> None:
        self.cut = cut
        self.context = WriteContext()  # in which the code is going to build the pieces
        self.imported: set[str] = set()
        self.pictures: dict[str, str] = {}

    def piece_node(self, piece: Piece) -> Node:
        """Make the node of a piece: its call, or its JSON if its class refuses it."""
        document = piece.to_json()
        if rebuild_json(piece, self.context) != document:
            return self.value_node(document)
        arguments = dict(self.argument_nodes(piece))
        positional = [f.name for f in fields(cast(Any, piece)) if not f.kw_only]
        while positional and positional[-1] not in arguments:
            positional.pop()
        return self.imported_call(
            type(piece).__name__,
            [arguments.pop(name, "None") for name in positional],
            arguments.items(),
        )

    def argument_nodes(self, piece: Piece) -> Iterator[tuple[str, Node]]:
        """Yield the arguments of a piece by name."""
        for name in [*(f.name for f in fields(cast(Any, piece)) if f.name != "more"), "more"]:
            value = getattr(piece, name)
            if value is None or (name == "more" and not value):
                continue
            if piece.shape is SCREEN and name == "data":
                yield name, dict_node((key, self.field_node(item)) for key, item in value.items())
            else:
                yield name, self.value_node(value)

    def value_node(self, value: Any) -> Node:
        """Make the node of a value: pieces are calls, and pictures variables."""
        if isinstance(value, Piece):
            return self.piece_node(value)
        if isinstance(value, list):
            return list_node(map(self.value_node, value))
        if isinstance(value, dict):
            return dict_node((key, self.value_node(item)) for key, item in value.items())
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        if not isinstance(value, str):
            return repr(value)
        if len(value) <= _LONG_TEXT or not re.fullmatch(r"\S+", value):
            return quote_text(value)
        if self.cut:
            return quote_text(f"{value[:40]}…")
        return self.pictures.setdefault(value, f"PICTURE_{len(self.pictures) + 1}")

    def field_node(self, declared: Any) -> Node:
        """Make the node of a data field: a call of `example` if that gives the same field."""
        try:
            is_example = isinstance(declared, dict) and example(declared["__example__"]) == declared
        except (KeyError, InputError):
            is_example = False
        if not is_example:
            return self.value_node(declared)
        return self.imported_call("example", [self.value_node(declared["__example__"])])

    def imported_call(self, name: str, arguments: Iterable[Node], named: NamedNodes = ()) -> Node:
        """Make the node of a call of a name of `chatkit.flowjson`, and note its import."""
        self.imported.add(name)
        return call_node(name, arguments, named)


def rebuild_json(piece: Piece, context: WriteContext) -> dict[str, Any] | None:
    """Return the JSON of a piece built anew from its fields; None if its class refuses them.

    That shows whether a call of its class can stand for the piece in code.
    """
    values = {name: getattr(piece, name) for name in [*piece.keys, "more"]}
    try:
        return type(piece)(**values).write_json(context)
    except InputError:
        return None
