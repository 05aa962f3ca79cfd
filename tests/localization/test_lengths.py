from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localization.contents import audit, button, codes, content, frame, website

from chatkit.localization.checks import lengths, utf16

URL = "https://a.example/"


def text_of(count: int) -> str:
    return "word " * (count // 5) + "x" * (count % 5)


@pytest.mark.parametrize(
    ("fields", "field", "limit"),
    [
        (lambda n: {"text": text_of(n), "variables": {}}, "text", 1024),
        (lambda n: {"footer": text_of(n)}, "footer", 60),
        (lambda n: {"headers": [{"type": "text", "text": text_of(n)}]}, "headers.0.text", 60),
        (lambda n: {"buttons": [button("custom", text_of(n))]}, "buttons.0.label", 25),
        (lambda n: {"buttons": [website(URL + "x" * (n - len(URL)))]}, "buttons.0.value", 2000),
        (
            lambda n: {"buttons": [button("call_phone", value="2" * n, country_code="+44")]},
            "buttons.0.value",
            20,
        ),
        (lambda n: {"buttons": [button("copy_offer_code", value="A" * n)]}, "buttons.0.value", 15),
    ],
)
def test_each_text_may_be_as_long_as_its_limit_and_no_longer(fields, field, limit):
    assert not audit(**fields(limit)).of(code="length")
    (found,) = audit(**fields(limit + 1)).of(code="length")
    assert (found.field, found.position) == (field, limit)
    assert f"{limit + 1:,} characters" in found.message
    assert found.refused
    assert found.severity == "warning"


def test_what_only_one_way_of_counting_finds_too_long_is_unclear_and_not_refused():
    footer = "x" * 58 + "👍"
    assert (len(footer), utf16(footer)) == (59, 60)
    assert "length unclear" not in codes(footer=footer)
    (found,) = audit(footer=footer + "👍").of(code="length unclear")
    assert not found.refused
    assert "60 characters, but 62" in found.message


def test_a_text_near_its_limit_is_noted_and_a_label_is_not():
    assert "length near" in codes(footer="x" * 57)
    assert "length near" not in codes(footer="x" * 56)
    assert "length near" not in codes(buttons=[button("custom", "x" * 25)])


def test_a_text_that_grows_too_long_with_its_samples_is_warned_of():
    text = "Hello {{1}}, " + text_of(1000)
    assert "length with samples" not in codes(text=text, variables={"1": "Ana"})
    (found,) = audit(text=text, variables={"1": "A" * 99}).of(code="length with samples")
    assert not found.refused


def test_lengths_are_measured_as_a_share_of_their_limit():
    given = frame(content(footer="x" * 30), content(lang_code="de", footer="👍" * 6))
    found = {(each.lang_code, each.field): each for each in lengths(given)}
    assert found["en", "footer"].share == 0.5
    assert found["de", "footer"][3:] == (6, 12, 60)
    assert found["en", "text"].limit == 1024
    assert all(each.template_code == "order_ready" for each in found.values())


@given(st.text(st.characters(), max_size=20))
def test_utf16_units_are_those_of_the_encoding(text):
    assert utf16(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2
