"""A receiver that is killed under load has lost nothing that it acknowledged."""

from faults.inbox import run


def test_nothing_that_was_acknowledged_is_lost_by_kills(url: str) -> None:
    outcome = run(url, kills=3)
    assert outcome.acknowledged >= 3 * 5
    assert (outcome.lost, outcome.damaged, outcome.doubled) == (0, 0, 0)
