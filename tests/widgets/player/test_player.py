"""The player: what it takes, what its page tells it, and what is kept where it is not live."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from volume import volume
from widgets.screen import page_of, static
from widgets.showcase import DOCUMENT

from chatkit.widgets import controls
from chatkit.widgets.player import SCRIPTS, Player

EVIL = "<img src=x onerror=alert(1)>"
SMALL = {"version": "7.3", "screens": [{"id": "A", "title": "Hello", "terminal": True}]}


# --- documents ------------------------------------------------------------------------------


class Built:
    """A flow as the builder makes it."""

    def to_json(self):
        return SMALL


class Kept:
    """A flow as an account gives it."""

    flow_json = SMALL


@pytest.mark.parametrize(
    "document", [SMALL, json.dumps(SMALL), json.dumps(SMALL).encode(), Built(), Kept()]
)
def test_a_document_may_be_a_value_text_a_built_flow_or_one_of_an_account(document):
    player = Player(document)
    assert json.loads(player.source) == SMALL
    assert player.document == SMALL
    assert player.problem == ""


def test_a_document_may_be_a_file(tmp_path):
    path = tmp_path / "flow.json"
    path.write_text(json.dumps(SMALL))
    assert Player(path).document == SMALL
    assert "cannot be read" in Player(tmp_path / "none.json").problem


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ('{"version": "7.3",\n "screens": [}', "line 2, column 14"),
        ("", "it is empty"),
        ('{"a": NaN}', "NaN is not a JSON"),
        ({"a": float("inf")}, "cannot be written as JSON"),
        ({"a": {1, 2}}, "cannot be written as JSON"),
        (object(), "not object"),
        ("[" * 100_000, "nested"),
        ('{"a": ' + "9" * 5000 + "}", "a number has too many digits"),
    ],
)
def test_a_broken_document_is_a_problem_that_is_shown_and_never_an_error(document, why):
    player = Player(document)
    assert why in player.problem
    assert player.source == "null"
    assert repr(player).startswith("Player: ")
    assert "\n" not in repr(player)


def test_half_a_character_can_be_sent():
    player = Player({"screens": [{"id": "A", "title": "\ud800"}]})
    assert "?" in player.source
    player.source.encode()


def test_another_document_takes_the_place_of_the_first():
    player = Player("{")
    player.document = SMALL
    assert (player.problem, json.loads(player.source)) == ("", SMALL)
    player.document = "{"
    assert player.problem
    assert player.document is None
    assert player.source == "null"


# --- what arrives ---------------------------------------------------------------------------


def test_answers_are_a_record_and_a_frame_of_one_row():
    player = Player(SMALL)
    assert player.answers is None
    assert player.frame().empty
    player.set_state({"answers": {"name": "Ana", "ok": True, "n": 3, "tags": ["a"], "none": None}})
    frame = player.frame()
    assert len(frame) == 1
    assert frame.loc[1, "name"] == "Ana"
    assert frame.dtypes.astype(str).to_dict()["ok"] == "boolean"
    assert frame.loc[1, "n"] == 3
    assert frame.loc[1, "tags"] == ["a"]
    assert repr(player) == "Player of 1 screen: A; 5 answers sent."


@settings(max_examples=volume(20, 500))
@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8")),
        st.text(st.characters(codec="utf-8")) | st.integers() | st.booleans() | st.none(),
    )
)
@example({"#": "x", "##": 2**70})
def test_any_answers_make_a_frame(answers):
    player = Player(SMALL)
    player.answers = answers
    frame = player.frame()
    assert list(frame.columns) == list(answers)
    for name, value in answers.items():
        assert value is None or frame[name].iloc[0] == value


# --- where nothing is live ------------------------------------------------------------------


def test_a_notebook_keeps_one_line_and_the_screens_to_be_read():
    player = Player(DOCUMENT)
    data = static(player)
    line = "Player of 6 screens: ABOUT, WHERE, WHEN, PHOTO, PAPERS, TERMS."
    assert data["text/plain"] == line == repr(player)
    assert f"<p>{line}</p>" in data["text/html"]
    assert "Full name" in data["text/html"]


def test_what_is_kept_is_never_markup():
    player = Player({"screens": [{"id": EVIL, "title": EVIL}]})
    assert "<img" not in page_of(player)
    assert "<img" not in page_of(Player(EVIL))


def test_scripts_make_no_markup_and_run_no_code():
    text = controls.join_files(SCRIPTS)
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in text
    assert "new Function" not in text
    assert "import(" not in text
    assert "fetch(" not in text
