"""Tests of all resources: ids in paths, identifiers of the upstream platform."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatkit.sandbox.resource import make_upstream_id, parse_id


@settings(deadline=None)
@given(st.text() | st.integers().map(str))
def test_an_id_is_read_only_in_its_one_plain_form(text):
    read = parse_id(text)
    assert read is None or (str(read) == text and 0 < read < 10**18)


@pytest.mark.parametrize("text", ["1", "50001", "9" * 18])
def test_a_plain_id_is_read(text):
    assert parse_id(text) == int(text)


def test_identifiers_are_digits_of_one_length_and_no_two_are_equal():
    made = {make_upstream_id(record_id, "104") for record_id in range(50_001, 150_001)}
    assert len(made) == 100_000
    assert {len(identifier) for identifier in made} == {15}
    assert all(identifier.isdigit() for identifier in made)
