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
    from chatkit import flowjson
    from chatkit.account.comparison import compare
    from chatkit.account.doctor import doctor
    from chatkit.account.fleet import Fleet, connect_all
    from chatkit.account.folder import Folder
    from chatkit.account.history import journal, prune, resume, runs, undo
    from chatkit.account.rehearsal import rehearse
    from chatkit.api.retry import RetryPolicy
    from chatkit.client import Client, connect
    from chatkit.errors import (
        AccountBusy,
        BadAnswer,
        CallError,
        ChatkitError,
        Conflict,
        DeadlinePassed,
        InDoubt,
        InputError,
        JournalError,
        ListMoved,
        NotAuthenticated,
        NotFound,
        NotPermitted,
        PartMissing,
        PlanRefused,
        RateLimited,
        Refused,
        ServerFault,
        SettingsError,
        StoreError,
        Unreachable,
    )
    from chatkit.imports import read_contacts
    from chatkit.inbox.inbox import Inbox
    from chatkit.profile import ServiceProfile
    from chatkit.sandbox import Sandbox
    from chatkit.signature import verify
    from chatkit.widgets import (
        BoardGrid,
        ContentForm,
        Conversation,
        Editor,
        FolderView,
        Form,
        Grid,
        PlanView,
        Player,
        Preview,
        QueueView,
        Registrations,
        Tail,
        funnel,
        login,
    )

__all__ = [
    "AccountBusy",
    "BadAnswer",
    "BoardGrid",
    "CallError",
    "ChatkitError",
    "Client",
    "Conflict",
    "ContentForm",
    "Conversation",
    "DeadlinePassed",
    "Editor",
    "Fleet",
    "Folder",
    "FolderView",
    "Form",
    "Grid",
    "InDoubt",
    "Inbox",
    "InputError",
    "JournalError",
    "ListMoved",
    "NotAuthenticated",
    "NotFound",
    "NotPermitted",
    "PartMissing",
    "PlanRefused",
    "PlanView",
    "Player",
    "Preview",
    "QueueView",
    "RateLimited",
    "Refused",
    "Registrations",
    "RetryPolicy",
    "Sandbox",
    "ServerFault",
    "ServiceProfile",
    "SettingsError",
    "StoreError",
    "Tail",
    "Unreachable",
    "compare",
    "connect",
    "connect_all",
    "doctor",
    "flowjson",
    "funnel",
    "journal",
    "login",
    "prune",
    "read_contacts",
    "rehearse",
    "resume",
    "runs",
    "undo",
    "verify",
]

_HOME = {
    "Client": "client",
    "Fleet": "account.fleet",
    "Folder": "account.folder",
    "Inbox": "inbox.inbox",
    "RetryPolicy": "api.retry",
    "Sandbox": "sandbox",
    "ServiceProfile": "profile",
    "compare": "account.comparison",
    "connect": "client",
    "connect_all": "account.fleet",
    "doctor": "account.doctor",
    "flowjson": "flowjson",
    "read_contacts": "imports",
    "rehearse": "account.rehearsal",
    "verify": "signature",
    **dict.fromkeys(
        (
            *("BoardGrid", "ContentForm", "Conversation", "Editor", "FolderView", "Form", "Grid"),
            *(
                "PlanView",
                "Player",
                "Preview",
                "QueueView",
                "Registrations",
                "Tail",
                "funnel",
                "login",
            ),
        ),
        "widgets",
    ),
    **dict.fromkeys(("journal", "prune", "resume", "runs", "undo"), "account.history"),
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        from difflib import get_close_matches

        like = get_close_matches(name, __all__, 1)
        hint = f"; did you mean {like[0]!r}?" if like else ""
        raise AttributeError(f"module 'chatkit' has no attribute {name!r}{hint}")
    from importlib import import_module

    home = _HOME.get(name, "errors")
    errors = import_module("chatkit.errors")
    with errors.needed_by(f"chatkit.{name}"):
        module = import_module(f"chatkit.{home}")
        value = module if home == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
