from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from flowjson.strangers import anything, booking, crooked, documents, screen
from hypothesis import given, settings
from volume import volume

from chatkit.flowjson.texts import count_code, count_references, find_texts, is_expression
from chatkit.util.json import get_value


def texts(*children: Any, **more: Any) -> dict[str, str]:
    document = {"version": "7.3", "screens": [screen("A", "${data.title}", list(children), **more)]}
    return {one.property: one.text for one in find_texts(document)}


def test_everything_a_customer_reads_is_found_in_order() -> None:
    assert [one.text for one in find_texts(booking())] == [
        *("Welcome", "Book a table", "We are open from noon to midnight.", "Your email", "City"),
        *("Berlin", "Lima", "Porto", "News, please", "Go on", "Payment"),
        *("You are late, ${screen.START.form.email}", "You are in time", "Card number"),
        *("Bring coins", "Done", "Help", "Call us"),
    ]


def test_texts_of_all_shapes_are_found() -> None:
    result = texts(
        {"type": "TextBody", "text": ["One", "${data.two}", "Three"]},
        {"type": "CalendarPicker", "label": {"start-date": "From", "end-date": "Until"}},
        {"type": "Form", "error-messages": {"email": "Not so"}, "init-values": {"email": "x"}},
        {"type": "PhotoPicker", "error-message": "${data.wrong}", "description": "A photo"},
        {
            "type": "NavigationList",
            "list-items": [
                {
                    "id": "i",
                    "main-content": {"title": "T", "metadata": "M"},
                    "end": {"title": "E"},
                    "start": {"image": "AAAA", "alt-text": "Alt"},
                    "badge": "B",
                    "tags": ["t1", "t2"],
                }
            ],
        },
        {"type": "ImageCarousel", "images": [{"src": "AAAA", "alt-text": "A cat"}]},
        {"type": "Footer", "label": "L", "left-caption": "l", "right-caption": "r"},
        data={"x": {"type": "string", "__example__": "not read"}},
    )
    assert result == {
        "text[0]": "One",
        "text[2]": "Three",
        "label.start-date": "From",
        "label.end-date": "Until",
        "error-messages.email": "Not so",
        "description": "A photo",
        "list-items[0].main-content.title": "T",
        "list-items[0].main-content.metadata": "M",
        "list-items[0].end.title": "E",
        "list-items[0].start.alt-text": "Alt",
        "list-items[0].badge": "B",
        "list-items[0].tags[0]": "t1",
        "list-items[0].tags[1]": "t2",
        "images[0].alt-text": "A cat",
        "label": "L",
        "left-caption": "l",
        "right-caption": "r",
    }


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("${data.x}", False),
        (" ${data.x} ${form.y}", False),
        ("Hello ${data.x}", True),
        ("`${data.a} + 1`", False),
        ("`'Sum: ' ${data.a}`", True),
        ("`' ' ${data.a}`", False),
        ("  ", False),
    ],
)
def test_only_what_is_written_in_the_document_counts(text: str, read: bool) -> None:
    assert ("text" in texts({"type": "TextBody", "text": text})) == read


def test_limits_are_those_of_the_table_of_components() -> None:
    limits = {one.component: one.limit for one in find_texts(booking()) if one.property == "label"}
    assert limits["TextInput email"] == 20
    assert limits["OptIn news"] == 120


def test_references_and_code_of_a_text_are_counted() -> None:
    assert count_references("a ${x} b ${x} ${y") == Counter({"${x}": 2})
    assert count_code("`'it''s' ${a} + 1`") == Counter({"`": 2, "${a}": 1, "+": 1, "1": 1})
    assert is_expression("`x`") and not is_expression("`") and not is_expression("x`")


@settings(max_examples=volume(16, 400))
@given(crooked | anything)
def test_any_json_is_traversed_and_each_pointer_leads_to_its_text(document: Any) -> None:
    result = list(find_texts(document))
    assert all(get_value(document, one.pointer) == one.text for one in result)
    assert len({one.pointer for one in result}) == len(result)


def test_each_text_of_the_samples_is_known_to_the_table_of_components(shared: Path) -> None:
    result = [one for document in documents(shared).values() for one in find_texts(document)]
    assert sum(one.limit is not None for one in result) > 300
    assert all(
        get_value(document, one.pointer) == one.text
        for document in documents(shared).values()
        for one in find_texts(document)
    )
