"""Run benches as small as can be, to see that they run: `python tests/qa/bench/smoke.py BENCH …`.

Each is a fork of this process, and so are the programs it starts: what they import is here
already, which is most of what they would do. Prints a line of JSON a bench: its name, its exit
code and what it printed.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec

os.environ["BENCH"] = "smoke"
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads is not forked

from measure import HERE, Forked

#: What the programs of several benches import.
SHARED = (
    *("aiohttp", "httpx", "httpx_aiohttp", "requests", "uvloop", "uvicorn", "starlette.routing"),
    *("msgspec", "pydantic", "sqlite3", "sqlalchemy", "phonenumbers", "openpyxl"),
    *("pandas", "pyarrow.compute", "pyarrow.parquet", "polars", "pyreqwest"),
    *("jsonschema", "fastjsonschema"),
    *(
        "chatkit.client",
        "chatkit.contacts",
        "chatkit.templates",
        "chatkit.frames.frame",
        "chatkit.api.listing",
    ),
    *("chatkit.bulk.plan", "chatkit.bulk.planner", "chatkit.bulk.apply", "chatkit.bulk.undo"),
    *("chatkit.cli", "chatkit.sandbox", "chatkit.sandbox.middleware", "chatkit.inbox"),
    *("chatkit.flowjson", "chatkit.localization", "chatkit.numbers", "chatkit.imports"),
)
TIMEOUT = 100.0


def main(benches: list[str]) -> None:
    """Run benches one after the other."""
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # jsonschema parses a grammar
    for name in SHARED:
        if find_spec(name.partition(".")[0]):
            import_module(name)
    gc.freeze()  # otherwise each fork copies most of it, at its first collection
    for bench in benches:
        with tempfile.TemporaryFile("w+") as out:
            code = Forked([str(HERE / f"{bench}.py")], out.fileno(), out.fileno()).wait(TIMEOUT)
            out.seek(0)
            print(json.dumps({"bench": bench, "code": code, "printed": out.read()}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
