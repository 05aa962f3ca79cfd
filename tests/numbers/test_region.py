"""The patterns of a region over columns, beside the library's own reading of each number."""

from __future__ import annotations

import random

import phonenumbers as library
import pyarrow as pa
import pytest
from dialled import REGIONS, TYPES, written
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE as REGIONS_OF
from phonenumbers.phonenumberutil import (
    _maybe_strip_national_prefix_carrier_code,
    _number_type_helper,
    _test_number_length,
)

from chatkit.numbers import SIZES, VERDICTS, Region, region_of
from chatkit.numbers import TYPES as NAMES

EVERY = [(code, name) for code, names in REGIONS_OF.items() for name in names]


def digits(region: str) -> list[str]:
    """Digits as they are dialled in and around a region, right and wrong."""
    texts = written(random.Random(region), region, 40)
    found = {library.normalize_digits_only(text)[:17] for text in texts}
    return sorted(text for text in found if text)


def column(texts: list[str]) -> object:
    return pa.array(texts, pa.large_string())


def test_every_pattern_of_the_library_is_understood():
    """None is foreign today. One that will be makes its region slower, never wrong."""
    for code, name in EVERY:
        region, numbers = region_of(code, name), column(["12345678", "012345678"])
        region.types(numbers)
        region.significant(numbers)
        region.leads(numbers)


def test_the_size_of_a_number_is_what_the_library_says():
    for code, name in EVERY:
        region = Region(code, name)
        for length in range(18):
            verdict = SIZES[_test_number_length("1" * length, region.data)]
            assert list(VERDICTS)[region.sizes[length]] == verdict


def test_what_is_dialled_inside_a_country_is_cut_as_the_library_does():
    """Some leave out a 0, some a carrier's code, some put an area code before it."""
    changed = set()
    for name in REGIONS:
        region, texts = region_of(library.country_code_for_region(name), name), digits(name)
        ours = region.cut(column(texts)).to_pylist()
        theirs = [_maybe_strip_national_prefix_carrier_code(t, region.data)[1] for t in texts]
        assert ours == theirs, name
        changed |= {name for mine, text in zip(ours, texts, strict=True) if mine != text}
    assert len(changed) > 100


def test_an_area_code_is_put_before_a_local_number_where_the_library_does():
    assert region_of(1, "AG").cut(column(["4641234", "14641234"])).to_pylist()[0] == "2684641234"
    assert region_of(54, "AR").cut(column(["0111587654321"])).to_pylist() == ["91187654321"]


def test_types_are_those_of_the_library():
    for code, name in EVERY:
        region = region_of(code, name)
        if name in REGIONS:
            found = (library.example_number_for_type(name, type_) for type_ in TYPES)
            examples = [library.national_significant_number(e) for e in found if e]
            texts = examples + digits(name)
        else:
            example = library.example_number_for_non_geo_entity(code)
            texts = [library.national_significant_number(example), "12345678"]
        types = [_number_type_helper(text, region.data) for text in texts]
        names = [None if place < 0 else list(NAMES)[place] for place in region.types(column(texts))]
        assert names == [type_ if type_ in NAMES else None for type_ in types], name


def test_a_number_of_two_types_is_of_the_one_that_the_library_asks_for_first(monkeypatch):
    region = Region(44, "GB")
    monkeypatch.setattr(region.data, "_mutable", True)
    monkeypatch.setattr(region.data, "pager", region.data.toll_free)
    monkeypatch.setattr(region.data, "premium_rate", region.data.personal_number)
    texts = ["8001234567", "7012345678"]
    types = [_number_type_helper(text, region.data) for text in texts]
    assert [list(NAMES)[place] for place in region.types(column(texts))] == types


def test_a_region_that_the_library_does_not_know_is_an_error():
    with pytest.raises(LookupError, match="XX"):
        Region(999, "XX")
