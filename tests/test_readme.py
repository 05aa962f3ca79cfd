"""Tests that run the examples of README and docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
import test_onboarding
from browser.pictures import IMAGES, PICTURES

import chatkit

README = Path(__file__).parents[1] / "README.md"
PAGES = sorted((README.parent / "docs" / "pages").glob("*.md"))
CONTRIBUTING = README.parent / ".github" / "CONTRIBUTING.md"
MODULES = [
    "chatkit",
    *(
        module.name
        for module in pkgutil.walk_packages(chatkit.__path__, "chatkit.")
        if not module.name.endswith("__main__")  # importing it would run the command line
    ),
]


def test_the_python_of_the_readme_runs_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert blocks, "README shows no Python"
    namespace: dict[str, object] = {"__name__": "readme"}
    message = []
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(README), "exec"), namespace)
        message.append(capsys.readouterr().out)
    view = re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert view == message[:1], "the eight lines, with their output"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_python_of_a_page_of_the_reference_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        exec(block, namespace)


def test_the_reference_names_what_exists() -> None:
    names = [name for page in PAGES for name in re.findall(r"^::: (\S+)", page.read_text(), re.M)]
    assert len(names) > 20 and all(map(pkgutil.resolve_name, names))


def test_the_commands_of_the_readme_are_make_and_those_of_the_onboarding_tasks() -> None:
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    commands = {line.partition("#")[0].strip() for line in "".join(blocks).splitlines()}
    tried = {test_onboarding.SERVE, test_onboarding.PRACTISE}
    tried |= {test_onboarding.LOGIN, test_onboarding.DOCTOR}
    # "make test" is what runs this test; tests/test_packaging.py installs the wheel.
    assert commands == tried | {"make lab", "make test", "chatkit lab"} | {
        "pip install /path/to/chatkit"
    }
    assert test_onboarding.MAKE_LAB in text


def test_the_readme_is_short_and_so_is_its_glossary() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.split()) <= 700
    words = text.partition("## Words")[2].partition("## ")[0]
    assert len(re.findall(r"^- \*\*\w+\*\*: ", words, re.MULTILINE)) == 12


def test_each_picture_is_taken_by_the_script_shown_and_small() -> None:
    """`make pictures` takes them anew."""
    named = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert named == ["notebooks/images/plan.webp"]
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named += [f"notebooks/{name}" for name in re.findall(r"!\[[^]]+\]\(([^)]+)\)", pages)]
    assert sorted(named) == sorted(f"notebooks/images/{name}.webp" for name in PICTURES)
    assert {README.parent / name for name in named} == {*IMAGES.iterdir()}
    assert all((README.parent / name).stat().st_size < 150_000 for name in named)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_hold(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The examples expect chatkit imported, the demo account opened, and an inbox."""
    module = importlib.import_module(name)
    monkeypatch.chdir(tmp_path)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for example in doctest.DocTestFinder().find(module, extraglobs={"chatkit": chatkit}):
        if not example.examples:
            continue
        with (
            chatkit.connect(chatkit.Sandbox(seed="demo")) as client,
            chatkit.Inbox("inbox-of-examples.sqlite") as inbox,
        ):
            example.globs |= {"client": client, "inbox": inbox}
            assert doctest.DocTestRunner(optionflags=options).run(example).failed == 0, (
                capsys.readouterr().out
            )


def test_the_map_shows_every_file_of_the_package_and_nothing_else() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    table = text.partition("## The map")[2].partition("## ")[0]
    view = set()
    for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE):
        first, *others = [README.parent / place for place in re.findall(r"`(.+?)`", row)]
        view |= {first, *(first.parent / other.name for other in others)}
    package = README.parent / "chatkit"
    present = {
        place
        for place in package.iterdir()
        # a folder that another version left has bytecode alone
        if (place.suffix == ".py" or any(place.rglob("*.py"))) and place.name[:2] != "__"
    }
    assert {place for place in view if place.parent == package} == present
    assert all(place.exists() for place in view)
