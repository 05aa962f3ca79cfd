"""Ledger: the record of the source text that each translation was made from.

A line has the digest of one translation and that of its source text; the text itself has a line of
its own, once. So a translation that is written again later, as an undo does, has the source that it
had before. A translation without a line was written elsewhere: its source is unknown.

The file of an account is text of sorted lines, and merging is putting the lines of two files
together in any order. It holds codes, texts, times and the short names of those who recorded
something (`chatkit.bulk.journal.person`): no address, no token, and no sample of a placeholder,
which may be a customer's.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b, sha256
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from chatkit.api.connection import Connection
from chatkit.bulk.stores import get_journal_folder
from chatkit.errors import InputError, read_file_bytes
from chatkit.localization import language
from chatkit.localization.content import Contents, Entry, group_with_source, read_entries
from chatkit.localization.table import make_frame
from chatkit.report import Report, ReportPart, marked, paragraph
from chatkit.util.display import compare_words, many, values, visible
from chatkit.util.files import get_user_name, replace_file, rewrite_file
from chatkit.util.progress import print_line

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.localization.units import Unit

#: The origin of a line: a returned file, a run or a single call, or a person.
How = Literal["import", "apply", "accept"]
_HOW_VALUES: tuple[How, ...] = get_args(How)

_HEADER = (
    "# chatkit: which source text each translation was made from. To merge two of these files, "
    "put their lines together in any order."
)
#: Times are written in one way only, so that they sort.
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
#: Lines that a version control system leaves where it could not merge: both sides count.
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


def digest_text(text: str) -> str:
    """Return a digest of a text in twenty characters."""
    return blake2b(json.dumps(text).encode(), digest_size=10).hexdigest()


class TranslationKey(NamedTuple):
    """The key of one translated text: its place, and its digest."""

    template_code: str
    lang_code: str  #: in the form in which two codes are compared
    field: str  #: as in the API: "buttons.1.label"; the first is 0
    source_code: str  #: the language it was translated from, in the same form
    target: str  #: the digest of the translation


class Origin(NamedTuple):
    """The source of a translation; of two records the later one counts."""

    at: str  #: ISO 8601, UTC
    source: str  #: the digest of the source text
    how: str
    run: str = ""
    by: str = ""  #: who recorded it; empty where nobody can be named


class SourceChange(NamedTuple):
    """A change of a source text since its translation was made."""

    field: str
    what: str  #: the field in words
    before: str  #: the source text that the translation was made from
    after: str  #: the source text as it is now; empty if it was taken out


_TEXT_MARKS = {"same": "{}", "out": "[-{}-]", "in": "{{+{}+}}"}
_HTML_MARKS = {"same": "{}", "out": "<del>{}</del>", "in": "<ins>{}</ins>"}


def format_changes(before: str, after: str) -> str:
    """Show the changes of a text in one line: [-what was taken out-] and {+what was put in+}."""
    changes = compare_words(before, after)
    return "".join(_TEXT_MARKS[kind].format(visible(text)) for kind, text in changes)


def draw_changes(before: str, after: str, kinds: Collection[str] = tuple(_HTML_MARKS)) -> str:
    """Show the changes of a text as HTML: all words, or only those of some kinds.

    Args:
        before: The earlier text.
        after: The present text.
        kinds: "same", "out" for words that were taken out, "in" for those that were put in.
    """
    changes = compare_words(before, after)
    return "".join(
        _HTML_MARKS[kind].format(marked(visible(text))) for kind, text in changes if kind in kinds
    )


class Provenance(NamedTuple):
    """The record of one content: the changes of its source, and the texts without a record."""

    changes: tuple[SourceChange, ...] = ()
    unknown: tuple[str, ...] = ()


class Annotation(NamedTuple):
    """A comment of a person on a text, or a silenced finding; of two the later counts."""

    at: str  #: ISO 8601, UTC
    text: str  #: empty where it was taken back
    by: str = ""  #: the author; empty where nobody can be named


#: The kinds of lines: how many texts name their place, and the record of it.
_RECORD_KINDS: dict[str, tuple[int, type[Origin | Annotation]]] = {
    "made": (len(TranslationKey._fields), Origin),
    "comment": (3, Annotation),
    "silenced": (4, Annotation),
}


@dataclasses.dataclass(repr=False)
class Ledger:
    """The lines of one account, or of several people.

    Two ledgers with the same lines are equal, in whatever order these came.
    """

    #: Source texts by their digest.
    sources: dict[str, str] = dataclasses.field(default_factory=dict)
    origins: dict[TranslationKey, Origin] = dataclasses.field(default_factory=dict)
    #: Comments by template, language and field.
    comments: dict[tuple[str, ...], Annotation] = dataclasses.field(default_factory=dict)
    #: Silenced findings by code, language, template and field; "" is every one.
    silenced: dict[tuple[str, ...], Annotation] = dataclasses.field(default_factory=dict)

    @property
    def _records(self) -> dict[str, dict[Any, Any]]:
        return {"made": self.origins, "comment": self.comments, "silenced": self.silenced}

    def __len__(self) -> int:
        return len(self.origins)

    def __repr__(self) -> str:
        return f"<ledger of {len(self.origins):,} translations, {len(self.sources):,} source texts>"

    def __str__(self) -> str:
        """Return the ledger as text, which is the same for the same lines."""
        lines = {_format_line("source", digest, text) for digest, text in self.sources.items()}
        return "\n".join([_HEADER, *sorted(lines | self.lines()), ""])

    def lines(self) -> set[str]:
        """Return the records as lines, without the source texts that they name."""
        return {
            _format_line(kind, *key, *record)
            for kind, records in self._records.items()
            for key, record in records.items()
        }

    @classmethod
    def from_text(cls, text: str, name: str = "the ledger") -> Ledger:
        """Parse lines, in any order, repeated or with the marks of a merge between them.

        Raises:
            InputError: Some lines cannot be read: which, and what to do.
        """
        ledger, bad = cls(), []
        for number, line in enumerate(text.split("\n"), 1):
            line = line.strip()
            if line and not line.startswith(("#", *_CONFLICT)) and not ledger._read_line(line):
                bad.append(number)
        if bad:
            some = ", ".join(map(str, bad[:5])) + (" …" if len(bad) > 5 else "")
            raise InputError(
                f"{visible(name)} has lines that cannot be read: {some}. Take them out, or bring "
                "back a copy of the file; what they said is then unknown."
            )
        return ledger

    def _read_line(self, line: str) -> bool:
        """Add the record of a line; return whether it could be parsed."""
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            return False
        match values:
            case ["source", str(digest), str(text)] if digest_text(text) == digest:
                self.sources[digest] = text
                return True
            case [str(kind), *rest] if kind in _RECORD_KINDS:
                size, record_type = _RECORD_KINDS[kind]
                if not all(isinstance(each, str) for each in rest):
                    return False
                if len(rest) != size + len(record_type._fields) or not _TIME.fullmatch(rest[size]):
                    return False
                place = TranslationKey(*rest[:size]) if kind == "made" else tuple(rest[:size])
                self._keep_later(kind, place, record_type(*rest[size:]))
                return True
        return False

    def _keep_later(self, kind: str, key: tuple[str, ...], record: Origin | Annotation) -> None:
        """Keep a record unless a later one of its place is known."""
        known = self._records[kind].get(key)
        if known is None or known < record:
            self._records[kind][key] = record

    def merge(self, other: Ledger) -> Ledger:
        """Return a ledger with the lines of both: for each translation the later line counts.

        The order of the two does not matter, nor how often they are merged.
        """
        merged = Ledger()
        for each in (self, other):
            merged.sources |= each.sources
            for kind, records in each._records.items():
                for place, record in records.items():
                    merged._keep_later(kind, place, record)
        return merged

    # --- write down -------------------------------------------------------------------

    def record_source(
        self,
        key: TranslationKey,
        source: str,
        how: How,
        known: Ledger,
        *,
        at: str = "",
        run: str = "",
    ) -> None:
        """Record that a translation was made from this source text, unless that is known.

        The record is later than the known one, also where the clock of another computer is ahead.
        That a person accepted it is recorded, too, where it was known from something else.
        """
        at, before, digest = at or _now(), known.origins.get(key), digest_text(source)
        if before is not None:
            if before.source == digest and (how != "accept" or before.how == "accept"):
                return
            if before.at >= at:
                later = datetime.fromisoformat(before.at) + timedelta(microseconds=1)
                at = later.isoformat(timespec="microseconds")
        self.sources[digest] = source
        self._keep_later("made", key, Origin(at, digest, how, run, get_user_name()))

    def comment(self, key: tuple[str, str, str], text: str) -> None:
        """Record the comment of a person on a text; an empty comment takes it back."""
        self.comments[key] = Annotation(_now(), text, get_user_name())

    def silence(
        self,
        code: str,
        lang_code: str,
        template_code: str = "",
        field: str = "",
        *,
        off: bool = False,
    ) -> None:
        """Record that findings of a code are silenced, or not any more; empty means every one."""
        key = code, language.normalize(lang_code), template_code, field
        self.silenced[key] = Annotation(_now(), "" if off else "yes", get_user_name())

    # --- look up ----------------------------------------------------------------------

    def is_silent(
        self, code: str, lang_code: str, template_code: str = "", field: str = ""
    ) -> bool:
        """Return whether findings of this code are silenced for a text.

        A record for the template counts over one for all, then one for the language, then one for
        the field.
        """
        languages = language.normalize(lang_code), ""
        for template, lang, name in product((template_code, ""), languages, (field, "")):
            if annotation := self.silenced.get((code, lang, template, name)):
                return bool(annotation.text)
        return False

    def find_origin(
        self, content: Entry | Unit, field: str, original: Entry, text: str
    ) -> Origin | None:
        """Return the record of a text of a content, and of its source; None if there is none."""
        if not self.origins:  # then the digests are left out, to save time
            return None
        return self.origins.get(make_translation_key(content, field, original.lang_code, text))

    def is_accepted(self, entry: Entry, field: str, original: Entry, text: str) -> bool:
        """Return whether a person accepted this text of a content as it is."""
        origin = self.find_origin(entry, field, original, text)
        return origin is not None and origin.how == "accept"

    def silences(self) -> pd.DataFrame:
        """Return a DataFrame of what is silenced; an empty cell means every one."""
        rows = [(*key, each.at) for key, each in sorted(self.silenced.items()) if each.text]
        return make_frame(rows, ("code", "lang_code", "template_code", "field", "at"))

    def provenance(self, entry: Entry, original: Entry) -> Provenance:
        """Compare the recorded sources of a content with its source as it is now."""
        changes, unknown = [], []
        for field, name, text in entry.pieces:
            source = original.texts.get(field, "")
            if not text.strip():
                continue
            if origin := self.find_origin(entry, field, original, text):
                if digest_text(source) != origin.source:
                    before = self.sources.get(origin.source, "")
                    changes.append(SourceChange(field, name, before, source))
            elif source and source != text:  # a text that is the same in both was made from it
                unknown.append(name)
        return Provenance(tuple(changes), tuple(unknown))

    def is_structure_accepted(self, entry: Entry, original: Entry) -> bool:
        """Return whether somebody accepted that a content has another header or other buttons."""
        origin = self.find_origin(entry, _STRUCTURE, original, _describe_structure(entry))
        return origin is not None and origin.source == digest_text(_describe_structure(original))


def make_translation_key(
    content: Entry | Unit, field: str, source_code: str, text: str
) -> TranslationKey:
    """Return the key of one translated text of a content."""
    codes = language.normalize(content.lang_code), field, language.normalize(source_code)
    return TranslationKey(content.template_code, *codes, digest_text(text))


#: The field of a record of which header and buttons a content has.
_STRUCTURE = "headers and buttons"


def _describe_structure(entry: Entry) -> str:
    """Return the types of header and buttons of a content as JSON, for comparison."""
    headers = [
        [values(header.get("type")), len(entry.placeholders.get(f"headers.{number}.text", ()))]
        for number, header in enumerate(entry.headers)
    ]
    return json.dumps([headers, [values(button.get("type")) for button in entry.buttons]])


def accept_contents(
    contents: Contents, languages: str | Iterable[str] | None, source: str, known: Ledger
) -> tuple[pd.DataFrame, Ledger]:
    """Record that contents were made from their source as it is now.

    Returns:
        A DataFrame with a row for each content, and a ledger of the new lines.

    Raises:
        InputError: None of them is in such a language, or there is no source.
    """
    members = read_entries(contents)
    named = select_languages(members, languages)
    new, rows, sources, time = Ledger(), list[tuple[str, str, int, str]](), 0, _now()
    for group, original in group_with_source(members, source):
        sources += original is not None
        order = language.sort_codes((entry.lang_code for entry in group), source)
        for entry in sorted(group, key=lambda each: order.index(each.lang_code)):
            is_named = language.normalize(entry.lang_code) in named
            if original is None or entry is original or not is_named:
                continue
            record = known.provenance(entry, original)
            before = "stale" if record.changes else "unknown" if record.unknown else "recorded"
            made = {
                field: (text, original.texts[field])
                for field, text in entry.texts.items()
                if original.texts.get(field)
            }
            rows.append((entry.template_code, entry.lang_code, len(made), before))
            structure = _describe_structure(entry), _describe_structure(original)
            if structure[0] != structure[1] and not entry.is_draft:  # a draft may lack them for now
                made[_STRUCTURE] = structure
            for field, (text, origin) in made.items():
                key = make_translation_key(entry, field, original.lang_code, text)
                new.record_source(key, origin, "accept", known, at=time)
    if not sources:
        raise InputError(make_no_source_message(members, source))
    return make_frame(rows, ("template_code", "lang_code", "texts", "before")), new


def select_languages(contents: Sequence[Entry], languages: str | Iterable[str] | None) -> set[str]:
    """Return the languages that are meant, in their normal form.

    Raises:
        InputError: No content is in one of them.
    """
    known = dict.fromkeys(language.normalize(entry.lang_code) for entry in contents)
    named = [*known] if languages is None else language.as_list(languages)
    if strange := [code for code in named if language.normalize(code) not in known]:
        asked = language.did_you_mean(strange[0], known)
        hint = f"; {asked}" if asked else f": they are in {', '.join(known)}."
        raise InputError(f"No content is in {visible(strange[0]):.20}{hint}")
    return {language.normalize(code) for code in named}


def make_no_source_message(contents: Sequence[Entry], source: str) -> str:
    """Return the message that no content is in the source language, with a suggestion."""
    asked = language.did_you_mean(source, (entry.lang_code for entry in contents))
    end = f"; {asked}" if asked else "."
    return f"No template has a content in {source!r} to translate from{end}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _format_line(*texts: str) -> str:
    """Format a record as a line; characters that an editor may take for its end are escaped."""
    plain = all(each.isprintable() for each in texts)
    return json.dumps(texts, ensure_ascii=not plain, separators=(",", ":"))


# --- the lines of a run -------------------------------------------------------------------
# A plan has the translations that it writes, and their sources. They are written down when it is
# applied, before the first byte is sent: a fact of two texts, whether or not they take effect.


class WrittenText(NamedTuple):
    """A text that a plan writes, as plain texts, so that a saved plan keeps them.

    Where a text was only replaced by rule, `carried` is the digest of the text before, and of
    its source before: the new one then is as up to date as that was.
    """

    template_code: str
    lang_code: str
    field: str
    source_code: str
    target: str
    source: str
    how: str
    carried: str = ""
    carried_source: str = ""


def record_written(
    known: Ledger, written: Iterable[Sequence[str]], run: str, *, add: bool = False
) -> Ledger:
    """Return the new lines for the texts that a run writes, with their sources.

    Args:
        known: What was recorded before.
        written: The texts of the plan, each a `WrittenText`.
        run: The name of the run.
        add: Leave what was recorded of the same translations.
    """
    new, at = Ledger(), _now()
    for one in map(WrittenText._make, written):
        key, source = TranslationKey(*one[:5]), one.source
        if add and key in known.origins:
            continue
        how: How = one.how if one.how in _HOW_VALUES else "apply"
        if one.carried:
            origin = known.origins.get(key._replace(target=one.carried))
            if origin is None:
                continue
            if origin.source != one.carried_source:
                source = known.sources.get(origin.source, "")
        new.record_source(key, source, how, known, at=at, run=run)
    return new


# --- the file of an account ---------------------------------------------------------------


class LedgerFile(Report):
    """The ledger of one account: from which source text each translation was made.

    It lies in the user's data folder, is only ever added to, and is text: `save` writes it for a
    colleague, or into a folder under version control, and `merge` takes what they have recorded.

    Args:
        connection: Which account.

    >>> accepted = client.templates.accept(["de", "fr"], ["order_ready"])
    12 texts in 2 contents are recorded as made from en as it is now.
    >>> client.templates.ledger.save("translations.jsonl")
    >>> client.templates.ledger.merge("translations.jsonl")
    0 of 12 lines were new.
    """

    def __init__(self, connection: Connection) -> None:
        folder = get_journal_folder(passing=connection.passing).parent / "translations"
        name = sha256(connection.account.encode()).hexdigest()[:32]
        self.path: Path = folder / f"{name}.jsonl"  #: where it lies

    def _parts(self) -> list[ReportPart]:
        ledger = self.read()
        texts = many(len(ledger.sources), "source text")
        return [paragraph(f"{many(len(ledger), 'translation')} of {texts} recorded.")]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ledger as text into a file: sorted lines, the same for the same records.

        Raises:
            OSError: The file cannot be written.
        """
        with replace_file(Path(path).expanduser()) as file:
            file.write(str(self.read()).encode())

    def merge(self, path: str | os.PathLike[str]) -> None:
        """Add the records of a file that `save` wrote, here or elsewhere.

        For a translation that both have recorded the later line counts. The order in which files
        are merged does not matter, nor how often.

        Raises:
            InputError: It is not such a file; nothing was taken.
            OSError: It cannot be opened.
        """
        file = Path(path).expanduser()
        other = _parse_ledger(read_file_bytes(file), file.name)
        known, lines = self.read().lines(), other.lines()
        new = len(self.add(other).lines() - known)
        print_line(f"{new:,} of {many(len(lines), 'line')} {'was' if new == 1 else 'were'} new.")

    def read(self) -> Ledger:
        """Read the ledger; it is empty if there is no file yet.

        Raises:
            InputError: Some lines cannot be read.
            OSError: The file cannot be opened.
        """
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return Ledger()
        return _parse_ledger(content, str(self.path)).merge(Ledger())

    def add(self, new: Ledger) -> Ledger:
        """Merge these lines into the file, and return the ledger with all lines.

        Several processes may do so at once: none loses what another wrote. The file is the old
        one or the new one, whenever the machine stops.

        Raises:
            InputError: Some of its lines cannot be read: it stays as it is.
            OSError: It cannot be written.
        """
        both = Ledger()

        def merge_content(content: bytes) -> bytes:
            nonlocal both
            known = _parse_ledger(content, str(self.path))
            both = known.merge(new)
            return content if both == known else str(both).encode()

        rewrite_file(self.path, merge_content)
        return both


@lru_cache(1)  # the lines of a thousand translations are read at each check of a form
def _parse_ledger(content: bytes, name: str) -> Ledger:
    try:
        return Ledger.from_text(content.decode("utf-8-sig"), name)
    except UnicodeDecodeError:
        raise InputError(
            f"{visible(name)} is not UTF-8 text, so it is not a ledger of translations. Bring "
            "back a copy of it."
        ) from None
