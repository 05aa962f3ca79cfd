"""The calls of each resource, the meaning of their answers, and the promises of an undo."""

from __future__ import annotations

import json

import msgspec
import pytest
from bulk.planning import DOCUMENT, ENGLISH
from hypothesis import given
from hypothesis import strategies as st
from profiles import SERVICES

import chatkit
from chatkit.api.answer import Envelope
from chatkit.api.connection import Connection
from chatkit.api.transport import Transport
from chatkit.contacts import Contact, ContactEndpoints
from chatkit.flows import Flow, FlowEndpoints
from chatkit.resource import get_endpoints
from chatkit.sandbox.contacts import split_name
from chatkit.templates import Content
from chatkit.templates.contents import AccountChecks, ContentEndpoints
from chatkit.webhooks import Webhook, WebhookEndpoints

PARTS = ("first_name", "middle_name", "last_name")
ANA = {
    "id": 7, "first_name": "Ana", "middle_name": None, "last_name": "Cruz",
    "number": "2025550143", "country_code": "+1", "tags": ["vip"], "loyalty": "gold",
    "updated_at": "2026-01-05T08:00:00.000Z",
}  # fmt: skip


def made(kind, *arguments, **points):
    connection = Connection(
        base_url="http://localhost",
        account_id="1001",
        token="t",
        profile=chatkit.ServiceProfile(**points),
    )
    if kind is ContentEndpoints:
        arguments = *arguments, AccountChecks(Transport(connection))
    return kind(Transport(connection), *arguments)


def targets(**points):
    return [
        made(ContactEndpoints, **points),
        made(FlowEndpoints, **points),
        made(ContentEndpoints, "order_ready", **points),
        made(WebhookEndpoints, **points),
    ]


def raw(data):
    return msgspec.Raw(json.dumps(data).encode())


# --- calls ----------------------------------------------------------------------------------


def test_each_operation_is_one_call():
    contacts, flows, contents, hooks = targets()
    message = [
        (contacts.list_call(), "GET", ("contacts",)),
        (contacts.get_call(7), "GET", ("contacts", 7)),
        (contacts.create_call({"number": "1"}), "POST", ("contacts",)),
        (contacts.update_call(7, {"name": "A"}), "PUT", ("contacts", 7)),
        (contacts.delete_call(7), "DELETE", ("contacts", 7)),
        (flows.update_call("301", {}), "PUT", ("flows", 301)),
        (contents.get_call("en_US"), "GET", ("templates", "order_ready", "contents", "en_US")),
        (contents.create_call(ENGLISH), "POST", ("templates", "order_ready", "contents")),
        (hooks.update_call(41, {"is_active": False}), "PATCH", ("webhooks", 41)),
        (hooks.get_call(41), "GET", ("webhooks",)),
    ]
    for call, method, path in message:
        assert (call.method, call.segments) == (method, path)
    assert contacts.update_call(7, {"name": "A"}).body == {"name": "A"}


@pytest.mark.parametrize("base", [0, 1])
def test_lists_are_asked_for_in_pages_as_the_profile_counts_them(base):
    contacts, flows, contents, hooks = targets(page_base=base, max_page_size=7, search_param="q")
    assert contacts.list_call().query == {"page": base, "pageSize": 7}
    assert flows.list_call(3).query == {"page": 3, "pageSize": 7}
    assert contacts.list_call(filters=contacts.search("ana")).query["q"] == "ana"
    assert contents.list_call().query == hooks.list_call().query == {}
    unsearched = made(ContactEndpoints, search_param=None)
    assert unsearched.search(None) == {}
    with pytest.raises(chatkit.errors.InputError, match="search_param"):
        unsearched.search("ana")


@pytest.mark.parametrize(
    ("key", "why"),
    [
        *[(key, "") for key in ("", "x", "7.0", "-1", "+7", "٣", True, False, None)],
        *[(key, "") for key in (7.5, -7.0, 2.0**53, float("nan"), float("inf"), b"7")],
        ("01", "write 1, without the leading zero"),
        ("00", "write 0, without the leading zero"),
        (" 7", "remove the space at its beginning or end"),
        ("7\n", "remove the space at its beginning or end"),
        (-1, "it is negative"),
    ],
)
def test_an_id_is_a_whole_number_and_one_sentence_says_so(key, why):
    for at in (made(ContactEndpoints), made(FlowEndpoints), made(WebhookEndpoints)):
        for call in (at.get_call, at.delete_call, lambda key, at=at: at.update_call(key, {})):
            with pytest.raises(chatkit.errors.InputError, match="is a whole number, not") as caught:
                call(key)
            assert why in str(caught.value)
            assert len(str(caught.value).splitlines()) == 1


