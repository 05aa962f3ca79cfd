"""Rules of document and screens: what is let through. What is refused stands in faults.py."""

from __future__ import annotations

from typing import Any

import pytest
from flowjson.base import drop, errors, flow, put, told

from chatkit.flowjson.lint import lint

GOOD = flow({"type": "TextInput", "name": "a", "label": "A"})


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/screens/0/id", "first_screen"),
        ("/screens/0/terminal", False),
        ("/screens/1/success", True),
        ("/screens/0/data", {}),
        ("/screens/0/refresh_on_back", False),
        ("/screens/0/sensitive", ["a"]),
        ("/meta", {"lead_gen_ai": True}),
    ],
)
def test_what_may_be_said_of_a_flow(pointer: str, value: Any) -> None:
    assert errors(put(GOOD, pointer, value)) == []


def test_one_failing_end_among_others_is_good() -> None:
    last = GOOD["screens"][1] | {"id": "FAILED", "success": False}
    document = put(GOOD, "/screens/-", last)
    go = {"name": "navigate", "next": {"type": "screen", "name": "FAILED"}, "payload": {}}
    link = {"type": "EmbeddedLink", "text": "Give up", "on-click-action": go}
    document["screens"][0]["layout"]["children"].insert(0, link)
    assert errors(document) == []


def test_an_endpoint_flow_may_refresh_and_speak_the_newer_protocol() -> None:
    document = put(flow(endpoint=True), "/screens/0/refresh_on_back", True)
    assert errors(document) == []
    assert errors(put(document, "/data_api_version", "4.0")) == []


@pytest.mark.parametrize(("version", "severity"), [("6.1", "error"), ("6.2", "warning")])
def test_a_component_that_was_checked_before_it_was_documented_names_the_later_version(
    version: str, severity: str
) -> None:
    chips = {
        "type": "ChipsSelector", "name": "a", "label": "A",
        "data-source": [{"id": str(n), "title": str(n)} for n in range(3)],
    }  # fmt: skip
    said = [
        (found.severity, found.message)
        for found in lint(flow(chips, version=version))
        if found.pointer.endswith("/type") and "ChipsSelector" in found.message
    ]
    how = {"error": "known", "warning": "documented"}[severity]
    assert said == [(severity, f"ChipsSelector is {how} from version 6.3; this is {version}.")]


def test_a_screen_without_layout_is_only_doubted_before_6_0() -> None:
    document = drop(flow(version="5.1"), "/screens/0/layout")
    assert ("warning", "MISSING_REQUIRED_PROPERTY", "/screens/0/layout") in told(lint(document))
    assert ("error", "MISSING_REQUIRED_PROPERTY", "/screens/0/layout") in told(
        lint(document, "6.0")
    )


@pytest.mark.parametrize("name", ["A,B", "__"])
def test_an_id_that_newer_versions_may_refuse_is_only_doubted(name: str) -> None:
    document = put(flow(foot=False), "/screens/0/id", name)
    document["screens"] = document["screens"][::-1]
    found = [each for each in told(lint(document)) if each[1] == "PATTERN_MISMATCH"]
    assert found == [("warning", "PATTERN_MISMATCH", "/screens/1/id")]
    assert not [f for f in told(lint(document, "6.3")) if f[1] == "PATTERN_MISMATCH"]


def test_both_screens_of_one_id_are_told() -> None:
    document = put(GOOD, "/screens/1/id", "FIRST")
    places = [at for code, at in errors(document) if code == "DUPLICATE_SCREEN_IDS"]
    assert places == ["/screens/0/id", "/screens/1/id"]


def test_an_unannounced_version_is_a_warning() -> None:
    found = told(lint(put(GOOD, "/version", "7.4")))
    assert found == [("warning", "UNAVAILABLE_FLOW_JSON_VERSION", "/version")]


def test_a_version_that_is_wrong_hides_nothing_and_adds_nothing() -> None:
    for version in ("1.0", "x", None):
        assert [at for _, at in errors(put(GOOD, "/version", version))] == ["/version"]
        both = put(put(GOOD, "/version", version), "/x", 1)
        assert [at for _, at in errors(both)] == ["/version", "/x"]


def test_an_unverified_component_version_is_only_doubted() -> None:
    options = [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}]
    chips = {"type": "ChipsSelector", "name": "b", "label": "B", "data-source": options}
    found = told(lint(flow(chips, version="6.2")))
    at = "/screens/0/layout/children/0/type"
    assert found == [("warning", "UNAVAILABLE_FLOW_JSON_VERSION", at)]


def test_a_terminal_screen_without_layout_is_not_told_that_it_has_no_footer() -> None:
    assert errors(drop(GOOD, "/screens/1/layout")) == [
        ("MISSING_REQUIRED_PROPERTY", "/screens/1/layout")
    ]


@pytest.mark.parametrize("version", ["2.1", "5.1"])
def test_a_terminal_screen_that_may_lack_a_layout_still_lacks_its_footer(version: str) -> None:
    document = drop(flow(version=version), "/screens/1/layout")
    assert ("MISSING_FOOTER_ON_TERMINAL_SCREEN", "/screens/1") in errors(document)


@pytest.mark.parametrize("key", ["layoutx", "layout2", "layout-old"])
def test_an_unknown_key_that_begins_like_layout_is_told(key: str) -> None:
    at = f"/screens/0/{key}"
    assert ("INVALID_PROPERTY_KEY", at) in errors(put(GOOD, at, {}))


def test_a_misspelled_key_and_type_are_told_with_what_was_meant() -> None:
    lable = {"type": "TextInpt", "name": "b", "lable": "B"}
    one, two = lint(flow(lable)).errors
    assert {one.hint, two.hint} == {"Did you mean TextInput?", "Did you mean label?"}
    [found] = lint(flow(lable | {"type": "TextInput"})).errors
    assert found.hint == "Did you mean label?"
