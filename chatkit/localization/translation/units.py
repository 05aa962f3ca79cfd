"""Units: the texts of contents that can be translated, each on its way out and back.

The stamp of a unit stays with it in every format. It says by three digests which text of which
content this is, what the source was when it went out, and what the translation was; and then, when
that was. So nothing is overwritten that changed meanwhile, of two files the later one counts, and
no other memory is needed. It is no signature: whoever has the file can write another one, so what
came back is reviewed in a plan like any edit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit.errors import InputError
from chatkit.localization.checks import text_limit
from chatkit.localization.content import Entry, entries, part, slots
from chatkit.util.display import cut, visible

if TYPE_CHECKING:
    import pandas as pd

_STAMP = re.compile("([0-9a-f]{10})[.]([0-9a-f]{10})[.]([0-9a-f]{10})(?:[.]([0-9]{8}T[0-9]{12}Z))?")


_KEY_FIELDS = ("template_code", "lang_code", "field")
#: The places of what is in no file.
NOWHERE: Mapping[str, str] = MappingProxyType({})


class Unit(NamedTuple):
    """One text of a content, in the source language and in another one."""

    template_code: str
    lang_code: str  #: as the API has it, whatever the file calls the language
    field: str  #: as in the API: "buttons.1.label"; the first is 0
    source: str
    target: str
    stamp: str = ""
    note: str = ""  #: what a translator should know
    limit: int | None = None  #: how many characters it may have
    state: str = ""  #: missing, stale, unknown, draft or live; empty where nobody looked it up
    source_before: str = ""  #: the source that the translation was made from, if it is stale
    comment: str = ""  #: what people say of it to each other
    #: Of one that came back: where it stands, why it cannot be read, and how a program marked it
    #: that is not finished.
    place: str = ""
    trouble: str = ""
    unfinished: str = ""
    struck: bool = False  #: whether words of the translation are struck through
    cells: Mapping[str, str] = NOWHERE  #: of a row of a spreadsheet, by the name of their column
    #: Of a file of another kind: what stands where for a code, {0}, a language, {1}, a field, {2}.
    parts: Mapping[str, str] = NOWHERE

    @property
    def text_key(self) -> tuple[str, str, str]:
        """The code, the language and the field of the text."""
        return self.template_code, self.lang_code, self.field

    def in_cell(self, column: str) -> str:
        """Name the cell of a spreadsheet that holds a part of it, in brackets, if it has one."""
        return f" ({self.cells[column]})" if column in self.cells else ""

    def put_back(self, real: tuple[str, str, str]) -> list[str]:
        """Return the steps that make it the text that went out: what to put where in its file."""
        steps = dict[str, None]()
        for name, value, present in zip(_KEY_FIELDS, real, self.text_key, strict=True):
            if value != present:
                cell = f"{visible(value)!r} into {self.cells.get(name, name)}"
                part = self.parts[name].format(*map(visible, real)) if name in self.parts else cell
                steps[part] = None
        return list(steps)


class Stamp(NamedTuple):
    """The three digests of a unit, and when it went out: empty in files of an earlier version."""

    key: str
    source: str
    target: str
    at: str = ""

    def __str__(self) -> str:
        return ".".join(filter(None, self))


def stamp_time() -> str:
    """Write this moment as stamps have it: of two, the later one sorts last."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"


@lru_cache(1 << 12)  # a source goes into as many languages as there are
def digest(*texts: str) -> str:
    """Return ten characters that are others for other texts."""
    data = json.dumps(texts).encode()
    return blake2b(data, digest_size=5).hexdigest()


def key_of(template_code: str, lang_code: str, field: str, source_code: str) -> str:
    """Return the digest of which text this is, and from which language it is translated."""
    return digest(template_code, lang_code, field, source_code)


def stamped(unit: Unit, source_code: str, at: str = "") -> Unit:
    """Put its stamp on a unit that goes out at this time."""
    key = key_of(*unit.text_key, source_code)
    return unit._replace(stamp=str(Stamp(key, digest(unit.source), digest(unit.target), at)))


def stamp_of(text: str) -> Stamp | None:
    """Read a stamp; None if it is none."""
    match = _STAMP.fullmatch(text.strip())
    return Stamp(*match.groups(default="")) if match else None


# --- the texts of a content, and how they are put back ------------------------------------
# A content that lacks a header or buttons of its source gets copies of them, but only together:
# never one button in the language of the reader and the next one in another.

_LISTED = re.compile(r"(headers|buttons)\.(\d+)\.(\w+)")
#: What a new content does not take over from its source.
_ITS_OWN = ("id", "created_at", "updated_at")


