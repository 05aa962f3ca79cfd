"""A plan in a file, and the signing secrets that no file ever holds."""

from __future__ import annotations

import json
import os
import re
import stat

import pandas as pd
import pytest
from bulk.applying import kept_at
from bulk.planning import (  # noqa: F401
    account,
    active,
    client,
    contacts,
    content,
    limited,
    sandbox,
    states,
    through,
    untouched,
    webhook,
)
from displayed import html_of
from internals import store_of

import chatkit
from chatkit.bulk.plan import _compute_hash as hashed
from chatkit.bulk.plan import get_refused_cells, get_setting, note_rehearsal
from chatkit.bulk.stores import get_journal_folder


@pytest.fixture
def plan(sandbox, client):
    """A plan of each kind of change, with refused cells and notes."""
    ids = contacts(sandbox, 12)
    frame = client.contacts.frame().reset_index()
    frame.loc[0, "name"] = "Zoë 👋"
    frame.loc[1, "number"] = "?"
    frame["segment"] = 1
    frame = pd.concat([frame, pd.DataFrame({"number": ["2025550177"], "country_code": "+1"})])
    return client.contacts.plan(frame, delete=ids[-1:], skip_invalid=True)


def test_a_saved_plan_comes_back_as_it_was(client, plan, tmp_path):
    path = plan.save(tmp_path / "plan.json")
    again = client.load_plan(str(path))
    assert again.changes == plan.changes
    assert (again.id, again.hash, again.notes, get_refused_cells(again)) == (
        plan.id,
        plan.hash,
        plan.notes,
        get_refused_cells(plan),
    )
    assert (get_setting(again), again.objections()) == (get_setting(plan), plan.objections())
    pd.testing.assert_frame_equal(again.frame(), plan.frame())
    pd.testing.assert_frame_equal(again.refused, plan.refused)
    assert repr(again) == repr(plan)
    assert states(again.apply()) == ["applied"] * 3


def edit(path, place, value, *, rehash=False):
    """Change a saved plan, with or without the right hash of what it is then."""
    kept = json.loads(path.read_text())
    digest, part = kept.pop("hash"), kept["plans"][0]
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    path.write_text(json.dumps({"hash": hashed(kept) if rehash else digest} | kept))


def test_a_file_with_other_line_ends_and_an_empty_one_are_read(client, plan, tmp_path):
    path = plan.save(tmp_path / "plan.json")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert client.load_plan(path).changes == plan.changes
    empty = client.contacts.plan(client.contacts.frame())
    assert client.load_plan(empty.save(path)).changes == ()


