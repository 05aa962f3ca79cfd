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
    from chatkit import errors, flowjson, widgets
    from chatkit.account.comparison import compare, rehearse
    from chatkit.account.doctor import doctor
    from chatkit.account.fleet import connect_all
    from chatkit.account.folder import Folder
    from chatkit.account.history import resume, runs, undo
    from chatkit.api.retry import RetryPolicy
    from chatkit.client import Client, connect
    from chatkit.errors import ChatkitError
    from chatkit.imports import read_contacts
    from chatkit.inbox import Inbox
    from chatkit.profile import ServiceProfile
    from chatkit.sandbox import Sandbox
    from chatkit.signature import verify
    from chatkit.widgets import Editor, Form, Grid, Player

__all__ = [
    "ChatkitError",
    "Client",
    "Editor",
    "Folder",
    "Form",
    "Grid",
    "Inbox",
    "Player",
    "RetryPolicy",
    "Sandbox",
    "ServiceProfile",
    "compare",
    "connect",
    "connect_all",
    "doctor",
    "errors",
    "flowjson",
    "read_contacts",
    "rehearse",
    "resume",
    "runs",
    "undo",
    "verify",
    "widgets",
]

_HOME = {
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


def __getattr__(name: str) -> object:
    if name not in _HOME:
        from difflib import get_close_matches

        like = get_close_matches(name, _HOME, 1)
        hint = f"; did you mean {like[0]!r}?" if like else ""
        raise AttributeError(f"module 'chatkit' has no attribute {name!r}{hint}")
    from importlib import import_module

    errors = import_module("chatkit.errors")
    with errors.explain_missing_part(f"chatkit.{name}"):
        module = import_module(f"chatkit.{_HOME[name]}")
        value = module if _HOME[name] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
