"""Tests of what a run writes: marked records only, all removed, whatever happens meanwhile."""

from __future__ import annotations

import _thread
import itertools
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from typing import Any

import pytest
from bent import Bend, Bent, Exchange, status
from caller import Caller
from contract import contacts
from contract.account import MARK, Account
from contract.contacts import ContactCalls, fiction_numbers, name_of
from contract.facts import FACTS, RESOURCES
from contract.targets import whole
from documents import DOCUMENT
from internals import service_of
from volume import volume

import chatkit


def check_all(account: Account) -> dict[str, tuple[str, str]]:
    account.send_event = None  # deliveries leave traces in no list
    return {fact.name: fact.outcome(account) for fact in FACTS}


@contextmanager
def bent(
    sandbox: chatkit.Sandbox, before: Bend | None = None, after: Bend | None = None
) -> Iterator[Account]:
    service = Bent(sandbox, before, after)
    with chatkit.connect(service) as client:  # type: ignore[arg-type]
        yield whole(client, sandbox)


def stored(sandbox: chatkit.Sandbox) -> dict[str, Any]:
    """Return every record of the account, also those that no list shows without a template code."""
    call = Caller(sandbox)
    records: dict[str, Any] = {
        path: call("GET", path).data for path in ("/webhooks", "/templates/order_ready/contents")
    }
    for path in ("/flows", "/contacts"):
        pages = call("GET", path).json["pagination"]["totalPages"]
        records[path] = [call("GET", f"{path}?page={page + 1}").data for page in range(pages)]
    table = service_of(sandbox).templates.table
    contents = [table.find_record(number) for number in range(7000, 7400)]
    mark = MARK.replace(" ", "_")
    return {**records, mark: [row for row in contents if row and row.active and mark in row.scope]}


@pytest.fixture
def sandbox() -> Iterator[chatkit.Sandbox]:
    with chatkit.Sandbox(seed="demo") as sandbox:
        yield sandbox


def test_nothing_stays_but_inactive_contacts(sandbox: chatkit.Sandbox) -> None:
    before = stored(sandbox)
    with bent(sandbox) as account, account:
        states = {state for state, _ in check_all(account).values()}
    assert states == {"holds", "unknown"}
    assert stored(sandbox) == before
    assert not account.remaining
    [note] = account.notes
    assert "contacts that were created stay stored, inactive" in note


def test_without_writes_every_call_is_a_get(sandbox: chatkit.Sandbox) -> None:
    methods = set()
    with bent(sandbox, before=lambda x: methods.add(x.method)) as account, account:
        account.writes = False
        states = {name: state for name, (state, _) in check_all(account).items()}
    assert methods == {"GET"}
    assert set(states.values()) == {"holds", "unknown"}
    assert states["create_flow"] == "unknown"
    assert states["contact_number"] == states["page_size"] == states["get_contact"] == "holds"


def test_only_marked_records_are_written_and_changed(sandbox: chatkit.Sandbox) -> None:
    created: set[tuple[str, ...]] = set()
    changed: set[tuple[str, ...]] = set()

    def after(x: Exchange) -> None:
        if x.of("any", "update delete"):
            changed.add(tuple(x.segments))
        if x.of("any", "create") and x.records:
            record = x.records[0]
            key = record["lang_code"] if x.resource == "templates" else str(record["id"])
            created.add((*x.segments, key))
        if x.of("any", "create"):
            url = x.sent.get("url", "https://contract.example/")
            digits = re.sub(r"\D", "", x.sent.get("number", "2025550100"))
            assert x.sent.get("name", MARK).startswith(MARK)
            assert x.segments[0] != "templates" or MARK.replace(" ", "_") in x.segments[1]
            assert url.partition("://")[2].startswith("contract.example/")
            assert digits[3:8] == "55501"

    with bent(sandbox, after=after) as account, account:
        check_all(account)
    assert len(created) > 20
    assert changed
    assert changed <= created


class Broken(Exception):
    """An error in the middle of a run."""


def raise_broken() -> None:
    raise Broken


def at(number: int, act: Callable[[], object]) -> Bend:
    """Act at a call, by its number."""
    numbers = itertools.count(1)
    return lambda x: act() if next(numbers) == number else None


@pytest.fixture(scope="module")
def calls() -> int:
    """Return the number of calls of a whole run."""
    count = itertools.count()
    with (
        chatkit.Sandbox(seed="demo") as sandbox,
        bent(sandbox, before=lambda x: next(count)) as account,
        account,
    ):
        check_all(account)
    return next(count)


#: In per cent. Later it removes records, and what an error interrupts then is named.
PLACES = sorted(random.Random(7).sample(range(1, 80), volume(6, 60)))


