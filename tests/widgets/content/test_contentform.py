"""A content is written beside its source, seen at once, and saved as a plan."""

from __future__ import annotations

import re
from html import escape

import pytest
from bulk.wayward import answers, wayward
from profiles import SERVICES
from widgets.screen import (
    classes,
    controls,
    find,
    html,
    kind,
    page_of,
    part,
    parts,
    press,
    static,
    type_into,
)

import chatkit
from chatkit.errors import InputError, PlanRefused
from chatkit.widgets.contentform import ContentForm
from chatkit.widgets.fields import FormGroup

REVIEW = "Review the change"
EVIL = "<img src=x onerror=alert(1)>"
ENGLISH = {
    "lang_code": "en",
    "parameter_format": "TEXT",
    "is_draft": False,
    "text": "Hello {{1}}, your order {{2}} is ready.",
    "variables": {"1": "Ana", "2": "A-17"},
    "footer": "Larkspur",
    "headers": [{"type": "text", "text": "Ready"}],
    "buttons": [
        {"type": "custom", "label": "Thanks"},
        {"type": "call_phone", "label": "Call", "value": "2025550142", "country_code": "+1"},
    ],
}
GERMAN = {
    **ENGLISH,
    "lang_code": "de",
    "text": "Hallo {{1}}, Ihre Bestellung {{2}} ist fertig.",
    "headers": [{"type": "text", "text": "Fertig"}],
    "buttons": [
        {"type": "custom", "label": "Danke"},
        {"type": "call_phone", "label": "Anrufen", "value": "2025550142", "country_code": "+1"},
    ],
}


@pytest.fixture
def client():
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        yield client


@pytest.fixture
def target(client):
    target = client.templates("order_ready")
    for content in (ENGLISH, GERMAN):
        target.create(**content)
    return target


def preview(form):
    """Return the preview of the language that is edited."""
    return part(form, FormGroup, "cf-seen").children[0].value


def samples(form):
    """The labels of the lines for samples."""
    box = part(form, FormGroup, "cf-samples")
    return [one.label for one in parts(box) if kind(one) == "text"]


def row(form, name):
    """Return the texts at a field: its help, its lengths, its findings."""
    rows = [one for one in parts(form) if "cf-edit" in classes(one)]
    marks = {"buttons": "Add button", "footer": "Footer", "text": "Text"}
    return html(next(one for one in rows if controls(one, marks.get(name, name))))


def body(form):
    """Return the text in the preview."""
    return re.sub("<[^>]+>", "", preview(form))


# --- what is there --------------------------------------------------------------------------


def test_it_opens_a_language_beside_its_source(target):
    form = ContentForm(target, "de")
    assert (form.lang_code, form.source, form.new, form.touched) == ("de", "en", False, False)
    assert form.values == {}
    assert find(form, REVIEW).disabled
    assert "Hallo Ana, Ihre Bestellung A-17 ist fertig." in body(form)
    assert repr(form) == "<content form: order_ready de, nothing edited>"


def test_the_source_itself_stands_alone(target):
    form = ContentForm(target, "en")
    assert form.source is None
    assert [one for one in form.audit if one.code.endswith("differs")] == []


def test_a_code_is_found_in_any_form_and_kept_as_the_service_has_it(target):
    target.create(**{**ENGLISH, "lang_code": "pt_BR"})
    assert ContentForm(target, "pt-br").lang_code == "pt_BR"
    assert not ContentForm(target, "pt-br").new


def test_a_new_language_begins_as_a_draft_with_all_but_the_words(target):
    form = ContentForm(target, "ar")
    assert form.new
    assert not form.touched
    begun = form.content
    assert (begun["text"], begun["footer"], begun["variables"]) == ("", "", {})
    assert begun["is_draft"] is True
    assert begun["headers"] == [{"type": "text"}]
    assert begun["buttons"] == [
        {"type": "custom"},
        {"type": "call_phone", "value": "2025550142", "country_code": "+1"},
    ]
    assert repr(form) == "<content form: order_ready ar, new, nothing edited>"


def test_a_language_without_a_source_begins_empty(client):
    form = ContentForm(client.templates("greeting"), "fr")
    assert (form.new, form.source, form.content["buttons"]) == (True, None, [])


@pytest.mark.parametrize(
    ("lang", "rtl"), [("ar", True), ("he", True), ("de", False), ("ja", False)]
)
def test_inputs_of_a_language_written_from_the_right_are_so_too(target, lang, rtl):
    inputs = [one for one in parts(ContentForm(target, lang)) if "cf-edit" in classes(one)]
    assert {"cf-rtl" in classes(one) for one in inputs} == {rtl}


