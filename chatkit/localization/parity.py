"""Parity: a content beside the one of the source language.

One message is sent to customers of all languages, with the same values and the same buttons. So
what has to be filled in must be the same; what is read may not be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from chatkit.display import cut, many, values
from chatkit.localization import language
from chatkit.localization.content import Entry, part
from chatkit.localization.placeholders import plain, slots
from chatkit.localization.rules import Ledger

_SETTINGS = (
    *("is_catalog", "catalog_format", "is_custom_validity_period", "validity_period_seconds"),
    *("auth_delivery_method", "auth_add_security_recommendation", "auth_add_code_expiration"),
    *("auth_code_expiration_seconds", "parameter_format"),
)
_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_MOST = 50  #: sentences that are looked for
_LONG, _WORDS = 20, 4  #: a sentence that stands in both by no chance has so many characters, words


def check_parity(entry: Entry, source: Entry, tell: Ledger) -> None:
    """Hold a content against the one of the source language."""
    of = f"that in {source.lang_code}"
    if entry.knows("text") and source.knows("text"):
        _text(entry, source, of, tell)
    if entry.knows("headers") and source.knows("headers"):
        _headers(entry, source, of, tell)
    if entry.knows("buttons") and source.knows("buttons"):
        _buttons(entry, source, of, tell)
    if entry.knows("footer") and source.knows("footer"):
        _footer(entry, source, of, tell)
    for name in _SETTINGS:
        if entry.knows(name) and source.knows(name):
            mine, other = entry.flag(name), source.flag(name)
            if mine != other:
                said = f"it is {values(mine)}, and {values(other)} in {source.lang_code}"
                tell("settings differ", name, said)
    if language.base(entry.lang_code) != language.base(source.lang_code):
        _untranslated(entry, source, tell)


def _footer(entry: Entry, source: Entry, of: str, tell: Ledger) -> None:
    mine, other = entry.footer.strip(), source.footer.strip()
    if mine and not other:
        tell("footer differs", "footer", f"it has a footer, {of} has none")
    elif other and not mine:
        tell("footer differs", "footer", f"it has no footer, {of} has one")


def _text(entry: Entry, source: Entry, of: str, tell: Ledger) -> None:
    mine = {slot.name for slot in entry.slots}
    others = {slot.name for slot in source.slots}
    if mine == others:
        return
    said = []
    if lost := _named(others - mine):
        said.append(f"{lost} of {source.lang_code} {_is(others - mine)} missing")
    if more := _named(mine - others):
        said.append(f"{more} {_is(mine - others)} not in {source.lang_code}")
    first = min((slot.start for slot in entry.slots if slot.name not in others), default=None)
    tell("placeholders differ", "text", " and ".join(said), _VALUES, at=first)


def _named(names: Iterable[str]) -> str:
    return ", ".join("{{" + cut(name, 20) + "}}" for name in sorted(names, key=_order)[:5])


def _order(name: str) -> tuple[int, str]:
    return (int(name) if name.isdecimal() and len(name) < 10 else 10**10), name


def _is(names: set[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _headers(entry: Entry, source: Entry, of: str, tell: Ledger) -> None:
    mine, others = (
        [(values(header.get("type")), len(slots(part(header, "text")))) for header in one.headers]
        for one in (entry, source)
    )
    if mine == others:
        return
    if [kind for kind, _ in mine] != [kind for kind, _ in others]:
        mine_said, others_said = (
            " and ".join(kind.strip('"') for kind, _ in side) or "none" for side in (mine, others)
        )
        said = f"the header is {mine_said}, {of} is {others_said}"
        tell("header differs", "headers", said)
        return
    said = f"the header has other placeholders than {of}"
    tell("header differs", "headers.0.text", said, _VALUES)


def _buttons(entry: Entry, source: Entry, of: str, tell: Ledger) -> None:
    mine, others = ([button.get("type") for button in one.buttons] for one in (entry, source))
    if mine != others:
        if len(mine) != len(others):
            said = f"it has {many(len(mine), 'button')}, {of} has {len(others)}"
            tell("buttons differ", "buttons", said, _ORDER)
            return
        order = sorted(map(repr, mine)) == sorted(map(repr, others))
        what = "in another order" if order else "of other types"
        tell(
            "buttons differ",
            "buttons",
            f"the buttons are {what} than in {source.lang_code}",
            _ORDER,
        )
        return
    for number, (button, other) in enumerate(zip(entry.buttons, source.buttons, strict=True)):
        _button(button, other, number, source.lang_code, tell)


def _button(
    button: Mapping[str, Any], other: Mapping[str, Any], number: int, lang: str, tell: Ledger
) -> None:
    field, what = f"buttons.{number}", f"button {number + 1}"
    address = button.get("type") == "visit_website"
    asks = [{slot.name for slot in slots(part(one, "value"))} for one in (button, other)]
    if address and asks[0] != asks[1]:
        has = "has a placeholder" if asks[0] else "has no placeholder"
        said = f"the address of {what} {has}, unlike that in {lang}"
        tell("buttons differ", f"{field}.value", said, _VALUES)
    elif address and part(button, "url_type") != part(other, "url_type"):
        mine, theirs = values(button.get("url_type")), values(other.get("url_type"))
        said = f"the address of {what} is {mine}, and {theirs} in {lang}"
        tell("buttons differ", f"{field}.url_type", said)
    elif button.get("type") != "custom":
        for name in ("country_code", "value"):
            one, two = button.get(name), other.get(name)
            if _shape(one) != _shape(two):
                said = f"{what} has {values(one)}, and {values(two)} in {lang}"
                tell("button value differs", f"{field}.{name}", said, "It may be meant so.")
                break


def _shape(value: Any) -> str:
    return "" if value is None else str(value)


# --- what was not translated ------------------------------------------------------------------


def _untranslated(entry: Entry, source: Entry, tell: Ledger) -> None:
    """Find texts, and sentences, that are still those of the source language."""
    if entry.text:
        if entry.text.strip() == source.text.strip() and _speaks(entry.text):
            said = f"the text is that of {source.lang_code}"
            tell("untranslated", "text", said, "Translate it.")
        else:
            for sentence in sentences(source):
                if (at := entry.text.find(sentence)) >= 0:
                    said = f"“{cut(sentence, 40)}” stands as in {source.lang_code}"
                    tell("untranslated", "text", said, "Translate it.", at=at)
                    break
    originals = {field: text.strip() for field, _, text in source.pieces}
    for field, what, text in entry.pieces:
        if field != "text" and originals.get(field) == text.strip() and _speaks(text):
            tell("same as source", field, f"{what} is that of {source.lang_code}")


def sentences(source: Entry) -> list[str]:
    """Return the sentences of a text that would stand in another language by no chance."""
    parts = _SENTENCE.split(source.text, _MOST)[:_MOST]
    return [s for s in map(str.strip, parts) if len(s) >= _LONG and s.count(" ") >= _WORDS - 1]


def _speaks(text: str) -> bool:
    """Whether there are words in a text, beside its placeholders."""
    return _LETTER.search(plain(text)) is not None


_VALUES = "Messages are sent with the same values in every language."
_ORDER = "Messages are sent with the same buttons in every language."
