"""Flows: interactive forms of the upstream platform (sections Flow, Flows, States)."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field

from chatkit.sandbox.delivery import EventPublisher
from chatkit.sandbox.replies import RefusedRequest, ServiceAnswer, dumps
from chatkit.sandbox.request import parameters
from chatkit.sandbox.resource import AllowedCall, Fields, ResourceHandler, Time, Tools, upstream_id
from chatkit.sandbox.store import ResourceTable, StoredRecord

# The business application's own number for the sender; the document shows the field only.
_PROFILE_ID = 1


class FlowDocument(Fields):
    """The flow document."""

    model_config = ConfigDict(extra="allow")

    version: str
    screens: list[Any]


_NO_DOCUMENT = FlowDocument(version="", screens=[])


class FlowChange(Fields):
    """What can be changed of a flow."""

    flow_json: FlowDocument = _NO_DOCUMENT
    flow_json_raw: str = ""


class NewFlow(FlowChange):
    """What a flow is created with."""

    name: str = ""
    template_name: str = ""
    categories: list[str] = Field([])


class FlowItem(Fields):
    """A flow in lists."""

    id: int
    name: str
    wa_flow_id: str
    wa_status: str
    template_name: str
    updated_at: Time


class FlowBrief(FlowItem):
    """A flow without its document."""

    profile_id: int


class FlowRecord(FlowBrief):
    """A flow with its document."""

    categories: list[str]
    flow_json: FlowDocument | str | None
    flow_json_raw: str


class FlowsHandler(ResourceHandler):
    """The flows of an account. A broken document is kept as a draft, with what is wrong in it."""

    noun = "Flow"
    clashes = ("create", "delete")

    def __init__(self, tools: Tools, publisher: EventPublisher) -> None:
        super().__init__(tools)
        self._publisher = publisher
        profile = self.profile
        self.create_body, _ = self._bodies(NewFlow, ("name", "template_name", "flow_json"))
        _, self.update_body = self._bodies(FlowChange, ("flow_json",))
        self.item, self.created, self.updated = FlowItem, FlowBrief, FlowBrief
        self.record = FlowRecord if profile.flow_json_in_get else FlowBrief
        self.filter_param = profile.status_param
        self.table = ResourceTable(self.store, "flows", first_id=301, extra=("wa_status",))

    def list(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with a page of flows, all or those of one status."""
        given = parameters(call.query)
        status = self._filter(given)
        if status:
            return self._page(self.table.ids(call.grant.account, "wa_status = ?", (status,)), given)
        return self._page(self.table.listed(call.grant.account), given)

    def get(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with one flow, with its document if the profile says so."""
        row = self.find(call)
        return self.replies.data(
            self._whole(row) if self.profile.flow_json_in_get else _brief(json.loads(row.item))
        )

    def create(self, call: AllowedCall) -> ServiceAnswer:
        """Make a flow, here and upstream: a draft, whatever its document is worth."""
        given = self.create_body.read(call.body)
        name = given["name"]
        if self.profile.duplicate_flow_name == "refuse":
            same = self.table.find(call.grant.account, name)
            if same is not None and same.active:
                raise RefusedRequest("clash", "A flow has this name")
        flow_id = self.table.next_id()
        record = {
            "id": self._shown_id(flow_id),
            "name": name,
            "wa_flow_id": upstream_id(flow_id, "8140"),
            "wa_status": "DRAFT",
            "template_name": given["template_name"],
            "updated_at": self.clock.stamp(),
        }
        item = dumps(record)
        more = {
            "profile_id": _PROFILE_ID,
            "categories": given.get("categories", []),
            "flow_json": given["flow_json"],
            "flow_json_raw": given.get("flow_json_raw", ""),
        }
        self.table.insert(flow_id, call.grant.account, name, item, self._kept(more), "{}", "DRAFT")
        self._publisher.flow(call.grant.account, record, None)
        return self.replies.data(_brief(record), 201, "Flow created")

    def update(self, call: AllowedCall) -> ServiceAnswer:
        """Change a flow's document."""
        row = self.find(call)
        given = self.update_body.read(call.body)
        record, more = json.loads(row.item), json.loads(row.more)
        # A flow cannot be without a document: replacing keeps it too.
        if self.profile.put == "replace":
            given.setdefault("flow_json_raw", "")
        more |= given
        old = record["wa_status"]
        if self.profile.published_flow_update == "draft":
            record["wa_status"] = "DRAFT"
        self._touch(record)
        kept = self._kept(more)
        self.table.rewrite(row, row.key, dumps(record), kept, row.hidden, record["wa_status"])
        self._publisher.flow(call.grant.account, record, old)
        return self.replies.done("Flow updated", _brief(record))

    def move(self, flow_id: int, account: str, wa_status: str) -> None:
        """Put a flow into a state, as the upstream platform does (section States: not shown).

        Raises:
            KeyError: There is no such flow.
        """
        row = self.table.get(flow_id, account)
        if row is None or not row.active:
            raise KeyError(flow_id)
        before = json.loads(row.item)
        record = before | {"wa_status": wa_status}
        self.table.rewrite(row, row.key, dumps(record), row.more, row.hidden, wa_status)
        self._publisher.flow(account, record, before["wa_status"])

    def insert_copy(self, account: str, record: Mapping[str, Any]) -> None:
        """Store a flow of another account as it is, under its id; the newest ids last."""
        flow_id, given = self._copied_id(record), dict(record)
        document, raw = given.pop("flow_json", None), given.pop("flow_json_raw", None)
        found = _document(document) or _document(raw)
        more = {
            "profile_id": given.pop("profile_id", _PROFILE_ID),
            "categories": given.pop("categories", None) or [],
            "flow_json": found or {},
            "flow_json_raw": raw or "",
        }
        item: dict[str, Any] = {
            "id": self._shown_id(flow_id),
            "name": "",
            "wa_flow_id": upstream_id(flow_id, "8140"),
            "wa_status": "DRAFT",
            "template_name": "default",
            "updated_at": given.get("updated_at") or self.clock.stamp(),
        }
        item |= {name: value for name, value in given.items() if name != "id"}
        texts = dumps(item), self._kept(more), "{}", str(item["wa_status"])
        self.table.insert(flow_id, account, item["name"], *texts)

    def _whole(self, row: StoredRecord) -> bytes:
        """A flow with its document."""
        if self.quirks.isdisjoint({"text_flow_json", "raw_flow_json"}):
            return row.shown.encode()
        record = json.loads(row.shown)
        text = "text_flow_json" in self.quirks
        record["flow_json"] = dumps(record["flow_json"]) if text else None
        return dumps(record).encode()

    def _kept(self, more: dict[str, Any]) -> str:
        """What is stored of a flow beside its list item."""
        if "raw_flow_json" in self.quirks:  # whatever was sent in it
            more["flow_json_raw"] = dumps(more["flow_json"])
        return dumps(more)

    def _may_delete(self, row: StoredRecord) -> None:
        if json.loads(row.item)["wa_status"] == "PUBLISHED":  # error 139004 upstream
            raise RefusedRequest("clash", "A published flow cannot be deleted")


def _brief(record: dict[str, Any]) -> bytes:
    """What a flow is answered with where its document is not shown."""
    return dumps(record | {"profile_id": _PROFILE_ID}).encode()


def _document(shown: Any) -> dict[str, Any] | None:
    """A flow document, from the form in which a service shows it; None when it shows none."""
    if isinstance(shown, str):
        try:
            shown = json.loads(shown)
        except ValueError:
            return None
    return shown if isinstance(shown, dict) and "screens" in shown else None
