"""Columns of texts: each tool beside the same in Python, text by text."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.numbers import (
    TEXT,
    Foreign,
    begins,
    differs,
    holds,
    joined,
    lengths,
    letters_of,
    matches,
    named,
    only,
    replaced,
    starts,
    where,
    without,
)

TEXTS = st.lists(st.text("0123456789+ -.()/é愛") | st.text(), max_size=12)
MASKED = st.lists(st.tuples(st.text() | st.none(), st.booleans()))


def column(texts):
    return pa.array(texts, TEXT)


@pytest.mark.parametrize("pattern", ["(?!0)1", "(?=0)0", r"(0)\1", "0++", "(?>0)"])
def test_a_pattern_that_only_python_understands_is_foreign(pattern):
    for act in (matches, begins):
        with pytest.raises(Foreign, match=re.escape(pattern)):
            act(column(["01"]), pattern)
    with pytest.raises(Foreign):
        replaced(column(["01"]), pattern, "")


@given(TEXTS, st.sampled_from(["0", "00", "0|180", "[1-9]", "01?", "1(?:2|3)4"]))
def test_patterns_are_found_where_python_finds_them(texts, pattern):
    found = column(texts)
    assert matches(found, pattern).tolist() == [bool(re.search(pattern, t)) for t in texts]
    assert begins(found, pattern).tolist() == [bool(re.match(pattern, t)) for t in texts]
    assert replaced(found, pattern, "x").to_pylist() == [re.sub(pattern, "x", t) for t in texts]


@given(TEXTS)
def test_characters_are_taken_out_of_every_text(texts):
    left = without(b" -.()/", column(texts))
    assert left.to_pylist() == [re.sub(r"[ \-.()/]", "", text) for text in texts]
    left.validate(full=True)


def test_a_column_with_nothing_to_take_out_is_left_as_it_is():
    bare = column(["+123", "", "愛"])
    assert without(b" -", bare) is bare


@given(TEXTS, st.integers(0, 12))
def test_the_bytes_of_a_column_are_those_of_its_texts_wherever_it_begins(texts, start):
    part = column(texts)[start:]
    ends, letters = letters_of(part)
    found = [bytes(letters[a:b]).decode() for a, b in pairwise(ends)]
    assert found == texts[start:]
    assert lengths(part).tolist() == [len(text.encode()) for text in texts[start:]]
    assert without(b"0", part).to_pylist() == [text.replace("0", "") for text in texts[start:]]


@given(MASKED)
def test_rows_are_kept_or_made_null_by_a_mask(rows):
    texts, mask = [text for text, _ in rows], np.array([flag for _, flag in rows], bool)
    assert where(column(texts), mask).to_pylist() == [text for text, flag in rows if flag]
    assert only(mask, column(texts)).to_pylist() == [text if flag else None for text, flag in rows]


def test_texts_are_joined_and_null_makes_null():
    assert joined("+1", column(["2", None])).to_pylist() == ["+12", None]
    assert joined(column(["a"]), " is ", column(["b"])).to_pylist() == ["a is b"]


def test_places_become_names():
    assert named(["a", None, "c"], np.array([2, 0, -1, 1])).to_pylist() == ["c", "a", None, None]


def test_texts_that_differ_and_texts_within_texts_are_found():
    assert differs(column(["a", "b", None]), column(["a", "c", "d"])).tolist() == [
        *(False, True, False)
    ]
    assert holds(column(["a.b", "ab"]), ".").tolist() == [True, False]
    assert starts(column(["+a", "a+"]), "+").tolist() == [True, False]