def translator_note(field: str, source: Entry) -> str:
    """Describe a text to a translator, its limit, and the placeholders that must stay in it."""
    kind = {"text": "The text of the message.", "footer": "The footer."}.get(field, "The header.")
    if field.startswith("buttons"):
        number = int(field.split(".")[1])
        name = part(source.buttons[number], "type").replace("_", " ")
        kind = f"The label of button {number + 1} ({name})."
    notes = [kind, f"At most {text_limit(field):,} characters."]
    if names := {
        slot.name: part(source.variables, slot.name) for slot in slots(source.texts.get(field, ""))
    }:
        samples = [
            f"{{{{{name}}}}} (like {cut(sample, 40)})" if sample else f"{{{{{name}}}}}"
            for name, sample in names.items()
        ]
        notes.append(f"Keep {', '.join(samples)}{', in this order' * (len(names) > 1)}.")
    return " ".join(notes)


def group_of(entry: Entry | None, source: Entry, field: str) -> str | None:
    """Name the texts that must come with this one, if it is to be put into a content.

    Returns:
        The field itself if it stands alone, the name of what is missing as a whole, or None if
        the content has something else in this place.
    """
    if entry is None:
        return ""
    if field.partition(".")[0] in entry.wrong:
        return None
    match = _LISTED.fullmatch(field)
    if not match:
        return field
    name, number = match[1], int(match[2])
    items: list[Mapping[str, Any]] = getattr(entry, name)
    models: list[Mapping[str, Any]] = getattr(source, name)
    if number >= len(models) or f"{name}.{number}" in entry.wrong:
        return None
    if number >= len(items):
        return name
    return field if items[number].get("type") == models[number].get("type") else None


def new_draft(source: Entry, lang_code: str) -> dict[str, Any]:
    """Begin a content in another language as a draft that is like its source."""
    fields = {k: deepcopy(v) for k, v in source.raw.items() if k not in _ITS_OWN}
    return {**fields, "lang_code": lang_code, "is_draft": True}


def with_texts(raw: Mapping[str, Any], source: Entry, new: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a content that change when these texts are put into it."""
    fields: dict[str, Any] = {}
    for field, text in new.items():
        name, _, inner = field.partition(".")
        if not inner:
            fields[name] = text
        else:
            items = fields.setdefault(name, deepcopy(raw.get(name) or []))
            number, _, key = inner.partition(".")
            missing = getattr(source, name)[len(items) : int(number) + 1]
            items.extend(dict(deepcopy(item)) for item in missing)
            items[int(number)][key] = text
    return fields


def fields_of_group(source: Entry, entry: Entry | None, name: str) -> Iterator[str]:
    """Yield the fields of the source that must come together under this name."""
    for field in source.texts:
        if group_of(entry, source, field) == name:
            yield field


#: What a frame must have beside `template_code` and `lang_code`: without it, contents would
#: be made that lack half of their source.
NEEDED = ("text", "footer", "headers", "buttons", "variables")


def contents(frame: pd.DataFrame) -> list[Entry]:
    """Read the contents of a frame of several templates, in full.

    Raises:
        InputError: It is no such frame.
    """
    members = entries(frame)
    named = {str(name) for name in (*frame.columns, *frame.index.names)}
    if missing := [name for name in ("template_code", *NEEDED) if name not in named]:
        raise InputError(
            f"The frame lacks {', '.join(missing)}. Read the contents in full: "
            "client.templates.frame(codes, full=True)."
        )
    return members


# --- characters that files and programs lose ----------------------------------------------
# A control character, a carriage return or a line separator becomes ⟨U+000D⟩, its number between
# brackets, which a person can read. XML cannot hold most of them, and editors drop or change the
# rest. A text that looks so by itself gets its first bracket spelled out, ⟨U+27E8⟩U+000D⟩, so that
# every text comes back.

_CHARACTERS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"
_LOST = re.compile(rf"[{_CHARACTERS}]|⟨(?=U\+[0-9A-F]{{4}}⟩)")
_SPELLED = re.compile(r"⟨U\+([0-9A-F]{4})⟩")
_OURS = re.compile(f"[{_CHARACTERS}⟨]")


def escape_controls(text: str) -> str:
    """Spell out what would be lost on the way."""
    return _LOST.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def unescape_controls(text: str) -> str:
    """Take back what `escape_controls` has done; what it never writes stays as it is."""
    return _SPELLED.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if _OURS.fullmatch(character) else match[0]
