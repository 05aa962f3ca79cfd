"""Bench of files: contacts read and written beside pandas, and the files of translators.

`python spreadsheets.py ROAD KIND FILE` measures one road over a file and prints its seconds of CPU
and the memory it took, as JSON. pandas neither finds the columns nor refuses what has lost
digits, and its CSV brings formulas along: what that costs is the ratio.

`python spreadsheets.py translated KIND FOLDER` exports texts for translators, translates them and
takes them back as a plan, which reads every content from the sandbox in this process; beside it
stands what the rows of the file alone cost.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas
from measure import at_most, child, medians, memory, rounds, run, show, sized

ROWS = sized(20_000, 100)
COUNT = sized(2, 1)
HEADER = ("Full name", "Mobile", "Country code", "Remarks")
KINDS = ("csv", "xlsx", "parquet")
CODES, LANGUAGES = (
    sized(100, 2),
    ("de", "es", "fr", "hi", "id", "it", "nl", "pl", "pt_BR", "tr"),
)
#: `read_translations` of a workbook beside openpyxl: 1.9 s beside 0.7 s, and a tenth.
TAKEN_BACK = 3.0


def main() -> None:
    """Print three tables."""
    with TemporaryDirectory() as folder:
        table("Read", reads, Path(folder))
        table("Written", writes, Path(folder))
        translations(Path(folder))


def made(rows: int) -> pandas.DataFrame:
    """People with numbers as they are written in real files."""
    persons = [
        (f"Zoë Quinn {n}", f"0{7700900000 + n}", "+44", "" if n % 3 else "call after six")
        for n in range(rows)
    ]
    return pandas.DataFrame(persons, columns=list(HEADER))


# --- roads ------------------------------------------------------------------------------


def floor(kind: str, file: Path) -> object:
    """Read the format alone: rows of texts, without a frame."""
    if kind == "csv":
        return list(csv.reader(io.StringIO(file.read_text("utf-8"))))
    if kind == "parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(file)
    import openpyxl

    spreadsheet = openpyxl.load_workbook(file, read_only=True)
    return [list(sheet.iter_rows(values_only=True)) for sheet in spreadsheet.worksheets]


def plain(kind: str, file: Path) -> object:
    """Read with the usual code."""
    if kind == "csv":
        return pandas.read_csv(file, dtype=str, keep_default_na=False)
    if kind == "parquet":
        return pandas.read_parquet(file)
    return pandas.read_excel(file, dtype=str, keep_default_na=False)


def ours(kind: str, file: Path) -> object:
    """Our `read_contacts`, which says what it took: the words are for a person."""
    import chatkit

    with redirect_stdout(io.StringIO()):
        return chatkit.read_contacts(file)


def plainly_written(kind: str, file: Path) -> object:
    """Write with the usual code."""
    frame, to = pandas.read_parquet(file), file.with_suffix(".out")
    return frame.to_csv(to, index=False) if kind == "csv" else frame.to_excel(to, engine="openpyxl")


def ours_written(kind: str, file: Path) -> object:
    """Our `write_csv` and `write_xlsx`: no cell is a formula, and all of it can be read back."""
    from chatkit.imports.tables.delimited import write_csv
    from chatkit.imports.tables.workbook import write_xlsx

    frame, to = pandas.read_parquet(file), file.with_suffix(".out")
    return write_csv(frame, to) if kind == "csv" else write_xlsx(frame, to)


ROADS: dict[str, Callable[[str, Path], object]] = {
    each.__name__: each for each in (floor, plain, ours, plainly_written, ours_written)
}


def measure_road(road: str, kind: str, file: Path) -> None:
    """Measure one road, once all it needs is loaded."""
    go = ROADS[road]
    few = file.with_name(f"few.{file.suffix[1:]}")
    go(kind, few)
    before, began = memory(), time.process_time()
    kept = go(kind, file)
    seconds = time.process_time() - began
    print(json.dumps({"s": seconds, "mb": memory() - before}))
    del kept


def translated(kind: str, folder: Path) -> None:
    """Export texts, translate them, and take them back; each once before anything is counted."""
    import chatkit
    from chatkit.resource import get_endpoints

    result: dict[str, float] = {}
    codes = [f"template_{at:03}" for at in range(CODES)]
    with redirect_stdout(io.StringIO()), chatkit.connect(chatkit.Sandbox(seed="empty")) as client:
        for code in codes:
            body = {
                "lang_code": "en",
                "text": f"Hello {{{{1}}}}, no. {code}",
                "variables": {"1": "A"},
            }
            client.transport.send(get_endpoints(client.templates(code)).create_call(body))
        for some in (codes[:2], codes):
            file = folder / f"{len(some)}.{kind}"
            began = time.process_time()
            client.templates.export(file, some, languages=LANGUAGES, replace=True)
            result["export"] = time.process_time() - began
            translate(kind, file)
            began = time.process_time()
            floor(kind, file)
            result["floor"] = time.process_time() - began
            began = time.process_time()
            taken = client.templates.read_translations(file)
            result["read"] = time.process_time() - began
            assert len(taken.changed) == len(some) * len(LANGUAGES), taken
    print(json.dumps(result))


def translate(kind: str, file: Path) -> None:
    """Do what a translator does."""
    if kind == "csv":
        texts = pandas.read_csv(file, dtype=str, keep_default_na=False)
        texts["translation"] = texts.source.str.replace("Hello", "Hola")
        texts.to_csv(file, index=False, quoting=csv.QUOTE_ALL)
        return
    import openpyxl

    spreadsheet = openpyxl.load_workbook(file)
    for sheet in spreadsheet.worksheets:
        head = {cell.value: cell.column for cell in sheet[1]}
        for row in range(2, sheet.max_row + 1):
            source = sheet.cell(row, head["source"]).value
            sheet.cell(row, head["translation"]).value = source.replace("Hello", "Hola")
    spreadsheet.save(file)


# --- the tables -------------------------------------------------------------------------


def reads(folder: Path) -> dict[str, dict[str, Any]]:
    """The roads from each kind of file to a frame."""
    for name, rows in (("many", ROWS), ("few", 20)):
        part = made(rows)
        part.to_csv(folder / f"{name}.csv", index=False)
        part.to_excel(folder / f"{name}.xlsx", index=False)
        part.to_parquet(folder / f"{name}.parquet", index=False)
    return {
        kind: {
            road: partial(child, "spreadsheets.py", road, kind, folder / f"many.{kind}")
            for road in ("floor", "plain", "ours")
        }
        for kind in KINDS
    }


def writes(folder: Path) -> dict[str, dict[str, Any]]:
    """The roads from a frame to each kind of file that we write."""
    return {
        kind: {
            road: partial(child, "spreadsheets.py", road, kind, folder / "many.parquet")
            for road in ("plainly_written", "ours_written")
        }
        for kind in KINDS[:2]
    }


def table(title: str, roads: Callable[[Path], dict[str, dict[str, Any]]], folder: Path) -> None:
    """Measure the time of each way, side by side."""
    lines, names = [], []
    for kind, runs in roads(folder).items():
        result = {road: medians(each) for road, each in rounds(runs, COUNT).items()}
        names = [road.replace("_", " ") for road in result]
        *others, (_, mine) = result.items()
        lines.append([
            kind,
            *(each["s"] for each in result.values()),
            *(mine["s"] / other["s"] for _, other in others),
            f"{mine['mb']:.0f} / {others[-1][1]['mb']:.0f}",
        ])  # fmt: skip
    ratios = [f"ours / {name}" for name in names[:-1]]
    show(
        f"{title}: {ROWS:,} contacts, seconds of CPU",
        ["file", *names, *ratios, f"MB taken, ours / {names[-2]}"],
        lines,
    )


def translations(folder: Path) -> None:
    """The way to translators and back, by the kind of file."""
    runs: dict[str, Any] = {
        kind: partial(child, "spreadsheets.py", "translated", kind, folder) for kind in KINDS[:2]
    }
    result = {kind: medians(each) for kind, each in rounds(runs, COUNT).items()}
    at_most(
        "`read_translations` of a workbook, its rows read by openpyxl = 1",
        result["xlsx"]["read"] / result["xlsx"]["floor"],
        TAKEN_BACK,
    )
    rows = [
        [kind, one["export"], one["floor"], one["read"], one["read"] / one["floor"]]
        for kind, one in result.items()
    ]
    show(
        f"Translations: {CODES * len(LANGUAGES):,} texts, seconds of CPU",
        ["file", "`export`", "its rows alone", "`read_translations`", "its rows = 1"],
        rows,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["translated"]:
        translated(sys.argv[2], Path(sys.argv[3]))
    elif len(sys.argv) > 1:
        measure_road(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    else:
        run(main)
