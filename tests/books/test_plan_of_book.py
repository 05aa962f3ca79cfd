"""The plan of a book: what the plan of a frame with the same edits says, window by window."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk.planning import account, number, people
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from volume import volume

import chatkit
from chatkit.books import walk as walks
from chatkit.books.spool import spool
from chatkit.resource import endpoints_of


@pytest.fixture
def place():
    with account(max_page_size=7) as (sandbox, client):  # a part ends with a page
        people(sandbox, 60)
        yield client


@pytest.fixture
def read(place, tmp_path):
    """The account, a book of it and its frame."""
    return place, booked(place, tmp_path / "book"), place.contacts.frame()


def booked(client, folder, *, part_rows=7, label=None):
    """A book of small parts."""
    return spool(endpoints_of(client.contacts), folder, label, part_rows=part_rows)


def said(plan: chatkit.Plan) -> list[dict[str, Any]]:
    """What a plan would do, without its name; new rows are in another order in a frame."""
    changes = [{**change.as_json(), "row": None} for change in plan.changes]
    return sorted(changes, key=lambda change: (change["kind"], str(change["key"]), str(change)))


def refused(plan: chatkit.Plan) -> list[tuple[str, ...]]:
    cells = plan.refused[["column", "value", "reason"]].astype(str)
    cells["reason"] = cells["reason"].str.replace("^rows .* pass", "rows pass", regex=True)
    return sorted(cells.itertuples(index=False, name=None))


def alike(one: chatkit.Plan, two: chatkit.Plan) -> None:
    assert said(one) == said(two)
    assert refused(one) == refused(two)
    assert one.counts == two.counts


EDITS: dict[str, Any] = {
    "names": lambda f: f.assign(name=f.name.where(f.index % 5 != 0, f.name + " X")),
    "nothing": lambda f: f,
    "a name is cleared": lambda f: f.assign(name=f.name.where(f.index % 7 != 0, "")),
    "what cannot be written": lambda f: f.assign(
        first_name=f.first_name.where(f.index % 9 != 0, "Eve")
    ),
    "numbers that are none": lambda f: f.assign(
        number=f.number.where(f.index % 11 != 0, "call him")
    ),
    "a number that no country can have": lambda f: f.assign(
        number=f.number.where(f.index % 13 != 0, "1")
    ),
    "numbers": lambda f: f.assign(
        number=f.number.where(f.index % 4 != 0, [number(key - 49_500) for key in f.index])
    ),
    "marked": lambda f: f.assign(delete=f.index % 10 == 0),
    "an unknown column": lambda f: f.assign(mine=1),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_book_plans_what_a_frame_with_the_same_edits_plans(place, tmp_path, edit):
    book = booked(place, tmp_path / "book")
    edited = book.edit(EDITS[edit], tmp_path / "edited")
    plan = place.contacts.plan(edited)
    frame = EDITS[edit](place.contacts.frame())
    expected = place.contacts.plan(frame)
    alike(plan, expected)
    assert plan.notes == expected.notes
    assert [change.row for change in plan.changes] == [c.row for c in expected.changes]
    assert repr(plan) == repr(expected)


def swapped(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers go round in a ring, along a chain, to one that keeps it, and from a deleted one."""
    frame = frame.assign(delete=False)
    ids, numbers = frame.index, frame.number.tolist()
    row = dict(zip(ids, range(len(ids)), strict=True))
    at = list(ids)
    frame["number"] = frame.number.astype(object)
    put = frame.columns.get_loc("number")
    frame.iloc[[2, 3], put] = [numbers[3], numbers[2]]  # a ring
    frame.iloc[[10, 11], put] = [numbers[11], number(700)]  # a chain
    frame.iloc[20, put] = numbers[21]  # who keeps it
    frame.iloc[30, put] = numbers[31]
    frame.iloc[31, frame.columns.get_loc("delete")] = True
    frame.iloc[[40, 41], put] = [number(701), number(701)]  # two want one
    assert row[at[2]] == 2
    return frame


def new_rows(numbers: list[str]) -> pd.DataFrame:
    """Rows without an id: free numbers, those of records, one twice, one that is freed, none."""
    rows = [
        {"number": number(800), "name": "New"},
        {"number": number(801), "name": "New"},
        {"number": number(802), "name": "Twice"},
        {"number": number(802), "name": "Twice"},
        {"number": numbers[5], "name": "Has a row"},
        {"number": numbers[50], "name": "Has no row"},
        {"number": numbers[31], "name": "Deleted"},
        {"number": numbers[10], "name": "Freed"},
        {"number": "call him", "name": "None"},
        {"name": "Without"},
    ]
    return pd.DataFrame(rows).assign(country_code="+1")


