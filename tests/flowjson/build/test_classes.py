"""The classes are what the table of components says, and none is missing."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest
from flowjson.build.classes import FILE, source

from chatkit import flowjson
from chatkit.flowjson.build import CLASSES
from chatkit.flowjson.build.piece import Block, attribute_name
from chatkit.flowjson.components import COMPONENTS


def test_the_stub_is_what_the_table_makes_of_it() -> None:
    assert FILE.read_text("utf-8") == source(), (
        "the table changed: run python tests/flowjson/build/classes.py"
    )


def test_the_classes_are_those_of_the_stub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Block, "kinds", {})
    stub: dict[str, Any] = {"__name__": "stub"}
    exec(compile(FILE.read_text("utf-8"), FILE, "exec", dont_inherit=True), stub)
    assert stub["__all__"] == sorted(CLASSES)
    for name, made in CLASSES.items():
        typed = stub[name]
        assert str(inspect.signature(typed)) == str(inspect.signature(made))
        assert typed.__doc__ == made.__doc__
        assert pickle.loads(pickle.dumps(made)) is made


def test_each_component_has_its_class_under_its_own_name() -> None:
    assert Block.kinds.keys() == COMPONENTS.keys()
    for name, made in Block.kinds.items():
        assert getattr(flowjson, name) is made


@pytest.mark.parametrize("name", COMPONENTS)
def test_each_property_is_an_argument_with_its_description(name: str) -> None:
    made, about = Block.kinds[name], COMPONENTS[name]
    own = {attribute_name(each.name): each for each in about.properties if each.name != "type"}
    assert set(inspect.signature(made).parameters) == {*own, "more"}
    assert made.__doc__ and made.__doc__.startswith(about.about)
    fields = made.__pydantic_fields__
    for argument, each in own.items():
        assert fields[argument].description == each.about
        assert f"    {argument}: {each.about}" in made.__doc__
        assert fields[argument].is_required() == (each.required is not None)


@pytest.mark.parametrize("name", COMPONENTS)
def test_what_is_required_stands_first_and_needs_no_name(name: str) -> None:
    parameters = inspect.signature(Block.kinds[name]).parameters.values()
    placed = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    needed = [attribute_name(p.name) for p in COMPONENTS[name].properties if p.required]
    assert placed == [each for each in needed if each != "type"]
