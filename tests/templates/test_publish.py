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
    client.templates("rental_reminder").update(
        "ar", footer="<script>alert(1)</script>\u202e", broken=True
    )
    client.templates.accept()
    html = html_of(client.templates.publish("ar"))
    assert "<figure" in html and "<script" not in html
    assert "&lt;script&gt;" in html and "\u202e" not in html


def test_what_the_platform_refuses_goes_live_only_when_that_is_said(client):
    client.templates.accept()
    plan = client.templates.publish("ja")
    assert not plan.changes
    assert any("broken=True" in note and "review_request/ja" in note for note in plan.notes)
    assert not any("not recorded" in note for note in plan.notes)
    assert labels(client.templates.publish("ja", broken=True)) == ["review_request/ja"]


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
        [message] = [note for note in plan.notes if "another source text" in note]
        assert "rental_reminder/ar" in message and "spring_offer/fr" in message


def test_a_draft_without_its_text_is_left_out_for_that_alone(client):
    code = client.templates("order_ready")
    with pytest.warns(UserWarning, match="text empty"):
        code.create(lang_code="it", text="", is_draft=True, broken=True)
    [note] = client.templates.publish("it", ["order_ready"]).notes[1:]
    assert note.startswith("Left as drafts, as they lack texts that their source has: order_ready")


def test_a_draft_that_holds_the_words_of_its_source_is_not_complete(client):
    client.templates.draft_missing(["it"], ["order_ready"]).apply()
    plan = client.templates.publish("it", ["order_ready"])
    assert not plan.changes
    assert any("the words of the source: order_ready/it" in note for note in plan.notes)


def test_what_broken_does_not_set_live_is_told_for_its_other_reason_too(client):
    plan = client.templates.publish("ja")
    [refused] = [note for note in plan.notes if "refused by the platform" in note]
    assert "without another reason" in refused
    for each in (plan, client.templates.publish("ja", broken=True)):
        assert not each.changes
        assert any("not recorded" in note and "review_request/ja" in note for note in each.notes)


TEXT = "Ciao {{1}}, la tua {{2}} è riparata e ti aspetta. Vieni entro {{3}}, fino alle 18."
REPORTS = "order_ready/it (the header, the label of button 1, the label of button 2"


def begun(client, **fields):
    """Draft order_ready in Italian with the words of the source, but for these fields."""
    client.templates.draft_missing(["it"], ["order_ready"]).apply()
    client.templates("order_ready").update("it", **{"text": TEXT, **fields})
    return client.templates.publish("it", ["order_ready"])


def in_italian(client):
    content = client.templates("order_ready").get("en")
    labels = ["Sono in arrivo", "Mi serve più tempo", "Chiama l’officina"]
    return {
        "headers": [{**content.headers[0], "text": "La tua bici è pronta"}],
        "buttons": [
            {**button, "label": label}
            for button, label in zip(content.buttons, labels, strict=True)
        ],
    }


def test_a_draft_with_a_header_and_buttons_of_its_source_is_not_complete(client):
    plan = begun(client)
    assert not plan.changes
    [message] = [note for note in plan.notes if "the words of the source" in note]
    assert REPORTS in message and "and 1 other text)" in message and "footer" not in message
    assert "accept(" in message and 'only="draft")' in message
    queue = client.templates.queue("it", ["order_ready"], only="draft")
    fields = {item.unit.field for item in queue.items}
    assert fields >= {"headers.0.text", *(f"buttons.{n}.label" for n in range(3))}


def test_a_name_in_the_footer_may_be_that_of_the_source(client):
    assert labels(begun(client, **in_italian(client))) == ["order_ready/it"]


def test_a_footer_in_words_of_the_source_is_not_complete(client):
    client.templates("order_ready").update("en", footer="See you at the workshop")
    plan = begun(client, **in_italian(client))
    assert any("order_ready/it (the footer)" in note for note in plan.notes)
    assert not plan.changes


def test_words_of_the_source_that_somebody_accepted_go_live(client):
    begun(client)
    client.templates.accept("it", ["order_ready"])
    assert labels(client.templates.publish("it", ["order_ready"])) == ["order_ready/it"]


def test_words_that_the_glossary_keeps_may_be_those_of_the_source(client):
    fields = in_italian(client)
    fields["headers"][0]["text"] = "Your bike is ready"
    assert not begun(client, **fields).changes
    client.templates.glossary = [{"term": "Your bike is ready", "keep": "yes"}]
    plan = client.templates.publish("it", ["order_ready"])
    assert labels(plan) == ["order_ready/it"]


def test_the_plan_tells_what_goes_live_against_the_glossary(client):
    begun(client, **in_italian(client))
    client.templates.glossary = [{"term": "bike", "language": "it", "use": "bicicletta"}]
    plan = client.templates.publish("it", ["order_ready"])
    assert labels(plan) == ["order_ready/it"]
    [message] = [note for note in plan.notes if "against the glossary" in note]
    assert "order_ready/it: the header: “bike” is not translated" in message
    assert "It says “bicicletta”." in message
    client.templates.silence("glossary", "it")
    plan = client.templates.publish("it", ["order_ready"])
    assert not any("glossary" in note for note in plan.notes)


def test_a_variant_of_the_language_may_have_the_words_of_the_source(client):
    client.templates.draft_missing(["en_GB"], ["order_ready"]).apply()
    assert labels(client.templates.publish("en_GB", ["order_ready"])) == ["order_ready/en_GB"]


def test_a_language_that_nobody_has_is_refused(client):
    with pytest.raises(InputError, match="No content is in it: they are in"):
        client.templates.publish("it")
    with pytest.raises(InputError, match="did you mean pt_BR"):
        client.templates.publish(["pt"])
