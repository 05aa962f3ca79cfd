"""Bench of telephone numbers: a column read by chatkit beside a loop over the library.

`python telephone.py ROAD` reads 20,000 different numbers one way and prints its CPU as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import time
from functools import partial

import phonenumbers as library
from measure import at_most, child, medians, rounds, run, show, sized

ROWS, COUNT = sized(20_000, 100), sized(2, 1)
REGIONS = ("BR", "DE", "ES", "GB", "ID", "IN", "MX", "NG", "US", "ZA")
#: How many times the library's own loop it may take.
MOST = 3


def main() -> None:
    """Print the table."""
    runs = {road: partial(child, "telephone.py", road) for road in ("loop", "chatkit")}
    us = {road: medians(result)["us"] for road, result in rounds(runs, COUNT).items()}
    at_most("a column of numbers, a loop over the library = 1", us["chatkit"] / us["loop"], MOST)
    show(
        f"{ROWS:,} different telephone numbers of ten countries: µs of CPU a number",
        ["loop over the library", "chatkit", "loop = 1"],
        [[us["loop"], us["chatkit"], us["chatkit"] / us["loop"]]],
    )


def column() -> list[str]:
    """Make numbers that begin as real ones do."""
    chance, texts = random.Random(1), []
    for _ in range(ROWS):
        example = library.example_number_for_type(
            chance.choice(REGIONS), library.PhoneNumberType.MOBILE
        )
        digits = library.national_significant_number(example)
        rest = "".join(chance.choices("0123456789", k=len(digits) - 3))
        texts.append(f"+{example.country_code} {digits[:3]}{rest}")
    return texts


def loop(texts: list[str]) -> object:
    """Read each number as the library's documentation shows it."""
    read = []
    for text in texts:
        phone = library.parse(text, None)
        number = library.national_significant_number(phone)
        read.append((phone.country_code, number, library.is_valid_number(phone)))
    return read


def chatkit(texts: list[str]) -> object:
    """Check the column as `client.contacts.check` does."""
    from chatkit.imports.quality import check_numbers

    return check_numbers([None] * len(texts), texts)


def measured(road: str) -> None:
    """Read the column once, and then count."""
    read, texts = {"loop": loop, "chatkit": chatkit}[road], column()
    read(texts[:1000])
    began = time.process_time()
    read(texts)
    print(json.dumps({"us": (time.process_time() - began) / ROWS * 1e6}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measured(sys.argv[1])
    else:
        run(main)
