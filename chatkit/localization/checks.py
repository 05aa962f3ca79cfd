"""Checks: the rules on contents, and the functions that apply them to one content.

`rules.toml` is the table of the rules: the meaning of each finding, how grave it is, and its
source. A check yields a `Flaw` for each thing that it finds; `audit.CHECKS` is the registry of all
checks.

The API document states types, closed lists and how placeholders are numbered: what breaks
these is an error. Lengths, counts and mixes are rules of the upstream platform, in its own
documents, and the API document says nothing of them: they warn and never block. `refused` marks
those that the platform says it rejects.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from chatkit import numbers
from chatkit.localization import language
from chatkit.localization.content import (
    SLOT,
    Entry,
    Slot,
    count_words,
    find_slots,
    name_field,
    read_text,
    remove_slots,
)
from chatkit.report import Finding, Severity
from chatkit.util.display import cut, many, values, visible
from chatkit.util.json import escape_key, split_pointer

if TYPE_CHECKING:
    from chatkit.localization.glossary import Glossary

_DATA = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))


#: Words that rules look for.
LISTS: Mapping[str, Any] = _DATA["lists"]


class Rule(NamedTuple):
    """The meaning of a finding code: its severity, its source, whether the content is refused."""

    severity: Severity
    source: str
    refused: bool = False
    #: The message and the hint of its findings, by name; a single one is called "message".
    messages: Mapping[str, tuple[Template, Template]] = {}


_GRAVITIES: dict[str, tuple[Severity, bool]] = {
    "error": ("error", True),
    "refused": ("warning", True),
    "warning": ("warning", False),
    "note": ("note", False),
}


def _parse_rule(fields: Mapping[str, Any]) -> Rule:
    [gravity] = fields.keys() & _GRAVITIES.keys()
    shared = _DATA["shared"].get(fields.get("messages"), {})
    messages = {
        name: (Template(texts[0]), Template("".join(texts[1:])))
        for name, texts in {**shared, **fields}.items()
        if name not in (gravity, "messages")
    }
    source = Template(fields[gravity]).substitute(_DATA["sources"])
    severity, refused = _GRAVITIES[gravity]
    return Rule(severity, source, refused, messages)


RULES: dict[str, Rule] = {code: _parse_rule(fields) for code, fields in _DATA["rules"].items()}

#: Codes of `chatkit.imports.characters` for the characters of a text, none of them refused.
CHARACTERS = (
    *("garbled", "lost letters", "control characters", "direction marks", "invisible"),
    *("unknown characters", "look-alike", "mixed scripts", "decomposed"),
)
#: Codes that `client.templates.silence` takes.
CAN_BE_SILENCED = (*(code for code, rule in RULES.items() if not rule.refused), *CHARACTERS)

#: Codes of a content whose source language moved on without it.
STRUCTURE = frozenset(("placeholders differ", "header differs", "buttons differ"))
#: Those of them that `client.templates.accept` can accept.
AGREED = STRUCTURE - {"placeholders differ"}


def get_rule(code: str, severity: Severity = "warning") -> Rule:
    """Return the rule of a code; those of characters come from `chatkit.imports.characters`."""
    return RULES.get(code) or Rule(severity, _DATA["sources"]["UNICODE"], severity == "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentFinding(Finding):
    """One thing to fix, or to know, at one place of one content."""

    template_code: str
    lang_code: str
    position: int | None = None  #: the character of the field where it begins; the first is 0

    @property
    def field(self) -> str:
        """The field as in the API: "buttons.1.label"; the first is 0."""
        return ".".join(split_pointer(self.pointer))

    @property
    def source(self) -> str:
        """The document that states the rule."""
        return get_rule(self.code, self.severity).source

    @property
    def refused(self) -> bool:
        """Return whether the documents say that such a content is refused."""
        return self.severity != "note" and get_rule(self.code, self.severity).refused

    @property
    def content(self) -> str:
        """The content in words."""
        return f"{self.template_code} {self.lang_code}".strip()

    @property
    def place(self) -> str:
        """The place in the content, in words."""
        return self.field if self.position is None else f"{self.field} at {self.position}"

    def __str__(self) -> str:
        where = ", ".join(filter(None, (self.content, self.place)))
        hint = f" {self.hint}" if self.hint else ""
        return visible(f"{self.severity} {self.code} ({where}): {self.message}.{hint}")


class Flaw(NamedTuple):
    """One thing to fix, or to know, as a check finds it in a content."""

    code: str
    field: str  #: as in the API: "buttons.1.label"; the first is 0
    message: str
    hint: str = ""
    position: int | None = None
    severity: Severity | None = None  #: where it is not that of the rule

    def to_finding(self, entry: Entry) -> ContentFinding:
        """Return this flaw as a finding in a content."""
        return ContentFinding(
            code=self.code,
            severity=self.severity or get_rule(self.code).severity,
            pointer="/" + escape_key(self.field).replace(".", "/"),
            message=self.message,
            hint=self.hint,
            template_code=entry.template_code,
            lang_code=entry.lang_code,
            position=self.position,
        )


def flaw(
    name: str,
    field: str,
    position: int | None = None,
    /,
    **parts: object,
) -> Flaw:
    """Build a flaw with the message and the hint of a rule in `rules.toml`.

    Args:
        name: The code, and the name of the message if it has several: "wrong type/sample".
        field: As in the API.
        position: The character where it begins.
        **parts: What the message and the hint name, besides the field in words: `$name`.
    """
    code, _, variant = name.partition("/")
    message, hint = RULES[code].messages[variant or "message"]
    name = name_field(field)
    parts = {"name": name, "button": name.rpartition(" of ")[2]} | parts
    return Flaw(code, field, message.substitute(parts), hint.substitute(parts), position)


class Case(NamedTuple):
    """One content to check, and what it is compared with."""

    entry: Entry
    #: The first contents that were checked: by template and language, and by language and texts.
    firsts: dict[tuple[str, ...], Entry]
    original: Entry | None = None  #: the content it is translated from; None for that itself
    source: str = ""  #: the language that contents are translated from
    glossary: Glossary | None = None


Scope = Literal["content", "state", "advice"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
#: Finds the flaws of some rules in one pass over a content.
Check: TypeAlias = Callable[[Case], Iterator[Flaw]]


def run_checks(case: Case, checks: Iterable[Check]) -> list[ContentFinding]:
    """Run some checks on a content, and return their findings."""
    return [each.to_finding(case.entry) for check in checks for each in check(case)]


def check_types(case: Case) -> Iterator[Flaw]:
    """Find fields of another type than in the API document."""
    for field, expected in case.entry.wrong_types.items():
        yield flaw("wrong type", field, expected=expected)


# --- lengths ------------------------------------------------------------------------------
# The documents of the platform say "characters" and nothing else. Here a character is a code
# point, as in Python; a program written in JavaScript would count UTF-16 units, of which an emoji
# has two or more. What is within the limit by one count only is unclear, and said to be so.

TEXT_LIMIT, HEADER_LIMIT, FOOTER_LIMIT, LABEL_LIMIT = 1024, 60, 60, 25
#: Limits of the value of a button, by its type.
VALUE_LIMITS: Mapping[str, int] = _DATA["buttons"]["characters"]
OFFER_LIMIT = 600  #: the text of a limited-time offer
NEAR = 0.95  #: a share of the limit from which on a translation may not fit


class Length(NamedTuple):
    """The length of one text of a content, and its limit."""

    field: str
    characters: int  #: code points
    limit: int

    @property
    def share(self) -> float:
        """The characters as a share of the limit."""
        return self.characters / self.limit


def count_utf16_units(text: str) -> int:
    """Count the UTF-16 units of a text."""
    return len(text) if text.isascii() else len(text) + sum(c > "\uffff" for c in text)


def get_text_limit(field: str) -> int:
    """Return how many characters a text field may have, like "footer" or "headers.0.text"."""
    if field in ("text", "footer"):
        return TEXT_LIMIT if field == "text" else FOOTER_LIMIT
    return LABEL_LIMIT if field.startswith("buttons") else HEADER_LIMIT


def measure_lengths(entry: Entry) -> list[Length]:
    """Measure every text of a content that has a limit."""
    return [Length(field, len(text), limit) for field, text, limit in _find_limited_texts(entry)]


def _find_limited_texts(entry: Entry) -> Iterator[tuple[str, str, int]]:
    """Yield each text that has a limit, as its field, the text, the limit."""
    for field, _, text in entry.pieces:
        yield field, text, get_text_limit(field)
    for number, button in enumerate(entry.buttons):
        limit = VALUE_LIMITS.get(str(button.get("type")))
        if limit and (value := read_text(button, "value")):
            yield f"buttons.{number}.value", value, limit


def check_lengths(case: Case) -> Iterator[Flaw]:
    """Compare every length with its limit."""
    entry = case.entry
    for field, text, limit in _find_limited_texts(entry):
        count = len(text)
        parts = {"count": f"{count:,}", "limit": f"{limit:,}"}
        if count > limit:
            yield flaw("length", field, limit, more=f"{count - limit:,}", **parts)
        elif count * 2 > limit and (units := count_utf16_units(text)) > limit:
            yield flaw("length unclear", field, units=f"{units:,}", **parts)
        elif count >= NEAR * limit and not field.startswith("buttons"):
            yield flaw("length near", field, share=f"{count / limit:.0%}", **parts)
    samples = _select_text_fields(entry.variables)
    filled = len(entry.text) + sum(
        len(samples.get(slot.name, "")) - (slot.end - slot.start) for slot in entry.slots
    )
    if filled > TEXT_LIMIT >= len(entry.text):
        parts = {"characters": many(filled, "character"), "limit": f"{TEXT_LIMIT:,}"}
        yield flaw("length with samples", "text", **parts)


# --- the text, its placeholders and their samples -----------------------------------------

#: Words per placeholder: a text with so many was refused, one with more than four was taken.
_MIN_WORDS = 2
_READABLE = re.compile(r"\w")
#: Breaks and spaces that the value of a placeholder may not have, and those that look wrong.
_BAD_SPACES = re.compile("(?P<refused>[\r\n\t\v\f\x85\u2028\u2029]| {5,})|  +")
#: Braces that belong to no placeholder; a placeholder stands as a run of NUL.
_STRAY_BRACE = re.compile(r"\{\{|\}\}|\{\s*\d+\s*\}|[｛｝]|\{(?=\0)|(?<=\0)\}")


def check_text(case: Case) -> Iterator[Flaw]:
    """Check that there is a text, that its placeholders are well formed and have samples."""
    entry = case.entry
    if "text" in entry.raw and not entry.text.strip() and not entry.is_authentication:
        if "text" not in entry.wrong_types:
            yield flaw("text empty", "text")
        return
    named = entry.fields.get("parameter_format") not in (None, "", "TEXT")
    yield from _check_placeholders(entry.text, "text", entry.slots, named=named)
    if entry.is_authentication:  # its text is the platform's, which begins or ends with the code
        return
    if entry.slots:
        yield from _check_positions(entry)
    if "variables" in entry.fields:
        yield from _check_samples(entry)
    offer = any(button.get("type") == "copy_offer_code" for button in entry.buttons)
    if offer and len(entry.text) > OFFER_LIMIT:
        yield flaw("length of an offer", "text", count=f"{len(entry.text):,}", limit=OFFER_LIMIT)


def _check_placeholders(
    text: str, field: str, placeholders: Sequence[Slot], *, named: bool = False
) -> Iterator[Flaw]:
    """Check how the placeholders of a text are written and numbered."""
    masked = SLOT.sub(lambda match: "\0" * len(match[0]), text.replace("\0", " "))
    if brace := _STRAY_BRACE.search(masked):
        at = brace.start()
        yield flaw("placeholder braces", field, at, part=cut(text[max(at - 3, 0) : at + 9], 12))
    numbers = [slot.number for slot in placeholders]
    if named and not all(numbers):
        return  # the API document shows numbers only, but says that there may be other formats
    for slot, number in zip(placeholders, numbers, strict=True):
        if not number:
            rule = "placeholder name/meant" if (tidy := correct_slot(slot)) else "placeholder name"
            yield flaw(rule, field, slot.start, slot=cut(str(slot), 30), tidy=tidy)
    highest = max((number or 0 for number in numbers), default=0)
    if missing := ["{{" + str(n) + "}}" for n in range(1, highest) if n not in numbers][:5]:
        last = placeholders[numbers.index(highest)]
        yield flaw("placeholder gap", field, last.start, last=last, missing=", ".join(missing))


def correct_slot(slot: Slot) -> str | None:
    """Return the numbered placeholder that a malformed one may be meant as, like {{1}} for {{ 01}}.

    Digits of another script, spaces and leading zeros are corrected; None for anything else.
    """
    bare = unicodedata.normalize("NFKC", slot.name).strip()
    if not bare.isdecimal() or len(bare) > 4 or int(bare) == 0:
        return None
    return "{{" + str(int(bare)) + "}}"


def _check_positions(entry: Entry) -> Iterator[Flaw]:
    """Check that placeholders are apart, not at the edges, and not too many for the words."""
    text, placeholders = entry.text, entry.slots
    for one, other in pairwise(placeholders):
        if not text[one.end : other.start].strip():
            names = {"one": cut(str(one), 20), "other": cut(str(other), 20)}
            yield flaw("placeholder adjacent", "text", one.start, **names)
    edges = (
        (placeholders[0], text[: placeholders[0].start], "before", "first"),
        (placeholders[-1], text[placeholders[-1].end :], "after", "last"),
    )
    for slot, rest, where, order in edges:
        if not _READABLE.search(rest):
            rule = "placeholder beside punctuation" if rest.strip() else "placeholder edge"
            short = cut(str(slot), 20)
            yield flaw(rule, "text", slot.start, slot=short, where=where, order=order)
    enough = _MIN_WORDS * len(placeholders)
    if language.has_spaces(entry.lang_code) and (count := count_words(text)) <= enough:
        counts = many(count, "word"), many(len(placeholders), "placeholder")
        yield flaw("placeholder ratio", "text", words=counts[0], placeholders=counts[1])


def _check_samples(entry: Entry) -> Iterator[Flaw]:
    """Find samples that are missing, and samples without a placeholder."""
    names = dict.fromkeys(slot.name for slot in entry.slots)
    for name in names:
        value, short = entry.variables.get(name), cut(name, 20)
        field = f"variables.{short}"
        if not isinstance(value, str | None):
            yield flaw("wrong type/sample", field)
        elif not value or not value.strip():
            yield flaw("sample missing", field, name=short)
        elif match := _BAD_SPACES.search(value):
            what = "a line break or a tab" if match[0].strip(" ") else "several spaces in a row"
            rule = "sample format" if match["refused"] else "doubled spaces/sample"
            yield flaw(rule, field, match.start(), name=short, what=what)
    for name in entry.variables:
        if name not in names:
            short = cut(str(name), 20)
            yield flaw("sample surplus", f"variables.{short}", name=short)


# --- header and footer --------------------------------------------------------------------

MEDIA = ("image", "video", "document")
_ADDRESS = re.compile(r"https?://[^\s/]+\S*", re.IGNORECASE)
#: The files that a header of each type takes, and others, by the end of their names.
_FILE_ENDINGS = {kind: ends.split() for kind, ends in LISTS["endings"].items()}
_KNOWN_ENDINGS = frozenset(chain.from_iterable(_FILE_ENDINGS.values()))
_SUFFIX = re.compile(r"\.([A-Za-z0-9]{2,4})(?:[?#]|\Z)")


def check_header(case: Case) -> Iterator[Flaw]:
    """Check the header and the footer."""
    entry = case.entry
    if len(entry.headers) > 1:
        yield flaw("header count", "headers", count=len(entry.headers))
    for number, header in enumerate(entry.headers):
        field, kind = f"headers.{number}", header.get("type")
        if field in entry.wrong_types:
            continue
        if kind == "text":
            yield from _check_text_header(header, f"{field}.text", entry)
        elif kind in MEDIA:
            yield from _check_media_header(header, field)
        else:
            media = f"{', '.join(MEDIA[:-1])} or {MEDIA[-1]}"
            yield flaw("header type", f"{field}.type", kind=values(kind), media=media)
    for slot in entry.placeholders.get("footer", [])[:1]:
        yield flaw("footer placeholder", "footer", slot.start, slot=cut(str(slot), 20))


def _check_text_header(header: Mapping[str, Any], field: str, entry: Entry) -> Iterator[Flaw]:
    text = header.get("text")
    if text is not None and not isinstance(text, str):
        yield flaw("wrong type/text", field)
        return
    if not text or not text.strip():
        yield flaw("header empty", field)
        return
    placeholders = entry.placeholders.get(field, [])
    yield from _check_placeholders(text, field, placeholders)
    if len(placeholders) > 1:
        yield flaw("header placeholders", field, placeholders[1].start, count=len(placeholders))
    # it is not documented in which of the two fields the sample stands: either will do
    if placeholders and not (header.get("text_variable") or header.get("parameter")):
        yield flaw("sample missing/header", f"{field}_variable", slot=cut(str(placeholders[0]), 20))


def _check_media_header(header: Mapping[str, Any], field: str) -> Iterator[Flaw]:
    kind, link, place = header["type"], header.get("link"), f"{field}.link"
    a_kind = f"{'an' if kind == 'image' else 'a'} {kind}"
    if link is not None and not isinstance(link, str):
        yield flaw("wrong type/text", place)
    elif not link and not header.get("parameter"):
        yield flaw("header media/sample", place, kind=kind, a_kind=a_kind)
    elif link and not _ADDRESS.fullmatch(link):
        yield flaw("header media/address", place, link=values(link))
    for name, file in _select_text_fields(header).items():
        suffix = _SUFFIX.search(file) if name in ("link", "file_name") else None
        end, taken = suffix[1].lower() if suffix else "", _FILE_ENDINGS[kind]
        if end in _KNOWN_ENDINGS and end not in taken:
            parts = {"a_kind": a_kind, "file": cut(file, 60), "end": end}
            yield flaw("header media/file", f"{field}.{name}", taken=", ".join(taken), **parts)
    if _select_text_fields(header).get("text", "").strip():
        yield flaw("header surplus", f"{field}.text", a_kind=a_kind)


# --- buttons: how many of each kind, in which order, and their fields ---------------------

#: How many buttons there may be of each type; of all together 10.
TYPES: Mapping[str, int] = _DATA["buttons"]["most"]
MOST = 10
#: The types of buttons whose label the platform writes itself.
_FIXED_LABELS = ("copy_offer_code", "view_catalog")
_DESKTOP_LIMIT = 4  #: from so many buttons on a message is not shown on a computer


def _select_text_fields(item: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a header, button or app that are texts."""
    return {name: value for name, value in item.items() if isinstance(value, str)}


