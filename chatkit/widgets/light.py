"""Controls that a form draws itself: one widget in the page, however many inputs there are.

Each control of ipywidgets is a model with a layout and a style of its own, which the kernel
announces to the page one by one: a form of 35 inputs made 380 of them, and was there after more
than a second. These are plain objects. A `LightForm` sends the tree of them as one value, and
the page draws it with the class names that the controls of ipywidgets have, so that a theme
finds both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import count
from threading import Lock
from typing import Any, Generic, TypeVar, overload

import anywidget
import traitlets

from chatkit.widgets.controls import ActsOnce, joined_module, joined_text

_T = TypeVar("_T")
_ids = count(1)


class State(Generic[_T]):
    """What a control shows: a value that the page gets whenever it is set to another."""

    def __init__(self, first: _T) -> None:
        self._first = first

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, one: None, owner: type) -> State[_T]: ...
    @overload
    def __get__(self, one: LightWidget, owner: type) -> _T: ...
    def __get__(self, one: LightWidget | None, owner: type) -> State[_T] | _T:
        if one is None:
            return self
        value: _T = one.state.get(self._name, self._first)
        return value

    def __set__(self, one: LightWidget, value: _T) -> None:
        if value != one.state.get(self._name, self._first):
            one.state[self._name] = value
            one.changed(self._name)


class LightWidget:
    """A control, or a box of several: what it shows, and what stands in it."""

    kind = ""
    takes: type | None = None  #: of what kind a value must be that is entered in the page
    value: Any = None
    hidden = State(False)

    def __init__(self, **state: Any) -> None:
        self.id = next(_ids)
        self.state = state
        self.around: LightWidget | LightForm | None = None
        self._classes: list[str] = []
        self._heard: list[Callable[[Any], object]] = []
        self._written = 0  #: how often its value was set by Python: the page then takes it over

    @property
    def children(self) -> Sequence[Any]:
        """What stands in it."""
        return ()

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it has in the page."""
        return tuple(self._classes)

    def add_class(self, name: str) -> None:
        """Give it a class of the page."""
        if name not in self._classes:
            self._classes.append(name)
            self.changed("classes")

    def remove_class(self, name: str) -> None:
        """Take a class of the page away from it."""
        if name in self._classes:
            self._classes.remove(name)
            self.changed("classes")

    def observe(self, heard: Callable[[Any], object], names: str = "value") -> None:
        """Call something whenever its value changes."""
        self._heard.append(heard)

    def focus(self) -> None:
        """Put the cursor into it, or into the first control in it."""
        if (form := self._form()) is not None:
            form.send({"focus": self.id})

    def held(self) -> AbstractContextManager[None]:
        """Send what changes meanwhile to the page at the end, at once."""
        form = self._form()
        return nullcontext() if form is None else form.held()

    def changed(self, name: str) -> None:
        """Tell the page, and those who observe the value."""
        if name == "value":
            self._written += 1
        self._tell(name)

    def entered(self, given: Any) -> None:
        """Take what somebody has entered in the page; what it cannot hold is ignored."""
        if self.takes is not None and isinstance(given, self.takes):
            self._enter(given)

    def _enter(self, value: Any) -> None:
        """Take a value that the page shows already."""
        if not self.state.get("disabled") and value != self.value:
            self.state["value"] = value
            self._tell("value")

    def _tell(self, name: str) -> None:
        with self.held():
            for heard in self._heard if name == "value" else ():
                heard(self)
            if (form := self._form()) is not None:
                form.dirty = True

    def _form(self) -> LightForm | None:
        around = self.around
        while isinstance(around, LightWidget):
            around = around.around
        return around

    def drawn(self) -> dict[str, Any]:
        """Return what the page draws."""
        made: dict[str, Any] = {"id": self.id, "kind": self.kind, **self.state}
        if self._classes:
            made["classes"] = self._classes
        if self._written:
            made["written"] = self._written
        if self.children:
            made["children"] = [
                one.drawn() if isinstance(one, LightWidget) else {"id": 0, "model": one.model_id}
                for one in self.children
            ]
        return made


class LightHTML(LightWidget):
    """Some HTML, in which every text is escaped."""

    kind = "html"
    value: State[str] = State("")

    def __init__(self, value: str = "") -> None:
        super().__init__(value=value)


class LightText(LightWidget):
    """A text, on one line or on several.

    Args:
        description: What stands beside it.
        placeholder: What an empty one shows.
        rows: The lines it is high, if they are several.
        late: Whether it counts when it is typed whole, not at each letter.
    """

    kind, takes = "text", str
    value: State[str] = State("")
    description = State("")
    placeholder = State("")
    disabled = State(False)
    rows = State(0)

    def __init__(
        self, description: str, placeholder: str = "", rows: int = 0, *, late: bool = False
    ) -> None:
        more = {"late": True} if late else {}
        super().__init__(description=description, placeholder=placeholder, rows=rows, **more)


