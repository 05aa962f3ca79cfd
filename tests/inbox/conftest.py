"""Both kinds of databases, for every test of what is stored."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from inbox.postgres import Server, postgresql


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    with postgresql(durable=False) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty inbox."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'inbox.sqlite'}"
    server: Server = request.getfixturevalue("postgres")
    return server.new()
