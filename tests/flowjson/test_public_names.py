"""The names a user sees are one sorted list, and the list is true."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

from chatkit import flowjson


def test_the_list_is_sorted_and_is_what_completion_shows() -> None:
    assert flowjson.__all__ == sorted(set(flowjson.__all__))
    assert [name for name in dir(flowjson) if not name.startswith("_")] == flowjson.__all__


@pytest.mark.parametrize("name", flowjson.__all__)
def test_each_name_is_there_and_explains_itself(name: str) -> None:
    thing = getattr(flowjson, name)
    assert not isinstance(thing, ModuleType) and thing.__doc__


def test_a_wrong_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(flowjson, "no_such_name")  # noqa: B009


def run(code: str) -> str:
    """Return the output of a fresh interpreter."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def test_the_bare_import_loads_nothing_else() -> None:
    code = "import sys, chatkit.flowjson; print(*(n for n in sys.modules if 'chatkit' in n))"
    assert run(code).split() == ["chatkit", "chatkit.flowjson"]
    code = "import sys, chatkit.flowjson as f; f.lint({}); print('pydantic' in sys.modules)"
    assert run(code) == "False\n"


def test_a_function_is_a_function_whoever_imported_its_file_first() -> None:
    code = "import chatkit.flowjson.lint, chatkit.flowjson as f; print(callable(f.lint))"
    assert run(code) == "True\n"
