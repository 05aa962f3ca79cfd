"""A plan as a comment on a pull request: short, and nothing that strangers wrote does anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import chatkit
from chatkit.account.fleet import Fleet
from chatkit.client import Client
from chatkit.flowjson import lint

BAD = "```\n# x\n@all <img src=x onerror=alert(1)> ![a](http://b) #1 | ~~~ \u202e & \x1b[31m"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        yield client


@settings(max_examples=30)
@given(st.text(max_size=40))
@example(BAD)
@example("`" * 300)
def test_all_that_strangers_wrote_stands_in_one_block_that_it_cannot_end(
    client: Client, name: str
) -> None:
    plan = client.contacts.plan([{"id": 50002, "name": f"x{name}"}], skip_invalid=True)
    plan.notes.append(name)
    message = plan.markdown()
    kinds = [token.type for token in MarkdownIt("gfm-like", {"linkify": False}).parse(message)]
    assert kinds == ["heading_open", "inline", "heading_close", "fence"]


def test_a_plan_of_thousands_stays_a_comment(client: Client) -> None:
    frame = client.contacts.frame()
    frame["name"] = "N" * 500
    message = client.contacts.plan(frame).markdown()
    assert len(message) < 65_536
    assert "more updates: plan.frame() has them all" in message
    assert "Blocked:" in message


def test_every_report_is_markdown_too(client: Client, tmp_path: Path) -> None:
    folder = chatkit.Folder(tmp_path / "shop")
    reports: dict[str, Any] = {
        "pull": folder.pull(client),
        "comparison": chatkit.compare(folder, client),
        "doctor": chatkit.doctor(client),
        "fleet": Fleet({BAD: client}),
        "fleet plan": Fleet({BAD: client}).contacts.plan({BAD: [{"id": 50002, "name": "Zoe"}]}),
        "lint": lint({"screens": [{"id": BAD}]}),
        "contents": client.templates.check(["order_ready"]),
        "queue": client.templates.queue(["it"], ["order_ready"]),
        "board": client.templates.board(["order_ready"]),
    }
    for name, report in reports.items():
        text = report.markdown()
        kinds = [token.type for token in MarkdownIt("gfm-like", {"linkify": False}).parse(text)]
        assert kinds[:3] == ["heading_open", "inline", "heading_close"], name
        assert kinds[3:] in ([], ["fence"]), name
        assert all(line in text for line in repr(report).splitlines()[1:]), name
