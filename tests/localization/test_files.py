"""Tests of file formats: by the name when writing, by the content when reading."""

from pathlib import Path

import pytest
from localization.translator import FORMATS, unit

from chatkit.errors import InputError
from chatkit.localization.files import encode_units, read_units

UNITS = [unit("a", "b"), unit("a", "c", lang_code="pt_BR"), unit("d", field="footer")]


def saved(folder, form, name=None):
    path = folder / (name or f"texts.{FORMATS[form]}")
    made = encode_units(UNITS, path, "en")
    for each, (_, data) in made.items():
        each.write_bytes(data)
    return list(made)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_told_by_its_content(tmp_path, form):
    paths = saved(tmp_path, form)
    expected = sorted((u.text_key, u.target) for u in UNITS)
    assert sorted((u.text_key, u.target) for u in read_units(paths)) == expected
    assert sorted((u.text_key, u.target) for u in read_units(tmp_path)) == expected
    assert (
        sorted((u.text_key, u.target) for u in read_units([p.read_bytes() for p in paths]))
        == expected
    )
    if form != "po":
        unusual = paths[0].rename(tmp_path / "no ending")
        assert read_units(unusual)[0].place.startswith("no ending")


@pytest.mark.parametrize("form", ["po", "xliff"])
def test_files_of_one_language_have_it_in_their_name(tmp_path, form):
    names = {path.name for path in saved(tmp_path, form)}
    assert names == {f"texts.de.{FORMATS[form]}", f"texts.pt_BR.{FORMATS[form]}"}


def test_the_name_says_the_format():
    assert list(encode_units(UNITS, Path("a.XLSX"), "en")) == [Path("a.XLSX")]
    with pytest.raises(InputError, match="its name must end in"):
        encode_units(UNITS, Path("a.doc"), "en")


def test_a_po_file_is_told_by_its_name_where_its_beginning_is_a_long_comment(tmp_path):
    path = saved(tmp_path, "po")[0]
    path.write_bytes(b"# A note.\n" * 500 + path.read_bytes())
    path = path.rename(tmp_path / "noted.PO")
    assert [u.target for u in read_units(path)] == [u.target for u in UNITS if u.lang_code == "de"]


def test_a_file_that_is_none_of_translations_is_named(tmp_path):
    for name, data in (
        ("a.xlf", b"<x"),
        ("b.csv", b"a,b\n1,2\n"),
        ("c.po", b"zzz"),
        ("d.csv", b""),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=f"^{name}: "):
            read_units(tmp_path / name)
    with pytest.raises(InputError, match="not a int"):
        read_units(7)
    with pytest.raises(OSError, match="nothing"):
        read_units(tmp_path / "nothing.po")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no file"):
        read_units(tmp_path / "empty")
