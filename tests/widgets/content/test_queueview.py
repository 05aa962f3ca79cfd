"""A queue of texts is reviewed one after the other, and ends in one plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import sleep
from typing import Any

import pytest
from widgets.screen import find, html, page_of, press, send, type_into

import chatkit
from chatkit.errors import InputError
from chatkit.templates.contents import BulkTemplates

EVIL = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture
def client() -> Iterator[Any]:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as made:
        yield made


def show(client: Any, languages: list[str], *codes: str, **options: Any) -> Any:
    """A queue as a page shows it, which asks for suggestions then."""
    view = chatkit.widgets.QueueView(client.templates.queue(languages, codes, **options))
    send(view, {"here": "page"})
    return view


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait for what a thread does."""
    for _ in range(1000):
        if holds():
            return
        sleep(0.01)
    raise AssertionError("it did not happen")


def typed(view: Any) -> str:
    return str(find(view, "Translation").value)


def test_texts_are_answered_one_after_the_other_and_one_plan_takes_all(client: Any) -> None:
    view = show(client, ["de"], "order_ready")
    assert "Header" in html(view) and "0 of 5 answered" in html(view)
    assert find(view, "Approve as it is").keys == "Control+Enter"
    assert find(view, "Take back").disabled

    # what is typed is checked, counted and previewed; it is taken back, or kept by who goes on
    press(view, "Next →")
    first = typed(view)
    box = find(view, "Translation")
    assert (
        first.startswith("Hallo {{1}}") and box.lang == "de" and "of 1,024 characters" in box.notes
    )
    type_into(view, "Translation", "Hallo {{7}}.")
    assert "{{7}} is not in en" in html(view) and view.queue.counts()[""] == 5
    press(view, "Take back")
    assert typed(view) == first and "{{7}}" not in html(view)
    type_into(view, "Translation", " ")
    assert find(view, "Take this").disabled
    type_into(view, "Translation", "Hallo {{1}}, {{2}} wartet bis {{3}}.")
    late = find(view, "Translation")
    comment = find(view, "Comment for colleagues")
    press(view, "Next →")
    for one in (late, comment):  # typed while the next one came
        send(view, {"id": one.id, "entered": "of the text before"})
    assert typed(view) != "of the text before" and view.queue.items[1].answer == "edited"
    assert not any(item.commented for item in view.queue.items)

    # each answer goes to the next text that has none
    type_into(view, "Comment for colleagues", "why so?")
    press(view, "Skip")
    press(view, "← Previous")
    assert view.queue.items[2].answer == "skipped" and "skipped</span>" in html(view)
    type_into(view, "Text, 1 to 5", "1")
    press(view, "Copy source")
    assert typed(view) == view.queue.items[0].unit.source
    press(view, "Take this")
    assert "Button 2" in view._place.value
    press(view, "Approve as it is")
    assert view.queue.counts() == {"": 1, "accepted": 1, "edited": 2, "skipped": 1}
    plan = view.plan().plan
    assert [change.key for change in plan.changes] == ["de"]
    assert client.templates.queue(["de"], ["order_ready"]).items[2].comment == "why so?"
    type_into(view, "Translation", "Karte")
    press(view, "Take this")
    assert view.plan_view.outdated


@pytest.mark.parametrize("lang", ["ar", "he", "de"])
def test_a_translation_that_is_read_from_the_right_is_written_from_there(
    client: Any, lang: str
) -> None:
    box = find(show(client, [lang], "order_ready"), "Translation")
    assert box.css == ("" if lang == "de" else "cf-rtl")


@pytest.mark.parametrize(("number", "shown"), [("99", 5), ("0", 1), ("", 2), ("x", 2), ("2", 2)])
def test_a_number_leads_to_the_nearest_text(client: Any, number: str, shown: int) -> None:
    view = show(client, ["de"], "order_ready")
    view.show(1)
    type_into(view, "Text, 1 to 5", number)
    assert typed(view) == view.queue.items[shown - 1].text
    assert ("whole number" in find(view, "Text, 1 to 5").problem) == (number == "x")


