"""The shapes around components."""

import json
from pathlib import Path

from chatkit.flowjson.components import (
    ADVISED_COMPONENTS,
    DOCUMENT,
    LAYOUT,
    MOST_COMPONENTS,
    SCREEN,
    Version,
)


def test_document_and_screen_have_the_keys_of_the_facts(shared: Path) -> None:
    text = json.loads((shared / "facts/flow_rules.json").read_text())
    for shape, report in ((DOCUMENT, text["document"]), (SCREEN, text["screen"])):
        required = {each.split()[0] for each in report["required"]}
        optional = {each.split()[0] for each in report["optional"]}
        assert {p.name for p in shape.properties if p.required} == required
        assert {p.name for p in shape.properties if not p.required} == optional
    assert DOCUMENT.by_name["screens"].most == text["document"]["screens_max"]
    counts = text["screen"]["max_components"]
    assert [counts["doc"], counts["web"]] == [ADVISED_COMPONENTS, MOST_COMPONENTS]


def test_the_endpoint_left_the_document_in_3_0() -> None:
    uri = DOCUMENT.by_name["data_channel_uri"]
    assert [uri.is_known(Version(2, 1)), uri.is_known(Version(3, 0))] == [True, False]


def test_there_is_one_layout() -> None:
    assert LAYOUT.by_name["type"].enum == ("SingleColumnLayout",)
