"""Audit: check contents by all rules, and compare each language with the source language.

The findings are an `Audit`, which renders itself as text, as HTML and as a frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit.localization import checks, language, typography
from chatkit.localization.checks import (
    SCOPES,
    Case,
    Check,
    ContentFinding,
    Scope,
    flaw,
    run_checks,
)
from chatkit.localization.content import (
    Contents,
    Entry,
    group_with_source,
    read_entries,
    shorten_list,
)
from chatkit.localization.glossary import Glossary, check_glossary
from chatkit.localization.table import make_attribute_frame
from chatkit.report import (
    FEW,
    LABEL,
    MANY,
    SEVERITIES,
    STYLE,
    FindingSequence,
    Report,
    ReportPart,
    ReportRow,
    headline,
    marked,
    paragraph,
    rows_table,
    wrapped,
)
from chatkit.util.display import cut, many, many_are, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.localization.ledger import Ledger


_COLUMNS = (
    *("template_code", "lang_code", "severity", "code", "refused", "field", "position"),
    *("message", "hint", "source"),
)
#: Fields that are not checked when a frame does not have them.
_CHECKED_FIELDS = ("text", "variables", "footer", "headers", "buttons")

_STYLE = STYLE + Path(__file__).with_suffix(".css").read_text("utf-8")


class Audit(FindingSequence[ContentFinding], Report):
    """The findings in contents, in their order. Empty is good.

    Errors break what the API document states. All else warns and never blocks, for the API
    document says nothing of it; `refused` are those of which a document says that the service
    or the platform rejects the content.
    """

    _name, _style = "chatkit-plan chatkit-audit", _STYLE

    def __init__(
        self,
        findings: Iterable[ContentFinding],
        checked: Sequence[tuple[str, str]],
        unseen: Sequence[str],
        silent: Sequence[ContentFinding] = (),
    ) -> None:
        super().__init__(findings)
        #: The contents that were checked, by template code and language.
        self.checked = tuple(checked)
        #: Fields that were not passed, so that their rules were not checked.
        self.unseen = tuple(unseen)
        #: Findings that are silenced: `client.templates.silence`.
        self.silent = tuple(silent)

    @property
    def refused(self) -> Audit:
        """The findings for which the service or the platform rejects a content."""
        return self._with(each for each in self if each.refused)

    def of(
        self,
        template_code: str | None = None,
        lang_code: str | None = None,
        code: str | None = None,
    ) -> Audit:
        """Return some of the findings.

        Args:
            template_code: Those of this template.
            lang_code: Those of this language, in any form: en_US or en-US.
            code: Those of this code, like "placeholder gap".
        """
        return self._with(
            each
            for each in self._findings
            if template_code in (None, each.template_code)
            and (lang_code is None or language.is_same(lang_code, each.lang_code))
            and code in (None, each.code)
        )

    def frame(self) -> pd.DataFrame:
        """Return the findings as a DataFrame, one row each."""
        return make_attribute_frame(self._findings, _COLUMNS)

    def _with(self, findings: Iterable[ContentFinding]) -> Audit:
        return Audit(findings, self.checked, self.unseen, self.silent)

    def _parts(self) -> Iterator[ReportPart]:
        """Yield the heading, the findings by code, and the notes."""
        yield headline(format_heading(self))
        yield from map(_make_group_part, group_by_code(self))
        yield from map(paragraph, make_audit_notes(self))


#: All checks in the order of their findings, and what these are about: one content on its own, its
#: state on a board, or how it may be better.
CHECKS: Mapping[Check, Scope] = {
    checks.check_language: "state",
    checks.check_types: "content",
    checks.check_text: "content",
    checks.check_lengths: "content",
    checks.check_header: "content",
    typography.check_markup: "content",
    checks.check_buttons: "content",
    checks.check_settings: "content",
    typography.check_characters: "state",
    checks.check_structure: "state",
    checks.check_parity: "advice",
    typography.check_typography: "advice",
    check_glossary: "advice",
    checks.check_duplicate: "state",
}


def select_checks(scopes: Collection[Scope] = SCOPES) -> list[Check]:
    """Return the checks of these scopes, in their order."""
    return [check for check, scope in CHECKS.items() if scope in scopes]


def check_content(content: Mapping[str, Any]) -> list[ContentFinding]:
    """Check one content by the API document and the published rules of the platform.

    Its wording, its language and its siblings are left to `check_contents`.

    Args:
        content: Any JSON object; the time this takes is linear in its size.
    """
    scopes: tuple[Scope, ...] = ("content",)
    selected = select_checks(scopes)
    cases = (Case(entry, {}) for entry in read_entries(content))
    return [finding for case in cases for finding in run_checks(case, selected)]


def check_contents(
    contents: Contents,
    source: str = "en",
    *,
    glossary: Glossary | None = None,
    ledger: Ledger | None = None,
) -> Audit:
    """Check contents by the rules, and compare each language with the source language.

    What the API document does not state warns and never blocks. A field that was not passed is
    not checked: read frames with `full=True`.

    Args:
        contents: A frame of contents, one content (a record or a dict), or several of them.
        source: The language that the others are translated from. A template that does not have
            it is compared with its only content of that language (en_GB), or with none.
        glossary: The words that translations use and never use.
        ledger: Its silenced findings are left out, unless they are refused.

    Raises:
        InputError: They are no contents, or a frame does not tell their languages.
    """
    members = read_entries(contents)
    reported: list[ContentFinding] = []
    silent: list[ContentFinding] = []
    for reviewed in review_contents(members, source, glossary=glossary):
        for each in reviewed.findings:
            place = each.code, each.lang_code, each.template_code, each.field
            silenced = ledger is not None and not each.refused and ledger.is_silent(*place)
            (silent if silenced else reported).append(each)
    checked = [(entry.template_code, entry.lang_code) for entry in members]
    return Audit(reported, checked, find_missing_fields(members), silent)


def find_missing_fields(contents: Sequence[Entry]) -> list[str]:
    """Return the checked fields that some of the contents do not have."""
    return [name for name in _CHECKED_FIELDS if any(name not in entry.raw for entry in contents)]


class ReviewedContent(NamedTuple):
    """A content, the one that it is translated from, and the findings in it."""

    entry: Entry
    original: Entry | None  #: None where there is none, as for the source itself
    findings: list[ContentFinding]


def review_contents(
    contents: Sequence[Entry],
    source: str,
    scopes: Collection[Scope] = SCOPES,
    glossary: Glossary | None = None,
) -> list[ReviewedContent]:
    """Check contents, each against the one that it is translated from.

    Args:
        contents: All contents of their templates.
        source: The language that the others are translated from.
        scopes: The scopes of the checks.
        glossary: The words that translations use and never use.
    """
    firsts: dict[tuple[str, ...], Entry] = {}
    reviewed, selected = [], select_checks(scopes)
    for members, original in group_with_source(contents, source):
        for entry in members:
            compared = None if entry is original else original
            findings = run_checks(Case(entry, firsts, compared, source, glossary), selected)
            if original is None and entry is members[-1] and len(members) > 1:
                findings.append(
                    flaw("no source", "lang_code", source=source).to_finding(members[0])
                )
            reviewed.append(ReviewedContent(entry, compared, findings))
    return reviewed


# --- what is shown ------------------------------------------------------------------------

_SIGNS = {"error": "✗", "warning": "!", "note": "i"}
_WIDTHS = {"template": 23, "language": 12, "field": 23, "finding": 42}


def format_heading(audit: Audit) -> str:
    """Return the heading of an audit: the counts of contents and of findings."""
    templates = many(len({code for code, _ in audit.checked if code}), "template")
    contents = many(len(audit.checked), "content")
    checked = f"{templates}, {contents}" if any(code for code, _ in audit.checked) else contents
    count = Counter(each.severity for each in audit)
    counts = ", ".join(many(count[each], each) for each in SEVERITIES if count[each])
    refused = len({(each.template_code, each.lang_code) for each in audit if each.refused})
    ending = f" {many(refused, 'content')} would be refused." if refused else ""
    return f"{checked}: {counts or 'nothing found'}.{ending}"


def group_by_code(audit: Audit) -> list[list[ContentFinding]]:
    """Group findings by code: by severity, the gravest first, then those that are refused."""
    codes: dict[tuple[str, str], list[ContentFinding]] = {}
    for each in audit:
        codes.setdefault((each.severity, each.code), []).append(each)
    return sorted(
        codes.values(),
        key=lambda group: (
            *(SEVERITIES.index(group[0].severity), not group[0].refused, -len(group)),
        ),
    )


class SharedFinding(NamedTuple):
    """The same finding in several languages of a template."""

    first: ContentFinding
    languages: list[str]

    @property
    def language_list(self) -> str:
        """The first of the languages, and the count of the rest."""
        return shorten_list([cut(lang, 20) for lang in self.languages], FEW)


def merge_languages(group: Iterable[ContentFinding]) -> list[SharedFinding]:
    """Merge findings with the same message in several languages of a template."""
    alike: dict[tuple[str, str, str], SharedFinding] = {}
    for each in group:
        key = each.template_code, each.field, each.message
        alike.setdefault(key, SharedFinding(each, [])).languages.append(each.lang_code)
    return list(alike.values())


def _make_group_part(group: list[ContentFinding]) -> ReportPart:
    """Show the findings of one code, each hint once in the text form."""
    first, hints, rows = group[0], {""}, []
    refused = ", refused" if first.refused and first.severity != "error" else ""
    title = f"{first.severity}{refused}: {visible(first.code)}, {len(group):,} ({first.source})"
    merged = merge_languages(group)
    for line in merged[:MANY]:
        each, languages = line.first, line.language_list
        cells = [cut(each.template_code, LABEL), languages, cut(each.place, LABEL)]
        message, hint = f"{visible(each.message)}.", visible(each.hint)
        where = ", ".join(filter(None, (f"{cells[0]} {languages}".strip(), cells[2])))
        lines = wrapped("    ", f"{where}: {message}")
        lines += wrapped("    -> ", hint) if hint not in hints else []
        hints.add(hint)
        html = f" <i>{marked(hint)}</i>" if hint else ""
        rows.append(ReportRow(lines, cells, f'<td dir="auto">{marked(message)}{html}</td>'))
    sign = _SIGNS[first.severity]
    part = rows_table(_WIDTHS, rows, len(merged), "audit.frame()", f"{sign} {title}")
    mark = f'<b class="{first.severity}" aria-hidden="true">{sign}</b>'
    return part._replace(html=f"<p>{mark} <strong>{marked(title)}</strong></p>{part}")


def make_missing_fields_note(unseen: Sequence[str]) -> list[str]:
    """Return a note of the fields that could not be checked; an empty list if there are none."""
    names = ", ".join(unseen)
    note = f"Not checked where they are missing: {names}. full=True reads them."
    return [note] if unseen else []


def make_audit_notes(audit: Audit) -> list[str]:
    """Return the notes of an audit: fields that could not be checked, and silenced findings."""
    notes = make_missing_fields_note(audit.unseen)
    if audit.silent:
        codes = ", ".join(dict.fromkeys(visible(each.code) for each in audit.silent))
        notes.append(
            f"{many_are(len(audit.silent), 'finding')} silenced: {codes}. "
            "client.templates.silence() lists what is silenced, and off=True takes it back."
        )
    return notes
