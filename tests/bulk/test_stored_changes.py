"""Changes in a temporary file: the sequence that they would be in memory."""

from __future__ import annotations

import gc
import os
import random
import stat
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from bulk.planning import account, client, people, sandbox  # noqa: F401
from displayed import html_of

import chatkit
from chatkit import temporary
from chatkit.bulk.changes import Change, StoredChanges, kept_changes, tally_of
from chatkit.bulk.plan import Plan, desk_of, setting_of

ROOT = Path(__file__).parents[2]


def made(count):
    """Changes of two resources and all kinds, among each other, with labels of all sorts."""
    chance = random.Random(5)
    for n in range(count):
        noun = chance.choice(["contact", "flow"])
        kind = chance.choice(["create", "update", "delete", "skip"])
        never = noun == "flow" and kind == "delete"
        yield Change(
            (noun, n) if n % 2 else None if n % 7 == 0 else n,
            kind,
            None if kind == "create" else n,
            f"Zoë {n} 👋",
            {"name": None, "parts": [1, {"b": 2, "a": 1.5}]},
            {} if kind == "delete" else {"name": f"Ana\n{n}"},
            undo="never" if never else "exactly" if n % 3 else "not exactly",
            loss="gone" if never else "" if n % 3 else f"reason {n % 2}",
            noun=noun,
        )


def files():
    return sorted(temporary.folder().glob("*.changes"))


def test_it_is_the_sequence_that_it_was_filled_with():
    changes = list(made(5003))
    stored = StoredChanges(iter(changes))
    assert len(stored) == len(changes)
    assert list(stored) == changes
    assert stored[0] == changes[0]
    assert stored[-1] == changes[-1]
    for part in (slice(3), slice(1990, 4010), slice(-5, None), slice(9, 2, -3), slice(7000, None)):
        assert stored[part] == changes[part]
    assert changes[77] in stored
    assert stored.index(changes[3000]) == 3000
    for n in (5003, -5004):
        with pytest.raises(IndexError):
            stored[n]
    assert not StoredChanges([])
    assert list(StoredChanges([])) == StoredChanges([])[:5] == []


def test_its_parts_are_sequences_too():
    changes = list(made(3000))
    stored = StoredChanges(changes)
    for (noun, kind), part in stored.parts().items():
        wanted = [each for each in changes if (each.noun, each.kind) == (noun, kind)]
        assert list(part) == wanted
        assert (len(part), part[5], part[10:20]) == (len(wanted), wanted[5], wanted[10:20])
        assert tally_of(part) == tally_of(wanted)
        assert list(part.parts()) == [(noun, kind)]
    assert list(stored.parts()) == list(dict.fromkeys((c.noun, c.kind) for c in changes))
    for noun, part in stored.of_nouns().items():
        wanted = [each for each in changes if each.noun == noun]
        assert list(part) == wanted
        assert (part[-1], part[2500:]) == (wanted[-1], wanted[2500:])
    assert list(tally_of(stored).items()) == list(tally_of(changes).items())
    assert stored.first_of("never") == next(c for c in changes if c.undo == "never")


def test_two_readers_do_not_disturb_each_other():
    stored = StoredChanges(made(4500))
    assert [a == b for a, b in zip(stored, stored, strict=True)] == [True] * 4500


def test_few_stay_in_memory_and_many_are_stored():
    changes = list(made(30))
    assert kept_changes(iter(changes), 30) == tuple(changes)
    stored = kept_changes(iter(changes), 29)
    assert isinstance(stored, StoredChanges)
    assert list(stored) == changes


def test_its_file_is_private_and_goes_with_it():
    gc.collect()
    before = files()
    stored = StoredChanges(made(10))
    part = next(iter(stored.parts().values()))
    [file] = [each for each in files() if each not in before]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    del stored
    gc.collect()
    assert file.exists(), "a part of it is still in use"
    del part
    gc.collect()
    assert files() == before


def test_what_json_cannot_hold_is_told_with_its_row_and_leaves_nothing():
    before = files()
    bad = Change(8, "update", 8, "+1 8", {}, {"name": "\ud800"})
    with pytest.raises(chatkit.InputError, match="half a character"):
        StoredChanges([*made(8), bad])
    gc.collect()
    assert files() == before


def test_a_source_that_fails_leaves_nothing():
    def failing():
        yield from made(10)
        raise OSError("the disk of the source")

    before = files()
    with pytest.raises(OSError, match="of the source"):
        StoredChanges(failing())
    gc.collect()
    assert files() == before


PEAK = """
import resource, sys
from bulk.test_stored_changes import made
from chatkit.bulk.changes import StoredChanges
StoredChanges(made(100))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
stored = StoredChanges(made(int(sys.argv[1])))
count = sum(1 for _ in stored)
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="kilobytes are those of Linux")
def test_filling_it_and_reading_it_takes_the_memory_of_a_few():
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    command = [sys.executable, "-c", PEAK, "20000"]
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    count, grown = map(int, said.split())
    assert count == 20_000
    assert grown < 8_000, "kilobytes: in memory, they take more than 20,000"


def test_a_plan_of_stored_changes_is_the_plan_that_it_is_in_memory(sandbox, client):
    people(sandbox, 40)
    frame = client.contacts.frame().reset_index()
    frame["name"] = frame.name.str.upper()
    new = pd.DataFrame({"number": [f"20255501{n}" for n in range(50, 70)], "country_code": "+1"})
    plan = client.contacts.plan(pd.concat([frame, new]), delete=list(frame.id[-5:]))
    same = {"notes": plan.notes, "plan_id": plan.id}
    stored = Plan(desk_of(plan), setting_of(plan), StoredChanges(plan.changes), **same)
    assert isinstance(stored.changes, StoredChanges)
    assert repr(stored) == repr(plan)
    assert html_of(stored) == html_of(plan)
    assert (stored.counts, stored.hash, stored.calls()) == (plan.counts, plan.hash, plan.calls())
    assert stored.objections() == plan.objections() != []
    pd.testing.assert_frame_equal(stored.frame(), plan.frame())
    result = stored.apply(many=True, irreversible=True)
    assert set(result.state) == {"applied"}
    assert set(plan.apply(many=True, irreversible=True).state) == {"applied"}, "it is the same run"
