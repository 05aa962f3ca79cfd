"""The table of runs is a frame in code; in a notebook each run is opened, resumed, taken back."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import processes
import pytest
from bulk.applying import kept_at, stop_by
from bulk.journalling import spoil_run
from displayed import html_of
from internals import identity_of, middleware_of
from widgets.gridding import client, sandbox  # noqa: F401
from widgets.screen import buttons, click_row, html, page_of, part, parts, press, seen, static

import chatkit
from chatkit.bulk.apply import Interrupt
from chatkit.client import Client
from chatkit.errors import PlanRefused
from chatkit.widgets.planview import PlanView
from chatkit.widgets.runsview import RunsView
from chatkit.widgets.table import PagedRows, RowsTable

EVIL = "<img src=x onerror=alert(1)>"


def renamed(client: Client, count: int = 3, name: str = "Ana Cruz") -> pd.DataFrame:
    frame = client.contacts.frame().head(count)
    return client.contacts.plan(frame.assign(name=name)).apply()


def stopped(client: Client, count: int = 3) -> pd.DataFrame:
    """A run that was stopped before anything was sent."""
    interrupt = Interrupt()
    interrupt.ask()
    frame = client.contacts.frame().tail(count)
    return stop_by(client.contacts.plan(frame.assign(name=EVIL)), interrupt).apply()


def name_of(result: pd.DataFrame) -> str:
    return str(result.attrs["chatkit"]["run"])


def output(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> RunsView:
    """The widget that a notebook shows of the frame."""
    made: list[RunsView] = []
    before = RunsView.__init__

    def init(self: RunsView, *arguments: Any) -> None:
        made.append(self)
        before(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(RunsView, "__init__", init)
        static(frame)
    return made[0]


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Callable[[pd.DataFrame], RunsView]:
    return lambda frame: output(frame, monkeypatch)


def click(view: RunsView, act: str, run: str) -> None:
    """Click a button of a run; it must be there."""
    table = table_of(view)
    assert f'data-act="{act}" data-row="{run}"' in table.value, table.value
    click_row(view, act, run)


def listed(view: RunsView) -> PagedRows:
    """The table of runs: the rows of the one that is opened stand below it."""
    return next(one for one in parts(view) if isinstance(one, PagedRows))


def table_of(view: RunsView | PlanView) -> RowsTable:
    return next(one for one in parts(view) if isinstance(one, RowsTable))


def opened(view: RunsView) -> PlanView:
    return next(one for one in parts(view) if isinstance(one, PlanView))


def labels(view: PlanView) -> list[str]:
    return buttons(view, but=(PagedRows, PlanView))


# --- a frame in code ------------------------------------------------------------------------


def test_it_is_a_frame_and_what_is_made_of_it_is_a_frame_as_any_other(client: Client) -> None:
    renamed(client)
    runs = chatkit.runs(client)
    assert isinstance(runs, pd.DataFrame) and runs.state.tolist() == ["finished"]
    made = (runs.copy(), runs.head(1), runs[["state"]], runs[runs.applied > 0], runs.reset_index())
    assert {type(one) for one in made} == {pd.DataFrame}
    assert repr(runs) == repr(runs.copy()) and html_of(runs) == html_of(runs.copy())


def test_a_notebook_shows_it_as_a_widget_and_keeps_its_text(client: Client) -> None:
    result = renamed(client)
    runs = chatkit.runs(client)
    bundle = static(runs)
    assert bundle["text/plain"] == repr(runs) and name_of(result) in bundle["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "3 of 3 applied" in bundle["text/html"] and "<button" not in bundle["text/html"]
    with pd.option_context("display.notebook_repr_html", False):
        assert static(runs) == {"text/plain": repr(runs)}


def test_connections_have_names_and_times_are_dates(
    client: Client, sandbox: chatkit.Sandbox, show: Callable[..., RunsView]
) -> None:
    result = renamed(client)
    back = chatkit.undo(result).apply()
    view = show(chatkit.runs(client))
    text = html(listed(view))
    shows = text.replace(name_of(result), "").replace(name_of(back), "")
    assert "the sandbox" in shows and identity_of(sandbox) not in shows
    started = chatkit.runs(client).started.iloc[-1].to_pydatetime().astimezone()
    assert f"{started.day} {started:%b %Y, %H:%M}" in shows
    assert "takes back the run of" in shows and "taken back" in shows
    assert not {name_of(result), name_of(back)} & {*text.replace('"', " ").split("<")}


def test_without_runs_it_says_what_makes_one(client: Client, show: Callable[..., RunsView]) -> None:
    assert "No runs yet" in html(show(chatkit.runs(client)))


# --- a run is opened ---------------------------------------------------------------------------


def test_a_run_is_opened_with_its_rows_as_the_journal_knows_them(
    client: Client, sandbox: chatkit.Sandbox, show: Callable[..., RunsView]
) -> None:
    before = client.contacts.get(50001)
    result = renamed(client)
    view = show(chatkit.runs(client))
    calls = len(middleware_of(sandbox).log)
    click(view, "open", name_of(result))
    text = html(opened(view))
    assert f"<del>{before.name}</del>" in text and "Ana Cruz" in text and before.number in text
    assert text.count('<tbody class="fine">') == 3 and "All 3 changes applied." in text
    assert labels(opened(view)) == ["Take it back …"]
    assert len(middleware_of(sandbox).log) == calls, "looking sends nothing"
    press(view, "Close this run")
    assert [one for one in parts(view) if isinstance(one, PlanView)] == []


def test_what_strangers_wrote_is_never_markup(
    client: Client, show: Callable[..., RunsView]
) -> None:
    result = stopped(client)
    view = show(chatkit.runs(client))
    click(view, "open", name_of(result))
    for text in (html(view), page_of(view)):
        assert "<img" not in text and "&lt;img src=x" in text


def test_a_run_goes_on_where_its_rows_are_seen_and_not_before(
    client: Client, sandbox: chatkit.Sandbox, show: Callable[..., RunsView]
) -> None:
    result = stopped(client)
    view = show(chatkit.runs(client))
    assert "1 can be gone on with" in html(view)
    calls = len(middleware_of(sandbox).log)
    click(view, "resume", name_of(result))
    assert labels(opened(view)) == ["Resume 3"]
    assert len(middleware_of(sandbox).log) == calls
    press(opened(view), "Resume 3")
    assert set(opened(view).wait().state) == {"applied"}
    assert client.contacts.get(result.key.iloc[0]).name == EVIL
    assert view.runs.state.tolist() == ["finished"] and "3 of 3 applied" in html(listed(view))


def test_a_run_is_taken_back_row_by_row_or_whole(
    client: Client, show: Callable[..., RunsView]
) -> None:
    before = client.contacts.frame().name
    result = renamed(client)
    view = show(chatkit.runs(client))
    click(view, "open", name_of(result))
    click_row(opened(view), "back", "1")
    assert opened(view).back is not None
    opened(view).back.apply()
    assert client.contacts.get(50002).name == before[50002]
    assert view.runs.state.tolist() == ["finished", "partly taken back"]

    again = show(chatkit.runs(client))  # in another kernel: the journals know which rows
    click(again, "open", name_of(result))
    assert html(opened(again)).count('<tbody class="back">') == 1
    click(again, "back", name_of(result))
    back = opened(again).back
    assert back is not None and [change.row for change in back.plan.changes] == [50003, 50001]
    assert labels(back) == ["Take back 2 changes"]
    press(back, "Take back 2 changes")
    back.wait()
    assert list(client.contacts.frame().name) == list(before)
    assert again.runs.loc[name_of(result), "state"] == "taken back"


def test_a_run_that_is_kept_elsewhere_is_opened_and_taken_back_there(
    client: Client, show: Callable[..., RunsView], tmp_path: Path
) -> None:
    home, before = tmp_path / "runs", client.contacts.frame().name
    edited = client.contacts.frame().head(3).assign(name="Bo")
    result = kept_at(client.contacts.plan(edited), home).apply()
    view = show(chatkit.runs(client, at=home))
    click(view, "back", name_of(result))
    back = opened(view).back
    assert back is not None
    press(back, "Take back 3 changes")
    back.wait()
    assert list(client.contacts.frame().name) == list(before)
    assert view.runs.loc[name_of(result), "state"] == "taken back"
    assert len(chatkit.runs(client, at=home)) == 2
    assert chatkit.runs(client).empty


def test_what_is_in_doubt_is_shown_alone(client: Client) -> None:
    plan = client.contacts.plan(client.contacts.frame().tail(3).assign(name="Bo"))
    result = plan.apply().assign(state=["applied", "unknown", "applied"])
    frame = chatkit.runs(client).assign(unknown=1, state="open")
    view = RunsView(frame, lambda: frame, lambda run: (plan, result))
    assert "1 change in doubt" in html(view)
    click(view, "resume", name_of(result))
    assert [item.kinds[-1] for item in part(opened(view), PagedRows).matching()] == ["unknown"]
    assert "Resume 1" in labels(opened(view)) and "looks what took effect" in view.message


def test_a_run_at_work_is_not_left_for_another(
    client: Client, sandbox: chatkit.Sandbox, show: Callable[..., RunsView]
) -> None:
    first, second = renamed(client), stopped(client)
    view = show(chatkit.runs(client))
    click(view, "resume", name_of(second))
    sandbox.faults(latency=0.2)
    opened(view).start()
    with pytest.raises(PlanRefused, match="is at work"):
        view.open_run(name_of(first))
    click(view, "open", name_of(first))
    assert "is at work" in view.message and opened(view).running
    press(view, "Close this run")
    assert opened(view).at_work and "is at work" in view.message
    sandbox.faults()
    opened(view).wait()


# --- where its account is, and what cannot be read ---------------------------------------------


def test_a_run_of_an_account_that_is_not_open_is_read_and_says_what_it_needs_to_go_on(
    show: Callable[..., RunsView],
) -> None:
    with chatkit.Sandbox(seed="demo") as sandbox:
        with chatkit.connect(sandbox) as client:
            result = stopped(client)
            account = client.connection.account
        del client
        gc.collect()
        view = show(chatkit.runs())
        click(view, "resume", name_of(result))
        assert "not sent" in html(opened(view))
        press(opened(view), "Resume 3")
        with pytest.raises(chatkit.errors.SettingsError, match="pass its client"):
            opened(view).wait()
        assert account in opened(view).message


FRESH = """
import sys
import chatkit
base_url, account, token, run = sys.argv[1:]
frame = chatkit.runs()
view = frame._widget_of(frame)  # as a notebook does
rows = view.open_run(run)
print("&lt;img src=x" in rows._rows._table.value, rows.result.state.tolist())
with chatkit.Client(base_url, account, token) as client:
    print(rows.apply().state.tolist())
    rows.undo([0]).apply()
    print(rows._rows._table.value.count('<tbody class="back">'), view.runs.state.tolist())
