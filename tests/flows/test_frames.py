"""All flows of an account: kept in a folder, brought back, and compared with others."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bulk.wayward import hiding, wayward
from documents import DOCUMENT, document
from rooms import client, sandbox, scripted

import chatkit
from chatkit.client import Client
from chatkit.finding import Finding
from chatkit.flows.backup import Kept, checks_frame, comparison_frame, restore_frame

__all__ = ["client", "sandbox"]

ORDER = {"template_name": "default", "flow_json": DOCUMENT}
HIDDEN = chatkit.ServiceProfile(flow_json_in_get=False)


@pytest.fixture
def demo() -> Iterator[Client]:
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        yield client


@pytest.fixture
def other() -> Iterator[Client]:
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as client:
        yield client


def edit(folder: Path, file: str, **fields: Any) -> None:
    found = json.loads((folder / file).read_bytes())
    (folder / file).write_text(json.dumps(found | fields))


# --- backup and restore -----------------------------------------------------------------


def test_what_was_backed_up_is_brought_back(client: Client, tmp_path: Path) -> None:
    """Under every profile: one flow was deleted since, one changed, one is new."""
    lost = client.flows.create(name="Lost", categories=["OTHER"], **ORDER)
    kept = client.flows.create(name="Kept", **ORDER)
    if not client.profile.flow_json_in_get:
        with pytest.raises(chatkit.InputError, match="flow_json_in_get"):
            client.flows.backup(tmp_path)
        assert not list(tmp_path.iterdir())
        return
    assert list(client.flows.backup(tmp_path)["change"]) == ["new", "new"]
    assert client.flows.restore(tmp_path).counts == {"create": 0, "update": 0, "delete": 0}
    client.flows.delete(lost.id)
    client.flows.update(kept.id, flow_json=document("Neu"))
    new = client.flows.create(name="New", **ORDER)
    plan = client.flows.restore(tmp_path)
    assert plan.counts == {"create": 1, "update": 1, "delete": 0}
    assert plan.refused.empty and plan.notes == []
    assert sorted(plan.frame().index) == ["kept.json", "lost.json"]
    assert set(plan.apply()["state"]) == {"applied"}
    frame = client.flows.frame(full=True).set_index("name")
    assert sorted(frame.index) == ["Kept", "Lost", "New"]
    assert all(frame["flow_json"].map(DOCUMENT.__eq__))
    assert frame.loc["Lost", "categories"] == ["OTHER"]
    assert new.id in client.flows.frame().index


def test_a_backup_says_what_it_did_with_each_flow(demo: Client, tmp_path: Path) -> None:
    frame = demo.flows.backup(tmp_path)
    assert frame.index.name == "id" and list(frame.columns) == ["name", "file", "change"]
    assert frame.loc[303, "file"] == "how-did-we-do.json"
    demo.flows.delete(303)
    demo.flows.update(302, flow_json=DOCUMENT)
    demo.flows.copy(301, "Copy")
    assert demo.flows.backup(tmp_path)["change"].to_dict() == {
        301: "same", 302: "changed", 303: "gone", 304: "same", 305: "same", 306: "new",
    }  # fmt: skip


def test_files_may_be_edited_and_become_updates(demo: Client, tmp_path: Path) -> None:
    demo.flows.backup(tmp_path)
    edit(tmp_path, "how-did-we-do.json", version="7.0")
    plan = demo.flows.restore(tmp_path)
    [change] = plan.changes
    assert (change.row, change.key, change.kind) == ("how-did-we-do.json", 303, "update")
    assert plan.notes == []


def test_files_with_errors_are_refused_unless_you_say_so(demo: Client, tmp_path: Path) -> None:
    demo.flows.backup(tmp_path)
    edit(tmp_path, "rent-a-bike.json", version="0.1")
    assert set(demo.flows.restore(tmp_path).refused["row"]) == {"rent-a-bike.json"}
    assert demo.flows.restore(tmp_path, broken=True).counts["update"] == 1


def test_an_account_moves_to_another(demo: Client, other: Client, tmp_path: Path) -> None:
    demo.flows.backup(tmp_path)
    edit(tmp_path, "index.json", account="https://staging.example account 7")
    with pytest.raises(chatkit.InputError, match=r"staging.example account 7.*other_account=True"):
        other.flows.restore(tmp_path)
    plan = other.flows.restore(tmp_path, other_account=True, broken=True)
    assert plan.counts["create"] == 5
    plan.apply()
    assert set(demo.flows.compare(other)["state"]) == {"same"}
    assert other.flows.restore(tmp_path, other_account=True).counts["create"] == 0


def test_a_folder_of_another_account_is_not_written_over(demo: Client, tmp_path: Path) -> None:
    demo.flows.backup(tmp_path)
    edit(tmp_path, "index.json", account="https://staging.example account 7")
    before = (tmp_path / "index.json").read_bytes()
    with pytest.raises(chatkit.InputError, match="other_account=True"):
        demo.flows.backup(tmp_path)
    assert (tmp_path / "index.json").read_bytes() == before
    assert set(demo.flows.backup(tmp_path, other_account=True)["change"]) == {"same"}


def test_a_sandbox_in_memory_has_one_name_for_its_folder_every_day(tmp_path: Path) -> None:
    for _ in range(2):
        with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
            client.flows.backup(tmp_path)
            text = (tmp_path / "index.json").read_text()
    assert '"account": "sandbox account 1001"' in text


def titles(client: Client) -> list[str]:
    return [found["screens"][0]["title"] for found in client.flows.frame(full=True)["flow_json"]]


def test_flows_of_one_name_are_found_by_their_ids(other: Client, tmp_path: Path) -> None:
    for title in "ab":
        other.flows.create(name="Twin", template_name="default", flow_json=document(title))
    other.flows.backup(tmp_path)
    second = other.flows.frame().index[1]
    other.flows.update(second, flow_json=document("z"))
    plan = other.flows.restore(tmp_path)
    assert [(c.kind, c.key) for c in plan.changes] == [("update", second)]
    plan.apply()
    assert titles(other) == ["a", "b"]


def test_one_of_two_flows_of_one_name_is_made_again_when_you_say_so(
    other: Client, tmp_path: Path
) -> None:
    for title in "ab":
        other.flows.create(name="Twin", template_name="default", flow_json=document(title))
    other.flows.backup(tmp_path)
    other.flows.delete(other.flows.frame().index[0])
    assert list(other.flows.restore(tmp_path).refused["column"]) == ["name"]
    other.flows.restore(tmp_path, duplicates=True).apply()
    assert titles(other) == ["b", "a"]


def test_flows_of_one_name_that_cannot_be_told_apart_are_refused(
    other: Client, tmp_path: Path
) -> None:
    other.flows.create(name="Twin", **ORDER)
    other.flows.backup(tmp_path)
    edit(tmp_path, "index.json", account="somebody")
    other.flows.create(name="Twin", **ORDER)
    plan = other.flows.restore(tmp_path, other_account=True)
    assert list(plan.refused["reason"]) == ["2 flows have it"]


def test_what_is_left_out_is_said(demo: Client, tmp_path: Path) -> None:
    demo.flows.backup(tmp_path)
    demo.flows.delete(303)
    demo.flows.delete(304)
    demo.flows.backup(tmp_path)
    (tmp_path / "join-the-sunday-ride.json").unlink()
    (tmp_path / "notes.json").write_text("{}")
    edit(tmp_path, "trade-in-estimate.json", **DOCUMENT)
    plan = demo.flows.restore(tmp_path)
    assert [c.label for c in plan.changes] == ["How did we do?", "Trade-in estimate"]
    assert plan.notes == [
        "The folder has no document of Join the Sunday ride: join-the-sunday-ride.json is not "
        "there. It is left alone.",
        "The last backup found these gone already: how-did-we-do.json. To leave them so, delete "
        "the files.",
        "Files that index.json does not know are ignored: notes.json.",
    ]


def test_where_documents_are_hidden_a_restore_says_what_cannot_be_undone(
    demo: Client, tmp_path: Path
) -> None:
    demo.flows.backup(tmp_path)
    with chatkit.connect(chatkit.Sandbox(seed="demo", profile=HIDDEN)) as client:
        plan = client.flows.restore(tmp_path, broken=True)
    assert plan.counts == {"create": 0, "update": 5, "delete": 0}
    assert {change.undo for change in plan.changes} == {"never"}


# --- compare ----------------------------------------------------------------------------


def test_two_accounts_side_by_side(demo: Client) -> None:
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as staging:
        staging.flows.delete(303)
        staging.flows.update(302, flow_json=DOCUMENT)
        staging.flows.create(name="New", **ORDER)
        frame = demo.flows.compare(staging)
        assert frame.equals(demo.flows.compare(staging.flows))
    assert frame["state"].to_dict() == {
        "Book a repair": "same",
        "Rent a bike": "differs",
        "How did we do?": "only here",
        "Join the Sunday ride": "same",
        "Trade-in estimate": "same",
        "New": "only there",
    }
    assert frame.loc["Rent a bike", "changes"] > 3
    assert frame.loc["Rent a bike", "summary"].count(";") == 3
    assert frame.loc["Book a repair", "changes"] == 0
    assert frame.loc["New", ["id_here", "id_there"]].isna().tolist() == [True, False]


def test_an_account_and_a_folder_side_by_side(demo: Client, tmp_path: Path) -> None:
    demo.flows.backup(tmp_path)
    edit(tmp_path, "rent-a-bike.json", version="7.2")
    frame = demo.flows.compare(str(tmp_path))
    assert frame["state"].tolist() == ["same", "differs", "same", "same", "same"]
    assert frame.loc["Rent a bike", "changes"] == 1


def test_documents_that_are_not_shown_are_not_called_the_same(demo: Client) -> None:
    with chatkit.connect(chatkit.Sandbox(seed="demo", profile=HIDDEN)) as hidden:
        frame = demo.flows.compare(hidden)
    assert set(frame["state"]) == {"unreadable"}
    assert frame["changes"].isna().all()


def test_flows_of_one_name_are_counted_and_not_guessed_at() -> None:
    a, b = (Kept(id=n, name="Order", document=document(str(n))) for n in (1, 2))
    frame = comparison_frame([a, b], [a])
    assert frame.loc["Order", "state"] == "several"
    assert frame.loc["Order", "summary"] == "2 here and 1 there have this name"


def test_a_difference_is_never_called_the_same() -> None:
    """True is not 1, and the order of keys is nothing."""
    one = {"version": "7.3", "screens": [{"id": "A", "terminal": True}]}
    two = {"screens": [{"terminal": 1, "id": "A"}], "version": "7.3"}
    flows = [[Kept(id=1, name="Order", document=found)] for found in (one, two)]
    assert comparison_frame(*flows)["state"].tolist() == ["differs"]
    two["screens"] = [{"terminal": True, "id": "A"}]
    flows = [[Kept(id=1, name="Order", document=found)] for found in (one, two)]
    assert comparison_frame(*flows)["state"].tolist() == ["same"]


@pytest.mark.parametrize("other", [None, 5, {"a": 1}])
def test_what_has_no_flows_cannot_be_compared(demo: Client, other: Any) -> None:
    with pytest.raises(chatkit.InputError, match="another client, its flows or the folder"):
        demo.flows.compare(other)


# --- a service that does not show every document ----------------------------------------


def test_a_document_that_is_missing_from_an_answer_is_said_to_be_unreadable(
    tmp_path: Path,
) -> None:
    with wayward() as service, service.client() as client:
        shown, hidden = (client.flows.create(name=name, **ORDER).id for name in ("A", "B"))
        client.flows.backup(tmp_path)
        service.on("GET", f"flows/{hidden}", forever=hiding("flow_json"))
        assert client.flows.check_all()["readable"].to_dict() == {shown: True, hidden: False}
        changes = client.flows.backup(tmp_path)["change"].to_dict()
        assert changes == {shown: "same", hidden: "unreadable"}
        assert client.flows.compare(tmp_path)["state"].tolist() == ["same", "unreadable"]
        client.flows.delete(shown)
        changes = client.flows.restore(tmp_path).changes
        assert [(c.label, c.kind, c.undo) for c in changes] == [
            ("A", "create", "exactly"),
            ("B", "update", "never"),
        ]


# --- what each flow is, and where it goes ---------------------------------------------------


def kept(key: int, name: str, **fields: Any) -> Kept:
    return Kept(id=key, name=name, **{"document": DOCUMENT} | fields)


def test_a_check_counts_what_was_found_and_tells_the_first_of_the_worst() -> None:
    found = {
        1: [finding("warning"), finding("error"), finding("error", "second"), finding("warning")],
        2: [finding("note"), finding("warning", "second")],
        3: [],
    }
    flows = [kept(n, f"flow {n}", document={"n": n}) for n in found]
    frame = checks_frame(flows, lambda document: found[document["n"]])
    assert frame["errors"].tolist() == [2, 0, 0]
    assert frame["warnings"].tolist() == [2, 1, 0]
    assert frame["finding"].isna().tolist() == [False, False, True]
    assert ["error first" in frame.finding[1], "note first" in frame.finding[2]] == [True, True]


def finding(severity: Any, said: str = "first") -> Finding:
    return Finding("CODE", severity, "/screens", f"{severity} {said}")


def test_two_of_one_name_are_several_on_either_side() -> None:
    twice, once = [kept(1, "A"), kept(2, "A")], [kept(3, "A")]
    for here, there, said in ((twice, once, "2 here and 1 there"), (once, twice, "1 here and 2")):
        [row] = comparison_frame(here, there).reset_index().to_dict("records")
        assert row["state"] == "several" and row["summary"].startswith(said)


@pytest.mark.parametrize(("live", "creates"), [(0, 3), (1, 2), (2, 1), (3, 0), (4, 0)])
def test_of_flows_of_one_name_as_many_are_made_as_are_missing(live: int, creates: int) -> None:
    there = pd.DataFrame({"name": ["A"] * live + ["B"]}, index=pd.RangeIndex(100, 101 + live))
    held = [kept(n, "A", file=f"a-{n}.json", template_name="default") for n in (1, 2, 3)]
    frame, notes = restore_frame(held, there, [], by_id=False)
    assert frame["template_name"].notna().sum() == creates
    assert (len(frame), notes) == (3, [])


@pytest.mark.parametrize(("raw", "index"), [("", {}), (7, {}), ("x", {"flow_json_raw": "x"})])
def test_an_index_keeps_the_raw_text_that_a_flow_has(
    raw: Any, index: dict[str, Any], tmp_path: Path
) -> None:
    flow = {"id": 7, "name": "A", "flow_json": DOCUMENT, "flow_json_raw": raw, "wa_status": "DRAFT"}
    flow |= {"template_name": "default", "updated_at": "2026-01-05T08:00:00Z", "wa_flow_id": "1"}
    client = scripted(lambda method, path, body: (200, flow if path == "flows/7" else [flow]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the service does not show a profile_id
        client.flows.backup(tmp_path)
    [told] = json.loads((tmp_path / "index.json").read_bytes())["flows"]
    assert {n: v for n, v in told.items() if n == "flow_json_raw"} == index
