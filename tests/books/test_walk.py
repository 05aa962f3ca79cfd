"""The walk over two books: exactly the rows that differ, whatever the parts are."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chatkit
from chatkit.books.walk import Unlike, walk

Row = dict[str, Any]


def table(rows: list[Row], **columns: pa.DataType) -> pa.Table:
    kinds = {"id": pa.int64(), "name": pa.large_string(), "age": pa.int64(), **columns}
    cells = {name: [row.get(name) for row in rows] for name in kinds}
    return pa.table({name: pa.array(cells[name], kind) for name, kind in kinds.items()})


def cut(rows: list[Row], size: int) -> list[pa.Table]:
    return [table(rows[n : n + size]) for n in range(0, max(len(rows), 1), size)]


def found(differences: list[Unlike]) -> tuple[list[tuple[Row, Row]], list[Row], list[Row]]:
    """All rows that differ with their records, those that are new, those that are gone."""
    pairs, new, gone = [], [], []
    for each in differences:
        pairs += zip(each.base.to_pylist(), each.edited.to_pylist(), strict=True)
        new += each.new.to_pylist()
        gone += each.gone.to_pylist()
    return pairs, new, gone


def rows(ids: st.SearchStrategy[list[int]]) -> st.SearchStrategy[list[Row]]:
    cells = st.tuples(st.sampled_from([None, "", "a", "b"]), st.sampled_from([None, 1, 2]))
    return st.tuples(ids, st.data()).map(
        lambda drawn: [
            {"id": key, **dict(zip(("name", "age"), drawn[1].draw(cells), strict=True))}
            for key in sorted(drawn[0])
        ]
    )


_IDS = st.lists(st.integers(0, 12), unique=True)
_SIZES = st.integers(1, 5)


def says_something_else(record: Row, row: Row) -> bool:
    """A cell that is empty leaves what is there; an empty text is the same as none."""
    return any(
        row[name] is not None and row[name] != ("" if record[name] is None and name == "name"
                                                else record[name])
        for name in ("name", "age")
    )  # fmt: skip


@given(rows(_IDS), rows(_IDS), st.lists(st.integers(0, 12)), _SIZES, _SIZES, _SIZES, st.data())
def test_what_differs_is_found_whatever_the_parts_are(
    base, edited, deleted, one, two, window, data
):
    unnamed = [{"id": None, "name": name} for name in data.draw(st.lists(st.sampled_from("xy")))]
    for row in unnamed:
        edited.insert(data.draw(st.integers(0, len(edited))), row)
    pairs, new, gone = found(
        list(walk(cut(base, one), cut(edited, two), deleted=deleted, window=window))
    )
    records = {row["id"]: row for row in base}
    mine = {row["id"]: row for row in edited if row["id"] is not None}
    assert [(a["id"], b) for a, b in pairs] == [
        (key, row)
        for key, row in mine.items()
        if key in records and (key in deleted or says_something_else(records[key], row))
    ]
    assert all(a == records[b["id"]] for a, b in pairs)
    expected = [row for key, row in mine.items() if key not in records] + unnamed
    named = sorted((str(row["id"]), row["name"]) for row in expected)
    assert sorted((str(row["id"]), row["name"]) for row in new) == [
        (key, name) for key, name in named
    ]
    assert gone == [row for key, row in records.items() if key not in mine]


def test_rows_of_one_id_stay_together_though_two_parts_hold_them():
    base = [{"id": n, "name": "a"} for n in range(1, 5)]
    edited = [{"id": n, "name": "a"} for n in (1, 2, 2, 2, 3)]
    for size in range(1, 6):
        pairs, new, gone = found(list(walk(cut(base, 2), cut(edited, size))))
        assert [row["id"] for _, row in pairs] == [2, 2, 2]
        assert [row["id"] for row in gone] == [4]
        assert not new


def test_rows_that_are_to_be_deleted_differ():
    base = [{"id": n, "name": "a"} for n in (1, 2, 3)]
    marked = table(base).append_column("delete", pa.array([None, True, False]))
    assert [row["id"] for _, row in found(list(walk([table(base)], [marked])))[0]] == [2]
    texts = table(base).append_column("delete", pa.array([None, "yes", None]))
    assert [row["id"] for _, row in found(list(walk([table(base)], [texts])))[0]] == [2]


@pytest.mark.parametrize(
    ("base", "edited", "differs"),
    [
        (pa.array(["a", None, "c"]), pa.array(["a", "", "C"], pa.large_string()), [3]),
        (pa.array(["a", "b", "c"]), pa.array(["a", "b", "c"]).dictionary_encode(), []),
        (pa.array(["a", "b", "c"]), pa.array(["a", "x", "c"]).dictionary_encode(), [2]),
        (pa.array([1, None, 3]), pa.array([1.0, 2.0, 3.0]), [2]),
        (pa.array([1, 2, 3]), pa.nulls(3), []),
        (pa.nulls(3), pa.array(["a", None, "c"]), [1, 3]),
        (pa.array([True, None, False]), pa.array([True, False, True]), [2, 3]),
        (pa.array([1, 2, 3]), pa.array(["1", None, "3"]), [1, 3]),  # left to the planner
        (
            pa.array([1000, 2000, None], pa.timestamp("us", "UTC")),
            pa.array([1_000_000, 2_000_001, 5], pa.timestamp("ns")),
            [3],
        ),
    ],
)
def test_columns_that_another_program_wrote_are_compared_all_the_same(base, edited, differs):
    ids = pa.array([1, 2, 3])
    one, two = (pa.table({"id": ids, "x": cells}) for cells in (base, edited))
    assert [row["id"] for _, row in found(list(walk([one], [two])))[0]] == differs


def test_parts_may_have_columns_of_their_own():
    base = [{"id": n, "name": "a", "age": 1} for n in range(1, 7)]
    edited = cut(base, 2)
    edited[0] = edited[0].drop_columns(["age"])
    edited[2] = edited[2].append_column("mine", pa.array(["x", "y"]))
    assert found(list(walk(cut(base, 3), edited))) == ([], [], [])


@pytest.mark.parametrize(
    ("ids", "said"),
    [([1, 3, 2], "2 comes after 3"), ([1, 2, 2], "2 is there twice")],
)
def test_ids_that_are_not_in_order_are_told(ids, said):
    good, bad = (cut([{"id": n} for n in each], 2) for each in ([1, 2, 3], ids))
    with pytest.raises(chatkit.InputError, match=f"The ids of the base are not in order: {said}"):
        list(walk(bad, good))
    if "after" in said:
        with pytest.raises(chatkit.InputError, match=f"edited book are not in order: {said}"):
            list(walk(good, bad))


@pytest.mark.parametrize("at", range(3))
def test_a_base_with_a_row_without_an_id_is_refused(at):
    records = [{"id": n} for n in (1, 2)]
    records.insert(at, {"id": None, "name": "new"})
    for size in (1, 3):
        with pytest.raises(chatkit.InputError, match="The base has rows without an id"):
            list(walk(cut(records, size), cut([{"id": 1, "name": "b"}], 1)))
    with pytest.raises(chatkit.InputError, match="The base has rows without an id"):
        list(walk([table([{}, {}])], [table([])]))


def test_ids_that_are_floats_or_texts_are_read_as_numbers():
    base = [{"id": n, "name": "a"} for n in (1, 2)]
    for ids in (pa.array([1.0, 2.0, None]), pa.array(["1", "2", None])):
        edited = pa.table({"id": ids, "name": ["a", "b", "c"]})
        pairs, new, _ = found(list(walk([table(base)], [edited])))
        assert [row["id"] for _, row in pairs] == [2]
        assert [row["name"] for row in new] == ["c"]
    for ids in (pa.array([1.5]), pa.array(["x"])):
        with pytest.raises(chatkit.InputError, match="id of the edited book is not a whole number"):
            list(walk([table(base)], [pa.table({"id": ids})]))
    with pytest.raises(chatkit.InputError, match="The base has no column id"):
        list(walk([pa.table({"x": [1]})], [table(base)]))
