"""Rules: what each finding means, how grave it is, and who says so.

The API document states types, closed lists and how placeholders are numbered: what breaks
these is an error. Lengths, counts and mixes are rules of the upstream platform, in its own
documents, and the API document says nothing of them: they warn and never block. `refused` tells
which of them the platform says it rejects.
"""

from __future__ import annotations

from typing import NamedTuple

from chatkit.finding import Severity

API = "API document, Template content"
COMP = "platform, template components (2025-11-21)"
OVER = "platform, template overview (2025-12-05)"
REV = "platform, template review (2025-10-31)"
STATUS = "platform, template status webhook"
TTL = "platform, time to live (2025-10-31)"
AUTH = "platform, authentication templates (2025-11)"
OFFER = "platform, limited-time offers"
CATALOG = "platform, catalog templates"
LANGUAGES = "platform, supported languages (2025-11-04)"
UNICODE = "Unicode, and what programs do to texts"
SEEN = "reported by users of the platform, not documented"
HOUSE = "good practice, no rule of the platform"


class Rule(NamedTuple):
    """What a finding of one code means: how grave, who says so, whether it is refused."""

    severity: Severity
    source: str
    refused: bool = False


def _error(source: str) -> Rule:
    return Rule("error", source, refused=True)


def _refused(source: str) -> Rule:
    return Rule("warning", source, refused=True)


def _warning(source: str) -> Rule:
    return Rule("warning", source)


def _note(source: str) -> Rule:
    return Rule("note", source)


RULES: dict[str, Rule] = {
    # shape
    "wrong type": _error(API),
    "header type": _error(API),
    "button type": _error(API),
    # language
    "language form": _warning(API),
    "language": _warning(LANGUAGES),
    "language twice": _warning(API),
    "no source": _note(HOUSE),
    # placeholders and samples
    "placeholder name": _error(API),
    "placeholder braces": _refused(REV),
    "placeholder gap": _refused(f"{REV}; {API}"),
    "placeholder adjacent": _refused(STATUS),
    "placeholder edge": _refused(f"{REV}; its error 2388299"),
    "placeholder beside punctuation": _warning(SEEN),
    "placeholder ratio": _warning(f"{REV}; its error 2388293; the ratio: {SEEN}"),
    "sample missing": _refused(f"{COMP}, {OVER}"),
    "sample surplus": _warning(API),
    # lengths
    "text empty": _refused(COMP),
    "length": _refused(f"{COMP}; its error 2388040"),
    "length unclear": _warning("the platform does not say how it counts characters"),
    "length near": _note(COMP),
    "length with samples": _warning(SEEN),
    "length of an offer": _note(OFFER),
    "duplicate": _refused(REV),
    # header, footer
    "header count": _refused(COMP),
    "header empty": _refused(COMP),
    "header placeholders": _refused(COMP),
    "header format": _warning(f"{COMP}: markup is not shown; its error 2388047: {SEEN}"),
    "header media": _refused(COMP),
    "header surplus": _note(API),
    "footer placeholder": _refused(f"{COMP}; its error 2388073"),
    # buttons
    "button count": _refused(COMP),
    "button mix": _refused(f"{COMP}; {CATALOG}"),
    "button grouping": _refused(COMP),
    "button label": _refused(COMP),
    "button label placeholder": _warning(COMP),
    "button label twice": _note(HOUSE),
    "button url": _refused(COMP),
    "button url type": _warning(API),
    "button number": _warning(f"{API}; {COMP}"),
    "button code": _refused(COMP),
    "button on desktop": _note(COMP),
    "catalog": _warning(CATALOG),
    # authentication, validity
    "code expiry": _refused(f"{AUTH}: 1 to 90 minutes"),
    "code expiry unused": _note(API),
    "app": _refused(AUTH),
    "app count": _refused(AUTH),
    "authentication": _refused(AUTH),
    "validity": _refused(TTL),
    "validity category": _note(f"{TTL}; the API shows no category"),
    "validity unused": _note(API),
    # characters and scripts
    "emoji": _warning(f"{REV}: the number may be limited; 10: {SEEN}"),
    "direction": _warning("Unicode, UAX #9; whether the platform follows it is not stated"),
    "both directions": _note(UNICODE),
    "wrong script": _warning("CLDR, the scripts of a language"),
    "other script": _note("CLDR, the scripts of a language"),
    # against the source language
    "untranslated": _warning(HOUSE),
    "same as source": _note(HOUSE),
    "placeholders differ": _warning("messages are sent with the same values in every language"),
    "header differs": _warning("messages are sent with the same header in every language"),
    "buttons differ": _warning("messages are sent with the same buttons in every language"),
    "footer differs": _note(HOUSE),
    "button value differs": _note(HOUSE),
    "settings differ": _note(HOUSE),
}

#: What a content has when its source language moved on without it.
STRUCTURE = frozenset(("placeholders differ", "header differs", "buttons differ"))


def rule_of(code: str, severity: Severity = "warning") -> Rule:
    """Return the rule of a code; those of characters come from `chatkit.checks`."""
    return RULES.get(code) or Rule(severity, UNICODE, refused=severity == "error")
