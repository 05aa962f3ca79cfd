"""Books: what a folder of parts holds is what `frame()` gives, whoever opens it."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd
import processes
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from displayed import html_of

import chatkit
from chatkit import Book, Client, InputError, StoreError
from chatkit.books.manifest import MANIFEST
from chatkit.books.spool import spool
from chatkit.progress import Forecast
from chatkit.resource import endpoints_of

PART = 100  # rows: three parts of the demo's 250 contacts


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("books") / "book"
    spool(endpoints_of(client.contacts), folder, part_rows=PART)
    return folder


@pytest.fixture
def book(folder: Path) -> Book:
    return Book(folder)


def shown(part: pd.DataFrame) -> pd.DataFrame:
    return part


def renamed(part: pd.DataFrame) -> pd.DataFrame:
    part["name"] = part["name"] + "!"
    return part


def test_a_book_is_what_frame_gives(client: Client, book: Book) -> None:
    pd.testing.assert_frame_equal(book.frame(), client.contacts.frame())
    assert [len(part) for part in book] == [100, 100, 50]
    assert (book.rows, book.complete, book.accounts) == (250, True, ["1001"])


def test_some_columns_come_in_the_order_that_was_asked_for(client: Client, book: Book) -> None:
    names = ["number", "name"]
    pd.testing.assert_frame_equal(book.frame(columns=names), client.contacts.frame()[names])
    with pytest.raises(InputError, match="has no column naem: it has id, name, first_name"):
        book.frame(columns=["naem"])
    pd.testing.assert_frame_equal(book.frame(columns="name"), book.frame()[["name"]])
    with pytest.raises(InputError, match=r"no account 'fr' is in it\. It has '1001'"):
        book.frame(accounts="fr")


def test_a_frame_of_a_book_can_be_planned(client: Client, book: Book) -> None:
    frame = book.frame()
    frame.loc[50001, "name"] = "Oliver Jones"
    assert client.contacts.plan(frame).counts == {"create": 0, "update": 1, "delete": 0}


def test_pandas_opens_the_folder_as_it_is(client: Client, folder: Path) -> None:
    frame = client.contacts.frame()
    opened = pd.read_parquet(folder)
    assert opened.pop("account").astype(str).unique().tolist() == ["1001"]
    tags = opened.pop("tags")
    assert tags.dtype == "str" and tags.loc[50002] == '["rental"]'
    pd.testing.assert_frame_equal(opened, frame.drop(columns="tags"))


def test_dask_reads_it_part_by_part_and_knows_where_an_id_is(client: Client, book: Book) -> None:
    frame, opened = client.contacts.frame(), book.dask()
    assert opened.npartitions == 3 and opened.divisions == (50001, 50103, 50206, 50256)
    assert opened.name.str.len().sum().compute() == frame.name.str.len().sum()
    assert opened.loc[50103:50105].compute()["number"].tolist() == (
        frame.loc[50103:50105, "number"].tolist()
    )
    assert list(book.dask(columns=["name"]).columns) == ["name"]
    assert opened.tags.compute().loc[50002] == '["rental"]'


def test_dask_names_a_column_that_is_not_there(book: Book) -> None:
    with pytest.raises(InputError, match="has no column naem: it has id, name, first_name"):
        book.dask(columns=["naem"])
    assert [*book.dask(columns="name").columns] == ["name"]
    assert [*book.dask(columns=["id", "name"]).columns] == ["name"]


#: What a person writes who opens a book with another program.
OTHERS = """
import json, sys
import duckdb, polars

