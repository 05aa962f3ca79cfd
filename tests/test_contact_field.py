"""Changes on a copy of the package: which files a new field and a new resource touch.

A new field of a contact is two declarations: the client's and the sandbox's. Frames, plans, forms,
checks, undo and the OpenAPI document know it from there. A fifth resource is a module of its own
and its place in the registry: plans, undo, folders, comparisons and the plan of an account know it
from there. The sandbox declares its resources for itself, in the same way; routes, permissions,
the OpenAPI document and copies of an account know it from there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import chatkit

CHANGES = tomllib.loads(Path(__file__).with_name("changes.toml").read_text("utf-8"))


def used(place: Path, change: dict[str, Any]) -> Any:
    """Return what a program prints with a copy of the package that is changed so."""
    copied = place / "chatkit"
    shutil.copytree(
        Path(chatkit.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__")
    )
    for file, text in change.get("new", {}).items():
        (copied / file).write_text(text, "utf-8")
    for edit in change["edits"]:
        text = (copied / edit["file"]).read_text("utf-8")
        assert text.count(edit["after"]) == 1, edit
        text = text.replace(edit["after"], edit["after"] + edit["more"])
        (copied / edit["file"]).write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", change["use"]["program"]],
        cwd=place, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", CHANGES)
def test_a_new_field_and_a_new_resource_are_few_declarations(name: str, tmp_path: Path) -> None:
    assert used(tmp_path, CHANGES[name]) == json.loads(CHANGES[name]["use"]["prints"])
    assert len({edit["file"] for edit in CHANGES[name]["edits"]}) == 2