def test_the_preview_of_a_new_content_names_what_stands_there_in_the_source_language(
    client: Any,
) -> None:
    view = show(client, ["it"], "order_ready")
    labels = ["Header 1, text", "Text", "Footer", *(f"Button {n}, label" for n in (1, 2, 3))]
    output = "Not translated yet, so in English here: "
    assert f"{output}{', '.join(labels)}." in html(view)
    type_into(view, "Translation", "Ciao")
    assert f"{output}{', '.join(labels[1:])}." in html(view)
    for item in view.queue.items:
        type_into(view, "Translation", item.unit.source)
        press(view, "Take this")
    assert output not in html(view)


def test_what_a_half_translated_content_takes_from_its_source_is_named(client: Any) -> None:
    client.templates("order_ready").update("de", buttons=[])
    queue = client.templates.queue(["de"], ["order_ready"])
    fields = [item.unit.field for item in queue.items]
    labels = [n for n, field in enumerate(fields) if field.endswith(".label")]
    assert len(labels) > 1 and queue.untranslated(0) == []
    assert queue.untranslated(labels[1], "Karte") == [fields[labels[0]]]


def test_a_suggestion_shows_what_is_other_in_its_source_and_where_it_is_from(client: Any) -> None:
    source = client.templates("order_ready").get("en").text
    for code, word in (("order_waits", "waiting"), ("order_stays", "waiting")):
        client.templates(code).create(lang_code="en", text=source.replace("ready", word))
    view = show(client, ["de"], "order_ready", "order_waits", "order_stays", only="missing")
    press(view, "Next →")
    suggested, about = view._near.children
    assert suggested.keys == "Alt+1" and suggested.label.startswith("Hallo {{1}}, dein {{2}}")
    assert "order_ready. Made from" in about.value
    assert "<del>ready</del>" in about.value and "<ins>waiting</ins>" in about.value
    suggested.click()
    assert typed(view) == suggested.label
    press(view, "← Previous")
    own = "Hallo {{1}}, dein {{2}} wartet bis {{3}}."
    type_into(view, "Translation", own)
    press(view, "Take this")
    first, about, *rest = view._near.children
    assert (first.label, about.value) == (own, "<small>100 % · order_waits, answered here</small>")
    assert "order_ready" in rest[1].value


@pytest.mark.parametrize("readable", [True, False])
def test_other_templates_are_read_while_the_first_text_is_shown(
    client: Any, monkeypatch: pytest.MonkeyPatch, readable: bool
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise InputError("the network is down")

    if not readable:
        monkeypatch.setattr(BulkTemplates, "read_contents_in_languages", refuse)
    ready = client.templates("order_ready")
    client.templates("order_waits").create(lang_code="en", text=ready.get("en").text)
    view = show(client, ["de"], "order_waits", only="missing")
    if readable:
        wait_for(lambda: not view._near.hidden)
        assert view._near.children[0].label == ready.get("de").text
    else:
        wait_for(lambda: view.message != "")
        assert view.message == (
            "Suggestions come from this queue alone; other templates cannot be read: "
            "the network is down"
        )
        type_into(view, "Translation", "Hallo")
        assert view.message == ""


def test_a_page_without_a_kernel_has_the_texts_and_runs_nothing(client: Any) -> None:
    client.templates("order_ready").update("de", footer=EVIL)
    view = show(client, ["de"], "order_ready", only=["live", "unknown"])
    for text in (page_of(view), html(view)):
        assert "<img" not in text and "\u202e" not in text
    assert "Dein Rad ist fertig" in page_of(view) and "onerror" in page_of(view)


def test_what_is_no_queue_is_refused_and_an_empty_one_is_shown(client: Any) -> None:
    with pytest.raises(InputError, match="QueueView takes a queue"):
        chatkit.widgets.QueueView(client.templates)
    empty = show(client, ["de"], "order_ready", only="stale")
    assert repr(empty) == "<queue: Nothing to review.>" and "Nothing to review." in html(empty)
    assert find(empty, "Review changes").disabled
