"""Files for translators: any text comes back from each format, whatever a program did to it."""

import csv
import datetime
import io
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import openpyxl
import pytest
from hypothesis import example, given, settings
from localization.contents import cases
from localization.translator import ANY, FORMATS, PAIRS, REWRITES, indented, report, unit, units_of
from translate.storage.pypo import pofile

from chatkit.errors import InputError
from chatkit.localization.files import COLUMNS, encode_units, read_units
from chatkit.localization.language import SUPPORTED
from chatkit.localization.units import escape_controls, unescape_controls

UNITS = [
    unit("a", "b", comment="why\x07?"),
    unit("a", "c", lang_code="pt_BR"),
    unit("d", field="footer"),
]
RISKY = ["=1+1", "+49", "-1", "@SUM(A1)", "'=1", "\t=1", '=HYPERLINK("x")', "00491", "1E5", "TRUE"]
XLIFF = "{urn:oasis:names:tc:xliff:document:1.2}"


def encoded(units, form, source="en"):
    """Return the content of a file of units, which are of one language."""
    [(_, data)] = encode_units(units, Path(f"texts.{FORMATS[form]}"), source).values()
    return data


def rewritten(data, change):
    """Return a workbook after a change."""
    workbook = openpyxl.load_workbook(io.BytesIO(data))
    change(workbook)
    target = io.BytesIO()
    workbook.save(target)
    return target.getvalue()


def resaved_po(data):
    """Return a PO file as translate-toolkit saves it."""
    target = io.BytesIO()
    pofile.parsestring(data).serialize(target)
    return target.getvalue()


# --- any text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "rewrite"),
    [
        *((form, bytes) for form in FORMATS),
        ("po", resaved_po),
        *(("xliff", rewrite) for rewrite in (*REWRITES, indented)),
    ],
)
@settings(max_examples=20)
@given(pairs=PAIRS)
@example(pairs=[(text, text) for text in RISKY])
@example(pairs=[("a {{1}} b", "c {{1}} d")])
def test_any_text_comes_back_after_another_program_saved_the_file(form, rewrite, pairs):
    sent = units_of(pairs)
    assert report(read_units(rewrite(encoded(sent, form)))) == report(sent)


@settings(max_examples=25)
@given(ANY)
@example("⟨U+000D⟩")
@example("⟨U+27E8⟩U+000D⟩")
@example("⟨U+00\x01⟩")
@example("⟨⟨U+0001⟩")
def test_characters_that_files_lose_are_escaped_and_come_back(text):
    escaped = escape_controls(text)
    assert unescape_controls(escaped) == text
    assert not set(escaped) & set("\0\x01\x08\x0b\r\x1f\x7f\x85\x9f\u2028\u2029\ufeff\uffff")


@pytest.mark.parametrize(
    "usual",
    [
        "Hi {{1}}\n\t*bold* ‏שלום‎ 👍🏽 ⟨a⟩ ⟨U+41⟩",
        *("⟨U+0041⟩", "⟨U+D800⟩", "⟨U+12345⟩", "⟨U+27e8⟩"),
    ],
)
def test_what_is_never_escaped_stays_as_it_is(usual):
    assert unescape_controls(usual) == usual
    assert "U+0041" in usual or "U+D800" in usual or escape_controls(usual) == usual


@pytest.mark.parametrize("form", FORMATS)
def test_the_content_of_a_file_decides_how_it_is_read_and_its_name_how_it_is_written(
    tmp_path, form
):
    paths = []
    for path, (_, data) in encode_units(UNITS, tmp_path / f"texts.{FORMATS[form]}", "en").items():
        path.write_bytes(data)
        paths.append(path)
    if form in ("po", "xliff"):  # a file for each language
        names = [f"texts.{code}.{FORMATS[form]}" for code in ("de", "pt_BR")]
        assert [path.name for path in paths] == names
    expected = sorted((each.text_key, each.target) for each in UNITS)
    for source in (paths, tmp_path, [path.read_bytes() for path in paths]):
        result = read_units(source)
        assert sorted((each.text_key, each.target) for each in result) == expected
        assert [each.comment for each in result if each.target == "b"] == ["why\x07?"]
    if form == "po":
        paths[0].write_bytes(b"# A note.\n" * 500 + paths[0].read_bytes())
        unusual = paths[0].rename(tmp_path / "noted.PO")
    else:
        unusual = paths[0].rename(tmp_path / "no ending")
    assert read_units(unusual)[0].place.startswith(unusual.name)


