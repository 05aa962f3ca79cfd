"""A service with a true limit of calls in any second, which refuses some more by chance.

`python limited.py LIMIT FORM` prints its base address. LIMIT 0 is none; FORM is what a 429 says:
`nothing`, or Retry-After in `seconds`, or as a `date`. `GET /stray/SHARE` sets how many are
refused by chance from then on, the
same ones each time. `GET /counts` answers `[429s, late]`: all 429s until now, and the
most calls that came while one 429 had asked to wait (those under way, 0.1 s, left out).
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import sys
import time
from collections import deque
from email.utils import formatdate

LIMIT, FORM = int(sys.argv[1]), sys.argv[2]
LATENCY, UNDER_WAY = 0.05, 0.1
HEAD = "HTTP/1.1 %s\r\ncontent-type: application/json\r\ndate: %s\r\n%scontent-length: %d\r\n\r\n%s"
CREATED = '{"success":true,"statusCode":201,"message":"Contact created","data":{"id":50001}}'


class Service:
    """The state that all connections share."""

    def __init__(self) -> None:
        self.stray, self.chance = 0.0, random.Random(7)
        self.taken: deque[float] = deque()
        self.waits: list[tuple[float, float, int]] = []  # from, to, calls that came in between
        self.count = self.late = 0

    def answer(self, target: str) -> str:
        """Answer a request."""
        if target.startswith("/stray/"):
            self.stray, self.chance = float(target.split("/")[2]), random.Random(7)
            return self.write("200 OK", "", "{}")
        if target == "/counts":
            return self.write("200 OK", "", json.dumps([self.count, self.late]))
        now = time.time()
        while self.taken and self.taken[0] <= now - 1:
            self.taken.popleft()
        full = LIMIT and len(self.taken) >= LIMIT
        self.waits = [
            (start, end, calls + (now > start)) for start, end, calls in self.waits if now < end
        ]
        self.late = max([self.late, *(calls for _, _, calls in self.waits)])
        if not full and self.chance.random() >= self.stray:
            self.taken.append(now)
            return self.write("201 Created", "", CREATED)
        self.count += 1
        need = self.taken[0] + 1 - now if full else 1.0
        report = "" if FORM == "nothing" else f"{math.ceil(need)}"
        if FORM == "date":
            report = formatdate(math.ceil(now + need), usegmt=True)
        if report:
            self.waits.append((now + UNDER_WAY, now + need, 0))
        return self.write("429 Too Many Requests", report and f"retry-after: {report}\r\n", "{}")

    def write(self, status: str, fields: str, body: str) -> str:
        """Write an answer."""
        return HEAD % (status, formatdate(usegmt=True), fields, len(body), body)


async def main() -> None:
    """Serve until killed."""
    service = Service()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            fields = head.decode("latin-1").lower().split("\r\n")
            length = next((f[15:] for f in fields if f.startswith("content-length:")), "0")
            await reader.readexactly(int(length))
            answer = service.answer(fields[0].split()[1])
            await asyncio.sleep(LATENCY)
            writer.write(answer.encode())

    async def serve_until_closed(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve_until_closed, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
