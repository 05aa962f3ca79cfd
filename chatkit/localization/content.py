"""Content: one content as the rules see it, whatever stands in its cells, and its placeholders.

A frame, a record, a mapping or several of them become entries. What a value of the wrong type
holds is not looked at; that it is wrong is said once. Where {{1}} stands in a text, and what only
looks like one, is told of any text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from chatkit.errors import InputError
from chatkit.localization import language

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.api.record import Body, Record

#: A text: its field, what it is in words, and itself.
Piece: TypeAlias = tuple[str, str, str]
#: What can be checked: a frame of contents, one content, or several.
Contents: TypeAlias = "pd.DataFrame | Record | Body | Mapping[str, Any] | Iterable[Any]"

_Field: TypeAlias = tuple[str, type, type, str]
_TYPES: dict[str, tuple[type, str]] = {
    "text": (str, "text"),
    "footer": (str, "text"),
    "variables": (Mapping, "an object of placeholder numbers and sample texts"),
    "headers": (list, "an array"),
    "buttons": (list, "an array"),
    "auth_apps": (list, "an array"),
    "auth_delivery_method": (str, "text"),
    "parameter_format": (str, "text"),
    "is_draft": (bool, "true or false"),
    "is_catalog": (bool, "true or false"),
    "is_catalog_connected": (bool, "true or false"),
    "is_custom_validity_period": (bool, "true or false"),
    "auth_add_security_recommendation": (bool, "true or false"),
    "auth_add_code_expiration": (bool, "true or false"),
    "validity_period_seconds": (int, "a whole number"),
    "auth_code_expiration_seconds": (int, "a whole number"),
}
#: The same, with the type that nearly all values have: to be told without more ado.
_FIELDS: tuple[_Field, ...] = tuple(
    (name, dict if kind is Mapping else kind, kind, said) for name, (kind, said) in _TYPES.items()
)
_LARGE = 2**63  #: the service keeps smaller numbers
_NESTED = ("variables", "headers", "buttons", "auth_apps")


class Entry:
    """One content: its fields, those of the wrong type taken out, and its placeholders."""

    __slots__ = (
        *("template_code", "lang_code", "given", "wrong", "text", "footer", "headers"),
        *("buttons", "variables", "apps", "pieces", "_slots"),
    )

    def __init__(
        self,
        given: Mapping[str, Any],
        template_code: str,
        lang_code: str,
        fields: Iterable[_Field] = _FIELDS,
    ) -> None:
        self.template_code = template_code
        self.lang_code = lang_code
        self.given = given
        #: Fields of another type than the API document says, and what it says.
        self.wrong: dict[str, str] = {}
        self.text: str = part(given, "text")
        self.footer: str = part(given, "footer")
        self.headers: list[Mapping[str, Any]] = self._objects("headers")
        self.buttons: list[Mapping[str, Any]] = self._objects("buttons")
        self.apps: list[Mapping[str, Any]] = self._objects("auth_apps")
        samples: Any = given.get("variables")
        self.variables: Mapping[str, Any] = samples if _is_object(samples) else {}
        self._slots: list[Slot] | None = None
        #: Every text that a customer reads: its field, what it is in words, and itself.
        self.pieces: list[Piece] = _pieces(self)
        for name, exactly, kind, said in fields:
            value = given.get(name)
            if value is None or (type(value) is exactly and kind is not int):  # nearly all are
                continue
            if not _fits(value, kind):
                self.wrong[name] = said

    def __repr__(self) -> str:
        return f"<content {self.template_code!r} {self.lang_code!r}>"

    @property
    def slots(self) -> list[Slot]:
        """The placeholders of the text, in order."""
        if self._slots is None:
            self._slots = slots(self.text)
        return self._slots

    @property
    def authenticates(self) -> bool:
        """Whether it is an authentication content: it says how the code is delivered."""
        return bool(self.flag("auth_delivery_method"))

    def knows(self, name: str) -> bool:
        """Whether the field was given at all; a list of contents shows only some."""
        return name in self.given

    def flag(self, name: str) -> Any:
        """Return a simple field, None if it is absent or of another type."""
        return None if name in self.wrong else self.given.get(name)

    def filled(self) -> str:
        """Write it in one line as a customer reads it, with the samples in their places."""
        text, end = "", 0
        for slot in self.slots:
            sample = self.variables.get(slot.name)
            text += self.text[end : slot.start] + (str(sample) if sample else str(slot))
            end = slot.end
        heads = [text for field, _, text in self.pieces if field.startswith("headers")]
        labels = "".join(f" [{part(b, 'label')}]" for b in self.buttons if part(b, "label"))
        parts = [*heads, text + self.text[end:], self.footer]
        return " / ".join(each for each in parts if each.strip()) + labels

    def _objects(self, name: str) -> list[Mapping[str, Any]]:
        items = self.given.get(name)
        if not items or not isinstance(items, list):
            return []
        found: list[Mapping[str, Any]] = []
        for number, item in enumerate(items):
            if _is_object(item):
                found.append(item)
            else:
                found.append({})
                self.wrong[f"{name}.{number}"] = "an object"
        return found


def _is_object(value: Any) -> bool:
    return type(value) is dict or isinstance(value, Mapping)


def _fits(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    if kind is int:
        return isinstance(value, int) and abs(value) < _LARGE
    return isinstance(value, kind)


def part(item: Mapping[str, Any], name: str) -> str:
    """Return a text of a header, button or app; empty if it is absent or no text."""
    value = item.get(name)
    return value if isinstance(value, str) else ""


def entries(given: Contents) -> list[Entry]:
    """Read contents from a frame, a record, a mapping, or several of them.

    Raises:
        InputError: They are none of these, or a frame does not tell the language.
    """
    return list(_entries(given))


def _entries(given: Any) -> Iterator[Entry]:
    if type(given) is dict:  # nearly all are
        texts = _TEXTS.issuperset(map(type, given))
        yield _entry(given.copy() if texts else {str(name): given[name] for name in given})
    elif isinstance(given, Entry):
        yield given
    elif hasattr(given, "columns") and hasattr(given, "index"):
        yield from _rows(given)
    elif isinstance(given, Mapping):
        yield _entry({str(name): value for name, value in given.items()})
    elif hasattr(given, "model_dump"):
        yield _entry(given.model_dump(exclude_unset=True))
    elif isinstance(given, Iterable) and not isinstance(given, str | bytes):
        for one in given:
            yield from _entries(one)
    else:
        raise InputError(
            f"A {type(given).__name__} cannot be read as contents: pass a frame of contents, a "
            "content, a dict with its fields, or a list of these."
        )


def _rows(frame: pd.DataFrame) -> Iterator[Entry]:
    columns: dict[str, list[Any]] = {}
    for label, column in frame.reset_index(drop=True).items():  # each has a view of the index
        columns.setdefault(str(label), column.tolist())
    for level, named in enumerate(frame.index.names):
        if named is not None:
            columns.setdefault(str(named), frame.index.get_level_values(level).tolist())
    if "lang_code" not in columns:
        raise InputError(
            "The frame does not tell the languages: it needs a column, or a level of the index, "
            'called lang_code. templates.frame(["code"], full=True) has it.'
        )
    plain = {name: _plain_values(name, values) for name, values in columns.items()}
    holes = [name for name in _NESTED if any(each is _HOLE for each in plain.get(name, ()))]
    names = list(plain)
    odd = tuple(each for each in _FIELDS if _is_odd(each, plain.get(each[0], ())))
    for row in zip(*plain.values(), strict=True):
        given = dict(zip(names, row, strict=True))
        for name in holes:
            if given[name] is _HOLE:
                del given[name]
        yield _from(given, odd)


def _is_odd(field: _Field, values: Iterable[Any]) -> bool:
    """Whether a column has values to be looked at one by one: nearly all have the right type."""
    _, exactly, kind, _ = field
    return kind is int or not {exactly, type(None), object}.issuperset(map(type, values))


def _entry(fields: dict[str, Any]) -> Entry:
    if _PLAIN.issuperset(map(type, fields.values())):
        return _from(fields)
    plain = ((name, _plain_values(name, [value])[0]) for name, value in fields.items())
    return _from({name: value for name, value in plain if value is not _HOLE})


def _from(given: dict[str, Any], fields: Iterable[_Field] = _FIELDS) -> Entry:
    lang_code, code = given.get("lang_code"), given.get("template_code")
    return Entry(
        given,
        code if isinstance(code, str) else "",
        lang_code if isinstance(lang_code, str) else "",
        fields,
    )


_TEXTS = frozenset((str,))
_PLAIN = frozenset((str, bool, int, list, dict, type(None)))
_NOTHING = frozenset(("NAType", "NaTType"))  #: types of what pandas has for nothing
#: What a frame has in a row where the service has a list or an object elsewhere: it is no null,
#: for this row was read without that field.
_HOLE = object()


def _plain_values(name: str, values: list[Any]) -> list[Any]:
    """Make plain values of those of a field; nearly all are."""
    odd = {kind for kind in set(map(type, values)) if kind not in _PLAIN}
    if not odd:
        return values
    nothing = _HOLE if name in _NESTED else None
    if _NOTHING.issuperset(kind.__name__ for kind in odd):
        return [nothing if type(value) in odd else value for value in values]
    found = []
    for value in values:
        if type(value) in odd and (value := _plain(value)) is None:
            value = nothing
        found.append(value)
    return found


def _plain(value: Any) -> Any:
    """Make None of what pandas has for nothing, and a plain number or flag of one of numpy's."""
    if isinstance(value, float):
        if value != value:
            return None
        return int(value) if value.is_integer() else value
    if isinstance(value, str | bool | int | list | dict):
        return value
    if type(value).__name__ in _NOTHING:
        return None
    if getattr(value, "ndim", 1) == 0:
        return _plain(value.item())
    if type(value).__name__ == "ndarray":
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def texts_in(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return every text that a customer reads, by its field, of some fields of a content."""
    return {field: text for field, _, text in Entry(fields, "", "", ()).pieces}


def _pieces(entry: Entry) -> list[Piece]:
    found = [
        (f"headers.{number}.text", "the header", text)
        for number, header in enumerate(entry.headers)
        if (text := part(header, "text"))
    ]
    if entry.text:
        found.append(("text", "the text", entry.text))
    if entry.footer:
        found.append(("footer", "the footer", entry.footer))
    for number, button in enumerate(entry.buttons):
        if label := part(button, "label"):
            found.append((*_label_of(number), label))
    return found


@lru_cache(64)  # nearly all are of the first buttons
def _label_of(number: int) -> tuple[str, str]:
    return f"buttons.{number}.label", f"the label of button {number + 1}"


def grouped(found: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Put the contents of each template together, in the order of their first."""
    templates: dict[str, list[Entry]] = {}
    for entry in found:
        templates.setdefault(entry.template_code, []).append(entry)
    return templates


def source_of(members: Sequence[Entry], source: str) -> Entry | None:
    """Find the content that the others of a template are translated from."""
    for entry in members:
        if entry.lang_code == source:  # nearly always
            return entry
    code = language.find(source, [entry.lang_code for entry in members])
    return next((entry for entry in members if entry.lang_code == code), None)


_SLOT = re.compile(r"\{\{([^{}]*)\}\}")
_NUMBER = re.compile("[1-9][0-9]{0,3}")
#: Braces that belong to no placeholder; a placeholder stands as a run of NUL.
_STRAY = re.compile(r"\{\{|\}\}|\{\s*\d+\s*\}|[｛｝]|\{(?=\0)|(?<=\0)\}")
_BRACES = re.compile("[{}｛｝]")
#: Where something begins between two spaces that can be read.
_WORD = re.compile(r"(?<!\S)[^\w\s]*\w")


class Slot(NamedTuple):
    """One placeholder: what stands between its braces, where it begins, where it has ended."""

    name: str
    start: int
    end: int

    @property
    def number(self) -> int | None:
        """Its number; None if it has none that the API would write."""
        return int(self.name) if _NUMBER.fullmatch(self.name) else None

    def __str__(self) -> str:
        return "{{" + self.name + "}}"


def slots(text: str) -> list[Slot]:
    """Find the placeholders of a text, in order."""
    if "{{" not in text:
        return []
    return [Slot(found[1], *found.span()) for found in _SLOT.finditer(text)]


def meant(slot: Slot) -> str | None:
    """Write a placeholder as it may be meant: digits of another script, with spaces, with zeros."""
    bare = unicodedata.normalize("NFKC", slot.name).strip()
    if not bare.isdecimal() or len(bare) > 4 or int(bare) == 0:
        return None
    return "{{" + str(int(bare)) + "}}"


def stray(text: str) -> int | None:
    """Find the first brace that opens or closes nothing; None if there is none."""
    braces = _BRACES.findall(text)
    if not braces or (len(braces) == 4 * len(_SLOT.findall(text))):
        return None  # a placeholder has four of them, and there are no others
    masked = _SLOT.sub(lambda found: "\0" * len(found[0]), text.replace("\0", " "))
    found = _STRAY.search(masked)
    return found.start() if found else None


def gaps(found: list[Slot]) -> list[int]:
    """Name the numbers that are missing between 1 and the highest, a few of them."""
    numbers = {slot.number for slot in found if slot.number}
    return [n for n in range(1, max(numbers, default=0)) if n not in numbers][:5]


def adjacent(text: str, found: list[Slot]) -> list[tuple[Slot, Slot]]:
    """Find pairs of placeholders with nothing between them that can be read."""
    return [(a, b) for a, b in pairwise(found) if not text[a.end : b.start].strip()]


def without_slots(text: str) -> str:
    """Return a text without its placeholders."""
    return _SLOT.sub(" ", text) if "{{" in text else text


def words(text: str, most: int | None = None) -> int:
    """Count the words of a text that stand in no placeholder, up to a number if one is given."""
    return sum(1 for _ in islice(_WORD.finditer(without_slots(text)), most))
