"""A widget as a person uses it: controls by their labels, texts, messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from displayed import bundle_of

from chatkit.widgets.fields import CodeText, Control, FormModel
from chatkit.widgets.table import RowsTable


def parts(widget: Any) -> Iterator[Any]:
    """A widget and all that stands in it, what is hidden too."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child)


def seen(widget: Any, but: tuple[type, ...] = ()) -> Iterator[Any]:
    """A widget and what stands in it, without what is hidden, and without parts of a class."""
    if is_seen(widget):
        yield widget
        for child in getattr(widget, "children", ()):
            if not isinstance(child, but):
                yield from seen(child, but)


def is_seen(widget: Any) -> bool:
    layout = getattr(widget, "layout", None)
    return not getattr(widget, "hidden", False) and (layout is None or layout.display != "none")


def part(widget: Any, kind: type, css: str = "") -> Any:
    """The only part of this class, or the only one that has a class of the page too."""
    result = [one for one in parts(widget) if isinstance(one, kind)]
    result = [one for one in result if not css or css in classes(one)]
    assert len(result) == 1, f"{len(result)} parts are a {kind.__name__} {css}: {result}"
    return result[0]


def label(widget: Any) -> str:
    """Return the name of a control: the text on a button, or the label of an input."""
    words = getattr(widget, "description", "")
    named = hasattr(widget, "click") or kind(widget) in ("text", "checkbox", "choice")
    return words or (getattr(widget, "label", "") if named else "")


def controls(widget: Any, name: str) -> list[Any]:
    """All controls of this label, from top to bottom."""
    return [one for one in parts(widget) if label(one) == name]


def find(widget: Any, name: str, n: int = 0) -> Any:
    """The control of this label; the nth where each of several rows has one."""
    result = controls(widget, name)
    present = sorted({label(one) for one in parts(widget)} - {""})
    assert n < len(result), f"there is no {name!r} among {present}"
    return result[n]


def press(widget: Any, name: str, n: int = 0) -> None:
    """Click a button; one that is disabled hears nothing."""
    button = find(widget, name, n)
    if isinstance(button, Control):
        enter(widget, button, button.token)
    elif not button.disabled:
        button.click()


def type_into(widget: Any, name: str, value: Any, n: int = 0) -> None:
    """Type into an input, tick a box, or choose by the words that are offered."""
    control = find(widget, name, n)
    options = getattr(control, "options", ())
    if isinstance(control, Control):
        enter(widget, control, options.index(value) if value in options else value)
    else:
        control.value = dict(options)[value] if options else value


def enter(widget: Any, control: Control, value: Any) -> None:
    """Enter something in a control of a form, as its page does, or of a group of controls."""
    if isinstance(widget, Control):
        widget.enter_at(control.id, value)
        return
    for form in parts(widget):
        if isinstance(form, FormModel) and control in parts(form):
            send(form, {"id": control.id, "entered": value})
            return


def click_row(widget: Any, act: Any, row: Any) -> None:
    """Click the button of a row in the first table of a widget."""
    table = next(one for one in parts(widget) if isinstance(one, RowsTable))
    enter(widget, table, {"act": act, "row": row})


def code(widget: Any) -> str:
    """The Python that a form shows."""
    return str(part(widget, CodeText).value)


def buttons(widget: Any, but: tuple[type, ...] = ()) -> list[str]:
    """The labels of the buttons that a person sees, without those in parts of a class."""
    return [label(one) for one in seen(widget, but) if hasattr(one, "click")]


def html(widget: Any) -> str:
    """Return all texts of a widget, as the page gets them."""
    result = []
    for one in parts(widget):
        if kind(one) in ("html", "table"):
            result.append(one.value)
        if isinstance(one, Control):
            result += [escape(one.help), one.notes, *(escape(text) for _, text in one.problems)]
    return "\n".join(filter(None, result))


def kind(widget: Any) -> str:
    """Return the drawing of a part."""
    if isinstance(widget, Control):
        return widget.kind
    return str(widget.get_state()["_view_name"])


def static(widget: Any) -> dict[str, Any]:
    """Return the output of a widget that a notebook keeps for where it is not live."""
    return bundle_of(widget)


def page_of(widget: Any) -> str:
    """Return the output that a notebook keeps for an exported page."""
    return static(widget)["text/html"]


def classes(widget: Any) -> tuple[str, ...]:
    """The classes that a widget has in the page."""
    if isinstance(widget, Control):
        return tuple(widget.css.split())
    return tuple(widget.get_state().get("_dom_classes", ()))


def sources(kind: type) -> tuple[str, str]:
    """The script and the style of a widget, which every notebook keeps a copy of."""
    return vars(kind)["_esm"], vars(kind)["_css"]


def send(widget: Any, message: Any) -> None:
    """Send a widget a message as its page does: through its comm, as JSON."""
    data = {"method": "custom", "content": wire(message)}
    widget.comm.handle_msg({"content": {"data": data}, "buffers": []})


def heard(widget: Any) -> list[Any]:
    """Record the messages of a widget to its page from now on."""
    sent: list[Any] = []
    widget.send = lambda message, buffers=None: sent.append(wire(message))
    return sent


class Clock:
    """Stands for the module `time`: an hour passes at once."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


def wire(message: Any) -> Any:
    return json.loads(json.dumps(message, allow_nan=False).encode())
