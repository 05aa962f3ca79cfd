"""Letters that were read in a wrong encoding, and letters that only look so."""

import pytest
from checks.ordinary import NAMES
from hypothesis import example, given
from hypothesis import strategies as st

from chatkit.checks.characters import garbled

LETTERS = "éüñçãøåßÉÜÑÇłőšžýČğıșțавгджзийлщюяЯЖΩλπהשלאמعليمक्षा山田太郎김민준ễđ’“”–…❤"


def as_cp1252(text: str) -> str:
    """Read UTF-8 as a program does that takes everything for cp1252."""
    return "".join(
        bytes([byte]).decode("cp1252", "replace").replace("\ufffd", chr(byte))
        for byte in text.encode()
    )


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("JosÃ©", "José"),
        ("SÃ£o Paulo", "São Paulo"),
        ("GarcÃ\u00ada", "García"),
        ("StraÃŸe", "Straße"),
        ("GdaÅ„sk", "Gdańsk"),
        ("PaweÅ‚", "Paweł"),
        ("MUÃ‘OZ", "MUÑOZ"),
        ("Ã–mer", "Ömer"),
        ("ZoÃ«", "Zoë"),
        ("Ã‡â€¦", "Ç…"),
        ("ErdoÄŸan", "Erdoğan"),
        ("MÃ¼ller & SÃ¶hne", "Müller & Söhne"),
        ("JosÃƒÂ©", "José"),  # twice
        ("Ã\x89lodie", "Élodie"),  # by a program that knows latin-1 only
        ("Donâ€™t", "Don’t"),
        ("Åke Ã…berg", "Åke Åberg"),  # only a part of it
        ("ðŸ˜€ Ana", "😀 Ana"),
    ],
)
def test_the_letters_are_told(text: str, meant: str) -> None:
    odd = garbled(text)
    assert odd is not None
    assert (odd.suggestion, odd.safe) == (meant, True)
    assert garbled(meant) is None


@pytest.mark.parametrize(
    "name",
    [
        *NAMES,
        "ÉTÉ’S",
        "JOÃO",
        "IRMÃ’S",
        "Ö“x”",
        "Ç…",
        "MAÇÃ” –",
        "JÖRÄ®",
        "ŽÉ»",
        "£5",
        "Â",
        "Ã",
        "±Å",
        "KÄŠI",
        "Üžo",
    ],
)
def test_letters_with_accents_are_left_alone(name: str) -> None:
    assert garbled(name) is None


@given(st.text(LETTERS + " abc", min_size=1, max_size=8))
@example("naïve café")
def test_what_is_told_of_a_garbled_text_is_what_it_was(text: str) -> None:
    odd = garbled(as_cp1252(text))
    assert odd is None or odd.suggestion == text
    if any(c in "éüñçãøß" for c in text):
        assert odd is not None
