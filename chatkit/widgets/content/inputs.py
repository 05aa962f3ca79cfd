"""Inputs for the header, the buttons and the samples of a content.

Of a header or a button only the fields that its type uses are shown, and those that hold
something all the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic.fields import FieldInfo

from chatkit.display import cut
from chatkit.localization.content import part, slots
from chatkit.templates import Button, Header
from chatkit.widgets.fields import Bodies, Input, TextLine, of_kind
from chatkit.widgets.light import LightBox, LightButton, LightHTML

_USED = {
    "text": ("text",),
    "image": ("link",),
    "video": ("link",),
    "document": ("link", "file_name"),
    "custom": ("label",),
    "visit_website": ("label", "value", "url_type"),
    "call_phone": ("label", "value", "country_code"),
    "copy_offer_code": ("label", "value"),
    "view_catalog": ("label",),
}
#: What holds a sample, and the field whose placeholder it is for.
_SAMPLES = {"text_variable": "text", "dynamic_url": "value"}


class Loose(TextLine):
    """A text; what the service has that is no text is written as JSON, and kept as it is."""

    def __init__(self, name: str) -> None:
        super().__init__(name, False, True, False)
        self._raw: Any = None
        self._shown = ""

    def read(self) -> Any:
        """Return the text, or what was there before if nobody has touched it."""
        return self._raw if self.widget.value == self._shown else super().read()

    def show(self, value: Any) -> None:
        """Show a text, or anything else as JSON."""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self._raw, self._shown = value, "" if value is None else text
        self.widget.value = self._shown


class Parts(Bodies):
    """Headers or buttons: several small bodies, each of a type, in an order that counts.

    Args:
        name: The name of the field.
        body: What each of them is.
        most: So many can be added.
    """

    def __init__(self, name: str, body: type[Header | Button], most: int) -> None:
        super().__init__(name, body, False)
        self._names = list(body.model_fields)
        self._most = most
        self._hints: Sequence[Mapping[str, Any]] = ()

    def _input(self, name: str, field: FieldInfo) -> Input:
        made = Loose(name) if field.annotation is Any else super()._input(name, field)
        if name == "type":
            made.widget.add_class("cf-type")
        return made

    def add(self) -> Any:
        """Add an empty one; the first type is chosen."""
        row = super().add()
        *inputs, remove = row.widget.children
        up = LightButton("Up", lambda: self._move(row, -1))
        down = LightButton("Down", lambda: self._move(row, +1))
        moves = [up, down] if self._most > 1 else []
        tools = LightBox([*moves, remove], "cf-tools", row=True)
        row.widget.children = [*inputs, tools]
        kinds = row.inputs[0]
        if kinds.read() is None:
            kinds.show("custom" if self._most > 1 else "text")
        for one in row.inputs:
            one.watch(lambda: self._fit(row))
        self._laid_out()
        return row

    def _move(self, row: Any, step: int) -> None:
        """Let two neighbours change places. The cursor stays where it is."""
        place = self._rows.index(row)
        if 0 <= place + step < len(self._rows):
            other = self._rows[place + step]
            changed, self._changed = self._changed, lambda: None
            for one, two in zip(row.inputs, other.inputs, strict=True):
                first, second = one.read(), two.read()
                one.show(second)
                two.show(first)
            row.known, other.known = other.known, row.known
            self._changed = changed
            self._laid_out()

    def _fit(self, row: Any) -> None:
        """Show the fields that the type of a row uses, and those that hold something."""
        values = {name: one.read() for name, one in zip(self._names, row.inputs, strict=True)}
        used = {"type", *_USED.get(str(values["type"]), ())}
        used |= {n for n, of in _SAMPLES.items() if of in used and slots(part(values, of))}
        for name, one in zip(self._names, row.inputs, strict=True):
            seen = name in used or values[name] not in (None, "")
            one.widget.hidden = not seen

    def _laid_out(self) -> None:
        """Name the tools by the row they are for, and lay out the rows."""
        last = len(self._rows)
        for n, row in enumerate(self._rows, 1):
            tools = row.widget.children[-1]
            if not isinstance(tools, LightBox):  # it is being added
                continue
            *moves, remove = tools.children
            remove.label = f"Remove {self._noun} {n}"
            for move, word, end in zip(moves, ("up", "down"), (n == 1, n == last), strict=False):
                move.label, move.disabled = f"Move {word}", end
            self._fit(row)
        self._add.hidden = last >= self._most
        self._box.children = [row.widget for row in self._rows]
        self.hint(self._hints)
        self._changed()

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""
        self._add.disabled = locked
        for row in self._rows:
            for tool in row.widget.children[-1].children:
                tool.disabled = locked
            for one in row.inputs:
                one.lock(locked)
        if not locked:
            changed, self._changed = self._changed, lambda: None
            self._laid_out()
            self._changed = changed

    def hint(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Show in empty inputs what the source language has there."""
        self._hints = items
        for n, row in enumerate(self._rows):
            item = items[n] if n < len(items) else {}
            for name, one in zip(self._names, row.inputs, strict=True):
                if isinstance(one, TextLine):
                    one.widget.placeholder = cut(part(item, name), 100)


class Samples:
    """A sample text for each placeholder: one line for each that the text has."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._changed: Callable[[], None] = lambda: None
        self._lines: dict[str, TextLine] = {}
        self._known: dict[str, str] = {}
        self._hints: Mapping[str, Any] = {}
        self._box = LightBox()
        title = LightHTML(f'<span class="chatkit-label">{name}</span>')
        self.widget = LightBox([title, self._box], "chatkit-rows cf-samples")

    def read(self) -> dict[str, str]:
        """Return the texts that are filled in: an emptied one is taken away."""
        texts = {name: str(line.read()) for name, line in self._lines.items()}
        return {name: text for name, text in texts.items() if text}

    def show(self, value: Any) -> None:
        """Show texts by their names."""
        texts = of_kind(value or {}, dict, "a dict")
        self._known = {
            of_kind(name, str, "text"): of_kind(text, str, "text") for name, text in texts.items()
        }
        names, self._lines = list(self._lines), {}
        self.ask([*self._known, *names])
        for name in names:
            if name not in self._known:
                del self._lines[name]
        self._laid_out()
        self._changed()

    def ask(self, names: Iterable[str]) -> None:
        """Show a line for each of these; those that are filled in stay."""
        kept = {name: line for name, line in self._lines.items() if line.read()}
        wanted = dict.fromkeys([*names, *kept, *self._known])
        ordered = sorted(wanted, key=lambda name: (not name.isdecimal(), len(name), name))
        if ordered != list(self._lines):
            self._lines = {name: self._lines.get(name) or self._line(name) for name in ordered}
            self._laid_out()

    def _line(self, name: str) -> TextLine:
        line = TextLine("{{" + cut(name, 20) + "}}", False, False, False)
        line.show(self._known.get(name, ""))
        line.watch(lambda: self._changed())
        return line

    def _laid_out(self) -> None:
        self._box.children = [line.widget for line in self._lines.values()]
        self.hint(self._hints)

    def hint(self, texts: Mapping[str, Any]) -> None:
        """Show in empty lines what the source language has there."""
        self._hints = texts
        for name, line in self._lines.items():
            line.widget.placeholder = cut(part(texts, name), 100)

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever it changes."""
        self._changed = changed

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""
        for line in self._lines.values():
            line.lock(locked)
