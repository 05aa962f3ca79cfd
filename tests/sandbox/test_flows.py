"""Flows: drafts, their documents, and how the open points change them."""

import json

import pytest
from caller import FLOW, Caller
from internals import service_of
from profiles import Service

from chatkit.sandbox import Sandbox

LISTED = ["id", "name", "wa_flow_id", "wa_status", "template_name", "updated_at"]


@pytest.fixture
def call():
    with Sandbox(seed="empty") as sandbox:
        yield Caller(sandbox)


def under(**points):
    return Caller(Service.of(**points).sandbox())


def publish(call, flow):
    service_of(call.sandbox).flows.set_status(flow, "1001", "PUBLISHED")


def test_a_new_flow_is_a_draft(call):
    body = {"name": "Order", "template_name": "default", **FLOW}
    reply = call("POST", "/flows", body)
    assert (reply.status, reply.json["message"]) == (201, "Flow created")
    assert list(reply.data) == [*LISTED, "profile_id"]
    assert (reply.data["wa_status"], reply.data["name"]) == ("DRAFT", "Order")
    assert reply.data["wa_flow_id"].isdigit()
    (item,) = call("GET", "/flows").data
    assert list(item) == LISTED


def test_a_flow_is_read_back_with_its_document(call):
    document = {"version": "7.3", "screens": [{"id": "A", "x": [1.5, None, "é\0"]}], "more": {}}
    flow = call.flow(flow_json=document, categories=["OTHER"], flow_json_raw="{}")
    result = call("GET", f"/flows/{flow}").data
    assert (result["flow_json"], result["flow_json_raw"]) == (document, "{}")
    assert (result["categories"], result["profile_id"]) == (["OTHER"], 1)


def test_a_flow_cannot_be_read_back_if_the_profile_says_so():
    call = under(flow_json_in_get=False)
    assert list(call("GET", f"/flows/{call.flow()}").data) == [*LISTED, "profile_id"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": None}, "name"),
        ({"template_name": 1}, "template_name"),
        ({"flow_json": []}, "flow_json"),
        ({"flow_json": "{}"}, "flow_json"),
        ({"flow_json": {"screens": []}}, "flow_json.version"),
        ({"flow_json": {"version": 7.3, "screens": []}}, "flow_json.version"),
        ({"flow_json": {"version": "7.3"}}, "flow_json.screens"),
        ({"flow_json": {"version": "7.3", "screens": {}}}, "flow_json.screens"),
        ({"flow_json_raw": None}, "flow_json_raw"),
        ({"categories": "OTHER"}, "categories"),
        ({"categories": [1]}, "categories[0]"),
    ],
)
def test_a_body_that_breaks_a_rule_is_invalid_and_told_where(call, change, field):
    reply = call("POST", "/flows", {"name": "x", "template_name": "default", **FLOW} | change)
    assert reply.status == 422
    assert [error["field"] for error in reply.json["errors"]] == [field]
    assert call("GET", "/flows").data == []


def test_name_template_name_and_document_are_required(call):
    reply = call("POST", "/flows", {})
    fields = [error["field"] for error in reply.json["errors"]]
    assert sorted(fields) == ["flow_json", "name", "template_name"]


def test_a_broken_document_is_kept_as_a_draft(call):
    flow = call.flow(flow_json={"version": "7.3", "screens": [{"id": 1}]})
    assert call("GET", f"/flows/{flow}").data["wa_status"] == "DRAFT"


def test_every_valid_sample_is_read_back_equal(call, shared):
    samples = sorted((shared / "samples/flows/valid").glob("*.json"))
    assert len(samples) > 20
    for sample in samples:
        document = json.loads(sample.read_text())
        flow = call.flow(sample.name, flow_json=document)
        assert call("GET", f"/flows/{flow}").data["flow_json"] == document
    assert call("GET", "/flows").total == len(samples)


def test_naughty_names_and_templates_come_back_equal(call, shared):
    for name in json.loads((shared / "corpora/blns/blns.json").read_text()):
        result = call("GET", f"/flows/{call.flow(name, template_name=name)}").data
        assert (result["name"], result["template_name"]) == (name, name)


def test_an_update_changes_the_document_alone(call):
    flow = call.flow(flow_json_raw="a")
    document = {"version": "7.2", "screens": []}
    reply = call("PUT", f"/flows/{flow}", {"flow_json": document, "name": "Other"})
    assert (reply.status, list(reply.data)) == (200, [*LISTED, "profile_id"])
    result = call("GET", f"/flows/{flow}").data
    assert (result["flow_json"], result["flow_json_raw"]) == (document, "a")
    assert result["name"] == "Order"


def test_a_replacing_update_clears_the_raw_text_and_keeps_the_document():
    call = under(put="replace")
    flow = call.flow(flow_json_raw="a")
    call("PUT", f"/flows/{flow}", {})
    result = call("GET", f"/flows/{flow}").data
    assert (result["flow_json"], result["flow_json_raw"]) == (FLOW["flow_json"], "")


def test_an_update_requires_what_the_profile_says():
    call = under(put_requires="create_fields")
    flow = call.flow()
    assert call("PUT", f"/flows/{flow}", {"flow_json_raw": ""}).status == 422
    assert call("PUT", f"/flows/{flow}", FLOW).status == 200


def test_the_list_is_cut_by_status_as_the_profile_names_it(call):
    draft, published = call.flow("A"), call.flow("B")
    publish(call, published)
    assert [f["id"] for f in call("GET", "/flows?status=PUBLISHED").data] == [published]
    assert [f["id"] for f in call("GET", "/flows?status=DRAFT").data] == [draft]
    assert call("GET", "/flows?status=").total == 2
    assert call("GET", "/flows?status=published").total == 0
    without = under(status_param=None)
    without.flow()
    assert without("GET", "/flows?status=PUBLISHED").total == 1


@pytest.mark.parametrize(("point", "status"), [("draft", "DRAFT"), ("keep", "PUBLISHED")])
def test_updating_a_published_flow_is_as_the_profile_says(point, status):
    call = under(published_flow_update=point)
    flow = call.flow()
    publish(call, flow)
    assert call("PUT", f"/flows/{flow}", FLOW).data["wa_status"] == status
    assert call("GET", f"/flows?status={status}").total == 1


def test_a_published_flow_cannot_be_deleted(call):
    flow = call.flow()
    publish(call, flow)
    assert call("DELETE", f"/flows/{flow}").status == 409


def test_a_deleted_flow_is_gone_and_its_id_is_not_given_again(call):
    flow = call.flow()
    assert call("DELETE", f"/flows/{flow}").data is None
    assert call("GET", f"/flows/{flow}").status == 404
    assert call("GET", "/flows").data == []
    assert call("DELETE", f"/flows/{flow}").status == 404
    assert call.flow() == flow + 1
    with pytest.raises(KeyError):
        publish(call, flow)


def test_a_second_flow_of_one_name_is_as_the_profile_says(call):
    assert call.flow("Order") != call.flow("Order")
    refusing = under(duplicate_flow_name="refuse")
    flow = refusing.flow("Order")
    body = {"name": "Order", "template_name": "default", **FLOW}
    assert refusing("POST", "/flows", body).status == 409
    refusing("DELETE", f"/flows/{flow}")
    assert refusing("POST", "/flows", body).status == 201


def test_any_category_is_taken(call):
    assert call.flow(categories=["the service"])
