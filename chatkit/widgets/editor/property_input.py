"""Inputs for the properties of a component, which take a value or a reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import ipywidgets as w

from chatkit.display import visible
from chatkit.finding import Finding
from chatkit.flowjson.property import Property
from chatkit.flowjson.version import RELEASED, Version, data_api_versions
from chatkit.widgets.form.fields import LabelledInput
from chatkit.widgets.form.inputs import (
    Choice,
    Input,
    JsonText,
    Number,
    SingleInput,
    TextLines,
    is_reference,
)

#: Stands for a property that is not there.
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "(not set)"})()

_WIDE = 80  #: documented characters from which on a text gets several lines
_LISTS = ("strings", "dates", "choices")


def input_for(prop: Property, version: Version, value: Any, screens: Sequence[str] = ()) -> Input:
    """Choose the input for a property; a value of another kind is shown as JSON."""
    for make in _makers(prop, version, value, screens):
        made = make()
        try:
            made.show(value)
        except TypeError:
            forget(made.widget)
            continue
        return made
    return _json(prop, value)


def forget(widget: Any) -> None:
    """Close a widget and all that it is made of, here and in the page."""
    for one in getattr(widget, "children", ()):
        forget(one)
    for part in (getattr(widget, "layout", None), getattr(widget, "style", None)):
        if isinstance(part, w.Widget):
            part.close()
    widget.close()


def _makers(
    prop: Property, version: Version, value: Any, screens: Sequence[str]
) -> list[Callable[[], Input]]:
    kind, name = prop.kind, prop.name
    if kind == "object" and name == "next":
        return [lambda: ScreenChoice(screens)]
    by_kind: dict[str, dict[str, Any]] = {
        "boolean": {"yes": True, "no": False},
        "choice": {one: one for one in prop.enum},
    }
    choices = by_kind.get(kind)
    if name == "version":
        choices = {str(one): str(one) for one in sorted(RELEASED, reverse=True)}
    elif name == "data_api_version":
        choices = {one: one for one in data_api_versions(version)}
    if choices is not None:
        return [partial(PropertyChoice, prop, choices)]
    if kind in ("integer", "number"):
        whole = kind == "integer"
        return [lambda: Number(name, ABSENT, whole=whole, digits=15, reference=prop.binding)]
    if kind in _LISTS:
        return [lambda: TextLines(name, ABSENT, reference=prop.binding)]
    if kind == "items":
        return [lambda: RowsReference(prop)]
    if kind in ("map", "range", "action", "object", "components", "cases"):
        return []
    return [lambda: TextProperty(prop, version, value)]


def _json(prop: Property, value: Any) -> Input:
    made = JsonText(prop.name, 4, ABSENT)
    made.show(value)
    if value is not ABSENT:
        made.widget.rows = min(max(made.widget.value.count("\n") + 1, 2), 12)
    return made


class TextProperty(SingleInput):
    """A text, on one line or several; a list of texts is one text a line."""

    def __init__(self, prop: Property, version: Version, value: Any) -> None:
        several = "strings" in prop.kinds(version)
        long = several or (prop.length or 0) > _WIDE or "\n" in str(value)
        later = prop.name in ("id", "name")  # a name is changed once it is typed whole
        options = {"description": prop.name, "continuous_update": not later}
        self.widget = w.Textarea(rows=3, **options) if long else w.Text(**options)
        self._several, self._needed, self._listed = several, prop.needed(version), False

    def read(self) -> Any:
        """Return the text."""
        text = self.widget.value
        if self._listed:
            return text.split("\n")
        return text if text or self._needed else ABSENT

    def show(self, value: Any) -> None:
        """Show a text, or a list of texts without line breaks."""
        self._listed = self._several and isinstance(value, list)
        if self._listed and value and all(isinstance(v, str) and "\n" not in v for v in value):
            self.widget.value = "\n".join(value)
            return
        if value is not ABSENT and not isinstance(value, str):
            raise TypeError("must be text")
        self.widget.value = "" if value is ABSENT else value


class RowsReference(SingleInput):
    """A reference in place of rows that stand in the tree."""

    def __init__(self, prop: Property) -> None:
        self._rows: Any = ABSENT
        self.widget = w.Text(
            description=prop.name, placeholder="in the tree; or here ${data.…} in their place"
        )

    def read(self) -> Any:
        """Return the reference, or the rows that were there. Raises `ValueError` for words."""
        text = self.widget.value.strip()
        if text and not is_reference(text):
            raise ValueError("must be a reference like ${data.options}")
        if text:
            return text
        return [] if self._rows is ABSENT else self._rows

    def show(self, value: Any) -> None:
        """Show a reference; rows are shown by the tree."""
        if value is not ABSENT and not isinstance(value, list | str):
            raise TypeError("must be a list")
        self._rows = value if isinstance(value, list) else ABSENT
        self.widget.value = value if isinstance(value, str) else ""


class PropertyChoice(Choice):
    """One of the values that a property may have, or a reference."""

    def __init__(self, prop: Property, values: Mapping[str, Any]) -> None:
        default = {True: "yes", False: "no"}.get(prop.default, prop.default)  # type: ignore[call-overload]
        unset = "not set" if default is None else f"not set: {default}"
        super().__init__(prop.name, values, ABSENT, unset, reference=prop.binding)

    def _kept(self, value: Any) -> str:
        raise TypeError("is none of these")  # it is shown as JSON


class ScreenChoice(Choice):
    """The screen to which navigate goes."""

    def __init__(self, screens: Sequence[str]) -> None:
        ids = {visible(one): {"type": "screen", "name": one} for one in dict.fromkeys(screens)}
        super().__init__("next screen", ids, ABSENT, "not set")

    def _kept(self, value: Any) -> str:
        name = value.get("name") if isinstance(value, dict) else None
        if not isinstance(name, str) or value != {"type": "screen", "name": name}:
            raise TypeError("is no screen")
        return f"{visible(name)} (there is no such screen)" if name else "choose one"


class PropertyField(LabelledInput):
    """One property of what is edited.

    Args:
        prop: What the table says of it.
        version: The version of the document.
        made: What it is typed into.
    """

    def __init__(self, prop: Property, version: Version, made: Input) -> None:
        super().__init__(made)
        self._wrong = ""
        self._found: tuple[Finding, ...] = ()
        self.explain(help_text(prop), required=prop.needed(version))

    @property
    def problem(self) -> str:
        """What is said to be wrong with it; empty if nothing is."""
        return " ".join([self._wrong, *(each.message for each in self._found)]).strip()

    def say(self, findings: Sequence[Finding]) -> None:
        """Say what the lint finds at it."""
        if tuple(findings) != self._found:
            self._found = tuple(findings)
            self._paint()

    def wrong(self, why: str) -> None:
        """Say that what is typed is no value; an empty text takes that back."""
        if why != self._wrong:
            self._wrong = why
            self._paint()

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""
        self.input.lock(locked)

    def _paint(self) -> None:
        said = [("error", self._wrong)] if self._wrong else []
        said += [(each.severity, f"{each.message} {each.hint}") for each in self._found]
        self._show_problems(said)


def help_text(prop: Property) -> str:
    """Say what a property is for, and what it takes."""
    parts = [prop.about]
    if prop.length:
        parts.append(f"At most {prop.length:,} characters.")
    if prop.kind == "choices":
        parts.append(f"Of {', '.join(prop.enum[:8])}{' …' if len(prop.enum) > 8 else '.'}")
    if prop.kind in ("date", "dates"):
        parts.append("YYYY-MM-DD.")
    if prop.low is not None and prop.high is not None:
        parts.append(f"{prop.low:g} to {prop.high:g}.")
    elif prop.low is not None:
        parts.append(f"At least {prop.low:g}.")
    if prop.kilobytes:
        parts.append(f"At most {prop.kilobytes[-1][1]} KB.")
    if prop.default is not None and prop.kind not in ("boolean", "choice"):
        parts.append(f"Not set, it is {prop.default}.")
    return " ".join(filter(None, parts))
