"""`chatkit pull`, `diff`, `plan`, `apply`, `restore`, `runs`, `resume` and `undo` in a terminal."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import processes
import pytest
from internals import middleware_of
from terminals import answered

import chatkit
from chatkit.cli import main

SESSIONS = dict(
    re.findall(
        r"^== (.+)\n((?:.+\n)+)",
        (Path(__file__).parent / "cases" / "commands.txt").read_text("utf-8"),
        re.MULTILINE,
    )
)
VARIABLES = ("BASE_URL", "ACCOUNT_ID", "TOKEN", "TOKEN_FILE", "CONNECTION", "DATA")
#: What nobody can type into a terminal.
PYTHON = re.compile(
    r"chatkit\.(?!connect\b)[a-z]+\b(?!\.|json)|\bclient\.|\bplan\.[a-z]+\(|=True|\b[a-z]+= "
)


@pytest.fixture
def accounts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[chatkit.Sandbox, chatkit.Sandbox]]:
    """Two accounts that are served, with left.access and right.access in the folder of a test."""
    for name in VARIABLES:
        monkeypatch.delenv(f"CHATKIT_{name}", raising=False)
    monkeypatch.setenv("CHATKIT_CONFIG", str(tmp_path / "connections.toml"))
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        sandboxes = []
        for name in ("left", "right"):
            sandbox = stack.enter_context(chatkit.Sandbox(seed="demo"))
            base_url = stack.enter_context(sandbox.serve())
            sandbox._write_access_file(base_url, tmp_path / f"{name}.access")
            sandboxes.append(sandbox)
        yield sandboxes[0], sandboxes[1]


def writes(sandbox: chatkit.Sandbox) -> list[str]:
    """The calls that change something, which it has answered."""
    log = middleware_of(sandbox).log
    return [f"{one.method} {one.path}" for one in log if one.method != "GET"]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_goes_as_it_is_written(
    name: str,
    accounts: tuple[chatkit.Sandbox, chatkit.Sandbox],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sandboxes = dict(zip(("left", "right"), accounts, strict=True))
    clients = {edge: chatkit.connect(f"{edge}.access") for edge in sandboxes}
    by_client = {id(clients[edge]): sandboxes[edge] for edge in sandboxes}

    def content() -> Path:
        return Path("shop/templates/order_ready/de.json")

    def edit(old: str, new: str) -> None:
        content().write_text(content().read_text("utf-8").replace(old, new), "utf-8")

    def variables(client: Any) -> None:
        monkeypatch.setenv("CHATKIT_BASE_URL", client.connection.base_url)
        monkeypatch.setenv("CHATKIT_ACCOUNT_ID", client.connection.account_id)
        monkeypatch.setenv("CHATKIT_TOKEN", by_client[id(client)].token)

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@b.example")
        subprocess.run(["git", "-C", "shop", *who, *arguments], check=True, timeout=60)

    def damage(journal: Path) -> None:
        journal.write_bytes(b"x" * 5000)

    known: dict[str, Any] = {
        **clients, "writes": lambda client: writes(by_client[id(client)]), "content": content,
        "edit": edit, "variables": variables, "git": git, "Path": Path, "json": json, "os": os,
        "chatkit": chatkit, "damage": damage, "stat": stat, "out": "", "err": "",
    }  # fmt: skip
    run = ""
    for line in SESSIONS[name].splitlines():
        mark, _, text = line.partition(" ")
        if mark == "$":
            capsys.readouterr()
            status, _, typed = text.partition(" ")
            ended = main(shlex.split(typed.replace("RUN", run or "RUN", 1)))
            known["out"], known["err"] = capsys.readouterr()
            output = known["out"] + known["err"]
            assert ended == int(status), f"{line}\n{output}"
            assert not PYTHON.search(output), f"{line}\n{output}"
            assert "Traceback" not in output
            assert not [one for one in accounts if one.token in output]
            if begun := re.search(r"chatkit undo (\S+)` takes it back", known["err"]):
                run = run or begun[1]
        elif mark in "<!":
            where = known["out" if mark == "<" else "err"]
            assert text.replace("\\n", "\n") in where, f"{line}\n{known['out']}\n{known['err']}"
        elif mark == ">":
            exec(text, known)
        else:
            assert mark == "?" and eval(text, known), line
    for client in clients.values():
        client.close()


def test_after_a_kill_the_same_command_goes_on(
    accounts: tuple[chatkit.Sandbox, chatkit.Sandbox],
) -> None:
    left, _ = accounts
    with chatkit.connect("left.access") as client:
        frame = client.contacts.frame().head(40)[["name"]].assign(name="Zoe Quinn")
        client.contacts.plan(frame).save("plan.json")
    left.faults(latency=0.05)
    with processes.Popen(
        [sys.executable, "-m", "chatkit", "apply", "plan.json", "left.access", "--yes"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=dict(os.environ),
    ) as process:  # fmt: skip
        while len(writes(left)) < 5 and process.poll() is None:
            time.sleep(0.01)
        process.kill()
    left.faults()
    assert 5 <= len(writes(left)) < 40
    assert main(["apply", "plan.json", "left.access", "--yes"]) == 0
    with chatkit.connect("left.access") as client:
        assert client.contacts.frame().head(40).name.eq("Zoe Quinn").all()


@pytest.mark.skipif(os.name != "posix", reason="a terminal of POSIX")
def test_in_a_terminal_it_asks_and_shows_a_signing_secret_once(
    accounts: tuple[chatkit.Sandbox, chatkit.Sandbox],
) -> None:
    left, _ = accounts
    with chatkit.connect("right.access") as client:
        client.webhooks.create(url="https://hooks.example.com/new", events=["*"])
    assert main(["pull", "shop", "right.access"]) == 0
    command = [sys.executable, "-m", "chatkit", "restore", "shop", "left.access"]
    status, message = answered(command, ("[y/N]: ", "n"), env=os.environ | {"COLUMNS": "100"})
    assert (status, writes(left)) == (1, [])
    assert "Apply this to left.access? [y/N]: " in message
    status, message = answered(command, ("[y/N]: ", "y"), env=os.environ | {"COLUMNS": "100"})
    assert (status, len(writes(left))) == (0, 1)
    assert re.search(
        r"Signing secret of https://hooks\.example\.com/new, shown only now: \w+", message
    )
    assert main(["diff", "shop", "left.access"]) == 0
