"""Pace: never more at once, or in a second, than was said; nothing while the service says wait."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.bulk import pace as module
from chatkit.bulk.pace import Pace


class Clock:
    """Time that passes when it is told to."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@contextmanager
def stopped() -> Iterator[Clock]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "time", clock := Clock())
        yield clock


@pytest.mark.parametrize("concurrency", [0, -1])
def test_at_least_one_is_under_way_at_a_time(concurrency: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        Pace(concurrency)


@pytest.mark.parametrize("rate", [0, -1.0, math.inf, math.nan])
def test_a_rate_is_a_number_above_zero(rate: float) -> None:
    with pytest.raises(ValueError, match="rate"):
        Pace(rate=rate)


@given(st.integers(1, 100), st.integers(0, 200))
def test_so_many_may_start_as_there_are_free_slots(concurrency: int, out: int) -> None:
    assert Pace(concurrency).free(out) == max(0, concurrency - out)


def test_none_starts_while_the_service_asks_to_wait() -> None:
    with stopped() as clock:
        pace = Pace(4)
        assert pace.wait() == 0
        pace.hold(2.0)
        assert (pace.free(0), pace.wait()) == (0, 2.0)
        clock.now += 1.5
        assert (pace.free(0), pace.wait()) == (0, 0.5)
        clock.now += 0.5
        assert (pace.free(0), pace.wait()) == (4, 0.0)


def test_a_shorter_wait_does_not_end_a_longer_one() -> None:
    with stopped():
        pace = Pace()
        pace.hold(5.0)
        pace.hold(1.0)
        assert pace.wait() == 5.0


def test_slots_and_rate_both_count() -> None:
    with stopped() as clock:
        pace = Pace(8, rate=5)
        assert pace.free(0) == 5
        pace.took(5)
        assert pace.free(5) == 0
        assert 1.0 <= pace.wait() <= 1.1
        clock.now += pace.wait()
        assert pace.free(5) == 3  # slots that are left, though the rate would allow five


def test_what_must_be_waited_for_longer_is_waited_for() -> None:
    with stopped():
        pace = Pace(1, rate=1)
        pace.took(1)
        pace.hold(0.2)
        assert pace.wait() >= 1.0
        pace.hold(30.0)
        assert pace.wait() == 30.0


steps = st.lists(
    st.tuples(st.sampled_from(["pass", "land", "hold"]), st.floats(0, 2, allow_subnormal=False)),
    max_size=60,
)


@given(st.integers(1, 6), st.none() | st.floats(0.2, 20), steps)
def test_whatever_happens_all_limits_hold_and_waiting_helps(concurrency, rate, steps) -> None:
    with stopped() as clock:
        pace, out, held = Pace(concurrency, rate), 0, 0.0
        gone: list[float] = []
        for what, value in steps:
            if what == "pass":
                clock.now += value
            elif what == "land":
                out = 0
            else:
                pace.hold(value)
                held = max(held, clock.now + value)
            free = pace.free(out)
            assert free <= concurrency - out
            assert free == 0 or clock.now >= held
            if out < concurrency and not free:
                assert pace.wait() > 0
            pace.took(free)
            out += free
            gone += [clock.now] * free
        if rate is not None:
            most = max(1, int(rate))
            late = gone[most:]
            assert all(b - a >= most / rate for a, b in zip(gone, late, strict=False))
        clock.now += pace.wait() + 1e-6
        assert pace.free(0) > 0
