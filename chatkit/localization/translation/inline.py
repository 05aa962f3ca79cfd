"""Inline: the parts of a text that a translator moves, but never changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from chatkit.localization.translation.spelling import spelled

_FIXED = re.compile(r"\{\{[^{}\t\n]*\}\}|⟨U\+[0-9A-F]{4}⟩")


class Part(NamedTuple):
    """A part of a text: words have no number, and what is fixed has one.

    What is the same has the same number; `again` counts from 1 where it stands several times.
    """

    text: str
    number: int = 0
    again: int = 0

    @property
    def id(self) -> str:
        """Tell it from all others of its text: 2, or 2.3 where it stands for the third time."""
        return f"{self.number}.{self.again}" if self.again > 1 else str(self.number)


def parts(text: str, fixed: dict[str, int]) -> Iterator[Part]:
    """Split a text into words, and what is fixed: placeholders and characters spelled out.

    Args:
        text: A source or a target.
        fixed: The numbers of what is fixed, the same for a source and its target; new ones are
            added.
    """
    text = spelled(text)
    seen: Counter[str] = Counter()
    end = 0
    for found in _FIXED.finditer(text):
        if found.start() > end:
            yield Part(text[end : found.start()])
        seen[found[0]] += 1
        yield Part(found[0], fixed.setdefault(found[0], len(fixed) + 1), seen[found[0]])
        end = found.end()
    if end < len(text):
        yield Part(text[end:])
