"""Both kinds of databases, for every test of what is stored."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres import Server

from chatkit.inbox import Inbox
from chatkit.inbox.store import InboxStore


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty inbox."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'inbox.sqlite'}"
    server: Server = request.getfixturevalue("postgres")
    return server.new()


@pytest.fixture
def inbox(url: str) -> Iterator[Inbox]:
    with Inbox(url) as inbox:
        yield inbox


@pytest.fixture
def store(inbox: Inbox, url: str) -> Iterator[InboxStore]:
    """The database of the inbox, as another process has it open."""
    store = InboxStore(url)
    yield store
    store.close()
