"""A column of telephone numbers: the same as one by one, whatever is in it, and quick."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import phonenumbers as library
import pyarrow as pa
import pytest
from dialled import REGIONS, agrees, by_library, columns, written
from hypothesis import given
from hypothesis import strategies as st
from volume import volume

from chatkit import InputError
from chatkit.numbers import Number, read_number, region_of, split, split_all

IN = "+91 98765 43210"
CELLS = st.one_of(
    st.text("+0123456789 -.()/", max_size=22),
    st.from_regex(r"\A[+]?[0-9]{5,16}\Z"),
    st.text(),
    st.none() | st.integers() | st.floats() | st.booleans(),
)


@pytest.fixture
def by_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row that patterns can settle is, however few there are."""
    monkeypatch.setattr("chatkit.numbers.FEW", 0)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What goes to the library."""
    texts: list[str] = []

    def noted(text, region):
        texts.append(text)
        return read_number(text, region)

    monkeypatch.setattr("chatkit.numbers.read_number", noted)
    return texts


def rows(texts, region=None) -> list[Number]:
    return [Number(**row) for row in split_all(texts, region).to_pylist()]


def test_a_column_has_the_fields_of_a_number_for_each_text():
    table = split_all([IN, "x", None, IN], None)
    assert table.column_names == list(Number._fields)
    assert {str(field.type) for field in table.schema} == {"large_string"}
    assert [Number(**row) for row in table.to_pylist()] == [
        *(split(IN), split("x"), split(None), split(IN))
    ]


def test_a_frame_of_it_has_columns_of_str():
    frame = split_all([IN, None]).to_pandas()
    assert {str(dtype) for dtype in frame.dtypes} == {"str"}
    assert frame.country_code[0] == "+91"
    assert frame.country_code.isna().tolist() == [False, True]


@pytest.mark.usefixtures("by_patterns")
def test_a_column_says_what_the_library_says_in_every_region():
    """The bench does the same with 200,000 numbers."""
    compared = 0
    for place, texts in columns(volume(300, 12_000), seed=4):
        for text, number in zip(texts, rows(texts, place), strict=True):
            assert agrees(number, by_library(text, place)), (text, place)
            compared += 1
    assert compared >= volume(300, 12_000)


@pytest.mark.usefixtures("by_patterns")
def test_a_column_is_what_its_texts_are_one_by_one():
    """Notes, reasons and suggestions too."""
    for place, texts in columns(volume(300, 6_000), seed=5):
        assert rows(texts, place) == [split(text, place) for text in texts]


@pytest.mark.usefixtures("by_patterns")
def test_the_corpus_is_what_its_texts_are_one_by_one(shared: Path):
    inputs = json.loads((shared / "corpora/phone/parse_inputs.json").read_text())
    naughty = json.loads((shared / "corpora/blns/blns.json").read_text())
    texts = [*(row["input"] for row in inputs), *naughty]
    for place in (None, "US", "NZ", "AR", "IT", "DE"):
        assert rows(texts, place) == [split(text, place) for text in texts]


@given(st.lists(CELLS, max_size=8), st.sampled_from([None, *REGIONS]))
def test_any_cells_are_what_they_are_one_by_one(cells, place):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chatkit.numbers.FEW", 0)
        assert rows(cells, place) == [split(cell, place) for cell in cells]


@pytest.mark.usefixtures("by_patterns")
def test_what_looks_like_digits_alone_and_is_not_is_what_it_is_one_by_one():
    texts = ["5550143/5550144", "650/2530000", "6502530000.0", "650.2530000", "650253.0000"]
    texts += ["+1" + "-" * count + "6502530000" for count in (90, 110, 260)]
    verdicts = ["several numbers", "valid", "lost digits", "valid", "lost digits"]
    assert [row.verdict for row in rows(texts, "US")] == [*verdicts, "valid", "valid", "too long"]
    assert rows(texts, "US") == [split(text, "US") for text in texts]


def test_plain_numbers_never_go_to_the_library(read):
    chance = random.Random(1)
    mobiles = [f"98{chance.randrange(10**7, 10**8)}" for _ in range(300)]
    forms = ("+91{}", "+91 {}", "(+91) {}", "0{}", "{}", "91{}", "0091{}", "91-{}")
    for form in forms:
        split_all([form.format(mobile) for mobile in mobiles], "IN")
    for form in ("+91{}", "91{}", "0091 {}", "0{}", "+990{}"):
        split_all([form.format(mobile) for mobile in mobiles])
    assert not read


def test_what_goes_to_the_library_goes_there_once_for_each_different_text(read):
    numbers = rows(["+91 98765 43210 x1", "abc", "+91 98765 43210 x1", None, None] * 20)
    assert sorted(read, key=str) == ["+91 98765 43210 x1", None, "abc"]
    assert [number.verdict for number in numbers[:5]] == [
        *("extension", "not a number", "extension", "empty", "empty")
    ]


@pytest.mark.parametrize(
    ("field", "pattern"),
    [("mobile", r"(?!0)[6-9]\d{9}"), ("general_desc", r"(?=.)[1-9]\d{7,12}|000800\d{7}")],
)
def test_a_region_with_a_pattern_that_arrow_refuses_is_read_by_the_library(
    monkeypatch, read, field, pattern
):
    data = library.PhoneMetadata.metadata_for_region("IN")
    changed = type(getattr(data, field))(
        national_number_pattern=pattern, possible_length=(8, 9, 10, 11, 12, 13)
    )
    monkeypatch.setattr(data, "_mutable", True)
    monkeypatch.setattr(data, field, changed)
    region_of.cache_clear()
    try:
        texts = [f"{code}98765{rest}" for rest in range(10_000, 10_100) for code in ("+91", "0")]
        numbers = rows(texts, "IN")
        assert set(texts) == set(read)
        assert [number[:5] for number in numbers] == [by_library(text, "IN") for text in texts]
    finally:
        region_of.cache_clear()


def test_a_prefix_that_arrow_refuses_is_read_by_the_library(monkeypatch, read):
    data = library.PhoneMetadata.metadata_for_region("IN")
    monkeypatch.setattr(data, "_mutable", True)
    monkeypatch.setattr(data, "national_prefix_for_parsing", "0(?!0)")
    texts = [f"098765{rest}" for rest in range(10_000, 10_100)]
    assert {number.e164 for number in rows(texts, "IN")} == {"+91" + text[1:] for text in texts}
    assert set(texts) == set(read)


@pytest.mark.parametrize(
    "cells",
    [
        *([], [""], [None], ["", None], (IN,), {IN: 1}, iter([IN]), [IN, 1.5, None, 7, True]),
        *([b"+919876543210"], ["\ud800" + IN], np.array([IN]), np.array([919876543210])),
        *(pa.array([IN, "a"])[1:], pa.chunked_array([[IN], ["a"]]), pa.array([9.1e11])),
        pa.array([IN, None]).dictionary_encode(),
    ],
)
def test_cells_come_in_any_container(cells):
    known = list(cells) if not isinstance(cells, pa.Array | pa.ChunkedArray) else cells.to_pylist()
    again = iter(known) if not hasattr(cells, "__len__") else cells
    assert rows(again, "IN") == [split(cell, "IN") for cell in known]


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([], dtype="str"),
        pd.concat([pd.Series([IN]), pd.Series([IN, None])]),
        pd.Series([IN, None], dtype="category"),
        pd.Series([919876543210.0], dtype="category"),
        pd.Series([919876543210.0, None]),
        pd.Series([919876543210, None], dtype="Int64"),
        pd.Series([IN, 1.5, None, pd.NA, 5, True, pd.NaT], dtype=object),
        pd.Series([IN, None], dtype="string[python]"),
        pd.Series([IN, "a", None] * 3, index=list("abcdefghi"))[::2],
    ],
    ids=lambda series: f"{series.dtype} {len(series)}",
)
def test_cells_come_in_any_series(series):
    assert rows(series, "IN") == [split(cell, "IN") for cell in series]


def test_a_region_that_does_not_exist_is_refused_before_anything_is_read():
    with pytest.raises(InputError, match="two letters"):
        split_all([], "XX")


def test_a_column_of_one_country_may_have_rows_of_others():
    texts = written(random.Random(2), "US", 60) + written(random.Random(3), "BB", 60)
    assert rows(texts, "US") == [split(text, "US") for text in texts]
