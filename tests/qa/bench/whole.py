"""All contacts of an account as a frame, read from the sandbox.

`python whole.py ROAD BASE_URL TOKEN ROWS` reads over HTTP, and `python whole.py inside FILE ROWS`
from a sandbox in this process; both print seconds and CPU as JSON. `fill FILE ROWS` makes the file
of a sandbox, and `columns FILE ROWS` reads pages that have come already. Each has made a frame
before, so that everything is warm.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from frames import contact
from measure import cpu
from roads import ROADS, timed

SIZE, AT_ONCE = 100, 8
CONTACTS = "/api/business/public/channels/chat/accounts/1001/contacts"


def frame(base_url: str, token: str) -> Any:
    """Ours."""
    from chatkit import Client

    with Client(base_url, "1001", token) as client:
        return client.contacts.frame()


def requests(base_url: str, token: str) -> Any:
    """Send with the usual code."""
    import pandas
    import requests

    session, rows, page, pages = requests.Session(), [], 1, 1
    session.headers["Authorization"] = f"Bearer {token}"
    while page <= pages:
        answer = session.get(base_url + CONTACTS, params={"pageSize": SIZE, "page": page})
        answer.raise_for_status()
        result = answer.json()
        rows += result["data"]
        page, pages = page + 1, result["pagination"]["totalPages"]
    return timed(pandas.DataFrame(rows).set_index("id"))


def tasks(base_url: str, token: str) -> Any:
    """Send with the usual asyncio code."""
    import httpx
    import pandas
    from httpx_aiohttp import AiohttpTransport

    async def read() -> list[Any]:
        turns = asyncio.Semaphore(AT_ONCE)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(headers=headers, transport=AiohttpTransport()) as client:

            async def one(page: int) -> Any:
                async with turns:
                    asked = {"pageSize": SIZE, "page": page}
                    answer = await client.get(base_url + CONTACTS, params=asked)
                answer.raise_for_status()
                return answer.json()

            first = await one(1)
            others = range(2, first["pagination"]["totalPages"] + 1)
            pages = [first, *await asyncio.gather(*map(one, others))]
        return [row for page in pages for row in page["data"]]

    return timed(pandas.DataFrame(asyncio.run(read())).set_index("id"))


WHOLES = {each.__name__: each for each in (frame, requests, tasks)}


def measured(read: Callable[[], Any], rows: int) -> dict[str, float]:
    """Read twice; seconds and CPU of the second time."""
    read()
    began, used = time.perf_counter(), cpu()
    assert len(read()) == rows
    return {"s": time.perf_counter() - began, "cpu": cpu() - used}


def fill(file: Path, rows: int) -> None:
    """A sandbox file with contacts, made by the sandbox."""
    from chatkit.sandbox import Sandbox
    from chatkit.sandbox.interface import Request

    with Sandbox(file) as sandbox, sandbox._middleware.transaction() as service:
        headers = {"authorization": f"Bearer {sandbox.token}", "content-type": "application/json"}
        for at in range(rows):
            made = contact(at)
            body = {key: made[key] for key in ("number", "country_code")}
            body["name"] = f"{made['first_name']} {made['last_name']}"
            asked = Request("POST", CONTACTS, "", headers, json.dumps(body).encode())
            assert service.answer(asked).status == 201


def inside(file: Path) -> Callable[[], Any]:
    """Ours, from a sandbox in this process."""
    from chatkit import Sandbox, connect

    return connect(Sandbox(file)).contacts.frame


def columns(file: Path) -> Callable[[], Any]:
    """Our columns alone, of pages that a sandbox in this process has answered before."""
    from chatkit import Sandbox

    with Sandbox(file) as sandbox:
        headers = {"authorization": f"Bearer {sandbox.token}"}
        pages: list[bytes] = []
        number = count = 1
        while number <= count:
            url = f"{CONTACTS}?pageSize={SIZE}&page={number}"
            answer = json.loads(sandbox.answer("GET", url, headers, b"")[2])
            pages.append(json.dumps(answer["data"], ensure_ascii=False).encode())
            number, count = number + 1, answer["pagination"]["totalPages"]
    return lambda: ROADS["chatkit"]()(pages)


def main(road: str, *rest: str) -> dict[str, float]:
    """Measure one road."""
    where, rows = rest[:-1], int(rest[-1])
    if road == "fill":
        fill(Path(where[0]), rows)
        return {}
    if road in ("inside", "columns"):
        return measured((inside if road == "inside" else columns)(Path(where[0])), rows)
    return measured(lambda: WHOLES[road](*where), rows)


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):  # what is said to a person
        result = main(*sys.argv[1:])
    print(json.dumps(result))
