"""Garbled: é that became Ã©, because UTF-8 was read as if it were cp1252."""

from __future__ import annotations

import re
from contextlib import suppress

from chatkit.checks.findings import Oddity


def _byte(code: int) -> dict[str, int]:
    """What one byte became: its sign in cp1252, or where that has none the control character."""
    found = {chr(code): code}
    with suppress(UnicodeDecodeError):
        found[bytes([code]).decode("cp1252")] = code
    return found


_BYTES = {c: code for n in range(0x80, 0x100) for c, code in _byte(n).items()}


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
#: Nobody writes letters for sounds, or controls, where a plain letter with an accent stood.
_UNLIKELY = re.compile("[\x00-\x9f\u0250-\u0258\u025a-\u02af\u0300-\u036f]")


def garbled(text: str) -> Oddity | None:
    """Find UTF-8 that was read as cp1252, once or several times, and what it was."""
    if text.isascii():
        return None
    tidy, sure = text, False
    for again in range(3):
        found = list(_CHARACTER.finditer(tidy))
        # one É’ alone is more likely what it says
        odd = [one for one in found if len(one[0]) > 2 or not _ORDINARY.match(tidy, one.start())]
        once = _CHARACTER.sub(_read, tidy)
        if again:  # what was garbled twice begins with these
            odd = [one for one in odd if one[0][0] in "ÃÂâ"]
        if not odd or once == tidy:
            break
        tidy, sure = once, len(once) < len(tidy)
    if not sure:
        return None
    reason = "letters with accents were read in a wrong encoding"
    return Oddity("garbled", "warning", reason, tidy, True)


def _read(found: re.Match[str]) -> str:
    try:
        text = bytes(_BYTES[c] for c in found[0]).decode("utf-8")
    except UnicodeDecodeError:
        return found[0]
    return found[0] if _UNLIKELY.match(text) else text
