"""Edits: what a person changed is found, all of it and nothing else, whatever pandas did."""

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from bulk.planning import Things
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.bulk.comparison import is_same_value
from chatkit.bulk.matching import Edits
from chatkit.frames import frame as frames

WHO: Any = Things()
KINDS: dict[str, frames.Kind] = {
    "id": "number", "label": "text", "code": "text", "size": "number", "on": "flag",
    "at": "time", "tags": "json",
}  # fmt: skip
NAMES = [name for name in KINDS if name != "id"]
NOON = datetime(2026, 1, 2, 12, 0, 0, 678_000, tzinfo=UTC)

Row = dict[str, Any]  # Python values; None is NA


def based(rows: list[Row], chunk: int = 2000) -> pd.DataFrame:
    """Return a base as resources read it, of rows with ids."""

    def written(value: Any) -> str:
        return value.isoformat()  # the times; JSON has all else

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "_CHUNK_ROWS", chunk)
        columns = frames.Columns(KINDS)
        for start in range(0, len(rows), chunk):
            columns.add(json.dumps(rows[start : start + chunk], default=written).encode())
        return columns.frame("id")


def typed(rows: list[Row]) -> pd.DataFrame:
    """A frame of rows without ids, with the dtypes of a base."""
    return based([{"id": n, **row} for n, row in enumerate(rows)]).reset_index(drop=True)


def changes(edits: Edits) -> dict[str, list[int]]:
    result = edits.changed()
    assert all(result.values())
    assert list(result) == [name for name in edits.columns if name in result]
    return {name: [cell.row for cell in cells] for name, cells in result.items()}


def changed_values(edits: Edits) -> dict[str, dict[int, Any]]:
    return {name: {c.row: c.value for c in cells} for name, cells in edits.changed().items()}


# --- any edit, through anything that pandas does --------------------------------------------

_SHORT = ("", "a", "b", "é", "null", "5", "True", "2026-01-02", "abcdefghijkl", "abcdefghijkL")
_LONG = ("abcdefghijklm", "abcdefghijklM", "abcdefghijklmnopqrst", "愛愛愛愛愛")
texts = st.sampled_from(_SHORT + _LONG) | st.text(max_size=15)
nested = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "vip", "1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("a"), inner),
    max_leaves=4,
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "label": texts,
    "code": st.sampled_from(["+1", "+91", ""]),
    "size": st.integers(-3, 3) | st.integers(-(2**53) + 1, 2**53 - 1),
    "on": st.booleans(),
    "at": st.datetimes(datetime(1960, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),
    "tags": nested,
}


def without_nan(cells: "pd.Series[Any]") -> "pd.Series[Any]":
    return cells.astype(object).where(cells.notna(), None)


Retype = tuple[Callable[["pd.Series[Any]"], Any], Callable[[Any], Any]]


def to(dtype: Any, value: Callable[[Any], Any] = lambda value: value) -> Retype:
    return lambda cells: cells.astype(dtype), value


def zoned(value: Any) -> Any:
    """A time as a text or without a zone, made comparable again."""
    time = pd.Timestamp(value)
    return time if time.tzinfo else time.tz_localize("UTC")


#: What pandas may have done to a column of some kind, and how an edited value looks then.
SIMPLE: list[Retype] = [to(object), (without_nan, lambda value: value), to("category")]
RETYPES: dict[frames.Kind, list[Retype]] = {
    "text": [*SIMPLE, to("string"), to("string[python]"), to(pd.ArrowDtype(pa.string())),
             to(pd.ArrowDtype(pa.large_string()))],
    "number": [*SIMPLE, to("string", str), to("float64"), to("Float64"), to("int64[pyarrow]")],
    "flag": [*SIMPLE, to("string", str), to("float64"), to("bool[pyarrow]")],
    "time": [*SIMPLE, to("string"), to(pd.ArrowDtype(pa.timestamp("us", "UTC"))),
             (lambda cells: cells.dt.as_unit("ns"), zoned),
             (lambda cells: cells.dt.tz_convert("Asia/Kolkata"), zoned),
             (lambda cells: cells.dt.tz_localize(None), zoned)],
    "json": [(without_nan, lambda value: value)],
}  # fmt: skip


