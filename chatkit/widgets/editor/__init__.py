"""Editor of a flow document: its tree, its forms, its source, and a phone beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import traitlets

from chatkit.errors import InputError, Problem, safe_repr
from chatkit.flowjson.lint import Findings
from chatkit.report import SEVERITIES, Finding
from chatkit.util.display import cut, escaped, many, visible
from chatkit.widgets.controls import Model, Stack, join_styles, pack_module
from chatkit.widgets.editor.edits import list_additions, make_flow, with_addition
from chatkit.widgets.editor.inspector import Inspector
from chatkit.widgets.editor.state import DocumentState
from chatkit.widgets.editor.tree import Tree, TreeRow, find_nearest_pointer, make_tree_rows
from chatkit.widgets.fields import (
    Checkbox,
    FormButton,
    FormGroup,
    FormModel,
    Html,
    Panel,
    PanelPage,
    RepeatButton,
    Text,
)
from chatkit.widgets.form import OpenedRecord
from chatkit.widgets.planview import TOOK_EFFECT, PlanView, ReviewedEdits
from chatkit.widgets.player import Player, draw_screens
from chatkit.widgets.table import RowsTable, draw_row_button

if TYPE_CHECKING:
    from chatkit.bulk.endpoints import Key
    from chatkit.bulk.plan import Plan
    from chatkit.flows import Flows


_FORM_TAB, _SOURCE_TAB = range(2)


class Editor(ReviewedEdits, Panel):
    """A flow document to be edited, by its tree and forms or in its source.

    Beside it a phone plays the flow as it is now; below stands what the platform would refuse.
    Every step can be taken back. Nothing leaves the notebook: `plan()` shows what would be
    saved, and applying that saves it.

    In a program, `set`, `move` and the others do what clicks do; `flowjson.to_code` writes the
    Python that builds the document.

    Args:
        document: A flow document: a value, JSON text (also a broken one), a file or a built
            Flow; without it the flow of the account, or a new one.
        resource: The flows of a client, like `client.flows`, to save it there.
        flow: The id of the flow that is edited; without it saving makes a new one.

    >>> editor = chatkit.Editor(client.flows.get(301).flow_json)
    >>> editor.set("/screens/0/title", "Which service?")
    >>> editor
    Editor of 3 screens: SERVICE, DAY, CONFIRM; no findings.
    """

    def __init__(
        self, document: object = None, *, resource: Flows | None = None, flow: Key | None = None
    ) -> None:
        if flow is not None and resource is None:
            raise InputError(
                "The flow of an account needs its resource: Editor(resource=client.flows, …)"
            )
        self._resource = resource
        self._opened: OpenedRecord | None = None  #: the flow of the account as it was opened
        live = self._open_flow(flow)
        if document is None:
            document = make_flow() if flow is None else live
        if document is None:
            raise InputError(f"The service does not show the document of flow {flow}: name one.")
        self.state = DocumentState(document)  #: the document, its text, and each step back
        self._selected, self._rows = "/screens/0", dict[str, TreeRow]()  # by pointer
        self._read_rows()
        self._played_value: Any = None  #: the value that the phone shows
        self._create_widgets()
        super().__init__(self._arrange_widgets(), "chatkit-editor")
        if self.state.broken:
            self._tabs.open_tab = _SOURCE_TAB
        self._refresh()

    def _create_widgets(self) -> None:
        self._title = Html()
        self._undo = RepeatButton("Undo", lambda: self._attempt(self.undo))
        self._redo = RepeatButton("Redo", lambda: self._attempt(self.redo))
        self._tree = Tree(self._on_tree_action)
        self._inspector = Inspector(self.state, self._refresh)
        self._source, self._preview = SourceView(self._on_source_edit), Player({})
        self._findings = FindingList(self.jump, lambda n: self._attempt(self.fix, n))
        self._tabs = Stack([self._inspector, self._source], "ce-tabs", ["Form", "Source"])
        self._tabs.observe(lambda _: self._show_open_tab(), names="open_tab")
        self._name = Text("Name of the new flow")
        self._name.entered = self._update_bar
        self._broken = Checkbox("Save it although it has errors")
        self._plan = FormButton(
            "Save …",
            lambda: self._attempt(lambda: self.plan(broken=self._broken.value)),
            submit=True,
        )
        saving = [self._name, self._plan, self._broken] if self._opened else []
        bar = FormGroup([self._title, self._undo, self._redo, *saving], css="ce-actions", row=True)
        self._bar, self._page = PanelPage([bar]), PanelPage()
        self._bar.root.css = "chatkit-form"

    def _arrange_widgets(self) -> list[Model | tuple[Model, str]]:
        """Arrange tree, form and phone side by side, the bar of buttons, and the plan below."""
        middle = Stack([self._tabs, self._findings], "")
        columns = [(self._tree, "ce-left"), (middle, "ce-middle"), (self._preview, "ce-right")]
        return [Stack(columns, "ce-main"), (self._bar, "ce-bar chatkit-sticky"), self._page]

    @safe_repr
    def __repr__(self) -> str:
        ids = [row.name for row in self._rows.values() if row.kind == "screen"]
        names = f": {', '.join(ids)}" if ids else ""
        about = cut(f"Editor of {many(len(ids), 'screen')}{names}", 120)
        return f"{about}; {self.state.findings.summary().lower()}."

    def _make_saved_page(self) -> str:
        about = f"<p>{escaped(repr(self))}</p>"
        findings = self.state.findings
        return about + draw_screens(self.document) + (findings._repr_html_() if findings else "")

    # --- content --------------------------------------------------------------------

    @property
    def document(self) -> Any:
        """The flow document as it is now; while its source is no JSON, as it was before."""
        return self.state.value

    @property
    def selected(self) -> str:
        """The pointer of the selected row."""
        return self._selected

    def lint(self) -> Findings:
        """Return the findings of the platform's rules, with lines of the source."""
        return self.state.findings

    # --- edits ------------------------------------------------------------------------

    def select(self, pointer: str) -> None:
        """Select the row at a pointer, or the nearest one around it."""
        self._selected = find_nearest_pointer(pointer, self._rows)
        self.state.settle()
        self._show_open_tab()
        self._bar.report("")

    def set(self, pointer: str, value: Any) -> None:
        """Set the value at a pointer, like `editor.set("/screens/0/title", "Hello")`."""
        self.state.set(pointer, value)
        self._refresh()

    def unset(self, pointer: str) -> None:
        """Remove a property, or an item from its list.

        Raises:
            InputError: Nothing stands there.
        """
        self.state.unset(pointer)
        self._refresh()

    def add(self, what: str) -> None:
        """Add something at the selected row: a component by its type, "Screen", "Option" ….

        The answer to a new input is sent with the others. A new screen follows the one before
        it, and goes on as that did.

        Raises:
            InputError: It cannot stand there.
        """
        row = self._rows[self._selected]
        made, place = with_addition(self.document, row, what)
        self.state.replace(made, f"adding {what}")
        self._selected = place
        self._refresh()

    def act(self, pointer: str, name: str) -> None:
        """Give a component another action, like `editor.act("/…/on-click-action", "complete")`.

        The action keeps what the one before had too. Whether a screen is terminal follows the
        action of its Footer.
        """
        self.state.act(pointer, name)
        self._refresh()

    def move(self, pointer: str, by: int) -> None:
        """Move a screen, component or option within its list, and select it.

        Raises:
            InputError: Nothing stands there.
        """
        self._selected = self.state.move(pointer, by)
        self._refresh()

    def drop(self, pointer: str, target: str, *, after: bool = True) -> None:
        """Move a screen, component or option beside another, or to the end of a branch.

        Args:
            pointer: The screen, component or option.
            target: A row of the same list, or a component or branch of the same screen.
            after: Move it after the other, not before.

        Raises:
            InputError: Nothing stands there, or it cannot stand beside the other.
        """
        self._selected = self.state.drop(pointer, target, after=after)
        self._refresh()

    def duplicate(self, pointer: str) -> None:
        """Insert a copy after a screen, component or option, and select it.

        Raises:
            InputError: Nothing stands there.
        """
        self._selected = self.state.duplicate(pointer)
        self._refresh()

    def remove(self, pointer: str) -> None:
        """Remove a screen, component or option, with the values sent of it; select the next row.

        Raises:
            InputError: Nothing stands there.
        """
        known = list(self._rows)
        place = known.index(find_nearest_pointer(pointer, known))
        self.state.remove(pointer)
        self._read_rows()
        self._selected = pointer if pointer in self._rows else [*self._rows][max(place - 1, 0)]
        self._refresh()

    def rename(self, pointer: str, name: str) -> None:
        """Rename a screen, an input or a case in the whole document.

        Raises:
            InputError: Nothing stands there, or the name is taken.
        """
        self._selected = self.state.rename(pointer, name)
        self._refresh()

    def undo(self) -> None:
        """Undo the last edit."""
        self.state.undo()
        self._refresh()

    def redo(self) -> None:
        """Redo the last edit that was undone."""
        self.state.redo()
        self._refresh()

    def fix(self, n: int | None = None) -> None:
        """Fix the nth finding, or all whose fix is certain.

        Raises:
            InputError: How to fix it is for a person to decide.
        """
        self.state.fix(n)
        self._refresh()

    def jump(self, n: int) -> None:
        """Go to the nth finding: to its line, or to its field in the form."""
        each = self.state.findings[n]
        if self.state.broken:
            self._tabs.open_tab = _SOURCE_TAB
        else:
            self.select(each.pointer)
        if self._tabs.open_tab == _SOURCE_TAB:
            self._source.go(each.line or 1, each.column or 1)
        else:
            self._tabs.open_tab = _FORM_TAB
            self._inspector.focus(each.pointer)

    def plan(self, name: str = "", *, broken: bool = False) -> Plan:
        """Plan to save it: an update of the flow, or a create of one of this name.

        It is shown below, to be applied there or by `plan.apply()`.

        Args:
            name: The name of a new flow.
            broken: Save it although the platform would refuse to publish it.

        Raises:
            InputError: There is no account to save to, a new flow has no name, or the source
                is no JSON.
        """
        if self._opened is None:
            raise InputError("It has no account: Editor(document, resource=client.flows) saves it.")
        if self.state.broken:
            raise InputError("The source is not valid JSON: correct it, or undo the edit.")
        self._check_idle()
        document, chosen = self.document, name or self._name.value
        if not isinstance(document, dict):
            raise InputError("A flow document is an object, with version and screens.")
        fields: dict[str, Any] = {"flow_json": document}
        if self._flow is None:
            if not chosen.strip():
                problem = Problem("name", "", "give one; it cannot be changed")
                raise InputError("A new flow needs a name:", [problem])
            fields = {"name": chosen, "template_name": "default", **fields}
        # another flow of that name is not what was opened
        existing = "refuse" if self._flow is None else "update"
        plan = self._opened.plan(fields, existing=existing, broken=broken)
        self._show_plan(plan, partial(self.plan, name, broken=broken), self._after_saving)
        self._bar.report("")
        return plan

    def _edits(self) -> object:
        return self.state.broken, repr(self.document), self._name.value

    # --- callbacks of the parts -------------------------------------------------------

    def _on_tree_action(self, action: str, **arguments: Any) -> None:
        """Run the action that a click in the tree names; select the row before `add`."""
        if action == "add":
            self._selected = find_nearest_pointer(arguments.pop("pointer"), self._rows)
        self._attempt(partial(getattr(self, action), **arguments))

    def _show_open_tab(self) -> None:
        """Show the selected row on the open tab."""
        self._refresh()
        if self._tabs.open_tab == _SOURCE_TAB and not self.state.broken:
            self._source.go(*self.state.find_line(self._selected), focus=False)

    def _attempt(self, act: Callable[..., object], *arguments: Any) -> None:
        """Run an action, and show a message only if it fails."""
        self._bar.report("")
        self._bar.attempt(act, *arguments)

    def _on_source_edit(self, text: str) -> None:
        self.state.write(text)
        self._refresh()

    def _after_saving(self, view: PlanView) -> None:
        if view is not self.plan_view or view.result is None:
            return
        if view.states.issubset(TOOK_EFFECT):
            self._open_flow(int(view.result["key"].iloc[0]))
            self._refresh()

    def _open_flow(self, flow: Key | None) -> Any:
        """Read a flow from the account to edit it, and return its document."""
        self._flow, self._flow_name, document = flow, "", None
        if self._resource is None:
            return None
        if flow is not None:
            record = self._resource.get(flow)
            self._flow_name, document = record.name or "", record.flow_json
        self._opened = OpenedRecord(self._resource, flow, hidden=["flow_json"])
        return document

    # --- display ------------------------------------------------------------------------

    def _read_rows(self, typed_at: str = "") -> None:
        """Read the rows again, and keep the selected one, or else select the one typed at."""
        findings = self.state.findings
        rows = make_tree_rows(self.document, () if self.state.broken else tuple(findings))
        self._rows = {row.pointer: row for row in rows}
        gone = typed_at and self._selected not in self._rows
        self._selected = find_nearest_pointer(typed_at if gone else self._selected, self._rows)

    def _selected_screen_id(self) -> str:
        """Return the id of the screen of the selected row; empty without one."""
        try:
            screen_id = self.state.find("/".join([*self._selected.split("/")[:3], "id"]))
        except LookupError:
            return ""
        return screen_id if isinstance(screen_id, str) else ""

    def _refresh(self, *, typed: bool = False, focus: str = "") -> None:
        """Show the document as it is now.

        Args:
            typed: The form holds it already.
            focus: The pointer of the field to focus.
        """
        state = self.state
        self._read_rows(focus)
        row, findings = self._rows[self._selected], state.findings
        if self._played_value is not state.value:
            is_object = isinstance(state.value, dict)  # a text alone could name a file
            self._preview.document = (
                state.value if is_object else state.text.encode("utf-8", "replace")
            )
            self._played_value = state.value
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in list_additions(state.value, row):
            groups.setdefault(one.group, []).append((one.name, one.about))
        offers, screen = list(groups.items()), self._selected_screen_id()
        self._tree.show(self._rows.values(), row, screen, offers, locked=state.broken)
        if not typed:
            self._inspector.show(row)
        if not state.broken:
            self._inspector.mark(
                [
                    one
                    for one in findings
                    if find_nearest_pointer(one.pointer, self._rows) == row.pointer
                ]
            )
        if focus:
            self._inspector.focus(focus)
        self._source.show(state.text, findings)
        self._findings.show(findings)
        self._update_bar()

    def _update_bar(self) -> None:
        state = self.state
        self._recheck_plan()
        flow = self._flow_name
        title = f"Flow {self._flow} · {flow}" if flow else "New flow"
        if self._opened is None:
            title = "Flow"
        self._title.value = f'<h3 dir="auto">{escaped(title)}</h3>'
        self._undo.disabled, self._redo.disabled = not state.undoable, not state.redoable
        self._undo.help, self._redo.help = state.undoable, state.redoable
        self._name.hidden = bool(flow)
        self._plan.disabled = state.broken
        self._plan.label = "Save …" if flow else "Save as a new flow …"
        self._broken.hidden = state.findings.ok or state.broken
        self._bar.draw()


