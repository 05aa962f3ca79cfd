"""`import chatkit` loads next to nothing; what is heavy comes when it is first used.

How little time that takes is shown by `make bench`; here stands what must not be loaded.
"""

from __future__ import annotations

import subprocess
import sys

HEAVY = {
    *("aiohttp", "httpx", "msgspec", "pydantic", "uvicorn"),
    *("anywidget", "ipywidgets", "pandas", "pyarrow", "tqdm"),
    *("asyncio", "keyring", "phonenumbers", "sqlite3"),
}


STAGES = (
    "import chatkit",
    "chatkit.Client",
    "chatkit.connect_all; import chatkit.account.fleet_plan",
)


def test_each_import_loads_what_is_needed_for_it_and_no_more() -> None:
    program = ["import sys; before = set(sys.modules)"]
    for stage in STAGES:
        program += [stage, "print(*{*sys.modules} - before)"]
    command = [sys.executable, "-c", "\n".join(program)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    bare, client, fleet = (set(line.split()) for line in done.stdout.splitlines())
    assert not HEAVY & bare
    assert {name for name in bare if name.startswith("chatkit")} == {"chatkit"}
    assert "chatkit.client" in client
    assert not {name for name in client if name.startswith("chatkit.sandbox")}
    assert "chatkit.account.fleet_plan" in fleet
    assert not {"dask", "distributed", "psycopg"} & fleet, "only when a cluster is named"
