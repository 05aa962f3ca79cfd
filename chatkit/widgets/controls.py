"""The parts that all widgets share: scripts, a line of Python, a message, a saved page.

And what stays of a widget when its kernel has ended. An output holds its view, a page of HTML,
and a mark. JupyterLab and Notebook prefer the view to the page, and write "Error displaying
widget: model not found" once the kernel has ended; the state of widgets that they can save
instead would bring their scripts into every notebook, and a widget that looks live and is not.
They prefer the mark to both: the extension in labextension/ renders it, as the live widget or
else as the page. While a widget is used the extension asks it for the page and puts that into
the output, so that the last state is what is saved. nbconvert, GitHub and whatever else does
not know the mark find the view and the page, as they do in any output.
"""

from __future__ import annotations

import base64
import gzip
import re
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as w
import traitlets

from chatkit.errors import HelpPage
from chatkit.util.display import escaped

START = 'style="text-align: start"'  #: exported notebooks would align cells to the right
STATIC = Path(__file__).parent / "static"
# A page imports a module by its text; this one is there at once, and unpacks what it draws with
# when it draws for the first time, by the browser itself.
_UNPACK = """\
let unpacked;
const unpack = async () => {{
const packed = Uint8Array.from(atob("{text}"), (letter) => letter.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const script = new Blob([await new Response(stream).text()], {{ type: "text/javascript" }});
const url = URL.createObjectURL(script);
const found = (await import(url)).default;
URL.revokeObjectURL(url);
return found;
}};
const render = async (context) => (await (unpacked ??= unpack())).render(context);
export default {{ render }};
"""


def join_files(names: Iterable[str]) -> str:
    """Join files of static/, without indents and comment lines."""
    texts = ((STATIC / name).read_text("utf-8") for name in names)
    omitted = re.compile(r"^ *//.*\n|^ +|^\n|^/\*.*\*/\n", re.MULTILINE)
    return "".join(omitted.sub("", text) for text in texts)


def join_styles(*names: str) -> str:
    """Join style sheets after those that all widgets share."""
    return join_files(["tokens.css", "button.css", *names])


def join_module(names: Iterable[str]) -> str:
    """Join scripts into the module of a widget; the last one exports `render`."""
    return join_files(["hearing.js", *names])


def pack_module(names: Iterable[str]) -> str:
    """Compress scripts into a module that unpacks itself: each widget in a notebook has a copy."""
    packed = gzip.compress(join_module(names).encode(), 9, mtime=0)
    return _UNPACK.format(text=base64.b64encode(packed).decode())


#: Whether a message of the page is being handled: a form that is made then is drawn by another.
handles_message = ContextVar("handles_message", default=False)


class Model(anywidget.AnyWidget):
    """A widget with a script of its own.

    Args:
        on_message: Called with each message of the page, in place of `_receive`.
        traits: The first values of its traits.
    """

    def __init__(self, on_message: Callable[[Any], object] | None = None, **traits: Any) -> None:
        super().__init__(**traits)
        self._handle = on_message or self._receive
        self.on_msg(self._handle_message)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def ensure_script(self) -> None:
        """Bring the script that a widget is drawn with, if it has none yet."""

    def _handle_message(self, _: object, message: Any, __: object) -> None:
        before = handles_message.set(True)
        try:
            self._handle(message)
        finally:
            handles_message.reset(before)

    def _receive(self, message: Any) -> None:
        """Handle a message of the page."""


