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


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after running the code."""
    command = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return set(done.stdout.split())


def test_the_bare_import_loads_nothing_heavy() -> None:
    loaded = loaded_by("import chatkit") - loaded_by("pass")
    assert not HEAVY & loaded
    assert {name for name in loaded if name.startswith("chatkit")} == {"chatkit"}


def test_a_client_of_a_live_account_never_loads_the_sandbox() -> None:
    loaded = loaded_by("import chatkit; chatkit.Client")
    assert "chatkit.client" in loaded
    assert not {name for name in loaded if name.startswith("chatkit.sandbox")}


def test_a_fleet_loads_dask_only_when_a_cluster_is_named() -> None:
    loaded = loaded_by("import chatkit; chatkit.connect_all; import chatkit.account.fleet_plan")
    assert "chatkit.account.fleet_plan" in loaded
    assert not {"dask", "distributed", "psycopg"} & loaded
