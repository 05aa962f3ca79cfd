"""Rules: the meaning of each finding, how grave it is, and its source.

`rules.toml` is the table of them; `checks.CHECKS` has the functions that apply them to a content.

The API document states types, closed lists and how placeholders are numbered: what breaks
these is an error. Lengths, counts and mixes are rules of the upstream platform, in its own
documents, and the API document says nothing of them: they warn and never block. `refused` marks
those that the platform says it rejects.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from chatkit.localization.content import Entry
from chatkit.report import Finding, Severity
from chatkit.util.display import visible
from chatkit.util.json import escape_key, split_pointer

if TYPE_CHECKING:
    from chatkit.localization.glossary import Glossary

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


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
    messages = {
        name: (Template(texts[0]), Template("".join(texts[1:])))
        for name, texts in fields.items()
        if name != gravity
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


def rule_of(code: str, severity: Severity = "warning") -> Rule:
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
        return rule_of(self.code, self.severity).source

    @property
    def refused(self) -> bool:
        """Return whether the documents say that such a content is refused."""
        return self.severity != "note" and rule_of(self.code, self.severity).refused

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
            severity=self.severity or rule_of(self.code).severity,
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
        **parts: What the message and the hint name.
    """
    code, _, variant = name.partition("/")
    message, hint = RULES[code].messages[variant or "message"]
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
