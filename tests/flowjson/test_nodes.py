from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from screens import alone, body, entry, flow, foot, good, screen
from volume import volume

import chatkit.flowjson.lint  # noqa: F401  (its rules)
from chatkit.flowjson.components import RECOMMENDED, Version
from chatkit.flowjson.nodes import MAX_DEPTH, FlowNode, read_nodes
from chatkit.flowjson.rules import run_rules

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)
NAMES = st.sampled_from(
    ["ASK", "DONE", "who", "${data.who}", "${form.first_name}", "`${data.a} +`"]
)
KEYS = st.sampled_from(
    [
        *("type", "name", "data", "id", "screens", "layout", "children", "then", "else", "cases"),
        *("on-click-action", "on-select-action", "payload", "next", "routing_model", "condition"),
        *("data-source", "version", "terminal", "data_api_version", "properties", "items"),
        *("__example__", "required", "value", "url", "text", "enum"),
    ]
)
BENT = st.recursive(
    ANY | NAMES,
    lambda inner: st.dictionaries(KEYS, inner, max_size=6) | st.lists(inner, max_size=4),
    max_leaves=20,
)


def everything(document: object) -> int:
    """Run all rules, and count what they find."""
    return len(list(run_rules(read_nodes(document))))


def test_screens_components_and_actions_come_with_their_pointers() -> None:
    whole = read_nodes(good())
    assert [each.id for each in whole.screens] == ["ASK", "DONE"]
    assert [each.pointer for each in whole.components] == [
        "/screens/0/layout/children/0",
        "/screens/0/layout/children/1",
        "/screens/1/layout/children/0",
        "/screens/1/layout/children/1",
    ]
    move = whole.actions[0]
    assert (move.name, move.target) == ("navigate", "DONE")
    assert move.pointer == "/screens/0/layout/children/1/on-click-action"
    assert whole.screens[1].terminal
    assert not whole.screens[0].terminal


def test_what_stands_in_a_form_or_a_branch_knows_it() -> None:
    inner = {"type": "If", "condition": "${data.a}", "then": [body()], "else": [entry("b")]}
    switch = {"type": "Switch", "value": "${data.b}", "cases": {"a/b": [inner]}}
    whole = read_nodes(alone({"type": "Form", "name": "f", "children": [switch]}))
    form, outer, nested, text, other, _ = whole.components
    assert text.pointer == "/screens/0/layout/children/0/children/0/cases/a~1b/0/then/0"
    assert (nested.slot, text.slot, other.slot) == ("/cases/a~1b", "/then", "/else")
    assert (text.form, nested.parent) == (form, outer)
    assert text.find_around("If", "Switch") == [nested, outer]
    assert whole.screens[0].fields == {"b": other}


def test_the_version_is_the_documents_own_unless_another_is_asked_for() -> None:
    assert read_nodes(good("6.1")).version == Version(6, 1)
    assert read_nodes(good("6.1"), "5.0").version == Version(5, 0)
    assert read_nodes(good("soon")).version == RECOMMENDED
    assert read_nodes(None).version == RECOMMENDED


def test_a_thousand_levels_are_safe() -> None:
    nested: dict[str, Any] = body("${data.x}")
    value: Any = "${data.x}"
    schema: Any = {"type": "string"}
    for _ in range(1000):
        nested = {"type": "If", "condition": "${data.x}", "then": [nested]}
        value = [value]
        schema = {"type": "array", "items": schema}
    data = {"x": schema | {"__example__": value}}
    act = foot("complete", payload={"x": value})
    whole = read_nodes(flow(screen("A", nested, body(value), act, data=data, terminal=True)))
    assert all(each.pointer.count("/") <= MAX_DEPTH + 2 for each in whole.components)
    assert whole.screens[0].too_deep
    assert everything(whole.value) > 0


@given(ANY)
def test_any_json_is_traversed(document: object) -> None:
    assert isinstance(read_nodes(document), FlowNode)
    assert everything(document) >= 0


@settings(max_examples=volume(40, 1000))
@given(BENT, BENT, BENT)
def test_flows_changed_anywhere_are_traversed(first: Any, second: Any, third: Any) -> None:
    shaped = {"screens": [first, screen("ASK", second, data={"who": third}), second]}
    assert everything(shaped | {"routing_model": third}) >= 0
    assert everything({"screens": first, "version": second, "routing_model": third}) >= 0


def places(value: Any) -> list[tuple[Any, Any]]:
    """List every object and list in a document with each of its keys."""
    result: list[tuple[Any, Any]] = []
    waiting = [value]
    for each in waiting:
        keys = each if isinstance(each, dict) else range(len(each))
        result += [(each, key) for key in keys]
        waiting += [each[key] for key in keys if isinstance(each[key], dict | list)]
    return result


@settings(
    max_examples=volume(40, 1000), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_every_sample_changed_at_one_place_is_traversed(shared: Path, data: st.DataObject) -> None:
    paths = sorted((shared / "samples/flows").glob("*/*.json"))
    document = json.loads(data.draw(st.sampled_from(paths)).read_text())
    holder, key = data.draw(st.sampled_from(places(document)))
    holder[key] = data.draw(ANY | NAMES)
    assert everything(document) >= 0


def test_every_good_sample_has_no_error(shared: Path) -> None:
    paths = sorted((shared / "samples/flows/valid").glob("*.json"))
    assert len(paths) > 30
    for path in paths:
        findings = run_rules(read_nodes(json.loads(path.read_text())))
        assert [each for each in findings if each.severity == "error"] == [], path.name
