"""Audit: all contents held against all rules, and what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, overload

from chatkit.finding import Severity
from chatkit.localization import (
    body,
    buttons,
    delivery,
    header,
    language,
    lengths,
    parity,
    wording,
)
from chatkit.localization.content import Contents, Entry, entries, grouped
from chatkit.localization.finding import Finding, Ledger

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = (
    *("template_code", "lang_code", "severity", "code", "refused", "field", "position"),
    *("message", "hint", "source"),
)
_RULES = (body.judge, lengths.judge, header.judge, buttons.judge, delivery.judge, wording.judge)
#: What is not judged when a frame does not have it.
_LOOKED_AT = ("text", "variables", "footer", "headers", "buttons")


class Audit(Sequence[Finding]):
    """All that was found in contents, in their order. Empty is good.

    Errors break what the API document states. All else warns and never blocks, for the API
    document says nothing of it; `refused` are those of which a document says that the service
    or the platform rejects the content.
    """

    def __init__(
        self, found: Iterable[Finding], checked: Sequence[tuple[str, str]], unseen: Sequence[str]
    ) -> None:
        self._found = tuple(found)
        #: Which contents were looked at, by template code and language.
        self.checked = tuple(checked)
        #: Fields that were not given, so that their rules were not looked at.
        self.unseen = tuple(unseen)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Audit: ...
    def __getitem__(self, index: int | slice) -> Finding | Audit:
        return self._with(self._found[index]) if isinstance(index, slice) else self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Audit) and self._found == other._found

    def __hash__(self) -> int:
        return hash(self._found)

    @property
    def ok(self) -> bool:
        """Whether there is no error. The platform may still refuse a content: see `refused`."""
        return not self.errors

    @property
    def errors(self) -> Audit:
        """What breaks the API document."""
        return self._only("error")

    @property
    def warnings(self) -> Audit:
        """What the platform refuses, or what a customer may not see as it is meant."""
        return self._only("warning")

    @property
    def notes(self) -> Audit:
        """What is good to know."""
        return self._only("note")

    @property
    def refused(self) -> Audit:
        """What the documents say is rejected, by the service or by the platform."""
        return self._with(found for found in self._found if found.refused)

    def of(
        self,
        template_code: str | None = None,
        lang_code: str | None = None,
        code: str | None = None,
    ) -> Audit:
        """Choose findings.

        Args:
            template_code: Those of this template.
            lang_code: Those of this language, in any form: en_US or en-US.
            code: Those of this code, like "placeholder gap".
        """
        return self._with(
            found
            for found in self._found
            if template_code in (None, found.template_code)
            and (lang_code is None or language.same(lang_code, found.lang_code))
            and code in (None, found.code)
        )

    def counts(self) -> dict[str, int]:
        """Count the findings by code, the most frequent first."""
        return dict(Counter(found.code for found in self._found).most_common())

    def frame(self) -> pd.DataFrame:
        """Return the findings as a DataFrame, one row each."""
        from chatkit.localization.table import frame_of

        return frame_of(self._found, _COLUMNS)

    def _only(self, severity: Severity) -> Audit:
        return self._with(found for found in self._found if found.severity == severity)

    def _with(self, found: Iterable[Finding]) -> Audit:
        return Audit(found, self.checked, self.unseen)

    def __repr__(self) -> str:
        from chatkit.localization.auditshow import text

        return text(self)

    def _repr_html_(self) -> str:
        from chatkit.localization.auditshow import html

        return html(self)


def check(contents: Contents, source: str = "en") -> Audit:
    """Hold contents against the rules, and each language against the source language.

    What the API document does not state warns and never blocks. A field that was not given is
    not judged: read frames with `full=True`.

    Args:
        contents: A frame of contents, one content (a record or a dict), or several of them.
        source: The language that the others are translated from. A template that does not have
            it is held against its only content of that language (en_GB), or against none.

    Raises:
        InputError: They are no contents, or a frame does not tell their languages.
    """
    found = entries(contents)
    tell = Ledger()
    duplicates: dict[tuple[str, str, str], str] = {}
    for template, members in grouped(found).items():
        original = source_of(members, source)
        seen: dict[str, str] = {}
        for entry in members:
            tell.open(entry)
            _shape(entry, tell)
            _language(entry, seen, tell)
            for judge in _RULES:
                judge(entry, tell)
            if original is not None and entry is not original:
                parity.judge(entry, original, tell)
            _duplicate(entry, template, duplicates, tell)
        if original is None and len(members) > 1:
            tell.open(members[0])
            said = f"the template has no content in {source}, so its languages are not compared"
            tell("no source", "lang_code", said, "Name another language with source=.")
    unseen = [name for name in _LOOKED_AT if not all(entry.knows(name) for entry in found)]
    return Audit(tell.found, [(e.template_code, e.lang_code) for e in found], unseen)


def source_of(members: Sequence[Entry], source: str) -> Entry | None:
    """Find the content that the others of a template are translated from."""
    code = language.find(source, [entry.lang_code for entry in members])
    return next((entry for entry in members if entry.lang_code == code), None)


def _shape(entry: Entry, tell: Ledger) -> None:
    for field, said in entry.wrong.items():
        tell("wrong type", field, f"it must be {said}", "The service would not take it.")


def _language(entry: Entry, seen: dict[str, str], tell: Ledger) -> None:
    code = entry.lang_code
    if not code.strip():
        tell("wrong type", "lang_code", "it must be a language", "Write it like en or en_US.")
        return
    form = language.normal(code)
    if first := seen.get(form):
        other = f"{first:.20} is there already"
        said = other if first == code else f"{other}, and is the same language as {code:.20}"
        tell("language twice", "lang_code", said, "Keep one of them.")
    seen.setdefault(form, code)
    if not language.supported(code):
        said = f"the platform has no language {code:.20}"
        tell("language", "lang_code", said, "templates(code).languages() has those it takes.")
    elif form != code:
        tell("language form", "lang_code", f"the API writes {form}", "Write it so.")


def _duplicate(
    entry: Entry, template: str, seen: dict[tuple[str, str, str], str], tell: Ledger
) -> None:
    """Find the same words in two templates, which the platform takes for one."""
    if not template or not entry.text.strip() or entry.authenticates or not entry.knows("footer"):
        return
    words = language.normal(entry.lang_code), entry.text, entry.footer
    first = seen.setdefault(words, template)
    if first != template:
        said = f"text and footer are those of {first:.40}"
        tell("duplicate", "text", said, "The platform refuses the second one.")
