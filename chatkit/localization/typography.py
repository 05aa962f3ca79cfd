"""Typography and markup: the characters of texts, how they are set, and the signs in them.

Odd characters are found by `chatkit.imports.characters`, as in any text; the script and the
direction of the language, and emoji, are added here. Most texts are plain, which the set of their
characters shows.

The quotation marks of a language, its numbers, dates and times are those of CLDR (numbers, dates
and times by Babel). What is compared with the source language is reported only where the
translation has it letter by letter, so that nothing is guessed.

A phone shows *bold*, _italic_, ~struck~ and `code` in the text of a message, where each sign
stands beside the end of a word. Other markup, and what programs leave behind, customers read.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from html import unescape
from typing import Any, NamedTuple, TypeAlias

from chatkit.imports.characters import check_text, find_both_directions
from chatkit.localization import language
from chatkit.localization.checks import LISTS, Case, Flaw, flaw
from chatkit.localization.content import (
    SLOT,
    Entry,
    find_slots,
    name_field,
    read_text,
    remove_slots,
)
from chatkit.localization.language import Conventions
from chatkit.util.display import cut, find_invisible_characters, is_right_to_left, values


def check_characters(case: Case) -> Iterator[Flaw]:
    """Check every text that a customer reads, and the samples."""
    entry = case.entry
    has_right_to_left = is_right_to_left("".join(text for *_, text in entry.pieces))
    for field, _, text in entry.pieces:
        yield from _check_text_characters(text, field)
        emojis = [*_EMOJI.finditer(text)] if field == "text" and not text.isascii() else []
        if len(emojis) > MAX_EMOJI:
            position = emojis[MAX_EMOJI].start()
            yield flaw("emoji", field, position, count=len(emojis), most=MAX_EMOJI)
        yield from _check_script(text, field, entry.lang_code)
        if has_right_to_left and is_right_to_left(text):
            if finding := find_both_directions(_remove_names(text)):
                yield flaw("both directions", field, message=finding.message)
            if field == "text" or field.startswith("headers"):
                yield from _check_direction(text, field, language.direction(entry.lang_code))
    for key, sample in entry.variables.items():
        if isinstance(sample, str) and not _is_plain(sample):
            yield from _check_text_characters(sample, f"variables.{cut(str(key), 20)}")


_PICTURES = LISTS["emoji"]
_SIGN = (
    f"(?:[{_PICTURES}]\ufe0f?|[^\\s0-9#*]\ufe0f)[\U0001f3fb-\U0001f3ff]?[\U000e0020-\U000e007f]*"
)
_EMOJI = re.compile(f"[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\ufe0f?\u20e3|{_SIGN}(?:\u200d{_SIGN})*")
MAX_EMOJI = 10  #: so many emoji in a text were taken
_INVISIBLE_CODES = {"control characters", "invisible", "direction marks", "unknown characters"}


def _is_plain(text: str) -> bool:
    """Return whether a text has visible ASCII characters and line breaks alone."""
    return text.isascii() and text.replace("\n", "").isprintable()


def _check_text_characters(text: str, field: str) -> Iterator[Flaw]:
    for finding in [] if _is_plain(text) else check_text(text):
        places = find_invisible_characters(text) if finding.code in _INVISIBLE_CODES else []
        meant = finding.suggestion
        hint = "" if meant is None else f"It may be meant as {values(meant)}."
        at, message = min(places, default=None), f"{name_field(field)}: {finding.message}"
        yield Flaw(finding.code, field, message, hint, at, finding.severity)


@lru_cache(100_000)
def _get_letter_script(c: str) -> str:
    """Return the script of a letter as Unicode names it, like LATIN; empty for other characters."""
    name = unicodedata.name(c, "").partition(" ")[0] if c.isalpha() else ""
    return name if name in language.KNOWN_LETTERS else ""


_ADDRESS_OR_TAG = re.compile(r"https?://\S+|www\.\S+|[^\s@]{1,64}@\S+|[#@]\w+", re.IGNORECASE)
_MIN_LETTERS = 3  #: letters from which on a text has a script
_MIN_OTHER_LETTERS = 2  #: letters of another script that are no mere sign
_MIN_SHARE = 0.5


def _remove_names(text: str) -> str:
    """Return a text without what is in no language: placeholders, addresses, hashtags."""
    return _ADDRESS_OR_TAG.sub(" ", remove_slots(text))


def _check_script(text: str, field: str, code: str) -> Iterator[Flaw]:
    """Find letters of a script that the language does not use; names in Latin are no fault."""
    own = language.letters(code)
    if not own or set(map(_get_letter_script, text)) <= own | {""}:
        return
    count = Counter(filter(None, map(_get_letter_script, _remove_names(text))))
    total, mine = count.total(), sum(count[letter] for letter in own)
    others = [letter for letter, _ in count.most_common() if letter not in own]
    if not others or total < _MIN_LETTERS:
        return
    scripts = " and ".join(letter.title() for letter in others)
    parts = {"language": language.name(code), "scripts": scripts}
    if field == "text" and mine < _MIN_SHARE * total:
        yield flaw("wrong script", field, share=f"{(total - mine) / total:.0%}", **parts)
    elif not mine or any(count[each] >= _MIN_OTHER_LETTERS and each != "LATIN" for each in others):
        yield flaw("other script", field, **parts)


def _check_direction(text: str, field: str, direction: str) -> Iterator[Flaw]:
    """Check that the first letter of a text has the direction of its language."""
    for position, c in enumerate(text):
        kind = unicodedata.bidirectional(c)
        if kind in ("L", "R", "AL"):
            if (direction == "ltr") != (kind == "L"):
                mark = ", or with the mark U+200F" if direction == "rtl" else ""
                yield flaw("direction", field, position, letter=cut(c, 10), mark=mark)
            return


def check_typography(case: Case) -> Iterator[Flaw]:
    """Check spaces, quotes, punctuation, numbers and addresses, also against the source."""
    entry, original = case.entry, case.original
    originals = {} if original is None else original.texts
    for field, _, text in entry.pieces:
        if text.strip():
            line = _TextLine(field, entry.lang_code, _mask_text(text))
            for rule in (_check_spaces, _check_quotes, _check_punctuation):
                yield from rule(line)
            if original is not None and (source := originals.get(field)):
                yield from _compare_numbers(line, _mask_text(source), original.lang_code)
    if original is not None:
        yield from _compare_addresses(entry, original)
    if language.direction(entry.lang_code) == "rtl":
        yield from _check_isolation(entry)


#: The characters that stand for placeholders and addresses in a masked text.
_SLOT_MARK, _ADDRESS_MARK = "\ue000", "\ue001"
#: In Chinese and Japanese no space parts it from the words beside it.
UNSPACED = "\u3000-\u9fff\uff00-\uffef"
ADDRESS = re.compile(
    rf"(?:https?://|www\.|[^\s@{UNSPACED}]{{1,64}}@)[^\s<>\"@{UNSPACED}]*"
    rf"[^\s<>\"@.,;:!?)»”'。،؟{UNSPACED}]",
    re.IGNORECASE,
)
#: What each address has: a text without it need not be searched at every character.
_MAY_HAVE_ADDRESS = re.compile(r"@|://|www\.", re.IGNORECASE)


@lru_cache(4096)  # a source is compared with each of its translations
def _mask_text(text: str) -> str:
    """Replace placeholders and addresses by marks; each other character stays at its place."""
    text = text.replace(_SLOT_MARK, " ").replace(_ADDRESS_MARK, " ")
    text = SLOT.sub(lambda match: _SLOT_MARK * len(match[0]), text)
    if not _MAY_HAVE_ADDRESS.search(text):
        return text
    return ADDRESS.sub(lambda match: _ADDRESS_MARK * len(match[0]), text)


class _TextLine(NamedTuple):
    """One text of a content."""

    field: str
    code: str  #: its language
    text: str  #: without placeholders and addresses

    def flaw(self, code: str, match: re.Match[str], **parts: str) -> Flaw:
        own = {"language": language.name(self.code), "part": match[0]}
        return flaw(code, self.field, match.start(), **(own | parts))


_DOUBLED = re.compile(r"(?<=\S)[ \u00a0]{2,}(?=\S)")
_EDGE = re.compile(r"\A[ \t\u00a0]+|[ \t\u00a0]+\Z|[ \t\u00a0]+(?=\n)|(?<=\n)(?: {4,}|\t)")
#: Signs with a space before them that should have none, and without one that should.
_SPACED, _TIGHT = (language.DATA[name] for name in ("spaced", "tight"))


def _check_spaces(line: _TextLine) -> Iterator[Flaw]:
    if match := _DOUBLED.search(line.text):
        yield line.flaw("doubled spaces", match)
    if match := _EDGE.search(line.text):
        yield line.flaw("space at the edge", match)
    for rule, patterns in (("punctuation/space", _SPACED), ("punctuation/tight", _TIGHT)):
        pattern = language.choose(patterns, line.code)
        if pattern and (match := re.search(pattern, line.text)):
            yield line.flaw(rule, match, mark=match[0].strip())
            return


#: The quotation marks of each language.
_QUOTES = {c: marks for marks, codes in language.DATA["quotes"].items() for c in codes.split()}
#: A pair of straight quotation marks, in place of those of the language; the sign for an inch is
#: no pair.
_STRAIGHT_QUOTES = re.compile(r'(?<![\w"])"(?=[^\s"])[^"\n]*(?<=\S)"(?![\w"])')
_QUOTE = re.compile("[„“”«»‹›「」『』]|‚(?=\\w)|(?<!\\w)‘(?=\\w)")


def _check_quotes(line: _TextLine) -> Iterator[Flaw]:
    own: str = language.choose(_QUOTES, line.code) or "“”‘"
    others = (match for match in _QUOTE.finditer(line.text) if match[0] not in own)
    if match := next(others, None):
        yield line.flaw("quotes", match, mark=match[0], own=" ".join(own))
    elif own[0] not in "“”" and (match := _STRAIGHT_QUOTES.search(line.text)):
        yield line.flaw("quotes/straight", match, own=" ".join(own))


#: Marks that a language has in place of others, and where these stand.
_MARKS = {code: each for each in language.DATA["marks"] for code in each["languages"].split()}
#: A sentence from its beginning: a text without an end mark is read once, not once a character.
_SENTENCE = re.compile(r"(?<![^.!?\n])[^.!?\n]*([!?])")


def _check_punctuation(line: _TextLine) -> Iterator[Flaw]:
    marks = _MARKS.get(language.base(line.code))
    if marks and (match := re.search(marks["where"], line.text)):
        yield line.flaw("punctuation/other", match, mark=match[0], own=marks["own"][match[0]])
    for match in _SENTENCE.finditer(line.text) if language.base(line.code) == "es" else ():
        opening = "¿" if match[1] == "?" else "¡"
        if re.search(r"\w", match[0]) and not re.search("[¿¡]", match[0]):
            yield line.flaw("punctuation/opening", match, mark=match[1], own=opening)
            return


_NUMBER = re.compile(
    r"(?<![\w.,:/-])\d{1,3}(?:[.,\u00a0\u202f]\d{3})*(?:[.,]\d+)?(?![\w:/-]|[.,]\d)"
)
_DATE = re.compile(r"(?<![\w./-])\d{1,2}([./-])\d{1,2}\1\d{2}(?:\d{2})?(?![\w/-])")
_DATE_PARTS = {"d": "day", "m": "month", "y": "year"}


def _compare_numbers(line: _TextLine, original: str, source: str) -> Iterator[Flaw]:
    """Find a number and a date that are still written as in the source language."""
    here, source_form = language.conventions(line.code), language.conventions(source)
    if here is None or source_form is None:
        return
    numbers = {match[0] for match in _NUMBER.finditer(original)}
    for match in _NUMBER.finditer(line.text):
        own = _rewrite_number(match[0], source_form, here)
        if own and own != match[0] and match[0] in numbers:
            yield line.flaw("number form", match, lang=source, own=own)
            break
    dates = {match[0] for match in _DATE.finditer(original)}
    for match in _DATE.finditer(line.text) if here.date != source_form.date else ():
        if match[0] in dates:
            own = (here.date[3:] or "/").join(_DATE_PARTS[part] for part in here.date[:3])
            yield line.flaw("date form", match, lang=source, own=own)
            return


def _rewrite_number(number: str, source_form: Conventions, here: Conventions) -> str | None:
    """Return a number in the form of another language; None if it is none in its own."""
    integer, decimal, fraction = number.partition(source_form.decimal)
    groups = integer.split(source_form.group)
    if not all(part.isdecimal() for part in groups) or (decimal and not fraction.isdecimal()):
        return None
    if len(groups) == 1 and not decimal:
        return number
    return here.group.join(groups) + (here.decimal + fraction if decimal else "")


def _compare_addresses(entry: Entry, original: Entry) -> Iterator[Flaw]:
    """Find addresses that the source lacks, or that are missing; their language may differ."""
    codes = (entry.lang_code, original.lang_code)
    for number, pair in enumerate(zip(entry.buttons, original.buttons, strict=False)):
        mine, other = (read_text(button, "value") for button in pair)
        kinds = {button.get("type") for button in pair}
        if not mine or not other or kinds != {"visit_website"}:
            continue
        slots, others = ({slot.name for slot in find_slots(each)} for each in (mine, other))
        if slots == others and _neutralize_link(mine, codes) != _neutralize_link(other, codes):
            named = {"mine": cut(mine, 60), "other": cut(other, 60), "lang": codes[1]}
            field = f"buttons.{number}.value"
            yield flaw("addresses differ/button", field, number=number + 1, **named)
    links, known = _find_links(entry, original, codes), _find_links(original, entry, codes)
    lost = [link for address, link in known.items() if address not in links][:1]
    more = [link for address, link in links.items() if address not in known][:1]
    parts = [f"{cut(match[0], 60)} of {codes[1]} is not there" for _, match in lost]
    parts += [f"{cut(match[0], 60)} is not in {codes[1]}" for _, match in more]
    for field, match in (more or lost)[:1]:
        position = match.start() if more else None
        yield flaw("addresses differ", field, position, what=" and ".join(parts))


def _find_links(
    entry: Entry, other: Entry, codes: tuple[str, ...]
) -> dict[str, tuple[str, re.Match[str]]]:
    """Return the first field and match of each address in texts that both contents have."""
    links: dict[str, tuple[str, re.Match[str]]] = {}
    for field, _, text in entry.pieces:
        if _MAY_HAVE_ADDRESS.search(text) and field.partition(".")[0] in other.raw:
            for match in ADDRESS.finditer(text):
                links.setdefault(_neutralize_link(match[0], codes), (field, match))
    return links


def _neutralize_link(link: str, codes: tuple[str, ...]) -> str:
    """Replace both language codes in an address by a star: /de/shop and /en/shop are equal."""
    names = {form for code in codes for form in (language.normalize(code), language.base(code))}
    forms = sorted({*names, *(name.replace("_", "-") for name in names)}, key=len, reverse=True)
    either = "|".join(map(re.escape, forms))
    named = rf"(?<=[/=])(?:{either})(?=[/?&#]|\Z)|(?<=//)(?:{either})(?=\.)"
    return re.sub(named, "*", link, flags=re.IGNORECASE)


_DIRECTION_MARKS = "\u200e\u200f\u061c"
_LEFT_TO_RIGHT = re.compile(r"[A-Za-z]|\d\W+\d")


def _check_isolation(entry: Entry) -> Iterator[Flaw]:
    """Find placeholders whose left-to-right value would reorder the surrounding text."""
    text = entry.text
    for slot in entry.slots:
        sample = entry.variables.get(slot.name)
        if not isinstance(sample, str) or not _LEFT_TO_RIGHT.search(sample):
            continue
        before, after = text[slot.start - 1 : slot.start], text[slot.end : slot.end + 1]
        if (before in tuple("\u2066\u2067\u2068") and after == "\u2069") or (
            before and before in _DIRECTION_MARKS and after and after in _DIRECTION_MARKS
        ):
            continue
        yield flaw("isolation", "text", slot.start, slot=slot)
        return


# --- markup -------------------------------------------------------------------------------

#: The signs, and the element that each stands for.
SIGNS = {"*": "strong", "_": "em", "~": "s", "`": "code"}
#: Where a part of a text begins and ends, and the elements that it stands in.
Tagged: TypeAlias = tuple[int, int, tuple[str, ...]]


@cache
def _make_sign_pattern(signs: str) -> re.Pattern[str]:
    """Return the pattern of text between two of these signs, each beside the end of a word."""
    fence = "```(?P<fence>[^`]+)```|" if "`" in signs else ""
    return re.compile(
        rf"{fence}(?<![^\W_])(?P<sign>[{re.escape(signs)}])(?=\S)(?!(?P=sign))(?P<inner>[^\n]{{0,1100}}?\S)"
        r"(?P=sign)(?![^\W_])"
    )


def split_by_markup(text: str, tags: tuple[str, ...] = (), offset: int = 0) -> Iterator[Tagged]:
    """Yield the parts of a text between its signs, each with the elements that it stands in."""
    open_ = "".join(sign for sign, tag in SIGNS.items() if tag not in tags)
    last = 0
    for match in _make_sign_pattern(open_).finditer(text) if open_ and "code" not in tags else ():
        yield offset + last, offset + match.start(), tags
        name = "inner" if match["sign"] else "fence"
        inside = (*tags, SIGNS[match["sign"] or "`"])
        yield from split_by_markup(match[name], inside, offset + match.start(name))
        last = match.end()
    yield offset + last, offset + len(text), tags


# --- what programs leave in texts -------------------------------------------------------------

_HTML = (
    "a|abbr|b|big|blockquote|br|center|code|del|div|em|font|h[1-6]|hr|i|img|ins|li|mark|ol|p|pre|q"
    "|s|small|span|strike|strong|sub|sup|table|tbody|td|th|tr|tt|u|ul"
)
#: Tags of HTML, of XML and of programs for translators; a word in angle brackets is none.
_TAG = (
    rf"<(?:{_HTML})(?:\s[^<>\n]*)?>|</[\w.:-]+\s*>|<[\w.:-]+\s*/>|<!\[CDATA\[|\]\]>|<!--"
    r"|<[a-z][\w.:-]*(?:\s+[\w:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))+\s*/?>"
    r"|\[\d+\}|\{\w{1,3}[\]>]|<\w{1,3}\}"
)
ENTITY = re.compile(
    r"&(?:[a-z][a-z0-9]{1,30}|#[0-9]{1,7}|#x[0-9a-f]{1,6});"
    r"|&(?:nbsp|quot|amp|apos|lt|gt|#39|#34|#160)(?![\w;=])",
    re.IGNORECASE,
)
#: A backslash before a sign or in place of one, and %20; \n before small letters may be a path.
#: Programs that translate put a space into it: \ n.
_ESCAPE = (
    r"(?<![\w¯:;=])\\ [nrtNRT](?!\w)"
    r"|(?<!\w)\\[nrt]|\\[nrt](?![a-z])|\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})"
    r"|(?<![¯:;=])\\[\\'\"`~@?!%&_*#\[\]{}<>|/.,;:-]"
    r"|(?<=[^\W\d_])%(?:2[0-9A-F]|C[23]%[89AB][0-9A-F])(?![0-9])"
)
_RESIDUE = re.compile(rf"(?i:{_TAG})|(?i:{ENTITY.pattern})|{_ESCAPE}")
_MAY_HAVE_RESIDUE = re.compile(r"[]<&\\}>%]")
_PATH = re.compile(r"\b[A-Za-z]:\\\S*|(?<!\S)\\\\\w[\w.-]*\\\S*|\b(?:https?://|www\.)[^\s<>]*")


def find_residue(text: str) -> list[re.Match[str]]:
    """Return the matches of what programs leave in a text: tags, entities and escapes."""
    if not _MAY_HAVE_RESIDUE.search(text):
        return []
    rest = _PATH.sub(lambda match: " " * len(match[0]), text)
    return [
        match
        for match in _RESIDUE.finditer(rest)
        if match[0][0] != "&" or unescape(match[0]) != match[0]
    ]


# --- markup that is shown as it is typed ------------------------------------------------------

#: Letters of languages that put no space beside a sign.
_CLOSE = f"{UNSPACED}\u0e00-\u0e7f\uac00-\ud7af"
_DOUBLED_SIGNS = re.compile(
    "|".join(
        rf"(?:(?<![^\W_])|(?<=[{_CLOSE}]))(?<!{sign}){sign}{{2,3}}(?=[^\s{sign}])"
        rf"(?:[^\n]*?[^\s{sign}]{sign}{{2,3}}(?!{sign})|(?=[^\W\d_]))"
        for sign in (r"\*", "_", "~")
    )
)
#: A line between two ~ is decorated so.
_SPACED_SIGNS = re.compile(
    r"(?<![\w*_~])(?<!\d )(?<!: )(?:([*_])[ \u00a0](?=[^\W\d_])[^*_~\n]*[ \u00a0]\1"
    r"|(?<=\S )~[ \u00a0](?=[^\W\d_])[^*_~\n]*[ \u00a0]~(?=[^\S\n]?\S)"
    r"|(?<=\S )([*_~])[ \u00a0](?=[^\W\d_])[^*_~\n]*\w\2)(?![\w*_~])",
)
_OPEN_SIGN = re.compile(r"(?<![^\s\"'“”‘«»„¿¡>–—:;,/*_~\0-])([*_~])(?=[^\W\d_])|```(?=[^`])")
#: Headings and links of Markdown, and tags in square brackets.
_OTHER_MARKUP = re.compile(
    r"^#{2,6} (?=\S)|\[[^][\n]+\]\((?=0)"
    r"|\[(b|i|u|s|url|img|code|quote|color|size)(?:=[^\]\n]*)?\](?=[^\n]*\[/\1\])",
    re.MULTILINE | re.IGNORECASE,
)
#: The markup of longer texts is not read: they cannot be sent, and reading it would take long.
_MAX_READ_LENGTH = 5000
_MAY_HAVE_MARKUP = re.compile(r"[*_~`＊＿～]|^##|\[", re.MULTILINE)
_WIDE_SIGNS = str.maketrans("＊＿～", "*_~")
_LETTER = re.compile(r"[^\W\d_]")


def _mask_signs(text: str) -> tuple[str, Counter[str]]:
    """Replace the signs that format a text by NUL; return the text and the count of each sign."""
    rest = ["\0"] * len(text)
    for start, end, _ in split_by_markup(text):
        rest[start:end] = text[start:end]
    signs = (c for c, kept in zip(text, rest, strict=True) if kept == "\0")
    return "".join(rest), Counter(signs)


def _fill_placeholders(text: str, samples: Mapping[str, Any]) -> str:
    """Replace each placeholder by letters or digits, as its sample has, and addresses by digits."""
    text = ADDRESS.sub(lambda match: "0" * len(match[0]), text.replace("\0", " "))

    def fill(slot: re.Match[str]) -> str:
        letter = "a" if _LETTER.search(str(samples.get(slot[1], ""))) else "0"
        return letter * len(slot[0])

    return SLOT.sub(fill, text)


def _find_typed_markup(text: str, source: str, field: str) -> tuple[str, int, int] | None:
    """Find markup that formats nothing, so that customers read it as it is typed.

    Args:
        text: A text, without placeholders and addresses.
        source: The text that it is translated from, in the same form.
        field: Its place in the content.

    Returns:
        The kind of the fault, a message of "markup" in the rules, with its start and its end; None
        if all is well.
    """
    rest, count = _mask_signs(text)
    if count and field != "text":
        return "plain", rest.index("\0"), rest.rindex("\0") + 1
    for kind, pattern, where in (
        ("doubled", _DOUBLED_SIGNS, text),
        ("spaced", _SPACED_SIGNS, rest),
        ("other", _OTHER_MARKUP, rest),
        ("open", _OPEN_SIGN, rest),
    ):
        for match in pattern.finditer(where):
            if match[0].strip("*_~"):
                return (kind, *match.span())
            if not _is_footnote(match, rest, field):
                return kind, match.start(), _find_word_end(text, match.end())
    expected = _mask_signs(source)[1]
    for at, sign in enumerate(rest.translate(_WIDE_SIGNS) if expected else ""):
        if count[sign] < expected[sign]:
            return "source", at, _find_word_end(text, at)
    return None


def _find_word_end(text: str, position: int) -> int:
    return position + len(re.split(r"\s", text[position:], maxsplit=1)[0])


def _is_footnote(match: re.Match[str], text: str, field: str) -> bool:
    """Return whether a sign before a word marks a footnote, or belongs to a picture."""
    sign, before, after = re.escape(match[0][0]), text[: match.start()], text[match.end() :]
    if re.search(rf"[^\s{sign}]{sign}(?!\w)", before):
        return True
    begins_line = not before.rpartition("\n")[2].strip()
    return begins_line and "\n" not in after.strip() and (field == "footer" or before != "")


_BREAK = "(?:\r\n?|[\n\v\f\x85\u2028\u2029])"
_LINE_BREAK = re.compile(_BREAK)
_LINE_BREAKS = re.compile(rf"\A\s*?{_BREAK}|{_BREAK}{{3,}}")
#: The code of what may not be in a text.
CODES = {
    "text": "markup",
    "headers": "header format",
    "footer": "footer format",
    "buttons": "button label format",
}


def check_markup(case: Case) -> Iterator[Flaw]:
    """Find line breaks, emoji and markup where none may be, markup without effect, and residue."""
    entry, original = case.entry, case.original
    for field, _, text in entry.pieces:
        code = CODES[field.partition(".")[0]]
        if field == "text":
            if match := _LINE_BREAKS.search(text):
                what = "has three line breaks in a row"
                what = what if match.start() else "begins with a line break"
                yield flaw("line breaks", field, match.start(), what=what)
            if entry.is_authentication and (match := _EMOJI.search(text)):
                yield flaw("authentication/emoji", field, match.start())
        else:
            if match := _LINE_BREAK.search(text):
                yield flaw(f"{code}/break", field, match.start())
            if not text.isascii() and (match := _EMOJI.search(text)):
                yield flaw(f"{code}/emoji", field, match.start(), part=cut(match[0], 4))
        if len(text) < _MAX_READ_LENGTH and _MAY_HAVE_MARKUP.search(text):
            source = "" if original is None else original.texts.get(field, "")
            typed = _find_typed_markup(
                _fill_placeholders(text, entry.variables),
                _fill_placeholders(source, original.variables if original else {}),
                field,
            )
            if typed:
                kind, start, end = typed
                yield flaw(f"{code}/{kind}", field, start, part=cut(text[start:end], 20))
        for match in find_residue(text)[:1]:
            yield flaw("residue", field, match.start(), part=cut(match[0], 20))
