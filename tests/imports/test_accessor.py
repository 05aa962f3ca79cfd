"""Every frame that chatkit makes has `.chatkit`, whichever way it was made."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import processes
import pytest
from IPython.core.formatters import HTMLFormatter

import chatkit
from chatkit.client import Client
from chatkit.imports.accessor import register_frame_formatter

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


# --- in a notebook ------------------------------------------------------------------------


@pytest.fixture
def output() -> HTMLFormatter:
    """Request the HTML of a value as a kernel does."""
    formatter = HTMLFormatter()
    register_frame_formatter(formatter)
    return formatter


def test_a_frame_of_ours_is_shown_whole_with_nothing_where_it_is_empty(
    client: Client, output: HTMLFormatter
) -> None:
    frame = client.contacts.frame()
    frame.loc[frame.index[0], ["name", "ai_mode"]] = ["Ana " * 30, "<b>$x$</b>"]
    html = output(frame)
    assert ("Ana " * 30).rstrip() in html
    assert "&lt;b&gt;$x$&lt;/b&gt;" in html and "<b>" not in html and "mathjax_ignore" in html
    assert not [empty for empty in ("NaN", "&lt;NA&gt;", "None", "NaT") if empty in html]
    assert '<td dir="auto"></td>' in html
    assert output(frame[["name"]].head(1)).count("<tr>") == 2


def test_numbers_stand_at_the_right_and_texts_at_the_left(
    client: Client, output: HTMLFormatter
) -> None:
    html = output(client.contacts.frame().assign(share=[0.25]))
    assert '<td class="number">0.25</td>' in html
    assert '<td dir="auto">2025550187</td>' in html


def test_so_many_rows_and_columns_are_shown_as_pandas_is_told(
    client: Client, output: HTMLFormatter
) -> None:
    frame = client.contacts.frame()[["number", "name"]].sample(100, replace=True)
    assert output(frame).count("<tr>") == 1 + 10 + 1
    assert "… 90 more rows …" in output(frame) and "100 rows × 2 columns" in output(frame)
    with pd.option_context("display.max_rows", None, "display.max_columns", 1):
        assert output(frame).count("<tr>") == 1 + 100
        assert "<td>…</td>" in output(frame)
    with pd.option_context("display.notebook_repr_html", False):
        assert output(frame) is None


def test_labels_of_outer_levels_stand_once(client: Client, output: HTMLFormatter) -> None:
    frame = client.contacts.frame()[["name"]].sample(2, replace=True)
    frame.index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)], names=["template_code", None])
    html = output(frame)
    assert html.count('<th scope="row">a</th>') == 1
    assert '<th scope="col">template_code</th><td></td>' in html
    assert "></th>" not in html  # what is empty is no header: a screen reader would announce it


def test_frames_of_others_look_as_they_did(output: HTMLFormatter) -> None:
    frame = pd.DataFrame({"name": ["x" * 80, None]})
    assert output(frame) == frame._repr_html_()

    own = HTMLFormatter()
    own.for_type(pd.DataFrame, lambda frame: "as they like it")
    register_frame_formatter(own)
    assert own(frame) == "as they like it"
