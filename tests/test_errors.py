"""The exceptions: drawn as they are, and each says what to do next."""

import importlib
import inspect
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import chatkit
import chatkit.errors as errors
from chatkit.api.call import Call


def test_the_tree_in_the_docstring_is_the_tree_in_the_code():
    lines = re.findall(r"^([ │]*(?:[├└]── )?)(\w+)(?:  .*)?$", errors.__doc__.split("```")[1], re.M)
    drawn, path = {}, []
    for indent, name in lines:
        depth = len(indent) // 4
        path[depth:] = [name]
        drawn[name] = path[depth - 1] if depth else "Exception"
    real = {
        name: next(b.__name__ for b in cls.__mro__[1:] if issubclass(b, Exception))
        for name, cls in vars(errors).items()
        if isinstance(cls, type) and issubclass(cls, errors.ChatkitError)
    }
    assert drawn == real


def test_a_lost_write_says_to_look_first_and_a_lost_read_does_not():
    write = errors.UnknownOutcome(Call("POST", ("contacts",)), "reset")
    read = errors.UnknownOutcome(Call("GET", ("contacts",)), "reset")
    assert "read it back before you repeat it" in str(write)
    assert "read it back" not in str(read)


RENDERED = [
    *(name for name in chatkit.__all__ if inspect.isclass(getattr(chatkit, name))),
    *("bulk.plan.Plan", "inbox.receiver.Receiver", "webhooks.Rotation"),
    *("contacts.Contacts", "flows.Flows", "templates.Templates", "webhooks.Webhooks"),
    *("templates.contents.Contents", "api.transport.Transport", "api.wire.Wire"),
    "api.secret.Secret",
    *("inbox.store.InboxStore", "inbox.delivery.DeliveryInspector", "api.connection.Connection"),
    "account.doctor.CheckupReport",
]


@pytest.mark.parametrize("name", RENDERED)
def test_no_object_that_is_half_made_raises_when_it_is_shown(name: str) -> None:
    """A traceback that prints variables shows `self` of an `__init__` that has raised."""
    module, _, kind = name.rpartition(".")
    home = importlib.import_module(f"chatkit.{module}") if module else chatkit
    one = getattr(home, kind).__new__(getattr(home, kind))
    assert isinstance(repr(one), str) and isinstance(str(one), str)


def test_an_inbox_whose_database_is_gone_can_be_shown(tmp_path: Path) -> None:
    inbox = chatkit.Inbox(tmp_path / "inbox.sqlite")
    with closing(sqlite3.connect(tmp_path / "inbox.sqlite")) as database:
        database.executescript("DROP VIEW delivery_once; DROP TABLE delivery")
    assert repr(inbox) == "<Inbox, cannot be shown (StoreError)>"
    inbox.close()


def test_a_notebook_shows_an_error_as_its_message_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Through IPython itself, which asks the error how it is shown."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    source = "from chatkit.api.call import Call\nCall('GET', ('contacts', '..'))"
    assert shell.run_cell(source, store_history=False).error_in_exec is not None
    text = capsys.readouterr()
    assert (text.out + text.err).strip().splitlines() == [
        "InputError: This cannot be part of an address:",
        "  key = '..': would change the path",
    ]
