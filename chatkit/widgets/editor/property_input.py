"""Inputs for the properties of a component, which take a value or a reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as w

from chatkit.display import escaped, visible
from chatkit.finding import Finding
from chatkit.flowjson.property import Property
from chatkit.flowjson.version import RELEASED, Version, data_api_versions
from chatkit.widgets.form.inputs import Input, JsonText, SingleInput

#: Stands for a property that is not there.
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "(not set)"})()

_BOUND = re.compile(r"\$\{|`")
_WIDE = 80  #: documented characters from which on a text gets several lines
_LISTS = ("strings", "dates", "choices")
_SUGGESTED = "${data.…}, ${form.…} or `an expression`"


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


def bound(value: Any) -> bool:
    """Tell whether a value is a reference or an expression, which stands for the whole."""
    return isinstance(value, str) and _BOUND.search(value) is not None


def _makers(
    prop: Property, version: Version, value: Any, screens: Sequence[str]
) -> list[Callable[[], Input]]:
    kind, name = prop.kind, prop.name
    if kind == "object" and name == "next":
        return [lambda: ScreenChoice(screens)]
    if kind == "boolean":
        return [lambda: ChoiceOrReference(prop, {"yes": True, "no": False})]
    if kind == "choice":
        return [lambda: ChoiceOrReference(prop, {one: one for one in prop.enum})]
    if name == "version":
        return [
            lambda: ChoiceOrReference(
                prop, {str(one): str(one) for one in sorted(RELEASED, reverse=True)}
            )
        ]
    if name == "data_api_version":
        return [lambda: ChoiceOrReference(prop, {one: one for one in data_api_versions(version)})]
    if kind in ("integer", "number"):
        return [lambda: NumberOrReference(prop)]
    if kind in _LISTS:
        return [lambda: LinesOrReference(prop)]
    if kind == "items":
        return [lambda: RowsReference(prop)]
    if kind in ("map", "range", "action", "object", "components", "cases"):
        return []
    return [lambda: TextProperty(prop, version, value)]


def _json(prop: Property, value: Any) -> Input:
    made = JsonProperty(prop)
    made.show(value)
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


class NumberOrReference(SingleInput):
    """A number, or a reference to one."""

    def __init__(self, prop: Property) -> None:
        self._whole, self._bound = prop.kind == "integer", prop.binding
        self.widget = w.Text(description=prop.name)

    def read(self) -> Any:
        """Return the number, or the reference. Raises `ValueError` for anything else."""
        text = self.widget.value.strip()
        if not text:
            return ABSENT
        if self._bound and bound(text):
            return text
        if re.fullmatch(r"-?[0-9]{1,15}", text):
            return int(text)
        if not self._whole and re.fullmatch(r"-?[0-9]{1,15}\.[0-9]{1,15}", text):
            return float(text)
        raise ValueError(f"must be a {'whole ' if self._whole else ''}number or ${{…}}")

    def show(self, value: Any) -> None:
        """Show a number or a reference."""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number or bound(value) or value is ABSENT):
            raise TypeError("must be a number")
        self.widget.value = "" if value is ABSENT else str(value)


class LinesOrReference(SingleInput):
    """Texts, each on a line of its own, or a reference to a list."""

    def __init__(self, prop: Property) -> None:
        self._bound = prop.binding
        self.widget = w.Textarea(
            description=prop.name, rows=3, placeholder="one on each line, or ${data.…}"
        )

    def read(self) -> Any:
        """Return the lines that are not empty, or the reference."""
        lines = [text for line in self.widget.value.split("\n") if (text := line.strip())]
        if self._bound and len(lines) == 1 and bound(lines[0]):
            return lines[0]
        return lines or ABSENT

    def show(self, value: Any) -> None:
        """Show a list of texts, or a reference."""
        if isinstance(value, list):
            if not all(isinstance(one, str) for one in value):
                raise TypeError("must be texts")
            self.widget.value = "\n".join(value)
        elif value is ABSENT or bound(value):
            self.widget.value = "" if value is ABSENT else value
        else:
            raise TypeError("must be a list")


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
        if text and not bound(text):
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


class ChoiceOrReference:
    """One of a few values, or a reference."""

    def __init__(self, prop: Property, values: dict[str, Any]) -> None:
        default = {True: "yes", False: "no"}.get(prop.default, prop.default)  # type: ignore[call-overload]
        nothing = "not set" if default is None else f"not set: {default}"
        self._values: list[Any] = [ABSENT, *values.values()]
        self._bound = len(self._values) if prop.binding else -1
        options = [(text, n) for n, text in enumerate([nothing, *values])]
        more = [("a reference …", self._bound)] if prop.binding else []
        self._pick = w.Dropdown(description=prop.name, options=[*options, *more])
        self._text: Any = None
        self.widget = self._pick
        if prop.binding:
            self._text = w.Text(placeholder=_SUGGESTED, description=f"{prop.name} refers to")
            self._text.add_class("chatkit-reference")
            self.widget = w.VBox([self._pick, self._text])
        self._pick.observe(lambda _: self._paint(), names="value")
        self._paint()

    def read(self) -> Any:
        """Return what is chosen, or the reference. Raises `ValueError` while there is none."""
        if self._pick.value != self._bound:
            return self._values[self._pick.value]
        text = self._text.value.strip()
        if not bound(text):
            raise ValueError("needs a reference like ${data.name}, or an expression in backticks")
        return text

    def show(self, value: Any) -> None:
        """Choose a value, or show a reference."""
        if self._bound >= 0 and bound(value):
            self._text.value, self._pick.value = value, self._bound
            return
        alike = [type(one) is type(value) and one == value for one in self._values]
        chosen = [n for n, same in enumerate(alike) if same]
        if not chosen:
            raise TypeError("is none of these")
        self._pick.value = chosen[0]

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever it changes."""
        self._pick.observe(lambda _: changed(), names="value")
        if self._text is not None:
            self._text.observe(lambda _: changed(), names="value")

    def lock(self, locked: bool) -> None:
        """Let nobody choose, or let them again."""
        self._pick.disabled = locked
        if self._text is not None:
            self._text.disabled = locked

    def _paint(self) -> None:
        if self._text is not None:
            self._text.layout.display = None if self._pick.value == self._bound else "none"