_MOST_MARKS = 200  #: findings that are marked
_MOST_CHARACTERS = 300  #: of a marked finding


class SourceView(Model):
    """A text with numbered lines, and findings at the ends of their lines.

    Args:
        typed: Called with the text when somebody has typed.
    """

    _esm = pack_module(["keys.js", "elements.js", "editor/source.js"])
    _css = join_styles("editor/source.css")

    text = traitlets.Unicode().tag(sync=True)
    #: The findings: line, column, severity and text.
    marks: traitlets.List[Any] = traitlets.List().tag(sync=True)

    def __init__(self, typed: Callable[[str], object]) -> None:
        self._typed = typed
        self._showing = False
        super().__init__()
        self.observe(self._on_text_change, names="text")

    def show(self, text: str, findings: Iterable[Finding]) -> None:
        """Show a text, and mark the findings in it."""
        marks = [
            {
                "line": each.line or 1,
                "column": each.column or 1,
                "severity": each.severity,
                "message": visible(f"{each.message} {each.hint}".strip()[:_MOST_CHARACTERS]),
            }
            for each, _ in zip(findings, range(_MOST_MARKS), strict=False)
        ]
        self._showing = True
        with self.hold_sync():
            self.text, self.marks = text.encode("utf-8", "replace").decode(), marks
        self._showing = False

    def go(self, line: int, column: int = 1, *, focus: bool = True) -> None:
        """Scroll to a line, and put the cursor there with `focus`."""
        self.send({"line": line, "column": column, "focus": focus})

    def _on_text_change(self, change: Any) -> None:
        if not self._showing:
            self._typed(change["new"])


