"""Content: one content with its texts and placeholders, as the rules check it.

A frame, a record, a mapping or several of them become entries. A value of the wrong type is kept
in `wrong_types` and not checked any further.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from chatkit.errors import InputError
from chatkit.localization import language

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.api.record import Body, Record

#: What can be checked: a frame of contents, one content, or several.
Contents: TypeAlias = "pd.DataFrame | Record | Body | Mapping[str, Any] | Iterable[Any]"

_FLAGS = (
    *("is_draft", "is_catalog", "is_catalog_connected", "is_custom_validity_period"),
    *("auth_add_security_recommendation", "auth_add_code_expiration"),
)
_TYPES: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("text", "footer"), (str, "text")),
    "variables": (Mapping, "an object of placeholder numbers and sample texts"),
    **dict.fromkeys(("headers", "buttons", "auth_apps"), (list, "an array")),
    **dict.fromkeys(("auth_delivery_method", "parameter_format"), (str, "text")),
    **dict.fromkeys(_FLAGS, (bool, "true or false")),
    "validity_period_seconds": (int, "a whole number"),
    "auth_code_expiration_seconds": (int, "a whole number"),
}
_AUTHENTICATION_FIELDS = (
    *("auth_delivery_method", "auth_add_security_recommendation", "auth_add_code_expiration"),
)
#: What the platform writes itself, the number in bold or not.
AUTHENTICATION_TEXT = "{{1}} is your verification code."
_INTEGER_LIMIT = 2**63  #: the service keeps smaller numbers
_NESTED = ("variables", "headers", "buttons", "auth_apps")

#: A placeholder, whatever stands between its braces.
SLOT = re.compile(r"\{\{([^{}]*)\}\}")
_NUMBER = re.compile("[1-9][0-9]{0,3}")
#: Where something begins between two spaces that can be read.
_WORD = re.compile(r"(?<!\S)[^\w\s]*\w")


class Slot(NamedTuple):
    """One placeholder of a text: the name between its braces, its start and its end."""

    name: str
    start: int
    end: int
    number: int | None = None  #: None if it has none that the API would write

    def __str__(self) -> str:
        return "{{" + self.name + "}}"


def find_slots(text: str) -> list[Slot]:
    """Return the placeholders of a text, in order."""
    if "{{" not in text:
        return []
    return [
        Slot(match[1], *match.span(), int(match[1]) if _NUMBER.fullmatch(match[1]) else None)
        for match in SLOT.finditer(text)
    ]


def remove_slots(text: str) -> str:
    """Return a text without its placeholders."""
    return SLOT.sub(" ", text) if "{{" in text else text


def count_words(text: str) -> int:
    """Count the words of a text without its placeholders."""
    return len(_WORD.findall(remove_slots(text)))


class TextPiece(NamedTuple):
    """A text that a customer reads."""

    field: str  #: as in the API: "buttons.1.label"; the first is 0
    name: str  #: the field in words
    text: str


def text_label(field: str) -> str:
    """Return the label of a text field for people: "Header", "Text", "Footer", "Button 1"."""
    if match := re.fullmatch(r"buttons\.(\d{1,4})\.label", field):
        return f"Button {int(match[1]) + 1}"
    return {"headers.0.text": "Header", "text": "Text", "footer": "Footer"}.get(field, field)


def name_field(field: str) -> str:
    """Return a field in words: "the text", "the header", "the label of button 1"."""
    match = re.fullmatch(r"buttons\.(\d+)(?:\.(\w+))?", field)
    if match:
        button = f"button {int(match[1]) + 1}"
        return f"the {match[2]} of {button}" if match[2] else button
    name, _, rest = field.partition(".")
    return f"the sample {rest}" if name == "variables" else f"the {name.removesuffix('s')}"


class Entry:
    """One content: its fields, its texts and their placeholders, each computed once."""

    def __init__(self, raw: Mapping[str, Any], template_code: str, lang_code: str) -> None:
        self.template_code = template_code
        self.lang_code = lang_code
        self.raw = raw
        #: The expected type of each field that has another one.
        self.wrong_types: dict[str, str] = {}
        self.text = read_text(raw, "text")
        self.footer = read_text(raw, "footer")
        self.headers = self._read_objects("headers")
        self.buttons = self._read_objects("buttons")
        self.apps = self._read_objects("auth_apps")
        for name, (kind, expected) in _TYPES.items():
            if (value := raw.get(name)) is not None and not _has_type(value, kind):
                self.wrong_types[name] = expected
        #: The fields, those of the wrong type taken out.
        self.fields = {name: raw[name] for name in raw if name not in self.wrong_types}
        self.variables: Mapping[str, Any] = self.fields.get("variables") or {}
        self.is_draft = self.fields.get("is_draft") is True
        #: Whether it is an authentication content: by its settings, or by the platform's own text.
        self.is_authentication = any(map(self.fields.get, _AUTHENTICATION_FIELDS)) or (
            self.text.replace("*", "").startswith(AUTHENTICATION_TEXT)
        )
        texts = {
            **{f"headers.{n}.text": read_text(each, "text") for n, each in enumerate(self.headers)},
            **{"text": self.text, "footer": self.footer},
            **{f"buttons.{n}.label": read_text(b, "label") for n, b in enumerate(self.buttons)},
        }
        #: Every text that a customer reads.
        self.pieces = [TextPiece(at, name_field(at), text) for at, text in texts.items() if text]
        #: The same by their fields, those that are not blank.
        self.texts = {piece.field: piece.text for piece in self.pieces if not piece.text.isspace()}
        #: The placeholders of these texts, in order, where there are some.
        self.placeholders = {
            piece.field: find_slots(piece.text) for piece in self.pieces if "{{" in piece.text
        }
        self.slots = self.placeholders.get("text", [])

    def __repr__(self) -> str:
        return f"<content {self.template_code!r} {self.lang_code!r}>"

    def summary(self) -> str:
        """Return the message in one line, with samples in place of the placeholders."""
        text = SLOT.sub(lambda slot: str(self.variables.get(slot[1]) or slot[0]), self.text)
        heads = [piece.text for piece in self.pieces if piece.field.startswith("headers")]
        labels = [f" [{each.text}]" for each in self.pieces if each.field.startswith("buttons")]
        return " / ".join(filter(str.strip, [*heads, text, self.footer])) + "".join(labels)

    def _read_objects(self, name: str) -> list[Mapping[str, Any]]:
        value = self.raw.get(name)
        items = list(value) if isinstance(value, list) else []
        for number, item in enumerate(items):
            if not isinstance(item, Mapping):
                items[number] = {}
                self.wrong_types[f"{name}.{number}"] = "an object"
        return items


def _has_type(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, kind) and not (isinstance(value, int) and abs(value) >= _INTEGER_LIMIT)


def read_text(item: Mapping[str, Any], name: str) -> str:
    """Return a text field of a header, button or app; empty if it is absent or no text."""
    value = item.get(name)
    return value if isinstance(value, str) else ""


def read_entries(contents: Contents) -> list[Entry]:
    """Read contents from a frame, a record, a mapping, or several of them.

    Raises:
        InputError: They are none of these, or a frame has no languages.
    """
    return list(_iter_entries(contents))


def _iter_entries(contents: Any) -> Iterator[Entry]:
    if isinstance(contents, Entry):
        yield contents
    elif hasattr(contents, "columns") and hasattr(contents, "index"):
        yield from _read_rows(contents)
    elif isinstance(contents, Mapping):
        yield _make_entry(contents)
    elif hasattr(contents, "model_dump"):
        yield _make_entry(contents.model_dump(exclude_unset=True))
    elif isinstance(contents, Iterable) and not isinstance(contents, str | bytes):
        for each in contents:
            yield from _iter_entries(each)
    else:
        raise InputError(
            f"A {type(contents).__name__} cannot be read as contents: pass a frame of contents, a "
            "content, a dict with its fields, or a list of these."
        )


def _read_rows(frame: pd.DataFrame) -> Iterator[Entry]:
    columns: dict[str, list[Any]] = {}
    for label, column in frame.reset_index(drop=True).items():  # each has a view of the index
        columns.setdefault(str(label), column.tolist())
    for level, name in enumerate(frame.index.names):
        if name is not None:
            columns.setdefault(str(name), frame.index.get_level_values(level).tolist())
    if "lang_code" not in columns:
        raise InputError(
            "The frame does not tell the languages: it needs a column, or a level of the index, "
            'called lang_code. templates.frame(["code"], full=True) has it.'
        )
    for row in zip(*columns.values(), strict=True):
        yield _make_entry(dict(zip(columns, row, strict=True)))


def _make_entry(raw: Mapping[Any, Any]) -> Entry:
    """Make an entry of the fields of a content, with plain values.

    Where a list or an object is missing in a row of a frame, that row was read without the field:
    it is no null.
    """
    fields = {
        str(name): plain
        for name, value in raw.items()
        if (plain := _plain_value(value)) is not None or value is None or name not in _NESTED
    }
    return Entry(fields, read_text(fields, "template_code"), read_text(fields, "lang_code"))


def _plain_value(value: Any) -> Any:
    """Convert a value of pandas or numpy to one of Python; a missing value is None."""
    if value is None or isinstance(value, str | bool | int | list | dict):
        return value
    if isinstance(value, float):
        if value != value:
            return None
        return int(value) if value.is_integer() else value
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if getattr(value, "ndim", 1) == 0:
        return _plain_value(value.item())
    if type(value).__name__ == "ndarray":
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def list_texts(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts that a customer reads, by field, in some fields of a content."""
    return Entry(fields, "", "").texts


def group_by_template(contents: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Group contents by template code, in the order of their first."""
    templates: dict[str, list[Entry]] = {}
    for entry in contents:
        templates.setdefault(entry.template_code, []).append(entry)
    return templates


def group_with_source(
    contents: Sequence[Entry], source: str
) -> Iterator[tuple[list[Entry], Entry | None]]:
    """Yield the contents of each template, and among them that of the source language, if any."""
    for members in group_by_template(contents).values():
        yield members, find_source(members, source)


def find_source(members: Sequence[Entry], source: str) -> Entry | None:
    """Return the content that the others of a template are translated from, if there is one."""
    code = language.find_code(source, [entry.lang_code for entry in members])
    return next((entry for entry in members if entry.lang_code == code), None)


def shorten_list(items: Sequence[str], most: int) -> str:
    """Join the first of some items, and count the rest: "a, b and 3 more"."""
    more = len(items) - most
    return ", ".join(items[:most]) + (f" and {more:,} more" if more > 0 else "")
