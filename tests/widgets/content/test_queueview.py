"""Tests of the messages between a queue of texts and its page."""

from __future__ import annotations

from collections.abc import Iterator
from time import sleep
from typing import Any

import pytest
from widgets.screen import heard as sent_by
from widgets.screen import html, page_of, part, send

import chatkit
from chatkit.errors import InputError
from chatkit.templates.contents import BulkTemplates
from chatkit.widgets.contentform import Preview
from chatkit.widgets.queueview import QueueCard

EVIL = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture
def client() -> Iterator[Any]:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as made:
        yield made


@pytest.fixture
def view(client: Any) -> Any:
    return chatkit.widgets.QueueView(client.templates.queue(["de"], ["order_ready"]))


def card(view: Any) -> QueueCard:
    result: QueueCard = part(view, QueueCard)
    return result


def heard(view: Any, message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the answer of the card to a message of its page."""
    sent = sent_by(card(view))
    send(card(view), message)
    return sent


def test_a_text_is_sent_first_then_its_suggestions_and_the_next_ones(view: Any) -> None:
    answer, near, more = heard(view, {"look": 1})
    first = answer["items"][0]
    assert [[each["n"] for each in one["items"]] for one in (answer, more)] == [[1], [2, 3]]
    assert (first["near"], near["near"][0]) == ([], 1)
    again, next_ones = heard(view, {"look": 1})  # the memory of the language is at hand now
    assert again == {"items": [{**first, "near": near["near"][1]}]}
    assert next_ones == more
    assert (first["what"], first["lang"], first["from"], first["state"]) == (
        "text", "de", "en", "unknown",
    )  # fmt: skip
    assert first["text"].startswith("Hallo {{1}}") and first["limit"] == 1024
    assert [each["n"] for each in heard(view, {"look": 4})[0]["items"]] == [4]


def test_the_preview_of_a_new_content_says_what_stands_there_in_the_source_language(
    client: Any,
) -> None:
    queue = client.templates.queue(["it"], ["order_ready"])
    view = chatkit.widgets.QueueView(queue)
    fields = [item.unit.field for item in queue.items]
    output = "Not translated yet, so in English here: "
    preview = part(view, Preview)
    assert f"{output}{', '.join(fields)}." in html(preview)
    heard(view, {"check": [0, "Ciao"]})
    assert f"{output}{', '.join(fields[1:])}." in html(preview)
    heard(view, {"check": [0, "  "]})
    assert f"{output}{', '.join(fields)}." in html(preview)
    for number in range(len(fields)):
        queue.edit(number, queue.items[number].unit.source)
    heard(view, {"look": 0})
    assert output not in html(preview)


def test_what_a_half_translated_content_takes_from_its_source_is_told(client: Any) -> None:
    template = client.templates("order_ready")
    template.update("de", buttons=[])
    queue = client.templates.queue(["de"], ["order_ready"])
    fields = [item.unit.field for item in queue.items]
    labels = [n for n, field in enumerate(fields) if field.endswith(".label")]
    assert len(labels) > 1 and queue.untranslated(0) == []
    assert queue.untranslated(labels[1], "Karte") == [fields[labels[0]]]


def test_answers_arrive_in_the_queue_and_in_one_plan(view: Any, client: Any) -> None:
    heard(view, {"answer": ["accept", 1, ""]})
    heard(view, {"answer": ["edit", 0, "Dein Rad wartet"]})
    heard(view, {"answer": ["skip", 2, ""]})
    heard(view, {"comment": [2, "why so?"]})
    assert card(view).answers == "eas  "
    assert view.queue.counts() == {"": 2, "accepted": 1, "edited": 1, "skipped": 1}
    plan = view.plan().plan
    assert [c.key for c in plan.changes] == ["de"]
    assert client.templates.queue(["de"], ["order_ready"]).items[1].comment == "why so?"


def test_what_is_typed_is_checked_and_shown_without_being_answered(view: Any) -> None:
    (answer,) = heard(view, {"check": [1, "Hallo {{7}}."]})
    number, text, result = answer["checked"]
    assert (number, text) == (1, "Hallo {{7}}.")
    assert any("{{7}} is not in en" in message for _, message, _ in result)
    assert view.queue.counts()[""] == 5
    assert "{{7}}" in html(part(view, Preview))


@pytest.mark.parametrize(
    "message",
    [
        {"answer": ["edit", 0, " "]},
        {"answer": ["edit", 99, "x"]},
        {"comment": [-1, "x"]},
    ],
)
def test_what_cannot_be_is_told_in_the_page(view: Any, message: dict[str, Any]) -> None:
    output = [each["failed"] for each in heard(view, message) if "failed" in each]
    assert len(output) == 1 and output[0]


@pytest.mark.parametrize("message", [{"look": 99}, {"look": "1"}, {"check": [1]}, "x", None])
def test_messages_of_no_sense_are_let_be(view: Any, message: Any) -> None:
    assert heard(view, message) == []


def test_a_page_without_a_kernel_has_the_texts_and_runs_nothing(client: Any) -> None:
    client.templates("order_ready").update("de", footer=EVIL)
    states = ["live", "unknown"]
    view = chatkit.widgets.QueueView(client.templates.queue(["de"], ["order_ready"], only=states))
    page = page_of(view)
    assert "Dein Rad ist fertig" in page and "onerror" in page
    assert "<img" not in page and "\u202e" not in page


def test_what_is_no_queue_is_refused_and_an_empty_one_is_shown(client: Any) -> None:
    with pytest.raises(InputError, match="QueueView takes a queue"):
        chatkit.widgets.QueueView(client.templates)
    empty = chatkit.widgets.QueueView(client.templates.queue(["de"], ["order_ready"], only="stale"))
    assert repr(empty) == "<queue: Nothing to review.>"


def test_the_first_text_is_there_before_anything_is_asked_for(view: Any, client: Any) -> None:
    (answer, *_) = heard(view, {"look": 0})
    assert view._card.first == answer["items"][0]
    none = chatkit.widgets.QueueView(client.templates.queue(["de"], ["order_ready"], only="stale"))
    assert none._card.first == {}


def test_a_suggestion_tells_what_is_other_in_its_source_and_where_it_is_from(client: Any) -> None:
    source = client.templates("order_ready").get("en").text
    for code, word in (("order_waits", "waiting"), ("order_stays", "waiting")):
        client.templates(code).create(lang_code="en", text=source.replace("ready", word))
    codes = ["order_ready", "order_waits", "order_stays"]
    view = chatkit.widgets.QueueView(client.templates.queue(["de"], codes, only="missing"))
    _, near = heard(view, {"look": 1})
    ((text, alike, place, different),) = near["near"][1]
    assert text.startswith("Hallo {{1}}, dein {{2}}") and 70 < alike < 100
    assert (
        place == "order_ready" and ["out", "ready"] in different and ["in", "waiting"] in different
    )
    heard(view, {"answer": ["edit", 0, "Hallo {{1}}, dein {{2}} wartet bis {{3}}."]})
    first, second = heard(view, {"look": 1})[0]["items"][0]["near"]
    assert first == [
        "Hallo {{1}}, dein {{2}} wartet bis {{3}}.",
        100,
        "order_waits, answered here",
        [],
    ]
    assert second[2] == "order_ready"


def arrived(sent: list[dict[str, Any]], kind: str) -> Any:
    """Wait for the last message of a kind that is sent from a thread, and is not empty."""
    for _ in range(1000):
        result = [one[kind] for one in sent if kind in one]
        if result and result[-1] and result[-1][-1]:
            return result[-1]
        sleep(0.01)
    raise AssertionError(f"no {kind} came: {sent}")


def test_what_other_templates_suggest_comes_once_they_are_read_and_nothing_waits_for_it(
    client: Any,
) -> None:
    ready = client.templates("order_ready")
    client.templates("order_waits").create(lang_code="en", text=ready.get("en").text)
    view = chatkit.widgets.QueueView(
        client.templates.queue(["de"], ["order_waits"], only="missing")
    )
    sent = heard(view, {"look": 0})
    assert sent[0]["items"][0]["near"] == sent[1]["near"][1] == []
    number, ((text, alike, place, _),) = arrived(sent, "near")
    assert (number, text, alike, place) == (0, ready.get("de").text, 100, "order_ready")
    assert heard(view, {"look": 0})[0]["items"][0]["near"][0][0] == text


def test_a_page_is_told_that_other_templates_cannot_be_read_and_goes_on(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unread(*_: Any, **__: Any) -> None:
        raise InputError("the network is down")

    monkeypatch.setattr(BulkTemplates, "read_contents_in_languages", unread)
    client.templates("rental_reminder").get("en")
    view = chatkit.widgets.QueueView(client.templates.queue(["de"], ["order_ready"]))
    sent = heard(view, {"look": 0})
    assert arrived(sent, "failed") == (
        "Suggestions come from this queue alone; other templates cannot be read: "
        "the network is down"
    )
    assert len(heard(view, {"look": 1})[0]["items"]) == 1
