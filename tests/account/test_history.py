"""Tests of runs: listing, reading again, resuming, and results that stay true."""

from __future__ import annotations

import gc

import pandas as pd
import pytest
from bulk.applying import settled, stop_by
from bulk.journalling import spoil_run
from bulk.planning import (  # noqa: F401
    account,
    active,
    admin,
    call,
    client,
    contacts,
    content,
    limited,
    log,
    number,
    sandbox,
    states,
    webhook,
    writes,
)
from ports import reserved

import chatkit
from chatkit import RetryPolicy
from chatkit.account.fleet_plan import FleetPlan
from chatkit.account.history import _open_run
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.stores import get_journal_folder
from chatkit.util.files import hold_account_lock


def newcomers(count, first=0):
    numbers = [number(n) for n in range(first, first + count)]
    return pd.DataFrame({"number": numbers, "country_code": "+1"})


def stopped(sandbox, client, count=3):
    """A run that stopped before anything was sent, because its token may not."""
    weak = limited(sandbox, "Chat Contacts, View")
    result = weak.contacts.plan(newcomers(count, 50)).apply()
    assert set(states(result)) == {"not sent"}
    return result


def name_of(result):
    return result.attrs["chatkit"]["run"]


# --- runs -----------------------------------------------------------------------------------


def test_runs_are_listed_the_latest_first(sandbox, client):
    plan = client.contacts.plan(newcomers(3))
    first = plan.apply()
    open_run = stopped(sandbox, client)
    back = chatkit.undo(first, client)
    back.apply()
    runs = chatkit.runs(client)
    assert runs.index.tolist() == [back.id, name_of(open_run), plan.id]
    assert runs.index.name == "run"
    report = runs.drop(columns=["started", "ended", "account", "taken_back", "reason"])
    assert set(report.pop("connection")) == {"the sandbox"}
    assert report.to_dict("index") == {
        back.id: {
            "noun": "contact", "changes": 3, "applied": 3, "unknown": 0, "not_sent": 0,
            "state": "finished", "undoes": plan.id,
        },
        name_of(open_run): {
            "noun": "contact", "changes": 3, "applied": 0, "unknown": 0, "not_sent": 3,
            "state": "open", "undoes": "",
        },
        plan.id: {
            "noun": "contact", "changes": 3, "applied": 3, "unknown": 0, "not_sent": 0,
            "state": "taken back", "undoes": "",
        },
    }  # fmt: skip
    assert runs["taken_back"].tolist() == [pd.NaT, pd.NaT, runs.loc[back.id, "ended"]]
    assert runs["ended"].isna().tolist() == [False, True, False]
    assert runs["account"].unique().tolist() == [client.connection.account]
    assert str(runs["started"].dtype).endswith(", UTC]")
    assert (pd.Timestamp.now("UTC") - runs["started"]).dt.total_seconds().between(0, 60).all()
    assert sandbox.token not in runs.to_csv()


def test_runs_say_what_was_taken_back_in_part_and_what_is_there_again(sandbox, client):
    ids = contacts(sandbox, 12)
    frame = client.contacts.frame()
    frame.loc[ids[:2], "name"] = "Zoë"
    first = client.contacts.plan(frame).apply()
    call(sandbox, "PUT", f"contacts/{ids[0]}", name="Ana Cruz Díaz")  # somebody else, meanwhile
    back = chatkit.undo(first, client).apply()
    assert sorted(states(back)) == ["applied", "conflict"]
    runs = chatkit.runs(client)["state"]
    assert runs.tolist() == ["finished", "partly taken back"]
    chatkit.undo(back, client).apply()
    runs = chatkit.runs(client)
    assert runs["state"].tolist() == ["finished", "taken back", "finished"]
    assert runs["taken_back"].isna().tolist() == [True, False, True]


