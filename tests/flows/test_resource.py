"""The resource of flows, under every profile."""

import json

import pytest
from rooms import client, sandbox  # noqa: F401

import chatkit

DOCUMENT = {
    "version": "7.3",
    "screens": [
        {
            "id": "THANKS",
            "title": "Thank you",
            "terminal": True,
            "layout": {
                "type": "SingleColumnLayout",
                "children": [
                    {"type": "TextHeading", "text": "Grüße, 你好 👋"},
                    {
                        "type": "Footer",
                        "label": "Done",
                        "on-click-action": {"name": "complete", "payload": {"half": 0.5}},
                    },
                ],
            },
        }
    ],
}
ORDER = {"name": "Order", "template_name": "default", "flow_json": DOCUMENT}


def test_a_created_flow_is_a_draft_with_its_document(client):
    flow = client.flows.create(**ORDER)
    assert (flow.name, flow.template_name, flow.wa_status) == ("Order", "default", "DRAFT")
    assert flow.flow_json == (DOCUMENT if client.profile.flow_json_in_get else None)


def test_the_frame_lists_flows_and_filters_by_status(client):
    order = client.flows.create(**ORDER)
    assert client.flows.frame().loc[order.id, "name"] == "Order"
    if client.profile.status_param is None:
        with pytest.raises(chatkit.InputError, match="status_param"):
            client.flows.frame(status="DRAFT")
        return
    assert list(client.flows.frame(status="DRAFT").index) == [order.id]
    with pytest.warns(UserWarning, match="No flow is in the state 'draft'; did you mean 'DRAFT'?"):
        assert client.flows.frame(status="draft").empty


def test_a_full_frame_holds_the_documents(client):
    order = client.flows.create(**ORDER)
    frame = client.flows.frame(full=True)
    if client.profile.flow_json_in_get:
        assert frame.loc[order.id, "flow_json"] == DOCUMENT
    else:
        assert "flow_json" not in frame.columns


def test_an_update_replaces_the_document_and_keeps_the_name(client):
    flow = client.flows.create(**ORDER)
    changed = {**DOCUMENT, "version": "7.2"}
    after = client.flows.update(flow.id, flow_json=changed)
    assert after.name == "Order"
    assert after.flow_json == (changed if client.profile.flow_json_in_get else None)


def test_a_deleted_flow_is_gone(client):
    flow = client.flows.create(**ORDER)
    client.flows.delete(flow.id)
    assert client.flows.frame().empty
    with pytest.raises(chatkit.NotFound):
        client.flows.get(flow.id)


def test_a_second_flow_of_one_name_is_as_the_profile_says(client):
    client.flows.create(**ORDER)
    if client.profile.duplicate_flow_name == "allow":
        client.flows.create(**ORDER)
        assert len(client.flows.frame()) == 2
    else:
        with pytest.raises(chatkit.Refused):
            client.flows.create(**ORDER)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"flow_json": "{}"}, "flow_json"),
        ({"flow_json": {"screens": []}}, "needs a version"),
        ({"flow_json": {"version": "7.3"}}, "needs screens"),
        ({"flow_json": {**DOCUMENT, "n": float("nan")}}, "JSON"),
        ({"name": None}, "name"),
    ],
)
def test_what_cannot_be_sent_is_refused_before_it_is_sent(client, change, reason):
    with pytest.raises(chatkit.InputError, match=reason):
        client.flows.create(**{**ORDER, **change})
    assert client.flows.frame().empty


def test_a_name_cannot_be_changed_and_the_text_says_so(client):
    flow = client.flows.create(**ORDER)
    with pytest.raises(chatkit.InputError, match="only be set when it is created"):
        client.flows.update(flow.id, name="Other")


@pytest.mark.filterwarnings("ignore:.* has .* warnings?, first:UserWarning")
def test_every_valid_sample_is_created_read_back_equal_and_listed(shared):
    samples = sorted((shared / "samples/flows/valid").glob("*.json"))
    assert samples
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as client:
        for sample in samples:
            document = json.loads(sample.read_bytes())
            flow = client.flows.create(
                name=sample.stem, template_name="default", flow_json=document
            )
            assert flow.flow_json == document, sample.name
        frame = client.flows.frame()
    assert list(frame.name) == [s.stem for s in samples]


def test_a_copy_has_the_document_under_another_name(client):
    order = client.flows.create(**ORDER, categories=["OTHER"])
    if not client.profile.flow_json_in_get:
        with pytest.raises(chatkit.InputError, match="the service does not show it"):
            client.flows.copy(order.id, "Order 2")
        assert list(client.flows.frame().index) == [order.id]
        return
    copy = client.flows.copy(order.id, "Order 2")
    assert (copy.name, copy.wa_status, copy.flow_json) == ("Order 2", "DRAFT", DOCUMENT)
    assert (copy.template_name, copy.categories) == ("default", ["OTHER"])
    assert copy.id != order.id
    assert client.flows.get(order.id).flow_json == DOCUMENT


@pytest.mark.parametrize(
    ("name", "reason"),
    [("Order", "a flow has it: .* duplicates=True"), ("  ", "not empty"), (None, "must be text")],
)
def test_a_copy_needs_a_name_of_its_own(client, name, reason):
    order = client.flows.create(**ORDER)
    with pytest.raises(chatkit.InputError, match=reason):
        client.flows.copy(order.id, name)
    assert len(client.flows.frame()) == 1


def test_a_second_flow_of_a_name_is_copied_when_you_say_so():
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as client:
        order = client.flows.create(**ORDER)
        client.flows.copy(order.id, "Order", duplicates=True)
        assert list(client.flows.frame()["name"]) == ["Order", "Order"]


def test_a_copy_of_what_is_not_there_is_not_found(client):
    with pytest.raises(chatkit.NotFound):
        client.flows.copy(404, "Copy")
