"""Run the lines of `CASES`, and write down what a user reads of each."""

from __future__ import annotations

import io
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from messages.cases import CASES

SNAPSHOT = Path(__file__).with_name("messages.txt")
NAME = {"type": "string", "__example__": "Ana"}
_HEAD = """What users read of their mistakes: what happened, where, and what to do next.
Made by `python -m messages` in the folder tests; compared by tests/messages/test_messages.py.
"""


@contextmanager
def surroundings() -> Iterator[tuple[dict[str, Any], Path]]:
    """Make what the lines use: clients, frames, documents, and a folder of files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = {n: v for n, v in os.environ.items() if not n.startswith("CHATKIT_")}
        kept |= {"CHATKIT_DATA": str(folder / "data"), "CHATKIT_CONFIG": str(folder / "none.toml")}
        # All tries are made, one soon after the other: none ends at a deadline in between.
        hurried = SimpleNamespace(uniform=lambda low, high: 0.01)
        with (
            mock.patch.dict(os.environ, kept, clear=True),
            mock.patch("chatkit.api.retry.random", hurried),
        ):
            yield from _made(folder)


def _made(folder: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    import pandas as pd
    from bulk.journalling import created, run_sql

    import chatkit
    from chatkit import flowjson
    from chatkit.bulk.journal import FolderStore

    store = FolderStore(folder / "data" / "runs")
    for day in range(1, 7):
        created(store, run=f"1998-11-0{day}").close()
    run_sql(store, "UPDATE chatkit_run SET header = '{'")
    (folder / "spoilt").mkdir()
    (folder / "spoilt" / store.path.name).write_text("hello", "utf-8")
    (folder / "bad.csv").write_text("Phone,Name\n+44 7700 900777,Ana\n12,Bo\nnone,Cy\n", "utf-8")
    (folder / "nothing.csv").write_text("", "utf-8")
    (folder / "names.csv").write_text("Name,Town\nAna,Rome\n", "utf-8")
    (folder / "plain.csv").write_text("Colour,Size\nred,7\n", "utf-8")
    (folder / "plain.txt").write_text("hello", "utf-8")
    _write_faulty_files(folder)
    plain_profile = chatkit.ServiceProfile(search_param="", status_param="")
    other = chatkit.Sandbox(seed="demo")
    with (
        redirect_stdout(io.StringIO()),
        chatkit.connect(chatkit.Sandbox(seed="demo")) as client,
        chatkit.connect(chatkit.Sandbox(profile=plain_profile)) as plain,
        chatkit.connect(other) as others,
        chatkit.Inbox(folder / "inbox.sqlite") as inbox,
        chatkit.Sandbox(seed="demo") as far,
        far.serve() as base_url,
    ):
        _receive(folder)

        def served(*permissions: str, **arguments: Any) -> chatkit.Client:
            """Open the account of a service, with a token that may do this."""
            token = far.make_token(*permissions) if permissions else far.token
            passed = {"account_id": far.account_id, "token": token, "deadline": 20.0} | arguments
            return chatkit.Client(base_url, **passed)

        def faulty(deadline: float = 20.0, **rates: Any) -> chatkit.Client:
            """Open the account of a service whose calls go wrong."""
            far.faults(**rates)
            return served(deadline=deadline)

        two = flow(("FIRST", "LAST"))
        reading = {**two["screens"][0], "title": "Hi ${data.nam}", "data": {"name": NAME}}
        yield (
            {
                "BACKWARD_AND_MORE": {
                    **flow(("FIRST", "NONE"), ("SECOND", "FIRST"), ("FIRST", "SECOND")),
                    "data_api_version": "2.0",
                },
                "REFERENCES": {**two, "screens": [reading, *two["screens"][1:]]},
                "BACKWARD": flow(("FIRST", "SECOND"), ("SECOND", "THIRD"), ("THIRD", "FIRST")),
                "DOCUMENT": flow(("FIRST", "LAST")),
                "NO_END": flow(("FIRST", "SECOND"), ends=False),
                "OLD": {**flow(("FIRST", "LAST"), version="6.0"), "data_api_version": "4.0"},
                "Path": Path,
                "chatkit": chatkit,
                "client": client,
                "contacts": client.contacts.frame(),
                "flowjson": flowjson,
                "flows": client.flows.frame(),
                "folder": folder,
                "faulty": faulty,
                "inbox": inbox,
                "OLIVER": {"number": "7700900000", "country_code": "+44"},
                "REPAIR": {"name": "Book a repair", "template_name": "default"},
                "frame_of": frame_of,
                "many": lambda document: [
                    {"name": f"Flow {n}", "template_name": "default", "flow_json": document}
                    for n in range(1, 11)
                ],
                "served": served,
                "pd": pd,
                "others": others,
                "plain": plain,
                "theirs": others.contacts.frame(),
            },
            folder,
        )


def _receive(folder: Path) -> None:
    """Store a delivery of one contact, and one of two, in the inbox."""
    from inbox.bodies import BEN, keep, message, written

    from chatkit.inbox.store import InboxStore

    with closing(InboxStore(folder / "inbox.sqlite")) as store:
        both = written(message(1), message(2, who=BEN), named=False)
        keep(store, written(message(0), named=False), both)


def _write_faulty_files(folder: Path) -> None:
    """Write files that somebody took for a table of contacts, and tables with a fault."""
    rows = b"Phone,Name\n+44 7700 900777,Zo\xe9\n"
    for name, content in {
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(20),
        "photo.jpg": b"\xff\xd8\xff\xe0" + bytes(20),
        "table.pdf": b"%PDF-1.7",
        "old.xls": b"\xd0\xcf\x11\xe0" + bytes(20),
        "packed.csv.gz": b"\x1f\x8b" + bytes(20),
        "broken.xlsx": b"PK\x03\x04" + bytes(20),
        "broken.parquet": b"PAR1" + bytes(20),
        "program.exe": b"\x7fELF\x02\x01\x01" + bytes(20),
        "contacts.sqlite": b"SQLite format 3\0" + bytes(20),
        "cut.csv": b'Phone,Name\n+447700900777,"Ana\n',
        "untitled.csv": b"+447700900777,Ana\n+447700900778,Bo\n",
        "twice.csv": b"Phone,Name,Name\n+447700900777,Ana,Bo\n",
        "other.csv": b"Assistant's phone,Name\n+447700900777,Ana\n",
        "lost.csv": b"Phone,Name\n4.477E+11,Ana\n447700900777.0,Bo\n",
        "latin.csv": rows,
        "edited.json": b'{"hash": "0", "fleet": null, "plans": []}',
    }.items():
        (folder / name).write_bytes(content)
    import pandas as pd

    pd.DataFrame({"Phone": ["+447700900777"]}).to_excel(folder / "book.xlsx", index=False)


def frame_of(method: Callable[..., Any], *args: Any, **fields: Any) -> str:
    """Show the frame of the error that a call raises, a column for each line."""
    try:
        with redirect_stdout(io.StringIO()):
            method(*args, **fields)
    except ValueError as error:
        rows = error.frame().to_dict("records")  # type: ignore[attr-defined]
        return "\n".join("; ".join(f"{n}: {v}" for n, v in row.items() if v == v) for row in rows)
    return ""


def flow(*routes: tuple[str, str], ends: bool = True, version: str = "7.3") -> dict[str, Any]:
    """Make a flow document with an endpoint whose screens lead to each other in this way."""
    names = list(dict.fromkeys(name for route in routes for name in route))
    model = {name: [to for source, to in routes if source == name] for name in names}
    screens = []
    for name in names:
        action: dict[str, Any] = {"name": "data_exchange", "payload": {}}
        footer = {"type": "Footer", "label": "Next", "on-click-action": action}
        screen = {
            "id": name,
            "title": name.title(),
            "layout": {"type": "SingleColumnLayout", "children": [footer]},
        }
        if ends and name == names[-1]:
            screen["terminal"] = True
        screens.append(screen)
    return {
        "version": version,
        "data_api_version": "3.0",
        "routing_model": model,
        "screens": screens,
    }


def output_of(line: str, names: dict[str, Any], folder: Path) -> str:
    """Run one line, and return what its user reads: the error, warnings, what is printed."""
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as warned, redirect_stdout(printed):
        warnings.simplefilter("always")
        try:
            result = eval(line, names)
            ours = isinstance(result, str) or type(result).__module__.startswith("chatkit")
            last = str(result) if ours else ""
        except Exception as error:  # noqa: BLE001  whatever it is, a user would read it
            last = f"{type(error).__name__}: {error}"
    parts = [f"Warning: {each.message}" for each in warned]
    text = (
        "\n".join(filter(None, [printed.getvalue().strip(), *parts, last])) or "(nothing is said)"
    )
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r"`\S+ -m chatkit ", "`chatkit ", text)
    text = re.sub(r"127\.0\.0\.1:\d{4,}", "127.0.0.1:PORT", text)
    # Which of the server errors comes last is the choice of the sandbox.
    text = re.sub(r"\b50\d A fault", "5xx A fault", text)
    text = re.sub(r"\b[0-9a-f]{32}\b", "ID", text.replace(str(folder), "FOLDER"))
    return "\n".join(each.rstrip() for each in text.splitlines() if each.strip())


def everything() -> dict[str, str]:
    """Run all lines."""
    with surroundings() as (names, folder):
        return {line: output_of(line, names, folder) for lines in CASES.values() for line in lines}


def written(outputs: dict[str, str]) -> str:
    """Write the outputs, part by part."""
    parts = [_HEAD]
    for part, lines in CASES.items():
        parts.append(f"\n=== {part} ===\n")
        parts += [f">>> {line}\n{outputs[line]}\n" for line in lines]
    return "\n".join(parts)


def read() -> dict[str, str]:
    """Read what is written down, by line."""
    text = re.sub(r"\n=== .* ===\n", "", SNAPSHOT.read_text("utf-8"))
    entries = [each.partition("\n") for each in re.split(r"(?m)^>>> ", text)[1:]]
    return {line: output.strip() for line, _, output in entries}