def check_buttons(case: Case) -> Iterator[Flaw]:
    """Check the types of all buttons together, then each button."""
    entry = case.entry
    if not entry.buttons:
        return
    kinds = [button.get("type") for button in entry.buttons]
    yield from _check_button_types(kinds)
    labels: set[str] = set()
    for number, (button, kind) in enumerate(zip(entry.buttons, kinds, strict=True)):
        field = f"buttons.{number}"
        if field in entry.wrong_types:
            continue
        if not isinstance(kind, str) or kind not in TYPES:
            types = ", ".join(TYPES)
            yield flaw("button type", f"{field}.type", kind=values(kind), types=types)
            continue
        texts = _select_text_fields(button)
        for each in ("label", "value", "country_code", "url_type"):
            if not isinstance(button.get(each), str | None):
                yield flaw("wrong type/text", f"{field}.{each}")
        label, place = texts.get("label", "").strip().casefold(), f"{field}.label"
        for slot in entry.placeholders.get(place, [])[:1]:
            yield flaw("button label placeholder", place, slot.start, slot=cut(str(slot), 20))
        if label in labels:
            yield flaw("button label twice", place)
        elif label:
            labels.add(label)
        elif isinstance(button.get("label"), str | None) and kind not in _FIXED_LABELS:
            yield flaw("button label", place)
        if kind == "visit_website":
            yield from _check_website_button(button, texts, field)
        elif kind == "call_phone":
            yield from _check_phone_number(texts, field)
        elif kind == "copy_offer_code" and not (
            texts.get("value", "").strip() or entry.is_authentication
        ):
            yield flaw("button code", f"{field}.value")


