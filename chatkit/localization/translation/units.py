"""Units: all texts of a frame that can be translated, each on its way out and back.

The stamp of a unit stays with it in every format. It says by three digests which text of which
content this is, what the source was when it went out, and what the translation was. So nothing is
overwritten that changed meanwhile, and no other memory is needed. It is no signature: whoever
has the file can write another one, so what came back is reviewed in a plan like any edit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, NamedTuple

from chatkit.display import visible
from chatkit.errors import InputError, Problem
from chatkit.localization import language
from chatkit.localization.audit import source_of
from chatkit.localization.content import Entry, entries, grouped
from chatkit.localization.translation.fields import (
    EXTRAS,
    Extra,
    field_limit,
    field_texts,
    group_of,
    translator_note,
)
from chatkit.tables import has_half_character

if TYPE_CHECKING:
    import pandas as pd


_STAMP = re.compile("([0-9a-f]{10})[.]([0-9a-f]{10})[.]([0-9a-f]{10})")


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
    #: Of one that came back: where it stands, why it cannot be read, and how a program marked it
    #: that is not finished.
    place: str = ""
    trouble: str = ""
    unfinished: str = ""

    @property
    def spot(self) -> tuple[str, str, str]:
        """Which text of which content."""
        return self.template_code, self.lang_code, self.field


class Stamp(NamedTuple):
    """The three digests of a unit."""

    key: str
    source: str
    target: str

    def __str__(self) -> str:
        return ".".join(self)


def digest(*texts: str) -> str:
    """Return ten characters that are others for other texts."""
    data = json.dumps(texts).encode()
    return blake2b(data, digest_size=5).hexdigest()


def key_of(template_code: str, lang_code: str, field: str, source_code: str) -> str:
    """Return the digest of which text this is, and from which language it is translated."""
    return digest(template_code, lang_code, field, source_code)


def stamped(unit: Unit, source_code: str) -> Unit:
    """Put its stamp on a unit."""
    key = key_of(*unit.spot, source_code)
    return unit._replace(stamp=str(Stamp(key, digest(unit.source), digest(unit.target))))


def stamp_of(text: str) -> Stamp | None:
    """Read a stamp; None if it is none."""
    found = _STAMP.fullmatch(text.strip())
    return Stamp(*found.groups()) if found else None


# --- gathering ------------------------------------------------------------------------------

Only = Literal["missing", "all", "changed"]
#: What a frame must have beside `template_code` and `lang_code`: without it, contents would
#: be made that lack half of their source.
NEEDED = ("text", "footer", "headers", "buttons", "variables")


def contents(frame: pd.DataFrame) -> list[Entry]:
    """Read the contents of a frame of several templates, in full.

    Raises:
        InputError: It is no such frame.
    """
    found = entries(frame)
    named = {str(name) for name in (*frame.columns, *frame.index.names)}
    if missing := [name for name in ("template_code", *NEEDED) if name not in named]:
        raise InputError(
            f"The frame lacks {', '.join(missing)}. Read the contents in full: "
            "client.templates.frame(codes, full=True)."
        )
    return found


def gather(
    frame: pd.DataFrame,
    source: str,
    languages: Iterable[str] | None,
    also: Collection[Extra],
) -> tuple[list[Unit], list[str]]:
    """Collect the units of all templates in all languages, and say what has no place.

    Raises:
        InputError: Nothing can be translated, or a file cannot hold it.
    """
    if isinstance(languages, str) or isinstance(also, str):
        raise InputError("Pass languages and also as lists: languages=['de', 'pt_BR'].")
    if strange := [name for name in also if name not in EXTRAS]:
        raise InputError(f"also= takes {' and '.join(EXTRAS)}, not {strange[0]!r}.")
    found = contents(frame)
    members = grouped(found)
    originals = {code: source_of(group, source) for code, group in members.items()}
    if not any(originals.values()):
        raise InputError(f"No template has a content in {source!r} to translate from.")
    wanted = _wanted(found, originals.values(), languages)
    units: list[Unit] = []
    homeless: dict[str, None] = {}
    for code, original in originals.items():
        for lang_code in wanted if original is not None else ():
            if original is None or language.same(lang_code, original.lang_code):
                continue
            entry = _in(members[code], lang_code)
            units += _units(original, entry, lang_code, also, homeless)
    _refuse(units, source)
    return units, list(homeless)


def _wanted(
    found: Iterable[Entry], originals: Iterable[Entry | None], languages: Iterable[str] | None
) -> list[str]:
    """List the languages once each, written as the contents write them."""
    sources = {each.lang_code for each in originals if each is not None}
    there = list(dict.fromkeys(entry.lang_code for entry in found))
    codes = [code for code in there if code not in sources] if languages is None else languages
    written = {language.normal(code): code for code in reversed(there)}
    return list(dict.fromkeys(written.get(language.normal(code), code) for code in codes))


def _in(group: Sequence[Entry], lang_code: str) -> Entry | None:
    """Find the content in a language, however it is written; the same writing first."""
    same = [entry for entry in group if language.same(entry.lang_code, lang_code)]
    exact = [entry for entry in same if entry.lang_code == lang_code]
    return next(iter(exact or same), None)


def _units(
    original: Entry,
    entry: Entry | None,
    lang_code: str,
    also: Collection[Extra],
    homeless: dict[str, None],
) -> Iterable[Unit]:
    there = {} if entry is None else field_texts(entry)
    code = lang_code if entry is None else entry.lang_code
    for field, text in field_texts(original, also).items():
        if group_of(entry, original, field) is None:
            homeless.setdefault(f"{original.template_code} {code} {field}")
            continue
        unit = Unit(
            original.template_code,
            code,
            field,
            text,
            there.get(field, ""),
            note=translator_note(field, original),
            limit=field_limit(field),
        )
        yield stamped(unit, original.lang_code)


def _refuse(units: Sequence[Unit], source: str) -> None:
    """Refuse what no file could bring back as it was."""
    codes = dict.fromkeys(unit.template_code for unit in units)
    languages = dict.fromkeys([source, *(unit.lang_code for unit in units)])
    problems = [
        Problem("template_code", visible(code)[:60] or "''", "is no code that a file can hold")
        for code in codes
        if not code.isprintable() or not code.strip()
    ]
    problems += [
        Problem("lang_code", visible(code)[:60] or "''", "is no code like en or en_US")
        for code in languages
        if not language.is_tag(code)
    ]
    problems += [
        Problem(
            visible(f"{unit.template_code} {unit.lang_code}, {unit.field}"), ascii(text)[:60], said
        )
        for unit in units
        for text in (unit.source, unit.target)
        if has_half_character(text) and (said := "holds half a character")
    ]
    if problems:
        raise InputError("A file cannot hold all of this:", problems)


def chosen(units: Iterable[Unit], only: Only, since: Iterable[Unit] | None) -> list[Unit]:
    """Keep the units that are wanted.

    Args:
        units: All of them.
        only: Those without a translation, all, or those that went out before and whose source
            is not as it was.
        since: What went out before, for "changed".

    Raises:
        InputError: `only` is none of these, or it cannot be told what changed.
    """
    if only == "all":
        return list(units)
    if only == "missing":
        return [unit for unit in units if not unit.target]
    if only != "changed":
        raise InputError(f'only= takes "missing", "all" or "changed", not {only!r}.')
    if since is None:
        raise InputError(
            'What changed can only be told against files that went out before: only="changed", '
            "since=[their paths]."
        )
    stamps = [stamp for unit in since if (stamp := stamp_of(unit.stamp))]
    before = {(stamp.key, stamp.source) for stamp in stamps}
    went_out = {stamp.key for stamp in stamps}
    return [
        unit
        for unit in units
        if (stamp := stamp_of(unit.stamp))
        and stamp.key in went_out
        and (stamp.key, stamp.source) not in before
    ]
