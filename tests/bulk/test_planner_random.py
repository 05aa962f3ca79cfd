"""Random edits of a frame: what was applied is there, and nothing else has moved."""

from __future__ import annotations

import pandas as pd
from bulk.planning import account, active, contact, number, states
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from volume import volume

import chatkit

NAMES = (
    st.none()
    | st.just("")
    | st.text(
        st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12
    )
)
#: What is done to one row: another name, another number, both, nothing, or its end.
EDIT = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES,
        "number": st.none() | st.integers(1000, 1999).map(number),
        "country_code": st.sampled_from([None, "+1", "+44", "+49"]),
        "delete": st.booleans(),
    },
)
STORY = {
    "before": st.lists(NAMES, min_size=1, max_size=8),
    "edits": st.lists(EDIT, min_size=8, max_size=8),
    "new": st.lists(NAMES, max_size=3),
    "shuffle": st.randoms(use_true_random=False),
    "put": st.sampled_from(["merge", "replace"]),
    "mangle": st.sampled_from(["remembered", "forgotten", "objects", "columns", "own"]),
}
PARTS = ("first_name", "middle_name", "last_name")
QUICK = settings(max_examples=volume(8), suppress_health_check=[HealthCheck.too_slow])


def edited_frame(frame, edits, new, shuffle, mangle):
    """Write the edits into a frame, add new rows, and do to it what people do to frames."""
    attrs = frame.attrs
    frame = frame.assign(delete=False)
    for key, edit in zip(frame.index, edits, strict=False):
        for name, value in edit.items():
            frame.loc[key, name] = value
    numbers = [number(2000 + n) for n in range(len(new))]
    added = pd.DataFrame({"number": numbers, "country_code": "+1", "name": new, "delete": False})
    frame = pd.concat([frame.reset_index(), added.astype({"name": "str"})], ignore_index=True)
    order = list(range(len(frame)))
    shuffle.shuffle(order)
    frame = frame.iloc[order]
    frame["delete"] = frame["delete"].astype("boolean")
    if mangle == "objects":
        return frame.astype(object)
    if mangle == "columns":
        return frame[["delete", "name", "number", "country_code", "id"]]
    if mangle == "own":
        return pd.DataFrame(
            frame[["id", "name", "number", "country_code", "delete"]].to_dict("list")
        )
    if mangle == "remembered":
        frame.attrs = attrs
    return frame


@QUICK
@given(**STORY)
def test_what_the_frame_said_is_applied_and_comes_back(before, edits, new, shuffle, put, mangle):
    with account(put=put) as (sandbox, client):
        ids = [contact(sandbox, n, name or None) for n, name in enumerate(before)]
        was = active(sandbox, "contacts")
        old = client.contacts.frame()
        frame = edited_frame(old, edits, new, shuffle, mangle)
        plan = client.contacts.plan(frame, skip_invalid=True)
        result = plan.apply(many=True)
        assert set(states(result)) <= {"applied"}, result[["change", "state", "reason"]].to_string()
        live = client.contacts.frame()
        refused = set(plan.refused["row"])
        made = dict(zip(result.index, result["key"], strict=True))
        for label, row in frame.iterrows():
            if label in refused:
                continue
            key = made.get(label, row["id"])
            if row["delete"] is True:
                assert key not in live.index
                continue
            for name in ("name", "number", "country_code"):
                message = row[name]
                if pd.isna(message):  # untouched: what was there, or nothing in a new row
                    message = old[name].get(key)
                outcome = live.loc[key, name]
                assert (None if pd.isna(outcome) else outcome) == (
                    None if pd.isna(message) else message or None
                )
        kept = [key for key in old.index if key not in set(result["key"])]
        pd.testing.assert_frame_equal(live.loc[kept], old.loc[kept])

        back = chatkit.undo(result).apply()
        assert set(states(back)) <= {"applied", "unchanged"}, back[["change", "state", "reason"]]
        now = active(sandbox, "contacts")
        assert sorted(now) == ids
        lossy = {change.key for change in plan.changes if change.undo != "exactly"}
        for key in ids:
            names = [" ".join(filter(None, (r[key][p] for p in PARTS))) for r in (now, was)]
            assert names[0] == names[1]
            assert key in lossy or now[key] == was[key]
