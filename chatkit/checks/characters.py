"""Characters that are not seen, or not what they seem: in any text, from whoever wrote it.

Each check takes a text and returns what it found, or None. A suggestion that is safe can be
taken without looking: it reads as the text was meant to be read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from chatkit.bulk.value import many, unseen
from chatkit.checks.findings import Oddity

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
    if text.isascii() or not re.search("[\ud800-\udfff]", text):
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
    found = [c for c in _hidden(text) if _kind(c) in ("Cc", "Zl", "Zp") and c not in kept]
    if not found:
        return None
    parts = text.replace("\r\n", "\n").split("\n") if lines else [text]
    tidy = "\n".join(_drop(_BREAKS.sub(" ", part), lambda c: _kind(c) == "Cc") for part in parts)
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
    found = [c for c in _hidden(text) if _kind(c) in ("Cn", "Co")]
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
    kept = _kind(c) in ("Cc", "Zl", "Zp", "Cs", "Cn", "Co")
    return not kept and not re.match(f"[{_DIRECTION}]", c)


def _drop(text: str, unwanted: Callable[[str], bool]) -> str:
    return "".join([c for c in text if not unwanted(c)])


def _kind(c: str) -> str:
    return unicodedata.category(c)


def _named(found: Sequence[str]) -> str:
    names = dict.fromkeys(f"U+{ord(c):04X}" for c in found)
    few = ", ".join(list(names)[:3])
    return f" ({few}{', …' if len(names) > 3 else ''})"


# --- several checks -----------------------------------------------------------------------


def oddities(text: str, checks: Sequence[Check]) -> list[Oddity]:
    """Find all that is odd about a text. What is garbled is not looked at any further."""
    found = []
    for check in checks:
        if odd := check(text):
            found.append(odd)
            if odd.code == "garbled":
                break
    return found


def mended(text: str, checks: Sequence[Check], codes: Collection[str]) -> str:
    """Take the safe suggestions of these codes until there is none left."""
    while True:
        found = [odd for odd in oddities(text, checks) if odd.safe and odd.code in codes]
        if not found or found[0].suggestion is None:
            return text
        text = found[0].suggestion
