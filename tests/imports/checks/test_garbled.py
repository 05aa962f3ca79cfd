"""Letters that were read in a wrong encoding, and letters that only look so."""

from hypothesis import example, given
from hypothesis import strategies as st

from chatkit.imports.characters import find_garbled

LETTERS = "éüñçãøåßÉÜÑÇłőšžýČğıșțавгджзийлщюяЯЖΩλπהשלאמعليمक्षा山田太郎김민준ễđ’“”–…❤"


def as_cp1252(text: str) -> str:
    """Read UTF-8 as a program does that takes everything for cp1252."""
    return "".join(
        bytes([byte]).decode("cp1252", "replace").replace("\ufffd", chr(byte))
        for byte in text.encode()
    )


@given(st.text(LETTERS + " abc", min_size=1, max_size=8))
@example("naïve café")
def test_a_safe_mend_of_a_garbled_text_is_what_it_was(text: str) -> None:
    unusual = find_garbled(as_cp1252(text))
    assert unusual is None or not unusual.safe or unusual.suggestion == text
    if any(c in "éüñçãøß" for c in text):
        assert unusual is not None
