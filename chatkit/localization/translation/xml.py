"""XML: read without what could harm; the only import of an XML parser.

The parser of Python, expat, is fast, loads nothing from elsewhere, and limits how much entities
unfold. The files of translators need no document type at all, so one that has it is refused,
and with it every entity.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import (
    Element,
    ParseError,
    TreeBuilder,
    XMLParser,
)

from chatkit.errors import InputError
from chatkit.localization.translation.spelling import unspelled


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
        raise InputError(f"It is no XML that can be read: {error}.") from None
    if not isinstance(root, Element):
        raise InputError("It is no XML that can be read.")
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
    return "" if element is None else unspelled(_raw(element, fixed))


def _raw(element: Element, fixed: Mapping[str, str]) -> str:
    said = [element.text or ""]
    for child in element:
        name = local(child)
        if name in _CODES:
            said.append(_code(child, fixed))
        elif name == "cp":
            said.append(_point(child))
        else:  # what a program put around words to mark them
            said.append(_raw(child, fixed))
        said.append(child.tail or "")
    return "".join(said)


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
    found = [each for each in element.iter() if local(each) in _CODES]
    return {each.get("id", ""): _code(each, {}) for each in found}
