"""Every message that a user can meet says what happened, where, and what to do next.

What each line of `messages.cases` says stands in messages.txt, which a person reads.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import processes
import pytest
from messages.cases import CASES
from messages.provoke import read

LINES = [line for lines in CASES.values() for line in lines]
#: What nobody outside this house says, and what libraries say for themselves.
NEVER = re.compile(
    r"\brooms?\b|is no field|not looked at|with loss|refuses itself|nowhere|pydantic|"
    r"has no attribute '(?!lits|no_such)|validation error|Traceback|NoneType|<lambda>"
)


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """Run the lines in a process of their own, where no other test has left runs."""
    code = "import json; from messages.provoke import everything; print(json.dumps(everything()))"
    tests = Path(__file__).parents[1]
    done = processes.run(
        [sys.executable, "-c", code], cwd=tests, stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(done.stdout)


def test_the_snapshot_holds_every_line_and_no_other() -> None:
    assert list(read()) == LINES
    assert len(LINES) >= 120


@pytest.mark.parametrize("line", LINES)
def test_what_is_said_is_what_is_written_down(said: dict[str, str], line: str) -> None:
    """If it should be otherwise now: `python -m messages` in the folder tests."""
    assert said[line] == read()[line]


def test_no_message_speaks_as_only_we_do() -> None:
    assert [(line, text) for line, text in read().items() if NEVER.search(text)] == []
