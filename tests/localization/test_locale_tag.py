"""Formats get the tags of their standards; the code itself is never converted."""

import re

import pytest

from chatkit.localization.language import SUPPORTED, bcp47_tag, is_tag

_XML_LANGUAGE = re.compile("[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*")  # of XML Schema, xs:language


@pytest.mark.parametrize("code", SUPPORTED)
def test_every_language_of_the_platform_has_a_tag(code):
    assert is_tag(code)
    assert _XML_LANGUAGE.fullmatch(bcp47_tag(code))
    assert bcp47_tag(code).replace("-", "_") == code


def test_script_and_region_are_written_as_the_standard_does():
    assert bcp47_tag("sr_latn_rs") == "sr-Latn-RS"


@pytest.mark.parametrize("code", ["", "x", "english", "en US", "../en", "en_", "e\nn"])
def test_what_is_no_code_does_not_fit(code):
    assert not is_tag(code)