@given(st.integers(0, 2**63 - 1))
def test_an_id_may_be_text_of_digits_a_number_or_the_float_that_pandas_made_of_it(key):
    contacts = made(ContactEndpoints)
    assert contacts.validate_key(key) == contacts.validate_key(str(key)) == key
    key %= 2**53
    assert contacts.validate_key(float(key)) == key
    assert type(contacts.validate_key(float(key))) is int


def report(rows):
    contacts = made(ContactEndpoints)
    with pytest.raises(chatkit.errors.BadAnswer) as caught:
        contacts.parse_records(contacts.list_call(), raw(rows))
    return str(caught.value)


def test_an_odd_record_is_told_with_its_field_and_its_id_where_there_are_several():
    rows = [ANA | {"id": n} for n in range(100)]
    rows[41] |= {"number": 2025550143}
    message = report(rows)
    assert "number: " in message and "(id 41)" in message and "2025550143" not in message
    unusual = ANA | {"number": 5}
    assert "(id 7)" in report([unusual, ANA]) and "(id 7)" in report([ANA, unusual])
    assert "(id " not in report([unusual])
    assert "(id x)" not in report([unusual, 5]) and "(id 7)" in report([unusual, 5])
    assert "(id " not in report([unusual | {"id": [7]}, ANA]) + report([{"number": 5}, ANA])


def test_an_answer_about_another_record_is_refused():
    contacts = made(ContactEndpoints)
    answer = Envelope(success=True, data=raw(ANA))
    assert contacts.read(contacts.get_call(7), answer, "7").id == 7
    with pytest.raises(chatkit.errors.BadAnswer, match="about the contact 7, not about 8"):
        contacts.read(contacts.get_call(8), answer, 8)


def test_a_record_that_was_read_is_there():
    _, flows, contents, hooks = targets()
    for at, key, data in (
        (flows, 7, {"id": 7}), (contents, "en", ENGLISH), (hooks, 7, [{"id": 8}, {"id": 7}]),
    ):  # fmt: skip
        answer = Envelope(success=True, data=raw(data))
        assert at.record_exists(at.make_existence_call(key, {}), answer, key) is True
    with pytest.raises(chatkit.errors.NotFound, match="no webhook has the id 9"):
        hooks.record_exists(hooks.make_existence_call(9, {}), answer, 9)


def test_a_frame_is_compared_with_what_it_was_unless_it_is_asked_for_now():
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        contacts = get_endpoints(client.contacts)
        frame = client.contacts.frame()
        client.contacts.create(number="2025550143", country_code="+1")
        assert contacts.base(frame).frame.empty and not contacts.base(frame).now
        assert len(contacts.base(frame, now=True).frame) == len(contacts.base(None).frame) == 1
        assert contacts.base(None).now


# --- answers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data", [None, 7, "x", [], [[]], {"id": "seven"}, {"first_name": "Ana"}, {"id": 7, "number": 5}]
)
def test_a_record_is_read_with_all_its_fields_or_is_a_bad_answer(data):
    contacts = made(ContactEndpoints)
    [ana] = contacts.parse_records(contacts.list_call(), raw([ANA]))
    assert isinstance(ana, Contact) and (ana.name, ana.loyalty) == ("Ana Cruz", "gold")
    assert contacts.parse_record(contacts.get_call(7), raw(ANA)) == ana
    with pytest.raises(chatkit.errors.BadAnswer, match="the contact is not as documented"):
        contacts.parse_record(contacts.get_call(7), raw(data))


def test_what_was_created_has_the_key_that_was_sent_or_answered():
    contacts, flows, contents, _ = targets()
    answer = Envelope(success=True, data=raw({"id": 9}))
    assert contacts.key_of(contacts.create_call({}), answer, {"number": "1"}) == 9
    assert flows.key_of(flows.create_call({}), answer, {"name": "x"}) == 9
    nothing = Envelope(success=True, data=raw(None))
    assert contents.key_of(contents.create_call(ENGLISH), nothing, ENGLISH) == "en"
    with pytest.raises(chatkit.errors.BadAnswer):
        contacts.key_of(contacts.create_call({}), nothing, {"number": "1"})


