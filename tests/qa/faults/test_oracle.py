"""Tests of the oracle: it recognizes a true run that was made false in one place."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from faults import naive
from faults.account import account
from faults.load import Load, load
from faults.oracle import Verdict, evaluate, evaluate_undo

import chatkit

Truth = dict[str, Any]


class Case:
    """Everything the oracle looks at, of a run in which nothing went wrong."""

    def __init__(self, resource: str, folder: Path) -> None:
        with account() as served:
            self.load: Load = load(served, resource, 1, 4, 3, 2)
            self.before = served.truth()["state"]
            about = served.about
            with chatkit.Client(about["base_url"], about["account_id"], about["token"]) as client:
                self.changes = naive.changes(self.load)
                self.result = naive.apply(client, self.load, folder, 2)
            self.truth: Truth = served.truth()

    @property
    def records(self) -> list[dict[str, Any]]:
        resource = "contents" if self.load.resource == "templates" else self.load.resource
        records: list[dict[str, Any]] = self.truth["state"][resource]
        return records

    def verdict(self, **more: Any) -> Verdict:
        return evaluate(self.load, self.changes, self.result, self.before, self.truth, **more)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    resources = ("contacts", "flows", "templates", "webhooks")
    return {name: Case(name, tmp_path_factory.mktemp(name)) for name in resources}


@pytest.fixture(params=["contacts", "flows", "templates", "webhooks"])
def case(request: pytest.FixtureRequest, cases: dict[str, Case]) -> Iterator[Case]:
    yield copy.deepcopy(cases[request.param])


def test_a_true_run_is_believed(case: Case) -> None:
    assert case.verdict().wrong == []
    assert case.verdict().states == {"applied": 9}


def test_a_conflict_with_nobody_is_false(case: Case) -> None:
    case.truth["effects"] = []
    for row in case.result:
        row["state"] = "conflict"
    assert len(case.verdict().false) == 9


def test_a_conflict_with_somebody_who_wrote_after_us_may_be_called_one(case: Case) -> None:
    changed = [e for e in case.truth["effects"] if e["method"] in ("PUT", "PATCH")]
    row = next(r for r, c in zip(case.result, case.changes, strict=True) if c["kind"] == "update")
    row["state"] = "conflict"
    case.truth["effects"] += [each | {"who": "writer", "n": 10**6} for each in changed]
    assert not [line for line in case.verdict(alone=False).false if "took effect" in line]


@pytest.mark.parametrize("state", ["failed", "conflict", "not sent"])
def test_a_row_that_took_effect_and_is_reported_as_absent_is_false(case: Case, state: str) -> None:
    for row in case.result:
        row["state"] = state
    assert len(case.verdict().false) == 9


def test_a_state_that_there_is_not_is_false(case: Case) -> None:
    case.result[0]["state"] = "done"
    assert len(case.verdict().false) == 1


def test_a_row_that_took_effect_and_is_said_to_differ_is_false(case: Case) -> None:
    case.result[0]["state"] = "differs"
    assert len(case.verdict().false) == 1


def test_a_row_that_we_changed_and_that_is_said_to_be_unchanged_is_false(case: Case) -> None:
    case.result[0]["state"] = "unchanged"
    assert len(case.verdict().false) == 1


def test_a_delete_that_met_a_404_may_have_been_our_doing(case: Case) -> None:
    case.result[0] |= {"state": "unchanged", "evidence": "gone"}
    assert not case.verdict().false


def test_an_unknown_row_is_counted_and_is_no_lie(case: Case) -> None:
    case.result[0]["state"] = "unknown"
    assert not case.verdict().wrong
    assert case.verdict().states["unknown"] == 1


def test_a_row_of_which_nothing_is_there_is_lost(case: Case) -> None:
    case.truth["state"] = case.before
    assert len(case.verdict().lost) == 9


def test_a_row_that_never_took_effect_is_lost_even_if_somebody_else_made_it(case: Case) -> None:
    case.truth["effects"] = []
    assert len(case.verdict().lost) == 9
    assert len(case.verdict(alone=False).lost) == 9


def test_a_second_record_of_a_create_is_a_duplicate(case: Case) -> None:
    case.records.append(copy.deepcopy(case.records[-1]) | {"id": 99_999})
    assert len(case.verdict().duplicated) == 1


def test_a_second_effect_of_a_create_is_a_duplicate_and_of_an_update_is_counted(
    case: Case,
) -> None:
    made, changed = [
        next(e for e in case.truth["effects"] if e["method"] in methods)
        for methods in (("POST",), ("PUT", "PATCH"))
    ]
    case.truth["effects"].append(made)
    assert len(case.verdict().duplicated) == 1
    assert case.verdict().repeated == 0
    case.truth["effects"].append(changed)
    assert len(case.verdict().duplicated) == 1
    assert case.verdict().repeated == 1


def test_a_write_that_nobody_planned_is_stray(case: Case) -> None:
    case.truth["effects"][-1]["path"] += "77"
    assert len(case.verdict().stray) == 1


def test_a_field_that_nobody_planned_to_change_is_stray(case: Case) -> None:
    field = {"contacts": "country_code", "flows": "template_name", "templates": "footer"}
    changed = next(e for e in case.truth["effects"] if e["method"] in ("PUT", "PATCH"))
    record = next(r for r in case.records if r["id"] == changed["id"])
    record[field.get(case.load.resource, "events")] = "?"
    assert len(case.verdict().stray) == 1


@pytest.mark.parametrize(
    "bend",
    [
        lambda result: result.reverse(),
        lambda result: result.pop(),
        lambda result: result.append(result[0]),
        lambda result: result[0].update(label="?"),
    ],
    ids=["order", "missing", "twice", "label"],
)
def test_other_rows_than_the_plan_s_are_false(
    case: Case, bend: Callable[[list[dict[str, Any]]], None]
) -> None:
    bend(case.result)
    assert "the result has other rows than the plan" in case.verdict().wrong[0]


def test_a_plan_with_other_rows_than_were_wanted_is_false(case: Case) -> None:
    case.changes.pop()
    case.result.pop()
    assert "the plan has other rows than expected" in case.verdict().wrong[0]


@pytest.mark.parametrize(
    ("read", "finding"), [(9, "overwritten"), (3, "gap"), (None, "overwritten")]
)
def test_a_value_of_somebody_else_may_only_get_lost_between_read_and_write(
    read: int | None, finding: str
) -> None:
    """Somebody writes at 5. Who has read at 3 cannot know it at 10; who has read at 9 does."""
    ours = {"who": "client", "method": "PUT", "path": "contacts/7", "body": {"name": "a"}}
    others = {"who": "writer", "method": "PUT", "path": "contacts/7", "body": {"name": "b"}}
    common = {"id": 7, "status": 200}
    truth = {
        "state": {},
        "marks": {"planned": 1, "apply": 2},
        "reads": [] if read is None else [[read, [7]]],
        "effects": [others | common | {"n": 5, "sent": 5}, ours | common | {"n": 11, "sent": 10}],
    }
    verdict = evaluate(Load("contacts", []), [], [], {}, truth, alone=False)
    assert (len(verdict.overwritten), verdict.gaps) == (
        (1, 0) if finding == "overwritten" else (0, 1)
    )


def test_a_value_of_somebody_else_that_is_sent_again_is_kept() -> None:
    """A service whose PUT replaces wants all fields: what was read is repeated."""
    common = {"id": 7, "status": 200, "method": "PUT", "path": "contacts/7", "sent": 10}
    truth = {
        "state": {},
        "marks": {"planned": 1, "apply": 2},
        "reads": [[8, [7]]],
        "effects": [
            common | {"who": "writer", "n": 5, "body": {"footer": "first"}},
            common | {"who": "writer", "n": 6, "body": {"footer": "last"}},
            common | {"who": "client", "n": 11, "body": {"text": "a", "footer": "last"}},
        ],
    }
    verdict = evaluate(Load("contacts", []), [], [], {}, truth, alone=False)
    assert (verdict.overwritten, verdict.gaps) == ([], 0)
    truth["effects"][-1]["body"]["footer"] = "first"  # type: ignore[index]
    assert evaluate(Load("contacts", []), [], [], {}, truth, alone=False).overwritten


# --- undos ------------------------------------------------------------------------------------


def undone(before: Truth, after: Truth, *, state: str = "applied", left: tuple[int, ...] = (2,)):
    """Evaluate an undo of three rows of which one changed nothing."""
    report = {"rows": [0, 1, 2], "taken": [1, 0], "refused": [], "left": [*left], "stays": []}
    result = [{"label": n, "change": "create", "state": state, "reason": ""} for n in (1, 0)]
    return evaluate_undo(Load("contacts", []), report, result, before, {"state": after})


def persons(*names: str, active: bool = True) -> Truth:
    """Contacts with these names."""
    records = [
        {"id": n, "active": active, "first_name": name, "middle_name": "", "last_name": "",
         "number": str(n), "updated_at": "now", "updated_by": "me", "scope": ""}
        for n, name in enumerate(names)
    ]  # fmt: skip
    return {"contacts": records}


def test_an_undo_that_leaves_all_as_it_was_is_right() -> None:
    assert undone(persons("Ana", "Bo"), persons("Ana", "Bo")).wrong == []


def test_an_undo_that_leaves_something_else_is_told() -> None:
    before = persons("Ana", "Bo")
    assert undone(before, persons("Ana")).lost
    assert undone(before, persons("Ana", "Bo", "Cy")).stray
    assert undone(before, persons("Ana", "Zoe")).stray
    assert undone(before, persons("Ana", "Bo"), state="conflict").false
    assert undone(before, persons("Ana", "Bo"), left=()).false
    assert undone(before, persons("Ana", "Bo"), left=(2, 1)).false


def test_a_doubled_create_must_be_told_with_both_ids(cases: dict[str, Case]) -> None:
    case = copy.deepcopy(cases["flows"])
    effects = [e for e in case.truth["effects"] if e["method"] == "POST" and e["who"] == "client"]
    echo = effects[0] | {"id": 9999, "echo": True}
    case.truth["effects"].append(echo)
    assert any("9999" in line for line in case.verdict().false)
    for row in case.result:
        row["reason"] = f"it exists twice: {effects[0]['id']}, 9999"
    assert case.verdict().wrong == []