def test_runs_that_can_be_reached_are_shown_and_go_on_although_another_home_cannot(
    sandbox, client, monkeypatch, capsys
):
    name = name_of(stopped(sandbox, client))
    monkeypatch.setenv("CHATKIT_RUNS", "postgresql://nobody@127.0.0.1:1/none")
    capsys.readouterr()
    listed = chatkit.runs()
    report = capsys.readouterr().out
    assert name in listed.index
    assert report.startswith(
        "The journals in postgresql://nobody@127.0.0.1:1/none cannot be reached"
    )
    assert report.endswith("Its runs are not shown.\n")
    assert set(states(chatkit.resume(name, client))) == {"applied"}
    with pytest.raises(chatkit.errors.JournalError, match="cannot be reached"):  # it may be there
        chatkit.resume(name[:-1], client)


def test_runs_of_other_accounts_are_not_among_those_of_a_client(client):
    client.contacts.plan(newcomers(1)).apply()
    with account() as (_, other):
        assert len(chatkit.runs(other)) == 0
        other.webhooks.plan(
            pd.DataFrame({"url": ["https://a.example/"], "events": [["*"]]})
        ).apply()
        assert chatkit.runs(other)["noun"].tolist() == ["webhook"]
        assert {client.connection.account, other.connection.account} <= set(
            chatkit.runs()["account"]
        )


@pytest.mark.parametrize("unusual", ["production", 5, [1]])
def test_runs_of_what_is_no_client_are_refused(unusual):
    with pytest.raises(chatkit.errors.InputError, match="runs takes a client"):
        chatkit.runs(unusual)


def test_no_runs_are_a_frame_with_the_same_columns(client):
    empty = chatkit.runs(client)
    client.contacts.plan(newcomers(1)).apply()
    full = chatkit.runs(client)
    assert empty.columns.tolist() == full.columns.tolist()
    assert len(empty) == 0 and empty.index.name == "run"
    assert empty.dtypes["started"] == full.dtypes["started"]


@pytest.mark.parametrize("header", [f"'{'[' * 100_000}'", "X'91'", "CAST(X'91' AS TEXT)", "'{}'"])
def test_a_damaged_journal_is_listed_as_damaged_with_the_reason(client, header):
    other, run = (name_of(client.contacts.plan(newcomers(1, n)).apply()) for n in range(2))
    kept = spoil_run(run, "header", header)
    for runs in (chatkit.runs(), chatkit.runs(client)):
        listed = runs.loc[run]
        assert listed["state"] == "damaged" and not pd.isna(listed["changes"])
        assert f"The journal {run} is damaged" in listed["reason"], listed["reason"]
        assert runs.loc[other, "state"] == "finished"
    for use in (chatkit.account.journal, chatkit.resume, chatkit.undo):
        with pytest.raises(chatkit.errors.JournalError, match=run):
            use(run)
    assert len(chatkit.undo(other)) == 1
    kept.store.delete(run)


def test_a_file_that_is_no_journal_is_named_and_hides_no_other_run(client, lasting, capsys):
    run = name_of(client.contacts.plan(newcomers(1)).apply())
    lasting.mkdir(parents=True)
    (lasting / "chatkit-journal.db").write_bytes(b"no journal at all")
    capsys.readouterr()
    assert run in chatkit.runs().index
    assert "chatkit-journal.db is damaged (file is not a database)" in capsys.readouterr().out
    with pytest.raises(chatkit.errors.JournalError, match="Move it away"):
        chatkit.runs(at=lasting)
    assert len(chatkit.undo(run)) == 1


# --- one journal ----------------------------------------------------------------------------

COLUMNS = {
    "at": "datetime64[us, UTC]",
    "row": "object",
    "change": "str",
    "label": "str",
    "event": "str",
    "reason": "str",
    "detail": "object",
}


