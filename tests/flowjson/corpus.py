"""Cases of the lint in text files: a flow document, and what the lint reports of it.

A file of `cases/` has groups. A group begins with its title after `#` and the document that its
cases start from, on one line. A case begins with its name, or with `-`; the lines below it, which
are indented, say

    /pointer = JSON     what is changed in the document; `/-` at the end adds to an array
    /pointer -          what is taken out of it
    as 6.0              the version to check it as
    error CODE, /pointer: message -> hint -> patch
                        a finding, as `line` writes it
    fixed: error CODE, /pointer
                        a finding that is left when `fix` has done what it can

`python tests/flowjson/corpus.py` writes the findings anew: look at the difference.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatkit.flowjson.lint import lint
from chatkit.report import Finding

FOLDER = Path(__file__).with_name("cases")
MOST = 6  #: findings of a document that are written down
#: Documents of tests are too small to use all they have; these files are about that.
UNUSED, ABOUT_UNUSED = ("UNUSED_INPUT", "UNUSED_DATA"), ("usage", "authors")
_CHANGE = re.compile(r"(/\S*|) = (.*)|(/\S*) -|as ([0-9.]+)")


@dataclass
class Case:
    """One document and the lines that are expected of it."""

    id: str
    document: Any
    about_unused: bool
    name: str
    version: str | None = None
    changes: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def change(self, text: str) -> bool:
        """Apply a line to the document, if it says a change."""
        match = _CHANGE.fullmatch(text)
        if match is None:
            return False
        put, value, dropped, version = match.groups()
        self.version = version or self.version
        if dropped:
            *above, last = dropped.split("/")
            inner = at(self.document, "/".join(above))
            del inner[step(inner, last)]
        elif put == "":
            self.document = json.loads(value)
        elif put:
            *above, last = put.split("/")
            inner, new = at(self.document, "/".join(above)), json.loads(value)
            if last == "-" and isinstance(inner, list):
                inner.append(new)
            else:
                inner[step(inner, last)] = new
        self.changes.append(text)
        return True

    def lines(self) -> list[str]:
        """Write what the lint reports of the document, and what is left after its fixes."""
        findings = lint(self.document, self.version)
        reported = list(filter(self._is_about, findings))
        lines = list(map(line, reported))
        lines = lines if len(lines) <= MOST else [*lines[:MOST], f"and {len(lines) - MOST} more"]
        if any(each.patch for each in reported):
            left = filter(self._is_about, lint(findings.fix(), self.version))
            lines += [f"fixed: {each.severity} {each.code}, {each.pointer}" for each in left][:MOST]
        return lines

    def _is_about(self, finding: Finding) -> bool:
        return self.about_unused or finding.code not in UNUSED


def step(inner: Any, key: str) -> Any:
    """Return a step of a pointer as the index or the key that it is."""
    return int(key) if isinstance(inner, list) else key.replace("~1", "/").replace("~0", "~")


def at(document: Any, pointer: str) -> Any:
    """Return what stands at a pointer."""
    for key in pointer.split("/")[1:]:
        document = document[step(document, key)]
    return document


def line(finding: Finding) -> str:
    """Write a finding on one line."""
    text = f"{finding.severity} {finding.code}, {finding.pointer}: {finding.message}"
    patch = [f"{each.op} {each.path} {each.value!r}" for each in finding.patch]
    return " -> ".join([text, *([finding.hint] if finding.hint else []), *patch])


def read(path: Path) -> Iterator[str | Case]:
    """Read a file: its cases, and the lines between them as they are."""
    document, case = "", None
    lines = path.read_text("utf-8").splitlines()
    for number, text in enumerate(lines, 1):
        if case and text.startswith("  "):
            if not case.change(text[2:]):
                case.expected.append(text[2:])
            continue
        if case:
            yield case
            case = None
        if text.startswith(("#", "{", "[")) or not text:
            document = text if text.startswith(("{", "[")) else document
            yield text
        else:
            about_unused = path.stem in ABOUT_UNUSED
            case = Case(f"{path.stem}:{number}", json.loads(document), about_unused, text)
    if case:
        yield case


CASES = [
    case for path in sorted(FOLDER.glob("*.txt")) for case in read(path) if isinstance(case, Case)
]

if __name__ == "__main__":
    for path in [FOLDER / name for name in sys.argv[1:]] or sorted(FOLDER.glob("*.txt")):
        written = []
        for part in read(path):
            if isinstance(part, str):
                written.append(part)
            else:
                written += [part.name, *(f"  {each}" for each in part.changes + part.lines())]
        path.write_text("\n".join([*written, ""]), encoding="utf-8")
