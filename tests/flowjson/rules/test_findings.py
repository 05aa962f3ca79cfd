"""What the lint says of broken documents, word for word and with what it would do: findings.txt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flowjson.faults import FAULTS

from chatkit.finding import Finding
from chatkit.flowjson.lint import lint

#: Documents beside those of `FAULTS`.
CASES: dict[str, Any] = {}
DOCUMENTS = {fault.name: fault.document for fault in FAULTS} | CASES

MOST = 6  #: findings of a document that are written down
SAID: dict[str, list[str]] = {}
for _line in Path(__file__).with_name("findings.txt").read_text("utf-8").splitlines():
    if _line.startswith("  "):
        SAID[next(reversed(SAID))].append(_line.strip())
    else:
        SAID[_line] = []


def line(found: Finding) -> str:
    """A finding on one line."""
    said = f"{found.severity} {found.code}, {found.pointer}: {found.message}"
    steps = [f"{step.op} {step.path} {step.value!r}" for step in found.patch]
    hints = [found.hint] if found.hint else []
    return " -> ".join([said, *hints, *steps])


def lines(document: Any) -> list[str]:
    """What is said of a document; that nothing reads its inputs is tested elsewhere."""
    said = [line(found) for found in lint(document) if found.code != "UNUSED_INPUT"]
    return said if len(said) <= MOST else [*said[:MOST], f"and {len(said) - MOST} more"]


def test_what_is_said_of_each_broken_document() -> None:
    said = {name: lines(document) for name, document in DOCUMENTS.items()}
    assert {name: found for name, found in said.items() if found != SAID.get(name)} == {}


def test_every_document_is_written_down() -> None:
    assert list(SAID) == list(DOCUMENTS)