def test_a_journal_tells_what_happened_in_its_order(sandbox, client):
    ids = contacts(sandbox, 12)
    frame = client.contacts.frame()
    frame.loc[ids[0], "name"] = "Zoë"
    result = client.contacts.plan(frame, delete=ids[1:2]).apply()
    report = chatkit.account.journal(result)
    assert [dtype.split("[")[0] for dtype in map(str, report.dtypes)] == [
        dtype.split("[")[0] for dtype in COLUMNS.values()
    ]
    assert report.columns.tolist() == [*COLUMNS] and str(report["at"].dt.tz) == "UTC"
    assert report["at"].is_monotonic_increasing
    of_run = report[report["row"].isna()]
    assert of_run["event"].tolist() == ["started", "finished"]
    for contact, kind, events in [
        (ids[0], "update", ["intent", "answered", "verified"]),
        (ids[1], "delete", ["intent", "answered"]),
    ]:
        mine = report[report["row"] == contact]
        assert mine["event"].tolist() == events and set(mine["change"]) == {kind}
    intent = report[report["event"] == "intent"].set_index("row")["detail"]
    assert intent[ids[0]]["attempt"] == 1 and intent[ids[0]]["live"]["name"] == "Ana Cruz"


def test_a_run_is_named_by_the_beginning_of_its_name(client):
    plans = [client.contacts.plan(newcomers(1, n)) for n in range(2)]
    for plan in plans:
        plan.apply()
    one = plans[0].id
    assert len(chatkit.account.journal(one[:-1])) == len(chatkit.account.journal(one)) > 0
    with pytest.raises(chatkit.errors.JournalError, match=r"\d+ runs begin with '20'"):
        chatkit.account.journal("20")
    for unknown in ("no-such-run", "", one + "0", "../" + one, "*"):
        with pytest.raises(chatkit.errors.JournalError, match="No run is called"):
            chatkit.account.journal(unknown)


@pytest.mark.parametrize("use", [chatkit.account.journal, chatkit.resume, chatkit.undo])
def test_a_frame_that_is_no_result_is_refused(client, use):
    with pytest.raises(chatkit.errors.InputError, match=r"runs\(\) lists"):
        use(client.contacts.frame())


# --- resume ---------------------------------------------------------------------------------


def test_a_finished_run_sends_nothing_and_says_what_was_true(sandbox, client):
    plan = client.contacts.plan(newcomers(3))
    result = plan.apply()
    since = len(log(sandbox))
    again = chatkit.resume(result)
    assert len(log(sandbox)) == since
    pd.testing.assert_frame_equal(again, result)
    assert again.chatkit.summary() == "All 3 changes applied."


def test_a_stopped_run_goes_on_without_its_plan_or_frame(sandbox, client):
    name = name_of(stopped(sandbox, client))
    gc.collect()
    result = chatkit.resume(name, client)
    assert states(result) == ["applied"] * 3 and result.index.tolist() == [0, 1, 2]
    assert len(active(sandbox, "contacts")) == 3
    assert chatkit.runs(client).loc[name, "state"] == "finished"
    assert chatkit.account.journal(name)["event"].tolist().count("resumed") <= 1


def test_a_run_goes_on_at_its_own_pace(sandbox, client):
    name = name_of(stopped(sandbox, client))
    with pytest.raises(ValueError, match="must be 1 or more"):
        chatkit.resume(name, client, concurrency=0)
    assert states(chatkit.resume(name, client, concurrency=1, rate=1000)) == ["applied"] * 3


def test_what_is_in_doubt_is_looked_at_and_not_sent_again(sandbox, client):
    """The service lands the creates, never answers, and cannot be asked: nobody knows."""
    plan = client.contacts.plan(newcomers(3))
    client.transport.retry = RetryPolicy(deadline=0.3)
    admin(sandbox, "POST", "faults", **{"5xx": {"before": 0.0, "after": 1.0}})
    result = settled(plan.apply, settle=0)
    assert states(result) == ["unknown"] * 3
    assert chatkit.runs(client)["unknown"].tolist() == [3]
    refused = chatkit.undo(result).refused
    assert refused["reason"].str.contains("not known yet").all()
    assert set(refused["next_step"]) == {f"chatkit.resume({plan.id!r}) finds out"}
    admin(sandbox, "POST", "faults")
    client.transport.retry = RetryPolicy(deadline=30.0)
    sent = len(writes(sandbox))
    again = settled(chatkit.resume, result, settle=0)
    assert states(again) == ["applied"] * 3 and set(again["evidence"]) == {"adopted"}
    assert len(writes(sandbox)) == sent
    assert len(active(sandbox, "contacts")) == 3


