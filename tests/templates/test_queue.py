"""Texts to review string by string, what is silenced, and a glossary, over an account."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from displayed import html_of

import chatkit
from chatkit.errors import InputError
from chatkit.localization.ledger import Ledger

CODE = "order_ready"


@pytest.fixture
def client() -> Iterator[Any]:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as made:
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
    queue = client.templates.queue(
        ["de"],
        [CODE, "rental_reminder"],
        glossary=[{"term": "bike", "language": "de", "use": "Velo"}],
    )
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
    said = (
        f"Not taken: {CODE} de text: placeholder lost: {{{{1}}}}, {{{{2}}}}, {{{{3}}}} is missing."
    )
    assert said in plan.notes


def test_what_goes_out_to_translators_is_kept_as_it_was(client: Any, tmp_path: Path) -> None:
    client.templates.export(tmp_path / "texts.csv", [CODE], languages=["it"])
    rewrite(client, SOURCE)
    known = client.templates.ledger.read()
    assert any(text.startswith("Hello {{1}}, your {{2}} is") for text in known.sources.values())
    assert len(known) == 0, "nothing was translated yet"


def test_what_cannot_be_answered_is_told(client: Any) -> None:
    queue = client.templates.queue(["de"], [CODE])
    with pytest.raises(InputError, match="There is no text 5: they go from 0 to 4"):
        queue.edit(5, "x")
    with pytest.raises(InputError, match="cannot be empty"):
        queue.edit(0, "  ")
    with pytest.raises(InputError, match="Nothing was answered yet"):
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


# --- silenced -----------------------------------------------------------------------------


def test_a_warning_is_silenced_in_a_language_or_everywhere_and_stays_so(client: Any) -> None:
    def told() -> set[str]:
        audit = client.templates.check([CODE])
        return {found.lang_code for found in audit.of(code="same as source")}

    everywhere = told()
    assert {"de", "fr"} < everywhere
    client.templates.silence("same as source", ["de", "fr"])
    assert told() == everywhere - {"de", "fr"}
    client.templates.silence("same as source")
    assert told() == set()
    audit = client.templates.check([CODE])
    assert f"{len(everywhere)} findings are silenced: same as source." in repr(audit)
    client.templates.silence("same as source", "fr", off=True)
    assert told() == {"fr"}, "a language counts over all"


@pytest.mark.parametrize(
    ("code", "languages", "reason"),
    [
        ("qoutes", "", "there is no such warning; did you mean 'quotes'"),
        ("text empty", "", "the platform refuses it"),
        ("quotes", "german?", "is not written like a language"),
    ],
)
def test_what_cannot_be_silenced_is_told(
    client: Any, code: str, languages: str, reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        client.templates.silence(code, languages)


def test_remarks_merge_in_any_order_and_the_later_counts() -> None:
    one, other = Ledger(), Ledger()
    one.comment(("a", "de", "text"), "first")
    one.silence("quotes", "")
    other.comment(("a", "de", "text"), "second")
    other.silence("quotes", "", off=True)
    both, also = one.merge(other), other.merge(one)
    assert both == also == both.merge(one) == Ledger.of_text(str(both))
    assert both.comments["a", "de", "text"].text == "second"
    assert not both.is_silent("quotes", "de")
    for line in ('["comment","a","de","2026-01-01T00:00:00.000000+00:00","x"]',
                 '["silenced","a","","yesterday","yes"]'):  # fmt: skip
        with pytest.raises(InputError, match="cannot be read"):
            Ledger.of_text(line)