class LightCheckbox(LightWidget):
    """Yes or no."""

    kind, takes = "checkbox", bool
    value: State[bool] = State(False)
    description = State("")
    disabled = State(False)

    def __init__(self, description: str) -> None:
        super().__init__(description=description)


class LightDropdown(LightWidget):
    """One of several, each by the words for it.

    Args:
        description: What stands beside it.
        options: What is offered: words, and what they stand for. The first is chosen.
    """

    kind = "dropdown"
    value: State[Any] = State(None)
    description = State("")
    disabled = State(False)
    options: State[Sequence[tuple[str, Any]]] = State(())

    def __init__(self, description: str, options: Sequence[tuple[str, Any]]) -> None:
        super().__init__(description=description, options=list(options), value=options[0][1])

    def entered(self, given: Any) -> None:
        """Take the number of an option."""
        if isinstance(given, int) and 0 <= given < len(self.options):
            self._enter(self.options[given][1])

    def drawn(self) -> dict[str, Any]:
        """Return what the page draws: the words, and the number of those that are chosen."""
        values = [value for _, value in self.options]
        words = [text for text, _ in self.options]
        return {**super().drawn(), "options": words, "value": values.index(self.value)}


class LightButton(ActsOnce, LightWidget):
    """A button that acts once, even when its click arrives twice, as an `ActionButton` does.

    Args:
        label: What it does, in words.
        act: What a click calls.
    """

    kind = "button"
    label = State("")
    disabled = State(False)
    token = State("")

    def __init__(self, label: str, act: Callable[[], object]) -> None:
        super().__init__(label=label, token=self._will(act))

    def entered(self, given: Any) -> None:
        """Act, if the click has seen the token that it has now."""
        self._clicked(given)


class LightBox(LightWidget):
    """Several controls one below the other, or in a row.

    Args:
        children: The controls; widgets of ipywidgets can be among them.
        css: Classes that it has in the page.
        row: Whether they stand in a row.
    """

    kind = "box"

    def __init__(self, children: Sequence[Any] = (), css: str = "", *, row: bool = False) -> None:
        super().__init__(**({"row": True} if row else {}))
        self._children: list[Any] = []
        self._classes = css.split()
        self.children = children

    @property
    def children(self) -> Sequence[Any]:
        """What stands in it."""
        return self._children

    @children.setter
    def children(self, children: Sequence[Any]) -> None:
        for one in self._children:
            if isinstance(one, LightWidget):
                one.around = None
        self._children = list(children)
        for one in self._children:
            if isinstance(one, LightWidget):
                one.around = self
        self.changed("children")


class LightFold(LightBox):
    """Controls that are folded away until somebody wants them.

    Args:
        title: What they are.
        children: The controls.
    """

    kind, takes = "fold", bool
    title = State("")
    value: State[bool] = State(False)  #: whether it is open

    def __init__(self, title: str, children: Sequence[Any]) -> None:
        super().__init__(children)
        self.title = title


def walk(one: Any) -> Iterator[Any]:
    """Yield a control and all that stands in it."""
    yield one
    for child in getattr(one, "children", ()):
        yield from walk(child)


class LightForm(anywidget.AnyWidget):
    """Draws some controls, and takes what is entered in them.

    Args:
        root: The box of all of them.
    """

    _esm = joined_module(["keys.js", "light.js"])
    _css = joined_text(["button.css", "light.css"])

    #: What is drawn. It is read from the controls whenever it is sent.
    tree = traitlets.Any().tag(sync=True, to_json=lambda _, form: form.root.drawn())

    def __init__(self, root: LightBox) -> None:
        self.root, self.dirty = root, False
        self._holds, self._lock = 0, Lock()
        root.around = self
        super().__init__()
        self.on_msg(self._heard)

    def __repr__(self) -> str:
        return f"<form of {sum(1 for _ in walk(self.root))} controls>"

    @property
    def children(self) -> Sequence[Any]:
        """What it draws."""
        return (self.root,)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Send what changes meanwhile to the page at the end, at once."""
        with self._lock:
            self._holds += 1
        try:
            yield
        finally:
            with self._lock:
                self._holds -= 1
                send = self.dirty and not self._holds
                self.dirty = self.dirty and not send
            if send:
                self.send_state("tree")

    def _heard(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"id": int(number), "entered": given}:
                for one in walk(self.root):
                    if isinstance(one, LightWidget) and one.id == number:
                        with self.held():
                            self.dirty = True  # other views of it show what was entered
                            one.entered(given)
                        return
