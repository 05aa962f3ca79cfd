"""Characters: checks for what is invisible, ambiguous or wrong in a text or a name.

Each check takes a text and returns a finding, or None. A suggestion that is safe can be taken
without looking: it reads as the text was meant to be read.
"""

from __future__ import annotations

import html
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeAlias

from chatkit.report import Finding
from chatkit.util.display import find_invisible_characters, is_right_to_left, many

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFinding(Finding):
    """A finding about a text, or about a cell of a frame."""

    suggestion: str | None = None  #: the text as it may be meant
    safe: bool = False  #: whether the suggestion surely is what was meant
    row: Any = None  #: what the frame calls the row
    place: int = 0  #: which row it is; the first is 0
    value: Any = None  #: what is in the cell, None for nothing

    def __post_init__(self) -> None:
        if self.suggestion:
            object.__setattr__(self, "hint", f"Write it as {self.suggestion}")

    @property
    def field(self) -> str:
        """The column of the cell."""
        return self.pointer.removeprefix("/")


Check: TypeAlias = Callable[[str], CellFinding | None]

_OVERRIDES = "\u202d\u202e"
_STEERING = _OVERRIDES + "\u202a\u202b\u202c\u2066\u2067\u2068\u2069"
_DIRECTION = _STEERING + "\u061c\u200e\u200f"
#: The kinds of characters that are not seen, by category; all others are "invisible".
_KINDS = {
    **dict.fromkeys(("Cc", "Zl", "Zp"), "control"),
    **dict.fromkeys(("Cn", "Co"), "unknown"),
    "Cs": "half",
}
#: A flag like that of Scotland is spelled with characters that are not seen.
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")
#: Controls that end a word, as a space does.
_BREAKS = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]+")
_UNUSUAL_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f]")
_RUNS = re.compile("([ \u3000]) +| +(?=\u3000)|(\u3000)\u3000+")
_EDGES = " \u3000"
#: A letter and the marks that follow it; and the parts of a Korean syllable.
_CLUSTER = re.compile(
    "[^\\W\\d_][\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a]+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"
)


def _make_finding(
    name: str, text: str, tidy: str = "", *, safe: bool = True, **parts: object
) -> CellFinding:
    """Make a finding with the code, severity and message in `characters.toml`.

    Args:
        name: Its name there.
        text: The text.
        tidy: The text as it may be meant; one that leaves nothing of the text is no suggestion.
        safe: Whether it surely is meant so.
        **parts: What the message names.
    """
    code, severity, message = _DATA["findings"][name]
    suggestion = tidy if tidy.strip(_EDGES) and tidy != text else None
    message = message.format(**parts)
    safe = safe and suggestion is not None
    return CellFinding(code, severity, "/name", message, suggestion=suggestion, safe=safe)


def _make_check(
    name: str, find: Callable[[str], object], tidy: Callable[[str], str] = str, *, safe: bool = True
) -> Check:
    """Make a check that returns a finding where `find` matches."""

    def check(text: str) -> CellFinding | None:
        """Return a finding if `find` matches the text."""
        if not (matches := find(text)):
            return None
        names = _format_code_points(matches) if isinstance(matches, list) else ""
        return _make_finding(name, text, tidy(text), safe=safe, names=names)

    return check


@lru_cache(1)  # the checks of a text ask for its characters one after the other
def _group_unseen(text: str) -> Mapping[str, dict[int, str]]:
    """Group the invisible characters of a text by kind, each by position, except those of flags."""
    ordinary = text.isascii() and text.isprintable()  # as most are
    places = () if ordinary else find_invisible_characters(text)
    flags = {n for match in _FLAG.finditer(text) for n in range(*match.span())} if places else ()
    groups: dict[str, dict[int, str]] = {}
    for n in places:
        c = text[n]
        kind = "direction" if c in _DIRECTION else _KINDS.get(unicodedata.category(c), "invisible")
        if n not in flags:
            groups.setdefault(kind, {})[n] = c
    return groups