def with_all(frame: pd.DataFrame) -> pd.DataFrame:
    edited = swapped(frame)
    edited = edited.drop(edited.index[[50, 51]]).reset_index()
    rows = pd.concat([edited, new_rows(frame.number.tolist())], ignore_index=True)
    return rows.astype({"id": "Int64", "delete": "boolean"})


def written(frame: pd.DataFrame, folder, cuts=(7, 25, 26, 60)) -> Any:
    """Files of Parquet that another program has written, rows without an id anywhere."""
    folder.mkdir()
    rows = frame.drop(columns="tags").sort_values("id", na_position="last", kind="stable")
    for n, (start, end) in enumerate(zip((0, *cuts), (*cuts, len(rows)), strict=True)):
        part = rows.iloc[start:end]
        pq.write_table(pa.Table.from_pandas(part, preserve_index=False), folder / f"p.{n}.parquet")
    return folder


@pytest.mark.parametrize("together", [100_000, 3])
@pytest.mark.parametrize("existing", ["fill", "update", "skip", "refuse"])
def test_new_rows_and_numbers_that_move_are_planned_as_in_a_frame(
    place, tmp_path, monkeypatch, together, existing
):
    monkeypatch.setattr(walks, "_TOGETHER", together)
    book = booked(place, tmp_path / "book")
    frame = place.contacts.frame()
    edited = with_all(frame)
    deleted = [int(frame.index[7]), int(frame.index[51]), 999_999]
    options = {"delete": deleted, "existing": existing}
    plan = place.contacts.plan(written(edited, tmp_path / "edited"), base=book, **options)
    mine = edited.drop(columns="tags")
    mine.attrs = dict(frame.attrs)
    expected = place.contacts.plan(mine, **options)
    alike(plan, expected)
    assert plan.counts["delete"] == 3
    news = [change.row for change in plan.changes if change.kind == "create"]
    assert sorted(news) == ["new 1", "new 2", "new 8"]
    assert [n for n in plan.notes if "not in" in n] == [
        f"1 contact of {tmp_path / 'book'} is not in {tmp_path / 'edited'}, and is left as it is: "
        "a column delete, or their ids in delete=, would delete them."
    ]
    mine = {note.replace("book", "frame") for note in plan.notes}
    assert {*expected.notes} <= mine


@pytest.mark.parametrize("seed", range(4))
def test_random_edits_of_a_book_are_planned_as_in_a_frame(place, tmp_path, monkeypatch, seed):
    chance = random.Random(seed)
    monkeypatch.setattr(walks, "_TOGETHER", chance.choice([1, 4, 100_000]))
    monkeypatch.setattr(walks, "WINDOW", chance.choice([1, 5, 20_000]))
    book = booked(place, tmp_path / "book", part_rows=chance.choice([7, 20]))
    assert len(book.manifest().parts) > 2
    frame = place.contacts.frame()
    pool = [number(n) for n in range(40, 75)]
    edited = frame.reset_index().astype({"number": object, "name": object})
    for place_ in chance.sample(range(60), 25):
        column = chance.choice(["number", "name", "name"])
        edited.loc[place_, column] = chance.choice([*pool, "", None])
    edited["delete"] = [chance.random() < 0.05 for _ in range(60)]
    edited = edited.drop(index=chance.sample(range(60), 5))
    new = pd.DataFrame({"number": chance.choices(pool, k=8), "country_code": "+1", "name": "N"})
    rows = pd.concat([edited, new], ignore_index=True).astype({"id": "Int64", "delete": "boolean"})
    mine = rows.drop(columns="tags")
    mine.attrs = dict(frame.attrs)
    expected = place.contacts.plan(mine)
    cuts = tuple(sorted(chance.sample(range(1, 60), 3)))
    alike(place.contacts.plan(written(rows, tmp_path / "edited", cuts), base=book), expected)


@pytest.mark.parametrize("number_of", [0, 1])
def test_two_rows_of_one_record_are_refused_though_one_changes_its_number(
    place, tmp_path, number_of
):
    """In a book as in a folder of files, whichever of them it is and whatever the other says."""
    book = booked(place, tmp_path / "book")
    first = book.frame().index[3]

    def doubled(part: pd.DataFrame) -> pd.DataFrame:
        row = part[part.index == first]
        both = [row.assign(name="Zoë"), row.assign(number=number(700))]
        return pd.concat([part[part.index != first], both[number_of], both[1 - number_of]])

    edited = book.edit(doubled, tmp_path / "edited")
    plans = [
        place.contacts.plan(edited),
        place.contacts.plan(written(edited.frame().reset_index(), tmp_path / "files"), base=book),
        place.contacts.plan(edited.frame()),
    ]
    for plan in plans:
        assert not plan.changes
        assert plan.refused.reason.tolist() == ["2 rows have it"] * 2


