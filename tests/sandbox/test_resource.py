"""Resources: fields and their schemas, ids, and what the case tables cannot show."""

import json
from typing import Annotated, Any, Literal

import jsonschema_rs
import pytest
from caller import Caller
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import quirks_of, service_of
from profiles import Service
from pydantic import Field

from chatkit.sandbox import Sandbox
from chatkit.sandbox.contacts import split_name
from chatkit.sandbox.interface import FieldProblem, RefusedRequest
from chatkit.sandbox.openapi import make_body_schema, make_record_schema
from chatkit.sandbox.resource import Fields, RequestBody, make_upstream_id, parse_id
from chatkit.sandbox.templates import LANGUAGES

# --- fields ---------------------------------------------------------------------------


class Inner(Fields):
    a: list[str] | None = None
    b: bool = False


class Needing(Fields):
    a: str
    b: int = 0


class Example(Fields):
    choice: Literal["a", "b"] | None = None
    pattern: str = Field("", pattern="^[0-9]+$", description="must be digits")
    map: dict[Annotated[str, Field(pattern="^[0-9]+$")], str] = Field(
        {},
        description="keys must be digits",
        json_schema_extra={"additionalProperties": False},
    )
    anything: Any = None
    whole: int = 0
    flag: bool | None = None
    nested: list[Inner] = Field([])
    items: list[Needing] = Field([])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "b", "7", "7\n", ""])
    | st.sampled_from([0.5, 10**30]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["a", "b", "1", "1\n", ""]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("name", [*Example.model_fields, "unknown"])
@settings(deadline=None)
@given(value=VALUES)
def test_a_body_is_read_exactly_when_it_fits_its_schema(closed, name, value):
    body = RequestBody(Example, frozenset(), closed)
    fits = jsonschema_rs.validator_for(make_body_schema(body)).is_valid({name: value})
    try:
        assert body.validate({name: value}) == ({} if name == "unknown" else {name: value})
    except RefusedRequest:
        assert not fits
    else:
        assert fits


def test_every_problem_of_a_body_is_listed_with_its_place():
    sent = {
        "items": [{"a": 1, "b": "x"}, {"c": 1}, 7],
        "map": {"x": "", "1": 2},
        "choice": "c",
        "pattern": "x",
    }
    with pytest.raises(RefusedRequest) as caught:
        RequestBody(Example, frozenset({"flag"}), True).validate(sent)
    assert list(caught.value.problems) == [
        FieldProblem("flag", "is required"),
        FieldProblem("choice", "must be one of a, b"),
        FieldProblem("pattern", "must be digits"),
        FieldProblem("map", "keys must be digits"),
        FieldProblem("map.1", "must be a string"),
        FieldProblem("items[0].a", "must be a string"),
        FieldProblem("items[0].b", "must be an integer"),
        FieldProblem("items[1].a", "is required"),
        FieldProblem("items[1].c", "is not a field of this body"),
        FieldProblem("items[2]", "must be an object"),
    ]


@pytest.mark.parametrize("points", [{}, {"text_ids": True}, {"flow_json_in_get": False}], ids=str)
def test_every_answer_has_the_declared_fields_and_no_others(points):
    with Service.of(secret_in_update=True, **points).sandbox("demo") as sandbox:
        call, service = Caller(sandbox), service_of(sandbox)
        call.content()
        output = [
            (service.contacts, "/contacts"), (service.flows, "/flows"),
            (service.webhooks, "/webhooks"), (service.templates, "/templates/greeting/contents"),
        ]  # fmt: skip
        for resource, path in output:
            items = call("GET", path).data
            assert items
            for item in items:
                assert_fits(resource.item, sandbox, item)
                if resource is service.webhooks:
                    continue
                last = item["lang_code"] if resource is service.templates else item["id"]
                assert_fits(resource.record, sandbox, call("GET", f"{path}/{last}").data)


def assert_fits(fields, sandbox, record):
    jsonschema_rs.validator_for(make_record_schema(fields, quirks_of(sandbox))).validate(record)
    assert record.keys() == fields.model_fields.keys()


# --- ids ------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.text() | st.integers().map(str))
def test_an_id_is_read_only_in_its_one_plain_form(text):
    read = parse_id(text)
    assert read is None or (str(read) == text and 0 < read < 10**18)


def test_a_plain_id_is_read():
    for text in ("1", "50001", "9" * 18):
        assert parse_id(text) == int(text)
    assert parse_id("9" * 19) is None


def test_identifiers_are_digits_of_one_length_and_no_two_are_equal():
    made = {make_upstream_id(record_id, "104") for record_id in range(50_001, 150_001)}
    assert len(made) == 100_000
    assert {len(identifier) for identifier in made} == {15}
    assert all(identifier.isdigit() for identifier in made)


# --- contacts, template contents and webhooks -----------------------------------------


@settings(deadline=None)
@given(
    st.text(st.sampled_from("ab \t\0é")),
    st.sampled_from(["first_middle_last", "first_last", "first_only"]),
)
def test_the_parts_of_a_name_joined_by_spaces_are_the_name(name, rule):
    parts = split_name(name, rule)
    assert " ".join(part for part in parts if part is not None) == name
    if rule == "first_middle_last" and len(name.split(" ")) == 3 and "" not in name.split(" "):
        assert list(parts) == name.split(" ")


CONTENT = {
    "lang_code": "en",
    "parameter_format": "TEXT",
    "text": "Hello {{1}}",
    "variables": {"1": "Ana"},
    "footer": "Bye",
    "is_draft": True,
    "is_catalog": True,
    "catalog_format": "x",
    "connected_catalog_id": 7,
    "is_catalog_connected": True,
    "is_custom_validity_period": True,
    "validity_period_seconds": 60,
    "auth_delivery_method": "copy_code",
    "auth_add_security_recommendation": True,
    "auth_add_code_expiration": True,
    "auth_code_expiration_seconds": 90,
    "auth_apps": [{"package_name": "a.b", "signature_hash": "c"}],
    "headers": [
        {"type": "image", "text": None, "text_variable": None, "parameter": {"a": 1},
         "link": "https://cdn.example/a.png", "file_name": "a.png"},
    ],
    "buttons": [
        {"type": "call_phone", "label": "Call", "value": "2025550143", "country_code": "+1",
         "url_type": None, "dynamic_url": None},
    ],
}  # fmt: skip


def test_every_field_of_a_content_is_kept_and_an_update_changes_one():
    with Sandbox(seed="empty") as sandbox:
        call, path = Caller(sandbox), "/templates/greeting/contents"
        content = call("POST", path, CONTENT | {"unknown": 1}).data
        assert content == {"id": 7001} | CONTENT
        assert call("GET", f"{path}/en").data == content
        assert call("PUT", f"{path}/en", {"footer": "x"}).data == content | {"footer": "x"}


def test_the_languages_are_those_of_the_platform_and_each_can_be_created(shared):
    listed = json.loads((shared / "facts/languages.json").read_text())["languages"]
    assert list(LANGUAGES.items()) == [(one["code"], one["label"]) for one in listed]
    with Sandbox(seed="empty") as sandbox:
        call = Caller(sandbox)
        languages = call("GET", "/templates/greeting/contents/lookups/languages").data
        assert {item["code"]: item["label"] for item in languages} == LANGUAGES
        assert len(languages) == 113
        for code in LANGUAGES:
            assert call.content(code).status == 201


@pytest.mark.parametrize("visible", [False, True])
def test_an_update_shows_the_secret_of_a_webhook_only_with_that_quirk(visible):
    with Service.of(secret_in_update=visible).sandbox() as sandbox:
        call = Caller(sandbox)
        created = call.webhook().data
        updated = call("PATCH", f"/webhooks/{created['id']}", {}).data
    secret = created.pop("webhook_secret")
    assert updated.pop("webhook_secret", None) == (secret if visible else None)
    assert updated.pop("updated_at") > created.pop("updated_at")
    assert updated == created
