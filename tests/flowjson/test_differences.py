"""Two documents compared: anything, samples of others, one mutation; see `cases/diff`."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from flowjson.corpus import check_difference
from flowjson.strangers import anything, crooked, documents, holder, places
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.flowjson.diff import find_differences


def shuffle_keys(value: Any, random: Any) -> Any:
    """Return a value whose objects have their keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffle_keys(value[key], random) for key in keys}
    return [shuffle_keys(each, random) for each in value] if isinstance(value, list) else value


@settings(max_examples=volume(20, 500))
@given(crooked | anything, crooked | anything, st.randoms())
def test_documents_differ_from_others_and_not_from_themselves(a: Any, b: Any, random: Any) -> None:
    assert list(find_differences(a, shuffle_keys(a, random))) == []
    report = list(find_differences(a, b))
    assert bool(report) == bool(list(find_differences(b, a)))
    for one in report:
        check_difference(one, a, b)


@settings(max_examples=volume(20, 500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_one_mutation_anywhere_is_one_difference_or_two_at_its_place(
    shared: Path, data: st.DataObject
) -> None:
    name, document = data.draw(st.sampled_from(sorted(documents(shared, "valid").items())))
    way = data.draw(st.sampled_from(list(places(document))[1:]))
    how = data.draw(st.sampled_from(["delete", "change", "put in"]))
    after = copy.deepcopy(document)
    assert list(find_differences(document, after)) == []
    inside, last = holder(after, way), way[-1]
    if how == "delete":
        del inside[last]
    elif how == "put in" and isinstance(inside, list):
        inside.insert(last, {"type": "TextBody", "text": "This is new"})
    else:
        inside[last] = f"{inside[last]} anew" if isinstance(inside[last], str) else "anew"
    report = list(find_differences(document, after))
    assert 1 <= len(report) <= 2, (name, report)
    whole = "".join(f"/{step}" for step in way)
    for one in report:
        check_difference(one, document, after)
        pointer = one.pointer_a if one.pointer_b is None else one.pointer_b
        # at its place, above it (a whole screen), below (what it held), or in the same list
        assert pointer is not None and (
            whole.startswith(pointer) or pointer.startswith(whole.rpartition("/")[0])
        )
