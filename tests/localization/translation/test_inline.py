"""Placeholders and characters spelled out are split from words, and numbered alike."""

from hypothesis import given, settings
from localization.translation.translator import ANY

from chatkit.localization.translation.units import unescape_controls
from chatkit.localization.translation.xliff import parts


@settings(max_examples=25)
@given(ANY)
def test_the_parts_are_the_text(text):
    assert unescape_controls("".join(part.text for part in parts(text, {}))) == text


@settings(max_examples=25)
@given(ANY, ANY)
def test_no_two_have_the_same_id_and_the_same_code_has_it_in_both(source, target):
    fixed = {}
    sides = [[part for part in parts(text, fixed) if part.number] for text in (source, target)]
    for side in sides:
        assert len({part.id for part in side}) == len(side)
    texts = [{part.id: part.text for part in side} for side in sides]
    assert all(texts[0][name] == texts[1][name] for name in texts[0].keys() & texts[1].keys())


def test_a_placeholder_that_moves_keeps_its_id():
    fixed = {}
    source = {p.text: p.id for p in parts("{{1}} of {{2}}, {{1}}", fixed) if p.number}
    target = [(p.text, p.id) for p in parts("{{2}}: {{1}}", fixed) if p.number]
    assert source == {"{{1}}": "1.2", "{{2}}": "2"}
    assert target == [("{{2}}", "2"), ("{{1}}", "1")]


def test_a_line_break_in_braces_is_no_placeholder():
    assert [part.number for part in parts("{{\n}}", {})] == [0]
