"""Flows: interactive form documents of the upstream platform (API document, Flow)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from chatkit.endpoints import Undo
from chatkit.errors import InputError, Problem
from chatkit.record import Body, Id, Record
from chatkit.resource import Resource

if TYPE_CHECKING:
    import pandas as pd


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
    flow_json: dict[str, Any] | None = None


def _document(value: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value.get("version"), str):
        raise ValueError("needs a version, as text: {'version': '7.3', …}")
    if not isinstance(value.get("screens"), list):
        raise ValueError("needs screens, a list")
    return value


class FlowBody(Body):
    """What may be sent of a flow. Its name and template are fixed once it exists."""

    create_only = frozenset({"name", "template_name", "categories"})

    name: str = Field(description="The name of the flow.")
    template_name: str = Field(description="The template, usually 'default'.")
    flow_json: Annotated[dict[str, Any], AfterValidator(_document)] = Field(
        description="The flow document: an object with version (text) and screens (list)."
    )
    categories: list[str] = Field([], description="Categories of the upstream platform.")
    flow_json_raw: str = Field("", description="Not described by the API document; optional.")


class Flows(Resource[Flow]):
    """The flows of the account. A new flow is a DRAFT, also on the upstream platform."""

    path = ("flows",)
    noun = "flow"
    record = Flow
    body = FlowBody
    natural_key = ("name",)
    weighed = ("wa_status",)
    instead: ClassVar[Mapping[str, str]] = {
        "wa_status": "publish or deprecate it in the business application"
    }

    def frame(self, *, status: str | None = None, full: bool = False) -> pd.DataFrame:
        """Read the flows into a DataFrame, one row each, indexed by id.

        Args:
            status: Only those in this state, like 'DRAFT'.
            full: Read each flow on its own as well, for `flow_json`.

        Raises:
            BadAnswer: The list is not as documented.
        """
        if status is None:
            return self._frame(full=full)
        if self.profile.status_param is None:
            raise InputError(
                "This list cannot be filtered:",
                [Problem("status", repr(status), "the profile has no status_param")],
            )
        return self._frame({self.profile.status_param: status}, full=full)

    def _shown(self) -> list[str]:
        """Leave the document out where this service does not show it."""
        hidden = set() if self.profile.flow_json_in_get else {"flow_json"}
        return [name for name in super()._shown() if name not in hidden]

    def undo(self, kind: str, known: Mapping[str, Any], after: Mapping[str, Any]) -> Undo:
        """Tell that a deleted flow never comes back, and what publishing has to do with it."""
        if kind == "delete":
            return "never", "a flow made again is another flow: new id, new wa_flow_id, DRAFT"
        if kind == "create":
            return "exactly", ""
        unread = [name for name in after if name not in known]
        if unread and (unread != ["flow_json_raw"] or len(after) == 1):
            return super().undo(kind, known, after)
        status = known.get("wa_status") or "DRAFT"
        if status != "DRAFT" and self.profile.published_flow_update == "draft":
            return "with loss", f"it is {status}, and an update makes it a DRAFT"
        if unread:
            return "with loss", "the service does not show flow_json_raw"
        return "exactly", ""
