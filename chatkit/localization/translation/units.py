"""Units: the texts of contents that can be translated, each on its way out and back.

The stamp of a unit stays with it in every format. It has three digests, of the key of the text, of
its source and of its translation when they were exported, and the time of the export. So nothing
is overwritten that changed meanwhile, of two files the later one counts, and no other memory is
needed. It is no signature: whoever has the file can write another one, so what is returned is
reviewed in a plan like any edit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
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
#: The cells of a unit that is in no spreadsheet.
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
    comment: str = ""  #: a comment of a person
    # the rest is known of one that was read from a file
    place: str = ""  #: its place in the file, for messages
    problem: str = ""  #: why it cannot be read
    unfinished: str = ""  #: the mark of a program for one that is not finished
    struck: bool = False  #: whether words of the translation are struck through
    cells: Mapping[str, str] = NOWHERE  #: of a row of a spreadsheet, by the name of their column
    #: What to write where, by the field of the key: {0} is the code, {1} the language, {2} the
    #: field. Empty for a spreadsheet.
    repair_hints: Mapping[str, str] = NOWHERE

    @property
    def text_key(self) -> tuple[str, str, str]:
        """The code, the language and the field of the text."""
        return self.template_code, self.lang_code, self.field

    def cell_reference(self, column: str) -> str:
        """Return the cell of a column in brackets, like " (E4)"; empty outside of spreadsheets."""
        return f" ({self.cells[column]})" if column in self.cells else ""

    def with_stamp(self, source_code: str, at: str = "") -> Unit:
        """Return this unit with the stamp of its export at this time."""
        key = stamp_key(*self.text_key, source_code)
        return self._replace(stamp=str(Stamp(key, digest(self.source), digest(self.target), at)))

    def repair_steps(self, real: tuple[str, str, str]) -> list[str]:
        """Return what to write where in the file to restore the key that the unit had."""
        steps = dict[str, None]()
        for name, value, present in zip(_KEY_FIELDS, real, self.text_key, strict=True):
            if value != present:
                cell = f"{visible(value)!r} into {self.cells.get(name, name)}"
                hint = (
                    self.repair_hints[name].format(*map(visible, real))
                    if name in self.repair_hints
                    else cell
                )
                steps[hint] = None
        return list(steps)


class Stamp(NamedTuple):
    """The digests of a unit as it was exported, and the time of the export."""

    key: str  #: the digest of which text it is
    source: str  #: the digest of its source
    target: str  #: the digest of its translation
    at: str = ""  #: empty in files of an earlier version

    def __str__(self) -> str:
        return ".".join(filter(None, self))


def stamp_time() -> str:
    """Return the present time in the form of stamps, which sorts by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"


@lru_cache(1 << 12)  # a source goes into as many languages as there are
def digest(*texts: str) -> str:
    """Return a digest of these texts in ten characters."""
    return blake2b(json.dumps(texts).encode(), digest_size=5).hexdigest()


def stamp_key(template_code: str, lang_code: str, field: str, source_code: str) -> str:
    """Return the digest that identifies a text and the language it is translated from."""
    return digest(template_code, lang_code, field, source_code)


def parse_stamp(text: str) -> Stamp | None:
    """Parse a stamp; None if the text is none."""
    match = _STAMP.fullmatch(text.strip())
    return Stamp(*match.groups(default="")) if match else None


# --- the texts of a content, and how they are put back ------------------------------------
# A content that lacks a header or buttons of its source gets copies of them, but only together:
# never one button in the language of the reader and the next one in another.

_ITEM_FIELD = re.compile(r"(headers|buttons)\.(\d+)\.(\w+)")
#: What a new content does not take over from its source.
_NOT_COPIED = ("id", "created_at", "updated_at")


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


def text_group(entry: Entry | None, source: Entry, field: str) -> str | None:
    """Return the group of texts that must be put into a content together with this field.

    Returns:
        The field itself if it stands alone; "headers" or "buttons" if the content lacks this one;
        "" if the content itself is missing; None if it has something else in this place.
    """
    if entry is None:
        return ""
    if field.partition(".")[0] in entry.wrong_types:
        return None
    match = _ITEM_FIELD.fullmatch(field)
    if not match:
        return field
    name, number = match[1], int(match[2])
    items: list[Mapping[str, Any]] = getattr(entry, name)
    source_items: list[Mapping[str, Any]] = getattr(source, name)
    if number >= len(source_items) or f"{name}.{number}" in entry.wrong_types:
        return None
    if number >= len(items):
        return name
    return field if items[number].get("type") == source_items[number].get("type") else None


def new_draft(source: Entry, lang_code: str) -> dict[str, Any]:
    """Return the fields of a draft in another language, copied from its source."""
    fields = {k: deepcopy(v) for k, v in source.raw.items() if k not in _NOT_COPIED}
    return {**fields, "lang_code": lang_code, "is_draft": True}


def put_texts(raw: Mapping[str, Any], source: Entry, new: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a content that these texts change, with the texts put into them."""
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


def group_fields(source: Entry, entry: Entry | None, name: str) -> list[str]:
    """Return the fields of the source that are in this group of `text_group`."""
    return [field for field in source.texts if text_group(entry, source, field) == name]


#: The columns that a frame must have beside `template_code` and `lang_code`: without them,
#: contents would be made that lack half of their source.
REQUIRED_FIELDS = ("text", "footer", "headers", "buttons", "variables")


def read_full_contents(frame: pd.DataFrame) -> list[Entry]:
    """Return the contents of a frame of several templates, which must have all fields.

    Raises:
        InputError: It is no such frame.
    """
    members = entries(frame)
    named = {str(name) for name in (*frame.columns, *frame.index.names)}
    if missing := [name for name in ("template_code", *REQUIRED_FIELDS) if name not in named]:
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

_LOST_CHARACTERS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"
_TO_ESCAPE = re.compile(rf"[{_LOST_CHARACTERS}]|⟨(?=U\+[0-9A-F]{{4}}⟩)")
_ESCAPED = re.compile(r"⟨U\+([0-9A-F]{4})⟩")
_ESCAPABLE = re.compile(f"[{_LOST_CHARACTERS}⟨]")


def escape_controls(text: str) -> str:
    """Write control characters, which files and programs lose, as ⟨U+000D⟩."""
    return _TO_ESCAPE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def unescape_controls(text: str) -> str:
    """Undo `escape_controls`; what it never writes stays as it is."""
    return _ESCAPED.sub(_unescape_match, text)


def _unescape_match(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if _ESCAPABLE.fullmatch(character) else match[0]