def _check_button_types(kinds: list[Any]) -> Iterator[Flaw]:
    if len(kinds) > MOST:
        yield flaw("button count", "buttons", count=len(kinds), most=MOST)
    count = Counter(kind for kind in kinds if isinstance(kind, str) and kind in TYPES)
    for kind, times in count.items():
        if times > TYPES[kind]:
            yield flaw("button mix", "buttons", times=times, kind=kind, most=TYPES[kind])
    if count["view_catalog"] and len(kinds) > 1:
        yield flaw("button mix/catalog", "buttons", others=many(len(kinds) - 1, "other button"))
    quick = [number for number, kind in enumerate(kinds) if kind == "custom"]
    if quick and quick[-1] - quick[0] >= len(quick):
        yield flaw("button grouping", "buttons")
    mixed = 0 < len(quick) < len(kinds)
    if len(kinds) >= _DESKTOP_LIMIT or mixed:
        why = "custom and other buttons are mixed" if mixed else f"it has {len(kinds)} buttons"
        yield flaw("button on desktop", "buttons", why=why)


#: Services that shorten addresses, and those that lead to a chat.
_LINK_HOSTS = frozenset(LISTS["short_links"].split())


def _read_host_name(address: str) -> str:
    """Return the host of an address, without www."""
    host = re.split(r"[/?#]", address.strip().partition("//")[2])[0].rpartition("@")[2]
    return host.lower().removeprefix("www.")


