"""Bench of telephone numbers: `numbers.split_all` beside loops over the library, and its verdicts.

`python telephone.py ROAD COLUMN FILE` walks one road over a column of a frame, written as JSON
in a file, and prints its CPU as JSON. A loop reads the first rows only: each costs it
the same. Each road has read those rows once before anything is counted.

It is not called numbers.py: numpy would import it in the place of Python's own module.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas
import phonenumbers as library
from measure import HERE, QUICK, SMOKE, at_least, at_most, child, medians, rounds, run, show, sized

sys.path.append(str(HERE.parent))  # where the tests keep what they share
from dialled import REGIONS, TYPES, agrees, by_library, columns

ROWS, LOOPED = sized(100_000, 30_000, 500), sized(10_000, 1_500, 20)
COMPARED, COUNT = sized(200_000, 20_000, 100), sized(3, 1, 1)
GOAL = 25
TEN = ("BR", "DE", "ES", "GB", "ID", "IN", "MX", "NG", "US", "ZA")
#: c: country code, n: the digits after it, a and b: two halves of them.
WRITTEN = ("+{c}{n}", "+{c} {a} {b}", "+{c}-{a}-{b}", "(+{c}) {a}.{b}", "+{c} {n}")
MESSY = ("+{c}{n} ext. 7", "{n}.0", "+{c}{n} (home)", "tel:+{c}{n}", "+{c} {a} OOO")

#: What each column is called, its regions, its forms, and the region it is read in.
COLUMNS: dict[str, tuple[str, Sequence[str], Sequence[str], str | None]] = {
    "e164": ("+919876543210, ten regions", TEN, ("+{c}{n}",), None),
    "written": ("+91 98765-43210 and the like, ten regions", TEN, WRITTEN, None),
    "inside": (
        "0171 2345678 and the like, Germany",
        ("DE",),
        ("0{n}", "0{a} {b}", "0{a}/{b}"),
        "DE",
    ),
    "bare": ("919876543210, read in India", ("IN",), ("{c}{n}",), "IN"),
    "nowhere": ("919876543210, no region: a loop gives up at once", ("IN",), ("{c}{n}",), None),
    "world": (f"+919876543210, all {len(REGIONS)} regions", REGIONS, ("+{c}{n}",), None),
    "messy": ("as in the second row, every twentieth only for the library", TEN, WRITTEN, None),
}

if SMOKE:  # all patterns of a region are compiled in each process
    REGIONS = REGIONS[:3]
FEW = sized(tuple(COLUMNS), ("e164", "inside"), ("inside", "nowhere"))
COLUMNS = {name: COLUMNS[name] for name in FEW}

#: Takes a column and its region.
Road = Callable[[Iterable[str], str | None], object]


def main() -> None:
    """Print three tables."""
    with TemporaryDirectory() as folder:
        for different in sized((1.0, 0.1), (1.0,), (0.1,)):
            speed(Path(folder) / "column", different)
    verdicts()


# --- columns ----------------------------------------------------------------------------


def made(name: str, different: float) -> list[str]:
    """A column of numbers that begin as real ones do."""
    _, regions, forms, _ = COLUMNS[name]
    chance, texts = random.Random(name), []
    for place in range(int(ROWS * different)):
        messy = name == "messy" and place % 20 == 0
        texts.append(number(chance, chance.choice(regions), MESSY if messy else forms))
    texts += chance.choices(texts, k=ROWS - len(texts))
    chance.shuffle(texts)
    return texts


def number(chance: random.Random, region: str, forms: Sequence[str]) -> str:
    """A mobile or fixed number of a region in one of the forms."""
    type_ = chance.choice((library.PhoneNumberType.MOBILE, library.PhoneNumberType.FIXED_LINE))
    example = library.example_number_for_type(region, type_) or library.example_number(region)
    digits = library.national_significant_number(example)
    kept = chance.randint(2, 4)
    digits = digits[:kept] + "".join(chance.choices("0123456789", k=len(digits) - kept))
    form = chance.choice(forms)
    return form.format(c=example.country_code, n=digits, a=digits[:4], b=digits[4:])


# --- roads ------------------------------------------------------------------------------


def loop(texts: Iterable[str], region: str | None) -> object:
    """What most people write: the parts of each number, and whether it is valid."""
    found = []
    for text in texts:
        try:
            phone = library.parse(text, region)
        except library.NumberParseException:
            found.append(None)
            continue
        number = library.national_significant_number(phone)
        found.append((phone.country_code, number, library.is_valid_number(phone)))
    return found


def kept(texts: Iterable[str], region: str | None) -> object:
    """The same, with the library's patterns compiled once and for all."""
    library.enable_pattern_cache()
    return loop(texts, region)


