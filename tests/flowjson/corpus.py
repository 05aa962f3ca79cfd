"""Cases in text files: what chatkit reports of a document, an expression, a line of Python.

A file of `cases/` has groups. A group begins with its title after `#` and the document that its
cases start from, on one line. A case begins with its name, or with `-`; the lines below it, which
are indented, say

    /pointer = JSON     what is changed in the document; `/-` at the end adds to an array
    /pointer + JSON     what is put before that item of an array
    /pointer -          what is taken out of it
    /pointer > /other   what is taken out and put, before that item, elsewhere
    as 6.0              the version to check it as, or to upgrade it to
    error CODE, /pointer: message -> hint -> patch
                        a finding of the lint, as `write_finding` writes it
    fixed: error CODE, /pointer
                        a finding that is left when `fix` has done what it can

In `cases/diff` the document of a group is compared with that of the case, in `cases/upgrade` it is
upgraded, in `cases/reference` the name is a reference on its first screen. In `cases/lines` the
name alone is the case: an expression, or a line of Python.

`python tests/flowjson/corpus.py` writes the results anew: look at the difference.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from chatkit import flowjson
from chatkit.errors import InputError
from chatkit.flowjson.diff import Difference, find_differences
from chatkit.flowjson.lint import lint
from chatkit.flowjson.nodes import parse_reference, read_nodes, resolve_reference
from chatkit.flowjson.rules.expression import ExpressionError, infer_types, parse_expression
from chatkit.flowjson.upgrade import upgrade
from chatkit.report import Finding
from chatkit.util.display import MISSING
from chatkit.util.json import get_value

FOLDER = Path(__file__).with_name("cases")
MOST = 6  #: findings of a document that are written down
#: Documents of tests are too small to use all they have; these files are about that.
UNUSED, ABOUT_UNUSED = ("UNUSED_INPUT", "UNUSED_DATA"), ("usage", "authors")
_CHANGE = re.compile(r"(/\S*|) ([=+>-])(?: (.*))?|as ([0-9.]+)")
#: The differences whose values are places or names.
PLACED = (" moved", " renamed")
#: The type of the fields to which the expressions of the cases refer.
TYPES = {"text": "string", "count": "number", "flag": "boolean", "list": "array"}


@dataclass
class Case:
    """One document or line, and the lines that are expected of it."""

    id: str
    kind: str  #: what is reported of it: a key of REPORTS
    name: str
    document: Any = None
    about_unused: bool = False
    version: str | None = None
    changes: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.before = copy.deepcopy(self.document)

    def change(self, text: str) -> bool:
        """Apply a line to the document, if it says a change."""
        match = _CHANGE.fullmatch(text)
        if match is None:
            return False
        pointer, sign, value, version = match.groups()
        self.version = version or self.version
        if sign == ">":
            put(self.document, value, take(self.document, pointer), insert=True)
        elif sign == "-":
            take(self.document, pointer)
        elif pointer == "":
            self.document = json.loads(value)
        elif sign:
            put(self.document, pointer, json.loads(value), insert=sign == "+")
        self.changes.append(text)
        return True

    def lines(self) -> list[str]:
        """Write what is reported of it."""
        return REPORTS[self.kind](self)


def at(document: Any, pointer: str) -> Any:
    """Return what stands at a pointer."""
    return get_value(document, pointer)


def above(document: Any, pointer: str) -> tuple[Any, Any]:
    """Return what holds the value at a pointer, and its index or key there."""
    way, _, last = pointer.rpartition("/")
    inner = at(document, way)
    if isinstance(inner, list):
        return inner, len(inner) if last == "-" else int(last)
    return inner, last.replace("~1", "/").replace("~0", "~")


def put(document: Any, pointer: str, value: Any, *, insert: bool = False) -> None:
    """Put a value at a pointer; `-` as the last step adds to an array."""
    inner, key = above(document, pointer)
    if isinstance(inner, list) and (insert or key == len(inner)):
        inner.insert(key, value)
    else:
        inner[key] = value


def take(document: Any, pointer: str) -> Any:
    """Take what stands at a pointer out of a document."""
    inner, key = above(document, pointer)
    return inner.pop(key)


# --- what is reported -----------------------------------------------------------------------


def report_findings(case: Case) -> list[str]:
    """Write the findings of the lint, and what is left after its fixes."""

    def is_about(finding: Finding) -> bool:
        return case.about_unused or finding.code not in UNUSED

    findings = lint(case.document, case.version)
    reported = list(filter(is_about, findings))
    lines = list(map(write_finding, reported))
    lines = lines if len(lines) <= MOST else [*lines[:MOST], f"and {len(lines) - MOST} more"]
    if any(each.patch for each in reported):
        left = filter(is_about, lint(findings.fix(show=False), case.version))
        lines += [f"fixed: {each.severity} {each.code}, {each.pointer}" for each in left][:MOST]
    return lines


def write_finding(finding: Finding) -> str:
    """Write a finding on one line."""
    text = f"{finding.severity} {finding.code}, {finding.pointer}: {finding.message}"
    patch = [f"{each.op} {each.path} {each.value!r}" for each in finding.patch]
    return " -> ".join([text, *([finding.hint] if finding.hint else []), *patch])


def report_differences(case: Case) -> list[str]:
    """Write the differences, which agree with both documents; as many lead back."""
    result = list(find_differences(case.before, case.document))
    assert len(list(find_differences(case.document, case.before))) == len(result)
    for one in result:
        check_difference(one, case.before, case.document)
    return [
        f"{one.kind}, {one.pointer_a} -> {one.pointer_b}: {one.where}"
        + (f": {one.before} -> {one.after}" if one.kind.endswith(PLACED) else "")
        for one in result
    ]


def check_difference(one: Difference, before: Any, after: Any) -> None:
    """Hold a difference against both documents: its pointers lead to what it says."""
    assert one.kind.split()[1] in ("added", "removed", "changed", "moved", "renamed")
    assert (one.pointer_a is None) == (one.before is MISSING)
    assert (one.pointer_b is None) == (one.after is MISSING)
    places = ((one.pointer_a, one.before, before), (one.pointer_b, one.after, after))
    for pointer, value, document in places:
        if pointer is not None:
            present = get_value(document, pointer)
            assert one.kind.endswith(PLACED) or present == value


def report_upgrade(case: Case) -> list[str]:
    """Write what an upgrade changes, and what it leaves to a person."""
    done = upgrade(case.document, case.version or "7.3")
    changes = [
        f"changed {one.pointer}: {one.before!r} -> {one.after!r} -> {one.reason}"
        for one in done.changes
    ]
    assert upgrade(done.document, done.target).changes == ()
    return changes + [f"left {one.pointer}: {one.task}" for one in done.todo]


def report_built(case: Case) -> list[str]:
    """Write the JSON of what a line of Python builds, or each reason of its refusal."""
    names = {name: getattr(flowjson, name) for name in flowjson.__all__}
    try:
        built = eval(case.name, names | {"date": date, "Path": Path})
    except InputError as error:
        return [f"! {line.strip()}" for line in str(error).splitlines()]
    return [built if isinstance(built, str) else json.dumps(built.to_json(), ensure_ascii=False)]


def report_expression(case: Case) -> list[str]:
    """Write the type of an expression and its doubtful parts, or what is wrong with it."""
    try:
        steps = parse_expression(case.name)
    except ExpressionError as error:
        return [f"! at {error.at}: {error}"]
    types, mistakes = infer_types(
        steps, lambda each: frozenset({TYPES[each.path[0]]} if each.path[0] in TYPES else ())
    )
    return ["/".join(sorted(types)) or "unknown", *(f"{each}: {why}" for each, why in mistakes)]


def report_reference(case: Case) -> list[str]:
    """Write the types of what a reference leads to, or why it leads nowhere."""
    reference = parse_reference(case.name)
    assert reference is not None
    flow = read_nodes(case.document)
    result = resolve_reference(flow, flow.screens[0], reference)
    return [f"! {result.problem}"] if result.problem else ["/".join(sorted(result.types))]


REPORTS: dict[str, Callable[[Case], list[str]]] = {
    "cases": report_findings,
    "diff": report_differences,
    "upgrade": report_upgrade,
    "built": report_built,
    "expression": report_expression,
    "reference": report_reference,
}


# --- the files ------------------------------------------------------------------------------


def read(path: Path) -> Iterator[str | Case]:
    """Read a file: its cases, and the lines between them as they are."""
    document, case = "", None
    is_lines = path.parent.name == "lines"
    kind = path.stem if is_lines else path.parent.name
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        if case and text.startswith("  "):
            if is_lines or not case.change(text[2:]):
                case.expected.append(text[2:])
            continue
        if case:
            yield case
            case = None
        if text.startswith("#") or not text or (text.startswith(("{", "[")) and not is_lines):
            document = document if text.startswith("#") or not text else text
            yield text
        else:
            value = None if is_lines else json.loads(document)
            case = Case(f"{kind}/{path.stem}:{number}", kind, text, value)
            case.about_unused = path.stem in ABOUT_UNUSED
    if case:
        yield case


ALL = [
    case for path in sorted(FOLDER.rglob("*.txt")) for case in read(path) if isinstance(case, Case)
]
#: Those of the lint.
CASES = [case for case in ALL if case.kind == "cases"]


def main(names: list[str]) -> None:
    """Write the results of the files anew, or of those that are named."""
    for path in [FOLDER / name for name in names] or sorted(FOLDER.rglob("*.txt")):
        written = []
        for part in read(path):
            if isinstance(part, str):
                written.append(part)
            else:
                written += [part.name, *(f"  {each}" for each in part.changes + part.lines())]
        path.write_text("\n".join([*written, ""]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