class ScreenChoice(ChoiceOrReference):
    """The screen to which navigate goes."""

    def __init__(self, screens: Sequence[str]) -> None:
        prop = Property("next screen", "choice", "", binding=False)
        ids = {visible(one): {"type": "screen", "name": one} for one in dict.fromkeys(screens)}
        super().__init__(prop, ids)

    def show(self, value: Any) -> None:
        """Choose a screen; one that is not there is kept as it is."""
        try:
            super().show(value)
        except TypeError:
            name = value.get("name") if isinstance(value, dict) else None
            if not isinstance(name, str) or value != {"type": "screen", "name": name}:
                raise
            self._values.append(value)
            place = len(self._values) - 1
            text = f"{visible(name)} (there is no such screen)" if name else "choose one"
            self._pick.options = [*self._pick.options, (text, place)]
            self._pick.value = place


class JsonProperty(JsonText):
    """Anything, written as JSON."""

    def __init__(self, prop: Property) -> None:
        super().__init__(prop.name, True)
        self.widget.rows = 4

    def read(self) -> Any:
        """Return what the JSON says. Raises `ValueError` with line and column."""
        return super().read() if self.widget.value.strip() else ABSENT

    def show(self, value: Any) -> None:
        """Write a value as JSON."""
        self.widget.value = ""
        if value is not ABSENT:
            super().show(value)
            self.widget.rows = min(max(self.widget.value.count("\n") + 1, 2), 12)
            if value is None:
                self.widget.value = "null"


class PropertyField:
    """One property of what is edited.

    Args:
        prop: What the table says of it.
        version: The version of the document.
        made: What it is typed into.
    """

    def __init__(self, prop: Property, version: Version, made: Input) -> None:
        self.input = made
        self.help = help_text(prop)
        self._wrong = ""
        self._found: tuple[Finding, ...] = ()
        self._said = w.HTML()
        self._paint()
        help_ = w.HTML(f"<small>{escape(self.help)}</small>")
        self.widget = w.VBox([made.widget, help_, self._said])
        self.widget.add_class("chatkit-field")
        if prop.needed(version):
            self.widget.add_class("chatkit-required")

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

    def focus(self) -> None:
        """Put the cursor into it."""
        first: Any = self.input.widget
        while getattr(first, "children", ()):
            first = first.children[0]
        first.focus()

    def _paint(self) -> None:
        said = [("error", self._wrong)] if self._wrong else []
        said += [(each.severity, f"{each.message} {each.hint}") for each in self._found]
        self._said.value = "".join(
            f'<span class="chatkit-problem {severity}" role="alert" dir="auto">'
            f"{escaped(text.strip())}</span>"
            for severity, text in said
        )
        self._said.layout.display = None if said else "none"


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
