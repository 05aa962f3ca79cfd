"""Table of runs: what was applied, to be opened, gone on with and taken back without code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from chatkit.api.connection import describe_account, is_live
from chatkit.bulk.endpoints import ACCOUNT
from chatkit.errors import PlanRefused
from chatkit.util.display import escaped, many
from chatkit.widgets.controls import Exported
from chatkit.widgets.fields import FormButton, FormGroup, FormModel, Html
from chatkit.widgets.planview import PlanView
from chatkit.widgets.table import Item, PagedRows, draw_row_button, draw_saved_rows, draw_saved_view

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.account.fleet_plan import FleetPlan
    from chatkit.bulk.plan import Plan

_COLUMNS = {"started": 18, "account": 18, "changes": 22, "state": 20, "to do": 22}
_LOOKS = {"finished": "fine", "open": "open", "damaged": "bad"}


class RunsView(Exported, FormModel):
    """The runs of this machine as a table to click; `chatkit.runs()` shows itself as one.

    A click opens a run below with all its rows, as its journal knows them. What writes to an
    account is a second button, which says to which; it shows how far it is and can be stopped. A
    run of a fleet has a row for each account; in Python `chatkit.resume` and `chatkit.undo` take
    them as one.

    Args:
        runs: The frame of the runs.
        reread: Returns the frame as it is now.
        opened: Returns the plan of a run and its result so far.
    """

    def __init__(
        self,
        runs: pd.DataFrame,
        reread: Callable[[], pd.DataFrame],
        opened: Callable[[str], tuple[Plan | FleetPlan, pd.DataFrame]],
    ) -> None:
        self.runs = runs  #: the frame that is shown
        self.view: PlanView | None = None  #: the run that is open
        self._reread, self._open_plan = reread, opened
        self._heading = Html()
        self._rows = PagedRows(_COLUMNS, [], act=self._handle_action, label="Runs")
        self._close = FormButton("Close this run", lambda: self.attempt(self.close_run))
        self._close.hidden = True
        bar = FormGroup(
            [FormButton("Refresh", self.read_again), self._close], css="chatkit-bar", row=True
        )
        self._title, self._below = Html(), FormGroup()
        parts = [self._heading, self._rows, bar, self.status, self._title, self._below]
        super().__init__(FormGroup(parts, css="chatkit-planview chatkit-runs"))
        self._fill_table(stay=False)

    def __repr__(self) -> str:
        return repr(self.runs)

    def _make_saved_page(self) -> str:
        columns = {name: width for name, width in _COLUMNS.items() if name != "to do"}
        table = draw_saved_rows(columns, _make_run_items(self.runs, acts=False), "chatkit.runs()")
        below = "" if self.view is None else self.view._make_saved_page()
        return draw_saved_view(_summarize(self.runs), table) + below

    def read_again(self) -> None:
        """Show the runs as they are now."""
        self.runs = self._reread()
        self._fill_table(stay=True)

    def open_run(self, run: str) -> PlanView:
        """Show the rows of a run below, and return the view of it.

        Args:
            run: Its name, as in the index of the frame.

        Raises:
            JournalError: There is no such run, or its journal is damaged.
            PlanRefused: The run that is open is at work.
        """
        self._check_idle()
        plan, result = self._open_plan(run)
        record: dict[str, Any] = self.runs.loc[run].to_dict()  # type: ignore[assignment]
        live = _format_account(record) if _is_live(record) else ""
        view = self.view = PlanView(plan, self._on_applied, result=result, live=live)
        started = f"Run of {_format_local_time(record['started'])}, {_format_account(record)}"
        title = escaped(f"{started}{', live data' if live else ''}")
        self._title.value = f"<p><strong>{title}</strong></p>"
        self._close.hidden = False
        self.show_in(self._below, view)
        view.reveal()
        return view

    def _check_idle(self) -> None:
        if self.view is not None and self.view.at_work:
            raise PlanRefused("The run below is at work: stop it, or wait until it is done.")

    def close_run(self) -> None:
        """Close the open run.

        Raises:
            PlanRefused: It is at work.
        """
        self._check_idle()
        self.view = None
        self._title.value, self._close.hidden = "", True
        self.status.write("")
        self.show_in(self._below)

    def _on_applied(self, _: PlanView) -> None:
        self.status.write("")
        self.read_again()

    def _handle_action(self, act: str, run: str) -> None:
        """Open a run for the action of a button. Nothing is written before a button below it."""
        if run in self.runs.index:
            self.attempt(self._open_for_action, act, run)

    def _open_for_action(self, act: str, run: str) -> None:
        view = self.open_run(run)
        text = "Its rows are below."
        if act == "resume":
            view.show("not applied")
            text = (
                "What it has not applied is below. Nothing is sent before you go on there; then "
                "it looks what took effect, and sends the rest."
            )
        elif act == "back":
            view.undo()
            text = "The plan that takes it back is below: nothing is sent before you click there."
        self.report(text)

    def _fill_table(self, *, stay: bool) -> None:
        self._heading.value = f"<p><strong>{escaped(_summarize(self.runs))}</strong></p>"
        self._rows.fill(_COLUMNS, _make_run_items(self.runs), stay=stay)
        self.draw()


def _summarize(runs: pd.DataFrame) -> str:
    """Return the headline: the count of runs, and of those that need attention."""
    if not len(runs):
        return "No runs yet: plan.apply() makes one."
    open_ones, unknown = int((runs["state"] == "open").sum()), int(runs["unknown"].sum())
    parts = [f"{open_ones:,} can be gone on with"] if open_ones else []
    parts += [f"{many(unknown, 'change')} in doubt"] if unknown else []
    damaged = int((runs["state"] == "damaged").sum())
    parts += [f"{damaged:,} cannot be read"] if damaged else []
    rest = f": {', '.join(parts)}" if parts else ""
    return f"{many(len(runs), 'run')}, the latest first{rest}."


def _format_account(run: Mapping[str, Any]) -> str:
    """Return the name of the account of a run; empty if its journal is damaged."""
    return describe_account(run["account"], run["connection"]) if run["account"] else ""


def _is_live(run: Mapping[str, Any]) -> bool:
    return bool(run["account"]) and is_live(run["account"])


def _make_run_items(runs: pd.DataFrame, *, acts: bool = True) -> Sequence[Item]:
    records: dict[str, dict[str, Any]] = runs.to_dict("index")  # type: ignore[assignment]
    started = {name: _format_local_time(one["started"]) for name, one in records.items()}
    items = []
    for name, one in records.items():
        undoes = started.get(one["undoes"], "")
        account = _format_account(one)
        text = f"{started[name]} {account} {one['account']} {one['noun']} {one['state']} {name}"
        kinds = (one["state"], *(["in doubt"] if one["unknown"] else []))
        drawn = partial(_draw_run_row, name, one, started[name], account, undoes, acts=acts)
        items.append(Item(kinds, text, drawn))
    return items


def _draw_run_row(
    name: str, run: Mapping[str, Any], started: str, account: str, undoes: str, *, acts: bool
) -> tuple[str, list[str]]:
    """Draw the row of a run, with buttons for the actions it allows."""
    state = run["state"]
    if state == "damaged":
        reason = "its journal cannot be read"
        cells = [escaped(name), "", "", f"damaged<div>{reason}</div>"]
    else:
        # a run for the account has changes of several resources
        noun = many(run["changes"], "change" if run["noun"] == ACCOUNT else run["noun"])
        changes = f"{escaped(noun)}<div>takes back the run of {escaped(undoes)}</div>"
        live = "<div>live data</div>" if _is_live(run) else ""
        cells = [
            escaped(started or name),
            f"{escaped(account)}{live}",
            changes
            if undoes
            else escaped(noun + (", takes back another" if run["undoes"] else "")),
            f"{escaped(state)}<div>{escaped(_format_counts(run))}</div>",
        ]
    if acts:
        cells.append(_draw_buttons(name, run, f"{started}, {account}"))
    row = f'<th scope="rowgroup">{cells[0]}</th>'
    for n, cell in enumerate(cells[1:], 1):
        dot = ' class="dot"' if n == 3 else ""
        row += f'<td dir="auto"{dot}>{cell}</td>'
    return _LOOKS.get(state, "back"), [row]


def _draw_buttons(name: str, run: Mapping[str, Any], about: str) -> str:
    state = run["state"]
    can = {
        "open": ("Open", state != "damaged"),
        "resume": ("Resume …", state == "open"),
        "back": ("Take back …", bool(run["applied"]) and state not in ("taken back", "damaged")),
    }
    return " ".join(
        draw_row_button(act, name, label, f"{label}: {about}")
        for act, (label, seen) in can.items()
        if seen
    )


def _format_counts(run: Mapping[str, Any]) -> str:
    """Return the counts of the rows of a run in words."""
    parts = [f"{run['applied']:,} of {run['changes']:,} applied"]
    parts += [f"{run['unknown']:,} in doubt"] if run["unknown"] else []
    parts += [f"{run['not_sent']:,} not sent"] if run["not_sent"] else []
    back = _format_local_time(run["taken_back"])
    parts += [f"taken back {back}"] if back else []
    return ", ".join(parts)


def _format_local_time(time: Any) -> str:
    """Return a time in words in the local time zone; empty for None and NaT."""
    if time is None or time != time:  # NaT differs from itself
        return ""
    here = time.to_pydatetime().astimezone()
    return f"{here.day} {here:%b %Y, %H:%M %Z}".strip()
