"""Placeholders: where {{1}} stands in a text, and what only looks like one."""

from __future__ import annotations

import re
import unicodedata
from itertools import islice, pairwise
from typing import NamedTuple

_SLOT = re.compile(r"\{\{([^{}]*)\}\}")
_NUMBER = re.compile("[1-9][0-9]{0,3}")
#: Braces that belong to no placeholder; a placeholder stands as a run of NUL.
_STRAY = re.compile(r"\{\{|\}\}|\{\s*\d+\s*\}|[｛｝]|\{(?=\0)|(?<=\0)\}")
_BRACES = re.compile("[{}｛｝]")
#: Where something begins between two spaces that can be read.
_WORD = re.compile(r"(?<!\S)[^\w\s]*\w")


class Slot(NamedTuple):
    """One placeholder: what stands between its braces, where it begins, where it has ended."""

    name: str
    start: int
    end: int

    @property
    def number(self) -> int | None:
        """Its number; None if it has none that the API would write."""
        return int(self.name) if _NUMBER.fullmatch(self.name) else None

    def __str__(self) -> str:
        return "{{" + self.name + "}}"


def slots(text: str) -> list[Slot]:
    """Find the placeholders of a text, in order."""
    if "{{" not in text:
        return []
    return [Slot(found[1], *found.span()) for found in _SLOT.finditer(text)]


def meant(slot: Slot) -> str | None:
    """Write a placeholder as it may be meant: digits of another script, with spaces, with zeros."""
    bare = unicodedata.normalize("NFKC", slot.name).strip()
    if not bare.isdecimal() or len(bare) > 4 or int(bare) == 0:
        return None
    return "{{" + str(int(bare)) + "}}"


def stray(text: str) -> int | None:
    """Find the first brace that opens or closes nothing; None if there is none."""
    braces = _BRACES.findall(text)
    if not braces or (len(braces) == 4 * len(_SLOT.findall(text))):
        return None  # a placeholder has four of them, and there are no others
    masked = _SLOT.sub(lambda found: "\0" * len(found[0]), text.replace("\0", " "))
    found = _STRAY.search(masked)
    return found.start() if found else None


def gaps(found: list[Slot]) -> list[int]:
    """Name the numbers that are missing between 1 and the highest, a few of them."""
    numbers = {slot.number for slot in found if slot.number}
    return [n for n in range(1, max(numbers, default=0)) if n not in numbers][:5]


def adjacent(text: str, found: list[Slot]) -> list[tuple[Slot, Slot]]:
    """Find pairs of placeholders with nothing between them that can be read."""
    return [(a, b) for a, b in pairwise(found) if not text[a.end : b.start].strip()]


def plain(text: str) -> str:
    """Return a text without its placeholders."""
    return _SLOT.sub(" ", text) if "{{" in text else text


def words(text: str, most: int | None = None) -> int:
    """Count the words of a text that stand in no placeholder, up to a number if one is given."""
    return sum(1 for _ in islice(_WORD.finditer(plain(text)), most))
