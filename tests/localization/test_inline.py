"""Placeholders and characters spelled out are elements among the words, and numbered alike."""

from hypothesis import given, settings
from localization.translator import ANY

from chatkit.localization.files import encode_inline, parse_xml, read_element_text


def element(text, codes):
    return parse_xml(f'<x xml:space="preserve">{encode_inline(text, codes)}</x>'.encode())


@settings(max_examples=25)
@given(ANY, ANY)
def test_no_two_have_the_same_id_and_the_same_code_has_it_in_both(source, target):
    codes = {}
    edges = [element(text, codes) for text in (source, target)]
    assert [read_element_text(edge, {}) for edge in edges] == [source, target]
    codes = [{part.get("id"): part.text for part in edge} for edge in edges]
    assert [len(edge) for edge in edges] == [len(each) for each in codes]
    assert all(codes[0][name] == codes[1][name] for name in codes[0].keys() & codes[1].keys())


def test_a_placeholder_that_moves_keeps_its_id():
    codes = {}
    source = [(part.text, part.get("id")) for part in element("{{1}} of {{2}}, {{1}}", codes)]
    target = [(part.text, part.get("id")) for part in element("{{2}}: {{1}}", codes)]
    assert source == [("{{1}}", "1"), ("{{2}}", "2"), ("{{1}}", "1.2")]
    assert target == [("{{2}}", "2"), ("{{1}}", "1")]
    assert not len(element("{{\n}}", codes))
