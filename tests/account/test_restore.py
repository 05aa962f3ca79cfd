"""An account that is brought back holds what it held: random accounts in the sandbox."""

from __future__ import annotations

from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from bulk.applying import settled
from bulk.planning import account, call, contacts, content, flow, states, untouched, webhook
from documents import document
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import SERVICES, Service
from volume import volume

import chatkit
from chatkit.account.comparison import compare
from chatkit.account.folder import read_state
from chatkit.account.planning import plan_state
from chatkit.account.reading import AccountState
from chatkit.bulk.endpoints import ACCOUNT

# What people write in names and texts, and what breaks a careless file or query.
WORDS = st.sampled_from(
    [
        *("Ana", "de la", "Müller", "नमस्ते", "李", "a/b", "x&y", "o'Neil", "=1+1", "Zoë"),
        *("\u202eabc", "%2F"),
    ]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
NAMES = st.lists(st.sampled_from(["Ana", "Bo", "Cruz", "María", "李"]), max_size=4).map(" ".join)
LANGUAGES = ("en", "de", "pt_BR", "ja")
CODES = ("ready", "late-2", "a.b")

BUTTONS = st.one_of(
    st.fixed_dictionaries({"type": st.just("custom"), "label": TEXTS}),
    st.fixed_dictionaries(
        {
            "type": st.just("visit_website"),
            "label": TEXTS,
            "value": st.just("https://shop.example/"),
            "url_type": st.sampled_from(["static", None]),
        }
    ),
)
HEADERS = st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})
CONTENT = st.fixed_dictionaries(
    {"text": TEXTS, "is_draft": st.booleans()},
    optional={
        "footer": st.one_of(st.just(""), TEXTS),
        "variables": st.dictionaries(st.sampled_from(["1", "2"]), TEXTS, max_size=2),
        "headers": st.lists(HEADERS, max_size=1),
        "buttons": st.lists(BUTTONS, max_size=3),
        "is_custom_validity_period": st.booleans(),
        "validity_period_seconds": st.sampled_from([None, 60, 600]),
        "catalog_format": st.sampled_from([None, "grid"]),
        "auth_apps": st.sampled_from([None, [], [{"package_name": "a.b", "signature_hash": "x"}]]),
    },
)
CATEGORIES = st.lists(st.sampled_from(["SURVEY", "SIGN_UP", "OTHER"]), max_size=2, unique=True)
FLOW = st.fixed_dictionaries(
    {"title": TEXTS, "version": st.sampled_from(["7.2", "7.3"])},
    optional={"categories": CATEGORIES},
)
KINDS = st.lists(
    st.sampled_from(["*", "chat.message.status", "x"]), min_size=1, max_size=2, unique=True
)
HOOK = st.fixed_dictionaries({"events": KINDS, "is_active": st.booleans()})
PLACES = st.tuples(st.sampled_from(CODES), st.sampled_from(LANGUAGES))
ADDRESSES = st.sampled_from([f"https://shop.example/{n}?a=b" for n in range(5)])
NUMBERS = st.tuples(
    st.sampled_from(["+1", "+49"]), st.integers(0, 40).map(lambda n: f"20255501{n:02}")
)


class Holdings(NamedTuple):
    """Return the resources of an account."""

    flows: dict[str, dict[str, Any]]
    contents: dict[tuple[str, str], dict[str, Any]]
    webhooks: dict[str, dict[str, Any]]
    contacts: dict[tuple[str, str], str]


ACCOUNTS = st.builds(
    Holdings,
    st.dictionaries(TEXTS, FLOW, max_size=3),
    st.dictionaries(PLACES, CONTENT, max_size=4),
    st.dictionaries(ADDRESSES, HOOK, max_size=3),
    st.dictionaries(NUMBERS, NAMES, max_size=5),
)


def made(sandbox: chatkit.Sandbox, held: Holdings) -> None:
    """Make an account hold this, past the client."""
    for name, fields in held.flows.items():
        written = document(fields["title"]) | {"version": fields["version"]}
        more = {"categories": fields.get("categories", [])}
        call(
            sandbox, "POST", "flows", name=name, template_name="default", flow_json=written, **more
        )
    for (code, lang), fields in held.contents.items():
        call(sandbox, "POST", f"templates/{code}/contents", lang_code=lang, **fields)
    for url, fields in held.webhooks.items():
        call(sandbox, "POST", "webhooks", url=url, **fields)
    numbers = set()
    for (code, number), name in held.contacts.items():
        if number not in numbers:  # this service tells contacts apart by number
            numbers.add(number)
            named = {"name": name} if name else {}
            call(sandbox, "POST", "contacts", country_code=code, number=number, **named)


def read(client: chatkit.Client) -> AccountState:
    return read_state(client, contacts=True, codes=CODES)


def pulled(client: chatkit.Client, path: str) -> AccountState:
    """Return the records of an account, read through files."""
    folder = chatkit.Folder(path)
    folder.pull(client, contacts=True, codes=CODES)
    return folder.state(contacts=True)


