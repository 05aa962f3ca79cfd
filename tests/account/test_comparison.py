"""Two accounts side by side: what differs is told by what things are called, and nothing else."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bulk.planning import limited
from displayed import html_of
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

import chatkit
from chatkit.account.comparison import Comparison, compare
from chatkit.account.reading import AccountState
from chatkit.client import Client

CODES = ["order_ready", "rental_reminder"]
HTML = '<img src=x onerror="alert(1)">'


@pytest.fixture
def two() -> Iterator[tuple[Client, Client]]:
    with (
        chatkit.connect(chatkit.Sandbox(seed="demo")) as left,
        chatkit.connect(chatkit.Sandbox(seed="demo")) as right,
    ):
        yield left, right


def state(origin: str = "one", **held: Any) -> AccountState:
    records = {noun: held.pop(f"{noun}s", {}) for noun in ("flow", "content", "webhook")}
    if "contacts" in held:
        records["contact"] = held.pop("contacts")
    return AccountState(origin, records, **held)


def persons(*rows: tuple[str, str, str]) -> dict[tuple[str, str], dict[str, str]]:
    return {(code, number): {"name": name} for code, number, name in rows}


def test_what_differs_is_a_row_for_each_field_and_for_each_thing_of_one_side(
    two: tuple[Client, Client],
) -> None:
    left, right = two
    flows = left.flows.frame()
    key = int(flows.index[flows.wa_status == "DRAFT"][0])
    document = copy.deepcopy(left.flows.get(key).flow_json)
    document["screens"][0]["title"] = "Another title"
    right.flows.update(key, flow_json=document, broken=True)
    text = left.templates("order_ready").get("de").text
    right.templates("order_ready").update("de", text=text + "!", footer="Bis bald")
    right.templates("order_ready").delete("fr")
    right.webhooks.create(url="https://hooks.example.com/new", events=["*"])
    right.contacts.update(50002, name="Zoe")
    right.contacts.delete(50005)

    outcome = compare(left, right, contacts=True, codes=CODES)
    frame = outcome.frame()
    name = flows.name[key]
    assert [tuple(row) for row in frame[["resource", "key", "field", "what"]].values][:5] == [
        ("flow", name, "flow_json", "changed"),
        ("content", "order_ready/de", "text", "changed"),
        ("content", "order_ready/de", "footer", "changed"),
        ("content", "order_ready/fr", "", "only left"),
        ("webhook", "https://hooks.example.com/new", "", "only right"),
    ]
    assert (frame.left[1], frame.right[1]) == (text, text + "!")
    assert frame.left[3]["text"] and frame.right[3] is None
    gone = left.contacts.get(50005)
    [row] = frame[(frame.resource == "contact") & (frame.what == "only left")].itertuples()
    assert row.key == f"{gone.country_code} {gone.number}"
    assert [one.key for one in outcome] == frame.key.tolist()
    assert len(outcome) == len(frame)
    message = repr(outcome)
    assert "Contents: 1 changed, 1 only left" in message
    assert "text changed" in message and '"Another title"' in message
    assert "Contacts: 1 changed, 1 only left" in message


FIELDS = {"lang_code": "en", "text": "Hi"}
DEFAULTS: dict[str, Any] = {
    "footer": None, "is_draft": False, "headers": [], "parameter_format": "TEXT", "buttons": None,
}  # fmt: skip
FLOW = {"flow_json": {"version": "7.3", "screens": []}}


@pytest.mark.parametrize(
    ("noun", "left", "right", "fields"),
    [
        ("content", FIELDS, FIELDS | DEFAULTS, []),
        ("content", FIELDS, FIELDS | DEFAULTS | {"is_draft": True}, ["is_draft"]),
        ("flow", FLOW, {"flow_json": dict(reversed(FLOW["flow_json"].items()))}, []),
        ("flow", FLOW, {"flow_json": FLOW["flow_json"] | {"version": "7.2"}}, ["flow_json"]),
    ],
)
def test_a_field_that_is_not_said_has_its_default_and_order_has_no_meaning(
    noun: str, left: Any, right: Any, fields: list[str]
) -> None:
    name: Any = ("a", "en") if noun == "content" else "Order"
    one, other = (state(**{f"{noun}s": {name: each}}) for each in (left, right))
    assert [each.field for each in Comparison(one, other)] == fields


def test_codes_of_one_side_are_looked_for_on_the_other(two: tuple[Client, Client]) -> None:
    left, right = two
    left.templates.remember(["order_ready"])
    assert repr(compare(left, right)).startswith("No difference between ")
    right.templates("order_ready").delete("fr")
    outcome = compare(left, right)
    assert [(one.key, one.what) for one in outcome] == [("order_ready/fr", "only left")]
    other = chatkit.Sandbox(seed="demo")  # which brings those that it has
    with chatkit.connect(other) as client:
        client.templates("review_request").update("en", footer="Bye")
    for pair in ((left, other), (other, left)):
        assert [one.key for one in compare(*pair)] == ["review_request/en"]


def test_what_strangers_wrote_is_escaped_and_visible_wherever_it_stands() -> None:
    bad = HTML + "\u202e\n`"
    one = state(
        bad,
        flows={bad: {"flow_json": {"version": "7.3", "screens": [], bad: "x"}}},
        contents={(bad, "en"): {"text": bad}, ("a", "en"): {"text": bad, "buttons": [{bad: 1}]}},
        webhooks={bad: {"events": [bad]}},
        contacts=persons(("+1", "1", bad), ("+1", "2", bad)),
        not_carried=[bad],
    )
    two = state(
        flows={bad: {"flow_json": {"version": "7.3", "screens": [], bad: bad}}},
        contents={("a", "en"): {"text": "b", "buttons": [{bad: 2}]}},
        contacts=persons(("+1", "1", "x")),
    )
    outcome = Comparison(one, two)
    for message in (html_of(outcome), repr(outcome), outcome.text()):
        assert "\u202e" not in message
    assert "<img" not in html_of(outcome)
    assert repr(outcome).count(HTML[:20]) > 5  # shown, as text


def test_a_secret_is_never_shown() -> None:
    one = {"https://a.example": {"events": ["*"], "webhook_secret": "hush-hush-hush-hush"}}
    two = {"https://a.example": {"events": ["*"], "webhook_secret": "whisper-whisper-wh"}}
    outcome = Comparison(state(webhooks=one), state(webhooks=two))
    for message in (html_of(outcome), repr(outcome)):
        assert "hush" not in message and "whisper" not in message


def test_the_heading_names_both_sides_and_what_is_not_compared_is_said_once() -> None:
    one = state("shop/", contacts=persons(("+1", "1", "Ana")), not_carried=["wa_status"])
    two = state("account 1 of staging", not_carried=["wa_status"])
    message = repr(Comparison(one, two))
    assert message.startswith("No difference between shop/ and account 1 of staging.")
    assert message.count("wa_status") == 1
    assert (
        "\nNot compared: contents (codes=…), contacts (account 1 of staging has none)," in message
    )


def test_a_short_report_says_how_many_more_there_are_and_the_long_one_shows_all() -> None:
    many = {f"https://a.example/{n:02}": {"events": ["*"]} for n in range(30)}
    outcome = Comparison(state(webhooks=many), state())
    assert "… and 22 more: .frame() has them all" in repr(outcome)
    assert all(url in outcome.text() for url in many)


# --- plans ----------------------------------------------------------------------------------


def apart(left: Client, right: Client) -> None:
    """Make two accounts differ in each resource and each way."""
    flows = left.flows.frame()
    key = int(flows.index[flows.wa_status == "DRAFT"][0])
    document = copy.deepcopy(left.flows.get(key).flow_json)
    document["screens"][0]["title"] = "Another title"
    right.flows.update(key, flow_json=document, broken=True)
    right.flows.create(name="Only right", template_name="default", flow_json=document, broken=True)
    right.templates("order_ready").update(
        "de", text="Hallo {{1}}, {{2}} ab {{3}}!", footer="Bis bald"
    )
    right.templates("order_ready").delete("fr")
    right.webhooks.create(url="https://hooks.example.com/new", events=["*"])
    left.webhooks.create(url="https://hooks.example.com/old", events=["*"])
    right.contacts.update(50002, name="Zoe")
    right.contacts.update(50003, name="Bo")
    right.contacts.delete(50005)
    right.contacts.create(country_code="+1", number="2025550999", name="Only right")


def test_it_goes_in_either_direction_and_deletes_nothing_that_is_not_named(
    two: tuple[Client, Client],
) -> None:
    left, right = two
    apart(left, right)
    outcome = compare(left, right, contacts=True, codes=CODES)
    result = outcome.plan("left", broken=True).apply(many=True)
    assert result.state.eq("applied").all()
    rest = compare(left, right, contacts=True, codes=CODES).frame()
    assert set(rest.what) == {"only left"}
    assert sorted(rest.resource) == ["contact", "content", "webhook"]


def test_a_plan_needs_an_account_and_rows_of_this_comparison(two: tuple[Client, Client]) -> None:
    left, right = two
    right.templates("order_ready").update("de", footer="Bis bald")
    outcome = compare(left, right, codes=CODES)
    with pytest.raises(chatkit.errors.InputError, match="'left' or 'right', not 'production'"):
        outcome.plan("production")  # type: ignore[arg-type]
    with pytest.raises(chatkit.errors.InputError, match="takes some rows of the frame"):
        outcome.plan("right", rows=[1])  # type: ignore[arg-type]
    with pytest.raises(chatkit.errors.InputError, match="does not differ in this comparison"):
        outcome.plan("right", rows=outcome.frame().assign(field="text"))
    kept = compare(state("shop/"), right, codes=CODES)
    with pytest.raises(chatkit.errors.InputError, match="the left side is shop/"):
        kept.plan("left")


def test_a_folder_is_compared_as_an_account_is(two: tuple[Client, Client], tmp_path: Path) -> None:
    left, right = two
    folder = chatkit.Folder(tmp_path / "shop")
    folder.pull(left, contacts=True, codes=CODES)
    assert not compare(folder, left, contacts=True)
    assert not compare(right, str(tmp_path / "shop"), contacts=True)
    apart(left, right)
    outcome = compare(tmp_path / "shop", right, contacts=True)
    assert {"flow", "content", "webhook", "contact"} == set(outcome.counts)
    plan = outcome.plan("right", delete=outcome.frame().query("what == 'only right'"), broken=True)
    assert plan.apply(many=True, irreversible=True).state.eq("applied").all()
    assert not compare(folder, right, contacts=True)


@settings(max_examples=volume(2))
@given(st.integers(0, 2**9 - 1))
def test_whatever_rows_are_chosen_they_are_no_difference_any_more_and_all_others_are(
    chosen: int,
) -> None:
    with (
        chatkit.connect(chatkit.Sandbox(seed="demo")) as left,
        chatkit.connect(chatkit.Sandbox(seed="demo")) as right,
    ):
        apart(left, right)
        outcome = compare(left, right, contacts=True, codes=CODES)
        frame = outcome.frame()
        mine = frame[frame.what != "only right"].reset_index(drop=True)
        some = mine[[bool(chosen >> n & 1) for n in range(len(mine))]]
        result = outcome.plan("right", rows=some, broken=True).apply(many=True)
        assert result.state.eq("applied").all()
        rest = compare(left, right, contacts=True, codes=CODES).frame()
        assert positions(rest) == positions(frame) - positions(some)


def positions(frame: pd.DataFrame) -> set[tuple[str, str, str]]:
    return set(zip(frame.resource, frame.key, frame.field, strict=True))


# --- a fleet --------------------------------------------------------------------------------


@pytest.fixture
def fleet() -> Iterator[chatkit.account.Fleet]:
    """Three demo accounts: the second has another content, the third a flow less."""
    sandboxes = {name: chatkit.Sandbox(seed="demo") for name in ("de", "fr", "it")}
    with chatkit.connect_all(sandboxes) as fleet:
        fleet["fr"].templates("order_ready").update("en", footer="Thanks")
        drafts = fleet["it"].flows.frame(status="DRAFT")
        fleet["it"].flows.delete(int(drafts.index[0]))
        yield fleet


def test_a_fleet_is_compared_with_its_first_account(fleet: chatkit.account.Fleet) -> None:
    outcome = compare(fleet, codes=CODES)
    assert outcome.differ == ["fr", "it"]
    report = repr(outcome).splitlines()
    assert report[0] == "2 of 2 accounts differ from de."
    assert report[3].split() == ["fr", "same", "1", "same", "not", "compared"]
    assert report[4].split() == ["it", "1", "same", "same", "not", "compared"]
    rows = outcome.frame()
    assert rows[["account", "resource", "field", "what"]].to_numpy().tolist() == [
        ["fr", "content", "footer", "changed"],
        ["it", "flow", "", "only left"],
    ]
    assert "Thanks" in html_of(outcome)
    assert "<table>" in html_of(outcome)


def test_accounts_of_a_fleet_are_made_as_the_first_one_is(fleet: chatkit.account.Fleet) -> None:
    outcome = compare(fleet, codes=CODES)
    rows = outcome.frame()
    plan = outcome.plan(rows[rows.resource == "content"])
    assert list(plan.plans) == ["fr"]
    assert plan.apply().state.tolist() == ["applied"]
    rest = outcome.plan()
    assert rest.counts["create"] == 1
    assert rest.apply().state.tolist() == ["applied"]
    again = compare(fleet, codes=CODES)
    assert again.differ == []
    assert repr(again).startswith("No difference between de and 2 accounts.")


def test_an_account_of_a_fleet_that_cannot_be_read_is_named(fleet: chatkit.account.Fleet) -> None:
    with chatkit.Sandbox(seed="empty") as sandbox:
        outcome = compare({**fleet, "it": limited(sandbox)}, codes=CODES)
    assert list(outcome) == ["fr"]
    assert list(outcome.stops) == ["it"]
    assert "it could not be read" in repr(outcome)


def test_a_fleet_needs_a_second_account_and_no_second_side(fleet: chatkit.account.Fleet) -> None:
    with pytest.raises(chatkit.errors.InputError, match="pass the fleet alone"):
        compare(fleet, fleet["de"])  # type: ignore[call-overload]
    with pytest.raises(chatkit.errors.InputError, match="it has no other"):
        compare({"de": fleet["de"]})
    with pytest.raises(chatkit.errors.InputError, match="two sides, or one fleet"):
        compare(fleet["de"])  # type: ignore[call-overload]
