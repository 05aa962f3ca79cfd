"""One road from pages of contacts to a frame: its CPU and its memory.

`python roads.py ROAD FILE` reads a file with one page, a JSON array, on each line, and
prints both as JSON. Reading the file and importing are not counted; a frame of the first
ten contacts has been made before, so that everything is warm.
"""

from __future__ import annotations

import gc
import io
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from measure import memory

#: Takes pages one by one, and returns a frame of their rows.
Road = Callable[[Iterable[bytes]], Any]


def chatkit() -> Road:
    """Our Columns: checked, typed, and nothing kept that is not in the frame."""
    from chatkit.contacts import Contact
    from chatkit.frames.frame import Columns, choose_column_kinds

    def frame(pages: Iterable[bytes]) -> Any:
        columns = Columns(choose_column_kinds(Contact, Contact.listed))
        for page in pages:
            columns.add(page)
        return columns.frame("id")

    return frame


def json_frame() -> Road:
    """Put all dicts in one list and make a DataFrame of it, the usual code."""
    import pandas

    def frame(pages: Iterable[bytes]) -> Any:
        rows: list[Any] = []
        for page in pages:
            rows += json.loads(page)
        return timed(pandas.DataFrame(rows))

    return frame


def timed(frame: Any) -> Any:
    """Turn the texts of times into times, as all other roads do."""
    import pandas

    for name in ("created_at", "updated_at"):
        frame[name] = pandas.to_datetime(frame[name], utc=True, format="ISO8601")
    return frame


def concat() -> Road:
    """A DataFrame a page, joined at the end."""
    import pandas

    def frame(pages: Iterable[bytes]) -> Any:
        frames = [pandas.DataFrame(json.loads(page)) for page in pages]
        return timed(pandas.concat(frames, ignore_index=True))

    return frame


def pydantic() -> Road:
    """The usual wrapper: a checked model a row, dumped into a DataFrame."""
    import pandas
    from pydantic import TypeAdapter

    from chatkit.contacts import Contact

    contacts = TypeAdapter(list[Contact])

    def frame(pages: Iterable[bytes]) -> Any:
        rows: list[Any] = []
        for page in pages:
            rows += [contact.model_dump() for contact in contacts.validate_json(page)]
        return pandas.DataFrame(rows)

    return frame


def polars() -> Road:
    """polars with the types told: without them an empty list of tags has no type."""
    import polars

    from chatkit.contacts import Contact

    schema: dict[str, Any] = dict.fromkeys(Contact.listed, polars.String)
    schema |= {"id": polars.Int64, "tags": polars.List(polars.String)}

    def frame(pages: Iterable[bytes]) -> Any:
        frames = [polars.read_json(io.BytesIO(page), schema=schema) for page in pages]
        times = polars.col("created_at", "updated_at").str.to_datetime(time_zone="UTC")
        return polars.concat(frames).with_columns(times)

    return frame


ROADS = {
    "chatkit": chatkit,
    "json": json_frame,
    "concat": concat,
    "pydantic": pydantic,
    "polars": polars,
}


def highest() -> float:
    """MB of memory that this process has held at most since `forget_highest`."""
    result = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert result
    return int(result[1]) / 1024


def forget_highest() -> None:
    """Begin anew with `highest`."""
    Path("/proc/self/clear_refs").write_text("5")


def main(road: str, file: Path) -> None:
    """Measure one road."""
    waited = 0.0

    def pages() -> Iterator[bytes]:
        """Read the pages one by one, as they come from a service, with the clock stopped."""
        nonlocal waited
        with file.open("rb") as lines:
            while True:
                began = time.process_time()
                page = lines.readline()
                waited += time.process_time() - began
                if not page:
                    return
                yield page

    traverse = ROADS[road]()
    with file.open("rb") as lines:
        traverse([json.dumps(json.loads(lines.readline())[:10]).encode()])
    gc.collect()
    forget_highest()
    before, began = memory(), time.process_time()
    frame = traverse(pages())
    spent = time.process_time() - began - waited
    read = file.stat().st_size / 2**20
    us = spent / len(frame) * 1e6
    print(json.dumps({"us": us, "memory": (highest() - before) / read}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
