"""XLIFF 1.2: what programs for translators exchange. One file a language.

Placeholders, and characters that XML cannot hold, are elements of their own (`ph`): a program
shows them as one block that can be moved and not be changed.

This is the only import of an XML parser. That of Python, expat, is fast, loads nothing from
elsewhere, and limits how much entities unfold. The files of translators need no document type at
all, so one that has it is refused, and with it every entity.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from xml.sax.saxutils import escape, quoteattr

from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.translation.units import Unit, escape_controls, unescape_controls
from chatkit.util.display import escaped

#: The attributes of a target by the state of its text.
_STATES = {
    "stale": 'state="needs-review-translation"',
    "unknown": 'state="translated" state-qualifier="x-unknown"',
    "draft": 'state="translated"',
    "live": 'state="final"',
}
#: The authors of notes that are no comments of people.
_OWN_AUTHORS = ("", "developer")
#: How the state of a translation begins that a program has marked as not finished.
_UNFINISHED_STATES = ("new", "needs-")


def _format_attributes(**named: str | int) -> str:
    return "".join(
        f" {name.replace('_', '-')}={quoteattr(str(value))}" for name, value in named.items()
    )


# --- writing ----------------------------------------------------------------------------


def encode_xliff(units: Sequence[Unit], source: str) -> bytes:
    """Encode units of one language as an XLIFF file.

    Args:
        units: In the order of their templates.
        source: The language they are translated from.
    """
    target = units[0].lang_code
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">',
    ]
    for code, group in groupby(units, key=lambda unit: unit.template_code):
        head = _format_attributes(
            original=f"{target}/{code}",
            source_language=language.bcp47_tag(source),
            target_language=language.bcp47_tag(target),
            datatype="plaintext",
        )
        lines += [f"  <file{head}>", "    <body>"]
        for unit in group:
            lines += _trans_unit_lines(unit)
        lines += ["    </body>", "  </file>"]
    return "\n".join([*lines, "</xliff>", ""]).encode()


def _trans_unit_lines(unit: Unit) -> Iterator[str]:
    most = _format_attributes(maxwidth=unit.limit, size_unit="char") if unit.limit else ""
    head = _format_attributes(id=unit.stamp, resname=unit.field) + most
    yield f'      <trans-unit{head} xml:space="preserve">'
    ids: dict[str, int] = {}
    yield f"        <source>{encode_inline(unit.source, ids)}</source>"
    if unit.target:
        state = f" {_STATES[unit.state]}" if unit.state in _STATES else ""
        yield f"        <target{state}>{encode_inline(unit.target, ids)}</target>"
    yield f'        <note from="developer">{escaped(unit.note)}</note>'
    if unit.comment:
        yield f'        <note from="translator">{escape(escape_controls(unit.comment))}</note>'
    if unit.source_before:
        yield '        <alt-trans alttranstype="previous-version">'
        yield f"          <source>{encode_inline(unit.source_before, ids)}</source>"
        yield f"          <target>{encode_inline(unit.target, ids)}</target>"
        yield "        </alt-trans>"
    yield "      </trans-unit>"


_INLINE_CODE = re.compile(r"(\{\{[^{}\t\n]*\}\}|⟨U\+[0-9A-F]{4}⟩)")


def encode_inline(text: str, ids: dict[str, int]) -> str:
    """Encode a text with a `ph` element for each placeholder and each escaped character.

    Equal placeholders have the same number as their id: 2, and 2.3 for the third time.

    Args:
        text: A source or a target.
        ids: The numbers, the same for a source and its target; new ones are added.
    """
    counts: Counter[str] = Counter()
    parts = list(map(escape, _INLINE_CODE.split(escape_controls(text))))
    for place in range(1, len(parts), 2):
        part = parts[place]
        counts[part] += 1
        suffix = f".{counts[part]}" if counts[part] > 1 else ""
        parts[place] = f'<ph id="{ids.setdefault(part, len(ids) + 1)}{suffix}">{part}</ph>'
    return "".join(parts)


# --- reading ----------------------------------------------------------------------------


def read_xliff(data: bytes) -> list[Unit]:
    """Read the units of an XLIFF file.

    Raises:
        InputError: It is no file of this version.
    """
    root = parse_xml(data)
    version = root.get("version", "")
    if local_name(root) != "xliff" or not version.startswith("1."):
        kind = f"{local_name(root)} {version}".strip()
        raise InputError(f"It must be XLIFF of version 1.2, and is {kind}: save it as that.")
    units = (unit for file in descendants(root, "file") for unit in _read_trans_units(file))
    return [unit._replace(place=f"unit {number}") for number, unit in enumerate(units, 1)]


#: What to write where for the code, the language and the field of a text.
_ORIGINAL = 'original="{1}/{0}" into its <file>'
_REPAIR_HINTS = {
    "template_code": _ORIGINAL,
    "lang_code": _ORIGINAL,
    "field": 'resname="{2}" into its <trans-unit>',
}


def _read_trans_units(file: Element) -> Iterator[Unit]:
    lang_code, _, code = file.get("original", "").partition("/")
    for element in descendants(file, "trans-unit"):
        source = next(iter(children(element, "source")), None)
        target = next(iter(children(element, "target")), None)
        codes = codes_by_id(source)
        state = "" if target is None else target.get("state", "")
        unfinished = state if state.startswith(_UNFINISHED_STATES) else ""
        if unfinished == "needs-review-translation" and _was_stale(element):
            unfinished = ""  # it was exported so, and not every program takes the state off
        yield Unit(
            code,
            lang_code,
            element.get("resname", ""),
            element_text(source, codes),
            element_text(target, codes),
            element.get("id", ""),
            comment=_join_comments(children(element, "note")),
            repair_hints=_REPAIR_HINTS,
            unfinished=unfinished,
        )


def _was_stale(element: Element) -> bool:
    others = children(element, "alt-trans")
    return any(each.get("alttranstype") == "previous-version" for each in others)


def _join_comments(notes: Iterable[Element]) -> str:
    """Join the comments of people on a text, one line each."""
    texts = [
        unescape_controls("".join(each.itertext()))
        for each in notes
        if each.get("from", "") not in _OWN_AUTHORS
    ]
    return "\n".join(filter(str.strip, texts))


class _Builder(TreeBuilder):
    """A builder of XML elements that refuses document types, and so all entities."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise InputError("It has a document type (DOCTYPE), which no file of translators needs.")


