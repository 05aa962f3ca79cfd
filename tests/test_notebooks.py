"""The form of the notebooks: stories of one shape, with outputs kept, and nothing private in them.

That their outputs are true is the work of `pytest --nbval notebooks`.
"""

from __future__ import annotations

import json
import re
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

import chatkit.errors as errors

ROOT = Path(__file__).parents[1]
PATHS = sorted(ROOT.glob("notebooks/*.ipynb"))


class Notebook:
    """The cells of one notebook, as the rules speak of them."""

    def __init__(self, path: Path) -> None:
        self.cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
        self.code = [cell for cell in self.cells if cell["cell_type"] == "code"]
        self.prose = [cell for cell in self.cells if cell["cell_type"] == "markdown"]
        text = "\n\n".join(source(cell) for cell in self.prose)
        self.headings = re.findall(r"^(#+) +(.+?) *$", text, re.MULTILINE)

    def full_text(self) -> str:
        """Return the text of all cells and outputs, without pictures."""
        outputs = [output for cell in self.code for output in cell["outputs"]]
        for output in outputs:
            data = output.get("data", {})
            output["data"] = {kind: data[kind] for kind in data if not kind.startswith("image/")}
        return json.dumps([*map(source, self.cells), outputs], ensure_ascii=False)


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


@pytest.fixture(params=PATHS, ids=[path.name for path in PATHS])
def notebook(request: pytest.FixtureRequest) -> Notebook:
    return Notebook(request.param)


def test_there_is_a_first_notebook() -> None:
    assert PATHS and PATHS[0].name == "0_start.ipynb"


def test_it_opens_with_its_title_and_what_one_will_have_at_the_end(notebook: Notebook) -> None:
    assert [text for level, text in notebook.headings if level == "#"][1:] == []
    first = notebook.cells[0]
    assert first["cell_type"] == "markdown"
    assert re.match(r"# .+\n\n\w", source(first)), "a title, then one paragraph"


def test_all_connect_with_the_same_cell() -> None:
    cells = {source(Notebook(path).code[0]) for path in PATHS}
    assert len(cells) == 1
    assert "import chatkit" in cells.pop()


def test_it_says_how_to_go_live_and_ends_with_what_you_can_do_now(notebook: Notebook) -> None:
    sections = [text for level, text in notebook.headings if level == "##"]
    assert "Going live" in sections
    assert sections[-1] == "What you can do now"


def test_going_live_stands_once_and_the_others_link_to_it() -> None:
    first, *others = ("\n".join(map(source, Notebook(path).prose)) for path in PATHS)
    assert "chatkit login production" in first
    assert all("](0_start.ipynb#Going-live)" in text for text in others)
    assert not [text for text in others if "login production" in text]


def test_each_recipe_has_a_heading_six_lines_and_its_output() -> None:
    cells = Notebook(ROOT / "notebooks/5_recipes.ipynb").cells
    recipes = list(pairwise(cells))
    recipes = [pair for pair in recipes if source(pair[0]).startswith("### ")]
    assert len(recipes) >= 25
    headings = [source(report).partition("\n")[0] for report, _ in recipes]
    assert len(set(headings)) == len(headings)
    for heading, (_, code) in zip(headings, recipes, strict=True):
        assert code["cell_type"] == "code", heading
        assert code["outputs"], heading
        assert len(source(code).splitlines()) <= 6, heading


def test_it_is_a_story_and_not_a_program(notebook: Notebook) -> None:
    assert len(notebook.prose) >= len(notebook.code)
    long = [source(cell) for cell in notebook.cells if source(cell).count("\n") >= 12]
    assert not long, "at most 12 lines a cell"
    kinds = groupby(cell["cell_type"] for cell in notebook.cells)
    assert all(len(list(run)) <= 2 for kind, run in kinds if kind == "code"), "two code cells a run"
    program = re.compile(r"^\s*(async +def|def|class) ", re.MULTILINE)
    assert not [source(cell) for cell in notebook.code if program.search(source(cell))]


def test_it_makes_one_deliberate_mistake_and_shows_what_happens(notebook: Notebook) -> None:
    tagged = [c for c in notebook.code if "raises-exception" in c["metadata"].get("tags", [])]
    raised = [c for c in notebook.code if any(o["output_type"] == "error" for o in c["outputs"])]
    assert len(tagged) == 1
    assert raised == tagged


def test_the_mistake_shows_its_message_and_not_a_line_of_a_traceback(notebook: Notebook) -> None:
    """nbval compares neither the names nor the texts of errors."""
    (error,) = [o for c in notebook.code for o in c["outputs"] if o["output_type"] == "error"]
    assert issubclass(getattr(errors, error["ename"]), errors.ChatkitError)
    assert error["traceback"] == [f"{error['ename']}: {error['evalue']}"]
    head, *places = error["evalue"].split("\n")
    result = [place for place in places if not place.startswith("    -> ")]  # what to do there
    assert head and 1 <= len(result) <= 15, "what happened, then each place and why"
    assert all(re.match(r"(?:  |- )\S.*: \S", place) for place in result)
    assert not re.search(r"\x1b|Traceback|File |-->|\.py\b", error["evalue"])


def test_its_outputs_are_kept_and_none_is_excused_from_the_comparison(notebook: Notebook) -> None:
    assert sum(bool(cell["outputs"]) for cell in notebook.code) * 2 > len(notebook.code)
    counts = [cell["execution_count"] for cell in notebook.code]
    assert counts == list(range(1, len(counts) + 1)), "run once, from the top"
    tags = {tag for cell in notebook.code for tag in cell["metadata"].get("tags", [])}
    assert not {tag for tag in tags if tag.startswith("nbval")}
    assert not re.search(r"#\s*(NBVAL|PYTEST_VALIDATE)", notebook.full_text())


def test_nothing_secret_is_shown(notebook: Notebook) -> None:
    """A signing secret is 64 hexadecimal digits, an access token a long run of mixed characters."""
    runs = re.findall(r"[A-Za-z0-9_-]{32,}", notebook.full_text())
    mixed = [run for run in runs if all(re.search(kind, run) for kind in ("[A-Z]", "[a-z]", r"\d"))]
    assert not mixed + re.findall(r"\b[0-9a-f]{64}\b", notebook.full_text())


def test_nothing_of_the_machine_it_ran_on_is_shown(notebook: Notebook) -> None:
    folders = "home|Users|root|tmp|private|var|opt|usr|mnt|srv|work"
    paths = re.findall(rf"(?<![\w.:/])/(?:{folders})/\S*|\b[A-Z]:\\\\\S*", notebook.full_text())
    assert not paths


def test_the_numbers_typed_into_it_belong_to_nobody(notebook: Notebook) -> None:
    """Some numbers are reserved for fiction. The test of the seed sees to those of the demo."""
    ranges = (
        r"\d{3}55501\d{2}",  # +1, any area
        r"7700900\d{3}|2079460\d{3}",  # +44, mobile and London
        r"63998\d{4}",  # +33, mobile
    )
    text = "\n".join(map(source, notebook.code))
    typed = re.findall(r"""\bnumber["']?\s*[=:,]\s*["'](\d+)["']""", text)
    assert not [number for number in typed if not re.fullmatch("|".join(ranges), number)]
