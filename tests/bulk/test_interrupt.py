"""Interrupt: the stop button ends a run soon, with the truth, and nothing happens after it."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from datetime import datetime
from itertools import count
from typing import Any, NamedTuple

import pytest
from bulk.applying import settled
from bulk.journalling import child
from bulk.wayward import (
    Held,
    contact,
    dropped,
    first,
    flow,
    interrupting,
    lost,
    number_of,
    plan_of,
    right,
    slow,
    wayward,
    webhook,
)
from caller import Caller
from internals import middleware_of

import chatkit
from chatkit.account import history
from chatkit.bulk import apply, plan, rendering
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.journal import Journal


@pytest.mark.parametrize("times", [1, 2])
def test_looking_for_what_is_in_doubt_ends_soon_too(times: int) -> None:
    """A list may have hundreds of pages: 70 here; deadline 0.5 s, each page takes 0.1 s."""
    with wayward(max_page_size=7) as service, service.client(deadline=0.5) as client:
        for n in range(490):
            service.caller.flow(f"Old {n}")
        service.on("POST", "flows", dropped)
        pages = count(1)
        last = 0

        def arrive(sent):
            nonlocal last
            if sent.method == "GET":
                last = next(pages)
                if last <= times:
                    os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.1)

        service.arrival = arrive
        result = settled(plan_of(client.flows, [flow(1)]).apply, settle=0)
        assert last < 70
        assert list(result.state) == ["unknown"]


def test_a_list_that_is_slow_is_not_read_once_more() -> None:
    """The first press waits for the page under way, at most its deadline."""
    with wayward() as service, service.client(deadline=1.0) as client:
        service.on("POST", "flows", dropped)
        service.on("GET", "flows", interrupting(slow(0.9)), forever=slow(0.9))
        result = settled(plan_of(client.flows, [flow(1)]).apply, settle=0)
        assert list(result.state) == ["unknown"]
        assert [sent.method for sent in service.sent].count("GET") == 1


def test_a_second_press_does_not_wait_for_the_page_under_way() -> None:
    with wayward() as service, service.client(deadline=60) as client, Held() as held:
        service.on("POST", "flows", dropped)
        service.on("GET", "flows", interrupting(held, 2), forever=held)
        result = settled(plan_of(client.flows, [flow(1)]).apply, settle=0)
        assert list(result.state) == ["unknown"]
        assert held.answered_before_release == 0


@pytest.mark.parametrize(
    ("method", "state", "reason"),
    [("GET", "not sent", ""), ("PUT", "unknown", "the run was stopped before its answer came")],
)
def test_a_second_press_lets_go_of_a_read_that_changed_nothing_and_of_a_write_that_may_have(
    method: str, state: str, reason: str
) -> None:
    with wayward() as service, service.client(deadline=60) as client, Held() as held:
        key = client.contacts.create(number="2025550143", country_code="+1", name="Ana").id
        update = client.contacts.plan([{"id": key, "name": "Zoë"}])
        service.on(method, "contacts", interrupting(held, 2), forever=held)
        [row] = settled(update.apply, settle=0).itertuples()
        assert row.state == state and reason in (row.reason or "")
        assert held.answered_before_release == 0


def test_who_looks_slowly_hears_the_stop_button_too() -> None:
    """A rate below one a second leaves long waits between the calls that look: an hour here."""
    with wayward() as service, service.client(deadline=0.5) as client:
        press = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        service.on("POST", "contacts", first(press.start, lost))
        result = plan_of(client.contacts, [contact(1)]).apply(rate=1 / 3600)
        press.join()
        assert list(result.state) == ["unknown"]


def test_what_is_waited_for_is_said_once(monkeypatch) -> None:
    message, heard = list[str](), threading.Event()

    def print_line(text: str) -> None:
        message.append(text)
        heard.set()

    monkeypatch.setattr(apply, "print_line", print_line)
    with wayward() as service, service.client(deadline=60) as client:
        # Half a second more: the run looks again several times, and has nothing more to say.
        held = first(lambda: heard.wait(30) and time.sleep(0.5), right)
        service.on("POST", "contacts", interrupting(held))
        result = plan_of(client.contacts, [contact(n) for n in range(3)]).apply(concurrency=1)
    assert list(result.state) == ["applied", "not sent", "not sent"]
    stopping = "Stopping: waiting for the calls in progress. Interrupt again to stop at once."
    assert message.count(stopping) == 1


def test_nothing_is_waited_for_where_nothing_is_under_way(monkeypatch, capsys) -> None:
    """A rate below one a second leaves a long pause between two calls: an hour here."""
    sleep = Interrupt.sleep

    def pressed(interrupt: Interrupt, seconds: float) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        sleep(interrupt, seconds)

    monkeypatch.setattr(Interrupt, "sleep", pressed)
    with wayward() as service, service.client() as client:
        result = plan_of(client.contacts, [contact(1), contact(2)]).apply(rate=1 / 3600)
    assert list(result.state) == ["applied", "not sent"]
    assert "waiting" not in capsys.readouterr().out


@pytest.mark.parametrize("choice", range(1, 6))
def test_an_interrupt_between_two_steps_does_not_cost_the_result(monkeypatch, choice: int) -> None:
    with wayward() as service, service.client(deadline=0.5) as client:
        service.on("POST", "webhooks", lost)
        commit, commits = Journal.commit, count(1)

        def interrupted(journal):
            commit(journal)
            if next(commits) == choice:
                os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr(Journal, "commit", interrupted)
        result = settled(plan_of(client.webhooks, [webhook(1)]).apply, settle=0)
        created = len(service.all("webhooks"))
        assert result.state[1] in (("applied", "unknown") if created else ("not sent",))


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (rendering, "make_result_frame"),
        (apply.Journal, "commit"),
        (apply.Run, "_explain_unfinished"),
        (plan, "print_line"),
    ],
)
def test_an_interrupt_as_the_run_ends_does_not_cost_the_result(monkeypatch, place, name) -> None:
    """Whoever presses stop twice, or late, still gets the frame."""
    with wayward() as service, service.client() as client:
        original = getattr(place, name)

        def interrupted(*args, **kwargs):
            value = original(*args, **kwargs)
            os.kill(os.getpid(), signal.SIGINT)
            return value

        monkeypatch.setattr(place, name, interrupted)
        service.on("POST", "contacts", interrupting())
        try:
            result = plan_of(client.contacts, [contact(n) for n in range(3)]).apply(concurrency=1)
        except KeyboardInterrupt:
            pytest.fail(f"the result is lost: KeyboardInterrupt after {name}")
        assert len(result) == 3


# --- the stop button, pressed on another process ------------------------------------------------

CHILD = """
import json, signal, sys, time
import chatkit
from bulk.wayward import contact, flow, plan_of
base_url, token = sys.argv[1:]
heard = []
mine = lambda number, frame: heard.append(number)
signal.signal(signal.SIGINT, mine)
print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    heard.clear()
    with chatkit.Client(base_url, 1001, token, deadline=asked["deadline"]) as client:
        make = {"contacts": contact, "flows": flow}[asked["resource"]]
        plan = plan_of(getattr(client, asked["resource"]), [make(n) for n in range(asked["rows"])])
        result = plan.apply(concurrency=4)
        ended = time.time()
    print(json.dumps({
        "states": result.state.tolist(), "index": result.index.tolist(), "heard": heard,
        "back": signal.getsignal(signal.SIGINT) is mine, "ended": ended, "run": plan.id,
        "stopped": result.attrs["chatkit"]["stopped"],
    }), flush=True)
