"""The files of a folder with what differs from an account beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bulk.planning import held
from widgets.screen import html, page_of, part, press

import chatkit
from chatkit.client import Client
from chatkit.widgets.table import PagedRows

CODES = ["order_ready", "rental_reminder"]
EN = "templates/order_ready/en.json"


@pytest.fixture
def sandbox() -> Iterator[chatkit.Sandbox]:
    with chatkit.Sandbox(seed="demo") as sandbox:
        yield sandbox


@pytest.fixture
def client(sandbox: chatkit.Sandbox) -> Iterator[Client]:
    with chatkit.connect(sandbox) as client:
        client.templates.remember(CODES)
        yield client


@pytest.fixture
def folder(client: Client, tmp_path: Path) -> chatkit.Folder:
    folder = chatkit.Folder(tmp_path / "shop")
    folder.pull(client)
    return folder


def rewrite(folder: chatkit.Folder, path: str, old: str, new: str) -> None:
    text = (folder.path / path).read_text("utf-8")
    assert old in text
    (folder.path / path).write_text(text.replace(old, new), "utf-8")


def test_a_folder_as_it_was_pulled_differs_in_no_file(
    folder: chatkit.Folder, client: Client
) -> None:
    view = chatkit.widgets.FolderView(folder, client)
    assert set(view.files().values()) == {"the same"}
    assert len(view.files()) == 5 + 14 + 3
    assert "all the same" in repr(view)


def test_what_was_edited_added_and_deleted_is_told_of_each_file(
    folder: chatkit.Folder, client: Client
) -> None:
    rewrite(folder, EN, "repaired and ready", "ready")
    (folder.path / "templates/order_ready/de.json").unlink()
    new = folder.path / "templates/order_ready/it.json"
    new.write_text('{"text": "Ciao {{1}}", "variables": {"1": "Ana"}}', "utf-8")
    view = chatkit.widgets.FolderView(folder, client)
    result = {path: state for path, state in view.files().items() if state != "the same"}
    assert result == {
        EN: "different",
        "templates/order_ready/de.json": "only right",
        "templates/order_ready/it.json": "only left",
    }
    assert "3 of 23 files differ" in repr(view)


def test_what_differs_stands_first_with_its_words_marked_live_and_saved(
    folder: chatkit.Folder, client: Client
) -> None:
    rewrite(folder, EN, "repaired and ready", "<img src=x onerror=alert(1)> and ready")
    view = chatkit.widgets.FolderView(folder, client)
    kinds = part(view, PagedRows).items
    assert [item.kinds for item in kinds] == [("different",)] + [("the same",)] * 21
    for page in (html(view), page_of(view)):
        row = page[page.index("<tbody") : page.index("</tbody>")]
        assert "order_ready/<wbr>en.json" in row or "order_ready/en.json" in row
        assert "<del>repaired</del>" in row and "&lt;img" in row and "<img" not in page
        assert "left, new: " in page and "right, old: " in page
    assert "different" in page_of(view) and ">the same<" not in page_of(view)


def test_files_that_are_only_formatted_otherwise_do_not_differ(
    folder: chatkit.Folder, client: Client
) -> None:
    text = (folder.path / EN).read_text("utf-8")
    (folder.path / EN).write_text(" ".join(text.split("\n")), "utf-8")
    assert set(chatkit.widgets.FolderView(folder, client).files().values()) == {"the same"}


def test_both_sides_are_read_again(folder: chatkit.Folder, client: Client) -> None:
    view = chatkit.widgets.FolderView(folder, client)
    rewrite(folder, EN, "repaired and ready", "washed")
    press(view, "Refresh")
    assert "<ins>washed</ins>" in html(view) and view.files()[EN] == "different"
    (folder.path / EN).write_text("{oops", "utf-8")
    press(view, "Refresh")
    assert EN in view.message
    with pytest.raises(chatkit.errors.InputError):
        chatkit.widgets.FolderView(folder, client)


def test_nothing_is_written_by_looking(
    folder: chatkit.Folder, client: Client, sandbox: chatkit.Sandbox
) -> None:
    files = {path: path.read_bytes() for path in folder.path.rglob("*.json")}
    before = held(sandbox)
    view = chatkit.widgets.FolderView(folder, client)
    view.read_again()
    assert held(sandbox) == before
    assert {path: path.read_bytes() for path in folder.path.rglob("*.json")} == files


def test_two_accounts_are_shown_as_files_too(client: Client) -> None:
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as other:
        view = chatkit.widgets.FolderView(client, other, contacts=True)
        assert set(view.files().values()) == {"only left", "different"}
        assert view.files()["contacts.csv"] == "different"


def test_a_folder_alone_is_shown_without_a_comparison(folder: chatkit.Folder) -> None:
    view = chatkit.widgets.FolderView(folder)
    assert repr(view).endswith("22 files.>")
    assert "different" not in html(view) and "left, new" not in html(view)
    assert page_of(view).count("<td") >= 10 and "<button" not in page_of(view)
