"""What the rules say of a content, word for word and to the letter where it is: findings.txt."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from localization.contents import audit, button, content, website

from chatkit.localization.audit import Audit, check_contents

LONG = "n" * 40
QUICK, NO = button("custom", "Yes"), button("custom", "No")
CALL = button("call_phone", "Call", value="2079460321", country_code="+44")
CODE = {"text": "", "footer": "", "variables": {}, "auth_delivery_method": "copy_code"}
APP = {"package_name": "com.example.shop", "signature_hash": "abcdefghijk"}
SAMPLES = {"variables": {"1": "a", "2": "b"}}
ONE, NONE = {"variables": {"1": "a"}}, {"variables": {}}
VALID = {"is_custom_validity_period": True}
EXPIRES = CODE | {"auth_add_code_expiration": True}


def header(text: Any, **more: Any) -> dict[str, Any]:
    return {"headers": [{"type": "text", "text": text, **more}]}


def medium(kind: str, **more: Any) -> dict[str, Any]:
    return {"headers": [{"type": kind, **more}]}


def buttons(*given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"buttons": list(given), **more}


#: Contents that are good but for these fields.
ALONE: dict[str, dict[str, Any]] = {
    "a brace": NONE | {"text": "Hello you, say {1} or else this and that"},
    "a brace at the start": NONE | {"text": "{1} begins here and goes on for a long time"},
    "a long name": NONE | {"text": f"Hello {{{{{LONG}}}}}, welcome to the shop of all"},
    "a name with spaces": NONE | {"text": "Hello {{ 1 }}, welcome to the shop of all"},
    "a gap": {
        "text": "Hello {{1}} and {{3}} there, welcome to the shop of all",
        "variables": {"1": "a", "3": "b"},
    },
    "two side by side": SAMPLES | {"text": "Hello {{1}} {{2}} there, welcome to the shop of us"},
    "first": ONE | {"text": "{{1}} there, welcome to the shop of all of us"},
    "last": ONE | {"text": "Welcome to the shop of all of us {{1}}"},
    "beside punctuation": SAMPLES | {"text": "({{1}}) welcome to the shop of all of us {{2}}."},
    "two words for one": ONE | {"text": "Dear {{1}} friend"},
    "three words for one": ONE | {"text": "Dear {{1}} good friend"},
    "four words for two": SAMPLES | {"text": "Dear {{1}} our {{2}} good friend"},
    "a sample that is no text": {
        "text": "Dear {{1}} friend of the shop",
        "variables": {"1": 5},
    },
    "an empty sample": {"text": "Dear {{1}} friend of the shop", "variables": {"1": " "}},
    "a sample of nothing": {
        "text": "Dear {{1}} friend of the shop",
        "variables": {"1": "a", LONG: "b"},
    },
    "no text": NONE | {"text": " "},
    "two headers": {"headers": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]},
    "a footer with a placeholder": {"footer": "See {{1}} there"},
    "a header of no type": medium("audio"),
    "a header that is no text": header(5),
    "a header of spaces": header(" "),
    "a header with two placeholders": header("A {{1}} b {{2}}", text_variable="x"),
    "a header without its sample": header("A {{1}}"),
    "a header with a line break": header("A\nb"),
    "a header with bold letters": header("A *bold* b"),
    "an image whose link is no text": medium("image", link=5),
    "a video without a link": medium("video"),
    "an image without a link": medium("image"),
    "a video with a parameter": medium("video", parameter="x"),
    "an image that is no address": medium("image", link="a.png"),
    "an image with a text": medium("image", link="https://a.example/x", text="Hi"),
    "a video with a text": medium("video", link="https://a.example/x", text="Hi"),
    "ten buttons": buttons(*(button("custom", f"R{n}") for n in range(10))),
    "eleven buttons": buttons(*(button("custom", f"R{n}") for n in range(11))),
    "three buttons": buttons(*(button("custom", f"R{n}") for n in range(3))),
    "a button of no type": buttons(button("odd")),
    "two calls": buttons(CALL, CALL),
    "three websites": buttons(*(website(f"https://a.example/{n}", label=str(n)) for n in range(3))),
    "a catalog beside others": buttons(button("view_catalog", None), QUICK, CALL, is_catalog=True),
    "another between replies": buttons(QUICK, CALL, NO),
    "another before replies": buttons(CALL, QUICK, NO),
    "a button without a label": buttons(button("custom", " ")),
    "a label with a placeholder": buttons(button("custom", f"Hi {{{{{LONG}}}}}")),
    "the same label": buttons(QUICK, button("custom", " yes ")),
    "an address without https": buttons(website("a.example")),
    "no address": buttons(website("")),
    "a placeholder within an address": buttons(
        website("https://a.example/{{1}}/x", dynamic_url="https://a.example/7")
    ),
    "a dynamic address without one": buttons(website("https://a.example/x", url_type="dynamic")),
    "an address without its sample": buttons(website("https://a.example/{{1}}")),
    "a static address with one": buttons(
        website("https://a.example/{{1}} ", url_type="static", dynamic_url="https://a.example/7")
    ),
    "a number with a space": buttons(CALL | {"value": "020 7946", "country_code": "44"}),
    "a number of four digits": buttons(CALL | {"value": "1234"}),
    "a number of three digits": buttons(CALL | {"value": "123"}),
    "no number": buttons(CALL | {"value": "", "country_code": ""}),
    "an offer without a code": buttons(button("copy_offer_code", None, value=" ")),
    "a long offer": NONE | buttons(button("copy_offer_code", None, value="X"), text="a" * 601),
    "an offer": NONE | buttons(button("copy_offer_code", None, value="X"), text="a" * 600),
    "a catalog without its button": buttons(QUICK, is_catalog=True),
    "a button of a catalog without one": buttons(button("view_catalog", None), is_catalog=False),
    "61 characters": {"footer": "f" * 61},
    "60 characters": {"footer": "f" * 60},
    "57 characters": {"footer": "f" * 57},
    "56 characters": {"footer": "f" * 56},
    "31 emoji": {"footer": "😀" * 31},
    "30 emoji": {"footer": "😀" * 30},
    "1,025 with its sample": {
        "text": f"Hello {{{{1}}}} there {' '.join(['a b'] * 10)}",
        "variables": {"1": "x" * 973},
    },
    "1,024 with its sample": {
        "text": f"Hello {{{{1}}}} there {' '.join(['a b'] * 10)}",
        "variables": {"1": "x" * 972},
    },
    "29 seconds": VALID | {"validity_period_seconds": 29},
    "no seconds": VALID,
    "30 days": VALID | {"validity_period_seconds": -1},
    "30 seconds": VALID | {"validity_period_seconds": 30},
    "43,200 seconds": VALID | {"validity_period_seconds": 43_200},
    "43,201 seconds": VALID | {"validity_period_seconds": 43_201},
    "2,592,000 seconds": VALID | {"validity_period_seconds": 2_592_000},
    "2,592,001 seconds": VALID | {"validity_period_seconds": 2_592_001},
    "seconds that do not count": {"validity_period_seconds": 60},
    "a code with a header": CODE | header("A"),
    "a code with a catalog": CODE | {"is_catalog": True},
    "a code with an address": CODE | {"text": "Go to www.example.com now"},
    "a code with an emoji": CODE | {"text": "Go 😀 now"},
    "a code without an app": CODE | {"auth_delivery_method": "one_tap", "auth_apps": []},
    "an app without its names": CODE
    | {"auth_apps": [{"package_name": "a", "signature_hash": "x"}]},
    "five apps": CODE | {"auth_apps": [APP] * 5},
    "six apps": CODE | {"auth_apps": [APP] * 6},
    "a package of 224 characters": CODE | {"auth_apps": [APP | {"package_name": f"c.{'x' * 222}"}]},
    "a package of 225 characters": CODE | {"auth_apps": [APP | {"package_name": f"c.{'x' * 223}"}]},
    "a code of 59 seconds": EXPIRES | {"auth_code_expiration_seconds": 59},
    "a code of 60 seconds": EXPIRES | {"auth_code_expiration_seconds": 60},
    "a code of 61 seconds": EXPIRES | {"auth_code_expiration_seconds": 61},
    "a code of 5,400 seconds": EXPIRES | {"auth_code_expiration_seconds": 5400},
    "a code of 5,401 seconds": EXPIRES | {"auth_code_expiration_seconds": 5401},
    "a code of no seconds": EXPIRES,
    "seconds of a code that do not count": CODE | {"auth_code_expiration_seconds": 61},
    "a code valid for 900 seconds": CODE | VALID | {"validity_period_seconds": 900},
    "a code valid for 901 seconds": CODE | VALID | {"validity_period_seconds": 901},
    "several headers": {
        "headers": ["A", {"type": "audio"}, {"type": "text", "text": "A {{2}} {{3}}"}]
    },
    "several buttons": {
        "buttons": [
            *("A", button("odd"), button(None), QUICK, button("custom", "YES"), CALL),
            *(button("custom", 5), website("ftp://a.example", url_type=5)),
        ],
    },
    "several apps": CODE | {"auth_apps": ["A", APP | {"signature_hash": "x"}, APP, {}]},
    "several samples": {
        "text": "Dear {{1}} friend of {{2}} the shop and {{3}} of all of us in {{4}} town today",
        "variables": {"1": 5, "2": None, "3": "c", "5": "x", "6": "y"},
    },
    "several gaps": {
        "text": "Dear {{2}} friend of {{7}} the shop and {{x}} of all of us in {{ y }} town today",
        "variables": {"2": "a", "7": "b", "x": "c", "y": "d"},
    },
    "four buttons of one kind": buttons(*(button("custom", f"R{n}") for n in range(4))),
    "a catalog alone": buttons(button("view_catalog", None), is_catalog=True),
    "a catalog beside a call": buttons(CALL, button("view_catalog", None), is_catalog=True),
    "replies apart": buttons(QUICK, CALL, NO, website("https://a.example")),
    "replies together": buttons(CALL, QUICK, NO, website("https://a.example")),
    "odd characters everywhere": {
        "footer": "Lark\u200bspur",
        "headers": [{"type": "text", "text": "Pаypal 👍"}],
        "buttons": [button("custom", "Cafe\u0301"), button("custom", "GrÃ¼ÃŸe")],
        "variables": {"1": "a\u202e", "2": "b\ufffd"},
    },
    "ten emoji": NONE | {"text": f"Hello you {'👍 ' * 10}there", "footer": ""},
    "eleven emoji": NONE | {"text": f"Hello you {'👍 ' * 11}there", "footer": ""},
}

GERMAN = "Hallo {{1}}, deine Bestellung {{2}} ist fertig, komm heute vorbei."
LOST = "Hallo, deine Bestellung ist fertig, komm heute vorbei."
ENGLISH = "Hello {{1}}, your order {{2}} is ready."


def sentence(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """One sentence that stands in both texts."""
    return {"text": f"{GERMAN} {text} Ende hier."}, {"text": f"{ENGLISH} {text} Bye."}


#: German contents beside their English ones, good but for these fields.
BESIDE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a placeholder is missing": (ONE | {"text": LOST.replace(",", " {{1}},", 1)}, {}),
    "two more": ({"text": f"{GERMAN} {{{{3}}}} und {{{{4}}}} sind da."}, {}),
    "another": ({"text": LOST.replace(",", f" {{{{{LONG}}}}},", 1)}, {}),
    "seven are missing": (
        {"text": LOST},
        {"text": f"Hello {' and '.join(f'{{{{{n}}}}}' for n in (10, 9, 2, 1, 3, 4, 11))} all."},
    ),
    "names that are no numbers": (
        {"text": LOST},
        {"text": "Hello {{1234567890}} and {{x}} and {{999999999}} and {{2}} all of you."},
    ),
    "another kind of header": (medium("image", link="https://a.example/x"), header("A")),
    "no header": ({}, header("A")),
    "a placeholder in the header": (header("A {{1}}", text_variable="x"), header("A")),
    "a footer": ({}, {"footer": ""}),
    "no footer": ({"footer": " "}, {}),
    "fewer buttons": (buttons(QUICK), buttons(QUICK, NO)),
    "another order of buttons": (buttons(QUICK, CALL), buttons(CALL, QUICK)),
    "other buttons": (buttons(QUICK), buttons(CALL)),
    "no placeholder in an address": (
        buttons(website("https://a.example/x")),
        buttons(website("https://a.example/{{1}}", dynamic_url="https://a.example/1")),
    ),
    "a placeholder in an address": (
        buttons(website("https://a.example/{{1}}", dynamic_url="https://a.example/1")),
        buttons(website("https://a.example/x")),
    ),
    "another kind of address": (
        buttons(website("https://a.example/x", url_type="static")),
        buttons(website("https://a.example/x")),
    ),
    "another address": (
        buttons(website("https://a.example/hier")), buttons(website("https://a.example/here")),
    ),
    "another number": (buttons(CALL | {"value": "99999"}), buttons(CALL)),
    "another country": (
        buttons(CALL | {"value": "99999", "country_code": "+49"}), buttons(CALL),
    ),
    "other settings": (VALID | {"validity_period_seconds": 43_200}, {}),
    "the same text": ({"text": ENGLISH}, {"text": ENGLISH}),
    "a sentence of three words": sentence("Come hither everybody."),
    "a sentence of four words": sentence("Come hither all everybody."),
    "a sentence of 19 characters": sentence("Do go and see us x."),
    "a sentence of 20 characters": sentence("Do go and see us xx."),
}  # fmt: skip


def text(lang: str, said: str, **more: Any) -> dict[str, Any]:
    """A content of one text without placeholders."""
    return NONE | {"lang_code": lang, "text": said, "footer": ""} | more


def link(to: str) -> dict[str, Any]:
    """A button that leads there."""
    return buttons(QUICK, website(to))


SHOP = "Siehe https://a.example/en/x und www.b.example dort."
#: Contents in languages, alone or beside one in the source language, set in their own way.
SET: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "doubled spaces": (text("en", "It is  ready , come. "), None),
    "spaces in French": (text("fr", "C’est prêt , venez!"), None),
    "a tight mark in French": (text("fr", "Bonjour! C’est «prêt»: venez."), None),
    "a tight colon in Canada": (text("fr_CA", "Bonjour! C’est prêt: venez."), None),
    "no space in Switzerland": (text("fr_CH", "Bonjour! C’est prêt: venez."), None),
    "quotes of others": (text("de", "Ihr “neues” “Rad” ist da."), None),
    "straight quotes": (text("de", 'Ihr "neues" Rad mit 26" ist da.'), None),
    "quotes in Sweden": (text("sv", "Din “cykel” är klar."), None),
    "a comma in Arabic": (text("ar", "نعم, اليوم. هل أنت جاهز?"), None),
    "a full stop in Japanese": (text("ja", "修理,完了しました."), None),
    "a comma in Chinese": (text("zh_CN", "已修好,请来取。"), None),
    "a question in Greek": (text("el", "Είναι έτοιμο?"), None),
    "questions in Spanish": (text("es", "¿Listo? Vienes hoy? Ven ya!"), None),
    "an exclamation in Spanish": (text("es", "¡Listo! Ven ya!"), None),
    "an hour in German": (text("de", "Wir schließen um 6:30 p.m. heute."), None),
    "Latin letters in Arabic": (text("ar", "Your order is ready."), None),
    "Latin letters in half of it": (text("ru", "Ваш order"), None),
    "Latin names in Arabic": (text("ar", "هل أنت جاهز اليوم في Paris؟"), None),
    "two letters of others": (text("de", "Das Rad (ЖЗ) ist fertig."), None),
    "one letter of others": (text("de", "Das Rad (Ω) ist fertig."), None),
    "two letters in all": (text("ar", "هل أنت جاهز؟", buttons=[button("custom", "OK")]), None),
    "three letters in all": (text("ar", "هل أنت جاهز؟", buttons=[button("custom", "Yes")]), None),
    "a Latin beginning in Hebrew": (text("he", "Larkspur כאן היום בשבילך"), None),
    "a Hebrew beginning in English": (text("en", "צהל is here today and tomorrow"), None),
    "a value to isolate": (
        text("ar", "مرحبًا {{1}}، طلبك رقم {{2}} جاهز.", variables={"1": "سارة", "2": "A-17"}),
        None,
    ),
    "isolated by marks": (
        text("ar", "مرحبًا \u200f{{1}}\u200f، طلبك رقم {{2}} جاهز.", variables={"1": "A", "2": "B"}),
        None,
    ),
    "isolated on one side": (
        text("ar", "مرحبًا \u2068{{1}} طلبك رقم {{2}}\u2069 جاهز.", variables={"1": "A", "2": "B"}),
        None,
    ),
    "no mark at the end": (text("de", "Das Rad ist da"), text("en", "The bike is here.")),
    "another mark at the end": (text("de", "Das Rad ist da …"), text("en", "The bike is here!")),
    "a colon at the end": (text("de", "Das Rad ist da:"), text("en", "The bike is here?")),
    "three points": (text("de", "Das Rad ist da..."), text("en", "The bike is here…")),
    "a semicolon in Greek": (text("el", "Είναι έτοιμο;"), text("en", "Is it ready!")),
    "numbers of the source": (
        text("de", "Es sind 1.5 oder 1,234.50 oder 12.50 Euro."),
        text("en", "It is 1,234.50 or 12.50 dollars."),
    ),
    "a whole number": (text("de", "Es sind 1234 Euro."), text("en", "It is 1234 dollars.")),
    "a number in groups": (text("de", "Es sind 1,234 Euro."), text("en", "It is 1,234 dollars.")),
    "a date of the source": (
        text("de", "Am 3/5/2026 oder 3/4/2026 ist zu."), text("en", "Closed on 3/4/2026 at all."),
    ),
    "a month of the source": (
        text("de", "Am 1. Mai, 40. March und 25. March ist zu."),
        text("en", "Closed on March 25 at all."),
    ),
    "a month of two": (
        text("de", "Am November 25 ist zu."), text("en", "Closed on November 25 at all."),
    ),
    "addresses of the source": (
        text("de", SHOP), text("en", "See https://a.example/de/x and www.c.example there."),
    ),
    "an address less": (text("de", "Siehe dort."), text("en", "See www.c.example there.")),
    "buttons that lead elsewhere": (
        text("de", "Siehe dort.") | link("https://a.example/y"),
        text("en", "See there.") | link("https://a.example/x"),
    ),
    "buttons of two languages": (
        text("de", "Siehe dort.") | link("https://de.a.example/de?l=de"),
        text("en", "See there.") | link("https://en.a.example/en?l=en"),
    ),
    "spaces in several texts": (
        text("de", "Das  Rad ist da.", buttons=[button("custom", " "), button("custom", "Ja  da")]),
        text("en", "The bike is here.", buttons=[QUICK, button("custom", "Yes there!")]),
    ),
}  # fmt: skip
#: What is said of each content alone, and is tested there.
OWN = {
    "button on desktop",
    "sample surplus",
    "sample missing",
    "same as source",
    "placeholder name",
}

SAID: dict[str, list[str]] = {}
for _line in Path(__file__).with_name("findings.txt").read_text("utf-8").splitlines():
    if _line.startswith("  "):
        SAID[next(reversed(SAID))].append(_line.strip())
    else:
        SAID[_line] = []


def lines(found: Audit, besides: Collection[str] = ()) -> list[str]:
    """Each finding on one line."""
    return [
        f"{one.severity} {one.code}, {one.field}"
        f"{'' if one.position is None else f':{one.position}'}: "
        f"{one.message}{f' -> {one.hint}' if one.hint else ''}"
        for one in found
        if one.code not in besides
    ]


@pytest.mark.parametrize("case", ALONE)
def test_of_one_content(case: str) -> None:
    assert lines(audit(**ALONE[case])) == SAID[case]


@pytest.mark.parametrize("case", BESIDE)
def test_beside_the_source(case: str) -> None:
    german, english = BESIDE[case]
    mine = content(lang_code="de", **{"text": GERMAN, "footer": "Bis bald", **german})
    found = check_contents([content(**english), mine]).of(lang_code="de")
    assert lines(found, OWN) == SAID[case]


@pytest.mark.parametrize("case", SET)
def test_of_how_it_is_set(case: str) -> None:
    mine, english = SET[case]
    given = [content(**one) for one in (english, mine) if one is not None]
    assert lines(check_contents(given).of(lang_code=mine["lang_code"]), OWN) == SAID[case]


def test_every_case_is_written_down() -> None:
    assert list(SAID) == [*ALONE, *BESIDE, *SET]
