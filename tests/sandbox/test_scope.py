"""Scopes: the same ids and keys as a plain list of records would give."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatkit.sandbox.store import Scope

STEPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.sampled_from("abc")))


@pytest.mark.parametrize("listed", [False, True])
@settings(deadline=None)
@given(steps=STEPS)
def test_whatever_happens_ids_and_keys_are_those_of_a_list(listed, steps):
    scope = Scope()
    records: list[list] = []  # key, active; the id is the place
    for step, at, key in steps:
        taken = [key, True] in records
        record = records[at] if at < len(records) else None
        if step == 0 and not taken:
            scope.add(len(records), key)
            records.append([key, True])
        elif step == 1 and record and record[1]:
            scope.retire(at, record[0], listed=listed)
            record[1] = False
        elif step == 2 and record and not record[1] and [record[0], True] not in records:
            scope.restore(at, record[0], listed=listed)
            record[1] = True
        elif step == 3 and record and record[1] and not taken:
            scope.rekey(at, record[0], key)
            record[0] = key
    shown = [at for at, (_, active) in enumerate(records) if active or listed]
    assert list(scope.ids) == shown
    for key in "abc":
        by_activity = [(active, at) for at, (k, active) in enumerate(records) if k == key]
        assert scope.find(key) == max(by_activity, default=(None, None))[1]


def test_a_key_that_is_shared_stays_with_the_newest():
    scope = Scope()
    scope.add(1, "a")
    scope.add(2, "a")
    assert scope.find("a") == 2
    scope.retire(1, "a", listed=False)
    assert scope.find("a") == 2
