"""Lengths: how long each text is, as far as it can be known how the platform counts.

Its documents say "characters" and nothing else. Here a character is a code point, as in Python;
a program written in JavaScript would count UTF-16 units, of which an emoji has two or more. What
is within the limit by one count only is unclear, and said to be so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chatkit.display import many
from chatkit.localization.content import Contents, Entry, entries, part
from chatkit.localization.finding import Ledger

TEXT, HEADER, FOOTER, LABEL = 1024, 60, 60, 25
#: What the value of a button may have, by its type.
VALUES = {"visit_website": 2000, "call_phone": 20, "copy_offer_code": 15}
OFFER_TEXT = 600  #: the text of a limited-time offer
NEAR = 0.95  #: a share of the limit from which on a translation may not fit


class Length(NamedTuple):
    """How long one text of a content is, and how long it may be."""

    template_code: str
    lang_code: str
    field: str
    characters: int  #: code points
    utf16: int  #: UTF-16 units
    limit: int

    @property
    def share(self) -> float:
        """The characters as a share of the limit."""
        return self.characters / self.limit


def utf16(text: str) -> int:
    """Count the UTF-16 units of a text."""
    return len(text) if text.isascii() else len(text) + sum(c > "\uffff" for c in text)


def lengths(given: Contents) -> list[Length]:
    """Measure every text that has a limit.

    Args:
        given: A frame of contents, a content, or several.

    Raises:
        InputError: It is none of these.
    """
    return [
        Length(entry.template_code, entry.lang_code, field, len(text), utf16(text), limit)
        for entry in entries(given)
        for field, _, text, limit in _limited(entry)
    ]


def _limited(entry: Entry) -> Iterator[tuple[str, str, str, int]]:
    """Yield each text with a limit: its field, what it is in words, itself, the limit."""
    for field, what, text in entry.pieces:
        if field == "text":
            yield field, what, text, TEXT
        elif field == "footer":
            yield field, what, text, FOOTER
        else:
            yield field, what, text, LABEL if field.startswith("buttons") else HEADER
    for number, button in enumerate(entry.buttons):
        limit = VALUES.get(part(button, "type"))
        if limit and (value := part(button, "value")):
            yield f"buttons.{number}.value", f"the value of button {number + 1}", value, limit


def judge(entry: Entry, tell: Ledger) -> None:
    """Hold every length against its limit."""
    for field, what, text, limit in _limited(entry):
        count = len(text)
        if count > limit:
            over = f"{what} has {count:,} characters, at most {limit:,} are allowed"
            tell("length", field, over, f"Take away {count - limit:,}.", at=limit)
        elif count * 2 > limit and (units := utf16(text)) > limit:
            said = f"{what} has {count:,} characters, but {units:,} if emoji count as two or more"
            tell("length unclear", field, f"{said}; at most {limit:,} are allowed", _SHORTER)
        elif count >= NEAR * limit and not field.startswith("buttons"):
            tell(
                "length near", field, f"{what} has {count / limit:.0%} of its {limit:,} characters"
            )
    if not entry.slots:
        return
    filled = len(entry.text)
    for slot in entry.slots:
        filled += len(part(entry.variables, slot.name)) - (slot.end - slot.start)
    if filled > TEXT >= len(entry.text):
        said = f"with its samples filled in the text has {many(filled, 'character')}"
        tell("length with samples", "text", f"{said}, more than {TEXT:,}", _FILLED)


_SHORTER = "A shorter text is within it however it is counted."
_FILLED = "A message as long as this may not arrive: shorten the text."
