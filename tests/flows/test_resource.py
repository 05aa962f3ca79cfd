"""The resource of flows, under every profile."""

import json

import pytest
from documents import document
from profiled import client, sandbox, scripted  # noqa: F401

import chatkit

DOCUMENT = document("Grüße, 你好 👋")
ORDER = {"name": "Order", "template_name": "default", "flow_json": DOCUMENT}


def test_a_flow_is_created_listed_updated_and_deleted(client):
    flow, readable = client.flows.create(**ORDER), client.profile.flow_json_in_get
    assert (flow.name, flow.template_name, flow.wa_status) == ("Order", "default", "DRAFT")
    assert flow.flow_json == (DOCUMENT if readable else None)
    assert client.flows.frame().loc[flow.id, "name"] == "Order"
    full = client.flows.frame(full=True)
    assert full.loc[flow.id, "flow_json"] == DOCUMENT if readable else "flow_json" not in full
    if client.profile.status_param is None:
        with pytest.raises(chatkit.errors.InputError, match="status_param"):
            client.flows.frame(status="DRAFT")
    else:
        assert list(client.flows.frame(status="DRAFT").index) == [flow.id]
    with pytest.raises(chatkit.errors.InputError, match="only be set when it is created"):
        client.flows.update(flow.id, name="Other")
    changed = {**DOCUMENT, "version": "7.2"}
    after = client.flows.update(flow.id, flow_json=changed)
    assert (after.name, after.flow_json) == ("Order", changed if readable else None)
    client.flows.delete(flow.id)
    assert client.flows.frame().empty
    with pytest.raises(chatkit.errors.NotFound):
        client.flows.get(flow.id)


def test_a_flow_shows_itself_in_five_lines_without_its_document():
    flow = chatkit.flows.Flow(id=7, name="Order\u202e", wa_status="DRAFT", flow_json=DOCUMENT)
    assert repr(flow) == str(flow)
    assert repr(flow).split("\n") == [
        "Flow 7: Order⟨U+202E⟩",
        "  wa_status   DRAFT; publish it in the business application",
        "  wa_flow_id  none",
        "  updated_at  not shown",
        "  flow_json   version 7.3, 1 screen: THANKS",
    ]
    bare = repr(chatkit.flows.Flow(id=7))
    assert "Flow 7: (without name)" in bare and "read it with get" in bare


INVALID = [
    ({"flow_json": "{}"}, "flow_json"),
    ({"flow_json": {"screens": []}}, "needs a version"),
    ({"flow_json": {"version": "7.3"}}, "needs screens"),
    ({"flow_json": {"version": "7.3", "screens": {}}, "broken": True}, "needs screens"),
    ({"flow_json": {"version": 7.3, "screens": []}, "broken": True}, "needs a version"),
    ({"flow_json": 7}, "must be a dict"),
    ({"flow_json": "{"}, "is not valid JSON: it ends too early at line 1, column 2"),
    ({"flow_json": {**DOCUMENT, "n": float("nan")}}, "JSON"),
    ({"name": None}, "name"),
]


def test_what_cannot_be_sent_is_refused_before_it_is_sent(client):
    for change, reason in INVALID:
        with pytest.raises(chatkit.errors.InputError, match=reason):
            client.flows.create(**{**ORDER, **change})
    assert client.flows.frame().empty


def test_a_document_is_taken_as_a_dict_as_its_text_and_as_a_file(tmp_path):
    (tmp_path / "order.json").write_text(json.dumps(DOCUMENT))
    sent = []

    def script(method, path, body):
        sent.append(body)
        return 200, {"id": 7}

    flows = scripted(script).flows
    for values in (DOCUMENT, json.dumps(DOCUMENT), str(tmp_path / "order.json")):
        flows.create(**{**ORDER, "flow_json": values})
        flows.update(7, flow_json=values)
    assert [body["flow_json"] for body in sent if body] == [DOCUMENT] * 6


# --- what becomes of a refusal --------------------------------------------------------------

DEPRECATE = (
    "The API cannot deprecate a flow: do it in the business application, "
    "then it takes no new answers. Only drafts can be deleted."
)
TAKEN = (
    "A flow has the name 'Order': take another name, or change that flow with "
    "client.flows.update(id, flow_json=…)."
)
LISTED = "client.flows.frame() lists the id of each flow."


@pytest.mark.parametrize(
    ("status", "clash", "deleted", "created", "updated"),
    [
        (409, 422, DEPRECATE, TAKEN, ""),
        (422, 422, DEPRECATE, TAKEN, ""),
        (400, 409, "", "", ""),
        (404, 409, LISTED, "", LISTED),
    ],
)
def test_a_refusal_says_what_can_be_done_about_it(status, clash, deleted, created, updated):
    client = scripted(lambda *_: (status, {"message": "no"}), clash_status=clash)
    calls = [
        (lambda: client.flows.delete(7), deleted),
        (lambda: client.flows.create(**ORDER), created),
        (lambda: client.flows.update(7, flow_json=DOCUMENT), updated),
    ]
    for refused, advice in calls:
        with pytest.raises(chatkit.errors.Refused) as caught:
            refused()
        for each in (DEPRECATE, TAKEN, LISTED):
            assert (each in str(caught.value)) is (each == advice)
        assert ("A flow has the name" in str(caught.value)) is (advice == TAKEN)