def _check_website_button(
    button: Mapping[str, Any], texts: Mapping[str, str], field: str
) -> Iterator[Flaw]:
    value, kind = texts.get("value", ""), texts.get("url_type")
    place, type_place = f"{field}.value", f"{field}.url_type"
    if not _ADDRESS.fullmatch(value.strip()):
        rule = "button url/address" if value else "button url/missing"
        yield flaw(rule, place, value=values(value))
        return
    placeholders, host = find_slots(value), _read_host_name(value)
    sample = button.get("dynamic_url")
    yield from _check_placeholders(value, place, placeholders)
    if host in _LINK_HOSTS:
        yield flaw("button short link", place, host=host)
    if isinstance(sample, str) and sample and kind != "static" and "{" not in host:
        begin = value[: placeholders[0].start] if placeholders else ""
        wrong = ""
        if not _ADDRESS.fullmatch(sample.strip()):
            wrong = "is not a whole address"
        elif _read_host_name(sample) != host:
            wrong = f"is not on {host}"
        elif not sample.strip().casefold().startswith(begin.casefold()):
            wrong = f"does not begin with {cut(begin, 60)}"
        if wrong:
            short = cut(sample, 60)
            yield flaw("button url sample", f"{field}.dynamic_url", sample=short, wrong=wrong)
    if not placeholders:
        if kind == "dynamic":
            yield flaw("button url type/dynamic", type_place)
        return
    if "{" in host:
        yield flaw("button url/host", place)
    elif len(placeholders) > 1 or placeholders[-1].end != len(value.rstrip()):
        yield flaw("button url/end", place, placeholders[0].start)
    if not sample:
        yield flaw("button url/sample", f"{field}.dynamic_url")
    if kind == "static":
        yield flaw("button url type/static", type_place)


