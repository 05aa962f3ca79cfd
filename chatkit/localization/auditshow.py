"""How an audit is shown: as text and as HTML, grouped by what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from chatkit.bulk.rendering import FEW, LABEL, MANY, STYLE, escaped, wrapped
from chatkit.display import cut, many, visible
from chatkit.finding import SEVERITIES
from chatkit.localization.finding import Finding
from chatkit.localization.rules import rule_of

if TYPE_CHECKING:
    from chatkit.localization.audit import Audit

_SIGNS = {"error": "✗", "warning": "!", "note": "i"}
_FEW_NOTES, _FEW_HINTS = 3, 3
_WIDTHS = {"template": 23, "language": 12, "field": 23, "finding": 42}
_STYLE = """
.chatkit-plan .error { color: var(--jp-error-color1, #d32f2f); }
.chatkit-plan .warning { color: var(--jp-warn-color1, #c25e00); }
.chatkit-plan .note { color: var(--jp-info-color1, #0277bd); }
"""


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


def groups(audit: Audit) -> list[list[Finding]]:
    """Put findings of one code together: the gravest first, then those that are refused."""
    codes: dict[tuple[str, str], list[Finding]] = {}
    for found in audit:
        codes.setdefault((found.severity, found.code), []).append(found)
    return sorted(codes.values(), key=_weight)


def _weight(group: list[Finding]) -> tuple[int, bool, int]:
    first = group[0]
    return SEVERITIES.index(first.severity), not first.refused, -len(group)


class Line(NamedTuple):
    """What was found alike in several languages of a template."""

    first: Finding
    languages: list[str]

    @property
    def said(self) -> str:
        """Name the languages, a few of them."""
        shown = ", ".join(cut(lang, 20) for lang in self.languages[:FEW])
        more = len(self.languages) - FEW
        return f"{shown} and {more:,} more" if more > 0 else shown


def lines(group: Iterable[Finding]) -> list[Line]:
    """Put together what is said in the same words of several languages of one template."""
    alike: dict[tuple[str, str, str], Line] = {}
    for found in group:
        key = found.template_code, found.field, found.message
        alike.setdefault(key, Line(found, [])).languages.append(found.lang_code)
    return list(alike.values())


def _title(group: list[Finding]) -> str:
    """Name a group: how grave, what, how often, who says so."""
    first = group[0]
    refused = ", refused" if first.refused and first.severity != "error" else ""
    return f"{first.severity}{refused}: {visible(first.code)}, {len(group):,}"


def _source(group: list[Finding]) -> str:
    return f"({rule_of(group[0].code, group[0].severity).source})"


def _notes(audit: Audit) -> list[str]:
    if not audit.unseen:
        return []
    names = ", ".join(audit.unseen)
    return [f"Not given everywhere, and not judged there: {names}. full=True reads them."]


# --- as text ------------------------------------------------------------------------------


def text(audit: Audit) -> str:
    """Show an audit in a terminal: the same audit, the same text."""
    blocks = [wrapped("", heading(audit))]
    for group in groups(audit):
        said = wrapped("", f"{_SIGNS[group[0].severity]} {_title(group)} {_source(group)}")
        alike = lines(group)
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
    blocks.append([said for note in _notes(audit) for said in wrapped("", note)])
    return "\n\n".join("\n".join(block) for block in blocks if block)


# --- as HTML ------------------------------------------------------------------------------


def html(audit: Audit) -> str:
    """Show an audit in JupyterLab, light and dark; it can be read without its style too."""
    found = groups(audit)
    room = max(MANY // max(len(found), 1), FEW)
    first = "".join(_html_group(group, 0, FEW) for group in found)
    more = "".join(_html_group(group, FEW, room) for group in found)
    names = "".join(
        f'<th scope="col" style="width: {width}%">{name}</th>' for name, width in _WIDTHS.items()
    )
    head = f"<table><thead><tr>{names}</tr></thead>"
    parts = [f"<style>{STYLE}{_STYLE}</style><p><strong>{escaped(heading(audit))}</strong></p>"]
    if first:
        parts.append(f"{head}{first}</table>")
    if more:
        rest = "<p><code>audit.frame()</code> has all findings.</p>"
        parts.append(f"<details><summary>more</summary>{head}{more}</table>{rest}</details>")
    parts += [f"<p>{escaped(note)}</p>" for note in _notes(audit)]
    return f'<div class="chatkit-plan tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def _html_group(group: list[Finding], start: int, stop: int) -> str:
    """Make a table body of one group, from one line on to another."""
    rows = [_html_row(line) for line in lines(group)[start:stop]]
    if not rows:
        return ""
    severity = group[0].severity
    sign = f'<b class="{severity}" aria-hidden="true">{_SIGNS[severity]}</b> '
    title = f"{sign}{escaped(_title(group))} <i>{escaped(_source(group))}</i>"
    head = f'<tr><th colspan="{len(_WIDTHS)}" scope="rowgroup">{title}</th></tr>'
    return f"<tbody>{head}{''.join(rows)}</tbody>"


def _html_row(line: Line) -> str:
    first = line.first
    hint = f" <i>{escaped(visible(first.hint))}</i>" if first.hint else ""
    cells = [cut(first.template_code, LABEL), line.said, cut(first.place, LABEL)]
    row = "".join(f'<td dir="auto">{escaped(cell)}</td>' for cell in cells)
    return f'<tr>{row}<td dir="auto">{escaped(visible(first.message))}.{hint}</td></tr>'
