"""Rules: the meaning of each finding, how grave it is, and its source.

`RULES` is the table of them; `checks.CHECKS` has the functions that apply them to a content.

The API document states types, closed lists and how placeholders are numbered: what breaks
these is an error. Lengths, counts and mixes are rules of the upstream platform, in its own
documents, and the API document says nothing of them: they warn and never block. `refused` marks
those that the platform says it rejects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from chatkit.localization.content import Entry
from chatkit.report import Finding, Severity
from chatkit.util.display import visible
from chatkit.util.json import escape, steps

if TYPE_CHECKING:
    from chatkit.localization.glossary import Glossary

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
PRACTICE = "good practice, no rule of the platform"


class Rule(NamedTuple):
    """The meaning of a code: how grave, by which source, whether the content is refused."""

    severity: Severity
    source: str
    refused: bool = False


_error = partial(Rule, "error", refused=True)
_refused = partial(Rule, "warning", refused=True)
_warning = partial(Rule, "warning")
_note = partial(Rule, "note")

RULES: dict[str, Rule] = {
    # shape
    **dict.fromkeys(("wrong type", "header type", "button type"), _error(API)),
    # language
    "language form": _warning(API),
    "language": _warning(LANGUAGES),
    "language twice": _warning(API),
    "no source": _note(PRACTICE),
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
    "sample format": _refused(f"the platform, of the values of a message: {SEEN}"),
    # lengths
    "text empty": _refused(COMP),
    "line breaks": _refused(f"{COMP}; its error 2388072: {SEEN}"),
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
    "footer format": _refused(f"{COMP}; its error 2388073: {SEEN}"),
    "footer placeholder": _refused(f"{COMP}; its error 2388073"),
    # buttons
    "button count": _refused(COMP),
    "button mix": _refused(f"{COMP}; {CATALOG}"),
    "button grouping": _refused(COMP),
    "button label": _refused(COMP),
    **dict.fromkeys(
        ("button label placeholder", "button label format"),
        _refused(f"{COMP}; its error 2388060: {SEEN}"),
    ),
    "button label twice": _note(PRACTICE),
    "button url": _refused(COMP),
    "button url type": _warning(API),
    "button url sample": _warning(COMP),
    "button short link": _warning(f"{REV}; {SEEN}"),
    "button number": _warning(f"{API}; {COMP}"),
    "button code": _refused(COMP),
    "button on desktop": _note(COMP),
    "catalog": _warning(CATALOG),
    # authentication, validity
    "code expiry": _refused(f"{AUTH}: 1 to 90 minutes"),
    "code expiry unused": _note(API),
    **dict.fromkeys(("app", "app count", "authentication"), _refused(AUTH)),
    "validity": _refused(TTL),
    "validity category": _note(f"{TTL}; the API shows no category"),
    "validity unused": _note(API),
    # characters and scripts
    "markup": _warning(f"{COMP}: how texts are formatted"),
    "residue": _warning(UNICODE),
    "emoji": _warning(f"{REV}: the number may be limited; 10: {SEEN}"),
    "direction": _warning("Unicode, UAX #9; whether the platform follows it is not stated"),
    "both directions": _note(UNICODE),
    "wrong script": _warning("CLDR, the scripts of a language"),
    "other script": _note("CLDR, the scripts of a language"),
    # against the source language
    "untranslated": _warning(PRACTICE),
    "same as source": _note(PRACTICE),
    "placeholders differ": _warning("messages are sent with the same values in every language"),
    "header differs": _warning("messages are sent with the same header in every language"),
    "buttons differ": _warning("messages are sent with the same buttons in every language"),
    "footer differs": _note(PRACTICE),
    "button value differs": _note(PRACTICE),
    "settings differ": _note(PRACTICE),
    # spaces, quotes, punctuation, numbers
    "doubled spaces": _warning(PRACTICE),
    "space at the edge": _warning(PRACTICE),
    "quotes": _warning("CLDR, the quotation marks of a language"),
    "punctuation": _warning("how the language is written"),
    "ending differs": _note(PRACTICE),
    "number form": _warning("CLDR, the numbers of a language"),
    "date form": _warning("CLDR, the dates and times of a language"),
    "addresses differ": _warning(PRACTICE),
    # the glossary
    **dict.fromkeys(("glossary", "formality"), _warning("your glossary")),
    "isolation": _warning("Unicode, UAX #9; whether the platform follows it is not stated"),
}

#: Codes of `chatkit.imports.characters` for the characters of a text, none of them refused.
CHARACTERS = (
    *("garbled", "lost letters", "control characters", "direction marks", "invisible"),
    *("unknown characters", "look-alike", "mixed scripts", "decomposed"),
)
#: Codes that `client.templates.silence` takes.
CAN_BE_SILENCED = (*(code for code, rule in RULES.items() if not rule.refused), *CHARACTERS)

#: Codes of a content whose source language moved on without it.
STRUCTURE = frozenset(("placeholders differ", "header differs", "buttons differ"))
#: Those of them that `client.templates.accept` can declare as meant.
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
        """The document that states it."""
        return rule_of(self.code, self.severity).source

    @property
    def refused(self) -> bool:
        """Return whether the documents say that such a content is refused."""
        return self.severity != "note" and rule_of(self.code, self.severity).refused

    @property
    def decides(self) -> bool:
        """Return whether it decides on the state of a content: refused, or not as its source."""
        return self.refused or self.code in STRUCTURE

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

    def of(self, entry: Entry) -> ContentFinding:
        """Return it as a finding in this content."""
        return ContentFinding(
            code=self.code,
            severity=self.severity or rule_of(self.code).severity,
            pointer="/" + escape(self.field).replace(".", "/"),
            message=self.message,
            hint=self.hint,
            template_code=entry.template_code,
            lang_code=entry.lang_code,
            position=self.position,
        )


class Case(NamedTuple):
    """One content, and what it is compared with."""

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
