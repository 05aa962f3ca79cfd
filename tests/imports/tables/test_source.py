"""Anything that holds a table can be passed, and what cannot be read says what to do."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from chatkit.errors import InputError
from chatkit.imports.tables import detect_file_kind, read_source


def test_paths_files_bytes_and_pasted_text(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b")
    assert read_source(path) == read_source(str(path)) == ("people.csv", b"a,b")
    with path.open("rb") as file:
        assert read_source(file) == ("people.csv", b"a,b")
    with path.open(encoding="utf-8") as file:
        assert read_source(file) == ("people.csv", "a,b")
    assert read_source(b"a,b") == read_source(io.BytesIO(b"a,b")) == ("the data", b"a,b")
    assert read_source("a\tb") == ("the pasted table", "a\tb")
    assert read_source("a,b\n1,2") == ("the pasted table", "a,b\n1,2")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nobody\.csv"):
        read_source(str(tmp_path / "nobody.csv"))


def test_other_things_are_refused() -> None:
    with pytest.raises(InputError, match="a path, an open file, bytes or a pasted table, not int"):
        read_source(7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"PAR1....", "parquet"),
        (b"PK\x03\x04....", "xlsx"),
        (b"a,b\n", "text"),
        (b"", "text"),
        ("a,b\n", "text"),
        ("\n begin:vcard\nVERSION:3.0\n", "vcard"),
        ("BEGIN:VCARDS,b\n", "text"),
    ],
)
def test_the_content_tells_the_kind_not_the_name(content: bytes | str, expected: str) -> None:
    assert detect_file_kind(content) == expected


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1", r"save it as \.xlsx"),
        (b"%PDF-1.7", "a PDF"),
        (b"\x1f\x8b\x08", "unpack it"),
        (b"{\\rtf1", "a document"),
    ],
)
def test_kinds_that_are_not_read_say_what_to_do(content: bytes, advice: str) -> None:
    with pytest.raises(InputError, match=advice):
        detect_file_kind(content)
