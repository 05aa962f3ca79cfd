"""`chatkit pull`, `diff`, `plan`, `apply` and `restore`, as a person and a pipeline call them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import processes
import pytest

import chatkit
from chatkit.cli import main

CODES = ["order_ready", "rental_reminder"]
VARIABLES = ("BASE_URL", "ACCOUNT_ID", "TOKEN", "TOKEN_FILE", "CONNECTION", "DATA")


class Served(NamedTuple):
    """A sandbox that is served over HTTP, and how a command finds it."""

    sandbox: chatkit.Sandbox
    access: str
    base_url: str

    def client(self) -> Any:
        return chatkit.connect(self.access)

    def writes(self) -> list[str]:
        """The calls that change something, which it has answered."""
        log = self.sandbox.middleware.log
        return [f"{one.method} {one.path}" for one in log if one.method != "GET"]


@pytest.fixture
def accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Served, Served]]:
    for name in VARIABLES:
        monkeypatch.delenv(f"CHATKIT_{name}", raising=False)
    monkeypatch.setenv("CHATKIT_CONFIG", str(tmp_path / "connections.toml"))
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))
    with ExitStack() as stack:
        found = []
        for name in ("left", "right"):
            sandbox = stack.enter_context(chatkit.Sandbox(seed="demo"))
            base_url = stack.enter_context(sandbox.serve())
            file = tmp_path / f"{name}.access"
            sandbox.keep_access(base_url, file)
            found.append(Served(sandbox, str(file), base_url))
        yield found[0], found[1]


def environment(one: Served) -> dict[str, str]:
    return os.environ | {
        "CHATKIT_BASE_URL": one.base_url,
        "CHATKIT_ACCOUNT_ID": one.sandbox.account_id,
        "CHATKIT_TOKEN": one.sandbox.token,
    }


def run(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, without a terminal."""
    return processes.run(
        [sys.executable, "-m", "chatkit", *arguments],
        input="", env=env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


# --- diff -----------------------------------------------------------------------------------


def test_diff_ends_as_diff_does(
    accounts: tuple[Served, Served], capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = accounts
    arguments = ["diff", left.access, right.access, "--templates", *CODES]
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("No difference between ")
    with right.client() as client:
        client.templates("order_ready").update("de", footer="Bis bald")
    capsys.readouterr()
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert '"Larkspur Cycles" → "Bis bald"' in out
    assert "Connected to" not in out and "Connected to" in err
    assert main([*arguments, "--json"]) == 1
    [row] = json.loads(capsys.readouterr().out)
    assert row == {
        "resource": "content", "key": "order_ready/de", "field": "footer", "what": "changed",
        "left": "Larkspur Cycles", "right": "Bis bald",
    }  # fmt: skip


@pytest.mark.parametrize("other", ["no/such/folder", "staging", "environment", "no.access"])
def test_trouble_is_told_in_a_line_and_has_a_status_of_its_own(
    accounts: tuple[Served, Served], other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", accounts[0].access, other]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "chatkit: " in err and "Traceback" not in err


def test_contacts_are_compared_when_they_are_asked_for(
    accounts: tuple[Served, Served], capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = accounts
    with right.client() as client:
        client.contacts.update(50002, name="Zoe Quinn")
    assert main(["diff", left.access, right.access]) == 0
    assert main(["diff", left.access, right.access, "--contacts"]) == 1
    assert "Zoe Quinn" in capsys.readouterr().out
