"""Document state of the editor: the value, the text, and every step back."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from chatkit.errors import InputError
from chatkit.flowjson.document import DEEPEST, read_source
from chatkit.flowjson.lint import Findings, lint
from chatkit.flowjson.nodes import read_nodes
from chatkit.report import Finding
from chatkit.util.json import (
    PatchOperation,
    at,
    changed,
    child,
    is_deeper,
    item,
    nothing_at,
    patched,
    steps,
    with_value_at,
    without,
)
from chatkit.widgets.controls import call_code
from chatkit.widgets.editor.edits import copied, renamed, require_space, with_action, without_part

_DEEP = f"The flow document is nested more than {DEEPEST} levels deep."
_KEPT = 200  #: steps that can be taken back


@dataclass(frozen=True)
class _State:
    """The document after one edit."""

    value: Any
    text: str | None  # as it was typed; None: as it is written
    about: str = ""  # what the edit did, in words
    line: str = ""  # the Python that does the same
    place: str | None = None  # what was edited: the next edit of the same place joins it


class DocumentState:
    """A flow document that is edited step by step.

    Every edit leaves the values before it as they were, so each step can be taken back. A text
    that is no JSON is kept as it is typed; `value` is then still the last one that was.

    Args:
        document: A value, JSON text (also a broken one), a file, or a built Flow.

    Raises:
        InputError: A file cannot be opened, or it is nothing of these.
    """

    def __init__(self, document: object) -> None:
        source = read_source(document)
        self._broken: str | None = None  #: a text that cannot be read
        self._why = ""  #: why not, when the lint could read it
        value = source.value
        text = None if source.text is None else _lines(source.text)
        if text and "\n" not in text.strip() and not (source.fault or source.has_duplicates):
            text = None  # all on one line: nobody has written it by hand
        if source.fault or is_deeper(value, DEEPEST):
            self._broken = _lines(source.text or "")
            self._why = "" if source.fault else _DEEP
            value, text = {}, None
        self._begun = self._broken is None  #: whether there is a good document to go back to
        self._states = [_State(value, text)]
        self._now = 0
        self._findings: Findings | None = None
        self._written: tuple[_State, str] | None = None

    def __repr__(self) -> str:
        return f"<flow document: {self.findings.summary()}, {self._now} edits>"

    # --- what it is -----------------------------------------------------------------

    @property
    def value(self) -> Any:
        """The document; while the text cannot be read, the last one that could."""
        return self._state.value

    @property
    def text(self) -> str:
        """The text, as it was typed or as the last edit left it."""
        state = self._state
        if self._broken is not None:
            return self._broken
        if state.text is not None:
            return state.text
        if self._written is None or self._written[0] is not state:
            self._written = state, document_text(state.value)
        return self._written[1]

    @property
    def broken(self) -> bool:
        """True while the text cannot be read."""
        return self._broken is not None

    @property
    def findings(self) -> Findings:
        """The findings of the lint, with lines of the text."""
        if self._findings is None:
            self._findings = lint(f"{self.text}\n")  # with a line break it is never a file's name
            if self._broken is not None and self._why:
                fault = Finding("INVALID_FLOW_JSON", "error", "", self._why, line=1, column=1)
                self._findings = Findings([fault], None, self.text)
        return self._findings

    @property
    def line(self) -> str:
        """The Python that does what the last edit did; empty where there is none."""
        return "" if self.broken else self._state.line

    @property
    def undoable(self) -> str:
        """The step that `undo` would take back, in words; empty if there is none."""
        if self._broken is not None:
            return "what cannot be read" if self._begun else ""
        return self._state.about if self._now else ""

    @property
    def redoable(self) -> str:
        """The step that `redo` would do again, in words; empty if there is none."""
        later = self._states[self._now + 1 : self._now + 2]
        return later[0].about if later and not self.broken else ""

    @property
    def _state(self) -> _State:
        return self._states[self._now]

    def find(self, pointer: str) -> Any:
        """Return what stands at a place. Raises `LookupError` if nothing does."""
        return at(self.value, pointer)

    def has(self, pointer: str) -> bool:
        """Return whether anything stands at a place."""
        try:
            self.find(pointer)
        except LookupError:
            return False
        return True

    def find_line(self, pointer: str) -> tuple[int, int]:
        """Return the line and the column of the text at which a place stands."""
        return read_source(f"{self.text}\n").find(pointer)

    # --- edits ----------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Take another text for the whole; one that cannot be read waits until it can."""
        if text == self.text:
            return
        source = read_source(f"{text}\n")
        self._findings = None
        if source.fault or is_deeper(source.value, DEEPEST):
            self._broken, self._why = text, "" if source.fault else _DEEP
            return
        self._broken = None
        if not self._begun:
            self._states, self._begun = [_State(source.value, text)], True
        elif text != self.text:
            self._keep(_State(source.value, text, "the text"))

    def set(self, pointer: str, value: Any) -> None:
        """Set what stands at a place; an object on the way that is not there is made."""
        line = call_code("editor.set", pointer, value)
        put = partial(with_value_at, value=value)
        self._edit(pointer, put, _last(pointer), line, True)

    def unset(self, pointer: str) -> None:
        """Take a key out of its object, or an item out of its list.

        Raises:
            InputError: Nothing stands there.
        """
        if pointer == "" or not self.has(pointer):
            raise nothing_at(pointer)
        self._edit(
            pointer, without, f"removing {_last(pointer)}", call_code("editor.unset", pointer)
        )

    def insert(self, pointer: str, index: int, value: Any) -> str:
        """Put an item into a list, and return its pointer. A list that is not there is made.

        Raises:
            InputError: What stands there is no list.
        """

        def put(parent: Any, key: str) -> Any:
            items = item(parent, key, [])
            if not isinstance(items, list):
                raise InputError(f"Nothing can be added at {pointer}: it is not a list.")
            return with_value_at(parent, key, [*items[:index], value, *items[index:]])

        about = f"adding {_kind(value)}"
        self._edit(pointer, put, about, call_code("editor.insert", pointer, index, value))
        return f"{pointer}/{index}"

    def move(self, pointer: str, by: int) -> str:
        """Move an item within its list, and return its new pointer.

        Raises:
            InputError: Nothing stands there, or it does not stand in a list.
        """
        items, index = self._listed(pointer)
        to = min(max(index + by, 0), len(items) - 1)
        if to == index:
            return pointer

        rest = [*items[:index], *items[index + 1 :]]
        made = [*rest[:to], items[index], *rest[to:]]
        about = f"moving {_kind(items[index])}"
        self._edit(pointer, lambda *_: made, about, call_code("editor.move", pointer, by))
        return f"{pointer.rpartition('/')[0]}/{to}"

    def drop(self, pointer: str, target: str, after: bool) -> str:
        """Put an item beside another one, or at the end of a list; return its new pointer.

        Raises:
            InputError: Nothing stands there, or they are neither of one list nor of one screen.
        """
        items, index = self._listed(pointer)
        if not self.has(target):
            raise nothing_at(target)
        around, to = pointer.rpartition("/")[0], target.rpartition("/")
        inside = isinstance(self.find(target), list)
        if to[0] == around and not inside:
            return self.move(pointer, int(to[2]) + after - index - (int(to[2]) + after > index))
        screens = pointer.split("/")[:3] == target.split("/")[:3] and len(steps(pointer)) > 3
        if not screens or f"{target}/".startswith(f"{pointer}/"):
            raise InputError("It can be put elsewhere in its own list, or on its own screen.")
        document = copy.deepcopy(self.value)
        own, new = at(document, around), at(document, target if inside else to[0])
        if not isinstance(new, list):
            raise InputError(f"{target} does not stand in a list.")
        gone = object()  # so that removing it moves no place that was found before
        moved, own[index] = own[index], gone
        new.insert(len(new) if inside else int(to[2]) + after, moved)
        own.remove(gone)
        line = call_code("editor.drop", pointer, target, after)
        self.replace(document, f"moving {_kind(items[index])}", line)
        pointers = (one.pointer for one in read_nodes(document).components if one.value is moved)
        return next(pointers, around)

    def duplicate(self, pointer: str) -> str:
        """Put a copy of an item after it, with ids and names of its own; return its pointer.

        Raises:
            InputError: Nothing stands there, it does not stand in a list, or its screen has as many
                as the platform takes.
        """
        items, index = self._listed(pointer)
        place = f"{pointer.rpartition('/')[0]}/{index + 1}"
        addition = PatchOperation("add", place, copied(items[index], self.value))
        made, what = patched(self.value, [addition]), _kind(items[index])
        require_space(self.value, made, what)
        self.replace(made, f"duplicating {what}", call_code("editor.duplicate", pointer))
        return place

    def rename(self, pointer: str, name: str) -> str:
        """Give a screen, a component or a case another name, here and wherever it is named.

        Raises:
            InputError: Nothing stands there, it has no name, or the name is taken.
        """
        if not self.has(pointer):
            raise nothing_at(pointer)
        made = renamed(self.value, pointer, name)
        about, line = f"renaming to {name}", call_code("editor.rename", pointer, name)
        self._edit("", lambda *_: made, about, line)
        if isinstance(self.find(pointer.rpartition("/")[0]), list):
            return pointer
        return child(pointer.rpartition("/")[0], name)

    def remove(self, pointer: str) -> None:
        """Take out a screen, component or option, and what is sent of it.

        Raises:
            InputError: Nothing stands there, or it does not stand in a list.
        """
        items, index = self._listed(pointer)
        made = without_part(self.value, pointer)
        about = f"removing {_kind(items[index])}"
        self.replace(made, about, call_code("editor.remove", pointer))

    def act(self, pointer: str, name: str) -> None:
        """Put an action of this name at a place; it keeps what the one before had too."""
        made = with_action(self.value, pointer, name)
        self.replace(made, f"the action {name}", call_code("editor.act", pointer, name))

    def replace(self, value: Any, about: str, line: str) -> None:
        """Take another document for the whole, as one step.

        Args:
            value: The document.
            about: What was done, in words.
            line: The Python that does it.
        """
        self._edit("", lambda *_: value, about, line)

    def fix(self, n: int | None = None) -> None:
        """Fix the nth finding, or all of them whose fix is certain, as one step.

        Raises:
            InputError: How to fix it is for a person to decide.
        """
        findings = self.findings
        if n is not None and not findings[n].patch:
            raise InputError(f"How to correct this is yours to decide: {findings[n].message}")
        made = findings.fix() if n is None else patched(self.value, findings[n].patch)
        about = "all fixes" if n is None else f"fixing {_last(findings[n].pointer)}"
        self.replace(made, about, call_code("editor.fix", *([] if n is None else [n])))

    def undo(self) -> bool:
        """Take the last edit back; a text that cannot be read goes first."""
        if not self.undoable:
            return False
        if self._broken is not None:
            self._broken = None
        else:
            self._now -= 1
        self._findings = None
        return True

    def redo(self) -> bool:
        """Do again what was taken back."""
        if not self.redoable:
            return False
        self._now += 1
        self._findings = None
        return True

    def settle(self) -> None:
        """Make the next edit a step of its own, even one of the same place."""
        state = self._state
        self._states[self._now] = _State(state.value, state.text, state.about, state.line)

    # --- helpers --------------------------------------------------------------------

    def _edit(
        self,
        pointer: str,
        change: Callable[[Any, str], Any],
        about: str,
        line: str,
        joins: bool = False,
    ) -> None:
        """Change what is around a place, and keep the outcome as a step."""
        if self._broken is not None:
            raise InputError(
                "The text is not valid JSON now: correct it in the source, or undo the edit."
            )
        *way, key = steps(pointer) or [""]
        value = change(None, "") if not pointer else changed(self.value, way, key, change)
        if is_deeper(value, DEEPEST):
            raise InputError(_DEEP)
        if not same(value, self.value):
            self._keep(_State(value, None, about, line, pointer if joins else None))

    def _keep(self, state: _State) -> None:
        joined = state.place is not None and state.place == self._state.place and self._now
        del self._states[self._now + (0 if joined else 1) :]
        self._states.append(state)
        del self._states[:-_KEPT]
        self._now, self._findings = len(self._states) - 1, None

    def _listed(self, pointer: str) -> tuple[list[Any], int]:
        """Return the list in which an item stands, and where."""
        around, _, key = pointer.rpartition("/")
        if not self.has(pointer):
            raise nothing_at(pointer)
        items = self.find(around)
        if not isinstance(items, list):
            raise InputError(f"{pointer} is not an item of a list.")
        return items, int(key)


def document_text(value: Any) -> str:
    """Write a document as people read it; what no page could show is written as escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    return text


def same(a: Any, b: Any) -> bool:
    """Compare how two values are written: 1 is not True, and the order of keys counts."""
    return a is b or repr(a) == repr(b)


def _lines(text: str) -> str:
    """Write line ends as a page does."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _last(pointer: str) -> str:
    return (steps(pointer) or ["the flow"])[-1]


def _kind(value: Any) -> str:
    """Name what is added or moved."""
    kind = value.get("type") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind:
        return kind
    return "a screen" if isinstance(value, dict) and "layout" in value else "an item"
