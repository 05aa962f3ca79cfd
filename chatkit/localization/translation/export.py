"""Export: what is to be translated, into files for translators."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from chatkit.display import many, visible
from chatkit.errors import InputError
from chatkit.localization.placeholders import words
from chatkit.localization.table import frame_of
from chatkit.localization.translation import files
from chatkit.localization.translation.fields import Extra
from chatkit.localization.translation.files import Form, Paths
from chatkit.localization.translation.units import Only, Unit, chosen, gather
from chatkit.progress import say

if TYPE_CHECKING:
    import pandas as pd


class _Line(NamedTuple):
    """One language in one file, and how much there is to do."""

    path: str
    lang_code: str
    templates: str
    texts: str
    words: str


_COLUMNS = ("path", "lang_code", "templates", "texts", "words")


def export(
    frame: pd.DataFrame,
    target: str | os.PathLike[str],
    *,
    source: str = "en",
    languages: Iterable[str] | None = None,
    only: Only = "missing",
    since: Paths | None = None,
    also: Collection[Extra] = (),
    form: Form | None = None,
    one_sheet: bool = False,
    replace: bool = False,
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
        only: "missing" for texts without a translation, "all", or "changed" for those of the
            files in `since` whose source is not as it was when they went out.
        since: Files that went out before.
        also: What else is to be translated: "samples" of placeholders, "addresses" of buttons.
        form: The format, where the name does not say it: "xliff-2.0".
        one_sheet: Put all languages on one sheet of a workbook.
        replace: Write over files that are there; they may hold the work of a translator.

    Returns:
        What was written: a row for each language in each file.

    Raises:
        InputError: There is nothing to translate, a file cannot hold it, or is there already.
        OSError: A file cannot be written.
    """
    path = Path(target).expanduser()
    form = files.form_of(path, form)
    units, homeless = gather(frame, source, languages, also)
    earlier = None if since is None else files.read_units(since)
    units = chosen(units, only, earlier)
    made = files.written_units(units, path, form, source, one_sheet=one_sheet) if units else {}
    if there := [each.name for each in made if each.exists() and not replace]:
        raise InputError(
            f"{', '.join(there)} is there already, and may hold the work of a translator. Take "
            "another name, or say replace=True."
        )
    for each, (_, data) in made.items():
        each.write_bytes(data)
    lines = [line for each, (part, _) in made.items() for line in _lines(each, part)]
    say(_said(units, made))
    if homeless:
        some = ", ".join(map(visible, homeless[:3]))
        more = f" and {len(homeless) - 3:,} more" if len(homeless) > 3 else ""
        say(f"  left out, for another kind of header or button stands there: {some}{more}")
    return frame_of(lines, _COLUMNS).astype(dict.fromkeys(_COLUMNS[2:], "int64"))


def _lines(path: Path, units: Sequence[Unit]) -> Iterable[_Line]:
    for code in dict.fromkeys(unit.lang_code for unit in units):
        part = [unit for unit in units if unit.lang_code == code]
        templates = len({unit.template_code for unit in part})
        count = sum(words(unit.source) for unit in part)
        yield _Line(str(path), code, str(templates), str(len(part)), str(count))


def _said(units: Sequence[Unit], made: Iterable[Path]) -> str:
    """Say in one line what was written."""
    if not units:
        return "Nothing to translate: no file was written."
    languages = len({unit.lang_code for unit in units})
    names = [visible(path.name) for path in made]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
    return f"{many(len(units), 'text')} in {many(languages, 'language')} → {shown}"
