"""Our own sandbox, but pages rendered row by row: SQL columns to dicts, dicts to JSON.

`python rendered.py FILE` serves a file that `chatkit sandbox` has filled, and prints what
`chatkit sandbox --json` prints. Everything else is the same: so a page shows what it saves
to keep each record as the text it is answered with.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from chatkit.sandbox import Sandbox
from chatkit.sandbox.server import run

FIELDS = (
    *("id", "first_name", "middle_name", "last_name", "meta_name", "number", "country_code"),
    *("wa_phone_id", "created_at", "updated_at", "created_by", "updated_by", "ai_mode"),
)


def main(path: str) -> None:
    """Serve until SIGTERM."""
    with Sandbox(path) as sandbox:
        execute = sandbox.store.run
        columns = ", ".join(f"json_extract(item, '$.{field}') AS {field}" for field in FIELDS)
        execute(f"CREATE TEMP TABLE columns AS SELECT {columns} FROM contacts")
        execute("CREATE UNIQUE INDEX columns_by_id ON columns (id)")

        def items(ids: Sequence[int]) -> bytes:
            rows = execute(
                "SELECT * FROM columns WHERE id BETWEEN ? AND ? ORDER BY id", (ids[0], ids[-1])
            )
            # Tags are empty here; to read them from JSON would cost more still.
            dicts = [dict(zip(FIELDS, row, strict=True)) | {"tags": []} for row in rows]
            return json.dumps(dicts, ensure_ascii=False, separators=(",", ":"))[1:-1].encode()

        sandbox.service.contacts.table.items = items  # type: ignore[method-assign]

        def tell(base_url: str) -> None:
            print(json.dumps({"base_url": base_url, "token": sandbox.token}), flush=True)

        run(sandbox, on_ready=tell)


if __name__ == "__main__":
    main(sys.argv[1])
