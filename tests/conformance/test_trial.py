"""Trials: what a run writes, and that nothing of it stays, whatever happens meanwhile."""

from __future__ import annotations

import _thread
import itertools
import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from bent import Bend, Bent, Exchange, quiet, status
from volume import volume

import chatkit
from chatkit.conformance import FACTS, run
from chatkit.conformance.flows import FlowEvidence
from chatkit.conformance.trial import MARK, Trial


def contents(sandbox: chatkit.Sandbox) -> dict[str, Any]:
    """All that an account shows: every list, and the contents of the templates of the demo."""
    prefix = f"/api/business/public/channels/chat/accounts/{sandbox.account_id}/"
    headers = {"authorization": f"Bearer {sandbox.token}"}

    def read(path: str) -> Any:
        status, _, body = sandbox.answer("GET", prefix + path, headers, b"")
        assert status == 200, (path, body)
        found = json.loads(body)
        return found["data"], found.get("pagination", {}).get("totalPages", 1)

    rooms = ("flows", "contacts", "webhooks", "templates/order_ready/contents")
    return {
        room: [read(f"{room}?page={page + 1}")[0] for page in range(read(room)[1])]
        for room in rooms
    }


@pytest.fixture
def sandbox():
    with chatkit.Sandbox(seed="demo") as sandbox:
        yield sandbox


def test_nothing_stays_but_inactive_contacts(sandbox):
    before = contents(sandbox)
    with chatkit.connect(sandbox) as client:
        report = run(client, **quiet(sandbox))
    assert report.status == 0, report
    assert contents(sandbox) == before
    assert report.left == ()
    [note] = report.notes
    assert "contacts that were created stay stored, inactive" in note


def test_without_leave_nothing_is_written(sandbox):
    methods = set()

    def watch(x: Exchange) -> None:
        methods.add(x.method)

    with chatkit.connect(Bent(sandbox, before=watch)) as client:
        report = run(client)
    assert methods == {"GET"}
    assert report.status == 0
    states = {outcome.fact.name: outcome.state for outcome in report.outcomes}
    assert states["create_flow"] == "not told"
    assert states["contact_number"] == states["page_size"] == states["get_contact"] == "holds"


def test_all_that_is_made_is_marked(sandbox):
    made = []

    def watch(x: Exchange) -> None:
        if x.of("any", "create"):
            made.append((x.room, x.segments, x.sent))

    with chatkit.connect(Bent(sandbox, before=watch)) as client:
        run(client, **quiet(sandbox))
    assert len(made) > 40
    for room, segments, sent in made:
        if room == "flows":
            assert sent.get("name", MARK).startswith(MARK)
        elif room == "templates":
            assert segments[1].startswith(MARK.replace(" ", "_"))
        elif room == "webhooks":
            assert sent["url"].split("://")[1].startswith("conformance.example/")
        else:
            digits = "".join(c for c in sent.get("number", "2025550100") if c.isdigit())
            assert digits[3:8] == "55501"
            assert sent.get("name", MARK).startswith(MARK)


class Broken(Exception):
    """What the door raises in the middle."""


@pytest.fixture(scope="module")
def calls() -> int:
    """How many calls a whole run makes."""
    with chatkit.Sandbox(seed="demo") as sandbox:
        bent = Bent(sandbox)
        with chatkit.connect(bent) as client:
            run(client, **quiet(sandbox))
    return bent.calls


def at(when: int, act: Callable[[], object]) -> Bend:
    """Act at the n-th call."""
    calls = itertools.count(1)
    return lambda x: act() if next(calls) == when else None


def raise_broken() -> None:
    raise Broken


#: Later it is cleaning up, and what an error keeps it from deleting it cannot delete.
SHARES = sorted(random.Random(7).sample(range(1, 88), volume(8, 80)))


