from __future__ import annotations

import pytest
from localization.contents import GOOD, button, content, website

from chatkit.localization.audit import check_contents
from chatkit.localization.checks import sentences
from chatkit.localization.content import entries

GERMAN = {
    "lang_code": "de",
    "text": "Hallo {{1}}, deine Bestellung {{2}} ist fertig, komm heute vorbei und hol sie ab.",
    "footer": "Dein Larkspur",
}
CALL = button("call_phone", "Call", value="2079460321", country_code="+44")
QUICK = button("custom", "Yes")
SITE = website("https://a.example/en", url_type="static")
DYNAMIC = website("https://a.example/{{1}}", url_type="dynamic", dynamic_url="https://a.example/7")


def pair(source=None, **german):
    """What is found in a German content beside an English one."""
    english = content(**(source or {}))
    both = check_contents([english, content(**{**GERMAN, **german})])
    return [found for found in both.of(lang_code="de") if found.code != "button on desktop"]


def buttons(source, german):
    return [found.code for found in pair({"buttons": source}, buttons=german)]


def relabelled(*given):
    return [{**each, "label": f"Taste {n}"} for n, each in enumerate(given)]


def test_a_good_translation_is_good():
    assert pair() == []


def test_placeholders_may_stand_in_another_order():
    text = "Deine Bestellung {{2}} ist fertig, {{1}}, komm heute vorbei und hol sie ab."
    assert pair(text=text) == []


def test_placeholders_that_are_missing_or_too_many_are_named():
    text = "Hallo {{1}}, deine Bestellung ist mit {{3}} fertig, komm heute vorbei und hol sie ab."
    (found,) = [each for each in pair(text=text) if each.code == "placeholders differ"]
    assert found.message == "{{2}} of en is missing and {{3}} is not in en"
    assert found.position == text.index("{{3}}")
    assert not found.refused


def test_a_header_of_another_kind_is_found():
    image = [{"type": "image", "link": "https://a.example/x.png"}]
    text = [{"type": "text", "text": "Bereit"}]
    (found,) = pair({"headers": image}, headers=text)
    assert found.message == "the header is text, that in en is image"
    assert [each.code for each in pair({"headers": image}, headers=[])] == ["header differs"]
    assert pair({"headers": [{"type": "text", "text": "Ready"}]}, headers=text) == []


def test_a_header_with_other_placeholders_is_found():
    english = [{"type": "text", "text": "Hi {{1}}", "parameter": "Ana"}]
    (found,) = pair({"headers": english}, headers=[{"type": "text", "text": "Hallo"}])
    assert (found.code, found.field) == ("header differs", "headers.0.text")


def test_buttons_have_the_same_count_order_and_types():
    assert buttons([QUICK, CALL], relabelled(QUICK, CALL)) == []
    assert buttons([QUICK, CALL], relabelled(QUICK)) == ["buttons differ"]
    assert buttons([QUICK, CALL], relabelled(CALL, QUICK)) == ["buttons differ"]
    assert buttons([QUICK, CALL], relabelled(QUICK, SITE)) == ["buttons differ"]
    (found,) = pair({"buttons": [QUICK, CALL]}, buttons=relabelled(CALL, QUICK))
    assert found.message == "the buttons are in another order than in en"


def test_an_address_that_is_filled_in_is_filled_in_everywhere():
    assert buttons([DYNAMIC], relabelled(DYNAMIC)) == []
    assert buttons([DYNAMIC], relabelled(SITE)) == ["buttons differ"]
    assert "buttons differ" in buttons([SITE], relabelled({**SITE, "url_type": "dynamic"}))


@pytest.mark.parametrize(
    ("source", "change"),
    [
        (CALL, {"value": "2079460322"}),
        (CALL, {"value": "30901820", "country_code": "+49"}),
    ],
)
def test_another_number_is_a_note(source, change):
    (found,) = pair({"buttons": [source]}, buttons=relabelled({**source, **change}))
    assert (found.code, found.severity) == ("button value differs", "note")


def test_a_button_that_leads_elsewhere_is_warned_of_but_not_of_the_language_in_its_address():
    (found,) = pair({"buttons": [SITE]}, buttons=relabelled({**SITE, "value": "https://b.example"}))
    assert (found.code, found.severity, found.field) == (
        *("addresses differ", "warning"),
        "buttons.0.value",
    )
    assert found.message == f"button 1 leads to https://b.example, and in en to {SITE['value']}"
    there = [{**SITE, "value": "https://a.example/en/x"}]
    here = relabelled({**SITE, "value": "https://a.example/de/x"})
    assert not pair({"buttons": there}, buttons=here)


def test_footers_and_settings_that_differ_are_notes():
    (found,) = pair(footer="")
    assert (found.code, found.message) == ("footer differs", "it has no footer, that in en has one")
    assert [each.code for each in pair({"footer": ""})] == ["footer differs"]
    (found,) = pair(is_catalog=None)
    assert (found.code, found.field) == ("settings differ", "is_catalog")


def test_a_text_that_is_still_that_of_the_source_is_warned_of():
    (found,) = pair(text=GOOD["text"] + "\n")
    assert (found.code, found.severity, found.position) == ("untranslated", "warning", None)


def test_a_sentence_that_is_still_that_of_the_source_is_warned_of():
    english = "Hello {{1}}, {{2}} is here. Please bring your receipt with you. Bye for now."
    german = "Hallo {{1}}, {{2}} ist da. Please bring your receipt with you. Bis bald."
    (found,) = [
        each for each in pair({"text": english}, text=german) if each.code == "untranslated"
    ]
    assert found.position == german.index("Please")


def test_a_label_or_footer_that_is_that_of_the_source_is_a_note():
    found = pair({"buttons": [QUICK]}, footer="Larkspur", buttons=[QUICK])
    assert [(each.code, each.field) for each in found] == [
        ("same as source", "footer"),
        ("same as source", "buttons.0.label"),
    ]
    assert pair({"footer": "2026"}, footer="2026") == []


def test_relatives_of_the_source_may_read_the_same():
    found = check_contents([content(), content(lang_code="en_GB")])
    assert not len(found)


def test_what_was_not_read_is_not_compared():
    listed = {"lang_code": "de", "text": GERMAN["text"]}
    assert not len(check_contents([content(), listed]).of(lang_code="de"))


def test_only_sentences_that_stand_in_both_by_no_chance_are_looked_for():
    (entry,) = entries(
        content(text="Hi. Is this a sentence that is long? Okay!\n" + "a b c d. " * 99)
    )
    assert sentences(entry) == ["Is this a sentence that is long?"]
    many = " ".join(f"This is a sentence, number {n:03}." for n in range(99))
    (entry,) = entries(content(text=many))
    assert len(sentences(entry)) == 50
