"""Flows: interactive form documents of the upstream platform (API document, Flow)."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from chatkit.api.record import Body, Document, Id, Record, parse_document
from chatkit.bulk.changes import Change
from chatkit.bulk.endpoints import Endpoints, Key, ReadFull, Undo
from chatkit.errors import CallError, InputError, Refused
from chatkit.resource import Resource
from chatkit.util.display import cut, many

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.frames.frame import Kind
    from chatkit.report import Finding


class Flow(Record):
    """A form definition: its state, and its document in `flow_json` where `get` shows it."""

    listed: ClassVar[tuple[str, ...]] = (
        "id", "name", "wa_flow_id", "wa_status", "template_name", "updated_at",
    )  # fmt: skip

    id: Id
    name: str | None = None
    wa_flow_id: str | None = None
    wa_status: str | None = None
    template_name: str | None = None
    updated_at: datetime | None = None
    profile_id: int | None = None
    flow_json: Document | None = None

    @model_validator(mode="before")
    @classmethod
    def _fill_flow_json(cls, flow: Any) -> Any:
        """Take the document from flow_json_raw where a service shows it nowhere else."""
        if not isinstance(flow, dict) or flow.get("flow_json"):
            return flow
        inner = parse_raw_document(flow.get("flow_json_raw"))
        if inner is None:
            return flow
        return {n: v for n, v in flow.items() if n != "flow_json_raw"} | {"flow_json": inner}

    def __repr__(self) -> str:
        """Show the flow in five lines, its document by its screens."""
        document = parse_raw_document(self.flow_json)
        screens = "not shown here: read it with get"
        if document:
            ids = [str(each.get("id")) for each in document["screens"] if isinstance(each, dict)]
            screens = f"version {document['version']}, {many(len(ids), 'screen')}: {', '.join(ids)}"
        draft = "DRAFT; publish it in the business application"
        lines = {
            "wa_status": draft if self.wa_status == "DRAFT" else self.wa_status or "not shown",
            "wa_flow_id": self.wa_flow_id or "none",
            "updated_at": f"{self.updated_at:%Y-%m-%d %H:%M}" if self.updated_at else "not shown",
            "flow_json": screens,
        }
        rows = [f"  {name:<12}{cut(value, 80)}" for name, value in lines.items()]
        return "\n".join([f"Flow {self.id}: {cut(self.name or '(without name)', 60)}", *rows])

    __str__ = __repr__


def parse_raw_document(raw: Any) -> dict[str, Any] | None:
    """Parse the flow document in a raw value; None if it is none."""
    value = parse_document(raw)
    if isinstance(value, dict) and "version" in value and isinstance(value.get("screens"), list):
        return value
    return None


def _read_document(value: Any) -> Any:
    """Read a document that is a built flow, a dict, JSON text or a file."""
    write = getattr(value, "to_json", None)
    if callable(write):
        return write()
    if not isinstance(value, str | PathLike):
        if not isinstance(value, Mapping):
            raise ValueError("must be a dict, JSON text, or the path of a .json file")
        return value
    from chatkit.flowjson.document import read_document

    try:
        return read_document(value)
    except InputError as error:
        raise ValueError(str(error).rstrip(".")) from None


def _validate_document(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse a document without a version or without screens."""
    if not isinstance(value.get("version"), str):
        raise ValueError("needs a version, as text: {'version': '7.3', …}")
    if not isinstance(value.get("screens"), list):
        raise ValueError("needs screens, a list")
    return value


_FlowDocument = Annotated[
    dict[str, Any], BeforeValidator(_read_document), AfterValidator(_validate_document)
]


class FlowBody(Body):
    """The fields that may be sent of a flow; name and template are fixed once it exists."""

    create_only = frozenset({"name", "template_name", "categories"})

    name: str = Field(description="The name of the flow.")
    template_name: str = Field(description="The template, usually 'default'.")
    flow_json: _FlowDocument = Field(
        description="The flow document: a dict with version (text) and screens (list), its "
        "JSON text, or the path of a .json file."
    )
    categories: list[str] = Field([], description="Categories of the upstream platform.")
    flow_json_raw: str = Field("", description="Not described by the API document; optional.")


