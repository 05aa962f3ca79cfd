"""Widgets: forms, a grid, plans, flows, messages and deliveries, to look at and to click."""

# Names are loaded when they are first used: ipywidgets is not imported before it is needed.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from chatkit.widgets.content.boardgrid import BoardGrid
    from chatkit.widgets.content.contentform import ContentForm
    from chatkit.widgets.content.preview import Preview
    from chatkit.widgets.editor.editor import Editor
    from chatkit.widgets.form.form import Form
    from chatkit.widgets.grid.grid import Grid
    from chatkit.widgets.inbox.conversation import Conversation
    from chatkit.widgets.inbox.plots import funnel, latency
    from chatkit.widgets.inbox.registrations import Registrations
    from chatkit.widgets.inbox.tail import Tail
    from chatkit.widgets.planview import PlanView
    from chatkit.widgets.player import Player

__all__ = [
    "BoardGrid",
    "ContentForm",
    "Conversation",
    "Editor",
    "Form",
    "Grid",
    "PlanView",
    "Player",
    "Preview",
    "Registrations",
    "Tail",
    "funnel",
    "latency",
]

_HOME = {
    "BoardGrid": "content.boardgrid",
    "ContentForm": "content.contentform",
    "Conversation": "inbox.conversation",
    "Editor": "editor.editor",
    "Form": "form.form",
    "Grid": "grid.grid",
    "PlanView": "planview",
    "Player": "player",
    "Preview": "content.preview",
    "Registrations": "inbox.registrations",
    "Tail": "inbox.tail",
    "funnel": "inbox.plots",
    "latency": "inbox.plots",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'chatkit.widgets' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"chatkit.widgets.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
