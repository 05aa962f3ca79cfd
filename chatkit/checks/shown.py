"""Shown: a quality table, and what was fixed, as text and as HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from chatkit.bulk import show
from chatkit.bulk.line import LABEL
from chatkit.bulk.show import FEW, MANY, STYLE, WIDTH, escaped, row_label, wrapped
from chatkit.bulk.value import LONG, columns, cut, many, pair, values, visible
from chatkit.checks.findings import SEVERITIES, Finding, Severity

if TYPE_CHECKING:
    from chatkit.checks.quality import Fixed, Quality

_COLOURS = """
.chatkit-plan :is(.error, .warning, .note) { border-left: 4px solid; padding-left: 0.6em; }
.chatkit-plan .error { border-color: var(--jp-error-color1, #d32f2f); }
.chatkit-plan .warning { border-color: var(--jp-warn-color1, #f57c00); }
.chatkit-plan .note { border-color: var(--jp-info-color1, #0288d1); }
"""
_FOUND = {"row": 8, "column": 13, "value": 24, "reason": 31, "suggestion": 24}
_DONE = {"row": 10, "column": 14, "why": 22, "before": 27, "after": 27}


# --- what is told -------------------------------------------------------------------------


def heading(quality: Quality) -> str:
    """Count what was found."""
    rows = many(quality.rows, "row")
    count = Counter(found.severity for found in quality.findings)
    found = [many(count[severity], severity) for severity in SEVERITIES if count[severity]]
    return f"Checked {rows}: {', '.join(found) or 'nothing found'}."


def _of(quality: Quality, severity: Severity) -> list[Finding]:
    """Put those first that are shown at once: some of each code, those of one code together."""
    codes: dict[str, list[Finding]] = {}
    for found in quality.findings:
        if found.severity == severity:
            codes.setdefault(found.code, []).append(found)
    groups = sorted(codes.values(), key=len, reverse=True)
    rounds = [
        one for each in zip_longest(*(group[:FEW] for group in groups)) for one in each if one
    ]
    few = {id(one) for one in rounds[:FEW]}
    first = [one for group in groups for one in group[:FEW] if id(one) in few]
    return first + [
        one for one in quality.findings if one.severity == severity and id(one) not in few
    ]


def _title(found: Sequence[Finding]) -> str:
    """Count findings of one severity by their codes, the most frequent first."""
    codes = Counter(one.code for one in found)
    said = ", ".join(f"{count:,} {visible(code)}" for code, count in codes.most_common())
    return f"{found[0].severity.capitalize()}s: {said}"


def _end(quality: Quality) -> str:
    safe = sum(found.safe for found in quality.findings)
    open_ = sum(found.suggestion is not None for found in quality.findings) - safe
    taken = [f"fix() takes the {many(safe, 'suggestion')} with *."] if safe else []
    left = [f"{many(open_, 'suggestion')} with ? {'is' if open_ == 1 else 'are'} yours to judge."]
    return " ".join(taken + left * (open_ > 0))


def _fixed_heading(fixed: Fixed) -> str:
    done = fixed.done
    if done.empty:
        return "Nothing to fix: the frame is as it was."
    rows = len({repr(row) for row in done["row"].tolist()})
    codes = Counter(code for codes in done["code"].tolist() for code in codes.split(", "))
    said = ", ".join(f"{count:,} {code}" for code, count in codes.most_common())
    return f"Fixed {many(len(done), 'cell')} in {many(rows, 'row')}: {said}."


# --- as text ------------------------------------------------------------------------------


def text(quality: Quality) -> str:
    """Show a quality table in a terminal: of the same frame the same text."""
    blocks = [[heading(quality)]]
    for severity in SEVERITIES:
        if found := _of(quality, severity):
            blocks.append([*wrapped("", _title(found)), *_lines(found)])
    blocks.append([line for note in quality.notes for line in wrapped("", visible(note))])
    blocks.append([_end(quality)] if _end(quality) else [])
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _lines(found: Sequence[Finding]) -> list[str]:
    said = []
    for one in found[:FEW]:
        place = f"row {row_label(one.row)}, {cut(one.column, LABEL)}"
        value = "" if one.value is None else f" = {_value(one)}"
        said += wrapped("  ", f"{place}{value}: {visible(one.reason)}")
        if one.suggestion is not None:
            mark = " *" if one.safe else " ?"
            said += wrapped("    -> ", _suggested(one) + mark)
    if (more := len(found) - FEW) > 0:
        said.append(f"  … and {more:,} more: .frame() has them all")
    return said


def _value(one: Finding) -> str:
    """Show what is in the cell, as far as it can be told apart from the suggestion."""
    if one.column == "name" and isinstance(one.value, str) and one.suggestion:
        return str(pair(one.value, one.suggestion)[0])
    return cut(values(one.value), 2 * LONG)


def _suggested(one: Finding) -> str:
    if one.column == "name" and isinstance(one.value, str):
        return str(pair(one.value, one.suggestion)[1])
    return str(one.suggestion)


def fixed_text(fixed: Fixed) -> str:
    """Show in a terminal what was fixed."""
    said = []
    for row, column, _, before, after in _rows(fixed)[:FEW]:
        old, new = pair(before, after)
        lead = f"  row {row_label(row)}, {cut(column, LABEL)}: "
        first, *others = show.sides("", old, new, WIDTH - columns(lead))
        said += [lead + first, *(" " * columns(lead) + line for line in others)]
    if (more := len(fixed.done) - FEW) > 0:
        said.append(f"  … and {more:,} more: .done has them all")
    end = [".frame is the new frame; the one that was checked is as it was."]
    blocks = [wrapped("", _fixed_heading(fixed)), said, end if said else []]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _rows(fixed: Fixed) -> list[tuple[Any, ...]]:
    done = fixed.done.iloc[:MANY].astype(object)
    return list(done.where(done.notna(), None).itertuples(index=False, name=None))


# --- as HTML ------------------------------------------------------------------------------


def html(quality: Quality) -> str:
    """Show a quality table in JupyterLab, light and dark; it can be read without its style."""
    parts = [f"<p><strong>{escaped(heading(quality))}</strong></p>"]
    for severity in SEVERITIES:
        if found := _of(quality, severity):
            rows = [_html_finding(one) for one in found[:MANY]]
            parts.append(f'<p class="{severity}"><strong>{escaped(_title(found))}</strong></p>')
            parts.append(show.html_tables(_FOUND, rows[:FEW], rows[FEW:], len(found), ".frame()"))
    told = [*map(visible, quality.notes), _end(quality)]
    parts.append(show.html_list("told", "", [line for line in told if line]))
    return _page(parts)


def _page(parts: Sequence[str]) -> str:
    # the class names keep JupyterLab from reading $…$ in a name as mathematics
    style = f"<style>{STYLE}{_COLOURS}</style>"
    return f'<div class="chatkit-plan tex2jax_ignore mathjax_ignore">{style}{"".join(parts)}</div>'


def _html_finding(one: Finding) -> str:
    value = "" if one.value is None else _value(one)
    meant = ""
    if one.suggestion is not None:  # the mark stays at the end of a name from right to left
        meant = f"<bdi>{escaped(_suggested(one))}</bdi> {'*' if one.safe else '?'}"
    texts = [row_label(one.row), cut(one.column, LABEL), value, visible(one.reason)]
    return f"<tbody><tr>{''.join(map(_cell, texts))}<td>{meant}</td></tr></tbody>"


def _cell(text: str) -> str:
    return f'<td dir="auto">{escaped(text)}</td>'


def fixed_html(fixed: Fixed) -> str:
    """Show in JupyterLab what was fixed."""
    rows = []
    for row, column, code, before, after in _rows(fixed):
        old, new = pair(before, after)
        head = "".join(map(_cell, (row_label(row), cut(column, LABEL), visible(code))))
        sides = show.html_side(old, "del") + show.html_side(new, "ins")
        rows.append(f"<tbody><tr>{head}{sides}</tr></tbody>")
    parts = [
        f"<p><strong>{escaped(_fixed_heading(fixed))}</strong></p>",
        show.html_tables(_DONE, rows[:FEW], rows[FEW:], len(fixed.done), ".done"),
        "<p><code>.frame</code> is the new frame; the one that was checked is as it was.</p>"
        if rows
        else "",
    ]
    return _page(parts)
