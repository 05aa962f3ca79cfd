"""Units: translatable texts, as exported and imported.

The stamp of a unit stays with it in every format. It has three digests, of the key of the text, of
its source and of its translation when they were exported, and the time of the export. So nothing
is overwritten that changed meanwhile, of two files the later one counts, and no other memory is
needed. It is no signature: whoever has the file can write another one, so what is returned is
reviewed in a plan like any edit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.checks import get_text_limit
from chatkit.localization.content import (
    Entry,
    find_slots,
    group_with_source,
    read_entries,
    read_text,
)
from chatkit.localization.ledger import Ledger, digest_text, make_no_source_message
from chatkit.util.display import cut, visible

if TYPE_CHECKING:
    import pandas as pd

_STAMP = re.compile("([0-9a-f]{10})[.]([0-9a-f]{10})[.]([0-9a-f]{10})(?:[.]([0-9]{8}T[0-9]{12}Z))?")


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
    #: The cells of a row of a spreadsheet, by the name of their column.
    cells: Mapping[str, str] = MappingProxyType({})

    @property
    def text_key(self) -> tuple[str, str, str]:
        """The code, the language and the field of the text."""
        return self.template_code, self.lang_code, self.field

    def format_cell_reference(self, column: str) -> str:
        """Return the cell of a column in brackets, like " (E4)"; empty outside of spreadsheets."""
        return f" ({self.cells[column]})" if column in self.cells else ""

    def with_stamp(self, source_code: str) -> Unit:
        """Return this unit with the stamp of its export now."""
        key, at = make_stamp_key(*self.text_key, source_code), datetime.now(UTC)
        stamp = Stamp(
            *(key, digest_texts(self.source), digest_texts(self.target), f"{at:%Y%m%dT%H%M%S%fZ}")
        )
        return self._replace(stamp=str(stamp))


class Stamp(NamedTuple):
    """The digests of a unit as it was exported, and the time of the export."""

    key: str  #: the digest of which text it is
    source: str  #: the digest of its source
    target: str  #: the digest of its translation
    at: str = ""  #: in a form that sorts; empty in files that have none

    def __str__(self) -> str:
        return ".".join(filter(None, self))


@lru_cache(1 << 12)  # a source goes into as many languages as there are
def digest_texts(*texts: str) -> str:
    """Return a digest of these texts in ten characters."""
    return blake2b(json.dumps(texts).encode(), digest_size=5).hexdigest()


def make_stamp_key(template_code: str, lang_code: str, field: str, source_code: str) -> str:
    """Return the digest that identifies a text and the language it is translated from."""
    return digest_texts(template_code, lang_code, field, source_code)


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


def make_translator_note(field: str, source: Entry) -> str:
    """Describe a text to a translator, its limit, and the placeholders that must stay in it."""
    kind = {"text": "The text of the message.", "footer": "The footer."}.get(field, "The header.")
    if field.startswith("buttons"):
        number = int(field.split(".")[1])
        name = read_text(source.buttons[number], "type").replace("_", " ")
        kind = f"The label of button {number + 1} ({name})."
    notes = [kind, f"At most {get_text_limit(field):,} characters."]
    if names := {
        slot.name: read_text(source.variables, slot.name)
        for slot in find_slots(source.texts.get(field, ""))
    }:
        samples = [
            f"{{{{{name}}}}} (like {cut(sample, 40)})" if sample else f"{{{{{name}}}}}"
            for name, sample in names.items()
        ]
        notes.append(f"Keep {', '.join(samples)}{', in this order' * (len(names) > 1)}.")
    return " ".join(notes)


def find_text_group(entry: Entry | None, source: Entry, field: str) -> str | None:
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


def make_draft(source: Entry, lang_code: str) -> dict[str, Any]:
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


def list_group_fields(source: Entry, entry: Entry | None, name: str) -> list[str]:
    """Return the fields of the source that are in this group of `find_text_group`."""
    return [field for field in source.texts if find_text_group(entry, source, field) == name]


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


# --- the texts to translate ---------------------------------------------------------------

Only = Literal["missing", "stale", "unknown", "draft", "live", "all"]
#: The states of a translation, as far as the ledger has its source.
UNIT_STATES: tuple[str, ...] = get_args(Only)[:-1]


def collect_units(
    frame: pd.DataFrame,
    source: str,
    languages: Iterable[str] | None,
    ledger: Ledger | None = None,
) -> tuple[list[Unit], list[str]]:
    """Collect the stamped units of a frame, and the fields of the source that have no place.

    Raises:
        InputError: Nothing can be translated, or could not be brought back as it was.
    """
    known = Ledger() if ledger is None else ledger
    pairs, unplaced = pair_units(read_entries(frame), source, languages, known)
    return [unit.with_stamp(original.lang_code) for unit, original, _ in pairs], unplaced


def _with_state(unit: Unit, original: Entry, entry: Entry | None, known: Ledger) -> Unit:
    """Return a unit with the state, the earlier source and the comment that the ledger has."""
    place = unit.template_code, language.normalize(unit.lang_code), unit.field
    annotation = known.comments.get(place)
    origin = known.find_origin(unit, unit.field, original, unit.target)
    state, before = "draft" if entry is not None and entry.is_draft else "live", ""
    if not unit.target.strip():
        state = "missing"
    elif origin is not None and origin.source != digest_text(unit.source):
        state, before = "stale", known.sources.get(origin.source, "")
    elif origin is None and unit.source != unit.target:
        state = "unknown"
    comment = annotation.text if annotation else ""
    return unit._replace(state=state, source_before=before, comment=comment)


def pair_units(
    members: Sequence[Entry],
    source: str,
    languages: Iterable[str] | None,
    known: Ledger,
) -> tuple[list[tuple[Unit, Entry, Entry | None]], list[str]]:
    """Collect the units of contents, each with its two contents, and the fields without a place.

    The two are the content in the source language, and the translated one, if there is one yet.

    Raises:
        InputError: As `collect_units`.
    """
    templates = list(group_with_source(members, source))
    sources = {original.lang_code for _, original in templates if original}
    if not sources:
        raise InputError(make_no_source_message(members, source))
    written = {language.normalize(each.lang_code): each.lang_code for each in reversed(members)}
    if languages is None:
        codes = language.sort_codes({*written.values()} - sources, source)
    else:
        known_codes = (written.get(language.normalize(code), code) for code in languages)
        codes = list(dict.fromkeys(known_codes))
    if invalid := [code for code in (source, *codes) if not language.is_tag(code)]:
        raise InputError(f"{visible(invalid[0])[:60]!r} is not a language code: write en or en_US.")
    pairs: list[tuple[Unit, Entry, Entry | None]] = []
    unplaced: list[str] = []
    for group, original in templates:
        for lang_code in codes if original else ():
            if original is None or language.is_same(lang_code, original.lang_code):
                continue
            alike = [each for each in group if language.is_same(each.lang_code, lang_code)]
            alike.sort(key=lambda each: each.lang_code != lang_code)
            entry = next(iter(alike), None)
            code = lang_code if entry is None else entry.lang_code
            for field, text in original.texts.items():
                if find_text_group(entry, original, field) is None:
                    unplaced.append(f"{original.template_code} {code} {field}")
                    continue
                target = "" if entry is None else entry.texts.get(field, "")
                limit, note = get_text_limit(field), make_translator_note(field, original)
                key = original.template_code, code, field
                unit = Unit(*key, text, target, note=note, limit=limit)
                pairs.append((_with_state(unit, original, entry, known), original, entry))
    return pairs, list(dict.fromkeys(unplaced))


def select_states(only: Only | Collection[Only]) -> set[str]:
    """Return the states that are meant.

    Raises:
        InputError: `only` is none of these.
    """
    states: set[str] = {only} if isinstance(only, str) else set(only)
    if not states or (states != {"all"} and states - {*UNIT_STATES}):
        raise InputError(
            f'only= takes "all", or some of {", ".join(UNIT_STATES)}, not {only!r:.60}.'
        )
    return {*UNIT_STATES} if states == {"all"} else states
