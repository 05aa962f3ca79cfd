"""Findings: what a check of documents has found, in the words of plans and errors."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chatkit.display import MISSING, many, values
from chatkit.errors import InputError, Problem
from chatkit.flowjson.pointer import steps

if TYPE_CHECKING:
    from chatkit.endpoints import Endpoints
    from chatkit.finding import Finding

FEW = 8  #: different findings that are told
_NAMED = 3  #: records that are named where the same is to be said of many
_PLACE = re.compile("0|[1-9][0-9]{0,8}")


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """Pick those that the platform refuses."""
    return [finding for finding in findings if finding.severity == "error"]


def doubts(findings: Iterable[Finding]) -> list[Finding]:
    """Pick what a person is to know of what is sent all the same: all but mere notes."""
    return [finding for finding in findings if finding.severity != "note"]


def finding_line(finding: Finding) -> str:
    """Say one in a line: its code, its place, what is wrong."""
    place = f" at {finding.pointer}" if finding.pointer else ""
    if not place and finding.message.startswith(finding.code):
        return finding.message  # "too short for +44" needs no "too short" before it
    return f"{finding.code}{place}: {finding.message}"


def document_problem(field: str, document: object, finding: Finding) -> Problem:
    """Say one as what is wrong with a field; the value is what stands at its place."""
    value = values(value_at(document, finding.pointer))
    return Problem(field, value, finding_line(finding), finding.hint)


def cell_problem(fields: Mapping[str, Any], finding: Finding) -> Problem:
    """Say one, whose pointer leads into a record, as what is wrong with a field of it."""
    name, slash, rest = finding.pointer.removeprefix("/").partition("/")
    inner = replace(finding, pointer=slash + rest)
    if name in fields:
        return document_problem(name, fields[name], inner)
    return Problem(name, "", finding_line(inner), finding.hint)


def summary(found: Sequence[Finding]) -> str:
    """Count errors and warnings, and tell the first of the worst."""
    wrong = errors(found)
    counts = [many(len(wrong), "error")] if wrong else []
    if rest := len(found) - len(wrong):
        counts.append(many(rest, "warning"))
    if not found:
        return ""
    first = (wrong or found)[0]
    place = ", first " if len(found) > 1 else ": "
    line = finding_line(first)
    step = f"{'' if line.endswith('.') else '.'} {first.hint}" if first.hint else ""
    return f"{' and '.join(counts)}{place}{line}{step}"


class FindingCounts:
    """Counts what is to be known of records that are sent all the same, for any number of them.

    Records of which the same is to be said are told together.

    Args:
        noun: One record: "contact".
    """

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._alike: dict[str, tuple[int, list[str]]] = {}  # how many, and the first of them
        self._others = 0  # of whom something else is to be said than of the first few kinds

    def add(self, label: str, found: Sequence[Finding]) -> None:
        """Count what was found in one record.

        Args:
            label: What people call it.
            found: What is to be known of it.
        """
        text = summary(found)
        if text not in self._alike and len(self._alike) >= FEW:
            self._others += 1
            return
        count, labels = self._alike.get(text, (0, []))
        self._alike[text] = count + 1, [*labels, label][: _NAMED + 1]

    def notes(self) -> list[str]:
        """Say it: the labels of the records come first."""
        said = [f"{_named(self._noun, *who)} {text}" for text, who in self._alike.items()]
        if self._others:
            more = many(self._others, f"more {self._noun}")
            said.append(f"… and {more} with errors or warnings.")
        return said


def _named(noun: str, count: int, labels: Sequence[str]) -> str:
    """Name some records, the first of them if they are many, and the verb that follows."""
    if count == 1:
        return f"{labels[0]} has"
    if count <= _NAMED + 1:
        return f"{', '.join(labels[:-1])} and {labels[-1]} have each"
    rest = many(count - _NAMED, f"more {noun}")
    return f"{', '.join(labels[:_NAMED])} and {rest} have each"


def vet(
    endpoints: Endpoints[Any],
    fields: Mapping[str, Any],
    *,
    broken: bool,
    live: Mapping[str, Any] | None = None,
    creates: bool = False,
) -> None:
    """Refuse errors in the fields of one record, and in what it would then be; warn of doubts.

    Args:
        endpoints: What the record is.
        fields: What would be sent.
        broken: Let errors pass: they are warned of.
        live: The record as it is; None if that is not known.
        creates: Whether the record is a new one.

    Raises:
        InputError: There are errors. What else is wrong with the fields is told as well.
    """
    stopped: list[Problem] = []
    right: dict[str, Any] = {}
    for name in endpoints.body.model_fields.keys() & fields.keys():
        good, _ = endpoints.body.column(name, [fields[name]])
        if good:  # of another shape: that is said of any field
            right[name] = good[0]
    label = endpoints.label(fields) or f"This {endpoints.noun}"
    for name in endpoints.documents & right.keys():
        document = right[name]
        found = endpoints.findings(name, document)
        if wrong := [] if broken else errors(found):
            # what only is a doubt, too: who has mended the errors is not to come back for it
            told = [*wrong, *(each for each in found if each.severity == "warning")]
            for finding in told:
                problem = document_problem(name, document, finding)
                doubt = "" if finding in wrong else "warning: "
                stopped.append(problem._replace(reason=f"{doubt}{problem.reason}"))
        elif said := doubts(found):
            warnings.warn(f"{label} has {summary(said)}", stacklevel=4)
    whole = endpoints.judged(right, {} if creates else live)
    if wrong := [] if broken else errors(whole):
        stopped += [cell_problem(right, finding) for finding in wrong]
    elif said := doubts(whole):
        warnings.warn(f"{label} has {summary(said)}", stacklevel=4)
    if stopped:
        done = "created" if creates else "updated"
        raise InputError(
            f"This {endpoints.noun} cannot be {done}; broken=True would let its errors pass:",
            [*_wrong(endpoints, fields, creates), *stopped],
        )


def _wrong(
    endpoints: Endpoints[Any], fields: Mapping[str, Any], creates: bool
) -> Sequence[Problem]:
    try:
        endpoints.body.whole(fields, "", endpoints.required()) if creates else endpoints.body.part(
            fields, ""
        )
    except InputError as error:
        return error.problems
    return ()


def value_at(document: object, pointer: str) -> Any:
    """Follow a JSON pointer (RFC 6901); MISSING where it leads to nothing."""
    value: Any = document
    key: Any
    for key in steps(pointer):
        if isinstance(value, list):
            key = int(key) if _PLACE.fullmatch(key) else -1
            value = value[key] if 0 <= key < len(value) else MISSING
        else:
            value = value.get(key, MISSING) if isinstance(value, Mapping) else MISSING
    return value
