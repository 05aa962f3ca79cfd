"""Every frame that chatkit makes has `.chatkit`, whichever way it was made."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import processes
import pytest

import chatkit
from chatkit.client import Client

ANA = {"number": "2025550187", "country_code": "+1", "name": "Ana"}


@pytest.fixture
def client() -> Iterator[Client]:
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as client:
        client.contacts.create(**ANA)
        yield client


def test_a_result_says_its_counts_and_why_it_stopped(client: Client) -> None:
    result = client.contacts.plan(client.contacts.frame().assign(name="Zoë")).apply(many=True)
    assert result.chatkit.summary() == "1 change: 1 applied."


def test_other_frames_have_no_summary(client: Client) -> None:
    with pytest.raises(TypeError, match=r"plan\.apply"):
        client.contacts.frame().chatkit.summary()


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_frame_becomes_a_file(client: Client, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"contacts.{ending}"
    getattr(client.contacts.frame().chatkit, f"to_{ending}")(path)
    assert chatkit.read_contacts(path)["number"].tolist() == ["2025550187"]


@pytest.mark.parametrize(
    "code",
    [
        "chatkit.read_contacts('Name\\tPhone\\nAna\\t+12025550187').chatkit",
        "chatkit.connect().contacts.frame().chatkit",
        "chatkit.connect().templates('order_ready').frame().chatkit",
        "(c := chatkit.connect()).contacts.plan(delete=[50001]).apply().chatkit",
    ],
)
def test_it_is_there_in_a_new_kernel(code: str) -> None:
    line = f"import chatkit; print(type({code}).__name__)"
    done = processes.run([sys.executable, "-c", line], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["Accessor"], done.stderr