"""


class Stopped(NamedTuple):
    """A run that was stopped in another process, and the report of that process."""

    sandbox: chatkit.Sandbox
    base_url: str
    report: dict[str, Any]
    printed: list[str]
    resource: str

    def arrivals(self) -> list[Any]:
        return [entry for entry in middleware_of(self.sandbox).log if entry.method == "POST"]

    def names(self) -> list[str]:
        data = Caller(self.sandbox)("GET", f"/{self.resource}?pageSize=100").data
        return [record.get("name") or record["number"] for record in data]


@pytest.fixture(scope="module")
def kernel():
    """Start a process that applies plans, and the sandbox to which it applies them."""
    with (
        chatkit.Sandbox(seed="empty") as sandbox,
        sandbox.serve() as base_url,
        child(CHILD, base_url, sandbox.token) as process,
    ):
        assert process.stdout.readline() == "ready\n"
        yield process, sandbox, base_url
        process.stdin.close()
        process.wait(10)


@pytest.fixture
def applied(kernel):
    """Run a plan in that process against a slow sandbox; press stop so many times."""
    process, sandbox, base_url = kernel
    sandbox.reset()
    middleware_of(sandbox).log.clear()
    yield lambda **how: stopped(process, sandbox, base_url, **how)
    sandbox.faults()


def stopped(
    process, sandbox, base_url, *, resource="contacts", latency=0.25, presses=1, deadline=2.0
):
    sandbox.faults(latency=latency)
    job = {"resource": resource, "rows": 40, "deadline": deadline}
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.flush()
    while len(middleware_of(sandbox).log) < 4:  # four have been answered
        time.sleep(0.01)
    time.sleep(0.4 * latency)  # and four are under way
    for press in range(presses):
        time.sleep(0.05 * press)
        os.kill(process.pid, signal.SIGINT)
    printed = []
    while not (line := process.stdout.readline()).startswith("{"):
        assert line, "the process has ended"
        printed.append(line)
    report = json.loads(line)
    time.sleep(latency + 0.3)  # what it sends now would arrive
    return Stopped(sandbox, base_url, report, printed, resource)


def test_the_first_press_finishes_what_is_under_way_and_returns_the_truth(applied) -> None:
    run = applied()
    assert run.report["index"] == list(range(40))
    assert set(run.report["states"]) == {"applied", "not sent"}
    effective = sorted(run.names())
    assert effective == [number_of(n) for n, s in enumerate(run.report["states"]) if s == "applied"]
    assert all(
        datetime.fromisoformat(entry.time).timestamp() <= run.report["ended"]
        for entry in run.arrivals()
    )
    assert run.report["stopped"] == "you stopped it"
    assert any("Interrupt again" in line for line in run.printed)


def test_the_second_press_waits_for_nothing(applied) -> None:
    run = applied(presses=2, latency=2.5, deadline=20.0)  # both presses come before an answer
    states = run.report["states"]
    assert 1 <= states.count("unknown") <= 4, "what is under way is let go"
    assert states.count("not sent") >= 40 - 3 * 4
    effective = run.names()
    assert all((number_of(n) in effective) <= (s != "not sent") for n, s in enumerate(states))
    assert all((number_of(n) in effective) >= (s == "applied") for n, s in enumerate(states))


@pytest.mark.parametrize("resource", ["contacts", "flows"])
@pytest.mark.parametrize("presses", [1, 2])
def test_a_resume_completes_a_stopped_run_and_doubles_nothing(applied, resource, presses) -> None:
    run = applied(presses=presses, resource=resource)
    run.sandbox.faults()
    with chatkit.Client(run.base_url, 1001, run.sandbox.token) as client:
        result = settled(history.resume, run.report["run"], client, settle=0.5)
    assert set(result.state) == {"applied"}
    names = run.names()
    assert len(names) == len(set(names)) == 40


def test_the_handler_of_before_is_back_and_heard_nothing(applied) -> None:
    run = applied()
    assert run.report["back"]
    assert run.report["heard"] == []


# --- the count of interrupts ------------------------------------------------------------------


def test_interrupts_are_counted_in_place_of_raised_and_only_inside() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        for n in range(3):
            assert interrupt.asked == n
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        assert interrupt.asked == 3
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_asks_and_leaves_the_handler_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def work() -> None:
        with Interrupt() as interrupt:
            seen.append(signal.getsignal(signal.SIGINT))
            interrupt.ask()
            seen.append(interrupt.asked)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before, 1]


def test_what_asks_several_runs_to_stop_asks_each_of_them_in_that_moment() -> None:
    whole = Interrupt()
    part = Interrupt(within=whole)
    whole.ask()
    part.ask()
    assert (whole.asked, part.asked) == (1, 2)