def parse_xml(data: bytes) -> Element:
    """Parse an XML file that must not have a document type.

    Raises:
        InputError: It is no XML, or has a document type.
    """
    parser = XMLParser(target=_Builder())  # noqa: S314  no document type gets past `_Builder`
    try:
        parser.feed(data)
        root: Any = parser.close()
    except (ParseError, ValueError, LookupError) as error:  # an unknown encoding is a LookupError
        if isinstance(error, InputError):
            raise
        raise InputError(f"It is not readable as XML: {error}.") from None
    if not isinstance(root, Element):
        raise InputError("It is not readable as XML.")
    return root


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def children(element: Element, *names: str) -> list[Element]:
    """Return the children with one of these names, in order."""
    return [child for child in element if local_name(child) in names]


def descendants(element: Element, name: str) -> list[Element]:
    """Return all elements of this name below one, at any depth."""
    return [each for each in element.iter() if local_name(each) == name]


#: The inline elements that replace a part of the text, and hold it or refer to it.
_CODE_ELEMENTS = ("ph", "x", "it", "bpt", "ept", "bx", "ex")


def element_text(element: Element | None, codes: Mapping[str, str]) -> str:
    """Return the text of a source or target; `codes` has the placeholders by their id."""
    return "" if element is None else unescape_controls(_inline_text(element, codes))


def _inline_text(element: Element, codes: Mapping[str, str]) -> str:
    texts = [element.text or ""]
    for child in element:
        name = local_name(child)
        if name in _CODE_ELEMENTS:
            texts.append(_code_text(child, codes))
        elif name == "cp":
            texts.append(_code_point(child))
        else:  # what a program put around words to mark them
            texts.append(_inline_text(child, codes))
        texts.append(child.tail or "")
    return "".join(texts)


def _code_text(element: Element, codes: Mapping[str, str]) -> str:
    text = "".join(element.itertext()) or codes.get(element.get("id", ""), "")
    return text or element.get("equiv-text") or element.get("equiv") or ""


def _code_point(element: Element) -> str:
    """Return the character of a `cp` element; empty if its number is none."""
    try:
        return chr(int(element.get("hex", ""), 16))
    except (ValueError, OverflowError):
        return ""


def codes_by_id(element: Element | None) -> dict[str, str]:
    """Return the texts of the inline elements of a source, by their id."""
    if element is None:
        return {}
    elements = [each for each in element.iter() if local_name(each) in _CODE_ELEMENTS]
    return {each.get("id", ""): _code_text(each, {}) for each in elements}
