"""Spaces, quotes, punctuation, numbers and dates as a language writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localization.contents import content

from chatkit.localization.audit import check_contents
from chatkit.localization.language import SUPPORTED
from chatkit.localization.rules import ContentFinding

OURS = {
    *("doubled spaces", "space at the edge", "quotes", "punctuation", "ending differs"),
    *("number form", "date form", "addresses differ", "isolation"),
}


def found(lang: str, text: str, source: str = "", **fields: object) -> list[ContentFinding]:
    """What is told of a text in a language, and beside a source text if there is one."""
    contents = [content(text=source, variables={}, lang_code="en")] if source else []
    contents.append(content(**{"variables": {}, "lang_code": lang, "text": text, **fields}))
    said = check_contents(contents).of(lang_code=lang)
    return [each for each in said if each.code in OURS]


def codes(lang: str, text: str, source: str = "", **fields: object) -> list[str]:
    return [each.code for each in found(lang, text, source, **fields)]


GOOD = [
    ("en", "She said “yes, it’s ‘fine’”. Call us: 5:30 pm is too late!"),
    ("de", "Ihr „neues ‚Rad‘“ ist da. Wir öffnen um 9.30 Uhr; bis dann!"),
    ("de", "Ihr »neues Rad« ist da, z. B. heute …"),
    ("fr", "Bonjour, « votre vélo » est prêt : venez\u202f! Merci."),
    ("fr_CA", "Venez! C’est prêt : « merci »."),
    ("fr_CH", "Venez! «Merci»"),
    ("es", "¡Hola! ¿Está lista la «bici»? Sí."),
    ("es", "Hola, ¿vienes hoy?! Te esperamos."),
    ("el", "Είναι έτοιμο; Ναι!"),
    ("ar", "هل أنت جاهز؟ نعم، اليوم."),
    ("ja", "「修理」が完了しました。今日は、いかがですか？"),
    ("zh_CN", "您的“自行车”已修好，请来取。"),
    ("ru", "Ваш «велосипед „Заря“» готов!"),
    ("sv", "Din ”cykel” är klar."),
    ("sv", 'Din "cykel" är klar.'),
    ("de", 'Felgen mit 26" und 28" sind da, auch {{1}}" und {{2}}".'),
    ("he", 'צה"ל וארה"ב כאן.'),
    ("en", 'The "bike" is here.'),
    ("en", "See https://shop.example/a?b=1,2;c :) or mail a.b@shop.example !important"),
    ("de", "Version 1.2.3 für 3 Personen, Nr. 5"),
]


@pytest.mark.parametrize(("lang", "text"), GOOD)
def test_what_is_written_as_the_language_does_is_not_told(lang: str, text: str) -> None:
    assert codes(lang, text) == []


@pytest.mark.parametrize(
    ("lang", "text", "code", "at"),
    [
        ("en", "It is  ready.", "doubled spaces", 5),
        ("en", "It is ready. ", "space at the edge", 12),
        ("en", "It is ready.\n Come.", None, None),
        ("en", "It is ready. \nCome.", "space at the edge", 12),
        ("en", "It is ready , come.", "punctuation", 11),
        ("en", "Is it ready ?", "punctuation", 11),
        ("fr", "C’est prêt , venez.", "punctuation", 10),
        ("fr", "C’est prêt!", "punctuation", 10),
        ("fr", "Bonjour {{1}}! Merci.", "punctuation", 13),
        ("fr", "Un «vélo ».", "punctuation", 3),
        ("fr_CA", "Prêt: venez.", "punctuation", 4),
        ("de", "Ihr “Rad” ist da.", "quotes", 8),
        ("en", "Your „bike” is here.", "quotes", 5),
        ("sv", "Din “cykel” är klar.", "quotes", 4),
        ("fr", "Votre “vélo” est prêt.", "quotes", 6),
        ("de", 'Ihr "Rad" ist da.', "quotes", 4),
        ("de", 'Ihr "{{1}}" ist da.', "quotes", 4),
        ("ru", 'Ваш "велосипед" готов!', "quotes", 4),
        ("es", "Vienes hoy?", "punctuation", 0),
        ("es", "Listo. Ven ya!", "punctuation", 6),
        ("ar", "هل أنت جاهز?", "punctuation", 11),
        ("ar", "نعم, اليوم.", "punctuation", 3),
        ("el", "Είναι έτοιμο?", "punctuation", 12),
        ("ja", "完了しました.", "punctuation", 6),
        ("zh_CN", "已修好,请来取。", "punctuation", 3),
        ("de", "Wir schließen um 6 pm.", "date form", 17),
    ],
)
def test_what_the_language_writes_otherwise_is_told_at_its_place(
    lang: str, text: str, code: str | None, at: int | None
) -> None:
    told = [(each.code, each.position) for each in found(lang, text)]
    assert told == ([(code, at)] if code else [])


@pytest.mark.parametrize(
    ("lang", "text", "source", "told"),
    [
        ("de", "Das Rad ist da", "The bike is here.", ["ending differs"]),
        ("de", "Das Rad ist da!", "The bike is here.", ["ending differs"]),
        ("de", "Ist das Rad da?", "Is the bike here?", []),
        ("el", "Είναι έτοιμο;", "Is it ready?", []),
        ("hi", "आपकी साइकिल तैयार है।", "Your bike is ready.", []),
        ("th", "จักรยานของคุณพร้อมแล้ว", "Your bike is ready.", []),
        ("de", "Es kostet 1,234.50 Euro.", "It costs 1,234.50 dollars.", ["number form"]),
        ("de", "Es kostet 1.234,50 Euro.", "It costs 1,234.50 dollars.", []),
        ("de", "Es kostet 12.50 Euro.", "It costs 12.50 dollars.", ["number form"]),
        ("de", "Es sind 12.50 Euro.", "It costs 99 dollars.", []),
        ("es", "Son las 3 de 10.", "It is 3 of 10.", []),
        ("de", "Am 3/4/2026 ist zu.", "We close on 3/4/2026 at all.", None),
        ("en_GB", "We close on 3/4/2026.", "We close on 3/4/2026.", None),
        ("de", "Siehe https://a.example/de/x.", "See https://a.example/en/x.", []),
        ("de", "Siehe https://a.example/y.", "See https://a.example/x.", ["addresses differ"]),
        ("de", "Siehe dort.", "See https://a.example/x.", ["addresses differ"]),
        ("de", "Mail an a@b.example.", "Write to a@b.example.", []),
        ("de", "Am November 25 ist zu.", "We close on November 25 at all.", None),
        ("de", "Am 25. March ist zu.", "We close on March 25 at all.", None),
        ("de", "Am Nov. 25 ist zu.", "We close on Nov. 25 at all.", None),
        ("fr", "Fermé le 25th December.", "Closed on 25th December.", None),
        ("ja", "May 5は休みです。", "We close on May 5.", None),
        ("de", "Am 25. November ist zu.", "We close on November 25 at all.", []),
        ("sv", "Stängt 25 november.", "Closed on 25 November.", []),
        ("ja", "詳細はhttps://a.example/xへ。", "See https://a.example/x.", []),
        ("ja", "質問はa@b.exampleまで。", "Write to a@b.example.", []),
        ("ja", "本日May 5は休みです。", "We close on May 5.", None),
        ("de", "May 5 ist da.", "Brian May is here.", []),
        ("de", "Am März 50 ist zu.", "We close on March 50 at all.", []),
        ("en_GB", "Closed on November 25.", "Closed on November 25.", []),
    ],
)
def test_what_stands_as_in_the_source_or_unlike_it_is_told(
    lang: str, text: str, source: str, told: list[str] | None
) -> None:
    assert codes(lang, text, source) == (["date form"] if told is None else told)


def test_a_value_of_the_other_direction_is_to_be_isolated() -> None:
    text = "مرحبًا {{1}}، طلبك رقم {{2}} جاهز."
    names = {"1": "سارة", "2": "A-17"}
    (told,) = found("ar", text, variables=names)
    assert (told.code, told.position, told.severity) == (
        *("isolation", text.index("{{2}}")),
        "warning",
    )
    isolated = text.replace("{{2}}", "\u2068{{2}}\u2069")
    assert codes("ar", isolated, variables=names) == []
    assert codes("ar", text, variables={"1": "سارة", "2": "سبعة"}) == []


@pytest.mark.parametrize(
    ("mine", "theirs", "field"),
    [
        ({"footer": "https://b.example"}, {"footer": "https://a.example"}, "footer"),
        ({"footer": "Mehr"}, {"footer": "https://a.example"}, "footer"),
        (
            {"headers": [{"type": "text", "text": "www.b.example"}]},
            {"headers": [{"type": "text", "text": "www.a.example"}]},
            "headers.0.text",
        ),
    ],
)
def test_addresses_are_compared_in_every_text(
    mine: dict[str, object], theirs: dict[str, object], field: str
) -> None:
    english = content(text="Hello you.", variables={}, lang_code="en", **theirs)
    german = content(text="Hallo du.", variables={}, lang_code="de", **mine)
    [told] = check_contents([english, german]).of(lang_code="de", code="addresses differ")
    assert (told.field, told.severity) == (field, "warning")
    moved = content(
        text="Hallo https://a.example du.", variables={}, lang_code="de", footer="Bis bald"
    )
    here = content(text="Hello you.", variables={}, lang_code="en", footer="https://a.example")
    assert not check_contents([here, moved]).of(code="addresses differ"), "another place will do"
    del moved["footer"], moved["text"]
    assert not check_contents([here, moved]).of(code="addresses differ"), "it was not read"


def test_what_stands_as_in_the_source_is_untranslated_unless_it_may_be_alike() -> None:
    def told(**fields: object) -> list[tuple[str, str]]:
        given = {"text": "Hello you.", "variables": {}, **fields}
        contents = [content(**given, lang_code="en")]
        contents.append(content(**{**given, "text": "Hallo du."}, lang_code="de"))
        found = check_contents(contents).of(lang_code="de")
        codes = ("untranslated", "same as source")
        return [(each.code, each.field) for each in found if each.code in codes]

    assert told(footer="Larkspur Cycles") == [("same as source", "footer")]
    assert told(footer="Reply STOP to end") == [("untranslated", "footer")]
    label = [{"type": "custom", "label": "OK"}]
    assert told(buttons=label, footer="") == [("same as source", "buttons.0.label")]
    label = [{"type": "custom", "label": "I need more time"}]
    assert told(buttons=label, footer="") == [("untranslated", "buttons.0.label")]


def test_header_footer_and_labels_are_looked_at_too() -> None:
    told = found(
        "de", "Hallo.", footer="Bis  bald",
        headers=[{"type": "text", "text": "Ihr “Rad“"}],
        buttons=[{"type": "custom", "label": "Ja "}],
    )  # fmt: skip
    assert [(each.code, each.field) for each in told] == [
        ("doubled spaces", "footer"),
        ("space at the edge", "buttons.0.label"),
    ]


def test_a_long_text_without_an_end_mark_is_read_once() -> None:
    """Before, each of its characters began a sentence: a million took hours."""
    assert "punctuation" not in [each.code for each in found("es", "a " * 500_000)]


@given(st.sampled_from(SUPPORTED), st.text(max_size=60), st.text(max_size=60))
def test_any_text_in_any_language_is_looked_at(lang: str, text: str, source: str) -> None:
    for each in found(lang, text, source):
        assert each.message and (each.position is None or 0 <= each.position <= len(text))
