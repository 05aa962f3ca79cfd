"""A pull that is killed leaves the folder as it was or as it is to be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from volume import FULL

SCRIPT = Path(__file__).with_name("pull_kills.py")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL and no fork")
def test_a_pull_that_is_killed_leaves_the_old_folder_or_the_new(tmp_path: Path) -> None:
    each = 1 if FULL else 11  # a kill at every touch of a file, or at some of them
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), str(each)],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    result = json.loads(done.stdout)
    assert result["half"] == []
    assert result["old"] > 1
    assert result["new"] + result["interrupted"] > 2
