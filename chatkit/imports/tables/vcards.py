"""vCards: reads versions 2.1, 3.0 and 4.0, as programs write them (RFC 6350).

Content lines are unfolded as bytes, because some programs fold inside a character, and a line
is decoded by its own CHARSET. `_parse_telephone` ranks the telephones of a contact by their labels.
"""

from __future__ import annotations

import codecs
import quopri
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import unquote

from chatkit.errors import InputError
from chatkit.imports.columns import parse_heading, split_heading
from chatkit.imports.tables import BrokenRow, RawTable, TableRow, has_number
from chatkit.imports.tables.delimited import decode_text
from chatkit.util.display import many

_PARAMETER = r";((?:\"[^\"]*\"|\([^)]*\)|[^\":;(])*)"  # Samsung writes others inside brackets
_LINE = re.compile(rf"(?:([\w-]+)\.)?([\w-]+)\s*((?:{_PARAMETER})*):(.*)", re.DOTALL)
_EDGE = re.compile(r"\s*(BEGIN|END)\s*:\s*VCARD\s*", re.IGNORECASE)
_QUOTED_PRINTABLE = re.compile(rb"[^:(]*[;=]\"?QUOTED-PRINTABLE", re.IGNORECASE)
_CHARSET = re.compile(rb"[^:(]*;CHARSET=\"?([\w-]+)", re.IGNORECASE)
#: Properties that no contact can hold, and those that are read on their own.
_IGNORED_PROPERTIES = {
    *("PHOTO", "LOGO", "SOUND", "KEY", "AGENT", "VERSION", "PRODID", "REV", "X-ABLABEL"),
    *("FN", "N", "TEL", "X-WHATSAPP"),
}
_LIST_PROPERTIES = {"ADR", "CATEGORIES", "GEO", "N", "ORG"}
#: A PREF without a number comes after PREF=100, and no PREF comes last.
_PREFERRED, _NOT_PREFERRED = 101, 102
#: Properties that may hold the number of somebody's WhatsApp, beside TEL, and how it stands there.
_MESSENGERS = ("X-WHATSAPP", "IMPP", "SOCIALPROFILE", "X-SOCIALPROFILE", "URL", "X-ANDROID-CUSTOM")
_WHATSAPP = re.compile(r"whatsapp|\bwa\.me\b", re.IGNORECASE)
_LABEL_PARAMETERS = {"TYPE", "LABEL", "X-ABLABEL", "SERVICE-TYPE", "X-SERVICE-TYPE", "X-SERVICE"}
_WHATSAPP_ID = re.compile(r"(?:^|[:;/=])\+?(\d{7,15})(?!\w)")


class _Property(NamedTuple):
    """One content line of a card."""

    name: str  #: in capitals
    label: str  #: the words of TYPE, of parameters without a name, and of a label
    preference: int  #: 1 is the most preferred
    whatsapp_id: str
    value: str  #: with its escapes


def read_vcards(content: bytes | str, encoding: str | None = None) -> RawTable:
    """Read vCards as rows of number, name and all other fields as text, numbered from 1.

    Args:
        content: The file.
        encoding: That of lines without a CHARSET of their own, None to detect it; or that
            which a text had, for people.

    Raises:
        InputError: It is text in no encoding that can be detected.
    """
    data = content if isinstance(content, bytes) else decode_text(content)[0].encode()
    unfolded = _unfold_lines(data)
    declared = [_decode_own_charset(line) for line in unfolded]
    undeclared = (b"" if text else line for line, text in zip(unfolded, declared, strict=True))
    plain, detected, notes = decode_text(
        b"\n".join(undeclared), encoding if isinstance(content, bytes) else "utf-8"
    )
    lines = [text or line for text, line in zip(declared, plain.split("\n"), strict=True)]
    kind = ", ".join(filter(None, ("vCard", detected if data is content else encoding)))
    table = RawTable(kind, [], notes, titled=False, ours=True)
    cards: dict[int, dict[str, str]] = {}
    for number, card in enumerate(_split_cards(lines), 1):
        try:
            cards[number] = dict(_extract_fields([*_parse_properties(card)]))
        except InputError as error:
            reason = f"cannot be read: {error}"
            table.broken.append(BrokenRow(number, "\n".join([*card, ""]), reason))
    names = (name for card in cards.values() for name in card)
    columns = [*dict.fromkeys(("number", "name", *names))]
    rows = [TableRow(n, [card.get(c) or None for c in columns]) for n, card in cards.items()]
    table.rows = [TableRow(0, columns), *rows]
    if with_several := sum("other number" in card for card in cards.values()):
        table.notes.append(
            f"{many(with_several, 'card')} with several numbers: number is the one for WhatsApp, "
            "else the mobile, else the preferred one; the others are in other number, other number "
            "2 and so on"
        )
    if without_number := sum(card.get("number") == "" for card in cards.values()):
        table.notes.append(
            f"{many(without_number, 'card')} with a fax, a pager or the number of somebody else "
            "only: number is empty"
        )
    return table


