"""The cases of `cases/`: findings, differences, upgrades, pieces, expressions, word for word."""

from __future__ import annotations

import pytest
from flowjson.corpus import ALL, Case


@pytest.mark.parametrize("case", ALL, ids=[case.id for case in ALL])
def test_what_is_reported_is_what_is_written_down(case: Case) -> None:
    assert case.lines() == case.expected