@lru_cache(4096)  # every language of a template has the same number
def _read_number(code: str, value: str) -> numbers.Number | None:
    """Read a number in a country; None if the country code is none."""
    country = numbers.parse_country(code) if re.fullmatch(r"\+[1-9][0-9]{0,2}", code) else None
    return numbers.read_number(value, country) if country else None


def _check_phone_number(texts: Mapping[str, str], field: str) -> Iterator[Flaw]:
    """Check the phone number of a button as that of a contact."""
    value, code = texts.get("value", ""), texts.get("country_code", "")
    number, place = _read_number(code, value), f"{field}.value"
    if not value:
        yield flaw("button number/missing", place)
    elif number:
        pair = (number.country_code, number.number) if number.e164 else number.suggested
        if number.verdict not in numbers.CERTAIN or pair != (code, value):
            reason = f": {number.reason}" if number.reason else ""
            rule = "button number" if pair in (None, (code, value)) else "button number/meant"
            meant = dict(zip(("code", "number"), pair or (), strict=False))
            yield flaw(rule, place, value=values(value), reason=reason, **meant)
    elif not re.fullmatch("[0-9]+", value):
        yield flaw("button number/digits", place, value=values(value))
    if number is None:
        rule = "button number/country" if code else "button number/no country"
        yield flaw(rule, f"{field}.country_code", code=values(code))


