"""The editor: tree, form, source and phone are one document, whatever it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from widgets.showcase import DOCUMENT

import chatkit
from chatkit.client import Client
from chatkit.errors import InputError
from chatkit.flowjson import Flow, parse
from chatkit.widgets.editor.additions import new_flow
from chatkit.widgets.editor.editor import Editor

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
    return Editor(new_flow())


def field(editor: Editor, pointer: str) -> Any:
    return editor._inspector.fields[pointer].input


def test_an_edit_in_the_form_is_seen_in_tree_source_and_phone(editor: Editor) -> None:
    field(editor, TITLE).widget.value = "Hello"
    assert editor.document["screens"][0]["title"] == "Hello"
    assert editor._tree.rows[1]["text"] == "Hello"
    assert '"title": "Hello"' in editor._source.text
    assert json.loads(editor._preview.source) == editor.document
    assert editor._code.text == f'editor.set("{TITLE}", "Hello")'
    assert not editor._undo.disabled
    editor._undo.click()
    assert field(editor, TITLE).widget.value == "Welcome"
    assert editor._undo.disabled
    editor._redo.click()
    assert field(editor, TITLE).widget.value == "Hello"


def test_the_source_that_is_typed_is_the_document(editor: Editor) -> None:
    editor._source.text = editor._source.text.replace("Welcome", "Hola")
    assert editor.document["screens"][0]["title"] == "Hola"
    assert field(editor, TITLE).widget.value == "Hola"
    assert editor.draft.undoable == "the text"


def test_a_broken_source_is_told_at_its_line_and_the_good_document_stays(editor: Editor) -> None:
    editor._source.text = editor._source.text.replace('"WELCOME",', '"WELCOME"')
    assert editor.document == new_flow()
    (mark,) = editor._source.marks
    assert mark["line"] in (5, 6)  # at the end of the one, or the beginning of the other
    assert (mark["line"], mark["severity"]) == (editor.lint()[0].line, "error")
    assert editor._findings.summary == "1 error"
    assert editor._tree.locked
    assert field(editor, TITLE).widget.disabled
    editor._wished("remove", "/screens/0")
    assert "no JSON now" in editor.message
    assert editor.document == new_flow()
    editor._undo.click()
    assert not editor._tree.locked
    assert editor._source.marks == []


def test_a_finding_leads_to_its_field_or_its_line(editor: Editor) -> None:
    editor.set("/screens/0/layout/children/0/text", "x" * 90)
    editor.set("/screens/0/layout/children/0/colour", 1)
    n = [one.code for one in editor.lint()].index("INVALID_PROPERTY_KEY")
    editor.select("")
    editor._findings._heard(editor._findings, {"go": n}, [])
    assert editor.selected == "/screens/0/layout/children/0"
    problem = editor._inspector.fields[f"{editor.selected}/colour"].problem
    assert "TextHeading has no colour" in problem
    sent: list[Any] = []
    editor._source.send = sent.append
    editor._tabs.selected_index = 1
    editor.jump(n)
    assert sent[-1] == {"line": editor.lint()[n].line, "column": 13, "focus": True}


def test_selecting_shows_the_place_in_the_source_too(editor: Editor) -> None:
    editor._tabs.selected_index = 1
    sent: list[Any] = []
    editor._source.send = sent.append
    editor.select("/screens/0/layout/children/1")
    lines = editor._source.text.split("\n")
    assert "{" in lines[sent[0]["line"] - 1]
    assert '"Footer"' in lines[sent[0]["line"]]
    assert sent[0]["focus"] is False


def test_the_tree_adds_moves_copies_and_removes(editor: Editor) -> None:
    editor._wished("add", "/screens/0", "TextInput")
    place = "/screens/0/layout/children"
    assert editor.selected == f"{place}/1"
    assert editor._tree.screen == "WELCOME"
    editor._wished("move", f"{place}/1", -1)
    editor._wished("duplicate", f"{place}/0")
    editor._wished("remove", f"{place}/0")
    names = [one.get("name") for one in editor.document["screens"][0]["layout"]["children"]]
    assert names == ["text_input_2", None, None]
    assert editor.lint().ok
    editor._wished("add", "", "TextBody")
    assert editor.message == "TextBody cannot be added here."


def test_the_phone_is_told_the_screen_of_what_is_selected() -> None:
    editor = Editor(DOCUMENT)
    editor.select("/screens/2/layout/children/3/cases/sea/0")
    assert editor._tree.screen == "WHEN"
    editor.select("")
    assert editor._tree.screen == ""


def test_the_python_that_builds_it_is_written_when_it_is_looked_at(editor: Editor) -> None:
    assert editor._python.text == ""
    editor._tabs.selected_index = 2
    scope: dict[str, Any] = {}
    exec(editor._python.text, scope)
    assert isinstance(scope["flow"], Flow)
    assert scope["flow"].to_json() == editor.document


def test_it_opens_texts_files_and_built_flows(tmp_path: Path) -> None:
    file = tmp_path / "flow.json"
    file.write_text(json.dumps(new_flow()))
    for document in (file, json.dumps(new_flow()), parse(new_flow())):
        assert Editor(document).document == new_flow()
    assert Editor().document == new_flow()


@pytest.mark.parametrize("text", ["", "{", "3", "null", '"x"', "[1]", "[" * 900 + "]" * 900])
def test_what_is_no_flow_opens_with_a_finding(text: str) -> None:
    editor = Editor(text)
    assert not editor.lint().ok
    assert editor._findings.found
    assert "text/html" in editor._repr_mimebundle_()
    editor._source.text = json.dumps(new_flow())
    assert editor.document == new_flow()
    assert editor.lint().ok


def test_a_document_that_is_the_name_of_a_file_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "secret.json"
    file.write_text('{"screens": [{"id": "SECRET", "title": "x"}]}')
    editor = Editor(f'"{file}"')
    editor._tabs.selected_index = 2
    seen = repr(editor._repr_mimebundle_()) + editor._preview.source + editor._python.text
    assert "SECRET" not in seen


def test_texts_of_strangers_are_never_markup() -> None:
    evil = "<img src=x onerror=alert(1)>"
    made = new_flow()
    made["screens"][0] |= {"id": evil, "title": evil, evil: evil}
    made["screens"][0]["layout"]["children"][0] |= {"type": evil, "text": evil}
    editor = Editor(made)
    for row in editor._rows:
        editor.select(row.pointer)
        shown = [editor._title.value, *_html(editor._inspector)]
        assert not any("<img" in one for one in shown)
    assert "<img" not in editor._repr_mimebundle_()["text/html"]


def _html(widget: Any) -> list[str]:
    found = [widget.value] if type(widget).__name__ in ("HTML", "Message") else []
    return found + [one for child in getattr(widget, "children", ()) for one in _html(child)]


def test_it_has_one_line_of_text_and_a_page_that_is_no_widget() -> None:
    editor = Editor(new_flow())
    assert repr(editor) == "Editor of 1 screen: WELCOME; no findings."
    bundle = editor._repr_mimebundle_()
    assert bundle["text/plain"] == repr(editor)
    assert "<strong>A heading</strong>" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
    editor.set("/version", "9.9")
    assert repr(editor) == "Editor of 1 screen: WELCOME; 1 error."
    assert "INVALID" in editor._repr_mimebundle_()["text/html"]


def test_without_an_account_there_is_nothing_to_save_to(editor: Editor) -> None:
    with pytest.raises(InputError, match="has no account"):
        editor.plan()
    with pytest.raises(InputError, match="needs its room"):
        Editor(flow=301)


def test_a_flow_of_the_account_is_edited_and_saved(client: Client) -> None:
    editor = Editor(room=client.flows, flow=301)
    assert "Book a repair" in editor._title.value
    editor.set(TITLE, "Repairs")
    editor._plan.click()
    assert editor._view is not None
    assert "update" in repr(editor._view.plan)
    editor._view.apply()
    live = client.flows.get(301).flow_json
    assert live is not None
    assert live["screens"][0]["title"] == "Repairs"
    assert len(editor.plan()) == 0


def test_a_new_flow_is_named_and_saved(client: Client) -> None:
    editor = Editor(new_flow(), room=client.flows)
    editor._plan.click()
    assert "needs a name" in editor.message
    editor._name.value = "Hello"
    editor._plan.click()
    assert editor._view is not None
    editor._view.apply()
    assert "Hello" in editor._title.value
    assert editor._name.layout.display == "none"
    assert "Hello" in set(client.flows.frame()["name"])


def test_a_flow_with_errors_is_saved_when_that_is_allowed(client: Client) -> None:
    editor = Editor(new_flow(), room=client.flows)
    assert editor._broken.layout.display == "none"
    editor.set("/version", "9.9")
    assert editor._broken.layout.display is None
    assert len(editor.plan("Broken").refused) == 1
    editor._broken.value, editor._name.value = True, "Broken"
    editor._plan.click()
    assert editor._view is not None
    assert len(editor._view.plan) == 1
    editor._source.text = "{"
    assert editor._plan.disabled
    with pytest.raises(InputError, match="is no JSON"):
        editor.plan("Broken")


@settings(max_examples=15)
@given(JSON)
def test_any_json_opens_and_every_row_can_be_looked_at(document: Any) -> None:
    editor = Editor(json.dumps(document))
    assert editor.document == document
    for row in editor._rows:
        editor.select(row.pointer)
    assert editor._repr_mimebundle_()["text/plain"] == repr(editor)
    assert not editor.draft.undoable  # to look at it changes nothing


def test_every_sample_opens_and_none_is_changed_by_looking_at_it(shared: Path) -> None:
    paths = sorted((shared / "samples/flows").rglob("*.json"))
    for path in paths[::6]:
        if path.name != "MANIFEST.json":
            editor = Editor(path)
            for row in editor._rows[::7]:
                editor.select(row.pointer)
            assert not editor.draft.undoable, path.name
