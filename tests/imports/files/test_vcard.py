"""Address books of all three versions of vCard, as telephones and mail programs write them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.errors import InputError
from chatkit.imports.tables import RawTable
from chatkit.imports.tables.vcards import read_vcards

CASES = tomllib.loads((Path(__file__).parent / "cases/vcards.toml").read_text("utf-8"))
ANA = "BEGIN:VCARD\nVERSION:3.0\nFN:Ana\nTEL:1\nEND:VCARD\n"


def card_of(case: dict[str, Any]) -> str:
    lines = case["card"].strip("\n")
    version = "" if "VERSION" in lines else "VERSION:3.0\n"
    end = "END:VCARD\n" if case.get("ends", True) else ""
    return f"BEGIN:VCARD\n{version}{lines}\n{end}"


def contacts(content: str | bytes, encoding: str | None = None) -> list[dict[str, Any]]:
    names, *rows = read_vcards(content, encoding).rows
    return [
        {name: cell for name, cell in zip(names.cells, row.cells, strict=True) if cell}
        for row in rows
    ]


@pytest.mark.parametrize("case", CASES["card"], ids=lambda case: case["kind"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_card_is_one_contact(case: dict[str, Any], end: str) -> None:
    content = card_of(case).replace("\n", end)
    assert contacts(content) == contacts(content.encode()) == [case["contact"]]


def numbers_of(*lines: str) -> dict[str, str]:
    return contacts(card_of({"card": "\n".join(["FN:A", "TEL;TYPE=HOME:1", *lines])}))[0]


@pytest.mark.parametrize("label", CASES["mobile"])
def test_a_mobile_is_the_number_by_its_type_or_label(label: str) -> None:
    for lines in (f'TEL;TYPE="{label}":2', f"item1.TEL:2\nitem1.X-ABLabel:{label}"):
        assert numbers_of(lines) == {"number": "2", "name": "A", "other number": "1"}


@pytest.mark.parametrize("label", CASES["silent"])
def test_what_takes_no_messages_is_not_the_number(label: str) -> None:
    for lines in (f'TEL;TYPE="{label}":2', f"item1.TEL:2\nitem1.X-ABLabel:{label}"):
        card = numbers_of(lines)
        assert card["number"] == "1" and "other number" not in card and "2" in card.values()


@pytest.mark.parametrize("line", CASES["whatsapp"])
def test_the_number_of_whatsapp_comes_first(line: str) -> None:
    assert numbers_of("TEL;TYPE=CELL:2", line)["number"] == "+447911123456"


@pytest.mark.parametrize("value", CASES["empty"])
def test_a_mobile_without_a_number_is_passed_over(value: str) -> None:
    assert numbers_of(f"TEL;TYPE=CELL:{value}")["number"] == "1"


def test_a_value_of_any_length_is_read_in_linear_time() -> None:
    assert numbers_of("TEL:" + "(" * 300_000 + "2")["number"] == "1"


@pytest.mark.parametrize("case", CASES["broken"], ids=lambda case: case["kind"])
def test_a_broken_card_takes_no_other_with_it(case: dict[str, Any]) -> None:
    table = read_vcards(ANA + card_of(case))
    assert [row.number for row in table.rows] == [0, 1]
    ((number, text, reason),) = table.broken
    assert (number, text) == (2, card_of(case)) and case["reason"] in reason


def test_a_line_folded_inside_a_character_is_whole() -> None:
    data = ANA.encode().replace(b"Ana", "Aña Ünal".encode())
    for cut in range(data.index(b"FN:") + 3, data.index(b"TEL") - 1):
        assert contacts(data[:cut] + b"\r\n " + data[cut:])[0]["name"] == "Aña Ünal"


@pytest.mark.parametrize("charset", ["windows-1251", "koi8-r", "utf-8"])
def test_a_line_is_in_its_own_charset(charset: str) -> None:
    card = ANA.replace("FN:Ana", f"FN;CHARSET={charset}:Мария\nNOTE:é").encode(charset, "ignore")
    assert contacts(card.replace("é".encode(charset, "ignore"), b""))[0]["name"] == "Мария"


def test_lines_without_a_charset_are_in_the_encoding_of_the_file() -> None:
    data = ANA.replace("Ana", "Мария Иванова").encode("cp1251")
    assert contacts(data, "cp1251")[0]["name"] == "Мария Иванова"
    with pytest.raises(InputError, match="not utf-8 text: line 3"):
        read_vcards(data, "utf-8")


@given(st.text(), st.text(alphabet=';:,=\\\n\r "TELFNcel0+\x00()', max_size=30))
def test_whatever_is_in_a_card_it_is_a_row_or_broken(name: str, line: str) -> None:
    table = read_vcards(f"BEGIN:VCARD\nVERSION:2.1\nFN:{name}\n{line}\nTEL:1\nEND:VCARD\n")
    assert isinstance(table, RawTable) and len(table.rows) - 1 + len(table.broken) >= 1
