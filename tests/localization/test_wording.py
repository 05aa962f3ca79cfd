from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localization.contents import GOOD, audit, button, codes

from chatkit.imports.characters import of_text
from chatkit.localization import language
from chatkit.localization.typography import EMOJI, emoji

ARABIC = "مرحبًا \u2068{{1}}\u2069، تم إصلاح \u2068{{2}}\u2069 وهي جاهزة لك اليوم"
HINDI = "नमस्ते {{1}}, आपकी {{2}} ठीक हो गई है और तैयार है।"
JAPANESE = "こんにちは、{{1}}様。お預かりした{{2}}の修理が完了しました。"
RUSSIAN = "Здравствуйте, {{1}}, ваш {{2}} отремонтирован и готов."
THAI = "สวัสดี {{1}} {{2}} ของคุณซ่อมเสร็จแล้วและพร้อมรับ"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("ar", ARABIC),
        ("hi", HINDI),
        ("ja", JAPANESE),
        ("ru", RUSSIAN),
        ("de", "Grüße, {{1}}, von {{2}} aus Köln – „schön“, und bis bald"),
    ],
)
def test_good_texts_of_many_scripts_are_good(code, text):
    assert codes(lang_code=code, text=text, footer="") == set()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("It\u200b is ready", "invisible"),
        ("It is \ufffd ready", "lost letters"),
        ("It is\x07 ready", "control characters"),
        ("It is \u202eready", "direction marks"),
        ("GrÃ¼ÃŸe an alle", "garbled"),
        ("Pаypal is ready", "look-alike"),
        ("Cafe\u0301 is open", "decomposed"),
        ("half \ud800 a sign", "half a character"),
    ],
)
def test_odd_characters_are_found_in_every_text(text, code):
    for fields in (
        {"text": text, "variables": {}},
        {"footer": text},
        {"headers": [{"type": "text", "text": text}]},
        {"buttons": [button("custom", text)]},
        {"variables": {"1": text, "2": "x"}},
    ):
        found = audit(**fields).of(code=code)
        assert len(found) == 1, fields
        assert found[0].source


def test_a_line_break_in_a_text_is_no_fault():
    assert codes(text="Hello {{1}},\nyour order {{2}} is ready,\ncome and collect it.") == set()


def test_where_nothing_is_seen_is_told_by_its_place():
    (found,) = audit(footer="Lark\u200bspur")
    assert found.position == 4
    assert "Larkspur" in found.hint


@given(st.text(st.characters(), max_size=25))
def test_the_short_way_finds_what_the_checks_of_any_text_find(text):
    """Plain texts are told by their characters alone: never less is found than by looking."""
    found = {each.code for each in audit(footer=text) if each.field == "footer"}
    assert {odd.code for odd in of_text(text)} <= found


@given(st.text(alphabet="éÃ©â€™ÂŸ аaеe\u0301\u200d\ufe0f👍क्\u0301ᄀ가\u064e", max_size=12))
def test_the_short_way_finds_as_much_in_texts_made_to_deceive_it(text):
    found = {each.code for each in audit(footer=text) if each.field == "footer"}
    assert {odd.code for odd in of_text(text)} <= found


@pytest.mark.parametrize("text", ["👍", "a 👨‍👩‍👧‍👦 b", "🇩🇪", "5️⃣", "☎️", "👍🏽"])
def test_an_emoji_of_many_characters_is_one(text):
    found = emoji(text)
    assert found
    assert emoji(text[found.end() :]) is None


@pytest.mark.parametrize("text", ["", "5 * 3", "© ™ →", "Grüße", "漢字"])
def test_other_signs_are_no_emoji(text):
    assert emoji(text) is None


def test_more_emoji_than_were_taken_are_warned_of():
    text = "Hello {{1}}, your order {{2}} is ready " + "👍" * EMOJI
    assert EMOJI == 10
    assert "emoji" not in codes(text=text + " now")
    (found,) = audit(text=text + "👍 now").of(code="emoji")
    assert not found.refused


@pytest.mark.parametrize("code", ["ar", "hi", "ja", "ru", "zh_CN", "ko", "th", "el"])
def test_a_latin_text_in_a_language_of_other_letters_is_warned_of(code):
    (found,) = audit(lang_code=code).of(code="wrong script")
    assert f"is in {language.name(code)}" in found.message
    assert not found.refused


@pytest.mark.parametrize(
    ("code", "text"), [("de", RUSSIAN), ("hi", ARABIC), ("en", JAPANESE), ("ar", HINDI)]
)
def test_a_text_of_other_letters_is_warned_of(code, text):
    assert "wrong script" in codes(lang_code=code, text=text)


@pytest.mark.parametrize("code", ["sr", "uz", "az"])
def test_a_language_of_two_scripts_takes_both(code):
    assert not {"wrong script", "other script"} & codes(lang_code=code, text=RUSSIAN)
    assert not {"wrong script", "other script"} & codes(lang_code=code)


@pytest.mark.parametrize("text", [RUSSIAN, GOOD["text"]])
def test_of_a_language_that_nobody_knows_no_letters_are_wrong(text):
    assert codes(lang_code="xx", text=text) == {"language"}


def test_names_and_addresses_in_latin_letters_are_at_home_everywhere():
    text = RUSSIAN + " WhatsApp, https://larkspur.example/abc, ana@larkspur.example"
    assert codes(lang_code="ru", text=text, footer="") == set()
    assert codes(lang_code="ru", text=RUSSIAN) == {"other script"}  # the footer, a note


@pytest.mark.parametrize(
    ("letters", "expected"), [("μ", set()), ("μм", set()), ("μν", {"other script"})]
)
def test_one_letter_of_another_script_is_a_sign_and_two_are_a_word(letters, expected):
    text = f"Hello {{{{1}}}}, your order {{{{2}}}} is ready: {' '.join(letters)} for you to see."
    assert codes(text=text) == expected


def test_a_word_of_another_script_is_noted():
    text = "Hello {{1}}, your order {{2}} is ready, готов and waiting for you."
    (found,) = audit(text=text)
    assert (found.code, found.severity) == ("other script", "note")


def test_a_text_that_begins_in_the_other_direction_is_warned_of():
    (found,) = audit(lang_code="ar", text=f"WhatsApp: {ARABIC}", footer="").of(code="direction")
    assert (found.position, found.field) == (0, "text")
    assert "U+200F" in found.hint
    assert "direction" not in codes(lang_code="ar", text=ARABIC)
    assert "direction" in codes(text="שלום {{1}}, your order {{2}} is ready to be collected")


def test_words_of_both_directions_are_noted():
    (found,) = audit(lang_code="ar", text=f"{ARABIC} WhatsApp", footer="")
    assert (found.code, found.severity) == ("both directions", "note")
