"""The fastest server that can be had here: every create has an id of its own, lists are empty.

`python fast.py [SECONDS]` prints its base address; SECONDS of latency before each answer.
It keeps nothing: what was created is in no list.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count

HEAD = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
BODY = b'{"success":true,"statusCode":201,"message":"Contact created","data":{"id":%d}}'
FIRST = 10**9  # all ids are equally long, so that only they differ between two answers
CREATED = HEAD % (b"201 Created", len(BODY % FIRST), BODY)
PAGE = b'{"page":1,"pageSize":100,"totalCount":0,"totalPages":0}'
LIST = b'{"success":true,"statusCode":200,"data":[],"pagination":%s}' % PAGE
NOTHING = HEAD % (b"200 OK", len(LIST), LIST)
LENGTH = b"content-length:"
LATENCY = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
IDS = count(FIRST)


class Contacts(asyncio.Protocol):
    """Reads heads and bodies only as far as it must to tell where a request ends."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Keep the way back."""
        self.transport, self.read = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answer every request that has come to its end."""
        self.read += data
        while (end := self.read.find(b"\r\n\r\n") + 4) > 3:
            head = self.read[:end].lower()
            if (at := head.find(LENGTH)) >= 0:
                end += int(head[at + len(LENGTH) : head.index(b"\r", at)])
            if len(self.read) < end:
                return
            self.read = self.read[end:]
            answer = NOTHING if head.startswith(b"get") else CREATED % next(IDS)
            if LATENCY:
                asyncio.get_running_loop().call_later(LATENCY, self.transport.write, answer)
            else:
                self.transport.write(answer)


async def main() -> None:
    """Serve until killed."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Contacts, "127.0.0.1", 0, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
