"""Check one content: its text and placeholders, header, footer, buttons, lengths, settings.

Then hold it against the content in the source language. Each check takes an entry and tells what
it finds (`tell(code, field, message, hint)`); what a code means, and who says so, is in `rules`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from chatkit.localization import language
from chatkit.localization.content import (
    Contents,
    Entry,
    Slot,
    adjacent,
    entries,
    gaps,
    meant,
    part,
    slots,
    stray,
    without_slots,
    words,
)
from chatkit.localization.rules import ContentFinding, FindingLog
from chatkit.localization.typography import emoji
from chatkit.util.display import cut, many, values


def check_content(content: Mapping[str, Any]) -> list[ContentFinding]:
    """Hold one content against what the API document states and the platform publishes.

    How it is worded, in which language, and what its siblings say is up to `audit.check_contents`.

    Args:
        content: Any JSON object; the time this takes is linear in its size.
    """
    tell = FindingLog()
    for entry in entries(content):
        tell.open(entry)
        for check in CONTENT_CHECKS:
            check(entry, tell)
    return tell.found


def check_types(entry: Entry, tell: FindingLog) -> None:
    """Tell which fields have another type than the API document says."""
    for field, said in entry.wrong.items():
        tell("wrong type", field, f"it must be {said}", "The service would not take it.")


# --- lengths ------------------------------------------------------------------------------
# The documents of the platform say "characters" and nothing else. Here a character is a code
# point, as in Python; a program written in JavaScript would count UTF-16 units, of which an emoji
# has two or more. What is within the limit by one count only is unclear, and said to be so.

TEXT_LIMIT, HEADER_LIMIT, FOOTER_LIMIT, LABEL_LIMIT = 1024, 60, 60, 25
#: What the value of a button may have, by its type.
VALUE_LIMITS = {"visit_website": 2000, "call_phone": 20, "copy_offer_code": 15}
OFFER_LIMIT = 600  #: the text of a limited-time offer
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


def text_limit(field: str) -> int:
    """Tell how many characters a text may have that a customer reads."""
    if field in ("text", "footer"):
        return TEXT_LIMIT if field == "text" else FOOTER_LIMIT
    return LABEL_LIMIT if field.startswith("buttons") else HEADER_LIMIT


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
        yield field, what, text, text_limit(field)
    for number, button in enumerate(entry.buttons):
        limit = VALUE_LIMITS.get(part(button, "type"))
        if limit and (value := part(button, "value")):
            yield f"buttons.{number}.value", f"the value of button {number + 1}", value, limit


def check_lengths(entry: Entry, tell: FindingLog) -> None:
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
    if filled > TEXT_LIMIT >= len(entry.text):
        said = f"with its samples filled in the text has {many(filled, 'character')}"
        tell("length with samples", "text", f"{said}, more than {TEXT_LIMIT:,}", _FILLED)


_SHORTER = "A shorter text is within it however it is counted."
_FILLED = "A message as long as this may not arrive: shorten the text."


# --- the text, its placeholders and their samples -----------------------------------------

#: With so many words for each placeholder a text was refused; with more than four it was taken.
_WORDS = 2
#: Scripts that put no space between words, so that nobody can count them so.
_UNSPACED = frozenset(("Hans", "Hant", "Jpan", "Khmr", "Laoo", "Mymr", "Thai"))
_READ = re.compile(r"\w")


def check_text(entry: Entry, tell: FindingLog) -> None:
    """Look at the text: is there one, are its placeholders as they should be."""
    if entry.knows("text") and not entry.text.strip() and not entry.authenticates:
        if "text" not in entry.wrong:
            tell(
                "text empty",
                "text",
                "there must be text",
                "Write one: a content cannot be without.",
            )
        return
    named = entry.flag("parameter_format") not in (None, "", "TEXT")
    placeholders(entry.text, "text", entry.slots, tell, named=named)
    if entry.slots:
        _positions(entry, tell)
    if entry.knows("variables") and "variables" not in entry.wrong:
        _samples(entry, tell)
    offer = any(part(button, "type") == "copy_offer_code" for button in entry.buttons)
    if offer and len(entry.text) > OFFER_LIMIT:
        said = f"the text has {len(entry.text):,} characters"
        tell("length of an offer", "text", f"{said}; a limited-time offer may have {OFFER_LIMIT}")


def placeholders(
    text: str, field: str, found: list[Slot], tell: FindingLog, *, named: bool = False
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
            tell("placeholder name", field, f"{whole} is not a placeholder", hint, at=slot.start)
    if missing := gaps(found):
        said = ", ".join("{{" + str(n) + "}}" for n in missing)
        highest = max((slot for slot in found if slot.number), key=lambda slot: slot.number or 0)
        message = f"{highest} is there, but not {said}"
        tell("placeholder gap", field, message, "Number from 1, without a gap.", at=highest.start)


def _positions(entry: Entry, tell: FindingLog) -> None:
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
        if _READ.search(beside):
            continue
        shown = cut(str(slot), 20)
        if not beside.strip():
            hint = f"Put words {where} it."
            tell("placeholder edge", "text", f"{shown} stands {order}", hint, at=slot.start)
        else:
            said = f"only punctuation stands {where} {shown}"
            hint = "The platform was seen to refuse this as well: put a word there."
            tell("placeholder beside punctuation", "text", said, hint, at=slot.start)
    if language.script(entry.lang_code) not in _UNSPACED:
        enough = _WORDS * len(found)
        count = words(text, enough + 1)
        if count <= enough:
            said = f"{many(count, 'word')} for {many(len(found), 'placeholder')}"
            hint = "The limit is not published; with two words for each a text was refused."
            tell("placeholder ratio", "text", said, hint)


def _samples(entry: Entry, tell: FindingLog) -> None:
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


# --- header and footer --------------------------------------------------------------------

MEDIA = ("image", "video", "document")
_ADDRESS = re.compile(r"https?://[^\s/]+\S*", re.IGNORECASE)
#: Markup the platform shows in a text, but not in a header: *bold*, _italic_, ~strike~, `code`.
_MARKUP = re.compile(r"(?<!\w)([*_~`])(?=\S)[^*_~`\n]+(?<=\S)\1(?!\w)")


def check_header(entry: Entry, tell: FindingLog) -> None:
    """Look at the header and the footer."""
    if len(entry.headers) > 1:
        said = f"there are {len(entry.headers)} headers"
        tell("header count", "headers", said, "A content has one at most: keep the first.")
    for number, header in enumerate(entry.headers):
        if f"headers.{number}" not in entry.wrong:
            _header(header, f"headers.{number}", tell)
    if found := slots(entry.footer):
        said = f"{cut(str(found[0]), 20)} is in the footer"
        hint = "A footer takes no placeholder: move it into the text."
        tell("footer placeholder", "footer", said, hint, at=found[0].start)


def _header(header: Mapping[str, Any], field: str, tell: FindingLog) -> None:
    kind = header.get("type")
    if kind == "text":
        _line(header, field, tell)
    elif kind in MEDIA:
        _medium(header, field, tell)
    else:
        said = f"{values(kind)} is not a type of header"
        tell(
            "header type",
            f"{field}.type",
            said,
            f"It is text, {', '.join(MEDIA[:-1])} or document.",
        )


def _line(header: Mapping[str, Any], field: str, tell: FindingLog) -> None:
    text, place = header.get("text"), f"{field}.text"
    if text is not None and not isinstance(text, str):
        tell("wrong type", place, "it must be text")
        return
    if not text or not text.strip():
        tell("header empty", place, "the header is a line of text without one", "Write it.")
        return
    found = slots(text)
    placeholders(text, place, found, tell)
    if len(found) > 1:
        said = f"the header has {len(found)} placeholders, at most one is allowed"
        tell("header placeholders", place, said, "Move the others down.", at=found[1].start)
    # which of the two fields holds the sample is not documented: either will do
    if found and not (header.get("text_variable") or header.get("parameter")):
        said = f"{cut(str(found[0]), 20)} of the header has no sample"
        tell("sample missing", f"{field}.text_variable", said, "Say what may stand there.")
    if at := re.search("[\r\n]", text):
        tell("header format", place, "a line break is in the header", "Take it out.", at=at.start())
    if markup := _MARKUP.search(text):
        said = f"“{cut(markup[0], 20)}” is shown as it is written"
        hint = "A header knows no bold or italic letters: take the signs out."
        tell("header format", place, said, hint, at=markup.start())


def _medium(header: Mapping[str, Any], field: str, tell: FindingLog) -> None:
    kind, link = header["type"], header.get("link")
    a_kind = f"{'an' if kind == 'image' else 'a'} {kind}"
    if link is not None and not isinstance(link, str):
        tell("wrong type", f"{field}.link", "it must be text")
    elif not link and not header.get("parameter"):
        said = f"the {kind} of the header has no sample"
        tell("header media", f"{field}.link", said, f"Give the address of {a_kind}.")
    elif link and not _ADDRESS.fullmatch(link):
        said = f"{values(link)} is not a web address"
        tell("header media", f"{field}.link", said, "It begins with https://.")
    if part(header, "text").strip():
        said = f"the header is {a_kind}, its line of text is not shown"
        tell("header surplus", f"{field}.text", said, "Move it into the text.")


# --- buttons: how many of which kind, in which order, what each needs ---------------------

#: How many buttons there may be of each type; of all together 10.
TYPES = {
    "custom": 10,
    "visit_website": 2,
    "call_phone": 1,
    "copy_offer_code": 1,
    "view_catalog": 1,
}
MOST = 10
#: The platform itself writes what stands on these.
_FIXED = ("copy_offer_code", "view_catalog")
_DESKTOP = 4  #: from so many buttons on a message is not shown on a computer


def check_buttons(entry: Entry, tell: FindingLog) -> None:
    """Look at all buttons together, then at each."""
    if not entry.buttons:
        return
    kinds = [button.get("type") for button in entry.buttons]
    _together(kinds, tell)
    labels: set[str] = set()
    for number, (button, kind) in enumerate(zip(entry.buttons, kinds, strict=True)):
        field, what = f"buttons.{number}", f"button {number + 1}"
        if field in entry.wrong:
            continue
        if not isinstance(kind, str) or kind not in TYPES:
            said = f"{values(kind)} is not a type of button"
            tell("button type", f"{field}.type", said, f"It is one of {', '.join(TYPES)}.")
            continue
        _label(button, kind, field, what, labels, tell)
        for name in ("value", "country_code", "url_type"):
            if not isinstance(button.get(name), str | None):
                tell("wrong type", f"{field}.{name}", "it must be text")
        if kind == "visit_website":
            _website(button, field, what, tell)
        elif kind == "call_phone":
            _number(button, field, what, tell)
        elif kind == "copy_offer_code" and not part(button, "value").strip():
            said = f"{what} has no code"
            tell("button code", f"{field}.value", said, "Give one as a sample.")


def _together(kinds: list[Any], tell: FindingLog) -> None:
    if len(kinds) > MOST:
        tell("button count", "buttons", f"there are {len(kinds)} buttons", f"{MOST} are allowed.")
    count = Counter(kind for kind in kinds if isinstance(kind, str) and kind in TYPES)
    for kind, times in count.items():
        if times > TYPES[kind]:
            said = f"{times} buttons are {kind}"
            tell("button mix", "buttons", said, f"{TYPES[kind]} may be.")
    if count["view_catalog"] and len(kinds) > 1:
        said = f"view_catalog stands beside {many(len(kinds) - 1, 'other button')}"
        tell("button mix", "buttons", said, "It stands alone.")
    quick = [number for number, kind in enumerate(kinds) if kind == "custom"]
    if quick and quick[-1] - quick[0] >= len(quick):
        said = "other buttons stand between those of type custom"
        tell("button grouping", "buttons", said, "Put all of type custom together.")
    mixed = 0 < len(quick) < len(kinds)
    if len(kinds) >= _DESKTOP or mixed:
        why = "custom and other buttons are mixed" if mixed else f"it has {len(kinds)} buttons"
        said = f"on a computer the message is not shown, as {why}"
        tell("button on desktop", "buttons", said)


def _label(
    button: Mapping[str, Any],
    kind: str,
    field: str,
    what: str,
    labels: set[str],
    tell: FindingLog,
) -> None:
    place = f"{field}.label"
    if not isinstance(button.get("label"), str | None):
        tell("wrong type", place, "it must be text")
        return
    label = part(button, "label")
    if not label.strip():
        if kind not in _FIXED:
            tell("button label", place, f"{what} has no label", "Write what stands on it.")
        return
    if found := slots(label):
        said = f"{cut(str(found[0]), 20)} is in the label of {what}"
        tell("button label placeholder", place, said, "A label takes none.", at=found[0].start)
    if (plain := label.strip().casefold()) in labels:
        said = f"{what} has the same label as another one"
        tell("button label twice", place, said, "Nobody can tell them apart.")
    labels.add(plain)


def _website(button: Mapping[str, Any], field: str, what: str, tell: FindingLog) -> None:
    value, place = part(button, "value"), f"{field}.value"
    if not _ADDRESS.fullmatch(value.strip()):
        said = f"{what} leads to {values(value)}" if value else f"{what} has no address"
        tell("button url", place, said, "It begins with https://.")
        return
    found = slots(value)
    placeholders(value, place, found, tell)
    kind = part(button, "url_type")
    if not found:
        if kind == "dynamic":
            said = f"{what} is dynamic, but its address has no placeholder"
            tell("button url type", f"{field}.url_type", said, "End the address with {{1}}.")
        return
    if len(found) > 1 or found[-1].end != len(value.rstrip()):
        said = f"the address of {what} may have one placeholder, at its end"
        tell("button url", place, said, "Move it to the end.", at=found[0].start)
    if not button.get("dynamic_url"):
        said = f"the placeholder in the address of {what} has no sample"
        tell("button url", f"{field}.dynamic_url", said, "Give a whole address as a sample.")
    if kind == "static":
        said = f"{what} is static, but its address has a placeholder"
        tell("button url type", f"{field}.url_type", said, "Make it dynamic, or take it out.")


def _number(button: Mapping[str, Any], field: str, what: str, tell: FindingLog) -> None:
    value, code = part(button, "value"), part(button, "country_code")
    if not re.fullmatch("[0-9]{4,20}", value):
        said = f"{what} calls {values(value)}" if value else f"{what} has no number"
        tell("button number", f"{field}.value", said, "Write digits only.")
    if not re.fullmatch(r"\+[1-9][0-9]{0,2}", code):
        said = f"{values(code)} is not a country code" if code else f"{what} has no country code"
        tell("button number", f"{field}.country_code", said, "Write it like +44.")


# --- settings: authentication codes, validity, catalogs -----------------------------------

EXPIRY = range(60, 5_401)  #: seconds until a code expires: 1 to 90 minutes
VALIDITY = range(30, 2_592_001)  #: seconds a message is valid: the widest of all categories
AUTHENTICATION_VALIDITY = range(30, 901)
MARKETING = 43_200  #: a marketing message is valid for so long at least, a utility one at most
FOREVER = -1  #: 30 days, for all but marketing messages
APPS = 5
_HASH = re.compile("[A-Za-z0-9+/=]{11}")
_PACKAGE = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)+", re.ASCII)
_PACKAGE_LENGTH = 224
_LINK = re.compile(r"https?://|www\.", re.IGNORECASE)


def check_settings(entry: Entry, tell: FindingLog) -> None:
    """Look at the settings of a content."""
    if entry.authenticates:
        _authentication(entry, tell)
    if entry.knows("auth_code_expiration_seconds"):
        _expiry(entry, tell)
    if entry.apps:
        _apps(entry, tell)
    if entry.knows("validity_period_seconds"):
        _validity(entry, tell)
    if entry.flag("is_catalog") and entry.knows("buttons"):
        kinds = [part(button, "type") for button in entry.buttons]
        if "view_catalog" not in kinds:
            said = "it shows a catalog, but has no button view_catalog"
            tell("catalog", "buttons", said, "Add the button, or set is_catalog to False.")
    elif entry.flag("is_catalog") is False:
        for number, button in enumerate(entry.buttons):
            if part(button, "type") == "view_catalog":
                said = f"button {number + 1} shows a catalog, but is_catalog is False"
                tell("catalog", f"buttons.{number}.type", said, "Set is_catalog to True.")


def _authentication(entry: Entry, tell: FindingLog) -> None:
    if entry.headers:
        tell("authentication", "headers", "it has a header", _NO_HEADER)
    if entry.flag("is_catalog"):
        tell("authentication", "is_catalog", "it shows a catalog", "Set is_catalog to False.")
    if entry.text and (found := _LINK.search(entry.text)):
        tell("authentication", "text", "an address is in the text", _PLAIN, at=found.start())
    if entry.text and (found := emoji(entry.text)):
        tell("authentication", "text", "an emoji is in the text", _PLAIN, at=found.start())
    method = entry.flag("auth_delivery_method")
    if method in ("one_tap", "zero_tap") and entry.knows("auth_apps") and not entry.apps:
        said = f"{method} hands the code to an app, and none is named"
        tell("app count", "auth_apps", said, "Name its package and its signature hash.")


def _expiry(entry: Entry, tell: FindingLog) -> None:
    seconds, field = entry.flag("auth_code_expiration_seconds"), "auth_code_expiration_seconds"
    if field in entry.wrong:
        return
    if entry.flag("auth_add_code_expiration"):
        if seconds is None:
            tell("code expiry", field, "it does not say when the code expires", _MINUTES)
        elif seconds not in EXPIRY:
            tell("code expiry", field, f"the code expires after {seconds:,} seconds", _MINUTES)
        elif seconds % 60:
            said = f"{seconds:,} seconds are not whole minutes"
            tell("code expiry", field, said, "The platform takes minutes.", severity="note")
    elif seconds is not None and entry.flag("auth_add_code_expiration") is False:
        said = f"{seconds:,} seconds do not count, as auth_add_code_expiration is False"
        tell("code expiry unused", field, said)


def _apps(entry: Entry, tell: FindingLog) -> None:
    if len(entry.apps) > APPS:
        said = f"there are {many(len(entry.apps), 'app')}"
        tell("app count", "auth_apps", said, f"{APPS} are allowed.")
    for number, app in enumerate(entry.apps):
        field = f"auth_apps.{number}"
        if field in entry.wrong:
            continue
        package, signature = part(app, "package_name"), part(app, "signature_hash")
        if len(package) > _PACKAGE_LENGTH or not _PACKAGE.fullmatch(package):
            said = f"{values(package)} is not a package name"
            tell("app", f"{field}.package_name", said, "Write it like com.example.shop.")
        if not _HASH.fullmatch(signature):
            said = f"the hash has {many(len(signature), 'character')}"
            hint = "It has 11: letters, digits, +, / and =."
            tell("app", f"{field}.signature_hash", said, hint)


def _validity(entry: Entry, tell: FindingLog) -> None:
    seconds, field = entry.flag("validity_period_seconds"), "validity_period_seconds"
    if field in entry.wrong:
        return
    if not entry.flag("is_custom_validity_period"):
        if seconds is not None and entry.flag("is_custom_validity_period") is False:
            said = f"{seconds:,} seconds do not count, as is_custom_validity_period is False"
            tell("validity unused", field, said)
        return
    allowed = AUTHENTICATION_VALIDITY if entry.authenticates else VALIDITY
    if seconds is None:
        tell("validity", field, "it does not say how long the message is valid", "Say it.")
    elif seconds == FOREVER:
        tell("validity category", field, "-1 means 30 days, but not for marketing")
    elif seconds not in allowed:
        said = f"the message is valid for {seconds:,} seconds"
        tell("validity", field, said, f"{allowed.start} to {allowed.stop - 1:,} are allowed.")
    elif entry.authenticates or seconds == MARKETING:
        return
    elif seconds < MARKETING:
        tell("validity category", field, f"{seconds:,} seconds are too few for marketing")
    else:
        tell("validity category", field, f"{seconds:,} seconds are allowed for marketing only")


_NO_HEADER = "An authentication content takes none."
_PLAIN = "An authentication content takes no addresses, media and emoji."
_MINUTES = f"{EXPIRY.start} to {EXPIRY.stop - 1:,} seconds are allowed."

#: What one content is held against beside its types.
CONTENT_CHECKS = (
    check_types,
    check_text,
    check_lengths,
    check_header,
    check_buttons,
    check_settings,
)


# --- beside the source language -----------------------------------------------------------
# One message is sent to customers of all languages, with the same values and the same buttons. So
# what has to be filled in must be the same; what is read may not be.

_SETTINGS = (
    *("is_catalog", "catalog_format", "is_custom_validity_period", "validity_period_seconds"),
    *("auth_delivery_method", "auth_add_security_recommendation", "auth_add_code_expiration"),
    *("auth_code_expiration_seconds", "parameter_format"),
)
_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_MOST = 50  #: sentences that are looked for
#: A sentence that stands in both by no chance has so many characters, and words.
_LONG, _LONG_WORDS = 20, 4


def check_structure(entry: Entry, source: Entry, tell: FindingLog) -> None:
    """Hold placeholders, header and buttons of a content against those of the source language."""
    of = f"that in {source.lang_code}"
    if entry.knows("text") and source.knows("text"):
        _same_text(entry, source, of, tell)
    if entry.knows("headers") and source.knows("headers"):
        _same_headers(entry, source, of, tell)
    if entry.knows("buttons") and source.knows("buttons"):
        _same_buttons(entry, source, of, tell)


def check_parity(entry: Entry, source: Entry, tell: FindingLog) -> None:
    """Hold a content against the one of the source language, all of it."""
    check_structure(entry, source, tell)
    if entry.knows("footer") and source.knows("footer"):
        _same_footer(entry, source, f"that in {source.lang_code}", tell)
    for name in _SETTINGS:
        if entry.knows(name) and source.knows(name):
            mine, other = entry.flag(name), source.flag(name)
            if mine != other:
                said = f"it is {values(mine)}, and {values(other)} in {source.lang_code}"
                tell("settings differ", name, said)
    if language.base(entry.lang_code) != language.base(source.lang_code):
        _untranslated(entry, source, tell)


def _same_footer(entry: Entry, source: Entry, of: str, tell: FindingLog) -> None:
    mine, other = entry.footer.strip(), source.footer.strip()
    if mine and not other:
        tell("footer differs", "footer", f"it has a footer, {of} has none")
    elif other and not mine:
        tell("footer differs", "footer", f"it has no footer, {of} has one")


def _same_text(entry: Entry, source: Entry, of: str, tell: FindingLog) -> None:
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
    return ", ".join("{{" + cut(name, 20) + "}}" for name in sorted(names, key=_by_number)[:5])


def _by_number(name: str) -> tuple[int, str]:
    return (int(name) if name.isdecimal() and len(name) < 10 else 10**10), name


def _is(names: set[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _same_headers(entry: Entry, source: Entry, of: str, tell: FindingLog) -> None:
    given, wanted = (
        [(header.get("type"), len(slots(part(header, "text")))) for header in one.headers]
        for one in (entry, source)
    )
    if given == wanted:
        return
    mine, others = ([(values(kind), count) for kind, count in side] for side in (given, wanted))
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


def _same_buttons(entry: Entry, source: Entry, of: str, tell: FindingLog) -> None:
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
        _same_button(button, other, number, source.lang_code, tell)


def _same_button(
    button: Mapping[str, Any], other: Mapping[str, Any], number: int, lang: str, tell: FindingLog
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
        for name in () if address else ("country_code", "value"):  # typography looks at addresses
            one, two = button.get(name), other.get(name)
            if _written(one) != _written(two):
                said = f"{what} has {values(one)}, and {values(two)} in {lang}"
                tell("button value differs", f"{field}.{name}", said, "It may be meant so.")
                break


def _written(value: Any) -> str:
    return "" if value is None else str(value)


# --- what was not translated ----------------------------------------------------------------


def _untranslated(entry: Entry, source: Entry, tell: FindingLog) -> None:
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
            said = f"{what} is that of {source.lang_code}"
            if may_be_alike(field, text, source.lang_code):
                tell("same as source", field, said)
            else:
                tell("untranslated", field, said, "Translate it.")


def may_be_alike(field: str, text: str, lang_code: str) -> bool:
    """Whether a text may be the same in another language: one word, a name in the footer."""
    first = [word[0] for word in re.findall(r"\w+", text)]
    name = field == "footer" and all(letter.isupper() or letter.isdigit() for letter in first)
    return name or (language.spaced(lang_code) and words(text) < 2)


def sentences(source: Entry) -> list[str]:
    """Return the sentences of a text that would stand in another language by no chance."""
    parts = _SENTENCE.split(source.text, _MOST)[:_MOST]
    return [s for s in map(str.strip, parts) if len(s) >= _LONG and s.count(" ") >= _LONG_WORDS - 1]


def _speaks(text: str) -> bool:
    """Whether there are words in a text, beside its placeholders."""
    return _LETTER.search(without_slots(text)) is not None


_VALUES = "Messages are sent with the same values in every language."
_ORDER = "Messages are sent with the same buttons in every language."