@pytest.mark.parametrize("lang", ["", "  "])
def test_a_language_must_be_named(target, lang):
    with pytest.raises(InputError, match="Name the language"):
        ContentForm(target, lang)


# --- what is typed --------------------------------------------------------------------------


def test_what_is_typed_is_seen_at_once(target):
    form = ContentForm(target, "de")
    form.set("text", "*Hallo* {{1}}, fertig: {{2}} und {{3}}.")
    assert "Hallo Ana, fertig: A-17 und {{3}}." in body(form)
    assert "<strong>Hallo</strong>" in preview(form)
    assert samples(form) == ["{{1}}", "{{2}}", "{{3}}"]
    assert form.touched
    type_into(form, "{{3}}", "mehr")
    assert "und mehr." in body(form)
    assert form.values["variables"] == {"1": "Ana", "2": "A-17", "3": "mehr"}


def test_what_the_rules_find_stands_at_its_field(target):
    form = ContentForm(target, "de")
    form.set("footer", "x" * 61)
    form.set("buttons", GERMAN["buttons"][:1])
    assert "61 of 60 characters" in row(form, "footer")
    assert "Take away 1" in row(form, "footer")
    assert "that in en has 2" in row(form, "buttons")
    assert {"length", "buttons differ"} <= set(form.audit.counts())
    assert all(one.lang_code == "de" for one in form.audit)


def test_what_is_found_elsewhere_is_told_below(target):
    form = ContentForm(target, "de")
    form.set("is_custom_validity_period", True)
    form.set("validity_period_seconds", 1)
    assert "Validity period, seconds" in html(form)


@pytest.mark.parametrize("name", ["none", "lang_code", "id"])
def test_there_are_fields_that_cannot_be_set(target, name):
    with pytest.raises(InputError, match="no such field"):
        ContentForm(target, "de").set(name, "x")


def test_everything_of_a_stranger_is_escaped(target):
    buttons = [{"type": "custom", "label": EVIL}]
    with pytest.warns(UserWarning, match="length at /buttons/0/label"):
        target.update("en", text=EVIL, footer=EVIL, buttons=buttons, broken=True)
    form = ContentForm(target, "de")
    form.set("text", EVIL)
    assert escape(EVIL) in preview(form)
    assert "<img" not in html(form) + page_of(form)
    assert "&lt;img" in page_of(form)


# --- what is saved --------------------------------------------------------------------------


def test_nothing_is_sent_before_the_plan_is_applied(target):
    form = ContentForm(target, "de")
    form.set("text", "Hallo {{1}}, {{2}} ist nun fertig.")
    view = form.review()
    assert view in parts(form)
    assert target.get("de").text == GERMAN["text"]
    view.apply()
    assert target.get("de").text == "Hallo {{1}}, {{2}} ist nun fertig."
    assert form.message == "Saved order_ready in German."
    assert (form.touched, form.values) == (False, {})
    view.undo().apply()
    assert target.get("de").text == GERMAN["text"]


@pytest.mark.parametrize("number", range(0, len(SERVICES), 17))
def test_every_service_takes_an_edit_and_a_new_language(number):
    with (
        SERVICES[number].sandbox() as sandbox,
        chatkit.connect(sandbox) as client,
    ):
        target = client.templates("order_ready")
        target.create(**ENGLISH)
        for lang, text in (
            ("en", "Hi {{1}}, {{2}} is here."),
            ("de", "Hallo {{1}}, {{2}} ist da."),
        ):
            form = ContentForm(target, lang)
            form.set("text", text)
            form.review().apply()
            assert form.message.startswith("Saved order_ready in ")
            assert target.get(lang).text == text


def test_only_what_was_edited_is_planned(target):
    form = ContentForm(target, "de")
    form.set("buttons", [GERMAN["buttons"][1], GERMAN["buttons"][0]])
    (change,) = form.plan().changes
    assert change.kind == "update"
    assert list(change.after) == ["buttons"]


def test_a_field_can_be_cleared(target):
    target.update("de", is_custom_validity_period=True, validity_period_seconds=3600)
    form = ContentForm(target, "de")
    form.set("is_custom_validity_period", False)
    form.set("validity_period_seconds", None)
    form.set("footer", "")
    form.review().apply()
    saved = target.get("de")
    assert saved.validity_period_seconds is None
    assert saved.footer == ""