def extras(held: AccountState, now: AccountState) -> list[tuple[str, str]]:
    """List by name what only the account has, as a person would after a comparison."""
    frame = compare(held, now).frame()
    gone = frame[frame.what == "only right"]
    return list(zip(gone.resource, gone.key, strict=True))


@settings(max_examples=volume(6))
@given(ACCOUNTS)
def test_the_plan_of_an_account_for_itself_is_empty(held: Holdings) -> None:
    with account() as (sandbox, client), TemporaryDirectory() as path:
        made(sandbox, held)
        with untouched(sandbox):
            for state in (read(client), pulled(client, path)):
                plan = plan_state(state, client)
                assert (len(plan), len(plan.refused)) == (0, 0), plan
                assert not compare(state, client, contacts=True, codes=CODES)


@settings(max_examples=volume(6))
@given(ACCOUNTS, ACCOUNTS)
def test_an_account_brought_to_a_state_holds_it_and_its_undo_brings_it_back(
    expected: Holdings, present: Holdings
) -> None:
    """Differences are written, named records are deleted, and everything else stays."""
    with (
        account() as (one, client),
        account() as (other, target),
        TemporaryDirectory() as path,
    ):
        made(one, expected)
        made(other, present)
        held, before = pulled(client, path), read(target)
        fixed = [n for n in {*held.get("flow"), *before.get("flow")} if both_flows(held, before, n)]
        others = {n: f for n, f in held.get("flow").items() if n not in fixed}
        held = replace(held, records={**held.records, "flow": others})
        before_left = {n: before.get("flow")[n] for n in fixed if n in before.get("flow")}
        gone = [each for each in extras(held, before) if each[1] not in fixed or each[0] != "flow"]
        plan = plan_state(held, target, delete=gone, broken=True)
        clashes = {cell.row for cell in plan.refused.itertuples()}
        assert {noun for noun, _ in clashes} <= {"contact"}, plan.refused
        if clashes:  # a number with another country code is a conflict that a person decides
            return
        result = plan.apply(many=True, irreversible=True)
        assert set(states(result)) <= {"applied"}, result[["label", "state", "reason"]]
        now = read(target)
        kept = {**held.records, "flow": {**held.get("flow"), **before_left}}
        left = compare(replace(held, records=kept), now).frame()
        assert not len(left), left
        assert len(plan_state(held, target)) == 0
        assert result.index.names == ["resource", "record"]
        back = chatkit.undo(result, target)
        never = [change.row for change in plan.changes if change.undo == "never"]
        assert sorted(map(str, back.refused.row)) == sorted(map(str, never))
        done = back.apply(many=True)
        assert set(states(done)) <= {"applied", "differs"}
        assert chatkit.runs(target).noun.tolist()[:1] == [ACCOUNT] or not len(result)


def both_flows(held: AccountState, now: AccountState, name: str) -> bool:
    """Return whether both have a flow whose categories differ: those are fixed once it exists."""
    if name not in held.get("flow") or name not in now.get("flow"):
        return False
    one, two = held.get("flow")[name], now.get("flow")[name]
    return one.get("categories") != two.get("categories")


@pytest.mark.parametrize("name_split", ["first_only", "first_last"])
def test_a_name_that_comes_back_otherwise_is_told_before(name_split: str) -> None:
    with account() as (one, client), account(name_split=name_split) as (_, target):
        call(one, "POST", "contacts", country_code="+1", number="2025550101", name="A B C D")
        held = read(client)
        plan = plan_state(held, target)
        assert any(note.startswith("Names that the service splits") for note in plan.notes)
        plan.apply()
        again = plan_state(held, target)
        assert len(again) == 0
        assert list(compare(held, read(target)).frame().field)


@pytest.mark.parametrize("service", SERVICES, ids=map(str, range(len(SERVICES))))
def test_an_account_is_restored_whatever_the_service_is_like(
    service: Service,
) -> None:
    """Lost records come back, and values that the service cannot show are written only once."""
    with (
        service.sandbox() as sandbox,
        chatkit.connect(sandbox) as client,
    ):
        profile = service.profile
        flow(sandbox, "Order")
        flow(sandbox, "Return", flow_json=document("Zurück"))
        content(sandbox, "ready", lang_code="en")
        content(sandbox, "ready", lang_code="de")
        webhook(sandbox, 0)
        contacts(sandbox, 3)
        held = read(client)
        assert len(plan_state(held, client)) == 0
        output = profile.flow_json_in_get
        if output:
            client.flows.delete(held.ids["flow"]["Return"])
        client.templates("ready").delete("de")
        client.webhooks.delete(held.ids["webhook"]["https://shop.example/hook/0"])
        client.contacts.delete(client.contacts.frame().index[0])
        plan = plan_state(held, client, broken=True)
        kinds = [(c.noun, c.kind) for c in plan.changes]
        report = any(note.startswith("This service lists deleted contacts") for note in plan.notes)
        assert report is profile.inactive_in_lists
        lost = ["flow"] * output + ["content", "webhook"] + ["contact"] * (not report)
        assert kinds == [(noun, "create") for noun in lost]
        assert set(states(settled(plan.apply, settle=0))) <= {"applied", "differs"}
        assert len(plan_state(held, client)) == 0
