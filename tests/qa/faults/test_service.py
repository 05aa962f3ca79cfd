"""The fault service does what it says: what arrives, what takes effect, what it knows."""

from collections.abc import Iterator

import pytest
from faults.account import Account, account
from faults.kinds import KINDS, rates
from faults.load import Name, of_effect

import chatkit
from chatkit.api.call import Call

CREATE = Call("POST", ("flows",), body={"name": "A", "template_name": "default", "flow_json": {
    "version": "7.3", "screens": []}})  # fmt: skip

#: What a client must make of each kind.
MEANS = {
    "429": chatkit.errors.RateLimited,
    "5xx before": chatkit.errors.ServerFault,
    "5xx after": chatkit.errors.ServerFault,
    "late, 504": chatkit.errors.ServerFault,
    "HTML": chatkit.errors.BadAnswer,
    "empty": chatkit.errors.BadAnswer,
    "drip": chatkit.errors.DeadlinePassed,
}


@pytest.fixture(scope="module")
def served() -> Iterator[Account]:
    with account() as served:
        yield served


@pytest.fixture
def client(served: Account) -> Iterator[chatkit.Client]:
    served.command("forget")
    about = served.about
    with chatkit.Client(
        about["base_url"], about["account_id"], about["token"], deadline=0.6
    ) as client:
        yield client
    served.faults({})
    served.command("writer", edits=[], rate=0)


def test_the_rates_of_all_kinds_add_up() -> None:
    assert sum(rates(0.14).values()) == pytest.approx(0.14)
    assert set(rates()) == set(KINDS)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "twice"])
def test_each_kind_of_fault_has_its_effect_and_its_error(
    served: Account, client: chatkit.Client, name: str
) -> None:
    served.faults({name: 1.0})
    before = len(served.truth()["state"]["flows"])
    with pytest.raises(MEANS.get(name, chatkit.errors.UnknownOutcome)):
        client.transport.send(CREATE)
    truth = served.truth()
    took_effect = KINDS[name].effect != "never"
    assert len(truth["state"]["flows"]) - before == took_effect
    assert len(truth["effects"]) == took_effect
    assert truth["faults"][name] >= 1


def test_what_is_delivered_twice_happens_twice(served: Account, client: chatkit.Client) -> None:
    served.faults({"twice": 1.0})
    client.transport.send(CREATE)
    assert [effect["echo"] for effect in served.truth()["effects"]] == [False, True]


def test_what_lands_late_lands_after_its_answer(served: Account, client: chatkit.Client) -> None:
    served.faults({"late, 504": 1.0}, late=0.3)
    with pytest.raises(chatkit.errors.ServerFault):
        client.transport.send(CREATE)
    names = [flow["id"] for flow in served.call("GET", "flows?pageSize=100")]
    [effect] = served.truth()["effects"]  # which waits for it
    assert effect["id"] not in names
    assert effect["id"] in [flow["id"] for flow in served.call("GET", "flows?pageSize=100")]


def test_only_the_verbs_that_are_named_are_spoilt(served: Account, client: chatkit.Client) -> None:
    served.faults({"dropped after": 1.0}, verbs=["DELETE"])
    envelope = client.transport.send(CREATE)
    assert b'"name":"A"' in bytes(envelope.data)
    [effect] = served.truth()["effects"]
    with pytest.raises(chatkit.errors.UnknownOutcome):
        client.flows.delete(effect["id"])


def test_reads_meet_faults_at_their_own_rate(served: Account, client: chatkit.Client) -> None:
    served.faults({"HTML": 0.001}, reads=1.0)
    assert client.flows.frame().index.name == "id"
    served.command("mark", name="planned")
    with pytest.raises(chatkit.errors.BadAnswer):
        client.transport.send(Call("GET", ("flows",)))
    assert served.truth()["faults"] == {"HTML": 1}


def test_the_same_seed_spoils_the_same_calls(served: Account, client: chatkit.Client) -> None:
    met = []
    for _ in range(2):
        served.command("forget")
        served.faults({"5xx before": 0.3}, seed=7)
        for n in range(30):
            with pytest.raises((chatkit.errors.ServerFault, chatkit.errors.NotFound)) as raised:
                client.transport.send(Call("DELETE", ("flows", 900_000 + n)))
            met.append(type(raised.value))
    assert met[:30] == met[30:]
    assert set(met) == {chatkit.errors.ServerFault, chatkit.errors.NotFound}


def test_the_log_tells_who_wrote_what_and_who_read(served: Account, client: chatkit.Client) -> None:
    made = served.call("POST", "contacts", {"number": "5550001", "country_code": "+1"})
    served.command("writer", edits=[["PUT", f"contacts/{made['id']}", {"name": "E {n}"}]], rate=1.0)
    assert client.contacts.get(made["id"]).last_name is not None
    served.command("writer", edits=[], rate=0)
    client.contacts.update(made["id"], name="Ours")
    truth = served.truth()
    assert [effect["who"] for effect in truth["effects"]] == ["writer", "client"]
    assert [effect["id"] for effect in truth["effects"]] == [made["id"]] * 2
    assert [ids for _, ids in truth["reads"]] == [[made["id"]]]
    [record] = [c for c in truth["state"]["contacts"] if c["id"] == made["id"]]
    assert record["first_name"] == "Ours"


@pytest.mark.parametrize(
    ("method", "path", "body", "name"),
    [
        ("POST", "contacts", {"number": "1"}, ("contacts", "create", "1")),
        ("PUT", "contacts/7", {"name": "x"}, ("contacts", "update", "7")),
        ("DELETE", "flows/7", None, ("flows", "delete", "7")),
        ("POST", "templates/a/contents", {"lang_code": "en"}, ("templates", "create", "a/en")),
        ("PUT", "templates/a/contents/en", {"text": "x"}, ("templates", "update", "a/en")),
        ("PATCH", "webhooks/3", {"is_active": False}, ("webhooks", "update", "3")),
    ],
)
def test_a_write_is_named_like_the_row_it_belongs_to(
    method: str, path: str, body: dict[str, object], name: Name
) -> None:
    assert of_effect({"method": method, "path": path, "body": body}) == name
