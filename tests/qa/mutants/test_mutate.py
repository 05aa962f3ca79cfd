"""Mutants: each is one fault in a module that still compiles; the same sample for the same seed."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from mutants.__main__ import key, known_equivalents, modules, sampled
from mutants.groups import GROUPS, files_of, group_of, in_order, own_tests
from mutants.mutate import mutants
from volume import FULL

ROOT = Path(__file__).parents[3]
SOURCE = '''
def price(number: int | None, *, many: bool = False) -> int:
    """Return a price."""
    if number is None:
        return 0
    self.asked += 1
    for each in range(number):
        if each >= 10 and not many:
            break
    log("ä", f"{1 + 1}")
    pairs = dict(zip(self.keys, self.values, strict=True))
    return number * 3 if many else number
'''


def changes(source: str) -> set[tuple[str, str, str]]:
    return {(m.kind, m.before, m.after) for m in mutants(Path("a.py"), source)}


def test_every_kind_of_fault_is_planted() -> None:
    assert changes(SOURCE) == {
        ("constant", "False", "(True)"),
        ("condition negated", "number is None", "(not (number is None))"),
        ("guard removed", "number is None", "False"),
        ("comparison", "number is None", "(number is not None)"),
        ("constant", "0", "(1)"),
        ("statement removed", "self.asked += 1", "pass"),
        ("constant", "1", "(2)"),
        (
            "condition negated",
            "each >= 10 and not many",
            "(not (each >= 10 and (not many)))",
        ),
        ("guard removed", "each >= 10 and not many", "False"),
        ("and / or", "each >= 10 and not many", "(each >= 10 or not many)"),
        ("term removed", "each >= 10 and not many", "(not many)"),
        ("term removed", "each >= 10 and not many", "(each >= 10)"),
        ("comparison", "each >= 10", "(each > 10)"),
        ("constant", "10", "(11)"),
        ("not removed", "not many", "(many)"),
        ("other way out of a loop", "break", "continue"),
        ("statement removed", 'log("ä", f"{1 + 1}")', "pass"),
        ("condition negated", "number * 3 if many else number", "(number if many else number * 3)"),
        ("operator", "number * 3", "(number + 3)"),
        ("constant", "3", "(4)"),
    }


@pytest.mark.parametrize(
    "name", ["api/listing.py", "api/throttle.py", "bulk/outcomes.py", "inbox/delivery.py"]
)
def test_every_mutant_is_a_program_and_another_one(name: str) -> None:
    path = ROOT / "chatkit" / name
    text = path.read_text("utf-8")
    for mutant in islice(mutants(path, text), 0, None, 1 if FULL else 5):
        planted = mutant.applied(text)
        assert planted != text
        compile(planted, str(path), "exec")


def test_the_same_seed_chooses_the_same_mutants() -> None:
    first = sampled(["api/listing", "chatkit/api/throttle.py"], 5, 1)
    assert first == sampled(["api/listing", "chatkit/api/throttle.py"], 5, 1)
    assert first != sampled(["api/listing", "chatkit/api/throttle.py"], 5, 2)
    assert [len(some) for some in first.values()] == [5, 5]
    assert {mutant.path.name for mutant in first["chatkit/api/throttle.py"]} == {"throttle.py"}


def test_a_name_that_is_no_module_is_told() -> None:
    with pytest.raises(SystemExit, match="'weather' is no group"):
        sampled(["weather"], 5, 1)


def test_every_group_has_modules_and_tests() -> None:
    assert {group_of(path) for path in modules()} == {*GROUPS}
    for group in GROUPS:
        assert files_of(group, ROOT / "tests")


def test_the_tests_that_are_named_after_a_module_are_its_own() -> None:
    files = ["bulk/test_plan.py", "bulk/test_plan_file.py", "bulk/test_undo.py", "test_plan.py"]
    assert own_tests("bulk/plan.py", files) == ["bulk/test_plan.py", "bulk/test_plan_file.py"]
    assert own_tests("plan.py", files) == ["test_plan.py"]
    assert own_tests("bulk/renamed.py", files) == []


def test_what_imports_a_module_is_asked_before_what_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "bulk"
    folder.mkdir()
    texts = {
        "test_a": "",
        "test_b": "from chatkit.bulk.plan import Plan",
        "test_plan_file": "x" * 99,
    }
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    files = [f"bulk/{name}.py" for name in texts]
    assert in_order("bulk/plan.py", files, tmp_path) == (
        ["bulk/test_plan_file.py", "bulk/test_b.py"],
        ["bulk/test_a.py"],
    )


def test_what_is_listed_as_equivalent_is_still_a_mutant() -> None:
    """A line that nothing names any more hides nothing, and would be believed for ever."""
    paths = {path for path, *_ in known_equivalents()}
    texts = {path: (ROOT / path).read_text("utf-8") for path in paths}
    present = {key(m) for path, text in texts.items() for m in mutants(Path(path), text)}
    assert known_equivalents() <= present
