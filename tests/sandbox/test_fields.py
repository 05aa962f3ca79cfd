"""Fields: what the service accepts is what its schema says."""

from typing import Annotated, Any, Literal

import jsonschema_rs
import pytest
from caller import Caller
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import quirks_of, service_of
from profiles import Service
from pydantic import Field

from chatkit.sandbox.interface import FieldProblem, RefusedRequest
from chatkit.sandbox.openapi import make_body_schema, make_record_schema
from chatkit.sandbox.resource import Fields, RequestBody


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


@pytest.mark.parametrize("text_ids", [False, True])
def test_every_answer_fits_the_declared_fields(text_ids):
    with Service.of(text_ids=text_ids, secret_in_update=True).sandbox("demo") as sandbox:
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
