"""XLIFF 1.2 and 2.0: built as the standards say, and read whatever a program did to it."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localization.translation.translator import ANY, REWRITES, indented, unit

from chatkit.errors import InputError
from chatkit.localization.translation.xliff import read_xliff, xliff_of

VERSIONS = ("1.2", "2.0")
TEXTS = ANY.filter(str.strip)
PAIRS = st.lists(st.tuples(TEXTS, ANY), min_size=1, max_size=6)
NMTOKEN = re.compile(r"[\w.:-]+")


def units(pairs):
    return [unit(s, t, field=f"buttons.{n}.label") for n, (s, t) in enumerate(pairs)]


def told(found):
    return [(each.spot, each.source, each.target, each.stamp) for each in found]


@pytest.mark.parametrize("version", VERSIONS)
@settings(max_examples=25)
@given(pairs=PAIRS)
def test_any_text_comes_back(version, pairs):
    sent = units(pairs)
    assert told(read_xliff(xliff_of(sent, "en", version))) == told(sent)


@pytest.mark.parametrize("rewrite", REWRITES)
@pytest.mark.parametrize("version", VERSIONS)
@settings(max_examples=25)
@given(pairs=PAIRS)
def test_any_text_comes_back_after_another_program_saved_the_file(version, rewrite, pairs):
    sent = units(pairs)
    assert told(read_xliff(rewrite(xliff_of(sent, "en", version)))) == told(sent)


@pytest.mark.parametrize("version", VERSIONS)
def test_white_space_between_elements_means_nothing(version):
    sent = [unit("a {{1}} b", "c {{1}} d")]
    data = indented(xliff_of(sent, "en", version))
    assert data != xliff_of(sent, "en", version)
    assert told(read_xliff(data)) == told(sent)


def required(element, *names):
    missing = [name for name in names if not element.get(name)]
    assert not missing, (element.tag, missing)


def names_of(element):
    return [child.tag.rpartition("}")[2] for child in element]


@settings(max_examples=25)
@given(pairs=PAIRS)
def test_1_2_has_what_the_standard_requires(pairs):
    sent = [*units(pairs), unit("x", template_code="b", field="text")]
    root = ElementTree.fromstring(xliff_of(sent, "en", "1.2"))
    space = "{urn:oasis:names:tc:xliff:document:1.2}"
    assert root.tag == f"{space}xliff"
    assert root.attrib == {"version": "1.2"}
    assert names_of(root) == ["file", "file"]
    for file in root:
        required(file, "original", "source-language", "target-language", "datatype")
        assert names_of(file) == ["body"]
        found = file.findall(f".//{space}trans-unit")
        assert len({each.get("id") for each in found}) == len(found) > 0
        for each in found:
            required(each, "id", "maxwidth", "size-unit")
            assert names_of(each) in (["source", "target", "note"], ["source", "note"])
            for side in (each[0], each[1]):
                codes = [code.get("id") for code in side.iter(f"{space}ph")]
                assert len(set(codes)) == len(codes)


@settings(max_examples=25)
@given(pairs=PAIRS)
def test_2_0_has_what_the_standard_requires(pairs):
    sent = [*units(pairs), unit("x", template_code="b", field="text")]
    root = ElementTree.fromstring(xliff_of(sent, "en_US", "2.0"))
    space = "{urn:oasis:names:tc:xliff:document:2.0}"
    assert root.tag == f"{space}xliff"
    assert root.attrib == {"version": "2.0", "srcLang": "en-US", "trgLang": "de"}
    files = list(root)
    assert len({file.get("id") for file in files}) == len(files) == 2
    for file in files:
        found = file.findall(f"{space}unit")
        assert len({each.get("id") for each in found}) == len(found) > 0
        for each in found:
            assert NMTOKEN.fullmatch(each.get("id"))
            assert names_of(each) in (
                ["notes", "segment"],
                ["notes", "originalData", "segment"],
            )
            segment = each[-1]
            assert names_of(segment) in (["source"], ["source", "target"])
            data = {each.get("id") for each in each.iter(f"{space}data")}
            for side in segment:
                codes = list(side.iter(f"{space}ph"))
                assert len({code.get("id") for code in codes}) == len(codes)
                for code in codes:
                    assert NMTOKEN.fullmatch(code.get("id"))
                    assert code.get("dataRef") in data


def test_languages_are_written_as_bcp_47_and_the_code_comes_back():
    for code in ("pt_BR", "pt-BR", "zh_Hant_TW"):
        data = xliff_of([unit(lang_code=code)], "en_US", "1.2")
        assert f'target-language="{code.replace("_", "-")}"'.encode() in data
        assert b'source-language="en-US"' in data
        assert read_xliff(data)[0].lang_code == code


def test_2_0_says_which_languages_go_from_right_to_left():
    assert b'trgDir="rtl"' in xliff_of([unit(lang_code="ar")], "en", "2.0")
    assert b"trgDir" not in xliff_of([unit()], "en", "2.0")


def test_placeholders_are_blocks_that_keep_their_id_where_they_move():
    sent = [unit("{{1}} of {{2}}", "{{2}}: {{1}}")]
    assert b'<source><ph id="1">{{1}}</ph> of <ph id="2">{{2}}</ph></source>' in xliff_of(
        sent, "en", "1.2"
    )
    assert b'<target><ph id="2">{{2}}</ph>: <ph id="1">{{1}}</ph></target>' in xliff_of(
        sent, "en", "1.2"
    )
    block = b'<ph id="2" dataRef="d2" equiv="{{2}}" disp="{{2}}" canCopy="no" canDelete="no"/>'
    assert block + b': <ph id="1"' in xliff_of(sent, "en", "2.0")


def test_what_is_not_finished_is_marked_so():
    data = xliff_of([unit("a", "b")], "en", "1.2")
    for state, marked in (
        ("needs-review-translation", "needs-review-translation"),
        ("new", "new"),
        ("translated", ""),
        ("final", ""),
    ):
        edited = data.replace(b"<target>", f'<target state="{state}">'.encode())
        assert read_xliff(edited)[0].unfinished == marked


def test_a_translation_in_segments_is_joined():
    data = xliff_of([unit("A b. C d.")], "en", "2.0")
    start, end = data.index(b"<segment>"), data.index(b"</segment>")
    parts = (
        b"<segment><source>A b.</source><target>Eh.</target></segment>"
        b"<ignorable><source> </source></ignorable>"
        b"<segment><source>C d.</source><target>Zeh.</target>"
    )
    found = read_xliff(data[:start] + parts + data[end:])[0]
    assert (found.source, found.target) == ("A b. C d.", "Eh. Zeh.")


def test_a_segment_without_a_translation_adds_nothing_to_it():
    data = xliff_of([unit("A b. C d.")], "en", "2.0")
    start, end = data.index(b"<segment>"), data.index(b"</segment>")
    parts = (
        b"<segment><source>A b. </source><target>Eh. </target></segment>"
        b"<segment><source>C d.</source>"
    )
    found = read_xliff(data[:start] + parts + data[end:])[0]
    assert (found.source, found.target) == ("A b. C d.", "Eh. ")


def test_suggestions_of_a_program_are_not_the_translation():
    data = xliff_of([unit("a", "b")], "en", "1.2")
    more = b"<alt-trans><source>a</source><target>no</target></alt-trans></trans-unit>"
    assert read_xliff(data.replace(b"</trans-unit>", more))[0].target == "b"


@pytest.mark.parametrize("data", [b"<x/>", b'<xliff version="3.0"/>', b"<xliff/>"])
def test_what_is_no_xliff_that_we_know_is_said(data):
    with pytest.raises(InputError, match="must be XLIFF of version"):
        read_xliff(data)
