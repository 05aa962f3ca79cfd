"""Tree of a flow: its rows are selected, moved and added to with mouse or keyboard."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import traitlets

from chatkit.flowjson.components import COMPONENTS, DOCUMENT, SCREEN, Shape
from chatkit.report import Finding
from chatkit.util.display import cut, many
from chatkit.util.json import append_to_pointer
from chatkit.widgets.controls import Model, join_styles, pack_module

#: What the page can ask for: methods of the editor.
_ACTIONS = ("select", "remove", "duplicate", "undo", "redo", "move", "drop", "add")


class Tree(Model):
    """Rows that unfold; one of them is selected, and can be moved, copied, removed, added to.

    Args:
        act: Called with an action and its arguments: `act("move", pointer=pointer, by=1)`.
    """

    _esm = pack_module(["keys.js", "elements.js", "editor/tree.js"])
    _css = join_styles("editor/tree.css", "editor/editor.css", "editor/findings.css")

    rows: traitlets.List[Any] = traitlets.List().tag(sync=True)
    #: The names that can be added at the selected row, in groups, with a help for each.
    offers: traitlets.List[Any] = traitlets.List().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    #: The number of the last selection of the page that was handled.
    answered = traitlets.Int(0).tag(sync=True)
    #: The screen of the selected row: the preview follows it.
    screen = traitlets.Unicode("").tag(sync=True)
    movable = traitlets.Bool(False).tag(sync=True)
    locked = traitlets.Bool(False).tag(sync=True)

    def __init__(self, act: Callable[..., object]) -> None:
        self._act = act
        super().__init__()

    def show(
        self, rows: Iterable[TreeRow], row: TreeRow, screen: str, offers: list[Any], *, locked: bool
    ) -> None:
        """Show rows, the selected one, and what can be added at it."""
        with self.hold_sync():
            self.rows = [each.to_dict() for each in rows]
            self.selected, self.movable = row.pointer, row.movable
            self.offers, self.locked, self.screen = offers, locked, screen

    def _receive(self, message: Any) -> None:
        arguments: dict[str, Any] = dict(message or {})
        action, answered = arguments.pop("do", None), arguments.pop("n", self.answered)
        if action in _ACTIONS:
            self._act(action, **arguments)
            self.answered = answered


# --- a flow document of any shape as rows --------------------------------------------------

_MOST_ROWS = 3000  #: rows that are shown
_MOST_LEVELS = 40  #: levels that are shown
_LONG = 60

Kind = Literal["flow", "screen", "component", "slot", "item", "odd"]


#: The fields of a row that are sent to the page.
_ROW_KEYS = ("pointer", "level", "kind", "name", "text", "wrong", "below")


@dataclass
class TreeRow:
    """One row: a place of the document that can be looked at and edited."""

    pointer: str
    level: int
    kind: Kind
    name: str  # what it is: a type, an id
    text: str  # what it words
    shape: Shape | None = None  # its keys, when they are known
    into: str = ""  # the list to which a child is added; empty if there is none
    in_form: bool = False
    wrong: str = ""  # the worst finding at it: error or warning
    below: str = ""  # the worst finding below it

    @property
    def movable(self) -> bool:
        """True if it can be moved, copied and removed: it is an item of a list."""
        return self.kind in ("screen", "component", "item", "odd") and self.pointer != ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are sent to the page."""
        return {name: getattr(self, name) for name in _ROW_KEYS}


TreeRows = Iterator[TreeRow]


def make_tree_rows(document: Any, findings: tuple[Finding, ...] = ()) -> list[TreeRow]:
    """List the rows of a document from top to bottom, with the worst finding of each."""
    rows = list(islice(_make_flow_rows(document), _MOST_ROWS))
    _mark_findings(rows, findings)
    return rows


def find_nearest_pointer(pointer: str, known: Container[str]) -> str:
    """Return the known pointer nearest to a pointer: itself, or the closest one around it."""
    while pointer and pointer not in known:
        pointer = pointer.rpartition("/")[0]
    return pointer


def _mark_findings(rows: list[TreeRow], findings: tuple[Finding, ...]) -> None:
    by_pointer = {row.pointer: row for row in rows}
    for each in sorted(findings, key=lambda one: one.severity):  # error before warning
        if each.severity == "note":
            continue
        place = find_nearest_pointer(each.pointer, by_pointer)
        row = by_pointer[place]
        row.wrong = row.wrong or each.severity
        while place:
            place = find_nearest_pointer(place.rpartition("/")[0], by_pointer)
            row = by_pointer[place]
            row.below = row.below or each.severity


