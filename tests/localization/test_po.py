"""PO: any text comes back, through Babel and through another program."""

import io

import pytest
from hypothesis import given, settings
from localization.translator import PAIRS, report, unit, units_of
from translate.storage.pypo import pofile

from chatkit.errors import InputError
from chatkit.localization.files import encode_po, read_po_units
from chatkit.localization.language import SUPPORTED


@settings(max_examples=25)
@given(pairs=PAIRS)
def test_any_text_comes_back(pairs):
    sent = units_of(pairs)
    assert report(read_po_units(encode_po(sent, "en"))) == report(sent)


@settings(max_examples=25)
@given(pairs=PAIRS)
def test_any_text_comes_back_after_another_program_saved_the_file(pairs):
    sent = units_of(pairs)
    store = pofile.parsestring(encode_po(sent, "en"))
    target = io.BytesIO()
    store.serialize(target)
    assert report(read_po_units(target.getvalue())) == report(sent)


@pytest.mark.parametrize("code", [*SUPPORTED, "en-US", "zh_Hant_TW"])
def test_every_code_comes_back_as_it_was(code):
    data = encode_po([unit(lang_code=code)], "en")
    assert f'"Language: {code.replace("-", "_")}\\n"'.encode() in data
    assert read_po_units(data)[0].lang_code == code


def test_without_our_comment_the_language_of_the_header_counts():
    data = encode_po([unit(lang_code="pt_BR")], "en").replace(b"# lang_code: pt_BR\n", b"")
    assert read_po_units(data)[0].lang_code == "pt_BR"


def test_the_file_is_what_gettext_says_it_must_be():
    """Like msgfmt --check: a header with its fields, no message twice, line ends that agree."""
    sent = units_of([("a\nb\n", "c\nd\n"), ("{{1}} 100 % (s", "{0} %s %d"), ('\\n " \\\\', "x")])
    data = encode_po([*sent, unit("x", template_code="a b/c")], "en")
    store = pofile.parsestring(data)
    header = store.parseheader()
    assert header["Content-Type"] == "text/plain; charset=utf-8"
    assert {
        "Language",
        "MIME-Version",
        "Content-Transfer-Encoding",
        "Plural-Forms",
    } <= header.keys()
    messages = [m for m in store.units if not m.isheader()]
    assert len({(m.getcontext(), str(m.source)) for m in messages}) == len(messages) == 4
    assert not any(m.hasplural() or m.isfuzzy() for m in messages)
    assert b"python" not in data  # {{1}} is no format of Python
    assert read_po_units(data)[-1].template_code == "a b/c"


def test_what_is_marked_fuzzy_is_not_finished():
    data = encode_po([unit("a", "b")], "en").replace(b"msgctxt", b"#, fuzzy\nmsgctxt")
    assert read_po_units(data)[0].unfinished == "fuzzy"


@pytest.mark.parametrize(
    "data",
    [b'msgid "a"\nnonsense', b'msgid "a"\nmsgstr[x] "b"', b'"a"', b'msgid "\xff"\nmsgstr ""'],
)
def test_what_is_no_po_file_is_said_and_nothing_is_printed(data, capsys):
    with pytest.raises(InputError, match="not a readable PO file"):
        read_po_units(data)
    assert capsys.readouterr() == ("", "")
