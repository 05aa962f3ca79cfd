"""Formula guard: no text becomes a formula when a spreadsheet program opens a file.

Texts come from strangers, and `=HYPERLINK(…)` in a name would run on the machine of whoever
opens the file. Such a text gets an apostrophe in front; reading takes exactly that one off, so
what comes back in is what went out. `+91` is such a text, too: it would become the number 91.
"""

from __future__ import annotations

import re

# What a program takes for a formula, whatever blanks, quotes or apostrophes stand before it.
_FORMULA = r"(?=['\"\s\x00-\x1f]*[=+\-@＝＋－＠])"
# A control character in front may be dropped by a program, and an empty text is not seen at all.
_UNSEEN = r"\A(?='*(?:[\x00-\x1f]|\Z))"
# A program that splits cells at other characters than we do begins a cell after these.
_START = r"(?:\A|(?<=[;|\t\r\n]))"

_RISKY = re.compile(f"{_UNSEEN}|{_START}{_FORMULA}")
_SHIELDED = re.compile(rf"\A'(?='*(?:[\x00-\x1f]|\Z))|{_START}'{_FORMULA}")
_LOOKS_SHIELDED = re.compile(rf"\A(?='(?:'*[\x00-\x1f]|'*\Z))|\A\Z|{_START}(?='){_FORMULA}")


def shielded(text: str) -> str:
    """Put apostrophes where a text could begin a formula in a CSV file."""
    return _RISKY.sub("'", text)


def marked(text: str) -> str:
    """Put apostrophes only where `bare` would take one off: the cell is known to be text."""
    return _LOOKS_SHIELDED.sub("'", text)


def bare(text: str) -> str:
    """Take off the apostrophes that `shielded` or `marked` has put on."""
    return _SHIELDED.sub("", text) if "'" in text else text
