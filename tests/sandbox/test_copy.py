"""A sandbox that begins as a copy of an account: the same records, ids, profile and clock."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from internals import seed_records, service_of

import chatkit
from chatkit.client import Client
from chatkit.profile import ServiceProfile
from chatkit.sandbox import Sandbox

CODES = ["order_ready", "login_code", "never_made"]
#: The open points that records are shown and stored by.
RENDERED = {"contact_key", "number_form", "flow_json_in_get", "inactive_in_lists"}
#: Every other value of each, one at a time.
OTHER_VALUES = [
    {name: value}
    for name, field in ServiceProfile.model_fields.items()
    if name in RENDERED
    for value in (get_args(field.annotation) or (True, False))
    if value != field.default
]


def opened(sandbox: Sandbox) -> Client:
    client = chatkit.connect(sandbox)
    client.templates.remember(CODES)
    return client


@pytest.fixture(scope="module")
def demo() -> Iterator[Client]:
    with Sandbox(seed="demo") as sandbox, opened(sandbox) as client:
        yield client


@pytest.mark.parametrize("open_point", [{}, *OTHER_VALUES], ids=str)
def test_a_copy_holds_what_the_account_shows(open_point: dict[str, Any]) -> None:
    """Under every profile: what a service writes in another form is stored in that form."""
    profile = ServiceProfile(**open_point)
    with Sandbox(seed="demo", profile=profile) as sandbox, opened(sandbox) as client:
        present = seed_records(client)
        with Sandbox(seed=client) as copy, opened(copy) as copied:
            assert copied.profile == profile
            assert copy.settle() and not copy.attempts
            assert seed_records(copied) == present


def test_a_copy_goes_on_with_ids_of_its_own_changes_nothing_and_is_made_anew(demo: Client) -> None:
    before = seed_records(demo)
    with Sandbox(seed=demo) as sandbox, opened(sandbox) as client:
        made = client.contacts.create(number="2125550199", country_code="+1")
        assert made.id > max(demo.contacts.frame().index)
        assert made.created_at is not None
        assert made.created_at >= demo.transport.get_service_time()
        client.contacts.update(50001, name="Ana Cruz")
        client.templates("order_ready").delete("en")
        client.webhooks.delete(41)
        assert seed_records(demo) == before
        sandbox.reset()
        assert seed_records(client) == before


def test_secrets_and_tokens_are_not_those_of_the_account(demo: Client) -> None:
    with Sandbox(seed=demo) as one, Sandbox(seed=demo) as other:
        tokens = {demo.connection.token.reveal(), one.token, other.token}
        assert len(tokens) == 3
        hooks = [
            service_of(box).webhooks.find_subscribed("1001", "chat.message.status")
            for box in (one, other)
        ]
        secrets = [hook.secret for several in hooks for hook in several]
        assert len(set(secrets)) == len(secrets) == 4


def test_records_without_ids_and_with_few_fields_are_completed() -> None:
    document = {"version": "7.0", "screens": []}
    records: Any = {
        "account_id": "shop-7",
        "flows": [{"name": "Bookings", "flow_json": document}, {"id": 9, "name": "Old"}],
        "contents": {"welcome": [{"lang_code": "en", "text": "Hello"}]},
        "contacts": [
            {"country_code": "+1", "number": "2125550100", "name": "Ana Maria Cruz"},
            {"id": 5, "country_code": "+1", "number": "2125550101", "loyalty": "gold"},
        ],
        "webhooks": [{"url": "https://hooks.example/in", "events": ["*"]}],
    }
    with Sandbox(seed=records) as sandbox, chatkit.connect(sandbox) as client:
        assert client.connection.account_id == "shop-7"
        assert client.flows.frame().name.to_dict() == {9: "Old", 10: "Bookings"}
        assert client.flows.frame().updated_at.notna().all()
        assert client.flows.get(10).flow_json == document
        assert client.templates("welcome").get("en").text == "Hello"
        assert client.contacts.get(6).last_name == "Cruz"
        client.contacts.update(5, name="Ana Cruz")
        assert client.contacts.frame().loyalty.loc[5] == "gold", "what the service added is kept"
        assert client.webhooks.frame().is_active.tolist() == [True]


@pytest.mark.parametrize(
    ("records", "output"),
    [
        (7, "'demo', 'empty' or a client"),
        ({"contacts": [{"id": 5, "number": "1"}]}, "The contact 5 has no country_code."),
        ({"webhooks": [{"url": "https://a.example", "events": []}, {}]}, "webhook None has no url"),
        (
            {"flows": [{"id": 5, "name": "A"}, {"id": 5, "name": "B"}]},
            "The flow 5 has the id of another one.",
        ),
    ],
)
def test_a_seed_that_cannot_be_copied_is_refused_with_the_record(records: Any, output: str) -> None:
    with pytest.raises(ValueError, match=output):
        Sandbox(seed=records)


def test_reading_an_account_for_a_copy_sends_reads_only() -> None:
    sent: list[str] = []
    with Sandbox(seed="demo") as sandbox:
        answer = sandbox.answer

        def counted(method: str, target: str, *rest: Any) -> Any:
            sent.append(method)
            return answer(method, target, *rest)

        sandbox.answer = counted  # type: ignore[method-assign]
        with opened(sandbox) as client:
            records = seed_records(client, contacts=False)
    assert records["contacts"] == []
    assert set(sent) == {"GET"}
