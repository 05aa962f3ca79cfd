"""Both kinds of databases, for every test of what is stored."""

from pathlib import Path

import pytest
from postgres import Server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty inbox."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'inbox.sqlite'}"
    server: Server = request.getfixturevalue("postgres")
    return server.new()
