"""The oracle judges the lint: two readings of the platform's rules for flow documents.

They may word, place and code a fault differently; whether a document has one they must agree on.
"""

import json
from pathlib import Path

import pytest
from oracles.flows.document import check_flow

from chatkit.flowjson import lint


def refused(document: object) -> tuple[bool, bool]:
    """Whether the lint and the oracle find an error."""
    theirs = any(each.severity == "error" for each in check_flow(document))
    return not lint(document).ok, theirs


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_lint_and_oracle_agree_on_every_sample(shared: Path, kind: str) -> None:
    files = sorted((shared / "samples/flows" / kind).glob("*.json"))
    assert files
    apart = {}
    for file in files:
        try:
            document = json.loads(file.read_text())
        except ValueError:
            continue  # not JSON: the oracle judges values only
        told = refused(document)
        if told[0] != told[1]:
            apart[file.name] = told
    assert apart == {}
