"""Texts to review string by string, and a glossary, over an account."""

from __future__ import annotations

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


def rewrite(client: Any, text: str) -> None:
    client.templates(CODE).update("en", text=text)


SOURCE = "Hello {{1}}, your {{2}} has been repaired. Please fetch it by {{3}}, from 9 to 6."


def test_what_was_never_recorded_is_unknown_then_live_then_stale(client: Any) -> None:
    assert {*client.templates.queue(["de"], [CODE]).frame()["state"]} == {"unknown"}
    client.templates.accept("de", [CODE])
    assert len(client.templates.queue(["de"], [CODE])) == 0
    before = client.templates(CODE).get("en").text
    rewrite(client, SOURCE)
    (item,) = client.templates.queue(["de"], [CODE]).items
    assert (item.state, item.unit.field, item.source_before) == ("stale", "text", before)
    assert item.unit.source == SOURCE
    assert len(client.templates.queue(["de"], [CODE], only=["stale", "live"])) == 6


def test_all_answers_end_in_one_plan_and_what_was_accepted_is_recorded(client: Any) -> None:
    queue = client.templates.queue(["de", "fr"], [CODE])
    fields = [item.unit.field for item in queue.items[:5]]
    assert [item.unit.lang_code for item in queue.items] == ["de"] * 5 + ["fr"] * 5
    for number, field in enumerate(fields):
        if field == "text":
            new = queue.items[number].unit.target.replace("bereit", "nun bereit")
            assert queue.edit(number, new) == []
        else:
            queue.accept(number)
    queue.skip(6)
    queue.comment(6, "ask Léa")
    assert queue.counts() == {"": 4, "accepted": 4, "edited": 1, "skipped": 1}
    plan = queue.plan()
    assert plan.counts == {"create": 0, "update": 1, "delete": 0}
    assert "4 texts are recorded as right, as they are." in plan.notes
    plan.apply()
    assert "nun bereit" in client.templates(CODE).get("de").text
    left = client.templates.queue(["de", "fr"], [CODE])
    assert [item.unit.lang_code for item in left.items] == ["fr"] * 5
    assert left.items[1].comment == "ask Léa"


def test_a_language_that_is_missing_becomes_a_draft_once_all_its_texts_are_there(
    client: Any,
) -> None:
    queue = client.templates.queue(["it"], [CODE])
    assert {item.state for item in queue.items} == {"missing"}
    with pytest.raises(InputError, match="has no translation yet"):
        queue.accept(0)
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
    queue = client.templates.queue(["de"], [CODE, "rental_reminder"])
    header = next(n for n, i in enumerate(queue.items) if i.unit.field == "headers.0.text")
    assert [each.code for each in queue.findings(header)] == ["glossary"]
    assert queue.findings(header, "Dein Velo ist fertig") == []
    text = next(n for n, i in enumerate(queue.items) if i.unit.field == "text")
    assert "placeholders differ" in [each.code for each in queue.edit(text, "Hallo {{1}}, komm!")]
    footer = next(n for n, i in enumerate(queue.items) if i.unit.field == "buttons.0.label")
    assert queue.suggestions(footer) == []
    content = queue.content(header)
    assert content["text"] == "Hallo {{1}}, komm!", "what was edited beside it is in it too"


def test_what_cannot_be_taken_is_told_in_the_plan_text_by_text(client: Any) -> None:
    queue = client.templates.queue(["de"], [CODE])
    queue.edit(0, "Ganz neu")
    queue.edit(1, "Kurz")
    plan = queue.plan()
    assert plan.counts["update"] == 1
    message = (
        f"Not taken: {CODE} de text: placeholder lost: {{{{1}}}}, {{{{2}}}}, {{{{3}}}} are missing."
    )
    assert message in plan.notes


def test_what_cannot_be_answered_is_told(client: Any) -> None:
    queue = client.templates.queue(["de"], [CODE])
    with pytest.raises(InputError, match="There is no text 5: they go from 0 to 4"):
        queue.edit(5, "x")
    with pytest.raises(InputError, match="cannot be empty"):
        queue.edit(0, "  ")
    with pytest.raises(InputError, match="No text was answered yet"):
        queue.plan()
    with pytest.raises(InputError, match="only= takes missing, stale"):
        client.templates.queue(["de"], [CODE], only="fresh")
    assert repr(client.templates.queue(["de"], [CODE], only=["stale"])) == "Nothing to review."
    queue.edit(0, queue.items[0].unit.target)
    assert queue.items[0].answer == "accepted", "the same text again is not an edit"


