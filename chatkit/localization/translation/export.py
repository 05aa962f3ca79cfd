"""Export: the texts to translate, written into files for translators."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from chatkit.errors import InputError, Problem
from chatkit.imports.tables import write_file
from chatkit.localization import language
from chatkit.localization.checks import text_limit
from chatkit.localization.content import Entry, count_words, group_with_source, shorten_list
from chatkit.localization.ledger import Ledger, no_source_message, text_digest, translation_key
from chatkit.localization.table import make_frame
from chatkit.localization.translation import files
from chatkit.localization.translation.units import (
    Unit,
    read_full_contents,
    stamp_time,
    text_group,
    translator_note,
)
from chatkit.util.display import has_half_character, many, visible
from chatkit.util.progress import print_line

if TYPE_CHECKING:
    import pandas as pd


#: The states of a translation, as far as the ledger has its source.
UnitState = Literal["missing", "stale", "unknown", "draft", "live"]
UNIT_STATES: tuple[UnitState, ...] = get_args(UnitState)
Only = Literal["missing", "stale", "unknown", "draft", "live", "all"]


def export(
    frame: pd.DataFrame,
    target: str | os.PathLike[str],
    *,
    source: str = "en",
    languages: Iterable[str] | None = None,
    only: Only | Collection[Only] = "missing",
    replace: bool = False,
    ledger: Ledger | None = None,
) -> pd.DataFrame:
    """Write texts into files for translators; `read_units` reads them back.

    What the name ends in says the format: .xlsx, .csv, .po, .xlf or .xliff. PO and XLIFF have a
    file for each language: `texts.po` becomes `texts.de.po` and so on.

    Args:
        frame: As `client.templates.frame(codes, full=True)` gives it.
        target: The path of the file.
        source: The language to translate from.
        languages: The languages to translate into, also those that no content has yet; without
            it all that the frame has.
        only: Texts in these states, one or several: "missing" without a translation, "stale"
            made from another source text, "unknown", "draft", "live"; or "all".
        replace: Write over files that are there; they may hold the work of a translator.
        ledger: What is recorded of sources, and what people say of texts.

    Returns:
        A row for each language in each file that was written.

    Raises:
        InputError: There is nothing to translate, a file cannot hold it, or is there already.
        OSError: A file cannot be written.
    """
    path = Path(target).expanduser()
    form = files.file_format(path)
    units, unplaced = collect_units(frame, source, languages, ledger)
    units = filter_by_state(units, only)
    encoded = files.encode_units(units, path, form, source) if units else {}
    if existing := [each.name for each in encoded if each.exists() and not replace]:
        raise InputError(
            f"{', '.join(existing)} is there already, and may hold the work of a translator. Take "
            "another name, or say replace=True."
        )
    lines = []
    for each, (members, data) in encoded.items():
        write_file(each, data)
        for code in dict.fromkeys(unit.lang_code for unit in members):
            mine = [unit for unit in members if unit.lang_code == code]
            templates = len({unit.template_code for unit in mine})
            count = sum(count_words(unit.source) for unit in mine)
            lines.append((str(each), code, templates, len(mine), count))
    across = many(len({unit.lang_code for unit in units}), "language")
    names = shorten_list([visible(each.name) for each in encoded], 3)
    texts = f"{many(len(units), 'text')} in {across} → {names}"
    print_line(texts if units else "Nothing to translate: no file was written.")
    if unplaced:
        some = shorten_list(list(map(visible, unplaced)), 3)
        print_line(f"  left out, for another kind of header or button stands there: {some}")
    return make_frame(lines, ("path", "lang_code", "templates", "texts", "words"))


# --- the texts to translate -------------------------------------------------------------


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
    pairs, unplaced = pair_units(read_full_contents(frame), source, languages, known)
    at, units = stamp_time(), []
    for unit, original, _ in pairs:
        noted = unit._replace(note=translator_note(unit.field, original))
        units.append(noted.with_stamp(original.lang_code, at))
    return units, unplaced


def _with_state(unit: Unit, original: Entry, entry: Entry | None, known: Ledger) -> Unit:
    """Return a unit with the state, the earlier source and the comment that the ledger has."""
    place = unit.template_code, language.normal(unit.lang_code), unit.field
    annotation = known.comments.get(place)
    origin = None
    if known.origins:  # else the digests are left out, to save time
        key = translation_key(unit, unit.field, original.lang_code, unit.target)
        origin = known.origins.get(key)
    state, before = "draft" if entry is not None and entry.is_draft else "live", ""
    if not unit.target.strip():
        state = "missing"
    elif origin is not None and origin.source != text_digest(unit.source):
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
        InputError: As `gather`.
    """
    if isinstance(languages, str):
        raise InputError("Pass languages as a list: languages=['de', 'pt_BR'].")
    templates = list(group_with_source(members, source))
    sources = {original.lang_code for _, original in templates if original}
    if not sources:
        raise InputError(no_source_message(members, source))
    languages_read = list(dict.fromkeys(entry.lang_code for entry in members))
    written = {language.normal(code): code for code in reversed(languages_read)}
    named = (
        [code for code in languages_read if code not in sources] if languages is None else languages
    )
    codes = list(dict.fromkeys(written.get(language.normal(code), code) for code in named))
    if languages is None:
        codes = language.sort_codes(codes, source)
    pairs: list[tuple[Unit, Entry, Entry | None]] = []
    unplaced: list[str] = []
    for group, original in templates:
        for lang_code in codes if original else ():
            if original is None or language.same(lang_code, original.lang_code):
                continue
            alike = [entry for entry in group if language.same(entry.lang_code, lang_code)]
            exact = [entry for entry in alike if entry.lang_code == lang_code]
            entry = next(iter([*exact, *alike]), None)
            code = lang_code if entry is None else entry.lang_code
            for field, text in original.texts.items():
                if text_group(entry, original, field) is None:
                    unplaced.append(f"{original.template_code} {code} {field}")
                    continue
                target = "" if entry is None else entry.texts.get(field, "")
                limit = text_limit(field)
                unit = Unit(original.template_code, code, field, text, target, limit=limit)
                pairs.append((_with_state(unit, original, entry, known), original, entry))
    _refuse_unexportable([unit for unit, *_ in pairs], source, languages_read)
    return pairs, list(dict.fromkeys(unplaced))