_MOST_LISTED = 100  #: findings that are listed


class FindingList(FormModel):
    """A list of findings to click, the worst first.

    Args:
        go: Called with the number of a finding that is clicked.
        fix: Called with the number of a finding whose button is clicked.
    """

    def __init__(self, go: Callable[[int], object], fix: Callable[[int], object]) -> None:
        self._acts = {"go": go, "fix": fix}
        self._order: list[int] = []  #: the numbers of those that are listed
        self._head, self._list = Html(), RowsTable("Findings", self._handle_action)
        super().__init__(FormGroup([self._head, self._list], css="cl-findings"))

    def show(self, findings: Findings) -> None:
        """List findings, the worst first."""
        severity = [SEVERITIES.index(each.severity) for each in findings]
        self._order = sorted(range(len(findings)), key=severity.__getitem__)[:_MOST_LISTED]
        more = f", the first {_MOST_LISTED} here" if len(findings) > _MOST_LISTED else ""
        summary = findings.summary() if findings else "No findings: the platform would take it."
        worst = findings[self._order[0]].severity if findings else ""
        self._head.value = f'<p class="cl-head {worst}" role="status">{summary}{more}</p>'
        items = [_draw_finding(n, findings[number]) for n, number in enumerate(self._order)]
        self._list.value = f"<ul>{''.join(items)}</ul>" if items else ""
        self.draw()

    def _handle_action(self, act: str, row: str) -> None:
        if act in self._acts and row.isdecimal() and int(row) < len(self._order):
            self._acts[act](self._order[int(row)])


def _draw_finding(n: int, each: Finding) -> str:
    """Draw a finding as a button that leads to its place, and a button that fixes it."""
    message = escaped(f"{each.message} {each.hint}".strip())
    place = " · ".join(filter(None, [each.code, f"line {each.line}" if each.line else ""]))
    fix = draw_row_button("fix", str(n), "Fix", f"Fix: {each.message}") if each.patch else ""
    return (
        f'<li class="{each.severity}"><button type="button" class="cl-one" data-act="go" '
        f'data-row="{n}"><b>{each.severity}</b> <span dir="auto">{message}</span>'
        f"<small>{escaped(place)}</small></button>{fix}</li>"
    )
