"""Versions of the flow document."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.flowjson.components import FROZEN, RECOMMENDED, RELEASED, Version, data_api_versions


@given(st.integers(0, 9999), st.integers(0, 9999))
def test_what_is_written_is_read_again(major: int, minor: int) -> None:
    assert Version.parse(str(Version(major, minor))) == (major, minor)


@pytest.mark.parametrize(
    "text", ["", "7", "7.", "7.3.1", " 7.3", "7.3\n", "v7.3", 7.3, None, "٧.٣"]
)
def test_anything_else_is_no_version(text: object) -> None:
    assert Version.parse(text) is None


def test_versions_are_ordered_as_numbers() -> None:
    assert Version(6, 3) < Version(7, 0) < Version(10, 0)
    assert Version(7, 0) >= (7, 0)


def test_the_facts_say_the_same(shared: Path) -> None:
    message = json.loads((shared / "facts/flow_rules.json").read_text())["versions"]
    assert sorted(map(str, {*RELEASED} - {*FROZEN})) == sorted(message["publishable_as_of_2026_03"])
    assert sorted(map(str, RELEASED)) == sorted(message["sendable_as_of_2026_03"])
    assert str(RECOMMENDED) == message["recommended"]
    assert {str(v): day.isoformat() for v, day in FROZEN.items()} == message["frozen"]


def test_the_endpoint_has_a_second_protocol_from_7_3() -> None:
    assert data_api_versions(Version(7, 2)) == ("3.0",)
    assert data_api_versions(Version(7, 3)) == ("3.0", "4.0")
