"""Progress: nothing for quick work, a bar that tells the truth for the rest."""

import math
import sys
import time

import pytest
import tqdm.auto
import tqdm.notebook

from chatkit.util import progress
from chatkit.util.progress import AccountBars, Forecast, Pace, Progress


@pytest.fixture
def slow(monkeypatch):
    """Everything takes longer than anyone's patience."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)


@pytest.fixture
def quick(monkeypatch):
    """Nothing takes longer than anyone's patience."""
    monkeypatch.setattr(progress, "PATIENCE", 1e9)


@pytest.fixture
def notebook(monkeypatch):
    """The bar of JupyterLab, a widget. Returns the bars that are made."""
    bars = []

    class Bar(tqdm.notebook.tqdm_notebook):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs | {"display": False})
            bars.append(self)

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    return bars


def frames(text):
    """The states that a bar in a terminal went through."""
    return [part for part in text.replace("\n", "\r").split("\r") if part.strip()]


def test_quick_work_and_what_ends_before_it_begins_show_nothing_and_load_no_bar(
    quick, capfd, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "tqdm.auto", None)
        with Progress("contacts", 200) as bar:
            for _ in range(100):
                bar.add(2)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with Progress("contacts"):
        pass
    assert capfd.readouterr() == ("", "")


def test_slow_work_counts_everything_done_so_far(capfd, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 1e9)
    with Progress("contacts", 100) as bar:
        bar.add(60)
        monkeypatch.setattr(progress, "PATIENCE", 0.0)
        bar.add(40)
    out, err = capfd.readouterr()
    assert out == ""
    assert "100/100" in frames(err)[-1]
    assert "contacts" in frames(err)[-1]
    assert err.endswith("\n")


def test_the_total_may_become_known_and_change(slow, capfd):
    with Progress("contacts") as bar:
        bar.add(10)
        bar.total = 50
        bar.add(10)
        bar.total = 40
        bar.add(20)
    assert "40/40" in frames(capfd.readouterr().err)[-1]


def test_a_log_gets_a_few_lines_and_no_terminal_s_hundreds(slow, capfd, monkeypatch):
    with Progress("contacts") as bar:
        for total in range(1, 200):
            bar.total = total
            bar.add(1)
            time.sleep(0.002)
    assert len(frames(capfd.readouterr().err)) <= 3


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_closes_the_bar_where_it_stood(slow, capfd, error):
    with pytest.raises(error), Progress("contacts", 50) as bar:
        bar.add(5)
        raise error
    err = capfd.readouterr().err
    assert "5/50" in frames(err)[-1]
    assert err.endswith("\n")
    assert not tqdm.tqdm._instances


def test_the_widget_of_a_notebook_follows_the_total_and_is_red_when_work_failed(slow, notebook):
    with Progress("contacts") as bar:
        bar.add(10)
        bar.total = 50
        bar.add(10)
        [output] = notebook
        assert output.container.children[1].max == 50
        bar.total = 40
        bar.add(20)
    assert (output.container.children[1].value, output.container.children[1].max) == (40, 40)
    assert output.container.children[1].bar_style == "success"
    with pytest.raises(KeyboardInterrupt), Progress("contacts", 50) as bar:
        bar.add(5)
        raise KeyboardInterrupt
    assert notebook[1].container.children[1].bar_style == "danger"


@pytest.mark.parametrize("total", [50, 60])
def test_the_rate_counts_the_time_before_the_bar(slow, notebook, total):
    with Progress("contacts", 50) as bar:
        bar._began -= 3600
        bar.add(5)
        bar.total = total
        bar.add(5)
        assert notebook[0].format_dict["elapsed"] >= 3600


def test_who_watches_is_told_in_place_of_a_bar_and_a_line_is_one_line(slow, capsys):
    notes = []
    with Progress("contacts", 3, lambda *message: notes.append(message)) as bar:
        bar.add(1)
        bar.add(2)
    assert notes == [(1, 3), (3, 3)]
    assert capsys.readouterr() == ("", "")
    progress.print_line("Connected.")
    assert capsys.readouterr().out == "Connected.\n"


# --- how long it takes, beforehand ----------------------------------------------------------

INF = float("inf")