def _format_code_points(characters: Iterable[str]) -> str:
    """Format the code points of characters, the first three of them: (U+200B, U+200C)."""
    names = dict.fromkeys(f"U+{ord(c):04X}" for c in characters)
    few = ", ".join(list(names)[:3])
    return f" ({few}{', …' if len(names) > 3 else ''})"


# --- any text -----------------------------------------------------------------------------


#: Halves of characters.
find_half_chars = _make_check("half", lambda text: "half" in _group_unseen(text))
#: The sign that stands where a program could not read a letter.
find_lost_chars = _make_check("lost", re.compile("\ufffd").search)
#: Characters that mean nothing, or another thing on each machine.
find_unknown = _make_check(
    "unknown", lambda text: [*_group_unseen(text).get("unknown", {}).values()]
)
#: Marks that make letters read backwards; other marks have their use in a long text.
find_overrides = _make_check(
    "overridden",
    re.compile(f"[{_OVERRIDES}]").findall,
    partial(re.sub, f"[{_OVERRIDES}]", ""),
    safe=False,
)


def find_direction_marks(text: str) -> CellFinding | None:
    """Find marks that change the direction of reading."""
    if not (marks := re.findall(f"[{_DIRECTION}]", text)):
        return None
    name = "direction" if set(marks).isdisjoint(_STEERING) else "steering"
    tidy = re.sub(f"[{_DIRECTION}]", "", text)
    return _make_finding(name, text, tidy, names=_format_code_points(marks))


def find_controls(text: str, *, lines: bool = False) -> CellFinding | None:
    """Find control characters; those that end a word become a space.

    Args:
        text: Any text.
        lines: Whether it may have several lines.
    """
    unseen = _group_unseen(text).get("control", {}).values()
    controls = [c for c in unseen if not (lines and c == "\n")]
    if not controls:
        return None
    parts = text.replace("\r\n", "\n").split("\n") if lines else [text]
    spaced = (_BREAKS.sub(" ", part) for part in parts)
    tidy = "\n".join(re.sub("[\0-\x1f\x7f-\x9f]", "", part) for part in spaced)
    name = "break" if all(map(_BREAKS.match, controls)) else "control"
    return _make_finding(name, text, tidy, names=_format_code_points(controls))


def find_invisible(text: str) -> CellFinding | None:
    """Find invisible characters that do not change how other characters look."""
    if not (hidden := _group_unseen(text).get("invisible")):
        return None
    tidy = "".join([c for n, c in enumerate(text) if n not in hidden])
    count, names = many(len(hidden), "character"), _format_code_points(hidden.values())
    return _make_finding("invisible", text, tidy, count=count, names=names)


def _join_accents(text: str) -> str:
    """Join accents with their letters; a letter that would not become shorter stays."""

    def compose_cluster(match: re.Match[str]) -> str:
        return min(match[0], unicodedata.normalize("NFC", match[0]), key=len)

    return text if text.isascii() else _CLUSTER.sub(compose_cluster, text)


#: Accents that stand apart from their letter: no search finds é by e and an accent.
find_decomposed = _make_check("decomposed", lambda text: _join_accents(text) != text, _join_accents)


def find_spaces(text: str) -> CellFinding | None:
    """Find spaces at the edges, several together, and unusual ones."""
    if text.isascii() and text == text.strip(" ") and "  " not in text:
        return None
    plain = _UNUSUAL_SPACES.sub(" ", text)
    tidy = inner = plain.strip(_EDGES)
    while (fewer := _RUNS.sub(lambda run: run[1] or run[2] or "", tidy)) != tidy:
        tidy = fewer
    faults = {
        f"has an unusual space{_format_code_points(_UNUSUAL_SPACES.findall(text))}": plain != text,
        "begins with a space": plain.lstrip(_EDGES) != plain,
        "ends with a space": plain.rstrip(_EDGES) != plain,
        "has several spaces together": tidy != inner,
    }
    names = ", ".join(fault for fault, applies in faults.items() if applies)
    return _make_finding("spaces", text, tidy, faults=names) if names else None


# --- a wrong encoding: é that became Ã©, because UTF-8 was read as cp1252 -----------------


