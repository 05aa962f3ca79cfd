"""Records keep what the service sent; bodies refuse what cannot be sent, all of it at once."""

import inspect
import json
import traceback
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chatkit.api.record import Body, Record, add_body_signature, parse_document, parse_time
from chatkit.api.secret import Secret
from chatkit.contacts import Contact, ContactBody
from chatkit.errors import InputError
from chatkit.flows import Flow, FlowBody
from chatkit.templates import Content, ContentBody
from chatkit.webhooks import Webhook, WebhookBody

SECRET = "5ecret0f64" * 6
DOCUMENT = {"version": "7.3", "screens": []}
GOOD: dict[type[Body], dict[str, Any]] = {
    ContactBody: {"number": "2025550143", "country_code": "+1", "name": "Ana Cruz"},
    FlowBody: {
        "name": "f", "template_name": "default", "flow_json": DOCUMENT, "categories": ["OTHER"],
        "flow_json_raw": "",
    },
    ContentBody: {
        "lang_code": "en_US", "text": "Hello {{1}}", "variables": {"1": "Ana"}, "footer": None,
        "is_draft": False, "connected_catalog_id": "9", "validity_period_seconds": 60,
        "auth_apps": [{"package_name": "a.b", "signature_hash": "x"}],
        "headers": [{"type": "text", "text": "Hi"}],
        "buttons": [{"type": "call_phone", "label": "Call", "country_code": "1"}],
    },
    WebhookBody: {"url": "https://example.com/hook", "events": ["*"], "is_active": False},
}  # fmt: skip


