"""Files for translators are written whole or not at all, and never over their work."""

import pytest
from localization.contents import button
from localization.translator import ENGLISH, GERMAN, both, english, full

from chatkit.errors import InputError
from chatkit.localization.files import export


def test_what_was_written_is_a_table_and_said_in_a_line(tmp_path, capsys):
    table = export(english(), tmp_path / "texts.po", languages=["de", "pt_BR"])
    assert table.lang_code.tolist() == ["de", "pt_BR"]
    assert table.texts.tolist() == [5, 5]
    assert table.templates.tolist() == [1, 1]
    assert table.words.tolist() == [19, 19]
    assert table.path.tolist() == [str(tmp_path / f"texts.{c}.po") for c in ("de", "pt_BR")]
    assert capsys.readouterr().out == "10 texts in 2 languages → texts.de.po, texts.pt_BR.po\n"


def test_nothing_to_translate_is_no_file(tmp_path, capsys):
    table = export(both(), tmp_path / "texts.csv")
    assert table.empty
    assert not list(tmp_path.iterdir())
    assert "Nothing to translate" in capsys.readouterr().out


def test_a_file_that_is_there_is_kept(tmp_path):
    (tmp_path / "texts.fr.po").write_text("the work of a week")
    with pytest.raises(InputError, match=r"texts\.fr\.po is there already"):
        export(english(), tmp_path / "texts.po", languages=["de", "fr"])
    assert [p.name for p in tmp_path.iterdir()] == ["texts.fr.po"]
    assert (tmp_path / "texts.fr.po").read_text() == "the work of a week"
    export(english(), tmp_path / "texts.po", languages=["de", "fr"], replace=True)
    assert "msgid" in (tmp_path / "texts.fr.po").read_text()


def test_what_has_no_place_is_said(tmp_path, capsys):
    rows = full(ENGLISH, {**GERMAN, "footer": "", "buttons": [button("call_phone", "x")] * 2})
    export(rows, tmp_path / "texts.csv")
    out = capsys.readouterr().out
    assert "left out" in out
    assert "order_ready de buttons.1.label" in out


def test_what_a_spreadsheet_cannot_hold_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match="32,767 characters"):
        export(full({**ENGLISH, "text": "x" * 32768}), tmp_path / "a.xlsx", languages=["de"])
    assert not list(tmp_path.iterdir())
