"""Flows: interactive forms of the upstream platform (sections Flow, Flows, States)."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, Field

from chatkit.sandbox.interface import (
    RefusedRequest,
    ServiceAnswer,
    dumps,
    make_operations,
    parse_query,
)
from chatkit.sandbox.resource import AllowedCall, Fields, ResourceHandler, Time, make_upstream_id
from chatkit.sandbox.store import StoredRecord

if TYPE_CHECKING:
    from chatkit.sandbox.service import Service

# The business application's own number for the sender; the document shows the field only.
_PROFILE_ID = 1


class FlowDocument(Fields):
    """The flow document."""

    model_config = ConfigDict(extra="allow")

    version: str
    screens: list[Any]


_NO_DOCUMENT = FlowDocument(version="", screens=[])


class FlowChange(Fields):
    """The fields of a flow that can be changed."""

    flow_json: FlowDocument = _NO_DOCUMENT
    flow_json_raw: str = ""


class NewFlow(FlowChange):
    """The fields that a flow is created with."""

    name: str = ""
    template_name: str = ""
    categories: list[str] = Field([])


class FlowItem(Fields):
    """A flow in lists."""

    id: int
    name: str = ""
    wa_flow_id: str
    wa_status: str = "DRAFT"
    template_name: str = "default"
    updated_at: Time


class FlowBrief(FlowItem):
    """A flow without its document."""

    profile_id: int = _PROFILE_ID


class FlowRecord(FlowBrief):
    """A flow with its document."""

    categories: list[str] = Field([])
    flow_json: FlowDocument | str | None = None
    flow_json_raw: str = ""


class FlowsHandler(ResourceHandler):
    """The flows of an account. A broken document is kept as a draft, with what is wrong in it."""

    name = "flows"
    noun = "Flow"
    operations = make_operations("/flows", "id", "Chat Flows")
    natural_key = "name"
    first_id = 301
    columns = ("wa_status",)
    filter_point = "status_param"
    fields, required = NewFlow, ("name", "template_name", "flow_json")
    changed_fields, required_in_update = FlowChange, ("flow_json",)
    item, stored = FlowItem, FlowRecord
    created = updated = FlowBrief
    details = ("profile_id", "categories", "flow_json", "flow_json_raw")
    clashes = ("create", "delete")

    def __init__(self, service: "Service") -> None:
        super().__init__(service)
        self.record = FlowRecord if self.profile.flow_json_in_get else FlowBrief

    def list(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with a page of flows, all or those of one status."""
        query = parse_query(call.query)
        status = self._read_filter_value(query)
        ids = self.table.list_ids(call.grant.account)
        if status:
            ids = self.table.select_ids(call.grant.account, "wa_status = ?", (status,))
        return self._build_page(ids, query)

    def get(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with one flow, with its document if the profile says so."""
        row = self.find_active_record(call)
        return self.replies.build_success(
            self._encode_flow(row)
            if self.profile.flow_json_in_get
            else _encode_brief_flow(self._load_record(row))
        )

    def create(self, call: AllowedCall) -> ServiceAnswer:
        """Create a flow as a draft, whatever is wrong with its document."""
        fields = self.create_body.validate(call.body)
        if self.profile.duplicate_flow_name == "refuse":
            self._check_free(call.grant.account, fields["name"], "A flow has this name")
        flow_id = self.table.next_id()
        record = self._new_record(flow_id, self.clock.stamp()) | fields
        self._insert(call.grant.account, flow_id, record)
        self.publisher.publish_flow(call.grant.account, record, None)
        return self.replies.build_success(_encode_brief_flow(record), 201, "Flow created")

    def update(self, call: AllowedCall) -> ServiceAnswer:
        """Change a flow's document."""
        row = self.find_active_record(call)
        fields = self.update_body.validate(call.body)
        # A flow cannot be without a document: replacing keeps it too.
        if self.profile.put == "replace":
            fields.setdefault("flow_json_raw", "")
        before = self._load_record(row)
        record = before | fields
        if self.profile.published_flow_update == "draft":
            record["wa_status"] = "DRAFT"
        self._set_update_time(record)
        self._rewrite(row, record)
        self.publisher.publish_flow(call.grant.account, record, before["wa_status"])
        return self.replies.build_confirmation("Flow updated", _encode_brief_flow(record))

    def set_status(self, flow_id: int, account: str, wa_status: str) -> None:
        """Set the state of a flow, as the upstream platform does (section States: not shown).

        Raises:
            KeyError: There is no such flow.
        """
        row = self.table.find_active(flow_id, account)
        if row is None:
            raise KeyError(flow_id)
        before = self._load_record(row)
        record = before | {"wa_status": wa_status}
        self._rewrite(row, record)
        self.publisher.publish_flow(account, record, before["wa_status"])

    def insert_copy(self, account: str, record: Mapping[str, Any]) -> None:
        """Store a flow of another account under its id; call it in the order of ids."""
        flow_id = self._choose_copied_id(record)
        document, raw = record.get("flow_json"), record.get("flow_json_raw")
        new = self._new_record(flow_id, record.get("updated_at") or self.clock.stamp())
        new |= {name: value for name, value in record.items() if name != "id"} | {
            "categories": record.get("categories") or [],
            "flow_json": _parse_document(document) or _parse_document(raw) or {},
            "flow_json_raw": raw or "",
        }
        self._insert(account, flow_id, new)

    def _new_record(self, flow_id: int, updated_at: str) -> dict[str, Any]:
        """Make a new flow with all fields, as a draft."""
        wa_flow_id = make_upstream_id(flow_id, "8140")
        return self._make_record(flow_id, wa_flow_id=wa_flow_id, updated_at=updated_at)

    def _collect_column_values(self, record: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the values of the stored columns of a flow."""
        if "raw_flow_json" in self.quirks:  # whatever was sent in it
            record = {**record, "flow_json_raw": dumps(record["flow_json"])}
        return super()._collect_column_values(record)

    def _encode_flow(self, row: StoredRecord) -> bytes:
        """Encode a flow with its document as JSON."""
        if self.quirks.isdisjoint({"text_flow_json", "raw_flow_json"}):
            return row.full_text.encode()
        record = json.loads(row.full_text)
        text = "text_flow_json" in self.quirks
        record["flow_json"] = dumps(record["flow_json"]) if text else None
        return dumps(record).encode()

    def _check_deletable(self, row: StoredRecord) -> None:
        """Refuse to delete a published flow."""
        if json.loads(row.item)["wa_status"] == "PUBLISHED":  # error 139004 upstream
            raise RefusedRequest("clash", "A published flow cannot be deleted")


def _encode_brief_flow(record: dict[str, Any]) -> bytes:
    """Encode a flow without its document as JSON."""
    documents = ("categories", "flow_json", "flow_json_raw")
    return dumps({n: v for n, v in record.items() if n not in documents}).encode()


def _parse_document(written: Any) -> dict[str, Any] | None:
    """Return a flow document, parsed if it is JSON text; None if it is none."""
    if isinstance(written, str):
        try:
            written = json.loads(written)
        except ValueError:
            return None
    return written if isinstance(written, dict) and "screens" in written else None