def test_a_run_needs_a_client_when_its_account_is_not_open(sandbox):
    with chatkit.connect(sandbox) as client:
        result = stopped(sandbox, client)
    del client
    gc.collect()
    for use in (chatkit.resume, chatkit.undo):
        with pytest.raises(chatkit.errors.SettingsError, match="client"):
            use(result)
    with chatkit.connect(sandbox):
        assert states(chatkit.resume(result)) == ["applied"] * 3


def test_a_client_of_another_account_is_refused(sandbox, client):
    result = stopped(sandbox, client)
    with account() as (others, other):
        for use in (chatkit.resume, chatkit.undo):
            with pytest.raises(chatkit.errors.SettingsError, match="account"):
                use(result, other)
        assert active(others, "contacts") == {}


def test_a_run_of_a_busy_account_does_not_go_on(sandbox, client):
    result = stopped(sandbox, client)
    busy = pytest.raises(chatkit.errors.AccountBusy, match="another run")
    with (
        hold_account_lock(
            get_journal_folder(passing=True), client.connection.account, "another run"
        ),
        busy,
    ):
        chatkit.resume(result, client)
    assert states(chatkit.resume(result, client)) == ["applied"] * 3


@pytest.mark.parametrize("source", ["contacts", "templates", "webhooks"])
def test_a_run_of_each_resource_goes_on(sandbox, client, source):
    weak = limited(sandbox, "Chat Contacts, View", "Chat Templates, View", "Chat Detail, View")
    frames = {
        "contacts": newcomers(2),
        "templates": pd.DataFrame(
            {"template_code": ["a", "b"], "lang_code": "en", "text": "Hi"}
        ).set_index(["template_code", "lang_code"]),
        "webhooks": pd.DataFrame({"url": ["https://a.example/"], "events": [["*"]]}),
    }
    plan = getattr(weak, source).plan(frames[source])
    assert set(states(plan.apply())) == {"not sent"}
    result = chatkit.resume(plan.id, client)
    assert set(states(result)) == {"applied"}
    pd.testing.assert_index_equal(result.index, plan.frame().index)


# --- another process, over HTTP -------------------------------------------------------------


def test_journals_lie_in_the_users_own_folder_for_them_alone(sandbox, tmp_path, monkeypatch):
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))
    with (
        sandbox.serve() as base_url,
        chatkit.Client(base_url, sandbox.account_id, sandbox.token) as client,
    ):
        plan = client.contacts.plan(newcomers(1))
        plan.apply()
        folder = tmp_path / "data" / "runs"
        [path] = folder.glob("*.db")
        assert oct(path.stat().st_mode)[-3:] == "600"
        assert oct(folder.stat().st_mode)[-3:] == "700"
        assert sandbox.token.encode() not in path.read_bytes()
        assert chatkit.runs(client).index.tolist() == [plan.id]


# --- an account that has moved ---------------------------------------------------------------


def over_http(base_url, sandbox, token=None):
    return chatkit.Client(base_url, sandbox.account_id, token or sandbox.token)


@pytest.fixture
def lasting(tmp_path, monkeypatch):
    """A folder of journals of its own, for accounts that outlast this process."""
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))
    return tmp_path / "data" / "runs"


