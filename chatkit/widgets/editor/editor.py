"""Editor: a flow document to be edited: its tree, its forms, its source, and a phone beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from chatkit.display import cut, escaped, many
from chatkit.errors import ChatkitError, InputError, steady
from chatkit.flowjson.build.flow import to_code
from chatkit.widgets import packed
from chatkit.widgets.button import Button
from chatkit.widgets.code import Code
from chatkit.widgets.editor import starter
from chatkit.widgets.editor.additions import offers
from chatkit.widgets.editor.branches import owner
from chatkit.widgets.editor.draft import Draft
from chatkit.widgets.editor.editing import Editing
from chatkit.widgets.editor.findinglist import FindingList
from chatkit.widgets.editor.flowsave import FlowSave, Saving
from chatkit.widgets.editor.formedits import FormEdits
from chatkit.widgets.editor.inspector import Inspector
from chatkit.widgets.editor.sourceview import SourceView
from chatkit.widgets.editor.tree import Tree
from chatkit.widgets.message import Message
from chatkit.widgets.plan.planview import PlanView
from chatkit.widgets.player import screens
from chatkit.widgets.player.player import Player

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.endpoints import Key
    from chatkit.flows import Flows

_STYLE = packed.joined(["form.css", "editor/editor.css"])
_FORM, _SOURCE, _PYTHON = range(3)


class Editor(Editing, w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A flow document to be edited, by its tree and forms or in its source.

    Beside it a phone plays the flow as it is now; below stands what the platform would refuse.
    Every step can be taken back. Nothing leaves the notebook: `plan()` shows what would be
    saved, and applying that saves it.

    In a program, `set`, `insert`, `move` and the others do what clicks do.

    Args:
        document: A flow document: a value, JSON text (also a broken one), a file or a built
            Flow; without it the flow of the account, or a new one.
        room: The flows of a client, like `client.flows`, to save it there.
        flow: The id of the flow that is edited; without it saving makes a new one.
    """

    def __init__(
        self, document: object = None, *, room: Flows | None = None, flow: Key | None = None
    ) -> None:
        if flow is not None and room is None:
            raise InputError("The flow of an account needs its room: Editor(room=client.flows, …)")
        self._save = None if room is None else FlowSave(room, flow)
        if document is None:
            document = self._save.document if self._save and flow is not None else starter.flow()
        if document is None:
            raise InputError(f"The service does not show the document of flow {flow}: name one.")
        Editing.__init__(self, Draft(document))
        self._played: Any = None  #: the value that the phone shows
        self._view: PlanView | None = None
        self._build()
        w.VBox.__init__(self, [w.HTML(f"<style>{_STYLE}</style>"), *self._parts()])
        self.add_class("chatkit-editor")
        if self.draft.broken:
            self._tabs.selected_index = _SOURCE
        self._refresh()

    def _build(self) -> None:
        self._title = w.HTML()
        self._undo, self._redo = w.Button(description="Undo"), w.Button(description="Redo")
        self._undo.on_click(lambda _: self._try(self.undo))  # of several clicks each counts
        self._redo.on_click(lambda _: self._try(self.redo))
        self._tree = Tree(self._wished)
        self._inspector = Inspector(FormEdits(self.draft, self._refresh))
        self._source, self._python = SourceView(self._written), Code()
        self._preview, self._code = Player({}), Code()
        self._code.add_class("ce-ran")
        self._findings, self._message = FindingList(self.jump), Message()
        self._tabs = w.Tab(
            [self._inspector, self._source, self._python], titles=["Form", "Source", "Python"]
        )
        self._tabs.observe(lambda _: self._refresh(), names="selected_index")
        self._name = w.Text(description="Name of the new flow", continuous_update=True)
        self._broken = w.Checkbox(description="Save it although it has errors", indent=False)
        self._plan = Button("Save …", lambda: self._try(self._plan_clicked), "primary")
        self._below = w.VBox()

    def _parts(self) -> list[w.Widget]:
        """Lay out: what can be done, then tree, form and phone side by side, then saving."""
        bar = w.HBox([self._title, self._undo, self._redo])
        bar.add_class("ce-bar")
        left = w.VBox([self._tree])
        left.add_class("ce-left")
        middle = w.VBox([self._tabs, self._code, self._message, self._findings])
        middle.add_class("ce-middle")
        right = w.VBox([self._preview])
        right.add_class("ce-right")
        main = w.HBox([left, middle, right])
        main.add_class("ce-main")
        saving = w.HBox([self._name, self._plan, self._broken])
        saving.add_class("ce-saving")
        return [bar, main, *([saving] if self._save else []), self._below]

    @steady
    def __repr__(self) -> str:
        ids = [row.name for row in self._rows if row.kind == "screen"]
        names = f": {', '.join(ids)}" if ids else ""
        about = cut(f"Editor of {many(len(ids), 'screen')}{names}", 120)
        return f"{about}; {self.draft.findings.summary().lower()}."

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Show the editor where it is live; where it is not, its screens and findings to read."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        about = f"<p>{escaped(repr(self))}</p>"
        found = self.draft.findings
        html = about + screens.html(self.document) + (found._repr_html_() if found else "")
        return {**bundle, "text/plain": repr(self), "text/html": html}

    # --- what it holds --------------------------------------------------------------

    @property
    def message(self) -> str:
        """What it says of the last thing that could not be done."""
        return self._message.text

    # --- what can be done -------------------------------------------------------------

    def select(self, pointer: str) -> None:
        """Select what stands at a place, or what is around it."""
        super().select(pointer)
        self._message.say("")
        if self._tabs.selected_index == _SOURCE and not self.draft.broken:
            self._source.go(*self.draft.find_line(self._selected), focus=False)

    def jump(self, n: int) -> None:
        """Go to the place of the nth finding: its line, or the field of its form."""
        each = self.draft.findings[n]
        if self.draft.broken:
            self._tabs.selected_index = _SOURCE
        else:
            self.select(each.pointer)
        if self._tabs.selected_index == _SOURCE:
            self._source.go(each.line or 1, each.column or 1)
        else:
            self._tabs.selected_index = _FORM
            self._inspector.focus(each.pointer)

    def plan(self, name: str = "", *, broken: bool = False) -> Plan:
        """Plan to save it: an update of the flow, or a create of one of this name.

        It is shown below, to be applied there or by `plan.apply()`.

        Args:
            name: How a new flow is called.
            broken: Save it although the platform would refuse to publish it.

        Raises:
            InputError: There is no account to save to, a new flow has no name, or the source
                is no JSON.
        """
        if self._save is None:
            raise InputError("It has no account: Editor(document, room=client.flows) saves it.")
        if self.draft.broken:
            raise InputError("The source is no JSON: mend it, or undo it.")
        plan = self._save.plan(self.document, name or self._name.value, broken=broken)
        self._view = Saving(plan, self._landed)
        self._below.children = [self._view]
        self._message.say("")
        return plan

    # --- what is heard ------------------------------------------------------------------

    def _wished(self, what: str, *arguments: Any) -> None:
        """Do what the tree asks for."""
        if what == "add":
            self._selected = owner(arguments[0], self._pointers())
            self._try(self.add, arguments[1])
        else:
            self._try(getattr(self, what), *arguments)

    def _try(self, act: Callable[..., object], *arguments: Any) -> None:
        """Do something, and say why it cannot be done."""
        try:
            self._message.say("")
            act(*arguments)
        except ChatkitError as error:
            self._message.say(str(error), wrong=True)

    def _written(self, text: str) -> None:
        self.draft.write(text)
        self._refresh()

    def _plan_clicked(self) -> None:
        self.plan(broken=self._broken.value)

    def _landed(self, result: pd.DataFrame) -> None:
        if self._save is not None and self._save.landed(result):
            self._refresh()

    # --- what is shown ------------------------------------------------------------------

    def _screen(self) -> str:
        """Return the id of the screen on which stands what is selected."""
        try:
            found = self.draft.find("/".join([*self._selected.split("/")[:3], "id"]))
        except LookupError:
            return ""
        return found if isinstance(found, str) else ""

    def _refresh(self, *, typed: bool = False, focus: str = "") -> None:
        """Show the document as it is now.

        Args:
            typed: The form of what is selected holds it already.
            focus: The place at which somebody types.
        """
        draft = self.draft
        self._read(focus)
        branch, found = self._branch(), draft.findings
        if self._played is not draft.value:
            whole = isinstance(draft.value, dict)  # a text alone could name a file
            self._preview.document = draft.value if whole else draft.text.encode("utf-8", "replace")
            self._played = draft.value
        ids = [one["id"] for one in screens.screens(draft.value) if isinstance(one.get("id"), str)]
        here = offers(draft.value, branch)
        self._tree.show(self._rows, branch, self._screen(), here, draft.broken)
        if not typed:
            self._inspector.show(branch, draft.value, ids, draft.broken)
        if not draft.broken:
            self._inspector.mark([one for one in found if self._owned(one.pointer)])
        if focus:
            self._inspector.focus(focus)
        self._source.show(draft.text, found)
        self._findings.show(found)
        self._code.text = draft.line if len(draft.line) < 2000 else f"{draft.line[:2000]} …"
        if self._tabs.selected_index == _PYTHON:
            self._python.text = _built(draft.value)
        self._paint()

    def _owned(self, pointer: str) -> bool:
        """Tell whether a place is told in the form of what is selected."""
        return owner(pointer, self._pointers()) == self._selected

    def _paint(self) -> None:
        draft = self.draft
        flow = self._save.name if self._save and self._save.flow is not None else ""
        title = f"Flow {self._save.flow} · {flow}" if self._save and flow else "New flow"
        if self._save is None:
            title = "Flow"
        self._title.value = f'<h3 dir="auto">{escaped(title)}</h3>'
        self._undo.disabled, self._redo.disabled = not draft.undoable, not draft.redoable
        self._undo.tooltip, self._redo.tooltip = draft.undoable, draft.redoable
        self._name.layout.display = "none" if flow else None
        self._plan.disabled = draft.broken
        self._plan.label = "Save …" if flow else "Save as a new flow …"
        self._broken.layout.display = "none" if draft.findings.ok or draft.broken else None


def _built(document: Any) -> str:
    """Write the Python that builds a document."""
    try:
        return to_code(document) if isinstance(document, dict) else "# This is no flow."
    except ChatkitError as error:
        return f"# {error}"