def test_only_its_owner_can_read_the_file_and_nothing_is_left_beside_it(plan, tmp_path):
    path = plan.save(tmp_path / "plan.json")
    plan.save(path)
    assert os.listdir(tmp_path) == ["plan.json"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


EDITED = [
    (("changes", 0, "key"), 7),
    (("changes", 0, "kind"), "delete"),
    (("changes", 0, "after", "name"), "Eve"),
    (("changes",), []),
    (("skip_invalid",), False),
    (("setting", "parts", "contact", 0), 10_000),
    (("id",), "20260101-000000-000000"),
]


@pytest.mark.parametrize(("place", "value"), EDITED, ids=str)
def test_an_edited_file_is_refused(sandbox, client, plan, tmp_path, place, value):
    path = plan.save(tmp_path / "plan.json")
    edit(path, place, value)
    with untouched(sandbox), pytest.raises(chatkit.errors.PlanRefused, match="was edited since"):
        client.load_plan(path)


#: What a file may say of a plan whose hash somebody has computed anew: where, and what.
FORGED = [
    (("setting", "noun"), "unknown"),
    (("setting", "noun"), 5),
    (("setting", "account"), ["a"]),
    (("setting", "parts"), {"contact": ["many", [], 0]}),
    (("setting", "parts"), {"contact": [1, "abc", 0]}),
    (("setting", "parts"), {"unknown": [1, [], 0]}),
    (("setting", "parts"), {}),
    (("setting",), None),
    (("changes", 0, "noun"), "unknown"),
    (("changes", 0, "noun"), {}),
    (("changes", 0, "kind"), "format"),
    (("changes", 0, "key"), [1]),
    (("changes", 0, "key"), 10**30),
    (("setting", "names"), []),
    (("changes", 0, "before"), "name"),
    (("changes", 0, "after"), None),
    (("changes", 0, "undo"), "maybe"),
    (("changes", 0, "code"), 7),
    (("changes", 0), []),
    (("changes", 0), None),
    (("id",), "../../../etc/passwd"),
    (("id",), "a\n"),
    (("id",), None),
    (("refused",), [["row"]]),
    (("refused",), {"a": 1}),
    (("left",), [[1, 2, 3, 4, 5]]),
    (("notes",), "text"),
    (("skip_invalid",), "yes"),
    (("written",), [1]),
]


@pytest.mark.parametrize(("place", "value"), FORGED, ids=str)
def test_a_file_of_what_there_is_not_is_refused_though_its_hash_is_right(
    sandbox, client, plan, tmp_path, place, value
):
    path = plan.save(tmp_path / "plan.json")
    edit(path, place, value, rehash=True)
    with (
        untouched(sandbox),
        pytest.raises(chatkit.errors.PlanRefused, match=r"plan\.json is not a saved"),
    ):
        client.load_plan(path)


def test_a_file_that_is_cut_or_nested_deeply_is_refused(client, plan, tmp_path):
    path = plan.save(tmp_path / "plan.json")
    text = path.read_text()
    for wrong in (text[:-3], text[: len(text) // 2], text[1:], text[:20] + "[" * 100_000):
        path.write_text(wrong)
        with pytest.raises(chatkit.errors.PlanRefused, match="is not a saved plan"):
            client.load_plan(path)


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"null", b'{"plans": 1}', b"\xff", b'"x"'])
def test_a_file_that_is_no_plan_is_refused(client, tmp_path, text):
    path = tmp_path / "plan.json"
    path.write_bytes(text)
    with pytest.raises(chatkit.errors.PlanRefused, match=r"is not a saved plan|was edited"):
        client.load_plan(path)


def test_a_plan_of_another_account_is_refused(plan, tmp_path):
    path = plan.save(tmp_path / "plan.json")
    with account() as (other, others):
        with pytest.raises(chatkit.errors.PlanRefused, match="for another account"):
            others.load_plan(path)
        assert active(other, "contacts") == {}


def test_a_plan_whose_file_is_not_there_says_so(client, tmp_path):
    with pytest.raises(OSError, match="no_such"):
        client.load_plan(tmp_path / "no_such.json")


def test_a_file_of_other_changes_under_the_name_of_a_run_is_refused(sandbox, client, plan):
    plan.apply()
    other = client.contacts.plan(delete=[c.key for c in plan.changes if c.kind == "update"])
    other.id = plan.id
    with untouched(sandbox), pytest.raises(chatkit.errors.PlanRefused, match="not the plan"):
        other.apply()


# --- signing secrets ------------------------------------------------------------------------


def everything(folder):
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("echoes", [True, False])
def test_a_signing_secret_is_in_plan_secrets_and_nowhere_else(tmp_path, echoes, capsys):
    with account(secret_in_update=echoes) as (sandbox, client):
        webhook(sandbox)
        frame = client.webhooks.frame().assign(is_active=False).reset_index()
        new = {"url": [f"https://new.example/{n}" for n in range(2)], "events": [["*"]] * 2}
        frame = pd.concat([frame, pd.DataFrame(new)], ignore_index=True)
        plan = client.webhooks.plan(frame)
        assert plan.secrets == {}
        result = plan.apply(many=True)
        assert sorted(plan.secrets) == sorted(result["key"][result["change"] == "create"])
        hidden = dict(store_of(sandbox).run("SELECT id, hidden FROM webhooks"))
        for key, secret in plan.secrets.items():
            stored = json.loads(hidden[key])["webhook_secret"]
            assert secret.reveal() == stored and re.fullmatch("[0-9a-f]{64}", stored)
        saved = plan.save(tmp_path / "plan.json")
        seen = "".join(
            [
                *(repr(plan), html_of(plan), repr(plan.secrets), str(vars(plan))),
                *(plan.frame().to_csv(), result.to_csv(), result.to_html(), repr(result.attrs)),
                *(chatkit.account.journal(result).to_csv(), chatkit.runs(client).to_csv()),
                *(saved.read_text(), *capsys.readouterr()),
                *(repr(chatkit.undo(result)), str(vars(chatkit.undo(result)))),
            ]
        )
        kept = everything(get_journal_folder(passing=True)) + seen.encode()
        assert b"https://new.example/1" in kept
        for text in hidden.values():
            assert json.loads(text)["webhook_secret"].encode() not in kept


def test_each_new_webhook_has_its_secret_whatever_the_rows_are_called(sandbox, client):
    new = pd.DataFrame({"url": [f"https://new.example/{n}" for n in range(3)]})
    new["events"] = [["*"]] * 3
    for n, index in enumerate([[0, 0, 0], pd.array([pd.NA] * 3, dtype="Int64")]):
        plan = client.webhooks.plan(new.assign(url=new.url + f"/{n}").set_axis(pd.Index(index)))
        assert states(plan.apply()) == ["applied"] * 3
        assert len(plan.secrets) == 3


def test_a_webhook_that_a_resumed_run_makes_keeps_its_secret(sandbox, client):
    new = pd.DataFrame({"url": ["https://new.example/"], "events": [["*"]]})
    with limited(sandbox, "Chat Detail, View") as mayless:
        plan = mayless.webhooks.plan(new)
        assert states(plan.apply()) == ["not sent"]
    plan = client.load_plan(plan.save(get_journal_folder(passing=True) / "plan.json"))
    assert states(plan.apply()) == ["applied"]
    assert [len(secret.reveal()) for secret in plan.secrets.values()] == [64]


def test_a_plan_that_asks_for_its_rehearsal_sends_nothing_without_one(sandbox, client, plan):
    with (
        untouched(sandbox),
        pytest.raises(chatkit.errors.PlanRefused, match="not rehearsed without"),
    ):
        plan.apply(rehearsed=True)


def test_a_rehearsal_counts_for_its_plan_alone_and_is_kept_in_the_file(client, plan, tmp_path):
    note_rehearsal(plan)
    again = client.load_plan(plan.save(tmp_path / "plan.json"))
    other = client.contacts.plan([{"number": "2125550178", "country_code": "+1"}])
    other._rehearsed = plan._rehearsed
    with pytest.raises(chatkit.errors.PlanRefused, match="not rehearsed without"):
        other.apply(rehearsed=True)
    assert states(again.apply(rehearsed=True)) == ["applied"] * 3


def test_a_saved_plan_whose_run_has_begun_is_sent_from_no_other_home(
    sandbox, client, plan, tmp_path, monkeypatch
):
    before = plan.save(tmp_path / "before.json")
    result = kept_at(plan, tmp_path / "first").apply()
    after = plan.save(tmp_path / "after.json")
    with untouched(sandbox):
        with pytest.raises(chatkit.errors.PlanRefused, match=r"its run has begun.*first"):
            client.load_plan(after).apply()
        with pytest.raises(chatkit.errors.PlanRefused, match=r"its run has begun.*first"):
            kept_at(client.load_plan(after), tmp_path / "second").apply()
        monkeypatch.setenv("CHATKIT_RUNS", str(tmp_path / "first"))
        with pytest.raises(chatkit.errors.PlanRefused, match=r"its run has begun.*first"):
            kept_at(client.load_plan(before), tmp_path / "second").apply()
        for path in (before, after):  # where its journal lies it goes on: nothing is left to do
            again = kept_at(client.load_plan(path), tmp_path / "first").apply()
            assert states(again) == states(result)
        chatkit.account.prune(0, runs=[plan.id], at=tmp_path / "first")
        with pytest.raises(
            chatkit.errors.PlanRefused, match="any more, or that is the folder of another"
        ):
            kept_at(client.load_plan(after), tmp_path / "first").apply()