def test_a_queue_shows_what_changed_and_nothing_of_a_stranger_is_run(client: Any) -> None:
    client.templates.accept("de", [CODE])
    rewrite(client, SOURCE.replace("repaired", "<b>repaired</b>"))
    queue = client.templates.queue(["de"], [CODE])
    assert "1 text in 1 language: 1 stale." in repr(queue)
    page = html_of(queue)
    assert "<ins>" in page and "<del>" in page
    assert "<b>repaired" not in page


BOTH = [CODE, "rental_reminder"]


def test_texts_stand_language_by_language_and_their_page_shows_the_first_ten(client: Any) -> None:
    queue = client.templates.queue(["fr", "de"], BOTH)
    lines = repr(queue).splitlines()
    assert lines[0] == "16 texts in 2 languages: 16 unknown."
    assert lines[1] == f"  0 unknown {CODE} fr Header: Your bike is ready"
    assert lines[-2].startswith(f"  9 unknown {CODE} de Text: Hello")
    assert lines[-1] == "  … and 6 more: queue.frame() has them all"
    page = html_of(queue)
    assert page.count("<tr>") == 1 + 10 + 1 + 6
    assert "<summary>6 more</summary>" in page
    assert repr(queue.items[0]) == f"<unknown {CODE} fr headers.0.text: Your bike is ready>"
    ten = client.templates.queue(["de"], [CODE])
    assert "… and" not in repr(ten) and "<details" not in html_of(ten)
    empty = html_of(client.templates.queue(["de"], [CODE], only="stale"))
    assert "Nothing to review." in empty and "<table" not in empty


def test_a_frame_of_texts_tells_the_answers(client: Any) -> None:
    queue = client.templates.queue(["de"], [CODE])
    queue.edit(0, "Neu")
    queue.accept(1)
    queue.comment(1, " ask Léa ")
    frame = queue.frame()
    assert list(frame.columns) == [
        *("template_code", "lang_code", "field", "state", "source_before", "source"),
        *("translation", "answer", "new_translation", "comment", "limit"),
    ]
    assert frame["answer"].tolist() == ["edited", "accepted", "", "", ""]
    assert frame["new_translation"].tolist()[:2] == ["Neu", ""]
    assert frame["comment"].tolist()[:2] == ["", "ask Léa"]
    assert frame["limit"].tolist() == [60, 1024, 25, 25, 25]
    assert "1 accepted, 1 edited." in repr(queue)
    assert "Neu" in html_of(queue)


def test_what_is_edited_beside_a_text_is_of_its_own_content_alone(client: Any) -> None:
    """Texts of the template before and after it, and of other languages, stand next to it."""
    queue = client.templates.queue(["fr", "de"], BOTH)
    places = [item.unit.text_key for item in queue.items]
    for number, item in enumerate(queue.items):
        queue.edit(number, f"{item.unit.source} ({item.unit.lang_code} {number})")
    for code, lang in {place[:2] for place in places}:
        mine = [n for n, place in enumerate(places) if place[:2] == (code, lang)]
        for number in (mine[0], mine[-1]):
            content = queue.content(number)
            assert content["template_code"] == code
            labels = [button["label"] for button in content["buttons"]]
            assert f"({lang} {mine[-1]})" in labels[-1]
            assert f"({lang} " in content["text"] and len(labels) in (2, 3)
    queue.skip(0)
    assert queue.items[0].text == queue.items[0].unit.target
    assert queue.content(1)["headers"][0]["text"] == queue.items[0].unit.target


def test_one_accepted_text_is_told_and_a_comment_is_recorded_once(client: Any) -> None:
    queue = client.templates.queue(["de"], [CODE])
    queue.accept(0)
    assert "1 text is recorded as right, as they are." in queue.plan().notes
    queue = client.templates.queue(["de"], [CODE])
    with pytest.raises(InputError, match="No text was answered yet"):
        queue.plan()
    queue.comment(1, "")
    with pytest.raises(InputError, match="No text was answered yet"):
        queue.plan()
    queue.comment(1, "why?")
    queue.comment(1, "")
    queue.comment(2, "so")
    [message] = [note for note in queue.plan().notes if "comment" in note]
    assert message.startswith("2 comments are recorded")
    with pytest.raises(InputError, match="No text was answered yet"):
        queue.plan()
    comments = {
        place[2]: each.text for place, each in client.templates.ledger.read().comments.items()
    }
    assert comments.pop(queue.items[2].unit.field) == "so"
    assert not any(comments.values())


