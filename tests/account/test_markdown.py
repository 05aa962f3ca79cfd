"""A plan as a comment on a pull request: short, and nothing that strangers wrote does anything."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import chatkit
from chatkit.account.fleet import Fleet
from chatkit.account.planning import format_plan_markdown
from chatkit.cli import _as_commands
from chatkit.client import Client
from chatkit.flowjson import lint
from chatkit.util.display import visible

markdown = partial(format_plan_markdown, convert=_as_commands)
BAD = "```\n# x\n@all <img src=x onerror=alert(1)> ![a](http://b) #1 | ~~~ \u202e & \x1b[31m"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        yield client


@settings(max_examples=30)
@given(st.text(max_size=40), st.text("`~\n<@#![]()", max_size=12))
@example(BAD, BAD)
@example("`" * 300, "`" * 40)
def test_all_that_strangers_wrote_stands_in_one_block_that_it_cannot_end(
    client: Client, name: str, where: str
) -> None:
    plan = client.contacts.plan([{"id": 50002, "name": f"x{name}"}], skip_invalid=True)
    plan.notes.append(name)
    message = markdown(plan, f"account {where}")
    kinds = [token.type for token in MarkdownIt("gfm-like", {"linkify": False}).parse(message)]
    assert kinds == ["heading_open", "inline", "heading_close", "fence"]
    heading = MarkdownIt("gfm-like", {"linkify": False}).parse(message)[1]
    assert {token.type for token in heading.children or ()} <= {"text", "text_special"}
    assert "@" not in message.partition("\n")[0]
    assert all(visible(line) == line for line in message.split("\n"))


def test_it_shows_each_change_and_what_stops_the_plan(client: Client) -> None:
    before = client.contacts.get(50002).name
    plan = client.contacts.plan(
        [
            {"id": 50002, "name": "Zoe Quinn"},
            {"country_code": "+1", "number": "2025550999", "name": "New"},
            {"id": 50003, "number": "call him"},
        ]
    )
    lines = markdown(plan, "account 1001 of staging").splitlines()
    assert lines[0] == "### Plan for account 1001 of staging: 1 create, 1 update"
    assert lines[2:3] + lines[-1:] == ["```diff", "```"]
    assert f'-     name: "{before}"' in lines
    assert '+     name: "Zoe Quinn"' in lines
    assert any(line.startswith("! refused: 3 number") for line in lines)
    assert any(line.startswith("! blocked: 1 row ") for line in lines)


def test_a_plan_of_thousands_stays_a_comment(client: Client) -> None:
    frame = client.contacts.frame()
    frame["name"] = "N" * 500
    message = markdown(client.contacts.plan(frame), "production")
    assert len(message) < 65_536
    assert "# … and 210 more changes" in message
    assert "! blocked: needs --many" in message


def test_nothing_to_do_is_one_line(client: Client) -> None:
    assert markdown(client.contacts.plan([]), "staging") == "### Plan for staging: nothing to do"


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
