"""Bench of size: what pages, searches and creates cost as the number of contacts grows.

In process and without HTTP, so that nothing hides what grows. All sizes stand side by
side, and every call is made of each in turn. A search looks at every contact, so it grows with
them; its goal is what a person takes for "at once", 0.1 s, among 100,000.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import quote

from measure import at_most, memory, run, show, sized

from chatkit import sandbox
from chatkit.sandbox import Sandbox
from chatkit.sandbox.interface import Request

SIZES = sized((10_000, 100_000), (1_000, 2_000))
PAGE_CALLS, SEARCH_CALLS, CREATE_CALLS = sized(200, 5), sized(20, 5), sized(300, 5)
AT_ONCE = 100  # ms
SIZE, PART = 100, sized(10_000, 1_000)
ACCOUNT = "/api/business/public/channels/chat/accounts/1001"
CONTACTS = f"{ACCOUNT}/contacts"

# The names of the demo, from many scripts.
DEMO = Path(sandbox.__file__).with_name("demo")
NAMES = [
    contact.get("name", "Ada Park").split()
    for contact in json.loads((DEMO / "contacts.json").read_text())
]
FIRST, LAST = [name[0] for name in NAMES], [name[-1] for name in NAMES]
PREFIXES = [f"{area}{block:02}" for area in range(60, 100) for block in range(0, 100, 5)]


class Town(NamedTuple):
    """A sandbox with so many contacts, and which of them a search finds alone."""

    size: int
    sandbox: Sandbox
    headers: dict[str, str]
    rare: list[str]
    numbers: list[str]

    def ask(self, target: str) -> bytes:
        """Answer a read."""
        status, _, body = self.sandbox.answer("GET", target, self.headers, b"")
        assert status == 200, body
        return body

    def create(self, number: str, name: str) -> None:
        """Create a contact; it is saved when this returns."""
        body = contact(number, name)
        status, _, answer = self.sandbox.answer("POST", CONTACTS, self.headers, body)
        assert status == 201, answer


def main() -> None:
    """Print a table for a store in memory and one for a store in a file."""
    with TemporaryDirectory() as folder:
        measure("in memory", lambda size: None)
        measure("in a file", lambda size: Path(folder) / f"{size}.db")


def measure(where: str, path: Callable[[int], Path | None]) -> None:
    """Fill a sandbox of each size, ask them in turn, and print what it cost."""
    before, began = memory(), time.perf_counter()
    towns = [build(size, path(size)) for size in SIZES]
    filling = time.perf_counter() - began
    works: dict[str, tuple[Callable[[Town, int], object], int, float | None]] = {
        "first page of 100": (lambda town, at: page(town, 1), PAGE_CALLS, 1.2),
        "last page of 100": (lambda town, at: page(town, town.size // SIZE), PAGE_CALLS, 1.2),
        "search, one hit by rare name": (
            lambda town, at: search(town, town.rare[at], 1), SEARCH_CALLS, None
        ),
        "search, one hit by full number": (
            lambda town, at: search(town, town.numbers[at], 1), SEARCH_CALLS, None
        ),
        "search, a common name (first 10)": (
            lambda town, at: search(town, f"{FIRST[at]} {LAST[at]}", None), SEARCH_CALLS, None
        ),
        "create": (
            lambda town, at: town.create(f"1{at:09}", FIRST[at % len(FIRST)]), CREATE_CALLS, 1.2
        ),
    }  # fmt: skip
    table: list[list[object]] = []
    for name, (work, calls, goal) in works.items():
        costs = timed(towns, work, calls)
        ratio = costs[-1] / costs[0]
        if goal is not None:
            at_most(f"{name}, {where}: at {SIZES[-1]:,} / at {SIZES[0]:,}", ratio, goal, " ×")
        else:
            at_most(f"{name}, {where}: at {SIZES[1]:,}", costs[1] / 1000, AT_ONCE, " ms")
        table.append([name, *costs, f"{ratio:.2f} ×"])
    sizes = [f"µs at {size:,}" for size in SIZES]
    show(f"Size, {where}", ["call", *sizes, "last / first"], table)
    print(f"\nFilled in {filling:.0f} s by {memory() - before:,.0f} MB.")
    for town in towns:
        town.sandbox.close()


def timed(towns: list[Town], work: Callable[[Town, int], object], calls: int) -> list[float]:
    """The median µs of a call for each town."""
    spent: dict[int, list[float]] = {town.size: [] for town in towns}
    order = list(towns)
    for at in range(calls):
        random.shuffle(order)
        for town in order:
            began = time.thread_time()
            work(town, at)
            spent[town.size].append(time.thread_time() - began)
    return [median(spent[town.size]) * 1e6 for town in towns]


def page(town: Town, number: int) -> None:
    """Read one page of 100."""
    body = town.ask(f"{CONTACTS}?pageSize={SIZE}&page={number}")
    assert body.count(b'"wa_phone_id"') == SIZE


def search(town: Town, term: str, hits: int | None) -> None:
    """Search, and check the number of hits."""
    body = town.ask(f"{CONTACTS}?search={quote(term)}")
    assert hits is None or json.loads(body)["pagination"]["totalCount"] == hits, body[-200:]


def build(size: int, path: Path | None) -> Town:
    """Fill a sandbox through its own creates, saved by the ten thousand."""
    made = Sandbox(path)
    headers = {"authorization": f"Bearer {made.token}", "content-type": "application/json"}
    town = Town(size, made, headers, [], [])
    each = size // (3 * SEARCH_CALLS)
    persons = enumerate(residents(size, each))
    for _ in range(0, size, PART):
        with made._middleware.transaction() as service:
            for at, (number, name) in (next(persons) for _ in range(PART)):
                request = Request("POST", CONTACTS, "", headers, contact(number, name))
                assert service.answer(request).status == 201
                if at % each == 7:
                    town.rare.append(name.split()[1])
                elif at % each == 9:
                    town.numbers.append(number)
    return town


def residents(size: int, each: int) -> Iterator[tuple[str, str]]:
    """Numbers and names as a country has them; one in `each` has a name nobody else has."""
    chance = random.Random(size)
    used: set[str] = set()
    for at in range(size):
        number = chance.choice(PREFIXES) + f"{chance.randrange(10**6):06}"
        while number in used:
            number = chance.choice(PREFIXES) + f"{chance.randrange(10**6):06}"
        used.add(number)
        first, last = chance.choice(FIRST), chance.choice(LAST)
        if at % each == 7:
            syllables = (chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(5))
            last = "".join(syllables).capitalize()
        yield number, f"{first} {last}"


def contact(number: str, name: str) -> bytes:
    """The body of a create."""
    return json.dumps({"number": number, "country_code": "+91", "name": name}).encode()


if __name__ == "__main__":
    run(main)