# --- settings: authentication codes, validity, catalogs -----------------------------------

EXPIRY = range(60, 5_401)  #: seconds until a code expires: 1 to 90 minutes
VALIDITY = range(30, 2_592_001)  #: seconds a message is valid: the widest of all categories
AUTHENTICATION_VALIDITY = range(30, 901)
MARKETING = 43_200  #: a marketing message is valid for so long at least, a utility one at most
FOREVER = -1  #: 30 days, for all but marketing messages
APPS = 5
_SIGNATURE_HASH = re.compile("[A-Za-z0-9+/=]{11}")
_PACKAGE = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)+", re.ASCII)
_PACKAGE_LENGTH = 224
_WEB_ADDRESS = re.compile(r"https?://|www\.", re.IGNORECASE)


def check_settings(case: Case) -> Iterator[Flaw]:
    """Check the settings of a content."""
    entry = case.entry
    if entry.is_authentication:
        yield from _check_authentication(entry)
    if "auth_code_expiration_seconds" in entry.fields:
        yield from _check_code_expiry(entry)
    if entry.apps:
        yield from _check_apps(entry)
    if "validity_period_seconds" in entry.fields:
        yield from _check_validity(entry)
    kinds, catalog = [b.get("type") for b in entry.buttons], entry.fields.get("is_catalog")
    if catalog and "buttons" in entry.raw and "view_catalog" not in kinds:
        yield flaw("catalog", "buttons")
    for number, kind in enumerate(kinds if catalog is False else ()):
        if kind == "view_catalog":
            yield flaw("catalog/button", f"buttons.{number}.type", number=number + 1)


def _check_authentication(entry: Entry) -> Iterator[Flaw]:
    if entry.headers:
        yield flaw("authentication/header", "headers")
    if entry.fields.get("is_catalog"):
        yield flaw("authentication/catalog", "is_catalog")
    if match := _WEB_ADDRESS.search(entry.text):
        yield flaw("authentication/address", "text", match.start())
    method = entry.fields.get("auth_delivery_method")
    if method in ("one_tap", "zero_tap") and "auth_apps" in entry.raw and not entry.apps:
        yield flaw("app count/none", "auth_apps", method=method)


def _format_bounds(allowed: range) -> dict[str, str]:
    return {"least": str(allowed.start), "most": f"{allowed.stop - 1:,}"}


def _check_code_expiry(entry: Entry) -> Iterator[Flaw]:
    field, added = "auth_code_expiration_seconds", entry.fields.get("auth_add_code_expiration")
    seconds = entry.fields[field]
    if added and seconds is None:
        yield flaw("code expiry/missing", field, **_format_bounds(EXPIRY))
    elif added and seconds not in EXPIRY:
        yield flaw("code expiry", field, seconds=f"{seconds:,}", **_format_bounds(EXPIRY))
    elif added and seconds % 60:
        minutes = flaw("code expiry/minutes", field, seconds=f"{seconds:,}")
        yield minutes._replace(severity="note")
    elif seconds is not None and added is False:
        yield flaw("code expiry unused", field, seconds=f"{seconds:,}")


