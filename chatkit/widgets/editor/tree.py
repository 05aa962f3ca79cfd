"""Tree: the screens of a flow and all that stands in them, walked with mouse or keyboard."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

import anywidget
import traitlets

from chatkit.errors import ChatkitError
from chatkit.widgets import packed
from chatkit.widgets.editor.branches import Branch


class Tree(anywidget.AnyWidget):
    """Rows that unfold; one of them is selected, and can be moved, copied, removed, added to.

    Args:
        act: What a wish of the page calls: `act("move", by=1)`, `act("add", type="TextBody")`.
    """

    _esm = packed.module(["editor/tree.js"])
    _css = packed.joined(["editor/tree.css"])

    rows: traitlets.List[Any] = traitlets.List().tag(sync=True)
    #: What can be added at the selected row: groups of names, with a help for each.
    offers: traitlets.List[Any] = traitlets.List().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    #: How many choices of the page were heard.
    answered = traitlets.Int(0).tag(sync=True)
    #: The screen of the selected row: the preview follows it.
    screen = traitlets.Unicode("").tag(sync=True)
    movable = traitlets.Bool(False).tag(sync=True)
    locked = traitlets.Bool(False).tag(sync=True)

    def __init__(self, act: Callable[..., object]) -> None:
        self._act = act
        super().__init__()
        self.on_msg(self._heard)

    def __repr__(self) -> str:
        return f"<tree: {len(self.rows)} rows>"

    def show(
        self, rows: Iterable[Branch], selected: Branch, screen: str, offers: list[Any], locked: bool
    ) -> None:
        """Show these rows, and which of them is selected."""
        with self.hold_sync():
            self.rows = [row.row() for row in rows]
            self.selected, self.movable = selected.pointer, selected.movable
            self.offers, self.locked, self.screen = offers, locked, screen

    def _heard(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"do": "select", "pointer": str(pointer), "n": int(n)}:
                self._try("select", pointer)
                self.answered = n
            case {"do": "remove" | "duplicate" as what, "pointer": str(pointer)}:
                self._try(what, pointer)
            case {"do": "undo" | "redo" as what}:
                self._try(what)
            case {"do": "move", "pointer": str(pointer), "by": int(by)}:
                self._try("move", pointer, by)
            case {"do": "add", "pointer": str(pointer), "what": str(kind)}:
                self._try("add", pointer, kind)

    def _try(self, what: str, *arguments: Any) -> None:
        try:
            self._act(what, *arguments)
        except ChatkitError:
            logging.getLogger(__name__).info("the tree could not %s", what, exc_info=True)
