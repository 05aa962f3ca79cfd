"""Apply: in which order rows are sent, when a run pauses, stops and goes on."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections import Counter
from itertools import count

import pytest
from bulk.applying import settled
from bulk.wayward import (
    answers,
    contact,
    deletion,
    dropped,
    flow,
    lost,
    number_of,
    patch_key,
    plan_of,
    right,
    unreachable,
    wayward,
)

from chatkit.account import history
from chatkit.api import retry
from chatkit.bulk.changes import Change
from chatkit.bulk.journal import Journal
from chatkit.bulk.stores import open_store
from chatkit.frames.snapshot import read_origin


def test_no_limit_of_the_rate_can_be_written_as_infinity_or_is_refused_at_once() -> None:
    with wayward() as service, service.client() as client:
        plan = plan_of(client.contacts, [contact(1)])
        try:
            result = plan.apply(rate=math.inf)
        except ValueError as error:
            assert "rate" in str(error)
        else:
            assert list(result.state) == ["applied"]


# --- intents ----------------------------------------------------------------------------------

READ = """
import json, sqlite3, sys
rows = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute(
    "SELECT n, what FROM chatkit_event WHERE n IS NOT NULL AND run = ? ORDER BY seq",
    sys.argv[2:]).fetchall()
print(json.dumps(rows))
"""


def events_elsewhere(plan):
    """Read the journal of a plan in another process."""
    path = open_store(passing=True).path
    done = subprocess.run(
        [sys.executable, "-S", "-c", READ, path, plan.id],
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(event) for event in json.loads(done.stdout)]


def test_an_intent_is_durable_before_the_first_byte_is_sent() -> None:
    with wayward() as service, service.client() as client:
        key = service.caller.contact(number_of(0), name="Ana Cruz")
        plan = plan_of(client.contacts, [patch_key(0, key), contact(1), contact(2)])
        seen = []
        service.arrival = lambda sent: seen.append((sent.method, events_elsewhere(plan)))
        service.on("POST", "contacts", dropped)
        assert set(plan.apply(concurrency=1).state) == {"applied"}
        written = [events for method, events in seen if method in ("PUT", "POST")]
        assert len(written) == 4
        order = [(n, "intent") for n in (0, 1, 2, 1)]
        assert [events[-1] for events in written] == order


def test_every_intent_of_calls_under_way_at_once_is_durable() -> None:
    with wayward() as service, service.client() as client:
        changes = [contact(n) for n in range(40)]
        plan = plan_of(client.contacts, changes)
        of = {change.after["number"]: n for n, change in enumerate(changes)}
        missing = []

        def arrive(sent):
            if sent.method == "POST":
                with open_store(passing=True).read(plan.id) as journal:
                    report = [event.n for event in journal.events() if event.what == "intent"]
                if of[sent.body["number"]] not in report:
                    missing.append(sent)

        service.arrival = arrive
        assert set(plan.apply().state) == {"applied"}
        assert missing == []


def test_when_a_commit_fails_nothing_more_is_sent(monkeypatch) -> None:
    with wayward() as service, service.client() as client:
        commits = count(1)
        commit = Journal.commit

        def failing(journal):
            if next(commits) == 3:
                journal._stopped = "no space left on device"
            commit(journal)

        monkeypatch.setattr(Journal, "commit", failing)
        plan = plan_of(client.contacts, [contact(n) for n in range(9)])
        result = plan.apply(concurrency=2)
        assert 3 <= len(service.writes()) <= 4
        assert list(result.index) == list(range(9))
        assert "no space left" in read_origin(result)["stopped"]
        truth = [number_of(n) in service.numbers() for n in range(9)]
        assert [state in ("applied", "unknown") for state in result.state] == truth
        monkeypatch.undo()
        assert set(history.resume(result, client).state) == {"applied"}
        assert len(service.writes()) == 9


# --- stopping ---------------------------------------------------------------------------------


def test_ten_refusals_in_a_row_stop_the_run() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "contacts", forever=answers(422, b'{"message":"bad number"}'))
        result = plan_of(client.contacts, [contact(n) for n in range(60)]).apply(concurrency=4)
        counts = result.state.value_counts().to_dict()
        assert 10 <= counts["failed"] <= 13
        assert counts["not sent"] == 60 - counts["failed"]
        assert "bad number" in read_origin(result)["stopped"]


def test_refusals_between_successes_do_not_stop_it() -> None:
    with wayward() as service, service.client() as client:
        bad = answers(422, b'{"message":"bad number"}')
        service.on("POST", "contacts", *[*[bad] * 9, right] * 6)
        result = plan_of(client.contacts, [contact(n) for n in range(60)]).apply(concurrency=1)
        assert result.state.value_counts().to_dict() == {"failed": 54, "applied": 6}
        assert read_origin(result)["stopped"] == ""


def test_an_unreachable_service_ends_the_run_soon_and_a_resume_goes_on() -> None:
    with wayward() as service, service.client(deadline=1) as client:
        service.on("POST", "contacts", right, forever=unreachable)
        result = plan_of(client.contacts, [contact(n) for n in range(50)]).apply(concurrency=4)
        assert len(service.writes()) < 50, "not every row is tried"
        assert result.state.value_counts().to_dict() == {"not sent": 49, "applied": 1}
        assert "cannot be reached" in read_origin(result)["stopped"]
        service.on("POST", "contacts")
        assert set(history.resume(result, client).state) == {"applied"}
        assert len(service.numbers()) == 50


def test_what_lands_between_outages_lets_a_run_go_on() -> None:
    """One at a time: the third outage without anything between stops it, a fifth with not."""
    with wayward() as service, service.client() as client:
        changes = [contact(n) for n in range(200, 290)]
        service.on("POST", "contacts", forever=dropped)
        result = plan_of(client.contacts, changes).apply(concurrency=1)
        assert len(service.writes()) == 3 * 20
        stopped = read_origin(result)["stopped"]
        assert stopped.startswith("the service does not answer as it should: ")
        service.on("POST", "contacts", *[*[dropped] * 40, right] * 2, *[dropped] * 20)
        result = history.resume(result, client, concurrency=1)
        assert set(result.state) == {"applied"}
        assert len(service.writes()) == 60 + 90 + 5 * 20


# --- once -------------------------------------------------------------------------------------


# --- the first few ----------------------------------------------------------------------------


def test_what_is_wrong_with_all_shows_in_the_first_five() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "contacts", forever=answers(422, b'{"message":"bad number"}'))
        result = plan_of(client.contacts, [contact(n) for n in range(101)]).apply()
        assert result.state.value_counts().to_dict() == {"not sent": 96, "failed": 5}
        assert "first 5 rows" in read_origin(result)["stopped"]
        assert "bad number" in read_origin(result)["stopped"]


def test_one_row_that_reads_back_otherwise_stops_a_long_plan() -> None:
    with wayward(name_split="first_only") as service, service.client() as client:
        keys = [service.caller.contact(number_of(n), name="Ana Cruz") for n in range(101)]
        service.on("GET", f"contacts/{keys[0]}", right)
        changed = first_then(service, keys[0])
        service.on("PUT", f"contacts/{keys[0]}", changed)
        result = plan_of(client.contacts, [patch_key(n, key) for n, key in enumerate(keys)]).apply()
        assert result.state.value_counts().to_dict() == {"not sent": 96, "applied": 4, "differs": 1}
        assert result.state[0] == "differs"


def test_one_row_of_a_kind_does_not_stop_a_long_plan_of_another() -> None:
    with wayward() as service, service.client() as client:
        key = service.caller.contact(number_of(500), name="Ana Cruz")
        service.on("DELETE", "contacts", answers(422, b'{"message":"in use"}'))
        changes = [deletion(500, key), *(contact(n) for n in range(120))]
        result = plan_of(client.contacts, changes).apply()
        assert result.state.value_counts().to_dict() == {"failed": 1, "applied": 120}


def first_then(service, key):
    """Do it, have somebody else change it at once, and answer without the record."""

    def fault(do):
        do()
        service.caller("PUT", f"/contacts/{key}", {"name": "Bo"})
        return 204, {}, b""

    return fault


@pytest.mark.parametrize("rows", [99, 120])
def test_a_long_plan_sends_five_of_each_kind_before_the_others_of_it(rows: int) -> None:
    with wayward() as service, service.client() as client:
        changes = [contact(n) for n in range(rows - 16)]
        for n in range(rows - 16, rows):
            key = service.caller.contact(number_of(n), name="Ana Cruz")
            changes.insert(0, (patch_key, deletion)[n % 2](n, key))
        done: Counter[str] = Counter()
        when = []  # how many of its kind were done as the sixth arrived

        service.arrival = lambda sent: when.append((sent.method, done[sent.method]))
        for method in ("POST", "PUT", "DELETE"):
            service.on(method, "contacts", forever=counting(done, method))
        result = plan_of(client.contacts, changes).apply()
        assert set(result.state) == {"applied"}
        sixth = {m: [n for method, n in when if method == m][5] for m in ("POST", "PUT", "DELETE")}
        assert (set(sixth.values()) == {5}) == (rows > 100), sixth


def counting(done, method):
    """Answer slowly, and count what was answered."""

    def fault(do):
        time.sleep(0.02)
        answer = do()
        done[method] += 1
        return answer

    return fault


# --- settle windows ---------------------------------------------------------------------------


def test_what_can_be_doubled_waits_and_what_cannot_does_not(monkeypatch) -> None:
    monkeypatch.setattr(retry, "SETTLE_DUPLICABLE", 0.3)
    with wayward() as service, service.client(deadline=0.2) as client:
        for source, change, least in (("flows", flow(1), 0.5), ("contacts", contact(1), 0.0)):
            service.on("POST", source, dropped)
            result = plan_of(getattr(client, source), [change]).apply()
            assert list(result.state) == ["applied"]
            one, two = [sent.at for sent in service.writes() if sent.path == source]
            assert least <= two - one < least + 0.3


# --- as it is written -------------------------------------------------------------------------


def test_the_retry_policy_says_the_numbers_that_the_code_has() -> None:
    """The number stands in one place for users, and must be the real one."""
    policy = " ".join((retry.__doc__ or "").split())
    calls = retry.DEFAULT
    assert f"It is sent {calls.tries} times at most" in policy
    assert calls.base == 1 and "up to 1, 2, 4 s" in policy
    assert f"The window is {retry.SETTLE:g} s for an update or a delete" in policy
    assert f"the deadline and {retry.SETTLE_DUPLICABLE:g} s more" in policy
    assert f"read in vain, {calls.row_tries} times" in policy
    assert f"answer is none, {calls.row_tries} times" in policy
    assert f"{retry.REFUSALS} refused rows in a row stop the run" in policy
    assert f"{retry.OUTAGES} times {retry.UNKNOWN_OUTCOMES} unknown outcomes" in policy


def test_every_row_is_counted_once_however_it_ends() -> None:
    with wayward(max_page_size=5) as service, service.client() as client:
        keys = [service.caller.contact(number_of(n), name="Ana Cruz") for n in range(20)]
        service.caller("PUT", f"/contacts/{keys[3]}", {"name": "Zoë Li"})  # it is so already
        service.caller("PUT", f"/contacts/{keys[4]}", {"name": "Bo"})
        service.caller("DELETE", f"/contacts/{keys[5]}")
        service.on("POST", number_of(101), answers(422))
        service.on("POST", number_of(102), lost)
        service.on("POST", number_of(103), dropped)
        changes = [patch_key(n, key) for n, key in enumerate(keys)]
        changes += [contact(n) for n in range(100, 106)]
        changes.append(Change(200, "update", "01", "01", {}, {"name": "No id"}))  # type: ignore[arg-type]
        seen: list[tuple[int, int]] = []
        result = settled(
            plan_of(client.contacts, changes).apply,
            settle=0,
            watch=lambda done, of: seen.append((done, of)),
        )
        assert Counter(result.state) == {"applied": 22, "failed": 2, "conflict": 2, "unchanged": 1}
        assert "is a whole number, not '01'" in result.reason[200]
        assert seen[-1] == (27, 27)
        assert seen == sorted(seen)
