"""Escapes for characters that files and programs lose, which a person can read.

A control character, a carriage return or a line separator becomes ⟨U+000D⟩, its number between
brackets. XML cannot hold most of them, and editors drop or change the rest. A text that looks so
by itself gets its first bracket spelled out, ⟨U+27E8⟩U+000D⟩, so that every text comes back.
"""

from __future__ import annotations

import re

_CHARACTERS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"
_LOST = re.compile(rf"[{_CHARACTERS}]|⟨(?=U\+[0-9A-F]{{4}}⟩)")
_SPELLED = re.compile(r"⟨U\+([0-9A-F]{4})⟩")
_OURS = re.compile(f"[{_CHARACTERS}⟨]")


def escape_controls(text: str) -> str:
    """Spell out what would be lost on the way."""
    return _LOST.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def unescape_controls(text: str) -> str:
    """Take back what `escape_controls` has done; what it never writes stays as it is."""
    return _SPELLED.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if _OURS.fullmatch(character) else found[0]
