"""Characters that are not seen, or not what they seem, in any text; and what is odd about a name.

Each check takes a text and returns what it found, or None. A suggestion that is safe can be
taken without looking: it reads as the text was meant to be read.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial
from typing import NamedTuple, TypeAlias

from chatkit.finding import Severity
from chatkit.util.display import has_half_character, many, right_to_left, unseen


class Oddity(NamedTuple):
    """One thing that is wrong, or odd, with a text."""

    code: str  #: a word or two, to choose by: "spaces"
    severity: Severity
    message: str
    suggestion: str | None = None  #: the text as it may be meant
    safe: bool = False  #: whether the suggestion surely is what was meant


Check: TypeAlias = Callable[[str], Oddity | None]

_MARKS = "\u061c\u200e\u200f"
_OVERRIDES = "\u202d\u202e"
_DIRECTION = _MARKS + _OVERRIDES + "\u202a-\u202c\u2066-\u2069"
#: A flag like that of Scotland is spelled with characters that are not seen.
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")
#: Controls that end a word, as a space does.
_BREAKS = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]+")
_ODD_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f]")
_RUNS = re.compile("([ \u3000]) +| +(?=\u3000)|(\u3000)\u3000+")
_EDGES = " \u3000"
#: A letter and the marks that follow it; and the parts of a Korean syllable.
_CLUSTER = re.compile(
    "[^\\W\\d_][\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a]+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"
)


def half(text: str) -> Oddity | None:
    """Find halves of characters, which no file and no call can hold."""
    if not has_half_character(text):
        return None
    reason = "half a character is in it, and it cannot be sent: write it again"
    return Oddity("half a character", "error", reason)


def lost(text: str) -> Oddity | None:
    """Find the sign that stands where a program could not read a letter."""
    if "\ufffd" not in text:
        return None
    return Oddity("lost letters", "warning", "a program has lost letters of it, where there is �")


def control(text: str, *, lines: bool = False) -> Oddity | None:
    """Find control characters; what ended a word becomes a space.

    Args:
        text: Any text.
        lines: Whether it may have several lines.
    """
    kept = "\n" if lines else ""
    found = [c for c in _hidden(text) if _category(c) in ("Cc", "Zl", "Zp") and c not in kept]
    if not found:
        return None
    parts = text.replace("\r\n", "\n").split("\n") if lines else [text]
    tidy = "\n".join(
        _drop(_BREAKS.sub(" ", part), lambda c: _category(c) == "Cc") for part in parts
    )
    said = "a line break or tab" if all(map(_BREAKS.match, found)) else "a control character"
    return _mended("control characters", "warning", f"{said} is in it{_named(found)}", text, tidy)


def direction(text: str) -> Oddity | None:
    """Find what turns the direction of reading; letters have a direction of their own."""
    found = re.findall(f"[{_DIRECTION}]", text)
    if not found:
        return None
    steers = any(c not in _MARKS for c in found)
    reason = f"a mark that is not seen turns how it is read{_named(found)}"
    tidy = re.sub(f"[{_DIRECTION}]", "", text)
    return _mended("direction marks", "warning" if steers else "note", reason, text, tidy)


def overridden(text: str) -> Oddity | None:
    """Find what makes letters read backwards; other marks have their use in a long text."""
    found = re.findall(f"[{_OVERRIDES}]", text)
    if not found:
        return None
    reason = f"a mark that is not seen turns the letters around{_named(found)}"
    tidy = re.sub(f"[{_OVERRIDES}]", "", text)
    return _mended("direction marks", "warning", reason, text, tidy)._replace(safe=False)


def invisible(text: str) -> Oddity | None:
    """Find characters that are not seen, where they shape nothing beside them."""
    places = [n for n in _places(text) if _vanishes(text[n])]
    if not places:
        return None
    hidden = {*places}
    tidy = "".join([c for n, c in enumerate(text) if n not in hidden])
    found = [text[n] for n in places]
    reason = f"{many(len(found), 'character')} in it cannot be seen{_named(found)}"
    return _mended("invisible", "warning", reason, text, tidy)


def unknown(text: str) -> Oddity | None:
    """Find characters that mean nothing, or another thing on each machine."""
    found = [c for c in _hidden(text) if _category(c) in ("Cn", "Co")]
    if not found:
        return None
    reason = f"a character in it is shown as a box on most machines{_named(found)}"
    return Oddity("unknown characters", "note", reason)


def decomposed(text: str) -> Oddity | None:
    """Find accents that stand apart from their letter: no search finds é by e and an accent.

    Letters that Unicode would only exchange for others, as in old Han names, are left alone.
    """
    if text.isascii():
        return None
    tidy = _CLUSTER.sub(lambda found: _composed(found[0]), text)
    if tidy == text:
        return None
    reason = "accents in it are apart from their letters, so a search does not find it"
    return _mended("decomposed", "note", reason, text, tidy)


def _composed(cluster: str) -> str:
    whole = unicodedata.normalize("NFC", cluster)
    return whole if len(whole) < len(cluster) else cluster


def spaces(text: str) -> Oddity | None:
    """Find spaces at the edges, several together, and unusual ones."""
    if text.isascii() and text == text.strip(" ") and "  " not in text:
        return None
    plain = _ODD_SPACES.sub(" ", text)
    found = []
    if odd := _ODD_SPACES.findall(text):
        found.append(f"has an unusual space{_named(odd)}")
    if plain.lstrip(_EDGES) != plain:
        found.append("begins with a space")
    if plain.rstrip(_EDGES) != plain:
        found.append("ends with a space")
    inner = plain.strip(_EDGES)
    tidy = inner
    while (fewer := _RUNS.sub(lambda run: run[1] or run[2] or "", tidy)) != tidy:
        tidy = fewer
    if tidy != inner:
        found.append("has several spaces together")
    if not found:
        return None
    return _mended("spaces", "warning", f"it {', '.join(found)}", text, tidy)


# --- helpers ------------------------------------------------------------------------------


def _mended(code: str, severity: str, reason: str, text: str, tidy: str) -> Oddity:
    """Make the oddity; a suggestion that would leave nothing of a text is none."""
    if not tidy.strip(_EDGES) or tidy == text:
        return Oddity(code, severity, reason)  # type: ignore[arg-type]
    return Oddity(code, severity, reason, tidy, True)  # type: ignore[arg-type]


def _places(text: str) -> list[int]:
    if not (places := unseen(text)):
        return []
    flags = {n for found in _FLAG.finditer(text) for n in range(*found.span())}
    return [n for n in places if n not in flags]


def _hidden(text: str) -> list[str]:
    return [text[n] for n in _places(text)]


def _vanishes(c: str) -> bool:
    """Whether a character is nothing but unseen; the other kinds have checks of their own."""
    kept = _category(c) in ("Cc", "Zl", "Zp", "Cs", "Cn", "Co")
    return not kept and not re.match(f"[{_DIRECTION}]", c)


def _drop(text: str, unwanted: Callable[[str], bool]) -> str:
    return "".join([c for c in text if not unwanted(c)])


def _category(c: str) -> str:
    return unicodedata.category(c)


def _named(found: Sequence[str]) -> str:
    names = dict.fromkeys(f"U+{ord(c):04X}" for c in found)
    few = ", ".join(list(names)[:3])
    return f" ({few}{', …' if len(names) > 3 else ''})"


# --- a wrong encoding: é that became Ã©, because UTF-8 was read as cp1252 -----------------


#: The sign of each byte in cp1252; the five that it lacks are control characters.
_SIGNS = [bytes([code]).decode("cp1252", "ignore") or chr(code) for code in range(0x100)]
_BYTES = {chr(code): code for code in range(0x100)} | {c: code for code, c in enumerate(_SIGNS)}


def _class(first: int, last: int) -> str:
    return "[" + "".join(re.escape(c) for c, n in _BYTES.items() if first <= n <= last) + "]"


_NEXT = _class(0x80, 0xBF)
_CHARACTER = re.compile(
    f"{_class(0xC2, 0xDF)}{_NEXT}|{_class(0xE0, 0xEF)}{_NEXT}{{2}}|{_class(0xF0, 0xF4)}{_NEXT}{{3}}"
)
#: What may well be what it says, where it stands alone: a letter with an accent, and after it a
#: quote, a sign or a letter of the same kind. Few words end with one of the first letters.
_ORDINARY = re.compile(
    "[ÃÂÄÅ](?:[’”»›–—…®°\u00a0](?![^\\W\\d_])|’[sS]\\b)"
    "|[^ÃÂÄÅ][‘’“”„‚‹›«»–—…™®©°²³¹·§¶\u00a0šœžŸƒªº]"
    "|[^ÃÂ][ŠŒŽ]"
)
#: No word has so many letters with accents, or signs, side by side.
_ACCENTED = re.compile(f"{_class(0x80, 0xFF)}{{3,}}")
#: Nobody writes letters for sounds, or controls, where a plain letter with an accent stood.
_UNLIKELY = re.compile("[\x00-\x9f\u0250-\u0258\u025a-\u02af\u0300-\u036f]")


#: Scripts that stand in one word with Chinese characters.
_WRITTEN_WITH = dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"), "CJK")


def garbled(text: str) -> Oddity | None:
    """Find UTF-8 that was read as cp1252, once or several times, and what it was.

    It is safe to mend if the whole text can be read so, and no byte of it was dropped.
    """
    if text.isascii():
        return None
    mended, whole, lost = text, True, False
    for again in range(3):
        matches = list(_CHARACTER.finditer(mended))
        # one É’ alone is more likely what it says
        unusual = [m for m in matches if len(m[0]) > 2 or not _ORDINARY.match(mended, m.start())]
        once = _CHARACTER.sub(_ungarbled, mended)
        if again:  # what was garbled twice begins with these
            unusual = [match for match in unusual if match[0][0] in "ÃÂâ"]
        if not unusual or once == mended:
            break
        whole &= once == _decoded(mended)
        lost |= any(
            _CHARACTER.sub(_ungarbled, w) not in (w, _decoded(w)) for w in mended.split(" ")
        )
        mended = once
    if mended == text or len(mended) == len(text):
        return _of_another_alphabet(text)
    reason = "letters with accents were read in a wrong encoding"
    scripts = [{_WRITTEN_WITH.get(s := script(c), s) for c in w} for w in _LETTERS.findall(mended)]
    plausible = all(len(each) == 1 for each in scripts)
    if lost or not (whole or (plausible and len(set().union(*scripts)) == 1)):
        return Oddity("garbled", "warning", f"{reason}, and some of them are lost: write it again")
    return Oddity("garbled", "warning", reason, mended, whole and plausible)


def _of_another_alphabet(text: str) -> Oddity | None:
    """Find what an encoding of another alphabet makes of a name: Ìàðèÿ, where Мария was written."""
    if not _ACCENTED.search(text) or not set(text) <= _BYTES.keys():
        return None
    from chatkit.imports.tables.encodings import likely_readings  # babel is slow to load

    data = bytes([_BYTES[c] for c in text])
    readings = [] if data.isascii() else likely_readings(data, lambda _: 0)
    suggestion = readings[0].text if len(readings) == 1 else None
    short = max(map(len, _ACCENTED.findall(text))) < 4  # ÅÄÖ is an abbreviation
    if not readings or text in [r.text for r in readings] or (short and suggestion is None):
        return None
    reason = "its letters were most likely read in the encoding of another alphabet"
    return Oddity("garbled", "warning", reason, suggestion)


def _decoded(text: str) -> str | None:
    """Read a text as the UTF-8 that it was; None if it was not, or not all of it is there."""
    try:
        data = bytes([_BYTES[c] for c in text])
        whole = data.decode()
    except (KeyError, UnicodeDecodeError):
        return None
    again = data.decode("latin-1"), "".join([_SIGNS[byte] for byte in data])
    return whole if text in again else None


def _ungarbled(match: re.Match[str]) -> str:
    try:
        text = bytes(_BYTES[c] for c in match[0]).decode("utf-8")
    except UnicodeDecodeError:
        return match[0]
    return match[0] if _UNLIKELY.match(text) else text


# --- scripts: letters that look like those of another one ---------------------------------

# Letters that look like a Latin letter, from the confusables of Unicode (UTS #39).
_ALIKE: dict[str, tuple[str, str]] = {
    "CYRILLIC": (
        "аАВсСԁеЕԌһНіјЈКІӀМоОрРԛѕЅТѵѴԝԜхХуУҮ",
        "aABcCdeEGhHijJKIIMoOpPqsSTvVwWxXyYY",
    ),
    "GREEK": ("αΑΒΕϜΗιϳͿΚΙΜϺΝοΟρΡΤυνΧγΥΖ", "aABEFHijJKIMMNoOpPTuvXyYZ"),
    "ARMENIAN": ("քցհոռօՕզՏսՍ", "fghnnoOqSuU"),
}
_TO_LATIN = {s: dict(zip(*pair, strict=True)) for s, pair in _ALIKE.items()}
#: The first of several wins: it is the usual one.
_FROM_LATIN = {
    s: {latin: own for own, latin in reversed(pairs.items())} for s, pairs in _TO_LATIN.items()
}
#: In these a word is surely what it looks like, if one of its letters is in no other script.
_SURE = ("LATIN", "CYRILLIC")

_OTHERS = re.compile("[\u0370-\u0587\u1c80-\u1c8f\u1f00-\u1fff\ua640-\ua69f]")
_WORD = re.compile("(?:[^\\W\\d_][\u0300-\u036f]*){2,}")
#: Letters of mathematics, in circles and squares, of full width.
_STYLED = re.compile(
    "[\u2102-\u2134\u249c-\u24e9\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff"
    "\U0001f110-\U0001f169\U0001f170-\U0001f189]"
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
    plain = {c: _SQUARED.get(c) or unicodedata.normalize("NFKC", c) for c in _STYLED.findall(text)}
    letters = {ord(c): p for c, p in plain.items() if len(p) == 1 and p.isalnum()}
    tidy = text.translate(letters)
    if tidy == text:
        return None
    reason = "letters in it are signs that only look like letters: no search finds it"
    return Oddity("styled letters", "warning", reason, tidy, True)


def both_directions(text: str) -> Oddity | None:
    """Find words of both directions side by side: which comes first is anyone's guess."""
    if not right_to_left(text):
        return None
    kinds = {unicodedata.bidirectional(c) for c in text}
    if "L" not in kinds or kinds.isdisjoint(("R", "AL")):
        return None
    reason = "it is read from left to right and from right to left: check the order of its words"
    return Oddity("both directions", "note", reason)