@pytest.mark.parametrize("answered", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("act", [raise_broken, _thread.interrupt_main], ids=["error", "interrupt"])
@pytest.mark.parametrize("place", PLACES)
def test_an_error_or_an_interrupt_leaves_nothing(
    sandbox: chatkit.Sandbox, place: int, act: Callable[[], None], answered: bool, calls: int
) -> None:
    before, bend = stored(sandbox), at(calls * place // 100, act)
    bends = {"after" if answered else "before": bend}
    with (
        bent(sandbox, **bends) as account,
        pytest.raises((Broken, KeyboardInterrupt)),
        account,
    ):
        check_all(account)
    assert stored(sandbox) == before
    assert not account.remaining


def test_an_interrupt_while_records_are_removed_stops_one_removal(
    sandbox: chatkit.Sandbox, calls: int
) -> None:
    before = stored(sandbox)
    with (
        bent(sandbox, after=at(calls - 4, _thread.interrupt_main)) as account,
        pytest.raises(KeyboardInterrupt),
        account,
    ):
        check_all(account)
    assert stored(sandbox) == before
    assert len(account.remaining) <= 1


def test_records_that_cannot_be_removed_are_named_and_a_lost_delete_is_sent_again(
    sandbox: chatkit.Sandbox,
) -> None:
    with bent(sandbox, after=status("flows", "delete", 500)) as account, account:
        check_all(account)
    assert not account.remaining

    def refused(x: Exchange) -> None:
        if x.of("flows", "delete"):
            x.headers["authorization"] = "Bearer nobody"

    with bent(sandbox, before=refused) as account, account:
        check_all(account)
    assert account.remaining
    for text in account.remaining.values():
        assert re.fullmatch(r"flows/\d+: DELETE flows was answered with 401", text)


# --- creates without an answer ---


def lost(resource: str) -> Bend:
    def bend(x: Exchange) -> None:
        if x.of(resource, "create"):
            raise OSError

    return bend


@pytest.mark.parametrize("resource", RESOURCES)
def test_a_record_whose_create_got_no_answer_is_removed(resource: str) -> None:
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        for n in range(30):
            client.flows.create(name=f"{n}", template_name="default", flow_json=DOCUMENT)
        before = record_ids(client)
        with bent(sandbox, after=lost(resource)) as account, account:
            account.calls(RESOURCES[resource]).create_as(account.caller)
            [created] = account.created
            if resource != "templates":
                assert created.key is None
                assert record_ids(client) != before
        assert not account.remaining
        assert record_ids(client) == before
        if resource == "templates":
            assert client.templates(created.path[1]).frame().empty


def record_ids(client: chatkit.Client) -> list[list[Any]]:
    return [list(getattr(client, name).frame().index) for name in ("flows", "contacts", "webhooks")]


def test_a_contact_that_cannot_be_searched_for_is_named() -> None:
    profile = chatkit.ServiceProfile(search_param=None)
    with (
        chatkit.Sandbox(seed="empty", profile=profile) as sandbox,
        bent(sandbox, after=lost("contacts")) as account,
        account,
    ):
        account.calls(ContactCalls).create_as(account.caller)
    assert [*account.remaining.values()] == ["contacts/?: its create got no answer; look for it"]


@pytest.mark.parametrize("resource", ["flows", "contacts", "webhooks"])
def test_a_create_that_never_arrived_is_noted(resource: str) -> None:
    with (
        chatkit.Sandbox(seed="empty") as sandbox,
        bent(sandbox, before=lost(resource)) as account,
        account,
    ):
        account.calls(RESOURCES[resource]).create_as(account.caller)
    assert not account.remaining
    assert account.notes == [f"{resource}/?: a create got no answer, and no list shows its record."]


# --- numbers that somebody has ---

NUMBER = "2125550142"


@pytest.fixture
def taken_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the number of somebody else first."""
    numbers = itertools.chain([NUMBER], fiction_numbers())
    monkeypatch.setattr(contacts, "fiction_numbers", lambda: numbers)


def test_numbers_are_reserved_for_fiction_and_the_parts_of_a_name_are_joined() -> None:
    for number in islice(fiction_numbers(), 500):
        assert re.fullmatch(r"[2-9]\d\d55501\d\d", number)
    assert name_of({"first_name": "Ana", "middle_name": None, "last_name": "Cruz"}) == "Ana Cruz"
    assert name_of({"first_name": None}) == ""


@pytest.mark.usefixtures("taken_first")
@pytest.mark.parametrize(
    "points",
    [
        {},
        {"search_param": None},
        {"inactive_in_lists": True, "inactive_readable": True},
        {"contact_key": "country_code_and_number"},
    ],
)
@pytest.mark.parametrize("deleted", [False, True], ids=["active", "inactive"])
def test_a_contact_of_somebody_stays_as_it_is(points: dict[str, Any], deleted: bool) -> None:
    profile = chatkit.ServiceProfile(**points)
    with chatkit.Sandbox(profile=profile) as sandbox, chatkit.connect(sandbox) as client:
        contact = client.contacts.create(number=NUMBER, country_code="+1", name="Ana de la Cruz")
        if deleted:
            client.contacts.delete(contact.id)
        with whole(client, sandbox) as account:
            states = {state for state, _ in check_all(account).values()}
        assert "differs" not in states
        restored = f"The inactive contact {contact.id} of somebody else was restored"
        was_restored = any(note.startswith(restored) for note in account.notes)
        assert was_restored == (deleted and not profile.inactive_in_lists)
        if not deleted:
            assert client.contacts.get(contact.id) == contact
            return
        readable = profile.inactive_readable
        with nullcontext() if readable else pytest.raises(chatkit.errors.NotFound):
            client.contacts.get(contact.id)
        again = client.contacts.create(number=NUMBER, country_code="+1")
        assert (again.id, again.name) == (contact.id, "Ana de la Cruz")


def test_contacts_of_an_earlier_run_are_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    few = itertools.cycle(f"31255501{n:02}" for n in range(20))
    monkeypatch.setattr(contacts, "fiction_numbers", lambda: few)
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        for _ in range(3):
            with whole(client, sandbox) as account:
                outcomes = check_all(account).values()
            assert "differs" not in {state for state, _ in outcomes}
            assert not any("was free" in reason for _, reason in outcomes)
            assert not any("somebody else" in note for note in account.notes)


def test_without_a_free_number_the_facts_of_contacts_are_unknown() -> None:
    def taken(x: Exchange) -> None:
        if x.of("contacts", "create"):
            x.status, x.envelope, x.body = 409, {}, b""

    with chatkit.Sandbox(seed="empty") as sandbox, bent(sandbox, after=taken) as account, account:
        outcomes = check_all(account)
    assert outcomes["create_contact"] == ("unknown", "no number reserved for fiction was free")
    assert outcomes["list_contacts"][0] == "holds"