# --- what may and must be sent --------------------------------------------------------------


def test_what_can_be_sent_back_is_what_may_be_written_and_what_nobody_knows():
    ana = Contact.model_validate(ANA)
    expected = {"number": "2025550143", "country_code": "+1", "name": "Ana Cruz"}
    assert made(ContactEndpoints).sendable(ana) == expected | {"loyalty": "gold"}
    assert made(ContactEndpoints, unknown_fields="refuse").sendable(ana) == expected


def test_a_secret_and_what_was_not_sent_are_never_sent_back():
    hook = Webhook.model_validate(
        {"id": 41, "url": "https://a.example/", "webhook_secret": "ab" * 32, "api_token": "x",
         "zone": "eu"}
    )  # fmt: skip
    assert made(WebhookEndpoints).sendable(hook) == {"url": "https://a.example/", "zone": "eu"}
    flow = Flow.model_validate({"id": 1, "name": "x", "flow_json": DOCUMENT, "flow_json_raw": ""})
    assert made(FlowEndpoints).sendable(flow) == {"flow_json": DOCUMENT, "flow_json_raw": ""}
    assert made(FlowEndpoints).sendable(Flow(id=1, name="x")) == {}


@pytest.mark.parametrize("put", ["merge", "replace"])
@pytest.mark.parametrize("requires", ["nothing", "create_fields"])
def test_an_update_carries_what_the_service_would_clear_or_miss(put, requires):
    contacts, _, contents, hooks = targets(put=put, put_requires=requires)
    ana, english = Contact.model_validate(ANA), Content.model_validate(ENGLISH)
    fields = {"number": "2025550143", "country_code": "+1"}
    if put == "replace":
        assert contacts.select_fields_to_repeat(ana) == fields | {
            "name": "Ana Cruz",
            "loyalty": "gold",
        }
        assert contents.select_fields_to_repeat(english) == ENGLISH
    elif requires == "create_fields":
        assert contacts.select_fields_to_repeat(ana) == fields
        assert contents.select_fields_to_repeat(english) == {
            "lang_code": "en",
            "text": "Hello {{1}}!",
        }
    else:
        assert (
            contacts.select_fields_to_repeat(ana) == contents.select_fields_to_repeat(english) == {}
        )
    assert contacts.repeats is (put == "replace" or requires == "create_fields")
    webhook = Webhook(id=1, url="https://a.example/")
    assert hooks.select_fields_to_repeat(webhook) == {} and not hooks.repeats


# --- what names a record --------------------------------------------------------------------


def test_records_are_named_by_what_people_know_them_by():
    ana = {"number": "2025550143", "country_code": "+1"}
    sent = [ana, {"name": "Order"}, {"lang_code": "en"}, {"url": "https://a.example/"}]
    named = [at.make_natural_name(fields) for at, fields in zip(targets(), sent, strict=True)]
    assert named == ["2025550143", "Order", "en", "https://a.example/"]
    contacts = made(ContactEndpoints)
    assert contacts.make_natural_name({"number": ""}) is contacts.make_natural_name({}) is None
    apart = made(ContactEndpoints, contact_key="country_code_and_number")
    assert apart.make_natural_name(ana) == "+1 2025550143"
    assert apart.make_natural_name({"number": "2025550143"}) is None


@pytest.mark.parametrize("rule", ["refuse", "allow"])
def test_the_profile_says_of_which_there_may_be_two_of_one_name(rule):
    points = {"duplicate_flow_name": rule, "duplicate_webhook_url": rule}
    contacts, flows, contents, hooks = targets(**points)
    assert [flows.single, hooks.single] == [rule == "refuse"] * 2
    assert contacts.single and contents.single


# --- what an undo is promised ---------------------------------------------------------------


@pytest.mark.parametrize("rule", ["first_middle_last", "first_last", "first_only"])
@given(names=st.tuples(*[st.none() | st.text("ab ", min_size=1, max_size=6).filter(str.strip)] * 3))
def test_a_name_that_would_be_split_otherwise_is_never_promised_exactly(rule, names):
    """The sandbox splits names by a code of its own: what is promised must hold there."""
    contacts = made(ContactEndpoints, name_split=rule)
    whole = " ".join(filter(None, names))
    known = {"name": whole or None, **dict(zip(PARTS, names, strict=True))}
    promised, why = contacts.undo("update", known, {"name": "Zoë"})
    again = split_name(whole, rule) if whole else (None, None, None)
    if promised == "exactly":
        assert [part or None for part in again] == [part or None for part in names]
    else:
        assert promised == "not exactly" and why