def test_the_end_of_a_name_is_read_in_any_case_and_others_are_refused():
    assert list(encode_units(UNITS, Path("a.XLSX"), "en")) == [Path("a.XLSX")]
    with pytest.raises(InputError, match="its name must end in"):
        encode_units(UNITS, Path("a.doc"), "en")


def packed(*names):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name in names:
            file.writestr(name, "x")
    return target.getvalue()


LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY %c "%s">' % (c + 1, b"&%c;" % c * 50) for c in range(97, 110))
    + b"]><x>&n;</x>"
)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", b"", "does not hold translations"),
        ("a.csv", b"a,b\n1,2\n", "does not hold translations"),
        ("a.po", b"zzz", "not a readable PO file"),
        ("a.po", b'msgid "a"\nnonsense', "not a readable PO file"),
        ("a.po", b'msgid "a"\nmsgstr[x] "b"', "not a readable PO file"),
        ("a.po", b'"a"', "not a readable PO file"),
        ("a.po", b'msgid "\xff"\nmsgstr ""', "not a readable PO file"),
        ("a.po", b'msgid "a"\nmsgstr "b"', "None of its 1 text has a stamp"),
        *(
            ("a.xlf", data, "not readable as XML")
            for data in (b"<x>", b"<x>\x01</x>", b"<?xml encoding='q'?><x/>", b"<x>&a;</x>")
        ),
        *(
            ("a.xlf", data, "must be XLIFF of version")
            for data in (b"<x/>", b'<xliff version="2.0"/>', b"<xliff/>")
        ),
        *(
            (name, packed(*inside), "not a readable XLSX file")
            for name, inside in (
                *(("a.docx", ["word/document.xml"]), ("a.zip", ["texts.csv"])),
                ("a.ods", ["mimetype", "content.xml"]),
            )
        ),
        ("a.xls", b"\xd0\xcf\x11\xe0" + b"\0" * 99, "an old Excel file"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "a picture"),
        ("a.xlf", LAUGHS, "DOCTYPE"),
        ("a.xlf", b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///secret">]><x>&a;</x>', "DOCTYPE"),
    ],
)
def test_a_file_that_is_none_of_translations_is_named_with_the_reason(
    tmp_path, capsys, name, data, message
):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=f"^{name}: .*{message}"):
        read_units(tmp_path / name)
    assert capsys.readouterr() == ("", "")


def test_what_is_no_path_or_has_no_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="not a int"):
        read_units(7)
    with pytest.raises(OSError, match="nothing"):
        read_units(tmp_path / "nothing.po")
    with pytest.raises(InputError, match="has no file"):
        read_units(tmp_path)


# --- spreadsheets -------------------------------------------------------------------------------


def test_no_cell_can_be_taken_for_a_formula():
    sent = units_of([(text, text) for text in RISKY])
    text = encoded(sent, "csv").decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if cell.strip()[:1] in ("=", "+", "-", "@")]
    first = dict(zip(*rows[:2], strict=True))
    assert tuple(first) == COLUMNS and (first["note"], first["at_most"]) == ("A note.", "60")
    workbook = openpyxl.load_workbook(io.BytesIO(encoded(sent, "xlsx")))
    cells = [cell for row in workbook.active.iter_rows() for cell in row if cell.value is not None]
    assert {(cell.data_type, cell.number_format) for cell in cells} == {("s", "@")}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("=1+1", "is a formula"),
        (2.5, "is a decimal"),
        (datetime.date(2026, 1, 2), "is a date"),
        (True, "is true or false"),
    ],
)
def test_what_a_spreadsheet_made_of_a_text_is_a_problem_of_its_row(value, problem):
    def change(workbook):
        workbook.active["E2"] = value

    [result] = read_units(rewritten(encoded([unit()], "xlsx"), change))
    assert problem in result.problem
    assert result.place.endswith("sheet de, row 2")


