"""Check a flow document by the platform's rules, before the platform does.

`lint` reads the nodes of the document, shows each to its rules, and gives each finding its line
and column. `Findings` is a report that can fix what is certain, and show the source with each
finding under its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chatkit.flowjson.components import RECOMMENDED, RELEASED, UNANNOUNCED, Version
from chatkit.flowjson.document import DocumentSource, LineColumn, read_source
from chatkit.flowjson.nodes import read_nodes
from chatkit.flowjson.rules import (  # noqa: F401  (they register their rules)
    Patch,
    action,
    expression,
    reference,
    run_rules,
    shape,
    structure,
)
from chatkit.report import (
    MANY,
    SEVERITIES,
    Finding,
    FindingSequence,
    Report,
    ReportPart,
    make_object_frame,
    marked,
)
from chatkit.util.display import escaped, many, values, visible
from chatkit.util.json import apply_patch, split_pointer
from chatkit.util.progress import print_line

if TYPE_CHECKING:
    import pandas as pd

#: More bytes are refused.
MOST_BYTES = 10 * 2**20


def lint(document: object, version: str | Version | None = None) -> Findings:
    """Check a flow document: find what the platform would refuse, and the places.

    Args:
        document: A dict, a record of an account, a built Flow, JSON text, bytes, or a file.
        version: Check it as if it were of this version, like "7.3", to see what would change.

    Returns:
        The findings in the order of the document; `.ok` when there is no error.

    Raises:
        InputError: A file cannot be opened, or the document is nothing of these.
    """
    source = read_source(document)
    if source.fault:
        line, column = source.at or (None, None)
        message = f"This is not valid JSON: {source.fault}."
        fault = Finding("INVALID_FLOW_JSON", "error", "", message, line=line, column=column)
        return Findings([fault], None, source.text or "")
    findings = _check_document(source.value, str(version or _choose_version(source.value)))
    if source.size > MOST_BYTES:
        message = f"The document has {source.size:,} bytes; at most {MOST_BYTES:,} are taken."
        hint = "Use smaller pictures."
        findings.append(Finding("FLOW_JSON_TOO_LARGE", "error", "", message, hint))
    return Findings(_add_positions(source, findings), source.value, source.text or "")


def _check_document(document: Any, version: str, depth: int = 4) -> list[Finding]:
    """Return the findings of a document, before and after misspelled names are corrected.

    Findings that only follow from a misspelled name are left out.
    """
    findings = list(dict.fromkeys(run_rules(read_nodes(document, version))))  # two rules may agree
    misspelled = [each for each in findings if _is_spelling_fix(each.patch)]
    if not misspelled or not depth:
        return findings
    moves = [op for each in misspelled for op in each.patch if op.op == "move"]

    def original(pointer: str) -> str:
        """Convert a pointer into the corrected document to one into this document."""
        for op in moves:
            if f"{pointer}/".startswith(f"{op.path}/"):
                return f"{op.value}{pointer[len(op.path) :]}"
        return pointer

    others = [
        replace(each, pointer=original(each.pointer), patch=_convert_pointers(each.patch, original))
        for each in _check_document(_apply_patches(document, misspelled), version, depth - 1)
    ]
    return list(dict.fromkeys([*misspelled, *others]))


def _is_spelling_fix(patch: Patch) -> bool:
    return bool(patch) and all(each.op in ("move", "replace") for each in patch)


def _apply_patches(document: Any, misspelled: Sequence[Finding]) -> Any:
    for each in sorted(misspelled, key=lambda each: -len(each.pointer)):  # what is inside, first
        document = apply_patch(document, each.patch)
    return document


def _convert_pointers(patch: Patch, convert: Callable[[str], str]) -> Patch:
    """Return a patch with converted pointers."""
    return tuple(
        op._replace(path=convert(op.path), value=convert(op.value) if op.op == "move" else op.value)
        for op in patch
    )


def _choose_version(document: Any) -> Version:
    """Return the version of a document; the recommended one when it names none that is known."""
    version = Version.parse(document.get("version")) if isinstance(document, dict) else None
    is_known = version in RELEASED or version in UNANNOUNCED
    return version if version is not None and is_known else RECOMMENDED


def _add_positions(source: DocumentSource, findings: list[Finding]) -> list[Finding]:
    """Add lines and columns to the findings, and findings of repeated keys."""
    if source.text is None or not (findings or source.has_duplicates):
        return findings
    placed = [replace(each, **source.find(each.pointer)._asdict()) for each in findings]
    for pointer, (line, column) in source.find_duplicate_keys():
        message = f"{split_pointer(pointer)[-1]} is here twice; only the last one counts."
        placed.append(
            Finding("DUPLICATE_KEY", "warning", pointer, message, "Remove one.", line, column)
        )
    return placed


_COLUMNS = ("severity", "code", "pointer", "line", "column", "message", "hint")
_POSITION_COLUMNS = ("line", "column")


class Findings(FindingSequence[Finding], Report):
    """The findings of a lint, in the order of the document.

    `ok` is true if there is no error: the platform would take the document.
    """

    _name, _style = "chatkit-report", ""

    def __init__(
        self, findings: Iterable[Finding] = (), document: Any = None, text: str = ""
    ) -> None:
        super().__init__(sorted(findings, key=_make_sort_key))
        self._document = document
        self._source = text

    def _with(self, findings: Iterable[Finding]) -> Findings:
        return Findings(findings, self._document, self._source)

    def frame(self) -> pd.DataFrame:
        """Return them as a DataFrame, one row each."""
        frame = make_object_frame(
            self._findings, _COLUMNS, texts={*_COLUMNS} - {*_POSITION_COLUMNS}
        )
        return frame.astype(dict.fromkeys(_POSITION_COLUMNS, "Int64"))

    def annotated(self, around: int = 2) -> AnnotatedSource:
        """Show the source with each finding under its line.

        Args:
            around: The number of lines to show before and after.
        """
        text = self._source or json.dumps(
            self._document, indent=2, ensure_ascii=False, default=repr, skipkeys=True
        )
        return AnnotatedSource(text, self._findings, around)

    def fix(self, *, show: bool = True) -> Any:
        """Return the document with all findings fixed whose fix is certain, and print each fix.

        Check it again: what is fixed may have hidden something else. The document is a dict:
        `json.dump` writes it to a file, and `client.flows.create` takes it.

        Args:
            show: Whether to print what is fixed.

        >>> from chatkit import flowjson
        >>> findings = flowjson.lint({"screens": []})
        >>> document = findings.fix()
        Fixed 1 of 2 findings:
          /version: added "7.3"
          /screens: left to you: screens has 0 items; it needs at least 1.
        >>> document["version"]
        '7.3'
        """
        if show:
            print_line("\n".join(_fix_lines(self._findings)))
        misspelled = [each for each in self._findings if _is_spelling_fix(each.patch)]
        moves = [op for each in misspelled for op in each.patch if op.op == "move"]
        moves.sort(key=lambda op: -len(op.value))

        def convert_to_corrected(pointer: str) -> str:
            for op in moves:
                if f"{pointer}/".startswith(f"{op.value}/"):
                    pointer = f"{op.path}{pointer[len(op.value) :]}"
            return pointer

        document = _apply_patches(self._document, misspelled)
        for each in reversed(self._findings):  # from the end, so that places before it stay
            if not _is_spelling_fix(each.patch):
                document = apply_patch(
                    document, _convert_pointers(each.patch, convert_to_corrected)
                )
        return document

    def summary(self) -> str:
        """Return their numbers in words, like "1 error, 2 warnings"."""
        counts = [(len(self._only(severity)), severity) for severity in SEVERITIES]
        message = ", ".join(many(count, noun) for count, noun in counts if count)
        return message or "No findings"

    def _heading(self) -> str:
        """Return their numbers, and how many `fix` corrects, in one line."""
        count, fixable = len(self._findings), sum(bool(each.patch) for each in self._findings)
        corrected = "it" if count == 1 else "them all" if fixable == count else f"{fixable} of them"
        return f"{self.summary()}; .fix() corrects {corrected}" if fixable else self.summary()

    def _parts(self) -> list[ReportPart]:
        lines = [self._heading()]
        for each in self._findings:
            lines.append(f"  {each.severity} {each.code} at {each.where}")
            lines.append(f"    {each.message}{' ' + each.hint if each.hint else ''}")
        return [ReportPart([visible(line) for line in lines], self._html)]

    def _html(self) -> str:
        head = f"<p>{escaped(self._heading())}</p>"
        if not self._findings:
            return head
        start = 'style="text-align: start; vertical-align: top'
        where = 'style="overflow-wrap: break-word; white-space: normal"'  # a long path gives way
        rows = "".join(
            f'<tr><td {start}">{each.severity}</td>'
            f'<td {start}"><code>{escaped(each.code)}</code></td>'
            f'<td {start}"><code {where}>{marked(each.where)}</code></td>'
            f'<td {start}; min-width: 20em">{escaped(each.message)} {escaped(each.hint)}</td></tr>'
            for each in self._findings
        )
        names = ("severity", "code", "at", "finding")
        columns = "".join(f'<th {start}">{name}</th>' for name in names)
        return f"{head}<table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>"


def _fix_lines(findings: Sequence[Finding]) -> list[str]:
    """Describe what a fix changes, a line for each operation, and what it leaves."""
    fixable = [each for each in findings if each.patch]
    count = many(len(findings), "finding")
    lines = [f"Fixed {len(fixable):,} of {count}{':' if findings else '.'}"]
    for op in (op for each in fixable for op in each.patch):
        change = {
            "move": f"renamed to {op.path.rpartition('/')[2]}",
            "add": f"added {values(op.value)}",
            "replace": f"replaced by {values(op.value)}",
            "remove": "removed",
        }[op.op]
        lines.append(f"  {op.value if op.op == 'move' else op.path}: {change}")
    lines += [f"  {each.where}: left to you: {each.message}" for each in findings if not each.patch]
    if (more := len(lines) - 1 - MANY) > 0:
        lines[MANY + 1 :] = [f"  … and {more:,} more"]
    return [visible(line) for line in lines]


def _make_sort_key(finding: Finding) -> tuple[Any, ...]:
    """Return the sort key: line and column, or the pointer without a text; then the severity."""
    path = [
        (0, int(step), "") if step.isdecimal() and step.isascii() and len(step) < 10
        else (1, 0, step)
        for step in finding.pointer.split("/")[1:]
    ]  # fmt: skip
    line, column = finding.line or 0, finding.column or 0
    return line, column, path, SEVERITIES.index(finding.severity), finding.code, finding.message


#: Characters of a line that are shown: a document may be one line, or hold a picture.
WIDE = 100
_COLORS = {"error": "#c62828", "warning": "#b26a00", "note": "#1565c0"}


class AnnotatedSource:
    """The source of a document, with each finding under its line."""

    def __init__(self, text: str, findings: Iterable[Finding], around: int = 2) -> None:
        self._lines = re.split(r"\r\n|\n|\r", text)
        source = DocumentSource(text=text)
        self._findings: dict[int, list[tuple[LineColumn, Finding]]] = {}
        for each in findings:
            if each.line is None:
                place = source.find(each.pointer)
            else:  # in the user's own text
                place = LineColumn(each.line, each.column or 1)
            line = min(max(place.line, 1), len(self._lines))
            self._findings.setdefault(line, []).append((place, each))
        self._numbers = sorted(
            {
                number
                for line in self._findings
                for number in range(line - around, line + around + 1)
                if 1 <= number <= len(self._lines)
            }
        )

    def _rows(self) -> Iterator[tuple[str, str, Finding | None]]:
        """Yield the margin and the text of each row, and its finding if it is the row of one."""
        last = 0
        width = len(str(self._numbers[-1])) if self._numbers else 1
        for number in self._numbers:
            if number > last + 1:
                yield " " * width, "…", None
            last = number
            findings = self._findings.get(number, ())
            first = min((place.column for place, _ in findings), default=1)
            start = 1 if first <= WIDE * 3 // 4 else first - WIDE // 4  # so that it is in sight
            line = self._lines[number - 1]
            after = "…" if len(line) >= start + WIDE else ""
            part = f"{'…' if start > 1 else ''}{line[start - 1 : start - 1 + WIDE]}{after}"
            yield str(number).rjust(width), part.replace("\t", " "), None
            for place, each in findings:
                column = place.column - start + (1 if start > 1 else 0)
                mark = " " * min(max(column, 0), WIDE) + "^"
                message = f"{mark} {each.severity} {each.code}: {each.message}"
                yield " " * width, f"{message}{' ' + each.hint if each.hint else ''}", each

    def __repr__(self) -> str:
        rows = [f"{margin} | {visible(text)}".rstrip() for margin, text, _ in self._rows()]
        return "\n".join(rows) or "No findings"

    def _repr_html_(self) -> str:
        rows = []
        for margin, text, each in self._rows():
            # a line that is wrapped goes on below its words, and no word is broken
            indent = min(len(margin) + 3 + (text.find("^") + 2 if each else 0), 40)
            style = f"display: block; padding-left: {indent}ch; text-indent: -{indent}ch"
            line = f"{margin} | {escaped(text)}"
            line = f"<b style='color:{_COLORS[each.severity]}'>{line}</b>" if each else line
            rows.append(f'<span style="{style}">{line}</span>')
        whole = "overflow-wrap: break-word; white-space: pre-wrap; word-break: normal"
        return f'<pre style="{whole}">{"".join(rows) or "No findings"}</pre>'
