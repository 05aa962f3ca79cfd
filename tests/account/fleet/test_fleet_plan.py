"""Plans of several accounts: one review, one run, one undo; no account stops another."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
import processes
import pytest
from bulk.applying import kept_at, stop_by
from bulk.journalling import run_sql, spoil_run
from bulk.planning import active, contacts, number
from displayed import html_of
from msgspec.structs import replace

import chatkit
from chatkit.account.fleet_plan import FleetPlan, run_in_threads
from chatkit.api.secret import Secret
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.plan import create_journals, get_target
from chatkit.bulk.stores import open_store
from chatkit.client import Client

LABELS = ("de", "fr", "it")


@pytest.fixture
def accounts() -> Iterator[dict[str, tuple[chatkit.Sandbox, Client]]]:
    """Three empty accounts, each of a sandbox of its own."""
    with ExitStack() as opened:
        outcome = {}
        for label in LABELS:
            sandbox = opened.enter_context(chatkit.Sandbox(seed="empty"))
            outcome[label] = sandbox, opened.enter_context(chatkit.connect(sandbox))
        yield outcome


def newcomers(count: int, first: int = 0) -> pd.DataFrame:
    numbers = [number(n) for n in range(first, first + count)]
    return pd.DataFrame({"number": numbers, "country_code": "+1"})


def planned(accounts: dict[str, Any], count: int = 2) -> FleetPlan:
    return FleetPlan(
        {n: client.contacts.plan(newcomers(count)) for n, (_, client) in accounts.items()}
    )


def every(state: str, count: int) -> dict[str, list[str]]:
    return {label: [state] * count for label in LABELS}


def by_account(result: pd.DataFrame) -> dict[str, list[str]]:
    return {n: part.state.tolist() for n, part in result.groupby(level="account", sort=False)}


def test_a_run_that_has_begun_goes_on_from_no_other_home(
    accounts: dict[str, Any], tmp_path: Path
) -> None:
    plan, interrupt = planned(accounts), Interrupt()
    interrupt.ask()
    kept_at(stop_by(plan, interrupt), tmp_path / "first").apply()
    refused = pytest.raises(chatkit.errors.PlanRefused, match=r"its run has begun.*first")
    with refused:
        kept_at(plan, tmp_path / "second").apply()
    assert not (tmp_path / "second").exists()
    assert by_account(kept_at(plan, tmp_path / "first").apply()) == every("applied", 2)
    with refused:
        kept_at(plan, tmp_path / "second").apply()
    for _, client in accounts.values():
        assert len(client.contacts.frame()) == 2


def test_a_plan_of_several_accounts_is_one_review_one_run_and_one_undo(accounts):
    plan = planned(accounts)
    assert plan.counts == {"create": 6, "update": 0, "delete": 0}
    assert len(plan) == 6
    assert plan.frame().index.names == ["account", None]
    assert [part.id for part in plan.plans.values()] == [f"{plan.id}-00{n}" for n in (1, 2, 3)]
    result = plan.apply()
    assert by_account(result) == every("applied", 2)
    assert result.attrs["stops"] == {}
    assert result.index.tolist() == [(n, row) for n in LABELS for row in (0, 1)]
    runs = chatkit.runs()
    assert set(runs.index) >= {part.id for part in plan.plans.values()}
    again = chatkit.resume(result)
    pd.testing.assert_frame_equal(again, result)
    back = chatkit.undo(result)
    assert isinstance(back, FleetPlan)
    assert by_account(back.apply()) == every("applied", 2)
    for sandbox, _ in accounts.values():
        assert len(active(sandbox, "contacts")) == 0


def test_a_review_says_what_each_account_would_do_and_then_how(accounts):
    plan = planned(accounts, 1)
    report = repr(plan).splitlines()
    assert report[0] == "Plan for 3 accounts: 3 creates."
    assert report[2:5] == [f"  {n}  Plan for 0 contacts: 1 create." for n in LABELS]
    assert report[-1] == "plan.apply() does it."
    html = html_of(plan)
    assert html.count("<details>") == 3


def test_what_strangers_call_an_account_is_escaped(accounts):
    _, client = accounts["de"]
    plan = FleetPlan({"<img src=x>": client.contacts.plan(newcomers(1))})
    assert "<img" not in html_of(plan)


def test_an_account_without_changes_has_no_run_and_no_rows(accounts):
    (_, one), (_, other), _ = accounts.values()
    plan = FleetPlan({"de": one.contacts.plan([]), "fr": other.contacts.plan(newcomers(1))})
    result = plan.apply()
    assert by_account(result) == {"fr": ["applied"]}
    assert [run for run in chatkit.runs().index if run.startswith(plan.id)] == [f"{plan.id}-001"]


def test_a_blocked_account_blocks_the_fleet_and_is_named(accounts):
    sandbox, client = accounts["de"]
    contacts(sandbox, 20)
    plan = FleetPlan(
        {
            "de": client.contacts.plan(None, delete=client.contacts.frame().index),
            "fr": accounts["fr"][1].contacts.plan(newcomers(1)),
        }
    )
    with pytest.raises(chatkit.errors.PlanRefused, match=r"de: needs apply\(many=True\)"):
        plan.apply()
    assert plan.apply(many=True).state.eq("applied").all()


def test_an_account_that_could_not_be_planned_blocks_until_it_is_left_out(accounts):
    _, client = accounts["de"]
    plans = {"de": client.contacts.plan(newcomers(1))}
    with pytest.raises(chatkit.errors.PlanRefused, match=r"1 account could not be planned \(fr\)"):
        FleetPlan(plans, failed={"fr": "no token"}).apply()
    done = FleetPlan(plans, failed={"fr": "no token"}, skip_invalid=True).apply()
    assert by_account(done) == {"de": ["applied"]}


def test_the_stop_button_stops_all_accounts_and_they_go_on_later(accounts):
    plan = planned(accounts, 40)
    interrupt = Interrupt()

    def stop(done: int, total: int | None) -> None:
        interrupt.ask()

    result = stop_by(plan, interrupt).apply(watch=stop, rate=5, concurrency=1)
    assert len(result) == 120
    assert set(result.attrs["stops"]) == set(LABELS)
    assert (result.state == "not sent").any()
    after = chatkit.resume(plan.id)
    assert after.state.eq("applied").all()
    assert [len(active(sandbox, "contacts")) for sandbox, _ in accounts.values()] == [40, 40, 40]


def test_what_a_fleet_has_wholly_applied_is_not_called_stopped(accounts, capsys):
    plan, interrupt = planned(accounts), Interrupt()

    def stop_at_the_end(done: int, total: int | None) -> None:
        if done == total:
            interrupt.ask()

    result = stop_by(plan, interrupt).apply(watch=stop_at_the_end)
    assert result.attrs["stops"] == {}
    assert result.chatkit.summary() == "All 6 changes applied."
    capsys.readouterr()
    interrupt.ask()
    assert stop_by(plan, interrupt).apply().attrs["stops"] == {}  # nothing was left to do
    assert capsys.readouterr().out == ""


def test_a_plan_of_no_account_gives_all_columns(accounts):
    some = planned(accounts)
    none = FleetPlan({}, failed={"de": "no token"}, skip_invalid=True)
    for frame, whole in (
        (none.frame(), some.frame()),
        (none.refused, some.refused),
        (none.left_out, some.left_out),
        (none.apply(), some.apply()),
    ):
        assert len(frame) == 0
        assert frame.columns.tolist() == whole.columns.tolist()
        assert frame.index.names == whole.index.names
    result = none.apply()
    assert result.attrs["stops"] == {"de": "no token"}
    assert result.chatkit.summary() == "0 changes. It stopped: de: no token."


def test_a_run_whose_accounts_cannot_be_found_is_taken_back_in_none(accounts):
    result = planned(accounts).apply()
    for _, client in accounts.values():
        client.close()
    back = chatkit.undo(result).apply()
    assert len(back) == 0
    assert "state" in back
    assert list(back.attrs["stops"]) == list(LABELS)


def test_rows_of_a_fleet_are_taken_back_by_account_and_label(accounts):
    plan = planned(accounts)
    result = plan.apply()
    back = chatkit.undo(result, rows=[("fr", 1), ("it", 0)])
    assert {n: len(part) for n, part in back.plans.items()} == {"fr": 1, "it": 1}
    with pytest.raises(chatkit.errors.InputError, match="which begin with an account"):
        chatkit.undo(result, rows=[1])
    assert back.apply().state.eq("applied").all()
    rest = chatkit.undo(result)  # without what was taken back already
    assert len(rest) == len(result) - 2
    assert rest.left_out["account"].tolist() == ["fr", "it"]
    assert rest.left_out["state"].eq("taken back").all()


def test_a_value_that_json_cannot_hold_leaves_no_journal_of_any_account(accounts):
    good = accounts["de"][1].contacts.plan(newcomers(1))
    bad = accounts["fr"][1].contacts.plan(newcomers(1))
    bad.changes = tuple(replace(change, before={"rate": float("nan")}) for change in bad.changes)
    plan = FleetPlan({"fr": bad, "de": good})
    with pytest.raises(chatkit.errors.InputError, match="JSON cannot hold"):
        plan.apply()
    assert not [run for run in chatkit.runs().index if run.startswith(plan.id)]


def test_a_fleet_whose_journals_were_not_all_written_does_not_go_on(accounts):
    plan = prepared(accounts)
    open_store(passing=True).delete(f"{plan.id}-001")
    with pytest.raises(chatkit.errors.JournalError, match="so nothing was sent"):
        chatkit.resume(plan.id)


def test_work_in_threads_gives_errors_as_they_are_and_stops_with_its_caller():
    def work(label, notify):
        if label == "fr":
            raise ValueError("broken")
        return label

    came = run_in_threads(LABELS, work)
    assert came["de"] == "de"
    assert isinstance(came["fr"], ValueError)
    begun, ended = threading.Event(), threading.Event()

    def long(label, notify):
        try:
            while True:
                begun.set()
                notify(1, None)
        except InterruptedError:
            ended.set()
            raise

    def interrupted():
        assert begun.wait(10)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_in_threads(["de"], long, meanwhile=interrupted)
    assert ended.wait(10)


def test_served_accounts_with_a_wrong_token_and_a_busy_one_leave_the_others_alone(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path))
    with ExitStack() as opened:
        sandboxes, clients = {}, {}
        for label in (*LABELS, "es"):
            sandbox = sandboxes[label] = opened.enter_context(chatkit.Sandbox(seed="empty"))
            report = opened.enter_context(sandbox.serve()), sandbox.account_id, sandbox.token
            clients[label] = opened.enter_context(chatkit.Client(*report))
        plan = FleetPlan({n: each.contacts.plan(newcomers(3)) for n, each in clients.items()})
        fr, it = clients["fr"], clients["it"]
        fr.transport = fr.transport.with_token(Secret("revoked"))  # since it was planned
        get_target(plan["fr"]).transport = fr.transport  # type: ignore[misc]
        with open_store().hold([it.connection.account], "another"):
            result = plan.apply()
        assert by_account(result) == {
            "de": ["applied"] * 3, "fr": ["not sent"] * 3,
            "it": ["not sent"] * 3, "es": ["applied"] * 3,
        }  # fmt: skip
        assert list(result.attrs["stops"]) == ["fr", "it"]
        assert "revoked" not in repr(result) + str(result.attrs)
        whose = fr.connection.base_url, fr.connection.account_id, sandboxes["fr"].token
        right = chatkit.Client(*whose)
        after = chatkit.resume(plan.id, {**clients, "fr": opened.enter_context(right)})
        assert after.state.eq("applied").all()
        assert [len(active(sandbox, "contacts")) for sandbox in sandboxes.values()] == [3] * 4
        gone = chatkit.account.prune(days=36_500, runs=[plan.id])
        assert gone == [part.id for part in plan.plans.values()]


#: A process that applies to three served accounts, and is killed in the middle.
APPLIES = """
import json, sys
import chatkit
from chatkit.account.fleet_plan import FleetPlan
import pandas as pd
told = json.loads(sys.argv[1])
clients = {n: chatkit.Client(*each) for n, each in told["accounts"].items()}
rows = pd.DataFrame({"number": told["numbers"], "country_code": "+1"})
plan = FleetPlan({n: client.contacts.plan(rows) for n, client in clients.items()})
print(plan.id, flush=True)
plan.apply(concurrency=1, watch=lambda done, total: print(done, flush=True))
"""


def test_a_killed_process_loses_no_account_and_doubles_none(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path))
    with ExitStack() as opened:
        sandboxes, report = {}, {}
        for label in LABELS:
            sandbox = opened.enter_context(chatkit.Sandbox(seed="empty"))
            sandboxes[label] = sandbox
            base_url = opened.enter_context(sandbox.serve())
            report[label] = [base_url, str(sandbox.account_id), sandbox.token]
        numbers = [number(n) for n in range(60)]
        passed = json.dumps({"accounts": report, "numbers": numbers})
        with processes.Popen(
            [sys.executable, "-c", APPLIES, passed], stdout=processes.PIPE, text=True
        ) as process:
            run = process.stdout.readline().strip()
            while int(process.stdout.readline() or 180) < 20:
                pass
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        made = [len(active(sandbox, "contacts")) for sandbox in sandboxes.values()]
        assert 0 < sum(made) < 180
        runs = chatkit.runs()
        interrupted = (runs[runs.index.str.startswith(run)].state == "open").sum()
        assert interrupted >= sum(count < 60 for count in made) > 0  # one may have ended before
        clients = {n: opened.enter_context(chatkit.Client(*each)) for n, each in report.items()}
        result = chatkit.resume(run, clients)
        assert len(result) == 180
        assert result.state.eq("applied").all()
        assert [len(active(sandbox, "contacts")) for sandbox in sandboxes.values()] == [60, 60, 60]


# --- one run of it by its name, and what is missing -----------------------------------------


def prepared(accounts: dict[str, Any]) -> FleetPlan:
    """A plan whose run has its journals, and has sent nothing yet."""
    plan = planned(accounts)
    create_journals([*reversed(plan.plans.values())], plan.id)
    return plan


def damage(run: str) -> None:
    """Overwrite the header of a journal, so that nothing of it can be read."""
    spoil_run(run)


def damage_a_change(run: str) -> None:
    """Edit a change of a journal, which can be read but is not what was written any more."""
    change = f"UPDATE chatkit_change SET body = body || ' ' WHERE n = 0 AND run = '{run}'"
    run_sql(open_store(passing=True), change)


def test_the_beginning_of_a_name_that_fits_another_run_too_is_no_run_of_a_fleet(accounts):
    plan = prepared(accounts)
    _, client = accounts["de"]
    other = client.contacts.plan(newcomers(1, 20))
    other.id = f"{plan.id[:-1]}{'1' if plan.id[-1] == '0' else '0'}"
    other.apply()
    with pytest.raises(chatkit.errors.JournalError, match="4 runs begin with"):
        chatkit.resume(plan.id[:-1])
    assert [len(active(sandbox, "contacts")) for sandbox, _ in accounts.values()] == [1, 0, 0]
    assert by_account(chatkit.resume(plan.id)) == every("applied", 2)


@pytest.mark.parametrize("missing", ["damaged", "deleted"])
@pytest.mark.parametrize("position", [1, 2, 3])
def test_an_account_whose_journal_is_missing_is_a_stop_of_the_fleet(accounts, missing, position):
    plan = planned(accounts)
    plan.apply()
    run, label = f"{plan.id}-00{position}", LABELS[position - 1]
    others = [n for n in LABELS if n != label]
    if missing == "damaged":
        damage(run)
    else:
        open_store(passing=True).delete(run)
    result = chatkit.resume(plan.id)
    assert list(by_account(result)) == others
    assert list(result.attrs["stops"]) == [label]
    assert run in result.attrs["stops"][label]
    back = chatkit.undo(plan.id)
    assert list(back.failed) == [label]
    assert label in repr(back)
    assert list(back.apply().attrs["stops"]) == [label]


def test_a_first_journal_that_cannot_be_read_does_not_say_that_nothing_was_sent(accounts):
    plan = prepared(accounts)
    damage(f"{plan.id}-001")
    result = chatkit.resume(plan.id)
    assert by_account(result) == {"fr": ["applied"] * 2, "it": ["applied"] * 2}
    assert "cannot be read" in result.attrs["stops"]["de"]


def test_an_account_without_a_client_is_a_stop_of_its_own_when_a_fleet_goes_on(accounts):
    plan = prepared(accounts)
    clients = {label: client for label, (_, client) in accounts.items()}
    clients.pop("fr").close()
    result = chatkit.resume(plan.id, clients)
    assert by_account(result) == {
        "de": ["applied"] * 2, "fr": ["not sent"] * 2, "it": ["applied"] * 2,
    }  # fmt: skip
    assert "pass its client" in result.attrs["stops"]["fr"]


def test_a_journal_that_is_damaged_stops_its_account_alone(accounts):
    plan = prepared(accounts)
    damage_a_change(f"{plan.id}-002")
    result = plan.apply()
    assert by_account(result) == {
        "de": ["applied"] * 2, "fr": ["unknown"] * 2, "it": ["applied"] * 2,
    }  # fmt: skip
    assert list(result.attrs["stops"]) == ["fr"]
    again = chatkit.resume(plan.id)
    assert by_account(again) == {"de": ["applied"] * 2, "it": ["applied"] * 2}
    assert list(again.attrs["stops"]) == ["fr"]


def test_all_journals_of_a_fleet_are_deleted_by_its_name_damaged_ones_too(accounts):
    plan, other = prepared(accounts), prepared(accounts)
    damage(f"{plan.id}-001")
    home = open_store(passing=True)
    gone = chatkit.account.prune(runs=[plan.id, other.id[:-1]], at=home.folder)
    assert gone == [f"{plan.id}-00{n}" for n in (1, 2, 3)]
    assert all(home.has(part.id) for part in other.plans.values())


def test_only_the_run_of_a_fleet_goes_on_with_workers(accounts):
    _, client = accounts["de"]
    result = client.contacts.plan(newcomers(1)).apply()
    with pytest.raises(chatkit.errors.InputError, match="on= goes on with the run of a fleet"):
        chatkit.resume(result, on="local")
    fleet = planned(accounts).apply()
    with pytest.raises(chatkit.errors.InputError, match="on= takes a connected client of Dask"):
        chatkit.resume(fleet, on="elsewhere")


def test_when_every_journal_of_a_fleet_is_damaged_it_is_an_error(accounts):
    plan = prepared(accounts)
    for n in (1, 2, 3):
        damage_a_change(f"{plan.id}-00{n}")
    with pytest.raises(chatkit.errors.JournalError):
        chatkit.resume(plan.id)


def test_what_the_journals_of_a_fleet_tell_is_shown_although_some_cannot_be_read(accounts, capsys):
    plan = planned(accounts)
    result = plan.apply()
    damage_a_change(f"{plan.id}-001")
    damage(f"{plan.id}-003")
    capsys.readouterr()
    assert chatkit.account.journal(result).account.unique().tolist() == ["fr"]
    report = capsys.readouterr().out.splitlines()
    assert sorted(line.partition(": ")[0] for line in report) == ["de", "it"]


def test_a_fleet_is_refused_where_one_account_is_meant(tmp_path) -> None:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        fleet = chatkit.connect_all({"one": client})
        folder = chatkit.Folder(tmp_path / "shop")
        folder.pull(client)
        plan = fleet.contacts.plan(fleet.contacts.frame())
        for use in (folder.plan, folder.pull):
            with pytest.raises(chatkit.errors.InputError, match="one account, not for Fleet"):
                use(fleet)
        with pytest.raises(chatkit.errors.InputError, match="the plan of one account"):
            chatkit.rehearse(plan)
        with pytest.raises(chatkit.errors.InputError, match="there are plans for: one"):
            plan["two"]
