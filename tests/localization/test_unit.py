"""A stamp says which text a unit is, and what both sides were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localization.translator import unit

from chatkit.localization.units import Stamp, digest_texts, make_stamp_key, parse_stamp


def test_a_stamp_is_read_as_it_was_put_on():
    stamp = parse_stamp(unit("Hello", "Hallo").stamp)
    key = make_stamp_key("order_ready", "de", "text", "en")
    assert stamp == Stamp(key, digest_texts("Hello"), digest_texts("Hallo"), stamp.at)


@pytest.mark.parametrize(
    "text", ["", "x", "1234567890.1234567890", "0123456789.0123456789.01234567zz"]
)
def test_what_is_no_stamp_is_told(text):
    assert parse_stamp(text) is None


@given(st.lists(st.text(), min_size=4, max_size=4), st.lists(st.text(), min_size=4, max_size=4))
def test_another_place_has_another_key(one, other):
    assert (make_stamp_key(*one) == make_stamp_key(*other)) == (one == other)


def test_texts_that_meet_are_not_the_same_as_one_that_is_joined():
    assert digest_texts("ab", "c") != digest_texts("a", "bc")
