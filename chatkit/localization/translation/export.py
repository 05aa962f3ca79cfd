"""Export: what is to be translated, into files for translators."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from chatkit.errors import InputError, Problem
from chatkit.imports.tables import write_file
from chatkit.localization import language
from chatkit.localization.checks import text_limit
from chatkit.localization.content import Entry, grouped, source_of, words
from chatkit.localization.ledger import Ledger, Spot, no_source, text_digest
from chatkit.localization.table import frame_of
from chatkit.localization.translation import files
from chatkit.localization.translation.files import Paths
from chatkit.localization.translation.units import (
    Unit,
    built_alike,
    contents,
    field_texts,
    group_of,
    stamp_of,
    stamp_time,
    stamped,
    translator_note,
)
from chatkit.util.display import has_half_character, many, visible
from chatkit.util.progress import say

if TYPE_CHECKING:
    import pandas as pd


#: What is in a text of a translation, as far as the ledger knows.
UnitState = Literal["missing", "stale", "unknown", "draft", "live"]
UNIT_STATES: tuple[UnitState, ...] = get_args(UnitState)
Only = Literal["missing", "stale", "unknown", "draft", "live", "all", "changed"]


class _Line(NamedTuple):
    """One language in one file, and how much there is to do."""

    path: str
    lang_code: str
    templates: int
    texts: int
    words: int


def export(
    frame: pd.DataFrame,
    target: str | os.PathLike[str],
    *,
    source: str = "en",
    languages: Iterable[str] | None = None,
    only: Only | Collection[Only] = "missing",
    since: Paths | None = None,
    replace: bool = False,
    ledger: Ledger | None = None,
) -> pd.DataFrame:
    """Write texts into files for translators; `read` takes them back.

    What the name ends in says the format: .xlsx, .csv, .po, .xlf or .xliff. PO and XLIFF have a
    file for each language: `texts.po` becomes `texts.de.po` and so on.

    Args:
        frame: As `client.templates.frame(codes, full=True)` gives it.
        target: The path of the file.
        source: The language to translate from.
        languages: The languages to translate into, also those that no content has yet; without
            it all that the frame has.
        only: Texts in these states, one or several: "missing" without a translation, "stale"
            made from another source text, "unknown", "draft", "live"; "all"; or "changed" for
            those of the files in `since` whose source is not as it was when they went out.
        since: Files that went out before.
        replace: Write over files that are there; they may hold the work of a translator.
        ledger: What is recorded of sources, and what people say of texts.

    Returns:
        What was written: a row for each language in each file.

    Raises:
        InputError: There is nothing to translate, a file cannot hold it, or is there already.
        OSError: A file cannot be written.
    """
    path = Path(target).expanduser()
    form = files.form_of(path)
    units, homeless = gather(frame, source, languages, ledger)
    earlier = None if since is None else files.read_units(since)
    units = chosen(units, only, earlier)
    made = files.written_units(units, path, form, source) if units else {}
    if there := [each.name for each in made if each.exists() and not replace]:
        raise InputError(
            f"{', '.join(there)} is there already, and may hold the work of a translator. Take "
            "another name, or say replace=True."
        )
    for each, (_, data) in made.items():
        write_file(each, data)
    lines = [line for each, (part, _) in made.items() for line in _lines(each, part)]
    say(_said(units, made))
    if homeless:
        some = ", ".join(map(visible, homeless[:3]))
        more = f" and {len(homeless) - 3:,} more" if len(homeless) > 3 else ""
        say(f"  left out, for another kind of header or button stands there: {some}{more}")
    return frame_of(lines, _Line._fields)


def _lines(path: Path, units: Sequence[Unit]) -> Iterable[_Line]:
    for code in dict.fromkeys(unit.lang_code for unit in units):
        part = [unit for unit in units if unit.lang_code == code]
        templates = len({unit.template_code for unit in part})
        count = sum(words(unit.source) for unit in part)
        yield _Line(str(path), code, templates, len(part), count)


def _said(units: Sequence[Unit], made: Iterable[Path]) -> str:
    """Say in one line what was written."""
    if not units:
        return "Nothing to translate: no file was written."
    languages = len({unit.lang_code for unit in units})
    names = [visible(path.name) for path in made]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
    return f"{many(len(units), 'text')} in {many(languages, 'language')} → {shown}"


# --- what is to be translated -------------------------------------------------------------


def gather(
    frame: pd.DataFrame,
    source: str,
    languages: Iterable[str] | None,
    ledger: Ledger | None = None,
) -> tuple[list[Unit], list[str]]:
    """Collect the units of all templates in all languages, and say what has no place.

    Raises:
        InputError: Nothing can be translated, or could not be brought back as it was.
    """
    pairs, homeless = paired(contents(frame), source, languages)
    known, at, notes = ledger or Ledger(), stamp_time(), dict[tuple[int, str], str]()
    units = []
    for unit, original, entry in pairs:
        if (where := (id(original), unit.field)) not in notes:  # the same in all languages
            notes[where] = translator_note(unit.field, original)
        told = described(unit, original, entry, known)
        units.append(stamped(told._replace(note=notes[where]), original.lang_code, at))
    return units, homeless


def described(unit: Unit, original: Entry, entry: Entry | None, known: Ledger) -> Unit:
    """Complete a unit with its state, the source before and the comment, as the ledger has them."""
    place = unit.template_code, language.normal(unit.lang_code), unit.field
    remark = known.comments.get(place)
    origin = known.origins.get(spot_of(unit, original)) if known.origins else None
    state, before = "draft" if entry is not None and entry.is_draft else "live", ""
    if not unit.target.strip():
        state = "missing"
    elif origin is not None and origin.source != text_digest(unit.source):
        state, before = "stale", known.sources.get(origin.source, "")
    elif origin is None and unit.source != unit.target:
        state = "unknown"
    comment = remark.text if remark else ""
    return unit._replace(state=state, source_before=before, comment=comment)


def spot_of(unit: Unit, original: Entry) -> Spot:
    """Name the translation that a unit holds as the ledger does."""
    lang_code, source = language.normal(unit.lang_code), language.normal(original.lang_code)
    return Spot(unit.template_code, lang_code, unit.field, source, text_digest(unit.target))


def paired(
    found: Sequence[Entry],
    source: str,
    languages: Iterable[str] | None,
) -> tuple[list[tuple[Unit, Entry, Entry | None]], list[str]]:
    """Collect the units, before they are described.

    Each stands beside the content in the source language, and the one that it is of, if there
    is one yet.

    Raises:
        InputError: As `gather`.
    """
    if isinstance(languages, str):
        raise InputError("Pass languages as a list: languages=['de', 'pt_BR'].")
    members = grouped(found)
    originals = {code: source_of(group, source) for code, group in members.items()}
    if not any(originals.values()):
        raise InputError(no_source(found, source))
    wanted = _wanted(found, originals.values(), languages, source)
    pairs: list[tuple[Unit, Entry, Entry | None]] = []
    homeless: dict[str, None] = {}
    for code, original in originals.items():
        if original is None:
            continue
        texts = field_texts(original)
        for lang_code in wanted:
            if language.same(lang_code, original.lang_code):
                continue
            entry = _in(members[code], lang_code)
            units = _units(original, texts, entry, lang_code, homeless)
            pairs += [(unit, original, entry) for unit in units]
    _refuse([unit for unit, *_ in pairs], source, {entry.lang_code for entry in found})
    return pairs, list(homeless)


def _wanted(
    found: Iterable[Entry],
    originals: Iterable[Entry | None],
    languages: Iterable[str] | None,
    source: str,
) -> list[str]:
    """List the languages once each, written as the contents write them."""
    sources = {each.lang_code for each in originals if each is not None}
    there = list(dict.fromkeys(entry.lang_code for entry in found))
    codes = [code for code in there if code not in sources] if languages is None else languages
    written = {language.normal(code): code for code in reversed(there)}
    meant = dict.fromkeys(written.get(language.normal(code), code) for code in codes)
    return list(meant) if languages is not None else language.in_order(meant, source)


def _in(group: Sequence[Entry], lang_code: str) -> Entry | None:
    """Find the content in a language, however it is written; the same writing first."""
    for entry in group:
        if entry.lang_code == lang_code:
            return entry
    return next((entry for entry in group if language.same(entry.lang_code, lang_code)), None)


def _units(
    original: Entry,
    texts: Mapping[str, str],
    entry: Entry | None,
    lang_code: str,
    homeless: dict[str, None],
) -> Iterable[Unit]:
    there = {} if entry is None else field_texts(entry)
    template, code = original.template_code, lang_code if entry is None else entry.lang_code
    alike = entry is not None and built_alike(entry, original)
    for field, text in texts.items():
        if not alike and group_of(entry, original, field) is None:
            homeless.setdefault(f"{template} {code} {field}")
            continue
        yield Unit(template, code, field, text, there.get(field, ""), limit=text_limit(field))


def _refuse(units: Sequence[Unit], source: str, there: Collection[str]) -> None:
    """Refuse what could not be brought back as it was."""
    codes = dict.fromkeys(unit.template_code for unit in units)
    languages = dict.fromkeys([source, *(unit.lang_code for unit in units)])
    problems = [
        Problem(
            "template_code",
            visible(code)[:60] or "''",
            "must be text that can be printed, and not empty",
        )
        for code in codes
        if not code.isprintable() or not code.strip()
    ]
    problems += [
        Problem("lang_code", visible(code)[:60] or "''", "must be a code like en or en_US")
        for code in languages
        if not language.is_tag(code)
    ]
    problems += [
        Problem("languages", visible(code)[:60], f"did you mean {language.normal(code)}?")
        for code in languages
        if language.is_tag(code) and code not in there and code != language.normal(code)
    ]
    halves = has_half_character("".join([unit.source + unit.target for unit in units]))
    problems += [
        Problem(
            visible(f"{unit.template_code} {unit.lang_code}, {unit.field}"), ascii(text)[:60], said
        )
        for unit in units
        for text in (unit.source, unit.target)
        if halves and has_half_character(text) and (said := "holds half a character")
    ]
    if problems:
        raise InputError("This cannot be translated as it is:", problems)


def chosen(
    units: Iterable[Unit], only: Only | Collection[Only], since: Iterable[Unit] | None
) -> list[Unit]:
    """Keep the units that are wanted.

    Args:
        units: All of them.
        only: Those in these states, all, or those that went out before and whose source is not
            as it was.
        since: What went out before, for "changed".

    Raises:
        InputError: `only` is none of these, or it cannot be told what changed.
    """
    wanted = {only} if isinstance(only, str) else set(only)
    if wanted == {"all"}:
        return list(units)
    if wanted and wanted <= {*UNIT_STATES}:
        return [unit for unit in units if unit.state in wanted]
    if wanted != {"changed"}:
        raise InputError(
            f'only= takes "all", "changed", or some of {", ".join(UNIT_STATES)}, not {only!r:.60}.'
        )
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
