"""Encodings are detected where no other reading is likely; else a person is asked."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chatkit
from chatkit.errors import InputError
from chatkit.imports.columns import count_known_headings
from chatkit.imports.tables.delimited import decode_text, find_likely_decodings

LANGUAGES = tomllib.loads((Path(__file__).parent / "cases/encodings.toml").read_text("utf-8"))
#: Marks of UTF-16 are in another test.
WIDE = ("utf-16-le", "utf-16-be")


def files(language: dict[str, Any], encoding: str) -> Iterator[str]:
    """Make small files: with headings of the language, in English, and with one name only."""
    names = language["names"]
    for headings, some in ((language["headings"], names), ("Name;Phone", names)):
        yield "\r\n".join([headings, *(f"{name};06001234{n}" for n, name in enumerate(some)), ""])
    yield f"Name;Phone\r\n{names[0]};060012345\r\n"


CASES = [
    (language["code"], encoding, text)
    for language in LANGUAGES["language"]
    for encoding in language["encodings"]
    for text in files(language, encoding)
    if not text.encode(encoding).isascii()
]


@pytest.mark.parametrize(("language", "encoding", "text"), CASES)
def test_a_small_file_is_never_read_wrongly(language: str, encoding: str, text: str) -> None:
    readings = find_likely_decodings(text.encode(encoding), count_known_headings)
    assert text in [reading.text for reading in readings]


def test_most_small_files_are_read_without_a_question() -> None:
    counts = [
        len(find_likely_decodings(text.encode(encoding), count_known_headings))
        for _, encoding, text in CASES
    ]
    assert len(counts) > 120 and counts.count(1) > 0.8 * len(counts)


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("language", LANGUAGES["language"], ids=lambda language: language["code"])
def test_utf_16_without_its_mark_is_recognised(language: dict[str, Any], encoding: str) -> None:
    for text in files(language, encoding):
        assert decode_text(text.encode(encoding)) == (text, encoding.upper(), [])


def test_iso_2022_is_recognised_by_its_escapes() -> None:
    data = "氏名;携帯\r\n山田;0901\r\n".encode("iso2022-jp")
    assert decode_text(data) == ("氏名;携帯\r\n山田;0901\r\n", "ISO-2022-JP", [])


def test_a_column_of_languages_counts() -> None:
    data = "lang_code,text\nit,È pronta\n".encode("cp1252")
    assert find_likely_decodings(data, lambda _: 0)[0].encoding == "cp1252"


def test_two_likely_readings_are_shown_with_what_to_write() -> None:
    data = "Name;Phone\r\nAnn;1\r\nLefèvre;06001234\r\n".encode("cp1252")
    with pytest.raises(InputError) as caught:
        chatkit.read_contacts(data)
    message = str(caught.value)
    assert "'Lefèvre' in cp1252" in message and "'Lefčvre' in cp1250" in message
    assert "encoding='cp12" in message
    frame = chatkit.read_contacts(data, encoding="cp1252")
    assert frame.name.tolist() == ["Ann", "Lefèvre"]


def test_a_refused_file_says_that_its_encoding_is_a_guess() -> None:
    with pytest.raises(InputError, match=r"read as cp1251 by its letters: if 'Мария', 'Иванова'"):
        chatkit.read_contacts("A;B\r\nМария Иванова;8912\r\n".encode("cp1251"))


def test_a_detected_encoding_is_noted_with_words_to_compare() -> None:
    text, label, notes = decode_text("Имя;Телефон\r\nМария Иванова;8912\r\n".encode("cp1251"))
    assert label == "cp1251" and text.startswith("Имя;")
    assert "'Имя', 'Телефон', 'Мария', 'Иванова'" in notes[0] and "encoding=" in notes[0]


@pytest.mark.parametrize("data", [b"Name\n\x81\x8d\n", b"Name\n\xff\xfe\x9d\n", bytes(range(256))])
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"encoding="):
        decode_text(data)
