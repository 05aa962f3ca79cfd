"""Typography: the characters of texts, and how they are set: spaces, quotes, punctuation, dates.

`chatkit.imports.characters` finds what is odd about characters, as in any text; to that come the
script and the direction of the language, and emoji. Most texts are plain: that is seen from the
set of their characters alone, and costs next to nothing.

Which quotation marks a language has, and how it writes numbers, dates and times, is of CLDR
(numbers, dates and times as Babel has them). What is compared with the source language is told
only where the translation has it letter by letter, so that nothing is guessed.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections import Counter
from functools import lru_cache
from typing import Literal, NamedTuple

from chatkit.imports.characters import (
    TextFinding,
    both_directions,
    decomposed,
    garbled,
    half,
    of_text,
    run_checks,
    script,
)
from chatkit.localization import language
from chatkit.localization.content import Entry, part, slots, without_slots
from chatkit.localization.language import Conventions
from chatkit.localization.rules import FindingLog
from chatkit.util.display import cut, has_half_character, right_to_left, unseen, values

_LETTER = re.compile("[A-Za-z]")


def check_characters(entry: Entry, tell: FindingLog) -> None:
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
        if has_half_character(text):
            _told(run_checks(text, (garbled, half)), text, field, what, tell)
    for name, sample in entry.variables.items():
        if isinstance(sample, str) and has_half_character(sample):
            shown = cut(str(name), 20)
            odd = run_checks(sample, (garbled, half))
            _told(odd, sample, f"variables.{shown}", f"the sample {shown}", tell)


_UNSEEN = {"control characters", "invisible", "direction marks", "unknown characters"}
#: Letters of these look like letters of another: a word may hold both.
_ALIKE = {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"}
#: A letter, and what may be the second byte of it in UTF-8, read as cp1252.
_PAIR = re.compile("[\xc2-\xf4][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]")

_Kind = Literal["plain", "mark", "odd"]


@lru_cache(100_000)
def _kind(c: str) -> tuple[_Kind, str]:
    """Tell of a character what a check may find about it, and the script of a letter."""
    if c != "\n" and (unseen(c) or c == "\ufffd"):
        return "odd", ""
    if unicodedata.combining(c) or "\u1100" <= c <= "\u11ff":
        return "mark", ""
    name = script(c) if c.isalpha() else ""
    return "plain", name if name in language.KNOWN_LETTERS or name in _ALIKE else ""


def _characters(
    text: str, kinds: set[tuple[_Kind, str]], field: str, what: str, tell: FindingLog
) -> None:
    names = {kind for kind, _ in kinds}
    mixed = len({name for _, name in kinds if name in _ALIKE}) > 1
    if "odd" in names or mixed or _PAIR.search(text):
        found = of_text(text)
    elif "mark" in names:
        found = run_checks(text, (decomposed,))
    else:
        return
    _told(found, text, field, what, tell)


def _told(found: list[TextFinding], text: str, field: str, what: str, tell: FindingLog) -> None:
    for odd in found:
        places = unseen(text) if odd.code in _UNSEEN else []
        hint = "" if odd.suggestion is None else f"It may be meant as {values(odd.suggestion)}."
        reason = f"{what}: {odd.message}"
        tell(odd.code, field, reason, hint, at=min(places, default=None), severity=odd.severity)


_EMOJI = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff]{2}|[0-9#*]\ufe0f?\u20e3|"
    "(?:[\u231a-\u23ff\u25fd\u25fe\u2600-\u27bf\u2b1b-\u2b55\U0001f004-\U0001f0cf"
    "\U0001f18e-\U0001f251\U0001f300-\U0001faff]"
    "[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?(?:\u200d(?=[\u2600-\u27bf\U0001f300-\U0001faff]))?)+?"
    "(?<!\u200d))"
)
EMOJI = 10  #: so many emoji in a text were taken


def emoji(text: str) -> re.Match[str] | None:
    """Find the first emoji of a text."""
    return None if text.isascii() else _EMOJI.search(text)


def _emoji(text: str, field: str, what: str, tell: FindingLog) -> None:
    found = [*_EMOJI.finditer(text)]
    if found and field.startswith("headers"):
        said = f"{cut(found[0][0], 4)} is in the header"
        hint = "The platform was seen to refuse this: take it out."
        tell("header format", field, said, hint, at=found[0].start())
    elif len(found) > EMOJI:
        said = f"there are {len(found)} emoji in {what}"
        tell("emoji", field, said, f"{EMOJI} were seen to be taken.", at=found[EMOJI].start())


_ELSEWHERE = re.compile(r"https?://\S+|www\.\S+|[^\s@]{1,64}@\S+|[#@]\w+", re.IGNORECASE)
_ABOUT = 3  #: letters from which on a text has a script
_WORD = 2  #: letters of another script that are no mere sign
_HALF = 0.5
_TRANSLATE = "Translate it, or correct its lang_code."


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
        _punctuation(line)
        if source is not None and (original := originals.get(field)):
            _ending(line, _masked(original), source.lang_code)
            _numbers(line, _masked(original), source.lang_code)
            _months(line, _masked(original), source.lang_code)
        _times(line)
    if source is not None:
        _addresses(entry, source, tell)
    if language.direction(code) == "rtl":
        _isolates(entry, tell)


#: What stands for a placeholder, and for an address, while the rest is looked at.
_SLOT, _OTHER = "\ue000", "\ue001"
#: In Chinese and Japanese no space parts it from the words beside it.
_UNSPACED = "\u3000-\u9fff\uff00-\uffef"
_ADDRESS = re.compile(
    rf"(?:https?://|www\.|[^\s@{_UNSPACED}]{{1,64}}@)[^\s<>\"@{_UNSPACED}]*"
    rf"[^\s<>\"@.,;:!?)»”'。،؟{_UNSPACED}]",
    re.IGNORECASE,
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
#: Straight ones, which stand for those of a language where these look otherwise. That of an inch
#: is none of a pair.
_STRAIGHT = re.compile(r'(?<![\w"])"(?=[^\s"])[^"\n]*(?<=\S)"(?![\w"])')
_QUOTE = re.compile("[„“”«»‹›「」『』]|‚(?=\\w)|(?<!\\w)‘(?=\\w)")


def _own_quotes(code: str) -> str:
    return _OF.get(language.normal(code)) or _OF.get(language.base(code), "“”‘")


def _quotes(line: _PlacedText) -> None:
    own = _own_quotes(line.code)
    foreign = (found for found in _QUOTE.finditer(line.text) if found[0] not in own)
    if found := next(foreign, None):
        said = f"“{found[0]}” in {line.what} is not a quotation mark of {line.named}"
        line.say("quotes", found, said, f"It has {' '.join(own)}.")
    elif own[0] not in "“”" and '"' in line.text and (found := _STRAIGHT.search(line.text)):
        said = f"{line.what} has straight quotation marks"
        line.say("quotes", found, said, f"{line.named} has {' '.join(own)}.")


_ARABIC = {"?": "؟", ",": "،", ";": "؛"}
_WIDE = {",": "，", ".": "。", "?": "？", "!": "！", ":": "：", ";": "；"}
_AFTER_ARABIC = re.compile(r"(?<=[\u0620-\u06ff\ue000])[?,;](?=\s|\Z)")
_AFTER_HAN = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff\ue000])[,.?!:;](?![A-Za-z0-9.])")
_SENTENCE = re.compile(r"[^.!?\n]*([!?])")


def _punctuation(line: _PlacedText) -> None:
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


@lru_cache(4096)
def _days(code: str) -> re.Pattern[str] | None:
    """Find days of a month by its name in a language; None where months have no names."""
    names = [name for name in language.months(code) if len(name) > 2 and name.isalpha()]
    if not names:
        return None
    month = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    day = r"\d{1,2}(?:st|nd|rd|th|º|er|\.)?"
    letter = "A-Za-zÀ-ž"  # others may stand right beside it, as in Chinese and Japanese
    return re.compile(
        rf"(?<![{letter}0-9.:/-])(?:(?P<after>{day}) (?:of |de )?(?P<month>{month})(?![{letter}])|"
        rf"(?P<name>{month})\.? (?P<before>{day})(?![{letter}0-9:%]|[.,]\d))"
    )


@lru_cache(4096)  # a source is compared with each of its translations
def _days_in(original: str, source: str) -> dict[str, str]:
    """Find the days of months in a source text, and the name of the month in each."""
    if (days := _days(source)) is None:
        return {}
    return {found[0]: found["month"] or found["name"] for found in days.finditer(original)}


def _months(line: _PlacedText, original: str, source: str) -> None:
    """Find days whose month is named, or stands, as the source writes it."""
    there, days = _days_in(original, source), _days(source)
    if not there or days is None or line.base == language.base(source):
        return
    if not (own := language.months(line.code)):
        return
    for found in days.finditer(line.text):
        name = found["month"] or found["name"]
        foreign = name not in own and name in there.values()
        if not foreign and found[0] not in there:
            continue
        day = int(re.sub(r"\D", "", found["after"] or found["before"]))
        month = language.months(source)[name]
        if not 0 < day <= monthrange(2024, month)[1]:
            continue
        written = language.written_day(line.code, month, day)
        if foreign or written[0].isdigit() != bool(found["after"]):  # the day stands elsewhere
            said = f"{found[0]} in {line.what} is written as in {source}"
            line.say("date form", found, said, f"{line.named} writes {written}.")
            return


def _times(line: _PlacedText) -> None:
    here = language.conventions(line.code)
    if here is not None and not here.noon and (found := _CLOCK.search(line.text)):
        said = f"{line.what} has {found[0].strip()}"
        line.say("date form", found, said, f"{line.named} counts the hours to 24.")


_LEADS = "visit_website"


def _addresses(entry: Entry, source: Entry, tell: FindingLog) -> None:
    """Find addresses of the source that are missing, and others; a language in them may differ."""
    codes = (entry.lang_code, source.lang_code)
    _button_addresses(entry, source, codes, tell)
    mine, theirs = _links(entry, source), _links(source, entry)
    own = {_neutral(each.address, codes) for each in mine}
    wanted = {_neutral(each.address, codes) for each in theirs}
    if own == wanted:
        return
    lost = [each for each in theirs if _neutral(each.address, codes) not in own]
    more = [each for each in mine if _neutral(each.address, codes) not in wanted]
    said = " and ".join(
        [f"{cut(each.address, 60)} of {source.lang_code} is not there" for each in lost[:1]]
        + [f"{cut(each.address, 60)} is not in {source.lang_code}" for each in more[:1]]
    )
    field, at = (more[0].field, more[0].at) if more else (lost[0].field, None)
    tell("addresses differ", field, f"the address {said}", "It may be meant so.", at=at)


class _Link(NamedTuple):
    """An address in a text of a content."""

    field: str
    at: int
    address: str


def _links(entry: Entry, other: Entry) -> list[_Link]:
    """Find the addresses in the texts of a content that were read of the other one, too."""
    return [
        _Link(field, found.start(), found[0])
        for field, _, text in entry.pieces
        if _MAY_HAVE_ADDRESS.search(text) and other.knows(field.partition(".")[0])
        for found in _ADDRESS.finditer(text)
    ]


def _button_addresses(
    entry: Entry, source: Entry, codes: tuple[str, ...], tell: FindingLog
) -> None:
    """Find buttons that lead elsewhere than those of the source at the same places."""
    for number, (button, other) in enumerate(zip(entry.buttons, source.buttons, strict=False)):
        mine, theirs = part(button, "value"), part(other, "value")
        if not mine or not theirs or not button.get("type") == other.get("type") == _LEADS:
            continue
        alike = {slot.name for slot in slots(mine)} == {slot.name for slot in slots(theirs)}
        if alike and _neutral(mine, codes) != _neutral(theirs, codes):
            said = f"button {number + 1} leads to {cut(mine, 60)}, and in {source.lang_code} to "
            place = f"buttons.{number}.value"
            tell("addresses differ", place, said + cut(theirs, 60), "It may be meant so.")


def _neutral(link: str, codes: tuple[str, ...]) -> str:
    """Take the languages of both sides out of an address: /de/shop is /en/shop."""
    names = {form for code in codes for form in (language.normal(code), language.base(code))}
    forms = sorted({*names, *(name.replace("_", "-") for name in names)}, key=len, reverse=True)
    either = "|".join(map(re.escape, forms))
    named = rf"(?<=[/=])(?:{either})(?=[/?&#]|\Z)|(?<=//)(?:{either})(?=\.)"
    return re.sub(named, "*", link, flags=re.IGNORECASE)


_DIRECTION_MARKS = "\u200e\u200f\u061c"
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
            before and before in _DIRECTION_MARKS and after and after in _DIRECTION_MARKS
        ):
            continue
        said = f"the value of {slot} may be read from left to right, like its sample"
        hint = "Put it between U+2068 and U+2069: else its neighbours may change places."
        tell("isolation", "text", said, hint, at=slot.start)
        return
