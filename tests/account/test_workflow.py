"""The workflow that people copy: a plan as a comment on a pull request, applied on merge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from internals import middleware_of

import chatkit
from chatkit.cli import main

FILE = Path(__file__).parents[2] / "notebooks" / "account.yml"
WORKFLOW: dict[Any, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
PLAN, APPLY = WORKFLOW["jobs"]["plan"], WORKFLOW["jobs"]["apply"]


def steps(job: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {step["name"]: step for step in job["steps"] if "name" in step}


def test_nothing_of_a_fork_is_run_with_the_token() -> None:
    assert "pull_request_target" not in FILE.read_text(encoding="utf-8")
    assert "head.repo.full_name == github.repository" in PLAN["if"]
    for job in (PLAN, APPLY):
        report = [step for step in job["steps"] if "secrets." in json.dumps(step)]
        assert [step["name"] for step in report] in (["Plan"], ["Apply it"])
        assert "secrets." not in json.dumps(job.get("env", {}))
    assert "secrets." not in json.dumps(WORKFLOW["env"])


def test_no_text_of_a_pull_request_stands_in_a_command() -> None:
    for job in (PLAN, APPLY):
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")


def test_it_may_write_a_comment_and_nothing_else() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    for job in (PLAN, APPLY):
        writes = [name for name, may in job["permissions"].items() if may == "write"]
        assert writes == (["pull-requests"] if job is PLAN else [])


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[chatkit.Sandbox]:
    """A served sandbox as the account of the variables, and its folder as it was pulled."""
    with chatkit.Sandbox(seed="demo") as sandbox, sandbox.serve() as base_url:
        monkeypatch.chdir(tmp_path)
        for name in ("TOKEN_FILE", "CONNECTION"):
            monkeypatch.delenv(f"CHATKIT_{name}", raising=False)
        monkeypatch.setenv("CHATKIT_CONFIG", str(tmp_path / "connections.toml"))
        monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))
        monkeypatch.setenv("CHATKIT_BASE_URL", base_url)
        monkeypatch.setenv("CHATKIT_ACCOUNT_ID", sandbox.account_id)
        monkeypatch.setenv("CHATKIT_TOKEN", sandbox.token)
        assert main(["pull", "shop/", "environment", "--templates", "order_ready"]) == 0
        yield sandbox


def shell(step: dict[str, Any], tools: Path) -> subprocess.CompletedProcess[str]:
    """Run what a step runs, as the runner does, with commands of our own in front."""
    environment = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "NUMBER": "7"}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env=os.environ | environment | {"RUNNER_TEMP": str(tools.parent / "runner")},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="the runner of the workflow is Linux")
def test_its_commands_plan_comment_and_apply(account: chatkit.Sandbox, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tmp_path / "runner").mkdir()
    program = f"#!/bin/sh\nexec '{sys.executable}' -m chatkit \"$@\"\n"
    (tools / "chatkit").write_text(program, "utf-8")
    (tools / "gh").write_text(
        '#!/bin/sh\nfor last; do :; done\ncp "$last" comment.posted\n', "utf-8"
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    file = tmp_path / "shop" / "templates" / "order_ready" / "de.json"
    file.write_text(file.read_text("utf-8").replace("Larkspur Cycles", "Bis bald"), "utf-8")

    planned = shell(steps(PLAN)["Plan"], tools)
    assert planned.returncode == 0, planned.stderr
    assert shell(steps(PLAN)["Show the plan, also one that something stops"], tools).returncode == 0
    comment = (tmp_path / "comment.posted").read_text("utf-8")
    assert comment.startswith("### Plan for the account: 1 content.\n")
    assert '→ "Bis bald"' in comment
    assert all(call.method == "GET" for call in middleware_of(account).log)

    (tmp_path / "runner/plan").mkdir()  # where the other job downloads it
    (tmp_path / "runner/plan.json").rename(tmp_path / "runner/plan/plan.json")
    applied = shell(steps(APPLY)["Apply it"], tools)
    assert applied.returncode == 0, applied.stderr
    assert account.token not in applied.stdout + applied.stderr + comment
    assert main(["diff", "shop/", "environment"]) == 0
    assert sum(call.method != "GET" for call in middleware_of(account).log) == 1
