"""Words that translations use, never use or keep, and how they address people."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from localization.contents import cases

from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.glossary import Glossary

CSV = """term,language,use,never,keep,address
bike,de,Rad|Fahrrad,Drahtesel,,
bike,pt,bicicleta,,,
bike,pt_BR,bike|bicicleta,,,
Larkspur Cycles,,,,yes,
,de,,billig,,
,fr,,,,formal
,de,,,,informal
repair,ja,修理,直し,,
"""


def glossary(text: str = CSV) -> Glossary:
    return Glossary(pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False))


def output(lang: str, source: str, target: str, text: str = CSV) -> list[tuple[str, int | None]]:
    result = glossary(text).find_breaches(source, target, lang, "en")
    return [(each.code, each.position) for each in result]


@cases("lang", "source", "target", "report")
def test_what_does_not_do_as_the_glossary_says_is_a_breach(
    lang: str, source: str, target: str, report: list[list[Any]]
) -> None:
    assert output(lang, source, target) == [tuple(each) for each in report]


def test_files_frames_and_rows_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "terms.csv"
    file.write_text(CSV, encoding="utf-8")
    workbook = openpyxl.Workbook()
    for line in CSV.splitlines():
        workbook.active.append([cell or None for cell in line.split(",")])
    workbook.save(tmp_path / "terms.xlsx")
    rows = pd.read_csv(file, dtype=str, keep_default_na=False).to_dict("records")
    for source in (file, str(tmp_path / "terms.xlsx"), rows, pd.read_csv(file), glossary()):
        made = Glossary(source)
        assert repr(made) == "<glossary: 8 rows, 5 languages>"
        assert len(made.find_breaches("bike", "Velo", "de", "en")) == 1


def test_all_bad_rows_are_told_at_once_and_none_is_taken() -> None:
    rows = [
        {"term": "bike", "language": "german?"},
        {"use": "Rad"},
        {"term": "bike", "use": "Rad", "keep": "yes"},
        {"term": "Bike", "language": "de", "use": "Rad"},
        {"term": "bike", "language": "DE", "use": "Velo"},
        {"language": "sv", "address": "formal"},
        {"language": "de", "address": "friendly"},
        {},
    ]
    with pytest.raises(InputError, match="cannot be used") as caught:
        Glossary(rows)
    assert [(each.field, each.reason.partition(":")[0]) for each in caught.value.problems] == [
        ("row 1", "must be a language like de or pt_BR"),
        ("row 1", "has no rule"),
        ("row 2", "must have a term"),
        ("row 3", "is kept and translated"),
        ("row 5", "is there already, in row 4"),
        (
            "row 6",
            "is for a language as a whole, one of de, fr, es, it, nl, pt, pl, ru, uk, cs, tr",
        ),
        ("row 7", "must be formal or informal"),
    ]


@cases("source", "reason")
def test_what_is_no_glossary_is_refused(source: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Glossary(source)


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(InputError, match=r"a\.csv is empty: its first row names the columns"):
        Glossary(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("word;lang\nbike;de\n")
    with pytest.raises(InputError, match=r"b\.csv has columns that a glossary does not know: word"):
        Glossary(tmp_path / "b.csv")
    with pytest.raises(FileNotFoundError):
        Glossary(tmp_path / "none.csv")


@cases("lang", "address", "text", "report")
def test_how_people_are_addressed(lang: str, address: str, text: str, report: str) -> None:
    words = Glossary([{"language": language.base(lang), "address": address}])
    result = words.find_breaches("Your bike", text, lang, "en")
    assert [each.code for each in result] == (["formality"] if report else [])
    assert report in "".join(each.message.lower() for each in result)
