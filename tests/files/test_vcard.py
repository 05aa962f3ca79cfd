"""Address books of all three versions of vCard, as telephones and mail programs write them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.files import read_vcards as read
from chatkit.tables import RawTable

IPHONE = r"""BEGIN:VCARD
VERSION:3.0
PRODID:-//Apple Inc.//iPhone OS 17//EN
N:Cruz;Ana;Mary Ann;;
FN:Ana Mary Ann Cruz
TEL;type=HOME;type=VOICE:030 5550187
item1.TEL;type=CELL;type=pref:+49 (171) 555\, 0187
EMAIL;type=INTERNET:ana@example.org
ORG:Acme\, Inc.;Sales
NOTE:one\ntwo
PHOTO;ENCODING=b;TYPE=JPEG:AAAA
END:VCARD
"""
ANDROID = """BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=D0=9A=D0=BE;=D0=90=D0=B2=
=D1=82;;;
TEL;CELL:+70000000000
TEL;HOME;PREF:0123
END:VCARD
"""
FOUR = """BEGIN:VCARD
VERSION:4.0
FN:Zoë
TEL;VALUE=uri;TYPE="voice,cell":tel:+1-202-555-0187
TEL;TYPE=home:1
TEL;TYPE=fax:2
END:VCARD
"""


def cards(text: str) -> list[dict[str, Any]]:
    names, *rows = read(text, "", []).rows
    return [
        {name: cell for name, cell in zip(names.cells, row.cells, strict=True) if cell is not None}
        for row in rows
    ]


def test_version_3() -> None:
    assert cards(IPHONE) == [
        {
            "number": "+49 (171) 555, 0187",
            "name": "Ana Mary Ann Cruz",
            "other number": "030 5550187",
            "EMAIL": "ana@example.org",
            "ORG": "Acme, Inc., Sales",
            "NOTE": "one\ntwo",
        }
    ]


def test_version_2_1_with_quoted_printable() -> None:
    assert cards(ANDROID) == [{"number": "+70000000000", "name": "Авт Ко", "other number": "0123"}]


def test_version_4() -> None:
    assert cards(FOUR) == [
        {
            "number": "+1-202-555-0187",
            "name": "Zoë",
            "other number": "1",
            "other number 2": "2",
        }
    ]


def test_many_cards_are_rows_of_one_table_counted_from_one() -> None:
    found = read(IPHONE + "\n\n" + ANDROID + FOUR, "UTF-8", [])
    assert [row.number for row in found.rows] == [0, 1, 2, 3]
    assert {len(row.cells) for row in found.rows} == {len(found.rows[0].cells)}
    assert found.ours and not found.titled
    assert found.notes[0].startswith("3 cards with several numbers")


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        (["TEL:1", "TEL;PREF:2", "TEL;CELL:3"], "3"),
        (["TEL:1", "TEL;TYPE=work,pref:2"], "2"),
        (["TEL:1", "TEL;PREF=1:2"], "2"),
        (["TEL:1", "TEL:2"], "1"),
        ([], None),
    ],
)
def test_the_mobile_is_the_number_or_the_preferred_or_the_first(
    lines: list[str], number: str | None
) -> None:
    text = "\n".join(["BEGIN:VCARD", "VERSION:3.0", "FN:A", *lines, "END:VCARD"])
    assert cards(text)[0].get("number") == number


def test_lines_are_unfolded_and_small_letters_understood() -> None:
    text = "begin:vcard\r\nversion:3.0\r\nfn:Ana Ma\r\n ria\r\ntel:1\r\nend:vcard\r\n"
    assert cards(text) == [{"number": "1", "name": "Ana Maria"}]


def test_names_with_commas_and_semicolons() -> None:
    text = "BEGIN:VCARD\nVERSION:3.0\nN:Cr\\;uz;A\\,na;x,y;;\nTEL:1\nEND:VCARD\n"
    assert cards(text)[0]["name"] == "A,na x y Cr;uz"


def test_a_card_inside_a_card_is_part_of_it() -> None:
    inner = "AGENT:\nBEGIN:VCARD\nVERSION:2.1\nFN:Sec\nTEL:2\nEND:VCARD\n"
    text = f"BEGIN:VCARD\nVERSION:2.1\nFN:Boss\n{inner}TEL:1\nEND:VCARD\n"
    assert cards(text) == [{"number": "1", "name": "Boss"}]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("BEGIN:VCARD\nVERSION:3.0\nFN:x\njunk\nEND:VCARD\n", "Failed to parse line: junk"),
        ("BEGIN:VCARD\nVERSION:3.0\nFN:x\nPHOTO;ENCODING=b:A\nEND:VCARD\n", "base64"),
    ],
)
def test_a_broken_card_takes_no_other_with_it(bad: str, reason: str) -> None:
    found = read(ANDROID + bad + FOUR, "", [])
    assert [row.number for row in found.rows] == [0, 1, 3]
    ((number, text, why),) = found.broken
    assert (number, text) == (2, bad) and reason in why


def test_a_card_that_never_ends_is_broken() -> None:
    found = read(ANDROID + "BEGIN:VCARD\nVERSION:3.0\nFN:x\nTEL:1\n", "", [])
    assert len(found.rows) == 2 and "never closed" in found.broken[0].reason


@given(st.text(), st.text(alphabet=';:,=\\\n\r "TELFNcel0+\x00', max_size=30))
def test_whatever_stands_in_a_card_it_is_a_row_or_broken(name: str, line: str) -> None:
    found = read(f"BEGIN:VCARD\nVERSION:2.1\nFN:{name}\n{line}\nTEL:1\nEND:VCARD\n", "", [])
    assert isinstance(found, RawTable) and len(found.rows) - 1 + len(found.broken) >= 1
