"""Units: translatable texts, as they are exported, and as returned files are imported.

The stamp of a unit stays with it in every format. It has three digests, of the key of the text, of
its source and of its translation when they were exported, and the time of the export. So nothing
is overwritten that changed meanwhile, of two files the later one counts, and no other memory is
needed. It is no signature: whoever has the file can write another one, so what is returned is
reviewed in a plan like any edit.

Three texts are compared on import: the exported one (the stamp has its digests), the returned one,
and that of the frame. Only a text that was changed in the file, and nowhere else, gets into the
frame.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from html import unescape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.checks import get_text_limit
from chatkit.localization.content import (
    Entry,
    find_slots,
    group_by_template,
    group_with_source,
    read_entries,
    read_text,
    text_label,
)
from chatkit.localization.ledger import (
    Ledger,
    digest_text,
    draw_changes,
    format_changes,
    make_no_source_message,
)
from chatkit.localization.table import apply_edits, make_frame
from chatkit.localization.typography import ENTITY, find_residue
from chatkit.report import (
    LABEL,
    MANY,
    Report,
    ReportPart,
    ReportRow,
    headline,
    marked,
    rows_table,
)
from chatkit.util.display import cut, has_half_character, many, visible
from chatkit.util.files import get_user_name

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.localization.glossary import Glossary

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


# --- returned files -------------------------------------------------------------------------

#: Verdicts on texts that are not rejected.
TAKEN_VERDICTS = ("fresh", "revised", "unwrapped", "unchanged")
#: Verdicts on texts that belong to no known place.
_UNPLACED = ("no stamp", "not in the frame")
#: Columns of a spreadsheet that say where a text belongs.
_KEY_COLUMNS = ("template_code", "lang_code", "field")
#: The verdict on texts that only wait for others.
_INCOMPLETE = "incomplete"
_MAX_LENGTH = 400  #: characters of a source that is shown
_WIDTHS = dict.fromkeys(("text", "why not", "source", "came back"), 0)


@dataclass(eq=False)
class ReturnedText:
    """One text of a returned file, with the contents it belongs to and the verdict on it."""

    unit: Unit  #: its translation is stripped of what a program put in
    returned: str  #: the translation as it is in the file
    stamp: Stamp | None
    original: Entry | None  #: the content that it was translated from
    entry: Entry | None  #: the content that it is of, if there is one yet
    source: str  #: the source as it is now
    live: str  #: the translation as it is now
    #: "fresh" was taken, "revised" too, over an earlier import, and "unwrapped" without what a
    #: program put in; "unchanged" is as it was; else the reason why it is rejected, in a word or
    #: two.
    verdict: str = "unchanged"
    message: str = ""
    duplicate_of: ReturnedText | None = None  #: an equal text, whose verdict counts for this one

    @property
    def label(self) -> str:
        """Its template, its language and its field as a person calls it."""
        unit = self.unit
        return f"{unit.template_code} {unit.lang_code} {text_label(unit.field)}".strip()

    def row(self) -> tuple[str, ...]:
        """Return it as a row of a frame with `_COLUMNS`."""
        unit, cell = self.unit, self.unit.cells.get("translation", "")
        return (
            *(*unit.text_key, self.verdict, self.message, unit.source, self.source),
            *(self.live, self.returned, unit.comment, visible(unit.place), cell),
        )

    @property
    def exported_at(self) -> str:
        """The time of its export, by its stamp; empty if that is not known."""
        return self.stamp.at if self.stamp else ""

    @property
    def is_edited(self) -> bool:
        """Return whether the translation differs from the exported one."""
        return self.stamp is None or digest_texts(self.unit.target) != self.stamp.target

    @property
    def target_is_current(self) -> bool:
        """Return whether the live translation is still the one that was exported."""
        return self.stamp is not None and digest_texts(self.live) == self.stamp.target

    def set_verdict(self, verdict: str, message: str) -> None:
        """Set the verdict, and the message that explains it."""
        self.verdict, self.message = verdict, message


_COLUMNS = (
    *("template_code", "lang_code", "field", "verdict", "message", "source_before", "source"),
    *("live", "returned", "comment", "place", "cell"),
)
_CHANGED_COLUMNS = ("template_code", "lang_code", "field", "before", "after")


class Translations(Report):
    """The texts of returned files, with a verdict on each: `plan` applies those that were taken.

    `rejected` has those that were not, and `frame` the contents with all that were. A content
    that is new is a draft.
    """

    plan: Plan  #: the changes; only where it was made by `client.templates`

    def __init__(
        self,
        frame: pd.DataFrame,
        changed: Sequence[tuple[str, ...]],
        returned: Sequence[ReturnedText],
        new: int,
        source: str = "",
    ) -> None:
        self.frame = frame
        self.source = source  #: the language that was translated from; empty if nothing was taken
        self.new = new  #: how many contents were not there before
        #: The rejected texts: those with a fault, then those that wait for others.
        self.refused = sorted(
            (each for each in returned if each.verdict not in TAKEN_VERDICTS),
            key=lambda each: each.verdict == _INCOMPLETE,
        )
        #: How many texts replace those that an earlier import of the user wrote.
        self.revised = sum(each.verdict == "revised" for each in returned)
        #: How many texts were taken without what a program had put in.
        self.unwrapped = sum(each.verdict == "unwrapped" for each in returned)
        #: How many texts were returned unchanged.
        self.unchanged = sum(each.verdict == "unchanged" for each in returned)
        self._changed, self._returned = changed, returned

    @property
    def changed(self) -> pd.DataFrame:
        """Every text that was taken, with the text before and after."""
        return make_frame(self._changed, _CHANGED_COLUMNS)

    @property
    def rejected(self) -> pd.DataFrame:
        """Every rejected text, with both sources, the live translation, and the reason."""
        frame = make_frame((each.row() for each in self.refused), _COLUMNS).drop(columns="comment")
        return frame.rename(columns={"verdict": "reason"})

    @property
    def texts(self) -> pd.DataFrame:
        """Every text of the files, row by row, and the verdict on it.

        `verdict` is "fresh" for a text in the plan, "revised" for one over an earlier import of
        yours, "unwrapped" for one without what a program had put in, "unchanged" for one that
        came back as it went out, else the reason as in `rejected`: "stale", "too long",
        "placeholder lost", "residue" …
        """
        return make_frame((each.row() for each in self._returned), _COLUMNS)

    def comments(self, known: Ledger) -> Ledger:
        """Return the new comments of translators as a ledger.

        Left out is a comment that is known, or older than the known one.

        Args:
            known: What was recorded before; a comment is as old as the stamp of its text.
        """
        new = Ledger()
        for each in self._returned:
            unit, comment = each.unit, each.unit.comment.strip()
            if not comment or each.verdict in _UNPLACED:
                continue
            place = unit.template_code, language.normalize(unit.lang_code), unit.field
            if before := known.comments.get(place):
                same = before.text.split() == comment.split()  # programs break lines anew
                if same or _read_digits(before.at) > _read_digits(each.exported_at):
                    continue
            new.comment(place, comment)
        return new

    def _heading(self) -> str:
        count = len({each[:2] for each in self._changed})
        why = Counter(each.verdict for each in self.refused)
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in why.most_common())
        return (
            f"{many(len(self._changed), 'text')} changed in {many(count, 'content')} "
            f"({self.new:,} new), {self.unchanged:,} as they were, "
            f"{len(self.refused):,} rejected" + (f": {reasons}" if reasons else "")
        )

    def _parts(self) -> Iterator[ReportPart]:
        """Yield the counts with the first rejected texts, then the parts of the plan."""
        yield headline(self._heading())
        if self.refused:
            rows = map(_draw_row, self.refused[:MANY])
            yield rows_table(_WIDTHS, rows, len(self.refused), ".rejected", "Not taken:")
        if hasattr(self, "plan"):
            yield from self.plan._parts()


def _draw_row(text: ReturnedText) -> ReportRow:
    where, cell = visible(text.label), text.unit.cells.get("translation")
    place = ", ".join(filter(None, (visible(text.unit.place), cell)))
    message = f"{text.verdict}: {cut(text.message, _MAX_LENGTH)}"
    lines = [f"  {cut(where, 60)}: {cut(message, 200)}"]
    source, returned = (marked(cut(each, _MAX_LENGTH)) for each in (text.source, text.returned))
    if text.verdict == "stale" and text.source:
        sources = text.unit.source[:_MAX_LENGTH], text.source[:_MAX_LENGTH]
        lines.append(f"    {format_changes(*sources)}")
        source = draw_changes(*sources)
    head = f"{marked(cut(where, 2 * LABEL))}<br><i>{marked(cut(place, 2 * LABEL))}</i>"
    cells = "".join(f'<td dir="auto">{cell}</td>' for cell in (marked(message), source, returned))
    return ReportRow(lines, html=f'<th scope="row" dir="auto">{head}</th>{cells}')


def import_units(
    units: Sequence[Unit],
    frame: pd.DataFrame,
    *,
    any_order: bool = False,
    glossary: Glossary | None = None,
    ledger: Ledger | None = None,
    broken: bool = False,
) -> Translations:
    """Put the translations of returned files into a frame, each with a verdict.

    Args:
        units: As `read_units` read them.
        frame: The contents as they are now: `client.templates.frame(codes, full=True)`.
        any_order: Take placeholders in another order than in the source, too; many languages
            need it.
        glossary: The words that translations use and never use.
        ledger: The record of silenced findings.
        broken: Take texts that are too long or against the glossary, too.

    """
    known = Ledger() if ledger is None else ledger
    importer = _Importer(read_entries(frame), units, glossary, known, any_order, broken)
    edits, new = importer.build_edits()
    result = apply_edits(frame, edits, new)
    for text in importer.texts:
        if text.duplicate_of:
            text.set_verdict(text.duplicate_of.verdict, text.duplicate_of.message)
    return Translations(result, importer.changed, importer.texts, len(new), importer.source)


@dataclass
class _Importer:
    """The evaluation of returned texts: each by itself, then those that belong together."""

    members: Sequence[Entry]
    units: Sequence[Unit]
    glossary: Glossary | None
    ledger: Ledger
    any_order: bool
    broken: bool

    def __post_init__(self) -> None:
        self.changed: list[tuple[str, ...]] = []
        self.source = ""  #: the language that the texts were translated from
        self._templates = group_by_template(self.members)
        #: The row of each content, by template and language; of two equal ones the first.
        self._rows = {
            (entry.template_code, entry.lang_code): row
            for row, entry in reversed([*enumerate(self.members)])
        }
        #: The texts that are taken by field, and their source, by content.
        self._taken: dict[tuple[str, str], tuple[Entry, dict[str, ReturnedText]]] = {}
        self.texts = [self._match_unit(unit) for unit in self.units]
        self._evaluate_all()
        self._reject_incomplete()

    def _match_unit(self, unit: Unit) -> ReturnedText:
        """Find the contents that a returned unit belongs to, by its stamp and its key."""
        stamp, entry = parse_stamp(unit.stamp), self._find_entry(unit.text_key[:2])
        members = self._templates.get(unit.template_code, ()) if stamp else ()
        sources = (
            each
            for each in members
            if stamp and make_stamp_key(*unit.text_key, each.lang_code) == stamp.key
        )
        original = next(sources, None)
        now, live = ("" if e is None else e.texts.get(unit.field, "") for e in (original, entry))
        text = ReturnedText(unit, unit.target, stamp, original, entry, now, live)
        if text.is_edited and not self.broken:
            text.unit = unit._replace(target=strip_residue(unit.target, now))
        return text

    def _find_entry(self, content_key: tuple[str, str]) -> Entry | None:
        row = self._rows.get(content_key)
        return None if row is None else self.members[row]

    def _evaluate_all(self) -> None:
        """Set the verdict on each text; of equal ones only the first is evaluated."""
        places: dict[tuple[str, ...], list[ReturnedText]] = {}
        for text in self.texts:
            place = (*text.unit.text_key, text.stamp.key) if text.stamp else (text.unit.place,)
            if text.is_edited:
                places.setdefault(place, []).append(text)
        for returned in places.values():
            versions: dict[str, ReturnedText] = {}
            for text in _keep_newest_export(returned):
                first = versions.setdefault(text.unit.target, text)
                text.duplicate_of = None if first is text else first
            for text in versions.values():
                self._evaluate(text, [*versions.values()])

    def _evaluate(self, text: ReturnedText, versions: Sequence[ReturnedText]) -> None:
        """Take a text or reject it; `versions` are all different ones of the same text."""
        unit, stamp, source = text.unit, text.stamp, text.original
        if stamp is None:
            lost = "its stamp was lost or changed on the way"
            lost += unit.format_cell_reference("stamp")
            text.set_verdict("unreadable" if unit.problem else "no stamp", unit.problem or lost)
        elif source is None:
            cells = ", ".join(cell for name, cell in unit.cells.items() if name in _KEY_COLUMNS)
            message = "neither it nor its source is in the frame, or where it belongs was changed"
            text.set_verdict("not in the frame", message + f": see {cells}" * bool(cells))
        elif unit.target != text.live or unit.problem:
            if reason := self._find_rejection(text, stamp, source, versions):
                text.set_verdict(*reason)
                return
            _, taken = self._taken.setdefault(unit.text_key[:2], (source, {}))
            if unit.field in taken:  # translated from another language: the later one counts
                taken[unit.field].verdict = "unchanged"
            taken[unit.field] = text
            text.verdict = "fresh" if text.target_is_current else "revised"
            if unit.target != text.returned:
                text.set_verdict("unwrapped", "taken without what a program had added")

    def _find_rejection(
        self, text: ReturnedText, stamp: Stamp, source: Entry, versions: Sequence[ReturnedText]
    ) -> tuple[str, str] | None:
        """Return the verdict and the message of a text that must be rejected, else None."""
        unit, lang = text.unit, source.lang_code
        if not text.source:  # nor can a file write where there is no text, whatever its stamp says
            return "stale", f"{lang} has no such text (any more)"
        if len(versions) > 1:
            places = " and ".join(visible(each.unit.place) for each in versions[:3])
            return "twice", f"it came back with several texts, in {places}: keep one"
        if unit.problem:
            return "unreadable", unit.problem
        if unit.unfinished:
            return "unfinished", f"it is marked {unit.unfinished}"
        if has_half_character(unit.target):
            return "unreadable", "it holds half a character"
        if not unit.target.strip():
            return "emptied", "the translation was taken out; delete it in the template if meant"
        # a program that prints a file anew may break the lines of a source
        current = digest_texts(text.source) == stamp.source
        same = current and unit.source.split() == text.source.split()
        if digest_texts(unit.source) != stamp.source and not same:
            message = (
                f"the source text in the file{unit.format_cell_reference('source')} is not the one "
            )
            return "source edited", message + "that went out: a program changed it, or a person did"
        if not current:
            message = f"{lang} was changed since the export. Export it again, and read both files"
            return "stale", message
        if not text.target_is_current and not self._was_imported_since(text, source):
            message = (
                "it was translated anew since the export, and nothing was overwritten. Export it "
                "again, and write this text into that file if it is better"
            )
            return "conflict", message
        if find_text_group(text.entry, source, unit.field) is None:
            return "no place", "the content has another kind of header or button there"
        return self._check_placeholders(text.source, unit.target) or self._check_wording(
            text, source
        )

    def _was_imported_since(self, text: ReturnedText, source: Entry) -> bool:
        """Return whether an import of this user wrote the live text after the export.

        A translator who goes on in the same file revises that one, and overwrites nobody.
        """
        origin = self.ledger.find_origin(text.unit, text.unit.field, source, text.live)
        if origin is None or (origin.how, origin.by) != ("import", get_user_name()):
            return False
        exported = _read_digits(text.exported_at)
        return bool(exported) and exported < _read_digits(origin.at)

    def _check_wording(self, text: ReturnedText, source: Entry) -> tuple[str, str] | None:
        """Check a text for residue of programs, its length, and its words by the glossary."""
        unit, glossary = text.unit, self.glossary
        lang, limit, count = unit.lang_code, get_text_limit(unit.field), len(unit.target)
        if self.broken:
            return None
        if reason := _describe_residue(unit, text.source):
            return "residue", reason
        if count > limit:
            message = f"it has {count:,} characters, at most {limit:,} are allowed"
            return "too long", f"{message}: take away {count - limit:,}"
        if glossary is not None:
            for flaw in glossary.find_breaches(text.source, unit.target, lang, source.lang_code):
                if not self.ledger.is_silent(flaw.code, lang, unit.template_code, unit.field):
                    return "glossary broken", f"{flaw.message}. {flaw.hint}".rstrip(". ")
        return None

    def _check_placeholders(self, source: str, target: str) -> tuple[str, str] | None:
        expected, got = (list(map(str, find_slots(text))) for text in (source, target))
        lost, added = Counter(expected) - Counter(got), Counter(got) - Counter(expected)
        if lost:
            more = f", and {', '.join(added)} was added" if added else ""
            are = "is" if len(lost) == 1 else "are"
            return "placeholder lost", f"{', '.join(lost)} {are} missing{more}"
        if added:
            return "placeholder added", f"{', '.join(added)} is not in the source"
        if expected != got and not self.any_order:
            message = f"they are {', '.join(got)}, in the source {', '.join(expected)}"
            return "placeholder order", f"{message}. If that is right, read with any_order=True"
        return None

    def _reject_incomplete(self) -> None:
        """Reject texts that would leave a content half in the language of its source.

        A text with a fault does not hold back the others of a new content, which is a draft.
        """
        faults: dict[tuple[str, str], set[str]] = {}
        for text in self.texts:
            if text.verdict not in TAKEN_VERDICTS:
                faults.setdefault(text.unit.text_key[:2], set()).add(text.unit.field)
        for content_key, (source, taken) in self._taken.items():
            entry = self._find_entry(content_key)
            for name in ("", "headers", "buttons"):
                needed = set(list_group_fields(source, entry, name))
                needed -= set() if name else faults.get(content_key, set())
                group = [f for f in taken if find_text_group(entry, source, f) == name]
                if group and (missing := sorted(needed - taken.keys())):
                    without = f"without {', '.join(map(text_label, missing))}"
                    message = f"{without} the {name or 'content'} would be half translated"
                    for field in group:
                        taken.pop(field).set_verdict(_INCOMPLETE, message)

    def build_edits(self) -> tuple[dict[int, dict[str, Any]], list[dict[str, Any]]]:
        """Return the changed fields by row of the frame, and the new contents."""
        edits: dict[int, dict[str, Any]] = {}
        new: list[dict[str, Any]] = []
        for content_key, (source, taken) in self._taken.items():
            if not taken:
                continue
            self.source = self.source or source.lang_code
            fields = {field: text.unit.target for field, text in taken.items()}
            self.changed += [
                (*text.unit.text_key, text.live, text.unit.target) for text in taken.values()
            ]
            if (row := self._rows.get(content_key)) is not None:
                edits[row] = put_texts(self.members[row].raw, source, fields)
            else:
                draft = make_draft(source, content_key[1])
                texts = dict.fromkeys(source.texts, "") | fields  # the others are missing
                new.append({**draft, **put_texts(draft, source, texts)})
        return edits, new


_OWN_TAG = re.compile(r'<ph id="[\d.]+">(\{\{[^{}]*\}\}|⟨U\+[0-9A-F]{4}⟩)</ph>')
_EDGE_BREAK = re.compile(r"\A\s*\n|\n\s*\Z")
#: Lines that a program has broken: with an indent, and between two words.
_INDENTED_LINE = re.compile(r"\n(?:[ ]{2,}|\t)[ \t]*(?=\S)")
_BROKEN_LINE = re.compile(r"(?<=[a-zß-öø-ÿа-яёα-ω])\n(?=[a-zß-öø-ÿа-яёα-ω])")


def strip_residue(text: str, source: str) -> str:
    """Remove from a translation what programs leave in it and the source does not have.

    Those are entities, the tags of our own files, backslashes before quotation marks, and line
    breaks around it: where nothing else can be meant.
    """
    if not find_residue(source):
        plain = ENTITY.sub(lambda match: unescape(match[0]), text)
        text = re.sub(r"\\(['\"])", r"\1", _OWN_TAG.sub(r"\1", plain))
    return text if _EDGE_BREAK.search(source) or not _EDGE_BREAK.search(text) else text.strip()


def _describe_residue(unit: Unit, source: str) -> str:
    """Describe what a program left in a translation; empty if there is nothing."""
    where = unit.format_cell_reference("translation")
    if unit.struck:
        return f"words in it are struck through{where}: take them out, or format them as the others"
    added, expected = (
        Counter(match[0] for match in find_residue(s)) for s in (unit.target, source)
    )
    added -= expected
    what = f"“{cut(next(iter(added)), 40)}”" if added else ""
    if not added and _INDENTED_LINE.search(unit.target) and not _INDENTED_LINE.search(source):
        what = "lines with an indent"
    elif not added and "\n" not in source and _BROKEN_LINE.search(unit.target):
        what = "a line break between two words"
    return f"it has {what}{where}, and the source has not: a program left it" if what else ""


def _keep_newest_export(edited: list[ReturnedText]) -> list[ReturnedText]:
    """Return the edited versions of one text that are of its newest export; reject the others."""
    latest = max((text.exported_at for text in edited), default="")
    newest = [text for text in edited if text.exported_at == latest]
    for text in edited:
        if text in newest or text.unit.target == text.live:
            continue
        if text.unit.target == newest[0].unit.target:
            text.duplicate_of = newest[0]
        else:
            where = visible(newest[0].unit.place)
            message = f"{where} is from a newer export and counts instead"
            text.set_verdict("older export", message)
    return newest


def _read_digits(time: str) -> str:
    """Return the digits of a time in ISO 8601 or of a stamp, UTC, which sort by time."""
    return re.sub(r"\D", "", time.partition("+")[0])
