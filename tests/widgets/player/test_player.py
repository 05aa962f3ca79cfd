"""The player: what it takes, what its page tells it, and what is kept where it is not live."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from volume import volume
from widgets.screen import page_of, static, wire
from widgets.screen import send as report
from widgets.showcase import DOCUMENT

from chatkit.errors import InputError
from chatkit.widgets import controls
from chatkit.widgets.player import SCRIPTS, Player

EVIL = "<img src=x onerror=alert(1)>"
SMALL = {"version": "7.3", "screens": [{"id": "A", "title": "Hello", "terminal": True}]}


@pytest.fixture
def heard(monkeypatch):
    """Return the messages of the player to its page, through JSON."""
    sent: list[dict] = []
    monkeypatch.setattr(Player, "send", lambda _, message: sent.append(wire(message)))
    return sent


def notify(player, **request):
    report(player, {"ask": 1, "view": "v", "request": request})


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


def test_data_that_cannot_be_sent_is_refused_at_once():
    assert json.loads(Player(SMALL, data={"name": "Ana"}).opening) == {"name": "Ana"}
    with pytest.raises(InputError, match="cannot be written as JSON"):
        Player(SMALL, data={"name": object()})


# --- the endpoint ---------------------------------------------------------------------------


def test_a_function_answers_what_the_flow_asks(heard):
    asked = []

    def endpoint(request):
        asked.append(request)
        return {"screen": "B", "data": {"name": request["data"]["name"]}}

    player = Player(SMALL, endpoint=endpoint)
    assert player.served
    notify(player, action="data_exchange", screen="A", data={"name": "Ana"})
    assert asked == [{"action": "data_exchange", "screen": "A", "data": {"name": "Ana"}}]
    answer = {"screen": "B", "data": {"name": "Ana"}}
    assert heard == [{"ask": 1, "view": "v", "answer": answer}]


def test_a_dict_answers_by_the_screen_that_asks(heard):
    player = Player(SMALL, endpoint={"A": {"screen": "B"}, "INIT": {"screen": "A"}})
    notify(player, action="data_exchange", screen="A")
    notify(player, action="INIT", screen="A")
    notify(player, action="data_exchange", screen="C")
    assert [message["answer"] for message in heard] == [{"screen": "B"}, {"screen": "A"}, None]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (7, "returned int, not a dict"),
        ({"data": object()}, "InputError: This cannot be written as JSON"),
        ({"data": float("nan")}, "InputError: This cannot be written as JSON"),
    ],
)
def test_an_answer_that_is_none_is_told(heard, answer, why):
    notify(Player(SMALL, endpoint=lambda _: answer), action="data_exchange", screen="A")
    assert why in heard[0]["wrong"]


def test_an_endpoint_that_fails_is_told_and_logged(heard, caplog):
    def endpoint(request):
        raise KeyError("city")

    with caplog.at_level(logging.ERROR):
        notify(Player(SMALL, endpoint=endpoint), action="data_exchange", screen="A")
    assert heard[0]["wrong"] == "The endpoint raised KeyError: 'city'"
    assert "the endpoint of a flow failed" in caplog.text


@pytest.mark.parametrize(
    "message", [None, [], {}, {"ask": 1}, {"ask": 1, "view": "v", "request": 3}]
)
def test_a_message_of_another_shape_is_passed_over(heard, message):
    report(Player(SMALL, endpoint=lambda _: {}), message)
    assert heard == []


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
    text = controls.joined_text(SCRIPTS)
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in text
    assert "new Function" not in text
    assert "import(" not in text
    assert "fetch(" not in text
