"""The code of a document builds an equal document, and looks as if a person had written it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flowjson.build.made import bent, flows
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.flowjson import (
    Flow,
    Footer,
    Image,
    Navigate,
    Screen,
    TextBody,
    to_code,
)

SAMPLES = Path(__file__).resolve().parents[4] / "shared/samples/flows"


def samples(kind: str) -> list[Any]:
    return [json.loads(path.read_bytes()) for path in sorted((SAMPLES / kind).glob("*.json"))]


def built(code: str) -> Any:
    """Run code, and return the document of its flow."""
    names: dict[str, Any] = {}
    exec(code, names)
    return names["flow"].to_json()


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_the_code_of_every_sample_builds_it_again(shared: Path, kind: str) -> None:
    for document in samples(kind):
        assert built(to_code(document)) == document


def test_no_valid_sample_needs_json_in_its_code(shared: Path) -> None:
    for document in samples("valid"):
        code = to_code(document)
        assert '"type": "SingleColumnLayout"' not in code and '"on-click-action"' not in code


@given(flows)
@settings(max_examples=volume(24, 600))
def test_the_code_of_every_flow_builds_it_again(flow: Flow) -> None:
    assert built(to_code(flow)) == flow.to_json()


@given(st.data())
@settings(max_examples=volume(24, 600))
def test_the_code_of_every_bent_sample_builds_it_again(shared: Path, data: st.DataObject) -> None:
    document = data.draw(bent(samples("valid")[:12]))
    if isinstance(document, dict):
        assert built(to_code(document)) == document


def test_the_code_stays_as_it_is_when_it_is_formatted(shared: Path, tmp_path: Path) -> None:
    documents = samples("valid") + samples("invalid")
    documents.append(Flow([Screen("A", "x" * 99, [TextBody("both ' and \" " * 9)])]).to_json())
    for number, document in enumerate(documents):
        (tmp_path / f"flow_{number}.py").write_text(to_code(document), "utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    for width in ("88", "100"):
        how = ["--isolated", "--no-cache", "--line-length", width]
        done = subprocess.run(
            [*ruff, "format", "--diff", *how, tmp_path], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout
    how = ["--isolated", "--no-cache", "--select", "I,F,A001", "--quiet"]
    done = subprocess.run([*ruff, "check", *how, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_screen_is_a_variable_named_by_its_id() -> None:
    flow = Flow([Screen(id, "T", []) for id in ("WHO_ARE_YOU", "LIST", "IF", "A", "a", "", "1")])
    tree = ast.parse(to_code(flow))
    names = [node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)]
    assert names == [
        *("who_are_you", "screen_list", "screen_if", "a", "a_2", "screen", "screen_1", "flow"),
    ]


def test_a_picture_gets_a_name_of_its_own_and_once() -> None:
    picture = "iVBOR" * 100
    flow = Flow([Screen("A", "A", [Image(picture), Image(picture), Image("short")])])
    code = to_code(flow)
    assert code.count(picture) == 1 and 'Image(PICTURE_1), Image(PICTURE_1), Image("short")' in code
    assert built(code) == flow.to_json()


def test_what_a_class_refuses_is_written_as_json_and_the_rest_as_it_should_be() -> None:
    document = Flow([Screen("A", "A", [TextBody("Hi"), Footer("Go", Navigate("B"))])]).to_json()
    del document["screens"][0]["layout"]["children"][0]["text"]
    code = to_code(document)
    assert '[{"type": "TextBody"}, Footer("Go", Navigate("B"))]' in code
    assert built(code) == document


def test_unknown_properties_and_wrong_types_are_written_beside_the_others() -> None:
    document = Flow([Screen("A", "A", [TextBody("Hi")])]).to_json()
    document["screens"][0]["layout"]["children"][0] |= {"colour": "red", "visible": 1}
    assert 'TextBody("Hi", more={"colour": "red", "visible": 1})' in to_code(document)


def test_one_piece_is_shown_as_its_code_with_long_texts_cut() -> None:
    assert repr(Footer("Go", Navigate("B"))) == 'Footer("Go", Navigate("B"))'
    assert repr(Image("A" * 300)) == f'Image("{"A" * 40}…")'
