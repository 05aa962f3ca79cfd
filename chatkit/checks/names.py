"""Names: what is odd about a name, and what about any other text. Ordinary names are not."""

from __future__ import annotations

import re
import unicodedata
from functools import partial

from chatkit.bulk.value import unseen
from chatkit.checks import characters as c
from chatkit.checks.characters import Check
from chatkit.checks.findings import Oddity
from chatkit.checks.garbled import garbled
from chatkit.checks.scripts import alike, both_directions, styled

_SHORT, _LONG_WORD = 5, 4
#: A longer name is most likely none: cells have run together, or a text stands in their place.
_LONGEST = 200
#: The most usual names: nothing can be odd about them.
_PLAIN = re.compile(r"(?:[A-Z][a-z]+[ '-]?(?:[a-z]+[ '-])?)*[A-Z]?[a-z]+")
#: Not those of Korean that are blank.
_LETTER = re.compile("[^\\W\\d_\u115f\u1160\u3164\uffa0]")
_WORDS = re.compile(r"[^\W\d_]+")


def letterless(text: str) -> Oddity | None:
    """Find names without any letter."""
    if _LETTER.search(text):
        return None
    hidden = {*unseen(text)}
    seen = [sign for n, sign in enumerate(text) if n not in hidden]
    rest = "".join(seen).split()
    if not rest:
        what = "what is not seen"
    elif any(map(str.isnumeric, seen)):
        what = "digits"
    elif any(unicodedata.category(sign) in ("So", "Sk") for sign in seen):
        what = "emoji"
    else:
        what = "punctuation"
    return Oddity("no letters", "warning", f"there is no letter in it, only {what}")


def questionable(text: str) -> Oddity | None:
    """Find a ? inside of a word, where a program had no letter for what was there."""
    if "?" not in text or not re.search(r"[^\W\d_]\?+[^\W\d_]", text):
        return None
    reason = "a program has lost a letter of it, where there is ?"
    return Oddity("lost letters", "warning", reason)


def lengthy(text: str) -> Oddity | None:
    """Find what is too long to be a name."""
    if len(text) <= _LONGEST:
        return None
    reason = f"it has {len(text):,} characters: other cells, or a whole text, may be in it"
    return Oddity("long", "warning", reason)


def capitals(text: str) -> Oddity | None:
    """Find names in capitals. An abbreviation, or a short one, may have to be so."""
    if not text.isupper():
        return None
    words = _WORDS.findall(text)
    if sum(map(len, words)) < _SHORT or max(map(len, words)) < _LONG_WORD:
        return None
    tidy = _WORDS.sub(lambda word: word[0].capitalize(), text)
    return Oddity("capitals", "note", "it is all capitals", tidy)


#: What can be wrong with any text, of several lines too.
TEXT: tuple[Check, ...] = (
    *(garbled, c.half, c.lost, partial(c.control, lines=True), c.overridden),
    *(c.invisible, c.unknown, alike, c.decomposed),
)
#: What can be wrong with a name.
NAME: tuple[Check, ...] = (
    *(garbled, c.half, c.lost, c.control, c.direction, c.invisible, c.unknown, alike, styled),
    *(c.decomposed, c.spaces, lengthy, letterless, questionable, capitals, both_directions),
)


def of_text(text: str) -> list[Oddity]:
    """Find what is wrong with the characters of any text."""
    return c.oddities(text, TEXT)


def of_name(text: str) -> list[Oddity]:
    """Find what is odd about a name."""
    if not text or (len(text) <= _LONGEST and _PLAIN.fullmatch(text)):
        return []
    return c.oddities(text, NAME)