#: The sign of each byte in cp1252; the five that it lacks are control characters.
_SIGNS = [bytes([code]).decode("cp1252", "ignore") or chr(code) for code in range(0x100)]
_BYTES = {chr(code): code for code in range(0x100)} | {c: code for code, c in enumerate(_SIGNS)}


def _build_byte_class(first: int, last: int) -> str:
    """Build a class of a regular expression for the signs of a range of bytes."""
    return "[" + "".join(re.escape(c) for c, n in _BYTES.items() if first <= n <= last) + "]"


_NEXT = _build_byte_class(0x80, 0xBF)
_CHARACTER = re.compile(
    f"{_build_byte_class(0xC2, 0xDF)}{_NEXT}|{_build_byte_class(0xE0, 0xEF)}{_NEXT}{{2}}"
    f"|{_build_byte_class(0xF0, 0xF4)}{_NEXT}{{3}}"
)
#: What may well be what it says, where it stands alone: a letter with an accent, and after it a
#: quote, a sign or a letter of the same kind. Few words end with one of the first letters.
_ORDINARY = re.compile(
    "[ÃÂÄÅ](?:[’”»›–—…®°\u00a0](?![^\\W\\d_])|’[sS]\\b)"
    "|[^ÃÂÄÅ][‘’“”„‚‹›«»–—…™®©°²³¹·§¶\u00a0šœžŸƒªº]"
    "|[^ÃÂ][ŠŒŽ]"
)
#: No word has so many letters with accents, or signs, side by side.
_ACCENTED = re.compile(f"{_build_byte_class(0x80, 0xFF)}{{3,}}")
#: Nobody writes letters for sounds, or controls, where a plain letter with an accent stood.
_UNLIKELY = re.compile("[\x80-\x9f\u0250-\u0258\u025a-\u02af\u0300-\u036f]")


#: What is left where bytes were dropped: a sign between letters.
_DAMAGED = re.compile("[À-ÖØ-öø-ÿ][\x80-\xa9«-\xb1´-¶¸¹»-¿€‚ƒ„†‡ˆ‰‹˜›](?=[^\\W\\d_])")
#: Scripts that stand in one word with Chinese characters.
_WRITTEN_WITH = dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"), "CJK")


def find_garbled(text: str) -> CellFinding | None:
    """Find UTF-8 that was decoded in another encoding, once or several times, and repair it.

    It is safe to mend if the whole text can be read so, and no byte of it was dropped.
    """
    if text.isascii():
        return None
    mended, complete, lost = text, True, False
    for again in range(3):
        matches = list(_CHARACTER.finditer(mended))
        # one É’ alone is more likely what it says
        unusual = [m for m in matches if len(m[0]) > 2 or not _ORDINARY.match(mended, m.start())]
        repaired = _CHARACTER.sub(_repair_character, mended)
        if again:  # what was garbled twice begins with these
            unusual = [match for match in unusual if match[0][0] in "ÃÂâ"]
        if not unusual or repaired == mended:
            break
        complete &= repaired == _decode_garbled_text(mended)
        lost |= any(
            _CHARACTER.sub(_repair_character, w) not in (w, _decode_garbled_text(w))
            for w in mended.split(" ")
        )
        mended = repaired
    if mended == text or len(mended) == len(text):
        readings = _decode_by_code_pages(text)
        mended, complete, lost = next(iter(readings), text), len(readings) == 1, False
        if mended == text:
            damaged = _make_finding("garbled_and_lost", text) if _DAMAGED.search(text) else None
            return _find_other_alphabet(text) or damaged
    mended = unicodedata.normalize("NFC", mended)
    lost |= any(unicodedata.category(c) == "Cn" for c in mended) or bool(_DAMAGED.search(mended))
    lost |= bool(re.search(r"\bÃ(?=[a-zß-ÿ])", mended))  # no word begins so
    words = _LETTERS.findall(mended)
    scripts = [{_WRITTEN_WITH.get(s := find_script(c), s) for c in w} for w in words]
    plausible = all(len(each) == 1 for each in scripts)
    if lost or not (complete or (plausible and len(set().union(*scripts)) == 1)):
        return _make_finding("garbled_and_lost", text)
    new = {*words} - {*_LETTERS.findall(text)}  # JOSé: its capitals were made of what is garbled
    usual = all(word in (word.lower(), word.upper(), word.capitalize()) for word in new)
    return _make_finding("garbled", text, mended, safe=complete and plausible and usual)