def _check_apps(entry: Entry) -> Iterator[Flaw]:
    if len(entry.apps) > APPS:
        yield flaw("app count", "auth_apps", apps=many(len(entry.apps), "app"), most=APPS)
    for number, app in enumerate(entry.apps):
        field = f"auth_apps.{number}"
        if field in entry.wrong_types:
            continue
        package, signature = read_text(app, "package_name"), read_text(app, "signature_hash")
        if len(package) > _PACKAGE_LENGTH or not _PACKAGE.fullmatch(package):
            yield flaw("app/package", f"{field}.package_name", package=values(package))
        if not _SIGNATURE_HASH.fullmatch(signature):
            characters = many(len(signature), "character")
            yield flaw("app/hash", f"{field}.signature_hash", characters=characters)


def _check_validity(entry: Entry) -> Iterator[Flaw]:
    field, custom = "validity_period_seconds", entry.fields.get("is_custom_validity_period")
    seconds = entry.fields[field]
    allowed = AUTHENTICATION_VALIDITY if entry.is_authentication else VALIDITY
    if seconds is None:
        if custom:
            yield flaw("validity/missing", field)
        return
    counted = f"{seconds:,}"
    if not custom:
        if custom is False:
            yield flaw("validity unused", field, seconds=counted)
    elif seconds == FOREVER:
        yield flaw("validity category/forever", field)
    elif seconds not in allowed:
        yield flaw("validity", field, seconds=counted, **_format_bounds(allowed))
    elif not entry.is_authentication and seconds != MARKETING:
        short = "short" if seconds < MARKETING else "long"
        yield flaw(f"validity category/{short}", field, seconds=counted)


# --- compared with the source language ----------------------------------------------------
# One message is sent to customers of all languages, with the same values and the same buttons. So
# what has to be filled in must be the same; what is read may not be.

_SETTINGS: Sequence[str] = LISTS["compared_settings"].split()
_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_MAX_SENTENCES = 50  #: sentences that are looked for
#: The characters and spaces of a sentence that is in both languages by no chance.
_MIN_LENGTH, _MIN_SPACES = 20, 3


def check_structure(case: Case) -> Iterator[Flaw]:
    """Compare placeholders, header and buttons of a content with those of its source."""
    entry, original = case.entry, case.original
    if original is None:
        return
    for field, compare in (
        ("text", _compare_placeholders),
        ("headers", _compare_headers),
        ("buttons", _compare_buttons),
    ):
        if field in entry.raw and field in original.raw:
            yield from compare(entry, original)


def _compare_placeholders(entry: Entry, original: Entry) -> Iterator[Flaw]:
    lang, own = original.lang_code, {slot.name for slot in entry.slots}
    others = {slot.name for slot in original.slots}
    parts, more = [], own - others
    for names, of, where in (
        (others - own, f" of {lang}", "missing"),
        (more, "", f"not in {lang}"),
    ):
        if names:
            first_names = sorted(names, key=lambda name: (len(name), name))[:5]
            listed = ", ".join("{{" + cut(name, 20) + "}}" for name in first_names)
            parts.append(f"{listed}{of} {'is' if len(names) == 1 else 'are'} {where}")
    if parts:
        first = min((slot.start for slot in entry.slots if slot.name in more), default=None)
        yield flaw("placeholders differ", "text", first, what=" and ".join(parts))


def _compare_headers(entry: Entry, original: Entry) -> Iterator[Flaw]:
    mine, other = ([header.get("type") for header in each.headers] for each in (entry, original))
    if mine != other:
        names = [
            " and ".join(values(kind).strip('"') for kind in kinds) or "none"
            for kinds in (mine, other)
        ]
        lang = original.lang_code
        yield flaw("header differs", "headers", lang=lang, mine=names[0], other=names[1])
        return
    fields = [f"headers.{number}.text" for number in range(len(mine))]
    counts = [
        [len(each.placeholders.get(field, ())) for field in fields] for each in (entry, original)
    ]
    if counts[0] != counts[1]:
        yield flaw("header differs/placeholders", "headers.0.text", lang=original.lang_code)


def _compare_buttons(entry: Entry, original: Entry) -> Iterator[Flaw]:
    mine, others = ([button.get("type") for button in one.buttons] for one in (entry, original))
    lang = original.lang_code
    if len(mine) != len(others):
        count = many(len(mine), "button")
        yield flaw("buttons differ", "buttons", mine=count, other=len(others), lang=lang)
    elif mine != others:
        order = sorted(map(repr, mine)) == sorted(map(repr, others))
        how = "in another order" if order else "of other types"
        yield flaw("buttons differ/kinds", "buttons", how=how, lang=lang)
    else:
        for number, pair in enumerate(zip(entry.buttons, original.buttons, strict=True)):
            yield from _compare_button(*pair, number, lang)