def told(texts: Iterable[str], region: str | None) -> object:
    """A loop that tells as much as we do: region, type and reason too."""
    library.enable_pattern_cache()
    return [by_library(text, region) for text in texts]


def chatkit(texts: Iterable[str], region: str | None) -> object:
    """Our `split_all`."""
    from chatkit import numbers

    return numbers.split_all(texts, region)


ROADS: dict[str, Road] = {"loop": loop, "kept": kept, "told": told, "chatkit": chatkit}


def walk(road: str, name: str, file: Path) -> None:
    """Walk one road."""
    texts, region = json.loads(file.read_text()), COLUMNS[name][3]
    go = ROADS[road]
    counted = pandas.Series(texts if road == "chatkit" else texts[:LOOPED])
    go(counted, region)
    began = time.process_time()
    go(counted, region)
    print(json.dumps({"us": (time.process_time() - began) / len(counted) * 1e6}))


# --- the tables -------------------------------------------------------------------------


def speed(file: Path, different: float) -> None:
    """How long each road takes for a number, over all columns."""
    lines = []
    for name, (said, *_) in COLUMNS.items():
        file.write_text(json.dumps(made(name, different)))
        runs: dict[str, Any] = {
            road: partial(child, "telephone.py", road, name, file) for road in ROADS
        }
        us = {road: medians(found)["us"] for road, found in rounds(runs, COUNT).items()}
        times = us["loop"] / us["chatkit"]
        # Where a loop gives up at once, we do not; and fewer rows are not what the goal is for.
        if name not in ("messy", "nowhere") and not QUICK:
            at_least(f"{said}, {different:.0%} different, loop = 1", times, GOAL)
        lines.append([said, *us.values(), times, us["told"] / us["chatkit"]])
    show(
        f"{ROWS:,} telephone numbers, {different:.0%} of them different: µs of CPU a number",
        [
            *("column", "loop over the library", "its patterns kept", "and telling as much"),
            *("chatkit, `split_all`", "loop = 1", "telling as much = 1"),
        ],
        lines,
    )


def verdicts() -> None:
    """How often we say something else than the library."""
    library.enable_pattern_cache()
    lines: list[Sequence[object]] = []
    generated = islice(columns(COMPARED, seed=7), 3 if SMOKE else None)
    for said, numbers in (
        ("examples of the library, every region and type, written in four ways", examples()),
        ("generated, right and wrong, in 16 forms", generated),
    ):
        compared, differ = compare(numbers)
        at_most(f"disagreements, {said}", differ, 0)
        lines.append([said, f"{compared:,}", differ])
    show("Verdicts beside the library's", ["numbers", "compared", "disagreements"], lines)


def examples() -> Iterator[tuple[str | None, list[str]]]:
    """The example numbers of each region."""
    for region in REGIONS:
        found = (library.example_number_for_type(region, type_) for type_ in TYPES)
        yield (
            region,
            [library.format_number(each, form) for each in found if each for form in range(4)],
        )


def compare(numbers: Iterator[tuple[str | None, list[str]]]) -> tuple[int, int]:
    """Compare whole columns with what the library says of each of their texts."""
    from chatkit import numbers as reading

    reading.FEW = 0  # whatever patterns can settle, they do
    compared = differ = 0
    for region, texts in numbers:
        table = reading.split_all(texts, region).select(range(5))
        for text, ours in zip(texts, table.to_pylist(), strict=True):
            compared += 1
            differ += not agrees(tuple(ours.values()), by_library(text, region))
    return compared, differ


if __name__ == "__main__":
    if len(sys.argv) > 1:
        walk(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    else:
        run(main)
