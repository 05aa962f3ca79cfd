"""A preview shows one content, live and where nothing is live."""

from __future__ import annotations

import json

import pytest
from localization.contents import button, content, frame
from widgets.screen import html, page_of, static

from chatkit.errors import InputError
from chatkit.templates import Content
from chatkit.widgets.contentform import Preview


def test_a_content_may_be_a_record_a_dict_or_a_frame_of_one_row():
    fields = content()
    for values in (fields, Content(**fields), frame(fields)):
        assert "Hello Ana, your order A-17" in repr(Preview(values))


@pytest.mark.parametrize("values", [[], frame(content(), content(lang_code="de")), 7])
def test_what_is_no_single_content_is_refused(values):
    with pytest.raises(InputError):
        Preview(values)


def test_another_content_takes_the_place_of_the_first():
    preview = Preview(content())
    preview.show(content(text="Bye", lang_code="ar"))
    assert "Bye" in html(preview) and 'dir="rtl"' in html(preview)


def test_it_has_a_line_of_text_and_a_page_that_is_no_widget():
    preview = Preview(content(buttons=[button("custom", "Yes")], template_code="order_ready"))
    data = static(preview)
    assert data["text/plain"] == (
        "<message order_ready en: Hello Ana, your order A-17 is ready, "
        "come and collect it today. [Yes]>"
    )
    assert "<script" not in data["text/html"]
    assert "Larkspur" in data["text/html"]


def test_half_a_character_can_be_sent():
    preview = Preview(content(text="a\ud800", footer="\ud800", lang_code="\ud800"))
    html(preview).encode()
    json.dumps(page_of(preview), ensure_ascii=False).encode()
