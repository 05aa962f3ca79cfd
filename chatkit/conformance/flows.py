"""Flows: facts about flows, and the calls that tell them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from chatkit.conformance.fact import TEXT, TIME, WHOLE, Facts, add_fields, expect, not_told
from chatkit.conformance.trial import Caller, ResourceEvidence, Trial, TrialReply
from chatkit.record import document


def flow_document(title: str) -> dict[str, Any]:
    """A flow document of one screen."""
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


class FlowEvidence(ResourceEvidence):
    """Evidence about flows: each call is made once."""

    path = ("flows",)

    def __init__(self, trial: Trial) -> None:
        super().__init__(trial)
        self._count = 0

    def new(self, by: Caller | None = None, **fields: Any) -> TrialReply:
        """Create a flow; a field that is None is left out."""
        self._count += 1
        name = f"{self.trial.marker} {self._count}"
        sent = {
            "name": name,
            "template_name": "default",
            "flow_json": flow_document("Hello"),
            **fields,
        }
        body = {k: v for k, v in sent.items() if v is not None}
        return (by or self._call).create(self.path, body)

    def another(self, by: Caller) -> TrialReply:
        """Create one more flow, as some caller."""
        return self.new(by)

    @cached_property
    def created(self) -> TrialReply:
        """A flow, created with all it may have."""
        return self.new(categories=["OTHER"], flow_json_raw="")

    @cached_property
    def doomed(self) -> TrialReply:
        """A flow, created with what it must have; it is deleted later."""
        return self.new()

    @property
    def changes(self) -> dict[str, Any]:
        """The body of an update."""
        return {"flow_json": flow_document("Hello again"), "flow_json_raw": ""}


facts = Facts(FlowEvidence)

add_fields(facts, "Flow", "flow", [
    (11, "id", WHOLE, "list get create update"),
    (12, "name wa_flow_id wa_status template_name", TEXT, "list get create update"),
    (13, "updated_at", TIME, "list"),
    (14, "profile_id", WHOLE, "create update"),
])  # fmt: skip


@facts(15, "Flows")
def list_flows(seen: FlowEvidence) -> None:
    """GET flows answers 200 with an array of flows and the pagination."""
    seen.listed.expect_success(200)
    seen.listed.expect_list()
    seen.listed.expect_pagination(seen.trial.profile)


@facts(16, "Flows")
def status_filter(seen: FlowEvidence) -> None:
    """The list can be filtered by status."""
    for status in ("DRAFT", "PUBLISHED"):
        found = {row.get("wa_status") for row in seen.filtered("status_param", status)}
        expect(found <= {status}, f"flows of another status are listed as {status}")


@facts(17, "Flows")
def get_flow(seen: FlowEvidence) -> None:
    """GET flows/:id answers with the flow of that id."""
    seen.read.expect_success()
    flow = seen.read.expect_object()
    expect(str(flow.get("id")) == str(seen.read.call.segments[-1]), "its id is another")


@facts(18, "Flows")
def create_flow(seen: FlowEvidence) -> None:
    """POST flows answers 201 with a message and the flow."""
    seen.created.expect_success(201)
    seen.created.expect_message()
    flow = seen.created.expect_object()
    sent = seen.created.call.body or {}
    for field in ("name", "template_name"):
        expect(field not in flow or flow[field] == sent[field], f"{field} is not what was sent")


@facts(19, "Flow")
def create_needs(seen: FlowEvidence) -> None:
    """A create needs name, template_name and flow_json."""
    seen.doomed.expect_done()
    for field in ("name", "template_name", "flow_json"):
        seen.new(**{field: None}).expect_refusal(f"a create without {field}")


@facts(20, "Flow")
def create_may_have(seen: FlowEvidence) -> None:
    """A create may have categories, an array of text, and flow_json_raw, text, or leave them."""
    if not seen.created.ok:
        seen.doomed.expect_done()
    seen.doomed.expect_success()
    seen.created.expect_success()


@facts(21, "Flow")
def flow_json_is_an_object(seen: FlowEvidence) -> None:
    """flow_json is an object with version, text, and screens, an array."""
    seen.doomed.expect_done()
    whole = flow_document("Hello")
    for what, broken in {
        "text": "{}",
        "no version": {"screens": whole["screens"]},
        "no screens": {"version": whole["version"]},
        "a version that is a number": {**whole, "version": 7},
        "screens that are an object": {**whole, "screens": {}},
    }.items():
        seen.new(flow_json=broken).expect_refusal(f"flow_json with {what}")


@facts(22, "States")
def created_as_draft(seen: FlowEvidence) -> None:
    """A flow that is created is a DRAFT."""
    flow = seen.created.record()
    expect(flow.get("wa_status") == "DRAFT", "wa_status is another")


@facts(23, "States")
def created_upstream(seen: FlowEvidence) -> None:
    """A flow that is created gets an identifier of its own on the upstream platform."""
    first, second = (reply.record().get("wa_flow_id") for reply in (seen.created, seen.doomed))
    expect(first and second, "wa_flow_id is empty")
    expect(first != second, "two flows have the same")


@facts(24, "Flows")
def update_flow(seen: FlowEvidence) -> None:
    """PUT flows/:id takes flow_json and flow_json_raw and answers with the flow."""
    seen.updated.expect_updated("", seen.trial.profile)


@facts(25, "Flows")
def update_changes_the_document(seen: FlowEvidence) -> None:
    """An update changes the flow document."""
    shown = seen.changed.get("flow_json") or seen.changed.get("flow_json_raw")
    found = document(shown or not_told("get does not show flow_json"))
    expect(found == seen.changes["flow_json"], "flow_json is not what was sent")


@facts(26, "Flows")
def delete_flow(seen: FlowEvidence) -> None:
    """DELETE flows/:id answers with success, a message and data null."""
    seen.deleted.expect_deleted(seen.trial.profile)


@facts(27, "Flows")
def deleted_flow_is_gone(seen: FlowEvidence) -> None:
    """A flow that was deleted is no longer there."""
    seen.gone.expect_refusal("a get of a deleted flow")
