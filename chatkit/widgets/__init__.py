"""Widgets: forms, a grid, plans and flows, for people who would rather not write code."""

# Names are loaded when they are first used: ipywidgets is not imported before it is needed.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from chatkit.widgets.editor import Editor
    from chatkit.widgets.form import Form
    from chatkit.widgets.grid import Grid
    from chatkit.widgets.planview import PlanView
    from chatkit.widgets.player import Player

__all__ = ["Editor", "Form", "Grid", "PlanView", "Player"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'chatkit.widgets' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"chatkit.widgets.{name.lower()}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
