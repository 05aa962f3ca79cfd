"""Faults: rates hold, draws repeat, nonsense is refused and changes nothing."""

from collections import Counter

import pytest

from chatkit.sandbox.admin import BadFaults, Faults


def drawn(desired: dict[str, object], calls: int = 10_000) -> Counter[tuple[str, bool] | None]:
    faults = Faults()
    faults.apply(desired)
    draws = (faults.draw_fault() for _ in range(calls))
    return Counter(None if fault is None else (fault.kind, fault.after) for fault in draws)


def test_nothing_happens_until_faults_are_set() -> None:
    assert Faults().draw_fault() is None
    assert drawn({}) == {None: 10_000}


def test_the_rates_hold_and_one_number_is_halved_between_before_and_after() -> None:
    seen = drawn(
        {"429": 0.1, "5xx": {"before": 0.05, "after": 0.15}, "dropped": 0.2, "truncated": 0.1}
    )
    expected = {
        ("429", False): 1000,
        ("5xx", False): 500,
        ("5xx", True): 1500,
        ("dropped", False): 1000,
        ("dropped", True): 1000,
        ("truncated", True): 1000,
        None: 4000,
    }
    assert set(seen) == set(expected)
    for fault, count in expected.items():
        assert abs(seen[fault] - count) < 200, fault


def test_the_same_seed_meets_the_same_faults() -> None:
    one, two, other = Faults(), Faults(), Faults()
    one.apply({"5xx": 0.5, "seed": 7})
    two.apply({"5xx": 0.5, "seed": 7})
    other.apply({"5xx": 0.5, "seed": 8})
    draws = [one.draw_fault() for _ in range(200)]
    assert draws == [two.draw_fault() for _ in range(200)]
    assert draws != [other.draw_fault() for _ in range(200)]


def test_statuses_say_what_the_fault_is() -> None:
    faults = Faults()
    faults.apply({"429": 0.5, "5xx": 0.5})
    draws = [faults.draw_fault() for _ in range(200)]
    assert {fault.status for fault in draws if fault and fault.kind == "429"} == {429}
    assert {f.status for f in draws if f and f.kind == "5xx"} == {500, 502, 503, 504}


def test_a_rate_of_one_hits_every_call() -> None:
    assert drawn({"truncated": 1}, 100) == {("truncated", True): 100}


def test_an_empty_setting_ends_all() -> None:
    faults = Faults()
    faults.apply({"429": 1, "latency": 2})
    assert faults.draw_fault()
    assert faults.latency == 2
    faults.apply({})
    assert faults.latency == 0
    assert faults.draw_fault() is None


@pytest.mark.parametrize(
    "desired",
    [
        {"503": 0.1},
        {"429": -0.1},
        {"429": 1.1},
        {"429": "0.1"},
        {"429": True},
        {"429": float("nan")},
        {"429": {"before": 0.1}},
        {"5xx": {"during": 0.1}},
        {"5xx": {"before": None}},
        {"429": 0.6, "dropped": 0.6},
        {"latency": -1},
        {"latency": 61},
        {"latency": [1]},
        {"retry_after": -1},
        {"retry_after": 3601},
        {"retry_after": "1"},
        {"seed": "x"},
        {"seed": 1.5},
    ],
)
def test_nonsense_is_refused_and_changes_nothing(desired: dict[str, object]) -> None:
    faults = Faults()
    faults.apply({"429": 0.5})
    with pytest.raises(BadFaults):
        faults.apply(desired)
    assert faults.get_settings() == {"429": 0.5}
    assert any(faults.draw_fault() for _ in range(50))
