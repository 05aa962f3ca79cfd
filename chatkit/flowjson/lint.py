"""The lint: a flow document is told what the platform would say of it, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from chatkit.finding import Finding
from chatkit.flowjson.document import DocumentSource, read_source
from chatkit.flowjson.finding import Findings
from chatkit.flowjson.outline import Outline, outline
from chatkit.flowjson.pointer import steps
from chatkit.flowjson.rules import (
    action,
    expression,
    field,
    model,
    placement,
    reference,
    routing,
    structure,
    usage,
)
from chatkit.flowjson.version import RECOMMENDED, RELEASED, UNANNOUNCED, Version

#: More bytes are refused.
MOST_BYTES = 10 * 2**20
#: All rules. Each reads the outline and yields what it finds; none depends on another.
RULES: tuple[Callable[[Outline], Iterator[Finding]], ...] = tuple(
    module.check
    for module in (
        structure,
        placement,
        field,
        model,
        routing,
        action,
        reference,
        expression,
        usage,
    )
)


def lint(document: object, version: str | Version | None = None) -> Findings:
    """Check a flow document, and tell what the platform would refuse, and where.

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
        return _unreadable(source)
    whole = outline(source.value, str(version or _version(source.value)))
    found = {_key(each): each for rule in RULES for each in rule(whole)}
    if source.size > MOST_BYTES:
        said = f"The document has {source.size:,} bytes; at most {MOST_BYTES:,} are taken."
        large = Finding("FLOW_JSON_TOO_LARGE", "error", "", said, "Use smaller pictures.")
        found[_key(large)] = large
    return Findings(_placed(source, list(found.values())), source.value, source.text or "")


def _version(document: Any) -> Version:
    """Tell by which rules a document is read: those recommended when it names none of ours."""
    stated = Version.parse(document.get("version")) if isinstance(document, dict) else None
    if stated is None or not (stated in RELEASED or stated in UNANNOUNCED):
        return RECOMMENDED
    return stated


def _key(finding: Finding) -> tuple[str, str]:
    """One code is told once at one place."""
    return finding.code, finding.pointer


def _unreadable(source: DocumentSource) -> Findings:
    line, column = source.at or (None, None)
    said = f"This is not valid JSON: {source.fault}."
    fault = Finding("INVALID_FLOW_JSON", "error", "", said, line=line, column=column)
    return Findings([fault], None, source.text or "")


def _placed(source: DocumentSource, found: list[Finding]) -> list[Finding]:
    """Fill in lines and columns, and note keys that stand twice."""
    if source.text is None or not (found or source.doubled):
        return found
    placed = []
    for each in found:
        line, column = source.find(each.pointer)
        placed.append(replace(each, line=line, column=column))
    for pointer, (line, column) in source.doubles():
        key = steps(pointer)[-1]
        said = f"{key} stands here again; only the last one counts."
        placed.append(
            Finding("DUPLICATE_KEY", "warning", pointer, said, "Remove one.", line, column)
        )
    return placed
