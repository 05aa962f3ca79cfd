"""Times and secrets: the machine's, or a seed's that are always the same."""

import re
import time
from datetime import datetime

import pytest

from chatkit.sandbox.store import Clock, SeededClock


@pytest.mark.parametrize("clock", [Clock(), SeededClock("x")])
def test_times_secrets_ids_and_tokens_have_their_form_and_differ(clock):
    stamp = clock.stamp()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", stamp)
    assert datetime.fromisoformat(stamp).utcoffset().total_seconds() == 0
    for make, form in (
        (clock.make_secret, "[0-9a-f]{64}"),
        (clock.make_token, "[A-Za-z0-9_-]{43}"),
        (clock.make_message_id, "msg_[0-9a-f]{24}"),
    ):
        one, other = make(), make()
        assert re.fullmatch(form, one) and one != other


def test_the_seeded_clock_ticks_a_second_with_each_write_and_goes_on_where_it_is_set():
    clock = SeededClock("empty")
    assert [clock.stamp()[-7:] for _ in range(3)] == ["01.000Z", "02.000Z", "03.000Z"]
    clock = Clock()
    clock.set_time(1000.0)
    assert 1000 <= clock.now() < 1100


def draws(clock: Clock) -> list[tuple[str, ...]]:
    """Return three stamps, secrets, ids of messages and tokens."""
    names = (clock.stamp, clock.make_secret, clock.make_message_id, clock.make_token)
    return list(zip(*((name(), name(), name()) for name in names), strict=True))


def test_a_seed_repeats_all_it_gives_and_another_seed_gives_other_secrets():
    first, other = draws(SeededClock("demo")), draws(SeededClock("empty"))
    assert first == draws(SeededClock("demo"))
    for column in (1, 3):
        assert {row[column] for row in first}.isdisjoint(row[column] for row in other)


def test_a_restart_repeats_all_but_the_tokens():
    clock = SeededClock("empty")
    first = draws(clock)
    clock.restart()
    second = draws(clock)
    assert [row[:3] for row in second] == [row[:3] for row in first]
    assert len({row[3] for row in first + second}) == 6


def test_a_timeline_ends_now_by_either_clock():
    earliest = int(time.time()) - 100
    assert earliest <= Clock().begin_timeline(100) <= time.time() - 100
    clock = SeededClock("empty")
    before = datetime.fromisoformat(clock.stamp()).timestamp()
    assert clock.begin_timeline(100) == before + 1
    assert datetime.fromisoformat(clock.stamp()).timestamp() == before + 102