def _decode_by_code_pages(text: str) -> list[str]:
    """Return the plausible originals of UTF-8 text that was decoded in a code page.

    The usual code pages come first. Letters alone, each word in one script, are right: HAVLÍČEK.
    """
    readings: dict[str, None] = {}
    signs = any(not c.isalpha() for c in text if not c.isascii())
    if (signs or not _has_one_script(text)) and not set(text) <= _BYTES.keys():
        for page in _DATA["code_pages"]:
            with suppress(UnicodeError):
                readings[unicodedata.normalize("NFC", text.encode(page).decode())] = None
    return [
        reading
        for reading in readings
        if len(reading) < len(text) and not _UNLIKELY.search(reading) and _has_one_script(reading)
    ]


def _has_one_script(text: str) -> bool:
    """Check if the letters and marks of each word are of one script."""
    words = ([c for c in word if unicodedata.category(c)[0] in "LM"] for word in text.split())
    return all(len({_WRITTEN_WITH.get(s := find_script(c), s) for c in word}) < 2 for word in words)


def _find_other_alphabet(text: str) -> CellFinding | None:
    """Find a name that was decoded in the encoding of another alphabet: Ìàðèÿ for Мария."""
    if not _ACCENTED.search(text) or not set(text) <= _BYTES.keys():
        return None
    from chatkit.imports.tables.delimited import find_likely_decodings  # pandas is slow to load

    data = bytes([_BYTES[c] for c in text])
    readings = [] if data.isascii() else find_likely_decodings(data, lambda _: 0)
    suggestion = readings[0].text if len(readings) == 1 else None
    short = max(map(len, _ACCENTED.findall(text))) < 4  # ÅÄÖ is an abbreviation
    if not readings or text in [r.text for r in readings] or (short and suggestion is None):
        return None
    return _make_finding("other_alphabet", text, suggestion or "", safe=False)


def _decode_garbled_text(text: str) -> str | None:
    """Decode a whole garbled text as UTF-8; None if it is not garbled so."""
    try:
        data = bytes([_BYTES[c] for c in text])
        decoded = data.decode()
    except (KeyError, UnicodeDecodeError):
        return None
    encoded_again = data.decode("latin-1"), "".join([_SIGNS[byte] for byte in data])
    return decoded if text in encoded_again else None


def _repair_character(match: re.Match[str]) -> str:
    """Decode the signs of one garbled character; leave an unlikely one as it is."""
    try:
        text = bytes(_BYTES[c] for c in match[0]).decode("utf-8")
    except UnicodeDecodeError:
        return match[0]
    letter = match.string[: match.start()][-1:]  # an accent may be apart from its letter
    plain = unicodedata.normalize("NFC", letter + text)
    return match[0] if _UNLIKELY.search(plain) else text


# --- scripts: letters that look like those of another one ---------------------------------

_TO_LATIN = {s: dict(zip(*pair, strict=True)) for s, pair in _DATA["alike"].items()}
#: The first of several wins: it is the usual one.
_FROM_LATIN = {
    s: {latin: own for own, latin in reversed(pairs.items())} for s, pairs in _TO_LATIN.items()
}
#: In these a word is surely what it looks like, if one of its letters is in no other script.
_SURE = ("LATIN", "CYRILLIC")

_OTHER_SCRIPTS = re.compile("[\u0370-\u0587\u1c80-\u1c8f\u1f00-\u1fff\ua640-\ua69f]")
_WORD = re.compile("(?:[^\\W\\d_][\u0300-\u036f]*){2,}")
#: Letters of mathematics, in circles and squares, of full width.
_STYLED = re.compile(
    "[\u2102-\u2134\u249c-\u24e9\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff"
    "\U0001f110-\U0001f169\U0001f170-\U0001f189]"
)
_SQUARED = {chr(code): chr((code - 0x1F130) % 32 + 65) for code in range(0x1F150, 0x1F18A)}