def add_sheets_and_a_column(workbook):
    workbook.create_sheet("my notes", 0).append(["call me"])
    workbook.create_sheet("empty")
    workbook["de"].insert_cols(1)
    workbook["de"]["A1"] = "my remarks"


def sort_above_the_names(workbook):
    sheet = workbook.active
    sheet.insert_rows(1)
    for column in range(1, len(COLUMNS) + 1):
        sheet.cell(1, column).value = sheet.cell(3, column).value
    sheet.delete_rows(3)


@pytest.mark.parametrize(
    ("change", "rows", "message"),
    [(add_sheets_and_a_column, [2, 3], "sheet my notes."), (sort_above_the_names, [1, 3], "")],
)
def test_other_sheets_columns_and_orders_are_left_alone(capsys, change, rows, message):
    data = encoded([unit(target="Hallo"), unit(field="footer", target="Fuß")], "xlsx")
    result = read_units(rewritten(data, change))
    places = [each.place.rpartition("sheet ")[2] for each in result]
    assert places == [f"de, row {row}" for row in rows]
    assert [each.target for each in result] == ["Hallo", "Fuß"]
    output = capsys.readouterr().out
    assert message in output and "empty" not in output


def rename_two(workbook):
    workbook["de"]["D1"], workbook["de"]["E1"] = "Quelle", "Übersetzung"


def name_twice(workbook):
    workbook["fr"]["M1"] = "translation"


def rename_all(workbook):
    for cell in workbook["fr"][1]:
        cell.value = f"nom {cell.column}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (rename_two, r"sheet de, row 1 lacks .* source, translation; not known: 'Quelle' in D1, "
                     "'Übersetzung' in E1"),
        (rename_all, r"sheet fr holds texts of export, like that in row \d, "),
        (lambda workbook: workbook["fr"].delete_rows(1), "sheet fr holds texts of export"),
        (name_twice, "sheet fr, the column translation is there twice: E1 and M1"),
    ],
)  # fmt: skip
def test_a_sheet_that_lost_the_names_of_its_columns_is_refused(change, message):
    data = encoded([unit(), unit(lang_code="fr"), unit(lang_code="fr")], "xlsx")
    with pytest.raises(InputError, match=message):
        read_units(rewritten(data, change))


def test_a_csv_file_names_what_it_lost_and_reads_the_rows_beside_a_broken_one():
    data = encoded([unit(target="Hallo"), unit(field="footer")], "csv")
    with pytest.raises(InputError, match=r"row 1 lacks .* stamp; not known: 'stump' in L1"):
        read_units(data.replace(b'"stamp"', b'"stump"'))
    head, first, second = data.splitlines()
    result = read_units(b"\n".join([head, first, b'"a"b,c', second]))
    assert [each.field for each in result if not each.problem] == ["text", "footer"]
    assert [each.place[-5:] for each in result if each.problem] == ["row 3"]


# --- PO and XLIFF -------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [*SUPPORTED, "en-US", "pt-BR", "zh_Hant_TW"])
def test_every_code_comes_back_as_it_was_beside_the_tag_of_the_format(code):
    po, xliff = (encoded([unit(lang_code=code)], form, "en_US") for form in ("po", "xliff"))
    assert f'"Language: {code.replace("-", "_")}\\n"'.encode() in po
    assert f'source-language="en-US" target-language="{code.replace("_", "-")}"'.encode() in xliff
    assert read_units(po)[0].lang_code == read_units(xliff)[0].lang_code == code
    without_comment = po.replace(f"# lang_code: {code}\n".encode(), b"")
    assert read_units(without_comment)[0].lang_code == code.replace("-", "_")


