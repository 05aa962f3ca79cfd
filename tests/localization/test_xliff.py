"""XLIFF 1.2: built as the standard says, and read whatever a program did to it."""

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from localization.translator import PAIRS, REWRITES, indented, report, unit, units_of

from chatkit.errors import InputError
from chatkit.localization.files import encode_xliff, read_xliff


@settings(max_examples=25)
@given(pairs=PAIRS)
def test_any_text_comes_back(pairs):
    sent = units_of(pairs)
    assert report(read_xliff(encode_xliff(sent, "en"))) == report(sent)


@pytest.mark.parametrize("rewrite", REWRITES)
@settings(max_examples=25)
@given(pairs=PAIRS)
def test_any_text_comes_back_after_another_program_saved_the_file(rewrite, pairs):
    sent = units_of(pairs)
    assert report(read_xliff(rewrite(encode_xliff(sent, "en")))) == report(sent)


def test_white_space_between_elements_means_nothing():
    sent = [unit("a {{1}} b", "c {{1}} d")]
    data = indented(encode_xliff(sent, "en"))
    assert data != encode_xliff(sent, "en")
    assert report(read_xliff(data)) == report(sent)


def required(element, *names):
    missing = [name for name in names if not element.get(name)]
    assert not missing, (element.tag, missing)


def names_of(element):
    return [child.tag.rpartition("}")[2] for child in element]


@settings(max_examples=25)
@given(pairs=PAIRS)
def test_1_2_has_what_the_standard_requires(pairs):
    sent = [*units_of(pairs), unit("x", template_code="b", field="text")]
    root = ElementTree.fromstring(encode_xliff(sent, "en"))
    space = "{urn:oasis:names:tc:xliff:document:1.2}"
    assert root.tag == f"{space}xliff"
    assert root.attrib == {"version": "1.2"}
    assert names_of(root) == ["file", "file"]
    for file in root:
        required(file, "original", "source-language", "target-language", "datatype")
        assert names_of(file) == ["body"]
        result = file.findall(f".//{space}trans-unit")
        assert len({each.get("id") for each in result}) == len(result) > 0
        for each in result:
            required(each, "id", "maxwidth", "size-unit")
            assert names_of(each) in (["source", "target", "note"], ["source", "note"])
            for edge in (each[0], each[1]):
                codes = [code.get("id") for code in edge.iter(f"{space}ph")]
                assert len(set(codes)) == len(codes)


def test_languages_are_written_as_bcp_47_and_the_code_comes_back():
    for code in ("pt_BR", "pt-BR", "zh_Hant_TW"):
        data = encode_xliff([unit(lang_code=code)], "en_US")
        assert f'target-language="{code.replace("_", "-")}"'.encode() in data
        assert b'source-language="en-US"' in data
        assert read_xliff(data)[0].lang_code == code


def test_placeholders_are_blocks_that_keep_their_id_where_they_move():
    sent = [unit("{{1}} of {{2}}", "{{2}}: {{1}}")]
    data = encode_xliff(sent, "en")
    assert b'<source><ph id="1">{{1}}</ph> of <ph id="2">{{2}}</ph></source>' in data
    assert b'<target><ph id="2">{{2}}</ph>: <ph id="1">{{1}}</ph></target>' in data


def test_what_is_not_finished_is_marked_so():
    data = encode_xliff([unit("a", "b")], "en")
    for state, marked in (
        ("needs-review-translation", "needs-review-translation"),
        ("new", "new"),
        ("translated", ""),
        ("final", ""),
    ):
        edited = data.replace(b"<target>", f'<target state="{state}">'.encode())
        assert read_xliff(edited)[0].unfinished == marked


def test_suggestions_of_a_program_are_not_the_translation():
    data = encode_xliff([unit("a", "b")], "en")
    more = b"<alt-trans><source>a</source><target>no</target></alt-trans></trans-unit>"
    assert read_xliff(data.replace(b"</trans-unit>", more))[0].target == "b"


@pytest.mark.parametrize("data", [b"<x/>", b'<xliff version="2.0"/>', b"<xliff/>"])
def test_what_is_no_xliff_that_we_know_is_said(data):
    with pytest.raises(InputError, match="must be XLIFF of version"):
        read_xliff(data)
