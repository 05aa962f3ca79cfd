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
)

import chatkit
from chatkit.account import history
from chatkit.api.throttle import Throttle
from chatkit.bulk.apply import Interrupt
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


@pytest.mark.parametrize("made", ["by two deliveries", "and lost", "by somebody else, and lost"])
def test_of_more_new_ones_than_rows_one_is_adopted_and_the_others_are_named(made) -> None:
    """Our own request came twice, or somebody made the same: nothing tells which."""
    with wayward() as service, service.client() as client:

        def twice(do):
            service.caller.flow("Order") if "somebody" in made else do()
            return (lost if "lost" in made else right)(do)

        service.on("POST", "flows", twice)
        result = settled(plan_of(client.flows, [flow(1, "Order"), flow(2, "Menu")]).apply, settle=0)
        assert list(result.state) == ["applied"] * 2 and len(service.writes()) == 2
        present = [each["id"] for each in service.all("flows") if each["name"] == "Order"]
        assert len(present) == 2 and all(str(key) in result.reason[1] for key in present)
        assert result.reason[2] == ""
        kept = chatkit.undo(result, client)
        adopted = [1] if "lost" in made else []
        assert kept.refused["row"].tolist() == adopted and len(kept) == 2 - len(adopted)
        assert any("just like" in note and "include_adopted" in note for note in kept.notes)
        both = chatkit.undo(result, client, include_adopted=True).apply()
        assert list(both.state) == ["applied"] * 3 and service.all("flows") == []


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


# --- how it is looked for ---------------------------------------------------------------------


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