@lru_cache(4096)
def find_script(c: str) -> str:
    """Return the script of a letter as Unicode names it: LATIN."""
    return unicodedata.name(c, "").partition(" ")[0]


def find_lookalikes(text: str) -> CellFinding | None:
    """Find words with letters of two scripts that look alike; suggest one script."""
    if text.isascii() or not _OTHER_SCRIPTS.search(text):
        return None
    sure, mixed = True, set[str]()

    def convert(match: re.Match[str]) -> str:
        """Return a word in one script if it can be written so."""
        nonlocal sure, mixed
        word = match[0]
        scripts = Counter(s for c in word if (s := find_script(c)) in _TO_LATIN or s == "LATIN")
        if len(scripts) < 2:
            return word
        mixed |= scripts.keys()
        readings = {s: _convert_to_script(word, s) for s, _ in scripts.most_common()}
        options = {s: reading for s, reading in readings.items() if reading}
        sure &= len(options) == 1 and not options.keys().isdisjoint(_SURE)
        return next(iter(options.values()), word)

    tidy = _WORD.sub(convert, text)
    names = " and ".join(sorted(s.title() for s in mixed))
    name = "mixed" if tidy == text else "alike"
    return _make_finding(name, text, tidy, safe=sure, scripts=names) if mixed else None


def _convert_to_script(word: str, main: str) -> str | None:
    """Replace the letters of a word by lookalikes of one script; None if one has none."""
    letters = []
    for c in word:
        own = find_script(c)
        if own != main and (own in _TO_LATIN or own == "LATIN"):
            letter, accents = (apart := unicodedata.normalize("NFD", c))[0], apart[1:]
            latin = letter if own == "LATIN" else _TO_LATIN[own].get(letter)
            other = latin if main == "LATIN" else _FROM_LATIN[main].get(latin or "")
            if other is None:
                return None
            c = unicodedata.normalize("NFC", other + accents)
        letters.append(c)
    return "".join(letters)


def _replace_styled(text: str) -> str:
    """Replace letters that are styled signs by plain ones."""
    signs = {*_STYLED.findall(text)}
    plain = {ord(c): _SQUARED.get(c) or unicodedata.normalize("NFKC", c) for c in signs}
    return text.translate({c: p for c, p in plain.items() if len(p) == 1 and p.isalnum()})


#: Letters that are signs of their own: bold ones of mathematics, letters in circles.
find_styled = _make_check("styled", lambda text: _replace_styled(text) != text, _replace_styled)


def _has_both_directions(text: str) -> bool:
    """Check if a text has letters of both directions of writing."""
    if text.isascii() or not is_right_to_left(text):
        return False
    kinds = {unicodedata.bidirectional(c) for c in text}
    return "L" in kinds and not kinds.isdisjoint(("R", "AL"))


#: Words of both directions side by side: which comes first is anyone's guess.
find_both_directions = _make_check("both_directions", _has_both_directions)


# --- names; ordinary ones are not odd -----------------------------------------------------

#: A longer name is most likely none: cells have run together, or a text stands in their place.
_MAX_NAME = 200
#: The most usual names: nothing can be odd about them. Of the letters with accents those are
#: left out that begin a garbled one.
_LARGE, _SMALL = "A-ZÀÁÆ-ÖØ-Þ", "a-zß-öø-ÿ"
#: A word is of one script: Latin, Cyrillic, or Chinese, Japanese and Korean.
_USUAL_WORD = f"(?:(?:[{_LARGE}]?[{_SMALL}]++)++|(?:[А-ЯЁ]?[а-яё]++)++|[ぁ-ゖァ-ヺー一-龥가-힣]++)"
_USUAL_NAME = re.compile(f"{_USUAL_WORD}(?:[ '-](?:{_USUAL_WORD}|[0-9]++))*+")
_LEFTOVER = re.compile(
    rf"(?<!\S)(?:{'|'.join(_DATA['leftovers']['patterns'])})(?!\S)"
    rf"|\A\W*(?i:{'|'.join(_DATA['leftovers']['alone'])})\W*\Z"
)
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);")
_LETTERS = re.compile(r"[^\W\d_]+")
#: Not those of Korean that are blank.
_LETTER = re.compile("[^\\W\\d_\u115f\u1160\u3164\uffa0]")