def test_a_book_with_new_rows_is_no_base(place, tmp_path):
    book = booked(place, tmp_path / "book")
    new = pd.DataFrame({"number": [number(900)], "country_code": "+1"}, pd.array([None], "Int64"))
    edited = book.edit(lambda part: pd.concat([part, new.rename_axis("id")]), tmp_path / "edited")
    other = book.edit(lambda part: part.assign(name="Zoë"), tmp_path / "other")
    with pytest.raises(chatkit.InputError, match=r"rows without an id.*base="):
        place.contacts.plan(other, base=edited)


@pytest.mark.parametrize("together", [1, 100_000])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=volume(6, 100))
@given(
    moved=st.dictionaries(st.integers(0, 59), st.integers(0, 75), max_size=3),
    new=st.lists(st.integers(0, 85), max_size=3),
)
@example(moved={3: 70}, new=[80])  # a number changes, and a new row has nothing to do with it
@example(moved={3: 4}, new=[80])  # refused, with a new row that is not
@example(moved={3: 70}, new=[])
@example(moved={}, new=[80, 80])
def test_numbers_that_change_are_planned_beside_any_new_rows(
    read, tmp_path_factory, monkeypatch, together, moved, new
):
    """Whether a new row wants the number that a record had or gets, or one of its own."""
    monkeypatch.setattr(walks, "_TOGETHER", together)
    client, book, frame = read
    edited = frame.reset_index().astype({"number": object})
    for row, want in moved.items():
        edited.loc[row, "number"] = number(want)
    rows = [{"number": number(want), "country_code": "+1", "name": "N"} for want in new]
    both = pd.concat([edited, pd.DataFrame(rows)], ignore_index=True).astype({"id": "Int64"})
    mine = both.drop(columns="tags")
    mine.attrs = dict(frame.attrs)
    folder = written(both, tmp_path_factory.mktemp("edited") / "edited")
    alike(client.contacts.plan(folder, base=book), client.contacts.plan(mine))


def test_the_plan_of_a_book_is_applied_saved_and_taken_back(place, tmp_path):
    book = booked(place, tmp_path / "book")
    rows = with_all(place.contacts.frame())
    folder = written(rows, tmp_path / "edited")
    plan = place.contacts.plan(folder, base=book, skip_invalid=True)
    loaded = place.load_plan(plan.save(tmp_path / "plan.json"))
    assert loaded.hash == plan.hash
    result = loaded.apply(many=True)
    assert set(result.state) == {"applied", "skipped"}
    assert result.index.name == "id" and "new 1" in result.index
    assert not place.contacts.plan(folder, base=book, skip_invalid=True).apply(many=True).empty
    undone = chatkit.undo(result, place).apply()
    assert set(undone.state) == {"applied"}
    assert place.contacts.frame().number.tolist() == book.frame().number.tolist()


def test_without_a_base_a_folder_is_compared_with_what_is_there_now(place, tmp_path):
    frame = place.contacts.frame()
    frame.loc[frame.index[3], "name"] = "Zoë"
    folder = written(frame.reset_index(), tmp_path / "edited")
    plan = place.contacts.plan(folder)
    assert [c.after for c in plan.changes] == [{"name": "Zoë"}]
    assert any("The book does not tell when it was read" in note for note in plan.notes)
    single = min(folder.glob("*.parquet"))
    only = place.contacts.plan(str(single))
    assert [c.key for c in only.changes] == [frame.index[3]]
    assert any("53 contacts of" in note for note in only.notes)


def test_a_book_of_another_account_is_asked_for_by_name(place, tmp_path):
    with account() as (sandbox, other):
        people(sandbox, 20)
        theirs = booked(other, tmp_path / "theirs")
    edited = theirs.edit(lambda part: part.assign(name="Zoë"), tmp_path / "edited")
    with pytest.raises(chatkit.InputError, match=r"plan\(book, other_account=True\)"):
        place.contacts.plan(edited)
    with pytest.raises(chatkit.InputError, match="compare with a book of"):
        place.contacts.plan(edited, base=theirs, other_account=True)
    plan = place.contacts.plan(edited, other_account=True, existing="update")
    mine = edited.frame()
    expected = place.contacts.plan(mine, other_account=True, existing="update")
    alike(plan, expected)
    assert [n.replace("book", "frame") for n in plan.notes] == expected.notes
    assert plan.counts == {"create": 0, "update": 20, "delete": 0}


