"""Piece: one object of a flow document as an object of Python; the base of all classes."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, field, fields
from types import MappingProxyType
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    Self,
    TypeVar,
    cast,
    dataclass_transform,
    get_origin,
)

from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from chatkit.flowjson.build.kinds import Map, Words, shown
from chatkit.flowjson.build.refusal import meant, refused
from chatkit.flowjson.property import Shape

_CONFIG = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)
#: What pieces know of themselves for those who write and read them.
_INNER = {
    *("called", "empty", "keys", "kinds", "nests", "order"),
    *("put", "read", "says", "shape", "written"),
}


class Nest(NamedTuple):
    """A property that stands one object deeper in JSON: its key there, and what is beside it."""

    outer: str
    inner: str
    beside: Mapping[str, str]


class Memory(NamedTuple):
    """How a piece stood in the document it was read from: its keys, and the objects around."""

    keys: tuple[str, ...]
    shells: Mapping[str, Mapping[str, Any]]


class Place(NamedTuple):
    """Where a piece is written: the screen, where each input stands, what its version wants."""

    screen: str = ""
    homes: Mapping[int, str] = MappingProxyType({})
    forms: bool = False


@dataclass(config=_CONFIG, repr=False)
class Piece:
    """One object of a flow document.

    A property that is None is not in the document. What the class does not know, or what is of
    a wrong type in a document that was read, is kept in `more` under its JSON name, unchecked.
    """

    shape: ClassVar[Shape]
    #: What each piece of the class says of itself in JSON.
    says: ClassVar[Mapping[str, str]] = {}
    #: Attribute -> JSON key, in the order of the document.
    keys: ClassVar[dict[str, str]] = {}
    #: The order in the document, where it is not that of the table.
    order: ClassVar[tuple[str, ...]] = ()
    nests: ClassVar[Mapping[str, Nest]] = {}
    #: Attribute -> what makes an empty one, if a document lacks what holds other pieces.
    empty: ClassVar[Mapping[str, Callable[[], object]]] = {}
    _memory = None  # type: Memory | None

    _: KW_ONLY
    more: Map = field(default_factory=dict)

    @classmethod
    def called(cls) -> str:
        """Say what it is, with its article."""
        return f"{'an' if cls.__name__[0] in 'AEIOU' else 'a'} {cls.__name__}"

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Self | dict[str, Any]:
        """Read the JSON of a piece. It never fails: what does not fit is kept in `more`."""
        names = {key: name for name, key in cls.keys.items()}
        piece = object.__new__(cls)
        more: dict[str, Any] = {}
        shells: dict[str, Mapping[str, Any]] = {}
        vars(piece).update(dict.fromkeys(cls.keys), more=more)
        vars(piece).update({name: empty() for name, empty in cls.empty.items()})
        for key, value in raw.items():
            name = names.get(key, "")
            nest = cls.nests.get(name)
            if key in cls.says and cls.says[key] == value:
                continue
            if nest and isinstance(value, dict) and nest.inner in value:
                shells[name] = value
                fits = piece._set(name, value[nest.inner]) is None
            else:
                fits = not nest and name != "" and value is not None
                fits = fits and piece._set(name, value) is None
            if not fits:
                more[key] = value
        vars(piece).update(more=more, _memory=Memory(tuple(raw), shells))
        return piece

    def to_json(self) -> dict[str, Any]:
        """Write it as the dict that JSON needs."""
        return self.written(Place())

    def written(self, place: Place) -> dict[str, Any]:
        """Write it as JSON: in the order in which it was read, or else in the usual one."""
        known: dict[str, Any] = dict(self.says)
        for name, key in self.keys.items():
            value = self.put(name, getattr(self, name), place)
            if value is None or (not value and name in self.empty and self._vacant(key)):
                continue
            known[key] = self._shell(name, value) if name in self.nests else value
        whole = write(self.more, place) | known
        before = [key for key in self._memory.keys if key in whole] if self._memory else []
        return {key: whole[key] for key in dict.fromkeys([*before, *known, *whole])}

    def put(self, name: str, value: Any, place: Place) -> Any:
        """Write the value of one property; None is left out."""
        return write(value, place)

    def _vacant(self, key: str) -> bool:
        """Whether the document had nothing there that could be empty."""
        return self._memory is not None and (key not in self._memory.keys or key in self.more)

    def _shell(self, name: str, value: Any) -> dict[str, Any]:
        """Put the object around a value that stands deeper."""
        nest = self.nests[name]
        shell = self._memory.shells.get(name) if self._memory else None
        return {**(shell or nest.beside), nest.inner: value}

    def __setattr__(self, name: str, value: Any) -> None:
        cls = type(self)
        if name not in (*cls.keys, "more"):
            raise AttributeError(f"{cls.__name__} has no property {name!r}{meant(name, cls.keys)}")
        if error := self._set(name, value):
            raise refused(cls.__name__, [name], error)

    def _set(self, name: str, value: Any) -> ValidationError | None:
        """Set a property, or return what is wrong with the value."""
        memory = self._memory
        try:
            type(self).__pydantic_validator__.validate_assignment(self, name, value)  # type: ignore[attr-defined]
        except ValidationError as error:
            return error
        vars(self)["_memory"] = memory  # pydantic keeps the properties alone
        return None

    def __dir__(self) -> list[str]:
        """Name what a person works with: completion shows no more."""
        return [name for name in super().__dir__() if name not in _INNER]

    def __repr__(self) -> str:
        from chatkit.flowjson.build.code import expression

        return expression(self)


def write(value: Any, place: Place) -> Any:
    """Write any value as JSON. What comes back is a copy."""
    if isinstance(value, Piece):
        return value.written(place)
    if isinstance(value, dict):
        return {key: write(item, place) for key, item in value.items()}
    if isinstance(value, list):
        return [write(item, place) for item in value]
    return value


P = TypeVar("P", bound=Piece)


@dataclass_transform(field_specifiers=(field, Field))
def piece(shape: Shape) -> Callable[[type[P]], type[P]]:
    """Make a class of pieces: names, order and descriptions come from the table."""

    def make(cls: type[P]) -> type[P]:
        own = {
            name: hint
            for name, hint in cls.__annotations__.items()
            if hint not in (KW_ONLY, ClassVar)
        }
        outer = {nest.outer: name for name, nest in cls.nests.items()}
        listed = {outer.get(each.name) or attribute(each.name): each for each in shape.properties}
        cls.shape = shape
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
        made.__init__ = _told(made)  # type: ignore[method-assign]
        made.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\nArgs:\n{_arguments(made)}"
        return made

    return make


def attribute(key: str) -> str:
    """Turn the key of a property into a name of Python: on-click-action, on_click_action."""
    name = key.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def _told(cls: type[P]) -> Callable[..., None]:
    """Let a class say in our words what it refuses."""
    init = cls.__init__
    names = [f.name for f in fields(cls) if not f.kw_only]
    names += [f.name for f in fields(cls) if f.kw_only and f.name != "more"] + ["more"]

    def __init__(self: P, *args: Any, **given: Any) -> None:
        try:
            init(self, *args, **given)
        except ValidationError as error:
            raise refused(cls.__name__, names, error) from None

    cls.__signature__ = _signature(cls, names)  # type: ignore[attr-defined]
    return __init__


def _signature(cls: type[Piece], names: list[str]) -> inspect.Signature:
    """Write the signature for the reader: without what pydantic makes of it."""
    given = inspect.signature(cls).parameters
    hints = cls.__annotations__ | {"more": dict}
    return inspect.Signature(
        [
            given[name].replace(
                annotation=Words(shown(hints[name])),
                default=given[name].default if name != "more" else None,
            )
            for name in names
        ]
    )


def _arguments(cls: type[Piece]) -> str:
    """Describe the arguments of a class for its help."""
    parts = []
    for name in (f.name for f in fields(cls) if f.name != "more"):
        about = cls.shape.by_name[cls.keys[name]]
        since = f" Since {about.since}." if about.since > (2, 1) else ""
        length = f" At most {about.length:,} characters." if about.length else ""
        parts.append(f"    {name}: {about.about}{length}{since}")
    return "\n".join([*parts, "    more: Other properties by their JSON names, unchecked."])
