"""The texts of a flow as a table: where each stands, edited or translated, and put back."""

from __future__ import annotations

import io
import json
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from flowjson.strangers import anything, booking, crooked, documents, screen
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.errors import InputError
from chatkit.flowjson.texts import (
    count_code,
    count_references,
    find_texts,
    is_expression,
    texts,
    with_texts,
)
from chatkit.util.json import get_value

TITLE = "/screens/0/title"
LATE = "/screens/1/layout/children/0/then/0/text"


def one(text: str) -> dict[str, Any]:
    children = [{"type": "TextBody", "text": text}]
    return {"version": "7.3", "screens": [screen("A", "Title", children)]}


def put(before: str, after: Any) -> Any:
    frame = pd.DataFrame({"text": [after]}, index=["/screens/0/layout/children/0/text"])
    return with_texts(one(before), frame)["screens"][0]["layout"]["children"][0]["text"]


def test_the_table_tells_where_each_text_stands_and_how_long_it_may_be() -> None:
    frame = texts(booking())
    assert frame.index.name == "pointer"
    assert [str(dtype) for dtype in frame.dtypes] == ["str"] * 4 + ["Int64"] * 2
    email = frame.loc["/screens/0/layout/children/2/children/0/label"]
    assert email.tolist() == ["START", "TextInput email", "label", "Your email", 20, 10]
    assert frame.limit.isna()[TITLE]
    assert frame.limit["/screens/0/layout/children/2/children/2/label"] == 120
    assert frame.text.tolist() == [
        *("Welcome", "Book a table", "We are open from noon to midnight.", "Your email", "City"),
        *("Berlin", "Lima", "Porto", "News, please", "Go on", "Payment"),
        *("You are late, ${screen.START.form.email}", "You are in time", "Card number"),
        *("Bring coins", "Done", "Help", "Call us"),
    ]


@settings(max_examples=volume(16, 400))
@given(crooked | anything.filter(lambda value: isinstance(value, dict | list)))
def test_texts_put_back_as_they_were_change_nothing(document: Any) -> None:
    assert with_texts(document, texts(document)) == document
    result = list(find_texts(document))
    assert all(get_value(document, one.pointer) == one.text for one in result)
    assert len({one.pointer for one in result}) == len(result)


def test_samples_come_back_through_a_csv_file(shared: Path) -> None:
    limits = 0
    for name, document in documents(shared).items():
        limits += texts(document).limit.notna().sum()
        file = io.StringIO()
        texts(document).to_csv(file)
        file.seek(0)
        again = pd.read_csv(file, dtype="str", keep_default_na=False)
        assert with_texts(document, again) == document, name
    assert limits > 300  # the table of components knows them


@settings(max_examples=volume(16, 400))
@given(st.data())
def test_edited_texts_come_back_exactly_and_nothing_else_changes(data: st.DataObject) -> None:
    frame = texts(booking())
    words = st.text(st.characters(exclude_characters="`$", exclude_categories=["Cs"]), min_size=1)
    new = data.draw(st.dictionaries(st.sampled_from(list(frame.index)), words.filter(str.strip)))
    expected = {
        key: text + (" ${screen.START.form.email}" if key == LATE else "")
        for key, text in new.items()
    }
    for key, text in expected.items():
        frame.loc[key, "text"] = text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are too long
        after = with_texts(booking(), frame)
    assert texts(after).text.to_dict() == frame.text.to_dict()
    assert with_texts(after, texts(booking())) == booking()


def test_a_translation_is_put_in_from_its_own_column_and_empty_cells_are_left_alone() -> None:
    frame = texts(booking()).assign(de=None)
    frame.loc[TITLE, "de"] = "Willkommen"
    document = booking()
    after = with_texts(document, frame, column="de")
    assert after["screens"][0]["title"] == "Willkommen"
    after["screens"][0]["title"] = "Welcome"
    assert after == booking() == document


def test_an_empty_cell_leaves_its_text_alone_and_what_only_looks_empty_is_refused() -> None:
    for empty in (None, float("nan"), pd.NA, pd.NaT):
        assert put("Welcome", empty) == "Welcome"
    for value in ("", 0, False, [], [None], {}):
        with pytest.raises(InputError, match=r"must be text|is blank"):
            put("Welcome", value)


