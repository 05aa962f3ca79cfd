"""Markup: the signs in a message that a phone shows as bold, italic, struck and monospace.

A phone sees the message as it was sent: first the values take the place of the placeholders,
then the signs count. So *{{1}}* is bold, and a star in a value counts like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from chatkit.display import unseen
from chatkit.localization.placeholders import slots

#: The signs, and the element that each stands for.
SIGNS = {"*": "strong", "_": "em", "~": "s", "`": "code"}
_LONGEST = 5000  #: characters that are shown: the longest message has fewer


class Run(NamedTuple):
    """A stretch of text that looks alike.

    `tags` are the elements it stands in, from outside in. `mark` is "sample" where a value
    stands for a placeholder, "missing" where there is none, "odd" for a character that would
    not be seen.
    """

    text: str
    tags: tuple[str, ...] = ()
    mark: str = ""


def runs(text: str, samples: Mapping[str, Any], *, marked: bool = True) -> list[Run]:
    """Cut a text into runs.

    Args:
        text: What was written, with placeholders.
        samples: A value for each placeholder, by what stands between its braces.
        marked: Whether signs count; those of a header and of a button do not.
    """
    filled, marks = _filled(text[:_LONGEST], samples)
    tagged = _parsed(filled, ()) if marked else [(0, len(filled), ())]
    return [run for start, end, tags in tagged for run in _cut(filled, marks, start, end, tags)]


def _filled(text: str, samples: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Put samples in place of placeholders; tell of each character where it comes from."""
    parts, marks, last = [], list[str](), 0
    for slot in slots(text):
        sample = samples.get(slot.name)
        there = isinstance(sample, str) and bool(sample.strip())
        value = sample[:_LONGEST] if there and isinstance(sample, str) else str(slot)
        parts += [text[last : slot.start], value]
        marks += [""] * (slot.start - last) + ["sample" if there else "missing"] * len(value)
        last = slot.end
    parts.append(text[last:])
    marks += [""] * (len(text) - last)
    filled = "".join(parts)[:_LONGEST]
    for n in unseen(filled):
        if filled[n] != "\n":
            marks[n] = "odd"
    return filled, marks


Stretch = tuple[int, int, tuple[str, ...]]


@cache
def _form(signs: str) -> re.Pattern[str]:
    """Find what stands between two of these signs, each beside the end of a word."""
    fence = "```(?P<fence>[^`]+)```|" if "`" in signs else ""
    return re.compile(
        rf"{fence}(?<![^\W_])(?P<sign>[{re.escape(signs)}])(?=\S)(?!(?P=sign))(?P<inner>[^\n]{{0,1100}}?\S)"
        r"(?P=sign)(?![^\W_])"
    )


def _parsed(text: str, tags: tuple[str, ...], offset: int = 0) -> Iterator[Stretch]:
    """Yield stretches of text without their signs, with the elements that they stand in."""
    open_ = "".join(sign for sign, tag in SIGNS.items() if tag not in tags)
    last = 0
    for found in _form(open_).finditer(text) if open_ and "code" not in tags else ():
        yield offset + last, offset + found.start(), tags
        name = "inner" if found["sign"] else "fence"
        start = found.start(name)
        inside = (*tags, SIGNS[found["sign"] or "`"])
        yield from _parsed(found[name], inside, offset + start)
        last = found.end()
    yield offset + last, offset + len(text), tags


def _cut(text: str, marks: list[str], start: int, end: int, tags: tuple[str, ...]) -> Iterator[Run]:
    """Cut a stretch wherever its mark changes; spell out what would not be seen."""
    while start < end:
        mark, stop = marks[start], start + 1
        while stop < end and marks[stop] == mark:
            stop += 1
        piece = text[start:stop]
        if mark == "odd":
            piece = "".join(f"U+{ord(c):04X}" for c in piece)
        yield Run(piece, tags, mark)
        start = stop
