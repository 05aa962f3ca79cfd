"""The files of a folder with what differs from an account beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bulk.planning import held
from widgets.screen import page_of, send

import chatkit
from chatkit.client import Client

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


def test_the_first_file_that_differs_is_shown_with_its_words_marked(
    folder: chatkit.Folder, client: Client
) -> None:
    rewrite(folder, EN, "repaired and ready", "washed and ready")
    view = chatkit.widgets.FolderView(folder, client)
    assert "en.json" in view.difference
    assert "<ins>washed</ins>" in view.difference
    assert "<del>repaired</del>" in view.difference
    assert "lines the same" in view.difference


def test_files_that_are_only_formatted_otherwise_do_not_differ(
    folder: chatkit.Folder, client: Client
) -> None:
    text = (folder.path / EN).read_text("utf-8")
    (folder.path / EN).write_text(" ".join(text.split("\n")), "utf-8")
    assert set(chatkit.widgets.FolderView(folder, client).files().values()) == {"the same"}


def test_a_file_is_chosen_by_its_path_and_from_the_page(
    folder: chatkit.Folder, client: Client
) -> None:
    view = chatkit.widgets.FolderView(folder, client)
    view.choose(EN)
    assert "en.json" in view.difference
    place = list(view.files()).index("webhooks/hooks-larkspur-cycles-example-chat.json")
    send(view, {"open": place})
    assert (view.chosen, "hooks.larkspur" in view.difference) == (place, True)
    for unusual in ({"open": 999}, {"open": -1}, {"open": "1"}, {"again": False}, None):
        send(view, unusual)
        assert view.chosen == place
    with pytest.raises(chatkit.errors.InputError, match="no file 'flows/none'"):
        view.choose("flows/none")


def test_reading_again_keeps_the_file_that_is_shown(folder: chatkit.Folder, client: Client) -> None:
    view = chatkit.widgets.FolderView(folder, client)
    view.choose(EN)
    rewrite(folder, EN, "repaired and ready", "washed")
    rewrite(folder, "webhooks/old-till-larkspur-cycles-example-status.json", "false", "true")
    send(view, {"again": True})
    assert "<ins>washed</ins>" in view.difference
    assert view.files()["webhooks/old-till-larkspur-cycles-example-status.json"] == "different"


def test_a_file_that_cannot_be_read_is_told_with_its_place(
    folder: chatkit.Folder, client: Client
) -> None:
    view = chatkit.widgets.FolderView(folder, client)
    (folder.path / EN).write_text("{oops", "utf-8")
    send(view, {"again": True})
    assert "cannot be read again" in view.heading
    assert EN in view.heading
    with pytest.raises(chatkit.errors.InputError):
        chatkit.widgets.FolderView(folder, client)


def test_what_strangers_wrote_is_escaped_live_and_saved(
    folder: chatkit.Folder, client: Client
) -> None:
    rewrite(folder, EN, "repaired and ready", "<img src=x onerror=alert(1)>")
    view = chatkit.widgets.FolderView(folder, client)
    page = page_of(view)
    assert "<img" not in view.difference
    assert "<img" not in page
    assert "onerror" in page


def test_the_saved_page_holds_what_differs(folder: chatkit.Folder, client: Client) -> None:
    rewrite(folder, EN, "repaired and ready", "washed and ready")
    page = page_of(chatkit.widgets.FolderView(folder, client))
    assert "<ins>washed</ins>" in page
    assert page.count(">different</td>") == 1 and ">the same</td>" not in page


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
    assert "the same" not in view.difference
    page = page_of(view)
    assert page.count("<td") >= 10
