"""Markup and residue: what customers would read as it is typed, and what the platform refuses."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from localization.contents import audit, codes, content

from chatkit.localization.audit import check_contents

TEXTS = tomllib.loads(Path(__file__).with_name("markup.toml").read_text("utf-8"))
SAMPLES = {"1": "Ana", "2": "4711"}
TYPED = {"markup", "residue", "line breaks", "footer format", "button label format"}


@pytest.mark.parametrize(
    ("code", "text"), [(code, text) for code, texts in TEXTS["found"].items() for text in texts]
)
def test_what_is_shown_as_it_is_typed_is_found(code, text):
    assert code in codes(text=text, variables=SAMPLES)


@pytest.mark.parametrize("text", TEXTS["clean"]["texts"])
def test_ordinary_texts_have_no_markup_and_no_residue(text):
    assert not TYPED & codes(text=text, variables=SAMPLES)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"footer": "Thanks 😀"}, {"footer format"}),
        ({"footer": "Thanks ❤️"}, {"footer format"}),
        ({"footer": "1️⃣ first"}, {"footer format"}),
        ({"footer": "Larkspur\nCycles"}, {"footer format"}),
        ({"footer": "Larkspur\r\nCycles"}, {"footer format"}),
        ({"footer": "Larkspur\u2028Cycles"}, {"footer format"}),
        ({"footer": "*Larkspur*"}, {"footer format"}),
        ({"footer": "A _great_ shop"}, {"footer format"}),
        ({"footer": "**Larkspur** Cycles"}, {"footer format"}),
        ({"footer": "Hello {{1}}"}, {"footer placeholder"}),
        ({"footer": "<b>Larkspur</b>"}, {"residue"}),
        ({"footer": "*Conditions apply"}, set()),
        ({"footer": "Larkspur™ ★★★ – ©2026 ✓ + → & Co."}, set()),
        ({"footer": "a_b_c, 2*3*4, ~10 min"}, set()),
        *(
            ({"buttons": [{"type": "custom", "label": label}]}, found)
            for label, found in (
                ("Yes 👍", {"button label format"}),
                ("🇮🇹 Sì", {"button label format"}),
                ("Yes\nno", {"button label format"}),
                ("*Yes*", {"button label format"}),
                ("_Yes_", {"button label format"}),
                ("~No~", {"button label format"}),
                ("`Yes`", {"button label format"}),
                ("```Yes```", {"button label format"}),
                ("**Yes**", {"button label format"}),
                ("* Yes *", {"button label format"}),
                ("*Yes", {"button label format"}),
                ("はい👍", {"button label format"}),
                ("*نعم*", {"button label format"}),
                ("Yes {{1}}", {"button label placeholder"}),
                ("Yes &amp; no", {"residue"}),
                ("Yes & no", set()),
                ("Size 3*4", set()),
                ("Call me (now) → 5", set()),
                ("はい、お願いします", set()),
            )
        ),
        *(
            ({"text": "Hello {{1}}, it is ready today.", "variables": {"1": sample}}, found)
            for sample, found in (
                ("Ana\nLima", {"sample format"}),
                ("Ana\r\nLima", {"sample format"}),
                ("Ana\tLima", {"sample format"}),
                ("Ana     Lima", {"sample format"}),
                ("Ana  Lima", {"doubled spaces"}),
                ("Ana Lima", set()),
            )
        ),
    ],
)
def test_lines_beside_the_text_and_samples_take_no_format(fields, found):
    others = {"control characters", "other script"}
    text = "Hello and welcome to the shop."
    assert codes(**{"text": text, "variables": {}, **fields}) - others == found


def test_what_the_platform_refuses_of_a_format_is_refused():
    found = audit(footer="A 😀", text="Hi\n\n\nthere you are {{1}} and {{2}} now, welcome home.")
    assert {each.code for each in found.refused} == {"footer format", "line breaks"}


@pytest.mark.parametrize(
    ("source", "translation", "found"),
    [
        ("Hello *{{1}}* there", "Ciao * {{1}} * a te", True),
        ("Your *order* is here", "Il tuo * ordine * è qui", True),
        ("Your *order* is here", "Il tuo *ordine * è qui", True),
        ("Your *order* is here", "Il tuo ordine* è qui", True),
        ("Your *order* is here", "您的*订单*已经准备好", True),
        ("Your *order* is here", "ご注文＊商品＊が届きました", True),
        ("Your ~old~ price", "Il ~vecchio prezzo", True),
        ("Your ~old~ price", "Il ~~vecchio~~ prezzo", True),
        ("Your *order* is here", "Il tuo *ordine* è qui", False),
        ("Your *order* is here", "Il tuo _ordine_ è qui", False),
        ("Your *order* is here", "Il tuo ordine è qui", False),
        ("Your *order* is here", "您的 *订单* 已经准备好", False),
        ("Your order is here", "您的*订单*已经准备好", False),
    ],
)
def test_a_translation_that_breaks_the_markup_of_its_source_is_found(source, translation, found):
    contents = [
        content(lang_code=lang, text=text, variables={"1": "Ana"})
        for lang, text in (("en", source), ("it", translation))
    ]
    assert found == (
        "markup" in {each.code for each in check_contents(contents).of(lang_code="it")}
    )


AUTHENTICATION = {
    "auth_delivery_method": "copy_code",
    "auth_add_security_recommendation": True,
    "auth_add_code_expiration": True,
    "auth_code_expiration_seconds": 600,
    "footer": "",
    "variables": {"1": "123456"},
}


@pytest.mark.parametrize(
    ("lang_code", "text"),
    [
        ("en", "{{1}} is your verification code."),
        ("en", "{{1}} is your verification code. For your security, do not share this code."),
        ("en", "*{{1}}* is your verification code."),
        ("en_US", "*{{1}}* is your verification code. For your security, do not share this code."),
        ("en", "<VERIFICATION_CODE> is your verification code."),
        ("es", "Tu código de verificación es {{1}}."),
        ("es", "*{{1}}* es tu código de verificación. Por tu seguridad, no lo compartas."),
        ("de", "{{1}} ist dein Verifizierungscode."),
        ("pt_BR", "Seu código de verificação é *{{1}}*."),
        ("fr", "Votre code de vérification est {{1}}"),
        ("ar", "رمز التحقق الخاص بك هو {{1}}."),
        ("ja", "認証コードは{{1}}です。"),
        ("hi", "{{1}} आपका सत्यापन कोड है."),
    ],
)
@pytest.mark.parametrize("method", ["copy_code", "one_tap", "zero_tap"])
def test_the_texts_of_the_platform_itself_are_right(lang_code, text, method):
    fields = {**AUTHENTICATION, "auth_delivery_method": method, "lang_code": lang_code}
    fields["auth_apps"] = [{"package_name": "com.example.shop", "signature_hash": "abcdefghijk"}]
    assert not audit(**fields, text=text)


@pytest.mark.parametrize("fields", [{}, {"auth_add_security_recommendation": True}])
def test_the_text_of_the_platform_is_known_without_its_settings(fields):
    own = "*{{1}}* is your verification code. For your security, do not share this code."
    assert not codes(text=own, variables={"1": "123456"}, **fields)
