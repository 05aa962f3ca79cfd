"""Player: a flow on a phone in the notebook, used as a customer would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import traitlets

from chatkit.errors import InputError, safe_repr
from chatkit.flowjson import parse
from chatkit.flowjson.document import read_source
from chatkit.frames.frame import make_json_frame
from chatkit.util.display import cut, escaped, many
from chatkit.widgets.controls import Exported, Model, join_styles, pack_module

if TYPE_CHECKING:
    import pandas as pd


#: Each needs only those before it.
SCRIPTS = [
    "keys.js",
    *(
        f"player/{name}.js"
        for name in (
            *("dom", "expression", "markdown", "run", "check"),
            *("input", "calendar", "choice", "view", "panel", "player"),
        )
    ),
]


class Player(Exported, Model):
    """A flow on a phone: filled in, checked and sent as a customer would, but nothing leaves.

    Where the endpoint of the flow would decide, the player goes on to the next screen of the
    routing model. Screens have the examples of their data models as data.

    A document that is broken shows what is wrong with it in place of the screens.

    After `player = Player("flow.json")` and a walk to the end, `player.answers` holds what the
    flow sent. What was left empty is sent as "" or [], a reference to nothing as None.

    Args:
        document: A flow document: a value, JSON text, a file, a built Flow, or a flow that
            `client.flows.get(id)` gave.

    >>> chatkit.Player(client.flows.get(301))
    Player of 3 screens: SERVICE, DAY, CONFIRM.
    """

    _esm = pack_module(SCRIPTS)
    _css = join_styles("player/player.css")

    #: The document as JSON text.
    source = traitlets.Unicode("null").tag(sync=True)
    #: Why the document cannot be played; empty if it can.
    problem = traitlets.Unicode().tag(sync=True)
    #: The screen, action, payload and next screen of each step.
    steps: traitlets.List[Any] = traitlets.List().tag(sync=True)
    #: The answers that the flow sent at its end, by name; None until then.
    answers: traitlets.Dict[Any, Any] = traitlets.Dict(default_value=None, allow_none=True).tag(
        sync=True
    )

    def __init__(self, document: object) -> None:
        self._flow: Any = None
        super().__init__()
        self.document = document

    @property
    def document(self) -> Any:
        """The flow document. Another one is played from the screen that is shown, if it has it."""
        return self._flow

    @document.setter
    def document(self, document: object) -> None:
        self._flow = None
        source, problem = "null", ""
        try:
            parsed = read_source(document)
            if parsed.fault:
                raise InputError(parsed.describe_fault())
            source = _dump_json(parsed.value)
            self._flow = parsed.value
        except ValueError as error:  # an InputError, or what a built flow raises
            problem = str(error)
        with self.hold_trait_notifications(), self.hold_sync():
            self.source, self.problem = source, problem

    def frame(self) -> pd.DataFrame:
        """Return the answers as a frame of one row, a column each; without answers no row."""
        rows = [] if self.answers is None else [json.loads(_dump_json(self.answers))]
        return make_json_frame(rows)

    # --- text and plain HTML ------------------------------------------------------------

    @safe_repr
    def __repr__(self) -> str:
        if self.problem:
            return cut(f"Player: {' '.join(self.problem.split())}", 160)
        flow_screens = list_screens(self._flow)
        ids = ", ".join(str(screen.get("id")) for screen in flow_screens)
        about = cut(f"Player of {many(len(flow_screens), 'screen')}: {ids}", 120)
        if self.answers is None:
            return f"{about}."
        return f"{about}; {many(len(self.answers), 'answer')} sent."

    def _make_saved_page(self) -> str:
        return f"<p>{escaped(repr(self))}</p>" + draw_screens(self._flow)


def _dump_json(value: Any) -> str:
    """Write JSON that a page can read: without NaN and lone surrogates.

    Raises:
        InputError: The value cannot be written so.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"This cannot be written as JSON: {error}") from None
    return text.encode("utf-8", "replace").decode()


# --- the screens as plain HTML -------------------------------------------------------------


def list_screens(document: Any) -> list[Mapping[str, Any]]:
    """Return the screens of a document of any shape."""
    listed = document.get("screens") if isinstance(document, Mapping) else None
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []


def draw_screens(document: Any) -> str:
    """Write the screens of a document of any shape as an HTML list; empty without a document."""
    if isinstance(document, dict):  # a text could be the name of a file
        with suppress(InputError):  # it is nested too deeply
            return parse(document)._repr_html_()
    return ""
