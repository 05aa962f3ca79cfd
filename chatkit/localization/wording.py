"""Wording: the characters of every text, its script, its direction, its emoji.

What is odd about characters is found by `chatkit.checks`, as in any text. Most texts are plain:
that is seen from the set of their characters alone, and costs next to nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Literal

from chatkit.checks.characters import (
    Oddity,
    both_directions,
    decomposed,
    garbled,
    half,
    oddities,
    of_text,
    script,
)
from chatkit.display import cut, right_to_left, unseen, values
from chatkit.localization import language
from chatkit.localization.content import Entry, without_slots
from chatkit.localization.rules import FindingLog

_EMOJI = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff]{2}|[0-9#*]\ufe0f?\u20e3|"
    "(?:[\u231a-\u23ff\u25fd\u25fe\u2600-\u27bf\u2b1b-\u2b55\U0001f004-\U0001f0cf"
    "\U0001f18e-\U0001f251\U0001f300-\U0001faff]"
    "[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?(?:\u200d(?=[\u2600-\u27bf\U0001f300-\U0001faff]))?)+?"
    "(?<!\u200d))"
)
EMOJI = 10  #: so many emoji in a text were taken
_ELSEWHERE = re.compile(r"https?://\S+|www\.\S+|[^\s@]{1,64}@\S+|[#@]\w+", re.IGNORECASE)
_ABOUT = 3  #: letters from which on a text has a script
_WORD = 2  #: letters of another script that are no mere sign
_HALF = 0.5
_LETTER = re.compile("[A-Za-z]")
_MARKS = {"control characters", "invisible", "direction marks", "unknown characters"}
#: Letters of these look like letters of another: a word may hold both.
_ALIKE = {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"}

_HALF_OF_ONE = re.compile("[\ud800-\udfff]")
#: A letter, and what may be the second byte of it in UTF-8, read as cp1252.
_PAIR = re.compile("[\xc2-\xf4][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]")

Kind = Literal["plain", "mark", "odd"]


def check_wording(entry: Entry, tell: FindingLog) -> None:
    """Look at every text that a customer reads, and at the samples."""
    own = language.letters(entry.lang_code)
    way = language.direction(entry.lang_code)
    for field, what, text in entry.pieces:
        if text.isascii() and text.replace("\n", "").isprintable():
            if own and "LATIN" not in own and _LETTER.search(text):
                _script(text, field, what, entry.lang_code, own, tell)
            continue
        kinds = {_kind(c) for c in {*text}}
        _characters(text, kinds, field, what, tell)
        if not text.isascii():
            _emoji(text, field, what, tell)
        if own and any(name not in own for _, name in kinds if name):
            _script(text, field, what, entry.lang_code, own, tell)
        if right_to_left(text):
            if odd := both_directions(_read(text)):
                tell("both directions", field, f"{what}: {odd.message}")
            if field == "text" or field.startswith("headers"):
                _direction(text, field, what, way, tell)
    for name, sample in entry.variables.items():
        if isinstance(sample, str) and not (sample.isascii() and sample.isprintable()):
            shown = cut(str(name), 20)
            kinds = {_kind(c) for c in {*sample}}
            _characters(sample, kinds, f"variables.{shown}", f"the sample {shown}", tell)


def check_halves(entry: Entry, tell: FindingLog) -> None:
    """Find halves of characters alone, for which the service takes no text: as above."""
    for field, what, text in entry.pieces:
        if not text.isascii() and _HALF_OF_ONE.search(text):
            _told(oddities(text, (garbled, half)), text, field, what, tell)
    for name, sample in entry.variables.items():
        if isinstance(sample, str) and not sample.isascii() and _HALF_OF_ONE.search(sample):
            shown = cut(str(name), 20)
            odd = oddities(sample, (garbled, half))
            _told(odd, sample, f"variables.{shown}", f"the sample {shown}", tell)


def emoji(text: str) -> re.Match[str] | None:
    """Find the first emoji of a text."""
    return None if text.isascii() else _EMOJI.search(text)


# --- characters -----------------------------------------------------------------------------


def _characters(
    text: str, kinds: set[tuple[Kind, str]], field: str, what: str, tell: FindingLog
) -> None:
    names = {kind for kind, _ in kinds}
    mixed = len({name for _, name in kinds if name in _ALIKE}) > 1
    if "odd" in names or mixed or _PAIR.search(text):
        found = of_text(text)
    elif "mark" in names:
        found = oddities(text, (decomposed,))
    else:
        return
    _told(found, text, field, what, tell)


def _told(found: list[Oddity], text: str, field: str, what: str, tell: FindingLog) -> None:
    for odd in found:
        places = unseen(text) if odd.code in _MARKS else []
        hint = "" if odd.suggestion is None else f"It may be meant as {values(odd.suggestion)}."
        reason = f"{what}: {odd.message}"
        tell(odd.code, field, reason, hint, at=min(places, default=None), severity=odd.severity)


@lru_cache(100_000)
def _kind(c: str) -> tuple[Kind, str]:
    """Tell of a character what a check may find about it, and the script of a letter."""
    if c != "\n" and (unseen(c) or c == "\ufffd"):
        return "odd", ""
    if unicodedata.combining(c) or "\u1100" <= c <= "\u11ff":
        return "mark", ""
    name = script(c) if c.isalpha() else ""
    return "plain", name if name in language.KNOWN_LETTERS or name in _ALIKE else ""


def _emoji(text: str, field: str, what: str, tell: FindingLog) -> None:
    found = [*_EMOJI.finditer(text)]
    if found and field.startswith("headers"):
        said = f"{cut(found[0][0], 4)} is in the header"
        hint = "The platform was seen to refuse this: take it out."
        tell("header format", field, said, hint, at=found[0].start())
    elif len(found) > EMOJI:
        said = f"there are {len(found)} emoji in {what}"
        tell("emoji", field, said, f"{EMOJI} were seen to be taken.", at=found[EMOJI].start())


# --- scripts and direction ------------------------------------------------------------------


def _read(text: str) -> str:
    """Take out of a text what is in no language: placeholders, addresses."""
    return _ELSEWHERE.sub(" ", without_slots(text))


def _script(
    text: str, field: str, what: str, code: str, own: frozenset[str], tell: FindingLog
) -> None:
    """Tell letters of the language from letters of others; a Latin name may be in any."""
    count: Counter[str] = Counter()
    for c, times in Counter(_read(text)).items():
        if name := _kind(c)[1]:
            count[name] += times
    total, mine = count.total(), sum(count[name] for name in own)
    others = [name for name, _ in count.most_common() if name not in own]
    if not others or total < _ABOUT:
        return
    said = " and ".join(name.title() for name in others)
    named = language.name(code)
    if field == "text" and mine < _HALF * total:
        share = f"{(total - mine) / total:.0%} of the letters are {said}"
        tell("wrong script", field, f"{what} is in {named}, and {share}", _TRANSLATE)
    elif not mine or any(count[name] >= _WORD and name != "LATIN" for name in others):
        tell("other script", field, f"{what} is in {named}, and has {said} letters")


def _direction(text: str, field: str, what: str, way: str, tell: FindingLog) -> None:
    """Look whether the first letter turns a text into the direction of its language."""
    for at, c in enumerate(text):
        kind = unicodedata.bidirectional(c)
        if kind in ("L", "R", "AL"):
            if (way == "ltr") != (kind == "L"):
                said = f"{what} begins with {cut(c, 10)}, so it is laid out from the wrong side"
                hint = "Begin with a word of the language, or with the mark U+200F."
                hint = hint if way == "rtl" else "Begin with a word of the language."
                tell("direction", field, said, hint, at=at)
            return


_TRANSLATE = "Translate it, or correct its lang_code."
