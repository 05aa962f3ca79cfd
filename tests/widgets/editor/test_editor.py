"""The editor: tree, form, source and phone are one document, whatever it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from widgets.screen import (
    click_row,
    find,
    heard,
    html,
    is_seen,
    page_of,
    part,
    parts,
    press,
    send,
    static,
    type_into,
)
from widgets.showcase import DOCUMENT

import chatkit
from chatkit.client import Client
from chatkit.errors import InputError
from chatkit.flowjson import parse
from chatkit.widgets.editor import Editor, FindingList, SourceView
from chatkit.widgets.editor.edits import make_flow
from chatkit.widgets.editor.inspector import Inspector
from chatkit.widgets.editor.tree import Tree
from chatkit.widgets.planview import PlanView
from chatkit.widgets.player import Player

TITLE = "/screens/0/title"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["version", "screens", "layout", "children", "type", "id"]), inner
        )
    ),
    max_leaves=10,
)


@pytest.fixture
def client() -> Iterator[Client]:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        yield client


@pytest.fixture
def editor() -> Editor:
    return Editor(make_flow())


def tree(editor: Editor) -> Any:
    return part(editor, Tree)


def source(editor: Editor) -> Any:
    return part(editor, SourceView)


def open_tab(editor: Editor, title: str) -> None:
    [tabs] = [one for one in parts(editor) if getattr(one, "titles", ())]
    tabs.open_tab = tabs.titles.index(title)


def test_an_edit_in_the_form_is_seen_in_tree_source_and_phone(editor: Editor) -> None:
    type_into(editor, "Title", "Hello")
    assert editor.document["screens"][0]["title"] == "Hello"
    assert tree(editor).rows[1]["text"] == "Hello"
    assert '"title": "Hello"' in source(editor).text
    assert json.loads(part(editor, Player).source) == editor.document
    assert not find(editor, "Undo").disabled
    press(editor, "Undo")
    assert find(editor, "Title").value == "Welcome"
    assert find(editor, "Undo").disabled
    press(editor, "Redo")
    assert find(editor, "Title").value == "Hello"


def test_the_source_that_is_typed_is_the_document(editor: Editor) -> None:
    source(editor).text = source(editor).text.replace("Welcome", "Hola")
    assert editor.document["screens"][0]["title"] == "Hola"
    assert find(editor, "Title").value == "Hola"
    assert editor.state.undoable == "the text"


def test_a_broken_source_is_told_at_its_line_and_the_good_document_stays(editor: Editor) -> None:
    source(editor).text = source(editor).text.replace('"WELCOME",', '"WELCOME"')
    assert editor.document == make_flow()
    (mark,) = source(editor).marks
    assert mark["line"] in (5, 6)  # at the end of the one, or the beginning of the other
    assert (mark["line"], mark["severity"]) == (editor.lint()[0].line, "error")
    assert "1 error" in html(part(editor, FindingList))
    assert tree(editor).locked
    assert find(editor, "Title").disabled
    send(tree(editor), {"do": "remove", "pointer": "/screens/0"})
    assert "not valid JSON now" in editor.message
    assert editor.document == make_flow()
    press(editor, "Undo")
    assert not tree(editor).locked
    assert source(editor).marks == []


def test_a_finding_leads_to_its_field_or_its_line(editor: Editor) -> None:
    editor.set("/screens/0/layout/children/0/text", "x" * 90)
    editor.set("/screens/0/layout/children/0/colour", 1)
    n = [one.code for one in editor.lint()].index("INVALID_PROPERTY_KEY")
    editor.select("")
    click_row(part(editor, FindingList), "go", str(n))
    assert editor.selected == "/screens/0/layout/children/0"
    problem = part(editor, Inspector).fields[f"{editor.selected}/colour"].problem
    assert "TextHeading has no colour" in problem
    sent = heard(source(editor))
    open_tab(editor, "Source")
    editor.jump(n)
    assert sent[-1] == {"line": editor.lint()[n].line, "column": 13, "focus": True}


def test_selecting_shows_the_place_in_the_source_too(editor: Editor) -> None:
    open_tab(editor, "Source")
    sent = heard(source(editor))
    editor.select("/screens/0/layout/children/1")
    lines = source(editor).text.split("\n")
    assert "{" in lines[sent[0]["line"] - 1]
    assert '"Footer"' in lines[sent[0]["line"]]
    assert sent[0]["focus"] is False


def test_a_row_that_is_dragged_in_the_page_is_dropped(editor):
    place = "/screens/0/layout/children"
    before = [row["name"] for row in tree(editor).rows]
    message = {"do": "drop", "pointer": f"{place}/0", "target": f"{place}/1", "after": True}
    send(tree(editor), message)
    assert [row["name"] for row in tree(editor).rows] != before


def test_the_tree_adds_moves_copies_and_removes(editor: Editor) -> None:
    send(tree(editor), {"do": "add", "pointer": "/screens/0", "what": "TextInput"})
    place = "/screens/0/layout/children"
    assert editor.selected == f"{place}/1"
    assert tree(editor).screen == "WELCOME"
    send(tree(editor), {"do": "move", "pointer": f"{place}/1", "by": -1})
    send(tree(editor), {"do": "duplicate", "pointer": f"{place}/0"})
    send(tree(editor), {"do": "remove", "pointer": f"{place}/0"})
    names = [one.get("name") for one in editor.document["screens"][0]["layout"]["children"]]
    assert names == ["text_input_2", None, None]
    assert [result.code for result in editor.lint()] == ["UNUSED_INPUT"]  # a copy is not wired
    assert "text_input" not in repr(editor.document["screens"][0]["layout"]["children"][-1])
    send(tree(editor), {"do": "add", "pointer": "", "what": "TextBody"})
    assert editor.message == "TextBody cannot be added here."


def test_the_phone_is_told_the_screen_of_what_is_selected() -> None:
    editor = Editor(DOCUMENT)
    editor.select("/screens/2/layout/children/3/cases/sea/0")
    assert tree(editor).screen == "WHEN"
    editor.select("")
    assert tree(editor).screen == ""


def test_it_opens_texts_files_and_built_flows(tmp_path: Path) -> None:
    file = tmp_path / "flow.json"
    file.write_text(json.dumps(make_flow()))
    for document in (file, json.dumps(make_flow()), parse(make_flow())):
        assert Editor(document).document == make_flow()
    assert Editor().document == make_flow()


@pytest.mark.parametrize("text", ["", "{", "3", "null", '"x"', "[1]", "[" * 900 + "]" * 900])
def test_what_is_no_flow_opens_with_a_finding(text: str) -> None:
    editor = Editor(text)
    assert not editor.lint().ok
    assert "<li" in html(part(editor, FindingList))
    assert "text/html" in static(editor)
    source(editor).text = json.dumps(make_flow())
    assert editor.document == make_flow()
    assert editor.lint().ok


def test_a_document_that_is_the_name_of_a_file_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "secret.json"
    file.write_text('{"screens": [{"id": "SECRET", "title": "x"}]}')
    editor = Editor(f'"{file}"')
    assert "SECRET" not in repr(static(editor)) + part(editor, Player).source


def test_texts_of_strangers_are_never_markup() -> None:
    evil = "<img src=x onerror=alert(1)>"
    made = make_flow()
    made["screens"][0] |= {"id": evil, "title": evil, evil: evil}
    made["screens"][0]["layout"]["children"][0] |= {"type": evil, "text": evil}
    editor = Editor(made)
    for row in tree(editor).rows:
        editor.select(row["pointer"])
        assert "<img" not in html(editor)
    assert "<img" not in page_of(editor)


def test_it_has_one_line_of_text_and_a_page_that_is_no_widget() -> None:
    editor = Editor(make_flow())
    assert repr(editor) == "Editor of 1 screen: WELCOME; no findings."
    bundle = static(editor)
    assert bundle["text/plain"] == repr(editor)
    assert "TextHeading “A heading”" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
    editor.set("/version", "9.9")
    assert repr(editor) == "Editor of 1 screen: WELCOME; 1 error."
    assert "INVALID" in page_of(editor)


def test_without_an_account_there_is_nothing_to_save_to(editor: Editor) -> None:
    with pytest.raises(InputError, match="has no account"):
        editor.plan()
    with pytest.raises(InputError, match="needs its resource"):
        Editor(flow=301)


def test_a_new_flow_is_named_and_saved(client: Client) -> None:
    editor = Editor(make_flow(), resource=client.flows)
    press(editor, "Save as a new flow …")
    assert "needs a name" in editor.message
    type_into(editor, "Name of the new flow", "Hello")
    press(editor, "Save as a new flow …")
    part(editor, PlanView).apply()
    assert "Hello</h3>" in html(editor)
    assert not is_seen(find(editor, "Name of the new flow"))
    assert "Hello" in set(client.flows.frame()["name"])


def test_a_flow_with_errors_is_saved_when_that_is_allowed(client: Client) -> None:
    editor = Editor(make_flow(), resource=client.flows)
    anyway = "Save it although it has errors"
    assert not is_seen(find(editor, anyway))
    editor.set("/version", "9.9")
    assert is_seen(find(editor, anyway))
    assert len(editor.plan("Broken").refused) == 1
    type_into(editor, anyway, True)
    type_into(editor, "Name of the new flow", "Broken")
    press(editor, "Save as a new flow …")
    assert len(part(editor, PlanView).plan) == 1
    source(editor).text = "{"
    assert find(editor, "Save as a new flow …").disabled
    with pytest.raises(InputError, match="is not valid JSON"):
        editor.plan("Broken")


@settings(max_examples=15)
@given(JSON)
def test_any_json_opens_and_every_row_can_be_looked_at(document: Any) -> None:
    editor = Editor(json.dumps(document))
    assert editor.document == document
    for row in tree(editor).rows:
        editor.select(row["pointer"])
    assert static(editor)["text/plain"] == repr(editor)
    assert not editor.state.undoable  # to look at it changes nothing


def test_every_sample_opens_and_none_is_changed_by_looking_at_it(shared: Path) -> None:
    paths = sorted((shared / "samples/flows").rglob("*.json"))
    for path in paths[::6]:
        if path.name != "MANIFEST.json":
            editor = Editor(path)
            for row in tree(editor).rows[::7]:
                editor.select(row["pointer"])
            assert not editor.state.undoable, path.name
