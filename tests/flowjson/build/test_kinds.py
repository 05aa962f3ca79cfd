"""The types of properties: what they take, what they turn it into, how they are shown."""

from __future__ import annotations

import base64
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from chatkit.flowjson.build import piece as kinds


def take(kind: Any, value: object) -> object:
    return TypeAdapter(kind, config={"strict": True}).validate_python(value)


@pytest.mark.parametrize("text", ["${data.x}", "`${form.a} == 1`", "` 'a' `"])
def test_a_reference_refers(text: str) -> None:
    for kind in (kinds.Reference, kinds.Flag, kinds.Integer, kinds.Number):
        assert take(kind, text) == text


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *[(kinds.Reference, "yes"), (kinds.Flag, "true"), (kinds.Flag, 1), (kinds.Integer, True)],
        *[(kinds.Integer, "5"), (kinds.Integer, 1.0), (kinds.Number, True), (kinds.Base64, 5)],
        *[(kinds.Date, 20260101), (kinds.Map, {1: 2}), (kinds.Map, {"a": (1,)}), (kinds.Map, [])],
    ],
)
def test_what_is_of_another_type_is_refused(kind: Any, value: object) -> None:
    with pytest.raises(ValidationError):
        take(kind, value)


def test_numbers_stay_what_they_are() -> None:
    assert repr(take(kinds.Number, 1)) == "1" and repr(take(kinds.Number, 1.0)) == "1.0"
    assert take(kinds.Flag, True) is True


def test_a_picture_is_read_out_of_bytes_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "logo.png"
    path.write_bytes(b"\x89PNG")
    written = base64.b64encode(b"\x89PNG").decode()
    assert take(kinds.Base64, path) == take(kinds.Base64, b"\x89PNG") == written
    assert take(kinds.Base64, written) == written
    with pytest.raises(ValidationError, match="cannot be read"):
        take(kinds.Base64, tmp_path / "none.png")


def test_a_date_is_written_as_the_platform_wants_it() -> None:
    assert take(kinds.Date, date(2026, 1, 2)) == "2026-01-02"
    assert take(kinds.Date, datetime(2026, 1, 2, 23, 59)) == "2026-01-02"
    assert take(kinds.Date, "${data.day}") == "${data.day}"
