"""The stop button in a real kernel: the cell ends soon, with the truth, and nothing comes after it.

A few interrupts; `make faults` does a hundred.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from faults.interrupts import DEADLINE, notebook, work
from faults.notebook import Kernel, Served

#: The engine without its own handler of the stop button, and with it again.
DEAF = """
from chatkit.bulk.apply import Interrupt
heard, Interrupt.__enter__ = Interrupt.__enter__, lambda self: self
"""
HEARING = "Interrupt.__enter__ = heard"


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[Served, Kernel]]:
    with notebook() as place:
        yield place


def test_a_cell_that_is_interrupted_ends_soon_with_a_true_frame_and_can_be_resumed(place) -> None:
    tally = work(*place, 6)
    assert tally.wrong == []
    assert (tally.interrupts, tally.no_frame, tally.false, tally.writes_after) == (6, 0, 0, 0)
    assert (tally.lost, tally.duplicated) == (0, 0)
    assert tally.longest <= DEADLINE + 1
    assert tally.applied and tally.not_sent  # most were in the middle of it


def test_the_harness_sees_an_engine_that_lets_the_interrupt_through(place) -> None:
    _, kernel = place
    kernel.run(DEAF)
    # Once: a second interrupt can end such an engine before it gives the account's lock back,
    # and nobody could resume in that kernel.
    tally = work(*place, 3, seed=1, twice=0.0)
    kernel.run(HEARING)
    assert tally.no_frame > 0
    assert (tally.lost, tally.duplicated) == (0, 0)  # the journal knows what was sent