def _unfold_lines(data: bytes) -> list[bytearray]:
    """Join the folded lines of a file into content lines."""
    lines: list[bytearray] = []
    retained = b""
    soft = False  # a line break inside quoted-printable
    for line in data.removeprefix(codecs.BOM_UTF8).replace(b"\0", b"").splitlines():
        if lines and soft:
            lines[-1][-1:] = line.lstrip()
        elif lines and line[:1] in (b" ", b"\t") and line.strip():
            lines[-1] += retained + line[1:]
        else:
            lines.append(bytearray(line))
            if line.upper().startswith(b"VERSION:"):
                retained = b" " * (b"2.1" in line)  # 2.1 folds before a space, which remains
        soft = lines[-1].endswith(b"=") and _QUOTED_PRINTABLE.match(lines[-1]) is not None
    return lines


def _decode_own_charset(line: bytearray) -> str:
    """Decode a line by its CHARSET; "" if it has none, or a wrong one."""
    if (charset := _CHARSET.match(line)) and not _QUOTED_PRINTABLE.match(line):
        with suppress(LookupError, UnicodeError):
            return line.decode(charset[1].decode())
    return ""


def _split_cards(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split lines into cards; a nested card stays in its parent, an unfinished one is a card."""
    card: list[str] = []
    depth = 0
    for line in lines:
        edge = _EDGE.fullmatch(line)
        depth += (edge[1].upper() == "BEGIN") - (edge[1].upper() == "END") if edge else 0
        if depth or edge:
            card.append(line)
        if edge and depth <= 0:
            yield card
            card, depth = [], 0
    if card:
        yield card


def _parse_properties(card: Sequence[str]) -> Iterator[_Property]:
    """Parse the properties of a card, each with the label of its group."""
    if (end := _EDGE.fullmatch(card[-1])) is None or end[1].upper() != "END":
        raise InputError("the line END:VCARD is missing")
    matches: list[tuple[str, str, list[str], str]] = []
    depth, binary = 0, False
    for line in card:
        if edge := _EDGE.fullmatch(line):
            depth += 1 if edge[1].upper() == "BEGIN" else -1
        elif match := _LINE.fullmatch(line):
            parameters = re.findall(_PARAMETER, match[3])
            binary = bool({"BASE64", "B"} & {p.upper().split("=")[-1] for p in parameters})
            if depth == 1:
                matches.append((match[1] or "", match[2].upper(), parameters, match[5]))
        elif line.strip() and not binary:  # 2.1 breaks the lines of a picture anywhere
            raise InputError(f"the line {line[:60]!r} has no colon after the name of a property")
    labels = {g.upper(): value for g, name, _, value in matches if name == "X-ABLABEL"}
    for group, name, parameters, value in matches:
        label = labels.get(group.upper(), "") if group else ""
        yield _make_property(name, parameters, value, label)


def _make_property(name: str, parameters: Iterable[str], value: str, label: str) -> _Property:
    """Make a property of a content line: decode its value, and collect its labels."""
    words = [label]
    values: dict[str, str] = {}
    for parameter in parameters:
        key, equals, text = (part.strip(' "') for part in parameter.partition("="))
        if key.upper().startswith("X-CUSTOM("):
            words.append(_decode_quoted_printable(parameter[9:-1].rpartition(",")[2], ""))
        elif not equals or key.upper() in _LABEL_PARAMETERS:
            words.append(text or key)
        values[key.upper()] = text
    if "QUOTED-PRINTABLE" in (values.get("ENCODING", "").upper(), *values):
        value = _decode_quoted_printable(value, values.get("CHARSET", ""))
    types = re.findall(r"[a-z]+", " ".join(words).lower())
    rank = values.get("PREF", "")
    preferred = _PREFERRED if "PREF" in values or "pref" in types else _NOT_PREFERRED
    preference = int(rank) if rank.isdecimal() else preferred
    whatsapp_id = values.get("WAID", "").removeprefix("+")
    return _Property(name, " ".join(words), preference, whatsapp_id, value)


def _decode_quoted_printable(text: str, charset: str) -> str:
    """Decode quoted-printable text in its charset, or in a detected encoding."""
    data = quopri.decodestring(text.encode())
    try:
        return decode_text(data, charset or None)[0]
    except InputError:
        return decode_text(data)[0]


def _extract_fields(properties: Sequence[_Property]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a contact, each under a unique name, the best number first."""
    commas = any(p.name == "VERSION" and "2.1" in p.value for p in properties)
    names: dict[str, str] = {}
    fields: list[tuple[str, str]] = []
    for name, _, _, _, value in properties:
        if name == "N" and not commas:  # from 3.0 on they separate several names
            value = re.sub(r"(?<!\\),", " ", value)
        parts = _split_value(value, ";" if name in _LIST_PROPERTIES else "")
        text = ", ".join(filter(None, parts))
        if name in ("FN", "N", "ORG"):
            order = [*parts[1:3], parts[0]] if name == "N" else parts[:1]
            names[name] = names.get(name) or " ".join(filter(None, order))
        if name not in _IGNORED_PROPERTIES:
            fields.append((name, text))
    telephones = sorted(filter(None, map(_parse_telephone, properties)), key=lambda each: each.rank)
    numbers: list[tuple[str, str]] = []
    for _, kind, number, extension in telephones:
        if number not in [other for _, other in numbers]:
            other = "other number" if "number" in dict(numbers) else "number"
            numbers += [(kind or other, number), ("extension", extension)]
    if numbers and "number" not in dict(numbers):
        yield "number", ""
    yield "name", names.get("FN") or names.get("N") or names.get("ORG") or ""
    name_counts: Counter[str] = Counter()
    for name, text in [*numbers, *fields]:
        name_counts[name] += bool(text)
        if text:
            yield name if name_counts[name] == 1 else f"{name} {name_counts[name]}", text


def _split_value(value: str, separator: str) -> list[str]:
    """Split a value at a separator, and unescape the parts."""
    parts: list[list[str]] = [[]]
    for token in re.findall(r"\\[nN,;:\\]|.", value, re.DOTALL):
        if token == separator:
            parts.append([])
        else:
            parts[-1].append("\n" if token in (r"\n", r"\N") else token[-1])
    return ["".join(part).strip() for part in parts]


class _Telephone(NamedTuple):
    """A telephone of a contact, with its rank among the others."""

    rank: tuple[Any, ...]  #: what WhatsApp has, then mobiles, then by preference; others last
    kind: str  #: FAX and the like, of what takes no messages or is of somebody else
    number: str
    extension: str


def _parse_telephone(phone: _Property) -> _Telephone | None:
    """Parse the telephone in a property; None if it holds none."""
    text, extension = "".join(_split_value(phone.value, "")), ""
    whatsapp = phone.whatsapp_id or _WHATSAPP.search(f"{phone.name} {phone.label} {text}")
    if phone.name != "TEL" and not (whatsapp and phone.name in _MESSENGERS):
        return None
    if uri := re.fullmatch(r"tel:([^;]*)(.*)", text, re.IGNORECASE):
        text = unquote(uri[1])
        parameters = dict(re.findall(r";([\w-]+)=([^;]*)", uri[2].lower()))
        extension = parameters.get("ext", "")
        if (context := parameters.get("phone-context", "")).startswith("+"):
            text = f"{context}{text}"
    whatsapp_id = phone.whatsapp_id
    if phone.name != "TEL" or _WHATSAPP.search(text):
        match = _WHATSAPP_ID.search(re.sub(r"[\s().-]", "", text))
        whatsapp_id = match[1] if match else ""
    if whatsapp_id and not text.startswith("+"):  # an id has no plus, and a country code
        text = "+" * (whatsapp_id[0] != "0") + whatsapp_id
    if not any(map(str.isalnum, text)) or (phone.name != "TEL" and not whatsapp_id):
        return None
    heading = parse_heading(f"{phone.label} whatsapp" if whatsapp else phone.label)
    kind, rank = "", heading.rank_label() or ()
    if not rank:
        words = (w for w in split_heading(phone.label) if not parse_heading(w).rank_label())
        kind = next(words, phone.label).upper()
    by_kind = kind != "", not has_number(text), rank[:1], "company" in heading.roles
    return _Telephone((*by_kind, phone.preference), kind, text, extension)