def notes(capsys, steps, after=""):
    """Return the output of a forecast at each step: time, calls done, calls left, limit."""
    message = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress.time, "monotonic", lambda: 0.0)
        forecast = Forecast(after)
        for at, done, left, rate in steps:
            patch.setattr(progress.time, "monotonic", lambda: at)  # noqa: B023
            forecast.report("Reading 1,000,000 contacts", done, left, rate)
            message.append(capsys.readouterr().out)
    return message


def test_a_forecast_is_told_at_once_under_a_limit_else_when_the_pace_is_known(capsys):
    steps = [(0.1, 1, 1_000_000, 10.0), (9.0, 90, 999_911, 10.0)]
    assert notes(capsys, steps, "Go for a walk.") == [
        "Reading 1,000,000 contacts takes about 28 hours: 1,000,000 more calls at 10 calls a "
        "second. Go for a walk.\n",
        "",
    ]
    assert notes(capsys, [(0.0, 0, 10_000, INF), (0.5, 5, 9_995, INF), (2.0, 20, 9_980, INF)]) == [
        "",
        "",
        "Reading 1,000,000 contacts takes about 17 minutes: 9,980 more calls at 10 calls a "
        "second.\n",
    ]
    # A limit that is met later is told where it takes twice as long.
    steps = [(0.2, 20, 10_000, INF), (0.4, 40, 9_980, 90.0), (9.0, 100, 9_900, 10.0)]
    first, same, later = notes(capsys, steps)
    assert "takes about 2 minutes: 10,000 more calls at 100 calls a second." in first
    assert not same
    assert "takes about 16 minutes: 9,900 more calls at 10 calls a second." in later
    # Less than a minute is not told.
    assert notes(capsys, [(0.0, 0, 590, 10.0), (10.0, 100, 500, 10.0)]) == ["", ""]


# --- several accounts ------------------------------------------------------------------------


def at_work(done, labels, of=4):
    """Return the progress of some accounts: half-way, or done."""
    return {n: (of if n in done else of // 2, of) for n in labels}


def test_several_accounts_have_one_bar_that_counts_those_that_are_done(slow, notebook):
    labels = [f"agency-{n:02d}" for n in range(40)]
    with AccountBars("changes", labels, dict.fromkeys(labels, 4)) as bars:
        bars.show({})
        assert not notebook
        bars.show(at_work([], labels[:30]))
        [bar] = notebook
        assert (bar.desc, bar.n, bar.total) == ("0 of 40 accounts: ", 60, 160)
        bars.show(at_work(labels[:2], labels[:30]), ended=labels[2:3])
        assert bar.desc == "3 of 40 accounts: "
        bars.show(at_work(labels, labels))
    assert (bar.desc, bar.n) == ("40 of 40 accounts: ", 160)


def test_in_a_terminal_the_bar_of_all_accounts_is_left(slow, capfd):
    with AccountBars("contacts", ["de", "agency"]) as bars:
        bars.show({"de": (2, 4), "agency": (1, None)})
        bars.show({"de": (4, 4), "agency": (3, 3)})
    assert frames(capfd.readouterr().err)[-1].startswith("2 of 2 accounts: 100%")
    assert not tqdm.tqdm._instances


def test_who_watches_many_accounts_is_told_what_all_have_done(slow, capfd):
    notes = []
    with AccountBars(
        "changes", "ab", {"a": 3, "b": 4}, lambda *message: notes.append(message)
    ) as bars:
        bars.show({"a": (1, 3)})
        bars.show({"a": (1, 3)})
        bars.show({"a": (3, 3), "b": (4, 4)}, ended="ab")
    assert notes == [(1, 7), (7, 7)]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("pace", "seconds", "message"),
    [
        (Pace(8, 0.0, math.inf), 1.5, "8 calls at once"),  # the work of this process is left
        (Pace(8, 0.8, math.inf), 100.0, "8 calls at once"),
        (Pace(1, 0.8, math.inf), 800.0, "1 call at once"),
        (Pace(8, 0.08, 10.0), 100.0, "10 calls a second"),
        (Pace(8, 0.0, 2.5), 400.0, "2.5 calls a second"),
        (Pace(8, 0.0, 1.0), 1000.0, "1 call a second"),
        (Pace(8, 1.6, 10.0), 200.0, "8 calls at once"),  # slower than the limit
    ],
)
def test_a_pace_is_that_of_the_calls_or_of_the_limit(
    pace: Pace, seconds: float, message: str
) -> None:
    assert pace.seconds(1000) == pytest.approx(seconds)
    assert str(pace) == message
