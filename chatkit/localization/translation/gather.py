"""Gather: all texts of a frame that can be translated, each beside its translation so far."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from chatkit.display import visible
from chatkit.errors import InputError, Problem
from chatkit.files.writing import half
from chatkit.localization import language
from chatkit.localization.audit import source_of
from chatkit.localization.content import Entry, entries, grouped
from chatkit.localization.translation import places, tag
from chatkit.localization.translation.places import EXTRAS, Extra
from chatkit.localization.translation.unit import Unit, stamp_of, stamped

if TYPE_CHECKING:
    import pandas as pd

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
    there = {} if entry is None else places.texts(entry)
    code = lang_code if entry is None else entry.lang_code
    for field, text in places.texts(original, also).items():
        if places.together(entry, original, field) is None:
            homeless.setdefault(f"{original.template_code} {code} {field}")
            continue
        unit = Unit(
            original.template_code,
            code,
            field,
            text,
            there.get(field, ""),
            note=places.note(field, original),
            limit=places.limit(field),
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
        if not tag.fits(code)
    ]
    problems += [
        Problem(
            visible(f"{unit.template_code} {unit.lang_code}, {unit.field}"), ascii(text)[:60], said
        )
        for unit in units
        for text in (unit.source, unit.target)
        if half(text) and (said := "holds half a character")
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