def _refuse_unexportable(
    units: Sequence[Unit], source: str, languages_read: Collection[str]
) -> None:
    """Raise an error for codes and texts that would not come back as they were."""
    problems = []
    for code in dict.fromkeys(unit.template_code for unit in units):
        if not code.isprintable() or not code.strip():
            reason = "must be text that can be printed, and not empty"
            problems.append(Problem("template_code", visible(code)[:60] or "''", reason))
    languages = list(dict.fromkeys([source, *(unit.lang_code for unit in units)]))
    for code in languages:
        if not language.is_tag(code):
            reason = "must be a code like en or en_US"
            problems.append(Problem("lang_code", visible(code)[:60] or "''", reason))
    for code in languages:
        form = language.normal(code)
        if language.is_tag(code) and code not in languages_read and code != form:
            problems.append(Problem("languages", visible(code)[:60], f"did you mean {form}?"))
    for unit in units:
        for text in (unit.source, unit.target):
            if has_half_character(text):
                place = visible(f"{unit.template_code} {unit.lang_code}, {unit.field}")
                problems.append(Problem(place, ascii(text)[:60], "holds half a character"))
    if problems:
        raise InputError("This cannot be translated as it is:", problems)


def filter_by_state(units: Iterable[Unit], only: Only | Collection[Only]) -> list[Unit]:
    """Return the units in these states, or all.

    Raises:
        InputError: `only` is none of these.
    """
    states = {only} if isinstance(only, str) else set(only)
    if states == {"all"}:
        return list(units)
    if not states or states - {*UNIT_STATES}:
        raise InputError(
            f'only= takes "all", or some of {", ".join(UNIT_STATES)}, not {only!r:.60}.'
        )
    return [unit for unit in units if unit.state in states]