def test_a_run_goes_on_and_back_at_another_address_with_its_client_when_that_is_said(
    sandbox, lasting, capsys
):
    """An account of the same id is there at both: it may be another service's."""
    with sandbox.serve() as before, over_http(before, sandbox) as client:
        done = client.contacts.plan(newcomers(2)).apply()
        left = name_of(limited_over(before, sandbox).contacts.plan(newcomers(2, 50)).apply())
    del client
    gc.collect()
    with sandbox.serve() as after, over_http(after, sandbox) as client:
        assert after != before
        for use in (chatkit.resume, chatkit.undo):
            with pytest.raises(chatkit.errors.SettingsError, match="pass its client"):
                use(left, moved=True)
            with pytest.raises(chatkit.errors.SettingsError, match="moved=True") as caught:
                use(left, client)
            assert before in str(caught.value) and after in str(caught.value)
        with (
            chatkit.Client(after, "1002", sandbox.token) as other,
            pytest.raises(chatkit.errors.SettingsError, match="pass its client"),
        ):
            chatkit.resume(left, other, moved=True)
        capsys.readouterr()
        assert states(chatkit.resume(left, client, moved=True)) == ["applied"] * 2
        assert f"applied at {before}. It is continued at {after}" in capsys.readouterr().out
        back = chatkit.undo(done, client, moved=True)
        assert states(back.apply()) == ["applied"] * 2
        assert chatkit.runs().loc[back.id, "account"] == client.connection.account
        assert chatkit.runs().loc[name_of(done), "state"] == "taken back"
        assert states(chatkit.resume(back.id)) == ["applied"] * 2


def limited_over(base_url, sandbox):
    return over_http(base_url, sandbox, sandbox.make_token("Chat Contacts, View"))


def test_a_run_on_a_sandbox_in_a_file_goes_on_after_both_have_restarted(tmp_path, lasting):
    """The client has its address and token again, and the run knows the file that holds them."""
    file = tmp_path / "shop.db"
    with (
        chatkit.Sandbox(file) as sandbox,
        sandbox.serve() as base_url,
        chatkit.connect(f"{file}.access") as client,
    ):
        plan = client.contacts.plan(newcomers(2))
        stop = Interrupt()
        stop.ask()
        left = name_of(stop_by(plan, stop).apply())
    del client, plan
    gc.collect()
    held = reserved(int(base_url.rpartition(":")[2]))
    with held, chatkit.Sandbox(file) as sandbox, sandbox.serve() as after:
        assert after == base_url
        assert states(chatkit.resume(left)) == ["applied"] * 2
        assert len(active(sandbox, "contacts")) == 2


@pytest.mark.parametrize("held", ["old", "new"])
def test_a_run_that_has_moved_holds_the_locks_of_both_addresses(sandbox, lasting, held):
    with sandbox.serve() as before, limited_over(before, sandbox) as weak:
        left = name_of(weak.contacts.plan(newcomers(2)).apply())
        old = weak.connection.account
    with sandbox.serve() as after, over_http(after, sandbox) as client:
        account_ = {"old": old, "new": client.connection.account}[held]
        busy = pytest.raises(chatkit.errors.AccountBusy, match="another run")
        with hold_account_lock(get_journal_folder(passing=False), account_, "another run"), busy:
            chatkit.resume(left, client, moved=True)
        assert states(chatkit.resume(left, client, moved=True)) == ["applied"] * 2


def stopped_fleet(clients):
    """The run of a fleet that was stopped before anything was sent."""
    plan = FleetPlan({n: client.contacts.plan(newcomers(2)) for n, client in clients.items()})
    stop = Interrupt()
    stop.ask()
    return name_of(stop_by(plan, stop).apply())


def test_each_run_of_a_fleet_finds_its_account_whatever_that_is_called_now(sandbox, client):
    with account() as (other_sandbox, other):
        call(other_sandbox, "POST", "contacts", number=number(70), country_code="+1")
        left = stopped_fleet({"de": client, "fr": other})
        swapped = {"de": other, "fr": client}
        with chatkit.connect_all(swapped) as fleet:
            assert states(chatkit.resume(left, fleet)) == ["applied"] * 4
            assert len(chatkit.undo(f"{left}-001", fleet)) == 2
            back = chatkit.undo(left, fleet, rows=[("de", 0), ("de", 1)])
        assert states(back.apply()) == ["applied"] * 2
        assert (len(active(sandbox, "contacts")), len(active(other_sandbox, "contacts"))) == (0, 3)


