"""Facts about flows: a service that breaks one is found out, and no other fact differs."""

import pytest
from bent import Exchange, bare, broken, differing, drop, envelope, put, record, sent, status

ALL = "list get create update"


class Ghosts:
    """Show flows that were deleted."""

    def __init__(self):
        self.flows = {}

    def __call__(self, x: Exchange) -> None:
        for flow in x.records if x.of("flows", "create") else ():
            self.flows[str(flow["id"])] = x.body
        if x.of("flows", "get") and x.status == 404:
            x.status, x.body = 200, self.flows[x.segments[-1]]


def unfiltered(x: Exchange) -> None:
    if x.of("flows", "list") and x.query.get("status") == "PUBLISHED":
        del x.query["status"]


def mend(body: dict) -> None:
    """Take a flow document without a version."""
    if isinstance(body.get("flow_json"), dict):
        body["flow_json"] = {"version": "7.1", **body["flow_json"]}


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    ("facts", "before", "after"),
    [
        broken("ids are text", "flow_id",
               after=record("flows", "get", lambda f: f.update(id=str(f["id"])))),
        broken("ids are fractions", "flow_id", after=put("flows", "update", id=1.5)),
        broken("a field is left out of lists", "flow_name",
               after=drop("flows", "list", "template_name")),
        broken("upstream ids are numbers", "flow_name",
               after=record("flows", ALL, lambda f: f.update(wa_flow_id=int(f["wa_flow_id"])))),
        broken("times have a space", "flow_updated_at",
               after=put("flows", "list", updated_at="2026-01-05 08:00:00Z")),
        broken("times are of no calendar", "flow_updated_at",
               after=put("flows", "list", updated_at="2026-02-30T08:00:00Z")),
        broken("times are local", "flow_updated_at",
               after=put("flows", "list", updated_at="2026-01-05T08:00:00+07:00")),
        broken("profile_id is left out", "flow_profile_id",
               after=drop("flows", "create", "profile_id")),
        broken("lists have no pagination", "list_flows", after=bare("flows", "list", "pagination")),
        broken("lists are not found", "list_flows needs_chat_flows_view status_filter",
               after=status("flows", "list", 404)),
        broken("lists are objects", "list_flows", after=envelope("flows", "list", data={})),
        broken("the status filter does nothing", "status_filter", before=unfiltered),
        broken("get shows another flow", "get_flow",
               after=record("flows", "get", lambda f: f.update(id=f["id"] + 1))),
        broken("create answers 200", "create_flow", after=status("flows", "create", 200)),
        broken("create says nothing", "create_flow", after=bare("flows", "create", "message")),
        broken("create shows another name", "create_flow",
               after=put("flows", "create", name="another")),
        broken("template_name is not needed", "create_needs",
               before=sent("flows", "create", lambda b: b.setdefault("template_name", "default"))),
        broken("categories are needed", "create_may_have",
               before=sent("flows", "create", lambda b: b.setdefault("categories", 1))),
        broken("a document needs no version", "flow_json_is_an_object",
               before=sent("flows", "create", mend)),
        broken("flows are born published", "created_as_draft",
               after=put("flows", "create", wa_status="PUBLISHED")),
        broken("two flows are one upstream", "created_upstream",
               after=put("flows", "create", wa_flow_id="1")),
        broken("update fails", "update_flow needs_chat_flows_edit",
               after=status("flows", "update", 500)),
        broken("update answers with an array", "update_flow",
               after=envelope("flows", "update", data=[])),
        broken("update keeps the document", "update_changes_the_document",
               before=sent("flows", "update", lambda b: b.pop("flow_json"))),
        broken("delete answers with data", "delete_flow",
               after=envelope("flows", "delete", data={})),
        broken("delete says nothing", "delete_flow", after=bare("flows", "delete", "message")),
        broken("deleted flows can be read", "deleted_flow_is_gone", after=Ghosts()),
    ],
)  # fmt: skip
def test_a_broken_fact_is_found(facts, before, after):
    assert differing(before, after) == facts
