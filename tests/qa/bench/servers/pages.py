"""A service whose accounts hold as many contacts as their id says: account 1000 has a thousand.

`python pages.py` prints its base address. A page is put together when it is asked for, so that
it holds ten million as well as ten; ids ascend from 100,000 on.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from frames import contact

ASKED = re.compile(rb"GET \S*/accounts/([0-9]+)/contacts\?(\S*) ")
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
BODY = b'{"success":true,"statusCode":200,"data":[%s],"pagination":%s}'
PAGE = b'{"page":%d,"pageSize":%d,"totalCount":%d,"totalPages":%d}'
#: Contacts as they are listed, without the digits that tell them apart.
ROWS = [
    json.dumps(contact(n) | {"id": "%d", "number": "%d"}, ensure_ascii=False)
    .replace('"id": "%d"', '"id": %d')
    .encode()
    for n in range(997)
]


def answer(head: bytes) -> bytes:
    """Answer with one page."""
    asked = ASKED.match(head)
    assert asked, head
    total, query = int(asked[1]), dict(part.split(b"=") for part in asked[2].split(b"&"))
    page, size = int(query[b"page"]), int(query[b"pageSize"])
    first = (page - 1) * size
    rows = b",".join(
        ROWS[n % len(ROWS)] % (100_000 + n, 2_000_000_000 + n)
        for n in range(first, min(first + size, total))
    )
    body = BODY % (rows, PAGE % (page, size, total, -(-total // size)))
    return HEAD % len(body) + body


class Pages(asyncio.Protocol):
    """Answers each request when its head is there: there are no bodies."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Keep the way back."""
        self.transport, self.read = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answer every request that has come to its end."""
        self.read += data
        while (end := self.read.find(b"\r\n\r\n") + 4) > 3:
            head, self.read = self.read[:end], self.read[end:]
            self.transport.write(answer(head))


async def main() -> None:
    """Serve until killed."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Pages, "127.0.0.1", 0, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