def _comparable_name(name: str) -> str:
    """Return a name without capitals and repeated spaces, as people compare it."""
    return " ".join(name.split()).casefold()


def _find_same_names(
    names: Mapping[int, str], live: Iterable[tuple[Any, str | None]]
) -> dict[int, Sequence[Finding]]:
    """Find new flows, by position, with the name of another new one, or of one by id."""
    from chatkit.report import Finding

    new = {n: _comparable_name(name) for n, name in names.items()}
    known = {_comparable_name(name): key for key, name in live if isinstance(name, str)}
    count = Counter(new.values())
    hint = "Give each flow a name of its own, or leave one of them out."
    return {
        n: [Finding("same name", "warning", "/name", f"{other} has this name, too", hint)]
        for n, name in new.items()
        if (other := f"flow {known[name]}" if name in known else "another new flow")
        and (name in known or count[name] > 1)
    }


_CHECK_COLUMNS: dict[str, Kind] = {
    "id": "number", "name": "text", "wa_status": "text", "readable": "flag",
    "errors": "number", "warnings": "number", "finding": "text",
}  # fmt: skip


class FlowEndpoints(Endpoints[Flow]):
    """The calls of flows, and their peculiarities."""

    path = ("flows",)
    noun, attribute = "flow", "flows"
    record = Flow
    body = FlowBody
    natural_key = account_key = ("name",)
    file = "flows/*.json"
    always = hidden = frozenset({"template_name", "flow_json"})
    repeated = frozenset({"flow_json_raw"})
    file_defaults: ClassVar[Mapping[str, Any]] = {"template_name": "default"}
    defaults: ClassVar[Mapping[str, Any]] = {"template_name": "default"}
    documents = frozenset({"flow_json"})
    labels: ClassVar[Mapping[str, str]] = {
        "wa_flow_id": "Platform ID",
        "wa_status": "Status",
        "template_name": "Template",
        "flow_json": "Flow document",
        "flow_json_raw": "Raw document",
    }
    refuses = "The platform refuses to publish documents with errors."
    lossy_fields = ("wa_status",)
    instead: ClassVar[Mapping[str, str]] = {
        "wa_status": "publish or deprecate it in the business application"
    }

    def next_step(self, error: Refused, key: Key | None, body: Mapping[str, Any]) -> str:
        """Return the next step for a published flow, which this API can only refuse to delete."""
        clash = error.status in (409, self.profile.clash_status)
        if clash and error.call.method == "DELETE":
            return (
                "The API cannot deprecate a flow: do it in the business "
                "application, then it takes no new answers. Only drafts can be deleted."
            )
        if clash and error.call.method == "POST":
            return (
                f"A flow has the name {body.get('name')!r:.60}: take another name, or change that "
                "flow with client.flows.update(id, flow_json=…)."
            )
        return super().next_step(error, key, body)

    @property
    def detailed(self) -> bool:  # type: ignore[override]
        """Return whether the service shows the document of a flow that is read alone."""
        return self.profile.flow_json_in_get

    def make_account_notes(self, frame: pd.DataFrame) -> list[str]:
        """Count the flows whose document the service does not show."""
        hidden = len(frame) - (int(frame["flow_json"].notna().sum()) if "flow_json" in frame else 0)
        return [f"The service does not show the document of {many(hidden, 'flow')}."] * bool(hidden)

    @classmethod
    def find_file_fault(cls, fields: Mapping[str, Any]) -> tuple[str, str] | None:
        """Refuse a flow document passed in place of a flow record."""
        if "screens" in fields and "flow_json" not in fields:
            step = 'put it under "flow_json", beside "name"'
            return "/screens", f"is a flow document and no flow: {step}"
        if not isinstance(fields.get("flow_json", {}), dict):
            return "/flow_json", "flow_json must be an object: write { … }"
        return None

    @classmethod
    def make_created_note(cls, count: int) -> str:
        """Note that a new flow is another one on the upstream platform, and a draft."""
        each = "It gets a new id and a new wa_flow_id, and is a DRAFT"
        if count > 1:
            each = "They get new ids and new wa_flow_ids, and are DRAFT"
        return f"{many(count, 'flow')} created. {each}: publish in the business application."

    @property
    def single(self) -> bool:
        """Return whether the service refuses a second flow of one name."""
        return self.profile.duplicate_flow_name == "refuse"

    def findings(self, name: str, value: Any) -> Sequence[Finding]:
        """Check a flow document, as the platform does when it is published."""
        from chatkit.flowjson.lint import lint

        return lint(value)

    def check_changes(
        self, changes: Sequence[Change], base: pd.DataFrame, full: ReadFull
    ) -> Mapping[int, Sequence[Finding]]:
        """Warn of new flows with the name of another one; capitals and spaces do not count."""
        created = {n: change.after for n, change in enumerate(changes) if change.kind == "create"}
        names = {n: fields["name"] for n, fields in created.items()}
        deleted = [change.key for change in changes if change.kind == "delete"]
        return _find_same_names(names, base["name"].drop(deleted).items())

    def _normalize(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Take documents from flow_json_raw where the service shows them nowhere else."""
        if "flow_json_raw" not in frame:
            return frame
        texts = frame["flow_json_raw"].copy()
        documents = frame["flow_json"].copy() if "flow_json" in frame else texts.map({})
        documents = documents.astype(object)
        taken = False
        for place, text in enumerate(texts.tolist()):
            inner = None if documents.iat[place] else parse_raw_document(text)
            if inner is not None:
                documents.iat[place], texts.iat[place] = cast(Any, inner), None
                taken = True
        if not taken:
            return frame
        frame = frame.assign(flow_json=documents, flow_json_raw=texts)
        return frame.drop(columns="flow_json_raw") if texts.isna().all() else frame

    def _full_fields(self) -> list[str]:
        """Leave the document out where this service does not show it."""
        hidden = set() if self.profile.flow_json_in_get else {"flow_json"}
        return [name for name in super()._full_fields() if name not in hidden]

    def undo(self, kind: str, known: Mapping[str, Any], after: Mapping[str, Any]) -> Undo:
        """Return how well a change can be undone: never a deletion, exactly that of a draft."""
        if kind == "delete":
            return "never", "if created again, it is another flow: new id, new wa_flow_id, DRAFT"
        if kind == "create":
            return "exactly", ""
        unread = [name for name in after if name not in known]
        if unread and (unread != ["flow_json_raw"] or len(after) == 1):
            return super().undo(kind, known, after)
        status = known.get("wa_status") or "DRAFT"
        if status != "DRAFT" and self.profile.published_flow_update == "draft":
            return "not exactly", f"it is {status}, and an update makes it a DRAFT"
        if unread:
            return "not exactly", "the service does not show flow_json_raw"
        return "exactly", ""


#: Methods that people expect but the API does not offer, and what to do instead.
_NOT_IN_API = {
    **dict.fromkeys(
        ("publish", "unpublish", "deprecate"),
        "the API cannot publish or deprecate. Do it in the business application; "
        "client.flows.frame().wa_status shows the state.",
    ),
    **dict.fromkeys(
        ("send", "send_message"), "the API sends no messages. Do it in the business application."
    ),
    "rename": "the API cannot rename a flow. client.flows.create(name=…, template_name=…, "
    "flow_json=client.flows.get(id).flow_json) makes one of that name.",
    "preview": "chatkit.Player(client.flows.get(id).flow_json) shows a flow as a customer sees it.",
    "list": "client.flows.frame() lists the flows.",
}


class Flows(Resource[Flow], endpoints=FlowEndpoints):
    """The flows of the account. A new flow is a DRAFT, also on the upstream platform.

    Each document is checked before it is sent, as the platform will when it is published:
    errors stop it, unless you pass `broken=True`; warnings are shown.

    Publishing, step by step: `create` makes a DRAFT, which no customer sees. `check_all` shows
    that its document has no errors. In the business application open the flow (by its name, or its
    `wa_flow_id`), try it, and choose Publish; `frame().wa_status` is PUBLISHED then. An update may
    make it a DRAFT again, to be published once more. Deprecate there what shall take no new
    answers: a published flow cannot be deleted.

    What the API cannot do: publish, deprecate or send a flow, rename one, or bring a deleted
    one back.

    >>> with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
    ...     flows = client.flows.frame(status="DRAFT")
    ...     len(flows)
    Connected to the sandbox: the whole service, in this process. Nothing leaves it.
    4
    """

    if not TYPE_CHECKING:  # for a type checker a missing method stays a mistake

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError with an explanation for operations that the API lacks."""
            if name in _NOT_IN_API:
                raise AttributeError(f"client.flows has no {name}: {_NOT_IN_API[name]}")
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)

    def _check_against_others(self, fields: Mapping[str, Any]) -> Sequence[Finding]:
        """Warn of another flow with the name of a new one, as far as the first page shows it."""
        endpoints = self._endpoints
        if "name" not in fields or endpoints.single:
            return []
        call = endpoints.list_call()
        with suppress(CallError):
            flows = endpoints.parse_records(call, endpoints.transport.send(call).data)
            live = ((flow.id, flow.name) for flow in flows)
            return _find_same_names({0: fields["name"]}, live).get(0, [])
        return []

    def frame(self, *, status: str | None = None, full: bool = False) -> pd.DataFrame:
        """Read the flows into a DataFrame, one row each, indexed by id.

        Args:
            status: Only those in this state, like 'DRAFT'.
            full: Read each flow on its own as well, for `flow_json`.

        Raises:
            BadAnswer: The list is not as documented.
        """
        filters = self._endpoints.filter("status", status, "filtered")
        frame = self._frame(filters, full=full)
        if status is not None and frame.empty:
            states = sorted(set(self._endpoints.base(None).frame["wa_status"].dropna()))
            hint = f"the states of this account are {', '.join(states) or 'none'}."
            warnings.warn(f"No flow is in the state {status!r}; {hint}", stacklevel=2)
        return frame

    def check_all(self) -> pd.DataFrame:
        """Check the document of each flow, as the platform does when it is published.

        Returns:
            A row for each flow, indexed by id: `name`, `wa_status`, `readable` (whether the
            service shows its document), how many `errors` and `warnings` it has, and the
            `finding` that comes first. `chatkit.flowjson.lint(document)` tells them all.
        """
        from chatkit.flowjson.lint import lint
        from chatkit.frames.frame import Columns, records
        from chatkit.report import format_finding

        frame = self.frame(full=self._endpoints.profile.flow_json_in_get)
        rows = []
        for key, fields in zip(frame.index, records(frame, range(len(frame))), strict=True):
            row: dict[str, Any] = {"id": int(key), "name": fields["name"]}
            row |= {"wa_status": fields["wa_status"], "readable": False, "errors": None}
            row |= {"warnings": None, "finding": "the service does not show its document"}
            if isinstance(document := fields.get("flow_json"), dict):
                findings = lint(document)
                wrong = findings.errors
                row |= {"readable": True, "errors": len(wrong), "warnings": len(findings.warnings)}
                row["finding"] = format_finding((wrong or findings)[0]) if findings else None
            rows.append(row)
        columns = Columns(_CHECK_COLUMNS)
        columns.add(json.dumps(rows).encode())
        return columns.frame("id")
