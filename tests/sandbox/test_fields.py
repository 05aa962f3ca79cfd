"""Fields: what the service accepts is what its schema says."""

import jsonschema_rs
import pytest
from caller import Caller
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import Service

from chatkit.sandbox.resource import (
    FLAG,
    TEXT,
    WHOLE,
    Anything,
    Field,
    Fields,
    ListOf,
    Plain,
    String,
    TextMap,
)

KINDS = {
    "text": TEXT,
    "choice": String(choices=("a", "b")),
    "pattern": String(pattern="^[0-9]+$", says="must be digits"),
    "flag": FLAG,
    "whole": WHOLE,
    "either": Plain(("string", "number")),
    "anything": Anything(),
    "list": ListOf(Plain(("integer", "boolean"))),
    "map": TextMap("^[0-9]+$", "must be numbers"),
    "open object": Fields((Field("a", TEXT), Field("b", FLAG, nullable=True)), frozenset("a")),
    "closed object": Fields((Field("a", TEXT),), closed=True),
    "nested": ListOf(Fields((Field("a", ListOf(TEXT), nullable=True),), frozenset("a"))),
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "b", "7", "7\n", ""])
    | st.sampled_from([0.5, 10**30]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["a", "b", "1", "1\n", ""]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("nullable", [False, True])
@settings(deadline=None)
@given(value=VALUES)
def test_a_value_has_no_problems_exactly_when_it_fits_the_schema(kind, nullable, value):
    field = Field("x", kind, nullable)
    fits = jsonschema_rs.validator_for(field.schema()).is_valid(value)
    assert (not list(field.problems(value, "x"))) == fits


def test_every_problem_of_a_body_is_told_at_once_with_its_place():
    item = Fields((Field("a", TEXT), Field("b", WHOLE)), frozenset("a"), closed=True)
    body = Fields((Field("list", ListOf(item)), Field("flag", FLAG)), frozenset({"flag"}))
    problems = list(body.problems({"list": [{"a": 1, "b": "x"}, {"c": 1}, 7]}))
    assert [problem.field for problem in problems] == [
        "list[0].a", "list[0].b", "list[1].a", "list[1].c", "list[2]", "flag",
    ]  # fmt: skip


@pytest.mark.parametrize("text_ids", [False, True])
def test_every_answer_fits_the_declared_fields(text_ids):
    with Service.of(text_ids=text_ids, secret_in_update=True).sandbox("demo") as sandbox:
        call, service = Caller(sandbox), sandbox.service
        call.content()
        shown = [
            (service.contacts, "/contacts"), (service.flows, "/flows"),
            (service.webhooks, "/webhooks"), (service.templates, "/templates/greeting/contents"),
        ]  # fmt: skip
        for resource, path in shown:
            items = call("GET", path).data
            assert items
            for item in items:
                assert list(resource.item.problems(item)) == []
                assert item.keys() == {field.name for field in resource.item.fields}
                if resource is service.webhooks:
                    continue
                last = item["lang_code"] if resource is service.templates else item["id"]
                record = call("GET", f"{path}/{last}").data
                assert list(resource.record.problems(record)) == []
                assert record.keys() == {field.name for field in resource.record.fields}
