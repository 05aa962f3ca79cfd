from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flowjson.strangers import booking

from chatkit.errors import InputError
from chatkit.flowjson.document import DEEPEST, read_document


class Built:
    def to_json(self) -> dict[str, Any]:
        return booking()


def test_a_document_is_read_however_it_is_given(tmp_path: Path) -> None:
    file = tmp_path / "booking.json"
    file.write_text(json.dumps(booking()), encoding="utf-8")
    sources: list[object] = [
        booking(),
        json.dumps(booking(), indent=2),
        json.dumps(booking()).encode(),
        file,
        str(file),
        Built(),
    ]
    assert [read_document(source) for source in sources] == [booking()] * 6


def test_what_is_read_is_a_copy() -> None:
    document = booking()
    read_document(document)["screens"].clear()
    assert document == booking()


@pytest.mark.parametrize(
    "values",
    ["{", "nothing.json", b"\xff{", {"a": {1, 2}}, {"a": object()}, None],
)
def test_what_is_no_document_is_refused_with_a_reason(values: object) -> None:
    with pytest.raises(InputError, match=r"flow document|cannot be read"):
        read_document(values)


def test_a_document_in_itself_or_nested_too_deeply_is_refused() -> None:
    knot: dict[str, Any] = {}
    knot["a"] = knot
    deep: Any = []
    for _ in range(DEEPEST):
        deep = [deep]
    assert read_document(deep[0]) == deep[0]
    for value in (knot, deep, "[" * 100_000 + "]" * 100_000):
        with pytest.raises(InputError):
            read_document(value)
