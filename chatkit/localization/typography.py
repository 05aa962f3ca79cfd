"""Typography: spaces, quotes, punctuation, numbers and dates as a language writes them.

Which quotation marks a language has, and how it writes numbers, dates and times, is of CLDR
(numbers, dates and times as Babel has them). What is compared with the source language is told
only where the translation has it letter by letter, so that nothing is guessed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from chatkit.display import cut
from chatkit.localization import language
from chatkit.localization.content import Entry
from chatkit.localization.language import Conventions
from chatkit.localization.placeholders import slots
from chatkit.localization.rules import FindingLog


def check_typography(entry: Entry, source: Entry | None, tell: FindingLog) -> None:
    """Look how the texts of a content are set.

    Args:
        entry: The content.
        source: The content in the source language; None for itself, and where there is none.
        tell: Takes what is found.
    """
    code = entry.lang_code
    originals = {} if source is None else {field: text for field, _, text in source.pieces}
    for field, what, text in entry.pieces:
        if not text.strip():
            continue
        line = _PlacedText(tell, field, what, code, _masked(text))
        _spaces(line)
        _quotes(line)
        _marks(line)
        if source is not None and (original := originals.get(field)):
            _ending(line, _masked(original), source.lang_code)
            _numbers(line, _masked(original), source.lang_code)
        _times(line)
    if source is not None:
        _addresses(entry, source, tell)
    if language.direction(code) == "rtl":
        _isolates(entry, tell)


#: What stands for a placeholder, and for an address, while the rest is looked at.
_SLOT, _OTHER = "\ue000", "\ue001"
_ADDRESS = re.compile(
    r"(?:https?://|www\.|[^\s@]{1,64}@)[^\s<>\"@]*[^\s<>\"@.,;:!?)»”'。，؟،]", re.IGNORECASE
)


#: What each address has: without it nothing need be tried at every character of a text.
_MAY_HAVE_ADDRESS = re.compile(r"@|://|www\.", re.IGNORECASE)


@lru_cache(4096)  # a source is compared with each of its translations
def _masked(text: str) -> str:
    """Hide placeholders and addresses; each character stays at its place."""
    text = text.replace(_SLOT, " ").replace(_OTHER, " ")
    for slot in slots(text):
        text = text[: slot.start] + _SLOT * (slot.end - slot.start) + text[slot.end :]
    if not _MAY_HAVE_ADDRESS.search(text):
        return text
    return _ADDRESS.sub(lambda found: _OTHER * len(found[0]), text)


class _PlacedText(NamedTuple):
    """One text of a content, in which something is told at a place."""

    tell: FindingLog
    field: str
    what: str  #: what it is, in words
    code: str  #: its language
    text: str  #: without placeholders and addresses

    @property
    def base(self) -> str:
        return language.base(self.code)

    @property
    def named(self) -> str:
        return language.name(self.code)

    def say(self, code: str, found: re.Match[str], said: str, hint: str) -> None:
        self.tell(code, self.field, said, hint, at=found.start())


# --- spaces -------------------------------------------------------------------------------

_DOUBLED = re.compile(r"(?<=\S)[ \u00a0]{2,}(?=\S)")
_EDGE = re.compile(r"\A[ \t\u00a0]+|[ \t\u00a0]+\Z|[ \t\u00a0]+(?=\n)")
_BEFORE = re.compile(r"(?<=\S)[ \u00a0\u202f]+(?:[,.](?![.\d\w])|[;:!?](?=\s|\Z))")
_BEFORE_COMMA = re.compile(r"(?<=\S)[ \u00a0\u202f]+[,.](?![.\d\w])")
_TIGHT = re.compile(r"(?<=[\w)\]»%\ue000])[;:!?](?=\s|\Z)|«(?=\S)|(?<=[^\s«])»")
_TIGHT_COLON = re.compile(r"(?<=[\w)\]»%\ue000]):(?=\s|\Z)|«(?=\S)|(?<=[^\s«])»")


def _spaces(line: _PlacedText) -> None:
    if found := _DOUBLED.search(line.text):
        line.say("doubled spaces", found, f"{line.what} has doubled spaces", "Leave one.")
    if found := _EDGE.search(line.text):
        said = f"{line.what} has a space at the end or the beginning of a line"
        line.say("space at the edge", found, said, "Take it out.")
    french = line.base == "fr"
    loose = (_BEFORE_COMMA if french else _BEFORE).search(line.text)
    if loose:
        said = f"a space stands before “{loose[0].strip()}” in {line.what}"
        line.say("punctuation", loose, said, f"{line.named} has none there.")
    elif french and language.normal(line.code) != "fr_CH":
        canadian = language.normal(line.code) == "fr_CA"
        if found := (_TIGHT_COLON if canadian else _TIGHT).search(line.text):
            said = f"no space stands beside “{found[0]}” in {line.what}"
            hint = f"{line.named} has one there, best one that does not break (U+202F or U+00A0)."
            line.say("punctuation", found, said, hint)


# --- quotes -------------------------------------------------------------------------------

#: The quotation marks of languages, outer and inner ones; ’ is an apostrophe too, and in all.
_QUOTES = {
    "„“‚‘»«›‹": ("de", "bg", "hr", "cs", "mk", "sk", "sl", "sr", "et", "lt", "lv", "ka"),
    "„”«»": ("pl", "hu", "ro"),
    "«»„“": ("be", "ru", "uk"),
    "«»“”‘": ("sq", "ca", "el", "it", "es", "pt_PT", "nb", "fa", "az", "kk", "uz", "ps", "prs"),
    "«»‹›": ("fr",),
    "”»": ("sv", "fi"),
    "“”‘»«": ("da",),
    "“”‘„": ("nl", "af", "he", "ar"),
    "「」『』“”": ("ja", "zh_TW", "zh_HK"),
}  # fmt: skip
_OF = {code: marks for marks, codes in _QUOTES.items() for code in codes}
_QUOTE = re.compile("[„“”«»‹›「」『』]|‚(?=\\w)|(?<!\\w)‘(?=\\w)")


def _own_quotes(code: str) -> str:
    return _OF.get(language.normal(code)) or _OF.get(language.base(code), "“”‘")


def _quotes(line: _PlacedText) -> None:
    own = _own_quotes(line.code)
    foreign = (found for found in _QUOTE.finditer(line.text) if found[0] not in own)
    if found := next(foreign, None):
        said = f"“{found[0]}” in {line.what} is not a quotation mark of {line.named}"
        line.say("quotes", found, said, f"It has {' '.join(own)}.")


# --- punctuation --------------------------------------------------------------------------

_ARABIC = {"?": "؟", ",": "،", ";": "؛"}
_WIDE = {",": "，", ".": "。", "?": "？", "!": "！", ":": "：", ";": "；"}
_AFTER_ARABIC = re.compile(r"(?<=[\u0620-\u06ff\ue000])[?,;](?=\s|\Z)")
_AFTER_HAN = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff\ue000])[,.?!:;](?![A-Za-z0-9.])")
_SENTENCE = re.compile(r"[^.!?\n]*([!?])")


def _marks(line: _PlacedText) -> None:
    base = line.base
    if base in ("ar", "ur", "fa", "ps", "prs"):
        _instead(line, _AFTER_ARABIC.search(line.text), _ARABIC)
    elif base in ("zh", "ja"):
        comma = {**_WIDE, ",": "、"} if base == "ja" else _WIDE
        _instead(line, _AFTER_HAN.search(line.text), comma)
    elif base == "el":
        _instead(line, re.search(r"(?<=\w)\?", line.text), {"?": ";"})
    elif base == "es":
        for found in _SENTENCE.finditer(line.text):
            opening = "¿" if found[1] == "?" else "¡"
            if re.search(r"\w", found[0]) and not re.search("[¿¡]", found[0]):
                said = f"{line.what} has a sentence with “{found[1]}” and without “{opening}”"
                line.say("punctuation", found, said, f"It begins with {opening} in Spanish.")
                return


def _instead(line: _PlacedText, found: re.Match[str] | None, marks: dict[str, str]) -> None:
    if found:
        said = f"{line.what} has “{found[0]}”, and {line.named} writes “{marks[found[0]]}”"
        line.say("punctuation", found, said, f"Write “{marks[found[0]]}”.")


_ENDS = {
    **dict.fromkeys(".。．।۔", "a full stop"),
    **dict.fromkeys("?？؟", "a question mark"),
    **dict.fromkeys("!！", "an exclamation mark"),
    **dict.fromkeys(":：", "a colon"),
    "…": "an ellipsis",
}
#: These need no full stop at the end of a sentence.
_STOPLESS = frozenset(("th", "lo", "km", "my"))


def _end(text: str, base: str) -> str:
    text = text.rstrip(' \n\t\u00a0»”“")』」')
    if text.endswith("..."):
        return _ENDS["…"]
    if text.endswith(";"):
        return _ENDS["?"] if base == "el" else "none"
    return _ENDS.get(text[-1:], "none")


def _ending(line: _PlacedText, original: str, source: str) -> None:
    mine, theirs = _end(line.text, line.base), _end(original, language.base(source))
    stop = _ENDS["."]
    if mine == theirs or (line.base in _STOPLESS and stop in (mine, theirs)):
        return
    ends = {side: "ends without a mark" if side == "none" else f"ends with {side}"
            for side in (mine, theirs)}  # fmt: skip
    said = f"{line.what} {ends[mine]}, and that in {source} {ends[theirs]}"
    line.tell("ending differs", line.field, said, "It may be meant so.")


# --- numbers, dates and times -------------------------------------------------------------

_NUMBER = re.compile(
    r"(?<![\w.,:/-])\d{1,3}(?:[.,\u00a0\u202f]\d{3})*(?:[.,]\d+)?(?![\w:/-]|[.,]\d)"
)
_DATE = re.compile(r"(?<![\w./-])\d{1,2}([./-])\d{1,2}\1\d{2}(?:\d{2})?(?![\w/-])")
_CLOCK = re.compile(r"(?<![\w:.])\d{1,2}(?:[:.]\d{2})? ?[ap]\.?m\b\.?", re.IGNORECASE)


def _numbers(line: _PlacedText, original: str, source: str) -> None:
    """Find numbers and dates of the source that stand there as the source writes them."""
    here, there = language.conventions(line.code), language.conventions(source)
    if here is None or there is None:
        return
    for found in _NUMBER.finditer(line.text):
        own = _rewritten(found[0], there, here)
        if own not in (None, found[0]) and _stands(found[0], _NUMBER, original):
            said = f"{found[0]} in {line.what} is written as in {source}"
            line.say("number form", found, said, f"{line.named} writes {own}.")
            break
    if here.date != there.date:
        for found in _DATE.finditer(line.text):
            if _stands(found[0], _DATE, original):
                said = f"{found[0]} in {line.what} is written as in {source}"
                hint = f"{line.named} writes {_spelled(here.date)}, and it may be read otherwise."
                line.say("date form", found, said, hint)
                break


def _stands(text: str, kind: re.Pattern[str], original: str) -> bool:
    return any(found[0] == text for found in kind.finditer(original))


def _rewritten(number: str, there: Conventions, here: Conventions) -> str | None:
    """Write a number of one language as another does; None if it is no such number there."""
    whole, decimal, rest = number.partition(there.decimal)
    groups = whole.split(there.group)
    if not all(part.isdecimal() for part in groups) or (decimal and not rest.isdecimal()):
        return None
    if len(groups) == 1 and not decimal:
        return number
    return here.group.join(groups) + (here.decimal + rest if decimal else "")


def _spelled(order: str) -> str:
    names = {"d": "day", "m": "month", "y": "year"}
    sign = order[3:] or "/"
    return sign.join(names.get(letter, letter) for letter in order[:3])


def _times(line: _PlacedText) -> None:
    here = language.conventions(line.code)
    if here is not None and not here.noon and (found := _CLOCK.search(line.text)):
        said = f"{line.what} has {found[0].strip()}"
        line.say("date form", found, said, f"{line.named} counts the hours to 24.")


# --- addresses ----------------------------------------------------------------------------


def _addresses(entry: Entry, source: Entry, tell: FindingLog) -> None:
    """Find addresses of the source that are missing, and others; a language in them may differ."""
    codes = (entry.lang_code, source.lang_code)
    mine, theirs = _links(entry.text), _links(source.text)
    if not mine and not theirs:
        return
    own = {_neutral(link, codes) for link in mine}
    wanted = {_neutral(link, codes) for link in theirs}
    if own == wanted:
        return
    lost = [link for link in theirs if _neutral(link, codes) not in own]
    more = [link for link in mine if _neutral(link, codes) not in wanted]
    said = " and ".join(
        [f"{cut(link, 60)} of {source.lang_code} is not there" for link in lost[:1]]
        + [f"{cut(link, 60)} is not in {source.lang_code}" for link in more[:1]]
    )
    at = entry.text.find(more[0]) if more else None
    tell("addresses differ", "text", f"the address {said}", "It may be meant so.", at=at)


def _links(text: str) -> list[str]:
    if not _MAY_HAVE_ADDRESS.search(text):
        return []
    return [found[0] for found in _ADDRESS.finditer(text)]


def _neutral(link: str, codes: tuple[str, ...]) -> str:
    """Take the languages of both sides out of an address: /de/shop is /en/shop."""
    names = {form for code in codes for form in (language.normal(code), language.base(code))}
    forms = sorted({*names, *(name.replace("_", "-") for name in names)}, key=len, reverse=True)
    either = "|".join(map(re.escape, forms))
    named = rf"(?<=[/=])(?:{either})(?=[/?&#]|\Z)|(?<=//)(?:{either})(?=\.)"
    return re.sub(named, "*", link, flags=re.IGNORECASE)


# --- direction ----------------------------------------------------------------------------

_MARKS = "\u200e\u200f\u061c"
_LEFT = re.compile(r"[A-Za-z]|\d\W+\d")


def _isolates(entry: Entry, tell: FindingLog) -> None:
    """Find placeholders whose value, in letters of the other direction, moves its neighbours."""
    text = entry.text
    for slot in entry.slots:
        sample = entry.variables.get(slot.name)
        if not isinstance(sample, str) or not _LEFT.search(sample):
            continue
        before, after = text[slot.start - 1 : slot.start], text[slot.end : slot.end + 1]
        if (before in tuple("\u2066\u2067\u2068") and after == "\u2069") or (
            before and before in _MARKS and after and after in _MARKS
        ):
            continue
        said = f"the value of {slot} may be read from left to right, like its sample"
        hint = "Put it between U+2068 and U+2069: else its neighbours may change places."
        tell("isolation", "text", said, hint, at=slot.start)
        return
