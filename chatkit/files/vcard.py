"""VCard: address books of telephones and mail programs; the only import of vobject."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import vobject

from chatkit.files.table import Broken, Row, Table

#: What a contact cannot hold, the housekeeping of cards, and what is read in its own way.
_LEFT_OUT = {"PHOTO", "LOGO", "SOUND", "KEY", "VERSION", "PRODID", "REV", "VCARD", "FN", "N", "TEL"}
_EDGE = re.compile(r"\s*(BEGIN|END)\s*:\s*VCARD\s*", re.IGNORECASE)


def read(text: str, encoding: str, notes: list[str]) -> Table:
    """Read cards, a row each, counted from 1: their number, name, and all else as text.

    The number is the first that is marked as a mobile, or else as preferred, or else the first.
    """
    table = Table(", ".join(filter(None, ("vCard", encoding))), [], notes, titled=False, ours=True)
    columns = {"number": 0, "name": 1}
    several = []
    for number, card in enumerate(_cards(text), 1):
        try:
            fields = dict(_fields(vobject.readOne(card, allowQP=True)))
        except Exception as error:  # noqa: BLE001  vobject raises anything over a broken card
            reason = str(error) or type(error).__name__
            table.broken.append(Broken(number, card, f"cannot be read: {reason}"))
            continue
        if "other number" in fields:
            several.append(number)
        for name in fields:
            columns.setdefault(name, len(columns))
        table.rows.append(Row(number, [fields.get(name) for name in columns]))
    width = len(columns)
    table.rows = [
        Row(number, [*cells, *[None] * (width - len(cells))]) for number, cells in table.rows
    ]
    table.rows.insert(0, Row(0, list(columns)))
    if several:
        table.notes.append(
            f"{len(several)} cards have several numbers: the mobile or preferred one is number, "
            "the others are in other number, other number 2 and so on"
        )
    return table


def _cards(text: str) -> Iterator[str]:
    """Cut a file into cards; one inside another stays in it, and one that never ends is one."""
    card: list[str] = []
    depth = 0
    for line in text.splitlines(keepends=True):
        edge = _EDGE.fullmatch(line)
        depth += (edge[1].upper() == "BEGIN") - (edge[1].upper() == "END") if edge else 0
        if depth or edge:
            card.append(line)
        if edge and depth <= 0:
            yield "".join(card)
            card, depth = [], 0
    if card:
        yield "".join(card)


def _fields(card: Any) -> Iterator[tuple[str, str]]:
    """Yield what a card says, each with a name of its own."""
    name = _text(getattr(card.contents.get("fn", [None])[0], "value", None)) or _joined(card)
    if name:
        yield "name", name
    numbers = sorted(card.contents.get("tel", []), key=_rank)
    said = [("other number", _text(tel.value).removeprefix("tel:")) for tel in numbers]
    if said:
        yield "number", said.pop(0)[1]
    said += [(c.name, _text(c.value)) for c in card.getChildren() if c.name not in _LEFT_OUT]
    seen: Counter[str] = Counter()
    for what, text in said:
        if text:
            seen[what] += 1
            yield what if seen[what] == 1 else f"{what} {seen[what]}", text


def _joined(card: Any) -> str:
    """Join the parts of a name for a card that does not say it whole."""
    value = getattr(card.contents.get("n", [None])[0], "value", None)
    parts = [getattr(value, part, "") for part in ("given", "additional", "family")]
    return " ".join(filter(None, (_text(part, " ") for part in parts)))


def _rank(tel: Any) -> int:
    said = [*tel.singletonparams, *(word for words in tel.params.values() for word in words)]
    words = set(",".join(said).upper().split(","))
    return 0 if "CELL" in words else 1 if "PREF" in words or "PREF" in tel.params else 2


def _text(value: Any, between: str = ", ") -> str:
    """Return a value as text: a list of parts as one line."""
    if isinstance(value, list):
        return between.join(filter(None, map(_text, value)))
    return "" if value is None else str(value)
