"""Times and secrets: the machine's, or a seed's that are always the same."""

import re
import time
from datetime import datetime

import pytest

from chatkit.sandbox.source import MachineSource, SeededSource


@pytest.mark.parametrize(
    ("resolution", "digits"), [("second", 0), ("millisecond", 3), ("microsecond", 6)]
)
def test_times_are_iso_8601_utc_in_the_resolution(resolution, digits):
    for source in (MachineSource(resolution), SeededSource(resolution, "empty")):
        stamp = source.stamp()
        fraction = rf"\.\d{{{digits}}}" if digits else ""
        assert re.fullmatch(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d{fraction}Z", stamp)
        assert datetime.fromisoformat(stamp).utcoffset().total_seconds() == 0


def test_a_seed_gives_the_same_again_and_another_seed_others():
    def all_of(seed):
        source = SeededSource("second", seed)
        return [(source.stamp(), source.secret(), source.token()) for _ in range(3)]

    assert all_of("demo") == all_of("demo")
    assert {secret for _, secret, _ in all_of("demo")}.isdisjoint(s for _, s, _ in all_of("empty"))
    assert {token for *_, token in all_of("demo")}.isdisjoint(t for *_, t in all_of("empty"))


def test_the_seeded_clock_ticks_a_second_with_each_write():
    source = SeededSource("second", "empty")
    assert [source.stamp()[-4:] for _ in range(3)] == [":01Z"[-4:], ":02Z"[-4:], ":03Z"[-4:]]


def test_a_restart_begins_again_but_gives_no_token_twice():
    source = SeededSource("second", "empty")
    stamp, secret, token = source.stamp(), source.secret(), source.token()
    source.restart()
    assert (source.stamp(), source.secret()) == (stamp, secret)
    assert source.token() != token


@pytest.mark.parametrize("source", [MachineSource("second"), SeededSource("second", "x")])
def test_secrets_are_64_hexadecimal_digits_and_tokens_43_characters(source):
    assert re.fullmatch("[0-9a-f]{64}", source.secret())
    assert re.fullmatch("[A-Za-z0-9_-]{43}", source.token())
    assert source.secret() != source.secret()
    assert source.token() != source.token()


def test_a_seed_gives_the_same_ids_to_events_and_a_restart_begins_again():
    one, two = SeededSource("second", "empty"), SeededSource("second", "empty")
    ids = [one.message_id() for _ in range(3)]
    assert [two.message_id() for _ in range(3)] == ids
    assert len(set(ids)) == 3
    one.restart()
    assert one.message_id() == ids[0]
    machine = MachineSource("second")
    assert machine.message_id() != machine.message_id()
    for text in (*ids, machine.message_id()):
        assert re.fullmatch("msg_[0-9a-f]{24}", text)


def test_a_story_ends_now_by_either_clock():
    assert abs(MachineSource("second").story(100) - (time.time() - 100)) < 20
    source = SeededSource("second", "empty")
    before = datetime.fromisoformat(source.stamp()).timestamp()
    assert source.story(100) == before + 1
    assert datetime.fromisoformat(source.stamp()).timestamp() == before + 102
