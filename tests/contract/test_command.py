"""`make contract`: the facts against an account that is kept under a name."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import keyrings
import processes
import pytest

from chatkit import Client, Sandbox

ROOT = Path(__file__).parents[2]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return os.environ | {
        "CHATKIT_CONFIG": str(tmp_path / "connections.toml"),
        "PYTHON_KEYRING_BACKEND": "keyrings.FileKeyring",
        "PYTHONPATH": str(Path(keyrings.__file__).parent),
        "KEYRING_FILE": str(tmp_path / "keyring.json"),
    }


def keep(base_url: str, sandbox: Sandbox, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "chatkit", "login", "shop", "--token-stdin"]
    account = ["--base-url", base_url, "--account-id", sandbox.account_id]
    processes.run(
        [*command, *account], env=environment, input=sandbox.token, text=True, check=True,
        stdout=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip


def contract(environment: dict[str, str], *variables: str) -> subprocess.Popen[str]:
    """Start the command as make does, without its installation."""
    command = ["make", "-n", "contract", "PY=" + sys.executable, *variables]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    [line] = [part for part in lines.stdout.replace("\\\n", "").splitlines() if "confcut" in part]
    return processes.Popen(
        ["/bin/sh", "-c", "exec " + line.strip()], cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def test_an_account_is_checked_by_its_name(environment: dict[str, str]) -> None:
    with Sandbox(seed="demo") as sandbox, sandbox.serve() as base_url:
        keep(base_url, sandbox, environment)
        with Client(base_url, sandbox.account_id, sandbox.token) as client:
            before = [*client.flows.frame().index]
            runs = {}
            for variables in (("NAME=shop",), ("NAME=shop", "WRITES=1"), ("NAME=nobody",)):
                with contract(environment, *variables) as process:
                    runs[variables[-1]] = process.communicate(timeout=100)[0], process.returncode
            assert [*client.flows.frame().index] == before
    output, status = runs["NAME=shop"]
    assert status == 0, output
    assert "  64  holds    ref_id is shown by get only, and may be null." in output
    assert "-> needs WRITES=1" in output
    assert "0 DIFFERS" in output
    output, status = runs["WRITES=1"]
    assert status == 0, output
    assert "-> needs WRITES=1" not in output
    assert "-> needs access tokens with other permissions" in output
    assert "contacts that were created stay stored, inactive" in output
    output, status = runs["NAME=nobody"]
    assert status == 2
    assert "nobody" in output
    assert not [output for output, _ in runs.values() if sandbox.token in output]


def test_an_interrupt_removes_what_was_created(environment: dict[str, str]) -> None:
    with Sandbox(seed="demo") as sandbox, sandbox.serve() as base_url:
        keep(base_url, sandbox, environment)
        sandbox.faults(latency=0.02)
        with Client(base_url, sandbox.account_id, sandbox.token) as client:
            before = [*client.flows.frame().index]
            with contract(environment, "NAME=shop", "WRITES=1") as process:
                while process.poll() is None and [*client.flows.frame().index] == before:
                    pass
                process.send_signal(signal.SIGINT)
                output = process.communicate(timeout=100)[0]
            assert process.returncode == 2, output
            assert [*client.flows.frame().index] == before