@pytest.mark.parametrize("landed", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("share", SHARES)
def test_an_error_in_the_middle_leaves_nothing(share, landed, calls):
    bend = at(calls * share // 100, raise_broken)
    with chatkit.Sandbox(seed="demo") as sandbox:
        before = contents(sandbox)
        bent = Bent(sandbox, after=bend) if landed else Bent(sandbox, before=bend)
        with chatkit.connect(bent) as client, pytest.raises(Broken):
            run(client, **quiet(sandbox))
        assert contents(sandbox) == before
        assert not templates_left(sandbox)


def templates_left(sandbox: chatkit.Sandbox) -> list[Any]:
    """Contents below marked templates, which no list of the account shows."""
    table = sandbox.service.templates.table
    found = [table.get(number) for number in range(7000, 7400)]
    return [row for row in found if row and row.active and MARK.replace(" ", "_") in row.scope]


@pytest.mark.parametrize("share", [share for share in SHARES if share < 80][::2])
def test_an_interrupt_ends_the_trial_and_leaves_nothing(share, calls):
    with chatkit.Sandbox(seed="demo") as sandbox:
        before = contents(sandbox)
        bent = Bent(sandbox, after=at(calls * share // 100, _thread.interrupt_main))
        with chatkit.connect(bent) as client:
            report = run(client, **quiet(sandbox))
        assert report.interrupted
        assert report.status == 130
        assert len(report.outcomes) == len(FACTS)
        assert report.outcomes[-1].seen == "the trial was interrupted before it"
        assert contents(sandbox) == before
        assert not templates_left(sandbox)


def test_an_interrupt_while_it_cleans_up_stops_one_removal_only(sandbox, calls):
    before = contents(sandbox)
    bent = Bent(sandbox, after=at(calls - 4, _thread.interrupt_main))
    with chatkit.connect(bent) as client:
        report = run(client, **quiet(sandbox))
    assert contents(sandbox) == before
    assert report.interrupted
    assert len(report.left) <= 1
    assert all(line.endswith("its removal was stopped") for line in report.left)


def undeletable(x: Exchange) -> None:
    """Refuse every delete of a flow."""
    if x.of("flows", "delete"):
        x.headers["authorization"] = "Bearer nobody"


def test_what_cannot_be_removed_is_named(sandbox):
    with chatkit.connect(Bent(sandbox, before=undeletable)) as client:
        report = run(client, **quiet(sandbox))
    assert report.left
    assert all(re.fullmatch(r"flows/\d+: DELETE flows was .* 401", line) for line in report.left)
    assert "Left behind, remove it yourself: flows/3" in repr(report)
    assert report.status == 1


def test_an_error_names_what_it_leaves(sandbox):
    with (
        chatkit.connect(Bent(sandbox, before=undeletable)) as client,
        pytest.raises(Broken) as caught,
        Trial(client, allow_writes=True) as trial,
    ):
        FlowEvidence(trial).created.expect_success()
        raise Broken
    [note] = caught.value.__notes__
    assert re.match(r"Left behind: flows/\d+: DELETE", note)


def test_a_delete_without_an_answer_is_sent_again(sandbox):
    """A delete that landed and lost its answer is a record that is gone, not one that is left."""
    with chatkit.connect(Bent(sandbox, after=status("flows", "delete", 500))) as client:
        report = run(client, **quiet(sandbox))
    assert report.left == ()


def test_a_service_that_is_not_there_is_an_error():
    with (
        chatkit.Client("http://127.0.0.1:9", "1001", "token", deadline=0.5) as client,
        pytest.raises(chatkit.CallError),
    ):
        run(client, allow_writes=True)


def test_other_records_are_never_changed(sandbox):
    """Every write names a record that the trial created itself."""
    own: set[tuple[str, ...]] = set()
    touched: set[tuple[str, ...]] = set()

    def watch(x: Exchange) -> None:
        if x.of("any", "update delete"):
            touched.add(tuple(x.segments))
        if x.of("any", "create") and x.records:
            shown = x.records[0]
            last = shown["lang_code"] if x.room == "templates" else str(shown["id"])
            own.add((*x.segments, last))

    with chatkit.connect(Bent(sandbox, after=watch)) as client:
        run(client, **quiet(sandbox))
    assert touched
    assert touched <= own
