"""Document state of the editor: the value, the text, and every step back."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from chatkit.errors import InputError
from chatkit.flowjson.document import DEEPEST, DocumentSource, read_source
from chatkit.flowjson.lint import Findings, lint
from chatkit.flowjson.nodes import read_nodes
from chatkit.report import Finding
from chatkit.util.json import (
    PatchOperation,
    append_to_pointer,
    apply_patch,
    change_at_path,
    get_value,
    is_deeper,
    make_missing_error,
    remove_item,
    set_item,
    split_pointer,
)
from chatkit.widgets.editor.edits import copy_of, with_action, with_name, without_part

_TOO_DEEP = f"The flow document is nested more than {DEEPEST} levels deep."
_MOST_STEPS = 200  #: steps that can be taken back


@dataclass
class _State:
    """The document after one edit."""

    value: Any  # of a text that cannot be read, the value before
    typed: str | None  # the text, as it was typed; None: written from the value
    about: str = ""  # what the edit did, in words
    place: str | None = None  # what was edited: the next edit of the same place joins it
    problem: str | None = None  # why the text cannot be read; "" where the lint has the reason

    @cached_property
    def text(self) -> str:
        return document_text(self.value) if self.typed is None else self.typed

    @cached_property
    def findings(self) -> Findings:
        if self.problem:
            fault = Finding("INVALID_FLOW_JSON", "error", "", self.problem, line=1, column=1)
            return Findings([fault], None, self.text)
        return lint(f"{self.text}\n")  # with a line break it is never a file's name


class DocumentState:
    """A flow document that is edited step by step, and each step of which can be undone.

    A text that is no JSON is kept as it is typed; `value` is then still that of the last one
    that was.

    Args:
        document: A value, JSON text (also a broken one), a file, or a built Flow.

    Raises:
        InputError: A file cannot be opened, or it is nothing of these.
    """

    def __init__(self, document: object) -> None:
        source = read_source(document)
        text = source.text
        if text is not None:  # with the line ends of a page
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        problem = _read_problem(source)
        if problem is not None:
            self._states = [_State({}, text or "", problem=problem)]
        else:
            if text and "\n" not in text.strip() and not source.has_duplicates:
                text = None  # all on one line: nobody has written it by hand
            self._states = [_State(source.value, text)]
        self._index = 0

    def __repr__(self) -> str:
        return f"<flow document: {self.findings.summary()}, {self._index} edits>"

    # --- content --------------------------------------------------------------------

    @property
    def value(self) -> Any:
        """The document; while the text cannot be read, the last one that could."""
        return self._state.value

    @property
    def text(self) -> str:
        """The text, as it was typed or as the last edit left it."""
        return self._state.text

    @property
    def broken(self) -> bool:
        """True while the text cannot be read."""
        return self._state.problem is not None

    @property
    def findings(self) -> Findings:
        """The findings of the lint, with lines of the text."""
        return self._state.findings

    @property
    def undoable(self) -> str:
        """The step that `undo` would take back, in words; empty if there is none."""
        return self._state.about if self._index else ""

    @property
    def redoable(self) -> str:
        """The step that `redo` would do again, in words; empty if there is none."""
        later = self._states[self._index + 1 : self._index + 2]
        return later[0].about if later else ""

    @property
    def _state(self) -> _State:
        return self._states[self._index]

    def find(self, pointer: str) -> Any:
        """Return the value at a pointer. Raises `LookupError` if there is none."""
        return get_value(self.value, pointer)

    def has(self, pointer: str) -> bool:
        """Return whether there is a value at a pointer."""
        try:
            self.find(pointer)
        except LookupError:
            return False
        return True

    def find_line(self, pointer: str) -> tuple[int, int]:
        """Return the line and the column of a pointer in the text."""
        return read_source(f"{self.text}\n").find(pointer)

    # --- edits ----------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Replace the text; one that cannot be read leaves the value as it is."""
        if text == self.text:
            return
        if self.broken and self._index and text == self._states[self._index - 1].text:
            self._index -= 1
            return
        source = read_source(f"{text}\n")
        problem = _read_problem(source)
        if problem is None:
            self._push_state(_State(source.value, text, "the text"))
        else:
            about = "what cannot be read"
            self._push_state(_State(self.value, text, about, problem=problem))

    def set(self, pointer: str, value: Any) -> None:
        """Set the value at a pointer; missing objects around it are made."""
        put = partial(set_item, value=value)
        self._apply_edit(pointer, put, _last_step(pointer), joins=True)

    def unset(self, pointer: str) -> None:
        """Take a key out of its object, or an item out of its list.

        Raises:
            InputError: Nothing stands there.
        """
        if pointer == "" or not self.has(pointer):
            raise make_missing_error(pointer)
        self._apply_edit(pointer, remove_item, f"removing {_last_step(pointer)}")

    def move(self, pointer: str, by: int) -> str:
        """Move an item within its list, and return its new pointer.

        Raises:
            InputError: Nothing stands there, or it does not stand in a list.
        """
        items, index = self._find_item(pointer)
        new_index = min(max(index + by, 0), len(items) - 1)
        if new_index == index:
            return pointer

        rest = [*items[:index], *items[index + 1 :]]
        moved = [*rest[:new_index], items[index], *rest[new_index:]]
        self._apply_edit(pointer, lambda *_: moved, f"moving {_describe_item(items[index])}")
        return f"{pointer.rpartition('/')[0]}/{new_index}"

    def drop(self, pointer: str, target: str, *, after: bool) -> str:
        """Move an item beside another one, or to the end of a list; return its new pointer.

        Raises:
            InputError: Nothing stands there, or they are neither of one list nor of one screen.
        """
        items, index = self._find_item(pointer)
        if not self.has(target):
            raise make_missing_error(target)
        around, to = pointer.rpartition("/")[0], target.rpartition("/")
        inside = isinstance(self.find(target), list)
        if to[0] == around and not inside:
            return self.move(pointer, int(to[2]) + after - index - (int(to[2]) + after > index))
        screens = (
            pointer.split("/")[:3] == target.split("/")[:3] and len(split_pointer(pointer)) > 3
        )
        if not screens or f"{target}/".startswith(f"{pointer}/"):
            raise InputError("It can be put elsewhere in its own list, or on its own screen.")
        document = copy.deepcopy(self.value)
        own, new = get_value(document, around), get_value(document, target if inside else to[0])
        if not isinstance(new, list):
            raise InputError(f"{target} does not stand in a list.")
        gone = object()  # so that removing it moves no place that was found before
        moved, own[index] = own[index], gone
        new.insert(len(new) if inside else int(to[2]) + after, moved)
        own.remove(gone)
        self.replace(document, f"moving {_describe_item(items[index])}")
        pointers = (one.pointer for one in read_nodes(document).components if one.value is moved)
        return next(pointers, around)

    def duplicate(self, pointer: str) -> str:
        """Insert a copy of an item after it, with ids and names of its own; return its pointer.

        Raises:
            InputError: Nothing stands there, or it does not stand in a list.
        """
        items, index = self._find_item(pointer)
        place = f"{pointer.rpartition('/')[0]}/{index + 1}"
        addition = PatchOperation("add", place, copy_of(items[index], self.value))
        made = apply_patch(self.value, [addition])
        self.replace(made, f"duplicating {_describe_item(items[index])}")
        return place

    def rename(self, pointer: str, name: str) -> str:
        """Rename a screen, a component or a case in the whole document; return its pointer.

        Raises:
            InputError: Nothing stands there, it has no name, or the name is taken.
        """
        if not self.has(pointer):
            raise make_missing_error(pointer)
        made = with_name(self.value, pointer, name)
        self.replace(made, f"renaming to {name}")
        if isinstance(self.find(pointer.rpartition("/")[0]), list):
            return pointer
        return append_to_pointer(pointer.rpartition("/")[0], name)

    def remove(self, pointer: str) -> None:
        """Remove a screen, component or option, with the values sent of it.

        Raises:
            InputError: Nothing stands there, or it does not stand in a list.
        """
        items, index = self._find_item(pointer)
        made = without_part(self.value, pointer)
        self.replace(made, f"removing {_describe_item(items[index])}")

    def act(self, pointer: str, name: str) -> None:
        """Set the action at a pointer to one of this name, keeping shared properties."""
        made = with_action(self.value, pointer, name)
        self.replace(made, f"the action {name}")

    def replace(self, value: Any, about: str) -> None:
        """Replace the document, as one step.

        Args:
            value: The document.
            about: The edit in words.
        """
        self._apply_edit("", lambda *_: value, about)

    def fix(self, n: int | None = None) -> None:
        """Fix the nth finding, or all of them whose fix is certain, as one step.

        Raises:
            InputError: How to fix it is for a person to decide.
        """
        findings = self.findings
        if n is not None and not findings[n].patch:
            raise InputError(f"How to correct this is yours to decide: {findings[n].message}")
        made = findings.fix() if n is None else apply_patch(self.value, findings[n].patch)
        about = "all fixes" if n is None else f"fixing {_last_step(findings[n].pointer)}"
        self.replace(made, about)

    def undo(self) -> bool:
        """Undo the last edit; a text that cannot be read counts as one."""
        if not self.undoable:
            return False
        self._index -= 1
        return True

    def redo(self) -> bool:
        """Redo the last edit that was undone."""
        if not self.redoable:
            return False
        self._index += 1
        return True

    def settle(self) -> None:
        """Make the next edit a step of its own, even one at the same pointer."""
        self._state.place = None

    # --- helpers --------------------------------------------------------------------

    def _apply_edit(
        self,
        pointer: str,
        change: Callable[[Any, str], Any],
        about: str,
        *,
        joins: bool = False,
    ) -> None:
        """Change the object or list around a pointer, and add the outcome as a step."""
        if self.broken:
            raise InputError(
                "The text is not valid JSON now: correct it in the source, or undo the edit."
            )
        *path, key = split_pointer(pointer) or [""]
        value = change(None, "") if not pointer else change_at_path(self.value, path, key, change)
        if is_deeper(value, DEEPEST):
            raise InputError(_TOO_DEEP)
        if not is_identical(value, self.value):
            self._push_state(_State(value, None, about, pointer if joins else None))

    def _push_state(self, state: _State) -> None:
        """Add a step; it replaces one of the same place, and a text that cannot be read."""
        same_place = state.place is not None and state.place == self._state.place
        joined = self._index and (same_place or self.broken)
        del self._states[self._index + (0 if joined else 1) :]
        self._states.append(state)
        del self._states[:-_MOST_STEPS]
        self._index = len(self._states) - 1

    def _find_item(self, pointer: str) -> tuple[list[Any], int]:
        """Return the list of an item, and its index."""
        around, _, key = pointer.rpartition("/")
        if not self.has(pointer):
            raise make_missing_error(pointer)
        items = self.find(around)
        if not isinstance(items, list):
            raise InputError(f"{pointer} is not an item of a list.")
        return items, int(key)


def _read_problem(source: DocumentSource) -> str | None:
    """Return why a source cannot be read, "" if the lint says why; None if it can be read."""
    if source.fault:
        return ""
    return _TOO_DEEP if is_deeper(source.value, DEEPEST) else None


def document_text(value: Any) -> str:
    """Write a document as indented JSON, with escapes where a page could not show it."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    return text


def is_identical(a: Any, b: Any) -> bool:
    """Return whether two values are written alike: 1 is not True, and the order of keys counts."""
    return a is b or repr(a) == repr(b)


def _last_step(pointer: str) -> str:
    return (split_pointer(pointer) or ["the flow"])[-1]


def _describe_item(value: Any) -> str:
    """Return the noun for an item that is added or moved."""
    kind = value.get("type") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind:
        return kind
    return "a screen" if isinstance(value, dict) and "layout" in value else "an item"