def test_a_language_that_is_not_there_yet_is_checked_as_a_draft_of_the_source(client: Any) -> None:
    queue = client.templates.queue(["it"], [CODE])
    assert queue.findings(0) == []
    assert queue.content(0)["lang_code"] == "it"
    assert queue.content(0, "Ciao")["headers"][0]["text"] == "Ciao"
    assert [each.code for each in queue.findings(3, "a" * 26)] == ["length"]
    assert [each.code for each in queue.findings(3, "a" * 25)] == [], "a note is not told"
    with pytest.raises(InputError, match="There is no text -1: they go from 0 to 5"):
        queue.content(-1)
    empty = client.templates.queue(["de"], [CODE], only="stale")
    with pytest.raises(InputError, match="There is no text 0: nothing is to be reviewed"):
        empty.accept(0)


def test_suggestions_come_from_the_other_templates(client: Any) -> None:
    queue = client.templates.queue(["de"], BOTH)
    assert not queue.has_memory(2)
    client.templates("rental_reminder").update("en", text=SOURCE)
    queue = client.templates.queue(["de"], BOTH)
    text = next(n for n, i in enumerate(queue.items) if i.unit.text_key[::2] == (BOTH[1], "text"))
    [outcome] = queue.suggestions(text)
    assert queue.has_memory(text)
    assert "ist repariert" in outcome.translation


def test_a_queue_goes_on_after_its_plan_was_applied(client: Any) -> None:
    queue = client.templates.queue(["de"], [CODE])
    labels = [n for n, item in enumerate(queue.items) if item.unit.field.startswith("buttons")]
    queue.edit(labels[0], "Bin unterwegs")
    queue.plan().apply()
    queue.edit(labels[1], "Ich brauche Zeit")
    result = queue.plan().apply()
    assert [*result.state] == ["applied"]
    queue.edit(labels[0], "Schon unterwegs")
    plan = queue.plan()
    (change,) = plan.changes
    assert [button["label"] for button in change.before["buttons"]][:2] == [
        "Bin unterwegs", "Ich brauche Zeit",
    ]  # fmt: skip
    chatkit.undo(plan.apply()).apply()
    assert client.templates(CODE).get("de").buttons[0]["label"] == "Bin unterwegs"
    queue.edit(labels[2], "Anrufen")
    queue.plan().apply()
    now = [button["label"] for button in client.templates(CODE).get("de").buttons]
    assert now == ["Schon unterwegs", "Ich brauche Zeit", "Anrufen"]


def test_what_changed_elsewhere_since_is_not_overwritten_by_a_later_plan(client: Any) -> None:
    queue = client.templates.queue(["de", "fr"], [CODE])
    text = next(n for n, item in enumerate(queue.items) if item.unit.field == "text")
    german = queue.items[text].unit.target
    queue.edit(text, german.replace("Hallo", "Hi"))
    queue.plan().apply()
    client.templates(CODE).update("de", text=german.replace("Hallo", "Moin"))
    queue.edit(text, german.replace("Hallo", "Servus"))
    plan = queue.plan()
    assert not plan.changes
    message = f"{CODE} de text: conflict: somebody else translated it since this queue was made"
    assert message in "\n".join(plan.notes)
    queue.edit(text + 5, queue.items[text + 5].unit.target + " À bientôt.")
    client.templates(CODE).update("en", text=SOURCE)
    plan = queue.plan()
    assert not plan.changes
    message = f"{CODE} fr text: stale: its source was changed since this queue was made"
    assert message in "\n".join(plan.notes)


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


def test_a_queue_of_one_template_suggests_what_the_others_have(client: Any) -> None:
    german = waits(client)
    queue = client.templates.queue(["de"], ["order_waits"], only="missing")
    assert not queue.has_other_contents and queue.suggestions(0, at_hand=True) == []
    (one,) = queue.suggestions(0)
    assert (one.translation, one.template_code, one.lang_code) == (german, CODE, "de")
    assert queue.has_other_contents and queue.has_memory(0)
    assert queue.suggestions(0, at_hand=True) == [one]


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


def test_only_the_languages_of_the_queue_are_read_for_suggestions_and_only_once(
    sandbox: Any, client: Any
) -> None:
    waits(client)
    queue = client.templates.queue(["de"], ["order_waits"])
    before = len(log(sandbox))
    queue.suggestions(0)
    place = f"templates/{CODE}/contents"
    read = sorted(path for _, path in log(sandbox)[before:])
    assert read == [place, f"{place}/de", f"{place}/en"]
    queue.suggestions(0)
    assert len(log(sandbox)) == before + 3
