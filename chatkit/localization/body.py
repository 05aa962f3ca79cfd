"""Body: the text of a content, its placeholders and their samples."""

from __future__ import annotations

import re

from chatkit.display import cut, many
from chatkit.localization import language
from chatkit.localization.content import Entry, part
from chatkit.localization.finding import Ledger
from chatkit.localization.lengths import OFFER_TEXT
from chatkit.localization.placeholders import Slot, adjacent, gaps, meant, stray, words

#: With so many words for each placeholder a text was refused; with more than four it was taken.
_WORDS = 2
#: Scripts that put no space between words, so that nobody can count them so.
_UNSPACED = frozenset(("Hans", "Hant", "Jpan", "Khmr", "Laoo", "Mymr", "Thai"))
_READ = re.compile(r"\w")


def judge(entry: Entry, tell: Ledger) -> None:
    """Look at the text: is there one, are its placeholders as they should be."""
    if entry.knows("text") and not entry.text.strip() and not entry.authenticates:
        if "text" not in entry.wrong:
            tell(
                "text empty", "text", "there is no text", "Write one: a content cannot be without."
            )
        return
    named = entry.flag("parameter_format") not in (None, "", "TEXT")
    placeholders(entry.text, "text", entry.slots, tell, named=named)
    if entry.slots:
        _places(entry, tell)
    if entry.knows("variables") and "variables" not in entry.wrong:
        _samples(entry, tell)
    offer = any(part(button, "type") == "copy_offer_code" for button in entry.buttons)
    if offer and len(entry.text) > OFFER_TEXT:
        said = f"the text has {len(entry.text):,} characters"
        tell("length of an offer", "text", f"{said}; a limited-time offer may have {OFFER_TEXT}")


def placeholders(
    text: str, field: str, found: list[Slot], tell: Ledger, *, named: bool = False
) -> None:
    """Look at how the placeholders of a text are written and numbered."""
    if (at := stray(text)) is not None:
        shown = cut(text[max(at - 3, 0) : at + 9], 12)
        said = f"a brace stands alone in “{shown}”"
        tell("placeholder braces", field, said, "A placeholder is written {{1}}.", at=at)
    if not found:
        return
    if named and not all(slot.number for slot in found):
        return  # the API document shows numbers only, but says that there may be other formats
    for slot in found:
        if not slot.number:
            whole = cut(str(slot), 30)
            tidy = meant(slot)
            hint = f"Write {tidy}." if tidy else "Placeholders are numbered: {{1}}, {{2}}, …"
            tell("placeholder name", field, f"{whole} is no placeholder", hint, at=slot.start)
    if missing := gaps(found):
        said = ", ".join("{{" + str(n) + "}}" for n in missing)
        highest = max((slot for slot in found if slot.number), key=lambda slot: slot.number or 0)
        message = f"{highest} is there, but not {said}"
        tell("placeholder gap", field, message, "Number from 1, without a gap.", at=highest.start)


def _places(entry: Entry, tell: Ledger) -> None:
    """Look at where the placeholders stand."""
    text, found = entry.text, entry.slots
    for one, other in adjacent(text, found):
        said = f"nothing stands between {cut(str(one), 20)} and {cut(str(other), 20)}"
        tell("placeholder adjacent", "text", said, "Put a word between them.", at=one.start)
    edges = (
        (found[0], text[: found[0].start], "before", "first"),
        (found[-1], text[found[-1].end :], "after", "last"),
    )
    for slot, beside, where, order in edges:
        shown = cut(str(slot), 20)
        if not beside.strip():
            hint = f"Put words {where} it."
            tell("placeholder edge", "text", f"{shown} stands {order}", hint, at=slot.start)
        elif not _READ.search(beside):
            said = f"only punctuation stands {where} {shown}"
            hint = "The platform was seen to refuse this as well: put a word there."
            tell("placeholder beside punctuation", "text", said, hint, at=slot.start)
    if language.script(entry.lang_code) not in _UNSPACED:
        count = words(text)
        if count <= _WORDS * len(found):
            said = f"{many(count, 'word')} for {many(len(found), 'placeholder')}"
            hint = "The limit is not published; with two words for each a text was refused."
            tell("placeholder ratio", "text", said, hint)


def _samples(entry: Entry, tell: Ledger) -> None:
    """Look for samples that are missing, or for nothing."""
    names = dict.fromkeys(slot.name for slot in entry.slots)
    for name in names:
        value = entry.variables.get(name)
        field = f"variables.{cut(name, 20)}"
        if value is not None and not isinstance(value, str):
            tell("wrong type", field, "it must be text", "Write it in quotes.")
        elif not (value and value.strip()):
            said = f"{{{{{cut(name, 20)}}}}} has no sample"
            tell("sample missing", field, said, "Say what may stand there, like a name.")
    for name in entry.variables:
        if name not in names:
            shown = cut(str(name), 20)
            said = f"there is a sample for {{{{{shown}}}}}, which is not in the text"
            tell("sample surplus", f"variables.{shown}", said, "Take it away, or use it.")
