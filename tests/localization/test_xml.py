"""XML is read without what could harm, whatever a program did to it."""

import pytest

from chatkit.errors import InputError
from chatkit.localization.files import parse_xml, read_codes, read_element_text, read_xliff

LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY %c "%s">' % (c + 1, b"&%c;" % c * 50) for c in range(97, 110))
    + b"]><x>&n;</x>"
)


def test_entities_that_would_unfold_beyond_any_memory_are_refused():
    with pytest.raises(InputError, match="DOCTYPE"):
        parse_xml(LAUGHS)


def test_a_file_from_elsewhere_is_never_loaded(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("not for you")
    uri = secret.as_uri().encode()
    with pytest.raises(InputError, match="DOCTYPE"):
        parse_xml(b'<!DOCTYPE x [<!ENTITY a SYSTEM "%s">]><x>&a;</x>' % uri)
    with pytest.raises(InputError, match="not readable as XML"):
        parse_xml(b"<x>&a;</x>")


@pytest.mark.parametrize("data", [b"", b"<x>", b"x", b"<x>\x01</x>", b"<?xml encoding='q'?><x/>"])
def test_what_is_no_xml_is_said(data):
    with pytest.raises(InputError, match="not readable as XML"):
        parse_xml(data)


def text(inner: str, codes: dict[str, str] | None = None) -> str:
    return read_element_text(parse_xml(f"<target>{inner}</target>".encode()), codes or {})


def test_marks_that_a_program_put_around_words_are_not_text():
    assert text('a<mrk mtype="seg" mid="1">b<g id="2">c</g></mrk>d') == "abcd"


def test_a_code_is_what_it_holds_or_what_the_source_says_or_what_it_shows():
    assert text('<ph id="1">{{1}}</ph>') == "{{1}}"
    assert text('<x id="1"/>', {"1": "{{1}}"}) == "{{1}}"
    assert text('<ph id="1">{{2}}</ph>', {"1": "{{1}}"}) == "{{2}}"  # numbered anew
    assert text('<x id="9" equiv-text="{{9}}"/>', {"1": "{{1}}"}) == "{{9}}"


def test_no_element_is_no_text():
    assert read_element_text(None, {}) == ""
    assert read_codes(None) == {}


def test_elements_are_found_whatever_the_prefix_of_their_namespace():
    inner = "<q:trans-unit><q:source>Hi</q:source><q:target>Hallo</q:target></q:trans-unit>"
    for start, text in (('<q:xliff version="1.2" xmlns:q="urn:x">', inner),
                        ('<xliff version="1.2">', inner.replace("q:", ""))):  # fmt: skip
        name = start[1:].split()[0]
        file = f"{name[:-5]}file"
        (unit,) = read_xliff(f"{start}<{file}>{text}</{file}></{name}>".encode())
        assert (unit.source, unit.target) == ("Hi", "Hallo")
