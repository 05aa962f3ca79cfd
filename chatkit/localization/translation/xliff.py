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
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import (
    Element,
    ParseError,
    TreeBuilder,
    XMLParser,
)
from xml.sax.saxutils import escape, quoteattr

from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.translation.units import Unit, escape_controls, unescape_controls
from chatkit.util.display import escaped

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


#: How the states of a text are called.
_STATES = {
    "stale": 'state="needs-review-translation"',
    "unknown": 'state="translated" state-qualifier="x-unknown"',
    "draft": 'state="translated"',
    "live": 'state="final"',
}
#: By whom notes are that are no comments of people.
_OURS = ("", "developer")
#: What a program says of a translation that is not finished.
_UNFINISHED = ("new", "needs-")


def _attributes(**named: str | int) -> str:
    return "".join(
        f" {name.replace('_', '-')}={quoteattr(str(value))}" for name, value in named.items()
    )


# --- writing ----------------------------------------------------------------------------


def xliff_of(units: Sequence[Unit], source: str) -> bytes:
    """Write units, all of one language.

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
        head = _attributes(
            original=f"{target}/{code}",
            source_language=language.bcp47_tag(source),
            target_language=language.bcp47_tag(target),
            datatype="plaintext",
        )
        lines += [f"  <file{head}>", "    <body>"]
        for unit in group:
            lines += _trans_unit(unit)
        lines += ["    </body>", "  </file>"]
    return "\n".join([*lines, "</xliff>", ""]).encode()


def _trans_unit(unit: Unit) -> Iterator[str]:
    most = _attributes(maxwidth=unit.limit, size_unit="char") if unit.limit else ""
    head = _attributes(id=unit.stamp, resname=unit.field) + most
    yield f'      <trans-unit{head} xml:space="preserve">'
    fixed: dict[str, int] = {}
    yield f"        <source>{inline(unit.source, fixed)}</source>"
    if unit.target:
        state = f" {_STATES[unit.state]}" if unit.state in _STATES else ""
        yield f"        <target{state}>{inline(unit.target, fixed)}</target>"
    yield f'        <note from="developer">{escaped(unit.note)}</note>'
    if unit.comment:
        yield f'        <note from="translator">{escape(escape_controls(unit.comment))}</note>'
    if unit.source_before:
        yield '        <alt-trans alttranstype="previous-version">'
        yield f"          <source>{inline(unit.source_before, fixed)}</source>"
        yield f"          <target>{inline(unit.target, fixed)}</target>"
        yield "        </alt-trans>"
    yield "      </trans-unit>"


_FIXED = re.compile(r"(\{\{[^{}\t\n]*\}\}|⟨U\+[0-9A-F]{4}⟩)")


def inline(text: str, fixed: dict[str, int]) -> str:
    """Write a text, with an element for each placeholder and each character spelled out.

    What is the same has the same number as its id: 2, or 2.3 where it stands for the third time.

    Args:
        text: A source or a target.
        fixed: The numbers, the same for a source and its target; new ones are added.
    """
    seen: Counter[str] = Counter()
    parts = list(map(escape, _FIXED.split(escape_controls(text))))
    for place in range(1, len(parts), 2):
        part = parts[place]
        seen[part] += 1
        again = f".{seen[part]}" if seen[part] > 1 else ""
        parts[place] = f'<ph id="{fixed.setdefault(part, len(fixed) + 1)}{again}">{part}</ph>'
    return "".join(parts)


# --- reading ----------------------------------------------------------------------------


def read_xliff(data: bytes) -> list[Unit]:
    """Read the units of a file.

    Raises:
        InputError: It is no file of this version.
    """
    root = parsed(data)
    version = root.get("version", "")
    if local(root) != "xliff" or not version.startswith("1."):
        kind = f"{local(root)} {version}".strip()
        raise InputError(f"It must be XLIFF of version 1.2, and is {kind}: save it as that.")
    units = (unit for file in below(root, "file") for unit in _units(file))
    return [unit._replace(place=f"unit {number}") for number, unit in enumerate(units, 1)]


#: What stands where for the code, the language and the field of a text.
_ORIGINAL = 'original="{1}/{0}" into its <file>'
_PARTS = {
    "template_code": _ORIGINAL,
    "lang_code": _ORIGINAL,
    "field": 'resname="{2}" into its <trans-unit>',
}


def _units(file: Element) -> Iterator[Unit]:
    lang_code, _, code = file.get("original", "").partition("/")
    for element in below(file, "trans-unit"):
        source = next(iter(children(element, "source")), None)
        target = next(iter(children(element, "target")), None)
        fixed = codes_of(source)
        state = "" if target is None else target.get("state", "")
        marked = state if state.startswith(_UNFINISHED) else ""
        if marked == "needs-review-translation" and _was_stale(element):
            marked = ""  # so it went out, and not every program takes it off
        yield Unit(
            code,
            lang_code,
            element.get("resname", ""),
            text_of(source, fixed),
            text_of(target, fixed),
            element.get("id", ""),
            comment=_comment(children(element, "note")),
            parts=_PARTS,
            unfinished=marked,
        )


def _was_stale(element: Element) -> bool:
    others = children(element, "alt-trans")
    return any(each.get("alttranstype") == "previous-version" for each in others)


def _comment(notes: Iterable[Element]) -> str:
    """Return what people said of a text, one line each."""
    texts = [
        unescape_controls("".join(each.itertext()))
        for each in notes
        if each.get("from", "") not in _OURS
    ]
    return "\n".join(filter(str.strip, texts))


class _Builder(TreeBuilder):
    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise InputError("It has a document type (DOCTYPE), which no file of translators needs.")


def parsed(data: bytes) -> Element:
    """Read an XML file.

    Raises:
        InputError: It is none, or has a document type.
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


def local(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def children(element: Element, *names: str) -> list[Element]:
    """Return the children of these names, in order."""
    return [child for child in element if local(child) in names]


def below(element: Element, name: str) -> list[Element]:
    """Return all elements of this name, however deep."""
    return [each for each in element.iter() if local(each) == name]


#: Elements that stand for a part of the text, and hold what it was, or point to it.
_CODES = ("ph", "x", "it", "bpt", "ept", "bx", "ex")


def text_of(element: Element | None, fixed: Mapping[str, str]) -> str:
    """Return the text of a source or target; `fixed` has the codes by their id."""
    return "" if element is None else unescape_controls(_raw(element, fixed))


def _raw(element: Element, fixed: Mapping[str, str]) -> str:
    texts = [element.text or ""]
    for child in element:
        name = local(child)
        if name in _CODES:
            texts.append(_code(child, fixed))
        elif name == "cp":
            texts.append(_point(child))
        else:  # what a program put around words to mark them
            texts.append(_raw(child, fixed))
        texts.append(child.tail or "")
    return "".join(texts)


def _code(element: Element, fixed: Mapping[str, str]) -> str:
    own = "".join(element.itertext())
    known = fixed.get(element.get("id", ""), "")
    return own or known or element.get("equiv-text") or element.get("equiv") or ""


def _point(element: Element) -> str:
    try:
        return chr(int(element.get("hex", ""), 16))
    except (ValueError, OverflowError):
        return ""


def codes_of(element: Element | None) -> dict[str, str]:
    """Return the codes of a source by their id, as they are written there."""
    if element is None:
        return {}
    codes = [each for each in element.iter() if local(each) in _CODES]
    return {each.get("id", ""): _code(each, {}) for each in codes}
