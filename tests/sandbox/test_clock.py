"""Times and secrets: the machine's, or a seed's that are always the same."""

import re
import time
from datetime import datetime

import pytest

from chatkit.sandbox.store import Clock, SeededClock


def test_times_are_iso_8601_utc_in_milliseconds():
    for clock in (Clock(), SeededClock("empty")):
        stamp = clock.stamp()
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", stamp)
        assert datetime.fromisoformat(stamp).utcoffset().total_seconds() == 0


def test_a_seed_gives_the_same_again_and_another_seed_others():
    def all_of(seed):
        clock = SeededClock(seed)
        return [(clock.stamp(), clock.make_secret(), clock.make_token()) for _ in range(3)]

    assert all_of("demo") == all_of("demo")
    assert {secret for _, secret, _ in all_of("demo")}.isdisjoint(s for _, s, _ in all_of("empty"))
    assert {token for *_, token in all_of("demo")}.isdisjoint(t for *_, t in all_of("empty"))


def test_the_seeded_clock_ticks_a_second_with_each_write():
    clock = SeededClock("empty")
    assert [clock.stamp()[-7:] for _ in range(3)] == ["01.000Z", "02.000Z", "03.000Z"]


def test_a_restart_begins_again_but_gives_no_token_twice():
    clock = SeededClock("empty")
    stamp, secret, token = clock.stamp(), clock.make_secret(), clock.make_token()
    clock.restart()
    assert (clock.stamp(), clock.make_secret()) == (stamp, secret)
    assert clock.make_token() != token


@pytest.mark.parametrize("clock", [Clock(), SeededClock("x")])
def test_secrets_are_64_hexadecimal_digits_and_tokens_43_characters(clock):
    assert re.fullmatch("[0-9a-f]{64}", clock.make_secret())
    assert re.fullmatch("[A-Za-z0-9_-]{43}", clock.make_token())
    assert clock.make_secret() != clock.make_secret()
    assert clock.make_token() != clock.make_token()


def test_a_seed_gives_the_same_ids_to_events_and_a_restart_begins_again():
    one, two = SeededClock("empty"), SeededClock("empty")
    ids = [one.make_message_id() for _ in range(3)]
    assert [two.make_message_id() for _ in range(3)] == ids
    assert len(set(ids)) == 3
    one.restart()
    assert one.make_message_id() == ids[0]
    machine = Clock()
    assert machine.make_message_id() != machine.make_message_id()
    for text in (*ids, machine.make_message_id()):
        assert re.fullmatch("msg_[0-9a-f]{24}", text)


def test_a_timeline_ends_now_by_either_clock():
    earliest = int(time.time()) - 100
    assert earliest <= Clock().begin_timeline(100) <= time.time() - 100
    clock = SeededClock("empty")
    before = datetime.fromisoformat(clock.stamp()).timestamp()
    assert clock.begin_timeline(100) == before + 1
    assert datetime.fromisoformat(clock.stamp()).timestamp() == before + 102
