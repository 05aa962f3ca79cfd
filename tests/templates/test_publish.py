"""Going live is one line: what is ready goes live, and the rest is left with its reason."""

from __future__ import annotations

import pytest
from displayed import html_of
from widgets import screen

import chatkit
from chatkit.errors import InputError

CODES = ["order_ready", "rental_reminder", "spring_offer", "review_request"]


@pytest.fixture
def client():
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        client.templates.remember(CODES)
        yield client


def labels(plan):
    return [change.label for change in plan.changes]


def test_drafts_of_which_nothing_is_recorded_are_left_until_somebody_accepts_them(client):
    plan = client.templates.publish()
    assert not plan.changes
    [message] = [note for note in plan.notes if "not recorded" in note]
    assert "rental_reminder/ar, review_request/hi" in message and "templates.accept(" in message
    client.templates.accept()
    plan = client.templates.publish()
    assert labels(plan) == ["rental_reminder/ar", "review_request/hi"]
    assert [dict(change.after) for change in plan.changes] == [{"is_draft": False}] * 2
    assert plan.apply().state.tolist() == ["applied", "applied"]
    assert client.templates.board()["review_request", "hi"].state == "live"
    assert not client.templates.publish().changes
    for languages, live in ((["ja"], "1 content is"), (["ar", "hi"], "4 contents are")):
        [message] = [n for n in client.templates.publish(languages).notes if "No draft" in n]
        assert message == f"No draft goes live. {live} live already."


def test_the_plan_shows_the_message_as_the_customer_sees_it(client):
    client.templates.accept()
    plan = client.templates.publish("ar")
    assert labels(plan) == ["rental_reminder/ar"]
    [message] = [note for note in plan.notes if "as a customer sees it" in note]
    content = client.templates("rental_reminder").get("ar")
    assert content.variables["1"] in message and "{{1}}" not in message
    assert all(f"[{button['label']}]" in message for button in content.buttons)
    assert message in repr(plan).replace("\n", " ")
    html = html_of(plan)
    assert html.count("<figure") == 1 and message not in html  # drawn like a phone does instead
    bubble = html[html.index("<figure") : html.index("</figure>")]
    assert "<figcaption>rental_reminder/ar (Arabic)</figcaption>" in bubble
    assert 'dir="rtl" lang="ar"' in bubble and content.footer in bubble
    assert bubble.count("<strong>") == len(content.buttons)
    assert screen.html(chatkit.widgets.PlanView(plan)).count("<figure") == 1


def test_a_message_that_is_drawn_is_escaped(client):
    footer = "<script>alert(1)</script>\u202e"
    client.templates("rental_reminder").update("ar", footer=footer, broken=True)
    client.templates.accept()
    html = html_of(client.templates.publish("ar"))
    assert "<figure" in html and "<script" not in html
    assert "&lt;script&gt;" in html and "\u202e" not in html


def noted(plan, words):
    """Return the note with these words; empty if there is none."""
    [note] = [note for note in plan.notes if words in note] or [""]
    return note


def test_what_the_platform_refuses_goes_live_only_when_that_is_said(client):
    for recorded in (False, True):
        plan = client.templates.publish("ja")
        assert not plan.changes
        refused = noted(plan, "refused by")
        assert (
            "review_request/ja ({{2}} has no sample). Correct them, or pass broken=True" in refused
        )
        for each in (plan, client.templates.publish("ja", broken=True)):
            assert ("review_request/ja" in noted(each, "not recorded")) is not recorded
        assert labels(each) == ["review_request/ja"] * recorded
        client.templates.accept()


def test_a_draft_whose_source_has_changed_stays_one(client):
    client.templates.accept()
    frame = client.templates.frame(["rental_reminder"], full=True)
    frame.loc[("rental_reminder", "en"), "text"] = (
        "Dear {{1}}, the rental of {{2}} is over on {{3}}. Please bring it back before 6 pm."
    )
    client.templates.plan(frame).apply()
    for broken in (False, True):
        plan = client.templates.publish(["ar", "fr"], broken=broken)
        assert not plan.changes
        message = noted(plan, "another source text")
        assert "rental_reminder/ar" in message and "spring_offer/fr" in message


