from __future__ import annotations

import pytest
from localization.contents import audit, button, codes, website

QUICK, CALL = button("custom"), button("call_phone", "Call", value="2079460321", country_code="+44")
SITE = website("https://a.example/x", url_type="static")
CODE = button("copy_offer_code", None, value="SPRING")
DYNAMIC = website("https://a.example/{{1}}", url_type="dynamic", dynamic_url="https://a.example/7")


def quick(count: int) -> list[dict]:
    return [button("custom", f"Reply {n}") for n in range(count)]


def of(*buttons) -> set[str]:
    return codes(buttons=list(buttons)) - {"button on desktop", "button label twice"}


@pytest.mark.parametrize("good", [QUICK, CALL, SITE, CODE, DYNAMIC])
def test_each_good_button_is_good(good):
    assert of(good) == set()


@pytest.mark.parametrize("kind", ["quick_reply", None, 5, {}, "<b>"])
def test_a_type_the_api_does_not_name_is_an_error(kind):
    (found,) = audit(buttons=[button(kind)]).errors
    assert (found.code, found.field) == ("button type", "buttons.0.type")


def test_there_are_ten_at_most():
    assert "button count" not in codes(buttons=quick(10))
    assert "button count" in codes(buttons=quick(11))


@pytest.mark.parametrize(("good", "most"), [(SITE, 2), (CALL, 1), (CODE, 1)])
def test_of_some_types_there_are_fewer(good, most):
    assert "button mix" not in of(*[good] * most)
    assert "button mix" in of(*[good] * (most + 1))


def test_a_catalog_button_stands_alone():
    catalog = button("view_catalog", None)
    assert codes(buttons=[catalog], is_catalog=True) == set()
    assert "button mix" in codes(buttons=[catalog, QUICK], is_catalog=True)


@pytest.mark.parametrize("order", [(QUICK, SITE, QUICK), (QUICK, QUICK, CALL, QUICK)])
def test_quick_replies_with_others_between_are_found(order):
    assert of(*order) == {"button grouping"}


@pytest.mark.parametrize("order", [(QUICK, QUICK, SITE), (CALL, SITE, QUICK), (SITE, SITE, CALL)])
def test_quick_replies_that_stand_together_are_good(order):
    assert of(*order) == set()


def test_what_is_not_shown_on_a_computer_is_noted():
    assert "button on desktop" in codes(buttons=[QUICK, CALL])
    assert "button on desktop" in codes(buttons=quick(4))
    assert codes(buttons=quick(3)) == set()


@pytest.mark.parametrize("label", [None, "", " "])
def test_a_button_needs_a_label_if_the_platform_writes_none(label):
    assert of(button("custom", label)) == {"button label"}
    assert of(button("copy_offer_code", label, value="A")) == set()


def test_a_label_takes_no_placeholder_and_is_there_once():
    assert of(button("custom", "Hi {{1}}")) == {"button label placeholder"}
    assert codes(buttons=[button("custom", "Yes"), button("custom", "yes")]) == {
        "button label twice"
    }
    assert codes(buttons=[button("custom", x) for x in ("a", "b", "b")]) == {"button label twice"}


@pytest.mark.parametrize("value", ["", "a.example", "ftp://a.example", "https://", "http:// x"])
def test_an_address_begins_with_http(value):
    assert "button url" in of(website(value))


@pytest.mark.parametrize(
    "value",
    ["https://a.example/{{1}}/x", "https://a.example/{{1}}{{2}}", "https://{{1}}.example"],
)
def test_an_address_has_one_placeholder_at_its_end(value):
    found = audit(buttons=[website(value, dynamic_url="https://a.example/7")])
    assert [each.code for each in found] == ["button url"]
    assert found[0].refused


@pytest.mark.parametrize(
    ("end", "code"),
    [("{{id}}", "placeholder name"), ("{{2}}", "placeholder gap"), ("{1}", "placeholder braces")],
)
def test_the_placeholder_of_an_address_is_numbered_as_in_a_text(end, code):
    button = website(f"https://a.example/{end}", dynamic_url="https://a.example/7")
    assert codes(buttons=[button]) == {code}


def test_a_placeholder_of_an_address_needs_a_sample():
    (found,) = audit(buttons=[website("https://a.example/{{1}}")])
    assert found.field == "buttons.0.dynamic_url"


