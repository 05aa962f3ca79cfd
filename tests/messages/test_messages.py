"""Every message that a user can meet says what happened, where, and what to do next.

What each line of messages.txt says stands below it, which a person reads. What no line provokes is
read where it stands in the source.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import processes
import pytest
from messages.provoke import read

import chatkit
from chatkit.errors import Problem

#: Words that only this project uses, and messages of libraries.
NEVER = re.compile(
    r"(?<!here )\b(?:is|are|be|was|were) (?:no|none)\b(?! longer)|is none of|\brooms?\b|"
    r"looked at\b|with loss|refuses? itself|nowhere|\bmend\b|the law\b|the only way|cannot hurt|"
    r"\bstorm|\bweather|\bsing\b|\becho\b|in doubt\b|handover|courier|\bdesk\b|"
    r"pydantic|has no attribute '(?!lits|no_such|read_contact)|validation error|Traceback|"
    r"NoneType|<lambda>|unexpected keyword|Errno|codec can't"
)
#: The same in the texts of the source, where a word may be the name of something as well.
IN_TEXTS = re.compile(
    r"(?<!here )\b(?:is|are) (?:no|none)\b(?! longer)|is none of|is no field|looked at\b|with loss|"
    r"refuses? itself| nowhere\b|\bmend\b|the only way|cannot hurt|\brooms?\b"
)
SOURCE = Path(chatkit.__file__).parent


@pytest.fixture(scope="module")
def output() -> dict[str, str]:
    """Run the lines in a process of their own, where no other test has left runs."""
    code = "import json; from messages.provoke import everything; print(json.dumps(everything()))"
    tests = Path(__file__).parents[1]
    done = processes.run(
        [sys.executable, "-c", code], cwd=tests, stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("line", read())
def test_what_is_said_is_what_is_written_down(output: dict[str, str], line: str) -> None:
    """If it should be otherwise now: `python -m messages` in the folder tests."""
    assert output[line] == read()[line]


def test_no_message_speaks_as_only_we_do() -> None:
    assert [(line, text) for line, text in read().items() if NEVER.search(text)] == []


def _texts(file: Path) -> Iterator[str]:
    """Yield the texts of a module that are more than a word, but not its docstrings."""
    tree = ast.parse(file.read_text("utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in docs else ""
        if isinstance(text, str) and " " in text:
            yield text


def test_no_text_of_the_source_speaks_so() -> None:
    result = [
        (f.name, text) for f in SOURCE.rglob("*.py") for text in _texts(f) if IN_TEXTS.search(text)
    ]
    assert result == []


def test_the_page_of_an_error_says_what_to_do_about_each_row() -> None:
    """A frame of all that is wrong: where, what, and a next step for that place."""
    with pytest.raises(chatkit.errors.InputError) as caught:
        chatkit.read_contacts(b"Phone,Name\n4.47E+11,Ana\nnone,Cy\n447700900777,Bo\n")
    frame = caught.value.frame()
    assert list(frame.columns) == ["row", "column", "value", "reason", "next_step"]
    assert set(frame.dtypes.astype(str)) == {"str"}
    assert frame[["row", "column", "value", "next_step"]].to_numpy().tolist() == [
        ["2", "Phone", "'4.47E+11'", "write it again as text"],
        ["3", "Phone", "'none'", "write one, or leave the cell empty"],
    ]
    assert not frame.reason.str.contains("write").any()


def test_a_step_of_its_own_comes_before_the_one_of_the_error() -> None:
    result = [
        Problem("text", "1", "must be text"),
        Problem("text", "1", "must be text: write it so"),
        Problem("text", "1", "must be text", "look into the table"),
    ]
    steps = chatkit.errors.InputError("No.", result).frame().next_step.tolist()
    assert steps == ["correct it, and call again", "write it so", "look into the table"]
    assert str(chatkit.errors.InputError("No.", result[2:])).endswith(
        "text\n    -> look into the table"
    )
