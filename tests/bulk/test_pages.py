"""Many rows take few calls: what was written is read back by pages of the list."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from bent import Bent
from bulk.planning import (  # noqa: F401
    active,
    call,
    client,
    contacts,
    content,
    log,
    sandbox,
    states,
)

import chatkit
from chatkit.bulk import apply

ROWS = 150


def patch_key(client, rows, name="Zoë"):
    frame = client.contacts.frame()
    frame.iloc[:rows, frame.columns.get_loc("name")] = name
    return client.contacts.plan(frame)


def calls_of(sandbox, work):
    """Return the requests of a piece of work by method, without pages of lists."""
    before = len(log(sandbox))
    work()
    return Counter(
        "page" if method == "GET" and path == "contacts" else method
        for method, path in log(sandbox)[before:]
    )


def test_many_updates_are_read_one_by_one_and_read_back_by_pages(sandbox, client):
    contacts(sandbox, ROWS)
    plan = patch_key(client, ROWS)
    report = calls_of(sandbox, lambda: plan.apply(many=True))
    assert report == {"GET": ROWS + 5, "PUT": ROWS, "page": 2}  # the canary: five rows
    assert {record["first_name"] for record in active(sandbox, "contacts").values()} == {"Zoë"}


def test_what_reads_back_otherwise_is_asked_for_alone_before_it_is_said(sandbox, client):
    ids = contacts(sandbox, 40)
    plan = patch_key(client, 40)
    done = []

    def watch(rows, of):
        if rows == 30 and not done:  # what was written is changed before it is read back
            done.append(call(sandbox, "PUT", f"contacts/{ids[0]}", name="Theirs"))

    result = plan.apply(many=True, watch=watch, concurrency=1)
    assert result.loc[ids[0], "state"] == "differs"
    assert Counter(states(result)) == {"applied": 39, "differs": 1}


def test_the_calls_of_a_plan_are_estimated(sandbox, client):
    contacts(sandbox, ROWS)
    plan = patch_key(client, ROWS)
    assert plan.calls() == 2 * ROWS + 2
    assert patch_key(client, 3).calls() == 9


def test_where_a_list_shows_no_name_records_are_read_one_by_one(sandbox):
    """The name of a contact is joined of parts; without them an undo would lose it."""
    hidden = []

    def hide(exchange):
        if hidden and exchange.of("contacts", "list"):
            for record in exchange.records:
                for part in ("first_name", "middle_name", "last_name"):
                    record.pop(part, None)

    contacts(sandbox, 30)
    with chatkit.connect(Bent(sandbox, after=hide)) as client:
        plan = patch_key(client, 30)
        hidden.append(True)
        report = calls_of(sandbox, lambda: plan.apply(many=True))
    assert report["PUT"] == 30
    assert report["GET"] == 60  # before and after


def test_a_record_that_a_list_shows_in_part_keeps_no_other_from_being_sent(sandbox):
    ids = contacts(sandbox, 30)
    hidden = []

    def hide(exchange):
        if hidden and exchange.of("contacts", "list"):
            for record in exchange.records:
                if record["id"] == hidden[0]:
                    for part in ("first_name", "middle_name", "last_name"):
                        record.pop(part, None)

    with chatkit.connect(Bent(sandbox, after=hide)) as client:
        plan = patch_key(client, 30)
        hidden.append(ids[20])
        result = plan.apply(many=True)
    assert states(result) == ["applied"] * 30
    assert {record["first_name"] for record in active(sandbox, "contacts").values()} == {"Zoë"}


def test_a_short_last_page_is_no_reason_to_read_beyond_it():
    """A service may show fewer records a page than were asked for."""
    asked = []

    def note(exchange):
        if exchange.of("contacts", "list"):
            asked.append(exchange.query.get("page", "1"))

    with chatkit.Sandbox(seed="empty", profile=chatkit.ServiceProfile(max_page_size=40)) as sandbox:
        ids = contacts(sandbox, 90)
        service = Bent(sandbox, before=note)
        service.profile = chatkit.ServiceProfile()  # its user has not heard of it
        with chatkit.connect(service) as client:
            plan = patch_key(client, 90)
            asked.clear()
            for number in ids[60:]:
                call(sandbox, "DELETE", f"contacts/{number}")
            result = plan.apply(many=True)
    assert Counter(states(result)) == {"applied": 60, "conflict": 30}
    assert asked == ["1", "2"]


def test_what_was_written_is_read_back_after_a_batch_of_rows(sandbox, client, monkeypatch):
    monkeypatch.setattr(apply, "BATCH", 10)
    contacts(sandbox, 60)
    plan = patch_key(client, 60)
    before = len(log(sandbox))
    result = plan.apply(many=True, concurrency=1)
    assert set(result["evidence"]) == {"read back"}
    kinds = ["page" if path == "contacts" else method for method, path in log(sandbox)[before:]]
    runs = [(kind, len([*of])) for kind, of in groupby(kind for kind in kinds if kind != "GET")]
    # 20 rows for the one page of the list, once that is known
    assert [count for kind, count in runs if kind == "PUT"] == [10, 30, 20]
    assert runs[-1] == ("page", 1)
