"""Leftovers of translation programs are rejected, or removed where that is certain."""

from __future__ import annotations

import io
from pathlib import Path

import openpyxl
import pytest
from localization.contents import DEMO, cases, demo  # noqa: F401
from localization.test_importer import imported, reasons, sent
from localization.translator import ENGLISH, FORMATS, english, translate
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font

from chatkit.errors import InputError
from chatkit.localization.files import read_units
from chatkit.localization.units import strip_residue

GOOD = "Ciao {{1}}, l’ordine {{2}} è pronto: vieni a prenderlo oggi."
SIGNS = GOOD.replace("oggi", "oggi & <3 *o* 5 < 6")
#: What came back, and the text that is taken; None where a person must look at it.
CASES = {
    "entity quot": (GOOD.replace("pronto", "&quot;ok&quot;"), GOOD.replace("pronto", '"ok"')),
    "entity 39": (GOOD.replace("’", "&#39;"), GOOD.replace("’", "'")),
    "entity x27": (GOOD.replace("’", "&#x27;"), GOOD.replace("’", "'")),
    "entity rsquo": (GOOD.replace("’", "&rsquo;"), GOOD),
    "entity egrave": (GOOD.replace("è", "&egrave;"), GOOD),
    "entity amp": (GOOD.replace("e a", "e &amp; a"), GOOD.replace("e a", "e & a")),
    "entity nbsp": (GOOD.replace(" oggi", "&nbsp;oggi"), GOOD.replace(" oggi", "\u00a0oggi")),
    "twice": (GOOD.replace("è", "&amp;egrave;"), None),
    "own tags": (GOOD.replace("{{1}}", '<ph id="1">{{1}}</ph>'), GOOD),
    "own tags escaped": (
        GOOD.replace("{{1}}", "&lt;ph id=&quot;1&quot;&gt;{{1}}&lt;/ph&gt;"), GOOD,
    ),
    "an escaped quote": (GOOD.replace("’", "\\'"), GOOD.replace("’", "'")),
    "a line break before": (f"\n{GOOD}", GOOD),
    "a line break after": (f"{GOOD}\n  ", GOOD),
    "printed prettily around": (f"\n      {GOOD}\n    ", GOOD),
    "printed prettily": (f"\n      {GOOD.replace(' è', chr(10) + '      è')}\n    ", None),
    "indents": (GOOD.replace(": ", ":\n        "), None),
    "lines of eighty": (GOOD.replace(" pronto", "\npronto").replace("è\n", "detto\n"), None),
    "a tab": (GOOD.replace(": ", ":\n\t"), None),
    "x": (GOOD.replace("{{1}}", '<x id="1"/>{{1}}'), None),
    "g": (GOOD.replace("{{1}}", '<g id="1">{{1}}</g>'), None),
    "numbered": (GOOD.replace("{{1}}", "<1>{{1}}</1>"), None),
    "memoQ": (GOOD.replace("{{1}}", "[1}{{1}}{2]"), None),
    "br": (GOOD.replace("vieni", "<br>vieni"), None),
    "br/": (GOOD.replace("vieni", "<br/>vieni"), None),
    "b": (GOOD.replace("pronto", "<b>pronto</b>"), None),
    "br escaped": (GOOD.replace("vieni", "&lt;br&gt;vieni"), None),
    "backslash n": (GOOD.replace("vieni", "\\nvieni"), None),
    "backslash, space, n": (GOOD.replace("vieni", "\\ n \\ N vieni"), None),
    "backslash u": (GOOD.replace("è", "\\u00e8"), None),
    "backslash ~": (GOOD.replace("è ", "è\\~"), None),
    "backslash *": (GOOD.replace("pronto", "\\*pronto\\*"), None),
    "CDATA": (f"<![CDATA[{GOOD}]]>", None),
    "nothing": (GOOD, GOOD),
    "after a greeting": (GOOD.replace(", l", ",\nl"), GOOD.replace(", l", ",\nl")),
    "a line break of the translator": (GOOD.replace(": ", ":\n"), GOOD.replace(": ", ":\n")),
    "signs": (SIGNS, SIGNS),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("case", CASES)
def test_residue_of_programs_in_a_translation(tmp_path, form, case):
    target, expected = CASES[case]
    paths = sent(english(), tmp_path, form, languages=["it"])
    translate(paths, lambda field, source: target if field == "text" else f"it {source}")
    whole = imported(paths, english(), broken=True)
    assert whole.frame.loc[("order_ready", "it"), "text"] == target
    result = imported(paths, english())
    row = result.texts[result.texts.field == "text"].iloc[0]
    if expected is None:
        assert row.verdict == "residue"
        assert reasons(result) == {"text": "residue"}
        return
    assert row.verdict == ("fresh" if target == expected else "unwrapped")
    assert (row.returned, result.unwrapped) == (target, int(target != expected))
    assert result.frame.loc[("order_ready", "it"), "text"] == expected


@cases("text", "source")
def test_what_the_source_has_too_is_left_as_it_is(text, source):
    assert strip_residue(text, source) == text


def test_words_that_are_struck_through_are_not_taken(tmp_path):
    (path,) = sent(english(), tmp_path, "xlsx", languages=["it"])
    workbook = openpyxl.load_workbook(path)
    sheet = workbook["it"]
    names = [cell.value for cell in sheet[1]]
    column = names.index("translation") + 1
    for row in range(2, sheet.max_row + 1):
        source = sheet.cell(row, names.index("source") + 1).value
        sheet.cell(row, column).value = f"it {source}"
    sheet.cell(2, column).font = Font(strike=True)
    words = sheet.cell(3, column).value
    struck = TextBlock(InlineFont(strike=True), "vecchio ")
    sheet.cell(3, column).value = CellRichText(struck, words)
    bold = TextBlock(InlineFont(b=True), "it ")
    sheet.cell(4, column).value = CellRichText(bold, sheet.cell(4, column).value)
    target = io.BytesIO()
    workbook.save(target)
    result = imported([target.getvalue()], english())
    assert [each.verdict for each in result.texts.itertuples()][:3] == [
        "residue",
        "residue",
        "fresh",
    ]
    assert "struck through (E2)" in result.rejected.message[0]


@pytest.mark.parametrize("damage", ["no archive", "half", "changed"])
def test_a_damaged_workbook_is_refused_in_one_sentence(tmp_path, damage):
    (path,) = sent(english(), tmp_path, "xlsx", languages=["it"])
    whole = Path(path).read_bytes()
    data = {
        "no archive": b"PK\x03\x04" + b"x" * 300,
        "half": whole[: len(whole) // 2],
        "changed": whole[:400] + bytes([whole[400] ^ 255]) + whole[401:],
    }[damage]
    with pytest.raises(InputError, match="not a readable XLSX file"):
        imported([data], english())


def test_field_paths_are_in_a_hidden_column_and_labels_are_shown(tmp_path):
    (path,) = sent(english(), tmp_path, "xlsx", languages=["it"])
    sheet = openpyxl.load_workbook(path)["it"]
    names = [cell.value for cell in sheet[1]]
    labels = [row[names.index("label")].value for row in sheet.iter_rows(min_row=2)]
    assert labels == ["Header", "Text", "Footer", "Button 1", "Button 2"]
    letters = {name: sheet.cell(1, n).column_letter for n, name in enumerate(names, 1)}
    hidden = {name for name in names if sheet.column_dimensions[letters[name]].hidden}
    assert hidden == {"field"}


def test_the_encoding_of_a_file_can_be_named(tmp_path):
    (path,) = sent(english(), tmp_path, "csv", languages=["ru"])
    translate(
        [path], lambda field, source: "Привет {{1}} и {{2}} от нас" if field == "text" else None
    )
    with open(path, encoding="utf-8-sig") as file:
        text = file.read()
    (tmp_path / "koi.csv").write_bytes(text.encode("koi8-r"))
    units = read_units(tmp_path / "koi.csv", "koi8-r")
    assert [unit.target for unit in units if unit.field == "text"] == [
        "Привет {{1}} и {{2}} от нас"
    ]


def test_one_bad_text_rejects_that_text_and_not_its_language(tmp_path):
    paths = sent(english(), tmp_path, languages=["it", "de"])
    bad = {"text": "Ciao a te", "footer": "&lt;br&gt;" * 9}
    translate(paths, lambda field, source: bad.get(field, f"it {source}"))
    result = imported(paths, english())
    assert reasons(result) == {"text": "placeholder lost", "footer": "residue"}
    row = result.frame.loc[("order_ready", "it")]
    assert (row.text, row.footer, row.is_draft) == ("", "", True)
    assert row.buttons[0]["label"] == f"it {ENGLISH['buttons'][0]['label']}"