def test_a_fleet_of_some_accounts_goes_on_with_those_that_can_be_found(lasting, sandbox):
    with account() as (_, other), sandbox.serve() as base_url:
        with over_http(base_url, sandbox) as client:
            left = stopped_fleet({"de": client, "fr": other})
            name = client.connection.account
        del client
        gc.collect()
        with chatkit.connect_all({"fr": other}) as fleet:
            result = chatkit.resume(left, fleet)
    assert states(result.loc["fr"]) == ["applied"] * 2
    assert result.attrs["stops"] == {"de": f"This run belongs to {name}: pass its client."}


def test_a_run_of_a_fleet_goes_on_only_where_it_was(lasting, sandbox):
    """Nothing is sent to an account of the same id at another address."""
    with sandbox.serve() as one, sandbox.serve() as two:
        with over_http(one, sandbox) as client:
            left = stopped_fleet({"de": client})
        del client
        gc.collect()
        with over_http(two, sandbox) as moved:
            for use in (chatkit.resume, lambda *where, **how: chatkit.undo(*where, **how).apply()):
                result = use(left, {"de": moved}, moved=True)
                assert "pass its client" in result.attrs["stops"]["de"]
            assert active(sandbox, "contacts") == {}
            assert states(chatkit.resume(f"{left}-001", moved, moved=True)) == ["applied"] * 2


# --- what connect() says ---------------------------------------------------------------------


def test_connect_says_that_a_run_was_interrupted_and_how_to_go_on(
    sandbox, lasting, monkeypatch, capsys
):
    with sandbox.serve() as base_url:
        monkeypatch.setenv("CHATKIT_BASE_URL", base_url)
        monkeypatch.setenv("CHATKIT_ACCOUNT_ID", sandbox.account_id)
        monkeypatch.setenv("CHATKIT_TOKEN", sandbox.token)

        def message():
            capsys.readouterr()
            with chatkit.connect() as client:
                lines = capsys.readouterr().out.splitlines()
                account_ = client.connection.account
            assert lines[0].startswith("Opened account")
            return lines[1:], account_

        assert message()[0] == []
        with limited_over(base_url, sandbox) as weak:
            first, left = (name_of(weak.contacts.plan(newcomers(2, n)).apply()) for n in (0, 50))
        [line], account_ = message()
        assert f"A run of 2 changes, begun on {left[:4]}-" in line
        assert f"chatkit.resume({left!r}) goes on" in line and "1 before it" in line
        with hold_account_lock(get_journal_folder(passing=False), account_, left):
            assert message()[0] == []  # it is at work
        (lasting / f"{next(lasting.glob('*.lock')).stem}.holder").write_text("a dead process")
        assert left in message()[0][0]
        spoil_run(first)
        with chatkit.connect() as client:
            chatkit.resume(left, client)
        assert message()[0] == []
        with limited_over(base_url, sandbox) as weak:
            weak.contacts.plan(newcomers(2, 90)).apply()
        monkeypatch.setenv("CHATKIT_ACCOUNT_ID", "1002")
        assert message()[0] == []  # a run of another account


def test_the_sandbox_in_memory_says_nothing_of_runs(sandbox, client, capsys):
    stopped(sandbox, client)
    capsys.readouterr()
    chatkit.connect(sandbox).close()
    assert capsys.readouterr().out.count("\n") == 1


def test_a_run_is_shown_although_its_account_cannot_be_found(sandbox):
    with chatkit.connect(sandbox) as closed:
        result = closed.contacts.plan(newcomers(2)).apply()
    plan, rows = _open_run(None, None, name_of(result))
    assert plan.id == name_of(result)
    assert states(rows) == ["applied", "applied"]
