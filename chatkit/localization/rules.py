"""Rules: what each finding means, how grave it is, and who says so.

The API document states types, closed lists and how placeholders are numbered: what breaks
these is an error. Lengths, counts and mixes are rules of the upstream platform, in its own
documents, and the API document says nothing of them: they warn and never block. `refused` tells
which of them the platform says it rejects.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from chatkit.finding import Finding, Severity
from chatkit.localization.content import Entry
from chatkit.util.display import visible
from chatkit.util.json_pointer import escape, steps

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


_error = partial(Rule, "error", refused=True)
_refused = partial(Rule, "warning", refused=True)
_warning = partial(Rule, "warning")
_note = partial(Rule, "note")

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
    # spaces, quotes, punctuation, numbers
    "doubled spaces": _warning(HOUSE),
    "space at the edge": _warning(HOUSE),
    "quotes": _warning("CLDR, the quotation marks of a language"),
    "punctuation": _warning("how the language is written"),
    "ending differs": _note(HOUSE),
    "number form": _warning("CLDR, the numbers of a language"),
    "date form": _warning("CLDR, the dates and times of a language"),
    "addresses differ": _warning(HOUSE),
    # the glossary
    "glossary": _warning("your glossary"),
    "formality": _warning("your glossary"),
    "isolation": _warning("Unicode, UAX #9; whether the platform follows it is not stated"),
}

#: What `chatkit.imports.characters` finds in the characters of a text, and is not refused.
CHARACTERS = (
    *("garbled", "lost letters", "control characters", "direction marks", "invisible"),
    *("unknown characters", "look-alike", "mixed scripts", "decomposed"),
)
#: What a person may say is not to be told: `client.templates.silence`.
CAN_BE_SILENCED = (*(code for code, rule in RULES.items() if not rule.refused), *CHARACTERS)

#: What a content has when its source language moved on without it.
STRUCTURE = frozenset(("placeholders differ", "header differs", "buttons differ"))
#: Of these, what can be meant so: `client.templates.accept` says that it is.
AGREED = STRUCTURE - {"placeholders differ"}


def rule_of(code: str, severity: Severity = "warning") -> Rule:
    """Return the rule of a code; those of characters come from `chatkit.imports.characters`."""
    return RULES.get(code) or Rule(severity, UNICODE, refused=severity == "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentFinding(Finding):
    """One thing to fix, or to know, at one place of one content."""

    template_code: str
    lang_code: str
    position: int | None = None  #: the character of the field where it begins; the first is 0

    @property
    def field(self) -> str:
        """Name the field as in the API: "buttons.1.label"; the first is 0."""
        return ".".join(steps(self.pointer))

    @property
    def source(self) -> str:
        """Who says so."""
        return rule_of(self.code, self.severity).source

    @property
    def refused(self) -> bool:
        """Whether the documents say that such a content is refused."""
        return self.severity != "note" and rule_of(self.code, self.severity).refused

    @property
    def content(self) -> str:
        """Which content, in words."""
        return f"{self.template_code} {self.lang_code}".strip()

    @property
    def place(self) -> str:
        """Which place of the content, in words."""
        return self.field if self.position is None else f"{self.field} at {self.position}"

    def __str__(self) -> str:
        where = ", ".join(filter(None, (self.content, self.place)))
        hint = f" {self.hint}" if self.hint else ""
        return visible(f"{self.severity} {self.code} ({where}): {self.message}.{hint}")


def _pointer(field: str) -> str:
    return "/" + escape(field).replace(".", "/")


class FindingLog:
    """Takes down what the rules find, each time in the content that is looked at.

    Args:
        decisive: Whether only what decides on the state of a content is taken down: what would
            be refused, and in what it is not as its source.
    """

    def __init__(self, *, decisive: bool = False) -> None:
        self.found: list[ContentFinding] = []
        self._decisive = decisive
        self._entry = Entry({}, "", "")

    def open(self, entry: Entry) -> None:
        """Say which content is looked at from now on."""
        self._entry = entry

    def __call__(
        self,
        code: str,
        field: str,
        message: str,
        hint: str = "",
        *,
        at: int | None = None,
        severity: Severity | None = None,
    ) -> None:
        """Take down a finding; its severity is that of its rule if it has one."""
        severity = severity or rule_of(code).severity
        decides = severity != "note" and rule_of(code, severity).refused
        if self._decisive and not decides and code not in STRUCTURE:
            return
        self.found.append(
            ContentFinding(
                code=code,
                severity=severity,
                pointer=_pointer(field),
                message=message,
                hint=hint,
                template_code=self._entry.template_code,
                lang_code=self._entry.lang_code,
                position=at,
            )
        )