def upper(part: pd.DataFrame) -> pd.DataFrame:
    return part.assign(name=part.name.str.upper())


def test_an_edit_of_an_edit_is_compared_with_the_book_that_was_read(read, tmp_path):
    place, book, frame = read
    first = book.edit(upper, tmp_path / "first")
    second = first.edit(lambda part: part, tmp_path / "second")
    expected = place.contacts.plan(upper(frame))
    assert expected.counts["update"] == 60
    alike(place.contacts.plan(second), expected)
    assert second.base is not None and second.base.path.resolve() == first.path.resolve()
    first.path.rename(tmp_path / "elsewhere")
    with pytest.raises(chatkit.InputError, match=r"second was made of .*first, which holds no"):
        place.contacts.plan(second)
    alike(place.contacts.plan(second, base=book), expected)


def test_a_book_whose_base_was_spooled_anew_is_compared_with_a_book_by_name(place, tmp_path):
    book = booked(place, tmp_path / "book")
    edited = book.edit(upper, tmp_path / "edited")
    kept = book.path.rename(tmp_path / "kept")
    booked(place, tmp_path / "book")
    with pytest.raises(chatkit.InputError, match=r"spooled or edited anew since.*base="):
        place.contacts.plan(edited)
    assert place.contacts.plan(edited, base=kept).counts["update"] == 60
    assert place.contacts.plan(edited, base=tmp_path / "book").counts["update"] == 60


def test_a_book_that_was_not_finished_is_not_planned(place, tmp_path):
    book = booked(place, tmp_path / "book")

    def stops(part: pd.DataFrame) -> pd.DataFrame:
        if part.index[0] > book.frame().index[20]:
            raise RuntimeError("stopped")
        return part

    with pytest.raises(chatkit.InputError):
        book.edit(stops, tmp_path / "edited")
    with pytest.raises(chatkit.InputError, match=r"was not finished: call book\.edit again"):
        place.contacts.plan(tmp_path / "edited")


def test_files_that_cannot_be_compared_are_named(place, tmp_path):
    book = booked(place, tmp_path / "book")
    rows = place.contacts.frame().reset_index().drop(columns="tags")

    def planned(*parts: pd.DataFrame) -> chatkit.Plan:
        folder = tmp_path / f"f{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        for n, part in enumerate(parts):
            table = pa.Table.from_pandas(part, preserve_index=False)
            pq.write_table(table, folder / f"{n}.parquet")
        return place.contacts.plan(folder, base=book)

    assert not planned(rows[::-1]).changes  # a file is sorted as it is read
    assert not planned(rows[30:], rows[:30]).changes
    with pytest.raises(chatkit.InputError, match=r"0\.parquet and .*1\.parquet overlap: sort all"):
        planned(rows[::2], rows[1::2])
    with pytest.raises(chatkit.InputError, match=r"0\.parquet has no column id"):
        planned(rows.drop(columns="id"))
    with pytest.raises(chatkit.InputError, match="holds no Parquet files"):
        planned()
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    with pytest.raises(chatkit.StoreError, match="cannot be read as Parquet"):
        place.contacts.plan(tmp_path / "broken.parquet", base=book)
    twice = planned(pd.concat([rows[:1], rows[:1], rows[1:]]))
    assert set(twice.refused.reason) == {"2 rows have it"}
    unknown = planned(rows.assign(id=rows.id.where(rows.index != 59, 999_999)))
    assert unknown.refused.reason.tolist() == ["no contact of the account has it"]
    with pytest.raises(chatkit.InputError, match="base= is for books"):
        place.contacts.plan(rows, base=book)


def test_a_frame_with_a_column_that_a_book_has_a_method_of_is_a_frame(place):
    frame = place.contacts.frame().assign(manifest="x")
    assert place.contacts.plan(frame).notes == ["Ignored column: manifest (no such field)"]


def test_an_account_without_contacts_has_a_plan_of_new_ones(tmp_path):
    with account() as (_, client):
        book = booked(client, tmp_path / "book")
        assert not client.contacts.plan(book, base=book).changes
        new = pd.DataFrame({"id": pd.array([None], "Int64"), "number": number(1), "name": "N"})
        table = pa.Table.from_pandas(new.assign(country_code="+1"), preserve_index=False)
        pq.write_table(table, tmp_path / "new.parquet")
        plan = client.contacts.plan(tmp_path / "new.parquet", base=book, delete=[1, "x"])
        assert plan.counts == {"create": 1, "update": 0, "delete": 0}
        assert len(plan.refused) == 2
