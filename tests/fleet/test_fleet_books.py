"""Books of a fleet: all accounts in one folder, and no account stops another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from bulk.planning import people

import chatkit
from chatkit import Book, InputError, ServiceProfile

LABELS = ("de", "fr", "it")


@pytest.fixture
def fleet(capsys: pytest.CaptureFixture[str]) -> Iterator[chatkit.Fleet]:
    """Three accounts with some contacts each; that of it must be asked with another token."""
    with ExitStack() as stack:
        profile = ServiceProfile(max_page_size=5)
        sandboxes = {
            n: stack.enter_context(chatkit.Sandbox(seed="empty", profile=profile)) for n in LABELS
        }
        for n, sandbox in enumerate(sandboxes.values()):
            people(sandbox, 10 + n, name=f"Ana {n}")
        clients = {n: stack.enter_context(chatkit.connect(s)) for n, s in sandboxes.items()}
        capsys.readouterr()
        yield stack.enter_context(chatkit.connect_all(clients))


def test_all_accounts_are_read_into_one_book(fleet: chatkit.Fleet, tmp_path: Path) -> None:
    book = fleet.contacts.spool(tmp_path)
    assert book.accounts == [*LABELS] and book.complete
    frame = book.frame()
    pd.testing.assert_frame_equal(frame, fleet.contacts.frame())
    assert len(book.frame(accounts=["fr", "it"])) == 23
    frame["name"] = frame["name"].str.upper()
    plan = fleet.contacts.plan(frame)
    assert {label: len(each) for label, each in plan.plans.items()} == {
        "de": 10, "fr": 11, "it": 12
    }  # fmt: skip


def test_an_account_that_stops_is_named_and_gone_on_with(
    fleet: chatkit.Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox = fleet["fr"].transport
    good, sandbox.send = sandbox.send, _refused  # type: ignore[method-assign]
    book = fleet.contacts.spool(tmp_path)
    told = capsys.readouterr().out
    assert "fr was not read to its end: " in told and "not for you" in told
    assert not book.complete and repr(book).splitlines()[0].endswith("not complete")
    assert [book.manifest(n).rows for n in LABELS] == [10, 0, 12]
    sandbox.send = good  # type: ignore[method-assign]
    book = fleet.contacts.spool(tmp_path)
    assert book.complete and [book.manifest(n).rows for n in LABELS] == [10, 11, 12]
    assert "nothing is read again" in capsys.readouterr().out


def test_what_was_read_is_there_although_an_account_stopped_before_its_first_part(
    fleet: chatkit.Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = fleet.contacts.frame().loc[["de", "it"]]
    fleet["fr"].transport.send = _refused  # type: ignore[method-assign]
    book = fleet.contacts.spool(tmp_path / "book")
    capsys.readouterr()
    frame = book.frame()
    missing = "fr is not complete, nothing yet: spool again to go on.\n"
    assert capsys.readouterr().out == missing and list(frame.attrs["stops"]) == ["fr"]
    pd.testing.assert_frame_equal(frame, expected)
    pd.testing.assert_frame_equal(book.frame(columns=["name"]), expected[["name"]])
    assert book.frame(accounts=["de"]).attrs["stops"] == {}
    assert sum(len(part) for part in book) == len(expected)
    capsys.readouterr()
    assert len(book.dask().compute()) == len(expected)
    assert capsys.readouterr().out == missing
    edited = book.edit(_upper, tmp_path / "edited")
    assert missing in capsys.readouterr().out
    assert fleet.contacts.plan(edited, skip_invalid=True).counts["update"] == len(expected)
    for read in (lambda: book.frame(accounts="fr"), lambda: book.frame(["name"], "fr")):
        with pytest.raises(InputError, match=r"nothing of fr yet: spool again to go on"):
            read()


def test_a_book_of_nothing_at_all_says_how_to_go_on(fleet: chatkit.Fleet, tmp_path: Path) -> None:
    fleet["fr"].transport.send = _refused  # type: ignore[method-assign]
    with pytest.raises(chatkit.NotPermitted):
        fleet["fr"].contacts.spool(tmp_path)
    book = Book(tmp_path)
    edit = partial(book.edit, _upper, tmp_path / "edited")
    for read in (book.frame, book.dask, lambda: book.frame(["name"]), edit):
        with pytest.raises(InputError, match=r"holds nothing of .* yet: spool again to go on"):
            read()
    assert list(book) == []


def _refused(call: chatkit.call.Call) -> None:
    raise chatkit.NotPermitted(call, "not for you", status=403)


def test_an_edit_knows_whose_part_it_has(fleet: chatkit.Fleet, tmp_path: Path) -> None:
    def marked(part: pd.DataFrame) -> pd.DataFrame:
        return part.assign(name=part["name"] + " " + part.attrs["account"])

    edited = fleet.contacts.spool(tmp_path / "book").edit(marked, tmp_path / "edited")
    names = edited.frame()["name"]
    assert all(name.endswith(f" {label}") for (label, _), name in names.items())
    assert edited.base is not None and edited.base.accounts == [*LABELS]
    with pytest.raises(InputError, match=r"name an account\. It has 'de', 'fr'"):
        Book(tmp_path / "edited").manifest()


def test_an_edited_book_of_all_accounts_is_one_plan(fleet: chatkit.Fleet, tmp_path: Path) -> None:
    def renamed(part: pd.DataFrame) -> pd.DataFrame:
        return part.assign(name=part["name"] + " " + part.attrs["account"])

    edited = fleet.contacts.spool(tmp_path / "book").edit(renamed, tmp_path / "edited")
    key = int(edited.frame().loc["it"].index[0])
    plan = fleet.contacts.plan(edited, delete=[("it", key)])
    counts = {label: each.counts for label, each in plan.plans.items()}
    assert {label: (each["update"], each["delete"]) for label, each in counts.items()} == {
        "de": (10, 0), "fr": (11, 0), "it": (11, 1)
    }  # fmt: skip
    result = plan.apply(many=True)
    assert set(result.state) == {"applied"} and len(result) == 33
    again = fleet.contacts.plan(str(tmp_path / "edited"))
    assert set(again.apply(many=True).state) == {"unchanged", "conflict"}
    only = chatkit.connect_all({"x": fleet["de"]})
    with pytest.raises(InputError, match="No account of the fleet is called 'fr', 'it'"):
        only.contacts.plan(Book(tmp_path / "book"))  # de is x there
    parts = sorted((tmp_path / "edited").glob("account=de"))
    assert len(only["x"].contacts.plan(parts[0], base=Book(tmp_path / "book")).changes) == 10


def test_a_fleet_compares_an_edited_book_with_another_one_by_name(
    fleet: chatkit.Fleet, tmp_path: Path
) -> None:
    book = fleet.contacts.spool(tmp_path / "book")
    edited = book.edit(_upper, tmp_path / "edited")
    moved = (tmp_path / "book").rename(tmp_path / "moved")
    with pytest.raises(InputError, match=r"holds no book any more.*base="):
        fleet.contacts.plan(edited)
    assert len(fleet.contacts.plan(edited, base=moved)) == 33
    assert len(fleet.contacts.plan(edited, base=Book(moved))) == 33
    with pytest.raises(InputError, match="base= is for books"):
        fleet.contacts.plan(fleet.contacts.frame(), base=moved)
    only = chatkit.connect_all({"de": fleet["de"]}).contacts.spool(tmp_path / "one")
    with pytest.raises(InputError, match="one has no account 'fr', 'it'"):
        fleet.contacts.plan(edited, base=only)
    for path in ("nosuchdir", __file__):
        with pytest.raises(InputError, match="is not a folder: a plan for a fleet takes a frame"):
            fleet.contacts.plan(path)


def _upper(part: pd.DataFrame) -> pd.DataFrame:
    return part.assign(name=part["name"].str.upper())
