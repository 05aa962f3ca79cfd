"""Texts to review string by string, and a glossary, over an account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from bulk.planning import log
from displayed import html_of

import chatkit
from chatkit.errors import InputError

CODE = "order_ready"


@pytest.fixture
def sandbox() -> Iterator[Any]:
    with chatkit.Sandbox(seed="demo") as made:
        yield made


@pytest.fixture
def client(sandbox: Any) -> Iterator[Any]:
    with chatkit.connect(sandbox) as made:
        yield made


SOURCE = "Hello {{1}}, your {{2}} has been repaired. Please fetch it by {{3}}, from 9 to 6."
BOTH = [CODE, "rental_reminder"]


def position(queue: Any, field: str, code: str = CODE) -> int:
    """Return the number of the first text of this field."""
    return next(n for n, item in enumerate(queue.items) if item.unit.text_key[::2] == (code, field))


def labels(content: Any) -> list[str]:
    return [button["label"] for button in content["buttons"]]


def test_what_was_never_recorded_is_unknown_then_live_then_stale(client: Any) -> None:
    assert {*client.templates.queue(["de"], [CODE]).frame()["state"]} == {"unknown"}
    client.templates.accept("de", [CODE])
    assert repr(client.templates.queue(["de"], [CODE])) == "Nothing to review."
    before = client.templates(CODE).get("en").text
    client.templates(CODE).update("en", text=SOURCE.replace("repaired", "<b>repaired</b>"))
    queue = client.templates.queue(["de"], [CODE])
    (item,) = queue.items
    assert (item.unit.state, item.unit.field, item.unit.source_before) == ("stale", "text", before)
    assert "1 text in 1 language: 1 stale." in repr(queue)
    page = html_of(queue)
    assert "<ins>" in page and "<del>" in page and "<b>repaired" not in page
    assert len(client.templates.queue(["de"], [CODE], only=["stale", "live"])) == 6


def test_all_answers_end_in_one_plan_and_what_was_accepted_is_recorded(client: Any) -> None:
    queue = client.templates.queue(["de", "fr"], [CODE])
    assert [item.unit.lang_code for item in queue.items] == ["de"] * 5 + ["fr"] * 5
    for number, item in enumerate(queue.items[:5]):
        if item.unit.field == "text":
            assert queue.edit(number, item.unit.target.replace("bereit", "nun bereit")) == []
        else:
            queue.accept(number)
    queue.skip(6)
    queue.comment(6, " ask Léa ")
    assert queue.counts() == {"": 4, "accepted": 4, "edited": 1, "skipped": 1}
    assert "4 accepted, 1 edited, 1 skipped." in repr(queue)
    assert "nun bereit" in html_of(queue)
    frame = queue.frame()
    assert list(frame.columns) == [
        *("template_code", "lang_code", "field", "state", "source_before", "source"),
        *("translation", "answer", "new_translation", "comment", "limit"),
    ]
    assert Counter(frame["answer"]) == queue.counts()
    assert frame["new_translation"].str.contains("nun bereit").sum() == 1
    assert frame["comment"].tolist() == [*[""] * 6, "ask Léa", "", "", ""]
    assert frame["limit"].tolist() == [60, 1024, 25, 25, 25] * 2
    plan = queue.plan()
    assert plan.counts == {"create": 0, "update": 1, "delete": 0}
    assert "4 texts are recorded as right, as they are." in plan.notes
    plan.apply()
    assert "nun bereit" in client.templates(CODE).get("de").text
    remaining = client.templates.queue(["de", "fr"], [CODE])
    assert [item.unit.lang_code for item in remaining.items] == ["fr"] * 5
    assert remaining.items[1].comment == "ask Léa"


def test_a_language_that_is_missing_becomes_a_draft_once_all_its_texts_are_there(
    client: Any,
) -> None:
    queue = client.templates.queue(["it"], [CODE])
    assert {item.unit.state for item in queue.items} == {"missing"}
    with pytest.raises(InputError, match="has no translation yet"):
        queue.accept(0)
    assert queue.findings(0) == [] and queue.content(0)["lang_code"] == "it"
    assert queue.content(0, "Ciao")["headers"][0]["text"] == "Ciao"
    assert [each.code for each in queue.findings(3, "a" * 26)] == ["length"]
    assert queue.findings(3, "a" * 25) == [], "a note is not told"
    queue.edit(0, "La tua bici è pronta")
    half = queue.plan()
    assert half.counts["create"] == 0 and "Not taken" in " ".join(half.notes)
    for number, item in enumerate(queue.items):
        queue.edit(number, item.unit.source.replace("Hello", "Ciao"))
    plan = queue.plan()
    assert plan.counts == {"create": 1, "update": 0, "delete": 0}
    plan.apply()
    assert client.templates(CODE).get("it").is_draft is True


def test_rules_glossary_and_memory_help_with_each_text(client: Any) -> None:
    client.templates.glossary = [{"term": "bike", "language": "de", "use": "Velo"}]
    queue = client.templates.queue(["de"], BOTH)
    header, text = position(queue, "headers.0.text"), position(queue, "text")
    assert [each.code for each in queue.findings(header)] == ["glossary"]
    assert queue.findings(header, "Dein Velo ist fertig") == []
    assert "placeholders differ" in [each.code for each in queue.edit(text, "Hallo {{1}}, komm!")]
    assert queue.suggestions(position(queue, "buttons.0.label")) == []
    assert queue.content(header)["text"] == "Hallo {{1}}, komm!", "an edit of another text is in it"
    lost = "placeholder lost: {{2}}, {{3}} are missing."
    assert f"Not taken: {CODE} de text: {lost}" in queue.plan().notes
    client.templates("rental_reminder").update("en", text=SOURCE)
    queue = client.templates.queue(["de"], BOTH)
    text = position(queue, "text", BOTH[1])
    [suggestion] = queue.suggestions(text)
    assert "ist repariert" in suggestion.translation


def test_what_cannot_be_answered_is_told(client: Any) -> None:
    queue, empty = (client.templates.queue(["de"], [CODE], only=[n]) for n in ("unknown", "stale"))
    for use, message in (
        (lambda: queue.edit(5, "x"), "There is no text 5: they go from 0 to 4"),
        (lambda: queue.content(-1), "There is no text -1: they go from 0 to 4"),
        (lambda: empty.accept(0), "There is no text 0: nothing is to be reviewed"),
        (lambda: queue.edit(0, "  "), "cannot be empty"),
        (queue.plan, "No text was answered yet"),
        (
            lambda: client.templates.queue(["de"], [CODE], only="fresh"),
            'only= takes "all", or some of missing, stale',
        ),
    ):
        with pytest.raises(InputError, match=message):
            use()
    page = html_of(empty)
    assert "Nothing to review." in page and "<table" not in page
    queue.edit(0, queue.items[0].unit.target)
    assert queue.items[0].answer == "accepted", "the same text again is not an edit"


def test_texts_stand_language_by_language_and_their_page_shows_the_first(client: Any) -> None:
    queue = client.templates.queue(["fr", "de"], BOTH)
    lines = repr(queue).splitlines()
    assert lines[0] == "16 texts in 2 languages: 16 unknown."
    assert lines[2] == f"  0 unknown {CODE} fr Header: Your bike is ready"
    assert lines[-2].startswith("  7 unknown ")
    assert lines[-1] == "  … and 8 more: queue.frame() has them all"
    page = html_of(queue)
    assert page.count("<tr>") == 1 + 8 + 1 + 8
    assert "<summary>8 more</summary>" in page
    assert repr(queue.items[0]) == f"<unknown {CODE} fr headers.0.text: Your bike is ready>"
    few = client.templates.queue(["de"], [CODE])
    assert "… and" not in repr(few) and "<details" not in html_of(few)


def test_one_accepted_text_is_told_and_a_comment_is_recorded_once(client: Any) -> None:
    queue = client.templates.queue(["de"], [CODE])
    queue.accept(0)
    assert "1 text is recorded as right, as they are." in queue.plan().notes
    queue = client.templates.queue(["de"], [CODE])
    queue.comment(1, "")
    with pytest.raises(InputError, match="No text was answered yet"):
        queue.plan()
    for number, comment in ((1, "why?"), (1, ""), (2, "so"), (3, "then")):
        queue.comment(number, comment)  # one is taken back before it is recorded
    [message] = [note for note in queue.plan().notes if "comment" in note]
    assert message.startswith("2 comments are recorded")
    queue.comment(3, "")
    [message] = [note for note in queue.plan().notes if "comment" in note]
    assert message.startswith("1 comment is recorded")
    with pytest.raises(InputError, match="No text was answered yet"):
        queue.plan()
    recorded = client.templates.ledger.read().comments.items()
    comments = {place[2]: each.text for place, each in recorded}
    assert comments.pop(queue.items[2].unit.field) == "so"
    assert not any(comments.values())


def test_a_queue_goes_on_after_its_plan_was_applied(client: Any) -> None:
    queue = client.templates.queue(["de"], [CODE])
    first = position(queue, "buttons.0.label")
    for number, text in ((first, "Bin unterwegs"), (first + 1, "Ich brauche Zeit")):
        queue.edit(number, text)
        assert [*queue.plan().apply().state] == ["applied"]
    queue.edit(first, "Schon unterwegs")
    plan = queue.plan()
    (change,) = plan.changes
    assert labels(change.before)[:2] == ["Bin unterwegs", "Ich brauche Zeit"]
    chatkit.undo(plan.apply()).apply()
    assert client.templates(CODE).get("de").buttons[0]["label"] == "Bin unterwegs"
    queue.edit(first + 2, "Anrufen")
    queue.plan().apply()
    now = labels({"buttons": client.templates(CODE).get("de").buttons})
    assert now == ["Schon unterwegs", "Ich brauche Zeit", "Anrufen"]


def test_what_changed_elsewhere_since_is_not_overwritten_by_a_later_plan(client: Any) -> None:
    queue, contents = client.templates.queue(["de", "fr"], [CODE]), client.templates(CODE)
    text = position(queue, "text")
    german = queue.items[text].unit.target
    queue.edit(text, german.replace("Hallo", "Hi"))
    queue.plan().apply()
    contents.update("de", text=german.replace("Hallo", "Moin"))
    queue.edit(text, german.replace("Hallo", "Servus"))
    conflict = "de text: conflict: somebody else translated it since this queue was made"
    stale = "fr text: stale: its source was changed since this queue was made"
    for message in (conflict, stale):
        plan = queue.plan()
        assert not plan.changes and f"{CODE} {message}" in "\n".join(plan.notes)
        queue.edit(text + 5, queue.items[text + 5].unit.target + " À bientôt.")
        contents.update("en", text=SOURCE)


def test_what_was_written_in_the_queue_is_suggested_for_the_next_text_like_it(client: Any) -> None:
    for code in ("tyre_ready", "brake_ready"):
        client.templates(code).create(
            lang_code="en", text=f"Your {code[:5]} are done.", footer="See you at the workshop"
        )
    queue = client.templates.queue(["de"], ["tyre_ready", "brake_ready"])
    footers = [n for n, item in enumerate(queue.items) if item.unit.field == "footer"]
    assert queue.suggestions(footers[1]) == []
    queue.edit(footers[0], "Bis bald in der Werkstatt")
    (one,) = queue.suggestions(footers[1])
    assert (one.translation, one.alike, one.live) == ("Bis bald in der Werkstatt", 1.0, None)
    assert one.template_code == queue.items[footers[0]].unit.template_code
    queue.skip(footers[0])
    assert queue.suggestions(footers[1]) == []


# --- memory -------------------------------------------------------------------------------


def waits(client: Any) -> str:
    """Make a template with the English text of another one, and return the German of that."""
    ready = client.templates(CODE)
    client.templates("order_waits").create(lang_code="en", text=ready.get("en").text)
    german: str = ready.get("de").text
    return german


def test_a_queue_of_one_template_suggests_what_the_others_have_and_reads_them_once(
    sandbox: Any, client: Any
) -> None:
    german = waits(client)
    queue = client.templates.queue(["de"], ["order_waits"], only="missing")
    assert not queue.has_other_contents and queue.suggestions(0, at_hand=True) == []
    before = len(log(sandbox))
    (one,) = queue.suggestions(0)
    assert (one.translation, one.template_code, one.lang_code) == (german, CODE, "de")
    assert queue.has_other_contents
    place = f"templates/{CODE}/contents"
    read = sorted(path for _, path in log(sandbox)[before:])
    assert read == [place, f"{place}/de", f"{place}/en"], "the languages of the queue alone"
    assert queue.suggestions(0, at_hand=True) == queue.suggestions(0) == [one]
    assert len(log(sandbox)) == before + 3


@pytest.mark.parametrize("known", ["remembered", "recorded"])
def test_suggestions_come_from_templates_that_this_client_has_not_read(
    sandbox: Any, client: Any, known: str
) -> None:
    german = waits(client)
    if known == "recorded":
        client.templates.accept("de", [CODE])
    with chatkit.connect(sandbox) as colleague:
        if known == "remembered":
            colleague.templates.remember([CODE, "no_such_code"])
        queue = colleague.templates.queue(["de"], ["order_waits"])
        assert [one.translation for one in queue.suggestions(0)] == [german]