def test_all_bad_rows_are_named_at_once() -> None:
    frame = texts(booking())[["text"]].astype(object)
    frame.loc[TITLE] = " "
    frame.loc[LATE] = "Zu spät, ${screen.START.form.mail}"
    frame.loc["/screens/9/title"] = "Nowhere"
    frame.loc["/screens/2/title"] = 5
    with pytest.raises(InputError) as caught:
        with_texts(booking(), frame)
    assert {p.field: p.reason.split(":")[0] for p in caught.value.problems} == {
        TITLE: "is blank, which the platform refuses",
        LATE: "lacks ${screen.START.form.email}; has ${screen.START.form.mail}, which the text "
        "before has not",
        "/screens/2/title": "must be text",
        "/screens/9/title": "no text stands there",
    }
    assert str(caught.value).startswith("4 rows cannot be put into the flow document:")


def test_a_table_of_an_older_document_is_not_put_beside_the_right_places() -> None:
    frame = texts(booking())
    after = booking()
    fields = after["screens"][0]["layout"]["children"][2]["children"]
    fields[0], fields[2] = fields[2], fields[0]
    with pytest.raises(InputError) as caught:
        with_texts(after, frame)
    base = "/screens/0/layout/children/2/children"
    assert [p.field for p in caught.value.problems] == [f"{base}/0/label", f"{base}/2/label"]
    assert 'of component "OptIn news" now: make the table anew' in str(caught.value)


def test_two_rows_for_one_text_must_agree() -> None:
    frame = texts(booking())[["text"]]
    twice = pd.concat([frame, frame])
    assert with_texts(booking(), twice) == booking()
    other = pd.concat([frame.assign(text=frame.text + "!"), frame.assign(text=frame.text + "?")])
    with pytest.raises(InputError, match="stands in two rows that differ"):
        with_texts(booking(), other)


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ("`'Suma: ' ${data.a} + 1`", None),
        ("`${data.a} + 1 ' es la suma'`", None),
        ("`'Suma: ' ${data.a} + 2`", "outside the single quotes"),
        ("`'Suma: ' ${data.b} + 1`", "outside the single quotes"),
        ("`'C'est la somme ' ${data.a} + 1`", "single quote"),
        (r"`'C\'est la somme ' ${data.a} + 1`", None),
        ("Suma: ${data.a} + 1", "must stand between backticks"),
    ],
)
def test_an_expression_keeps_its_code(after: str, reason: str | None) -> None:
    before = "`'Sum: ' ${data.a} + 1`"
    if reason is None:
        assert put(before, after) == after
    else:
        with pytest.raises(InputError, match=reason):
            put(before, after)
    with pytest.raises(InputError, match="is in backticks"):  # nor does a text become one
        put("Hello", "`Hello`")


def test_a_text_that_is_too_long_is_put_in_with_a_warning() -> None:
    frame = texts(booking())
    label = "/screens/0/layout/children/2/children/0/label"
    frame.loc[label, "text"] = "Your electronic mail address"
    with pytest.warns(UserWarning, match=f"{label}: 28 characters, 20 are documented"):
        after = with_texts(booking(), frame)
    assert texts(after).text[label] == "Your electronic mail address"


def test_half_a_character_does_not_stop_the_table() -> None:
    document = one("\ud83d half")
    assert with_texts(document, texts(document)) == document


def test_a_table_without_the_column_is_refused() -> None:
    with pytest.raises(InputError, match="no column 'fr'"):
        with_texts(json.dumps(booking()), texts(booking()), column="fr")


# --- what is a text -------------------------------------------------------------------------


def find(*children: Any, **more: Any) -> dict[str, str]:
    document = {"version": "7.3", "screens": [screen("A", "${data.title}", list(children), **more)]}
    return {one.property: one.text for one in find_texts(document)}


def test_texts_of_all_shapes_are_found() -> None:
    result = find(
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
    assert ("text" in find({"type": "TextBody", "text": text})) == read


def test_references_and_code_of_a_text_are_counted() -> None:
    assert count_references("a ${x} b ${x} ${y") == Counter({"${x}": 2})
    assert count_code("`'it''s' ${a} + 1`") == Counter({"`": 2, "${a}": 1, "+": 1, "1": 1})
    assert is_expression("`x`") and not is_expression("`") and not is_expression("x`")
