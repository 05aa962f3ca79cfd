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


def contract(environment: dict[str, str], *variables: str) -> subprocess.Popen[str]:
    """Start the command as make does, without its installation."""
    command = ["make", "-n", "contract", "PY=" + sys.executable, *variables]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    [line] = [part for part in lines.stdout.replace("\\\n", "").splitlines() if "confcut" in part]
    return processes.Popen(
        ["/bin/sh", "-c", "exec " + line.strip()], cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


@pytest.mark.timeout(400)  # only what hangs ends there, however busy the machine
def test_an_account_is_checked_by_its_name_and_nothing_stays_there(
    environment: dict[str, str],
) -> None:
    runs = {}
    with Sandbox(seed="demo") as sandbox, sandbox.serve() as base_url:
        login = [sys.executable, "-m", "chatkit", "login", "shop", "--token-stdin"]
        processes.run(
            [*login, "--base-url", base_url, "--account-id", sandbox.account_id],
            env=environment, input=sandbox.token, text=True, check=True,
            stdout=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
        with Client(base_url, sandbox.account_id, sandbox.token) as client:
            before = [*client.flows.frame().index]
            for variables in (("NAME=shop",), ("NAME=shop", "WRITES=1"), ("NAME=nobody",)):
                with contract(environment, *variables) as process:
                    runs[variables[-1]] = process.communicate(timeout=100)[0], process.returncode
            assert [*client.flows.frame().index] == before
            sandbox.faults(latency=0.02)
            with contract(environment, "NAME=shop", "WRITES=1") as process:
                while process.poll() is None and [*client.flows.frame().index] == before:
                    pass
                process.send_signal(signal.SIGINT)
                runs["interrupted"] = process.communicate(timeout=100)[0], process.returncode
            assert [*client.flows.frame().index] == before
    for name, status, texts, others in (
        ("NAME=shop", 0, ["  64  holds    ref_id is shown by get only, and may be null.",
                          "-> needs WRITES=1", "0 DIFFERS"], []),
        ("WRITES=1", 0, ["-> needs access tokens with other permissions",
                         "contacts that were created stay stored, inactive"], ["needs WRITES=1"]),
        ("NAME=nobody", 2, ["nobody"], []),
        ("interrupted", 2, [], []),
    ):  # fmt: skip
        output, ended = runs[name]
        assert ended == status, output
        assert all(text in output for text in texts), output
        assert not any(text in output for text in [*others, sandbox.token])
