"""Tree of a flow: its rows, walked, moved and added to with mouse or keyboard."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import anywidget
import traitlets

from chatkit.errors import ChatkitError
from chatkit.flowjson.components import COMPONENTS, DOCUMENT, SCREEN, Shape
from chatkit.report import Finding
from chatkit.util.display import cut, many
from chatkit.util.json import child
from chatkit.widgets.controls import packed_module, style_sheet


class Tree(anywidget.AnyWidget):
    """Rows that unfold; one of them is selected, and can be moved, copied, removed, added to.

    Args:
        act: What a wish of the page calls: `act("move", by=1)`, `act("add", type="TextBody")`.
    """

    _esm = packed_module(["keys.js", "elements.js", "editor/tree.js"])
    _css = style_sheet("editor/tree.css")

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
        self.on_msg(self._receive)

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

    def _receive(self, _: Any, message: Any, __: Any) -> None:
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
            case {
                "do": "drop",
                "pointer": str(pointer),
                "target": str(target),
                "after": bool(after),
            }:
                self._try("drop", pointer, target, after)
            case {"do": "add", "pointer": str(pointer), "what": str(kind)}:
                self._try("add", pointer, kind)

    def _try(self, what: str, *arguments: Any) -> None:
        try:
            self._act(what, *arguments)
        except ChatkitError:
            logging.getLogger(__name__).info("the tree could not %s", what, exc_info=True)


# --- a flow document of any shape as rows --------------------------------------------------

_MOST = 3000  #: rows that are shown
_DEEPEST = 40  #: levels that are shown
_LONG = 60

Kind = Literal["flow", "screen", "component", "slot", "item", "odd"]


#: What the page is told of a row.
_SENT = ("pointer", "level", "kind", "name", "text", "wrong", "below")


@dataclass
class Branch:
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

    def row(self) -> dict[str, Any]:
        """Return what the page is told."""
        return {name: getattr(self, name) for name in _SENT}


def branches(document: Any, findings: tuple[Finding, ...] = ()) -> list[Branch]:
    """List the rows of a document from top to bottom, with the worst finding of each."""
    rows: list[Branch] = []
    for branch in _flow(document):
        if len(rows) == _MOST:
            break
        rows.append(branch)
    _mark(rows, findings)
    return rows


def owner(pointer: str, known: Mapping[str, Any]) -> str:
    """Return the known place to which a place belongs: itself, or the nearest around it."""
    while pointer and pointer not in known:
        pointer = pointer.rpartition("/")[0]
    return pointer


def _mark(rows: list[Branch], findings: tuple[Finding, ...]) -> None:
    by_pointer = {row.pointer: row for row in rows}
    for each in sorted(findings, key=lambda one: one.severity):  # error before warning
        if each.severity == "note":
            continue
        place = owner(each.pointer, by_pointer)
        row = by_pointer[place]
        row.wrong = row.wrong or each.severity
        while place:
            place = owner(place.rpartition("/")[0], by_pointer)
            row = by_pointer[place]
            row.below = row.below or each.severity


def _flow(document: Any) -> Iterator[Branch]:
    if not isinstance(document, dict):
        yield Branch("", 0, "odd", "Flow", f"no object, but {_unexpected(document)}")
        return
    version = document.get("version")
    text = f"version {cut(version, 12)}" if isinstance(version, str) else "without a version"
    yield Branch("", 0, "flow", "Flow", text, DOCUMENT, "/screens")
    screens = document.get("screens")
    for n, screen in enumerate(screens if isinstance(screens, list) else ()):
        pointer = f"/screens/{n}"
        if not isinstance(screen, dict):
            yield Branch(pointer, 1, "odd", "?", _unexpected(screen))
            continue
        layout, inside = screen.get("layout"), f"{pointer}/layout/children"
        yield Branch(
            *(pointer, 1, "screen", _word(screen.get("id"), "?"), _word(screen.get("title"))),
            *(SCREEN, inside),
        )
        children = layout.get("children") if isinstance(layout, dict) else None
        yield from _components(inside, 2, children)


def _components(pointer: str, level: int, values: Any, in_form: bool = False) -> Iterator[Branch]:
    for n, value in enumerate(values if isinstance(values, list) else ()):
        place = f"{pointer}/{n}"
        if not isinstance(value, dict):
            yield Branch(place, level, "odd", "?", _unexpected(value))
            continue
        kind = value.get("type")
        shape = COMPONENTS.get(kind) if isinstance(kind, str) else None
        into = f"{place}/children" if kind == "Form" else _into(shape, place)
        name = _word(kind, "?")
        yield Branch(place, level, "component", name, _content_words(value), shape, into, in_form)
        if level < _DEEPEST:
            yield from _inside(place, level + 1, value, shape, in_form or kind == "Form")


def _inside(
    pointer: str, level: int, value: dict[str, Any], shape: Shape | None, in_form: bool
) -> Iterator[Branch]:
    """List what stands in a component: components, branches, options."""
    for key, inner in value.items():
        place = child(pointer, key)
        if key == "children":
            yield from _components(place, level, inner, in_form)
        elif key in ("then", "else") and isinstance(inner, list):
            yield Branch(place, level, "slot", key, many(len(inner), "component"), None, place)
            yield from _components(place, level + 1, inner, in_form)
        elif key == "cases" and isinstance(inner, dict):
            for case, some in inner.items():
                slot = child(place, case)
                count = (
                    many(len(some), "component") if isinstance(some, list) else _unexpected(some)
                )
                yield Branch(slot, level, "slot", _word(case, '""'), count, None, slot)
                yield from _components(slot, level + 1, some, in_form)
        elif shape and (prop := shape.property(key)) and prop.kind == "items" and prop.item:
            for n, one in enumerate(inner if isinstance(inner, list) else ()):
                name = _word(one.get("id"), "?") if isinstance(one, dict) else "?"
                words = _content_words(one) if isinstance(one, dict) else _unexpected(one)
                known = prop.item if isinstance(one, dict) else None
                yield Branch(f"{place}/{n}", level, "item", name, words, known)


def _into(shape: Shape | None, pointer: str) -> str:
    """Name the list of options of a component."""
    for prop in shape.properties if shape else ():
        if prop.kind == "items" and prop.item:
            return f"{pointer}/{prop.name}"
    return ""


def _content_words(value: dict[str, Any]) -> str:
    """Write in few words what a component shows."""
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


def _word(value: Any, missing: str = "") -> str:
    return cut(value, _LONG) if isinstance(value, str) and value else missing


def _unexpected(value: Any) -> str:
    return f"a stray {type(value).__name__}" if value is not None else "null"
