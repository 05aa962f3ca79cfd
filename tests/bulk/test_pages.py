"""Many rows take few calls: read back by pages, and by pages before they are written, if asked."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby

import pandas as pd
import pytest
from bent import Bent
from bulk.planning import (  # noqa: F401
    active,
    call,
    client,
    content,
    log,
    people,
    sandbox,
    states,
)

import chatkit
from chatkit.bulk import apply, rendering
from chatkit.errors import InputError

ROWS = 150


def renaming(client, rows, name="Zoë"):
    frame = client.contacts.frame()
    frame.iloc[:rows, frame.columns.get_loc("name")] = name
    return client.contacts.plan(frame)


def calls_of(sandbox, work):
    """What a piece of work has asked for: by method, pages of lists apart."""
    before = len(log(sandbox))
    work()
    return Counter(
        "page" if method == "GET" and path == "contacts" else method
        for method, path in log(sandbox)[before:]
    )


def test_many_updates_are_read_one_by_one_and_read_back_by_pages(sandbox, client):
    people(sandbox, ROWS)
    plan = renaming(client, ROWS)
    report = calls_of(sandbox, lambda: plan.apply(many=True))
    assert report == {"GET": ROWS + 5, "PUT": ROWS, "page": 2}  # the canary: five rows
    assert {record["first_name"] for record in active(sandbox, "contacts").values()} == {"Zoë"}


def test_by_pages_an_update_takes_one_call_and_a_share_of_a_page(sandbox, client):
    people(sandbox, ROWS)
    plan = renaming(client, ROWS)
    results = []
    report = calls_of(sandbox, lambda: results.append(plan.apply(many=True, gap="page")))
    assert report == {"GET": 10, "PUT": ROWS, "page": 4}  # the canary is read one by one
    [result] = results
    assert states(result) == ["applied"] * ROWS
    assert set(result["evidence"]) == {"read back"}
    assert result["checked_ago"].between(pd.Timedelta(0), pd.Timedelta(minutes=1)).all()
    assert re.search(r"read by pages, up to [0-9.]+ s before", rendering.result_summary(result))
    by_row = renaming(client, ROWS, "Eva").apply(many=True)
    assert "by pages" not in rendering.result_summary(by_row)


def test_by_pages_a_delete_takes_one_call_though_the_others_move_up(sandbox, client):
    ids = people(sandbox, ROWS)
    plan = client.contacts.plan(delete=ids)
    report = calls_of(sandbox, lambda: plan.apply(many=True, gap="page"))
    assert report["DELETE"] == ROWS
    assert report["page"] + report["GET"] < 12
    assert not active(sandbox, "contacts")


def test_few_rows_of_many_are_read_one_by_one_whatever_is_asked(sandbox, client):
    people(sandbox, ROWS)
    plan = renaming(client, 3)
    report = calls_of(sandbox, lambda: plan.apply(gap="page"))
    assert report == {"GET": 6, "PUT": 3}


def test_what_a_list_does_not_show_in_full_is_read_one_by_one(sandbox, client):
    """Contents: a list shows no header and no buttons, which an undo must know."""
    codes = [f"code_{n}" for n in range(12)]
    for code in codes:
        content(sandbox, code)
    frame = client.templates.frame(codes).assign(text="Hi")
    result = client.templates.plan(frame).apply(many=True, gap="page")
    assert set(states(result)) == {"applied"}
    back = chatkit.undo(result, client).apply(many=True)
    assert set(states(back)) == {"applied"}


def test_a_page_that_shows_what_somebody_changed_is_a_conflict(sandbox, client):
    ids = people(sandbox, 40)
    plan = renaming(client, 40)
    call(sandbox, "PUT", f"contacts/{ids[20]}", name="Theirs")
    result = plan.apply(many=True, gap="page")
    assert result.loc[ids[20], "state"] == "conflict"
    assert Counter(states(result)) == {"applied": 39, "conflict": 1}
    assert active(sandbox, "contacts")[ids[20]]["first_name"] == "Theirs"


def test_what_reads_back_otherwise_is_asked_for_alone_before_it_is_said(sandbox, client):
    ids = people(sandbox, 40)
    plan = renaming(client, 40)
    done = []

    def watch(rows, of):
        if rows == 30 and not done:  # what was written is changed before it is read back
            done.append(call(sandbox, "PUT", f"contacts/{ids[0]}", name="Theirs"))

    result = plan.apply(many=True, gap="page", watch=watch, concurrency=1)
    assert result.loc[ids[0], "state"] == "differs"
    assert Counter(states(result)) == {"applied": 39, "differs": 1}


def test_a_service_that_replaces_is_read_one_by_one(client):
    profile = chatkit.ServiceProfile(put="replace")
    with chatkit.Sandbox(seed="empty", profile=profile) as box, chatkit.connect(box) as to:
        people(box, 30)
        plan = renaming(to, 30)
        report = calls_of(box, lambda: plan.apply(many=True, gap="page"))
    assert report == {"GET": 30, "PUT": 30, "page": 1}


def test_an_undo_and_a_resume_go_by_pages_too(sandbox, client):
    people(sandbox, 40)
    result = renaming(client, 40).apply(many=True)
    undo = chatkit.undo(result, client)
    report = calls_of(sandbox, lambda: undo.apply(gap="page"))
    assert report == {"PUT": 40, "page": 2}
    assert report["GET"] == 0
    assert states(chatkit.resume(undo.id, client, gap="page")) == ["applied"] * 40


def test_the_calls_of_a_plan_are_estimated(sandbox, client):
    people(sandbox, ROWS)
    plan = renaming(client, ROWS)
    assert plan.calls() == 2 * ROWS + 2
    assert plan.calls("page") == ROWS + 4
    assert renaming(client, 3).calls("page") == 9


def test_a_plan_says_what_pages_save_and_what_they_cost(sandbox, client, monkeypatch):
    people(sandbox, ROWS)
    plan = renaming(client, ROWS)
    monkeypatch.setattr(plan._target.transport, "latency", 1.0)
    message = (
        "It takes about 40 seconds at 8 calls at once, about 20 seconds with apply(gap='page'), "
        "which reads 100 records at a time, up to 12.8 s before it writes them."
    )
    assert message in " ".join(repr(plan).split())


def test_another_gap_is_refused(sandbox, client):
    people(sandbox, 2)
    with pytest.raises(InputError, match="gap is 'row' or 'page', not 'pages'"):
        renaming(client, 1).apply(gap="pages", many=True)


def test_where_a_list_shows_no_name_records_are_read_one_by_one(sandbox):
    """The name of a contact is joined of parts; without them an undo would lose it."""
    hidden = []

    def hide(exchange):
        if hidden and exchange.of("contacts", "list"):
            for record in exchange.records:
                for part in ("first_name", "middle_name", "last_name"):
                    record.pop(part, None)

    people(sandbox, 30)
    with chatkit.connect(Bent(sandbox, after=hide)) as client:
        plan = renaming(client, 30)
        hidden.append(True)
        report = calls_of(sandbox, lambda: plan.apply(many=True, gap="page"))
    assert report["PUT"] == 30
    assert report["GET"] == 60  # before and after


def test_a_record_that_a_list_shows_in_part_keeps_no_other_from_being_sent(sandbox):
    ids = people(sandbox, 30)
    hidden = []

    def hide(exchange):
        if hidden and exchange.of("contacts", "list"):
            for record in exchange.records:
                if record["id"] == hidden[0]:
                    for part in ("first_name", "middle_name", "last_name"):
                        record.pop(part, None)

    with chatkit.connect(Bent(sandbox, after=hide)) as client:
        plan = renaming(client, 30)
        hidden.append(ids[20])
        result = plan.apply(many=True, gap="page")
    assert states(result) == ["applied"] * 30
    assert {record["first_name"] for record in active(sandbox, "contacts").values()} == {"Zoë"}


def test_a_short_last_page_is_no_reason_to_read_beyond_it():
    """A service may show fewer records a page than were asked for."""
    asked = []

    def note(exchange):
        if exchange.of("contacts", "list"):
            asked.append(exchange.query.get("page", "1"))

    with chatkit.Sandbox(seed="empty", profile=chatkit.ServiceProfile(max_page_size=40)) as sandbox:
        ids = people(sandbox, 90)
        service = Bent(sandbox, before=note)
        service.profile = chatkit.ServiceProfile()  # its user has not heard of it
        with chatkit.connect(service) as client:
            plan = renaming(client, 90)
            asked.clear()
            for number in ids[60:]:
                call(sandbox, "DELETE", f"contacts/{number}")
            result = plan.apply(many=True, gap="page")
    assert Counter(states(result)) == {"applied": 60, "conflict": 30}
    assert asked == ["1", "2"] * 2


@pytest.mark.parametrize(
    ("gap", "stretches"),
    [
        ("row", [10, 30, 20]),  # 20 rows for the one page of the list, once that is known
        ("page", [60]),
    ],
)
def test_what_was_written_is_read_back_after_a_stretch_of_rows(
    sandbox, client, monkeypatch, gap, stretches
):
    monkeypatch.setattr(apply, "BATCH", 10)
    people(sandbox, 60)
    plan = renaming(client, 60)
    before = len(log(sandbox))
    result = plan.apply(many=True, gap=gap, concurrency=1)
    assert set(result["evidence"]) == {"read back"}
    kinds = ["page" if path == "contacts" else method for method, path in log(sandbox)[before:]]
    runs = [(kind, len([*of])) for kind, of in groupby(kind for kind in kinds if kind != "GET")]
    assert [count for kind, count in runs if kind == "PUT"] == stretches
    assert runs[-1] == ("page", 1)
