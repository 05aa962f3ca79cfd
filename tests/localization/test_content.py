from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from localization.contents import GOOD, cases, content, frame

from chatkit.errors import InputError
from chatkit.localization.content import Entry, group_by_template, read_entries, read_text
from chatkit.templates import Content, ContentBody


def only(values) -> Entry:
    (entry,) = read_entries(values)
    return entry


def test_a_dict_a_record_a_body_and_a_frame_are_read_alike():
    record = Content.model_validate({**GOOD, "id": 7})
    body = ContentBody.model_validate(GOOD)
    for values in (content(), record, body, [record], frame(content())):
        entry = only(values)
        assert (entry.lang_code, entry.text, entry.footer) == ("en", GOOD["text"], "Larkspur")
        assert [slot.name for slot in entry.slots] == ["1", "2"]
        assert entry.variables == GOOD["variables"]
        assert entry.wrong_types == {}


def test_frames_tell_language_and_template_in_a_column_or_in_the_index():
    rows = [{**content(lang_code="de"), "template_code": "a"}]
    for values in (pd.DataFrame(rows), frame(content(lang_code="de"), template="a")):
        assert (only(values).template_code, only(values).lang_code) == ("a", "de")
    one = pd.DataFrame(rows).drop(columns="template_code").set_index("lang_code")
    assert (only(one).template_code, only(one).lang_code) == ("", "de")


def test_a_hole_in_a_nested_column_is_no_null_and_values_of_pandas_become_plain():
    joined = pd.concat([frame(content()), frame({"lang_code": "de", "text": "Hallo"})])
    first, second = read_entries(joined)
    assert "buttons" in first.raw and "buttons" not in second.raw
    assert second.footer == ""
    values = frame(content(validity_period_seconds=600), content(lang_code="de"))
    values["validity_period_seconds"] = values["validity_period_seconds"].astype("Float64")
    values["is_draft"] = values["is_draft"].astype("boolean")
    first, second = read_entries(values)
    assert [each.fields.get("validity_period_seconds") for each in (first, second)] == [600, None]
    assert first.fields.get("is_draft") is False
    assert first.wrong_types == second.wrong_types == {}
    numpy = only(content(validity_period_seconds=np.int64(5)))
    assert numpy.fields.get("validity_period_seconds") == 5


@cases("field", "value")
def test_what_is_of_another_type_is_named_and_not_looked_at(field, value):
    entry = only(content(**{field: value}))
    assert set(entry.wrong_types) == {field}
    assert entry.fields.get(field) is None
    assert isinstance(entry.text + entry.footer, str)
    assert isinstance([*entry.headers, *entry.buttons, *entry.apps], list)


def test_the_texts_a_customer_reads_are_pieces_and_items_keep_their_place():
    labels = [{"type": "custom", "label": label} for label in ("Go", 5)]
    headers = [{"type": "text", "text": "Top"}, {"type": "image"}]
    entry = only(content(headers=headers, buttons=["x", *labels]))
    assert set(entry.wrong_types) == {"buttons.0"}
    assert read_text(entry.buttons[1], "label") == "Go"
    assert [tuple(piece) for piece in entry.pieces] == [
        ("headers.0.text", "the header", "Top"),
        ("text", "the text", GOOD["text"]),
        ("footer", "the footer", "Larkspur"),
        ("buttons.1.label", "the label of button 2", "Go"),
    ]


@pytest.mark.parametrize("values", [5, None, "text", [None], [[5]]])
def test_what_is_no_content_is_refused_with_what_would_be(values):
    with pytest.raises(InputError, match="pass a frame of contents"):
        read_entries(values)


def test_a_frame_needs_languages_and_of_two_columns_of_one_name_the_first_counts():
    with pytest.raises(InputError, match="called lang_code"):
        read_entries(pd.DataFrame({"text": ["x"]}))
    values = pd.DataFrame([["en", "first", "second"]], columns=["lang_code", "text", "text"])
    assert only(values).text == "first"


def test_templates_are_grouped_in_the_order_of_their_first():
    values = read_entries(pd.concat([frame(content(), template=t) for t in ("b", "a", "b")]))
    assert [(code, len(members)) for code, members in group_by_template(values).items()] == [
        ("b", 2),
        ("a", 1),
    ]
