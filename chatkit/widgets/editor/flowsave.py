"""FlowSave: how an edited flow document comes back to its account: as a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chatkit.errors import InputError, Problem
from chatkit.widgets.plan.planrows import LANDED
from chatkit.widgets.plan.planview import PlanView

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.draft import Existing
    from chatkit.bulk.plan import Plan
    from chatkit.endpoints import Key
    from chatkit.flows import Flows


class FlowSave:
    """The flow of an account that an editor works on, or will make.

    What the flow was when it was opened is kept: if somebody changes it meanwhile, the plan
    says so and writes over nothing.

    Args:
        room: The flows of a client.
        flow: The id of a flow; without it the first plan makes one.

    Raises:
        NotFound: There is none with that id.
    """

    def __init__(self, room: Flows, flow: Key | None = None) -> None:
        self.room = room
        self.flow = flow
        self.document: Any = None
        self.name = ""
        if flow is not None:
            self._open(flow)

    def plan(self, document: Any, name: str = "", *, broken: bool = False) -> Plan:
        """Plan to update the flow, or to make one of this name. Nothing is sent before `apply()`.

        Raises:
            InputError: A new flow has no name, or the document is no object.
        """
        if not isinstance(document, dict):
            raise InputError("A flow document is an object, with version and screens.")
        existing: Existing = "update"
        if self.flow is None:
            if not name.strip():
                problem = Problem("name", "", "give one; it cannot be changed")
                raise InputError("A new flow needs a name:", [problem])
            existing = "refuse"  # another flow of that name is not what was opened
            frame = type(self.room.frame())(
                {"name": [name], "template_name": ["default"], "flow_json": [document]}
            )
        else:
            frame = self.room.snapshots.keep(
                self._opened.copy(), whole=False, nested=("flow_json",)
            )
            frame["flow_json"] = type(frame["name"])([document], index=frame.index, dtype=object)
        return self.room.plan(frame, existing=existing, broken=broken)

    def landed(self, result: Any) -> bool:
        """Read the flow again once a plan was applied; tell whether it was."""
        if not len(result) or not result["state"].isin(LANDED).all():
            return False
        self._open(int(result["key"].iloc[0]))
        return True

    def _open(self, flow: Key) -> None:
        record = self.room.get(flow)
        self._opened = self.room.full([flow])
        self.flow, self.name, self.document = flow, record.name or "", record.flow_json
        if "flow_json" not in self._opened:  # this service does not show documents
            self._opened["flow_json"] = None

    def __repr__(self) -> str:
        return "<new flow>" if self.flow is None else f"<flow {self.flow}: {self.name}>"


class Saving(PlanView):
    """A plan to be applied, which tells when that was done.

    Args:
        plan: The plan.
        landed: What is called with the result.
    """

    def __init__(self, plan: Plan, landed: Callable[[pd.DataFrame], None]) -> None:
        self._landed = landed
        super().__init__(plan)

    def _finished(self) -> None:
        super()._finished()
        if self.result is not None:
            self._landed(self.result)