def test_static_and_dynamic_mean_what_they_say():
    assert of({**DYNAMIC, "url_type": "static"}) == {"button url type"}
    assert of({**SITE, "url_type": "dynamic"}) == {"button url type"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"value": "020 7946"}, "buttons.0.value"),
        ({"value": None}, "buttons.0.value"),
        ({"country_code": "44"}, "buttons.0.country_code"),
        ({"country_code": None}, "buttons.0.country_code"),
    ],
)
def test_a_number_is_digits_and_has_its_country_code(fields, field):
    (found,) = audit(buttons=[{**CALL, **fields}])
    assert (found.code, found.field) == ("button number", field)


def test_an_offer_needs_a_code():
    assert of({**CODE, "value": None}) == {"button code"}


@pytest.mark.parametrize("name", ["label", "value", "country_code", "url_type"])
def test_texts_of_another_type_are_errors(name):
    found = audit(buttons=[{**CALL, name: 5}]).errors
    assert [(each.code, each.field) for each in found] == [("wrong type", f"buttons.0.{name}")]


def test_items_that_are_no_objects_are_named_once():
    (found,) = audit(buttons=["x"]).errors
    assert (found.code, found.field) == ("wrong type", "buttons.0")


@pytest.mark.parametrize(
    ("value", "code", "found"),
    [
        ("2079460321", "+44", False),
        ("2025550199", "+1", False),
        ("9876543210", "+91", False),
        ("3123456789", "+39", False),
        ("8005550199", "+1", False),
        ("020 7946 0321", "+44", True),
        ("02079460321", "+44", True),
        ("442079460321", "+44", True),
        ("+442079460321", "+44", True),
        ("00442079460321", "+44", True),
        ("(202) 555-0199", "+1", True),
        ("12025550199", "+1", True),
        ("1234", "+44", True),
        ("99999999999999999", "+49", True),
        ("call us", "+44", True),
        ("2079460321", "+999", True),
    ],
)
def test_a_number_is_read_like_that_of_a_contact(value, code, found):
    assert found == (
        "button number" in codes(buttons=[{**CALL, "value": value, "country_code": code}])
    )


@pytest.mark.parametrize(
    ("value", "sample", "found"),
    [
        ("https://a.example/o/{{1}}", "https://a.example/o/7", set()),
        ("https://www.a.example/o/{{1}}", "https://a.example/o/7", {"button url sample"}),
        ("https://a.example/o?x={{1}}", "https://a.example/o?x=7", set()),
        ("https://A.example/o/{{1}}", "https://a.example/o/7", set()),
        ("https://a.example/o/{{1}}", "https://b.example/o/7", {"button url sample"}),
        ("https://a.example/o/{{1}}", "https://a.example.evil.example/o/7", {"button url sample"}),
        ("https://a.example/o/{{1}}", "https://a.example/p/7", {"button url sample"}),
        ("https://a.example/o/{{1}}", "7", {"button url sample"}),
        ("https://a.example/o/{{1}}", "o/7", {"button url sample"}),
        ("https://a.example/o/{{1}}", "a.example/o/7", {"button url sample"}),
        ("https://{{1}}", "https://a.example", {"button url"}),
        ("https://{{1}}.example/", "https://a.example", {"button url"}),
        ("https://bit.ly/3xYz", None, {"button short link"}),
        ("https://tinyurl.com/abc", None, {"button short link"}),
        ("https://wa.me/442079460321", None, {"button short link"}),
        ("https://bit.ly/{{1}}", "https://bit.ly/3xYz", {"button short link"}),
        ("https://orbit.lyon.example/a", None, set()),
        ("https://t.company.example/a", None, set()),
    ],
)
def test_an_address_shows_where_it_leads(value, sample, found):
    kind = "dynamic" if "{{" in value else "static"
    assert codes(buttons=[website(value, url_type=kind, dynamic_url=sample)]) == found


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [
        ("image", "a.jpg", False),
        ("image", "a.JPEG?x=1", False),
        ("image", "a.png#top", False),
        ("image", "a", False),
        ("image", "a.php", False),
        ("image", "a.v2", False),
        ("image", "a.mp4", True),
        ("image", "a.pdf", True),
        ("image", "a.webp", True),
        ("image", "a.gif", True),
        ("video", "a.mp4", False),
        ("video", "a.3gp", False),
        ("video", "a.jpg", True),
        ("video", "a.mov", True),
        ("video", "a.pdf?x=1", True),
        ("document", "a.pdf", False),
        ("document", "a.docx", False),
        ("document", "a.png", True),
        ("document", "a.mp4", True),
    ],
)
def test_the_file_of_a_header_is_of_its_type(kind, name, found):
    link = {"type": kind, "link": f"https://a.example/media/{name}"}
    assert found == ("header media" in codes(headers=[link]))
