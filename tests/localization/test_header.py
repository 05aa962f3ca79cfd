from __future__ import annotations

import pytest
from localization.contents import audit, codes


def header(**fields):
    return audit(headers=[fields])


def test_there_is_one_header_at_most():
    one = {"type": "text", "text": "Hello"}
    assert codes(headers=[one]) == set()
    (found,) = audit(headers=[one, one])
    assert found.code == "header count"
    assert found.refused


@pytest.mark.parametrize("kind", ["location", "TEXT", None, 5, ["text"], "<b>"])
def test_a_type_the_api_does_not_name_is_an_error(kind):
    (found,) = header(type=kind, text="Hello").errors
    assert (found.code, found.field) == ("header type", "headers.0.type")


@pytest.mark.parametrize("text", ["", " ", None])
def test_a_line_of_text_needs_one(text):
    (found,) = header(type="text", text=text)
    assert found.code == "header empty"


def test_a_header_has_one_placeholder_with_a_sample():
    good = {"type": "text", "text": "Hello {{1}}"}
    assert [each.code for each in header(**good)] == ["sample missing"]
    assert not header(**good, text_variable="Ana")
    assert not header(**good, parameter=["Ana"])
    found = header(type="text", text="Hello {{1}} and {{3}}", parameter="Ana")
    assert {each.code for each in found} == {"header placeholders", "placeholder gap"}


@pytest.mark.parametrize("text", ["Hello\nyou", "*Sale*", "a ~strike~ b", "Sale 🎉"])
def test_what_a_header_cannot_show_is_warned_of(text):
    (found,) = header(type="text", text=text)
    assert found.code == "header format"
    assert not found.refused


@pytest.mark.parametrize("text", ["5 * 3 * 2", "snake_case_name", "2~3", "it's"])
def test_signs_that_are_no_markup_are_left_alone(text):
    assert not header(type="text", text=text)


@pytest.mark.parametrize("kind", ["image", "video", "document"])
def test_a_medium_needs_a_sample(kind):
    (found,) = header(type=kind)
    assert (found.code, found.field, found.refused) == ("header media", "headers.0.link", True)
    assert not header(type=kind, link="https://a.example/x")
    assert not header(type=kind, parameter="4::aW")
    assert header(type=kind, link="x.pdf")[0].code == "header media"


def test_a_line_of_text_beside_a_medium_is_noted():
    (found,) = header(type="image", link="https://a.example/x.png", text="Sale")
    assert (found.code, found.severity) == ("header surplus", "note")


def test_texts_of_another_type_are_errors():
    assert header(type="text", text=5)[0].code == "wrong type"
    assert header(type="image", link=5)[0].code == "wrong type"


def test_a_footer_takes_no_placeholder():
    (found,) = audit(footer="Ask {{1}}")
    assert (found.code, found.position, found.refused) == ("footer placeholder", 4, True)
