"""Editor of a flow document: its tree, its forms, its source, and a phone beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import ipywidgets as w

from chatkit.display import cut, escaped, many
from chatkit.errors import ChatkitError, InputError, Problem, steady
from chatkit.flowjson.build.flow import to_code
from chatkit.flowjson.finding import Findings
from chatkit.resource import endpoints_of
from chatkit.widgets import assets
from chatkit.widgets.controls import Button, Code, Message
from chatkit.widgets.editor.additions import added, new_action, new_flow, offers
from chatkit.widgets.editor.inspector import Inspector
from chatkit.widgets.editor.source import FindingList, SourceView
from chatkit.widgets.editor.state import DocumentState
from chatkit.widgets.editor.tree import Branch, Tree, branches, owner
from chatkit.widgets.plan.planview import PlanView, Saving
from chatkit.widgets.plan.rows import LANDED
from chatkit.widgets.player import Player, screens, screens_html

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan
    from chatkit.bulk.planner import Existing
    from chatkit.endpoints import Key
    from chatkit.flows import Flows


_STYLE = assets.joined_text(["form.css", "editor/editor.css"])
_FORM, _SOURCE, _PYTHON = range(3)


class Editing:
    """A document that is edited, and one place of it that is selected.

    Args:
        draft: The document.
    """

    def __init__(self, draft: DocumentState) -> None:
        self.draft = draft
        self._selected, self._rows = "/screens/0", list[Branch]()
        self._read()

    @property
    def document(self) -> Any:
        """The flow document as it is now; while its source is no JSON, as it was before."""
        return self.draft.value

    @property
    def selected(self) -> str:
        """The pointer of what is selected."""
        return self._selected

    def lint(self) -> Findings:
        """Return what the platform would say of it, with lines of the source."""
        return self.draft.findings

    def select(self, pointer: str) -> None:
        """Select what stands at a place, or what is around it."""
        self._selected = owner(pointer, self._pointers())
        self.draft.settle()
        self._refresh()

    def set(self, pointer: str, value: Any) -> None:
        """Set what stands at a place, like `editor.set("/screens/0/title", "Hello")`."""
        self.draft.set(pointer, value)
        self._refresh()

    def unset(self, pointer: str) -> None:
        """Take a property away, or an item out of its list.

        Raises:
            InputError: Nothing stands there.
        """
        self.draft.unset(pointer)
        self._refresh()

    def insert(self, pointer: str, index: int, value: Any) -> None:
        """Put an item into the list at a place, and select it.

        Raises:
            InputError: What stands there is no list.
        """
        self._selected = self.draft.insert(pointer, index, value)
        self._refresh()

    def add(self, what: str) -> None:
        """Add something at what is selected: a component by its type, "Screen", "Option" ….

        Raises:
            InputError: It cannot stand there.
        """
        row = self._branch()
        pointer, index, value = added(self.document, row, self._rows, what)
        if index is None:
            self.draft.set(pointer, value)
            self._selected = pointer
        else:
            self._selected = self.draft.insert(pointer, index, value)
        self._refresh()

    def move(self, pointer: str, by: int) -> None:
        """Move a screen, component or option within its list, and select it.

        Raises:
            InputError: Nothing stands there.
        """
        self._selected = self.draft.move(pointer, by)
        self._refresh()

    def duplicate(self, pointer: str) -> None:
        """Put a copy after a screen, component or option, and select it.

        Raises:
            InputError: Nothing stands there.
        """
        self._selected = self.draft.duplicate(pointer)
        self._refresh()

    def remove(self, pointer: str) -> None:
        """Take out a screen, component or option, and select what is beside it.

        Raises:
            InputError: Nothing stands there.
        """
        place = [row.pointer for row in self._rows].index(owner(pointer, self._pointers()))
        self.draft.unset(pointer)
        self._read()
        there = self._pointers()
        self._selected = pointer if pointer in there else self._rows[max(place - 1, 0)].pointer
        self._refresh()

    def rename(self, pointer: str, name: str) -> None:
        """Give a screen, an input or a case another name, wherever the document names it.

        Raises:
            InputError: Nothing stands there, or the name is taken.
        """
        self._selected = self.draft.rename(pointer, name)
        self._refresh()

    def undo(self) -> None:
        """Take the last edit back."""
        self.draft.undo()
        self._refresh()

    def redo(self) -> None:
        """Do again what was taken back."""
        self.draft.redo()
        self._refresh()

    # --- helpers --------------------------------------------------------------------

    def _refresh(self) -> None:
        """Show the document as it is now."""
        self._read()

    def _read(self, typed_at: str = "") -> None:
        """Read the rows anew. What was selected stays so, or else what somebody types at."""
        found = self.draft.findings
        self._rows = branches(self.document, () if self.draft.broken else tuple(found))
        there = self._pointers()
        gone = typed_at and self._selected not in there
        self._selected = owner(typed_at if gone else self._selected, there)

    def _pointers(self) -> dict[str, Branch]:
        return {row.pointer: row for row in self._rows}

    def _branch(self) -> Branch:
        return self._pointers()[self._selected]


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
            document = self._save.document if self._save and flow is not None else new_flow()
        if document is None:
            raise InputError(f"The service does not show the document of flow {flow}: name one.")
        Editing.__init__(self, DocumentState(document))
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
        html = about + screens_html(self.document) + (found._repr_html_() if found else "")
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

    def _landed(self, view: PlanView) -> None:
        save, result = self._save, view.result
        if save is not None and result is not None and save.landed(result):
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
        ids = [one["id"] for one in screens(draft.value) if isinstance(one.get("id"), str)]
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


class Refresh(Protocol):
    """Shows the document as it is now."""

    def __call__(self, *, typed: bool = False, focus: str = "") -> None:
        """Show it; `typed`: the form holds it already; `focus`: where somebody types."""


class FormEdits:
    """Takes what is typed into a draft. The form stays as it is, unless it has other fields now.

    Args:
        draft: The document.
        refresh: What shows it after each edit.
    """

    def __init__(self, draft: DocumentState, refresh: Refresh) -> None:
        self._draft, self._refresh = draft, refresh

    def set(self, pointer: str, value: Any) -> None:
        """Set what stands at a place."""
        self._draft.set(pointer, value)
        self._shown(pointer)

    def unset(self, pointer: str) -> None:
        """Take out what stands at a place, if anything does."""
        if self._draft.has(pointer):
            self._draft.unset(pointer)
            self._shown(pointer)

    def rename(self, pointer: str, name: str) -> None:
        """Give a screen, an input or a case another name, wherever the document names it."""
        place = self._draft.rename(pointer, name)
        moved = place != pointer  # a case is found by its name
        self._refresh(typed=not moved, focus=place if moved else "")

    def act(self, pointer: str, name: str) -> None:
        """Put an action of this name at a place; it keeps what the one before had too."""
        before = self._draft.find(pointer) if self._draft.has(pointer) else None
        self._draft.set(pointer, new_action(name, before))
        self._refresh(focus=pointer)

    def _shown(self, pointer: str) -> None:
        """Show the edit: with another mode or version, or without an action, fields come and go."""
        again = pointer == "/version" or pointer.endswith(("/mode", "-action"))
        self._refresh(typed=not again, focus=pointer if again else "")


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
            frame = endpoints_of(self.room).snapshots.keep(
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
        self._opened = endpoints_of(self.room).full([flow])
        self.flow, self.name, self.document = flow, record.name or "", record.flow_json
        if "flow_json" not in self._opened:  # this service does not show documents
            self._opened["flow_json"] = None

    def __repr__(self) -> str:
        return "<new flow>" if self.flow is None else f"<flow {self.flow}: {self.name}>"
