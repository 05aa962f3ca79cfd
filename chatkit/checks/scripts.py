"""Scripts: letters that look like those of another script, in the middle of a word."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from chatkit.bulk.value import right_to_left
from chatkit.checks.findings import Oddity

# Letters that look like a Latin letter, from the confusables of Unicode (UTS #39).
_ALIKE: dict[str, tuple[str, str]] = {
    "CYRILLIC": (
        "аАВсСԁеЕԌһНіјЈКІӀМоОрРԛѕЅТѵѴԝԜхХуУҮ",
        "aABcCdeEGhHijJKIIMoOpPqsSTvVwWxXyYY",
    ),
    "GREEK": ("αΑΒΕϜΗιϳͿΚΙΜϺΝοΟρΡΤυνΧγΥΖ", "aABEFHijJKIMMNoOpPTuvXyYZ"),
    "ARMENIAN": ("քցհոռօՕզՏսՍ", "fghnnoOqSuU"),
    "CHEROKEE": (
        "ᎪᏴᏟᏧᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᎡᏒᏕᏚᎢᏙᎳᏔᎩᎽᏃ",
        "ABCdDEGHiJKLMPRRSSTVWWYYZ",
    ),
    "COPTIC": ("ⲥⲤⲎⲔⲒⲘⲚⲟⲞⲣⲢⲦⲬⲨ", "cCHKIMNoOpPTXY"),
    "LISU": (
        "ꓮꓐꓚꓓꓰꓝꓖꓧꓙꓗꓲꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ",
        "ABCDEFGHJKILMNOPRSTUVWXYZ",
    ),
}
_TO_LATIN = {s: dict(zip(*pair, strict=True)) for s, pair in _ALIKE.items()}
#: The first of several wins: it is the usual one.
_FROM_LATIN = {
    s: {latin: own for own, latin in reversed(pairs.items())} for s, pairs in _TO_LATIN.items()
}
#: In these a word is surely what it looks like, if one of its letters is in no other script.
_SURE = ("LATIN", "CYRILLIC")

_OTHERS = re.compile(
    "[\u0370-\u0587\u13a0-\u13ff\u1c80-\u1c8f\u1f00-\u1fff\u2c80-\u2cff\ua4d0-\ua4ff"
    "\ua640-\ua69f\uab70-\uabbf]"
)
_WORD = re.compile("(?:[^\\W\\d_][\u0300-\u036f]*){2,}")
#: Letters of mathematics, in circles and squares, of full width.
_STYLED = re.compile(
    "[\u2102-\u2134\u249c-\u24e9\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff"
    "\U0001f110-\U0001f169\U0001f170-\U0001f189]+"
)
_SQUARED = {chr(code): chr((code - 0x1F130) % 32 + 65) for code in range(0x1F150, 0x1F18A)}


@lru_cache(4096)
def script(c: str) -> str:
    """Name the script of a letter as Unicode does: LATIN."""
    return unicodedata.name(c, "").partition(" ")[0]


def alike(text: str) -> Oddity | None:
    """Find words with letters of two scripts that look alike, and their plain form."""
    if text.isascii() or not _OTHERS.search(text):
        return None
    tidy, sure, seen = text, True, set[str]()
    for found in _WORD.finditer(text):
        word = found[0]
        scripts = Counter(s for c in word if (s := script(c)) in _TO_LATIN or s == "LATIN")
        if len(scripts) < 2:
            continue
        seen |= scripts.keys()
        plain, main = _plain(word, [s for s, _ in scripts.most_common()])
        sure &= main in _SURE
        if plain:
            tidy = tidy[: found.start()] + plain + tidy[found.end() :]
    if not seen:
        return None
    names = " and ".join(sorted(s.title() for s in seen))
    if tidy == text:
        return Oddity("mixed scripts", "note", f"{names} letters are in one word")
    reason = f"{names} letters that look alike are in one word"
    return Oddity("look-alike", "warning", reason, tidy, sure)


def _plain(word: str, scripts: list[str]) -> tuple[str | None, str | None]:
    """Write a word in one script, and say which it surely is, if that is sure."""
    ways = [(s, plain) for s in scripts if (plain := _all_in(word, s)) is not None]
    if not ways:
        return None, None
    return ways[0][1], ways[0][0] if len(ways) == 1 else None


def _all_in(word: str, main: str) -> str | None:
    """Put letters of the main script in place of all others; None if one has none."""
    found = []
    for c in word:
        own = script(c)
        if own != main and (own in _TO_LATIN or own == "LATIN"):
            letter, accents = (apart := unicodedata.normalize("NFD", c))[0], apart[1:]
            latin = letter if own == "LATIN" else _TO_LATIN[own].get(letter)
            other = latin if main == "LATIN" else _FROM_LATIN[main].get(latin or "")
            if other is None:
                return None
            c = unicodedata.normalize("NFC", other + accents)
        found.append(c)
    return "".join(found)


def styled(text: str) -> Oddity | None:
    """Find letters that are signs of their own: bold ones of mathematics, letters in circles."""
    if text.isascii() or not _STYLED.search(text):
        return None
    tidy = _STYLED.sub(lambda found: _unstyled(found[0]), text)
    if tidy == text:
        return None
    reason = "letters in it are signs that only look like letters: no search finds it"
    return Oddity("styled letters", "warning", reason, tidy, True)


def _unstyled(text: str) -> str:
    plain = [_SQUARED.get(c) or unicodedata.normalize("NFKC", c) for c in text]
    return "".join(
        [p if p.isalnum() and len(p) == 1 else c for p, c in zip(plain, text, strict=True)]
    )


def both_directions(text: str) -> Oddity | None:
    """Find words of both directions side by side: which comes first is anyone's guess."""
    if not right_to_left(text):
        return None
    kinds = {unicodedata.bidirectional(c) for c in text}
    if "L" not in kinds or kinds.isdisjoint(("R", "AL")):
        return None
    reason = "it is read from left to right and from right to left: check the order of its words"
    return Oddity("both directions", "note", reason)
