"""The table of languages."""

import json
from pathlib import Path

from chatkit.sandbox.templates import LANGUAGES


def test_there_are_113_codes_each_once() -> None:
    assert len(LANGUAGES) == 113
    assert all(code and label.strip() == label for code, label in LANGUAGES.items())
    assert LANGUAGES["pt_BR"] == "Portuguese (BR)"


def test_the_table_is_the_list_of_the_platform(shared: Path) -> None:
    listed = json.loads((shared / "facts/languages.json").read_text())["languages"]
    assert list(LANGUAGES.items()) == [(one["code"], one["label"]) for one in listed]