def test_a_new_language_is_made(target):
    form = ContentForm(target, "hi")
    form.set("text", "नमस्ते {{1}}, आपका ऑर्डर {{2}} तैयार है।")
    form.set("variables", {"1": "अमारा", "2": "A-17"})
    form.set("footer", "लार्कस्पर")
    form.review().apply()
    made = target.get("hi")
    assert (made.text, made.is_draft) == ("नमस्ते {{1}}, आपका ऑर्डर {{2}} तैयार है।", True)
    assert (form.new, form.touched, form.message) == (False, False, "Saved order_ready in Hindi.")
    form.set("is_draft", False)
    with pytest.raises(PlanRefused, match="1 row cannot be planned"):
        form.review().apply()  # its header and its buttons have no words yet
    form.set("headers", [{"type": "text", "text": "तैयार"}])
    form.set("buttons", [{"type": "custom", "label": "धन्यवाद"}])
    form.review().apply()
    assert target.get("hi").is_draft is False


def test_what_somebody_has_changed_is_not_written_over_unseen(target):
    form = ContentForm(target, "de")
    form.set("text", "Meins {{1}}, Nummer {{2}}.")
    target.update("de", text="Ihres {{1}}, Nummer {{2}}.", footer="Neu")
    form.review().apply()
    assert target.get("de").text == "Ihres {{1}}, Nummer {{2}}."
    assert "Somebody has changed it meanwhile" in form.message
    assert form.values == {"text": "Meins {{1}}, Nummer {{2}}."}
    assert form.content["footer"] == "Neu"
    form.review().apply()
    saved = target.get("de")
    assert (saved.text, saved.footer) == ("Meins {{1}}, Nummer {{2}}.", "Neu")


def test_a_language_that_somebody_made_meanwhile_is_not_written_over_unseen(target):
    form = ContentForm(target, "ja")
    form.set("text", "こんにちは {{1}} 様 {{2}} です。")
    target.create(**{**ENGLISH, "lang_code": "ja"})
    with pytest.raises(InputError, match="Somebody has changed it"):
        form.review()
    assert target.get("ja").text == ENGLISH["text"]
    assert "Somebody has changed it meanwhile" in form.message
    assert not form.new
    assert form.content["text"] == "こんにちは {{1}} 様 {{2}} です。"
    form.review().apply()
    assert target.get("ja").text == "こんにちは {{1}} 様 {{2}} です。"


def test_what_is_wrong_is_said_at_its_field_and_nothing_is_planned(target):
    form = ContentForm(target, "de")
    form.set("footer", "a")
    type_into(form, "Validity period, seconds", "soon")
    press(form, REVIEW)
    assert form.message == "Nothing was planned: see above."
    assert html(form).count("must be a whole number") == 1
    assert form.plan_view is None
    with pytest.raises(InputError, match="cannot be sent"):
        form.plan()
    with pytest.raises(InputError, match="cannot be read"):
        assert form.values


def test_nobody_types_while_it_is_saved(target):
    form = ContentForm(target, "de")
    form.set("footer", "a")
    view = form.review()
    seen = []
    apply = view.plan.apply

    def slow(**options):
        seen.append(find(form, "Text").disabled)
        with pytest.raises(PlanRefused):
            form.review()
        return apply(**options)

    view.plan.apply = slow
    view.apply()
    assert seen == [True]
    assert not find(form, "Text").disabled
    with pytest.raises(InputError, match="no such field"):
        form.set("lang_code", "fr")


def test_a_plan_that_cannot_begin_leaves_the_form_open(target, monkeypatch):
    form = ContentForm(target, "de")
    form.set("footer", "a")
    view = form.review()
    monkeypatch.setattr(type(view), "_find_block_reasons", lambda _: ["another kernel is at work"])
    with pytest.raises(PlanRefused, match="another kernel"):
        view.apply()
    assert not find(form, "Text").disabled


def test_what_is_saved_but_cannot_be_read_again_is_said():
    with wayward() as service, service.client() as client:
        target = client.templates("order_ready")
        target.create(**GERMAN)
        form = ContentForm(target, "de")
        form.set("footer", "a")
        view = form.review()
        apply = view.plan.apply

        def applied(**options):
            try:
                return apply(**options)
            finally:
                service.on("GET", "", forever=answers(403))

        view.plan.apply = applied
        view.apply()
    assert form.message.startswith("It is saved, but it cannot be read again")


def test_it_has_a_page_that_is_no_widget(target):
    form = ContentForm(target, "de")
    form.set("footer", "x" * 61)
    data = static(form)
    assert data["text/plain"] == "<content form: order_ready de, edited: footer>"
    page = data["text/html"]
    assert "Hallo" in page
    assert "at most 60 are allowed" in page
    assert "<script" not in page
