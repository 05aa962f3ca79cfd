"""The lint on the documents of `cases/`: each finding word for word, and what its fix leaves."""

from __future__ import annotations

import pytest
from flowjson.corpus import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_the_lint_reports_what_is_written_down(case: Case) -> None:
    assert case.lines() == case.expected
