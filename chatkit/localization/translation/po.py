"""PO: the files of gettext. One file a language; the only import of Babel's reader and writer.

The context of a message, which every program keeps, says where its text stands and has the stamp:
`order_ready/buttons.0.label 1f2e3d4c5b.…`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, read_po, write_po

from chatkit.display import visible
from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.translation.escapes import escape_controls, unescape_controls
from chatkit.localization.translation.units import Unit

#: Where the language stands as the API writes it. Programs keep what they do not know.
_CODE = "# lang_code: "
#: Babel takes {{1}} for a format of Python, which it is not.
_FORMATS = ("python-format", "python-brace-format")


def po_of(units: Sequence[Unit], source: str) -> bytes:
    """Write units, all of one language.

    Args:
        units: In the order of their templates.
        source: The language they are translated from.
    """
    code = units[0].lang_code
    comment = f"# {language.name(code)}, translated from {language.name(source)}.\n{_CODE}{code}"
    catalog = Catalog(
        language.gettext_locale(code),
        project="chatkit",
        version="1",
        header_comment=comment,
        charset="utf-8",
        fuzzy=False,
    )
    for unit in units:
        message = catalog.add(
            escape_controls(unit.source),
            escape_controls(unit.target),
            auto_comments=[visible(unit.note)],
            context=f"{unit.template_code}/{unit.field} {unit.stamp}",
        )
        message.flags.difference_update(_FORMATS)
    target = io.BytesIO()
    write_po(target, catalog, width=0)
    return target.getvalue()


def read_po_units(data: bytes) -> list[Unit]:
    """Read the units of a file.

    Raises:
        InputError: It is no such file.
    """
    try:
        catalog = read_po(io.BytesIO(data), ignore_obsolete=True, abort_invalid=True)
    except (PoFileError, ValueError, LookupError, AttributeError, IndexError) as error:
        raise InputError(f"It is no PO file that can be read: {error}.") from None
    said = [line for line in catalog.header_comment.splitlines() if line.startswith(_CODE)]
    code = said[0].removeprefix(_CODE) if said else str(catalog.locale_identifier or "")
    return [_unit(message, code) for message in catalog if message.id]


def _unit(message: Message, lang_code: str) -> Unit:
    where, _, stamp = (message.context or "").rpartition(" ")
    code, _, field = where.rpartition("/")
    source, target = (
        unescape_controls(text if isinstance(text, str) else "")
        for text in (message.id, message.string)
    )
    marked = "fuzzy" if message.fuzzy else ""
    return Unit(code, lang_code, field, source, target, stamp, unfinished=marked)
