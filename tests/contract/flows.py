"""Facts about flows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from contract.account import Account, Caller, Reply, ResourceCalls
from contract.fact import TEXT, TIME, WHOLE, Facts, expect, unknown

from chatkit.api.record import parse_document


def flow_document(title: str) -> dict[str, Any]:
    """Return a flow document of one screen."""
    done = {"type": "Footer", "label": "Done",
            "on-click-action": {"name": "complete", "payload": {}}}  # fmt: skip
    heading = {"type": "TextHeading", "text": title}
    screen = {
        "id": "FIRST",
        "title": title,
        "terminal": True,
        "success": True,
        "data": {},
        "layout": {"type": "SingleColumnLayout", "children": [heading, done]},
    }
    return {"version": "7.1", "screens": [screen]}


class FlowCalls(ResourceCalls):
    path = ("flows",)

    def __init__(self, account: Account) -> None:
        super().__init__(account)
        self._count = 0

    def new(self, caller: Caller | None = None, **fields: Any) -> Reply:
        """Create a flow; a field that is None is left out."""
        self._count += 1
        name = f"{self.account.marker} {self._count}"
        sent = {
            "name": name,
            "template_name": "default",
            "flow_json": flow_document("Hello"),
            **fields,
        }
        body = {k: v for k, v in sent.items() if v is not None}
        return (caller or self.caller).create(self.path, body)

    def create_as(self, caller: Caller) -> Reply:
        """Create one more flow with the token of a caller."""
        return self.new(caller)

    @cached_property
    def created(self) -> Reply:
        """A flow, created with all it may have."""
        return self.new(categories=["OTHER"], flow_json_raw="")

    @cached_property
    def removable(self) -> Reply:
        """A flow, created with what it must have; it is deleted later."""
        return self.new()

    @property
    def changes(self) -> dict[str, Any]:
        """The body of an update."""
        return {"flow_json": flow_document("Hello again"), "flow_json_raw": ""}


facts = Facts(FlowCalls)

facts.fields("Flow", "flow", [
    (11, "id", WHOLE, "list get create update"),
    (12, "name wa_flow_id wa_status template_name", TEXT, "list get create update"),
    (13, "updated_at", TIME, "list"),
    (14, "profile_id", WHOLE, "create update"),
])  # fmt: skip


@facts(15, "Flows")
def list_flows(calls: FlowCalls) -> None:
    """GET flows answers 200 with an array of flows and the pagination."""
    calls.listed.expect_success(200)
    calls.listed.expect_list()
    calls.listed.expect_pagination()


@facts(16, "Flows")
def status_filter(calls: FlowCalls) -> None:
    """The list can be filtered by status."""
    for status in ("DRAFT", "PUBLISHED"):
        statuses = {row.get("wa_status") for row in calls.filtered("status_param", status)}
        expect(statuses <= {status}, f"flows of a different status are listed as {status}")


@facts(17, "Flows")
def get_flow(calls: FlowCalls) -> None:
    """GET flows/:id answers with the flow of that id."""
    calls.read.expect_success()
    flow = calls.read.expect_object()
    expect(str(flow.get("id")) == str(calls.read.call.segments[-1]), "its id is a different one")


@facts(18, "Flows")
def create_flow(calls: FlowCalls) -> None:
    """POST flows answers 201 with a message and the flow."""
    calls.created.expect_success(201)
    calls.created.expect_message()
    flow = calls.created.expect_object()
    sent = calls.created.call.body or {}
    for field in ("name", "template_name"):
        expect(field not in flow or flow[field] == sent[field], f"{field} is not what was sent")


@facts(19, "Flow")
def create_needs(calls: FlowCalls) -> None:
    """A create needs name, template_name and flow_json."""
    calls.removable.require_done()
    for field in ("name", "template_name", "flow_json"):
        calls.new(**{field: None}).expect_refusal(f"a create without {field}")


@facts(20, "Flow")
def create_may_have(calls: FlowCalls) -> None:
    """A create may have categories, an array of text, and flow_json_raw, text, or leave them."""
    if not calls.created.ok:
        calls.removable.require_done()
    calls.removable.expect_success()
    calls.created.expect_success()


@facts(21, "Flow")
def flow_json_is_an_object(calls: FlowCalls) -> None:
    """flow_json is an object with version, text, and screens, an array."""
    calls.removable.require_done()
    whole = flow_document("Hello")
    for what, broken in {
        "text": "{}",
        "no version": {"screens": whole["screens"]},
        "no screens": {"version": whole["version"]},
        "a version that is a number": {**whole, "version": 7},
        "screens that are an object": {**whole, "screens": {}},
    }.items():
        calls.new(flow_json=broken).expect_refusal(f"flow_json with {what}")


@facts(22, "States")
def created_as_draft(calls: FlowCalls) -> None:
    """A flow that is created is a DRAFT."""
    flow = calls.created.record()
    expect(flow.get("wa_status") == "DRAFT", "wa_status is not DRAFT")


@facts(23, "States")
def created_upstream(calls: FlowCalls) -> None:
    """A flow that is created gets an identifier of its own on the upstream platform."""
    first, second = (reply.record().get("wa_flow_id") for reply in (calls.created, calls.removable))
    expect(first and second, "wa_flow_id is empty")
    expect(first != second, "two flows have the same")


@facts(24, "Flows")
def update_flow(calls: FlowCalls) -> None:
    """PUT flows/:id takes flow_json and flow_json_raw and answers with the flow."""
    calls.updated.expect_updated()


@facts(25, "Flows")
def update_changes_the_document(calls: FlowCalls) -> None:
    """An update changes the flow document."""
    text = calls.changed.get("flow_json") or calls.changed.get("flow_json_raw")
    current = parse_document(text or unknown("get does not show flow_json"))
    expect(current == calls.changes["flow_json"], "flow_json is not what was sent")


@facts(26, "Flows")
def delete_flow(calls: FlowCalls) -> None:
    """DELETE flows/:id answers with success, a message and data null."""
    calls.deleted.expect_deleted()


@facts(27, "Flows")
def deleted_flow_is_gone(calls: FlowCalls) -> None:
    """A flow that was deleted is no longer there."""
    calls.gone.expect_refusal("a get of a deleted flow")