files, = sys.argv[1:]
asked = f"select account, count(*), min(id), max(updated_at) from '{files}' group by 1 order by 1"
print(json.dumps(duckdb.sql(asked).fetchall(), default=lambda time: time.isoformat()))
opened = polars.scan_parquet(files, hive_partitioning=True).sort("account", "id").collect()
print(json.dumps([opened["account"].unique().sort().to_list(), opened["number"].to_list()]))
"""


def test_duckdb_and_polars_open_it_with_the_account_as_a_column(
    client: Client, tmp_path: Path
) -> None:
    labels, frame = ["de", "fr/ü x"], client.contacts.frame()
    for label in labels:
        spool(endpoints_of(client.contacts), tmp_path, label, part_rows=PART)
    command = [sys.executable, "-c", OTHERS, str(tmp_path / "*" / "*.parquet")]
    done = processes.run(command, check=True, capture_output=True, text=True, timeout=60)
    by_duckdb, by_polars = map(json.loads, done.stdout.splitlines())
    latest = frame.updated_at.max().isoformat()
    assert by_duckdb == [[label, 250, 50001, latest] for label in labels]
    assert by_polars == [labels, frame["number"].tolist() * 2]


def test_each_part_tells_its_least_and_greatest_id(folder: Path) -> None:
    groups = [
        pq.ParquetFile(path).metadata.row_group(0).column(0)
        for path in sorted((folder / "account=1001").glob("*.parquet"))
    ]
    assert [(g.path_in_schema, g.statistics.min, g.statistics.max) for g in groups] == [
        ("id", 50001, 50102),
        ("id", 50103, 50205),
        ("id", 50206, 50256),
    ]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such bits")
def test_files_are_for_their_owner_alone_and_never_in_git(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert "*" in (folder / ".gitignore").read_text().split("\n")


def test_no_file_of_a_book_holds_the_token(client: Client, folder: Path) -> None:
    token = client.connection.token.reveal().encode()
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 4
    assert not [path for path in files if token in path.read_bytes()]


def test_a_book_shows_its_accounts_and_whether_they_are_complete(book: Book) -> None:
    text, html = repr(book), html_of(book)
    assert text.splitlines()[0] == "book: 250 contacts of 1 account in 3 parts"
    assert text.splitlines()[3].split()[:4] == ["1001", "250", "3", "complete,"]
    assert "complete, read" in html and "<table>" in html


def test_what_is_no_book_is_refused(tmp_path: Path, client: Client) -> None:
    with pytest.raises(InputError, match="holds no book"):
        Book(tmp_path / "none")
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds other files \(mine.txt\)"):
        client.contacts.spool(tmp_path)


def test_a_part_that_another_program_changed_is_told(folder: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    part = copy / "account=1001" / "part-000001.parquet"
    whole = part.read_bytes()
    part.write_bytes(whole[:-1])
    with pytest.raises(StoreError, match=r"part-000001\.parquet was changed by another program"):
        Book(copy)
    part.write_bytes(whole[:600] + bytes([whole[600] ^ 1]) + whole[601:])  # of the same size
    with pytest.raises(StoreError, match=r"part-000001\.parquet cannot be read"):
        Book(copy).frame()
    part.unlink()
    with pytest.raises(StoreError, match=r"part-000001\.parquet is missing"):
        Book(copy)
    manifest = copy / "account=1001" / MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(b'"rows":100', b'"rows":"x"', 1))
    with pytest.raises(StoreError, match=f"{MANIFEST}, line 2: "):
        Book(copy)


# --- editing ----------------------------------------------------------------------------


def test_an_edit_writes_another_book_that_names_its_base(book: Book, tmp_path: Path) -> None:
    edited = book.edit(renamed, tmp_path / "edited")
    assert edited.frame()["name"].tolist() == (book.frame()["name"] + "!").tolist()
    base = edited.base
    assert base is not None and base.path.resolve() == book.path.resolve()
    assert edited.complete and book.base is None
    pd.testing.assert_frame_equal(book.edit(shown, tmp_path / "same").frame(), book.frame())


def test_an_edit_of_many_parts_says_how_long_the_rest_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = chatkit.ServiceProfile(max_page_size=10)
    with (
        chatkit.Sandbox(seed="demo", profile=profile) as sandbox,
        chatkit.connect(sandbox) as client,
    ):
        book = spool(endpoints_of(client.contacts), tmp_path / "book", part_rows=10)
    now = [0.0]
    monkeypatch.setattr("chatkit.books.book.Forecast", partial(Forecast, clock=lambda: now[0]))

    def slow(part: pd.DataFrame) -> pd.DataFrame:
        now[0] += 20
        return part

    capsys.readouterr()
    book.edit(slow, tmp_path / "edited")
    assert capsys.readouterr().out == (
        "Editing 250 contacts of account 1001 takes about 2 minutes: 5 more parts at 0.05 parts a "
        "second. The stop button ends it; called again, it goes on from there.\n"
    )


def test_a_base_is_named_as_the_book_is(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = book.edit(shown, "first")
    second = first.edit(shown, "second")
    assert second.base is not None and str(second.base.path) == "first"
    assert repr(second).endswith("complete, edited from first")
    assert first.base is not None and first.base.path == book.path.resolve()


def test_an_edit_may_add_rows_columns_and_leave_rows_out(book: Book, tmp_path: Path) -> None:
    def change(part: pd.DataFrame) -> pd.DataFrame:
        part = part.iloc[1:]
        part["delete"] = part.index == 50003
        part["tags"] = [["x", {"y": 1}]] * len(part)
        return pd.concat([part.reset_index(), pd.DataFrame([{"name": "New", "number": "5550100"}])])

    edited = book.edit(change, tmp_path / "edited")
    frame = edited.frame()
    assert edited.rows == 250 and frame.index.isna().sum() == 3
    assert frame.loc[50003, "delete"] == True  # noqa: E712
    assert frame.loc[50003, "tags"] == ["x", {"y": 1}]
    assert not edited.manifest().ascending
    tables = list(edited.tables(columns=["number"]))
    ids = [value for table in tables for value in table["id"].to_pylist()]
    assert ids[-3:] == [None] * 3 and ids[:-3] == sorted(frame.index.dropna().tolist())


def test_rows_that_an_edit_has_doubled_stay_for_the_plan_to_refuse(
    book: Book, tmp_path: Path
) -> None:
    edited = book.edit(lambda part: pd.concat([part, part.iloc[:1]]), tmp_path / "edited")
    ids = [i for table in edited.tables() for i in table["id"].to_pylist()]
    assert len(ids) == len(edited.frame()) == 253 and ids == sorted(ids)


def test_an_error_names_the_part_and_what_is_done_stays(
    book: Book, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(part: pd.DataFrame) -> pd.DataFrame:
        seen.append(part.index[0])
        if 50206 in part.index:
            raise KeyError("city")
        return part

    seen: list[int] = []
    with pytest.raises(InputError, match=r"part-000002.parquet failed: KeyError: 'city'"):
        book.edit(wrong, tmp_path / "edited")
    assert repr(Book(tmp_path / "edited")).splitlines()[0].endswith("in 2 parts, not complete")
    seen.clear()
    edited = book.edit(renamed, tmp_path / "edited")
    assert "2 parts of 3 edited before stay as they are" in capsys.readouterr().out
    assert edited.complete and edited.rows == 250
    assert not edited.frame().loc[50001, "name"].endswith("!")
    book.edit(renamed, tmp_path / "edited", fresh=True)
    assert Book(tmp_path / "edited").frame().loc[50001, "name"].endswith("!")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda part: None, "returned nothing, not a DataFrame"),
        (lambda part: part.reset_index(drop=True), "it has no id, neither"),
        (lambda part: part.set_axis([f"x{n}" for n in range(len(part))]).rename_axis("id"),
         "a id is not a whole number: x0"),
        (lambda part: part.assign(odd=[object()] * len(part)), "field odd: a cell cannot be kept"),
    ],
)  # fmt: skip
def test_what_an_edit_returns_is_checked(
    book: Book, tmp_path: Path, change: object, said: str
) -> None:
    with pytest.raises(InputError, match=f"part-000000.parquet.*{said}"):
        book.edit(change, tmp_path / "edited")  # type: ignore[arg-type]


def test_a_book_is_not_edited_into_itself_or_another_one(book: Book, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is the book itself"):
        book.edit(shown, book.path)
    first = book.edit(shown, tmp_path / "first")
    first.edit(shown, tmp_path / "second")
    with pytest.raises(InputError, match="something else than edits of this book"):
        book.edit(shown, tmp_path / "second")


# --- order --------------------------------------------------------------------------------


def test_rows_come_in_the_order_of_their_ids_and_each_once(tmp_path: Path) -> None:
    from chatkit.books.manifest import Began, Ended, Manifest, prepare

    def written(*parts: list[int]) -> Manifest:
        place = prepare(tmp_path / str(len(list(tmp_path.iterdir()))), "x")
        manifest = Manifest.begin(place, Began("account", "contact", "id", 10, "2026"))
        for number, ids in enumerate(parts):
            cells = {
                "id": pa.array(ids, pa.int64()),
                "part": pa.array([number] * len(ids), pa.int64()),
            }
            manifest.write(pa.table(cells), (number, number), "2026")
        manifest.add(Ended("2026", manifest.rows))
        return manifest

    def ordered(manifest: Manifest) -> list[tuple[int, int]]:
        tables = Book(manifest.place.parent).tables()
        return [(i, p) for t in tables for i, p in zip(t["id"].to_pylist(), t["part"].to_pylist(), strict=True)]  # noqa: E501  # fmt: skip

    up, down = written([1, 2], [3, 9]), written([9, 7], [5, 3], [2])
    assert (up.order, down.order) == (1, -1)
    assert [i for i, _ in ordered(up)] == [1, 2, 3, 9]
    assert [i for i, _ in ordered(down)] == [2, 3, 5, 7, 9]
    mixed = written([4, 1, 9], [9, 2], [], [3, 4, 12])
    assert mixed.order == 0
    assert ordered(mixed) == [(1, 0), (2, 1), (3, 3), (4, 3), (9, 1), (12, 3)]
