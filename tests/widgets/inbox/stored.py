"""An inbox in a file, and what is put into it for the widgets that show it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inbox.bodies import change, enveloped, keep, value
from internals import inbox_store

import chatkit
from chatkit.client import Client
from chatkit.inbox import Inbox

EVIL = '<img src=x onerror="document.title=1">\u202e'


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    with Inbox(tmp_path / "inbox.sqlite") as inbox:
        yield inbox


@pytest.fixture
def account() -> Iterator[Client]:
    """A client of an empty sandbox under the default profile."""
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        yield client


def written(*contents: dict[str, Any], kind: str = "chat.message.status") -> bytes:
    return enveloped(change("messages", value(messages=[*contents])), kind)


def moved(*statuses: dict[str, Any]) -> bytes:
    return enveloped(change("messages", value(statuses=[*statuses])))


def echoed(*contents: dict[str, Any]) -> bytes:
    return enveloped(change("smb_message_echoes", value(message_echoes=[*contents])))


def put(inbox: Inbox, *bodies: bytes, **changed: Any) -> None:
    keep(inbox_store(inbox), *bodies, **changed)
