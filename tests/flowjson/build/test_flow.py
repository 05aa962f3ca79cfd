"""A flow is built in Python or read from a document, and nothing gets lost on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from displayed import html_of
from flowjson.build.made import bent, flows, maps
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.errors import InputError
from chatkit.flowjson import (
    Complete,
    Flow,
    Footer,
    Navigate,
    Option,
    RadioButtonsGroup,
    Screen,
    TextBody,
    TextInput,
    parse,
    to_code,
)
from chatkit.flowjson.components import RECOMMENDED

SAMPLES = Path(__file__).resolve().parents[4] / "shared/samples/flows"


def samples(kind: str) -> list[Any]:
    return [json.loads(path.read_bytes()) for path in sorted((SAMPLES / kind).glob("*.json"))]


def same_text(a: object, b: object) -> bool:
    """Equal in content, order and types: 1 is neither 1.0 nor true."""
    return json.dumps(a) == json.dumps(b)


def form_of_three_screens(**more: Any) -> Flow:
    """The example of the documentation: a form of three screens in some 25 lines."""
    name = TextInput("name", "Your name", required=True)
    email = TextInput("email", "Your e-mail", input_type="email", required=True)
    size = RadioButtonsGroup(
        "size",
        "Which size?",
        [Option("s", "Small"), Option("m", "Medium"), Option("l", "Large")],
        required=True,
    )
    done = Screen(
        "DONE",
        "Thank you",
        [
            TextBody("We send it tomorrow."),
            Footer("Order", Complete({"name": name, "email": email, "size": size})),
        ],
        terminal=True,
    )
    order = Screen("ORDER", "Your order", [size, Footer("Next", Navigate(done))])
    who = Screen("WHO", "Who are you?", [name, email, Footer("Next", Navigate(order))])
    return Flow([who, order, done], **more)


def test_a_form_of_three_screens_is_the_document_one_expects() -> None:
    document = form_of_three_screens().to_json()
    assert list(document) == ["version", "screens"]
    assert document["version"] == str(RECOMMENDED)
    assert [list(screen) for screen in document["screens"]] == [
        ["id", "title", "layout"],
        ["id", "title", "layout"],
        ["id", "title", "terminal", "layout"],
    ]
    assert document["screens"][2]["layout"]["children"][1] == {
        "type": "Footer",
        "label": "Order",
        "on-click-action": {
            "name": "complete",
            "payload": {
                "name": "${screen.WHO.form.name}",
                "email": "${screen.WHO.form.email}",
                "size": "${screen.ORDER.form.size}",
            },
        },
    }


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_every_sample_comes_back_as_it_was(shared: Path, kind: str) -> None:
    for document in samples(kind):
        assert same_text(parse(document).to_json(), document)


def test_text_and_file_are_read_like_the_value(tmp_path: Path) -> None:
    flow = form_of_three_screens()
    path = tmp_path / "flow.json"
    path.write_text(text := json.dumps(flow.to_json()), "utf-8")
    for document in (flow, flow.to_json(), text, path):
        assert parse(document).to_json() == flow.to_json()


@pytest.mark.parametrize("document", ["[1]", "{", 5, None, b"\xff"])
def test_what_is_no_object_cannot_be_read(document: object) -> None:
    with pytest.raises(InputError):
        parse(document)


@given(flows)
@settings(max_examples=volume(24, 600))
def test_every_built_flow_is_read_as_it_is_written(flow: Flow) -> None:
    assert same_text(parse(flow).to_json(), flow.to_json())


@given(maps)
@settings(max_examples=volume(24, 600))
def test_every_object_comes_back_as_it_was(document: Any) -> None:
    assert same_text(parse(document).to_json(), document)


@given(st.data())
@settings(max_examples=volume(40, 1000))
def test_every_bent_sample_comes_back_as_it_was(shared: Path, data: st.DataObject) -> None:
    document = data.draw(bent(samples("valid")[:12]))
    if isinstance(document, dict):
        flow = parse(document)
        assert same_text(flow.to_json(), document)
        assert repr(flow) and html_of(flow)


def test_a_document_nested_as_deep_as_can_be_read_is_read_quickly() -> None:
    block: Any = {"type": "TextBody", "text": "deep"}
    for _ in range(27):
        block = {"type": "If", "then": [block]}  # without its condition: nothing of it fits
    document = {"screens": [{"layout": {"children": [block]}}]}
    assert same_text(parse(document).to_json(), document)


def test_what_is_read_is_a_copy_and_so_is_what_is_written() -> None:
    document = form_of_three_screens().to_json()
    document["screens"][0]["data"] = {"x": {"type": "string"}}
    before = json.dumps(document)
    flow = parse(document)
    flow.screens[0].data["x"]["type"] = "number"
    flow.to_json()["screens"][0]["data"]["x"]["type"] = "object"
    assert json.dumps(document) == before
    assert flow.to_json()["screens"][0]["data"]["x"]["type"] == "number"


def test_one_change_of_a_document_changes_nothing_else() -> None:
    document = json.loads(
        '{"screens": [{"title": "T", "id": "A", "new-thing": 1, "layout": {"children": '
        '[{"label": "Old", "type": "TextInput", "name": "n"}], "type": "SingleColumnLayout"}}],'
        ' "version": "7.3"}'
    )
    flow = parse(document)
    flow["A"]["n"].label = "New"
    document["screens"][0]["layout"]["children"][0]["label"] = "New"
    assert same_text(flow.to_json(), document)


def test_screens_are_found_by_id_and_components_by_name() -> None:
    flow = form_of_three_screens()
    assert flow["ORDER"]["size"].label == "Which size?"
    with pytest.raises(KeyError, match="NOWHERE"):
        flow["NOWHERE"]
    with pytest.raises(KeyError, match="colour"):
        flow["ORDER"]["colour"]


def test_a_flow_with_an_endpoint_gets_its_routing_model_from_the_fixes_of_lint() -> None:
    flow = form_of_three_screens(data_api_version="3.0")
    fixed = flow.lint().fix(show=False)
    assert fixed["routing_model"] == {"WHO": ["ORDER"], "ORDER": ["DONE"], "DONE": []}


def test_it_shows_itself_in_one_line() -> None:
    assert repr(form_of_three_screens()) == "<Flow 7.3: 3 screens, 7 components>"


def test_it_is_checked_as_a_whole() -> None:
    assert form_of_three_screens().lint().ok
    flow = form_of_three_screens()
    flow["DONE"].terminal = None
    assert "MISSING_TERMINAL_SCREEN" in {finding.code for finding in flow.lint()}


def test_it_writes_its_own_code() -> None:
    assert "flow = Flow([who, order, done]" in to_code(form_of_three_screens())