#: Names without any letter.
find_letterless = _make_check("letterless", lambda text: not _LETTER.search(text))
#: A ? inside of a word, where a program had no letter for what was there.
find_question_marks = _make_check("lost_inside", re.compile(r"[^\W\d_]\?+[^\W\d_]").search)


def find_leftovers(text: str) -> CellFinding | None:
    """Find the placeholders of programs for a missing name: nan, None, #N/A, undefined."""
    if not (match := _LEFTOVER.search(text)):
        return None
    remaining = " ".join(_LEFTOVER.sub("", text).split())
    return _make_finding("leftover", text, remaining, safe=False, word=match[0])


#: Names between tags of HTML.
find_tags = _make_check(
    "tags",
    re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE).search,
    lambda text: " ".join(re.sub(r"<[^<>]*>", " ", text).split()),
    safe=False,
)


def find_entities(text: str) -> CellFinding | None:
    """Find characters that are escaped as in HTML: O&#039;Neil."""
    if not _ENTITY.search(text):
        return None
    plain = text
    while (once := html.unescape(plain)) != plain:  # some programs escape what is escaped
        plain = once.replace("\xa0", " ")
    if plain == text:
        return None
    safe = plain.isprintable() and not re.search(r"[<>\ufffd]|&#?\w+;?", plain)
    return _make_finding("entities", text, plain, safe=safe)


def find_overlong(text: str) -> CellFinding | None:
    """Find a text that is too long to be a name."""
    return _make_finding("lengthy", text, count=len(text)) if len(text) > _MAX_NAME else None


# --- several checks -----------------------------------------------------------------------

#: Checks for any text, of several lines too.
TEXT_CHECKS: tuple[Check, ...] = (
    *(find_garbled, find_half_chars, find_lost_chars, partial(find_controls, lines=True)),
    *(find_overrides, find_invisible, find_unknown, find_lookalikes, find_decomposed),
)
#: Checks for a name.
NAME_CHECKS: tuple[Check, ...] = (
    *(find_garbled, find_entities, find_half_chars, find_lost_chars, find_controls),
    *(find_direction_marks, find_invisible, find_unknown, find_lookalikes, find_styled),
    *(find_decomposed, find_spaces, find_overlong, find_leftovers, find_tags, find_letterless),
    *(find_question_marks, find_both_directions),
)


def check_text(text: str) -> list[CellFinding]:
    """Return the findings in any text."""
    return run_checks(text, TEXT_CHECKS)


@lru_cache(4096)
def check_name(text: str) -> Sequence[CellFinding]:
    """Return the findings in a name."""
    plain = len(text) <= _MAX_NAME and _USUAL_NAME.fullmatch(text)
    if not text or (plain and not _LEFTOVER.search(text) and not _ACCENTED.search(text)):
        return ()
    return tuple(run_checks(text, NAME_CHECKS))


def run_checks(text: str, checks: Sequence[Check]) -> list[CellFinding]:
    """Return the findings of several checks in a text.

    A garbled text has no other finding: what follows from it would be found again.
    """
    findings: list[CellFinding] = []
    for check in checks:
        if finding := check(text):
            if findings and findings[0].code == "garbled":
                finding = replace(finding, safe=False)  # it would take what may still be mended
            findings.append(finding)
            if finding.code == "garbled" and finding.safe:
                break
    return findings


def apply_suggestions(text: str, checks: Sequence[Check], codes: Collection[str]) -> str:
    """Apply the safe suggestions that have one of these codes until none is left."""
    tidy: str | None = text
    while tidy is not None:
        text = tidy
        safe = (one for one in run_checks(text, checks) if one.safe and one.code in codes)
        tidy = next((finding.suggestion for finding in safe), None)
    return text