def _compare_button(
    button: Mapping[str, Any], other: Mapping[str, Any], number: int, lang: str
) -> Iterator[Flaw]:
    field, kind = f"buttons.{number}", button.get("type")
    if kind == "visit_website":
        own, others = _select_text_fields(button), _select_text_fields(other)
        asks = [{slot.name for slot in find_slots(one.get("value", ""))} for one in (own, others)]
        if asks[0] != asks[1]:
            has = "has a placeholder" if asks[0] else "has no placeholder"
            yield flaw("buttons differ/address", f"{field}.value", has=has, lang=lang)
        elif own.get("url_type", "") != others.get("url_type", ""):
            types = {"mine": button.get("url_type"), "other": other.get("url_type")}
            parts = {key: values(kind) for key, kind in types.items()}
            yield flaw("buttons differ/type", f"{field}.url_type", lang=lang, **parts)
    elif kind != "custom":
        for each in ("country_code", "value"):
            one, two = button.get(each), other.get(each)
            if ("" if one is None else str(one)) != ("" if two is None else str(two)):
                parts = {"mine": values(one), "other": values(two)}
                yield flaw("button value differs", f"{field}.{each}", lang=lang, **parts)
                break


def check_parity(case: Case) -> Iterator[Flaw]:
    """Compare footer and settings with those of the source, and find untranslated texts."""
    entry, original = case.entry, case.original
    if original is None:
        return
    lang, own, other = original.lang_code, entry.footer.strip(), original.footer.strip()
    if "footer" in entry.raw and "footer" in original.raw and bool(own) != bool(other):
        has = ("a footer", "none") if own else ("no footer", "one")
        yield flaw("footer differs", "footer", mine=has[0], other=has[1], lang=lang)
    for name in _SETTINGS:
        if name in entry.raw and name in original.raw:
            setting, expected = entry.fields.get(name), original.fields.get(name)
            if setting != expected:
                parts = {"mine": values(setting), "other": values(expected)}
                yield flaw("settings differ", name, lang=lang, **parts)
    if language.base(entry.lang_code) == language.base(lang):
        return
    if entry.text:
        yield from _find_untranslated(entry, original)
    for field, _, text in entry.pieces:
        same = original.texts.get(field, "").strip() == text.strip()
        if field != "text" and same and field in original.texts and _has_words(text):
            rule = "same as source" if may_be_same(field, text, lang) else "untranslated"
            yield flaw(rule, field, lang=lang)


def _find_untranslated(entry: Entry, original: Entry) -> Iterator[Flaw]:
    """Check that neither the text nor a sentence of it is still that of the source language."""
    lang = original.lang_code
    if entry.text.strip() == original.text.strip() and _has_words(entry.text):
        yield flaw("untranslated", "text", lang=lang)
        return
    for sentence in map(str.strip, _SENTENCE.split(original.text, _MAX_SENTENCES)[:_MAX_SENTENCES]):
        distinct = len(sentence) >= _MIN_LENGTH and sentence.count(" ") >= _MIN_SPACES
        if distinct and (at := entry.text.find(sentence)) >= 0:
            yield flaw("untranslated/sentence", "text", at, sentence=cut(sentence, 40), lang=lang)
            return


def may_be_same(field: str, text: str, lang_code: str) -> bool:
    """Return whether a text may be the same in another language: one word, a name in the footer."""
    first = [word[0] for word in re.findall(r"\w+", text)]
    name = field == "footer" and all(letter.isupper() or letter.isdigit() for letter in first)
    return name or (language.has_spaces(lang_code) and count_words(text) < 2)


def _has_words(text: str) -> bool:
    """Return whether a text has words besides its placeholders."""
    return _LETTER.search(remove_slots(text)) is not None


# --- compared with other contents -----------------------------------------------------------


def check_language(case: Case) -> Iterator[Flaw]:
    """Check that the platform has the language, and that a template has it once."""
    code = case.entry.lang_code
    if not code.strip():
        yield flaw("wrong type/language", "lang_code")
        return
    form = language.normalize(code)
    first = case.firsts.setdefault((case.entry.template_code, form), case.entry)
    if first is not case.entry:
        rule = "language twice" if first.lang_code == code else "language twice/form"
        yield flaw(rule, "lang_code", first=first.lang_code[:20], lang=code[:20])
    if form not in language.SUPPORTED:
        yield flaw("language", "lang_code", lang=code[:20])
    elif form != code:
        yield flaw("language form", "lang_code", form=form)


def check_duplicate(case: Case) -> Iterator[Flaw]:
    """Find texts that duplicate another template, which the platform refuses."""
    entry = case.entry
    if not entry.template_code or not entry.text.strip():
        return
    if entry.is_authentication or "footer" not in entry.raw:
        return
    form = language.normalize(entry.lang_code)
    first = case.firsts.setdefault((form, entry.text, entry.footer), entry).template_code
    if first != entry.template_code:
        yield flaw("duplicate", "text", first=first[:40])
