"""Your business messaging account as DataFrames.

>>> import chatkit
>>> client = chatkit.connect()
Connected to the sandbox: the whole service, in this process. Nothing leaves it.
>>> len(client.contacts.frame())
250
"""

__version__ = "0.1.0"

# Names are loaded when they are first used: `import chatkit` costs next to nothing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from chatkit import account as account  # what few people need: Tab does not show it
    from chatkit import errors as errors
    from chatkit import flowjson as flowjson
    from chatkit import widgets as widgets
    from chatkit.account.comparison import compare as compare
    from chatkit.account.comparison import rehearse as rehearse
    from chatkit.account.doctor import doctor as doctor
    from chatkit.account.fleet import connect_all as connect_all
    from chatkit.account.folder import Folder as Folder
    from chatkit.account.history import resume as resume
    from chatkit.account.history import runs as runs
    from chatkit.account.history import undo as undo
    from chatkit.api.retry import RetryPolicy as RetryPolicy
    from chatkit.client import Client as Client
    from chatkit.client import connect as connect
    from chatkit.errors import ChatkitError as ChatkitError
    from chatkit.imports import read_contacts as read_contacts
    from chatkit.inbox import Inbox as Inbox
    from chatkit.profile import ServiceProfile as ServiceProfile
    from chatkit.sandbox import Sandbox as Sandbox
    from chatkit.signature import verify as verify
    from chatkit.widgets import Editor as Editor
    from chatkit.widgets import Form as Form
    from chatkit.widgets import Grid as Grid
    from chatkit.widgets import Player as Player

#: The module of each public name, below the package.
_MODULES = {
    "ChatkitError": "errors",
    "Client": "client",
    "Editor": "widgets",
    "Folder": "account.folder",
    "Form": "widgets",
    "Grid": "widgets",
    "Inbox": "inbox",
    "Player": "widgets",
    "RetryPolicy": "api.retry",
    "Sandbox": "sandbox",
    "ServiceProfile": "profile",
    "account": "account",
    "compare": "account.comparison",
    "connect": "client",
    "connect_all": "account.fleet",
    "doctor": "account.doctor",
    "errors": "errors",
    "flowjson": "flowjson",
    "read_contacts": "imports",
    "rehearse": "account.comparison",
    "resume": "account.history",
    "runs": "account.history",
    "undo": "account.history",
    "verify": "signature",
    "widgets": "widgets",
}
__all__ = [name for name in _MODULES if name != "account"]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        from difflib import get_close_matches

        like = get_close_matches(name, _MODULES, 1)
        hint = f"; did you mean {like[0]!r}?" if like else ""
        raise AttributeError(f"module 'chatkit' has no attribute {name!r}{hint}")
    from importlib import import_module

    errors = import_module("chatkit.errors")
    with errors.explain_missing_part(f"chatkit.{name}"):
        module = import_module(f"chatkit.{_MODULES[name]}")
        value = module if _MODULES[name] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