@dataclass
class Story:
    """Return a frame edited as a person would with pandas."""

    base: list[Row]
    kept: list[int]  # which rows, in which order
    edited: dict[tuple[int, str], Any]  # by number of the row in the base and name
    new: list[Row]
    columns: list[str]
    retypes: dict[str, Retype]
    key: str
    through: str
    deleted: list[bool] = field(default_factory=list)  # of the kept rows
    chunk: int = 3

    def cell(self, row: int, name: str) -> Any:
        """Return the values of the edited frame in a kept row."""
        return self.edited.get((row, name), self.base[row][name])

    def expected(self) -> dict[str, list[int]]:
        """The edits, told the slow way."""
        result: dict[str, list[int]] = {}
        for name in self.columns:
            for number, row in enumerate(self.kept):
                if self.deleted and self.deleted[number]:
                    continue
                before, now = self.base[row][name], self.cell(row, name)
                untouched = now is None or (before is None and now == "")
                if not untouched and json_of(now) != json_of(before):
                    result.setdefault(name, []).append(number)
        return result


def json_of(value: Any) -> str:
    """A text that tells True and 1 apart."""
    return json.dumps(value, sort_keys=True, default=str)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    def values() -> st.SearchStrategy[Row]:
        return st.fixed_dictionaries({name: st.none() | VALUES[name] for name in NAMES})

    def many(of: st.SearchStrategy[Any], size: int) -> list[Any]:
        return draw(st.lists(of, min_size=size, max_size=size))

    ids = draw(st.lists(st.integers(0, 30) | st.integers(0, 2**53 - 1), unique=True, max_size=9))
    ids = sorted(ids) if draw(st.booleans()) else ids
    base = [{"id": key, **row} for key, row in zip(ids, many(values(), len(ids)), strict=True)]
    kept = draw(st.lists(st.sampled_from(range(len(ids))), unique=True)) if ids else []
    kept = draw(st.sampled_from([kept, sorted(kept), list(range(len(ids)))]))
    cells = [(row, name) for row in kept for name in NAMES]
    edited = {
        (row, name): draw(st.none() | VALUES[name])
        for row, name in (draw(st.lists(st.sampled_from(cells), max_size=5)) if cells else [])
    }
    columns = draw(st.lists(st.sampled_from(NAMES), unique=True))
    columns = draw(st.sampled_from([columns, NAMES]))
    retyped = draw(st.lists(st.sampled_from(NAMES), unique=True))
    return Story(
        base=base,
        kept=kept,
        edited=edited,
        new=draw(st.lists(values(), max_size=3)),
        columns=columns,
        retypes={name: draw(st.sampled_from(RETYPES[KINDS[name]])) for name in retyped},
        key=draw(st.sampled_from(["index", "column", "text", "object"])),
        through=draw(st.sampled_from(["", "copy", "turn", "pickle", "concat", "merge", "built"])),
        deleted=many(st.booleans(), len(kept)) if draw(st.booleans()) else [],
        chunk=draw(st.sampled_from([1, 3, 2000])),
    )


def report(story: Story, base: pd.DataFrame) -> pd.DataFrame:
    """The edited frame: as a person makes it from the base."""
    if story.through == "built":  # from a file, say: it shares nothing with the base
        rows = [{"id": row["id"]} | {n: story.cell(number, n) for n in NAMES}
                for number, row in enumerate(story.base)]  # fmt: skip
        frame = based(rows, 2)
    else:
        frame = base.copy()
        for (row, name), value in story.edited.items():
            frame.at[story.base[row]["id"], name] = value
    frame = frame.iloc[story.kept]
    if story.deleted:
        frame["delete"] = story.deleted
    if story.through == "copy":
        frame = frame.copy()
    elif story.through == "turn":
        frame = frame[::-1][::-1]
    elif story.through == "pickle":
        frame = pickle.loads(pickle.dumps(frame))
    elif story.through == "concat":
        frame = pd.concat([frame.iloc[:2], frame.iloc[2:]])
    elif story.through == "merge":
        other = pd.DataFrame({"id": [1, 2, 3], "segment": ["x", "y", "z"]})
        frame = frame.merge(other, on="id", how="left").set_index("id")
    if story.key != "index":
        frame = frame.reset_index()
    if story.new:
        new = typed(story.new)
        if story.key == "index":
            new.index = pd.Index([None] * len(new), dtype=object, name="id")
        frame = pd.concat([frame, new])
    if story.key in ("text", "object"):
        wide = frame["id"].astype("Int64")
        frame["id"] = wide.astype("string" if story.key == "text" else object)
    for name, (retype, _) in story.retypes.items():
        frame[name] = retype(frame[name])
    extra = [name for name in ("id", "delete", "segment") if name in frame]
    return frame[[*extra, *story.columns]]