# --- names; ordinary ones are not odd -----------------------------------------------------

_SHORT, _LONG_WORD = 5, 4
#: A longer name is most likely none: cells have run together, or a text stands in their place.
_LONGEST = 200
#: The most usual names: nothing can be odd about them. Of the letters with accents those are
#: left out that begin a garbled one.
_LARGE, _SMALL = "A-ZÀÁÆ-ÖØ-Þ", "a-zß-öø-ÿ"
#: A word is of one script: Latin, Cyrillic, or Chinese, Japanese and Korean.
_USUAL_WORD = f"(?:(?:[{_LARGE}]?[{_SMALL}]++)++|(?:[А-ЯЁ]?[а-яё]++)++|[ぁ-ゖァ-ヺー一-龥가-힣]++)"
_PLAIN = re.compile(f"{_USUAL_WORD}(?:[ '-](?:{_USUAL_WORD}|[0-9]++))*+")
#: Not those of Korean that are blank.
_LEFTOVER = re.compile(
    r"(?<!\S)(?:nan|NaN|NAN|NaT|[Nn]one|NONE|[Nn]ull|NULL|\(null\)|<NA>|[Nn]/[Aa]|undefined|\\N"
    r"|#(?:N/A|REF!|VALUE!|NAME\?|DIV/0!|NUM!|NULL!|#+)|\[object \w+\]"
    r"|\{\{.*?\}\}|\*\|\w+\|\*)(?!\S)"
)
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);")
_LETTERS = re.compile(r"[^\W\d_]+")
_LETTER = re.compile("[^\\W\\d_\u115f\u1160\u3164\uffa0]")


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


