"""Widgets: forms, a grid, plans, flows, messages and deliveries, to look at and to click.

>>> chatkit.widgets.Preview(client.templates("order_ready").get("en")) is not None
True
"""

from chatkit.util import make_lazy_exports

# Names are loaded when they are first used: ipywidgets is not imported before it is needed.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from chatkit.widgets.boardgrid import BoardGrid as BoardGrid
    from chatkit.widgets.contentform import ContentForm as ContentForm
    from chatkit.widgets.contentform import Preview as Preview
    from chatkit.widgets.conversation import Conversation as Conversation
    from chatkit.widgets.editor import Editor as Editor
    from chatkit.widgets.folderview import FolderView as FolderView
    from chatkit.widgets.form import Form as Form
    from chatkit.widgets.form import Registrations as Registrations
    from chatkit.widgets.grid import Grid as Grid
    from chatkit.widgets.loginform import login as login
    from chatkit.widgets.planview import PlanView as PlanView
    from chatkit.widgets.player import Player as Player
    from chatkit.widgets.queueview import QueueView as QueueView
    from chatkit.widgets.tail import Tail as Tail
    from chatkit.widgets.tail import funnel as funnel

_HOME = {
    "BoardGrid": "boardgrid",
    "ContentForm": "contentform",
    "Conversation": "conversation",
    "Editor": "editor",
    "FolderView": "folderview",
    "Form": "form",
    "Grid": "grid",
    "PlanView": "planview",
    "Player": "player",
    "Preview": "contentform",
    "QueueView": "queueview",
    "Registrations": "form",
    "Tail": "tail",
    "funnel": "tail",
    "login": "loginform",
}
__all__ = list(_HOME)

__getattr__, __dir__ = make_lazy_exports(__name__, _HOME)