@given(stories())
@settings(max_examples=volume(100), deadline=None)
def test_any_edits_are_found_through_anything(story: Story) -> None:
    base = based(story.base, story.chunk)
    frame = report(story, base)
    before = frame.copy(), base.copy()
    edits = Edits(frame, base, WHO)

    rows, count = len(story.kept), len(frame)
    assert edits.refusals.cells == []
    assert edits.labels.equals(frame.index)
    assert edits.positions.tolist() == story.kept + [-1] * len(story.new)
    assert edits.new.tolist() == list(range(rows, count))
    assert edits.columns == story.columns
    assert edits.unknown == (["segment"] if story.through == "merge" else [])
    assert edits.deleted.tolist() == (story.deleted or [False] * rows) + [False] * len(story.new)
    assert [edits.key(n) for n in range(count)] == [
        *(story.base[row]["id"] for row in story.kept), *[None] * len(story.new)
    ]  # fmt: skip
    expected = story.expected()
    assert changes(edits) == {n: expected[n] for n in edits.columns if n in expected}

    for name, cells in edits.changed().items():
        _, looks = story.retypes.get(name, (None, lambda value: value))
        now = [looks(story.cell(story.kept[cell.row], name)) for cell in cells]
        result = [cell.value for cell in cells]
        if KINDS[name] == "time":
            now, result = [zoned(v) for v in now], [zoned(v) for v in result]
        assert result == now
        olds = [story.base[story.kept[cell.row]][name] for cell in cells]
        assert [cell.live for cell in cells] == olds
    desired = {
        name: [rows + n for n, row in enumerate(story.new) if row[name] is not None]
        for name in story.columns
    }
    filled = edits.filled(edits.new, [*edits.columns, *edits.unknown])
    filled = {name: [cell.row for cell in cells] for name, cells in filled.items()}
    assert filled == {name: numbers for name, numbers in desired.items() if numbers}
    pd.testing.assert_frame_equal(frame, before[0])  # what the person has is not touched
    pd.testing.assert_frame_equal(base, before[1])


ROWS: list[Row] = [
    {"id": 7, "label": "Ana", "code": "+1", "size": 5, "on": True, "at": NOON, "tags": ["vip"]},
    {"id": 3, "label": "", "code": "+91", "size": 2**53 + 1, "on": False, "at": NOON, "tags": []},
    {"id": 9, "label": None, "code": "+1", "size": None, "on": None, "at": None, "tags": None},
]
BASE = based(ROWS)


@pytest.mark.parametrize(
    "retype",
    [
        lambda frame: frame.convert_dtypes(),
        lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
        lambda frame: frame.reset_index().astype({"id": float}),
        lambda frame: frame.sort_values("label"),
        lambda frame: frame.merge(frame[["label"]], left_index=True, right_index=True)
        .rename(columns={"label_x": "label"}),
        lambda frame: frame.assign(at=frame["at"].map(lambda t: t.isoformat(), na_action="ignore")),
        lambda frame: frame.assign(tags=frame["tags"].map(np.array, na_action="ignore")),
        lambda frame: frame.set_index("label"),
        lambda frame: frame.set_index("code", append=True),
        lambda frame: frame.iloc[:0],
        pickle.dumps,
    ],
)  # fmt: skip
def test_a_frame_that_was_not_edited_gives_no_edits(retype: Any) -> None:
    frame = retype(BASE)
    frame = pickle.loads(frame) if isinstance(frame, bytes) else frame
    edits = Edits(frame, BASE, WHO)
    assert changes(edits) == {}
    assert edits.refusals.cells == []


def test_a_frame_through_a_file_of_text_gives_no_edits(tmp_path: Any) -> None:
    BASE.to_csv(tmp_path / "things.csv")
    frame = pd.read_csv(tmp_path / "things.csv", dtype=str)
    edits = Edits(frame, BASE, WHO)
    assert edits.positions.tolist() == [0, 1, 2]
    assert changes(edits) == {}


# --- what is an edit ------------------------------------------------------------------------