def test_a_draft_without_its_text_is_left_out_for_that_alone(client):
    code = client.templates("order_ready")
    with pytest.warns(UserWarning, match="text empty"):
        code.create(lang_code="it", text="", is_draft=True, broken=True)
    [note] = client.templates.publish("it", ["order_ready"]).notes[1:]
    assert note.startswith("Left as drafts, as they lack texts that their source has: order_ready")


TEXT = "Ciao {{1}}, la tua {{2}} è riparata e ti aspetta. Vieni entro {{3}}, fino alle 18."
SAME = "the header, the label of button 1, the label of button 2"
LABELS = ["Sono in arrivo", "Mi serve più tempo", "Chiama l’officina"]
HEADER, ENGLISH_HEADER = "La tua bici è pronta", "Your bike is ready"


def copy_to_italian(client):
    """Make an Italian draft of order_ready with the words of its source."""
    contents = client.templates("order_ready")
    english = contents.frame(full=True).loc[["en"]]
    contents.plan(english.rename(index={"en": "it"}).assign(is_draft=True)).apply()


def draft_in_italian(client, header=HEADER):
    """Make an Italian draft of order_ready with its own texts, but for the footer."""
    content = client.templates("order_ready").get("en")
    buttons = [
        {**button, "label": label} for button, label in zip(content.buttons, LABELS, strict=True)
    ]
    copy_to_italian(client)
    headers = [{**content.headers[0], "text": header}]
    client.templates("order_ready").update("it", text=TEXT, headers=headers, buttons=buttons)


def publish_italian(client):
    return client.templates.publish("it", ["order_ready"])


def test_a_draft_with_words_of_its_source_is_complete_once_somebody_accepts_it(client):
    copy_to_italian(client)
    assert "order_ready/it" in noted(publish_italian(client), "the words of the source")
    client.templates("order_ready").update("it", text=TEXT)
    plan = publish_italian(client)
    message = noted(plan, "the words of the source")
    assert f"order_ready/it ({SAME} and 1 more)" in message and "footer" not in message
    assert not plan.changes and "accept(" in message and 'only="draft")' in message
    queue = client.templates.queue("it", ["order_ready"], only="draft")
    fields = {item.unit.field for item in queue.items}
    assert fields >= {"headers.0.text", *(f"buttons.{n}.label" for n in range(3))}
    client.templates.accept("it", ["order_ready"])
    assert labels(publish_italian(client)) == ["order_ready/it"]


def test_all_texts_that_a_draft_lacks_are_named(client):
    source = client.templates("order_ready").get("en")
    blank = [{**header, "text": ""} for header in source.headers]
    draft = {"lang_code": "it", "text": "", "headers": blank, "is_draft": True}
    with pytest.warns(UserWarning, match="text empty"):
        client.templates("order_ready").create(**draft)
    message = noted(publish_italian(client), "lack texts that their source has")
    assert "order_ready/it (the header, the text, the footer and 3 more)" in message


def test_a_name_in_the_footer_may_be_that_of_the_source_and_words_may_not(client):
    draft_in_italian(client)
    assert labels(publish_italian(client)) == ["order_ready/it"]
    for lang in ("en", "it"):
        client.templates("order_ready").update(lang, footer="See you at the workshop")
    plan = publish_italian(client)
    assert "order_ready/it (the footer)" in noted(plan, "the words of the source")
    assert not plan.changes


def test_words_that_the_glossary_keeps_may_be_those_of_the_source(client):
    draft_in_italian(client, ENGLISH_HEADER)
    assert not publish_italian(client).changes
    client.templates.glossary = [{"term": ENGLISH_HEADER, "keep": "yes"}]
    assert labels(publish_italian(client)) == ["order_ready/it"]


def test_the_plan_tells_what_goes_live_against_the_glossary(client):
    draft_in_italian(client)
    client.templates.glossary = [{"term": "bike", "language": "it", "use": "bicicletta"}]
    plan = publish_italian(client)
    assert labels(plan) == ["order_ready/it"]
    assert "“bike” is not translated" in noted(plan, "glossary")
    client.templates.silence("glossary", "it")
    assert not noted(publish_italian(client), "glossary")


def test_a_language_that_nobody_has_is_refused(client):
    with pytest.raises(InputError, match="No content is in it: they are in"):
        client.templates.publish("it")
    with pytest.raises(InputError, match="did you mean pt_BR"):
        client.templates.publish(["pt"])