def leftover(text: str) -> Oddity | None:
    """Find what a program writes where it has no name: nan, None, #N/A, undefined, {{name}}."""
    if not (matches := _LEFTOVER.findall(text)):
        return None
    rest = " ".join(_LEFTOVER.sub("", text).split())
    reason = f"{matches[0]} is most likely what a program wrote for an empty cell"
    return Oddity("no name", "warning", reason, rest or None)


def entities(text: str) -> Oddity | None:
    """Find characters that are written as HTML has them: O&#039;Neil."""
    if not _ENTITY.search(text):
        return None
    plain = text
    while (once := html.unescape(plain)) != plain:  # some programs escape what is escaped
        plain = once
    if plain == text:
        return None
    safe = plain.isprintable() and not re.search(r"[<>\ufffd]|&#?\w+;?", plain)
    reason = "a program has written characters of it as HTML does"
    return Oddity("HTML entities", "warning", reason, plain, safe)


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
    words = _LETTERS.findall(text)
    if sum(map(len, words)) < _SHORT or max(map(len, words)) < _LONG_WORD:
        return None
    tidy = _LETTERS.sub(lambda word: word[0].capitalize(), text)
    return Oddity("capitals", "note", "it is all capitals", tidy)


# --- several checks -----------------------------------------------------------------------

