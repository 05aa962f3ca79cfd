"""Helpers for tests of the grid: the demo account, and messages as its page sends them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from widgets.screen import part, send, wire

import chatkit
from chatkit.client import Client
from chatkit.widgets.grid import Grid, GridTable


@pytest.fixture
def sandbox() -> Iterator[chatkit.Sandbox]:
    with chatkit.Sandbox(seed="demo") as sandbox:
        yield sandbox


@pytest.fixture
def client(sandbox: chatkit.Sandbox) -> Iterator[Client]:
    with chatkit.connect(sandbox) as client:
        yield client


class Page:
    """The page of a grid: its messages go through JSON, as on the wire."""

    def __init__(self, grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
        self.grid = grid
        self.heard: list[dict[str, Any]] = []
        self.table = part(grid, GridTable)
        monkeypatch.setattr(GridTable, "send", lambda _, m: self.heard.append(wire(m)))

    def send(self, do: str, **message: Any) -> list[dict[str, Any]]:
        """Send a message as JavaScript does; return the answers."""
        self.heard.clear()
        send(self.table, {"do": do, **message})
        return self.heard

    @property
    def state(self) -> dict[str, Any]:
        return wire(self.table.state)

    def rows(self, page: int = 0) -> list[dict[str, Any]]:
        """Ask for a page of rows."""
        (answer,) = self.send("page", page=page, shows=self.state["shows"])
        return answer["rows"]

    def column(self, name: str) -> int:
        return [column["name"] for column in self.table.columns].index(name)

    def type(self, row: int, column: str, value: str | bool) -> dict[str, Any]:
        """Type into a cell; return the row as it is then shown."""
        answers = self.send("set", row=row, column=column, value=value)
        return answers[0]["rows"][0]


@pytest.fixture
def page(client: Client, monkeypatch: pytest.MonkeyPatch) -> Page:
    return Page(Grid(client.contacts), monkeypatch)
