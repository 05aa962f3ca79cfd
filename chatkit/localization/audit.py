"""Audit: check contents against all rules, and each language against the source language.

What is found is an `Audit`, which shows itself as text, as HTML and as a frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chatkit.finding import SEVERITIES, FindingSequence
from chatkit.localization import language
from chatkit.localization.checks import CHECKS, DECISIVE_CHECKS, findings
from chatkit.localization.content import Contents, Entry, entries, grouped, source_of
from chatkit.localization.rules import Case, Check, ContentFinding, Flaw
from chatkit.report import FEW, LABEL, MANY, STYLE, Report, html_heading, marked, wrapped
from chatkit.util.display import cut, many, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.localization.glossary import Glossary
    from chatkit.localization.ledger import Ledger


_COLUMNS = (
    *("template_code", "lang_code", "severity", "code", "refused", "field", "position"),
    *("message", "hint", "source"),
)
#: What is not judged when a frame does not have it.
_LOOKED_AT = ("text", "variables", "footer", "headers", "buttons")


_STYLE = """
.chatkit-plan.chatkit-audit.chatkit-audit table { table-layout: auto; }
.chatkit-plan.chatkit-audit.chatkit-audit :is(td, th) { max-width: 26em;
  overflow-wrap: break-word; }
.chatkit-audit .error { color: var(--jp-error-color1, #d32f2f); }
.chatkit-audit .warning { color: var(--jp-warn-color1, #c25e00); }
.chatkit-audit .note { color: var(--jp-info-color1, #0277bd); }
"""


class Audit(FindingSequence[ContentFinding], Report):
    """All that was found in contents, in their order. Empty is good.

    Errors break what the API document states. All else warns and never blocks, for the API
    document says nothing of it; `refused` are those of which a document says that the service
    or the platform rejects the content.
    """

    _name, _style = "chatkit-plan chatkit-audit", STYLE + _STYLE

    def __init__(
        self,
        found: Iterable[ContentFinding],
        checked: Sequence[tuple[str, str]],
        unseen: Sequence[str],
        silent: Sequence[ContentFinding] = (),
    ) -> None:
        super().__init__(found)
        #: Which contents were looked at, by template code and language.
        self.checked = tuple(checked)
        #: Fields that were not given, so that their rules were not looked at.
        self.unseen = tuple(unseen)
        #: What was found and is silenced: `client.templates.silence`.
        self.silent = tuple(silent)

    @property
    def refused(self) -> Audit:
        """What the documents say is rejected, by the service or by the platform."""
        return self._with(found for found in self if found.refused)

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

    def frame(self) -> pd.DataFrame:
        """Return the findings as a DataFrame, one row each."""
        from chatkit.localization.table import frame_of

        return frame_of(self._found, _COLUMNS)

    def _with(self, found: Iterable[ContentFinding]) -> Audit:
        return Audit(found, self.checked, self.unseen, self.silent)

    def _text(self) -> list[list[str]]:
        blocks = [wrapped("", heading(self))]
        for group in groups(self):
            said = wrapped("", f"{_SIGNS[group[0].severity]} {_title(group)} {_source(group)}")
            alike = shared(group)
            few = FEW if group[0].severity != "note" else _FEW_NOTES
            for line in alike[:few]:
                first = line.first
                where = f"{cut(first.template_code, LABEL)} {line.said}".strip()
                place = ", ".join(filter(None, (where, cut(first.place, LABEL))))
                said += wrapped("    ", f"{place}: {visible(first.message)}.")
            if (more := len(group) - sum(len(line.languages) for line in alike[:few])) > 0:
                said.append(f"    … and {more:,} more: audit.frame() has them all")
            hints = dict.fromkeys(line.first.hint for line in alike[:few] if line.first.hint)
            for hint in list(hints)[:_FEW_HINTS]:
                said += wrapped("    -> ", visible(hint))
            blocks.append(said)
        blocks.append([said for note in notes_of(self) for said in wrapped("", note)])
        return blocks

    def _html(self) -> list[str]:
        found = groups(self)
        room = max(MANY // max(len(found), 1), FEW)
        first = "".join(_html_group(group, 0, FEW) for group in found)
        more = "".join(_html_group(group, FEW, room) for group in found)
        names = "".join(
            f'<th scope="col" style="width: {width}%">{name}</th>'
            for name, width in _WIDTHS.items()
        )
        head = f"<table><thead><tr>{names}</tr></thead>"
        parts = [html_heading(heading(self))]
        if first:
            parts.append(f"{head}{first}</table>")
        if more:
            rest = "<p><code>audit.frame()</code> has all findings.</p>"
            parts.append(f"<details><summary>more</summary>{head}{more}</table>{rest}</details>")
        return [*parts, *(f"<p>{marked(note)}</p>" for note in notes_of(self))]


def check_contents(
    contents: Contents,
    source: str = "en",
    *,
    glossary: Glossary | None = None,
    ledger: Ledger | None = None,
) -> Audit:
    """Hold contents against the rules, and each language against the source language.

    What the API document does not state warns and never blocks. A field that was not given is
    not judged: read frames with `full=True`.

    Args:
        contents: A frame of contents, one content (a record or a dict), or several of them.
        source: The language that the others are translated from. A template that does not have
            it is held against its only content of that language (en_GB), or against none.
        glossary: What translations say and never say.
        ledger: What is silenced in it is not told, but for what is refused.

    Raises:
        InputError: They are no contents, or a frame does not tell their languages.
    """
    found = entries(contents)
    reported: list[ContentFinding] = []
    silent: list[ContentFinding] = []
    for each in _findings(found, source, CHECKS, glossary):
        place = each.code, each.lang_code, each.template_code, each.field
        silenced = ledger is not None and not each.refused and ledger.is_silent(*place)
        (silent if silenced else reported).append(each)
    checked = [(entry.template_code, entry.lang_code) for entry in found]
    return Audit(reported, checked, fields_missing(found), silent)


def decisive(contents: Contents, source: str = "en") -> list[ContentFinding]:
    """Find what decides on the state of each content, and nothing else.

    That is what `check_contents` reports as refused, and where a content is not as its source
    (`rules.STRUCTURE`), in the same words and order.

    Raises:
        InputError: They are no contents, or a frame has no languages.
    """
    found = _findings(entries(contents), source, DECISIVE_CHECKS)
    return [each for each in found if each.decides]


def fields_missing(contents: Sequence[Entry]) -> list[str]:
    """Return the fields that some contents do not have, so that they could not be checked."""
    return [name for name in _LOOKED_AT if any(name not in entry.given for entry in contents)]


def _findings(
    contents: Sequence[Entry],
    source: str,
    checks: Sequence[Check],
    glossary: Glossary | None = None,
) -> Iterator[ContentFinding]:
    firsts: dict[tuple[str, ...], Entry] = {}
    for members in grouped(contents).values():
        original = source_of(members, source)
        for entry in members:
            compared = None if entry is original else original
            yield from findings(Case(entry, compared, source, glossary, firsts), checks)
        if original is None and len(members) > 1:
            message = f"the template has no content in {source}, so its languages are not compared"
            hint = "Name another language with source=."
            yield Flaw("no source", "lang_code", message, hint).of(members[0])


# --- what is shown ------------------------------------------------------------------------

_SIGNS = {"error": "✗", "warning": "!", "note": "i"}
_FEW_NOTES, _FEW_HINTS = 3, 3
_WIDTHS = {"template": 23, "language": 12, "field": 23, "finding": 42}


def heading(audit: Audit) -> str:
    """Count what was found, in words."""
    templates = many(len({code for code, _ in audit.checked if code}), "template")
    contents = many(len(audit.checked), "content")
    of = f"{templates}, {contents}" if any(code for code, _ in audit.checked) else contents
    count = Counter(found.severity for found in audit)
    said = ", ".join(many(count[severity], severity) for severity in SEVERITIES if count[severity])
    refused = len({(found.template_code, found.lang_code) for found in audit if found.refused})
    what = f" {many(refused, 'content')} would be refused." if refused else ""
    return f"{of}: {said or 'nothing found'}.{what}"


def groups(audit: Audit) -> list[list[ContentFinding]]:
    """Put findings of one code together: the gravest first, then those that are refused."""
    codes: dict[tuple[str, str], list[ContentFinding]] = {}
    for found in audit:
        codes.setdefault((found.severity, found.code), []).append(found)
    return sorted(codes.values(), key=_weight)


def _weight(group: list[ContentFinding]) -> tuple[int, bool, int]:
    first = group[0]
    return SEVERITIES.index(first.severity), not first.refused, -len(group)


class SharedFinding(NamedTuple):
    """What was found alike in several languages of a template."""

    first: ContentFinding
    languages: list[str]

    @property
    def said(self) -> str:
        """Name the languages, a few of them."""
        shown = ", ".join(cut(lang, 20) for lang in self.languages[:FEW])
        more = len(self.languages) - FEW
        return f"{shown} and {more:,} more" if more > 0 else shown


def shared(group: Iterable[ContentFinding]) -> list[SharedFinding]:
    """Put together what is said in the same words of several languages of one template."""
    alike: dict[tuple[str, str, str], SharedFinding] = {}
    for found in group:
        key = found.template_code, found.field, found.message
        alike.setdefault(key, SharedFinding(found, [])).languages.append(found.lang_code)
    return list(alike.values())


def _title(group: list[ContentFinding]) -> str:
    """Name a group: how grave, what, how often, who says so."""
    first = group[0]
    refused = ", refused" if first.refused and first.severity != "error" else ""
    return f"{first.severity}{refused}: {visible(first.code)}, {len(group):,}"


def _source(group: list[ContentFinding]) -> str:
    return f"({group[0].source})"


def missing_note(unseen: Sequence[str]) -> list[str]:
    """Say which fields could not be judged, if there are some."""
    if not unseen:
        return []
    return [
        f"Not given everywhere, and not judged there: {', '.join(unseen)}. full=True reads them."
    ]


def notes_of(audit: Audit) -> list[str]:
    """Say what could not be checked, and what is silenced."""
    notes = missing_note(audit.unseen)
    if audit.silent:
        codes = ", ".join(dict.fromkeys(visible(each.code) for each in audit.silent))
        are = "is" if len(audit.silent) == 1 else "are"
        notes.append(
            f"{many(len(audit.silent), 'finding')} {are} silenced: {codes}. "
            "client.templates.silence() lists what is silenced, and off=True takes it back."
        )
    return notes


def _html_group(group: list[ContentFinding], start: int, stop: int) -> str:
    """Make a table body of one group, from one line on to another."""
    rows = [_html_row(line) for line in shared(group)[start:stop]]
    if not rows:
        return ""
    severity = group[0].severity
    sign = f'<b class="{severity}" aria-hidden="true">{_SIGNS[severity]}</b> '
    title = f"{sign}{marked(_title(group))} <i>{marked(_source(group))}</i>"
    head = f'<tr><th colspan="{len(_WIDTHS)}" scope="rowgroup">{title}</th></tr>'
    return f"<tbody>{head}{''.join(rows)}</tbody>"


def _html_row(line: SharedFinding) -> str:
    first = line.first
    hint = f" <i>{marked(visible(first.hint))}</i>" if first.hint else ""
    cells = [cut(first.template_code, LABEL), line.said, cut(first.place, LABEL)]
    row = "".join(f'<td dir="auto">{marked(cell)}</td>' for cell in cells)
    return f'<tr>{row}<td dir="auto">{marked(visible(first.message))}.{hint}</td></tr>'