def _make_flow_rows(document: Any) -> TreeRows:
    if not isinstance(document, dict):
        yield TreeRow("", 0, "odd", "Flow", f"no object, but {_describe_stray(document)}")
        return
    version = document.get("version")
    text = f"version {cut(version, 12)}" if isinstance(version, str) else "without a version"
    yield TreeRow("", 0, "flow", "Flow", text, DOCUMENT, "/screens")
    screens = document.get("screens")
    for n, screen in enumerate(screens if isinstance(screens, list) else ()):
        pointer = f"/screens/{n}"
        if not isinstance(screen, dict):
            yield TreeRow(pointer, 1, "odd", "?", _describe_stray(screen))
            continue
        layout, inside = screen.get("layout"), f"{pointer}/layout/children"
        yield TreeRow(
            *(pointer, 1, "screen", _shorten(screen.get("id"), "?"), _shorten(screen.get("title"))),
            *(SCREEN, inside),
        )
        children = layout.get("children") if isinstance(layout, dict) else None
        yield from _make_component_rows(inside, 2, children)


def _make_component_rows(
    pointer: str, level: int, values: Any, *, in_form: bool = False
) -> TreeRows:
    for n, value in enumerate(values if isinstance(values, list) else ()):
        place = f"{pointer}/{n}"
        if not isinstance(value, dict):
            yield TreeRow(place, level, "odd", "?", _describe_stray(value))
            continue
        kind = value.get("type")
        shape = COMPONENTS.get(kind) if isinstance(kind, str) else None
        into = f"{place}/children" if kind == "Form" else _find_options_pointer(shape, place)
        name = _shorten(kind, "?")
        yield TreeRow(
            place, level, "component", name, _find_summary_text(value), shape, into, in_form
        )
        if level < _MOST_LEVELS:
            yield from _make_inner_rows(
                place, level + 1, value, shape, in_form=in_form or kind == "Form"
            )


def _make_inner_rows(
    pointer: str, level: int, value: dict[str, Any], shape: Shape | None, *, in_form: bool
) -> TreeRows:
    """Yield the rows in a component: components, branches, options."""
    for key, inner in value.items():
        place = append_to_pointer(pointer, key)
        if key == "children":
            yield from _make_component_rows(place, level, inner, in_form=in_form)
        elif key in ("then", "else") and isinstance(inner, list):
            yield TreeRow(place, level, "slot", key, many(len(inner), "component"), None, place)
            yield from _make_component_rows(place, level + 1, inner, in_form=in_form)
        elif key == "cases" and isinstance(inner, dict):
            for case, some in inner.items():
                slot = append_to_pointer(place, case)
                is_list = isinstance(some, list)
                count = many(len(some), "component") if is_list else _describe_stray(some)
                yield TreeRow(slot, level, "slot", _shorten(case, '""'), count, None, slot)
                yield from _make_component_rows(slot, level + 1, some, in_form=in_form)
        elif shape and (prop := shape.property(key)) and prop.kind == "items" and prop.item:
            for n, one in enumerate(inner if isinstance(inner, list) else ()):
                name = _shorten(one.get("id"), "?") if isinstance(one, dict) else "?"
                words = _find_summary_text(one) if isinstance(one, dict) else _describe_stray(one)
                known = prop.item if isinstance(one, dict) else None
                yield TreeRow(f"{place}/{n}", level, "item", name, words, known)


def _find_options_pointer(shape: Shape | None, pointer: str) -> str:
    """Return the pointer to the list of options of a component; empty without one."""
    for prop in shape.properties if shape else ():
        if prop.kind == "items" and prop.item:
            return f"{pointer}/{prop.name}"
    return ""


def _find_summary_text(value: dict[str, Any]) -> str:
    """Return a short text that a component shows; empty without one."""
    content = value.get("main-content")
    if isinstance(content, dict):
        value = content | value
    for key in ("text", "label", "title", "condition", "value", "name", "alt-text"):
        texts = value.get(key)
        if isinstance(texts, list) and texts:
            texts = texts[0]
        if isinstance(texts, str) and texts.strip():
            return cut(texts, _LONG)
    return ""


def _shorten(value: Any, missing: str = "") -> str:
    return cut(value, _LONG) if isinstance(value, str) and value else missing


def _describe_stray(value: Any) -> str:
    return f"a stray {type(value).__name__}" if value is not None else "null"