"""


def test_after_a_restart_a_run_is_read_gone_on_with_and_taken_back(
    sandbox: chatkit.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))
    with sandbox.serve() as base_url:
        with chatkit.Client(base_url, sandbox.account_id, sandbox.token) as client:
            name = name_of(stopped(client))
        report = processes.run(
            [sys.executable, "-c", FRESH, base_url, sandbox.account_id, sandbox.token, name],
            capture_output=True, text=True, timeout=60, env=os.environ,
        )  # fmt: skip
    assert report.returncode == 0, report.stderr
    assert report.stdout.splitlines() == [
        "True ['not sent', 'not sent', 'not sent']",
        "['applied', 'applied', 'applied']",
        "1 ['finished', 'partly taken back']",
    ]


def test_a_damaged_run_can_neither_be_opened_nor_gone_on_with(
    client: Client, show: Callable[..., RunsView]
) -> None:
    result = renamed(client)
    kept = spoil_run(name_of(result))
    view = show(chatkit.runs())
    text = html(listed(view))
    assert "its journal cannot be read" in text
    assert f'data-row="{name_of(result)}"' not in text and "1 cannot be read" in html(view)
    kept.store.delete(kept.run)
    click_row(view, "open", name_of(result))
    assert "No run is called" in view.message
    press(view, "Refresh")
    assert name_of(result) not in view.runs.index


def test_a_live_account_is_named_where_it_is_written_to(client: Client) -> None:
    result = stopped(client)
    plan = client.contacts.plan(client.contacts.frame().tail(3).assign(name=EVIL))
    plan.id = name_of(result)
    frame = chatkit.runs(client).assign(
        account="https://api.example.com account 1001", connection="production"
    )
    view = RunsView(frame, lambda: frame, lambda run: (plan, result))
    assert "production" in html(listed(view)) and "live data" in html(listed(view))
    click(view, "resume", name_of(result))
    assert [one for one in labels(opened(view)) if "Resume" in one] == ["Resume 3 in production"]
    assert "production, live data" in html(view)
    assert seen(view)