@pytest.mark.parametrize("words", [1, 2, 3, 5])
@pytest.mark.parametrize("rule", ["first_middle_last", "first_last", "first_only"])
def test_a_name_that_the_service_split_itself_is_promised_exactly(rule, words):
    parts = split_name(" ".join(["Ana", "María", "de", "la", "Cruz"][:words]), rule)
    known = {"name": "Ana", "number": "2", **dict(zip(PARTS, parts, strict=True))}
    contacts = made(ContactEndpoints, name_split=rule, put="replace")
    assert contacts.undo("update", known, {"name": "Zoë"}) == ("exactly", "")
    assert contacts.undo("update", known, {"number": "1"}) == ("exactly", "")
    assert contacts.undo("delete", known, {}) == ("exactly", "")


@pytest.mark.parametrize(
    ("at", "kind", "known", "sent", "promise"),
    [
        (0, "create", {}, {"number": "1"}, "not exactly"),
        (1, "create", {}, {"name": "x"}, "exactly"),
        (1, "delete", {"name": "x"}, {}, "never"),
        (2, "create", {}, {"text": "x"}, "exactly"),
        (2, "update", ENGLISH, {"text": "x"}, "exactly"),
        (2, "update", {}, {"text": "x"}, "never"),
        (2, "delete", ENGLISH, {}, "not exactly: if created again, it has another id"),
        (3, "create", {}, {"url": "x"}, "exactly"),
        (3, "delete", {"url": "x"}, {}, "never"),
    ],
)
def test_what_each_kind_of_change_promises(at, kind, known, sent, promise):
    how, why = targets()[at].undo(kind, known, sent)
    assert f"{how}: {why}".startswith(promise)
    assert bool(why) is (promise != "exactly")


RAW = "the service does not show flow_json_raw"
MOVES = "it is PUBLISHED, and an update makes it a DRAFT"
NEVER = "the service does not show what {} held"


@pytest.mark.parametrize(
    ("output", "sent", "edited", "kept"),
    [
        ("flow_json DRAFT", "flow_json", "", ""),
        ("flow_json", "flow_json", "", ""),
        ("flow_json PUBLISHED", "flow_json", MOVES, ""),
        ("flow_json flow_json_raw DRAFT", "flow_json_raw", "", ""),
        ("flow_json DRAFT", "flow_json flow_json_raw", RAW, RAW),
        ("flow_json PUBLISHED", "flow_json flow_json_raw", MOVES, RAW),
        ("flow_json DRAFT", "flow_json_raw", NEVER, NEVER),
        ("flow_json PUBLISHED", "flow_json_raw", NEVER, NEVER),
        ("flow_json_raw DRAFT", "flow_json", NEVER, NEVER),
        ("DRAFT", "flow_json flow_json_raw", NEVER, NEVER),
    ],
)
def test_an_update_of_a_flow_is_promised_by_what_is_shown_and_whether_it_is_published(
    output, sent, edited, kept
):
    known = {name: name for name in output.split() if name.islower()}
    known["wa_status"] = next((name for name in output.split() if name.isupper()), None)
    for rule, why in (("draft", edited), ("keep", kept)):
        flows = made(FlowEndpoints, published_flow_update=rule)
        how = "never" if why is NEVER else "not exactly" if why else "exactly"
        unseen = [name for name in sent.split() if name not in known]
        assert flows.undo("update", known, {name: {} for name in sent.split()}) == (
            how,
            why.format(" and ".join(unseen)),
        )


@pytest.mark.parametrize("profile", [service.profile for service in SERVICES])
def test_what_is_not_exact_always_has_a_reason(profile):
    for at in (
        made(kind, **profile.changed())
        for kind in (ContactEndpoints, FlowEndpoints, WebhookEndpoints)
    ):
        for kind in ("create", "update", "delete"):
            how, why = at.undo(kind, {}, {"name": "x", "flow_json": {}, "url": "y"})
            assert how in ("exactly", "not exactly", "never") and bool(why) is (how != "exactly")