#: What can be wrong with any text, of several lines too.
TEXT: tuple[Check, ...] = (
    *(garbled, half, lost, partial(control, lines=True), overridden),
    *(invisible, unknown, alike, decomposed),
)
#: What can be wrong with a name.
NAME: tuple[Check, ...] = (
    *(garbled, entities, half, lost, control, direction, invisible, unknown, alike, styled),
    *(decomposed, spaces, lengthy, leftover, letterless, questionable, capitals, both_directions),
)


def of_text(text: str) -> list[Oddity]:
    """Find what is wrong with the characters of any text."""
    return oddities(text, TEXT)


def of_name(text: str) -> list[Oddity]:
    """Find what is odd about a name."""
    plain = len(text) <= _LONGEST and _PLAIN.fullmatch(text)
    if not text or (plain and not _LEFTOVER.search(text) and not _ACCENTED.search(text)):
        return []
    return oddities(text, NAME)


def oddities(text: str, checks: Sequence[Check]) -> list[Oddity]:
    """Find all that is odd about a text.

    Of a garbled text nothing else is told: what follows from it would be found again.
    """
    found = []
    for check in checks:
        if odd := check(text):
            found.append(odd)
            if odd.code == "garbled" and odd.safe:
                break
    return found


def mended(text: str, checks: Sequence[Check], codes: Collection[str]) -> str:
    """Take the safe suggestions of these codes until there is none left."""
    while True:
        found = [odd for odd in oddities(text, checks) if odd.safe and odd.code in codes]
        if not found or found[0].suggestion is None:
            return text
        text = found[0].suggestion
