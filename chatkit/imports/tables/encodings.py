"""Encodings of text that is not Unicode, detected by letters and headings that make sense.

The same bytes are letters of several alphabets. Each encoding that can decode them is scored as a
model of text: how usual its letters are side by side in the languages that are written in it, as
the names of countries, languages and months in babel (CLDR) show, and which headings it makes.
Detectors for web pages were wrong about half of such short files.
"""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from babel import Locale

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_TYPOGRAPHIC = "’‘“”–—…«»°€ªº·´\u00a0"
_WORD = re.compile(r"[^\s,;|\"0-9@./()+:<>=_&#!?*^~\x1f-]+")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1e\x7f-\x84\x86-\x9f]")
#: Logarithms: how much likelier the best reading is than any other one, how likely a byte is on
#: average, what a known heading counts, and how usual cp1252 is. Measured over 171 files of one
#: to three names in 28 languages (those of the tests): 0 are read wrongly, 27 are asked about.
_MARGIN, _LEAST, _HEADING, _PRIOR = 10.0, -7.0, 25.0, 4.0
_MOST_LINES, _LONGEST_WORD = 1000, 100
#: The languages of each encoding, and how much more evidence it needs than a usual one.
_ENCODINGS = {
    encoding: (codes, evidence)
    for group, evidence in {"usual": 0.0, "rare": 2.0, "rarest": 8.0}.items()
    for encoding, codes in _DATA[group].items()
}


class DecodedText(NamedTuple):
    """A text as one encoding reads it."""

    score: float
    encoding: str
    text: str


class _Language:
    """Frequencies of letters in a language, alone and after one another."""

    def __init__(self, code: str) -> None:
        locale = Locale.parse(code)
        calendar = [locale.months["format"]["wide"], locale.days["format"]["wide"]]
        texts = [locale.territories, locale.languages, locale.currencies, *calendar]
        sample = " ".join(str(name) for names in texts for name in names.values()).lower()
        if code == "ro":  # the encodings of its time have ş and ţ with a cedilla only
            sample = sample.translate({ord("ș"): "ş", ord("ț"): "ţ"})
        words = [f" {word} " for word in _WORD.findall(sample)]
        self._pairs = Counter(word[n : n + 2] for word in words for n in range(len(word) - 1))
        self._letters = Counter("".join(words))
        self._script: dict[str, Any] = _DATA["ideographic"].get(code, {})
        self._letters.update(dict.fromkeys(self._script.get("names", ""), 50))
        self._total = self._letters.total()

    @lru_cache(4096)  # noqa: B019  languages live as long as the process
    def likelihood(self, word: str) -> float:
        """Return the logarithm of how likely a word is, by each letter after the one before."""
        padded = f" {unicodedata.normalize('NFC', word.lower())} "
        chances = []
        for before, letter in pairwise(padded):
            count = self._letters[letter]
            alone = max(count / self._total, 1e-3) if count else self._unseen(letter)
            pair = self._pairs[before + letter] / max(self._letters[before], 1)
            chances.append(0.7 * pair + 0.3 * alone)
        swaps = sum(a.islower() and b.isupper() for a, b in pairwise(word))
        mixed = re.search("[a-zA-Z]", word) and re.search("[\u0370-\U0003ffff]", word)
        return sum(map(math.log, chances)) - 5 * swaps - 10 * bool(mixed)

    def _unseen(self, letter: str) -> float:
        if letter in _TYPOGRAPHIC:
            return 1e-4
        if not self._script or not (lead := letter.encode(self._script["charset"], "ignore")):
            return 1e-7
        return 1e-4 if self._script["first"] <= lead[0] <= self._script["last"] else 2e-6


@lru_cache
def _language(code: str) -> _Language:
    return _Language(code)


def likely_readings(data: bytes, known: Callable[[Sequence[str]], int]) -> list[DecodedText]:
    """Return how a text may be meant, the likeliest first; readings that are equal once.

    Args:
        data: A text in no encoding of Unicode.
        known: Counts the headings in a row that mean something.
    """
    lines = dict.fromkeys(line for line in data.splitlines() if not line.isascii())
    sample = b"\n".join(list(lines)[:_MOST_LINES])
    readings = []
    for encoding, (codes, evidence) in _ENCODINGS.items():
        try:
            text, letters = data.decode(encoding), sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        words = [word[:_LONGEST_WORD] for word in _WORD.findall(letters) if not word.isascii()]
        words = [*dict.fromkeys(words)]
        if _CONTROL.search(letters) or not words:
            continue
        score = _PRIOR * (encoding == "cp1252") - evidence
        languages = [*map(_language, codes.split())]
        for word in words:
            logs = [language.likelihood(word) for language in languages]
            best = max(logs)
            score += best + math.log(sum(math.exp(log - best) for log in logs) / len(logs))
        if score / sum(len(word.encode(encoding)) for word in words) < _LEAST:
            continue
        rows = [re.split(r"[,;\t|]", line) for line in text[:4000].splitlines()[:5]]
        headings = [[cell.strip(' "') for cell in row if not cell.isascii()] for row in rows]
        score += _HEADING * max(map(known, headings))
        cells = {cell.strip(' "').casefold() for row in rows for cell in row}
        score += _MARGIN * any(
            cells & {*_DATA["headings"].get(code, "").split()} for code in codes.split()
        )
        readings.append(DecodedText(score, encoding, text))
    readings.sort(key=lambda reading: -reading.score)
    likely = [reading for reading in readings if reading.score > readings[0].score - _MARGIN]
    return [*{reading.text: reading for reading in reversed(likely)}.values()][::-1]