@pytest.mark.parametrize(
    ("present", "asked", "hint"),
    [
        (["PUBLISHED", "DRAFT", None], "gone", "DRAFT, PUBLISHED."),
        ([], "DRAFT", "none."),
    ],
)
def test_a_state_that_no_flow_is_in_is_told_with_those_that_are(present, asked, hint):
    listed = [{"id": n, "name": "x", "wa_status": state} for n, state in enumerate(present)]
    client = scripted(lambda method, path, body: (200, [] if "status=" in path else listed))
    with pytest.warns(UserWarning) as report:
        assert client.flows.frame(status=asked).empty
    message = f"No flow is in the state {asked!r}; the states of this account are {hint}"
    assert message in {str(each.message) for each in report}


def test_what_the_api_cannot_do_is_said_where_its_name_is_tried(client):
    with pytest.raises(AttributeError, match="cannot publish or deprecate"):
        client.flows.publish(7)
    with pytest.raises(AttributeError, match="object has no attribute 'framed'") as caught:
        client.flows.framed()
    assert (caught.value.name, caught.value.obj) == ("framed", client.flows)
    assert "choose Publish" in " ".join(chatkit.flows.Flows.__doc__.split())


# --- documents that are shown as text only --------------------------------------------------

TEXT = json.dumps(DOCUMENT)
RENDERED = [
    ({"flow_json": None, "flow_json_raw": TEXT}, DOCUMENT, None),
    ({"flow_json": DOCUMENT, "flow_json_raw": "kept"}, DOCUMENT, "kept"),
    ({"flow_json": None, "flow_json_raw": "no document"}, None, "no document"),
    ({"flow_json": None, "flow_json_raw": '{"version": "7.3"}'}, None, '{"version": "7.3"}'),
    ({"flow_json": None, "flow_json_raw": '{"screens": []}'}, None, '{"screens": []}'),
    ({"flow_json": None, "flow_json_raw": '{"version": "1", "screens": 7}'}, None, ...),
    ({"flow_json": {}, "flow_json_raw": TEXT}, DOCUMENT, None),
    ({"flow_json": {"version": "1"}, "flow_json_raw": TEXT}, {"version": "1"}, TEXT),
]


@pytest.mark.parametrize(("output", "document", "raw"), RENDERED)
def test_a_document_is_taken_out_of_its_raw_text_where_it_is_nowhere_else(output, document, raw):
    raw = output["flow_json_raw"] if raw is ... else raw
    client = scripted(lambda *_: (200, {"id": 7, "name": "Order", "wa_status": "DRAFT"} | output))
    flow = client.flows.get(7)
    assert (flow.flow_json, getattr(flow, "flow_json_raw", None)) == (document, raw)


def test_a_raw_text_that_is_no_document_stays_beside_those_that_are():
    records = [{"id": n, "name": "x"} | output for n, (output, _, _) in enumerate(RENDERED)]

    def script(method, path, body):
        at = path.removeprefix("flows").split("?")[0]
        return 200, records[int(at[1:])] if at else [{"id": n, "name": "x"} for n in range(8)]

    with pytest.warns(UserWarning, match="sent no"):
        frame = scripted(script).flows.frame(full=True)
    raws = [output["flow_json_raw"] if raw is ... else raw for output, _, raw in RENDERED]
    assert [None if text != text else text for text in frame["flow_json_raw"]] == raws
    documents = [result if isinstance(result, dict) else None for result in frame["flow_json"]]
    assert documents == [document for _, document, _ in RENDERED]


def test_a_plan_warns_of_new_flows_with_the_name_of_another_one():
    with chatkit.Sandbox() as sandbox, chatkit.connect(sandbox) as client:
        order = client.flows.create(**ORDER)
        new = [ORDER | {"name": name} for name in (" order", "Twice", "twice", "Alone")]
        plan = client.flows.plan(new)
        assert plan.counts["create"] == 4
        assert plan.notes == [
            f" order has 1 warning: same name at /name: flow {order.id} has this name, too. "
            "Give each flow a name of its own, or leave one of them out.",
            "Twice and twice have each 1 warning: same name at /name: another new flow has this "
            "name, too. Give each flow a name of its own, or leave one of them out.",
        ]
        assert not client.flows.plan([ORDER | {"name": "order"}], delete=[order.id]).notes
        with pytest.warns(UserWarning, match=f"flow {order.id} has this name, too"):
            client.flows.create(**ORDER)