def problems(check: Any, fields: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Each field that is refused, with its value as shown and the reason."""
    with pytest.raises(InputError) as caught:
        check(fields, "This record")
    named = [problem.field for problem in caught.value.problems]
    assert len(named) == len(set(named)), "one place is named twice"
    for problem in caught.value.problems:
        assert problem.reason in str(caught.value)
    return {problem.field: (problem.value, problem.reason) for problem in caught.value.problems}


# --- bodies ---------------------------------------------------------------------------------


@pytest.mark.parametrize("body", GOOD)
def test_what_is_right_is_sent_as_it_is_and_nothing_else(body):
    fields = GOOD[body]
    assert body.validate_create(fields, "x") == fields
    required = {n: v for n, v in fields.items() if body.model_fields[n].is_required()}
    assert body.validate_create(required, "x") == required
    changes = {name: fields[name] for name in fields if name not in body.create_only}
    assert body.validate_update(changes, "x") == changes
    for name in changes:
        assert body.validate_update({name: changes[name]}, "x") == {name: changes[name]}


def test_a_create_names_every_problem_at_once():
    fields = {"number": 2025550143, "country_code": "1", "nmae": "Ana", "name": None}
    assert problems(ContactBody.validate_create, fields) == {
        "number": ("2025550143", "must be text, so that no digit, zero or + is lost"),
        "country_code": ("'1'", "must be a + and digits (Contacts, rule 1): write '+1'"),
        "name": ("None", "must be text"),
        "nmae": ("'Ana'", "cannot be sent; did you mean name?"),
    }
    assert problems(ContactBody.validate_create, {}) == {
        "number": ("", "is required"),
        "country_code": ("", "is required"),
    }


def test_an_update_names_every_problem_at_once_and_in_order():
    fields = {"flow_json": {"version": 7}, "colour": "red", "name": "new", "flow_json_raw": 1.5}
    result = problems(FlowBody.validate_update, fields)
    assert list(result) == list(fields)
    assert result["colour"] == ("'red'", "cannot be sent")
    assert result["name"] == ("'new'", "can only be set when it is created")
    assert result["flow_json"][1].startswith("needs a version")
    assert result["flow_json_raw"][1] == "must be text, so that no digit, zero or + is lost"
    result = problems(FlowBody.validate_update, {})
    assert result == {"(no field)": ("", "pass one of flow_json, flow_json_raw")}
    long = {"flow_json": {"screens": ["x" * 10_000]}}
    [(value, _)] = problems(FlowBody.validate_update, long).values()
    assert len(value) == 60 and value.endswith("…"), "values are shown short"


def test_a_field_takes_text_when_that_is_one_of_its_types():
    taken = {name for name in ContentBody.model_fields if ContentBody.accepts_text(name)}
    assert taken == {
        "lang_code", "text", "parameter_format", "footer", "catalog_format",
        "connected_catalog_id", "auth_delivery_method",
    }  # fmt: skip
    assert not FlowBody.accepts_text("categories") and not WebhookBody.accepts_text("is_active")


def test_nested_fields_are_named_with_their_place():
    fields = GOOD[ContentBody] | {
        "headers": [{"type": "gif"}, {"type": "text", "txt": 1}, 7],
        "buttons": [{"type": "custom", "label": 5}],
        "variables": {"1": 5, 2: "x"},
        "auth_apps": [{"package": "a.b"}],
    }
    for check in (ContentBody.validate_create, ContentBody.validate_update):
        assert problems(check, fields) == {
            "headers.0.type": ("'gif'", "must be 'text', 'image', 'video' or 'document'"),
            "headers.1.txt": ("1", "cannot be sent"),
            "headers.2": ("7", "must be a dict"),
            "buttons.0.label": ("5", "must be text, so that no digit, zero or + is lost"),
            "variables.1": ("5", "must be text, so that no digit, zero or + is lost"),
            "variables.2": ("2", "must be text, so that no digit, zero or + is lost"),
            "auth_apps.0.package": ("'a.b'", "cannot be sent"),
        }


@pytest.mark.parametrize(
    ("body", "name", "value", "reason"),
    [
        (ContactBody, "number", True, "must be text"),
        (ContactBody, "number", "+12025550143", "must be digits only"),
        (ContactBody, "number", "２０２５５５０１４３", "must be digits only"),
        (ContactBody, "number", "2025550143\n", "must be digits only"),
        (ContactBody, "number", "", "must be digits only"),
        (ContactBody, "country_code", 1, "must be text, so that no digit"),
        (ContactBody, "country_code", "+", "must be a + and digits"),
        (ContentBody, "is_draft", 1, "must be True or False"),
        (ContentBody, "is_draft", "false", "must be True or False"),
        (ContentBody, "validity_period_seconds", True, "must be a whole number"),
        (ContentBody, "validity_period_seconds", "60", "must be a whole number"),
        (ContentBody, "validity_period_seconds", 60.0, "must be a whole number"),
        (ContentBody, "connected_catalog_id", True, "must be text or a whole number"),
        (ContentBody, "lang_code", "", "must not be empty"),
        (ContentBody, "buttons", {}, "must be a list"),
        (ContentBody, "variables", ["Ana"], "must be a dict"),
        (WebhookBody, "url", "http://example.com", "must be an https:// address"),
        (WebhookBody, "events", "*", "must be a list"),
        (WebhookBody, "is_active", None, "must be True or False"),
        (FlowBody, "flow_json", 7, "must be a dict, JSON text, or the path of a .json file"),
        (FlowBody, "flow_json", "{", "The flow document is not valid JSON"),
        (FlowBody, "flow_json", {"version": "7.3"}, "needs screens"),
    ],
)
def test_nothing_is_bent_into_another_type(body, name, value, reason):
    for check in (body.validate_create, body.validate_update):
        others = GOOD[body] if check == body.validate_create else {}
        [(field, (_, report))] = problems(check, others | {name: value}).items()
        assert field == name
        assert report.startswith(reason)


@pytest.mark.parametrize("name", ["webhook_secret", "secret", "access_token", "Authorization"])
def test_a_secret_is_never_shown(name):
    for value in (SECRET, Secret(SECRET), [SECRET], {"x": SECRET}):
        for check, fields in (
            (WebhookBody.validate_create, GOOD[WebhookBody]),
            (WebhookBody.validate_update, {"is_active": True}),
        ):
            with pytest.raises(InputError) as caught:
                check(fields | {name: value}, "This webhook")
            report = "".join(traceback.format_exception(caught.value))
            assert SECRET[:10] not in report + repr(caught.value.problems)


@pytest.mark.parametrize("body", GOOD)
def test_an_error_of_the_library_beneath_does_not_show_what_was_passed(body):
    with pytest.raises(ValidationError) as caught:
        body.model_validate({name: {SECRET} for name in body.model_fields})
    assert SECRET[:10] not in str(caught.value)


@given(
    fields=st.dictionaries(
        st.sampled_from([*GOOD[ContentBody], "extra"]) | st.text(max_size=3),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(st.text(max_size=3) | st.just("type"), inner, max_size=2)
            ),
            max_leaves=4,
        ),
        max_size=5,
    )
)
def test_whatever_is_passed_is_sent_unchanged_or_refused_by_name(fields):
    for check in (ContentBody.validate_create, ContentBody.validate_update):
        try:
            sent = check(fields, "This content")
        except InputError as error:
            known = {*fields, *ContentBody.model_fields, "(no field)"}
            assert all(p.field in known or p.field.split(".")[0] in known for p in error.problems)
        else:
            assert repr(sent) == repr({n: fields[n] for n in sent})
            assert sent.keys() == fields.keys()


def test_a_column_is_checked_cell_by_cell_and_what_no_json_has_is_named():
    half, number = {"x": "\ud800"}, DOCUMENT | {"n": float("nan")}
    good, wrong = FlowBody.column("flow_json", [DOCUMENT, number, DOCUMENT | half, 7, DOCUMENT])
    assert good == {0: DOCUMENT, 4: DOCUMENT}
    assert {place: problem.reason for place, [problem] in wrong.items()} == {
        1: "cannot be written as JSON (Out of range float values are not JSON compliant)",
        2: "holds half a character",
        3: "must be a dict, JSON text, or the path of a .json file",
    }
    assert FlowBody.column("flow_json", [DOCUMENT]) == ({0: DOCUMENT}, {})
    headers = [{"type": "text"}]
    assert ContentBody.column("headers", [headers]) == ({0: headers}, {})  # and no empty fields


def test_a_field_whose_name_holds_half_a_character_is_refused_by_name():
    with pytest.raises(InputError, match="cannot be sent") as caught:
        ContentBody.validate_update({"text": "a", "\ud800": 1}, "This content")
    assert [problem.field for problem in caught.value.problems] == ["⟨U+D800⟩"]
    assert str(caught.value).encode()


def test_a_misspelt_field_is_told_with_the_one_that_was_meant_and_no_other():
    lost = "must be text, so that no digit, zero or + is lost"
    for check, others in (
        (ContactBody.validate_create, GOOD[ContactBody]),
        (ContactBody.validate_update, {}),
    ):
        result = problems(check, others | {"names": "x", "zz": 1, "number": 5})
        assert result == {
            "names": ("'x'", "cannot be sent; did you mean name?"),
            "zz": ("1", "cannot be sent"),
            "number": ("5", lost),
        }
    assert problems(FlowBody.validate_update, {"name": "x"}) == {
        "name": ("'x'", "can only be set when it is created")
    }
    assert problems(ContentBody.validate_update, {"headers": [{"type": "text", "tex": 1}]}) == {
        "headers.0.tex": ("1", "cannot be sent")
    }
    assert problems(ContentBody.validate_update, {"headers": [{"text": "x"}]}) == {
        "headers.0.type": ("", "is required")
    }


def test_a_column_is_as_strict_as_a_single_field():
    good, wrong = ContactBody.column("number", ["12", 12, None, "x", "", "3"])
    assert good == {0: "12", 5: "3"} and list(wrong) == [1, 2, 3, 4]
    assert WebhookBody.column("is_active", [True, 1, "true"])[0] == {0: True}
    assert ContentBody.column("validity_period_seconds", [1, 1.0, None, True])[0] == {0: 1, 2: None}
    assert ContentBody.column("text", []) == ({}, {})


@pytest.mark.parametrize(
    ("output", "read"),
    [
        ('{"a": 1}', {"a": 1}), (' \n{"a": 1}', {"a": 1}), ('{"a": ', '{"a": '), ("[1]", "[1]"),
        ("7", "7"), ("", ""), (7, 7), (None, None), ({"a": 1}, {"a": 1}),
        ("{" * 200_000, "{" * 200_000),
    ],
)  # fmt: skip
def test_only_the_text_of_an_object_is_read_as_a_document(output, read):
    assert parse_document(output) == read


def test_create_and_update_show_what_they_take():
    def update(self, key: int, *, broken: bool = False, **fields: Any) -> Record: ...

    def create(self, *, broken: bool = False, **fields: Any) -> Record: ...

    made, changed = (add_body_signature(method, FlowBody, Flow) for method in (create, update))
    needed, free = inspect.Parameter.empty, ...
    for method, expected in (
        (made, {
            "self": needed, "name": needed, "template_name": needed, "flow_json": needed,
            "categories": free, "flow_json_raw": free, "broken": False,
        }),
        (changed, {
            "self": needed, "key": needed, "flow_json": free, "flow_json_raw": free,
            "broken": False,
        }),
    ):  # fmt: skip
        signature = inspect.signature(method)
        assert {n: p.default for n, p in signature.parameters.items()} == expected
        assert list(signature.parameters) == list(expected)
        assert signature.return_annotation is Flow
        assert "    flow_json_raw: Not described" in method.__doc__
    assert "    name: " in made.__doc__ and "    name: " not in changed.__doc__


# --- records --------------------------------------------------------------------------------


def test_a_record_keeps_what_the_document_does_not_know():
    contact = Contact.model_validate_json('{"id": 1, "loyalty": {"tier": 2}, "tags": [{"id": 1}]}')
    assert contact.loyalty == {"tier": 2}
    assert contact.model_dump(mode="json", exclude_unset=True) == {
        "id": 1, "loyalty": {"tier": 2}, "tags": [{"id": 1}],
    }  # fmt: skip


def test_a_status_and_an_event_kind_nobody_has_seen_are_only_text():
    new = "TOMORROW'S STATUS"
    for record, name in ((Flow, "wa_status"), (Contact, "ai_mode"), (Content, "parameter_format")):
        sent = {"id": 1, "lang_code": "en", name: new}
        assert getattr(record.model_validate(sent), name) == new
    hook = Webhook.model_validate({"id": 1, "events": [new], "last_delivery_status": {"odd": 1}})
    assert (hook.events, hook.last_delivery_status) == ([new], {"odd": 1})


def test_ids_may_be_text_and_times_are_aware():
    contact = Contact.model_validate_json(
        '{"id": "9007199254740993", "created_at": "2026-01-02T03:04:05Z"}'
    )
    assert contact.id == 9007199254740993
    assert contact.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize("flag", [True, False])
def test_true_and_false_are_no_ids(flag):
    for record in (Contact, Flow, Webhook):
        with pytest.raises(ValidationError, match="not true or false"):
            record.model_validate({"id": flag})


@given(
    st.datetimes(datetime(1974, 1, 1), datetime(2190, 1, 1)),
    st.sampled_from([1, 10**3, 10**6, 10**9]),
    st.booleans(),
)
def test_a_time_in_a_form_that_is_not_shown_is_read_in_each(time, unit, as_text):
    time = time.replace(tzinfo=UTC, microsecond=time.microsecond if unit >= 10**6 else 0)
    since = (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    number = since * (unit // 10**6) if unit >= 10**6 else since // (10**6 // unit)
    assert parse_time(str(number) if as_text else number) == time
    assert (
        parse_time(time.isoformat()) == parse_time(time.isoformat().replace("+00:00", "")) == time
    )
    hook = Webhook.model_validate_json(json.dumps({"id": 1, "last_delivery_at": number}))
    assert hook.last_delivery_at == time


@pytest.mark.parametrize("nothing", [None, 0, ""])
def test_a_delivery_that_never_was_has_no_time(nothing):
    assert parse_time(nothing) is None
    assert Webhook(id=1, last_delivery_at=nothing).last_delivery_at is None


@pytest.mark.parametrize(
    ("number", "time"),
    [
        (1, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (0.5, datetime(1970, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC)),
        (10**11 - 1, datetime(5138, 11, 16, 9, 46, 39, tzinfo=UTC)),
        (10**11, datetime(1973, 3, 3, 9, 46, 40, tzinfo=UTC)),
        (10**14, datetime(1973, 3, 3, 9, 46, 40, tzinfo=UTC)),
        (10**17, datetime(1973, 3, 3, 9, 46, 40, tzinfo=UTC)),
    ],
)
def test_the_size_of_a_number_tells_its_unit(number, time):
    assert parse_time(number) == time


@pytest.mark.parametrize(
    "unusual",
    ["soon", True, False, -5, 1e20, 1e30, float("nan"), [], {}, "12", "0" * 9, "2026-13-01"],
)
def test_what_is_no_time_is_refused(unusual):
    with pytest.raises(ValidationError):
        Webhook(id=1, last_delivery_at=unusual)


def test_a_document_may_be_shown_as_its_text_or_in_flow_json_raw():
    output = {"version": "7.3", "screens": []}
    text = json.dumps(output)
    for fields in (
        {"flow_json": output, "flow_json_raw": "mine"},
        {"flow_json": text, "flow_json_raw": "mine"},
    ):
        flow = Flow.model_validate({"id": 1, **fields})
        assert (flow.flow_json, flow.flow_json_raw) == (output, "mine")
    for fields in ({"flow_json": None}, {"flow_json": ""}, {}):
        flow = Flow.model_validate({"id": 1, "flow_json_raw": text, **fields})
        assert flow.flow_json == output
        assert not hasattr(flow, "flow_json_raw")
    for raw in ("", "{", "7", '{"no": "document"}', None, "[]"):
        flow = Flow.model_validate({"id": 1, "flow_json": None, "flow_json_raw": raw})
        assert (flow.flow_json, flow.flow_json_raw) == (None, raw)


@pytest.mark.parametrize("sent", [{"id": 1, "number": 2025550143}, {"id": "x"}, {}, {"id": 1.5}])
def test_a_wrong_type_is_refused_without_showing_the_value(sent):
    with pytest.raises(ValidationError) as caught:
        Contact.model_validate_json(json.dumps(sent))
    assert "2025550143" not in str(caught.value)


def test_a_record_cannot_be_changed_and_shows_no_secret():
    with pytest.raises(ValidationError):
        Contact(id=1).number = "2025550143"
    sent = {"id": 1, "webhook_secret": SECRET, "api_token": SECRET, "zone": "eu"}
    hook = Webhook.model_validate_json(json.dumps(sent))
    assert isinstance(hook.webhook_secret, Secret)
    assert (hook.webhook_secret.reveal(), hook.zone) == (SECRET, "eu")
    assert SECRET not in f"{hook!r}{hook}{hook.model_dump()}{hook.model_dump_json()}"
    for record in (Contact, Flow, Content, Webhook):  # what a list shows are fields of the record
        assert set(record.listed) <= set(record.model_fields)
        assert "webhook_secret" not in record.listed