@cases("form", "old", "new", "unfinished")
def test_what_a_program_has_marked_is_not_finished(form, old, new, unfinished):
    data = encoded([unit("a", "b")], form).replace(old.encode(), new.encode())
    assert read_units(data)[0].unfinished == unfinished


@cases("inner", "text")
def test_marks_and_codes_of_xliff_become_text(inner, text):
    data = encoded([unit("a {{1}}", "b")], "xliff").decode()
    edited = data.replace("<target>b</target>", inner)
    assert edited != data or text == "b"
    prefixed = re.sub("<(/?)([a-z])", r"<\1q:\2", edited).replace("xmlns=", "xmlns:q=")
    for each in (edited, prefixed):
        assert read_units(each.encode())[0].target == text
    without_source = re.sub("<source>.*</source>", "", edited)
    assert read_units(without_source.encode())[0].source == ""


@settings(max_examples=25)
@given(pairs=PAIRS)
@example(pairs=[("{{1}} of {{2}}, {{1}}", "{{2}}: {{1}}"), ("{{\n}}", "x")])
def test_xliff_has_what_the_standard_requires(pairs):
    sent = [*units_of(pairs), unit("x", template_code="b", field="text")]
    root = ElementTree.fromstring(encoded(sent, "xliff"))
    assert (root.tag, root.attrib) == (f"{XLIFF}xliff", {"version": "1.2"})
    assert [file.tag for file in root] == [f"{XLIFF}file"] * 2
    for file in root:
        assert {"original", "source-language", "target-language", "datatype"} <= {*file.attrib}
        [body] = file
        assert len({each.get("id") for each in body}) == len(body) > 0
        for each in body:
            assert {"id", "resname", "maxwidth", "size-unit"} <= {*each.attrib}
            names = [child.tag.removeprefix(XLIFF) for child in each]
            assert names in (["source", "target", "note"], ["source", "note"])
            # no two codes of a text have one id, and a code has the same in both
            texts = [[(code.get("id"), code.text) for code in child] for child in each[:-1]]
            assert all(len(dict(codes)) == len(codes) for codes in texts)
            assert len({id_ for id_, _ in {*texts[0], *texts[-1]}}) == len({*texts[0], *texts[-1]})


def test_a_placeholder_of_xliff_keeps_its_id_where_it_moves():
    data = encoded([unit("{{1}} of {{2}}, {{1}}", "{{2}}: {{1}}")], "xliff").decode()
    one, two = '<ph id="1">{{1}}</ph>', '<ph id="2">{{2}}</ph>'
    assert f'<source>{one} of {two}, <ph id="1.2">{{{{1}}}}</ph></source>' in data
    assert f"<target>{two}: {one}</target>" in data


def test_a_po_file_is_what_gettext_requires():
    """Like msgfmt --check: a header with its fields, no message twice, line ends that agree."""
    sent = units_of([("a\nb\n", "c\nd\n"), ("{{1}} 100 % (s", "{0} %s %d"), ('\\n " \\\\', "x")])
    data = encoded([*sent, unit("x", template_code="a b/c")], "po")
    store = pofile.parsestring(data)
    header = store.parseheader()
    assert header["Content-Type"] == "text/plain; charset=utf-8"
    required = {"Language", "MIME-Version", "Content-Transfer-Encoding", "Plural-Forms"}
    assert required <= header.keys()
    messages = [m for m in store.units if not m.isheader()]
    assert len({(m.getcontext(), str(m.source)) for m in messages}) == len(messages) == 4
    assert not any(m.hasplural() or m.isfuzzy() for m in messages)
    assert b"python" not in data  # {{1}} is no format of Python
    assert read_units(data)[-1].template_code == "a b/c"