LATER = BASE["at"] + timedelta(microseconds=1)
MOVED = BASE["at"].dt.tz_localize(None).dt.tz_localize("Asia/Kolkata")
#: Columns of an edited frame, and the values that count as edits, by row.
EDITED: list[tuple[dict[str, Any], dict[str, dict[int, Any]]]] = [
    ({"label": ["", None, ""]}, {"label": {0: ""}}),  # cleared; left; nothing there to clear
    ({"code": [None, "", np.nan]}, {"code": {1: ""}}),
    *(
        ({"label": pd.Series([5, None, None], BASE.index).astype(dtype)}, {"label": {0: 5}})
        for dtype in ("float64", "Int64", "object", "int64[pyarrow]")
    ),
    ({"size": pd.Series([60.0, 2.5, 1e300], BASE.index)}, {"size": {0: 60, 1: 2.5, 2: 1e300}}),
    (
        {"tags": [np.array(["vip", "new"]), {"a": np.nan}, [None]]},
        {"tags": {0: ["vip", "new"], 1: {"a": np.nan}, 2: [None]}},
    ),
    ({"tags": [np.array(["vip"]), [], np.nan]}, {}),
    ({"tags": ["vip", [False], 0]}, {"tags": {0: "vip", 1: [False], 2: 0}}),
    ({"at": LATER}, {"at": {0: LATER.iloc[0], 1: LATER.iloc[1]}}),
    ({"at": LATER.dt.as_unit("ms")}, {}),
    ({"at": LATER.astype(object)}, {"at": {0: LATER.iloc[0], 1: LATER.iloc[1]}}),
    ({"at": MOVED}, {"at": {0: MOVED.iloc[0], 1: MOVED.iloc[1]}}),
]


@pytest.mark.parametrize(("columns", "expected"), EDITED)
def test_only_what_means_something_else_is_an_edit(columns: Any, expected: Any) -> None:
    cells = {
        name: values if isinstance(values, pd.Series) else pd.Series(values, BASE.index, object)
        for name, values in columns.items()
    }
    assert changed_values(Edits(BASE.assign(**cells), BASE, WHO)) == expected


def test_a_column_that_the_base_has_not_is_read_as_others_are() -> None:
    edits = Edits(BASE.assign(limit=[3600.0, np.nan, 0.5]), BASE, WHO)
    assert list(map(repr, edits.values("limit", np.arange(3)))) == ["3600", "None", "0.5"]
    assert edits.unknown == ["limit"]


def test_odd_things_in_any_column_are_edits_and_raise_nothing() -> None:
    unusual = [
        *(1.5, "x", True, [1], {"a": 1}, np.array([1, 2]), b"x", "\ud800", 10**30, object(), {1}),
        *(pd.Timestamp(NOON), NOON.date(), float("inf"), timedelta(1), np.int8(1)),
    ]
    for name in NAMES:
        for value in unusual:
            cells = pd.Series([None, None, None], BASE.index, dtype=object)
            cells.iloc[2] = value  # the base has nothing there
            edits = Edits(BASE.assign(**{name: cells}), BASE, WHO)
            assert changes(edits) == {name: [2]}, (name, value)


@pytest.mark.parametrize(
    ("before", "same"), [(2**53 + 1, True), (2**64 - 1, True), (2**64, False), (2**64 + 1, False)]
)
def test_whole_numbers_that_pandas_made_floats_of_are_the_same(before: int, same: bool) -> None:
    """A column with NA in it becomes floats; what no column of whole numbers holds was none."""
    assert is_same_value(before, float(before)) is same


# --- rows that cannot be taken --------------------------------------------------------------


LABELLED: Any = Things("thing", ("label",))


def test_rows_to_delete_may_say_what_they_like() -> None:
    frame = BASE.assign(label=["Ana", "Ana", "Ana"], delete=[None, True, True])
    edits = Edits(frame, BASE, LABELLED)
    assert edits.refusals.cells == []
    assert edits.deleted.tolist() == [False, True, True]
    assert "delete" not in edits.columns + edits.unknown


def test_nothing_can_be_deleted_that_is_not_there() -> None:
    frame = pd.DataFrame({"label": ["Ana", "Zoe", None], "delete": [True, True, True]})
    edits = Edits(frame, BASE, LABELLED)
    assert edits.positions.tolist() == [0, -1, -1]
    assert [(r.row, r.column, r.value, r.reason, r.next_step) for r in edits.refusals.cells] == [
        (row, "delete", "True", "no thing is found by this row", "say its id") for row in (1, 2)
    ]
    assert edits.new.tolist() == []


def test_a_field_named_delete_is_a_field() -> None:
    base = BASE.assign(delete=[True, False, True])
    edits = Edits(base, base, WHO)
    assert not edits.deleted.any()
    assert "delete" in edits.columns


def test_rows_are_found_by_what_set_index_moved_into_the_index() -> None:
    frame = BASE.reset_index(drop=True).set_index("label").assign(size=[6, None, None])
    edits = Edits(frame.iloc[:1], BASE, LABELLED)
    assert edits.positions.tolist() == [0]
    assert changes(edits) == {"size": [0]}
    assert edits.labels.tolist() == ["Ana"]
