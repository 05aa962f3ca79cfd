"""A naive applier, as people write them: it tries again, and calls what is refused failed.

It proves that the harness finds faults: after lost answers it duplicates flows, and reports rows
that took effect as failed. After a kill it has lost the row that was under way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from faults.load import Load, Row

from chatkit.api.call import Call
from chatkit.client import Client
from chatkit.errors import CallError, Refused

TRIES = 4


def changes(load: Load) -> list[dict[str, Any]]:
    """Return the changes of its plan: the expected rows, as they stand."""
    return [
        {"row": n, "kind": row.kind, "key": row.key, "after": row.fields, "code": row.code}
        for n, row in enumerate(load.rows)
    ]


def apply(client: Client, load: Load, folder: Path, concurrency: int) -> list[dict[str, Any]]:
    """Send every row, four times if need be; a file says which are done."""
    done = dict(_read(folder / "done"))
    with (folder / "done").open("a") as file, ThreadPoolExecutor(concurrency) as pool:

        def one(n: int, row: Row) -> None:
            if n not in done:
                done[n] = _send(client, row)
                file.write(json.dumps([n, done[n]]) + "\n")
                file.flush()

        list(pool.map(one, range(len(load.rows)), load.rows))
    return [
        {"label": n, "change": row.kind, "state": done[n][0], "reason": done[n][1]}
        for n, row in enumerate(load.rows)
    ]


def _send(client: Client, row: Row) -> tuple[str, str]:
    path: tuple[Any, ...] = ("templates", row.code, "contents") if row.code else (row.resource,)
    update = "PATCH" if row.resource == "webhooks" else "PUT"
    call = {
        "create": lambda: Call("POST", path, body=row.fields),
        "update": lambda: Call(update, (*path, row.key), body=row.fields),
        "delete": lambda: Call("DELETE", (*path, row.key)),
    }[row.kind]()
    reason = ""
    for _ in range(TRIES):
        try:
            client.transport.send(call)
            return "applied", ""
        except Refused as error:
            return "failed", error.reason
        except CallError as error:
            reason = error.reason
    return "failed", reason


def _read(path: Path) -> Iterator[tuple[int, Any]]:
    if path.exists():
        for line in path.read_text().splitlines():
            n, state = json.loads(line)
            yield n, state
