"""Characters that a file format loses are escaped, and every text survives."""

import pytest
from hypothesis import example, given, settings
from localization.translator import ANY

from chatkit.localization.units import escape_controls, unescape_controls


@settings(max_examples=25)
@given(ANY)
@example("⟨U+000D⟩")
@example("⟨U+27E8⟩U+000D⟩")
@example("⟨U+00\x01⟩")
@example("⟨⟨U+0001⟩")
def test_every_text_comes_back(text):
    assert unescape_controls(escape_controls(text)) == text


@settings(max_examples=25)
@given(ANY)
def test_nothing_that_is_lost_remains(text):
    assert not set(escape_controls(text)) & set(
        "\0\x01\x08\x0b\r\x1f\x7f\x85\x9f\u2028\u2029\ufeff\uffff"
    )


def test_what_is_kept_everywhere_is_not_spelled_out():
    usual = "Hi {{1}}\n\t*bold* ‏שלום‎ 👍🏽 ⟨a⟩ ⟨U+41⟩"
    assert escape_controls(usual) == usual


@pytest.mark.parametrize("typed", ["⟨U+0041⟩", "⟨U+D800⟩", "⟨U+12345⟩", "⟨U+27e8⟩"])
def test_what_is_never_written_is_left_as_a_person_typed_it(typed):
    assert unescape_controls(typed) == typed