def draw_saved_table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return escaped cells as a table of HTML for a saved page."""
    head = "".join(f"<th {START}>{escape(name)}</th>" for name in heads)
    lines = ("".join(f'<td dir="auto" {START}>{cell}</td>' for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


_MAX_LINE = 88  #: columns from which on each argument has a line of its own


def write_call(function: str, *arguments: Any, **fields: Any) -> str:
    """Return a call as Python code, on one line if it is short."""
    parts = [write_literal(value) for value in arguments]
    parts += [f"{name}={write_literal(value)}" for name, value in fields.items()]
    line = f"{function}({', '.join(parts)})"
    if len(line) <= _MAX_LINE or not parts:
        return line
    return "\n".join([f"{function}(", *(f"    {part}," for part in parts), ")"])


def write_literal(value: Any) -> str:
    """Return a value as a Python literal, with texts in double quotes."""
    if isinstance(value, str):
        # with an apostrophe in it, and no double quote, repr chooses double quotes
        return repr(value) if '"' in value else '"' + repr("'" + value)[2:]
    if isinstance(value, Mapping):
        items = [f"{write_literal(k)}: {write_literal(v)}" for k, v in value.items()]
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(write_literal, value))}]"
    return repr(value)


def draw_message(text: str, *, wrong: bool = False) -> str:
    """Return the HTML of a message for screen readers too; "" for an empty text."""
    role, kind = ("alert", "wrong") if wrong else ("status", "done")
    lines = "<br>".join(escaped(line) for line in text.split("\n"))
    box = f'<div class="chatkit-message {kind}" role="{role}" dir="auto">{lines}</div>'
    return box if text else ""


class Stack(Model):
    """Other widgets: one below the other, side by side, or each behind a tab.

    Args:
        children: The widgets; one with classes that its place in the page has is a pair.
        css: Classes that the whole has in the page.
        titles: The titles of the tabs, if each stands behind one.
    """

    _esm = join_module(["keys.js", "elements.js", "panel.js"])
    _css = join_styles("panel.css")

    children: traitlets.List[Any] = traitlets.List().tag(
        sync=True, to_json=lambda models, _: [f"anywidget:{model.model_id}" for model in models]
    )
    places: traitlets.List[str] = traitlets.List().tag(sync=True)
    css = traitlets.Unicode().tag(sync=True)
    titles: traitlets.List[str] = traitlets.List().tag(sync=True)
    open_tab = traitlets.Int(0).tag(sync=True)

    def __init__(
        self, children: Sequence[Model | tuple[Model, str]], css: str, titles: Sequence[str] = ()
    ) -> None:
        pairs = [child if isinstance(child, tuple) else (child, "") for child in children]
        models, places = [model for model, _ in pairs], [place for _, place in pairs]
        for model in models:
            model.ensure_script()
        super().__init__(children=models, places=places, css=css, titles=[*titles])


class _WidgetPage(ABCMeta, type(w.Widget)):  # type: ignore[misc]  # ipywidgets has no types
    """A widget whose page of help shows its own methods, and not those of ipywidgets.

    Its widgets may have abstract methods.
    """

    def __init__(cls, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)  # finds the traits of the class by all its names
        cls._made = True

    def __dir__(cls) -> list[str]:
        return HelpPage.__dir__(cls) if "_made" in vars(cls) else [*type.__dir__(cls)]


#: The mark of what the extension renders; labextension/static/saved.js has it too.
_SAVED = "application/vnd.chatkit.saved+json"
_ONCE_SAVED = "<p><em>This is what was saved: run the cell to use it again.</em></p>"


class Exported(metaclass=_WidgetPage):
    """A widget that is saved as a line of text and as HTML, for where it is not live."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.on_msg(self._on_save_request)  # type: ignore[attr-defined]  # a method of widgets

    @abstractmethod
    def _make_saved_page(self) -> str:
        """Return the saved page: HTML without scripts, in which every text is escaped."""

    def _output_data(self) -> dict[str, str]:
        # the class names keep JupyterLab from reading $…$ in a text as mathematics
        page = self._make_saved_page()
        page = f'<div class="tex2jax_ignore mathjax_ignore">{page}{_ONCE_SAVED}</div>'
        return {"text/plain": repr(self), "text/html": page}

    def _on_save_request(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"chatkit": "save"}:
                self.send({"chatkit_saved": self._output_data()})  # type: ignore[attr-defined]

    def _repr_mimebundle_(self, **options: Any) -> Any:
        live: Any = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        data, metadata = live if isinstance(live, tuple) else (live or {}, {})
        return data | {_SAVED: {}} | self._output_data(), metadata
