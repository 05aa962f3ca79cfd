"""Window: no second has more calls than it should, and none fewer than it could."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.window import Window


def sent(window: Window, asks: list[float]) -> list[float]:
    """When calls went out, if somebody looked after each of these spans and sent all he could."""
    now, gone = 0.0, []
    for span in asks:
        now += span
        free = window.free(now)
        window.take(now, free)
        gone += [now] * free
    return gone


@given(
    st.floats(0.05, 200), st.lists(st.floats(0, 3, allow_subnormal=False), min_size=1, max_size=60)
)
def test_no_second_has_more_calls_than_the_rate(rate: float, asks: list[float]) -> None:
    gone = sent(Window(rate), asks)
    most = max(1, int(rate))
    for early, late in zip(gone, gone[most:], strict=False):  # one more than may share a second
        assert late - early >= most / rate


@given(st.integers(1, 300))
def test_the_rate_is_nearly_reached(rate: int) -> None:
    gone = sent(Window(rate), [0.01] * 1000)
    assert len(gone) >= 0.9 * rate * 10


def test_wait_tells_when_the_next_one_may_go_out() -> None:
    window = Window(2)
    assert window.wait(5.0) == 0
    window.take(5.0, 2)
    assert window.free(5.0) == 0
    moment = 5.0 + window.wait(5.0)
    assert 6.0 <= moment < 6.1
    assert window.free(moment) == 2


def test_fewer_than_one_call_a_second_is_fine() -> None:
    window = Window(0.1)
    window.take(0.0)
    assert 10 <= window.wait(0.0) < 11


@pytest.mark.parametrize("rate", [0, -1, float("nan")])
def test_a_rate_is_above_zero(rate: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        Window(rate)
