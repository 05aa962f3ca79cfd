"""XLIFF 1.2 and 2.0: what programs for translators exchange. One file a language.

Placeholders, and characters that XML cannot hold, are elements of their own (`ph`): a program
shows them as one block that can be moved and not be changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Literal
from xml.sax.saxutils import escape, quoteattr

from chatkit.display import escaped
from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.translation import tag
from chatkit.localization.translation.inline import parts
from chatkit.localization.translation.unit import Unit
from chatkit.localization.translation.xml import (
    below,
    children,
    codes_of,
    local,
    parsed,
    text_of,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Version = Literal["1.2", "2.0"]
_SPACE = "urn:oasis:names:tc:xliff:document:"
#: What a program says of a translation that is not finished.
_UNFINISHED = ("new", "needs-")


def _attributes(**named: str | int) -> str:
    return "".join(
        f" {name.replace('_', '-')}={quoteattr(str(value))}" for name, value in named.items()
    )


# --- writing ----------------------------------------------------------------------------


def written(units: Sequence[Unit], source: str, version: Version) -> bytes:
    """Write units, all of one language.

    Args:
        units: In the order of their templates.
        source: The language they are translated from.
        version: Of the standard.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    target = units[0].lang_code
    languages = (tag.bcp47(source), tag.bcp47(target))
    make = _file_12 if version == "1.2" else _file_20
    head = _attributes(version=version, xmlns=_SPACE + version)
    if version == "2.0":
        head += _attributes(srcLang=languages[0], trgLang=languages[1])
    lines.append(f"<xliff{head}>")
    groups = groupby(units, key=lambda unit: unit.template_code)
    for number, (code, group) in enumerate(groups, 1):
        lines += make(number, f"{target}/{code}", languages, group)
    lines.append("</xliff>")
    return "\n".join([*lines, ""]).encode()


def _file_12(
    number: int, original: str, languages: tuple[str, str], units: Iterable[Unit]
) -> Iterator[str]:
    head = _attributes(
        original=original,
        source_language=languages[0],
        target_language=languages[1],
        datatype="plaintext",
    )
    yield f"  <file{head}>"
    yield "    <body>"
    for unit in units:
        most = _attributes(maxwidth=unit.limit, size_unit="char") if unit.limit else ""
        head = _attributes(id=unit.stamp, resname=unit.field) + most
        yield f'      <trans-unit{head} xml:space="preserve">'
        fixed: dict[str, int] = {}
        yield f"        <source>{_inline_12(unit.source, fixed)}</source>"
        if unit.target:
            yield f"        <target>{_inline_12(unit.target, fixed)}</target>"
        yield f'        <note from="developer">{escaped(unit.note)}</note>'
        yield "      </trans-unit>"
    yield "    </body>"
    yield "  </file>"


def _inline_12(text: str, fixed: dict[str, int]) -> str:
    return "".join(
        f'<ph id="{part.id}">{escape(part.text)}</ph>' if part.number else escape(part.text)
        for part in parts(text, fixed)
    )


def _file_20(
    number: int, original: str, languages: tuple[str, str], units: Iterable[Unit]
) -> Iterator[str]:
    turned = {"trgDir": "rtl"} if language.direction(languages[1]) == "rtl" else {}
    yield f"  <file{_attributes(id=f'f{number}', original=original, **turned)}>"
    for unit in units:
        fixed: dict[str, int] = {}
        source, target = (_inline_20(text, fixed) for text in (unit.source, unit.target))
        yield f'    <unit{_attributes(id=unit.stamp, name=unit.field)} xml:space="preserve">'
        yield f"      <notes><note>{escaped(unit.note)}</note></notes>"
        if fixed:
            data = (f'<data id="d{n}">{escape(text)}</data>' for text, n in fixed.items())
            yield f"      <originalData>{''.join(data)}</originalData>"
        yield "      <segment>"
        yield f"        <source>{source}</source>"
        if unit.target:
            yield f"        <target>{target}</target>"
        yield "      </segment>"
        yield "    </unit>"
    yield "  </file>"


def _inline_20(text: str, fixed: dict[str, int]) -> str:
    said = []
    for part in parts(text, fixed):
        if part.number:
            shown = {"equiv": part.text, "disp": part.text}
            if part.text.startswith("{{"):
                shown |= {"canCopy": "no", "canDelete": "no"}
            said.append(f"<ph{_attributes(id=part.id, dataRef=f'd{part.number}', **shown)}/>")
        else:
            said.append(escape(part.text))
    return "".join(said)


# --- reading ----------------------------------------------------------------------------


def read(data: bytes) -> list[Unit]:
    """Read the units of a file of any version that we write.

    Raises:
        InputError: It is no such file.
    """
    root = parsed(data)
    version = root.get("version", "")
    if local(root) != "xliff" or version[:2] not in ("1.", "2."):
        raise InputError(f"It is no XLIFF of version 1.2 or 2.0, but {local(root)} {version}.")
    make = _units_12 if version.startswith("1.") else _units_20
    return [unit for file in below(root, "file") for unit in make(file)]


def _units_12(file: Element) -> Iterator[Unit]:
    lang_code, _, code = file.get("original", "").partition("/")
    for element in below(file, "trans-unit"):
        source = next(iter(children(element, "source")), None)
        target = next(iter(children(element, "target")), None)
        fixed = codes_of(source)
        state = "" if target is None else target.get("state", "")
        marked = state if state.startswith(_UNFINISHED) else ""
        yield Unit(
            code,
            lang_code,
            element.get("resname", ""),
            text_of(source, fixed),
            text_of(target, fixed),
            element.get("id", ""),
            unfinished=marked,
        )


def _units_20(file: Element) -> Iterator[Unit]:
    lang_code, _, code = file.get("original", "").partition("/")
    for element in below(file, "unit"):
        data = {each.get("id", ""): "".join(each.itertext()) for each in below(element, "data")}
        pieces = children(element, "segment", "ignorable")
        fixed = {
            each.get("id", ""): data.get(each.get("dataRef", ""), "")
            for each in below(element, "ph")
        }
        sources = [text_of(next(iter(children(p, "source")), None), fixed) for p in pieces]
        targets = [_target(piece, fixed) for piece in pieces]
        done = any(children(p, "target") for p in pieces if local(p) == "segment")
        yield Unit(
            code,
            lang_code,
            element.get("name", ""),
            "".join(sources),
            "".join(targets) if done else "",
            element.get("id", ""),
        )


def _target(piece: Element, fixed: dict[str, str]) -> str:
    """Return the target of a part; what is only blank between two parts stays as it was."""
    found = children(piece, "target")
    if not found and local(piece) == "ignorable":
        found = children(piece, "source")
    return text_of(found[0] if found else None, fixed)
