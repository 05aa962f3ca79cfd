"""A run of more rows than memory is to hold: a window of them at a time, and the same truth."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest
from bulk.journalling import created, folder  # noqa: F401
from bulk.planning import (  # noqa: F401
    DOCUMENT,
    JSON,
    active,
    call,
    client,
    flow,
    log,
    number,
    people,
    sandbox,
    states,
    through,
    writes,
)

import chatkit
from chatkit.bulk import rendering
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.changes import Change
from chatkit.bulk.outcomes import RunRows, rows_of_journal
from chatkit.bulk.plan import rows_at_work
from chatkit.bulk.stores import read_run
from chatkit.widgets.planview import PlanView

WINDOW = 7
TOLD = ("n", "state", "reason", "evidence", "attempts", "key", "done", "doubted", "twins", "change")


@pytest.fixture(autouse=True)
def short_windows(monkeypatch):
    monkeypatch.setattr("chatkit.bulk.changes.WINDOW", WINDOW)


def told(rows):
    return [tuple(getattr(row, name) for name in TOLD) for row in rows]


def edited(sandbox, client, count=60):
    """A plan of deletes, updates in a chain of numbers, and creates, in no order of kinds."""
    ids = people(sandbox, count)
    frame = client.contacts.frame().reset_index()
    frame = frame[~frame.id.isin(ids[40:])]
    frame["number"] = [*frame.number[1:], number(900)]  # each takes the number of the next
    new = pd.DataFrame({"number": [number(n) for n in range(500, 520)], "country_code": "+1"})
    mixed = pd.concat([frame, new]).sample(frac=1, random_state=3)
    return client.contacts.plan(mixed, delete=ids[40:])


def test_deletes_go_before_updates_before_creates_and_numbers_are_given_before_they_are_taken(
    sandbox, client
):
    plan = edited(sandbox, client)
    before = len(writes(sandbox))
    result = plan.apply(many=True)
    assert Counter(states(result)) == {"applied": 80}
    assert list(result.index) == list(plan.frame().index)
    methods = [method for method, _ in writes(sandbox)[before:]]
    assert methods == sorted(methods, key=["DELETE", "PUT", "POST"].index)
    numbers = {record["number"] for record in active(sandbox, "contacts").values()}
    assert numbers == {number(n) for n in (*range(1, 40), 900, *range(500, 520))}
    assert set(plan.apply(many=True).state) == {"applied"}
    assert len(writes(sandbox)) == before + 80, "applied again, it sends nothing"
    back = chatkit.undo(result, client).apply()
    assert Counter(states(back)) == {"applied": 80}


def test_what_is_known_of_rows_is_what_it_is_with_all_of_them_in_memory(sandbox, client):
    plan = edited(sandbox, client)
    seen = []

    def answers(method, target, headers, body):
        if method != "GET":
            seen.append(target)
            if len(seen) % 6 == 0:
                return 422, JSON, b'{"message": "not this one"}'
            if len(seen) % 7 == 0:
                sandbox.answer(method, target, headers, body)
                return 502, {}, b""
        return sandbox.answer(method, target, headers, body)

    result = (
        through(sandbox, answers)
        .load_plan(plan.save(sandbox_file(plan)))
        .apply(many=True, settle=0, concurrency=2)
    )
    assert len(set(states(result))) > 1
    with read_run(plan.id) as kept:
        rows = RunRows(kept)
        assert told(rows) == told(rows_of_journal(kept))
        assert rows.counts() == Counter(states(result))
        assert rows.left() == sum(not row.done for row in rows)
    assert list(result.state) == [row.state for row in rows.over(plan.changes)]
    assert list(result.reason) == [row.reason for row in rows.over(plan.changes)]


def sandbox_file(plan):
    from chatkit.bulk.stores import journal_folder

    return journal_folder(True) / f"{plan.id}.json"


@pytest.mark.parametrize("stop", [3, 25, 70])
def test_a_run_that_was_stopped_goes_on_with_the_rows_that_are_left(sandbox, client, stop):
    plan = edited(sandbox, client)
    interrupt = Interrupt()

    def watch(done, of):
        if done >= stop:
            interrupt.ask()

    half = plan.apply(many=True, interrupt=interrupt, watch=watch, concurrency=2)
    left = Counter(states(half))["not sent"]
    assert len(half) == 80 and left > 0
    whole = chatkit.resume(plan.id, client)
    assert Counter(states(whole)) == {"applied": 80}
    assert list(whole.key.notna()) == [True] * 80
    assert len(active(sandbox, "contacts")) == 60


def test_rows_are_seen_from_another_thread_while_they_are_worked_on(sandbox, client):
    plan = edited(sandbox, client)
    glances = []

    def watch(done, of):
        rows = rows_at_work(plan)
        glances.append([rows.glance(n).state for n in range(len(rows))])

    plan.apply(many=True, watch=watch)
    assert glances[-1].count("applied") >= 70
    counts = [each.count("not sent") for each in glances]
    assert counts == sorted(counts, reverse=True)


def test_the_view_of_a_long_plan_shows_each_row_with_its_own_state(sandbox, client):
    plan = edited(sandbox, client)
    order = rendering.order_by_kind(plan)
    shown = [change for kind in rendering.by_kind(plan) for change in kind]
    assert [plan.changes[n] for n in order] == shown
    view = PlanView(plan)
    _, items = view._items_at_work()
    shown = [change.label for kind in rendering.by_kind(plan) for change in kind]
    assert len(items) == len(shown) == 80
    texts = [item.html() for item in items]
    assert all(label.split()[-1] in text for label, text in zip(shown, texts, strict=True))


def test_flows_that_are_there_twice_are_told_over_windows(sandbox, client):
    flow(sandbox)
    kept = {"template_name": "default", "flow_json": DOCUMENT}
    frame = pd.DataFrame([{"name": f"Flow {n}"} | kept for n in range(16)])

    def twice(method, target, headers, body):
        if method == "POST" and b"Flow 11" in body:
            sandbox.answer(method, target, headers, body)
        return sandbox.answer(method, target, headers, body)

    with through(sandbox, twice) as doubling:
        result = doubling.flows.plan(frame).apply()
    assert Counter(states(result)) == {"applied": 16}
    said = result.reason[result.reason.str.contains("it is there twice")]
    assert list(said.index) == [11]


# --- what is known of each row ----------------------------------------------------------------

#: What the journal may say of a row of each kind, one after the other.
SAID = {
    "create": (
        [],
        ["intent"],
        ["intent", "answered"],
        ["intent", "answered", "doubled"],
        ["intent", "in doubt"],
        ["intent", "in doubt", "absent"],
        ["intent", "in doubt", "adopted"],
        ["intent", "not sent"],
        ["intent", "clashed"],
        ["intent", "failed"],
        ["conflict"],
    ),
    "update": (
        [],
        ["intent"],
        ["intent", "answered"],
        ["intent", "answered", "verified"],
        ["intent", "answered", "unchecked"],
        ["intent", "answered", "differs"],
        ["intent", "in doubt", "absent", "intent", "answered", "verified"],
        ["unchanged"],
    ),
    "delete": ([], ["intent", "answered"], ["intent", "in doubt"], ["intent", "not sent"]),
    "skip": ([],),
}
REASONS = {"in doubt", "absent", "not sent", "clashed", "failed", "conflict", "differs", "adopted"}


def detail_of(what, change, attempt):
    """What an event of a row says beside its name."""
    n = change.row
    match what:
        case "intent":
            return {"attempt": attempt}
        case "answered" | "adopted":
            said = {"key": change.key or (n + 1000 if n % 2 else f"key {n}")}
        case "doubled":
            said = {"also": [n, n + 1]}
        case _:
            said = {}
    return said | ({"reason": f"{what}, row {n}"} if what in REASONS else {})


def known_of(rows):
    """All that a run asks of its rows."""
    return {
        "rows": told(rows),
        "counts": rows.counts(),
        "left": rows.left(),
        "done": [rows.done(n) for n in range(len(rows))],
        "nouns": rows.nouns,
        "keys": [rows.keys(noun) for noun in ("contact", "flow")],
        "made": [list(rows.made(noun)) for noun in rows.nouns],
        "numbers": [list(rows.numbers(noun, kind)) for noun in rows.nouns for kind in SAID],
        "glances": [(row.state, row.done) for row in map(rows.glance, range(len(rows)))],
    }


def test_a_long_run_knows_of_each_row_what_a_short_one_knows(folder, monkeypatch):
    plans = [(kind, said) for kind, each in SAID.items() for said in each] * 2
    changes = [
        Change(
            *(n, kind, None if kind == "create" else n, f"row {n}", {}, {"name": "Zoë"}),
            noun="contact" if n < len(plans) // 2 else "flow",
        )
        for n, (kind, _) in enumerate(plans)
    ]
    with created(folder, changes) as journal:
        journal.write(None, "started")
        for n, (_, said) in enumerate(plans):
            sent = 0
            for what in said:
                sent += what == "intent"
                journal.write(n, what, **detail_of(what, changes[n], sent))
            if n == len(plans) // 2:
                journal.write(None, "resumed")
        journal.commit()
        long = RunRows(journal)
        monkeypatch.setattr("chatkit.bulk.changes.WINDOW", 1000)
        short = RunRows(journal)
        assert known_of(long) == known_of(short)
        assert told(rows_of_journal(journal)) == told(short)
        more = ("intent", "in doubt", "absent", "intent", "answered", "verified")
        for step in range(len(more)):  # what is put back is what is taken again
            for rows in (long, short):
                taken = rows.take([n for n in range(len(rows)) if not short.done(n)])
                for row in taken:
                    row.feed(more[step], detail_of(more[step], changes[row.n], 1 + row.attempts))
                rows.keep(taken)
            assert known_of(long) == known_of(short), more[: step + 1]
        assert set(short.counts()) == {
            "applied",
            "differs",
            "unchanged",
            "failed",
            "skipped",
            "conflict",
        }


# --- by pages ---------------------------------------------------------------------------------


def calls_of(sandbox, work):
    before = len(log(sandbox))
    work()
    return Counter(
        "page" if method == "GET" and path == "contacts" else method
        for method, path in log(sandbox)[before:]
    )


@pytest.mark.parametrize(("gap", "reads"), [("row", 305), ("page", 5)])
def test_windows_are_read_by_pages_from_where_the_one_before_was(
    sandbox, client, monkeypatch, gap, reads
):
    monkeypatch.setattr("chatkit.bulk.changes.WINDOW", 60)
    people(sandbox, 300)
    frame = client.contacts.frame().assign(name="Zoë")
    plan = client.contacts.plan(frame)
    found = calls_of(sandbox, lambda: plan.apply(many=True, gap=gap))
    assert found["PUT"] == 300
    assert found["GET"] <= reads + 15
    assert found["page"] <= 30, "five windows of 60 rows, on three pages of 100"
    assert {record["first_name"] for record in active(sandbox, "contacts").values()} == {"Zoë"}


def test_windows_of_deletes_are_read_by_pages_though_the_others_move_up(
    sandbox, client, monkeypatch
):
    monkeypatch.setattr("chatkit.bulk.changes.WINDOW", 60)
    ids = people(sandbox, 300)
    plan = client.contacts.plan(delete=ids)
    found = calls_of(sandbox, lambda: plan.apply(many=True, gap="page"))
    assert found["DELETE"] == 300
    assert found["GET"] + found["page"] < 30
    assert not active(sandbox, "contacts")


def test_rows_in_another_order_than_the_list_are_read_one_by_one_in_the_end(
    sandbox, client, monkeypatch
):
    monkeypatch.setattr("chatkit.bulk.changes.WINDOW", 30)
    people(sandbox, 300)
    frame = client.contacts.frame().assign(name="Zoë").sample(frac=1, random_state=2)
    plan = client.contacts.plan(frame)
    found = calls_of(sandbox, lambda: plan.apply(many=True, gap="page"))
    assert found["PUT"] == 300
    assert found["GET"] + found["page"] <= 2 * 300
    assert len(active(sandbox, "contacts")) == 300
