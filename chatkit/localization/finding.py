"""Finding: one thing to mend, or to know, at one place of one content."""

from __future__ import annotations

from typing import NamedTuple

from chatkit.display import visible
from chatkit.finding import Severity
from chatkit.localization.content import Entry
from chatkit.localization.rules import rule_of


class Finding(NamedTuple):
    """One thing to mend, or to know, at one place of one content."""

    code: str  #: a word or two, to choose by: "placeholder gap"
    severity: Severity
    field: str  #: as in the API: "buttons.1.label"; the first is 0
    position: int | None  #: the character of the field where it begins; the first is 0
    message: str
    hint: str  #: what to do
    template_code: str
    lang_code: str

    @property
    def source(self) -> str:
        """Who says so."""
        return rule_of(self.code, self.severity).source

    @property
    def refused(self) -> bool:
        """Whether the documents say that such a content is refused."""
        return rule_of(self.code, self.severity).refused

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


class Ledger:
    """Takes down what the rules find, each time in the content that is looked at."""

    def __init__(self) -> None:
        self.found: list[Finding] = []
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
        entry = self._entry
        self.found.append(
            Finding(
                code,
                severity or rule_of(code).severity,
                field,
                at,
                message,
                hint,
                entry.template_code,
                entry.lang_code,
            )
        )
