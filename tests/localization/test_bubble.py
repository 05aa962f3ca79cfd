"""A bubble says what a customer sees of a content, whatever stands in its fields."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from localization.contents import CONTENT, button, content, website
from volume import volume

from chatkit.localization.bubble import draw_bubble, join_runs, make_bubble, make_bubble_notes
from chatkit.localization.content import Entry

EVIL = "<img src=x onerror=alert(1)>"


def seen(samples=None, **fields):
    raw = content(**fields)
    return make_bubble(Entry(raw, "order_ready", raw["lang_code"]), samples or {})


class Tags(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self, page):
        super().__init__()
        self.names = set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.names |= {tag, *(f"@{name}" for name, _ in attributes)}


def test_it_has_the_parts_of_a_message():
    output = seen(
        headers=[{"type": "text", "text": "Hi {{1}}", "text_variable": "Ana"}],
        buttons=[button("custom", "Yes"), website("https://a.example/x", label="See")],
    )
    assert join_runs(output.header) == "Hi Ana"
    assert join_runs(output.body).startswith("Hello Ana, your order A-17")
    assert join_runs(output.footer) == "Larkspur"
    assert [(tap.kind, join_runs(tap.label), tap.about) for tap in output.buttons] == [
        ("custom", "Yes", ""),
        ("visit_website", "See", "https://a.example/x"),
    ]
    assert (output.direction, output.missing, make_bubble_notes(output)) == ("ltr", [], [])


@pytest.mark.parametrize("kind", ["image", "video", "document"])
def test_a_medium_is_named_and_not_fetched(kind):
    link = "https://a.example/media/list.pdf?x=1"
    assert seen(headers=[{"type": kind, "link": link}]).file == "list.pdf"
    output = seen(headers=[{"type": kind, "file_name": "prices.pdf", "link": link}])
    assert (output.medium, output.file) == (kind, "prices.pdf")
    assert f"[{kind}: prices.pdf]" in draw_bubble(output)
    assert link not in draw_bubble(output)


def test_an_address_that_is_none_is_no_error():
    assert seen(headers=[{"type": "image", "link": "http://[x"}]).file == ""


def test_samples_that_are_given_go_before_those_of_the_content():
    assert join_runs(seen({"1": "Bo"}).body).startswith("Hello Bo, your order A-17")


def test_what_has_no_sample_is_named():
    output = seen(text="Hi {{1}} {{2}} {{1}}", variables={"2": "x"})
    assert output.missing == ["1"]
    assert make_bubble_notes(output) == ["No sample for {{1}}."]


def test_a_sample_of_the_text_is_none_of_the_header():
    assert seen(headers=[{"type": "text", "text": "Hi {{1}}"}]).missing == ["1"]


@pytest.mark.parametrize(("lang", "direction"), [("ar", "rtl"), ("he", "rtl"), ("hi", "ltr")])
def test_its_direction_is_that_of_the_language(lang, direction):
    output = seen(lang_code=lang)
    assert output.direction == direction
    assert f'dir="{direction}"' in draw_bubble(output)


def test_the_platform_writes_an_authentication_text():
    output = seen(
        text="",
        footer="",
        variables={"1": "481302"},
        auth_delivery_method="copy_code",
        auth_add_security_recommendation=True,
        auth_add_code_expiration=True,
        auth_code_expiration_seconds=600,
    )
    assert join_runs(output.body).startswith("481302 is your verification code. For your security")
    assert join_runs(output.footer) == "This code expires in 10 minutes."
    assert [join_runs(tap.label) for tap in output.buttons] == ["Copy code"]
    assert "The platform writes this text itself" in draw_bubble(output)


def test_labels_that_the_platform_writes_stand_on_buttons_without_one():
    output = seen(buttons=[button("copy_offer_code", None, value="X1"), button("view_catalog", "")])
    assert [join_runs(tap.label) for tap in output.buttons] == ["Copy offer code", "View catalog"]


def test_everything_of_a_stranger_is_escaped():
    output = seen(
        text=f"{EVIL} {{{{1}}}} *{EVIL}*",
        variables={"1": EVIL},
        footer=EVIL,
        headers=[{"type": "document", "file_name": EVIL}],
        buttons=[button("custom", EVIL), website(EVIL, label=EVIL)],
        lang_code='"><script>',
    )
    assert Tags(draw_bubble(output)).names <= {
        *("div", "p", "span", "strong", "b", "small", "em", "@class", "@dir", "@lang", "@style")
    }


@given(CONTENT)
@settings(max_examples=volume(40, 1000), deadline=None)
def test_any_content_can_be_seen(fields):
    lang = fields["lang_code"] if isinstance(fields["lang_code"], str) else ""
    output = make_bubble(Entry(fields, "", lang), {})
    draw_bubble(output).encode()
