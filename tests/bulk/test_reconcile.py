"""Reconcile: a change in doubt is looked for; what is found is adopted, sent again, a conflict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from bulk.applying import settled, stop_by
from bulk.operations import OPERATIONS, Operation
from bulk.wayward import (
    Service,
    answers,
    contact,
    dropped,
    first,
    flow,
    lost,
    number_of,
    plan_of,
    right,
    wayward,
    webhook,
)
from msgspec.structs import replace

import chatkit
from chatkit.account import history
from chatkit.api.throttle import Throttle
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.changes import Change
from chatkit.bulk.outcomes import Row, values_agree
from chatkit.bulk.reconcile import Search, ThrottledReader, read_records_by_pages
from chatkit.resource import get_endpoints

each = pytest.mark.parametrize("operation", OPERATIONS, ids=str)


def outcome(operation, service, *faults, settle=0.0):
    """Apply one change whose writes meet these faults; its row of the result."""
    change = operation.begin(service)
    service.on(operation.method, operation.resource, *faults)
    with service.client() as client:
        result = settled(
            plan_of(operation.endpoints(client), [change]).apply, settle=settle, irreversible=True
        )
    [row] = result.itertuples()
    return row


# --- after an unknown outcome -----------------------------------------------------------------


@each
def test_what_lands_late_is_waited_for_and_adopted(operation: Operation) -> None:
    with wayward() as service:
        row = outcome(operation, service, service.late(0.05), settle=0.2)
        assert (row.state, row.evidence, row.sent) == ("applied", "adopted", 1)
        assert operation.records(service) == operation.expected


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.concurrent_call], ids=str)
def test_what_somebody_else_has_made_of_it_meanwhile_is_a_conflict(operation: Operation) -> None:
    with wayward() as service:
        held: list[object] = []

        def meanwhile() -> None:
            operation.concurrent_call(service)
            held.append(operation.records(service))

        row = outcome(operation, service, first(meanwhile))
        assert row.state == "conflict"
        assert "somebody" in row.reason
        assert len(service.writes(operation.method)) == 1
        assert [operation.records(service)] == held


@each
@pytest.mark.parametrize("status", [404, 409])
def test_a_refusal_after_a_doubt_may_be_its_own_echo(operation: Operation, status: int) -> None:
    """The first attempt lands after it was found absent; the second meets what the first made."""
    with wayward() as service:
        after = first(service.quiet, answers(status, b'{"success":false,"message":"echo"}'))
        row = outcome(operation, service, service.late(0.05), after)
        assert (row.state, row.evidence) == ("applied", "adopted")
        assert operation.records(service) == operation.expected


# --- whose record it is -----------------------------------------------------------------------


def test_a_flow_that_was_there_before_is_never_adopted() -> None:
    with wayward() as service, service.client() as client:
        old = service.caller.flow("Order")
        service.on("POST", "flows", dropped)
        result = settled(plan_of(client.flows, [flow(1, "Order")], known=[old]).apply, settle=0)
        assert list(result.state) == ["applied"]
        assert list(result.sent) == [2]
        assert result.key[1] != old
        assert service.names() == ["Order", "Order"]


def test_a_flow_that_another_row_made_is_never_adopted() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "flows", lambda do: do(), dropped)
        plan = plan_of(client.flows, [flow(1, "Order"), flow(2, "Order")])
        result = settled(plan.apply, settle=0, concurrency=1)
        assert list(result.state) == ["applied", "applied"]
        assert result.key.nunique() == 2
        assert service.names() == ["Order", "Order"]


def test_of_two_doubtful_creates_of_one_name_each_finds_one_record() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "flows", lost, dropped)
        result = settled(
            plan_of(client.flows, [flow(1, "Order"), flow(2, "Order")]).apply, settle=0
        )
        assert list(result.state) == ["applied", "applied"]
        assert result.key.nunique() == 2
        assert service.names() == ["Order", "Order"]


def test_two_doubtful_creates_of_one_name_that_took_effect_are_not_sent_again() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "flows", lost, lost)
        result = settled(
            plan_of(client.flows, [flow(1, "Order"), flow(2, "Order")]).apply, settle=0
        )
        assert set(result.state) <= {"applied", "unknown"}
        assert service.names() == ["Order", "Order"]
        assert set(result.state) == {"applied"}, (
            "two rows are in doubt, and two new flows are there"
        )


@pytest.mark.parametrize("ours", [True, False])
def test_of_more_new_ones_than_rows_one_is_adopted_and_the_others_are_named(ours) -> None:
    """Our own request came twice, or somebody made the same: nothing tells which."""
    with wayward() as service, service.client() as client:

        def twice(do):
            do() if ours else service.caller.flow("Order")
            return lost(do)

        service.on("POST", "flows", twice)
        result = settled(plan_of(client.flows, [flow(1, "Order")]).apply, settle=0)
        assert list(result.state) == ["applied"] and len(service.writes()) == 1
        assert all(str(each["id"]) in result.reason[1] for each in service.all("flows"))
        kept = chatkit.undo(result, client)
        assert len(kept) == 0 and kept.refused["row"].tolist() == [1]
        assert any("just like" in note for note in kept.notes)
        both = chatkit.undo(result, client, include_adopted=True).apply()
        assert list(both.state) == ["applied"] * 2 and service.all("flows") == []


def test_a_run_that_ended_before_it_looked_for_what_is_there_twice_looks_when_resumed() -> None:
    """Its rows are all done: a stop, or the end of the process, came just then."""
    with wayward() as service, service.client() as client:
        service.on("POST", "flows", lambda do: do() and do())
        stop = Interrupt()
        plan = plan_of(client.flows, [flow(1, "Order")])
        result = stop_by(plan, stop).apply(watch=lambda done, of: done == of and stop.ask())
        assert list(result.state) == ["applied"] and result.reason[1] == ""
        assert list(chatkit.runs(client).state) == ["open"]
        result = history.resume(result, client)
        assert all(str(each["id"]) in result.reason[1] for each in service.all("flows"))
        assert list(chatkit.runs(client).state) == ["finished"]


def test_a_record_that_the_service_names_by_itself_is_ours_after_a_doubt() -> None:
    """The first request took effect late: the second is refused, and what is there has a name."""
    made = contact(1)
    bare = replace(made, after={n: v for n, v in made.after.items() if n != "name"})
    with wayward() as service, service.client() as client:
        named = first(lambda: service.caller.contact(number_of(1), name="From the phone"), right)
        service.on("POST", "contacts", dropped, named)
        result = settled(plan_of(client.contacts, [bare]).apply, settle=0)
        assert (result.state[1], result.sent[1]) == ("applied", 2)
        assert result.reason[1] == "the answer was lost, it is there"


def test_where_the_deleted_can_be_found_and_read_a_lost_create_is_never_called_failed() -> None:
    """A deleted record cannot be told from one that was created since: it may be ours."""
    points = {"inactive_in_lists": True, "inactive_readable": True}
    with wayward(**points) as service, service.client() as client:
        service.on("POST", "contacts", forever=lost)
        result = settled(plan_of(client.contacts, [contact(1)]).apply, settle=0)
        assert (result.state[1], result.sent[1]) == ("unknown", 5)
        assert "does not show whether it took effect" in result.reason[1]
        service.on("POST", "contacts")
        assert list(settled(history.resume, result, client, settle=0).state) == ["applied"]


def test_an_adopted_webhook_tells_that_its_signing_secret_is_lost() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "webhooks", lost)
        plan = plan_of(client.webhooks, [webhook(1)])
        result = settled(plan.apply, settle=0)
        assert list(result.state) == ["applied"]
        assert plan.secrets == {}
        assert "secret" in result.reason[1]


# --- how it is looked for ---------------------------------------------------------------------


def test_a_number_that_many_others_contain_is_found_all_the_same() -> None:
    """A search finds whatever contains the text: more than one page of it."""
    with wayward(max_page_size=7) as service, service.client() as client:
        for n in range(20):
            service.caller.contact(f"20255501{n:02d}")
        service.on("POST", "contacts", dropped, lost)
        fields = {"number": "202555", "country_code": "+1", "name": "Ana Cruz"}
        changes = [
            Change(n, "create", None, f"+1 2025{n}", {}, fields | {"number": f"2025{n}"})
            for n in (5, 55)
        ]
        result = plan_of(client.contacts, changes).apply(concurrency=1)
        assert list(result.state) == ["applied", "applied"]
        made = [number for number in service.numbers() if len(number) < 10]
        assert sorted(made) == ["20255", "202555"]


def test_a_service_that_cannot_search_is_read_from_end_to_end() -> None:
    with wayward(search_param=None, max_page_size=7) as service, service.client() as client:
        for n in range(30):
            service.caller.contact(number_of(100 + n))
        service.on("POST", "contacts", lost, dropped)
        result = plan_of(client.contacts, [contact(1), contact(2)]).apply(concurrency=1)
        assert list(result.state) == ["applied", "applied"]
        assert sorted(result.sent) == [1, 2]
        assert len(service.numbers()) == 32


def test_a_search_that_finds_no_numbers_ends_in_reading_the_whole_list() -> None:
    """The first look is a search; the echo of a create that it missed is looked for in the list."""
    nothing = (
        b'{"success":true,"data":[],'
        b'"pagination":{"page":1,"pageSize":100,"totalCount":0,"totalPages":0}}'
    )
    with wayward() as service, service.client() as client:
        service.on("POST", "contacts", lost)
        service.on("GET", "search=", forever=answers(200, nothing))
        result = plan_of(client.contacts, [contact(1)]).apply()
        assert (result.state[1], result.evidence[1]) == ("applied", "adopted")
        assert service.numbers() == [number_of(1)]


@pytest.mark.parametrize("quiet_after", [1, 2])
def test_a_list_that_moves_while_it_is_looked_at_is_read_again(quiet_after: int) -> None:
    """A deletion on the first page moves the new record to a page that was read already."""
    with wayward(max_page_size=5) as service, service.client() as client:
        old = [service.caller.flow(f"Old {n}") for n in range(15)]
        service.on("POST", "flows", lost)
        left = iter(old[:quiet_after])

        def arrive(sent):
            gone = next(left, None) if "page=3" in sent.path else None
            if gone:
                assert service.caller("DELETE", f"/flows/{gone}").status == 200

        service.arrival = arrive
        result = settled(plan_of(client.flows, [flow(1)], known=old).apply, settle=0)
        assert (result.state[1], result.evidence[1]) == ("applied", "adopted")
        assert service.names().count("Flow 1") == 1


def test_a_list_that_never_keeps_still_proves_nothing() -> None:
    with wayward(max_page_size=5) as service, service.client() as client:
        old = [service.caller.flow(f"Old {n}") for n in range(15)]
        service.on("POST", "flows", dropped)
        left = iter(old)

        def arrive(sent):
            if "page=3" in sent.path:
                service.caller("DELETE", f"/flows/{next(left)}")

        service.arrival = arrive
        result = settled(plan_of(client.flows, [flow(1)], known=old).apply, settle=0)
        assert (result.state[1], result.sent[1]) == ("unknown", 1)
        assert result.reason[1] == "the list kept changing while it was read"
        assert len(service.writes()) == 1
        service.arrival = lambda sent: None
        assert list(settled(history.resume, result, client, settle=0).state) == ["applied"]
        assert service.names().count("Flow 1") == 1


def test_what_cannot_be_looked_for_stays_unknown_and_is_found_by_a_resume() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "flows", lost)
        service.on("GET", "flows?", *[answers(500)] * 4)
        result = settled(plan_of(client.flows, [flow(1)]).apply, settle=0)
        assert list(result.state) == ["unknown"]
        assert "cannot be looked for: 500" in result.reason[1]
        assert list(settled(history.resume, result, client, settle=0).state) == ["applied"]
        assert service.names() == ["Flow 1"]


def test_the_rate_holds_for_looking_too() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "contacts", *[lost] * 15)
        result = plan_of(client.contacts, [contact(n) for n in range(15)]).apply(rate=15)
        assert set(result.state) == {"applied"}
        times = [sent.at for sent in service.sent]
        most = max(sum(at <= other < at + 0.95 for other in times) for at in times)
        assert most <= 15, f"{most} calls within a second"


# --- many by the pages of a list --------------------------------------------------------------


@contextmanager
def listed(count: int, size: int) -> Iterator[tuple[Service, Callable[..., Any], list[int]]]:
    """A list of so many contacts, what reads some of them by pages, and the ids in their order."""
    with wayward(max_page_size=size) as service, service.client() as client:
        ids = [service.caller.contact(number_of(n)) for n in range(count)]
        reader = ThrottledReader(client.transport, Throttle(), lambda: False)
        yield service, partial(read_records_by_pages, reader, get_endpoints(client.contacts)), ids


def asked(service: Service) -> list[int]:
    """The pages that were asked for since."""
    pages = [int(sent.path.partition("page=")[2].partition("&")[0]) for sent in service.sent]
    service.sent.clear()
    return pages


@pytest.mark.parametrize(("others", "pages"), [(6, [1, 2, 3, 4, 5, 6, 7]), (5, [1])])
def test_pages_are_read_where_that_is_no_more_calls_than_one_by_one(others, pages) -> None:
    with listed(35, 5) as (service, read, ids):
        keys = {*ids[:5], *ids[20:25], *ids[30 : 25 + others]}
        matches, count = read(keys)
        assert sorted(asked(service)) == pages
        assert set(matches) == (keys if others == 6 else {*ids[:5]})
        assert all(matches[key].id == key for key in matches)
        assert count == 7


def test_pages_of_one_record_are_as_many_as_the_records() -> None:
    with listed(12, 1) as (service, read, ids):
        matches, count = read(set(ids))
        assert (set(matches), count) == (set(ids), 12)
        assert sorted(asked(service)) == list(range(1, 13))


def test_what_was_read_before_a_page_that_cannot_be_read_counts() -> None:
    with listed(35, 5) as (service, read, ids):
        service.on("GET", "page=3", forever=answers(403))
        matches, _ = read(set(ids))
        assert {*ids[:5]} <= set(matches) <= {*ids[:10]}


# --- what is the same ------- --------------------------------------------------------------


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        (None, ""), ("", None), ([], None), (None, {}), (1, 1), (True, True), ("a", "a"),
        ({"a": 1, "b": None}, {"a": 1}), ([{"type": "text", "link": None}], [{"type": "text"}]),
    ],
)  # fmt: skip
def test_nothing_is_nothing_and_an_object_may_have_empty_fields_more(live, expected) -> None:
    assert values_agree(live, expected)


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        (None, "a"), (False, None), (False, ""), (0, None), (0, False), (1, True), ("1", 1),
        ({"a": 1, "b": 2}, {"a": 1}), ({}, {"a": 1}), ([1], [1, 1]), ([2, 1], [1, 2]),
        ([1], {"a": 1}), ("", 0),
    ],
)  # fmt: skip
def test_what_says_something_else_is_not_the_same(live, expected) -> None:
    assert not values_agree(live, expected)


def test_looking_sends_reads_only() -> None:
    with wayward() as service, service.client() as client:
        rows = [Row(n, contact(n)) for n in range(3)]
        for row in rows:
            row.apply_event("intent", {"attempt": 1})
            row.mark_reopened()
        service.caller.contact(number_of(1), name="Ana Cruz")
        service.caller.contact(number_of(2), name="Bo")
        search = Search(
            ThrottledReader(client.transport, Throttle(), lambda: False),
            get_endpoints(client.contacts),
        )
        matches = search.find_verdicts(rows, (), thorough=False)
        assert [matches[n].what for n in range(3)] == ["absent", "adopted", "conflict"]
        assert {sent.method for sent in service.sent} == {"GET"}


def test_the_service_of_these_tests_tells_the_truth() -> None:
    """Its faults do what their names say: or nothing here would prove anything."""
    with wayward() as service:
        assert isinstance(service, Service)
        for fault, present in ((dropped, 0), (lost, 1), (service.late(0.01), 1)):
            service.on("POST", "contacts", fault)
            with service.client() as client, pytest.raises(Exception, match="connection broke"):
                client.contacts.create(number=number_of(present), country_code="+1")
            service.quiet()
            assert len(service.numbers()) == present
            if present:
                service.sandbox.reset()
